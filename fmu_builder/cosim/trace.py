"""Traces: sampled signals with their units, events and provenance, as a CSV file and a JSON file beside it.

    trace.csv        "time","floor.depth",...       comma, quoted names, numbers that round-trip, Booleans 0 and 1
    trace.csv.json   {"units": {name: unit}, "events": {name: value}, "provenance": {...}}

Equal times in consecutive rows are a jump: left and right value of every signal.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmu_builder.errors import InputError, Problem, ToolError, did_you_mean, raise_faults, shortened
from fmu_builder.files import csv_reader, is_stream, no_trace, path_given, read_text, staged, write_whole, written
from fmu_builder.headers import no_names, split_header

_SHOWN_CHARACTERS = 40  # of one cell; an unclosed quote swallows the rest of the file
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_NOT_FINITE = re.compile(r"\s*[+-]?(nan|inf|infinity)\s*", re.ASCII | re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*", re.ASCII)
_JSON_KEYS = ("events", "provenance", "units")
_HOW_IT_COMPUTES = frozenset({"coupling", "solver"})  # groups of variables


@dataclass(frozen=True, eq=False)
class Trace:
    """Signals over time.

    time        shape (n,), s, n >= 1, never decreasing; equal times are a jump
    names       m names of signals, unique, none of them "time"
    values      shape (n, m), column j belongs to names[j]; Booleans are 0 and 1
    units       unit per name, where known ("time" may be among them)
    events      value per event, see events.py for names and units
    provenance  where the trace comes from; anything JSON can hold
    All numbers are finite; the arrays are stored as read-only float64.   Raises InputError with all faults.
    """

    time: NDArray[np.float64]
    names: tuple[str, ...]
    values: NDArray[np.float64]
    units: Mapping[str, str]
    events: Mapping[str, float] = field(default_factory=dict)
    provenance: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", _read_only(self.time))
        object.__setattr__(self, "values", _read_only(self.values))
        object.__setattr__(self, "names", tuple(self.names))
        raise_faults(self._faults())

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """The signal `name`, shape (n,), read-only.   Raises InputError if there is none."""
        if name not in self._column:
            raise InputError(Problem("trace", f"no signal '{name}'{did_you_mean(name, self.names)}"))
        return self.values[:, self._column[name]]

    def __contains__(self, name: object) -> bool:
        return name in self._column

    def __str__(self) -> str:
        """A table of the first rows and the last one, of as many signals as fit a line of 100 characters; those of the
        coupling and the solver come last."""
        columns = ["time", *sorted(self.names, key=lambda name: not _HOW_IT_COMPUTES.isdisjoint(name.split(".")))]
        units = [self.units.get(name, "1" if name != "time" else "s") for name in columns]
        n = len(self.time)
        rows = [*range(min(n, 6)), *([n - 1] if n > 6 else [])]
        cells = [
            [name, unit, *(f"{(self.time if name == 'time' else self[name])[k]:.6g}" for k in rows)]
            for name, unit in zip(columns, units, strict=True)
        ]
        widths = [max(map(len, column)) + 2 for column in cells]
        fitting = max(sum(1 for end in np.cumsum(widths) if end <= 100), 2)
        shown = cells[:fitting]
        texts = [[f"{text:>{width}}" for text in one] for one, width in zip(shown, widths, strict=False)]
        lines = ["".join(row) for row in zip(*texts, strict=True)]
        if n > 6:
            lines.insert(len(lines) - 1, f"{'...':>{widths[0]}}")
        more = "" if len(shown) == len(cells) else f", {len(cells) - len(shown)} further signals"
        return "\n".join([*lines, f"{n} rows{more}"])

    def with_signals(self, signals: Mapping[str, tuple[str, NDArray[np.float64]]]) -> Trace:
        """The trace with more signals: unit, and values of shape (n,), by name.   Raises InputError for others."""
        if not signals:
            return self
        for name, (_, column) in signals.items():
            if np.shape(column) != self.time.shape:
                what = f"has values of shape {np.shape(column)}, the times of the trace {self.time.shape}"
                raise InputError(Problem(f"trace, signal '{name}'", f"{what}: give one for each time"))
        values = np.column_stack([self.values, *(column for _, column in signals.values())])
        units = {**self.units, **{name: unit for name, (unit, _) in signals.items()}}
        return replace(self, names=(*self.names, *signals), values=values, units=units)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of the signals over the index `time`.   Raises ToolError without pandas."""
        try:
            import pandas
        except ImportError as error:
            raise ToolError("to_pandas() needs pandas: pip install pandas") from error
        return pandas.DataFrame(self.values, index=pandas.Index(self.time, name="time"), columns=list(self.names))

    def plot(self, path: Path | str = "plot.html") -> Path:
        """As fmu_builder.plot: write a page that shows the signals over time; returns its path."""
        import fmu_builder  # plots belong to a package above, so the facade imports it

        return fmu_builder.plot(self, path)

    @cached_property
    def _column(self) -> dict[str, int]:
        return {name: column for column, name in enumerate(self.names)}

    def _faults(self) -> list[Problem]:
        shape = (self.time.size, len(self.names))
        if self.time.ndim != 1 or self.time.size == 0 or self.values.shape != shape:
            what = f"time has shape {self.time.shape}, values {self.values.shape}, with {len(self.names)} names"
            return [Problem("trace", f"{what}; must be (n,), n >= 1, and (n, {len(self.names)})")]
        faults = _name_faults("trace", self.names)
        if "time" in self.names:
            faults.append(Problem("trace", "a signal is named 'time'; this name belongs to the first column"))
        for k in np.flatnonzero(~np.isfinite(self.time)):
            faults.append(Problem("trace", f"time of row {k} is {self.time[k]}; must be finite"))
        for k in np.flatnonzero(self.time[1:] < self.time[:-1]) + 1:
            faults.append(_decrease("trace", self.time[k], self.time[k - 1], f"row {k - 1}"))
        for k, column in np.argwhere(~np.isfinite(self.values)):
            where = f"trace, signal '{self.names[column]}'"
            faults.append(Problem(where, f"{self.values[k, column]} at time {self.time[k]!s} s; must be finite"))
        faults += _unit_faults("trace, units", self.units, self.names)
        for name, value in self.events.items():
            if not math.isfinite(value):
                faults.append(Problem(f"trace, event '{name}'", f"{value}; must be finite"))
        return faults


