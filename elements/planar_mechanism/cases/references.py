"""References of the cases: absolute coordinates with multipliers.  `python references.py` writes every *_ref.csv anew.

Each body has x, y of its centre of mass and its angle; joints and cam are constraints g = 0 alike:

    m a + G^T mu = f,   G a = -(G v)' at a = 0        G = dg/dX

integrated at the relative tolerance 1e-12, and put back onto g = 0 and G v = 0 at every written point.  It shares with
the element neither coordinates nor equations nor code; that it is right itself shows in the digits of two other
formulations, tests/elements/test_planar_mechanism.py.

One family of functions: a reference for each case, and the integration that all have."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references

Vector = NDArray[np.float64]
LENGTHS = np.array([0.3, 0.1, 0.3, 0.3])
MASSES, INERTIAS = np.array([1.0, 0.5, 1.0, 1.0]), np.array([0.1, 0.01, 0.1, 0.1])
STIFFNESS, DAMPING = (0.0, 15.0, 40.0, 18.0), (0.0, 1.0, 1.0, 1.0)
G = 9.81
SLIDE = 2  # the joint between links 2 and 3
CONCAVE, CONVEX = np.polynomial.Polynomial([0, -0.595, 0.5, 0.5]), np.polynomial.Polynomial([0, 0.357, -0.3, -0.3])
START = (-1.2, 0.0, -0.6)  # q2, q3, q4; q1 follows from the cam
PAPER_BASE, PAPER_START = (0.096, 0.298), (-2.731, 0.0, -0.518)  # as search.py found them
RUBBING_BASE, RUBBING_START = (0.02, 0.27), (-2.6, 0.0, -0.5)
MASS = np.repeat(MASSES, 3)
MASS[2::3] = INERTIAS


def axes(angle: float) -> tuple[Vector, Vector]:
    """Along and across a link."""
    return np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])


class Chain:
    """Lipinski's chain with the canonical completion of its data; X holds x, y, angle of the four centres of mass.

    near  where q1 is looked for at the start, between two values;  free  the coordinates at which springs are free;
    friction  coefficient on the cam and slope k_T of its ramp, s/m, while the cam pushes"""

    def __init__(
        self,
        cam: np.polynomial.Polynomial,
        near: tuple[float, float],
        base: tuple[float, float] = (0.0, 0.0),
        start: tuple[float, ...] = START,
        free: tuple[float, ...] = (0.0, 0.0, 0.0),
        damping: tuple[float, ...] = DAMPING,
        friction: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        self.cam, self.near, self.base, self.q_start, self.damping = cam, near, np.array(base), start, damping
        self.free, self.friction = (0.0, *free), friction

    def place(self, q: Vector) -> Vector:
        angles = (q[0], q[0] + q[1], q[0] + q[1], q[0] + q[1] + q[3])
        at, X = self.base, np.zeros(12)
        for i, angle in enumerate(angles):
            along, _ = axes(angle)
            at = at + (q[2] * along if i == SLIDE else 0.0)
            X[3 * i : 3 * i + 3] = *(at + 0.5 * LENGTHS[i] * along), angle
            at = at + LENGTHS[i] * along
        return X

    def start(self) -> Vector:
        def above(q_1: float) -> float:
            X = self.place(np.array([q_1, *self.q_start]))
            tip = X[9:11] + 0.15 * axes(X[11])[0]
            return float(tip[1] - self.cam(tip[0]))

        return self.place(np.array([brentq(above, *self.near, xtol=1e-15, rtol=1e-15), *self.q_start]))

    def constraints(self, X: Vector, V: Vector) -> tuple[Vector, Vector, Vector]:
        """g, G, and (G v)' without accelerations."""
        g, matrix, bias = np.zeros(9), np.zeros((9, 12)), np.zeros(9)
        along, across = zip(*(axes(X[3 * i + 2]) for i in range(4)), strict=True)
        half = 0.5 * LENGTHS
        for i in range(4):
            a, own, before, rows = 3 * i, V[3 * i + 2], V[3 * i - 1] if i else 0.0, slice(2 * i, 2 * i + 2)
            end = X[a - 3 : a - 1] + half[i - 1] * along[i - 1] if i else self.base  # of the link before
            gap = X[a : a + 2] - half[i] * along[i] - end
            slope, curve = np.zeros((2, 12)), own**2 * half[i] * along[i]  # of the gap
            slope[:, a : a + 2] = np.eye(2)
            slope[:, a + 2] = -half[i] * across[i]
            if i:
                slope[:, a - 3 : a - 1] = -np.eye(2)
                slope[:, a - 1] = -half[i - 1] * across[i - 1]
                curve = curve + before**2 * half[i - 1] * along[i - 1]
            if i != SLIDE:
                g[rows], matrix[rows], bias[rows] = gap, slope, curve
                continue
            n, t = across[i - 1], along[i - 1]  # link 3 slides along link 2
            g[rows] = X[a + 2] - X[a - 1], n @ gap
            matrix[rows.start, a + 2], matrix[rows.start, a - 1] = 1.0, -1.0
            matrix[rows.start + 1] = n @ slope
            matrix[rows.start + 1, a - 1] -= t @ gap
            bias[rows.start + 1] = n @ curve - 2.0 * before * (t @ (slope @ V)) - before**2 * (n @ gap)
        tip = X[9:11] + half[3] * along[3]
        f, df, ddf = self.cam(tip[0]), self.cam.deriv()(tip[0]), self.cam.deriv(2)(tip[0])
        slope = np.zeros((2, 12))
        slope[:, 9:11], slope[:, 11] = np.eye(2), half[3] * across[3]
        normal = np.array([-df, 1.0])
        g[8], matrix[8] = tip[1] - f, normal @ slope
        bias[8] = normal @ (-(V[11] ** 2) * half[3] * along[3]) - ddf * (slope[0] @ V) ** 2
        return g, matrix, bias

    def joint(self, i: int, X: Vector, V: Vector) -> tuple[float, float, Vector]:
        """Coordinate, speed, and the derivative of the coordinate."""
        a, slope = 3 * i, np.zeros(12)
        slope[a + 2] = 1.0
        if i and i != SLIDE:
            slope[a - 1] = -1.0
        if i != SLIDE:
            return float(slope @ X), float(slope @ V), slope
        t, n = axes(X[a - 1])
        gap = X[a : a + 2] - 0.5 * LENGTHS[i] * axes(X[a + 2])[0] - X[a - 3 : a - 1] - 0.5 * LENGTHS[i - 1] * t
        slope[:] = 0.0
        slope[a : a + 2], slope[a - 3 : a - 1] = t, -t
        slope[a + 2] = -0.5 * LENGTHS[i] * (t @ axes(X[a + 2])[1])
        slope[a - 1] = n @ gap - 0.5 * LENGTHS[i - 1] * (t @ n)
        return float(t @ gap), float(slope @ V), slope

    def forces(self, X: Vector, V: Vector) -> Vector:
        f = np.zeros(12)
        f[1::3] = -G * MASSES
        for i in range(1, 4):
            q, qd, slope = self.joint(i, X, V)
            f -= (STIFFNESS[i] * (q - self.free[i]) + self.damping[i] * qd) * slope
        return f

    def accelerations(self, X: Vector, V: Vector, rows: int = 9) -> tuple[Vector, Vector]:
        """Accelerations and multipliers, under the first `rows` constraints: 8 without the cam."""
        _, matrix, bias = (part[:rows] for part in self.constraints(X, V))
        f = self.forces(X, V) / MASS
        weighted = matrix / MASS
        pushes = matrix.copy()  # with N = -lambda sqrt(1 + f'^2), friction is a share of lambda along the tangent
        if rows == 9 and self.friction[0] > 0.0:
            along, slip = self.tangent(X, V)
            share = min(max(self.friction[1] * slip, -1.0), 1.0)
            pushes[8] -= self.friction[0] * share * np.hypot(*matrix[8, 9:11]) * along
        multipliers = np.linalg.solve(weighted @ pushes.T, matrix @ f + bias)
        return f - (pushes / MASS).T @ multipliers, multipliers

    def tangent(self, X: Vector, V: Vector) -> tuple[Vector, float]:
        """What a force of 1 N along the cam does to the coordinates, and the slip in m/s."""
        reach, across = 0.15 * axes(X[11])[0], 0.15 * axes(X[11])[1]
        t = np.array([1.0, self.cam.deriv()(X[9] + reach[0])])
        t /= np.hypot(*t)
        along = np.zeros(12)
        along[9:11], along[11] = t, t @ across
        return along, float(along @ V)

    def projected(self, X: Vector, V: Vector, rows: int = 9) -> tuple[Vector, Vector]:
        """The nearest point, by the mass matrix, with g = 0 and G v = 0: with the cam that of an impact without
        rebound."""
        for _ in range(4):
            g, matrix, _ = (part[:rows] for part in self.constraints(X, V))
            X = X - (matrix / MASS).T @ np.linalg.solve((matrix / MASS) @ matrix.T, g)
        matrix = self.constraints(X, V)[1][:rows]
        return X, V - (matrix / MASS).T @ np.linalg.solve((matrix / MASS) @ matrix.T, matrix @ V)

    def onward(self, begin: float, end: float, X: Vector, V: Vector, rows: int) -> tuple[Vector, Vector, float]:
        """X, V and the time at `end`, or where the tip comes back to a cam that does not hold it."""

        def back(_: float, y: Vector) -> float:
            return float(self.constraints(y[:12], y[12:])[0][8]) + 1e-13

        back.terminal, back.direction = True, -1.0  # type: ignore[attr-defined]
        done = solve_ivp(
            lambda _, y: np.concatenate([y[12:], self.accelerations(y[:12], y[12:], rows)[0]]),
            (begin, end),
            np.concatenate([X, V]),
            method="DOP853",
            rtol=1e-12,
            atol=1e-13,
            events=back if rows == 8 else None,
        )
        X, V = np.split(done.y[:, -1], 2)
        return *self.projected(X, V, rows), float(done.t[-1])

    def motion(self, times: Vector, rows: int = 9) -> list[tuple[Vector, Vector]]:
        """X and V at the times, from rest; without the cam, rows = 8, until the tip meets it, and then on it."""
        found = [(self.start(), np.zeros(12))]
        for begin, end in itertools.pairwise(times):
            X, V, t = self.onward(begin, end, *found[-1], rows)
            if t < end:
                rows = 9
                X, V, _ = self.onward(t, end, *self.projected(X, V), rows)
            found.append((X, V))
        return found

    def energy(self, X: Vector, V: Vector) -> float:
        stored = sum(0.5 * STIFFNESS[i] * (self.joint(i, X, V)[0] - self.free[i]) ** 2 for i in range(4))
        return float(0.5 * (MASS * V) @ V + G * MASSES @ X[1::3] + stored)


