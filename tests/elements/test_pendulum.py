"""pendulum: its equation of motion, period and bearing force, the ledger, its rules; in assemblies with a spring at the
hinge and a floor at the tip."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fmi2 import ERROR, OK, Fmu, load_shipped
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from running import Running, build, scalars
from scipy.optimize import brentq
from scipy.special import ellipk

from fmu_builder.model.loader import load_model
from fmu_builder.paths import load_module, shipped

Vector = NDArray[np.float64]

G = 9.81
references = load_module(shipped("elements") / "pendulum" / "cases" / "references.py")


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("Pendulum", tmp_path_factory.mktemp("pendulum"))


# ---- the equation ----------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_torques_turn_the_body_and_the_hinge_holds_it(pendulum: Fmu, seed: int) -> None:
    """J phi'' = sum of the torques about the axis, the bearing carries what is left of m (a - g), and the power at the
    ports is the rate of the energies."""
    rng = np.random.default_rng(seed)
    axis, center, pivot, offset, g, f = rng.normal(size=(6, 3))
    m, k, d, torque, free = rng.uniform(0.1, 3.0, 5)
    phi, w = 3.0 * rng.normal(size=2)
    n = axis / np.linalg.norm(axis)
    J = m * float(np.sum(np.cross(n, center) ** 2)) * rng.uniform(1.0, 2.0)
    values = {"m": m, "J": J, "g": g, "k": k, "d": d, "phi_free": free, "pivot": pivot, "axis": axis, "center": center}
    running = Running(pendulum, values | {"tip.offset": offset, "phi0": phi, "w0": w, "hinge.t": torque, "tip.f": f})
    c, p = (references.turned(n, np.array([phi]), a)[0] for a in (center, offset))
    faster = (torque - k * (phi - free) - d * w + n @ np.cross(c, m * g) + n @ np.cross(p, f)) / J
    acceleration = faster * np.cross(n, c) + w**2 * np.cross(n, np.cross(n, c))
    size = max(1.0, abs(faster), float(np.abs(acceleration).max()) * max(1.0, m))

    def near(value: Vector | float) -> object:
        return pytest.approx(value, rel=1e-12, abs=1e-12 * size)

    assert [running["hinge.phi"], running["hinge.w"], running["der(hinge.phi)"]] == [phi, w, w]
    assert running["der(hinge.w)"] == near(faster)
    assert running.vector("tip.r") == near(pivot + p)
    assert running.vector("tip.v") == near(w * np.cross(n, p))
    assert running.vector("mass_center") == near(pivot + c)
    assert running.vector("bearing_force") == near(m * (acceleration - g) - f)
    energies = ["energy.kinetic", "energy.potential", "energy.elastic"]
    stored = np.array([0.5 * J * w**2, -m * g @ (pivot + c), 0.5 * k * (phi - free) ** 2])
    assert running.values(energies) == near(stored)
    power = running.directional(energies, {"hinge.phi": w, "hinge.w": faster}).sum()
    assert running["power.work"] - running["power.damping"] == pytest.approx(power, rel=1e-10, abs=1e-10 * size**2)


@pytest.mark.parametrize("degrees", [1.0, 60.0, 120.0, 170.0, 179.0])
def test_the_period_is_the_elliptic_integral(pendulum: Fmu, degrees: float) -> None:
    """T = 4 K(sin(A/2))/W, W^2 = m g c/J: from the times at which the rod passes its rest.

    At 179 degrees an error of the energy changes the period a hundred times as much as at 90."""
    amplitude = np.radians(degrees)
    exact = 4.0 * ellipk(np.sin(amplitude / 2.0) ** 2) / np.sqrt(1.0 * G * 0.5 / (1.0 / 3.0))
    running = Running(pendulum, {"phi0": amplitude}, tolerance=1e-12)
    passed = []
    for near in (exact / 4.0, 1.25 * exact):
        running.step(near - running.time)
        passed.append(running.time - running["hinge.phi"] / running["hinge.w"])  # at the rest w is stationary
    assert passed[1] - passed[0] == pytest.approx(exact, rel=1e-9)
    assert passed[0] == pytest.approx(exact / 4.0, rel=1e-9)


def test_the_error_of_the_motion_follows_the_tolerance(pendulum: Fmu) -> None:
    errors = []
    for tolerance in (1e-5, 1e-7, 1e-9):
        ends = []
        for one in (tolerance, 1e-13):
            running = Running(pendulum, {"phi0": 3.0}, tolerance=one)
            running.step(7.0)
            ends.append(running["hinge.phi"])
        errors.append(abs(ends[0] - ends[1]))
    assert errors[0] > 10.0 * errors[1] > 100.0 * errors[2] > 0.0


# ---- energy ----------------------------------------------------------------------------------------------------------


def test_without_damping_the_energy_stays_over_a_thousand_swings(pendulum: Fmu) -> None:
    running = Running(pendulum, {"phi0": 2.0}, tolerance=1e-12)
    before = running["energy.potential"]
    running.step(2000.0)
    after = running["energy.kinetic"] + running["energy.potential"]
    assert after == pytest.approx(before, abs=1e-6 * G)
    assert running["energy.residual"] == before - after
    assert running["energy.damping"] == running["energy.work"] == 0.0


def test_the_ledger_closes_while_forces_work_and_parameters_change(pendulum: Fmu) -> None:
    running = Running(
        pendulum, {"phi0": 0.5, "d": 0.2, "k": 2.0, "phi_free": -0.3, "hinge.t": 1.5, "tip.f": (1.0, 0.0, 3.0)}
    )
    for change in ({"m": 0.5}, {"J": 0.6}, {"k": 5.0}, {"phi_free": 0.4}, {"g": (1.0, 0.0, -5.0)}, {"d": 0.0}):
        running.step(0.7)
        stored = sum(running[f"energy.{name}"] for name in ("kinetic", "potential", "elastic"))
        switched = running["energy.switched"]
        running.set(change)
        changed = sum(running[f"energy.{name}"] for name in ("kinetic", "potential", "elastic"))
        running.step(1e-9)
        assert running["energy.switched"] - switched == pytest.approx(stored - changed, abs=1e-7)
        assert (stored == changed) == ("d" in change)
    running.step(0.7)
    assert running["energy.damping"] > 0.1 and abs(running["energy.work"]) > 0.1
    assert running["energy.residual"] == pytest.approx(0.0, abs=1e-7)


def test_without_a_ledger_only_angle_and_speed_are_states(tmp_path: Path) -> None:
    recipe = tmp_path / "Bare.toml"
    recipe.write_text('element = "pendulum"\n[structure]\nledger = false\n', encoding="utf-8")
    bare = load_model(recipe)
    assert [v.name for v in bare.by_kind("state")] == ["hinge.phi", "hinge.w"]
    assert not [name for name in ("energy.work", "energy.damping", "energy.residual") if name in bare]


# ---- in assemblies ---------------------------------------------------------------------------------------------------


def test_a_spring_at_the_port_is_the_spring_of_the_hinge(tmp_path: Path, pendulum: Fmu) -> None:
    """The spring's force on r is -k theta; both in one FMU."""
    sprung = build(
        tmp_path,
        "Sprung",
        """
connections = [["rod.hinge", "spring.r"]]
[parts]
rod = { recipe = "Pendulum", start = { phi0 = 1.2 } }
spring = { recipe = "RotationalSpring", start = { k = 7, theta0 = 1.5 } }
[expose.outputs]
angle = "rod.hinge.phi"
force = "rod.bearing_force"
""",
    )
    one = Running(sprung, tolerance=1e-12)
    two = Running(pendulum, {"phi0": 1.2, "k": 7.0, "phi_free": -0.3}, tolerance=1e-12)
    for _ in range(5):
        one.step(0.4)
        two.step(0.4)
        assert one["angle"] == pytest.approx(two["hinge.phi"], abs=1e-9)
        assert one.vector("force") == pytest.approx(two.vector("bearing_force"), abs=1e-7)


