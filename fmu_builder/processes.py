"""Many jobs in processes on all cores: builds and cases.

Not threads: lxml's schemas are not safe in them, and an FMU that crashes ends its process."""

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
from multiprocessing import resource_tracker
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
    results: dict[str, Result] = {}
    while left := {name: job for name, job in jobs.items() if name not in results}:
        done, begun = _in_processes(work, left, finished, most)
        results |= done
        # A crash ends all that ran at the time: alone, the culprit crashes again and the others do not.
        for name in sorted((begun or left.keys()) - results.keys()):
            alone, _ = _in_processes(work, {name: jobs[name]}, finished, 1)
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
) -> tuple[dict[str, Result], set[str]]:
    """The results of the jobs, without those that a crash ended; and the jobs that had begun by then."""
    results = {}
    workers = max(min(most or os.cpu_count() or 1, len(jobs)), 1)
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    begun = context.RawArray("b", max(len(jobs), 1))  # memory without a lock, which a crash would leave locked
    with ProcessPoolExecutor(workers, context, _begin_worker, (begun,)) as pool:
        names = {}
        try:
            with uninterrupted():
                for index, (name, arguments) in enumerate(jobs.items()):
                    names[pool.submit(_working, work, arguments, index)] = name
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
    return results, {name for name, one in zip(jobs, begun, strict=False) if one}


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Processes started inside ignore Ctrl-C: the process that started them ends them in order.  One that arrives here
    meanwhile acts at the end; on Windows, which cannot hold it back, it is lost."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if sys.platform == "win32":
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
        return
    resource_tracker.ensure_running()  # it would let the signal through again as it starts
    arrived: list[int] = []  # other threads of the libraries may take it meanwhile
    before = signal.signal(signal.SIGINT, lambda number, _: arrived.append(number))
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which the processes inherit
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        signal.signal(signal.SIGINT, before)
        if arrived:
            signal.raise_signal(signal.SIGINT)


def _end(workers: set[BaseProcess]) -> None:
    """End the jobs that run.  On Windows they run to their end: a process can only be killed there, which would leave
    temporary files and compilers behind."""
    if sys.platform != "win32":
        for worker in workers:
            worker.terminate()


# --- in a worker ------------------------------------------------------------------------------------------------------

_at_work = False
_begun: Any = None  # of each job whether it has begun, in memory of all processes
_ended = False  # some jobs may be in the queue of the workers already


def _begin_worker(begun: Any) -> None:
    global _begun
    _begun = begun
    if sys.platform != "win32":
        signal.signal(signal.SIGTERM, _end_the_job)


def _end_the_job(*_: object) -> None:
    """As Ctrl-C does to a process that is alone: compilers are ended, and temporary files removed."""
    global _ended
    _ended = True
    if _at_work:
        raise KeyboardInterrupt


def end_if_asked() -> None:
    """Raise KeyboardInterrupt in a job that is to end, where a library has swallowed the first one: trimesh does, in
    imports that it can do without."""
    if _ended and _at_work:
        raise KeyboardInterrupt


def _working(work: Callable[..., Result], arguments: tuple[Any, ...], index: int) -> Result:
    global _at_work
    _at_work = True
    try:
        if _ended:
            raise KeyboardInterrupt
        _begun[index] = 1
        return work(*arguments)
    finally:
        _at_work = False
