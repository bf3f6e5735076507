"""The C interface of FMI 2.0 as an importer written in C would use it: nothing is checked or repaired on the way.

Arguments live in heap memory of exactly the size they need, so that the address sanitizer sees a read or write one byte
too far.  The importer's own side, memory and log, is `Importer`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from ctypes import c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any


class Status(IntEnum):
    OK = 0
    WARNING = 1
    DISCARD = 2
    ERROR = 3
    FATAL = 4
    PENDING = 5


MODEL_EXCHANGE, CO_SIMULATION = 0, 1  # fmi2Type

_REFERENCES = (c_void_p, c_void_p, c_size_t, c_void_p)
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "SetDebugLogging": (c_void_p, c_int, c_size_t, c_void_p),
    "SetupExperiment": (c_void_p, c_int, c_double, c_double, c_int, c_double),
    "EnterInitializationMode": (c_void_p,),
    "ExitInitializationMode": (c_void_p,),
    "Terminate": (c_void_p,),
    "Reset": (c_void_p,),
    "GetReal": _REFERENCES,
    "GetInteger": _REFERENCES,
    "GetBoolean": _REFERENCES,
    "GetString": _REFERENCES,
    "SetReal": _REFERENCES,
    "SetInteger": _REFERENCES,
    "SetBoolean": _REFERENCES,
    "SetString": _REFERENCES,
    "GetFMUstate": (c_void_p, c_void_p),
    "SetFMUstate": (c_void_p, c_void_p),
    "FreeFMUstate": (c_void_p, c_void_p),
    "SerializedFMUstateSize": (c_void_p, c_void_p, c_void_p),
    "SerializeFMUstate": (c_void_p, c_void_p, c_void_p, c_size_t),
    "DeSerializeFMUstate": (c_void_p, c_void_p, c_size_t, c_void_p),
    "GetDirectionalDerivative": (c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p, c_void_p),
    "SetRealInputDerivatives": (c_void_p, c_void_p, c_size_t, c_void_p, c_void_p),
    "GetRealOutputDerivatives": (c_void_p, c_void_p, c_size_t, c_void_p, c_void_p),
    "DoStep": (c_void_p, c_double, c_double, c_int),
    "CancelStep": (c_void_p,),
    "GetStatus": (c_void_p, c_int, c_void_p),
    "GetRealStatus": (c_void_p, c_int, c_void_p),
    "GetIntegerStatus": (c_void_p, c_int, c_void_p),
    "GetBooleanStatus": (c_void_p, c_int, c_void_p),
    "GetStringStatus": (c_void_p, c_int, c_void_p),
    "EnterEventMode": (c_void_p,),
    "NewDiscreteStates": (c_void_p, c_void_p),
    "EnterContinuousTimeMode": (c_void_p,),
    "CompletedIntegratorStep": (c_void_p, c_int, c_void_p, c_void_p),
    "SetTime": (c_void_p, c_double),
    "SetContinuousStates": (c_void_p, c_void_p, c_size_t),
    "GetDerivatives": (c_void_p, c_void_p, c_size_t),
    "GetEventIndicators": (c_void_p, c_void_p, c_size_t),
    "GetContinuousStates": (c_void_p, c_void_p, c_size_t),
    "GetNominalsOfContinuousStates": (c_void_p, c_void_p, c_size_t),
}

_Logger = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_char_p, c_char_p)  # the arguments after the text: none
_Allocate = ctypes.CFUNCTYPE(c_void_p, c_size_t, c_size_t)
_Free = ctypes.CFUNCTYPE(None, c_void_p)

_libc = ctypes.CDLL(None)
_libc.malloc.restype = _libc.calloc.restype = c_void_p
_libc.malloc.argtypes = (c_size_t,)
_libc.calloc.argtypes = (c_size_t, c_size_t)
_libc.free.argtypes = (c_void_p,)


class Callbacks(ctypes.Structure):
    """fmi2CallbackFunctions."""

    _fields_ = (
        ("logger", _Logger),
        ("allocateMemory", _Allocate),
        ("freeMemory", _Free),
        ("stepFinished", c_void_p),
        ("componentEnvironment", c_void_p),
    )


@dataclass(frozen=True)
class Message:
    """One call of the importer's logger; the texts are the bytes it was given."""

    environment: int
    name: bytes
    status: int
    category: bytes
    text: bytes


