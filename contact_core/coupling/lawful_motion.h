/* The motion that a contact under its law would have had since it began.
 *
 * The forces that are given before the bodies are known put a body too deep.  One that bounces gives that back as
 * energy (coupling.h).  One that a load presses on creeps out as slowly as under the law, and stays too deep.  Once
 * its admittance W and free acceleration a are known, the law is followed from the sample before the first force to the
 * end of the interval whose force is sought, in parts of it (energy_force.h): to x_1, w_1, under the mean force N_l.
 * What a spring k and a damper d hold besides, as a controlled axis, is a mass M under a load P (held_mass.h), and the
 * trapezoidal rule makes of it within a part h
 *
 *     1/W = M + h d/2 + h^2 k/4,   a = -W [P - k x - (d + h k/2) w]
 *
 * N_l would leave the body off that by e_x, e_w, which decay by q an interval under
 *
 *     N = N_l + (1 - q) [(1 - q) e_x + (1 + 3 q) H e_w / 2] / (W H^2),   0 <= N <= 2 N_l
 *
 * It leads the body from where the load balances the law until the body is where the law would have it, and owes
 * nothing.  A body whose a changes, or a held one whose y the model misses, is moved by others, and is not led; nor is
 * a free one that slip moves along the normal. */
#ifndef CC_LAWFUL_MOTION_H
#define CC_LAWFUL_MOTION_H

#include "energy_force.h"
#include "held_mass.h"

#define CC_LAWFUL_PARTS 4        /* of an interval */
#define CC_LAWFUL_POLE 0.5       /* q */
#define CC_LAWFUL_STEADY 1e-4    /* of the largest W f: where a changes, or y is missed, by more others move the body */
#define CC_LAWFUL_SAMPLES 3.0    /* without such a change, before a or P counts */
#define CC_LAWFUL_MOST 200.0     /* samples since the contact began: later it is left to creep */
#define CC_LAWFUL_BALANCED 0.05  /* of the load: difference from the force of the law */
#define CC_LAWFUL_REACHED 1e-4   /* of N_l: where N differs by less the body is on its way */

/* All that is remembered: doubles only, part of the FMU state. */
typedef struct {
    double x, w;              /* m, m/s, after `moved` intervals since the sample before the first force */
    double a;                 /* of the last sample, or P/M, m/s^2 */
    double samples CC_IN(0, 200); /* since that one, with it; 0: none is followed */
    double moved CC_IN(0, 202), steady CC_IN(0, 200);
    double held CC_IN(0, 1);  /* 1: a is P/M */
    double pushed CC_IN(0, 1); /* 1: a has changed, so only a held mass is followed */
    double lag CC_IN(0, 2);   /* with which a was found */
} CcLawfulMotion;

/* The bodies beside the contact: a mass, held or free, the load P on it, N, and what the model missed the acceleration
 * of the last interval by, m/s^2.  P is found with an error of (omega H)^4 after a large change of the force: whether
 * it changes the model says. */
typedef struct {
    CcHeldMass body;
    double load, missed;
} CcLoadedMass;

/* 1 if a spring or a damper holds the mass; else the a and W of the sample describe it. */
CC_API int cc_is_held(const CcLoadedMass *on) { return on->body.stiffness != 0.0 || on->body.damping != 0.0; }

/* What presses the mass on at x, w, N. */
CC_API double cc_load_at(const CcLoadedMass *on, double x, double w)
{
    return on->load - on->body.stiffness * x - on->body.damping * w;
}

