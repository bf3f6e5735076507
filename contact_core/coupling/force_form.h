/* How a force acts over its interval, where the master changes inputs within the step.
 *
 * A master that gives derivatives of inputs may let the forces on the bodies change as well.  One that extrapolates
 * them from two values in a row, F_i-1 and F_i, gives the mean force
 *
 *     u_i = F_i-L + e (F_i-L - F_i-L-1)          e = 0: the force is held, 1/2: it is extrapolated over the interval
 *
 * and the bodies change their momentum by this mean.  So all that coupling.h calculates with is u, in the place of f:
 * secants, ledger, prediction, and the force that is looked for.  What is returned is the F that gives u,
 *
 *     F_i = (u + e F_i-1)/(1 + e)
 *
 * between u and the last F: it follows u with a memory of a third, and stays in the cone of friction.
 *
 * e and L are found together.  What a single admittance leaves of the changes of the acceleration along the normal,
 *
 *     J = sum Dy^2 - max(sum Dy Du, 0)^2 / sum Du^2
 *
 * is 0 with the true pair, for a body that nothing else moves but constant forces.  Until three intervals of one
 * contact leave 1e-9 of sum Dy^2 with one pair, and 1000 times as much with each other one, the law at the inputs acts.
 * Bodies that swing leave more: where forces are held the model of partner_model.h explains them, to rounding; where
 * they are not the law goes on to act. */
#ifndef CC_FORCE_FORM_H
#define CC_FORCE_FORM_H

#include "partner.h"

#define CC_FORMS 2
#define CC_FORM_SAMPLES 3.0   /* intervals of a contact with a change of u that decide */
#define CC_FORM_FIRST 4.0     /* intervals from the start on, before which the forces of some are not known */
#define CC_FORM_EXACT 1e-9    /* J of the true pair over sum Dy^2, at most, */
#define CC_FORM_SURE 1e-3     /* and over J of each other one */
#define CC_FORM_MODEL_SAMPLES 9.0 /* of a contact: four beyond those that determine the model, */
#define CC_FORM_MODELLED 1e-12 /* squares that the model of held forces leaves, over all; of extrapolated ones 1e-9 */
#define CC_FORM_DEEPENS 0.1   /* of the elastic energy: least kinetic energy in compression to use what was found */
#define CC_FORM_NOTHING 1e-12 /* of the largest force: a returned force that still fades below is 0 */

/* All that is remembered: doubles only, part of the FMU state. */
typedef struct {
    double known CC_IN(0, 1), found CC_IN(0, 1), e CC_IN(0, 0.5), lag CC_IN(0, 2); /* known: and in use */
    double modelled CC_IN(0, 1);         /* found by the model: what it has learned is right */
    double W CC_FROM(0);                 /* admittance along the normal that was found with them, 1/kg */
    double given[CC_LAGS][3];            /* F returned, N, the newest first */
    double intervals CC_FROM(0), samples[CC_FORMS][CC_LAGS]; /* since the start; with a change of u in this contact */
    double yy, uu[CC_FORMS][CC_LAGS], uy[CC_FORMS][CC_LAGS];
    CcLedger ledger;                     /* of forces with e = 1/2 */
} CcForceForm;

CC_API double cc_form_e(int form) { return 0.5 * form; }

/* Mean force of an interval, from the one given for it and the one before. */
CC_API double cc_form_mean(double e, double f, double before) { return f + e * (f - before); }

/* What a single admittance leaves. */
CC_API double cc_form_remainder(const CcForceForm *m, int form, int lag)
{
    return cc_remainder(m->uu[form][lag], cc_max(m->uy[form][lag], 0.0), m->yy);
}

/* Add the change Dy of the acceleration in the interval that ended, or begin anew where no force acts. */
CC_API void cc_form_add(CcForceForm *m, const CcPartner *p, double Dy, int quiet)
{
    m->intervals += 1.0;
    if (quiet || m->intervals < CC_FORM_FIRST) {
        CcForceForm again = {.found = m->found, .e = m->e, .lag = m->lag, .W = m->W, .modelled = m->modelled,
                             .intervals = m->intervals, .ledger = m->ledger};
        cc_close_ledger(&again.ledger);
        *m = again;
        return;
    }
    m->yy += Dy * Dy;
    for (int form = 0; form < CC_FORMS; form++)
        for (int L = 0; L < CC_LAGS; L++) {
            double e = cc_form_e(form), now = cc_form_mean(e, p->f[L][2], p->f[L + 1][2]);
            double Du = now - cc_form_mean(e, p->f[L + 1][2], p->f[L + 2][2]);
            m->samples[form][L] += Du != 0.0;
            m->uu[form][L] += Du * Du;
            m->uy[form][L] += Du * Dy;
        }
}

/* Keep the pair that explains what is seen, if there is one.  least: changes of the acceleration below it are noise. */
CC_API void cc_form_find(CcForceForm *m, double least)
{
    int best = 0, pairs = CC_FORMS * CC_LAGS;
    for (int k = 1; k < pairs; k++)
        best = cc_form_remainder(m, k / CC_LAGS, k % CC_LAGS) < cc_form_remainder(m, best / CC_LAGS, best % CC_LAGS)
                   ? k : best;
    double left = cc_form_remainder(m, best / CC_LAGS, best % CC_LAGS);
    int sure = m->samples[best / CC_LAGS][best % CC_LAGS] >= CC_FORM_SAMPLES && left < CC_FORM_EXACT * m->yy
               && m->yy > 1e6 * least * least;
    for (int k = 0; k < pairs; k++)
        sure &= k == best || left < CC_FORM_SURE * cc_form_remainder(m, k / CC_LAGS, k % CC_LAGS);
    if (!sure)
        return;
    m->found = 1.0;
    m->e = cc_form_e(best / CC_LAGS);
    m->lag = best % CC_LAGS;
    m->W = m->uy[best / CC_LAGS][best % CC_LAGS] / m->uu[best / CC_LAGS][best % CC_LAGS];
}

/* Keep a lag with which the model, of held forces, leaves nothing.  It can come near to extrapolated ones. */
CC_API void cc_form_find_by_model(CcForceForm *m, const CcPartnerModel *model)
{
    int lag = cc_model_exact_lag(model);
    if (lag < 0 || model->contact < CC_FORM_MODEL_SAMPLES)
        return;
    if (!(model->lag[lag].rest < CC_FORM_MODELLED * model->squares && cc_model_is_sane(model, lag)))
        return;
    m->found = m->modelled = 1.0;
    m->e = 0.0;
    m->lag = lag;
    m->W = cc_model_admittance(model, lag);
}

/* What the position along the normal is short of that on the parabola of the mean force, m: within an interval the
 * force changes by DF, which moves the body by H^2 W DF/12 less than its mean does, and the sum of all DF is F. */
CC_API double cc_form_shift(const CcForceForm *m, const CcPartner *p)
{
    return m->e * p->H * p->H * p->W[2][2] * m->given[cc_lag(m->lag)][2] / 6.0;
}

/* The force to return so that the mean force is u; `largest`: of the forces so far.  It is kept. */
CC_API void cc_form_give(CcForceForm *m, const double u[3], double largest, double F[3])
{
    double size = 0.0;
    for (int i = 0; i < 3; i++) {
        F[i] = (u[i] + m->e * m->given[0][i]) / (1.0 + m->e);
        size = size > cc_abs(F[i]) ? size : cc_abs(F[i]);
    }
    for (int i = 0; i < 3; i++)
        F[i] = size > CC_FORM_NOTHING * largest ? F[i] : 0.0;
    cc_put_first(m->given[0], CC_LAGS, 3, F);
}

#endif
