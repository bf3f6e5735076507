"""The model: a recipe's variables as one flat, ordered table.  Everything an FMU needs derives from it.

The order is that of the C struct `Element`; a variable's value reference is its index there.
"""

from __future__ import annotations

import fnmatch
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from fmu_builder.errors import InputError, Problem, did_you_mean
from fmu_builder.files import recorded_reads
from fmu_builder.laws.c_source import kinks_of
from fmu_builder.laws.rules import rule_problems
from fmu_builder.model.declaration import (
    Declaration,
    Depends,
    Experiment,
    Hold,
    Port,
    applies,
    broken_bound,
    core_declaration,
    is_core_variable,
    read_toml,
)
from fmu_builder.model.declaration import Variable as Entry
from fmu_builder.model.ports import Role, roles_of
from fmu_builder.model.recipe import Recipe, kind_of, parse_recipe
from fmu_builder.model.slots import ElementLaws, scalar_unit, tunable
from fmu_builder.model.step_advice import HeldForce, held_forces, preferred_step
from fmu_builder.model.structure_reader import Constant
from fmu_builder.units import Unit, parse_quantity, parse_unit

Kind = Literal["time", "fixed", "tunable", "calculated", "input", "state", "derivative", "output", "memory"]
Type = Literal["real", "int", "bool", "enum"]

BACK = "contact_record.back"  # which contact the variables last_contact.* show


@dataclass(frozen=True, slots=True)
class Variable:
    """One scalar.  `index` is its value reference.  `depends`: indices of the inputs, parameters and states that an
    output or a derivative is computed from; for memory those that its initial value is computed from."""

    name: str
    index: int
    kind: Kind
    type: Type
    description: str
    unit: Unit
    display: Unit | None
    start: float
    min: float | None
    max: float | None
    above: float | None
    below: float | None
    nominal: float | None
    is_output: bool
    hidden: bool
    on_demand: bool = False  # of an output: left out by the function `rates`
    literals: tuple[str, ...] = ()  # of an enumeration, whose values count from 1
    depends: tuple[int, ...] = ()
    rate: int = -1  # of a state or an input: the variable that is its time derivative, -1 if there is none
    primitive: int = -1  # of a state: the output whose change its own change is while inputs are held, -1 if none
    start_from: int = -1  # of a state: the parameter that holds its initial value, -1 for `start`
    initial: tuple[int, ...] = ()  # of a state: the parameters from which the element computes its initial value
    derivative: int = -1  # of a state: its der(...) variable; of a der(...) variable: its state
    reinit: bool = False  # of a state: the element may change it at an event
    constant_where_used: bool = False  # of a state: it does not change where a right-hand side depends on it
    recorded: bool = False  # of memory: of the contact of its place that ended last
    held: HeldForce | None = None  # of a stiffness or damping: what it is to the force at the ports

    @property
    def is_continuous_input(self) -> bool:
        return self.kind == "input" and self.type == "real"

    @property
    def is_settable(self) -> bool:
        return self.kind in ("fixed", "tunable", "input")


@dataclass(frozen=True)
class EventIndicator:
    """One zero-crossing function; `nominal` is its usual size, in its unit."""

    name: str
    nominal: float


@dataclass(frozen=True)
class PortUse:
    """A port as the FMU shows it: `motion` and `force` hold the variable names of each role.  `holds`: what of a body a
    planar port of a force element can hold."""

    name: str
    kind: str
    side: Literal["body", "force"]
    description: str
    motion: Mapping[str, tuple[str, ...]]
    force: Mapping[str, tuple[str, ...]]
    holds: Hold | None = None


