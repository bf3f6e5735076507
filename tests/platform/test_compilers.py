"""The same FMU from other compilers: gcc in place of ziglang, and importers that compile the sources themselves.

Whoever compiles the sources, and with whatever flags for optimisation, gets the bits of the binaries we ship.  Not
covered: -ffast-math, and clang with -ffp-contract=fast, which ignores what the sources say about it.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import fmpy
import pytest
from fmpy.fmi2 import FMU2Slave
from fmpy.validation import validate_fmu
from lxml import etree
from test_platforms import arm_code, find_tool, fused_instructions

from fmu_builder.export.binaries import check_library
from fmu_builder.export.cache import cache_folder
from fmu_builder.export.fmu import build_fmu, fmu_contents
from fmu_builder.export.generate import write_sources
from fmu_builder.export.toolchain import (
    INSTALL_HINT,
    PLATFORMS,
    SOURCE_FILES,
    Compiler,
    compile_fmu,
    exported_functions,
    fmi_headers,
    host_platform,
)
from fmu_builder.model.loader import load_model
from fmu_builder.paths import shipped

pytestmark = pytest.mark.platform

ROOT = Path(__file__).parents[2]
STEPS = 2_000
RECIPES = ("PointSurface", "PointMass", "BouncingBall")
MESH = "PointMeshBowl"  # whose sources include a file that is no text
IN_FILE = "MeshInFile"  # the same with its data in the folder resources
BETWEEN = {"point.r[1]": 0.0, "point.r[2]": 0.06, "point.r[3]": -0.08}  # where inputs move about
MET = {MESH: BETWEEN, IN_FILE: BETWEEN}


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The FMU of each recipe as we ship it for this machine."""
    folder = tmp_path_factory.mktemp("fmus")
    found = {name: build_fmu(shipped("fmus") / f"{name}.toml", folder, ("host",)).path for name in (*RECIPES, MESH)}
    shutil.copytree(shipped("fmus") / "meshes", folder / "meshes")
    shutil.copy(shipped("fmus") / f"{MESH}.toml", folder / f"{IN_FILE}.toml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fmu_builder.model.mesh.MOST_EMBEDDED", 0)
        return found | {IN_FILE: build_fmu(folder / f"{IN_FILE}.toml", folder, ("host",)).path}


