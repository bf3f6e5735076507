"""From connectors to the variables of FMUs: links, start values and outputs of a system of any depth.

A node is a connector: of an FMU, of a system, or the entry of a signal dictionary.  At most one connection enters it,
so the way back from an input leads to one output, or to a connector that nothing drives, with the values of parameter
bindings on it.  Units are converted on each connection, then its transformation is applied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fmu_builder.cosim.ssp.elements import MOST_ELEMENTS, Fmu, Opener
from fmu_builder.cosim.ssp.parameters import Parameter, content_of, parameters_of
from fmu_builder.cosim.ssp.structure import META, Connection, Connector, Element, Placed, Reader
from fmu_builder.cosim.ssp.units import Affine, conversion, same_scale
from fmu_builder.errors import InputError, Problem, collected, did_you_mean, none_of
from fmu_builder.export.archive import Room
from fmu_builder.units import Unit

Node = tuple[tuple[str, ...], str]  # (names of systems and component, connector)
_GIVE = ("output", "calculatedParameter", "local", "constant")  # kinds of elements
_OPEN = ("inout", "unspecified")
_SSB = "application/x-ssp-signal-dictionary"
_DICTIONARY = "\0"  # begins the name of a dictionary on the way to a node; no name in XML has this character


_Scope = Mapping[str, tuple[tuple[str, ...], Placed]]
"""Signal dictionaries by name, with the way to each."""


@dataclass(frozen=True)
class _Entry:
    """What enters a node."""

    source: Node
    connection: Connection


@dataclass(frozen=True)
class Found:
    """What a node carries: the values of `output` of an FMU after `change`, or one value for the whole run, or nothing.

    unit  of the node's values, None where it is unknown"""

    output: tuple[Fmu, str] | None = None
    change: Affine = Affine()  # noqa: RUF009  frozen
    value: float | bool | str | None = None
    parameter: Parameter | None = None  # that the value is of
    unit: Unit | None = None


