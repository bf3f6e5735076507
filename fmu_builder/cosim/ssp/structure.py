"""SystemStructure.ssd as dataclasses: systems, components, connectors, connections, bindings, dictionaries.

What stands there and is not of SSP 1.0 or 2.0 is named; geometry, notes, metadata and signatures have no effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fmu_builder.cosim.ssp.files import Item, Package, finite_number
from fmu_builder.cosim.ssp.units import Affine, units_of
from fmu_builder.errors import Problem
from fmu_builder.units import Unit

KINDS = {  # of connectors, by what FMI 2.0 calls the causality
    "input": "input",
    "output": "output",
    "parameter": "parameter",
    "calculatedParameter": "calculatedParameter",
    "local": "local",
    "structuralParameter": "",
    "constant": "",
    "inout": "",
    "unspecified": "",
}
TYPES = {"Real": "Real", "Float64": "Real", "Integer": "Integer", "Int32": "Integer", "Boolean": "Boolean"}
TYPES |= {"String": "String", "Enumeration": "Enumeration"}
OTHER_TYPES = ("Float32", "Int8", "UInt8", "Int16", "UInt16", "UInt32", "Int64", "UInt64", "Binary", "Clock")
TRANSFORMATIONS = tuple(
    f"{kind}Transformation" for kind in ("Linear", "BooleanMapping", "IntegerMapping", "EnumerationMapping")
)
META = ("Annotations", "MetaData", "Signature")
_ELEMENT = ("Connectors", "ElementGeometry", "ParameterBindings", *META)


@dataclass(frozen=True)
class Connector:
    """`type` of FMI 2.0, "" where none is given; `unit` None likewise, and for other types than Reals."""

    name: str
    kind: str
    type: str
    unit: Unit | None
    where: str


@dataclass(frozen=True)
class Transformation:
    """Of a value: linear, or by a table of texts."""

    affine: Affine = Affine()  # noqa: RUF009  frozen
    table: Mapping[str, str] | None = None
    of: str = ""  # the type that the table is for


End = tuple[str, str]  # (element, connector), element "" for the system itself


@dataclass(frozen=True)
class Connection:
    ends: tuple[End, End]
    transformation: Transformation
    keep_unit: bool
    where: str


@dataclass(frozen=True)
class Placed:
    """A <ParameterBinding> or <SignalDictionary> as it stands, with the package and the document that its URIs count
    from, the source of its component ("" of a system), and what the document defines for all that stands inside it."""

    item: Item
    package: Package
    document: str
    units: Mapping[str, Unit]
    enumerations: Mapping[str, Mapping[str, int]]
    source: str = ""

    @property
    def is_inline(self) -> bool:
        """Whether its content stands in the document, and not in a file."""
        return not self.item.get("source")


@dataclass(frozen=True)
class Element:
    name: str
    kind: Literal["component", "system", "dictionary"]
    connectors: Mapping[str, Connector]
    bindings: tuple[Placed, ...]
    where: str
    # of a component
    type: str = ""
    source: str = ""
    package: Package | None = None
    document: str = ""  # its path in the package
    # of a dictionary reference
    dictionary: str = ""
    # of a system
    elements: tuple[Element, ...] = ()
    connections: tuple[Connection, ...] = ()
    dictionaries: Mapping[str, Placed] = field(default_factory=dict)


@dataclass(frozen=True)
class Structure:
    """A document: its system, its <DefaultExperiment> if it has one, and all of its annotations."""

    root: Item
    system: Element
    experiment: Item | None


def enumerations_of(root: Item) -> dict[str, Mapping[str, int]]:
    """Numbers by name of each of <Enumerations>, by its name."""
    return {
        one.get("name"): {i.get("name"): int(finite_number(i.get("value")) or 0) for i in one.all() if i.tag == "Item"}
        for one in root.inside("Enumerations")
    }


class Reader:
    """Reads a document of a package; what is wrong goes to `problems`."""

    def __init__(self, root: Item, package: Package, document: str, problems: list[Problem]) -> None:
        self.root, self.package, self.document, self.problems = root, package, document, problems
        self.units = units_of(root.inside("Units"), problems)
        self.enumerations = enumerations_of(root)

    def structure(self) -> Structure | None:
        """None where there is no system."""
        known = ("System", "Enumerations", "Units", "DefaultExperiment", *META)
        self.root.check(known, self.problems)
        system = self.root.first("System")
        if system is None:
            self.problems.append(Problem(self.root.where, "holds no <System>"))
            return None
        return Structure(self.root, self.system(system), self.root.first("DefaultExperiment"))

    def system(self, item: Item) -> Element:
        known = ("Elements", "Connections", "SignalDictionaries", "SystemGeometry", "GraphicalElements")
        item.check((*_ELEMENT, *known), self.problems)
        readers = {
            "Component": self._component,
            "System": self.system,
            "SignalDictionaryReference": self._reference,
        }
        elements: dict[str, Element] = {}
        if (inner := item.first("Elements")) is not None:
            inner.check(readers, self.problems)
            for child in inner.all():
                if child.tag not in readers:
                    continue
                element = readers[child.tag](child)
                if element.name in elements:
                    self.problems.append(Problem(child.where, f"there are two elements '{element.name}' in a system"))
                elements[element.name] = element
        dictionaries = {d.needed("name", self.problems): self._placed(d) for d in item.inside("SignalDictionaries")}
        connections = tuple(self._connection(one) for one in item.inside("Connections"))
        name, connectors, bindings = self._common(item)
        return Element(
            name,
            "system",
            connectors,
            bindings,
            item.where,
            package=self.package,
            document=self.document,
            elements=tuple(elements.values()),
            connections=connections,
            dictionaries=dictionaries,
        )

    def _component(self, item: Item) -> Element:
        item.check(_ELEMENT, self.problems)
        name, connectors, bindings = self._common(item)
        implementation = item.get("implementation", "any")
        if implementation not in ("any", "CoSimulation"):
            what = f"implementation {implementation} of '{name}' is not run; only CoSimulation is: export it so"
            self.problems.append(Problem(item.where, what))
        if not item.get("source"):
            self.problems.append(Problem(item.where, f"'{name}' has no source, so nothing to run: name its FMU"))
        return Element(
            name,
            "component",
            connectors,
            bindings,
            item.where,
            type=item.get("type", "application/x-fmu-sharedlibrary"),
            source=item.get("source"),
            package=self.package,
            document=self.document,
        )

    def _reference(self, item: Item) -> Element:
        item.check(_ELEMENT, self.problems)
        name, connectors, bindings = self._common(item)
        if bindings:
            what = f"the signal dictionary reference '{name}' has parameter bindings; bind them at the FMUs instead"
            self.problems.append(Problem(item.where, what))
        dictionary = item.needed("dictionary", self.problems)
        return Element(name, "dictionary", connectors, (), item.where, dictionary=dictionary)

    def _common(self, item: Item) -> tuple[str, dict[str, Connector], tuple[Placed, ...]]:
        name = item.needed("name", self.problems)
        connectors: dict[str, Connector] = {}
        for one in item.inside("Connectors"):
            connector = self._connector(one)
            if connector.name in connectors:
                self.problems.append(Problem(one.where, f"'{name}' has two connectors '{connector.name}'"))
            connectors[connector.name] = connector
        source = item.get("source")
        bindings = tuple(self._placed(one, source) for one in item.inside("ParameterBindings"))
        return name, connectors, bindings

    def _placed(self, item: Item, source: str = "") -> Placed:
        return Placed(item, self.package, self.document, self.units, self.enumerations, source)

    def _connector(self, item: Item) -> Connector:
        item.check((*TYPES, *OTHER_TYPES, "ConnectorGeometry", "Dimension", *META), self.problems)
        name, kind = item.needed("name", self.problems), item.needed("kind", self.problems)
        if kind and kind not in KINDS:
            self.problems.append(Problem(item.where, f"the kind '{kind}' of '{name}' is unknown to SSP"))
        if item.first("Dimension") is not None:
            self.problems.append(Problem(item.where, f"'{name}' is an array, which FMUs of FMI 2.0 do not have"))
        kind_of_value, unit = self.type_of(item, f"'{name}'")
        return Connector(name, kind, kind_of_value, unit, item.where)

    def type_of(self, item: Item, what: str) -> tuple[str, Unit | None]:
        """Type and unit of a connector or of the entry of a dictionary."""
        other = next((c.tag for c in item.all() if c.tag in OTHER_TYPES), "")
        if other:
            self.problems.append(Problem(item.where, f"{what} is of type {other}, which FMI 2.0 does not have"))
        given = next((child for child in item.all() if child.tag in TYPES), None)
        if given is None:
            return "", None
        name = given.get("unit")
        if name and name not in self.units:
            defined = "<Units> of the file must define it by base units"
            self.problems.append(Problem(given.where, f"the unit '{name}' of {what} is not defined; {defined}"))
        return TYPES[given.tag], self.units.get(name)

    def _connection(self, item: Item) -> Connection:
        item.check((*TRANSFORMATIONS, "ConnectionGeometry", *META), self.problems)
        for key in ("startIndices", "endIndices"):
            if item.get(key):
                self.problems.append(Problem(item.where, f"{key}: FMUs of FMI 2.0 have no arrays"))
        ends = tuple((item.get(f"{end}Element"), item.needed(f"{end}Connector", self.problems)) for end in _ENDS)
        transformation = transformation_of(item, self.problems)
        if transformation.table is not None:
            what = "a mapping of values on a connection is not done; do it inside one of the two FMUs"
            self.problems.append(Problem(item.where, what))
        return Connection(
            (ends[0], ends[1]), transformation, item.truth("suppressUnitConversion", self.problems), item.where
        )


_ENDS = ("start", "end")


def transformation_of(item: Item, problems: list[Problem]) -> Transformation:
    """The transformation in a connection or in an entry of a mapping."""
    found = next((child for child in item.all() if child.tag in TRANSFORMATIONS), None)
    if found is None:
        return Transformation()
    if found.tag == "LinearTransformation":
        return Transformation(Affine(found.number("factor", 1.0, problems), found.number("offset", 0.0, problems)))
    of = found.tag.removesuffix("MappingTransformation")
    found.check(("MapEntry",), problems)
    table = {one.needed("source", problems): one.needed("target", problems) for one in found.all()}
    if of == "Boolean":
        table = {_truth(source): _truth(target) for source, target in table.items()}
    wrong = [text for pair in table.items() for text in pair if not _is_value(of, text)]
    problems += [Problem(found.where, f"'{text}' must be {_VALUES[of]}") for text in wrong]
    return Transformation() if wrong else Transformation(table=table, of=of)


_VALUES = {"Boolean": "true or false", "Integer": "a whole number"}  # by what a table is for


def _is_value(of: str, text: str) -> bool:
    """Whether a table for values of this type may hold the text."""
    if of == "Integer":
        number = finite_number(text)
        return number is not None and number.is_integer()
    return of != "Boolean" or text in ("true", "false")


def _truth(text: str) -> str:
    return {"1": "true", "0": "false"}.get(text.strip(), text.strip())
