"""Forms of a law: its kinks, its integral, its definition without calls of other functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from fmu_builder.errors import InputError, Problem
from fmu_builder.laws.check import constant_of
from fmu_builder.laws.definitions import LawFunction, Laws
from fmu_builder.laws.made_nodes import NOWHERE, ONE, ZERO, as_branch, powered
from fmu_builder.laws.shared import Shapes, bottom_up, walk_once, written_size
from fmu_builder.laws.tables import LawTable
from fmu_builder.laws.tree import (
    Argument,
    Binary,
    Branch,
    Call,
    Comparison,
    Expression,
    Negative,
    Node,
    Number,
    children,
    with_parts,
    with_values,
)

SIDE = "side of "  # a call of "side of f", f a table: changes its sign at every point of the table
MOST_NODES = 20_000  # different ones, of a law or its derivative
MOST_DEEP = 200  # nested operators; Python and C compilers handle them by recursion
MOST_KINKS = 64


def inlined(law: LawFunction, laws: Laws, where: str) -> Expression:
    """The law as one expression of its arguments and of scalars, with calls of builtins and tables only.

    Raises InputError if that is too large or too deep."""
    if isinstance(law.body, LawTable):
        return Call(NOWHERE, law.name, (Argument(NOWHERE, law.parameters[0][0]),))
    # each after those it calls, so that nothing here recurses through calls
    called = {
        name: (tuple(parameter for parameter, _ in function.parameters), function.body)
        for name, function in laws.used_by(law).functions.items()
        if not isinstance(function.body, LawTable)
    }
    extents: dict[str, tuple[tuple[str, ...], _Extent]] = {}
    for name, (parameters, body) in called.items():
        extents[name] = parameters, _extent(body, extents)
    whole = _extent(law.body, extents)
    depth = max([whole.depth, *whole.depths.values()])
    if depth > MOST_DEEP:
        what = f"the law nests {depth} operators when its functions are expanded"
        raise InputError(Problem(where, f"{what}; at most {MOST_DEEP} are allowed"))
    inliner = _Inliner(where)
    for name, (parameters, body) in called.items():
        inliner.bodies[name] = parameters, inliner.put_in(body, {}, {})
    found = inliner.put_in(law.body, {}, {})
    size = sum(1 for _ in walk_once(found))
    if size > MOST_NODES:
        raise InputError(_too_large(str(size), where))
    return found  # type: ignore[return-value]


def _too_large(size: str, where: str) -> Problem:
    what = f"the law has {size} different operators when its functions are expanded; at most {MOST_NODES} are allowed"
    return Problem(where, what)


class _Inliner:
    """Puts bodies in the place of calls; what is equal is one node.   bodies: of functions, with the names of their
    parameters, in which nothing but builtins and tables is called."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.bodies: dict[str, tuple[tuple[str, ...], Node]] = {}
        self._shapes = Shapes()
        self._called: dict[tuple[str | int, ...], Node] = {}

    def put_in(self, node: Node, given: Mapping[str, Node], known: dict[int, Node]) -> Node:
        """The node with these expressions in the place of arguments.   known: what was made of which node so far"""
        if isinstance(node, Argument) and node.name in given:
            return given[node.name]
        if (found := known.get(id(node))) is not None:
            return found
        parts = tuple([self.put_in(child, given, known) for child in children(node)])
        if isinstance(node, Call) and node.name in self.bodies:
            names, body = self.bodies[node.name]
            call: tuple[str | int, ...] = (node.name, *map(id, parts))
            if call not in self._called:
                self._called[call] = self.put_in(body, dict(zip(names, parts, strict=True)), {})
            made = self._called[call]
        else:
            made = self._shapes.one(with_parts(node, parts))
        if len(self._shapes) > 3 * MOST_NODES:
            raise InputError(_too_large(f"more than {3 * MOST_NODES}", self.where))
        known[id(node)] = made
        return made


@dataclass(frozen=True)
class _Extent:
    """Operators of an expression and their depth, and for each argument how often it is used and below how many of
    them at most: enough to count a call without writing it out."""

    size: int
    depth: int
    uses: Mapping[str, int]
    depths: Mapping[str, int]


