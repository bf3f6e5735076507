"""User laws: scalars and functions in the notation of the EULER documents, read and checked.

    scalar k_fr = 0.1;
    function fr_line(N[N], v[m/s], kT[s/m]) = #v*#kT > 1 -> k_fr*#N, #v*#kT*k_fr*#N;

The grammar is laws.lark.  A definition stands before its use, so there is no recursion.  Numbers are SI from here on.
numeric.py evaluates laws, c_source.py makes C of them, tables.py adds functions given by points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from fmu_builder.errors import InputError, Problem
from fmu_builder.laws.check import RESERVED, Checker, Dimension, dimension_of, text_of
from fmu_builder.laws.tables import LawTable
from fmu_builder.laws.tree import (
    Argument,
    Call,
    Expression,
    FunctionText,
    Name,
    Negative,
    Number,
    Place,
    ScalarText,
    Source,
    parse_declarations,
    parse_value,
    walk,
    with_arguments,
)
from fmu_builder.model.declaration import C_KEYWORDS
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
    """Definitions by name, each after those it uses.   faulty: those that were told of, and what uses them: these have
    no value, and what could not be read is not among the definitions."""

    scalars: Mapping[str, Scalar] = field(default_factory=dict)
    functions: Mapping[str, LawFunction] = field(default_factory=dict)
    faulty: frozenset[str] = frozenset()

    def used_by(self, *roots: LawFunction | Scalar) -> Laws:
        """Only what these need, directly or through others; the named functions themselves are left out."""
        wanted: set[str] = set()
        new = _names_in(*(body for root in roots for body in _bodies(root)))
        while new:
            name = new.pop()
            if name not in wanted:
                wanted.add(name)
                found = self.scalars.get(name) or self.functions.get(name)
                new += _names_in(*_bodies(found)) if found else []
        in_order = sorted(wanted & self._order.keys(), key=self._order.__getitem__)
        return Laws(
            {name: self.scalars[name] for name in in_order if name in self.scalars},
            {name: self.functions[name] for name in in_order if name in self.functions},
        )

    @cached_property
    def _order(self) -> dict[str, int]:
        return {name: place for place, name in enumerate((*self.scalars, *self.functions))}

    def numbers_behind(self, one: LawFunction | Scalar) -> list[str]:
        """The scalars with a number that it needs, directly or through others, in their order."""
        open_names = list(dict.fromkeys(_names_in(*_bodies(one))))
        while open_names:  # what a definition needs is found before what needs that
            name = open_names[-1]
            used = self.scalars.get(name) or self.functions.get(name)
            needed = dict.fromkeys(_names_in(*_bodies(used))) if used and name not in self._behind else {}
            missing = [other for other in needed if other not in self._behind]
            if missing:
                open_names += missing
                continue
            if name not in self._behind:
                own = {name} if isinstance(used, Scalar) and used.number is not None else set()
                self._behind[name] = frozenset(own.union(*(self._behind[other] for other in needed)))
            open_names.pop()
        found = frozenset[str]().union(*(self._behind[name] for name in _names_in(*_bodies(one))))
        return sorted(found, key=self._order.__getitem__)

    @cached_property
    def _behind(self) -> dict[str, frozenset[str]]:
        return {}

    def with_others(self, other: Laws) -> Laws:
        names = other.faulty | self.faulty
        return Laws({**other.scalars, **self.scalars}, {**other.functions, **self.functions}, names)

    def is_faulty(self, text: str) -> bool:
        """Whether the name of a function, or an expression, rests on what was told of."""
        body = parse_value(Source(text.strip(), ""), [])
        return body is not None and not self.faulty.isdisjoint(_names_in(body))


def _bodies(one: LawFunction | Scalar) -> list[Expression]:
    return [one.value] if isinstance(one, Scalar) else [*one.expressions()]


def _names_in(*bodies: Expression) -> list[str]:
    return [node.name for body in bodies for node in walk(body) if isinstance(node, Name | Call)]


def read_laws(source: Source, known: Laws | None = None) -> Laws:
    """The laws of a text, and those known before, which it may use.  Raises InputError with every problem found."""
    problems: list[Problem] = []
    laws = parse_laws(source, known or Laws(), problems)
    if problems:
        raise InputError(problems)
    return laws


def parse_laws(source: Source, known: Laws, problems: list[Problem]) -> Laws:
    """As read_laws; adds to the problems and returns what can be named.  What uses what is faulty is not checked."""
    unread: set[str] = set()
    written = parse_declarations(source, problems, unread)
    first: dict[str, ScalarText | FunctionText] = {}
    for one in written:
        first.setdefault(one.name, one)
    scalars, functions = dict(known.scalars), dict(known.functions)
    undefined = {name: _line(source, one.place) for name, one in first.items()}
    checker = Checker(source, scalars, functions, problems, undefined)
    faulty = {*known.faulty, *unread}
    for one in written:
        before = len(problems)
        fault = _name_fault(one, first, known, source)
        if fault:
            problems.append(source.problem(one.place, fault))
        body = one.value if isinstance(one, ScalarText) else one.body
        follows = not faulty.isdisjoint(_names_in(body))
        if isinstance(one, ScalarText):
            scalar = Scalar(one.name, one.value, None if follows else checker.check(one.value, {}, one.name))
            if not fault:
                scalars[one.name] = scalar
        else:
            function = _function(one, None if follows else checker, source, problems)
            if not fault:
                functions[one.name] = function if len(problems) == before else replace(function, dimension=None)
        if follows or len(problems) > before:
            faulty.add(one.name)
        undefined.pop(one.name, None)
    return Laws(scalars, functions, frozenset(faulty))


def _line(source: Source, place: Place) -> int:
    return source.first_line + place.line - 1 if source.first_line else 0


def _name_fault(
    one: ScalarText | FunctionText, first: Mapping[str, ScalarText | FunctionText], known: Laws, source: Source
) -> str | None:
    if one.name in RESERVED:
        return f"'{one.name}' has a meaning of its own; choose another name"
    if isinstance(one, ScalarText) and one.name.startswith("_"):
        return f"'{one.name}': the name of a scalar begins with a letter"
    if isinstance(one, ScalarText) and one.name in C_KEYWORDS:
        return f"'{one.name}' is a word of C or FMI; choose another name for this scalar"
    if first[one.name] is not one:
        line = _line(source, first[one.name].place)
        return f"'{one.name}' is defined twice" + (f", first in line {line}" if line else "")
    if one.name in known.scalars or one.name in known.functions:
        return f"'{one.name}' is defined already; choose another name"
    return None


def _function(text: FunctionText, checker: Checker | None, source: Source, problems: list[Problem]) -> LawFunction:
    names: set[str] = set()
    for parameter in text.parameters:
        if parameter.name in names or parameter.name in RESERVED:
            rule = "stands twice" if parameter.name in names else "has a meaning of its own"
            problems.append(source.problem(parameter.place, f"the parameter '{parameter.name}' {rule}"))
        names.add(parameter.name)
    dimensions = {parameter.name: dimension_of(parameter.unit) for parameter in text.parameters}
    dimension = checker.check(text.body, dimensions, text.name) if checker else None
    return LawFunction(text.name, tuple((p.name, p.unit) for p in text.parameters), text.body, dimension)


def read_value(
    text: str, where: str, arguments: Mapping[str, Unit], unit: Unit, laws: Laws | None = None
) -> LawFunction:
    """A law for a slot or a drive: the name of a function of fitting parameters, or an expression of the arguments,
    written `#name` or, where no scalar has that name, `name`.

    Raises InputError with every problem found."""
    laws = laws or Laws()
    source = Source(text.strip(), where)
    parameters = tuple(arguments.items())
    problems: list[Problem] = []
    if source.text in laws.functions:
        function = laws.functions[source.text]
        _check_signature(function, parameters, unit, where, problems)
        place = Place(1, 1)
        body: Expression | None = Call(place, function.name, tuple(Argument(place, name) for name in arguments))
        dimension = function.dimension
    else:
        dimension = None
        body = parse_value(source, problems)
        if body is not None:
            checker = Checker(source, laws.scalars, laws.functions, problems, bare=True)
            dimension = checker.check(body, {name: dimension_of(u) for name, u in parameters})
            _check_result(dimension, unit, where, "the expression", problems)
            body = with_arguments(body, arguments.keys() - laws.scalars.keys())
    if problems or body is None:
        raise InputError(problems)
    return LawFunction("", parameters, body, dimension)


def _check_result(dimension: Dimension | None, unit: Unit, where: str, what: str, problems: list[Problem]) -> None:
    if dimension is not None and dimension != dimension_of(unit):
        needed = text_of(dimension_of(unit))
        problems.append(Problem(where, f"{what} has the dimension {text_of(dimension)}, {needed} is needed"))


def _check_signature(
    function: LawFunction, parameters: tuple[tuple[str, Unit], ...], unit: Unit, where: str, problems: list[Problem]
) -> None:
    needed = ", ".join(f"{name}[{'' if u.name == '1' else u.name}]" for name, u in parameters)
    if len(function.parameters) != len(parameters):
        count = len(function.parameters)
        what = f"{function.name} takes {count} argument{'s' * (count != 1)}, the law is called with ({needed})"
        problems.append(Problem(where, what))
        return
    for (name, found), (_, wanted) in zip(function.parameters, parameters, strict=True):
        if dimension_of(found) != dimension_of(wanted):
            dimensions = f"the dimension {text_of(dimension_of(found))}, not {text_of(dimension_of(wanted))}"
            problems.append(Problem(where, f"{function.name}: {name} has {dimensions}; the call is ({needed})"))
    _check_result(function.dimension, unit, where, f"the value of {function.name}", problems)
