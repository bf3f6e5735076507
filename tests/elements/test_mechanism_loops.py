"""Loops of mechanisms: singular positions, published values, and what forces do to constrained joints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fmi2 import ERROR, Fmu
from numpy.typing import NDArray
from running import Running
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from fmu_builder.export.fmu import host_fmu
from fmu_builder.paths import shipped

pytestmark = pytest.mark.slow

Vector = NDArray[np.float64]
G = 9.81


def shipped_fmu(name: str, folder: Path) -> Fmu:
    return Fmu(host_fmu(shipped("fmus") / f"{name}.toml"), folder)


# ---- a singular position ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bars(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return shipped_fmu("NFourBar", tmp_path_factory.mktemp("bars"))


def turning(speed: float, stop: float) -> solve_ivp:
    """Angle and speed of the cranks: (3/3 + 2) phi'' = -g (3/2 + 2) cos phi."""
    return solve_ivp(
        lambda _, y: [y[1], -G * 3.5 / 3.0 * np.cos(y[0])],
        (0.0, stop),
        [0.5 * np.pi, speed],
        "DOP853",
        rtol=1e-13,
        atol=1e-13,
        dense_output=True,
    ).sol


@pytest.mark.parametrize("step", [5.0, 0.01])
@pytest.mark.parametrize("speed", [-0.5, -1.0, -3.0, -7.0, -12.0, -20.0])
def test_bars_pass_the_positions_in_line_and_stay_parallel(bars: Fmu, speed: float, step: float) -> None:
    """Up to 33 times; errors grow with the angle, and from the slow start on top by exp(sqrt(3.5 g / 3) t)."""
    running, exact = Running(bars, {"joint[1].qd0": speed}), turning(speed, 5.0)
    while running.time < 5.0 - 1e-9:
        running.step(step)
    phi = exact(running.time)[0]
    assert running.values([f"q[{i}]" for i in (1, 3, 5)]) == pytest.approx([phi] * 3, rel=1e-7)
    assert running.values(["q[2]", "q[4]"]) == pytest.approx([-phi] * 2, rel=1e-7)


def test_bars_that_are_stopped_in_line_are_refused_by_name(bars: Fmu) -> None:
    """Within 1e-5 rad of the singular position, where rounding hides which way the bars go, always; and wherever else a
    step ends it is refused with the reason or right: never a wrong answer."""
    exact = turning(-1.0, 1.0)
    singular = brentq(lambda t: exact(t)[0], 0.5, 1.0, xtol=1e-15)
    random = np.random.default_rng(7)
    beside = np.array([0.0, *(10.0 ** random.uniform(-8.0, -2.5, 59) * random.choice([-1.0, 1.0], 59))])
    refused = np.zeros(60, bool)
    for k, way in enumerate(beside):
        running = Running(bars)
        running.slave.call("fmi2SetDebugLogging", 1, 0, None)
        refused[k] = running.slave.step(0.0, singular + way) == ERROR
        if refused[k]:
            told = r"at 0\.71\d* s, with q\[[245]\] = \S+ rad of (coupler 1|coupler 2|crank 2), the mechanism is in a "
            told += r"singular position: constraint [12] \(pin, along [xy]\) depends"
            assert any(re.match(told, text) for text in running.told), running.told
        else:
            phi = exact(singular + way)[0]
            assert running.values([f"q[{i}]" for i in range(1, 6)]) == pytest.approx(
                [phi, -phi, phi, -phi, phi], abs=1e-8
            )
    near = np.abs(exact(singular + beside)[0]) < 1e-5
    assert refused[near].all() and not refused[np.abs(beside) > 5e-4].any()


# ---- published values ------------------------------------------------------------------------------------------------


def test_the_squeezer_starts_as_published(tmp_path: Path) -> None:
    """Test Set for IVP Solvers: accelerations and multipliers at the start, to the digits of a double."""
    running = Running(shipped_fmu("Squeezer", tmp_path))
    assert running.values(["qdd[1]", "qdd[2]"]) == pytest.approx([14222.4439199541139, -10666.8329399655854], rel=1e-11)
    assert running.values(["qdd[3]", "qdd[4]", "qdd[5]"]) == pytest.approx([0.0] * 3, abs=1e-6)
    found = running.values([f"lambda[{i}]" for i in range(1, 7)])
    assert found == pytest.approx([98.5668703962410897, -6.12268834425566265, 0, 0, 0, 0], abs=1e-9)


# ---- what a force does to the joints ---------------------------------------------------------------------------------

CONCAVE, CONVEX = (0.0, -0.595, 0.5, 0.5), (0.0, 0.357, -0.3, -0.3)
LENGTHS, MASSES, INERTIAS = (0.3, 0.1, 0.3, 0.3), (1.0, 0.5, 1.0, 1.0), (0.1, 0.01, 0.1, 0.1)


def places(q: Sequence[complex]) -> NDArray[np.complex128]:
    """x, y and angle of the four centres of mass of Lipinski's chain, then x and y of its tip."""
    at, found = np.zeros(2, complex), []
    for i, angle in enumerate((q[0], q[0] + q[1], q[0] + q[1], q[0] + q[1] + q[3])):
        along = np.array([np.cos(angle), np.sin(angle)])
        at = at + (q[2] * along if i == 2 else 0.0)
        found += [*(at + 0.5 * LENGTHS[i] * along), angle]
        at = at + LENGTHS[i] * along
    return np.array([*found, *at])