class Network:
    """The nodes of a system.  What is wrong goes to `problems`, what has no effect to `notes`.

    room  for archives inside the archive
    fmus  by the names on the way to each, in the order of the document"""

    def __init__(self, system: Element, room: Room, problems: list[Problem]) -> None:
        self.problems, self.notes = problems, list[str]()
        self.fmus: dict[tuple[str, ...], Fmu] = {}
        self._opener = Opener(room, problems)
        self._systems: dict[tuple[str, ...], Element] = {}
        self._units: dict[Node, Unit | None] = {}
        self._types: dict[Node, str] = {}  # "" where it is unknown
        self._entering: dict[Node, _Entry] = {}
        self._given: list[tuple[int, Node, Parameter]] = []  # with the depth of the binding
        self._values: dict[Node, Parameter] = {}
        self._found: dict[Node, Found] = {}
        self._dictionaries: dict[tuple[str, ...], dict[str, tuple[str, Unit | None]]] = {}
        self._elements = 0
        self._system(system, (), {}, 0)
        for _, node, parameter in sorted(self._given, key=lambda one: -one[0]):  # of equal depth: the last one counts
            self._values[node] = parameter

    # ---- elements ----

    def _system(self, system: Element, path: tuple[str, ...], scope: _Scope, documents: int) -> None:
        """Adds the nodes of a system and of those in it.   documents: around this one"""
        own = {name: ((*path, f"{_DICTIONARY}{name}"), placed) for name, placed in system.dictionaries.items()}
        scope = {**scope, **own}
        self._systems[path] = system
        nodes = {"": self._connectors(system, path)}
        for element in system.elements:
            self._elements += 1
            if self._elements > MOST_ELEMENTS:
                raise InputError(Problem(element.where, f"the system has more than {MOST_ELEMENTS} elements"))
            below = (*path, element.name)
            if element.kind == "dictionary":
                nodes[element.name] = self._references(element, scope)
            elif element.kind == "system":
                self._system(element, below, scope, documents)
                nodes[element.name] = self._connectors(element, below)
            elif not element.source:  # a problem of the document
                nodes[element.name] = self._connectors(element, below)
            elif self._opener.is_fmu(element):
                fmu = self._opener.fmu(element, below)
                if fmu is not None:
                    self.fmus[below] = fmu
                    self._bind(element, below)
                nodes[element.name] = self._connectors(element, below, fmu)
            elif (found := self._opener.nested(element, documents + 1)) is not None:
                self._system(found, below, {}, documents + 1)
                nodes[element.name] = self._connectors(found, below)
            else:
                nodes[element.name] = self._connectors(element, below)
        for connection in system.connections:
            self._connect(connection, nodes, system)
        self._bind(system, path)

    def _connectors(
        self, element: Element, path: tuple[str, ...], fmu: Fmu | None = None
    ) -> dict[str, tuple[Node, Connector]]:
        for name, connector in element.connectors.items():
            variable = fmu.variable(name) if fmu else None
            self._units[path, name] = (fmu.unit(name) if fmu else None) or connector.unit
            self._types[path, name] = connector.type or (variable.type if variable else "")
        return {name: ((path, name), connector) for name, connector in element.connectors.items()}

    def _references(self, element: Element, scope: _Scope) -> dict[str, tuple[Node, Connector]]:
        """The connectors of a signal dictionary reference: their nodes are the entries of the dictionary."""
        if element.dictionary not in scope:
            what = f"there is no signal dictionary '{element.dictionary}'{did_you_mean(element.dictionary, scope)}"
            self.problems.append(Problem(element.where, what))
            return {}
        place, dictionary = scope[element.dictionary]
        entries = self._entries(place, dictionary)
        found: dict[str, tuple[Node, Connector]] = {}
        for name, connector in element.connectors.items():
            if name not in entries:
                what = f"the dictionary '{element.dictionary}': {none_of(name, entries)}"
                self.problems.append(Problem(connector.where, what))
                continue
            kind, unit = entries[name]
            if unit and connector.unit and not same_scale(unit, connector.unit):
                what = f"'{name}' is in {unit.name} in the dictionary, in {connector.unit.name} here; use one of them"
                self.problems.append(Problem(connector.where, what))
            if connector.type and connector.type != kind:
                what = f"'{name}' is of type {kind} in the dictionary, of type {connector.type} here"
                self.problems.append(Problem(connector.where, what))
            self._units[place, name] = unit or connector.unit
            self._types[place, name] = kind or connector.type
            found[name] = ((place, name), connector)
        return found

    def _entries(self, place: tuple[str, ...], dictionary: Placed) -> dict[str, tuple[str, Unit | None]]:
        """Type and unit of the entries of a dictionary, by name; none where it has problems."""
        found = self._dictionaries.setdefault(place, {})
        if not found:
            with collected(self.problems):
                root = content_of(dictionary, dictionary.item, dictionary.item, "SignalDictionary", _SSB)
                root.check(("DictionaryEntry", "Enumerations", "Units", *META), self.problems)
                reader = Reader(root, dictionary.package, dictionary.document, self.problems)
                if dictionary.is_inline:
                    reader.units = {**dictionary.units, **reader.units}
                for entry in (one for one in root.all() if one.tag == "DictionaryEntry"):
                    name = entry.needed("name", self.problems)
                    found[name] = reader.type_of(entry, f"'{name}'")
        return found

    # ---- connections ----

    def _connect(
        self, connection: Connection, nodes: Mapping[str, Mapping[str, tuple[Node, Connector]]], system: Element
    ) -> None:
        ends = []
        for element, name in connection.ends:
            known = nodes.get(element)
            if known is None:
                what = f"there is no element '{element}' in '{system.name}'{did_you_mean(element, nodes)}"
            elif name not in known:
                what = f"'{element or system.name}' has no connector '{name}'{did_you_mean(name, known)}"
            else:
                ends.append((element, *known[name]))
                continue
            self.problems.append(Problem(connection.where, what))
        if len(ends) < 2:
            return
        gives = [_gives(connector.kind, bool(element)) for element, _, connector in ends]
        if gives[0] == gives[1]:
            shown = " and ".join(f"{c.kind} {e or system.name}.{c.name}" for e, _, c in ends)
            what = {True: "both give values", False: "both take values", None: "leave the direction open"}[gives[0]]
            self.problems.append(Problem(connection.where, f"{shown} {what}; connect one that gives to one that takes"))
            return
        types = [self._types.get(node, "") for _, node, _ in ends]
        if all(types) and types[0] != types[1]:
            shown = " and ".join(
                f"{e or system.name}.{c.name} of type {t}" for t, (e, _, c) in zip(types, ends, strict=True)
            )
            self.problems.append(Problem(connection.where, f"{shown} are connected; values keep their type"))
            return
        source, target = (0, 1) if gives[0] or gives[1] is False else (1, 0)
        node = ends[target][1]
        if node in self._entering:
            shown = f"{ends[target][0] or system.name}.{node[1]}"
            first = self._entering[node].connection.where.rpartition(": ")[2]
            what = f"{shown} gets a value by the connection of {first} already; SSP allows one: add up inside an FMU"
            self.problems.append(Problem(connection.where, what))
            return
        self._entering[node] = _Entry(ends[source][1], connection)

    # ---- parameters ----

    def _bind(self, element: Element, path: tuple[str, ...]) -> None:
        for binding in element.bindings:
            for parameter in parameters_of(binding, self.problems):
                nodes = list(self._named(path, parameter.name))
                if not nodes:
                    shown = element.name if path else "the system"
                    self.notes.append(f"{parameter.where}: {shown} has no '{parameter.name}': the value has no effect")
                self._given += [(len(path), node, parameter) for node in nodes]

    def _named(self, path: tuple[str, ...], name: str) -> Iterator[Node]:
        """All nodes of this hierarchical name in an element."""
        if path in self.fmus:
            if self.fmus[path].variable(name) is not None:
                self._units.setdefault((path, name), self.fmus[path].unit(name))
                yield path, name
            return
        system = self._systems.get(path)
        if system is None:  # an FMU with problems
            return
        if name in system.connectors:
            if system.connectors[name].kind in _GIVE:
                what = f"'{name}' is an {system.connectors[name].kind} of the system, which takes no value"
                self.problems.append(Problem(system.connectors[name].where, what))
            yield path, name
        for element in system.elements:
            if name.startswith(f"{element.name}."):
                yield from self._named((*path, element.name), name[len(element.name) + 1 :])

    # ---- what a node carries ----

    def found(self, node: Node) -> Found:
        """What a node carries.  A circle of connections is a problem."""
        way: list[Node] = []
        while node not in self._found and node in self._entering and node not in way:
            way.append(node)
            node = self._entering[node].source
        if node in way:
            circle = [node, *reversed(way[way.index(node) :])]
            shown = " -> ".join(".".join((*path, name)) for path, name in circle).replace(_DICTIONARY, "")
            self.problems.append(
                Problem(self._entering[node].connection.where, f"{shown} is a circle without a source")
            )
            self._found |= dict.fromkeys(way, Found())
            return Found()
        if node not in self._found:
            self._found[node] = self._root(node)
        carried = self._found[node]
        for target in reversed(way):
            carried = self._found[target] = self._after(carried, self._entering[target].connection, target)
        return carried

    def _root(self, node: Node) -> Found:
        """Of a node that no connection enters."""
        path, name = node
        if path in self.fmus:
            fmu, variable = self.fmus[path], self.fmus[path].variable(name)
            if variable is not None and variable.causality not in ("input", "parameter"):
                return Found((fmu, name), unit=self._units.get(node))
        return self._given_value(node)

    def _given_value(self, node: Node) -> Found:
        parameter, unit = self._values.get(node), self._units.get(node)
        if parameter is None:
            return Found(unit=unit)
        try:
            value = parameter.transformed(conversion(parameter.unit, unit), parameter.where)
        except InputError as error:
            shown = f"'{parameter.name}'"
            self.problems += [p if p.where else Problem(parameter.where, f"{shown}: {p.what}") for p in error.problems]
            return Found(unit=unit)
        return Found(value=value, parameter=parameter, unit=unit or parameter.unit)

    def _after(self, source: Found, connection: Connection, target: Node) -> Found:
        """What a connection makes of what its source carries."""
        unit = self._units.get(target)
        if source.output is None and source.value is None:
            return self._given_value(target)
        try:
            change = Affine() if connection.keep_unit else conversion(source.unit, unit)
            if self._is_relative(source, target):
                change = Affine(change.factor)
        except InputError as error:
            self.problems += [Problem(connection.where, p.what) for p in error.problems]
            change = Affine()
        change = connection.transformation.affine.after(change)
        unit = unit or source.unit
        if source.output is not None:
            return Found(source.output, change.after(source.change), unit=unit)
        value = source.value
        if change != Affine():
            if isinstance(value, str | bool):
                what = f"a linear transformation does not apply to {value!r} of '{target[1]}'"
                self.problems.append(Problem(connection.where, what))
            elif value is not None:
                value = change(value)
        return Found(value=value, parameter=source.parameter, unit=unit)

    def _is_relative(self, source: Found, target: Node) -> bool:
        """Whether a value is a difference, to which the offset of a unit does not belong."""
        ends = [source.output, (self.fmus[target[0]], target[1]) if target[0] in self.fmus else None]
        found = [end[0].variable(end[1]) for end in ends if end is not None]
        return any(variable is not None and variable.relative for variable in found)

    def own_value(self, node: Node) -> Found | None:
        """What a binding gives the node, whatever a connection brings it."""
        return self._given_value(node) if node in self._values else None

    def entering(self) -> Mapping[Node, Connection]:
        """The nodes at which connections end."""
        return {node: entry.connection for node, entry in self._entering.items()}

    def valued(self) -> Iterator[Node]:
        """The nodes that bindings give values to."""
        return iter(self._values)


def _gives(kind: str, of_element: bool) -> bool | None:
    """Whether a connector gives values to the inside of its system; None where that is open."""
    if kind in _OPEN or not kind:
        return None
    return (kind in _GIVE) == of_element
