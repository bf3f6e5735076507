"""Sphere, cylinder, cone, torus, disc and profiles: closest points against independent computations.

Round surfaces: their parametrization, a grid of starts, and the stationary point to 40 digits by mpmath.  Profiles: all
roots of every span by the eigenvalues of the companion matrix."""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from fmu_builder.export.host import HostLibrary
from tests.contact_core.hosted import load_c

Vector = NDArray[np.float64]
Z = (-0.4, 0.9)  # m
EPS = 2.0**-52
NOWHERE = (0.0, 0.0, 0.0)  # no last closest point


@dataclass(frozen=True)
class Foot:
    depth: float
    normal: Vector
    point: Vector
    edge: tuple[float, float]
    on: int
    singular: int


@dataclass(frozen=True)
class Round:
    """A surface with a parametrization `at(m, u, v)`, m = numpy or mpmath, and `within`, > 0 inside."""

    number: int  # in surfaces.c
    arguments: tuple[Any, ...]  # before `side`
    size: float  # m
    at: Callable[[Any, Any, Any], tuple[Any, Any, Any]]
    u: tuple[float, float]
    v: tuple[float, float]
    within: Callable[[Any, Any, Any, Any], Any]
    singular: Callable[[Vector], float]  # distance to the nearest singular point, m


R, TUBE, ANGLE = 0.7, 0.25, 0.6
COS, SIN = math.cos(ANGLE), math.sin(ANGLE)
FULL = (-math.pi, math.pi)
HEIGHTS = (0.0, 5.0)  # of the cone, m

ROUND = {
    "sphere": Round(
        0, (R,), R,
        lambda m, u, v: (R * m.cos(v) * m.cos(u), R * m.cos(v) * m.sin(u), R * m.sin(v)),
        FULL, (-1.5, 1.5), lambda m, x, y, z: R - m.sqrt(x * x + y * y + z * z), lambda P: float(np.linalg.norm(P)),
    ),
    "cylinder": Round(
        1, (R, Z), R,
        lambda m, u, v: (R * m.cos(u), R * m.sin(u), v),
        FULL, (-3.0, 3.0), lambda m, x, y, z: R - m.sqrt(x * x + y * y), lambda P: math.hypot(P[0], P[1]),
    ),
    "cone": Round(
        2, ((COS, SIN), HEIGHTS), 1.0,
        lambda m, u, v: (v * SIN * m.cos(u), v * SIN * m.sin(u), v * COS),
        FULL, (1e-3, 4.0), lambda m, x, y, z: SIN * z - COS * m.sqrt(x * x + y * y),
        lambda P: min(math.hypot(P[0], P[1]), float(np.linalg.norm(P))),
    ),
    "torus": Round(
        3, (R, TUBE), R,
        lambda m, u, v: ((R + TUBE * m.cos(v)) * m.cos(u), (R + TUBE * m.cos(v)) * m.sin(u), TUBE * m.sin(v)),
        FULL, FULL, lambda m, x, y, z: TUBE**2 - (m.sqrt(x * x + y * y) - R) ** 2 - z * z,
        lambda P: min(math.hypot(P[0], P[1]), math.hypot(math.hypot(P[0], P[1]) - R, P[2])),
    ),
}  # fmt: skip
NAMES = sorted(ROUND)


def foot_of(
    host: HostLibrary, name: str, P: Sequence[float], side: float = 1.0, last: Sequence[float] = NOWHERE
) -> Foot:
    out = host.ffi.new("CcFoot *")
    getattr(host.lib, f"cc_{name}")(*ROUND[name].arguments, side, list(P), list(last), out)
    return as_foot(out)


def as_foot(out: Any) -> Foot:
    return Foot(out.depth, np.array(list(out.normal)), np.array(list(out.point)), tuple(out.edge), out.on, out.singular)


# --- round surfaces ---------------------------------------------------------------------------------------------------


