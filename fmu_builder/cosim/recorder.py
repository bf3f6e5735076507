"""The signals of a run: which are recorded, and their rows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.contact_record import is_recorded_contact
from fmu_builder.cosim.fresh_memory import taken_ahead
from fmu_builder.cosim.link import Link, not_finite
from fmu_builder.cosim.loop.operations import Access, Clock
from fmu_builder.cosim.slave import Slave
from fmu_builder.cosim.trace import Trace
from fmu_builder.errors import InputError, Problem, did_you_mean
from fmu_builder.model.connectable import FAMILY, Node, SlaveVariable
from fmu_builder.model.scenario import CheckedScenario, SystemOutput
from fmu_builder.units import Unit, parse_unit


def last_row_note(scenario: CheckedScenario) -> list[str]:
    """A note if the rows of a trace do not end with the run."""
    start, stop, between = (scenario.seconds(key) for key in ("start", "stop", "output_step"))
    last = start + math.floor((stop - start) / between + 1e-6) * between
    if stop - last <= 1e-6 * between:
        return []
    what = f"stop = {stop:g} s is not a whole number of rows of output_step = {between:g} s after start = {start:g} s"
    return [f"{what}: the last row of the trace is that of {last:g} s"]


class Recorder:
    """Rows of the signals of all slaves, written by the FMUs straight into the arrays."""

    def __init__(
        self, slaves: Mapping[str, Slave], signals: Mapping[str, Sequence[SlaveVariable]], time: NDArray[np.float64]
    ) -> None:
        self.time = time
        self._rows = self._checked = 0
        groups = [
            (slave, found)
            for slave in slaves.values()
            for family in ("Real", "Integer", "Boolean")
            if (found := [v for v in signals[slave.name] if FAMILY[v.type] == family])
        ]
        variables = [(slave, v) for slave, found in groups for v in found]
        self._nodes: list[Node] = [(slave.name, v.name) for slave, v in variables]
        self._units = {f"{slave.name}.{v.name}": v.unit for slave, v in variables}
        self._values = np.zeros((len(time), len(self._nodes)))
        self._whole: list[tuple[int, NDArray[np.int32]]] = []  # first column, values of Integers and Booleans
        self._links: list[tuple[Link, NDArray[np.float64] | NDArray[np.int32]]] = []  # with its rows
        column = 0
        for slave, found in groups:
            memory: NDArray[np.float64] | NDArray[np.int32] = self._values[:, column : column + len(found)]
            if FAMILY[found[0].type] != "Real":
                memory = np.zeros((len(time), len(found)), dtype=np.int32)
                self._whole.append((column, memory))
            link = Link(slave, "Get", found, memory)
            self._links.append((link, memory))
            column += len(found)

    def record_start(self) -> None:
        for link, memory in self._links:
            status = link.at(memory.ctypes.data)
            if status:
                link.check(status, float(self.time[0]))
        self._rows, self._checked = 1, 0

    def operations(self, clock: Clock, every: int) -> Iterator[Access]:
        """The next row at the end of every so many ticks."""
        for link, memory in self._links:
            yield Access.after_each(clock, every, link, memory, first=1)

    def memory_ahead(self) -> AbstractContextManager[None]:
        """While inside, memory for the rows is there before they are written."""
        row = self._values.strides[0]
        return taken_ahead(self._values, lambda: self._rows * row)

    def recorded(self, rows: int) -> None:
        """So many rows have values.   Raises as `check`."""
        self._rows = rows
        self.check()

    def check(self) -> None:
        """Raise SlaveError for the first value since the last check that is not finite."""
        if self._checked == self._rows:
            return
        new = self._values[self._checked : self._rows]
        if not np.isfinite(new).all():
            row, column = np.argwhere(~np.isfinite(new))[0]
            raise not_finite(self._nodes[column], float(new[row, column]), float(self.time[self._checked + row]))
        self._checked = self._rows

    @property
    def units(self) -> Mapping[str, str]:
        """By signal, in the order of their columns."""
        return self._units

    def rows(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The times, shape (n,), and the values, shape (n, number of signals), in memory that the next run writes to.
        Raises as `check`."""
        self.check()
        for column, whole in self._whole:
            self._values[:, column : column + whole.shape[1]] = whole
        return self.time[: self._rows], self._values[: self._rows]

    def trace(self, provenance: Mapping[str, object]) -> Trace:
        time, values = self.rows()
        return Trace(time, tuple(self._units), values, self._units, {}, provenance)


def chosen_signals(
    signals: Mapping[str, Sequence[SlaveVariable]], patterns: Sequence[str], where: str, problems: list[Problem]
) -> dict[str, list[SlaveVariable]]:
    """The signals `slave.name` that a pattern names, in which * stands for any text; those of a single slave by their
    short names too.  A pattern without any is added to the problems."""
    names = [f"{slave}.{v.name}" for slave, variables in signals.items() for v in variables]
    chosen: set[str] = set()
    for pattern in patterns:
        expression = re.compile(".*".join(map(re.escape, pattern.split("*"))))
        found = {name for name in names if expression.fullmatch(name)}
        if not found and len(signals) == 1:
            found = {name for name in names if expression.fullmatch(name.partition(".")[2])}
        if not found:
            problems.append(Problem(where, f"'{pattern}' names no signal" + did_you_mean(pattern, names)))
        chosen |= found
    return {slave: [v for v in variables if f"{slave}.{v.name}" in chosen] for slave, variables in signals.items()}


def is_signal(variable: SlaveVariable) -> bool:
    """Whether a run records the variable, unless the scenario chooses others."""
    return (
        variable.causality in ("output", "local")
        and variable.type != "String"
        and variable.variability in ("continuous", "discrete")
        and not variable.name.startswith("der(")
        and not is_recorded_contact(variable.name)
    )


def unit_of_signal(text: str) -> Unit:
    """The unit of a signal; 1, of plain numbers, where an FMU has one that is unknown here."""
    try:
        return parse_unit(text)
    except InputError:
        return parse_unit("1")


def with_outputs(trace: Trace, outputs: Mapping[str, SystemOutput]) -> Trace:
    """The trace with the outputs of the system whose sources it holds."""
    return trace.with_signals(
        {
            name: (one.unit, one.change.factor * trace[one.source] + one.change.offset)
            for name, one in outputs.items()
            if one.source in trace
        }
    )
