"""Names, arity and units of laws: every fault with line, caret and, for units, both dimensions.

Dimensions are powers of kg, m, s, A, K, mol, cd; the radian counts as dimensionless.  The number 0 without unit
fits any dimension.  A power with a dimension needs a number as exponent, or a quotient of two; fractions are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from fmu_builder.errors import Problem, did_you_mean
from fmu_builder.laws.definitions import LawFunction, Scalar
from fmu_builder.laws.dimensions import NONE, Dimension, dimension_of, text_of
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
    Place,
    Source,
)
from fmu_builder.units import parse_unit

# Arguments, and what a builtin does to dimensions: "number" takes and gives none, "same" takes any, "equal" two alike.
BUILTINS: dict[str, tuple[int, str]] = {
    **{name: (1, "number") for name in ("sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "tanh")},
    **{name: (1, "same") for name in ("abs", "sign", "sqrt")},
    **{name: (2, "equal") for name in ("min", "max", "atan2")},
    "pow": (2, "power"),
}
RESERVED = ("PI", "scalar", "function", *BUILTINS)


def constant_of(node: Expression) -> Fraction | None:
    """The value of a number without dimension, of its negative, and of quotients of these; else None."""
    match node:
        case Number():
            return Fraction(repr(node.value)) if node.unit is None or node.unit == parse_unit("1") else None
        case Negative():
            value = constant_of(node.operand)
            return None if value is None else -value
        case Binary(operator="/"):
            left, right = constant_of(node.left), constant_of(node.right)
            return left / right if left is not None and right else None
    return None


class Checker:
    """Finds the dimension of expressions, and every fault on the way.

    scalars, functions   what is defined so far
    later                names that are defined further down -> where, "line 7"
    bare                 whether `name` may stand for `#name`"""

    def __init__(
        self,
        source: Source,
        scalars: Mapping[str, Scalar],
        functions: Mapping[str, LawFunction],
        problems: list[Problem],
        later: Mapping[str, str] | None = None,
        bare: bool = False,
    ) -> None:
        self.source, self.scalars, self.functions, self.problems = source, scalars, functions, problems
        self.later, self.bare = later or {}, bare
        self.parameters: Mapping[str, Dimension] = {}
        self.inside = ""  # the function that is being defined

    def fault(self, place: Place, what: str) -> None:
        self.problems.append(self.source.problem(place, what))

    def check(self, body: Expression, parameters: Mapping[str, Dimension], inside: str = "") -> Dimension | None:
        """The dimension of the body; None if it is the number 0 or faulty."""
        self.parameters, self.inside = parameters, inside
        return self._expression(body)

    def _expression(self, node: Expression) -> Dimension | None:
        match node:
            case Number():
                if node.unit is None:
                    return None if node.value == 0.0 else NONE
                return dimension_of(node.unit)
            case Argument():
                return self._argument(node)
            case Name():
                return self._name(node)
            case Negative():
                return self._expression(node.operand)
            case Binary():
                return self._binary(node)
            case Branch():
                self._condition(node.condition)
                value, other = self._expression(node.value), self._expression(node.other)
                return self._equal(node.place, "the values of a chain of conditions must have", value, other)
            case Call():
                return self._call(node)

    def _condition(self, node: Node) -> None:
        match node:
            case Comparison():
                left, right = self._expression(node.left), self._expression(node.right)
                self._equal(node.place, f"'{node.operator}' needs", left, right)
            case Logic():
                self._condition(node.left)
                self._condition(node.right)
            case Inverse():
                self._condition(node.operand)

    def _equal(self, place: Place, rule: str, left: Dimension | None, right: Dimension | None) -> Dimension | None:
        if left is not None and right is not None and left != right:
            self.fault(place, f"{rule} equal dimensions: {text_of(left)} on the left, {text_of(right)} on the right")
            return None
        return right if left is None else left

    def _argument(self, node: Argument) -> Dimension | None:
        if node.name in self.parameters:
            return self.parameters[node.name]
        if self.parameters:
            near = self._near(f"#{node.name}", self._marked())
            whose = f"{self.inside} has" if self.inside else "there is"
            self.fault(node.place, f"#{node.name}: {whose} no parameter of this name{near}")
        else:
            self.fault(node.place, f"#{node.name}: a scalar has no parameters; only scalars and numbers may stand here")
        return None

    def _name(self, node: Name) -> Dimension | None:
        if node.name in self.scalars:
            return self.scalars[node.name].dimension
        if self.bare and node.name in self.parameters:
            return self.parameters[node.name]
        if node.name == self.inside:
            self.fault(node.place, f"'{node.name}' stands in its own definition")
        elif node.name in self.functions or node.name in BUILTINS:
            self.fault(node.place, f"'{node.name}' is a function: write {node.name}(...)")
        elif node.name in self.parameters:
            self.fault(node.place, f"'{node.name}' is a parameter of {self.inside}: write #{node.name}")
        else:
            self._unknown(node.place, node.name, [*self.scalars, *self._marked(), *self.functions])
        return None

    def _unknown(self, place: Place, name: str, known: Sequence[str]) -> None:
        if name in self.later:
            line = f" in {self.later[name]}" if self.later[name] else ""
            self.fault(place, f"'{name}' is used before its definition{line}: move the definition up")
        else:
            self.fault(place, f"'{name}' is unknown{self._near(name, known)}")

    def _marked(self) -> list[str]:
        return [f"#{name}" for name in self.parameters]

    def _near(self, name: str, known: Sequence[str]) -> str:
        is_time = name.lstrip("#").casefold() in ("t", "time") and "t" in self.parameters
        usual = "#t" if is_time else "pi" if name.casefold() == "pi" else ""
        return f"; did you mean '{usual}'?" if usual else did_you_mean(name, known)

    def _binary(self, node: Binary) -> Dimension | None:
        if node.operator == "^":
            return self._power(node.place, node.left, node.right)
        (left, left_known), (right, right_known) = self._factor(node.left), self._factor(node.right)
        if node.operator in "+-":
            return self._equal(node.place, f"'{node.operator}' needs", left, right)
        sign = 1 if node.operator == "*" else -1
        if node.operator == "/" and isinstance(node.right, Number) and node.right.value == 0.0:
            self.fault(node.place, "division by zero")
        if not (left_known and right_known):
            return None
        return tuple(a + sign * b for a, b in zip(left or NONE, right or NONE, strict=True))

    def _factor(self, node: Expression) -> tuple[Dimension | None, bool]:
        """The dimension, and whether it is known: of what is faulty it is None, as of the number 0, and a product with
        it has none either."""
        before = len(self.problems)
        dimension = self._expression(node)
        return dimension, dimension is not None or len(self.problems) == before

    def _power(self, place: Place, base: Expression, exponent: Expression) -> Dimension | None:
        (of_base, is_known), of_exponent = self._factor(base), self._expression(exponent)
        if of_exponent not in (None, NONE):
            self.fault(place, f"an exponent must be a number, not {text_of(of_exponent or NONE)}")
            return None
        if of_base in (None, NONE):
            return NONE if is_known else None
        power = constant_of(exponent)
        if power is None:
            what = (
                f"{text_of(of_base or NONE)} can be raised to a number only, such as 2 or 3/2; "
                "divide the base by a quantity of its dimension"
            )
            self.fault(place, what)
            return None
        return tuple(a * power for a in of_base or NONE)

    def _call(self, node: Call) -> Dimension | None:
        if node.name in self.functions:
            function = self.functions[node.name]
            given = [self._expression(argument) for argument in node.arguments]
            if self._arity(node, [name for name, _ in function.parameters]):
                for (name, needed), found, argument in zip(function.parameters, given, node.arguments, strict=True):
                    if found is not None and found != dimension_of(needed):
                        what = f"{node.name}: {name} must have the dimension {text_of(dimension_of(needed))}"
                        self.fault(argument.place, f"{what}, not {text_of(found)}")
            return function.dimension
        if node.name in BUILTINS:
            return self._builtin(node, *BUILTINS[node.name])
        for argument in node.arguments:
            self._expression(argument)
        if node.name == self.inside:
            self.fault(node.place, f"{node.name} calls itself: recursion is not allowed")
        elif node.name in self.scalars or node.name in self.parameters:
            what = "a parameter" if node.name in self.parameters else "a scalar"
            self.fault(node.place, f"'{node.name}' is {what}, no function")
        else:
            self._unknown(node.place, node.name, [*self.functions, *BUILTINS])
        return None

    def _arity(self, node: Call, names: Sequence[str]) -> bool:
        count = len(node.arguments)
        if count != len(names):
            needed = f"{len(names)} argument{'s' * (len(names) != 1)} ({', '.join(names)})"
            self.fault(node.place, f"{node.name} takes {needed}, {count} given")
        return count == len(names)

    def _builtin(self, node: Call, count: int, kind: str) -> Dimension | None:
        if kind == "power" and len(node.arguments) == count:
            return self._power(node.place, *node.arguments)
        given = [self._expression(argument) for argument in node.arguments]
        if not self._arity(node, ["y", "x"] if node.name == "atan2" else ["a", "b"][:count]):
            return None
        if kind == "number":
            if given[0] not in (None, NONE):
                what = f"{node.name} takes a number without unit, not {text_of(given[0] or NONE)}"
                self.fault(node.arguments[0].place, what)
            return NONE
        if kind == "equal":
            common = self._equal(node.place, f"{node.name} needs", given[0], given[1])
            return NONE if node.name == "atan2" else common
        if node.name == "sqrt" and given[0] is not None:
            return tuple(power / 2 for power in given[0])
        return NONE if node.name == "sign" else given[0]
