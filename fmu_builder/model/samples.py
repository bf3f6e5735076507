"""A body as points: samples of its skin, each with its share of the area, and the tree of balls around them.

Evenly spread samples are the centroids of cells of about equal area, so a force that varies linearly over a flat cell
has the right sum and moment.  The cells come from fine points, which are halved again and again, and then moved by
Lloyd's iteration; in both a turn of the normal counts as a distance, which keeps the sides of a thin plate and those of
an edge apart.   Source: Du, Faber, Gunzburger (1999), Centroidal Voronoi tessellations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from fmu_builder.errors import InputError
from fmu_builder.model.mesh import Floats, Indices, Mesh, doubled_areas

MOST_SAMPLES = 10_000
FINE = 24  # fine points of a cell
MOST_FINE = 2_000_000
LLOYD = 6  # iterations, after which the cells hardly move
LEAF = 8  # samples below a leaf of the tree at most
GRID = 2.0**-40  # of the size: samples lie on such a grid, finer than any machine rounds sums of coordinates
GOLDEN = 0.6180339887498949  # multiples of it, without their whole part, spread evenly over 0 to 1

Box = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Samples:
    """places  shape (n, 3), m     areas  shape (n,), m2"""

    places: Floats
    areas: Floats


def at_vertices(mesh: Mesh, box: Box) -> Samples:
    """The vertices inside the box, each with a third of the triangles around it.

    Raises InputError if there are none or too many."""
    share = np.linalg.norm(doubled_areas(mesh.vertices, mesh.triangles), axis=1) / 6.0
    areas: Floats = np.bincount(mesh.triangles.ravel(), np.repeat(share, 3), len(mesh.vertices)).astype(float)
    chosen = np.flatnonzero(_inside(mesh.vertices, box) & (areas > 0.0))
    if not len(chosen):
        raise InputError(f"no vertex of the mesh lies between the given x, y and z: {_extent(mesh)}")
    if len(chosen) > MOST_SAMPLES:
        what = f"the mesh has {len(chosen)} vertices there, and at most {MOST_SAMPLES} samples are taken: write samples"
        raise InputError(f"{what} = {MOST_SAMPLES} or less, which spreads them evenly")
    return Samples(mesh.vertices[chosen], areas[chosen])


def spread(mesh: Mesh, count: int, box: Box) -> Samples:
    """About `count` samples, evenly over what lies inside the box.

    Raises InputError if that is nothing."""
    fine, normals, share = _fine_points(mesh, FINE * count, box)
    area = share * len(fine)
    turn = 3.0 * math.sqrt(area / count)  # m that a unit of the normal counts for: more than the size of a cell
    place = np.hstack([fine, turn * normals])
    cell = _halved(place, count)
    for _ in range(LLOYD):
        cell = cKDTree(_means(place, cell, count)).query(place)[1]
    number = np.bincount(cell, minlength=count)
    used = np.flatnonzero(number)
    centres = _means(fine, cell, count)
    # back to the mesh: across the triangle of the nearest fine point of the cell
    away = ((fine - centres[cell]) ** 2).sum(axis=1)
    order = np.lexsort((away, cell))
    nearest = order[np.flatnonzero(np.diff(cell[order], prepend=-1))]
    off = ((centres[used] - fine[nearest]) * normals[nearest]).sum(axis=1)
    return Samples(centres[used] - off[:, None] * normals[nearest], np.asarray(share * number[used], float))


def _extent(mesh: Mesh) -> str:
    low, high = (getattr(mesh.vertices, end)(axis=0).tolist() for end in ("min", "max"))
    return "it lies at " + ", ".join(f"{a} = {x:.4g} to {y:.4g} m" for a, x, y in zip("xyz", low, high, strict=True))


def _inside(places: Floats, box: Box) -> NDArray[np.bool_]:
    inside = [(places[:, k] >= low) & (places[:, k] <= high) for k, (low, high) in enumerate(box)]
    return np.asarray(np.all(inside, axis=0))


def _fine_points(mesh: Mesh, count: int, box: Box) -> tuple[Floats, Floats, float]:
    """At least `count` points of equal shares of the area inside the box, the normals there, and their share, m2."""
    low, high = (np.array([side[k] for side in box]) for k in (0, 1))
    at = mesh.vertices[mesh.triangles]
    at = at[((at.max(axis=1) >= low) & (at.min(axis=1) <= high)).all(axis=1)]
    normals = np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0])
    doubled = np.linalg.norm(normals, axis=1)
    ends = np.cumsum(doubled / 2.0)
    wanted = count
    while len(at) and wanted <= MOST_FINE:
        share = float(ends[-1]) / wanted
        along = (np.arange(wanted) + 0.5) * share
        triangle = np.minimum(np.searchsorted(ends, along), len(at) - 1)
        begin = ends[triangle] - doubled[triangle] / 2.0
        u = np.sqrt(np.clip((along - begin) / (ends[triangle] - begin), 0.0, 1.0))
        v = np.arange(wanted) * GOLDEN % 1.0
        a, b, c = (at[triangle, k] for k in range(3))
        places = a + (u * (1.0 - v))[:, None] * (b - a) + (u * v)[:, None] * (c - a)
        chosen = np.flatnonzero(_inside(places, box))
        if len(chosen) >= count:
            return places[chosen], normals[triangle[chosen]] / doubled[triangle[chosen], None], share
        wanted *= max(2, min(count // max(len(chosen), 1) + 1, 64))
    raise InputError(f"the mesh has no area, or next to none, between the given x, y and z: {_extent(mesh)}")


def _halved(places: Floats, count: int) -> Indices:
    """The cell of each point, of `count` cells of equally many points, halved across their longest sides."""
    cell = np.empty(len(places), np.int64)
    parts = [(np.arange(len(places)), 0, count)]
    while parts:
        mine, first, cells = parts.pop()
        if cells == 1:
            cell[mine] = first
            continue
        axis = int(np.ptp(places[mine], axis=0).argmax())
        half = cells // 2
        cut = len(mine) * half // cells
        order = mine[np.argsort(places[mine, axis], kind="stable")]
        parts += [(order[:cut], first, half), (order[cut:], first + half, cells - half)]
    return cell


def _means(places: Floats, cell: Indices, count: int) -> Floats:
    """The mean place of each cell; that of an empty one is far from all."""
    number = np.bincount(cell, minlength=count)
    sums = np.stack([np.bincount(cell, column, count) for column in places.T], axis=1)
    return np.where(number[:, None] > 0, sums / np.maximum(number, 1)[:, None], 1e150)


def tables(samples: Samples) -> tuple[Floats, Floats]:
    """Samples, shape (n, 4): place and area, in the order of the tree; and its nodes, shape (m, 6), from the root
    downwards, each before those below it: centre and radius of a ball around its samples, the number of the first
    sample behind them, and of the first node behind those below it."""
    size = float(np.ptp(samples.places, axis=0).max()) or float(np.abs(samples.places).max()) or 1.0
    step = 2.0 ** math.frexp(size)[1] * GRID
    places = np.round(samples.places / step) * step
    order: list[Indices] = []
    nodes: list[list[float]] = []
    taken = 0

    def add(mine: Indices) -> None:
        nonlocal taken
        at, node = places[mine], len(nodes)
        centre = np.round((at.min(axis=0) + at.max(axis=0)) / 2.0 / step) * step
        radius = float(np.sqrt(((at - centre) ** 2).sum(axis=1)).max())
        nodes.append([*centre.tolist(), radius * (1.0 + 2.0**-40) + step, 0.0, 0.0])
        if len(mine) > LEAF:
            along = np.argsort(at[:, int(np.ptp(at, axis=0).argmax())], kind="stable")
            add(mine[along[: len(mine) // 2]])
            add(mine[along[len(mine) // 2 :]])
        else:
            order.append(mine)
            taken += len(mine)
        nodes[node][4:] = [float(taken), float(len(nodes))]

    add(np.arange(len(places)))
    rows = np.concatenate(order)
    return np.column_stack([places, samples.areas])[rows], np.array(nodes)
