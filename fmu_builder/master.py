"""Co-simulation: slaves stepped together, Jacobi or Gauss-Seidel, at the points t_k = start + k h.

Jacobi: all slaves step with the inputs of t_k, then all values are exchanged: a force acts 3/2 h late on average.
Gauss-Seidel: slaves step in the order of the scenario, each with the newest values: half a step late.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fmu_builder.build import host_fmu
from fmu_builder.errors import InputError, Problem, SlaveError, did_you_mean
from fmu_builder.events import contact_events
from fmu_builder.paths import find_recipe
from fmu_builder.scenario import Drive, Experiment, Scenario, SlaveEntry, read_scenario
from fmu_builder.slave import DISCARD, FAMILY, LogEntry, Slave, SlaveDescription, SlaveVariable, read_slave
from fmu_builder.trace import Trace, read_trace
from fmu_builder.units import parse_quantity, parse_unit
from fmu_builder.wiring import Node, Wiring, wire

_MAX_SWEEPS = 100  # of an algebraic loop at initialization
_LOOP_TOLERANCE = 1e-10  # relative change at which a loop counts as solved


@dataclass(frozen=True)
class Run:
    """A finished run: its trace, what the user should know, and what the slaves logged."""

    trace: Trace
    notes: tuple[str, ...]
    log: tuple[LogEntry, ...]


def run(scenario: Scenario | Path | str, progress: Callable[[float], None] | None = None) -> Run:
    """Run a scenario, or a single .fmu or recipe with its defaults.

    `progress` is called with the share done, 0 .. 1.  Raises InputError or SlaveError; no instance is left behind."""
    if not isinstance(scenario, Scenario):
        scenario = load_scenario(Path(scenario))
    return _Master(scenario).run(progress or (lambda share: None))


def load_scenario(path: Path) -> Scenario:
    """A scenario file; for an .fmu or a recipe the scenario of this one slave at its recommended step."""
    if path.suffix != ".fmu":
        path = find_recipe(str(path))
        if "slaves" in path.read_text(encoding="utf-8"):
            return read_scenario(path)
    description = read_slave(path if path.suffix == ".fmu" else host_fmu(path))
    step = description.step or 1e-3
    return Scenario(
        path=path,
        description=description.model_name,
        experiment=Experiment(stop=round(1.0 / step) * step, step=step),
        slaves={"fmu": SlaveEntry(recipe=str(path.resolve()))},
    )


def describe_slaves(scenario: Scenario) -> dict[str, SlaveDescription]:
    """The FMU of every slave: a given .fmu, or the one built from its recipe for this machine.

    Raises InputError with the problems of all slaves."""
    problems: list[Problem] = []
    found = {}
    for name, entry in scenario.slaves.items():
        try:
            given = Path(entry.recipe)
            if given.suffix == ".fmu":
                found[name] = read_slave(given if given.is_absolute() else scenario.path.parent / given)
            else:
                found[name] = read_slave(host_fmu(find_recipe(entry.recipe, scenario.path.parent)))
        except InputError as error:
            problems += [Problem(f"{scenario.path}: [slaves] {name}", str(p)) for p in error.problems]
    if problems:
        raise InputError(problems)
    return found


# ---- start values and drives -------------------------------------------------------------------------------------


def start_values(scenario: Scenario, slaves: Mapping[str, SlaveDescription]) -> dict[str, dict[str, float]]:
    """SI start values by slave and variable.  Raises InputError with every problem found."""
    problems: list[Problem] = []
    values: dict[str, dict[str, float]] = {}
    for slave, entry in scenario.slaves.items():
        variables = slaves[slave].variables
        values[slave] = {}
        for key, value in entry.start.items():
            where = f"{scenario.path}: [slaves] {slave} start {key}"
            items = value if isinstance(value, list) else [value]
            names = [key] if key in variables else [f"{key}[{k + 1}]" for k in range(len(items))]
            if names[0] not in variables or len(names) != len(items) or names[-1] not in variables:
                problems.append(
                    Problem(where, f"{slaves[slave].model_name} has no such variable" + did_you_mean(key, variables))
                )
                continue
            for name, item in zip(names, items, strict=True):
                try:
                    values[slave][name] = _value(variables[name], item, where)
                except InputError as error:
                    problems += error.problems
    if problems:
        raise InputError(problems)
    return values


def _value(variable: SlaveVariable, value: bool | int | float | str, where: str) -> float:
    if variable.causality not in ("parameter", "input") and variable.initial not in ("exact", "approx"):
        raise InputError(Problem(where, f"is computed by the FMU ({variable.causality}), it has no start value"))
    if variable.type == "Boolean":
        if not isinstance(value, bool):
            raise InputError(Problem(where, f"{value!r} must be true or false"))
        return float(value)
    if isinstance(value, bool):
        raise InputError(Problem(where, f"{value!r} must be a number"))
    return parse_quantity(value, parse_unit(variable.unit if variable.type == "Real" else "1"), where)


@dataclass(frozen=True)
class _Signal:
    """A driven input: values over time."""

    node: Node
    variable: SlaveVariable
    time: NDArray[np.float64]
    value: NDArray[np.float64]

    def at(self, t: float) -> float:
        if self.variable.type == "Real":
            return float(np.interp(t, self.time, self.value))
        return float(self.value[max(int(np.searchsorted(self.time, t + 1e-12 * abs(t), side="right")) - 1, 0)])


def drive_signals(scenario: Scenario, slaves: Mapping[str, SlaveDescription]) -> list[_Signal]:
    """All driven inputs; a driven position drives its velocity with the exact slope, unless that is driven itself."""
    problems: list[Problem] = []
    signals: dict[Node, _Signal] = {}
    for name, drive in scenario.drive.items():
        where = f"{scenario.path}: [drive] {name}"
        slave, _, rest = name.partition(".")
        if slave not in slaves or rest not in slaves[slave].variables:
            known = [f"{s}.{v.name}" for s, d in slaves.items() for v in d.variables.values() if v.causality == "input"]
            problems.append(Problem(where, "there is no such input" + did_you_mean(name, known)))
            continue
        variable = slaves[slave].variables[rest]
        if variable.causality not in ("input", "parameter") or variable.type == "String":
            problems.append(
                Problem(
                    where, f"is {variable.causality} of type {variable.type}; only inputs and parameters are driven"
                )
            )
            continue
        try:
            time, value = _drive_table(scenario.path, drive, where)
        except InputError as error:
            problems += error.problems
            continue
        signals[slave, rest] = _Signal((slave, rest), variable, time, value)
    if problems:
        raise InputError(problems)
    for (slave, rest), signal in list(signals.items()):
        for port in slaves[slave].ports.values():
            rate = _rate_of(port.motion, rest)
            if rate and (slave, rate) not in signals:
                signals[slave, rate] = _slope(signal, (slave, rate), slaves[slave].variables[rate])
    return list(signals.values())


def _rate_of(motion: Mapping[str, tuple[str, ...]], name: str) -> str | None:
    for position, velocity in (("r", "v"), ("phi", "w"), ("s", "v")):
        if name in motion.get(position, ()):
            return motion[velocity][motion[position].index(name)]
    return None


def _slope(signal: _Signal, node: Node, variable: SlaveVariable) -> _Signal:
    """The derivative of a piecewise linear signal: steps, written with repeated times; 0 outside."""
    time, value = [signal.time[0]], [0.0]
    for a, b, from_, to in zip(signal.time, signal.time[1:], signal.value, signal.value[1:], strict=False):
        if b > a:
            time += [a, b]
            value += [(to - from_) / (b - a)] * 2
    return _Signal(node, variable, np.array([*time, signal.time[-1]]), np.array([*value, 0.0]))


def _drive_table(path: Path, drive: Drive, where: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if drive.table is None:
        return np.array(drive.time, dtype=float), np.array(drive.value, dtype=float)
    table = read_trace(path.parent / drive.table)
    if table.values.shape[1] != 1:
        raise InputError(Problem(where, f"{drive.table} has {table.values.shape[1]} columns besides time, 1 is needed"))
    return np.array(table.time), np.array(table.values[:, 0])


# ---- the run -----------------------------------------------------------------------------------------------------


class _Column:
    """Variables of one type of one slave, read or set in one call into an array that stays where it is."""

    def __init__(self, slave: Slave, variables: Sequence[SlaveVariable], family: str, write: bool) -> None:
        self.slave = slave
        self.variables = tuple(variables)
        self.call_name = f"fmi2{'Set' if write else 'Get'}{family}"
        self.values = np.zeros(len(self.variables), dtype=np.float64 if family == "Real" else np.int32)
        self._references = np.array([v.reference for v in self.variables], dtype=np.uint32)
        self._call = _fast(slave)[self.call_name]
        self._arguments = (slave.component, self._references.ctypes.data, len(self.variables))
        self._address = self.values.ctypes.data

    def transfer(self, address: int | None = None) -> None:
        """Get into, or set from, `values` (or memory elsewhere)."""
        status = self._call(*self._arguments, self._address if address is None else address)
        if status:
            self.slave.check(status, self.call_name, ", ".join(v.name for v in self.variables[:8]))


def _fast(slave: Slave) -> dict[str, Callable[..., int]]:
    """Getters and setters of the slave's library once more, taking bare addresses: a call costs about 0.3 us."""
    library = ctypes.CDLL(slave.dll._name, handle=slave.dll._handle)
    functions: dict[str, Callable[..., int]] = {}
    for family in ("Real", "Integer", "Boolean"):
        for verb in ("Get", "Set"):
            function = library[f"fmi2{verb}{family}"]
            function.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
            function.restype = ctypes.c_int
            functions[f"fmi2{verb}{family}"] = function
    return functions


