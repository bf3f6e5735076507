"""Parameters of a system fitted to measurements: the file of a fit, its runs, its solution, and what it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fmu_builder.facade import on_demand

if TYPE_CHECKING:
    from fmu_builder.fitting.page import write_page
    from fmu_builder.fitting.result import FitResult, FittedColumn, FittedParameter, fit_to_json
    from fmu_builder.fitting.solution import fit
    from fmu_builder.fitting.tables import Fit, FitMeasurement, FitMethod, FitParameter
    from fmu_builder.fitting.written import fitted_text

__all__ = [
    "Fit",
    "FitMeasurement",
    "FitMethod",
    "FitParameter",
    "FitResult",
    "FittedColumn",
    "FittedParameter",
    "fit",
    "fit_to_json",
    "fitted_text",
    "write_page",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(__name__, __all__)