@dataclass(frozen=True)
class Model:
    """What every FMU has: that of one element (ElementModel) as that of several (assembly.Assembly).

    `path` is the recipe, or the scenario, it was read from, `files` all that were read and are not shipped; `log` holds
    the descriptions of its own log categories."""

    name: str
    description: str
    path: Path
    variables: tuple[Variable, ...]
    ports: tuple[PortUse, ...]
    layout: Layout
    quaternions: tuple[tuple[int, int], ...]  # first index of q and of the w that turns it
    indicators: tuple[EventIndicator, ...]  # as fmi2GetEventIndicators has them
    experiment: Experiment
    log: Mapping[str, str]
    files: tuple[Path, ...] = field(default=(), kw_only=True)

    def by_kind(self, *kinds: Kind) -> list[Variable]:
        return [v for v in self.variables if v.kind in kinds]

    def __getitem__(self, name: str) -> Variable:
        return self._names[name]

    def __contains__(self, name: str) -> bool:
        return name in self._names

    @cached_property
    def _names(self) -> dict[str, Variable]:
        return {v.name: v for v in self.variables}

    @cached_property
    def visible_names(self) -> dict[str, tuple[Variable, ...]]:
        """What a user may call them: scalars by their names, and vectors by theirs without the last index."""
        vectors: dict[str, list[Variable]] = {}
        scalars = {v.name: v for v in self.variables if not v.hidden}
        for name, v in scalars.items():
            if name.endswith("]"):
                vectors.setdefault(name[: name.rindex("[")], []).append(v)
        return {base: tuple(group) for base, group in vectors.items()} | {n: (v,) for n, v in scalars.items()}

    def needs_of(self, name: str) -> str:
        """The keys of the recipe that would bring a variable that is not there, as text; empty if none does."""
        return ""

    def folders(self) -> dict[str, Path]:
        """Where the elements' own C files lie: folder of the FMU's sources -> folder of the element."""
        raise NotImplementedError

    def notes(self) -> tuple[str, ...]:
        """What a user who builds it should know."""
        return ()

    def warnings(self) -> tuple[str, ...]:
        """What is hardly meant as it is written."""
        return ()

    @property
    def is_prototype(self) -> bool:
        """Whether its physics is Python."""
        return False

    def elements(self) -> Iterator[tuple[int, ElementModel]]:
        """The elements it consists of, each with the index of its first variable."""
        raise NotImplementedError


@dataclass(frozen=True)
class ElementModel(Model):
    """The model of a recipe of one element."""

    element: Declaration
    recipe: Recipe
    indicator_layout: Layout  # of the C struct `Indicators`

    @property
    def element_name(self) -> str:
        return self.recipe.element_name

    @property
    def sizes(self) -> Mapping[str, int]:
        return self.recipe.sizes

    @property
    def constants(self) -> tuple[Constant, ...]:
        return self.recipe.constants

    def folders(self) -> dict[str, Path]:
        return {"": self.recipe.element_folder}

    def elements(self) -> Iterator[tuple[int, ElementModel]]:
        yield 0, self

    @property
    def is_prototype(self) -> bool:
        return self.recipe.language == "python"

    def needs_of(self, name: str) -> str:
        return self.recipe.absent.get(re.sub(r"\[\d+\]", "", name), "")

    def notes(self) -> tuple[str, ...]:
        return (*self.recipe.notes, *(self.recipe.laws.notes if self.recipe.laws else ()))

    def warnings(self) -> tuple[str, ...]:
        return self.recipe.laws.warnings if self.recipe.laws else ()


# ---- the C struct ------------------------------------------------------------------------------------------------


@dataclass
class Node:
    """A member of the struct: a group of members, or a leaf of `size` values (0: scalar)."""

    each: int = 0
    size: int = 0
    members: dict[str, Node] = field(default_factory=dict)

    @property
    def length(self) -> int:
        inner = sum(m.length for m in self.members.values()) if self.members else max(self.size, 1)
        return inner * max(self.each, 1)

    def offsets(self) -> dict[str, int]:
        """Where each member begins, in values."""
        lengths = (member.length for member in self.members.values())
        return dict(zip(self.members, itertools.accumulate(lengths, initial=0), strict=False))


@dataclass
class Layout:
    """The tree of the struct; leaves know where their scalars are.  Derivatives form a tree `der`, built like that of
    the states, so that both stand in the same order."""

    root: Node = field(default_factory=Node)
    _places: dict[tuple[str, ...], tuple[int, dict[str, int]]] = field(default_factory=dict, repr=False)

    def _place(self, path: tuple[str, ...], node: Node) -> tuple[int, dict[str, int]]:
        """Length and offsets of the node at a path, found once for the whole tree."""
        if path not in self._places:
            self._places[path] = (node.length, node.offsets())
        return self._places[path]

    def add(self, path: tuple[str, ...], each: int, size: int) -> None:
        self._places.clear()
        node = self.root
        for depth, part in enumerate(path):
            leaf = depth == len(path) - 1
            node = node.members.setdefault(part, Node())
            if depth == (path[0] == "der"):
                node.each = each
            if leaf:
                node.size = size

    def indices(self, path: tuple[str, ...]) -> list[list[int]]:
        """Value references of a leaf: one list per `each`, with one index per component."""
        starts, node = [0], self.root
        for depth, part in enumerate(path):
            offset = self._place(path[:depth], node)[1][part]
            node = node.members[part]
            one = self._place(path[: depth + 1], node)[0] // max(node.each, 1)
            starts = [s + offset + i * one for s in starts for i in range(max(node.each, 1))]
        return [[s + k for k in range(max(node.size, 1))] for s in starts]


