"""The file of a recording (record_file.h describes it), read into calls."""

from __future__ import annotations

import mmap
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from fmu_builder.check.document import Description, Scalar
from fmu_builder.errors import InputError, Problem
from fmu_builder.recording.functions import BY_NAME, FUNCTIONS, Function
from fmu_builder.recording.messages import formatted

_MAGIC, _VERSION, _HEADER_SIZE = b"FMUCALLS", 1, 4096
_HEADER = struct.Struct("<8sIIQQQIII")
_HEAD = struct.Struct("<IBBHiIQQQ")
_DESCRIPTION, _BEGIN, _END, _LOG, _STEP_FINISHED = range(1, 6)
_INTEGERS, _REFERENCES, _REALS, _BYTES, _TEXTS, _NUMBERS = range(1, 7)
_IS_NULL = 0x80
_SIZES = {_INTEGERS: (4, "i"), _REFERENCES: (4, "I"), _REALS: (8, "d"), _BYTES: (1, "B"), _NUMBERS: (8, "Q")}
_LARGEST_DESCRIPTION = 2**30  # bytes

Value = int | float | str | bytes | list[int] | list[float] | list[str | None] | None
"""An argument: of an array a list or bytes, of a null pointer None."""

_INSTANTIATE, _FREE = BY_NAME["fmi2Instantiate"], BY_NAME["fmi2FreeInstance"]


@dataclass(slots=True, eq=False)
class Call:
    """A call of the FMU.

    number    from 1, in the order of beginning     thread  from 1, in the order of appearance
    instance  from 1, in the order of instantiation; 0 where there is none, or the pointer is of none
    begin     s since the recording began           duration  s, None if the call has not returned
    status    0 fmi2OK ... 5 fmi2Pending; None if it has not returned"""

    number: int
    function: Function
    component: int
    instance: int
    thread: int
    begin: float
    duration: float | None = None
    status: int | None = None
    _inputs: memoryview = field(default_factory=lambda: memoryview(b""), repr=False)
    _outputs: memoryview = field(default_factory=lambda: memoryview(b""), repr=False)

    @property
    def inputs(self) -> Mapping[str, Value]:
        return _named(self.function, self.function.inputs, self._inputs)

    @property
    def outputs(self) -> Mapping[str, Value]:
        """Empty after a status other than fmi2OK and fmi2Warning."""
        return _named(self.function, self.function.outputs, self._outputs)

    @property
    def end(self) -> float | None:
        return None if self.duration is None else self.begin + self.duration


@dataclass(frozen=True)
class Message:
    """What the FMU logged, or that a step has finished.   call: number of that in whose course the same thread made it,
    0 without one"""

    call: int
    time: float
    kind: str  # logger or stepFinished
    status: int
    instance: int
    category: str = ""
    text: str = ""