/* Move on by an interval with the a and W of `now`, or as the held mass; returns the mean force, N. */
CC_API double cc_move_lawfully(CcLawfulMotion *m, const CcPortLaw *law, const CcInterval *now, const CcLoadedMass *on)
{
    CcInterval at = *now;
    double f[3], guess = 0.0, w = m->w, sum = 0.0, h = now->H / CC_LAWFUL_PARTS;
    at.H = h, at.kappa = h * h / 6.0, at.beyond = 0.0;
    for (int i = 0; i < 2; i++)
        at.W[2][i] = at.W[i][2] = 0.0;
    for (int i = 0; i < CC_LAWFUL_PARTS; i++) {
        at.x = m->x, at.w = m->w;
        if (cc_is_held(on)) {
            at.W[2][2] = 1.0 / (on->body.mass + 0.5 * h * on->body.damping + 0.25 * h * h * on->body.stiffness);
            at.a[2] = -at.W[2][2] * (cc_load_at(on, m->x, m->w) - 0.5 * h * on->body.stiffness * m->w);
        }
        at.reach = h * at.W[2][2] * law->elastic(law->data, at.x);
        cc_energy_force(law, &at, 1.0, guess, f);
        double alpha = at.a[2] + at.W[2][2] * f[2];
        m->x += h * at.w - 0.5 * h * h * alpha;
        m->w -= h * alpha;
        guess = f[2];
        sum += f[2];
    }
    return cc_is_held(on) ? sum / CC_LAWFUL_PARTS : ((w - m->w) / now->H - at.a[2]) / at.W[2][2];
}

/* 1 where forces along the surface move the point along the normal too. */
CC_API int cc_slip_moves_normal(const CcPortLaw *law, const CcInterval *at)
{
    double across = cc_abs(at->W[2][0]) + cc_abs(at->W[2][1]);
    return (law->friction || law->K_fr > 0.0) && across > CC_LAWFUL_STEADY * at->W[2][2];
}

/* A sample before the first force; guessed: W is. */
CC_API void cc_begin_lawful(CcLawfulMotion *m, const CcInterval *at, int guessed)
{
    *m = (CcLawfulMotion){.x = at->x, .w = at->w, .samples = guessed};
}

/* N_l of the interval that the force of this sample acts on, N, or 0 where it leads nothing.  at: state, a and W of
 * the sample; on: the bodies; known: W is; largest: force of late, N. */
CC_API double cc_lawful_force(CcLawfulMotion *m, const CcPortLaw *law, const CcInterval *at, const CcLoadedMass *on,
                              int lag, int known, double largest)
{
    int held = cc_is_held(on);
    double W = at->W[2][2], a = held ? -on->load / on->body.mass : at->a[2], N = 0.0;
    double change = held ? on->missed : cc_abs(a - m->a);
    if (m->samples == 0.0 || m->samples >= CC_LAWFUL_MOST)
        return m->samples = 0.0;
    m->samples += 1.0;
    m->a = a;
    if (m->lag != lag) /* another lag, another a */
        m->steady = m->pushed = 0.0, m->samples = m->moved > 0.0 ? 0.0 : m->samples;
    m->steady = known && W > 0.0 && m->held == held && m->lag == lag ? m->steady + 1.0 : 0.0;
    m->held = held, m->lag = lag;
    if (m->samples == 0.0)
        return 0.0;
    if (m->steady > 1.0 && change > CC_LAWFUL_STEADY * W * largest)
        m->steady = 1.0, m->pushed = held ? m->pushed : 1.0;
    if (m->steady > 1.0 && !held && cc_slip_moves_normal(law, at)) {
        m->steady = 1.0;
        return 0.0;
    }
    if (m->steady < CC_LAWFUL_SAMPLES || !(a < 0.0) || (m->pushed != 0.0 && !held))
        return 0.0;
    for (; m->moved < m->samples + lag; m->moved += 1.0)
        N = cc_move_lawfully(m, law, at, on);
    double load = held ? cc_load_at(on, m->x, m->w) : -a / W;
    double force = cc_damped_force(law->elastic(law->data, m->x), cc_port_damping(law, m->w));
    return cc_abs(load - force) < CC_LAWFUL_BALANCED * load ? N : 0.0;
}

/* N; at: the interval on which it acts. */
CC_API double cc_lead_to_lawful(CcLawfulMotion *m, const CcInterval *at, double N_l)
{
    const double q = CC_LAWFUL_POLE;
    double H = at->H, W = at->W[2][2], alpha = at->a[2] + W * N_l;
    double e_x = at->x + H * at->w - 0.5 * H * H * alpha - m->x, e_w = at->w - H * alpha - m->w;
    double more = (1.0 - q) * ((1.0 - q) * e_x + 0.5 * (1.0 + 3.0 * q) * H * e_w) / (W * H * H);
    if (cc_abs(more) < CC_LAWFUL_REACHED * N_l)
        m->samples = 0.0;
    return N_l + (more < -N_l ? -N_l : more > N_l ? N_l : more);
}

#endif
