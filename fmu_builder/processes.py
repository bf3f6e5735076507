"""Many jobs in processes on all cores: builds and cases.

Threads do not serve: lxml's schemas are not safe in them, and an FMU that crashes takes its process down."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

Result = TypeVar("Result")


def in_processes(
    work: Callable[..., Result],
    jobs: Mapping[str, tuple[Any, ...]],
    finished: Callable[[Result], None],
    crashed: Callable[[str], Result],
    most: int | None = None,
) -> dict[str, Result]:
    """work(*arguments) of all jobs, as many at a time as there are cores, or at `most`; the results by name of the job.

    finished  is called with each result as it comes
    crashed   gives the result of a job whose process crashed.  What ran beside it runs again.
    An interrupt, and an exception that `work` raises, ends the jobs that run."""
    results = _in_processes(work, jobs, finished, most)
    # A crash ends all that ran at the time: alone, the culprit crashes again and the others do not.
    for name in sorted(jobs.keys() - results.keys()):
        alone = _in_processes(work, {name: jobs[name]}, finished, 1)
        if not alone:
            alone = {name: crashed(name)}
            finished(alone[name])
        results |= alone
    return results


def _in_processes(
    work: Callable[..., Result],
    jobs: Mapping[str, tuple[Any, ...]],
    finished: Callable[[Result], None],
    most: int | None,
) -> dict[str, Result]:
    """The results of the jobs; those that a crash took along are missing."""
    results = {}
    workers = max(min(most or os.cpu_count() or 1, len(jobs)), 1)
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(max_workers=workers, mp_context=context, initializer=_begin_worker) as pool:
        names = {}
        try:
            with _uninterrupted():
                names = {pool.submit(_working, work, arguments): name for name, arguments in jobs.items()}
            for job in as_completed(names):
                results[names[job]] = job.result()
                finished(job.result())
        except BrokenProcessPool:
            pass
        except BaseException:
            for job in names:
                job.cancel()
            _end(set(multiprocessing.active_children()) - others)
            raise  # once the pool has waited for its workers
    return results


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Processes started inside ignore Ctrl-C: they end in order, when the process that started them says so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(workers: set[BaseProcess]) -> None:
    """End the jobs that run.  On Windows they come to their end: a process can only be killed there, which would leave
    temporary files and compilers behind."""
    if sys.platform != "win32":
        for worker in workers:
            worker.terminate()


# --- in a worker ------------------------------------------------------------------------------------------------------

_at_work = False
_ended = False  # some jobs may be in the queue of the workers already


def _begin_worker() -> None:
    if sys.platform != "win32":
        signal.signal(signal.SIGTERM, _end_the_job)


def _end_the_job(*_: object) -> None:
    """As Ctrl-C does to a process that is alone: compilers are ended, and temporary files removed."""
    global _ended
    _ended = True
    if _at_work:
        raise KeyboardInterrupt


def _working(work: Callable[..., Result], arguments: tuple[Any, ...]) -> Result:
    global _at_work
    _at_work = True
    try:
        if _ended:
            raise KeyboardInterrupt
        return work(*arguments)
    finally:
        _at_work = False
