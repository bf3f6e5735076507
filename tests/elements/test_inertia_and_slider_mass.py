"""inertia and slider_mass: Newton's second law about and along an axis, and its energy.

Names are those of the rotational kind: one_axis.py."""

from __future__ import annotations

import math
from typing import cast

import numpy as np
import pytest
from fmi2 import ERROR, OK, Fmu
from hypothesis import given, settings
from hypothesis import strategies as st
from one_axis import KINDS, Kind, refused
from running import Running

moderate = st.floats(-100.0, 100.0)
inertias = st.floats(1e-3, 1e3)


@pytest.fixture(scope="module", params=KINDS, ids=str)
def kind(request: pytest.FixtureRequest) -> Kind:
    return cast(Kind, request.param)


@pytest.fixture(scope="module")
def shaft(kind: Kind, tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return kind.load(kind.body, tmp_path_factory.mktemp("body"))


@settings(max_examples=100, deadline=None)
@given(j=inertias, t=moderate, phi=moderate, w=moderate)
def test_angular_acceleration_is_torque_over_inertia(shaft: Fmu, j: float, t: float, phi: float, w: float) -> None:
    running = Running(shaft, {"J": j, "phi0": phi, "w0": w, "p.t": t})
    assert (running["p.phi"], running["p.w"]) == (phi, w)
    assert running["der(p.w)"] == pytest.approx(t / j, rel=1e-15)
    assert running["der(p.phi)"] == w
    assert running["energy.kinetic"] == pytest.approx(j * w**2 / 2.0, rel=1e-15, abs=1e-300)


@settings(max_examples=50, deadline=None)
@given(j=st.floats(0.1, 10.0), t=moderate, phi=moderate, w=moderate, h=st.floats(1e-3, 1.0))
def test_torque_changes_spin_and_energy_by_impulse_and_work(
    shaft: Fmu, j: float, t: float, phi: float, w: float, h: float
) -> None:
    running = Running(shaft, {"J": j, "phi0": phi, "w0": w, "p.t": t})
    for _ in range(5):
        running.step(h)
    size = j * (abs(w) + 500.0 * h * (1.0 + 1.0 / j)) + 1.0
    assert j * (running["p.w"] - w) == pytest.approx(5.0 * h * t, abs=1e-12 * size)
    work = t * (running["p.phi"] - phi)
    size = max(j * w**2 / 2.0, running["energy.kinetic"], abs(work), abs(t * phi), 1.0)
    assert running["energy.kinetic"] - j * w**2 / 2.0 == pytest.approx(work, abs=1e-11 * size)


def test_torque_with_a_slope_acts_as_a_straight_line_over_the_step(shaft: Fmu) -> None:
    """J w = t_0 h + t' h^2/2,  J phi = t_0 h^2/2 + t' h^3/6."""
    running = Running(shaft, {"J": 2.0, "p.t": 4.0}, tolerance=1e-10)
    running.rates({"p.t": -6.0})
    running.step(0.5)
    assert running["p.w"] == pytest.approx((4.0 * 0.5 - 6.0 * 0.5**2 / 2.0) / 2.0, abs=1e-10)
    assert running["p.phi"] == pytest.approx((4.0 * 0.5**2 / 2.0 - 6.0 * 0.5**3 / 6.0) / 2.0, abs=1e-10)


def test_inertia_acts_at_once_when_it_is_tuned_and_leaves_the_motion_alone(shaft: Fmu) -> None:
    running = Running(shaft, {"w0": 1.0, "p.t": 4.0})
    running.step(0.5)
    motion = [running["p.phi"], running["p.w"]]
    running.set({"J": 2.0})
    assert [running["p.phi"], running["p.w"]] == motion
    assert running["der(p.w)"] == 2.0
    assert running["energy.kinetic"] == pytest.approx(running["p.w"] ** 2, rel=1e-15)
    running.step(0.5)
    assert running["p.w"] == pytest.approx(1.0 + 2.0 + 1.0, rel=1e-15)


def test_directional_derivatives(shaft: Fmu) -> None:
    running = Running(shaft, {"J": 4.0, "w0": 3.0, "p.t": 1.0})
    unknowns = ["der(p.phi)", "der(p.w)"]
    assert list(running.directional(unknowns, {"p.t": 1.0})) == [0.0, 0.25]
    assert list(running.directional(unknowns, {"p.w": 1.0})) == [1.0, 0.0]
    assert list(running.directional(unknowns, {"p.phi": 1.0})) == [0.0, 0.0]
    running.step(1e-3)
    rates = running.output_rates(["p.phi", "p.w"])
    assert rates == pytest.approx([running["p.w"], 0.25], rel=1e-15)


@pytest.mark.parametrize(("wrong", "shown"), [(0.0, "0"), (-1.0, "-1"), (math.nan, "NaN")])
def test_inertia_has_to_be_positive(shaft: Fmu, kind: Kind, wrong: float, shown: str) -> None:
    name, unit = kind.own("J"), kind.inertia_unit
    rule = "it must be finite" if math.isnan(wrong) else f"it must be greater than 0 {unit}"
    assert refused(shaft, "J", wrong, f"{name} = {shown} {unit}", rule)


def test_inertia_that_is_tuned_to_zero_is_refused_before_the_next_step(shaft: Fmu, kind: Kind) -> None:
    running = Running(shaft)
    running.step(0.1)
    assert running.slave.set({"J": 0.0}) == OK
    assert running.slave.step(running.time, 0.1) == ERROR
    unit = kind.inertia_unit
    assert f"{kind.own('J')} = 0 {unit}: it must be greater than 0 {unit}" in running.told


@pytest.mark.parametrize(("wrong", "shown"), [(-1.0, "-1"), (math.nan, "NaN"), (math.inf, "infinity")])
def test_inertia_that_cannot_be_is_refused_while_running_and_the_motion_goes_on(
    shaft: Fmu, kind: Kind, wrong: float, shown: str
) -> None:
    running = Running(shaft, {"J": 2.0, "p.t": 4.0})
    running.step(0.5)
    assert running.slave.set({"J": wrong}) == ERROR
    assert f"{kind.own('J')} = {shown} {kind.inertia_unit}" in running.told[-1]
    running.step(0.5)
    assert running.values(["J", "p.w"]) == pytest.approx([2.0, 2.0], rel=1e-15)


def test_start_values_cannot_be_set_once_the_motion_has_begun(shaft: Fmu, kind: Kind) -> None:
    running = Running(shaft)
    for name in ("phi0", "w0"):
        assert running.slave.set({name: 1.0}) == ERROR
        assert f"{kind.own(name)} cannot be set after the initialization" in running.told[-1]


def test_a_torque_that_overflows_the_motion_is_an_error_that_names_it(shaft: Fmu) -> None:
    running = Running(shaft, {"J": 1e-3, "p.t": 1e304})
    assert running.slave.step(0.0, 100.0) == ERROR
    assert "is not finite" in running.told[-1]
    assert np.isfinite(running.values(["p.phi", "p.w"])).all()
