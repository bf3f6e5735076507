"""Values as a file gives them, each checked: truth values, numbers with units, intervals, literals.

Every function raises InputError with the value and the rule; `where` names file, table and key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

from fmu_builder.errors import InputError, Problem, behind_number, none_of, shown_value
from fmu_builder.units import Unit, parse_quantity


def truth(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(Problem(where, f"{value!r} must be true or false"))
    return value


def is_quantity(value: object) -> TypeGuard[float | str]:
    """Whether it is a number or a text, as units.parse_quantity reads them."""
    return isinstance(value, int | float | str) and not isinstance(value, bool)


def number(value: object, unit: Unit, where: str) -> float:
    """A number in SI, or a text with a unit."""
    if not is_quantity(value):
        raise InputError(Problem(where, f"{shown_value(value)} must be a number, or text 'number unit'"))
    return parse_quantity(value, unit, where)


def interval(value: object, unit: Unit, where: str) -> tuple[float, float]:
    """Two increasing quantities."""
    if not isinstance(value, list) or len(value) != 2:
        raise InputError(Problem(where, f"{value!r} is not a pair [from, to]"))
    low, high = (number(one, unit, where) for one in value)
    if not low < high:
        name = behind_number(unit.name)
        what = f"from {low:g}{name} to {high:g}{name}: the second must be greater than the first"
        raise InputError(Problem(where, what))
    return low, high


def start_of(kind: str, value: object, unit: Unit, literals: Mapping[str, int], where: str) -> float:
    """The value of a variable of the type `kind` of FMI as a number: of a truth value 0 or 1, of an enumeration that of
    its literal."""
    if kind == "Boolean":
        return float(truth(value, where))
    if literals:
        if not isinstance(value, str) or value not in literals:
            raise InputError(Problem(where, none_of(value, literals)))
        return float(literals[value])
    found = number(value, unit, where)
    if kind != "Real" and found != int(found):
        raise InputError(Problem(where, f"{value!r} must be a whole number"))
    if kind != "Real":
        check_bits(found, where)
    return found


def check_bits(number: float, where: str) -> None:
    """Raises InputError for a whole number that no Integer of FMI 2.0 holds."""
    if not -(2**31) <= number < 2**31:
        what = f"{number:.0f} must be a whole number of 32 bits, from {-(2**31)} to {2**31 - 1}"
        raise InputError(Problem(where, what))
