"""The loop of a run: its operations tick by tick, in C where there is a compiler, else in Python."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from fmu_builder.cosim.loop.compiled import INTERVAL, CompiledLoop
from fmu_builder.cosim.loop.operations import Clock, Operation
from fmu_builder.errors import InputError, Problem, ToolError, did_you_mean

LOOP = "FMU_BUILDER_LOOP"  # environment variable: which of the two
_KINDS = ("compiled", "python")
BLOCK = 1024  # rows of values that are evaluated ahead of their ticks, or looked at after them


@dataclass(frozen=True)
class Block:
    """Rows 0 to BLOCK - 1 of the memory of an operation, used again and again: row i belongs to its use number
    n BLOCK + i, in the tick number*every + phase.

    fill    called with the number of the next use and how many there are, before them
    drain   the same, after them"""

    every: int
    phase: int
    fill: Callable[[int, int], None] | None = None
    drain: Callable[[int, int], None] | None = None

    def end(self, tick: int) -> int:
        """The tick with which other uses begin."""
        length = BLOCK * self.every
        return (tick // length + 1) * length

    def uses(self, ticks: int) -> int:
        """How many there are in so many ticks from the first one on."""
        return max(ticks - self.phase + self.every - 1, 0) // self.every


class Loop(Protocol):
    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def pause(self) -> None: ...

    def rewind(self) -> None: ...

    def advance(self, tick: int, end: int, between: Callable[[int], str | None]) -> tuple[int, str | None]: ...


class PythonLoop:
    """As CompiledLoop, with the same bits."""

    def __init__(self, operations: Sequence[Operation], clock: Clock) -> None:
        self._calls = [(one.call(), one.every, one.phase) for one in operations]
        self._look = 0.0  # when to call `between` next

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def pause(self) -> None:
        """It calls `between` anyway."""

    def rewind(self) -> None:
        """It counts nothing."""

    def advance(self, tick: int, end: int, between: Callable[[int], str | None]) -> tuple[int, str | None]:
        for k in range(tick, end):
            if time.monotonic() >= self._look:
                if note := between(k):
                    return k, note
                self._look = time.monotonic() + INTERVAL
            for call, every, phase in self._calls:
                if (every == 1 or k % every == phase) and (note := call(k)):
                    return k, note
        return end, None


def loop_of(operations: Sequence[Operation], clock: Clock) -> tuple[Loop, list[str]]:
    """The loop of these operations, and a note where it is slower than it could be.

    Raises InputError, and ToolError where the environment asks for the loop in C and there is none."""
    kind = os.environ.get(LOOP, "")
    if kind and kind not in _KINDS:
        raise InputError(Problem(LOOP, f"'{kind}' must be one of {', '.join(_KINDS)}" + did_you_mean(kind, _KINDS)))
    if kind == "python":
        return PythonLoop(operations, clock), []
    try:
        return CompiledLoop(operations, clock), []
    except ToolError as error:
        if kind:
            raise
        longer = "some 6 us longer in each step of a mass on a floor, and 100 us where its force is solved for"
        note = f"the loop of the master runs in Python, which takes {longer}: {error}"
        return PythonLoop(operations, clock), [note]


def run_loop(loop: Loop, blocks: Sequence[Block], count: int, between: Callable[[int], str | None]) -> tuple[int, str]:
    """`count` ticks of the loop, or fewer; returns how many are done, and the note with which the run ended before.

    between   is called with the ticks that are done, at the beginning and at times; a note ends the run"""
    with loop:
        return run_ticks(loop, blocks, count, between)


def run_ticks(loop: Loop, blocks: Sequence[Block], count: int, between: Callable[[int], str | None]) -> tuple[int, str]:
    """As `run_loop`, again and again; `between` is called at the beginning and after `pause` only."""
    loop.rewind()
    tick, note = 0, between(0)  # shows at once that it begins
    while tick < count and not note:
        end = min([count, *(block.end(tick) for block in blocks)])
        for block in blocks:
            if block.fill and tick % (BLOCK * block.every) == 0:
                begun = block.uses(tick)
                block.fill(begun, min(block.uses(count) - begun, BLOCK))
        begin = tick
        tick, note = loop.advance(tick, end, between)
        for block in blocks:
            if block.drain:
                block.drain(block.uses(begin), block.uses(tick) - block.uses(begin))
    return tick, note or ""
