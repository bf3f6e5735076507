"""The same FMU on Linux, Windows and ARM: the same bits.

An FMU's binaries for linux64, win64 and aarch64-linux run the same 20,000 steps, natively, under wine and under qemu,
and must return the same bits; those for FMI 3.0 fewer steps, with the bits of FMI 2.0.  macOS cannot run here: its ARM
code is only searched for fused multiply-add, which rounds once where x86-64 rounds twice, and every build reads what
its libraries export and import (binaries.py).  Real Windows and real ARM processors are not covered either.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import fmpy
import pytest

from fmu_builder import build
from fmu_builder.export.cache import cache_folder
from fmu_builder.export.fmi3_variables import INDICATORS
from fmu_builder.export.toolchain import PLATFORMS, TUPLES, Compiler, host_platform
from fmu_builder.paths import load_module
from fmu_builder.recording.file import Call, Recording
from fmu_builder.recording.library import recorder_library
from fmu_builder.recording.wrapping import record_fmu

pytestmark = pytest.mark.platform

HERE = Path(__file__).parent
RECIPES = HERE.parents[1] / "fmus"
FMI_HEADERS = Path(fmpy.__file__).parent / "c-code"
INSTALL = "run tests/platform/install (apt-get install wine64 qemu-user libc6-arm64-cross gcc)"

STEP_COUNT = 20_000
REALS, WHOLE = ("Real", "Float64"), ("Integer", "Int32")  # types of both versions
UNUSED = "__attribute__((unused))"
LIBRARY_SUFFIX = {"linux64": ".so", "win64": ".dll", "aarch64-linux": ".so"}  # the platforms that can run here
ON_DARWIN = ("PointMass", "ShakenBall", "EveryFunction", "Guide")  # bodies, contact and solver, laws, lines

Range = tuple[float, float]


# --- what is run ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Motion:
    """An FMU and how its inputs move.

    inputs   range (low, high) of every continuous Real input, SI, by name; a vector has one range per component
    counted  the Boolean output that must be true in some steps and false in others, or None
    text     of the recipe, if it is none of the catalogue
    files    beside the recipe: name -> content
    in_file  a mesh has its data in the folder resources, however small it is
    steps    to run; fewer where a step takes many substeps, which qemu runs forty times slower
    """

    recipe: str
    inputs: Mapping[str, tuple[Range, ...]]
    counted: str | None = None
    text: str | None = None
    files: dict[str, str] = field(default_factory=dict)
    in_file: bool = False
    steps: int = STEP_COUNT

    def ranges(self) -> dict[str, Range]:
        """Range by the full name of the variable: `point.r` with three ranges is `point.r[1]` to `point.r[3]`."""
        return {
            name if len(ranges) == 1 else f"{name}[{i}]": limits
            for name, ranges in self.inputs.items()
            for i, limits in enumerate(ranges, start=1)
        }


POINT_MASS = Motion("PointMass", {"p.f": ((-20.0, 20.0),) * 3})

SURFACE = {
    "surface.r": ((-1e-3, 1e-3),) * 3,
    "surface.q": ((0.9, 1.1), (-0.05, 0.05), (-0.05, 0.05), (-0.05, 0.05)),
    "surface.v": ((-0.2, 0.2),) * 3,
    "surface.w": ((-2.0, 2.0),) * 3,
}
SPEED = ((-1.0, 1.0),) * 3

# the point moves 6 mm up and down through a floor that shakes by 1 mm and tilts: into contact and out of it
POINT_SURFACE = Motion(
    "PointSurface",
    {"point.r": ((-0.02, 0.02), (-0.02, 0.02), (-6e-3, 6e-3)), "point.v": SPEED} | SURFACE,
    counted="in_contact",
)

# in and out of a ring, a funnel and a vase: square roots and quotients, and the search along a spline
ON_SURFACES = [
    Motion(name, {"point.r": place, "point.v": SPEED} | SURFACE, counted="in_contact")
    for name, place in {
        "PointTorus": ((0.08, 0.12), (-0.02, 0.02), (0.02, 0.035)),
        "PointCone": ((0.08, 0.12), (-0.02, 0.02), (0.08, 0.12)),
        "PointRevolution": ((0.05, 0.09), (-0.02, 0.02), (-0.02, 0.27)),
    }.items()
]

# over a patch of 20 mm by 20 mm, whose edges points pass on all sides; lower, for they are often beside the patch
THREE_POINTS = Motion(
    "ThreePoints",
    {f"point[{i}].r": ((-0.015, 0.015), (-0.015, 0.015), (-10e-3, 5e-3)) for i in (1, 2, 3)}
    | {f"point[{i}].v": SPEED for i in (1, 2, 3)}
    | SURFACE,
    counted="in_contact[2]",
    text="""
element = "point_surface"
description = "Three points against a floor with edges"

[structure]
points = 3

[surface]
kind = "plane"
x = ["-10 mm", "10 mm"]
y = ["-10 mm", "10 mm"]