# ---- from declarations to scalars --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Declared:
    """One declared vector of variables, from whichever table."""

    path: tuple[str, ...]
    kind: Kind
    entry: Entry
    each: str | None
    size: int

    @property
    def base(self) -> str:
        return ".".join(self.path)

    @property
    def is_recorded(self) -> bool:
        return self.kind == "memory" and self.path[0] == "last_contact"


def load_model(path: Path) -> Model:
    """The model of a recipe's file, of one element or an assembly.  Raises InputError with every problem found."""
    with recorded_reads() as files:
        if kind_of(read_toml(path))[0] == "parts":
            from fmu_builder.model.assembly import load_assembly

            model: Model = load_assembly(path)
        else:
            model = load_element(path)
    return replace(model, files=tuple(dict.fromkeys(files)))


def load_element(path: Path, solver: bool = True) -> ElementModel:
    """The model of an element's recipe.  Raises InputError with every problem of the recipe and of its start values."""
    recipe, problems = parse_recipe(path, part=not solver)
    try:
        model = build_model(recipe, solver)
    except InputError as error:
        raise InputError([*problems, *error.problems]) from error
    if problems:
        raise InputError(problems)
    return model


def build_model(recipe: Recipe, solver: bool = True) -> ElementModel:
    """Flatten a recipe's element into scalars and apply the recipe's start values.

    solver  false for the part of an assembly, which has no solver of its own; start values of one are left aside
    Raises InputError with every problem found: unknown names, wrong units, values outside [min, max]."""
    element = recipe.element
    declared = list(_declared(element, recipe.sizes, recipe.laws, recipe.input_starts))
    patterns_over = list(declared)  # no `depends` of an element means the solver
    if solver:
        declared += _core_variables(
            element.experiment,
            states=any(d.kind == "state" for d in declared),
            records=recipe.language == "c" and any(d.is_recorded for d in declared),
        )
    layout = Layout()
    for d in declared:
        layout.add(d.path, recipe.sizes[d.each] if d.each else 0, d.size)
    states = [d for d in declared if d.kind == "state"]
    for d in sorted(states, key=lambda d: layout.indices(d.path)[0][0]):
        layout.add(("der", *d.path), recipe.sizes[d.each] if d.each else 0, d.size)
    patterns = _Patterns(recipe, patterns_over, layout)
    variables: dict[int, Variable] = {}
    unknown: list[Problem] = []
    for d in declared:
        try:
            for variable in _scalars(recipe, d, layout, patterns):
                variables[variable.index] = variable
        except InputError as error:
            unknown += error.problems
    if unknown:
        raise InputError(unknown)
    ordered = [variables[i] for i in range(len(variables))]
    indicators, indicator_layout = _indicators(recipe)
    model = ElementModel(
        name=recipe.name,
        description=recipe.description,
        path=recipe.path,
        variables=tuple(ordered),
        ports=tuple(_port_uses(recipe)),
        layout=layout,
        quaternions=tuple(_quaternions(recipe, layout)),
        indicators=indicators,
        experiment=element.experiment,
        log=element.log,
        element=element,
        recipe=recipe,
        indicator_layout=indicator_layout,
    )
    given = {name: value for name, value in recipe.starts.items() if solver or not is_core_variable(name)}
    starts, problems = start_values(model, given, f"{recipe.path}: [start]")
    if problems:
        raise InputError(problems)
    for name, held in held_forces(element, model.ports, recipe.effective_mass).items():
        for group in layout.indices(tuple(name.split("."))):
            for i in group:
                ordered[i] = replace(ordered[i], held=held)
    started = tuple(replace(v, start=starts[i]) if i in starts else v for i, v in enumerate(ordered))
    experiment = element.experiment.model_copy(update={"step": preferred_step(started, element.experiment.step)})
    return replace(model, variables=started, experiment=experiment)


