"""Compiling the C of an FMU for every platform: `python -m ziglang cc`, else the system compiler for this machine.

Everything is self-contained C (`-nostdlib`): a binary needs no C library of any version on its target.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import platform as _platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import fmpy

from fmu_builder.errors import InputError, Problem, ToolError, did_you_mean
from fmu_builder.export import compilers
from fmu_builder.export.binaries import merge_universal
from fmu_builder.export.cache import cache_folder, discard, locked, used
from fmu_builder.export.objects import included, kept_object
from fmu_builder.paths import shipped
from fmu_builder.processes import end_if_asked


@dataclass(frozen=True)
class Platform:
    """One folder of `binaries/`: library suffix and the compiler targets that go into it, by machine."""

    name: str
    suffix: str
    targets: Mapping[str, str]


_MAC_X86 = {"x86_64": "x86_64-macos.11.0"}
_MAC_ARM = {"aarch64": "aarch64-macos.11.0"}
PLATFORMS = {
    p.name: p
    for p in (
        Platform("linux64", ".so", {"x86_64": "x86_64-linux-gnu.2.17"}),
        Platform("win64", ".dll", {"x86_64": "x86_64-windows-gnu"}),
        Platform("darwin64", ".dylib", _MAC_X86 | _MAC_ARM),  # universal: several importers look here on any Mac
        Platform("aarch64-linux", ".so", {"aarch64": "aarch64-linux-gnu.2.17"}),
        Platform("aarch64-darwin", ".dylib", _MAC_ARM),
    )
}

# The folders of `binaries/` in FMI 3.0, for the platforms above.
TUPLES = {
    "linux64": "x86_64-linux",
    "win64": "x86_64-windows",
    "darwin64": "x86_64-darwin",
    "aarch64-linux": "aarch64-linux",
    "aarch64-darwin": "aarch64-darwin",
}
FOLDERS = PLATFORMS | {
    TUPLES[name]: Platform(TUPLES[name], p.suffix, _MAC_X86 if name == "darwin64" else p.targets)
    for name, p in PLATFORMS.items()
}

# What an importer compiles of the FMU of an element; everything else is included by them.
SOURCE_FILES = ("fmu.c", "element_real.c", "element_dual.c", "model_tables.c")
FMI3_SOURCE = "fmu3.c"  # in the place of the first one
_WARNINGS = ("-Wall", "-Wextra", "-Werror")
# The language of the physics: no fused multiply-add and no library functions, so that all platforms give the same bits;
# complex products without the NaN repair that the dual numbers of real.h never need.
_LANGUAGE = (
    "-std=c11",
    "-O2",
    "-ffp-contract=off",
    "-fno-fast-math",
    "-fno-math-errno",
    "-fcx-limited-range",
    "-U__FP_FAST_FMA",
)
# zig makes debug information unless switched off, which takes it a sixth of its time.
_POSITION_INDEPENDENT = ("-fPIC", "-fvisibility=hidden", "-g0")
_LIBRARY = (*_POSITION_INDEPENDENT, "-shared")
# Some distributions' gcc protects stacks and calls libgcc for atomics unless switched off: both need a C library.
FREESTANDING = ("-ffreestanding", "-nostdlib", "-fno-stack-protector")
_NO_LIBGCC_ATOMICS = ("-mno-outline-atomics",)
# macOS code keeps its frame pointers, so debuggers need no tables; without them the code takes a page of 16 KiB less.
_NO_UNWIND_TABLES = ("-fno-unwind-tables", "-fno-asynchronous-unwind-tables")
# The linker leaves 4 KiB for load commands that may be added.  With 64 bytes, which a signature needs, many
# libraries take a page less.
_LITTLE_SPARE_ROOM = ("-Wl,-headerpad,40",)  # hexadecimal
# Pairing scalars into vectors takes 60 % of the time of compiling dual numbers for ARM and makes them no faster.
# Unrolled loops make a library 10 % larger, and no faster either.
SMALL_AND_FAST_TO_COMPILE = ("-fno-slp-vectorize", "-fno-unroll-loops")
# What zig would compile once for each platform and level of optimization, in 4 s of a processor: arithmetic that the
# language of the physics has no use for.
_NO_RUNTIME = ("-rtlib=none",)
_SYSTEM_OF_WINDOWS = ("-lkernel32",)  # fmi3/memory.h and base/mapped_file.h of contact_core import of it
_FAULT_IN_SOURCE = re.compile(r"\.[ch]:\d+:\d+: (fatal )?error")
INSTALL_HINT = "install the compiler with `python -m pip install ziglang` (no Windows wheel? `ziglang<0.17`)"


@dataclass(frozen=True)
class Compiler:
    """`command` starts it; `cross` is true if it reaches all platforms."""

    command: tuple[str, ...]
    cross: bool
    version: str


def _machine() -> str:
    """The processor of this machine, as compilers name it."""
    machine = _platform.machine()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(machine.lower(), machine.lower())


def host_platform() -> str:
    """The platform name of this machine.  Raises ToolError on an unsupported one."""
    machine = _machine()
    names = {
        ("linux", "x86_64"): "linux64",
        ("linux", "aarch64"): "aarch64-linux",
        ("win32", "x86_64"): "win64",
        ("darwin", "x86_64"): "darwin64",
        ("darwin", "aarch64"): "aarch64-darwin",
    }
    try:
        return names[sys.platform, machine]
    except KeyError:
        raise ToolError(f"this machine ({sys.platform}, {machine}) is none of {', '.join(names.values())}") from None


def resolve_platforms(names: Sequence[str]) -> tuple[str, ...]:
    """Platform names from the command line: `host`, `all` and the tuples of FMI 3.0 are replaced, doubles dropped.

    Raises InputError."""
    of_tuples = {tuple_: name for name, tuple_ in TUPLES.items()}
    names = [of_tuples.get(name, name) for name in names]
    known = [*PLATFORMS, "host", "all"]
    unknown = [Problem("--platform", f"'{n}' is unknown" + did_you_mean(n, known)) for n in names if n not in known]
    if unknown:
        raise InputError(unknown)
    found: list[str] = []
    for name in names:
        found += PLATFORMS if name == "all" else [host_platform() if name == "host" else name]
    return tuple(dict.fromkeys(found))


@functools.cache
def find_compiler() -> Compiler | None:
    """ziglang if it is installed and starts, else gcc or clang for this machine, else None."""
    zig = _zig()
    version = _version((zig, "version")) if zig else ""
    if version:
        return Compiler((zig, "cc"), cross=True, version=f"ziglang {version}")
    for name in ("gcc", "clang", "cc"):
        if shutil.which(name):
            version = _version((name, "--version"))
            if version:
                return Compiler((name,), cross=False, version=version.splitlines()[0])
    return None


def _zig() -> str:
    """The program of the package ziglang, "" without one.  `python -m ziglang` starts the same one after a Python,
    which costs 20 ms of each of the compilations of a build."""
    found = importlib.util.find_spec("ziglang")
    folders = (found.submodule_search_locations or ()) if found is not None else ()
    name = "zig.exe" if sys.platform == "win32" else "zig"
    return next((str(Path(folder) / name) for folder in folders if (Path(folder) / name).is_file()), "")


def _version(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def fmi_headers() -> Path:
    """The folder of the headers of FMI 2.0 and 3.0, which the fmpy wheel ships."""
    return Path(fmpy.__file__).parent / "c-code"


@functools.cache
def fmi2_functions() -> frozenset[str]:
    """The names of all functions of FMI 2.0, as the standard's header declares them."""
    return _exported("fmi2Functions.h")


