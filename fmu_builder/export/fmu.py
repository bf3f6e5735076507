"""From a recipe to a checked .fmu file."""

from __future__ import annotations

import atexit
import functools
import hashlib
import io
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import fmpy

from fmu_builder.errors import FmuBuilderError, InputError, Problem, ToolError
from fmu_builder.export import smoke, toolchain
from fmu_builder.export.binaries import check_library
from fmu_builder.export.cache import cache_folder, used
from fmu_builder.export.compiler_messages import explained
from fmu_builder.export.conclusions import conclusions
from fmu_builder.export.declared_check import element_problems
from fmu_builder.export.description import build_description, model_description
from fmu_builder.export.description_fmi3 import model_description_fmi3
from fmu_builder.export.documentation import PROTOTYPE_NEEDS, documentation_files
from fmu_builder.export.fmi3_variables import Fmi
from fmu_builder.export.generate import fmu_data, fmu_sources, model_guid, source_files, write_sources
from fmu_builder.export.origin import build_date, origin_files
from fmu_builder.export.prototype import (
    prototype_content,
    prototype_libraries,
    prototype_platforms,
    prototype_resources,
    prototype_sources,
)
from fmu_builder.export.resources import resource_files
from fmu_builder.export.toolchain import (
    FOLDERS,
    INSTALL_HINT,
    PLATFORMS,
    TUPLES,
    Compiler,
    compile_fmu,
    compile_folder,
    exported_functions,
    find_compiler,
    fmi3_functions,
    host_platform,
    resolve_platforms,
)
from fmu_builder.export.trial import note_made, run_smoke
from fmu_builder.files import path_given, staged
from fmu_builder.model.declaration import QUOTED
from fmu_builder.model.documents import Assembly, Recipe, as_file
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import Model
from fmu_builder.paths import find_recipe, is_shipped, is_shipped_element, shipped

SMOKE_TIMEOUT = 60  # s; ten steps take milliseconds, but a busy machine needs seconds to start Python
# identifier of FMI 2.0, section 2.2.9, as names of ours are: der(identifier), or parts with indices
_NAME = rf"(?:[A-Za-z_]\w*|{QUOTED})(?:\[\d+(?:,\d+)*\])?"
_STRUCTURED = re.compile(rf"(?P<der>der\()?{_NAME}(?:\.{_NAME})*(?(der)\))", re.ASCII)
FMI3_SUFFIX = "_fmi3"  # of the file name of an FMU for FMI 3.0
_PLACEHOLDER = "{00000000-0000-0000-0000-000000000000}"