def _declared(
    element: Declaration,
    sizes: Mapping[str, int],
    laws: ElementLaws | None = None,
    input_starts: Mapping[str, tuple[float, ...]] = MappingProxyType({}),
) -> Iterator[_Declared]:
    def size_of(entry: Entry) -> int:
        return sizes[entry.size] if isinstance(entry.size, str) else entry.size or 0

    yield _Declared(("time",), "time", Entry(description="Time", unit="s"), None, 0)
    for name, entry in element.parameters.items():
        kind: Kind = "fixed" if entry.fixed else "tunable"
        yield _Declared(tuple(name.split(".")), kind, entry, entry.each, size_of(entry))
    if laws is not None:
        yield from _scalar_variables(laws)
    for name, entry in element.inputs.items():
        yield _Declared(tuple(name.split(".")), "input", entry, entry.each, size_of(entry))
    for name, port in element.ports.items():
        roles = roles_of(port.kind, port.optional)
        taken = roles.force if port.side == "body" else roles.motion
        for role in (*roles.motion, *roles.force):
            text = f"{port.description}: {role.description}"
            path = (name, port.name_of(role.name))
            size = role.size if role.size > 1 else 0
            units = [unit.name for unit in role.units]
            state = port.states.get(role.name)
            if role in taken:
                starts = input_starts.get(".".join(path), role.starts)
                start = list(starts) if size else starts[0]
                rate = port.name_of(role.rate) if role.rate else None
                entry = Entry(description=text, unit=units, start=start, rate=rate)
                yield _Declared(path, "input", entry, port.each, size)
            elif state is not None:
                entry = Entry(
                    description=text,
                    unit=units,
                    output=True,
                    start=state.start,
                    nominal=state.nominal,
                    rate=state.rate,
                    initial=state.initial,
                    depends=state.depends,
                    reinit=state.reinit,
                )
                yield _Declared(path, "state", entry, port.each, size)
            else:
                entry = Entry(description=text, unit=units, output=True, depends=port.depends_of(role.name))
                yield _Declared(path, "output", entry, port.each, size)
    for table, table_kind in (("states", "state"), ("outputs", "output"), ("memory", "memory"), ("locals", "output")):
        entries: Mapping[str, Entry] = getattr(element, table)
        for name, entry in entries.items():
            if table == "outputs":
                entry = entry.model_copy(update={"output": True})
            yield _Declared(tuple(name.split(".")), table_kind, entry, entry.each, size_of(entry))  # type: ignore[arg-type]


_SCALAR = "Scalar {} of the laws"


def is_scalar_of_laws(description: str) -> bool:
    """Whether a variable with this description is a scalar of laws that can be set, by whatever name."""
    begin, end = _SCALAR.split("{}")
    return description.startswith(begin) and description.endswith(end)


def _scalar_variables(laws: ElementLaws) -> Iterator[_Declared]:
    """Scalars of laws: numbers are tunable parameters, others follow from them."""
    for name, scalar in laws.laws.scalars.items():
        unit, display = scalar_unit(laws.laws, name)
        number = scalar.number
        entry = Entry(
            description=_SCALAR.format(name) + ("" if number else ", computed from others"),
            unit=unit,
            display=display,
            start=number[0] if number else None,
            depends=[f"laws.{used}" for used in laws.laws.numbers_behind(scalar)],
        )
        yield _Declared(("laws", name), "tunable" if number else "calculated", entry, None, 0)
    for name in laws.remembered:
        entry = Entry(
            description=f"{name} at the last accepted point", unit=scalar_unit(laws.laws, name)[0], hidden=True
        )
        yield _Declared(("previous_laws", name), "memory", entry, None, 0)


def core_variables(experiment: Experiment, states: bool, records: bool) -> Declaration:
    """What contact_core declares for a model with states, and for one with records of contacts.

    solver.tolerance starts at that of the experiment."""
    solver = core_declaration("solver")
    tolerance = solver.parameters["solver.tolerance"].model_copy(update={"start": experiment.tolerance})
    parameters = {**solver.parameters, "solver.tolerance": tolerance} if states else {}
    if records:
        parameters |= core_declaration("contact_record").parameters
    memory = solver.memory if states else {}
    return Declaration(description="contact_core").model_copy(update={"parameters": parameters, "memory": memory})


