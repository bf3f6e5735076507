"""The rules on behaviour, tried in a process of its own under a limit of time: a crash or a hang is a finding."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from fmu_builder.check.behaviour_rules import ENDS, LOADS, RULES
from fmu_builder.check.document import Fmu
from fmu_builder.check.findings import Finding, Found
from fmu_builder.errors import ToolError
from fmu_builder.export.archive import platform_folders, unpack_to_call
from fmu_builder.export.toolchain import PLATFORMS, host_platform
from fmu_builder.export.trial import Ending

TIMEOUT = 60.0  # s, for all rules; an FMU takes milliseconds, one that starts a runtime seconds
MISUSES = ("B23", "B24", "B25", "B26", "B27", "B28")  # rules on calls that the standard does not allow
_MOST_ENDS = 3  # crashes and hangs after which the other rules are not tried


def missing_library(fmu: Fmu) -> str:
    """Why this machine cannot call the FMU, or nothing."""
    library, platform, has = host_library_name(fmu), host_platform(), platform_folders(fmu.names)
    if library in fmu.names:
        return ""
    if platform in has:
        return f"there is no binary for this machine ({platform}): {library} is missing"
    return f"there is no binary for this machine ({platform})" + (f", but for: {', '.join(has)}" if has else "")


def host_library_name(fmu: Fmu) -> str:
    """The archive name; of the first modelIdentifier, where there are two."""
    own = (fmu.interface("CoSimulation"), fmu.interface("ModelExchange"))
    identifier = next((one.get("modelIdentifier") for one in own if one is not None), "")
    return f"binaries/{host_platform()}/{identifier}{PLATFORMS[host_platform()].suffix}"


def behaviour(fmu: Fmu, notes: list[str], timeout: float = TIMEOUT) -> Iterator[Finding]:
    """What breaks rules when the FMU is called.   notes: takes what was not tried

    timeout   s, after which a call is said to hang.  Raises ToolError if the FMU cannot be unpacked."""
    library = host_library_name(fmu)
    rules = {rule.id: rule for rule in RULES}
    left = list(rules)
    ends = 0
    with tempfile.TemporaryDirectory(prefix="fmu-builder-", ignore_cleanup_errors=True) as name:
        folder = Path(name) / "fmu"
        unpack_to_call(fmu.path, folder, library)
        while left and ends < _MOST_ENDS:
            result = Path(name) / "result"
            result.unlink(missing_ok=True)
            arguments = [str(fmu.path.absolute()), str(folder), library, str(result), *left]
            ending = run_alone("fmu_builder.check.behaviour_process", arguments, timeout)
            tried, call, over = "", "the start of Python", False
            for line in result.read_text(encoding="utf-8").splitlines() if result.is_file() else ():
                key, value = next(iter(json.loads(line).items()))
                if key == "rule":
                    tried = value
                    left.remove(value)
                elif key == "call":
                    call = value
                elif key == "found":
                    yield Finding(rules[tried], Found(value, file=library))
                elif key == "load":
                    yield Finding(LOADS, Found(value, file=library))
                elif key == "missing":
                    notes.append(f"{tried} was not tried to its end: {value}")
                elif key == "fault":
                    raise RuntimeError(value)
                elif key == "fatal":
                    over = True
                    if tried not in MISUSES:  # of these it is a refusal
                        ends += 1
                        yield Finding(ENDS, Found(f"{value} answers fmi2Fatal{_during(tried)}", file=library))
                else:
                    return
            if not over:
                ends += 1
                how = "does not return" if ending.code is None else f"crashes ({ending.how})"
                if ending.code is None:
                    how += f" within {timeout:g} s"
                if tried in MISUSES:
                    yield Finding(rules[tried], Found(f"{call} {how}", file=library))
                else:
                    yield Finding(ENDS, Found(f"{call} {how}{_during(tried)}", file=library))
            if not tried and not over:
                break
    if left:
        notes.append(f"not tried after {ends} of such ends: {', '.join(left)}")


def _during(rule: str) -> str:
    return f", in the trial of {rule}" if rule else ""


def run_alone(module: str, arguments: Sequence[str], timeout: float) -> Ending:
    """Run a module of this package in a process of its own, which is ended with all that it starts when its time, s, is
    over.   Raises ToolError."""
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError(f"{sys.executable} cannot be started: {error.strerror}") from error
    try:
        code: int | None = process.wait(timeout)
    except subprocess.TimeoutExpired:
        code = None
    finally:
        if os.name == "posix":
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
    return Ending(code, "", "", "")
