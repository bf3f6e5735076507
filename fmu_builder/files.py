"""Files of users: the size of text that is read is bounded, and a file is written whole or not at all.

A device or other special file is never replaced by a file."""

from __future__ import annotations

import csv
import io
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType

from fmu_builder.errors import InputError, Problem, ToolError, shortened

LARGEST_TEXT = 2**30  # bytes; a table of 10 million rows
_READ: ContextVar[list[Path] | None] = ContextVar("files read", default=None)
_TEXTS: ContextVar[Mapping[Path, str]] = ContextVar("texts in the place of files", default=MappingProxyType({}))


@contextmanager
def texts_as_files(texts: Mapping[Path, str]) -> Iterator[None]:
    """Inside, these texts are read under their paths, as if they were files."""
    token = _TEXTS.set({**_TEXTS.get(), **{path.absolute(): text for path, text in texts.items()}})
    try:
        yield
    finally:
        _TEXTS.reset(token)


def path_given(value: object, argument: str, others: str = "") -> Path:
    """The path that a function of the Python interface was given.

    argument   its name;   others   what it takes too: "a document, "
    Raises InputError for a value of another type."""
    if not isinstance(value, str | os.PathLike):
        raise InputError(Problem(argument, f"{shortened(value)} must be {others}a text or a Path"))
    return Path(value)


def is_file(path: Path) -> bool:
    """Whether there is a file, or a text in its place."""
    return path.absolute() in _TEXTS.get() or path.is_file()


def is_text(path: Path) -> bool:
    """Whether a text is read in the place of the file, so that no user sees its lines."""
    return path.absolute() in _TEXTS.get()


def read_bytes(path: Path) -> bytes:
    """What a file holds, or the text in its place."""
    text = _TEXTS.get().get(path.absolute())
    return path.read_bytes() if text is None else text.encode("utf-8")


@contextmanager
def recorded_reads() -> Iterator[list[Path]]:
    """The files that read_text and read_data read inside, in their order."""
    files: list[Path] = []
    token = _READ.set(files)
    try:
        yield files
    finally:
        _READ.reset(token)
        if (outer := _READ.get()) is not None:
            outer += files


def read_text(path: Path, largest: int = LARGEST_TEXT) -> str:
    """The text of a regular file in UTF-8, with or without a byte order mark.

    largest  bytes.   Raises InputError: for a device or FIFO too, which may never end."""
    if (written := _TEXTS.get().get(path.absolute())) is not None:
        if (files := _READ.get()) is not None:
            files.append(path)
        return written
    data = read_data(path, largest)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            Problem(f"{path}: line {line}", f"is not UTF-8 text: {error.reason}; save it as UTF-8")
        ) from error


def csv_separator(text: str) -> str:
    """What separates the cells of a CSV file: a semicolon if its first line has one outside quotes, as a comma may be
    part of a name, m[1,2]; else a comma.  Where the first line has neither, the second decides."""
    for line in text.split("\n", 2)[:2]:
        plain = re.sub(r'"[^"]*"', "", line)
        if ";" in plain:
            return ";"
        if "," in plain:
            return ","
    return ","


class CsvRows:
    """The rows of a CSV file.  A separator at the end of the header ends it, as one behind as many cells as it has
    ends a row: there is no column behind."""

    def __init__(self, lines: Iterable[str], separator: str) -> None:
        self._rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
        self._width = 0  # of the header

    @property
    def line_num(self) -> int:
        return self._rows.line_num

    def __iter__(self) -> CsvRows:
        return self

    def __next__(self) -> list[str]:
        row = next(self._rows)
        if len(row) > 1 and not row[-1].strip() and len(row) - 1 == (self._width or len(row) - 1):
            del row[-1]
        self._width = self._width or len(row)
        return row


def csv_reader(text: str, lines: Iterable[str] | None = None) -> CsvRows:
    """The rows of a CSV file, with the separator that it has.   lines: its text, where the place in it is needed"""
    return CsvRows(io.StringIO(text, newline="") if lines is None else lines, csv_separator(text))


def named_file(path: Path, where: str) -> Path:
    """The path; raises InputError at the entry `where` that names it if there is nothing."""
    if not path.exists() and path.absolute() not in _TEXTS.get():
        raise InputError(Problem(where, f"there is no file {path}"))
    return path


def read_data(path: Path, largest: int) -> bytes:
    """The bytes of a regular file.   largest  number of them.   Raises InputError: for a device or FIFO too."""
    try:
        if path.exists() and not path.is_file():
            what = "is a folder" if path.is_dir() else "is a device or FIFO"
            raise InputError(Problem(str(path), f"{what}; only regular files are read: copy what it gives to one"))
        with path.open("rb") as file:
            data = file.read(largest + 1)
        if (files := _READ.get()) is not None:
            files.append(path)
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be read: {error.strerror or error}")) from error
    if len(data) > largest:
        what = f"has more than {largest / 2**20:g} MiB, the most that is read of such a file"
        raise InputError(Problem(str(path), what))
    return data


