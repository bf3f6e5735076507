"""The cache removes what was not used for the longest time, and nothing that a running process has used."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from fmu_builder.cli import guide
from fmu_builder.cli.guide import open_guide
from fmu_builder.errors import InputError
from fmu_builder.export import cache
from fmu_builder.export.cache import cache_folder, prune, size_of, used
from fmu_builder.export.fmu import host_fmu
from fmu_builder.paths import shipped

MB = 1_000_000


def entry(folder: Path, name: str, age: float, size: int = MB) -> Path:
    """An FMU of this size that was used `age` s ago."""
    path = folder / "fmus" / name
    path.mkdir(parents=True)
    (path / "Some.fmu").write_bytes(bytes(size))
    os.utime(path, (time.time() - age,) * 2)
    return path


def own_file(folder: Path) -> Path:
    (path,) = (folder / "users").glob(f"{os.getpid()}-*")
    return path


def names(folder: Path) -> set[str]:
    return {path.name for path in (folder / "fmus").iterdir()}


def test_what_was_not_used_for_the_longest_time_is_removed_first(new_cache: Path) -> None:
    for age in (400, 100, 300, 200):
        entry(new_cache, f"{age}", age)
    removed, left = prune(2.5 * MB)
    assert names(new_cache) == {"100", "200"}
    assert (removed, left) == (2 * MB, 2 * MB)
    assert prune(2.5 * MB) == (0, 2 * MB)
    assert not [*(new_cache / "discarded").iterdir()]


def test_what_takes_more_than_half_of_the_limit_goes_before_all_else(new_cache: Path) -> None:
    entry(new_cache, "small", 200)
    entry(new_cache, "large", 100, 3 * MB)
    assert prune(3.5 * MB) == (3 * MB, MB)
    assert names(new_cache) == {"small"}


def test_sources_are_entries_and_so_are_their_objects_and_what_zig_keeps(new_cache: Path) -> None:
    for name in ("sources/Floor/fmu.c", "objects/Floor/o/1/fmu.o", "zig/o/2/x.o", "tried/linux64-0", "modules/0.wasm"):
        path = new_cache / name
        path.parent.mkdir(parents=True)
        path.write_bytes(bytes(10))
        for parent in (path, *path.parents[: -len(new_cache.parents) - 1]):
            os.utime(parent, (time.time() - 100,) * 2)
    (new_cache / "sources" / "Floor.lock").touch()
    assert prune(0.0)[1] == 0
    assert {path.relative_to(new_cache).as_posix() for path in new_cache.rglob("*") if path.is_file()} == {
        "sources/Floor.lock",
        "lock",
        ".fmu-builder-cache",
        f"users/{own_file(new_cache).name}",
    }


def test_a_process_begins_by_removing_what_is_too_much_and_does_not_look_again_soon(
    new_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FMU_BUILDER_CACHE_MB", "1.5")
    old, new = entry(new_cache, "old", 200), entry(new_cache, "new", 100)
    used(new)
    assert (old.exists(), new.exists()) == (False, True)
    entry(new_cache, "old", 200)
    cache._begin.cache_clear()
    used(new)
    assert old.exists()
    os.utime(new_cache / "pruned", (time.time() - cache.INTERVAL - 1.0,) * 2)
    cache._begin.cache_clear()
    entry(new_cache, "older", 300)
    used(new)
    assert "older" not in names(new_cache)


@pytest.mark.parametrize("text", ["much", "-1", "nan", "inf", ""])
def test_a_limit_that_is_none_is_refused(new_cache: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("FMU_BUILDER_CACHE_MB", text)
    for _ in range(2):
        with pytest.raises(InputError, match=f"FMU_BUILDER_CACHE_MB: '{text}' must be a number of MB, such as 500"):
            used(new_cache / "zig")
    assert {path.name for path in new_cache.iterdir()} == {".fmu-builder-cache"}


def test_nothing_is_removed_that_a_running_process_has_used(new_cache: Path) -> None:
    """Another process uses one of two old entries and waits."""
    kept, other = entry(new_cache, "used", 300), entry(new_cache, "unused", 200)
    text = "import sys, pathlib, fmu_builder.export.cache as cache; cache.used(pathlib.Path(sys.argv[1]))"
    text += "; print('used', flush=True); input()"
    process = subprocess.Popen([sys.executable, "-c", text, str(kept)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None and process.stdout.readline() == b"used\n"
        time.sleep(0.02)  # the clock of a file system has steps
        assert prune(0.0) == (MB, MB)
        assert (kept.exists(), other.exists()) == (True, False)
        process.kill()  # its file in users/ stays behind
    finally:
        process.communicate()
    (user,) = set((new_cache / "users").iterdir()) - {own_file(new_cache)}
    os.utime(user, (time.time() - 60.0,) * 2)
    assert prune(0.0) == (MB, 0)
    assert not user.exists() and own_file(new_cache).exists()


def test_what_a_process_that_has_just_begun_uses_stays(new_cache: Path) -> None:
    """Its first use may have the time of its beginning, to a step of the file system's clock."""
    kept = entry(new_cache, "used", 300)
    used(kept)
    assert prune(0.0) == (0, MB)
    assert kept.exists() and own_file(new_cache).exists()


