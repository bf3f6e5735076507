"""Co-simulation: slaves stepped together at the points t_k = start + k h.

Jacobi: all slaves step with the inputs of t_k, then all values are exchanged: a force acts 3/2 h late on average.
Gauss-Seidel: slaves step one after another, in the `order` of the experiment, each with the newest values: half a step
late.
Implicit, adaptive: the forces between bodies and elements are solved for in each step (implicit/); slaves that are left
out of it step as under Gauss-Seidel, as they are listed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fmu_builder.cosim.algorithm_keys import key_problems
from fmu_builder.cosim.call_order import call_orders, held_modes, moved, unanswered, unanswered_note
from fmu_builder.cosim.connection_energy import ConnectionEnergy, ConnectionPower, energy_notes
from fmu_builder.cosim.contact_record import ContactRecord
from fmu_builder.cosim.default_experiment import default_times
from fmu_builder.cosim.discarded_steps import DiscardedStepError, PartedSteps
from fmu_builder.cosim.events import ContactEvent, energy_gaining_contacts, event_values
from fmu_builder.cosim.exchange import Exchange, drive_operations
from fmu_builder.cosim.held_steps import held_constants, long_steps, stated_masses
from fmu_builder.cosim.implicit.run import ImplicitRun, UnsolvableError, groups_of, with_laws
from fmu_builder.cosim.initialization import Initialization, model_of
from fmu_builder.cosim.interruption import noted_interruption
from fmu_builder.cosim.isolation.limits import limits_of
from fmu_builder.cosim.loop.operations import Access, Clock, Keep, Operation, Step
from fmu_builder.cosim.loop.program import Block, loop_of, run_loop
from fmu_builder.cosim.overrides import changed_scenario, named_as_given
from fmu_builder.cosim.page_names import page_problems
from fmu_builder.cosim.provenance import provenance
from fmu_builder.cosim.recorder import Recorder, chosen_signals, is_signal, last_row_note, with_outputs
from fmu_builder.cosim.result import Result, RunInterrupted
from fmu_builder.cosim.scenario_inputs import Signal, Start, drive_signals, drives_outside, start_values
from fmu_builder.cosim.schedule import Schedule, schedule_of
from fmu_builder.cosim.slave import DISCARD, FATAL, Slave, SlaveDescription, read_built, read_slave
from fmu_builder.cosim.ssp.reading import read_ssp
from fmu_builder.cosim.trace import Trace
from fmu_builder.errors import FmuBuilderError, InputError, Problem, ToolError, collected
from fmu_builder.export.fmu import host_fmu, host_fmu_of_model
from fmu_builder.model.connectable import SlaveVariable
from fmu_builder.model.documents import Document, as_file
from fmu_builder.model.element_model import is_scalar_of_laws
from fmu_builder.model.file_kinds import is_recipe
from fmu_builder.model.scenario import (
    TIMES,
    CheckedScenario,
    Experiment,
    SlaveEntry,
    check_times,
    parse_scenario,
)
from fmu_builder.model.start_values import law_problems
from fmu_builder.model.step_advice import MODE
from fmu_builder.model.wiring import Wiring, wire
from fmu_builder.paths import find_recipe, former_note


def run(
    scenario: Document | CheckedScenario | Path | str,
    *,
    start: Mapping[str, Any] | None = None,
    stop: str | float | None = None,
    step: str | float | None = None,
    algorithm: str | None = None,
    record: str | Sequence[str] | None = None,
    power: bool | None = None,
    isolated: bool | None = None,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Run a scenario, or a single recipe or FMU with its defaults.

    scenario   a document, the path of a scenario, recipe, .fmu or .ssp, or the name of a recipe
    start      start values by "slave.variable", with units where you like; of a single FMU by variable.
               Vectors are lists, tuples or arrays of numpy
    stop, step, algorithm, record, power   in place of those of [experiment]; record: at least one signal
    isolated   each slave in a process of its own, in place of `isolated` of the slaves
    progress   is called with the share done, 0 .. 1
    Raises InputError with every problem found, SlaveError if an FMU fails, RunInterrupted with the result so far on
    Ctrl-C; no instance is left behind."""
    with nullcontext(scenario) if isinstance(scenario, CheckedScenario) else as_file(scenario) as source:
        master = changed_master(
            source,
            "run() {}",
            step=step,
            stop=stop,
            algorithm=algorithm,
            record=record,
            power=power,
            isolated=isolated,
            start=start,
        )
        with named_as_given(master.scenario, "run() {}", record=record, power=power, start=start):
            return master.run(progress or (lambda share: None))


