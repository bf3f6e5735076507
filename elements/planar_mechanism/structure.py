"""The bodies, constraints and points of a recipe.

[[body]]  one for each body, from the ground outwards; ground is not listed
[[constraint]]  kind = "profile", "pin" or "distance"
[[point]]  a port

Their keys: README.md, and Body, Profile, Pin, Distance and Point of fmu_builder/model/structure_tables.py.
"""

import itertools
import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fmu_builder.errors import InputError
from fmu_builder.model import Constant, Reader, Slot, Structure, Table
from fmu_builder.model.given_values import interval
from fmu_builder.model.structure_tables import CONSTRAINTS, Body, Point
from fmu_builder.units import parse_unit

LISTS = {"body": Body, "constraint": CONSTRAINTS, "point": Point}

GROUND = "ground"
INPUTS = "inputs"  # a motion that comes from outside
PROFILE_KEYS = ("profile", "profile_points", "curve_points", "curve_x", "curve_y")
ALONG_X, ALONG_Y, DISTANCE, PROFILE, CURVE = range(5)  # as in contact_core/mechanism/constraint.h
UNITS = {  # of a revolute and of a prismatic joint
    "joint.stiffness": ("N.m/rad", "N/m"),
    "joint.free": ("rad", "m"),
    "joint.damping": ("N.m.s/rad", "N.s/m"),
    "joint.q0": ("rad", "m"),
    "joint.qd0": ("rad/s", "m/s"),
    "joint.force": ("N.m", "N"),
    "joint.drive": ("N.m", "N"),
    "integrated.q": ("rad", "m"),
    "integrated.qd": ("rad/s", "m/s"),
    "q": ("rad", "m"),
    "qd": ("rad/s", "m/s"),
    "qdd": ("rad/s2", "m/s2"),
}
MOST_COEFFICIENTS = 20
MOST_POINTS = 10_000  # of a spline: it becomes constants of the C code
ENDLESS = 1e300


def laws(tables: dict[str, list[Table]]) -> dict[str, tuple[Slot, str]]:
    """The laws that stand in the tables: a slot for each, and what is written there."""
    found: dict[str, tuple[Slot, str]] = {}
    for k, hold in enumerate(tables["constraint"]):
        where = f"[[constraint]] {k + 1}"
        for key, argument in (("profile", "x"), ("curve_x", "s"), ("curve_y", "s")):
            text = hold.get(key)
            if isinstance(text, str):
                unit = "m" if argument == "x" else "1"
                what = "Profile" if key == "profile" else f"{key[-1]} of the curve"
                found[f"{key}_{k + 1}"] = (
                    Slot(
                        description=f"{what} of constraint {k + 1}",
                        arguments={argument: unit},
                        unit="m",
                        range={argument: _range(hold, unit)},
                        place=f"{where} {key}",
                        group=key,
                        number=k,
                        derivatives=2,
                        smooth=True,
                    ),
                    text,
                )
    for i, body in enumerate(tables["body"]):
        slides = body.get("joint") == "prismatic"
        for key, units, derivatives in (("motion", ("rad", "m"), 2), ("force", ("N.m", "N"), 0)):
            text, name = body.get(key), f"{key}_{i + 1}"
            if isinstance(text, str) and text != INPUTS:
                found[name] = _of_time(f"[[body]] {i + 1} {key}", key, i, units[slides], derivatives), text
    for k, point in enumerate(tables["point"]):
        for key in ("force_x", "force_y"):
            text = point.get(key)
            if isinstance(text, str):
                found[f"{key}_{k + 1}"] = _of_time(f"[[point]] {k + 1} {key}", key, k, "N", 0), text
    return found


def _of_time(place: str, group: str, number: int, unit: str, derivatives: int) -> Slot:
    """The slot of a law of time, checked over the first second."""
    return Slot(
        description=f"Law of time, {place.replace('[', '').replace(']', '')}",
        arguments={"t": "s"},
        unit=unit,
        range={"t": (0.0, 1.0)},
        place=place,
        group=group,
        number=number,
        derivatives=derivatives,
        smooth=derivatives > 0,
    )


