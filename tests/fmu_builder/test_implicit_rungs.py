"""`implicit` where something is missing or unusual: derivatives, states, stored energy; guides, bristles."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foreign import RIGID, foreign_fmu

from fmu_builder import Scenario, SlaveError, run
from fmu_builder.cosim import master
from fmu_builder.cosim.implicit import compiled, group
from fmu_builder.cosim.implicit.bodies import Body, Values
from fmu_builder.cosim.implicit.iqn import Solution, solve
from fmu_builder.cosim.loop.program import LOOP
from fmu_builder.cosim.result import Result
from fmu_builder.cosim.slave import SlaveDescription
from fmu_builder.model.model import Model
from tests.contact_core.fmi2 import literal

DROP = {"r0": [0, 0, 0.0011], "v0": [0, 0, -1], "g": [0, 0, 0]}
LAW = {"C_F": 1e6, "C_r": 1, "K_fr": 0}


def drop(body: str = "PointMass", algorithm: str = "implicit", floor: str = "PointSurface", **law: object) -> Result:
    """A mass meets a floor within three steps."""
    return run(
        Scenario(
            slaves={
                "ball": {"recipe": body, "start": DROP},
                "floor": {"recipe": floor, "start": LAW | law},
            },
            connections=[("ball.p", "floor.point")],
            experiment={"stop": 0.008, "step": 1e-3, "algorithm": algorithm},
        )
    )


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
def test_steps_that_are_tried_give_the_inertia_where_derivatives_are_refused(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = drop(algorithm=algorithm)["ball.p.v[3]"]
    monkeypatch.setattr(Body, "_gives_derivatives", lambda self: False)
    result = drop(algorithm=algorithm)
    assert [bond.rung for bond in result.bonds] == ["probe steps, discrete gradient"]
    (found,) = result.groups
    assert found.steps < found.probes < 4 * found.steps  # one in flight; in contact along each axis too
    assert any("steps of bodies that are tried" in note for note in result.notes)
    assert np.abs(result["ball.p.v[3]"] - exact).max() < 1e-5  # rounding of the inertia may count a substep more
    assert result["ball.p.v[3]"][-1] == pytest.approx(1.0, abs=1e-9)


def test_a_body_without_states_and_derivatives_is_named_and_stepped_as_under_gauss_seidel(tmp_path: Path) -> None:
    ball = str(foreign_fmu(tmp_path, "Ball", RIGID, guid="r0--"))
    held = {"coupling.mode": "hold"}
    results = [drop(ball, algorithm, **held) for algorithm in ("implicit", "gauss_seidel")]
    assert (results[0]["ball.p.v[3]"] == results[1]["ball.p.v[3]"]).all()
    assert [bond.rung for bond in results[0].bonds] == ["Gauss-Seidel"]
    assert results[0].bonds[0].energy is None
    why = "stepped as under Gauss-Seidel, since ball gives no directional derivatives and cannot restore its state"
    assert f"floor: {why}" in results[0].notes


def test_bodies_that_cannot_interpolate_are_given_forces_that_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solved for over whole steps: the energy is right, and a contact lasts longer by (w H)^2/12."""
    read = master.read_built
    monkeypatch.setattr(master, "read_built", lambda fmu, model: replace(read(fmu, model), interpolates=False))
    result = drop()
    (found,) = result.groups
    assert found.substeps == found.steps
    assert result["ball.p.v[3]"][-1] == pytest.approx(1.0, abs=1e-9)
    assert "floor: solved for over whole steps, since ball cannot interpolate its inputs" in result.notes
    monkeypatch.undo()
    (divided,) = drop().groups
    assert divided.substeps > 5 * divided.steps


def test_a_nonlinear_contact_without_the_group_coupling_returns_its_speed(tmp_path: Path) -> None:
    """Hertz's law, as an element of the literal law shows it."""
    recipe = literal("PointSurface", tmp_path, "Hertz")
    law = '[functions]\ntext = """\nfunction hertz(h[m]) = 1e8[N]*(#h/1[m])^1.5;\n"""\nC_F = "hertz"\n'
    recipe.write_text(recipe.read_text().split("[start]")[0] + law)
    result = run(
        Scenario(
            slaves={
                "ball": {"recipe": "PointMass", "start": DROP},
                "floor": {"recipe": str(recipe), "start": {"C_r": 1, "K_fr": 0}},
            },
            connections=[("ball.p", "floor.point")],
            experiment={"stop": 0.012, "step": 1e-3, "algorithm": "implicit"},
        )
    )
    assert result["ball.p.v[3]"][-1] == pytest.approx(1.0, rel=1e-8)


