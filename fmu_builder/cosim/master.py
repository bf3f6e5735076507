"""Co-simulation: slaves stepped together, Jacobi or Gauss-Seidel, at the points t_k = start + k h.

Jacobi: all slaves step with the inputs of t_k, then all values are exchanged: a force acts 3/2 h late on average.
Gauss-Seidel: slaves step in the order of the scenario, each with the newest values: half a step late.
"""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.contact_record import ContactRecord, is_recorded_contact
from fmu_builder.cosim.events import ContactEvent, event_values, lively_contacts
from fmu_builder.cosim.held_steps import long_steps
from fmu_builder.cosim.link import Link, not_finite
from fmu_builder.cosim.scenario_inputs import Signal, Start, collected, drive_signals, start_values
from fmu_builder.cosim.slave import DISCARD, ERROR, FATAL, OK, WARNING, LogEntry, Slave, SlaveDescription, read_slave
from fmu_builder.cosim.trace import Trace
from fmu_builder.errors import InputError, Problem, SlaveError, ToolError, did_you_mean
from fmu_builder.export.fmu import host_fmu
from fmu_builder.model.connectable import FAMILY, Node, SlaveVariable
from fmu_builder.model.declaration import broken_bound
from fmu_builder.model.element_model import is_scalar_of_laws
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import Model
from fmu_builder.model.recipe import file_kind
from fmu_builder.model.scenario import MOST_STEPS, Experiment, Scenario, SlaveEntry, check_times, parse_scenario
from fmu_builder.model.start_values import law_problems
from fmu_builder.model.step_advice import MODE
from fmu_builder.model.wiring import Wiring, wire
from fmu_builder.paths import find_recipe, installed_version

_MAX_SWEEPS = 5000  # of an algebraic loop at initialization
_LOOP_TOLERANCE = 1e-10  # relative error at which a loop counts as solved
_ROUNDING = 1e-15  # relative change that is no change


@dataclass(frozen=True)
class Run:
    """A finished run: its trace, its contacts, what the user should know, and what the slaves logged."""

    trace: Trace
    contacts: tuple[ContactEvent, ...]
    notes: tuple[str, ...]
    log: tuple[LogEntry, ...]


def run(scenario: Scenario | Path | str, progress: Callable[[float], None] | None = None) -> Run:
    """Run a scenario, or a single .fmu or recipe with its defaults.

    `progress` is called with the share done, 0 .. 1.  Raises InputError or SlaveError; no instance is left behind."""
    if not isinstance(scenario, Scenario):
        scenario = load_scenario(Path(scenario))
    return _Master(scenario).run(progress or (lambda share: None))


def load_scenario(path: Path, given: Collection[str] = ()) -> Scenario:
    """A scenario file; for an .fmu or a recipe the scenario of this one slave, with its default experiment.

    given   keys of [experiment] that the caller replaces: whatever the FMU says of them does not matter.
    Raises InputError."""
    if path.suffix != ".fmu":
        path = find_recipe(str(path))
        if file_kind(path) not in ("element", "parts"):
            return checked_scenario(path)
    description = read_slave(path if path.suffix == ".fmu" else host_fmu(path))
    start, stop, step = _default_times(description, path, given)
    return Scenario(
        path=path,
        description=description.model_name,
        experiment=Experiment(start=start, stop=stop, step=step),
        slaves={"fmu": SlaveEntry(recipe=str(path.resolve()))},
    )


def checked_scenario(path: Path) -> Scenario:
    """As read_scenario; what is wrong with the slaves is named together with what is wrong in the text."""
    scenario, problems = parse_scenario(path)
    if problems:
        with suppress(ToolError), collected(problems):  # without a compiler the slaves stay unread
            _Master(scenario)
        raise InputError(list(dict.fromkeys(problems)))
    return scenario


_ATTRIBUTES = {"start": "startTime", "stop": "stopTime", "step": "stepSize"}  # of DefaultExperiment


