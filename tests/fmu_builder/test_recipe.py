"""Faulty recipes and declarations: each message names file, table, key, value, rule, and if possible the repair."""

from __future__ import annotations

import shutil
import traceback
from pathlib import Path

import pytest

from fmu_builder.cosim.master import load_scenario, run
from fmu_builder.errors import InputError
from fmu_builder.model.declaration_reader import read_declaration
from fmu_builder.model.element_model import build_model
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import Model
from fmu_builder.model.recipe import read_recipe
from fmu_builder.paths import catalogue, find_recipe, shipped

RECIPE = """
element = "point_surface"
description = "Tip against a patch"
[surface]
kind = "plane"
x = ["-10 mm", 0.01]
[structure]
points = 2
[start]
C_F = "1e3 N/mm"
work = false
"surface.r" = [0, 0, "5 mm"]
"point[2].r[3]" = 0.1
"""


def model(folder: Path, text: str, name: str = "Tip.toml") -> Model:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return build_model(read_recipe(path))


def faults(folder: Path, text: str, name: str = "Tip.toml") -> list[str]:
    with pytest.raises(InputError) as caught:
        model(folder, text, name)
    return [str(p).replace(f"{folder}/", "") for p in caught.value.problems]


def test_a_recipe_gives_name_structure_and_start_values_in_si(tmp_path: Path) -> None:
    tip = model(tmp_path, RECIPE)
    assert tip.name == "Tip" and tip.description == "Tip against a patch"
    assert tip["C_F"].start == 1e6 and tip["work"].start == 0.0
    assert [tip[f"surface.r[{i}]"].start for i in (1, 2, 3)] == [0.0, 0.0, 0.005]
    assert tip["point[2].r[3]"].start == 0.1
    assert {c.name: c.values for c in tip.constants}["surface_x"] == (-0.01, 0.01)


BARE = 'element = "point_surface"\n[surface]\nkind = "plane"\n'


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        (BARE + "[strat]\nC_F = 1", "strat", "this key is unknown; did you mean 'start'?"),
        (BARE + "size = 1", "[surface] size", "this key is unknown"),
        ("start = 5\n" + BARE, "start", "5 must be a table [start]"),
        ("description = 5\n" + BARE, "description", "5 must be text"),
        ("language = ['c']\n" + BARE, "language", "['c'] is none of c, python"),
        (
            BARE + "[start]\nC_F = '1e5 N'",
            "[start] C_F",
            "'1e5 N' has the dimension kg.m.s-2 but N/m (kg.s-2) is needed",
        ),
        (BARE + "[start]\nC_F = '1e5 N/mn'", "[start] C_F", "did you mean"),
        (BARE + "[start]\nC_F = -1", "[start] C_F", "-1 is refused: C_F must be at least 0 N/m"),
        (BARE + "[start]\nC_F = nan", "[start] C_F", "nan"),
        (BARE + "[start]\nC_F = 'inf N/m'", "[start] C_F", "inf"),
        (BARE + "[start]\nC_F = true", "[start] C_F", "must be a number"),
        (BARE + "[start]\nC_r = 1.5", "[start] C_r", "1.5 is refused: C_r must be at most 1"),
        (BARE + "[start]\nD_max = 0", "[start] D_max", "0 is refused: D_max must be greater than 0 m"),
        (BARE + "[start]\nk_E = 1", "[start] k_E", "1 is refused: k_E must be less than 1"),
        (BARE + "[start]\nC_R = 1", "[start] C_R", "there is no such variable; did you mean 'C_r'?"),
        (BARE + "[start]\ndepth = 1", "[start] depth", "only parameters and inputs have start values"),
        (BARE + "[start]\nwork = 1", "[start] work", "1 must be true or false"),
        (BARE + "[start]\n'surface.r' = [1, 2]", "[start] surface.r", "3 values needed, 2 given"),
        (
            'element = "point_surface"\n[surface]\nkind = "plan"',
            "[surface] kind",
            "revolution, extrusion, height_field, patch, mesh; did you mean 'plane'?",
        ),
        ('element = "point_surface"\n[surface]\nx = [0, 1]', "[surface] kind", "this key is missing"),
        (BARE + "x = [1, -1]", "[surface] x", "from 1 m to -1 m: the second must be greater than the first"),
        (BARE + "x = [0, 0]", "[surface] x", "the second must be greater than the first"),
        (BARE + "x = ['0 m', '1 s']", "[surface] x", "'1 s' has the dimension s but m is needed"),
        (BARE + "x = [0, nan]", "[surface] x", "nan"),
        (BARE + "y = 5", "[surface] y", "5 is not a pair [from, to]"),
        (BARE + "y = [1, 2, 3]", "[surface] y", "is not a pair [from, to]"),
        (BARE + "[structure]\npoints = 0", "[structure] points", "0 must be a whole number from 1 to 10000"),
        (BARE + "[structure]\npoints = 1.5", "[structure] points", "1.5 must be a whole number"),
        (BARE + "[structure]\npoints = 99999", "[structure] points", "from 1 to 10000"),
        (BARE + "[structure]\npoint = 2", "[structure] point", "this key is unknown; did you mean 'points'?"),
        ('element = "point_surfce"', "element", "did you mean 'point_surface'?"),
        ('element = "./nowhere"', "element", "'./nowhere' is no folder with an element.toml"),
        ("[surface]\nkind = 'plane'", "element", "this key is missing: it names the element"),
        ("[slaves]\nbody = 'PointMass'", "element", "with [slaves] it is a scenario: `run` runs it"),
        ("element = 5", "element", "5 must be the name of an element"),
    ],
)
def test_a_faulty_recipe_is_told_once_with_file_table_key_value_and_rule(
    tmp_path: Path, text: str, where: str, words: str
) -> None:
    (line,) = faults(tmp_path, text)
    assert line.startswith(f"Tip.toml: {where}") and words in line


