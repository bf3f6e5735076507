"""Derivatives of the signals of a run by start values, which an FMU of fmu-builder follows along its steps.

The functions are those of contact_core/fmi2/fmi2_sensitivities.h; FMUs of other tools, and older ones, lack them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.link import Link
from fmu_builder.cosim.loop.operations import Access, Clock
from fmu_builder.cosim.slave import Slave
from fmu_builder.errors import Problem, SlaveError
from fmu_builder.model.connectable import SlaveVariable

_FOLLOW, _GET = "fmuBuilderFollowStarts", "fmuBuilderGetSensitivities"


class Sensitivities:
    """Of one slave: derivatives of `signals`, Reals, by `starts`, parameters or inputs that nothing else sets.

    rows   of a run.   Raises SlaveError where the FMU has none."""

    def __init__(
        self, slave: Slave, signals: Sequence[SlaveVariable], starts: Sequence[SlaveVariable], rows: int
    ) -> None:
        if not hasattr(slave.library, _FOLLOW):
            raise SlaveError(Problem(slave.name, "the FMU gives no derivatives along a run"))
        self._slave = slave
        self._starts = np.array([one.reference for one in starts], dtype=np.uint32)
        self.values: NDArray[np.float64] = np.zeros((rows, len(signals), len(starts)))
        self._link = Link(slave, "Get", signals, self.values, function=_GET)

    def follow(self) -> None:
        """Called in initialization mode, anew after each reset.   Raises SlaveError."""
        follow = self._slave.library[_FOLLOW]
        follow.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
        status = follow(self._slave.component, self._starts.ctypes.data, len(self._starts))
        self._slave.check(status, _FOLLOW)

    def record_start(self, time: float) -> None:
        self._link.check(self._link.at(self.values.ctypes.data), time)

    def operation(self, clock: Clock, every: int) -> Iterator[Access]:
        """The next row at the end of every so many ticks."""
        yield Access.after_each(clock, every, self._link, self.values, first=1)
