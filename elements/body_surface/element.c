/* Contact of a body with a surface: a foundation of springs on the skin of the body, of which each sample stands for
 * its share of the area.   Law: contact.h, per area; surfaces: surface/.
 *
 * Sample i of the body lies at s_i in the frame `body` and has the area A_i.  In the frame of the surface, where all
 * vectors of this file are unless their name ends in _W, it lies at x = d + T s_i, with the depth h and the outward
 * normal n of the surface at the closest point Q; it acts while Q lies on the drawn part and 0 < h <= D_max.
 *
 * Velocity relative to the material at x     v = u + w_b x (T s_i) - w_s x x
 * Stress on the skin, Pa                     of contact.h at h, n, v: p(h) (1 + d) n - friction
 * Force on the body, N                       F = sum of A_i stress
 * Moments, N m                               sum of (T s_i) x A_i stress about the body's origin, x x A_i stress about
 *                                            that of the surface; the reaction acts at x
 *
 * d, u   origin and velocity of the body's frame from that of the surface      T  turns the body's axes
 *
 * With forces and reactions on one line through x the power of the bodies is exactly stored or dissipated:
 *
 *     work = U - U_start + damping + friction + switched + residual,   U = sum of A_i int p dh
 *
 * switched is what a new C_p, D_max or `work` takes of U.  residual is the error of the integration, and the energy of
 * samples that pass D_max or an edge.
 *
 * Samples lie in a tree of balls.  A ball whose centre is farther than its radius from the surface holds none that
 * acts: the depth changes by no more than the way, as it is a distance.  For the sample nearest to the surface, whose
 * distance an event locates, balls are left out that cannot hold it.  Neither changes a bit of the sums.
 *
 * No sample is an event: with its share of the area each begins and ends its contact at the stress 0.
 *
 * Source: Johnson, Contact Mechanics (1985), section 4.3 (elastic foundation). */
#include "laws/contact.h"
#include "shared/held_force.h"
/* The file of the recipe's surface, surface/<kind>.h, with the constants surface_* that structure.py wrote.  It defines
 *   surface_at   the foot of what lies at `local` in the surface's frame; a search begins at the triangle `near`, and
 *                returns the one for the next search
 *   SURFACE_FLAT 1 if it has one normal only */
#include SURFACE_FILE
#include C_P_FILE

/* The tables of structure.py, in one file each: body_samples and body_balls; body_count is the number of balls. */
typedef struct {
    double place[3], area;
} Sample;

typedef struct {
    double centre[3], radius;
    double samples_end, nodes_end; /* numbers of the sample behind its last one, and of the node behind its last one */
} Ball;

#define SAMPLE ((const Sample *)(const void *)body_samples)
#define BALL ((const Ball *)(const void *)body_balls)
#define BALL_COUNT body_count[0]
/* The build's check of the declaration calls the element some 10,000 times: with one sample. */
#ifdef CC_CHECK
enum { ONE_SAMPLE = 1 };
#else
enum { ONE_SAMPLE = 0 };
#endif

/* Motion of the body as the surface's frame sees it. */
typedef struct {
    Real T[3][3];         /* turns body components into those of the surface */
    Real origin[3], u[3]; /* d, u */
    Real w_b[3], w_s[3];  /* angular velocities of body and surface */
} Motion;

/* Sums over the samples. */
typedef struct {
    Real force[3], moment_b[3], moment_s[3]; /* on the body; about both origins */
    Real pressed[3], pressed_at[3];          /* sums of N n and of N Q */
    CcFoot nearest;                          /* of the sample that is deepest, or nearest */
    unsigned near;
} Sums;

