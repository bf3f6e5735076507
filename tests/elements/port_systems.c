/* Co-simulation of port FMUs with bodies whose motion under a held force is exact, and the same bodies under the law
 * itself.  Loaded by closed_loop.py, whose structures have the same fields in the same order.
 *
 * A plant has the state z.  Its outer forces u are those of the ports, one after the other.
 *   linear    z' = A z + B u + c, for one held interval z+ = Ad z + Bd u + cd
 *   rod       z = (x, z, angle, vx, vz, w) of a planar rigid body, angle from x towards z
 *   pendulum  z = (angle, w) of a rigid body that hangs from a fixed pivot, the arm (0, -l) at angle 0
 * Each port is observed through rows: what the FMU gets as inputs, and what the law takes (3 positions, 3 rates of the
 * point relative to its surface, or elongation and rate of a spring or damper). */
#include <math.h>
#include <stddef.h>
#include <string.h>

enum { LINEAR, ROD, PENDULUM };
enum { JACOBI, SEQUENTIAL, BODIES_FIRST, MIXED };
enum { CONTACT, SPRING, DAMPER, GUIDE };
enum { MAX_STATE = 40, MAX_FORCE = 24, MAX_INPUT = 64, MAX_PORTS = 8, RK4_SUBSTEPS = 4 };

typedef int (*SetReal)(void *, const unsigned *, size_t, const double *);
typedef int (*GetReal)(void *, const unsigned *, size_t, double *);
typedef int (*DoStep)(void *, double, double, int);

typedef struct {
    SetReal set;
    GetReal get;
    DoStep step;
    void *component;
    const unsigned *inputs, *outputs;
    int input_count, output_count;
} Port;

/* contact  elastic force stiffness x, damping ratio clip(k_D w, d_rest, d_comp), friction mu N min(k_T |u|, 1)
 * spring   stiffness x      damper  stiffness w      guide  stiffness times the distance from the line along x */
typedef struct {
    double stiffness, d_comp, d_rest, k_D, mu, k_T;
    int kind;
} Law;

typedef struct {
    int kind, state_count, force_count, port_count, first_count; /* first_count: states that MIXED steps first */
    const double *A, *B, *c, *Ad, *Bd, *cd;
    const double *input_rows, *input_offsets, *law_rows, *law_offsets; /* of all ports, one below the other */
    double mass, inertia, gravity[2], arms[MAX_PORTS][2];             /* rod, pendulum: inertia about the pivot */
    Law laws[MAX_PORTS];
} Plant;

/* ---- laws */

static double contact_force(const Law *law, const double *in, double *f)
{
    double x = -in[2], w = -in[5], slip = hypot(in[3], in[4]);
    double N = x > 0 ? law->stiffness * x * (1 + fmax(law->d_rest, fmin(law->d_comp, law->k_D * w))) : 0;
    double T = law->mu * N * (law->k_T * slip < 1 ? law->k_T : 1 / slip);
    f[0] = -T * in[3];
    f[1] = -T * in[4];
    f[2] = N;
    return T * slip * slip;
}

static int in_space(const Law *law) { return law->kind == CONTACT || law->kind == GUIDE; }
static int law_inputs(const Law *law) { return in_space(law) ? 6 : 2; }
static int law_outputs(const Law *law) { return in_space(law) ? 3 : 1; }

/* The force f on the point; returns the power that friction takes. */
static double law_force(const Law *law, const double *in, double *f)
{
    f[0] = 0;
    switch (law->kind) {
    case CONTACT:
        return contact_force(law, in, f);
    case GUIDE:
        f[1] = -law->stiffness * in[1];
        f[2] = -law->stiffness * in[2];
        return 0;
    default:
        f[0] = -law->stiffness * in[law->kind == DAMPER];
        return 0;
    }
}

/* ---- plants */

static void rows_times(const double *rows, const double *offsets, int count, const double *z, int n, double *out)
{
    for (int i = 0; i < count; i++) {
        double s = offsets[i];
        for (int j = 0; j < n; j++)
            s += rows[i * n + j] * z[j];
        out[i] = s;
    }
}

/* Motion of the points of a rod or a pendulum: 3 positions and 3 rates each. */
static void points_of(const Plant *p, const double *z, double *out)
{
    int rod = p->kind == ROD;
    double angle = z[rod ? 2 : 0], w = z[rod ? 5 : 1], C = cos(angle), S = sin(angle);
    for (int k = 0; k < p->port_count; k++, out += 6) {
        double a = C * p->arms[k][0] - S * p->arms[k][1], b = S * p->arms[k][0] + C * p->arms[k][1];
        out[0] = (rod ? z[0] : p->law_offsets[6 * k]) + a;
        out[1] = 0;
        out[2] = (rod ? z[1] : p->law_offsets[6 * k + 2]) + b;
        out[3] = (rod ? z[3] : 0) - w * b;
        out[4] = 0;
        out[5] = (rod ? z[4] : 0) + w * a;
    }
}

