"""What a study costs its scheduler and its own process, and how many workers they serve: workers that sleep."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from fmu_builder.studies.run import _BATCH, _TASK, Progress, study
from fmu_builder.studies.work import OK, Batch, Done

pytestmark = pytest.mark.benchmark
WORKERS, RUN = 100, 1.5e-4  # s of a run: ten times as many a second as of BouncingBall, so those of 1,000 cores
CLUSTER = 1000  # workers that the scheduler is to serve
SLOWER = 3.0  # times as long on a slower or a busy machine
COUNT = 1_500_000  # runs, of a plan that is never held
STUDY = f"""system = "BouncingBall"
[factors]
restitution = {{ low = 0.3, high = 0.9, count = {COUNT // 3} }}
mass = [1, 2, 3]
[responses]
last = {{ signal = "height" }}
bounce = {{ event = "floor.rebound_speed[1]" }}
"""


def processor_time(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """Of a scheduler with its sleeping workers, and its process."""
    monkeypatch.chdir(tmp_path)
    place = Path("scheduler.json")
    command = [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    with ExitStack() as ends, Path("log").open("wb") as log:

        def begin(*arguments: str, out: int | None = None) -> subprocess.Popen[bytes]:
            process = ends.enter_context(subprocess.Popen(arguments, stdout=out or log, stderr=log))
            ends.callback(process.kill)
            return process

        scheduler = begin(*command, "--scheduler-file", str(place))
        end = time.monotonic() + 60.0
        while not place.exists():
            assert time.monotonic() < end, Path("log").read_text()
            time.sleep(0.1)
        found = str(json.loads(place.read_text())["address"])
        script = str(Path(__file__).with_name("sleeping_workers.py"))
        workers = begin(sys.executable, script, found, str(WORKERS), str(RUN), out=subprocess.PIPE)
        assert workers.stdout is not None and workers.stdout.readline() == b"ready\n", Path("log").read_text()
        yield found, scheduler.pid


def test_a_scheduler_serves_a_thousand_workers(address: tuple[str, int]) -> None:
    """Batches grow with the workers, so the tasks a second stay what the scheduler can do."""
    Path("bounce.toml").write_text(STUDY, encoding="utf-8")
    seen: list[tuple[float, int, float, float]] = []

    def note(one: Progress) -> None:
        seen.append((time.perf_counter(), one.done, processor_time(address[1]), time.process_time()))

    study("bounce.toml", scheduler=address[0], progress=note)
    middle = [one for one in seen if 0.2 * COUNT < one[1] < 0.8 * COUNT]
    (t0, runs0, scheduler0, own0), (t1, runs1, scheduler1, own1) = middle[0], middle[-1]
    runs = runs1 - runs0
    batch = int(max(_BATCH, _TASK * WORKERS) / RUN)
    tasks = runs / batch
    scheduler, own = (scheduler1 - scheduler0) / tasks, (own1 - own0) / tasks
    busy = runs * RUN / (WORKERS * (t1 - t0))
    there, back = sizes(batch)
    rate = 1.0 / _TASK  # tasks a second, whatever the number of workers
    print(f"{tasks / (t1 - t0):.0f} tasks a second of {batch} runs on {WORKERS} workers, {busy:.0%} busy")
    print(f"a task: {scheduler * 1e3:.2f} ms of the scheduler, {own * 1e3:.2f} ms of the study")
    print(f"a run: {there:.0f} bytes there and {back:.0f} back")
    print(f"{CLUSTER} workers: {rate:.0f} tasks/s, scheduler {rate * scheduler:.0%}, study {rate * own:.0%} of a core")
    assert scheduler < SLOWER * _TASK  # a core is enough for the scheduler, for any number of workers
    assert own < SLOWER * _TASK  # and one for the study


def sizes(runs: int) -> tuple[float, float]:
    """Bytes of a run in a batch, on its way to a worker and back."""
    batch = Batch(np.arange(runs), np.random.default_rng(1).random((runs, 2)))
    done = Done(np.zeros((runs, 2)), [OK] * runs, [""] * runs, np.zeros(runs), [], 0.0)
    return len(pickle.dumps(batch)) / runs, len(pickle.dumps(done)) / runs
