"""Indicators are written by the names that element.toml gives them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fmu_builder.errors import InputError
from fmu_builder.export.fmu import build_fmu
from fmu_builder.model.declaration_reader import read_declaration

TOML = """
description = "A ball between a floor and a ceiling"
[structure]
sensors = { default = 2, description = "Heights that are watched" }
[parameters]
height = { unit = "m", each = "sensors", start = 1.0, description = "Height that is watched" }
[states]
z = { unit = "m", start = 0.5, rate = "v", output = true, description = "Height" }
v = { unit = "m/s", depends = [], output = true, description = "Speed" }
[indicators]
watched = { each = "sensors", description = "The ball passes a height" }
floor = { description = "The ball passes the floor" }
"""
C = """static void outputs(Element *e) { (void)e; }
static void derivatives(Element *e) { e->der.v = -9.81; }
static void indicators(const Element *e, Indicators *z)
{
    z->floor = re(e->z);
    for (int i = 0; i < SENSORS; i++)
        z->watched[i] = re(e->z - e->height[i]);
}
"""


def ball(folder: Path, code: str = C, declared: str = TOML) -> Path:
    element = folder / "elements" / "ball"
    element.mkdir(parents=True)
    (element / "element.toml").write_text(declared, encoding="utf-8")
    (element / "element.c").write_text(code, encoding="utf-8")
    recipe = folder / "Ball.toml"
    recipe.write_text('element = "ball"\n', encoding="utf-8")
    return recipe


def refused(recipe: Path) -> str:
    with pytest.raises(InputError) as error:
        build_fmu(recipe, platforms=("host",))
    assert not recipe.with_suffix(".fmu").exists()
    return str(error.value)


@pytest.mark.parametrize(
    ("line", "instead", "complaint"),
    [
        ("z->floor = re(e->z);", "z->flor = re(e->z);", "no member named 'flor' in 'struct Indicators'"),
        ("z->watched[i] =", "z->watched[2] =", "array index 2 is past the end of the array"),
        ("z->floor = re(e->z);", "z[1].floor = z->floor = 1.0, z->floor[0] = 0.0;", "not an array"),
    ],
)
def test_an_indicator_that_is_not_declared_is_an_error_of_the_compiler_in_its_line(
    tmp_path: Path, line: str, instead: str, complaint: str
) -> None:
    code = C.replace(line, instead)
    message = refused(ball(tmp_path, code))
    place = tmp_path / "elements" / "ball" / "element.c"
    number = 1 + code[: code.index(instead)].count("\n")
    assert re.search(rf"{re.escape(str(place))}:{number}:\d+: error: .*{complaint}", message), message


def test_an_indicator_that_is_never_written_is_refused_by_name(tmp_path: Path) -> None:
    one = ball(tmp_path / "one", C.replace("z->floor = re(e->z);", ""))
    half = ball(tmp_path / "other", C.replace("i < SENSORS", "i < SENSORS - 1"))
    for recipe, name in ((one, "floor"), (half, r"watched\[2\]")):
        with pytest.raises(InputError, match=rf"the function `indicators` never assigns z->{name}"):
            build_fmu(recipe, platforms=("host",))
        assert not recipe.with_suffix(".fmu").exists()


def test_the_name_of_the_kinks_of_a_law_is_not_free(tmp_path: Path) -> None:
    slot = '[slots]\nF = { arguments = { x = "m" }, unit = "N", range = { x = [0, 1] }, description = "Force" }\n'
    recipe = ball(tmp_path, C, TOML.replace("floor = ", "F_kinks = ") + slot)
    with pytest.raises(InputError, match=r"\[indicators\] F_kinks: this name belongs to the kinks of the law"):
        read_declaration(recipe.parent / "elements" / "ball")
