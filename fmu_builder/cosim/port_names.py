"""Ports of an FMU by the names of its variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from fmu_builder.errors import InputError
from fmu_builder.model.connectable import PortUse, SlaveVariable
from fmu_builder.model.ports import PORT_KINDS, PortKind, Role, roles_of
from fmu_builder.model.terminals import component_names
from fmu_builder.units import Unit, parse_unit


def find_ports(variables: Mapping[str, SlaveVariable]) -> Iterator[PortUse]:
    """Ports by their names: `p.r[1]` .. and `p.f[1]` .. make the port `p`.  The kind with most variables is taken;
    optional roles belong to it if all its names fit."""
    prefixes = dict.fromkeys(name.rsplit(".", 1)[0] for name in variables if "." in name)
    for prefix in prefixes:
        best: PortUse | None = None
        for kind, roles, spelling in _port_forms():
            motion = {r.name: _role_names(prefix, spelling.get(r.name, r.name), r.size) for r in roles.motion}
            force = {r.name: _role_names(prefix, spelling.get(r.name, r.name), r.size) for r in roles.force}
            port = PortUse(prefix, kind, "body", motion, force)
            names = [*port.motion_names, *port.force_names]
            if not all(n in variables and variables[n].type == "Real" for n in names):
                continue
            if spelling and not _fit((variables[n] for n in names), (*roles.motion, *roles.force)):
                continue  # a T may be a temperature
            given = {variables[n].causality for n in port.motion_names}
            taken = {variables[n].causality for n in port.force_names}
            if given == {"input"} and taken == {"output"}:
                port = replace(port, side="force")
            elif (given, taken) != ({"output"}, {"input"}):
                continue
            if best is None or len(port.motion) > len(best.motion):
                best = port
        if best is not None:
            yield best


def _port_forms() -> Iterator[tuple[str, PortKind, Mapping[str, str]]]:
    """Each kind with all its roles and with the necessary ones, in each spelling."""
    for kind, full in PORT_KINDS.items():
        necessary = roles_of(kind)
        for roles in (full, necessary) if necessary.motion != full.motion else (full,):
            for spelling in ({}, *full.spellings):
                yield kind, roles, spelling


def _fit(variables: Iterable[SlaveVariable], roles: Iterable[Role]) -> bool:
    """Whether the units, where there are any, are of the roles' dimensions."""
    units = [unit for role in roles for unit in role.units]

    def fits(name: str, unit: Unit) -> bool:
        try:
            return not name or parse_unit(name).same_dimension(unit)
        except InputError:
            return False

    return all(fits(v.unit, unit) for v, unit in zip(variables, units, strict=True))


def _role_names(prefix: str, role: str, size: int) -> tuple[str, ...]:
    return component_names(f"{prefix}.{role}", size)