def independent(surface: Round, P: Vector) -> tuple[mpmath.mpf, Vector, Vector]:
    """Depth, normal and closest point from outside, of the surface without edges."""
    u, v = (np.linspace(*limits, 161) for limits in (surface.u, surface.v))
    grid = np.meshgrid(u, v)
    squares = sum((x - p) ** 2 for x, p in zip(surface.at(np, *grid), P, strict=True))
    best = np.unravel_index(np.argmin(squares), squares.shape)
    start = grid[0][best], grid[1][best]

    def half_square(u, v):
        return sum((x - mpmath.mpf(p)) ** 2 for x, p in zip(surface.at(mpmath, u, v), P, strict=True)) / 2

    with mpmath.workdps(40):
        u, v = (mpmath.mpf(float(x)) for x in start)
        for _ in range(12):
            slope = [mpmath.diff(half_square, (u, v), order) for order in ((1, 0), (0, 1))]
            uu, uv, vv = (mpmath.diff(half_square, (u, v), order) for order in ((2, 0), (1, 1), (0, 2)))
            step = mpmath.lu_solve(mpmath.matrix([[uu, uv], [uv, vv]]), mpmath.matrix(slope))
            u, v = u - step[0], v - step[1]
            if mpmath.norm(step) < 1e-18:
                break
        else:
            raise AssertionError(f"the reference did not converge at {P}")
        Q = surface.at(mpmath, u, v)
        a, b = (
            [mpmath.diff(lambda u, v, i=i: surface.at(mpmath, u, v)[i], (u, v), order) for i in range(3)]
            for order in ((1, 0), (0, 1))
        )
        n = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        length = mpmath.sqrt(mpmath.fdot(n, n))
        n = [x / length for x in n]
        outside = [q + x / 1000 for q, x in zip(Q, n, strict=True)]
        if surface.within(mpmath, *outside) > 0:
            n = [-x for x in n]
        depth = mpmath.fdot([q - mpmath.mpf(p) for q, p in zip(Q, P, strict=True)], n)
        return depth, np.array([float(x) for x in n]), np.array([float(q) for q in Q])


def scattered(name: str, count: int) -> list[Vector]:
    """Points around the surface, and some that come close to it and to its singular points."""
    source = np.random.default_rng(11)
    surface = ROUND[name]
    points = []
    for k in range(count):
        P = source.normal(size=3) * 0.6
        if name == "cone":  # the grid has no apex: that is a case of its own
            P[2] = abs(P[2]) + 1.2 * math.hypot(P[0], P[1])
        if k % 3 == 1:
            P = independent(surface, P)[2] + source.normal(size=3) * 1e-9
        elif k % 3 == 2:
            P[:2] *= 1e-5
            if name in ("sphere", "torus"):
                P *= 1e-4 if name == "sphere" else 1.0
        points.append(P)
    if name == "torus":
        points += [np.array([R + 1e-7, 2e-7, 3e-8]), np.array([-2e-7, R - 1e-7, 1e-7])]
    return points


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_depth_normal_and_closest_point_are_those_of_the_parametrization(host: HostLibrary, name: str) -> None:
    surface = ROUND[name]
    for P in scattered(name, 18):
        depth, normal, point = independent(surface, P)
        foot = foot_of(host, name, P)
        scale = float(np.linalg.norm(P)) + surface.size
        assert not foot.singular
        assert abs(mpmath.mpf(foot.depth) - depth) <= 4 * EPS * scale, P
        # what rounding of a distance R - R' leaves of a direction grows towards the singular points
        blur = 4 * EPS * (1.0 + scale / surface.singular(P))
        np.testing.assert_allclose(foot.normal, normal, rtol=0.0, atol=blur, err_msg=str(P))
        np.testing.assert_allclose(foot.point, point, rtol=0.0, atol=blur * scale, err_msg=str(P))


@pytest.mark.parametrize("name", NAMES)
def test_the_sign_of_the_depth_is_that_of_the_implicit_equation(host: HostLibrary, name: str) -> None:
    for P in np.random.default_rng(5).normal(size=(2000, 3)) * 0.8:
        assert (foot_of(host, name, P).depth > 0.0) == (ROUND[name].within(math, *P) > 0.0), P


@pytest.mark.parametrize("name", NAMES)
def test_the_inner_side_turns_depth_and_normal_and_nothing_else(host: HostLibrary, name: str) -> None:
    for P in np.random.default_rng(6).normal(size=(300, 3)):
        outer, inner = foot_of(host, name, P), foot_of(host, name, P, side=-1.0)
        assert inner.depth == -outer.depth
        assert (inner.normal == -outer.normal).all()
        assert (inner.point == outer.point).all()
        assert (inner.on, inner.singular) == (outer.on, outer.singular)


coordinates = st.floats(-1e100, 1e100)


