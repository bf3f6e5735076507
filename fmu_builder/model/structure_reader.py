"""Structures with tables: the arguments and results of `elements/<name>/structure.py`."""

from __future__ import annotations

import csv
import functools
import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from pydantic.fields import FieldInfo

from fmu_builder.errors import InputError, Problem, collected, did_you_mean, none_of
from fmu_builder.files import csv_reader, read_text
from fmu_builder.headers import Names, column_order, no_names, split_header
from fmu_builder.model.given_values import interval, number, truth
from fmu_builder.model.table_model import KIND, In, Models
from fmu_builder.units import Unit, parse_quantity, parse_unit

Table = Mapping[str, object]
"""A table of the recipe, by key."""
# names of keys; or the model of a table, whose units and limits its values have; or of `kind` by kind
Keys = Sequence[str] | Models


def data_name(name: str, data: bytes) -> str:
    """Of a file of bytes: it follows from the content, so that compilers, which know sources by their text, compile
    again what includes another one."""
    return f"{name}_{hashlib.sha256(data).hexdigest()[:32]}.bin"


@dataclass(frozen=True)
class Constant:
    """A constant table of the generated C: `static const double name[]` of SI values, `static const int name[]`,
    `static const char name[][length]` of texts, or bytes of any types, `extern const unsigned name[]`, on a boundary
    of 64 bytes, which become a file among the sources.

    is_resource  bytes, a multiple of 64, that become a file of the FMU's folder resources and are in no binary:
                 `extern const unsigned *name`, which is there while there are instances"""

    name: str
    values: tuple[float, ...] | tuple[int, ...] | tuple[str, ...] | bytes
    is_resource: bool = False

    @functools.cached_property
    def file_name(self) -> str:
        assert isinstance(self.values, bytes)
        return data_name(self.name, self.values)


@dataclass(frozen=True)
class Limit:
    """What the structure allows a parameter, SI: it starts at `start` and may grow up to `max`, but a recipe that sets
    it has to stay below.  `reason` names `max`."""

    start: float
    max: float
    reason: str


