/* The spring between two points coupled at communication points: coupled_point.h, whose point is P = w, the place of
 * `first` seen from `second`.  From each sample to the next the force is the one that the coupling returned. */
#ifndef CC_SPRING_COUPLED_H
#define CC_SPRING_COUPLED_H

#define HELD (re(e->held) != 0.0)

#ifndef CC_DUAL

#define PARTNER partner_mass
#define BY_PLACE 1

#include "coupling/coupled_point.h"
#include "shared/held_bond.h"

/* The law of an interval. */
typedef struct {
    double k, l0;
    const double *direction; /* of points that coincide */
} SpringSeen;

static CcPoint *partner_of(Element *e) { return (CcPoint *)e->partner; }

static double damping_of(const Element *e) { return e->work != 0.0 ? e->d : 0.0; }

/* A unit vector across n about which the way D turns the line; any one where it does not turn it. */
static void turning_axis(const double n[3], const double D[3], double axis[3])
{
    int smallest = 0;
    cc_cross(n, D, axis);
    double size = cc_norm(axis);
    for (int i = 1; i < 3; i++)
        smallest = cc_abs(n[i]) < cc_abs(n[smallest]) ? i : smallest;
    if (!(size > 0.0)) {
        cc_cross(n, (double[3]){smallest == 0, smallest == 1, smallest == 2}, axis);
        size = cc_norm(axis);
    }
    for (int i = 0; i < 3; i++)
        axis[i] /= size;
}

/* The potential of a central force, with the mean length m of the ends of the way D. */
static void spring_potential(const void *data, const double P[3], const double D[3], CcPotential *at)
{
    const SpringSeen *law = data;
    double from[3], to[3], l = cc_norm(P), m = l, *n = at->V[0];
    for (int i = 0; i < 3; i++) {
        from[i] = P[i] - 0.5 * D[i];
        to[i] = P[i] + 0.5 * D[i];
        n[i] = l > COINCIDENT ? P[i] / l : law->direction[i];
    }
    if (D[0] != 0.0 || D[1] != 0.0 || D[2] != 0.0)
        m = 0.5 * (cc_norm(from) + cc_norm(to));
    double F = cc_spring_force(law->k, m - law->l0);
    int apart = m > COINCIDENT;
    at->U = cc_spring_energy(law->k, l - law->l0);
    at->leak = 0.0;
    at->k[0] = law->k;
    at->k[1] = apart && F > 0.0 ? F / m : 0.0;
    for (int i = 0; i < 3; i++)
        at->gradient[i] = F * (apart ? P[i] / m : n[i]);
    turning_axis(n, D, at->tangent);
    cc_cross(at->tangent, n, at->V[1]);
}

static SpringSeen spring_seen(const Element *e, double k, double l0)
{
    return (SpringSeen){.k = k, .l0 = l0, .direction = e->direction};
}

/* A damper alone is judged by its damping. */
static CcPointOptions spring_options(const Element *e, const SpringSeen *law, double d)
{
    return (CcPointOptions){.potential = spring_potential,
                            .data = law,
                            .c = d,
                            .central = 1,
                            .bond.given = cc_given(e->coupling.order, e->coupling.mode, e->coupling.identify,
                                                   e->coupling.m_eff)};
}

/* P and its velocity at the inputs. */
static void spring_place(const Element *e, double P[3], double v[3])
{
    for (int i = 0; i < 3; i++) {
        P[i] = e->first.r[i] - e->second.r[i];
        v[i] = e->first.v[i] - e->second.v[i];
    }
}

/* The law itself, on the first point. */
static CcPointForce spring_literal(const SpringSeen *law, double d, const double P[3], const double v[3])
{
    const double still[3] = {0.0, 0.0, 0.0};
    CcPotential here;
    CcPointForce force;
    spring_potential(law, P, still, &here);
    double damping = cc_damper_force(d, cc_dot(here.V[0], v));
    for (int i = 0; i < 3; i++) {
        force.damped[i] = -damping * here.V[0][i];
        force.rubbed[i] = 0.0;
        force.f[i] = -here.gradient[i] + force.damped[i];
    }
    return force;
}