@functools.cache
def fmi3_functions() -> frozenset[str]:
    """The same of FMI 3.0."""
    return _exported("fmi3Functions.h")


def _exported(header: str) -> frozenset[str]:
    text = (fmi_headers() / header).read_text(encoding="utf-8")
    return frozenset(re.findall(r"FMI[23]_Export\s+fmi[23]\w+TYPE\s+(fmi[23]\w+)\s*;", text))


@functools.cache
def exported_functions() -> frozenset[str]:
    """What an FMU for FMI 2.0 exports: these, and two of the core (contact_core/fmi2/fmi2_sensitivities.h)."""
    return fmi2_functions() | {"fmuBuilderFollowStarts", "fmuBuilderGetSensitivities"}


@contextmanager
def compile_folder(name: str) -> Iterator[Path]:
    """A folder for the sources of the FMU `name`: the same one for every build of it, because the compiler's cache
    identifies files by their path.  Files of the build before may lie in it.  While another build of this name is in
    it, a temporary one."""
    folder = cache_folder() / "sources" / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{name}.lock").open("w") as lock:
        if locked(lock.fileno()):
            used(folder).mkdir(exist_ok=True)
            yield folder
            return
    with tempfile.TemporaryDirectory(prefix="fmu-builder-") as temporary:
        yield Path(temporary)


