"""Power bonds of a scenario: where a force element acts on a body, and what that means for the motion it sees.

A bond is one component of a port: the element reads a velocity of the body and returns the force on it, so that their
product is the power into the body.  Bodies and elements that bonds connect form a group, whose forces are solved
together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fmu_builder.cosim.slave import SlaveDescription
from fmu_builder.model.connectable import Node, PortUse
from fmu_builder.model.ports import PORT_KINDS
from fmu_builder.model.wiring import Wiring

DERIVATIVES, PROBES, EXPLICIT = "derivatives", "probe steps", "Gauss-Seidel"
GRADIENT, TRAPEZOID, MIDPOINT, IMPULSE = "discrete gradient", "trapezoid", "midpoint", "impulse"


@dataclass(frozen=True)
class Bond:
    """One component of the motion of a body, and of the force of an element on it.

    velocity, force   variables of the element     body_velocity, body_force   those of the body they are connected to
    unit              of the force: "N" or "N.m"   port, body_port             names of the ports"""

    element: str
    velocity: str
    force: str
    body: str
    body_velocity: str
    body_force: str
    unit: str
    port: str
    body_port: str


@dataclass(frozen=True)
class Place:
    """A position input of an element, one number of it or all four of a quaternion, and the output that gives it.

    velocities   outputs of the body that are its rates: one, or the three components of the angular velocity"""

    element: str
    names: tuple[str, ...]
    body: str
    velocities: tuple[str, ...]


@dataclass
class Group:
    """Bodies and elements that bonds connect, in the order of the scenario.

    driven          components of their ports that [drive] moves: bonds of the elements with themselves
    driven_places   inputs of their positions that it gives
    reasons   why forces of the group are not solved for, by slave; empty if they are"""

    bodies: list[str]
    elements: list[str]
    bonds: list[Bond]
    places: list[Place]
    driven: list[Bond]
    driven_places: list[Node]
    reasons: dict[str, str] = field(default_factory=dict)

    @property
    def members(self) -> list[str]:
        return [*self.bodies, *self.elements]


def find_groups(slaves: Mapping[str, SlaveDescription], wiring: Wiring, driven: Collection[Node] = ()) -> list[Group]:
    """The groups of a scenario, by its first body; those that cannot be solved have reasons.

    driven   inputs in SI that [drive] sets"""
    bonds = [*find_bonds(slaves, wiring)]
    places = [place for name in slaves for place in _places_of(name, slaves, wiring)]
    groups: list[Group] = []
    for members in _connected(bonds):
        of_group = [b for b in bonds if b.element in members]
        bodies, elements = ({getattr(b, side) for b in of_group} for side in ("body", "element"))
        moved = [one for n in slaves if n in elements for one in _driven_bonds(n, slaves[n], driven)]
        group = Group(
            [n for n in slaves if n in bodies],
            [n for n in slaves if n in elements],
            of_group,
            [p for p in places if p.element in elements and p.body in bodies],
            moved,
            [node for n in slaves if n in elements for node in _driven_places(n, slaves[n], driven)],
        )
        group.reasons.update(_obstacles(group, slaves, wiring))
        groups.append(group)
    return groups


def _driven_bonds(name: str, slave: SlaveDescription, driven: Collection[Node]) -> Iterator[Bond]:
    for port in slave.ports.values():
        for velocity, force, unit in _components(port) if port.side == "force" else ():
            if (name, velocity) in driven:
                yield Bond(name, velocity, force, name, velocity, "", unit, port.name, port.name)


def _driven_places(name: str, slave: SlaveDescription, driven: Collection[Node]) -> Iterator[Node]:
    for port in slave.ports.values():
        for role in PORT_KINDS[port.kind].motion if port.side == "force" else ():
            if role.rate is not None:
                yield from ((name, one) for one in port.motion.get(role.name, ()) if (name, one) in driven)


def _connected(bonds: Sequence[Bond]) -> list[set[str]]:
    found: list[set[str]] = []
    for bond in bonds:
        both = {bond.element, bond.body}
        touched = [members for members in found if members & both]
        found = [members for members in found if not members & both] + [both.union(*touched)]
    return found


def _obstacles(group: Group, slaves: Mapping[str, SlaveDescription], wiring: Wiring) -> Iterator[tuple[str, str]]:
    """By slave, why the forces of a group cannot be solved for."""
    for (source, _), (target, name) in wiring.conversions:
        if {source, target} <= {*group.members}:
            yield target, f"has a value, {name}, that is converted on its way"
    for name in group.bodies:
        description = slaves[name]
        if name in group.elements:
            yield name, "is a body and a force element at once"
        elif not description.derivatives and not description.can_restore:
            yield name, "gives no directional derivatives and cannot restore its state"


def has_inner_state(description: SlaveDescription, forces: Collection[str]) -> bool:
    """Whether the force of an element follows from states of its own too, as far as its FMU says: a bristle, the
    deformation of a spring between speeds."""
    return any(description.states_behind.get(name, True) for name in forces)


def impulse_of(bond: Bond) -> str:
    """The variable of an element whose changes are the impulse of this force: of `p.F`, `impulse.p`."""
    index = bond.force[bond.force.index("[") :] if bond.force.endswith("]") else ""
    return f"impulse.{bond.port}{index}"


def find_bonds(slaves: Mapping[str, SlaveDescription], wiring: Wiring) -> Iterator[Bond]:
    """All power bonds of a scenario, element by element."""
    for name in slaves:
        yield from _bonds_of(name, slaves, wiring)


def _bonds_of(name: str, slaves: Mapping[str, SlaveDescription], wiring: Wiring) -> Iterator[Bond]:
    targets: dict[str, list[Node]] = {}
    for target, sources in wiring.sources.items():
        for slave, variable in sources:
            if slave == name:
                targets.setdefault(variable, []).append(target)
    for port in slaves[name].ports.values():
        if port.side != "force":
            continue
        for velocity, force, unit in _components(port):
            sources = wiring.sources.get((name, velocity), ())
            for body, body_velocity in sources if len(sources) == 1 else ():
                for node in targets.get(force, ()):
                    body_force = node[1]
                    at = _port_with(slaves[body], body_velocity, body_force)
                    if node[0] == body and body != name and at is not None:
                        yield Bond(name, velocity, force, body, body_velocity, body_force, unit, port.name, at)


def _components(port: PortUse) -> Iterator[tuple[str, str, str]]:
    """Velocity, force and unit of each component of a port whose roles go in pairs."""
    kind = PORT_KINDS[port.kind]
    speeds = [role for role in kind.motion if role.rate is None]
    for speed, force in zip(speeds, kind.force, strict=True):
        if speed.name in port.motion and force.name in port.force:
            names = zip(port.motion[speed.name], port.force[force.name], force.units, strict=True)
            yield from ((v, f, u.name) for v, f, u in names)


def _port_with(body: SlaveDescription, velocity: str, force: str) -> str | None:
    """The port of a body at which this velocity belongs to this force."""
    return next(
        (p.name for p in body.ports.values() if p.side == "body" and (velocity, force) in _pairs(p)),
        None,
    )


def _pairs(port: PortUse) -> set[tuple[str, str]]:
    return {(v, f) for v, f, _ in _components(port)}


def _places_of(name: str, slaves: Mapping[str, SlaveDescription], wiring: Wiring) -> Iterator[Place]:
    for port in slaves[name].ports.values():
        for role in PORT_KINDS[port.kind].motion if port.side == "force" else ():
            if role.rate is None or role.name not in port.motion:
                continue
            speeds = port.motion[role.rate]
            names = port.motion[role.name]
            if len(names) != len(speeds):  # a quaternion
                yield from _place(name, names, speeds, wiring)
            else:
                for one, speed in zip(names, speeds, strict=True):
                    yield from _place(name, (one,), (speed,), wiring)


def _place(name: str, names: tuple[str, ...], speeds: tuple[str, ...], wiring: Wiring) -> Iterator[Place]:
    given = [wiring.sources.get((name, n), ()) for n in (*names, *speeds)]
    bodies = {node[0] for sources in given for node in sources}
    if len(bodies) == 1 and all(len(sources) == 1 for sources in given):
        nodes = [sources[0][1] for sources in given]
        yield Place(name, names, bodies.pop(), tuple(nodes[len(names) :]))