/* The literal force at the start is the first one that a master reads. */
static void start_coupling(Element *e)
{
    SpringSeen law = spring_seen(e, e->previous.k, e->previous.l0);
    CcPointOptions options = spring_options(e, &law, damping_of(e));
    double P[3], v[3];
    spring_place(e, P, v);
    CcPointForce first = spring_literal(&law, options.c, P, v);
    cc_point_start(partner_of(e), &options);
    cc_point_begin(partner_of(e), &options, P, v, &first);
    e->warned = 0.0;
}

/* The balances, with the lag identified so far: energy.residual is minus what the coupling has made. */
static void book_coupling(Element *e)
{
    const CcPoint *p = partner_of(e);
    int lag = cc_lag(p->bond.lag);
    e->coupling.energy = e->coupling.residual = p->bond.ledger.made[lag];
#if LEDGER
    e->energy.damping = p->bond.ledger.taken[lag];
    e->energy.work = e->energy.elastic - e->energy.start + e->energy.switched + e->energy.damping
                     - e->coupling.residual - p->outside;
#endif
}

/* The law acted: the integrals of the powers have the energies, and the coupling goes on from them. */
static void take_over_energies(Element *e)
{
#if LEDGER
    CcPoint *p = partner_of(e);
    for (int L = 0; L < CC_LAGS; L++)
        p->bond.ledger.taken[L] = e->energy.damping;
    p->outside = e->energy.elastic - e->energy.start + e->energy.switched + e->energy.damping - e->coupling.residual
                 - e->energy.work;
#else
    (void)e;
#endif
}

/* What is stored at the last sample is that of another law.  Returns its change, J. */
static double store_by(CcPoint *p, const SpringSeen *law)
{
    const double still[3] = {0.0, 0.0, 0.0};
    double at[3], before = p->U;
    CcPotential now;
    cc_point_shifted(p, p->P, p->v, at);
    spring_potential(law, at, still, &now);
    p->U = now.U;
    for (int i = 0; i < 3; i++)
        p->gradient[i] = now.gradient[i];
    return now.U - before;
}

/* k or l0 changed after the interval that was booked: what is stored on the parabola is switched. */
static void change_law(Element *e, const SpringSeen *now, const double P[3], const double v[3])
{
    CcPoint *p = partner_of(e);
    if (e->previous.k == now->k && e->previous.l0 == now->l0)
        return;
    for (int i = 0; i < 3; i++)
        p->P[i] = P[i], p->v[i] = v[i];
    e->energy.switched -= store_by(p, now);
    e->previous.k = now->k, e->previous.l0 = now->l0;
}

/* The law changed between the start and the first sample: the force that acts until then may be that of either, so no
 * lag is found by it. */
static void change_first_law(Element *e, const CcPointOptions *options)
{
    CcPoint *p = partner_of(e);
    CcPointForce first = spring_literal(options->data, options->c, p->P, p->v);
    store_by(p, options->data);
    for (int i = 0; i < 3; i++)
        if (first.f[i] != p->bond.f[0][i] && options->bond.given.lag == CC_LAG_AUTO)
            cc_bond_wait(&p->bond);
}

static void show_bodies(Element *e, const CcPointOptions *options, double k)
{
    CcBondOptions bond = options->bond;
    bond.k = k;
    show_partner(e, &partner_of(e)->bond, &bond, options->c);
}

