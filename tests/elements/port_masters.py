"""Port FMUs under masters that do more than exchange samples: they extrapolate, interpolate, iterate, smooth, repeat
steps from a saved state, or control their step.

python -m tests.elements.port_masters [--count 12] [--seed 1] [--master M ...] [--family F ...]

right: percent of the systems whose mean error of fifteen phases is below 2 %; median, worst: of the errors; worse: than
hold by 2 % in a phase, of which systems."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_double, c_int, c_void_p
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.slave import DISCARD
from tests.elements.closed_loop import Instance
from tests.elements.port_bodies import System
from tests.elements.port_families import FAMILIES, draw_systems
from tests.elements.port_systems import METHODS, RIGHT, coupling_of

Array = NDArray[np.float64]
PLAIN = ("gravity", "pressed", "two-mass")  # families of the table
LEAST_STEP = 1e-6  # of the system's step: an error-controlled master gives up below


class RunAbortedError(Exception):
    """A port failed, or the step of the master vanished."""


@dataclass
class Loop:
    """Bodies and ports between two communication points."""

    system: System
    z: Array
    time: float = 0.0
    forces: Array = field(init=False)
    steps: int = 0

    def __post_init__(self) -> None:
        self.forces = self._read()
        self._no_slope = np.zeros_like(self.forces)

    @property
    def instances(self) -> Sequence[Instance]:
        return self.system.bench.instances

    def inputs(self, z: Array) -> Array:
        return self.system.bench.inputs(z)

    def _read(self) -> Array:
        found: list[float] = []
        for one in self.instances:
            values = (c_double * len(one.outputs))()
            one.dll.fmi2GetReal(one.component, one.outputs, len(values), values)
            found += values
        return np.array(found)

    def _set(self, inputs: Array) -> None:
        for one, part in zip(self.instances, self.system.bench.parts(inputs), strict=True):
            values = (c_double * len(part))(*part.tolist())
            if one.dll.fmi2SetReal(one.component, one.inputs, len(part), values) >= DISCARD:
                raise RunAbortedError

    def step_ports(self, inputs: Array, H: float, rates: Array | None = None) -> Array:
        """Forces after a step with these inputs, which change at `rates` in it."""
        self.steps += 1
        self._set(inputs)
        if rates is not None:
            for one, part in zip(self.instances, self.system.bench.parts(rates), strict=True):
                orders = (c_int * len(part))(*[1] * len(part))
                one.dll.fmi2SetRealInputDerivatives(
                    one.component, one.inputs, len(part), orders, (c_double * len(part))(*part)
                )
        for one in self.instances:
            if one.dll.fmi2DoStep(one.component, self.time, H, 0) >= DISCARD:
                raise RunAbortedError
        return self._read()

    def show_ports(self, inputs: Array) -> Array:
        """Forces at these inputs, without a step."""
        self._set(inputs)
        return self._read()

    def moved(self, u: Array, H: float, slope: Array | None = None) -> Array:
        end = self.system.bench.driven(self.z, u, self._no_slope if slope is None else slope, H)
        if not all(abs(value) < 1e12 for value in end.tolist()):
            raise RunAbortedError
        return end

    def accept(self, z: Array, forces: Array, H: float) -> None:
        self.z, self.forces, self.time = z, forces, self.time + H

    def save(self) -> list[c_void_p]:
        states = []
        for one in self.instances:
            state = c_void_p()
            one.dll.fmi2GetFMUstate(one.component, state)
            states.append(state)
        return states

    def restore(self, states: Sequence[c_void_p]) -> None:
        for one, state in zip(self.instances, states, strict=True):
            one.dll.fmi2SetFMUstate(one.component, state)

    def free(self, states: Sequence[c_void_p]) -> None:
        for one, state in zip(self.instances, states, strict=True):
            one.dll.fmi2FreeFMUstate(one.component, state)


def extrapolate(loop: Loop, bodies: bool = True) -> None:
    """Parallel: inputs go on as they changed in the last step, those of the ports and, `bodies`, of the bodies."""
    H, old_inputs, old_forces = loop.system.H, loop.inputs(loop.z), loop.forces
    for _ in range(loop.system.steps):
        inputs = loop.inputs(loop.z)
        forces = loop.step_ports(inputs, H, (inputs - old_inputs) / H)
        z = loop.moved(loop.forces, H, (loop.forces - old_forces) / H if bodies else None)
        old_inputs, old_forces = inputs, loop.forces
        loop.accept(z, forces, H)


def extrapolate_in_turn(loop: Loop) -> None:
    """Sequential, ports first: their inputs go on as they changed in the last step."""
    H, old = loop.system.H, loop.inputs(loop.z)
    for _ in range(loop.system.steps):
        inputs = loop.inputs(loop.z)
        forces = loop.step_ports(inputs, H, (inputs - old) / H)
        old = inputs
        loop.accept(loop.moved(forces, H), forces, H)


def interpolate(loop: Loop, bodies: bool = False) -> None:
    """Sequential, bodies first: the inputs go from the one communication point to the next within the step.  `bodies`:
    the forces on them go on as they changed in the last step."""
    H, old_forces = loop.system.H, loop.forces
    for _ in range(loop.system.steps):
        slope = (loop.forces - old_forces) / H if bodies else None
        before, z = loop.inputs(loop.z), loop.moved(loop.forces, H, slope)
        old_forces = loop.forces
        loop.accept(z, loop.step_ports(before, H, (loop.inputs(z) - before) / H), H)


def iterate(loop: Loop, rounds: int) -> None:
    """The ports repeat the step with the motion at its end, the bodies with the mean of the forces."""
    H, forces, z = loop.system.H, loop.forces, loop.z
    for _ in range(loop.system.steps):
        saved = loop.save()
        z = loop.moved(loop.forces, H)
        for _ in range(rounds):
            loop.restore(saved)
            forces = loop.step_ports(loop.inputs(z), H)
            z = loop.moved((loop.forces + forces) / 2, H)
        loop.free(saved)
        loop.accept(z, forces, H)


def iterate_windows(loop: Loop) -> None:
    """Waveform relaxation: six rounds over windows of four steps, each with the motion and the forces of the round
    before."""
    H, size, rounds = loop.system.H, 4, 6
    for first in range(0, loop.system.steps, size):
        count = min(size, loop.system.steps - first)
        saved, forces = loop.save(), [loop.forces] * (count + 1)
        start, time = loop.z, loop.time
        for _ in range(rounds):
            path = [start]
            for k in range(count):
                loop.z = path[-1]
                path.append(loop.moved((forces[k] + forces[k + 1]) / 2, H))
            loop.restore(saved)
            loop.time = time
            for k in range(count):
                forces[k + 1] = loop.step_ports(loop.inputs(path[k + 1]), H)
                loop.time += H
        loop.free(saved)
        loop.z, loop.forces = path[-1], forces[-1]


def set_again(loop: Loop) -> None:
    """Without states: three times the ports show what they return to the motion at the end of the step, and the step is
    made once."""
    H = loop.system.H
    for _ in range(loop.system.steps):
        forces, z = loop.forces, loop.moved(loop.forces, H)
        for _ in range(3):
            forces = loop.show_ports(loop.inputs(z))
            z = loop.moved((loop.forces + forces) / 2, H)
        loop.accept(z, loop.step_ports(loop.inputs(z), H), H)


def smooth(loop: Loop) -> None:
    """Sequential, with the mean of two forces."""
    H = loop.system.H
    for _ in range(loop.system.steps):
        forces = loop.step_ports(loop.inputs(loop.z), H)
        loop.accept(loop.moved((forces + loop.forces) / 2, H), forces, H)


def repeat(loop: Loop) -> None:
    """Sequential; every step is made, taken back and made again."""
    H = loop.system.H
    for _ in range(loop.system.steps):
        saved, inputs = loop.save(), loop.inputs(loop.z)
        loop.step_ports(inputs, H)
        loop.restore(saved)
        loop.free(saved)
        forces = loop.step_ports(inputs, H)
        loop.accept(loop.moved(forces, H), forces, H)


def roll_back(loop: Loop) -> None:
    """Sequential; every third step is made, taken back and made in two halves."""
    H = loop.system.H
    for k in range(loop.system.steps):
        halves = 1
        if k % 3 == 0:
            saved = loop.save()
            loop.moved(loop.step_ports(loop.inputs(loop.z), H), H)
            loop.restore(saved)
            loop.free(saved)
            halves = 2
        for _ in range(halves):
            forces = loop.step_ports(loop.inputs(loop.z), H / halves)
            loop.accept(loop.moved(forces, H / halves), forces, H / halves)


def step_by(loop: Loop, shares: Sequence[float]) -> None:
    """Sequential: steps of these shares of the system's step, in turn."""
    end, k = loop.system.H * loop.system.steps, 0
    while end - loop.time > 1e-9 * end:
        H = min(shares[k % len(shares)] * loop.system.H, end - loop.time)
        forces = loop.step_ports(loop.inputs(loop.z), H)
        loop.accept(loop.moved(forces, H), forces, H)
        k += 1


