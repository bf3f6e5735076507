"""What a page draws of a system: points, bodies, surfaces, lines and forces in space, by the names of variables.

A place is three values, each a number in m or the name "slave.variable" of what the run records.
The shapes of an element stand in `shape.py` of its folder:

    shapes(constants, choices) -> Mapping[str, Sequence[Polyline]]   by port, points in the axes of its frame, m; what
                                                                     lies under the name of `UNBOUNDED` before the port
                                                                     is as large as the scene
    places(constants, names) -> Sequence[Place]                      of bodies in a plane that have no port with a place
    linkage(constants, names) -> Linkage                             of a mechanism in a plane; names of its variables
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fmu_builder.cosim.master import System
from fmu_builder.errors import InputError, Problem
from fmu_builder.model.assembly import AssemblyModel
from fmu_builder.model.connectable import PortUse
from fmu_builder.model.model import ElementModel, Model
from fmu_builder.paths import load_module

Polyline = Sequence[Sequence[float]]
Value = float | str
UNBOUNDED = "*"
TEXTS = ("kind", "color")  # of an item, that are no names of variables
_FLAT = ("point", "frame")  # kinds of ports that have a place in space
Place = tuple[Value, Value, Value]
"""x and y in m and angle in rad."""
_TURNS = [math.pi * k / 12.0 for k in range(25)]
_WHEEL = [[(math.cos(a), math.sin(a), 0.0) for a in _TURNS], [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)]]
_BLOCK = [[(1.0, 0.7, 0.0), (-1.0, 0.7, 0.0), (-1.0, -0.7, 0.0), (1.0, -0.7, 0.0), (1.0, 0.7, 0.0)]]


@dataclass(frozen=True)
class Joint:
    """A body of a mechanism: its axes stand at `place` of the parent's, m, turned by `angle`, rad, and by its
    coordinate `q`, or moved by it along x.   parent: the number of a body, -1 for the ground"""

    parent: int
    place: tuple[str, str]
    angle: str
    q: str
    slides: bool


@dataclass(frozen=True)
class Curve:
    """In axes at `base`, turned by `angle`, on a body: y = f[0] + f[1] x + ..., drawn along the way of a point of
    another one, or a line through points, m, or laws between two values of their argument: of y over x, or of x and
    of y, by the names of their slots, with the scalars as the recipe has them."""

    body: int
    base: tuple[str, str]
    angle: str
    f: tuple[str, ...]
    other: int
    point: tuple[str, str]
    line: tuple[tuple[float, float], ...] = ()
    laws: tuple[str, ...] = ()
    ends: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Linkage:
    """links: a body, and a point of it that its origin is joined to"""

    joints: tuple[Joint, ...]
    links: tuple[tuple[int, tuple[str, str]], ...]
    curves: tuple[Curve, ...]


def line_shapes(constants: Mapping[str, Sequence[float]], choices: Mapping[str, object]) -> dict[str, list[Polyline]]:
    """The shapes of a line that is given by points on bodies (lines.py)."""
    values = constants["line_points"]
    points = [values[k : k + 3] for k in range(0, len(values), 3)]
    bodies = [int(body) for body in constants["line_bodies"]] * (
        len(points) if len(constants["line_bodies"]) == 1 else 1
    )
    found: dict[str, list[Polyline]] = {f"body[{body + 1}]": [] for body in bodies}
    begin = 0
    for k in range(1, len(points) + 1):
        if k == len(points) or bodies[k] != bodies[begin]:
            found[f"body[{bodies[begin] + 1}]"].append(points[begin:k])
            begin = k
    if choices.get("closed") and len(found) == 1:
        found[f"body[{bodies[0] + 1}]"].append([points[-1], points[0]])
    return found


def scene_of(system: System, models: Mapping[str, Model | None]) -> dict[str, Any]:
    """The items of the scene, and by slave the variables that it needs.   models: of the slaves that have one"""
    used: dict[str, dict[str, None]] = {name: {} for name in system.slaves}
    items: list[dict[str, Any]] = []
    for slave, element, names in (part for name, model in models.items() for part in parts_of(name, model)):
        known, wanted = system.slaves[slave].variables, used[slave]
        named = partial(_named, slave=slave, names=names, known=known, wanted=wanted)
        for item in element_items(element):
            with suppress(KeyError):  # without what an assembly hides
                items.append(_renamed(item, named))
    for row, item in enumerate(item for item in items if item["kind"] == "part"):
        item["row"] = row
    variables = {
        slave: [{"name": name, "reference": system.slaves[slave].variables[name].reference} for name in names]
        for slave, names in used.items()
    }
    return {"items": items, "variables": variables}


def _named(
    value: Value, slave: str, names: Mapping[str, str], known: Collection[str], wanted: dict[str, None]
) -> Value:
    """A number as it is, an element's own variable as `slave.name`, which is wanted then.   Raises KeyError."""
    if not isinstance(value, str):
        return value
    name = names[value]
    if name not in known:
        raise KeyError(name)
    wanted[name] = None
    return f"{slave}.{name}"


