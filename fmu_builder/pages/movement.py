"""What moves in a finished run: the scene of its system, at times of its trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.initialization import model_of
from fmu_builder.cosim.master import System
from fmu_builder.cosim.trace import Trace
from fmu_builder.model.connectable import Node
from fmu_builder.model.scenario import Conversion
from fmu_builder.pages.scene import TEXTS, scene_of

Document = dict[str, Any]  # JSON
Values = NDArray[np.float64]
FRAMES = 200  # at most, of one movement
_FEWEST = 10  # samples of a trace below which there is nothing to see
_ROUNDING = 1e-9  # change over the largest value, which is none


@dataclass(frozen=True)
class Movement:
    """What view.js draws: items as scene.py has them, with numbers in place of what is constant; times, s, and the
    values of the other variables there, SI, with five digits."""

    items: tuple[Document, ...]
    time: tuple[float, ...]
    places: Mapping[str, tuple[float, ...]]

    @property
    def document(self) -> Document:
        return {"items": self.items, "time": self.time, "places": dict(self.places)}


def movement_of(system: System, trace: Trace) -> Movement | None:
    """The movement of a run of the system, without the items that need values which the trace does not hold; None where
    nothing moves, or the trace has few samples.   Raises InputError for a shape.py that fails."""
    if len(trace.time) < _FEWEST:
        return None
    scene = scene_of(system, {slave: model_of(system.scenario, slave) for slave in system.slaves})
    wanted = [(slave, one["name"]) for slave, found in scene["variables"].items() for one in found]
    frames = np.unique(np.linspace(0, len(trace.time) - 1, FRAMES).round().astype(int))
    found = {".".join(node): _values(system, trace, frames, node) for node in wanted}
    values = {name: own for name, own in found.items() if own is not None}
    still = {name: float(own[0]) for name, own in values.items() if np.ptp(own) <= _ROUNDING * np.abs(own).max()}
    items = tuple(_put(item, still) for item in scene["items"] if set(_names(item)) <= values.keys())
    moving = dict.fromkeys(name for item in items for name in _names(item))
    if not moving:
        return None
    time = tuple(float(f"{t:.6g}") for t in trace.time[frames])
    return Movement(items, time, {name: tuple(map(_short, values[name])) for name in moving})


def _values(system: System, trace: Trace, frames: NDArray[np.intp], node: Node) -> Values | None:
    """A variable at samples of the trace: as it was recorded, passed on or driven, else its start value."""
    slave, name = node
    if f"{slave}.{name}" in trace:
        return trace[f"{slave}.{name}"][frames]
    if sources := system.wiring.sources.get(node):
        total = np.zeros(len(frames))
        for source in sources:
            part = _values(system, trace, frames, source)
            if part is None:
                return None
            change = system.wiring.conversions.get((source, node), Conversion(1.0, 0.0))
            total += change.factor * part + change.offset
        return total
    for signal in system.signals:
        if signal.node == node:
            return signal.values(trace.time[frames])
    variable = system.slaves[slave].variables[name]
    given = system.starts[slave].get(name, variable.start)
    if given is None or variable.causality not in ("parameter", "input"):
        return None
    return np.full(len(frames), float(given))


def _names(item: object) -> Iterator[str]:
    """Of the variables that an item needs."""
    if isinstance(item, dict):
        for key, one in item.items():
            if key not in TEXTS:
                yield from _names(one)
    elif isinstance(item, list):
        for one in item:
            yield from _names(one)
    elif isinstance(item, str):
        yield item


def _put(item: Any, known: Mapping[str, float]) -> Any:
    if isinstance(item, dict):
        return {key: one if key in TEXTS else _put(one, known) for key, one in item.items()}
    if isinstance(item, list):
        return [_put(one, known) for one in item]
    return _short(known[item]) if isinstance(item, str) and item in known else item


def _short(value: float) -> float:
    """With five digits, more than a picture shows."""
    return float(f"{value:.5g}")