def control_error(loop: Loop) -> None:
    """Sequential; a step is repeated in two halves, and accepted if both differ by less than 1e-3 of the speed."""
    end, H = loop.system.H * loop.system.steps, loop.system.H
    speed = loop.system.weights @ loop.z**2
    while end - loop.time > 1e-9 * end:
        H = min(H, end - loop.time)
        if H < LEAST_STEP * loop.system.H and end - loop.time > H:
            raise RunAbortedError
        saved, z, time, forces = loop.save(), loop.z, loop.time, loop.forces
        whole = loop.moved(loop.step_ports(loop.inputs(z), H), H)
        loop.restore(saved)
        for _ in range(2):
            u = loop.step_ports(loop.inputs(loop.z), H / 2)
            loop.accept(loop.moved(u, H / 2), u, H / 2)
        error = math.sqrt(float(loop.system.weights @ (whole - loop.z) ** 2 / speed)) / 1e-3
        if error > 1:
            loop.restore(saved)
            loop.z, loop.time, loop.forces = z, time, forces
        loop.free(saved)
        H *= min(2.0, max(0.2, 0.9 / math.sqrt(error + 1e-12)))


_SHRINKING = tuple(0.5 ** (k / 4) for k in range(24))  # to a fiftieth, and again from the start
MASTERS: Mapping[str, tuple[Callable[[Loop], None], str]] = {  # and the word for coupling.order, as a plain master's
    "extrapolate": (extrapolate, "jacobi"),
    "extrapolate ports": (partial(extrapolate, bodies=False), "jacobi"),
    "extrapolate in turn": (extrapolate_in_turn, "sequential"),
    "interpolate": (interpolate, "sequential"),
    "interpolate both": (partial(interpolate, bodies=True), "sequential"),
    "iterate 2": (partial(iterate, rounds=2), "sequential"),
    "iterate 3": (partial(iterate, rounds=3), "sequential"),
    "iterate 5": (partial(iterate, rounds=5), "sequential"),
    "iterate windows": (iterate_windows, "sequential"),
    "set again": (set_again, "sequential"),
    "smooth": (smooth, "sequential"),
    "repeat": (repeat, "sequential"),
    "roll back": (roll_back, "sequential"),
    "alternate": (partial(step_by, shares=(1.0, 0.5)), "sequential"),
    "shrink": (partial(step_by, shares=_SHRINKING), "sequential"),
    "control error": (control_error, "sequential"),
}