def _joined_extent(own: int, parts: Iterable[tuple[_Extent, int, int]]) -> _Extent:
    """Of `own` operators with parts, each of them `count` times and at most so many operators below the top."""
    size = depth = own
    uses: Counter[str] = Counter()
    depths: dict[str, int] = {}
    for part, count, below in parts:
        size, depth = size + count * part.size, max(depth, below + part.depth)
        for name, number in part.uses.items():
            uses[name] += count * number
            depths[name] = max(depths.get(name, 0), below + part.depths[name])
    return _Extent(size, depth, uses, depths)


def _extent(node: Node, known: Mapping[str, tuple[tuple[str, ...], _Extent]]) -> _Extent:
    if isinstance(node, Argument):
        return _Extent(0, 0, {node.name: 1}, {node.name: 0})
    parts = [_extent(child, known) for child in children(node)]
    if isinstance(node, Call) and node.name in known:
        parameters, body = known[node.name]
        given = dict(zip(parameters, parts, strict=True))
        put_in = _joined_extent(0, ((given[name], count, body.depths[name]) for name, count in body.uses.items()))
        return replace(put_in, size=put_in.size + body.size, depth=max(put_in.depth, body.depth))
    return _joined_extent(1, ((part, 1, 1) for part in parts))


# ---- kinks -----------------------------------------------------------------------------------------------------------


def kinks(expression: Expression, laws: Laws, where: str) -> tuple[Expression, ...]:
    """Functions of the arguments that change sign where the law may have a kink or a jump: differences of the two sides
    of every comparison and of the arguments of min and max, arguments of abs and sign, points of tables.

    `expression` is inlined.  Above zero is where a strict comparison holds, or one that is not strict does not, so that
    the operator decides to which side zero belongs.  Raises InputError if there are too many."""
    found: dict[int, Expression] = {}
    shapes, follows = Shapes(), _Follows()
    for node in walk_once(expression):
        for one in _kinks_of(node, laws):
            if follows.any(one):
                kink = shapes.one(one)
                found.setdefault(id(kink), one)
    if len(found) > MOST_KINKS:
        raise InputError(Problem(where, f"the law has {len(found)} conditions; at most {MOST_KINKS} are located"))
    return tuple(found.values())


def _kinks_of(node: Node, laws: Laws) -> tuple[Expression, ...]:
    match node:
        case Comparison(operator="<" | ">="):
            return (Binary(NOWHERE, "-", node.right, node.left),)
        case Comparison():
            return (Binary(NOWHERE, "-", node.left, node.right),)
        case Call(name="min" | "max"):
            return (Binary(NOWHERE, "-", *node.arguments),)
        case Call(name="abs" | "sign"):
            return node.arguments
        case Call() if node.name in laws.functions:
            return (Call(NOWHERE, SIDE + node.name, node.arguments),)
    return ()


class _Follows:
    """Whether expressions follow an argument.   name: of the argument, "" for any."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self._known: dict[int, tuple[Node, bool]] = {}

    def any(self, node: Node) -> bool:
        for one in bottom_up(node, self._known):
            found = isinstance(one, Argument) and self.name in ("", one.name)
            self._known[id(one)] = (one, found or any([self._known[id(child)][1] for child in children(one)]))
        return self._known[id(node)][1]


# ---- integral --------------------------------------------------------------------------------------------------------

_Term = tuple[Expression, Fraction]  # coefficient and power of the argument
_MOST_TERMS = 16
_LARGEST_INTEGRAL = 2000  # nodes; quadrature is faster than more, and chains double with every condition
MEANS = ("exp", "sin", "cos", "tanh")
MEAN = "mean of "  # a call of "mean of exp": the mean of exp from 0 to its argument


def integral(expression: Expression, argument: str) -> Expression | None:
    """The integral over the argument from 0, for arguments that are not negative, of sums of powers of it, of exp, sin,
    cos and tanh of what is linear in it (tanh: proportional), and of chains, min, max and abs of these with conditions
    that are linear in it; None for any other (inlined) expression.

    Products are left to quadrature: their antiderivative loses digits at small arguments, so that (h - 1) e^h + 1, of
    h e^h, is wrong by 8e-8 of itself at h = 1e-5 and by 9e-5 at 1e-6."""
    found = _integral(expression, _Variable(argument))
    return found if found is not None and written_size(found) <= _LARGEST_INTEGRAL else None


class _Variable:
    """The argument that is integrated over, with what was found of the parts of an expression."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.follows = _Follows(name)
        self.integrals: dict[int, tuple[Node, Expression | None]] = {}
        self.terms: dict[int, tuple[Node, list[_Term] | None]] = {}


