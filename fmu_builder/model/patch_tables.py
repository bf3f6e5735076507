"""`[surface]` of the kinds height_field and patch: tables, grids, images and control points become a Patch.

Everything wrong with a table is a problem of the reader; then there is no patch."""

from __future__ import annotations

import io
import math
from collections import Counter
from pathlib import Path

import numpy as np

from fmu_builder.errors import InputError, Problem, collected
from fmu_builder.files import csv_reader, read_data, read_text
from fmu_builder.headers import X, Y, Z, no_names, split_header
from fmu_builder.model.patches import Array, Direction, Patch, through_heights
from fmu_builder.model.structure_reader import Reader, Table
from fmu_builder.units import parse_quantity, parse_unit

MOST_HEIGHTS = 250_000  # 2.4 MB of a binary; 33 MB of an FMU for all platforms, with its sources
_LARGEST_IMAGE = 2**25  # bytes
_ENDS_MEET = 1e-9  # of the range of heights
_DEEPEST = {"1": 1.0, "L": 255.0, "I": 65535.0, "I;16": 65535.0}  # white, by the mode of an image
_WEIGHT = ("weight", "w")


def height_field(table: Table, read: Reader) -> Patch | None:
    before = len(read.problems)
    closed = _closed(table, read, "periodic", ("x", "y"))
    given = table.get("heights")
    path = read.file("surface", "heights", given) if isinstance(given, str) else None
    if "heights" not in table or len(read.problems) > before:
        return None
    is_image = path is not None and path.suffix.lower() == ".png"
    columns = _columns(path, "heights", read) if path is not None and not is_image else []
    if numbers := no_names(columns, ": x, y, z of points; or z alone, as z [mm], above rows of heights"):
        read.problems.append(Problem(f"{path}: line 1", numbers))
    if len(read.problems) > before:
        return None
    if path is not None and is_image:
        grid = _placed(_image(path, table, read), table, read, closed, "an image")
    elif path is not None and len(columns) == 1:
        grid = _placed(_rows(path, read), table, read, closed, "rows of heights")
    elif isinstance(given, list) and ("x" in table or "y" in table):
        first = len(given[0]) if given and isinstance(given[0], list) else 1
        rows = read.points(table, "heights", ("m",) * first)
        grid = _placed(np.array(rows).T if rows else None, table, read, closed, "rows of heights")
    else:
        grid = _from_points(table, read)
        for key in ("x", "y"):
            if key in table:
                read.problem("surface", key, f"belongs to an image or to rows of heights: points have their own {key}")
    if "range" in table and not is_image:
        read.problem("surface", "range", "belongs to an image: points and rows have their heights")
    if len(read.problems) > before or grid is None:
        return None
    x, y, z = grid
    for fault in _grid_faults(x, y, z, closed):
        read.problem("surface", "heights", fault)
    if len(read.problems) > before:
        return None
    for axis, is_closed in enumerate(closed):
        if is_closed:
            z = np.moveaxis(z, axis, 0)
            z = np.moveaxis(np.concatenate([z[:-1], z[:1]]), 0, axis)
    return through_heights(x, y, z, closed)


def _closed(table: Table, read: Reader, key: str, names: tuple[str, str]) -> tuple[bool, bool]:
    chosen = read.choice(table, key)
    return chosen in (names[0], "both"), chosen in (names[1], "both")


def _columns(path: Path, key: str, read: Reader) -> list[str]:
    """The first line of a CSV file; empty if it cannot be read."""
    try:
        first = read_text(path).partition("\n")[0]
    except InputError as error:
        for problem in error.problems:
            read.problem("surface", key, str(problem))
        return []
    return next(csv_reader(first), [])


def _refused(count: int) -> str:
    return (
        f"{count} heights: at most {MOST_HEIGHTS} are built into an FMU; keep every n-th line, or the part of the "
        "surface that is met"
    )


def _image(path: Path, table: Table, read: Reader) -> Array | None:
    """Heights with x along the first axis and y along the second: the lines of the image, the last one first."""
    from PIL import Image, UnidentifiedImageError  # only who needs it waits

    if "range" not in table:
        read.problem("surface", "range", f'is missing: the heights of black and white in {path.name}, as [0, "20 mm"]')
    low, high = read.interval(table, "range")
    try:
        image = Image.open(io.BytesIO(read_data(path, _LARGEST_IMAGE)), formats=("PNG",))
        if image.width * image.height > MOST_HEIGHTS:
            read.problem(
                "surface",
                "heights",
                f"{path}: {image.width} x {image.height} = " + _refused(image.width * image.height),
            )
            return None
        if image.mode not in _DEEPEST:
            what = f"{path}: an image of mode {image.mode} has colours, and heights have one: convert it to greyscale"
            read.problem("surface", "heights", what + ", with 16 bits where its program offers them")
            return None
        grey = np.asarray(image, dtype=float)
    except InputError as error:
        for problem in error.problems:
            read.problem("surface", "heights", str(problem))
        return None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        read.problem("surface", "heights", f"{path} is no PNG image that can be read: {error}")
        return None
    return low + (high - low) * grey[::-1].T / _DEEPEST[image.mode]