def _range(hold: Table, unit: str) -> tuple[float, float]:
    """The key range in SI; where it is missing or wrong, which `structure` reports, something instead."""
    with suppress(InputError):
        return interval(hold.get("range"), parse_unit(unit), "")
    return 0.0, 1.0


@dataclass(frozen=True)
class Profile:
    """What a constraint's point is held on.   kind, coefficients of a polynomial, ends of its parameter   knots, x and
    y: of a spline, four coefficients for each interval; x alone of y = f(x)"""

    kind: int = PROFILE
    coefficients: tuple[float, ...] = (0.0,)
    closed: int = 0
    ends: tuple[float, float] | None = None
    law: bool = False
    knots: tuple[float, ...] = ()
    x: tuple[float, ...] = ()
    y: tuple[float, ...] = ()

    @property
    def is_polynomial(self) -> bool:
        return not self.law and not self.knots


def _profile(hold: Table, read: Reader) -> Profile:
    place = read.place(hold)
    given = [key for key in PROFILE_KEYS if key in hold]
    closed = int(read.flag(hold, "closed"))
    if not given or (len(given) > 1 and given != ["curve_x", "curve_y"]):
        what = "give one of profile, profile_points, curve_points, or curve_x with curve_y"
        read.problem(place, given[1] if given else "profile", f"{what}; given: {', '.join(given) or 'none'}")
        return Profile()
    if given[0][:5] != "curve" and "closed" in hold:
        read.problem(place, "closed", "belongs to a curve: remove it, or give curve_points, or curve_x and curve_y")
    if isinstance(hold.get("profile"), list):
        f = read.vector(hold, "profile", ("1",), ())
        if len(f) > MOST_COEFFICIENTS:
            what = f"has {len(f)} coefficients, at most {MOST_COEFFICIENTS} are allowed: take a lower degree"
            read.problem(place, "profile", what)
        if "range" in hold:
            read.problem(place, "range", "belongs to a law or a curve by laws: remove it")
        return Profile(coefficients=f)
    if given[0] in ("profile", "curve_x", "curve_y"):
        return _by_laws(hold, given, closed, read)
    if "range" in hold:
        read.problem(place, "range", "belongs to a law or a curve by laws: points give their ends")
    points = read.points(hold, given[0], 2)
    if not points:
        return Profile()
    return _graph(points, place, read) if given[0] == "profile_points" else _curve(points, closed, place, read)


def _by_laws(hold: Table, given: list[str], closed: int, read: Reader) -> Profile:
    place, curve = read.place(hold), given[0] != "profile"
    for key in ("curve_x", "curve_y") if curve else ("profile",):
        if not isinstance(hold.get(key), str):
            read.problem(place, key, "must be a law, as text" if key in hold else "this key is missing")
    if "range" not in hold:
        what = "is missing: the interval in which the law is used, as in range = [0, 6.28]"
        read.problem(place, "range", what)
    ends = read.interval(hold, "range", "1" if curve else "m", (0.0, 1.0))
    return Profile(CURVE if curve else PROFILE, closed=closed, ends=ends, law=True)


def _graph(points: list[tuple[float, ...]], place: str, read: Reader) -> Profile:
    """A spline y = f(x) with two continuous derivatives."""
    if not _enough(points, 4, "profile_points", place, read):
        return Profile()
    for (a, _), (b, _) in itertools.pairwise(points):
        if not a < b:
            what = f"x = {b:g} m follows x = {a:g} m: y = f(x) needs points with increasing x"
            read.problem(
                place, "profile_points", f"{what}; for a profile that goes back, or straight up, give curve_points"
            )
            return Profile()
    from scipy.interpolate import CubicSpline  # starts in half a second: only who needs it waits

    x, y = zip(*points, strict=True)
    return Profile(ends=(x[0], x[-1]), knots=x, x=_coefficients(CubicSpline(x, y).c))


