"""A system that runs many times with other start values: its slaves are loaded once, and reset before each run.

A run is that of the master to the bit: the same initialization, operations and record of contacts.  What takes longer
than a short run itself is done once (files, connections, the operations of the loop), and notes are left out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.contact_record import ContactRecord
from fmu_builder.cosim.discarded_steps import DiscardedStepError
from fmu_builder.cosim.events import ContactEvent
from fmu_builder.cosim.exchange import Exchange
from fmu_builder.cosim.implicit.run import ImplicitRun, UnsolvableError
from fmu_builder.cosim.initialization import Initialization
from fmu_builder.cosim.loop.operations import Clock
from fmu_builder.cosim.loop.program import Block, Loop, loop_of, run_ticks
from fmu_builder.cosim.master import Master
from fmu_builder.cosim.recorder import Recorder
from fmu_builder.cosim.scenario_inputs import Start
from fmu_builder.cosim.sensitivities import Sensitivities
from fmu_builder.cosim.slave import FATAL, OK, WARNING, Slave
from fmu_builder.model.scenario import CheckedScenario


@dataclass(frozen=True)
class Outcome:
    """A run that has ended.

    time       shape (n,), s
    values     shape (n, number of signals), in memory that the next run writes to
    contacts   with `with_contacts`
    counts     contacts begun at each place
    ended      why it ended before its stop time; empty if it did not
    timed_out  whether that was its limit of time
    slopes     derivatives of the signals by what is followed, shape (n, number of signals, number of start values), in
               memory that the next run writes to; None where nothing is followed"""

    time: NDArray[np.float64]
    values: NDArray[np.float64]
    contacts: Sequence[ContactEvent]
    counts: Mapping[str, float]
    ended: str
    timed_out: bool
    slopes: NDArray[np.float64] | None = None


@dataclass
class _Prepared:
    """What runs with other start values share."""

    clock: Clock
    exchange: Exchange
    recorder: Recorder
    record: ContactRecord
    blocks: list[Block]
    loop: Loop | None  # None where forces are solved for: it is made for each run
    sensitivities: Sensitivities | None


class RepeatedRun:
    """The runs of one scenario.

    with_contacts   whether contacts are recorded
    followed        start values of the only slave by which all signals, Reals, are differentiated
    Raises InputError with everything that is wrong with the scenario, SlaveError if an FMU does not load."""

    def __init__(self, scenario: CheckedScenario, with_contacts: bool, followed: Sequence[str] = ()) -> None:
        self._scenario, self._with_contacts, self._followed = scenario, with_contacts, tuple(followed)
        self._master = Master(scenario)
        self._slaves: dict[str, Slave] = {}
        self._starts: dict[str, dict[str, Start]] = {}  # of the run
        master = self._master
        self._initialization = Initialization(
            scenario, master.descriptions, self._starts, master.signals, master.wiring
        )
        self._fresh = True
        self._deadline: float | None = None
        self._timed_out = False
        self._running: Loop | None = None
        start, stop, step = scenario.seconds("start"), scenario.seconds("stop"), scenario.seconds("step")
        self._count, self._every = round((stop - start) / step), round(scenario.seconds("output_step") / step)
        self._clock = Clock(start, step)
        self._prepared: _Prepared | None = None
        self._load()

    @property
    def signals(self) -> Mapping[str, str]:
        """The units of the columns of `values`, by signal."""
        return self._ready().recorder.units

    @property
    def places(self) -> tuple[str, ...]:
        """Where contacts are recorded."""
        return self._ready().record.places

    def run(self, starts: Mapping[str, Mapping[str, Start]], limit: float | None = None) -> Outcome:
        """The run with these start values, SI, by slave and variable, besides those of the scenario.

        limit   s, after which the run ends with a note; `pause` has to be called from another thread until then
        Raises InputError for values that an FMU refuses, SlaveError if one fails."""
        while True:
            try:
                return self._run(starts, limit)
            except DiscardedStepError as error:
                self._master.parted[error.slave] = None
                self._prepared = None  # its states are kept in all further runs
            except UnsolvableError as error:
                self._master.leave(error)

    def _run(self, starts: Mapping[str, Mapping[str, Start]], limit: float | None) -> Outcome:
        self._reset()
        self._fresh = False
        self._deadline = None if limit is None else time.monotonic() + limit
        master, slaves, clock, ready = self._master, self._slaves, self._clock, self._ready()
        for name, given in master.starts.items():
            self._starts[name] = {**given, **starts.get(name, {})}
        follow = ready.sensitivities
        self._initialization.run(slaves, clock.start, clock.at(self._count), follow.follow if follow else None)
        ready.exchange.check(clock.start)
        ready.recorder.record_start()
        if follow:
            follow.record_start(clock.start)
        if self._with_contacts:
            ready.record.start(clock.start)
        implicit: ImplicitRun | None = None
        try:
            loop = ready.loop
            if loop is None:
                implicit = master.implicit_run(slaves, ready.exchange, ready.clock)
                loop = self._loop_of(ready, implicit)
            self._running = loop
            ticks, ended = run_ticks(loop, ready.blocks, self._count, self._between)
        finally:
            self._running = None
            if implicit is not None and all(slave.status != FATAL for slave in slaves.values()):
                implicit.close()
        ready.recorder.recorded(ticks // self._every + 1)
        contacts, counts = ready.record.finished() if self._with_contacts else ([], {})
        times, values = ready.recorder.rows()
        slopes = follow.values[: len(times)] if follow else None
        return Outcome(times, values, contacts, counts, ended, self._timed_out, slopes)

    def pause(self) -> None:
        """Look at the time limit, from any thread."""
        loop = self._running
        if loop is not None:
            loop.pause()

    def close(self) -> None:
        """Free all instances."""
        free = all(slave.status != FATAL for slave in self._slaves.values())
        self._master.forget_states(free)
        for slave in self._slaves.values():
            slave.close(free)
        self._slaves, self._prepared = {}, None

    def _between(self, tick: int) -> str | None:
        self._timed_out = self._deadline is not None and time.monotonic() > self._deadline
        if self._timed_out:
            return f"the time limit of the run is over at {self._clock.at(tick):g} s"
        return None

    def _load(self) -> None:
        """All slaves, or none: the next run then tries again."""
        try:
            for name, description in self._master.descriptions.items():
                self._slaves[name] = self._master.load(name, description)
        except BaseException:
            self.close()
            raise
        self._fresh = True
        self._prepared = None

    def _reset(self) -> None:
        """Slaves as they were instantiated: loaded again where one cannot be reset."""
        if self._fresh:
            return
        slaves = self._slaves.values()
        ended = any(slave.status == FATAL or slave.has_crashed for slave in slaves)  # no call may follow on any slave
        if ended or not slaves or not all(self._is_reset(slave) for slave in slaves):
            self.close()
            self._load()

    @staticmethod
    def _is_reset(slave: Slave) -> bool:
        slave.log.clear()
        slave.status = slave.dll.fmi2Reset(slave.component)
        return slave.status in (OK, WARNING)

    def _ready(self) -> _Prepared:
        if self._prepared is None:
            master, slaves, clock = self._master, self._slaves, self._clock
            exchange = Exchange(slaves, master.wiring, clock, master.schedule)
            rows = clock.start + np.arange(0, self._count + 1, self._every, dtype=np.float64) * clock.step
            recorder = Recorder(slaves, master.recorded, rows)
            ahead = master.schedule.ahead(master.wiring, master.descriptions)
            record = ContactRecord(slaves, clock, master.schedule.ticks, ahead)
            follow = None
            if self._followed:
                (slave,) = slaves.values()
                starts = [slave.description.variables[name] for name in self._followed]
                follow = Sensitivities(slave, master.recorded[slave.name], starts, len(rows))
            self._prepared = ready = _Prepared(clock, exchange, recorder, record, [], None, follow)
            if not master.groups:
                ready.loop = self._loop_of(ready, None)
        return self._prepared

    def _loop_of(self, ready: _Prepared, implicit: ImplicitRun | None) -> Loop:
        master, clock = self._master, ready.clock
        drives, blocks = master.drives(self._slaves, clock, implicit)
        stepped = implicit.operations(clock) if implicit else master.one_step(self._slaves, ready.exchange, clock)
        operations = [
            *drives,
            *stepped,
            *(ready.record.operations() if self._with_contacts else ()),
            *ready.recorder.operations(clock, self._every),
            *(ready.sensitivities.operation(clock, self._every) if ready.sensitivities else ()),
        ]
        ready.blocks = [*blocks, *(ready.record.blocks() if self._with_contacts else ())]
        return loop_of(operations, clock)[0]