@pytest.mark.parametrize("name", NAMES)
@given(P=st.tuples(coordinates, coordinates, coordinates), last=st.tuples(coordinates, coordinates, coordinates))
def test_every_point_has_a_finite_foot_and_a_unit_normal(host: HostLibrary, name: str, P, last) -> None:
    foot = foot_of(host, name, P, last=last)
    assert math.isfinite(foot.depth)
    assert np.isfinite(foot.point).all()
    assert np.linalg.norm(foot.normal) == pytest.approx(1.0, abs=1e-14)


def test_the_cone_ends_in_its_apex(host: HostLibrary) -> None:
    """Behind the apex it is the closest point; depth and normal go on without a step from the flank."""
    P = np.array([0.1, -0.2, -0.9])
    foot = foot_of(host, "cone", P)
    assert foot.depth == -np.linalg.norm(P)
    assert (foot.point == 0.0).all()
    np.testing.assert_allclose(foot.normal, P / np.linalg.norm(P), rtol=0.0, atol=EPS)
    assert not foot.singular
    border = np.array([0.6 * COS, 0.8 * COS, -SIN])  # perpendicular to the generator through the apex
    flank, apex = (foot_of(host, "cone", border + np.array([0.0, 0.0, dz])) for dz in (1e-9, -1e-9))
    assert (flank.point[2] > 0.0) and (apex.point[2] == 0.0)
    assert flank.depth == pytest.approx(apex.depth, abs=3e-9)
    np.testing.assert_allclose(flank.normal, apex.normal, rtol=0.0, atol=3e-9)


# --- singular points --------------------------------------------------------------------------------------------------

SINGULAR = [
    ("sphere", (0.0, 0.0, 0.0), (0.0, 0.6, 0.8), (0.0, 0.6, 0.8), R),
    ("sphere", (0.0, 0.0, 0.0), NOWHERE, (1.0, 0.0, 0.0), R),
    ("cylinder", (0.0, 0.0, 0.3), (-0.6, 0.8, 0.1), (-0.6, 0.8, 0.0), R),
    ("cylinder", (0.0, 0.0, 0.3), NOWHERE, (1.0, 0.0, 0.0), R),
    ("cone", (0.0, 0.0, 0.5), (0.0, -2.0, 1.0), (0.0, -COS, -SIN), 0.5 * SIN),
    ("cone", (0.0, 0.0, 0.0), (0.0, -2.0, 1.0), (0.0, -COS, -SIN), 0.0),
    ("torus", (0.0, R, 0.0), (0.0, R - 0.6 * TUBE, 0.8 * TUBE), (0.0, -0.6, 0.8), TUBE),
    ("torus", (0.0, 0.0, 0.0), (0.0, R - TUBE, 0.0), (0.0, -1.0, 0.0), TUBE - R),
]


@pytest.mark.parametrize(("name", "P", "last", "normal", "depth"), SINGULAR)
def test_at_a_singular_point_the_last_normal_is_kept(host: HostLibrary, name: str, P, last, normal, depth) -> None:
    foot = foot_of(host, name, P, last=last)
    assert foot.singular
    np.testing.assert_allclose(foot.normal, normal, rtol=0.0, atol=2 * EPS)
    assert foot.depth == pytest.approx(depth, abs=EPS)
    assert foot.depth == pytest.approx(np.dot(foot.point - P, foot.normal), abs=2 * EPS)


@pytest.mark.parametrize(("name", "P", "last"), [case[:3] for case in SINGULAR])
def test_only_what_rounding_leaves_open_is_singular(host: HostLibrary, name: str, P, last) -> None:
    near = np.array(P) + np.array([3e-14, 2e-14, 0.0])
    assert not foot_of(host, name, near, last=last).singular
    assert foot_of(host, name, np.array(P) + 1e-17, last=last).singular


# --- drawn parts ------------------------------------------------------------------------------------------------------


def test_the_cylinder_ends_at_its_edges_and_its_depth_does_not(host: HostLibrary) -> None:
    for z, on in [
        (Z[0], 1), (Z[1], 1), (math.nextafter(Z[0], -1), 0), (math.nextafter(Z[1], 2), 0), (3.0, 0), (0.2, 1)
    ]:  # fmt: skip
        foot = foot_of(host, "cylinder", (0.5, 0.0, z))
        assert foot.on == on
        assert foot.depth == R - 0.5


