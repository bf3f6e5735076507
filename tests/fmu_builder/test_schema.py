"""The JSON schema of recipes: what builds fits it, what an editor should mark does not."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, Draft202012Validator
from typer.testing import CliRunner

from fmu_builder.cli.commands import app
from fmu_builder.errors import InputError
from fmu_builder.export.schema import document_schema, element_schema, recipe_schema
from fmu_builder.fitting.tables import Fit
from fmu_builder.paths import catalogue, shipped, shipped_elements
from fmu_builder.studies.format import Study


@cache
def validator(element: str) -> Draft7Validator:
    schema = recipe_schema(element, shipped("fmus"))
    Draft7Validator.check_schema(schema)
    return Draft7Validator(schema)


def tables(recipe: Path) -> dict[str, Any]:
    return tomllib.loads(recipe.read_text(encoding="utf-8"))


def test_every_recipe_of_the_catalogue_fits_the_schema_of_its_element() -> None:
    seen = set()
    for recipe in catalogue():
        if "element" in (given := tables(recipe)):
            seen.add(given["element"])
            assert [f"{recipe.stem}: {fault.message}" for fault in validator(given["element"]).iter_errors(given)] == []
    assert seen == {folder.name for folder in shipped_elements()}


@pytest.mark.parametrize(
    ("element", "table", "fits"),
    [
        ("point_surface", {"surface": {"kind": "sphere", "radius": "1 m"}}, True),
        ("point_surface", {"surface": {"radius": "1 m"}}, False),
        ("point_surface", {"surface": {"kind": "sphere"}}, False),
        ("point_surface", {"surface": {"kind": "sphere", "radius": 1, "length": 1}}, False),
        ("point_surface", {"surface": {"kind": "plane", "x": ["-1 m"]}}, False),
        ("point_surface", {"surface": {"kind": "extrusion", "profile": "profile.csv"}}, True),
        ("point_line_2", {"line": {"points": [[0, 0, 0], ["1 mm", 0, 0]], "closed": False}}, True),
        ("point_line_2", {"line": {"points": [[0, 0, 0]], "closed": "no"}}, False),
        ("planar_mechanism", {"constraint": [{"kind": "pin", "body": "arm", "base": [1, 0]}]}, True),
        ("planar_mechanism", {"constraint": [{"kind": "pin", "body": "arm", "length": 1}]}, False),
        ("planar_mechanism", {"body": [{"joint": "ball", "mass": 1, "inertia": 1}]}, False),
        ("planar_mechanism", {"body": {"joint": "revolute", "mass": 1, "inertia": 1}}, False),
    ],
)
def test_tables_of_the_structure_have_the_keys_of_their_models(element: str, table: dict[str, Any], fits: bool) -> None:
    assert validator(element).is_valid({"element": element} | table) == fits


def test_keys_of_tables_show_their_units_and_limits() -> None:
    radius = recipe_schema("point_surface", shipped("fmus"))["$defs"]["Sphere"]["properties"]["radius"]
    assert radius["description"] == "of the sphere, m, > 0"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"surfce": {}}, "'surfce' was unexpected"),
        ({"element": "point_mass"}, "'point_mass' is not one of"),
        ({"structure": {"points": 0}}, "0 is less than the minimum of 1"),
        ({"structure": {"point": 2}}, "'point' was unexpected"),
        ({"structure": {"ledger": "no"}}, "'no' is not of type 'boolean'"),
        ({"start": {"C_F": True}}, "True is not of type 'number', 'string'"),
        ({"start": {"solver.method": "fast"}}, "'fast' is not one of ['auto', 'explicit', 'implicit']"),
        ({"functions": {"C_F": 1}}, "1 is not of type 'string', 'object'"),
        ({"drawing": {"color": "red"}}, "'red' does not match"),
    ],
)
def test_an_editor_marks_what_cannot_be(change: dict[str, Any], said: str) -> None:
    given = tables(shipped("fmus") / "PointSurface.toml")
    (fault,) = validator("point_surface").iter_errors(given | change)
    assert said in fault.message


def test_the_command_prints_it_with_units_and_ranges(tmp_path: Path) -> None:
    schema = json.loads(CliRunner().invoke(app, ["schema", "rotational_spring"]).output)
    assert schema == recipe_schema("rotational_spring", tmp_path)
    assert schema["properties"]["start"]["properties"]["k"]["description"] == "Spring rate, N.m/rad, > 0"
    with pytest.raises(
        InputError, match=r"^ELEMENT: there is no element 'rotational_sprin' .*; did you mean 'rotational_s"
    ):
        CliRunner().invoke(app, ["schema", "rotational_sprin"], catch_exceptions=False)


def test_the_word_element_may_stand_before_the_name_of_one(tmp_path: Path) -> None:
    schema = json.loads(CliRunner().invoke(app, ["schema", "element", "rotational_spring"]).output)
    assert schema == recipe_schema("rotational_spring", tmp_path)
    with pytest.raises(InputError, match=r"^NAME: 'rotational_spring': only the word element .*, not 'recipe'"):
        CliRunner().invoke(app, ["schema", "recipe", "rotational_spring"], catch_exceptions=False)


def test_every_key_of_a_recipe_has_a_description() -> None:
    def bare(schema: object, path: str) -> list[str]:
        if isinstance(schema, list):
            return [one for entry in schema for one in bare(entry, path)]
        if not isinstance(schema, dict):
            return []
        keys: dict[str, Any] = schema.get("properties", {})
        found = [f"{path}.{key}" for key, one in keys.items() if not one.get("description")]
        found += [one for key, value in keys.items() for one in bare(value, f"{path}.{key}")]
        return found + [one for key, value in schema.items() if key != "properties" for one in bare(value, path)]

    for folder in shipped_elements():
        assert bare(recipe_schema(folder.name, shipped("fmus")), folder.name) == []


def test_a_misspelt_kind_of_file_is_named_with_the_nearest() -> None:
    for wrong, right in (("scenrio", "scenario"), ("studdy", "study"), ("fitt", "fit"), ("elment", "element")):
        with pytest.raises(InputError, match=f"there is no element '{wrong}' .*; did you mean '{right}'"):
            CliRunner().invoke(app, ["schema", wrong], catch_exceptions=False)


def test_an_element_given_by_its_folder_may_be_named_in_recipes(tmp_path: Path) -> None:
    shutil.copytree(shipped("elements") / "inertia", tmp_path / "elements" / "own_inertia")
    checks = Draft7Validator(recipe_schema("elements/own_inertia", tmp_path))
    for name in ("own_inertia", "elements/own_inertia"):
        checks.validate({"element": name})
    assert not checks.is_valid({"element": "inertia"})


# ---- of other files --------------------------------------------------------------------------------------------------


@cache
def document_validator(kind: str) -> Draft202012Validator:
    schema = document_schema({"study": Study, "fit": Fit}.get(kind, kind))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def kind_of(given: dict[str, Any]) -> str | None:
    """None of a text that is a part of a file."""
    if "factors" in given and "system" in given:
        return "study"
    if "measurement" in given and "parameters" in given:
        return "fit"
    if "slaves" in given and "experiment" in given:
        return "case" if "reference" in given else "scenario"
    return "assembly" if "parts" in given else "recipe" if "element" in given else None


def documents() -> dict[str, dict[str, Any]]:
    """Shipped files, and the blocks of the guide and of each README, by their places."""
    root = Path(__file__).parents[2]
    pages = [root / "README.md", *root.glob("fmu_builder/guide/*.md"), *root.glob("elements/*/README.md")]
    files = [*root.glob("fmus/**/*.toml"), *root.glob("elements/*/cases/*.toml")]
    texts = {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in (*pages, *files)}
    blocks = {f"{place} {match.start()}": match[1] for place, text in texts.items() for match in _BLOCK.finditer(text)}
    blocks |= {place: text for place, text in texts.items() if place.endswith(".toml")}
    found = {}
    for place, text in blocks.items():
        with suppress(tomllib.TOMLDecodeError):  # of a block that shows one key on several lines
            found[place] = tomllib.loads(text)
    return found


_BLOCK = re.compile(r"```toml[^\n]*\n(.*?)```", re.DOTALL)


def test_every_file_and_every_block_of_the_guide_fits_the_schema_of_its_kind() -> None:
    seen = set()
    for place, given in documents().items():
        kind = kind_of(given)
        if kind is None:
            continue
        seen.add(kind)
        checks: list[Any] = [document_validator(kind)]
        if given.get("element") in {folder.name for folder in shipped_elements()}:
            checks.append(validator(given["element"]))
        assert [f"{place}: {fault.message}" for check in checks for fault in check.iter_errors(given)] == []
    assert seen == {"recipe", "assembly", "scenario", "case", "study", "fit"}


@pytest.mark.parametrize(
    ("kind", "change", "fits"),
    [
        ("study", {"factors": {"h": {"start": ["a.m", "b.m"], "values": [1]}}}, True),
        ("study", {"factors": {"h": {"start": [], "values": [1]}}}, False),
        ("fit", {"measurement": [{"file": "a.csv", "columns": {"z": {"signal": "a.z", "scale": -1}}}]}, True),
        ("fit", {"measurement": [{"file": "a.csv", "columns": {"z": {"scale": -1}}}]}, False),
        ("fit", {"measurement": [{"file": "a.csv", "columns": {"z": 1}}]}, False),
    ],
)
def test_short_and_long_forms_fit_and_others_are_marked(kind: str, change: dict[str, Any], fits: bool) -> None:
    study = {"system": "a.toml", "factors": {"a.m": [1]}, "responses": {"z": {"signal": "a.z"}}}
    given = {"study": study, "fit": {"scenario": "a.toml", "parameters": {"m": {"start": 1, "min": 0, "max": 2}}}}[kind]
    assert document_validator(kind).is_valid(given | change) == fits


# ---- of element.toml ------------------------------------------------------------------------------------------------


@cache
def element_validator() -> Draft202012Validator:
    schema = element_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("folder", shipped_elements(), ids=lambda folder: folder.name)
def test_every_shipped_element_fits_the_schema_of_element_toml(folder: Path) -> None:
    assert [fault.message for fault in element_validator().iter_errors(tables(folder / "element.toml"))] == []


@pytest.mark.parametrize(
    ("table", "entry", "said"),
    [
        ("parameter", {}, "'parameter' was unexpected"),
        ("parameters", {"k": {"unitt": "m", "description": "Stiffness"}}, "not valid under any of the given schemas"),
        ("parameters", {"k": {"min": "0", "description": "Stiffness"}}, "not valid under any of the given schemas"),
        ("experiment", {"stop": "1 s"}, "'1 s' is not of type 'number'"),
        ("log", {"contact": 3}, "3 is not of type 'string'"),
        ("sets", {"motion": "x"}, "'x' is not of type 'array'"),
        ("extends", {"elemnt": "x"}, "'elemnt' was unexpected"),
    ],
)
def test_an_editor_marks_what_cannot_be_in_element_toml(table: str, entry: dict[str, Any], said: str) -> None:
    given = tables(shipped("elements") / "point_mass" / "element.toml") | {table: entry}
    (fault,) = element_validator().iter_errors(given)
    assert said in fault.message


def test_the_command_prints_the_schema_of_element_toml() -> None:
    shown = CliRunner().invoke(app, ["schema", "element"])
    assert shown.exit_code == 0
    assert json.loads(shown.stdout) == element_schema()
    assert "element.toml" in CliRunner().invoke(app, ["schema", "--help"]).stdout
