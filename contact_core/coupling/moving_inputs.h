/* A contact port where inputs change within the step: how its forces act is looked for (force_form.h), and comes into
 * use in free flight, and in a contact while most of it is to come: of held forces until half of the energy is given
 * back, of others before compression ends, as what these did is not all in the ledger. */
#ifndef CC_MOVING_INPUTS_H
#define CC_MOVING_INPUTS_H

#include "coupling.h"

/* The form and the lag that were found come into use: what was given so far becomes mean forces. */
CC_API void cc_coupling_use_form(CcCoupling *c, const CcCouplingOptions *o)
{
    CcPartner *p = &c->partner;
    CcForceForm *form = &c->form;
    int L = cc_lag(form->lag);
    double before = p->f[L + 1][2];
    if (form->e != 0.0)
        c->ledger = form->ledger;
    for (int k = 0; k < CC_LAGS; k++)
        for (int i = 0; i < 3; i++)
            form->given[k][i] = p->f[k][i];
    for (int k = 0; k < CC_KEPT_FORCES - 1; k++)
        for (int i = 0; i < 3; i++)
            p->f[k][i] = cc_form_mean(form->e, p->f[k][i], p->f[k + 1][i]);
    form->known = 1.0;
    p->lag = L;
    p->overruled = p->confirmed = 0.0;
    if (form->modelled != 0.0)
        return;
    p->anchored = p->unanswered = 0.0;
    p->model = (CcPartnerModel){.H = p->H};
    __builtin_memset(p->fits, 0, sizeof p->fits);
    p->rule.sum[0] = p->rule.sum[1] = 0.0;
    p->rule.beta = 0.5;
    p->secants = (CcSecants){.left = {0.0}};
    if (cc_identifies(p, o)) {
        cc_guess_admittance(p->W, form->W);
        p->known = 1.0;
    }
    p->r[2] += form->e * p->H * p->H * p->W[2][2] * before / 6.0; /* as that of the present sample will be */
}

/* A sample: look for the form and the lag, until they are known and in use. */
CC_APART void cc_coupling_find_form(CcCoupling *c, const CcPortLaw *law, const CcCouplingOptions *o, const double r[3],
                                    const double v[3])
{
    CcPartner *p = &c->partner;
    CcForceForm *form = &c->form;
    CcObservation seen = cc_observe_interval(p, v);
    double x = cc_coupling_depth(p, r, v);
    double floor = (10.0 * p->noise + CC_ROUNDING * (cc_abs(v[2]) + cc_abs(p->v[2]))) / p->H;
    cc_coupling_units(p, law, x, -v[2], p->H);
    cc_form_add(form, p, seen.y[2] - p->y[2], seen.quiet);
    if (form->found == 0.0)
        cc_form_find(form, floor);
    if (form->found == 0.0)
        cc_form_find_by_model(form, &p->model);
    double elastic = 2.0 * form->W * law->energy(law->data, x), moves = v[2] * v[2]; /* energies, 2 W times */
    int early = form->e == 0.0 ? v[2] < 0.0 || moves < elastic : v[2] < 0.0 && moves > CC_FORM_DEEPENS * elastic;
    if (form->found != 0.0 && (seen.quiet || early)) {
        cc_coupling_use_form(c, o);
        return;
    }
    CcPassed passed = cc_passed(law, cc_coupling_depth(p, p->r, p->v), -p->v[2], x, -v[2], p->H);
    for (int L = 0; L < CC_LAGS; L++)
        form->ledger.made[L] += cc_made(&passed, cc_form_mean(0.5, p->f[L][2], p->f[L + 1][2]));
}

#endif