def compile_fmu(
    sources: Path,
    name: str,
    platforms: Sequence[str],
    compiler: Compiler,
    extra: Sequence[str] = (),
    files: Sequence[str] = SOURCE_FILES,
) -> dict[str, bytes]:
    """Compile `files` of the sources folder of an FMU; returns the library of each platform.

    platforms   names of PLATFORMS, or tuples of FMI 3.0
    `compiler` must be able to reach the platforms.  Raises ToolError with the compiler's own messages."""
    end_if_asked()
    targets = {t: FOLDERS[p].suffix for p in platforms for t in FOLDERS[p].targets.values()}
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        jobs = {
            target: pool.submit(_compile_target, sources, name, target, suffix, compiler, extra, files)
            for target, suffix in targets.items()
        }
        try:
            done = {target: job.result() for target, job in jobs.items()}
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            compilers.end_all()
            raise
        finally:
            pool.shutdown()
            compilers.begin()
    libraries = {}
    for platform in platforms:
        slices = {machine: done[target] for machine, target in FOLDERS[platform].targets.items()}
        libraries[platform] = merge_universal(slices) if len(slices) > 1 else next(iter(slices.values()))
    return libraries


def _compile_target(
    sources: Path, name: str, target: str, suffix: str, compiler: Compiler, extra: Sequence[str], files: Sequence[str]
) -> bytes:
    with tempfile.TemporaryDirectory(prefix="fmu-builder-") as folder:
        library = Path(folder) / f"{name}{suffix}"  # its name is part of the bytes on Windows and macOS
        linked: tuple[str, ...] = ("-shared", "-s")
        if "linux" in target:
            linked += ("-Wl,-z,defs",)
        if "macos" in target:
            linked += (f"-Wl,-install_name,@rpath/{library.name}", *_LITTLE_SPARE_ROOM)
        libraries = _SYSTEM_OF_WINDOWS if "windows" in target else ()
        flags = [*_fmu_flags(target, compiler), *extra, _ANY_MODEL, "-I.", "-isystem", str(fmi_headers())]

        def link(objects: Sequence[Path]) -> None:
            rest = [*(name for name in files if not _KEPT.fullmatch(name)), *map(str, objects)]
            run_compiler(compiler, [*flags, *linked, *rest, *libraries, "-o", str(library)], sources)

        objects = _objects_apart(sources, files, compiler, flags, Path(folder))
        try:
            link(objects)
        except ToolError as error:
            if _FAULT_IN_SOURCE.search(str(error)) or compilers.are_ended():
                raise
            for damaged in objects:
                discard(damaged)  # a crash of the machine may have damaged it
            link(_objects_apart(sources, files, compiler, flags, Path(folder)))
        return library.read_bytes()