def check_trace(value: object, argument: str) -> None:
    """Raises InputError for an argument that is neither a Trace nor the result of a run."""
    if not isinstance(getattr(value, "trace", value), Trace):
        raise InputError(Problem(argument, f"{shortened(value)} must be a Trace; read_trace() reads one from a file"))


def write_trace(trace: Trace, path: Path | str) -> None:
    """Writes the CSV file `path` and `<path>.json` beside it; equal traces give equal bytes.

    Both are moved into place complete, the CSV file last; on any failure both targets stay as they were.  A device or
    FIFO takes the CSV file only.
    Raises InputError for a name that ends as other files do, and if JSON cannot hold the provenance; ToolError if the
    folder cannot be written."""
    path = path_given(path, "path")
    if what := no_trace(path):
        raise InputError(Problem("path", what))
    check_trace(trace, "trace")
    header = ",".join('"' + name.replace('"', '""') + '"' for name in ("time", *trace.names))
    rows = np.column_stack((trace.time, trace.values)).tolist()
    body = "".join(",".join(map(repr, row)) + "\n" for row in rows)
    # "1.0" and "1" are the same double; without the fraction a Boolean reads 0 or 1
    body = body.replace(".0,", ",").replace(".0\n", "\n")
    events = {name: float(value) for name, value in trace.events.items()}
    beside = {"units": dict(trace.units), "events": events, "provenance": dict(trace.provenance)}
    try:
        beside_text = json.dumps(beside, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        what = f"{error}; units, events and provenance may hold text, finite numbers, lists and tables only"
        raise InputError(Problem("trace", what)) from error
    with written(path):
        if is_stream(path):
            write_whole(path, f"{header}\n{body}")
            return
        with staged(_beside(path), path) as (new_beside, new):
            new_beside.write_text(beside_text, encoding="utf-8", newline="\n")
            new.write_text(f"{header}\n{body}", encoding="utf-8", newline="\n")


def read_trace(path: Path | str) -> Trace:
    """Reads a CSV file of numbers, and `<path>.json` if there is one.

    The first line names the columns, quoted or not, separated by comma or semicolon; the first column is the time in s,
    whatever its name.   Raises InputError with up to 20 faults of both files, each with its line and column.
    """
    path = path_given(path, "path")
    text = read_text(path)
    stream = io.StringIO(text, newline="")
    reader = csv_reader(text, stream)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        header = next(reader, [])
        body_start = stream.tell()
        for row in reader:
            if len(row) > 1 or (row and row[0].strip()):
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(Problem(f"{path}: line {reader.line_num}", f"{error}; is a quote left open?")) from error
    if _is_comment(header, rows):
        what = "is a comment; it must name the columns, the first of them the time: remove comments"
        raise InputError(Problem(f"{path}: line 1", what))
    faults = _header_faults(path, header)
    if header and not rows:
        faults.append(Problem(str(path), "has no rows of numbers"))
    table = _fast_table(rows, len(header), text[body_start:])
    if table is None:
        table, table_faults = _checked_table(path, header, rows, lines)
        faults += table_faults
    units, events, provenance = _read_beside(_beside(path), header, faults)
    raise_faults(faults)
    return Trace(table[:, 0], tuple(header[1:]), table[:, 1:], units, events, provenance)


def _read_only(values: NDArray[np.float64]) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64).view()
    array.flags.writeable = False
    return array


