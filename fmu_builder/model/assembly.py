"""Assemblies: parts, each one element, connected and solved together in one FMU.

description = "..."
connections = [ ["ball.p", "floor.point"], ["a.y", "b.u"] ]      # as in scenarios: ports, or single variables
free_moment = false
[parts]       ball = "PointMass", floor = { recipe = "PointSurface", start = { C_r = 0.5 } }
[expose]      outputs = { height = "ball.p.r[3]" }, inputs = { ... }, parameters = { stiffness = "floor.C_F" },
              ports = { tip = "ball.p" }
                    # of a body's port that is connected inside: forces from outside join the sum there
[start]       stiffness = "1e5 N/m"            # start values by the names of the FMU
[experiment]  stop, step, tolerance            # defaults of the FMU

Many parts  An entry with `count` stands for many, see fmu_builder/model/counted_parts.py.
Names       What is not exposed is called part.name.  Parameters stay parameters, outputs become local variables, inputs
            without a connection become inputs; one with connections is a local variable that shows what arrives there:
            the sum of all forces.  A part whose recipe is an assembly brings its parts along, with both names in front.
Memory      The block of the FMU is its own variables, then the block of each part.
Evaluation  In an order found here from what outputs depend on (see contact_core/assembly.h); an algebraic loop is an
            error that names its path.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, FiniteFloat, ValidationError

from fmu_builder.cosim.slave import SlavePort, SlaveVariable
from fmu_builder.errors import InputError, Problem, did_you_mean
from fmu_builder.files import recorded_reads
from fmu_builder.laws.c_source import laws_header
from fmu_builder.model.counted_parts import members
from fmu_builder.model.declaration import (
    CORE_GROUPS,
    FIELDS_OF_OURS,
    Experiment,
    explain,
    is_core_variable,
    read_toml,
)
from fmu_builder.model.declaration import Variable as Entry
from fmu_builder.model.model import (
    ElementModel,
    Model,
    PortUse,
    Variable,
    build_model,
    core_variables,
    law_problems,
    load_element,
    start_values,
)
from fmu_builder.model.recipe import Recipe, correct_kind, kind_of
from fmu_builder.model.recipe import name_problems as name_of_file_problems
from fmu_builder.model.scenario import (
    Pair,
    Quantity,
    Scenario,
    SlaveEntry,
    StartValue,
    Table,
    loose_ends,
    name_problems,
)
from fmu_builder.model.step_advice import HeldForce
from fmu_builder.model.wiring import Ends, Wiring, wire
from fmu_builder.paths import find_recipe, shipped
from fmu_builder.units import parse_quantity, parse_unit

_RESERVED = ("time", "der", *CORE_GROUPS)
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(\[\d+(,\d+)*\])?", re.ASCII)
_TYPES: dict[str, Literal["Real", "Integer", "Boolean", "Enumeration"]] = {
    "real": "Real",
    "int": "Integer",
    "bool": "Boolean",
    "enum": "Enumeration",
}
_SHOWN_NOTES = 20


# ---- the recipe --------------------------------------------------------------------------------------------------


class Defaults(Table):
    """DefaultExperiment of the FMU; by default the longest stop and step and the smallest tolerance of the parts."""

    stop: Quantity | None = None
    step: Quantity | None = None
    tolerance: FiniteFloat | None = Field(default=None, gt=0)


class Expose(Table):
    """New names of variables and ports, by the old ones: `new = "part.name"`."""

    inputs: dict[str, str] = Field(default_factory=dict)
    outputs: dict[str, str] = Field(default_factory=dict)
    parameters: dict[str, str] = Field(default_factory=dict)
    ports: dict[str, str] = Field(default_factory=dict)


class AssemblyRecipe(Table):
    """A checked recipe of an assembly; names of variables are checked when the parts are known.

    `table`: what its parts are called where it was read from, `parts` or, in a scenario, `slaves`."""

    path: Path
    table: Literal["parts", "slaves"] = "parts"
    description: str = ""
    connections: list[Pair] = Field(default_factory=list)
    free_moment: bool = False
    parts: dict[str, SlaveEntry]
    expose: Expose = Expose()
    start: dict[str, StartValue] = Field(default_factory=dict)
    experiment: Defaults = Defaults()
    drawing: dict[str, Any] = Field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path.stem


def read_assembly(path: Path) -> AssemblyRecipe:
    """Read and check the recipe's own text.  Raises InputError with every problem found."""
    recipe, problems = _parse_assembly(path)
    if problems:
        raise InputError(problems)
    return recipe