def test_the_cone_is_drawn_where_the_closest_point_and_not_the_point_lies_between_its_heights(
    host: HostLibrary,
) -> None:
    for height, on in [(0.199, 0), (0.201, 1), (0.899, 1), (0.901, 0)]:
        Q = np.array([height * SIN / COS, 0.0, height])
        P = Q - 0.05 * np.array([COS, 0.0, -SIN])
        out = host.ffi.new("CcFoot *")
        host.lib.cc_cone((COS, SIN), (0.2, 0.9), 1.0, list(P), list(NOWHERE), out)
        assert out.on == on, height
        assert out.depth == pytest.approx(0.05, abs=1e-15)


def test_the_apex_is_drawn_if_the_cone_begins_there(host: HostLibrary) -> None:
    out = host.ffi.new("CcFoot *")
    for begin, on in ((0.0, 1), (1e-9, 0)):
        host.lib.cc_cone((COS, SIN), (begin, 0.9), -1.0, [0.0, 0.01, -0.1], list(NOWHERE), out)
        assert out.on == on
        assert out.depth > 0.1


def test_the_disc_is_a_plane_with_a_round_edge(host: HostLibrary) -> None:
    inside = host.ffi.new("double *")
    for P, way in [((0.3, 0.4, -0.02), 0.0), ((0.0, 0.0, 1.0), 0.5), ((3.0, 4.0, 0.0), -4.5)]:
        assert host.lib.cc_disc(0.5, P, inside) == -P[2]
        assert inside[0] == way


# --- profiles ---------------------------------------------------------------------------------------------------------

CLOSED, CORNERS, AXIS_FROM, AXIS_TO = 1, 2, 4, 8


@dataclass(frozen=True)
class Profile:
    coefficients: NDArray[np.float64]  # (spans, 2, 4), lowest power first
    kind: int

    def spans(self, host: HostLibrary) -> Any:
        out = host.ffi.new("CcSpan[]", len(self.coefficients))
        for s, c in zip(out, self.coefficients, strict=True):
            s.p, s.q = list(c[0]), list(c[1])
            control = bezier(c)
            s.box = [*control.min(axis=1), *control.max(axis=1)]
        return out

    def at(self, span: int, u: float, order: int = 0) -> Vector:
        return np.array([np.polynomial.Polynomial(c).deriv(order)(u) for c in self.coefficients[span]])


def bezier(c: NDArray[np.float64]) -> NDArray[np.float64]:
    """Control points (2, 4) of a span."""
    a, b, d, e = c.T
    return np.array([a, a + b / 3, a + 2 * b / 3 + d / 3, a + b + d + e]).T


def spline(points: NDArray[np.float64], closed: bool) -> Profile:
    curve = CubicSpline(np.arange(len(points)), points, bc_type="periodic" if closed else "not-a-knot")
    return Profile(np.transpose(curve.c[::-1], (1, 2, 0)).copy(), CLOSED if closed else 0)


def polyline(points: NDArray[np.float64], closed: bool) -> Profile:
    out = np.zeros((len(points) - 1, 2, 4))
    out[:, :, 0] = points[:-1]
    out[:, :, 1] = np.diff(points, axis=0)
    return Profile(out, CORNERS | (CLOSED if closed else 0))


def star(source: np.random.Generator, corners: int) -> NDArray[np.float64]:
    """A closed curve round the origin that does not cross itself, counterclockwise; first point = last."""
    angle = np.linspace(0.0, 2 * math.pi, corners, endpoint=False)
    radius = source.uniform(0.6, 1.4, corners)
    points = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return np.vstack([points, points[:1]])


def profiles() -> list[Profile]:
    source = np.random.default_rng(8)
    found = []
    for corners in (3, 4, 7, 12):
        found += [spline(star(source, corners), True), polyline(star(source, corners), True)]
        wave = np.column_stack([np.linspace(-1.0, 1.0, corners + 1), source.uniform(-0.5, 0.5, corners + 1)])
        found += [spline(wave, False), polyline(wave, False)]
    return found


def section(host: HostLibrary, profile: Profile, P: Sequence[float]) -> Any:
    out = host.ffi.new("CcProfileFoot *")
    host.lib.cc_profile(profile.spans(host), len(profile.coefficients), profile.kind, list(P), out)
    return out


