"""rotational_spring: signs, the ledger, the rule of its rate; with inertias, the closed forms of coupled runs and of
one FMU."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fmi2 import ERROR, OK, Fmu, load_shipped
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from running import Running, build

from fmu_builder import run
from fmu_builder.trace import Trace

Vector = NDArray[np.float64]
EXPLICIT, IMPLICIT = 2, 3  # literals of solver.method
TORQUES = ["t", "r.t", "c.t"]
moderate = st.floats(-100.0, 100.0)


@pytest.fixture(scope="module")
def spring(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("RotationalSpring", tmp_path_factory.mktemp("spring"))


# ---- the law ---------------------------------------------------------------------------------------------------------


def test_the_defaults_are_those_of_the_origin(spring: Fmu) -> None:
    running = Running(spring)
    assert (running["k"], running["theta"], running["t"], running["w"], running["work"]) == (10.0, 0.0, 0.0, 0.0, 1)


def test_a_spring_whose_rod_is_ahead_turns_the_rod_back_and_the_case_along(spring: Fmu) -> None:
    """Numbers by hand: (5 - 2) rad/s for 0.1 s are 0.3 rad, 3 N.m at 10 N.m/rad."""
    running = Running(spring, {"r.w": 5.0, "c.w": 2.0})
    running.step(0.1)
    assert running["theta"] == pytest.approx(0.3, rel=1e-14)
    assert running.values(TORQUES) == pytest.approx([3.0, -3.0, 3.0], rel=1e-14)


@settings(max_examples=60, deadline=None)
@given(k=st.floats(1e-3, 1e6), theta=st.floats(-10.0, 10.0), r=moderate, c=moderate)
def test_torque_is_rate_times_deformation(spring: Fmu, k: float, theta: float, r: float, c: float) -> None:
    running = Running(spring, {"k": k, "theta0": theta, "r.w": r, "c.w": c})
    assert running["theta"] == theta
    assert running["w"] == running["der(theta)"] == r - c
    assert running.values(TORQUES) == pytest.approx([k * theta, -k * theta, k * theta], rel=1e-15)
    assert running["energy.elastic"] == pytest.approx(k * theta**2 / 2.0, rel=1e-14, abs=1e-300)
    given_by_bodies = -(running["r.t"] * r + running["c.t"] * c)
    assert running["power.work"] == pytest.approx(given_by_bodies, abs=1e-14 * k * abs(theta) * (abs(r) + abs(c)))


def test_directional_derivatives_are_those_of_the_law(spring: Fmu) -> None:
    running = Running(spring, {"k": 7.0, "theta0": 0.5, "r.w": 2.0, "c.w": 0.5})
    unknowns = ["t", "r.t", "c.t", "w", "der(theta)"]
    assert list(running.directional(unknowns, {"r.w": 1.0})) == [0.0, 0.0, 0.0, 1.0, 1.0]
    assert list(running.directional(unknowns, {"c.w": 1.0})) == [0.0, 0.0, 0.0, -1.0, -1.0]
    assert list(running.directional(unknowns, {"theta": 1.0})) == [7.0, -7.0, 7.0, 0.0, 0.0]
    assert list(running.directional(["energy.elastic", "power.work"], {"theta": 1.0})) == [3.5, 10.5]
    running.set({"work": 0})
    assert list(running.directional(unknowns, {"theta": 1.0})) == [0.0] * 5


def test_output_derivatives_are_those_of_the_motion(spring: Fmu) -> None:
    """theta' = w, t' = k w; w' is that of the inputs."""
    running = Running(spring, {"theta0": 0.2, "r.w": 3.0, "c.w": 1.0})
    running.step(0.1)
    running.rates({"r.w": 0.5})
    rates = running.output_rates(["theta", "w", *TORQUES])
    assert rates == pytest.approx([2.0, 0.5, 20.0, -20.0, 20.0], rel=1e-15)


