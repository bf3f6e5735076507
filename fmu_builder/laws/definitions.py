"""Scalars and functions of a text of laws, with what each of them uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from fmu_builder.laws.dimensions import Dimension
from fmu_builder.laws.shared import WRITTEN_OUT, Shapes, written_size
from fmu_builder.laws.tables import LawTable
from fmu_builder.laws.tree import (
    Call,
    Expression,
    Name,
    Negative,
    Number,
    Source,
    parse_value,
    walk,
)
from fmu_builder.units import Unit, parse_unit


@dataclass(frozen=True)
class Scalar:
    """`value` is its definition.   dimension: None for the number 0, which fits any."""

    name: str
    value: Expression
    dimension: Dimension | None

    @property
    def number(self) -> tuple[float, Unit] | None:
        """SI value and unit as written of a scalar that is a number; None if it is computed from others."""
        negative = isinstance(self.value, Negative)
        node = self.value.operand if isinstance(self.value, Negative) else self.value
        if not isinstance(node, Number):
            return None
        return -node.value if negative else node.value, node.unit or parse_unit("1")


@dataclass(frozen=True)
class LawFunction:
    """parameters: names with units, of which only the dimension counts, for values are SI.   dimension: of its value,
    None if that is the number 0.   body: an expression, or points of a table over the only parameter."""

    name: str
    parameters: tuple[tuple[str, Unit], ...]
    body: Expression | LawTable
    dimension: Dimension | None

    def expressions(self) -> Iterator[Expression]:
        if not isinstance(self.body, LawTable):
            yield self.body


@dataclass(frozen=True)
class Laws:
    """Definitions by name, each after those it uses.   faulty: those that were reported, and what uses them: these have
    no value, and texts that cannot be read are not among the definitions."""

    scalars: Mapping[str, Scalar] = field(default_factory=dict)
    functions: Mapping[str, LawFunction] = field(default_factory=dict)
    faulty: frozenset[str] = frozenset()

    def used_by(self, *roots: LawFunction | Scalar) -> Laws:
        """Only what these need, directly or through others; the named functions themselves are left out."""
        wanted: set[str] = set()
        new = names_in(*(body for root in roots for body in bodies(root)))
        while new:
            name = new.pop()
            if name not in wanted:
                wanted.add(name)
                found = self.scalars.get(name) or self.functions.get(name)
                new += names_in(*bodies(found)) if found else []
        in_order = sorted(wanted & self._order.keys(), key=self._order.__getitem__)
        return Laws(
            {name: self.scalars[name] for name in in_order if name in self.scalars},
            {name: self.functions[name] for name in in_order if name in self.functions},
        )

    @cached_property
    def _order(self) -> dict[str, int]:
        return {name: place for place, name in enumerate((*self.scalars, *self.functions))}

    @property
    def tunable(self) -> list[str]:
        """The scalars that are numbers: parameters of the FMU."""
        return [name for name, scalar in self.scalars.items() if scalar.number is not None]

    def numbers_behind(self, one: LawFunction | Scalar) -> list[str]:
        """The scalars with a number that it needs, directly or through others, in their order."""
        open_names = list(dict.fromkeys(names_in(*bodies(one))))
        while open_names:  # what a definition needs is found before what needs that
            name = open_names[-1]
            used = self.scalars.get(name) or self.functions.get(name)
            needed = dict.fromkeys(names_in(*bodies(used))) if used and name not in self._behind else {}
            missing = [other for other in needed if other not in self._behind]
            if missing:
                open_names += missing
                continue
            if name not in self._behind:
                own = {name} if isinstance(used, Scalar) and used.number is not None else set()
                self._behind[name] = frozenset(own.union(*(self._behind[other] for other in needed)))
            open_names.pop()
        found = frozenset[str]().union(*(self._behind[name] for name in names_in(*bodies(one))))
        return sorted(found, key=self._order.__getitem__)

    @cached_property
    def written_sizes(self) -> dict[str, int]:
        """Operators of each function when the bodies of those that it calls are written out."""
        found: dict[str, int] = {}
        for name, function in self.functions.items():
            found[name] = sum(written_size(body, found) for body in function.expressions())
        return found

    def shared(self, body: Expression) -> Expression | None:
        """The expression with equal parts as one, if it is large when written out; else None."""
        if id(body) not in self._shared:
            is_large = written_size(body, self.written_sizes) > WRITTEN_OUT
            one: Expression | None = Shapes().one(body) if is_large else None  # type: ignore[assignment]
            self._shared[id(body)] = body, one
        return self._shared[id(body)][1]

    @cached_property
    def _shared(self) -> dict[int, tuple[Expression, Expression | None]]:
        """By id, with the expression itself, so that no other gets its id."""
        return {}

    @cached_property
    def _behind(self) -> dict[str, frozenset[str]]:
        return {}

    def is_faulty(self, text: str) -> bool:
        """Whether the name of a function, or an expression, depends on a reported definition."""
        body = parse_value(Source(text.strip(), ""), [])
        return body is not None and not self.faulty.isdisjoint(names_in(body))


def bodies(one: LawFunction | Scalar) -> list[Expression]:
    return [one.value] if isinstance(one, Scalar) else [*one.expressions()]


def names_in(*bodies: Expression) -> list[str]:
    return [node.name for body in bodies for node in walk(body) if isinstance(node, Name | Call)]
