"""The bodies, constraints and points of a recipe.

[[body]]  one for each body, from the ground outwards; ground is not listed
[[constraint]]  kind = "profile", "pin" or "distance"
[[point]]  a port

Their keys: README.md, and Body, Profile, Pin, Distance and Point of fmu_builder/model/structure_tables.py.
"""

import itertools
from contextlib import suppress
from dataclasses import dataclass

from fmu_builder.errors import InputError
from fmu_builder.model import Constant, Reader, Slot, Structure, Table
from fmu_builder.model.constraint_profile import Profile, read_profile
from fmu_builder.model.given_values import interval
from fmu_builder.model.structure_tables import CONSTRAINTS, Body, Point
from fmu_builder.units import parse_unit

LISTS = {"body": Body, "constraint": CONSTRAINTS, "point": Point}

GROUND = "ground"
INPUTS = "inputs"  # a motion that comes from outside
ALONG_X, ALONG_Y, DISTANCE = range(3)  # as in contact_core/mechanism/constraint.h; others by constraint_profile.py
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


def structure(tables: dict[str, list[Table]], read: Reader) -> Structure:
    """Check the tables; returns parents, constraints, contacts and the start values of all tables."""
    joints = _joints(read.rows("body", Body), read)
    holds = _holds(read.rows("constraint", CONSTRAINTS), joints.names, read)
    points = _points(read.rows("point", Point), joints.names, read)
    free = joints.driven.count(0)
    if len(holds.rows) > free:
        counted = f"{free} joints" + (" that are not driven" if any(joints.driven) else "")
        what = f"{len(holds.rows)} equations hold {counted}: the mechanism is over-constrained, remove a constraint"
        read.problem("[[constraint]]", "", what)
    return Structure(
        constants=(*joints.constants(), *holds.constants(), *points.constants()),
        sizes=joints.sizes() | holds.sizes() | points.sizes(),
        starts=joints.starts | holds.starts | points.starts,
        choices={
            "friction": holds.friction,
            "shapes": not all(one.is_polynomial for one in holds.profiles),
            "driven": any(joints.driven),
            "timed": joints.timed or points.timed,
        },
        units=joints.units(),
    )


@dataclass(frozen=True)
class Joints:
    """The bodies, each with the joint that carries it."""

    names: tuple[str, ...]
    parents: tuple[int, ...]  # number of the body that carries each, -1: the ground
    slides: tuple[int, ...]  # 1: prismatic
    closes: tuple[int, ...]  # 1: moved so that the constraints hold at the start
    driven: tuple[int, ...]  # 1: its motion is given
    inputs: tuple[int, ...]  # which of the motions that come from outside
    shafts: tuple[int, ...]  # which of the rotational ports
    sliders: tuple[int, ...]  # which of the translational ports
    timed: bool  # a law of time moves or loads one
    starts: dict[str, object]

    def constants(self) -> tuple[Constant, ...]:
        return (
            Constant("body_names", self.names or ("",)),
            Constant("parents", self.parents or (0,)),
            Constant("slides", self.slides or (0,)),
            Constant("closes", self.closes or (0,)),
            Constant("driven_joints", self.driven or (0,)),
            Constant("driven_inputs", self.inputs),
            Constant("joint_shafts", self.shafts),
            Constant("joint_slides", self.sliders),
        )

    def sizes(self) -> dict[str, int]:
        counts = {"drives": self.inputs, "shafts": self.shafts, "slides": self.sliders}
        return {"joints": len(self.names)} | {name: max(numbers) + 1 for name, numbers in counts.items()}

    def units(self) -> dict[str, tuple[str, ...]]:
        """Of the variables of joints, and of the drives that come from outside."""
        outside = [slides for slides, number in zip(self.slides, self.inputs, strict=False) if number >= 0]
        return {name: tuple(pair[one] for one in self.slides) for name, pair in UNITS.items()} | {
            f"drive.{name}": tuple(UNITS[name][one] for one in outside) for name in ("q", "qd", "qdd")
        }