@dataclass(frozen=True)
class Result:
    errors: Array
    aborted: int
    steps: int  # of all phases, taken back ones too


def run_master(system: System, master: str, method: str, exact: Sequence[Array]) -> Result | None:
    """Errors of all phases; None if the FMUs do not know the method."""
    run, order = MASTERS[master]
    coupling = coupling_of(system, order, METHODS[method])
    if coupling is None:
        return None
    errors, aborted, steps = [], 0, 0
    for start, motion in zip(system.starts, exact, strict=True):
        system.bench.start(start, coupling)
        loop = Loop(system, np.array(start))
        try:
            run(loop)
            errors.append(system.error_at_end(start, loop.z, motion[-1, :-1]))
        except RunAbortedError:
            errors.append(1e6)
            aborted += 1
        steps += loop.steps
    return Result(np.array(errors), aborted, steps)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.elements.port_masters", description=__doc__)
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--master", nargs="+", choices=list(MASTERS), default=list(MASTERS))
    parser.add_argument("--family", nargs="+", choices=list(FAMILIES), default=list(PLAIN))
    options = parser.parse_args(arguments)
    systems = [system for _, system in draw_systems(options.seed, options.count, options.family)]
    motions = [system.reference() for system in systems]
    heads = ("right", "median", "worst", "aborted", "worse", "steps")
    print(f"{'master, method':28}" + "".join(f"{head:>10}" for head in heads) + "  worse than hold")
    for master in options.master:
        hold: list[Result] = []
        for method in METHODS:
            found = [run_master(system, master, method, exact) for system, exact in zip(systems, motions, strict=True)]
            made = [one for one in found if one is not None]
            if not made:
                continue
            hold = hold or made
            worse = [
                str(k) for k, (one, other) in enumerate(zip(made, hold, strict=True))
                if np.any(one.errors > other.errors + RIGHT)
            ]  # fmt: skip
            means = np.array([np.mean(one.errors) for one in made])
            worst = max(np.max(one.errors) for one in made)
            aborted, steps = sum(one.aborted for one in made), sum(one.steps for one in made)
            print(
                f"{master + ', ' + method:28}{100 * np.mean(means < RIGHT):10.0f}{np.median(means):10.4f}{worst:10.3g}"
                f"{aborted:10}{len(worse):10}{steps:10}  {' '.join(worse)}"
            )


if __name__ == "__main__":
    main()
