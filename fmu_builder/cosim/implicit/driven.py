"""Motions of a group that [drive] gives: no force moves them, and they are known within a step.

In a communication step of the length H each driven input u is the cubic of t/H through its values at t = 0, H/3, 2 H/3
and H.  At a jump between two communication steps each has the values of its side."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.loop.operations import Clock
from fmu_builder.cosim.loop.program import BLOCK, Block
from fmu_builder.cosim.scenario_inputs import Signal
from fmu_builder.model.connectable import Node

Vector = NDArray[np.float64]
NEAR = 1e-4  # of a step: so near to one of its ends a jump is one at this end
JUMP = 1e-3  # share of the change over a step that is a jump there
_CUBIC = np.array([[1.0, 0.0, 0.0, 0.0], [-5.5, 9.0, -4.5, 1.0], [9.0, -22.5, 18.0, -4.5], [-4.5, 13.5, -13.5, 4.5]])
_BETWEEN = (1.0 / 6.0, 0.5, 5.0 / 6.0)  # of a step: where a cubic is compared with the drive


class Driven:
    """Signals over the communication steps of a block.

    cubics   the coefficients of 1, t/H, (t/H)^2 and (t/H)^3, shape (BLOCK, 4, signals)
    missed   by signal: the largest difference between its cubic and itself so far"""

    def __init__(self, signals: Sequence[Signal]) -> None:
        self.signals = tuple(signals)
        self.cubics: Vector = np.zeros((BLOCK, 4, len(self.signals)))
        self.missed: Vector = np.zeros(len(self.signals))

    def at(self, tick: int, share: float) -> Vector:
        """Their values after a share of the communication step."""
        return _value(self.cubics[tick % BLOCK], share)

    def fill(self, times: Vector, step: float) -> None:
        """For the communication steps between these times."""
        for k, signal in enumerate(self.signals):
            begin, end = _ends(signal, times, step)
            inner = (signal.values_between(times[:-1] + share * step) for share in (1.0 / 3.0, 2.0 / 3.0))
            cubics = np.zeros((4, len(begin)))
            for column, values in zip(_CUBIC.T, (begin, *inner, end), strict=True):
                cubics += np.multiply.outer(column, values)
            self.cubics[: len(begin), :, k] = cubics.T
            for share in _BETWEEN:
                missed = _value(cubics, share) - signal.values_between(times[:-1] + share * step)
                self.missed[k] = max(self.missed[k], np.abs(missed).max())


def _value(cubic: Vector, share: float) -> Vector:
    found: Vector = cubic[0] + share * (cubic[1] + share * (cubic[2] + share * cubic[3]))
    return found


class DrivenInputs(Driven):
    """Driven motions of one element.   places: of them among its inputs, in the order of the signals"""

    def __init__(self, places: Sequence[int], signals: Sequence[Signal]) -> None:
        super().__init__(signals)
        self.places = np.array(places, dtype=np.intp)

    @classmethod
    def of(cls, slave: str, names: Sequence[str], moved: Collection[str], signals: Mapping[Node, Signal]) -> Self:
        """names: of the inputs     moved: those of them that are driven"""
        places = [k for k, name in enumerate(names) if name in moved]
        return cls(places, [signals[slave, names[k]] for k in places])


class DrivenRows(Driven):
    """Rows of velocities behind those of the bodies, with the inputs of the elements."""

    def __init__(self, signals: Sequence[Signal], inputs: Sequence[DrivenInputs], clock: Clock) -> None:
        super().__init__(signals)
        self.size, self.inputs, self.clock = len(self.signals), inputs, clock

    def blocks(self) -> list[Block]:
        is_driven = any(one.signals for one in self.inputs)
        return [Block(every=1, phase=0, fill=self._fill_all)] if is_driven else []

    def _fill_all(self, first: int, count: int) -> None:
        times = self.clock.start + np.arange(first, first + count + 1, dtype=np.float64) * self.clock.step
        for one in (self, *self.inputs):
            one.fill(times, self.clock.step)


def _ends(signal: Signal, times: Vector, step: float) -> tuple[Vector, Vector]:
    """Values at the beginning and at the end of the steps between these times, each from within the step: a jump at one
    of its ends, or as near as rounding of the time, belongs to the step beside it."""
    values = signal.values(times)
    least = JUMP * np.abs(np.diff(values))
    return (
        _within(signal, times[:-1], NEAR * step, values[:-1], least),
        _within(signal, times[1:], -NEAR * step, values[1:], least),
    )


def _within(signal: Signal, times: Vector, near: float, values: Vector, least: Vector) -> Vector:
    """What the values at these times go on to, from beside them, where that differs by more than `least`."""
    nearer, farther = (signal.values_between(times + share * near) for share in (1.0, 2.0))
    found = np.where(np.abs(nearer - farther) > least, nearer, 2.0 * nearer - farther)
    return np.where(np.abs(values - found) > least, found, values)
