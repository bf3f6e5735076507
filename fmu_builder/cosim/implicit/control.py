"""`adaptive`: the steps of a group within a communication step, chosen by their error and tried on the affine model.

Error of a trial, m/s or rad/s, the largest over the bodies' rows:

    (i)   |H W (f - (F0 + F1)/2)|    F0, F1: forces of the elements at both ends.  Sees entry, exit, losses, stiffening;
                                     exactly zero for linear springs
    (ii)  |H W F''| H^2/12           the trapezoid's own, with F'' from both ends and the end of the step before; in the
                                     first step from the end of one of half its length

(ii) makes phase, which adds up in a lasting motion: it counts once for each step of this length since forces began, at
most a hundred times.  A step is refused if the error exceeds the tolerance, or the forces are not solved for.  The next
one is .9 (tolerance/error)^.4 times as long, at least .2, at most twice.  A refusal costs evaluations only.
Where bodies leave their affine model by more than the tolerance, the next step is shorter likewise; so that the first
one is no longer than that allows, the run begins with 1/64 of a communication step.

Bodies whose FMUs show events (FMI 3.0, early return) make the step once more before, with their states restored: it
ends at the first event of them, and is refused if a velocity leaves the affine model by more than the tolerance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.implicit.arithmetic import power_of_two_fifths
from fmu_builder.cosim.implicit.group import GroupRun, Model, Trial
from fmu_builder.errors import Problem, SlaveError

Vector = NDArray[np.float64]
SMALLEST = 1e-12  # of the run
ADDED = 100.0  # phase errors that may add up
SAFETY, SHRINK, GROW, UNSOLVED = 0.9, 0.2, 2.0, 0.25
FIRST = 1.0 / 64.0  # of a communication step


@dataclass
class _Before:
    """The end of the step before: forces on the rows at its beginning, and its length."""

    force: Vector
    step: float


class Controller:
    """Steps of one group.   unit: s, the smallest step, a communication step over a power of two"""

    def __init__(self, group: GroupRun, tolerance: float, step: float, run: float) -> None:
        self.group, self.tolerance, self.step = group, tolerance, step
        halvings = max(int(np.floor(np.log2(step / (SMALLEST * run)))), 0)
        self.units = 2**halvings
        self.length = FIRST * step  # of the next step that is tried, s
        self._before: _Before | None = None
        self._elapsed = 0.0

    def advance(self, tick: int, time: float) -> str | None:
        """One communication step from `time`; a note if a slave ended the simulation."""
        done = 0
        while done < self.units:
            begin = time + done / self.units * self.step
            left = most = self.units - done
            length = self._taken(most) / self.units * self.step
            model = self.group.begin(tick, begin, length, done / self.units * self.step)
            while True:
                units = self._taken(most)
                if units / self.units * self.step != length:
                    length = units / self.units * self.step
                    self.group.take_time(model, begin, length)
                middle = self._forces_after(model, begin, length / 2.0) if self._before is None else None
                trial = self.group.solve(model, begin, length)
                error, forces = self._error(model, trial, middle)
                if error <= self.tolerance and not trial.unsolved:
                    event, drift = self.group.look_ahead(trial, begin) if self.group.looks_ahead else (np.inf, 0.0)
                    if event < begin + trial.step:
                        before = max(int(np.ceil((event - begin) / self.step * self.units)), 1)
                        if before < units:
                            most = before
                            continue
                    elif drift > self.tolerance and units > 1:
                        self.group.refused += 1
                        self.length = max(SHRINK, self._factor(drift)) * trial.step
                        continue
                    break
                self.group.refused += 1
                if units == 1:
                    raise self.no_step(begin, trial.step, trial.unsolved, error)
                factor = UNSOLVED if trial.unsolved else max(SHRINK, self._factor(error))
                self.length = factor * trial.step
            self.length = min(self.step, max(self.length, trial.step * min(GROW, self._factor(error))))
            if error > 0.0:
                self.length = min(self.length, trial.step * max(self._factor(error), SHRINK))
            note = self.group.make(trial, tick, begin)
            if note:
                return note
            if self.group.drift > self.tolerance or (self.group.looks_ahead and self.group.drift > 0.0):
                self.length = min(self.length, trial.step * max(self._factor(self.group.drift), SHRINK))
            active = any(force.any() for force in forces)
            self._elapsed = self._elapsed + trial.step if active else 0.0
            self._before = _Before(forces[0], trial.step)
            self.group.events += units == most < left
            done += units
        return None

    def _taken(self, most: int) -> int:
        """Units of a step of about the length, so many of which fill those that are left."""
        wanted = self.length / self.step * self.units
        return max(most // max(int(np.ceil(most / max(wanted, 1.0) * (1.0 - 1e-9))), 1), 1)

    def _factor(self, error: float) -> float:
        if error > 0.0:
            return SAFETY * power_of_two_fifths(self.tolerance / error)
        return GROW if error == 0.0 else SHRINK  # no number: beyond all numbers

    def _forces_after(self, model: Model, time: float, step: float) -> Vector:
        return self.group.summed([end.force for _, end in self.group.solve(model, time, step).answers])

    def _error(self, model: Model, trial: Trial, middle: Vector | None) -> tuple[float, tuple[Vector, Vector]]:
        """The error, and the forces on the rows at both ends.   middle: between them, in the first step"""
        H = trial.step
        first = self.group.summed([element.start.force for element in self.group.elements])
        last = self.group.summed([end.force for _, end in trial.answers])
        missing = H * np.abs(model.moved(trial.force - (first + last) / 2.0)).max(initial=0.0)
        if self._before is None:
            assert middle is not None
            bend = 4.0 * (first - 2.0 * middle + last)
        else:
            before, Hp = self._before.force, self._before.step
            bend = 2.0 * ((last - first) / H - (first - before) / Hp) / (H + Hp) * H * H
        curved = H * np.abs(model.moved(bend)).max(initial=0.0) / 12.0 * min(max(self._elapsed / H, 1.0), ADDED)
        return float(max(missing, curved)), (first, last)

    def no_step(self, time: float, step: float, unsolved: float, error: float) -> SlaveError:
        names = ", ".join(self.group.group.elements)
        why = "they are not solved for" if unsolved else f"their error is {error:.2g} m/s, not {self.tolerance:g}"
        what = (
            f"the forces of {names} need steps below {step:.2g} s at {time:.10g} s: {why}; "
            "raise [experiment] coupling_tolerance, or take algorithm = 'implicit'"
        )
        return SlaveError(Problem(self.group.group.elements[0], what))
