"""What a worker does: batches of runs of a study, each run a row.

A worker gets the job of a study once, unpacks each FMU once, and keeps loaded systems from batch to batch, as many as
_KEPT for each thread; their slaves are reset between runs.  A run that fails is a row with its error.  A run that ends
its process, or does not return within twice its time limit, takes its batch with it: run.py finds it."""

from __future__ import annotations

import hashlib
import math
import os
import platform
import shutil
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.algorithm_keys import without_keys_of_others
from fmu_builder.cosim.overrides import place_of_start, renamed
from fmu_builder.cosim.repeated import Outcome, RepeatedRun
from fmu_builder.cosim.scenario_inputs import Start
from fmu_builder.errors import FmuBuilderError, InputError, Problem, ToolError
from fmu_builder.model.scenario import CheckedScenario
from fmu_builder.paths import own_version
from fmu_builder.studies.factors import Axis
from fmu_builder.studies.responses import Responses

OK, FAILED, REFUSED, TIME_LIMIT, KILLED = "ok", "failed", "refused", "time limit", "killed"  # status of a run
_COUPLING = "coupling."  # group of variables
_KEPT = 8  # loaded systems of a thread
_HUNG = 2.0  # time limits after which a run that does not answer ends its process


def versions() -> tuple[str, str]:
    """Of fmu-builder and Python, major and minor."""
    return own_version(), ".".join(platform.python_version_tuple()[:2])


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


Structure = tuple[int, ...]  # the place of the value of each factor of recipes


@dataclass(frozen=True)
class Job:
    """What a worker needs to know of a study.

    key        names it: a hash of all that decides on its results
    fmus       hash of the FMU of each slave, for each structure
    structures, experiments   columns of the factors of recipes and of the experiment
    thinned    rows of a run that are one row of its trace
    limit      s, of the computation of a run
    versions   of fmu-builder and Python, which the workers have to have"""

    key: str
    scenario: CheckedScenario
    axes: tuple[Axis, ...]
    responses: Responses
    fmus: Mapping[Structure, Mapping[str, str]]
    thinned: int
    limit: float | None
    versions: tuple[str, str]

    @cached_property
    def structures(self) -> list[int]:
        return [column for column, axis in enumerate(self.axes) if axis.kind == "recipe"]

    @cached_property
    def experiments(self) -> list[int]:
        return [column for column, axis in enumerate(self.axes) if axis.kind == "experiment"]

    @cached_property
    def orders(self) -> list[int]:
        """Start values on which it depends what the master tells its slaves (call_order.py, implicit/run.py)."""
        return [
            column
            for column, axis in enumerate(self.axes)
            if axis.kind == "start" and any(variable.startswith(_COUPLING) for _, variable in axis.targets)
        ]

    def structure(self, row: Sequence[float]) -> Structure:
        return tuple(int(row[column]) for column in self.structures)

    def variant(self, row: Sequence[float]) -> tuple[float, ...]:
        """What runs have in common that one loaded system computes."""
        return tuple(row[column] for column in (*self.structures, *self.experiments, *self.orders))


@dataclass(frozen=True)
class Batch:
    """Runs by their numbers, shape (n,), and the numbers of their factors, shape (n, factors)."""

    runs: NDArray[np.int64]
    rows: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.runs)

    def halves(self) -> tuple[Batch, Batch]:
        middle = len(self) // 2
        return Batch(self.runs[:middle], self.rows[:middle]), Batch(self.runs[middle:], self.rows[middle:])


@dataclass(frozen=True)
class Done:
    """The rows of a batch.

    responses  shape (n, responses), NaN where there is none
    seconds    of the computation of each run, shape (n,)
    traces     of each run the times and then each signal; empty without [traces]
    load       s of the whole batch"""

    responses: NDArray[np.float64]
    status: list[str]
    messages: list[str]
    seconds: NDArray[np.float64]
    traces: list[list[NDArray[np.float64]]]
    load: float


