"""Functions given by points: a CSV file with units in its header.

    h [mm], F [kN]
    0, 0
    1, 0.8

Between the points the function is linear, or a monotone cubic (PCHIP: Fritsch & Butland, SIAM J. Sci. Stat. Comput. 5
(1984) 300), which overshoots nowhere.  Outside of them it holds its last value, continues with the slope at its end, or
has no value (error).
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fmu_builder.errors import InputError, Problem, did_you_mean, none_of
from fmu_builder.files import csv_reader, named_file, read_text
from fmu_builder.headers import no_names, split_header
from fmu_builder.units import Unit, parse_quantity, parse_unit

Array = NDArray[np.float64]
Interpolation = Literal["linear", "pchip"]
Outside = Literal["hold", "error", "linear"]
INTERPOLATIONS: tuple[Interpolation, ...] = ("linear", "pchip")
OUTSIDE: tuple[Outside, ...] = ("hold", "error", "linear")
MOST_POINTS = 10_000  # a table becomes constants of the C code

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class LawTable:
    """x, y: n >= 2 points, SI, x increasing.   name, unit: of x;   value_unit: of y."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    name: str
    unit: Unit
    value_unit: Unit
    interpolation: Interpolation = "linear"
    outside: Outside = "hold"

    @cached_property
    def coefficients(self) -> Array:
        """Shape (n - 1, 4): y = c0 + c1 t + c2 t^2 + c3 t^3 with t = x - x_k on interval k."""
        x, y = np.array(self.x), np.array(self.y)
        if self.interpolation == "pchip" and len(x) > 2:
            from scipy.interpolate import PchipInterpolator  # starts in half a second: only who needs it waits

            return np.ascontiguousarray(PchipInterpolator(x, y).c[::-1].T)
        found = np.zeros((len(x) - 1, 4))
        found[:, 0], found[:, 1] = y[:-1], np.diff(y) / np.diff(x)
        return found

    @cached_property
    def integrals(self) -> Array:
        """Shape (n,): integral from x_0 to x_k."""
        width = np.diff(np.array(self.x))
        powers = width[:, None] ** np.arange(1, 5) / np.arange(1, 5)
        return np.concatenate([[0.0], np.cumsum((self.coefficients * powers).sum(axis=1))])

    @property
    def end_slopes(self) -> tuple[float, float]:
        """dy/dx at the first and the last point."""
        c = self.coefficients
        t = self.x[-1] - self.x[-2]
        return float(c[0, 1]), float(c[-1, 1] + t * (2.0 * c[-1, 2] + t * 3.0 * c[-1, 3]))

    def at(self, x: Array) -> tuple[Array, Array]:
        """Value and slope; NaN where `outside` is error and x is no point of the table."""
        xs, c = np.array(self.x), self.coefficients
        k = np.clip(np.searchsorted(xs, x, side="right") - 1, 0, len(xs) - 2)
        t = x - xs[k]
        value = c[k, 0] + t * (c[k, 1] + t * (c[k, 2] + t * c[k, 3]))
        slope = c[k, 1] + t * (2.0 * c[k, 2] + t * (3.0 * c[k, 3]))
        for beyond, end, its_slope in zip((x < xs[0], x > xs[-1]), (0, -1), self.end_slopes, strict=True):
            if self.outside == "error":
                value, slope = np.where(beyond, np.nan, value), np.where(beyond, np.nan, slope)
            else:
                s = its_slope if self.outside == "linear" else 0.0
                value = np.where(beyond, self.y[end] + s * (x - xs[end]), value)
                slope = np.where(beyond, s, slope)
        return value, slope

    def side(self, x: Array) -> Array:
        """Of alternating sign between the points, zero at them."""
        xs = np.array(self.x)
        k = np.clip(np.searchsorted(xs, x, side="right") - 1, 0, len(xs) - 2)
        bow = (x - xs[k]) * (xs[k + 1] - x) / (xs[k + 1] - xs[k]) * np.where(k % 2, -1.0, 1.0)
        after = (x - xs[-1]) * (1.0 if len(xs) % 2 else -1.0)
        return np.asarray(np.where(x <= xs[0], x - xs[0], np.where(x >= xs[-1], after, bow)))