def test_a_process_that_begins_while_another_prunes_keeps_what_it_uses(
    new_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It began before it used the entry, and both before the look at the folder ended."""
    kept = entry(new_cache, "used", 50)
    entries = cache._entries

    def begin_meanwhile(folder: Path) -> list[tuple[float, int, Path]]:
        found = [*entries(folder)]
        os.utime(own_file(folder), (time.time() - 100,) * 2)
        return found

    monkeypatch.setattr(cache, "_entries", begin_meanwhile)
    assert prune(0.0) == (0, MB)
    assert kept.exists()


def test_a_process_waits_for_the_lock_of_its_file(new_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process has found the new file, and holds its lock for a moment."""
    open_file = os.open
    holding: list[subprocess.Popen[bytes]] = []
    text = "import sys, time; from fmu_builder.export.cache import locked; file = open(sys.argv[1], 'a')"
    text += "; assert locked(file.fileno()); print('held', flush=True); time.sleep(0.3)"

    def held(path: Path, *arguments: int) -> int:
        file = open_file(path, *arguments)
        if Path(path).parent.name == "users":
            holding.append(subprocess.Popen([sys.executable, "-c", text, str(path)], stdout=subprocess.PIPE))
            assert holding[0].stdout is not None and holding[0].stdout.readline() == b"held\n"
        return file

    monkeypatch.setattr(cache.os, "open", held)
    used(new_cache / "zig")
    monkeypatch.undo()
    holding[0].communicate()
    with own_file(new_cache).open("a") as again:
        assert cache.locked(again.fileno()) is False


@pytest.mark.parametrize(("age", "removed"), [(3600.0, 0), (2 * 24 * 3600.0, MB)])
def test_where_files_cannot_be_locked_a_process_counts_for_a_day(
    new_cache: Path, monkeypatch: pytest.MonkeyPatch, age: float, removed: int
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(cache.sys, "platform", "linux")
    monkeypatch.setitem(sys.modules, "fcntl", SimpleNamespace(flock=no_locks, LOCK_EX=2, LOCK_NB=4))
    entry(new_cache, "entry", 1800.0)
    stale = new_cache / "users" / "1-0123"
    stale.parent.mkdir()
    stale.touch()
    os.utime(stale, (time.time() - age,) * 2)
    assert prune(0.0)[0] == removed
    assert stale.exists() == (removed == 0)


def test_the_process_of_another_user_counts_though_its_file_cannot_be_opened(
    new_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = entry(new_cache, "used", 50)
    other = new_cache / "users" / "1-0123"
    other.parent.mkdir()
    other.touch()
    os.utime(other, (time.time() - 100.0,) * 2)
    held = cache._held

    def refused(lock: Path, wait: bool = False) -> AbstractContextManager[bool | None]:
        if lock == other:
            raise PermissionError(errno.EACCES, "Permission denied")
        return held(lock, wait)

    monkeypatch.setattr(cache, "_held", refused)
    assert prune(0.0) == (0, MB)
    assert kept.exists() and other.exists()


def test_the_file_of_a_process_that_ended_is_closed_before_it_is_removed(
    new_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows removes no file that is open."""
    stale = new_cache / "users" / "1-0123"
    stale.parent.mkdir()
    stale.touch()
    os.utime(stale, (time.time() - 60.0,) * 2)
    held, inside = cache._held, [0]

    @contextmanager
    def counted(lock: Path, wait: bool = False) -> Iterator[bool | None]:
        with held(lock, wait) as result:
            inside[0] += lock == stale
            yield result
        inside[0] -= lock == stale

    unlink = Path.unlink

    def closed_only(path: Path, *arguments: bool) -> None:
        if path == stale and inside[0]:
            raise PermissionError(errno.EACCES, "The process cannot access the file")
        unlink(path, *arguments)

    monkeypatch.setattr(cache, "_held", counted)
    monkeypatch.setattr(Path, "unlink", closed_only)
    prune(0.0)
    assert not stale.exists()


def test_a_room_that_vanishes_while_it_is_listed_is_left_out(new_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry(new_cache, "old", 100)
    (new_cache / "tried").mkdir()
    listed = Path.iterdir

    def vanishing(path: Path) -> Iterator[Path]:
        if path.name == "tried":
            raise FileNotFoundError(path)
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", vanishing)
    assert prune(0.0) == (MB, 0)


# --- folders of other programs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fmus/mine/work.fmu", "letters/one.txt", "notes.txt"])
def test_nothing_of_others_is_removed_from_the_folder_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Not even in a folder of the same name as one of ours: a sub-folder is the cache then."""
    home = tmp_path / "home"
    mine = home / name
    mine.parent.mkdir(parents=True)
    mine.write_bytes(bytes(10))
    for path in (mine, *mine.parents[: -len(home.parents)]):
        os.utime(path, (0.0, 0.0))
    monkeypatch.setenv("FMU_BUILDER_CACHE", str(home))
    cache_folder.cache_clear()
    try:
        old = entry(cache_folder(), "old", 100)
        assert cache_folder() == home / "fmu-builder"
        assert prune(0.0) == (MB, 0)
        assert mine.read_bytes() == bytes(10) and not old.exists()
        (home / "fmu-builder" / ".fmu-builder-cache").unlink()
        (home / "fmu-builder" / "my.txt").touch()
        cache_folder.cache_clear()
        with pytest.raises(InputError, match="fmu-builder holds files of other programs; name a folder"):
            cache_folder()
    finally:
        cache_folder.cache_clear()


@pytest.mark.parametrize("name", ["fmu-builder", "fmu-builder-work", "cache"])
def test_a_folder_that_the_environment_names_is_not_ours_for_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The recipes of a project lie in a folder fmus too."""
    recipe = entry(tmp_path / name, "Mine", 100)
    monkeypatch.setenv("FMU_BUILDER_CACHE", str(tmp_path / name))
    cache_folder.cache_clear()
    try:
        assert cache_folder() == tmp_path / name / "fmu-builder"
        assert prune(0.0) == (0, 0) and recipe.exists()
    finally:
        cache_folder.cache_clear()


def test_what_is_in_the_cache_but_in_none_of_its_rooms_stays(new_cache: Path) -> None:
    for name in ("letters/one.txt", "notes.txt"):
        (new_cache / name).parent.mkdir(exist_ok=True)
        (new_cache / name).touch()
        os.utime(new_cache / name, (0.0, 0.0))
    assert prune(0.0) == (0, 0)
    assert (new_cache / "letters" / "one.txt").exists() and (new_cache / "notes.txt").exists()


def test_a_default_cache_without_the_marker_is_used_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FMU_BUILDER_CACHE", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("fmus", "zig", "users", "discarded-1"):
        (tmp_path / "fmu-builder" / name).mkdir(parents=True)
    try:
        for others in ((), ("mine",)):
            cache_folder.cache_clear()
            for name in others:
                (tmp_path / "fmu-builder" / ".fmu-builder-cache").unlink()
                (tmp_path / "fmu-builder" / name).touch()
            assert cache_folder() == tmp_path.joinpath("fmu-builder", *["fmu-builder" for _ in others])
            assert (cache_folder() / ".fmu-builder-cache").is_file()
    finally:
        cache_folder.cache_clear()


def test_a_host_fmu_that_this_process_was_given_stays(new_cache: Path) -> None:
    fmu = host_fmu(shipped("fmus") / "PointMass.toml")
    old = time.time() - 1000.0
    for path in (new_cache / "zig", *new_cache.glob("*/*")):
        if path.parent.name != "users":
            os.utime(path, (old, old))
    assert host_fmu(shipped("fmus") / "PointMass.toml") == fmu
    removed, left = prune(0.0)
    assert fmu.exists() and removed > 0
    assert left == size_of(fmu.parent)


def test_the_page_of_the_guide_is_an_entry_that_stays_while_its_process_runs(
    new_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guide, "show_page", lambda path: None)
    open_guide(path=False)
    page = new_cache / "guide" / "guide.html"
    time.sleep(0.02)  # the clock of a file system has steps
    assert prune(0.0) == (0, size_of(page))
    for path in (own_file(new_cache), page):
        os.utime(path, (time.time() - (100 if path == page else 0),) * 2)
    assert prune(0.0)[1] == 0 and not page.exists()


@pytest.mark.slow
def test_processes_that_use_and_prune_one_cache_at_once_build_what_they_should(new_cache: Path) -> None:
    """Each of four removes all that is old when it begins, and all want the same FMU, which is."""
    recipe = shipped("fmus") / "PointMass.toml"
    text = f"""
import os, sys
from pathlib import Path
from fmu_builder.export import cache
os.environ["FMU_BUILDER_CACHE_MB"] = "0"
from fmu_builder.export.fmu import host_fmu
cache.INTERVAL = 0.0
sys.stdout.buffer.write(host_fmu(Path({str(recipe)!r})).read_bytes())
"""
    data = host_fmu(recipe).read_bytes()
    cache._begin.cache_clear()
    for path in new_cache.glob("*/*"):
        os.utime(path, (time.time() - 1000.0,) * 2)
    command = [sys.executable, "-c", text]
    crowd = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    assert [process.communicate(timeout=300) for process in crowd] == [(data, b"")] * 4
