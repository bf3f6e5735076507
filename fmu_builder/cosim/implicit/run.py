"""The algorithms `implicit` and `adaptive` of a run: which groups are solved for, their steps, and what they report.

Slaves outside of groups, and groups that cannot be solved for, are stepped as under Gauss-Seidel, in its order; a group
takes the place of its first slave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from fmu_builder.cosim.exchange import Exchange
from fmu_builder.cosim.implicit.bonds import EXPLICIT, Group, find_groups
from fmu_builder.cosim.implicit.compiled import CompiledGroup
from fmu_builder.cosim.implicit.control import GROW, Controller
from fmu_builder.cosim.implicit.group import GroupRun
from fmu_builder.cosim.implicit.report import BondReport, GroupReport
from fmu_builder.cosim.implicit.substeps import divided, obstacle
from fmu_builder.cosim.loop.operations import Clock, Operation, Together
from fmu_builder.cosim.loop.program import Block
from fmu_builder.cosim.scenario_inputs import Signal, Start, is_in_si
from fmu_builder.cosim.slave import FATAL, Slave, SlaveDescription
from fmu_builder.errors import Problem, SlaveError, listed
from fmu_builder.model.connectable import Node
from fmu_builder.model.scenario import COUPLING_TOLERANCE, IMPLICIT, CheckedScenario
from fmu_builder.model.step_advice import MODE
from fmu_builder.model.wiring import Wiring

_SHOWN = 8  # names in a note


def groups_of(
    scenario: CheckedScenario,
    slaves: Mapping[str, SlaveDescription],
    wiring: Wiring,
    signals: Iterable[Signal],
) -> tuple[list[Group], list[Problem]]:
    """The groups of a scenario under `implicit` and `adaptive`; a problem if there are none."""
    if scenario.experiment.algorithm not in IMPLICIT:
        return [], []
    groups = find_groups(slaves, wiring, {one.node for one in signals if is_in_si(one.variable)} - {*wiring.sources})
    problems = []
    if not groups:
        what = (
            f"'{scenario.experiment.algorithm}' solves for the forces between bodies and force elements, and no port "
            "of a force element is connected to one of a body: connect them, or take gauss_seidel"
        )
        problems.append(Problem(f"{scenario.path}: [experiment] algorithm", what))
    return groups, problems


_NEGLIGIBLE = 1e-6  # share of coupling_tolerance by which forces may miss their law without a note
# coupling_tolerances by which bodies may leave their models under `adaptive`: that grows with the third power of the
# step at most.
_SMOOTHLY = GROW**3
_AS_THE_LAW = {"coupling.identify": 0.0, "coupling.m_eff": 0.0, "coupling.J_eff": 0.0}  # and nothing to warn of


def with_laws(
    groups: Sequence[Group], slaves: Mapping[str, SlaveDescription], starts: Mapping[str, Mapping[str, Start]]
) -> dict[str, dict[str, Start]]:
    """Start values with which the elements of groups that are solved for give their laws, whatever their mode was."""
    changed = {name: dict(values) for name, values in starts.items()}
    for name in (name for group in groups if not group.reasons for name in group.elements):
        variables = slaves[name].variables
        mode = variables.get(MODE)
        if mode is not None and "hold" in mode.literals:
            changed[name][MODE] = float(mode.literals["hold"])
            changed[name].update((key, value) for key, value in _AS_THE_LAW.items() if key in variables)
    return changed


class UnsolvableError(Exception):
    """Groups that cannot be solved for, as their slaves answer.   reasons: of each by its number, as Group.reasons"""

    def __init__(self, reasons: Mapping[int, Mapping[str, str]]) -> None:
        self.reasons = reasons


class ImplicitRun:
    """Steps of all slaves of an initialized run."""

    def __init__(
        self,
        scenario: CheckedScenario,
        groups: Sequence[Group],
        slaves: Mapping[str, Slave],
        exchange: Exchange,
        wiring: Wiring,
        signals: Iterable[Signal],
        clock: Clock,
        order: Sequence[str],
        steps: Callable[[Clock, str], Iterator[Operation]],
    ) -> None:
        """order   of the slaves     steps   the operations that step a slave of no group"""
        self._order, self._steps = order, steps
        self._exchange, self._groups = exchange, groups
        self._step = scenario.seconds("step")
        self._runs: list[GroupRun | None] = []
        by_node = {signal.node: signal for signal in signals}
        self._length = scenario.seconds("stop") - scenario.seconds("start")
        found: dict[int, Mapping[str, str]] = {}
        try:
            for number, group in enumerate(groups):
                run = None if group.reasons else GroupRun(group, slaves, exchange, wiring, by_node, clock)
                self._runs.append(run)
                if run is not None and (why := run.obstacle(scenario.seconds("start"), self._step, self._length)):
                    name, _, what = why.partition(" ")
                    found[number] = {name: what}
            if found:
                raise UnsolvableError(found)
        except (SlaveError, UnsolvableError):
            if all(slave.status != FATAL for slave in slaves.values()):
                self.close()
            raise
        self._tolerance = scenario.experiment.coupling_tolerance or COUPLING_TOLERANCE
        self._is_adaptive = scenario.experiment.algorithm == "adaptive"

    @property
    def solved(self) -> set[str]:
        """The slaves of the groups that are solved for."""
        return {name for run in self._runs if run is not None for name in run.group.members}

    @property
    def moved(self) -> set[Node]:
        """Inputs whose drive is part of what is solved."""
        runs = [run for run in self._runs if run is not None]
        return {signal.node for run in runs for element in run.elements for signal in element.driven.signals}

    def blocks(self) -> list[Block]:
        """Of the values of drives."""
        return [block for run in self._runs if run is not None for block in run.driven.blocks()]

    def operations(self, clock: Clock) -> Iterator[Operation]:
        """Of one communication step."""
        of = {name: run for run in self._runs if run is not None for name in run.group.members}
        begun: set[int] = set()
        for name in self._order:
            run = of.get(name)
            if run is None:
                yield from self._exchange.writes[name]
                yield from self._steps(clock, name)
                yield from self._exchange.reads[name]
            elif id(run) not in begun:
                begun.add(id(run))
                controller = Controller(run, self._tolerance, self._step, self._length) if self._is_adaptive else None
                advance = controller.advance if controller is not None else self._fixed(run)
                yield Together(clock=clock, advance=advance, compiled=CompiledGroup(run, clock, controller))

    def _fixed(self, run: GroupRun) -> Callable[[int, float], str | None]:
        is_divided = obstacle(run) is None

        def advance(tick: int, time: float) -> str | None:
            model = run.begin(tick, time, self._step)
            trial = run.solve(model, time, self._step)
            run.largest_within = max(run.largest_within, run.within(model, trial))
            return run.make(divided(run, model, trial, time) if is_divided else trial, tick, time)

        return advance

    def bonds(self) -> Iterator[BondReport]:
        """In the order of the groups, one for each port of an element at a body."""
        for group, run in zip(self._groups, self._runs, strict=True):
            for key in dict.fromkeys((b.element, b.port, b.body, b.body_port) for b in group.bonds):
                if run is None:
                    yield BondReport(*key, EXPLICIT, None)
                    continue
                body = next(b.rung for b in run.bodies if b.slave.name == key[2])
                element = next(e.rung for e in run.elements if e.slave.name == key[0])
                yield BondReport(*key, f"{body}, {element}", run.works.get(key, 0.0))

    def groups(self) -> Iterator[GroupReport]:
        """Those that were solved for."""
        for run in self._runs:
            if run is not None:
                yield run.report()

    def notes(self) -> Iterator[str]:
        """What was solved for how, with the calls it took, and what was not."""
        groups = [*self.groups()]
        if groups:
            steps = max(sum(group.steps for group in groups), 1)
            events = sum(group.events for group in groups)
            evaluations, probes, refused, substeps = (
                sum(getattr(group, key) for group in groups) / steps
                for key in ("evaluations", "probes", "refused", "substeps")
            )
            yield (
                f"forces are solved for in {steps / len(groups):.5g} steps of each slave, with {evaluations:.3g} "
                "evaluations of elements a step"
                + f" and {substeps:.3g} substeps" * (substeps > 1.0)
                + f", {probes:.3g} steps of bodies that are tried" * (probes > 0.0)
                + f", {refused:.2g} steps refused" * (refused > 0.0)
                + f"; {events} of them end at events of bodies" * (events > 0)
            )
        of_rung: dict[str, dict[str, None]] = {}
        for bond in self.bonds():
            of_rung.setdefault(bond.rung, {})[f"{bond.element}.{bond.port}"] = None
        yield from (f"{rung}: {listed(list(ports), _SHOWN)}" for rung, ports in of_rung.items())
        for group, run in zip(self._groups, self._runs, strict=True):
            elements = listed(group.elements, _SHOWN)
            if run is None:
                why = "; ".join(f"{name} {what}" for name, what in group.reasons.items())
                yield f"{elements}: stepped as under Gauss-Seidel, since {why}"
                continue
            for element in run.elements:
                if element.lags:
                    yield f"{element.slave.name}: cannot restore its states, so these lag by a step in its force"
            found = run.report()
            if not self._is_adaptive and (why_whole := obstacle(run)):
                yield f"{elements}: solved for over whole steps, since {why_whole}"
            allowed = self._tolerance * (_SMOOTHLY if self._is_adaptive else max(found.speed, 1.0))
            if found.drift > allowed:
                turning = [body.slave.name for body in run.bodies if body.drift > allowed]
                why = "something inside them changes them at once: take smaller steps"
                if not self._is_adaptive:
                    why = f"in {self._step:g} s they turn or bend too far: take smaller steps, or adaptive"
                yield (
                    f"{listed(turning, _SHOWN)}: after a step, velocities differ by up to {found.drift:.2g} m/s "
                    f"or rad/s from those that forces were solved for; {why}"
                )
            for element in run.elements:
                if passed := element.counts.passed:
                    yield (
                        f"{element.slave.name}: {passed} contact{'s' * (passed > 1)} began and ended within a step, "
                        "where no force was solved for, and moved no body: take smaller steps"
                    )
            missed = [name for one in run.elements for name in one.missed(self._tolerance, self._step)]
            if missed and self._is_adaptive:
                yield (
                    f"{listed(missed, 3)}: driven, and taken for a cubic within each communication step, which misses "
                    "the drive by more than coupling_tolerance: take shorter ones"
                )
            if found.within > self._tolerance:
                yield (
                    f"{elements}: forces that come and go within a step of {self._step:g} s change velocities by up to "
                    f"{found.within:.2g} m/s or rad/s, with the right impulse alone: take smaller steps, or adaptive"
                )
            if found.unsolved and found.largest_miss > _NEGLIGIBLE * self._tolerance:
                yield (
                    f"{elements}: forces of {found.unsolved} of {found.steps} steps were not solved for, and miss "
                    f"their law by up to {found.largest_miss:.2g} m/s or rad/s: take smaller steps"
                )

    def close(self) -> None:
        for run in self._runs:
            if run is not None:
                run.close()