def _joints(bodies: list[Table], read: Reader) -> Joints:
    if not bodies:
        read.problem("[[body]]", "", "there is none: a mechanism needs a body, with the joint that carries it")
    names = _names(bodies, read)
    slides = tuple(int(read.choice(body, "joint") == "prismatic") for body in bodies)
    ports = [read.flag(body, "port") for body in bodies]
    for body in bodies:
        _law_problems(body, ("force", "motion"), read)
        if "motion" in body:
            _driven_problems(body, read)
    starts: dict[str, object] = {}
    for i, body in enumerate(bodies):
        starts |= _body(body, i + 1, slides[i], read)
    return Joints(
        names=tuple(names),
        parents=tuple(_parent(body, i, names, read) for i, body in enumerate(bodies)),
        slides=slides,
        closes=tuple(int(read.flag(body, "closes")) for body in bodies),
        driven=tuple(int("motion" in body) for body in bodies),
        inputs=_numbered([body.get("motion") == INPUTS for body in bodies]),
        shafts=_numbered([port and not one for port, one in zip(ports, slides, strict=True)]),
        sliders=_numbered([port and bool(one) for port, one in zip(ports, slides, strict=True)]),
        timed=any(isinstance(body.get("force"), str) or body.get("motion", INPUTS) != INPUTS for body in bodies),
        starts=starts,
    )


@dataclass(frozen=True)
class Holds:
    """The constraints.  One of them is one or two equations, which are the rows of the C code."""

    carriers: tuple[tuple[int, int], ...]  # numbers of the bodies of each; -1: the ground
    profiles: tuple[Profile, ...]
    sides: tuple[float, ...]  # 1: below its profile, -1: above
    rows: tuple[tuple[int, int], ...]  # kind in C, number of the constraint
    contacts: tuple[int, ...]  # the rows of profiles
    unilateral: tuple[int, ...]  # of each contact, 1: it may lift off
    friction: bool
    starts: dict[str, object]

    @property
    def coefficients(self) -> int:
        """Of the longest polynomial."""
        return max((len(one.coefficients) for one in self.profiles), default=1)

    def constants(self) -> tuple[Constant, ...]:
        profiles = self.profiles
        firsts = tuple(itertools.accumulate((len(one.knots) for one in profiles), initial=0))
        contact_of = {row: i for i, row in enumerate(self.contacts)}
        return (
            Constant("hold_bodies", tuple(body for body, _ in self.carriers) or (0,)),
            Constant("hold_others", tuple(other for _, other in self.carriers) or (0,)),
            Constant("hold_degrees", tuple(len(one.coefficients) - 1 for one in profiles) or (0,)),
            Constant("hold_shapes", tuple(0 if one.is_polynomial else one.kind for one in profiles) or (0,)),
            Constant("hold_closed", tuple(one.closed for one in profiles) or (0,)),
            Constant("hold_ends", tuple(int(one.has_ends) for one in profiles) or (0,)),
            Constant("hold_from", tuple(one.ends[0] if one.ends else -ENDLESS for one in profiles) or (0.0,)),
            Constant("hold_to", tuple(one.ends[1] if one.ends else ENDLESS for one in profiles) or (0.0,)),
            Constant("spline_first", firsts[:-1] or (0,)),
            Constant("spline_counts", tuple(len(one.knots) for one in profiles) or (0,)),
            Constant("spline_knots", tuple(value for one in profiles for value in one.knots) or (0.0,)),
            Constant("spline_x", tuple(value for one in profiles for value in one.x) or (0.0,)),
            Constant("spline_y", tuple(value for one in profiles for value in one.y or [0.0] * len(one.x)) or (0.0,)),
            Constant("hold_sides", self.sides or (0.0,)),
            Constant("row_kinds", tuple(kind for kind, _ in self.rows) or (0,)),
            Constant("row_holds", tuple(hold for _, hold in self.rows) or (0,)),
            Constant("contact_rows", self.contacts or (0,)),
            Constant("unilateral", self.unilateral or (0,)),
            Constant("row_contacts", tuple(contact_of.get(row, -1) for row in range(len(self.rows))) or (0,)),
        )

    def sizes(self) -> dict[str, int]:
        return {
            "holds": len(self.profiles),
            "constraints": len(self.rows),
            "contacts": len(self.contacts),
            "coefficients": self.coefficients,
        }