def test_the_tip_falls_on_a_floor_and_rests_there(tmp_path: Path) -> None:
    """A rod from the horizontal meets a floor 0.6 m below its pivot: at rest C_F h carries half of its weight."""
    fallen = build(
        tmp_path,
        "Fallen",
        """
connections = [["rod.tip", "floor.point"]]
[parts]
rod = { recipe = "Pendulum", start = { phi0 = -1.5 } }
floor = { recipe = "PointSurface", start = { C_F = 1e5, C_r = 0.3, "surface.r" = [0, 0, -0.6] } }
""",
    )
    energies = [f"rod.energy.{name}" for name in ("kinetic", "potential", "elastic")]
    energies += [f"floor.energy.{name}" for name in ("elastic", "damping", "friction", "switched")]
    running = Running(fallen)
    before = running.values(energies).sum()
    for _ in range(10):
        running.step(0.3)
        assert running.values(energies).sum() == pytest.approx(before, abs=1e-7)
        assert abs(running["rod.energy.residual"]) + abs(running["floor.energy.residual"]) < 1e-7
    assert running["floor.contact_count"] > 2
    angle = brentq(
        lambda phi: 1e5 * (-0.6 + np.cos(phi)) - G / 2.0, -1.2, -0.5
    )  # lever arms are sin phi and half of it
    assert running["rod.hinge.phi"] == pytest.approx(angle, abs=1e-8)
    assert running["rod.bearing_force[3]"] == pytest.approx(G / 2.0, rel=1e-6)


