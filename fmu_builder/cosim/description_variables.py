"""The variables of a slave, by its modelDescription.xml."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from fmpy.model_description import ModelDescription
from lxml import etree

from fmu_builder.cosim.description_xml import defined_units, differences, held_forces
from fmu_builder.cosim.fmi3.adaptor import READABLE, type_of
from fmu_builder.cosim.fmi3.arrays import Scalars
from fmu_builder.export.fmi3_variables import INDICATORS
from fmu_builder.model.connectable import SlaveVariable


def variables_of(
    description: ModelDescription,
    root: etree._Element,
    scalars: Scalars,
    literals: Mapping[str, Mapping[str, int]],
    ours: bool,
    is_fmi3: bool,
) -> dict[str, SlaveVariable]:
    """The scalars by their names.   literals: of the types of enumerations     ours: made by fmu-builder"""
    unknowns = {u.variable.name: u.dependencies for u in (*description.outputs, *description.initialUnknowns)}
    free = {u.variable.name for u in description.outputs if u.dependencies == [] and unknowns[u.variable.name] == []}
    held, units, relative = held_forces(root), defined_units(root), differences(root)
    variables = {}
    for v in description.modelVariables:
        if is_fmi3 and (v.type not in READABLE or (ours and v.name.startswith(INDICATORS))):
            continue
        type_name = type_of(v.type)
        depends = unknowns.get(v.name)
        declared = v.declaredType
        unit = v.unit or (declared.unit if declared else None) or ""
        alike = SlaveVariable(
            name=v.name,
            reference=v.valueReference,
            type=type_name,
            causality=v.causality,
            variability=v.variability,
            initial=v.initial,
            unit=unit,
            start=None,
            depends=None if depends is None else frozenset(n for d in depends for n in scalars.names(d.name)),
            literals=literals.get(declared.name, {}) if declared and v.type == "Enumeration" else {},
            description=v.description or "",
            # an output without dependencies, even on time, is a force that an element does not have
            zero=type_name == "Real" and ((ours and v.name in free) or (v.variability, v.start) == ("constant", "0")),
            held=held.get(v.name),
            max=_number(v.max),
            min=_number(v.min),
            defined=units.get(unit),
            relative=relative.get(v.name, bool(declared and declared.relativeQuantity)),
        )
        for name, reference, start in scalars.of(v):
            variables[name] = replace(alike, name=name, reference=reference, start=start)
    return variables


def derivatives_of(description: ModelDescription, scalars: Scalars) -> dict[int, int]:
    """Value references of states and of their derivatives."""
    return {
        state[1]: own[1]
        for v in description.modelVariables
        if v.derivative is not None
        for state, own in zip(scalars.of(v.derivative), scalars.of(v), strict=True)
    }


def states_behind(description: ModelDescription, scalars: Scalars) -> dict[str, bool]:
    """By output, whether it depends on states; one whose dependencies are not given may."""
    states = {v.derivative.name for v in description.modelVariables if v.derivative is not None}
    return {
        name: u.dependencies is None or any(d.name in states for d in u.dependencies)
        for u in description.outputs
        for name in scalars.names(u.variable.name)
    }


def _number(text: str | float | None) -> float | None:
    with suppress(TypeError, ValueError):
        return float(text)  # type: ignore[arg-type]
    return None
