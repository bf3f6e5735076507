"""From the recipe of one element to its model: declarations become scalars, in the order of the C struct."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fmu_builder.errors import InputError, Problem, collected
from fmu_builder.laws.c_source import kinks_of
from fmu_builder.model.c_structs import Headers, headers_of, limits_of_doubles
from fmu_builder.model.clocks import clock_links
from fmu_builder.model.connectable import PortUse
from fmu_builder.model.declaration import Declaration, DefaultExperiment, Depends, Port, applies
from fmu_builder.model.declaration import Variable as Entry
from fmu_builder.model.declaration_reader import core_declaration, header_folders, is_core_variable
from fmu_builder.model.dependencies import EVERYTHING, Declared, Patterns
from fmu_builder.model.layout import Layout, fmi_name
from fmu_builder.model.model import ElementModel, EventIndicator, Kind, StringVariable, Variable
from fmu_builder.model.ports import Role, roles_of
from fmu_builder.model.recipe import CheckedRecipe, parse_recipe
from fmu_builder.model.slots import ElementLaws, scalar_unit
from fmu_builder.model.start_values import start_values
from fmu_builder.model.step_advice import held_forces, preferred_step
from fmu_builder.units import Unit, parse_unit


def load_element(path: Path, solver: bool = True) -> ElementModel:
    """The model of an element's recipe.  Raises InputError with every problem of the recipe and of its start values."""
    recipe, problems = parse_recipe(path, part=not solver)
    with collected(problems):
        model = build_model(recipe, solver)
    if problems:
        raise InputError(problems)
    return model