def _core_variables(experiment: Experiment, states: bool, records: bool) -> Iterator[_Declared]:
    return (d for d in _declared(core_variables(experiment, states, records), {}) if d.kind != "time")


def _indicators(recipe: Recipe) -> tuple[tuple[EventIndicator, ...], Layout]:
    """The zero-crossing functions in the order of the C struct `Indicators`, and that struct: a member for each entry
    of [indicators], and for each law with kinks an array <slot>_kinks."""
    entries: list[tuple[tuple[str, ...], str | None, int, tuple[float, ...]]] = [
        (tuple(name.split(".")), e.each, 0, (e.nominal,)) for name, e in recipe.element.indicators.items()
    ]
    for slot, sizes in recipe.laws.kink_sizes.items() if recipe.laws else ():
        if sizes:
            entries.append(((kinks_of(slot),), recipe.element.slots[slot].each, len(sizes), sizes))
    layout = Layout()
    for path, each, size, _ in entries:
        layout.add(path, recipe.sizes[each] if each else 0, size)
    found: dict[int, EventIndicator] = {}
    for path, each, size, nominals in entries:
        for i, places in enumerate(layout.indices(path), 1):
            for k, (place, nominal) in enumerate(zip(places, nominals, strict=True), 1):
                found[place] = EventIndicator(fmi_name(path, i if each else None, k if size else None), nominal)
    return tuple(found[place] for place in range(len(found))), layout


EVERYTHING = ("*[*]", "time")  # the patterns of who declares no dependencies


class _Patterns:
    """Resolves `depends` patterns such as "point.*" or "C_F" to value references."""

    def __init__(self, recipe: Recipe, declared: Iterable[_Declared], layout: Layout) -> None:
        self._recipe = recipe
        self._declared = {d.base: d for d in declared}
        self._indices = {base: layout.indices(d.path) for base, d in self._declared.items()}
        self._meant: dict[str, list[str]] = {}  # by patterns met before: each is met once for every scalar
        self._everything: tuple[int, ...] | None = None
        self._resolved: dict[tuple[tuple[str, ...], int, str | None, int], tuple[int, ...]] = {}

    def group(self, base: str, each_index: int, each: str | None) -> list[int]:
        """All scalars of the declared name; the same `each` index if both run over the same size."""
        groups = self._indices[base]
        if each is not None and self._declared[base].each == each:
            groups = [groups[each_index]]
        return [i for group in groups for i in group]

    def resolve(
        self, patterns: Iterable[str], where: str, each_index: int, each: str | None, component: int
    ) -> tuple[int, ...]:
        """Indices of the parameters, inputs and states patterns stand for, and of time where it is named; "p.f[k]" is
        the same component of p.f, "p.f[2]" the second one, "p.f[*]" all of p.f whatever its `each` index."""
        if patterns is EVERYTHING:  # one tuple for all: it is long
            if self._everything is None:
                self._everything = self.resolve([*EVERYTHING], where, each_index, each, component)
            return self._everything
        written_as = (tuple(patterns), each_index, each, component)
        if written_as not in self._resolved:  # scalars of laws are many, and alike in this
            self._resolved[written_as] = self._resolve(where, *written_as)
        return self._resolved[written_as]

    def _resolve(
        self, where: str, patterns: tuple[str, ...], each_index: int, each: str | None, component: int
    ) -> tuple[int, ...]:
        found: set[int] = set()
        for written in patterns:
            pattern, _, number = written.removesuffix("]").partition("[")
            for base in self._bases(pattern, where):
                d = self._declared[base]
                if number not in ("", "*", "k", *map(str, range(1, d.size + 1))):
                    what = f"depends on '{written}': {base} has {d.size or 'no'} components"
                    raise InputError(Problem(f"{self._path}: {where}", what))
                if d.kind in ("fixed", "tunable", "input", "state") or base == pattern == "time":
                    if number in ("", "*"):
                        found.update(self.group(base, each_index, None if number else each))
                        continue
                    first = component if number == "k" else int(number) - 1
                    found.update(self.group(base, each_index, each)[first :: max(d.size, 1)])
        return tuple(sorted(found))

    def _bases(self, pattern: str, where: str) -> list[str]:
        """The declared names that a pattern stands for."""
        if pattern not in self._meant:
            bases = [base for base in self._declared if fnmatch.fnmatchcase(base, pattern)]
            for absent in fnmatch.filter(self._recipe.replaced, pattern):
                bases += [f"laws.{name}" for name in self._recipe.scalars_for(absent)]
            may_be_absent = pattern in ("sensor.*", "laws.*") or fnmatch.filter(self._recipe.absent, pattern)
            if not bases and not may_be_absent:
                what = f"depends on '{pattern}', which is unknown" + did_you_mean(pattern, self._declared)
                raise InputError(Problem(f"{self._path}: {where}", what))
            self._meant[pattern] = bases
        return self._meant[pattern]

    @property
    def _path(self) -> Path:
        return self._recipe.element_folder / "element.toml"

    def declared(self, base: str, where: str) -> _Declared:
        if base not in self._declared:
            what = f"'{base}' is unknown" + did_you_mean(base, self._declared)
            raise InputError(Problem(f"{self._path}: {where}", what))
        return self._declared[base]