def from_rows(
    case: str, formula: str, slave: str, t: Vector, rows: Sequence[Sequence[float | Vector]], units: dict[str, str]
) -> Trace:
    """`rows`: the values at each time, in the order of `units`."""
    columns = {name: (values, unit) for (name, unit), values in zip(units.items(), np.array(rows).T, strict=True)}
    return reference(case, formula, t, columns, of=slave)


JOINTS = {f"q[{i}]": "m" if i == 3 else "rad" for i in (1, 2, 3, 4)}
JOINTS |= {f"qd[{i}]": "m/s" if i == 3 else "rad/s" for i in (1, 2, 3, 4)}


def chain(name: str, model: Chain, t: Vector) -> Trace:
    """q, qd, lambda, tip and energy at the times."""
    rows = []
    for X, V in model.motion(t):
        joints = [model.joint(i, X, V) for i in range(4)]
        tip = X[9:11] + 0.15 * axes(X[11])[0]
        _, multipliers = model.accelerations(X, V)
        rows.append(
            [*(q for q, _, _ in joints), *(qd for _, qd, _ in joints), multipliers[8], *tip, model.energy(X, V)]
        )
    units = JOINTS | {"lambda[1]": "N", "contact[1].x": "m", "contact[1].y": "m", "energy.total": "J"}
    return from_rows(name, "absolute coordinates with multipliers, DOP853 1e-12", "chain", t, rows, units)


