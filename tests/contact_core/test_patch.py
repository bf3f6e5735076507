"""Patches of bicubic pieces: closest points against dense samples, closed forms, and their orders of convergence."""

from __future__ import annotations

import ctypes
import math
import tracemalloc
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fmu_builder.export.host import HostLibrary
from fmu_builder.model.patches import UNBOUNDED, Direction, Patch, Places, reach, through_heights
from tests.contact_core.hosted import load_c

Vector = NDArray[np.float64]
EPS = 2.0**-52


@dataclass
class Surface:
    """A patch in C."""

    host: HostLibrary
    patch: Patch
    reach: tuple[float, float] | None = None  # above and below, m

    def __post_init__(self) -> None:
        tables, ffi = self.patch.tables(), self.host.ffi
        self.kept = {
            name: ffi.new("double[]", list(tables[name])) for name in ("spans_u", "spans_v", "control", "boxes")
        }
        self.c = ffi.new("CcPatch *")
        for d, name in enumerate(("spans_u", "spans_v")):
            self.c.spans[d] = ffi.cast("CcPatchSpan *", self.kept[name])
        self.c.control, self.c.boxes = self.kept["control"], self.kept["boxes"]
        self.c.count = [len(self.patch.u.start), len(self.patch.v.start)]
        self.c.components, self.c.columns = map(int, tables["patch"][:2])
        self.c.closed = list(map(int, tables["patch"][2:]))
        if self.reach is None:
            samples = self.patch.sampled()
            self.reach = reach(samples, 1.0), reach(samples, -1.0)
        self.c.reach = [min(one, UNBOUNDED) for one in self.reach]

    def foot(self, P: Any, side: float = 1.0, last: Any = (0.0, 0.0, 0.0)) -> Any:
        foot = self.host.ffi.new("CcFoot *")
        self.host.lib.cc_patch(self.c, side, list(map(float, P)), list(map(float, last)), foot)
        return foot

    def samples(self, parts: int = 12) -> Vector:
        S = self.patch.derivatives(self.patch.u.places(parts), self.patch.v.places(parts))[0]
        return np.asarray(S.reshape(-1, 3))


def field(f: Any, x: Vector, y: Vector, closed: tuple[bool, bool] = (False, False)) -> Patch:
    return through_heights(x, y, np.asarray(f(x[:, None], y)), closed)


def hills(x: Vector, y: Vector) -> Vector:
    return np.asarray(0.08 * np.sin(9 * x) * np.cos(7 * y) + 0.05 * x * y)


GRID = np.array([0.0, 0.03, 0.1, 0.18, 0.22, 0.31, 0.4, 0.47, 0.55, 0.6, 0.72, 0.8, 0.86, 0.93, 1.0])  # uneven


def bent_tube() -> Patch:
    """Closed along u, of five control points; its ends are open."""
    turns = 2.0 * np.pi * np.arange(5) / 5
    rings = [
        np.column_stack(
            [(0.5 + 0.1 * k) * np.cos(turns) + 0.1 * k * k, (0.5 - 0.05 * k) * np.sin(turns), 0.4 * k + 0 * turns]
        )
        for k in range(5)
    ]
    control = np.stack(rings, axis=1)
    knots = np.concatenate([np.zeros(3), np.arange(3), np.full(3, 2)]).astype(float)
    return Patch(
        Direction.of(np.arange(12.0) - 3.0, closed=True), Direction.of(knots), np.concatenate([control, control[:3]])
    )


def quarter_of_a_cylinder(radius: float, length: float) -> Patch:
    """Exact by weights: a quadratic arc of 90 deg, raised to degree 3, along u; straight along v."""
    w = math.sqrt(0.5)
    quadratic = np.array([[radius, 0, 1], [radius * w, radius * w, w], [0, radius, 1]])  # x w, y w, w
    arc = np.array(
        [quadratic[0], (quadratic[0] + 2 * quadratic[1]) / 3, (2 * quadratic[1] + quadratic[2]) / 3, quadratic[2]]
    )
    z = length * np.arange(4) / 3
    control = np.stack([np.column_stack([arc[:, 0], arc[:, 1], arc[:, 2] * one, arc[:, 2]]) for one in z], axis=1)
    bezier = np.repeat([0.0, 1.0], 4)
    return Patch(Direction.of(bezier), Direction.of(bezier), control)


