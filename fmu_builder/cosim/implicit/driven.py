"""Rows of a group whose motion [drive] gives: no force moves them, and their motion within a step is known.

In a communication step of the length H, from V0 to V1 with the way D,

    V(t) = V0 + a t + j t^2/2        j = 6 (V0 + V1 - 2 D/H)/H^2        a = (V1 - V0)/H - j H/2

so that the way of V is D: the cubic between two places with their velocities.  Where an element sees no place, or one
that is turned, V goes through its value in the middle, j = 4 (V0 - 2 Vm + V1)/H^2.  At a jump between two communication
steps each has the values of its side."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.implicit.bonds import Place
from fmu_builder.cosim.loop.operations import Clock
from fmu_builder.cosim.loop.program import BLOCK, Block
from fmu_builder.cosim.scenario_inputs import Signal, TableSignal
from fmu_builder.cosim.slave import Slave
from fmu_builder.model.connectable import Node

Vector = NDArray[np.float64]
NEAR = 1e-4  # of a step: so near to its end it still has the values of its side
JUMP = 1e-3  # share of the change over a step that is a jump, if it comes behind NEAR


class DrivenInputs:
    """Driven motions of one element.   places: of them among its inputs, in the order of the signals

    values   at the beginning and at the end of each communication step of a block, shape (BLOCK, 2, n)"""

    def __init__(self, places: Sequence[int], signals: Sequence[Signal]) -> None:
        self.places, self.signals = np.array(places, dtype=np.intp), tuple(signals)
        self.values: Vector = np.zeros((BLOCK, 2, len(places)))

    @classmethod
    def of(cls, slave: Slave, names: Sequence[str], moved: Collection[str], signals: Mapping[Node, Signal]) -> Self:
        """names: of the inputs     moved: those of them that move; components that are not driven hold their values"""
        places = [k for k, name in enumerate(names) if name in moved]
        found: list[Signal] = []
        for k in places:
            node = slave.name, names[k]
            variable = slave.description.variables[names[k]]
            held = TableSignal(node, variable, (0.0,), (slave.get(variable),))
            found.append(signals.get(node, held))
        return cls(places, found)

    def put(self, motion: Vector, tick: int, is_end: bool) -> None:
        """Their values at an end of a communication step into a motion of the element."""
        motion[self.places] = self.values[tick % BLOCK, int(is_end)]


class DrivenRows:
    """Rows of velocities behind those of the bodies.

    motion   V0, a and j in each communication step of a block, shape (BLOCK, 3, rows)"""

    def __init__(
        self,
        velocities: Sequence[Signal],
        ways: Sequence[Signal | None],
        inputs: Sequence[DrivenInputs],
        clock: Clock,
    ) -> None:
        """velocities, ways   of each row; a way is None where V alone counts     inputs   of the elements"""
        self.size = len(velocities)
        self._velocities, self._ways, self._inputs, self._clock = velocities, ways, inputs, clock
        self.motion: Vector = np.zeros((BLOCK, 3, self.size))

    @classmethod
    def of(
        cls,
        rows: Sequence[Node],
        places: Sequence[Place],
        inputs: Sequence[DrivenInputs],
        signals: Mapping[Node, Signal],
        clock: Clock,
    ) -> Self:
        """rows: elements with their velocities     places: that these move"""
        way_of = {(p.element, p.velocities[0]): (p.element, p.names[0]) for p in places if len(p.names) == 1}
        ways = [signals[way_of[row]] if row in way_of else None for row in rows]
        return cls([signals[row] for row in rows], ways, inputs, clock)

    def blocks(self) -> list[Block]:
        return [Block(every=1, phase=0, fill=self._fill)] if self._velocities else []

    def at(self, tick: int, elapsed: float) -> tuple[Vector, Vector, Vector]:
        """V, a and j, this long after the communication step began."""
        V0, a, j = self.motion[tick % BLOCK]
        return V0 + elapsed * (a + elapsed * j / 2.0), a + elapsed * j, j

    def _fill(self, first: int, count: int) -> None:
        H = self._clock.step
        times = self._clock.start + np.arange(first, first + count + 1, dtype=np.float64) * H
        for row, (velocity, way) in enumerate(zip(self._velocities, self._ways, strict=True)):
            V0, V1 = _ends(velocity, times, H)
            if way is not None:
                from_, to = _ends(way, times, H)
                j = 6.0 * (V0 + V1 - 2.0 * (to - from_) / H) / H**2
            else:
                j = 4.0 * (V0 - 2.0 * velocity.values_between(times[1:] - H / 2.0) + V1) / H**2
            self.motion[:count, :, row] = np.stack([V0, (V1 - V0) / H - j * H / 2.0, j], axis=1)
        for one in self._inputs:
            for column, signal in enumerate(one.signals):
                one.values[:count, :, column] = np.stack(_ends(signal, times, H), axis=1)


def _ends(signal: Signal, times: Vector, step: float) -> tuple[Vector, Vector]:
    """Values at the beginning and at the end of the steps between these times, each from within the step: where most of
    a change is one at its end, it belongs to the next step."""
    values = signal.values(times)
    near, nearer = (signal.values_between(times[1:] - share * step) for share in (2.0 * NEAR, NEAR))
    left = 2.0 * nearer - near
    jumps = np.abs(values[1:] - left) > JUMP * np.abs(values[1:] - values[:-1])
    return values[:-1], np.where(jumps, left, values[1:])
