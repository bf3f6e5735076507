"""Bodies of a group as affine models: what a step makes of the forces at their ports, without a step.

    V1 = V0 + H (a + W f)        X1 = X0 + H (V0 + V1)/2

V: velocities of the ports that bonds meet; f: the forces that belong to them; X: positions.  The acceleration a, of all
other forces, and the inverse inertia W come from directional derivatives D: with the states x, xdot at f = 0

    a = D[V, x](xdot)            W_j = D[V, x](D[xdot, f_j](1))

or from steps that are tried, 1 + (number of forces), and whose state is restored.  They hold for one step.
A body whose velocities depend on no state follows inputs: W = 0, and a is that of its last step."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import POINTER, byref, c_double, c_int, c_uint, c_void_p
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.implicit.bonds import DERIVATIVES, PROBES
from fmu_builder.cosim.slave import FATAL, OK, Slave

Vector = NDArray[np.float64]
_PROBE = 1.0  # N or N.m


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
                slave.check(status, "fmi2GetReal", "solving for the forces of a group")
        return self.array

    def set(self, values: Vector) -> None:
        if self.size:
            slave = self._slave
            self.array[:] = values
            status = slave.dll.fmi2SetReal(slave.component, self.references, self.size, self._memory)
            if status:
                slave.check(status, "fmi2SetReal", "solving for the forces of a group")

    def set_slopes(self, slopes: Vector) -> None:
        """Of inputs over the next step."""
        slave = self._slave
        self.array[:] = slopes
        orders = (c_int * self.size)(*([1] * self.size))
        slave.check(
            slave.dll.fmi2SetRealInputDerivatives(slave.component, self.references, self.size, orders, self._memory),
            "fmi2SetRealInputDerivatives",
        )


@dataclass
class Kept:
    """One state of a slave, whose memory is used again."""

    slave: Slave

    def __post_init__(self) -> None:
        self._state = c_void_p()

    def keep(self) -> None:
        slave = self.slave
        status = slave.dll.fmi2GetFMUstate(slave.component, byref(self._state))
        slave.check(status, "fmi2GetFMUstate", "before a trial")

    def restore(self) -> None:
        slave = self.slave
        slave.check(slave.dll.fmi2SetFMUstate(slave.component, self._state), "fmi2SetFMUstate", "after a trial")

    def free(self) -> None:
        if self._state:
            self.slave.dll.fmi2FreeFMUstate(self.slave.component, byref(self._state))


class Body:
    """A body of a group.   velocities, forces: names in the order of its rows; None where no force acts"""

    def __init__(self, slave: Slave, velocities: Sequence[str], forces: Sequence[str | None]) -> None:
        description = slave.description
        variables = description.variables
        self.slave = slave
        self.size = len(velocities)
        self.velocity = Values(slave, [variables[n].reference for n in velocities])
        self._acts = [k for k, name in enumerate(forces) if name is not None]
        self.force = Values(slave, [variables[n].reference for n in forces if n is not None])
        self._states = [*description.derivatives]
        self._rate = Values(slave, [*description.derivatives.values()])
        self._moved = all(description.states_behind.get(n, True) for n in velocities)
        self.rung = DERIVATIVES if description.derivatives and self._gives_derivatives() else PROBES
        self._kept = Kept(slave) if description.can_restore else None
        self._before: tuple[Vector, float] | None = None  # velocity before the last step, and its length

    def can_be_solved(self) -> bool:
        return self.rung == DERIVATIVES or self._kept is not None

    def _derivative(self, unknown: Values, known: Sequence[int], seed: Vector) -> Vector:
        """D[unknown, known](seed); None where the slave refuses."""
        size, slave = len(known), self.slave
        answer = (c_double * unknown.size)()
        references, values = (c_uint * size)(*known), (c_double * size)(*seed)
        status = slave.dll.fmi2GetDirectionalDerivative(
            slave.component, unknown.references, unknown.size, references, size, values, answer
        )
        if status:
            slave.check(status, "fmi2GetDirectionalDerivative", "of the velocities at the ports")
        return np.array(answer)

    def _gives_derivatives(self) -> bool:
        """Whether the calls that the model needs succeed; its log is then as before."""
        slave, logged = self.slave, len(self.slave.log)
        force = self.force.references[:1]
        tried = [(self.velocity, self._states)] + ([(self._rate, force)] if force else [])
        good = True
        for unknown, known in tried:
            size = len(known)
            references, seed, answer = (c_uint * size)(*known), (c_double * size)(), (c_double * unknown.size)()
            status = slave.dll.fmi2GetDirectionalDerivative(
                slave.component, unknown.references, unknown.size, references, size, seed, answer
            )
            if status == FATAL:
                slave.check(status, "fmi2GetDirectionalDerivative", "of the velocities at the ports")
            good = good and status == OK
        del slave.log[logged:]
        return good

    def model(self, time: float, step: float, other: Vector) -> tuple[Vector, Vector, int]:
        """a, shape (n,), W, shape (n, n), and the number of steps tried.

        other  forces on the rows that are not solved for, shape (n,)"""
        n = self.size
        a, W = np.zeros(n), np.zeros((n, n))
        if self.rung == DERIVATIVES:
            if not self._moved:
                return self._followed(), W, 0
            self.force.set(other[self._acts])
            a = self._derivative(self.velocity, self._states, self._rate.get().copy())
            for j, k in enumerate(self._acts):
                change = self._derivative(self._rate, [self.force.references[j]], np.ones(1))
                W[:, k] = self._derivative(self.velocity, self._states, change)
            return a, W, 0
        before = self.velocity.get().copy()
        free = self._tried(time, step, other)
        for k in self._acts:
            force = other.copy()
            force[k] += _PROBE
            W[:, k] = (self._tried(time, step, force) - free) / (step * _PROBE)
        return (free - before) / step, W, 1 + len(self._acts)

    def _followed(self) -> Vector:
        if self._before is None:
            return np.zeros(self.size)
        velocity, step = self._before
        return (self.velocity.get() - velocity) / step

    def _tried(self, time: float, step: float, force: Vector) -> Vector:
        """Velocities after a step under these forces; the state is then as before."""
        assert self._kept is not None
        self._kept.keep()
        self.force.set(force[self._acts])
        status = self.slave.dll.fmi2DoStep(self.slave.component, time, step, 0)
        if status:
            self.slave.check(status, "fmi2DoStep", f"a step of {step:g} s from {time:g} s that is tried")
        after = self.velocity.get().copy()
        self._kept.restore()
        return after

    def act(self, force: Vector, step: float) -> None:
        """Set the forces of the next step."""
        if not self._moved:
            self._before = self.velocity.get().copy(), step
        self.force.set(force[self._acts])

    def close(self) -> None:
        if self._kept is not None:
            self._kept.free()
