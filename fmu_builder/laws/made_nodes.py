"""Nodes of law trees that programs make and no text holds: numbers, powers, and min, max, abs, sign as conditions."""

from __future__ import annotations

from fractions import Fraction

from fmu_builder.laws.tree import Binary, Branch, Call, Comparison, Expression, Negative, Number, Place

NOWHERE = Place(1, 1)
ZERO, ONE = Number(NOWHERE, 0.0, None), Number(NOWHERE, 1.0, None)


def fraction(value: Fraction) -> Expression:
    numerator = Number(NOWHERE, float(value.numerator), None)
    if value.denominator == 1:
        return numerator
    return Binary(NOWHERE, "/", numerator, Number(NOWHERE, float(value.denominator), None))


def powered(base: Expression, power: Fraction) -> Expression:
    return base if power == 1 else Binary(NOWHERE, "^", base, fraction(power))


def as_branch(call: Call) -> Branch:
    """min, max, abs and sign as conditions."""
    first = call.arguments[0]
    if call.name == "abs":
        return Branch(NOWHERE, Comparison(NOWHERE, "<", first, ZERO), Negative(NOWHERE, first), first)
    if call.name == "sign":
        below = Branch(NOWHERE, Comparison(NOWHERE, "<", first, ZERO), Negative(NOWHERE, ONE), ZERO)
        return Branch(NOWHERE, Comparison(NOWHERE, ">", first, ZERO), ONE, below)
    second = call.arguments[1]
    return Branch(NOWHERE, Comparison(NOWHERE, "<" if call.name == "min" else ">", first, second), first, second)