class _Master:
    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.descriptions = describe_slaves(scenario)
        self.starts = start_values(scenario, self.descriptions)
        self.signals = drive_signals(scenario, self.descriptions)
        driven = [f"{slave}.{name}" for slave, name in (s.node for s in self.signals)]
        self.wiring = wire(scenario.path, scenario.connections, self.descriptions, driven, scenario.free_moment)
        clash = [f"{s}.{n}" for s, n in self.wiring.sources if f"{s}.{n}" in scenario.drive]
        if clash:
            raise InputError(
                [Problem(f"{scenario.path}: [drive] {n}", "this input is connected as well") for n in clash]
            )
        self.signals = [s for s in self.signals if s.node not in self.wiring.sources]

    def run(self, progress: Callable[[float], None]) -> Run:
        with ExitStack() as stack:
            slaves: dict[str, Slave] = {}
            for name, description in self.descriptions.items():
                slaves[name] = Slave(name, description)
                stack.callback(slaves[name].close)
            trace, notes = self._run(slaves, progress)
            log = tuple(entry for slave in slaves.values() for entry in slave.log)
        events = contact_events(trace)
        return Run(replace(trace, events=events), (*self.wiring.notes, *notes), log)

    def _run(self, slaves: dict[str, Slave], progress: Callable[[float], None]) -> tuple[Trace, list[str]]:
        scenario = self.scenario
        start, stop, step = scenario.seconds("start"), scenario.seconds("stop"), scenario.seconds("step")
        count = round((stop - start) / step)
        every = round(scenario.seconds("output_step") / step)
        self._initialize(slaves, start, start + count * step)
        exchange = _Exchange(slaves, self.wiring)
        recorder = _Recorder(slaves, count // every + 1)
        drives = [(s, slaves[s.node[0]]) for s in self.signals]
        exchange.read_all()
        recorder.record(0, start)
        notes: list[str] = []
        steppers = [
            (s.dll.fmi2DoStep, s.component, s, exchange.writes[n], exchange.reads[n]) for n, s in slaves.items()
        ]
        jacobi = scenario.experiment.algorithm == "jacobi"
        report_every = max(count // 100, 1)
        for k in range(count):
            t = start + k * step
            for signal, slave in drives:
                slave.set(signal.variable, signal.at(t))
            ended = None
            if jacobi:
                for _, _, _, writes, _ in steppers:
                    for write in writes:
                        write()
                for do_step, component, slave, _, _ in steppers:
                    status = do_step(component, t, step, 1)
                    if status:
                        ended = _stepped(slave, status, t, step) or ended
                for _, _, _, _, reads in steppers:
                    for read in reads:
                        read()
            else:
                for do_step, component, slave, writes, reads in steppers:
                    for write in writes:
                        write()
                    status = do_step(component, t, step, 1)
                    if status:
                        ended = _stepped(slave, status, t, step) or ended
                    for read in reads:
                        read()
            if ended:
                notes.append(ended)
                break
            if (k + 1) % every == 0:
                recorder.record((k + 1) // every, start + (k + 1) * step)
            if k % report_every == 0:
                progress(k / count)
        progress(1.0)
        for slave in slaves.values():
            if not notes:
                slave.call("fmi2Terminate")
        return recorder.trace(self._provenance()), notes

    def _initialize(self, slaves: dict[str, Slave], start: float, stop: float) -> None:
        """Start values, initialization mode, and a consistent exchange in the order of the dependencies."""
        for name, slave in slaves.items():
            for variable, value in self.starts[name].items():
                slave.set(self.descriptions[name].variables[variable], value)
            slave.setup(start, stop, self.scenario.experiment.tolerance)
            slave.call("fmi2EnterInitializationMode")
        for signal in self.signals:
            slaves[signal.node[0]].set(signal.variable, signal.at(start))
        self._solve_initial_values(slaves)
        for slave in slaves.values():
            slave.call("fmi2ExitInitializationMode")

    def _solve_initial_values(self, slaves: dict[str, Slave]) -> None:
        order, loop = initial_order(self.wiring, self.descriptions)
        targets: dict[Node, list[Node]] = {}
        for target, sources in self.wiring.sources.items():
            for source in sources:
                targets.setdefault(source, []).append(target)

        def read(node: Node) -> float:
            return slaves[node[0]].get(self.descriptions[node[0]].variables[node[1]])

        known: dict[Node, float] = {}

        def sweep() -> float:
            """Read every output in order and hand it on; returns the largest relative change."""
            change = 0.0
            for node in order:
                value = read(node)
                change = max(change, abs(value - known.get(node, np.inf)) / max(abs(value), 1.0))
                known[node] = value
                for target in targets[node]:
                    parts = [known.get(source) for source in self.wiring.sources[target]]
                    total = sum(p for p in parts if p is not None)
                    slaves[target[0]].set(self.descriptions[target[0]].variables[target[1]], total)
            return change

        change = sweep()
        for _ in range(_MAX_SWEEPS if loop else 0):
            if change <= _LOOP_TOLERANCE:
                return
            try:
                change = sweep()
            except SlaveError as error:
                raise self._no_solution(loop, "its values leave the allowed range") from error
        if loop and change > _LOOP_TOLERANCE:
            raise self._no_solution(loop, f"it still changes by {change:.2g} (relative) after {_MAX_SWEEPS} sweeps")

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
            "fmpy": version("fmpy"),
            "numpy": version("numpy"),
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
    """Connected outputs in an order in which each comes after what it depends on, and the loop if there is one."""
    outputs = {source for sources in wiring.sources.values() for source in sources}
    needs: dict[Node, set[Node]] = {node: set() for node in sorted(outputs)}
    for target, sources in wiring.sources.items():
        for slave, name in outputs:
            depends = slaves[slave].variables[name].depends
            if slave == target[0] and (depends is None or target[1] in depends):
                needs[slave, name].update(sources)
    try:
        return list(TopologicalSorter(needs).static_order()), []
    except CycleError as error:
        loop: list[Node] = error.args[1]
        return sorted(outputs), loop


class _Exchange:
    """The connected values: per slave the calls that read its outputs and those that write its inputs.

    A slave's outputs are read into one array, ordered so that every link to another slave is a slice of it; inputs with
    one source are set straight from there, sums are formed in between."""

    def __init__(self, slaves: Mapping[str, Slave], wiring: Wiring) -> None:
        self.reads: dict[str, list[Callable[[], None]]] = {name: [] for name in slaves}
        self.writes: dict[str, list[Callable[[], None]]] = {name: [] for name in slaves}
        for family in ("Real", "Integer", "Boolean"):
            self._connect(slaves, wiring, family)

    def read_all(self) -> None:
        for reads in self.reads.values():
            for read in reads:
                read()

    def _connect(self, slaves: Mapping[str, Slave], wiring: Wiring, family: str) -> None:
        def variable(node: Node) -> SlaveVariable:
            return slaves[node[0]].description.variables[node[1]]

        links: dict[tuple[str, str], list[tuple[Node, Node]]] = {}
        sums: dict[str, list[tuple[Node, tuple[Node, ...]]]] = {}
        for target, sources in wiring.sources.items():
            if FAMILY[variable(target).type] != family:
                continue
            if len(sources) == 1:
                links.setdefault((sources[0][0], target[0]), []).append((sources[0], target))
            else:
                sums.setdefault(target[0], []).append((target, sources))
        listed: dict[str, list[Node]] = {name: [] for name in slaves}
        slices: dict[tuple[str, str], int] = {}
        for (source, target_slave), pairs in links.items():
            slices[source, target_slave] = len(listed[source])
            listed[source] += [a for a, _ in pairs]
        for terms in sums.values():
            for _, sources in terms:
                for node in sources:
                    if node not in listed[node[0]]:
                        listed[node[0]].append(node)
        columns = {
            name: _Column(slaves[name], [variable(n) for n in nodes], family, write=False)
            for name, nodes in listed.items()
            if nodes
        }
        for name, column in columns.items():
            self.reads[name].append(column.transfer)
        for (source, target_slave), pairs in links.items():
            column = _Column(slaves[target_slave], [variable(b) for _, b in pairs], family, write=True)
            memory = columns[source].values
            address = memory.ctypes.data + slices[source, target_slave] * memory.itemsize
            self.writes[target_slave].append(_bind(column, address))
        for target_slave, terms in sums.items():
            column = _Column(slaves[target_slave], [variable(t) for t, _ in terms], family, write=True)
            parts = [[(columns[n[0]].values, listed[n[0]].index(n)) for n in sources] for _, sources in terms]
            self.writes[target_slave].append(_bind_sum(column, parts))


def _bind(column: _Column, address: int) -> Callable[[], None]:
    return lambda: column.transfer(address)


def _bind_sum(column: _Column, parts: Iterable[Sequence[tuple[NDArray[np.float64], int]]]) -> Callable[[], None]:
    terms = [list(p) for p in parts]

    def write() -> None:
        for i, sources in enumerate(terms):
            column.values[i] = sum(values[k] for values, k in sources)
        column.transfer()

    return write


class _Recorder:
    """Rows of all outputs and local variables of all slaves, written by the FMUs straight into the arrays."""

    def __init__(self, slaves: Mapping[str, Slave], rows: int) -> None:
        self.time = np.zeros(rows)
        self.rows = 0
        self._columns: list[tuple[_Column, NDArray[np.generic]]] = []
        for slave in slaves.values():
            for family in ("Real", "Integer", "Boolean"):
                variables = [
                    v
                    for v in slave.description.variables.values()
                    if v.causality in ("output", "local")
                    and FAMILY.get(v.type) == family
                    and v.variability in ("continuous", "discrete")
                    and not v.name.startswith("der(")
                ]
                if variables:
                    column = _Column(slave, variables, family, write=False)
                    self._columns.append((column, np.zeros((rows, len(variables)), dtype=column.values.dtype)))

    def record(self, row: int, time: float) -> None:
        self.time[row] = time
        self.rows = row + 1
        for column, memory in self._columns:
            column.transfer(memory.ctypes.data + row * memory.strides[0])

    def trace(self, provenance: Mapping[str, object]) -> Trace:
        names: list[str] = []
        units: dict[str, str] = {}
        for column, _ in self._columns:
            for v in column.variables:
                names.append(f"{column.slave.name}.{v.name}")
                units[names[-1]] = v.unit
        values = np.hstack([m[: self.rows].astype(np.float64) for _, m in self._columns] or [np.zeros((self.rows, 0))])
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            row, column_index = bad[0]
            raise SlaveError(
                Problem(names[column_index], f"is not finite at {self.time[row]:g} s, and was answered with fmi2OK")
            )
        return Trace(self.time[: self.rows].copy(), tuple(names), values, units, {}, provenance)
