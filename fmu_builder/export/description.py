"""modelDescription.xml and buildDescription.xml of an FMU, valid against the FMI 2.0 schema that fmpy ships."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from pathlib import Path

import fmpy
from lxml import etree

from fmu_builder.errors import Problem, ToolError
from fmu_builder.export.fmi3_variables import Fmi
from fmu_builder.export.generate import source_files
from fmu_builder.export.model_tables import log_categories
from fmu_builder.model.declaration import value_text
from fmu_builder.model.model import FMI_TYPES, ElementModel, Model, StringVariable, Variable
from fmu_builder.model.step_advice import HELD_FORCE
from fmu_builder.paths import own_version
from fmu_builder.units import Unit, display_units, fmi_base_unit, fmi_display

_CAPABILITIES = {
    "needsExecutionTool": "false",
    "canBeInstantiatedOnlyOncePerProcess": "false",
    "canNotUseMemoryManagementFunctions": "false",
    "canGetAndSetFMUstate": "true",
    "canSerializeFMUstate": "true",
    "providesDirectionalDerivative": "true",
}
# element: its own capabilities; the schema asks for this order of elements
_INTERFACES = {
    "ModelExchange": {**_CAPABILITIES, "completedIntegratorStepNotNeeded": "false"},
    "CoSimulation": {
        **_CAPABILITIES,
        "canHandleVariableCommunicationStepSize": "true",
        "canInterpolateInputs": "true",
        "maxOutputDerivativeOrder": "1",
        "canRunAsynchronuously": "false",
    },
}
# what is different where physics is Python
_OF_PROTOTYPES = {
    "needsExecutionTool": "true",
    "providesDirectionalDerivative": "false",
    "maxOutputDerivativeOrder": "0",
}
# what an element leaves out by the switch `capabilities` of [structure]
_PLAIN = {
    "canBeInstantiatedOnlyOncePerProcess": "true",
    "canNotUseMemoryManagementFunctions": "true",
    "canGetAndSetFMUstate": "false",
    "canSerializeFMUstate": "false",
    "providesDirectionalDerivative": "false",
    "canHandleVariableCommunicationStepSize": "false",
    "canInterpolateInputs": "false",
    "maxOutputDerivativeOrder": "0",
}
# what it adds by the switch `statuses`
_ALL_STATUSES = {"canRunAsynchronuously": "true"}


def number(value: float) -> str:
    """A double as text that reads back to the same bits."""
    return repr(float(value))


def description_root(model: Model, version: str, **identity: str) -> etree._Element:
    """fmiModelDescription with what both versions of FMI say there.   identity: its GUID or instantiation token"""
    return etree.Element(
        "fmiModelDescription",
        fmiVersion=version,
        modelName=model.name,
        **identity,
        description=model.description,
        generationTool=f"fmu-builder {own_version()}",
        license="BSD-2-Clause",
        variableNamingConvention="structured",
    )


def model_description(model: Model, guid: str) -> bytes:
    """modelDescription.xml.  Raises ToolError naming what the schema refuses."""
    root = description_root(model, "2.0", guid=guid)
    root.set("numberOfEventIndicators", str(len(model.indicators)))
    choices = model.recipe.choices if isinstance(model, ElementModel) else {}
    different = {
        **(_OF_PROTOTYPES if model.is_prototype else {}),
        **(_PLAIN if choices.get("capabilities") is False else {}),
        **(_ALL_STATUSES if choices.get("statuses") is True else {}),
    }
    for interface, capabilities in _INTERFACES.items():
        own = {k: different.get(k, v) for k, v in capabilities.items()}
        element = etree.SubElement(root, interface, modelIdentifier=model.name, **own)
        if model.is_prototype:
            continue  # its sources are no FMU without Python and pythonfmu's binaries
        files = etree.SubElement(element, "SourceFiles")
        for name in source_files(model):
            etree.SubElement(files, "File", name=name)

    visible = [v for v in model.variables if not v.hidden]
    add_units(root, visible)
    _enumerations(root, visible)
    add_log_and_experiment(root, model, 2)
    if drawing := drawing_attributes(model):
        tool = etree.SubElement(etree.SubElement(root, "VendorAnnotations"), "Tool", name="fmu-builder")
        etree.SubElement(tool, "Drawing", drawing)
    variables = etree.SubElement(root, "ModelVariables")
    position = {v.index: i + 1 for i, v in enumerate(visible)}  # FMI counts variables from 1, hidden ones left out
    for v in visible:
        variables.append(_scalar_variable(v, position))
    for text in model.texts:
        variables.append(_string_variable(model, text))
    root.append(_structure(model, visible, position))
    check_against_schema(root)
    return xml_bytes(root)


def add_units(root: etree._Element, variables: Iterable[Variable]) -> None:
    used: dict[str, Unit] = {}
    shown: dict[str, dict[str, Unit]] = {}
    for v in variables:
        if v.unit.name not in used:
            used[v.unit.name] = v.unit
            shown[v.unit.name] = {d.name: d for d in display_units(v.unit)}
        if v.display:
            shown[v.unit.name][v.display.name] = v.display
    definitions = etree.SubElement(root, "UnitDefinitions")
    for name in sorted(used):
        unit = etree.SubElement(definitions, "Unit", name=name)
        etree.SubElement(unit, "BaseUnit", **fmi_base_unit(used[name]))
        for display_name, display in sorted(shown[name].items()):
            factor, offset = fmi_display(used[name], display)
            attributes = {"name": display_name, "factor": number(factor)}
            if offset:
                attributes["offset"] = number(offset)
            etree.SubElement(unit, "DisplayUnit", **attributes)


def add_log_and_experiment(root: etree._Element, model: Model, fmi: Fmi) -> None:
    categories = etree.SubElement(root, "LogCategories")
    for name, description in log_categories(model, fmi).items():
        etree.SubElement(categories, "Category", name=name, description=description)
    etree.SubElement(
        root,
        "DefaultExperiment",
        startTime="0.0",
        stopTime=number(model.experiment.stop),
        tolerance=number(model.experiment.tolerance),
        stepSize=number(model.experiment.step),
    )


def _enumerations(root: etree._Element, variables: Iterable[Variable]) -> None:
    """One type for each set of literals; its name is none of a variable."""
    enumerations = enumerations_of(variables)
    if not enumerations:
        return
    definitions = etree.SubElement(root, "TypeDefinitions")
    for name, literals in enumerations.items():
        add_items(etree.SubElement(etree.SubElement(definitions, "SimpleType", name=name), "Enumeration"), literals)


def add_items(enumeration: etree._Element, literals: Iterable[str]) -> None:
    for value, literal in enumerate(literals, start=1):
        etree.SubElement(enumeration, "Item", name=literal, value=str(value))


def drawing_attributes(model: Model) -> dict[str, str]:
    """What the recipe says of pictures."""
    drawing = model.recipe.drawing.model_dump(exclude_unset=True) if isinstance(model, ElementModel) else {}
    return {key: value_text(value) for key, value in drawing.items()}


def enumerations_of(variables: Iterable[Variable]) -> dict[str, tuple[str, ...]]:
    """The literals of the types of enumerations, by their names."""
    return {type_name(v): v.literals for v in variables if v.type == "enum"}


def type_name(v: Variable) -> str:
    return "|".join(v.literals)


def causality(v: Variable) -> dict[str, str]:
    """causality, variability and initial, in the combinations FMI 2.0 allows."""
    if v.kind == "time":
        return {"causality": "independent", "variability": "continuous"}
    if v.kind in ("fixed", "tunable"):
        return {"causality": "parameter", "variability": v.kind, "initial": "exact"}
    if v.kind == "calculated":
        return {"causality": "calculatedParameter", "variability": "tunable", "initial": "calculated"}
    variability = "continuous" if v.type == "real" and v.kind != "memory" and not v.clocks else "discrete"
    if v.kind == "input":
        return {"causality": "input", "variability": variability}
    return {"causality": "output" if v.is_output else "local", "variability": variability, "initial": "calculated"}


def _scalar_variable(v: Variable, position: dict[int, int]) -> etree._Element:
    element = etree.Element(
        "ScalarVariable", name=v.name, valueReference=str(v.index), description=v.description, **causality(v)
    )
    attributes = type_attributes(v)
    if v.kind in ("fixed", "tunable", "input"):
        attributes["start"] = fmi_value(v, v.start)
    if v.kind == "derivative":
        attributes["derivative"] = str(position[v.derivative])
    if v.reinit:
        attributes["reinit"] = "true"
    etree.SubElement(element, FMI_TYPES[v.type], **attributes)
    if v.held is not None:
        tool = etree.SubElement(etree.SubElement(element, "Annotations"), "Tool", name="fmu-builder")
        etree.SubElement(tool, HELD_FORCE, v.held.attributes())
    return element


_OF_TEXTS = {  # causality, variability and initial of Strings
    "parameter": {"causality": "parameter", "variability": "tunable", "initial": "exact"},
    "input": {"causality": "input", "variability": "discrete"},
    "output": {"causality": "output", "variability": "discrete", "initial": "calculated"},
}


def text_attributes(model: Model, text: StringVariable) -> dict[str, str]:
    """What both versions of FMI say of a String."""
    reference = str(model.reference_of(text))
    return {"name": text.name, "valueReference": reference, "description": text.description, **_OF_TEXTS[text.kind]}


def _string_variable(model: Model, text: StringVariable) -> etree._Element:
    element = etree.Element("ScalarVariable", text_attributes(model, text))
    etree.SubElement(element, "String", {} if text.kind == "output" else {"start": text.start})
    return element


def type_attributes(v: Variable) -> dict[str, str]:
    """Unit, type, range and nominal value of a variable."""
    attributes: dict[str, str] = {}
    if v.type == "real":
        attributes["unit"] = v.unit.name
        if v.display:
            attributes["displayUnit"] = v.display.name
    if v.type == "enum":
        attributes["declaredType"] = type_name(v)
    if v.type != "bool":
        low = v.min if v.min is not None else v.above
        high = v.max if v.max is not None else v.below
        if low is not None:
            attributes["min"] = fmi_value(v, low)
        if high is not None:
            attributes["max"] = fmi_value(v, high)
    if v.nominal is not None:
        attributes["nominal"] = number(v.nominal)
    return attributes


def fmi_value(v: Variable, value: float) -> str:
    """A value of the variable as text."""
    if v.type == "bool":
        return "true" if value else "false"
    return str(int(value)) if v.type in ("int", "enum") else number(value)


def _structure(model: Model, visible: list[Variable], position: dict[int, int]) -> etree._Element:
    """ModelStructure.  Outputs and derivatives depend on inputs, states and time, initial unknowns on inputs,
    parameters and time; a state is a function of itself alone, memory of nothing of the moment."""
    structure = etree.Element("ModelStructure")

    def add(group: etree._Element, v: Variable, depends: Iterable[int]) -> None:
        listed = sorted({position[i] for i in depends if i in position})
        etree.SubElement(group, "Unknown", index=str(position[v.index]), dependencies=" ".join(map(str, listed)))

    def add_texts(group: etree._Element, with_parameters: bool) -> None:
        for text in model.texts:
            if text.kind == "output":
                depends = model.texts[text.shows].kind == "input" or with_parameters
                numbers = {"index": text.number, "dependencies": text.shows}
                found = {key: str(len(visible) + 1 + number) for key, number in numbers.items()}
                etree.SubElement(group, "Unknown", found if depends else {**found, "dependencies": ""})

    outputs = etree.SubElement(structure, "Outputs")
    for v in visible:
        if v.is_output:
            add(outputs, v, output_dependencies(model, v))
    add_texts(outputs, with_parameters=False)
    states = model.by_kind("state")
    if states:
        group = etree.SubElement(structure, "Derivatives")
        for v in states:  # in the order of fmi2GetContinuousStates
            add(group, model.variables[v.derivative], known_of(model, model.variables[v.derivative]))
    group = etree.SubElement(structure, "InitialUnknowns")
    for v in visible:
        if v.kind in ("state", "derivative", "calculated") or v.is_output:
            add(group, v, initial_dependencies(model, v))
    add_texts(group, with_parameters=True)
    for table in (outputs, group):
        if not len(table):
            structure.remove(table)
    return structure


def known_of(model: Model, v: Variable) -> list[int]:
    """The inputs, states and time that a variable depends on."""
    return [i for i in v.depends if model.variables[i].kind in ("input", "state", "time")]


def output_dependencies(model: Model, v: Variable) -> Sequence[int]:
    """What an output depends on: a state on itself alone, memory on nothing of the moment."""
    return (v.index,) if v.kind == "state" else known_of(model, v) if v.kind == "output" else ()


def initial_dependencies(model: Model, v: Variable) -> set[int]:
    """Inputs and parameters that an initial value depends on: states follow the parameters of their initial values."""
    known: set[int] = set()
    for i in (v.index,) if v.kind == "state" else v.depends:
        variable = model.variables[i]
        if variable.kind == "state":
            known |= {variable.start_from} if variable.start_from >= 0 else set(variable.initial)
        else:
            known.add(i)
    return known


def build_description(model: Model, fmi: Fmi = 2) -> bytes:
    """sources/buildDescription.xml (FMI 3.0 form, which FMI 2.0 importers read too)."""
    root = etree.Element("fmiBuildDescription", fmiVersion="3.0")
    configuration = etree.SubElement(root, "BuildConfiguration", modelIdentifier=model.name)
    files = etree.SubElement(
        configuration,
        "SourceFileSet",
        language="C11",
        compilerOptions="-ffp-contract=off -fno-math-errno -fcx-limited-range",
    )
    for name in source_files(model, fmi):
        etree.SubElement(files, "SourceFile", name=name)
    etree.SubElement(files, "IncludeDirectory", name=".")  # what lies in the folder of a part includes contact_core
    return xml_bytes(root)


def xml_bytes(root: etree._Element) -> bytes:
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))


@functools.cache
def model_schema(fmi: Fmi = 2) -> etree.XMLSchema:
    """The schema of modelDescription.xml that fmpy ships."""
    name = f"fmi{fmi}ModelDescription.xsd"
    return etree.XMLSchema(etree.parse(Path(fmpy.__file__).parent / "schema" / f"fmi{fmi}" / name))


def check_against_schema(root: etree._Element, fmi: Fmi = 2) -> None:
    """Raises ToolError naming what the schema refuses."""
    schema = model_schema(fmi)
    if not schema.validate(root):
        raise ToolError(Problem("modelDescription.xml", str(e.message)) for e in schema.error_log)
