"""The tube and the event table: what differs is found, what does not is accepted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fmu_builder.cosim.comparison import SignalResult, Tolerance, compare, compare_files, comparison_to_json
from fmu_builder.cosim.trace import Trace, write_trace
from fmu_builder.errors import InputError

PEAK = 1000.0  # N
DURATION = 3e-3  # s
EXACT = Tolerance()


def signal(time: np.ndarray | list[float], values: np.ndarray | list[float], unit: str = "") -> Trace:
    units = {"f": unit} if unit else {}
    return Trace(np.asarray(time, float), ("f",), np.asarray(values, float)[:, None], units)


def pulses(time: np.ndarray, *touches: float, peak: float = PEAK) -> Trace:
    """Half sines of 3 ms, as a linear contact makes them."""
    force = np.zeros_like(time)
    for touch in touches:
        inside = (time > touch) & (time < touch + DURATION)
        force[inside] = peak * np.sin(np.pi * (time[inside] - touch) / DURATION)
    return signal(time, force, "N")


def one(trace: Trace, reference: Trace, tolerance: Tolerance) -> SignalResult:
    (result,) = compare(trace, reference, None, tolerance).signals
    return result


TIME = np.arange(100_001) * 1e-5  # 1 s


def test_a_pulse_shifted_by_half_a_millisecond_in_a_second_is_refused() -> None:
    shifted, reference = pulses(TIME, 0.5005), pulses(TIME, 0.5)
    # 1e-6 of the peak is the rounding of the times of the samples, times the slope
    refused = one(shifted, reference, Tolerance(relative=1e-6, time=0.06e-3))
    assert not refused.passed
    # at release the shifted pulse is still 0.44 ms from its end, where the widened reference has gone
    assert refused.error == pytest.approx(PEAK * np.sin(np.pi * 0.44 / 3), rel=1e-3)
    assert one(shifted, reference, Tolerance(relative=1e-6, time=0.6e-3)).passed


@settings(deadline=None, max_examples=30)
@given(shift=st.floats(0.0, 1e-3), early=st.booleans())
def test_a_shift_is_accepted_exactly_up_to_the_tolerance_in_time(shift: float, early: bool) -> None:
    grid = np.arange(0.49, 0.51, 1e-5)
    reference = pulses(grid, 0.5)
    shifted = signal(grid + (-shift if early else shift), reference["f"], "N")
    assert one(shifted, reference, Tolerance(absolute=1e-6, time=shift)).passed
    if shift > 2e-5:  # below, the samples of the reference hide the shift
        assert not one(shifted, reference, Tolerance(absolute=1e-6, time=shift - 2e-5)).passed


def test_a_missing_a_spurious_and_a_scaled_pulse_are_found_where_they_are() -> None:
    tolerance = Tolerance(relative=0.01, time=DURATION / 50)
    reference = pulses(TIME, 0.2, 0.6)
    missing = one(pulses(TIME, 0.2), reference, tolerance)
    assert not missing.passed
    assert missing.time == pytest.approx(0.6 + DURATION / 2, abs=1e-5)
    assert (missing.value, missing.unit) == (0.0, "N")
    # the least the reference falls to within the tolerance in time
    assert missing.reference == pytest.approx(PEAK * np.cos(np.pi / 50), rel=1e-4)
    spurious = one(pulses(TIME, 0.2, 0.4, 0.6), reference, tolerance)
    assert not spurious.passed
    assert spurious.time == pytest.approx(0.4 + DURATION / 2, abs=1e-5)
    assert (spurious.reference, spurious.error) == (0.0, pytest.approx(PEAK))
    scaled = one(pulses(TIME, 0.2, 0.6, peak=1.02 * PEAK), reference, tolerance)
    assert not scaled.passed
    assert scaled.error == pytest.approx(0.02 * PEAK, rel=1e-3)
    assert one(pulses(TIME, 0.2, 0.6, peak=1.005 * PEAK), reference, tolerance).passed


def brute_force(trace: Trace, reference: Trace, width: float, times: np.ndarray) -> np.ndarray:
    """Distance of the trace from the reference within +-width at `times`, by dense sampling and every vertex."""
    values = np.interp(times, trace.time, trace["f"])
    distance = np.empty_like(values)
    for k, t in enumerate(times):
        low, high = max(t - width, reference.time[0]), min(t + width, reference.time[-1])
        dense = np.interp(np.linspace(low, high, 201), reference.time, reference["f"])
        vertices = reference["f"][(reference.time >= low) & (reference.time <= high)]
        window = np.concatenate((dense, vertices))
        distance[k] = max(values[k] - window.max(), window.min() - values[k], 0.0)
    return distance


@st.composite
def curve(draw: st.DrawFn) -> Trace:
    """Up to 25 samples on a grid of thousandths of a second, not uniform, so that grids meet and miss each other."""
    steps = draw(st.lists(st.integers(0, 1000), min_size=2, max_size=25, unique=True).map(sorted))
    values = draw(st.lists(st.floats(-10.0, 10.0), min_size=len(steps), max_size=len(steps)))
    return signal(np.array(steps) / 1000.0, np.array(values))


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(trace=curve(), reference=curve(), width=st.one_of(st.just(0.0), st.floats(1e-4, 1.5)))
def test_the_tube_agrees_with_a_dense_evaluation(trace: Trace, reference: Trace, width: float) -> None:
    start, stop = max(trace.time[0], reference.time[0]), min(trace.time[-1], reference.time[-1])
    if start > stop:
        with pytest.raises(InputError, match="no common span"):
            one(trace, reference, Tolerance(time=width))
        return
    times = np.union1d(trace.time, reference.time)
    times = times[(times >= start) & (times <= stop)]
    distance = brute_force(trace, reference, width, times)
    result = one(trace, reference, Tolerance(time=width))
    # slope up to 20/1e-3 per second, times 1e-12 s within which times coincide
    assert result.error == pytest.approx(distance.max(), abs=1e-7)
    assert distance[times == result.time] == pytest.approx(result.error, abs=1e-7)
    assert result.error == abs(result.value - result.reference)


@given(trace=curve(), width=st.floats(0.0, 1.0))
def test_a_trace_equals_itself_exactly(trace: Trace, width: float) -> None:
    result = one(trace, trace, Tolerance(time=width))
    assert result.passed and result.error == 0.0 and result.allowed == 0.0


@given(trace=curve(), offset=st.floats(-1.0, 1.0))
def test_coinciding_grids_are_compared_without_interpolation(trace: Trace, offset: float) -> None:
    # times off by rounding, as between k*h and an accumulated sum
    moved = signal(trace.time * (1 + 4e-16), trace["f"] + offset)
    assert one(moved, trace, EXACT).error == np.abs(moved["f"] - trace["f"]).max()
    assert compare(moved, trace, None, EXACT).span.note == ""


def test_samples_between_those_of_the_other_grid_are_compared_both_ways() -> None:
    coarse, bump = signal([0.0, 2.0], [0.0, 0.0]), signal([0.0, 1.0, 2.0], [0.0, 3.0, 0.0])
    for trace, reference, value in ((coarse, bump, 0.0), (bump, coarse, 3.0)):
        result = one(trace, reference, EXACT)
        assert (result.error, result.time, result.value) == (3.0, 1.0, value)


def test_a_symmetric_pulse_mirrored_in_time_gives_the_same_verdict() -> None:
    grid = np.linspace(-1.0, 1.0, 41)
    reference, trace = signal(grid, 1 - np.abs(grid)), signal(grid + 0.0125, 1 - np.abs(grid))
    mirrored = signal(-trace.time[::-1], trace["f"][::-1])
    for width in (0.0, 0.004, 0.01, 0.0125):
        late, early = (one(curve, reference, Tolerance(time=width)) for curve in (trace, mirrored))
        # times within 1e-12 coincide, so the window is that much wider
        assert late.error == pytest.approx(0.0125 - width, abs=1e-11)
        assert early.error == pytest.approx(late.error, abs=1e-11)


def test_both_sides_of_a_jump_are_covered_and_nothing_else() -> None:
    step = signal([0.0, 1.0, 1.0, 2.0], [0.0, 0.0, 5.0, 5.0])
    assert one(step, step, EXACT).passed
    sampled = signal([0.0, 1.0, 1.5, 2.0], [0.0, 2.5, 5.0, 5.0])  # one value within the jump; the ramps beside differ
    assert one(signal([1.0], [2.5]), step, EXACT).passed
    assert not one(signal([1.0], [5.5]), step, EXACT).passed
    assert not one(signal([1.0], [-0.5]), step, EXACT).passed
    # the trace may not leave the tube on either side of its own jump
    overshoot = signal([0.0, 1.0, 1.0, 2.0], [0.0, -1.0, 5.0, 5.0])
    assert one(overshoot, step, EXACT).error == 1.0
    assert not one(overshoot, step, Tolerance(absolute=0.9)).passed
    assert one(sampled, step, Tolerance(time=0.5)).passed


@pytest.mark.parametrize(
    ("at", "late"),
    [(1.0, 0.1), (1.0, -0.1), (0.3, 0.1), (0.1, 0.3)],  # in doubles, 0.3 + 0.1 - 0.1 and 0.1 + 0.3 - 0.3 miss the jump
)
def test_a_jump_at_another_time_passes_within_the_tolerance_in_time_only(at: float, late: float) -> None:
    step = signal([0.0, at, at, 2.0], [0.0, 0.0, 5.0, 5.0])
    moved = signal([0.0, at + late, at + late, 2.0], [0.0, 0.0, 5.0, 5.0])
    assert one(moved, step, Tolerance(time=abs(late))).passed
    refused = one(moved, step, Tolerance(time=0.999 * abs(late)))
    assert (refused.passed, refused.error) == (False, 5.0)


def test_two_values_at_one_time_must_both_lie_in_the_tube() -> None:
    assert one(signal([0.0, 1.0, 1.0, 1.0, 2.0], [0, 0, 9, 0, 0]), signal([0.0, 2.0], [0, 0]), EXACT).error == 9.0
    assert one(signal([0.0, 2.0], [9, 9]), signal([0.0, 1.0, 1.0, 1.0, 2.0], [0, 0, 9, 0, 0]), EXACT).time == 0.0


def test_relative_tolerance_is_of_the_largest_reference_value() -> None:
    reference = signal([0.0, 1.0, 2.0], [0.0, -200.0, 50.0])
    result = one(signal([0.0, 1.0, 2.0], [2.5, -200.0, 50.0]), reference, Tolerance(absolute=0.5, relative=0.01))
    assert (result.allowed, result.error, result.passed) == (2.5, 2.5, True)
    assert not one(signal([0.0, 1.0, 2.0], [2.6, -200, 50]), reference, Tolerance(absolute=0.5, relative=0.01)).passed


def test_a_tolerance_of_one_signal_does_not_touch_the_others() -> None:
    time = np.array([0.0, 1.0])
    reference = Trace(time, ("a", "b"), np.zeros((2, 2)), {})
    trace = Trace(time, ("spare", "b", "a"), np.ones((2, 3)), {})
    comparison = compare(trace, reference, {"b": Tolerance(absolute=1.0)}, Tolerance(absolute=0.5))
    assert [(result.name, result.passed) for result in comparison.signals] == [("a", False), ("b", True)]
    assert not comparison.passed


def test_a_trace_that_ends_early_fails_unless_the_overlap_is_enough() -> None:
    short, whole = signal([0.0, 1.0], [0, 1]), signal([0.0, 1.0, 2.0], [0, 1, 7])
    for trace, reference in ((short, whole), (whole, short)):
        assert one(trace, reference, EXACT).passed
        assert not compare(trace, reference, None, EXACT).passed
        assert compare(trace, reference, None, EXACT, overlap=True).passed
    assert compare(whole, whole, None, EXACT).passed


def test_a_reference_of_another_span_is_noted_and_its_window_still_sees_beyond() -> None:
    trace, reference = signal([0.0, 1.0, 2.0], [0, 1, 7]), signal([-1.0, 0.5, 1.0], [-1, 0.5, 1])
    comparison = compare(trace, reference, None, EXACT, overlap=True)
    assert comparison.passed
    assert (comparison.span.start, comparison.span.stop) == (0.0, 1.0)
    assert comparison.span.note == (
        "compared from 0.0 s to 1.0 s only: the trace starts at 0.0 s, not at -1.0 s, "
        "the reference ends at 1.0 s, not at 2.0 s"
    )
    beyond = signal([0.0, 1.0], [-0.5, 1.0])  # at 0 the reference reaches -0.5 half a second before
    assert one(beyond, reference, Tolerance(time=0.5)).passed
    assert compare(reference, trace, None, EXACT).span.note.startswith("compared from 0.0 s to 1.0 s only: the trace")


def test_spans_that_only_touch_are_compared_at_one_time() -> None:
    result = one(signal([0.0, 1.0], [0.0, 4.0]), signal([1.0, 2.0], [3.0, 9.0]), EXACT)
    assert (result.error, result.time) == (1.0, 1.0)


def test_all_that_is_wrong_with_the_question_is_said_at_once() -> None:
    time = np.array([0.0, 1.0])
    trace = Trace(time, ("a.dept", "a.force"), np.zeros((2, 2)), {"a.force": "kN"}, {"a.touch[1]": 0.5, "a.count": 2})
    reference = Trace(time + 5, ("a.depth", "a.force"), np.zeros((2, 2)), {"a.force": "N"}, {"a.impulse[1]": 3.0})
    with pytest.raises(InputError) as caught:
        compare(
            trace,
            reference,
            {"a.forse": EXACT, "a.force": Tolerance(absolute=-1.0, time=float("nan"))},
            Tolerance(relative=float("inf")),
            {"a.tuch[1]": EXACT, "a.impulse[1]": Tolerance(time=0.1), "a.count": Tolerance(time=0.1)},
        )
    assert [str(problem) for problem in caught.value.problems] == [
        "default tolerance: relative = inf; must be finite and not negative",
        "trace: no signal 'a.depth', which reference has; did you mean 'a.dept'?",
        "trace, signal 'a.force': unit 'kN', but 'N' in reference; convert one of them",
        "tolerance of signal 'a.forse': reference has no such signal; did you mean 'a.force'?",
        "tolerance of signal 'a.force': absolute = -1.0; must be finite and not negative",
        "tolerance of signal 'a.force': time = nan; must be finite and not negative",
        "tolerance of event 'a.tuch[1]': neither trace nor reference has such an event; did you mean 'a.touch[1]'?",
        "tolerance of event 'a.impulse[1]': time = 0.1 s, but the event is in N.s; state absolute or relative",
        "trace: covers 0.0 s to 1.0 s, reference 5.0 s to 6.0 s: no common span",
    ]


def test_what_is_no_tolerance_is_named() -> None:
    time = np.array([0.0, 1.0])
    trace = Trace(time, ("a.depth",), np.zeros((2, 1)), {"a.depth": "m"}, {"a.touch[1]": 0.5})
    wrong: Any = 3
    text: Any = "1 mm"
    with pytest.raises(InputError) as caught:
        compare(trace, trace, {"a.depth": Tolerance(absolute=text)}, wrong, {"a.touch[1]": wrong})
    assert [str(problem) for problem in caught.value.problems] == [
        "default tolerance: 3 must be a Tolerance",
        "tolerance of signal 'a.depth': absolute = '1 mm'; must be a number",
        "tolerance of event 'a.touch[1]': 3 must be a Tolerance",
    ]


@pytest.mark.parametrize(
    ("unit", "reference_unit", "same"),
    [("N.m", "N*m", True), ("", "N", True), ("frob", "frob", True), ("frob", "N", False), ("mm", "m", False)],
)
def test_units_are_the_same_whatever_their_spelling(unit: str, reference_unit: str, same: bool) -> None:
    trace, reference = signal([0.0], [1.0], unit), signal([0.0], [1.0], reference_unit)
    if same:
        assert one(trace, reference, EXACT).unit == (reference_unit or unit)
    else:
        with pytest.raises(InputError, match=f"unit '{unit}', but '{reference_unit}' in reference"):
            one(trace, reference, EXACT)


def test_a_comparison_of_nothing_is_refused() -> None:
    nothing = Trace(np.array([0.0, 1.0]), (), np.zeros((2, 0)), {}, {"a.touch[1]": 0.5})
    with pytest.raises(InputError, match="nothing to compare"):
        compare(nothing, nothing, None, EXACT)
    assert compare(nothing, nothing, None, EXACT, {"a.touch[1]": EXACT}).passed


def with_events(**events: float) -> Trace:
    named = {f"a.{name}[1]": value for name, value in events.items()}
    return Trace(np.array([0.0, 1.0]), (), np.zeros((2, 0)), {}, named)


def test_events_are_judged_one_by_one() -> None:
    comparison = compare(
        with_events(touch=0.5005, impulse=-10.2, restitution=0.4),
        with_events(touch=0.5, impulse=-10.0, restitution=0.5),
        None,
        EXACT,
        {
            "a.touch[1]": Tolerance(time=1e-3),
            "a.impulse[1]": Tolerance(absolute=0.1, relative=0.02),
            "a.restitution[1]": Tolerance(absolute=0.05),
        },
    )
    assert [(result.name, result.unit, result.passed) for result in comparison.events] == [
        ("a.touch[1]", "s", True),
        ("a.impulse[1]", "N.s", True),
        ("a.restitution[1]", "1", False),
    ]
    impulse = comparison.events[1]
    assert impulse.error == pytest.approx(0.2) and impulse.allowed == pytest.approx(0.3)
    assert not comparison.passed


def test_an_event_absent_on_one_side_fails_and_says_so() -> None:
    for trace, reference, note in (
        (with_events(), with_events(touch=0.5), "absent in the trace"),
        (with_events(touch=0.5), with_events(), "absent in the reference"),
    ):
        comparison = compare(trace, reference, None, EXACT, {"a.touch[1]": Tolerance(time=1.0)})
        (result,) = comparison.events
        assert (result.passed, result.note, result.error) == (False, note, None)
        assert not comparison.passed


def test_files_are_compared_and_the_faults_of_both_are_named(tmp_path: Path) -> None:
    trace_path, reference_path = tmp_path / "trace.csv", tmp_path / "reference.csv"
    write_trace(signal([0.0, 1.0], [0.0, 2.0], "N"), trace_path)
    reference_path.write_text("t;f\n0;0\n0.5;1\n1;2\n")
    comparison = compare_files(trace_path, reference_path, EXACT)
    assert comparison.passed and comparison.signals[0].unit == "N"
    reference_path.write_text("t;g\n0;0\n")
    with pytest.raises(InputError, match=r"trace\.csv: no signal 'g', which .*reference\.csv has"):
        compare_files(trace_path, reference_path, EXACT)
    reference_path.write_text("t;f\n0;?\n")
    trace_path.unlink()
    with pytest.raises(InputError) as caught:
        compare_files(trace_path, reference_path, EXACT)
    assert [Path(problem.where.partition(": ")[0]).name for problem in caught.value.problems] == [
        "trace.csv",
        "reference.csv",
    ]


def test_a_comparison_goes_through_json_unchanged() -> None:
    time = np.array([0.0, 1.0])
    trace = Trace(time, ("a.f",), np.array([[0.0], [3.0]]), {"a.f": "N"}, {})
    reference = Trace(time, ("a.f",), np.array([[0.0], [2.0]]), {}, {"a.touch[1]": 0.5})
    table = comparison_to_json(compare(trace, reference, None, Tolerance(relative=0.1), {"a.touch[1]": EXACT}))
    assert json.loads(json.dumps(table, allow_nan=False)) == table
    assert table == {
        "passed": False,
        "span": {"start": 0.0, "stop": 1.0, "note": ""},
        "signals": [
            {
                "name": "a.f",
                "unit": "N",
                "error": 1.0,
                "time": 1.0,
                "value": 3.0,
                "reference": 2.0,
                "allowed": 0.2,
                "passed": False,
            }
        ],
        "events": [
            {
                "name": "a.touch[1]",
                "unit": "s",
                "error": None,
                "value": None,
                "reference": 0.5,
                "allowed": 0.0,
                "passed": False,
                "note": "absent in the trace",
            }
        ],
    }


@pytest.mark.benchmark
def test_ten_signals_of_100000_samples_take_less_than_a_second() -> None:
    from time import process_time

    random = np.random.default_rng(1)
    names = tuple(f"signal[{i}]" for i in range(10))
    trace, reference = (
        Trace(np.sort(random.random(100_000)), names, random.standard_normal((100_000, 10)), {}) for _ in range(2)
    )
    times = []
    for _ in range(3):
        start = process_time()
        compare(trace, reference, None, Tolerance(absolute=1.0, time=1e-3))
        times.append(process_time() - start)
    assert min(times) < 1.0
