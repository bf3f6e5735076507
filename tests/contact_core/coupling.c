/* The coupling of n ports at once, with an elastic force C h^exponent. */
#define CC_API static __attribute__((unused))
#include "coupling/joint_coupling.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct {
    double C, exponent, d_comp, d_rest, k_D, K_fr, k_T;
    double by_functions; /* 1: damping and friction as functions, as a user's laws come */
} Law;

static double power(double h, double exponent)
{
    return exponent == 1.0 ? h : exponent == 2.0 ? h * h : cc_pow(h, exponent);
}

static double elastic(const void *data, double h)
{
    const Law *law = data;
    return h > 0.0 ? law->C * power(h, law->exponent) : 0.0;
}

static double energy(const void *data, double h)
{
    const Law *law = data;
    return h > 0.0 ? law->C * power(h, law->exponent + 1.0) / (law->exponent + 1.0) : 0.0;
}

static double damping(const void *data, double w)
{
    const Law *law = data;
    double d = law->k_D * w;
    return d > law->d_comp ? law->d_comp : d < law->d_rest ? law->d_rest : d;
}

static double friction(const void *data, double N, double u)
{
    const Law *law = data;
    return law->K_fr * N * (u * law->k_T < 1.0 ? u * law->k_T : 1.0);
}

static CcPortLaw port_law(const Law *law)
{
    int functions = law->by_functions != 0.0;
    return (CcPortLaw){elastic, energy, functions ? damping : 0, functions ? friction : 0, law,
                       law->d_comp, law->d_rest, law->k_D, law->K_fr, law->k_T, 0.0, 0.0, 0};
}

EXPORT int size(void) { return sizeof(CcCoupling); }

EXPORT void start(int n, CcCoupling *c, int lag, int identify, int straight, double m_eff)
{
    CcCouplingOptions options = {lag, identify, straight, m_eff, 0};
    for (int i = 0; i < n; i++)
        cc_coupling_start(c + i, &options);
}

EXPORT void rewind_all(int n, CcCoupling *c)
{
    for (int i = 0; i < n; i++)
        cc_coupling_rewind(c + i);
}

/* W along the normal, 1/kg, 0 while it is unknown. */
EXPORT void admittances(int n, const CcCoupling *c, double *W)
{
    for (int i = 0; i < n; i++)
        W[i] = c[i].partner.known != 0.0 ? c[i].partner.W[2][2] : 0.0;
}

EXPORT void step(int n, CcCoupling *c, const Law *law, int lag, int identify, int straight, double m_eff,
                 double (*r)[3], double (*v)[3], double H, double (*f)[3], int *evaluations)
{
    CcCouplingOptions options = {lag, identify, straight, m_eff, 0};
    CcPortLaw port = port_law(law);
    for (int i = 0; i < n; i++) {
        double u[3] = {v[i][0], v[i][1], v[i][2]};
        cc_coupling_see_rate(c + i, &port, &options, r[i], 0.0, u);
        evaluations[i] = cc_coupling_step(c + i, &port, &options, r[i], u, H, f[i]);
    }
}

EXPORT double mean_ramp(double k_T, double u, double rate, double q, double H)
{
    return cc_mean_ramp(k_T, u, rate, q, H);
}

/* 1 where the velocities are found to be differences of positions. */
EXPORT void late(int n, const CcCoupling *c, int *found)
{
    for (int i = 0; i < n; i++)
        found[i] = c[i].late.found != 0.0;
}

/* What a sample would be: 0 where a force may come to act; 1 out of reach; 2 out of reach though the steps that are
 * left out there would give a force or change what is remembered. */
EXPORT int reach(const CcCoupling *c, const Law *law, int lag, int identify, int straight, double m_eff,
                 const double r[3], const double v[3], double H)
{
    CcCouplingOptions options = {lag, identify, straight, m_eff, 0};
    CcPortLaw port = port_law(law);
    CcCoupling then = *c;
    int quiet = then.partner.begun != 0.0 && cc_coupling_learn(&then, &port, &options, r, v, 0);
    if (!quiet || !cc_is_out_of_reach(&then, r, v, H))
        return 0;
    CcCoupling before = then;
    CcInterval at = cc_coupling_begin(&then, &port, &options, r, v, H);
    double x = at.x, w = at.w, pushed[CC_LAGS - 1][3] = {{0.0}};
    cc_coupling_predict(&then, &port, pushed, &at);
    double most = cc_coupling_most(&then, &port, x, w, at.w, H);
    return most > 0.0 || __builtin_memcmp(&before, &then, sizeof then) ? 2 : 1;
}

