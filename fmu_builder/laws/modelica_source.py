"""Modelica of user laws: functions as they are written, and the equation of a law in a slot.

Relations in a function make no events.  The equation of a slot writes out what has kinks or jumps, as relations that a
tool locates; where the law is continuous there it says so by smooth(0, ...), and a tool may step across.  What has
none is a call of the function.  A scalar a becomes `laws_a`, the value of a slot s `slot_s` and its argument x
`slot_s_x`; the names of functions may begin with a prefix, for some tools take functions of one name in two classes for
the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fmu_builder.laws.c_source import LawInSlot
from fmu_builder.laws.check import constant_of
from fmu_builder.laws.definitions import LawFunction, Laws
from fmu_builder.laws.dimensions import Dimension, dimension_of, si_name
from fmu_builder.laws.forms import SIDE, inlined, kinks
from fmu_builder.laws.made_nodes import NOWHERE, as_branch
from fmu_builder.laws.numeric import Evaluation, Values, scalar_values
from fmu_builder.laws.shared import walk_once, written_size
from fmu_builder.laws.tables import LawTable
from fmu_builder.laws.tree import (
    Argument,
    Binary,
    Branch,
    Call,
    Comparison,
    Expression,
    Inverse,
    Logic,
    Name,
    Negative,
    Node,
    Number,
    walk,
    with_values,
)
from fmu_builder.units import parse_unit

MOST_WRITTEN_OUT = 2000  # nodes of an equation; of a larger law it is a call, whose kinks are not located
MOST_LOCATED = 100  # points of a table of which the kinks are located

# how tightly an expression holds together
_IF, _OR, _AND, _NOT, _RELATION, _SUM, _PRODUCT, _POWER, _PRIMARY = range(9)
_BINARY = {
    "+": (_SUM, _SUM, _PRODUCT),
    "-": (_SUM, _SUM, _PRODUCT),
    "*": (_PRODUCT, _PRODUCT, _POWER),
    "/": (_PRODUCT, _PRODUCT, _POWER),
    "^": (_POWER, _PRIMARY, _PRIMARY),
}


def plain_number(value: float) -> str:
    """A Modelica number that a compiler reads with the same bits."""
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e9 else repr(value)


def number(value: float) -> str:
    """A number in an expression."""
    text = plain_number(value)
    return f"({text})" if text.startswith("-") else text


def scalar_name(name: str) -> str:
    return f"laws_{name}"


def unit_text(dimension: Dimension | None) -> str:
    """`(unit="m/s")`; empty where the dimension has no unit."""
    name = si_name(dimension) if dimension is not None else None
    return f'(unit="{name}")' if name else ""


@dataclass(frozen=True)
class SlotEquation:
    """declarations  of what the equations name besides the slot's value and arguments, and the law's scalars
    equations     of the value of the slot"""

    declarations: tuple[str, ...]
    equations: tuple[str, ...]


def slot_equation(slot: LawInSlot, laws: Laws, where: str, prefix: str = "") -> SlotEquation:
    """The equation of a law in a slot.   where: file and key, for messages     prefix: of functions

    Raises InputError as forms.inlined."""
    body = slot.law.body
    assert not isinstance(body, LawTable)  # a table in a slot is a call of a function
    names = {name: f"slot_{slot.slot}_{name}" for name in slot.names}
    printer = _Printer(laws, names, where, prefix)
    if written_size(inlined(slot.law, laws, where), laws.written_sizes) <= MOST_WRITTEN_OUT:
        printer.located = f"slot_{slot.slot}"
    text = printer.text(body, _IF)
    return SlotEquation(tuple(printer.declarations), (f"slot_{slot.slot} = {text};", *printer.equations))


def law_functions(
    laws: Laws, values: Mapping[str, float] | None = None, keywords: Collection[str] = (), prefix: str = ""
) -> Iterator[tuple[str, list[str]]]:
    """Name, without the prefix, and lines of each function.   values: of scalars, SI, in place of those of the text:
    defaults of inputs     keywords: names that no input can have"""
    known = scalar_values(laws, values)
    for name, function in laws.functions.items():
        yield name, list(_function(name, function, laws, known, keywords, prefix))


def computed_scalars(laws: Laws) -> Iterator[str]:
    """Declarations of the scalars that follow from others."""
    printer = _Printer(laws, {}, "")
    for name, scalar in laws.scalars.items():
        if scalar.number is None:
            value = printer.text(scalar.value, _IF)
            yield f"final parameter Real {scalar_name(name)}{unit_text(scalar.dimension)} = {value};"


@dataclass
class _Printer:
    """Prints expressions.

    names    of arguments
    prefix   of functions
    located  begins the names of what locates kinks; "" in functions"""

    laws: Laws
    names: Mapping[str, str]
    where: str
    prefix: str = ""
    located: str = ""
    declarations: list[str] = field(default_factory=list)
    equations: list[str] = field(default_factory=list)

    def text(self, node: Node, least: int) -> str:
        """The node, in parentheses where it holds together less tightly than what is around it."""
        text, level = self._printed(node)
        return text if level >= least else f"({text})"

    def _printed(self, node: Node) -> tuple[str, int]:
        match node:
            case Number():
                return number(node.value), _PRIMARY
            case Argument():
                return self.names[node.name], _PRIMARY
            case Name():
                return scalar_name(node.name), _PRIMARY
            case Negative():
                return f"-{self.text(node.operand, _PRODUCT)}", _SUM
            case Binary():
                level, left, right = _BINARY[node.operator]
                sign = node.operator if level != _SUM else f" {node.operator} "
                return f"{self.text(node.left, left)}{sign}{self.text(node.right, right)}", level
            case Comparison():
                return self._comparison(node)
            case Logic(operator="&&"):
                return f"{self.text(node.left, _AND)} and {self.text(node.right, _NOT)}", _AND
            case Logic():
                return f"{self.text(node.left, _OR)} or {self.text(node.right, _AND)}", _OR
            case Inverse():
                return f"not {self.text(node.operand, _RELATION)}", _NOT
            case Branch():
                return self._branch(node, self.located != "" and is_continuous(node, self.laws))
            case Call():
                return self._call(node)

    def _comparison(self, node: Comparison) -> tuple[str, int]:
        left, right = self.text(node.left, _SUM), self.text(node.right, _SUM)
        if self.located and node.operator in ("==", "!="):  # Modelica compares reals for equality in functions only
            low, high, word, level = ("<=", ">=", "and", _AND) if node.operator == "==" else ("<", ">", "or", _OR)
            return f"{left} {low} {right} {word} {left} {high} {right}", level
        return f"{left} {'<>' if node.operator == '!=' else node.operator} {right}", _RELATION

    def _branch(self, node: Branch, continuous: bool) -> tuple[str, int]:
        if self.located and (_is_partial(node.value, self.laws) or _is_partial(node.other, self.laws)):
            return self._guarded(node)
        condition, value = self.text(node.condition, _OR), self.text(node.value, _OR)
        text = f"if {condition} then {value} else {self.text(node.other, _IF)}"
        return (f"smooth(0, {text})", _PRIMARY) if continuous else (text, _IF)

    def _guarded(self, node: Branch) -> tuple[str, int]:
        """A condition behind which something has no value: it holds at once, its kinks are relations beside it."""
        parameters = [(name, parse_unit("1")) for name in self.names]
        whole = inlined(LawFunction("", tuple(parameters), node, None), self.laws, self.where)
        for kink in kinks(whole, self.laws, self.where):
            if not _is_partial(kink, self.laws) and not any(_is_side(one) for one in walk_once(kink)):
                name = f"{self.located}_side_{len(self.declarations) + 1}"
                self.declarations.append(f"Boolean {name};")
                self.equations.append(f"{name} = {replace(self, located='').text(kink, _SUM)} > 0;")
        text = replace(self, located="").text(node, _IF)
        return f"noEvent({text})", _PRIMARY

    def _call(self, node: Call) -> tuple[str, int]:
        if node.name == "pow":
            return self._printed(Binary(node.place, "^", *node.arguments))
        located = bool(self.located) and any(isinstance(one, Argument) for one in walk(node))
        if node.name in self.laws.functions:
            return self._law(node, located)
        if located and node.name in ("min", "max", "abs", "sign"):
            return self._branch(as_branch(node), node.name != "sign")
        return f"{node.name}({', '.join(self.text(one, _IF) for one in node.arguments)})", _PRIMARY

    def _law(self, node: Call, located: bool) -> tuple[str, int]:
        function = self.laws.functions[node.name]
        if located and isinstance(function.body, LawTable):
            self._locate_points(function.body, self.text(node.arguments[0], _SUM))
        elif located and kinks(inlined(function, self.laws, self.where), self.laws, self.where):
            assert not isinstance(function.body, LawTable)
            given = dict(zip((name for name, _ in function.parameters), node.arguments, strict=True))
            return self._printed(with_values(function.body, given))
        scalars = map(scalar_name, self.laws.numbers_behind(function))
        arguments = ", ".join([*(self.text(one, _IF) for one in node.arguments), *scalars])
        return f"{self.prefix}{node.name}({arguments})", _PRIMARY

    def _locate_points(self, table: LawTable, argument: str) -> None:
        """Relations with the points of a table."""
        if len(table.x) > MOST_LOCATED:
            return
        name = f"{self.located}_above_{len(self.declarations) + 1}"
        count = len(table.x)
        points = ", ".join(map(number, table.x))
        self.declarations.append(f"constant Real {name}_points[{count}] = {{{points}}};")
        self.declarations.append(f"Boolean {name}[{count}];")
        self.equations += [f"for i in 1:{count} loop", f"  {name}[i] = {argument} > {name}_points[i];", "end for;"]


def _is_side(node: Node) -> bool:
    return isinstance(node, Call) and node.name.startswith(SIDE)


def _is_partial(node: Node, laws: Laws) -> bool:
    """Whether something in it may have no value for some arguments: quotients, roots, logarithms of what follows
    them."""

    def follows(one: Node) -> bool:
        return any(isinstance(leaf, Argument) for leaf in walk_once(one))

    for one in walk_once(node):
        match one:
            case Binary(operator="/") if follows(one.right):
                return True
            case Binary(operator="^") if follows(one.right) or (follows(one.left) and not _is_whole(one.right)):
                return True
            case Call(name="pow" | "sqrt" | "log" | "asin" | "acos" | "tan") if follows(one):
                return True
            case Call() if one.name in laws.functions and follows(one):
                body = laws.functions[one.name].body
                if not isinstance(body, LawTable) and _is_partial(body, laws):
                    return True
    return False


def _is_whole(exponent: Expression) -> bool:
    value = constant_of(exponent)
    return value is not None and value.denominator == 1 and value > 0


# ---- functions -------------------------------------------------------------------------------------------------------


def _function(
    name: str,
    function: LawFunction,
    laws: Laws,
    values: Mapping[str, float],
    keywords: Collection[str],
    prefix: str,
) -> Iterator[str]:
    scalars = laws.numbers_behind(function)
    taken = {scalar_name(one) for one in laws.scalars}
    names = {one: free_name(one, taken | set(keywords)) for one, _ in function.parameters}
    result = free_name("y", {*names.values()})
    yield f"function {prefix}{name}"
    for one, unit in function.parameters:
        yield f"  input Real {names[one]}{unit_text(dimension_of(unit))};"
    for one in scalars:
        yield f"  input Real {scalar_name(one)}{unit_text(laws.scalars[one].dimension)} = {number(values[one])};"
    yield f"  output Real {result}{unit_text(function.dimension)};"
    if isinstance(function.body, LawTable):
        yield from _table(function.body, names[function.parameters[0][0]], result)
    else:
        used = laws.used_by(function)
        computed = [one.replace("final parameter ", "  ") for one in computed_scalars(used)]
        yield from ["protected", *computed] if computed else []
        yield "algorithm"
        yield f"  {result} := {_Printer(laws, names, '', prefix).text(function.body, _IF)};"
    yield f"end {prefix}{name};"


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, with as many underscores behind it as make it another one than those taken."""
    while name in taken:
        name += "_"
    return name