_LEAST = {"bool": 0.0, "enum": 1.0}


def fmi_name(path: tuple[str, ...], each: int | None, component: int | None) -> str:
    """The structured FMI name: the index over `each` stands behind the first part, that of a vector at the end."""
    if len(path) == 1:
        indices = [str(i) for i in (each, component) if i is not None]
        return path[0] + (f"[{','.join(indices)}]" if indices else "")
    first = path[0] + (f"[{each}]" if each is not None else "")
    return ".".join([first, *path[1:]]) + (f"[{component}]" if component is not None else "")


def _scalars(recipe: Recipe, d: _Declared, layout: Layout, patterns: _Patterns) -> Iterator[Variable]:
    entry = d.entry
    groups = layout.indices(d.path)
    derivatives = layout.indices(("der", *d.path)) if d.kind == "state" else groups
    numbered = d.each is not None and (recipe.sizes[d.each] > 1 or d.each in recipe.given_sizes)
    for i, (group, derivative_group) in enumerate(zip(groups, derivatives, strict=True)):
        for k, (index, derivative) in enumerate(zip(group, derivative_group, strict=True)):
            name = fmi_name(d.path, i + 1 if numbered else None, k + 1 if d.size else None)
            start, start_from = _start(entry, k, d, patterns, i)
            rate = -1
            is_quaternion = d.kind == "input" and d.size == 4  # its rate is no component of w
            if entry.rate is not None and not is_quaternion:
                base = entry.rate if d.kind == "state" else f"{d.path[0]}.{entry.rate}"
                rate = patterns.group(patterns.declared(base, d.base).base, i, d.each)[k]
            primitive = -1
            if entry.primitive is not None:
                primitive = patterns.group(patterns.declared(entry.primitive, d.base).base, i, d.each)[k]
            variable = Variable(
                name=name,
                index=index,
                kind=d.kind,
                type=entry.type,
                description=entry.description,
                unit=parse_unit(_unit(recipe, d, i, k)),
                display=parse_unit(entry.display) if entry.display else None,
                start=start,
                min=_LEAST.get(entry.type, entry.min),
                max=float(len(entry.literals)) if entry.type == "enum" else 1.0 if entry.type == "bool" else entry.max,
                above=entry.above,
                below=entry.below,
                nominal=entry.nominal,
                is_output=entry.output,
                hidden=entry.hidden,
                on_demand=entry.on_demand,
                literals=tuple(entry.literals),
                depends=patterns.resolve(_depends(d, k), d.base, i, d.each, k),
                rate=rate,
                primitive=primitive,
                start_from=start_from,
                initial=patterns.resolve(entry.initial or (), d.base, i, d.each, k),
                derivative=derivative if d.kind == "state" else -1,
                reinit=_is_reinit(entry, recipe),
                constant_where_used=entry.constant_where_used,
                recorded=d.is_recorded,
            )
            yield variable
            if d.kind == "state":
                yield Variable(
                    name=f"der({name})",
                    index=derivative,
                    kind="derivative",
                    type="real",
                    description=f"Derivative of {name}",
                    unit=_per_second(variable.unit),
                    display=None,
                    start=0.0,
                    min=None,
                    max=None,
                    above=None,
                    below=None,
                    nominal=None,
                    is_output=False,
                    hidden=False,
                    depends=_derivative_depends(d, patterns, i, k, rate),
                    derivative=index,
                )