def slopes(q: Vector) -> Vector:
    """d places / dq by the complex step."""
    return np.array([(places(q + 1e-30j * np.eye(4)[i]).imag / 1e-30) for i in range(4)]).T


@pytest.mark.parametrize(("name", "f"), [("CamChainConcave", CONCAVE), ("CamChainConvex", CONVEX)])
@pytest.mark.parametrize("time", [0.0, 0.25, 0.7])
def test_a_force_moves_the_joints_by_the_inverse_of_the_constrained_mass_matrix(
    name: str, f: tuple[float, ...], time: float, tmp_path: Path
) -> None:
    """dqdd/dtau = W = M^-1 - M^-1 J^T (J M^-1 J^T)^-1 J M^-1, dqdd/df = W (dr/dq)^T, dlambda/dtau = (J M^-1 J^T)^-1 J
    M^-1: the second causality of the ports, with which a master can solve for forces."""
    running = Running(shipped_fmu(name, tmp_path))
    if time:
        running.step(time)
    q = running.values([f"q[{i}]" for i in (1, 2, 3, 4)])
    B, tip = np.split(slopes(q), [12])
    x = float(places(q)[12].real)
    slope = f[1] + 2.0 * f[2] * x + 3.0 * f[3] * x * x
    masses = np.array([value for m, J in zip(MASSES, INERTIAS, strict=True) for value in (m, m, J)])
    M, J = B.T @ (masses[:, None] * B), (tip[1] - slope * tip[0])[None, :]
    Y = np.linalg.solve(M, J.T)
    inverse = np.linalg.inv(M) - Y @ np.linalg.solve(J @ Y, Y.T)
    accelerations = [f"qdd[{i}]" for i in (1, 2, 3, 4)]
    size = np.abs(inverse).max()
    assert np.abs(J @ inverse).max() < 1e-12 * size  # of what is held, nothing moves
    for i in range(4):
        found = running.directional([*accelerations, "lambda[1]"], {f"joint[{i + 1}].force": 1.0})
        assert found[:4] == pytest.approx(inverse[:, i], abs=1e-10 * size)
        assert found[4] == pytest.approx(Y[i, 0] / (J @ Y)[0, 0], abs=1e-10 * np.abs(Y).max() / (J @ Y)[0, 0])
    for k in range(2):
        found = running.directional(accelerations, {f"point[1].f[{k + 1}]": 1.0})
        assert found == pytest.approx(inverse @ tip[k], abs=1e-10 * size)
    assert running.directional(accelerations, {"point[1].f[3]": 1.0}) == pytest.approx(np.zeros(4), abs=0.0)