SURFACES = {
    "hills": (field(hills, GRID, GRID[::2]), ((-0.3, 1.3), (-0.3, 1.3), (-0.6, 0.6))),
    "tube": (bent_tube(), ((-1.5, 3.5), (-1.0, 1.0), (-0.3, 2.0))),
    "quarter": (quarter_of_a_cylinder(0.5, 0.8), ((-0.2, 1.0), (-0.2, 1.0), (-0.2, 1.0))),
}


@pytest.mark.parametrize("name", SURFACES)
def test_no_sample_of_the_surface_is_closer_than_the_closest_point(host: HostLibrary, name: str) -> None:
    patch, box = SURFACES[name]
    surface, on = Surface(host, patch), 0
    samples = surface.samples()
    spacing = 0.05  # m, more than the distance of any sample from a point of the surface
    for P in np.random.default_rng(3).uniform(*np.transpose(box), (150, 3)):
        foot = surface.foot(P)
        nearest = float(np.sqrt(((samples - P) ** 2).sum(axis=1).min()))
        if foot.on and not foot.singular:
            on += 1
            assert abs(foot.depth) <= nearest + 4 * EPS
            assert nearest <= abs(foot.depth) + spacing
            assert np.linalg.norm(np.array(list(foot.point)) - P) == pytest.approx(abs(foot.depth), abs=1e-14)
        else:  # P lies beyond an edge, and the plane there is closer than the edge
            assert abs(foot.depth) <= nearest + 4 * EPS
    assert on > 50


@pytest.mark.parametrize("n", [2, 3, 4, 9, 30])
def test_heights_of_a_plane_are_the_plane(host: HostLibrary, n: int) -> None:
    normal = np.array([-0.3, 0.2, 1.0]) / math.sqrt(1.13)
    surface = Surface(host, field(lambda x, y: 0.3 * x - 0.2 * y + 0.1, np.linspace(-1, 2, n), np.linspace(-1, 1, n)))
    for P in np.random.default_rng(n).uniform(-0.7, 0.7, (40, 3)):
        foot = surface.foot(P)
        assert foot.depth == pytest.approx(-float((P - [0.0, 0.0, 0.1]) @ normal), abs=1e-14)
        assert list(foot.normal) == pytest.approx(list(normal), abs=1e-14)
        assert foot.on and not foot.singular


def test_heights_of_a_paraboloid_are_the_paraboloid(host: HostLibrary) -> None:
    """z = (x^2 + y^2)/2 is a cubic spline itself; its closest point solves d^3/2 + (1 - P_z) d = P_d for the distance d
    from the axis."""
    surface = Surface(host, field(lambda x, y: (x * x + y * y) / 2, GRID * 2 - 1, GRID * 2 - 1))
    for P in np.random.default_rng(2).uniform([-0.6, -0.6, -0.5], [0.6, 0.6, 0.8], (40, 3)):
        away = math.hypot(P[0], P[1])
        d = float(
            max(np.roots([0.5, 0.0, 1.0 - P[2], -away]), key=lambda r: r.real if abs(r.imag) < 1e-9 else -1.0).real
        )
        foot = surface.foot(P)
        across = math.sqrt(1.0 + d * d)
        assert foot.depth == pytest.approx(((d * d / 2 - P[2]) - d * (d - away)) / across, abs=1e-13)
        assert foot.normal[2] == pytest.approx(1.0 / across, abs=1e-12)


