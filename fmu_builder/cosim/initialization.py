"""Slaves from their start values to the first step: initialization mode, and a consistent exchange of values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from fmu_builder.cosim.link import not_finite
from fmu_builder.cosim.scenario_inputs import Signal, Start, in_fmu, si_unit
from fmu_builder.cosim.slave import DISCARD, ERROR, FATAL, OK, WARNING, Slave, SlaveDescription
from fmu_builder.errors import InputError, Problem, SlaveError, behind_number
from fmu_builder.model.connectable import Node, SlaveVariable
from fmu_builder.model.declaration import broken_bound, value_text
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import Model
from fmu_builder.model.scenario import CheckedScenario
from fmu_builder.model.vectors import vector_of
from fmu_builder.model.wiring import Wiring
from fmu_builder.paths import find_recipe

_MAX_SWEEPS = 5000  # of an algebraic loop at initialization
_LOOP_TOLERANCE = 1e-10  # relative error at which a loop counts as solved
_ROUNDING = 1e-15  # relative change that is no change


@dataclass(frozen=True)
class Initialization:
    """Start values, initialization mode, and a consistent exchange in the order of the dependencies.

    starts: SI, by slave and variable; signals: of the inputs that the scenario drives"""

    scenario: CheckedScenario
    descriptions: Mapping[str, SlaveDescription]
    starts: Mapping[str, Mapping[str, Start]]
    signals: Sequence[Signal]
    wiring: Wiring

    def run(
        self, slaves: Mapping[str, Slave], start: float, stop: float, entered: Callable[[], None] | None = None
    ) -> None:
        """Raises InputError with all values that slaves refuse.   entered: called in initialization mode"""
        for inputs in (False, True):  # inputs cannot be set before initialization mode
            problems: list[Problem] = []
            for name, slave in slaves.items():
                for variable, value in self.starts[name].items():
                    where = f"{self.scenario.path}: [slaves] {name} start {variable}"
                    known = self.descriptions[name].variables[variable]
                    if (known.causality == "input") == inputs:
                        try:
                            slave.set(known, in_fmu(known, value))
                            problems += _bound_problems(known, value, where)
                        except SlaveError as error:
                            if slave.status not in (DISCARD, ERROR):
                                raise
                            problems += [Problem(where, f"the FMU refuses it: {p.what}") for p in error.problems]
            if problems:
                raise InputError(problems)
            for slave in () if inputs else slaves.values():
                slave.setup(start, stop, self.scenario.experiment.tolerance)
                slave.call("fmi2EnterInitializationMode", f"at {start:g} s")
        if entered:
            entered()
        for signal in self.signals:
            slaves[signal.node[0]].set(signal.variable, signal.at(start))
        logged = {name: len(slave.log) for name, slave in slaves.items()}
        failed: list[SlaveError] = []
        try:
            self._solve_initial_values(slaves, start)
        except SlaveError as error:
            failed.append(error)
        for slave in slaves.values() if not failed else ():
            try:
                slave.call("fmi2ExitInitializationMode", f"at {start:g} s")
            except SlaveError as error:
                failed.append(error)
        if failed:
            problems = list(self._broken_rules(slaves, logged))
            raise InputError(problems) if problems else failed[0]

    def _broken_rules(self, slaves: Mapping[str, Slave], logged: Mapping[str, int]) -> Iterator[Problem]:
        """What FMUs of fmu-builder refused in their initialization, as logged from the entries `logged` on; nothing if
        one of another tool failed.  Their builds ran them with the start values of their recipes, so the refused values
        and motions are those of this scenario."""
        failed = {name: slave for name, slave in slaves.items() if slave.status not in (OK, WARNING)}
        for name, slave in failed.items() if all(slave.description.ours for slave in failed.values()) else ():
            logged_errors = [entry.text for entry in slave.log[logged[name] :] if entry.status == ERROR]
            reasons = [text for text in logged_errors if not text.startswith("fmi2")] or logged_errors
            for text in dict.fromkeys(reasons):
                words = set(re.findall(r"[\w.]+(?:\[[\d,]+\])?", text))
                given = dict.fromkeys([*self.scenario.slaves[name].start, *self.starts[name]])
                keys = [key for key in given if key in words]
                yield Problem(f"{self.scenario.path}: [slaves] {name}" + f" start {', '.join(keys)}" * bool(keys), text)

    @cached_property
    def _order(self) -> tuple[list[Node], list[Node]]:
        return initial_order(self.wiring, self.descriptions)

    def unused_starts(self) -> Iterator[str]:
        """Notes on start values of inputs that a connection or a drive sets at once.  Those that the FMU has by itself,
        and those that the drive begins with, ask for nothing: descriptions of systems often hold them all.

        In a loop a start value that an output is read with before the connection sets it is where the iteration
        begins."""
        begin = self.scenario.seconds("start")
        driven = {signal.node: signal.at(begin) for signal in self.signals}

        def is_same(slave: str, variable: SlaveVariable) -> bool:
            value = self.starts[slave][variable.name]
            return _is_own_start(variable, value) or in_fmu(variable, value) == driven.get((slave, variable.name))

        for slave, entry in self.scenario.slaves.items():
            variables = self.descriptions[slave].variables
            for key, value in entry.start.items():
                vector = None if key in variables else vector_of(key, variables)
                names = vector.names if vector else (key,)
                if all(is_same(slave, variables[name]) for name in names):
                    continue
                unit = "" if isinstance(value, str | bool | list) else f" {si_unit(variables[names[0]])}"
                shown = value_text(value) if isinstance(value, bool) else value
                start = f"[slaves] {slave} start {key} = {shown}{unit.removesuffix(' 1')}"
                yield from self.overwritten(start, [(slave, name) for name in names])

    def overwritten(self, start: str, nodes: Sequence[Node]) -> Iterator[str]:
        """The note on a start value of these variables that a connection or a drive sets; none where nothing does.

        start   how the note names it"""
        order, _ = self._order
        place = {node: k for k, node in enumerate(order)}
        driven = {signal.node for signal in self.signals}
        givers, guess = {}, False
        for slave, name in nodes:
            if sources := self.wiring.sources.get((slave, name), ()):
                givers[slave, name] = " + ".join(f"{s}.{n}" for s, n in sources)
                first = min(place[source] for source in sources)
                variables = self.descriptions[slave].variables
                read = [(place[slave, n], v.depends) for n, v in variables.items() if (slave, n) in place]
                guess |= any(at < first and (depends is None or name in depends) for at, depends in read)
            elif (slave, name) in driven:
                givers[slave, name] = "its drive"
        if not givers:
            return
        role = "is only a first guess in a loop of initial values" if guess else "has no effect"
        several = len({slave for slave, _ in nodes}) > 1
        named = (".".join(node) if several else node[1] for node in givers)
        some = "" if len(givers) == len(nodes) else f" for {', '.join(named)}"
        yield (
            f"{start} {role}{some}: from the initialization on {', '.join(dict.fromkeys(givers.values()))} gives the "
            f"value" + ("" if guess or some else "; remove it")
        )

    def _solve_initial_values(self, slaves: Mapping[str, Slave], start: float) -> None:
        """Pass every output on in the order of the dependencies; a loop is repeated until its values are constant."""
        order, loop = self._order
        targets: dict[Node, list[Node]] = {}
        for target, sources in self.wiring.sources.items():
            for source in sources:
                targets.setdefault(source, []).append(target)
        known: dict[Node, float] = {}
        largest: dict[Node, float] = {}

        def sweep() -> float:
            """The largest change of an output, relative to the largest value it had."""
            change = 0.0
            for node in order:
                value = slaves[node[0]].get(self.descriptions[node[0]].variables[node[1]])
                if not math.isfinite(value):
                    raise not_finite(node, value, start)
                largest[node] = max(largest.get(node, 0.0), abs(value))
                if value != known.get(node):
                    change = max(change, abs(value - known.get(node, math.inf)) / (largest[node] or 1.0))
                known[node] = value
                for target in targets[node]:
                    total = 0.0
                    for source in self.wiring.sources[target]:
                        part, conversion = known.get(source, 0.0), self.wiring.conversions.get((source, target))
                        total += part if conversion is None else conversion.factor * part + conversion.offset
                    slaves[target[0]].set(self.descriptions[target[0]].variables[target[1]], total)
            return change

        if not loop:
            sweep()
            return
        before = change = sweep()
        try:
            for _ in range(_MAX_SWEEPS):
                before, change = change, sweep()
                rate = change / before if 0.0 < before < math.inf else 1.0
                left = change * max(rate / (1.0 - rate), 1.0) if rate < 1.0 else math.inf  # a geometric series
                if left <= _LOOP_TOLERANCE or change <= _ROUNDING:
                    return
        except SlaveError as error:
            if any(slave.status == FATAL for slave in slaves.values()):
                raise
            raise self._no_solution(loop, f"values leave the allowed range: {error}") from error
        raise self._no_solution(loop, f"after {_MAX_SWEEPS} sweeps values still change by {change:.2g} (relative)")

    def _no_solution(self, loop: Sequence[Node], why: str) -> InputError:
        path = " -> ".join(f"{s}.{n}" for s, n in loop)
        return InputError(
            Problem(
                f"{self.scenario.path}: connections",
                f"the initial values of the loop {path} have no solution that iteration finds: {why}; "
                "break the loop, or choose start values near a solution",
            )
        )


def model_of(scenario: CheckedScenario, slave: str) -> Model | None:
    """The model of a slave that is given by its recipe; None for other FMUs."""
    recipe = scenario.slaves[slave].recipe
    return None if Path(recipe).suffix == ".fmu" else load_model(find_recipe(recipe, scenario.path.parent))


def _bound_problems(variable: SlaveVariable, value: Start, where: str) -> list[Problem]:
    """A start value, SI, on a strict bound, which FMUs refuse only at the end of initialization."""
    is_strict = variable.above is not None or variable.below is not None
    if not is_strict or isinstance(value, str) or not (rule := broken_bound(variable, value)):
        return []
    unit = behind_number(variable.unit)
    return [Problem(where, f"{value:.10g}{unit} is refused: {variable.name} must be {rule}{unit}")]


def _is_own_start(variable: SlaveVariable, value: Start) -> bool:
    """Whether an input has this start value, in SI, in its FMU already."""
    if isinstance(value, str) or variable.start is None:
        return value == variable.start
    if variable.type == "Boolean":
        return bool(value) == (variable.start in ("true", "1"))
    return bool(in_fmu(variable, value) == float(variable.start))


def initial_order(wiring: Wiring, slaves: Mapping[str, SlaveDescription]) -> tuple[list[Node], list[Node]]:
    """Connected outputs in an order in which each comes after what it depends on, and the first loop if there is one:
    it is cut at one place, and the order is right for the others."""
    outputs = {source for sources in wiring.sources.values() for source in sources}
    needs: dict[Node, set[Node]] = {node: set() for node in sorted(outputs)}
    of_slave: dict[str, list[str]] = {}
    for slave, name in needs:
        of_slave.setdefault(slave, []).append(name)
    for (slave, used), sources in wiring.sources.items():
        for name in of_slave.get(slave, ()):
            depends = slaves[slave].variables[name].depends
            if depends is None or used in depends:
                needs[slave, name].update(sources)
    loop: list[Node] = []
    while True:
        try:
            return list(TopologicalSorter(needs).static_order()), loop
        except CycleError as error:
            cycle: list[Node] = error.args[1]  # each is needed by the next, the last is the first again
            loop = loop or cycle
            needs[cycle[1]].discard(cycle[0])