# Files whose objects stay in the cache: the FMI layer with the solver, elements, parts.  They depend on the structure
# of a model, and neither on its name nor on its start values, so recipes that differ in these share them; the tables,
# which do, are compiled with the link, and so are large constants.
_KEPT = re.compile(r"fmu3?\.c|\w+_(real|dual)\.c")
_ANY_MODEL = "-DCC_MODEL=fmu"  # contact_core/naming.h
_OF_ONE_MODEL = "model_name.h"  # which that leaves out

# The layer is most of what has to be compiled.  The second level of optimization, vectors, and copies of functions that
# are not declared inline take four tenths more time for it and make no step faster: what a step goes through is
# declared inline.  The element keeps the second level: at the first it compiles in six tenths of the time, and steps
# take up to 2.6 times as long.  With -O0 nothing is optimized: the layer then takes a quarter of the time.
_OF_LAYER = ("-Xclang", "-O1", "-finline-hint-functions", "-fno-vectorize")


def _objects_apart(
    sources: Path, files: Sequence[str], compiler: Compiler, flags: Sequence[str], folder: Path
) -> list[Path]:
    """The objects of these files and of freestanding.c, from the cache, or compiled side by side."""

    def compile_one(source: Path, read: Mapping[str, bytes]) -> Path:
        is_layer = source.name in (SOURCE_FILES[0], FMI3_SOURCE)
        given = [*flags, *(_OF_LAYER if is_layer and compiler.cross and "-O0" not in flags else ())]

        def make(made: Path) -> None:
            run_compiler(compiler, [*given, "-c", str(source), "-o", str(made)], sources, folder / "zig")

        return kept_object(source.stem, (compiler.command, compiler.version, given), {**headers, **read}, folder, make)

    memory = _base() / "freestanding.c"
    headers = {path.name: path.read_bytes() for path in (_base() / "freestanding_include").iterdir()}
    jobs = [(memory, {memory.name: memory.read_bytes()})]
    for name in filter(_KEPT.fullmatch, files):
        read = included(sources, name)
        read.pop(_OF_ONE_MODEL, None)
        jobs.append((Path(name), read))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [*pool.map(compile_one, *zip(*jobs, strict=True))]


def _fmu_flags(target: str, compiler: Compiler) -> list[str]:
    """How the C of an FMU is compiled for a target."""
    options: tuple[str, ...] = _NO_UNWIND_TABLES if "macos" in target else ()
    if compiler.cross:
        options += SMALL_AND_FAST_TO_COMPILE
    elif "aarch64" in target:
        options += _NO_LIBGCC_ATOMICS
    return [
        *(("-target", target, "-fno-sanitize=undefined") if compiler.cross else ()),
        *_LANGUAGE,
        *_WARNINGS,
        *_POSITION_INDEPENDENT,
        *FREESTANDING,
        *options,
        "-isystem",
        str(_base() / "freestanding_include"),
    ]


_WASM = (
    *("-target", "wasm32-freestanding", "-fno-sanitize=undefined", *_LANGUAGE, "-Oz"),  # bytes count more than time
    *("-Wall", "-Wextra", "-Wno-pass-failed"),  # loops that are not unrolled, to keep it small
    *("-fvisibility=hidden", "-g0", *FREESTANDING, "-Wl,--no-entry", "-Wl,--strip-all"),
)


def compile_module(
    folder: Path, files: Sequence[str], module: Path, exports: Sequence[str], compiler: Compiler
) -> None:
    """Compile the sources of an FMU in the folder to a WebAssembly module that exports these functions, and those that
    a source names itself.  Raises ToolError; `compiler` must reach other platforms."""
    beside = ("-isystem", str(_base() / "freestanding_include"), "-I.", "-isystem", str(fmi_headers()))
    exported = [f"-Wl,--export={name}" for name in exports]
    memory = str(_base() / "freestanding.c")
    run_compiler(compiler, [*_WASM, *beside, *files, memory, *exported, "-o", str(module)], folder)


