"""The motion of a case for the report: lines of bodies in a plane, and poses of the bodies.

An element that can be drawn has `motion.py` in its folder: `motion(constants, values, signals)` returns the Motion of
one FMU from the constants of its structure, its start values and its outputs over time.  PORTS names ports whose motion
it needs as well; that is among the signals if they are connected.  Repeated ports have their name without a number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.trace import Trace
from fmu_builder.model.assembly_format import CheckedAssembly, read_assembly
from fmu_builder.model.element_model import load_element
from fmu_builder.model.recipe import file_kind
from fmu_builder.model.scenario import CheckedScenario
from fmu_builder.model.start_values import start_values
from fmu_builder.paths import find_recipe, load_module

Signals = dict[str, NDArray[np.float64]]
GROUND = -1
FRAMES = 120  # at most, of one animation
_FEWEST = 10  # samples of a trace below which there is nothing to see


@dataclass(frozen=True)
class Line:
    """Points of a body in its axes, m, shape (n, 2); of a hinge, a slider and a tip the one point where it is."""

    body: int
    points: NDArray[np.float64]
    kind: Literal["profile", "guide", "link", "slider", "hinge", "tip"]  # from the back to the front
    color: str = ""  # of [drawing]; '' for that of the kind


@dataclass(frozen=True)
class Motion:
    """poses   x and y of the origin in m and angle in rad of each body, the ground last: shape (n, bodies + 1, 3)
    lines   what is drawn"""

    poses: NDArray[np.float64]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Animation:
    """The Motion of one slave at equal times, at most FRAMES of them; `time` in s."""

    slave: str
    time: NDArray[np.float64]
    motion: Motion


def animation(scenario: CheckedScenario, trace: Trace) -> Animation | None:
    """The motion of the first slave that is an element with `motion.py`, or an assembly with such a part; None without
    one, or if the trace has few samples."""
    if len(trace.time) < _FEWEST:
        return None
    time = np.linspace(trace.time[0], trace.time[-1], min(FRAMES, len(trace.time)))
    recorded = {name: np.interp(time, trace.time, trace[name]) for name in trace.names}
    for slave, entry in scenario.slaves.items():
        if entry.recipe.endswith(".fmu"):
            continue
        path, own = find_recipe(entry.recipe, scenario.path.parent), _within(slave, recorded)
        if file_kind(path) == "parts":
            found = _motion_of_part(read_assembly(path), own)
        else:
            found = _motion(path, entry.start, own, _joined(slave, scenario.connections, recorded))
        if found:
            return Animation(slave, time, found)
    return None


def _motion_of_part(assembly: CheckedAssembly, own: Signals) -> Motion | None:
    """Of the first part that can be drawn."""
    for new, old in assembly.expose.outputs.items():
        own = own | {old + n.removeprefix(new): v for n, v in own.items() if n.partition("[")[0] == new}
    for part, given in assembly.parts.items():
        recipe = find_recipe(given.recipe, assembly.path.parent)
        found = _motion(recipe, given.start, _within(part, own), _joined(part, assembly.connections, own))
        if found:
            return found
    return None


def _within(prefix: str, signals: Signals) -> Signals:
    return {n.removeprefix(f"{prefix}."): v for n, v in signals.items() if n.startswith(f"{prefix}.")}


def _joined(name: str, connections: Iterable[Sequence[str]], signals: Signals) -> dict[str, Signals]:
    """Motion of the ports at the other ends of its connections, by its port."""
    ends = [pair for a, b in connections for pair in ((a, b), (b, a))]
    return {a.removeprefix(f"{name}."): _within(b, signals) for a, b in ends if a.startswith(f"{name}.")}


def _motion(path: Path, start: Mapping[str, object], own: Signals, joined: dict[str, Signals]) -> Motion | None:
    if file_kind(path) == "parts":
        return None  # of an assembly within an assembly nothing is drawn
    model = load_element(path)
    module, drawing = _module(model.recipe.element_folder), model.recipe.drawing
    if module is None or not drawing.get("visible", True):
        return None
    given, _ = start_values(model, start, str(path))  # checked when the slaves were set up
    values = {v.name: given.get(v.index, v.start) for v in model.by_kind("fixed", "tunable", "input")}
    constants = {c.name: c.values for c in model.constants} | {"closed": (int(model.recipe.choices.get("closed", 0)),)}
    for port in (port for port in joined if port.partition("[")[0] in getattr(module, "PORTS", ())):
        own = own | {f"{port}.{n}": v for n, v in joined[port].items()}
        if f"{port}.r[1]" not in own:
            return None
    found: Motion = module.motion(constants, values, own)
    color = str(drawing.get("color", ""))
    lines = (replace(one, color=color) if one.kind == "profile" else one for one in found.lines)
    return replace(found, lines=tuple(lines))


def _module(element: Path) -> ModuleType | None:
    path = element / "motion.py"
    return load_module(path) if path.is_file() else None