NEAR = {"concave": (1.0, 1.2), "convex": (0.9, 1.1), "paper_concave": (1.4, 1.5), "paper_convex": (2.1, 2.3)}


def concave() -> Trace:
    """The chain on the concave cam."""
    return chain("concave", Chain(CONCAVE, NEAR["concave"]), np.arange(151, dtype=float) * 0.01)


def convex() -> Trace:
    """The chain on the convex cam."""
    return chain("convex", Chain(CONVEX, NEAR["convex"]), np.arange(151, dtype=float) * 0.01)


def paper(name: str, cam: np.polynomial.Polynomial, samples: int) -> Trace:
    """Every 10 ms from the base and the start that give the ranges of the paper."""
    model = Chain(cam, NEAR[name], PAPER_BASE, PAPER_START, PAPER_START)
    return chain(name, model, np.arange(samples, dtype=float) * 0.01)


def rubbing() -> Trace:
    """From a start beside that one on the concave cam with friction 0.3, full above 0.1 m/s."""
    model = Chain(CONCAVE, NEAR["paper_concave"], RUBBING_BASE, RUBBING_START, RUBBING_START, friction=(0.3, 10.0))
    found = chain("rubbing", model, np.arange(101, dtype=float) * 0.01)
    assert found["chain.lambda[1]"].max() < 0.0  # the cam pushes all the time
    return found


def paper_concave() -> Trace:
    return paper("paper_concave", CONCAVE, 155)


def paper_convex() -> Trace:
    return paper("paper_convex", CONVEX, 148)


def lift_off() -> Trace:
    """The chain lifts off the convex cam at once, and comes back to it without rebound."""
    model, t = Chain(CONVEX, NEAR["convex"]), np.arange(51, dtype=float) * 0.01
    rows = [[model.joint(i, X, V)[k] for k in (0, 1) for i in range(4)] for X, V in model.motion(t, rows=8)]
    return from_rows("lift_off", "absolute coordinates, impact by projection", "chain", t, rows, JOINTS)


