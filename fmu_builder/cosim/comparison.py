"""Comparison of a trace with a reference: a tube around every signal, and a table of events.

A signal passes if at every time of both grids inside the common span the trace lies in the tube

    min ref - a <= trace(t) <= max ref + a      min and max over [t - dt, t + dt],  a = absolute + relative max|ref|

where trace and reference are piecewise linear between their samples, min and max are exact (samples inside the window
and the interpolated ends of it), and dt is the tolerance in time.  dt belongs to the physics (a fraction of the
contact's duration), not to the length of the trace: 0.2 % of 1 s swallows a contact of 2 ms.  At a jump (equal times)
the tube covers both sides, and both sides of the trace must lie in it.  Times closer than 1e-12 of the largest time
coincide; with coinciding grids and dt = 0 nothing is interpolated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from numbers import Real
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.events import event_units
from fmu_builder.cosim.trace import Trace, check_trace, read_trace
from fmu_builder.errors import InputError, Problem, collected, did_you_mean
from fmu_builder.units import parse_unit

COINCIDE = 1e-12  # of the largest time: above the rounding of t0 + k h, far below any step


@dataclass(frozen=True)
class Tolerance:
    """What a signal or an event may differ by.

    absolute  in the unit of the signal or event
    relative  of the largest |reference value| of the signal, or of the |reference value| of the event
    time      s; how far the reference may be shifted in time; for an event that is a time it adds to absolute
    """

    absolute: float = 0.0
    relative: float = 0.0
    time: float = 0.0


@dataclass(frozen=True)
class Distance:
    """The largest distance of a signal from what it is compared with, in `unit`, and whether it is `allowed`.

    time   of the run, s, where it is that far, for the first time; `value` and `reference` are those there"""

    name: str
    unit: str
    error: float
    time: float
    value: float
    reference: float
    allowed: float
    passed: bool


class SignalResult(Distance):
    """Verdict on one signal.

    error      largest distance of the trace from the reference widened in time only
    reference  the nearest value the reference has within the tolerance in time
    allowed    absolute + relative * largest |reference value|
    """


@dataclass(frozen=True)
class EventResult:
    """Verdict on one event; value, reference and what follows from them are None where the event is absent."""

    name: str
    unit: str
    error: float | None
    value: float | None
    reference: float | None
    allowed: float | None
    passed: bool
    note: str = ""


@dataclass(frozen=True)
class Span:
    """The times compared, in s; `note` says what was left out, "" if trace and reference cover each other."""

    start: float
    stop: float
    note: str = ""


@dataclass(frozen=True)
class Comparison:
    """Verdict on a trace: every signal of the reference, every event that has a tolerance, and that both traces cover
    the same times unless `overlap` allows to compare the times that both have."""

    signals: tuple[SignalResult, ...]
    events: tuple[EventResult, ...]
    span: Span
    overlap: bool = False

    @property
    def passed(self) -> bool:
        """Whether all signals and events keep within their tolerances, and the times are those that were asked for."""
        covered = self.overlap or not self.span.note
        return covered and all(s.passed for s in self.signals) and all(e.passed for e in self.events)


def compare(
    trace: Trace,
    reference: Trace,
    tolerances: Mapping[str, Tolerance] | None,
    default: Tolerance,
    event_tolerances: Mapping[str, Tolerance] | None = None,
    overlap: bool = False,
) -> Comparison:
    """Compares every signal of the reference, and every event of `event_tolerances`, with the trace.

    tolerances  per signal; `default` serves the others.   Signals which only the trace has are not compared.
    overlap     pass although one of the traces begins later or ends earlier than the other
    Raises InputError with all of: a signal of the reference missing in the trace, a tolerance for an unknown signal or
    event or one that is no tolerance, different units, nothing to compare, no common span.
    """
    check_trace(trace, "trace")
    check_trace(reference, "reference")
    return _compare(trace, reference, tolerances or {}, default, event_tolerances or {}, "trace", "reference", overlap)


def compare_files(
    trace_path: Path,
    reference_path: Path,
    default: Tolerance,
    overlap: bool = False,
) -> Comparison:
    """`compare` of two files, all signals with one tolerance; raises InputError with the faults of both."""
    traces: list[Trace] = []
    problems: list[Problem] = []
    for path in (trace_path, reference_path):
        with collected(problems):
            traces.append(read_trace(path))
    if problems:
        raise InputError(problems)
    trace, reference = traces
    names = (str(trace_path), str(reference_path))
    return _compare(trace, reference, {}, default, {}, *names, overlap)


def comparison_to_json(comparison: Comparison) -> dict[str, object]:
    """The comparison as tables, lists, texts, numbers, Booleans and None: what JSON can hold."""
    return {
        "passed": comparison.passed,
        "span": asdict(comparison.span),
        "signals": [asdict(result) for result in comparison.signals],
        "events": [asdict(result) for result in comparison.events],
    }


def _compare(
    trace: Trace,
    reference: Trace,
    tolerances: Mapping[str, Tolerance],
    default: Tolerance,
    event_tolerances: Mapping[str, Tolerance],
    trace_name: str,
    reference_name: str,
    overlap: bool,
) -> Comparison:
    problems = [
        *_tolerance_problems("default tolerance", default),
        *_signal_problems(trace, reference, tolerances, trace_name, reference_name),
        *_event_problems(trace, reference, event_tolerances),
    ]
    if not reference.names and not event_tolerances:
        problems.append(Problem(reference_name, "has no signals, and no event has a tolerance: nothing to compare"))
    grid = _Grid(trace.time, reference.time)
    if grid.start > grid.stop:
        spans = f"{_span_text(trace)}, {reference_name} {_span_text(reference)}"
        problems.append(Problem(trace_name, f"covers {spans}: no common span"))
    if problems:
        raise InputError(problems)
    windows = {name: tolerances.get(name, default).time for name in reference.names}
    tubes = {width: _Window(grid, width) for width in set(windows.values())}
    signals = tuple(
        _signal_result(name, trace, reference, tolerances.get(name, default), grid, tubes[windows[name]])
        for name in reference.names
    )
    events = tuple(
        _event_result(name, trace.events.get(name), reference.events.get(name), tolerance)
        for name, tolerance in event_tolerances.items()
    )
    return Comparison(signals, events, _span(grid), overlap)


# --- what is wrong with the question ---------------------------------------------------------------------------------


def _tolerance_problems(where: str, tolerance: object) -> list[Problem]:
    if not isinstance(tolerance, Tolerance):
        return [Problem(where, f"{tolerance!r} must be a Tolerance")]
    problems = []
    for quantity, value in asdict(tolerance).items():
        if not isinstance(value, Real):
            problems.append(Problem(where, f"{quantity} = {value!r}; must be a number"))
        elif not (math.isfinite(value) and float(value) >= 0.0):
            problems.append(Problem(where, f"{quantity} = {value}; must be finite and not negative"))
    return problems


def _signal_problems(
    trace: Trace, reference: Trace, tolerances: Mapping[str, Tolerance], trace_name: str, reference_name: str
) -> list[Problem]:
    problems: list[Problem] = []
    for name in reference.names:
        if name not in trace:
            what = f"no signal '{name}', which {reference_name} has{did_you_mean(name, trace.names)}"
            problems.append(Problem(trace_name, what))
    for name in ("time", *reference.names):
        unit, reference_unit = trace.units.get(name), reference.units.get(name)
        if unit and reference_unit and not _same_unit(unit, reference_unit):
            what = f"unit '{unit}', but '{reference_unit}' in {reference_name}; convert one of them"
            problems.append(Problem(f"{trace_name}, signal '{name}'", what))
    for name, tolerance in tolerances.items():
        where = f"tolerance of signal '{name}'"
        if name not in reference:
            problems.append(Problem(where, f"{reference_name} has no such signal{did_you_mean(name, reference.names)}"))
        problems += _tolerance_problems(where, tolerance)
    return problems


def _event_problems(trace: Trace, reference: Trace, tolerances: Mapping[str, Tolerance]) -> list[Problem]:
    problems: list[Problem] = []
    known = {**trace.events, **reference.events}
    for name, tolerance in tolerances.items():
        where = f"tolerance of event '{name}'"
        if name not in known:
            what = f"neither trace nor reference has such an event{did_you_mean(name, known)}"
            problems.append(Problem(where, what))
        elif isinstance(tolerance, Tolerance) and tolerance.time and event_units(name) not in ("s", ""):
            what = f"time = {tolerance.time} s, but the event is in {event_units(name)}; state absolute or relative"
            problems.append(Problem(where, what))
        problems += _tolerance_problems(where, tolerance)
    return problems


def _same_unit(text: str, other_text: str) -> bool:
    """Whether two texts mean one unit, as N.m and N*m do; unknown units must be the same text."""
    if text == other_text:
        return True
    try:
        unit, other = parse_unit(text), parse_unit(other_text)
    except InputError:
        return False
    return unit.same_dimension(other) and (unit.factor, unit.offset) == (other.factor, other.offset)


def _span_text(trace: Trace) -> str:
    return f"{float(trace.time[0])!r} s to {float(trace.time[-1])!r} s"


# --- the tube --------------------------------------------------------------------------------------------------------


class _Curve:
    """Where the times `at`, all within the curve's span, lie on the grid `time` of a piecewise linear curve."""

    def __init__(self, time: NDArray[np.float64], at: NDArray[np.float64]) -> None:
        # the last sample at or before each time: exact there (share 0), the right side at a jump
        self.left = np.searchsorted(time, at, side="right") - 1
        self.right = np.minimum(self.left + 1, time.size - 1)
        width = time[self.right] - time[self.left]
        self.share = np.divide(at - time[self.left], width, out=np.zeros_like(at), where=width > 0.0)

    def __call__(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The curve through `values` (one per grid time) at the times."""
        left = values[self.left]
        return left + self.share * (values[self.right] - left)


class _Grid:
    """All times at which trace and reference are compared, shape (p,), and how the trace gets its values there.

    These are the samples of the trace (at a jump both sides) and the times which only the reference has.
    """

    def __init__(self, time: NDArray[np.float64], reference_time: NDArray[np.float64]) -> None:
        self.reference_time = reference_time
        self.coincide = COINCIDE * float(max(np.abs(time[[0, -1]]).max(), np.abs(reference_time[[0, -1]]).max()))
        self.trace_time = _snapped(time, reference_time, self.coincide)
        self.start = float(max(self.trace_time[0], reference_time[0]))
        self.stop = float(min(self.trace_time[-1], reference_time[-1]))
        self._samples = np.flatnonzero((self.trace_time >= self.start) & (self.trace_time <= self.stop))
        common = reference_time[(reference_time >= self.start) & (reference_time <= self.stop)]
        between = np.setdiff1d(common, self.trace_time)
        self._between = _Curve(self.trace_time, between)
        times = np.concatenate((self.trace_time[self._samples], between))
        self._order = np.argsort(times, kind="stable")
        self.time = times[self._order]

    def on_trace(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """A signal of the trace at the times of the grid, shape (p,)."""
        return np.concatenate((values[self._samples], self._between(values)))[self._order]


def _snapped(time: NDArray[np.float64], reference_time: NDArray[np.float64], coincide: float) -> NDArray[np.float64]:
    """`time` with every time that coincides with one of the reference replaced by it; still not decreasing."""
    after = np.minimum(np.searchsorted(reference_time, time), reference_time.size - 1)
    before = np.maximum(after - 1, 0)
    nearer_before = np.abs(time - reference_time[before]) < np.abs(time - reference_time[after])
    nearest = reference_time[np.where(nearer_before, before, after)]
    return np.where(np.abs(time - nearest) <= coincide, nearest, time)


class _Window:
    """The reference within [t - width, t + width] of every time t of the grid, width in s."""

    def __init__(self, grid: _Grid, width: float) -> None:
        time = grid.reference_time
        if width > 0.0:
            width += grid.coincide  # a shift of exactly the tolerance stays inside it, whatever the rounding
        begin = np.maximum(grid.time - width, time[0])
        end = np.minimum(grid.time + width, time[-1])
        self._begin = _Curve(time, begin)
        self._end = _Curve(time, end)
        first = np.searchsorted(time, begin, side="left")
        beyond = np.searchsorted(time, end, side="right")
        # a window of 2^j to 2^(j+1) - 1 samples is the union of two runs of 2^j samples; j = -1: no sample inside
        exponent = np.frexp(beyond - first)[1] - 1
        self._runs: list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]] = []
        for j in range(int(exponent.max(initial=-1)) + 1):
            windows = np.flatnonzero(exponent == j)
            self._runs.append((windows, first[windows], beyond[windows] - 2**j))

    def extremes(self, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Least and largest value of the reference signal in every window, both shape (p,)."""
        begin, end = self._begin(values), self._end(values)
        least, largest = np.minimum(begin, end), np.maximum(begin, end)
        run_least = run_largest = values  # of the 2^j samples from each sample on
        for j, (windows, head, tail) in enumerate(self._runs):
            if windows.size:
                least[windows] = np.minimum(least[windows], np.minimum(run_least[head], run_least[tail]))
                largest[windows] = np.maximum(largest[windows], np.maximum(run_largest[head], run_largest[tail]))
            if j + 1 < len(self._runs):
                run_least = np.minimum(run_least[: -(2**j)], run_least[2**j :])
                run_largest = np.maximum(run_largest[: -(2**j)], run_largest[2**j :])
        return least, largest


def _signal_result(
    name: str, trace: Trace, reference: Trace, tolerance: Tolerance, grid: _Grid, window: _Window
) -> SignalResult:
    reference_values = np.ascontiguousarray(reference[name])
    values = grid.on_trace(trace[name])
    least, largest = window.extremes(reference_values)
    nearest = np.clip(values, least, largest)
    error = np.abs(values - nearest)
    worst = int(error.argmax())
    allowed = tolerance.absolute + tolerance.relative * float(np.abs(reference_values).max())
    return SignalResult(
        name=name,
        unit=reference.units.get(name) or trace.units.get(name, ""),
        error=float(error[worst]),
        time=float(grid.time[worst]),
        value=float(values[worst]),
        reference=float(nearest[worst]),
        allowed=allowed,
        passed=bool(error[worst] <= allowed),
    )


def _event_result(name: str, value: float | None, reference: float | None, tolerance: Tolerance) -> EventResult:
    unit = event_units(name)
    allowed = None
    if reference is not None:
        allowed = tolerance.absolute + tolerance.relative * abs(reference) + tolerance.time
    if value is None or reference is None or allowed is None:
        note = "absent in the trace" if value is None else "absent in the reference"
        return EventResult(name, unit, None, value, reference, allowed, passed=False, note=note)
    error = abs(value - reference)
    return EventResult(name, unit, error, value, reference, allowed, passed=error <= allowed)


def _span(grid: _Grid) -> Span:
    missing = []
    for name, own, other in (
        ("trace", grid.trace_time, grid.reference_time),
        ("reference", grid.reference_time, grid.trace_time),
    ):
        if own[0] > other[0]:
            missing.append(f"the {name} starts at {float(own[0])!r} s, not at {float(other[0])!r} s")
        if own[-1] < other[-1]:
            missing.append(f"the {name} ends at {float(own[-1])!r} s, not at {float(other[-1])!r} s")
    note = f"compared from {grid.start!r} s to {grid.stop!r} s only: {', '.join(missing)}" if missing else ""
    return Span(grid.start, grid.stop, note)