def _parse_assembly(path: Path) -> tuple[AssemblyRecipe, list[Problem]]:
    """The recipe without the connections that name no part, and what is wrong with it.  Raises InputError where its
    tables cannot be understood."""
    tables = read_toml(path)
    problems: list[Problem] = []
    correct_kind(path, tables, problems)
    for key in FIELDS_OF_OURS:
        if tables.pop(key, None) is not None:
            problems.append(Problem(f"{path}: {key}", "this key is unknown"))
    parts = tables.get("parts")
    if isinstance(parts, dict):
        parts, families = members(path, "parts", parts, problems)
        tables["connections"] = families.connections(path, tables.get("connections", []), problems)
        if isinstance(expose := tables.get("expose"), dict):
            where = f"{path}: [expose]"
            tables["expose"] = {
                key: families.expositions(f"{where} {key}", names, problems) for key, names in expose.items()
            }
        problems += name_problems(path, parts, tables["connections"], "part")
        problems += loose_ends(path, parts, tables["connections"], "part")
        tables["parts"] = {name: {"recipe": p} if isinstance(p, str) else p for name, p in parts.items()}
    try:
        recipe = AssemblyRecipe.model_validate({"path": path, **tables})
    except ValidationError as error:
        raise InputError([*problems, *explain(path, error, AssemblyRecipe)]) from None
    problems += _own_problems(recipe)
    if not recipe.parts:
        raise InputError(problems)
    sound = [pair for pair in recipe.connections if all(end.partition(".")[0] in recipe.parts for end in pair)]
    return recipe.model_copy(update={"connections": sound}), problems


def _own_problems(recipe: AssemblyRecipe) -> Iterator[Problem]:
    path = recipe.path
    yield from name_of_file_problems(path)
    for name in recipe.parts:
        if name in _RESERVED:
            yield Problem(f"{path}: [{recipe.table}] {name}", f"'{name}' is taken: choose another name for this part")
    for table in ("inputs", "outputs", "parameters", "ports"):
        for name in getattr(recipe.expose, table):
            if not _NAME.fullmatch(name):
                what = "a name consists of letters, digits, _ and dots, such as height or tip.r[3]"
                yield Problem(f"{path}: [expose] {table} {name}", what)


def recipe_of_scenario(scenario: Scenario) -> AssemblyRecipe:
    """The scenario as the recipe of an assembly: slaves become parts, constant drives become start values.

    Raises InputError for what one FMU cannot hold: other FMUs, and signals over time."""
    problems = []
    parts = {name: entry.start for name, entry in scenario.slaves.items()}
    for name, drive in scenario.drive.items():
        part, _, variable = name.partition(".")
        if drive.table is not None or drive.time is None or drive.value is None or len(set(drive.value)) > 1:
            what = "a signal over time cannot become part of an FMU: leave the input open and drive it from outside"
            problems.append(Problem(f"{scenario.path}: [drive] {name}", what))
        elif part in parts:
            parts[part] = {**parts[part], variable: drive.value[0]}
    experiment = scenario.experiment
    recipe = AssemblyRecipe(
        path=scenario.path,
        table="slaves",
        description=scenario.description,
        connections=scenario.connections,
        free_moment=scenario.free_moment,
        parts={name: SlaveEntry(recipe=e.recipe, start=parts[name]) for name, e in scenario.slaves.items()},
        experiment=Defaults(
            stop=scenario.seconds("stop") - scenario.seconds("start"),
            step=scenario.seconds("output_step"),
            tolerance=experiment.tolerance,
        ),
    )
    problems += _own_problems(recipe)
    if problems:
        raise InputError(problems)
    return recipe


# ---- the model ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PartType:
    """Parts of one element with one structure share their C."""

    name: str
    model: ElementModel

    @property
    def folder(self) -> str:
        """Where in the FMU's sources the C lies that only these parts have."""
        return f"parts/{self.name}/"


@dataclass(frozen=True)
class Part:
    """One element of the assembly.  `offset`: index of its first variable.   `indicators`: place of its first one."""

    name: str
    type: int
    offset: int
    indicators: int
    model: ElementModel


@dataclass(frozen=True)
class Copy:
    """`count` values go from `source` on to `target` on, or are added there."""

    target: int
    source: int
    count: int
    adds: bool


@dataclass(frozen=True)
class Evaluation:
    """Part number `part` is evaluated when the first `copies` copies are made; `last`: all its inputs are known."""

    part: int
    copies: int
    last: bool


@dataclass(frozen=True)
class Assembly(Model):
    """The model of several elements.  `sources`: the outputs whose sum a connected input gets.   `ends`: what an
    assembly around this one can connect.   `connections`: the recipe's.   `remarks`: what the user should know."""

    types: tuple[PartType, ...]
    parts: tuple[Part, ...]
    sources: Mapping[int, tuple[int, ...]] = field(repr=False)
    schedule: tuple[Evaluation, ...] = field(repr=False)
    copies: tuple[Copy, ...] = field(repr=False)
    ends: Ends = field(repr=False)
    connections: tuple[tuple[str, str], ...] = field(repr=False)
    remarks: tuple[str, ...]

    def folders(self) -> dict[str, Path]:
        return {kind.folder: kind.model.recipe.element_folder for kind in self.types}

    def elements(self) -> Iterator[tuple[int, ElementModel]]:
        return ((part.offset, part.model) for part in self.parts)

    def notes(self) -> tuple[str, ...]:
        return (*self.remarks, *(f"{kind.name}: {note}" for kind in self.types for note in kind.model.notes()))

    def warnings(self) -> tuple[str, ...]:
        from fmu_builder.model import planar_support

        of_parts = (f"{kind.name}: {warning}" for kind in self.types for warning in kind.model.warnings())
        return (*planar_support.warnings(self), *of_parts)

    def own_variables(self) -> Iterator[Variable]:
        """Those of the assembly itself, and those of parts that it gives a name of its own or makes outputs."""
        yield from self.variables[: self.parts[0].offset]
        for part in self.parts:
            for raw in part.model.variables:
                v = self.variables[part.offset + raw.index]
                if not v.hidden and v.kind != "derivative" and (v.is_output or v.name != f"{part.name}.{raw.name}"):
                    yield v


