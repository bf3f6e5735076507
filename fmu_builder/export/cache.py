"""The cache folder: files that were compiled, checked and built, which may be removed when no process uses them.

    sources/NAME  objects/NAME       of the FMU NAME, and what zig compiled of them
    zig                              zig's own libraries, and what is compiled elsewhere
    fmus/ host/ modules/ prototypes/ checks/ tried/      by a hash of all that goes into them
    guide/                           the page of the guide
    ssp/                             what SSP archives hold, by a hash of the archive
    discarded/                       what is being deleted
    users/                           a locked file for each process that uses the folder, of the time when it began to
    .fmu-builder-cache               the marker: all of the above was made by fmu-builder

An entry is a file or folder in one of these but users/, or zig; its time is that of its last use.  A process that
begins to use the cache removes the entries that were not used for the longest time, until 500 MB are left.  Entries
that were used since the oldest of the running processes began stay: that process may need them.

The marker is written to an empty folder.  In another folder without it a sub-folder is used, so that no file of other
programs is overwritten or removed.
"""

from __future__ import annotations

import errno
import functools
import math
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fmu_builder.errors import InputError, Problem, ToolError

LIMIT = 500.0  # MB, unless FMU_BUILDER_CACHE_MB gives another
INTERVAL = 600.0  # s between two looks at the whole folder, which take some 0.1 s
_BLOCK = 4096  # bytes that a small file takes
_BEGINNING = 10.0  # s; a file in users/ that is younger may not be locked yet
_UNKNOWN = 24 * 3600.0  # s for which a file in users/ that cannot be locked counts as a running process
_MARKER = ".fmu-builder-cache"
_WASTE = "discarded"
_ROOMS = ("sources", "objects", "fmus", "host", "modules", "prototypes", "checks", "tried", "guide", "ssp", _WASTE)
_USERS = "users"
_STAMP = "pruned"  # of the time when a process looked at the whole folder
_LOCK = "lock"  # held for the moment of an entry's use, and while one is taken away


@functools.cache
def cache_folder() -> Path:
    """A writable folder with the marker: FMU_BUILDER_CACHE, or without it the user's or a temporary one; or its
    sub-folder fmu-builder.   Raises InputError for an FMU_BUILDER_CACHE that cannot be used, ToolError without any."""
    if given := os.environ.get("FMU_BUILDER_CACHE"):
        return _named_folder(Path(given))
    places = []
    user_caches = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    if user_caches:
        places.append(Path(user_caches) / "fmu-builder")
    else:
        with suppress(RuntimeError):  # a container's user may have no home
            places.append(Path.home() / ".cache" / "fmu-builder")
    user = str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    shared = Path(tempfile.gettempdir()) / f"fmu-builder-{user}"
    places = [folder for one in places for folder in (one, one / "fmu-builder")]
    for folder in (*places, shared):
        if not _obstacle(folder, default=True, shared=folder is shared):
            return folder.absolute()  # compilers run in other folders
    tried = ", ".join(map(str, (*places, shared)))
    raise ToolError(f"no writable cache folder: tried {tried}; set FMU_BUILDER_CACHE to one")


def _named_folder(given: Path) -> Path:
    """The folder, or its sub-folder where it holds files of other programs.   Raises InputError."""
    for folder in (given, given / "fmu-builder"):
        what = _obstacle(folder, default=False, shared=False)
        if not what:
            return folder.absolute()  # compilers run in other folders
        if what != _OTHERS:
            break
    repair = "name a folder that can be written to, or remove the variable"
    raise InputError(Problem("FMU_BUILDER_CACHE", f"'{given}' cannot be the cache folder: {folder} {what}; {repair}"))


def limit() -> float:
    """What is kept, MB.  Raises InputError."""
    text = os.environ.get("FMU_BUILDER_CACHE_MB", str(LIMIT))
    with suppress(ValueError):
        if 0.0 <= float(text) < math.inf:
            return float(text)
    raise InputError(Problem("FMU_BUILDER_CACHE_MB", f"'{text}' must be a number of MB, such as {LIMIT:g}"))


_OTHERS = "holds files of other programs"