static void motion_of(const Element *e, Real R_s[3][3], Motion *m)
{
    Real R_b[3][3], d_W[3], u_W[3];
    cc_rotation(e->surface.q, R_s);
    cc_rotation(e->body.q, R_b);
    CC_UNROLL for (int i = 0; i < 3; i++) {
        d_W[i] = e->body.r[i] - e->surface.r[i];
        u_W[i] = e->body.v[i] - e->surface.v[i];
        CC_UNROLL for (int j = 0; j < 3; j++)
            m->T[i][j] = R_s[0][i] * R_b[0][j] + R_s[1][i] * R_b[1][j] + R_s[2][i] * R_b[2][j];
    }
    cc_to_body(R_s, d_W, m->origin);
    cc_to_body(R_s, u_W, m->u);
    cc_to_body(R_s, e->body.w, m->w_b);
    cc_to_body(R_s, e->surface.w, m->w_s);
}

/* arm = T s, x = d + arm */
static inline void place_of(const Motion *m, const double s[3], Real arm[3], Real x[3])
{
    CC_UNROLL for (int i = 0; i < 3; i++) {
        arm[i] = m->T[i][0] * s[0] + m->T[i][1] * s[1] + m->T[i][2] * s[2];
        x[i] = m->origin[i] + arm[i];
    }
}

/* The law of one sample: contact.h, whose elastic force is the pressure on the share of the area. */
typedef struct {
    CcContactLaw law; /* first: cc_contact_damping and cc_contact_friction read it; its C_F is not used */
    const Element *element;
    double area;
} Share;

static Real share_elastic(const void *of, Real h)
{
    const Share *share = of;
    return share->area * pressure(share->element, h);
}

static Real share_energy(const void *of, Real h)
{
    const Share *share = of;
    return share->area * energy_per_area(share->element, h);
}

static void add_sample(Element *e, const Motion *m, const Sample *sample, Sums *sums, int on_demand)
{
    Real arm[3], x[3], turning_b[3], turning_s[3], v[3], moment[3];
    CcFoot foot;
    place_of(m, sample->place, arm, x);
    sums->near = surface_at(x, sums->near, &foot);
    if (re(foot.depth) > re(sums->nearest.depth))
        sums->nearest = foot;
    if (re(e->work) == 0.0 || !foot.on || !(re(foot.depth) > 0.0) || re(foot.depth) > re(e->D_max))
        return;
    cc_cross(m->w_b, arm, turning_b);
    cc_cross(m->w_s, x, turning_s);
    CC_UNROLL for (int i = 0; i < 3; i++)
        v[i] = m->u[i] + turning_b[i] - turning_s[i];
    const Share share = {.law = {.K_fr = e->K_fr, .C_r = e->C_r, .k_D = e->k_D, .k_E = e->k_E, .k_T = e->k_T},
                         .element = e,
                         .area = sample->area};
    const CcContactParts parts = {share_elastic, on_demand ? share_energy : 0, cc_contact_damping, cc_contact_friction,
                                  &share};
    CcContact contact;
    cc_contact_of(&parts, foot.depth, foot.normal, v, &contact);
    CC_UNROLL for (int i = 0; i < 3; i++) {
        sums->force[i] += contact.force[i];
        sums->pressed[i] += contact.normal_force * foot.normal[i];
        sums->pressed_at[i] += contact.normal_force * foot.point[i];
    }
    cc_cross(arm, contact.force, moment);
    CC_UNROLL for (int i = 0; i < 3; i++)
        sums->moment_b[i] += moment[i];
    cc_cross(x, contact.force, moment);
    CC_UNROLL for (int i = 0; i < 3; i++)
        sums->moment_s[i] += moment[i];
    e->contact_area += sample->area;
    e->contact_samples += 1.0;
    e->normal_force += contact.normal_force;
    e->elastic_force += contact.elastic_force;
    e->friction_force += contact.friction_force;
    e->singular = re(e->singular) != 0.0 || foot.singular;
    e->power.damping -= contact.damping_force * cc_dot(v, foot.normal);
    e->power.friction += contact.friction_force * contact.slip_speed;
    if (on_demand)
        e->energy.elastic += contact.elastic_energy;
}