def nearest(profile: Profile, P: Vector) -> tuple[float, Vector, bool, float]:
    """Distance to what is drawn, the closest point there, whether it is an end of an open profile, and how much
    farther the next minimum is."""
    found = []
    last = len(profile.coefficients) - 1
    for k, c in enumerate(profile.coefficients):
        x, y = (np.polynomial.Polynomial(c[i]) - P[i] for i in range(2))
        derivative = (x * x.deriv() + y * y.deriv()).trim()  # of half the square of the distance
        slope_of = derivative.deriv()
        roots = derivative.roots()
        inner = roots.real[(np.abs(roots.imag) < 1e-4) & (roots.real > 0.0) & (roots.real < 1.0)]
        for u in [0.0, *inner, 1.0]:
            for _ in range(3 if 0.0 < u < 1.0 else 0):  # eigenvalues are good to half the digits where two are close
                slope = slope_of(u)
                u = min(max(u - derivative(u) / slope, 0.0), 1.0) if slope else u
            Q = profile.at(k, u)
            end = not profile.kind & CLOSED and ((k == 0 and u == 0.0) or (k == last and u == 1.0))
            found.append((float(np.linalg.norm(Q - P)), tuple(Q), end))
    found.sort()
    distance, Q, end = found[0]
    others = [d for d, other, _ in found if np.linalg.norm(np.subtract(other, Q)) > 1e-5]
    return distance, np.array(Q), end, min(others, default=math.inf) - distance


def beyond(profile: Profile, P: Vector) -> bool:
    """Whether P lies beyond an end of an open profile, seen along its direction there."""
    first, last = 0, len(profile.coefficients) - 1
    before = np.dot(P - profile.at(first, 0.0), profile.at(first, 0.0, 1)) < 0.0
    behind = np.dot(P - profile.at(last, 1.0), profile.at(last, 1.0, 1)) > 0.0
    start = np.linalg.norm(P - profile.at(first, 0.0)) < np.linalg.norm(P - profile.at(last, 1.0))
    return bool(before if start else behind)


