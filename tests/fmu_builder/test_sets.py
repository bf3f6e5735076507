"""Named sets of element.toml: a list of dependencies or of choices stands once."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from fmu_builder.errors import InputError
from fmu_builder.model.declaration_reader import read_declaration
from fmu_builder.model.loader import load_model
from fmu_builder.paths import shipped

TOML = """
description = "A gain"
[structure]
form = { choices = ["ball", "tube", "plate"], default = "ball", description = "Its form" }
[sets]
round = ["ball", "tube"]
motion = ["u", "x"]
force = ["@motion", "k"]
[parameters]
k = { start = 2.0, description = "Gain" }
radius = { unit = "m", start = 1.0, when = { form = "@round" }, description = "Radius" }
[inputs]
u = { description = "Input" }
[ports.point]
kind = "point"
side = "force"
description = "A point"
depends.f = ["@force", "point.r", "k"]
[states]
x = { depends = "@motion", description = "State" }
[outputs]
y = { size = 2, depends = [["@force"], ["u", "@motion"]], description = "Two outputs" }
"""


def element(folder: Path, text: str, name: str = "gain") -> Path:
    place = folder / "elements" / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "element.toml").write_text(text, encoding="utf-8")
    return place


def test_sets_stand_for_their_lists_wherever_names_are_listed(tmp_path: Path) -> None:
    declared = read_declaration(element(tmp_path, TOML))
    assert declared.parameters["radius"].when == {"form": ("ball", "tube")}
    assert declared.states["x"].depends == ["u", "x"]
    assert declared.outputs["y"].depends == [["u", "x", "k"], ["u", "x"]]
    assert declared.ports["point"].depends_of("f") == ["u", "x", "k", "point.r"]
    assert declared.sets["force"] == ["u", "x", "k"]
    recipe = tmp_path / "Gain.toml"
    recipe.write_text('element = "gain"\n[structure]\nform = "plate"\n', encoding="utf-8")
    model = load_model(recipe)
    assert "radius" not in model
    assert [model.variables[i].name for i in model["y[1]"].depends] == ["k", "u", "x"]
    assert [model.variables[i].name for i in model["y[2]"].depends] == ["u", "x"]


def test_an_element_that_extends_another_one_has_its_sets_under_the_new_names(tmp_path: Path) -> None:
    element(tmp_path, TOML)
    new = element(
        tmp_path,
        'description = "Another"\n[extends]\nelement = "gain"\nrenamed = { u = "w" }\nwithout = ["k"]\n'
        '[sets]\nall = ["@force", "radius"]\n[locals]\nz = { depends = "@all", description = "Local" }\n'
        'far = { depends = [], when = { form = "@round" }, description = "Local" }\n',
        "other",
    )
    declared = read_declaration(new)
    assert declared.states["x"].depends == ["w", "x"]
    assert declared.locals["z"].depends == ["w", "x", "radius"]
    assert declared.locals["far"].when == {"form": ("ball", "tube")}


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"@motion", description', '"@moton", description', "[states] x depends: there is no set '@moton' in [sets]"),
        ('["@force"]', '["@farce"]', "[outputs] y depends: there is no set '@farce' in [sets]; did you mean 'force'?"),
        ('["u", "x"]', '["u", "@force"]', "the set '@motion' contains itself: motion > force > motion"),
        ('["u", "x"]', '"u"', "[sets] motion: 'u' must be a list of texts"),
        ('"@round" }', '"@rond" }', "[parameters] radius when form: there is no set '@rond' in [sets]; did you mean"),
    ],
)
def test_faults_of_sets_are_named(tmp_path: Path, old: str, new: str, what: str) -> None:
    assert old in TOML
    with pytest.raises(InputError) as error:
        read_declaration(element(tmp_path, TOML.replace(old, new, 1)))
    assert what in str(error.value)


def test_all_faults_of_sets_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read_declaration(element(tmp_path, TOML.replace("@round", "@rond").replace('[["@force"]', '[["@farce"]')))
    assert len(error.value.problems) == 2


def lists_of(value: object, key: str = "") -> Iterator[tuple[str, ...]]:
    """Dependencies and choices as an element.toml writes them."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from lists_of(one, name if name in ("depends", "when", "initial") else key)
    elif isinstance(value, list) and key and all(isinstance(one, str) for one in value):
        yield tuple(sorted(value))
    elif isinstance(value, list):
        for one in value:
            yield from lists_of(one, key)


@pytest.mark.parametrize("path", sorted(shipped("elements").glob("*/element.toml")), ids=lambda p: p.parent.name)
def test_no_list_of_three_names_stands_twice_in_an_element(path: Path) -> None:
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    counted = Counter(one for one in lists_of({k: t for k, t in tables.items() if k != "sets"}) if len(one) > 2)
    assert not [names for names, count in counted.items() if count > 1]
    spelled = {tuple(sorted(one)) for one in read_declaration(path.parent).sets.values()}
    assert not [names for names in counted if names in spelled]


@pytest.mark.parametrize("path", sorted(shipped("elements").glob("*/element.toml")), ids=lambda p: p.parent.name)
def test_every_set_of_an_element_is_used(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not [name for name in tomllib.loads(text).get("sets", {}) if f'"@{name}"' not in text]
