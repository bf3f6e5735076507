"""The sources in an FMU compile as sources/buildDescription.xml says, each file by a plain call of the compiler."""

from __future__ import annotations

import io
import shutil
import zipfile
from pathlib import Path

import pytest
from forms import first_of_each_element
from lxml import etree

from fmu_builder.errors import ToolError
from fmu_builder.export.fmu import fmu_contents, pack
from fmu_builder.export.toolchain import Compiler, find_compiler, fmi_headers, run_compiler
from fmu_builder.model.loader import load_model
from fmu_builder.paths import shipped

EVERYDAY = ("PointSurface", "BouncingBall")  # an element, and an assembly of two


def compile_as_described(name: str, folder: Path, compiler: Compiler, *options: str) -> int:
    """Compile the files of the FMU with nothing but what buildDescription.xml names and the headers of the standard;
    returns their number.  Raises ToolError with the messages of the compiler."""
    _, files = fmu_contents(load_model(shipped("fmus") / f"{name}.toml"))
    with zipfile.ZipFile(io.BytesIO(pack(files))) as archive:
        archive.extractall(folder / "fmu")
    sources = folder / "fmu" / "sources"
    (configuration,) = etree.parse(sources / "buildDescription.xml").getroot()
    count = 0
    for group in configuration.findall("SourceFileSet"):
        given = [
            f"-std={group.get('language').lower()}",
            *(group.get("compilerOptions") or "").split(),
            *(f"-I{sources / one.get('name')}" for one in group.findall("IncludeDirectory")),
            *(f"-D{one.get('name')}={one.get('value')}" for one in group.findall("PreprocessorDefinition")),
            f"-isystem{fmi_headers()}",
        ]
        for file in group.findall("SourceFile"):
            compiled = folder / f"{count}.o"
            run_compiler(compiler, [*given, *options, "-c", str(sources / file.get("name")), "-o", str(compiled)])
            assert compiled.is_file()
            count += 1
    return count


@pytest.mark.parametrize(
    "name",
    [
        *EVERYDAY,
        *(pytest.param(name, marks=pytest.mark.slow) for name in first_of_each_element() if name not in EVERYDAY),
    ],
)
@pytest.mark.slow
def test_every_file_compiles_with_what_the_build_description_names(name: str, tmp_path: Path) -> None:
    compiler = find_compiler()
    assert compiler is not None
    assert compile_as_described(name, tmp_path, compiler, "-O0") >= 3


@pytest.mark.platform
@pytest.mark.parametrize("name", [*EVERYDAY, "SpringMassTrain", "TrolleyInGuide", "CamChainLiftOff", "RigidBlock"])
def test_every_file_compiles_with_the_compiler_of_an_importer(name: str, tmp_path: Path) -> None:
    gcc = shutil.which("gcc")
    if gcc is None:
        raise ToolError("this test needs gcc; tests/platform/install installs it")
    assert compile_as_described(name, tmp_path, Compiler((gcc,), cross=False, version=""), "-Wall", "-Werror") >= 3
