"""Bodies of a group as affine models: what a step makes of the forces at their ports, without a step.

    V1 = V0 + H (a + W f)        X1 = X0 + H (V0 + V1)/2

V: velocities of the ports that bonds meet; f: the forces that belong to them; X: positions.  The acceleration a, of all
other forces, and the inverse inertia W come from directional derivatives D: with the states x, xdot at f = 0

    a = D[V, x](xdot)            W_j = D[V, x](D[xdot, f_j](1))

or from steps that are tried, 1 + (number of forces), and whose state is restored.  They hold for one step.
A body whose velocities depend on no state is moved by no force, W = 0: a is found from a step that is tried if they
follow from the time alone, and is that of its last step if they follow inputs."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from ctypes import POINTER, byref, c_double, c_int, c_uint, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.discarded_steps import end_of, ended_in_trial
from fmu_builder.cosim.implicit.bonds import DERIVATIVES, PROBES
from fmu_builder.cosim.kept_state import Kept, is_same
from fmu_builder.cosim.schedule import followed
from fmu_builder.cosim.slave import DISCARD, FATAL, OK, Slave
from fmu_builder.errors import Problem, SlaveError

Vector = NDArray[np.float64]
TRYING = "solving for the forces of a group, at a motion that is tried: take smaller steps"
_PROBE = 1.0  # N or N.m
_ONE = np.ones(1)


class Values:
    """Reals of a slave that are read and set together.   Raises SlaveError."""

    def __init__(self, slave: Slave, references: Sequence[int]) -> None:
        self.size = len(references)
        self.references = (c_uint * self.size)(*references)
        self._slave = slave
        self.array: Vector = np.zeros(self.size)
        self._memory = self.array.ctypes.data_as(POINTER(c_double))

    def get(self) -> Vector:
        """The memory itself: copy what is kept."""
        if self.size:
            slave = self._slave
            status = slave.dll.fmi2GetReal(slave.component, self.references, self.size, self._memory)
            if status:
                slave.check(status, "fmi2GetReal", TRYING)
        return self.array

    def set(self, values: Vector) -> None:
        if self.size:
            slave = self._slave
            self.array[:] = values
            status = slave.dll.fmi2SetReal(slave.component, self.references, self.size, self._memory)
            if status:
                slave.check(status, "fmi2SetReal", TRYING)

    def set_slopes(self, slopes: Vector) -> None:
        """Of inputs over the next step."""
        slave = self._slave
        self.array[:] = slopes
        orders = (c_int * self.size)(*([1] * self.size))
        slave.check(
            slave.dll.fmi2SetRealInputDerivatives(slave.component, self.references, self.size, orders, self._memory),
            "fmi2SetRealInputDerivatives",
        )


class Slope:
    """Directional derivatives of the values `unknown` along those with the references `known`."""

    def __init__(self, slave: Slave, unknown: Values, known: Sequence[int]) -> None:
        self.size = len(known)
        self._slave = slave
        seed, answer = np.zeros(self.size), np.zeros(unknown.size)
        self._seed, self._answer = seed, answer
        references = (c_uint * self.size)(*known)
        pointers = [one.ctypes.data_as(POINTER(c_double)) for one in (seed, answer)]
        self._arguments = (unknown.references, unknown.size, references, self.size, *pointers)

    def answer(self, seed: Vector) -> tuple[int, Vector]:
        """The status of the call, and the memory of its values: copy what is kept."""
        self._seed[:] = seed
        slave = self._slave
        return slave.dll.fmi2GetDirectionalDerivative(slave.component, *self._arguments), self._answer

    def of(self, seed: Vector) -> Vector:
        """As `answer`.   Raises SlaveError."""
        status, values = self.answer(seed)
        if status:
            self._slave.check(status, "fmi2GetDirectionalDerivative", "of the velocities at the ports")
        return values


class Body:
    """A body of a group.   velocities, forces: names in the order of its rows; None where no force acts
    read: outputs that others follow

    step_to_event   of an FMU that ends steps at events, the function of adaptor.c, else None"""

    def __init__(
        self, slave: Slave, velocities: Sequence[str], forces: Sequence[str | None], read: Sequence[str] = ()
    ) -> None:
        description = slave.description
        variables = description.variables
        self.slave, self._names, self._read = slave, tuple(velocities), tuple(read)
        self.size = len(velocities)
        self.velocity = Values(slave, [variables[n].reference for n in velocities])
        self.acts = [k for k, name in enumerate(forces) if name is not None]
        self.force = Values(slave, [variables[n].reference for n in forces if n is not None])
        self.states = [*description.derivatives]
        self.rate = Values(slave, [*description.derivatives.values()])
        self._to_velocity = Slope(slave, self.velocity, self.states)
        self._to_rates = [Slope(slave, self.rate, [reference]) for reference in self.force.references]
        self._other = self._free = np.zeros(self.size)
        self.probes = 0
        self.drift = 0.0  # largest one from its model, m/s or rad/s, after a step in which forces were solved for
        self.is_moved = all(description.states_behind.get(n, True) for n in velocities)
        self.rung = DERIVATIVES if description.derivatives and self._gives_derivatives() else PROBES
        self.kept = Kept(slave) if description.can_restore else None
        in_time = all(followed(description, name) == frozenset() for name in velocities)
        self.is_timed = not self.is_moved and in_time and self.kept is not None
        self.step_to_event: Any = slave.library["step_to_event"] if slave.ends_early else None
        if self.step_to_event is not None:
            self.step_to_event.argtypes = (c_void_p, c_double, c_double, c_void_p)
        self._has_slope = False  # of its last step
        self._before: tuple[Vector, float] | None = None  # velocity before the last step, and its length

    def can_be_solved(self) -> bool:
        return self.rung == DERIVATIVES or self.kept is not None

    def is_changed_by_trials(self, time: float, step: float) -> bool:
        """Whether an FMU of others moves in another way after a trial: its state is not all that it remembers."""
        if self.slave.description.ours or self.rung == DERIVATIVES or self.kept is None:
            return False
        variables = self.slave.description.variables
        reals = [variables[name].reference for name in self._read if variables[name].type == "Real"]
        shown = Values(self.slave, reals)
        sets = [functools.partial(self.force.set, np.full(self.force.size, k * _PROBE)) for k in (1.0, 2.0)]
        one, other = (self.kept.shown_after(sets, time, step, shown.get) for _ in range(2))
        return one is not None and other is not None and not is_same(one, other)

    def _gives_derivatives(self) -> bool:
        """Whether the calls that the model needs succeed; its log is then as before."""
        slave, logged = self.slave, len(self.slave.log)
        tried = [self._to_velocity, *self._to_rates[:1]]
        statuses = [slope.answer(np.zeros(slope.size))[0] for slope in tried]
        if FATAL in statuses:
            slave.check(FATAL, "fmi2GetDirectionalDerivative", "of the velocities at the ports")
        del slave.log[logged:]
        return all(status == OK for status in statuses)

    def acceleration(self, time: float, step: float, other: Vector) -> Vector:
        """a, shape (n,).   other: forces on the rows that are not solved for, shape (n,)"""
        self._other = other
        if not self.is_moved and not self.is_timed:
            return self._followed()
        if self.is_moved and self.rung == DERIVATIVES:
            self.force.set(other[self.acts])
            return self._to_velocity.of(self.rate.get())
        self._free = self._tried(time, step, other)
        return (self._free - self.velocity.get()) / step

    def inverse_inertia(self, time: float, step: float) -> Vector:
        """W, shape (n, n), after `acceleration` and before a step."""
        W = np.zeros((self.size, self.size))
        for k, to_rate in zip(self.acts, self._to_rates if self.is_moved else (), strict=False):
            if self.rung == DERIVATIVES:
                W[:, k] = self._to_velocity.of(to_rate.of(_ONE))
            else:
                force = self._other.copy()
                force[k] += _PROBE
                W[:, k] = (self._tried(time, step, force) - self._free) / (step * _PROBE)
        return W

    def _followed(self) -> Vector:
        if self._before is None:
            return np.zeros(self.size)
        velocity, step = self._before
        return (self.velocity.get() - velocity) / step

    def _tried(self, time: float, step: float, force: Vector) -> Vector:
        """Velocities after a step under these forces; the state is then as before."""
        assert self.kept is not None
        self.probes += 1
        self.kept.keep()
        self.force.set(force[self.acts])
        status = self.slave.dll.fmi2DoStep(self.slave.component, time, step, 0)
        if status:
            self.check_trial(status, time, step)
        after = self.tried_velocity(time, step)
        self.kept.restore()
        return after

    def looked_ahead(self, time: float, step: float, force: Vector) -> tuple[float, Vector]:
        """The time of the first event in a step under these forces, else of its end, and the velocities there.

        Of a body that shows events; its state is then as before."""
        assert self.kept is not None
        end = c_double(0.0)
        self.kept.keep()
        self.force.set(force[self.acts])
        if status := self.step_to_event(self.slave.component, time, step, byref(end)):
            self.check_trial(status, time, step)
        after = self.tried_velocity(time, step)
        self.kept.restore()
        return end.value, after

    def check_trial(self, status: int, time: float, step: float) -> None:
        """Raise SlaveError unless a step that is tried succeeded."""
        if status == DISCARD and (note := end_of(self.slave, time)):
            raise ended_in_trial(self.slave, note)
        self.slave.check(status, "fmi2DoStep", f"a step of {step:g} s from {time:g} s that is tried")

    def tried_velocity(self, time: float, step: float) -> Vector:
        """At the end of a step that is tried.   Raises SlaveError where it is not finite."""
        after = self.velocity.get().copy()
        for name, value in zip(self._names, after, strict=True):
            if not np.isfinite(value):
                what = f"{name} is {value:g} after a step of {step:g} s from {time:g} s that is tried"
                raise SlaveError(Problem(self.slave.name, f"{what}, though the slave answered fmi2OK"))
        return after

    def act(self, force: Vector, step: float, slope: Vector | None) -> None:
        """Set the forces of the next step: their mean, and their slope, 1/s, unless they are held."""
        if not self.is_moved:
            self._before = self.velocity.get().copy(), step
        if slope is None and not self._has_slope:
            self.force.set(force[self.acts])
            return
        self._has_slope = slope is not None
        slope = np.zeros(self.size) if slope is None else slope
        self.force.set((force - slope * (step / 2.0))[self.acts])
        if self.acts:
            self.force.set_slopes(slope[self.acts])

    def show(self, force: Vector) -> None:
        """Set the mean forces of a step that is done, for records."""
        self.force.set(force[self.acts])

    def close(self) -> None:
        if self.kept is not None:
            self.kept.free()