def read_table(path: Path, entry: Mapping[str, object], where: str) -> LawTable:
    """The table of `{ table = "file.csv", interpolation, outside }`; `path` is the file that names it.

    Raises InputError with every problem found, naming file and line."""
    problems: list[Problem] = []
    keys = ("table", "interpolation", "outside")
    for key in entry.keys() - set(keys):
        problems.append(Problem(f"{where} {key}", "this key is unknown" + did_you_mean(key, keys)))
    interpolation, outside = entry.get("interpolation", "linear"), entry.get("outside", "hold")
    for key, value, known in (("interpolation", interpolation, INTERPOLATIONS), ("outside", outside, OUTSIDE)):
        if value not in known:
            problems.append(Problem(f"{where} {key}", none_of(value, known)))
    name = entry.get("table")
    if not isinstance(name, str):
        raise InputError([*problems, Problem(f"{where} table", f"{name!r} must be the name of a CSV file")])
    file = path.parent / name
    try:
        rows = list(csv_reader(read_text(named_file(file, f"{where} table"))))
    except InputError as error:
        raise InputError([*problems, *error.problems]) from None
    except csv.Error as error:
        raise InputError([*problems, Problem(str(file), f"is no CSV file: {error}")]) from error
    units, labels = _header(file, rows, problems)
    points = list(_points(file, rows, units, problems)) if units else []
    if units and not problems:
        problems += _order_problems(file, labels[0], points)
    if problems:
        raise InputError(problems)
    x, y = (tuple(point[k] for point in points) for k in (1, 2))
    return LawTable(x, y, labels[0], units[0], units[1], interpolation, outside)  # type: ignore[arg-type]


def _header(file: Path, rows: list[list[str]], problems: list[Problem]) -> tuple[list[Unit], list[str]]:
    cells = [cell.strip() for cell in rows[0]] if rows else []
    where = f"{file}, line 1"
    if len(cells) != 2:
        what = f"{len(cells)} columns; the header must name two with their units, as in: h [mm], F [N]"
        problems.append(Problem(where, what))
        return [], []
    if numbers := no_names(cells, " with their units, as in: h [mm], F [N]"):
        problems.append(Problem(where, numbers))
        return [], []
    units, names = [], []
    for cell in cells:
        name, unit = split_header(cell, indexed=False)
        if not _NAME.fullmatch(name):
            problems.append(Problem(where, f"'{cell}' must be a name with a unit, as in: h [mm]"))
            continue
        try:
            units.append(parse_unit(unit or "1"))
            names.append(name)
        except InputError as error:
            problems.append(Problem(where, f"'{cell}': {error.problems[0].what}"))
    return (units, names) if len(units) == 2 else ([], [])


def _points(
    file: Path, rows: list[list[str]], units: list[Unit], problems: list[Problem]
) -> Iterator[tuple[int, float, float]]:
    """Line, x and y."""
    if len(rows) > MOST_POINTS + 1:
        problems.append(Problem(str(file), f"{len(rows) - 1} points; at most {MOST_POINTS} are allowed"))
        return
    for line, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        where = f"{file}, line {line}"
        if len(row) != 2:
            problems.append(Problem(where, f"{len(row)} values; 2 are needed"))
            continue
        values = [_number(cell.strip(), unit, where, problems) for cell, unit in zip(row, units, strict=True)]
        if values[0] is not None and values[1] is not None:
            yield line, values[0], values[1]


def _number(cell: str, unit: Unit, where: str, problems: list[Problem]) -> float | None:
    try:
        if not math.isfinite(float(cell)):
            problems.append(Problem(where, f"'{cell}' is not finite"))
            return None
        return parse_quantity(f"{cell} [{unit.name}]", unit, where)
    except ValueError:
        problems.append(Problem(where, f"'{cell}' is no number"))
    except InputError as error:
        problems += error.problems
    return None


def _order_problems(file: Path, name: str, points: list[tuple[int, float, float]]) -> Iterator[Problem]:
    if len(points) < 2:
        yield Problem(str(file), f"{len(points)} point{'s' * (len(points) != 1)}; at least 2 are needed")
    for (_, before, _), (line, x, _) in pairwise(points):
        if x == before:
            yield Problem(f"{file}, line {line}", f"{name} is the same as in the line before; a function has one value")
        elif x < before:
            yield Problem(f"{file}, line {line}", f"{name} is smaller than in the line before; sort the lines")
