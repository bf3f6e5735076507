"""An FMU says what it was built from, and is built again from that alone to the same bytes."""

from __future__ import annotations

import re
import shutil
import zipfile
from pathlib import Path
from typing import Literal

import fmpy
import pytest
from test_build import gain
from typer.testing import CliRunner

from fmu_builder.cli.commands import app
from fmu_builder.errors import InputError
from fmu_builder.export.documentation import documentation_files
from fmu_builder.export.fmu import build_fmu
from fmu_builder.export.origin import FOLDER, origin_files
from fmu_builder.model.loader import load_model
from fmu_builder.paths import shipped

SYSTEM = """
description = "A ball on a floor by a table, and a gain"
connections = [["ball.p", "floor.point"]]
[parts]
ball = "PointMass"
floor = "recipes/Floor.toml"
gain = "Gain"
[expose]
outputs = { height = "ball.p.r[3]" }
"""
FLOOR = """
element = "point_surface"
[surface]
kind = "plane"
[functions]
text = "scalar mu = 0.3;"
C_F = "table_1(#h)"
table_1 = { table = "../data/stiffness.csv" }
"""


def command(*arguments: str) -> str:
    """What the command prints; it must pass."""
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def own_system(folder: Path) -> Path:
    """An assembly of shipped recipes, one of its own in another folder that names a CSV file, and an own element."""
    gain(folder)
    (folder / "recipes").mkdir()
    (folder / "data").mkdir()
    (folder / "recipes" / "Floor.toml").write_text(FLOOR, encoding="utf-8")
    (folder / "data" / "stiffness.csv").write_text("h [mm], F [N]\n0, 0\n1, 100\n2, 300\n", encoding="utf-8")
    (folder / "secret.toml").write_text("not = 'ours'\n", encoding="utf-8")
    system = folder / "System.toml"
    system.write_text(SYSTEM, encoding="utf-8")
    return system


def test_an_fmu_is_built_again_from_itself_to_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    first = build_fmu(own_system(home), tmp_path / "first", ()).path
    shutil.rmtree(home)
    with zipfile.ZipFile(first) as archive:
        names = {n.removeprefix(f"{FOLDER}/files/") for n in archive.namelist() if n.startswith(f"{FOLDER}/files/")}
        held = b"".join(archive.read(name) for name in archive.namelist())
    own = {"elements/gain/element.c", "elements/gain/element.toml"}
    assert names == {"System.toml", "Gain.toml", "recipes/Floor.toml", "data/stiffness.csv", *own}
    assert str(home).encode() not in held
    monkeypatch.chdir(tmp_path)
    command("build", str(first), "-o", "second", "--source-only")
    assert (tmp_path / "second" / "System.fmu").read_bytes() == first.read_bytes()


def test_a_scenario_as_one_fmu_is_built_again_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "drop.toml").write_text(
        'connections = [["body.p", "floor.point"]]\n[experiment]\nstop = "0.1 s"\nstep = "1 ms"\n'
        '[slaves]\nbody = { recipe = "PointMass", start = { r0 = [0, 0, "0.1 m"] } }\nfloor = "PointSurface"\n'
    )
    monkeypatch.chdir(tmp_path)
    command("build", "drop.toml", "--assembly", "--source-only", "-o", "first")
    command("build", "first/drop.fmu", "-o", "second")
    assert Path("second/drop.fmu").read_bytes() == Path("first/drop.fmu").read_bytes()


def test_it_keeps_its_binaries_platform(tmp_path: Path) -> None:
    first = build_fmu(shipped("fmus") / "PointMass.toml", tmp_path / "first", ("host",)).path
    command("build", str(first), "-o", str(tmp_path / "second"))
    assert (tmp_path / "second" / "PointMass.fmu").read_bytes() == first.read_bytes()


