"""The calls of EULER that make a force element, with EULER's signatures; here they write its recipe.

    pipe = [Point("frame", (0.1 * i, 0.0, 0.0)) for i in range(11)]
    forcePointLine2(Point("trolley", (0, 0, 0)), pipe, (0, 1, 0), "1e5[N/m]*#delta", (0, 0, 1), "2e5[N/m]*#delta",
                    recipe=Path("Guide.toml"), K_fr=0.1)

A recipe has ports and no bodies: bodies have names here, and body[j] is the port of the j-th one that carries points of
the line, in the order of the points.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fmu_builder.errors import InputError, Problem
from fmu_builder.files import write_whole

Quantity = float | int | str  # SI, or text "number unit"
Vector = Sequence[Quantity]


class Law(str):
    """A user law in place of a scalar."""


@dataclass(frozen=True)
class Point:
    """A point of a body, in its coordinates, m."""

    body: str
    r: Vector


@dataclass(frozen=True)
class Sensor:
    """A sensor that laws depend on: its name in their text, its SI unit, and its value at the start, around which the
    laws are checked."""

    name: str
    unit: str
    start: Quantity = 0.0


@dataclass(frozen=True)
class Surface:
    """A surface of a body: `kind` and the other keys of `[surface]` in a recipe, in its frame."""

    body: str
    kind: str
    keys: Mapping[str, object] = field(default_factory=dict)


def forcePointLine2(  # noqa: N802
    Point: Point,
    PL: Sequence[Point],
    VectorFr1: Vector,
    f_r1: str,
    VectorFr2: Vector,
    f_r2: str,
    Sensors: Sequence[Sensor] = (),
    *,
    recipe: Path,
    forceZone: Quantity | None = None,
    K_fr: Quantity | None = None,
    F_fr2: str | None = None,
    normDamp: Quantity | Law | None = None,
    work: bool = True,
    color: str | None = None,
    visible: bool = True,
    functions: str = "",
    closed: bool = False,
    interpolation: str = "polyline",
) -> Path:
    """Write the recipe of a point_line_2 and return its path.

    Point, PL    the point, and those of the line; none of the line on the point's body
    VectorFr1/2  world components at the start
    f_r1, f_r2   laws: expressions in #delta and #<sensor>, or names of functions; F_fr2 one in #P1, #P2, #v and sensors
    functions    definitions in the language of laws that they use

    Raises InputError with every problem found; what the recipe then holds is checked when it is built."""
    tables = _guide(Point, PL, Sensors, forceZone, K_fr, ("F_fr2", F_fr2), closed, interpolation)
    laws, start = _guide_values({"f_r1": f_r1, "f_r2": f_r2, "F_fr2": F_fr2}, normDamp, K_fr, forceZone, Sensors)
    start |= {"VectorFr1": list(VectorFr1), "VectorFr2": list(VectorFr2)}
    return _write(recipe, "point_line_2", tables, functions, laws, start, work, color, visible)


def forcePointLine1(  # noqa: N802
    Point: Point,
    PL: Sequence[Point],
    f_r: str,
    Sensors: Sequence[Sensor] = (),
    *,
    recipe: Path,
    forceZone: Quantity | None = None,
    K_fr: Quantity | None = None,
    F_fr: str | None = None,
    normDamp: Quantity | Law | None = None,
    work: bool = True,
    color: str | None = None,
    visible: bool = True,
    functions: str = "",
    closed: bool = False,
    interpolation: str = "polyline",
) -> Path:
    """Write the recipe of a point_line_1 and return its path.   f_r: a law of #delta, the distance from the line, and
    of #<sensor>; F_fr: one of #P, #v and sensors.  All else as in forcePointLine2.

    Raises InputError with every problem found; what the recipe then holds is checked when it is built."""
    tables = _guide(Point, PL, Sensors, forceZone, K_fr, ("F_fr", F_fr), closed, interpolation)
    laws, start = _guide_values({"f_r": f_r, "F_fr": F_fr}, normDamp, K_fr, forceZone, Sensors)
    return _write(recipe, "point_line_1", tables, functions, laws, start, work, color, visible)


def _guide(
    point: Point,
    line_points: Sequence[Point],
    sensors: Sequence[Sensor],
    zone: Quantity | None,
    K_fr: Quantity | None,
    friction: tuple[str, str | None],
    closed: bool,
    interpolation: str,
) -> dict[str, Mapping[str, object]]:
    """The tables [line] and [sensors].  Raises InputError."""
    problems = [
        Problem(f"PL[{i}]", f"point {i + 1} of the line lies on '{one.body}', the body of the point: it needs another")
        for i, one in enumerate(line_points)
        if one.body == point.body
    ]
    problems += _place_problems(point)
    name, law = friction
    if K_fr is not None and law is not None:
        problems.append(Problem(name, f"{name} excludes K_fr: remove one of the two"))
    if isinstance(zone, int | float) and zone <= 0:
        problems.append(Problem("forceZone", f"{zone!r} must be greater than 0; without it the least spacing holds"))
    if len(line_points) < 2:
        count = len(line_points)
        problems.append(Problem("PL", f"{count} point{'s' * (count != 1)}: a line needs 2 or more"))
    if problems:
        raise InputError(problems)
    bodies = list(dict.fromkeys(one.body for one in line_points))
    line: dict[str, object] = {"points": [list(one.r) for one in line_points]}
    if len(bodies) > 1:
        line["body"] = [bodies.index(one.body) + 1 for one in line_points]
    line |= {"closed": closed, "interpolation": interpolation}
    return {"line": line, "sensors": {one.name: one.unit for one in sensors}}


def _guide_values(
    written: Mapping[str, str | None],
    normDamp: Quantity | Law | None,
    K_fr: Quantity | None,
    zone: Quantity | None,
    sensors: Sequence[Sensor],
) -> tuple[dict[str, object], dict[str, object]]:
    """Laws and start values."""
    every = {name: None if law is None else Law(law) for name, law in written.items()}
    laws, start = _laws_and_start({**every, "normDamp": normDamp, "K_fr": K_fr, "forceZone": zone})
    return laws, start | {f"sensor.{one.name}": one.start for one in sensors}


def contactPS(  # noqa: N802
    Point: Point,
    Surface: Surface,
    C_F: Quantity | Law,
    *,
    recipe: Path,
    K_fr: Quantity | None = None,
    F_fr: str | None = None,
    C_r: Quantity | None = None,
    F_d: str | None = None,
    D_max: Quantity | None = None,
    work: bool = True,
    color: str | None = None,
    visible: bool = True,
    functions: str = "",
) -> Path:
    """Write the recipe of a point_surface and return its path.   C_F: stiffness, or a law of #h; F_fr: a law of #N and
    #v, which excludes K_fr; F_d: a law of #v, which excludes C_r.

    Raises InputError with every problem found; what the recipe then holds is checked when it is built."""
    problems = [
        Problem(law, f"{law} excludes {scalar}: remove one of the two")
        for law, scalar, both in (("F_fr", "K_fr", (F_fr, K_fr)), ("F_d", "C_r", (F_d, C_r)))
        if None not in both
    ]
    if Point.body == Surface.body:
        problems.append(Problem("Surface", f"it lies on '{Surface.body}', the body of the point: it needs another"))
    problems += _place_problems(Point)
    if problems:
        raise InputError(problems)
    laws, start = _laws_and_start({"C_F": C_F, "K_fr": K_fr, "C_r": C_r, "D_max": D_max})
    laws |= {name: str(law) for name, law in (("F_fr", F_fr), ("F_d", F_d)) if law is not None}
    tables = {"surface": {"kind": Surface.kind, **Surface.keys}}
    return _write(recipe, "point_surface", tables, functions, laws, start, work, color, visible)


def _place_problems(point: Point) -> list[Problem]:
    """A point away from the origin of its body: the body, not the recipe, declares the place of a port."""
    if all(float(x) == 0.0 for x in point.r):
        return []
    what = f"r = {tuple(point.r)!r} m on '{point.body}' cannot be given in this recipe, which has ports only"
    repair = "give (0, 0, 0) here, and connect a port of the body at r, such as attach[i] of a rigid_body"
    return [Problem("Point", f"{what}: {repair}")]


def _laws_and_start(values: Mapping[str, Quantity | Law | None]) -> tuple[dict[str, object], dict[str, object]]:
    laws: dict[str, object] = {name: str(value) for name, value in values.items() if isinstance(value, Law)}
    start: dict[str, object] = {n: value for n, value in values.items() if value is not None and n not in laws}
    return laws, start


def _write(
    recipe: Path,
    element: str,
    tables: Mapping[str, Mapping[str, object]],
    functions: str,
    laws: Mapping[str, object],
    start: Mapping[str, object],
    work: bool,
    color: str | None,
    visible: bool,
) -> Path:
    drawing = {**({} if color is None else {"color": color}), **({} if visible else {"visible": False})}
    every: dict[str, Mapping[str, object]] = {
        **tables,
        "functions": {**({"text": functions} if functions else {}), **laws},
        "start": {**start, **({} if work else {"work": False})},
        "drawing": drawing,
    }
    lines = [f'element = "{element}"']
    for name, table in every.items():
        if table:
            lines += ["", f"[{name}]", *(f"{_key(key)} = {_value(value)}" for key, value in table.items())]
    write_whole(recipe, "\n".join(lines) + "\n")
    return recipe


def _key(key: str) -> str:
    return key if key.replace("_", "").isalnum() and key.isascii() else json.dumps(key)


def _value(value: object) -> str:
    """TOML of a number, a text, a truth value or a list: texts and numbers are written as in JSON."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool | int | float | str):
        return json.dumps(value, ensure_ascii=True)
    return json.dumps(str(value))
