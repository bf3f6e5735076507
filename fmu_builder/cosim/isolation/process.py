"""The process of a slave: its start, how it ended, and its end."""

from __future__ import annotations

import ctypes
import functools
import json
import mmap
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from ctypes import c_char_p, c_uint32, c_uint64, c_void_p
from pathlib import Path

import fmpy.logging
from fmpy.fmi2 import fmi2CallbackFunctions

from fmu_builder.cosim.interruption import at_once
from fmu_builder.cosim.isolation import child
from fmu_builder.cosim.isolation.child import NO_LIBRARY, TEXT, Channel, Waiting, address, waiting
from fmu_builder.cosim.isolation.limits import Limits
from fmu_builder.errors import Problem, SlaveError
from fmu_builder.export.host import shared_library

_LOOKS = 2000  # at the memory before a process sleeps, some 20 us: more than a step of most FMUs
_WATCH = 0.25  # s between two looks at the time that a call has taken, at most
_PATIENCE = 0.05  # s for a call to return after Ctrl-C
_END = 0.002  # s between the end of a pipe and that of its process
_GOODBYE = 5.0  # s to unload the FMU
_NEAR = 0.8  # of the memory limit, from which on a crash is put down to it
_START = 60.0  # s at least for the start of the process, in which the FMU is loaded and instantiated


class _Proxy(ctypes.Structure):
    """What channel.c calls so: the component of the slave in this process."""

    _fields_ = (
        ("channel", c_void_p),
        ("logger", c_void_p),
        ("environment", c_void_p),
        ("name", c_char_p),
        ("waiting", Waiting),
        ("capacity", c_uint64),
        ("calls", c_uint32),
    )


@functools.cache
def channel_library() -> Path:
    """channel.c for this machine.   Raises ToolError."""
    return shared_library(Path(__file__).with_name("channel.c"))