static void observe_inputs(const Plant *p, const double *z, int count, double *in)
{
    if (p->kind == LINEAR)
        rows_times(p->input_rows, p->input_offsets, count, z, p->state_count, in);
    else
        points_of(p, z, in);
}

static void rates(const Plant *p, const double *z, const double *u, double *dz)
{
    int n = p->state_count;
    if (p->kind == LINEAR) {
        rows_times(p->A, p->c, n, z, n, dz);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < p->force_count; j++)
                dz[i] += p->B[i * p->force_count + j] * u[j];
        return;
    }
    int rod = p->kind == ROD;
    double angle = z[rod ? 2 : 0], C = cos(angle), S = sin(angle), fx = 0, fz = 0, moment = 0;
    for (int k = 0; k < p->port_count; k++) {
        double a = C * p->arms[k][0] - S * p->arms[k][1], b = S * p->arms[k][0] + C * p->arms[k][1];
        fx += u[3 * k];
        fz += u[3 * k + 2];
        moment += a * u[3 * k + 2] - b * u[3 * k];
    }
    if (rod) {
        memcpy(dz, z + 3, 3 * sizeof *dz);
        dz[3] = fx / p->mass + p->gravity[0];
        dz[4] = fz / p->mass + p->gravity[1];
        dz[5] = moment / p->inertia;
        return;
    }
    double a = C * p->law_rows[0] - S * p->law_rows[1], b = S * p->law_rows[0] + C * p->law_rows[1]; /* to the centre */
    dz[0] = z[1];
    dz[1] = (moment + p->mass * (a * p->gravity[1] - b * p->gravity[0])) / p->inertia;
}

