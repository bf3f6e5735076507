"""rotational_spring and translational_spring: signs, the ledger, the rule of the rate; with bodies, the closed forms of
coupled runs and of one FMU.  Names are those of the rotational kind: one_axis.py."""

from __future__ import annotations

import math
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from fmi2 import ERROR, OK, Fmu, literal, load_shipped
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from one_axis import OF_ONE_SOURCE, Kind, refused
from running import Running

from fmu_builder import run
from fmu_builder.cosim.trace import Trace

Vector = NDArray[np.float64]
EXPLICIT, IMPLICIT = 2, 3  # literals of solver.method
TORQUES = ["t", "r.t", "c.t"]
moderate = st.floats(-100.0, 100.0)


@pytest.fixture(scope="module", params=OF_ONE_SOURCE, ids=str)
def kind(request: pytest.FixtureRequest) -> Kind:
    return cast(Kind, request.param)


@pytest.fixture(scope="module")
def spring(kind: Kind, tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return kind.load(kind.spring, tmp_path_factory.mktemp("spring"))


@pytest.fixture(scope="module")
def by_angles(kind: Kind, tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return kind.load(kind.spring_by_position, tmp_path_factory.mktemp("spring"))


# ---- the law ---------------------------------------------------------------------------------------------------------


def test_the_defaults_are_those_of_the_origin(spring: Fmu, kind: Kind) -> None:
    running = Running(spring)
    assert (running["k"], running["theta"], running["t"], running["w"]) == (kind.rate, 0.0, 0.0, 0.0)
    assert running["work"] == 1


def test_a_spring_whose_rod_is_ahead_turns_the_rod_back_and_the_case_along(spring: Fmu) -> None:
    """Numbers by hand: (5 - 2) rad/s for 0.1 s are 0.3 rad, 3 N.m at 10 N.m/rad."""
    running = Running(spring, {"k": 10.0, "r.w": 5.0, "c.w": 2.0})
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
    running = Running(spring, {"k": 10.0, "theta0": 0.2, "r.w": 3.0, "c.w": 1.0})
    running.step(0.1)
    running.rates({"r.w": 0.5})
    rates = running.output_rates(["theta", "w", *TORQUES])
    assert rates == pytest.approx([2.0, 0.5, 20.0, -20.0, 20.0], rel=1e-15)


# ---- the rule of the rate --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [0.0, -1.0, -1e-300])
def test_a_rate_that_is_not_positive_is_refused_and_named(spring: Fmu, kind: Kind, wrong: float) -> None:
    rule = f"it must be greater than 0 {kind.rate_unit}"
    assert refused(spring, "k", wrong, f"k = {wrong:g} {kind.rate_unit}", rule)


def test_a_rate_that_is_no_number_is_refused_and_named(spring: Fmu) -> None:
    assert refused(spring, "k", math.nan, "k = NaN")


def test_a_rate_that_is_tuned_to_zero_is_refused_before_the_next_step(spring: Fmu, kind: Kind) -> None:
    running = Running(spring, {"theta0": 0.1})
    running.step(0.1)
    assert running.slave.set({"k": 0.0}) == OK
    assert running.slave.step(running.time, 0.1) == ERROR
    message = f"k = 0 {kind.rate_unit}: it must be greater than 0 {kind.rate_unit}"
    assert any(message in text for text in running.told)


@pytest.mark.parametrize(("wrong", "named"), [(-1.0, "k = -1 "), (math.nan, "k = NaN "), (math.inf, "k = infinity ")])
def test_a_rate_that_cannot_be_is_refused_while_running_and_the_spring_goes_on(
    spring: Fmu, kind: Kind, wrong: float, named: str
) -> None:
    running = Running(spring, {"theta0": 0.1})
    running.step(0.1)
    assert running.slave.set({"k": wrong}) == ERROR
    assert named in running.told[-1]
    running.step(0.1)
    assert running.values(["k", "t"]) == pytest.approx([kind.rate, 0.1 * kind.rate], rel=1e-15)


def test_the_message_names_the_instance(spring: Fmu) -> None:
    slave = spring.slave(name=b"coupling")
    slave.set({"k": 0.0})
    assert (slave.setup(), slave.call("fmi2EnterInitializationMode")) == (OK, OK)
    assert slave.call("fmi2ExitInitializationMode") == ERROR
    assert [m.instance for m in slave.importer.messages if "k = 0 " in m.text] == ["coupling"]


def test_the_start_value_is_fixed(spring: Fmu, kind: Kind) -> None:
    running = Running(spring)
    assert running.slave.set({"theta0": 1.0}) == ERROR
    assert kind.own("theta0") + " cannot be set after the initialization" in running.told[-1]


# ---- work and the ledger ---------------------------------------------------------------------------------------------


def test_work_switches_the_torque_off_and_on_while_the_angle_goes_on(spring: Fmu) -> None:
    running = Running(spring, {"k": 10.0, "theta0": 0.2, "r.w": 1.0})
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
    running = Running(spring, {"k": 10.0, "theta0": 0.3 - 0.1 * moving, "r.w": moving})
    running.step(0.1)
    assert running["energy.switched"] == 0.0
    running.set(values)
    assert running["energy.switched"] == 0.0  # setting alone moves no ledger
    for _ in range(2):  # and it is booked once
        running.step(0.1)
        assert running["energy.switched"] == pytest.approx(booked, rel=1e-13)
        assert running["energy.residual"] == pytest.approx(0.0, abs=1e-13)


def test_switching_on_makes_the_energy_of_the_angle_reached(spring: Fmu) -> None:
    running = Running(spring, {"k": 10.0, "r.w": 2.0, "work": 0})
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
    running = Running(spring, {"k": 10.0, "theta0": theta})
    for speed in w:
        running.set({"r.w": speed, "c.w": -0.5 * speed})
        running.step(h)
    end = theta + 1.5 * h * math.fsum(w)
    size = 10.0 * (1.0 + 1.5 * h * float(np.abs(w).sum())) ** 2
    assert running["theta"] == pytest.approx(end, abs=1e-13 * (1.0 + 15.0 * h * len(w)))
    assert running["energy.work"] == pytest.approx(energy(10.0, end) - energy(10.0, theta), abs=1e-12 * size)
    assert abs(running["energy.residual"]) < 1e-13 * size


def test_without_ledger_the_spring_is_the_same(spring: Fmu, kind: Kind, tmp_path: Path) -> None:
    recipe = f'element = "{kind.element(kind.spring)}"\n[structure]\nledger = false\ncoupling = false\n'
    bare = kind.build(recipe, tmp_path, "Bare")
    assert {"energy.work", "energy.residual"} <= spring.types.keys() - bare.types.keys()
    both = [Running(fmu, {"theta0": 0.1, "r.w": 3.0}) for fmu in (spring, bare)]
    for running in both:
        running.step(0.2)
        running.set({"work": 0})
        running.step(0.2)
    names = [*TORQUES, "theta", "w", "energy.elastic", "energy.switched"]
    assert list(both[0].values(names)) == list(both[1].values(names))


# ---- deformation from the angles -------------------------------------------------------------------------------------


def test_angles_give_the_deformation_at_once(by_angles: Fmu) -> None:
    """theta = theta0 + phi_r - phi_c, whatever the speeds."""
    running = Running(by_angles, {"k": 10.0, "theta0": 0.1, "r.phi": 0.7, "c.phi": 0.5, "r.w": 3.0})
    assert running["theta"] == pytest.approx(0.3, rel=1e-15)
    assert running.values(TORQUES) == pytest.approx([3.0, -3.0, 3.0], rel=1e-15)
    running.step(0.5)
    assert running["theta"] == pytest.approx(0.3, rel=1e-15)
    running.set({"r.phi": 1.2, "c.phi": 1.4})
    assert running.values(["theta", *TORQUES]) == pytest.approx([-0.1, -1.0, 1.0, -1.0], rel=1e-14)


def test_after_a_million_turns_a_small_start_deformation_is_still_there(by_angles: Fmu) -> None:
    far = 2.0e6 * math.pi
    running = Running(by_angles, {"theta0": 1e-12, "r.phi": far, "c.phi": far})
    assert running["theta"] == 1e-12


def test_angles_with_a_slope_carry_the_torque_through_the_step(by_angles: Fmu) -> None:
    """Seen from within the step theta = 0.2 + 4 t: with w = 4 the work is that of the elastic energy."""
    running = Running(by_angles, {"k": 10.0, "r.phi": 0.2, "r.w": 4.0})
    running.rates({"r.phi": 4.0})
    running.step(0.1)
    assert running["energy.work"] == pytest.approx(energy(10.0, 0.6) - energy(10.0, 0.2), rel=1e-9)
    assert running.output_rates(["theta", *TORQUES]) == pytest.approx([4.0, 40.0, -40.0, 40.0], rel=1e-15)


def test_directional_derivatives_by_the_angles(by_angles: Fmu) -> None:
    running = Running(by_angles, {"k": 7.0, "theta0": 0.5, "r.w": 2.0, "c.w": 0.5})
    unknowns = ["theta", "t", "r.t", "c.t", "w"]
    assert list(running.directional(unknowns, {"r.phi": 1.0})) == [1.0, 7.0, -7.0, 7.0, 0.0]
    assert list(running.directional(unknowns, {"c.phi": 1.0})) == [-1.0, -7.0, 7.0, -7.0, 0.0]
    assert list(running.directional(unknowns, {"r.w": 1.0})) == [0.0, 0.0, 0.0, 0.0, 1.0]


def test_switching_books_its_energy_with_angles_too(by_angles: Fmu) -> None:
    running = Running(by_angles, {"k": 10.0, "r.phi": 0.3})
    running.step(0.1)
    running.set({"work": 0})
    running.step(0.1)
    assert running["energy.switched"] == pytest.approx(energy(10.0, 0.3), rel=1e-14)
    assert running["energy.residual"] == pytest.approx(0.0, abs=1e-15)


# ---- with bodies -----------------------------------------------------------------------------------------------------

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
spring = {{ recipe = "{spring}", start = {{ k = 10, theta0 = 0.3 }} }}
"""


def coupled(kind: Kind, folder: Path, algorithm: str, step: float, spring: str = "RotationalSpring") -> Trace:
    """Signals by their own names; the torque is held."""
    literal(kind.own(spring), folder)
    path = folder / "coupled.toml"
    path.write_text(kind.own(COUPLED.format(algorithm=algorithm, step=step, spring=spring)), encoding="utf-8")
    return run(path).trace


@pytest.mark.parametrize("step", [0.04, 0.01])
def test_gauss_seidel_keeps_the_amplitude_and_leads_by_half_a_step(kind: Kind, tmp_path: Path, step: float) -> None:
    """theta_(n+1) - 2 theta_n + theta_(n-1) = -(Omega h)^2 theta_n with theta_1 = theta0 (1 - (Omega h)^2)."""
    trace = coupled(kind, tmp_path, "gauss_seidel", step)
    theta = trace[kind.own("spring.theta")]
    turn = 2.0 * math.asin(OMEGA * step / 2.0)  # W h
    n = np.arange(len(trace.time))
    exact = THETA_0 * np.cos(turn * (n + 0.5)) / math.cos(turn / 2.0)
    assert theta == pytest.approx(exact, abs=1e-12)
    assert np.abs(theta - THETA_0 * np.cos(OMEGA * trace.time)).max() > 0.4 * THETA_0 * OMEGA * step


@pytest.mark.parametrize("step", [0.04, 0.01])
def test_jacobi_lets_the_amplitude_grow(kind: Kind, tmp_path: Path, step: float) -> None:
    """theta_n + i w_n/Omega is multiplied by 1 - i Omega h in each step: by more than 1 in size."""
    trace = coupled(kind, tmp_path, "jacobi", step)
    n, x = np.arange(len(trace.time)), OMEGA * step
    exact = THETA_0 * ((1.0 - 1j * x) ** n).real
    assert trace[kind.own("spring.theta")] == pytest.approx(exact, abs=1e-12 * np.abs(exact).max())


@pytest.mark.parametrize(("algorithm", "factor"), [("gauss_seidel", 1), ("jacobi", 3)])
def test_with_angles_the_amplitude_grows_and_the_deformation_is_that_of_the_body(
    kind: Kind, tmp_path: Path, algorithm: str, factor: int
) -> None:
    """(theta, w/Omega) is multiplied by ((1 - x^2/2, x), (-x, 1)) in each step, x = Omega h; with Jacobi the torque is
    that of theta one step before.  By exp(factor x^2/4) in size, up to the order x^4."""
    step = 0.01
    trace = coupled(kind, tmp_path, algorithm, step, "RotationalSpringByAngles")
    theta = trace[kind.own("spring.theta")]
    x = OMEGA * step
    exact, now, speed = [THETA_0], THETA_0, 0.0
    for n in range(len(trace.time) - 1):
        acting = now if algorithm == "gauss_seidel" else exact[max(n - 1, 0)]
        now, speed = now + x * speed - x**2 / 2.0 * acting, speed - x * acting
        exact.append(now)
    seen = exact if algorithm == "gauss_seidel" else [THETA_0, *exact[:-1]]
    assert theta == pytest.approx(np.array(seen), abs=1e-12 * np.abs(exact).max())
    size = math.hypot(now, speed) / THETA_0
    assert math.log(size) == pytest.approx(factor * x**2 / 4.0 * (len(trace.time) - 1), rel=0.05)


def test_the_residual_of_angles_and_speeds_that_are_held_falls_with_the_step(kind: Kind, tmp_path: Path) -> None:
    """Each step has the work of its last speed: int t w dt, from the right."""
    found = []
    for step in (1e-3, 5e-4, 2.5e-4):
        trace = coupled(kind, tmp_path, "gauss_seidel", step, "RotationalSpringByAngles")
        found.append(abs(trace["spring.energy.residual"][-1]))
    assert math.log2(found[0] / found[1]) == pytest.approx(1.0, abs=0.1)
    assert math.log2(found[1] / found[2]) == pytest.approx(1.0, abs=0.05)


DAMPED = """
description = "A body on a spring and a damper"
connections = [["disc.p", "spring.r"], ["disc.p", "damper.r"]]
[parts]
disc = {{ recipe = "Inertia", start = {{ J = 0.1, w0 = 1 }} }}
spring = {{ recipe = "{spring}", start = {{ k = 10, theta0 = 0.3 }} }}
damper = {{ recipe = "RotationalDamper", start = {{ d = 0.2 }} }}
"""


@pytest.mark.parametrize("form", ["speeds", "positions"])
@pytest.mark.parametrize("method", [EXPLICIT, IMPLICIT], ids=["explicit", "implicit"])
def test_in_one_fmu_a_damped_body_swings_as_the_closed_form(kind: Kind, tmp_path: Path, form: str, method: int) -> None:
    """theta'' + 2 delta theta' + Omega^2 theta = 0 with delta = d/(2 J) = 1/s; all energy that is gone was damped."""
    recipe = "RotationalSpring" if form == "speeds" else "RotationalSpringByAngles"
    fmu = kind.build(DAMPED.format(spring=recipe), tmp_path, "Damped")
    running = Running(fmu, {"solver.method": method}, tolerance=1e-10)
    delta, turn = 1.0, math.sqrt(OMEGA**2 - 1.0)
    before = 0.05 + energy(K, THETA_0)
    for _ in range(4):
        running.step(0.5)
        t = running.time
        a, b = THETA_0, (1.0 + delta * THETA_0) / turn
        sine, cosine = math.sin(turn * t), math.cos(turn * t)
        theta = math.exp(-delta * t) * (a * cosine + b * sine)
        rate = math.exp(-delta * t) * ((b * turn - delta * a) * cosine - (a * turn + delta * b) * sine)
        assert running["spring.theta"] == pytest.approx(theta, abs=1e-8 * THETA_0)
        assert running["disc.p.w"] == pytest.approx(rate, abs=1e-8 * THETA_0 * OMEGA)
        stored = running["disc.energy.kinetic"] + running["spring.energy.elastic"]
        assert stored + running["damper.energy.damping"] == pytest.approx(before, rel=1e-8)
        assert abs(running["spring.energy.residual"]) + abs(running["damper.energy.residual"]) < 1e-8


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


def test_the_numbers_of_the_readmes_are_right() -> None:
    x = 0.01  # Omega h of the cases
    for element, rest, unit in (
        ("rotational_spring", f"wound by 0.3 rad holds {energy(K, THETA_0):g} J with {K * THETA_0:g} N·m", "rad/s"),
        ("translational_spring", f"stretched by 30 mm holds {energy(1000.0, 0.03):g} J with {1000 * 0.03:g} N", "m/s"),
    ):
        text = " ".join((Path(__file__).parents[2] / f"elements/{element}/README.md").read_text("utf-8").split())
        assert rest in text
        swing = (THETA_0 if unit == "rad/s" else 0.03) * OMEGA
        assert f"= {OMEGA:g} rad/s up to {swing:g} {unit}" in text
        assert f"Ωh = 0.01, {'θ' if unit == 'rad/s' else 'x'} errs by {100 * math.tan(math.asin(x / 2)):.1f} %" in text
        assert f"after 1 s by {100 * math.expm1(1000 * x**2 / 4):.1f} %" in text
