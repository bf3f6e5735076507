"""`fmu-builder new` for every kind of port and either side: what it writes builds, runs and passes its case."""

from __future__ import annotations

import re
from pathlib import Path

import fmpy
import numpy as np
import pytest
from typer.testing import CliRunner

from fmu_builder.cli.commands import app
from fmu_builder.cosim.master import load_scenario, run
from fmu_builder.cosim.validation import run_case
from fmu_builder.errors import InputError, ToolError
from fmu_builder.export.fmu import build_fmu
from fmu_builder.export.prototype import check_physics
from fmu_builder.model.declaration_reader import read_declaration
from fmu_builder.model.loader import load_model
from fmu_builder.model.ports import PORT_KINDS, SIDES
from fmu_builder.new import case_of, new_element

EVERY = [(kind, side) for kind in PORT_KINDS for side in SIDES]
EVERYDAY = [("rotational", "force"), ("frame", "body")]  # test_new.py has the point of a force element


def case(folder: Path, side: str) -> Path:
    return folder / "elements" / "demo" / "cases" / f"{case_of(side)}.toml"


@pytest.mark.parametrize(("kind", "side"), EVERY)
def test_the_new_element_has_the_port_asked_for_in_both_languages(tmp_path: Path, kind: str, side: str) -> None:
    new_element("demo", tmp_path, port=kind, side=side)
    (port,) = read_declaration(tmp_path / "elements" / "demo").ports.values()
    assert (port.kind, port.side) == (kind, side)
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"@\w+@", text), path
        assert max(map(len, text.splitlines())) <= 120, path
    new_element("demo", tmp_path / "python", python=True, port=kind, side=side)
    model = load_model(tmp_path / "python" / "fmus" / "Demo.toml")
    assert model.is_prototype
    check_physics(model)


def builds_runs_and_passes(folder: Path, kind: str, side: str) -> None:
    new_element("demo", folder, port=kind, side=side)
    built = build_fmu(folder / "fmus" / "Demo.toml", folder, ("host",))
    assert built.notes == ()
    assert fmpy.validation.validate_fmu(str(built.path)) == []
    assert np.isfinite(run(load_scenario(built.path)).trace.values).all()
    result = run_case(case_of(side), case(folder, side))
    assert result.failure is None
    assert result.passed


@pytest.mark.parametrize(("kind", "side"), EVERYDAY)
def test_the_new_element_builds_and_runs_and_passes_its_case(tmp_path: Path, kind: str, side: str) -> None:
    builds_runs_and_passes(tmp_path, kind, side)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "side"), [one for one in EVERY if one not in EVERYDAY])
def test_every_new_element_builds_and_runs_and_passes_its_case(tmp_path: Path, kind: str, side: str) -> None:
    builds_runs_and_passes(tmp_path, kind, side)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "side"), EVERY)
def test_both_languages_of_the_new_element_make_the_same_motion(tmp_path: Path, kind: str, side: str) -> None:
    """The first 20 ms of its case, in C and in Python."""
    new_element("demo", tmp_path, port=kind, side=side)
    new_element("demo", tmp_path, python=True, port=kind, side=side)
    text = re.sub(r"\[reference\].*", "", case(tmp_path, side).read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r'stop = "[^"]+"', 'stop = "20 ms"', text)
    found = []
    for recipe in ("Demo", "DemoPython"):
        short = case(tmp_path, side).with_name(f"short_{recipe}.toml")
        short.write_text(text.replace("fmus/Demo.toml", f"fmus/{recipe}.toml"), encoding="utf-8")
        trace = run(short).trace
        found.append({name: trace[name] for name in trace.names if ".solver." not in name})
    for name, values in found[0].items():
        np.testing.assert_allclose(found[1][name], values, rtol=1e-8, atol=1e-9, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "side"), EVERY)
def test_the_case_of_the_new_element_refuses_another_stiffness_or_mass(tmp_path: Path, kind: str, side: str) -> None:
    new_element("demo", tmp_path, port=kind, side=side)
    declared = tmp_path / "elements" / "demo" / "element.c"
    text = declared.read_text(encoding="utf-8")
    old, new = ("-e->work * (", "-0.99 * e->work * (") if side == "force" else ("/ e->", "/ 1.01 / e->")
    assert old in text
    declared.write_text(text.replace(old, new), encoding="utf-8")
    result = run_case(case_of(side), case(tmp_path, side))
    assert result.failure is None
    assert not result.passed


# ---- two languages in one folder -----------------------------------------------------------------------------------


def texts(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("first", [False, True], ids=["C first", "Python first"])
def test_an_element_that_is_there_gets_the_other_language_and_a_recipe(tmp_path: Path, first: bool) -> None:
    new_element("demo", tmp_path, python=first)
    before = texts(tmp_path)
    written = new_element("demo", tmp_path, python=not first)
    after = texts(tmp_path)
    added = {"elements/demo/element.c", "fmus/DemoC.toml"}
    added = added if first else {"elements/demo/element.py", "fmus/DemoPython.toml"}
    assert after.keys() - before.keys() == added
    assert {path.relative_to(tmp_path).as_posix() for path in written} == added
    assert {name: after[name] for name in before} == before
    other = "C" if first else "Python"
    for recipe, python in (("Demo", first), (f"Demo{other}", not first)):
        assert load_model(tmp_path / "fmus" / f"{recipe}.toml").is_prototype == python, recipe
    with pytest.raises(InputError, match="exists already"):
        new_element("demo", tmp_path, python=not first)


def test_an_element_that_was_edited_is_kept_as_it_is(tmp_path: Path) -> None:
    new_element("demo", tmp_path)
    declared = tmp_path / "elements" / "demo" / "element.toml"
    declared.write_text(declared.read_text(encoding="utf-8").replace("1000.0", "900.0"), encoding="utf-8")
    before = texts(tmp_path)
    with pytest.raises(InputError, match="exists already") as error:
        new_element("demo", tmp_path, python=True)
    assert "has not the element.toml of the template, so element.py of the template does not fit" in str(error.value)
    assert texts(tmp_path) == before


def test_a_full_disk_leaves_the_element_in_its_first_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new_element("demo", tmp_path)
    before = texts(tmp_path)
    whole = Path.replace

    def full(path: Path, target: Path) -> Path:
        if target.name == "DemoPython.toml":
            raise OSError(28, "No space left on device")
        return whole(path, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ToolError, match="No space left on device"):
        new_element("demo", tmp_path, python=True)
    assert texts(tmp_path) == before


# ---- the command ---------------------------------------------------------------------------------------------------


def test_the_command_names_what_fits_the_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(app, ["new", "demo", "--port", "planar", "--side", "body"])
    assert shown.exit_code == 0, shown.output
    assert "fmu-builder build fmus/Demo.toml" in shown.output
    assert "fmu-builder validate elements/demo/cases/push.toml" in shown.output
    assert (tmp_path / "elements/demo/cases/push.toml").is_file()
    again = CliRunner().invoke(app, ["new", "demo", "--port", "planar", "--side", "body", "--python"])
    assert "fmu-builder build fmus/DemoPython.toml" in again.output


def test_a_port_that_there_is_not_is_refused_with_all_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        new_element("demo", tmp_path, port="plane", side="forces")
    told = str(error.value)
    assert "--port: 'plane' is none of point, frame, rotational, translational, planar; did you mean 'planar'?" in told
    assert "--side: 'forces' is none of force, body; did you mean 'force'?" in told
    assert texts(tmp_path) == {}
