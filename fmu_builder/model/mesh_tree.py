"""A mesh as contact_core/surfaces/mesh.h has it: corners with normals, triangles, and the tree of boxes around them."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmu_builder.model.mesh import Floats, Indices, Mesh

WIDTH = 8  # boxes of a node
BORDER = 0xFFFFFFFF
HEADER = 64  # bytes, of CcMeshData
NO_BULGE = 1e-14  # of the size of a mesh: what rounding leaves of a flat triangle
_TRIANGLE = np.dtype([("corner", "<u4", 3), ("beyond", "<u4", 3), ("bulge", "<f4"), ("marks", "<u4")])
_CHUNK = 100_000  # triangles whose patches are computed at once


def pack_mesh(mesh: Mesh, crease: float = math.pi / 6, curved: bool = True) -> bytes:
    """The data of a mesh.   crease  angle between normals, rad, from which on an edge is sharp

    curved   False: its triangles stay flat"""
    creased = creases(mesh, crease)
    corner, places, normals = corners(mesh, crease)
    at = [mesh.vertices[mesh.triangles[:, k]] for k in range(3)]
    order = _tree_order((at[0] + at[1] + at[2]) / 3.0)
    size = float(mesh.size.max())
    where = np.empty(len(mesh.triangles), np.int64)  # of each triangle in the order of the tree
    where[order] = np.arange(len(order))

    triangles = np.zeros(len(order), _TRIANGLE)
    first_use = _first_uses(corner[order])
    rank = np.empty(len(places), np.int64)
    rank[first_use] = np.arange(len(places))  # corners lie in the order in which triangles use them
    triangles["corner"] = rank[corner[order]]
    triangles["beyond"] = np.where(mesh.neighbours < 0, BORDER, where[mesh.neighbours])[order]
    marks = _marks(mesh, creased, corner) if curved else _rims(mesh)
    triangles["marks"] = marks[order]
    low, high = _least(at), _greatest(at)
    bulge = np.zeros(len(mesh.triangles))
    for begin in range(0, len(bulge) if curved else 0, _CHUNK):
        part = slice(begin, begin + _CHUNK)
        net, bulge[part] = _nets(mesh, part, corner, normals, marks)
        bulge[part][bulge[part] <= NO_BULGE * size] = 0.0
        low[part], high[part] = _least(net), _greatest(net)
    above = np.nextafter(bulge.astype(np.float32), np.float32(np.inf))
    triangles["bulge"] = np.where(bulge > 0.0, above, np.float32(0.0))[order]
    nodes, levels = _nodes(low[order], high[order])
    table = np.hstack([places, normals])[first_use].astype("<f8")
    return _laid_out(nodes, levels, triangles, table)


def outlines(data: bytes, most: int) -> Floats:
    """Shape (n, 4, 3), m: around each of n triangles, at most `most`, evenly chosen."""
    head = np.frombuffer(data, "<u4", 16)
    triangles = np.frombuffer(data, _TRIANGLE, head[0], head[4])
    places = np.frombuffer(data, "<f8", 6 * head[1], head[5]).reshape(-1, 6)[:, :3]
    chosen = np.linspace(0, len(triangles) - 1, min(len(triangles), most)).astype(int)
    return np.asarray(places[triangles["corner"][chosen][:, [0, 1, 2, 0]]])


def _laid_out(nodes: NDArray[np.float32], levels: list[int], triangles: NDArray[Any], corners: Floats) -> bytes:
    parts = [nodes.astype("<f4").tobytes(), triangles.tobytes(), corners.tobytes()]
    starts, at = [], HEADER
    for part in parts:
        starts.append(at)
        at += len(part) + -len(part) % HEADER
    head = np.zeros(HEADER // 4, "<u4")
    head[:6] = (len(triangles), len(corners), len(levels), *starts)
    head[6 : 6 + len(levels)] = np.cumsum([0, *levels[:-1]])
    return head.tobytes() + b"".join(part + bytes(-len(part) % HEADER) for part in parts)


def _least(points: Sequence[Floats]) -> Floats:
    return np.asarray(functools.reduce(np.minimum, points))


def _greatest(points: Sequence[Floats]) -> Floats:
    return np.asarray(functools.reduce(np.maximum, points))


def _first_uses(corner: Indices) -> Indices:
    """Corners in the order in which they are used first."""
    uses = corner.ravel()
    first = np.empty(int(uses.max()) + 1, np.int64)
    first[uses[::-1]] = np.arange(len(uses))[::-1]  # the last assignment stays
    return np.argsort(first)


# ---- corners, normals, creases ---------------------------------------------------------------------------------------


def creases(mesh: Mesh, angle: float) -> NDArray[np.bool_]:
    """Shape (m, 3): edge k is a crease, where the normals on both sides differ by more than the angle."""
    name = f"creases {angle!r}"
    if name not in mesh.kept:
        found = np.zeros(mesh.neighbours.shape, bool)
        for k in range(3):
            inner = mesh.neighbours[:, k] >= 0
            cosine = np.einsum("ij,ij->i", mesh.normals[inner], mesh.normals[mesh.neighbours[inner, k]])
            found[inner, k] = cosine < math.cos(angle)
        mesh.kept[name] = found
    return np.asarray(mesh.kept[name])


def corners(mesh: Mesh, crease: float) -> tuple[Indices, Floats, Floats]:
    """Corner of each triangle's corners, shape (m, 3), positions and unit normals of the corners.

    Triangles around a vertex share a corner unless creases part them."""
    name = f"corners {crease!r}"
    if name not in mesh.kept:
        mesh.kept[name] = _corners(mesh, creases(mesh, crease))
    corner, places, normals = mesh.kept[name]
    return corner, places, normals


def _corners(mesh: Mesh, creased: NDArray[np.bool_]) -> tuple[Indices, Floats, Floats]:
    corner = mesh.triangles if not creased.any() else _parted(mesh, creased)
    count = int(corner.max()) + 1
    at = [mesh.vertices[mesh.triangles[:, k]] for k in range(3)]
    places, normals = np.empty((count, 3)), np.zeros((count, 3))
    for k in range(3):
        places[corner[:, k]] = at[k]
        one, two = at[(k + 1) % 3] - at[k], at[(k + 2) % 3] - at[k]
        # weights with which the normals of a sphere are exact: Max (1999), Weights for computing vertex normals
        weight = (one**2).sum(axis=1) * (two**2).sum(axis=1)
        share = np.cross(one, two) / weight[:, None]
        for i in range(3):
            normals[:, i] += np.bincount(corner[:, k], share[:, i], count)
    return corner, places, normals / np.linalg.norm(normals, axis=1)[:, None]


def _parted(mesh: Mesh, creased: NDArray[np.bool_]) -> Indices:
    """Corners, of which a vertex has one for each of the parts into which creases divide its triangles."""
    from scipy.sparse import coo_array  # starts in half a second: only who needs it waits
    from scipy.sparse.csgraph import connected_components

    starts, ends = [], []
    for k in range(3):
        one = np.flatnonzero((mesh.neighbours[:, k] >= 0) & ~creased[:, k])
        other = mesh.neighbours[one, k]
        for mine in (k, (k + 1) % 3):
            theirs = (mesh.triangles[other] == mesh.triangles[one, mine][:, None]).argmax(axis=1)
            starts.append(3 * one + mine)
            ends.append(3 * other + theirs)
    count = mesh.triangles.size
    start, end = np.concatenate(starts), np.concatenate(ends)
    links = coo_array((np.ones(len(start), np.int8), (start, end)), (count, count))
    _, label = connected_components(links, directed=False)
    return np.asarray(label, np.int64).reshape(-1, 3)


def _rims(mesh: Mesh) -> NDArray[np.uint32]:
    """The marks of corners on the border."""
    on_border = np.zeros(len(mesh.vertices), bool)
    open_edges = mesh.neighbours < 0
    on_border[mesh.triangles[open_edges]] = True
    on_border[np.roll(mesh.triangles, -1, axis=1)[open_edges]] = True
    bits = on_border[mesh.triangles] @ np.array([64, 128, 256])
    return np.asarray(bits, np.uint32)


def _marks(mesh: Mesh, creased: NDArray[np.bool_], corner: Indices) -> NDArray[np.uint32]:
    """Which corners lie on the border, and where two corners meet at a crease."""
    marks = _rims(mesh)
    for k in range(3):
        one = np.flatnonzero(creased[:, k])
        other = mesh.neighbours[one, k]
        for second in (0, 1):
            mine = (k + second) % 3
            theirs = (mesh.triangles[other] == mesh.triangles[one, mine][:, None]).argmax(axis=1)
            apart = corner[one, mine] != corner[other, theirs]
            marks[one[apart]] |= np.uint32(1 << (k + 3 * second))
    return marks


# ---- patches ---------------------------------------------------------------------------------------------------------


def _nets(
    mesh: Mesh, part: slice, corner: Indices, normals: Floats, marks: NDArray[np.uint32]
) -> tuple[list[Floats], Floats]:
    """The ten points of each patch, in the order of cc_mesh_net, each of shape (n, 3); and the largest distance of one
    from its place in the flat triangle."""
    triangles = mesh.triangles[part]
    net = [mesh.vertices[triangles[:, k]] for k in range(3)]
    flat = list(net)
    for k in range(3):
        for second in (0, 1):
            mine, to = ((k + 1) % 3, k) if second else (k, (k + 1) % 3)
            edge = net[to] - net[mine]
            n = normals[corner[part][:, mine]]
            along = edge - np.einsum("ij,ij->i", edge, n)[:, None] * n
            sharp = np.flatnonzero(marks[part] >> (k + 3 * second) & 1)
            other = mesh.neighbours[part][sharp, k]
            theirs = (mesh.triangles[other] == triangles[sharp, mine][:, None]).argmax(axis=1)
            line = np.cross(n[sharp], normals[corner[other, theirs]])
            share = np.einsum("ij,ij->i", edge[sharp], line) / np.einsum("ij,ij->i", line, line)
            along[sharp] = share[:, None] * line
            net.append(net[mine] + along / 3.0)
            flat.append(net[mine] + edge / 3.0)
    middle = (net[0] + net[1] + net[2]) / 6.0
    for one in (net, flat):
        one.append((one[3] + one[4] + one[5] + one[6] + one[7] + one[8]) / 4.0 - middle)
    off = [np.einsum("ij,ij->i", p - q, p - q) for p, q in zip(net[3:], flat[3:], strict=True)]
    return net, np.sqrt(_greatest(off))


# ---- the tree --------------------------------------------------------------------------------------------------------


def _tree_order(middles: Floats) -> Indices:
    """Triangles in the order of the tree: each run of a power of two of them, from a multiple of it on, lies together.

    Runs are halved across their longest side; what is left behind the largest one is divided in the same way."""
    order, at = np.arange(len(middles)), np.ascontiguousarray(middles.T, np.float32)
    runs = []
    while len(order) > WIDTH:
        size = 1 << (len(order) - 1).bit_length() - 1
        if 2 * size == len(order):
            size = len(order)
        chosen = np.argpartition(at[np.argmax(np.ptp(at, axis=1))], size - 1)
        runs.append(_halved(order[chosen[:size]], at[:, chosen[:size]]))
        order, at = order[chosen[size:]], at[:, chosen[size:]]
    return np.concatenate([*runs, order])


def _halved(order: Indices, at: NDArray[np.float32]) -> Indices:
    """The same for a power of two of triangles."""
    count = 1
    while len(order) // count > WIDTH:
        rows = at.reshape(3, count, -1)  # moved along with `order`: neighbours stay near each other in memory
        axis = _extents(rows).argmax(axis=0)
        middle = rows.shape[2] // 2
        chosen = np.argpartition(rows[axis, np.arange(count)], middle, axis=1)
        chosen = (chosen + (np.arange(count) * 2 * middle)[:, None]).ravel()
        order, at = order[chosen], at[:, chosen]
        count *= 2
    return order


def _extents(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Greatest less least of the last axis, whose length is a power of two; over short rows faster than np.ptp."""
    least = most = rows
    while least.shape[-1] > 1:
        half = least.shape[-1] // 2
        least = np.minimum(least[..., :half], least[..., half:])
        most = np.maximum(most[..., :half], most[..., half:])
    return np.asarray((most - least)[..., 0])


def _nodes(low: Floats, high: Floats) -> tuple[NDArray[np.float32], list[int]]:
    """Shape (nodes, 6, WIDTH): the boxes of the nodes of all levels, rounded outwards; and the number of nodes of each.

    low, high  of the triangles, shape (n, 3)"""
    below = np.nextafter(low.astype(np.float32), np.float32(-np.inf))
    above = np.nextafter(high.astype(np.float32), np.float32(np.inf))
    levels: list[NDArray[np.float32]] = []
    while not levels or len(levels[0]) > 1:
        none = np.full((-len(below) % WIDTH, 3), np.float32(np.inf))
        below = np.vstack([below, none]).reshape(-1, WIDTH, 3)
        above = np.vstack([above, -none]).reshape(-1, WIDTH, 3)
        levels.insert(0, np.concatenate([below, above], axis=2).transpose(0, 2, 1))
        below, above = below.min(axis=1), above.max(axis=1)
    return np.concatenate(levels), [len(level) for level in levels]