class IsolatedProcess:
    """A process that has loaded and instantiated an FMU.

    library   with the functions of an FMU that pass their calls on to it
    address   of the component for them, to be given as the environment of the callbacks too
    ending    how it ended without being asked to, or an empty text; `repair`: what helps then
    is_interrupted   whether it was ended since a call did not return after Ctrl-C"""

    def __init__(
        self,
        where: str,
        *,
        name: str,
        guid: str,
        library: Path,
        resources: Path,
        limits: Limits,
        variables: int,
        callbacks: fmi2CallbackFunctions,
    ) -> None:
        """where      of messages on the FMU; `name` is that of the instance
        variables  of the FMU: calls are for at most so many
        callbacks  of this process, for messages
        Raises SlaveError if the FMU does not load, or crashes while it does; ToolError without a compiler."""
        self.library = channel_library()
        self.ending = self.repair = ""
        self.is_interrupted = False
        self._limits = limits
        capacity = 2**16 + 64 * variables
        size = ctypes.sizeof(Channel) + capacity
        with (
            tempfile.TemporaryFile()
            if not hasattr(os, "memfd_create")
            else os.fdopen(os.memfd_create("fmu-builder"), "w+b") as file
        ):
            os.ftruncate(file.fileno(), size)
            self._memory = mmap.mmap(file.fileno(), size)
            self._channel = Channel.from_buffer(self._memory)
            self._channel.capacity, self._channel.asked = capacity, 1
            alive, life = os.pipe()
            arguments = {
                "memory": file.fileno(),
                "life": life,
                "channel": str(self.library),
                "logging": fmpy.logging.logging._name,
                "library": str(library),
                "name": name,
                "guid": guid,
                "resources": resources.as_uri(),
                "most_bytes": int(limits.memory * 2**20),
                "looks": _LOOKS,
            }
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", child.__file__, json.dumps(arguments)],
                    stdin=subprocess.PIPE,
                    stdout=2,  # what an FMU prints is no result
                    pass_fds=(file.fileno(), life),
                    start_new_session=True,  # Ctrl-C is for the master
                )
            except OSError as error:
                os.close(alive)
                raise SlaveError(Problem(where, f"its process does not start: {error.strerror}")) from error
            finally:
                os.close(life)
        self._name = name.encode()
        self._proxy = _Proxy(
            ctypes.addressof(self._channel),
            address(callbacks.logger),
            callbacks.componentEnvironment,
            self._name,
            waiting(_LOOKS),
            capacity,
            1,
        )
        self._closing, self._reaping = False, threading.Lock()
        self._watcher = threading.Thread(target=self._watch, args=(alive,), name=f"process of {name}", daemon=True)
        self._watcher.start()
        at_once.add(self._interrupt)
        while self._channel.answered != 1 and not self._channel.ended:
            time.sleep(0.001)
        if self._channel.answered != 1:
            self.close()
            raise SlaveError(Problem(where, f"its process {self.ending} while the FMU was loaded; {self.repair}"))
        if self._channel.status == NO_LIBRARY:
            text = bytes(self._memory[Channel.text.offset : Channel.text.offset + TEXT])[12:].split(b"\0")[1]
            self.close()
            raise SlaveError(Problem(where, f"does not load: {text.decode(errors='replace')}"))

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def address(self) -> int:
        return ctypes.addressof(self._proxy)

    def _watch(self, alive: int) -> None:
        """In a thread of its own: ends a process whose call takes too long, and notes how it ended."""
        call, since, late, ended = -1, 0.0, "", False
        interval = min(_WATCH, self._limits.call / 4.0)
        while True:
            if ended:  # the process, or its end of the pipe alone
                time.sleep(_END)
            else:
                ended = bool(select.select([alive], [], [], interval)[0])
            with self._reaping:  # also while the pipe is open: what the FMU has forked may hold it
                pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
                if pid:
                    self._process.returncode = os.waitstatus_to_exitcode(status)
                    self._kill_group()
                    break
            asked, now = self._channel.asked, time.monotonic()
            if asked == self._channel.answered:
                call = -1
            elif asked != call:
                call, since = asked, now
            elif not late and now - since > (limit := self._limit(call)):
                late = f"call_limit = {limit:g} s" if limit == self._limits.call else f"{limit:g} s"
                self._kill()
        os.close(alive)
        if not self._closing:
            self.ending, self.repair = self._how(usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024), late)
        self._channel.ended = 1

    def _interrupt(self) -> None:
        """At Ctrl-C: the run ends between two steps, if the call that is made returns."""
        call = self._channel.asked
        if call != self._channel.answered:
            time.sleep(_PATIENCE)
            self.is_interrupted = self._channel.asked == call != self._channel.answered
            if self.is_interrupted:
                self._kill()

    def _limit(self, call: int) -> float:
        """s for a call by its number; the first one is the start of the process."""
        return max(self._limits.call, _START) if call == 1 else self._limits.call

    def _kill(self) -> None:
        with self._reaping:
            if self._process.returncode is None:
                self._kill_group()

    def _kill_group(self) -> None:
        """The process and what the FMU has started there.  While one of them is left, the number means no other."""
        with suppress(ProcessLookupError, PermissionError):  # macOS: where only a process without a parent is left
            os.killpg(self._process.pid, signal.SIGKILL)

    def _how(self, most_bytes: int, late: str) -> tuple[str, str]:
        """late: the limit of a call that did not return within it"""
        code = self._process.returncode
        if self.is_interrupted:
            return "did not return after Ctrl-C and was ended", "repair the FMU"
        if late:
            return f"did not return within {late} and was ended", "allow it more, or repair the FMU"
        if code >= 0:
            return f"ended its process with exit code {code}", "no FMU may do that: repair it"
        how = f"signal {-code}"
        with suppress(ValueError):
            how = signal.Signals(-code).name
        used, allowed = most_bytes / 2**20, self._limits.memory
        if used > _NEAR * allowed:
            memory = f"with {used:.0f} MiB in memory, of memory_limit = {allowed:g} MiB"
            return f"crashed ({how}) {memory}", "allow it more, or repair the FMU"
        return f"crashed ({how})", "copy or export the FMU again, or repair it"

    def close(self) -> None:
        """End the process.  An instance that is to be freed is freed before."""
        self._closing = True
        at_once.discard(self._interrupt)
        with suppress(OSError):
            assert self._process.stdin is not None
            if self._channel.function == _FREE:
                self._watcher.join(_GOODBYE)
            self._kill()
            self._process.stdin.close()
        self._watcher.join()


_FREE = child.FUNCTIONS.index("FreeInstance")
