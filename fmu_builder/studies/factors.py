"""Factors with their values in SI: a row of numbers for each run, one for each factor.

The number of a range is its value, that of a list the place in the list."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.overrides import no_slave, no_variable, slave_and_variable
from fmu_builder.cosim.scenario_inputs import Start, is_settable, si_unit, start_value, unit_of
from fmu_builder.cosim.slave import SlaveDescription
from fmu_builder.errors import InputError, Problem, behind_number, collected, none_of
from fmu_builder.model.connectable import SlaveVariable
from fmu_builder.model.declaration import value_text
from fmu_builder.model.scenario import ALGORITHMS, Scalar
from fmu_builder.studies.format import EXPERIMENT, CheckedStudy, Factor
from fmu_builder.units import Unit, parse_quantity, parse_unit

Cell = float | str


@dataclass(frozen=True)
class Axis:
    """A factor that is checked.

    kind      of what it changes: start values, a key of the experiment, or of a recipe
    targets   (slave, variable) of each start value, ("", key) of the experiment, or (slave, key) of a recipe
    unit      of the column; "" for texts
    cells     what the table shows for each value of a list; None for a range
    values    what is set for each of them
    low, high, log, count   of a range
    base      the number of `one_at_a_time`"""

    name: str
    kind: Literal["start", "experiment", "recipe"]
    targets: tuple[tuple[str, str], ...]
    unit: str
    cells: tuple[Cell, ...] | None
    values: tuple[Start | bool, ...] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    count: int = 5
    base: float = 0.0

    @property
    def is_number(self) -> bool:
        """Whether its column holds numbers."""
        return self.cells is None or all(not isinstance(cell, str) for cell in self.cells)

    def levels(self) -> NDArray[np.float64]:
        """The numbers of a grid, shape (n,)."""
        if self.cells is not None:
            return np.arange(len(self.cells), dtype=np.float64)
        found = self.at(np.linspace(0.0, 1.0, self.count))
        found[0], found[-1] = self.low, self.high
        return found

    def at(self, share: NDArray[np.float64]) -> NDArray[np.float64]:
        """The numbers at these shares of the way, 0 .. 1."""
        if self.cells is not None:
            return np.minimum(np.floor(share * len(self.cells)), len(self.cells) - 1.0)
        if self.log:
            return self.low * (self.high / self.low) ** share
        return self.low + (self.high - self.low) * share

    def cell(self, number: float) -> Cell:
        """What the table shows."""
        return number if self.cells is None else self.cells[int(number)]

    def value(self, number: float) -> Start | bool:
        """What is set."""
        return number if self.cells is None else self.values[int(number)]

    def in_range(self, number: float, where: str) -> float:
        """The number of a range.   Raises InputError where it is outside by more than rounding."""
        rounding = 1e-12 * max(abs(self.low), abs(self.high))
        if not self.low - rounding <= number <= self.high + rounding:
            unit = behind_number(self.unit)
            raise InputError(Problem(where, f"{number:g}{unit} is outside {self.low:g} .. {self.high:g}{unit}"))
        return number

    def number_of(self, cell: str, where: str, unit: str = "") -> float:
        """The number of a text in a list of runs.   unit: of its column.   Raises InputError."""
        given: Cell = f"{cell} {unit}".strip()
        if self.is_number:
            given = parse_quantity(given, parse_unit(self.unit or "1"), where)
        if self.cells is None:
            return self.in_range(float(given), where)
        if given in self.cells:
            return float(self.cells.index(given))
        behind = behind_number(self.unit)
        raise InputError(Problem(where, none_of(f"{given}{behind}", (f"{one}{behind}" for one in self.cells))))


def axes_of(study: CheckedStudy, slaves: Mapping[str, SlaveDescription]) -> tuple[list[Axis], list[Problem]]:
    """The factors of a study that are sound, and every problem found."""
    problems: list[Problem] = []
    axes = []
    for name, factor in study.factors.items():
        with collected(problems):
            where = f"{study.path}: [factors] {name}"
            axes.append(_axis(name, factor, where, slaves))
            problems += _repeated(axes[-1], factor, where)
    seen: dict[tuple[str, str, str], str] = {}
    for axis in axes:
        for target in axis.targets:
            other = seen.setdefault((axis.kind, *target), axis.name)
            if other != axis.name:
                where = f"{study.path}: [factors] {axis.name}"
                problems.append(Problem(where, f"{'.'.join(target)} is a factor of {other} as well"))
    return axes, problems


def _axis(name: str, factor: Factor, where: str, slaves: Mapping[str, SlaveDescription]) -> Axis:
    if factor.recipe is not None and factor.key is not None:
        if factor.recipe not in slaves:
            raise InputError(Problem(f"{where} recipe", no_slave(factor.recipe, slaves)))
        values = tuple(factor.values or ())
        target = (factor.recipe, factor.key)
        return _with_base(Axis(name, "recipe", (target,), "", _cells(values), values), factor, where)
    if factor.start is None and name in EXPERIMENT:
        return _with_base(_of_experiment(name, factor, where), factor, where)
    targets = tuple(_target(one, where, slaves) for one in factor.start or [name])
    variables = [slaves[slave].variables[variable] for slave, variable in targets]
    for variable in variables:
        if not is_settable(variable):
            start_value(variable, 0.0, where)  # which says why
        if (variable.type, variable.unit) != (variables[0].type, variables[0].unit):
            what = f"{variable.name} and {variables[0].name} have not the same type and unit"
            raise InputError(Problem(where, what))
    return _with_base(_of_variable(name, factor, where, targets, variables[0]), factor, where)


def _repeated(axis: Axis, factor: Factor, where: str) -> Iterator[Problem]:
    """Values that would be run twice, by what the file gives: 0.5 and "50 cm" are one."""
    first: dict[tuple[bool, object], Scalar] = {}
    for given, value in zip(factor.values or (), axis.values, strict=True):
        key = (isinstance(value, bool), value)
        if key in first:
            same = "stands twice" if first[key] == given else f"is {value_text(first[key])} once more"
            yield Problem(f"{where} values", f"{value_text(given)} {same}, and each value is run once: remove one")
        first.setdefault(key, given)


def _target(name: str, where: str, slaves: Mapping[str, SlaveDescription]) -> tuple[str, str]:
    slave, variable = slave_and_variable(name, slaves)
    if slave not in slaves:
        raise InputError(Problem(where, f"is no key of the experiment that may differ, and {no_slave(slave, slaves)}"))
    if variable not in slaves[slave].variables:
        known = [v.name for v in slaves[slave].variables.values() if is_settable(v)]
        what = f"{slaves[slave].model_name} {no_variable(variable, slaves[slave].variables, known)}"
        raise InputError(Problem(where, what))
    return slave, variable


def _of_variable(
    name: str, factor: Factor, where: str, targets: tuple[tuple[str, str], ...], variable: SlaveVariable
) -> Axis:
    unit = si_unit(variable) or "1"
    if factor.values is not None:
        values = _each(factor.values, lambda one: start_value(variable, one, where))
        if variable.literals or variable.type in ("String", "Boolean"):
            return Axis(name, "start", targets, "", _cells(factor.values), values)
        return Axis(name, "start", targets, unit, tuple(float(v) for v in values), values)
    if variable.type != "Real":
        raise InputError(Problem(where, f"{variable.name} is of type {variable.type}, which has no range: give values"))
    axis = Axis(name, "start", targets, unit, None, **_range(factor, unit_of(variable), where))  # type: ignore[arg-type]
    return axis


def _cells(values: Sequence[Start | bool]) -> tuple[Cell, ...]:
    """What the table shows: numbers, or texts as soon as one is none."""
    numbers = tuple(one for one in values if isinstance(one, int | float) and not isinstance(one, bool))
    if len(numbers) == len(values):
        return numbers
    return tuple(map(value_text, values))


def _range(factor: Factor, unit: Unit, where: str) -> dict[str, float | bool | int]:
    low, high = (parse_quantity(one, unit, where) for one in (factor.low or 0.0, factor.high or 0.0))
    shown = behind_number(unit.name)
    if not low < high:
        raise InputError(Problem(where, f"low = {low:g}{shown} must be less than high = {high:g}{shown}"))
    if factor.scale == "log" and low <= 0.0:
        what = f"{low:g}{shown} must be greater than 0 where scale = 'log': raise it, or remove scale"
        raise InputError(Problem(f"{where} low", what))
    return {"low": low, "high": high, "log": factor.scale == "log", "count": factor.count}


def _of_experiment(name: str, factor: Factor, where: str) -> Axis:
    targets = (("", name),)
    if name == "algorithm":
        for one in factor.values or [str(factor.low)]:
            if one not in ALGORITHMS:
                raise InputError(Problem(where, none_of(one, ALGORITHMS)))
        texts = tuple(str(v) for v in factor.values or ())
        return Axis(name, "experiment", targets, "", texts, texts)
    unit = parse_unit("s" if name in ("step", "stop") else "1")
    if factor.values is not None:
        numbers = _each(factor.values, lambda one: parse_quantity(one, unit, where))
        for number in numbers:
            if not 0.0 < number < math.inf:
                raise InputError(Problem(where, f"{number:g} must be greater than 0"))
        return Axis(name, "experiment", targets, unit.name, numbers, numbers)
    if name in ("step", "stop"):
        what = f"a range of {name} has values that do not divide the time of the run: give values = [...]"
        raise InputError(Problem(where, what))
    return Axis(name, "experiment", targets, unit.name, None, **_range(factor, unit, where))  # type: ignore[arg-type]


def _each(values: Sequence[object], read: object) -> tuple[float, ...]:
    """Each value read, with the problems of all."""
    problems: list[Problem] = []
    found = []
    for one in values:
        with collected(problems):
            found.append(read(one))  # type: ignore[operator]
    if problems:
        raise InputError(problems)
    return tuple(found)


def _with_base(axis: Axis, factor: Factor, where: str) -> Axis:
    """The axis with the number that it has while others change."""
    if factor.base is None:
        levels = axis.levels()
        return replace(axis, base=float(levels[len(levels) // 2]))
    if axis.cells is None:
        base = parse_quantity(factor.base, parse_unit(axis.unit), f"{where} base")
        return replace(axis, base=axis.in_range(base, f"{where} base"))
    given: Cell = value_text(factor.base)
    if axis.is_number and not isinstance(factor.base, bool):
        given = parse_quantity(factor.base, parse_unit(axis.unit or "1"), f"{where} base")
    if given not in axis.cells:
        raise InputError(Problem(f"{where} base", none_of(factor.base, map(str, axis.cells))))
    return replace(axis, base=float(axis.cells.index(given)))
