"""Laws as trees, and the parser that makes them from text (grammar: laws.lark).

A tree holds the place of every operator and name, so that errors show the line and a caret."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Container, Iterator, Mapping, Set
from dataclasses import dataclass, fields, replace
from pathlib import Path

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedInput, UnexpectedToken, v_args

from fmu_builder.errors import InputError, Problem
from fmu_builder.units import Unit, parse_quantity, parse_unit

MOST_NESTED = 100  # nested operators and calls; Python and C compilers handle them by recursion


@dataclass(frozen=True, slots=True)
class Place:
    """Line and column in the text of the law, both from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Number:
    """`value` is SI; `unit` is None where none was written."""

    place: Place
    value: float
    unit: Unit | None


@dataclass(frozen=True, slots=True)
class Argument:
    """`#name`, a parameter of the function."""

    place: Place
    name: str


@dataclass(frozen=True, slots=True)
class Name:
    """A scalar, or in a slot a parameter without its `#`."""

    place: Place
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    place: Place
    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Negative:
    place: Place
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """`operator` is one of + - * / ^."""

    place: Place
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Comparison:
    """`operator` is one of < <= > >= == !=."""

    place: Place
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Logic:
    """`operator` is && or ||."""

    place: Place
    operator: str
    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Inverse:
    place: Place
    operand: Condition


@dataclass(frozen=True, slots=True)
class Branch:
    """`value` where the condition holds, else `other`."""

    place: Place
    condition: Condition
    value: Expression
    other: Expression


Expression = Number | Argument | Name | Call | Negative | Binary | Branch
Condition = Comparison | Logic | Inverse
Node = Expression | Condition


@dataclass(frozen=True, slots=True)
class ParameterText:
    place: Place
    name: str
    unit: Unit


@dataclass(frozen=True, slots=True)
class ScalarText:
    """`scalar name = value;` as written."""

    place: Place
    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class FunctionText:
    """`function name(parameters) = body;` as written."""

    place: Place
    name: str
    parameters: tuple[ParameterText, ...]
    body: Expression


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below, in the order of the text."""
    match node:
        case Call():
            return node.arguments
        case Negative() | Inverse():
            return (node.operand,)
        case Binary() | Comparison() | Logic():
            return (node.left, node.right)
        case Branch():
            return (node.condition, node.value, node.other)
    return ()


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    open_nodes: list[Node] = [node]
    while open_nodes:
        one = open_nodes.pop()
        yield one
        open_nodes += reversed(children(one))


def with_parts(node: Node, parts: tuple[Node, ...]) -> Node:
    """The node with these children, in their order."""
    if all(new is old for new, old in zip(parts, children(node), strict=True)):
        return node
    if isinstance(node, Call):
        return replace(node, arguments=parts)  # type: ignore[arg-type]
    names = [one.name for one in fields(node) if isinstance(getattr(node, one.name), Node)]
    return replace(node, **dict(zip(names, parts, strict=True)))  # type: ignore[arg-type]


def substituted(node: Expression, leaf: Callable[[Node], Node | None]) -> Expression:
    """The expression with what `leaf` gives, where it gives something, in the place of the nodes without children; a
    part that stands in several places is made once."""
    known: dict[int, Node] = {}

    def made(one: Node) -> Node:
        if id(one) not in known:
            parts = children(one)
            known[id(one)] = with_parts(one, tuple([made(child) for child in parts])) if parts else leaf(one) or one
        return known[id(one)]

    found = made(node)
    assert not isinstance(found, Condition)
    return found


def with_values(node: Expression, given: Mapping[str, Expression]) -> Expression:
    """The expression with others in the place of arguments."""
    return substituted(node, lambda one: given.get(one.name) if isinstance(one, Argument) else None)


def with_arguments(node: Expression, names: Set[str]) -> Expression:
    """The expression with `#name` in place of the bare names given."""

    def argument(one: Node) -> Node | None:
        return Argument(one.place, one.name) if isinstance(one, Name) and one.name in names else None

    return substituted(node, argument)


def with_pi(node: Expression, own: Container[str]) -> Expression:
    """The expression with its number in place of `pi`, unless that is a name of the user's own."""

    def number(one: Node) -> Node | None:
        return _pi(one.place) if isinstance(one, Name) and one.name == "pi" else None

    return node if "pi" in own else substituted(node, number)


