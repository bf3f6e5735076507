"""Mechanical force elements and constrained mechanisms as self-contained FMI 2.0 FMUs.

    build(recipe, output=None, platforms=("all",)) -> Path     recipe -> .fmu
    run(scenario) -> Trace                                     slaves coupled by fmpy -> trace
    compare(trace, reference, ...) -> Comparison               trace -> verdict

Errors: `fmu_builder.errors`.  The command line is `fmu-builder`.
"""

from __future__ import annotations

from pathlib import Path

from fmu_builder.build import build
from fmu_builder.compare import Comparison, Tolerance, compare
from fmu_builder.errors import FmuBuilderError
from fmu_builder.scenario import Scenario
from fmu_builder.trace import Trace, read_trace, write_trace

__all__ = [
    "Comparison",
    "FmuBuilderError",
    "Scenario",
    "Tolerance",
    "Trace",
    "build",
    "compare",
    "read_trace",
    "run",
    "write_trace",
]


def run(scenario: Scenario | Path | str) -> Trace:
    """Run a scenario, a recipe or an .fmu; returns its trace with the contact events in `events`."""
    from fmu_builder.master import run as run_scenario

    return run_scenario(scenario).trace
