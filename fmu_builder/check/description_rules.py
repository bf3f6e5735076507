"""Rules on what modelDescription.xml says beside variables: interfaces, experiment, log categories, units, types."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

from lxml import etree

from fmu_builder.c_names import WORDS_OF_C
from fmu_builder.check.document import Fmu
from fmu_builder.check.findings import Found, Rule
from fmu_builder.errors import InputError
from fmu_builder.export.description import model_schema
from fmu_builder.units import BASES, parse_unit, unit_of_fmi

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_DOUBLES = ("min", "max", "nominal", "start", "factor", "offset", "startTime", "stopTime", "tolerance", "stepSize")


def number(text: str | None) -> float:
    """NaN for what is no number."""
    with suppress(TypeError, ValueError):
        return float(text)  # type: ignore[arg-type]
    return math.nan


def repeated(elements: Iterable[etree._Element], what: str) -> Iterator[Found]:
    """Elements whose name an earlier one has."""
    count: Counter[str] = Counter()
    for one in elements:
        name = one.get("name", "")
        count[name] += 1
        if count[name] > 1:
            yield Found(f"{what} '{name}' is defined again", one.sourceline or 0)


def _schema(fmu: Fmu) -> Iterator[Found]:
    schema = model_schema()
    if not schema.validate(fmu.root):
        yield from (Found(str(one.message), one.line) for one in schema.error_log)


def _finite(fmu: Fmu) -> Iterator[Found]:
    for one in fmu.root.iter("Real", "BaseUnit", "DisplayUnit", "DefaultExperiment"):
        for key in _DOUBLES:
            if key in one.attrib and not math.isfinite(number(one.get(key))):
                yield Found(f"{key} of {one.tag} is {one.get(key)}", one.sourceline or 0)


def _guid(fmu: Fmu) -> Iterator[Found]:
    if not (fmu.root.get("guid") or "").strip():
        yield Found("guid is empty", fmu.root.sourceline or 0)


def _identifier(fmu: Fmu) -> Iterator[Found]:
    for one in fmu.interfaces:
        name = one.get("modelIdentifier", "")
        if not _IDENTIFIER.fullmatch(name) or name in WORDS_OF_C:
            yield Found(f"modelIdentifier '{name}' of {one.tag} is no identifier of C", one.sourceline or 0)


def _an_interface(fmu: Fmu) -> Iterator[Found]:
    if not fmu.interfaces:
        yield Found("neither ModelExchange nor CoSimulation is there", fmu.root.sourceline or 0)
    for tag, count in Counter(one.tag for one in fmu.interfaces).items():
        if count > 1:
            yield Found(f"{tag} is there {count} times", fmu.root.sourceline or 0)


def _serialization(fmu: Fmu) -> Iterator[Found]:
    for one in fmu.interfaces:
        if _is_true(one, "canSerializeFMUstate") and not _is_true(one, "canGetAndSetFMUstate"):
            yield Found(f"{one.tag} has canSerializeFMUstate without canGetAndSetFMUstate", one.sourceline or 0)


def _is_true(one: etree._Element, key: str) -> bool:
    return one.get(key, "false") in ("true", "1")


def _date(fmu: Fmu) -> Iterator[Found]:
    text = fmu.root.get("generationDateAndTime")
    if text is not None and not _DATE.fullmatch(text):
        yield Found(f"generationDateAndTime is '{text}'", fmu.root.sourceline or 0)


def _experiment(fmu: Fmu) -> Iterator[Found]:
    one = fmu.root.find("DefaultExperiment")
    if one is None:
        return
    line = one.sourceline or 0
    start, stop = number(one.get("startTime", "0")), number(one.get("stopTime", one.get("startTime", "0")))
    if stop < start:
        yield Found(f"stopTime {stop:g} lies before startTime {start:g}", line)
    for key in ("stepSize", "tolerance"):
        if key in one.attrib and number(one.get(key)) <= 0.0:
            yield Found(f"{key} is {one.get(key)}, it must be greater than 0", line)


def _categories(fmu: Fmu) -> Iterator[Found]:
    yield from repeated(fmu.root.iterfind("LogCategories/Category"), "the log category")


def _tools(fmu: Fmu) -> Iterator[Found]:
    for group in fmu.root.iter("VendorAnnotations", "Annotations"):
        yield from repeated(group.iterfind("Tool"), "the annotation of the tool")


# ---- units and types -------------------------------------------------------------------------------------------------


def _unit_names(fmu: Fmu) -> Iterator[Found]:
    yield from repeated(fmu.root.iterfind("UnitDefinitions/Unit"), "the unit")
    for unit in fmu.units.values():
        yield from repeated(unit.iterfind("DisplayUnit"), f"of the unit '{unit.get('name')}', the display unit")


def _factors(fmu: Fmu) -> Iterator[Found]:
    for one in fmu.root.iterfind("UnitDefinitions/Unit/*"):
        if number(one.get("factor", "1")) == 0.0:
            yield Found(f"factor of {one.tag} {one.get('name', '')} is 0".replace("  ", " "), one.sourceline or 0)


def _users(fmu: Fmu) -> Iterator[tuple[str, str, etree._Element, str]]:
    """Name, unit, element and displayUnit of each Real that states units, and of each type."""
    for kind in ("TypeDefinitions/SimpleType", "ModelVariables/ScalarVariable"):
        for one in fmu.root.iterfind(f"{kind}/Real"):
            shared = fmu.types.get(one.get("declaredType", ""), ("", None))[1]
            inherited = shared.get("unit", "") if shared is not None else ""
            owner = one.getparent().get("name", "")
            yield owner, one.get("unit", inherited), one, one.get("displayUnit", "")


def _defined(fmu: Fmu) -> Iterator[Found]:
    for owner, unit, one, _ in _users(fmu):
        if "unit" in one.attrib and unit not in fmu.units:
            yield Found(f"unit '{unit}' of '{owner}' is not in UnitDefinitions", one.sourceline or 0)


def _display_units(fmu: Fmu) -> Iterator[Found]:
    for owner, unit, one, display in _users(fmu):
        if not display:
            continue
        known = {d.get("name") for d in fmu.units[unit].iterfind("DisplayUnit")} if unit in fmu.units else set()
        if not unit:
            yield Found(f"'{owner}' has the displayUnit '{display}' and no unit", one.sourceline or 0)
        elif unit in fmu.units and display not in known | {unit}:
            what = f"displayUnit '{display}' of '{owner}' is no DisplayUnit of the unit '{unit}'"
            yield Found(what, one.sourceline or 0)


def _base_units(fmu: Fmu) -> Iterator[Found]:
    """Names that everyone reads alike, such as mm or N.m, with base units of another quantity."""
    for name, unit in fmu.units.items():
        base = unit.find("BaseUnit")
        if base is None:
            continue
        defined = unit_of_fmi(name, base.attrib)
        try:
            usual = parse_unit(name)
        except InputError:
            continue
        angle = BASES.index("rad")
        if defined is not None and _without(defined.exponents, angle) != _without(usual.exponents, angle):
            yield Found(f"BaseUnit of the unit '{name}' is {dict(base.attrib)}", base.sourceline or 0)


def _without(exponents: tuple[int, ...], place: int) -> tuple[int, ...]:
    return exponents[:place] + exponents[place + 1 :]


def _type_names(fmu: Fmu) -> Iterator[Found]:
    types = fmu.root.findall("TypeDefinitions/SimpleType")
    yield from repeated(types, "the type")
    variables = {v.name for v in fmu.variables}
    for one in types:
        if one.get("name") in variables:
            yield Found(f"'{one.get('name')}' is the name of a type and of a variable", one.sourceline or 0)


def _declared_types(fmu: Fmu) -> Iterator[Found]:
    for v in fmu.variables:
        name = v.own.get("declaredType")
        if name is None:
            continue
        if name not in fmu.types:
            yield Found(f"declaredType '{name}' of {v} is not in TypeDefinitions", v.line)
        elif fmu.types[name][0] != v.type:
            yield Found(f"declaredType '{name}' of {v} is of the type {fmu.types[name][0]}, not {v.type}", v.line)


def _items(fmu: Fmu) -> Iterator[Found]:
    for type_name, (_, base) in fmu.types.items():
        for key in ("name", "value"):
            count = Counter(item.get(key) for item in base.iterfind("Item"))
            for text, n in count.items():
                if n > 1:
                    yield Found(f"{n} items of '{type_name}' have the {key} '{text}'", base.sourceline or 0)


SCHEMA = Rule(
    "M01",
    "schema",
    "2.2",
    "modelDescription.xml is valid against the schema of FMI 2.0.",
    "correct the element or attribute",
    _schema,
)
RULES: tuple[Rule[Fmu], ...] = (
    Rule(
        "M02",
        "finite-numbers",
        "2.2",
        "Numbers are finite: NaN and infinities are not allowed.",
        "leave the attribute out, or write a number",
        _finite,
    ),
    Rule("M03", "guid", "2.2.1", "guid is a text that is not empty.", "write a GUID", _guid),
    Rule(
        "M04",
        "model-identifier",
        "2.2.1",
        "modelIdentifier is an identifier of C.",
        "use letters, digits and underscores, a letter first",
        _identifier,
    ),
    Rule(
        "M05",
        "interface",
        "2.2.1",
        "An FMU has ModelExchange, CoSimulation, or both, each once.",
        "add CoSimulation or ModelExchange",
        _an_interface,
    ),
    Rule(
        "M06",
        "serialization-needs-state",
        "3.3.1, 4.3.1",
        "canSerializeFMUstate requires canGetAndSetFMUstate.",
        "set both flags, or neither",
        _serialization,
    ),
    Rule(
        "M07",
        "date",
        "2.2.1",
        "generationDateAndTime has the form 2009-12-08T14:33:22Z, in UTC.",
        "write the date with T and Z",
        _date,
        "warning",
    ),
    Rule(
        "M08",
        "default-experiment",
        "2.2.5",
        "Of DefaultExperiment, stopTime is not before startTime, stepSize and tolerance are greater than 0.",
        "correct DefaultExperiment",
        _experiment,
    ),
    Rule("M09", "log-categories", "2.2.4", "Log categories have names of their own.", "rename one", _categories),
    Rule("M10", "annotations", "2.2.6", "Each tool has one annotation.", "merge the annotations of the tool", _tools),
    Rule(
        "U01",
        "unit-names",
        "2.2.2",
        "Units, and display units of a unit, have names of their own.",
        "rename one",
        _unit_names,
    ),
    Rule("U02", "unit-factors", "2.2.2", "Factors of units are not 0.", "correct the factor", _factors),
    Rule(
        "U03",
        "unit-defined",
        "2.2.7",
        "The unit of a variable or type is in UnitDefinitions.",
        "add the Unit to UnitDefinitions",
        _defined,
    ),
    Rule(
        "U04",
        "display-unit-defined",
        "2.2.7",
        "displayUnit requires a unit, of which it is a DisplayUnit.",
        "add the DisplayUnit to the Unit",
        _display_units,
    ),
    Rule(
        "U05",
        "base-unit",
        "2.2.2",
        "BaseUnit has the dimension of the unit that the name says.",
        "correct the exponents of BaseUnit",
        _base_units,
        "warning",
    ),
    Rule(
        "U06",
        "type-names",
        "2.2.3",
        "Types have names of their own, which are none of a variable.",
        "rename the type",
        _type_names,
    ),
    Rule(
        "U07",
        "declared-type",
        "2.2.7",
        "declaredType is a type of TypeDefinitions with the type of the variable.",
        "add the type, or correct declaredType",
        _declared_types,
    ),
    Rule(
        "U08",
        "enumeration-items",
        "2.2.3",
        "Items of an enumeration differ in name and value.",
        "rename or renumber one",
        _items,
    ),
)
