"""Jobs in processes: one that crashes or fails hides no other, and errors arrive whole."""

from __future__ import annotations

import os
import pickle
import time
from pathlib import Path

import pytest

from fmu_builder.errors import FmuBuilderError, InputError, Problem, SlaveError, ToolError
from fmu_builder.processes import in_processes


def double(x: int) -> int:
    if x < 0:
        os.abort()
    return 2 * x


def wait(folder: Path, name: str) -> str:
    (folder / f"{name}.begun").touch()
    try:
        time.sleep(60.0)
    finally:
        (folder / f"{name}.ended").touch()
    return name


def fail(name: str) -> str:
    time.sleep(1.0)
    raise ZeroDivisionError(name)


def run_one(folder: Path, name: str) -> str:
    if name == "failing":
        while not (folder / "long.begun").exists():
            time.sleep(0.02)
        return fail(name)
    return wait(folder, name)


def test_a_job_whose_process_crashes_hides_no_other() -> None:
    seen: list[int] = []
    jobs = {"one": (1,), "broken": (-1,), "two": (2,)}
    results = in_processes(double, jobs, seen.append, lambda name: -len(name))
    assert results == {"one": 2, "two": 4, "broken": -6}
    assert sorted(seen) == [-6, 2, 4]


def test_a_failure_ends_the_jobs_that_run_and_lets_them_clean_up(tmp_path: Path) -> None:
    jobs = {name: (tmp_path, name) for name in ("long", "failing")}
    begin = time.monotonic()
    with pytest.raises(ZeroDivisionError, match="failing"):
        in_processes(run_one, jobs, lambda result: None, lambda name: name, most=2)
    assert time.monotonic() - begin < 30.0
    assert (tmp_path / "long.ended").exists()


@pytest.mark.parametrize("kind", [InputError, ToolError, SlaveError])
def test_an_error_of_another_process_keeps_its_problems(kind: type[FmuBuilderError]) -> None:
    error = kind([Problem("Floor.toml: [start] C_F", "-1 N/m must be at least 0"), Problem("", "no place")])
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.problems, str(copy)) == (kind, error.problems, str(error))
