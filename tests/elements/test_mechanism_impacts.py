"""Impacts on what is driven: the drive keeps its speed by an impulse, whose work is part of energy.work."""

from __future__ import annotations

from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmi2 import Fmu, load_shipped
from running import Running, build

TABLE = """
element = "planar_mechanism"
[start]
g = [0, 0]
[functions]
text = "scalar rise = 0.5[m/s];"
[[body]]
name = "table"
joint = "prismatic"
angle = "90 deg"
mass = 5
inertia = 1
motion = "{motion}"
[[body]]
name = "ball"
on = "ground"
joint = "prismatic"
angle = "90 deg"
mass = 2
inertia = 1
start = "0.1 m"
speed = "-3 m/s"
[[constraint]]
kind = "profile"
body = "ball"
on = "table"
angle = "-90 deg"
profile = [0]
unilateral = true
"""


@pytest.mark.parametrize("motion", ["rise*#t", "inputs"])
def test_a_driven_table_works_with_its_speed_times_the_impulse(tmp_path: Path, motion: str) -> None:
    """A ball of m = 2 kg at u = -3 m/s meets a table that rises at V = 0.5 m/s: impulse P = m (1 + e)(V - u), work P V,
    loss m (1 - e^2)(V - u)^2/2."""
    values = {"contact[1].restitution": 0.6} | ({"drive[1].qd": 0.5} if motion == "inputs" else {})
    running = Running(build(tmp_path, "Table", TABLE.format(motion=motion)), values)
    if motion == "inputs":
        running.rates({"drive[1].q": 0.5})
    running.step(0.1)
    impulse = 2.0 * 1.6 * 3.5
    assert running["contact[1].impacts"] == 1
    assert running["contact[1].impulse"] == pytest.approx(impulse, rel=1e-12)
    assert running["qd[2]"] == pytest.approx(0.5 + 0.6 * 3.5, rel=1e-12)
    assert running["energy.impact"] == pytest.approx(0.5 * 2.0 * (1.0 - 0.36) * 3.5**2, rel=1e-12)
    assert running["energy.work"] == pytest.approx(0.5 * impulse, rel=1e-12)
    assert abs(running["energy.residual"]) < 1e-12
    assert running["energy.changed"] == 0.0


# ---- a body that hangs on a driven joint, alone and in a closed loop -------------------------------------------------

SWING = """
element = "planar_mechanism"
[start]
g = [0, 0]
[functions]
text = "scalar speed = 2[m/s];"
[[body]]
name = "cart"
joint = "prismatic"
mass = 4
inertia = 1
motion = "speed*#t"
[[body]]
name = "rod"
joint = "revolute"
mass = 3
inertia = 0.25
centre = ["0.5 m", 0]
start = "30 deg"
speed = "-2 rad/s"
[[constraint]]
kind = "profile"
body = "rod"
point = ["1 m", 0]
profile = [-0.2, 0.5]
unilateral = true
"""
PARTNER = """
[[body]]
name = "partner"
on = "cart"
joint = "revolute"
mass = 2
inertia = 0.1
place = ["0.2 m", 0]
centre = ["0.4 m", 0]
start = "100 deg"
[[body]]
name = "coupler"
on = "rod"
joint = "revolute"
mass = 1
inertia = 0.05
place = ["1 m", 0]
centre = ["0.3 m", 0]
start = "80 deg"
closes = true
[[constraint]]
kind = "distance"
body = "coupler"
point = ["0.6 m", 0]
on = "partner"
base = ["0.8 m", 0]
length = "0.5 m"
"""


def test_a_rod_on_a_driven_cart_strikes_a_slope(tmp_path: Path) -> None:
    """One coordinate a, mass matrix I_a = J + m c^2; row J_a = n dP/da with n = (-1/2, 1).  The
    drive's impulse along x is that of the rod's momentum less the slope's: P_x = m (v+ - v-) - n_x p."""
    fmu, values = build(tmp_path, "Swing", SWING), {"contact[1].restitution": 0.4}
    running = Running(fmu, values)
    running.step(0.1)
    shortly = running["contact[1].touch_down"] - 1e-8
    running = Running(fmu, values)
    running.step(shortly)
    before = running.values(["q[2]", "qd[2]", "energy.work"])
    running.step(2e-8)
    assert running["contact[1].impacts"] == 1
    a, w = before[:2]
    n = np.array([-0.5, 1.0])
    across, speed = np.array([-np.sin(a), np.cos(a)]), np.array([2.0, 0.0])
    J_a, rate = float(n @ across), float(n @ (speed + w * across))
    p = 1.4 * rate / (J_a * J_a / (0.25 + 3.0 * 0.25))  # qd+ = qd - J_a p / I_a
    change = -J_a * p / (0.25 + 3.0 * 0.25)
    P_x = 3.0 * 0.5 * change * across[0] + n[0] * p
    assert running["qd[2]"] - w == pytest.approx(change, rel=1e-6)
    assert running["energy.work"] - before[2] == pytest.approx(2.0 * P_x, rel=1e-5)
    assert abs(2.0 * P_x) > 0.5
    running.step(0.2)
    assert abs(running["energy.residual"]) < 1e-9


