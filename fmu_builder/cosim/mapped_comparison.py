"""Comparison of a trace with a measured file: at each measured time, the distance of the trace from the sample."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from fmu_builder.cosim.comparison import COINCIDE, Distance, Tolerance
from fmu_builder.cosim.measurement import MeasuredColumn, Measurement, read_measurement
from fmu_builder.cosim.trace import Trace, read_trace
from fmu_builder.errors import InputError, Problem, collected
from fmu_builder.model.mapping import read_map

_OFFSETS = 401  # that are tried over the range of an unknown one, before the best is refined
_Values = NDArray[np.float64]


@dataclass(frozen=True)
class ColumnResult(Distance):
    """Verdict on one column, in the unit of its signal.

    rms       root of the mean square of trace - measured
    error     the largest |trace - measured|
    allowed   absolute + relative * largest |measured|"""

    signal: str
    samples: int
    rms: float


@dataclass(frozen=True)
class MappedComparison:
    """Verdict on a trace by a measured file.

    offset    time of the run = time of the file + offset, s, fitted if `offset_is_fitted`
    left_out  samples outside of the trace: a comparison with any fails, unless `overlap` allows it"""

    columns: tuple[ColumnResult, ...]
    offset: float
    offset_is_fitted: bool
    left_out: int
    overlap: bool
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return (self.overlap or not self.left_out) and all(one.passed for one in self.columns)


def compare_with_map(
    trace_path: Path, measured: Path, map_path: Path, tolerance: Tolerance, *, overlap: bool = False
) -> MappedComparison:
    """Compare a trace with the columns of a measured file that a map names.

    Raises InputError with what is wrong with the three files, or if trace and file have no time in common."""
    problems: list[Problem] = []
    trace = table = None
    with collected(problems):
        trace = read_trace(trace_path)
    with collected(problems):
        table = read_map(map_path)
    if trace is None or table is None:
        raise InputError(problems)
    units = {name: trace.units.get(name, "") for name in trace.names}
    return compare_measurement(
        trace,
        read_measurement(measured, table, units, f"{map_path}: ", source=str(trace_path)),
        tolerance,
        overlap=overlap,
    )


def compare_measurement(
    trace: Trace, measurement: Measurement, tolerance: Tolerance, *, overlap: bool = False
) -> MappedComparison:
    """Raises InputError if trace and measurement have no time in common."""
    offset = measurement.offset
    if measurement.offset_bounds is not None:
        offset = _best_offset(trace, measurement)
    results, left_out = [], 0
    for column in measurement.columns:
        use = within(trace.time, column.time, offset, offset)
        check_overlap(trace.time, measurement, column, use)
        left_out += int(np.count_nonzero(~use))
        time, reference = column.time[use] + offset, column.values[use]
        value = interpolated(trace.time, trace[column.signal], time)
        error = np.abs(value - reference)
        worst = int(error.argmax())
        allowed = tolerance.absolute + tolerance.relative * float(np.abs(reference).max())
        results.append(
            ColumnResult(
                name=column.name,
                signal=column.signal,
                unit=column.unit,
                samples=len(time),
                rms=float(np.sqrt(np.mean(error**2))),
                error=float(error[worst]),
                time=float(time[worst]),
                value=float(value[worst]),
                reference=float(reference[worst]),
                allowed=allowed,
                passed=bool(error[worst] <= allowed),
            )
        )
    is_fitted = measurement.offset_bounds is not None
    return MappedComparison(tuple(results), offset, is_fitted, left_out, overlap, measurement.notes)


def mapped_to_json(comparison: MappedComparison) -> dict[str, object]:
    return {"passed": comparison.passed, **asdict(comparison)}


# --- a run at measured times ------------------------------------------------------------------------------------------


def interpolated(time: _Values, values: _Values, at: _Values) -> _Values:
    """A signal, linear between its samples, at times within them."""
    return np.interp(at, time, values)


def within(time: _Values, measured: _Values, least: float, largest: float) -> NDArray[np.bool_]:
    """Which measured times are in the span of the run with each offset between these."""
    slack = COINCIDE * max(abs(float(time[0])), abs(float(time[-1])))
    inside = (measured + least >= time[0] - slack) & (measured + largest <= time[-1] + slack)
    return np.asarray(inside, dtype=np.bool_)


def check_overlap(time: _Values, measurement: Measurement, column: MeasuredColumn, use: NDArray[np.bool_]) -> None:
    """Raises InputError where no measured time is in the span of the run, with each offset that is allowed."""
    if use.any():
        return
    measured = f"{column.time[0]:g} s to {column.time[-1]:g} s"
    rule = f"the run {time[0]:g} s to {time[-1]:g} s"
    bounds = measurement.offset_bounds
    if bounds:
        offset = f"{bounds[0]:g} s to {bounds[1]:g} s: no time in common with each of these offsets; narrow or correct"
    else:
        offset = f"{measurement.offset:g} s: no time in common; correct"
    what = f"covers {measured} and {rule}, with the time offset {offset} time_offset"
    raise InputError(Problem(f"{measurement.path}: column '{column.name}'", what))


def _best_offset(trace: Trace, measurement: Measurement) -> float:
    """The offset of the least sum of squares: the best of a scan, refined."""
    assert measurement.offset_bounds is not None
    least, largest = measurement.offset_bounds
    uses = [within(trace.time, column.time, least, largest) for column in measurement.columns]
    for column, use in zip(measurement.columns, uses, strict=True):
        check_overlap(trace.time, measurement, column, use)

    def cost(offset: float) -> float:
        total = 0.0
        for column, use in zip(measurement.columns, uses, strict=True):
            run = interpolated(trace.time, trace[column.signal], column.time[use] + offset)
            scale = column.deviation or float(np.ptp(column.values)) or 1.0
            total += float(np.sum((column.weight * (run - column.values[use]) / scale) ** 2))
        return total

    tried = np.linspace(least, largest, _OFFSETS)
    best = int(np.argmin([cost(float(one)) for one in tried]))
    around = (float(tried[max(best - 1, 0)]), float(tried[min(best + 1, _OFFSETS - 1)]))
    found = minimize_scalar(cost, bounds=around, method="bounded", options={"xatol": 1e-9 * (largest - least)})
    return float(found.x) if found.fun <= cost(float(tried[best])) else float(tried[best])
