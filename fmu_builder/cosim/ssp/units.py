"""Units of SSP and of FMUs by their definitions: powers of the SI base units, a factor and an offset."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from fmu_builder.cosim.ssp.files import Item, finite_number
from fmu_builder.errors import InputError, Problem
from fmu_builder.units import BASES, Unit, dimension_text, fmi_display, parse_unit


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
    per_angle = {unit.exponents[BASES.index("rad")] for unit in (source, target)}
    if len(per_angle) > 1 and parse_unit("Hz").same_dimension(source):
        what = f"{source.name} and {target.name} differ by the angle of a cycle, which SSP leaves open: use one of them"
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
        unit = _unit(name, base.element.attrib)
        if unit is None:
            problems.append(Problem(base.where, f"the unit '{name}' must have whole powers and a factor other than 0"))
        elif name in found:
            problems.append(Problem(item.where, f"the unit '{name}' is defined twice"))
        else:
            found[name] = unit
    return found


def units_of_fmu(path: Path) -> dict[str, Unit]:
    """By name, the units of a checked FMU that it defines by base units."""
    with zipfile.ZipFile(path) as archive:
        root = etree.fromstring(archive.read("modelDescription.xml"))
    found = {}
    for item in root.iterfind("UnitDefinitions/Unit"):
        base = item.find("BaseUnit")
        unit = _unit(item.get("name", ""), base.attrib) if base is not None else None
        if unit is not None:
            found[unit.name] = unit
    return found


def named_unit(name: str, defined: Mapping[str, Unit]) -> Unit | None:
    """The unit of this name: as defined, else as fmu-builder knows it; None for an unknown one."""
    if not name:
        return None
    if name in defined:
        return defined[name]
    with suppress(InputError):
        return parse_unit(name)
    return None


def _unit(name: str, attributes: Mapping[str, str]) -> Unit | None:
    try:
        exponents = tuple(int(attributes.get(base, "0")) for base in BASES)
    except ValueError:
        return None
    factor, offset = finite_number(attributes.get("factor", "1")), finite_number(attributes.get("offset", "0"))
    if not factor or offset is None:
        return None
    return Unit(name, exponents, factor, offset)