def _default_times(description: SlaveDescription, path: Path, given: Collection[str]) -> tuple[float, float, float]:
    """Start, stop and step of the FMU's DefaultExperiment, s, the stop moved to a whole number of steps."""
    start, step = description.start, description.step or 1e-3
    stop = description.stop if description.stop is not None else start + 1.0
    count = (stop - start) / step
    if count <= MOST_STEPS:
        stop = start + max(round(count), 1) * step
    faults = {key: description.faults[name] for key, name in _ATTRIBUTES.items() if name in description.faults}
    if not faults and not given:
        faults = {p.where.strip(): p.what for p in check_times("", start, stop, step, step)}
    problems = []
    for key in faults.keys() - given:
        repair = "" if key == "start" else f"give --{key}, or "
        what = f"{faults[key]}; {repair}name the FMU in a scenario with [experiment] {key}"
        problems.append(Problem(f"{path}: DefaultExperiment {_ATTRIBUTES[key]}", what))
    if problems:
        raise InputError(sorted(problems, key=str))
    return start, stop, step


def describe_slaves(scenario: Scenario) -> dict[str, SlaveDescription]:
    """The FMU of every slave: a given .fmu, or the one built from its recipe for this machine.

    Raises InputError with the problems of all slaves."""
    problems: list[Problem] = []
    found = _describe(scenario, problems)
    if problems:
        raise InputError(problems)
    return found


def _describe(scenario: Scenario, problems: list[Problem]) -> dict[str, SlaveDescription]:
    """As describe_slaves, leaving out the slaves that have problems."""
    read: dict[str, SlaveDescription] = {}  # a recipe or file that is used several times is read once
    found = {}
    for name, entry in scenario.slaves.items():
        where = f"{scenario.path}: [slaves] {name}"
        try:
            if entry.recipe not in read:
                read[entry.recipe] = read_slave(_fmu_of(entry.recipe, scenario.path.parent))
        except InputError as error:
            problems += [Problem(where, str(p)) for p in error.problems]
            continue
        missing = read[entry.recipe].missing_binary()
        if missing:
            problems.append(Problem(where, f"{entry.recipe} {missing}"))
        else:
            found[name] = read[entry.recipe]
    return found


def _fmu_of(recipe: str, folder: Path) -> Path:
    given = Path(recipe)
    if given.suffix == ".fmu":
        return given if given.is_absolute() else folder / given
    return host_fmu(find_recipe(recipe, folder))


def _model_of(scenario: Scenario, slave: str) -> Model | None:
    """The model of a slave that is given by its recipe; of other FMUs nobody knows any."""
    recipe = scenario.slaves[slave].recipe
    return None if Path(recipe).suffix == ".fmu" else load_model(find_recipe(recipe, scenario.path.parent))


def _bound_problems(model: Model | None, name: str, value: Start, where: str) -> list[Problem]:
    """A start value, SI, on a strict bound, which FMUs refuse no sooner than at the end of initialization."""
    if model is None or isinstance(value, str) or not (rule := broken_bound(model[name], value)):
        return []
    unit = "" if model[name].unit.name == "1" else f" {model[name].unit.name}"
    return [Problem(where, f"{value:.10g}{unit} is refused: {name} must be {rule}{unit}")]


def _law_problems(
    scenario: Scenario, slaves: Mapping[str, SlaveDescription], starts: Mapping[str, Mapping[str, Start]]
) -> list[Problem]:
    """What start values of scalars break of the rules on the laws of a recipe."""
    problems = []
    for name, given in starts.items():
        scalars = {n: v for n, v in given.items() if is_scalar_of_laws(slaves[name].variables[n].description)}
        if scalars and (model := _model_of(scenario, name)) is not None:
            values = {model[n].index: value for n, value in scalars.items() if not isinstance(value, str)}
            problems += law_problems(model, values, f"{scenario.path}: [slaves] {name} start")
    return problems


# ---- the run -----------------------------------------------------------------------------------------------------


_Calls = list[tuple[Callable[[], int], Link]]