def _pi(place: Place) -> Number:
    return Number(place, math.pi, parse_unit("1"))


@dataclass(frozen=True)
class Source:
    """A text with laws.   `where`: file and key for messages.   `first_line`: line of the file that holds its first
    line, 0 if no line of a file does as it stands."""

    text: str
    where: str
    first_line: int = 0

    def line(self, place: Place) -> str:
        """`line 7` of the file, `line 2 of the text`, or nothing of a text of one line that is in no file."""
        if self.first_line:
            return f"line {self.first_line + place.line - 1}"
        return f"line {place.line} of the text" if "\n" in self.text else ""

    def problem(self, place: Place, what: str) -> Problem:
        """The fault with its line, and below it the text with a caret."""
        lines = self.text.splitlines() or [""]
        shown = lines[min(place.line, len(lines)) - 1].replace("\t", " ")
        begin = max(place.column - 1 - 60, 0)
        where = ", ".join(filter(None, (self.where, self.line(place))))
        caret = " " * (place.column - 1 - begin) + "^"
        return Problem(where, f"{what}\n    {shown[begin : begin + 110]}\n    {caret}")


class _FaultyLawError(Exception):
    """Private to the parser: a fault inside the text of a law."""

    def __init__(self, place: Place, what: str) -> None:
        super().__init__(what)
        self.place = place


_INK = re.compile(r"\S")
_BEGUN = re.compile(r"\s*(?:scalar|function)\s+(?P<name>\w+)")


def parse_declarations(
    source: Source, problems: list[Problem], unread: set[str] | None = None
) -> list[ScalarText | FunctionText]:
    """The sound declarations of the text, in order; adds one problem for each faulty one, and to `unread` its name, as
    far as it has one."""
    found: list[ScalarText | FunctionText] = []
    text = _without_comments(source.text)
    begin, line = 0, 0
    while _INK.search(text, begin):
        end = text.find(";", begin)
        stop = len(text) if end < 0 else end + 1
        column = begin - (text.rfind("\n", 0, begin) + 1)
        only = "\n" * line + " " * column + text[begin:stop]  # keeps lines and columns
        line += text.count("\n", begin, stop)
        declaration = _parse(only, "declaration", source, problems)
        if isinstance(declaration, ScalarText | FunctionText):
            found.append(declaration)
        elif unread is not None and (begun := _BEGUN.match(text, begin)):
            unread.add(begun["name"])
        begin = stop
    return found


def parse_value(source: Source, problems: list[Problem]) -> Expression | None:
    """The expression, or chain of conditions, that is the whole text; None if it is faulty, with a problem added."""
    value = _parse(source.text, "value", source, problems)
    return None if isinstance(value, ScalarText | FunctionText) else value


def _without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", lambda comment: " " * len(comment[0]), text)


def _parse(
    text: str, start: str, source: Source, problems: list[Problem]
) -> ScalarText | FunctionText | Expression | None:
    try:
        tree: ScalarText | FunctionText | Expression = _parser().parse(text, start=start)  # type: ignore[assignment]
    except UnexpectedInput as error:
        problems.append(_syntax_problem(error, source))
    except _FaultyLawError as fault:
        problems.append(source.problem(fault.place, str(fault)))
    else:
        body = tree.value if isinstance(tree, ScalarText) else tree.body if isinstance(tree, FunctionText) else tree
        if _depth(body) <= MOST_NESTED:
            return tree
        what = f"more than {MOST_NESTED} nested operators and calls; split it into functions"
        problems.append(source.problem(tree.place, what))
    return None


def _depth(node: Node) -> int:
    deepest, level = 0, [node]
    while level:
        deepest += 1
        level = [below for one in level for below in children(one)]
    return deepest


_SPOKEN = {
    "NAME": "a name",
    "NUMBER": "a number",
    "UNIT": "a unit such as [m/s]",
    "ARGUMENT": "an argument such as #v",
    "ARROW": "'->'",
    "SEMICOLON": "';'",
    "COMMA": "','",
    "LPAR": "'('",
    "RPAR": "')'",
    "$END": "the end",
    "SCALAR": "'scalar'",
    "FUNCTION": "'function'",
}
_OPERATORS = {
    "PLUS": "+",
    "MINUS": "-",
    "TIMES": "*",
    "OVER": "/",
    "POWER": "^",
    "LESS": "<",
    "LESS_EQUAL": "<=",
    "GREATER": ">",
    "GREATER_EQUAL": ">=",
    "EQUAL": "==",
    "UNEQUAL": "!=",
    "AND": "&&",
    "OR": "||",
}