def test_all_faults_of_a_recipe_are_told_at_once(tmp_path: Path) -> None:
    text = "colour = 'red'\n" + BARE + "x = [1, 0]\ny = 3\n[structure]\npoints = -1\nlines = 2\n"
    assert len(faults(tmp_path, text)) == 5
    text = BARE + "[start]\nC_F = -1\nC_r = 2\nK_fr = '1 m'\nnone = 0\n"
    assert len(faults(tmp_path, text)) == 4


@pytest.mark.parametrize("name", ["2fast.toml", "my-tip.toml", "a b.toml", "Größe.toml"])
def test_a_file_stem_that_is_no_c_identifier_is_refused(tmp_path: Path, name: str) -> None:
    (line,) = faults(tmp_path, BARE, name)
    assert line.startswith(f"{name}: ") and "must be a C identifier" in line


def test_syntax_errors_encoding_and_missing_files_are_told(tmp_path: Path) -> None:
    (line,) = faults(tmp_path, 'element = "point_surface"\n[surface\n')
    assert line.startswith("Tip.toml: is not valid TOML") and "line 2" in line
    path = tmp_path / "Tip.toml"
    path.write_bytes(b'element = "point_surface"\ndescription = "\xff"\n')
    with pytest.raises(InputError, match=r"Tip\.toml: line 2: is not UTF-8 text: invalid start"):
        read_recipe(path)
    with pytest.raises(InputError, match=r"none\.toml: cannot be read: No such file"):
        read_recipe(tmp_path / "none.toml")


# ---- element.toml ------------------------------------------------------------------------------------------------


def declaration_faults(folder: Path, old: str, new: str) -> list[str]:
    """Of point_surface's declaration with one text replaced."""
    element = folder / "elements" / "point_surface"
    shutil.copytree(shipped("elements") / "point_surface", element)
    path = element / "element.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        build_model(read_recipe(written(folder)))
    return [str(p).replace(f"{element}/", "") for p in caught.value.problems]


