"""The line of a recipe: what is refused and how it is said, closure, constants of the generated C."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from fmu_builder.errors import InputError
from fmu_builder.export.description import model_description
from fmu_builder.model.loader import load_model
from fmu_builder.model.recipe import CheckedRecipe, read_recipe


def line(folder: Path, text: str) -> CheckedRecipe:
    path = folder / "Guide.toml"
    path.write_text(f'element = "point_line_2"\n[line]\n{text}\n', encoding="utf-8")
    return read_recipe(path)


def faults(folder: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        line(folder, text)
    return [f"{p.where.partition(': ')[2]}: {p.what}" for p in caught.value.problems]


def constant(recipe: CheckedRecipe, name: str) -> list[float]:
    (found,) = (c.values for c in recipe.constants if c.name == name)
    return [float(value) for value in found]


def ring(count: int, turn: float = 360.0) -> list[list[float]]:
    return [[math.cos(a), math.sin(a), 0.0] for a in np.radians(np.arange(count) * turn / count)]


def test_points_become_constants_in_metres(tmp_path: Path) -> None:
    recipe = line(tmp_path, 'points = [[0, 0, 0], ["100 mm", 0, 0], ["0.2 m", 0, 0]]')
    assert constant(recipe, "line_points") == [0, 0, 0, 0.1, 0, 0, 0.2, 0, 0]
    assert constant(recipe, "line_way") == pytest.approx([0.0, 0.1, 0.2])
    assert constant(recipe, "line_spacing") == pytest.approx([0.1, 0.1])
    assert (recipe.sizes["points"], recipe.sizes["bodies"], recipe.sizes["bridges"]) == (3, 1, 0)
    assert (recipe.choices["interpolation"], recipe.choices["closed"]) == ("polyline", False)


def test_points_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "rail.csv").write_text("x [mm], y [mm], z [mm]\n0, 0, 0\n100, 0, 0\n200, 10, 0\n", encoding="utf-8")
    assert constant(line(tmp_path, 'points = "rail.csv"'), "line_points") == [0, 0, 0, 0.1, 0, 0, 0.2, 0.01, 0]


@pytest.mark.parametrize("text", ["closed = true", "", "closed = true\n"])
def test_a_repeated_first_point_closes_the_line_and_is_counted_once(tmp_path: Path, text: str) -> None:
    points = ring(24)
    recipe = line(tmp_path, f"points = {[*points, points[0]]}\n{text}")
    assert recipe.sizes["points"] == 24
    assert recipe.choices["closed"] is True
    assert line(tmp_path, f"points = {points}\nclosed = true").sizes["points"] == 24


def test_bodies_and_the_chords_between_them(tmp_path: Path) -> None:
    recipe = line(tmp_path, "points = [[0,0,0], [1,0,0], [5,5,5], [6,5,5], [2,0,0]]\nbody = [1, 1, 2, 2, 1]")
    assert (recipe.sizes["bodies"], recipe.sizes["bridges"]) == (2, 2)
    assert constant(recipe, "line_bodies") == [0, 0, 1, 1, 0]
    assert constant(recipe, "line_bridges") == [1, 3]
    assert constant(recipe, "line_way") == [0, 1, 1, 2, 2]  # without the chords whose length is known at the start only


def test_too_few_points(tmp_path: Path) -> None:
    assert faults(tmp_path, "points = [[0, 0, 0]]") == ["[line] points: 1 point: a line needs 2 or more"]
    (text,) = faults(tmp_path, "points = [[0, 0, 0], [1, 0, 0]]\nclosed = true")
    assert text == "[line] points: 2 points: a closed line needs 3 or more"
    assert faults(tmp_path, "") == ["[line] points: this key is missing"]


def test_uneven_points_are_named_with_their_distances(tmp_path: Path) -> None:
    (text,) = faults(tmp_path, "points = [[0,0,0], [1,0,0], [1.2,0,0], [2,0,0]]")
    assert "points 1 and 2 are 1 m apart, points 2 and 3 0.2 m: the ratio 5 must be at most 4" in text
    line(tmp_path, "points = [[0,0,0], [1,0,0], [1.25,0,0], [2,0,0]]")


def test_a_force_zone_below_zero_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "Guide.toml"
    line_text = "[line]\npoints = [[0,0,0], [1,0,0]]\n"
    path.write_text(f'element = "point_line_1"\n{line_text}[start]\nforceZone = "-20 mm"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"'-20 mm' is refused: forceZone must be at least 0"):
        load_model(path)


def test_every_sharp_turn_is_named_with_its_angle(tmp_path: Path) -> None:
    found = faults(tmp_path, f"points = {ring(8)}\nclosed = true")
    assert len(found) == 8
    assert "[line] points: the line turns by 45 degrees at point 2" in found[0]
    assert any("at point 1:" in text for text in found)  # where it closes
    line(tmp_path, f"points = {ring(12)}\nclosed = true")  # 30 degrees
    assert len(faults(tmp_path, f"points = {ring(40, 3600.0)}")) == 21  # 38 turns: 20 of them, and how many more


def test_all_problems_at_once(tmp_path: Path) -> None:
    text = (
        "points = [[0,0,0], [1,0,0], [1,0,0], [1,1]]\nbody = [1, 1, 3]\nclosed = 1\ninterpolation = 'splin'\ncolor = 1"
    )
    found = "\n".join(faults(tmp_path, text))
    for part in ("[line] color", "did you mean 'spline'?", "1 must be true or false", "must be a list"):
        assert part in found, found
    assert faults(tmp_path, "points = [[0,0,0], [1,0,0], [1,0,0], [2,0,0]]") == [
        "[line] points: points 2 and 3 are the same"
    ]
    (text,) = faults(tmp_path, "points = [[0,0,0], [1,0,0]]\nbody = [1, 201]")
    assert "201 bodies: at most 200 can carry a line" in text
    (text,) = faults(tmp_path, "points = [[0,0,0], [1,0,0]]\nbody = [1, 3]")
    assert "no point lies on body 2" in text


def test_bodies_are_not_counted_beside_points_that_are_refused(tmp_path: Path) -> None:
    (fault,) = faults(tmp_path, "points = [[0, 0, 0], [1, 0, 0], [1]]\nbody = [1, 2, 2]")
    assert fault.startswith("[line] points: ")


def test_a_size_that_the_line_gives_is_refused_once(tmp_path: Path) -> None:
    (text,) = faults(tmp_path, "points = [[0,0,0], [1,0,0]]\n[structure]\nbodies = 3")
    assert text == "[structure] bodies: is given by [line] body: remove it here"


def test_colour_and_visibility_are_checked_and_go_to_the_annotations(tmp_path: Path) -> None:
    path = tmp_path / "Guide.toml"
    text = 'element = "point_line_1"\n[line]\npoints = [[0,0,0], [1,0,0]]\n[drawing]\n'
    path.write_text(text + 'color = "red"\nvisible = 1\ncolour = 2\n', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_recipe(path)
    found = [p.where.rpartition(" ")[2] + ": " + p.what for p in caught.value.problems]
    assert len(found) == 3
    assert "color: 'red' must be a colour as '#c04020'" in found[0]
    assert found[1:] == ["visible: 1 must be true or false", "colour: this key is unknown; did you mean 'color'?"]
    path.write_text(text + 'color = "#C04020"\nvisible = false\n', encoding="utf-8")
    xml = model_description(load_model(path), "{00000000-0000-0000-0000-000000000000}").decode()
    assert '<Drawing color="#C04020" visible="false"/>' in xml
