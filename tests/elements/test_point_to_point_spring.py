"""point_to_point_spring: a central force of the length and its rate, its ledger, and points in one place."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fmi2 import Fmu, load_shipped
from running import Running, build

K, L_0, D = 1000.0, 0.1, 40.0
HOLD, AUTO = 1, 5  # of coupling.mode


@pytest.fixture(scope="module")
def spring(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("PointToPointSpring", tmp_path_factory.mktemp("spring"))


def test_the_force_is_central_and_follows_length_and_rate(spring: Fmu) -> None:
    random = np.random.default_rng(3)
    running = Running(spring, {"d": D})
    for size in (1e-6, 1e-2, 1.0, 1e6):
        a, b, v, w = size * random.normal(size=(4, 3))
        running.set({"first.r": a, "second.r": b, "first.v": v, "second.v": w})
        length = float(np.linalg.norm(a - b))
        n = (a - b) / length
        rate = n @ (v - w)
        F = K * (length - L_0) + D * rate
        assert running["length"] == pytest.approx(length, rel=1e-15)
        assert running["length_rate"] == pytest.approx(rate, abs=1e-15 * size * 10.0)
        assert running["F"] == pytest.approx(F, abs=1e-12 * (abs(K * (length - L_0)) + abs(D * rate)))
        first, second = running.vector("first.f"), running.vector("second.f")
        assert np.array_equal(first, -second)
        assert first == pytest.approx(-F * n, abs=1e-11 * abs(F) + 1e-12)
        assert np.linalg.norm(np.cross(a - b, first)) <= 1e-14 * length * abs(F)
        assert running["energy.elastic"] == pytest.approx(0.5 * K * (length - L_0) ** 2, rel=1e-12)
        assert running["power.damping"] == pytest.approx(D * rate**2, rel=1e-9)


def test_the_example_of_the_readme(spring: Fmu) -> None:
    running = Running(spring, {"first.r": (0.0, 0.13, 0.0)})
    assert running.values(["F", "energy.elastic"]) == pytest.approx([30.0, 0.45], rel=1e-12)
    assert running.vector("first.f") == pytest.approx([0.0, -30.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("mode", [HOLD, AUTO])
def test_what_switching_destroys_or_makes_is_booked(spring: Fmu, mode: int) -> None:
    """U = k (l - l0)^2/2 at l = 0.3 m: off and on with what it was, a softer spring, a longer one."""
    running = Running(spring, {"first.r": (0.3, 0.0, 0.0), "coupling.mode": mode})
    stored, booked = 0.5 * K * 0.2**2, 0.0
    for changed, after in (
        ({"work": False}, 0.0), ({"work": True}, stored), ({"k": 400.0}, 8.0), ({"l0": 0.2}, 2.0),
        ({"k": 1000.0, "l0": 0.4}, 5.0),
    ):  # fmt: skip
        before = running["energy.elastic"]
        running.set(changed)
        running.step(0.01)
        booked += before - after
        assert running["energy.elastic"] == pytest.approx(after, abs=1e-12)
        assert running["energy.switched"] == pytest.approx(booked, abs=1e-12)
        assert abs(running["energy.residual"]) < 1e-12
    assert mode == AUTO or running["F"] == pytest.approx(1000.0 * (0.3 - 0.4))


def test_points_in_one_place_keep_the_direction_of_before(spring: Fmu) -> None:
    running = Running(spring, {"first.r": (0.0, 0.03, 0.04), "d": D, "coupling.mode": HOLD})
    running.slave.call("fmi2SetDebugLogging", 1, 0, None)
    running.step(0.01)
    assert not running["coincident"]
    running.set({"first.r": (0.0, 0.0, 0.0), "first.v": (0.0, 0.0, 1.0)})
    running.step(0.01)
    assert running["coincident"] and running["length"] == 0.0
    F = -K * L_0 + 0.8 * D
    assert running["F"] == pytest.approx(F, rel=1e-12)
    assert running.vector("first.f") == pytest.approx(-F * np.array([0.0, 0.6, 0.8]), rel=1e-12)
    assert any("both points are in one place" in text for text in running.told)
    assert running.directional(["first.f[2]", "length"], {"first.r[2]": 1.0}) == pytest.approx(
        [-K * 0.36, 0.6], rel=1e-12
    )
    running.set({"first.r": (-0.1, 0.0, 0.0)})
    running.step(0.01)
    assert not running["coincident"] and running.vector("first.f")[0] == pytest.approx(0.0, abs=1e-12)


def test_points_in_one_place_from_the_start_are_pushed_along_x(spring: Fmu) -> None:
    running = Running(spring, {"first.r": (0.0, 0.0, 0.0)})
    assert running["coincident"] and running.vector("first.f") == pytest.approx([K * L_0, 0.0, 0.0])


@pytest.mark.slow
def test_a_mass_that_passes_through_the_other_end_keeps_its_energy(tmp_path: Path) -> None:
    """Pressed on both sides: y = l0 - |x| swings, y = A cos(w t - p), to x = 0 where y = l0; then the same way back in
    time, mirrored."""
    text = """
connections = [["mass.p", "spring.first"]]
[parts]
mass = { recipe = "PointMass", start = { r0 = [0.05, 0, 0], v0 = [-4, 0, 0], g = [0, 0, 0] } }
spring = { recipe = "PointToPointSpring", start = { l0 = 0.1 } }
"""
    running = Running(build(tmp_path, "Through", text), tolerance=1e-11)
    w, y_0, v = math.sqrt(K), 0.05, 4.0
    A, p = math.hypot(y_0, v / w), math.atan2(v / w, y_0)
    at = (p - math.acos(L_0 / A)) / w
    speed = w * math.sqrt(A**2 - L_0**2)
    running.step(2.0 * at)  # mirrored in time about the passage
    assert running.values(["mass.p.r[1]", "mass.p.v[1]"]) == pytest.approx([-0.05, -4.0], abs=1e-9)
    assert speed < 4.0 and running["solver.events"] == 1
    # about x = 0 the force of 100 N may be the other one for an event's width, at 3.4 m/s
    assert abs(running["spring.energy.residual"]) < 1e-8


@pytest.mark.slow
def test_angular_momentum_and_energy_stay(tmp_path: Path) -> None:
    """Two masses in space on one spring: both momenta to rounding, the energy to the tolerance."""
    text = """
connections = [["a.p", "spring.first"], ["b.p", "spring.second"]]
[parts]
a = { recipe = "PointMass", start = { m = 2, r0 = [0.3, 0, 0.1], v0 = [0.1, 2, 0], g = [0, 0, 0] } }
b = { recipe = "PointMass", start = { m = 3, r0 = [0, 0.1, 0], v0 = [0, -1, 0.5], g = [0, 0, 0] } }
spring = { recipe = "PointToPointSpring", start = { k = 300, l0 = 0.2 } }
"""
    running = Running(build(tmp_path, "Pair", text), tolerance=1e-11)

    def momenta() -> tuple[np.ndarray, np.ndarray, float]:
        linear, angular, energy = np.zeros(3), np.zeros(3), running["spring.energy.elastic"]
        for name, m in (("a", 2.0), ("b", 3.0)):
            r, v = running.vector(f"{name}.p.r"), running.vector(f"{name}.p.v")
            linear, angular, energy = linear + m * v, angular + m * np.cross(r, v), energy + 0.5 * m * v @ v
        return linear, angular, energy

    before = momenta()
    running.step(5.0)
    for old, new, allowed in zip(before, momenta(), (1e-11, 1e-8, 1e-8), strict=True):
        assert new == pytest.approx(old, abs=allowed)
