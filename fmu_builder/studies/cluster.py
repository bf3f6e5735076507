"""Batches on the workers of a scheduler of dask.distributed: of this machine, of Kubernetes, SLURM or ssh, as it is.

The FMUs of a study travel once to each worker, also to those that come later, as a plugin of the workers that the
scheduler keeps.  A worker that ends costs its batch a new try on another one; dask gives a batch up after some workers
have ended with it (`distributed.scheduler.allowed-failures`), and run.py then looks for the run that does it."""

from __future__ import annotations

import queue
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from distributed import Client, KilledWorker, WorkerPlugin
from distributed.comm import get_address_host_port

from fmu_builder.errors import InputError, Problem, ToolError
from fmu_builder.studies import work
from fmu_builder.studies.work import Batch, Done, FileStore, Job, versions

_ANSWER = 10.0  # s for the scheduler to answer


class Plugin(WorkerPlugin):  # type: ignore[misc]
    """Makes a worker of dask one of the job."""

    idempotent = True

    def __init__(self, job: Job, contents: Mapping[str, bytes]) -> None:
        self.name = f"fmu-builder-{job.key[:16]}"
        self._job, self._contents = job, contents
        self._store: FileStore | None = None

    def setup(self, worker: Any) -> None:
        self._store = FileStore(self._contents)
        work.begin(self._job, self._store.files)

    def teardown(self, worker: Any) -> None:
        work.end(self._job.key)
        if self._store is not None:
            self._store.close()


class Cluster:
    """The workers of a scheduler.   files: of the FMUs, by hash; address: of the scheduler

    Raises InputError for what is no address, ToolError where the scheduler does not answer, has no workers, or one of
    them has other versions."""

    blames_all = False

    def __init__(self, job: Job, files: Mapping[str, Path], address: str) -> None:
        self._job, self._address = job, address
        _check_address(address)
        try:
            self._client = Client(address, timeout=_ANSWER, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            what = f"does not answer within {_ANSWER:g} s ({_first_line(error)}); start one by `dask scheduler`"
            raise ToolError(Problem(f"--scheduler {address}", what)) from error
        try:
            self._check_workers()
            contents = {name: path.read_bytes() for name, path in files.items()}
            self._plugin = Plugin(job, contents)
            self._client.register_plugin(self._plugin)
        except BaseException:
            self._client.close()
            raise
        self._done: queue.Queue[Any] = queue.Queue()
        self._left: dict[str, tuple[Any, Batch]] = {}

    @property
    def workers(self) -> int:
        """Threads of all workers that are there now."""
        return max(sum(map(int, self._client.nthreads().values())), 1)

    @property
    def dashboard(self) -> str:
        return str(self._client.dashboard_link)

    def submit(self, batch: Batch) -> None:
        future = self._client.submit(work.run_batch, self._job.key, batch, pure=False)
        self._left[future.key] = future, batch
        future.add_done_callback(self._done.put)

    def finished(self, seconds: float) -> list[tuple[Batch, Done | None]]:
        found: list[tuple[Batch, Done | None]] = []
        try:
            ended = [self._done.get(timeout=seconds)]
            while not self._done.empty():
                ended.append(self._done.get_nowait())
        except queue.Empty:
            self._check_scheduler()
            return []
        for future in ended:
            _, batch = self._left.pop(future.key)
            if future.status == "finished":
                found.append((batch, future.result()))
            elif future.status == "error" and isinstance(future.exception(), KilledWorker):
                found.append((batch, None))
            elif future.status == "error":
                raise future.exception()
            elif future.status == "lost":  # its worker ended with the rows: the scheduler has the batch done again
                self._left[future.key] = future, batch
                future.add_done_callback(self._done.put)
            else:
                what = f"has dropped a batch ({future.status}); the rows so far are kept"
                raise ToolError(Problem(f"--scheduler {self._address}", what))
        return found

    def close(self) -> None:
        left = [future for future, _ in self._left.values()]
        self._left.clear()
        try:
            if self._client.status == "running":
                self._client.cancel(left)
                self._client.unregister_worker_plugin(self._plugin.name)
        except (OSError, TimeoutError, KeyError, ValueError):
            pass  # a scheduler that has ended has nothing to clear
        self._client.close()

    def _check_scheduler(self) -> None:
        if self._client.status not in ("running", "connecting"):
            what = "answers no more; the rows so far are kept"
            raise ToolError(Problem(f"--scheduler {self._address}", what))

    def _check_workers(self) -> None:
        """All workers have the versions of this process."""
        where = f"--scheduler {self._address}"
        try:
            found = self._client.run(versions, on_error="return")
        except (OSError, TimeoutError) as error:
            raise ToolError(Problem(where, f"its workers do not answer: {_first_line(error)}")) from error
        if not found:
            raise ToolError(Problem(where, "has no workers: start some by `dask worker ADDRESS`"))
        wanted = self._job.versions
        problems = []
        for worker, one in found.items():
            if isinstance(one, BaseException):
                what = f"cannot load fmu-builder ({_first_line(one)})"
            elif tuple(one) != wanted:
                what = "has fmu-builder {} on Python {}".format(*one)
            else:
                continue
            repair = "install fmu-builder {} on Python {} there".format(*wanted)
            problems.append(Problem(f"{where}: worker {worker}", f"{what}; {repair}"))
        if problems:
            raise ToolError(problems)


def _check_address(address: str) -> None:
    """Before the client, which would not end without a scheduler that it can look for."""
    try:
        _, port = get_address_host_port(address)
        fault = "" if 0 < port < 2**16 else f"no port has the number {port}"
    except ValueError as error:
        fault = _first_line(error)
    if fault:
        what = f"is no address of a scheduler ({fault}); `dask scheduler` prints its own, as tcp://10.0.0.1:8786"
        raise InputError(Problem(f"--scheduler {address}", what))


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
