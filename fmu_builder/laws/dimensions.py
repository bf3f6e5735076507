"""Dimensions of values in laws: powers of kg, m, s, A, K, mol, cd, and their names."""

from __future__ import annotations

from fractions import Fraction

from fmu_builder.units import BASES, Unit, parse_unit, readable_names

Dimension = tuple[Fraction, ...]

_BASES = BASES[:-1]  # without rad
NONE: Dimension = (Fraction(0),) * len(_BASES)


def dimension_of(unit: Unit) -> Dimension:
    return tuple(Fraction(power) for power in unit.exponents[: len(_BASES)])


def text_of(dimension: Dimension) -> str:
    """As a unit for readers, with its bases if it has a name of its own: `N (kg.m.s-2)`, `m/s`, `1`."""
    powers = zip(_BASES, dimension, strict=True)
    bases = ".".join(f"{base}{power}" if power != 1 else base for base, power in powers if power)
    for name in readable_names():
        if dimension_of(parse_unit(name)) == dimension:
            return name if name in (bases, "m/s", "s/m") else f"{name} ({bases})" if bases else "1"
    return bases or "1"


def si_name(dimension: Dimension, angle: bool = True) -> str | None:
    """An SI unit of this dimension as parse_unit reads it; None if a power is a fraction.

    angle  whether it may be that of an angle: 1/s is rad/s then, as in laws, whose dimensions have no radian"""
    if any(power.denominator > 1 for power in dimension):
        return None
    found = text_of(dimension).partition(" ")[0]
    return found if angle else found.replace("rad", "1")