def _curve(points: list[tuple[float, ...]], closed: int, place: str, read: Reader) -> Profile:
    """A spline through points over the length of their chords, of a closed curve periodic."""
    if closed and points[0] != points[-1]:
        points = [*points, points[0]]
    if not _enough(points, 4, "curve_points", place, read):
        return Profile()
    chords = [math.dist(a, b) for a, b in itertools.pairwise(points)]
    if 0.0 in chords:
        at = chords.index(0.0) + 1
        read.problem(place, "curve_points", f"points {at} and {at + 1} are the same: remove one")
        return Profile()
    from scipy.interpolate import CubicSpline

    knots = tuple(itertools.accumulate(chords, initial=0.0))
    spline = CubicSpline(knots, points, bc_type="periodic" if closed else "not-a-knot")
    x, y = (_coefficients(spline.c[:, :, i]) for i in (0, 1))
    return Profile(CURVE, closed=closed, ends=(knots[0], knots[-1]), knots=knots, x=x, y=y)


def _enough(points: list[tuple[float, ...]], least: int, key: str, place: str, read: Reader) -> bool:
    if least <= len(points) <= MOST_POINTS:
        return True
    read.problem(place, key, f"has {len(points)} points; {least} to {MOST_POINTS} are allowed")
    return False


def _coefficients(c: Any) -> tuple[float, ...]:
    """Of scipy, highest power first: for each interval c0, c1, c2, c3, and as many zeros at the end."""
    return (*(float(value) for value in c[::-1].T.ravel()), 0.0, 0.0, 0.0, 0.0)