def test_weights_make_a_cylinder_exact(host: HostLibrary) -> None:
    surface = Surface(host, quarter_of_a_cylinder(0.5, 0.8))
    assert list(surface.c.reach) == [UNBOUNDED, 0.5]  # the normal points outwards
    for P in np.random.default_rng(4).uniform([0.1, 0.1, 0.1], [0.6, 0.6, 0.7], (40, 3)):
        foot = surface.foot(P)
        away = math.hypot(P[0], P[1])
        assert foot.depth == pytest.approx(0.5 - away, abs=1e-14)
        assert list(foot.normal) == pytest.approx([P[0] / away, P[1] / away, 0.0], abs=1e-13)


def sphere_foot(P: Vector) -> tuple[float, Vector]:
    from_centre = P + np.array([0.0, 0.0, 2.0])
    away = float(np.linalg.norm(from_centre))
    return 2.0 - away, from_centre / away


def sine_foot(P: Vector) -> tuple[float, Vector]:
    x = P[0]
    for _ in range(6):
        z, slope, bend = 0.05 * math.sin(4 * x), 0.2 * math.cos(4 * x), -0.8 * math.sin(4 * x)
        x -= (x - P[0] + (z - P[2]) * slope) / (1.0 + slope**2 + (z - P[2]) * bend)
    n = np.array([-slope, 0.0, 1.0]) / math.hypot(slope, 1.0)
    return float((np.array([x, P[1], z]) - P) @ n), n


CONVERGING = {
    "sphere": (lambda x, y: np.sqrt(4.0 - x * x - y * y) - 2.0, sphere_foot),
    "sine": (lambda x, y: 0.05 * np.sin(4.0 * x) + 0.0 * y, sine_foot),
}


@pytest.mark.parametrize("name", CONVERGING)
def test_the_depth_converges_with_the_fourth_power_of_the_grid_spacing_and_the_normal_with_the_third(
    host: HostLibrary, name: str
) -> None:
    heights, foot_of = CONVERGING[name]
    places = np.random.default_rng(5).uniform(-0.8, 0.8, (60, 2))
    points = [np.array([x, y, float(heights(x, y)) - 0.02]) for x, y in places]
    errors = []
    for n in (9, 17, 33):
        grid = np.linspace(-1, 1, n)
        surface = Surface(host, field(heights, grid, grid), (0.1, 0.1))
        found = [(surface.foot(P), *foot_of(P)) for P in points]
        depth = [foot.depth - h for foot, h, _ in found]
        turn = [np.linalg.norm(np.subtract(list(foot.normal), n)) for foot, _, n in found]
        errors.append([float(np.sqrt(np.mean(np.square(e)))) for e in (depth, turn)])
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert (orders[:, 0] > 3.7).all() and (orders[:, 1] > 2.7).all(), orders


def test_periodic_heights_repeat_without_a_seam(host: HostLibrary) -> None:
    x, y = np.linspace(0.0, 2.0, 17), np.linspace(0.0, 1.0, 9)
    z = 0.1 * np.sin(np.pi * x)[:, None] * (1.0 + 0.5 * np.cos(2 * np.pi * y))
    z[-1], z[:, -1] = z[0], z[:, 0]
    surface = Surface(host, through_heights(x, y, z, (True, True)))
    for P in np.random.default_rng(6).uniform([-0.1, -0.1, -0.5], [0.1, 0.1, 0.5], (60, 3)):
        one, other = surface.foot(P), surface.foot(P + np.array([14.0, -3.0, 0.0]))
        assert one.on and other.on and list(one.edge) == [1.0] * 4
        assert other.depth == pytest.approx(one.depth, abs=1e-14)
        assert list(other.normal) == pytest.approx(list(one.normal), abs=1e-12)
        assert np.subtract(list(other.point), list(one.point)) == pytest.approx([14.0, -3.0, 0.0], abs=1e-12)


