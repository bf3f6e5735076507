"""The operations of a tick, one communication step of the run: what each does, and the same in Python.

An operation runs in the ticks k with k % every == phase.  What C cannot do is a method here that both loops call:
`answered` for a status other than fmi2OK, `changed`, `not_finite`.  A text that one returns ends the run, its note."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.discarded_steps import PartedSteps, end_of, refused
from fmu_builder.cosim.link import Link, not_finite
from fmu_builder.cosim.slave import DISCARD, Slave
from fmu_builder.model.connectable import Node
from fmu_builder.model.scenario import Conversion

Call = Callable[[int], str | None]  # of a tick


@dataclass(frozen=True)
class Clock:
    """Tick k begins at start + k step, s."""

    start: float
    step: float

    def at(self, tick: int) -> float:
        return self.start + tick * self.step


@dataclass(frozen=True, kw_only=True)
class Operation:
    clock: Clock
    every: int = 1
    phase: int = 0

    def call(self) -> Call:
        """The operation in Python."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Access(Operation):
    """The values of a slave that one call gets or sets.

    address, stride, rows   of row 0, in bytes; each time the next row, the first one after the last
    late                    0 if they belong to the beginning of the tick, 1 to its end"""

    link: Link
    address: int = 0
    stride: int = 0
    rows: int = 1
    late: int

    @classmethod
    def after_each(cls, clock: Clock, every: int, link: Link, memory: NDArray[Any], first: int) -> Access:
        """At the end of every so many ticks.   memory: one row each time     first: that of the first time"""
        return cls(
            clock=clock,
            every=every,
            phase=every - 1,
            link=link,
            address=memory.ctypes.data + first * memory.strides[0],
            stride=memory.strides[0],
            rows=len(memory),
            late=1,
        )

    def answered(self, status: int, tick: int) -> str | None:
        self.link.check(status, self.clock.at(tick + self.late))
        return None

    def call(self) -> Call:
        if not self.stride:
            get_or_set = self.link.call

            def access(tick: int) -> str | None:
                status = get_or_set()
                return self.answered(status, tick) if status else None

            return access
        at = self.link.at

        def access_row(tick: int) -> str | None:
            status = at(self.address + tick // self.every % self.rows * self.stride)
            return self.answered(status, tick) if status else None

        return access_row


@dataclass(frozen=True, kw_only=True)
class Keep(Operation):
    """Keeps the state of a slave before its step."""

    parted: PartedSteps

    def answered(self, status: int, tick: int) -> str | None:
        self.parted.slave.check(status, "fmi2GetFMUstate", f"at {self.clock.at(tick):g} s")
        return None

    def call(self) -> Call:
        keep = self.parted.kept.keep
        return lambda tick: keep()


@dataclass(frozen=True, kw_only=True)
class Step(Operation):
    """fmi2DoStep over `every` ticks, of which this tick is the last.

    parted   where the state before the step is kept: makes what the slave discards in parts"""

    slave: Slave
    parted: PartedSteps | None = None

    @property
    def back(self) -> int:
        """How many ticks before this one the step begins."""
        return self.every - 1

    @property
    def step(self) -> float:
        return self.every * self.clock.step

    def answered(self, status: int, tick: int) -> str | None:
        """A note if the slave ended the simulation; raises on everything worse than a warning."""
        begin = self.clock.at(tick - self.back)
        if status == DISCARD:
            if self.parted is not None:
                return self.parted.make(begin, self.step)
            if note := end_of(self.slave, begin):
                return note
            raise refused(self.slave, begin, self.step)
        if note := self.slave.interrupted(begin):
            return note
        self.slave.check(status, "fmi2DoStep", f"step of {self.step:g} s from {begin:g} s")
        return None

    def call(self) -> Call:
        do_step, component = self.slave.dll.fmi2DoStep, self.slave.component
        back, step, at, for_good = self.back, self.step, self.clock.at, int(self.parted is None)

        def one_step(tick: int) -> str | None:
            status = do_step(component, at(tick - back), step, for_good)
            return self.answered(status, tick) if status else None

        return one_step


@dataclass(frozen=True)
class Term:
    """factor*memory[place] + offset; an offset of -0.0 changes no value."""

    memory: NDArray[Any]
    place: int
    factor: float = 1.0
    offset: float = -0.0

    @classmethod
    def of(cls, memory: NDArray[Any], place: int, conversion: Conversion | None) -> Term:
        return cls(memory, place, conversion.factor, conversion.offset) if conversion else cls(memory, place)


@dataclass(frozen=True, kw_only=True)
class Combine(Operation):
    """Sums of terms, shape (number of sums, number of their terms), added from the first to the last."""

    sums: NDArray[Any]
    terms: Sequence[Sequence[Term]]

    def call(self) -> Call:
        totals: Any = self.sums.data  # a memoryview gives and takes plain floats, several times faster than an array
        parts: list[list[tuple[Any, int, float, float]]] = [
            [(term.memory.data, term.place, term.factor, term.offset) for term in terms] for terms in self.terms
        ]

        def combine(tick: int) -> str | None:
            for i, terms in enumerate(parts):
                total = 0.0  # Python's own sum rounds in another way from version 3.12 on
                for values, place, factor, offset in terms:
                    total += factor * values[place] + offset
                totals[i] = total
            return None

        return combine


@dataclass(frozen=True, kw_only=True)
class Finite(Operation):
    """The outputs that a slave has given at the end of the tick are finite; raises SlaveError."""

    memory: NDArray[Any]
    nodes: Sequence[Node]

    def not_finite(self, tick: int) -> str | None:
        for node, value in zip(self.nodes, self.memory.tolist(), strict=True):
            if not math.isfinite(value):
                raise not_finite(node, value, self.clock.at(tick + 1))
        return None

    def call(self) -> Call:
        values: Any = self.memory.data

        def check(tick: int) -> str | None:  # a sum is as well not finite where finite values are beyond its range
            return None if math.isfinite(sum(values)) else self.not_finite(tick)

        return check


@dataclass(frozen=True, kw_only=True)
class Watch(Operation):
    """Integers of a slave at the end of the tick.   changed: called when they are no longer those in `seen`"""

    link: Link
    seen: NDArray[np.int32]
    changed: Callable[[int], None]
    late: int = field(default=1, init=False)

    def answered(self, status: int, tick: int) -> str | None:
        self.link.check(status, self.clock.at(tick + self.late))
        self._compare(tick)
        return None

    def _compare(self, tick: int) -> None:
        if not np.array_equal(self.link.memory, self.seen):
            self.seen[:] = self.link.memory
            self.changed(tick)

    def call(self) -> Call:
        get = self.link.call
        now, seen = self.link.memory.data, self.seen.data

        def watch(tick: int) -> str | None:
            status = get()
            if status:
                return self.answered(status, tick)
            if now != seen:
                self._compare(tick)
            return None

        return watch


@dataclass(frozen=True, kw_only=True)
class Work(Operation):
    """Mean power, W, of forces and velocities over the `every` ticks that end with this one, and the work so far, J.

    memory     forces, velocities, those of the step before, power, work: shape (4 n + 2,)
    is_held    the forces are constant over the step, else their mean is that of its ends
    is_passed  the same of the velocities"""

    memory: NDArray[Any]
    is_held: bool
    is_passed: bool

    @property
    def size(self) -> int:
        return (len(self.memory) - 2) // 4

    @property
    def seconds(self) -> float:
        return self.every * self.clock.step

    def call(self) -> Call:
        values: Any = self.memory.data
        n, step, is_held, is_passed = self.size, self.seconds, self.is_held, self.is_passed

        def work(tick: int) -> str | None:
            power = 0.0
            for i in range(n):
                force = values[i] if is_held else 0.5 * (values[i] + values[2 * n + i])
                power += force * (values[n + i] if is_passed else 0.5 * (values[n + i] + values[3 * n + i]))
            self.memory[2 * n : 4 * n] = self.memory[: 2 * n]
            values[4 * n] = power
            values[4 * n + 1] += power * step
            return None

        return work


@dataclass(frozen=True, kw_only=True)
class Copy(Operation):
    """Numbers, shape (m,), into the next of the rows, shape (n, m)."""

    source: NDArray[np.float64]
    rows: NDArray[np.float64]

    def call(self) -> Call:
        def copy(tick: int) -> str | None:
            self.rows[tick // self.every % len(self.rows)] = self.source
            return None

        return copy


class GroupInC(Protocol):
    def address(self, written: Callable[[Operation], Any], prepare: Callable[..., int]) -> int:
        """Of the Group of group.h.   written: an operation as the C loop reads it     prepare: prepare_group"""

    def ended(self, tick: int) -> str | None:
        """What the step that ended the loop in C came to."""

    def read_back(self) -> None:
        """Called when the loop has ended."""


@dataclass(frozen=True, kw_only=True)
class Together(Operation):
    """The slaves of a group exchange their values and make their steps.

    advance    called with the tick, and the time, s, at which it begins; a text ends the run
    compiled   the same in C"""

    advance: Callable[[int, float], str | None]
    compiled: GroupInC

    def call(self) -> Call:
        return lambda tick: self.advance(tick, self.clock.at(tick))