def _rows(path: Path, read: Reader) -> Array | None:
    """Of a file whose first line names them with their unit, as `z [mm]`: a line for each y, the least y first."""
    header, *lines = csv_reader(read_text(path))
    own = split_header(header[0], indexed=False)[1] or ""
    rows: list[list[float]] = []
    lines = [line for line in lines if line]
    if sum(map(len, lines)) > MOST_HEIGHTS:
        read.problem("surface", "heights", f"{path}: {_refused(sum(map(len, lines)))}")
        return None
    factor = math.nan
    with collected(read.problems):
        factor = parse_quantity(
            f"1 [{own}]" if own else "1", parse_unit("m"), f"{path}: line 1: column '{header[0].strip()}'"
        )
    if math.isnan(factor):
        return None
    for number, line in enumerate(lines, 2):
        where = f"{path}: line {number}"
        if len(line) != len(lines[0]):
            read.problems.append(Problem(where, f"{len(line)} heights, and the line before has {len(lines[0])}"))
            return None
        with collected(read.problems):
            rows.append(_in_metres(line, own, factor, where))
    return np.array(rows).T if len(rows) == len(lines) and rows else None


def _in_metres(texts: list[str], own: str, factor: float, where: str) -> list[float]:
    """The numbers of a line, each in the unit of the header, which has so many metres."""
    try:
        found = [float(text) * factor for text in texts]
    except ValueError:
        found = [math.nan]
    if all(map(math.isfinite, found)):
        return found
    return [parse_quantity(f"{text} [{own}]" if own else text, parse_unit("m"), where) for text in texts]


def _placed(
    z: Array | None, table: Table, read: Reader, closed: tuple[bool, bool], what: str
) -> tuple[Array, Array, Array] | None:
    """Rows of heights, x along the first axis, between the ends of `x` and `y`.  Along a periodic direction the end is
    where they begin again: the first of them is added there."""
    ends = []
    for key in ("x", "y"):
        if key not in table:
            read.problem("surface", key, f'is missing: {what} needs from and to, as [0, "2 m"]')
        ends.append(read.interval(table, key))
    if z is None:
        return None
    for axis, is_closed in enumerate(closed):
        if is_closed:
            z = np.concatenate([z, z.take([0], axis=axis)], axis=axis)
    x, y = (np.linspace(*end, count) for end, count in zip(ends, z.shape, strict=True))
    return x, y, z


def _from_points(table: Table, read: Reader) -> tuple[Array, Array, Array] | None:
    points = np.array(read.points(table, "heights", 3, (X, Y, Z))).reshape(-1, 3)
    if not len(points):
        return None
    if len(points) > MOST_HEIGHTS:
        read.problem("surface", "heights", _refused(len(points)))
        return None
    (x, i), (y, j) = (np.unique(points[:, k], return_inverse=True) for k in (0, 1))
    times = Counter(zip(i.tolist(), j.tolist(), strict=True))
    twice = [place for place, count in times.items() if count > 1]
    if twice:
        at = f"({x[twice[0][0]]:g}, {y[twice[0][1]]:g}) m"
        read.problem(
            "surface", "heights", f"{len(twice)} places have more than one height, the first is {at}: keep one"
        )
        return None
    if len(points) != len(x) * len(y):
        first = next((a, b) for a in range(len(x)) for b in range(len(y)) if (a, b) not in times)
        what = (
            f"{len(x)} different x and {len(y)} different y make a grid of {len(x) * len(y)} points, and {len(points)} "
        )
        what += f"are given: the first that is missing is ({x[first[0]]:g}, {y[first[1]]:g}) m.  Scattered points are "
        what += "interpolated to a grid before; coordinates that differ by rounding are rounded"
        read.problem("surface", "heights", what)
        return None
    z = np.empty((len(x), len(y)))
    z[i, j] = points[:, 2]
    return x, y, z


