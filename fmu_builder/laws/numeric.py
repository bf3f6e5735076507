"""Laws evaluated in numpy: values over arrays, with the derivative by one of the arguments or scalars.

Values are those of the generated C up to rounding: the same order of operations, and elementary functions that differ
by less than a unit of the last place.  Only the branch that a condition selects affects the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmu_builder.laws.check import constant_of
from fmu_builder.laws.definitions import LawFunction, Laws
from fmu_builder.laws.forms import SIDE
from fmu_builder.laws.shared import repeated
from fmu_builder.laws.tables import LawTable
from fmu_builder.laws.tree import (
    Argument,
    Binary,
    Branch,
    Call,
    Comparison,
    Condition,
    Expression,
    Inverse,
    Logic,
    Name,
    Negative,
    Number,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Values:
    """Values and their derivatives, arrays that fit each other."""

    value: Array
    slope: Array


def evaluate(
    law: LawFunction,
    laws: Laws,
    arguments: Mapping[str, ArrayLike],
    by: str | None = None,
    scalars: Mapping[str, float] | None = None,
) -> Values:
    """The law over arrays of its arguments, SI, shapes that broadcast; NaN or infinite where it has no value.

    by       the argument that slopes are derivatives by; without it they are 0
    scalars  values of scalars, SI, in place of those of the text
    At a kink the slope is that of the branch the law selects there."""
    with np.errstate(all="ignore"):
        known = scalar_values(laws, scalars)
        given = {
            name: Values(np.asarray(value, dtype=np.float64), np.float64(name == by) * np.ones(np.shape(value)))
            for name, value in arguments.items()
        }
        result = Evaluation(laws, known).function(law, [given[name] for name, _ in law.parameters])
        shape = np.broadcast_shapes(*(np.shape(one.value) for one in given.values()))
        return Values(np.broadcast_to(result.value, shape), np.broadcast_to(result.slope, shape))


def scalar_values(laws: Laws, given: Mapping[str, float] | None = None) -> dict[str, float]:
    """SI values of all scalars; those given take the place of definitions, and others follow them."""
    found: dict[str, float] = {}
    with np.errstate(all="ignore"):
        for name, scalar in laws.scalars.items():
            value = float(Evaluation(laws, found).expression(scalar.value, {}).value)
            found[name] = given.get(name, value) if given else value
    return found


def _constant(value: float) -> Values:
    return Values(np.asarray(value, dtype=np.float64), np.asarray(0.0))


class Frame(dict[str, Values]):
    """Values of the arguments of a body, and by id those of what is repeated in it."""

    def __init__(self, given: Mapping[str, Values], body: Expression, evaluation: Evaluation) -> None:
        super().__init__(given)
        self.body = body  # is kept, so that nothing else gets an id of its nodes
        self.known: dict[int, Values] = {}
        for node in repeated(body):
            self.known[id(node)] = evaluation.expression(node, self)


class Evaluation:
    def __init__(self, laws: Laws, scalars: Mapping[str, float]) -> None:
        self.laws, self.scalars = laws, scalars

    def function(self, law: LawFunction, arguments: list[Values]) -> Values:
        if isinstance(law.body, LawTable):
            value, slope = law.body.at(arguments[0].value)
            return Values(value, slope * arguments[0].slope)
        given = dict(zip((name for name, _ in law.parameters), arguments, strict=True))
        return self.expression(*self.prepared(law.body, given))

    def prepared(self, body: Expression, given: Mapping[str, Values]) -> tuple[Expression, Mapping[str, Values]]:
        """The body and what it is evaluated with; of one that is large when written out equal parts are one."""
        shared = self.laws.shared(body)
        return (body, given) if shared is None else (shared, Frame(given, shared, self))

    def expression(self, node: Expression, given: Mapping[str, Values]) -> Values:
        if isinstance(given, Frame) and id(node) in given.known:
            return given.known[id(node)]
        match node:
            case Number():
                return _constant(node.value)
            case Argument():
                return given[node.name]
            case Name():
                return _constant(self.scalars[node.name])
            case Negative():
                operand = self.expression(node.operand, given)
                return Values(-operand.value, -operand.slope)
            case Binary():
                return self._binary(node, given)
            case Branch():
                chosen = self.condition(node.condition, given)
                a, b = self.expression(node.value, given), self.expression(node.other, given)
                return Values(np.where(chosen, a.value, b.value), np.where(chosen, a.slope, b.slope))
            case Call():
                arguments = [self.expression(argument, given) for argument in node.arguments]
                if node.name.startswith(SIDE):
                    table = self.laws.functions[node.name.removeprefix(SIDE)].body
                    assert isinstance(table, LawTable)
                    return Values(table.side(arguments[0].value), np.asarray(0.0))
                if node.name in self.laws.functions:
                    return self.function(self.laws.functions[node.name], arguments)
                return _power(*arguments) if node.name == "pow" else _BUILTINS[node.name](*arguments)

    def condition(self, node: Condition, given: Mapping[str, Values]) -> NDArray[np.bool_]:
        match node:
            case Comparison():
                left, right = self.expression(node.left, given).value, self.expression(node.right, given).value
                return np.asarray(_COMPARISONS[node.operator](left, right))
            case Logic():
                both = self.condition(node.left, given), self.condition(node.right, given)
                return both[0] & both[1] if node.operator == "&&" else both[0] | both[1]
            case Inverse():
                return ~self.condition(node.operand, given)

    def _binary(self, node: Binary, given: Mapping[str, Values]) -> Values:
        a, b = self.expression(node.left, given), self.expression(node.right, given)
        match node.operator:
            case "+":
                return Values(a.value + b.value, a.slope + b.slope)
            case "-":
                return Values(a.value - b.value, a.slope - b.slope)
            case "*":
                return _product(a, b)
            case "/":
                return Values(a.value / b.value, (a.slope - a.value / b.value * b.slope) / b.value)
        halves = half_power(node)
        return _power(a, b) if halves is None else _power_by_products(a, halves)


def half_power(node: Binary) -> int | None:
    """Twice the exponent of a power that products and a root make: 1/2, 1, 3/2 ... 4; else None."""
    exponent = constant_of(node.right)
    if exponent is None or exponent.denominator > 2 or not 0 < exponent <= 4:
        return None
    return int(2 * exponent)


def _power_by_products(a: Values, halves: int) -> Values:
    """As the C does: a a, a a a, (a a) (a a), then times the root."""
    square = Values(a.value * a.value, 2.0 * a.value * a.slope)
    whole = {1: a, 2: square, 3: _product(square, a), 4: _product(square, square)}.get(halves // 2)
    if halves % 2 == 0:
        assert whole is not None
        return whole
    root = _sqrt(a)
    return root if whole is None else _product(whole, root)


def _product(a: Values, b: Values) -> Values:
    return Values(a.value * b.value, a.slope * b.value + a.value * b.slope)


def _sqrt(a: Values) -> Values:
    root = np.sqrt(a.value)
    return Values(root, np.where(root > 0.0, a.slope / (2.0 * root), 0.0))


def _power(a: Values, b: Values) -> Values:
    value = np.power(a.value, b.value)
    by_a = np.where(a.slope == 0.0, 0.0, b.value * np.power(a.value, b.value - 1.0) * a.slope)
    by_b = np.where((b.slope == 0.0) | (a.value <= 0.0), 0.0, value * np.log(a.value) * b.slope)
    return Values(value, by_a + by_b)


def _of_value(function: Callable[[Array], Array], slope: Callable[[Array, Array], Array]) -> Callable[[Values], Values]:
    """An elementary function; `slope` takes argument and value."""

    def apply(a: Values) -> Values:
        value = function(a.value)
        return Values(value, np.where(a.slope == 0.0, 0.0, slope(a.value, value) * a.slope))

    return apply


def _sign(a: Values) -> Values:
    return Values(np.where(a.value > 0.0, 1.0, np.where(a.value < 0.0, -1.0, 0.0)), np.asarray(0.0))


def _abs(a: Values) -> Values:
    negative = a.value < 0.0
    return Values(np.where(negative, -a.value, a.value), np.where(negative, -a.slope, a.slope))


def _min(a: Values, b: Values) -> Values:
    second = b.value < a.value
    return Values(np.where(second, b.value, a.value), np.where(second, b.slope, a.slope))


def _max(a: Values, b: Values) -> Values:
    second = b.value > a.value
    return Values(np.where(second, b.value, a.value), np.where(second, b.slope, a.slope))


def _atan2(a: Values, b: Values) -> Values:
    square = a.value * a.value + b.value * b.value
    return Values(np.arctan2(a.value, b.value), (b.value * a.slope - a.value * b.slope) / square)


_BUILTINS: dict[str, Callable[..., Values]] = {
    "sin": _of_value(np.sin, lambda x, _: np.cos(x)),
    "cos": _of_value(np.cos, lambda x, _: -np.sin(x)),
    "tan": _of_value(np.tan, lambda x, y: 1.0 + y * y),
    "asin": _of_value(np.arcsin, lambda x, _: 1.0 / np.sqrt(1.0 - x * x)),
    "acos": _of_value(np.arccos, lambda x, _: -1.0 / np.sqrt(1.0 - x * x)),
    "atan": _of_value(np.arctan, lambda x, _: 1.0 / (1.0 + x * x)),
    "exp": _of_value(np.exp, lambda _, y: y),
    "log": _of_value(np.log, lambda x, _: 1.0 / x),
    "tanh": _of_value(np.tanh, lambda x, _: 1.0 / np.cosh(x) ** 2),
    "sqrt": _sqrt,
    "abs": _abs,
    "sign": _sign,
    "min": _min,
    "max": _max,
    "atan2": _atan2,
}
_COMPARISONS: dict[str, Callable[[Array, Array], NDArray[np.bool_]]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
