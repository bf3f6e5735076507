"""Lines through points of bodies: foot, axes and shares of the force, against independent computations.

Splines: scipy's cubics of Hermite over the centripetal parameter, directions from parabolas.  Feet: roots by bisection
to 30 digits.  Rates: dual numbers along the motion of the bodies."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from line_reference import hermite, root_of, turns
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from fmu_builder.export.host import HostLibrary
from tests.contact_core.hosted import load_c

Vector = NDArray[np.float64]
EPS = 2.0**-52
KINDS = ("polyline", "spline")
STEP = 1e-180  # CC_DUAL_STEP


@dataclass
class Line:
    """A line as C takes it; `keep` holds the memory it points to."""

    host: HostLibrary
    points: Vector
    kind: str = "polyline"
    closed: bool = False
    bodies: Sequence[int] | None = None
    keep: list[Any] = field(default_factory=list)

    def c(self) -> Any:
        ffi = self.host.ffi
        points = ffi.new("double[]", self.points.ravel().tolist())
        bodies = ffi.new("double[]", [float(b) for b in self.bodies]) if self.bodies is not None else ffi.NULL
        line = ffi.new("CcLine *")
        following = np.roll(self.points, -1, axis=0) if self.closed else self.points[1:]
        spacing = float(np.linalg.norm(following - self.points[: len(following)], axis=1).max())
        line.points, line.bodies, line.count = points, bodies, len(self.points)
        line.closed, line.spline, line.spacing = int(self.closed), int(self.kind == "spline"), spacing
        self.keep += [points, bodies, line]
        return line

    def foot(self, P: Vector, start: int | None = None, v: Sequence[float] = (0.0, 0.0, 0.0)) -> Any:
        """CcLineFoot of P, from the span `start`, by default the one that a search finds."""
        line, ffi, lib = self.c(), self.host.ffi, self.host.lib
        out = ffi.new("CcLineFoot *")
        span = lib.cc_line_search(line, ffi.NULL, list(P)) if start is None else start
        lib.cc_line_track(line, ffi.NULL, list(P), list(v), span, out)
        return out


def ring(count: int, radius: float = 1.0) -> Vector:
    angle = 2.0 * math.pi * np.arange(count) / count
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), 0.0 * angle], axis=1)


def knot(count: int) -> Vector:
    """A smooth closed line in space, without symmetry."""
    a = 2.0 * math.pi * (np.arange(count) + 0.1 * np.sin(np.arange(count))) / count
    return np.stack([np.cos(a) + 0.2 * np.cos(2 * a), 1.2 * np.sin(a), 0.3 * np.sin(2 * a + 0.4)], axis=1)


def helix(count: int) -> Vector:
    a = np.linspace(0.0, 4.0 * math.pi, count)
    return np.stack([0.5 * np.cos(a), 0.5 * np.sin(a), 0.1 * a], axis=1)


LINES = {"closed": (knot(40), True), "open": (helix(60), False)}
CASES = [(name, kind) for name in LINES for kind in KINDS]


def around(points: Vector, closed: bool, count: int, source: np.random.Generator, distance: float = 0.1) -> Vector:
    """Points near the line, between its ends."""
    i = source.integers(0 if closed else 1, len(points) - (0 if closed else 2), count)
    u = source.random((count, 1))
    base = points[i] + u * (np.roll(points, -1, axis=0)[i] - points[i])
    return base + distance * source.normal(size=(count, 3))


# --- lines and feet ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LINES)
def test_a_spline_is_the_hermite_cubic_over_the_centripetal_parameter(host: HostLibrary, name: str) -> None:
    points, closed = LINES[name]
    held, reference = Line(host, points, "spline", closed), hermite(points, closed)
    line = held.c()
    span, out = host.ffi.new("CcLineSpan *"), host.ffi.new("double[3]")
    first = len(points) if closed else 0  # the middle one of three turns
    for i in range(host.lib.cc_line_spans(line)):
        host.lib.cc_line_span(line, host.ffi.NULL, i, span)
        low, high = reference.x[first + i], reference.x[first + i + 1]
        for u in (0.0, 0.3, 0.7, 1.0):
            host.lib.cc_line_polynomial(span.r, 4, u, out)
            np.testing.assert_allclose(list(out), reference(low + u * (high - low)), rtol=0, atol=20 * EPS)
            host.lib.cc_line_polynomial(span.tau, 3, u, out)
            slope = reference(low + u * (high - low), 1) * (high - low)
            np.testing.assert_allclose(list(out), slope, rtol=0, atol=60 * EPS)


def test_a_spline_of_two_points_is_straight(host: HostLibrary) -> None:
    line = Line(host, np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]), "spline")
    foot = line.foot(np.array([0.7, 0.3, -0.4]))
    np.testing.assert_allclose(list(foot.point), [0.7, 0.0, 0.0], atol=4 * EPS)
    assert foot.margin == pytest.approx(1.0, abs=4 * EPS)


@pytest.mark.parametrize("name", LINES)
@pytest.mark.slow
def test_the_foot_on_a_polyline_satisfies_its_definition(host: HostLibrary, name: str) -> None:
    points, closed = LINES[name]
    line, T = Line(host, points, "polyline", closed), turns(points, closed)
    for P in around(points, closed, 200, np.random.default_rng(1)):
        foot = line.foot(P)
        assert foot.place == 0
        i, j = foot.span, (foot.span + 1) % len(points)
        u = root_of(P, points[i], points[j], T[i], T[j])
        assert abs(foot.u - u) < 2e-14
        t = T[i] + u * (T[j] - T[i])
        np.testing.assert_allclose(list(foot.tangent), t / np.linalg.norm(t), atol=1e-14)
        np.testing.assert_allclose(list(foot.away), P - list(foot.point), atol=4 * EPS)
        assert abs(np.dot(list(foot.away), list(foot.tangent))) < 1e-15


@pytest.mark.parametrize("name", LINES)
def test_the_foot_on_a_spline_is_the_closest_point(host: HostLibrary, name: str) -> None:
    points, closed = LINES[name]
    line, curve = Line(host, points, "spline", closed), hermite(points, closed)
    turn = (curve.x[-1] - curve.x[0]) / 3.0 if closed else 0.0  # the middle one of three
    grid = np.linspace(curve.x[0] + 0.99 * turn, curve.x[-1] - 0.99 * turn, 40 * len(points))
    places = curve(grid)
    for P in around(points, closed, 200, np.random.default_rng(2), 0.05):
        i = int(np.argmin(np.linalg.norm(places - P, axis=1)))
        low, high = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
        x = brentq(lambda x, P=P: float(np.dot(P - curve(x), curve(x, 1))), low, high, xtol=1e-15, rtol=1e-14)
        foot = line.foot(P)
        assert foot.place == 0
        np.testing.assert_allclose(list(foot.point), curve(x), atol=3e-14)
        t = curve(x, 1) / np.linalg.norm(curve(x, 1))
        np.testing.assert_allclose(list(foot.tangent), t, atol=1e-12)
        bend = float(np.dot(P - curve(x), curve(x, 2)) / np.dot(curve(x, 1), curve(x, 1)))
        assert foot.margin == pytest.approx(1.0 - bend, abs=1e-11)


@pytest.mark.parametrize(("kind", "order"), [("polyline", 2.0), ("spline", 3.0)])
def test_order_of_the_interpolation(host: HostLibrary, kind: str, order: float) -> None:
    """Feet of points of an ellipse itself: how far they lie from it."""

    def ellipse(a: Vector) -> Vector:
        return np.stack([2.0 * np.cos(a), np.sin(a), 0.0 * a], axis=1)

    errors = []
    for count in (64, 128, 256):
        line = Line(host, ellipse(2.0 * math.pi * np.arange(count) / count), kind, True)
        feet = [line.foot(P) for P in ellipse(np.linspace(0.0, 6.0, 301))]
        errors.append(max(float(np.linalg.norm(list(foot.away))) for foot in feet))
    assert math.log2(errors[0] / errors[1]) > order - 0.1
    assert math.log2(errors[1] / errors[2]) > order - 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_the_foot_moves_steadily_through_vertices(host: HostLibrary, kind: str) -> None:
    """A point runs round a ring of 24 points in 4800 steps: no step of the foot is larger than its way."""
    line, n = Line(host, ring(24), kind, True), 4800
    span, before, longest = 0, None, 0.0
    for k in range(n + 1):
        a = 2.0 * math.pi * k / n
        foot = line.foot(np.array([1.1 * math.cos(a), 1.1 * math.sin(a), 0.05]), span)
        if before is not None:
            longest = max(longest, float(np.linalg.norm(np.array(list(foot.point)) - before)))
        span, before = foot.span, np.array(list(foot.point))
    assert longest < 1.1 * (2.0 * math.pi / n)
    assert span == 0 or foot.u == pytest.approx(1.0, abs=1e-12)  # round, and back


@pytest.mark.parametrize("kind", KINDS)
def test_the_margin_vanishes_at_the_centre_of_curvature(host: HostLibrary, kind: str) -> None:
    line = Line(host, ring(360), kind, True)
    for inwards in (-0.5, 0.0, 0.3, 0.9, 0.99):
        foot = line.foot(np.array([1.0 - inwards, 0.0, 0.0]))
        assert foot.place == 0
        assert foot.margin == pytest.approx(1.0 - inwards, abs=1e-3)
    lost = line.foot(np.array([0.0, 0.0, 0.7]))
    assert lost.place != 0 or lost.margin < 1e-3


# --- ends, branches, search -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_an_open_line_ends_at_the_planes_across_its_ends(host: HostLibrary, kind: str) -> None:
    points = helix(60)
    line = Line(host, points, kind)
    span = host.ffi.new("CcLineSpan *")
    for end, place in ((0, -1), (-1, 1)):
        host.lib.cc_line_span(line.c(), host.ffi.NULL, 0 if end == 0 else 58, span)
        t = np.array(list(span.tau[0])) if end == 0 else np.sum([list(c) for c in span.tau], axis=0)
        t /= np.linalg.norm(t)
        outward = t * place
        across = np.cross(t, [0.3, -0.2, 0.9]) * 0.02
        outside, inside = (points[end] + across + s * 1e-9 * outward for s in (1, -1))
        foot = line.foot(outside)
        assert foot.place == place
        np.testing.assert_array_equal(list(foot.point), points[end])
        np.testing.assert_allclose(list(foot.tangent), t, atol=4 * EPS)
        assert line.foot(inside).place == 0
    assert line.foot(points[0]).place == line.foot(points[-1]).place == 0  # both planes belong to the line


@pytest.mark.parametrize("kind", KINDS)
def test_the_foot_stays_on_its_branch_where_the_line_comes_close_to_itself(host: HostLibrary, kind: str) -> None:
    """Two lanes 2 mm apart, joined by a wide bend: a point that wanders over to the other lane keeps its foot."""
    x = np.linspace(0.0, 4.0, 161)
    bend = np.linspace(0.0, 2.0 * math.pi - 0.004, 160)[1:-1]
    out = np.stack([x, 0.0 * x, 0.0 * x], axis=1)
    loop = np.stack([4.0 + 0.5 * np.sin(bend), 0.5 - 0.5 * np.cos(bend), 0.0 * bend], axis=1)
    back = np.stack([x[::-1], 0.0 * x - 0.002, 0.0 * x], axis=1)
    line = Line(host, np.concatenate([out, loop, back]), kind)
    start = np.array([2.013, 0.0004, 0.0])
    span = line.foot(start).span
    assert span == 80
    for y in np.linspace(0.0004, -0.004, 30):
        foot = line.foot(np.array([2.013, y, 0.0]), span)
        span = foot.span
        np.testing.assert_allclose(list(foot.point), [2.013, 0.0, 0.0], atol=1e-15)
    assert line.foot(np.array([2.013, -0.0021, 0.0])).span > 160  # a search takes the other


@pytest.mark.parametrize("count", [2, 3, 63, 64, 65, 66, 200, 1000])
@pytest.mark.parametrize("closed", [False, True])
def test_a_search_finds_the_closest_chord(host: HostLibrary, count: int, closed: bool) -> None:
    source = np.random.default_rng(count)
    points = np.cumsum(source.normal(size=(count, 3)), axis=0) if count > 3 else source.normal(size=(count, 3))
    held = Line(host, points, closed=closed)
    line = held.c()
    a = points if closed else points[:-1]
    c = (np.roll(points, -1, axis=0) if closed else points[1:]) - a
    for P in source.normal(size=(50, 3)) * math.sqrt(count) + points[source.integers(0, count, 50)]:
        u = np.clip(np.einsum("ij,ij->i", P - a, c) / np.einsum("ij,ij->i", c, c), 0.0, 1.0)
        distance = np.linalg.norm(P - a - u[:, None] * c, axis=1)
        found = host.lib.cc_line_search(line, host.ffi.NULL, list(P))
        assert distance[found] <= distance.min() * (1.0 + 1e-12)


@pytest.mark.parametrize("carried_by", [1, 3])
def test_a_search_finds_the_closest_chord_of_a_line_on_bodies(host: HostLibrary, carried_by: int) -> None:
    """Bodies that are turned and off the origin; points of three in turn."""
    source, count = np.random.default_rng(carried_by), 150
    points = np.cumsum(source.normal(size=(count, 3)), axis=0)
    own = np.arange(count) % carried_by
    held = Line(host, points, bodies=own.tolist() if carried_by > 1 else None)
    line = held.c()
    carriers = host.ffi.new("CcCarrier[]", carried_by)
    for carrier in carriers:
        r, q, still = source.normal(size=3), source.normal(size=4), [0.0] * 3
        host.lib.cc_carrier(list(r), list(q / np.linalg.norm(q)), still, still, host.ffi.addressof(carrier))
    R = np.array([[list(row) for row in carrier.R] for carrier in carriers])
    moved = np.einsum("ijk,ik->ij", R[own], points) + np.array([list(carrier.r) for carrier in carriers])[own]
    a, c = moved[:-1], np.diff(moved, axis=0)
    for P in source.normal(size=(50, 3)) + moved[source.integers(0, count, 50)]:
        u = np.clip(np.einsum("ij,ij->i", P - a, c) / np.einsum("ij,ij->i", c, c), 0.0, 1.0)
        distance = np.linalg.norm(P - a - u[:, None] * c, axis=1)
        found = host.lib.cc_line_search(line, carriers, list(P))
        assert distance[found] <= distance.min() * (1.0 + 1e-12)


def test_tracking_ends_where_no_span_has_a_foot(host: HostLibrary) -> None:
    for kind in KINDS:
        assert Line(host, ring(24), kind, True).foot(np.zeros(3), 5).place in (0, 2)
    spiral = Line(host, helix(400), "polyline")
    assert spiral.foot(np.array([0.0, 0.0, 900.0]), 0).place == 1  # walks over all spans, and off the end


# --- moving lines -----------------------------------------------------------------------------------------------------


class Input(ctypes.Structure):
    _fields_ = [("all", ctypes.c_double * (2 * (15 + 4 * 13 + 1)))]


OUTPUT = {
    "u": 1, "point": 3, "tangent": 3, "away": 3, "margin": 1, "point_t": 3, "tangent_t": 3, "V1": 3, "V2": 3,
    "delta1": 1, "delta2": 1, "spin": 1, "handedness": 1, "weight": 4, "arm": 12,
}  # fmt: skip


@pytest.fixture(scope="session")
def dual(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return load_c("lines.c", tmp_path_factory.mktemp("dual"))


@dataclass
class Motion:
    """Point, two axes on its body, and four bodies that carry the points in turn."""

    P: Vector
    v: Vector
    a: Vector
    b: Vector
    w_P: Vector
    bodies: NDArray[np.float64]  # r, q, v, w of each
    zone: float

    def rates(self) -> NDArray[np.float64]:
        """d/dt of P, v, a, b, w_P, and of the bodies, without accelerations."""
        q, w = self.bodies[:, 3:7], self.bodies[:, 10:]
        turn = np.array(
            [
                0.5 * np.concatenate([[-np.dot(w_b, q_b[1:])], q_b[0] * w_b + np.cross(w_b, q_b[1:])])
                for q_b, w_b in zip(q, w, strict=True)
            ]
        )
        moving = np.concatenate([self.bodies[:, 7:10], turn, np.zeros((4, 6))], axis=1)
        first = [self.v, np.zeros(3), np.cross(self.w_P, self.a), np.cross(self.w_P, self.b), np.zeros(3)]
        return np.concatenate([*first, moving.ravel(), [0.0]])

    def values(self) -> NDArray[np.float64]:
        first = [self.P, self.v, self.a, self.b, self.w_P]
        return np.concatenate([*first, self.bodies.ravel(), [self.zone]])


def motion(name: str, source: np.random.Generator, carried: bool) -> Motion:
    points, closed = LINES[name]
    P = around(points, closed, 1, source, 0.05)[0]
    bodies = np.zeros((4, 13))
    bodies[:, 3] = 1.0
    if carried:  # near the place of the line at rest, so that P has a foot
        bodies[:, :3] = 0.01 * source.normal(size=(4, 3))
        bodies[:, 3:7] += 0.01 * source.normal(size=(4, 4))
        bodies[:, 7:] = source.normal(size=(4, 6))
    a, v, w, zone = source.normal(size=3), source.normal(size=3), source.normal(size=3), source.uniform(0.05, 0.6)
    b = source.normal(size=3)
    return Motion(P, v, a / np.linalg.norm(a), b / np.linalg.norm(b), w, bodies, zone)


def evaluate(
    dual: ctypes.CDLL, name: str, kind: str, carried: bool, one: Motion, span: int, bodies: NDArray[np.float64] | None
) -> dict[str, NDArray[np.complex128]]:
    """Values, and in the imaginary part their rates."""
    points, closed = LINES[name]
    numbers = np.ascontiguousarray(one.values() + 1j * (one.rates() * STEP))
    out = np.zeros(sum(OUTPUT.values()) + 1, complex)
    flat = np.ascontiguousarray(points)
    pointer = ctypes.c_void_p
    dual.dual_line(
        flat.ctypes.data_as(pointer), bodies.ctypes.data_as(pointer) if bodies is not None else None, len(points),
        int(closed), int(kind == "spline"), int(carried), span,
        numbers.ctypes.data_as(pointer), out.ctypes.data_as(pointer),
    )  # fmt: skip
    found, at = {}, 0
    for key, size in OUTPUT.items():
        found[key] = out[at : at + size].real + 1j * out[at : at + size].imag / STEP
        at += size
    found["place"], found["span"] = out[at].real, out[at].imag
    return found


@pytest.mark.parametrize("carried", [False, True], ids=["at rest", "on four bodies"])
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_rates_are_those_of_dual_numbers(
    host: HostLibrary, dual: ctypes.CDLL, name: str, kind: str, carried: bool
) -> None:
    source = np.random.default_rng(5)
    points, closed = LINES[name]
    bodies = source.integers(0, 4, len(points)).astype(float) if carried else None
    feet = 0
    for _ in range(60):
        one = motion(name, source, carried)
        span = Line(host, points, kind, closed).foot(one.P).span
        out = evaluate(dual, name, kind, carried, one, span, bodies)
        if out["place"] != 0 or out["margin"][0].real < 0.3:
            continue
        feet += 1
        scale = 1.0 + np.abs(out["point_t"].real).max() + np.abs(out["tangent_t"].real).max()
        np.testing.assert_allclose(out["point_t"].real, out["point"].imag, atol=1e-12 * scale)
        np.testing.assert_allclose(out["tangent_t"].real, out["tangent"].imag, atol=1e-12 * scale)
        V1, V2, spin = out["V1"], out["V2"], out["spin"][0].real
        np.testing.assert_allclose(spin, np.dot(V2.real, V1.imag), rtol=1e-11, atol=1e-11)
        slip = one.v - out["point_t"].real
        delta1, delta2 = out["delta1"][0], out["delta2"][0]
        for rate, V, turned in (
            (delta1.imag, V1.real, spin * delta2.real),
            (delta2.imag, V2.real, -spin * delta1.real),
        ):
            assert rate == pytest.approx(np.dot(slip, V) + turned, rel=1e-11, abs=1e-11 * scale)
    assert feet > 40


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_axes_are_orthogonal_and_span_the_base_plane(
    host: HostLibrary, dual: ctypes.CDLL, name: str, kind: str
) -> None:
    source = np.random.default_rng(6)
    points, closed = LINES[name]
    for _ in range(40):
        one = motion(name, source, False)
        out = evaluate(dual, name, kind, False, one, Line(host, points, kind, closed).foot(one.P).span, None)
        t, V1, V2, d = (out[key].real for key in ("tangent", "V1", "V2", "away"))
        np.testing.assert_allclose(np.array([t, V1, V2]) @ np.array([t, V1, V2]).T, np.eye(3), atol=1e-14)
        assert np.dot(V1, one.a) > 0.0
        assert np.dot(V2, one.b) > 0.0
        handedness = np.dot(t, np.cross(one.a, one.b))
        assert out["handedness"][0].real == pytest.approx(handedness, abs=1e-14)
        np.testing.assert_allclose(V2, np.sign(handedness) * np.cross(t, V1), atol=1e-14)
        assert abs(np.dot(np.cross(t, one.a), V1)) < 1e-14
        shift = d - out["delta1"][0].real * V1 - out["delta2"][0].real * V2
        np.testing.assert_allclose(shift, 0.0, atol=1e-14)


@pytest.mark.parametrize("turned", [1.0, -1.0])
def test_axes_where_the_first_vector_points_along_the_line_are_their_limit(
    host: HostLibrary, dual: ctypes.CDLL, turned: float
) -> None:
    """a from beside t, with a part s n across it, n perpendicular to b: at s = 0 the axes are those of s -> 0."""
    source = np.random.default_rng(8)
    points, closed = LINES["closed"]
    for _ in range(10):
        one = motion("closed", source, False)
        span = Line(host, points, "spline", closed).foot(one.P).span
        t = evaluate(dual, "closed", "spline", False, one, span, None)["tangent"].real
        n = np.cross(t, one.b) / np.linalg.norm(np.cross(t, one.b))
        axes = []
        for share in (1e-5, 0.0):
            one.a = turned * t + share * n
            out = evaluate(dual, "closed", "spline", False, one, span, None)
            V1, V2 = out["V1"], out["V2"]
            np.testing.assert_allclose(
                np.array([t, V1.real, V2.real]) @ np.array([t, V1.real, V2.real]).T, np.eye(3), atol=1e-10
            )
            axes.append((abs(np.dot(V1.real, n)), V2.real))
            assert np.dot(V2.real, one.b) > 0.0
            assert out["spin"][0].real == pytest.approx(np.dot(V2.real, V1.imag), rel=1e-6)
        assert axes[0][0] == pytest.approx(1.0)
        assert axes[1][0] == pytest.approx(1.0)
        np.testing.assert_allclose(axes[0][1], axes[1][1], atol=1e-9)


# --- shares of the force ----------------------------------------------------------------------------------------------


def shares(
    line: Line, poses: Sequence[tuple[Vector, Rotation]], P: Vector, zone: float, shifted: bool = True
) -> tuple[Any, Vector, Vector]:
    """Foot, weight of each body, arm of each body."""
    ffi, lib, host = line.host.ffi, line.host.lib, line.host
    carriers = ffi.new("CcCarrier[]", len(poses))
    zero = [0.0, 0.0, 0.0]
    for carrier, (r, turn) in zip(carriers, poses, strict=True):
        host.lib.cc_carrier(list(r), turn.as_quat(scalar_first=True).tolist(), zero, zero, ffi.addressof(carrier))
    c, foot = line.c(), ffi.new("CcLineFoot *")
    lib.cc_line_track(c, carriers, list(P), zero, lib.cc_line_search(c, carriers, list(P)), foot)
    out = ffi.new("CcZoneShare[]", len(poses))
    lib.cc_force_zone(c, carriers, foot, list(P), zone, int(shifted), len(poses), out)
    return foot, np.array([s.weight for s in out]), np.array([list(s.arm) for s in out])


def poses_of(source: np.random.Generator, size: float) -> list[tuple[Vector, Rotation]]:
    return [(size * source.normal(size=3), Rotation.random(rng=source)) for _ in range(3)]


def listed(points: Vector, bodies: Sequence[int], poses: Sequence[tuple[Vector, Rotation]]) -> Vector:
    """World points in the coordinates of their bodies."""
    return np.array([poses[b][1].inv().apply(p - poses[b][0]) for p, b in zip(points, bodies, strict=True)])


@pytest.mark.parametrize("shifted", [True, False])
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_forces_and_moments_on_the_bodies_balance_those_on_the_point(
    host: HostLibrary, name: str, kind: str, shifted: bool
) -> None:
    source = np.random.default_rng(8)
    points, closed = LINES[name]
    largest = 0.0
    for _ in range(60):
        poses, bodies = poses_of(source, 3.0), source.integers(0, 3, len(points)).tolist()
        line = Line(host, listed(points, bodies, poses), kind, closed, bodies)
        P, F = around(points, closed, 1, source)[0], source.normal(size=3)
        zone = float(source.choice([0.01, 0.1, 0.7, 30.0]))
        foot, weight, arm = shares(line, poses, P, zone, shifted)
        assert foot.place == 0
        assert (weight >= 0.0).all()
        force = F - np.sum(weight[:, None] * F, axis=0)
        moment = np.cross(P, F)
        for (r, _), w, a in zip(poses, weight, arm, strict=True):
            moment -= np.cross(r, w * F) + np.cross(a, F)
        np.testing.assert_allclose(force, 0.0, atol=4 * EPS * np.abs(F).max())
        if shifted:
            np.testing.assert_allclose(moment, 0.0, atol=100 * EPS)  # sizes of 10 m and 1 N
        largest = max(largest, float(np.abs(moment).max()))
    assert shifted or largest > 0.01  # without the shift the moments do not balance


@pytest.mark.parametrize(("name", "kind"), CASES)
@pytest.mark.parametrize("zone", [1e-6, 0.08, 0.3, 40.0])
def test_weights_fall_with_the_way_along_the_chords(host: HostLibrary, name: str, kind: str, zone: float) -> None:
    source = np.random.default_rng(9)
    points, closed = LINES[name]
    chain = np.concatenate([points, points[:1]]) if closed else points
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(chain, axis=0), axis=1))])
    for P in around(points, closed, 25, source):
        bodies = source.integers(0, 3, len(points))
        poses = poses_of(source, 0.5)
        line = Line(host, listed(points, bodies.tolist(), poses), kind, closed, bodies.tolist())
        foot, weight, _ = shares(line, poses, P, zone)
        i, length = foot.span, way[foot.span + 1] - way[foot.span]
        distance = np.abs(way[: len(points)] - (way[i] + foot.u * length))
        if closed:
            distance = np.minimum(distance, way[-1] - distance)
        each = np.maximum(0.0, 1.0 - distance / zone)
        if each.sum() == 0.0:
            each[i], each[(i + 1) % len(points)] = 1.0 - foot.u, foot.u
        expected = np.bincount(bodies, each / each.sum(), minlength=3)
        np.testing.assert_allclose(weight, expected, atol=1e-12)
