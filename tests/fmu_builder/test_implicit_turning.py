"""Bodies that turn far within a step under `implicit` and `adaptive`, which take them as affine over it.

A body that spins at 30 rad/s and is held by a spring 0.15 m off its centre, without gravity.  Reference: the plane
equations of Newton and Euler, m r'' = F, I w' = (P - r) x F, integrated by scipy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from fmu_builder import Scenario, run
from fmu_builder.cosim.implicit.control import GROW
from fmu_builder.cosim.result import Result

m, J, a, k, l0, w0 = 1.0, 0.02, 0.15, 500.0, 0.2, 30.0
ANCHOR = np.array([0.5, 0.0])
ENERGY = 0.5 * J * w0**2 + 0.5 * k * (ANCHOR[0] - a - l0) ** 2  # J


def turned(algorithm: str, step: float, stop: float = 1.0, **experiment: float) -> Result:
    body = {"m": m, "J_xx": J, "J_yy": J, "J_zz": J, "g": [0, 0, 0], "w0": [0, 0, w0], "point.offset": [a, 0, 0]}
    spring = {"k": k, "l0": l0, "d": 0.0, "second.r": [*ANCHOR, 0.0]}
    return run(
        Scenario(
            slaves={
                "b": {"recipe": "RigidBody", "start": body},
                "s": {"recipe": "PointToPointSpring", "start": spring},
            },
            connections=[("b.point", "s.first")],
            experiment={"stop": stop, "step": step, "algorithm": algorithm, **experiment},
        )
    )


def energy(result: Result) -> NDArray[np.float64]:
    return np.asarray(result["b.energy.kinetic"] + result["s.energy.elastic"])


def exact_speeds(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """w, rad/s."""

    def rates(t: float, y: NDArray[np.float64]) -> list[float]:
        x, z, angle, vx, vz, w = y
        arm = a * np.array([np.cos(angle), np.sin(angle)])
        way = np.array([x, z]) + arm - ANCHOR
        length = np.hypot(*way)
        fx, fz = -k * (length - l0) * way / length
        return [vx, vz, w, fx / m, fz / m, (arm[0] * fz - arm[1] * fx) / J]

    start = [0.0, 0.0, 0.0, 0.0, 0.0, w0]
    return np.asarray(
        solve_ivp(rates, (0.0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-11, atol=1e-12).y[5]
    )


def notes_of_turning(result: Result) -> list[str]:
    return [note for note in result.notes if "velocities differ" in note]


@pytest.mark.parametrize(("step", "lost", "difference"), [(20e-3, 0.03, 1.4), (10e-3, 0.005, 0.38)])
def test_a_note_says_how_far_a_body_that_turns_left_what_forces_were_solved_for(
    step: float, lost: float, difference: float
) -> None:
    result = turned("implicit", step)
    assert energy(result).min() == pytest.approx(ENERGY * (1.0 - lost), rel=0.1 * lost)
    assert result.groups[0].drift == pytest.approx(difference, rel=0.05)
    (note,) = notes_of_turning(result)
    assert note == (
        f"b: after a step, velocities differ by up to {result.groups[0].drift:.2g} m/s or rad/s from those that forces "
        f"were solved for; in {step:g} s they turn or bend too far: take smaller steps, or adaptive"
    )


def test_steps_in_which_it_hardly_turns_keep_the_energy_and_need_no_note() -> None:
    result = turned("implicit", 0.25e-3)
    assert np.abs(energy(result) / ENERGY - 1.0).max() < 1e-6
    assert not notes_of_turning(result)


@pytest.mark.parametrize(("tolerance", "most"), [(1e-3, 0.3), (1e-4, 0.03)])
def test_adaptive_chooses_steps_by_how_far_it_turns_from_the_first_one_on(tolerance: float, most: float) -> None:
    """A run that begins with a whole communication step leaves the model by fifty times the tolerance in it."""
    result = turned("adaptive", 20e-3, coupling_tolerance=tolerance)
    assert np.abs(result["b.frame.w[3]"] - exact_speeds(np.array(result.trace.time))).max() < most
    assert np.abs(energy(result) / ENERGY - 1.0).max() < 0.1 * tolerance
    assert result.groups[0].drift < GROW**3 * tolerance
    assert not notes_of_turning(result)


def test_only_bodies_that_turn_are_named_and_none_that_no_force_moves() -> None:
    """A point off the centre leaves its affine model in free flight too, where the body moves as it does alone."""
    body = {"recipe": "RigidBody", "start": {"w0": [0, 0, 60.0], "point.offset": [0.1, 0, 0], "r0": [0, 0, 9]}}
    floor = {"recipe": "PointSurface"}
    flight = run(
        Scenario(
            slaves={"b": body, "f": floor},
            connections=[("b.point", "f.point")],
            experiment={"stop": 0.5, "step": 1e-3, "algorithm": "implicit"},
        )
    )
    assert not notes_of_turning(flight) and flight.groups[0].drift == 0.0
    spring = {"recipe": "PointToPointSpring", "start": {"k": k, "l0": l0, "second.r": [0.5, 0, 9]}}
    mass = {"recipe": "PointMass", "start": {"r0": [0.5, 0, 9]}}
    joined = run(
        Scenario(
            slaves={"b": body, "s": spring, "m": mass},
            connections=[("b.point", "s.first"), ("m.p", "s.second")],
            experiment={"stop": 0.1, "step": 10e-3, "algorithm": "implicit"},
        )
    )
    (note,) = notes_of_turning(joined)
    assert note.startswith("b: after a step, ")
