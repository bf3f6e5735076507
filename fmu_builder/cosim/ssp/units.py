"""Units of SSP and of FMUs by their definitions: powers of the SI base units, a factor and an offset."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from fmu_builder.cosim.ssp.files import Item
from fmu_builder.errors import InputError, Problem
from fmu_builder.model.connectable import SlaveVariable
from fmu_builder.units import Unit, dimension_text, fmi_display, mixes_cycles_and_angle, parse_unit, unit_of_fmi


@dataclass(frozen=True)
class Affine:
    """target = factor * source + offset."""

    factor: float = 1.0
    offset: float = 0.0

    def __call__(self, value: float) -> float:
        return self.factor * value + self.offset

    def after(self, first: Affine) -> Affine:
        """This one applied to what the first one gives."""
        return Affine(self.factor * first.factor, self.factor * first.offset + self.offset)


def conversion(source: Unit | None, target: Unit | None) -> Affine:
    """From values in one unit to values in another, factors rounded once; none where a unit is unknown.

    Raises InputError where the dimensions differ."""
    if source is None or target is None or _same(source, target):
        return Affine()
    if not source.same_dimension(target):
        shown = (f"{unit.name} ({dimension_text(unit)})" for unit in (source, target))
        raise InputError(Problem("", f"{' and '.join(shown)} differ in dimension"))
    if mixes_cycles_and_angle(source, target):
        what = f"{source.name} counts cycles, {target.name} angles, or the reverse: use one of them"
        raise InputError(Problem("", what))
    return Affine(*fmi_display(source, target))


def _same(a: Unit, b: Unit) -> bool:
    return (a.exponents, a.factor, a.offset) == (b.exponents, b.factor, b.offset)


def same_scale(a: Unit, b: Unit) -> bool:
    """Whether equal numbers are equal quantities; the radian counts as 1."""
    return a.same_dimension(b) and (a.factor, a.offset) == (b.factor, b.offset)


def units_of(items: Iterable[Item], problems: list[Problem]) -> dict[str, Unit]:
    """By name, the units of <Units>."""
    found: dict[str, Unit] = {}
    for item in items:
        item.check(("BaseUnit", "Annotations"), problems)
        name, base = item.needed("name", problems), item.first("BaseUnit")
        if base is None:
            problems.append(Problem(item.where, f"the unit '{name}' has no <BaseUnit>"))
            continue
        unit = unit_of_fmi(name, base.element.attrib)
        if unit is None:
            problems.append(Problem(base.where, f"the unit '{name}' must have whole powers and a factor other than 0"))
        elif name in found:
            problems.append(Problem(item.where, f"the unit '{name}' is defined twice"))
        else:
            found[name] = unit
    return found


def unit_of(variable: SlaveVariable) -> Unit | None:
    """The unit of a Real: as its FMU defines it, else as fmu-builder knows its name; None for an unknown one."""
    if variable.type != "Real" or not variable.unit:
        return None
    if variable.defined is not None:
        return variable.defined
    with suppress(InputError):
        return parse_unit(variable.unit)
    return None
