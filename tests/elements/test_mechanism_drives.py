"""Given motions, forces by laws of time, joints as ports: against closed forms and scipy; faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fmi2 import ERROR, OK, Fmu
from running import Running, build
from scipy.integrate import solve_ivp

from fmu_builder.errors import InputError
from fmu_builder.model.loader import load_model
from fmu_builder.paths import shipped

G = 9.81
CART = """
element = "planar_mechanism"
[functions]
text = "scalar lift = 0.1[m]; scalar end = 9[s];"
[[body]]
name = "cart"
joint = "prismatic"
mass = 2
inertia = 1
damping = "3 N.s/m"
motion = "{motion}"
[[body]]
name = "bob"
joint = "revolute"
angle = "-90 deg"
mass = 1
inertia = 1e-14
centre = [0.5, 0]
start = 0.3
port = true
force = "0[N.m]*sqrt((end - #t)/1[s])"
[[point]]
body = "bob"
offset = [0.5, 0]
force_x = "2[N]*cos(3*#t/1[s])"
"""
LAW = "lift*sin(5*#t/1[s])"


def cart(t: float) -> tuple[float, float, float, float]:
    """Place of the cart and its derivatives."""
    return 0.1 * np.sin(5 * t), 0.5 * np.cos(5 * t), -2.5 * np.sin(5 * t), -12.5 * np.cos(5 * t)


def bob(t: float, y: np.ndarray) -> list[float]:
    """L a'' + g sin a + x'' cos a = F cos a / m."""
    return [y[1], (-G * np.sin(y[0]) + (2.0 * np.cos(3 * t) - cart(t)[2]) * np.cos(y[0])) / 0.5]


def drive_force(t: float, y: np.ndarray) -> float:
    """On the cart: what both masses and the damper take, less the force at the bob."""
    a, w, turn = y[0], y[1], bob(t, y)[1]
    bob_x = cart(t)[2] + 0.5 * (turn * np.cos(a) - w * w * np.sin(a))
    return float(2.0 * cart(t)[2] + bob_x - 2.0 * np.cos(3 * t) + 3.0 * cart(t)[1])


@pytest.fixture(scope="module")
def by_law(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("law"), "Cart", CART.format(motion=LAW))


@pytest.fixture(scope="module")
def by_inputs(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("inputs"), "CartIn", CART.format(motion="inputs"))


@pytest.mark.slow
def test_a_pendulum_hangs_on_a_cart_that_moves_by_a_law(by_law: Fmu) -> None:
    running = Running(by_law)
    done = solve_ivp(bob, (0.0, 2.0), [0.3, 0.0], "DOP853", rtol=1e-12, atol=1e-13, dense_output=True)
    for _ in range(8):
        running.step(0.25)
        t = running.time
        x, v, a, _ = cart(t)
        y = done.sol(t)
        assert running.values(["q[1]", "qd[1]", "qdd[1]"]) == pytest.approx([x, v, a], abs=1e-12)
        assert running.values(["shaft[1].phi", "shaft[1].w"]) == pytest.approx(list(y), abs=1e-7)
        assert running["joint[1].drive"] == pytest.approx(drive_force(t, y), abs=1e-6)
        assert abs(running["energy.residual"]) < 1e-7 and abs(running["power.residual"]) < 1e-13


@pytest.mark.slow
def test_a_torque_on_the_shaft_acts_as_one_on_the_joint(by_law: Fmu) -> None:
    there, here = Running(by_law), Running(by_law)
    before = there["qdd[2]"]
    there.set({"shaft[1].t": 0.7})
    here.set({"joint[2].force": 0.7})
    assert there["qdd[2]"] == here["qdd[2]"] == pytest.approx(before + 0.7 / 0.25, rel=1e-8)


@pytest.mark.slow
def test_another_simulator_may_move_the_cart(by_inputs: Fmu) -> None:
    """At one point the same accelerations and drive as by the law; over steps in which the inputs go on with their
    rates, errors of second order in the length of the step."""
    done = solve_ivp(bob, (0.0, 0.4), [0.3, 0.0], "DOP853", rtol=1e-12, atol=1e-13)
    errors = []
    for count in (40, 80):
        x, v, a, _ = cart(0.0)
        running = Running(by_inputs, {"drive[1].q": x, "drive[1].qd": v, "drive[1].qdd": a})
        assert running["joint[1].drive"] == pytest.approx(drive_force(0.0, np.array([0.3, 0.0])), rel=1e-12)
        assert running["qdd[2]"] == pytest.approx(bob(0.0, np.array([0.3, 0.0]))[1], rel=1e-8)
        names = ["drive[1].q", "drive[1].qd", "drive[1].qdd"]
        for _ in range(count):
            x, v, a, j = cart(running.time)
            running.set(dict(zip(names, (x, v, a), strict=True)))
            running.rates(dict(zip(names, (v, a, j), strict=True)))
            running.step(0.4 / count)
        errors.append(abs(running["q[2]"] - done.y[0, -1]))
    assert errors[1] < 1e-4 and 3.0 < errors[0] / errors[1] < 5.0


@pytest.mark.parametrize("given", ["held", "with rates"])
@pytest.mark.parametrize("count", [7, 40])
def test_a_speed_that_is_not_that_of_the_places_is_told_once(by_inputs: Fmu, count: int, given: str) -> None:
    """A sine of one and of six samples a radian: without qd and qdd it is told, with the joint, and else not."""
    told = []
    for left_out in (0.0, 1.0):
        running = Running(by_inputs, {"drive[1].qd": 0.5 * left_out})
        for _ in range(count):
            x, v, a, j = cart(running.time)
            names = ("drive[1].q", "drive[1].qd", "drive[1].qdd")
            running.set(dict(zip(names, (x, left_out * v, left_out * a), strict=True)))
            if given == "with rates":
                running.rates(dict(zip(names, (v, left_out * a, left_out * j), strict=True)))
            running.step(1.4 / count)
        told.append([text for text in running.told if "does not belong" in text])
    assert len(told[0]) == 1 and not told[1]
    assert "drive[1].qd does not belong to drive[1].q" in told[0][0] and "the joint of cart" in told[0][0]


@pytest.mark.slow
def test_a_crank_at_constant_speed_moves_a_four_bar(tmp_path: Path) -> None:
    """The loop closes at every angle; the work of the drive is the energy that the bars gain."""
    text = (shipped("fmus") / "FourBar.toml").read_text(encoding="utf-8")
    assert 'speed = "15 rad/s"\n' in text
    running = Running(build(tmp_path, "Driven", text.replace('speed = "15 rad/s"', 'motion = "15[rad/s]*#t"')))
    for _ in range(10):
        running.step(0.05)
        phi, coupler, rocker = running.values(["q[1]", "q[2]", "q[3]"])
        joint = 0.1 * np.exp(1j * phi) + 0.35 * np.exp(1j * (phi + coupler))
        assert phi == pytest.approx(15.0 * running.time, abs=1e-12)
        assert joint == pytest.approx(0.4 + 0.3 * np.exp(1j * rocker), abs=1e-12)
        assert abs(running["energy.residual"]) < 1e-7
    assert abs(running["energy.work"]) > 1e-2


@pytest.mark.slow
def test_a_law_without_a_value_ends_the_run_with_its_time_and_joint(by_law: Fmu) -> None:
    running = Running(by_law, {"laws.end": 0.5})
    running.step(0.4)
    assert running.slave.call("fmi2DoStep", running.time, 0.3, 1) == ERROR
    text = next(text for text in running.told if "law of time" in text)
    assert "the force on the joint of bob has no finite value" in text
    assert float(text.split("at ")[1].split(" s")[0]) == pytest.approx(0.5, abs=1e-9)
    begun = Running.in_initialization(by_law, time=10.0)
    assert begun.slave.call("fmi2ExitInitializationMode") != OK


FAULTS = [
    ('motion = "inputs"', 'motion = "inputs"\nstart = 1', "[[body]] 1 start: the motion of this joint is given"),
    ('motion = "inputs"', "motion = 3", "[[body]] 1 motion: 3 must be a law of the time t, as text"),
    ('motion = "inputs"', 'motion = "5[N]*#t/1[s]"', "[[body]] 1 motion: the expression has the dimension"),
    ('motion = "inputs"', 'motion = "abs(#t - 0.5[s])*1[m/s]"', "[[body]] 1 motion: a corner of the slope at t = "),
    ("port = true", "port = 1", "[[body]] 2 port: 1 must be true or false"),
    ('force_x = "2[N]', 'force_x = "2[m]', "[[point]] 1 force_x: the expression has the dimension m, N (kg.m.s-2)"),
    ('force_x = "2[N]*cos(3*#t/1[s])"', 'force_x = "1[N]/(#t/1[s])"', "[[point]] 1 force_x"),
    (
        "[[point]]",
        '[[constraint]]\nkind = "pin"\nbody = "bob"\n[[point]]',
        "2 equations hold 1 joints that are not driven: the mechanism is over-constrained",
    ),
]


@pytest.mark.parametrize(("old", "new", "said"), FAULTS)
def test_a_faulty_drive_is_told_with_its_repair(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "Cart.toml"
    text = CART.format(motion="inputs")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert any(said in str(problem) for problem in caught.value.problems), [str(p) for p in caught.value.problems]
