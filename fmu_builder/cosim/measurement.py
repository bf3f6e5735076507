"""Measured CSV files of any make, and their columns as signals.

Separators are comma, semicolon, tab or blanks, found from the header; with others than a comma numbers may have a
decimal comma.  Lines that begin with #, % or // are comments; the last of them may be the header.  A second row may
hold units.  Empty cells, `nan`, `NA`, `null` and `-` are gaps."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.recorder import unit_of_signal
from fmu_builder.errors import InputError, Problem, did_you_mean, raise_faults, shortened
from fmu_builder.files import named_file, read_text
from fmu_builder.headers import split_header
from fmu_builder.model.mapping import ColumnEntry, MeasurementMap, offset_range
from fmu_builder.units import Unit, dimension_text, mixes_cycles_and_angle, parse_quantity, parse_unit

_COMMENT = re.compile(r"\s*(#|%|//)")
_GAPS = frozenset({"", "nan", "na", "n/a", "null", "none", "-", "--", "#n/a"})
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_Values = NDArray[np.float64]


@dataclass(frozen=True)
class MeasuredColumn:
    """What one column says of a signal, without its gaps.

    name        as the map has it
    time        shape (n,), s, of the file, never decreasing
    values      shape (n,), in the unit of the signal
    deviation   standard deviation of the noise in that unit; None if it is not known"""

    name: str
    signal: str
    unit: str
    time: _Values
    values: _Values
    deviation: float | None = None
    weight: float = 1.0


@dataclass(frozen=True)
class Measurement:
    """A measured file.   time of the run = time of the file + offset, s; offset_bounds: None where it is fixed"""

    path: Path
    columns: tuple[MeasuredColumn, ...]
    offset: float = 0.0
    offset_bounds: tuple[float, float] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Table:
    names: tuple[str, ...]  # as they are written
    units: tuple[str | None, ...]
    values: _Values  # shape (rows, columns), NaN in gaps
    lines: tuple[int, ...]


def read_measurement(
    path: Path,
    table: MeasurementMap,
    units: Mapping[str, str],
    where: str,
    *,
    named: str | None = None,
    source: str = "the run",
) -> Measurement:
    """The mapped columns of a file.

    units   of the signals that there are, by name; empty where it is not known: SI
    where   of the map in messages, such as "fit.toml: [measurement ball.csv] "
    named   the entry that names the file, if there is one, in messages
    source  of the signals, in messages
    Raises InputError with all that is wrong with map and file."""
    problems: list[Problem] = []
    start, least, largest = offset_range(table.time_offset, where, problems)
    try:
        read = _read_table(named_file(path, named) if named else path)
    except InputError as error:
        raise InputError([*problems, *error.problems]) from None
    time = _time(read, table.time, path, where, problems)
    columns = []
    notes = []
    for name, entry in table.columns.items():
        place = f"{where}columns '{name}'"
        column = _place(read, name, place, path, problems)
        if entry.signal not in units:
            what = f"{source} has no signal '{entry.signal}'{did_you_mean(entry.signal, units)}"
            problems.append(Problem(place, what))
        if column is None or entry.signal not in units or time is None:
            continue
        found = _column(read, column, name, entry, units[entry.signal], time, place, problems)
        if found is None:
            continue
        gaps = len(time) - len(found.time)
        if not len(found.time):
            problems.append(Problem(place, f"{path} holds no number in this column; name another one"))
        elif gaps:
            notes.append(f"{path}: {gaps} of {len(time)} rows have no value of '{name}'; they are left out")
        columns.append(found)
    repeated = [name for name, count in Counter(entry.signal for entry in table.columns.values()).items() if count > 1]
    if problems:
        raise InputError(problems)
    notes += [f"{path}: several columns measure {name}" for name in repeated]
    bounds = (least, largest) if largest > least else None
    return Measurement(path, tuple(columns), start, bounds, tuple(notes))


def _column(
    read: _Table,
    column: int,
    name: str,
    entry: ColumnEntry,
    signal_unit: str,
    time: _Values,
    place: str,
    problems: list[Problem],
) -> MeasuredColumn | None:
    written = entry.unit if entry.unit is not None else read.units[column]
    try:
        given = unit_of_signal(signal_unit) if written is None else parse_unit(written)
    except InputError as error:
        problems += [Problem(f"{place} unit", p.what) for p in error.problems]
        return None
    if not signal_unit:  # as in a CSV file without its JSON file: SI
        signal_unit = dimension_text(given)
    target = unit_of_signal(signal_unit)
    if not given.same_dimension(target) or mixes_cycles_and_angle(given, target):
        what = (
            f"'{given.name}' has the dimension {dimension_text(given)}, but {entry.signal} is in {target.name} "
            f"({dimension_text(target)}); give the unit of the column, or another signal"
        )
        problems.append(Problem(f"{place} unit", what))
        return None
    before = len(problems)
    offset = _in_unit(entry.offset, target, f"{place} offset", problems)
    deviation = None
    if entry.deviation is not None:
        deviation = _in_unit(entry.deviation, target, f"{place} deviation", problems)
        if len(problems) == before and not deviation > 0.0:
            what = f"{entry.deviation!r} must be greater than 0; leave it out to have it estimated"
            problems.append(Problem(f"{place} deviation", what))
    if len(problems) > before:
        return None
    raw = read.values[:, column]
    present = np.isfinite(raw) & np.isfinite(time)
    converted = (given.factor * raw[present] + given.offset - target.offset) / target.factor
    values = entry.scale * converted + offset
    return MeasuredColumn(name, entry.signal, signal_unit, time[present], values, deviation, entry.weight)


def _in_unit(value: float | int | str, unit: Unit, where: str, problems: list[Problem]) -> float:
    """A difference or deviation in the unit, in which numbers and texts without a unit are.  Adds what is wrong."""
    try:
        number = parse_quantity(value, unit, where, is_difference=True)
    except InputError as error:
        problems += error.problems
        return math.nan
    has_unit = isinstance(value, str) and not _NUMBER.fullmatch(value.strip())
    return number / unit.factor if has_unit else number


# --- the columns of the file ------------------------------------------------------------------------------------------


def _place(read: _Table, name: str, where: str, path: Path, problems: list[Problem]) -> int | None:
    """The column of this header, which may leave out the unit."""
    whole = [k for k, known in enumerate(read.names) if known == name]
    found = whole or [k for k, known in enumerate(read.names) if split_header(known)[0] == name]
    if len(found) == 1:
        return found[0]
    if found:
        problems.append(Problem(where, f"{path} has {len(found)} columns of this name; rename all but one"))
    else:
        known = {split_header(one)[0] for one in read.names}
        problems.append(Problem(where, f"{path} has no such column{did_you_mean(name, known)}"))
    return None


def _time(read: _Table, name: str | None, path: Path, where: str, problems: list[Problem]) -> _Values | None:
    """s, shape (rows,); NaN where it is missing."""
    column = 0 if name is None else _place(read, name, f"{where}time", path, problems)
    if column is None:
        return None
    place = f"{path}: column '{read.names[column]}'"
    try:
        unit = parse_unit(read.units[column] or "s")
    except InputError as error:
        problems += [Problem(place, p.what) for p in error.problems]
        return None
    if not unit.same_dimension(parse_unit("s")):
        what = f"is in {unit.name} ({dimension_text(unit)}), so is not the time; name its column by `time`"
        problems.append(Problem(place, what))
        return None
    time = unit.factor * read.values[:, column]
    known = np.flatnonzero(np.isfinite(time))
    if not len(known):
        problems.append(Problem(place, "holds no time; name its column by `time`"))
        return None
    back = np.flatnonzero(np.diff(time[known]) < 0.0)
    if len(back):
        first, second = known[back[0]], known[back[0] + 1]
        what = f"time {time[second]:g} s is below {time[first]:g} s of line {read.lines[first]}; sort the rows by time"
        problems.append(Problem(f"{path}: line {read.lines[second]}", what))
        return None
    return time


# --- the text ---------------------------------------------------------------------------------------------------------


def _read_table(path: Path) -> _Table:
    """Raises InputError with up to 20 faults."""
    commented: list[tuple[int, str]] = []
    lines: list[tuple[int, str]] = []
    for number, text in enumerate(read_text(path).splitlines(), 1):
        if _COMMENT.match(text):
            commented.append((number, _COMMENT.sub("", text, count=1).strip()))
        elif text.strip(" \t,;"):
            lines.append((number, text))
    if not lines:
        raise InputError(Problem(str(path), "has no rows of numbers"))
    separator = _separator(lines[0][1])
    first = _cells(lines[0], separator, path)
    if _is_numbers(first, separator):  # the header is a comment
        headers = [_cells(line, _separator(line[1]), path) for line in commented if line[0] < lines[0][0]]
        header = next((cells for cells in reversed(headers) if len(cells) == len(first)), None)
        if header is None:
            what = "holds numbers; a line above them must name the columns, such as t [s]; z [mm]"
            raise InputError(Problem(f"{path}: line {lines[0][0]}", what))
        rows = lines
    else:
        header, rows = first, lines[1:]
    units = [split_header(name)[1] for name in header]
    if rows and (row_units := _units_row(_cells(rows[0], separator, path), len(header))) is not None:
        units = [own if own is not None else below for own, below in zip(units, row_units, strict=True)]
        rows = rows[1:]
    if not rows:
        raise InputError(Problem(str(path), "has no rows of numbers"))
    values = np.full((len(rows), len(header)), np.nan)
    faults: list[Problem] = []
    for k, line in enumerate(rows):
        number = line[0]
        try:
            cells = _cells(line, separator, path)
        except InputError as error:
            faults += error.problems
            continue
        if len(cells) > len(header) and not any(cell for cell in cells[len(header) :]):
            cells = cells[: len(header)]  # a separator at the end
        if len(cells) != len(header):
            what = f"has {len(cells)} cells; the header names {len(header)} columns"
            faults.append(Problem(f"{path}: line {number}", what))
            continue
        for column, cell in enumerate(cells):
            if (value := _number(cell, separator)) is None:
                what = f"{shortened(cell)} is neither a number nor a gap (empty, nan, NA, -)"
                faults.append(Problem(f"{path}: line {number}, column '{header[column]}'", what))
            else:
                values[k, column] = value
    raise_faults(faults)
    return _Table(tuple(header), tuple(units), values, tuple(number for number, _ in rows))


def _separator(line: str) -> str:
    """Of a header; "" for blanks."""
    plain = re.sub(r'"[^"]*"|\[[^\]]*\]', "", line)  # a comma may stand in a name: "f[1,2]"
    for one in (";", "\t", ","):
        if one in plain:
            return one
    return ""


def _cells(line: tuple[int, str], separator: str, path: Path) -> list[str]:
    """line: its number and text.   Raises InputError for what the csv module does not read, such as a huge cell."""
    number, text = line
    if separator:
        try:
            return [cell.strip() for cell in next(csv.reader([text.rstrip("\r\n")], delimiter=separator))]
        except csv.Error as error:
            raise InputError(Problem(f"{path}: line {number}", f"{error}; is a quote left open?")) from error
    words = re.findall(r'"[^"]*"|\S+(?: \[[^\]]*\]| \([^)]*\))?', text)  # blanks separate names from names, not units
    return [word.strip('"') for word in words]


def _number(cell: str, separator: str) -> float | None:
    """NaN for a gap, None for what is no number."""
    if cell.casefold() in _GAPS:
        return math.nan
    plain = cell.replace(",", ".") if separator != "," and cell.count(",") == 1 and "." not in cell else cell
    if not _NUMBER.fullmatch(plain):
        return None
    number = float(plain)
    return number if math.isfinite(number) else None


def _is_numbers(cells: Sequence[str], separator: str) -> bool:
    found = [_number(cell, separator) for cell in cells]
    return None not in found and not all(math.isnan(one) for one in found if one is not None)


def _units_row(cells: Sequence[str], width: int) -> list[str | None] | None:
    """The units of a row that holds them, None of a row of values."""
    if len(cells) != width or any(_NUMBER.fullmatch(cell) for cell in cells):
        return None
    plain = [cell.strip("[]() ") for cell in cells]
    if all(cell.casefold() in _GAPS for cell in plain):
        return None
    try:
        for cell in plain:
            parse_unit(cell)
    except InputError:
        return None
    return [cell or None for cell in plain]
