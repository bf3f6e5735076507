"""The operations of a tick as loop.c reads them, and the loop in C, which runs them without Python's lock."""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable, Sequence
from ctypes import POINTER, byref, c_double, c_int32, c_uint8, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.link import function_address
from fmu_builder.cosim.loop.operations import (
    Access,
    Clock,
    Combine,
    Copy,
    Finite,
    Keep,
    Operation,
    Step,
    Together,
    Watch,
    Work,
)
from fmu_builder.errors import ToolError
from fmu_builder.export.host import shared_library

_ACCESS, _STEP, _COMBINE, _FINITE, _WATCH, _WORK, _COPY, _KEEP, _GROUP = range(9)
_DONE, _PAUSED, _ANSWERED, _CHANGED, _NOT_FINITE, _GROUP_ENDED = range(6)
INTERVAL = 0.04  # s between two looks at Ctrl-C and the progress
_LINE = 64  # bytes of the cache, and of an operation


class _Function(ctypes.Union):
    _fields_ = (("function", c_void_p), ("terms", c_uint64))


class _Table(ctypes.Union):
    _fields_ = (("table", c_void_p), ("step", c_double))


class _Row(ctypes.Structure):
    _fields_ = (("stride", c_uint32), ("row", c_uint32))


class _Rows(ctypes.Union):
    _anonymous_ = ("of_rows",)
    _fields_ = (("of_rows", _Row), ("seen", c_void_p))


class _Operation(ctypes.Structure):
    _anonymous_ = ("call", "given", "place")
    _fields_ = (
        ("call", _Function),
        ("component", c_void_p),
        ("given", _Table),
        ("values", c_void_p),
        ("place", _Rows),
        ("rows", c_uint32),
        ("count", c_uint32),
        ("every", c_uint32),
        ("wait", c_uint32),
        ("back", c_uint32),
        ("kind", c_uint8),
        ("is_held", c_uint8),
        ("checks", c_uint8),
        ("is_passed", c_uint8),
    )


class _Loop(ctypes.Structure):
    _fields_ = (
        ("start", c_double),
        ("step", c_double),
        ("tick", c_uint64),
        ("end", c_uint64),
        ("operations", POINTER(_Operation)),
        ("size", c_uint32),
        ("next", c_uint32),
        ("status", c_int32),
        ("pause", c_int32),
    )


_TERM = np.dtype([("source", np.uintp), ("factor", np.float64), ("offset", np.float64), ("target", np.uint64)])


@functools.cache
def loop_library() -> ctypes.CDLL:
    """loop.c, compiled at first use.  Raises ToolError."""
    path = shared_library(Path(__file__).with_name("loop.c"))
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:  # damaged, or in a folder of which nothing may be executed
        raise ToolError(f"{path} cannot be loaded: {error}; delete its folder to build it again") from error
    library.run_loop.argtypes, library.run_loop.restype = (POINTER(_Loop),), ctypes.c_int
    library.prepare_group.argtypes, library.prepare_group.restype = (c_void_p, c_void_p), c_uint64
    return library


def _checked(operations: Sequence[Operation]) -> list[tuple[Operation, Finite | None]]:
    """The operations without checks that follow the call whose values they check: those belong to the call."""
    found: list[tuple[Operation, Finite | None]] = []
    for one in operations:
        before = found[-1][0] if found else None
        if (
            isinstance(one, Finite)
            and isinstance(before, Access)
            and not before.stride
            and before.link.memory is one.memory
            and (before.every, before.phase) == (one.every, one.phase)
        ):
            found[-1] = (before, one)
        else:
            found.append((one, None))
    return found


