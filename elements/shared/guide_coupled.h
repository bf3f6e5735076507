/* A guide whose force is sampled at communication points and held between them: coupled_point.h. */
#ifndef CC_GUIDE_COUPLED_H
#define CC_GUIDE_COUPLED_H

/* Put the held force in the place of the literal one, g->F. */
static void guide_hold(Element *e, Guide *g)
{
    if (re(e->held) == 0.0)
        return;
    for (int k = 0; k < 3; k++)
        g->F[k] = e->on * e->held_force[k];
    e->friction_force = e->on * e->held_friction;
}

/* The work of a held force is booked when the interval is over. */
static void guide_hold_powers(Element *e)
{
    if (re(e->held) != 0.0)
        e->power.work = e->power.damping = e->power.friction = e->power.interpolation = 0.0;
}

static inline void guide_release(Element *e) { e->held = e->previous.returned = 0.0; }

#ifdef CC_DUAL

static inline void guide_start_coupling(Element *e, Guide *g) { (void)e, (void)g; }
static inline Real guide_change_law(Element *e, const Guide *g, Real switched) { return (void)e, (void)g, switched; }

#else

#define PARTNER partner_mass
#define BY_PLACE 1

#include "coupling/coupled_point.h"
#include "held_bond.h"

/* Of the element: its potential at a foot whose point_t is its way, m, and the rate of U by that way less the work
 * against the elastic force, J; its friction over the speed along the line, N s/m, of forces across, N. */
static void guide_potential(Element *e, Guide *g, const CcLineFoot *foot, CcPotential *at);
static double guide_rub(Element *e, const Guide *g, const double across[2]);

typedef struct {
    Element *e;
    Guide *g;
    CcCarrier resting[BODIES]; /* the bodies of the line, without their motion */
} GuideSeen;

static GuideSeen guide_seen(Element *e, Guide *g)
{
    GuideSeen seen = {.e = e, .g = g};
    for (int b = 0; b < BODIES && BODIES > 1; b++) {
        seen.resting[b] = g->carriers[b];
        for (int k = 0; k < 3; k++)
            seen.resting[b].v[k] = seen.resting[b].w[k] = 0.0;
    }
    return seen;
}

/* The line at its place of the sample, which it keeps over an interval in the coordinates of the guide. */
static void guide_seen_at(const void *data, const double P[3], const double D[3], CcPotential *at)
{
    const GuideSeen *seen = data;
    CcLine line = guide_line();
    CcLineFoot foot;
    cc_line_track(&line, BODIES > 1 ? seen->resting : NULL, P, D, (int)seen->e->span, &foot);
    guide_potential(seen->e, seen->g, &foot, at);
    for (int k = 0; k < 3; k++)
        at->tangent[k] = foot.tangent[k];
}

static double guide_rubbed(const void *data, const double across[2], double along)
{
    const GuideSeen *seen = data;
    double kept = seen->g->v_long;
    seen->g->v_long = along;
    double b = guide_rub(seen->e, seen->g, across);
    seen->g->v_long = kept;
    return b;
}

/* The law changed after the interval that the next sample books: that one was under the law before, whose change of
 * the energy on the way of the point counts, and not that of the law of now.  Returns what is switched, J: of a held
 * force at the place on the parabola; else `switched`, at the point. */
CC_APART Real guide_change_law(Element *e, const Guide *g, Real switched)
{
    CcPoint *p = (CcPoint *)e->partner;
    Guide at = *g;
    GuideSeen seen = guide_seen(e, &at);
    const double still[3] = {0.0, 0.0, 0.0};
    double first[3], last[3];
    CcPotential then, now, before;
    cc_point_shifted(p, p->P, p->v, first);
    cc_point_shifted(p, g->P, g->v, last);
    guide_seen_at(&seen, first, still, &then);
    guide_seen_at(&seen, last, still, &now);
    exchange_law(e);
    guide_seen_at(&seen, last, still, &before);
    exchange_law(e);
    for (int L = 0; L < CC_LAGS && p->bond.begun != 0.0; L++)
        p->bond.ledger.made[L] += (before.U - p->U) - (now.U - then.U);
    p->U = then.U;
    for (int i = 0; i < 3; i++)
        p->gradient[i] = then.gradient[i];
    outputs(e); /* the potential was evaluated at other places */
    return e->held != 0.0 ? before.U - now.U : switched;
}

static CcPointOptions guide_options(const Element *e, const GuideSeen *seen)
{
    return (CcPointOptions){.potential = guide_seen_at,
                            .rub = guide_rubbed,
                            .data = seen,
                            .c = guide_damping(e, seen->g),
                            .bond.given = cc_given(e->coupling.order, e->coupling.mode, e->coupling.identify,
                                                   e->coupling.m_eff)};
}