def _is_reinit(entry: Entry, recipe: Recipe) -> bool:
    return entry.reinit if isinstance(entry.reinit, bool) else applies(entry.reinit, recipe.choices)


def _unit(recipe: Recipe, d: _Declared, each_index: int, component: int) -> str:
    if d.base in recipe.units:
        return recipe.units[d.base][each_index]
    return d.entry.unit[component] if isinstance(d.entry.unit, list) else d.entry.unit


def _depends(d: _Declared, component: int) -> Sequence[str]:
    """Patterns of what an output, or the initial value of memory, depends on."""
    if d.kind not in ("output", "memory", "calculated"):
        return ()
    return _of_component(d.entry.depends, component)


def _of_component(depends: Depends | None, component: int) -> Sequence[str]:
    """The patterns of one component, where each has its own or all have the same; without a list everything."""
    if depends is None:
        return EVERYTHING
    found: list[str] = []
    for k, part in enumerate(depends):
        found += [part] if isinstance(part, str) else part if k == component else []
    return found


def _derivative_depends(
    d: _Declared, patterns: _Patterns, each_index: int, component: int, rate: int
) -> tuple[int, ...]:
    if d.entry.rate is None:
        return patterns.resolve(_of_component(d.entry.depends, component), d.base, each_index, d.each, component)
    source = patterns.declared(d.entry.rate, d.base)
    if source.kind == "output":
        return patterns.resolve(
            _of_component(source.entry.depends, component), source.base, each_index, d.each, component
        )
    return (rate,)


def _start(entry: Entry, component: int, d: _Declared, patterns: _Patterns, each_index: int) -> tuple[float, int]:
    """Start value, and the index of the parameter that holds it, -1 if none does."""
    start = entry.start
    if entry.type == "enum":
        return float(entry.literals.index(str(start)) + 1), -1
    if isinstance(start, str):
        indices = patterns.group(patterns.declared(start, d.base).base, each_index, d.each)
        return 0.0, indices[component]
    if isinstance(start, list):
        return float(start[component]), -1
    return float(start or 0.0), -1


_RATE_UNITS = {
    "m": "m/s",
    "m/s": "m/s2",
    "rad": "rad/s",
    "rad/s": "rad/s2",
    "rad2/s2": "rad2/s3",
    "N.s": "N",
    "J": "W",
    "s": "1",
    "1": "1/s",
}


def _per_second(unit: Unit) -> Unit:
    return parse_unit(_RATE_UNITS.get(unit.name, f"({unit.name})/s"))


def _port_uses(recipe: Recipe) -> Iterator[PortUse]:
    for name, port in recipe.element.ports.items():
        kind = roles_of(port.kind, port.optional)
        numbered = port.each is not None and (recipe.sizes[port.each] > 1 or port.each in recipe.given_sizes)
        for i in range(recipe.sizes[port.each] if port.each else 1):
            each = i + 1 if numbered else None

            def names(role: Role, each: int | None = each, name: str = name, port: Port = port) -> tuple[str, ...]:
                path = (name, port.name_of(role.name))
                return tuple(fmi_name(path, each, k + 1 if role.size > 1 else None) for k in range(role.size))

            yield PortUse(
                name=name + (f"[{each}]" if each is not None else ""),
                kind=port.kind,
                side=port.side,
                description=port.description,
                motion={role.name: names(role) for role in kind.motion},
                force={role.name: names(role) for role in kind.force},
                holds=port.holds,
            )


def _quaternions(recipe: Recipe, layout: Layout) -> Iterator[tuple[int, int]]:
    for name, port in recipe.element.ports.items():
        if port.kind == "frame" and port.side == "force":
            for q, w in zip(layout.indices((name, "q")), layout.indices((name, "w")), strict=True):
                yield q[0], w[0]


# ---- start values of the recipe ----------------------------------------------------------------------------------


