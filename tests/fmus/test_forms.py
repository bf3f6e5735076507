"""Tests of one recipe per form leave no choice of [structure] out."""

from __future__ import annotations

from forms import forms

from fmu_builder.model.loader import load_model
from fmu_builder.model.model import ElementModel
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import catalogue


def test_every_choice_of_structure_in_the_catalogue_is_that_of_a_form() -> None:
    selected: dict[str, tuple[object, ...]] = {}
    for path in catalogue():
        if "structure" in read_toml(path):
            model = load_model(path)
            assert isinstance(model, ElementModel)
            chosen = model.recipe.choices
            choices = {key: chosen[key] for key, one in model.element.structure.items() if not one.is_size}
            selected[path.stem] = (model.element_name, *choices.items())
    covered = {selected[name] for name in forms() if name in selected}
    assert len(covered) > 12 and {name for name, one in selected.items() if one not in covered} == set()