def changed_master(source: CheckedScenario | Path, where: str, **changes: Any) -> Master:
    """The checked run of a scenario with changes as of `changed_scenario`.   Raises InputError with the problems of
    both."""
    given = [key for key in ("step", "stop", "output_step") if changes.get(key) is not None]
    read, problems = (source, []) if isinstance(source, CheckedScenario) else _parsed(source, given)
    is_timed = not any("[experiment]" in str(problem) for problem in problems)
    if not is_timed:  # these times may not be those of the file
        changes |= {"step": None, "stop": None, "output_step": None}
    chosen, wrong = changed_scenario(read, where, **changes)
    problems += wrong
    if is_timed and wrong and check_times("", *(chosen.seconds(key) for key in TIMES)):  # no run has these
        raise InputError(problems)
    named = {"record": changes.get("record"), "power": changes.get("power")}
    start = changes.get("start")
    with named_as_given(read, where, **named, start=start):
        return _sound(chosen, problems)


def load_scenario(path: Path, given: Collection[str] = ()) -> CheckedScenario:
    """A scenario file or an SSP archive; for an .fmu or a recipe the scenario of this one slave, with its default
    experiment.

    given   keys of [experiment] that the caller replaces; those of the FMU are not checked
    Raises InputError with all problems, those of the slaves too where its text is wrong."""
    scenario, problems = _parsed(path, given)
    return _sound(scenario, problems).scenario if problems else scenario


def checked_scenario(path: Path) -> CheckedScenario:
    """As load_scenario, of a scenario file."""
    scenario, problems = parse_scenario(path)
    return _sound(scenario, problems).scenario if problems else scenario


def _parsed(path: Path, given: Collection[str]) -> tuple[CheckedScenario, list[Problem]]:
    """As parse_scenario, of all that load_scenario reads."""
    if path.suffix == ".ssp":
        return read_ssp(path, given), []
    if path.suffix != ".fmu":
        path = find_recipe(str(path))
        if not is_recipe(path):
            return parse_scenario(path, given)
    description = read_slave(path if path.suffix == ".fmu" else host_fmu(path))
    start, stop, step = default_times(description, path, given)
    alone = CheckedScenario(
        path=path,
        description=description.model_name,
        experiment=Experiment(start=start, stop=stop, step=step),
        slaves={"fmu": SlaveEntry(recipe=str(path.resolve()))},
    )
    return alone, []


def _sound(scenario: CheckedScenario, problems: Sequence[Problem]) -> Master:
    """The run of a scenario.   Raises InputError with these problems of its text, and those of its slaves."""
    found = [*problems]
    with collected(found), suppress(ToolError) if problems else nullcontext():  # without a compiler no slave is read
        master = Master(scenario)
    if found:
        raise InputError(list(dict.fromkeys(found)))
    return master


def _describe(scenario: CheckedScenario, problems: list[Problem]) -> dict[str, SlaveDescription]:
    """The FMU of every slave: a given .fmu, or the one built from its recipe for this machine.

    Leaves out the slaves that have problems, and adds these."""
    read: dict[str, SlaveDescription] = {}  # a recipe or file that is used several times is read once
    found = {}
    for name, entry in scenario.slaves.items():
        where = f"{scenario.path}: [slaves] {name}"
        try:
            if entry.recipe not in read:
                read[entry.recipe] = _read(entry.recipe, scenario.path.parent)
        except InputError as error:
            problems += [Problem(where, str(p)) for p in error.problems]
            continue
        if missing := read[entry.recipe].obstacle():
            problems.append(Problem(where, f"{entry.recipe} {missing}"))
        else:
            found[name] = read[entry.recipe]
    return found


def _read(recipe: str, folder: Path) -> SlaveDescription:
    if Path(recipe).suffix == ".fmu":
        return read_slave(folder / recipe)
    fmu, model = host_fmu_of_model(find_recipe(recipe, folder))
    return read_built(fmu, model)


def _law_problems(
    scenario: CheckedScenario, slaves: Mapping[str, SlaveDescription], starts: Mapping[str, Mapping[str, Start]]
) -> list[Problem]:
    """Rules on the laws of a recipe that start values of scalars break."""
    problems = []
    for name, given in starts.items():
        scalars = {n: v for n, v in given.items() if is_scalar_of_laws(slaves[name].variables[n].description)}
        if scalars and (model := model_of(scenario, name)) is not None:
            values = {model[n].index: value for n, value in scalars.items() if not isinstance(value, str)}
            problems += law_problems(model, values, f"{scenario.path}: [slaves] {name} start")
    return problems


