"""Meshes: the search against every triangle in turn, curved triangles against the sphere they stand for, signs,
borders, and a force that has an energy."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from numpy.typing import NDArray
from scipy.spatial import Delaunay

from fmu_builder.model.mesh import Mesh, read_mesh
from fmu_builder.model.mesh_tree import pack_mesh
from fmu_builder.model.mesh_width import free_place, reach, thinnest_wall
from tests.contact_core.hosted import load_c

Array = NDArray[np.float64]
NO_TRIANGLE = 0xFFFFFFFF  # a search that begins nowhere
DUAL = 1e-180  # CC_DUAL_STEP


class Feet:
    """What the core finds for points of shape (n, 3)."""

    def __init__(self, library: ctypes.CDLL, data: bytes, points: Array, **given: Any) -> None:
        points = np.ascontiguousarray(np.atleast_2d(points), float)
        count = len(points)
        dual = np.zeros((count, 3), complex)
        dual.real = points
        dual.imag = np.broadcast_to(given.get("direction", 0.0), points.shape) * DUAL
        last = np.array(np.broadcast_to(given.get("last", NO_TRIANGLE), count), np.uint32)
        out, whole, self.inside = np.zeros((count, 7), complex), np.zeros((count, 3), np.int32), np.zeros(count)
        arrays = [one.ctypes.data_as(ctypes.c_void_p) for one in (dual, last, out, whole, self.inside)]
        library.mesh_feet(data, ctypes.c_double(given.get("side", 1.0)), count, *arrays)
        self.depth, self.normal, self.point = out.real[:, 0], out.real[:, 1:4], out.real[:, 4:]
        self.depth_rate, self.normal_rate = out.imag[:, 0] / DUAL, out.imag[:, 1:4] / DUAL
        self.on, self.singular, self.triangle = whole.T


@pytest.fixture(scope="module")
def feet(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Feet]:
    library = load_c("mesh.c", tmp_path_factory.mktemp("mesh"))
    return lambda data, points, **given: Feet(library, data, points, **given)


def mesh_of(folder: Path, vertices: Array, faces: Any, border: bool = False) -> Mesh:
    """A mesh, by way of a file with all digits."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices, float).tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in np.asarray(faces).tolist()]
    path = folder / f"mesh{len(faces)}.obj"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_mesh(path, 1.0, border=border)


def sphere(folder: Path, subdivisions: int) -> Mesh:
    """Of the radius 1 m."""
    found = trimesh.creation.icosphere(subdivisions=subdivisions)
    return mesh_of(folder, found.vertices, found.faces)


def box(folder: Path, size: tuple[float, float, float] = (2.0, 1.0, 0.5)) -> Mesh:
    found = trimesh.creation.box(size)
    return mesh_of(folder, found.vertices, found.faces)


def on_unit_sphere(rng: np.random.Generator, count: int) -> Array:
    found = rng.normal(size=(count, 3))
    return found / np.linalg.norm(found, axis=1)[:, None]


