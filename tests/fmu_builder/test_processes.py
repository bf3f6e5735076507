"""Jobs in processes: one that crashes or fails hides no other, and errors arrive whole."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from pathlib import Path

import pytest

from fmu_builder import processes
from fmu_builder.errors import FmuBuilderError, InputError, Problem, SlaveError, ToolError
from fmu_builder.processes import end_if_asked, in_processes, uninterrupted


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


def abort_or_note(folder: Path, name: str) -> str:
    """Notes the process that does the job; the first job aborts once the second runs beside it."""
    if name == "0":
        while not (folder / "again").exists():
            time.sleep(0.01)
        os.abort()
    with (folder / name).open("a") as file:
        file.write(f"{os.getpid()}\n")
    if name == "1" and not (folder / "again").exists():
        (folder / "again").touch()
        time.sleep(60.0)
    return name


@pytest.mark.slow
def test_after_a_crash_only_the_jobs_that_ran_are_run_alone(tmp_path: Path) -> None:
    """The eight that had not begun share the two processes of one pool."""
    names = [str(i) for i in range(10)]
    jobs = {name: (tmp_path, name) for name in names}
    results = in_processes(abort_or_note, jobs, lambda result: None, lambda name: "crashed", most=2)
    assert results == dict(zip(names, ["crashed", *names[1:]], strict=True))
    workers = {name: (tmp_path / name).read_text().split() for name in names[1:]}
    assert len(workers["1"]) == 2  # once beside the crash, once alone
    assert all(len(workers[name]) == 1 for name in names[2:])
    assert len({workers[name][0] for name in names[2:]}) <= 2


def test_processes_that_end_before_any_job_begins_give_a_result_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_begin_worker", end_at_once)
    results = in_processes(double, {"one": (1,), "two": (2,)}, lambda result: None, lambda name: -len(name), most=2)
    assert results == {"one": -3, "two": -3}


def end_at_once(*_: object) -> None:
    os._exit(1)


@pytest.mark.slow
def test_a_failure_ends_the_jobs_that_run_and_lets_them_clean_up(tmp_path: Path) -> None:
    jobs = {name: (tmp_path, name) for name in ("long", "failing")}
    begin = time.monotonic()
    with pytest.raises(ZeroDivisionError, match="failing"):
        in_processes(run_one, jobs, lambda result: None, lambda name: name, most=2)
    assert time.monotonic() - begin < 30.0
    assert (tmp_path / "long.ended").exists()


def swallow_one(folder: Path, name: str) -> str:
    """As `run_one`, with a library that catches all in the way."""
    try:
        run_one(folder, name)
    except KeyboardInterrupt:
        end_if_asked()
    (folder / f"{name}.went_on").touch()
    return name


@pytest.mark.slow
def test_a_job_whose_interrupt_was_swallowed_ends_where_it_asks(tmp_path: Path) -> None:
    jobs = {name: (tmp_path, name) for name in ("long", "failing")}
    with pytest.raises(ZeroDivisionError, match="failing"):
        in_processes(swallow_one, jobs, lambda result: None, lambda name: name, most=2)
    assert (tmp_path / "long.ended").exists() and not (tmp_path / "long.went_on").exists()


@pytest.mark.parametrize("kind", [InputError, ToolError, SlaveError])
def test_an_error_of_another_process_keeps_its_problems(kind: type[FmuBuilderError]) -> None:
    error = kind([Problem("Floor.toml: [start] C_F", "-1 N/m must be at least 0"), Problem("", "no place")])
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.problems, str(copy)) == (kind, error.problems, str(error))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot hold an interrupt back")
def test_an_interrupt_while_processes_are_started_acts_afterwards(interruptible: None) -> None:
    done = []
    with pytest.raises(KeyboardInterrupt):
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("inside")
        time.sleep(10.0)
        done.append("after")
    assert done == ["inside"]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