def written(folder: Path) -> Path:
    path = folder / "Tip.toml"
    path.write_text(BARE, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("old", "new", "where", "words"),
    [
        ('C_F = { unit = "N/m"', 'C_F = { unit = "N/mm2x"', "[parameters] C_F", "unit"),
        (
            'C_F = { unit = "N/m"',
            'C_F = { unit = "N/mm"',
            "[parameters] C_F",
            "unit = 'N/mm' must be an SI unit without prefix, as in element.c; display shows another",
        ),
        (
            'replaced_by = "C_F", display = "N/mm"',
            'replaced_by = "C_F", display = "kN"',
            "[parameters] C_F",
            "display = 'kN' must have the dimension of the unit 'N/m'",
        ),
        (
            'replaced_by = "C_F", display = "N/mm"',
            'replaced_by = "C_F", display = "N/mmm"',
            "[parameters] C_F",
            "display: 'N/mmm': the symbol 'mmm' is unknown",
        ),
        ("C_F = { unit", "double = { unit", "[parameters] double", "no keyword of C"),
        (
            "start = 1e6, min = 0.0",
            "start = 1e6, mim = 0.0",
            "[parameters.C_F] mim",
            "this key is unknown; did you mean 'min'?",
        ),
        (
            'slip_speed = { unit = "m/s", each = "points"',
            'slip_speed = { unit = "m/s", each = "point"',
            "[outputs] slip_speed",
            "'point' is no size in [structure]; did you mean 'points'?",
        ),
        (
            'each = "points"\ndescription = "The point',
            'each = "pts"\ndescription = "The point',
            "[ports] point",
            "'pts' is no size in",
        ),
        ('kind = "frame"', 'kind = "farme"', "[ports.surface] kind", "'farme'"),
        (
            'depends = ["surface.q"]',
            'depends = ["surfce.q"]',
            "normal",
            "depends on 'surfce.q', which is unknown; did you mean 'surface.q'?",
        ),
        ("K_fr = { start = 0.0, min", "K_fr = { min", "[parameters] K_fr", "start is missing"),
        (
            "K_fr = { start = 0.0,",
            "K_fr = { size = 3, start = [0.0, 1.0],",
            "[parameters] K_fr",
            "start has 2 values, size is 3; a number stands for all components",
        ),
        (
            "K_fr = { start = 0.0,",
            'K_fr = { size = "points", start = [0.0],',
            "[parameters] K_fr",
            "start has 1 values, size is points",
        ),
        (
            "K_fr = { start = 0.0,",
            "K_fr = { start = [0.0],",
            "[parameters] K_fr",
            "start has 1 values, size is not given",
        ),
        (
            "K_fr = { start = 0.0,",
            'K_fr = { type = "int", start = 0.5,',
            "[parameters] K_fr",
            "start = 0.5 must be a whole number, as type is 'int'",
        ),
        (
            "K_fr = { start = 0.0,",
            'K_fr = { type = "bool", start = 3,',
            "[parameters] K_fr",
            "start = 3 must be true or false, as type is 'bool'",
        ),
        ("K_fr = {", "K_fr = { fixed = 1,", "[parameters.K_fr] fixed", "1: must be true or false"),
        ("K_fr = {", "K_fr = { fixed = 'yes',", "[parameters.K_fr] fixed", "'yes': must be true or false"),
        (
            "K_fr = { start = 0.0, min",
            "K_fr = { start = -0.5, min",
            "[parameters] K_fr",
            "start = -0.5 must be at least 0",
        ),
        ("step = 1e-5", "step = 1.5", "[experiment] step", "1.5 s must not be longer than stop = 1 s"),
        (
            "depth = { ",
            "depth = { start = 0.5, ",
            "[outputs] depth",
            "start belongs to a parameter, an input, a state or memory; this value is computed",
        ),
        (
            "K_fr = { start",
            '"point.r" = { start',
            "point.r",
            "is the name of two variables: choose another one",
        ),
        (
            "K_fr = { start",
            "energy = { start",
            "energy",
            "is the name of a variable and of a group of variables",
        ),
        (
            "K_fr = { start",
            '"solver.K" = { start',
            "[parameters] solver.K",
            "the group 'solver' belongs to contact_core",
        ),
        (
            "K_fr = { start = 0.0,",
            'K_fr = { type = "enum", start = "a",',
            "[parameters] K_fr",
            "literals belong to an",
        ),
        (
            "K_fr = { start = 0.0,",
            'K_fr = { type = "enum", literals = ["a", "b"], start = "c",',
            "[parameters] K_fr",
            "start = 'c' must be one of a, b",
        ),
        (
            "K_fr = { start = 0.0,",
            'K_fr = { shown = "K fr", start = 0.0,',
            "[parameters] K_fr",
            "shown = 'K fr' must be a quoted name of FMI, 'a b', and belongs to a scalar",
        ),
        (
            "[outputs]",
            '[texts]\nC_F = { kind = "input", description = "abc" }\n[outputs]',
            "[texts] C_F",
            "is the name of a variable too",
        ),
        (
            "[outputs]",
            '[texts]\nlabel = { shows = "other", description = "abc" }\n[outputs]',
            "[texts] label",
            "needs kind, or as an output shows: one of no text",
        ),
        (
            'rate = "normal_force"',
            'rate = "depth"',
            "impulse",
            "rate = 'depth' is in m, and the rate of N.s in N",
        ),
        (
            'rate = "normal_force"',
            'rate = "normal_farce"',
            "impulse",
            "'normal_farce' is unknown; did you mean 'normal_force'?",
        ),
    ],
)
def test_a_faulty_declaration_is_told_with_table_key_and_repair(
    tmp_path: Path, old: str, new: str, where: str, words: str
) -> None:
    lines = declaration_faults(tmp_path, old, new)
    assert lines and all(line.startswith("element.toml: ") for line in lines)
    assert any(line.startswith(f"element.toml: {where}") and words in line for line in lines), lines