@pytest.mark.parametrize(("fmi", "file"), [(2, "PointMass.fmu"), (3, "PointMass_fmi3.fmu")])
def test_the_page_names_the_version_of_fmi_and_the_file_that_is_built_again(fmi: Literal[2, 3], file: str) -> None:
    model = load_model(shipped("fmus") / "PointMass.toml")
    page = documentation_files(model, fmi)["documentation/index.html"].decode()
    assert f"<p>FMI {fmi}.0 FMU for" in page and f"<code>fmu-builder build {file}</code> builds it again" in page


def test_info_and_the_page_show_recipe_structure_and_version(tmp_path: Path) -> None:
    fmu = build_fmu(shipped("fmus") / "PointDisc.toml", tmp_path, ()).path
    shown = command("info", str(fmu))
    assert "built by fmu-builder 0.1.0 from PointDisc.toml" in shown
    assert '  radius = "100 mm"' in shown
    with zipfile.ZipFile(fmu) as archive:
        page = archive.read("documentation/index.html").decode()
    for name, value in (("surface", "disc"), ("surface_radius", "0.1"), ("points", "1"), ("coupling", "true")):
        assert f"  {name:24} {value}\n" in shown
        assert f"<tr><td><code>{name}</code></td><td>{value}</td></tr>" in page
    assert "Built by fmu-builder 0.1.0 from" in page
    assert fmpy.read_model_description(str(fmu)).generationTool == "fmu-builder 0.1.0"


def test_info_shows_what_variables_mean() -> None:
    shown = command("info", "PointDisc")
    assert re.search(r"^  C_F +  = 1e6 N/m +Normal contact stiffness$", shown, re.MULTILINE)
    assert "Outward unit normal of the surface at the closest point\n" in shown


def test_a_file_of_the_fmu_is_a_copy_of_the_one_on_disk() -> None:
    recipe = shipped("fmus") / "CamChainConcave.toml"
    files = origin_files(load_model(recipe))
    assert files[f"{FOLDER}/files/CamChainConcave.toml"] == recipe.read_bytes()
    assert list(files) == [f"{FOLDER}/origin.toml", f"{FOLDER}/files/CamChainConcave.toml"]


def test_a_date_is_there_only_if_the_environment_gives_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = shipped("fmus") / "PointMass.toml"
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    plain = fmpy.read_model_description(str(build_fmu(recipe, tmp_path, ()).path))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    dated = fmpy.read_model_description(str(build_fmu(recipe, tmp_path, ()).path))
    assert (plain.generationDateAndTime, dated.generationDateAndTime) == (None, "2023-11-14T22:13:20Z")
    assert plain.guid == dated.guid
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(InputError, match="SOURCE_DATE_EPOCH: 'yesterday' must be a whole number of seconds"):
        build_fmu(recipe, tmp_path, ())


def test_what_cannot_be_built_again_is_refused_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fmu = build_fmu(shipped("fmus") / "PointMass.toml", tmp_path, ()).path
    monkeypatch.chdir(tmp_path)
    for change, message in (
        (lambda n: None if n.startswith("extra/") else n, "was not built by fmu-builder"),
        (lambda n: None if n.endswith("files/PointMass.toml") else n, "names the recipe PointMass.toml"),
        (
            lambda n: f"{FOLDER}/files/../../../../evil" if n.endswith("files/PointMass.toml") else n,
            "outside its folder",
        ),
    ):
        other = tmp_path / "other.fmu"
        with zipfile.ZipFile(fmu) as old, zipfile.ZipFile(other, "w") as new:
            for name in old.namelist():
                if kept := change(name):
                    new.writestr(kept, old.read(name))
        with pytest.raises(InputError, match=message):
            command("build", str(other), "-o", "out")
        assert not Path("out").exists()
    with pytest.raises(InputError, match="would be replaced by the FMU that is built from it"):
        command("build", "PointMass.fmu")


def test_another_version_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fmu = build_fmu(shipped("fmus") / "PointMass.toml", tmp_path, ()).path
    monkeypatch.setattr("fmu_builder.export.origin.own_version", lambda: "9.9")
    shown = command("build", str(fmu), "-o", str(tmp_path / "new"))
    assert "other bytes than" in shown and "it was built by fmu-builder 0.1.0, this is 9.9" in shown
