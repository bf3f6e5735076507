"""The surface of a recipe: `[surface]` becomes constants of the generated C.

`kind` names it; README.md shows each with its keys.  All lie in the frame `surface`, and all that turn do so about z.
A profile is a list of points or a CSV file, joined by straight lines or by a cubic spline; a mesh is a file of
triangles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from fmu_builder.headers import X, Y, Z
from fmu_builder.model import Constant, Limit, Reader, Structure, Table, patch_tables, patches
from fmu_builder.model.chord_spline import chord_spline
from fmu_builder.model.structure_tables import SURFACES, Side

TABLES = {"surface": SURFACES}

ENDLESS = (-patches.UNBOUNDED, patches.UNBOUNDED)

CLOSED, CORNERS, AXIS_FROM, AXIS_TO = 1, 2, 4, 8  # contact_core/surfaces/profile.h

Array = NDArray[np.float64]


MOST_OFF = 1.0  # m that a point lies off the surface at the start, less on the scale of a smaller surface


class Surface(NamedTuple):
    """Constants by the names they have in C without `surface_`, the largest depth up to which every point has one
    closest point, m, and a place off the surface on the free side that has one closest point, m: there a point starts.
    Of a flat surface it is the origin, on the surface and not in contact.   resources: constants that lie in a file"""

    constants: Mapping[str, tuple[float, ...] | bytes]
    reach: float = math.inf
    free: tuple[float, float, float] = (0.0, 0.0, 0.0)
    notes: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()


def structure(tables: dict[str, dict[str, object]], read: Reader) -> Structure:
    """Check `[surface]`; returns the choice `surface`, the constants surface_<name>, SI, the limit of D_max, and where
    a point starts."""
    kind = tables["surface"].get("kind")
    if not isinstance(kind, str) or kind not in SURFACES:
        read.choice(read.table("surface", SURFACES), "kind", tuple(SURFACES))
        return Structure(constants=(Constant("surface_x", ENDLESS), Constant("surface_y", ENDLESS)))
    table = read.table("surface", SURFACES[kind])
    side = read.choice(table, "side", get_args(Side))  # which plane and disc do not have
    surface = _READERS[kind](table, read, 1.0 if side == "outside" else -1.0)
    limits = {}
    if 0.0 < surface.reach < math.inf:
        reason = "the reach of the surface: a deeper point has no single closest point"
        limits["D_max"] = Limit(min(1.0, surface.reach), surface.reach, reason)
    return Structure(
        constants=tuple(
            Constant(f"surface_{name}", values, name in surface.resources) for name, values in surface.constants.items()
        ),
        choices={"surface": kind},
        limits=limits,
        input_starts={"point.r": surface.free},
        notes=surface.notes,
    )


def _plane(table: Table, read: Reader, side: float) -> Surface:
    return Surface({axis: read.interval(table, axis, default=ENDLESS) for axis in ("x", "y")})


def _disc(table: Table, read: Reader, side: float) -> Surface:
    return Surface({"radius": (read.quantity(table, "radius", default=1.0),)})


def _sphere(table: Table, read: Reader, side: float) -> Surface:
    radius = read.quantity(table, "radius", default=1.0)
    off = radius + min(radius, MOST_OFF) if side > 0.0 else radius - min(radius / 2, MOST_OFF)
    return Surface({"radius": (radius,), "side": (side,)}, radius if side > 0.0 else math.inf, (off, 0.0, 0.0))


def _cylinder(table: Table, read: Reader, side: float) -> Surface:
    sphere = _sphere(table, read, side)
    return Surface({**sphere.constants, "z": _length(table, read)}, sphere.reach, sphere.free)


def _length(table: Table, read: Reader) -> tuple[float, float]:
    """From and to, m, of a length about z = 0."""
    if "length" not in table:
        return ENDLESS
    length = read.quantity(table, "length", default=1.0)
    return -length / 2, length / 2


def _cone(table: Table, read: Reader, side: float) -> Surface:
    angle = read.quantity(table, "angle", default=0.5)
    z = read.interval(table, "z", default=(0.1, 1.0))
    if z[0] < 0.0:
        read.problem("surface", "z", f"from {z[0]:g} m: the cone opens to +z from its apex at 0, so z is not negative")
    reach = z[0] * math.sin(angle) / math.cos(angle) ** 2 if side > 0.0 else math.inf
    if reach == 0.0:
        read.problem(
            "surface",
            "z",
            "from 0 m: at its apex a cone has no depth on the outside, where a point would meet it; begin above it, as "
            f"z = [{0.01 * z[1]:g}, {z[1]:g}], or take side = 'inside'",
        )
    height = min(z[0] / 2 + z[1] / 2, z[0] + MOST_OFF)
    radius = height * math.tan(angle)
    # along the normal at that height; on the inside half-way to the axis, which is radius/cos(angle) away
    off = min(radius, MOST_OFF) if side > 0.0 else -min(radius / (2 * math.cos(angle)), MOST_OFF)
    free = (radius + off * math.cos(angle), 0.0, height - off * math.sin(angle))
    return Surface({"angle": (math.cos(angle), math.sin(angle)), "z": z, "side": (side,)}, reach, free)


def _torus(table: Table, read: Reader, side: float) -> Surface:
    major = read.quantity(table, "major_radius", default=2.0)
    minor = read.quantity(table, "minor_radius", default=major / 2)
    if minor >= major:
        read.problem(
            "surface",
            "minor_radius",
            f"{minor:g} m must be less than major_radius = {major:g} m: the tube meets itself",
        )
    off = min(minor, MOST_OFF) if side > 0.0 else -min(minor / 2, MOST_OFF)
    reach = minor if side > 0.0 else major - minor
    return Surface({"radius": (major, minor), "side": (side,)}, reach, (major + minor + off, 0.0, 0.0))


# ---- profiles --------------------------------------------------------------------------------------------------------

SAMPLES = 32  # of a span, to find crossings and the reach
MOST_SAMPLES = 4000
_DISTANCE = ("p", "r")  # from the axis, in the header of a file


def _revolution(table: Table, read: Reader, side: float) -> Surface:
    surface = _swept(table, read, side, turned=True)
    r, z, _ = surface.free
    return surface._replace(free=(r, 0.0, z))


def _extrusion(table: Table, read: Reader, side: float) -> Surface:
    surface = _swept(table, read, side, turned=False)
    return surface._replace(constants={**surface.constants, "z": _length(table, read)})


def _swept(table: Table, read: Reader, side: float, turned: bool) -> Surface:
    curve = read.choice(table, "curve")
    before = len(read.problems)
    points = np.array(read.points(table, "profile", 2, (_DISTANCE, Z) if turned else (X, Y)))
    fallback = Surface({"profile": (0.0,) * 12, "profile_kind": (0.0,), "side": (side,)})
    if len(read.problems) > before or "profile" not in table:
        return fallback
    closed = len(points) > 2 and bool((points[0] == points[-1]).all())
    for what in _point_faults(points, closed, turned):
        read.problem("surface", "profile", what)
    if len(read.problems) > before:
        return fallback
    area = np.sum(points[:-1, 0] * points[1:, 1] - points[1:, 0] * points[:-1, 1])
    if closed and area < 0.0:  # a closed profile is full, whichever way it was written down
        points = points[::-1]
    spans = _spans(points, curve, closed)
    ends = (AXIS_FROM if points[0, 0] == 0.0 else 0) + (AXIS_TO if points[-1, 0] == 0.0 else 0)
    kind = (CLOSED if closed else 0) + (CORNERS if curve == "polyline" else 0) + (ends if turned and not closed else 0)
    per_span = 2 if curve == "polyline" else SAMPLES
    fault = _crossing(spans, per_span, closed)
    if turned and fault is None:
        fault = _over_the_axis(spans, per_span)
    if fault is not None:
        read.problem("surface", "profile", fault)
        return fallback
    rows = []
    for p, q in spans:
        control = np.array([_control(p), _control(q)])
        rows += [*p, *q, *control.min(axis=1), *control.max(axis=1)]
    constants = {"profile": tuple(map(float, rows)), "profile_kind": (float(kind),), "side": (side,)}
    return Surface(constants, _reach(spans, kind, side, turned), (*_free(spans, kind, side, turned), 0.0))


_APART = 1e-12  # of the largest coordinate: closer points are one to what is calculated with them


def _point_faults(points: Array, closed: bool, turned: bool) -> list[str]:
    least = 4 if closed else 2
    if len(points) < least:
        return [f"{len(points)} points, and {'a closed' if closed else 'an open'} profile has at least {least}"]
    faults = [
        f"points {k} and {k + 1} are both ({p[0]:g}, {p[1]:g}) m: remove one of them"
        for k, (p, q) in enumerate(pairwise(points), 1)
        if (p == q).all()
    ]
    largest = float(np.abs(points).max())
    faults += [
        f"points {k} and {k + 1} are {d:.3g} m apart, and the largest coordinate is {largest:.3g} m: at this size they "
        "are one point; is a unit or a power of ten wrong?"
        for k, d in enumerate(np.hypot(*np.diff(points, axis=0).T), 1)
        if 0.0 < d < _APART * largest
    ]
    if turned:
        faults += [
            f"point {k}: {p[0]:g} m is not the distance of a point from the axis: it must not be negative"
            for k, p in enumerate(points, 1)
            if p[0] < 0.0
        ]
    return faults


def _spans(points: Array, curve: str, closed: bool) -> Array:
    """Shape (spans, 2, 4): the polynomials of both coordinates over 0 ... 1, lowest power first."""
    steps = np.diff(points, axis=0)
    spans = np.zeros((len(steps), 2, 4))
    spans[:, :, 0], spans[:, :, 1] = points[:-1], steps
    if curve == "spline" and len(points) > 2:
        _, c = chord_spline(points, closed)
        spans = np.transpose(c[::-1], (1, 2, 0)) * np.hypot(steps[:, 0], steps[:, 1])[:, None, None] ** np.arange(4)
        spans[:, :, 0] = points[:-1]
    return spans


def _control(c: Array) -> Array:
    """Bezier points of a polynomial: the curve lies between the least and the greatest."""
    return np.array([c[0], c[0] + c[1] / 3, c[0] + 2 * c[1] / 3 + c[2] / 3, c.sum()])


def _sampled(spans: Array, per_span: int, order: int = 0) -> Array:
    """Shape (spans, per_span, 2): points, or derivatives by the parameter, amid equal parts of each span."""
    u = (np.arange(per_span) + 0.5) / per_span
    powers = np.array([[math.perm(k, order) * u_i ** max(k - order, 0) for k in range(4)] for u_i in u])
    return np.asarray(np.einsum("scp,up->suc", spans, powers))


def _chain(spans: Array, per_span: int) -> Array:
    """The points where `per_span` equal parts of each span meet."""
    u = np.arange(per_span) / per_span
    points = np.einsum("scp,up->suc", spans, u[:, None] ** np.arange(4)).reshape(-1, 2)
    return np.vstack([points, spans[-1].sum(axis=1)])


def _crossing(spans: Array, per_span: int, closed: bool) -> str | None:
    """Where the profile crosses itself."""
    chain = _chain(spans, per_span)
    a, b = chain[:-1], chain[1:]
    for i in range(len(a) - 2):
        others = np.arange(i + 2, len(a) - (1 if closed and i == 0 else 0))
        c, d = a[others], b[others]

        def left(p: Array, q: Array, r: Array) -> Array:
            return np.asarray(
                (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])
            )

        apart = (left(a[i], b[i], c) * left(a[i], b[i], d) > 0.0) | (left(c, d, a[i]) * left(c, d, b[i]) > 0.0)
        beside = (np.maximum(a[i], b[i]) < np.minimum(c, d)).any(axis=1) | (
            np.minimum(a[i], b[i]) > np.maximum(c, d)
        ).any(axis=1)
        found = others[~(apart | beside)]
        if len(found):
            x, y = _meeting(a[i], b[i], c[~(apart | beside)][0], d[~(apart | beside)][0])
            first, second = i // per_span + 1, found[0] // per_span + 1
            return (
                f"crosses or touches itself near ({x:.4g}, {y:.4g}) m, between the pieces behind point {first} and "
                f"point {second}: a surface has one inner side"
            )
    return None


def _meeting(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Where the straight line through a and b meets that through c and d, or a if they are parallel."""
    u, v, w = b - a, d - c, c - a
    across = u[0] * v[1] - u[1] * v[0]
    return a + u * ((w[0] * v[1] - w[1] * v[0]) / across if across else 0.0)


