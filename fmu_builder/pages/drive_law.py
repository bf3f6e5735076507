"""Laws as JavaScript: of the time t for driven inputs, and of any arguments for their curves.

Values are those of the run up to rounding: browsers bring their own elementary functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
    return JavaScript().expression(derivative(body, "t", "[drive]") if signal.is_slope else body)


@dataclass(frozen=True)
class JavaScript:
    """Expressions of laws in JavaScript.   before: of the names of arguments, of scalars, and of functions of laws"""

    arguments: str = ""
    scalars: str = "Math."  # PI, the only one in [drive]
    functions: Mapping[str, str] = field(default_factory=dict)

    def expression(self, node: Expression) -> str:
        match node:
            case Number():
                return f"({node.value!r})"
            case Argument():
                return f"{self.arguments}{node.name}"
            case Name():
                return f"{self.scalars}{node.name}"
            case Negative():
                return f"(-{self.expression(node.operand)})"
            case Binary():
                return self._binary(node)
            case Branch():
                condition = self._condition(node.condition)
                return f"({condition} ? {self.expression(node.value)} : {self.expression(node.other)})"
            case Call():
                called = self.functions.get(node.name, f"Math.{node.name}")
                return f"{called}({', '.join(map(self.expression, node.arguments))})"

    def _binary(self, node: Binary) -> str:
        left, right = self.expression(node.left), self.expression(node.right)
        if node.operator != "^":
            return f"({left} {node.operator} {right})"
        halves = half_power(node)
        if halves is None:
            return f"Math.pow({left}, {right})"
        # as numeric.py, by products
        whole = {0: [], 1: ["a"], 2: ["a*a"], 3: ["a*a*a"], 4: ["(a*a)*(a*a)"]}[halves // 2]
        return f"((a) => {'*'.join([*whole, *(['Math.sqrt(a)'] * (halves % 2))])})({left})"

    def _condition(self, node: Condition) -> str:
        match node:
            case Comparison():
                operator = _OPERATORS.get(node.operator, node.operator)
                return f"({self.expression(node.left)} {operator} {self.expression(node.right)})"
            case Logic():
                return f"({self._condition(node.left)} {node.operator} {self._condition(node.right)})"
            case Inverse():
                return f"(!{self._condition(node.operand)})"