ROD_LENGTH, ROD_FRICTION, RAMP = 2.0, 1.2, 100.0


def rod_forces(angle: float, rate: float, slip: float, friction: float = ROD_FRICTION) -> tuple[float, float]:
    """N and friction force on the lower end of a uniform rod of 1 kg that slides on the ground: with the centre l from
    the end, y = l sin a, N = m (g + y''), J a'' = -l cos a N + l sin a F, F = -mu s N."""
    half, inertia = 0.5 * ROD_LENGTH, ROD_LENGTH**2 / 12.0
    share = -friction * min(max(RAMP * slip, -1.0), 1.0)  # F / N
    turn = half * (-np.cos(angle) + np.sin(angle) * share) / inertia  # a'' / N
    N = (G - half * np.sin(angle) * rate**2) / (1.0 - half * np.cos(angle) * turn)
    return float(N), float(share * N)


def rod_rates(y: Vector, friction: float = ROD_FRICTION) -> Vector:
    """Of the end's place, its slip, the angle, its rate, and the energy that friction takes."""
    _, slip, angle, rate, _ = y
    half, inertia = 0.5 * ROD_LENGTH, ROD_LENGTH**2 / 12.0
    N, F = rod_forces(angle, rate, slip, friction)
    turn = half * (-np.cos(angle) * N + np.sin(angle) * F) / inertia
    centre = F  # of 1 kg
    return np.array([slip, centre + half * (np.sin(angle) * turn + np.cos(angle) * rate**2), rate, turn, -F * slip])


def sliding_rod() -> Trace:
    """A rod slides on its lower end."""
    t, y = np.arange(41, dtype=float) * 0.01, np.array([0.0, -2.0, np.radians(50.0), 0.0, 0.0])
    found = [y]

    def ends_ramp(_: float, y: Vector) -> float:
        return float(abs(y[1]) * RAMP - 1.0)

    ends_ramp.terminal = True  # type: ignore[attr-defined]
    for begin, end in itertools.pairwise(t):
        at = begin
        while at < end:
            done = solve_ivp(
                lambda _, y: rod_rates(y), (at, end), y, "DOP853", events=ends_ramp, rtol=1e-12, atol=1e-13
            )
            at, y = done.t[-1], done.y[:, -1]
            if at < end:  # a little beyond the kink, so that it is not found again
                y = y + 1e-13 * rod_rates(y)
                at = at + 1e-13
        found.append(y)
    units = {
        "q[1]": "m", "q[3]": "rad", "qd[3]": "rad/s", "contact[1].slip": "m/s", "contact[1].N": "N",
        "contact[1].friction": "N", "energy.friction": "J",
    }  # fmt: skip
    rows = [[y[0], y[2], y[3], y[1], *rod_forces(y[2], y[3], y[1]), y[4]] for y in found]
    return from_rows("sliding_rod", "two equations of a rod, DOP853 1e-12", "rod", t, rows, units)


def pendulum_on_profile() -> Trace:
    """A pendulum on a bead on a wire: x and y of the bead, x, y and angle of the pendulum; its hinge and the wire."""
    wire, half = np.polynomial.Polynomial([0, 0, 0.5, 0, -0.5]), 0.2
    mass = np.array([1.2, 1.0, 0.5, 0.5, 0.01])  # the frame moves with the bead along x
    weight = np.array([0.0, -G, 0.0, -0.5 * G, 0.0])  # nothing else moves along y

    def constraints(X: Vector, V: Vector) -> tuple[Vector, Vector, Vector]:
        along, across = axes(X[4])
        df, ddf = wire.deriv()(X[0]), wire.deriv(2)(X[0])
        matrix = np.zeros((3, 5))
        matrix[:2, :2], matrix[:2, 2:4], matrix[:2, 4], matrix[2, :2] = -np.eye(2), np.eye(2), -half * across, (-df, 1)
        g = np.array([*(X[2:4] - X[:2] - half * along), X[1] - wire(X[0])])
        return g, matrix, np.array([*(half * V[4] ** 2 * along), -ddf * V[0] ** 2])

    def accelerations(X: Vector, V: Vector) -> tuple[Vector, Vector]:
        _, matrix, bias = constraints(X, V)
        multipliers = np.linalg.solve((matrix / mass) @ matrix.T, matrix @ (weight / mass) + bias)
        return (weight - matrix.T @ multipliers) / mass, multipliers

    def rates(_: float, y: Vector) -> Vector:
        return np.concatenate([y[5:], accelerations(y[:5], y[5:])[0]])

    angle = np.radians(60.0 - 90.0)  # of the pendulum, which hangs at -90 degrees
    t = np.arange(201, dtype=float) * 0.01
    x = 0.3
    X, V = np.array([x, wire(x), x + half * np.cos(angle), wire(x) + half * np.sin(angle), angle]), np.zeros(5)
    rows = []
    for k, end in enumerate(t):
        if k:
            done = solve_ivp(rates, (t[k - 1], end), np.concatenate([X, V]), "DOP853", rtol=1e-12, atol=1e-13)
            X, V = np.split(done.y[:, -1], 2)
            for _ in range(3):
                g, matrix, _ = constraints(X, V)
                X = X - matrix.T @ np.linalg.solve(matrix @ matrix.T, g)
            V = V - matrix.T @ np.linalg.solve(matrix @ matrix.T, matrix @ V)
        rows.append([X[0], X[1], X[4] + 0.5 * np.pi, V[0], V[4], accelerations(X, V)[1][2]])
    units = {"q[1]": "m", "q[2]": "m", "q[3]": "rad", "qd[1]": "m/s", "qd[3]": "rad/s", "lambda[1]": "N"}
    formula = "absolute coordinates with multipliers, DOP853 1e-12"
    return from_rows("pendulum_on_profile", formula, "pendulum", t, rows, units)