def test_unknown_names_of_several_variables_are_told_at_once(tmp_path: Path) -> None:
    rate, depends = 'rate = "normal_force"', 'depends = ["surface.q"]'
    text = (shipped("elements") / "point_surface" / "element.toml").read_text(encoding="utf-8")
    begin, end = sorted((text.index(rate), text.index(depends)))
    between = text[begin : end + len(max(rate, depends, key=text.index))]
    wrong = between.replace(rate, 'rate = "normal_farce"').replace(depends, 'depends = ["surfce.q"]')
    told = declaration_faults(tmp_path, between, wrong)
    assert any("'normal_farce' is unknown" in line for line in told), told
    assert any("depends on 'surfce.q', which is unknown" in line for line in told), told


def test_shipped_declarations_are_sound() -> None:
    for folder in sorted(p.parent for p in shipped("elements").glob("*/element.toml")):
        assert read_declaration(folder).description


def test_misspelt_keys_at_the_top_are_named_with_all_other_faults(tmp_path: Path) -> None:
    text = 'elemnt = "point_mass"\nstrat = { m = -1 }\nm = 3\n[start]\nmm = 1\n'
    path = tmp_path / "Tip.toml"
    path.write_text(text, encoding="utf-8")
    for read in (load_model, load_scenario):  # build and run
        with pytest.raises(InputError) as caught:
            read(path)
        assert [str(problem).removeprefix(f"{path}: ") for problem in caught.value.problems] == [
            "elemnt: this key is unknown; did you mean 'element'?",
            "strat: this key is unknown; did you mean 'start'?",
            "m: this key is unknown; it belongs into [start]",
            "[start] mm: there is no such variable; did you mean 'm'?",
        ]