EXPORT void joint_sizes(int *port, int *mobility)
{
    *port = sizeof(CcJointPort) / 8, *mobility = sizeof(CcMobility) / 8;
}

EXPORT void joint_start(int n, CcCoupling *c, CcMobility *m, int lag, double m_eff)
{
    CcCouplingOptions options = {lag, 1, 0, m_eff, 0};
    start(n, c, lag, 1, 0, m_eff);
    cc_joint_start(m, &options);
}

/* n points whose frame is that of the surface; together = 0: each on its own.  Returns the evaluations of the law, a
 * point that may touch. */
EXPORT double joint_step(int together, int n, CcCoupling *c, CcMobility *m, CcJointPort *port, const Law *law, int lag,
                       double (*r)[3], double (*v)[3], double H, double (*f)[3])
{
    CcCouplingOptions options = {lag, 1, 0, 0.0, 0};
    CcPortLaw contact = port_law(law);
    for (int i = 0; i < n; i++) {
        port[i] = (CcJointPort){.usable = 1.0, .place.axes = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
        for (int k = 0; k < 3; k++)
            port[i].position[k] = r[i][k], port[i].r[k] = k == 2 ? r[i][k] : 0.0, port[i].v[k] = v[i][k];
    }
    int evaluations = together ? cc_joint_step(m, n, c, port, &contact, &options, H)
                               : cc_separate_step(n, c, port, &contact, &options, H);
    int touching = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++)
            f[i][k] = port[i].f[k];
        touching += port[i].most > 0.0;
    }
    return touching ? (double)evaluations / touching : 0.0;
}

EXPORT int interval_size(void) { return sizeof(CcInterval) / sizeof(double); }

enum { MOST_POINTS = 8 };

/* The forces of an interval of n points for a given mobility, from a guess.  bristle: k, c, or 0.  Returns how often
 * the law was evaluated at a point, on average. */
EXPORT double joint_solve(int n, const Law *law, const double bristle[2], double (*B)[6], double (*arm)[3],
                          const CcInterval *at, const double *scale, const double *most, double (*guess)[3],
                          double (*f)[3])
{
    CcMobility m = {.known = 1.0};
    CcCoupling c[MOST_POINTS] = {{.scale = 0.0}};
    CcJointPort port[MOST_POINTS];
    CcPortLaw contact = port_law(law);
    contact.k_B = bristle[0], contact.c_B = bristle[1];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            m.B[i][j] = B[i][j];
    int touching = 0;
    for (int i = 0; i < n; i++) {
        port[i] = (CcJointPort){.place.axes = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}, .at = at[i],
                                .most = most[i]};
        c[i].scale = scale[i];
        for (int k = 0; k < 3; k++)
            port[i].place.arm[k] = arm[i][k], c[i].partner.f[0][k] = guess[i][k];
        touching += most[i] > 0.0;
    }
    int evaluations = cc_joint_forces(&m, n, c, port, &contact);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            f[i][k] = port[i].f[k];
    return touching ? (double)evaluations / touching : 0.0;
}

EXPORT void hold(int n, const Law *law, double (*r)[3], double (*v)[3], double (*f)[3])
{
    CcPortLaw port = port_law(law);
    for (int i = 0; i < n; i++)
        cc_law_at(&port, r[i], v[i], f[i]);
}

/* The force of an interval for a given partner, and the energy it makes. */
EXPORT int interval(const Law *law, const CcInterval *at, double scale, double guess, double f[3], double *made)
{
    CcPortLaw port = port_law(law);
    int evaluations = cc_energy_force(&port, at, scale, guess, f);
    double alpha = at->a[2] + cc_dot(at->W[2], f), H = at->H;
    *made = cc_energy_made(&port, f[2], at->x, at->w, at->x + H * at->w - 0.5 * H * H * alpha, at->w - H * alpha, H);
    return evaluations;
}

EXPORT double harmonic(const Law *law, double w, double w_1)
{
    CcPortLaw port = port_law(law);
    return cc_harmonic_damping(&port, w, w_1);
}
