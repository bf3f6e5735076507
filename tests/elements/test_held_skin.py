"""body_surface beside bodies of other FMUs: its force is held over communication steps.  What is advised keeps one per
cent of the rebound under either master: by `info` from the whole skin, by `run` from the area that touched, by the log
of the FMU from the contact itself.

A plate touches with all of its area at once, so that its contact is that of a linear spring, whose rebound grows by
exp((1 + 2 L) pi^2/(4 N)) in N steps (L = 1 under Jacobi).  The contact of a ball has an area that grows with the
depth."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
import trimesh
from fmi2 import load_shipped
from running import Running
from typer.testing import CliRunner

from fmu_builder import run
from fmu_builder.cli.commands import app
from fmu_builder.cosim.result import Result
from fmu_builder.model.loader import load_model
from fmu_builder.model.step_advice import HeldForce, step_advice
from fmu_builder.paths import shipped

LAGS = {"jacobi": 1, "gauss_seidel": 0}
ROWS = {"jacobi": "hold, Jacobi", "gauss_seidel": "hold, Gauss-Seidel"}
SIDE, C_P = 0.1, 1e7  # m, Pa/m: the plate is a spring of 1e5 N/m
DROP = """
free_moment = true
connections = [["mass.p", "skin.body"]]
[experiment]
stop = {stop!r}
step = {step!r}
algorithm = "{master}"
[slaves]
mass = {{ recipe = "PointMass", start = {{ m = {m}, g = [0, 0, 0], r0 = [0, 0, {height!r}], v0 = [0, 0, {speed}] }} }}
skin = {{ recipe = "{skin}" }}
"""


@pytest.fixture
def plate(tmp_path: Path) -> Path:
    mesh = trimesh.Trimesh([[0, 0, 0], [SIDE, 0, 0], [SIDE, SIDE, 0], [0, SIDE, 0]], [[0, 2, 1], [0, 3, 2]])
    mesh.apply_translation([-SIDE / 2, -SIDE / 2, 0])
    (tmp_path / "plate.stl").write_bytes(mesh.export(file_type="stl"))
    path = tmp_path / "Plate.toml"
    skin = '[skin]\nfile = "plate.stl"\nunit = "m"\nsamples = 40\n[surface]\nkind = "plane"\n'
    path.write_text(f'element = "body_surface"\n{skin}[start]\nC_p = {C_P}\n', encoding="utf-8")
    return path


def drop(folder: Path, skin: Path, step: float, stop: float, master: str, height: float, **given: float) -> Result:
    path = folder / "drop.toml"
    motion = {"m": 1.0, "speed": -1.0} | given
    count = math.ceil(stop / step)
    text = DROP.format(stop=count * step, step=step, master=master, height=height, skin=skin.as_posix(), **motion)
    path.write_text(text, encoding="utf-8")
    return run(path)


def growth(done: Result) -> float:
    """By which the speed after the contact is greater than before."""
    v = done.trace["mass.p.v[3]"]
    assert v[0] < 0.0 < v[-1] and done.trace["skin.normal_force"][-1] == 0.0
    return float(-v[-1] / v[0]) - 1.0


def warnings(done: Result) -> list[str]:
    return [entry.text for entry in done.log if "the held force makes the rebound" in entry.text]


HALF = math.pi * math.sqrt(1.0 / (C_P * SIDE**2))  # s, of a mass of 1 kg on the plate


@pytest.mark.parametrize("master", LAGS)
def test_the_step_advised_for_a_plate_keeps_one_per_cent_and_no_longer_one_does(
    plate: Path, tmp_path: Path, master: str
) -> None:
    model = load_model(plate)
    advice = step_advice(model.variables)
    assert advice is not None and advice.constant == ("C_p", C_P, "Pa/m over 0.01 m2")
    step = advice.steps[ROWS[master]]
    assert step == pytest.approx(4.0 * HALF * math.log(1.01) / ((1 + 2 * LAGS[master]) * math.pi**2), rel=1e-4)
    done = drop(tmp_path, plate, step, 1.5 * HALF, master, 0.37 * step)
    assert 0.009 < growth(done) <= 0.01
    assert not [note for note in done.notes if "advised" in note] and not warnings(done)
    longer = drop(tmp_path, plate, 3.0 * step, 1.5 * HALF, master, 0.37 * step)
    assert growth(longer) == pytest.approx(1.01**3 - 1.0, rel=0.05)
    (note,) = [note for note in longer.notes if "advised" in note]
    assert note.startswith("skin: the communication step of ") and "with C_p = 1e7 Pa/m over 0.01 m2" in note


@pytest.mark.parametrize("master", LAGS)
def test_the_recommended_step_of_a_ball_keeps_one_per_cent_under_either_master(tmp_path: Path, master: str) -> None:
    """It is right for all of the skin at once, so for the part that touches it is more than right."""
    recipe = shipped("fmus") / "BodySurface.toml"
    step = load_model(recipe).experiment.step
    done = drop(tmp_path, recipe, step, 0.03, master, 0.1001)
    assert 0.0 < growth(done) < 0.01 and not warnings(done)
    assert not [note for note in done.notes if "longer than" in note]


@pytest.mark.parametrize("master", LAGS)
@pytest.mark.parametrize("skin", ["plate", "ball"])
def test_the_log_names_the_steps_that_keep_one_per_cent_of_the_contact_it_has_seen(
    skin: str, plate: Path, tmp_path: Path, master: str
) -> None:
    """Whatever mass and speed the body has: they follow from the force over time."""
    recipe = plate if skin == "plate" else shipped("fmus") / "BodySurface.toml"
    stop, height = (3.0 * HALF, 1e-5) if skin == "plate" else (0.06, 0.1001)
    body = {"m": 4.0, "speed": -0.7}
    (text,) = warnings(drop(tmp_path, recipe, 2e-4, stop, master, height, **body))
    found = re.search(
        r"the rebound of a free body (\S+) times .* Gauss-Seidel master, (\S+) times .* (\S+) s or (\S+) s", text
    )
    assert found is not None
    sequential, parallel, gauss_seidel, jacobi = map(float, found.groups())
    expected = (parallel if master == "jacobi" else sequential) - 1.0
    seen = growth(drop(tmp_path, recipe, 2e-4, stop, master, height, **body))
    assert seen == pytest.approx(expected, rel=0.2)
    step = jacobi if master == "jacobi" else gauss_seidel
    kept = drop(tmp_path, recipe, step, stop, master, height, **body)
    assert 0.008 < growth(kept) <= 0.0102
    assert not warnings(drop(tmp_path, recipe, 0.98 * gauss_seidel, stop, master, height, **body))


def test_the_note_of_a_run_counts_the_area_that_touched(tmp_path: Path) -> None:
    recipe = shipped("fmus") / "BodySurface.toml"
    done = drop(tmp_path, recipe, 1e-4, 0.03, "jacobi", 0.1001)
    area = float(done.trace["skin.peak_area"][-1])
    assert area == done.trace["skin.contact_area"].max() > 1e-3
    (note,) = [note for note in done.notes if "advised" in note]
    found = re.search(r"longer than the (\S+) s advised .* over (\S+) m2 and an effective mass of 1 kg", note)
    assert found is not None and float(found[2]) == pytest.approx(area, rel=5e-3)
    exact = 4.0 * math.pi * math.sqrt(1.0 / (2e7 * area)) * math.log(1.01) / (3.0 * math.pi**2)
    assert 0.9 * exact < float(found[1]) <= exact
    apart = drop(tmp_path, recipe, 1e-4, 0.03, "jacobi", 0.2)  # it does not come so far
    assert apart.trace["skin.peak_area"][-1] == 0.0
    assert not [note for note in apart.notes if "advised" in note] and not warnings(apart)


def test_info_and_the_description_have_the_step_of_the_skin() -> None:
    recipe = shipped("fmus") / "BodySurface.toml"
    said = CliRunner().invoke(app, ["info", str(recipe)]).output
    assert "recommended communication step: 2.6e-6 s" in said
    assert "with C_p = 2e7 Pa/m over 0.125 m2 and an effective mass of 1 kg (proportional to the square root" in said
    (held,) = [v.held for v in load_model(recipe).variables if v.held is not None]
    assert held.area == pytest.approx(4.0 * math.pi * 0.1**2, rel=0.01)
    assert HeldForce.of(held.attributes()) == held
    for text in ("", "-1", "nan", "inf", "x"):
        assert HeldForce.of(held.attributes() | {"area": text}) == held._replace(area=0.0)


def test_a_law_of_the_pressure_has_no_advice_before_it_is_met_but_the_log_has_one(plate: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "Law.toml"
    law = '[functions]\nC_p = "1e7[Pa/m]*h + 1e11[Pa/m^3]*h^3"\n'
    recipe.write_text(plate.read_text(encoding="utf-8").partition("[start]")[0] + law, encoding="utf-8")
    model = load_model(recipe)
    assert step_advice(model.variables) is None and model.experiment.step == 1e-4
    done = drop(tmp_path, recipe, 2e-4, 3.0 * HALF, "jacobi", 1e-5)
    (text,) = warnings(done)
    found = re.search(r"(\S+) times with a Jacobi one; take steps below \S+ s or (\S+) s", text)
    assert found is not None and growth(done) == pytest.approx(float(found[1]) - 1.0, rel=0.2)
    assert 0.008 < growth(drop(tmp_path, recipe, float(found[2]), 3.0 * HALF, "jacobi", 1e-5)) <= 0.0102


def test_where_no_force_is_held_there_is_no_warning(plate: Path, tmp_path: Path) -> None:
    """In an assembly the solver meets the force at every stage."""
    fmu = load_shipped("BallOnFloor", tmp_path)
    running = Running(fmu)
    for _ in range(5):
        running.step(0.2)
    assert not [m for m in running.slave.importer.messages if "held force" in m.text]


ROCK = """
connections = [["body.frame", "skin.body"]]
[experiment]
stop = {stop!r}
step = {step!r}
algorithm = "{master}"
[slaves.skin]
recipe = "{skin}"
[slaves.body]
recipe = "RigidBody"
[slaves.body.start]
J_xx = {J!r}
J_yy = {J!r}
J_zz = {J_z!r}
g = [0, 0, 0]
r0 = [0, 0, {height!r}]
v0 = [0, 0, -1]
q0 = {q!r}
"""


@pytest.mark.parametrize("master", LAGS)
@pytest.mark.parametrize("tilt", [0.01, 0.1])
def test_a_plate_that_lands_on_an_edge_and_rocks_keeps_its_energy_at_the_advised_step(
    plate: Path, tmp_path: Path, tilt: float, master: str
) -> None:
    """To 1.01^2, of speeds that grow by one per cent."""
    advice = step_advice(load_model(plate).variables)
    assert advice is not None
    step, J = advice.steps[ROWS[master]], SIDE**2 / 12.0  # of a square of 1 kg
    path = tmp_path / "rock.toml"
    given = {"J": J, "J_z": 2.0 * J, "q": [math.cos(tilt / 2.0), 0.0, math.sin(tilt / 2.0), 0.0]}
    given |= {"height": SIDE / 2.0 * math.sin(tilt) + 1e-5, "stop": math.ceil(4.0 * HALF / step) * step}
    path.write_text(ROCK.format(step=step, master=master, skin=plate.as_posix(), **given), encoding="utf-8")
    trace = run(path).trace
    v, w = ([trace[f"body.frame.{x}[{i}]"] for i in (1, 2, 3)] for x in "vw")
    energy = sum(one**2 for one in v) / 2.0 + J * w[1] ** 2 / 2.0
    touching = trace["skin.normal_force"] > 0.0
    assert touching.any() and not touching[-1] and abs(w[1]).max() > 1.0
    assert 1.0 < energy[-1] / energy[0] <= 1.01**2
