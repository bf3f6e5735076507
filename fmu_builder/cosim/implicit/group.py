"""One group: it solves for the forces of all its elements over a step together, and then steps each slave once.

The forces follow from the affine models of its bodies: bodies.py, forces.py, iqn.py."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.exchange import Exchange
from fmu_builder.cosim.implicit.arithmetic import dot
from fmu_builder.cosim.implicit.bodies import Body
from fmu_builder.cosim.implicit.bonds import IMPULSE, Group
from fmu_builder.cosim.implicit.driven import DrivenRows
from fmu_builder.cosim.implicit.elements import MOST_TRIED, Element, do_step
from fmu_builder.cosim.implicit.forces import End, StepForce
from fmu_builder.cosim.implicit.iqn import solve
from fmu_builder.cosim.implicit.report import GroupReport
from fmu_builder.cosim.loop.operations import Call, Clock, Term
from fmu_builder.cosim.scenario_inputs import Signal
from fmu_builder.cosim.slave import Slave
from fmu_builder.errors import Problem, SlaveError
from fmu_builder.model.connectable import Node
from fmu_builder.model.wiring import Wiring

Vector = NDArray[np.float64]
Key = tuple[str, str, str, str]
ACCURACY, ENOUGH = 1e-10, 1e-8  # of the velocities that the forces cause, relative to the largest of the step


class Model:
    """Bodies between two communication points: V1 = V0 + H (a + W f).   Shapes (n,), (n,), (n, n)

    inertia   finds W when a force needs it     parts   rows of each body, between which W is 0
    driven    V1 of the last rows, at a share of the communication step
    elapsed   s, from its beginning to that of the model"""

    def __init__(
        self,
        velocity: Vector,
        a: Vector,
        inertia: Callable[[], Vector],
        parts: Sequence[slice],
        driven: Callable[[float], Vector],
        elapsed: float,
        length: float,
    ) -> None:
        """length: s, of the communication step"""
        self.velocity, self.a, self.parts, self.elapsed = velocity, a, parts, elapsed
        self._inertia, self._driven, self._length = inertia, driven, length

    @functools.cached_property
    def inverse_inertia(self) -> Vector:
        """W"""
        return self._inertia()

    def moved(self, force: Vector) -> Vector:
        """W f"""
        found = np.zeros_like(force)
        for rows in self.parts if force.any() else ():
            found[rows] = [dot(row, force[rows]) for row in self.inverse_inertia[rows, rows]]
        return found

    def motion(self, force: Vector, step: float) -> Vector:
        """Velocities at both ends of a step, and the way in it, shape (3, n)."""
        next_ = self.velocity + step * (self.a + self.moved(force))
        driven = self._driven(self.share(step))
        next_[len(next_) - len(driven) :] = driven
        return np.array([self.velocity, next_, step * (self.velocity + next_) / 2.0])

    def share(self, step: float) -> float:
        """Of the communication step that is over after a step."""
        return (self.elapsed + step) / self._length

    def later(self, velocity: Vector, step: float) -> Model:
        """The model a step later, where the velocities are these."""
        elapsed = self.elapsed + step
        return Model(velocity, self.a, lambda: self.inverse_inertia, self.parts, self._driven, elapsed, self._length)


@dataclass(frozen=True)
class Trial:
    """Forces of a step that is not yet made.

    force      on the rows of the bodies, the mean of the step, shape (n,)     slope: of force, 1/s; None: it is held
    motion     of the rows: Model.motion
    unsolved   velocity by which the forces miss their law, m/s or rad/s, 0 if they are solved for
    last       forces of its last substep     works: of each element, J, by its bonds
    substeps   into which the step is divided     paths: of each element, its motion at the end of each of them"""

    step: float
    force: Vector
    motion: Vector
    answers: tuple[tuple[StepForce, End], ...]
    unsolved: float
    last: Vector
    works: tuple[Vector, ...]
    slope: Vector | None = None
    substeps: int = 1
    paths: tuple[tuple[Vector, ...], ...] | None = None


class GroupRun:
    def __init__(
        self,
        group: Group,
        slaves: Mapping[str, Slave],
        exchange: Exchange,
        wiring: Wiring,
        signals: Mapping[Node, Signal],
        clock: Clock,
    ) -> None:
        """signals   of [drive]"""
        self.group = group
        self.writes = {name: exchange.writes[name] for name in group.members}
        self.reads = {name: exchange.reads[name] for name in group.members}
        self._writes = {name: [one.call() for one in ones] for name, ones in self.writes.items()}
        self._reads = {name: [one.call() for one in ones] for name, ones in self.reads.items()}
        forces: dict[tuple[str, str], str | None] = {(b.body, b.body_velocity): b.body_force for b in group.bonds}
        for place in group.places:
            for name in place.velocities:
                forces.setdefault((place.body, name), None)
        rows = sorted(forces, key=lambda row: group.bodies.index(row[0]))
        driven = [(b.body, b.body_velocity) for b in group.driven]
        self._row_of = {row: k for k, row in enumerate([*rows, *driven])}
        self.size = len(self._row_of)
        self.bodies: list[Body] = []
        self.elements: list[Element] = []
        self.parts: list[slice] = []
        for name in group.bodies:
            own = [row for row in rows if row[0] == name]
            first = self._row_of[own[0]]
            self.parts.append(slice(first, first + len(own)))
            read = {output for sources in wiring.sources.values() for slave, output in sources if slave == name}
            self.bodies.append(Body(slaves[name], [v for _, v in own], [forces[row] for row in own], sorted(read)))
        for name in group.elements:
            bonds = [b for b in [*group.bonds, *group.driven] if b.element == name]
            places = [p for p in group.places if p.element == name]
            given = [variable for element, variable in group.driven_places if element == name]
            self.elements.append(Element(slaves[name], bonds, places, given, self._row_of, signals))
        inputs = [element.driven for element in self.elements]
        self.driven = DrivenRows([signals[row] for row in driven], inputs, clock)
        self.others = self._other_sources(forces, exchange, wiring)
        self.last = self.summed([element.start.force for element in self.elements])
        self.refused = self.events = self.substeps = 0
        self.looks_ahead = any(body.step_to_event is not None for body in self.bodies)
        self.works: dict[Key, float] = {}  # J, by element, port, body and its port
        self.steps = self.unsolved = 0
        self.largest_miss = self.largest_within = self.largest_speed = 0.0
        self.drift = 0.0  # of the last step: of the bodies from their model, m/s or rad/s

    def obstacle(self, time: float, step: float, length: float) -> str | None:
        """Why the group cannot be solved for, as its slaves answer steps from the start of a run of this length, s."""
        may_try = length > (MOST_TRIED - 0.5) * step
        for body in self.bodies:
            if not body.can_be_solved():
                return f"{body.slave.name} refuses directional derivatives and cannot restore its state"
            if may_try and body.is_changed_by_trials(time, step):
                return f"{body.slave.name} moves in another way after a trial"
        for element in self.elements:
            if (may_try or element.kept is None) and element.is_changed_by_trials(time, step):
                return f"{element.slave.name} answers the same motion in another way after a trial"
        return None

    def _other_sources(
        self, forces: Mapping[tuple[str, str], str | None], exchange: Exchange, wiring: Wiring
    ) -> list[tuple[int, Term]]:
        """Row and value of forces on the bodies that come from outside the group."""
        inside = {(b.element, b.force) for b in self.group.bonds}
        return [
            (self._row_of[row], exchange.converted(source, wiring.conversions.get((source, (row[0], force)))))
            for row, force in forces.items()
            if force is not None
            for source in wiring.sources.get((row[0], force), ())
            if source not in inside
        ]

    def _exchanged(self, calls: Mapping[str, Sequence[Call]], name: str, tick: int) -> None:
        for call in calls[name]:
            call(tick)

    def begin(self, tick: int, time: float, step: float, elapsed: float = 0.0) -> Model:
        """Set the inputs of the step, and find the models of the bodies and the state of the elements.

        elapsed   s, since the communication step began"""
        for name in self.group.members:
            self._exchanged(self._writes, name, tick)
        other = np.zeros(self.size)
        for row, one in self.others:
            other[row] += one.factor * one.memory[one.place] + one.offset
        self._other = other
        velocity, a = np.zeros(self.size), np.zeros(self.size)
        for body, rows in zip(self.bodies, self.parts, strict=True):
            a[rows] = body.acceleration(time, step, other[rows])
            velocity[rows] = body.velocity.get()
        length = self.driven.clock.step

        def driven(share: float) -> Vector:
            return self.driven.at(tick, share)

        velocity[self.size - self.driven.size :] = driven(elapsed / length)
        for element in self.elements:
            element.begin(tick, elapsed == 0.0)

        def inertia() -> Vector:
            W = np.zeros((self.size, self.size))
            for body, rows in zip(self.bodies, self.parts, strict=True):
                W[rows, rows] = body.inverse_inertia(time, step)
            return W

        return Model(velocity, a, inertia, self.parts, driven, elapsed, length)

    def take_time(self, model: Model, time: float, step: float) -> None:
        """Give bodies that follow the time alone the a of a step of another length than that of `begin`."""
        for body, rows in zip(self.bodies, self.parts, strict=True):
            if body.is_timed:
                model.a[rows] = body.acceleration(time, step, self._other[rows])

    def solve(self, model: Model, time: float, step: float, accuracy: float = ACCURACY) -> Trial:
        """Forces over a step of this length; nothing is stepped.   Raises SlaveError where none are finite.

        accuracy   of the velocities that they cause, relative to the largest one of the step"""

        tried: tuple[tuple[StepForce, End], ...] = ()
        answers = tried  # at the forces that are best so far

        def answered(force: Vector) -> Vector:
            nonlocal tried
            motion = model.motion(force, step)
            tried = tuple(element.try_step(motion, time, step, model.share(step)) for element in self.elements)
            return self.summed([answer.force for answer, _ in tried])

        def keep() -> None:
            nonlocal answers
            answers = tried

        free = model.motion(np.zeros(self.size), step)
        if not self.last.any() and not answered(self.last).any():  # in free flight
            return self._trial(step, self.last, free, tried, 0.0)
        scale = step * np.abs(model.inverse_inertia).max(axis=0, initial=0.0)
        largest = max(float(np.abs(free[:2]).max(initial=0.0)), float((scale * np.abs(self.last)).max(initial=0.0)))
        solution = solve(answered, self.last, scale, accuracy * largest, ENOUGH * largest, keep)
        if not np.isfinite(solution.residual):
            raise self.not_finite(time, step)
        force = np.where(scale > 0.0, solution.x, solution.value)  # without a scale it moves nothing
        motion = model.motion(force, step)
        return self._trial(step, force, motion, answers, 0.0 if solution.solved else solution.residual)

    def _trial(
        self,
        step: float,
        force: Vector,
        motion: Vector,
        answers: tuple[tuple[StepForce, End], ...],
        unsolved: float,
    ) -> Trial:
        works = tuple(a.force * motion[2][e.rows] for e, (a, _) in zip(self.elements, answers, strict=True))
        return Trial(step, force, motion, answers, unsolved, force, works)

    def not_finite(self, time: float, step: float) -> SlaveError:
        names = ", ".join(self.group.elements)
        what = (
            f"the forces of {names} have no finite value at the end of a step of {step:g} s from {time:g} s: "
            "take smaller steps, or algorithm = 'gauss_seidel'"
        )
        return SlaveError(Problem(self.group.elements[0], what))

    def look_ahead(self, trial: Trial, time: float) -> tuple[float, float]:
        """Of the bodies that show events: the time of the first one in the step, infinite without one, and how far
        their velocities leave the affine model, m/s or rad/s.  Their states are then as before."""
        step, first, drift = trial.step, float("inf"), 0.0
        for body, rows in zip(self.bodies, self.parts, strict=True):
            if body.step_to_event is None:
                continue
            end, velocity = body.looked_ahead(time, step, trial.force[rows] + self._other[rows])
            if end < time + step:
                first = min(first, end)
            else:
                drift = max(drift, float(np.abs(velocity - trial.motion[1][rows]).max(initial=0.0)))
        return first, drift

    def summed(self, forces: Sequence[Vector]) -> Vector:
        """Forces of the elements on the rows of the bodies."""
        total = np.zeros(self.size)
        for element, force in zip(self.elements, forces, strict=True):
            np.add.at(total, element.rows, force)
        return total

    def within(self, model: Model, trial: Trial) -> float:
        """Velocity, m/s or rad/s, that forces make in the trial which come and go within it."""
        hidden = np.zeros(self.size)
        for element, (answer, end) in zip(self.elements, trial.answers, strict=True):
            if element.rung == IMPULSE and not element.start.force.any() and not end.force.any():
                np.add.at(hidden, element.rows, answer.force)
        return trial.step * float(np.abs(model.moved(hidden)).max(initial=0.0))

    def make(self, trial: Trial, tick: int, time: float) -> str | None:
        """The true step of every slave of the group; a note if one of them ended the simulation."""
        step, drift = trial.step, 0.0
        for body, rows in zip(self.bodies, self.parts, strict=True):
            force = trial.force[rows] + self._other[rows]
            body.act(force, step, None if trial.slope is None else trial.slope[rows])
            note = do_step(body.slave, time, step)
            if note:
                return note
            if trial.slope is not None:
                body.show(force)
            self._exchanged(self._reads, body.slave.name, tick)
            velocity = body.velocity.get()
            off = float(np.abs(velocity - trial.motion[1][rows]).max(initial=0.0))
            drift = max(drift, off)
            if trial.force[rows].any():
                body.drift = max(body.drift, off)
            self.largest_speed = max(self.largest_speed, float(np.abs(velocity).max(initial=0.0)))
        self.drift = drift
        paths = trial.paths or ((),) * len(self.elements)
        for element, (answer, end), works, path in zip(self.elements, trial.answers, trial.works, paths, strict=True):
            self._exchanged(self._writes, element.slave.name, tick)
            note = element.step(time, step, path, end)
            if note:
                return note
            self._exchanged(self._reads, element.slave.name, tick)
            forces = (element.start.force, answer.force, end.force, works)
            element.counts.step(any(force.any() for force in forces), self.largest_speed)
            element.debt = answer.debt
            for bond, work in zip(element.bonds, works.tolist(), strict=True):
                key = (bond.element, bond.port, bond.body, bond.body_port)
                self.works[key] = self.works.get(key, 0.0) + work
        self.last = trial.last
        self.steps += 1
        self.substeps += trial.substeps
        self.unsolved += trial.unsolved > 0.0
        self.largest_miss = max(self.largest_miss, trial.unsolved)
        return None

    def bonds(self) -> list[Key]:
        """Ports of elements at bodies, as often as they have components, in the order of the elements."""
        return [(b.element, b.port, b.body, b.body_port) for element in self.elements for b in element.bonds]

    def report(self) -> GroupReport:
        return GroupReport(
            elements=tuple(self.group.elements),
            bodies=tuple(self.group.bodies),
            steps=self.steps,
            substeps=self.substeps,
            evaluations=sum(element.evaluations for element in self.elements),
            probes=sum(body.probes for body in self.bodies),
            refused=self.refused,
            events=self.events,
            unsolved=self.unsolved,
            largest_miss=self.largest_miss,
            within=self.largest_within,
            drift=max((body.drift for body in self.bodies), default=0.0),
            speed=self.largest_speed,
        )

    def close(self) -> None:
        for body in self.bodies:
            body.close()
        for element in self.elements:
            element.close()