# ---- the rule of the rate --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [0.0, -3.0])
def test_a_rate_that_is_not_positive_is_refused_and_named(spring: Fmu, wrong: float) -> None:
    slave = spring.slave()
    refused = slave.set({"k": wrong}) != OK
    assert slave.setup() == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    left = slave.call("fmi2ExitInitializationMode")
    assert refused or left == ERROR
    assert any(f"k = {wrong:g} N.m/rad" in text and "greater than 0 N.m/rad" in text for text in slave.importer.texts)


def test_a_rate_that_is_tuned_to_zero_is_refused_before_the_next_step(spring: Fmu) -> None:
    running = Running(spring, {"theta0": 0.1})
    running.step(0.1)
    assert running.slave.set({"k": 0.0}) == OK
    assert running.slave.step(running.time, 0.1) == ERROR
    assert any("k = 0 N.m/rad: it must be greater than 0 N.m/rad" in text for text in running.told)


def test_the_start_value_is_fixed(spring: Fmu) -> None:
    running = Running(spring)
    assert running.slave.set({"theta0": 1.0}) == ERROR
    assert "theta0 cannot be set after the initialization" in running.told[-1]


# ---- work and the ledger ---------------------------------------------------------------------------------------------


def test_work_switches_the_torque_off_and_on_while_the_angle_goes_on(spring: Fmu) -> None:
    running = Running(spring, {"theta0": 0.2, "r.w": 1.0})
    running.set({"work": 0})
    assert list(running.values([*TORQUES, "energy.elastic", "power.work"])) == [0.0] * 5
    running.step(0.3)
    assert running["theta"] == pytest.approx(0.5, rel=1e-14)
    assert list(running.values(TORQUES)) == [0.0] * 3
    running.set({"work": 1})
    assert running.values(TORQUES) == pytest.approx([5.0, -5.0, 5.0], rel=1e-14)


def energy(k: float, theta: float) -> float:
    return k * theta**2 / 2.0


# what is set at theta = 0.3 rad, k = 10 N.m/rad, and what is booked: destroyed (+) or made (-)
SWITCHES = {
    "off": ({"work": 0}, energy(10.0, 0.3)),
    "softer": ({"k": 4.0}, energy(6.0, 0.3)),
    "stiffer": ({"k": 25.0}, -energy(15.0, 0.3)),
    "off and stiffer": ({"work": 0, "k": 25.0}, energy(10.0, 0.3)),
    "other speed": ({"r.w": 5.0}, 0.0),
}


@pytest.mark.parametrize("moving", [0.0, 2.0], ids=["at rest", "turning"])
@pytest.mark.parametrize("switch", SWITCHES)
def test_switching_books_the_energy_it_destroys_or_makes(spring: Fmu, switch: str, moving: float) -> None:
    """At the angle at which it was switched, however far the shaft turns in the step that follows."""
    values, booked = SWITCHES[switch]
    running = Running(spring, {"theta0": 0.3 - 0.1 * moving, "r.w": moving})
    running.step(0.1)
    assert running["energy.switched"] == 0.0
    running.set(values)
    assert running["energy.switched"] == 0.0  # setting alone moves no ledger
    for _ in range(2):  # and it is booked once
        running.step(0.1)
        assert running["energy.switched"] == pytest.approx(booked, rel=1e-13)
        assert running["energy.residual"] == pytest.approx(0.0, abs=1e-13)


def test_switching_on_makes_the_energy_of_the_angle_reached(spring: Fmu) -> None:
    running = Running(spring, {"r.w": 2.0, "work": 0})
    running.step(0.25)
    assert (running["energy.work"], running["energy.switched"]) == (0.0, 0.0)
    running.set({"work": 1, "r.w": 0.0})
    running.step(0.1)
    assert running["energy.switched"] == pytest.approx(-energy(10.0, 0.5), rel=1e-13)
    assert running["energy.residual"] == pytest.approx(0.0, abs=1e-14)


