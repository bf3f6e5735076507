"""The cache removes what was not used for the longest time, and nothing that a running process has used."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fmu_builder.errors import InputError
from fmu_builder.export import cache
from fmu_builder.export.cache import cache_folder, prune, size_of, used
from fmu_builder.export.fmu import host_fmu
from fmu_builder.paths import shipped

MB = 1_000_000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, which this process has not begun to use."""
    monkeypatch.setenv("FMU_BUILDER_CACHE", str(tmp_path / "cache"))
    cache_folder.cache_clear()
    yield cache_folder()
    cache_folder.cache_clear()


def entry(folder: Path, name: str, age: float, size: int = MB) -> Path:
    """An FMU of this size that was used `age` s ago."""
    path = folder / "fmus" / name
    path.mkdir(parents=True)
    (path / "Some.fmu").write_bytes(bytes(size))
    os.utime(path, (time.time() - age,) * 2)
    return path


def names(folder: Path) -> set[str]:
    return {path.name for path in (folder / "fmus").iterdir()}


def test_what_was_not_used_for_the_longest_time_is_removed_first(folder: Path) -> None:
    for age in (400, 100, 300, 200):
        entry(folder, f"{age}", age)
    removed, left = prune(2.5 * MB)
    assert names(folder) == {"100", "200"}
    assert (removed, left) == (2 * MB, 2 * MB)
    assert prune(2.5 * MB) == (0, 2 * MB)
    assert not [*folder.glob("discarded-*")]


def test_what_takes_more_than_half_of_the_limit_goes_before_all_else(folder: Path) -> None:
    entry(folder, "small", 200)
    entry(folder, "large", 100, 3 * MB)
    assert prune(3.5 * MB) == (3 * MB, MB)
    assert names(folder) == {"small"}


def test_sources_are_entries_and_so_are_their_objects_and_what_zig_keeps(folder: Path) -> None:
    for name in ("sources/Floor/fmu.c", "objects/Floor/o/1/fmu.o", "zig/o/2/x.o", "tried/linux64-0"):
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_bytes(bytes(10))
        for parent in (path, *path.parents[: -len(folder.parents) - 1]):
            os.utime(parent, (time.time() - 100,) * 2)
    (folder / "sources" / "Floor.lock").touch()
    assert prune(0.0)[1] == 0
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == {
        "sources/Floor.lock",
        "lock",
    }


def test_a_process_begins_by_removing_what_is_too_much_and_does_not_look_again_soon(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FMU_BUILDER_CACHE_MB", "1.5")
    old, new = entry(folder, "old", 200), entry(folder, "new", 100)
    used(new)
    assert (old.exists(), new.exists()) == (False, True)
    entry(folder, "old", 200)
    cache._begin.cache_clear()
    used(new)
    assert old.exists()
    os.utime(folder / "pruned", (time.time() - cache.INTERVAL - 1.0,) * 2)
    cache._begin.cache_clear()
    entry(folder, "older", 300)
    used(new)
    assert "older" not in names(folder)


@pytest.mark.parametrize("text", ["much", "-1", "nan", "inf", ""])
def test_a_limit_that_is_none_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("FMU_BUILDER_CACHE_MB", text)
    with pytest.raises(InputError, match=f"FMU_BUILDER_CACHE_MB: '{text}' must be a number of MB, such as 500"):
        used(folder / "zig")


def test_nothing_is_removed_that_a_running_process_has_used(folder: Path) -> None:
    """Another process uses one of two old entries and waits."""
    kept, other = entry(folder, "used", 300), entry(folder, "unused", 200)
    text = "import sys, pathlib, fmu_builder.export.cache as cache; cache.used(pathlib.Path(sys.argv[1]))"
    text += "; print('used', flush=True); input()"
    process = subprocess.Popen([sys.executable, "-c", text, str(kept)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None and process.stdout.readline() == b"used\n"
        assert prune(0.0) == (MB, MB)
        assert (kept.exists(), other.exists()) == (True, False)
        process.kill()  # its file in users/ stays behind
    finally:
        process.communicate()
    (user,) = (folder / "users").iterdir()
    os.utime(user, (time.time() - 60.0,) * 2)
    time.sleep(0.01)
    assert prune(0.0) == (MB, 0)
    assert not user.exists()


def test_a_host_fmu_that_this_process_was_given_stays(folder: Path) -> None:
    fmu = host_fmu(shipped("fmus") / "PointMass.toml")
    old = time.time() - 1000.0
    for path in folder.glob("*/*"):
        if path.parent.name != "users":
            os.utime(path, (old, old))
    assert host_fmu(shipped("fmus") / "PointMass.toml") == fmu
    removed, left = prune(0.0)
    assert fmu.exists() and removed > 0
    assert left == size_of(fmu.parent)


@pytest.mark.slow
def test_processes_that_use_and_prune_one_cache_at_once_build_what_they_should(folder: Path) -> None:
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
    for path in folder.glob("*/*"):
        os.utime(path, (time.time() - 1000.0,) * 2)
    command = [sys.executable, "-c", text]
    crowd = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    assert [process.communicate(timeout=300) for process in crowd] == [(data, b"")] * 4
