"""Values of a slave in memory that stays where it is: one call of 0.4 us for all variables of one type."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.slave import Slave
from fmu_builder.errors import Problem, SlaveError
from fmu_builder.model.connectable import FAMILY, Node, SlaveVariable


def memory_of(family: str, size: int) -> NDArray[np.float64] | NDArray[np.int32]:
    """For so many values of Reals, or of Integers or Booleans."""
    return np.zeros(size) if family == "Real" else np.zeros(size, dtype=np.int32)


@functools.lru_cache(maxsize=1024)
def _references(values: tuple[int, ...]) -> NDArray[np.uint32]:
    """One array for all slaves of one FMU: many arrays would not stay in the cache of the processor."""
    return np.array(values, dtype=np.uint32)


class Link:
    """Variables of one type of one slave, read into or set from memory that stays where it is, in one call of 0.4 us.

    sources   of values that are set: the outputs they come from, to name the slave behind a NaN
    function  of the library, with the arguments of fmi2GetReal, in the place of it"""

    def __init__(
        self,
        slave: Slave,
        verb: Literal["Get", "Set"],
        variables: Sequence[SlaveVariable],
        memory: NDArray[np.float64] | NDArray[np.int32],
        sources: Sequence[Node] = (),
        function: str | None = None,
    ) -> None:
        self.slave = slave
        self.variables = tuple(variables)
        self.memory = memory
        self.sources = sources
        self.name = function or f"fmi2{verb}{FAMILY[variables[0].type]}"
        self.references = _references(tuple(v.reference for v in variables))
        called = slave.library[self.name]  # a new object, whose types are its own
        called.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
        called.restype = ctypes.c_int
        address = ctypes.c_void_p  # built once: a plain integer would be converted in every call
        self.at: Callable[[int], int] = partial(
            called, address(slave.component), address(self.references.ctypes.data), len(self.variables)
        )
        self.call: Callable[[], int] = partial(self.at, address(memory.ctypes.data))

    def check(self, status: int, time: float) -> None:
        """Raise SlaveError unless the status is OK or Warning."""
        for node, value in zip(self.sources, self.memory, strict=False):
            if not np.isfinite(value):
                raise not_finite(node, float(value), time)
        shown = ", ".join(v.name for v in self.variables[:8]) + ", ..." * (len(self.variables) > 8)
        self.slave.check(status, self.name, f"{shown} at {time:g} s")


def function_address(slave: Slave, name: str) -> int:
    """Where a function of the slave's library begins."""
    function = slave.dll.fmi2DoStep if name == "fmi2DoStep" else slave.library[name]  # one that waits: pending_steps.py
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def not_finite(node: Node, value: float, time: float) -> SlaveError:
    what = f"{node[1]} is {value} at {time:g} s, though the slave answered fmi2OK; later results are invalid"
    return SlaveError(Problem(node[0], what))
