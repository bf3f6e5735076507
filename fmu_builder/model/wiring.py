"""From the connections of a scenario to pairs of single variables, checked: names, directions, types, units."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from fmu_builder.errors import InputError, Problem, counted, did_you_mean
from fmu_builder.model.connectable import FAMILY, Connectable, Node, PortUse, SlaveVariable, Terminal
from fmu_builder.model.ports import PORT_KINDS
from fmu_builder.model.scenario import Conversion
from fmu_builder.model.terminals import flow_variables, joined, sign_between, terminal_of
from fmu_builder.model.vectors import Vector, vector_of
from fmu_builder.units import Unit, dimension_text, fmi_display, mixes_cycles_and_angle, parse_unit

_Kind = Literal["slave", "part"]


@dataclass(frozen=True)
class Wiring:
    """`sources[input]` lists the outputs whose sum the input gets; more than one only on a force.

    `conversions` of values on their way from (source) to (target), where the number changes.
    `notes` for the user: motion inputs that stay at their start values, moments that act on nothing."""

    sources: Mapping[Node, tuple[Node, ...]]
    notes: tuple[str, ...]
    conversions: Mapping[tuple[Node, Node], Conversion] = field(default_factory=dict)


def wire(
    path: Path,
    connections: Sequence[tuple[str, str]],
    slaves: Mapping[str, Connectable],
    driven: Collection[str] = (),
    free_moment: bool = False,
    kind: _Kind = "slave",
    given: Mapping[str, Conversion] = MappingProxyType({}),
) -> Wiring:
    """Resolve connections between ports, terminals, single variables or arrays of one shape.

    Raises InputError with every problem found.

    driven  inputs that are given otherwise, "slave.variable"     kind  "slave" or "part", for messages
    given   conversions in place of those that follow from units, by the input "slave.variable"
    Units are those that the FMUs define.  Parts exchange values without conversion."""
    problems: list[Problem] = []
    notes: list[str] = []
    links = _Links(slaves, kind, given, problems)
    held: dict[tuple[str, str], list[tuple[PortUse, str, PortUse]]] = {}
    alike: dict[frozenset[str], list[tuple[str, str]]] = {}
    for pair in connections:
        alike.setdefault(frozenset(pair), []).append(pair)
    for pair, *others in alike.values():
        where = f"{path}: connections [{pair[0]}, {pair[1]}]"
        if others:
            count = "twice" if len(others) == 1 else f"{len(others) + 1} times"
            problems.append(Problem(where, f"is given {count}; remove all but one"))
        ends = [_end(name, slaves, where, problems, kind) for name in pair]
        if ends[0] is None or ends[1] is None:
            continue
        (slave_a, a), (slave_b, b) = _alike(ends[0], slaves, ends[1]), _alike(ends[1], slaves, ends[0])
        if isinstance(a, PortUse) and isinstance(b, PortUse):
            for (_, to), (body, at) in (((slave_a, a), (slave_b, b)), ((slave_b, b), (slave_a, a))):
                if (to.side, at.side) == ("force", "body"):
                    element = slave_a if to is a else slave_b
                    held.setdefault((element, _part_of(to)), []).append((to, body, at))
            for source, target in _connect_ports(
                (slave_a, a), (slave_b, b), slaves, free_moment, where, problems, notes
            ):
                links.add(source, target, where)
        elif isinstance(a, Terminal) and isinstance(b, Terminal):
            for source, target, sign in _connect_terminals((slave_a, a), (slave_b, b), slaves, where, problems):
                links.add(source, target, where, sign)
        elif isinstance(a, SlaveVariable | Vector) and isinstance(b, SlaveVariable | Vector):
            for source, target in _connect_variables((slave_a, a), (slave_b, b), slaves, where, problems):
                links.add(source, target, where)
        else:
            problems.append(Problem(where, "a port can be connected to a port, a variable to a variable"))
    problems += links.taken()
    problems += [
        Problem(f"{path}: connections", what)
        for (slave, _), ends in held.items()
        for what in _on_one_body(slave, ends, slaves)
    ]
    if problems:
        raise InputError(problems)
    notes += _unconnected(slaves, links.sources, driven)
    return Wiring({to: tuple(found) for to, found in links.sources.items()}, tuple(notes), links.conversions)


class _Links:
    """The sources of each target and the conversions between them; `problems` takes what is wrong."""

    def __init__(
        self, slaves: Mapping[str, Connectable], kind: _Kind, given: Mapping[str, Conversion], problems: list[Problem]
    ) -> None:
        self.sources: dict[Node, list[Node]] = {}
        self.conversions: dict[tuple[Node, Node], Conversion] = {}
        self._slaves, self._kind, self._given, self._problems = slaves, kind, given, problems
        self._taken: dict[str, list[str]] = {}  # by connection, inputs that have a source
        ports = ((s, p) for s, d in slaves.items() for p in d.ports.values())
        self._forces = {(s, name) for s, p in ports if p.side == "body" for name in p.force_names}
        self._forces |= {(s, name) for s, d in slaves.items() for name in flow_variables(d.terminals.values())}

    def add(self, source: Node, target: Node, where: str, sign: float = 1.0) -> None:
        found = self._given.get(_name(target)) or _conversion(source, target, self._slaves, self._kind)
        if isinstance(found, str):
            self._problems.append(Problem(where, found))
            return
        if sign != 1.0:
            found = Conversion(sign * found.factor, sign * found.offset)
        if found != Conversion() and {self._slaves[s].variables[n].type for s, n in (source, target)} != {"Real"}:
            what = f"the value of {_name(target)} is converted, which only Reals are"
            self._problems.append(Problem(where, what))
        elif found != Conversion():
            self.conversions[source, target] = found
        already = self.sources.setdefault(target, [])
        if already and target not in self._forces:
            self._taken.setdefault(where, []).append(f"{_name(target)} already gets {_name(already[0])}")
        elif source in already:
            self._problems.append(Problem(where, f"{_name(source)} is connected to {_name(target)} twice"))
        else:
            already.append(source)

    def taken(self) -> Iterator[Problem]:
        """Connections to inputs that have a source, each once."""
        for where, (first, *others) in self._taken.items():
            more = counted(len(others), "further variable has a source", "further variables have a source")
            both = f"{first}, and {more}" if others else first
            yield Problem(where, f"{both}; only forces on a body may have several sources")


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


def _name(node: Node) -> str:
    return f"{node[0]}.{node[1]}"


End = tuple[str, PortUse | Terminal | SlaveVariable | Vector]  # of a slave


def _alike(end: End, slaves: Mapping[str, Connectable], other: End) -> End:
    """A port as the terminal of its name, if the other end is a terminal that is no port."""
    slave, found = end
    if isinstance(found, PortUse) and isinstance(other[1], Terminal):
        return slave, slaves[slave].terminals.get(found.name, terminal_of(found))
    return end


def _connect_terminals(
    first: tuple[str, Terminal],
    second: tuple[str, Terminal],
    slaves: Mapping[str, Connectable],
    where: str,
    problems: list[Problem],
) -> Iterator[tuple[Node, Node, float]]:
    """(source, target, sign) of each pair of members."""
    (slave_a, a), (slave_b, b) = first, second
    pairs = joined(a, b)
    if isinstance(pairs, str):
        problems.append(Problem(where, pairs))
        return
    for of_a, of_b in pairs:
        ends: list[tuple[str, SlaveVariable]] = []
        for slave, member in ((slave_a, of_a), (slave_b, of_b)):
            found = slaves[slave].variables.get(member.variable)
            if found is None:
                what = f"the terminal's member {member.name} names '{member.variable}', no variable of {slave}"
                problems.append(Problem(where, what))
            else:
                ends.append((slave, found))
        if len(ends) < 2:
            continue
        source, target = reversed(ends) if ends[0][1].causality == "input" else ends
        sign = sign_between(of_a, of_b)
        if sign is None:
            what = f"a member of the kind '{of_a.kind}' is not connected to one of the kind '{of_b.kind}'"
            problems.append(Problem(where, what))
        elif wrong := _variable_problem(source, target):
            problems.append(Problem(where, wrong))
        else:
            yield (source[0], source[1].name), (target[0], target[1].name), sign


def _end(name: str, slaves: Mapping[str, Connectable], where: str, problems: list[Problem], kind: str) -> End | None:
    slave, _, rest = name.partition(".")
    if slave not in slaves:
        problems.append(Problem(where, f"there is no {kind} '{slave}'" + did_you_mean(slave, slaves)))
        return None
    description = slaves[slave]
    if rest in description.ports:
        return slave, description.ports[rest]
    if rest in description.variables:
        return slave, description.variables[rest]
    if rest in description.terminals:
        return slave, description.terminals[rest]
    if vector := vector_of(rest, description.variables):
        return slave, vector
    known = [
        *dict.fromkeys((*description.ports, *description.terminals)),
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


def _connect_variables(
    first: tuple[str, SlaveVariable | Vector],
    second: tuple[str, SlaveVariable | Vector],
    slaves: Mapping[str, Connectable],
    where: str,
    problems: list[Problem],
) -> list[tuple[Node, Node]]:
    """Sources and targets of two variables, or of two arrays element by element."""
    shapes = [one.shape_text if isinstance(one, Vector) else "" for _, one in (first, second)]
    if shapes[0] != shapes[1]:
        (name_a, a), (name_b, b) = (
            (f"{slave}.{one.name}", f"an array of {shape}" if shape else "a scalar")
            for (slave, one), shape in zip((first, second), shapes, strict=True)
        )
        single = next(f"{slave}.{one.names[0]}" for slave, one in (first, second) if isinstance(one, Vector))
        what = f"{name_a} is {a}, {name_b} is {b}; arrays of one shape are connected, or single elements: {single}"
        problems.append(Problem(where, what))
        return []
    ends = [
        [(slave, slaves[slave].variables[name]) for name in (one.names if isinstance(one, Vector) else (one.name,))]
        for slave, one in (first, second)
    ]
    if ends[0][0][1].causality == "input" and ends[1][0][1].causality == "output":
        ends.reverse()
    pairs = list(zip(*ends, strict=True))
    found = next(filter(None, (_variable_problem(*pair) for pair in pairs)), None)
    if found:
        problems.append(Problem(where, found))
        return []
    return [((slave_a, a.name), (slave_b, b.name)) for (slave_a, a), (slave_b, b) in pairs]


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
    return None


def _article(causality: str) -> str:
    return f"an {causality}" if causality[0] in "aeiou" else f"a {causality}"


def _conversion(source: Node, target: Node, slaves: Mapping[str, Connectable], kind: _Kind) -> Conversion | str:
    """From the unit of an output to that of an input, or why there is none."""
    a, b = (slaves[slave].variables[name] for slave, name in (source, target))
    if not a.unit or not b.unit or (a.unit == b.unit and (a.defined is None or b.defined is None)):
        return Conversion()
    unit_a, unit_b = a.defined or _parsed(a.unit), b.defined or _parsed(b.unit)
    both = f"{_name(source)} is in {a.unit}, {_name(target)} in {b.unit}"
    if unit_a is None or unit_b is None:
        both = f"{_name(source)} is in '{a.unit}', {_name(target)} in '{b.unit}'"
        return (
            f"{both}: the unit '{a.unit if unit_a is None else b.unit}' is unknown here, and its FMU does not define it"
        )
    if not unit_a.same_dimension(unit_b):
        both = f"{_name(source)} is in {a.unit} ({dimension_text(unit_a)}), {_name(target)} in {b.unit}"
        return f"{both} ({dimension_text(unit_b)}); connect quantities of one dimension"
    if mixes_cycles_and_angle(unit_a, unit_b):
        return f"{both}: cycles are not converted to angles; use rad/s or rpm at both ends"
    if (unit_a.factor, unit_a.offset) == (unit_b.factor, unit_b.offset):
        return Conversion()
    if kind == "part":
        return f"{both}: values are not converted between parts, so the units must be equal"
    factor, offset = fmi_display(unit_a, unit_b)
    return Conversion(factor, 0.0 if a.relative or b.relative else offset)


def _parsed(unit: str) -> Unit | None:
    try:
        return parse_unit(unit)
    except InputError:
        return None


def _unconnected(
    slaves: Mapping[str, Connectable], sources: Mapping[Node, object], driven: Collection[str]
) -> list[str]:
    """Notes on ports of force elements without a connected motion: fixed in a scenario, inputs of an assembly."""
    notes = []
    for slave, description in slaves.items():
        for port in description.ports.values():
            if port.side != "force":
                continue
            names = port.motion_names
            left = [n for n in names if (slave, n) not in sources and f"{slave}.{n}" not in driven]
            if len(left) == len(names):
                still = "unless its inputs are set it stays where it starts, as if fixed to the ground"
                notes.append(f"{slave}.{port.name} is not connected: {still}")
            elif left:
                notes.append(f"{slave}.{port.name}: {', '.join(left)} not connected, kept at the start values")
    return notes