@dataclass(frozen=True)
class Structure:
    """The result of the structure tables of a recipe.

    constants  tables of the generated C
    sizes      of the sizes that `[structure]` of element.toml declares those that follow from the tables; the recipe
               cannot set them.  Variables, ports and indicators with `each` over a size of 0 are absent
    starts     start values by FMU name, SI; the recipe cannot set them in [start] as well
    input_starts  defaults of what a port takes, by declared name as "point.r", SI, the same for each index, in place of
               those of its kind; [start] of the recipe sets others
    units      units of a declared variable that differ from one index of its `each` to the next
    choices    choices of `[structure]` of element.toml that are `given_by` such a table
    limits     of parameters, by name
    contact_area  m2 that can touch at most, for a stiffness per area
    notes      for the user who builds it"""

    constants: tuple[Constant, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    starts: Mapping[str, object] = field(default_factory=dict)
    input_starts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    units: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    choices: Mapping[str, bool | str] = field(default_factory=dict)
    limits: Mapping[str, Limit] = field(default_factory=dict)
    contact_area: float = 0.0
    notes: tuple[str, ...] = ()


def _is_plain(written: str, unit: Unit) -> bool:
    """Whether numbers in the unit that stands in a header are SI values of `unit` as they stand."""
    try:
        found = parse_unit(written) if written else unit
    except InputError:
        return False  # reported with the first value
    return found.is_si and found.same_dimension(unit)


def _numbers(texts: Sequence[str]) -> tuple[float, ...]:
    """The finite numbers, none if one of the texts is something else."""
    try:
        found = tuple(map(float, texts))
    except ValueError:
        return ()
    return found if all(map(math.isfinite, found)) else ()


def fields_of(keys: Models) -> tuple[dict[str, FieldInfo], list[str]]:
    """The fields of a table, and the keys it needs; of several kinds those that any of them has, and all need."""
    kinds = [keys] if isinstance(keys, type) else list(keys.values())
    fields = {name: field for kind in kinds for name, field in kind.model_fields.items()}
    needed = [] if isinstance(keys, type) else [KIND]
    for name in fields:
        if all(name in kind.model_fields and kind.model_fields[name].is_required() for kind in kinds):
            needed.append(name)
    return fields, needed


class Reader:
    """Reads the structure tables of one recipe and collects every problem.

    tables  by name; a list of them for `[[name]]`"""

    def __init__(self, recipe: Path, tables: Mapping[str, Table | Sequence[Table]]) -> None:
        self._recipe = recipe
        self._tables = tables
        self._table_of: dict[int, str] = {}
        self._fields_of: dict[int, Mapping[str, FieldInfo]] = {}
        self.problems: list[Problem] = []

    def problem(self, table: str, key: str, what: str) -> None:
        self.problems.append(Problem(self._where(table, key), what))

    def _where(self, table: str, key: str) -> str:
        place = f"[{table}]" if not table.startswith("[[") else table
        return f"{self._recipe}: {place} {key}".rstrip()

    @property
    def folder(self) -> Path:
        """The folder of the recipe, where the files it names lie."""
        return self._recipe.parent

    def table(self, name: str, keys: Keys, required: Sequence[str] = ()) -> Table:
        """The table `[name]` of the recipe, an empty one if it is missing; its keys are checked."""
        table = self._tables.get(name, {})
        assert isinstance(table, Mapping)
        return self._checked(table, name, keys, required)

    def rows(self, name: str, keys: Keys, required: Sequence[str] = ()) -> list[Table]:
        """The tables `[[name]]` of the recipe in their order; their keys are checked."""
        tables = self._tables.get(name, ())
        assert not isinstance(tables, Mapping)
        return [self._checked(table, f"[[{name}]] {i}", keys, required) for i, table in enumerate(tables, start=1)]

    def place(self, table: Table) -> str:
        """What `problem` needs as the table's name."""
        return self._table_of[id(table)]

    def _checked(self, table: Table, name: str, keys: Keys, required: Sequence[str]) -> Table:
        self._table_of[id(table)] = name
        if not isinstance(keys, Sequence):
            self._fields_of[id(table)], required = fields_of(keys)
            keys = tuple(self._fields_of[id(table)])
        for key in table:
            if key not in keys:
                self.problem(name, key, "this key is unknown" + did_you_mean(key, keys))
        for key in required:
            if key not in table:
                self.problem(name, key, "this key is missing")
        return table

    def _declared(self, table: Table, key: str) -> In | None:
        """Unit and limits of a value by the model of its table."""
        field = self._fields_of.get(id(table), {}).get(key)
        return field and In.of(field)

    def _unit(self, table: Table, key: str) -> str:
        rule = self._declared(table, key)
        assert rule is not None and isinstance(rule.unit, str), f"{key} declares no unit, or two"
        return rule.unit

    def _default(self, table: Table, key: str) -> Any:
        field = self._fields_of[id(table)][key]
        assert not field.is_required(), f"{key} declares no default"
        return field.default

    def choice(self, table: Table, key: str, choices: Sequence[str] = ()) -> str:
        """One of the given words, else of those that the model of the table declares; the first if the key is
        missing."""
        choices = choices or get_args(self._fields_of[id(table)][key].annotation)
        value = table.get(key, choices[0])
        if value not in choices:
            self.problem(self.place(table), key, none_of(value, choices))
            return choices[0]
        return str(value)

    def flag(self, table: Table, key: str) -> bool:
        """True or false; false if the key is missing."""
        with collected(self.problems):
            return truth(table.get(key, False), self._where(self.place(table), key))
        return False

    def unit(self, table: Table, key: str, same_as: str) -> float:
        """Factor of a unit of the dimension of `same_as` to that of SI; 1 if the key is missing."""
        if (given := table.get(key)) is None:
            return 1.0
        try:
            found = parse_unit(given) if isinstance(given, str) else None
            if found is not None and found.same_dimension(parse_unit(same_as)):
                return found.factor
            self.problem(self.place(table), key, f"{given!r} must be a unit such as '{same_as}'")
        except InputError as error:
            self.problem(self.place(table), key, error.problems[0].what)
        return 1.0

    @contextmanager
    def collected(self, table: Table, key: str) -> Iterator[None]:
        """Adds the problems of an InputError about what a key names, instead of raising it."""
        try:
            yield
        except InputError as error:
            for problem in error.problems:
                self.problem(self.place(table), key, str(problem))

    def file(self, table: str, key: str, name: str) -> Path | None:
        """A file in the folder of the recipe or below, which is copied with it and is the same on every machine; None
        beside a problem."""
        if Path(name).is_absolute() or ".." in Path(name).parts:
            what = f"{name!r} lies outside the folder of the recipe: copy the file beside the recipe and give its name"
            self.problem(table, key, what)
            return None
        return self.folder / name

    def text(self, table: Table, key: str, default: str) -> str:
        value = table.get(key, default)
        if not isinstance(value, str):
            self.problem(self.place(table), key, f"{value!r} must be text")
            return default
        return value

    def quantity(
        self,
        table: Table,
        key: str,
        unit: str | None = None,
        default: float | None = None,
        above: float | None = None,
        least: float | None = None,
        below: float | None = None,
    ) -> float:
        """A quantity in the SI unit of `unit`, greater than `above`, at least `least`, less than `below`.

        What the model of the table declares need not be given: limits, default, and the unit where it is one."""
        if default is None:
            default = self._default(table, key)
        rule = self._declared(table, key) or In("1", above, least, below)
        if unit is not None:
            rule = replace(rule, unit=unit)
        return self._quantity(table, key, table.get(key, default), rule, default)

    def vector(
        self, table: Table, key: str, units: Sequence[str] | None = None, default: Sequence[float] | None = None
    ) -> tuple[float, ...]:
        """As many quantities as there are units, in these; of no default values any number, in the last unit.

        Without `units` and `default` they are those that the model of the table declares."""
        if units is None:
            units = (self._unit(table, key),)
        if default is None:
            default = self._default(table, key)
        value = table.get(key, list(default))
        if not isinstance(value, list) or (default and len(value) != len(default)) or not value:
            wanted = f"{len(default)} quantities" if default else "one or more quantities"
            self.problem(self.place(table), key, f"{value!r} is no list of {wanted}")
            return tuple(default) or (0.0,)
        last = len(units) - 1
        return tuple(self._quantity(table, key, v, In(units[min(i, last)]), 0.0) for i, v in enumerate(value))

    def _quantity(self, table: Table, key: str, value: object, rule: In, default: float) -> float:
        assert isinstance(rule.unit, str), f"{key}: which of {rule.unit} is for the caller to say"
        with collected(self.problems):
            found = number(value, parse_unit(rule.unit), self._where(self.place(table), key))
            if not (broken := rule.broken_by(found)):
                return found
            self.problem(self.place(table), key, f"{value!r} is refused: it must be {broken}")
        return default

    def points(self, table: Table, key: str, units: Sequence[str] | int, names: Names = ()) -> list[tuple[float, ...]]:
        """Points with coordinates in the SI units of `units`: a list of lists, or the name of a CSV file beside the
        recipe whose first line names each column with its unit, as `x [mm]`, or none.  Empty if they are
        missing or wrong.

        units   or how many coordinates, in the unit that the model of the table declares
        names   of the coordinates in a file, which sort its columns; without them they stand as they are needed"""
        if isinstance(units, int):
            units = (self._unit(table, key),) * units
        given = table.get(key)
        if given is None:
            return []
        name, before = self.place(table), len(self.problems)
        if isinstance(given, str):
            points = self._file(name, key, self.folder / given, [parse_unit(unit) for unit in units], names)
        elif isinstance(given, list) and all(isinstance(row, list) and len(row) == len(units) for row in given):
            points = [
                tuple(self._quantity(table, key, value, In(unit), 0.0) for value, unit in zip(row, units, strict=True))
                for row in given
            ]
        else:
            rows = given if isinstance(given, list) else []
            wrong = [i for i, row in enumerate(rows) if not (isinstance(row, list) and len(row) == len(units))]
            what = f"must be a list of points of {len(units)} quantities, or the name of a CSV file"
            found = f"point {wrong[0] + 1} is {rows[wrong[0]]!r}" if wrong else f"it is {given!r}"
            self.problem(name, key, f"{what}; {found}")
            points = []
        return points if len(self.problems) == before else []

    def _file(self, name: str, key: str, path: Path, units: Sequence[Unit], names: Names) -> list[tuple[float, ...]]:
        try:
            header, *lines = csv_reader(read_text(path))
        except InputError as error:
            for problem in error.problems:
                self.problem(name, key, str(problem))
            return []
        except (ValueError, csv.Error):
            self.problem(name, key, f"{path} must be a CSV file with a header")
            return []
        before = len(self.problems)
        own, order = self._header(path, header, units, names)
        if len(self.problems) > before:
            return []
        units = [units[order.index(k)] for k in range(len(units))]  # of the columns as they stand
        plain = [_is_plain(u, unit) for u, unit in zip(own, units, strict=True)]
        rows: list[tuple[float, ...]] = []
        for line_number, line in enumerate(lines, 2):
            where = f"{path}: line {line_number}"
            if line and len(line) != len(units):
                self.problems.append(Problem(where, f"{len(line)} values, {len(units)} are needed"))
            elif line and all(plain) and (numbers := _numbers(line)):
                rows.append(numbers)
            elif line:
                texts = [f"{value} [{u}]" if u else value for value, u in zip(line, own, strict=True)]
                with collected(self.problems):
                    rows.append(tuple(parse_quantity(t, unit, where) for t, unit in zip(texts, units, strict=True)))
        return rows if order == sorted(order) else [tuple(row[k] for k in order) for row in rows]

    def _header(
        self, path: Path, header: Sequence[str], units: Sequence[Unit], names: Names
    ) -> tuple[list[str], list[int]]:
        """The units of the columns of a file, "" for SI, and which of them each coordinate is.   Adds what is wrong."""
        where = f"{path}: line 1"
        wanted = ", ".join(several[0] for several in names)
        if numbers := no_names(header, f": {wanted}" if wanted else " with their units, as x [mm]"):
            self.problems.append(Problem(where, numbers))
            return [], []
        if len(header) != len(units):
            self.problems.append(Problem(where, f"{len(header)} columns, {len(units)} are needed"))
            return [], []
        split = [split_header(column, indexed=False) for column in header]
        own = [unit for _, unit in split]
        given = [unit for unit in own if unit is not None]
        order, faults = column_order([name for name, _ in split], names) if names else ([*range(len(units))], [])
        self.problems += [Problem(where, fault) for fault in faults]
        if faults:
            return [], []
        of_column = [units[order.index(k)] for k in range(len(units))]
        for column, written, unit in zip(header, own, of_column, strict=True):
            if written is not None:
                with collected(self.problems):
                    parse_quantity(f"1 [{written}]", unit, f"{where}: column '{column.strip()}'")
            elif given and unit.name != "1":
                what = f"column '{column.strip()}' has no unit beside columns with one: name it too, as"
                self.problems.append(Problem(where, f"{what} {column.strip()} [{given[0]}]"))
        return [unit or "" for unit in own], order

    def interval(
        self, table: Table, key: str, unit: str | None = None, default: tuple[float, float] = (0.0, 1.0)
    ) -> tuple[float, float]:
        """Two increasing quantities in the SI unit of `unit`, or in that which the model of the table declares."""
        if unit is None:
            unit = self._unit(table, key)
        value = table.get(key)
        if value is not None:
            with collected(self.problems):
                return interval(value, parse_unit(unit), self._where(self.place(table), key))
        return default
