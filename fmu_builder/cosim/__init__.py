"""Coupled runs: slaves, the master, traces, events, cases and their comparison with a reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fmu_builder.facade import on_demand

if TYPE_CHECKING:
    from fmu_builder.cosim.comparison import Comparison, Tolerance, compare, compare_files
    from fmu_builder.cosim.events import ContactEvent
    from fmu_builder.cosim.master import load_scenario, run
    from fmu_builder.cosim.result import Result
    from fmu_builder.cosim.slave import Slave, SlaveDescription, read_slave
    from fmu_builder.cosim.trace import Trace, read_trace, write_trace
    from fmu_builder.cosim.validation import CaseResult, all_cases, find_cases, validate

__all__ = [
    "CaseResult",
    "Comparison",
    "ContactEvent",
    "Result",
    "Slave",
    "SlaveDescription",
    "Tolerance",
    "Trace",
    "all_cases",
    "compare",
    "compare_files",
    "find_cases",
    "load_scenario",
    "read_slave",
    "read_trace",
    "run",
    "validate",
    "write_trace",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(__name__, __all__)
