"""Trees of bodies and constraints: the C against dense matrices, absolute coordinates and high-precision derivatives.

The dense matrices come from positions in joint coordinates alone, over mpmath's numbers: M from derivatives of the
positions, (J qd)_q qd as the second derivative of h(q + t qd).  Nothing of the recursion is used."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from fmu_builder.export.host import HostLibrary
from tests.contact_core.hosted import load_c

Vector = NDArray[np.float64]
ALONG_X, ALONG_Y, DISTANCE, PROFILE, CURVE = range(5)
G = 9.81


@dataclass(frozen=True)
class Body:
    parent: int
    slides: bool
    place: tuple[float, float]
    angle: float
    mass: float
    inertia: float
    centre: tuple[float, float]


@dataclass(frozen=True)
class Hold:
    kind: int
    body: int
    point: tuple[float, float]
    other: int = -1
    base: tuple[float, float] = (0.0, 0.0)
    length: float = 0.0
    f: tuple[float, ...] = ()
    turned: float = 0.0  # of a profile


@dataclass(frozen=True)
class Mechanism:
    bodies: tuple[Body, ...]
    holds: tuple[Hold, ...] = ()
    free: tuple[int, ...] = field(default=())

    @property
    def n(self) -> int:
        return len(self.bodies)


def lipinski(f: tuple[float, ...]) -> Mechanism:
    """The chain of D21 on its cam."""
    lengths, masses, inertias = (0.3, 0.1, 0.3, 0.3), (1.0, 0.5, 1.0, 1.0), (0.1, 0.01, 0.1, 0.1)
    bodies = tuple(
        Body(i - 1, i == 2, (lengths[i - 1] if i else 0.0, 0.0), 0.0, masses[i], inertias[i], (lengths[i] / 2, 0.0))
        for i in range(4)
    )
    return Mechanism(bodies, (Hold(PROFILE, 3, (0.3, 0.0), f=f),))


CONCAVE, CONVEX = (0.0, -0.595, 0.5, 0.5), (0.0, 0.357, -0.3, -0.3)


def random_tree(rng: np.random.Generator, n: int) -> tuple[Body, ...]:
    return tuple(
        Body(
            int(rng.integers(-1, i)) if i else -1,
            bool(rng.random() < 0.4),
            tuple(rng.uniform(-0.5, 0.5, 2)),
            rng.uniform(-2.0, 2.0),
            rng.uniform(0.2, 2.0),
            rng.uniform(0.01, 0.2),
            tuple(rng.uniform(-0.3, 0.3, 2)),
        )
        for i in range(n)
    )


HOLDS = {
    "pin": (Hold(ALONG_X, 2, (0.3, 0.1), 3, (-0.2, 0.2)), Hold(ALONG_Y, 2, (0.3, 0.1), 3, (-0.2, 0.2))),
    "distance": (
        Hold(DISTANCE, 3, (0.3, 0.1), -1, (2.0, -1.5), 2.0),
        Hold(DISTANCE, 2, (0.1, 0.0), 0, (3.0, 0.2), 2.5),
    ),
    "ground profile": (Hold(PROFILE, 3, (0.3, 0.0), f=(0.1, -0.6, 0.5, 0.5)),),
    "curve of a body": (Hold(CURVE, 3, (0.3, 0.0), 0, (0.1, -0.2), turned=1.9),),
    "profile of a body": (Hold(PROFILE, 3, (0.3, 0.0), 0, (0.1, -0.2), f=(0.2, 0.4, -0.3, 0.2), turned=1.9),),
}


def random_mechanism(name: str, seed: int) -> tuple[Mechanism, Vector, Vector]:
    """A tree of four bodies under these constraints, and coordinates and velocities that need not keep them."""
    rng = np.random.default_rng(seed)
    bodies = random_tree(rng, 4)
    return Mechanism(bodies, HOLDS[name]), rng.uniform(-1.0, 1.0, 4), rng.uniform(-2.0, 2.0, 4)


# ---- independent: positions in joint coordinates, over the numbers of a module --------------------------------------


def turned(angle: Any, vector: Sequence[Any], f: Any = mpmath) -> tuple[Any, Any]:
    c, s = f.cos(angle), f.sin(angle)
    return c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]


def poses(bodies: Sequence[Body], q: Sequence[Any]) -> list[tuple[Any, Any, Any]]:
    """Angle and origin of every body; the last one, of index -1, is the ground."""
    found: list[tuple[Any, Any, Any]] = []
    for i, b in enumerate(bodies):
        angle, x, y = found[b.parent] if b.parent >= 0 else (0, 0, 0)
        at = turned(angle, b.place)
        turn = angle + b.angle + (0 if b.slides else q[i])
        way = turned(turn, (q[i] if b.slides else 0, 0))
        found.append((turn, x + at[0] + way[0], y + at[1] + way[1]))
    return [*found, (0, 0, 0)]


def point(pose: tuple[Any, Any, Any], own: Sequence[Any]) -> tuple[Any, Any]:
    way = turned(pose[0], own)
    return pose[1] + way[0], pose[2] + way[1]


def axis(one: Hold) -> list[float]:
    return [float(np.cos(one.turned)), float(np.sin(one.turned))]


def profile_axes(one: Hold, frame: tuple[Any, Any, Any], P: tuple[Any, Any]) -> tuple[Any, Any]:
    """P in the axes of a profile."""
    B = point(frame, one.base)
    return turned(-frame[0] - one.turned, (P[0] - B[0], P[1] - B[1]))


AXES = (0.35, 0.6)  # of the ellipse that every curve here is, m: x = a cos s, y = b sin s


def to_ellipse(x: Any, y: Any) -> Any:
    """Distance from the ellipse to a point, positive inside, which is to the left of its course."""
    a, b = map(mpmath.mpf, AXES)
    s = mpmath.findroot(
        lambda s: (x - a * mpmath.cos(s)) * a * mpmath.sin(s) - (y - b * mpmath.sin(s)) * b * mpmath.cos(s),
        mpmath.atan2(y / b, x / a),
    )
    C, inside = (a * mpmath.cos(s), b * mpmath.sin(s)), (x / a) ** 2 + (y / b) ** 2 < 1
    return mpmath.hypot(x - C[0], y - C[1]) * (1 if inside else -1)


def h(mechanism: Mechanism, q: Sequence[Any]) -> list[Any]:
    found = []
    all_poses = poses(mechanism.bodies, q)
    for one in mechanism.holds:
        P = point(all_poses[one.body], one.point)
        frame = all_poses[one.other]
        if one.kind in (PROFILE, CURVE):
            x, y = profile_axes(one, frame, P)
            found.append(to_ellipse(x, y) if one.kind == CURVE else y - sum(c * x**k for k, c in enumerate(one.f)))
            continue
        B = point(frame, one.base)
        out = (P[0] - B[0], P[1] - B[1])
        found.append(mpmath.sqrt(out[0] ** 2 + out[1] ** 2) - one.length if one.kind == DISTANCE else out[one.kind])
    return found


def derivatives(f: Callable[[Sequence[Any]], Sequence[Any]], q: Vector) -> Vector:
    """df/dq, exact to more digits than a double has."""
    with mpmath.workdps(40):
        at = [mpmath.mpf(float(x)) for x in q]
        step = mpmath.mpf(10) ** -14
        columns = []
        for i in range(len(at)):
            low, high = (f([x + s * step * (i == j) for j, x in enumerate(at)]) for s in (-1, 1))
            columns.append([float((b - a) / (2 * step)) for a, b in zip(low, high, strict=True)])
        return np.array(columns).T


def bends(f: Callable[[Sequence[Any]], Sequence[Any]], q: Vector, qd: Vector) -> Vector:
    """The second derivative of f(q + t qd) over t."""
    with mpmath.workdps(50):
        step = mpmath.mpf(10) ** -12
        at = [
            [mpmath.mpf(float(x)) + s * step * mpmath.mpf(float(v)) for x, v in zip(q, qd, strict=True)]
            for s in (-1, 0, 1)
        ]
        low, middle, high = map(f, at)
        return np.array([float((a - 2 * b + c) / step**2) for a, b, c in zip(low, middle, high, strict=True)])


def places(mechanism: Mechanism, q: Sequence[Any]) -> list[Any]:
    """x and y of every centre of mass, then the angle."""
    return [
        value
        for pose, b in zip(poses(mechanism.bodies, q), mechanism.bodies, strict=False)
        for value in (*point(pose, b.centre), pose[0])
    ]


def dense(mechanism: Mechanism, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
    """M, and F + Q under gravity."""
    B = derivatives(lambda x: places(mechanism, x), q)
    bend = bends(lambda x: places(mechanism, x), q, qd)
    masses = np.array([value for b in mechanism.bodies for value in (b.mass, b.mass, b.inertia)])
    weight = np.array([value for b in mechanism.bodies for value in (0.0, -G * b.mass, 0.0)])
    return B.T @ (masses[:, None] * B), B.T @ (masses * bend - weight)


def reduced(mechanism: Mechanism, q: Vector, qd: Vector, dependent: Sequence[int]) -> tuple[Vector, Vector]:
    """qdd and lambda by the partition q = (u, v), with the signs that fit together: G = J_v^-1 J_u, b = J_v^-1 A."""
    M, F = dense(mechanism, q, qd)
    J, A = derivatives(lambda x: h(mechanism, x), q), -bends(lambda x: h(mechanism, x), q, qd)
    v = list(dependent)
    u = [i for i in range(mechanism.n) if i not in v]
    G_, b = np.linalg.solve(J[:, v], J[:, u]), np.linalg.solve(J[:, v], A)
    Muu, Muv, Mvu, Mvv = M[np.ix_(u, u)], M[np.ix_(u, v)], M[np.ix_(v, u)], M[np.ix_(v, v)]
    reduced_M = Muu - Muv @ G_ - G_.T @ (Mvu - Mvv @ G_)
    reduced_F = F[u] + Muv @ b - G_.T @ (F[v] + Mvv @ b)
    qdd = np.zeros(mechanism.n)
    qdd[u] = np.linalg.solve(reduced_M, -reduced_F)
    qdd[v] = -G_ @ qdd[u] + b
    return qdd, -np.linalg.solve(J[:, v].T, (Mvu - Mvv @ G_) @ qdd[u] + Mvv @ b + F[v])


def absolute(mechanism: Mechanism, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
    """qdd and lambda with three coordinates for each body, and its joints as constraints like all others."""
    bodies = mechanism.bodies

    def pose(X: Sequence[Any], i: int) -> tuple[Any, Any, Any]:
        """Angle and origin, from centre of mass and angle."""
        if i < 0:
            return 0, 0, 0
        x, y, angle = X[3 * i : 3 * i + 3]
        way = turned(angle, bodies[i].centre)
        return angle, x - way[0], y - way[1]

    def joints(X: Sequence[Any]) -> list[Any]:
        found = []
        for i, b in enumerate(bodies):
            own, parent = pose(X, i), pose(X, b.parent)
            at = point(parent, b.place)
            apart = turned(-own[0], (own[1] - at[0], own[2] - at[1]))
            found += [own[0] - parent[0] - b.angle, apart[1]] if b.slides else list(apart)
        return found

    def all_constraints(X: Sequence[Any]) -> list[Any]:
        """The joint coordinates only say where a body is; the constraints are those of the mechanism."""
        frames = [*(pose(X, i) for i in range(len(bodies))), (0, 0, 0)]
        found = joints(X)
        for one in mechanism.holds:
            P, frame = point(frames[one.body], one.point), frames[one.other]
            if one.kind in (PROFILE, CURVE):
                x, y = profile_axes(one, frame, P)
                found.append(to_ellipse(x, y) if one.kind == CURVE else y - sum(c * x**k for k, c in enumerate(one.f)))
                continue
            B = point(frame, one.base)
            out = (P[0] - B[0], P[1] - B[1])
            found.append(mpmath.sqrt(out[0] ** 2 + out[1] ** 2) - one.length if one.kind == DISTANCE else out[one.kind])
        return found

    with mpmath.workdps(40):
        X = np.array([float(x) for x in places(mechanism, [mpmath.mpf(float(x)) for x in q])])
    B = derivatives(lambda x: places(mechanism, x), q)
    V = B @ qd
    masses = np.array([value for b in bodies for value in (b.mass, b.mass, b.inertia)])
    weight = np.array([value for b in bodies for value in (0.0, -G * b.mass, 0.0)])
    J, bend = derivatives(all_constraints, X), bends(all_constraints, X, V)
    rows = len(bend)
    system = np.block([[np.diag(masses), J.T], [J, np.zeros((rows, rows))]])
    solution = np.linalg.solve(system, np.concatenate([weight, -bend]))
    accelerations = solution[: len(X)]
    qdd = np.linalg.lstsq(B, accelerations - bends(lambda x: places(mechanism, x), q, qd), rcond=None)[0]
    return qdd, solution[len(X) + 2 * len(bodies) :]


# ---- the C ----------------------------------------------------------------------------------------------------------


class Core:
    """A mechanism in C, with its work space."""

    def __init__(self, host: HostLibrary, mechanism: Mechanism) -> None:
        self.lib, ffi = host.lib, host.ffi
        n, count = mechanism.n, max(len(mechanism.holds), 1)
        self.n, self.count, self.ffi = n, len(mechanism.holds), ffi
        self.bodies, self.keep = bodies_of(ffi, mechanism), []

        @ffi.callback("void(const void *, int, double, double *)")
        def ellipse(_: Any, number: int, s: float, values: Any) -> None:
            for k, radius, wave in ((0, AXES[0], s), (3, AXES[1], s - np.pi / 2)):
                values[k], values[k + 1] = radius * np.cos(wave), -radius * np.sin(wave)
                values[k + 2] = -values[k]

        self.ellipse = ellipse
        self.holds = ffi.new("CcConstraint[]", count)
        for c, one in zip(self.holds, mechanism.holds, strict=False):
            f = ffi.new("double[]", list(one.f) or [0.0])
            self.keep.append(f)
            c.kind, c.body, c.other, c.degree, c.length, c.f = (
                one.kind, one.body, one.other, max(len(one.f) - 1, 0), one.length, f,
            )  # fmt: skip
            c.point, c.base, c.axis = list(one.point), list(one.base), axis(one)
            c.curve.shape, c.curve.closed, c.curve.to = self.ellipse if one.kind == CURVE else ffi.NULL, 1, 2.0 * np.pi
        self.moves = ffi.new("CcMove[]", n)
        self.rows = ffi.new("CcRow[]", count)
        self.J, self.Y = ffi.new("double[]", n * count), ffi.new("double[]", n * count)
        self.A, self.b = ffi.new("double[]", count * count), ffi.new("double[]", count)
        self.p, self.pivots, self.dependent = (
            ffi.new("double[][3]", n),
            ffi.new("int[]", count),
            ffi.new("int[]", count),
        )

    def at(self, q: Sequence[float], qd: Sequence[float]) -> None:
        self.lib.cc_tree_place(self.n, self.bodies, list(q), self.moves)
        self.lib.cc_tree_move(self.n, self.bodies, list(qd), self.moves)
        self.lib.cc_tree_factor(self.n, self.bodies, self.moves)
        for c in self.holds:
            if c.kind == CURVE:
                P, at = self.ffi.new("double[2]"), self.ffi.new("double[2]")
                self.lib.cc_point_of(self.moves, c.body, c.point, P)
                self.lib.cc_in_profile(self.ffi.addressof(c), self.moves, P, at)
                c.foot = self.lib.cc_curve_nearest(self.ffi.addressof(c.curve), at)
        self.lib.cc_rows(self.n, self.bodies, self.count, self.holds, self.moves, self.rows, self.J)

    @property
    def jacobian(self) -> Vector:
        return np.array(list(self.J)).reshape(-1, self.n)[: self.count]

    def tree(self, tau: Sequence[float] | None = None, forces: bool = True) -> Vector:
        """qdd of the tree alone."""
        qdd = self.ffi.new("double[]", self.n)
        if forces:
            self.lib.cc_tree_inertial(self.n, self.bodies, self.moves, [0.0, -G], self.p)
        else:
            for one in self.p:
                one[0] = one[1] = one[2] = 0.0
        self.lib.cc_tree_solve(
            self.n, self.bodies, self.moves, list(tau if tau is not None else [0.0] * self.n), self.p, qdd
        )
        return np.array(list(qdd))

    def bias(self) -> Vector:
        v = self.ffi.new("double[]", 2)
        pairs = zip(self.holds, self.rows, strict=True)
        return np.array(
            [self.lib.cc_row_bias(self.ffi.addressof(c), self.ffi.addressof(r), self.moves, v) for c, r in pairs]
        )

    def constrained(self, tau: Sequence[float] | None = None) -> tuple[Vector, Vector]:
        qdd, multipliers = self.ffi.new("double[]", list(self.tree(tau))), self.ffi.new("double[]", self.count)
        self.lib.cc_constrain(
            self.n, self.bodies, self.moves, self.count, self.J, list(self.bias()), self.Y, self.p, self.A, self.pivots,
            qdd, multipliers,
        )  # fmt: skip
        return np.array(list(qdd)), np.array(list(multipliers))

    def rubbed(self, shares: Vector, sides: Sequence[float], pulls: bool) -> tuple[Any, tuple[Vector, Vector, float]]:
        """The friction found; qdd, multipliers and the margin of all contacts."""
        n, count, new = self.n, self.count, self.ffi.new
        friction = new("CcFriction[]", count)
        for one, share, side in zip(friction, shares, sides, strict=True):
            one.share, one.side, one.rubs, one.pulls = share, side, 1, pulls
        qdd, multipliers = new("double[]", list(self.tree())), new("double[]", count)
        J_T, Y_T = new("double[]", n), new("double[]", n * count)
        X, B = new("double[]", count * count), new("double[]", count * count)
        self.lib.cc_responses(n, self.bodies, self.moves, count, self.J, self.p, self.Y)
        self.lib.cc_multipliers(
            n, count, self.J, list(self.bias()), self.Y, qdd, self.A, self.pivots, multipliers, new("double[]", count)
        )
        self.lib.cc_responses_along(
            n, self.bodies, self.moves, count, self.holds, self.rows, self.J, self.A, self.pivots, friction, self.p,
            J_T, Y_T, X,
        )  # fmt: skip
        margin = self.lib.cc_rub(count, X, friction, B, multipliers)
        kappa = np.repeat([one.kappa for one in friction], n)
        rough = np.array(list(self.Y)) - kappa * np.array(list(Y_T))
        self.lib.cc_subtract_responses(n, count, list(rough), multipliers, qdd)
        return friction, (np.array(list(qdd)), np.array(list(multipliers)), margin)

    def choose(self) -> Any:
        work, order = self.ffi.new("double[]", self.n * self.count), self.ffi.new("int[]", self.count)
        return self.lib.cc_choose_dependent(self.n, self.count, self.J, self.moves, work, order, self.dependent)

    def close(self, q: Sequence[float], qd: Sequence[float]) -> tuple[float, Vector, Vector]:
        """The correction left, q and qd with their dependent coordinates; the block is left there."""
        found, rates = self.ffi.new("double[]", list(q)), self.ffi.new("double[]", list(qd))
        left = self.lib.cc_close(
            self.n, self.bodies, self.count, self.holds, self.dependent, found, self.moves, self.rows, self.J, self.A,
            self.pivots, self.b,
        )  # fmt: skip
        self.lib.cc_close_rates(self.n, self.count, self.J, self.dependent, self.A, self.pivots, self.b, rates)
        self.at(list(found), list(rates))
        return left, np.array(list(found)), np.array(list(rates))


def bodies_of(ffi: Any, mechanism: Mechanism) -> Any:
    bodies = ffi.new("CcBody[]", mechanism.n)
    for c, b in zip(bodies, mechanism.bodies, strict=True):
        c.parent, c.slides, c.angle, c.mass, c.inertia = b.parent, b.slides, b.angle, b.mass, b.inertia
        c.place, c.centre = list(b.place), list(b.centre)
    return bodies


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_accelerates_as_its_mass_matrix_says(host: HostLibrary, seed: int) -> None:
    rng = np.random.default_rng(seed)
    mechanism = Mechanism(random_tree(rng, 5))
    q, qd, tau = rng.uniform(-2, 2, 5), rng.uniform(-3, 3, 5), rng.uniform(-9, 9, 5)
    core = Core(host, mechanism)
    core.at(q, qd)
    M, F = dense(mechanism, q, qd)
    assert core.tree(tau) == pytest.approx(np.linalg.solve(M, tau - F), rel=1e-11, abs=1e-11)
    inverse = np.array([core.tree(row, forces=False) for row in np.eye(5)])
    assert inverse @ M == pytest.approx(np.eye(5), abs=1e-11)
    assert inverse == pytest.approx(inverse.T, abs=1e-12)


def test_a_force_on_a_body_works_through_its_joints(host: HostLibrary) -> None:
    """M qdd = B^T f with B the derivative of the point's position."""
    rng = np.random.default_rng(3)
    mechanism = Mechanism(random_tree(rng, 4))
    q, f, own = rng.uniform(-1, 1, 4), rng.uniform(-5, 5, 2), (0.3, -0.2)
    core = Core(host, mechanism)
    core.at(q, [0.0] * 4)
    P = core.ffi.new("double[]", 2)
    core.lib.cc_point_of(core.moves, 3, list(own), P)
    core.lib.cc_tree_push(core.moves, 3, P, list(f), core.p)
    qdd = core.ffi.new("double[]", 4)
    core.lib.cc_tree_solve(4, core.bodies, core.moves, [0.0] * 4, core.p, qdd)
    B = derivatives(lambda x: point(poses(mechanism.bodies, x)[3], own), q)
    M, _ = dense(mechanism, q, np.zeros(4))
    assert np.array(list(qdd)) == pytest.approx(np.linalg.solve(M, B.T @ f), rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", HOLDS)
def test_constraints_have_the_derivatives_of_their_positions(host: HostLibrary, name: str, seed: int) -> None:
    mechanism, q, qd = random_mechanism(name, seed)
    core = Core(host, mechanism)
    core.at(q, qd)
    exact = [float(x) for x in h(mechanism, [mpmath.mpf(float(x)) for x in q])]
    assert [row.h for row in core.rows] == pytest.approx(exact, rel=1e-13, abs=1e-14)
    assert core.jacobian == pytest.approx(derivatives(lambda x: h(mechanism, x), q), rel=1e-13, abs=1e-13)
    assert core.bias() == pytest.approx(bends(lambda x: h(mechanism, x), q, qd), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", HOLDS)
@pytest.mark.parametrize("formulation", [reduced, absolute])
def test_multipliers_are_those_of_other_formulations(
    host: HostLibrary, name: str, formulation: Callable[..., tuple[Vector, Vector]]
) -> None:
    for seed in range(3):
        mechanism, q, qd = random_mechanism(name, seed)
        core = Core(host, mechanism)
        core.at(q, qd)
        choice = core.choose()
        assert choice.rank == core.count and choice.redundant == -1
        found = core.constrained()
        args = (mechanism, q, qd, list(core.dependent)) if formulation is reduced else (mechanism, q, qd)
        for one, expected in zip(found, formulation(*args), strict=True):
            assert one == pytest.approx(expected, rel=1e-9, abs=1e-9 * float(np.abs(expected).max()))


def test_a_cam_below_the_tip_pushes_with_a_negative_multiplier(host: HostLibrary) -> None:
    """Rest on a level profile: lambda = -m g, for a body that slides upwards."""
    body = Body(-1, True, (0.0, 0.0), np.pi / 2, 2.0, 0.1, (0.0, 0.0))
    core = Core(host, Mechanism((body,), (Hold(PROFILE, 0, (0.0, 0.0), f=(0.5,)),)))
    core.at([0.5], [0.0])
    qdd, multipliers = core.constrained()
    assert qdd == pytest.approx([0.0], abs=1e-15) and multipliers == pytest.approx([-2.0 * G], rel=1e-15)


def along_profiles(mechanism: Mechanism, q: Vector) -> Vector:
    """A row for each constraint: how its point moves along T = (1, f') of its profile, as the joints move."""

    def places(x: Sequence[Any]) -> list[Any]:
        """Of each point x and y in the axes of its profile."""
        all_poses = poses(mechanism.bodies, x)
        return [
            value
            for one in mechanism.holds
            for value in profile_axes(one, all_poses[one.other], point(all_poses[one.body], one.point))
        ]

    at, slopes = [float(value) for value in places([mpmath.mpf(float(x)) for x in q])], derivatives(places, q)
    tangents = [(1.0, np.polynomial.Polynomial(one.f).deriv()(at[2 * k])) for k, one in enumerate(mechanism.holds)]
    return np.array([t[0] * slopes[2 * k] + t[1] * slopes[2 * k + 1] for k, t in enumerate(tangents)])


@pytest.mark.parametrize("pulls", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_friction_goes_with_the_normal_force_that_it_makes(host: HostLibrary, seed: int, pulls: bool) -> None:
    """M qdd + F + (J - K J_T)^T lambda = 0 and J qdd + bias = 0, two contacts, one on a cam that moves; kappa has the
    sign of the normal force.  The margin of all is det(J M^-1 (J - K J_T)^T) / det(J M^-1 J^T)."""
    rng = np.random.default_rng(seed)
    holds = (*HOLDS["ground profile"], Hold(PROFILE, 2, (0.2, 0.1), 0, (0.1, -0.2), f=(0.2, 0.4, -0.3), turned=1.9))
    mechanism = Mechanism(random_tree(rng, 4), holds)
    q, qd = rng.uniform(-1.0, 1.0, 4), rng.uniform(-2.0, 2.0, 4)
    shares, sides = rng.uniform(-0.1, 0.1, 2), (1.0, -1.0)
    core = Core(host, mechanism)
    core.at(q, qd)
    friction, (qdd, multipliers, margin) = core.rubbed(shares, sides, pulls)
    M, F = dense(mechanism, q, qd)
    J, J_T = derivatives(lambda x: h(mechanism, x), q), along_profiles(mechanism, q)
    kappa = np.array([one.kappa for one in friction])
    rough = J - kappa[:, None] * J_T
    scale = float(np.abs(multipliers).max())
    assert M @ qdd + F + rough.T @ multipliers == pytest.approx(np.zeros(4), abs=1e-11 * scale)
    assert J @ qdd + bends(lambda x: h(mechanism, x), q, qd) == pytest.approx(np.zeros(2), abs=1e-11 * scale)
    N = -np.array(sides) * multipliers
    assert kappa == pytest.approx(np.array(sides) * shares * (np.sign(N) if pulls else 1.0), rel=1e-15)
    A, A_rough = J @ np.linalg.solve(M, J.T), J @ np.linalg.solve(M, rough.T)
    assert margin == pytest.approx(np.linalg.det(A_rough) / np.linalg.det(A), rel=1e-10)
    for k, one in enumerate(friction):
        alone = J @ np.linalg.solve(M, (J - np.diag(kappa * (np.arange(2) == k)) @ J_T).T)
        expected = np.linalg.det(alone) / np.linalg.det(A)
        assert one.margin == pytest.approx(min(expected, 2.0 - expected) if pulls else expected, rel=1e-10)


@pytest.mark.parametrize("f", [CONCAVE, CONVEX])
def test_the_chain_closes_on_its_cam_from_a_near_start(host: HostLibrary, f: tuple[float, ...]) -> None:
    """Dependent coordinates to the correction that ends the search, then rates.  The springs pull as at the start."""
    closed = 1.1315545342412676 if f == CONCAVE else 1.0084223399550145
    core = Core(host, lipinski(f))
    core.dependent[0] = 0
    left, q, qd = core.close([closed + 0.05, -1.2, 0.0, -0.6], [9.0, 1.0, -0.5, 0.3])
    assert left <= 1e-13 and q[0] == pytest.approx(closed, abs=1.1e-13) and list(q[1:]) == [-1.2, 0.0, -0.6]
    assert abs(core.rows[0].h) < 1e-13 and abs(core.jacobian @ qd) < 1e-14 and list(qd[1:]) == [1.0, -0.5, 0.3]
    core.at(q, np.zeros(4))
    first = -0.518234773 if f == CONCAVE else -17.012951525
    assert core.constrained([0.0, 15.0 * 1.2, 0.0, 18.0 * 0.6])[1] == pytest.approx([-first], abs=1e-9)


def test_dependent_coordinates_are_those_with_the_largest_pivots(host: HostLibrary) -> None:
    core = Core(host, lipinski(CONCAVE))
    core.at([0.3, -0.4, 0.1, 0.2], [0.0] * 4)
    sizes = np.abs(core.jacobian[0]) / np.sqrt([move.D for move in core.moves])
    choice = core.choose()
    assert core.dependent[0] == int(np.argmax(sizes)) and choice.product == pytest.approx(sizes.max(), rel=1e-14)
    best = core.lib.cc_factor_dependent(4, 1, core.J, core.moves, core.dependent, core.A, core.pivots)
    assert best == pytest.approx(choice.product, rel=1e-14)
    core.dependent[0] = int(np.argmin(sizes))
    worst = core.lib.cc_factor_dependent(4, 1, core.J, core.moves, core.dependent, core.A, core.pivots)
    assert worst == pytest.approx(sizes.min(), rel=1e-14)


def test_dependent_coordinates_are_listed_in_the_order_of_the_joints(host: HostLibrary) -> None:
    """Whichever has the largest pivot."""
    first_pivots = set()
    for seed in range(8):
        mechanism, q, _ = random_mechanism("pin", seed)
        core = Core(host, mechanism)
        core.at(q, [0.0] * 4)
        sizes = np.abs(core.jacobian) / np.sqrt([move.D for move in core.moves])
        choice, chosen = core.choose(), list(core.dependent)
        assert choice.rank == 2 and chosen[0] < chosen[1]
        first_pivots.add(chosen.index(int(sizes.max(axis=0).argmax())))
    assert 1 in first_pivots


@pytest.mark.parametrize("columns", [(0, 3), (3, 0), (3, 2)])
def test_the_size_of_a_choice_of_two_is_the_determinant_of_their_columns(
    host: HostLibrary, columns: tuple[int, int]
) -> None:
    mechanism, q, _ = random_mechanism("pin", 1)
    core = Core(host, mechanism)
    core.at(q, [0.0] * 4)
    core.dependent[0], core.dependent[1] = columns
    size = core.lib.cc_factor_dependent(4, 2, core.J, core.moves, core.dependent, core.A, core.pivots)
    scale = np.sqrt(np.prod([core.moves[i].D for i in columns]))
    wanted = abs(np.linalg.det(core.jacobian[:, columns])) / scale
    assert wanted > 1e-3
    assert size == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("rows", [[[0.0, 2.0], [0.0, 3.0]], [[2.0, 1.0, 4.0], [4.0, 2.0, 1.0], [1.0, 0.5, 7.0]]])
def test_a_singular_matrix_has_the_determinant_0(host: HostLibrary, rows: list[list[float]]) -> None:
    n = len(rows)
    A, b = host.ffi.new("double[]", np.ravel(rows).tolist()), host.ffi.new("double[]", [1.0] * n)
    pivots = host.ffi.new("int[]", n)
    assert host.lib.cc_factor(n, A, pivots) == 0.0
    host.lib.cc_factor_solve(n, A, pivots, b)
    assert not np.isfinite(list(b)).all()


def test_what_lies_behind_a_matrix_takes_no_part(host: HostLibrary) -> None:
    A, pivots = host.ffi.new("double[]", [1.0, 3.0, 2.0, 1.0, 1e9, 1e9]), host.ffi.new("int[]", 2)
    assert host.lib.cc_factor(2, A, pivots) == pytest.approx(-5.0, rel=1e-15)
    assert list(A)[4:] == [1e9, 1e9] and list(pivots) == [1, 1]


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_what_is_left_of_a_constraint_is_a_ratio_of_leading_minors(host: HostLibrary, size: float) -> None:
    """Of the third, which is the sum of the two before it, nothing is left; at any size of the matrix."""
    rng = np.random.default_rng(3)
    rows = rng.uniform(-1.0, 1.0, (4, 5))
    rows[2] = rows[0] + rows[1]
    A = size * rows @ rows.T
    left = host.ffi.new("double[]", 4)
    host.lib.cc_remainders(4, list(A.ravel()), left)
    wanted = [A[0, 0], np.linalg.det(A[:2, :2]) / A[0, 0]]
    assert [left[0], left[1]] == pytest.approx(wanted, rel=1e-12)
    assert 0.0 <= left[2] < 1e-14 * size


def test_a_point_of_a_body_that_is_turned_faster_accelerates_along_its_way(host: HostLibrary) -> None:
    """v = v_0 + w x d, a = a_0 + alpha x d - w^2 d."""
    lib, ffi = host.lib, host.ffi
    moves = ffi.new("CcMove[]", 1)
    moves[0].r, moves[0].v, moves[0].a = [0.5, -0.25], [1.0, 2.0], [-3.0, 4.0]
    moves[0].w, moves[0].alpha = 1.5, 7.0
    v, a = ffi.new("double[2]"), ffi.new("double[2]")
    lib.cc_point_motion(moves, 0, [1.5, 0.25], v, a)
    assert list(v) == [1.0 - 1.5 * 0.5, 2.0 + 1.5 * 1.0]
    assert list(a) == [-3.0 - 7.0 * 0.5 - 1.5**2 * 1.0, 4.0 + 7.0 * 1.0 - 1.5**2 * 0.5]


def test_a_constraint_that_says_nothing_new_is_found(host: HostLibrary) -> None:
    mechanism, q, _ = random_mechanism("pin", 1)
    twice = Mechanism(mechanism.bodies, (*mechanism.holds, mechanism.holds[0]))
    core = Core(host, twice)
    core.at(q, [0.0] * 4)
    choice = core.choose()
    assert choice.rank == 2 and choice.redundant in (0, 2)


def test_an_unreachable_profile_ends_without_a_number(host: HostLibrary) -> None:
    core = Core(host, lipinski((5.0,)))
    core.dependent[0] = 0
    assert core.close([0.3, -0.4, 0.1, 0.2], [0.0] * 4)[0] == np.inf


# ---- splines of profiles ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("s", [-0.7, 0.2, 1.1, 2.5, 3.1])
def test_an_open_curve_continues_straight_beyond_its_ends(host: HostLibrary, s: float) -> None:
    """Between s = 0.2 and 2.5 the ellipse, beyond these its tangents."""
    ffi = host.ffi
    core = Core(host, random_mechanism("curve of a body", 0)[0])
    curve = core.holds[0].curve
    setattr(curve, "from", 0.2)
    curve.to, curve.closed = 2.5, 0
    values = ffi.new("double[]", [7.0] * 10)
    host.lib.cc_curve_at(ffi.addressof(curve), s, values + 2)
    inside, (a, b) = min(max(s, 0.2), 2.5), AXES
    way, is_beyond = s - inside, s != inside
    x, x_s, y, y_s = a * np.cos(inside), -a * np.sin(inside), b * np.sin(inside), b * np.cos(inside)
    expected = [x + way * x_s, x_s, 0.0 if is_beyond else -x, y + way * y_s, y_s, 0.0 if is_beyond else -y]
    assert list(values)[2:8] == pytest.approx(expected, abs=1e-15)
    assert list(values)[:2] == list(values)[8:] == [7.0, 7.0]


def test_a_spline_has_the_value_and_the_derivatives_of_its_polynomials(host: HostLibrary) -> None:
    """Against scipy, on the intervals and beyond the outer knots; its side turns at the inner knots alone."""
    rng = np.random.default_rng(2)
    knots = np.cumsum(rng.uniform(0.2, 1.0, 7))
    cubic = CubicSpline(knots, rng.normal(size=7))
    held, c = host.ffi.new("double[]", knots.tolist()), host.ffi.new("double[]", cubic.c[::-1].T.ravel().tolist())
    values = host.ffi.new("double[3]")
    for s in np.linspace(knots[0] - 0.1, knots[-1] + 0.1, 200):
        host.lib.cc_spline(held, c, 7, s, values)
        assert list(values) == pytest.approx([float(cubic(s, k)) for k in range(3)], rel=1e-12, abs=1e-12)
    sides = [math.copysign(1.0, host.lib.cc_spline_side(held, 7, s)) for s in 0.5 * (knots[:-1] + knots[1:])]
    assert sides == [(-1.0) ** k for k in range(6)]
    assert [host.lib.cc_spline_side(held, 7, s) for s in knots[1:-1]] == [0.0] * 5


# ---- dual numbers ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dual(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return load_c("mechanism.c", tmp_path_factory.mktemp("dual"))


class DualBody(ctypes.Structure):
    _fields_ = (
        ("parent", ctypes.c_int), ("slides", ctypes.c_int), ("driven", ctypes.c_int),
        ("drive", ctypes.c_double * 2), ("values", ctypes.c_double * 14),
    )  # fmt: skip


class DualConstraint(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_int), ("body", ctypes.c_int), ("other", ctypes.c_int), ("degree", ctypes.c_int),
        ("values", ctypes.c_double * 14), ("f", ctypes.POINTER(ctypes.c_double)),
        ("curve", ctypes.c_void_p * 2), ("numbers", ctypes.c_int * 3), ("ends", ctypes.c_double * 3),
    )  # fmt: skip


def duals(values: Sequence[float]) -> list[float]:
    return [part for value in values for part in (value, 0.0)]


@pytest.mark.parametrize("name", ["pin", "profile of a body"])
def test_derivatives_follow_the_constraint(host: HostLibrary, dual: ctypes.CDLL, name: str) -> None:
    """dual numbers through Newton's method against central differences: of the dependent coordinates as well, and none
    by the value that a dependent coordinate begins with."""
    step, checked = 1e-180, 0
    for seed in range(4):
        mechanism, q, qd = random_mechanism(name, seed)
        core = Core(host, mechanism)
        core.at(q, qd)
        core.choose()
        left, q, qd = core.close(q, qd)
        if not left <= 1e-12:
            continue
        checked += 1
        bodies = (DualBody * 4)(
            *(
                DualBody(
                    b.parent,
                    b.slides,
                    False,
                    (0.0, 0.0),
                    (ctypes.c_double * 14)(*duals([*b.place, b.angle, b.mass, b.inertia, *b.centre])),
                )
                for b in mechanism.bodies
            )
        )
        tables = [(ctypes.c_double * 20)(*duals(one.f)) for one in mechanism.holds]
        holds = (DualConstraint * 2)(
            *(
                DualConstraint(one.kind, one.body, one.other, max(len(one.f) - 1, 0),
                               (ctypes.c_double * 14)(*duals([*one.point, *one.base, *axis(one), one.length])), table)
                for one, table in zip(mechanism.holds, tables, strict=True)
            )
        )  # fmt: skip
        dependent = (ctypes.c_int * 2)(*list(core.dependent))

        def values(x: Vector, v: Vector, core: Core = core) -> Vector:
            _, x, v = core.close(x, v)
            return np.concatenate([x, v, *core.constrained()])

        for place in range(8):
            start = np.concatenate([q, qd])
            given = (ctypes.c_double * 16)(*duals(list(start)))
            given[2 * place + 1] = step
            out = (ctypes.c_double * 64)()
            dual.accelerations(4, bodies, core.count, holds, dependent, ctypes.c_double(G), given, out)
            found = np.array(out).reshape(-1, 2)[: 12 + core.count]
            h_, unit = 1e-4, np.eye(8)[place]
            near = [values(*np.split(start + s * h_ * unit, 2)) for s in (-2, -1, 1, 2)]
            central = (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * h_)
            assert found[:, 0] == pytest.approx(values(q, qd), rel=1e-9, abs=1e-9)
            scale = float(np.abs(central).max())
            assert found[:, 1] / step == pytest.approx(central, rel=1e-6, abs=1e-7 * max(scale, 1.0))
            if place % 4 in list(core.dependent):
                assert np.abs(found[:, 1] / step).max() < 1e-9
    assert checked
