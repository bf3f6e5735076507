"""The bodies, constraints and points of a recipe.

[[body]]                       # one for each body, with the joint that carries it; ground is not listed
name = "arm"                   # by default body 1, body 2, ...
on = "ground"                  # the body before it: ground, or one above; by default the one above
joint = "revolute"             # or "prismatic": it slides along its own x axis
place = ["0.3 m", 0]           # of the joint in the axes of the body before
angle = "0 deg"                # of its axes against those of the body before, at q = 0
mass = "1 kg"
inertia = "0.1 kg.m2"          # about the centre of mass
centre = ["0.15 m", 0]         # of mass, in its axes
stiffness = "15 N.m/rad"       # of a spring in the joint; N/m in a prismatic one
free = "0 rad"                 # where that spring is free
damping = "1 N.m.s/rad"
start = "-1.2 rad"             # coordinate and speed at the start
speed = "0 rad/s"
closes = true                  # its start follows from the constraints; without any, the mechanism chooses

[[constraint]]
kind = "profile"               # or "pin", "distance"
body = "arm"
point = ["0.3 m", 0]           # of the body
on = "ground"                  # or a body: what carries the profile, or the other point
profile = [0, -0.595, 0.5]     # y = f(x) by powers of x, m
side = "below"                 # of the profile on which its material is: contact.N > 0 where it pushes
friction = 0.2                 # coefficient on the profile
k_T = "100 s/m"                # full friction above the slip 1/k_T
unilateral = true              # the point may leave the profile: nothing pulls it back
base = ["1 m", 0]              # of pin and distance: the other point; of a profile its origin, in the axes of `on`
angle = "0 deg"                # of the profile's axes against those of `on`
length = "0.2 m"               # of distance

[[point]]                      # a port, for forces on it and contacts of it
body = "arm"
offset = ["0.3 m", 0]
"""

from fmu_builder.structure import Constant, Reader, Structure, Table

LISTS = ("body", "constraint", "point")

GROUND = "ground"
BODY = (
    "name", "on", "joint", "place", "angle", "mass", "inertia", "centre", "stiffness", "free", "damping", "start",
    "speed", "closes",
)  # fmt: skip
CONSTRAINT = (
    "kind",
    "body",
    "point",
    "on",
    "profile",
    "side",
    "base",
    "angle",
    "unilateral",
    "friction",
    "k_T",
    "length",
)
OWN = {
    "profile": ("profile", "side", "base", "angle", "unilateral", "friction", "k_T"),
    "pin": ("base",),
    "distance": ("base", "length"),
}
ALONG_X, ALONG_Y, DISTANCE, PROFILE = range(4)  # as in contact_core/constraint.h
UNITS = {  # of a revolute and of a prismatic joint
    "joint.stiffness": ("N.m/rad", "N/m"),
    "joint.free": ("rad", "m"),
    "joint.damping": ("N.m.s/rad", "N.s/m"),
    "joint.q0": ("rad", "m"),
    "joint.qd0": ("rad/s", "m/s"),
    "joint.force": ("N.m", "N"),
    "integrated.q": ("rad", "m"),
    "integrated.qd": ("rad/s", "m/s"),
    "q": ("rad", "m"),
    "qd": ("rad/s", "m/s"),
    "qdd": ("rad/s2", "m/s2"),
}
MOST_COEFFICIENTS = 20


