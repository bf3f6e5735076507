"""The line of a recipe, for the elements of points on lines.

[line]
points = [[0, 0, 0], ["10 mm", 0, 0], ...]     # each in the coordinates of its body, m; or a CSV file with x, y, z
body = [1, 1, 2, ...]                          # which body carries each point; without it one body carries all
closed = true                                  # or: the first point is listed again as the last
interpolation = "polyline"                     # or "spline"
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fmu_builder.headers import X, Y, Z
from fmu_builder.model.structure_reader import Constant, Reader, Structure
from fmu_builder.model.structure_tables import GuideLine

TABLES = {"line": GuideLine}
LARGEST_RATIO = 4.0  # of the distances of neighbours
LARGEST_TURN = 30.0  # degrees between neighbouring chords
MOST_BODIES = 200  # their poses lie on the stack: 100 kB
MOST_POINTS = 1_000_000
_SHOWN = 20  # of problems of one kind

Points = NDArray[np.float64]
Bodies = NDArray[np.int_]


def line_structure(tables: dict[str, dict[str, object]], read: Reader) -> Structure:
    """Check `[line]`.  Returns

    sizes      points, bodies, bridges (chords between different bodies)
    choices    interpolation, closed
    constants  line_points[3 points], m; line_bodies[points], counted from 0; line_way[points], m: chords on one body up
               to each point; line_bridges[bridges]: spans between bodies, counted from 0; line_spacing[2], m: least and
               greatest distance of neighbours on one body, 0 if there are none"""
    table = read.table("line", GuideLine)
    interpolation = read.choice(table, "interpolation")
    closed = read.flag(table, "closed")
    before = len(read.problems)
    points = np.array(read.points(table, "points", 3, (X, Y, Z)), float).reshape(-1, 3)
    are_read = len(read.problems) == before  # else nobody knows how many there are
    bodies = _bodies(table.get("body"), len(points), read) if are_read else np.zeros(len(points), int)
    if len(read.problems) == before and "points" in table:
        points, bodies, closed = _without_repetition(points, bodies, closed)
        _check(points, bodies, closed, read)
    if len(read.problems) > before or len(points) < 2:  # a placeholder beside the problems
        points, bodies, closed = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), np.zeros(2, int), False
    after = _next(closed, len(points))
    own = bodies[: len(after)] == bodies[after]
    chords = np.linalg.norm(points[after] - points[: len(after)], axis=1) * own
    way = np.concatenate([[0.0], np.cumsum(chords)])[: len(points)]
    known = chords[own]
    bridges = np.flatnonzero(~own)
    return Structure(
        sizes={"points": len(points), "bodies": int(bodies.max()) + 1, "bridges": len(bridges)},
        choices={"interpolation": interpolation, "closed": closed},
        constants=(
            Constant("line_points", tuple(points.ravel().tolist())),
            Constant("line_bodies", tuple(map(float, bodies)) if bodies.any() else (0.0,)),
            Constant("line_way", tuple(way.tolist())),
            Constant("line_bridges", tuple(map(float, bridges)) or (-1.0,)),
            Constant("line_spacing", (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)),
        ),
    )


def _bodies(given: object, count: int, read: Reader) -> Bodies:
    """The body of each point, counted from 0."""
    if given is None:
        return np.zeros(count, int)
    if (
        not isinstance(given, list)
        or not all(isinstance(b, int) and not isinstance(b, bool) and b >= 1 for b in given)
        or len(given) != count
    ):
        read.problem("line", "body", f"must be a list of {count} whole numbers from 1, one for each point")
        return np.zeros(count, int)
    if max(given, default=1) > MOST_BODIES:
        read.problem("line", "body", f"{max(given)} bodies: at most {MOST_BODIES} can carry a line")
        return np.zeros(count, int)
    left = sorted(set(range(1, max(given, default=1) + 1)) - set(given))
    if left:
        read.problem("line", "body", f"no point lies on body {', '.join(map(str, left))}: number them without gaps")
    return np.array(given, int) - 1


def _without_repetition(points: Points, bodies: Bodies, closed: bool) -> tuple[Points, Bodies, bool]:
    """A last point that repeats the first closes the line, and is not counted twice."""
    if len(points) > 2 and bodies[0] == bodies[-1]:
        size = float(np.abs(points).max())
        if float(np.linalg.norm(points[0] - points[-1])) <= 1e-9 * size:
            return points[:-1], bodies[:-1], True
    return points, bodies, closed


def _next(closed: bool, count: int) -> Bodies:
    """For each span the point that follows."""
    return np.arange(1, count + closed) % count


def _check(points: Points, bodies: Bodies, closed: bool, read: Reader) -> None:
    """Rules within one body; those between bodies need the poses at the start."""
    count = len(points)
    if count > MOST_POINTS:
        read.problem("line", "points", f"{count} points: at most {MOST_POINTS} are allowed")
        return
    least = 3 if closed else 2
    if count < least:
        kind = "a closed line" if closed else "a line"
        read.problem("line", "points", f"{count} point{'s' * (count != 1)}: {kind} needs {least} or more")
        return
    after = _next(closed, count)
    chords = points[after] - points[: len(after)]
    lengths = np.linalg.norm(chords, axis=1)
    own = bodies[: len(after)] == bodies[after]

    def pair(i: int) -> str:
        return f"points {i + 1} and {int(after[i]) + 1}"

    same = np.flatnonzero(own & (lengths == 0.0))
    _several(read, [f"{pair(int(i))} are the same" for i in same])
    if same.size:
        return
    if own.any():
        measured = np.where(own, lengths, np.nan)
        i, j = int(np.nanargmax(measured)), int(np.nanargmin(measured))
        if lengths[i] > LARGEST_RATIO * lengths[j]:
            read.problem(
                "line",
                "points",
                f"{pair(i)} are {lengths[i]:.6g} m apart, {pair(j)} {lengths[j]:.6g} m: the ratio "
                f"{lengths[i] / lengths[j]:.4g} must be at most {LARGEST_RATIO:g}; space the points more evenly",
            )
    first = np.arange(len(after) if closed else len(after) - 1)  # the chord before each inner point
    second = (first + 1) % len(after)
    both = own[first] & own[second]
    a, b = chords[first], chords[second]
    turns = np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ij,ij->i", a, b)))
    sharp = np.flatnonzero(both & (turns > LARGEST_TURN * (1.0 + 1e-12)))
    _several(
        read,
        [
            f"the line turns by {turns[i]:.4g} degrees at point {int(after[i]) + 1}: at most {LARGEST_TURN:g} are "
            "allowed; put more points there"
            for i in sharp
        ],
    )


def _several(read: Reader, texts: list[str]) -> None:
    for text in texts[:_SHOWN]:
        read.problem("line", "points", text)
    if len(texts) > _SHOWN:
        read.problem("line", "points", f"and {len(texts) - _SHOWN} more like these")
