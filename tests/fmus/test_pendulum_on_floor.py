"""The set-up fault of the EULER manual: a pendulum on a floor, and on the same floor turned over.

A uniform rod of l = 1 m and 1 kg falls from the horizontal, so 1/2 J w^2 = m g (l/2) cos(phi) until its tip meets the
floor, z = -0.8 m, where cos(phi) = 0.8.  Contact without loss: C_F = 1e5 N/m."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fmi2 import Fmu, literal, load_shipped
from running import Running, Values

from fmu_builder.cosim.master import run
from fmu_builder.cosim.trace import read_trace
from fmu_builder.model.scenario import read_scenario
from fmu_builder.paths import shipped

G, M, J, K, FLOOR = 9.81, 1.0, 1.0 / 3.0, 1e5, 0.8
LIMIT = 0.05  # D_max of the turned floor: the tip meets it this far above


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("PendulumOnFloor", tmp_path_factory.mktemp("right"))


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("PendulumOnFloorTurned", tmp_path_factory.mktemp("turned"))


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("BouncingBall", tmp_path_factory.mktemp("ball"))


def warnings(running: Running) -> list[str]:
    return [text for text in running.told if "is in contact at the start" not in text]


def energy(running: Running) -> float:
    return running["pendulum.energy.kinetic"] + running["pendulum.energy.potential"]


def until_the_contact_is_over(fmu: Fmu, values: Values) -> Running:
    running = Running(fmu, values)
    for _ in range(5000):
        running.step(1e-3)
        if running["floor.contact_count"] and not running["floor.in_contact"]:
            return running
    raise AssertionError("no contact came to its end")


def test_on_the_right_floor_the_pendulum_keeps_its_energy_and_nothing_is_told(right: Fmu) -> None:
    running = Running(right, {"solver.tolerance": 1e-11})
    for _ in range(200):
        running.step(1e-2)
        assert energy(running) + running["floor.energy.elastic"] == pytest.approx(0.0, abs=1e-8)
    assert running["floor.contact_count"] == 3
    assert running["floor.energy.switched"] == running["floor.energy.start"] == 0.0
    assert running.told == []


def test_the_turned_floor_is_told_at_its_first_contact_and_what_it_makes_is_booked(turned: Fmu) -> None:
    """K D_max^2/2 = 125 J, with which the tip leaves: 1/2 J w^2 = m g (l/2) 0.8 + 125 J at the floor."""
    made = K * LIMIT**2 / 2
    running = until_the_contact_is_over(turned, {"solver.tolerance": 1e-11})
    rate = math.sqrt(3 * G * (FLOOR - LIMIT)) * math.sqrt(1 - (FLOOR - LIMIT) ** 2)  # of the tip, downwards
    (text,) = running.told
    assert f"floor: point 1: contact begins from the inner side, at the depth {LIMIT:g} m" in text
    assert f"with the depth rate {-rate:.9g} m/s" in text
    assert f"adds {made:g} J" in text and "surface.q" in text
    assert running["floor.energy.switched"] == pytest.approx(-made, rel=1e-8)
    assert energy(running) == pytest.approx(made, rel=1e-8)
    assert abs(running["floor.energy.residual"]) < 1e-8 * made


@pytest.mark.parametrize("angle", [60.0, 90.0])
def test_a_turned_floor_is_told_where_the_pendulum_starts_in_its_material(turned: Fmu, angle: float) -> None:
    """With D_max = 1 m it is in contact from the start: U = K h^2/2 is stored, and told when it throws the tip out."""
    phi = math.radians(angle)
    depth = FLOOR - math.cos(phi)
    running = until_the_contact_is_over(turned, {"limit_depth": 1.0, "initial_angle": phi})
    (text,) = warnings(running)
    assert f"floor: point 1 started {depth:.6g}" in text and "surface.q" in text
    assert running["floor.energy.start"] == pytest.approx(K * depth**2 / 2, rel=1e-12)
    assert running["floor.energy.switched"] == 0.0


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("depth", [1e-5, 1e-4, 1e-3])
def test_a_right_floor_that_the_pendulum_touches_at_the_start_is_no_fault(
    right: Fmu, depth: float, restitution: float
) -> None:
    running = Running(right, {"initial_angle": math.acos(FLOOR + depth), "restitution": restitution})
    for _ in range(50):
        running.step(1e-2)
    assert warnings(running) == []


@pytest.mark.parametrize(
    "values",
    [
        {"initial_height": -M * G / K},
        {"initial_height": -9e-3},
        {"initial_height": -5e-3, "initial_velocity": -3.0},
        {"initial_height": 1e-3, "initial_velocity": -100.0},
        {"initial_height": 0.0, "initial_velocity": -1e-9},
        {"initial_height": -M * G / K, "gravity": (0.0, 0.0, 0.1)},
    ],
    ids=["at rest", "pressed in", "on the way in", "fast", "hardly moving", "lifted"],
)
@pytest.mark.parametrize("step", [1e-4, 0.1])
def test_a_ball_on_a_right_floor_is_no_fault(ball: Fmu, values: Values, step: float) -> None:
    running = Running(ball, values)
    for _ in range(10):
        running.step(step)
    assert warnings(running) == []


COUPLED = """
description = "A pendulum and a floor, coupled"
connections = [["pendulum.tip", "floor.point"]]
[experiment]
stop = "0.45 s"
step = "20 us"
[slaves]
pendulum = { recipe = "Pendulum", start = { phi0 = "90 deg" } }
floor = { recipe = "PointSurface", start = { C_F = "1e5 N/m", C_r = 1, K_fr = 0, "surface.r" = [0, 0, "-0.8 m"] } }
"""


@pytest.mark.slow
def test_two_fmus_converge_to_the_reference_of_one_with_order_one(tmp_path: Path) -> None:
    """The speed after the first rebound, with forces that are held for a step."""
    literal("PointSurface", tmp_path)
    (tmp_path / "coupled.toml").write_text(COUPLED, encoding="utf-8")
    reference = read_trace(shipped("fmus") / "systems" / "pendulum_falls_on_floor_ref.csv")
    at = int(np.searchsorted(reference.time, 0.45 - 1e-9))
    exact = float(reference["pendulum.velocity"][at])
    scenario, steps = read_scenario(tmp_path / "coupled.toml"), [40e-6, 20e-6, 10e-6]
    errors = []
    for step in steps:
        experiment = scenario.experiment.model_copy(update={"step": step, "output_step": 0.45})
        trace = run(scenario.model_copy(update={"experiment": experiment})).trace
        errors.append(abs(float(trace["pendulum.hinge.w"][-1]) - exact))
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(1.0, abs=0.15)
