"""The model of an assembly: parts, each one element, connected and solved together in one FMU.

Names       What is not exposed is called part.name.  Parameters stay parameters, outputs become local variables, inputs
            without a connection become inputs; one with connections is a local variable that shows what arrives there:
            the sum of all forces.  A part whose recipe is an assembly contributes its parts, with both names in front.
Memory      The block of the FMU is its own variables, then the block of each part.
Evaluation  In an order found from what outputs depend on (evaluation_order.py and
            contact_core/assembly.h); an algebraic loop is an error that names its path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from fmu_builder.laws.c_source import laws_header
from fmu_builder.model.connectable import Ends, SlaveVariable
from fmu_builder.model.model import FMI_TYPES, ElementModel, Model, Variable


@dataclass(frozen=True)
class PartType:
    """Parts of one element with one structure share their C."""

    name: str
    model: ElementModel

    @property
    def folder(self) -> str:
        """The folder of the FMU's sources with the C of these parts."""
        return f"parts/{self.name}/"


@dataclass(frozen=True)
class Part:
    """One element of the assembly.  `offset`: index of its first variable.   `indicators`: place of its first one."""

    name: str
    type: int
    offset: int
    indicators: int
    model: ElementModel


@dataclass(frozen=True)
class Copy:
    """`count` values go from `source` on to `target` on, or are added there."""

    target: int
    source: int
    count: int
    adds: bool


@dataclass(frozen=True)
class Evaluation:
    """Part number `part` is evaluated when the first `copies` copies are made; `last`: all its inputs are known."""

    part: int
    copies: int
    last: bool


@dataclass(frozen=True)
class AssemblyModel(Model):
    """The model of several elements.  `sources`: the outputs whose sum a connected input gets.   `ends`: what an
    assembly around this one can connect.   `connections`: the recipe's.   `own_notes`: for the user."""

    types: tuple[PartType, ...]
    parts: tuple[Part, ...]
    sources: Mapping[int, tuple[int, ...]] = field(repr=False)
    schedule: tuple[Evaluation, ...] = field(repr=False)
    copies: tuple[Copy, ...] = field(repr=False)
    ends: Ends = field(repr=False)
    connections: tuple[tuple[str, str], ...] = field(repr=False)
    own_notes: tuple[str, ...]
    unsupported: tuple[str, ...] = field(default=(), kw_only=True)  # bodies that their planar points do not hold

    def folders(self) -> dict[str, Path]:
        return {kind.folder: kind.model.recipe.element_folder for kind in self.types}

    @property
    def prototypes(self) -> dict[str, ElementModel]:
        return {kind.folder: kind.model for kind in self.types if kind.model.is_prototype}

    def elements(self) -> Iterator[tuple[int, ElementModel]]:
        return ((part.offset, part.model) for part in self.parts)

    def notes(self) -> tuple[str, ...]:
        return (*self.own_notes, *(f"{kind.name}: {note}" for kind in self.types for note in kind.model.notes()))

    def warnings(self) -> tuple[str, ...]:
        of_parts = (f"{kind.name}: {warning}" for kind in self.types for warning in kind.model.warnings())
        return (*self.unsupported, *of_parts)

    def own_variables(self) -> Iterator[Variable]:
        """Those of the assembly itself, and those of parts that it renames or makes outputs."""
        yield from self.variables[: self.parts[0].offset]
        for part in self.parts:
            for raw in part.model.variables:
                v = self.variables[part.offset + raw.index]
                if not v.hidden and v.kind != "derivative" and (v.is_output or v.name != f"{part.name}.{raw.name}"):
                    yield v


def end_of_variable(v: Variable, name: str, causality: str | None = None) -> SlaveVariable:
    """A variable as connections see it; `v` is that of the element."""
    if causality is None:
        causality = "input" if v.kind == "input" else "output" if v.is_output else "local"
        causality = "parameter" if v.kind in ("fixed", "tunable") else causality
    unit = "" if v.type != "real" else v.unit.name
    zero = v.kind == "output" and v.type == "real" and not v.depends
    return SlaveVariable(name, v.index, FMI_TYPES[v.type], causality, "", None, unit, None, None, zero=zero)


def shared_types(parts: Iterable[Part]) -> tuple[tuple[PartType, ...], tuple[Part, ...]]:
    """Parts whose C is the same share a type; it is named after the recipe of the first."""
    known: dict[object, int] = {}
    types: list[PartType] = []
    names: set[str] = set()
    placed = []
    for part in parts:
        recipe = part.model.recipe
        structure = (*sorted(recipe.sizes.items()), *sorted(recipe.choices.items()))
        laws = laws_header(recipe.laws.laws, recipe.laws.slots, "", recipe.laws.remembered) if recipe.laws else ""
        key = (recipe.element_folder, recipe.language, structure, recipe.constants, laws)
        if key not in known:
            known[key] = len(types)
            name, number = recipe.name, 1
            while name.casefold() in names:  # some file systems do not distinguish them
                number += 1
                name = f"{recipe.name}_{number}"
            names.add(name.casefold())
            types.append(PartType(name, part.model))
        placed.append(replace(part, type=known[key]))
    return tuple(types), tuple(placed)
