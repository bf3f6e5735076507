"""A mesh as contact_core/surfaces/mesh.h has it: corners with normals, triangles, and the tree of boxes around them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmu_builder.model.mesh import Floats, Indices, Mesh, doubled_areas

LEAF = 4  # triangles of a leaf at most
BORDER = 0xFFFFFFFF
HEADER = 64  # bytes, of CcMeshData
NO_BULGE = 1e-14  # of the size of a mesh: what rounding leaves of a flat triangle
_TRIANGLE = np.dtype([("corner", "<u4", 3), ("beyond", "<u4", 3), ("bulge", "<f4"), ("marks", "<u4")])
_CHUNK = 100_000  # triangles whose patches are computed at once


def pack_mesh(mesh: Mesh, crease: float = math.pi / 6, curved: bool = True) -> bytes:
    """The data of a mesh.   crease  angle between normals, rad, from which on an edge is sharp

    curved   False: its triangles stay flat"""
    creased = creases(mesh, crease)
    corner, places, normals = corners(mesh, creased)
    order, levels = _tree_order(mesh.vertices[mesh.triangles].mean(axis=1))
    size = float(mesh.size.max())
    where = np.empty(len(mesh.triangles), np.int64)  # of each triangle in the order of the leaves
    where[order[::-1]] = np.arange(len(order))[::-1]  # the first of those that fill up the leaves

    triangles = np.zeros(len(order), _TRIANGLE)
    first_use = _first_uses(corner[order])
    rank = np.empty(len(places), np.int64)
    rank[first_use] = np.arange(len(places))  # corners lie in the order in which the leaves use them
    triangles["corner"] = rank[corner[order]]
    triangles["beyond"] = np.where(mesh.neighbours < 0, BORDER, where[mesh.neighbours])[order]
    marks = _marks(mesh, creased, corner) if curved else _rims(mesh)
    triangles["marks"] = marks[order]
    boxes = np.empty((len(mesh.triangles), 6))
    bulge = np.zeros(len(mesh.triangles))
    for begin in range(0, len(boxes), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        net = mesh.vertices[mesh.triangles[part]]
        if curved:
            net, bulge[part] = _nets(mesh, part, corner, normals, marks)
            bulge[part][bulge[part] <= NO_BULGE * size] = 0.0
        boxes[part] = np.hstack([net.min(axis=1), net.max(axis=1)])
    above = np.nextafter(bulge.astype(np.float32), np.float32(np.inf))
    triangles["bulge"] = np.where(bulge > 0.0, above, np.float32(0.0))[order]
    tree = _boxes(boxes[order], levels)
    table = np.hstack([places, normals])[first_use].astype("<f8")
    return _laid_out(tree, triangles, table, levels)


def outlines(data: bytes, most: int) -> Floats:
    """Shape (n, 4, 3), m: around each of n triangles, at most `most`, evenly chosen."""
    head = np.frombuffer(data, "<u4", 16)
    triangles = np.frombuffer(data, _TRIANGLE, head[0], head[5])
    places = np.frombuffer(data, "<f8", 6 * head[1], head[6]).reshape(-1, 6)[:, :3]
    chosen = np.linspace(0, len(triangles) - 1, min(len(triangles), most)).astype(int)
    return np.asarray(places[triangles["corner"][chosen][:, [0, 1, 2, 0]]])


def _laid_out(tree: NDArray[np.float32], triangles: NDArray[Any], corners: Floats, levels: int) -> bytes:
    parts = [tree.astype("<f4").tobytes(), triangles.tobytes(), corners.tobytes()]
    starts, at = [], HEADER
    for part in parts:
        starts.append(at)
        at += len(part) + -len(part) % HEADER
    head = np.zeros(16, "<u4")
    head[:7] = (len(triangles), len(corners), 2**levels, len(triangles) >> levels, *starts)
    return head.tobytes() + b"".join(part + bytes(-len(part) % HEADER) for part in parts)


def _first_uses(corner: Indices) -> Indices:
    """Corners in the order in which they are used first."""
    found, first = np.unique(corner.ravel(), return_index=True)
    return np.asarray(found[np.argsort(first)])


# ---- corners, normals, creases ---------------------------------------------------------------------------------------


def creases(mesh: Mesh, angle: float) -> NDArray[np.bool_]:
    """Shape (m, 3): edge k is a crease, where the normals on both sides differ by more than the angle."""
    normals = doubled_areas(mesh.vertices, mesh.triangles)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    found = np.zeros(mesh.neighbours.shape, bool)
    for k in range(3):
        inner = mesh.neighbours[:, k] >= 0
        cosine = np.einsum("ij,ij->i", normals[inner], normals[mesh.neighbours[inner, k]])
        found[inner, k] = cosine < math.cos(angle)
    return found


def corners(mesh: Mesh, creased: NDArray[np.bool_]) -> tuple[Indices, Floats, Floats]:
    """Corner of each triangle's corners, shape (m, 3), positions and unit normals of the corners.

    Triangles around a vertex share a corner unless creases part them."""
    corner = mesh.triangles if not creased.any() else _parted(mesh, creased)
    count = int(corner.max()) + 1
    places = np.empty((count, 3))
    places[corner] = mesh.vertices[mesh.triangles]
    normals = np.zeros((count, 3))
    at = mesh.vertices[mesh.triangles]
    for k in range(3):
        one, two = at[:, (k + 1) % 3] - at[:, k], at[:, (k + 2) % 3] - at[:, k]
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
) -> tuple[Floats, Floats]:
    """Shape (n, 10, 3): the points of each patch, in the order of cc_mesh_net; and the largest distance of one from
    its place in the flat triangle."""
    triangles = mesh.triangles[part]
    at = mesh.vertices[triangles]
    net = np.empty((len(triangles), 10, 3))
    flat = np.empty_like(net)
    net[:, :3] = flat[:, :3] = at
    for k in range(3):
        for second in (0, 1):
            mine, to = ((k + 1) % 3, k) if second else (k, (k + 1) % 3)
            edge = at[:, to] - at[:, mine]
            n = normals[corner[part][:, mine]]
            along = edge - np.einsum("ij,ij->i", edge, n)[:, None] * n
            sharp = np.flatnonzero(marks[part] >> (k + 3 * second) & 1)
            other = mesh.neighbours[part][sharp, k]
            theirs = (mesh.triangles[other] == triangles[sharp, mine][:, None]).argmax(axis=1)
            line = np.cross(n[sharp], normals[corner[other, theirs]])
            share = np.einsum("ij,ij->i", edge[sharp], line) / np.einsum("ij,ij->i", line, line)
            along[sharp] = share[:, None] * line
            net[:, 3 + 2 * k + second] = at[:, mine] + along / 3.0
            flat[:, 3 + 2 * k + second] = at[:, mine] + edge / 3.0
    for one in (net, flat):
        one[:, 9] = one[:, 3:9].sum(axis=1) / 4.0 - at.sum(axis=1) / 6.0
    return net, np.asarray(np.linalg.norm(net - flat, axis=2).max(axis=1))


# ---- the tree --------------------------------------------------------------------------------------------------------


def _tree_order(middles: Floats) -> tuple[Indices, int]:
    """Triangles in the order of the leaves, of which the last ones are filled up with others, and the depth."""
    count = len(middles)
    levels = max(math.ceil(math.log2(count / LEAF)), 0)
    room = -(-count >> levels) << levels
    order = np.concatenate([np.arange(count), np.linspace(0, count - 1, room - count).astype(np.int64)])
    at = middles[order].T.astype(np.float32)  # moved along with `order`: neighbours stay near each other in memory
    for level in range(levels):
        order, at = order.reshape(2**level, -1), at.reshape(3, 2**level, -1)
        axis = (at.max(axis=2) - at.min(axis=2)).argmax(axis=0)  # halved across the longest
        halves = np.argpartition(at[axis, np.arange(2**level)], order.shape[1] // 2, axis=1)
        order = np.take_along_axis(order, halves, axis=1)
        at = np.take_along_axis(at, halves[None], axis=2)
    order = order.ravel()
    return order, levels


def _boxes(boxes: Floats, levels: int) -> NDArray[np.float32]:
    """Shape (2 leaves, 6): the boxes of all nodes, of which the first is none, rounded outwards."""
    nodes = np.zeros((2 << levels, 6), np.float32)
    low, high = boxes[:, :3].reshape(2**levels, -1, 3).min(axis=1), boxes[:, 3:].reshape(2**levels, -1, 3).max(axis=1)
    for level in range(levels, -1, -1):
        row = nodes[2**level : 2 << level]
        row[:, :3] = np.nextafter(low.astype(np.float32), np.float32(-np.inf))
        row[:, 3:] = np.nextafter(high.astype(np.float32), np.float32(np.inf))
        if level > 0:
            low, high = low.reshape(-1, 2, 3).min(axis=1), high.reshape(-1, 2, 3).max(axis=1)
    return nodes