def _syntax_problem(error: UnexpectedInput, source: Source) -> Problem:
    if isinstance(error, UnexpectedCharacters):
        place = Place(error.line, error.column)
        lines = source.text.splitlines()
        character = lines[place.line - 1][place.column - 1]
        rule = "names of laws are ASCII letters, digits and _" if character.isalpha() else "no law uses this character"
        return source.problem(place, f"'{character}': {rule}")
    assert isinstance(error, UnexpectedToken)
    expected = {_SPOKEN[name] for name in error.accepts | error.expected if name in _SPOKEN}
    if _OPERATORS.keys() & (error.accepts or error.expected):
        expected.add("an operator")
    if error.token.type == "$END":
        lines = source.text.rstrip().splitlines() or [""]
        place, seen = Place(len(lines), len(lines[-1]) + 1), "the text ends"
    else:
        place, seen = Place(error.token.line or 1, error.token.column or 1), f"'{error.token}' cannot stand here"
    return source.problem(place, f"{seen}; expected {' or '.join(sorted(expected))}" if expected else seen)


def _at(token: Token) -> Place:
    return Place(token.line or 1, token.column or 1)


def _quantity(number: Token, unit: Token | None) -> Number:
    if not math.isfinite(float(number)):
        raise _FaultyLawError(_at(number), f"{number} is too large for a double")
    if unit is None:
        return Number(_at(number), float(number), None)
    if _unit(unit).offset != 0.0:
        raise _FaultyLawError(
            _at(unit), f"{unit[1:-1]} has an offset, so signs and sums of its values are wrong; write K"
        )
    try:
        return Number(_at(number), parse_quantity(f"{number}{unit}", _unit(unit), ""), _unit(unit))
    except InputError:
        raise _FaultyLawError(_at(number), "the value in SI is too large for a double") from None


def _unit(token: Token) -> Unit:
    try:
        return parse_unit(token[1:-1])
    except InputError as error:
        raise _FaultyLawError(_at(token), error.problems[0].what) from None


@v_args(inline=True)
class _TreeMaker(Transformer[Token, object]):
    """Called by the parser for every rule, from the leaves up."""

    def scalar(self, name: Token, value: Expression) -> ScalarText:
        return ScalarText(_at(name), str(name), value)

    def function(self, name: Token, *rest: ParameterText | Expression) -> FunctionText:
        *parameters, body = rest
        return FunctionText(_at(name), str(name), tuple(parameters), body)  # type: ignore[arg-type]

    def parameter(self, name: Token, unit: Token) -> ParameterText:
        return ParameterText(_at(name), str(name), _unit(unit))

    def branch(self, condition: Condition, arrow: Token, value: Expression, other: Expression) -> Branch:
        return Branch(_at(arrow), condition, value, other)

    def logic(self, left: Condition, operator: Token, right: Condition) -> Logic:
        return Logic(_at(operator), str(operator), left, right)

    def comparison(self, left: Expression, operator: Token, right: Expression) -> Comparison:
        return Comparison(_at(operator), str(operator), left, right)

    def inverse(self, operator: Token, operand: Condition) -> Inverse:
        return Inverse(_at(operator), operand)

    def binary(self, left: Expression, operator: Token, right: Expression) -> Binary:
        return Binary(_at(operator), str(operator), left, right)

    def signed(self, operator: Token, operand: Expression) -> Expression:
        return Negative(_at(operator), operand) if operator == "-" else operand

    def number(self, number: Token, unit: Token | None) -> Number:
        return _quantity(number, unit)

    def argument(self, argument: Token) -> Argument:
        return Argument(_at(argument), argument[1:].strip())

    def name(self, name: Token) -> Expression:
        return _pi(_at(name)) if name == "PI" else Name(_at(name), str(name))

    def call(self, name: Token, *arguments: Expression) -> Call:
        return Call(_at(name), str(name), arguments)


@functools.cache
def _parser() -> Lark:
    grammar = (Path(__file__).resolve().parent / "laws.lark").read_text(encoding="utf-8")
    return Lark(
        grammar, parser="lalr", start=["declaration", "value"], transformer=_TreeMaker(), maybe_placeholders=True
    )
