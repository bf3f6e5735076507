"""The result of the public function `run`: a trace, its contacts, notes and log."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.connection_energy import ConnectionEnergy
from fmu_builder.cosim.events import ContactEvent
from fmu_builder.cosim.implicit.report import BondReport, GroupReport
from fmu_builder.cosim.slave import LogEntry
from fmu_builder.cosim.trace import Trace

_OF_TRACE = frozenset(field.name for field in fields(Trace)) - {"events"}


@dataclass(frozen=True)
class Result:
    """A finished run.

    trace      the recorded signals
    contacts   every contact with its times, speeds, peak force and impulse
    notes      remarks on the run, such as a step that is too long
    log        what the FMUs logged
    bonds      under `implicit` and `adaptive`: how the force at each port was found, and the energy it gave
    groups     and the calls that each group of bodies and elements took
    energies   with `power = true`: the energy that the coupling has made at each connection of ports"""

    trace: Trace
    contacts: tuple[ContactEvent, ...]
    notes: tuple[str, ...]
    log: tuple[LogEntry, ...]
    bonds: tuple[BondReport, ...] = ()
    groups: tuple[GroupReport, ...] = ()
    energies: tuple[ConnectionEnergy, ...] = ()

    @property
    def events(self) -> Mapping[str, float]:
        """Contact events by name, such as `floor.touch[1]`."""
        return self.trace.events

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """The signal `name` of the trace, shape (n,).   Raises InputError if there is none."""
        return self.trace[name]

    def __contains__(self, name: object) -> bool:
        return name in self.trace

    def __str__(self) -> str:
        return str(self.trace)

    def __getattr__(self, name: str) -> object:
        if name in _OF_TRACE:  # the former result of `run` was the trace alone
            warnings.warn(f"the result of run(): write .trace.{name}", FutureWarning, stacklevel=2)
            return getattr(self.trace, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a run.   result: what was reached until then, as of a run that ends there"""

    def __init__(self, result: Result) -> None:
        super().__init__(f"the run was interrupted at {result.trace.time[-1]:g} s")
        self.result = result
