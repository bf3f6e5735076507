"""An FMU in a process of its own.

`python -P child.py ARGUMENTS`, JSON: the file descriptors of the shared memory and of a pipe that stays open as long as
this process lives, the libraries, what the FMU is instantiated with, and limits.  stdin is a pipe that the master holds
open: when the master ends, however it does, so does this process.

It starts as an ordinary script and imports little: of this package nothing."""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import struct
import sys
import threading
from ctypes import byref, c_char, c_char_p, c_double, c_int, c_int32, c_uint32, c_uint64, c_void_p

TEXT = 65536  # bytes of messages between two calls
_LONGEST = 16384  # bytes of one message
NO_LIBRARY, NO_INSTANCE = 1, 2  # answers to the first request, that for an instance

FUNCTIONS = (  # by their numbers in channel.c
    "SetupExperiment",
    "EnterInitializationMode",
    "ExitInitializationMode",
    "Terminate",
    "Reset",
    "GetReal",
    "GetInteger",
    "GetBoolean",
    "SetReal",
    "SetInteger",
    "SetBoolean",
    "SetString",
    "DoStep",
    "GetFMUstate",
    "SetFMUstate",
    "FreeFMUstate",
    "GetDirectionalDerivative",
    "SetRealInputDerivatives",
    "GetRealOutputDerivatives",
    "GetRealStatus",
    "GetBooleanStatus",
    "FreeInstance",
)


class Channel(ctypes.Structure):
    """What channel.c calls so, without its data."""

    _fields_ = (
        ("asked", c_uint32),
        ("answered", c_uint32),
        ("ended", c_uint32),
        ("sleeps", c_uint32),
        ("function", c_uint32),
        ("status", c_int32),
        ("flags", c_int32 * 2),
        ("counts", c_uint64 * 2),
        ("state", c_uint64),
        ("numbers", c_double * 3),
        ("text_size", c_uint64),
        ("text_lost", c_uint64),
        ("capacity", c_uint64),
        ("text", c_char * TEXT),
    )


class Waiting(ctypes.Structure):
    _fields_ = (
        ("system", c_void_p),
        ("sleep", c_void_p),
        ("looks", c_uint64),
        ("sleep_first", c_uint32),
        ("next_sleep_first", c_uint32),
    )


class _Server(ctypes.Structure):
    _fields_ = (
        ("channel", c_void_p),
        ("component", c_void_p),
        ("waiting", Waiting),
        ("functions", c_void_p * len(FUNCTIONS)),
    )


_Logger = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_char_p, c_char_p)


class _Callbacks(ctypes.Structure):
    """fmi2CallbackFunctions."""

    _fields_ = (
        ("logger", _Logger),
        ("allocateMemory", c_void_p),
        ("freeMemory", c_void_p),
        ("stepFinished", c_void_p),
        ("componentEnvironment", c_void_p),
    )


def waiting(looks: int) -> Waiting:
    """How a process waits for the other one.   looks: at the memory, before it sleeps"""
    libc = ctypes.CDLL(None)
    system = address(libc.syscall) if sys.platform == "linux" else None
    return Waiting(system, address(libc.nanosleep), looks, 0, 1)


def address(function: ctypes._NamedFuncPointer) -> int | None:
    return ctypes.cast(function, c_void_p).value


def _end_with_the_master() -> None:
    while os.read(0, 4096):
        pass
    os.killpg(0, 9)  # with what the FMU has started in this session, of which it is the leader


class _Messages:
    """Messages of the slave, written into the channel until the master takes them."""

    def __init__(self, channel: Channel, at: int) -> None:
        self._channel, self._at = channel, at
        self._lock = threading.Lock()

    def add(self, status: int, category: bytes, text: bytes) -> None:
        texts = (category[:_LONGEST] + b"\0", text[:_LONGEST] + b"\0")
        record = struct.pack("=iII", status, *map(len, texts)) + b"".join(texts)
        record += bytes(-len(record) % 4)
        with self._lock:
            size = self._channel.text_size
            if size + len(record) > TEXT:
                self._channel.text_lost += 1
                return
            ctypes.memmove(self._at + size, record, len(record))
            self._channel.text_size = size + len(record)

    def receive(self, _: int | None, __: bytes | None, status: int, category: bytes | None, text: bytes | None) -> None:
        self.add(status, category or b"", text or b"")


def _limit(most_bytes: int) -> None:
    """Of what this process may allocate.  Not RLIMIT_AS: virtual machines reserve far more addresses than they use."""
    import resource  # not on Windows, where this file is read for its structs

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        most_bytes = min(most_bytes, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, hard))


def main() -> int:
    given = json.loads(sys.argv[1])
    os.set_inheritable(given["memory"], False)
    os.set_inheritable(given["life"], False)
    threading.Thread(target=_end_with_the_master, daemon=True).start()
    memory = mmap.mmap(given["memory"], 0)
    channel = Channel.from_buffer(memory)
    messages = _Messages(channel, ctypes.addressof(channel) + Channel.text.offset)
    serve = ctypes.CDLL(given["channel"]).serve
    libc = ctypes.CDLL(None)
    logger = _Logger(messages.receive)
    callbacks = _Callbacks(logger, address(libc.calloc), address(libc.free), None, 1)
    proxy = ctypes.CDLL(given["logging"])  # of fmpy: completes the texts of variadic messages
    proxy.addLoggerProxy.argtypes, proxy.addLoggerProxy.restype = (c_void_p,), None
    proxy.addLoggerProxy(byref(callbacks))
    _limit(given["most_bytes"])
    before = os.getcwd()  # noqa: PTH109
    os.chdir(os.path.dirname(given["library"]))  # noqa: PTH120  as fmpy does, for libraries that load others
    try:
        library = ctypes.CDLL(given["library"])
        instantiate = library.fmi2Instantiate
    except (OSError, AttributeError) as error:
        messages.add(3, b"load", str(error).encode())
        channel.status, channel.answered = NO_LIBRARY, 1
        return 1
    finally:
        os.chdir(before)
    instantiate.argtypes = (c_char_p, c_int, c_char_p, c_char_p, c_void_p, c_int, c_int)
    instantiate.restype = c_void_p
    texts = (given[key].encode() for key in ("name", "guid", "resources"))
    name, guid, resources = texts
    component = instantiate(name, 1, guid, resources, byref(callbacks), 0, 1)
    if not component:
        channel.status, channel.answered = NO_INSTANCE, 1
        os.read(0, 1)  # the master reads the messages first
        return 1
    found = [getattr(library, f"fmi2{function}", None) for function in FUNCTIONS]
    functions = (c_void_p * len(FUNCTIONS))(*(one and address(one) for one in found))
    server = _Server(ctypes.addressof(channel), component, waiting(given["looks"]), functions)
    channel.status, channel.answered = 0, 1
    serve.argtypes, serve.restype = (c_void_p,), None
    serve(byref(server))
    return 0


if __name__ == "__main__":
    sys.exit(main())