def start_values(model: Model, starts: Mapping[str, object], where: str) -> tuple[dict[int, float], list[Problem]]:
    """Start values by index, from single names, or the base name of a vector with a list; and what is wrong.

    `where` names the file and its table."""
    names = model.visible_names
    values: dict[int, float] = {}
    given_by: dict[int, str] = {}
    problems: list[Problem] = []
    for key, value in starts.items():
        here = f"{where} {key}"
        targets = names.get(key, ())
        if not targets and isinstance(value, dict):
            names_given = ", ".join(f'"{key}.{rest}" = ...' for rest in value)
            problems.append(Problem(here, f"a name with dots needs quotes: {names_given}"))
            continue
        if not targets:
            known = [name for name, group in names.items() if group[0].is_settable]
            needs = model.needs_of(key)
            if needs:
                problems.append(Problem(here, f"this variable is there with {needs} only"))
                continue
            problems.append(Problem(here, "there is no such variable" + did_you_mean(key, known)))
            continue
        if not all(v.is_settable for v in targets):
            problems.append(Problem(here, "only parameters and inputs have start values; this one is computed"))
            continue
        given = value if isinstance(value, list) else [value]
        if len(given) != len(targets):
            values_needed = f"{len(targets)} value{'s' * (len(targets) > 1)} needed"
            problems.append(Problem(here, f"{value!r}: {values_needed}, {len(given)} given"))
            continue
        before = {given_by[v.index] for v in targets if v.index in given_by}
        if before:
            problems.append(Problem(here, f"has a start value by {', '.join(sorted(before))} already"))
            continue
        given_by |= {v.index: key for v in targets}
        for v, one in zip(targets, given, strict=True):
            checked = _check_start(v, one, here, problems)
            if checked is not None:
                values[v.index] = checked
    for first, _ in model.quaternions:
        parts = model.variables[first : first + 4]
        q = [values.get(v.index, v.start) for v in parts]
        if math.hypot(*q) < 0.5:
            here = f"{where} {parts[0].name.removesuffix('[1]')}"
            written = ", ".join(f"{x:g}" for x in q)
            problems.append(Problem(here, f"({written}): the length of a quaternion must be 1 and is below 0.5"))
    return values, problems


def law_problems(model: Model, starts: Mapping[int, float], where: str) -> list[Problem]:
    """What start values of the scalars of laws, SI by index, break of the rules that the recipe of the laws keeps.

    `where` names the file and its table."""
    problems: list[Problem] = []
    for first, element in model.elements():
        laws = element.recipe.laws
        if laws is None:
            continue
        at = {name: first + element[f"laws.{name}"].index for name in tunable(laws.laws)}
        scalars = {name: starts.get(i, model.variables[i].start or 0.0) for name, i in at.items()}
        for checked in laws.checked:
            slot = checked.law.slot
            changed = [name for name in laws.parameters_of(slot) if at[name] in starts]
            if not changed:
                continue
            units = {name: scalar_unit(laws.laws, name)[0] for name in changed}
            given = ", ".join(f"{n} = {scalars[n]:.6g}{'' if u == '1' else f' {u}'}" for n, u in units.items())
            here = f"{where} {', '.join(model.variables[at[name]].name for name in changed)}"
            again = replace(checked, scalars=scalars)
            problems += [
                Problem(here, f"with {given} the law in the slot {slot} breaks its rule: {problem.what}")
                for problem in rule_problems(again, here, lambda _f, _p, what, here=here: Problem(here, what))  # type: ignore[misc]
            ]
    return problems


def _check_start(variable: Variable, value: object, where: str, problems: list[Problem]) -> float | None:
    if variable.type == "bool":
        if not isinstance(value, bool):
            problems.append(Problem(where, f"{value!r} must be true or false"))
            return None
        return float(value)
    if variable.type == "enum":
        if value not in variable.literals:
            nearest = did_you_mean(str(value), variable.literals).partition("; known")[0]  # all are listed before it
            problems.append(Problem(where, f"{value!r} must be one of {', '.join(variable.literals)}{nearest}"))
            return None
        return float(variable.literals.index(str(value)) + 1)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        problems.append(Problem(where, f"{value!r} must be a number, or text 'number unit'"))
        return None
    try:
        number = parse_quantity(value, variable.unit, where)
    except InputError as error:
        problems.extend(error.problems)
        return None
    if variable.type == "int" and number != int(number):
        problems.append(Problem(where, f"{value!r} must be a whole number"))
        return None
    unit = "" if variable.unit.name == "1" else f" {variable.unit.name}"
    if rule := broken_bound(variable, number):
        problems.append(Problem(where, f"{value!r} is refused: {variable.name} must be {rule}{unit}"))
        return None
    return number
