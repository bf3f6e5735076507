/* Spring and damper between two points in space, at `first` and `second`.
 *
 *     w = r_first - r_second,   l = |w|,   n = w / l,   l' = n (v_first - v_second)
 *     F = k (l - l0) + d l'          f_first = -F n,   f_second = F n
 *
 * k spring rate, N/m      l0 relaxed length, m      d damping coefficient, N.s/m; all >= 0
 * F force in the line, N, > 0 where it pulls the points together.  No moment: both forces act along one line.
 *
 * Points that coincide have no direction.  Below l = 1e-12 m n stays as it was where they last were apart, and l is
 * n w; points that coincide from the start take the x axis.  Two points that pass through each other reverse n, and
 * with l0 > 0 the force: that is an event.
 *
 * Energy, J: the bodies supply the power F l', of which d l'^2 is dissipated and the rest stored, U = k (l - l0)^2 / 2.
 * With `work` false F = 0; energy removed or added by that, a new k or a new l0 is booked in energy.switched:
 *
 *     residual = work - (U - U_start) - damping - switched
 *
 * Source: Hooke's law; viscous friction. */
#include "base/vector.h"
#include "laws/damper.h"
#include "laws/spring.h"

#define COINCIDENT 1e-12 /* m: rounding of coordinates is about all that is left of a direction */

static int acts(const Element *e) { return re(e->work) != 0.0; }

/* w and n.  Returns l. */
static Real line(const Element *e, Real w[3], Real n[3])
{
    for (int i = 0; i < 3; i++)
        w[i] = e->first.r[i] - e->second.r[i];
    Real l = cc_norm(w);
    int apart = re(l) > COINCIDENT;
    for (int i = 0; i < 3; i++)
        n[i] = apart ? w[i] / l : e->direction[i];
    return apart ? l : cc_dot(n, w);
}

static void outputs(Element *e);

#if COUPLING
#include "coupled.h"
#else
#define HELD 0
#endif

static void outputs(Element *e)
{
    Real w[3], n[3], rate[3], k = acts(e) ? e->k : 0.0, d = acts(e) ? e->d : 0.0;
    e->length = line(e, w, n);
    for (int i = 0; i < 3; i++)
        rate[i] = e->first.v[i] - e->second.v[i];
    e->length_rate = cc_dot(n, rate);
    Real stretch = e->length - e->l0, damping = cc_damper_force(d, e->length_rate);
    e->F = cc_spring_force(k, stretch) + damping;
    for (int i = 0; i < 3; i++)
        e->first.f[i] = -e->F * n[i];
    e->energy.elastic = cc_spring_energy(k, stretch);
    e->power.damping = damping * e->length_rate;
    e->power.work = e->F * e->length_rate;
#if COUPLING
    if (HELD) {
        for (int i = 0; i < 3; i++)
            e->first.f[i] = acts(e) ? (Real)e->held_force[i] : (Real)0.0;
        e->F = -cc_dot(n, e->first.f);
        e->power.work = e->power.damping = 0.0; /* booked when the interval is over */
    }
#endif
    for (int i = 0; i < 3; i++)
        e->second.f[i] = -e->first.f[i];
#if LEDGER
    e->energy.residual = e->energy.work - (e->energy.elastic - e->energy.start) - e->energy.damping
                         - e->energy.switched;
#endif
}

/* Memory of the point: direction, and what is in force; a held force was found by the law of the last sample. */
static void remember(Element *e)
{
    Real w[3], n[3];
    line(e, w, n);
    e->coincident = re(cc_norm(w)) <= COINCIDENT;
    for (int i = 0; i < 3; i++)
        e->direction[i] = n[i];
    if (HELD)
        return;
    e->previous.k = acts(e) ? e->k : 0.0;
    e->previous.l0 = e->l0;
}

static void start(Element *e)
{
    e->direction[0] = 1.0;
    e->direction[1] = e->direction[2] = e->energy.switched = 0.0;
#if COUPLING
    e->held = 0.0;
#endif
    remember(e);
    outputs(e);
    e->energy.start = e->energy.elastic;
#if COUPLING && !defined CC_DUAL
    start_coupling(e);
#endif
}

static void indicators(const Element *e, Indicators *z)
{
    Real w[3], n[3];
    line(e, w, n);
    z->through = acts(e) && re(e->k * e->l0) > 0.0 ? re(cc_dot(e->direction, w)) : 1.0;
}

static int accept(Element *e, CcHost *host, double step)
{
    Real k = acts(e) ? e->k : 0.0, before = e->length - e->previous.l0, switched = 0.0;
    int was = re(e->coincident) != 0.0;
    (void)step;
    if (!HELD && (re(k) != re(e->previous.k) || re(e->l0) != re(e->previous.l0)))
        switched = cc_spring_energy(e->previous.k, before) - e->energy.elastic;
    e->energy.switched += switched;
    remember(e);
    if (re(e->coincident) != 0.0 && !was && re(e->k * e->l0) > 0.0)
        cc_report(host, CC_WARNING, "direction", "at %g s both points are in one place: the force of %g N keeps its "
                  "last direction, (%g, %g, %g)", re(e->time), re(e->F), re(e->direction[0]), re(e->direction[1]),
                  re(e->direction[2]));
    return re(switched) != 0.0 && LEDGER;
}
