"""The Modelica class of an assembly, or of a scenario: its parts, connected.

A port of a force element without a connection stands still in an FMU: here it is connected with ground.  A force that a
recipe gives as start value of a body's port is a source of a constant force."""

from __future__ import annotations

import html as markup
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fmu_builder.errors import InputError, Problem
from fmu_builder.laws.modelica_source import free_name
from fmu_builder.model.assembly import AssemblyModel, Part
from fmu_builder.model.model import Variable
from fmu_builder.modelica import words
from fmu_builder.modelica.element_class import Connector, ElementClass
from fmu_builder.modelica.icons import line, placed_at
from fmu_builder.units import quantity

_APART = 40  # of components in a diagram, whose coordinates go to 100
_GROUNDS = {
    "rotational": (f"{words.MSL}.Rotational.Components.Fixed", "flange"),
    "translational": (f"{words.MSL}.Translational.Components.Fixed", "flange"),
    "planar": ("Interfaces.PlanarGround", "P"),
}
_SOURCES = {  # type of the component, its parameter
    "rotational": (f"{words.MSL}.Rotational.Sources.ConstantTorque", "tau_constant"),
    "translational": (f"{words.MSL}.Translational.Sources.ConstantForce", "f_constant"),
}
_TAKEN = ("world", "Elements", "Interfaces", "Modelica")  # by what a system names itself
_PLACES = {"r": (0.0, 0.0, 0.0), "q": (1.0, 0.0, 0.0, 0.0)}  # roles of a frame, at the origin of the world
_WORLD = f"{words.MSL}.MultiBody.World"


@dataclass
class _Diagram:
    """Components in rows, and the lines between them."""

    lines: list[str] = field(default_factory=list)
    connections: list[str] = field(default_factory=list)
    places: dict[str, tuple[float, float]] = field(default_factory=dict)

    def add(self, name: str, declaration: str) -> None:
        row, column = divmod(len(self.places), 5)
        x, y = -80.0 + _APART * column, 80.0 - _APART * row
        self.places[name] = (x, y)
        self.lines.append(f"  {declaration}\n    annotation({placed_at(x, y)});")

    def connect(self, a: str, side: str, b: str, other_side: str) -> None:
        ends = []
        for end, where in ((a, side), (b, other_side)):
            x, y = self.places[end.partition(".")[0]]
            ends.append((x + (-10.0 if where == "left" else 10.0), y))
        self.connections.append(f"  connect({a}, {b})\n    annotation({line(*ends)});")


@dataclass(frozen=True)
class SystemClass:
    """`parts`: the Modelica names of the parts, by their own."""

    name: str
    text: str
    parts: Mapping[str, str]


def system_class(
    model: AssemblyModel, classes: Mapping[str, ElementClass], name: str, prefix: str, start: float
) -> SystemClass:
    """The class `name`.   classes: those of the recipes of the parts, by name     prefix: of the package they lie in
    start: of the experiment, s

    Raises InputError naming everything that has no Modelica form."""
    return _System(model, classes, prefix).made(name, start)