def _grid_faults(x: Array, y: Array, z: Array, closed: tuple[bool, bool]) -> list[str]:
    faults = []
    across = (y, x)
    for axis, (name, grid) in enumerate((("x", x), ("y", y))):
        least = 4 if closed[axis] else 2
        if len(grid) < least:
            kind = "a periodic" if closed[axis] else "a bounded"
            faults.append(f"{len(grid)} along {name}: {kind} direction has at least {least}")
        elif closed[axis]:
            apart = np.abs(np.diff(z.take([0, -1], axis=axis), axis=axis)).ravel()
            if apart.max() > _ENDS_MEET * (float(np.ptp(z)) or 1.0):
                k = int(apart.argmax())
                faults.append(
                    f"differ by {apart[k]:.3g} m between the ends of {name}, at {'yx'[axis]} = {across[axis][k]:g} m: "
                    f"periodic heights are equal there; the last {name} is one period behind the first"
                )
    return faults


# ---- control points --------------------------------------------------------------------------------------------------


def control_patch(table: Table, read: Reader) -> Patch | None:
    before = len(read.problems)
    closed = _closed(table, read, "closed", ("u", "v"))
    given, size = table.get("control"), table.get("size")
    path = read.file("surface", "control", given) if isinstance(given, str) else None
    if not (isinstance(size, list) and len(size) == 2 and all(type(n) is int for n in size)):
        if "size" in table:
            read.problem("surface", "size", f"{size!r} must be two whole numbers: of control points along u and v")
        return None
    if "control" not in table or len(read.problems) > before:
        return None
    for n, name, is_closed in zip(size, "uv", closed, strict=True):
        if n < (least := 3 if is_closed else 4):
            read.problem("surface", "size", f"{n} control points along {name}: degree 3 needs at least {least}")
    if path is not None:
        weighted = len(_columns(path, "control", read)) == 4
    else:
        weighted = isinstance(given, list) and bool(given) and isinstance(given[0], list) and len(given[0]) == 4
    if weighted:
        points = np.array(read.points(table, "control", ("m", "m", "m", "1"), (X, Y, Z, _WEIGHT)))
    else:
        points = np.array(read.points(table, "control", 3, (X, Y, Z)))
    if len(read.problems) > before:
        return None
    if len(points) != size[0] * size[1]:
        what = f"{len(points)} control points, and size = {size} makes {size[0] * size[1]}"
        read.problem("surface", "control", what)
        return None
    if len(points) > MOST_HEIGHTS:
        read.problem(
            "surface", "control", f"{len(points)} control points: at most {MOST_HEIGHTS} are built into an FMU"
        )
        return None
    if weighted:
        faults = np.flatnonzero(points[:, 3] <= 0.0)
        if len(faults):
            what = f"point {faults[0] + 1} has the weight {points[faults[0], 3]:g}: weights are greater than 0"
            read.problem("surface", "control", what)
            return None
        points = np.column_stack([points[:, :3] * points[:, 3:], points[:, 3]])
    control = points.reshape(*size, -1)
    directions = []
    for axis, name in enumerate("uv"):
        knots = _knots(table, read, f"knots_{name}", size[axis], closed[axis])
        if closed[axis]:
            control = np.concatenate([control, control.take(range(3), axis=axis)], axis=axis)
        directions.append(knots)
    if len(read.problems) > before:
        return None
    u, v = (Direction.of(knots, is_closed) for knots, is_closed in zip(directions, closed, strict=True))
    return Patch(u, v, np.ascontiguousarray(control))


def _knots(table: Table, read: Reader, key: str, count: int, closed: bool) -> Array:
    """Those of the recipe, or uniform ones: periodic, or with ends at control points."""
    if closed:
        if table.get(key) is not None:
            read.problem("surface", key, "a closed direction has uniform knots: leave it out")
        return np.arange(count + 7.0) - 3.0
    if table.get(key) is None:
        return np.array(np.clip(np.arange(count + 4.0) - 3.0, 0.0, count - 3.0), float)
    knots: Array = np.array(read.vector(table, key, default=()))
    if len(knots) != count + 4:
        read.problem("surface", key, f"{len(knots)} knots: {count} control points of degree 3 need {count + 4}")
        return np.arange(count + 4.0)
    if (np.diff(knots) < 0.0).any():
        k = int(np.argmax(np.diff(knots) < 0.0))
        read.problem(
            "surface", key, f"knot {k + 2} = {knots[k + 1]:g} is below knot {k + 1} = {knots[k]:g}: knots rise"
        )
        return np.arange(count + 4.0)
    if knots[3] == knots[-4]:
        read.problem("surface", key, "the knots leave no span: the fourth lies before the fourth from the end")
        return np.arange(count + 4.0)
    inner, times = np.unique(knots[(knots > knots[3]) & (knots < knots[-4])], return_counts=True)
    if (times > 2).any():
        k = int(np.argmax(times > 2))
        what = f"the knot {inner[k]:g} stands {times[k]} times, and there the surface has an edge: at most twice; make "
        read.problem("surface", key, what + "two patches of it, each with its own FMU")
    return knots
