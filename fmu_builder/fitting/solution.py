"""The public function `fit`: parameters from measurements, their intervals, and what to doubt."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from fmu_builder.errors import behind_number
from fmu_builder.fitting.result import FitResult, FittedColumn, FittedParameter
from fmu_builder.fitting.search import Found, Progress, Search, method_text
from fmu_builder.fitting.tables import Fit, find_fit
from fmu_builder.fitting.task import FitTask, Parameter
from fmu_builder.model.documents import as_file

Values = NDArray[np.float64]
_AT_BOUND = 1e-3  # share of the range
_PASSES, _STEADY = 10, 0.01  # in which the deviations of columns are found, and their relative change that ends it
_CORRELATED = 0.99
_SINGULAR = 1e-10  # singular values of the scaled Jacobian, over the largest
_NOT_WHITE = 1e-3  # probability of the residuals' autocorrelation, were they independent
_LAGS = 10
_GIVEN_TOO_SMALL = 1.5  # residuals over given deviations that are worth a warning


def fit(source: Fit | Path | str, *, progress: Progress | None = None) -> FitResult:
    """Fit parameters of a system to measured files.

    source     a Fit, the path of its file, or the name of a shipped fit
    progress   is called with a text on what is done
    Raises InputError with everything that is wrong with the files, SlaveError if no run succeeds."""
    with as_file(source, "source") as path, FitTask(find_fit(str(path))) as task:
        return fitted(task, progress or (lambda text: None))


def fitted(task: FitTask, progress: Progress) -> FitResult:
    """The fit of a task that is entered.   Raises SlaveError."""
    known = [one.column.deviation for one in task.series]
    spans = [float(np.ptp(one.values)) or 1.0 for one in task.series]
    scales = [deviation or span for deviation, span in zip(known, spans, strict=True)]
    weights = [one.column.weight for one in task.series]
    search = Search(task, _over(scales, weights), 1.0 if all(known) else 0.1, progress)
    found = search.least()
    if not all(known):
        for _ in range(_PASSES):  # each column counts by what its own residuals show
            parts = _parts(task, found.residuals, scales, weights)
            rms = [_rms(part) * scale / weight for part, scale, weight in parts]
            guessed = zip(known, rms, scales, strict=True)
            before, scales = scales, [deviation or seen or scale for deviation, seen, scale in guessed]
            if len(scales) == 1 and task.table.method.loss == "linear":  # the least stays where it is
                found = found.scaled(before[0] / scales[0])
                break
            found = Search(task, _over(scales, weights), 1.0, progress).through_all(found.shares)
            if all(abs(now - last) <= _STEADY * last for now, last in zip(scales, before, strict=True)):
                break
    return _result(task, found, scales, weights)


def _over(scales: Sequence[float], weights: Sequence[float]) -> list[float]:
    return [scale / weight for scale, weight in zip(scales, weights, strict=True)]


def _parts(
    task: FitTask, residuals: Values, scales: Sequence[float], weights: Sequence[float]
) -> Iterator[tuple[Values, float, float]]:
    """The residuals of each series, with its scale and weight."""
    ends = np.cumsum([len(one.time) for one in task.series])[:-1]
    yield from zip(np.split(residuals, ends), scales, weights, strict=True)


def _rms(values: Values) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _result(task: FitTask, found: Found, scales: Sequence[float], weights: Sequence[float]) -> FitResult:
    method = task.table.method
    values = np.array([one.of_share(share) for one, share in zip(task.parameters, found.shares.tolist(), strict=True)])
    degrees = len(found.residuals) - len(values)
    scale = math.sqrt(2.0 * found.cost / degrees)
    spread = _spread(found.jacobian, scale)
    quantile = float(stats.t.ppf(0.5 + 0.5 * method.confidence, degrees))
    parameters = tuple(
        _parameter(one, share, deviation, quantile)
        for one, share, deviation in zip(
            task.parameters, found.shares.tolist(), spread.deviations.tolist(), strict=True
        )
    )
    columns = []
    for series, simulated, (part, _, weight), divisor in zip(
        task.series, task.values(values), _parts(task, found.residuals, scales, weights), scales, strict=True
    ):
        given = series.column.deviation
        columns.append(
            FittedColumn(
                file=str(task.measurements[series.measurement].path),
                name=series.column.name,
                signal=series.column.signal,
                unit=series.column.unit,
                rms=_rms(simulated - series.values),
                deviation=given if given is not None else _rms(part) * divisor / weight,
                estimated=given is None,
                time=series.time + task.offset(series.measurement, values),
                measured=series.values,
                fitted=simulated,
            )
        )
    return FitResult(
        path=task.path,
        scenario=task.scenario,
        starts=_starts(task, values),
        parameters=parameters,
        columns=tuple(columns),
        correlation=spread.correlation,
        confidence=method.confidence,
        scale=scale,
        degrees_of_freedom=degrees,
        converged=found.converged,
        method=method_text(
            method, any(one.measurement is not None for one in task.parameters), task.without_derivatives
        ),
        runs=task.runs,
        failed_runs=task.failed,
        warnings=tuple(_warnings(task, found, parameters, spread, columns, scale)),
        notes=tuple(task.notes),
    )


def _starts(task: FitTask, values: Values) -> dict[str, dict[str, float]]:
    starts: dict[str, dict[str, float]] = {}
    for one, value in zip(task.parameters, values.tolist(), strict=True):
        if one.measurement is None:
            starts.setdefault(one.slave, {})[one.variable] = value
    return starts


# --- how sure the values are ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Spread:
    """deviations   of the shares, shape (p,), infinite where the residuals do not depend on a combination
    correlation   shape (p, p)"""

    deviations: Values
    correlation: Values


def _spread(jacobian: Values, scale: float) -> _Spread:
    """Covariance scale^2 (J^T J)^-1, by the singular values of J with columns of length 1."""
    size = jacobian.shape[1]
    lengths = np.linalg.norm(jacobian, axis=0)
    seen = lengths > 0.0
    deviations, correlation = np.full(size, np.inf), np.full((size, size), np.nan)
    np.fill_diagonal(correlation, 1.0)
    if not seen.any():
        return _Spread(deviations, correlation)
    _, singular, rows = np.linalg.svd(jacobian[:, seen] / lengths[seen], full_matrices=False)
    good = singular > _SINGULAR * singular[0]
    # a parameter with a share in a direction that changes nothing is not determined
    free = (np.abs(rows[~good]) > math.sqrt(_SINGULAR)).any(axis=0) if not good.all() else np.zeros(seen.sum(), bool)
    covariance = (rows[good].T / singular[good] ** 2) @ rows[good]
    spread = np.sqrt(np.diag(covariance))
    places = np.flatnonzero(seen)
    deviations[places] = np.where(free, np.inf, scale * spread / lengths[seen])
    sure = ~free
    correlation[np.ix_(places[sure], places[sure])] = (covariance / np.outer(spread, spread))[np.ix_(sure, sure)]
    return _Spread(deviations, correlation)


def _parameter(one: Parameter, share: float, deviation: float, quantile: float) -> FittedParameter:
    value = one.of_share(share)
    width = quantile * deviation
    if not math.isfinite(width):
        low, high = (0.0, math.inf) if one.log else (-math.inf, math.inf)
    else:
        low, high = _of_share(one, share - width), _of_share(one, share + width)
    slope = value * math.log(one.high / one.low) if one.log else one.high - one.low
    return FittedParameter(
        name=one.name,
        unit=one.unit,
        value=value,
        low=low,
        high=high,
        deviation=deviation * slope,
        start=one.start,
        min=one.low,
        max=one.high,
        log=one.log,
        at_bound=not _AT_BOUND < share < 1.0 - _AT_BOUND,
    )


def _of_share(one: Parameter, share: float) -> float:
    try:
        return one.of_share(share)
    except OverflowError:
        return math.inf


# --- what to doubt ----------------------------------------------------------------------------------------------------


def _warnings(
    task: FitTask,
    found: Found,
    parameters: Sequence[FittedParameter],
    spread: _Spread,
    columns: Sequence[FittedColumn],
    scale: float,
) -> Iterator[str]:
    if not found.converged:
        yield (
            f"the fit has not converged within {task.table.method.max_evaluations} iterations: give a better start, or "
            "more by [method] max_evaluations"
        )
    for one in parameters:
        unit = behind_number(one.unit)
        if not math.isfinite(one.deviation):
            yield f"{one.name} is not identifiable: the measured signals do not determine it; fix it, or measure more"
        elif one.high - one.low > one.max - one.min:
            yield (
                f"{one.name} is hardly identifiable: its interval {one.low:.4g}{unit} to {one.high:.4g}{unit} is wider "
                "than its bounds; fix it, or measure more"
            )
        if one.at_bound:
            side, bound = ("min", one.min) if abs(one.value - one.min) < abs(one.value - one.max) else ("max", one.max)
            yield f"{one.name} is at its bound, {side} = {bound:.6g}{unit}: widen the range, or doubt the model"
    for i, first in enumerate(parameters):
        for j in range(i):
            if abs(spread.correlation[i, j]) > _CORRELATED:
                yield (
                    f"{parameters[j].name} and {first.name} are correlated by {spread.correlation[i, j]:.4f}: the "
                    "measurements determine a combination of them; fix one, or measure more"
                )
    for column in columns:
        if (lags := _autocorrelated(column.fitted - column.measured)) is not None:
            yield (
                f"the residual of {column.signal} in {Path(column.file).name} is not white (autocorrelation {lags:.2f} "
                "between neighbours): the model misses something, and the intervals are too narrow"
            )
    if not any(column.estimated for column in columns) and scale > _GIVEN_TOO_SMALL:
        yield f"the residuals are {scale:.3g} times as large as the given deviations; the intervals count with theirs"
    if task.failed:
        yield f"{task.failed} of {task.runs} runs failed, and their parameters were avoided: {task.first_failure}"


def _autocorrelated(residuals: Values) -> float | None:
    """The correlation of neighbours if residuals are not independent by the test of Ljung and Box (1978)."""
    n, lags = len(residuals), min(_LAGS, len(residuals) // 5)
    centred = residuals - residuals.mean()
    power = float(centred @ centred)
    if lags < 1 or power <= 0.0:
        return None
    shares = np.array([float(centred[k:] @ centred[:-k]) / power for k in range(1, lags + 1)])
    statistic = n * (n + 2) * float(np.sum(shares**2 / (n - np.arange(1, lags + 1))))
    return float(shares[0]) if stats.chi2.sf(statistic, lags) < _NOT_WHITE else None
