"""The WebAssembly module of an FMU, for pages: its C for co-simulation, and host.c."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from lxml import etree

from fmu_builder.cosim.slave import SlaveDescription
from fmu_builder.errors import FmuBuilderError, InputError, Problem, ToolError
from fmu_builder.export import toolchain
from fmu_builder.export.cache import cache_folder, made_once, used
from fmu_builder.export.generate import write_sources
from fmu_builder.export.resources import fault_of, named_files
from fmu_builder.export.toolchain import INSTALL_HINT, Compiler, compile_folder, compile_module, find_compiler

EXPORTS = (
    "fmi2SetupExperiment",
    "fmi2EnterInitializationMode",
    "fmi2ExitInitializationMode",
    "fmi2SetReal",
    "fmi2SetInteger",
    "fmi2SetBoolean",
    "fmi2SetString",
    "fmi2GetReal",
    "fmi2GetInteger",
    "fmi2GetBoolean",
    "fmi2DoStep",
)
"""The functions of FMI 2.0 that a page calls."""
_HOST = Path(__file__).parent / "host.c"
_SOURCES, _RESOURCES = "sources/", "resources/"
_BUILD = "sources/buildDescription.xml"


def wasm_module(slave: SlaveDescription) -> bytes:
    """The module of an FMU that fmu-builder has made, from the cache if it was compiled before.

    Raises InputError for an FMU of another tool, or with physics in Python, and ToolError without a compiler that
    reaches WebAssembly."""
    where = slave.model_name
    with zipfile.ZipFile(slave.path) as archive:
        names = archive.namelist()
        if reason := _no_module(slave, names):
            raise InputError(Problem(where, f"cannot run in a page: {reason}"))
        wanted = [name for name in names if name.startswith((_SOURCES, _RESOURCES)) and not name.endswith("/")]
        files = {name: archive.read(name) for name in wanted}
    return _module(where, files).read_bytes()


def prepare_module(name: str, files: Mapping[str, bytes]) -> None:
    """Compile the module of an FMU that is being built of these files, so that `wasm_module` finds it in the cache.
    Nothing where there is none, or where it fails: what asks for it says why."""
    if _BUILD in files:
        with suppress(FmuBuilderError):
            _module(name, files)


def _module(where: str, files: Mapping[str, bytes]) -> Path:
    """In the cache, compiled if it was not there.   files: of the FMU, those of sources and resources at least"""
    sources = {name.removeprefix(_SOURCES): data for name, data in files.items() if name.startswith(_SOURCES)}
    sources |= _data(where, files, sources)
    compiler = find_compiler()
    if compiler is None or not compiler.cross:
        have = f"{compiler.version} builds for this machine only" if compiler else "no compiler was found"
        raise ToolError(Problem(where, f"pages need its WebAssembly module, and {have}; {INSTALL_HINT}"))
    kept = used(cache_folder() / "modules" / f"{_content(sources, compiler)}.wasm")

    def make(module: Path) -> None:
        files = [*_compiled(sources[PurePosixPath(_BUILD).name]), str(_HOST)]
        with compile_folder(
            f"page-{hashlib.sha256(where.encode()).hexdigest()[:16]}"
        ) as folder:  # any text can be a name
            write_sources(sources, folder)
            compile_module(folder, files, module, EXPORTS, compiler)

    return made_once(kept, make)


def _data(where: str, files: Mapping[str, bytes], sources: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of resources that the sources name: a page has no files, so they become part of the module.

    Raises InputError for those that are missing or others."""
    found, problems = {}, []
    for source in (content for name, content in sources.items() if name.endswith("constants.c")):
        for name in named_files(source.decode("utf-8", "replace")):
            is_there = f"{_RESOURCES}{name}" in files
            found[name] = files.get(f"{_RESOURCES}{name}", b"")
            if fault := fault_of(name, found[name]) if is_there else "is missing":
                problems.append(Problem(where, f"{_RESOURCES}{name} {fault}: copy the FMU again, or build it again"))
    if problems:
        raise InputError(problems)
    return found


def _no_module(slave: SlaveDescription, names: Collection[str]) -> str:
    """Why an FMU has none, or ""."""
    if not slave.ours:
        return "it was not made by fmu-builder, and pages take the C sources of those that were"
    if any(name.endswith("element.py") for name in names if name.startswith("extra/")) or _BUILD not in names:
        return "physics in it is Python, and pages need elements in C"
    if f"{_SOURCES}fmu3.c" in names:
        return "it is for FMI 3.0, and pages take FMUs for FMI 2.0: build it without --fmi 3"
    return ""


def _compiled(build: bytes) -> list[str]:
    """The files that an importer compiles, as buildDescription.xml names them."""
    return [name for one in etree.fromstring(build).iter("SourceFile") if (name := one.get("name")) is not None]


def _content(sources: dict[str, bytes], compiler: Compiler) -> str:
    """A name that changes with the sources, host.c, the compiler and its flags."""
    digest = hashlib.sha256(repr((compiler.command, compiler.version, EXPORTS)).encode())
    beside = {path.name: path.read_bytes() for path in (_HOST, Path(toolchain.__file__), Path(__file__))}
    for name, data in sorted({**sources, **{f"../{name}": data for name, data in beside.items()}}.items()):
        digest.update(f"\0{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()[:32]
