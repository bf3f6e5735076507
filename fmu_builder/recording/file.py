"""The file of a recording (record_file.h describes it), read into calls."""

from __future__ import annotations

import mmap
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from fmu_builder.check.document import Description, Scalar, by_reference
from fmu_builder.errors import InputError, Problem
from fmu_builder.recording.fields import Value, check_fields, fields, named_fields
from fmu_builder.recording.functions import BY_NAME, FUNCTIONS, Function
from fmu_builder.recording.messages import formatted

_MAGIC, _VERSION, _HEADER_SIZE = b"FMUCALLS", 1, 4096
_RATE_AT = 16  # place of the ticks in a second
_HEADER = struct.Struct("<8sIIQQQIII")
_HEAD = struct.Struct("<IBBHiIQQQ")
_DESCRIPTION, _BEGIN, _END, _LOG, _STEP_FINISHED = range(1, 6)
_LARGEST_DESCRIPTION = 2**30  # bytes

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
        """The arguments by name."""
        return named_fields(self.function, self.function.inputs, self._inputs)

    @property
    def outputs(self) -> Mapping[str, Value]:
        """What was returned, by name; empty after a status other than fmi2OK and fmi2Warning."""
        return named_fields(self.function, self.function.outputs, self._outputs)

    @property
    def end(self) -> float | None:
        """s since the recording began; None if the call has not returned."""
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

    calls     each a Call           messages  each a Message
    names     of the instances, by their number; the first one is empty
    process   its number            path      the file
    is_whole  false if the disk became full: calls are missing at the end
    Raises InputError for a file that is no recording, or not all of one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        data = _mapped(path)
        if len(data) < _HEADER_SIZE or data[:8] != _MAGIC:
            what = "is no recording of calls, or only the beginning of one" if data[:8] == _MAGIC else _NO_RECORDING
            raise InputError(Problem(str(path), what))
        header = _HEADER.unpack_from(data)
        _, version, self.process, self._rate, self._start, *_, stopped = header
        if not self._rate:
            raise self._damaged(_RATE_AT, "a clock that stands still, of 0 ticks in a second")
        if version != _VERSION:
            what = f"has version {version} of the format, and this fmu-builder reads {_VERSION}: record it again"
            raise InputError(Problem(str(path), what))
        self.is_whole = not stopped
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
        at = _HEADER_SIZE
        try:
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
                    check_fields(one, one.inputs, body)
                    instance = components.pop(component, 0) if one is _FREE else components.get(component, 0)
                    call = Call(number, one, component, instance, thread, time, _inputs=body)
                    self.calls.append(call)
                    running[number] = call
                    stack.append(call)
                elif kind == _END and number in running and running[number].function.number == function:
                    call = running.pop(number)
                    call.duration, call.status, call._outputs = time - call.begin, status, body
                    check_fields(call.function, call.function.outputs if len(body) else (), body)
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
        except (ValueError, struct.error) as error:
            raise self._damaged(at, "a record whose fields are not those of its function") from error

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
        texts, *arguments = fields(body)
        if not isinstance(texts, list) or len(texts) != 3:
            raise ValueError("a message has no texts")
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
        """What that file declares."""
        return Description(self.xml, str(self.path))

    @cached_property
    def by_reference(self) -> Mapping[tuple[str, int], Sequence[Scalar]]:
        """Its variables, by type and value reference."""
        return by_reference(self.description)

    def name_of(self, family: str, reference: int) -> str:
        """The variable of a type and a value reference; of aliases the first one."""
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
