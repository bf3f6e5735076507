"""The derivative of a law as a law, for elements that need more derivatives than dual numbers bring.

    d(a b) = da b + a db,   d(a / b) = (da - (a / b) db) / b,   d(a^c) = c a^(c - 1) da

The derivative of a chain of conditions is the chain of its parts' derivatives, so a kink has that of the side which the
law takes there.  What is 0 or 1 is left out.

Why not sympy: it takes 0.8 s to start, half of what a recipe with ten laws takes to build, and laws would have to be
translated to it and back all the same."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from fmu_builder.errors import InputError, Problem
from fmu_builder.laws.check import constant_of
from fmu_builder.laws.shared import walk_once
from fmu_builder.laws.tree import (
    Argument,
    Binary,
    Branch,
    Call,
    Comparison,
    Expression,
    Name,
    Negative,
    Number,
    Place,
)

_NOWHERE = Place(1, 1)
_ZERO, _ONE, _TWO = (Number(_NOWHERE, value, None) for value in (0.0, 1.0, 2.0))
MOST_NODES = 20_000


def derivative(expression: Expression, argument: str, where: str) -> Expression:
    """By `argument`, of an expression in which only builtins are called (forms.inlined).

    Raises InputError where a table is called, or the derivative is too large."""
    for node in walk_once(expression):
        if isinstance(node, Call) and node.name not in _BY_FIRST and node.name not in _OTHERS:
            what = f"'{node.name}' is given by points, whose derivative has jumps; write a formula, or give all points"
            raise InputError(Problem(where, f"{what} in the place of the law"))
    found = _derivative(expression, _By(argument))
    size = sum(1 for _ in walk_once(found))
    if size > MOST_NODES:
        raise InputError(
            Problem(where, f"its derivative has {size} different operators; at most {MOST_NODES} are allowed")
        )
    return found


def _is(node: Expression, value: float) -> bool:
    return isinstance(node, Number) and node.value == value


def _sum(a: Expression, b: Expression) -> Expression:
    return b if _is(a, 0.0) else a if _is(b, 0.0) else Binary(_NOWHERE, "+", a, b)


def _difference(a: Expression, b: Expression) -> Expression:
    return a if _is(b, 0.0) else _negative(b) if _is(a, 0.0) else Binary(_NOWHERE, "-", a, b)


def _negative(a: Expression) -> Expression:
    return a if _is(a, 0.0) else Negative(_NOWHERE, a)


def _product(a: Expression, b: Expression) -> Expression:
    if _is(a, 0.0) or _is(b, 0.0):
        return _ZERO
    return b if _is(a, 1.0) else a if _is(b, 1.0) else Binary(_NOWHERE, "*", a, b)


def _quotient(a: Expression, b: Expression) -> Expression:
    return a if _is(a, 0.0) or _is(b, 1.0) else Binary(_NOWHERE, "/", a, b)


def _call(name: str, *arguments: Expression) -> Expression:
    return Call(_NOWHERE, name, arguments)


def _square(a: Expression) -> Expression:
    return Binary(_NOWHERE, "^", a, _TWO)


_BY_FIRST: dict[str, Callable[[Expression], Expression]] = {  # functions of one argument
    "sin": lambda a: _call("cos", a),
    "cos": lambda a: _negative(_call("sin", a)),
    "tan": lambda a: _sum(_ONE, _square(_call("tan", a))),
    "asin": lambda a: _quotient(_ONE, _call("sqrt", _difference(_ONE, _square(a)))),
    "acos": lambda a: _negative(_quotient(_ONE, _call("sqrt", _difference(_ONE, _square(a))))),
    "atan": lambda a: _quotient(_ONE, _sum(_ONE, _square(a))),
    "exp": lambda a: _call("exp", a),
    "log": lambda a: _quotient(_ONE, a),
    "tanh": lambda a: _difference(_ONE, _square(_call("tanh", a))),
    "sqrt": lambda a: _quotient(_ONE, _product(_TWO, _call("sqrt", a))),
    "abs": lambda a: _call("sign", a),
    "sign": lambda a: _ZERO,
}
_OTHERS = ("min", "max", "atan2", "pow")


class _By:
    """The argument that the derivative is by, and the derivatives of parts of the expression, with these parts."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.known: dict[int, tuple[Expression, Expression]] = {}


def _derivative(node: Expression, x: _By) -> Expression:
    if (known := x.known.get(id(node))) is None:
        known = x.known[id(node)] = (node, _derivative_of(node, x))
    return known[1]


def _derivative_of(node: Expression, x: _By) -> Expression:
    match node:
        case Number() | Name():
            return _ZERO
        case Argument():
            return _ONE if node.name == x.name else _ZERO
        case Negative():
            return _negative(_derivative(node.operand, x))
        case Branch():
            value, other = _derivative(node.value, x), _derivative(node.other, x)
            return value if _is(value, 0.0) and _is(other, 0.0) else Branch(_NOWHERE, node.condition, value, other)
        case Binary(operator="^"):
            return _of_power(node.left, node.right, x)
        case Binary():
            return _of_binary(node, x)
        case Call(name="pow"):
            return _of_power(node.arguments[0], node.arguments[1], x)
        case Call(name="min" | "max"):
            a, b = node.arguments  # as C does: the second where it is smaller, or larger
            condition = Comparison(_NOWHERE, "<" if node.name == "min" else ">", b, a)
            return _derivative(Branch(_NOWHERE, condition, b, a), x)
        case Call(name="atan2"):
            y, z = node.arguments
            above = _difference(_product(z, _derivative(y, x)), _product(y, _derivative(z, x)))
            return _quotient(above, _sum(_square(y), _square(z)))
        case Call():
            inner = _derivative(node.arguments[0], x)
            return _ZERO if _is(inner, 0.0) else _product(_BY_FIRST[node.name](node.arguments[0]), inner)


def _of_binary(node: Binary, x: _By) -> Expression:
    a, b = node.left, node.right
    da, db = _derivative(a, x), _derivative(b, x)
    match node.operator:
        case "+":
            return _sum(da, db)
        case "-":
            return _difference(da, db)
        case "*":
            return _sum(_product(da, b), _product(a, db))
    return _quotient(_difference(da, _product(node, db)), b)


def _of_power(base: Expression, exponent: Expression, x: _By) -> Expression:
    inner, of_exponent = _derivative(base, x), _derivative(exponent, x)
    fraction = constant_of(exponent)
    if fraction is not None:
        power = Number(_NOWHERE, float(fraction.numerator), None)
        scale: Expression = power
        if fraction.denominator != 1:
            scale = Binary(_NOWHERE, "/", power, Number(_NOWHERE, float(fraction.denominator), None))
        return _product(_product(scale, _lower(base, fraction - 1)), inner)
    whole = Binary(_NOWHERE, "^", base, exponent)
    grown = _product(of_exponent, _call("log", base)) if not _is(of_exponent, 0.0) else _ZERO
    moved = _quotient(_product(exponent, inner), base)
    return _product(whole, _sum(grown, moved))


def _lower(base: Expression, power: Fraction) -> Expression:
    if power == 0:
        return _ONE
    if power == 1:
        return base
    size: Expression = Number(_NOWHERE, float(abs(power.numerator)), None)
    if power.denominator != 1:
        size = Binary(_NOWHERE, "/", size, Number(_NOWHERE, float(power.denominator), None))
    raised = base if size == Number(_NOWHERE, 1.0, None) else Binary(_NOWHERE, "^", base, size)
    return raised if power > 0 else _quotient(_ONE, raised)