/* z after the time under forces u + slope t, by RK4: for intervals other than that of Ad. */
void driven(const Plant *p, double *z, const double *u, const double *slope, double time, int substeps)
{
    static const double at[4] = {0, 0.5, 0.5, 1};
    int n = p->state_count;
    double h = time / substeps, k[4][MAX_STATE], y[MAX_STATE], f[MAX_FORCE];
    for (int s = 0; s < substeps; s++) {
        for (int stage = 0; stage < 4; stage++) {
            for (int i = 0; i < n; i++)
                y[i] = z[i] + (stage ? h * at[stage] * k[stage - 1][i] : 0);
            for (int j = 0; j < p->force_count; j++)
                f[j] = u[j] + slope[j] * h * (s + at[stage]);
            rates(p, y, f, k[stage]);
        }
        for (int i = 0; i < n; i++)
            z[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

/* States [from, to) after one interval with the forces u; bodies other than linear ones have one range. */
static void advance(const Plant *p, double *z, const double *u, double H, int from, int to)
{
    int n = p->state_count, m = p->force_count;
    if (p->kind == LINEAR) {
        double next[MAX_STATE];
        rows_times(p->Ad + from * n, p->cd + from, to - from, z, n, next);
        for (int i = from; i < to; i++)
            for (int j = 0; j < m; j++)
                next[i - from] += p->Bd[i * m + j] * u[j];
        memcpy(z + from, next, (size_t)(to - from) * sizeof *z);
        return;
    }
    static const double steady[MAX_FORCE];
    driven(p, z, u, steady, H, RK4_SUBSTEPS);
}

/* ---- closed loop */

typedef struct {
    double H;
    int steps, order, late, differences; /* differences: rates are backward differences of the positions */
    const double *noise;                 /* steps x inputs, added to what the ports see; or NULL */
    double *states, *forces;             /* (steps + 1) x states; steps x forces, as they acted */
} Run;

static int see(const Plant *p, const Port *ports, const Run *run, int k, const double *z, double *before, double *late)
{
    double in[MAX_INPUT], shown[MAX_INPUT];
    int count = 0;
    for (int i = 0; i < p->port_count; i++)
        count += ports[i].input_count;
    observe_inputs(p, z, count, in);
    memcpy(shown, in, sizeof in);
    if (run->differences) {
        for (int i = 0, at = 0; i < p->port_count; at += ports[i++].input_count)
            for (int j = 0, half = ports[i].input_count / 2; j < half && k > 0; j++)
                shown[at + half + j] = (in[at + j] - before[at + j]) / run->H;
        memcpy(before, in, sizeof in);
    }
    if (run->late) {
        double now[MAX_INPUT];
        memcpy(now, shown, sizeof now);
        if (k > 0)
            memcpy(shown, late, sizeof now);
        memcpy(late, now, sizeof now);
    }
    int status = 0;
    for (int i = 0, at = 0; i < p->port_count; at += ports[i++].input_count) {
        for (int j = 0; run->noise && j < ports[i].input_count; j++)
            shown[at + j] += run->noise[k * count + at + j];
        status |= ports[i].set(ports[i].component, ports[i].inputs, (size_t)ports[i].input_count, shown + at);
    }
    return status;
}

static int read_forces(const Plant *p, const Port *ports, double *u)
{
    int status = 0;
    for (int i = 0, at = 0; i < p->port_count; at += ports[i++].output_count)
        status |= ports[i].get(ports[i].component, ports[i].outputs, (size_t)ports[i].output_count, u + at);
    return status;
}

/* Number of steps until a port fails or the motion is beyond 1e12; z is the state at the start and at the end. */
int closed_loop(const Plant *p, const Port *ports, const Run *run, double *z)
{
    double u[MAX_FORCE] = {0}, before[MAX_INPUT] = {0}, late[MAX_INPUT] = {0};
    int n = p->state_count, before_ports = run->order == BODIES_FIRST ? n : run->order == MIXED ? p->first_count : 0;
    memcpy(run->states, z, (size_t)n * sizeof *z);
    if (read_forces(p, ports, u) > 1)
        return 0;
    for (int k = 0; k < run->steps; k++) {
        double *acting = run->forces + k * p->force_count;
        if (before_ports)
            advance(p, z, u, run->H, 0, before_ports);
        int status = see(p, ports, run, k, z, before, late);
        memcpy(acting, u, (size_t)p->force_count * sizeof *u);
        for (int i = 0; i < p->port_count; i++)
            status |= ports[i].step(ports[i].component, k * run->H, run->H, 1);
        status |= read_forces(p, ports, u);
        if (run->order == SEQUENTIAL || run->order == MIXED)
            memcpy(acting, u, (size_t)p->force_count * sizeof *u);
        if (before_ports < n)
            advance(p, z, acting, run->H, before_ports, n);
        memcpy(run->states + (k + 1) * n, z, (size_t)n * sizeof *z);
        for (int i = 0; i < n; i++)
            if (!(fabs(z[i]) < 1e12))
                return k;
        if (status > 1)
            return k;
    }
    return run->steps;
}

/* ---- the law itself */

/* z' under the law; behind the states: work of friction, J. */
static void lawful(const Plant *p, const double *z, double *dz)
{
    double in[6 * MAX_PORTS], u[MAX_FORCE], work = 0;
    int count = 0;
    for (int i = 0; i < p->port_count; i++)
        count += law_inputs(&p->laws[i]);
    if (p->kind == LINEAR)
        rows_times(p->law_rows, p->law_offsets, count, z, p->state_count, in);
    else
        points_of(p, z, in);
    for (int i = 0, row = 0, at = 0; i < p->port_count; i++) {
        const Law *law = &p->laws[i];
        work += law_force(law, in + row, u + at);
        row += law_inputs(law);
        at += law_outputs(law);
    }
    rates(p, z, u, dz);
    dz[p->state_count] = work;
}

/* One interval of Dormand and Prince's pair of order 5(4).  z is one number longer than the state, k0 its rates, which
 * the next interval begins with; `scale`: error per step of each number; *h: a step to begin with, and afterwards.
 * Returns 0, or -1 where the steps vanish. */
static int integrate(const Plant *p, double *z, double *k0, double time, double *h_next, const double *scale)
{
    static const double a[7][6] = {
        {0},
        {1.0 / 5},
        {3.0 / 40, 9.0 / 40},
        {44.0 / 45, -56.0 / 15, 32.0 / 9},
        {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
        {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
        {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
    };
    static const double e[7] = {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
    double k[7][MAX_STATE + 1], y[MAX_STATE + 1] = {0}, t = 0;
    int n = p->state_count + 1;
    memcpy(k[0], k0, sizeof k[0]);
    while (t < time) {
        int last = *h_next >= time - t;
        double h = last ? time - t : *h_next;
        if (h < 1e-13 * time && !last)
            return -1;
        for (int s = 1; s < 7; s++) {
            for (int i = 0; i < n; i++) {
                double sum = 0;
                for (int j = 0; j < s; j++)
                    sum += a[s][j] * k[j][i];
                y[i] = z[i] + h * sum;
            }
            lawful(p, y, k[s]);
        }
        double error = 0;
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = 0; j < 7; j++)
                sum += e[j] * k[j][i];
            error = fmax(error, fabs(h * sum) / scale[i]);
        }
        double wanted = h * fmin(5, fmax(0.2, 0.9 * pow(error + 1e-30, -0.2)));
        if (error <= 1) {
            t = last ? time : t + h;
            memcpy(z, y, (size_t)n * sizeof *z);
            memcpy(k[0], k[6], sizeof k[0]);
            *h_next = last ? fmax(wanted, *h_next) : wanted;
        } else
            *h_next = wanted;
    }
    memcpy(k0, k[0], sizeof k[0]);
    return 0;
}

/* The motion under the law: states (steps + 1) x (n + 1), the first one given; behind each the work of friction. */
int exact(const Plant *p, double H, int steps, const double *scale, double *states)
{
    int n = p->state_count + 1;
    double z[MAX_STATE + 1], k0[MAX_STATE + 1] = {0}, h = H;
    memcpy(z, states, (size_t)n * sizeof *z);
    lawful(p, z, k0);
    for (int k = 1; k <= steps; k++) {
        if (integrate(p, z, k0, H, &h, scale))
            return -1;
        memcpy(states + k * n, z, (size_t)n * sizeof *z);
    }
    return 0;
}