@settings(max_examples=30, deadline=None)
@given(w=st.lists(st.floats(-10.0, 10.0), min_size=1, max_size=8), theta=st.floats(-1.0, 1.0), h=st.floats(1e-3, 0.5))
def test_the_ledger_of_held_speeds_closes_within_rounding(spring: Fmu, w: list[float], theta: float, h: float) -> None:
    """The work is k (theta^2 - theta0^2)/2 whatever the way."""
    running = Running(spring, {"theta0": theta})
    for speed in w:
        running.set({"r.w": speed, "c.w": -0.5 * speed})
        running.step(h)
    end = theta + 1.5 * h * math.fsum(w)
    size = 10.0 * (1.0 + 1.5 * h * float(np.abs(w).sum())) ** 2
    assert running["theta"] == pytest.approx(end, abs=1e-13 * (1.0 + 15.0 * h * len(w)))
    assert running["energy.work"] == pytest.approx(energy(10.0, end) - energy(10.0, theta), abs=1e-12 * size)
    assert abs(running["energy.residual"]) < 1e-13 * size


def test_without_ledger_the_spring_is_the_same(spring: Fmu, tmp_path: Path) -> None:
    bare = build(tmp_path, "Bare", 'element = "rotational_spring"\n[structure]\nledger = false\n')
    assert {"energy.work", "energy.residual"} <= spring.types.keys() - bare.types.keys()
    both = [Running(fmu, {"theta0": 0.1, "r.w": 3.0}) for fmu in (spring, bare)]
    for running in both:
        running.step(0.2)
        running.set({"work": 0})
        running.step(0.2)
    names = [*TORQUES, "theta", "w", "energy.elastic", "energy.switched"]
    assert list(both[0].values(names)) == list(both[1].values(names))


# ---- with inertias ---------------------------------------------------------------------------------------------------

J, K, THETA_0 = 0.1, 10.0, 0.3
OMEGA = math.sqrt(K / J)
COUPLED = """
connections = [["disc.p", "spring.r"]]
[experiment]
stop = 2.0
step = {step}
algorithm = "{algorithm}"
[slaves]
disc = {{ recipe = "Inertia", start = {{ J = 0.1 }} }}
spring = {{ recipe = "RotationalSpring", start = {{ k = 10, theta0 = 0.3 }} }}
"""


def coupled(folder: Path, algorithm: str, step: float) -> Trace:
    path = folder / "coupled.toml"
    path.write_text(COUPLED.format(algorithm=algorithm, step=step), encoding="utf-8")
    return run(path)


@pytest.mark.parametrize("step", [0.04, 0.01])
def test_gauss_seidel_keeps_the_amplitude_and_leads_by_half_a_step(tmp_path: Path, step: float) -> None:
    """theta_(n+1) - 2 theta_n + theta_(n-1) = -(Omega h)^2 theta_n with theta_1 = theta0 (1 - (Omega h)^2)."""
    trace = coupled(tmp_path, "gauss_seidel", step)
    turn = 2.0 * math.asin(OMEGA * step / 2.0)  # W h
    n = np.arange(len(trace.time))
    exact = THETA_0 * np.cos(turn * (n + 0.5)) / math.cos(turn / 2.0)
    assert trace["spring.theta"] == pytest.approx(exact, abs=1e-12)
    assert np.abs(trace["spring.theta"] - THETA_0 * np.cos(OMEGA * trace.time)).max() > 0.4 * THETA_0 * OMEGA * step


@pytest.mark.parametrize("step", [0.04, 0.01])
def test_jacobi_lets_the_amplitude_grow(tmp_path: Path, step: float) -> None:
    """theta_n + i w_n/Omega is multiplied by 1 - i Omega h in each step: by more than 1 in size."""
    trace = coupled(tmp_path, "jacobi", step)
    n, x = np.arange(len(trace.time)), OMEGA * step
    exact = THETA_0 * ((1.0 - 1j * x) ** n).real
    assert trace["spring.theta"] == pytest.approx(exact, abs=1e-12 * np.abs(exact).max())


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("TorsionPendulum", tmp_path_factory.mktemp("pendulum"))