def _over_the_axis(spans: Array, per_span: int) -> str | None:
    chain = _chain(spans, per_span)
    scale = np.abs(chain).max()
    worst = int(np.argmin(chain[:, 0]))
    if chain[worst, 0] >= -1e-12 * scale:
        inner = chain[1:-1]
        if not (inner[:, 0] <= 1e-12 * scale).any():
            return None
        worst = int(np.argmin(inner[:, 0])) + 1
    x, y = chain[worst]
    return f"touches or crosses the axis at ({x:.4g}, {y:.4g}) m between its ends: only an end may lie on it"


def _reach(spans: Array, kind: int, side: float, turned: bool) -> float:
    """Radius of the smallest ball in the material that touches the surface at one point and meets it at another.
    Pieces that meet at a corner are left out: there the ball has no radius.  From samples, hence rounded down to three
    digits."""
    per_span = max(min(SAMPLES, MOST_SAMPLES // len(spans)), 2)
    points, inward = _with_normals(spans, per_span, side)
    number = np.repeat(np.arange(len(spans)), per_span)
    reach = math.inf
    for q, m, span in zip(points, inward, number, strict=True):
        gap = np.abs(number - span)
        if kind & CLOSED:
            gap = np.minimum(gap, len(spans) - gap)
        others = points[gap > 1] if kind & CORNERS else points
        if turned:
            tip = (span == 0 and kind & AXIS_FROM) or (span == len(spans) - 1 and kind & AXIS_TO)
            mirrored = points[number != span] if tip and kind & CORNERS else points
            others = np.vstack([others, mirrored * [-1.0, 1.0]])
        reach = min(reach, _ball(q, m, others))
    if not 0.0 < reach < math.inf:
        return reach
    digit = 10.0 ** (math.floor(math.log10(reach)) - 2)
    return float(f"{math.floor(reach / digit) * digit:.3g}")


def _free(spans: Array, kind: int, side: float, turned: bool) -> tuple[float, float]:
    """A place off the profile on its free side that has one closest point: half-way to the centre of the largest ball
    that touches the profile in the middle of a span from there, no farther than half the profile is large."""
    points = _with_normals(spans, max(min(SAMPLES, MOST_SAMPLES // len(spans)), 2), side)[0]
    far = min(2.0 * MOST_OFF, float(np.ptp(points, axis=0).max()))
    others = np.vstack([points, *_beyond(spans, kind, far)])
    if turned:
        others = np.vstack([others, others * [-1.0, 1.0]])
    middles, outward = _with_normals(spans, 1, -side)
    balls = [min(_ball(q, m, others), far) for q, m in zip(middles, outward, strict=True)]
    best = int(np.argmax(balls))
    x, y = middles[best] + balls[best] / 2 * outward[best]
    return float(x), float(y)


def _beyond(spans: Array, kind: int, far: float) -> list[Array]:
    """Points up to `far` beyond the ends of an open profile, where it continues straight; a pole has none."""
    ways = np.geomspace(1e-3, 1.0, 2 * SAMPLES)[:, None] * far
    first, last = spans[0], spans[-1]
    slope = last @ [0.0, 1.0, 2.0, 3.0]
    found = []
    if not kind & (CLOSED | AXIS_FROM):
        found.append(first[:, 0] - ways * first[:, 1] / np.hypot(*first[:, 1]))
    if not kind & (CLOSED | AXIS_TO):
        found.append(last.sum(axis=1) + ways * slope / np.hypot(*slope))
    return found


def _with_normals(spans: Array, per_span: int, side: float) -> tuple[Array, Array]:
    """Points amid equal parts of each span, and the unit normals there: into the material for its `side`."""
    points, tangents = _sampled(spans, per_span), _sampled(spans, per_span, order=1)
    points, tangents = points.reshape(-1, 2), tangents.reshape(-1, 2)
    return points, side * np.column_stack([-tangents[:, 1], tangents[:, 0]]) / np.hypot(*tangents.T)[:, None]


def _ball(q: Array, m: Array, others: Array) -> float:
    """Of a profile.  Neighbours give the radius of curvature, the mirrored half of a revolution the distance from the
    axis along the normal."""
    return patches.touching_ball(q, m, others, 1e-12)


# ---- patches ---------------------------------------------------------------------------------------------------------

SMALLEST_REACH = 1e-6  # of the size: what is less is a surface that meets itself


def _height_field(table: Table, read: Reader, side: float) -> Surface:
    return _bicubic(patch_tables.height_field(table, read), "heights", read, side)


def _patch(table: Table, read: Reader, side: float) -> Surface:
    return _bicubic(patch_tables.control_patch(table, read), "control", read, side)


def _bicubic(patch: patches.Patch | None, key: str, read: Reader, side: float) -> Surface:
    """The tables of contact_core/surfaces/patch.h, and its reach on both sides."""
    if patch is None:  # a placeholder beside the problems
        patch, key = patches.through_heights(np.arange(2.0), np.arange(2.0), np.zeros((2, 2)), (False, False)), ""
    samples = patch.sampled()
    size = float(np.linalg.norm(np.ptp(samples.places, axis=0)))
    broken = ~(samples.areas > 1e-9 * samples.areas.max())
    if broken.any():
        x, y, z = samples.places[int(np.argmax(broken))]
        what = (
            f"has no normal near ({x:.4g}, {y:.4g}, {z:.4g}) m: an edge is drawn together, or control points coincide"
        )
        read.problem("surface", key, what + "; end the patch before that place")
        return _bicubic(None, key, read, side)
    above, below = (patches.reach(samples, way) for way in (1.0, -1.0))
    if min(above, below) < SMALLEST_REACH * size:
        what = f"bends with a radius of {min(above, below):.3g} m, or meets itself, on a surface of {size:.3g} m"
        read.problem(
            "surface", key, what + ": a surface is smooth and has one inner side; smooth or thin out the points"
        )
    constants = {
        **patch.tables(),
        "reach": (min(above, patches.UNBOUNDED), min(below, patches.UNBOUNDED)),
        "side": (side,),
    }
    return Surface(constants, below if side > 0.0 else above, patches.free_place(samples, side, 2.0 * MOST_OFF))


# ---- meshes ----------------------------------------------------------------------------------------------------------


def _mesh(table: Table, read: Reader, side: float) -> Surface:
    from concurrent.futures import ThreadPoolExecutor

    from fmu_builder.model import mesh_tree, mesh_width  # with scipy, for which only who needs it waits
    from fmu_builder.model.mesh import MOST_EMBEDDED, read_mesh

    name, unit = read.text(table, "file", ""), read.unit(table, "unit", "m")
    scale, place = read.quantity(table, "scale"), read.vector(table, "place")
    crease, curved = read.quantity(table, "crease"), read.choice(table, "normals") == "smooth"
    border = read.flag(table, "open")
    path = read.file("surface", "file", name)
    if read.problems or path is None or "file" not in table:
        return Surface({"mesh": bytes(64), "side": (side,)})
    with read.collected(table, "file"):
        mesh = read_mesh(path, unit * scale, (place[0], place[1], place[2]), border)
        with ThreadPoolExecutor(1) as beside:  # numpy and scipy let both work at once
            widths = beside.submit(lambda: (mesh_width.reach(mesh, side), mesh_width.free_place(mesh, side)))
            data = mesh_tree.pack_mesh(mesh, crease, curved)
            reach, free = widths.result()
        size = f"{len(data) / 2**20:.1f} MiB" if len(data) >= 2**20 else f"{len(data) / 2**10:.0f} KiB"
        resources = ("mesh",) if len(mesh.triangles) > MOST_EMBEDDED else ()
        where = "a file of the folder resources" if resources else "each binary"
        notes = [f"the mesh has {len(mesh.triangles)} triangles, {size} in {where}"]
        if mesh.dropped:
            notes.append(f"{mesh.dropped} triangles of {name} have two equal corners: they were left out")
        return Surface({"mesh": data, "side": (side,)}, reach, free, tuple(notes), resources)
    return Surface({"mesh": bytes(64), "side": (side,)})


_READERS = {
    "plane": _plane,
    "disc": _disc,
    "sphere": _sphere,
    "cylinder": _cylinder,
    "cone": _cone,
    "torus": _torus,
    "revolution": _revolution,
    "extrusion": _extrusion,
    "height_field": _height_field,
    "patch": _patch,
    "mesh": _mesh,
}
