"""Force elements of a group: what they answer to a motion that is tried, and their true step.

A value that is set and one that is got are a trial if the force follows from inputs alone.  Where it follows from
states too, as of a bristle, the trial is a step whose state is restored.  In a step the inputs go linearly from the
motion at its beginning to that at its end, where the FMU can interpolate; else they have their mean.  One of
fmu-builder makes the step in as many
parts as the solution has substeps, so that its energies, and the times of its contacts, are of that motion: along a
straight line a force that changes within the step would do another work."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.discarded_steps import end_of, ended_in_trial, not_made
from fmu_builder.cosim.implicit.arithmetic import dot, turned
from fmu_builder.cosim.implicit.bodies import Values
from fmu_builder.cosim.implicit.bonds import (
    GRADIENT,
    IMPULSE,
    MIDPOINT,
    TRAPEZOID,
    Bond,
    Place,
    has_inner_state,
    impulse_of,
)
from fmu_builder.cosim.implicit.counts import Counts
from fmu_builder.cosim.implicit.driven import DrivenInputs
from fmu_builder.cosim.implicit.forces import End, Gradient, StepForce, mean_of_impulse, seen, trapezoid
from fmu_builder.cosim.kept_state import NOISE, Kept, is_same
from fmu_builder.cosim.scenario_inputs import Signal
from fmu_builder.cosim.slave import DISCARD, Slave
from fmu_builder.model.connectable import Node

Vector = NDArray[np.float64]
MOST_TRIED = 3  # steps in a row
_FASTER = 1e-3  # m/s or rad/s: by how much the motions of trials differ that show what an FMU remembers
_STORED = re.compile(r"(?:.*\.)?energy\.elastic(?:\[\d+\])?")


class Element:
    """A force element.

    rows     the row of velocities that each of its bonds meets, shape (n,)
    driven   its inputs that [drive] moves"""

    def __init__(
        self,
        slave: Slave,
        bonds: Sequence[Bond],
        places: Sequence[Place],
        given: Sequence[str],
        row_of: Mapping[tuple[str, str], int],
        signals: Mapping[Node, Signal],
    ) -> None:
        """given: inputs of positions that [drive] gives"""
        variables = slave.description.variables
        self.slave, self.bonds = slave, tuple(bonds)
        self.rows = np.array([row_of[b.body, b.body_velocity] for b in bonds], dtype=np.intp)
        names = [b.velocity for b in bonds] + [name for place in places for name in place.names] + [*given]
        moved = {*given} | {b.velocity for b in bonds if b.body == slave.name}
        self.inputs = Values(slave, [variables[n].reference for n in names])
        self.places = [np.array([row_of[p.body, v] for v in p.velocities], dtype=np.intp) for p in places]
        stored = [v for v in variables.values() if v.type == "Real" and _STORED.fullmatch(v.name)]
        self.answer = Values(slave, [*(variables[b.force].reference for b in bonds), *(v.reference for v in stored)])
        self.driven = DrivenInputs.of(slave.name, names, moved, signals)
        self._tick = 0
        self.size = len(bonds)
        self._ones = np.ones(len(stored))
        inner = has_inner_state(slave.description, [b.force for b in bonds])
        self.kept = Kept(slave) if inner and slave.description.can_restore else None
        self.rung = TRAPEZOID if inner or not stored else GRADIENT
        impulses = [impulse_of(b) for b in bonds] if self.kept is not None else []
        if impulses and all(name in variables for name in impulses):
            self.rung = IMPULSE
        self.impulse = Values(slave, [variables[n].reference for n in impulses] if self.rung == IMPULSE else [])
        self.pushed: Vector = np.zeros(self.impulse.size)  # impulse at the beginning of the step
        self.lags = inner and self.kept is None
        self.follows = slave.description.ours and slave.description.interpolates  # the substeps, in its true step
        forces = np.array([b.unit == "N" for b in bonds], dtype=float)
        self.gradient = Gradient(forces if forces.any() else np.ones(self.size))
        self.debt = 0.0
        self.counts = Counts(slave)
        self.evaluations = 0
        self.start = self._seen_now()

    def _look(self, place: Vector, velocity: Vector) -> tuple[Vector, float]:
        self.inputs.set(np.concatenate([velocity, place]))
        return self._answered()

    def _answered(self) -> tuple[Vector, float]:
        self.evaluations += 1
        answer = self.answer.get()
        return answer[: self.size].copy(), dot(answer[self.size :], self._ones)

    def _seen_now(self) -> End:
        motion = self.inputs.get().copy()
        velocity, place = motion[: self.size], motion[self.size :]
        if self.rung == GRADIENT:
            end = seen(self._look, place, velocity)
        else:
            force, energy = self._answered()
            end = End(place, velocity, force, force, energy)
        return end

    def is_changed_by_trials(self, time: float, step: float) -> bool:
        """Whether an FMU of others answers the same motion in another way after a trial: its state is not all that it
        remembers, or it integrates, counts or filters where values are set and got."""
        if self.slave.description.ours:
            return False
        if self.kept is not None:
            return self._is_changed_by_steps(time, step, self.kept)
        before = self.answer.get().copy()
        self._look(self.start.place, self.start.velocity + 1.0)
        self.inputs.set(np.concatenate([self.start.velocity, self.start.place]))
        return not np.array_equal(self.answer.get(), before)

    def _is_changed_by_steps(self, time: float, step: float, kept: Kept) -> bool:
        """Likewise, of steps that are taken back; and finds whether the force is that of the inputs of the last one."""
        is_number = np.array([len(rows) == 1 for rows in self.places for _ in range(4 if len(rows) == 3 else 1)], bool)
        motions = []
        for k in (1.0, 2.0):
            motion = self._begun
            motion[: self.size] += k * _FASTER
            motion[self.size :][is_number] += k * _FASTER * step
            motions.append(motion)
        motions.append(motions[1])
        sets = [functools.partial(self.inputs.set, motion) for motion in motions]
        before = self.answer.get().copy()
        one, other = (kept.shown_after(sets, time, step, self.answer.get) for _ in range(2))
        self.inputs.set(motions[0])
        follows_sets = not np.array_equal(self.answer.get(), before, equal_nan=True)
        kept.restore()
        if one is None or other is None:
            return False
        forces = one[:, : self.size]
        change = np.abs(forces[1] - forces[0])
        is_of_inputs = change.any() and np.all(np.abs(forces[2] - forces[1]) <= NOISE * change)
        if is_of_inputs and not follows_sets and self.rung == TRAPEZOID:
            self.rung = MIDPOINT  # with the mean inputs of a step
        return not is_same(one, other)

    def missed(self, tolerance: float, step: float) -> list[str]:
        """Driven inputs that a cubic within the communication step missed by more than this velocity, m/s or rad/s, or
        by its way in the step."""
        allowed = np.where(self.driven.places < self.size, tolerance, tolerance * step)
        found = zip(self.driven.signals, self.driven.missed > allowed, strict=True)
        return [".".join(signal.node) for signal, is_missed in found if is_missed]

    def begin(self, tick: int, is_first: bool) -> None:
        """At the beginning of a step, after its inputs are set.   is_first: in the communication step"""
        self._tick = tick
        if is_first and self.driven.signals:
            motion = self.inputs.get().copy()
            motion[self.driven.places] = self.driven.at(tick, 0.0)
            self.inputs.set(motion)
        self.start = self._seen_now()
        self.counts.begin(bool(self.start.force.any()))
        self.pushed = self.impulse.get().copy()
        if self.kept is not None:
            self.kept.keep()

    def moved(self, motion: Vector, share: float) -> tuple[Vector, Vector]:
        """Place and velocities at the end of a step with this motion of all rows of the group, Model.motion, after this
        share of the communication step."""
        place, at = self.start.place.copy(), 0
        way = motion[2]
        for rows in self.places:
            if len(rows) == 3:
                place[at : at + 4] = turned(place[at : at + 4], way[rows])
                at += 4
            else:
                place[at] += way[rows[0]]
                at += 1
        speed = motion[1][self.rows]
        if self.driven.signals:
            both = np.concatenate([speed, place])
            both[self.driven.places] = self.driven.at(self._tick, share)
            speed, place = both[: self.size], both[self.size :]
        return place, speed

    def try_step(self, motion: Vector, time: float, step: float, share: float) -> tuple[StepForce, End]:
        """The force over a step with this motion of all rows, and what the element shows at its end."""
        place, speed = self.moved(motion, share)
        if self.rung == GRADIENT:
            end = seen(self._look, place, speed)
            return self.gradient.force(self._look, self.start, end, step, self.debt), end
        if self.kept is not None:
            self.kept.restore()
            if note := self._do_step(self._begun, np.concatenate([speed, place]), time, step, 0):
                raise ended_in_trial(self.slave, note)
        after = self.impulse.get().copy()
        force, energy = self._look(place, speed)
        end = End(place, speed, force, force, energy)
        if self.kept is not None:
            self.kept.restore()
        if self.rung == IMPULSE:
            return mean_of_impulse(self.pushed, after, step), end
        if self.rung == MIDPOINT:
            return StepForce(force, 0.0), end
        return trapezoid(self.start, end), end

    def step(self, time: float, step: float, path: Sequence[Vector], tried: End) -> str | None:
        """The true step, to the motion that the inputs have now; a note if the FMU ended the simulation.

        path    the motions at the ends of the substeps, which differ from the true one by their drift in the last
        tried   where driven inputs go"""
        end = self.inputs.get().copy()
        places = self.driven.places
        end[places] = np.concatenate([tried.velocity, tried.place])[places]
        count = len(path) if self.follows and path else 1
        start, length = self._begun, step / count
        for k in range(count):
            to = path[k] + (end - path[-1]) * ((k + 1) / count) if k + 1 < count else end
            self.inputs.set(start)
            if note := self._do_step(start, to, time + k * length, length, 1):
                break
            start = to
        self.inputs.set(end)
        return note

    @property
    def _begun(self) -> Vector:
        return np.concatenate([self.start.velocity, self.start.place])

    def _do_step(self, start: Vector, end: Vector, time: float, step: float, for_good: int) -> str | None:
        if self.slave.description.interpolates:
            self.inputs.set_slopes((end - start) / step)
        else:
            self.inputs.set((start + end) / 2.0)
        return do_step(self.slave, time, step, for_good)

    def close(self) -> None:
        if self.kept is not None:
            self.kept.free()


def do_step(slave: Slave, time: float, step: float, for_good: int = 1) -> str | None:
    """A step of one slave; a note if it ended the simulation.  Raises SlaveError on everything worse."""
    status = slave.dll.fmi2DoStep(slave.component, time, step, for_good)
    return step_ended(slave, status, time, step) if status else None


def step_ended(slave: Slave, status: int, time: float, step: float) -> str | None:
    """As `do_step`, of a step that answered this status."""
    if status == DISCARD:
        slave.status = DISCARD
        if note := end_of(slave, time):
            return note
        raise not_made(slave, time, step)
    if note := slave.interrupted(time):
        return note
    slave.check(status, "fmi2DoStep", f"step of {step:g} s from {time:g} s")
    return None