def test_a_closed_tube_has_no_seam_and_two_edges(host: HostLibrary) -> None:
    surface = Surface(host, bent_tube())
    u = surface.patch.u
    ends = Places(np.array([0, len(u.start) - 1]), np.array([0.0, 1.0]))
    S = surface.patch.derivatives(ends, surface.patch.v.spread(5))
    assert S[:, 0] == pytest.approx(S[:, 1], abs=1e-14)
    seam, normal = S[0, 0, 2], np.cross(S[1, 0, 2], S[2, 0, 2])
    normal /= np.linalg.norm(normal)
    for along in np.linspace(-1e-3, 1e-3, 9):
        foot = surface.foot(seam + 1e-3 * normal + along * S[1, 0, 2])
        assert foot.on and foot.depth == pytest.approx(-1e-3, abs=2e-5)
        assert list(foot.edge[0:2]) == [1.0, 1.0]
    assert not surface.foot([0.0, 0.5, -0.1]).on
    assert surface.foot([0.0, 0.5, -0.1]).edge[2] < 0.0 < surface.foot([0.0, 0.5, -0.1]).edge[3]


def test_depth_and_edge_go_on_without_a_step_where_a_point_leaves_the_surface(host: HostLibrary) -> None:
    surface = Surface(host, field(hills, GRID, GRID))
    for start, way, edge in (
        (np.array([0.0, 0.4]), np.array([1.0, 0.3]), 0),
        (np.array([0.7, 1.0]), np.array([0.2, -1.0]), 3),
    ):
        before = None
        for s in np.linspace(0.02, -0.02, 81):  # from the inside over the edge
            x, y = start + s * way
            foot = surface.foot([x, y, float(hills(start[0], start[1])) - 0.01])
            assert foot.on == (foot.edge[edge] >= 0.0)
            if before is not None:
                assert abs(foot.depth - before.depth) < 6e-4
                assert -1.2e-3 < foot.edge[edge] - before.edge[edge] < 0.0
            before = foot
        assert not before.on


def test_of_equally_close_places_the_one_next_to_the_last_is_kept_and_the_point_is_singular(host: HostLibrary) -> None:
    """On the plane between two ridges of a symmetric valley."""
    x = np.linspace(-1.0, 1.0, 21)
    surface = Surface(host, field(lambda x, y: (x * x - 0.25) ** 2 * -4.0 + 0.0 * y, x, x))
    for sign in (1.0, -1.0):
        foot = surface.foot([0.0, 0.1, 0.6], last=[0.4 * sign, 0.0, 0.0])
        assert foot.singular and foot.on
        assert sign * foot.point[0] > 0.3
        assert np.isfinite([foot.depth, *foot.normal, *foot.point]).all()
    apart = [surface.foot([sign * 1e-9, 0.1, 0.6]) for sign in (1.0, -1.0)]
    assert not any(foot.singular for foot in apart)
    assert apart[0].point[0] > 0.3 and apart[1].point[0] < -0.3


def test_the_centre_of_a_bowl_keeps_the_last_closest_point(host: HostLibrary) -> None:
    x = np.linspace(-0.8, 0.8, 21)
    surface = Surface(host, field(lambda x, y: -np.sqrt(4.0 - x * x - y * y), x, x), (1.9, 1.9))
    last = np.array([0.3, 0.4, -math.sqrt(3.75)])
    foot = surface.foot([0.0, 0.0, 0.0], last=last)
    assert foot.singular and np.isfinite([foot.depth, *foot.normal, *foot.point]).all()
    assert -foot.depth == pytest.approx(2.0, abs=1e-6)


coordinates = st.floats(-1e100, 1e100)


@pytest.mark.parametrize("name", SURFACES)
@given(P=st.tuples(coordinates, coordinates, coordinates))
def test_every_point_has_a_finite_foot_and_a_unit_normal(host: HostLibrary, name: str, P: Any) -> None:
    foot = built(host, name).foot(P)
    assert np.isfinite([foot.depth, *foot.point]).all()
    assert np.linalg.norm(list(foot.normal)) == pytest.approx(1.0, abs=1e-14)


BUILT: dict[str, Surface] = {}


def built(host: HostLibrary, name: str) -> Surface:
    if name not in BUILT:
        BUILT[name] = Surface(host, SURFACES[name][0])
    return BUILT[name]


