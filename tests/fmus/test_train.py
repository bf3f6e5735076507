"""A hundred masses and springs in a row, as one FMU and coupled by the master, against the eigenmodes of the row:

    w_j = 2 sqrt(k/m) sin(j pi/(2 (N + 1))),   phi_j(i) = sin(i j pi/(N + 1))   between two ends at rest.

When one mass is struck, all modes take part: the cases systems/train_rings and translational_spring/train.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fmi2 import Fmu, literal, load_shipped
from numpy.typing import NDArray
from running import Running, build

from fmu_builder import run

Vector = NDArray[np.float64]
N, K, M = 100, 1e4, 1.0  # of the recipe
A = 0.01  # amplitude, m


def mode(j: int, n: int = N) -> tuple[float, Vector]:
    """w_j, rad/s, and phi_j, shape (n,)."""
    angle = j * math.pi / (n + 1)
    return 2.0 * math.sqrt(K / M) * math.sin(angle / 2.0), np.sin(np.arange(1, n + 1) * angle)


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("SpringMassTrain", tmp_path_factory.mktemp("train"))


@pytest.mark.parametrize("j", [1, 2, 37, pytest.param(100, marks=pytest.mark.slow)])
def test_one_mode_alone_keeps_its_shape_and_its_frequency(train: Fmu, j: int) -> None:
    w, shape = mode(j)
    running = Running(train, {"initial_position": A * shape, "initial_velocity[50]": 0.0}, tolerance=1e-11)
    for _ in range(20):
        running.step(0.1)
        position, velocity = running.vector("position", N), running.vector("velocity", N)
        assert position == pytest.approx(A * shape * math.cos(w * running.time), abs=1e-8 * A)
        assert velocity == pytest.approx(-A * w * shape * math.sin(w * running.time), abs=1e-8 * A * w)
    # the phase, from the part of the motion that is this mode
    along, across = position @ shape, -(velocity @ shape) / w
    phase = math.remainder(math.atan2(across, along) - w * running.time, 2.0 * math.pi)
    assert abs(phase) < 1e-8 * w * running.time
    assert math.hypot(along, across) == pytest.approx(A * (shape @ shape), rel=1e-8)


def test_the_energy_of_all_masses_and_springs_stays(train: Fmu) -> None:
    """And the ledger of each spring closes."""
    running = Running(train, {"initial_velocity[50]": 1.0}, tolerance=1e-11)
    for _ in range(4):
        running.step(0.5)
        kinetic = running.values([f"mass[{i}].energy.kinetic" for i in range(1, N + 1)]).sum()
        elastic = running.values([f"spring[{i}].energy.elastic" for i in range(1, N + 2)]).sum()
        assert kinetic + elastic == pytest.approx(0.5, rel=1e-8)
        residuals = running.values([f"spring[{i}].energy.residual" for i in range(1, N + 2)])
        assert np.abs(residuals).max() < 1e-9


def test_the_ends_of_the_row_are_ports(train: Fmu) -> None:
    """An end that is 10 mm off pulls its mass, and feels the force of its spring."""
    running = Running(train, {"first.s": -0.01, "last.s": 0.02})
    assert running.values(["first.F", "last.F"]) == pytest.approx([0.01 * K, -0.02 * K], rel=1e-14)
    rates = running.values(["der(velocity[1])", "der(velocity[2])", f"der(velocity[{N}])"])
    assert rates == pytest.approx([-0.01 * K, 0.0, 0.02 * K], rel=1e-14)


DAMPED = """
description = "A row with a damper beside each spring"
connections = [
    ["mass[i].p", "spring[i].r"], ["mass[i].p", "spring[i+1].c"],
    ["mass[i].p", "damper[i].r"], ["mass[i].p", "damper[i+1].c"],
]
[parts]
mass = { recipe = "SliderMass", count = 10 }
spring = { recipe = "TranslationalSpringByPositions", count = 11, start = { k = 1e4 } }
damper = { recipe = "TranslationalDamper", count = 11, start = { d = 2 } }
[expose]
outputs = { "position[i]" = "mass[i].p.s" }
parameters = { "initial_position[i]" = "mass[i].s0" }
"""


@pytest.mark.parametrize("j", [1, 10])
def test_dampers_beside_the_springs_damp_each_mode_by_its_frequency_squared(tmp_path: Path, j: int) -> None:
    """delta_j = d/(2 k) w_j^2:  s = A phi_j exp(-delta t) (cos W t + delta/W sin W t),  W^2 = w_j^2 - delta^2."""
    w, shape = mode(j, 10)
    running = Running(build(tmp_path, "Damped", DAMPED), {"initial_position": A * shape}, tolerance=1e-11)
    delta = 2.0 / (2.0 * K) * w**2
    turn = math.sqrt(w**2 - delta**2)
    for _ in range(5):
        running.step(0.04)
        t = running.time
        share = math.exp(-delta * t) * (math.cos(turn * t) + delta / turn * math.sin(turn * t))
        assert running.vector("position", 10) == pytest.approx(A * shape * share, abs=1e-8 * A)


# ---- coupled by the master -------------------------------------------------------------------------------------------


def coupled(folder: Path, j: int, step: float, stop: float) -> tuple[Vector, Vector, Vector]:
    """Time and the parts of mode j in the velocities of the masses and in the forces of the springs, each shape (n,).

    The springs integrate the speeds; the mode starts at full speed, at rest in its middle."""
    _, shape = mode(j)
    masses = "\n".join(
        f'"mass[{i}]" = {{ recipe = "SliderMass", start = {{ v0 = {float(v)!r} }} }}' for i, v in enumerate(shape, 1)
    )
    literal("TranslationalSpring", folder)
    path = folder / "coupled.toml"
    path.write_text(
        f"""
