"""The sources of an FMU: what is generated, and what of contact_core comes along."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from fmu_builder.generate import SOURCE_FILES, fmu_sources
from fmu_builder.model import load_model
from fmu_builder.paths import shipped

GUID = "{00000000-0000-0000-0000-000000000000}"


@pytest.mark.parametrize("recipe", sorted(path.stem for path in shipped("fmus").glob("*.toml")))
def test_sources_hold_all_they_include_and_nothing_else(recipe: str) -> None:
    files = fmu_sources(load_model(shipped("fmus") / f"{recipe}.toml"), GUID)
    included = {name for text in files.values() for name in re.findall(r'#include "([^"]+)"', text)}
    assert included - files.keys() == {"fmi2Functions.h"}  # the importer's
    assert files.keys() - included == {*SOURCE_FILES}


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
