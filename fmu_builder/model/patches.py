"""Smooth surfaces of bicubic pieces, from heights over a grid or from control points.

They become the tables of contact_core/surfaces/patch.h.
A direction is given by its knots: n + 4 of n control values, not falling.  Parameters are u and v; of heights they are
x and y, m."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

GROUP = 4  # CC_PATCH_GROUP of patch_search.h
MOST_SAMPLES = 200_000  # of a surface, for its curvature, unless it has as many spans
MOST_BALLS = 20_000  # that touch it, for its reach
FLAT = 1e3  # a surface bent less than this many times its size has no reach
UNBOUNDED = 1.7976931348623157e308  # the largest double: no point lies as far off


class Places(NamedTuple):
    """Places on spans: the number of the span, and 0 <= t <= 1 along it."""

    span: NDArray[np.int_]
    t: Array


@dataclass(frozen=True)
class Direction:
    """Spans between different knots: first parameter and length of each, the number of the first of its four control
    values, and of its four functions the coefficients of t^0 ... t^3, 0 <= t <= 1, shape (spans, 4, 4)."""

    start: Array
    length: Array
    first: NDArray[np.int_]
    basis: Array
    closed: bool

    @staticmethod
    def of(knots: Array, closed: bool = False) -> Direction:
        """Piegl & Tiller, The NURBS Book, algorithm A2.2, over polynomials in place of numbers."""
        at = np.array([i for i in range(3, len(knots) - 4) if knots[i] < knots[i + 1]])
        start, length = knots[at], knots[at + 1] - knots[at]
        basis = np.zeros((len(at), 1, 4))
        basis[:, 0, 0] = 1.0
        for degree in (1, 2, 3):
            higher = np.zeros((len(at), degree + 1, 4))
            for r in range(degree):
                low, high = knots[at + r + 1 - degree], knots[at + r + 1]
                share = basis[:, r] / (high - low)[:, None]
                raised = length[:, None] * np.roll(share, 1, axis=1)  # times t length; its highest power is 0 before
                higher[:, r] += (high - start)[:, None] * share - raised
                higher[:, r + 1] += (start - low)[:, None] * share + raised
            basis = higher
        return Direction(start, length, at - 3, basis, closed)

    def table(self) -> tuple[float, ...]:
        """CcPatchSpan of each span."""
        rows = np.column_stack([self.start, self.length, self.first, self.basis.reshape(-1, 16)])
        return tuple(rows.ravel().tolist())

    def combined(self, values: Array, places: Places, order: int = 0) -> Array:
        """What the control values, along the first axis, give in every place, or their derivative by the parameter."""
        powers = np.stack([math.perm(p, order) * places.t ** max(p - order, 0) for p in range(4)], axis=1)
        weights = np.einsum("skp,sp->ks", self.basis[places.span], powers) / self.length[places.span] ** order
        first = self.first[places.span]
        across = (slice(None),) + (None,) * (values.ndim - 1)
        return np.asarray(sum(weights[k][across] * values[first + k] for k in range(4)))

    @staticmethod
    def from_table(table: Sequence[float], closed: bool) -> Direction:
        """What `table` returns."""
        rows = np.array(table).reshape(-1, 19)
        return Direction(rows[:, 0], rows[:, 1], rows[:, 2].astype(int), rows[:, 3:].reshape(-1, 4, 4), closed)

    def spread(self, count: int) -> Places:
        """Places at equal distances of the parameter, from the first end to the last."""
        at = np.linspace(self.start[0], self.start[-1] + self.length[-1], count)
        span = np.clip(np.searchsorted(self.start, at, side="right") - 1, 0, len(self.start) - 1)
        return Places(span, (at - self.start[span]) / self.length[span])

    def places(self, parts: int) -> Places:
        """The ends of all spans, and between them those of equal parts."""
        span = np.append(np.repeat(np.arange(len(self.start)), parts), len(self.start) - 1)
        return Places(span, np.append(np.tile(np.arange(parts) / parts, len(self.start)), 1.0))

    def parameters(self, places: Places) -> Array:
        return np.asarray(self.start[places.span] + self.length[places.span] * places.t)

    def bezier(self) -> Array:
        """Of every span the weights of the control values in its four Bezier points; shape (spans, 4, 4)."""
        power_to_bezier = np.array([[1, 0, 0, 0], [1, 1 / 3, 0, 0], [1, 2 / 3, 1 / 3, 0], [1, 1, 1, 1]])
        return np.asarray(np.einsum("bp,skp->sbk", power_to_bezier, self.basis))


class Samples(NamedTuple):
    """Places of a surface with its unit normals, the length of S_u x S_v, and both curvatures towards the normal, the
    smaller first; shapes (n, 3), (n, 3), (n,), (n, 2).  Where the length is 0 there is no normal."""

    places: Array
    normals: Array
    areas: Array
    curvatures: Array


@dataclass(frozen=True)
class Patch:
    """control  shape (controls along u, controls along v, components): heights; or x, y, z; or these times the weight,
    and the weight"""

    u: Direction
    v: Direction
    control: Array

    @staticmethod
    def from_tables(tables: Mapping[str, Sequence[float]]) -> Patch:
        """What `tables` returns, by names that begin with surface_."""
        components, columns, closed_u, closed_v = map(int, tables["surface_patch"])
        control = np.array(tables["surface_control"]).reshape(-1, columns, components)
        u = Direction.from_table(tables["surface_spans_u"], bool(closed_u))
        return Patch(u, Direction.from_table(tables["surface_spans_v"], bool(closed_v)), control)

    @property
    def components(self) -> int:
        return int(self.control.shape[2])

    def derivatives(self, at_u: Places, at_v: Places) -> Array:
        """S, S_u, S_v, S_uu, S_uv, S_vv; shape (6, places along u, along v, 3)."""
        A = np.empty((6, len(at_u.t), len(at_v.t), self.components))
        along = [self.u.combined(self.control, at_u, order) for order in range(3)]
        for row, (i, j) in enumerate(((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))):
            A[row] = self.v.combined(along[i].swapaxes(0, 1), at_v, j).swapaxes(0, 1)
        if self.components == 1:
            S = np.zeros((*A.shape[:3], 3))
            S[0, :, :, 0], S[0, :, :, 1] = self.u.parameters(at_u)[:, None], self.v.parameters(at_v)
            S[1, :, :, 0] = S[2, :, :, 1] = 1.0
            S[..., 2] = A[..., 0]
            return S
        if self.components == 3:
            return A
        _, w_u, w_v, w_uu, w_uv, w_vv = A[..., 3:] / A[0, ..., 3:]
        P, P_u, P_v, P_uu, P_uv, P_vv = A[..., :3] / A[0, ..., 3:]
        S_u, S_v = P_u - P * w_u, P_v - P * w_v
        S_uu, S_vv = P_uu - 2 * S_u * w_u - P * w_uu, P_vv - 2 * S_v * w_v - P * w_vv
        return np.stack([P, S_u, S_v, S_uu, P_uv - S_u * w_v - S_v * w_u - P * w_uv, S_vv])

    def sampled(self) -> Samples:
        """At the ends of all spans and between, no more than MOST_SAMPLES or the ends alone."""
        spans = len(self.u.start) * len(self.v.start)
        parts = max(1, min(4, math.isqrt(MOST_SAMPLES // spans)))
        places = self.u.places(parts), self.v.places(parts)
        S, S_u, S_v, S_uu, S_uv, S_vv = self.derivatives(*places).reshape(6, -1, 3)
        N = np.cross(S_u, S_v)
        E, F, G = ((a * b).sum(axis=1) for a, b in ((S_u, S_u), (S_u, S_v), (S_v, S_v)))
        area = np.linalg.norm(N, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            n = N / area[:, None]
            L, M, K = ((a * n).sum(axis=1) for a in (S_uu, S_uv, S_vv))
            mean = (E * K - 2.0 * F * M + G * L) / (2.0 * area**2)
            off = np.sqrt(np.maximum(mean**2 - (L * K - M * M) / area**2, 0.0))
        return Samples(S, n, area, np.column_stack([mean - off, mean + off]))

    def boxes(self) -> tuple[float, ...]:
        """Least and greatest coordinates of the nodes of the tree of patch_search.h, level by level from the groups of
        pieces up: convex hulls of Bezier points."""
        of_u, of_v = self.u.bezier(), self.v.bezier()
        index_u, index_v = (d.first[:, None] + np.arange(4) for d in (self.u, self.v))
        bounds: list[list[Array]] = [[], []]
        rows = max(1, 1_000_000 // (16 * len(self.v.start)))
        for begin in range(0, len(self.u.start), rows):
            part = slice(begin, begin + rows)
            net = self.control[index_u[part][:, None, :, None], index_v[None, :, None, :]]
            points = np.einsum("uak,vbl,uvklc->uvabc", of_u[part], of_v, net, optimize=True)
            if self.components == 4:
                points = points[..., :3] / points[..., 3:]
            bounds[0].append(points.min(axis=(2, 3)))
            bounds[1].append(points.max(axis=(2, 3)))
        low, high = (np.concatenate(part) for part in bounds)
        if self.components == 1:
            ends = [np.meshgrid(u, v, indexing="ij") for u, v in self._corners()]
            low, high = (np.dstack([*ends[i], z]) for i, z in enumerate((low, high)))
        level = _merged(np.concatenate([low, high], axis=2), GROUP)
        found = [level.ravel()]
        while level.shape[0] * level.shape[1] > 1:
            level = _merged(level, 2)
            found.append(level.ravel())
        return tuple(np.concatenate(found).tolist())

    def _corners(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Of the spans along u and v the first parameters, and the last ones."""
        return (self.u.start, self.v.start), (self.u.start + self.u.length, self.v.start + self.v.length)

    def tables(self) -> dict[str, tuple[float, ...]]:
        """What C reads, by the names of surface/patch.h without `surface_`; all but the reach."""
        kind = (self.components, self.control.shape[1], self.u.closed, self.v.closed)
        return {
            "patch": tuple(map(float, kind)),
            "spans_u": self.u.table(),
            "spans_v": self.v.table(),
            "control": tuple(self.control.ravel().tolist()),
            "boxes": self.boxes(),
        }


