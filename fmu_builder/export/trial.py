"""Running FMUs in a process of their own, so that a crash ends that process and not this one.

A build waits for the smoke run of what it made.  Any other FMU is loaded, stepped and unloaded so (smoke.py) before
this process loads it, and again with the start values of a run, if that gives any.  An FMU that passed is recorded by
the hash of its bytes, and of these values, here and in the cache folder: each file is tried once, and one that a build
made not at all."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fmu_builder.errors import Problem, SlaveError, ToolError
from fmu_builder.export import smoke
from fmu_builder.export.archive import unpack_to_call
from fmu_builder.export.cache import cache_folder, used
from fmu_builder.export.toolchain import host_platform
from fmu_builder.export.xml_files import DESCRIPTION, is_fmi3

# Imports smoke.py or smoke_fmi3.py, which Python has compiled; a script takes a quarter longer to start.
# Its folder comes last among those where modules are looked for.
_START = "import sys; sys.path.append(sys.argv.pop(1)); import {0}; {0}.start()"
_MADE = "-made"  # behind the name of an FMU that a build made
TIMEOUT = 120.0  # s; real FMUs start and take a step in less, even those that bring a runtime with them


@dataclass(frozen=True)
class Ending:
    """How a run of smoke.py ended.   `call`: the last one it began.   `code`: None if it did not return in time."""

    code: int | None
    call: str
    output: str
    errors: str

    @property
    def how(self) -> str:
        """The exit code in words."""
        if self.code is None or self.code >= 0:
            return f"exit code {self.code or 0:#x}"
        try:
            return signal.Signals(-self.code).name
        except ValueError:
            return f"signal {-self.code}"


def run_smoke(fmu: Path, library: str, timeout: float, options: Sequence[str] = (), more: Sequence[str] = ()) -> Ending:
    """Unpack an FMU and run smoke.py on it, of FMI 3.0 smoke_fmi3.py.

    library  its archive name for this machine      timeout  s
    options, more  arguments of smoke.py before and behind those that name the FMU
    Raises ToolError if it cannot be unpacked, or Python does not start, InputError if its description is no XML."""
    code: int | None
    with tempfile.TemporaryDirectory(prefix="fmu-builder-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        unpack_to_call(fmu, folder, library)
        of_fmi3 = is_fmi3((folder / DESCRIPTION).read_bytes(), str(fmu))
        start = _START.format("smoke_fmi3" if of_fmi3 else "smoke")
        resources = folder / "resources"
        placed = (name, library, f"{resources}{os.sep}" if of_fmi3 else resources.as_uri())
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-c", start, str(Path(smoke.__file__).parent), *options, *placed, *more],
                capture_output=True,
                check=False,
                stdin=subprocess.DEVNULL,
                timeout=timeout,
                env=os.environ | {"FMU_BUILDER_CALLS": "none"},  # an FMU of `record` records what follows only
            )
            code, raw, errors = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as error:
            code, raw, errors = None, error.stdout or b"", error.stderr or b""
        except OSError as error:
            raise ToolError(f"{sys.executable} cannot be started: {error.strerror}") from error
    output = raw.decode("utf-8", "replace")
    # an FMU may have printed before it, without the end of a line
    calls = [line.rpartition(smoke.CALL)[2] for line in output.splitlines() if smoke.CALL in line]
    return Ending(code, calls[-1] if calls else "the start of Python", output, errors.decode("utf-8", "replace"))


Start = tuple[str, int, float | str | Sequence[float], bool]
"""Type, value reference and value of a start value, and whether its variable is an input."""


def try_out(fmu: Path, library: str, where: str, starts: Sequence[Start] = ()) -> None:
    """Load the FMU, run a few steps and unload it, unless it passed before; the same with `starts`.

    library  its archive name for this machine.   Raises SlaveError at `where` for a crash or a call that does not
    return; its status codes are left to its run."""
    state = fmu.stat()
    content = _content(fmu, state.st_size, state.st_mtime_ns)
    if _is_known(content + _MADE):
        return
    _try_with(fmu, library, where, content, ())
    if starts:
        _try_with(fmu, library, where, content, starts)


def _try_with(fmu: Path, library: str, where: str, content: str, starts: Sequence[Start]) -> None:
    given = [json.dumps(starts)] if starts else []
    content += f"-{hashlib.sha256(given[0].encode()).hexdigest()}" if given else ""
    if _is_known(content):
        return
    ending = run_smoke(fmu, library, TIMEOUT, ("--try",), given)
    how = "with the start values of this run " if starts else ""
    if ending.code is None:
        what = f"{ending.call} did not return within {TIMEOUT:g} s"
        raise SlaveError(Problem(where, f"{what} when it was tried out {how}in a process of its own"))
    if ending.code != 0 or ending.call != smoke.END:
        what = f"crashed in {ending.call} ({ending.how}) when it was tried out {how}in a process of its own"
        repair = (
            "without them it did not: change them, or the FMU"
            if starts
            else "the FMU is damaged or faulty: copy or export it again"
        )
        raise SlaveError(Problem(where, f"{what}; {repair}"))
    _note(content)


def note_made(data: bytes) -> None:
    """Record the bytes of an FMU that passed the smoke run of its build."""
    _note(_name(hashlib.sha256(data).hexdigest()) + _MADE)


_known: set[str] = set()  # in this process, where the cache is full or away


def _name(digest: str) -> str:
    return f"{host_platform()}-{digest}"


@functools.cache  # many slaves may be of one file
def _content(fmu: Path, size: int, changed: int) -> str:
    with fmu.open("rb") as file:
        return _name(hashlib.file_digest(file, "sha256").hexdigest())


def _is_known(content: str) -> bool:
    if content in _known:
        return True
    with suppress(ToolError, OSError):
        return used(cache_folder() / "tried" / content).is_file()
    return False


def _note(content: str) -> None:
    _known.add(content)
    with suppress(ToolError, OSError):  # without a cache it is tried once by every process
        folder = cache_folder() / "tried"
        folder.mkdir(exist_ok=True)
        (folder / content).touch()
