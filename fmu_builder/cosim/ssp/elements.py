"""The elements of a system, those of documents inside it included: what each is, and the FMUs among them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from fmu_builder.cosim.slave import SlaveDescription, read_slave
from fmu_builder.cosim.ssp.files import MAIN, Package, open_package, read_xml
from fmu_builder.cosim.ssp.structure import KINDS, Connector, Element, Reader, Structure
from fmu_builder.cosim.ssp.units import same_scale, unit_of
from fmu_builder.errors import InputError, Problem, did_you_mean
from fmu_builder.export.archive import Room
from fmu_builder.model.connectable import SlaveVariable
from fmu_builder.model.counted_parts import is_member_name
from fmu_builder.units import Unit

_FMU, _SSD, _SSP = (f"application/x-{kind}" for kind in ("fmu-sharedlibrary", "ssp-definition", "ssp-package"))
_DEEPEST = 16  # documents inside one another
MOST_ELEMENTS = 10_000  # a document that is used many times, inside itself too, stays bounded


@dataclass(frozen=True)
class Fmu:
    """A component that is an FMU.   name: of the slave"""

    name: str
    file: Path
    description: SlaveDescription

    def variable(self, name: str) -> SlaveVariable | None:
        return self.description.variables.get(name)

    def unit(self, name: str) -> Unit | None:
        variable = self.variable(name)
        return unit_of(variable) if variable is not None else None


class Opener:
    """Finds what components are.  Files that several of them use are read once.   room: for archives in the archive"""

    def __init__(self, room: Room, problems: list[Problem]) -> None:
        self.problems = problems
        self._room = room
        self._packages: dict[Path, Package] = {}
        self._read: dict[Path, SlaveDescription | InputError] = {}
        self._names: set[str] = set()

    def fmu(self, component: Element, path: tuple[str, ...]) -> Fmu | None:
        """The FMU of a component, its connectors checked; None where there is a problem."""
        assert component.package is not None
        try:
            file, _ = component.package.resolve(component.source, component.where, component.document)
            if file not in self._read:
                try:
                    self._read[file] = read_slave(file)
                except InputError as error:
                    self._read[file] = error
            found = self._read[file]
            if isinstance(found, InputError):
                shown = component.package.shown(file)
                whats = [str(p).removeprefix(f"{file}: ") for p in found.problems]
                raise InputError([Problem(component.where, f"{shown} {what}") for what in whats])
        except InputError as error:
            self.problems += error.problems
            return None
        fmu = Fmu(self._slave_name(path), file, found)
        for connector in component.connectors.values():
            if what := _mismatch(connector, fmu):
                self.problems.append(Problem(connector.where, what))
        return fmu

    def is_fmu(self, component: Element) -> bool:
        return component.type == _FMU

    def nested(self, component: Element, depth: int) -> Element | None:
        """The system that a component of another type is, with the name, and after its own the bindings, of the
        component; None where there is a problem."""
        assert component.package is not None
        if depth > _DEEPEST:
            what = f"documents are nested more than {_DEEPEST} deep; is '{component.name}' inside itself?"
            self.problems.append(Problem(component.where, what))
            return None
        if component.type not in (_SSD, _SSP):
            what = f"'{component.name}' is of type '{component.type}'; {_FMU}, {_SSP} and {_SSD} are run"
            self.problems.append(Problem(component.where, what))
            return None
        try:
            found = self._document(component)
        except InputError as error:
            self.problems += error.problems
            return None
        if found is None:
            return None
        for name, connector in component.connectors.items():
            inner = found.connectors.get(name)
            if inner is None:
                what = f"'{component.name}' has no connector '{name}'{did_you_mean(name, found.connectors)}"
            elif inner.kind != connector.kind:
                what = f"'{name}' is of kind {connector.kind} here, and of kind {inner.kind} in {inner.where}"
            elif inner.unit and connector.unit and not same_scale(inner.unit, connector.unit):
                what = f"'{name}' is in {connector.unit.name} here, and in {inner.unit.name} in {inner.where}"
            else:
                continue
            self.problems.append(Problem(connector.where, what))
        return replace(found, name=component.name, bindings=(*found.bindings, *component.bindings))

    def _document(self, component: Element) -> Element | None:
        package = component.package
        assert package is not None
        if component.source.startswith("#"):
            return self._system_of(component, package, component.source[1:])
        file, fragment = package.resolve(component.source, component.where, component.document)
        if component.type == _SSD:
            document = file.relative_to(package.folder).as_posix()
            structure = read_structure(package, document, self.problems)
        else:
            if file not in self._packages:
                self._packages[file] = open_package(file, self._room, package.shown(file))
            structure = read_structure(self._packages[file], fragment or MAIN, self.problems)
        return structure.system if structure else None

    def _system_of(self, component: Element, package: Package, name: str) -> Element | None:
        """The system with this id in the component's own document."""
        root = read_xml(package.folder / component.document, f"{package.path}: {component.document}", _ROOT)
        reader = Reader(root, package, component.document, [])  # whose problems are known already
        for element in root.element.iter("{*}System"):
            if element.get("id") == name:
                return reader.system(replace(root, element=element))
        raise InputError(Problem(component.where, f"the document has no system with the id '{name}'"))

    def _slave_name(self, path: tuple[str, ...]) -> str:
        """A name that no other slave has: its own if it is one of a scenario, else an identifier of the names on the
        way to it."""
        plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in "_".join(path))
        identifier = plain if plain and not plain[0].isdigit() else f"_{plain}"
        name = base = path[0] if len(path) == 1 and is_member_name(path[0]) else identifier
        number = 1
        while name in self._names:
            number += 1
            name = f"{base}_{number}"
        self._names.add(name)
        return name


_ROOT = "SystemStructureDescription"


def read_structure(package: Package, document: str, problems: list[Problem]) -> Structure | None:
    """The structure that a document of the package describes.   Raises InputError where it cannot be read."""
    file, _ = package.resolve(document, str(package.path))
    return Reader(read_xml(file, package.shown(file), _ROOT), package, document, problems).structure()


def _mismatch(connector: Connector, fmu: Fmu) -> str | None:
    """Why a connector does not fit the variable of its FMU, or None."""
    variable = fmu.variable(connector.name)
    shown = f"'{connector.name}' of {fmu.description.model_name}"
    if variable is None:
        alike = did_you_mean(connector.name, fmu.description.variables)
        return f"{fmu.description.model_name} has no variable '{connector.name}'{alike}"
    if connector.kind != "unspecified" and KINDS.get(connector.kind) != variable.causality:
        return f"{shown} is of causality {variable.causality} in the FMU, not {connector.kind}"
    if connector.type and connector.type != variable.type:
        return f"{shown} is of type {variable.type} in the FMU, not {connector.type}"
    unit = fmu.unit(connector.name)
    if unit is not None and connector.unit is not None and not same_scale(unit, connector.unit):
        return f"{shown} is in {unit.name} in the FMU, in {connector.unit.name} here; give it the unit of the FMU"
    return None