def test_impacts_in_a_loop_on_a_driven_cart_keep_the_account(tmp_path: Path) -> None:
    running = Running(build(tmp_path, "Loop", SWING + PARTNER), {"contact[1].restitution": 0.4})
    running.step(0.3)
    assert running["contact[1].impacts"] == 1
    assert running["energy.impact"] > 0.1
    assert abs(running["energy.residual"]) < 1e-9


# ---- the cam of the catalogue ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cam(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("EccentricCam", tmp_path_factory.mktemp("cam"))


@pytest.mark.parametrize("speed", [50.0, 75.0, 100.0, 125.0, 150.0, 200.0, 250.0, 300.0])
def test_the_account_of_a_cam_closes_at_every_speed(cam: Fmu, speed: float) -> None:
    """Above some 75 rad/s the follower leaves the cam, and every time it comes back the drive takes the impulse."""
    running, impacts = Running(cam, {"laws.speed": speed}), 0
    for _ in range(400):
        running.step(1e-3)
        impacts = int(running["contact[1].impacts"])
        assert abs(running["energy.residual"]) < 1e-9 * running["solver.steps"]
    assert (impacts > 5) == (speed > 80.0)


def test_an_importer_that_integrates_sees_the_same_work(cam: Fmu) -> None:
    names = ["energy.work", "energy.residual", "contact[1].impacts"]
    found = fmpy.simulate_fmu(
        str(cam.file), fmi_type="ModelExchange", solver="CVode", relative_tolerance=1e-10, output=names,
        start_values={"laws.speed": 150.0}, output_interval=0.01, stop_time=0.1, record_events=False,
    )  # fmt: skip
    running = Running(cam, {"laws.speed": 150.0})
    running.step(0.1)
    assert found["contact[1].impacts"][-1] == running["contact[1].impacts"] > 0
    assert found["energy.work"][-1] == pytest.approx(running["energy.work"], abs=1e-5)
    assert abs(found["energy.residual"][-1]) < 1e-5


@pytest.mark.parametrize("steps", [1, 10, 993])
def test_a_point_that_is_drawn_off_leaves_at_the_moment_of_its_impact(cam: Fmu, steps: int) -> None:
    """F = 100 kN lift the follower off; the cam catches up with it once.  The profile never pulls, so friction takes
    nothing, and from the impact on the follower swings about x_s = x_f + F/k on its spring."""
    running = Running(cam, tolerance=1e-10)
    running.step(0.4)
    running.set({"joint[2].force": 1e5})
    rubbed = running["energy.friction"]
    for _ in range(steps):
        running.step(0.0993 / steps)
    assert running["contact[1].impacts"] == 1 and running["contact[1].closed"] == 0
    touch = running["last_contact[1].end"]
    assert 0.4 < touch == running["last_contact[1].start"]
    assert running["energy.friction"] == rubbed
    w, t = np.sqrt(2000.0 / 0.5), running.time - touch
    x, v = running["q[2]"], running["qd[2]"]
    x_s = 0.01 + 1e5 / 2000.0
    x_0 = x_s + (x - x_s) * np.cos(w * t) - v / w * np.sin(w * t)  # back to the impact
    v_0 = v * np.cos(w * t) + w * (x - x_s) * np.sin(w * t)
    angle = 60.0 * touch - 0.5 * np.pi  # of the disc's centre, 10 mm from the pivot; its radius is 30 mm
    c, s = 10e-3 * np.cos(angle), 10e-3 * np.sin(angle)
    root = np.sqrt(30e-3**2 - c**2)
    assert x_0 == pytest.approx(s + root, abs=1e-8)  # on the rim, and as fast
    assert v_0 == pytest.approx(60.0 * (c + c * s / root), abs=1e-5)
