"""FMUs that record their calls: the FMU with the recorder's library in the place of each of its own.

    binaries/<platform>/NAME.so            the recorder (recorder.c)
    binaries/<platform>/NAME.original.so   the FMU's library
    binaries/<platform>/NAME.recorder      where recordings go, and modelDescription.xml for those who read them

All other files stay as they are."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fmu_builder.check.document import Fmu
from fmu_builder.errors import InputError, Problem, ToolError
from fmu_builder.export.toolchain import INSTALL_HINT, PLATFORMS, Compiler, find_compiler, host_platform
from fmu_builder.export.xml_files import DESCRIPTION
from fmu_builder.files import staged, written
from fmu_builder.recording.library import recorder_library

_CONFIGURATION = ".recorder"
_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class RecordingFmu:
    """An FMU that records its calls.

    folder     where its recordings go, unless the variable FMU_BUILDER_CALLS names another folder at run time
    platforms  on which it records      notes  on those where it does not"""

    path: Path
    folder: Path
    platforms: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Library:
    """A library of the FMU: its archive name without the ending, and that."""

    platform: str
    stem: str
    suffix: str


def record_fmu(fmu: Path | str, output: Path | str | None = None, into: Path | str | None = None) -> RecordingFmu:
    """Make an FMU of any tool record its calls.

    output  by default NAME-recorder.fmu in the current folder
    into    the folder for recordings, by default the current one; it is made if it is not there
    Raises InputError or ToolError; then nothing was written."""
    path = Path(fmu)
    target = Path(f"{path.stem}-recorder.fmu") if output is None else Path(output)
    folder = (Path.cwd() if into is None else Path(into)).absolute()
    source = Fmu(path)
    refuse_recorder(source)
    if target.suffix != ".fmu":
        raise InputError(Problem(str(target), "is no name of an FMU; it ends with .fmu"))
    if target.exists() and target.samefile(path):
        raise InputError(Problem(str(target), "is the FMU itself; name another file by -o"))
    if "\n" in str(folder):
        raise InputError(Problem(repr(str(folder)), "has a line break in its name; name another folder by --into"))
    compiler = find_compiler()
    libraries, notes = _recordable(source, compiler)
    assert compiler is not None
    platforms = tuple(dict.fromkeys(one.platform for one in libraries))
    with _made(folder):
        with ThreadPoolExecutor() as pool:
            made = pool.map(lambda one: recorder_library(one, compiler), platforms)
            recorders = dict(zip(platforms, made, strict=True))
        configuration = f"{folder}\n".encode() + zlib.compress(source.read(DESCRIPTION), 9)
        with written(target), _new_folders(target.parent), staged(target) as (new,):
            _write(path, new, libraries, recorders, configuration)
    return RecordingFmu(target, folder, platforms, notes)


def is_recorder(fmu: Fmu) -> bool:
    return any(re.fullmatch(rf"binaries/[^/]+/[^/]+\{_CONFIGURATION}", name) for name in fmu.names)


def refuse_recorder(fmu: Fmu) -> None:
    """Raises InputError for an FMU that records its calls."""
    if is_recorder(fmu):
        raise InputError(Problem(str(fmu.path), "records its calls already; give the FMU that it was made from"))


def _recordable(fmu: Fmu, compiler: Compiler | None) -> tuple[list[_Library], tuple[str, ...]]:
    """The libraries that can be replaced, and why others are not.  Raises InputError without any."""
    folders = sorted({name.split("/")[1] for name in fmu.names if re.match(r"binaries/[^/]+/.", name)})
    if not folders:
        what = "holds no binaries; compile its sources first, for example by `python -m fmpy compile`"
        raise InputError(Problem(str(fmu.path), what))
    if compiler is None:
        raise ToolError(f"there is no C compiler for the recorder: {INSTALL_HINT}")
    found, without, unreached = [], [], []
    for folder in folders:
        suffix = PLATFORMS[folder].suffix if folder in PLATFORMS else ""
        stems = [f"binaries/{folder}/{one}" for one in fmu.identifiers]
        libraries = [_Library(folder, stem, suffix) for stem in stems if f"{stem}{suffix}" in fmu.names]
        if not suffix or not libraries:
            without.append(folder)
        elif not compiler.cross and folder != host_platform():
            unreached.append(folder)
        else:
            found += libraries
    notes = [f"not recorded on {', '.join(without)}: there is no recorder for it"] if without else []
    if unreached:
        what = f"{compiler.version} builds for this machine only"
        notes.append(f"not recorded on {', '.join(unreached)}: {what}; {INSTALL_HINT}")
    if not found:
        what = f"holds no library <modelIdentifier> for {', '.join(PLATFORMS)}, but folders {', '.join(folders)}"
        raise InputError(Problem(str(fmu.path), f"{what}: export it for one of these"))
    taken = [f"{one.stem}.original{one.suffix}" for one in found if f"{one.stem}.original{one.suffix}" in fmu.names]
    if taken:
        raise InputError(Problem(str(fmu.path), f"holds {taken[0]}, a name that its recorder needs: rename that file"))
    return found, tuple(notes)


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """The folder, writable.  Raises InputError."""
    try:
        with _new_folders(folder):
            with tempfile.TemporaryFile(dir=folder):
                pass
            yield
    except OSError as error:
        what = f"recordings cannot be written there: {error.strerror or error}; name another folder by --into"
        raise InputError(Problem(str(folder), what)) from error


@contextmanager
def _new_folders(folder: Path) -> Iterator[None]:
    """The folder; those that are made here are removed again after an exception."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for one in missing:
            if one.is_dir() and not any(one.iterdir()):
                one.rmdir()
        raise


def _write(
    source: Path, target: Path, libraries: Sequence[_Library], recorders: dict[str, bytes], configuration: bytes
) -> None:
    renamed = {f"{one.stem}{one.suffix}": f"{one.stem}.original{one.suffix}" for one in libraries}
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            copy = zipfile.ZipInfo(renamed.get(entry.filename, entry.filename), entry.date_time)
            copy.compress_type, copy.external_attr = entry.compress_type, entry.external_attr
            copy.create_system, copy.file_size = entry.create_system, entry.file_size
            with old.open(entry) as read, new.open(copy, "w") as written:
                shutil.copyfileobj(read, written)
        for one in libraries:
            for name, data in (
                (f"{one.stem}{one.suffix}", recorders[one.platform]),
                (f"{one.stem}{_CONFIGURATION}", configuration),
            ):
                entry = zipfile.ZipInfo(name, _DATE)
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                new.writestr(entry, data)