/* The literal force of the sample, and its dissipative parts, in the coordinates of the guide. */
static void guide_literal(Element *e, Guide *g, CcPointForce *force)
{
    double kept = e->held, c = guide_damping(e, g);
    e->held = 0.0;
    outputs(e);
    e->held = kept;
    cc_to_body(g->world.R, e->point.f, force->f);
    for (int k = 0; k < 3; k++) {
        force->damped[k] = -c * g->v_tr[k];
        force->rubbed[k] = -e->friction_force * (g->v_long < 0.0 ? -1.0 : 1.0) * g->foot.tangent[k];
    }
}

/* After the outputs at the start, whose force is the first one that a master reads. */
static void guide_start_coupling(Element *e, Guide *g)
{
    GuideSeen seen = guide_seen(e, g);
    CcPointOptions options = guide_options(e, &seen);
    CcPoint *p = (CcPoint *)e->partner;
    CcPointForce first;
    guide_literal(e, g, &first);
    cc_point_start(p, &options);
    if (e->on != 0.0)
        cc_point_begin(p, &options, g->P, g->v, &first);
    e->warned = 0.0;
    outputs(e);
}

/* Show what is identified of the bodies at the point; k: cc_point_stiffness. */
static void guide_show_partner(Element *e, const CcPointOptions *options, double k)
{
    CcBondOptions bond = options->bond;
    bond.k = k;
    show_partner(e, &((const CcPoint *)e->partner)->bond, &bond, options->c);
}

/* The balances, with the lag identified so far.  What changes the elastic energy and is no work of a body, sensor or
 * turning axis is that of the interpolation: energy.residual is minus what the coupling made. */
static void guide_book_coupling(Element *e)
{
    const CcPoint *p = (const CcPoint *)e->partner;
    int lag = cc_lag(p->bond.lag);
    e->coupling.energy = e->coupling.residual = p->bond.ledger.made[lag];
#if LEDGER
    double rest = e->energy.residual + e->energy.interpolation - e->energy.work + e->energy.damping
                  + e->energy.friction; /* what the energies that the coupling does not book leave */
    e->energy.damping = p->bond.ledger.taken[lag];
    e->energy.friction = p->taken[lag];
    e->energy.work = e->energy.elastic - e->energy.start + e->energy.switched + e->energy.damping + e->energy.friction
                     - e->coupling.residual - p->outside;
    e->energy.interpolation = rest + e->energy.work - e->energy.damping - e->energy.friction + e->coupling.residual;
#endif
}

/* Under coupling.mode = hold: warn if the step is too long for the literal force. */
static void guide_watch(Element *e, CcHost *host, Guide *g, const CcPointOptions *options, double step)
{
    CcPoint *p = (CcPoint *)e->partner;
    CcPointForce literal;
    double k = cc_point_stiffness(options, g->P);
    int returned = e->previous.returned != 0.0;
    e->previous.returned = 1.0;
    if (p->bond.learned > CC_BOND_LASTING) { /* another step: the motion since then was not observed */
        cc_point_start(p, options);
        cc_bond_wait(&p->bond);
    }
    if (e->on == 0.0) {
        cc_point_rewind(p);
        return;
    }
    guide_literal(e, g, &literal);
    if (p->bond.begun == 0.0 && returned)
        cc_point_begin(p, options, g->P, g->v, &literal);
    cc_point_observe(p, options, g->P, g->v, g->v_P, step);
    cc_point_keep(p, g->P, g->v, &literal, step);
    guide_show_partner(e, options, k);
    cc_warn_of_bond_rate(host, "guide", &p->bond, 1);
    double omega = cc_bond_omega(&p->bond, k);
    if (omega > 0.0 && cc_bond_judges_hold(&p->bond, &options->bond))
        cc_warn_of_hold(host, &e->warned, "guide", 0, "swing across the line", "one", "large",
                        CC_PI_HI / (omega * step), cc_hold_swing_growth(p->bond.lag, omega, 1, step), step);
}

/* Hold f, found in the coordinates of the guide: it keeps its direction in the world, that of the middle of the
 * interval on which it acts, while the body of the line turns.  By the angle 2 atan(|w| t/2). */
static void guide_keep_force(Element *e, Guide *g, const double f[3], double t)
{
    double w[3], q[3], once[3], twice[3];
    cc_to_body(g->world.R, g->world.w, w);
    for (int i = 0; i < 3; i++)
        q[i] = 0.5 * t * w[i];
    cc_cross(q, f, once);
    for (int i = 0; i < 3; i++)
        once[i] += f[i];
    cc_cross(q, once, twice);
    for (int i = 0; i < 3; i++)
        e->held_force[i] = f[i] + 2.0 / (1.0 + cc_dot(q, q)) * twice[i];
}

