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
from fmu_builder.laws.forms import MOST_NODES
from fmu_builder.laws.made_nodes import NOWHERE, ONE, ZERO, fraction, powered
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
)

_TWO = Number(NOWHERE, 2.0, None)


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
    return b if _is(a, 0.0) else a if _is(b, 0.0) else Binary(NOWHERE, "+", a, b)


def _difference(a: Expression, b: Expression) -> Expression:
    return a if _is(b, 0.0) else _negative(b) if _is(a, 0.0) else Binary(NOWHERE, "-", a, b)


def _negative(a: Expression) -> Expression:
    return a if _is(a, 0.0) else Negative(NOWHERE, a)


def _product(a: Expression, b: Expression) -> Expression:
    if _is(a, 0.0) or _is(b, 0.0):
        return ZERO
    return b if _is(a, 1.0) else a if _is(b, 1.0) else Binary(NOWHERE, "*", a, b)


def _quotient(a: Expression, b: Expression) -> Expression:
    return a if _is(a, 0.0) or _is(b, 1.0) else Binary(NOWHERE, "/", a, b)


def _call(name: str, *arguments: Expression) -> Expression:
    return Call(NOWHERE, name, arguments)


def _square(a: Expression) -> Expression:
    return Binary(NOWHERE, "^", a, _TWO)


_BY_FIRST: dict[str, Callable[[Expression], Expression]] = {  # functions of one argument
    "sin": lambda a: _call("cos", a),
    "cos": lambda a: _negative(_call("sin", a)),
    "tan": lambda a: _sum(ONE, _square(_call("tan", a))),
    "asin": lambda a: _quotient(ONE, _call("sqrt", _difference(ONE, _square(a)))),
    "acos": lambda a: _negative(_quotient(ONE, _call("sqrt", _difference(ONE, _square(a))))),
    "atan": lambda a: _quotient(ONE, _sum(ONE, _square(a))),
    "exp": lambda a: _call("exp", a),
    "log": lambda a: _quotient(ONE, a),
    "tanh": lambda a: _difference(ONE, _square(_call("tanh", a))),
    "sqrt": lambda a: _quotient(ONE, _product(_TWO, _call("sqrt", a))),
    "abs": lambda a: _call("sign", a),
    "sign": lambda a: ZERO,
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
            return ZERO
        case Argument():
            return ONE if node.name == x.name else ZERO
        case Negative():
            return _negative(_derivative(node.operand, x))
        case Branch():
            value, other = _derivative(node.value, x), _derivative(node.other, x)
            return value if _is(value, 0.0) and _is(other, 0.0) else Branch(NOWHERE, node.condition, value, other)
        case Binary(operator="^"):
            return _of_power(node.left, node.right, x)
        case Binary():
            return _of_binary(node, x)
        case Call(name="pow"):
            return _of_power(node.arguments[0], node.arguments[1], x)
        case Call(name="min" | "max"):
            a, b = node.arguments  # as C does: the second where it is smaller, or larger
            condition = Comparison(NOWHERE, "<" if node.name == "min" else ">", b, a)
            return _derivative(Branch(NOWHERE, condition, b, a), x)
        case Call(name="atan2"):
            y, z = node.arguments
            above = _difference(_product(z, _derivative(y, x)), _product(y, _derivative(z, x)))
            return _quotient(above, _sum(_square(y), _square(z)))
        case Call():
            inner = _derivative(node.arguments[0], x)
            return ZERO if _is(inner, 0.0) else _product(_BY_FIRST[node.name](node.arguments[0]), inner)


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
    power = constant_of(exponent)
    if power is not None:
        return _product(_product(fraction(power), _lower(base, power - 1)), inner)
    whole = Binary(NOWHERE, "^", base, exponent)
    grown = _product(of_exponent, _call("log", base)) if not _is(of_exponent, 0.0) else ZERO
    moved = _quotient(_product(exponent, inner), base)
    return _product(whole, _sum(grown, moved))


def _lower(base: Expression, power: Fraction) -> Expression:
    if power == 0:
        return ONE
    raised = powered(base, abs(power))
    return raised if power > 0 else _quotient(ONE, raised)