def compile_unoptimized(folder: Path, library: Path, compiler: Compiler, files: Sequence[str]) -> None:
    """Compile a shared library of the sources in the folder, and of objects, for this machine, without a C library, in
    the shortest time, for a few calls."""
    # the compilation of the FMU shows warnings
    run_compiler(compiler, [*_alone(compiler), *_LIBRARY, "-O0", "-w", "-I.", *files, "-o", str(library)], folder)


def compile_object(source: Path, target: Path, compiler: Compiler) -> None:
    """Compile one source for libraries of `compile_unoptimized`."""
    flags = [*_alone(compiler), *_POSITION_INDEPENDENT, *_WARNINGS, "-O0"]
    run_compiler(compiler, [*flags, "-c", str(source), "-o", str(target)])


def _alone(compiler: Compiler) -> list[str]:
    """Flags for binaries of this machine without a C library."""
    target = PLATFORMS[host_platform()].targets[_machine()]
    return [
        *(("-target", target, "-fno-sanitize=undefined") if compiler.cross else ()),
        *_LANGUAGE,
        *FREESTANDING,
        *(_NO_LIBGCC_ATOMICS if "aarch64" in target and not compiler.cross else ()),
        "-isystem",
        str(_base() / "freestanding_include"),
    ]


def _base() -> Path:
    return shipped("contact_core") / "base"


def compile_hosted(
    sources: Sequence[Path],
    library: Path,
    include: Sequence[Path],
    compiler: Compiler,
    extra: Sequence[str],
    platform: str | None = None,
) -> None:
    """Compile a shared library with the language of the physics, for this machine or another platform that the compiler
    reaches: the host library, prototypes, tests."""
    target = next(iter(PLATFORMS[platform or host_platform()].targets.values()))
    run_compiler(
        compiler,
        [
            *(("-target", target, "-fno-sanitize=undefined", *_NO_RUNTIME) if compiler.cross else ()),
            *_LANGUAGE,
            *_WARNINGS,
            *_LIBRARY,
            *(part for folder in include for part in ("-I", str(folder))),
            *extra,
            *map(str, sources),
            "-o",
            str(library),
        ],
    )


def run_compiler(
    compiler: Compiler, arguments: Sequence[str], folder: Path | None = None, objects: Path | None = None
) -> str:
    """Run the compiler, in `folder` if given, with its caches in ours; returns its output.

    objects   where it keeps what it compiles, if not in our cache
    Raises ToolError with its last lines."""
    cache = used(cache_folder() / "zig")
    objects = objects if objects is not None else used(_objects(folder))
    done = _run(compiler, arguments, folder, cache, objects)
    stopped = done.returncode == -compilers.KILL
    if done.returncode != 0 and not stopped and compiler.cross and not _FAULT_IN_SOURCE.search(done.stderr):
        # A damaged or contested cache must not stop a build; one that did is not used again.
        with tempfile.TemporaryDirectory(prefix="fmu-builder-zig-") as fresh:
            done = _run(compiler, arguments, folder, Path(fresh), Path(fresh))
        if done.returncode == 0:
            discard(objects)
            discard(cache)
    if done.returncode == 0:
        return done.stdout
    lines = done.stderr.strip().splitlines()
    raise ToolError(
        f"the compiler failed (exit {done.returncode}): {' '.join(compiler.command)} ...\n" + "\n".join(lines[-30:])
    )


def _objects(folder: Path | None) -> Path:
    """Where zig keeps what it compiles: apart for each folder of compile_folder, to be removed like that."""
    cache = cache_folder()
    return cache / "objects" / folder.name if folder and folder.parent == cache / "sources" else cache / "zig"


def _run(
    compiler: Compiler, arguments: Sequence[str], folder: Path | None, cache: Path, objects: Path
) -> subprocess.CompletedProcess[str]:
    caches = {"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(objects)}
    return compilers.run_process([*compiler.command, *arguments], folder, caches)
