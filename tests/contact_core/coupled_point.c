/* A particle on a ring of the radius 1 m in the plane x y, or on the x axis, with two transverse springs; a master. */
#define CC_API static __attribute__((unused))
#include "coupling/coupled_point.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct {
    double k_1, k_2; /* towards the centre, along z; of the x axis along y and z */
    int ring;
    double growth; /* of both, 1/s */
} Guide;

typedef struct {
    const Guide *g;
    double b;     /* friction along the line over its speed */
    double scale; /* of both stiffnesses, now */
} Seen;

static double rub(const void *data, const double across[2], double along)
{
    (void)across, (void)along;
    return ((const Seen *)data)->b;
}

static void potential(const void *data, const double P[3], const double D[3], CcPotential *at)
{
    const Seen *seen = data;
    const Guide *g = seen->g;
    (void)D;
    double r = g->ring ? cc_sqrt(P[0] * P[0] + P[1] * P[1]) : 1.0, out[2] = {0.0, 1.0};
    if (g->ring)
        out[0] = P[0] / r, out[1] = P[1] / r;
    double delta_1 = g->ring ? r - 1.0 : P[1], delta_2 = P[2], k_1 = seen->scale * g->k_1, k_2 = seen->scale * g->k_2;
    *at = (CcPotential){.U = 0.5 * (k_1 * delta_1 * delta_1 + k_2 * delta_2 * delta_2),
                        .gradient = {k_1 * delta_1 * out[0], k_1 * delta_1 * out[1], k_2 * delta_2},
                        .tangent = {g->ring ? -out[1] : 1.0, g->ring ? out[0] : 0.0, 0.0},
                        .V = {{out[0], out[1], 0.0}, {0.0, 0.0, 1.0}},
                        .k = {k_1, k_2}};
}

static CcPointOptions options_of(const Seen *seen, double c, int lag, double m_eff)
{
    return (CcPointOptions){.potential = potential, .rub = rub, .data = seen, .c = c,
                            .bond.given = {.lag = lag, .identify = 1, .inertia = m_eff}};
}

EXPORT int size(void) { return sizeof(CcPoint); }

EXPORT double energy(const Guide *g, const double P[3])
{
    const Seen seen = {g, 0.0, 1.0};
    CcPotential at;
    potential(&seen, P, P, &at);
    return at.U;
}

/* The force of one interval; returns how often the middle was looked at. */
EXPORT int interval(const Guide *g, double c, double b, const double P[3], const double v[3], const double a[3],
                    double W, double H, double R, double f[3], double damped[3], double rubbed[3])
{
    const Seen seen = {g, b, 1.0};
    CcPointOptions o = options_of(&seen, c, 0, 0.0);
    CcPointForce force;
    CcPointInterval in = {.H = H, .a = {a[0], a[1], a[2]}, .W = W, .R = R, .W_R = W};
    int looks = cc_point_force(&o, P, v, &in, &force);
    for (int i = 0; i < 3; i++)
        f[i] = force.f[i], damped[i] = force.damped[i], rubbed[i] = force.rubbed[i];
    return looks;
}

/* A particle of the mass m with the constant force `pull`; trace: P, v at the end of each step.  The force of the start
 * has its friction. */
EXPORT void run(const Guide *g, double m, const double pull[3], double c, double b, int master, int hold, int lag,
                double m_eff, double P[3], double v[3], CcPoint *p, double F[3], double H, int steps, int begin,
                double *trace)
{
    Seen seen = {g, b, 1.0};
    CcPointOptions o = options_of(&seen, c, lag, m_eff);
    CcPotential at;
    if (begin) {
        CcPointForce first = {.f = {0.0}};
        potential(&seen, P, v, &at);
        for (int i = 0; i < 3; i++) {
            first.rubbed[i] = -b * cc_dot(v, at.tangent) * at.tangent[i];
            first.f[i] = F[i] = first.rubbed[i] - at.gradient[i];
        }
        cc_point_start(p, &o);
        cc_point_begin(p, &o, P, v, &first);
    }
    for (int n = 0; n < steps; n++) {
        double new[3];
        seen.scale = 1.0 + g->growth * n * H;
        if (hold) {
            potential(&seen, P, v, &at);
            for (int i = 0; i < 3; i++)
                new[i] = -at.gradient[i];
        } else {
            cc_point_observe(p, &o, P, v, v, H);
            cc_point_answer(p, &o, P, v, H, new);
        }
        const double *acting = master == 1 ? F : new;
        for (int i = 0; i < 3; i++) {
            double y = (acting[i] + pull[i]) / m;
            P[i] += H * v[i] + 0.5 * H * H * y;
            v[i] += H * y;
        }
        for (int i = 0; i < 3; i++) {
            F[i] = new[i];
            trace[6 * n + i] = P[i];
            trace[6 * n + 3 + i] = v[i];
        }
    }
}

EXPORT void learned(const CcPoint *p, double out[4])
{
    const CcBondOptions none = {.k = 0.0}; /* no inertia is given */
    int lag = (int)p->bond.lag;
    out[0] = lag, out[1] = cc_bond_known_admittance(&p->bond, &none);
    out[2] = p->bond.ledger.made[lag], out[3] = p->bond.ledger.taken[lag] + p->taken[lag];
}
