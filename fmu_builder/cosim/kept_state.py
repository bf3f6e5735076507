"""A state of a slave that is kept for a step which may have to be made again."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref, c_void_p
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.slave import DISCARD, Slave

Vector = NDArray[np.float64]
SHORT = 1e-4  # of a step


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

    def tried_shortly(self, time: float, step: float, shown: Callable[[], Vector]) -> Vector | None:
        """The values `shown` after a step that begins with the present inputs and is taken back; None if the slave
        discards it.   step: s, of which it is a small part where the slave allows that: what the state leaves out
        changes for good"""
        slave = self.slave
        length = step * SHORT if slave.description.varies_step else step
        self.keep()
        status = slave.dll.fmi2DoStep(slave.component, time, length, 0)
        if status > DISCARD:
            slave.check(status, "fmi2DoStep", f"a step of {length:g} s that is tried")
        found = shown().copy() if status < DISCARD else None
        self.restore()
        return found

    def free(self) -> None:
        if self.state:
            self.slave.dll.fmi2FreeFMUstate(self.slave.component, byref(self.state))