def _merged(boxes: Array, group: int) -> Array:
    """Boxes, shape (m, n, 6), joined in groups along both axes."""
    for axis in (0, 1):
        starts = np.arange(0, boxes.shape[axis], group)
        low, high = (f.reduceat(boxes, starts, axis=axis) for f in (np.minimum, np.maximum))
        boxes = np.concatenate([low[..., :3], high[..., 3:]], axis=2)
    return boxes


# ---- how deep every point has one closest point ----------------------------------------------------------------------


def reach(samples: Samples, side: float) -> float:
    """Radius of the smallest ball on one side, +1 above and -1 below, that touches the surface at one sample and meets
    another one; rounded down to three digits, infinite if the surface is all but flat.

    Balls of one radius touch all samples; those that hold another sample shrink the radius until none does."""
    size = float(np.linalg.norm(np.ptp(samples.places, axis=0)))
    bent = float((samples.curvatures[:, 1] if side > 0.0 else -samples.curvatures[:, 0]).max())
    if bent * FLAT * size < 1.0:
        return math.inf
    from scipy.spatial import cKDTree  # starts in a second: only who needs it waits

    radius = min(1.0 / bent, 2.0 * size)
    some = slice(None, None, -(-len(samples.places) // MOST_BALLS) | 1)  # odd: it does not keep to a column of the grid
    places, normals = samples.places[some], side * samples.normals[some]
    tree, touched = cKDTree(places), places
    while len(touched):
        near, other = tree.query(touched + radius * normals)
        inside = near < radius * (1.0 - 1e-6)
        touched, normals = touched[inside], normals[inside]
        to = places[other[inside]] - touched
        balls = (to**2).sum(axis=1) / (2.0 * (to * normals).sum(axis=1))
        radius = min(radius, float(balls.min(initial=math.inf)))
    digit = 10.0 ** (math.floor(math.log10(radius)) - 2)
    return float(f"{math.floor(radius / digit * (1.0 + 1e-6)) * digit:.3g}")


def touching_ball(q: Array, m: Array, others: Array, grazing: float) -> float:
    """Radius of the ball that touches a curve or surface at q on the side of the unit normal m and meets it at another
    point: the least |X - q|^2 / (2 (X - q) m) over the points X but those whose direction is `grazing`; inf without."""
    to = others - q
    square, ahead = (to**2).sum(axis=1), to @ m
    meets = ahead > grazing * np.sqrt(square)
    return float((square[meets] / (2.0 * ahead[meets])).min()) if meets.any() else math.inf


def free_place(samples: Samples, side: float, far: float) -> tuple[float, float, float]:
    """A place on one side that has one closest point: half-way to the centre of the largest ball that touches one of a
    few samples from there, of a radius up to `far`, m."""
    others = samples.places[:: max(1, len(samples.places) // 20_000)]
    far = min(far, float(np.linalg.norm(np.ptp(others, axis=0))))
    count = len(samples.places)
    best, place = -1.0, samples.places[0]
    for k in np.linspace(0.2 * count, 0.8 * count, 25).astype(int):
        q, m = samples.places[k], side * samples.normals[k]
        ball = min(far, touching_ball(q, m, others, 1e-9))
        if ball > best * (1.0 + 1e-9):
            best, place = ball, q + 0.5 * ball * m
    x, y, z = map(float, place)
    return x, y, z


# ---- surfaces through heights ----------------------------------------------------------------------------------------


def through_heights(x: Array, y: Array, z: Array, closed: Sequence[bool]) -> Patch:
    """The bicubic spline z(x, y) through heights of shape (len(x), len(y)): not-a-knot at its ends, or periodic with
    equal heights at both ends."""
    u, rows = _spline(x, z, closed[0])
    v, columns = _spline(y, rows.T, closed[1])
    return Patch(u, v, np.ascontiguousarray(columns.T[:, :, None]))


def _spline(x: Array, z: Array, closed: bool) -> tuple[Direction, Array]:
    """The spline along the first axis of z, and its control values; through two or three points a straight line or a
    parabola."""
    if len(x) < 4:
        s = (x - x[0]) / (x[-1] - x[0])
        powers = np.linalg.solve(np.vander(s, increasing=True), z)
        bezier = np.array([[math.comb(i, p) / math.comb(3, p) for p in range(len(x))] for i in range(4)])
        return Direction.of(np.repeat([x[0], x[-1]], 4)), bezier @ powers
    from scipy.interpolate import make_interp_spline  # starts in half a second: only who needs it waits

    spline = make_interp_spline(x, z, k=3, bc_type="periodic" if closed else "not-a-knot")
    return Direction.of(spline.t, closed), np.asarray(spline.c)
