"""The force of an element over a step, such that its work is what the element stores and loses.

An element has at the ends of a step the motion (x, V), the force F on the bodies, and the stored energy U;
E = F(x, 0) is the elastic part of F, and X' = V.  Over a step, with D x = H (V0 + V1)/2,

    e = (E0 + E1)/2        s = A/(e . D x)        A = -(U1 - U0): discrete gradient, the work of s e is U0 - U1

Not every E is the gradient of U: that of a guide between the knots of a polyline is not, nor that of a guide of unlike
stiffnesses that turns.  There -(U1 - U0) is not the work of E, however small the step.  So A lies within

    S -+ |S - e . D x|        S = (E0 + 4 E(x in the middle) + E1)/6 . D x        Simpson's rule

which holds U0 - U1 of every contact that begins or ends within the step, and is of the order H^3 wide otherwise.
Where E turns by the angle a within the step, and the motion is across it, as of a body that slides over a curved
surface or on a spring that turns, e . D x is the small error of a trapezoid, and no factor of e makes up for it.  What
e does not work then is worked along D x, by a force of the order H^2:

    s = B/(e . D x)        B = e . D x + (A - e . D x) g        P + (A - B) D x/|D x|^2
    g = (e . D x)^2/((e . D x)^2 + a^2 |e|^2 |D x|^2)        a = |E0/|E0| - E1/|E1||

Losses that are proportional to the elastic force, as in contacts with restitution and friction: F = (1 + d) E + T with
d along E and T across it, taken at the end with the larger E, with velocities V_j between V0 and V1, at Gauss points
with the weights q_j:

    P = s/rho (e + |e|/|E| mean(T_j/(1 + d_j)))        1/(1 + d_j): share of P along e that is elastic
    rho = tau sum(q_j |w_j|/(1 + d_j))/sum(q_j |w_j|) + (1 - tau) sum(q_j/(1 + d_j))        w_j = e . V_j
    tau = |w0 + w1|/(|w0| + |w1|)                      1 unless the motion turns within the step

While the motion does not turn, the work of the elastic share is U0 - U1.  Where it turns it may differ, since a
constant force ties position and velocity; later steps of the contact make up for the difference, `debt`, as far as they
change the force little: in a contact at rest they do not.

Other losses, as of a damper beside a spring, are added: P = s e + ((F0 - E0) + (F1 - E1))/2.
An element without stored energy, or whose states its force depends on, gets the trapezoid P = (F0 + F1)/2; where it
shows the impulse J of such a force, as of a mass inside it that meets a wall, P = (J1 - J0)/H.

Source of the discrete gradient: Gonzalez (1996), here along the elastic force."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.implicit.arithmetic import dot

Vector = NDArray[np.float64]
Look = Callable[[Vector, Vector], tuple[Vector, float]]  # force and stored energy at a place with velocities

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(3)
POINTS, WEIGHTS = (POINTS + 1.0) / 2.0, WEIGHTS / 2.0
LARGEST = 2.0  # of s: an elastic force that grows or falls with depth has 0 <= s <= 2
SMALLEST_RATIO = 1e-3  # of 1 + d: less would be a plastic contact, whose elastic share is not defined
MADE_UP = 0.5  # share of U1 - U0 by which one step makes up for the debt, where U1 or U0 is 0
SAME = 1e-9  # relative difference of ratios that are one
NOTHING = 1e-12  # relative power of e that is none
ROUNDING = 1e-6  # work over stored energy below which U1 - U0 is rounding, and e the same but for 1e-12 of itself


@dataclass(frozen=True)
class End:
    """An end of a step.   force, elastic: F and E, shape (n,)"""

    place: Vector
    velocity: Vector
    force: Vector
    elastic: Vector
    energy: float


@dataclass(frozen=True)
class StepForce:
    """force: P, shape (n,)     debt: energy, J, that the elastic share of P has made and not stored, up to this step"""

    force: Vector
    debt: float


def seen(look: Look, place: Vector, velocity: Vector) -> End:
    elastic, energy = look(place, np.zeros_like(velocity))
    force, _ = look(place, velocity)
    return End(place, velocity, force, elastic, energy)


def trapezoid(start: End, end: End) -> StepForce:
    return StepForce((start.force + end.force) / 2.0, 0.0)


def mean_of_impulse(before: Vector, after: Vector, step: float) -> StepForce:
    return StepForce((after - before) / step, 0.0)


@dataclass
class Gradient:
    """The discrete gradient of one element.

    metric        shape (n,): 1 for the components by which forces are compared, else 0
    proportional  whether losses are proportional to the elastic force; None: not known yet"""

    metric: Vector
    proportional: bool | None = None

    def force(self, look: Look, start: End, end: End, step: float, debt: float) -> StepForce:
        E0, E1 = start.elastic, end.elastic
        e = (E0 + E1) / 2.0
        size = self._dot(e, e)
        if size == 0.0:
            return trapezoid(start, end)
        way = step * (start.velocity + end.velocity) / 2.0
        work = dot(e, way)
        A, B = self._works(look, start, end, way, work)
        stored = -A
        aside = (A - B) / self._dot(way, way) * self.metric * way if A != B else np.zeros_like(way)
        w0, w1 = dot(e, start.velocity), dot(e, end.velocity)
        turning = 1.0 - abs(w0 + w1) / (abs(w0) + abs(w1)) if w0 or w1 else 1.0
        s, largest = 1.0, max(abs(start.energy), abs(end.energy))
        least = NOTHING * step * dot(np.abs(e), np.abs(start.velocity) + np.abs(end.velocity))
        if abs(work) > max(least, ROUNDING * largest):
            most = MADE_UP * abs(stored) * (min(abs(stored) / largest, 1.0) if largest else 0.0)
            made_up = min(max(debt, -most), most) * (1.0 - turning)
            s = min(max(B / work, 0.0), LARGEST) * (1.0 + (made_up / stored if stored else 0.0))
        worked = s * work + (A - B)
        if self._is_lossless(start) and self._is_lossless(end) and self._is_lossless(self._across(look, start, end)):
            return self._elastic(s * e + aside, worked + stored + debt, end)
        if not self._is_proportional(look, start, end):
            losses = (start.force - E0 + end.force - E1) / 2.0
            return StepForce(s * e + losses + aside, worked + stored + debt)
        deep, _ = self._in_order(start, end)
        left = stored + (A - B)
        found = self._with_losses(look, start, end, deep, s, e, (w0, w1), turning, left, step, debt)
        return StepForce(found.force + aside, found.debt)

    def _dot(self, a: Vector, b: Vector) -> float:
        return dot(a * self.metric, b)

    def _works(self, look: Look, start: End, end: End, way: Vector, work: float) -> tuple[float, float]:
        """A and B, with work = e . D x."""
        E0, E1 = start.elastic, end.elastic
        A = start.energy - end.energy
        if abs(A - work) <= NOTHING * max(abs(start.energy), abs(end.energy)):
            return A, A
        between, _ = look((start.place + end.place) / 2.0, np.zeros_like(start.velocity))
        simpson = dot(E0 + 4.0 * between + E1, way) / 6.0
        band = abs(simpson - work)
        A = min(max(A, simpson - band), simpson + band)
        size0, size1 = self._dot(E0, E0), self._dot(E1, E1)
        if size0 == 0.0 or size1 == 0.0:
            return A, A
        e, turn = (E0 + E1) / 2.0, E0 / math.sqrt(size0) - E1 / math.sqrt(size1)
        across = self._dot(turn, turn) * self._dot(e, e) * self._dot(way, way)
        return A, work + (A - work) * (work * work / (work * work + across)) if across else A

    def _elastic(self, force: Vector, debt: float, end: End) -> StepForce:
        return StepForce(force, debt if end.energy else 0.0)

    def _is_lossless(self, end: End) -> bool:
        return bool((end.force == end.elastic).all())

    def _in_order(self, start: End, end: End) -> tuple[End, End]:
        """The end with the larger elastic force, and the other one."""
        deeper = self._dot(end.elastic, end.elastic) >= self._dot(start.elastic, start.elastic)
        return (end, start) if deeper else (start, end)

    def _across(self, look: Look, start: End, end: End) -> End:
        """The deeper end with the velocity of the other one, which may be out of contact and show no loss."""
        deep, other = self._in_order(start, end)
        force, _ = look(deep.place, other.velocity)
        return End(deep.place, other.velocity, force, deep.elastic, deep.energy)

    def _is_proportional(self, look: Look, start: End, end: End) -> bool:
        """Compare the loss at the deeper end with that at a place between, at one velocity."""
        if self.proportional is None:
            deep, other = self._in_order(start, end)
            between = (deep.place + other.place) / 2.0
            elastic, _ = look(between, np.zeros_like(deep.velocity))
            force, _ = look(between, deep.velocity)
            known, size = deep.force - deep.elastic, self._dot(deep.elastic, deep.elastic)
            along, at = self._dot(known, deep.elastic) / size, self._dot(elastic, elastic)
            if at == 0.0 or not known.any():
                return True
            here = self._dot(force - elastic, elastic) / at
            self.proportional = abs(here - along) <= SAME * (abs(along) + 1.0)
        return self.proportional

    def _with_losses(
        self,
        look: Look,
        start: End,
        end: End,
        deep: End,
        s: float,
        e: Vector,
        power: tuple[float, float],
        turning: float,
        stored: float,
        step: float,
        debt: float,
    ) -> StepForce:
        w0, w1 = power
        shares = [(0.0, 1.0)]
        if w0 * w1 < 0.0:  # the law has a kink there
            turn = w0 / (w0 - w1)
            shares = [(0.0, turn), (turn, 1.0)]
        E, size = deep.elastic, self._dot(deep.elastic, deep.elastic)
        times = np.concatenate([a + (b - a) * POINTS for a, b in shares])
        q = np.concatenate([(b - a) * WEIGHTS for a, b in shares])
        inverse, across = np.zeros(len(times)), np.zeros((len(times), len(E)))
        for j, t in enumerate(times):
            force, _ = look(deep.place, start.velocity + t * (end.velocity - start.velocity))
            ratio = max(self._dot(force, E) / size, SMALLEST_RATIO)
            inverse[j] = 1.0 / ratio
            across[j] = (force - ratio * E) / ratio
        w = w0 + times * (w1 - w0)
        weights = q * np.abs(w)
        plain, sum_of_weights = dot(q, inverse), dot(weights, np.ones(len(weights)))
        weighted = dot(weights, inverse) / sum_of_weights if sum_of_weights else plain
        rho = (1.0 - turning) * weighted + turning * plain
        mean = np.array([dot(q, one) for one in across.T])
        P = s / rho * (e + math.sqrt(self._dot(e, e) / size) * mean)
        elastic_work = s / rho * step * dot(q * w, inverse)
        return StepForce(P, elastic_work + stored + debt if end.energy else 0.0)