def _integral(node: Expression, x: _Variable) -> Expression | None:
    if (known := x.integrals.get(id(node))) is None:
        known = x.integrals[id(node)] = (node, _integral_of(node, x))
    return known[1]


def _integral_of(node: Expression, x: _Variable) -> Expression | None:
    terms = _terms(node, x)
    if terms is not None:
        return _integral_of_terms(terms, x)
    match node:
        case Negative():
            area = _integral(node.operand, x)
            return None if area is None else Negative(NOWHERE, area)
        case Branch():
            return _chain_integral(node, x)
        case Call(name="min" | "max" | "abs"):
            return _chain_integral(as_branch(node), x)
        case Call():
            return _integral_of_call(node, x)
        case Binary(operator="+" | "-"):
            left, right = _integral(node.left, x), _integral(node.right, x)
            return None if left is None or right is None else replace(node, left=left, right=right)
        case Binary(operator="*" | "/") if not _contains(node.right, x):
            left = _integral(node.left, x)
            return None if left is None else replace(node, left=left)
        case Binary(operator="*") if not _contains(node.left, x):
            right = _integral(node.right, x)
            return None if right is None else replace(node, right=right)
    return None


def _integral_of_terms(terms: list[_Term], x: _Variable) -> Expression | None:
    if any(power <= -1 for _, power in terms):
        return None
    total: Expression | None = None
    for coefficient, power in terms:
        raised = powered(Argument(NOWHERE, x.name), power + 1)
        divided = Binary(NOWHERE, "/", coefficient, Number(NOWHERE, float(power + 1), None))
        part = Binary(NOWHERE, "*", divided, raised)
        total = part if total is None else Binary(NOWHERE, "+", total, part)
    return total


def _integral_of_call(call: Call, x: _Variable) -> Expression | None:
    """x times the mean of exp, sin, cos or tanh from 0 to k x, which loses no digits where k x is small; a constant c
    beside k x is taken out of the function."""
    if call.name not in MEANS:
        return None
    line = _line(call.arguments[0], x)
    if line is None or (line[1] is not None and call.name == "tanh"):
        return None
    slope, c = line
    u = Binary(NOWHERE, "*", slope, Argument(NOWHERE, x.name))

    def mean(name: str) -> Expression:
        return Call(NOWHERE, MEAN + name, (u,))

    def times(name: str, other: str) -> Expression:
        assert c is not None
        return Binary(NOWHERE, "*", Call(NOWHERE, name, (c,)), mean(other))

    if c is None:
        found = mean(call.name)
    elif call.name == "exp":
        found = times("exp", "exp")
    elif call.name == "sin":
        found = Binary(NOWHERE, "+", times("cos", "sin"), times("sin", "cos"))
    else:
        found = Binary(NOWHERE, "-", times("cos", "cos"), times("sin", "sin"))
    return Binary(NOWHERE, "*", Argument(NOWHERE, x.name), found)


def _line(node: Expression, x: _Variable) -> tuple[Expression, Expression | None] | None:
    """k and c of k x + c, c None where there is none; None if the expression is no such line."""
    terms = _terms(node, x)
    if terms is None or {power for _, power in terms} not in ({Fraction(1)}, {Fraction(0), Fraction(1)}):
        return None
    sums: dict[Fraction, Expression] = {}
    for coefficient, power in terms:
        sums[power] = Binary(NOWHERE, "+", sums[power], coefficient) if power in sums else coefficient
    return sums[Fraction(1)], sums.get(Fraction(0))


def _chain_integral(branch: Branch, x: _Variable) -> Expression | None:
    value, other = _integral(branch.value, x), _integral(branch.other, x)
    if value is None or other is None:
        return None
    if not _contains(branch.condition, x):
        return replace(branch, value=value, other=other)
    condition = branch.condition
    if not isinstance(condition, Comparison) or condition.operator not in ("<", "<=", ">", ">="):
        return None
    line = _line(Binary(NOWHERE, "-", condition.left, condition.right), x)
    if line is None:
        return None
    slope, c = line
    bound = Negative(NOWHERE, Binary(NOWHERE, "/", c, slope)) if c is not None else ZERO
    less = condition.operator[0] == "<"
    rising, falling = (_joined(below, value, other, bound, x) for below in (less, not less))
    if _sign(slope) is not None:
        return rising if _sign(slope) == 1 else falling
    level = Branch(NOWHERE, replace(condition, left=c or ZERO, right=ZERO), value, other)
    not_rising = Branch(NOWHERE, Comparison(NOWHERE, "<", slope, ZERO), falling, level)
    return Branch(NOWHERE, Comparison(NOWHERE, ">", slope, ZERO), rising, not_rising)