def test_a_damper_beside_a_spring_adds_its_force(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loss that is not proportional to the elastic force: a damped oscillator, in the second order of whole steps."""
    errors = []
    monkeypatch.setitem(compiled._CONSTANTS, "most_substeps", 1.0)
    for step in (0.01, 0.005, 0.0025):
        spring = {"k": 1000, "d": 5, "l0": 0.1}
        result = run(
            Scenario(
                slaves={
                    "mass": {"recipe": "PointMass", "start": {"r0": [0.12, 0, 0], "g": [0, 0, 0]}},
                    "spring": {"recipe": "PointToPointSpring", "start": spring},
                },
                connections=[("mass.p", "spring.first")],
                experiment={"stop": 0.3, "step": step, "algorithm": "implicit"},
            )
        )
        t, decay = result.trace.time, 2.5
        w = math.sqrt(1000 - decay**2)
        exact = 0.02 * np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))
        errors.append(np.abs(result["mass.p.r[1]"] - 0.1 - exact).max())
    assert errors[0] < 0.05 * 0.02
    assert math.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.15)


def test_a_bristle_is_stepped_inside_the_solution_and_holds_a_mass_without_creep() -> None:
    depth = 9.81e-6
    result = run(
        Scenario(
            slaves={
                "mass": {"recipe": "PointMass", "start": {"r0": [0, 0, -depth], "v0": [0.01, 0, 0]}},
                "floor": {"recipe": "PointSurfaceBristle", "start": {"C_F": 1e6}},
            },
            connections=[("mass.p", "floor.point")],
            experiment={"stop": 0.1, "step": 1e-3, "algorithm": "implicit"},
        )
    )
    assert [bond.rung for bond in result.bonds] == ["derivatives, trapezoid"]
    slid = 0.01**2 / (2 * 0.3 * 9.81)  # by friction until it sticks; the bristle's own way comes on top
    assert result["mass.p.r[1]"][-1] == pytest.approx(slid, abs=2 * 0.3 * 9.81 / 1e6)
    assert np.ptp(result["mass.p.r[1]"][-50:]) < 1e-12


def test_a_mass_in_a_guide_keeps_its_energy_at_three_steps_a_swing() -> None:
    """Forward and back: the guide and the mass are FMUs of their own."""
    result = run(
        Scenario(
            slaves={
                "mass": {"recipe": "PointMass", "start": {"r0": [0.2, 1e-3, 0], "v0": [0.5, 0, 0], "g": [0, 0, 0]}},
                "guide": {"recipe": "GuideRail", "start": {"K_fr": 0}},
            },
            connections=[("mass.p", "guide.point")],
            experiment={"stop": 0.4, "step": 2e-3, "algorithm": "implicit"},
        )
    )
    assert np.ptp(result["mass.energy.kinetic"] + result["guide.energy.elastic"]) < 1e-9
    assert result["mass.p.r[1]"][-1] == pytest.approx(0.4, rel=1e-12)
    w, t = 1e3, result.trace.time
    assert np.abs(result["mass.p.r[2]"] - 1e-3 * np.cos(w * t)).max() < 1e-3 * w * t[-1] / 12 / 36**2


def test_a_body_in_other_units_is_named_and_stepped_as_under_gauss_seidel(tmp_path: Path) -> None:
    variables = [replace(v, unit="mm") if v.name.startswith("p.r") else v for v in RIGID]
    ball = str(foreign_fmu(tmp_path, "Millimetres", variables, guid="r0--"))
    result = drop(ball)
    assert any("converted on its way" in note for note in result.notes)


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
def test_a_ball_that_bounces_comes_to_rest(algorithm: str) -> None:
    """Dropped from 50 mm with C_r = 0.5, at three steps in a contact; it settles at the depth of balance."""
    result = run(
        Scenario(
            slaves={
                "ball": {"recipe": "PointMass", "start": {"r0": [0, 0, 0.05]}},
                "floor": {"recipe": "PointSurface", "start": {"C_F": 1e6, "C_r": 0.5}},
            },
            connections=[("ball.p", "floor.point")],
            experiment={"stop": 0.8, "step": 1e-3, "algorithm": algorithm},
        )
    )
    assert result["ball.p.r[3]"][-1] == pytest.approx(-9.81e-6, rel=1e-6)
    assert abs(result["ball.p.v[3]"][-1]) < 1e-9
    (found,) = result.groups
    assert found.unsolved == 0
    assert found.evaluations < 40 * found.steps


def without_solution(*arguments: Any) -> Solution:
    found = solve(*arguments)
    return replace(found, solved=False, residual=0.25)


def test_forces_that_are_not_solved_for_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LOOP, "python")
    monkeypatch.setattr(group, "solve", without_solution)
    result = drop()
    (found,) = result.groups
    assert 0 < found.unsolved < found.steps  # in flight there is nothing to solve for
    count = f"{found.unsolved} of {found.steps}"
    why = f"floor: forces of {count} steps were not solved for, and miss their law by up to 0.25 m/s or rad/s"
    assert any(note.startswith(why) for note in result.notes)


def test_adaptive_steps_end_where_none_is_short_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the element, the time, what is wrong, and what to do."""
    monkeypatch.setenv(LOOP, "python")
    monkeypatch.setattr(group, "solve", without_solution)
    with pytest.raises(SlaveError) as caught:
        drop(algorithm="adaptive")
    assert re.search(
        r"^floor: the forces of floor need steps below \S+ s at \S+ s: they are not solved for; ", str(caught.value)
    )
    assert "algorithm = 'implicit'" in str(caught.value)
    (length,) = re.findall(r"below (\S+) s", str(caught.value))
    assert 1e-12 * 0.008 <= float(length) < 2e-12 * 0.008


def test_forces_that_are_not_finite_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LOOP, "python")
    monkeypatch.setattr(group, "solve", lambda *given: replace(solve(*given), solved=False, residual=math.inf))
    with pytest.raises(SlaveError, match=r"no finite value at the end of a step of 0\.001 s from 0\.001 s"):
        drop()


@pytest.mark.parametrize("counts", [False, True])
def test_an_element_of_others_that_counts_its_calls_is_left_to_gauss_seidel(
    counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time its force is got, it grows a little; without that it is solved for."""
    read, get, calls = master.read_built, Values.get, itertools.count(1)

    def as_of_others(fmu: Path, model: Model) -> SlaveDescription:
        description = read(fmu, model)
        return replace(description, ours=False) if "point.f[1]" in description.variables else description

    def counted(values: Values) -> np.ndarray:
        forces_and_energy = values.size == 4
        return get(values) + 1e-9 * next(calls) if counts and forces_and_energy else get(values)

    monkeypatch.setattr(master, "read_built", as_of_others)
    monkeypatch.setattr(Values, "get", counted)
    (bond,) = drop().bonds
    assert bond.rung == ("Gauss-Seidel" if counts else "derivatives, discrete gradient")
