"""User laws: scalars and functions in the notation of the EULER documents, read and checked.

    scalar k_fr = 0.1;
    function fr_line(N[N], v[m/s], kT[s/m]) = #v*#kT > 1 -> k_fr*#N, #v*#kT*k_fr*#N;

The grammar is laws.lark.  A definition stands before its use, so there is no recursion.  Numbers are SI from here on.
numeric.py evaluates laws, c_source.py makes C of them, tables.py adds functions given by points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fmu_builder.c_names import C_KEYWORDS
from fmu_builder.errors import InputError, Problem
from fmu_builder.laws.check import RESERVED, Checker
from fmu_builder.laws.definitions import LawFunction, Laws, Scalar, names_in
from fmu_builder.laws.dimensions import Dimension, dimension_of, text_of
from fmu_builder.laws.tree import (
    Argument,
    Call,
    Expression,
    FunctionText,
    Place,
    ScalarText,
    Source,
    parse_declarations,
    parse_value,
    with_arguments,
    with_pi,
)
from fmu_builder.units import Unit


def read_laws(source: Source, known: Laws | None = None) -> Laws:
    """The laws of a text, and those known before, which it may use.  Raises InputError with every problem found."""
    problems: list[Problem] = []
    laws = parse_laws(source, known or Laws(), problems)
    if problems:
        raise InputError(problems)
    return laws


def parse_laws(source: Source, known: Laws, problems: list[Problem]) -> Laws:
    """As read_laws; adds to the problems and returns what can be named.  Uses of faulty definitions are not checked."""
    unread: set[str] = set()
    written = parse_declarations(source, problems, unread)
    names = {*known.scalars, *known.functions, *known.faulty, *unread, *(one.name for one in written)}
    written = [_with_pi(one, names) for one in written]
    first: dict[str, ScalarText | FunctionText] = {}
    for one in written:
        first.setdefault(one.name, one)
    scalars, functions = dict(known.scalars), dict(known.functions)
    undefined = {name: source.line(one.place) for name, one in first.items()}
    checker = Checker(source, scalars, functions, problems, undefined)
    faulty = {*known.faulty, *unread}
    for one in written:
        before = len(problems)
        fault = _name_fault(one, first, known, source)
        if fault:
            problems.append(source.problem(one.place, fault))
        body = one.value if isinstance(one, ScalarText) else one.body
        follows = not faulty.isdisjoint(names_in(body))
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


def _with_pi(one: ScalarText | FunctionText, names: set[str]) -> ScalarText | FunctionText:
    """The definition with its number in place of `pi`, unless that is one of the names or a parameter."""
    if isinstance(one, ScalarText):
        return replace(one, value=with_pi(one.value, names))
    return replace(one, body=with_pi(one.body, names.union(parameter.name for parameter in one.parameters)))


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
        line = source.line(first[one.name].place)
        return f"'{one.name}' is defined twice" + (f", first in {line}" if line else "")
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
            body = with_pi(body, {*laws.scalars, *laws.functions, *laws.faulty, *arguments})
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