_STREAMS = (Path("/dev"), Path("/proc"))  # links there, such as /dev/stdout, lead to files that are open


def is_stream(path: Path) -> bool:
    """True for a device, a FIFO or an open file, which takes bytes and cannot be replaced by a file."""
    if path.is_symlink() and any(folder in path.absolute().parents for folder in _STREAMS):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


def real_place(path: Path) -> Path:
    """The file that is replaced when `path` is written: behind links, so that they stay."""
    return Path(os.path.realpath(path))


@contextmanager
def staged(*targets: Path) -> Iterator[tuple[Path, ...]]:
    """Temporary files in the place of the targets.  At the end of the block they are moved there, all or none; after
    an exception the targets stay as they were.  Links are followed, streams are written to.

    A file that is replaced keeps its mode.   Raises OSError."""
    places = [None if is_stream(target) else real_place(target) for target in targets]
    temporary = tuple(
        Path(tempfile.gettempdir(), f"fmu-builder-{secrets.token_hex(4)}.tmp") if place is None else _beside(place)
        for place in places
    )
    try:
        yield temporary
        _move([(new, place) for new, place in zip(temporary, places, strict=True) if place is not None])
        for new, target, place in zip(temporary, targets, places, strict=True):
            if place is None:
                with new.open("rb") as source, target.open("wb") as sink:
                    shutil.copyfileobj(source, sink)
    finally:
        for new in temporary:
            new.unlink(missing_ok=True)


@contextmanager
def written(place: Path) -> Iterator[None]:
    """Inside, what the file or folder cannot take raises ToolError."""
    try:
        yield
    except OSError as error:
        raise ToolError(Problem(str(place), f"cannot be written: {error.strerror or error}")) from error


def no_place(path: Path) -> str:
    """Why no file can be made or replaced there, as far as its folder shows, in which one is tried; "" if it can."""
    parent = next(folder for folder in real_place(path).parents if folder.exists())
    what = "cannot be written to" if parent.is_dir() else "is a file, not a folder"
    if parent.is_dir() and os.access(parent, os.W_OK):  # which root has in any folder
        with suppress(OSError):
            trial = _beside(parent / "trial")
            trial.touch(exist_ok=False)
            trial.unlink()
            return ""
    return f"'{path}' cannot be written: {parent} {what}; choose another place"


def no_page(path: Path) -> str:
    """What is wrong with the name of a page of HTML; "" if nothing is."""
    return _other_ending(path, "a page of HTML", ".html", ".htm")


def no_trace(path: Path) -> str:
    """What is wrong with the name of a trace; "" if nothing is."""
    return _other_ending(path, "a trace in CSV", ".csv", ".txt")


def no_table(path: Path) -> str:
    """What is wrong with the name of the table of a study; "" if nothing is."""
    return _other_ending(path, "a table in Parquet", ".parquet")


def _other_ending(path: Path, what: str, *endings: str) -> str:
    if path.suffix.lower() in ("", *endings) or is_stream(path):
        return ""
    return f"'{path}' would be {what} under a name that says something else; end it with {endings[0]}"


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all, text as UTF-8.  Raises ToolError."""
    with written(path), staged(path) as (new,):
        if isinstance(content, bytes):
            new.write_bytes(content)
        else:
            new.write_text(content, encoding="utf-8", newline="\n")


def _beside(place: Path) -> Path:
    # not tempfile: its files are private to the user and would stay so after the move
    return place.with_name(f".{place.name}.{secrets.token_hex(4)}.tmp")


def _move(pairs: Sequence[tuple[Path, Path]]) -> None:
    """Move every file to its place; where one move fails, those before it are undone."""
    old: dict[Path, Path | None] = {}  # by place, what was there
    moved: list[Path] = []
    try:
        for number, (new, place) in enumerate(pairs, 1):
            old[place] = None
            if place.exists():
                shutil.copymode(place, new)
                if number < len(pairs):  # nothing can fail after the last
                    old[place] = copy = _beside(place)
                    shutil.copy2(place, copy)
            new.replace(place)
            moved.append(place)
    except OSError:  # for example a CSV file that a spreadsheet holds open on Windows
        for place in moved:
            if (before := old[place]) is not None:
                before.replace(place)
            else:
                place.unlink(missing_ok=True)
        raise
    finally:
        for before in old.values():
            if before is not None:
                before.unlink(missing_ok=True)
