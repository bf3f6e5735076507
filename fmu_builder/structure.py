"""The structure of an element that is more than numbers: what `elements/<name>/structure.py` gets and returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fmu_builder.errors import InputError, Problem, did_you_mean
from fmu_builder.units import parse_quantity, parse_unit

Table = Mapping[str, object]


@dataclass(frozen=True)
class Constant:
    """A constant table of the generated C: `static const double name[]`, SI values."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Structure:
    """Sizes by name (they join those of `[structure]`) and constant tables."""

    constants: tuple[Constant, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)


class Reader:
    """Reads the structure tables of one recipe and collects every problem; `finish` raises them together."""

    def __init__(self, recipe: Path, tables: Mapping[str, Table]) -> None:
        self._recipe = recipe
        self._tables = tables
        self._table_of: dict[int, str] = {}
        self.problems: list[Problem] = []

    def problem(self, table: str, key: str, what: str) -> None:
        self.problems.append(Problem(f"{self._recipe}: [{table}] {key}".rstrip(), what))

    def table(self, name: str, keys: Sequence[str], required: Sequence[str] = ()) -> Table:
        """The table `[name]` of the recipe, an empty one if it is missing; its keys are checked."""
        table = self._tables.get(name, {})
        self._table_of[id(table)] = name
        for key in table:
            if key not in keys:
                self.problem(name, key, "this key is unknown" + did_you_mean(key, keys))
        for key in required:
            if key not in table:
                self.problem(name, key, "this key is missing")
        return table

    def choice(self, table: Table, key: str, choices: Sequence[str]) -> str:
        """One of the given words; the first if the key is missing."""
        value = table.get(key, choices[0])
        if value not in choices:
            self.problem(
                self._table_of[id(table)],
                key,
                f"{value!r} is none of {', '.join(choices)}{did_you_mean(str(value), choices)}",
            )
            return choices[0]
        return str(value)

    def interval(self, table: Table, key: str, unit: str, default: tuple[float, float]) -> tuple[float, float]:
        """Two increasing quantities in the SI unit of `unit`."""
        value = table.get(key)
        if value is None:
            return default
        name = self._table_of[id(table)]
        if not isinstance(value, list) or len(value) != 2:
            self.problem(name, key, f"{value!r} is not a pair [from, to]")
            return default
        try:
            low, high = (parse_quantity(v, parse_unit(unit), f"{self._recipe}: [{name}] {key}") for v in value)
        except InputError as error:
            self.problems.extend(error.problems)
            return default
        if not low < high:
            self.problem(
                name, key, f"from {low:g} {unit} to {high:g} {unit}: the second must be greater than the first"
            )
            return default
        return low, high

    def finish(self) -> None:
        if self.problems:
            raise InputError(self.problems)