@pytest.mark.parametrize("profile", profiles())
def test_the_closest_point_of_a_profile_is_the_best_of_all_roots(host: HostLibrary, profile: Profile) -> None:
    source = np.random.default_rng(len(profile.coefficients))
    for P in source.normal(size=(60, 2)) * 0.9:
        distance, Q, end, gap = nearest(profile, P)
        foot = section(host, profile, P)
        if end and beyond(profile, P):
            assert not foot.on
            assert min(foot.edge) < 0.0
            assert abs(foot.depth) <= distance
            continue
        assert foot.on
        assert abs(foot.depth) == pytest.approx(distance, abs=1e-13)
        if gap > 1e-9:
            np.testing.assert_allclose(list(foot.point), Q, rtol=0.0, atol=1e-12)
        out = np.array(list(foot.normal))
        assert np.linalg.norm(out) == pytest.approx(1.0, abs=4 * EPS)
        np.testing.assert_allclose(P + foot.depth * out, list(foot.point), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("profile", [p for p in profiles() if p.kind & CLOSED])
def test_the_material_of_a_counterclockwise_profile_is_inside(host: HostLibrary, profile: Profile) -> None:
    u = np.linspace(0.0, 1.0, 200, endpoint=False)
    outline = np.vstack([np.array([np.polynomial.Polynomial(c)(u) for c in s]).T for s in profile.coefficients])
    for P in np.random.default_rng(3).normal(size=(150, 2)) * 0.8:
        to = outline - P
        angle = np.arctan2(to[:, 1], to[:, 0])
        turns = np.sum((np.diff(angle, append=angle[0]) + math.pi) % (2 * math.pi) - math.pi) / (2 * math.pi)
        foot = section(host, profile, P)
        if abs(foot.depth) > 1e-3:  # the outline is sampled
            assert (foot.depth > 0.0) == (round(turns) == 1), P


def test_a_circle_of_splines_near_its_centre_finds_the_closest_of_many_minima(host: HostLibrary) -> None:
    angle = np.linspace(0.0, 2 * math.pi, 17)
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    points[-1] = points[0]
    circle = spline(points, True)
    away = np.tile([[1e-3], [1e-5], [1e-7], [1e-12]], (10, 1))
    for P in np.random.default_rng(4).normal(size=(40, 2)) * away:
        distance = nearest(circle, P)[0]
        assert section(host, circle, P).depth == pytest.approx(distance, abs=1e-13)


@pytest.mark.parametrize(("multiplicity", "error"), [(1, 4 * EPS), (3, 1e-5), (5, 2e-3)])
def test_a_bracketed_zero_is_found_whatever_its_slope(host: HostLibrary, multiplicity: int, error: float) -> None:
    """The zero of (u - z)^m is known to the m-th root of rounding; Newton's method alone divides by nothing there."""
    for zero in (1e-9, 0.25, 1 / 3, 0.5, 0.75, 1 - 1e-9):
        f = np.polynomial.Polynomial.fromroots([zero] * multiplicity).coef
        found = host.lib.cc_bracketed_zero([*f, *[0.0] * (6 - len(f))], 0.0, 1.0)
        assert found == pytest.approx(zero, rel=0.0, abs=error)


def test_newton_from_a_point_of_no_slope_halves_the_bracket(host: HostLibrary) -> None:
    """f = (u - 1/2)^3 - 0.01 has no slope where the search begins, and one zero."""
    f = [-0.135, 0.75, -1.5, 1.0, 0.0, 0.0]
    assert host.lib.cc_bracketed_zero(f, 0.0, 1.0) == pytest.approx(0.5 + 0.01 ** (1 / 3), abs=4 * EPS)


def test_an_end_on_the_axis_belongs_to_a_revolution(host: HostLibrary) -> None:
    """A cone turned from a straight line: the same feet as those of the cone, apex included."""
    tip = Profile(np.array([[[0.0, 3.0 * SIN, 0.0, 0.0], [0.0, 3.0 * COS, 0.0, 0.0]]]), CORNERS | AXIS_FROM)
    out = host.ffi.new("CcFoot *")
    for P in np.random.default_rng(9).normal(size=(300, 3)) * 0.5:
        cone = foot_of(host, "cone", P)
        host.lib.cc_revolution(tip.spans(host), 1, tip.kind, 1.0, list(P), list(NOWHERE), out)
        foot = as_foot(out)
        assert foot.on
        assert foot.depth == pytest.approx(cone.depth, abs=1e-15)
        np.testing.assert_allclose(foot.normal, cone.normal, rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(foot.point, cone.point, rtol=0.0, atol=1e-15)


def test_a_revolution_keeps_the_direction_of_the_last_point_on_its_axis(host: HostLibrary) -> None:
    wall = Profile(np.array([[[R, 0.0, 0.0, 0.0], [-1.0, 2.0, 0.0, 0.0]]]), CORNERS)
    out = host.ffi.new("CcFoot *")
    host.lib.cc_revolution(wall.spans(host), 1, wall.kind, 1.0, [0.0, 0.0, 0.5], [-0.3, 0.4, 0.0], out)
    foot = as_foot(out)
    assert foot.singular and foot.on
    assert foot.depth == R
    np.testing.assert_allclose(foot.normal, [-0.6, 0.8, 0.0], rtol=0.0, atol=EPS)


def test_a_centre_of_curvature_is_singular_and_finite(host: HostLibrary) -> None:
    """The parabola q = p^2/2 has the radius 1 at its vertex; travelled to -p its material lies below."""
    parabola = Profile(np.array([[[1.0, -2.0, 0.0, 0.0], [0.5, -2.0, 2.0, 0.0]]]), 0)
    foot = section(host, parabola, (0.0, 1.0))
    assert foot.singular
    assert (foot.depth, list(foot.point)) == (-1.0, [0.0, 0.0])
    assert list(foot.normal) == [0.0, 1.0]
    assert not section(host, parabola, (0.0, 0.99)).singular


def test_the_ends_of_a_profile_are_crossed_with_a_sign(host: HostLibrary) -> None:
    """Inside the way to the end, beyond it the way past it; the depth is that of the straight line going on."""
    line = Profile(np.array([[[0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]]), CORNERS)
    for x, on in [(-0.25, 0), (0.0, 1), (0.5, 1), (2.0, 1), (2.5, 0)]:
        foot = section(host, line, (x, 0.1))
        assert foot.on == on
        assert foot.depth == 0.1  # material lies to the left
        assert foot.edge[0] == (x if x < 0.0 else abs(x))
        assert foot.edge[1] == 2.0 - x


def test_a_profile_with_corners_tells_where_its_closest_point_may_jump_to_and_how_far_a_corner_is(
    host: HostLibrary,
) -> None:
    """Against all minima of the distance among points closer together than 1 mm, to their spacing; open and closed."""
    source = np.random.default_rng(5)
    jumps, at_corners = 0, 0
    for profile in (polyline(star(source, 7), True), polyline(star(source, 12)[:-1], False)):
        u, count = np.arange(1500) / 1500, len(profile.coefficients)
        pieces = [np.outer(1 - u, profile.at(k, 0.0)) + np.outer(u, profile.at(k, 1.0)) for k in range(count)]
        points = np.vstack([*pieces, profile.at(count - 1, 1.0)])
        joints = {0, len(points) - 1, *range(0, len(points), 1500)}
        for P in source.uniform(-1.0, 1.0, (200, 2)):
            distance = np.hypot(*(points - P).T)
            if profile.kind & CLOSED:
                around = np.concatenate([distance[-2:-1], distance[:-1], distance[:1]])
            else:
                around = np.concatenate([[np.inf], distance, [np.inf]])
            least = np.flatnonzero((around[1:-1] < around[:-2]) & (around[1:-1] < around[2:]))
            least = least[np.argsort(distance[least])]
            foot = section(host, profile, P)
            gap = distance[least[1]] - distance[least[0]] if len(least) > 1 else math.inf
            assert foot.gap == pytest.approx(min(gap, 1.0), abs=1e-3)
            if gap < 0.999:
                jumps += 1
                assert list(foot.rival) == pytest.approx(points[least[1]], abs=2e-3)
            if foot.on:
                corner = least[0] in joints
                at_corners += corner
                assert (foot.way < 0.0) == corner
    assert jumps > 200 and at_corners > 20


def test_the_other_half_of_a_section_through_the_axis_holds_rivals(host: HostLibrary) -> None:
    """A spindle of two cones, seen from inside and from outside: against all minima of the distance among points of
    both halves."""
    nodes = np.array([[0.0, -1.0], [0.5, 0.2], [0.0, 0.8]])
    chain = Profile(polyline(nodes, False).coefficients, CORNERS | AXIS_FROM | AXIS_TO)
    u = np.arange(1500)[:, None] / 1500
    half = np.vstack([*((1 - u) * a + u * b for a, b in itertools.pairwise(nodes)), nodes[-1:]])
    points = np.vstack([half, half[-2:0:-1] * [-1.0, 1.0]])
    at_tips, across = 0, 0
    for P in np.random.default_rng(6).uniform([1e-3, -1.5], [0.9, 1.3], (300, 2)):
        distance = np.hypot(*(points - P).T)
        least = np.flatnonzero((distance < np.roll(distance, 1)) & (distance < np.roll(distance, -1)))
        least = least[np.argsort(distance[least])]
        foot = section(host, chain, P)
        gap = distance[least[1]] - distance[least[0]] if len(least) > 1 else math.inf
        assert foot.gap == pytest.approx(min(gap, 1.0), abs=1e-3)
        at_tips += least[0] in (0, len(half) - 1)
        if gap < 0.999:
            across += points[least[1], 0] < 0.0
            assert list(foot.rival) == pytest.approx(points[least[1]], abs=2e-3)
    assert at_tips > 10 and across > 50


def test_a_chain_travelled_the_other_way_has_its_material_on_the_other_side(host: HostLibrary) -> None:
    """One end on the axis, the other free: the same feet, with depth and normal reversed."""
    nodes = np.array([[0.5, -1.0], [0.6, -0.2], [0.3, 0.1], [0.0, 0.4]])
    to_axis = Profile(polyline(nodes, False).coefficients, CORNERS | AXIS_TO)
    from_axis = Profile(polyline(nodes[::-1], False).coefficients, CORNERS | AXIS_FROM)
    off = 0
    for P in np.random.default_rng(8).uniform([1e-3, -1.5], [1.0, 1.0], (300, 2)):
        one, other = section(host, to_axis, P), section(host, from_axis, P)
        off += not one.on
        assert one.on == other.on
        assert one.depth == pytest.approx(-other.depth, abs=1e-14)
        assert list(one.point) == pytest.approx(list(other.point), abs=1e-14)
        assert list(one.normal) == pytest.approx([-n for n in other.normal], abs=1e-13)
        assert one.gap == pytest.approx(other.gap, abs=1e-13)
    assert 20 < off < 200


def test_an_extrusion_ends_at_its_heights(host: HostLibrary) -> None:
    bar = polyline(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]), True)
    out = host.ffi.new("CcFoot *")
    for z, on in [(Z[0], 1), (Z[1], 1), (math.nextafter(Z[1], 2.0), 0), (-1.0, 0)]:
        for side in (1.0, -1.0):
            host.lib.cc_extrusion(bar.spans(host), 4, bar.kind, Z, side, [0.4, 0.125, z], out)
            assert (out.on, out.depth, list(out.point)) == (on, side * 0.125, [0.4, 0.0, z])
            assert list(out.normal) == [0.0, -side, 0.0]


# --- derivatives ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dual(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return load_c("surfaces.c", tmp_path_factory.mktemp("dual"))


WAVE = spline(np.array([[0.3, -0.8], [0.7, -0.3], [0.5, 0.2], [0.9, 0.8]]), False)
BAR = polyline(np.array([[-0.6, -0.5], [0.7, -0.6], [0.6, 0.5], [-0.5, 0.6], [-0.6, -0.5]]), True)
DUAL: dict[str, tuple[int, tuple[float, ...], Profile | None]] = {
    "sphere": (0, (R, -1.0), None),
    "cylinder": (1, (R, *Z, 1.0), None),
    "cone": (2, (COS, SIN, *HEIGHTS, -1.0), None),
    "torus": (3, (R, TUBE, 1.0), None),
    "revolution": (4, (-1.0,), WAVE),
    "extrusion": (5, (*Z, 1.0), BAR),
    "spline": (5, (*Z, 1.0), spline(star(np.random.default_rng(2), 6), True)),
    "disc": (6, (R,), None),
}
STEP = 1e-180  # CC_DUAL_STEP


def feet(
    host: HostLibrary, dual: ctypes.CDLL, name: str, P: NDArray[np.complex128], last: Sequence[float] = NOWHERE
) -> NDArray[np.complex128]:
    """Depth, normal, closest point of each row; the directions without CC_DUAL_STEP."""
    number, a, profile = DUAL[name]
    arguments = np.array(a)
    out = np.zeros((len(P), 7), complex)
    points = np.ascontiguousarray(P.real + 1j * (P.imag * STEP))
    keep = np.tile(np.array(last, complex), (len(P), 1))
    spans = profile.spans(host) if profile else None
    where = int(host.ffi.cast("intptr_t", spans)) if profile else 0
    dual.feet(
        number, arguments.ctypes.data_as(ctypes.c_void_p), ctypes.c_void_p(where),
        len(profile.coefficients) if profile else 0, profile.kind if profile else 0, len(P),
        points.ctypes.data_as(ctypes.c_void_p), keep.ctypes.data_as(ctypes.c_void_p),
        out.ctypes.data_as(ctypes.c_void_p),
    )  # fmt: skip
    return out.real + 1j * (out.imag / STEP)


@pytest.mark.parametrize("name", DUAL)
def test_derivatives_are_those_of_central_differences(host: HostLibrary, dual: ctypes.CDLL, name: str) -> None:
    source = np.random.default_rng(7)
    P = source.normal(size=(400, 3)) * 0.6
    direction = source.normal(size=(400, 3))
    exact = feet(host, dual, name, P + 1j * direction).imag
    h = 1e-4
    ahead, behind, two, minus_two = (feet(host, dual, name, P + k * h * direction + 0j).real for k in (1, -1, 2, -2))
    slope = (8.0 * (ahead - behind) - (two - minus_two)) / (12.0 * h)
    rough = (ahead - behind) / (2.0 * h)
    # Where both differences agree, no corner and no jump of the closest point lies between; few points are lost.
    smooth = np.abs(slope - rough).max(axis=1) < 1e-4 * (1.0 + np.abs(slope).max(axis=1))
    assert smooth.mean() > 0.85
    np.testing.assert_allclose(exact[smooth], slope[smooth], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", [name for name in DUAL if name in ROUND])
def test_the_dual_version_has_the_same_values(host: HostLibrary, dual: ctypes.CDLL, name: str) -> None:
    P = np.random.default_rng(1).normal(size=(200, 3))
    values = feet(host, dual, name, P + 1j).real
    for row, p in zip(values, P, strict=True):
        foot = foot_of(host, name, p, side=DUAL[name][1][-1])
        np.testing.assert_allclose(row, [foot.depth, *foot.normal, *foot.point], rtol=0.0, atol=4 * EPS)


@pytest.mark.parametrize(("name", "P", "last"), [case[:3] for case in SINGULAR])
def test_derivatives_at_singular_points_are_finite_and_those_of_the_fixed_normal(
    host: HostLibrary, dual: ctypes.CDLL, name: str, P, last
) -> None:
    direction = np.array([0.3, -0.5, 0.7])
    out = feet(host, dual, name, np.array([P]) + 1j * direction, last)[0]
    assert np.isfinite(out.imag).all()
    assert out.imag[0] == pytest.approx(-np.dot(out.real[1:4], direction), abs=1e-14)
