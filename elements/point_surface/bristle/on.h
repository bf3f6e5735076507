/* Friction with memory: the bristle of each point, bristle.h. */
#include "laws/bristle.h"

#define FRICTION_OF_CONTACT 0 /* the bristle adds it */

enum { DEFLECTIONS = sizeof((Element *)0)->deflection[0] / sizeof(Real) }; /* 2 on a flat surface, else 3 */

/* The deflection of the bristle i in world components. */
static void deflection_of(const Element *e, int i, Real R[3][3], Real z[3])
{
    Real local[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < DEFLECTIONS; k++)
        local[k] = e->deflection[i][k];
    cc_to_world(R, local, z);
}

static double bristle_energy(const Element *e, int i, Real stiffness)
{
    double square = 0.0;
    for (int k = 0; k < DEFLECTIONS; k++)
        square += re(e->deflection[i][k]) * re(e->deflection[i][k]);
    return re(cc_bristle_energy(re(stiffness), square));
}

static inline void friction_indicators(const Element *e, int i, Indicators *z)
{
    z->tip_slip[i] = re(e->tip_slip[i]);
    limit_indicators(e, i, z);
}

/* Add the force of the bristle i to a contact without friction, v velocity relative to the surface. */
static void hold_by_bristle(Element *e, int i, Real R[3][3], const Real n[3], const Real v[3], int in_contact,
                            CcContact *contact)
{
    Real z[3], v_t[3], across = cc_dot(v, n), limit = 0.0, rate[3] = {0.0, 0.0, 0.0};
    CcBristle bristle;
    CC_UNROLL for (int k = 0; k < 3; k++)
        v_t[k] = v[k] - across * n[k];
    if (in_contact)
        limit = bristle_limit(e, i, cc_max(contact->normal_force, 0.0), contact->slip_speed);
    deflection_of(e, i, R, z);
    cc_bristle(e->k_B, e->c_B, limit, z, n, v_t, &bristle);
    e->tip_slip[i] = bristle.side;
    e->stick[i] = in_contact && re(bristle.side) <= 0.0;
    contact->elastic_energy += bristle.energy;
    if (in_contact) {
        cc_to_body(R, bristle.rate, rate);
        contact->friction_force = bristle.friction;
        CC_UNROLL for (int k = 0; k < 3; k++)
            contact->force[k] -= bristle.force[k];
        e->power.friction += bristle.dissipated;
    }
    for (int k = 0; k < DEFLECTIONS; k++)
        e->deflection_rate[i][k] = rate[k];
}

/* What it dissipates is booked by hold_by_bristle, held or slipping. */
static inline void book_sliding(Element *e, const CcContact *contact) { (void)e, (void)contact; }

/* slips: 0 before the first outputs, 1 behind them */
static inline void start_bristle(Element *e, int i, int slips)
{
    start_slipping(e, i, slips && re(e->tip_slip[i]) > 0.0);
}

static inline void note_relaxed(Element *e, int i, double energy);

/* Of an accepted point: relax the bristle if it is apart, and keep whether its tip slips.  Returns what accept does. */
static int accept_bristle(Element *e, int i)
{
    int changed = keep_slipping(e, i);
    double energy = bristle_energy(e, i, e->previous_bristle_stiffness);
    if (re(e->in_contact[i]) != 0.0 || energy == 0.0)
        return changed;
    for (int k = 0; k < DEFLECTIONS; k++)
        e->deflection[i][k] = 0.0;
    book_friction(e, energy);
    note_relaxed(e, i, energy);
    return CC_JUMPED;
}

/* Energy of bristle i lost by a change of the stiffness since the last accepted point, J. */
static inline double bristle_energy_destroyed(const Element *e, int i)
{
    return bristle_energy(e, i, e->previous_bristle_stiffness - e->k_B);
}

static inline int bristle_changed(const Element *e) { return re(e->previous_bristle_stiffness) != re(e->k_B); }

static inline void remember_bristle(Element *e) { e->previous_bristle_stiffness = e->k_B; }
