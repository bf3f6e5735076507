"""What fmpy does not read of modelDescription.xml."""

from __future__ import annotations

from itertools import chain

from lxml import etree

from fmu_builder.model.step_advice import HELD_FORCE, HeldForce
from fmu_builder.units import Unit, unit_of_fmi


def gives_derivatives(root: etree._Element) -> bool:
    """Whether co-simulation gives directional derivatives: FMI 3.0 has another name for the attribute than FMI 2.0."""
    names = ("providesDirectionalDerivative", "providesDirectionalDerivatives")
    return any(one.get(name) in ("true", "1") for one in root.iterfind("CoSimulation") for name in names)


def defined_units(root: etree._Element) -> dict[str, Unit]:
    """By name, the units that the FMU defines by base units."""
    items = ((item.get("name", ""), item.find("BaseUnit")) for item in root.iterfind("UnitDefinitions/Unit"))
    units = {name: unit_of_fmi(name, base.attrib) for name, base in items if base is not None}
    return {name: unit for name, unit in units.items() if unit is not None}


def differences(root: etree._Element) -> dict[str, bool]:
    """By the name of the variable, its own relativeQuantity, which fmpy 0.3 looks for among the child elements."""
    found = root.iterfind("ModelVariables/ScalarVariable/Real[@relativeQuantity]")
    of_fmi3 = root.iterfind("ModelVariables/*[@relativeQuantity]")
    named = chain(((one.getparent(), one) for one in found), ((one, one) for one in of_fmi3))
    return {variable.get("name"): one.get("relativeQuantity") in ("true", "1") for variable, one in named}


def held_forces(root: etree._Element) -> dict[str, HeldForce | None]:
    """By the name of the variable; fmpy does not read annotations."""
    found = root.iterfind(f"ModelVariables/*/Annotations/*/{HELD_FORCE}")
    return {one.getparent().getparent().getparent().get("name"): HeldForce.of(one.attrib) for one in found}