# ---- the run -----------------------------------------------------------------------------------------------------


class Master:
    """A run of a scenario: its slaves, start values, signals and connections, checked."""

    def __init__(self, scenario: CheckedScenario) -> None:
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
            fmi3 = [name for name, one in self.descriptions.items() if one.kinds is not None]
            self.limits = limits_of(scenario, fmi3)
        with collected(problems):
            self.masses = stated_masses(scenario, self.descriptions)
        with collected(problems):
            self.signals = drive_signals(scenario, self.descriptions, self.starts)
        driven = [f"{slave}.{name}" for slave, name in (s.node for s in self.signals)]
        missing = set(scenario.slaves) - set(self.descriptions)
        connections = [pair for pair in scenario.connections if not {end.partition(".")[0] for end in pair} & missing]
        self.wiring = Wiring({}, ())
        with collected(problems):
            self.wiring = wire(
                scenario.path, connections, self.descriptions, driven, scenario.free_moment, given=scenario.conversions
            )
        for (slave, name), sources in self.wiring.sources.items():
            if f"{slave}.{name}" in scenario.drive:
                what = f"is connected to {sources[0][0]}.{sources[0][1]} as well; an input has one of the two"
                problems.append(Problem(f"{scenario.path}: [drive] {slave}.{name}", what))
        self.recorded = {
            slave: [v for v in description.variables.values() if is_signal(v)]
            for slave, description in self.descriptions.items()
        }
        if (record := scenario.experiment.record) is not None:
            where = f"{scenario.path}: [experiment] record"
            known = [one for one in record if not missing or one.partition(".")[0] in self.descriptions]
            self.recorded = chosen_signals(self.recorded, known, where, problems)
        if not problems:
            self.groups, problems = groups_of(scenario, self.descriptions, self.wiring, self.signals)
        problems += [*key_problems(scenario), *page_problems(scenario, self.descriptions)]
        with collected(problems):
            self.schedule = schedule_of(scenario, self.descriptions, self.wiring)
        if problems:
            raise InputError(problems)
        self.signals = [s for s in self.signals if s.node not in self.wiring.sources]
        self.implicit: ImplicitRun | None = None
        # of slaves outside of groups that are solved for
        self.in_turn = "jacobi" if self.schedule.jacobi else "gauss_seidel"
        self.unanswered = [*unanswered(self.descriptions, self.starts, self.wiring)]
        for name, variable, value in held_modes(self.unanswered, self.descriptions, self.starts):
            self.starts[name][variable] = value
        for name, variable, value in call_orders(self.descriptions, self.starts, self.wiring, self.schedule):
            self.starts[name][variable] = value
        self.coupled_starts = self.starts
        self.starts = with_laws(self.groups, self.descriptions, self.coupled_starts)
        self.parted: dict[str, PartedSteps | None] = {}  # slaves that have discarded a step

    def run(self, progress: Callable[[float], None]) -> Result:
        """A slave that discards a step, or whose group cannot be solved for, begins the run once more."""
        while True:
            try:
                return self._run_once(progress)
            except DiscardedStepError as error:
                self.parted[error.slave] = None
            except UnsolvableError as error:
                self.leave(error)
            except FmuBuilderError as error:  # which a note may explain
                error.add_notes(self.notes())
                raise

    def leave(self, error: UnsolvableError) -> None:
        """Solve for the forces of these groups no longer."""
        for number, reasons in error.reasons.items():
            self.groups[number].reasons.update(reasons)
        self.starts = with_laws(self.groups, self.descriptions, self.coupled_starts)

    def initialization(self) -> Initialization:
        return Initialization(self.scenario, self.descriptions, self.starts, self.signals, self.wiring)

    def notes(self) -> list[str]:
        """Those that any run has: on its files, connections and start values."""
        recipes = dict.fromkeys(e.recipe for e in self.scenario.slaves.values() if Path(e.recipe).suffix != ".fmu")
        former = (former_note(find_recipe(recipe, self.scenario.path.parent)) for recipe in recipes)
        warnings = dict.fromkeys(one for slave in self.descriptions.values() for one in slave.warnings)
        outside = drives_outside(self.scenario, self.signals)
        notes = (*self.scenario.notes, *self.wiring.notes, *filter(None, former), *warnings, *outside)
        notes = (*notes, *self.initialization().unused_starts(), *last_row_note(self.scenario))
        slaves, starts = self.descriptions, self.starts
        shown = [one for one in self.unanswered if one in moved(self.signals, self.wiring)]
        return [*notes, *(unanswered_note(one, slaves[one].variables[MODE], starts[one]) for one in shown)]

    def load(self, name: str, description: SlaveDescription) -> Slave:
        """A slave; bodies for whose forces `adaptive` solves may end steps at events.   Raises SlaveError."""
        of_groups = {body for group in self.groups if not group.reasons for body in group.bodies}
        ends_early = self.scenario.experiment.algorithm == "adaptive" and name in of_groups
        return Slave(name, description, self.starts[name], self.limits.get(name), ends_early)

    def forget_states(self, free: bool) -> None:
        """Before the slaves are closed.   free: false after fmi2Fatal"""
        for parted in self.parted.values() if free else ():
            if parted is not None:
                parted.kept.free()
        self.parted = dict.fromkeys(self.parted)

    def _run_once(self, progress: Callable[[float], None]) -> Result:
        slaves: dict[str, Slave] = {}
        try:
            for name, description in self.descriptions.items():
                slaves[name] = self.load(name, description)
            trace, contacts, notes, energies, interrupted = self._run(slaves, progress)
            bonds = tuple(self.implicit.bonds() if self.implicit else ())
            groups = tuple(self.implicit.groups() if self.implicit else ())
        finally:
            free = all(slave.status != FATAL for slave in slaves.values())
            if self.implicit is not None and free:
                self.implicit.close()
            self.forget_states(free)
            for slave in slaves.values():
                slave.close(free)
        log = tuple(entry for slave in slaves.values() for entry in slave.log)
        # inside a slave no force is held, and those with the group coupling report it themselves
        holding = {source for sources in self.wiring.sources.values() for source, _ in sources}
        mute = [name for name in holding if MODE not in self.descriptions[name].variables]
        trace = with_outputs(trace, self.scenario.outputs)
        notes = [*self.notes(), *notes, *energy_gaining_contacts(contacts, mute), *energy_notes(energies)]
        result = Result(trace, contacts, tuple(notes), log, bonds, groups, energies)
        if interrupted:
            raise RunInterrupted(result)
        return result

    def _run(
        self, slaves: dict[str, Slave], progress: Callable[[float], None]
    ) -> tuple[Trace, tuple[ContactEvent, ...], list[str], tuple[ConnectionEnergy, ...], bool]:
        scenario = self.scenario
        start, stop, step = scenario.seconds("start"), scenario.seconds("stop"), scenario.seconds("step")
        count = round((stop - start) / step)
        every = round(scenario.seconds("output_step") / step)
        self.initialization().run(slaves, start, start + count * step)
        constants = [*held_constants(slaves, self.wiring, self.starts, self.masses, self.schedule, start, step)]
        clock = Clock(start, step)
        exchange = Exchange(slaves, self.wiring, clock, self.schedule)
        exchange.check(start)
        recorder = Recorder(slaves, self.recorded, start + np.arange(0, count + 1, every, dtype=np.float64) * step)
        recorder.record_start()
        if self.groups:
            self.implicit = self.implicit_run(slaves, exchange, clock)
        solved = self.implicit.solved if self.implicit else set()
        ticks_of, ahead = self.schedule.ticks, self.schedule.ahead(self.wiring, self.descriptions)
        record = ContactRecord(slaves, clock, ticks_of, {n: late for n, late in ahead.items() if n not in solved})
        record.start(start)
        drives, blocks = self.drives(slaves, clock, self.implicit)
        power = self._power(slaves, exchange, clock, len(recorder.time), every)
        if power is not None:
            power.start(start)
        stepped = self.implicit.operations(clock) if self.implicit else self.one_step(slaves, exchange, clock, power)
        operations = [
            *drives,
            *stepped,
            *record.operations(),
            *(power.operations() if power is not None else ()),
            *recorder.operations(clock, every),
        ]
        loop, remarks = loop_of(operations, clock)

        def between(ticks: int) -> str | None:
            recorder.recorded(ticks // every + 1)
            progress(ticks / count)
            return f"interrupted at {clock.at(ticks):g} s" if interruption.requested else None

        with noted_interruption() as interruption, recorder.memory_ahead():
            ticks, end = run_loop(loop, [*blocks, *record.blocks()], count, between)
        recorder.recorded(ticks // every + 1)
        contacts, counts = record.finished()
        origin = provenance(scenario, self.descriptions, self.schedule)
        trace = replace(recorder.trace(origin), events=event_values(contacts, counts))
        rows = len(trace.time)
        if power is not None:
            trace = trace.with_signals(power.signals(rows))
        energies = power.energies(rows) if power is not None else ()
        held = [one for one in constants if one.slave not in solved]
        steps = {name: ticks * step for name, ticks in self.schedule.longest(self.wiring).items()}
        notes = [*long_steps(held, slaves, contacts, self.in_turn, steps)]
        driven = {signal.node for signal in self._changing(self.implicit)}
        notes += self.schedule.notes(self.wiring, self.descriptions, step, solved, driven)
        notes += power.notes() if power is not None else ()
        for slave in slaves.values():
            if slave.status != DISCARD:
                slave.call("fmi2Terminate")
        progress(ticks / count)
        notes += [note for parted in self.parted.values() if parted is not None and (note := parted.note())]
        notes += [*remarks, *([end] if end else []), *record.notes(), *(self.implicit.notes() if self.implicit else [])]
        return trace, tuple(contacts), notes, energies, interruption.requested and ticks < count

    def _power(
        self, slaves: Mapping[str, Slave], exchange: Exchange, clock: Clock, rows: int, every: int
    ) -> ConnectionPower | None:
        if not self.scenario.experiment.power:
            return None
        driven = {signal.node for signal in self.signals}
        return ConnectionPower(
            slaves, self.wiring, exchange, self.schedule, clock, driven=driven, rows=rows, every=every
        )

    def implicit_run(self, slaves: Mapping[str, Slave], exchange: Exchange, clock: Clock) -> ImplicitRun:
        steps = partial(self._steps, slaves)
        order = self.schedule.order
        return ImplicitRun(self.scenario, self.groups, slaves, exchange, self.wiring, self.signals, clock, order, steps)

    def drives(
        self, slaves: Mapping[str, Slave], clock: Clock, implicit: ImplicitRun | None
    ) -> tuple[list[Access], list[Block]]:
        """Set driven inputs that change, with blocks of their values."""
        leads = self.schedule.leads(self.wiring, self.descriptions, implicit.solved if implicit else ())
        made = [*drive_operations(slaves, self._changing(implicit), clock, self.schedule.ticks, leads)]
        return [access for access, _ in made], [block for _, block in made] + (implicit.blocks() if implicit else [])

    def _changing(self, implicit: ImplicitRun | None) -> list[Signal]:
        """Those that change, but for motions that are part of what is solved."""
        moved = implicit.moved if implicit else ()
        return [signal for signal in self.signals if not signal.is_constant and signal.node not in moved]

    def one_step(
        self, slaves: Mapping[str, Slave], exchange: Exchange, clock: Clock, power: ConnectionPower | None = None
    ) -> Iterator[Operation]:
        """One communication step of all slaves, without forces that are solved for."""
        for together in self.schedule.rounds():
            for name in together:
                yield from exchange.writes[name]
                if power is not None:
                    yield from power.after_writes(name)
            for name in together:
                yield from self._steps(slaves, clock, name)
            for name in together:
                yield from exchange.reads[name]

    def _steps(self, slaves: Mapping[str, Slave], clock: Clock, name: str) -> Iterator[Operation]:
        """The step of a slave, and before it what keeps its state where it has discarded one."""
        every = self.schedule.ticks[name]
        parted = None
        if name in self.parted:
            parted = self.parted[name] = PartedSteps(slaves[name])
            yield Keep(clock=clock, every=every, phase=every - 1, parted=parted)
        yield Step(clock=clock, every=every, phase=every - 1, slave=slaves[name], parted=parted)


# ---- the system, for what shows it or writes it --------------------------------------------------------------------


@dataclass(frozen=True)
class System:
    """A checked scenario with what its slaves, start values (SI, by slave and variable), drives and connections are.

    set_by_master   start values that the scenario does not give, by slave and variable: orders of calls, laws in
                    place of coupling
    recorded        what a trace of its run holds, by slave
    notes           that any run of it has"""

    scenario: CheckedScenario
    slaves: Mapping[str, SlaveDescription]
    starts: Mapping[str, Mapping[str, Start]]
    signals: Sequence[Signal]
    wiring: Wiring
    schedule: Schedule
    set_by_master: Mapping[str, Mapping[str, Start]]
    recorded: Mapping[str, Sequence[SlaveVariable]]
    notes: Sequence[str]


def system_of(scenario: CheckedScenario) -> System:
    """Raises InputError with everything that is wrong with the slaves and their connections."""
    master = Master(scenario)
    starts = start_values(scenario, master.descriptions)
    set_by_master = {
        slave: {name: value for name, value in given.items() if starts[slave].get(name) != value}
        for slave, given in master.starts.items()
    }
    return System(
        scenario,
        master.descriptions,
        starts,
        master.signals,
        master.wiring,
        master.schedule,
        set_by_master,
        master.recorded,
        master.notes(),
    )