connections = [["mass[i].p", "spring[i].r"], ["mass[i].p", "spring[i+1].c"]]
[experiment]
stop = {stop}
step = {step}
[slaves]
mass = {{ recipe = "SliderMass", count = {N} }}
{masses}
spring = {{ recipe = "TranslationalSpring", count = {N + 1}, start = {{ k = {K} }} }}
""",
        encoding="utf-8",
    )
    trace = run(path).trace
    v = np.array([trace[f"mass[{i}].p.v"] for i in range(1, N + 1)])
    f = np.array([trace[f"spring[{i}].F"] for i in range(1, N + 2)])
    pull = f[1:] - f[:-1]  # on each mass; of a mode that is -k (w_j/sqrt(k/m))^2 s
    return trace.time, shape @ v / (shape @ shape), shape @ pull / (shape @ shape)


@pytest.mark.slow
@pytest.mark.parametrize("j", [1, 100])
def test_coupled_by_the_master_a_mode_is_half_a_step_late_and_keeps_its_amplitude(tmp_path: Path, j: int) -> None:
    """Masses first:  v_n = cos(W (n - 1/2) h)/cos(W h/2), sin(W h/2) = w_j h/2, exactly; so v converges with order 1
    and the forces, which start at zero, with order 2."""
    w, _ = mode(j)
    late, pulls = [], []
    for step in (1e-3, 5e-4, 2.5e-4):
        time, v, pull = coupled(tmp_path, j, step, 0.05)
        turn, n = 2.0 * math.asin(w * step / 2.0), np.arange(len(time))
        assert v == pytest.approx(np.cos(turn * (n - 0.5)) / math.cos(turn / 2.0), abs=1e-11)
        assert pull == pytest.approx(-M * w * np.sin(turn * n) / math.cos(turn / 2.0), abs=1e-11 * w)
        late.append(np.abs(v - np.cos(w * time)).max())
        pulls.append(np.abs(pull / w + np.sin(w * time)).max())
    assert np.log2(late[1] / late[2]) == pytest.approx(1.0, abs=0.1)
    assert np.log2(pulls[1] / pulls[2]) == pytest.approx(2.0, abs=0.1)