/* Whether the ball holds no sample that acts, and none that is deeper than the deepest so far. */
static int is_far(const Motion *m, const Ball *ball, Sums *sums)
{
    Real arm[3], x[3];
    CcFoot foot;
    place_of(m, ball->centre, arm, x);
    sums->near = surface_at(x, sums->near, &foot);
    double deepest = re(foot.depth) + ball->radius, found = re(sums->nearest.depth);
    return foot.on && deepest < (found < 0.0 ? found : 0.0);
}

static void sum_up(Element *e, const Motion *m, Sums *sums, int on_demand)
{
    int sample = 0, node = 0;
    if (ONE_SAMPLE) {
        add_sample(e, m, SAMPLE, sums, on_demand);
        return;
    }
    while (node < BALL_COUNT) {
        const Ball *ball = &BALL[node];
        int samples_end = (int)ball->samples_end, nodes_end = (int)ball->nodes_end;
        if (is_far(m, ball, sums)) {
            sample = samples_end;
            node = nodes_end;
            continue;
        }
        node++;
        if (node == nodes_end) /* a leaf */
            for (; sample < samples_end; sample++)
                add_sample(e, m, &SAMPLE[sample], sums, on_demand);
    }
}

static void forces(Element *e, int on_demand)
{
    Real R_s[3][3], local[3], out[3];
    Motion m;
    Sums sums = {.nearest = {.depth = -__builtin_inf()}};
    motion_of(e, R_s, &m);
    e->contact_area = e->contact_samples = e->normal_force = e->elastic_force = e->friction_force = 0.0;
    e->singular = e->power.damping = e->power.friction = 0.0;
    if (on_demand)
        e->energy.elastic = 0.0;
    sum_up(e, &m, &sums, on_demand);

    e->distance = -sums.nearest.depth;
    e->depth = cc_max(sums.nearest.depth, 0.0);
    int pressed = re(e->normal_force) > 0.0;
    Real size = pressed ? cc_norm(sums.pressed) : 0.0;
    CC_UNROLL for (int i = 0; i < 3; i++) {
        local[i] = pressed ? sums.pressed_at[i] / e->normal_force : sums.nearest.point[i];
        out[i] = re(size) > 0.0 && !SURFACE_FLAT ? sums.pressed[i] / size : sums.nearest.normal[i];
    }
    cc_to_world(R_s, out, e->normal);
    cc_to_world(R_s, local, e->contact.r);
    CC_UNROLL for (int i = 0; i < 3; i++)
        e->contact.r[i] += e->surface.r[i];
    cc_to_world(R_s, sums.force, e->body.f);
    cc_to_world(R_s, sums.moment_b, e->body.t);
    cc_to_world(R_s, sums.moment_s, out);
    CC_UNROLL for (int i = 0; i < 3; i++) {
        e->surface.f[i] = -e->body.f[i];
        e->surface.t[i] = -out[i];
    }
    e->power.work = -(cc_dot(e->body.f, e->body.v) + cc_dot(e->body.t, e->body.w) + cc_dot(e->surface.f, e->surface.v)
                      + cc_dot(e->surface.t, e->surface.w));
#if LEDGER
    if (on_demand)
        e->energy.residual = e->energy.work - (e->energy.elastic - e->energy.start) - e->energy.damping
                             - e->energy.friction - e->energy.switched;
#endif
}

static void outputs(Element *e) { forces(e, 1); }
static void rates(Element *e) { forces(e, 0); }

#ifndef CC_DUAL /* to the end: what has no derivatives */

static void indicators(const Element *e, Indicators *z)
{
    z->distance = re(e->distance);
    z->depth_limit = re(e->distance + e->D_max);
    pressure_indicators(e, z);
}

static void exchange_law(Element *e)
{
    exchange_pressure(e);
    cc_exchange(&e->D_max, &e->previous.D_max);
    cc_exchange(&e->work, &e->previous.work);
}

static void remember_law(Element *e)
{
    remember_pressure(e);
    e->previous.D_max = e->D_max;
    e->previous.work = e->work;
}