def distance_from_triangles(points: Array, mesh: Mesh) -> Array:
    """The least distance from a triangle: from its plane where the foot lies inside, else from its edges."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    best = np.full(len(points), np.inf)
    for i, P in enumerate(points):
        inside = np.ones(len(a), bool)
        for p, q in ((a, b), (b, c), (c, a)):
            inside &= np.einsum("ij,ij->i", np.cross(q - p, P - p), normal) >= 0.0
            way = np.clip(np.einsum("ij,ij->i", P - p, q - p) / ((q - p) ** 2).sum(axis=1), 0.0, 1.0)
            best[i] = min(best[i], np.linalg.norm(p + way[:, None] * (q - p) - P, axis=1).min())
        flat = np.abs(np.einsum("ij,ij->i", P - a, normal))[inside]
        best[i] = min(best[i], flat.min(initial=np.inf))
    return best


def test_the_search_finds_the_closest_of_all_triangles(feet: Callable[..., Feet], tmp_path: Path) -> None:
    found = trimesh.creation.torus(1.0, 0.25, major_sections=23, minor_sections=9)
    rng = np.random.default_rng(1)
    mesh = mesh_of(tmp_path, found.vertices + rng.normal(size=found.vertices.shape) * 0.01, found.faces)
    points = rng.uniform(-1.5, 1.5, (300, 3)) * np.array([1.0, 1.0, 0.5])
    data = pack_mesh(mesh, curved=False)
    from_root = feet(data, points)
    assert np.abs(from_root.depth) == pytest.approx(distance_from_triangles(points, mesh), abs=1e-13)
    assert np.linalg.norm(points - from_root.point, axis=1) == pytest.approx(np.abs(from_root.depth), abs=1e-13)
    for curved in (False, True):
        data = pack_mesh(mesh, curved=curved)
        from_root = feet(data, points)
        for last in (0, 17, from_root.triangle):  # where it begins is a matter of time only
            warm = feet(data, points, last=last)
            assert warm.depth == pytest.approx(from_root.depth, abs=1e-13)


def test_a_tree_of_any_number_of_triangles_leaves_none_out(feet: Callable[..., Feet], tmp_path: Path) -> None:
    """Each triangle of a strip is found above its middle, with the boxes that are left over on every level of nodes."""
    for count in (1, 2, 7, 8, 9, 16, 17, 63, 64, 65, 130, 511, 513, 1025):
        x = np.arange(count + 2) * 0.5
        vertices = np.column_stack([x, np.arange(count + 2) % 2, np.sin(x)])
        faces = [(i, i + 1, i + 2) if i % 2 == 0 else (i + 1, i, i + 2) for i in range(count)]
        mesh = mesh_of(tmp_path, vertices, faces, border=True)
        data = pack_mesh(mesh, curved=False)
        found = feet(data, mesh.vertices[mesh.triangles].mean(axis=1))
        assert found.depth == pytest.approx(0.0, abs=1e-12) and len(set(found.triangle)) == count
        points = np.random.default_rng(count).uniform(-1.0, 1.0, (50, 3)) * [x[-1], 2.0, 2.0]
        near = feet(data, points)
        inside = near.on == 1  # beyond the border the foot lies on the plane across it
        off = np.linalg.norm(points - near.point, axis=1)[inside]
        assert off == pytest.approx(distance_from_triangles(points[inside], mesh), abs=1e-15 * x[-1] * 100)


def test_points_at_any_distance_have_a_closest_triangle(feet: Callable[..., Feet], tmp_path: Path) -> None:
    """Also where squares of single precision overflow, and a part whose place hides its size in single precision.
    Beyond 1e16 times the size of a part all of its triangles are equally far, and the side may be any."""
    for scale in (1e-30, 1.0, 1e15, 1e25, 1e100, -1e15, -1e25, -1e100):
        found = feet(pack_mesh(box(tmp_path), curved=False), scale * np.array([[0.0, 0.0, 1.0], [3.0, -0.1, 0.1]]))
        assert np.isfinite(found.depth).all()
        if abs(scale) >= 1e15:
            far = abs(scale) * np.array([1.0, np.linalg.norm([3.0, -0.1, 0.1])])
            side = np.sign(found.depth) if abs(scale) > 1e16 else -1.0
            assert side * found.depth == pytest.approx(far, rel=1e-9)
    small = trimesh.creation.icosphere(subdivisions=2, radius=1e-6)
    mesh = mesh_of(tmp_path, small.vertices + 8000.0, small.faces)
    points = 8000.0 + 1.1e-6 * on_unit_sphere(np.random.default_rng(6), 50)
    depth = feet(pack_mesh(mesh, curved=False), points).depth
    assert np.abs(depth) == pytest.approx(distance_from_triangles(points, mesh), abs=1e-11)


def test_the_sign_is_that_of_the_side_at_faces_edges_and_corners(feet: Callable[..., Feet], tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    half = np.array([1.0, 0.5, 0.25])
    points = rng.uniform(-1.5, 1.5, (2000, 3)) * half
    off = np.abs(points) - half
    outside = np.linalg.norm(np.maximum(off, 0.0), axis=1)
    expected = np.where(outside > 0.0, -outside, -off.max(axis=1))
    for curved in (False, True):  # a box has only sharp edges, and stays one
        found = feet(pack_mesh(box(tmp_path), curved=curved), points)
        assert found.depth == pytest.approx(expected, abs=1e-14)
        assert np.linalg.norm(found.normal, axis=1) == pytest.approx(1.0, abs=1e-14)
        assert points + found.depth[:, None] * found.normal == pytest.approx(found.point, abs=1e-14)
    inward = feet(pack_mesh(box(tmp_path)), points, side=-1.0)
    assert (inward.depth == -found.depth).all() and (inward.normal == -found.normal).all()


def test_the_force_on_curved_triangles_converges_faster_than_the_square_of_the_edge(
    feet: Callable[..., Feet], tmp_path: Path
) -> None:
    """And on flat ones with the edge itself: their normals jump."""
    direction = on_unit_sphere(np.random.default_rng(3), 3000)
    depth = 1e-3
    errors: dict[bool, list[float]] = {True: [], False: []}
    for subdivisions in (2, 3, 4):
        mesh = sphere(tmp_path, subdivisions)
        for curved, found in errors.items():
            foot = feet(pack_mesh(mesh, curved=curved), (1.0 - depth) * direction)
            force = foot.depth[:, None] * foot.normal / depth
            found.append(
                float(np.sqrt(((force - direction) ** 2).sum(axis=1).mean()))
                if curved
                else float(np.sqrt(((foot.normal - direction) ** 2).sum(axis=1).mean()))
            )
    for curved, least, most in ((True, 3.5, 4.5), (False, 0.9, 1.1)):
        order = np.log2(np.array(errors[curved][:-1]) / errors[curved][1:])
        assert (order > least).all() and (order < most).all(), (curved, errors[curved])


@pytest.mark.slow
def test_the_force_on_a_sphere_of_a_thousand_to_a_million_triangles_converges(
    feet: Callable[..., Feet], tmp_path: Path
) -> None:
    """With a power of the edge beyond the square on curved triangles, and with the edge itself on flat ones: 1,280,
    20,480 and 1,310,720 of them, by way of a file of doubles."""
    direction = on_unit_sphere(np.random.default_rng(7), 3000)
    depth, steps = 1e-3, (3, 5, 8)
    errors: dict[bool, list[float]] = {True: [], False: []}
    for subdivisions in steps:
        found = trimesh.creation.icosphere(subdivisions=subdivisions)
        places = ["property double " + axis for axis in "xyz"]
        header = ["ply", "format binary_little_endian 1.0", f"element vertex {len(found.vertices)}", *places]
        header += [f"element face {len(found.faces)}", "property list uchar int vertex_indices", "end_header", ""]
        faces = np.zeros(len(found.faces), [("count", "u1"), ("corners", "<i4", 3)])
        faces["count"], faces["corners"] = 3, found.faces
        content = "\n".join(header).encode() + found.vertices.astype("<f8").tobytes() + faces.tobytes()
        (tmp_path / "sphere.ply").write_bytes(content)
        mesh = read_mesh(tmp_path / "sphere.ply", 1.0)
        for curved, of_both in errors.items():
            foot = feet(pack_mesh(mesh, curved=curved), (1.0 - depth) * direction)
            force = foot.depth[:, None] * foot.normal / depth if curved else foot.normal
            of_both.append(float(np.sqrt(((force - direction) ** 2).sum(axis=1).mean())))
    for curved, least in ((True, 3.5), (False, 0.9)):
        order = np.log2(np.array(errors[curved][:-1]) / errors[curved][1:]) / np.diff(steps)
        assert (order > least).all(), (curved, errors[curved])


def test_random_triangles_in_a_plane_are_the_plane(feet: Callable[..., Feet], tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    flat = np.vstack([rng.uniform(-1.0, 1.0, (500, 2)), list(itertools.product((-1.0, 1.0), repeat=2))])
    turned = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turned *= np.sign(np.linalg.det(turned))
    mesh = mesh_of(tmp_path, np.column_stack([flat, np.zeros(len(flat))]) @ turned.T, Delaunay(flat).simplices, True)
    points = np.column_stack([rng.uniform(-0.99, 0.99, (2000, 2)), rng.uniform(-0.1, 0.1, 2000)])
    found = feet(pack_mesh(mesh), points @ turned.T)
    assert found.depth == pytest.approx(-points[:, 2], abs=1e-15 * 4)
    assert found.normal == pytest.approx(np.broadcast_to(turned[:, 2], (2000, 3)), abs=1e-13)
    assert found.on.all()


@pytest.mark.slow
def test_a_force_along_the_normal_has_an_energy_and_that_of_facets_under_a_smooth_depth_has_none(
    feet: Callable[..., Feet], tmp_path: Path
) -> None:
    """Work of a spring over the depth, along a path over a thousand edges, against the change of its energy."""
    mesh = sphere(tmp_path, 5)
    smooth, facet = pack_mesh(mesh), pack_mesh(mesh, curved=False)

    def place(turn: Array) -> Array:
        depth, tilt = 1e-3 * (1.0 + 0.5 * np.sin(7.0 * turn)), 0.9 * np.sin(0.31 * turn)
        around = [np.cos(turn) * np.cos(tilt), np.sin(turn) * np.cos(tilt), np.sin(tilt)]
        return np.column_stack([(1.0 - depth) * one for one in around])

    turn = np.linspace(0.0, 24.0, 24_001)
    triangle = feet(smooth, place(turn)).triangle
    crossed = np.flatnonzero(np.diff(triangle))
    assert len(crossed) > 1000
    low, high = turn[crossed], turn[crossed + 1]
    for _ in range(45):
        middle = (low + high) / 2.0
        stays = feet(smooth, place(middle), last=triangle[crossed]).triangle == triangle[crossed]
        low, high = np.where(stays, middle, low), np.where(stays, high, middle)
    ends = np.sort(np.concatenate([turn, high]))  # the force turns at edges
    nodes, weights = np.polynomial.legendre.leggauss(3)
    times = ((ends[1:] + ends[:-1]) / 2.0 + nodes[:, None] * np.diff(ends) / 2.0).ravel()
    shares = (weights[:, None] * np.diff(ends) / 2.0).ravel()
    velocity = place(times + 1e-30j).imag / 1e-30
    on_smooth, on_facet = feet(smooth, place(times)), feet(facet, place(times))

    def work(normal: Array) -> float:
        """J, for 1 N/m."""
        return float(shares @ (on_smooth.depth * (normal * velocity).sum(axis=1)))

    first, last = feet(smooth, place(turn[[0, -1]])).depth
    energy, largest = (first**2 - last**2) / 2.0, float((on_smooth.depth**2).max()) / 2.0
    assert abs(work(on_smooth.normal) - energy) < 1e-6 * largest
    assert abs(work(on_facet.normal) - energy) > 1e-3 * largest, "the negative control"


@pytest.mark.parametrize("curved", [True, False])
def test_derivatives_are_those_of_the_distance(feet: Callable[..., Feet], tmp_path: Path, curved: bool) -> None:
    rng = np.random.default_rng(5)
    found = trimesh.creation.cylinder(radius=0.5, height=1.0, sections=16)
    data = pack_mesh(mesh_of(tmp_path, found.vertices, found.faces), curved=curved)
    points, direction, step = rng.uniform(-0.8, 0.8, (400, 3)), on_unit_sphere(rng, 400), 1e-6
    here = feet(data, points, direction=direction)
    ahead, behind = feet(data, points + step * direction), feet(data, points - step * direction)
    one_place = (ahead.triangle == behind.triangle) & (np.abs(ahead.normal - behind.normal).max(axis=1) < 1e-4)
    one_place &= np.linalg.norm(points - here.point, axis=1) > 1e-2  # of an edge: where its curvature is not large
    assert one_place.sum() > 200
    assert here.depth_rate == pytest.approx(-(here.normal * direction).sum(axis=1), abs=1e-11)
    slope = (ahead.normal - behind.normal) / (2.0 * step)
    assert here.normal_rate[one_place] == pytest.approx(slope[one_place], abs=1e-5)


def test_an_open_mesh_continues_straight_beyond_its_border_and_is_not_there(
    feet: Callable[..., Feet], tmp_path: Path
) -> None:
    square = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    data = pack_mesh(mesh_of(tmp_path, square, [(0, 1, 2), (0, 2, 3)], border=True))
    points = np.array([[0.5, 0.4, -0.1], [1.2, 0.5, -0.1], [1.2, 1.3, -0.1], [0.9, 0.5, 0.2], [-0.1, 0.5, 0.3]])
    found = feet(data, points)
    assert found.depth == pytest.approx(-points[:, 2], abs=1e-15)
    assert found.normal == pytest.approx(np.broadcast_to([0.0, 0.0, 1.0], (5, 3)), abs=1e-15)
    assert found.on.tolist() == [1, 0, 0, 1, 0]
    assert found.inside[[1, 2, 3, 4]] == pytest.approx([-0.2, -np.hypot(0.2, 0.3), 0.1, -0.1], abs=1e-15)


def test_where_no_closest_point_is_the_only_one_the_last_is_kept_and_flagged(
    feet: Callable[..., Feet], tmp_path: Path
) -> None:
    """The middle of a box lies between its nearest faces, that of a sphere is the centre of all its curvatures."""
    for curved in (True, False):
        data = pack_mesh(box(tmp_path), curved=curved)
        above, below = (feet(data, np.array([0.1, 0.07, z])) for z in (0.2, -0.2))
        for one in (above, below):
            middle = feet(data, np.array([0.1, 0.07, 0.0]), last=one.triangle)
            assert middle.singular == [1] and not one.singular
            assert (middle.triangle == one.triangle).all() and (middle.normal == one.normal).all()
    for last in range(0, 320, 20):
        centre = feet(pack_mesh(sphere(tmp_path, 2)), np.zeros(3), last=last)
        assert centre.singular == [1]
        assert np.isfinite(centre.point).all() and np.linalg.norm(centre.normal) == pytest.approx(1.0)


def test_corners_edges_and_vertices_are_places_like_others(feet: Callable[..., Feet], tmp_path: Path) -> None:
    """Points on the mesh itself: no depth, a unit normal, no number that is none."""
    for mesh in (box(tmp_path), sphere(tmp_path, 1)):
        edges = (mesh.vertices[mesh.triangles] + mesh.vertices[np.roll(mesh.triangles, 1, axis=1)]) / 2.0
        for curved in (True, False):
            data = pack_mesh(mesh, curved=curved)
            at_vertices = feet(data, mesh.vertices)
            assert at_vertices.depth == pytest.approx(0.0, abs=1e-15)
            for found in (at_vertices, feet(data, edges.reshape(-1, 3))):
                assert np.linalg.norm(found.normal, axis=1) == pytest.approx(1.0, abs=1e-14)
                assert np.isfinite(found.depth).all() and np.isfinite(found.point).all()


@pytest.mark.parametrize("triangles", [1, 2, 4, 5, 31])
def test_the_tree_of_few_triangles_is_whole(feet: Callable[..., Feet], tmp_path: Path, triangles: int) -> None:
    fan = np.array([[0.0, 0.0, 0.0], *([np.cos(a), np.sin(a), 0.0] for a in np.linspace(0.0, 3.0, triangles + 1))])
    mesh = mesh_of(tmp_path, fan, [(0, k + 1, k + 2) for k in range(triangles)], border=True)
    middles = mesh.vertices[mesh.triangles].mean(axis=1)
    found = feet(pack_mesh(mesh), middles - [0.0, 0.0, 1e-3])
    assert found.depth == pytest.approx(1e-3, abs=1e-15) and found.on.all()


@pytest.mark.slow
def test_a_wall_is_as_thick_as_it_is(tmp_path: Path) -> None:
    assert thinnest_wall(box(tmp_path, (1.0, 1.0, 0.01))) == pytest.approx(0.01, rel=1e-12)
    assert reach(box(tmp_path, (1.0, 1.0, 0.01)), 1.0) == 0.005
    assert thinnest_wall(sphere(tmp_path, 3)) == pytest.approx(2.0, rel=0.03)
    assert thinnest_wall(sphere(tmp_path, 3), side=-1.0) == np.inf
    cube = box(tmp_path, (1.0, 1.0, 1.0))
    assert thinnest_wall(cube) == np.inf and 0.45 < reach(cube, 1.0) <= 0.5 and reach(cube, -1.0) == np.inf


@pytest.mark.slow
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_free_place_is_off_the_mesh(feet: Callable[..., Feet], tmp_path: Path, side: float) -> None:
    for mesh in (box(tmp_path), sphere(tmp_path, 2)):
        found = feet(pack_mesh(mesh), np.array(free_place(mesh, side)), side=side)
        assert found.depth < -0.1 and not found.singular