def n_four_bar() -> Trace:
    """Two parallelograms of rods of 1 m and 1 kg: three cranks turn, two couplers only move, so one equation says all:
    (3/3 + 2) phi'' = -g (3/2 + 2) cos phi.  In line at phi = 0 and -pi they could fold; their inertia lets them not."""
    t = np.arange(181, dtype=float) * 0.01
    done = solve_ivp(
        lambda _, y: [y[1], -G * 3.5 / 3.0 * np.cos(y[0])], (0.0, t[-1]), [0.5 * np.pi, -1.0], "DOP853", t,
        rtol=1e-13, atol=1e-13,
    )  # fmt: skip
    phi, turn = done.y
    assert phi.min() < -np.pi - 0.5  # passes both positions in line
    columns = {f"q[{i}]": (phi if i % 2 else -phi, "rad") for i in range(1, 6)}
    columns |= {"qd[1]": (turn, "rad/s"), "qd[5]": (turn, "rad/s")}
    return reference("n_four_bar", "pendulum equation, DOP853 1e-13", t, columns, of="bars")


# Test Set for IVP Solvers, release 2.4, Andrews' squeezing mechanism: beta, Theta, gamma, delta, phi, epsilon, Omega
# and their rates at 0.03 s
SQUEEZER = (
    (15.81077119629904, 1139.920302151208),
    (-15.75637105984298, -1424.379294994111),
    (0.04082224013073101, 11.03291221937134),
    (0.5244099658805304, 0.5735699284790808),
    (-0.5347301163226948, 19.29337464421385),
    (1.048080741042263, 0.3231791658026955),
    (0.5347301163226948, -19.29337464421385),
)
SQUEEZER_START = (
    -0.06171389001427645, 0.0, 0.4552798191630704, 0.48736497954384255, 0.2226683901658859, 1.2305474445498212,
    -0.2226683901658859,
)  # fmt: skip


def squeezer() -> Trace:
    """Start and end as published, computed there by PSIDE at the tolerance 1e-14."""
    units = {f"q[{i}]": "rad" for i in range(1, 8)} | {f"qd[{i}]": "rad/s" for i in range(1, 8)}
    rows = [[*SQUEEZER_START, *(0.0,) * 7], [q for q, _ in SQUEEZER] + [qd for _, qd in SQUEEZER]]
    formula = "Test Set for IVP Solvers, PSIDE 1e-14"
    return from_rows("squeezer", formula, "squeezer", np.array([0.0, 0.03]), rows, units)


def tip_on_floor(name: str, names: tuple[str, str]) -> Trace:
    """The carriage at x, the pendulum at the angle a from below, its tip x + 0.5 sin a, -0.5 cos a on a floor at
    -0.4305 m of 2000 N/m, elastic, with friction of the slope 0.3 x 0.5 s/m (below 2 m/s)."""

    def rates(_: float, y: Vector) -> Vector:
        x, a, v, w = y
        c, s = np.cos(a), np.sin(a)
        N = 2000.0 * (-0.4305 + 0.5 * c)
        slip = v + 0.5 * c * w
        assert N > 0.0 and abs(slip) < 2.0  # never leaves, never on the flat of the law
        F = -0.3 * N * 0.5 * slip
        M = np.array([[3.0, 0.25 * c], [0.25 * c, 0.02 + 0.25**2]])
        force = np.array([0.25 * s * w * w - 100.0 * x - v + F, -0.25 * G * s + 0.5 * c * F + 0.5 * s * N])
        return np.concatenate([y[2:], np.linalg.solve(M, force)])

    t = np.arange(101, dtype=float) * 0.01
    done = solve_ivp(
        rates, (0.0, t[-1]), [0.05, np.radians(30.0), 0.0, 0.0], "DOP853", t, rtol=1e-12, atol=1e-14, max_step=2e-3
    )
    columns = {names[0]: (done.y[0], "m"), names[1]: (done.y[1], "rad")}
    return reference(name, "two equations of motion, DOP853 1e-12", t, columns)