def _table(table: LawTable, x: str, y: str) -> Iterator[str]:
    """The cubic of the interval in which x lies; beyond the ends a line, or an assertion."""
    own = ("points", "cubics", "k", "t")
    points, cubics, k, t = (free_name(one, {x, y}) for one in own)
    count = len(table.x)
    rows = ", ".join("{" + ", ".join(number(float(c)) for c in row) + "}" for row in table.coefficients)
    first, last = (number(one) for one in (table.x[0], table.x[-1]))
    slopes = [number(one) for one in (table.end_slopes if table.outside == "linear" else (0.0, 0.0))]
    ends = zip((table.y[0], table.y[-1]), slopes, (first, last), strict=True)
    below, above = (f"{number(value)} + {slope}*({x} - {end})" for value, slope, end in ends)
    yield "protected"
    yield f"  constant Real {points}[{count}] = {{{', '.join(map(number, table.x))}}};"
    yield f"  constant Real {cubics}[{count - 1}, 4] = {{{rows}}};"
    yield f"  Integer {k};"
    yield f"  Real {t};"
    yield "algorithm"
    if table.outside == "error":
        yield f'  assert({x} >= {first} and {x} <= {last}, "the table ends at {first} and {last}");'
    yield f"  {k} := 1;"
    yield f"  while {k} < {count - 1} and {x} > {points}[{k} + 1] loop"
    yield f"    {k} := {k} + 1;"
    yield "  end while;"
    yield f"  {t} := {x} - {points}[{k}];"
    cubic = f"{cubics}[{k}, 1] + {t}*({cubics}[{k}, 2] + {t}*({cubics}[{k}, 3] + {t}*{cubics}[{k}, 4]))"
    yield f"  {y} := if {x} < {first} then {below} elseif {x} > {last} then {above} else {cubic};"