def build_model(recipe: CheckedRecipe, solver: bool = True) -> ElementModel:
    """Flatten a recipe's element into scalars and apply the recipe's start values.

    solver  false for the part of an assembly, which has no solver of its own; start values of one are ignored
    Raises InputError with every problem found: unknown names, wrong units, values outside [min, max]."""
    element = recipe.element
    declared = list(_declared(element, recipe.sizes, recipe.laws, recipe.input_starts))
    if faults := [
        Problem(f"{recipe.element_folder / 'element.toml'}: {n}", what) for n, what in _name_faults(declared)
    ]:
        raise InputError(faults)
    patterns_over = list(declared)  # no `depends` of an element means the solver
    if solver:
        declared += _core_variables(
            element.experiment,
            states=any(d.kind == "state" for d in declared),
            records=any(d.is_recorded for d in declared),
        )
    layout = Layout()
    for d in declared:
        layout.add(d.path, recipe.sizes[d.each] if d.each else 0, d.size)
    states = [d for d in declared if d.kind == "state"]
    for d in sorted(states, key=lambda d: layout.indices(d.path)[0][0]):
        layout.add(("der", *d.path), recipe.sizes[d.each] if d.each else 0, d.size)
    patterns = Patterns(recipe, patterns_over, layout)
    variables: dict[int, Variable] = {}
    unknown: list[Problem] = []
    has_structs = any(d.entry.struct for d in declared)
    headers = headers_of(header_folders(recipe.element_folder)) if has_structs else None
    for d in declared:
        with collected(unknown):
            variables |= {variable.index: variable for variable in _scalars(recipe, d, layout, patterns, headers)}
    if unknown:
        raise InputError(unknown)
    ordered = [variables[i] for i in range(len(variables))]
    if faults := [Problem(f"{patterns.path}: {name}", what) for name, what in _rate_faults(ordered)]:
        raise InputError(faults)
    indicators, indicator_layout = _indicators(recipe)
    model = ElementModel(
        name=recipe.name,
        description=recipe.description,
        arrays=recipe.arrays,
        page=recipe.page,
        texts=_texts(element),
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
    for name, held in held_forces(element, model.ports, recipe.effective_mass, recipe.contact_area).items():
        for group in layout.indices(tuple(name.split("."))):
            for i in group:
                ordered[i] = replace(ordered[i], held=held)
    started = tuple(replace(v, start=starts[i]) if i in starts else v for i, v in enumerate(ordered))
    default = element.experiment
    step = min(preferred_step(started, default.step), default.stop)  # of a soft element it may be longer than the run
    return replace(model, variables=started, experiment=default.model_copy(update={"step": step}))


def _name_faults(declared: Sequence[Declared]) -> Iterator[tuple[str, str]]:
    """Names that stand for two things, with what is wrong: those of the roles of ports count too."""
    counts = Counter(d.path for d in declared)
    groups = {path[:1] for path in counts if len(path) > 1}
    for path, count in counts.items():
        if count > 1:
            yield ".".join(path), "is the name of two variables: choose another one"
        elif path in groups:
            yield ".".join(path), "is the name of a variable and of a group of variables: choose another one"


def _rate_faults(variables: Sequence[Variable]) -> Iterator[tuple[str, str]]:
    """States whose rate has another dimension than theirs over time, with what is wrong; one of each pair of units.

    Where both have none, time may have none in the equations either."""
    reported: set[tuple[str, str]] = set()
    for v in variables:
        if v.kind != "state" or v.rate < 0:
            continue
        rate, needed = variables[v.rate], _per_second(v.unit)
        fits = rate.unit.same_dimension(needed) or (v.unit.name, rate.unit.name) == ("1", "1")
        if not fits and (v.unit.name, rate.unit.name) not in reported:
            reported.add((v.unit.name, rate.unit.name))
            yield v.name, f"rate = '{rate.name}' is in {rate.unit.name}, and the rate of {v.unit.name} in {needed.name}"


_KIND_OF_TABLE: Mapping[str, Kind] = {"states": "state", "outputs": "output", "memory": "memory", "locals": "output"}


def _declared(
    element: Declaration,
    sizes: Mapping[str, int],
    laws: ElementLaws | None = None,
    input_starts: Mapping[str, tuple[float, ...]] = MappingProxyType({}),
) -> Iterator[Declared]:
    def size_of(entry: Entry) -> int:
        return sizes[entry.size] if isinstance(entry.size, str) else entry.size or 0

    yield Declared(("time",), "time", Entry(description="Time", unit="s"), None, 0)
    for name, entry in element.parameters.items():
        kind: Kind = "fixed" if entry.fixed else "tunable"
        yield Declared(tuple(name.split(".")), kind, entry, entry.each, size_of(entry))
    if laws is not None:
        yield from _scalar_variables(laws)
    for name, entry in element.inputs.items():
        yield Declared(tuple(name.split(".")), "input", entry, entry.each, size_of(entry))
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
                yield Declared(path, "input", entry, port.each, size)
            elif state is not None:
                entry = Entry(description=text, unit=units, output=True, **dict(state))
                yield Declared(path, "state", entry, port.each, size)
            else:
                entry = Entry(description=text, unit=units, output=True, depends=port.depends_of(role.name))
                yield Declared(path, "output", entry, port.each, size)
    for table, table_kind in _KIND_OF_TABLE.items():
        entries: Mapping[str, Entry] = getattr(element, table)
        for name, entry in entries.items():
            if table == "outputs":
                entry = entry.model_copy(update={"output": True})
            yield Declared(tuple(name.split(".")), table_kind, entry, entry.each, size_of(entry))


_SCALAR = "Scalar {} of the laws"


def is_scalar_of_laws(description: str) -> bool:
    """Whether a variable with this description is a scalar of laws that can be set, by whatever name."""
    begin, end = _SCALAR.split("{}")
    return description.startswith(begin) and description.endswith(end)


def _scalar_variables(laws: ElementLaws) -> Iterator[Declared]:
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
        yield Declared(("laws", name), "tunable" if number else "calculated", entry, None, 0)
    for name in laws.remembered:
        entry = Entry(
            description=f"{name} at the last accepted point", unit=scalar_unit(laws.laws, name)[0], hidden=True
        )
        yield Declared(("previous_laws", name), "memory", entry, None, 0)


def core_variables(experiment: DefaultExperiment, states: bool, records: bool) -> Declaration:
    """What contact_core declares for a model with states, and for one with records of contacts.

    solver.tolerance starts at that of the experiment."""
    solver = core_declaration("solver")
    tolerance = solver.parameters["solver.tolerance"].model_copy(update={"start": experiment.tolerance})
    parameters = {**solver.parameters, "solver.tolerance": tolerance} if states else {}
    if records:
        parameters |= core_declaration("contact_record").parameters
    memory = solver.memory if states else {}
    return Declaration(description="contact_core").model_copy(update={"parameters": parameters, "memory": memory})


def _core_variables(experiment: DefaultExperiment, states: bool, records: bool) -> Iterator[Declared]:
    return (d for d in _declared(core_variables(experiment, states, records), {}) if d.kind != "time")


def _indicators(recipe: CheckedRecipe) -> tuple[tuple[EventIndicator, ...], Layout]:
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


def _texts(element: Declaration) -> tuple[StringVariable, ...]:
    """The Strings, in the order of the table."""
    numbers = {name: number for number, name in enumerate(element.texts)}
    return tuple(
        StringVariable(
            name,
            numbers[name],
            one.kind or "output",
            one.description,
            one.start,
            numbers[one.shows] if one.shows else -1,
        )
        for name, one in element.texts.items()
    )


_LEAST = {"bool": 0.0, "enum": 1.0}


def _greatest(entry: Entry) -> float | None:
    return float(len(entry.literals)) if entry.type == "enum" else 1.0 if entry.type == "bool" else entry.max


def _scalars(
    recipe: CheckedRecipe, d: Declared, layout: Layout, patterns: Patterns, headers: Headers | None
) -> Iterator[Variable]:
    entry = d.entry
    groups = layout.indices(d.path)
    derivatives = layout.indices(("der", *d.path)) if d.kind == "state" else groups
    numbered = d.each is not None and (recipe.sizes[d.each] > 1 or d.each in recipe.given_sizes)
    limits = limits_of_doubles(entry.struct, headers) if entry.struct and headers else ()
    links = clock_links(
        entry.clock,
        entry.clocks,
        entry.previous,
        entry.output,
        lambda name: patterns.group(patterns.declared(name, d.base).base, 0, None)[0],
    )
    where, least_of_all, greatest_of_all = d.base, _LEAST.get(entry.type, entry.min), _greatest(entry)
    alike: dict[str, Any] = {  # all scalars of it have these
        "kind": d.kind,
        "type": entry.type,
        "description": entry.description,
        "display": parse_unit(entry.display) if entry.display else None,
        "above": entry.above,
        "below": entry.below,
        "nominal": entry.nominal,
        "is_output": entry.output,
        "hidden": entry.hidden,
        "on_demand": entry.on_demand,
        "literals": tuple(entry.literals),
        "reinit": _is_reinit(entry, recipe),
        "constant_where_used": entry.constant_where_used,
        "recorded": d.is_recorded,
        "is_struct": entry.struct is not None,
        **links,
    }
    for i, (group, derivative_group) in enumerate(zip(groups, derivatives, strict=True)):
        for k, (index, derivative) in enumerate(zip(group, derivative_group, strict=True)):
            name = entry.shown or fmi_name(d.path, i + 1 if numbered else None, k + 1 if d.size else None)
            start, start_from = _start(entry, k, d, patterns, i)
            rate = -1
            is_quaternion = d.kind == "input" and d.size == 4  # its rate is no component of w
            if entry.rate is not None and not is_quaternion:
                base = entry.rate if d.kind == "state" else f"{d.path[0]}.{entry.rate}"
                rate = patterns.group(patterns.declared(base, where).base, i, d.each)[k]
            primitive = -1
            if entry.primitive is not None:
                primitive = patterns.group(patterns.declared(entry.primitive, where).base, i, d.each)[k]
            least, greatest = (limits[k] if limits else None) or (least_of_all, greatest_of_all)
            variable = Variable(
                name=name,
                index=index,
                unit=parse_unit(_unit(recipe, d, i, k)),
                start=start,
                min=least,
                max=greatest,
                depends=patterns.resolve(_depends(d, k), where, i, d.each, k),
                rate=rate,
                primitive=primitive,
                start_from=start_from,
                initial=patterns.resolve(entry.initial, where, i, d.each, k) if entry.initial else (),
                derivative=derivative if d.kind == "state" else -1,
                **alike,
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
                    depends=_derivative_depends(d, patterns, i, k, rate),
                    derivative=index,
                )


def _is_reinit(entry: Entry, recipe: CheckedRecipe) -> bool:
    return entry.reinit if isinstance(entry.reinit, bool) else applies(entry.reinit, recipe.choices)


def _unit(recipe: CheckedRecipe, d: Declared, each_index: int, component: int) -> str:
    if d.base in recipe.units:
        return recipe.units[d.base][each_index]
    return d.entry.unit[component] if isinstance(d.entry.unit, list) else d.entry.unit


def _depends(d: Declared, component: int) -> Sequence[str]:
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


def _derivative_depends(d: Declared, patterns: Patterns, each_index: int, component: int, rate: int) -> tuple[int, ...]:
    if d.entry.rate is None:
        return patterns.resolve(_of_component(d.entry.depends, component), d.base, each_index, d.each, component)
    source = patterns.declared(d.entry.rate, d.base)
    if source.kind == "output":
        return patterns.resolve(
            _of_component(source.entry.depends, component), source.base, each_index, d.each, component
        )
    return (rate,)


def _start(entry: Entry, component: int, d: Declared, patterns: Patterns, each_index: int) -> tuple[float, int]:
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


def _port_uses(recipe: CheckedRecipe) -> Iterator[PortUse]:
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


def _quaternions(recipe: CheckedRecipe, layout: Layout) -> Iterator[tuple[int, int]]:
    for name, port in recipe.element.ports.items():
        if port.kind == "frame" and port.side == "force":
            for q, w in zip(layout.indices((name, "q")), layout.indices((name, "w")), strict=True):
                yield q[0], w[0]
