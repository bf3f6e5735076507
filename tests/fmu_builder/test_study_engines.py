"""Studies on processes and on a cluster: runs that kill their worker, interrupts, ends, schedulers, and memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from foreign import BODY, GAIN, foreign_fmu, without_units

import fmu_builder
from fmu_builder.cli import studying
from fmu_builder.errors import InputError, ToolError
from fmu_builder.studies import table as tables
from fmu_builder.studies.engine import ProcessPool
from fmu_builder.studies.factors import Axis
from fmu_builder.studies.plan import Grid, LatinHypercube, Random, RunPlan, Saltelli, Sobol
from fmu_builder.studies.run import study
from fmu_builder.studies.sensitivity import sobol_indices
from fmu_builder.studies.setup import prepare
from fmu_builder.studies.step import Convergence, Level, _Answer, step_study
from fmu_builder.studies.work import Batch

pytestmark = pytest.mark.slow
PACKAGE = str(Path(fmu_builder.__file__).parents[1])
BOUNCE = """system = "BouncingBall"
[factors]
restitution = { low = 0.3, high = 0.9, count = COUNT }
[responses]
last = { signal = "height" }
bounce = { event = "floor.rebound_speed[1]" }
"""

DROP = """connections = [["body.p", "floor.point"]]
[experiment]
stop = "40 ms"
step = "50 us"
[slaves]
body = { recipe = "PointMass", start = { v0 = [0, 0, -1.0], r0 = [0, 0, "1 mm"], g = [0, 0, 0] } }
floor = { recipe = "PointSurface", start = { C_F = "1e5 N/m", C_r = 1, K_fr = 0 } }
"""


def bounce(count: int) -> Path:
    Path("bounce.toml").write_text(BOUNCE.replace("COUNT", str(count)), encoding="utf-8")
    return Path("bounce.toml")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", PACKAGE)


def rows(path: Path | str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = tables.columns(Path(path)).to_pylist()
    return found


def responses(path: Path | str) -> list[tuple[object, ...]]:
    return [(row["run"], row["restitution"], row["last"], row["bounce"], row["status"]) for row in rows(path)]


def test_results_are_the_same_bits_on_any_number_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(Path("temporary").absolute()))
    monkeypatch.setenv("TMPDIR", tempfile.gettempdir())
    study(bounce(101), "one.parquet", workers=1)
    result = study(bounce(101), "two.parquet", workers=2)
    assert [*Path("temporary").iterdir()] == []
    assert result.runs == 101 and result.failed == 0
    assert responses("one.parquet") == responses("two.parquet")


def test_a_run_that_kills_its_worker_is_a_row_and_all_others_are_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(Path("temporary").absolute()))
    monkeypatch.setenv("TMPDIR", tempfile.gettempdir())
    foreign_fmu(tmp_path, "Crash", BODY, guid="b0-s")
    stiffness = [100.0 + k for k in range(40)]
    stiffness[23] = 2e6
    Path("crash.toml").write_text(
        f'system = "Crash.fmu"\n[experiment]\nstop = "20 ms"\nstep = "1 ms"\n[factors]\nk = {stiffness}\n'
        '[responses]\nr = { signal = "p.r[1]" }\n'
    )
    result = study("crash.toml", workers=2)
    assert (result.runs, result.failed) == (40, 1)
    assert [row["k"] for row in rows("crash.parquet") if row["status"] == "killed"] == [2e6]
    assert [row["run"] for row in rows("crash.parquet")] == [*range(40)]
    assert [*Path("temporary").iterdir()] == []  # also of the workers that crashed
    assert "1 run has the status 'killed', the first one 23" in result.notes[0]


def test_a_worker_that_ends_between_batches_costs_no_run() -> None:
    prepared = prepare(bounce(3))
    engine = ProcessPool(prepared.job, prepared.files, 1)
    batch = Batch(np.arange(3), prepared.plan.rows(0, 3))

    def end_the_worker() -> None:
        assert engine._pool is not None
        for process in list(engine._pool._processes.values()):
            os.kill(process.pid, signal.SIGKILL)
            process.join()
        end = time.monotonic() + 60.0
        while not engine._pool._broken:
            assert time.monotonic() < end, "the pool does not see that its worker has ended"
            time.sleep(0.01)

    try:
        engine.submit(batch)
        assert [done is not None for _, done in engine.finished(60.0)] == [True]
        end_the_worker()
        engine.submit(batch)
        assert [done is not None for _, done in engine.finished(60.0)] == [True]
        engine.submit(batch)
        end_the_worker()
        engine.submit(batch)  # lost beside the other one
        lost: list[Batch] = []
        while len(lost) < 2:
            found = engine.finished(60.0)
            assert found
            lost += [one for one, _ in found]
        engine.submit(batch)
        assert [done is not None for _, done in engine.finished(60.0)] == [True]
    finally:
        engine.close()


def test_a_script_without_a_guard_is_an_error_and_keeps_the_table() -> None:
    study(bounce(2), workers=1)
    before = Path("bounce.parquet").read_bytes()
    script = "import fmu_builder\nfmu_builder.study('bounce.toml', workers=1, again=True)\n"
    Path("script.py").write_text(script)
    ended = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 1
    assert "workers do not start; a script needs `if __name__ == '__main__':`" in ended.stderr
    assert Path("bounce.parquet").read_bytes() == before


def test_a_run_beyond_its_time_limit_is_a_row() -> None:
    text = BOUNCE.replace("{ low = 0.3, high = 0.9, count = COUNT }", "[0.5]").replace(
        "[factors]", '[factors]\nstop = ["0.1 s", "9000 s"]'
    )
    Path("long.toml").write_text(text + '[limits]\ntime = "500 ms"\n')  # nine million rows take two seconds
    result = study("long.toml", workers=1)
    found = rows("long.parquet")
    assert [row["status"] for row in found] == ["ok", "time limit"] and result.failed == 1
    assert "the time limit of the run is over at" in str(found[1]["message"]) and found[1]["last"] is None


def test_runs_of_coupled_slaves_are_those_of_run_to_the_bit() -> None:
    """Also under masters that solve for forces, with modes that change what the master tells its slaves, and after a
    run that failed."""
    Path("drop.toml").write_text(DROP)
    Path("modes.toml").write_text(
        'system = "drop.toml"\n[factors]\nalgorithm = ["jacobi", "gauss_seidel", "implicit", "adaptive"]\n'
        '"floor.coupling.mode" = ["hold", "auto"]\n"floor.C_r" = [1, 7, 0.5]\n'
        '[responses]\nz = { signal = "body.p.r[3]" }\nbounce = { event = "floor.rebound_speed[1]" }\n'
    )
    study("modes.toml", workers=1)
    found = rows("modes.parquet")
    assert [row["status"] for row in found] == ["ok", "refused", "ok"] * 8
    for row in found:
        if row["status"] == "ok":
            start = {"floor.coupling.mode": str(row["floor.coupling.mode"]), "floor.C_r": float(str(row["floor.C_r"]))}
            alone = fmu_builder.run("drop.toml", algorithm=str(row["algorithm"]), start=start)
            assert row["z"] == alone["body.p.r[3]"][-1]
            assert row["bounce"] == alone.events["floor.rebound_speed[1]"]


def command(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "fmu_builder", "study", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # jobs in the background of a script ignore the interrupt, and their children inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def wait_for_rows(path: str) -> None:
    """Until the journal holds more than at its beginning, where a study has most of its runs before it."""
    journal, end = tables.journal_of(Path(path)), time.monotonic() + 180.0
    while not journal.exists():
        assert time.monotonic() < end, "no journal within three minutes"
        time.sleep(0.02)
    size = journal.stat().st_size
    while journal.stat().st_size == size:
        assert time.monotonic() < end, "no rows within three minutes"
        time.sleep(0.02)
    time.sleep(0.05)  # the write that was seen has ended


def test_an_interrupt_keeps_all_finished_rows_and_the_study_goes_on() -> None:
    bounce(2000)  # many more than the workers have before them: a study whose last runs are under way ends as usual
    text = Path("bounce.toml").read_text()
    Path("bounce.toml").write_text(text.replace("[factors]", '[experiment]\nstop = "10 s"\n[factors]'))
    process = command("bounce.toml", "--workers", "2")
    wait_for_rows("bounce.parquet")
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "the same command goes on from there" in out and "Traceback" not in err
    kept = len(rows("bounce.parquet"))
    assert 0 < kept < 2000 and not tables.journal_of(Path("bounce.parquet")).exists()
    again = command("bounce.toml", "--workers", "2")
    wait_for_rows("bounce.parquet")
    again.kill()  # and once more, in the hardest way
    again.communicate()
    result = study("bounce.toml", workers=2)
    assert result.runs == 2000 and kept < result.repeated < 2000
    assert [row["run"] for row in rows("bounce.parquet")] == [*range(2000)]


# ---- a cluster -----------------------------------------------------------------------------------------------------


@contextmanager
def dask(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    with Path(f"{arguments[0]}.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments, "--no-dashboard"], stdout=log, stderr=log, start_new_session=True
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def scheduler() -> Iterator[str]:
    with dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", "scheduler.json"):
        end = time.monotonic() + 60.0
        while not Path("scheduler.json").exists():
            assert time.monotonic() < end, Path("scheduler.log").read_text()
            time.sleep(0.1)
        yield str(json.loads(Path("scheduler.json").read_text())["address"])


def worker(address: str) -> object:
    return dask("worker", address, "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1")


def test_a_study_runs_on_a_cluster_though_one_of_two_workers_is_killed() -> None:
    from fmu_builder.studies import cluster  # of the extra `cluster`

    study(bounce(1000), "here.parquet", workers=2)
    with scheduler() as address, worker(address) as first, worker(address) as second:  # type: ignore[attr-defined]
        process = command("bounce.toml", "--scheduler", address, "-o", "there.parquet")
        wait_for_rows("there.parquet")
        assert first.poll() is None and second.poll() is None
        os.killpg(first.pid, signal.SIGKILL)
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        assert "1000 of 1000 runs" in out and f"of {address}; dashboard http://" in err
        assert responses("there.parquet") == responses("here.parquet")

        other = replace(prepare("bounce.toml").job, versions=("0.0.1", "3.10"))
        with pytest.raises(ToolError, match=r"worker tcp:.*; install fmu-builder 0\.0\.1 on Python 3\.10 there"):
            cluster.Cluster(other, {}, address)


def test_a_batch_whose_rows_end_with_their_worker_is_done_again() -> None:
    from fmu_builder.studies import cluster

    plan = prepare(bounce(5))
    with scheduler() as address, worker(address), worker(address):  # type: ignore[attr-defined]
        with cluster.Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60.0)
        engine, end = cluster.Cluster(plan.job, plan.files, address), time.monotonic() + 60.0
        try:
            processes = engine._client.run(os.getpid)
            engine.submit(Batch(np.arange(5), plan.plan.rows(0, 5)))
            ((future, _),) = engine._left.values()
            while future.status != "finished":
                assert time.monotonic() < end
                time.sleep(0.01)
            (holder,) = engine._client.who_has([future])[str(future.key)]
            os.kill(processes[holder], signal.SIGKILL)
            while future.status == "finished":
                assert time.monotonic() < end
                time.sleep(0.001)
            found: list[tuple[Batch, object]] = []
            while not found:
                assert time.monotonic() < end
                found += engine.finished(1.0)
            assert found[0][1] is not None
        finally:
            engine.close()


def test_a_scheduler_that_does_not_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from fmu_builder.studies import cluster

    monkeypatch.setattr(cluster, "_ANSWER", 1.0)
    with pytest.raises(ToolError, match=r"--scheduler tcp://127\.0\.0\.1:9: does not answer within 1 s"):
        study(bounce(3), scheduler="tcp://127.0.0.1:9")
    with scheduler() as address, pytest.raises(ToolError, match="has no workers: start some by `dask worker ADDRESS`"):
        study(bounce(3), scheduler=address)


@pytest.mark.parametrize("address", ["here", "http://127.0.0.1:8787/status", "tcp://127.0.0.1", "127.0.0.1:87870"])
def test_what_is_no_address_of_a_scheduler_is_refused_at_once(address: str) -> None:
    with pytest.raises(InputError, match=rf"--scheduler {address}: is no address of a scheduler .*; `dask scheduler`"):
        study(bounce(3), scheduler=address)


# ---- the communication step ----------------------------------------------------------------------------------------


def test_a_held_force_converges_with_first_order_and_a_coupled_one_stands_at_once() -> None:
    Path("drop.toml").write_text(DROP)
    found = {
        (one.algorithm, one.mode): one
        for one in step_study(Path("drop.toml"), quantity="floor.rebound_speed[1]", halvings=8)
    }
    assert [*found] == [
        *((algorithm, mode) for algorithm in ("jacobi", "gauss_seidel") for mode in ("auto", "hold")),
        ("implicit", "hold"),
        ("adaptive", "hold"),
    ]
    for algorithm in ("jacobi", "gauss_seidel"):
        assert found[algorithm, "hold"].order == pytest.approx(1.0, abs=0.1)
        held, coupled = found[algorithm, "hold"].stands, found[algorithm, "auto"].stands
        assert coupled is not None and (held is None or coupled >= 8.0 * held)
    stands = found["implicit", "hold"].stands
    assert stands is not None and stands >= 4e-4
    with pytest.raises(InputError, match=r"no run has 'floor\.rebound_sped\[1\]'; did you mean"):
        step_study(Path("drop.toml"), quantity="floor.rebound_sped[1]")


def test_the_step_at_which_an_answer_has_settled_is_marked_in_a_column_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    levels = (Level(1e-3, 0.1, 0.5), Level(5e-4, 0.01, 1.0))
    found = [Convergence("jacobi", "hold", levels, None, 5e-4), Convergence("jacobi", "auto", levels, None, None)]
    monkeypatch.setattr(studying, "find_scenario", Path)
    monkeypatch.setattr(studying, "step_study", lambda *_, **__: found)
    studying.show_steps("drop.toml", None, 0.05, 2, as_json=False)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[1] == "jacobi hold 0.001 s 0.1 0.5 s"
    assert lines[2] == "jacobi hold 0.0005 s 0.01 3.32 1 s settled"
    assert lines[-1] == "jacobi auto: no step down to 0.0005 s gives an answer that has settled"


def test_outputs_without_a_unit_converge_too_and_a_system_without_outputs_is_refused(tmp_path: Path) -> None:
    foreign_fmu(
        tmp_path, "Mute", [replace(one, causality="local") if one.causality == "output" else one for one in GAIN]
    )
    with pytest.raises(InputError, match=r"Mute\.fmu: has no output that is a Real: give --quantity"):
        step_study(Path("Mute.fmu"))
    foreign_fmu(tmp_path, "Plain", without_units(BODY))
    foreign_fmu(tmp_path, "Whole", BODY)
    found = []
    for name in ("Plain", "Whole"):
        text = f'experiment = {{ stop = "640 ms", step = "1 ms" }}\nslaves = {{ body = "{name}.fmu" }}\n'
        text += '[drive]\n"body.p.f[1]" = "1[N]*sin(20*#t/1[s])"\n'
        Path("step.toml").write_text(text.replace("[N]", "") if name == "Plain" else text)
        found.append([(level.step, level.error) for level in step_study(Path("step.toml"), halvings=4)[0].levels])
    assert found[0] == found[1] and found[0][0][1] > 0.0


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ((5.0, 5.0), (0.0, 0.0), 1.0),  # an event that is no more
        ((1.0, 4.0), (1.5, 2.0), 0.125),
        ((2.0, 0.0), (3.0, 0.0), 1.0 / 3.0),  # of signals that rest
        ((0.0, 0.0), (0.0, 0.0), 0.0),
    ],
)
def test_a_change_is_relative_to_the_larger_range(
    before: tuple[float, float], after: tuple[float, float], change: float
) -> None:
    """The value at the end and the range of each run."""
    one, other = (_Answer({"x": end}, {"x": width}) for end, width in (before, after))
    assert one.change(other) == other.change(one) == pytest.approx(change)


# ---- sensitivity ---------------------------------------------------------------------------------------------------

UNIT = [Axis(name, "start", (("x", name),), "1", None, low=-np.pi, high=np.pi) for name in "abc"]
EXACT = {"first": [0.3139, 0.4424, 0.0], "total": [0.5576, 0.4424, 0.2437]}  # Ishigami & Homma (1990), a = 7, b = 0.1


def ishigami(x: np.ndarray) -> np.ndarray:
    return np.sin(x[:, 0]) + 7.0 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])


def test_sobol_indices_of_ishigamis_function_are_the_exact_ones() -> None:
    rows = Saltelli(UNIT, 4096, 1).rows(0, 4096 * 5)
    found = sobol_indices("saltelli", "abc", rows, ishigami(rows))
    assert [one.first for one in found] == pytest.approx(EXACT["first"], abs=0.02)
    assert [one.total for one in found] == pytest.approx(EXACT["total"], abs=0.02)
    rows = LatinHypercube(UNIT, 4096, 1).rows(0, 4096)
    found = sobol_indices("latin_hypercube", "abc", rows, ishigami(rows))
    assert [one.first for one in found] == pytest.approx(EXACT["first"], abs=0.05)


# ---- memory --------------------------------------------------------------------------------------------------------

AXES = [Axis(name, "start", (("x", name),), "1", None, low=0.0, high=1.0, count=100) for name in "abc"]


@pytest.mark.parametrize(
    "plan",
    [Grid(AXES), Random(AXES, 10**6, 1), LatinHypercube(AXES, 10**6, 1), Sobol(AXES, 10**6, 1)],
    ids=lambda plan: type(plan).__name__,
)
def test_a_plan_of_a_million_runs_is_never_held(plan: RunPlan) -> None:
    plan.rows(0, 1000)
    tracemalloc.start()
    try:
        count, total = 0, np.zeros(3)
        for first in range(0, 10**6, 20_000):
            found = plan.rows(first, 20_000)
            count, total = count + len(found), total + found.sum(axis=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 10**6 == plan.size
    assert total / 10**6 == pytest.approx([0.5] * 3, abs=2e-3)
    assert peak < 10e6  # bytes; the rows are 24e6
