"""modelDescription.xml of FMI 3.0, from the same declarations as that of FMI 2.0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lxml import etree

from fmu_builder.errors import InputError, Problem
from fmu_builder.export.description import (
    add_items,
    add_log_and_experiment,
    add_units,
    causality,
    check_against_schema,
    description_root,
    drawing_attributes,
    enumerations_of,
    fmi_value,
    initial_dependencies,
    known_of,
    number,
    output_dependencies,
    text_attributes,
    type_attributes,
    xml_bytes,
)
from fmu_builder.export.fmi3_variables import INDICATORS, Fmi3Variable, fmi3_variables
from fmu_builder.model.clocks import Clock
from fmu_builder.model.model import ElementModel, Model, Variable
from fmu_builder.model.step_advice import HELD_FORCE

_CAPABILITIES = {
    "needsExecutionTool": "false",
    "canBeInstantiatedOnlyOncePerProcess": "false",
    "canGetAndSetFMUState": "true",
    "canSerializeFMUState": "true",
    "providesDirectionalDerivatives": "true",
    "providesAdjointDerivatives": "true",
    "providesPerElementDependencies": "false",
}
_INTERFACES = {
    "ModelExchange": {
        **_CAPABILITIES,
        "needsCompletedIntegratorStep": "true",
        "providesEvaluateDiscreteStates": "false",
    },
    "CoSimulation": {
        **_CAPABILITIES,
        "canHandleVariableCommunicationStepSize": "true",
        "maxOutputDerivativeOrder": "1",
        "providesIntermediateUpdate": "true",
        "mightReturnEarlyFromDoStep": "true",
        "hasEventMode": "true",
        "providesEvaluateDiscreteStates": "false",
    },
}
_TYPES = {"real": "Float64", "int": "Int32", "bool": "Boolean", "enum": "Enumeration"}
_ANNOTATION = "org.fmu-builder"  # type of annotations of ours


def model_description_fmi3(model: Model, token: str) -> bytes:
    """modelDescription.xml.  Raises ToolError naming what the schema refuses, InputError for an FMU without
    capabilities."""
    if isinstance(model, ElementModel) and model.recipe.choices.get("capabilities") is False:
        what = "[structure] capabilities = false is of FMI 2.0 only: build it without --fmi 3"
        raise InputError(Problem(str(model.path), what))
    root = description_root(model, "3.0", instantiationToken=token)
    for interface, capabilities in _INTERFACES.items():
        etree.SubElement(root, interface, modelIdentifier=model.name, **capabilities)
    if not model.samples:  # a force that is held belongs to the whole of a step
        root[-1].set("canReturnEarlyAfterIntermediateUpdate", "true")
    variables = fmi3_variables(model)
    add_units(root, [v for one in variables for v in one.scalars])
    _enumerations(root, variables)
    add_log_and_experiment(root, model, 3)
    group = etree.SubElement(root, "ModelVariables")
    for one in variables:
        group.append(_variable(one))
    for place, indicator in enumerate(model.indicators):
        etree.SubElement(
            group,
            "Float64",
            name=f"{INDICATORS}{indicator.name}",
            valueReference=str(len(model.variables) + place),
            description="Event indicator over its nominal value",
            causality="local",
            variability="continuous",
            initial="calculated",
        )
    for text in model.texts:
        element = etree.SubElement(group, "String", text_attributes(model, text))
        if text.kind != "output":
            etree.SubElement(element, "Start", value=text.start)
    root.append(_structure(model, variables))
    if drawing := drawing_attributes(model):
        etree.SubElement(_annotation(root), "Drawing", drawing)
    check_against_schema(root, 3)
    return xml_bytes(root)


def _annotation(of: etree._Element) -> etree._Element:
    return etree.SubElement(etree.SubElement(of, "Annotations"), "Annotation", type=_ANNOTATION)


def _enumerations(root: etree._Element, variables: Iterable[Fmi3Variable]) -> None:
    enumerations = enumerations_of(one.first for one in variables)
    if not enumerations:
        return
    definitions = etree.SubElement(root, "TypeDefinitions")
    for name, literals in enumerations.items():
        add_items(etree.SubElement(definitions, "EnumerationType", name=name), literals)


def _clock(v: Variable, clock: Clock) -> etree._Element:
    """Any input clock can be deactivated again: what follows from it is computed anew."""
    attributes = {"causality": causality(v)["causality"], "intervalVariability": clock.variability}
    if clock.kind != "output":
        attributes["canBeDeactivated"] = "true"
    if clock.kind == "constant":
        attributes |= {"intervalDecimal": number(clock.interval), "shiftDecimal": number(clock.shift)}
    if clock.resolution:
        counters = {"intervalCounter": clock.interval_counter, "shiftCounter": clock.shift_counter}
        attributes |= {"supportsFraction": "true", "resolution": str(clock.resolution)}
        attributes |= {key: str(value) for key, value in counters.items()}
    return etree.Element("Clock", name=v.name, valueReference=str(v.index), description=v.description, **attributes)


def _variable(one: Fmi3Variable) -> etree._Element:
    v = one.first
    if v.clock is not None:
        return _clock(v, v.clock)
    kind = causality(v)
    attributes = type_attributes(v)
    if v.kind in ("fixed", "tunable", "input"):
        attributes["start"] = " ".join(fmi_value(scalar, scalar.start) for scalar in one.scalars)
    if v.kind == "derivative":
        attributes["derivative"] = str(v.derivative)
    if v.reinit:
        attributes["reinit"] = "true"
    if v.clocks:
        attributes["clocks"] = " ".join(map(str, v.clocks))
    if v.previous >= 0:
        attributes["previous"] = str(v.previous)
    if kind["causality"] in ("output", "local") and kind["variability"] == "continuous":
        attributes["intermediateUpdate"] = "true"
    element = etree.Element(
        _TYPES[v.type],
        name=one.name,
        valueReference=str(one.reference),
        description=one.description,
        **kind,
        **attributes,
    )
    if v.held is not None:
        etree.SubElement(_annotation(element), HELD_FORCE, v.held.attributes())
    if len(one.scalars) > 1:
        etree.SubElement(element, "Dimension", start=str(len(one.scalars)))
    return element


def _structure(model: Model, variables: Sequence[Fmi3Variable]) -> etree._Element:
    """ModelStructure, with the dependencies of FMI 2.0; an array depends on what any of its scalars depends on."""
    structure = etree.Element("ModelStructure")
    array_of = {v.index: one.reference for one in variables for v in one.scalars}

    def add(tag: str, reference: int, depends: Iterable[int]) -> None:
        listed = sorted({array_of[i] for i in depends if i in array_of})
        etree.SubElement(structure, tag, valueReference=str(reference), dependencies=" ".join(map(str, listed)))

    def add_texts(tag: str, with_parameters: bool) -> None:
        for text in model.texts:
            if text.kind == "output":
                shown = model.texts[text.shows]
                depends = str(model.reference_of(shown)) if shown.kind == "input" or with_parameters else ""
                own = str(model.reference_of(text))
                etree.SubElement(structure, tag, valueReference=own, dependencies=depends)

    for one in variables:
        if one.first.is_output:
            add("Output", one.reference, [i for v in one.scalars for i in output_dependencies(model, v)])
    add_texts("Output", with_parameters=False)
    for one in variables:
        if one.first.kind == "state":  # in the order of fmi3GetContinuousStates
            derivatives = [model.variables[v.derivative] for v in one.scalars]
            depends = [i for v in derivatives for i in known_of(model, v)]
            add("ContinuousStateDerivative", array_of[derivatives[0].index], depends)
    for one in variables:
        if one.first.previous >= 0:
            etree.SubElement(structure, "ClockedState", valueReference=str(one.reference))
    for one in variables:
        if one.first.clocks:  # gets its first value at a tick
            continue
        if one.first.kind in ("state", "derivative", "calculated") or one.first.is_output:
            add("InitialUnknown", one.reference, [i for v in one.scalars for i in initial_dependencies(model, v)])
    add_texts("InitialUnknown", with_parameters=True)
    for place in range(len(model.indicators)):
        etree.SubElement(structure, "EventIndicator", valueReference=str(len(model.variables) + place))
    return structure
