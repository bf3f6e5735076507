"""Mechanical force elements and constrained mechanisms as self-contained FMI 2.0 FMUs.

    build(recipe, output=None, platforms=("all",)) -> Path     recipe -> .fmu
    run(scenario) -> Trace                                     slaves coupled by fmpy -> trace
    compare(trace, reference, ...) -> Comparison               trace -> verdict

Errors: `fmu_builder.errors`.  The command line is `fmu-builder`.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fmu_builder.cosim.comparison import Comparison, Tolerance, compare
    from fmu_builder.cosim.trace import Trace, read_trace, write_trace
    from fmu_builder.errors import FmuBuilderError
    from fmu_builder.export.fmu import build
    from fmu_builder.model.scenario import Scenario

    __version__: str

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


_MODULES = {
    "Comparison": "cosim.comparison",
    "FmuBuilderError": "errors",
    "Scenario": "model.scenario",
    "Tolerance": "cosim.comparison",
    "Trace": "cosim.trace",
    "build": "export.fmu",
    "compare": "cosim.comparison",
    "read_trace": "cosim.trace",
    "write_trace": "cosim.trace",
}


def __getattr__(name: str) -> object:
    """Imported at first use: the command line shows its help without numpy, scipy, fmpy and lxml."""
    if name == "__version__":
        from fmu_builder.paths import own_version

        return own_version().split()[0]
    if name not in _MODULES:
        raise AttributeError(f"module 'fmu_builder' has no attribute '{name}'")
    value: object = getattr(importlib.import_module(f"fmu_builder.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def run(scenario: Scenario | Path | str) -> Trace:
    """Run a scenario, a recipe or an .fmu; returns its trace with the contact events in `events`."""
    from fmu_builder.cosim.master import run as run_scenario

    return run_scenario(scenario).trace