def test_a_misspelt_table_of_parts_is_named_with_all_other_faults(tmp_path: Path) -> None:
    path = tmp_path / "Tip.toml"
    path.write_text('prats = { a = "PointMas" }\nconections = []\n[expose]\noutputz = {}\n', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_model(path)
    named = [str(problem).removeprefix(f"{path}: ") for problem in caught.value.problems]
    assert "prats: this key is unknown; did you mean 'parts'?" in named
    assert "conections: this key is unknown; did you mean 'connections'?" in named
    assert "[expose] outputz: this key is unknown; did you mean 'outputs'?" in named


def test_keys_of_the_tables_of_the_structure_are_sent_there(tmp_path: Path) -> None:
    def place(text: str, key: str) -> str:
        places = {line.split(": ")[1]: line for line in faults(tmp_path, text)}
        return places[key].partition("this key is unknown; ")[2]

    rail = 'element = "point_line_2"\npoints = [[0, 0, 0], [1, 0, 0]]\nbridges = 1\ncouple = false\n'
    assert place(rail, "points") == "it belongs into [line]"  # [structure] has it too, but does not take it
    assert place(rail, "bridges") == "it follows from [line] body: give that, and remove this"
    assert place(rail, "couple") == "it belongs into [structure]"
    assert place('element = "point_surface"\nradius = 1\n', "radius") == "it belongs into [surface]"
    crank = 'element = "planar_mechanism"\njoint = "revolute"\non = "crank"\n'
    assert place(crank, "joint") == "it belongs into [[body]]"
    assert place(crank, "on") == "it belongs into [[body]] or [[constraint]]"


def test_keys_of_other_tables_are_sent_there(tmp_path: Path) -> None:
    text = 'element = "point_surface"\ncoupling = true\nfree_moment = true\nC_F = "1 N/m"\nK_fr = 0.1\n'
    text += '[surface]\nkind = "plane"\n[experiment]\nstop = 1\n'
    places = {line.split(": ")[1]: line for line in faults(tmp_path, text)}
    assert places["coupling"].endswith("it belongs into [structure]")
    assert places["K_fr"].endswith("it belongs into [start]")
    assert places["C_F"].endswith("it belongs into [start] or, as a law, into [functions]")
    of_systems = "it is of systems, and `element` makes this the recipe of one element: remove one of them"
    assert all(places[key].endswith(of_systems) for key in ("experiment", "free_moment"))


def test_a_name_is_shorter_than_the_names_of_files_made_of_it_may_be(tmp_path: Path) -> None:
    assert model(tmp_path, BARE, f"{'A' * 200}.toml").name == "A" * 200
    (line,) = faults(tmp_path, BARE, f"{'A' * 201}.toml")
    assert "the file stem has 201 characters" in line and "at most 200 are allowed; rename the file" in line


@pytest.mark.parametrize("name", ["con", "NUL", "Com1", "lpt9"])
def test_names_of_devices_on_windows_are_refused(tmp_path: Path, name: str) -> None:
    for text in ('element = "point_mass"\n', '[parts]\na = "PointMass"\n'):
        path = tmp_path / f"{name}.toml"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=f"'{name}' is the name of a device on Windows.*rename the file"):
            load_model(path)


@pytest.mark.parametrize("name", ["int", "while"])
def test_keywords_of_c_are_refused_as_names_of_recipes(tmp_path: Path, name: str) -> None:
    for text in ('element = "point_mass"\n', '[parts]\na = "PointMass"\n'):
        path = tmp_path / f"{name}.toml"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=rf"{name}\.toml: .* '{name}' is .* a keyword of C, .*; rename the file"):
            load_model(path)


def test_an_input_error_shows_no_traceback_of_pydantic(tmp_path: Path) -> None:
    path = tmp_path / "Tip.toml"
    path.write_text('[parts]\na = "PointMass"\nwrong = 1\n', encoding="utf-8")
    for read in (load_model, load_scenario):
        with pytest.raises(InputError) as caught:
            read(path)
        shown = "".join(traceback.format_exception(caught.value))
        assert "validation error" not in shown


@pytest.mark.parametrize("path", sorted((shipped("fmus") / "former").glob("*.toml")), ids=lambda path: path.stem)
def test_a_recipe_that_left_the_catalogue_is_found_with_a_note(path: Path) -> None:
    """By its name; the recipe that the note names is coupled as well."""
    plain = path.stem.removesuffix("Coupled")
    assert path.stem not in {one.stem for one in catalogue()}
    found, other = load_model(find_recipe(path.stem)), load_model(find_recipe(plain))
    (note,) = [one for one in found.notes() if "catalogue" in one]
    assert note.startswith(f"{path.stem} is no longer in the catalogue") and f": {plain} has" in note
    assert found["coupling.mode"].start == other["coupling.mode"].start == 5.0  # auto
    assert other.notes() == ()


def test_a_run_names_a_recipe_that_left_the_catalogue(tmp_path: Path) -> None:
    path = tmp_path / "swing.toml"
    path.write_text(
        'connections = [["body.p", "floor.point"]]\n[experiment]\nstop = 0.01\nstep = 1e-3\n[slaves]\n'
        'body = { recipe = "PointMass" }\nfloor = { recipe = "PointSurfaceCoupled" }\n',
        encoding="utf-8",
    )
    assert [note for note in run(path).notes if note.startswith("PointSurfaceCoupled is no longer")]
