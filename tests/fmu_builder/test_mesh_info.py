"""`info` of a mesh file: what a part measures, what is wrong with it, and the recipe that takes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_mesh import CUBE, FACES, obj, stl, written
from typer.testing import CliRunner

from fmu_builder.cli.commands import app
from fmu_builder.errors import InputError
from fmu_builder.model.loader import load_model


def info(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["info", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_a_plate_is_measured_in_its_unit_and_gives_a_recipe(tmp_path: Path) -> None:
    path = written(tmp_path, "plate.stl", stl(CUBE * [40.0, 30.0, 5.0], FACES))
    text = info(path)
    assert "size            40 x 30 x 5 mm" in text
    assert "volume          6e-06 m3" in text and "area            0.0031 m2" in text
    assert "closed          yes" in text and "thinnest wall   5 mm" in text
    assert 'advised D_max   2.5 mm, side = "outside"' in text
    assert text.endswith('element = "point_surface"\n\n[surface]\nkind = "mesh"\nfile = "plate.stl"\nunit = "mm"\n')
    about = json.loads(info(path, "--json", "--unit", "cm"))
    assert about["size"] == pytest.approx([0.4, 0.3, 0.05], rel=1e-7)
    assert about["volume"] == pytest.approx(6e-3, rel=1e-7)
    assert about["thinnest_wall"] == pytest.approx(0.05, rel=1e-6)
    assert about["D_max"] == {"outside": pytest.approx(0.025, rel=1e-6), "inside": 1.0}
    assert about["faults"] == [] and about["closed"]


def test_an_open_mesh_has_no_volume_and_its_recipe_says_so(tmp_path: Path) -> None:
    text = info(written(tmp_path, "lid.obj", obj(CUBE * 100.0, FACES[2:])))
    assert "closed          no, 4 edges are its border" in text
    assert "volume" not in text
    assert "fault: the mesh is open" in text
    assert text.endswith('unit = "mm"\nopen = true\n')


def test_one_of_a_kind_is_no_plural(tmp_path: Path) -> None:
    text = info(written(tmp_path, "flap.obj", obj(CUBE, FACES[:1])))
    assert text.startswith("flap.obj  1 triangle, ")
    text = info(written(tmp_path, "twice.obj", obj(CUBE, [*FACES, FACES[0]])))
    assert "fault: 1 triangle is there twice" in text


def test_a_faulty_mesh_is_shown_with_what_repairs_it(tmp_path: Path) -> None:
    path = written(tmp_path, "turned.obj", obj(CUBE, [FACES[0][::-1], *FACES[1:]]))
    text = info(path, "--unit", "m")
    assert "fault: 3 edges have triangles on both sides that are turned against each other" in text
    assert "MeshLab" in text
    assert "thinnest wall" not in text and "[surface]" not in text
    inverted = info(written(tmp_path, "inverted.obj", obj(CUBE, [face[::-1] for face in FACES])))
    assert "the mesh is turned inside out" in inverted and "[surface]" not in inverted, "no recipe that is refused"
    about = json.loads(info(path, "--json"))
    assert about["volume"] is None and about["D_max"] is None and len(about["faults"]) == 1


def test_a_file_that_is_no_mesh_and_a_unit_of_no_length_are_refused(tmp_path: Path) -> None:
    for arguments, words in (
        ((tmp_path / "none.stl",), "cannot be read"),
        ((written(tmp_path, "empty.ply", ""),), "is empty"),
        ((written(tmp_path, "a.obj", obj(CUBE, FACES)), "--unit", "kg"), "'kg' is no unit of length"),
    ):
        with pytest.raises(InputError, match=words):
            info(*arguments)


def build(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["build", *map(str, arguments), "--source-only"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_a_mesh_file_becomes_an_fmu_by_one_command(tmp_path: Path) -> None:
    """With a recipe of a name that an FMU can have, which is written once, and kept where somebody changed it."""
    path, recipe = written(tmp_path, "2 plates-b.stl", stl(CUBE, FACES)), tmp_path / "part_2_plates_b.toml"
    assert "part_2_plates_b.fmu" in build(path, "--unit", "cm")
    model = load_model(recipe)
    assert 0.0045 < model["D_max"].start <= 0.005 and path in model.files
    build(path, "--unit", "cm")
    before = set(tmp_path.iterdir())
    with pytest.raises(InputError, match=r"part_2_plates_b\.toml: is there, and is not what --unit mm gives"):
        build(path)
    with pytest.raises(InputError, match="the mesh is open"):
        build(written(tmp_path, "lid.obj", obj(CUBE, FACES[2:])))
    for arguments, words in (
        ((path, "--unit", "kg"), "no unit of length"),
        ((path, "--unit", "foo"), "^--unit: 'foo': the symbol 'foo' is unknown"),
        (("PointMass", "--unit", "m"), "--unit: is"),
    ):
        with pytest.raises(InputError, match=words):
            build(*arguments)
    assert set(tmp_path.iterdir()) == {*before, tmp_path / "lid.obj"}


def test_the_unit_of_a_recipe_that_is_none_is_named_once(tmp_path: Path) -> None:
    written(tmp_path, "part.stl", stl(CUBE, FACES))
    recipe = tmp_path / "Part.toml"
    surface = '[surface]\nkind = "mesh"\nfile = "part.stl"\nunit = "furlong"\n'
    recipe.write_text(f'element = "point_surface"\n{surface}', encoding="utf-8")
    with pytest.raises(InputError, match=r"Part\.toml: \[surface\] unit: 'furlong': the symbol"):
        load_model(recipe)
