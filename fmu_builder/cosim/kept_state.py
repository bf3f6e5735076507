"""A state of a slave that is kept for a step which may have to be made again."""

from __future__ import annotations

from ctypes import byref, c_void_p
from dataclasses import dataclass

from fmu_builder.cosim.slave import Slave


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

    def free(self) -> None:
        if self.state:
            self.slave.dll.fmi2FreeFMUstate(self.slave.component, byref(self.state))