def _holds(holds: list[Table], names: tuple[str, ...], read: Reader) -> Holds:
    kinds = [_kind(hold, read) for hold in holds]
    profiles = tuple(
        read_profile(hold, read) if kind == "profile" else Profile() for hold, kind in zip(holds, kinds, strict=True)
    )
    rows = [(number, k) for k, kind in enumerate(kinds) for number in _equations(kind, profiles[k])]
    on_profiles = [hold for hold, kind in zip(holds, kinds, strict=True) if kind == "profile"]
    friction = any("friction" in hold for hold in holds)
    found = Holds(
        carriers=tuple(_carriers(hold, names, read) for hold in holds),
        profiles=profiles,
        sides=tuple(1.0 if read.choice(hold, "side") == "below" else -1.0 for hold in holds),
        rows=tuple(rows),
        contacts=tuple(i for i, (_, k) in enumerate(rows) if kinds[k] == "profile"),
        unilateral=tuple(int(read.flag(hold, "unilateral")) for hold in on_profiles),
        friction=friction,
        starts={},
    )
    for k, hold in enumerate(holds):
        found.starts.update(_hold(hold, k + 1, kinds[k], read))
        f = profiles[k].coefficients
        found.starts[f"hold[{k + 1}].f"] = [*f, *[0.0] * (found.coefficients - len(f))]
    for i, hold in enumerate(on_profiles):
        mu, k_T = read.quantity(hold, "friction"), read.quantity(hold, "k_T")
        if friction:
            found.starts.update({f"contact[{i + 1}].mu": mu, f"contact[{i + 1}].k_T": k_T})
        elif "k_T" in hold:
            read.problem(read.place(hold), "k_T", "belongs to friction, which is missing: give both or none")
    return found


def _kind(hold: Table, read: Reader) -> str:
    """profile, pin or distance; keys of another kind are a problem."""
    kind = read.choice(hold, "kind", tuple(CONSTRAINTS))
    of_any_kind = {key for model in CONSTRAINTS.values() for key in model.model_fields}
    for key in hold:
        if key in of_any_kind and key not in CONSTRAINTS[kind].model_fields:
            read.problem(read.place(hold), key, f"this key does not belong to kind = '{kind}'")
    return kind


def _equations(kind: str, profile: Profile) -> tuple[int, ...]:
    """Their kinds in C."""
    return {"pin": (ALONG_X, ALONG_Y), "distance": (DISTANCE,), "profile": (profile.kind,)}[kind]


def _carriers(hold: Table, names: tuple[str, ...], read: Reader) -> tuple[int, int]:
    body, other = _body_of(hold, "body", names, read), _body_of(hold, "on", names, read, GROUND)
    if hold.get("on") in names and hold.get("body") == hold.get("on"):
        read.problem(read.place(hold), "on", f"'{names[body]}' is held against itself: name another body")
    return body, other


def _hold(hold: Table, number: int, kind: str, read: Reader) -> dict[str, object]:
    """Start values of one constraint."""
    if kind == "distance" and "length" not in hold:
        read.problem(read.place(hold), "length", "this key is missing")
    return {
        f"hold[{number}].point": list(read.vector(hold, "point")),
        f"hold[{number}].base": list(read.vector(hold, "base")),
        f"hold[{number}].angle": read.quantity(hold, "angle"),
        f"hold[{number}].length": read.quantity(hold, "length", default=1.0),
    }


@dataclass(frozen=True)
class Points:
    """The ports."""

    bodies: tuple[int, ...]
    timed: bool  # a law of time loads one
    starts: dict[str, object]

    def constants(self) -> tuple[Constant, ...]:
        return (Constant("point_bodies", self.bodies or (0,)),)

    def sizes(self) -> dict[str, int]:
        return {"points": len(self.bodies)}


def _points(points: list[Table], names: tuple[str, ...], read: Reader) -> Points:
    for point in points:
        _law_problems(point, ("force_x", "force_y"), read)
    return Points(
        bodies=tuple(_body_of(point, "body", names, read) for point in points),
        timed=any(isinstance(point.get(key), str) for point in points for key in ("force_x", "force_y")),
        starts={f"point[{k + 1}].offset": list(read.vector(point, "offset")) for k, point in enumerate(points)},
    )


def _law_problems(table: Table, keys: tuple[str, ...], read: Reader) -> None:
    for key in keys:
        if key in table and not isinstance(table[key], str):
            read.problem(read.place(table), key, f"{table[key]!r} must be a law of the time t, as text")


def _numbered(chosen: list[bool]) -> tuple[int, ...]:
    """For each, which of the chosen it is, -1 if it is none."""
    numbers = itertools.count()
    return tuple(next(numbers) if one else -1 for one in chosen) or (-1,)


def _driven_problems(body: Table, read: Reader) -> None:
    """A driven joint has no start, and nothing else moves it."""
    for key in ("start", "speed", "closes"):
        if key in body:
            read.problem(read.place(body), key, "the motion of this joint is given: remove this key")


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


def _body_of(table: Table, key: str, names: tuple[str, ...], read: Reader, default: str | None = None) -> int:
    """Number of the body that a key names; the ground, -1, if it may be that."""
    name = read.text(table, key, default or (names[0] if names else ""))
    if name == GROUND and default == GROUND:
        return -1
    if name in names:
        return names.index(name)
    known = (GROUND, *names) if default == GROUND else names
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