[start]
C_F = "2e5 N/m"
C_r = 0.3
K_fr = 0.5
""",
)

# one solver for a ball, a floor and a shaker that moves and tilts it: events, substeps, sines
SHAKEN_BALL = Motion(
    "ShakenBall",
    {},
    counted="floor.in_contact",
    steps=2_000,
    text="""
description = "A ball on a floor that shakes and tilts, held from above"
connections = [["ball.p", "floor.point"], ["shaker.port", "floor.surface"]]

[parts]
ball = { recipe = "PointMass", start = { r0 = [0, 0, "5 mm"] } }
floor = { recipe = "PointSurface", start = { C_F = "1e4 N/m", C_r = 0.5, K_fr = 0.3 } }
shaker = { recipe = "PrescribedMotion", start = { amplitude = [0, 0, "5 mm"], frequency = [1, 1, "9.7 Hz"], \
"angle.amplitude" = 0.02, "angle.frequency" = "0.7 Hz" } }

[experiment]
step = "1 ms"
""".replace("\\\n", ""),
)

# the implicit method: Jacobian from dual numbers, elimination with row exchange
STIFF_BLOCK = Motion(
    "StiffBlock",
    {
        "plane.surface.r": ((0.0, 0.0),) * 3,
        "plane.surface.q": ((0.9961946980917455,) * 2, (0.0, 0.0), (0.08, 0.09), (0.0, 0.0)),
        "plane.surface.v": ((0.0, 0.0),) * 3,
        "plane.surface.w": ((0.0, 0.0),) * 3,
    },
    steps=1_000,
    text="""
description = "A block on a tilting plane with a steep friction ramp"
connections = [["block.p", "plane.point"]]

[parts]
block = { recipe = "PointMass", start = { r0 = ["-1.7 um", 0, "-9.6 um"] } }
plane = { recipe = "PointSurface", start = { C_F = "1e6 N/m", C_r = 0.5, K_fr = 0.3, k_T = 1e4, \
"surface.q" = [0.9961946980917455, 0, 0.085, 0] } }

[start]
"solver.method" = "implicit"
""".replace("\\\n", ""),
)

# laws with every function, a table, a chain of conditions, an integral by quadrature
EVERY_FUNCTION = Motion(
    "EveryFunction",
    POINT_SURFACE.inputs,
    counted="in_contact",
    files={"mu.csv": "v [m/s], mu []\n0, 0\n0.01, 0.3\n0.1, 0.4\n0.5, 0.25\n"},
    text="""
element = "point_surface"
description = "A floor with laws of every function"

[surface]
kind = "plane"

[functions]
text = '''
scalar k = 2e5[N/m];
scalar d = 2[mm];
scalar soft = sqrt(exp(-1)) + pow(2, 0.3);
function elastic(h[m]) =
    #h < d/4 -> soft*k*#h, #h <= d -> soft*k*#h + k*(#h - d/4)^2/d, soft*k*#h + k*d*9/16*(#h/d)^1.7;
function bounded(x[]) = max(-0.9, min(0.9, #x));
function ratio(x[]) =
    0.3*atan(#x) + 0.1*sign(#x)*log(1 + abs(#x))*cos(#x)^2 + 0.05*tan(tanh(#x)/2) + 0.02*asin(bounded(#x))
    + 0.02*(PI/2 - acos(bounded(#x/2))) + 0.05*atan2(#x, 2) + 0.01*sin(exp(#x) - 1);
'''
C_F = "elastic"
F_d = "ratio(v/1[m/s])"
F_fr = "#N*mu(#v)"
mu = { table = "mu.csv", interpolation = "pchip" }
""",
)

# a line on so many bodies that functions take more than a page of the stack, with tables that are compiled as bytes
LINE_BODIES = range(1, 25)
GUIDE = Motion(
    "Guide",
    {"point.r": ((-0.5, 1.5), (-3e-3, 3e-3), (-3e-3, 3e-3)), "point.q": SURFACE["surface.q"], "point.v": SPEED}
    | {"point.w": SURFACE["surface.w"]}
    | {f"body[{b}].r": SURFACE["surface.r"] for b in LINE_BODIES}
    | {f"body[{b}].q": ((0.9, 1.1), *((-1e-3, 1e-3),) * 3) for b in LINE_BODIES}
    | {f"body[{b}].v": SURFACE["surface.v"] for b in LINE_BODIES}
    | {f"body[{b}].w": SURFACE["surface.w"] for b in LINE_BODIES},
    counted="on",
    steps=1_000,
    text=f"""
element = "point_line_2"
description = "A straight line of 480 points on 24 bodies"

