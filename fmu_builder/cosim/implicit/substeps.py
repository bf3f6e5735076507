"""`implicit`: substeps of the solution within a step, on the affine models of the bodies.

What a trapezoid of the length H leaves is phase: tan(w_n H/2) = w H/2, so each radian of an oscillation errs by
(w H)^2/12.  In n substeps of h = H/n it errs by (w h)^2/12, and elements are evaluated n times as often.  Then each
body makes one step, and each element follows the substeps (elements.py).  Of its force, bodies are given a linear
function of time with the impulse and the first moment of the forces P_k of the substeps,

    f(t) = P + f' (t - H/2)        P = sum(P_k)/n        f' = 12/H (P/2 - sum(P_k (n - k - 1/2))/n^2),  k = 0 ..

so that a mass has the velocity and the position of the last substep.  This needs bodies that interpolate their inputs,
and elements whose forces follow from no states of their own, which their one step would find in another way.

n is so large that w h <= ANGLE while forces change as in an oscillation, and 1 where they do not, as in a contact at
rest:

    n = w H/ANGLE sqrt(min(1, MARGIN D/(w H |V|)))        w^2 = max(E . W E/(2 U))
    D = H max(|W (F1 - F0)|, |W E| H |E . V|/(2 U))       in an oscillation D = w H |V|

with F, E and U, the force of an element, its elastic part and its stored energy, at both ends of a step that is not
divided.  Of a linear spring E^2/(2 U) is its stiffness, so w is its frequency between the bodies that it meets."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.implicit.arithmetic import dot
from fmu_builder.cosim.implicit.bonds import GRADIENT, MIDPOINT
from fmu_builder.cosim.implicit.group import GroupRun, Model, Trial

Vector = NDArray[np.float64]
ANGLE = 1.0 / 36.0  # rad: a period errs by 4e-4 rad
MARGIN = 4.0
MOST = 256.0  # substeps of a step
ACCURACY = 1e-12  # of each; that of a whole step is group.ACCURACY


def obstacle(group: GroupRun) -> str | None:
    """Why the steps of a group are not divided, as what follows `since`."""
    for body in group.bodies:
        if body.acts and not body.slave.description.interpolates:
            return f"{body.slave.name} cannot interpolate its inputs"
    for element in group.elements:
        if element.rung == MIDPOINT:
            return f"the force of {element.slave.name} is that of the inputs of its steps"
        if element.kept is not None or element.lags:
            return f"the force of {element.slave.name} follows from its states"
    return None


def divided(group: GroupRun, model: Model, trial: Trial, time: float) -> Trial:
    """The trial of a whole step, in as many substeps as it needs, if there is no `obstacle`."""
    count = _count(group, model, trial)
    return trial if count == 1 else _in_substeps(group, model, trial, time, count)


def _count(group: GroupRun, model: Model, trial: Trial) -> int:
    ends = [end for _, end in trial.answers]
    starts = [element.start for element in group.elements]
    square = changed = 0.0
    for element, start, end in zip(group.elements, starts, ends, strict=True):
        for one in (start, end) if element.rung == GRADIENT else ():
            if one.energy > 0.0:
                force = np.zeros(group.size)
                np.add.at(force, element.rows, one.elastic)
                moved = model.moved(force)
                square = max(square, dot(one.elastic, moved[element.rows]) / (2.0 * one.energy))
                rate = abs(dot(one.elastic, one.velocity)) / (2.0 * one.energy)
                changed = max(changed, float(np.abs(moved).max()) * trial.step * rate)
    if not 0.0 < square < math.inf:
        return 1
    angle = math.sqrt(square) * trial.step
    change = group.summed([one.force for one in ends]) - group.summed([one.force for one in starts])
    changed = trial.step * max(changed, float(np.abs(model.moved(change)).max()))
    caused = trial.step * float(np.abs(model.moved(trial.force)).max())
    largest = max(float(np.abs(trial.motion[:2]).max()), caused)
    share = MARGIN * changed / (angle * largest) if largest > 0.0 else 0.0
    return max(math.ceil(min(MOST, angle / ANGLE * math.sqrt(min(1.0, share)))), 1)


def _in_substeps(group: GroupRun, model: Model, whole: Trial, time: float, count: int) -> Trial:
    starts, last = [element.start for element in group.elements], group.last
    step = whole.step / count
    total, moment, unsolved = np.zeros(group.size), np.zeros(group.size), 0.0
    works = tuple(np.zeros(element.size) for element in group.elements)
    forces: list[Vector] = []
    paths: list[list[Vector]] = [[] for _ in group.elements]
    part, trial = model, whole
    for k in range(count):
        trial = group.solve(part, time, step, ACCURACY)
        part = part.later(trial.motion[1], step)
        total = total + trial.force
        moment = moment + trial.force * (count - k - 0.5)
        unsolved = max(unsolved, trial.unsolved)
        works = tuple(sum_ + one for sum_, one in zip(works, trial.works, strict=True))
        for element, path, (answer, end) in zip(group.elements, paths, trial.answers, strict=True):
            element.start, element.debt = end, answer.debt
            path.append(np.concatenate([end.velocity, end.place]))
        forces = [*forces[-2:], trial.force]
        group.last = _extrapolated(forces)
    for element, start in zip(group.elements, starts, strict=True):
        element.start = start
    group.last = last
    mean = total / count
    slope = 12.0 / whole.step * (mean / 2.0 - moment / (count * count))
    motion = np.array([model.velocity, part.velocity, trial.motion[2]])
    return replace(
        trial,
        step=whole.step,
        force=mean,
        motion=motion,
        unsolved=unsolved,
        works=works,
        slope=slope,
        substeps=count,
        paths=tuple(map(tuple, paths)),
    )


def _extrapolated(forces: list[Vector]) -> Vector:
    """The first guess of the next substep, from the last one, two or three."""
    if len(forces) == 1:
        return forces[0]
    if len(forces) == 2:
        return 2.0 * forces[1] - forces[0]
    return 3.0 * (forces[2] - forces[1]) + forces[0]