def structure(tables: dict[str, list[Table]], read: Reader) -> Structure:
    """Check the tables; returns parents, constraints, contacts and the start values of all tables."""
    starts: dict[str, object] = {}
    bodies = read.rows("body", Body)
    if not bodies:
        read.problem("[[body]]", "", "there is none: a mechanism needs a body, with the joint that carries it")
    names = _names(bodies, read)
    parents = [_parent(body, i, names, read) for i, body in enumerate(bodies)]
    slides = [int(read.choice(body, "joint") == "prismatic") for body in bodies]
    closes = [int(read.flag(body, "closes")) for body in bodies]
    for i, body in enumerate(bodies):
        starts |= _body(body, i + 1, slides[i], read)

    holds = read.rows("constraint", CONSTRAINTS)
    rows: list[tuple[int, int]] = []  # kind in C, number of the constraint
    carriers, sides, profiles, contacts, unilateral = [], [], [], [], []
    with_friction = any("friction" in hold for hold in holds)
    of_any_kind = {key for model in CONSTRAINTS.values() for key in model.model_fields}
    for k, hold in enumerate(holds):
        kind = read.choice(hold, "kind", tuple(CONSTRAINTS))
        for key in hold:
            if key in of_any_kind and key not in CONSTRAINTS[kind].model_fields:
                read.problem(read.place(hold), key, f"this key does not belong to kind = '{kind}'")
        carriers.append((_body_of(hold, "body", names, read), _body_of(hold, "on", names, read, GROUND)))
        if carriers[k][0] == carriers[k][1] and carriers[k][0] >= 0:
            read.problem(read.place(hold), "on", f"'{names[carriers[k][0]]}' is held against itself: name another body")
        starts[f"hold[{k + 1}].point"] = list(read.vector(hold, "point"))
        starts[f"hold[{k + 1}].base"] = list(read.vector(hold, "base"))
        starts[f"hold[{k + 1}].angle"] = read.quantity(hold, "angle")
        starts[f"hold[{k + 1}].length"] = read.quantity(hold, "length", default=1.0)
        if kind == "distance" and "length" not in hold:
            read.problem(read.place(hold), "length", "this key is missing")
        profiles.append(_profile(hold, read) if kind == "profile" else Profile())
        sides.append(1.0 if read.choice(hold, "side") == "below" else -1.0)
        if kind == "profile":
            contacts.append(len(rows))
            unilateral.append(int(read.flag(hold, "unilateral")))
            mu, k_T = read.quantity(hold, "friction"), read.quantity(hold, "k_T")
            if with_friction:
                starts |= {f"contact[{len(contacts)}].mu": mu, f"contact[{len(contacts)}].k_T": k_T}
            elif "k_T" in hold:
                read.problem(read.place(hold), "k_T", "belongs to friction, which is missing: give both or none")
        kinds = {"pin": (ALONG_X, ALONG_Y), "distance": (DISTANCE,), "profile": (profiles[k].kind,)}[kind]
        rows += [(number, k) for number in kinds]
    free = sum("motion" not in body for body in bodies)
    if len(rows) > free:
        joints = f"{free} joints" + (" that are not driven" if free < len(bodies) else "")
        what = f"{len(rows)} equations hold {joints}: the mechanism is over-constrained, remove a constraint"
        read.problem("[[constraint]]", "", what)
    most = max((len(one.coefficients) for one in profiles), default=1)
    for k, one in enumerate(profiles):
        starts[f"hold[{k + 1}].f"] = [*one.coefficients, *[0.0] * (most - len(one.coefficients))]
    firsts = list(itertools.accumulate((len(one.knots) for one in profiles), initial=0))

    points = read.rows("point", Point)
    for table in (*bodies, *points):
        for key in ("force", "motion", "force_x", "force_y"):
            if key in table and not isinstance(table[key], str):
                read.problem(read.place(table), key, f"{table[key]!r} must be a law of the time t, as text")
    driven = [int("motion" in body) for body in bodies]
    for body in bodies:
        if "motion" in body:
            _driven_problems(body, read)
    inputs = _numbered([body.get("motion") == INPUTS for body in bodies])
    ports = [read.flag(body, "port") for body in bodies]
    shafts = _numbered([port and not one for port, one in zip(ports, slides, strict=True)])
    sliders = _numbered([port and bool(one) for port, one in zip(ports, slides, strict=True)])
    timed = any(isinstance(table.get(k), str) for table in (*bodies, *points) for k in ("force", "force_x", "force_y"))
    timed |= any(body.get("motion", INPUTS) != INPUTS for body in bodies)
    point_bodies = [_body_of(point, "body", names, read) for point in points]
    for k, point in enumerate(points):
        starts[f"point[{k + 1}].offset"] = list(read.vector(point, "offset"))
    contact_of = {row: i for i, row in enumerate(contacts)}
    return Structure(
        constants=(
            Constant("body_names", tuple(names) or ("",)),
            Constant("parents", tuple(parents) or (0,)),
            Constant("slides", tuple(slides) or (0,)),
            Constant("closes", tuple(closes) or (0,)),
            Constant("driven_joints", tuple(driven) or (0,)),
            Constant("driven_inputs", inputs),
            Constant("joint_shafts", shafts),
            Constant("joint_slides", sliders),
            Constant("hold_bodies", tuple(body for body, _ in carriers) or (0,)),
            Constant("hold_others", tuple(other for _, other in carriers) or (0,)),
            Constant("hold_degrees", tuple(len(one.coefficients) - 1 for one in profiles) or (0,)),
            Constant("hold_shapes", tuple(0 if one.is_polynomial else one.kind for one in profiles) or (0,)),
            Constant("hold_closed", tuple(one.closed for one in profiles) or (0,)),
            Constant("hold_ends", tuple(int(_has_ends(one)) for one in profiles) or (0,)),
            Constant("hold_from", tuple(one.ends[0] if one.ends else -ENDLESS for one in profiles) or (0.0,)),
            Constant("hold_to", tuple(one.ends[1] if one.ends else ENDLESS for one in profiles) or (0.0,)),
            Constant("spline_first", tuple(firsts[:-1]) or (0,)),
            Constant("spline_counts", tuple(len(one.knots) for one in profiles) or (0,)),
            Constant("spline_knots", tuple(value for one in profiles for value in one.knots) or (0.0,)),
            Constant("spline_x", tuple(value for one in profiles for value in one.x) or (0.0,)),
            Constant("spline_y", tuple(value for one in profiles for value in one.y or [0.0] * len(one.x)) or (0.0,)),
            Constant("hold_sides", tuple(sides) or (0.0,)),
            Constant("row_kinds", tuple(kind for kind, _ in rows) or (0,)),
            Constant("row_holds", tuple(hold for _, hold in rows) or (0,)),
            Constant("contact_rows", tuple(contacts) or (0,)),
            Constant("unilateral", tuple(unilateral) or (0,)),
            Constant("row_contacts", tuple(contact_of.get(row, -1) for row in range(len(rows))) or (0,)),
            Constant("point_bodies", tuple(point_bodies) or (0,)),
        ),
        sizes={
            "joints": len(bodies),
            "holds": len(holds),
            "constraints": len(rows),
            "contacts": len(contacts),
            "coefficients": most,
            "points": len(points),
            "drives": max(inputs) + 1,
            "shafts": max(shafts) + 1,
            "slides": max(sliders) + 1,
        },
        starts=starts,
        choices={
            "friction": with_friction,
            "shapes": not all(one.is_polynomial for one in profiles),
            "driven": any(driven),
            "timed": timed,
        },
        units={
            **{name: tuple(pair[one] for one in slides) for name, pair in UNITS.items()},
            **{
                f"drive.{name}": tuple(UNITS[name][one] for one, k in zip(slides, inputs, strict=False) if k >= 0)
                for name in ("q", "qd", "qdd")
            },
        },
    )