def _joined(below: bool, value: Expression, other: Expression, bound: Expression, x: _Variable) -> Expression:
    """The integral of a chain from those of its branches, the first of which holds below the bound, else above it:
    A(x) below, A(c) + B(x) - B(c) above, with c >= 0."""
    first, second = (value, other) if below else (other, value)
    c = Call(NOWHERE, "max", (bound, ZERO))
    at_c = [with_values(one, {x.name: c}) for one in (first, second)]
    above = Binary(NOWHERE, "+", at_c[0], Binary(NOWHERE, "-", second, at_c[1]))
    return Branch(NOWHERE, Comparison(NOWHERE, "<", Argument(NOWHERE, x.name), c), first, above)


def _sign(node: Expression) -> int | None:
    """1 or -1 if the value has this sign for all values of the scalars."""
    match node:
        case Number():
            return 1 if node.value > 0.0 else -1 if node.value < 0.0 else None
        case Negative():
            sign = _sign(node.operand)
            return None if sign is None else -sign
        case Binary(operator="*" | "/"):
            left, right = _sign(node.left), _sign(node.right)
            return None if left is None or right is None else left * right
    return None


def _contains(expression: Node, x: _Variable) -> bool:
    return x.follows.any(expression)


def integral_below(expression: Expression, x: str) -> Expression | None:
    """As `integral` of -f(-x), for an (inlined) expression f: the integral of f from 0 to -x.  None with roots, which
    have no value below 0 but in branches that are not taken."""
    for node in walk_once(expression):
        if isinstance(node, Call) and node.name in ("pow", "sqrt"):
            return None
        if isinstance(node, Binary) and node.operator == "^":
            exponent = constant_of(node.right)
            if exponent is None or exponent.denominator != 1:
                return None
    negative = Negative(NOWHERE, Argument(NOWHERE, x))
    return integral(Negative(NOWHERE, with_values(expression, {x: negative})), x)


def _terms(node: Expression, x: _Variable) -> list[_Term] | None:
    if (known := x.terms.get(id(node))) is None:
        known = x.terms[id(node)] = (node, _terms_of(node, x))
    return known[1]


def _terms_of(node: Expression, x: _Variable) -> list[_Term] | None:
    if not _contains(node, x):
        return [(node, Fraction(0))]
    match node:
        case Argument():
            return [(ONE, Fraction(1))]
        case Negative():
            return _each(_terms(node.operand, x), lambda c, p: (Negative(NOWHERE, c), p))
        case Binary(operator="+" | "-"):
            left, right = _terms(node.left, x), _terms(node.right, x)
            if node.operator == "-":
                right = _each(right, lambda c, p: (Negative(NOWHERE, c), p))
            if left is None or right is None or len(left) + len(right) > _LARGEST_INTEGRAL:
                return None
            return left + right
        case Binary(operator="*" | "/"):
            return _product_terms(node, x)
        case Binary(operator="^"):
            return _power_terms(node.left, constant_of(node.right), x)
        case Call(name="pow"):
            return _power_terms(node.arguments[0], constant_of(node.arguments[1]), x)
        case Call(name="sqrt"):
            return _power_terms(node.arguments[0], Fraction(1, 2), x)
    return None


def _each(terms: list[_Term] | None, change: Callable[[Expression, Fraction], _Term]) -> list[_Term] | None:
    return None if terms is None else [change(*term) for term in terms]


def _product_terms(node: Binary, x: _Variable) -> list[_Term] | None:
    left, right = _terms(node.left, x), _terms(node.right, x)
    if left is None or right is None or len(left) * len(right) > _MOST_TERMS:
        return None
    if node.operator == "/" and len(right) > 1:
        return None
    sign = 1 if node.operator == "*" else -1
    return [(Binary(NOWHERE, node.operator, a, b), p + sign * q) for a, p in left for b, q in right]


def _power_terms(base: Expression, exponent: Fraction | None, x: _Variable) -> list[_Term] | None:
    terms = _terms(base, x)
    if terms is None or exponent is None or len(terms) > 1:
        return None
    return [(powered(coefficient, exponent), power * exponent) for coefficient, power in terms]
