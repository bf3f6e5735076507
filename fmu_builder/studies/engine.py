"""Where batches run: the one interface of a study to its workers, and the pool of processes of this machine.

The cluster of dask.distributed is cluster.py."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection
from pathlib import Path
from typing import Protocol

from fmu_builder.processes import uninterrupted
from fmu_builder.studies import work
from fmu_builder.studies.work import Batch, Done, Job

QUEUED = 2  # batches for each worker: one runs, one waits


class Engine(Protocol):
    """workers     how many batches run at once
    blames_all  whether the end of a worker loses the batches of others as well"""

    @property
    def workers(self) -> int: ...

    @property
    def blames_all(self) -> bool: ...

    def submit(self, batch: Batch) -> None: ...

    def finished(self, seconds: float) -> list[tuple[Batch, Done | None]]:
        """The batches that are done, at least one unless so many seconds pass; None for one whose worker has ended.

        Raises what a worker cannot do for any batch, such as a ToolError for another version."""
        ...

    def close(self) -> None:
        """End what runs."""
        ...


class ProcessPool:
    """The processes of this machine.   files: of the FMUs, by hash"""

    blames_all = True

    def __init__(self, job: Job, files: Mapping[str, Path], workers: int) -> None:
        self.workers = workers
        self._job, self._files = job, dict(files)
        self._left: dict[Future[Done], Batch] = {}
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, batch: Batch) -> None:
        with uninterrupted():  # the first batch starts the processes
            self._left[self._ready().submit(work.run_batch, self._job.key, batch)] = batch

    def finished(self, seconds: float) -> list[tuple[Batch, Done | None]]:
        done, _ = wait(self._left, timeout=seconds, return_when=FIRST_COMPLETED)
        found: list[tuple[Batch, Done | None]] = []
        broken = False
        for future in done:
            batch = self._left.pop(future)
            try:
                found.append((batch, future.result()))
            except BrokenProcessPool:
                broken = True
                found.append((batch, None))
        if broken:  # all that ran or waited is lost with it
            wait(self._left)
            for future, batch in list(self._left.items()):
                found.append((batch, None if future.exception() else future.result()))
            self._left.clear()
            assert self._pool is not None
            self._pool.shutdown(wait=True)
            self._pool = None
        return found

    def close(self) -> None:
        if self._pool is not None:
            for future in self._left:
                future.cancel()
            processes = list((self._pool._processes or {}).values())
            for process in processes:
                process.terminate()
            self._pool.shutdown(wait=True)
            self._pool = None

    def _ready(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.workers, context, _begin, (self._job, self._files))
        return self._pool


def _begin(job: Job, files: Mapping[str, Path]) -> None:
    """In a new worker."""
    threading.Thread(target=_end_with_the_parent, name="end with the study", daemon=True).start()
    work.begin(job, files)


def _end_with_the_parent() -> None:
    """A worker that waits for batches does not see that the study was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
