"""A state of a slave that is kept for a step which may have to be made again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import byref, c_void_p
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.slave import DISCARD, Slave

Vector = NDArray[np.float64]
NOISE = 1e-3  # share of what changes between the steps of a trial


@dataclass
class Kept:
    """One state of a slave, whose memory is used again.   Raises SlaveError."""

    slave: Slave

    def __post_init__(self) -> None:
        self.state = c_void_p()

    def keep(self) -> None:
        slave = self.slave
        slave.check(slave.dll.fmi2GetFMUstate(slave.component, byref(self.state)), "fmi2GetFMUstate", "before a trial")

    def restore(self) -> None:
        slave = self.slave
        slave.check(slave.dll.fmi2SetFMUstate(slave.component, self.state), "fmi2SetFMUstate", "after a trial")

    def shown_after(
        self, sets: Sequence[Callable[[], None]], time: float, step: float, shown: Callable[[], Vector]
    ) -> Vector | None:
        """What `shown` gives after each of some steps, before which `sets` set inputs, shape (steps, n); the steps are
        taken back.   None if the slave discards one.   Raises SlaveError."""
        slave, found = self.slave, []
        self.keep()
        for k, set_inputs in enumerate(sets):
            set_inputs()
            status = slave.dll.fmi2DoStep(slave.component, time + k * step, step, 0)
            if status > DISCARD:
                slave.check(status, "fmi2DoStep", f"a step of {step:g} s from {time + k * step:g} s that is tried")
            if status == DISCARD:
                break
            found.append(shown().copy())
        self.restore()
        return np.array(found) if len(found) == len(sets) else None

    def free(self) -> None:
        if self.state:
            self.slave.dll.fmi2FreeFMUstate(self.slave.component, byref(self.state))


def is_same(one: Vector, other: Vector) -> bool:
    """Whether two trials of the same steps have shown the same, shape (steps, n), but for noise: each value, compared
    with what changes it between the steps."""
    changes = np.abs(np.diff(one, axis=0)).max(axis=0)
    return bool(np.all((np.abs(one - other) <= NOISE * changes) | (one == other) | np.isnan(one) & np.isnan(other)))
