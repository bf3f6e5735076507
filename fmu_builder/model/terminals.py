"""Terminals: bundles of variables as terminalsAndIcons.xml of FMI 3.0 has them, which FMI 2.0 FMUs may have as well.

Two terminals are connected by the names of their members (`plug`: all of them, `bus`: those that both have) or by
their order (`sequence`).  A flow is positive into the FMU (`inflow`) or out of it (`outflow`): those of one connection
add up to zero.  The force of a port acts on the body there, so it is an inflow of the body and an outflow of the force
element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from fmu_builder.model.connectable import Member, PortUse, SlaveVariable, Terminal
from fmu_builder.model.ports import PORT_KINDS, roles_of

PLUG, BUS, SEQUENCE = "plug", "bus", "sequence"
SIGNAL, INFLOW, OUTFLOW = "signal", "inflow", "outflow"
OWN_KINDS = "org.fmu-builder."  # begins the terminalKind of ports


def terminal_of(port: PortUse) -> Terminal:
    """A port as a terminal: its members have the names of the roles, whatever its variables are called."""
    flow = INFLOW if port.side == "body" else OUTFLOW
    members = [
        Member(member, name, kind)
        for roles, kind in ((port.motion, SIGNAL), (port.force, flow))
        for role, names in roles.items()
        for member, name in zip(component_names(role, len(names)), names, strict=True)
    ]
    return Terminal(port.name, PLUG, f"{OWN_KINDS}{port.kind}", tuple(members), port.description)


def port_of(terminal: Terminal, variables: Mapping[str, SlaveVariable]) -> PortUse | None:
    """The port that a terminal is, if its members are those of a port, whatever the names of its variables.

    A terminal that states a kind of ours is of that kind; another one is of the kind with these members."""
    members = {member.name: member for member in terminal.members}
    if len(members) < len(terminal.members) or not all(
        member.variable in variables and variables[member.variable].type == "Real" for member in terminal.members
    ):
        return None
    stated = terminal.kind.removeprefix(OWN_KINDS) if terminal.kind.startswith(OWN_KINDS) else ""
    given = {name.partition("[")[0] for name in members}
    for kind in (stated,) if stated in PORT_KINDS else PORT_KINDS:
        roles = roles_of(kind, given)
        motion, force = (
            {role.name: component_names(role.name, role.size) for role in group}
            for group in (roles.motion, roles.force)
        )
        port = PortUse(terminal.name, kind, "body", motion, force, terminal.description)
        if {*port.motion_names, *port.force_names} != members.keys():
            continue
        of_motion, of_force = (
            {(members[n].kind, variables[members[n].variable].causality) for n in names}
            for names in (port.motion_names, port.force_names)
        )
        named = port.renamed(terminal.name, lambda member: members[member].variable)
        if (of_motion, of_force) == ({(SIGNAL, "output")}, {(INFLOW, "input")}):
            return named
        if (of_motion, of_force) == ({(SIGNAL, "input")}, {(OUTFLOW, "output")}):
            return replace(named, side="force")
    return None


def component_names(role: str, size: int) -> tuple[str, ...]:
    """`r[1]`, `r[2]`, `r[3]`, or `w` of a scalar."""
    return tuple(f"{role}[{k + 1}]" for k in range(size)) if size > 1 else (role,)


def joined(a: Terminal, b: Terminal) -> list[tuple[Member, Member]] | str:
    """The members of two terminals that a connection joins, or why it cannot."""
    if a.rule != b.rule:
        return f"{a.name} is a terminal of the rule '{a.rule}', {b.name} one of the rule '{b.rule}'"
    if a.kind and b.kind and a.kind != b.kind:
        return f"{a.name} is a terminal of the kind {a.kind}, {b.name} one of the kind {b.kind}"
    if a.rule == SEQUENCE:
        if len(a.members) != len(b.members):
            return f"{a.name} has {len(a.members)} members, {b.name} has {len(b.members)}"
        return list(zip(a.members, b.members, strict=True))
    if a.rule not in (PLUG, BUS):
        return f"terminals of the rule '{a.rule}' have no connection of their own: connect their variables"
    of_a, of_b = ({member.name: member for member in one.members} for one in (a, b))
    apart = sorted(of_a.keys() ^ of_b.keys())
    if a.rule == PLUG and apart:
        return f"{a.name} and {b.name} differ in their members: {', '.join(apart)}"
    return [(of_a[name], of_b[name]) for name in of_a if name in of_b]


def sign_between(a: Member, b: Member) -> float | None:
    """What the value of one member is multiplied by on its way to the other: -1 for flows that both go in, or out;
    None for members of kinds that are not connected."""
    kinds = {a.kind, b.kind}
    if kinds in ({SIGNAL}, {INFLOW, OUTFLOW}):
        return 1.0
    return -1.0 if kinds in ({INFLOW}, {OUTFLOW}) else None


def flow_variables(terminals: Iterable[Terminal]) -> Iterator[str]:
    """The variables that are flows; one that is an input may have several sources, whose sum it takes."""
    for terminal in terminals:
        yield from (member.variable for member in terminal.members if member.kind in (INFLOW, OUTFLOW))
