"""The result of a fit: values with intervals, correlations, residuals, and what to doubt."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fmu_builder.errors import InputError, Problem, did_you_mean
from fmu_builder.model.scenario import CheckedScenario

Values = NDArray[np.float64]


@dataclass(frozen=True)
class FittedParameter:
    """A fitted value.

    low, high    ends of its confidence interval, infinite where the measurements do not determine it
    deviation    standard error; of a logarithmic parameter value times that of its logarithm
    start, min, max   with which the fit began, and its bounds"""

    name: str
    unit: str
    value: float
    low: float
    high: float
    deviation: float
    start: float
    min: float
    max: float
    log: bool = False
    at_bound: bool = False


@dataclass(frozen=True, eq=False)
class FittedColumn:
    """A measured column and what the fitted system gives.

    rms         root of the mean square of fitted - measured, in `unit`
    deviation   of the noise, as given or, if `estimated`, as the residuals show
    time        shape (n,), s, of the run;   measured, fitted   shape (n,), in `unit`"""

    file: str
    name: str
    signal: str
    unit: str
    rms: float
    deviation: float
    estimated: bool
    time: Values
    measured: Values
    fitted: Values


@dataclass(frozen=True, eq=False)
class FitResult:
    """A finished fit.

    scenario      the system, with the times of its runs;   starts   the fitted start values by slave and variable
    correlation   shape (p, p), of the parameters in their order; NaN where they are not determined
    confidence    of the intervals: 0.95
    scale         root of the mean square of residuals over deviations, per degree of freedom: 1 where the given
                  deviations explain the residuals
    converged     whether the last window ended before its limit of iterations
    method        how it was found, in a sentence;   runs, failed_runs   how many there were
    warnings      what to doubt;   notes   what else to know"""

    path: Path
    scenario: CheckedScenario
    starts: Mapping[str, Mapping[str, float]]
    parameters: tuple[FittedParameter, ...]
    columns: tuple[FittedColumn, ...]
    correlation: Values
    confidence: float
    scale: float
    degrees_of_freedom: int
    converged: bool
    method: str
    runs: int
    failed_runs: int
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> FittedParameter:
        """The parameter of this name.   Raises InputError if there is none."""
        for one in self.parameters:
            if one.name == name:
                return one
        known = [one.name for one in self.parameters]
        raise InputError(Problem("fit", f"there is no parameter '{name}'{did_you_mean(name, known)}"))

    def __str__(self) -> str:
        rows = [("parameter", "value", f"{self.confidence:.0%} interval", "unit")]
        rows += [
            (p.name, f"{p.value:.6g}", f"{p.low:.6g} .. {p.high:.6g}", p.unit if p.unit != "1" else "")
            for p in self.parameters
        ]
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
        return "\n".join(line.rstrip() for line in lines)


def fit_to_json(result: FitResult) -> dict[str, object]:
    """What JSON can hold; null in place of what is not finite."""

    def plain(value: float) -> float | None:
        return value if math.isfinite(value) else None

    return {
        "fit": str(result.path),
        "parameters": [
            {
                "name": p.name,
                "unit": p.unit,
                "value": p.value,
                "low": plain(p.low),
                "high": plain(p.high),
                "deviation": plain(p.deviation),
                "start": p.start,
                "min": p.min,
                "max": p.max,
                "log": p.log,
                "at_bound": p.at_bound,
            }
            for p in result.parameters
        ],
        "correlation": [[plain(number) for number in row] for row in result.correlation.tolist()],
        "columns": [
            {
                "file": c.file,
                "name": c.name,
                "signal": c.signal,
                "unit": c.unit,
                "samples": len(c.time),
                "rms": c.rms,
                "deviation": c.deviation,
                "estimated": c.estimated,
            }
            for c in result.columns
        ],
        "confidence": result.confidence,
        "scale": result.scale,
        "degrees_of_freedom": result.degrees_of_freedom,
        "converged": result.converged,
        "method": result.method,
        "runs": result.runs,
        "failed_runs": result.failed_runs,
        "warnings": list(result.warnings),
        "notes": list(result.notes),
    }