def load_assembly(path: Path) -> Assembly:
    """The model of an assembly's recipe.  Raises InputError with every problem of the recipe and of its parts."""
    recipe, problems = _parse_assembly(path)
    try:
        model = _Loader().assembly(recipe, solver=True)
    except InputError as error:
        raise InputError([*problems, *error.problems]) from error
    if problems:
        raise InputError(problems)
    return model


def assembly_of_scenario(scenario: Scenario) -> Assembly:
    """The model of a scenario as one FMU.  Raises InputError with every problem found."""
    with recorded_reads() as files:
        model = _Loader().assembly(recipe_of_scenario(scenario), solver=True)
    return replace(model, files=tuple(dict.fromkeys(files)))


class _Loader:
    """Models of recipes, each read once."""

    def __init__(self) -> None:
        self._models: dict[Path, ElementModel | Assembly] = {}
        self._ends: dict[Path, Ends] = {}
        self._open: list[Path] = []  # assemblies that are being read, each part of the one before

    def assembly(self, recipe: AssemblyRecipe, solver: bool) -> Assembly:
        self._open.append(recipe.path.resolve())
        try:
            return _Builder(recipe, self, solver).build()
        finally:
            self._open.pop()

    def part(self, name: str, beside: Path) -> ElementModel | Assembly:
        """The model of a part's recipe, without a solver of its own."""
        if Path(name).suffix == ".fmu":
            what = "a part must be a recipe: an FMU that is built already has a solver of its own"
            raise InputError(Problem(name, what))
        path = find_recipe(name, beside)
        known = path.resolve()
        if known in self._open:
            names = [p.stem for p in (*self._open[self._open.index(known) :], known)]
            raise InputError(Problem(str(path), f"this assembly contains itself: {' -> '.join(names)}"))
        if known not in self._models:
            tables = read_toml(path)
            if kind_of(tables)[0] == "slaves":
                what = "a part must be a recipe, this is a scenario: move its slaves to [parts] of a recipe"
                raise InputError(Problem(str(path), what))
            if kind_of(tables)[0] == "parts":
                self._models[known] = self.assembly(read_assembly(path), solver=False)
            else:
                self._models[known] = load_element(path, solver=False)
            if self._models[known].is_prototype:
                what = "is a prototype in Python, which cannot be a part: run it as a slave, or write it in C"
                raise InputError(Problem(str(path), what))
        return self._models[known]

    def ends(self, model: ElementModel | Assembly) -> Ends:
        if isinstance(model, Assembly):
            return model.ends
        known = model.path.resolve()
        if known not in self._ends:
            ports = [SlavePort(p.name, p.kind, p.side, p.motion, p.force) for p in model.ports]
            self._ends[known] = Ends(
                model.name,
                {v.name: _end(v, v.name) for v in model.variables if not v.hidden},
                {p.name: p for p in ports},
            )
        return self._ends[known]


def _end(v: Variable, name: str, causality: str | None = None) -> SlaveVariable:
    """A variable as connections see it; `v` is that of the element."""
    if causality is None:
        causality = "input" if v.kind == "input" else "output" if v.is_output else "local"
        causality = "parameter" if v.kind in ("fixed", "tunable") else causality
    unit = "" if v.type != "real" else v.unit.name
    zero = v.kind == "output" and v.type == "real" and not v.depends
    return SlaveVariable(name, v.index, _TYPES[v.type], causality, "", None, unit, None, None, zero=zero)