class _System:
    def __init__(self, model: AssemblyModel, classes: Mapping[str, ElementClass], prefix: str) -> None:
        self.model, self.classes, self.prefix = model, classes, prefix
        self.parts = {part.name: part for part in model.parts}
        self.names: dict[str, str] = {}
        for name in self.parts:
            self.names[name] = free_name(words.identifier(name), {*_TAKEN, *self.names.values()})
        self.diagram = _Diagram()
        self.problems: list[Problem] = []
        self.connected: set[tuple[str, str]] = set()

    def made(self, name: str, start: float) -> SystemClass:
        for part in self.model.parts:
            self._part(part)
        for pair in self.model.connections:
            self._connection(pair)
        for part in self.model.parts:
            self._open_ports(part)
        if self.problems:
            raise InputError(self.problems)
        model = self.model
        experiment = {
            **({"StartTime": start} if start else {}),
            "StopTime": start + model.experiment.stop,
            "Interval": model.experiment.step,
            "Tolerance": model.experiment.tolerance,
        }
        times = ", ".join(f"{key}={words.number(value)}" for key, value in experiment.items())
        text = "\n".join(
            [
                f"model {name} {words.string(model.description)}",
                "  extends Modelica.Icons.Example;",
                *self.diagram.lines,
                "equation",
                *self.diagram.connections,
                f"  annotation(experiment({times}),",
                f"    {words.html(self._documentation())});",
                f"end {name};",
                "",
            ]
        )
        return SystemClass(name, text, self.names)

    def _problem(self, where: str, what: str) -> None:
        self.problems.append(Problem(f"{self.model.path}: {where}", what))

    def _class(self, part: Part) -> ElementClass:
        return self.classes[part.model.name]

    def _variable(self, part: Part, raw: Variable) -> Variable:
        """A variable of the part as the system has it, with its start value there."""
        return self.model.variables[part.offset + raw.index]

    def _part(self, part: Part) -> None:
        known = self._class(part)
        given: dict[str, list[Variable]] = {}
        for raw in part.model.variables:
            base = re.sub(r"\[\d+\]$", "", raw.name)
            if base in known.declared and raw.is_settable:
                given.setdefault(base, []).append(raw)
        of_ports = {name for port in part.model.ports for name in (*port.motion_names, *port.force_names)}
        changes = []
        for base, group in given.items():
            values = [self._variable(part, raw).start for raw in group]
            if group[0].name in of_ports or values == [raw.start for raw in group]:
                continue
            value = words.truth(values[0]) if group[0].type == "bool" else words.values(values)
            changes.append(f"{known.declared[base]}={value}")
        name = self.names[part.name]
        self.diagram.add(name, f"{self.prefix}{known.name} {name}{words.modified(changes)}")

    def _end(self, end: str) -> tuple[Part, Connector] | None:
        """The part and connector that the end of a connection names."""
        for name, part in self.parts.items():
            port = re.sub(r"\[\d+\]$", "", end.removeprefix(f"{name}."))
            if end.startswith(f"{name}.") and port in self._class(part).connectors:
                return part, self._class(part).connectors[port]
        return None

    def _connection(self, pair: tuple[str, str]) -> None:
        found = [self._end(end) for end in pair]
        ends = [one for one in found if one is not None]
        if len(ends) < 2:
            name = pair[0] if found[0] is None else pair[1]
            what = f"'{name}' is no port of a part: single variables, and ports of assemblies, have no Modelica form"
            self._problem(f"connections [{', '.join(pair)}]", what)
            return
        self.connected |= {(part.name, one.name) for part, one in ends}
        (a, first), (b, second) = ends
        one, other = f"{self.names[a.name]}.{first.name}", f"{self.names[b.name]}.{second.name}"
        self.diagram.connect(one, first.side, other, second.side)

    def _open_ports(self, part: Part) -> None:
        for port in part.model.ports:
            base = re.sub(r"\[\d+\]$", "", port.name)
            one = self._class(part).connectors.get(base)
            if one is None:
                what = f"element.mo of {part.model.recipe.element} does not name the port `{port.name}`"
                self._problem(f"[parts] {part.name}", what)
                continue
            if one.of_body:
                self._source(part, one, port.force_names)
            elif (part.name, one.name) not in self.connected:
                self._ground(part, one, port.motion)

    def _starts(self, part: Part, names: Sequence[str]) -> list[float]:
        return [self._variable(part, part.model[name]).start for name in names]

    def _ground(self, part: Part, one: Connector, motion: Mapping[str, tuple[str, ...]]) -> None:
        """What stands still where a port without a connection does."""
        place = {role: self._starts(part, names) for role, names in motion.items()}
        name, end, declaration = self._spatial_ground(part, one, place)
        if one.kind in _GROUNDS:
            kind, end = _GROUNDS[one.kind]
            name = f"ground_of_{self.names[part.name]}_{one.name}"
            declaration = f"{kind} {name}"
        if any(any(values) for role, values in place.items() if role not in _PLACES or one.kind in _GROUNDS):
            self._problem(part.name, f"{one.name} is not connected and moves, or lies elsewhere: no Modelica form")
            return
        if name not in self.diagram.places:
            self.diagram.add(name, declaration)
        self.diagram.connect(f"{self.names[part.name]}.{one.name}", one.side, f"{name}.{end}", "right")

    def _spatial_ground(self, part: Part, one: Connector, place: Mapping[str, Sequence[float]]) -> tuple[str, str, str]:
        """Name, connector and declaration of the world, or of a frame that lies elsewhere."""
        r, q = (place.get(role, at_origin) for role, at_origin in _PLACES.items())
        if (*r, *q) == (*_PLACES["r"], *_PLACES["q"]):
            about = words.string("Each mass has its own gravity")
            return "world", "frame_b", f"inner {_WORLD} world(g=0) {about}"
        name = f"ground_of_{self.names[part.name]}_{one.name}"
        return name, "frame_b", f"Interfaces.FixedFrame {name}(r={words.values(r)}, q={words.values(q)})"

    def _source(self, part: Part, one: Connector, force: list[str]) -> None:
        inputs = [name for name in force if self._variable(part, part.model[name]).kind == "input"]
        for name, value in zip(inputs, self._starts(part, inputs), strict=True):
            if value == 0.0:
                continue
            if one.kind not in _SOURCES:
                what = "a constant force in space or in the plane has no Modelica form"
                self._problem(part.name, f"{name} = {quantity(value)} at the start: {what}")
                continue
            kind, parameter = _SOURCES[one.kind]
            source = f"{'torque' if one.kind == 'rotational' else 'force'}_on_{self.names[part.name]}"
            self.diagram.add(source, f"{kind} {source}({parameter}={words.number(value)})")
            self.diagram.connect(f"{source}.flange", "right", f"{self.names[part.name]}.{one.name}", one.side)

    def _documentation(self) -> Iterator[str]:
        yield f"<p>{markup.escape(self.model.description)}.</p>"
        yield f"<p>The same system as FMUs: <code>fmu-builder run {self.model.name}</code>.</p>"