@pytest.fixture(scope="module")
def inertias(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("TwoInertias", tmp_path_factory.mktemp("inertias"))


@pytest.mark.parametrize("method", [EXPLICIT, IMPLICIT])
@pytest.mark.parametrize("h", [2.0, 0.05])
def test_in_one_fmu_an_inertia_swings_as_the_closed_form_whatever_the_step(
    pendulum: Fmu, h: float, method: int
) -> None:
    """theta = theta0 cos(Omega t), t(0) = k theta0; three periods at the tolerance 1e-10."""
    running = Running(pendulum, {"initial_angle": THETA_0, "solver.method": method}, tolerance=1e-10)
    assert running["torque"] == pytest.approx(K * THETA_0, rel=1e-15)
    for _ in range(round(2.0 / h)):
        running.step(h)
        theta, w = THETA_0 * math.cos(OMEGA * running.time), -THETA_0 * OMEGA * math.sin(OMEGA * running.time)
        assert running["angle"] == pytest.approx(theta, abs=1e-8 * THETA_0)
        assert running["velocity"] == pytest.approx(w, abs=1e-8 * THETA_0 * OMEGA)
        energies = running["disc.energy.kinetic"] + running["spring.energy.elastic"]
        assert energies == pytest.approx(energy(K, THETA_0), rel=1e-7)
        assert abs(running["spring.energy.residual"]) < 1e-8


def test_a_ground_that_turns_takes_the_inertia_along(pendulum: Fmu) -> None:
    """Seen from the ground at w_g the inertia starts with -w_g: theta = -w_g/Omega sin(Omega t)."""
    running = Running(pendulum, {"initial_angle": 0.0, "ground.w": 2.0}, tolerance=1e-10)
    running.step(0.7)
    assert running["angle"] == pytest.approx(-2.0 / OMEGA * math.sin(7.0), abs=1e-9)
    assert running["velocity"] == pytest.approx(2.0 - 2.0 * math.cos(7.0), abs=1e-8)


@pytest.mark.parametrize("masses", [(0.1, 0.3), (2.0, 0.05)], ids=str)
def test_two_inertias_swing_against_each_other_and_keep_their_momentum(
    inertias: Fmu, masses: tuple[float, float]
) -> None:
    """Omega = sqrt(k (1/J_1 + 1/J_2)) about their common speed."""
    j_1, j_2 = masses
    common, omega = 1.5, math.sqrt(K * (1.0 / j_1 + 1.0 / j_2))
    values = {"first_inertia": j_1, "second_inertia": j_2, "initial_twist": THETA_0}
    values |= {"first_initial_velocity": common, "second_initial_velocity": common}
    running = Running(inertias, values, tolerance=1e-10)
    for _ in range(10):
        running.step(0.1)
        rate = -THETA_0 * omega * math.sin(omega * running.time)
        speeds = [common + j_2 / (j_1 + j_2) * rate, common - j_1 / (j_1 + j_2) * rate]
        assert running["twist"] == pytest.approx(THETA_0 * math.cos(omega * running.time), abs=1e-8)
        assert running.values(["first_velocity", "second_velocity"]) == pytest.approx(speeds, abs=1e-8 * omega)
        momentum = j_1 * running["first_velocity"] + j_2 * running["second_velocity"]
        assert momentum == pytest.approx((j_1 + j_2) * common, rel=1e-13)


# ---- the page --------------------------------------------------------------------------------------------------------


def test_the_numbers_of_the_readme_are_right() -> None:
    text = " ".join((Path(__file__).parents[2] / "elements/rotational_spring/README.md").read_text("utf-8").split())
    assert f"wound by 0.3 rad holds {energy(K, THETA_0):g} J with {K * THETA_0:g} N·m" in text
    assert f"Ω = √(k/J) = {OMEGA:g} rad/s up to {THETA_0 * OMEGA:g} rad/s" in text
    assert f"Ωh = 0.01, θ errs by {100.0 * math.tan(math.asin(0.005)):.1f} %" in text