@dataclass(frozen=True)
class Built:
    """What `build` made: the file, its platforms, and notes and warnings a user should read."""

    path: Path
    model: Model
    guid: str
    platforms: tuple[str, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def build(
    recipe: Recipe | Assembly | Path | str,
    output: Path | str | None = None,
    platforms: str | Sequence[str] = ("all",),
    fmi: Fmi = 2,
) -> Path:
    """Build the FMU of a recipe for the given platforms; returns its path.

    recipe      a document, the path of a recipe, or its name in the catalogue
    output      a folder; by default the recipe's own, or the current one for a document and for the catalogue
    platforms   one or several of `all`, `host`, linux64, win64, darwin64, aarch64-linux, aarch64-darwin
    fmi         2 for FMI 2.0, 3 for FMI 3.0: <Name>.fmu, <Name>_fmi3.fmu
    Without a compiler the FMU holds its sources only.  Raises InputError or ToolError; then no file was written."""
    problems = []
    wanted = (platforms,) if isinstance(platforms, str) else tuple(platforms) if isinstance(platforms, Iterable) else ()
    if not isinstance(platforms, Iterable) or not all(isinstance(one, str) for one in wanted):
        problems.append(Problem("platforms", f"{platforms!r} must be a text or a list of texts, as 'all' or 'host'"))
    elif not wanted:
        what = "names none, so the FMU would run nowhere: name 'all', 'host' or others"
        problems.append(Problem("platforms", f"{what}; `fmu-builder build --source-only` builds the sources alone"))
    if fmi not in (2, 3):
        problems.append(Problem("fmi", f"{fmi!r} must be the number 2 or 3"))
    if problems:
        raise InputError(problems)
    try:
        with as_file(recipe, "recipe") as path:
            folder = path_given(output, "output") if output is not None else None
            return build_fmu(find_recipe(str(path)), folder, wanted, fmi).path
    except InputError as error:
        given = (replace(one, where="platforms") if one.where == "--platform" else one for one in error.problems)
        raise InputError(given) from None


Beside = Callable[[str, Mapping[str, bytes]], None]
"""Work on the name of a model and the files of its FMU, but for the binaries, that is done while they are compiled."""


def build_fmu(
    recipe: Path,
    output: Path | None = None,
    platforms: Sequence[str] = ("all",),
    fmi: Fmi = 2,
    beside: Beside | None = None,
) -> Built:
    """As `build`, with notes and warnings."""
    return build_model_fmu(load_model(recipe), output, platforms, fmi, beside)


def build_model_fmu(
    model: Model,
    output: Path | None = None,
    platforms: Sequence[str] = ("all",),
    fmi: Fmi = 2,
    beside: Beside | None = None,
) -> Built:
    """As `build_fmu`, from a model that was read before."""
    wanted = prototype_platforms(platforms) if model.is_prototype else resolve_platforms(platforms)
    folder = output if output is not None else Path.cwd() if is_shipped(model.path) else model.path.parent
    return _build_files(model, *fmu_contents(model, fmi), folder, wanted, fmi=fmi, beside=beside)


def file_name(model: Model, fmi: Fmi) -> str:
    """That of the FMU: both versions of one model may lie in one folder."""
    return fmu_name(model.name, fmi)


def fmu_name(name: str, fmi: Fmi) -> str:
    """As `file_name`, of the name of a model."""
    return f"{name}{FMI3_SUFFIX if fmi == 3 else ''}.fmu"


def _build_files(
    model: Model,
    guid: str,
    files: dict[str, bytes],
    folder: Path,
    wanted: Sequence[str],
    flags: Sequence[str] = (),
    fmi: Fmi = 2,
    beside: Beside | None = None,
) -> Built:
    compiler = find_compiler()
    reachable, notes = _reachable(wanted, compiler)
    notes = (*model.notes(), *notes)
    if model.is_prototype:
        notes = (*notes, f"a prototype in Python, which needs {PROTOTYPE_NEEDS} to run")
    target = folder / file_name(model, fmi)
    with ThreadPoolExecutor(max_workers=2) as pool:  # the elements are checked while they are compiled
        checks = None
        if reachable and compiler is not None:
            if beside is not None:
                pool.submit(beside, model.name, dict(files))
            if not all(part.is_prototype for _, part in model.elements()):
                sources = None if model.is_prototype else dict(files)
                checks = pool.submit(element_problems, model, compiler, SMOKE_TIMEOUT, sources)
            files |= _binaries(model, guid, files, reachable, compiler, flags, fmi)
        _check_and_move(pack(files), target, model, host_platform() in reachable, checks, fmi)
    return Built(target, model, guid, reachable, notes, model.warnings())


def _reachable(wanted: Sequence[str], compiler: Compiler | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which platforms this compiler can build, and a note on the others."""
    if not wanted:
        return (), ()
    if compiler is None:
        return (), (f"no compiler was found, so the FMU holds its sources only; {INSTALL_HINT}",)
    if compiler.cross:
        return tuple(wanted), ()
    host = host_platform()
    missing = [name for name in wanted if name != host]
    note = (f"{compiler.version} builds for this machine only, not built: {', '.join(missing)}; {INSTALL_HINT}",)
    return (host,) if host in wanted else (), note if missing else ()


def content_guid(model: Model) -> str:
    """GUID = hash of modelDescription.xml without GUID and of all sources, not of binaries: a saved state moves between
    platforms, and between two builds of the same recipe, and nowhere else.

    For those who compile fmu_sources by themselves: unlike fmu_contents it reads none of the recipe's files."""
    return _guid_of(model_description(model, _PLACEHOLDER), _sources(model, _PLACEHOLDER))


def _sources(model: Model, guid: str, fmi: Fmi = 2) -> dict[str, str]:
    if model.is_prototype:
        return prototype_sources(model, guid)
    return fmu_sources(model, guid, fmi)


def _guid_of(description: bytes, sources: Mapping[str, str]) -> str:
    digest = hashlib.sha256(description)
    for name, text in sorted(sources.items()):
        digest.update(f"\0{name}\0{text}".encode())
    h = digest.hexdigest()
    return f"{{{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:32]}}}"


def fmu_contents(model: Model, fmi: Fmi = 2) -> tuple[str, dict[str, bytes]]:
    """The GUID or instantiation token, and archive name -> bytes of all but the binaries.

    Raises InputError for a prototype in FMI 3.0."""
    if model.is_prototype and fmi == 3:
        what = "is an element in Python, whose runtime (pythonfmu) has FMI 2.0 only: build it with --fmi 2"
        raise InputError(Problem(str(model.path), what))
    describe = model_description_fmi3 if fmi == 3 else model_description
    description = describe(model, _PLACEHOLDER)
    sources = _sources(model, _PLACEHOLDER, fmi)
    guid = _guid_of(description, sources)
    files = {"modelDescription.xml": _stamped(description, guid), **origin_files(model)}
    files |= {f"resources/{name}": data for name, data in resource_files(model).items()}
    if model.is_prototype:
        files |= documentation_files(model)
        return guid, files | prototype_resources(_sources(model, guid), guid)
    sources["model_guid.h"] = model_guid(model, guid)
    for name, text in sources.items():
        files[f"sources/{name}"] = text.encode("utf-8")
    files |= {f"sources/{name}": data for name, data in fmu_data(model).items()}
    files["sources/buildDescription.xml"] = build_description(model, fmi)
    files |= documentation_files(model, fmi)
    return guid, files


def _stamped(description: bytes, guid: str) -> bytes:
    """modelDescription.xml with its GUID, and with a date if the environment gives one: the GUID depends on neither."""
    stamped = description.replace(_PLACEHOLDER.encode(), guid.encode(), 1)
    date = build_date()
    tool = b' generationTool="'
    return stamped.replace(tool, f' generationDateAndTime="{date}"'.encode() + tool, 1) if date else stamped


def _binaries(
    model: Model,
    guid: str,
    files: dict[str, bytes],
    platforms: Sequence[str],
    compiler: Compiler,
    flags: Sequence[str],
    fmi: Fmi,
) -> dict[str, bytes]:
    own = {name.removeprefix("sources/"): data for name, data in files.items() if name.startswith("sources/")}
    try:
        with compile_folder(model.name) as sources:
            if model.is_prototype:
                write_sources({**fmu_sources(model, guid), **fmu_data(model)}, sources)
                return prototype_libraries(model, sources, platforms, compiler)
            write_sources(own, sources)
            folders = [TUPLES[name] for name in platforms] if fmi == 3 else platforms
            libraries = compile_fmu(sources, model.name, folders, compiler, flags, source_files(model, fmi))
    except OSError as error:
        which = f"{error.filename}: " if error.filename else ""
        raise ToolError(
            f"a temporary file cannot be written: {which}{error.strerror or error}; set TMPDIR to another folder, "
            "FMU_BUILDER_CACHE for the caches"
        ) from error
    except ToolError as error:
        raise explained(error, model) from error
    binaries, problems = {}, []
    functions, allowed = (fmi3_functions(), _MEMORY_OF_FMI3) if fmi == 3 else (exported_functions(), ())
    if any(name.startswith("resources/") for name in files):
        allowed = (*allowed, *_MAPPED_FILES)
    checked_as = {TUPLES[name]: name for name in platforms if name != "darwin64"}  # which is universal in FMI 2.0 only
    for platform, library in libraries.items():
        name = f"binaries/{platform}/{model.name}{FOLDERS[platform].suffix}"
        problems += check_library(
            library,
            expected_exports=functions,
            platform=checked_as.get(platform, platform),
            where=name,
            allowed=allowed,
        )
        binaries[name] = library
    if problems:
        raise ToolError(problems)
    return binaries


# What contact_core/fmi3/memory.h may import: of Windows a DLL, of macOS functions of libSystem.
_MEMORY_OF_FMI3 = ("KERNEL32.dll", "calloc", "free")
# The same of contact_core/base/mapped_file.h.
_MAPPED_FILES = ("KERNEL32.dll", "__error", "close", "lseek", "mmap", "munmap", "open")


def _library_name(model: Model, platform: str, fmi: Fmi) -> str:
    folder = TUPLES[platform] if fmi == 3 else platform
    return f"binaries/{folder}/{model.name}{PLATFORMS[platform].suffix}"


_LARGE = 2**20  # bytes of a file that is packed


def pack(files: dict[str, bytes]) -> bytes:
    """A zip archive whose bytes depend on its contents only: sorted, no clock, no owner.

    Stored, but for large files, which one version of zlib always packs to the same bytes.  At its first level data of a
    mesh take 60 % of their size, those that it was read from a third; a million triangles take a second more to build
    and a third of one to unpack.  The sixth level takes 2.5 times as long and saves 2 % more."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in sorted(files.items(), key=lambda item: (item[0] != "modelDescription.xml", item[0])):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            if len(data) >= _LARGE:
                entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data, compresslevel=1)
    return buffer.getvalue()


def _faults(fmu: Path, model: Model) -> list[str]:
    """What fmpy finds wrong.  It takes 4 ms to parse a name, so names are checked here."""
    try:
        fmpy.read_model_description(str(fmu), validate_model_structure=True)
    except Exception as error:  # as fmpy.validation.validate_fmu does
        return [str(text) for text in getattr(error, "problems", [error])]
    names = [v.name for v in model.variables if not v.hidden]
    return [f"the variable name '{name}' is not structured" for name in names if not _STRUCTURED.fullmatch(name)]


def _check_and_move(
    data: bytes,
    target: Path,
    model: Model,
    try_out: bool,
    checks: Future[list[Problem]] | None,
    fmi: Fmi,
) -> None:
    """Write under a temporary name, validate, run, and only then move it to the target.

    checks  of the elements, whose findings explain more than a failed run"""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ToolError(
            Problem(str(target.parent), f"cannot be written to: {error.strerror}; choose another folder with -o")
        ) from error
    try:
        with staged(target) as (temporary,):
            temporary.write_bytes(data)
            problems = [Problem(target.name, text) for text in _faults(temporary, model)]
            if problems:
                raise ToolError(problems)
            try:
                if try_out:
                    library = _library_name(model, host_platform(), fmi)
                    timeout = SMOKE_TIMEOUT + len(model.variables) // 1000
                    _smoke_run(temporary, library, target.name, timeout, model)
            except FmuBuilderError:
                if checks is not None and checks.exception() is None and checks.result():
                    raise InputError(checks.result()) from None
                raise
            if checks is not None and checks.result():
                raise InputError(checks.result())
            if try_out:
                note_made(data)
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}; choose another folder with -o"
        raise ToolError(Problem(str(target), what)) from error


def _smoke_run(fmu: Path, library: str, name: str, timeout: float, model: Model) -> None:
    """Load and run the FMU in a process of its own, so that a crash stops the build and not the builder.

    Raises InputError where an element or a recipe that is not shipped is to blame, else ToolError."""
    ending = run_smoke(fmu, library, timeout, more=conclusions(model))
    if ending.code == 0 and ending.call == smoke.END:
        return
    is_own = not all(map(is_shipped_element, model.folders().values()))
    if ending.code is None:
        what = f"{ending.call} did not return within {timeout:g} s"
    elif ending.code == 0 or (ending.code == 1 and not ending.errors.strip()):
        what = f"it ended the process in {ending.call} ({ending.how})"
    elif ending.code == 1:  # Python's own ending: the FMU answered, and not as it should
        logged = [line for line in ending.output.splitlines() if line and not line.startswith(smoke.CALL)]
        what = "; ".join(logged[-3:] + ending.errors.splitlines()[-1:])
        is_own |= "Traceback" not in ending.errors and not is_shipped(model.path)  # it refuses values of its recipe
    else:
        what = f"it crashed in {ending.call} ({ending.how})"
    where = f"{model.path}: {name}" if is_own else name
    raise (InputError if is_own else ToolError)(Problem(where, f"the smoke run failed: {what}"))


def host_fmu(recipe: Path, flags: Sequence[str] = (), fmi: Fmi = 2) -> Path:
    """The FMU of a recipe for this machine, from the cache if nothing that goes into it has changed.

    flags  of the compiler, beside those of every FMU: -O0 compiles in a quarter of the time what gives the same bits
    Raises ToolError without a compiler."""
    return host_fmu_of_model(recipe, flags, fmi)[0]


def host_fmu_of_model(recipe: Path, flags: Sequence[str] = (), fmi: Fmi = 2) -> tuple[Path, Model]:
    """As `host_fmu`, with the model of the recipe."""
    compiler = find_compiler()
    if compiler is None:
        raise ToolError(Problem(str(recipe), f"no compiler was found, so its FMU cannot run; {INSTALL_HINT}"))
    model, guid, files = _read(recipe, fmi)
    (host,) = prototype_platforms(("host",)) if model.is_prototype else (host_platform(),)
    folder = used(cache_folder() / "fmus" / _content(files, compiler, host, flags))
    cached = folder / file_name(model, fmi)
    if _is_whole(cached):
        return cached, model
    try:
        return _build_files(model, guid, files, folder, (host,), flags, fmi).path, model
    except ToolError as error:
        if not isinstance(error.__cause__, OSError):
            raise
        spare = _spare_folder() / folder.name  # the cache is full
        return _build_files(model, guid, files, spare, (host,), flags, fmi).path, model


def _read(recipe: Path, fmi: Fmi) -> tuple[Model, str, dict[str, bytes]]:
    """The model of a recipe, with its fmu_contents."""
    model = load_model(recipe)
    return model, *fmu_contents(model, fmi)


@functools.cache
def _spare_folder() -> Path:
    """For the FMUs of this process that the cache cannot hold; removed when it ends."""
    folder = tempfile.TemporaryDirectory(prefix="fmu-builder-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def _content(files: Mapping[str, bytes], compiler: Compiler, platform: str, flags: Sequence[str] = ()) -> str:
    """A name that changes with everything that goes into the FMU: its files, the compiler and its flags."""
    base = shipped("contact_core") / "base"
    beside = [base / "freestanding.c", *sorted((base / "freestanding_include").iterdir()), Path(toolchain.__file__)]
    digest = hashlib.sha256(repr((platform, compiler.command, compiler.version, *flags)).encode())
    contents = {**files, **{str(i): path.read_bytes() for i, path in enumerate(beside)}}
    if any(PurePosixPath(name).name == "element.py" for name in files):  # of each part in Python
        contents["libraries"] = prototype_content()
    for name, data in sorted(contents.items()):
        digest.update(f"\0{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()[:32]


def _is_whole(fmu: Path) -> bool:
    """False for a file that is missing, or damaged by a crash of the machine that wrote it."""
    try:
        state = fmu.stat()
        return _was_whole(fmu, state.st_size, state.st_mtime_ns)
    except OSError:
        return False


@functools.lru_cache(maxsize=256)
def _was_whole(fmu: Path, size: int, changed: int) -> bool:
    """Read once in a process: many slaves may be of one file."""
    try:
        with zipfile.ZipFile(fmu) as archive:
            return archive.testzip() is None
    except zipfile.BadZipFile:
        return False
