"""The sources of an FMU: what is generated, and what of contact_core comes along."""

from __future__ import annotations

import ctypes
import posixpath
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from fmu_builder.export.fmu import build_fmu
from fmu_builder.export.generate import fmu_sources, source_files, write_sources
from fmu_builder.export.toolchain import compile_hosted, find_compiler
from fmu_builder.model.assembly import AssemblyModel
from fmu_builder.model.loader import load_model
from fmu_builder.paths import shipped
from tests.contact_core.fmi2 import literal, recipes

GUID = "{00000000-0000-0000-0000-000000000000}"


@pytest.mark.parametrize("recipe", recipes())
def test_sources_hold_all_they_include_and_nothing_else(recipe: str) -> None:
    model = load_model(shipped("fmus") / f"{recipe}.toml")
    files = fmu_sources(model, GUID)
    directives = r'#(?:include|define \w+_FILE|define CC_MODEL_DATA|define CC_ELEMENT|define CC_LAWS) "([^"]+)"'
    included = set()
    for name, text in files.items():
        for found in re.findall(directives, text):
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(name), found))
            included.add(beside if beside in files else found)
    the_importers, of_an_element_alone = (
        {"fmi2Functions.h"},
        {"element.c"} if isinstance(model, AssemblyModel) else set(),
    )
    assert included - files.keys() == the_importers | of_an_element_alone
    assert files.keys() - included == {*source_files(model)}


def test_a_mass_does_not_carry_the_contact_law() -> None:
    files = fmu_sources(load_model(shipped("fmus") / "PointMass.toml"), GUID)
    assert "base/vector.h" in files
    assert "laws/contact.h" not in files


def test_an_fmu_carries_the_files_of_its_choices_only() -> None:
    for recipe, own in (("PointDisc", "disc"), ("PointSurface", "plane")):
        files = fmu_sources(load_model(shipped("fmus") / f"{recipe}.toml"), GUID)
        assert f"surface/{own}.h" in files
        geometry = {name.removeprefix("surfaces/") for name in files if name.startswith("surfaces/")}
        assert geometry == {f"{own}.h", "crossing.h"}
        assert "surface/torus.h" not in files


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


def test_an_element_may_include_a_shared_header_without_its_folder(tmp_path: Path) -> None:
    element = tmp_path / "elements" / "own_mass"
    shutil.copytree(shipped("elements") / "point_mass", element)
    text = (element / "element.c").read_text(encoding="utf-8")
    assert text.count('#include "base/vector.h"') == 1
    (element / "element.c").write_text(text.replace("base/vector.h", "vector.h"), encoding="utf-8")
    recipe = tmp_path / "OwnMass.toml"
    recipe.write_text('element = "own_mass"\n', encoding="utf-8")
    files = fmu_sources(load_model(recipe), GUID)
    assert files["vector.h"] == '#include "base/vector.h"\n' and "base/vector.h" in files
    build_fmu(recipe, tmp_path, ("host",))


def test_a_large_table_is_compiled_once_with_the_bits_of_its_numbers(tmp_path: Path) -> None:
    """Each of a line's points with all digits; every byte occurs in them, and digits behind escaped ones."""
    a = np.linspace(0.0, 6.0, 1500)
    points = np.stack([np.cos(a), np.sin(a), 0.01 * a], axis=1)
    recipe = tmp_path / "Long.toml"
    recipe.write_text(f'element = "point_line_2"\n[line]\npoints = {points.tolist()}\n', encoding="utf-8")
    model = load_model(recipe)
    assert source_files(model)[-1] == "constants.c"
    files = fmu_sources(model, GUID)
    assert "line_spacing[] " in files["model_data.h"]  # a small one is a part of what reads it
    assert len(files["model_data.h"]) < 20_000
    folder = tmp_path / "sources"
    write_sources(files, folder)
    ask = "const double *table(int i) { return i ? line_way : line_points; }\n"
    (folder / "ask.c").write_text(
        f'#include "model_data.h"\nextern const double *table(int i);\n{ask}', encoding="utf-8"
    )
    compiler = find_compiler()
    assert compiler is not None
    sources = [folder / "ask.c", folder / "constants.c"]
    compile_hosted(sources, tmp_path / "table.so", [folder], compiler, ["-fvisibility=default", "-Wpedantic"])
    table = ctypes.CDLL(str(tmp_path / "table.so")).table
    table.restype = ctypes.POINTER(ctypes.c_double)
    assert np.array_equal(np.ctypeslib.as_array(table(0), (4500,)), points.ravel())
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    assert np.array_equal(np.ctypeslib.as_array(table(1), (1500,)), way)
    if gcc := shutil.which("gcc"):
        options = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fPIC", "-c", "-I", str(folder)]
        subprocess.run([gcc, *options, str(folder / "constants.c"), "-o", str(tmp_path / "c.o")], check=True)


@pytest.mark.parametrize(
    ("recipe", "files"),
    [
        ("Held", {"C_F/built_in.h", "F_d/built_in.h", "F_fr/built_in.h", "bristle/off.h", "coupling/off.h"}),
        ("FloorWithLaws", {"C_F/built_in.h", "F_d/law.h", "F_fr/law.h", "bristle/off.h", "coupling/on.h"}),
        ("FloorWithStribeck", {"F_d/built_in.h", "F_slip/law.h", "bristle/on.h", "laws/bristle.h", "coupling/on.h"}),
        ("PointSurface", {"F_fr/built_in.h", "bristle/off.h", "coupling/on.h", "coupled.h"}),
    ],
)
def test_of_switches_and_slots_the_file_of_what_was_chosen_goes_in(
    recipe: str, files: set[str], tmp_path: Path
) -> None:
    path = literal("PointSurface", tmp_path, recipe) if recipe == "Held" else shipped("fmus") / f"{recipe}.toml"
    sources = fmu_sources(load_model(path), GUID)
    assert files <= sources.keys()
    others = {"law.h": "built_in.h", "built_in.h": "law.h", "on.h": "off.h", "off.h": "on.h"}
    for folder, _, name in (file.partition("/") for file in files - {"laws/bristle.h", "coupled.h"}):
        assert f"{folder}/{others[name]}" not in sources