def parts_of(slave: str, model: Model | None) -> Iterator[tuple[str, ElementModel, Mapping[str, str]]]:
    """(slave, element, by its own names those of its variables in the FMU) of what a slave is made of; nothing of an
    FMU given as a file."""
    if isinstance(model, ElementModel):
        yield slave, model, {v.name: v.name for v in model.variables}
    elif isinstance(model, AssemblyModel):
        for part in model.parts:
            if isinstance(part.model, ElementModel):
                names = {v.name: model.variables[part.offset + v.index].name for v in part.model.variables}
                yield slave, part.model, names


def _renamed(value: Any, named: Callable[[Value], Value]) -> Any:
    if isinstance(value, dict):
        return {key: one if key in TEXTS else _renamed(one, named) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(one, named) for one in value]
    return named(value)


def element_items(model: ElementModel) -> Iterator[dict[str, Any]]:
    """What is drawn of an element, by its own names; nothing of a recipe with `[drawing] visible = false`."""
    if not model.recipe.drawing.visible:
        return
    ports = [port for port in model.ports if port.kind in _FLAT]
    bodies = [port.motion["r"] for port in ports if port.side == "body"]
    forces = [port for port in ports if port.side == "force"]
    if bodies:
        yield {"kind": "body", "points": [list(place) for place in dict.fromkeys(bodies)]}
    module = _module(model.recipe.element_folder)
    constants = {constant.name: constant.values for constant in model.constants}
    structure = {**model.recipe.choices, **model.recipe.sizes}
    shapes = _asked(model, module, "shapes", constants, structure) or {}
    names = {port.name for port in ports}
    if unknown := [name for name in shapes if name.removeprefix(UNBOUNDED) not in names]:
        what = f"shapes() names '{unknown[0]}', which is no port in space of the element; it has {', '.join(names)}"
        raise InputError(Problem(str(model.recipe.element_folder / "shape.py"), what))
    for name, polylines in shapes.items():
        port = next((one for one in ports if one.name == name.removeprefix(UNBOUNDED)), None)
        if port is not None:
            yield {
                "kind": "shape",
                "unbounded": name.startswith(UNBOUNDED) * 1.0,
                "body": (port.side == "body") * 1.0,
                "color": model.recipe.drawing.color,
                **_frame(port),
                "lines": _short(polylines),
            }
    if not shapes and len(forces) == 2:
        yield {"kind": "between", "points": [list(port.motion["r"]) for port in forces]}
    for port in forces:
        if port.name not in {name.removeprefix(UNBOUNDED) for name in shapes}:
            yield {"kind": "force", "at": list(port.motion["r"]), "f": list(port.force["f"])}
    seen = {v.name for v in model.variables if not v.hidden}
    own = _asked(model, module, "places", constants, seen) or ()
    for x, y, angle in own:
        yield _plate(_BLOCK, x, y, angle)
    if (
        not own and not bodies and not any(port.side == "force" for port in model.ports)
    ):  # what passes motion on has no body
        for port in model.ports:
            yield from _part(port)
    linkage = _asked(model, module, "linkage", constants, seen)
    if linkage is not None:
        yield _linkage(model, linkage)


