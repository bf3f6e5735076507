"""Studies: runs a second, what a second worker adds, the part that the study itself takes, and memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from fmu_builder.studies import table as tables
from fmu_builder.studies.run import Progress, study
from fmu_builder.studies.setup import prepare
from fmu_builder.studies.work import Batch, Worker

pytestmark = pytest.mark.benchmark
RUNS, OF_A_RATE, WARM = 10_000, 3_000, 20  # of the memory, of a rate, and before the first one
BOUNCE = """system = "BouncingBall"
[factors]
restitution = { low = 0.3, high = 0.9, count = COUNT }
[responses]
last = { signal = "height" }
bounce = { event = "floor.rebound_speed[1]" }
"""
EFFICIENCY = 0.8  # of two workers, at least, as a share of that of two processes that have nothing in common
AIM, RATE_AIM = 0.9, 1400.0  # of the efficiency, and runs/s of two workers; a run is 2,000 steps of 1 ms
OVERHEAD = 0.2  # of the study, of the time of its runs
FIRST = 3.0  # s until the first row


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def bounce(runs: int) -> Path:
    Path("bounce.toml").write_text(BOUNCE.replace("COUNT", str(runs)), encoding="utf-8")
    return Path("bounce.toml")


def measured(workers: int) -> tuple[float, float]:
    """Runs a second once all workers run, and s until the first row."""
    seen: list[tuple[float, int]] = []
    begin = time.perf_counter()

    def note(one: Progress) -> None:
        seen.append((time.perf_counter() - begin, one.done))

    study(bounce(OF_A_RATE), "rate.parquet", workers=workers, again=True, progress=note)
    first = next(at for at, done in seen if done)
    running = [(at, done) for at, done in seen if done > 0.1 * OF_A_RATE]
    (t0, n0), (t1, n1) = running[0], running[-1]
    return (n1 - n0) / (t1 - t0), first


COUNTING = """import sys, time
sys.stdin.readline()
end, count = time.perf_counter() + float(sys.argv[1]), 0
while time.perf_counter() < end:
    count += 1
print(count)
"""


def counted(processes: int, seconds: float = 1.0) -> int:
    """What so many processes that only count reach together."""
    pipes: dict[str, int] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    command = [sys.executable, "-I", "-S", "-c", COUNTING, str(seconds)]
    with ExitStack() as ends:
        begun = [ends.enter_context(subprocess.Popen(command, text=True, **pipes)) for _ in range(processes)]
        time.sleep(0.2)  # until they wait for the line
        for process in begun:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        return sum(int(process.communicate()[0]) for process in begun)


def test_a_second_worker_nearly_doubles_the_runs() -> None:
    assert (os.cpu_count() or 1) >= 2
    study(bounce(WARM), workers=2)  # compiles what is missing
    one, two, firsts, alone, beside = [], [], [], [], []
    for _ in range(3):  # interleaved: what else the machine does meets all of them
        alone.append(counted(1))
        one.append(measured(1)[0])
        rate, first = measured(2)
        two.append(rate)
        firsts.append(first)
        beside.append(counted(2))
    efficiency = statistics.median(two) / (2.0 * statistics.median(one))
    possible = min(1.0, statistics.median(beside) / (2.0 * statistics.median(alone)))
    rates = f"{statistics.median(one):.0f} and {statistics.median(two):.0f} runs/s"
    aims = f"(aims: {RATE_AIM:.0f} runs/s, {AIM}), of {possible:.2f} that are possible"
    print(f"{rates}, efficiency {efficiency:.2f} {aims}, first row after {min(firsts):.2f} s")
    assert efficiency >= EFFICIENCY * possible
    assert min(firsts) < FIRST


def test_a_study_takes_little_beside_its_runs_and_no_memory() -> None:
    prepared = prepare(bounce(RUNS))
    worker = Worker(prepared.job, prepared.files)
    schema = tables.schema_of(prepared.job, prepared.about)
    shares, sizes = [], []
    with tables.Journal(Path("own.parquet"), schema) as journal:
        journal.begin()
        for first in range(0, RUNS, 500):
            begin = time.perf_counter()
            batch = Batch(np.arange(first, first + 500), prepared.plan.rows(first, 500))
            done = worker.run(batch)
            journal.add(tables.rows_of(prepared.job, schema, 1, batch, done))
            shares.append((time.perf_counter() - begin) / float(done.seconds.sum()) - 1.0)
            sizes.append(_resident())
        journal.finish()
    print(f"the study takes {statistics.median(shares):.3f} of the time of its runs")
    print(f"memory {sizes[4] / 1e6:.1f} MB after 2,500 runs, {sizes[-1] / 1e6:.1f} MB after {RUNS}")
    assert statistics.median(shares) < OVERHEAD
    assert sizes[-1] - sizes[4] < 4e6  # bytes


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
