/* Friction of contacts. */

static void slip_at(int body, int other, const CcRow *row, const CcMove m[], Real v[2]);

/* Friction as it is without the normal force, of the rows that hold. */
static void roughness(const Element *e, Work *work)
{
    for (int k = 0; k < work->count; k++) {
        int i = row_contacts[work->row_of[k]];
        work->friction[k] = (CcFriction){.rubs = i >= 0, .side = 1.0, .margin = 1.0};
        if (i < 0)
            continue;
        Real v[2];
        const Real *n = work->rows[k].n;
        slip_at(work->constraints[k].body, work->constraints[k].other, &work->rows[k], work->m, v);
        Real slip = -cc_turn(n, v) / cc_sqrt(cc_along(n, n));
        work->friction[k].share = e->contact[i].mu * cc_friction_share(e->contact[i].k_T, slip);
        work->friction[k].side = hold_sides[row_holds[work->row_of[k]]];
        work->friction[k].pulls = !unilateral[i];
    }
}

/* lambda becomes that with friction, after cc_multipliers. */
static void rub(Element *e, Work *work, Real lambda[])
{
    Real J_T[JOINTS], B[CONSTRAINTS * CONSTRAINTS];
    roughness(e, work);
    cc_responses_along(JOINTS, work->bodies, work->m, work->count, work->constraints, work->rows, work->J, work->A,
                       work->pivots, work->friction, work->p, J_T, work->Y_T, work->X);
    e->margin = cc_rub(work->count, work->X, work->friction, B, lambda);
    for (int i = 0; i < CONTACTS; i++) {
        e->contact[i].friction = 0.0;
        e->contact[i].margin = 1.0;
    }
    for (int k = 0; k < work->count; k++) {
        const CcFriction *one = &work->friction[k];
        const Real *n = work->rows[k].n;
        int i = row_contacts[work->row_of[k]];
        for (int j = 0; j < JOINTS; j++)
            work->Y[k * JOINTS + j] -= one->kappa * work->Y_T[k * JOINTS + j];
        if (i < 0)
            continue;
        e->contact[i].friction = one->kappa * lambda[k] * cc_sqrt(cc_along(n, n));
        e->contact[i].margin = one->margin;
        if (re(one->margin) < re(e->margin))
            e->margin = one->margin;
    }
}

/* The run ends where friction permits no finite normal force, or more than one. */
static void check_friction(const Element *e, CcHost *host)
{
    int least = 0;
    if (re(e->margin) > LEAST_MARGIN)
        return;
    for (int i = 1; i < CONTACTS; i++)
        if (re(e->contact[i].margin) < re(e->contact[least].margin))
            least = i;
    const char *name = body_names[hold_bodies[row_holds[contact_rows[least]]]];
    cc_fail(host, "at %g s the friction of %s on its profile, contact[%d].mu = %g at a slip of %g m/s, has no "
            "consistent normal force (Painleve): its margin is %g, of all contacts together %g, at least %g are "
            "needed; choose less friction", re(e->time), name, least + 1, re(e->contact[least].mu),
            re(e->contact[least].slip), re(e->contact[least].margin), re(e->margin), LEAST_MARGIN);
}

/* The force of row k on its body, N. */
static void force_of_row(const Work *work, int k, Real lambda, Real on_body[2])
{
    const Real *n = work->rows[k].n;
    Real kappa = work->friction[k].kappa;
    on_body[0] = -lambda * (n[0] - kappa * n[1]);
    on_body[1] = -lambda * (n[1] + kappa * n[0]);
}

static void show_friction_power(Element *e)
{
    e->power.friction = 0.0;
    for (int i = 0; i < CONTACTS; i++)
        e->power.friction -= e->contact[i].friction * e->contact[i].slip;
}

/* Whether friction acts at contact i; where the ramp ends. */
static inline int friction_indicators(const Element *e, int i, Indicators *z)
{
    int rubs = re(e->contact[i].closed) != 0.0 && re(e->contact[i].mu) != 0.0;
    z->ramp[i] = rubs ? cc_full_friction_of_slip(e->contact[i].k_T, e->contact[i].slip) : 1.0;
    return rubs;
}

static inline void margin_indicator(const Element *e, Indicators *z) { z->margin = re(e->margin) - LEAST_MARGIN; }