class _Builder:
    """Makes the model of one recipe.  Indices count the variables of the FMU, those of the assembly itself first."""

    def __init__(self, recipe: AssemblyRecipe, loader: _Loader, solver: bool) -> None:
        self.recipe, self.loader, self.solver = recipe, loader, solver
        self.where = f"{recipe.path}: [{recipe.table}]"
        self.problems: list[Problem] = []
        self.models: dict[str, ElementModel | Assembly] = {}
        self.parts: list[Part] = []
        self.names: list[str] = []
        self.starts: list[float] = []
        self.sources: dict[int, list[int]] = {}
        self.offsets: dict[str, int] = {}  # added to an index in the model of a part gives that in the FMU

    def build(self) -> Assembly:
        self._read_parts()
        experiment = self._experiment()
        wiring = self._wire()
        own = self._own(experiment, wiring)
        self._place_parts(own)
        notes = self._connect(wiring)
        self.index = {name: i for i, name in enumerate(self.names)}
        exposed = self._expose()
        self._raise()
        if self.solver:
            self._find_lost_forces(exposed)
        order = _Order(self.parts, self.sources, self.names)
        self.problems += [Problem(f"{self.recipe.path}: connections", text) for text in order.loops]
        self._raise()
        return self._with_starts(self._model(own, experiment, exposed, order, notes))

    def _raise(self) -> None:
        if self.problems:
            raise InputError(self.problems)

    # -- parts

    def _read_parts(self) -> None:
        told: set[str] = set()
        for name, entry in self.recipe.parts.items():
            try:
                self.models[name] = self.loader.part(entry.recipe, self.recipe.path.parent)
            except InputError as error:
                if entry.recipe not in told:  # once, however many parts there are of it
                    self.problems += [Problem(f"{self.where} {name}", str(p)) for p in error.problems]
                told.add(entry.recipe)
        self._raise()

    def _experiment(self) -> Experiment:
        given = self.recipe.experiment
        found = {}
        for key in ("stop", "step"):
            value = getattr(given, key)
            found[key] = max(getattr(m.experiment, key) for m in self.models.values())
            if value is not None:
                where = f"{self.recipe.path}: [experiment] {key}"
                try:
                    found[key] = parse_quantity(value, parse_unit("s"), where)
                    if not found[key] > 0:
                        self.problems.append(Problem(where, f"{value!r} must be greater than 0"))
                        found[key] = 1.0
                except InputError as error:
                    self.problems += error.problems
        tolerance = given.tolerance or min(m.experiment.tolerance for m in self.models.values())
        return Experiment(stop=found["stop"], step=found["step"], tolerance=tolerance)

    def _own(self, experiment: Experiment, wiring: Wiring) -> ElementModel:
        """Time, the forces from outside and what contact_core declares."""
        variables = [v for m in self.models.values() for v in m.variables]
        states = any(v.kind == "state" for v in variables)
        records = any(v.recorded for v in variables)
        declaration = core_variables(experiment, self.solver and states, self.solver and records)
        declaration = declaration.model_copy(update={"inputs": dict(self._outer_forces(wiring))})
        recipe = Recipe(
            path=self.recipe.path,
            name=self.recipe.name,
            description=self.recipe.description,
            element=declaration,
            element_folder=shipped("contact_core"),
            language="c",
            starts={},
            sizes={},
            given_sizes=frozenset(),
            choices={},
            absent={},
            constants=(),
        )
        return build_model(recipe, solver=False)

    def _outer_forces(self, wiring: Wiring) -> Iterator[tuple[str, Entry]]:
        """The inputs of exposed ports of bodies on which something acts inside already: they join the sum there."""
        self.outer: dict[str, list[str]] = {}  # by port as its part calls it: the inputs, in the order of its forces
        for new, old in self.recipe.expose.ports.items():
            port = self._port(old)
            if port is None or port.side != "body":
                continue
            part = old.partition(".")[0]
            forces = [n.partition(".")[2] for group in port.force.values() for n in group]
            if not any((part, n) in wiring.sources or self._is_summed_inside(part, n) for n in forces):
                continue
            if "[" in new:
                what = f"{old} is connected inside, so forces from outside need a name without an index"
                self.problems.append(Problem(f"{self.recipe.path}: [expose] ports {new}", what))
                continue
            self.outer[old] = [new + _role(n) for n in forces]
            for group in port.force.values():
                vector = group[0].endswith("[1]")
                unit = self.models[part][group[0].partition(".")[2]].unit.name
                name = new + _role(group[0]).removesuffix("[1]")
                what = f"From outside at the port {new}, added to what acts there inside"
                yield name, Entry(unit=unit, size=len(group) if vector else 0, description=what)

    def _is_summed_inside(self, part: str, name: str) -> bool:
        model = self.models[part]
        return isinstance(model, Assembly) and model[name].index in model.sources

    def _place_parts(self, own: ElementModel) -> None:
        self.names = [v.name for v in own.variables]
        self.starts = [v.start for v in own.variables]
        indicators = 0
        for name, model in self.models.items():
            inner = model.parts if isinstance(model, Assembly) else (Part("", 0, 0, 0, model),)
            first = inner[0].offset  # an assembly inside has a time of its own, which nobody needs
            shift = self.offsets[name] = len(self.names) - first
            for part in inner:
                part_name = f"{name}.{part.name}" if part.name else name
                self.parts.append(Part(part_name, 0, part.offset + shift, part.indicators + indicators, part.model))
            indicators += len(model.indicators)
            self.names += [
                f"der({name}.{n[4:]}" if n.startswith("der(") else f"{name}.{n}" for n in _names(model, first)
            ]
            self.starts += [v.start for v in model.variables[first:]]
            self._read_starts(name, model, shift)
            if isinstance(model, Assembly):
                for target, found in model.sources.items():  # without its forces from outside
                    self.sources[target + shift] = [s + shift for s in found if s >= first]

    def _read_starts(self, name: str, model: ElementModel | Assembly, shift: int) -> None:
        where = f"{self.where} {name} start"
        given = dict(self.recipe.parts[name].start)
        for key in [key for key in given if is_core_variable(key)]:
            what = f"'{key}' belongs to the assembly, which has one for all parts: write it into [start]"
            self.problems.append(Problem(where, what))
            del given[key]
        starts, problems = start_values(model, given, where)
        self.problems += problems + law_problems(model, starts, where)
        for i, value in starts.items():
            self.starts[i + shift] = value

    # -- connections

    def _wire(self) -> Wiring:
        ends = {name: self.loader.ends(model) for name, model in self.models.items()}
        kind: Literal["part", "slave"] = "part" if self.recipe.table == "parts" else "slave"
        try:
            given = self._given_from_outside(ends)
            return wire(self.recipe.path, self.recipe.connections, ends, given, self.recipe.free_moment, kind)
        except InputError as error:
            self.problems += error.problems
            return Wiring({}, ())

    def _connect(self, wiring: Wiring) -> tuple[str, ...]:
        for target, found in wiring.sources.items():
            self.sources.setdefault(self._index(target), []).extend(self._index(source) for source in found)
        for old, inputs in self.outer.items():
            port = self._port(old)
            assert port is not None
            targets = [n for group in port.force.values() for n in group]
            for name, given in zip(targets, inputs, strict=True):
                self.sources.setdefault(self.names.index(name), []).append(self.names.index(given))
        notes = tuple(dict.fromkeys((*wiring.notes, *self._unused_starts())))
        if len(notes) > _SHOWN_NOTES:
            notes = (*notes[:_SHOWN_NOTES], f"and {len(notes) - _SHOWN_NOTES} more of this kind")
        return notes

    def _given_from_outside(self, ends: Mapping[str, Ends]) -> frozenset[str]:
        """Names of the inputs that are exposed: whoever connects the FMU gives them."""
        expose = self.recipe.expose
        given = {*expose.inputs.values()}
        for old in expose.ports.values():
            part, _, name = old.partition(".")
            if part in ends and name in ends[part].ports:
                given |= {f"{part}.{n}" for group in ends[part].ports[name].motion.values() for n in group}
        for old in expose.inputs.values():  # of a vector every component
            part, _, name = old.partition(".")
            if part in ends:
                given |= {f"{part}.{n}" for n in ends[part].variables if n.startswith(f"{name}[")}
        return frozenset(given)

    def _unused_starts(self) -> Iterator[str]:
        for model in self.models.values():
            if isinstance(model, ElementModel):
                for name in model.recipe.starts:
                    if is_core_variable(name):
                        yield f"{name} of {model.path.name} is not used: an assembly has one for all parts"

    def _index(self, node: tuple[str, str]) -> int:
        part, name = node
        return self.offsets[part] + self.models[part][name].index

    def _find_lost_forces(self, exposed: set[int]) -> None:
        """A force element that follows a body but acts on nobody is a mistake in the connections."""
        used = exposed | {s for found in self.sources.values() for s in found}
        for part in self.parts:
            for port in part.model.ports:
                if port.side != "force":
                    continue
                motion, force = (
                    [part.offset + part.model[n].index for group in roles.values() for n in group]
                    for roles in (port.motion, port.force)
                )
                if any(i in self.sources for i in motion) and not any(i in used for i in force):
                    first = self.names[force[0]]
                    what = (
                        f"{part.name}.{port.name} is given a motion, but its force goes nowhere: connect the port to "
                        f"that of a body, or connect or expose {first}"
                    )
                    self.problems.append(Problem(f"{self.recipe.path}: connections", what))

    # -- names

    def _raw(self, index: int) -> Variable:
        """The variable as its element declares it."""
        part = self.parts[bisect_right(self.parts, index, key=lambda p: p.offset) - 1]
        return part.model.variables[index - part.offset]

    def _expose(self) -> set[int]:
        """Give the exposed variables their names; returns the indices of those that become outputs."""
        outputs: set[int] = set()
        self.exposed_ports: dict[str, PortUse] = {}
        renamed: dict[int, str] = {}
        first_part = self.parts[0].offset

        def rename(indices: Sequence[int], old: str, new: str, where: str) -> None:
            for i in indices:
                name = new + self.names[i][len(old) :]
                if i in renamed:
                    what = f"{self.names[i]} is exposed as {renamed[i]} already; a variable has one name"
                    self.problems.append(Problem(where, what))
                elif self.index.get(name, i) != i:
                    self.problems.append(Problem(where, f"there is a variable '{name}' already; choose another name"))
                elif name in given:
                    self.problems.append(Problem(where, f"the name '{name}' is given twice"))
                else:
                    renamed[i] = name
                    given.add(name)

        given: set[str] = {name for inputs in self.outer.values() for name in inputs}
        for table in ("inputs", "outputs", "parameters"):
            for new, old in getattr(self.recipe.expose, table).items():
                where = f"{self.recipe.path}: [expose] {table} {new}"
                indices = [i for i in self._find(old) if i >= first_part and not self._raw(i).hidden]
                if not indices:
                    self.problems.append(Problem(where, f"there is no variable '{old}'" + self._near(old)))
                    continue
                fault = self._exposure_fault(table, indices)
                if fault:
                    self.problems.append(Problem(where, f"{old} {fault}"))
                    continue
                rename(indices, old, new, where)
                if table == "outputs":
                    outputs.update(indices)
        for new, old in self.recipe.expose.ports.items():
            where = f"{self.recipe.path}: [expose] ports {new}"
            port = self._port(old)
            if port is None:
                known = [f"{name}.{p}" for name, m in self.models.items() for p in self.loader.ends(m).ports]
                self.problems.append(Problem(where, f"there is no port '{old}'" + did_you_mean(old, known)))
                continue
            motion, force = ([self.index[n] for g in roles.values() for n in g] for roles in (port.motion, port.force))
            ins, outs = (force, motion) if port.side == "body" else (motion, force)
            if old in self.outer:
                ins = []
            elif any(i in self.sources for i in ins):
                what = f"{old} follows a body inside the assembly; only one without a connection can be exposed"
                self.problems.append(Problem(where, what))
                continue
            rename([*ins, *outs], old, new, where)
            outputs.update(outs)
            self.exposed_ports[old] = replace(
                port,
                name=new,
                motion={role: tuple(new + _role(n) for n in names) for role, names in port.motion.items()},
                force={role: tuple(new + _role(n) for n in names) for role, names in port.force.items()},
            )
        for i, name in renamed.items():
            self.names[i] = name
            if self._raw(i).kind == "state":
                derivative = i + self._raw(i).derivative - self._raw(i).index
                self.names[derivative] = f"der({name})"
        return outputs

    def _find(self, name: str) -> list[int]:
        """Indices of the scalar `name`, or of name[1], name[2], ..."""
        if name in self.index:
            return [self.index[name]]
        found: list[int] = []
        while f"{name}[{len(found) + 1}]" in self.index:
            found.append(self.index[f"{name}[{len(found) + 1}]"])
        return found

    def _near(self, name: str) -> str:
        part, _, rest = name.partition(".")
        if part not in self.models:
            return did_you_mean(part, self.models)
        near = did_you_mean(rest, self.models[part].visible_names)
        return near.replace("did you mean '", f"did you mean '{part}.") if "did you mean" in near else near

    def _exposure_fault(self, table: str, indices: Sequence[int]) -> str | None:
        kinds = {self._raw(i).kind for i in indices}
        connected = any(i in self.sources for i in indices)
        if table == "parameters" and not kinds <= {"fixed", "tunable"}:
            return "is no parameter: " + (
                "expose it as an input" if kinds == {"input"} and not connected else "it is computed"
            )
        if table == "inputs" and kinds != {"input"}:
            return "is no input: " + ("expose it as a parameter" if kinds <= {"fixed", "tunable"} else "it is computed")
        if table == "inputs" and connected:
            return "is connected inside the assembly, so nobody else can set it; it can be exposed as an output"
        if table == "outputs" and kinds & {"fixed", "tunable"}:
            return "is a parameter: expose it as one"
        if table == "outputs" and kinds == {"input"} and not connected:
            return "is an input: expose it as one"
        return None

    def _port(self, name: str) -> PortUse | None:
        """A port of a part, with the names it has before anything is exposed."""
        part, _, rest = name.partition(".")
        if part not in self.models:
            return None
        port = self.loader.ends(self.models[part]).ports.get(rest)
        if port is None:
            return None

        def named(roles: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
            return {role: tuple(f"{part}.{n}" for n in names) for role, names in roles.items()}

        return PortUse(name, port.kind, port.side, "", named(port.motion), named(port.force))

    # -- the model

    def _model(
        self, own: ElementModel, experiment: Experiment, exposed: set[int], order: _Order, notes: tuple[str, ...]
    ) -> Assembly:
        variables = [*own.variables]
        for part in self.parts:
            variables += self._variables(part, exposed, order)
        own.layout.add(("parts",), 0, len(variables) - len(own.variables))
        types, parts = _types(self.parts)
        ends = Ends(self.recipe.name, dict(self._end_variables(exposed)), {p.name: p for p in self._ports()})
        log: dict[str, str] = {}
        for kind in types:
            log |= kind.model.log
        return Assembly(
            name=self.recipe.name,
            description=self.recipe.description or f"{', '.join([*self.models][:5])} in one FMU",
            path=self.recipe.path,
            variables=tuple(variables),
            ports=tuple(self.exposed_ports.values()),
            layout=own.layout,
            quaternions=tuple(
                (part.offset + q, part.offset + w)
                for part in parts
                for q, w in part.model.quaternions
                if part.offset + q not in self.sources
            ),
            indicators=tuple(
                replace(one, name=f"{part.name}.{one.name}") for part in parts for one in part.model.indicators
            ),
            experiment=experiment,
            log=log,
            types=types,
            parts=parts,
            sources={target: tuple(found) for target, found in self.sources.items()},
            schedule=tuple(order.schedule),
            copies=tuple(order.copies),
            ends=ends,
            connections=tuple(self.recipe.connections),
            remarks=notes,
        )

    def _variables(self, part: Part, exposed: set[int], order: _Order) -> Iterator[Variable]:
        """The variables of one part, as the FMU shows them."""
        offset = part.offset
        depends: dict[tuple[int, ...], tuple[int, ...]] = {(): ()}
        for v in part.model.variables:
            i = v.index + offset
            if v.depends not in depends:
                depends[v.depends] = order.expand(v.depends, offset)
            connected = i in self.sources
            yield replace(
                v,
                name=self.names[i],
                index=i,
                kind="output" if connected or v.kind == "time" else v.kind,
                start=self.starts[i],
                is_output=i in exposed,
                hidden=v.hidden or v.kind == "time",
                depends=order.known[i] if connected else (0,) if v.kind == "time" else depends[v.depends],
                rate=v.rate + offset if v.rate >= 0 and not connected else -1,
                primitive=-1,
                start_from=v.start_from + offset if v.start_from >= 0 else -1,
                initial=tuple(i + offset for i in v.initial),
                derivative=v.derivative + offset if v.derivative >= 0 else -1,
                held=self._held(part, v),
            )

    def _held(self, part: Part, v: Variable) -> HeldForce | None:
        """What a stiffness or damping is to the force at ports of its part that the assembly hands on."""
        if v.held is None:
            return None
        ports = [
            self.exposed_ports[old].name for p in v.held.ports if (old := f"{part.name}.{p}") in self.exposed_ports
        ]
        if not ports:
            return None
        mass, inner = (
            self.names[part.offset + part.model[name].index] if name in part.model else ""
            for name in (v.held.mass, v.held.inner_mass)
        )
        return v.held._replace(ports=tuple(ports), mass=mass, inner_mass=inner)

    def _end_variables(self, exposed: set[int]) -> Iterator[tuple[str, SlaveVariable]]:
        """What an assembly around this one may connect: outputs of all parts, inputs that are free or sum forces."""
        for part in self.parts:
            forces = {n for p in part.model.ports if p.side == "body" for g in p.force.values() for n in g}
            for v in part.model.variables:
                i = v.index + part.offset
                if not v.hidden and v.kind != "time":
                    closed = v.kind == "input" and i in self.sources and v.name not in forces
                    causality = "local" if closed else "output" if i in exposed else None
                    yield self.names[i], _end(v, self.names[i], causality)

    def _ports(self) -> Iterator[SlavePort]:
        """The ports of all parts, but for force elements that are connected already."""
        for part in self.parts:
            for port in part.model.ports:
                roles = [
                    {
                        role: tuple(self.names[part.offset + part.model[n].index] for n in group)
                        for role, group in g.items()
                    }
                    for g in (port.motion, port.force)
                ]
                motion = [part.offset + part.model[n].index for group in port.motion.values() for n in group]
                if port.side == "force" and any(i in self.sources for i in motion):
                    continue
                old = f"{part.name}.{port.name}"
                name = self.exposed_ports[old].name if old in self.exposed_ports else old
                yield SlavePort(name, port.kind, port.side, roles[0], roles[1])

    def _with_starts(self, model: Assembly) -> Assembly:
        where = f"{self.recipe.path}: [start]"
        starts, problems = start_values(model, self.recipe.start, where)
        self.problems += problems + law_problems(model, starts, where)
        self._raise()
        if not starts:
            return model
        variables = tuple(replace(v, start=starts[v.index]) if v.index in starts else v for v in model.variables)
        return replace(model, variables=variables)


def _role(name: str) -> str:
    """`.f[1]` of the variable p.f[1] of a port."""
    return name[name.rindex(".") :]


def _names(model: Model, first: int) -> Iterator[str]:
    return (v.name for v in model.variables[first:])


def _types(parts: Iterable[Part]) -> tuple[tuple[PartType, ...], tuple[Part, ...]]:
    """Parts whose C is the same share a type; it is named after the recipe of the first."""
    known: dict[object, int] = {}
    types: list[PartType] = []
    names: set[str] = set()
    placed = []
    for part in parts:
        recipe = part.model.recipe
        structure = (*sorted(recipe.sizes.items()), *sorted(recipe.choices.items()))
        laws = laws_header(recipe.laws.laws, recipe.laws.slots, "", recipe.laws.remembered) if recipe.laws else ""
        key = (recipe.element_folder, structure, recipe.constants, laws)
        if key not in known:
            known[key] = len(types)
            name, number = recipe.name, 1
            while name.casefold() in names:  # some file systems do not tell them apart
                number += 1
                name = f"{recipe.name}_{number}"
            names.add(name.casefold())
            types.append(PartType(name, part.model))
        placed.append(replace(part, type=known[key]))
    return tuple(types), tuple(placed)


# ---- the order of evaluation -------------------------------------------------------------------------------------


class _Order:
    """The order in which parts are evaluated and values copied, and what a connected input finally depends on.

    schedule  evaluations; every part has exactly one that is its last
    copies    in the order they are made
    known     of a connected input: indices of the inputs, parameters and states it depends on through all connections
    loops     texts that name algebraic loops; empty if all is well"""

    def __init__(self, parts: Sequence[Part], sources: Mapping[int, Sequence[int]], names: Sequence[str]) -> None:
        self.parts, self.sources, self.names = parts, sources, names
        self.offsets = [part.offset for part in parts]
        self.schedule: list[Evaluation] = []
        self.copies: list[Copy] = []
        self.known: dict[int, tuple[int, ...]] = {}
        self.loops: list[str] = []
        self._inputs: list[list[int]] = [[] for _ in parts]  # of each part, the connected ones
        self._targets: dict[int, list[int]] = {}  # of each source
        self._waits_for: dict[int, list[int]] = {}  # source -> connected inputs that it needs
        self._needed_by: dict[int, list[int]] = {}  # connected input -> sources of its part that need it
        self._missing: dict[int, int] = {}  # of an input: sources; of a source: inputs; that are not known yet
        self._outputs: list[list[int]] = [[] for _ in parts]  # of each part, the sources that are computed
        for target in sorted(sources):
            self._inputs[self._part_of(target)].append(target)
            self._missing[target] = len(sources[target])
            for source in sources[target]:
                self._targets.setdefault(source, []).append(target)
        self._missing_inputs = [len(inputs) for inputs in self._inputs]
        self._ready = deque(p for p, inputs in enumerate(self._inputs) if not inputs)
        self._partial: list[int] = []  # parts with an output that is needed and whose inputs are known
        self._valid: set[int] = set()
        self._done = [False] * len(parts)
        self._run()

    def _part_of(self, index: int) -> int:
        return bisect_right(self.offsets, index) - 1

    def _raw(self, index: int) -> Variable:
        p = self._part_of(index)
        return self.parts[p].model.variables[index - self.offsets[p]]

    def expand(self, depends: Iterable[int], offset: int) -> tuple[int, ...]:
        """Indices in the part at `offset` as those of the FMU: in place of connected inputs what they depend on, in
        place of the part's time that of the FMU."""
        found: set[int] = set()
        for i in depends:
            if i + offset in self.sources:
                found.update(self.known.get(i + offset, ()))
            else:
                found.add(i + offset if i else 0)
        return tuple(sorted(found))

    def _run(self) -> None:
        known = []
        for source in sorted(self._targets):
            p = self._part_of(source)
            if p < 0 or self._raw(source).kind == "state":  # an input of the assembly, or a state
                known.append(source)
                continue
            v = self._raw(source)
            self._outputs[p].append(source)
            needs = [i + self.offsets[p] for i in v.depends] if v.kind != "memory" else self._inputs[p]
            self._waits_for[source] = [i for i in needs if i in self.sources]
            self._missing[source] = len(self._waits_for[source])
            for i in self._waits_for[source]:
                self._needed_by.setdefault(i, []).append(source)
            if not self._missing[source] and v.kind != "memory":
                heappush(self._partial, p)
        for source in known:
            self._make_valid(source)
        while True:
            if self._ready:
                self._evaluate(self._ready.popleft(), last=True)
            elif self._partial:
                p = heappop(self._partial)
                if not self._done[p] and any(self._is_ready(s) for s in self._outputs[p]):
                    self._evaluate(p, last=False)
            else:
                break
        if not all(self._done):
            self.loops = list(self._find_loops())

    def _is_ready(self, source: int) -> bool:
        """Memory is there when its part has started, which needs all inputs; other outputs when their inputs are."""
        return source not in self._valid and not self._missing[source] and self._raw(source).kind != "memory"

    def _evaluate(self, p: int, last: bool) -> None:
        self._copy([i for i in self._inputs[p] if i in self._valid])
        self._inputs[p] = [i for i in self._inputs[p] if i not in self._valid]
        self.schedule.append(Evaluation(p, len(self.copies), last))
        self._done[p] = last
        for source in self._outputs[p]:
            if source not in self._valid and (last or self._is_ready(source)):
                self._make_valid(source)

    def _make_valid(self, source: int) -> None:
        self._valid.add(source)
        for target in self._targets[source]:
            self._missing[target] -= 1
            if not self._missing[target]:
                self._receive(target)

    def _receive(self, target: int) -> None:
        """All sources of the input are known."""
        self._valid.add(target)
        found: set[int] = set()
        for source in self.sources[target]:
            if self._part_of(source) < 0 or self._raw(source).kind == "state":
                found.add(source)
            else:
                found.update(self.expand(self._raw(source).depends, source - self._raw(source).index))
        self.known[target] = tuple(sorted(found))
        p = self._part_of(target)
        self._missing_inputs[p] -= 1
        if not self._missing_inputs[p]:
            self._ready.append(p)
        for source in self._needed_by.get(target, ()):
            self._missing[source] -= 1
            if self._is_ready(source):
                heappush(self._partial, p)

    def _copy(self, targets: Sequence[int]) -> None:
        """Neighbours that come from neighbours go together; sums are added up in the order of the connections."""
        rank = 0
        while targets:
            for target in targets:
                source = self.sources[target][rank]
                last = self.copies[-1] if self.copies else None
                if (
                    last is not None
                    and target != targets[0]
                    and last.target + last.count == target
                    and last.source + last.count == source
                ):
                    self.copies[-1] = replace(last, count=last.count + 1)
                else:
                    self.copies.append(Copy(target, source, 1, rank > 0))
            rank += 1
            targets = [t for t in targets if len(self.sources[t]) > rank]

    def _find_loops(self) -> Iterator[str]:
        """Walk against the signals from every input that waits, until an input comes again."""
        seen: set[int] = set()
        for begin in sorted(set(self.sources) - self._valid):
            path: list[int] = []  # input, source, input, source ...
            at = begin
            while at not in seen:
                seen.add(at)
                source = next(s for s in self.sources[at] if s not in self._valid)
                path += [at, source]
                at = next(i for i in self._waits_for[source] if i not in self._valid)
            if at in path:
                loop = path[path.index(at) :][::-1]  # source, input, source, input ... along the signals
                first = loop.index(min(loop[::2]))
                loop = [*loop[first:], *loop[: first + 1]]
                yield f"algebraic loop: {' -> '.join(self.names[i] for i in loop)}; {_LOOP_REPAIR}"


_LOOP_REPAIR = (
    "each of these outputs depends on the input before it at the same time: put an element with states between"
)