class _Systems(OrderedDict[tuple[float, ...], RepeatedRun]):
    """What a thread has loaded, by variant, the one used last at the end."""

    is_busy = False

    def close(self) -> None:
        for system in self.values():
            system.close()
        self.clear()


class Worker:
    """The worker of a study in this process.   files: of the FMUs, by hash"""

    def __init__(self, job: Job, files: Mapping[str, Path]) -> None:
        found = versions()
        if found != job.versions:
            what = (
                "this worker has fmu-builder {} on Python {}, the study fmu-builder {} on Python {}: install the same"
            )
            raise ToolError(Problem(platform.node(), what.format(*found, *job.versions)))
        self.job, self._files = job, files
        self._own = threading.local()
        self._threads: list[_Systems] = []  # of all threads
        self._closed, self._lock = False, threading.Lock()

    def run(self, batch: Batch) -> Done:
        own = self._loaded()
        with self._lock:
            own.is_busy = True
        try:
            return self._run(batch)
        finally:
            with self._lock:
                own.is_busy = False
                if self._closed:
                    own.close()

    def _run(self, batch: Batch) -> Done:
        begin = time.perf_counter()
        count, job = len(batch), self.job
        measured = np.full((count, len(job.responses.signals) + len(job.responses.events)), math.nan)
        status, messages = [OK] * count, [""] * count
        seconds = np.zeros(count)
        traces: list[list[NDArray[np.float64]]] = [[] for _ in range(count)] if job.responses.traced else []
        with _Watch(job.limit) as watch:
            for k, row in enumerate(batch.rows.tolist()):
                started = time.perf_counter()
                try:
                    system = self._system(row)
                    with watch.over(system):
                        outcome = system.run(self._starts(row), job.limit)
                    messages[k] = outcome.ended
                    if outcome.timed_out:
                        status[k] = TIME_LIMIT
                    else:
                        columns = {name: column for column, name in enumerate(system.signals)}
                        measured[k] = job.responses.of_run(outcome, columns)
                        if job.responses.traced:
                            traces[k] = self._trace(outcome, columns)
                except FmuBuilderError as error:
                    status[k] = REFUSED if isinstance(error, InputError) else FAILED
                    messages[k] = "; ".join(str(renamed(problem, self._places)) for problem in error.problems[:3])
                seconds[k] = time.perf_counter() - started
        factors = {axis.name: self._shown(axis, batch.rows[:, column]) for column, axis in self._numbers()}
        responses = job.responses.finished(measured, factors)
        return Done(responses, status, messages, seconds, traces, time.perf_counter() - begin)

    def close(self) -> None:
        """Free what all threads have loaded; one that runs a batch does so itself at its end."""
        with self._lock:
            self._closed = True
            for systems in self._threads:
                if not systems.is_busy:
                    systems.close()

    def _numbers(self) -> list[tuple[int, Axis]]:
        return [(column, axis) for column, axis in enumerate(self.job.axes) if axis.is_number]

    @staticmethod
    def _shown(axis: Axis, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        if axis.cells is None:
            return numbers
        return np.array(axis.cells, dtype=np.float64)[numbers.astype(np.int64)]

    @cached_property
    def _places(self) -> dict[str, str]:
        """The name of the factor of each start value that is one, by the place that problems name."""
        return {
            place_of_start(self.job.scenario, *target): f"[factors] {axis.name} start {'.'.join(target)}"
            for axis in self.job.axes
            if axis.kind == "start"
            for target in axis.targets
        }

    def _starts(self, row: Sequence[float]) -> dict[str, dict[str, Start]]:
        found: dict[str, dict[str, Start]] = {}
        for column, (axis, number) in enumerate(zip(self.job.axes, row, strict=True)):
            if axis.kind == "start" and column not in self.job.orders:
                for slave, variable in axis.targets:
                    found.setdefault(slave, {})[variable] = axis.value(number)
        return found

    def _trace(self, outcome: Outcome, columns: Mapping[str, int]) -> list[NDArray[np.float64]]:
        chosen = slice(None, None, self.job.thinned)
        signals = [outcome.values[chosen, columns[name]].copy() for name in self.job.responses.traced]
        return [outcome.time[chosen].copy(), *signals]

    def _loaded(self) -> _Systems:
        """By this thread."""
        if not hasattr(self._own, "systems"):
            self._own.systems = _Systems()
            with self._lock:
                self._threads.append(self._own.systems)
        found: _Systems = self._own.systems
        return found

    def _system(self, row: Sequence[float]) -> RepeatedRun:
        kept, variant = self._loaded(), self.job.variant(row)
        if variant in kept:
            kept.move_to_end(variant)
            return kept[variant]
        system = RepeatedRun(self.scenario(row), self.job.responses.with_contacts)
        kept[variant] = system
        while len(kept) > _KEPT:
            kept.popitem(last=False)[1].close()
        return system

    def scenario(self, row: Sequence[float]) -> CheckedScenario:
        """That of a run, with the FMUs that it uses, and without its other start values."""
        job = self.job
        hashes = job.fmus[job.structure(row)]
        orders: dict[str, dict[str, Start | bool]] = {}
        for column in job.orders:
            for slave, variable in job.axes[column].targets:
                orders.setdefault(slave, {})[variable] = job.axes[column].value(row[column])
        slaves = {
            name: entry.model_copy(
                update={"recipe": str(self._files[hashes[name]]), "start": {**entry.start, **orders.get(name, {})}}
            )
            for name, entry in job.scenario.slaves.items()
        }
        changed = {job.axes[column].targets[0][1]: job.axes[column].value(row[column]) for column in job.experiments}
        return with_experiment(job.scenario, changed, job.responses).model_copy(update={"slaves": slaves})


def with_experiment(
    scenario: CheckedScenario, changed: Mapping[str, object], responses: Responses | None = None
) -> CheckedScenario:
    """The scenario with these keys of its experiment, recording what the responses need."""
    update = dict(changed)
    if "algorithm" in changed:
        update |= without_keys_of_others(str(changed["algorithm"]))
    if responses is not None:
        update["record"] = responses.recorded()
    found = scenario.model_copy(update={"experiment": scenario.experiment.model_copy(update=update)})
    if responses is None or not responses.ends_only:
        return found
    whole = {"output_step": found.seconds("stop") - found.seconds("start")}
    return found.model_copy(update={"experiment": found.experiment.model_copy(update=whole)})


class _Watch:
    """Ends runs at their time limit: it pauses the loop, which looks at the clock; a slave that does not return until
    _HUNG limits have passed ends the process."""

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._run: tuple[RepeatedRun, float] | None = None  # with the time of its beginning
        self._ended = threading.Event()

    def __enter__(self) -> _Watch:
        if self._limit is not None:
            threading.Thread(target=self._look, args=(self._limit,), name="time limit of runs", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    @contextmanager
    def over(self, system: RepeatedRun) -> Iterator[None]:
        self._run = system, time.monotonic()
        try:
            yield
        finally:
            self._run = None

    def _look(self, limit: float) -> None:
        while not self._ended.wait(min(limit / 4.0, 0.5)):
            run = self._run
            if run is None or time.monotonic() - run[1] <= limit:
                continue
            if time.monotonic() - run[1] > _HUNG * limit + 1.0:
                os._exit(1)
            run[0].pause()


# ---- of a process ------------------------------------------------------------------------------------------------

_workers: dict[str, Worker] = {}  # by the key of the job


def begin(job: Job, files: Mapping[str, Path]) -> None:
    """Make this process a worker of the job.   Raises ToolError where it has other versions."""
    _workers[job.key] = Worker(job, files)


def run_batch(key: str, batch: Batch) -> Done:
    """In a worker of the job."""
    return _workers[key].run(batch)


def end(key: str) -> None:
    """Its job is done."""
    worker = _workers.pop(key, None)
    if worker is not None:
        worker.close()


class FileStore:
    """FMUs that were sent here, by hash, in a temporary folder."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fmu-builder-study-"))
        self.files = {name: self.folder / f"{name}.fmu" for name in contents}
        for name, content in contents.items():
            self.files[name].write_bytes(content)

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
