/* Loops around the things that are timed, so that Python is not in the measurement. */
#define CC_API static __attribute__((unused))
#include "laws/contact.h"
#include "fmi2Functions.h"

#define EXPORT __attribute__((visibility("default")))

/* n communication steps of length h from t: new motion in, one step, force out; returns the last status that was not
 * 0. */
EXPORT int loop_steps(fmi2SetRealTYPE *set, fmi2DoStepTYPE *step, fmi2GetRealTYPE *get, fmi2Component c,
                      const fmi2ValueReference motion[6], const fmi2ValueReference force[3], double t, double h, long n)
{
    int worst = 0;
    double u[6] = {0.0, 0.0, -1e-3, 0.5, 0.1, -0.2}, f[3];
    for (long k = 0; k < n; k++) {
        u[2] = -1e-3 - 1e-6 * (double)(k & 7);
        int status = set(c, motion, 6, u) | step(c, t + (double)k * h, h, fmi2True) | get(c, force, 3, f);
        if (status)
            worst = status;
    }
    return worst;
}

/* n communication steps of a Jacobi master: a mass of 1 kg, which `weight` presses on the contact, holds each force
 * over the step after.  state: z, v, force.  `twice`: sets other inputs before those of the step and gets the force
 * twice: the difference to a run without it is what set and get take. */
EXPORT int loop_coupled(fmi2SetRealTYPE *set, fmi2DoStepTYPE *step, fmi2GetRealTYPE *get, fmi2Component c,
                        const fmi2ValueReference motion[6], const fmi2ValueReference force[3], double t, double h,
                        double weight, double state[3], long n, int twice)
{
    int worst = 0;
    for (long k = 0; k < n; k++) {
        double u[6] = {0.0, 0.0, state[0], 0.0, 0.0, state[1]}, f[3], a = state[2] - weight;
        double other[6] = {1.0, 1.0, state[0] + 1.0, 1.0, 1.0, state[1] + 1.0};
        int status = twice ? set(c, motion, 6, other) : fmi2OK;
        status |= set(c, motion, 6, u) | step(c, t + (double)k * h, h, fmi2True) | get(c, force, 3, f);
        status |= twice ? get(c, force, 3, f) : fmi2OK;
        state[0] += h * (state[1] + 0.5 * h * a);
        state[1] += h * a;
        state[2] = f[2];
        if (status)
            worst = status;
    }
    return worst;
}

/* The same for an element along one coordinate, on a body of 1 kg: speed in, force out.  state: v, force. */
EXPORT int loop_axis(fmi2SetRealTYPE *set, fmi2DoStepTYPE *step, fmi2GetRealTYPE *get, fmi2Component c,
                     fmi2ValueReference speed, fmi2ValueReference force, double t, double h, double state[2], long n)
{
    int worst = 0;
    for (long k = 0; k < n; k++) {
        double v = state[0];
        state[0] += h * state[1];
        int status = set(c, &speed, 1, &v) | step(c, t + (double)k * h, h, fmi2True) | get(c, &force, 1, &state[1]);
        if (status)
            worst = status;
    }
    return worst;
}

/* The same as loop_steps without set and get. */
EXPORT int loop_do_step(fmi2DoStepTYPE *step, fmi2Component c, double t, double h, long n)
{
    int worst = 0;
    for (long k = 0; k < n; k++) {
        int status = step(c, t + (double)k * h, h, fmi2True);
        if (status)
            worst = status;
    }
    return worst;
}

/* n trial points of a solver in model exchange: time and states in, derivatives and indicators out. */
EXPORT int loop_evaluate(fmi2SetTimeTYPE *set_time, fmi2SetContinuousStatesTYPE *set_states,
                         fmi2GetDerivativesTYPE *derivatives, fmi2GetEventIndicatorsTYPE *indicators, fmi2Component c,
                         const double *x, double *slopes, size_t nx, double *z, size_t nz, double h, long n)
{
    int worst = 0;
    for (long k = 0; k < n; k++) {
        int status = set_time(c, (double)k * h) | set_states(c, x, nx) | derivatives(c, slopes, nx)
                     | indicators(c, z, nz);
        if (status)
            worst = status;
    }
    return worst;
}

/* n evaluations of the contact law in sliding contact; the sum keeps the compiler from leaving any out. */
EXPORT double LOOP_LAW(long n)
{
    CcContactLaw law = {1e6, 0.3, 0.5, 100.0, 0.5, 100.0};
    double sum = 0.0;
    for (long k = 0; k < n; k++) {
        Real n_W[3] = {0.0, 0.0, 1.0};
        Real v[3] = {0.5, 0.1, -1e-3 * (double)(k & 15)};
        Real h = 1e-3 + 1e-6 * (double)(k & 7);
#ifdef CC_DUAL
        h += cc_real(0.0, CC_DUAL_STEP);
#endif
        CcContact contact;
        cc_contact(&law, h, n_W, v, &contact);
#ifdef CC_DUAL
        sum += __imag__ contact.force[0] + __imag__ contact.force[2];
#else
        sum += contact.force[0] + contact.force[2];
#endif
    }
    return sum;
}