def structure(tables: dict[str, list[Table]], read: Reader) -> Structure:
    """Check the tables; returns who hangs on whom, what is held where, and start values of all that they say."""
    starts: dict[str, object] = {}
    bodies = read.rows("body", BODY, required=("joint", "mass", "inertia"))
    if not bodies:
        read.problem("[[body]]", "", "there is none: a mechanism needs a body, with the joint that carries it")
    names = _names(bodies, read)
    parents = [_parent(body, i, names, read) for i, body in enumerate(bodies)]
    slides = [int(read.choice(body, "joint", ("revolute", "prismatic")) == "prismatic") for body in bodies]
    closes = [_switch(body, "closes", read) for body in bodies]
    for i, body in enumerate(bodies):
        starts |= _body(body, i + 1, slides[i], read)

    holds = read.rows("constraint", CONSTRAINT, required=("kind", "body"))
    rows: list[tuple[int, int]] = []  # kind in C, number of the constraint
    carriers, sides, degrees, coefficients, contacts, unilateral = [], [], [], [1], [], []
    with_friction = any("friction" in hold for hold in holds)
    for k, hold in enumerate(holds):
        kind = read.choice(hold, "kind", tuple(OWN))
        for key in hold:
            if key not in ("kind", "body", "point", "on", *OWN[kind]):
                read.problem(read.place(hold), key, f"this key does not belong to kind = '{kind}'")
        carriers.append((_body_of(hold, "body", names, read), _body_of(hold, "on", names, read, GROUND)))
        if carriers[k][0] == carriers[k][1] and carriers[k][0] >= 0:
            read.problem(read.place(hold), "on", f"'{names[carriers[k][0]]}' is held against itself: name another body")
        starts[f"hold[{k + 1}].point"] = list(read.vector(hold, "point", ("m",), (0.0, 0.0)))
        starts[f"hold[{k + 1}].base"] = list(read.vector(hold, "base", ("m",), (0.0, 0.0)))
        starts[f"hold[{k + 1}].angle"] = read.quantity(hold, "angle", "rad", 0.0)
        starts[f"hold[{k + 1}].length"] = read.quantity(hold, "length", "m", 1.0, above=0.0)
        f = read.vector(hold, "profile", ("1",), ()) if kind == "profile" else (0.0,)
        if kind == "distance" and "length" not in hold:
            read.problem(read.place(hold), "length", "this key is missing")
        if len(f) > MOST_COEFFICIENTS:
            what = f"has {len(f)} coefficients, at most {MOST_COEFFICIENTS} can be served: take a lower degree"
            read.problem(read.place(hold), "profile", what)
        coefficients.append(len(f))
        degrees.append(len(f) - 1)
        sides.append(1.0 if read.choice(hold, "side", ("below", "above")) == "below" else -1.0)
        starts[f"hold[{k + 1}].f"] = list(f)
        if kind == "profile":
            contacts.append(len(rows))
            unilateral.append(_switch(hold, "unilateral", read))
            mu, k_T = (
                read.quantity(hold, "friction", "1", 0.0, least=0.0),
                read.quantity(hold, "k_T", "s/m", 100.0, 0.0),
            )
            if with_friction:
                starts |= {f"contact[{len(contacts)}].mu": mu, f"contact[{len(contacts)}].k_T": k_T}
            elif "k_T" in hold:
                read.problem(read.place(hold), "k_T", "belongs to friction, of which there is none: remove it")
        kinds = {"pin": (ALONG_X, ALONG_Y), "distance": (DISTANCE,), "profile": (PROFILE,)}[kind]
        rows += [(number, k) for number in kinds]
    if len(rows) > len(bodies):
        what = (
            f"{len(rows)} equations hold {len(bodies)} joints: the mechanism is over-constrained, remove a constraint"
        )
        read.problem("[[constraint]]", "", what)
    most = max(coefficients)
    for k in range(len(holds)):
        f_k = starts[f"hold[{k + 1}].f"]
        assert isinstance(f_k, list)
        starts[f"hold[{k + 1}].f"] = f_k + [0.0] * (most - len(f_k))

    points = read.rows("point", ("body", "offset"), required=("body",))
    point_bodies = [_body_of(point, "body", names, read) for point in points]
    for k, point in enumerate(points):
        starts[f"point[{k + 1}].offset"] = list(read.vector(point, "offset", ("m",), (0.0, 0.0)))
    contact_of = {row: i for i, row in enumerate(contacts)}
    return Structure(
        constants=(
            Constant("body_names", tuple(names) or ("",)),
            Constant("parents", tuple(parents) or (0,)),
            Constant("slides", tuple(slides) or (0,)),
            Constant("closes", tuple(closes) or (0,)),
            Constant("hold_bodies", tuple(body for body, _ in carriers) or (0,)),
            Constant("hold_others", tuple(other for _, other in carriers) or (0,)),
            Constant("hold_degrees", tuple(degrees) or (0,)),
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
        },
        starts=starts,
        choices={"friction": with_friction},
        units={name: tuple(pair[one] for one in slides) for name, pair in UNITS.items()},
    )


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
        what = f"there is no body '{on}'; known: {', '.join([GROUND, *names[:i]])}"
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
        read.problem(read.place(table), key, f"there is no body '{name}'; known: {', '.join(known)}")
    return 0


def _switch(table: Table, key: str, read: Reader) -> int:
    value = table.get(key, False)
    if not isinstance(value, bool):
        read.problem(read.place(table), key, f"{value!r} must be true or false")
        return 0
    return int(value)


def _body(body: Table, number: int, slides: int, read: Reader) -> dict[str, object]:
    """Start values of one body and its joint."""
    unit = {name: pair[slides] for name, pair in UNITS.items()}
    joint = f"joint[{number}]"
    return {
        f"body[{number}].m": read.quantity(body, "mass", "kg", 1.0, above=0.0),
        f"body[{number}].J": read.quantity(body, "inertia", "kg.m2", 0.1, above=0.0),
        f"body[{number}].centre": list(read.vector(body, "centre", ("m",), (0.0, 0.0))),
        f"{joint}.place": list(read.vector(body, "place", ("m",), (0.0, 0.0))),
        f"{joint}.angle": read.quantity(body, "angle", "rad", 0.0),
        f"{joint}.stiffness": read.quantity(body, "stiffness", unit["joint.stiffness"], 0.0, least=0.0),
        f"{joint}.free": read.quantity(body, "free", unit["joint.free"], 0.0),
        f"{joint}.damping": read.quantity(body, "damping", unit["joint.damping"], 0.0, least=0.0),
        f"{joint}.q0": read.quantity(body, "start", unit["joint.q0"], 0.0),
        f"{joint}.qd0": read.quantity(body, "speed", unit["joint.qd0"], 0.0),
    }
