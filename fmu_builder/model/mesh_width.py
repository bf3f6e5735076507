"""How thick a mesh is, and where a point lies free of it: balls that touch it, found among sample points of it.

The ball at a sample point q lies on one side of the mesh, touches it in q, and is as large as the other points let it
be: its centre has q and one of these as its closest points.  Shrinking it to the point nearest to its centre, again and
again, finds it.   Source: Ma, Bae, Choi (2012), 3D medial axis point approximation using nearest neighbors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from fmu_builder.model.mesh import Floats, Indices, Mesh
from fmu_builder.model.mesh_tree import corners, creases

SAMPLES = 1_000  # points from which balls are sought
MOST_TARGETS = 50_000  # points that limit them
MOST_EDGES = 10_000  # sharp ones that are looked at
MOST_OFF = 1.0  # m from the mesh to a place that is free of it
CREASE = math.pi / 6  # rad between triangles, beyond which their surfaces are two
_OPPOSITE = -0.5  # product of the normals on both sides of a wall, at most
_BESIDE = 0.2  # share by which radius and angle of a ball beside an edge may differ from those of its faces
_SHORT = 0.1  # share by which the search for the nearest point may miss at first
_EXACT = 20  # balls that are made exact


@dataclass(frozen=True)
class _Points:
    """Points of a mesh, the unit normals out of it, both of shape (n, 3), and the number of their smooth surface."""

    places: Floats
    normals: Floats
    surface: Indices

    @property
    def size(self) -> float:
        return float(np.linalg.norm(np.ptp(self.places, axis=0)))


@dataclass(frozen=True)
class _Edges:
    """Edges of the material below 60 degrees: their ends, both of shape (n, 3), and the angles there, rad."""

    begins: Floats
    ends: Floats
    angles: Floats

    def are_beside(self, places: Floats, radii: Floats, facing: Floats) -> NDArray[np.bool_]:
        """1 for balls that touch both faces of an edge, one of them at these places, facing: product of the normals.
        They are as small as the places are close to the edge."""
        beside = np.zeros(len(places), bool)
        if not len(self.angles):
            return beside
        ways, angles = self.ends - self.begins, np.pi - np.arccos(np.clip(facing, -1.0, 1.0))
        square = (ways**2).sum(axis=1)
        for k, (place, radius, angle) in enumerate(zip(places, radii, angles, strict=True)):
            share = np.clip(np.einsum("ij,ij->i", place - self.begins, ways) / square, 0.0, 1.0)
            far = np.linalg.norm(place - self.begins - share[:, None] * ways, axis=1)
            touches = np.abs(far * np.tan(self.angles / 2.0) - radius) < _BESIDE * radius
            beside[k] = (touches & (np.abs(angle - self.angles) < _BESIDE * self.angles)).any()
        return beside


def thinnest_wall(mesh: Mesh, side: float = 1.0) -> float:
    """Thickness of the material, m, where its surface looks away from itself; inf if it nowhere does.  Beside a sharp
    edge it is as thin as one likes: that is no wall.

    side   1: the material is what the mesh encloses, -1: what is around it
    From samples: what is thin over less than 1/30 of the size of the mesh may be missed."""
    return _thickness(mesh, side)[0]


def _thickness(mesh: Mesh, side: float) -> tuple[float, float]:
    """The thinnest wall, m, and the largest width beside sharp edges, 0 where there are none."""
    label, edges = _surfaces(mesh), _acute_edges(mesh, side)
    wall, beside = _walls(_middles(mesh, label), edges, side)
    return min(wall, 2.0 * _curvature(_vertices(mesh, label), edges, side)), beside


def _acute_edges(mesh: Mesh, side: float) -> _Edges:
    """Those of the material on that side; of very many some, and beside the others there seem to be walls."""
    one, k = np.nonzero(creases(mesh, math.acos(_OPPOSITE)))
    other = mesh.neighbours[one, k]
    once = np.flatnonzero(one < other)
    some = once[np.linspace(0, len(once) - 1, min(len(once), MOST_EDGES)).astype(int)]
    one, k, other = one[some], k[some], other[some]
    begins, ends = mesh.vertices[mesh.triangles[one, k]], mesh.vertices[mesh.triangles[one, (k + 1) % 3]]
    beyond = mesh.vertices[mesh.triangles[other]].mean(axis=1) - begins
    convex = side * np.einsum("ij,ij->i", beyond, mesh.normals[one]) < 0.0
    opposite = np.einsum("ij,ij->i", mesh.normals[one], mesh.normals[other])
    angles = np.maximum(np.pi - np.arccos(np.clip(opposite, -1.0, 1.0)), 1e-6)
    return _Edges(begins[convex], ends[convex], angles[convex])


def _walls(points: _Points, edges: _Edges, side: float) -> tuple[float, float]:
    """The least width between triangles that look away from each other, and the largest one beside the edges."""
    inward = -side * points.normals
    _, touched = _balls(points, inward, points.size)
    found = np.flatnonzero(touched >= 0)
    other = inward[touched[found]]
    facing = np.einsum("ij,ij->i", inward[found], other)
    # the ball touches the plane through the other point, not only that point
    off = np.einsum("ij,ij->i", points.places[found] - points.places[touched[found]], other)
    opposite = np.flatnonzero((facing < _OPPOSITE) & (off > 0.0))
    places, widths = points.places[found[opposite]], 2.0 * off[opposite] / (1.0 - facing[opposite])
    beside = edges.are_beside(places, widths / 2.0, facing[opposite])
    return float(widths[~beside].min(initial=math.inf)), float(widths[beside].max(initial=0.0))


def _curvature(points: _Points, edges: _Edges, side: float) -> float:
    """The least radius of a ball between two places of one smooth surface, not beside the edges."""
    inward = -side * points.normals
    radius, touched = _balls(points, inward, points.size)
    same = np.flatnonzero((touched >= 0) & (points.surface[: len(touched)] == points.surface[touched]))
    facing = np.einsum("ij,ij->i", inward[same], inward[touched[same]])
    beside = edges.are_beside(points.places[same], radius[same], facing)
    return float(radius[same][~beside].min(initial=math.inf))


def _largest_ball(points: _Points, side: float) -> float:
    """Radius of the largest ball in the material, m, inf in material without end."""
    radius, touched = _balls(points, -side * points.normals, points.size, widest=True)
    return float(radius.max()) if (touched >= 0).all() else math.inf


def reach(mesh: Mesh, side: float) -> float:
    """Depth up to which points have one closest point, m, rounded down to three digits.  Sharp edges are left out:
    below them every depth has two.  In a part without walls, as a wedge or a cube, it is the radius of the largest
    ball."""
    wall, beside = _thickness(mesh, side)
    half = wall / 2.0
    if half == math.inf:
        half = beside / 2.0 or _largest_ball(_middles(mesh, _surfaces(mesh)), side)
    if not 0.0 < half < math.inf:
        return math.inf
    digit = 10.0 ** (math.floor(math.log10(half)) - 2)
    return float(f"{math.floor(half / digit + 1e-9) * digit:.3g}")


def free_place(mesh: Mesh, side: float) -> tuple[float, float, float]:
    """A place off the mesh on its free side that has one closest point, m."""
    points = _middles(mesh, np.zeros(len(mesh.triangles), np.int64))
    outward = side * points.normals
    far = min(2.0 * MOST_OFF, float(mesh.size.max()))
    radius, _ = _balls(points, outward, far)
    best = int(np.argmax(radius))
    x, y, z = map(float, points.places[best] + radius[best] / 2.0 * outward[best])
    return x, y, z


def _surfaces(mesh: Mesh) -> Indices:
    """Of each triangle the number of the smooth surface that it belongs to."""
    creased = creases(mesh, CREASE)
    one, k = np.nonzero((mesh.neighbours >= 0) & ~creased)
    links = coo_array((np.ones(len(one), np.int8), (one, mesh.neighbours[one, k])), 2 * (len(mesh.triangles),))
    return np.asarray(connected_components(links, directed=False)[1], np.int64)


def _middles(mesh: Mesh, label: Indices) -> _Points:
    """Points on triangles in proportion to their areas, and the middles of triangles."""
    areas, normals = mesh.areas, mesh.normals
    random = np.random.default_rng(0)  # the same points for the same mesh
    chosen = random.choice(len(areas), SAMPLES, p=areas / areas.sum())
    y, z = random.random((2, SAMPLES))
    y, z = np.where(y + z > 1.0, 1.0 - y, y), np.where(y + z > 1.0, 1.0 - z, z)
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    inner = a[chosen] + y[:, None] * (b - a)[chosen] + z[:, None] * (c - a)[chosen]
    some = np.linspace(0, len(areas) - 1, min(len(areas), MOST_TARGETS)).astype(int)
    middles = (a[some] + b[some] + c[some]) / 3.0
    every = np.concatenate([chosen, some])
    return _Points(np.vstack([inner, middles]), normals[every], label[every])


def _vertices(mesh: Mesh, label: Indices) -> _Points:
    """Vertices with the normals of each smooth surface there."""
    corner, places, normals = corners(mesh, CREASE)
    surface = np.empty(len(places), np.int64)
    surface[corner] = label[:, None]
    some = np.random.default_rng(0).permutation(len(places))[:MOST_TARGETS]
    return _Points(places[some], normals[some], surface[some])


def _balls(points: _Points, ahead: Floats, largest: float, widest: bool = False) -> tuple[Floats, Indices]:
    """The radius of the ball at each of the first SAMPLES points in the direction `ahead`, m, at most `largest`, and
    the point that limits it, -1 if none does.  Exact are the narrowest of them, or the widest."""
    tree = cKDTree(points.places)
    at, to = points.places[:SAMPLES], ahead[:SAMPLES]
    radius, touched = np.full(len(at), largest), np.full(len(at), -1)
    for short in (_SHORT, 0.0):  # roughly everywhere, then exactly at some
        growing = np.arange(len(at)) if short else np.argsort(-radius if widest else radius)[:_EXACT]
        for _ in range(50):
            _, nearest = tree.query(at[growing] + radius[growing, None] * to[growing], eps=short)
            away = points.places[nearest] - at[growing]
            square, along = (away**2).sum(axis=1), np.einsum("ij,ij->i", away, to[growing])
            smaller = along * 2.0 * radius[growing] > square * (1.0 + 1e-9)
            growing, nearest = growing[smaller], nearest[smaller]
            if not len(growing):
                break
            radius[growing] = square[smaller] / (2.0 * along[smaller])
            touched[growing] = nearest
    return radius, touched
