"""What connections join: the variables and ports of a slave or of a part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, Self

from fmu_builder.model.declaration import Hold
from fmu_builder.model.step_advice import HeldForce
from fmu_builder.units import Unit

Type = Literal["Real", "Integer", "Boolean", "Enumeration", "String"]
FAMILY = {"Real": "Real", "Integer": "Integer", "Boolean": "Boolean", "Enumeration": "Integer", "String": "String"}


@dataclass(frozen=True)
class SlaveVariable:
    """A variable as modelDescription.xml declares it.  `depends`: names of the inputs an output depends on, at
    initialization; None means all.  `zero`: an output that is always 0."""

    name: str
    reference: int
    type: Type
    causality: str
    variability: str
    initial: str | None
    unit: str
    start: str | None
    depends: frozenset[str] | None
    literals: Mapping[str, int] = field(default_factory=dict)  # of an enumeration
    description: str = ""
    zero: bool = False
    held: HeldForce | None = None  # of a stiffness or damping of ours: what it is to the force at the ports
    max: float | None = None
    min: float | None = None
    above: float | None = None  # of an FMU that is built from a recipe: its strict bounds
    below: float | None = None
    defined: Unit | None = None  # the unit, as the FMU itself defines it
    relative: bool = False  # a difference, to which the offset of a unit does not belong


@dataclass(frozen=True)
class PortUse:
    """A bundle of variables: `motion` and `force` hold the names of each role (ports.py).   holds: what of a body a
    planar port of a force element can hold"""

    name: str
    kind: str
    side: Literal["body", "force"]
    motion: Mapping[str, tuple[str, ...]]
    force: Mapping[str, tuple[str, ...]]
    description: str = ""
    holds: Hold | None = None

    @property
    def motion_names(self) -> list[str]:
        return [name for group in self.motion.values() for name in group]

    @property
    def force_names(self) -> list[str]:
        return [name for group in self.force.values() for name in group]

    def renamed(self, name: str, variable: Callable[[str], str]) -> Self:
        """The port under another name, with the new name of each variable."""
        motion, force = (
            {role: tuple(map(variable, names)) for role, names in roles.items()} for roles in (self.motion, self.force)
        )
        return replace(self, name=name, motion=motion, force=force)


@dataclass(frozen=True)
class Member:
    """A variable of a terminal.   kind: signal, inflow or outflow; others are not connected"""

    name: str
    variable: str
    kind: str


@dataclass(frozen=True)
class Terminal:
    """A bundle of variables as terminalsAndIcons.xml has it (terminals.py).   name: of one inside another `outer.inner`
    rule: its matchingRule     kind: its terminalKind, '' without one"""

    name: str
    rule: str
    kind: str
    members: tuple[Member, ...]
    description: str = ""


Node = tuple[str, str]  # (slave, variable)


class Connectable(Protocol):
    """What can be connected: a slave, or the part of an assembly."""

    @property
    def model_name(self) -> str: ...

    @property
    def variables(self) -> Mapping[str, SlaveVariable]: ...

    @property
    def ports(self) -> Mapping[str, PortUse]: ...

    @property
    def terminals(self) -> Mapping[str, Terminal]: ...


@dataclass(frozen=True)
class Ends:
    """A part, as its connections see it."""

    model_name: str
    variables: Mapping[str, SlaveVariable]
    ports: Mapping[str, PortUse]
    terminals: Mapping[str, Terminal] = field(default_factory=dict)
