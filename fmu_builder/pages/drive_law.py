"""A law of the time t as JavaScript, for driven inputs.

Values are those of the run up to rounding: browsers bring their own elementary functions."""

from __future__ import annotations

from fmu_builder.cosim.scenario_inputs import LawSignal
from fmu_builder.laws.derivatives import derivative
from fmu_builder.laws.numeric import half_power
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

_OPERATORS = {"==": "===", "!=": "!=="}


def java_script(signal: LawSignal) -> str:
    """The law of the signal, or its slope, as an expression of t, s."""
    body = signal.law.body
    assert not isinstance(body, LawTable)  # a text in [drive] is an expression
    return _expression(derivative(body, "t", "[drive]") if signal.is_slope else body)


def _expression(node: Expression) -> str:
    match node:
        case Number():
            return f"({node.value!r})"
        case Argument():
            return node.name
        case Name():
            return f"Math.{node.name}"  # PI, the only one in [drive]
        case Negative():
            return f"(-{_expression(node.operand)})"
        case Binary():
            return _binary(node)
        case Branch():
            return f"({_condition(node.condition)} ? {_expression(node.value)} : {_expression(node.other)})"
        case Call():
            return f"Math.{node.name}({', '.join(map(_expression, node.arguments))})"


def _binary(node: Binary) -> str:
    left, right = _expression(node.left), _expression(node.right)
    if node.operator != "^":
        return f"({left} {node.operator} {right})"
    halves = half_power(node)
    if halves is None:
        return f"Math.pow({left}, {right})"
    # as numeric.py, by products
    whole = {0: [], 1: ["a"], 2: ["a*a"], 3: ["a*a*a"], 4: ["(a*a)*(a*a)"]}[halves // 2]
    return f"((a) => {'*'.join([*whole, *(['Math.sqrt(a)'] * (halves % 2))])})({left})"


def _condition(node: Condition) -> str:
    match node:
        case Comparison():
            operator = _OPERATORS.get(node.operator, node.operator)
            return f"({_expression(node.left)} {operator} {_expression(node.right)})"
        case Logic():
            return f"({_condition(node.left)} {node.operator} {_condition(node.right)})"
        case Inverse():
            return f"(!{_condition(node.operand)})"
