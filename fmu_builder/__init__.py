"""Mechanical force elements and constrained mechanisms as self-contained FMI 2.0 FMUs.

    build(recipe, output=None, platforms=("all",)) -> Path     recipe -> .fmu
    run(scenario) -> Trace                                     slaves coupled by fmpy -> trace
    compare(trace, reference, ...) -> Comparison               trace -> verdict

Errors: `fmu_builder.errors`.  The command line is `fmu-builder`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fmu_builder.facade import on_demand

if TYPE_CHECKING:
    from fmu_builder.cosim import Comparison, Tolerance, Trace, compare, read_trace, write_trace
    from fmu_builder.errors import FmuBuilderError
    from fmu_builder.export import build
    from fmu_builder.model import Scenario
    from fmu_builder.version import __version__

__all__ = [
    "Comparison",
    "FmuBuilderError",
    "Scenario",
    "Tolerance",
    "Trace",
    "__version__",
    "build",
    "compare",
    "read_trace",
    "run",
    "write_trace",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(__name__, __all__)


def run(scenario: Scenario | Path | str) -> Trace:
    """Run a scenario, a recipe or an .fmu; returns its trace with the contact events in `events`."""
    from fmu_builder.cosim.master import run as run_scenario

    return run_scenario(scenario).trace