class CompiledLoop:
    """The loop of these operations in C.   Raises ToolError if it cannot be compiled or loaded."""

    def __init__(self, operations: Sequence[Operation], clock: Clock) -> None:
        library = loop_library()
        self._run, self._prepare = library.run_loop, library.prepare_group
        self._operations = operations
        self._kept: list[NDArray[Any]] = []  # tables that the loop reads
        self._written_ones = _checked(operations)
        memory = bytearray((len(self._written_ones) + 1) * _LINE)
        place = -ctypes.addressof(ctypes.c_char.from_buffer(memory)) % _LINE
        self._array = (_Operation * len(self._written_ones)).from_buffer(memory, place)
        for k, (operation, check) in enumerate(self._written_ones):
            self._array[k] = self._written(operation)
            self._array[k].checks = check is not None
        self._begin = bytes(self._array)
        self._loop = _Loop(start=clock.start, step=clock.step, size=len(self._array))
        self._loop.operations = ctypes.cast(self._array, POINTER(_Operation))
        self._ended = threading.Event()
        self._clock = threading.Thread(target=self._pause_regularly, name="pauses of the master", daemon=True)

    def __enter__(self) -> CompiledLoop:
        self._clock.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._clock.join()
        for one in self._operations:
            if isinstance(one, Together):
                one.compiled.read_back()

    def _pause_regularly(self) -> None:
        """In a thread of its own: signals reach Python only between two calls of the loop."""
        while not self._ended.wait(INTERVAL):
            self.pause()

    def pause(self) -> None:
        """Call `between` at the end of this tick, from any thread."""
        self._loop.pause = 1

    def rewind(self) -> None:
        """Begin with tick 0 once more."""
        ctypes.memmove(self._array, self._begin, len(self._begin))  # rows and ticks that operations have counted
        self._loop.pause = 0

    def advance(self, tick: int, end: int, between: Callable[[int], str | None]) -> tuple[int, str | None]:
        """Run the ticks from `tick` on to `end`; returns the ticks that are done, and a note if it ended before.

        between   is called with the ticks that are done every few hundredths of a second; a note ends the run"""
        loop = self._loop
        loop.tick, loop.end, loop.next = tick, end, 0
        while (outcome := self._run(byref(loop))) != _DONE:
            if outcome == _PAUSED:
                loop.pause = 0
                note = between(loop.tick)
            else:
                note = self._in_python(outcome)
            if note:
                return int(loop.tick), note
        return end, None

    def _in_python(self, outcome: int) -> str | None:
        (operation, check), tick = self._written_ones[int(self._loop.next) - 1], int(self._loop.tick)
        match operation:
            case Access() if outcome == _NOT_FINITE and check is not None:
                return check.not_finite(tick)
            case Access() | Keep() | Step() | Watch() if outcome == _ANSWERED:
                ended = operation.answered(self._loop.status, tick)
                return check.not_finite(tick) if check is not None and ended is None else ended
            case Watch() if outcome == _CHANGED:
                operation.changed(tick)
                return None
            case Together(compiled=compiled) if outcome == _GROUP_ENDED:
                return compiled.ended(tick)
            case Finite() if outcome == _NOT_FINITE:
                return operation.not_finite(tick)
        raise AssertionError(f"{operation} cannot return {outcome}")

    def _written(self, operation: Operation) -> _Operation:
        written = _Operation(every=operation.every, wait=operation.phase, rows=1)
        match operation:
            case Access(link=link) | Watch(link=link):
                written.kind = _ACCESS
                written.function, written.component = function_address(link.slave, link.name), link.slave.component
                written.table, written.count = link.references.ctypes.data, len(link.references)
                written.values = link.memory.ctypes.data
                if isinstance(operation, Watch):
                    written.kind, written.seen = _WATCH, operation.seen.ctypes.data
                elif operation.stride:
                    written.values, written.stride = operation.address, operation.stride
                    written.rows = operation.rows
            case Step(slave=slave):
                written.kind = _STEP
                written.function, written.component = function_address(slave, "fmi2DoStep"), slave.component
                written.step, written.back = operation.step, operation.back
                written.is_held = operation.parted is not None
            case Keep(parted=parted):
                slave = parted.slave
                written.kind, written.values = _KEEP, ctypes.addressof(parted.kept.state)
                written.function, written.component = function_address(slave, "fmi2GetFMUstate"), slave.component
            case Combine(sums=sums, terms=terms):
                table = np.array(
                    [
                        (t.memory.ctypes.data + t.place * t.memory.itemsize, t.factor, t.offset, target)
                        for target, of_one in enumerate(terms)
                        for t in of_one
                    ],
                    dtype=_TERM,
                )
                self._kept.append(table)
                written.kind, written.table, written.terms = _COMBINE, table.ctypes.data, len(table)
                written.values, written.count = sums.ctypes.data, len(sums)
            case Finite(memory=memory):
                written.kind, written.values, written.count = _FINITE, memory.ctypes.data, len(memory)
            case Work(memory=memory):
                written.kind, written.values, written.count = _WORK, memory.ctypes.data, operation.size
                written.step, written.is_held = operation.seconds, operation.is_held
                written.is_passed = operation.is_passed
            case Copy(source=source, rows=rows):
                written.kind, written.table, written.count = _COPY, source.ctypes.data, len(source)
                written.values, written.stride, written.rows = rows.ctypes.data, rows.strides[0], len(rows)
            case Together(compiled=compiled):
                written.kind, written.values = _GROUP, compiled.address(self._written, self._prepare)
            case _:
                raise AssertionError(f"{operation} is unknown to the C loop")
        return written
