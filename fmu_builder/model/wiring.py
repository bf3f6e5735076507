"""From the connections of a scenario to pairs of single variables, checked: names, directions, types, units."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fmu_builder.errors import InputError, Problem, did_you_mean
from fmu_builder.model.connectable import FAMILY, Connectable, Node, PortUse, SlaveVariable
from fmu_builder.model.ports import PORT_KINDS
from fmu_builder.units import Unit, dimension_text, parse_unit


@dataclass(frozen=True)
class Wiring:
    """`sources[input]` lists the outputs whose sum the input gets; more than one only on a force.

    `notes` for the user: motion inputs that stay at their start values, moments that act on nothing."""

    sources: Mapping[Node, tuple[Node, ...]]
    notes: tuple[str, ...]


def wire(
    path: Path,
    connections: Sequence[tuple[str, str]],
    slaves: Mapping[str, Connectable],
    driven: Collection[str] = (),
    free_moment: bool = False,
    kind: Literal["slave", "part"] = "slave",
) -> Wiring:
    """Resolve connections between ports or single variables.  Raises InputError with every problem found.

    driven  inputs that are given otherwise, "slave.variable"     kind  "slave" or "part", for messages"""
    problems: list[Problem] = []
    notes: list[str] = []
    sources: dict[Node, list[Node]] = {}
    forces = {(s, n) for s, d in slaves.items() for p in d.ports.values() if p.side == "body" for n in p.force_names}

    def connect(source: Node, target: Node, where: str) -> None:
        already = sources.setdefault(target, [])
        if already and target not in forces:
            problems.append(
                Problem(
                    where,
                    f"{_name(target)} already gets {_name(already[0])}; only forces on a body may have several sources",
                )
            )
        elif source in already:
            problems.append(Problem(where, f"{_name(source)} is connected to {_name(target)} twice"))
        else:
            already.append(source)

    held: dict[tuple[str, str], list[tuple[PortUse, str, PortUse]]] = {}
    for pair in connections:
        where = f"{path}: connections [{pair[0]}, {pair[1]}]"
        ends = [_end(name, slaves, where, problems, kind) for name in pair]
        if ends[0] is None or ends[1] is None:
            continue
        (slave_a, a), (slave_b, b) = ends[0], ends[1]
        if isinstance(a, PortUse) and isinstance(b, PortUse):
            for (_, to), (body, at) in (((slave_a, a), (slave_b, b)), ((slave_b, b), (slave_a, a))):
                if (to.side, at.side) == ("force", "body"):
                    element = slave_a if to is a else slave_b
                    held.setdefault((element, _part_of(to)), []).append((to, body, at))
            for source, target in _connect_ports(
                (slave_a, a), (slave_b, b), slaves, free_moment, where, problems, notes
            ):
                found = _unit_problem(*_unit_of(source, slaves), *_unit_of(target, slaves))
                if found:
                    problems.append(Problem(where, found))
                else:
                    connect(source, target, where)
        elif isinstance(a, SlaveVariable) and isinstance(b, SlaveVariable):
            if a.causality == "input" and b.causality == "output":
                (slave_a, a), (slave_b, b) = (slave_b, b), (slave_a, a)
            found = _variable_problem((slave_a, a), (slave_b, b))
            if found:
                problems.append(Problem(where, found))
            else:
                connect((slave_a, a.name), (slave_b, b.name), where)
        else:
            problems.append(Problem(where, "a port can be connected to a port, a variable to a variable"))
    problems += [
        Problem(f"{path}: connections", what)
        for (slave, _), ends in held.items()
        for what in _on_one_body(slave, ends, slaves)
    ]
    if problems:
        raise InputError(problems)
    notes += _unconnected(slaves, sources, driven)
    return Wiring({target: tuple(found) for target, found in sources.items()}, tuple(notes))


def _part_of(port: PortUse) -> str:
    """The part of an assembly that a port of its FMU belongs to, '' in an FMU of one element."""
    return port.name.rpartition(".")[0]


def _base(port: PortUse) -> str:
    return port.name.rpartition(".")[2].partition("[")[0]


def _are_one_body(body: str, at: PortUse, other: str, other_at: PortUse, ports: Collection[str]) -> bool:
    """Whether two ports show the same body: one port, or two of a rigid_body, whose ports beside `frame` are points of
    it; `ports` are the names of all ports of `body`."""
    if body != other or _part_of(at) != _part_of(other_at):
        return False
    frame = f"{_part_of(at)}.frame".removeprefix(".")
    return at.name == other_at.name or (frame in ports and {_base(at), _base(other_at)} <= {"frame", "attach", "point"})


def _on_one_body(
    slave: str, ends: Sequence[tuple[PortUse, str, PortUse]], slaves: Mapping[str, Connectable]
) -> Iterator[str]:
    """Ports of one force element that hold the same body: the force would have no effect.
    ends: port of the force element, body, port of the body.  Ports of one name (point[1], point[2]) may share one, and
    those of the plane, which act at different points of it."""
    for i, (port, body, at) in enumerate(ends):
        for other, other_body, other_at in ends[:i]:
            opposed = "planar" not in (port.kind, other.kind) and _base(port) != _base(other)
            if opposed and _are_one_body(body, at, other_body, other_at, slaves[body].ports.keys()):
                both = f"{slave}.{other.name} at {other_body}.{other_at.name}, {slave}.{port.name} at {body}.{at.name}"
                yield f"{both} are on one body, where the force has no effect; connect one of them to another body"


def _unit_of(node: Node, slaves: Mapping[str, Connectable]) -> tuple[str, str]:
    return _name(node), slaves[node[0]].variables[node[1]].unit


def _name(node: Node) -> str:
    return f"{node[0]}.{node[1]}"


def _end(
    name: str, slaves: Mapping[str, Connectable], where: str, problems: list[Problem], kind: str
) -> tuple[str, PortUse | SlaveVariable] | None:
    slave, _, rest = name.partition(".")
    if slave not in slaves:
        problems.append(Problem(where, f"there is no {kind} '{slave}'" + did_you_mean(slave, slaves)))
        return None
    description = slaves[slave]
    if rest in description.ports:
        return slave, description.ports[rest]
    if rest in description.variables:
        return slave, description.variables[rest]
    known = [
        *description.ports,
        *(v.name for v in description.variables.values() if v.causality in ("input", "output")),
    ]
    problems.append(
        Problem(
            where, f"{slave} ({description.model_name}) has no port or variable '{rest}'" + did_you_mean(rest, known)
        )
    )
    return None


def _connect_ports(
    first: tuple[str, PortUse],
    second: tuple[str, PortUse],
    slaves: Mapping[str, Connectable],
    free_moment: bool,
    where: str,
    problems: list[Problem],
    notes: list[str],
) -> list[tuple[Node, Node]]:
    """Pairs (source, target) of a body's port and a force element's."""
    bodies = [end for end in (first, second) if end[1].side == "body"]
    elements = [end for end in (first, second) if end[1].side == "force"]
    if len(bodies) != 1:
        both = "bodies: put a force element between them" if bodies else "force elements: each needs a body"
        problems.append(Problem(where, f"both ports belong to {both}"))
        return []
    (body, at), (element, to) = bodies[0], elements[0]
    if at.kind != to.kind and {at.kind, to.kind} != {"point", "frame"}:
        what = (
            f"{body}.{at.name} is a {at.kind} port, {element}.{to.name} a {to.kind} port: connect {body}.{at.name} to "
            f"a {at.kind} port of a force element, {element}.{to.name} to a {to.kind} port of a body"
        )
        problems.append(Problem(where, what))
        return []
    moment = any(not slaves[element].variables[name].zero for name in to.force.get("t", ()))
    if at.kind == "point" and to.kind == "frame" and moment:
        if not free_moment:
            problems.append(
                Problem(
                    where,
                    f"{body}.{at.name} is a point and cannot take the moment of {element}.{to.name}; "
                    "with free_moment = true the moment acts on nothing",
                )
            )
            return []
        notes.append(
            f"the moment of {element}.{to.name} acts on nothing: {body}.{at.name} is a point (free_moment = true)"
        )
    pairs = []
    for role in PORT_KINDS[to.kind].motion:
        if role.name in at.motion and role.name in to.motion:
            pairs += [
                ((body, a), (element, b)) for a, b in zip(at.motion[role.name], to.motion[role.name], strict=True)
            ]
    for role in PORT_KINDS[to.kind].force:
        if role.name in at.force and role.name in to.force:
            pairs += [((element, b), (body, a)) for a, b in zip(at.force[role.name], to.force[role.name], strict=True)]
    return pairs


def _variable_problem(source: tuple[str, SlaveVariable], target: tuple[str, SlaveVariable]) -> str | None:
    """Why the source cannot drive the target, or None."""
    (slave_a, a), (slave_b, b) = source, target
    if a.causality != "output" or b.causality != "input":
        return (
            f"{slave_a}.{a.name} is {_article(a.causality)}, {slave_b}.{b.name} is {_article(b.causality)}; "
            "an output drives an input"
        )
    if a.type == "String" or b.type == "String" or FAMILY[a.type] != FAMILY[b.type]:
        return (
            f"{slave_a}.{a.name} is of type {a.type}, {slave_b}.{b.name} of type {b.type}; "
            "only numbers of one type are connected"
        )
    return _unit_problem(f"{slave_a}.{a.name}", a.unit, f"{slave_b}.{b.name}", b.unit)


def _article(causality: str) -> str:
    return f"an {causality}" if causality[0] in "aeiou" else f"a {causality}"


def _unit_problem(source: str, unit_a: str, target: str, unit_b: str) -> str | None:
    if unit_a == unit_b or not unit_a or not unit_b:
        return None
    a, b = _parsed(unit_a), _parsed(unit_b)
    if a is None or b is None:
        unknown = unit_a if a is None else unit_b
        return f"{source} is in '{unit_a}', {target} in '{unit_b}': the unit '{unknown}' is unknown here"
    if not a.same_dimension(b):
        return f"{source} is in {unit_a} ({dimension_text(a)}), {target} in {unit_b} ({dimension_text(b)})"
    if (a.factor, a.offset) != (b.factor, b.offset):
        return f"{source} is in {unit_a}, {target} in {unit_b}: values are not converted, so the units must be equal"
    return None


def _parsed(unit: str) -> Unit | None:
    try:
        return parse_unit(unit)
    except InputError:
        return None


def _unconnected(
    slaves: Mapping[str, Connectable], sources: Mapping[Node, object], driven: Collection[str]
) -> list[str]:
    """Notes on ports of force elements without a connected motion: a fixed ground."""
    notes = []
    for slave, description in slaves.items():
        for port in description.ports.values():
            if port.side != "force":
                continue
            names = port.motion_names
            left = [n for n in names if (slave, n) not in sources and f"{slave}.{n}" not in driven]
            if len(left) == len(names):
                notes.append(f"{slave}.{port.name} is not connected: it stays at its start values, a fixed ground")
            elif left:
                notes.append(f"{slave}.{port.name}: {', '.join(left)} not connected, kept at the start values")
    return notes
