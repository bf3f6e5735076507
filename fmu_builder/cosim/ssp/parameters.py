"""Parameter sets (SSV) and their mappings (SSM): from a binding to values by the names that it gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from fmu_builder.cosim.ssp.files import Item, checked_root, finite_number, read_xml, read_xml_of_fmu
from fmu_builder.cosim.ssp.structure import (
    META,
    OTHER_TYPES,
    TYPES,
    Placed,
    Transformation,
    enumerations_of,
    transformation_of,
)
from fmu_builder.cosim.ssp.units import Affine, units_of
from fmu_builder.errors import InputError, Problem, collected, none_of
from fmu_builder.units import Unit

_SSV, _SSM = "application/x-ssp-parameter-set", "application/x-ssp-parameter-mapping"


@dataclass(frozen=True)
class Parameter:
    """A value under the name that a binding gives it.

    value           number, truth value or text, by the type; of an enumeration the name of its item
    unit            of a Real; None where none is given
    items           of an enumeration that the set itself defines: numbers by name
    transformation  after the conversion to the unit of the target
    keep_unit       whether that conversion is suppressed"""

    name: str
    type: str
    value: float | bool | str
    unit: Unit | None
    where: str
    items: Mapping[str, int] | None = None
    transformation: Transformation = Transformation()  # noqa: RUF009  frozen
    keep_unit: bool = False

    def transformed(self, convert: Affine, where: str) -> float | bool | str:
        """The value for a target.   convert: from the unit to the target's.   Raises InputError."""
        table, of = self.transformation.table, self.transformation.of
        if table is not None:
            if of != self.type:
                raise InputError(Problem(where, f"a mapping of {of} values does not apply to {self._shown}"))
            key = str(self.value).lower() if self.type == "Boolean" else str(self.value)
            if key not in table:
                raise InputError(Problem(where, f"{self._shown}: {none_of(key, table)}"))
            return _value(self.type, table[key])
        affine = self.transformation.affine
        if self.type not in ("Real", "Integer"):
            if affine != Affine():
                raise InputError(Problem(where, f"a linear transformation does not apply to {self._shown}"))
            return self.value
        change = affine.after(Affine() if self.keep_unit else convert)
        return change(float(self.value)) if change != Affine() else self.value

    @property
    def _shown(self) -> str:
        return f"'{self.name}' of type {self.type}"


def _value(kind: str, text: str) -> float | bool | str:
    if kind == "Boolean":
        return text == "true"
    return int(float(text)) if kind == "Integer" else text


def parameters_of(binding: Placed, problems: list[Problem]) -> Iterator[Parameter]:
    """The parameters that a <ParameterBinding> gives, mapped; what is wrong goes to `problems`."""
    item = binding.item
    item.check(("ParameterValues", "ParameterMapping", *META), problems)
    found: list[Parameter] = []
    mapping = item.first("ParameterMapping")
    entries: list[Item] | None = None
    with collected(problems):
        root = content_of(binding, item, item.first("ParameterValues"), "ParameterSet", _SSV)
        found = list(_parameters(binding, root, problems))
    if mapping is not None:
        entries = []
        with collected(problems):
            root = content_of(binding, mapping, mapping, "ParameterMapping", _SSM)
            root.check(("MappingEntry", *META), problems)
            entries = [one for one in root.all() if one.tag == "MappingEntry"]
    prefix = item.get("prefix")
    found = [replace(one, name=prefix + one.name) for one in found]
    if entries is None:
        yield from found
        return
    by_name = {one.name: one for one in found}
    for entry in entries:
        source, target = entry.needed("source", problems), entry.needed("target", problems)
        change, keep = transformation_of(entry, problems), entry.truth("suppressUnitConversion", problems)
        if source in by_name:
            yield replace(by_name[source], name=target, transformation=change, keep_unit=keep)


def content_of(binding: Placed, item: Item, inline: Item | None, root: str, kind: str) -> Item:
    """The root of a parameter set, a mapping or a dictionary: of the file that `source` of the item names, or in
    `inline`.   kind: the MIME type that it must have.   Raises InputError."""
    given = item.get("type", kind)
    if given != kind:
        raise InputError(Problem(item.where, f"type '{given}' is none of SSP: give a file of type {kind}"))
    source = item.get("source")
    if source:
        if item.get("sourceBase", "SSD") != "component":
            file, _ = binding.package.resolve(source, item.where, binding.document)
            return read_xml(file, binding.package.shown(file), root)
        return _in_component(binding, source, item.where, root)
    found = next((child for child in inline.all() if child.tag == root), None) if inline is not None else None
    if found is None:
        raise InputError(Problem(item.where, f"has neither a source nor a <{root}> inside"))
    return checked_root(found, root)


def _in_component(binding: Placed, source: str, where: str, root: str) -> Item:
    if not binding.source:
        raise InputError(Problem(where, "sourceBase 'component' belongs to a component; this is a system"))
    file, _ = binding.package.resolve(binding.source, where, binding.document)
    if file.suffix != ".fmu":
        what = f"sourceBase 'component': {file.name} is no FMU; place the file beside the document"
        raise InputError(Problem(where, what))
    return read_xml_of_fmu(file, source, where, root)


def _parameters(binding: Placed, root: Item, problems: list[Problem]) -> Iterator[Parameter]:
    root.check(("Parameters", "Enumerations", "Units", *META), problems)
    units = units_of(root.inside("Units"), problems)
    enumerations = enumerations_of(root)
    if binding.is_inline:
        units, enumerations = {**binding.units, **units}, {**binding.enumerations, **enumerations}
    for item in root.inside("Parameters"):
        name = item.needed("name", problems)
        item.check((*TYPES, *OTHER_TYPES, "Dimension", *META), problems)
        child = next((one for one in item.all() if one.tag in (*TYPES, *OTHER_TYPES)), None)
        if child is None or child.tag in OTHER_TYPES or item.first("Dimension") or child.first("Value"):
            what = (
                "has no value" if child is None else "is an array" if child.tag in TYPES else f"is of type {child.tag}"
            )
            problems.append(Problem(item.where, f"'{name}' {what}; give a value of a type of FMI 2.0"))
            continue
        kind, text = TYPES[child.tag], child.needed("value", problems)
        value = _read(kind, text)
        if value is None:
            problems.append(Problem(child.where, f"'{name}': '{text}' is no value of type {kind}"))
            continue
        unit = child.get("unit")
        if unit and unit not in units:
            what = f"the unit '{unit}' of '{name}' is not defined; <Units> of the file must define it by base units"
            problems.append(Problem(child.where, what))
        yield Parameter(name, kind, value, units.get(unit), child.where, enumerations.get(child.get("name")))


def _read(kind: str, text: str) -> float | bool | str | None:
    """The value of a text, None where it has none of this type."""
    if kind in ("String", "Enumeration"):
        return text
    if kind == "Boolean":
        return {"true": True, "1": True, "false": False, "0": False}.get(text.strip())
    number = finite_number(text)
    if kind == "Real" or number is None:
        return number
    return int(number) if number.is_integer() and "." not in text else None