# ---- reach -----------------------------------------------------------------------------------------------------------


def test_the_reach_of_a_paraboloid_is_its_radius_of_curvature_and_endless_below() -> None:
    samples = field(lambda x, y: (x * x + y * y) / 2, np.linspace(-1, 1, 21), np.linspace(-0.6, 0.6, 13)).sampled()
    assert reach(samples, 1.0) == 1.0
    assert reach(samples, -1.0) == math.inf


def test_the_reach_of_a_thin_tube_is_half_its_inner_width() -> None:
    """An ellipse of 0.5 m by 0.1 m has its least radius of curvature, 20 mm, where it is narrow; between flat sides
    50 mm apart it is half of that."""
    turns = np.linspace(0.0, 2.0 * np.pi, 33)[:-1]
    control = np.stack(
        [np.column_stack([0.5 * np.cos(turns), np.sin(turns), z + 0 * turns]) for z in np.arange(4.0)], axis=1
    )
    patch = Patch(
        Direction.of(np.arange(39.0) - 3.0, True),
        Direction.of(np.repeat([0.0, 1.0], 4)),
        np.concatenate([control, control[:3]]),
    )
    assert reach(patch.sampled(), -1.0) == pytest.approx(0.25, rel=0.05)


def test_a_long_narrow_grid_takes_memory_in_proportion_to_its_heights() -> None:
    x = np.linspace(0.0, 400.0, 8_000)
    tracemalloc.start()
    patch = field(lambda x, y: 0.01 * np.sin(x) + 0.0 * y, x, np.array([0.0, 1.0]))
    assert reach(patch.sampled(), 1.0) == pytest.approx(100.0, rel=0.01)
    assert len(patch.boxes()) > 8_000 / 4 * 6
    assert tracemalloc.get_traced_memory()[1] < 100e6
    tracemalloc.stop()


# ---- derivatives -----------------------------------------------------------------------------------------------------

STEP = 1e-180  # CC_DUAL_STEP


@pytest.fixture(scope="module")
def dual(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return load_c("patch.c", tmp_path_factory.mktemp("dual"))


@pytest.mark.slow
@pytest.mark.parametrize("name", SURFACES)
def test_derivatives_are_those_of_central_differences(host: HostLibrary, dual: ctypes.CDLL, name: str) -> None:
    surface, (_, box) = built(host, name), SURFACES[name]
    source = np.random.default_rng(7)
    P, direction = source.uniform(*np.transpose(box), (200, 3)), source.normal(size=(200, 3))

    def feet(points: NDArray[np.complex128]) -> NDArray[np.complex128]:
        points = np.ascontiguousarray(points.real + 1j * (points.imag * STEP))
        out = np.zeros((len(points), 7), complex)
        dual.feet(
            ctypes.c_void_p(int(host.ffi.cast("intptr_t", surface.c))), ctypes.c_double(1.0), len(points),
            points.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p),
        )  # fmt: skip
        return np.asarray(out.real + 1j * (out.imag / STEP))

    exact, h = feet(P + 1j * direction).imag, 1e-5
    ahead, behind, two, minus_two = (feet(P + k * h * direction + 0j).real for k in (1, -1, 2, -2))
    slope = (8.0 * (ahead - behind) - (two - minus_two)) / (12.0 * h)
    rough = (ahead - behind) / (2.0 * h)
    smooth = np.abs(slope - rough).max(axis=1) < 1e-4 * (1.0 + np.abs(slope).max(axis=1))
    assert smooth.mean() > 0.8
    np.testing.assert_allclose(exact[smooth], slope[smooth], rtol=2e-6, atol=2e-6)
    for P_k, row in zip(P[:50], feet(P[:50] + 1j).real, strict=True):
        foot = surface.foot(P_k)
        np.testing.assert_allclose(row, [foot.depth, *foot.normal, *foot.point], rtol=0.0, atol=1e-12)
