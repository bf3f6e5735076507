"""When a point passed the surface between two accepted points, against motions whose passage is known in closed form.

Signs: distance d > 0 above the surface, depth rate w = -d' > 0 while approaching."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fmu_builder.export.host import HostLibrary

TIME = 3.0  # s, of the later point
ROUNDING = 1e-13


def crossing(
    host: HostLibrary, T: float, before: tuple[float, float], now: tuple[float, float], time: float = TIME
) -> tuple[float, float]:
    """Time and rate; `before` and `now`: distance and depth rate."""
    found = host.ffi.new("CcCrossing *")
    host.lib.cc_crossing(time, T, *before, *now, found)
    return found.time, found.rate


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("speed", [1e-6, 0.3, 40.0])
@pytest.mark.parametrize("acceleration", [-90.0, -9.81, 0.0, 1e-9, 500.0])
@pytest.mark.parametrize("share", [1e-6, 0.1, 0.5, 0.999999])
def test_a_body_under_a_constant_force_passes_where_and_as_fast_as_its_parabola(
    host: HostLibrary, side: float, speed: float, acceleration: float, share: float
) -> None:
    """Into the surface (side 1) and out of it (side -1), as long as it does not turn around within the interval."""
    T = 1e-3
    if speed - abs(acceleration) * T <= 0.0:
        T = 0.5 * speed / abs(acceleration)
    before, after = share * T, (1.0 - share) * T  # from the earlier point to the passage, from there to the later one
    times = (-before, after)
    ends = [(side * -t * (speed + 0.5 * acceleration * t), side * (speed + acceleration * t)) for t in times]
    assert ends[0][0] * ends[1][0] < 0.0
    time, rate = crossing(host, T, *ends, time=after)
    assert time == pytest.approx(0.0, abs=ROUNDING * T + 4 * math.ulp(T))
    assert rate == pytest.approx(side * speed, rel=1e-9)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize(("speed", "acceleration"), [(1.0, 0.0), (0.3, -100.0), (0.0, 9.81), (1e-6, 9.81)])
def test_a_point_that_lies_on_the_surface_first_passes_it_there(
    host: HostLibrary, side: float, speed: float, acceleration: float
) -> None:
    T = 1e-3
    end = (-side * T * (speed + 0.5 * acceleration * T), side * (speed + acceleration * T))
    assert crossing(host, T, (0.0, side * speed), end) == pytest.approx((TIME - T, side * speed), abs=1e-15)


def test_a_point_that_leaves_the_surface_first_passes_it_when_it_comes_back(host: HostLibrary) -> None:
    time, rate = crossing(host, 1.0, (0.0, -2.0), (-1.0, 4.0))  # d = 2 t - 3 t^2
    assert time == pytest.approx(TIME - 1.0 / 3.0)
    assert rate == pytest.approx(2.0)


def test_the_error_falls_with_the_third_power_of_the_interval(host: HostLibrary) -> None:
    """d = -w t - j t^3/6: s errs by j T^3/(12 |w|) at most."""
    w, j, errors = 0.5, 2e4, []
    for T in (2e-3, 1e-3, 0.5e-3):
        ends = [(-w * t - j * t**3 / 6.0, w + j * t**2 / 2.0) for t in (-0.4 * T, 0.6 * T)]
        errors.append(abs(crossing(host, T, *ends, time=0.6 * T)[0]))
        assert errors[-1] <= j * T**3 / (12.0 * w)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(3.0, abs=0.2)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(3.0, abs=0.1)


def test_a_point_that_turned_around_in_between_passed_on_its_way_in(host: HostLibrary) -> None:
    """From 1 mm above at 2 m/s to 0.5 mm below on the way out: the way in is that of the earlier point."""
    T = 3e-3
    time, rate = crossing(host, T, (1e-3, 2.0), (-0.5e-3, -1.0))
    since = time - (TIME - T)
    assert 0.0 < since < 2.0 / 1e3  # before it turns, at -1000 m/s2
    assert 1e-3 - 2.0 * since + 500.0 * since**2 == pytest.approx(0.0, abs=1e-14)
    assert rate == pytest.approx(2.0 - 1e3 * since, rel=1e-12)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ((-1e-3, 1.0), (-2e-3, 1.0)),  # over an edge or by a switch: below the surface before as well
        ((1e-3, 1.0), (2e-3, -1.0)),
        ((1e-3, 0.0), (-1e-3, 0.0)),  # a jump: no velocity leads there
        ((1.0, 1e-9), (-1.0, 1e-9)),
        ((0.0, 0.0), (-1e-3, 0.0)),
        ((1e-3, -5.0), (-1e-3, -5.0)),  # a velocity that points the other way
    ],
)
def test_where_no_motion_leads_through_the_surface_the_change_is_that_of_the_later_point(
    host: HostLibrary, before: tuple[float, float], now: tuple[float, float]
) -> None:
    assert crossing(host, 1e-3, before, now) == (TIME, now[1])
    assert crossing(host, 0.0, before, now) == (TIME, now[1])


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e150])
def test_whatever_the_size_of_the_numbers_the_passage_is_within_the_interval(host: HostLibrary, scale: float) -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        T, d_0, d, w_0, w = rng.uniform(0.0, 1.0, 5)
        time, rate = crossing(host, T, (scale * d_0, scale * (w_0 - 0.5)), (-scale * d, scale * (w - 0.5)))
        assert TIME - T <= time <= TIME
        assert math.isfinite(rate)
