/* A port that learns the answer of bodies whose motion a test gives. */
#define CC_API static __attribute__((unused))
#include "coupling/held_mass.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int size(void) { return sizeof(CcPartnerModel); }

/* Learn y[i], i < n, under the forces f, f[i] that of sample i, with the lag `given`, or from 1 on if it is -1.
 * `predicted`[i]: y[i + 1] as the equation has it from the samples up to i, with the lag of then.  Returns the lag
 * at the end. */
EXPORT int learn(CcPartnerModel *m, int n, const double y[], const double f[], double H, double W, double unit,
                 int given, double predicted[])
{
    int lag = given < 0 ? 1 : given;
    for (int i = 0; i < n; i++) {
        CcModelSample s = {.y = y[i], .W = W, .quiet = 1, .given = given >= 0};
        for (int k = 0; k < CC_MODEL_FORCES; k++) {
            s.u[k] = i - k >= 0 ? f[i - k] : 0.0;
            s.quiet &= s.u[k] == 0.0;
        }
        cc_model_at_step(m, H);
        cc_model_in_units(m, unit);
        lag = cc_model_learn(m, lag, &s);
        double u[4];
        for (int k = 0; k < 4; k++)
            u[k] = i + 1 - lag - k >= 0 && i + 1 - lag - k < n ? f[i + 1 - lag - k] : 0.0;
        CcAhead ahead = cc_model_now(m);
        predicted[i] = cc_model_next(m, lag, u, &ahead);
    }
    return lag;
}

/* Rotate n rows of 6 numbers, the last one t, into R and r, and solve them; returns the squares left over. */
EXPORT double least_squares(int n, double rows[][CC_MODEL_SIZE + 1], const double weights[],
                            double R[CC_MODEL_TRIANGLE], double r[CC_MODEL_SIZE], double p[CC_MODEL_SIZE])
{
    double left = 0.0;
    for (int i = 0; i < n; i++)
        left += cc_rotate_in(R, r, rows[i], rows[i][CC_MODEL_SIZE], weights[i]);
    cc_solve_triangle(R, r, p);
    return left;
}

/* Count forces in another unit, and give the parameters that R and r alone have then. */
EXPORT void in_units(CcPartnerModel *m, int lag, double unit, double p[CC_MODEL_SIZE])
{
    cc_model_in_units(m, unit);
    cc_solve_triangle(m->lag[lag].R, m->lag[lag].r, p);
    for (int j = 2; j < CC_MODEL_SIZE; j++)
        p[j] *= m->unit;
}

EXPORT void parameters(const CcPartnerModel *m, int lag, double p[6])
{
    for (int j = 0; j < CC_MODEL_SIZE; j++)
        p[j] = m->lag[lag].p[j] * (j < 2 ? 1.0 : m->unit);
    p[5] = m->use;
}

/* As a mass that a spring and a damper hold: kg, N/m, N s/m; and the trust. */
EXPORT void held_mass(const CcPartnerModel *m, int lag, double held[4])
{
    CcHeldMass found = cc_held_mass(m, lag);
    held[0] = found.mass, held[1] = found.stiffness, held[2] = found.damping;
    held[3] = cc_model_trust(m, lag, m->use != 0.0);
}
