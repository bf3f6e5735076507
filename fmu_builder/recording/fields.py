"""The fields of a record (record_file.h), checked against its function and read."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from fmu_builder.export.smoke import EVENT_FLAGS
from fmu_builder.recording.functions import CALLBACKS, Function

INTEGERS, REFERENCES, REALS, BYTES, TEXTS, NUMBERS = range(1, 7)
_IS_NULL = 0x80
_SIZES = {INTEGERS: (4, "i"), REFERENCES: (4, "I"), REALS: (8, "d"), BYTES: (1, "B"), NUMBERS: (8, "Q")}
_NULL_TEXT = 0xFFFFFFFF
_COUNTS = {"callbacks": len(CALLBACKS), "flags": len(EVENT_FLAGS)}  # arrays of a size that is known
_KINDS = {
    TEXTS: "text instanceName fmuGUID fmuResourceLocation categories",
    REFERENCES: "vr vUnknown_ref vKnown_ref",
    NUMBERS: "FMUstate size nx ni",
    BYTES: "serializedState",
    REALS: "tolerance startTime stopTime dvKnown dvUnknown nextEventTime time x x_nominal derivatives eventIndicators "
    "currentCommunicationPoint communicationStepSize",
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}

Value = int | float | str | bytes | list[int] | list[float] | list[str | None] | None
"""An argument: of an array a list or bytes, of a null pointer None."""


def check_fields(function: Function, names: Sequence[str], body: memoryview) -> None:
    """Raises ValueError or struct.error unless `body` holds the arguments `names` of the function, and nothing else."""
    at = 0
    for name in names:
        kind, count, end = _field(body, at)
        if kind & ~_IS_NULL != _kind(function, name):
            raise ValueError(f"{name} is of kind {kind}")
        whole = _COUNTS.get(name, count if name in function.arrays or kind & ~_IS_NULL == BYTES else 1)
        if count != whole:
            raise ValueError(f"{name} has {count} values")
        if kind & _IS_NULL and name not in function.arrays and name in function.inputs and name != "FMUstate":
            raise ValueError(f"{name} has no value")
        at = end
    if at != len(body):
        raise ValueError("there are more fields")


def _kind(function: Function, name: str) -> int:
    if name == "value":
        return REALS if "Real" in function.name else TEXTS if "String" in function.name else INTEGERS
    return _KIND_OF.get(name, INTEGERS)


def _field(body: memoryview, at: int) -> tuple[int, int, int]:
    """Kind, count, and where the next field begins."""
    kind, count = struct.unpack_from("<II", body, at)
    at += 8
    if kind & _IS_NULL:
        return kind, count, at
    if kind == TEXTS:
        size = 0
        for _ in range(count):
            (length,) = struct.unpack_from("<I", body, at + size)
            size += 4 + (0 if length == _NULL_TEXT else length)
    elif kind in _SIZES:
        size = count * _SIZES[kind][0]
    else:
        raise ValueError(f"a field is of kind {kind}")
    if at + size + -size % 8 > len(body):
        raise ValueError("a field is longer than its record")
    return kind, count, at + size + -size % 8


def fields(body: memoryview) -> list[Value]:
    """The fields of a record, arrays all of them.  Raises ValueError or struct.error for what are none."""
    found: list[Value] = []
    at = 0
    while at < len(body):
        kind, count, end = _field(body, at)
        at += 8
        if kind & _IS_NULL:
            found.append(None)
        elif kind == TEXTS:
            found.append(_texts(body[at:], count))
        elif kind == BYTES:
            found.append(bytes(body[at : at + count]))
        else:
            found.append(list(struct.unpack_from(f"<{count}{_SIZES[kind][1]}", body, at)))
        at = end
    return found


def _texts(body: memoryview, count: int) -> list[str | None]:
    texts: list[str | None] = []
    at = 0
    for _ in range(count):
        (length,) = struct.unpack_from("<I", body, at)
        at += 4
        if length == _NULL_TEXT:
            texts.append(None)
        else:
            texts.append(bytes(body[at : at + length]).decode("utf-8", "backslashreplace"))
            at += length
    return texts


def named_fields(function: Function, names: tuple[str, ...], body: memoryview) -> Mapping[str, Value]:
    """The arguments by name; none where the call has no answer."""
    return {
        name: value if name in function.arrays or not isinstance(value, list) else value[0]
        for name, value in zip(names, fields(body), strict=False)
    }