def tip_slides() -> Trace:
    """As one assembly."""
    return tip_on_floor("tip_slides", ("tip.carriage", "tip.pendulum"))


def tip_slides_between_fmus() -> Trace:
    """The mechanism and the floor as two FMUs."""
    return tip_on_floor("tip_slides_between_fmus", ("mechanism.q[1]", "mechanism.q[2]"))


def tip_meets_wall() -> Trace:
    """The same carriage and pendulum; the tip x + 0.5 sin a meets a smooth wall at -0.2 m, of 1e4 N/m."""
    t = np.arange(121, dtype=float) * 0.01

    def rates(_: float, y: Vector) -> Vector:
        x, a, v, w = y
        c, s = np.cos(a), np.sin(a)
        F = 1e4 * max(-0.2 - x - 0.5 * s, 0.0)
        M = np.array([[3.0, 0.25 * c], [0.25 * c, 0.02 + 0.25**2]])
        force = np.array([0.25 * s * w * w - 100.0 * x - v + F, -0.25 * G * s + 0.5 * c * F])
        return np.concatenate([y[2:], np.linalg.solve(M, force)])

    start = [0.1, np.radians(30.0), 0.0, 0.0]
    done = solve_ivp(rates, (0.0, t[-1]), start, "DOP853", t, rtol=1e-12, atol=1e-14, max_step=5e-4)
    columns = {"q[1]": (done.y[0], "m"), "q[2]": (done.y[1], "rad")}
    return reference("tip_meets_wall", "two equations of motion, DOP853 1e-12", t, columns, of="arm")


def disc(t: float) -> Vector:
    """Lift, normal force, friction force along the rim, torque of the drive, and power of friction of a pointed
    follower on a disc of the radius R that turns off its centre by e: with a the angle of the centre and n from it to
    the point,

        y = e sin a + sqrt(R^2 - e^2 cos^2 a),   m y'' + k (y - free) = N (n_y - mu s t_y),   F = -mu s N,   t = z x n

    slip = v t with v = (w y, y') the velocity of the point relative to the disc, s = clamp(k_T slip, -1, 1)."""
    e, R, w, m, k, free, mu = 0.01, 0.03, 60.0, 0.5, 2000.0, 0.01, 0.15
    a = w * t - 0.5 * np.pi
    c, s = np.cos(a), np.sin(a)
    root = np.sqrt(R * R - (e * c) ** 2)
    y, v = e * s + root, w * (e * c + e * e * c * s / root)
    curve = e * e * (c * c - s * s) / root - (e * e * c * s) ** 2 / root**3
    acceleration = w * w * (-e * s + curve)
    n = np.array([-e * c, root]) / R
    along = np.array([-n[1], n[0]])
    slip = float(np.array([w * y, v]) @ along)
    share = -mu * min(max(RAMP * slip, -1.0), 1.0)
    N = (m * acceleration + k * (y - free)) / (n[1] + share * along[1])
    force = N * n + share * N * along
    return np.array([y, N, share * N, -y * force[0], -share * N * slip])


def eccentric_cam() -> Trace:
    """A pointed follower on an eccentric disc."""
    t = np.arange(101, dtype=float) * 2e-3
    rows, lost = [], 0.0
    for k, at in enumerate(t):
        if k:
            lost += quad(lambda time: float(disc(time)[4]), t[k - 1], at, epsabs=1e-13, epsrel=1e-12)[0]
        rows.append([*disc(at)[:4], lost])
    units = {
        "q[2]": "m", "contact[1].N": "N", "contact[1].friction": "N", "joint[1].drive": "N.m", "energy.friction": "J",
    }  # fmt: skip
    return from_rows("eccentric_cam", "closed form", "cam", t, rows, units)