/* The law at the inputs acted: the integrals of the powers have its energies, and the coupling goes on from them. */
static void guide_take_over_energies(Element *e)
{
    CcPoint *p = (CcPoint *)e->partner;
    (void)p;
#if LEDGER
    for (int L = 0; L < CC_LAGS; L++)
        p->bond.ledger.taken[L] = e->energy.damping, p->taken[L] = e->energy.friction;
    p->outside = e->energy.elastic - e->energy.start + e->energy.switched + e->energy.damping + e->energy.friction
                 - e->coupling.residual - e->energy.work;
#endif
}

/* The law at the inputs acts, for the importer repeats steps or changes inputs within them. */
static void guide_give_law(Element *e, Guide *g, const CcPointOptions *options)
{
    CcPoint *p = (CcPoint *)e->partner;
    CcLedger ledger = p->bond.ledger;
    if (e->held != 0.0) {
        cc_point_see(p, options, g->P, g->v, g->v_P);
        guide_book_coupling(e);
        ledger = cc_settled_ledger(&p->bond.ledger, p->bond.lag);
    }
    cc_point_start(p, options);
    cc_bond_wait(&p->bond);
    p->bond.ledger = ledger;
    guide_take_over_energies(e);
    e->held = 0.0;
    e->coupling.in_force = CC_HELD;
}

/* The point left the line, where its springs are off at once: what they stored is switched, on the parabola. */
static void guide_leave(Element *e, const Guide *g, const GuideSeen *seen, const CcPointOptions *options)
{
    CcPoint *p = (CcPoint *)e->partner;
    const double still[3] = {0.0, 0.0, 0.0};
    CcPotential here;
    cc_point_see(p, options, g->P, g->v, g->v_P);
    guide_seen_at(seen, g->P, still, &here);
    e->energy.switched += p->U - here.U;
    cc_point_leave(p, g->v);
}

static int sample(Element *e, CcHost *host, double step)
{
    CcPoint *p = (CcPoint *)e->partner;
    int hold = (int)e->coupling.mode == HOLD;
    if (hold && (e->warned != 0.0 || (p->bond.learned > CC_BOND_LASTING && step == p->bond.H)))
        return 0;
    Guide g;
    outputs(e);
    guide_see(e, &g);
    guide_find(e, &g);
    GuideSeen seen = guide_seen(e, &g);
    CcPointOptions options = guide_options(e, &seen);
    if (hold && cc_is_unjudged(&options.bond.given))
        return 0;
    if (hold) {
        guide_watch(e, host, &g, &options, step);
        outputs(e); /* the potential was evaluated at other places */
        return 0;
    }
    int law_acted = e->repeating > 0.0 || e->moving > 0.0;
    int law = cc_law_acts(host, "guide", options.bond.given.straight, &e->repeating, &e->moving);
    e->energy.switched += cc_point_left_work(p, g.v);
    if (e->on == 0.0) {
        if (e->held != 0.0)
            guide_leave(e, &g, &seen, &options);
        cc_point_rewind(p);
        e->held = 0.0;
    } else if (law) {
        guide_give_law(e, &g, &options);
        outputs(e);
        return CC_CHANGED;
    } else {
        const CcPointForce none = {.f = {0.0}};
        double f[3], k = cc_point_stiffness(&options, g.P);
        if (law_acted)
            guide_take_over_energies(e);
        if (p->bond.begun == 0.0 && e->held == 0.0 && e->previous.returned != 0.0)
            cc_point_begin(p, &options, g.P, g.v, &none);
        int settled = p->bond.settled != 0.0, corrected = cc_is_corrected(&p->bond);
        cc_point_observe(p, &options, g.P, g.v, g.v_P, step);
        e->energy.switched -= p->jumped;
        cc_report_order(host, "guide", &p->bond, &options.bond, settled, k);
        cc_warn_of_inertia(host, "guide", "coupling.m_eff", &p->bond, &options.bond, corrected);
        if (cc_rule_doubts(&p->bond.rule, 0.0)) {
            CcPointForce literal;
            guide_literal(e, &g, &literal);
            cc_point_keep(p, g.P, g.v, &literal, step);
            for (int i = 0; i < 3; i++)
                f[i] = literal.f[i];
            cc_warn_of_bond_rate(host, "guide", &p->bond, 0);
        } else {
            cc_point_answer(p, &options, g.P, g.v, step, f);
        }
        int literal = cc_rule_doubts(&p->bond.rule, 0.0);
        guide_keep_force(e, &g, f, literal ? 0.0 : (cc_lag(p->bond.lag) + 0.5) * step);
        e->held_friction = cc_norm(p->rubbed[0]);
        e->held = 1.0;
        guide_show_partner(e, &options, k);
        if (cc_bond_advises(&p->bond))
            cc_note_of_step(host, &e->warned, "guide", "coupling.m_eff", p->bond.W, e->coupling.step_advised, step);
    }
    p->left.H = step;
    e->previous.returned = 1.0;
    outputs(e);
    guide_book_coupling(e);
    return CC_CHANGED;
}

#endif
#endif
