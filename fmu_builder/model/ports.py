"""Port kinds: which variables a bundle of motion and force holds.  Vectors in world components, SI.

Connecting two ports of one kind wires the motion one way and the force the other.  A body gives motion and takes the
force on it; a force element the reverse.  An optional role is wired where both ports have it.  Variables have the name
of the role; a kind may have other spellings, as libraries use them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from fmu_builder.units import Unit, parse_unit


@dataclass(frozen=True)
class Role:
    """One quantity of a port.  `units` holds one for each component; `rate` names the role that is its time derivative;
    a port has an `optional` role only if its declaration lists it."""

    name: str
    units: tuple[Unit, ...]
    description: str
    rate: str | None = None
    start: tuple[float, ...] = ()
    optional: bool = False

    @property
    def size(self) -> int:
        return len(self.units)

    @property
    def starts(self) -> tuple[float, ...]:
        return self.start or (0.0,) * self.size


@dataclass(frozen=True)
class PortKind:
    """`spellings`: other names of roles, all of which a port of that spelling uses."""

    motion: tuple[Role, ...]
    force: tuple[Role, ...]
    spellings: tuple[Mapping[str, str], ...] = ()


def _role(
    name: str,
    unit: str,
    size: int,
    description: str,
    rate: str | None = None,
    start: tuple[float, ...] = (),
    optional: bool = False,
) -> Role:
    return Role(name, (parse_unit(unit),) * size, description, rate, start, optional)


_POSITION = _role("r", "m", 3, "position", rate="v")
_VELOCITY = _role("v", "m/s", 3, "velocity")
_FORCE = _role("f", "N", 3, "force on the body at this port")

SIDES = ("force", "body")  # what an element can be at a port
PORT_KINDS = {
    "point": PortKind((_POSITION, _VELOCITY), (_FORCE,)),
    "frame": PortKind(
        (
            _POSITION,
            _role(
                "q", "1", 4, "orientation quaternion, body to world, scalar first", rate="w", start=(1.0, 0.0, 0.0, 0.0)
            ),
            _VELOCITY,
            _role("w", "rad/s", 3, "angular velocity"),
        ),
        (_FORCE, _role("t", "N.m", 3, "moment on the body about the origin of the frame")),
    ),
    "rotational": PortKind(
        (
            _role("phi", "rad", 1, "angle", rate="w", optional=True),
            _role("w", "rad/s", 1, "angular velocity"),
        ),
        (_role("t", "N.m", 1, "torque on the body"),),
        ({"w": "omega", "t": "T"},),  # 20-sim
    ),
    "translational": PortKind(
        (
            _role("s", "m", 1, "position", rate="v", optional=True),
            _role("v", "m/s", 1, "velocity"),
        ),
        (_role("F", "N", 1, "force on the body"),),
    ),
    # the third components are about z; without r of a body that turns by small angles only (20-sim)
    "planar": PortKind(
        (
            Role("r", tuple(map(parse_unit, ("m", "m", "rad"))), "position along x and y, angle", "v", optional=True),
            Role("v", tuple(map(parse_unit, ("m/s", "m/s", "rad/s"))), "velocity along x and y, angular velocity"),
        ),
        (Role("F", tuple(map(parse_unit, ("N", "N", "N.m"))), "force on the body along x and y, torque"),),
    ),
}


def roles_of(kind: str, optional: Collection[str] = ()) -> PortKind:
    """The roles of a port of this kind that has these optional ones."""
    every = PORT_KINDS[kind]

    def there(roles: tuple[Role, ...]) -> tuple[Role, ...]:
        return tuple(role for role in roles if not role.optional or role.name in optional)

    return PortKind(there(every.motion), there(every.force), every.spellings)
