"""The communication step that is advised, against the growth of the rebound under a held force."""

from __future__ import annotations

import math
from typing import NamedTuple

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


def test_it_is_told_by_info_and_on_the_page() -> None:
    recipe = shipped("fmus") / "PointSurfaceCoupled.toml"
    model = load_model(recipe)
    assert model.experiment.step == pytest.approx(1.6e-3, rel=1e-12)
    page = documentation_files(model)["documentation/index.html"].decode()
    assert "<td>hold, Jacobi</td><td>1.3e-05</td>" in page
    said = CliRunner().invoke(app, ["info", str(recipe)]).output
    assert "recommended communication step: 0.0016 s" in said
    assert "with C_F = 1e5 N/m and an effective mass of 1 kg (it goes with the square root of the mass)" in said
