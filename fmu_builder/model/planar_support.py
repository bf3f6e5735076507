"""Whether the points of an assembly can hold its bodies in the plane.

A point pushes a body along one line, through (x, y) at the angle a, seen from the centre of mass.  A small motion
(u, v, w) of the body moves the point along that line by B (u, v, w), with

    B = (cos a, sin a, x sin a - y cos a)              B = (0, 0, 1) of a point that holds against turning alone

so springs at points can hold the body only if no motion but zero has B (u, v, w) = 0 for all of them: the rows B have
rank 3.  Three lines do unless they meet in one point or are all parallel.  All is taken at the start values.  Points
with a given force only do not count, and a body without any point is taken as free."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmu_builder.model.assembly import AssemblyModel, Part
from fmu_builder.model.connectable import PortUse
from fmu_builder.model.declaration import Hold

# Singular values below this share of the largest one are zero: offsets and angles are written with some six digits.
_RANK = 1e-6

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """What a point can hold: the line through (x, y), m, at `angle`, rad; or, if `turning`, the angle of the body."""

    x: float = 0.0
    y: float = 0.0
    angle: float = 0.0
    turning: bool = False

    def row(self, length: float) -> tuple[float, float, float]:
        """B, for motions (u, v, length w)."""
        if self.turning:
            return 0.0, 0.0, 1.0
        cosine, sine = math.cos(self.angle), math.sin(self.angle)
        return cosine, sine, (self.x * sine - self.y * cosine) / length


def free_motions(lines: Sequence[Line]) -> list[str]:
    """What motions of a body these lines leave free, in words; nothing if they hold it, no line at all leaves all."""
    length = max((math.hypot(line.x, line.y) for line in lines), default=0.0) or 1.0
    rows = np.array([line.row(length) for line in lines]).reshape(-1, 3)
    _, sizes, directions = np.linalg.svd(rows, full_matrices=True)
    rank = int((sizes > _RANK * max(sizes, default=0.0)).sum())
    return list(_in_words(directions[rank:], length))


def _in_words(free: Vector, length: float) -> Iterator[str]:
    """The space of motions (u, v, length w) that these rows of norm 1 span: the rotation in it whose centre is nearest
    to the centre of mass, if there is one, and its translations."""
    turning = free[:, 2] @ free  # (0, 0, 1) projected on the space: its motion that turns fastest
    speed = math.sqrt(max(float(turning[2]), 0.0))  # its norm
    translations = free
    if speed > _RANK:
        u, v, w = turning / np.array([1.0, 1.0, length])
        yield f"a rotation about ({_number(-v / w, length)}, {_number(u / w, length)}) m from the centre of mass"
        # the motions at right angles to that one do not turn
        across = free - np.outer(free @ turning, turning) / speed**2
        translations = across[np.linalg.norm(across, axis=1) > _RANK]
    if not len(translations):
        return
    _, sizes, directions = np.linalg.svd(translations[:, :2])
    if (sizes > _RANK).sum() == 2:
        yield "every translation"
    else:
        along = directions[0] * np.sign(directions[0, np.abs(directions[0]).argmax()])
        yield f"a translation along ({_number(along[0], 1.0)}, {_number(along[1], 1.0)})"


def _number(value: float, size: float) -> str:
    """Four digits, without what is rounding beside `size`."""
    return f"{0.0 if abs(value) < _RANK * size else value:.4g}"


# ---- the bodies of an assembly ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Point:
    """A planar port `port` of a force element `part`, at the port `at` of a body."""

    part: Part
    port: PortUse
    at: PortUse


def warnings(model: AssemblyModel) -> tuple[str, ...]:
    """Free motions of bodies that points act on, and points without an input for the angle of their body."""
    elements = {
        i: (part, port)
        for part in model.parts
        for port in part.model.ports
        if port.kind == "planar" and port.side == "force"
        for i in _indices(part, port.force_names)
    }
    exposed = {model[name].index for port in model.ports for name in port.force_names}
    found: list[str] = []
    for body in model.parts:
        ports = [p for p in body.model.ports if p.kind == "planar" and p.side == "body" and _is_moved(body, p)]
        forces = {i: port for port in ports for i in _indices(body, port.force_names)}
        sources = [(s, at) for i, at in forces.items() for s in model.sources.get(i, ())]
        ends = {(elements[s][0].name, elements[s][1].name, at.name): (s, at) for s, at in sources if s in elements}
        points = [_Point(*elements[s], at) for s, at in ends.values()]
        found += [
            f"{point.part.name} has no input for the angle of {body.name}, so its offsets do not turn with it: build "
            "the point with [structure] large_angle = true too"
            for point in points
            if "r" in point.at.motion and "r" not in point.port.motion and not _holds(point).turning
        ]
        known = all(s in elements and elements[s][1].holds is not None for s, _ in sources)
        if known and not exposed & forces.keys():  # else held by something outside
            found += _loose(model, body, [point for point in points if _resists(model, point.part)])
    return tuple(found)


def _loose(model: AssemblyModel, body: Part, points: Sequence[_Point]) -> Iterator[str]:
    """A warning on a body that points hold incompletely; None if they hold it."""
    free = free_motions([_line(model, point) for point in points])
    if points and free:
        names = ", ".join(point.part.name for point in points)
        subject = f"the points {names} do" if len(points) > 1 else f"the point {names} alone does"
        yield (
            f"{subject} not hold {body.name}: it is free in {' and '.join(free)}; three points hold a body unless "
            "their lines meet in one point or are all parallel"
        )


def _indices(part: Part, names: Sequence[str]) -> list[int]:
    return [part.offset + part.model[name].index for name in names]


def _is_moved(part: Part, port: PortUse) -> bool:
    """Whether forces move it: a velocity that follows no state is prescribed."""
    return any(part.model.variables[i].kind == "state" for name in port.motion["v"] for i in part.model[name].depends)


def _resists(model: AssemblyModel, part: Part) -> bool:
    """Whether the force of a point can follow its motion: a spring is there, or may be, outside of the FMU."""
    ports = [port for port in part.model.ports if port.side == "body"]
    inside = any(i in model.sources for port in ports for i in _indices(part, port.force_names))
    return inside or any(model.variables[i].is_output for port in ports for i in _indices(part, port.motion_names))


def _holds(point: _Point) -> Hold:
    return point.port.holds or Hold()


def _line(model: AssemblyModel, point: _Point) -> Line:
    """The line of a point at the start; with an input for the body's angle its offset is turned by it."""
    part, hold = point.part, _holds(point)

    def value(of: float | str) -> float:
        return model.variables[part.offset + part.model[of].index].start if isinstance(of, str) else float(of)

    x, y, turned = value(hold.x), value(hold.y), _angle_at_start(model, point)
    cosine, sine = math.cos(turned), math.sin(turned)
    return Line(x * cosine - y * sine, x * sine + y * cosine, value(hold.angle), hold.turning)


def _angle_at_start(model: AssemblyModel, point: _Point) -> float:
    """The start value of the state behind r[3] of the port, 0 without one."""
    if "r" not in point.port.motion:
        return 0.0
    angle = model.variables[point.part.offset + point.part.model[point.port.motion["r"][2]].index]
    states = [model.variables[i] for i in angle.depends if model.variables[i].kind == "state"]
    return sum(model.variables[s.start_from].start if s.start_from >= 0 else s.start for s in states[:1])