class Recording:
    """The calls of one process to an FMU, in the order of beginning.

    is_whole  false if the disk became full: calls are missing at the end
    Raises InputError for a file that is no recording, or not all of one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        data = _mapped(path)
        if len(data) < _HEADER_SIZE or data[:8] != _MAGIC:
            what = "is no recording of calls, or only the beginning of one" if data[:8] == _MAGIC else _NO_RECORDING
            raise InputError(Problem(str(path), what))
        header = _HEADER.unpack_from(data)
        _, version, self.process, self._rate, self._start, self.date_ns, _, long_of_8, stopped = header
        if version != _VERSION:
            what = f"has version {version} of the format, and this fmu-builder reads {_VERSION}: record it again"
            raise InputError(Problem(str(path), what))
        self.is_whole = not stopped
        self._long_of_8 = bool(long_of_8)
        self._description = b""
        self.calls: list[Call] = []
        self.messages: list[Message] = []
        self.names: list[str] = [""]  # of the instances, by number
        self._read(data)

    def _read(self, data: memoryview) -> None:
        components: dict[int, int] = {}  # instances by pointer, while they live
        threads: dict[int, int] = {}
        running: dict[int, Call] = {}
        stacks: dict[int, list[Call]] = {}  # of each thread: a logger may call the FMU
        for at, head, body in self._records(data):
            _, kind, function, _, status, number, component, thread, tick = head
            time = (tick - self._start) / self._rate
            if kind == _DESCRIPTION:
                self._description = bytes(body[8 : 8 + struct.unpack_from("<I", body, 4)[0]])
                continue
            thread = threads.setdefault(thread, len(threads) + 1)
            stack = stacks.setdefault(thread, [])
            if kind == _BEGIN and function < len(FUNCTIONS):
                one = FUNCTIONS[function]
                instance = components.pop(component, 0) if one is _FREE else components.get(component, 0)
                call = Call(number, one, component, instance, thread, time, _inputs=body)
                self.calls.append(call)
                running[number] = call
                stack.append(call)
            elif kind == _END and number in running:
                call = running.pop(number)
                call.duration, call.status, call._outputs = time - call.begin, status, body
                if call in stack:
                    stack.remove(call)
                if call.function is _INSTANTIATE and component:
                    call.component, call.instance = component, len(self.names)
                    components[component] = call.instance
                    self.names.append(str(call.inputs["instanceName"]))
            elif kind in (_LOG, _STEP_FINISHED):
                self.messages.append(self._message(kind, status, stack, components.get(component, 0), time, body))
            else:
                raise self._damaged(at, f"a record of kind {kind} that does not fit the ones before it")

    def _records(self, data: memoryview) -> Iterator[tuple[int, tuple[int, ...], memoryview]]:
        at = _HEADER_SIZE
        while at + 4 <= len(data):
            (size,) = struct.unpack_from("<I", data, at)
            if size == 0:  # the file was not closed: its end is reserved
                return
            if size < _HEAD.size or size % 8:
                raise self._damaged(at, f"a record of {size} bytes")
            if at + size > len(data):
                what = f"ends within the record at byte {at}, after {len(self.calls)} calls: copy it again"
                raise InputError(Problem(str(self.path), what))
            yield at, _HEAD.unpack_from(data, at), data[at + _HEAD.size : at + size]
            at += size

    def _damaged(self, at: int, what: str) -> InputError:
        return InputError(Problem(str(self.path), f"is damaged: at byte {at} there is {what}; copy it again"))

    def _message(
        self, kind: int, status: int, stack: list[Call], instance: int, time: float, body: memoryview
    ) -> Message:
        call = stack[-1].number if stack else 0
        instance = instance or (stack[-1].instance if stack else 0)
        if kind == _STEP_FINISHED:
            return Message(call, time, "stepFinished", status, instance)
        texts, *arguments = _fields(body)
        assert isinstance(texts, list)
        text = formatted(str(texts[2] or ""), [one[0] if isinstance(one, list) else None for one in arguments])
        return Message(call, time, "logger", status, instance, str(texts[1] or ""), text)

    @cached_property
    def xml(self) -> bytes:
        """modelDescription.xml of the FMU."""
        try:
            inflate = zlib.decompressobj()
            text = inflate.decompress(self._description, _LARGEST_DESCRIPTION)
        except zlib.error as error:
            what = "holds a damaged modelDescription.xml: copy it again"
            raise InputError(Problem(str(self.path), what)) from error
        return text

    @cached_property
    def description(self) -> Description:
        return Description(self.xml, str(self.path))

    @cached_property
    def by_reference(self) -> Mapping[tuple[str, int], Sequence[Scalar]]:
        """The variables of a type (an Enumeration is an Integer) and value reference."""
        found: dict[tuple[str, int], list[Scalar]] = {}
        for v in self.description.variables:
            found.setdefault(("Integer" if v.type == "Enumeration" else v.type, v.reference), []).append(v)
        return found

    def name_of(self, family: str, reference: int) -> str:
        """Of aliases that of the first."""
        variables = self.by_reference.get((family, reference))
        return variables[0].name if variables else f"#{reference}"


_NO_RECORDING = "is no recording of calls; `fmu-builder record X.fmu` makes an FMU that writes some"


def _mapped(path: Path) -> memoryview:
    try:
        if path.exists() and not path.is_file():
            raise InputError(Problem(str(path), "is no file"))
        with path.open("rb") as file:
            if path.stat().st_size == 0:
                return memoryview(b"")
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be read: {error.strerror or error}")) from error


def _fields(body: memoryview) -> list[Value]:
    """The fields of a record, arrays all of them."""
    found: list[Value] = []
    at = 0
    while at + 8 <= len(body):
        kind, count = struct.unpack_from("<II", body, at)
        at += 8
        if kind & _IS_NULL:
            found.append(None)
        elif kind == _TEXTS:
            texts, size = _texts(body[at:], count)
            found.append(texts)
            at += size + -size % 8
        elif kind == _BYTES:
            found.append(bytes(body[at : at + count]))
            at += count + -count % 8
        else:
            width, code = _SIZES[kind]
            found.append(list(struct.unpack_from(f"<{count}{code}", body, at)))
            at += count * width + -count * width % 8
    return found


def _texts(body: memoryview, count: int) -> tuple[list[str | None], int]:
    texts: list[str | None] = []
    at = 0
    for _ in range(count):
        (length,) = struct.unpack_from("<I", body, at)
        at += 4
        if length == 0xFFFFFFFF:
            texts.append(None)
        else:
            texts.append(bytes(body[at : at + length]).decode("utf-8", "backslashreplace"))
            at += length
    return texts, at


def _named(function: Function, names: tuple[str, ...], body: memoryview) -> Mapping[str, Value]:
    values = _fields(body)
    return {
        name: value if name in function.arrays or not isinstance(value, list) else value[0]
        for name, value in zip(names, values, strict=False)
    }
