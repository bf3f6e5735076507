"""The sources of an FMU: what is generated, and what of contact_core comes along."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from fmu_builder.assembly import Assembly
from fmu_builder.generate import fmu_sources, source_files
from fmu_builder.model import load_model
from fmu_builder.paths import shipped

GUID = "{00000000-0000-0000-0000-000000000000}"


@pytest.mark.parametrize("recipe", sorted(path.stem for path in shipped("fmus").glob("*.toml")))
def test_sources_hold_all_they_include_and_nothing_else(recipe: str) -> None:
    model = load_model(shipped("fmus") / f"{recipe}.toml")
    files = fmu_sources(model, GUID)
    directives = r'#(?:include|define CC_MODEL_DATA|define CC_ELEMENT|define CC_LAWS) "([^"]+)"'
    included = set()
    for name, text in files.items():
        beside = name.rpartition("/")[0] + "/"
        for found in re.findall(directives, text):
            included.add(beside + found if beside + found in files else found)
    the_importers, of_an_element_alone = {"fmi2Functions.h"}, {"element.c"} if isinstance(model, Assembly) else set()
    assert included - files.keys() == the_importers | of_an_element_alone
    assert files.keys() - included == {*source_files(model)}


def test_a_mass_does_not_carry_the_contact_law() -> None:
    files = fmu_sources(load_model(shipped("fmus") / "PointMass.toml"), GUID)
    assert "vector.h" in files
    assert "contact.h" not in files


def test_an_element_may_be_split_into_several_files(tmp_path: Path) -> None:
    element = tmp_path / "elements" / "split_mass"
    shutil.copytree(shipped("elements") / "point_mass", element)
    text = (element / "element.c").read_text(encoding="utf-8")
    (element / "gravity.h").write_text("#define GRAVITY 1\n", encoding="utf-8")
    (element / "unused.h").write_text("#define UNUSED 1\n", encoding="utf-8")
    (element / "element.c").write_text('#include "gravity.h"\n' + text, encoding="utf-8")
    recipe = tmp_path / "SplitMass.toml"
    recipe.write_text('element = "split_mass"\n', encoding="utf-8")
    files = fmu_sources(load_model(recipe), GUID)
    assert files["gravity.h"] == "#define GRAVITY 1\n"
    assert "unused.h" not in files