class Loop(NamedTuple):
    """A closed loop whose shape the angle of its crank says.

    arms   (bodies, bodies) m: each centre of mass is a sum of arms[i][j] along body j, from `base`, shape (bodies, 2)
    turns  of the crank's angle: the angles of all bodies, their first and second derivatives by it"""

    masses: Vector
    inertias: Vector
    base: Vector
    arms: Vector
    turns: Callable[[float], tuple[Vector, Vector, Vector]]

    def slopes(self, phi: float) -> tuple[Vector, Vector, Vector]:
        """Directions across the bodies; derivatives of the centres by the crank's angle, once and twice."""
        angles, first, second = self.turns(phi)
        along = np.column_stack([np.cos(angles), np.sin(angles)])
        across = np.column_stack([-np.sin(angles), np.cos(angles)])
        r_1 = self.arms @ (across * first[:, None])
        return across, r_1, self.arms @ (across * second[:, None] - along * first[:, None] ** 2)

    def energy(self, phi: float, rate: float) -> float:
        angles, first, _ = self.turns(phi)
        _, r_1, _ = self.slopes(phi)
        height = self.base[:, 1] + self.arms @ np.sin(angles)
        inertia = self.masses @ (r_1**2).sum(axis=1) + self.inertias @ first**2
        return float(0.5 * inertia * rate**2 + G * self.masses @ height)

    def acceleration(self, phi: float, rate: float) -> float:
        """I phi'' + I' phi'^2 / 2 + V' = 0 with I phi'^2 / 2 the kinetic energy and V that of the weights."""
        _, first, second = self.turns(phi)
        _, r_1, r_2 = self.slopes(phi)
        inertia = self.masses @ (r_1**2).sum(axis=1) + self.inertias @ first**2
        slope = 2.0 * (self.masses @ (r_1 * r_2).sum(axis=1) + self.inertias @ (first * second))
        return float(-(0.5 * slope * rate**2 + G * self.masses @ r_1[:, 1]) / inertia)

    def moment(self, phi: float, rate: float, j: int) -> float:
        """Of the force that holds the end of body j, about the joint at its begin: what the inertia and the weights
        of all that its angle alone would move leave over."""
        _, first, second = self.turns(phi)
        across, r_1, r_2 = self.slopes(phi)
        turn = self.acceleration(phi, rate)
        a = r_1 * turn + r_2 * rate**2 + np.array([0.0, G])
        alpha = first[j] * turn + second[j] * rate**2
        return float(self.masses @ (a * (self.arms[:, j : j + 1] * across[j])).sum(axis=1) + self.inertias[j] * alpha)

    def motion(self, rate: float, t: Vector) -> list[tuple[float, float]]:
        """Angle and rate of the crank at the times, from the angle 0."""
        done = solve_ivp(
            lambda _, y: [y[1], self.acceleration(y[0], y[1])], (0.0, t[-1]), [0.0, rate], "DOP853", t,
            rtol=1e-13, atol=1e-13,
        )  # fmt: skip
        return [(float(phi), float(turn)) for phi, turn in done.y.T]


def of_slider_crank(phi: float) -> tuple[Vector, Vector, Vector]:
    """a sin phi + b sin psi = 0, and its derivatives by phi."""
    a, b = 0.1, 0.3
    psi = float(np.arcsin(-a / b * np.sin(phi)))
    first = -a * np.cos(phi) / (b * np.cos(psi))
    second = (a * np.sin(phi) + b * np.sin(psi) * first**2) / (b * np.cos(psi))
    return np.array([phi, psi]), np.array([1.0, first]), np.array([0.0, second])


def of_four_bar(phi: float) -> tuple[Vector, Vector, Vector]:
    """a e(phi) + b e(psi) = d e(0) + c e(theta), the joint of coupler and rocker above the line between their other
    ends, and its derivatives by phi."""
    a, b, c, d = 0.1, 0.35, 0.3, 0.4
    crank, across = axes(phi)
    way = np.array([d, 0.0]) - a * crank
    length = float(np.hypot(*way))
    along = (length**2 + b**2 - c**2) / (2.0 * length)
    joint = a * crank + (along * way + np.sqrt(b**2 - along**2) * np.array([-way[1], way[0]])) / length
    psi, theta = np.arctan2(*(joint - a * crank)[::-1]), np.arctan2(joint[1], joint[0] - d)
    (e_2, n_2), (e_3, n_3) = axes(float(psi)), axes(float(theta))
    matrix = np.column_stack([b * n_2, -c * n_3])
    first = np.linalg.solve(matrix, -a * across)
    second = np.linalg.solve(matrix, a * crank + b * e_2 * first[0] ** 2 - c * e_3 * first[1] ** 2)
    return np.array([phi, psi, theta]), np.array([1.0, *first]), np.array([0.0, *second])


SLIDER_CRANK = Loop(
    np.array([1.0, 0.5]), np.array([0.002, 0.004]), np.zeros((2, 2)), np.array([[0.0, 0.0], [0.1, 0.15]]),
    of_slider_crank,
)  # fmt: skip
FOUR_BAR = Loop(
    np.array([0.5, 0.4, 0.6]), np.array([0.002, 0.004, 0.005]), np.array([[0.0, 0.0], [0.0, 0.0], [0.4, 0.0]]),
    np.array([[0.05, 0.0, 0.0], [0.1, 0.175, 0.0], [0.0, 0.0, 0.15]]), of_four_bar,
)  # fmt: skip


ONE_ANGLE = "closed form of the loop, one equation of motion, DOP853 1e-13"