class _Master:
    def __init__(self, scenario: Scenario) -> None:
        """Reads and checks everything that can be checked before a slave is loaded; all problems at once."""
        self.scenario = scenario
        problems: list[Problem] = []
        self.descriptions = _describe(scenario, problems)
        self.starts: dict[str, dict[str, Start]] = {}
        self.signals: list[Signal] = []
        with collected(problems):
            self.starts = start_values(scenario, self.descriptions)
        problems += _law_problems(scenario, self.descriptions, self.starts)
        with collected(problems):
            self.signals = drive_signals(scenario, self.descriptions)
        driven = [f"{slave}.{name}" for slave, name in (s.node for s in self.signals)]
        missing = set(scenario.slaves) - set(self.descriptions)
        connections = [pair for pair in scenario.connections if not {end.partition(".")[0] for end in pair} & missing]
        self.wiring = Wiring({}, ())
        with collected(problems):
            self.wiring = wire(scenario.path, connections, self.descriptions, driven, scenario.free_moment)
        for (slave, name), sources in self.wiring.sources.items():
            if f"{slave}.{name}" in scenario.drive:
                what = f"is connected to {sources[0][0]}.{sources[0][1]} as well; an input has one of the two"
                problems.append(Problem(f"{scenario.path}: [drive] {slave}.{name}", what))
        self.recorded = {
            slave: [v for v in description.variables.values() if _is_signal(v)]
            for slave, description in self.descriptions.items()
        }
        if scenario.experiment.record is not None:
            where = f"{scenario.path}: [experiment] record"
            self.recorded = chosen_signals(self.recorded, scenario.experiment.record, where, problems)
        if problems:
            raise InputError(problems)
        self.signals = [s for s in self.signals if s.node not in self.wiring.sources]

    def run(self, progress: Callable[[float], None]) -> Run:
        slaves: dict[str, Slave] = {}
        try:
            for name, description in self.descriptions.items():
                slaves[name] = Slave(name, description, self.starts[name])
            trace, contacts, notes = self._run(slaves, progress)
        finally:
            free = all(slave.status != FATAL for slave in slaves.values())
            for slave in slaves.values():
                slave.close(free)
        log = tuple(entry for slave in slaves.values() for entry in slave.log)
        mute = [
            name for name, d in self.descriptions.items() if MODE not in d.variables
        ]  # the others tell it themselves
        return Run(trace, contacts, (*self.wiring.notes, *notes, *lively_contacts(contacts, mute)), log)

    def _run(
        self, slaves: dict[str, Slave], progress: Callable[[float], None]
    ) -> tuple[Trace, tuple[ContactEvent, ...], list[str]]:
        scenario = self.scenario
        start, stop, step = scenario.seconds("start"), scenario.seconds("stop"), scenario.seconds("step")
        count = round((stop - start) / step)
        every = round(scenario.seconds("output_step") / step)
        self._initialize(slaves, start, start + count * step)
        notes = [*long_steps(slaves, self.wiring, self.starts, scenario.experiment.algorithm, start, step)]
        exchange = _Exchange(slaves, self.wiring)
        recorder = _Recorder(slaves, self.recorded, start + np.arange(0, count + 1, every, dtype=np.float64) * step)
        drives = _drive_calls(slaves, [s for s in self.signals if not s.is_constant])
        for reads in exchange.reads.values():
            for read, link in reads:
                link.check(read(), start)
        recorder.record(0)
        record = ContactRecord(slaves, step, self._ahead(step))
        record.start(start)
        end = None
        advance = self._jacobi if scenario.experiment.algorithm == "jacobi" else self._gauss_seidel
        one_step = advance(slaves, exchange, step)
        report_every = max(count // 100, 1)
        for k in range(count):
            t = start + k * step
            for drive, link in drives:
                status = drive(t)
                if status:
                    link.check(status, t)
            end = one_step(t)
            if end:
                break
            record.collect(t, t + step)
            if (k + 1) % every == 0:
                recorder.record((k + 1) // every)
            if k % report_every == 0:
                recorder.check()
                progress(k / count)
        contacts, counts = record.finished()
        trace = replace(recorder.trace(self._provenance()), events=event_values(contacts, counts))
        for slave in slaves.values():
            if slave.status != DISCARD:
                slave.call("fmi2Terminate")
        progress(1.0)
        return trace, tuple(contacts), [*notes, *([end] if end else []), *record.notes()]

    def _ahead(self, step: float) -> dict[str, float]:
        """By slave: how much later than the beginning of its step the real inputs are that others give it, s."""
        if self.scenario.experiment.algorithm == "jacobi":
            return {}
        order = list(self.descriptions)
        return {
            slave: step
            for (slave, name), sources in self.wiring.sources.items()
            if self.descriptions[slave].variables[name].type == "Real"
            and any(order.index(source) < order.index(slave) for source, _ in sources)
        }

    @staticmethod
    def _gauss_seidel(slaves: Mapping[str, Slave], exchange: _Exchange, step: float) -> Callable[[float], str | None]:
        """One communication step; it answers a note if a slave ended the simulation."""
        steppers = [
            (s, partial(s.dll.fmi2DoStep, s.component), exchange.writes[n], exchange.reads[n])
            for n, s in slaves.items()
        ]

        def one_step(t: float) -> str | None:
            for slave, do_step, writes, reads in steppers:
                for write, link in writes:
                    status = write()
                    if status:
                        link.check(status, t)
                status = do_step(t, step, 1)
                if status:
                    end = _stepped(slave, status, t, step)
                    if end:
                        return end
                for read, link in reads:
                    status = read()
                    if status:
                        link.check(status, t + step)
            return None

        return one_step

    @staticmethod
    def _jacobi(slaves: Mapping[str, Slave], exchange: _Exchange, step: float) -> Callable[[float], str | None]:
        """As _gauss_seidel, but nobody sees a new value before all have stepped."""
        writes = [entry for name in slaves for entry in exchange.writes[name]]
        reads = [entry for name in slaves for entry in exchange.reads[name]]
        steppers = [(s, partial(s.dll.fmi2DoStep, s.component)) for s in slaves.values()]

        def one_step(t: float) -> str | None:
            for write, link in writes:
                status = write()
                if status:
                    link.check(status, t)
            for slave, do_step in steppers:
                status = do_step(t, step, 1)
                if status:
                    end = _stepped(slave, status, t, step)
                    if end:
                        return end
            for read, link in reads:
                status = read()
                if status:
                    link.check(status, t + step)
            return None

        return one_step

    def _initialize(self, slaves: dict[str, Slave], start: float, stop: float) -> None:
        """Start values, initialization mode, and a consistent exchange in the order of the dependencies."""
        for inputs in (False, True):  # inputs cannot be set before initialization mode
            problems: list[Problem] = []
            for name, slave in slaves.items():
                model = _model_of(self.scenario, name) if self.starts[name] and not inputs else None
                for variable, value in self.starts[name].items():
                    where = f"{self.scenario.path}: [slaves] {name} start {variable}"
                    known = self.descriptions[name].variables[variable]
                    if (known.causality == "input") == inputs:
                        try:
                            slave.set(known, value)
                            problems += _bound_problems(model, variable, value, where)
                        except SlaveError as error:
                            if slave.status not in (DISCARD, ERROR):
                                raise
                            problems += [Problem(where, f"the FMU refuses it: {p.what}") for p in error.problems]
            if problems:
                raise InputError(problems)
            for slave in () if inputs else slaves.values():
                slave.setup(start, stop, self.scenario.experiment.tolerance)
                slave.call("fmi2EnterInitializationMode", f"at {start:g} s")
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
        """What FMUs of ours refused in their initialization, as they logged it from the entries `logged` on; nothing if
        one of others failed.  Each came through its build with the start values of its recipe, so what it refuses are
        values, and motions, that this scenario gives."""
        failed = {name: slave for name, slave in slaves.items() if slave.status not in (OK, WARNING)}
        for name, slave in failed.items() if all(slave.description.ours for slave in failed.values()) else ():
            said = [entry.text for entry in slave.log[logged[name] :] if entry.status == ERROR]
            reasons = [text for text in said if not text.startswith("fmi2")] or said
            for text in dict.fromkeys(reasons):
                words = set(re.findall(r"[\w.]+(?:\[[\d,]+\])?", text))
                keys = [key for key in self.scenario.slaves[name].start if key in words]
                yield Problem(f"{self.scenario.path}: [slaves] {name}" + f" start {', '.join(keys)}" * bool(keys), text)

    def _solve_initial_values(self, slaves: dict[str, Slave], start: float) -> None:
        """Hand every output on in the order of the dependencies; a loop is swept until it stands still."""
        order, loop = initial_order(self.wiring, self.descriptions)
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
                    total = sum(known.get(source, 0.0) for source in self.wiring.sources[target])
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

    def _provenance(self) -> dict[str, object]:
        experiment = self.scenario.experiment
        return {
            "scenario": self.scenario.path.name,
            "slaves": {n: {"model": d.model_name, "guid": d.guid} for n, d in self.descriptions.items()},
            "algorithm": experiment.algorithm,
            "step": self.scenario.seconds("step"),
            "fmu-builder": installed_version("fmu-builder"),
            "fmpy": installed_version("fmpy"),
            "numpy": installed_version("numpy"),
            "python": platform.python_version(),
        }


def _stepped(slave: Slave, status: int, time: float, step: float) -> str | None:
    """After a step that was not OK: a note if the slave ended the simulation; raises on everything worse."""
    if status == DISCARD:
        end = slave.discarded(time, step)
        return f"{slave.name} ended the simulation at {end:g} s"
    slave.check(status, "fmi2DoStep", f"step of {step:g} s from {time:g} s")
    return None


def initial_order(wiring: Wiring, slaves: Mapping[str, SlaveDescription]) -> tuple[list[Node], list[Node]]:
    """Connected outputs in an order in which each comes after what it depends on, and the first loop if there is one:
    it is cut at one place, and the order is right for all the rest."""
    outputs = {source for sources in wiring.sources.values() for source in sources}
    needs: dict[Node, set[Node]] = {node: set() for node in sorted(outputs)}
    for target, sources in wiring.sources.items():
        for slave, name in outputs:
            depends = slaves[slave].variables[name].depends
            if slave == target[0] and (depends is None or target[1] in depends):
                needs[slave, name].update(sources)
    loop: list[Node] = []
    while True:
        try:
            return list(TopologicalSorter(needs).static_order()), loop
        except CycleError as error:
            cycle: list[Node] = error.args[1]  # each is needed by the next, the last is the first again
            loop = loop or cycle
            needs[cycle[1]].discard(cycle[0])


class _Exchange:
    """The connected values: per slave the calls that read its outputs and those that write its inputs.

    A slave's outputs are read into one array, ordered so that every link to another slave is a slice of it; inputs with
    one source are set straight from there, sums are formed in between."""

    def __init__(self, slaves: Mapping[str, Slave], wiring: Wiring) -> None:
        self.reads: dict[str, _Calls] = {name: [] for name in slaves}
        self.writes: dict[str, _Calls] = {name: [] for name in slaves}
        for family in ("Real", "Integer", "Boolean"):
            self._connect(slaves, wiring, family)

    def _connect(self, slaves: Mapping[str, Slave], wiring: Wiring, family: str) -> None:
        def variables(nodes: Sequence[Node]) -> list[SlaveVariable]:
            return [slaves[slave].description.variables[name] for slave, name in nodes]

        pairs: dict[tuple[str, str], list[tuple[Node, Node]]] = {}  # (source slave, target slave)
        sums: dict[str, list[tuple[Node, tuple[Node, ...]]]] = {}  # target slave
        for target, sources in wiring.sources.items():
            if FAMILY[variables([target])[0].type] != family:
                continue
            if len(sources) == 1:
                pairs.setdefault((sources[0][0], target[0]), []).append((sources[0], target))
            else:
                sums.setdefault(target[0], []).append((target, sources))
        listed: dict[str, list[Node]] = {name: [] for name in slaves}
        begin: dict[tuple[str, str], int] = {}
        for (source, target_slave), links in pairs.items():
            begin[source, target_slave] = len(listed[source])
            listed[source] += [a for a, _ in links]
        for terms in sums.values():
            for node in (n for _, nodes in terms for n in nodes):
                if node not in listed[node[0]]:
                    listed[node[0]].append(node)
        memory = {name: _memory(family, len(nodes)) for name, nodes in listed.items()}
        for name, nodes in listed.items():
            if nodes:
                link = Link(slaves[name], "Get", variables(nodes), memory[name])
                self.reads[name].append((link.call, link))
        for (source, target_slave), links in pairs.items():
            first = begin[source, target_slave]
            link = Link(
                slaves[target_slave],
                "Set",
                variables([b for _, b in links]),
                memory[source][first : first + len(links)],
                [a for a, _ in links],
            )
            self.writes[target_slave].append((link.call, link))
        for target_slave, terms in sums.items():
            link = Link(slaves[target_slave], "Set", variables([t for t, _ in terms]), _memory(family, len(terms)))
            parts = [[(memory[n[0]].data, listed[n[0]].index(n)) for n in nodes] for _, nodes in terms]
            self.writes[target_slave].append((_sum_call(link, parts), link))


def _memory(family: str, size: int) -> NDArray[np.float64] | NDArray[np.int32]:
    return np.zeros(size) if family == "Real" else np.zeros(size, dtype=np.int32)


def _sum_call(link: Link, parts: Sequence[Sequence[tuple[memoryview, int]]]) -> Callable[[], int]:
    totals: Any = link.memory.data  # a memoryview gives and takes plain floats, several times faster than an array

    def write() -> int:
        for i, terms in enumerate(parts):
            totals[i] = sum([values[k] for values, k in terms])
        return link.call()

    return write


def _drive_calls(slaves: Mapping[str, Slave], signals: Sequence[Signal]) -> list[tuple[Callable[[float], int], Link]]:
    """Calls that set the driven inputs of a time, one for each type of each slave."""
    groups: dict[tuple[str, str], list[Signal]] = {}
    for signal in signals:
        groups.setdefault((signal.node[0], FAMILY[signal.variable.type]), []).append(signal)
    calls = []
    for (slave, family), group in groups.items():
        link = Link(slaves[slave], "Set", [s.variable for s in group], _memory(family, len(group)))
        calls.append((_drive_call(link, group, float if family == "Real" else int), link))
    return calls


def _drive_call(link: Link, signals: Sequence[Signal], kind: type[float] | type[int]) -> Callable[[float], int]:
    values: Any = link.memory.data

    def write(time: float) -> int:
        for i, signal in enumerate(signals):
            values[i] = kind(signal.at(time))
        return link.call()

    return write


class _Recorder:
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
        self._calls: list[tuple[Callable[[int], int], int, int, Link]] = []
        column = 0
        for slave, found in groups:
            memory: NDArray[np.float64] | NDArray[np.int32] = self._values[:, column : column + len(found)]
            if FAMILY[found[0].type] != "Real":
                memory = np.zeros((len(time), len(found)), dtype=np.int32)
                self._whole.append((column, memory))
            link = Link(slave, "Get", found, memory)
            self._calls.append((link.at, memory.ctypes.data, memory.strides[0], link))
            column += len(found)

    def record(self, row: int) -> None:
        for read, address, stride, link in self._calls:
            status = read(address + row * stride)
            if status:
                link.check(status, float(self.time[row]))
        self._rows = row + 1

    def check(self) -> None:
        """Raise SlaveError for the first value since the last check that is not finite."""
        new = self._values[self._checked : self._rows]
        if not np.isfinite(new).all():
            row, column = np.argwhere(~np.isfinite(new))[0]
            raise not_finite(self._nodes[column], float(new[row, column]), float(self.time[self._checked + row]))
        self._checked = self._rows

    def trace(self, provenance: Mapping[str, object]) -> Trace:
        self.check()
        for column, whole in self._whole:
            self._values[:, column : column + whole.shape[1]] = whole
        time, values = self.time[: self._rows], self._values[: self._rows]
        return Trace(time, tuple(self._units), values, self._units, {}, provenance)


def chosen_signals(
    signals: Mapping[str, Sequence[SlaveVariable]], patterns: Sequence[str], where: str, problems: list[Problem]
) -> dict[str, list[SlaveVariable]]:
    """The signals `slave.name` that a pattern names, in which * stands for any text; a pattern without any is added to
    the problems."""
    names = [f"{slave}.{v.name}" for slave, variables in signals.items() for v in variables]
    chosen: set[str] = set()
    for pattern in patterns:
        expression = re.compile(".*".join(map(re.escape, pattern.split("*"))))
        found = {name for name in names if expression.fullmatch(name)}
        if not found:
            problems.append(Problem(where, f"'{pattern}' names no signal" + did_you_mean(pattern, names)))
        chosen |= found
    return {slave: [v for v in variables if f"{slave}.{v.name}" in chosen] for slave, variables in signals.items()}


def _is_signal(variable: SlaveVariable) -> bool:
    return (
        variable.causality in ("output", "local")
        and variable.type != "String"
        and variable.variability in ("continuous", "discrete")
        and not variable.name.startswith("der(")
        and not is_recorded_contact(variable.name)
    )
