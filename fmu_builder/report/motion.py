"""What a case looks like while it runs: the lines of bodies in a plane, and where the bodies are, for the report.

An element that can be drawn so has `motion.py` in its folder: `motion(constants, values, signals)` gives the
Motion of one FMU, of the constants of its structure, its start values and its outputs over time.  PORTS of it names
ports whose motion it needs as well, which is then among the signals if they are connected; repeated ones by their name
without a number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.trace import Trace
from fmu_builder.model.assembly import AssemblyRecipe, read_assembly
from fmu_builder.model.declaration import read_toml
from fmu_builder.model.model import load_element, start_values
from fmu_builder.model.scenario import Scenario
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


def animation(scenario: Scenario, trace: Trace) -> Animation | None:
    """Of the first slave that is built from a recipe of an element which can be drawn, or of an assembly with such a
    part; None if there is none, or if the trace has few samples."""
    if len(trace.time) < _FEWEST:
        return None
    time = np.linspace(trace.time[0], trace.time[-1], min(FRAMES, len(trace.time)))
    recorded = {name: np.interp(time, trace.time, trace[name]) for name in trace.names}
    for slave, entry in scenario.slaves.items():
        if entry.recipe.endswith(".fmu"):
            continue
        path, own = find_recipe(entry.recipe, scenario.path.parent), _within(slave, recorded)
        if "parts" in read_toml(path):
            found = _motion_of_part(read_assembly(path), own)
        else:
            found = _motion(path, entry.start, own, _joined(slave, scenario.connections, recorded))
        if found:
            return Animation(slave, time, found)
    return None


def _motion_of_part(assembly: AssemblyRecipe, own: Signals) -> Motion | None:
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
    """What the ports at the other ends of its connections show, by its own port."""
    ends = [pair for a, b in connections for pair in ((a, b), (b, a))]
    return {a.removeprefix(f"{name}."): _within(b, signals) for a, b in ends if a.startswith(f"{name}.")}


def _motion(path: Path, start: Mapping[str, object], own: Signals, joined: dict[str, Signals]) -> Motion | None:
    if "parts" in read_toml(path):
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


# ---- on a page -------------------------------------------------------------------------------------------------------

_SIZE = 420.0  # px of the longer side
_MARGIN = 0.06  # of the longer side


@dataclass(frozen=True)
class Picture:
    """An animation as an HTML page shows it: lengths in px, y downwards, the ground before the bodies.

    bodies  for each its lines: kind, points as SVG has them, x and y of the first, color
    frames  x, y and degrees of each body, one after the other"""

    width: float
    height: float
    bodies: tuple[tuple[tuple[str, str, float, float, str], ...], ...]
    frames: tuple[tuple[float, ...], ...]
    time: tuple[float, ...]


def picture(shown: Animation) -> Picture:
    poses, lines = np.roll(shown.motion.poses, 1, axis=1), shown.motion.lines
    corners = []
    for line in lines:
        c, s = np.cos(poses[:, line.body + 1, 2]), np.sin(poses[:, line.body + 1, 2])
        x, y = line.points[:, 0], line.points[:, 1]
        corners.append(np.outer(c, x) - np.outer(s, y) + poses[:, line.body + 1, :1])
        corners.append(np.outer(s, x) + np.outer(c, y) + poses[:, line.body + 1, 1:2])
    left, right = (min(a.min() for a in corners[::2]), max(a.max() for a in corners[::2]))
    low, high = (min(a.min() for a in corners[1::2]), max(a.max() for a in corners[1::2]))
    longer = max(right - left, high - low, 1e-9)
    margin, scale = _MARGIN * longer, _SIZE / ((1.0 + 2.0 * _MARGIN) * longer)
    bodies = tuple(
        tuple(_mark(line, scale) for kind in _ORDER for line in lines if line.body == i and line.kind == kind)
        for i in range(GROUND, poses.shape[1] - 1)
    )
    placed = np.round(
        np.stack(
            [
                (poses[..., 0] - left + margin) * scale,
                (high + margin - poses[..., 1]) * scale,
                -np.degrees(poses[..., 2]),
            ],
            axis=-1,
        ),
        1,
    )
    return Picture(
        round((right - left + 2.0 * margin) * scale, 1),
        round((high - low + 2.0 * margin) * scale, 1),
        bodies,
        tuple(tuple(frame) for frame in placed.reshape(len(placed), -1).tolist()),
        tuple(round(t, 6) for t in shown.time.tolist()),
    )


_ORDER = ("profile", "guide", "link", "slider", "hinge", "tip")


def _mark(line: Line, scale: float) -> tuple[str, str, float, float, str]:
    points = np.round(line.points * (scale, -scale), 2).tolist()
    return line.kind, " ".join(f"{x:g},{y:g}" for x, y in points), points[0][0], points[0][1], line.color