# ---- rules -----------------------------------------------------------------------------------------------------------

WRONG = {
    "too small a moment": (
        {"J": 0.2},
        "J = 0.2 kg.m2 is that of no body: with m = 1 kg and center 0.5 m from the axis it must be at least m times "
        "the square of that, 0.25 kg.m2",
    ),
    "no moment": ({"J": 0.0}, "J = 0 kg.m2: it must be greater than 0 kg.m2"),
    "no mass": ({"m": 0.0}, "m = 0 kg: it must be greater than 0 kg"),
    "no axis": ({"axis": (0.0, 0.0, 0.0)}, "axis = (0, 0, 0) has no direction: it must not be zero"),
    "a negative spring": ({"k": -1.0}, "k = -1 N.m/rad is refused, it must be at least 0 N.m/rad"),
    "a negative damper": ({"d": -0.5}, "d = -0.5 N.m.s/rad is refused, it must be at least 0 N.m.s/rad"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_what_no_pendulum_can_have_is_refused_by_its_values(pendulum: Fmu, fault: str) -> None:
    values, said = WRONG[fault]
    running = Running.in_initialization(pendulum)
    refused = running.slave.set(scalars(values)) != OK
    assert np.isfinite(running.vector("tip.r")).all()
    assert refused or running.slave.call("fmi2ExitInitializationMode") == ERROR
    assert any(said in text for text in running.told), running.told


def test_a_point_mass_on_a_rod_is_a_pendulum(pendulum: Fmu) -> None:
    """J = m c^2, the least there is, also written with six digits: it falls with -g sin(phi) / c."""
    for center, moment, digits in ((0.5, 0.25, 1e-14), (1.0 / 3.0, 0.111111, 2e-6)):
        running = Running(pendulum, {"center": (0.0, 0.0, -center), "J": moment, "phi0": 1.0})
        running.step(0.1)
        falling = -9.81 * np.sin(running["hinge.phi"]) / center
        assert running["angular_acceleration"] == pytest.approx(falling, rel=digits)


def test_a_mass_that_is_tuned_beyond_the_moment_is_refused_before_the_next_step(pendulum: Fmu) -> None:
    running = Running(pendulum)
    running.step(0.1)
    running.set({"m": 1.5})
    assert running.slave.step(running.time, 0.1) == ERROR
    assert "with m = 1.5 kg and center 0.5 m from the axis" in running.told[-1]