/* Energy that a change of the law since the last accepted point took, J. */
static double switched_energy(Element *e)
{
    if (!pressure_changed(e) && re(e->D_max) == re(e->previous.D_max) && re(e->work) == re(e->previous.work))
        return 0.0;
    exchange_law(e);
    outputs(e);
    double before = re(e->energy.elastic);
    exchange_law(e);
    outputs(e);
    return before - re(e->energy.elastic);
}

static void start(Element *e)
{
    e->energy.switched = 0.0;
    remember_law(e);
    outputs(e);
    e->energy.start = e->energy.elastic;
    e->peak_force = e->normal_force;
    e->peak_area = e->contact_area;
    e->held.until = e->time;
    e->held.impulse = e->held.square = e->held.too_long = 0.0;
    e->previous.in_contact = re(e->contact_area) > 0.0;
    e->previous.is_deep = re(e->depth) > re(e->D_max);
    e->contact_count = 0.0;
}

/* A force F that is held over steps of the length H follows the motion late by (1/2 + L) H, L = 0 under Gauss-Seidel
 * and 1 under Jacobi.  The work that is wrong for it is (1/2 + L) H int dF/dt v dt = (1/2 + L) H int F^2/m dt, for
 * m v' = F and F = 0 at both ends of a contact.  A rebound as fast as the impact has the energy m v^2/2 with
 * 2 m v = J = int F dt, so its speed grows by exp((1 + 2 L) 2 H int F^2 dt/J^2), whatever law, area and mass are.  Of a
 * half sine of N steps that is exp((1 + 2 L) pi^2/(4 N)), from which N is known. */
static void watch_step(Element *e, CcHost *host)
{
    double H = cc_held_over(host), F = re(e->normal_force), step = re(e->time) - re(e->held.until);
    double J = re(e->held.impulse), growth = J > 0.0 ? 2.0 * H * re(e->held.square) / (J * J) : 0.0;
    e->held.until = e->time; /* points are accepted at both ends of a step */
    e->held.impulse = H > 0.0 && F > 0.0 ? J + F * step : 0.0;
    e->held.square = H > 0.0 && F > 0.0 ? re(e->held.square) + F * F * step : 0.0;
    if (F > 0.0 || re(e->held.too_long) != 0.0 || !(growth > CC_HOLD_ERROR))
        return;
    e->held.too_long = 1.0;
    double N = cc_hold_steps(0.0, growth), late = cc_hold_growth(1.0, N);
    cc_report(host, CC_WARNING, "contact",
              "in the last contact, as long as %.3g communication steps, the held force makes the rebound of a free "
              "body %.3g times as fast as it should be with a Gauss-Seidel master, %.3g times with a Jacobi one; take "
              "steps below %.3g s or %.3g s, or put body and element into one assembly",
              N, re(cc_exp(growth)), re(cc_exp(late)), H * CC_HOLD_ERROR / growth, H * CC_HOLD_ERROR / late);
}

static int accept(Element *e, CcHost *host, double step)
{
    double switched = switched_energy(e);
    int is = re(e->contact_area) > 0.0, is_deep = re(e->depth) > re(e->D_max);
    e->energy.switched += switched;
    remember_law(e);
    if (step == 0.0 && is)
        cc_report(host, CC_INFO, "contact", "%g samples are in contact at the start, the deepest %g m",
                  re(e->contact_samples), re(e->depth));
    if (is_deep && re(e->previous.is_deep) == 0.0)
        cc_report(host, CC_WARNING, "contact",
                  "a sample passed the limit depth: depth %g m is greater than D_max = %g m, its stress is off; "
                  "a larger C_p or D_max keeps the contact", re(e->depth), re(e->D_max));
    if (is && re(e->previous.in_contact) == 0.0)
        e->contact_count += 1.0;
    e->peak_force = cc_max(e->peak_force, e->normal_force);
    e->peak_area = cc_max(e->peak_area, e->contact_area);
    watch_step(e, host);
    e->previous.in_contact = is;
    e->previous.is_deep = is_deep;
    return LEDGER && switched != 0.0;
}

#endif