def _numbered(chosen: list[bool]) -> tuple[int, ...]:
    """For each, which of the chosen it is, -1 if it is none."""
    numbers = itertools.count()
    return tuple(next(numbers) if one else -1 for one in chosen) or (-1,)


def _driven_problems(body: Table, read: Reader) -> None:
    """A driven joint has no start, and nothing else moves it."""
    for key in ("start", "speed", "closes"):
        if key in body:
            read.problem(read.place(body), key, "the motion of this joint is given: remove this key")


def _has_ends(profile: Profile) -> bool:
    """Whether the point may come to an end: a law of x is used wherever it has a value."""
    return profile.ends is not None and not profile.closed and not (profile.law and profile.kind == PROFILE)


def _names(bodies: list[Table], read: Reader) -> list[str]:
    names: list[str] = []
    for i, body in enumerate(bodies):
        name = read.text(body, "name", f"body {i + 1}")
        if name == GROUND or name in names:
            read.problem(read.place(body), "name", f"'{name}' is taken: give each body a name of its own")
        names.append(name)
    return names


def _parent(body: Table, i: int, names: list[str], read: Reader) -> int:
    """Number of the body that carries body i, -1 for the ground."""
    on = read.text(body, "on", names[i - 1] if i else GROUND)
    if on == GROUND or on in names[:i]:
        return -1 if on == GROUND else names.index(on)
    if on in names:
        what = (
            f"'{on}' is not listed before '{names[i]}': list the bodies from the ground outwards; a loop is closed by "
            "a [[constraint]] of the kind pin, not by a joint"
        )
    else:
        what = f"there is no body '{on}'; known: {', '.join(dict.fromkeys([GROUND, *names[:i]]))}"
    read.problem(read.place(body), "on", what)
    return -1


def _body_of(table: Table, key: str, names: list[str], read: Reader, default: str | None = None) -> int:
    """Number of the body that a key names; the ground, -1, if it may be that."""
    name = read.text(table, key, default or (names[0] if names else ""))
    if name == GROUND and default == GROUND:
        return -1
    if name in names:
        return names.index(name)
    known = [GROUND, *names] if default == GROUND else names
    if key in table:
        read.problem(read.place(table), key, f"there is no body '{name}'; known: {', '.join(dict.fromkeys(known))}")
    return 0


def _body(body: Table, number: int, slides: int, read: Reader) -> dict[str, object]:
    """Start values of one body and its joint."""
    unit = {name: pair[slides] for name, pair in UNITS.items()}
    joint = f"joint[{number}]"
    return {
        f"body[{number}].m": read.quantity(body, "mass", default=1.0),
        f"body[{number}].J": read.quantity(body, "inertia", default=0.1),
        f"body[{number}].centre": list(read.vector(body, "centre")),
        f"{joint}.place": list(read.vector(body, "place")),
        f"{joint}.angle": read.quantity(body, "angle"),
        f"{joint}.stiffness": read.quantity(body, "stiffness", unit["joint.stiffness"]),
        f"{joint}.free": read.quantity(body, "free", unit["joint.free"]),
        f"{joint}.damping": read.quantity(body, "damping", unit["joint.damping"]),
        f"{joint}.q0": read.quantity(body, "start", unit["joint.q0"]),
        f"{joint}.qd0": read.quantity(body, "speed", unit["joint.qd0"]),
    }