def _decrease(where: str, time: float, before: float, place: str) -> Problem:
    what = f"time {float(time)!r} s is below {float(before)!r} s of {place}; times must not decrease"
    return Problem(where, f"{what} (equal times are a jump)")


def _name_faults(where: str, names: Iterable[str]) -> list[Problem]:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    return [Problem(where, f"the name '{name}' appears more than once; names must be unique") for name in repeated]


def _unit_faults(where: str, units: Iterable[str], names: Iterable[str]) -> list[Problem]:
    known = {"time", *names}
    unknown = [name for name in units if name not in known]
    return [Problem(where, f"'{name}' is not a column of the trace{did_you_mean(name, known)}") for name in unknown]


# --- writing ---------------------------------------------------------------------------------------------------------


def _beside(path: Path) -> Path:
    return path.with_name(path.name + ".json")


# --- reading ---------------------------------------------------------------------------------------------------------


def _is_comment(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first line is one, and no header behind a #, which numpy writes."""
    begins = bool(header) and header[0].startswith("#")
    return begins and bool(rows) and (len(rows[0]) != len(header) or any(map(_cell_fault, rows[0])))


def _header_faults(path: Path, header: Sequence[str]) -> list[Problem]:
    where = f"{path}: line 1"
    if not header:
        return [Problem(str(path), "is empty; the first line must name the columns, the first of them the time")]
    if numbers := no_names(header, ", the first of them the time"):
        return [Problem(where, numbers)]
    faults = [
        Problem(where, f"column {column} has no name") for column, name in enumerate(header, 1) if not name.strip()
    ]
    faults += _name_faults(where, (name for name in header if name.strip()))
    if split_header(header[0])[1] not in ("s", None):
        what = f"the first column '{header[0]}' must be the time in s; convert it"
        faults.append(Problem(where, what))
    if header[0].casefold() != "time":
        later = [column for column, name in enumerate(header[1:], 2) if name.casefold() == "time"]
        what = f"the first column '{header[0]}' must be the time, which is column"
        faults += [Problem(where, f"{what} {column}; move it to the front") for column in later]
    return faults


def _fast_table(rows: Sequence[Sequence[str]], width: int, body: str) -> NDArray[np.float64] | None:
    """All cells as numbers, shape (rows, width), or None if a cell needs a check."""
    # float() also takes 1_000 and digits of other scripts, which are no numbers of a CSV file
    if not rows or "_" in body or not body.isascii() or any(len(row) != width for row in rows):
        return None
    try:
        table = np.array([[float(cell) for cell in row] for row in rows])
    except ValueError:
        return None
    good = np.isfinite(table).all() and (table[1:, 0] >= table[:-1, 0]).all()
    return table if good else None


def _checked_table(
    path: Path, header: Sequence[str], rows: Sequence[Sequence[str]], lines: Sequence[int]
) -> tuple[NDArray[np.float64], list[Problem]]:
    """All cells as numbers, shape (rows, columns), and every fault; faulty cells are 0."""
    faults: list[Problem] = []
    table = np.zeros((len(rows), max(len(header), 1)))
    before: tuple[float, int] | None = None  # last good time and its line
    for row, line, numbers in zip(rows, lines, table, strict=True):
        where = f"{path}: line {line}"
        if len(row) != len(header):
            faults.append(Problem(where, f"has {len(row)} cells; line 1 names {len(header)} columns"))
            continue
        for column, (name, cell) in enumerate(zip(header, row, strict=True)):
            wrong = _cell_fault(cell)
            if wrong:
                faults.append(Problem(f"{where}, column '{name}'", wrong))
                continue
            numbers[column] = float(cell)
            if column == 0:
                if before is not None and numbers[0] < before[0]:
                    faults.append(_decrease(f"{where}, column '{name}'", numbers[0], before[0], f"line {before[1]}"))
                before = (float(numbers[0]), line)
    return table, faults


def _cell_fault(cell: str) -> str:
    """What is wrong with the cell, or nothing."""
    shown = cell if len(cell) <= _SHOWN_CHARACTERS else cell[:_SHOWN_CHARACTERS] + "..."
    if _NOT_FINITE.fullmatch(cell):
        return f"'{shown}' is not finite; a trace holds finite numbers only"
    if _DECIMAL_COMMA.fullmatch(cell):
        return f"'{shown}' is not a number; write a decimal point: {cell.strip().replace(',', '.')}"
    if not _NUMBER.fullmatch(cell):
        truth = {"true": "1", "false": "0"}.get(cell.strip().casefold())
        return f"'{shown}' is not a number" + (f"; write {truth}" if truth else "")
    return "" if math.isfinite(float(cell)) else f"'{shown}' is beyond the range of a double"


def _read_beside(
    path: Path, header: Sequence[str], faults: list[Problem]
) -> tuple[dict[str, str], dict[str, float], dict[str, object]]:
    """Units, events and provenance from the JSON file, all empty without one; adds what is wrong to `faults`."""
    if not path.exists():
        return {}, {}, {}
    try:
        content = json.loads(read_text(path))
    except InputError as error:
        faults += error.problems
        return {}, {}, {}
    except json.JSONDecodeError as error:
        faults.append(Problem(f"{path}: line {error.lineno}", f"is not JSON: {error.msg}"))
        return {}, {}, {}
    if not isinstance(content, dict):
        faults.append(
            Problem(str(path), f"holds a {type(content).__name__}; must be a table of events, provenance and units")
        )
        return {}, {}, {}
    for key in content:
        if key not in _JSON_KEYS:
            faults.append(Problem(str(path), f"unknown key '{key}'{did_you_mean(key, _JSON_KEYS)}"))
    tables: dict[str, dict[str, object]] = {}
    for key in _JSON_KEYS:
        table = content.get(key, {})
        if not isinstance(table, dict):
            faults.append(Problem(f"{path}: {key}", f"is a {type(table).__name__}; must be a table of names"))
        tables[key] = table if isinstance(table, dict) else {}
    units: dict[str, str] = {}
    for name, unit in tables["units"].items():
        if isinstance(unit, str):
            units[name] = unit
        else:
            faults.append(Problem(f"{path}: units, '{name}'", f'{unit!r} is not a text; a unit is one, as in "m/s"'))
    faults += _unit_faults(f"{path}: units", units, header)
    units = {"time" if name == header[0] else name: unit for name, unit in units.items()} if header else units
    events: dict[str, float] = {}
    for name, value in tables["events"].items():
        number = _finite(value)
        if number is None:
            faults.append(Problem(f"{path}: events, '{name}'", f"{value!r} is not a finite number"))
        else:
            events[name] = number
    return units, events, tables["provenance"]


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # a whole number of more than 308 digits
        return None
    return number if math.isfinite(number) else None
