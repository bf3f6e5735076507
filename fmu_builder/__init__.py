"""Mechanical force elements and constrained mechanisms as self-contained FMI 2.0 FMUs.

    build(recipe, output=None, platforms=("all",)) -> Path     recipe -> .fmu
    run(scenario) -> Trace                                     slaves coupled by fmpy -> trace
    compare(trace, reference, ...) -> Comparison               trace -> verdict

Errors: `fmu_builder.errors`.  The command line is `fmu-builder`.
"""

from __future__ import annotations

from pathlib import Path

from fmu_builder.cosim.comparison import Comparison, Tolerance, compare
from fmu_builder.cosim.trace import Trace, read_trace, write_trace
from fmu_builder.errors import FmuBuilderError
from fmu_builder.export.fmu import build
from fmu_builder.model.scenario import Scenario

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
    from fmu_builder.cosim.master import run as run_scenario

    return run_scenario(scenario).trace