class Importer:
    """The importer's memory and log.

    alive     address -> bytes of what was allocated and not yet freed
    messages  what was logged since it was last cleared
    faults    misuse of the callbacks; a callback cannot raise through C
    exhausted true: allocations are answered with NULL"""

    def __init__(self) -> None:
        self.alive: dict[int, int] = {}
        self.messages: list[Message] = []
        self.faults: list[str] = []
        self.exhausted = False
        self._functions = (_Logger(self._log), _Allocate(self._allocate), _Free(self._free))

    def callbacks(self, environment: int, logger: bool = True, memory: bool = True) -> Callbacks:
        """A struct that is only valid as long as the caller keeps it, as the standard allows."""
        log, allocate, free = self._functions
        return Callbacks(
            log if logger else _Logger(),
            allocate if memory else _Allocate(),
            free if memory else _Free(),
            None,
            environment,
        )

    def _log(
        self, environment: int | None, name: bytes | None, status: int, category: bytes | None, text: bytes | None
    ) -> None:
        if name is None or category is None or text is None:
            self.faults.append(f"the logger was given NULL: name {name!r}, category {category!r}, text {text!r}")
            return
        self.messages.append(Message(environment or 0, name, status, category, text))

    def _allocate(self, count: int, size: int) -> int:
        if self.exhausted:
            return 0
        address = int(_libc.calloc(count, size))
        self.alive[address] = count * size
        return address

    def _free(self, address: int | None) -> None:
        if address is None:
            return
        if self.alive.pop(address, None) is None:
            self.faults.append(f"freeMemory was given {address:#x}, which is not allocated")
            return
        _libc.free(address)


class Arguments:
    """The memory of one call's arguments; use as a context."""

    def __init__(self) -> None:
        self._addresses: list[int] = []

    def __enter__(self) -> Arguments:
        return self

    def __exit__(self, *_: object) -> None:
        for address in self._addresses:
            _libc.free(address)

    def bytes(self, data: bytes) -> int:
        """The address of a copy of the bytes, with nothing behind them."""
        address = int(_libc.malloc(len(data)) or 0)
        ctypes.memmove(address, data, len(data))
        self._addresses.append(address)
        return address

    def text(self, text: str) -> int:
        return self.bytes(text.encode("utf-8") + b"\0")

    def texts(self, texts: Iterable[str | None]) -> int:
        return self.array(c_void_p, [None if text is None else self.text(text) for text in texts])

    def array(self, kind: Any, values: Sequence[Any]) -> int:
        return self.bytes(bytes((kind * len(values))(*values)))

    def reals(self, values: Sequence[float]) -> int:
        return self.array(c_double, values)

    def integers(self, values: Sequence[int]) -> int:
        return self.array(c_int, values)

    def references(self, values: Sequence[int]) -> int:
        return self.array(c_uint, values)


def read_bytes(address: int, size: int) -> bytes:
    return ctypes.string_at(address, size)


def read_pointer(address: int) -> int:
    """The pointer stored at an address, 0 for NULL."""
    return int(c_void_p.from_address(address).value or 0)


class Library:
    """A loaded FMU.  `calls` counts all calls but those of `call_silently`."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self.calls = 0
        self._functions = {name: self._bind(name, c_int, arguments) for name, arguments in ARGUMENTS.items()}
        self._free = self._bind("FreeInstance", None, (c_void_p,))
        self._types_platform = self._bind("GetTypesPlatform", c_char_p, ())
        self._version = self._bind("GetVersion", c_char_p, ())
        self._instantiate = self._bind(
            "Instantiate", c_void_p, (c_void_p, c_int, c_void_p, c_void_p, c_void_p, c_int, c_int)
        )

    def _bind(self, name: str, result: Any, arguments: tuple[Any, ...]) -> Any:
        function = getattr(self._library, f"fmi2{name}")
        function.restype, function.argtypes = result, arguments
        return function

    def call(self, name: str, *arguments: Any) -> int:
        """fmi2<name>; returns its status."""
        self.calls += 1
        return int(self._functions[name](*arguments))

    def call_silently(self, name: str, *arguments: Any) -> int:
        """The same, not counted: for looking at what calls have done."""
        return int(self._functions[name](*arguments))

    def instantiate(self, *arguments: Any) -> int:
        """fmi2Instantiate; returns the component, 0 for NULL."""
        self.calls += 1
        return int(self._instantiate(*arguments) or 0)

    def free_instance(self, component: int | None) -> None:
        self.calls += 1
        self._free(component)

    def version(self) -> tuple[bytes, bytes]:
        """What fmi2GetTypesPlatform and fmi2GetVersion answer."""
        self.calls += 2
        return self._types_platform(), self._version()
