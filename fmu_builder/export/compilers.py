"""Compilers that run, in groups of processes of their own, and their end where a build is interrupted."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from fmu_builder.errors import ToolError

KILL = 9  # the number of SIGKILL, which Windows does not have
_running: set[subprocess.Popen[str]] = set()  # of all threads
_ended = threading.Event()


def run_process(
    command: Sequence[str], folder: Path | None, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a compiler in the folder, with these variables beside those of this process.  Raises ToolError if it cannot
    be started, or the build was interrupted."""
    if _ended.is_set():
        raise ToolError("the build was interrupted")
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # a group of its own, so that its children can be ended with it
        )
    except OSError as error:
        raise ToolError(f"{command[0]} cannot be started: {error.strerror}") from error
    with process:
        _running.add(process)
        try:
            output, errors = process.communicate()
        except BaseException:
            _kill(process)
            raise
        finally:
            _running.discard(process)
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def end_all() -> None:
    """End all that run, and start none until `begin`: threads of the build may still ask for one."""
    _ended.set()
    for process in tuple(_running):
        _kill(process)


def begin() -> None:
    """The threads of a build that was interrupted have ended, or there was none."""
    _ended.clear()


def are_ended() -> bool:
    return _ended.is_set()


def _kill(process: subprocess.Popen[str]) -> None:
    """End a compiler and all processes it has started, at once."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, KILL)
