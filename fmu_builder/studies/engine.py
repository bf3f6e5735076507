"""Where batches run: the one interface of a study to its workers, and the pool of processes of this machine.

The cluster of dask.distributed is cluster.py."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection
from pathlib import Path
from typing import Any, Protocol

from fmu_builder.errors import ToolError
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
    """The processes of this machine.   files: of the FMUs, by hash

    Raises ToolError where no process starts."""

    blames_all = True

    def __init__(self, job: Job, files: Mapping[str, Path], workers: int) -> None:
        self.workers = workers
        self._job, self._files = job, dict(files)
        self._left: dict[Future[Done], Batch] = {}
        self._refused: list[Batch] = []  # by a pool of which a process has ended
        self._pool: ProcessPoolExecutor | None = None
        self._folder: Path | None = None  # of the temporary files of the processes, however they end
        self._context = multiprocessing.get_context("spawn")
        self._begun = self._context.RawValue("b", 0)  # whether any process did; memory without a lock

    def submit(self, batch: Batch) -> None:
        try:
            self._send(batch)
        except BrokenProcessPool:
            if self._left:
                self._refused.append(batch)
                return
            self._drop()  # its process ended between batches: none of them is to blame
            self._send(batch)

    def _send(self, batch: Batch) -> None:
        with uninterrupted():  # the first batch starts the processes
            self._left[self._ready().submit(work.run_batch, self._job.key, batch)] = batch

    def finished(self, seconds: float) -> list[tuple[Batch, Done | None]]:
        broken = bool(self._refused)
        done, _ = wait(self._left, timeout=0.0 if broken else seconds, return_when=FIRST_COMPLETED)
        found: list[tuple[Batch, Done | None]] = [(batch, None) for batch in self._refused]
        self._refused.clear()
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
            self._drop()
            if not self._begun.value:
                raise ToolError("workers do not start; a script needs `if __name__ == '__main__':` around its study")
        return found

    def close(self) -> None:
        if self._pool is not None:
            for future in self._left:
                future.cancel()
            processes = list((self._pool._processes or {}).values())
            for process in processes:
                process.terminate()
        self._drop()

    def _ready(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._folder = Path(tempfile.mkdtemp(prefix="fmu-builder-study-"))
            arguments = (self._job, self._files, str(self._folder), self._begun)
            self._pool = ProcessPoolExecutor(self.workers, self._context, _begin, arguments)
        return self._pool

    def _drop(self) -> None:
        """A pool of which a process has ended takes no more batches."""
        if self._pool is not None:
            self._pool.shutdown(wait=True)
            self._pool = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _begin(job: Job, files: Mapping[str, Path], folder: str, begun: Any) -> None:
    """In a new worker.   folder: for its temporary files; begun: is set to 1"""
    tempfile.tempdir = folder
    threading.Thread(target=_end_with_the_parent, args=(folder,), name="end with the study", daemon=True).start()
    work.begin(job, files)
    begun.value = 1


def _end_with_the_parent(folder: str) -> None:
    """A worker that waits for batches does not see that the study was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)