def _obstacle(folder: Path, default: bool, shared: bool) -> str:
    """Why the folder cannot be used; "" if it can be written to, and then it exists, with the marker."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if shared and not _is_own(folder):
            return "is of another user"
        if not _is_ours(folder, default):
            return _OTHERS
        (folder / _MARKER).touch()
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except FileExistsError:
        return "is a file"
    except OSError as error:
        return f"cannot be made or written to: {error.strerror or error}"


def _is_ours(folder: Path, default: bool) -> bool:
    """True for an empty folder, one with the marker, and a default one without it that holds names of the cache
    only."""
    others = set(os.listdir(folder))  # noqa: PTH208
    if default:
        own = {*_ROOMS, _USERS, _STAMP, _LOCK, "zig"}
        others = {name for name in others - own if not name.startswith("discarded-")}
    return not others or (folder / _MARKER).is_file()  # checked last: another process may have written it meanwhile


def _is_own(folder: Path) -> bool:
    """False for a folder of another user, who could choose what this process loads."""
    return not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()


# --- use --------------------------------------------------------------------------------------------------------------


def used(entry: Path) -> Path:
    """The entry, which is not removed until this process ends.  Check only afterwards whether it exists."""
    with suppress(OSError):
        _begin(cache_folder(), os.getpid())
        with _held(cache_folder() / _LOCK, wait=True):
            os.utime(entry)
    return entry


def made_once(target: Path, make: Callable[[Path], None]) -> Path:
    """The file, which `make` writes to the path that it is given, in a folder of its own, unless the file is there.

    target   in an entry of the cache.   Raises ToolError if it cannot be written."""
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix="build-") as folder:
            made = Path(folder) / target.name
            make(made)
            move_whole(made, target)
    return target


def move_whole(new: Path, target: Path) -> None:
    """Put the whole file in its place, where another process may have put the same one."""
    try:
        new.replace(target)
    except PermissionError:  # Windows keeps a loaded library in place: another process was faster
        if not target.is_file():
            raise ToolError(f"{target} cannot be written: permission denied") from None


@functools.cache
def _begin(folder: Path, process: int) -> None:
    """Register this process as a user until it ends, and prune the cache."""
    kept = 1e6 * limit()
    _register(folder, process)
    stamp = folder / _STAMP
    if not stamp.exists() or not 0.0 <= time.time() - stamp.stat().st_mtime < INTERVAL:
        stamp.touch()
        prune(kept)


@functools.cache
def _register(folder: Path, process: int) -> int:
    """An open file that registers this process as a user: it is locked until the process ends."""
    (folder / _USERS).mkdir(exist_ok=True)
    file = os.open(folder / _USERS / f"{process}-{secrets.token_hex(4)}", os.O_CREAT | os.O_RDWR, 0o600)
    locked(file, wait=True)  # another process may look at it for a moment
    return file


@contextmanager
def _held(lock: Path, wait: bool = False) -> Iterator[bool | None]:
    """Whether the lock is held inside; None as in `locked`."""
    with lock.open("a") as file:  # which keeps its time
        yield locked(file.fileno(), wait)


_TAKEN = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)  # the lock is another's, by system


def locked(file: int, wait: bool = False) -> bool | None:
    """Lock the open file until it is closed; False if another has locked it, None where files cannot be locked."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        return False if error.errno in _TAKEN else None
    return True


# --- removal ----------------------------------------------------------------------------------------------------------


def prune(kept: float) -> tuple[int, int]:
    """Remove what was not used for the longest time until `kept` bytes are left, and nothing that a process which runs
    has used.  An entry larger than half of `kept` is removed first: zig, which every build uses.

    Returns the bytes that were removed, and those that are left.  Raises ToolError without a cache folder."""
    folder = cache_folder()
    with suppress(OSError):  # a full disk
        _register(folder, os.getpid())
    oldest = min((time.time(), *_running(folder)))
    entries = sorted(_entries(folder), key=lambda entry: (entry[1] <= 0.5 * kept, entry[0]))
    total = sum(size for _, size, _ in entries)
    removed = 0
    for _, size, path in entries:
        if total - removed <= kept:
            break
        if _remove_entry(path, oldest):
            removed += size
    return removed, total - removed


def _running(folder: Path) -> Iterator[float]:
    """When each process began that uses the cache and still runs."""
    for path in (folder / _USERS).glob("*"):
        with suppress(OSError):
            began = path.stat().st_mtime
            if time.time() - began > _longest(path):
                path.unlink()  # closed: Windows removes no open file
            else:
                yield began


def _longest(user: Path) -> float:
    """How long a file in users/ may stand for a running process, s."""
    try:
        with _held(user) as ended:
            return {True: _BEGINNING, False: math.inf, None: _UNKNOWN}[ended]
    except PermissionError:  # of another user
        return _UNKNOWN


def _entries(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """Time of last use, bytes, and path."""
    paths = [folder / "zig"]
    for room in _ROOMS:
        with suppress(OSError):  # there is none, or no longer
            paths += [path for path in (folder / room).iterdir() if path.suffix != ".lock"]
    for path in paths:
        with suppress(FileNotFoundError):
            yield path.stat().st_mtime, size_of(path), path


def size_of(path: Path) -> int:
    """Bytes of a file, or of the files in a folder, each at least one block.  Files that another process removes
    meanwhile are left out."""
    if not path.is_dir():
        return max(path.stat().st_size, _BLOCK)
    total = 0
    for parent, _, names in os.walk(path):
        for name in names:
            with suppress(FileNotFoundError):
                total += max(os.stat(os.path.join(parent, name)).st_size, _BLOCK)  # noqa: PTH116, PTH118
    return total


def _remove_entry(path: Path, oldest: float) -> bool:
    """Remove the entry, unless it was used at `oldest` or since, or since a process began that runs by now.  It is
    moved away at once, then deleted."""
    folder = cache_folder()
    with _waste() as waste, suppress(OSError), _held(folder / _LOCK, wait=True) as held:
        if held is not False and path.stat().st_mtime < min((oldest, *_running(folder))):
            path.rename(waste / path.name)
            return True
    return False


def discard(path: Path) -> None:
    """Remove a damaged entry, used or not; its user tries again without it."""
    with _waste() as waste, suppress(OSError):  # another process was faster
        path.rename(waste / path.name)


@contextmanager
def _waste() -> Iterator[Path]:
    """A folder of the cache that is deleted with all that is moved to it."""
    room = cache_folder() / _WASTE
    room.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=room, ignore_cleanup_errors=True) as folder:
        yield Path(folder)