/* Under coupling.mode = hold: warn if the step is too long for the literal force. */
static void watch_held(Element *e, CcHost *host, const CcPointOptions *options, double k, double step)
{
    CcPoint *p = partner_of(e);
    CcBond *bond = &p->bond;
    double P[3], v[3];
    if (e->warned != 0.0 || (bond->learned > CC_BOND_LASTING && step == bond->H))
        return;
    spring_place(e, P, v);
    CcPointForce literal = spring_literal(options->data, options->c, P, v);
    if (bond->learned > CC_BOND_LASTING) { /* another step: the motion since then was not observed */
        cc_point_start(p, options);
        cc_bond_wait(bond);
        cc_point_begin(p, options, P, v, &literal);
    }
    cc_point_observe(p, options, P, v, v, step);
    cc_point_keep(p, P, v, &literal, step);
    show_bodies(e, options, k);
    cc_warn_of_bond_rate(host, "coupling", bond, 1);
    if (cc_bond_judges_hold(bond, &options->bond))
        cc_warn_of_held_bond(host, &e->warned, bond, k, options->c, 1, step);
}

/* The force to hold over the step to come. */
static void hold_force(Element *e, CcHost *host, const CcPointOptions *options, const double P[3], const double v[3],
                       const CcPointForce *literal, double step)
{
    CcPoint *p = partner_of(e);
    double k = cc_point_stiffness(options, P);
    if (cc_rule_doubts(&p->bond.rule, 0.0)) {
        cc_point_keep(p, P, v, literal, step);
        for (int i = 0; i < 3; i++)
            e->held_force[i] = literal->f[i];
    } else {
        cc_point_answer(p, options, P, v, step, e->held_force);
    }
    e->held = 1.0;
    show_bodies(e, options, k);
    if (cc_bond_advises(&p->bond))
        cc_note_of_step(host, &e->warned, "coupling", "coupling.m_eff", p->bond.W, e->coupling.step_advised, step);
}

static int sample(Element *e, CcHost *host, double step)
{
    CcPoint *p = partner_of(e);
    SpringSeen before = spring_seen(e, e->previous.k, e->previous.l0);
    SpringSeen now = spring_seen(e, acts(e) ? e->k : 0.0, e->l0);
    CcPointOptions options = spring_options(e, &before, damping_of(e));
    double P[3], v[3];
    if ((int)e->coupling.mode == HOLD) {
        if (!cc_is_unjudged(&options.bond.given))
            watch_held(e, host, &options, before.k, step);
        return 0;
    }
    spring_place(e, P, v);
    CcPointForce literal = spring_literal(&now, options.c, P, v);
    int law_acted = e->repeating > 0.0 || e->moving > 0.0, held = HELD;
    int law = cc_law_acts(host, "coupling", options.bond.given.straight, &e->repeating, &e->moving);
    if (law_acted) {
        take_over_energies(e);
        cc_point_begin(p, &options, P, v, &literal);
    } else if (!held) {
        change_first_law(e, &options);
    }
    int settled = p->bond.settled != 0.0;
    int corrected = cc_is_corrected(&p->bond);
    CcBondOptions bond = cc_point_bond(&options, before.k);
    if (!law || held) {
        cc_point_observe(p, &options, P, v, v, step);
        e->energy.switched -= p->jumped;
        cc_report_order(host, "coupling", &p->bond, &bond, settled, before.k);
        cc_warn_of_inertia(host, "coupling", "coupling.m_eff", &p->bond, &bond, corrected);
        change_law(e, &now, P, v);
        cc_warn_of_bond_rate(host, "coupling", &p->bond, 0);
    }
    options.data = &now;
    if (law) {
        CcLedger ledger = cc_settled_ledger(&p->bond.ledger, p->bond.lag);
        double outside = p->outside;
        cc_point_start(p, &options);
        cc_bond_wait(&p->bond);
        p->bond.ledger = ledger, p->outside = outside;
        cc_point_begin(p, &options, P, v, &literal);
        e->held = 0.0;
        e->coupling.in_force = CC_HELD;
    } else {
        hold_force(e, host, &options, P, v, &literal, step);
    }
    outputs(e);
    if (!law || held)
        book_coupling(e);
    return CC_CHANGED;
}

#endif
#endif