def _linkage(model: ElementModel, linkage: Linkage) -> dict[str, Any]:
    return {
        "kind": "linkage",
        "joints": [
            {
                "parent": float(one.parent),
                "place": list(one.place),
                "angle": one.angle,
                "q": one.q,
                "slides": float(one.slides),
            }
            for one in linkage.joints
        ],
        "links": [[float(body), *point] for body, point in linkage.links],
        "curves": [
            {
                "body": float(one.body),
                "base": list(one.base),
                "angle": one.angle,
                "f": list(one.f),
                "other": float(one.other),
                "point": list(one.point),
                "line": _short([one.line or _line_of_laws(model, one)])[0],
            }
            for one in linkage.curves
        ],
    }


_LAW_POINTS = 120


def _line_of_laws(model: ElementModel, curve: Curve) -> list[tuple[float, float]]:
    laws = model.recipe.laws
    found = [one for slot in curve.laws for one in (laws.checked if laws else ()) if one.law.slot == slot]
    if not found or len(found) < len(curve.laws):
        return []
    s = np.linspace(*curve.ends, _LAW_POINTS + 1)
    *x, y = (one.over({name: s for name in one.slot.arguments}).value for one in found)
    return [*zip((x[0] if x else s).tolist(), y.tolist(), strict=True)]


def _part(port: PortUse) -> Iterator[dict[str, Any]]:
    """A wheel or a block of what has one direction, or moves in a plane, where its place is known."""
    if port.kind == "rotational" and "phi" in port.motion:
        yield _plate(_WHEEL, 0.0, 0.0, port.motion["phi"][0])
    elif port.kind == "translational" and "s" in port.motion:
        yield _plate(_BLOCK, port.motion["s"][0], 0.0, 0.0)
    elif port.kind == "planar" and "r" in port.motion:
        yield _plate(_BLOCK, *port.motion["r"])


def _plate(lines: Sequence[Polyline], x: Value, y: Value, angle: Value) -> dict[str, Any]:
    """A body in a plane, as large as the scene; several stand in rows, in the order of the scene."""
    return {"kind": "part", "place": [x, y, 0.0], "angle": angle, "row": 0.0, "lines": _short(lines)}


def _asked(model: ElementModel, module: object, function: str, *arguments: Any) -> Any:
    """What a function of the element's shape.py answers, None without one.   Raises InputError with its fault."""
    if not hasattr(module, function):
        return None
    try:
        return getattr(module, function)(*arguments)
    except Exception as error:
        what = f"{function}() failed for the recipe {model.name}: {type(error).__name__}: {error}"
        raise InputError(Problem(str(model.recipe.element_folder / "shape.py"), what)) from error


def _frame(port: PortUse) -> dict[str, Any]:
    return {"r": list(port.motion["r"]), "q": list(port.motion.get("q", (1.0, 0.0, 0.0, 0.0)))}


def _short(polylines: Sequence[Polyline]) -> list[list[list[float]]]:
    """With five digits, more than a picture shows."""
    return [[[float(f"{value:.5g}") for value in point] for point in line] for line in polylines]


def _module(element: Path) -> object:
    path = element / "shape.py"
    if not path.is_file() and (element / "motion.py").is_file():
        what = f"{element / 'motion.py'} is no longer read: shape.py of an element draws it, see the guide, Live pages"
        warnings.warn(what, FutureWarning, stacklevel=2)
    if not path.is_file():
        return None
    try:
        return load_module(path)
    except Exception as error:
        raise InputError(Problem(str(path), f"cannot be loaded: {type(error).__name__}: {error}")) from error
