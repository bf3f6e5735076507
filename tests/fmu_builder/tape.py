"""Recordings that no FMU made, for tests: calls as a test wants them, in the format of record_file.h."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from echo import XML

from fmu_builder.recording.functions import BY_NAME

_INTEGERS, _REFERENCES, _REALS, _BYTES, _TEXTS, _NUMBERS = range(1, 7)
_KINDS = {"vr": _REFERENCES, "vUnknown_ref": _REFERENCES, "vKnown_ref": _REFERENCES}
_KINDS |= dict.fromkeys(("FMUstate", "size", "nx", "ni"), _NUMBERS)
X, DER_X, U, K, M, Y = range(6)  # value references of Reals of echo.py
CO_SIMULATION, MODEL_EXCHANGE = 1, 0


class Tape:
    """Calls, one after the other, of instances of Echo.fmu.

    A call is written by its name without fmi2, with its inputs in order, and by name `out` (outputs in order),
    `status`, `thread`, `component`; `inside` are calls that begin before it ends."""

    def __init__(self, description: str = XML.replace("GUID", "e")) -> None:
        self._records: list[bytes] = []
        self._calls = self._tick = 0
        self.component = 0x1000
        self._description = zlib.compress(description.encode())
        self._record(1, 0, 0, 0, 0, 1, [self._description])

    def __call__(
        self,
        name: str,
        *inputs: Any,
        out: Sequence[Any] = (),
        status: int | None = 0,
        thread: int = 1,
        component: int | None = None,
        inside: Sequence[tuple[Any, ...]] = (),
    ) -> None:
        function = BY_NAME[f"fmi2{name}"]
        self._calls += 1
        number, own = self._calls, self.component if component is None else component
        given = 0 if name == "Instantiate" else own
        self._record(2, function.number, 0, number, given, thread, inputs, function.inputs)
        for other, *arguments in inside:
            self(other, *arguments, thread=thread + 1)
        if status is not None:
            self._record(3, function.number, status, number, own, thread, out, function.outputs)

    def instantiate(
        self, name: str | None = "a", kind: int = 1, guid: str = "e", place: str | None = "file:///r", **options: Any
    ) -> Tape:
        callbacks = options.pop("callbacks", [1, 1, 1, 0])
        self("Instantiate", name, kind, guid, place, callbacks, 0, 1, **options)
        return self

    def set_up(self, start: float = 0.0, stop: float | None = None, tolerance: float | None = None) -> None:
        given = tolerance is not None, stop is not None
        self("SetupExperiment", int(given[0]), tolerance or 0.0, start, int(given[1]), stop or 0.0)

    def start(self, **experiment: Any) -> Tape:
        self.set_up(**experiment)
        self("EnterInitializationMode")
        self("ExitInitializationMode")
        return self

    def events(self, *flags: int, at: float = 0.0) -> None:
        self("NewDiscreteStates", out=([*flags, *[0] * (5 - len(flags))], at))

    def _record(
        self, kind: int, function: int, status: int, call: int, component: int, thread: int,
        values: Sequence[Any], names: Sequence[str] = (),
    ) -> None:  # fmt: skip
        body = b"".join(_field(value, _KINDS.get(name, 0)) for name, value in zip(names or [""], values, strict=False))
        self._tick += 1000
        size = 40 + len(body)
        head = struct.pack("<IBBHiIQQQ", size, kind, function, 0, status, call, component, thread, self._tick)
        self._records.append(head + body)

    def write(self, path: Path) -> Path:
        header = struct.pack("<8sIIQQQIII", b"FMUCALLS", 1, 7, 1_000_000_000, 0, 0, 8, 1, 0)
        path.write_bytes(header.ljust(4096, b"\0") + b"".join(self._records))
        return path


def _field(value: Any, kind: int) -> bytes:
    if value is None and kind:
        return struct.pack("<II", kind | 0x80, 1)
    if value is None or isinstance(value, str):
        value = [value]
    if isinstance(value, bytes):
        return struct.pack("<II", _BYTES, len(value)) + value + bytes(-len(value) % 8)
    many = value if isinstance(value, list) else [value]
    if many and isinstance(many[0], (str, type(None))):
        texts = [one if one is None else one.encode() for one in many]
        data = b"".join(struct.pack("<I", 2**32 - 1 if one is None else len(one)) + (one or b"") for one in texts)
        return struct.pack("<II", _TEXTS, len(many)) + data + bytes(-len(data) % 8)
    kind = kind or (_REALS if any(isinstance(one, float) for one in many) else _INTEGERS)
    code = {_INTEGERS: "i", _REFERENCES: "I", _REALS: "d", _NUMBERS: "Q"}[kind]
    data = struct.pack(f"<{len(many)}{code}", *many)
    return struct.pack("<II", kind, len(many)) + data + bytes(-len(data) % 8)
