"""Friction on the profiles of mechanisms: Painleve's rod, and the block that stops, against formulas and scipy."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmi2 import ERROR, OK, Fmu
from running import Running, build
from scipy.integrate import solve_ivp

from fmu_builder.export.fmu import host_fmu
from fmu_builder.paths import shipped

pytestmark = pytest.mark.slow

G = 9.81
REFERENCES: Any = runpy.run_path(str(shipped("elements") / "planar_mechanism" / "cases" / "references.py"))


@pytest.fixture(scope="module")
def rod(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return Fmu(host_fmu(shipped("fmus") / "SlidingRod.toml"), tmp_path_factory.mktemp("rod"))


def begun(fmu: Fmu, values: dict[str, float]) -> tuple[int, Running]:
    running = Running.in_initialization(fmu)
    running.set(values)
    return running.slave.call("fmi2ExitInitializationMode"), running


@pytest.mark.parametrize("degrees", [20.0, 45.0, np.degrees(np.arctan(2.0)), 80.0])
def test_a_rod_slides_up_to_painleve_s_friction_and_no_further(rod: Fmu, degrees: float) -> None:
    """mu = (1 + 3 cos^2)/(3 sin cos), 4/3 at tan = 2; N = m g / (1 + 3 cos^2) / margin, margin = 1 - mu / critical."""
    a = np.radians(degrees)
    critical = (1.0 + 3.0 * np.cos(a) ** 2) / (3.0 * np.sin(a) * np.cos(a))
    at = {"joint[3].q0": a}
    for share in (0.5, 0.99):
        status, running = begun(rod, {**at, "contact[1].mu": share * critical})
        assert status == OK
        assert running["contact[1].margin"] == pytest.approx(1.0 - share, rel=1e-9)
        assert running["contact[1].N"] == pytest.approx(G / (1.0 + 3.0 * np.cos(a) ** 2) / (1.0 - share), rel=1e-9)
        assert running["contact[1].friction"] == pytest.approx(share * critical * running["contact[1].N"], rel=1e-12)
    status, running = begun(rod, {**at, "contact[1].mu": 1.01 * critical})
    assert status == ERROR and any("friction of rod on its profile" in text for text in running.told)
    away = {**at, "contact[1].mu": 1.01 * critical, "joint[1].qd0": 2.0}
    assert begun(rod, away)[0] == OK  # the other way friction lifts the rod


def test_the_run_ends_where_friction_leaves_no_normal_force(rod: Fmu) -> None:
    """The time at which the rod has turned to where the margin is 1e-3, by scipy; contact and time are told."""
    mu, y = 2.0, np.array([0.0, -10.0, np.radians(30.0), 3.0, 0.0])

    def margin(_: float, y: Any) -> float:
        a = y[2]
        return float(1.0 - mu * 3.0 * np.sin(a) * np.cos(a) / (1.0 + 3.0 * np.cos(a) ** 2) - 1e-3)

    margin.terminal = True  # type: ignore[attr-defined]
    done = solve_ivp(
        lambda _, y: REFERENCES["rod_rates"](y, mu), (0.0, 1.0), y, "DOP853", events=margin, rtol=1e-12, atol=1e-12
    )
    (end,) = done.t_events[0]
    values = {"contact[1].mu": mu, "joint[1].qd0": y[1], "joint[3].q0": y[2], "joint[3].qd0": y[3]}
    running = Running(rod, values)
    while running.time < end - 1e-3:
        running.step(1e-3)
    assert running.slave.call("fmi2DoStep", running.time, 0.1, 1) == ERROR
    (text,) = [text for text in running.told if "Painleve" in text]
    told = float(text.split("at ")[1].split(" s")[0])
    assert told == pytest.approx(end, abs=1e-6)


def test_from_rest_the_ramp_keeps_forces_finite_above_painleve_s_friction(rod: Fmu) -> None:
    running = Running(rod, {"contact[1].mu": 2.0, "joint[1].qd0": 0.0, "joint[3].q0": np.arctan(2.0)})
    y = np.array([0.0, 0.0, np.arctan(2.0), 0.0, 0.0])
    done = solve_ivp(lambda _, y: REFERENCES["rod_rates"](y, 2.0), (0.0, 0.2), y, "Radau", rtol=1e-10, atol=1e-12)
    running.step(0.2)
    assert running["contact[1].margin"] > 0.5
    assert running.values(["q[1]", "q[3]"]) == pytest.approx(done.y[[0, 2], -1], abs=1e-7)
    assert abs(running["energy.residual"]) < 1e-8


@pytest.mark.parametrize("side", ["below", "above"])
def test_a_block_stops_where_the_closed_form_says(tmp_path: Path, side: str) -> None:
    """(v0^2 + vT^2)/(2 mu g) from full friction above vT = 1/k_T, held from above or from below; all energy is lost,
    and the reactions of the guides carry friction and normal force."""
    text = f"""
element = "planar_mechanism"
[[body]]
joint = "prismatic"
mass = 1e-12
inertia = 1
speed = "2 m/s"
[[body]]
joint = "prismatic"
angle = "90 deg"
mass = 1
inertia = 1
[[constraint]]
kind = "profile"
body = "body 2"
profile = [0]
side = "{side}"
friction = 0.3
"""
    running = Running(build(tmp_path, f"Block{side}", text))
    assert running["contact[1].N"] == pytest.approx(G if side == "below" else -G, rel=1e-12)
    assert running["contact[1].friction"] == pytest.approx(-0.3 * G, rel=1e-12)
    running.step(2.0)
    assert running["q[1]"] == pytest.approx((4.0 + 1e-4) / (2 * 0.3 * G), abs=1e-8)
    assert running["energy.friction"] == pytest.approx(2.0, abs=1e-8)
    assert abs(running["energy.residual"]) < 1e-8
