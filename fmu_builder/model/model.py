"""The model: a recipe's variables as one flat, ordered table.  Everything an FMU needs derives from it.

The order is that of the C struct `Element`; a variable's value reference is its index there.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from fmu_builder.model.clocks import Clock
from fmu_builder.model.connectable import PortUse
from fmu_builder.model.declaration import Declaration, DefaultExperiment
from fmu_builder.model.layout import Layout
from fmu_builder.model.page_table import PageTable
from fmu_builder.model.recipe import CheckedRecipe
from fmu_builder.model.step_advice import HeldForce
from fmu_builder.model.structure_reader import Constant
from fmu_builder.units import Unit

Kind = Literal["time", "fixed", "tunable", "calculated", "input", "state", "derivative", "output", "memory"]
Type = Literal["real", "int", "bool", "enum"]
FmiType = Literal["Real", "Integer", "Boolean", "Enumeration"]
FMI_TYPES: Mapping[Type, FmiType] = {"real": "Real", "int": "Integer", "bool": "Boolean", "enum": "Enumeration"}

BACK = "contact_record.back"  # which contact the variables last_contact.* show


@dataclass(frozen=True, slots=True)
class Variable:
    """One scalar.  `index` is its value reference.  `depends`: indices of the inputs, parameters and states that an
    output or a derivative is computed from; for memory those that its initial value is computed from."""

    name: str
    index: int
    kind: Kind
    type: Type
    description: str
    unit: Unit
    display: Unit | None = None
    start: float = 0.0
    min: float | None = None
    max: float | None = None
    above: float | None = None
    below: float | None = None
    nominal: float | None = None
    is_output: bool = False
    hidden: bool = False
    on_demand: bool = False  # of an output: left out by the function `rates`
    literals: tuple[str, ...] = ()  # of an enumeration, whose values count from 1
    depends: tuple[int, ...] = ()
    rate: int = -1  # of a state or an input: the variable that is its time derivative, -1 if there is none
    primitive: int = -1  # of a state: the output whose change its own change is while inputs are held, -1 if none
    start_from: int = -1  # of a state: the parameter that holds its initial value, -1 for `start`
    initial: tuple[int, ...] = ()  # of a state: the parameters from which the element computes its initial value
    derivative: int = -1  # of a state: its der(...) variable; of a der(...) variable: its state
    reinit: bool = False  # of a state: the element may change it at an event
    constant_where_used: bool = False  # of a state: it does not change where a right-hand side depends on it
    recorded: bool = False  # of memory: of the contact of its place that ended last
    is_struct: bool = False  # of memory: a part of a C struct, which only the element reads
    held: HeldForce | None = None  # of a stiffness or damping: what it is to the force at the ports
    clock: Clock | None = None  # of a Boolean that is a clock in FMI 3.0
    clocks: tuple[int, ...] = ()  # at whose ticks alone the value changes
    previous: int = -1  # the variable with the value that a clocked one had before the tick, -1 if there is none

    @property
    def is_continuous_input(self) -> bool:
        return self.kind == "input" and self.type == "real"

    @property
    def is_settable(self) -> bool:
        return self.kind in ("fixed", "tunable", "input")


@dataclass(frozen=True)
class EventIndicator:
    """One zero-crossing function; `nominal` is its usual size, in its unit."""

    name: str
    nominal: float


@dataclass(frozen=True)
class StringVariable:
    """A String, which the FMI layer keeps.   shows: of an output, the number of the text that it shows, else -1"""

    name: str
    number: int
    kind: Literal["parameter", "input", "output"]
    description: str
    start: str = ""
    shows: int = -1


@dataclass(frozen=True)
class Model(ABC):
    """What every FMU has: that of one element (ElementModel) as that of several (assembly.AssemblyModel).

    `path` is the recipe, or the scenario, it was read from, `files` all that were read and are not shipped; `log` holds
    the descriptions of the log categories of its elements."""

    name: str
    description: str
    path: Path
    variables: tuple[Variable, ...]
    ports: tuple[PortUse, ...]
    layout: Layout
    quaternions: tuple[tuple[int, int], ...]  # first index of q and of the w that turns it
    indicators: tuple[EventIndicator, ...]  # as fmi2GetEventIndicators has them
    experiment: DefaultExperiment
    log: Mapping[str, str]
    files: tuple[Path, ...] = field(default=(), kw_only=True)
    texts: tuple[StringVariable, ...] = field(default=(), kw_only=True)
    arrays: bool = field(default=False, kw_only=True)  # in FMI 3.0 vectors are arrays
    page: PageTable = field(default=PageTable(), kw_only=True)  # as the recipe has it

    def reference_of(self, text: StringVariable) -> int:
        """The value reference of a String: behind those of the variables and the event indicators."""
        return len(self.variables) + len(self.indicators) + text.number

    def by_kind(self, *kinds: Kind) -> list[Variable]:
        return [v for v in self.variables if v.kind in kinds]

    def __getitem__(self, name: str) -> Variable:
        return self._names[name]

    def __contains__(self, name: str) -> bool:
        return name in self._names

    @cached_property
    def _names(self) -> dict[str, Variable]:
        return {v.name: v for v in self.variables}

    @cached_property
    def visible_names(self) -> dict[str, tuple[Variable, ...]]:
        """Names for users: of scalars, and of vectors without the last index."""
        vectors: dict[str, list[Variable]] = {}
        scalars = {v.name: v for v in self.variables if not v.hidden}
        for name, v in scalars.items():
            if name.endswith("]"):
                vectors.setdefault(name[: name.rindex("[")], []).append(v)
        return {base: tuple(group) for base, group in vectors.items()} | {n: (v,) for n, v in scalars.items()}

    def needs_of(self, name: str) -> str:
        """The keys of the recipe that would add a missing variable, as text; empty if none does."""
        return ""

    @abstractmethod
    def folders(self) -> dict[str, Path]:
        """Where the elements' own C files lie: folder of the FMU's sources -> folder of the element."""

    def notes(self) -> tuple[str, ...]:
        """Notes for the user who builds it."""
        return ()

    def warnings(self) -> tuple[str, ...]:
        """Probable mistakes in the recipe."""
        return ()

    @property
    def prototypes(self) -> dict[str, ElementModel]:
        """The elements whose physics is Python, by their folders as in `folders`."""
        return {}

    @property
    def is_prototype(self) -> bool:
        """Whether physics in it is Python."""
        return bool(self.prototypes)

    @abstractmethod
    def elements(self) -> Iterator[tuple[int, ElementModel]]:
        """The elements it consists of, each with the index of its first variable."""

    @property
    def samples(self) -> bool:
        """Whether a force is held over each communication step."""
        return any(m.recipe.choices[name] is True for _, m in self.elements() for name in m.element.samplers)


@dataclass(frozen=True)
class ElementModel(Model):
    """The model of a recipe of one element."""

    element: Declaration
    recipe: CheckedRecipe
    indicator_layout: Layout  # of the C struct `Indicators`

    @property
    def element_name(self) -> str:
        return self.recipe.element_name

    @property
    def sizes(self) -> Mapping[str, int]:
        return self.recipe.sizes

    @property
    def constants(self) -> tuple[Constant, ...]:
        return self.recipe.constants

    def folders(self) -> dict[str, Path]:
        return {"": self.recipe.element_folder}

    def elements(self) -> Iterator[tuple[int, ElementModel]]:
        yield 0, self

    @property
    def prototypes(self) -> dict[str, ElementModel]:
        return {"": self} if self.recipe.language == "python" else {}

    def needs_of(self, name: str) -> str:
        return self.recipe.absent.get(re.sub(r"\[\d+\]", "", name), "")

    def notes(self) -> tuple[str, ...]:
        return (*self.element.notes, *self.recipe.notes, *(self.recipe.laws.notes if self.recipe.laws else ()))

    def warnings(self) -> tuple[str, ...]:
        return self.recipe.laws.warnings if self.recipe.laws else ()
