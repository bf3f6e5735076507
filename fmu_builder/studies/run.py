"""A study from its file to its table: batches to workers, rows to the journal, whatever becomes of the runs."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.interruption import noted_interruption
from fmu_builder.errors import InputError, Problem, ToolError
from fmu_builder.files import is_stream, path_given
from fmu_builder.studies import table as tables
from fmu_builder.studies.engine import QUEUED, Engine, ProcessPool
from fmu_builder.studies.format import Study
from fmu_builder.studies.plan import RunPlan
from fmu_builder.studies.setup import Prepared, prepare
from fmu_builder.studies.work import KILLED, OK, Batch, Done, Job

_BATCH = 0.35  # s of work of a batch
_TASK = 4e-3  # s that a task costs the scheduler of a cluster, so that many workers get longer batches
_SHARE = 0.2  # of a batch, the smallest ones at the end
_TIMED = 10  # runs whose time gives the length of the first batches
_LARGEST = 20_000  # runs of a batch, whose rows are in memory
_PATIENCE = 3.0  # s for the batches that run when Ctrl-C ends the study
_SHOWN = 0.2  # s between two calls of `progress`


@dataclass(frozen=True)
class Progress:
    """How far a study is.   rate: runs/s of this session, since its first rows; left: s, None while it is unknown"""

    done: int
    total: int
    failed: int
    rate: float
    left: float | None


@dataclass(frozen=True)
class StudyResult:
    """A study that has ended.

    path      of its table, Parquet
    runs      rows that it has;   total: of the plan;   failed: rows whose status is not ok
    repeated  runs that were there before
    seconds   that this session took
    notes     remarks on the system, on the responses and on runs that failed"""

    path: Path
    runs: int
    total: int
    failed: int
    repeated: int
    seconds: float
    notes: tuple[str, ...]

    def table(self) -> Any:
        """A pyarrow.Table, one row for each run."""
        return tables.columns(self.path)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame, one row for each run.   Raises ToolError without pandas."""
        try:
            import pandas  # noqa: F401
        except ImportError as error:
            raise ToolError("to_pandas() needs pandas: pip install pandas") from error
        return self.table().to_pandas()


class StudyInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a study.   result: with all rows that were finished; the same study goes on from there"""

    def __init__(self, result: StudyResult) -> None:
        super().__init__(f"the study was interrupted after {result.runs} of {result.total} runs")
        self.result = result


def study(
    source: Study | Path | str,
    output: Path | str | None = None,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    again: bool = False,
    yes: bool = False,
    progress: Callable[[Progress], None] | None = None,
    started: Callable[[str], None] | None = None,
) -> StudyResult:
    """Run a study, or what is left of it, and write its table.

    source     a document, or the path of its file
    output     the table, by default NAME.parquet;   again: replace the one that is there
    workers    processes of this machine, by default one for each core
    scheduler  address of a scheduler of dask.distributed, whose workers do the runs instead
    yes        also a plan of more than 10^9 runs
    progress   is called some times a second;   started: with a remark on where the runs are
    Raises InputError with every problem found, ToolError where workers or the table fail, StudyInterrupted on
    Ctrl-C."""
    tables.arrow()
    if workers is not None and workers < 1:
        raise InputError(Problem("--workers", f"{workers} must be at least 1"))
    if workers is not None and scheduler is not None:
        raise InputError(Problem("--workers", "a scheduler has its own workers: remove it"))
    begin = time.monotonic()
    name = source.name or "Study" if isinstance(source, Study) else path_given(source, "source", "a Study, ").stem
    path = Path(output) if output is not None else Path(f"{name}.parquet")
    if is_stream(path):
        raise InputError(Problem("-o", f"'{path}' is a device; a table is a file"))
    tables.check_place(path)
    prepared = prepare(source, yes)
    schema = tables.schema_of(prepared.job, prepared.about)
    interrupted = False
    with tables.Journal(path, schema, again) as journal, ExitStack() as ends:
        repeated = journal.count
        if repeated < prepared.plan.size:
            engine = _engine(prepared, workers, scheduler, started or (lambda text: None))
            ends.callback(journal.finish)
            ends.callback(engine.close)
            journal.begin()
            interrupted = _run(prepared, journal, engine, progress or (lambda one: None), begin)
        elif journal.path.exists():  # the study was killed between its last row and its table
            journal.begin()
            journal.finish()
    notes = (*prepared.notes, *(_notes(path, prepared.job) if journal.count else ()))
    seconds = time.monotonic() - begin
    result = StudyResult(path, journal.count, prepared.plan.size, journal.failed, repeated, seconds, notes)
    if interrupted:
        raise StudyInterrupted(result)
    return result


def _engine(prepared: Prepared, workers: int | None, scheduler: str | None, started: Callable[[str], None]) -> Engine:
    if scheduler is not None:
        try:
            from fmu_builder.studies.cluster import Cluster
        except ImportError as error:
            raise ToolError("--scheduler needs dask.distributed: pip install 'fmu-builder[cluster]'") from error
        cluster = Cluster(prepared.job, prepared.files, scheduler)
        started(f"{cluster.workers} workers of {scheduler}; dashboard {cluster.dashboard}")
        return cluster
    return ProcessPool(prepared.job, prepared.files, workers or os.cpu_count() or 1)


def _run(
    prepared: Prepared, journal: tables.Journal, engine: Engine, progress: Callable[[Progress], None], begin: float
) -> bool:
    """All runs that have no row.   Returns whether Ctrl-C ended it."""
    session = _Session(prepared, journal, engine)
    shown = 0.0
    deadline: float | None = None
    with noted_interruption() as interruption:
        while True:
            if interruption.requested and deadline is None:
                deadline = time.monotonic() + _PATIENCE
            if deadline is None:
                session.submit()
            if not session.under_way or (deadline is not None and time.monotonic() > deadline):
                break
            session.take(0.1)
            if time.monotonic() - shown > _SHOWN:
                shown = time.monotonic()
                progress(session.progress(shown - begin))
    progress(session.progress(time.monotonic() - begin))
    return interruption.requested and journal.count < prepared.plan.size


class _Session:
    """The batches of a study: which are left, which run, which lost their worker."""

    def __init__(self, prepared: Prepared, journal: tables.Journal, engine: Engine) -> None:
        self._job, self._seed = prepared.job, prepared.study.plan.seed
        self._schema = tables.schema_of(prepared.job, prepared.about)
        self._journal, self._engine = journal, engine
        self._total, self._before = prepared.plan.size, journal.count
        self._left = _Left(prepared.plan, np.concatenate([*journal.runs, np.zeros(0, dtype=np.int64)]))
        self._suspects: deque[Batch] = deque()  # of which one may end its worker
        self._alone = False  # whether the batch that runs is a suspect and runs alone
        self._per_run: float | None = None  # s
        self._first: tuple[float, int] | None = None  # s and rows when there were the first ones: workers take a while
        self.under_way = 0

    def submit(self) -> None:
        """Fill the workers."""
        if self._engine.blames_all and (self._suspects or (self._alone and self.under_way)):
            if self.under_way == 0:
                self._alone = True
                self._send(self._suspects.popleft())
            return
        self._alone = False
        while self._suspects:
            self._send(self._suspects.popleft())
        waiting = QUEUED if self._per_run is not None else 1
        while self.under_way < waiting * self._engine.workers:
            batch = self._left.take(self._size())
            if batch is None:
                return
            self._send(batch)

    def take(self, seconds: float) -> None:
        """The rows of batches that are done, to the journal."""
        for batch, done in self._engine.finished(seconds):
            self.under_way -= 1
            if done is None:
                self._lost(batch)
                continue
            mean = done.load / len(batch)
            self._per_run = mean if self._per_run is None else 0.7 * self._per_run + 0.3 * mean
            self._keep(batch, done)

    def progress(self, seconds: float) -> Progress:
        done = self._journal.count
        if self._first is None and done > self._before:
            self._first = seconds, done
        since, before = self._first if self._first is not None and done > self._first[1] else (0.0, self._before)
        rate = (done - before) / (seconds - since) if seconds > since else 0.0
        left = (self._total - done) / rate if rate > 0.0 else None
        return Progress(done, self._total, self._journal.failed, rate, left)

    def _size(self) -> int:
        """Runs of the next batch."""
        workers = self._engine.workers
        if self._per_run is None:
            return max(_TIMED // workers, 1)
        whole = max(_BATCH, _TASK * workers) / max(self._per_run, 1e-6)
        # at the end smaller ones, so that the workers end together; many small ones would take the scheduler longer
        fair = max(self._left.count / (2 * workers), _SHARE * whole)
        return max(min(int(whole), int(fair), _LARGEST), 1)

    def _send(self, batch: Batch) -> None:
        self._engine.submit(batch)
        self.under_way += 1

    def _lost(self, batch: Batch) -> None:
        """Its worker has ended: find the run that did it, by halves."""
        if len(batch) > 1:
            self._suspects += batch.halves()
        elif self._alone or not self._engine.blames_all:
            what = "the process of the worker ended during this run: a crash of the FMU, or its time limit"
            none = np.full((1, len(self._job.responses.names)), np.nan)
            traces: list[list[NDArray[np.float64]]] = [[]] if self._job.responses.traced else []
            self._keep(batch, Done(none, [KILLED], [what], np.full(1, np.nan), traces, 0.0))
        else:
            self._suspects.append(batch)

    def _keep(self, batch: Batch, done: Done) -> None:
        self._journal.add(tables.rows_of(self._job, self._schema, self._seed, batch, done))


class _Left:
    """The runs of a plan that have no row, in their order."""

    def __init__(self, plan: RunPlan, done: NDArray[np.int64]) -> None:
        self._plan, self._done = plan, np.unique(done)
        self._next = 0
        self.count = plan.size - len(self._done)

    def take(self, most: int) -> Batch | None:
        """The next runs, at most so many; None if there are none."""
        while self._next < self._plan.size:
            first, count = self._next, min(most, self._plan.size - self._next)
            self._next += count
            runs = np.arange(first, first + count, dtype=np.int64)
            begin, end = np.searchsorted(self._done, (first, first + count))
            if begin == end:
                self.count -= count
                return Batch(runs, self._plan.rows(first, count))
            is_open = ~np.isin(runs, self._done[begin:end], assume_unique=True)
            if is_open.any():
                self.count -= int(is_open.sum())
                return Batch(runs[is_open], self._plan.rows(first, count)[is_open])
        return None


def _notes(path: Path, job: Job) -> list[str]:
    """Responses that no run has, and how runs failed."""
    pa = tables.arrow()
    found = []
    status = tables.columns(path, ["status"]).column("status")
    good = sum(one == OK for one in status.to_pylist())
    for name in job.responses.names:
        column = tables.columns(path, [name]).column(name)
        if good and column.null_count == len(column):
            found.append(f"{name}: no run has it, as the contact that it is of does not happen")
    if good < len(status):
        failed = tables.columns(path, ["run", "status", "message"])
        failed = failed.filter(pa.compute.not_equal(failed["status"], OK)).slice(0, 1000).to_pylist()
        for kind in dict.fromkeys(row["status"] for row in failed):
            first = next(row for row in failed if row["status"] == kind)
            count = sum(one == kind for one in status.to_pylist())
            runs = "1 run has" if count == 1 else f"{count} runs have"
            found.append(f"{runs} the status '{kind}', the first one {first['run']}: {first['message']}")
    return found
