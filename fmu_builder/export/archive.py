"""FMUs as archives: what is refused before anything is unpacked, and unpacking."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from fmu_builder.errors import InputError, Problem, ToolError
from fmu_builder.model.file_kinds import file_kind
from fmu_builder.paths import catalogue

# An FMU comes from anywhere.  The largest that are known, with tables or a runtime in resources/, stay far below these.
MOST_FILES = 50_000
MOST_BYTES = 2 * 2**30  # of all files when unpacked
MOST_RATIO = 200  # of unpacked to packed bytes: text with much repetition reaches 100, zeros 1,000
_SMALL = 16 * 2**20  # bytes that are unpacked whatever the ratio


@dataclass
class Room:
    """How many files and bytes may still be unpacked, of archives inside one another."""

    files: int = field(default_factory=lambda: MOST_FILES)
    bytes: int = field(default_factory=lambda: MOST_BYTES)


def check_archive(path: Path) -> frozenset[str]:
    """The file names of an FMU: of a whole zip archive of bounded size whose files stay inside the folder they are
    unpacked to.

    Raises InputError with every problem found."""
    return check_zip(path, "FMU", "modelDescription.xml")


def check_zip(path: Path, kind: str, needed: str, room: Room | None = None) -> frozenset[str]:
    """As check_archive, of an archive of this kind, which holds the file `needed`.

    room   of which the archive takes its part, if it is sound"""
    room = room or Room()
    if not path.is_file() or path.suffix == ".toml":
        raise InputError(Problem(str(path), _no_archive(path, kind)))
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            size = _check_size(path, archive, room)
            damaged = archive.testzip()
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError) as error:
        what = f"is no complete {kind} (a zip archive): {error}; copy it again"
        raise InputError(Problem(str(path), what)) from error
    except (RuntimeError, NotImplementedError) as error:  # encrypted, or an unknown compression
        raise InputError(Problem(str(path), f"cannot be unpacked: {error}")) from error
    problems = []
    if damaged:
        problems.append(Problem(str(path), f"is damaged: the checksum of {damaged} is wrong; copy it again"))
    for name in names:
        if name.startswith(("/", "\\")) or ":" in name or ".." in re.split(r"[/\\]", name):
            problems.append(
                Problem(str(path), f"holds '{name}', which would be written outside its folder; the {kind} is refused")
            )
        elif "\\" in name:
            what = f"holds '{name}'; names in an {kind} have forward slashes: pack it again"
            problems.append(Problem(str(path), what))
    if needed not in names:
        problems.append(Problem(str(path), f"holds no {needed}, so it is no {kind}"))
    if problems:
        raise InputError(problems)
    room.files, room.bytes = room.files - len(names), room.bytes - size
    return frozenset(names)


def platform_folders(names: Iterable[str]) -> list[str]:
    """Of binaries/ in an FMU, sorted."""
    return sorted({name.split("/")[1] for name in names if name.startswith("binaries/") and name.count("/") > 1})


def _no_archive(path: Path, kind: str) -> str:
    """What is wrong with a path that is no file, or a recipe or scenario."""
    if path.is_file():
        found = ""
        with suppress(InputError):
            found = file_kind(path)
        one = f": it is a scenario, of which `build --assembly {path}` makes an FMU" if found == "slaves" else ""
        one = one or f": build it first, by `build {path}`"
        return f"is a text in TOML, and no {kind}" + (one if kind == "FMU" else "")
    if path.exists():
        return "is no file"
    if kind == "FMU" and path.parent == Path() and path.stem in {recipe.stem for recipe in catalogue()}:
        return f"there is no such file; `build {path.stem} --platform host` makes {path.stem}.fmu"
    return "there is no such file"


def _check_size(path: Path, archive: zipfile.ZipFile, room: Room) -> int:
    """The bytes that an archive unpacks to.  Refuses archives that would fill disk or memory.  The sizes an archive
    declares bound what is unpacked of it: reading stops there, and a longer file fails its checksum."""
    files = archive.infolist()
    total, packed = sum(one.file_size for one in files), path.stat().st_size
    problems = []
    if len(files) > room.files:
        around = f" with the {MOST_FILES - room.files} of the archives around it" if room.files < MOST_FILES else ""
        problems.append(Problem(str(path), f"holds {len(files)} files{around}; at most {MOST_FILES} are unpacked"))
    if total > room.bytes:
        beside = MOST_BYTES - room.bytes
        around = f", those around it to {beside / 2**20:.0f} MiB" if beside else ""
        what = f"unpacks to {total / 2**20:.0f} MiB{around}; at most {MOST_BYTES / 2**20:.0f} MiB are unpacked"
        problems.append(Problem(str(path), f"{what}: keep large data outside of it"))
    if total > max(_SMALL, MOST_RATIO * packed):
        what = f"unpacks to {total / packed:.0f} times its size, {total / 2**20:.0f} MiB"
        problems.append(Problem(str(path), f"{what}; at most {MOST_RATIO} times are unpacked"))
    if problems:
        raise InputError(problems)
    return total


TMPDIR = "TMPDIR names the folder for temporary files"


def unpack(path: Path, folder: Path, wanted: Sequence[str], hint: str = TMPDIR) -> None:
    """The files of a checked archive whose names begin with one of `wanted`, into the folder.

    hint   how to choose another folder.   Raises ToolError."""
    try:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if name.startswith(tuple(wanted))])
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        what = f"cannot be unpacked into {folder}: {reason}; {hint}"
        raise ToolError(Problem(str(path), what)) from error


def unpack_to_call(path: Path, folder: Path, library: str) -> None:
    """What calls of an FMU need of it.   library  its archive name   Raises ToolError."""
    unpack(path, folder, ("modelDescription.xml", "resources/", f"{library.rpartition('/')[0]}/"))