@pytest.fixture(scope="module")
def traces(fmus: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {name: trace(fmu, tmp_path_factory.mktemp(name)) for name, fmu in fmus.items()}


def test_data_in_a_file_give_the_same_bits(traces: dict[str, str]) -> None:
    assert traces[IN_FILE] == traces[MESH]


def library_name(name: str) -> str:
    return f"{name}{PLATFORMS[host_platform()].suffix}"


def trace(fmu: Path, folder: Path, library: Path | None = None) -> str:
    """Hash over the bits of every Real, Integer and Boolean after each of 2,000 steps with moving inputs, and over
    directional derivatives every 20 steps.   `library` runs in place of the FMU's own."""
    description = fmpy.read_model_description(fmu)
    name = description.coSimulation.modelIdentifier
    fmpy.extract(fmu, unzipdir=folder)
    own = folder / "binaries" / host_platform() / library_name(name)
    slave = FMU2Slave(
        guid=description.guid,
        unzipDirectory=str(folder),
        modelIdentifier=name,
        instanceName="trace",
        libraryPath=str(library or own),
    )
    slave.instantiate(loggingOn=False)
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()

    variables = description.modelVariables
    inputs = [v for v in variables if v.causality == "input" and v.type == "Real"]
    unknowns = [u for u in (*description.outputs, *description.derivatives) if u.dependencies]
    outputs = [u.variable.valueReference for u in unknowns if u.variable.type == "Real"]
    reals = [v.valueReference for v in variables if v.type == "Real"]
    integers = [v.valueReference for v in variables if v.type == "Integer"]
    booleans = [v.valueReference for v in variables if v.type == "Boolean" and v.causality == "output"]
    references = [v.valueReference for v in inputs]
    generator = random.Random(1)
    waves = [(generator.uniform(20.0, 60.0), generator.uniform(0.0, 6.0)) for _ in inputs]
    step = float(description.defaultExperiment.stepSize)
    # A floor is met at millimetres; forces and speeds may be of the order of one.
    size = [5e-3 if v.name.endswith(("r[1]", "r[2]", "r[3]")) else 0.5 for v in inputs]
    offset = [MET.get(name, {}).get(v.name, float(v.start or 0.0)) for v in inputs]

    digest = hashlib.sha256()
    in_contact = 0
    for k in range(STEPS):
        t = k * step
        values = [o + s * math.sin(w * t + p) for (w, p), s, o in zip(waves, size, offset, strict=True)]
        slave.setReal(references, values)
        slave.doStep(t, step)
        digest.update(struct.pack(f"{len(reals)}d", *slave.getReal(reals)))
        if integers:
            digest.update(struct.pack(f"{len(integers)}i", *slave.getInteger(integers)))
        if booleans:
            flags = slave.getBoolean(booleans)
            digest.update(bytes(map(int, flags)))
            in_contact += any(map(int, flags))
        if k % 20 == 0:
            direction = [generator.uniform(-1.0, 1.0) for _ in inputs]
            slope = slave.getDirectionalDerivative(outputs, references, direction)
            digest.update(struct.pack(f"{len(outputs)}d", *slope))
    slave.terminate()
    slave.freeInstance()
    if booleans:
        assert STEPS / 5 < in_contact < STEPS * 4 / 5
    return digest.hexdigest()


def sources_of(fmu: Path, folder: Path) -> Path:
    fmpy.extract(fmu, unzipdir=folder)
    return folder / "sources"


def run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    """Output of a command that must succeed without a warning."""
    done = subprocess.run(
        command, cwd=folder, env=os.environ | (environment or {}), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    assert "warning" not in done.stderr, done.stderr
    return done.stdout


# --- gcc in place of ziglang ------------------------------------------------------------------------------------------


@pytest.fixture
def no_ziglang(tmp_path: Path) -> dict[str, str]:
    """An environment in which ziglang is installed and fails, as after an interrupted installation."""
    stub = tmp_path / "stub" / "ziglang"
    stub.mkdir(parents=True)
    (stub / "__init__.py").touch()
    (stub / "__main__.py").write_text("raise SystemExit('zig is broken')\n")
    return {"PYTHONPATH": os.pathsep.join([str(stub.parent), str(ROOT)]), "FMU_BUILDER_CACHE": str(tmp_path / "cache")}


BUILD = """
import sys
from pathlib import Path
from fmu_builder.export.fmu import build_fmu
built = build_fmu(Path(sys.argv[1]), Path(sys.argv[2]))
print(*built.platforms)
print(*built.notes, sep="\\n")
"""


@pytest.mark.parametrize("recipe", RECIPES)
def test_without_ziglang_gcc_builds_for_this_machine_and_gives_the_same_bits(
    recipe: str, no_ziglang: dict[str, str], tmp_path: Path, traces: dict[str, str]
) -> None:
    find_tool("gcc")
    command = [sys.executable, "-c", BUILD, str(shipped("fmus") / f"{recipe}.toml"), str(tmp_path / "out")]
    platforms, *_, note = run(command, tmp_path, no_ziglang).strip().splitlines()
    host = host_platform()
    assert platforms == host
    assert "gcc" in note and INSTALL_HINT in note
    assert all(name in note for name in PLATFORMS if name != host) and f"{host}," not in note

    fmu = tmp_path / "out" / f"{recipe}.fmu"
    with zipfile.ZipFile(fmu) as archive:
        library = archive.read(f"binaries/{host}/{library_name(recipe)}")
    assert check_library(library, expected_exports=exported_functions(), platform=host, where=fmu.name) == []
    assert trace(fmu, tmp_path / "run") == traces[recipe]


def test_without_any_compiler_the_file_holds_its_sources(no_ziglang: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    command = [sys.executable, "-c", BUILD, str(shipped("fmus") / "PointMass.toml"), str(tmp_path / "out")]
    platforms, note = run(command, tmp_path, no_ziglang | {"PATH": str(tmp_path / "bin")}).split("\n")[:2]
    assert platforms == "" and "no compiler was found" in note and INSTALL_HINT in note
    assert validate_fmu(str(tmp_path / "out" / "PointMass.fmu")) == []


@pytest.mark.parametrize("recipe", ["PointSurface", IN_FILE])
def test_a_gcc_that_protects_stacks_by_default_builds_a_library_that_stands_alone(
    recipe: str, fmus: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ubuntu's gcc does, and takes the alarm from the C library."""
    wrapper = tmp_path / "gcc"
    defaults = "-fstack-protector-all -fstack-clash-protection -D_FORTIFY_SOURCE=2 -fcf-protection"
    wrapper.write_text(f'#!/bin/sh\nexec {find_tool("gcc")} {defaults} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("FMU_BUILDER_CACHE", str(tmp_path / "cache"))
    cache_folder.cache_clear()
    gcc = Compiler((str(wrapper),), cross=False, version="")
    host = host_platform()
    sources = sources_of(fmus[recipe], tmp_path / "fmu")
    files = [*SOURCE_FILES, *(["constants.c"] if recipe == IN_FILE else [])]
    libraries = compile_fmu(sources, recipe, (host,), gcc, files=files)
    cache_folder.cache_clear()
    assert check_library(libraries[host], expected_exports=exported_functions(), platform=host, where="gcc") == []


# --- importers that compile the sources -------------------------------------------------------------------------------


def compilers() -> list[str]:
    """gcc, which must be there, and clang if it is."""
    return [find_tool("gcc"), *filter(None, [shutil.which("clang")])]


def compile_sources(compiler: str, sources: Path, library: Path, options: list[str]) -> None:
    described = etree.parse(sources / "buildDescription.xml")
    files = [file.get("name", "") for file in described.iter("SourceFile")]
    include = [f"-I{folder.get('name')}" for folder in described.iter("IncludeDirectory")]
    command = [compiler, *options, "-shared", "-fPIC", *include, f"-I{fmi_headers()}", *files, "-o", str(library)]
    run([*command, "-lm"], sources)


WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-std=c11", "-O2"]
OPTIONS = [
    [],  # gnu17, no optimisation
    ["-O2"],
    ["-O3", "-march=native", "-ffp-contract=fast"],
    ["-std=c11", "-Os"],
]


@pytest.mark.parametrize("recipe", ["BouncingBall", "TwoDPointX"])  # with and without states and indicators
def test_the_sources_of_fmi_3_compile_without_a_warning(recipe: str, tmp_path: Path) -> None:
    _, files = fmu_contents(load_model(shipped("fmus") / f"{recipe}.toml"), 3)
    texts = {n.removeprefix("sources/"): d.decode() for n, d in files.items() if n.startswith("sources/")}
    write_sources(texts, tmp_path)
    run([find_tool("gcc"), *WARNINGS, "-I.", f"-I{fmi_headers()}", "-c", "fmu3.c", "-o", "fmu3.o"], tmp_path)


# the assembly holds the sources of both elements
@pytest.mark.parametrize(
    ("recipe", "options"),
    [
        *((recipe, WARNINGS) for recipe in (*RECIPES, MESH, IN_FILE)),
        *(("BouncingBall", options) for options in OPTIONS),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_an_importers_own_build_gives_the_same_bits(
    recipe: str, options: list[str], fmus: dict[str, Path], traces: dict[str, str], tmp_path: Path
) -> None:
    sources = sources_of(fmus[recipe], tmp_path / "fmu")
    for i, compiler in enumerate(compilers()):
        given = [option for option in options if i == 0 or option != "-ffp-contract=fast"]
        library = tmp_path / f"{i}" / library_name(recipe)
        library.parent.mkdir()
        compile_sources(compiler, sources, library, given)
        assert trace(fmus[recipe], tmp_path / f"run{i}", library) == traces[recipe], compiler


def without_pragma(sources: Path) -> None:
    text = (sources / "base" / "real.h").read_text(encoding="utf-8")
    assert text.count("#pragma ") == 2
    (sources / "base" / "real.h").write_text(text.replace("#pragma ", "// "), encoding="utf-8")


def test_gcc_fuses_multiplication_and_addition_only_without_our_pragma(fmus: dict[str, Path], tmp_path: Path) -> None:
    """On processors that can fuse, the test above would fail without the pragma; here that is seen on any."""
    sources = sources_of(fmus["PointSurface"], tmp_path)
    command = [find_tool("gcc"), "-S", "-O3", "-mfma", "-ffp-contract=fast", "-I.", f"-I{fmi_headers()}", "-o", "-"]
    for file in SOURCE_FILES:
        assert "vfm" not in run([*command, file], sources), file
    without_pragma(sources)
    assert "vfmadd" in run([*command, "element_real.c"], sources)


def test_clang_fuses_on_arm_only_without_our_pragma(fmus: dict[str, Path], tmp_path: Path) -> None:
    sources = sources_of(fmus["PointSurface"], tmp_path)
    command = [sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-linux-gnu.2.17", "-O2", "-shared", "-fPIC"]
    command += ["-nostdlib", "-I.", f"-I{fmi_headers()}", *SOURCE_FILES, "-o", "importer.so"]
    command += ["-isystem", str(shipped("contact_core") / "base" / "freestanding_include")]  # ARM's takes seconds
    environment = {"ZIG_GLOBAL_CACHE_DIR": str(tmp_path / "zig"), "ZIG_LOCAL_CACHE_DIR": str(tmp_path / "zig")}
    run(command, sources, environment)
    code = arm_code((sources / "importer.so").read_bytes())
    assert code and fused_instructions(code) == []
    without_pragma(sources)
    (sources / "importer.so").unlink()
    run(command, sources, environment)
    assert fused_instructions(arm_code((sources / "importer.so").read_bytes())) != []


@pytest.mark.parametrize("recipe", (*RECIPES, MESH, IN_FILE))
def test_fmpy_compiles_the_sources_to_a_library_of_the_same_bits(
    recipe: str, fmus: dict[str, Path], traces: dict[str, str], tmp_path: Path
) -> None:
    for tool in ("cmake", "make", "gcc"):
        find_tool(tool)
    fmu = tmp_path / f"{recipe}.fmu"
    with zipfile.ZipFile(fmus[recipe]) as shipped_fmu, zipfile.ZipFile(fmu, "w") as source_fmu:
        for name in shipped_fmu.namelist():
            if not name.startswith("binaries/"):
                source_fmu.writestr(name, shipped_fmu.read(name))
    run([sys.executable, "-m", "fmpy", "compile", str(fmu)], tmp_path)
    with zipfile.ZipFile(fmu) as archive:
        binaries = [name for name in archive.namelist() if name.startswith("binaries/") and not name.endswith("/")]
        library = tmp_path / library_name(recipe)
        library.write_bytes(archive.read(f"binaries/{host_platform()}/{library_name(recipe)}"))
    assert len(binaries) == 1
    assert validate_fmu(str(fmu)) == []
    assert trace(fmus[recipe], tmp_path / "run", library) == traces[recipe]


# fmpy's copy of the header has lost its prefix; these are the lines of the standard.
NO_PREFIX = "#define fmi2FullName(name) name\n"
PREFIX = """
#define fmi2Paste(a,b)     a ## b
#define fmi2PasteB(a,b)    fmi2Paste(a,b)
#define fmi2FullName(name) fmi2PasteB(FMI2_FUNCTION_PREFIX, name)
"""


def standard_headers(folder: Path) -> Path:
    """The FMI headers, with FMI2_FUNCTION_PREFIX in force."""
    shutil.copytree(fmi_headers(), folder)
    header = folder / "fmi2Functions.h"
    text = header.read_text(encoding="utf-8")
    assert text.count(NO_PREFIX) == 1
    header.write_text(text.replace(NO_PREFIX, PREFIX), encoding="utf-8")
    return folder


STATIC_MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "fmi2FunctionTypes.h"

#define DECLARE(model) \\
    fmi2InstantiateTYPE model##_fmi2Instantiate; fmi2SetupExperimentTYPE model##_fmi2SetupExperiment; \\
    fmi2EnterInitializationModeTYPE model##_fmi2EnterInitializationMode; \\
    fmi2ExitInitializationModeTYPE model##_fmi2ExitInitializationMode; \\
    fmi2DoStepTYPE model##_fmi2DoStep; fmi2GetRealTYPE model##_fmi2GetReal; \\
    fmi2FreeInstanceTYPE model##_fmi2FreeInstance;
DECLARE(PointMass)
DECLARE(PointSurface)

static void logger(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status, fmi2String category,
                   fmi2String message, ...)
{
    (void)environment, (void)category;
    printf("%s %d %s\\n", instance, (int)status, message);
}

static const fmi2CallbackFunctions callbacks = {logger, calloc, free, NULL, NULL};

#define START(model, guid) \\
    c = model##_fmi2Instantiate(#model, fmi2CoSimulation, guid, "", &callbacks, 0, 0); \\
    if (!c || model##_fmi2SetupExperiment(c, 0, 0.0, 0.0, 0, 0.0) || model##_fmi2EnterInitializationMode(c) \\
        || model##_fmi2ExitInitializationMode(c)) \\
        return 1; \\
    for (int k = 0; k < 1000; k++) \\
        if (model##_fmi2DoStep(c, k * 1e-3, 1e-3, 1)) \\
            return 2;

int main(void)
{
    fmi2Component c;
    fmi2ValueReference height = HEIGHT;
    double z;
    START(PointSurface, SURFACE_GUID)
    PointSurface_fmi2FreeInstance(c);
    START(PointMass, MASS_GUID)
    if (PointMass_fmi2GetReal(c, &height, 1, &z))
        return 3;
    PointMass_fmi2FreeInstance(c);
    printf("%.6f\\n", z);
    return 0;
}
"""


def test_two_models_are_linked_into_one_program_without_a_clash_of_names(fmus: dict[str, Path], tmp_path: Path) -> None:
    headers = standard_headers(tmp_path / "headers")
    descriptions = {name: fmpy.read_model_description(fmu) for name, fmu in fmus.items()}
    for compiler in compilers():
        folder = tmp_path / Path(compiler).name
        folder.mkdir()
        warnings = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{headers}"]
        objects = []
        for name, fmu in fmus.items():
            sources = sources_of(fmu, folder / name)
            listed = etree.parse(sources / "buildDescription.xml").findall(".//SourceFile")
            for file in [entry.get("name") for entry in listed]:
                target = folder / f"{name}_{file}.o"
                command = [compiler, *warnings, f"-DFMI2_FUNCTION_PREFIX={name}_", "-I.", "-c", file]
                run([*command, "-o", str(target)], sources)
                objects.append(str(target))
        (folder / "main.c").write_text(STATIC_MAIN)
        height = next(v.valueReference for v in descriptions["PointMass"].modelVariables if v.name == "p.r[3]")
        defines = [
            f"-DHEIGHT={height}",
            f'-DSURFACE_GUID="{descriptions["PointSurface"].guid}"',
            f'-DMASS_GUID="{descriptions["PointMass"].guid}"',
        ]
        run([compiler, *warnings, *defines, "main.c", *objects, "-lm", "-o", "program"], folder)
        fallen = float(run([str(folder / "program")], folder))
        assert fallen == pytest.approx(-9.81 / 2, abs=1e-6)  # m, after one second


def test_the_libraries_of_two_models_live_in_one_process(fmus: dict[str, Path], tmp_path: Path) -> None:
    """RTLD_GLOBAL would let one take the hidden functions of the other, were they not hidden."""
    handles = []
    for name, fmu in fmus.items():
        sources_of(fmu, tmp_path / name)
        library = tmp_path / name / "binaries" / host_platform() / library_name(name)
        handles.append(ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL))
    for name, fmu in fmus.items():
        assert trace(fmu, tmp_path / f"run {name}")
    assert all(handle.fmi2GetVersion for handle in handles)
