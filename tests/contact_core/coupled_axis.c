/* Bodies on one axis, springs and dampers between them, and a master. */
#define CC_API static __attribute__((unused))
#include "coupling/coupled_axis.h"
#include "laws/hold.h"

#define EXPORT __attribute__((visibility("default")))

enum { MOST = 128, JACOBI = 1, ELEMENTS_FIRST = 0, BODIES_FIRST = 2 };

typedef struct {
    int bodies, elements, master, steps, by_place, hold, euler; /* euler: substeps of semi-implicit Euler; 0: exact */
    double H;
    double m[MOST], pull[MOST]; /* kg, constant force N */
    int ends[MOST][2];          /* bodies at r and c of each element; -1: ground */
    double x_0[MOST];           /* deformation at the start */
    CcBondOptions options[MOST];
} System;

static double across(const System *s, int i, const double of[])
{
    return (s->ends[i][0] >= 0 ? of[s->ends[i][0]] : 0.0) - (s->ends[i][1] >= 0 ? of[s->ends[i][1]] : 0.0);
}

static void move(const System *s, const double F[], double u[], double v[], double h, int euler)
{
    double f[MOST];
    for (int b = 0; b < s->bodies; b++)
        f[b] = s->pull[b];
    for (int i = 0; i < s->elements; i++) {
        if (s->ends[i][0] >= 0)
            f[s->ends[i][0]] -= F[i];
        if (s->ends[i][1] >= 0)
            f[s->ends[i][1]] += F[i];
    }
    for (int b = 0; b < s->bodies; b++) {
        double before = v[b];
        v[b] += h * f[b] / s->m[b];
        u[b] += h * (euler ? v[b] : 0.5 * (before + v[b]));
    }
}

EXPORT int size(void) { return sizeof(CcAxis); }
EXPORT int system_size(void) { return sizeof(System); }

EXPORT void start(const System *s, const double u[], const double v[], CcAxis c[], double F[])
{
    for (int i = 0; i < s->elements; i++) {
        double x = s->x_0[i] + across(s, i, u), rate = across(s, i, v);
        F[i] = s->options[i].k * x + s->options[i].d * rate;
        cc_axis_start(c + i, &s->options[i], x, rate, F[i]);
    }
}

/* Steps from u, v, with the elements c and the forces F at the master; trace: u, v of the bodies, forces that acted and
 * deformations of the elements at the end of each step. */
EXPORT void run(const System *s, double u[], double v[], CcAxis c[], double F[], double *trace)
{
    double acting[MOST] = {0.0}, new[MOST] = {0.0};
    for (int n = 0; n < s->steps; n++) {
        for (int turn = 0; turn < 2; turn++) {
            if ((turn == 1) == (s->master == BODIES_FIRST)) {
                for (int i = 0; i < s->elements; i++) {
                    double place = s->x_0[i] + across(s, i, u), rate = across(s, i, v);
                    if (s->hold && !s->by_place) {
                        c[i].x += s->H * rate;
                        new[i] = s->options[i].k * c[i].x + s->options[i].d * rate;
                    } else if (s->hold) {
                        new[i] = s->options[i].k * place + s->options[i].d * rate;
                    } else {
                        cc_axis_observe(c + i, &s->options[i], s->by_place ? &place : 0, rate, s->H);
                        new[i] = cc_axis_answer(c + i, &s->options[i], rate, s->H);
                    }
                }
            } else {
                for (int i = 0; i < s->elements; i++)
                    acting[i] = s->master == ELEMENTS_FIRST ? new[i] : F[i];
                for (int k = 0; k < (s->euler ? s->euler : 1); k++)
                    move(s, acting, u, v, s->H / (s->euler ? s->euler : 1), s->euler);
            }
        }
        for (int b = 0; b < s->bodies; b++)
            *trace++ = u[b];
        for (int b = 0; b < s->bodies; b++)
            *trace++ = v[b];
        for (int i = 0; i < s->elements; i++) {
            F[i] = new[i];
            *trace++ = acting[i];
        }
        for (int i = 0; i < s->elements; i++)
            *trace++ = c[i].x;
    }
}

EXPORT void learned(const CcAxis *c, const CcBondOptions *o, double out[6])
{
    const CcBond *b = &c->bond;
    out[0] = b->lag, out[1] = cc_bond_known_admittance(b, o), out[2] = b->ledger.made[(int)b->lag];
    out[3] = b->rule.beta, out[4] = cc_hold_step_advised(out[1], o->k, o->d), out[5] = cc_is_mismatched(&b->rule);
}

EXPORT double force(const CcBondOptions *o, double x, double v, double a, double W, double H, double R)
{
    return cc_axis_force(o, x, v, a, W, H, R);
}