def slider_crank() -> Trace:
    """Two turns and more of the crank: joints, the slider's place, and the force of its line."""
    rows, t = [], np.arange(151, dtype=float) * 5e-3
    for phi, rate in SLIDER_CRANK.motion(20.0, t):
        (_, psi), (_, first), _ = SLIDER_CRANK.turns(phi)
        normal = SLIDER_CRANK.moment(phi, rate, 1) / (0.3 * np.cos(psi))
        x = 0.1 * np.cos(phi) + 0.3 * np.cos(psi)
        rows.append([phi, psi - phi, rate, (first - 1.0) * rate, x, normal, SLIDER_CRANK.energy(phi, rate)])
    units = {
        "q[1]": "rad", "q[2]": "rad", "qd[1]": "rad/s", "qd[2]": "rad/s", "contact[1].x": "m", "contact[1].N": "N",
        "energy.total": "J",
    }  # fmt: skip
    return from_rows("slider_crank", ONE_ANGLE, "crank", t, rows, units)


def four_bar() -> Trace:
    """Two turns and more of the crank: joints, and the force in the pin of coupler and rocker."""
    rows, t = [], np.arange(181, dtype=float) * 5e-3
    for phi, rate in FOUR_BAR.motion(15.0, t):
        angles, first, _ = FOUR_BAR.turns(phi)
        levers = np.array([0.35 * axes(angles[1])[1], -0.3 * axes(angles[2])[1]])  # of the force on the coupler
        force = np.linalg.solve(levers, [FOUR_BAR.moment(phi, rate, j) for j in (1, 2)])
        q, qd = angles - [0.0, phi, 0.0], rate * (first - [0.0, 1.0, 0.0])
        rows.append([*q, *qd, *-force, FOUR_BAR.energy(phi, rate)])
    units = {f"q[{i}]": "rad" for i in (1, 2, 3)} | {f"qd[{i}]": "rad/s" for i in (1, 2, 3)}
    units |= {"lambda[1]": "N", "lambda[2]": "N", "energy.total": "J"}
    return from_rows("four_bar", ONE_ANGLE, "bars", t, rows, units)


def cam_follower() -> Trace:
    """A cam so heavy that its speed w stays lifts its follower by e (1 - cos w t)."""
    m, e, k, preload, w = 0.5, 0.01, 2000.0, 20.0, 100.0
    t = np.arange(101, dtype=float) * 2e-3
    c, lift = np.cos(w * t), e * (1.0 - np.cos(w * t))
    columns = {
        "q[1]": (w * t, "rad"), "q[2]": (lift - e, "m"), "qd[2]": (e * w * np.sin(w * t), "m/s"),
        "contact[1].N": (m * e * w**2 * c + k * lift + preload, "N"), "contact[1].x": (e * np.sin(w * t), "m"),
    }  # fmt: skip
    return reference("cam_follower", "closed form", t, columns, of="cam")


def double_pendulum() -> Trace:
    """Two uniform rods of 1 m and 1 kg, by their angles a and b against the level: with d = a - b

    4/3 a'' + 1/2 cos d b'' + 1/2 sin d b'^2 + 3/2 g cos a = 0,   1/3 b'' + 1/2 cos d a'' - 1/2 sin d a'^2
    + 1/2 g cos b = 0"""

    def rates(_: float, y: Vector) -> Vector:
        a, b, u, v = y
        c, s = np.cos(a - b), np.sin(a - b)
        M = np.array([[4.0 / 3.0, 0.5 * c], [0.5 * c, 1.0 / 3.0]])
        force = np.array([-0.5 * s * v * v - 1.5 * G * np.cos(a), 0.5 * s * u * u - 0.5 * G * np.cos(b)])
        return np.concatenate([y[2:], np.linalg.solve(M, force)])

    t = np.arange(301, dtype=float) * 0.01
    a, b, u, v = solve_ivp(rates, (0.0, t[-1]), np.zeros(4), "DOP853", t, rtol=1e-13, atol=1e-13).y
    columns = {
        "q[1]": (a, "rad"), "q[2]": (b - a, "rad"), "qd[1]": (u, "rad/s"), "qd[2]": (v - u, "rad/s"),
        "point[1].r[1]": (np.cos(a) + np.cos(b), "m"), "point[1].r[2]": (np.sin(a) + np.sin(b), "m"),
        "energy.total": (0.0 * t, "J"),
    }  # fmt: skip
    return reference("double_pendulum", "two equations of motion, DOP853 1e-13", t, columns, of="pendulum")


CASES: tuple[Callable[[], Trace], ...] = (
    cam_follower, concave, convex, double_pendulum, eccentric_cam, four_bar, lift_off, n_four_bar, paper_concave,
    paper_convex, pendulum_on_profile, rubbing, slider_crank, sliding_rod, squeezer, tip_meets_wall, tip_slides,
    tip_slides_between_fmus,
)  # fmt: skip

if __name__ == "__main__":
    write_references(CASES, __file__)
