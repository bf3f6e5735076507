"""The angular velocity of a port whose orientation q follows laws of the time, in world components.

w = 2 Im(q' q*) / |q|^2, of a quaternion of any length."""

from __future__ import annotations

from collections.abc import Sequence

from fmu_builder.laws.definitions import LawFunction
from fmu_builder.laws.derivatives import derivative
from fmu_builder.laws.dimensions import dimension_of
from fmu_builder.laws.made_nodes import NOWHERE
from fmu_builder.laws.tables import LawTable
from fmu_builder.laws.tree import Binary, Expression, Number
from fmu_builder.units import parse_unit


def turning(quaternion: Sequence[LawFunction | float], where: str) -> list[LawFunction]:
    """The laws of the components of w.

    quaternion  its components, scalar first: laws of #t, or constants
    where       names the drive in messages.   Raises InputError for a law whose derivative is too large."""
    q = [_expression(one) for one in quaternion]
    s, x, y, z = q
    ds, dx, dy, dz = (derivative(one, "t", where) for one in q)
    length = _sum(*(_times(one, one) for one in q))
    above = (
        (_times(s, dx), _times(y, dz), _times(x, ds), _times(z, dy)),
        (_times(s, dy), _times(z, dx), _times(y, ds), _times(x, dz)),
        (_times(s, dz), _times(x, dy), _times(z, ds), _times(y, dx)),
    )
    rates = [_of("-", _sum(a, b), _sum(c, d)) for a, b, c, d in above]
    parameters = (("t", parse_unit("s")),)
    two = Number(NOWHERE, 2.0, None)
    unit = dimension_of(parse_unit("rad/s"))
    return [LawFunction("", parameters, _times(two, _of("/", rate, length)), unit) for rate in rates]


def _expression(one: LawFunction | float) -> Expression:
    if isinstance(one, LawFunction):
        assert not isinstance(one.body, LawTable)  # a text in [drive] is an expression
        return one.body
    return Number(NOWHERE, one, None)


def _of(operator: str, a: Expression, b: Expression) -> Expression:
    return Binary(NOWHERE, operator, a, b)


def _times(a: Expression, b: Expression) -> Expression:
    return _of("*", a, b)


def _sum(first: Expression, *others: Expression) -> Expression:
    for one in others:
        first = _of("+", first, one)
    return first