# ---- continuity ------------------------------------------------------------------------------------------------------

_TRIALS = 6
_EQUAL = 1e-9  # of the values beside the place


def is_continuous(branch: Branch, laws: Laws) -> bool:
    """Whether both sides of a condition that is linear in an argument agree where it changes: for values of scalars and
    other arguments that are drawn, so that they agree by the law and not by its numbers."""
    condition = branch.condition
    if not isinstance(condition, Comparison) or condition.operator in ("==", "!="):
        return False
    names = list(dict.fromkeys(one.name for one in walk_once(branch) if isinstance(one, Argument)))
    in_condition = [one.name for one in walk_once(condition) if isinstance(one, Argument)]
    if not in_condition:
        return False
    start = scalar_values(laws)
    for trial in range(_TRIALS):
        draw = random.Random(trial)
        scalars = scalar_values(laws, {name: start[name] * draw.uniform(0.6, 1.6) for name in laws.tunable})
        others = {name: draw.uniform(0.2, 1.8) for name in names}
        if not _agree(branch, condition, laws, scalars, others, in_condition[0]):
            return False
    return True


def _agree(
    branch: Branch,
    condition: Comparison,
    laws: Laws,
    scalars: Mapping[str, float],
    others: Mapping[str, float],
    name: str,
) -> bool:
    evaluation = Evaluation(laws, scalars)

    def at(node: Expression) -> Callable[[float], float]:
        def value(x: float) -> float:
            given = {one: Values(np.array(y), np.array(0.0)) for one, y in {**others, name: x}.items()}
            with np.errstate(all="ignore"):
                return float(evaluation.expression(node, given).value)

        return value

    side = at(Binary(NOWHERE, "-", condition.left, condition.right))
    zero, slope = side(0.0), side(1.0) - side(0.0)
    bend = max(abs(side(x) - zero - x * slope) for x in (-3.0, -1.0, 2.0))
    if slope == 0.0 or not bend <= _EQUAL * (abs(zero) + abs(slope)):
        return False
    place = -zero / slope
    first, second = at(branch.value), at(branch.other)
    values: Sequence[float] = (first(place), second(place))
    width = 0.5 * abs(place) or 0.5
    scale = max(map(abs, (*values, first(place + width), first(place - width))))
    return abs(values[0] - values[1]) <= _EQUAL * scale if np.isfinite(scale) else values[0] == values[1]