[line]
points = {[[i / 479, 0, 0] for i in range(480)]}
body = {[1 + i // 20 for i in range(480)]}
interpolation = "spline"

[start]
K_fr = 0.2
normDamp = 10
forceZone = 0.1
"point.r" = [0.5, 0, 0]
""",
)

# a bowl of triangles: constants from a file that the assembler reads, and the search in single and double precision
MESH_BOWL = Motion(
    "PointMeshBowl",
    {"point.r": ((-0.06, 0.06), (-0.06, 0.06), (-0.105, -0.07)), "point.v": SPEED} | SURFACE,
    counted="in_contact",
    steps=5_000,
)

# the same with data in a file
BOWL_IN_FILE = replace(
    MESH_BOWL,
    recipe="BowlInFile",
    text=(RECIPES / "PointMeshBowl.toml").read_text(encoding="utf-8").replace("meshes/bowl.stl", "bowl.stl"),
    in_file=True,
)

MOTIONS = (
    POINT_MASS,
    MESH_BOWL,
    BOWL_IN_FILE,
    POINT_SURFACE,
    THREE_POINTS,
    SHAKEN_BALL,
    STIFF_BLOCK,
    EVERY_FUNCTION,
    GUIDE,
    *ON_SURFACES,
)


class BuiltMotions(dict[str, Path]):
    """Recipe -> the .fmu file with binaries for all platforms looked at, built when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def __missing__(self, name: str) -> Path:
        (motion,) = (motion for motion in MOTIONS if motion.recipe == name)
        recipe = RECIPES / f"{name}.toml"
        if motion.text is not None:
            recipe = self._folder / recipe.name
            recipe.write_text(motion.text, encoding="utf-8")
        for file, content in motion.files.items():
            (self._folder / file).write_text(content, encoding="utf-8")
        platforms = (*LIBRARY_SUFFIX, *(["aarch64-darwin"] if name in ON_DARWIN else []))
        with pytest.MonkeyPatch.context() as patch:
            if motion.in_file:
                shutil.copy(RECIPES / "meshes" / "bowl.stl", self._folder)
                patch.setattr("fmu_builder.model.mesh.MOST_EMBEDDED", 0)
            self[name] = build(recipe, self._folder, platforms=platforms)
        return self[name]


@pytest.fixture(scope="session")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> BuiltMotions:
    return BuiltMotions(tmp_path_factory.mktemp("fmus"))


# --- tools ------------------------------------------------------------------------------------------------------------


def find_tool(*candidates: str) -> str:
    """Path of the first candidate (a command or a file) that exists; a missing tool fails the test."""
    for candidate in candidates:
        path = shutil.which(candidate)
        if path:
            return path
    pytest.fail(f"{candidates[0]} not found: {INSTALL}", pytrace=False)


def run_command(command: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, encoding="utf-8",
            timeout=600,
        )  # fmt: skip

    done = run()
    silent = done.returncode == 1 and not done.stdout and not done.stderr
    # each driver says what failed: a wine that ends with 1 and no word did not get its server up in time
    return run() if silent and "wine" in command[0] else done


@dataclass(frozen=True)
class Tools:
    """Compilers and emulators whose settings lie in one temporary folder; zig has the cache of the builds, which knows
    C libraries already."""

    folder: Path

    def environment(self) -> dict[str, str]:
        zig_cache = str(cache_folder() / "zig")
        return {
            "ZIG_GLOBAL_CACHE_DIR": zig_cache,
            "ZIG_LOCAL_CACHE_DIR": zig_cache,
            "WINEPREFIX": str(self.folder / "wine"),
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree,mshtml=",  # no offer to download .NET and a browser engine at the first start
            "DISPLAY": "",
        }

    def compile(self, compiler: list[str], arguments: list[str], folder: Path) -> None:
        command = compiler + arguments
        result = run_command(command, folder, self.environment())
        assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}"

    def compile_driver(
        self, platform: str, folder: Path, source: str = "trace_driver.c", defines: Sequence[str] = ()
    ) -> list[str]:
        """Build a driver for `platform` beside its driver_config.h; the command that runs it."""
        arguments = ["-std=c11", "-O2", "-s", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
        arguments += ["-Wno-type-limits"]  # a count of zero variables makes `i < 0`
        arguments += [f"-I{FMI_HEADERS}", f"-I{folder}", *defines, str(HERE / source), "-o"]
        if platform == "win64":
            arguments += ["driver.exe", "-ffreestanding", "-nostdlib", "-lkernel32"]
            arguments += ["-Wl,--subsystem,console", "-Wl,-e,mainCRTStartup"]
            self.compile(zig("x86_64-windows-gnu"), arguments, folder)
            return [find_tool("wine64", "/usr/lib/wine/wine64"), "driver.exe"]
        arguments += ["driver", "-ldl"]
        if platform == "linux64":
            self.compile([find_tool("gcc")], arguments, folder)
            return [str(folder / "driver")]
        self.compile(zig("aarch64-linux-gnu.2.17"), arguments, folder)
        c_library = Path("/usr/aarch64-linux-gnu")
        if not (c_library / "lib" / "libc.so.6").exists():
            pytest.fail(f"{c_library}/lib/libc.so.6 not found: {INSTALL}", pytrace=False)
        return [find_tool("qemu-aarch64"), "-L", str(c_library), str(folder / "driver")]


def zig(target: str) -> list[str]:
    return [sys.executable, "-m", "ziglang", "cc", "-target", target]


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    folder = tmp_path_factory.mktemp("tools")
    tools = Tools(folder)
    yield tools
    if (folder / "wine").exists():  # 700 MB; its server must be gone first, and this prefix's server only
        run_command([find_tool("wineserver", "/usr/lib/wine/wineserver"), "-k"], folder, tools.environment())
        run_command([find_tool("wineserver", "/usr/lib/wine/wineserver"), "-w"], folder, tools.environment())
        shutil.rmtree(folder / "wine")


# --- one run of the driver --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trace:
    """What the driver prints: hash of all bits of all steps, steps with status OK, steps with the Boolean true."""

    hash: str
    steps_ok: int
    steps_counted: int


def value_references(description: fmpy.model_description.ModelDescription, *types: str) -> list[int]:
    """Value references of all variables of the given types, each once, ascending."""
    variables = [v for v in description.modelVariables if not v.name.startswith(INDICATORS)]
    return sorted({v.valueReference for v in variables if v.type in types})


def driver_config(fmu: Path, motion: Motion, guid: str | None = None) -> str:
    """Text of driver_config.h: `motion` applied to `fmu`, with a GUID other than the FMU's own on request."""
    description = fmpy.read_model_description(fmu)
    identifier = description.coSimulation.modelIdentifier
    ranges = motion.ranges()
    inputs = [v for v in description.modelVariables if v.causality == "input" and v.type in REALS]
    names = {v.name for v in inputs}
    assert names == set(ranges), (
        f"{fmu.name}: give ranges for inputs {sorted(names - set(ranges))}, "
        f"remove those of {sorted(set(ranges) - names)} in test_platforms.py"
    )
    booleans = value_references(description, "Boolean")
    by_name = {v.name: v for v in description.modelVariables}
    counted = booleans.index(by_name[motion.counted].valueReference) if motion.counted else -1
    is_fmi3 = description.fmiVersion == "3.0"
    experiment = description.defaultExperiment
    step = float(experiment.stepSize) if experiment is not None and experiment.stepSize is not None else 1e-3

    reference = "fmi3ValueReference" if is_fmi3 else "fmi2ValueReference"
    arrays: dict[str, tuple[str, list[str]]] = {
        "REAL_INPUTS": (reference, [str(v.valueReference) for v in inputs]),
        "REAL_INPUT_LOW": ("double", [ranges[v.name][0].hex() for v in inputs]),
        "REAL_INPUT_HIGH": ("double", [ranges[v.name][1].hex() for v in inputs]),
        "REALS": (reference, [str(r) for r in value_references(description, *REALS)]),
        "INTEGERS": (reference, [str(r) for r in value_references(description, *WHOLE, "Enumeration")]),
        "ENUMERATIONS": (reference, [str(r) for r in value_references(description, "Enumeration")]),
        "BOOLEANS": (reference, [str(r) for r in booleans]),
    }
    lines = [
        f"#define FMI {3 if is_fmi3 else 2}",
        *(['#include "fmi3PlatformTypes.h"'] if is_fmi3 else []),
        "#ifdef _WIN32",
        f'#define LIBRARY "{identifier}.dll"',
        "#else",
        f'#define LIBRARY "./{identifier}.so"',
        "#endif",
        f'#define MODEL_GUID "{guid or description.guid}"',
        f"#define STEP_COUNT {motion.steps}",
        f"#define STEP_SIZE {step.hex()} /* s */",
        f"#define COUNTED_BOOLEAN {counted}",
    ]
    for name, (c_type, values) in arrays.items():
        lines.append(f"#define {name}_COUNT {len(values)}")
        lines.append(f"{UNUSED} static const {c_type} {name}[] = {{{', '.join(values) or '0'}}};")
    return "\n".join(lines) + "\n"


def run_driver(
    tools: Tools, fmu: Path, platform: str, config: str, folder: Path, resources: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Lay the platform's library, the driver and its configuration into `folder` and run there.

    resources   where those of the FMU are, by default in a folder beside the library"""
    description = fmpy.read_model_description(fmu)
    if resources is None:
        resources = folder / "with blank and ü" / "resources"
        unpack_resources(fmu, resources)
    config += f'#define RESOURCES "{address_of(resources, platform, description.fmiVersion)}"\n'
    library = description.coSimulation.modelIdentifier + LIBRARY_SUFFIX[platform]
    place = TUPLES[platform] if description.fmiVersion == "3.0" else platform
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(fmu) as archive:
        (folder / library).write_bytes(archive.read(f"binaries/{place}/{library}"))
    (folder / "driver_config.h").write_text(config, encoding="utf-8")
    command = tools.compile_driver(platform, folder)
    return run_command(command, folder, tools.environment())


def unpack_resources(fmu: Path, folder: Path) -> None:
    with zipfile.ZipFile(fmu) as archive:
        for name in archive.namelist():
            if name.startswith("resources/"):
                folder.mkdir(parents=True, exist_ok=True)
                (folder / Path(name).name).write_bytes(archive.read(name))


def address_of(folder: Path, platform: str, fmi: str) -> str:
    """A URI for FMI 2.0, a path for FMI 3.0, as text in C.   wine has the folders of this machine on a drive Z."""
    if fmi == "2.0":
        return folder.as_uri().replace("file:///", "file:///Z:/") if platform == "win64" else folder.as_uri()
    return ("Z:" + str(folder).replace("/", "\\") + "\\").replace("\\", "\\\\") if platform == "win64" else f"{folder}/"


def read_trace(result: subprocess.CompletedProcess[str], what: str) -> Trace:
    fields = re.fullmatch(r"([0-9a-f]{16}) (\d+) (\d+)", result.stdout.strip())
    assert result.returncode == 0 and fields, f"{what}: exit code {result.returncode}: {result.stdout}{result.stderr}"
    return Trace(fields[1], int(fields[2]), int(fields[3]))


@pytest.fixture(scope="session", params=MOTIONS, ids=lambda motion: motion.recipe)
def traces(
    request: pytest.FixtureRequest, fmus: BuiltMotions, tools: Tools, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Motion, dict[str, Trace]]:
    """One motion and its trace by platform."""
    motion: Motion = request.param
    fmu = fmus[motion.recipe]
    config = driver_config(fmu, motion)
    folder = tmp_path_factory.mktemp(motion.recipe)
    return motion, {
        platform: read_trace(run_driver(tools, fmu, platform, config, folder / platform), f"{fmu.name} on {platform}")
        for platform in LIBRARY_SUFFIX
    }


# --- the same bits everywhere -----------------------------------------------------------------------------------------


def test_linux_windows_and_arm_return_the_same_bits(traces: tuple[Motion, dict[str, Trace]]) -> None:
    motion, trace = traces
    print(f"\n{motion.recipe}: {trace}")
    assert len(set(trace.values())) == 1, f"{motion.recipe}: {trace}"


def test_every_step_of_every_platform_is_ok(traces: tuple[Motion, dict[str, Trace]]) -> None:
    motion, trace = traces
    assert {platform: t.steps_ok for platform, t in trace.items()} == dict.fromkeys(LIBRARY_SUFFIX, motion.steps)


def test_the_motion_enters_and_leaves_contact(traces: tuple[Motion, dict[str, Trace]]) -> None:
    motion, trace = traces
    for t in trace.values():
        if motion.counted is None:
            assert t.steps_counted == 0
        else:
            assert motion.steps / 5 < t.steps_counted < motion.steps * 4 / 5, t


def test_the_last_bit_of_one_input_range_changes_the_hash(fmus: BuiltMotions, tools: Tools, tmp_path: Path) -> None:
    """Without this an equal hash could mean that the hash sees nothing."""
    (low, high), *others = POINT_MASS.inputs["p.f"]
    nudged = replace(POINT_MASS, inputs={"p.f": ((low, high + math.ulp(high - low)), *others)})
    fmu = fmus["PointMass"]
    first, second = (
        read_trace(run_driver(tools, fmu, "linux64", driver_config(fmu, motion), tmp_path / name), name)
        for name, motion in (("given", POINT_MASS), ("nudged", nudged))
    )
    assert first.hash != second.hash


def test_data_in_a_file_give_the_bits_of_data_in_the_binary(fmus: BuiltMotions, tools: Tools, tmp_path: Path) -> None:
    found = {
        motion.recipe: read_trace(
            run_driver(
                tools,
                fmus[motion.recipe],
                "linux64",
                driver_config(fmus[motion.recipe], motion),
                tmp_path / motion.recipe,
            ),
            motion.recipe,
        )
        for motion in (replace(MESH_BOWL, steps=1_000), replace(BOWL_IN_FILE, steps=1_000))
    }
    assert len(set(found.values())) == 1, found


@pytest.mark.parametrize("platform", LIBRARY_SUFFIX)
def test_a_file_of_data_that_is_missing_or_changed_is_refused_on_each_platform(
    platform: str, fmus: BuiltMotions, tools: Tools, tmp_path: Path
) -> None:
    fmu, resources = fmus["BowlInFile"], tmp_path / "resources"
    config = driver_config(fmu, BOWL_IN_FILE)
    unpack_resources(fmu, resources)
    (file,) = resources.iterdir()
    data = file.read_bytes()
    faults = {
        "is missing": None,
        "was changed: its check sums are wrong": data[:-1] + b"\1",
    }
    for k, (fault, content) in enumerate(faults.items()):
        file.unlink(missing_ok=True)
        if content is not None:
            file.write_bytes(content)
        result = run_driver(tools, fmu, platform, config, tmp_path / str(k), resources)
        assert result.returncode == 1
        begin = f"fmi2Instantiate returned NULL, step 0, the FMU says: fmi2Instantiate: {file.name} {fault}"
        assert result.stdout.startswith(begin), result.stdout
        assert "looked for at " in result.stdout


@pytest.mark.parametrize("platform", LIBRARY_SUFFIX)
def test_a_file_of_data_is_found_behind_a_path_that_windows_takes_only_with_a_mark(
    platform: str, fmus: BuiltMotions, tools: Tools, tmp_path: Path
) -> None:
    motion = replace(BOWL_IN_FILE, steps=100)
    fmu = fmus[motion.recipe]
    resources = tmp_path.joinpath(*(f"a folder with a long name, number {k:02}" for k in range(9)), "ü", "resources")
    assert 259 < len(str(resources)) < 600
    unpack_resources(fmu, resources)
    trace = read_trace(
        run_driver(tools, fmu, platform, driver_config(fmu, motion), tmp_path / "driver", resources), platform
    )
    assert trace.steps_ok == 100


# a held force, an assembly with the solver and its events, and a path of resources
@pytest.mark.parametrize("motion", [POINT_SURFACE, SHAKEN_BALL, BOWL_IN_FILE], ids=lambda motion: motion.recipe)
def test_fmi_3_returns_the_bits_of_fmi_2_on_each_platform(
    motion: Motion, fmus: BuiltMotions, tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    motion = replace(motion, steps=1_000)
    written = fmus[motion.recipe].with_suffix(".toml")
    recipe = written if motion.text is not None else RECIPES / f"{motion.recipe}.toml"
    if motion.in_file:
        monkeypatch.setattr("fmu_builder.model.mesh.MOST_EMBEDDED", 0)
    new = build(recipe, tmp_path, platforms=tuple(LIBRARY_SUFFIX), fmi=3)
    runs = {f"FMI 3.0, {platform}": (new, platform) for platform in LIBRARY_SUFFIX}
    runs["FMI 2.0"] = (fmus[motion.recipe], "linux64")
    traces = {}
    for name, (fmu, platform) in runs.items():
        config = driver_config(fmu, motion)
        traces[name] = read_trace(run_driver(tools, fmu, platform, config, tmp_path / name), f"{motion.recipe}, {name}")
    assert len(set(traces.values())) == 1 and traces["FMI 2.0"].steps_ok == 1_000, traces


@pytest.mark.parametrize("platform", LIBRARY_SUFFIX)
def test_a_refused_instance_is_reported_with_the_name_of_the_call(
    platform: str, fmus: BuiltMotions, tools: Tools, tmp_path: Path
) -> None:
    fmu = fmus["PointMass"]
    result = run_driver(tools, fmu, platform, driver_config(fmu, POINT_MASS, guid="another model"), tmp_path)
    assert result.returncode == 1
    assert re.match(r"fmi2Instantiate returned NULL, step 0.*\n\Z", result.stdout), result.stdout


# --- no fused multiply-add in ARM code --------------------------------------------------------------------------------

# (mask, value) of the 32-bit A64 instructions that round once where the C text says a product and a sum.  Arm
# Architecture Reference Manual, C4.1 "A64 instruction set encoding".  SVE and the half-to-single forms are left out: no
# build here asks for them.  The complex forms belong to the Apple baseline, and the elements use complex numbers.
FUSED = {
    "fmadd, fmsub, fnmadd, fnmsub": (0xFF000000, 0x1F000000),
    "fmla, fmls vector": (0xBF20FC00, 0x0E20CC00),
    "fmla, fmls vector, half precision": (0xBF60FC00, 0x0E400C00),
    "fmla, fmls by element": (0xBF00B400, 0x0F001000),
    "fmla, fmls scalar by element": (0xFF00B400, 0x5F001000),
    "fcmla vector": (0xBF20E400, 0x2E00C400),
    "fcmla by element": (0xBF009400, 0x2F001000),
}

CPU_TYPE_ARM64 = 0x0100000C
MACHO_MAGIC, UNIVERSAL_MAGIC = 0xFEEDFACF, 0xCAFEBABE
LC_SEGMENT_64 = 0x19
S_ATTR_INSTRUCTIONS = 0x80000400  # pure instructions, some instructions
EM_AARCH64, SHF_EXECINSTR = 183, 4


def fused_instructions(code: bytes) -> list[str]:
    """`offset: word: kind` of every fused multiply-add in A64 code."""
    return [
        f"{4 * i:#x}: {word:08x}: {kind}"
        for i, (word,) in enumerate(struct.iter_unpack("<I", code[: len(code) // 4 * 4]))
        for kind, (mask, value) in FUSED.items()
        if word & mask == value
    ]


def arm_code(binary: bytes) -> bytes:
    """All sections of A64 instructions of an ELF or Mach-O file, thin or universal; empty if there are none."""
    if binary[:4] == b"\x7fELF":
        return elf_code(binary)
    if int.from_bytes(binary[:4], "big") == UNIVERSAL_MAGIC:
        (count,) = struct.unpack_from(">I", binary, 4)
        slices = [struct.unpack_from(">5I", binary, 8 + 20 * i) for i in range(count)]
        return b"".join(macho_code(binary[offset : offset + size]) for _, _, offset, size, _ in slices)
    if int.from_bytes(binary[:4], "little") == MACHO_MAGIC:
        return macho_code(binary)
    return b""


def elf_code(binary: bytes) -> bytes:
    (machine,) = struct.unpack_from("<H", binary, 18)
    if machine != EM_AARCH64:
        return b""
    (table,) = struct.unpack_from("<Q", binary, 40)
    entry_size, count = struct.unpack_from("<HH", binary, 58)
    code = b""
    for i in range(count):
        _, _, flags, _, offset, size = struct.unpack_from("<IIQQQQ", binary, table + i * entry_size)
        if flags & SHF_EXECINSTR:
            code += binary[offset : offset + size]
    return code


def macho_code(binary: bytes) -> bytes:
    _, cpu_type, _, _, command_count = struct.unpack_from("<5I", binary)
    if cpu_type != CPU_TYPE_ARM64:
        return b""
    code, position = b"", 32
    for _ in range(command_count):
        command, command_size = struct.unpack_from("<II", binary, position)
        if command == LC_SEGMENT_64:
            (section_count,) = struct.unpack_from("<I", binary, position + 64)
            for i in range(section_count):
                size, offset, _, _, _, flags = struct.unpack_from("<QIIIII", binary, position + 72 + 80 * i + 40)
                if flags & S_ATTR_INSTRUCTIONS:
                    code += binary[offset : offset + size]
        position += command_size
    return code


ARM_TARGETS = {"aarch64-linux": "aarch64-linux-gnu.2.17", "aarch64-darwin": "aarch64-macos.11.0"}

CONTRACTIBLE = """
double one_sum(double a, double b, double c) { return a * b + c; }
void many_sums(double *restrict y, const double *restrict a, const double *restrict b) {
    for (int i = 0; i < 64; i++) y[i] += a[i] * b[i];
}
"""

# one of every kind, assembled by the compiler so that the masks above are not checked against themselves
FUSED_ASSEMBLY = """
    fmadd d0, d1, d2, d3
    fmsub s0, s1, s2, s3
    fnmadd d31, d30, d29, d28
    fnmsub h0, h1, h2, h3
    fmla v0.2d, v1.2d, v2.2d
    fmls v31.4s, v30.4s, v29.4s
    fmla v0.2s, v1.2s, v2.2s
    fmls v0.8h, v1.8h, v2.8h
    fmla v0.2d, v1.2d, v2.d[1]
    fmls v0.4s, v1.4s, v31.s[3]
    fmla v0.8h, v1.8h, v15.h[7]
    fmla d0, d1, v2.d[1]
    fmls s0, s1, v2.s[2]
    fcmla v0.2d, v1.2d, v2.2d, #90
    fcmla v0.4s, v1.4s, v2.s[1], #270
"""
SEPARATE_ASSEMBLY = """
    fmul d0, d1, d2
    fnmul d0, d1, d2
    fadd d0, d1, d2
    fsub d31, d30, d29
    fdiv d0, d1, d2
    fsqrt d0, d1
    fcsel d0, d1, d2, gt
    fmul v0.2d, v1.2d, v2.2d
    fadd v0.2d, v1.2d, v2.2d
    fsub v0.2d, v1.2d, v2.2d
    fmul v0.2d, v1.2d, v2.d[1]
    fmulx v0.2d, v1.2d, v2.2d
    fmulx v0.2d, v1.2d, v2.d[1]
    fcadd v0.2d, v1.2d, v2.2d, #90
    faddp v0.2d, v1.2d, v2.2d
    fmax v0.2d, v1.2d, v2.2d
    mla v0.4s, v1.4s, v2.4s
    mla v0.4s, v1.4s, v2.s[1]
    madd x0, x1, x2, x3
    umull v0.2d, v1.2s, v2.2s
"""


ARM_BINARIES = [*((motion.recipe, "aarch64-linux") for motion in MOTIONS), *((r, "aarch64-darwin") for r in ON_DARWIN)]


@pytest.mark.parametrize(("recipe", "platform"), ARM_BINARIES)
def test_arm_code_rounds_every_product_before_it_is_added(recipe: str, platform: str, fmus: BuiltMotions) -> None:
    with zipfile.ZipFile(fmus[recipe]) as archive:
        binaries = {name: archive.read(name) for name in archive.namelist() if name.startswith(f"binaries/{platform}/")}
    assert binaries, f"{recipe}.fmu has no binary for {platform}"
    for name, binary in binaries.items():
        code = arm_code(binary)
        assert code, f"{recipe}.fmu: {name} holds no ARM code"
        assert fused_instructions(code) == [], f"{recipe}.fmu: {name}"


@pytest.mark.parametrize("target", ARM_TARGETS.values())
def test_fused_multiply_add_is_found_exactly_when_the_compiler_may_fuse(
    target: str, tools: Tools, tmp_path: Path
) -> None:
    (tmp_path / "sums.c").write_text(CONTRACTIBLE, encoding="utf-8")
    found = {}
    for contraction in ("off", "fast"):
        arguments = ["-O2", "-s", "-shared", "-fPIC", "-ffreestanding", "-nostdlib", f"-ffp-contract={contraction}"]
        tools.compile(zig(target), [*arguments, "sums.c", "-o", "sums.so"], tmp_path)
        code = arm_code((tmp_path / "sums.so").read_bytes())
        assert code
        found[contraction] = " ".join(fused_instructions(code))
    assert found["off"] == ""
    assert "fmadd" in found["fast"] and "fmla" in found["fast"]


def test_every_kind_of_fused_instruction_is_recognised_and_no_other(tools: Tools, tmp_path: Path) -> None:
    for name, text in (("fused", FUSED_ASSEMBLY), ("separate", SEPARATE_ASSEMBLY)):
        (tmp_path / f"{name}.s").write_text(".text\n" + text, encoding="utf-8")
        # the Apple processor has all of these instructions
        command = ["-mcpu=apple_m1", "-c", f"{name}.s", "-o", f"{name}.o"]
        tools.compile(zig(ARM_TARGETS["aarch64-linux"]), command, tmp_path)
    fused, separate = (arm_code((tmp_path / f"{name}.o").read_bytes()) for name in ("fused", "separate"))
    count = len(FUSED_ASSEMBLY.split("\n")) - 2  # the text starts and ends with an empty line
    assert len(fused) == 4 * count
    found = fused_instructions(fused)
    assert [line.split(":")[0] for line in found] == [f"{4 * i:#x}" for i in range(count)]
    assert {line.split(": ", 2)[2] for line in found} == set(FUSED)
    assert len(separate) == 4 * (len(SEPARATE_ASSEMBLY.split("\n")) - 2)
    assert fused_instructions(separate) == []


# --- recorders --------------------------------------------------------------------------------------------------------


def run_recorder(tools: Tools, fmu: Path, platform: str, command: list[str], folder: Path) -> Recording:
    """Lay a recorder with its neighbours beside a driver, which must succeed; what was recorded."""
    with zipfile.ZipFile(fmu) as archive:
        for name in archive.namelist():
            if name.startswith(f"binaries/{platform}/"):
                (folder / Path(name).name).write_bytes(archive.read(name))
    result = run_command(command, folder, tools.environment() | {"FMU_BUILDER_CALLS": "."})
    assert result.returncode == 0, f"{platform}: {result.stdout}{result.stderr}"
    (path,) = folder.glob("*.calls")
    return Recording(path)


def without_pointers(calls: list[Call]) -> list[object]:
    return [(call.number, call.function.name, call.instance, call.status, call.inputs, call.outputs) for call in calls]


def test_a_recorder_passes_callbacks_on_with_all_arguments_on_each_platform(tools: Tools, tmp_path: Path) -> None:
    echo = load_module(HERE.parent / "fmu_builder" / "echo.py")
    names = {one: f"binaries/{one}/Echo{PLATFORMS[one].suffix}" for one in LIBRARY_SUFFIX}
    fmu = echo.echo_fmu(tmp_path, "p", files={names[one]: echo.library(one) for one in names})
    recorder = record_fmu(fmu, tmp_path / "Recorder.fmu", tmp_path).path
    found = {}
    for platform, library in names.items():
        folder = tmp_path / platform
        folder.mkdir()
        place = Path(library).name if platform == "win64" else f"./{Path(library).name}"
        original = place.replace("Echo.", "Echo.original.")
        defines = [f'-DLIBRARY="{place}"', f'-DORIGINAL="{original}"', '-DGUID="p"', f"-I{HERE}"]
        command = tools.compile_driver(platform, folder, "recorder_driver.c", defines)
        recording = run_recorder(tools, recorder, platform, command, folder)
        assert [call.function.name[4:] for call in recording.calls] == [
            "Instantiate",
            "DoStep",
            "GetReal",
            "FreeInstance",
        ]
        texts = [(message.kind, message.status, message.text) for message in recording.messages]
        found[platform] = (without_pointers(recording.calls), texts)
    assert found["linux64"][1] == [
        ("logger", 1, "-1 7 -1099511627776  0.12    2 driver 1.5 2.5 3.5 4.5 5.5 6.5 7.5 0.25 end x 9%"),
        ("stepFinished", 2, ""),
    ]
    assert found["win64"] == found["aarch64-linux"] == found["linux64"]


def test_a_recorder_leaves_the_bits_as_they_are_on_each_platform(
    fmus: BuiltMotions, tools: Tools, tmp_path: Path
) -> None:
    motion = replace(POINT_SURFACE, steps=500)
    fmu = fmus[motion.recipe]
    config = driver_config(fmu, motion)
    recorder = record_fmu(fmu, tmp_path / "Recorder.fmu", tmp_path).path
    found = []
    for platform in LIBRARY_SUFFIX:
        plain = read_trace(run_driver(tools, fmu, platform, config, tmp_path / platform), platform)
        folder = tmp_path / f"{platform}-recorder"
        folder.mkdir()
        (folder / "driver_config.h").write_text(config, encoding="utf-8")
        command = tools.compile_driver(platform, folder)
        recording = run_recorder(tools, recorder, platform, command, folder)
        assert read_trace(run_command(command, folder, tools.environment()), platform) == plain
        found.append(without_pointers(recording.calls))
    assert len(found[0]) > 5 * motion.steps
    assert found[0] == found[1] == found[2]


def test_gcc_compiles_the_recorder_without_warnings() -> None:
    """The flags of every build make warnings errors."""
    gcc = Compiler((find_tool("gcc"),), cross=False, version="gcc, as the tests call it")
    assert recorder_library(host_platform(), gcc)
