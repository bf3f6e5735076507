"""FMI 3.0 beside FMI 2.0, of every recipe: the same bits.

`python -m tests.fmus.fmi3_twins` compares the whole catalogue over the whole course."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fmu_builder.errors import InputError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.model.documents import Recipe, as_file
from fmu_builder.paths import find_recipe
from tests.contact_core.fmi2 import QUICK
from tests.fmus.fmi3_twins import FMI_2_ONLY, SHORT, WHOLE, Course, Group, Instance, compare, recipes
from tests.forms import first_of_each_element

EVERYDAY = ("BouncingBall", "ProbeFeedthrough")  # states and events; all types
MORE = ("BodyOnThreeSprings", "PointMeshBowl", "PuckOnRoad", "Squeezer")  # an assembly, a mesh, tables, implicit
FARTHER = sorted({*first_of_each_element(), *MORE} - {*EVERYDAY})
OTHERS = sorted({path.stem for path in recipes()} - {*EVERYDAY, *FARTHER, FMI_2_ONLY})


def check_twins(recipe: Path, course: Course) -> None:
    found = compare(recipe, QUICK, course)  # optimized and not: the bits are the same
    assert found.different == []
    assert found.steps == course.steps and found.states and found.values > course.steps


@pytest.mark.parametrize("name", EVERYDAY)
def test_values_derivatives_and_states_are_those_of_fmi_2(name: str) -> None:
    check_twins(find_recipe(name), WHOLE)


@pytest.mark.slow
@pytest.mark.parametrize("name", FARTHER)
def test_one_fmu_of_each_element_is_that_of_fmi_2(name: str) -> None:
    check_twins(find_recipe(name), WHOLE)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_every_other_fmu_is_that_of_fmi_2(name: str) -> None:
    check_twins(find_recipe(name), SHORT)


def test_a_recipe_of_fmi_2_alone_is_refused_for_fmi_3() -> None:
    with pytest.raises(InputError, match=r"is of FMI 2\.0 only"):
        host_fmu(find_recipe(FMI_2_ONLY), QUICK, 3)


@pytest.mark.slow
def test_arrays_are_the_scalars_of_fmi_2() -> None:
    with as_file(Recipe(name="Arrays", element="rigid_body", arrays=True)) as path:
        found = compare(path, QUICK)
    assert found.different == [] and found.steps == WHOLE.steps and found.derivatives > 1000


def test_one_bit_of_one_input_shows_in_all_that_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    set_to = Instance.set

    def set_nearly(self: Instance, group: Group, values: Sequence[Any]) -> int:
        if self.fmi == 3 and group.kind == "real":
            values = [math.nextafter(value, math.inf) for value in values]
        return set_to(self, group, values)

    monkeypatch.setattr(Instance, "set", set_nearly)
    found = compare(find_recipe("ProbeFeedthrough"), QUICK, SHORT).different
    assert "step 0: real_in, real_out" in found
    assert "state, step 0" in found and any(what.startswith("model exchange at") for what in found)
