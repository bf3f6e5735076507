"""The communication step that is advised, against what a held force does to a contact, to a swing and to a speed."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from typer.testing import CliRunner

from fmu_builder.advice import preferred_step, step_advice
from fmu_builder.cli import app
from fmu_builder.documentation import documentation_files
from fmu_builder.model import load_model
from fmu_builder.paths import shipped


class Variable(NamedTuple):
    name: str
    start: object


def test_a_held_force_is_advised_the_step_of_one_per_cent() -> None:
    """Rebound exp((1 + 2 L) pi omega h/4)."""
    advice = step_advice([Variable("C_F", 4e5), Variable("coupling.m_eff", "0.1")])
    assert advice is not None and advice.given and advice.mass == 0.1
    omega = math.sqrt(4e5 / 0.1)
    for mode, lag in (("hold, Gauss-Seidel", 0), ("hold, Jacobi", 1)):
        rebound = math.exp((1 + 2 * lag) * math.pi * omega * advice.steps[mode] / 4)
        assert rebound == pytest.approx(1.01, abs=2e-4)


def test_without_a_mass_the_advice_is_for_one_kilogram() -> None:
    advice = step_advice([Variable("C_F", 1e6)])
    assert advice is not None and not advice.given and advice.mass == 1.0
    assert step_advice([Variable("K_fr", 0.3)]) is None and step_advice([Variable("C_F", 0.0)]) is None


def test_the_preferred_step_is_that_of_the_mode() -> None:
    start = [Variable("C_F", 1e6), Variable("coupling.m_eff", 0.0)]
    assert preferred_step([*start, Variable("coupling.mode", 1)], 1e-5) == 1e-5
    assert preferred_step([*start, Variable("coupling.mode", 5)], 1e-5) == pytest.approx(5.2e-4, rel=1e-12)
    given = [start[0], Variable("coupling.m_eff", 4.0), Variable("coupling.mode", 5)]
    assert preferred_step(given, 1e-5) == pytest.approx(2.0e-3, rel=1e-12)  # pi/3 * 2 ms, two digits
    for mass in (0.0, 1.0):  # of slope it is that of its row, 60 steps a contact, whether the mass is given or not
        slope = [start[0], Variable("coupling.m_eff", mass), Variable("coupling.mode", 2)]
        assert preferred_step(slope, 1e-5) == pytest.approx(5.2e-5, rel=1e-12)


SPRING = [Variable("k", 100.0), Variable("coupling.m_eff", 4.0), Variable("r.F", 0.0)]  # 5 rad/s


def swings(mode: str, late: bool, by_place: bool, h: float) -> np.ndarray:
    """One step of a mass and a spring of 1 rad/s, for x, v, the force of the last step, and x as the spring has it."""

    def step(state: np.ndarray) -> list[float]:
        x, v, before, seen = state
        seen = x if by_place else seen + h * v
        F = x + (1.5 if late else 0.5) * h * v if mode == "slope" else seen
        acting = before if late else F
        return [x + h * v - h * h * acting / 2, v - h * acting, F, seen]

    return np.array([step(one) for one in np.eye(4)]).T


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("by_place", [False, True])
def test_a_spring_is_advised_the_step_of_one_per_cent_in_a_swing(late: bool, by_place: bool) -> None:
    """Growth of the amplitude, or error of the phase, in half a period; by speeds under Gauss-Seidel: of x."""
    advice = step_advice([*SPRING, *([Variable("r.s", 0.0)] if by_place else [])])
    assert advice is not None and advice.given and advice.error == "the swing"
    for mode in ("hold", "slope") if late else ("hold",):
        h = 5.0 * advice.steps["slope" if mode == "slope" else f"hold, {'Jacobi' if late else 'Gauss-Seidel'}"]
        roots = np.linalg.eigvals(swings(mode, late, by_place, h))
        root = min(roots, key=lambda z: abs(z - np.exp(1j * h)))
        growth, phase = math.pi / h * math.log(abs(root)), abs(math.pi / h * np.angle(root) - math.pi)
        if mode == "hold" and not late and not by_place:
            state, off = np.array([1.0, 0.0, 1.0, 1.0]), 0.0
            for n in range(round(math.pi / h)):
                state = swings(mode, late, by_place, h) @ state
                off = max(off, abs(state[3] - math.cos((n + 1) * h)))
            assert growth == pytest.approx(0.0, abs=1e-9) and off == pytest.approx(0.01, rel=0.02)
        else:
            assert max(growth, phase) == pytest.approx(0.01, rel=0.03)


def test_a_damper_is_advised_the_step_of_one_per_cent_of_the_speed() -> None:
    advice = step_advice([Variable("d", 5.0), Variable("coupling.J_eff", 0.5), Variable("r.t", 0.0)])
    assert advice is not None and (advice.error, advice.mass_unit) == ("the speed", "kg.m2")
    for master in ("Jacobi", "Gauss-Seidel"):
        z = 5.0 / 0.5 * advice.steps[f"hold, {master}"]
        v, before, off = 1.0, 1.0, 0.0
        for n in range(round(3 / z)):
            v, before = v - z * (before if master == "Jacobi" else v), v
            off = max(off, abs(v - math.exp(-z * (n + 1))))
        assert off == pytest.approx(0.01, rel=0.1)  # of first order


def test_the_stiffer_direction_of_a_guide_counts() -> None:
    advice = step_advice([Variable("k_r1", 1e4), Variable("k_r2", 4e4)])
    assert (
        advice is not None and advice.constant == ("k_r2", 4e4, "N/m") and advice.error == "the swing across the line"
    )
    assert advice.steps["hold, Gauss-Seidel"] == pytest.approx(math.pi / 200 / 248, rel=1e-3)


@pytest.mark.parametrize(
    "recipe, step, row, said",
    [
        (
            "TranslationalSpringCoupled",
            2.4e-3,
            "<td>hold, Jacobi</td><td>0.0002</td>",
            "k = 1000 N/m and an effective mass of 1 kg",
        ),
        (
            "RotationalDamperCoupled",
            0.12,
            "<td>hold, Gauss-Seidel</td><td>0.27</td>",
            "of the speed, with d = 0.2 N.m.s/rad and an effective moment of inertia of 1 kg.m2",
        ),
    ],
)
def test_springs_and_dampers_tell_it_too(recipe: str, step: float, row: str, said: str) -> None:
    path = shipped("fmus") / f"{recipe}.toml"
    model = load_model(path)
    assert model.experiment.step == pytest.approx(step, rel=1e-12)
    page = documentation_files(model)["documentation/index.html"].decode()
    assert row in page and said in page
    told = CliRunner().invoke(app, ["info", str(path)]).output
    assert f"recommended communication step: {step:g} s" in told and said in told


def test_it_is_told_by_info_and_on_the_page() -> None:
    recipe = shipped("fmus") / "PointSurfaceCoupled.toml"
    model = load_model(recipe)
    assert model.experiment.step == pytest.approx(1.6e-3, rel=1e-12)
    page = documentation_files(model)["documentation/index.html"].decode()
    assert "<td>hold, Jacobi</td><td>1.3e-5</td>" in page and "does as hold" not in page
    literal = documentation_files(load_model(shipped("fmus") / "PointSurface.toml"))[
        "documentation/index.html"
    ].decode()
    assert "This FMU does as hold; a recipe with <code>[structure] coupling = true</code> has the choice." in literal
    said = CliRunner().invoke(app, ["info", str(recipe)]).output
    assert "recommended communication step: 0.0016 s" in said
    assert "with C_F = 1e5 N/m and an effective mass of 1 kg (it goes with the square root of the mass)" in said
