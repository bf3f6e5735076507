"""Rules of element.toml beyond the types of its keys: names, units, sizes, conditions, variants."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from fmu_builder.c_names import C_KEYWORDS
from fmu_builder.errors import InputError, Problem, did_you_mean
from fmu_builder.model.clock_rules import clock_problems
from fmu_builder.model.declaration import (
    QUOTED,
    VARIABLE_TABLES,
    Conditional,
    Declaration,
    Depends,
    Port,
    Slot,
    StructureEntry,
    Variable,
    broken_bound,
    choice_values,
    default_first,
    plain,
    value_text,
)
from fmu_builder.model.ports import PORT_KINDS, roles_of
from fmu_builder.units import Unit, parse_unit

_CHOICE = re.compile(r"[a-z][a-z0-9_]*")
NAME_RULE = "a name consists of letters, digits and _, at most one dot, and is no keyword of C"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)?")


_Fault = tuple[str, str, str]  # table, name, what is wrong


def declaration_problems(path: Path, declaration: Declaration) -> list[Problem]:
    rules = (
        _name_faults,
        _variable_faults,
        clock_problems,
        _experiment_faults,
        _text_faults,
        _indicator_faults,
        _slot_faults,
        _port_faults,
        _structure_faults,
        _when_faults,
    )
    faults = [fault for rule in rules for fault in rule(declaration)]
    problems = [Problem(f"{path}: [{table}] {name}", what) for table, name, what in faults]
    return problems or list(_variant_problems(path, declaration))


def _sizes(declaration: Declaration) -> set[str]:
    return {name for name, entry in declaration.structure.items() if entry.is_size}


def _name_faults(declaration: Declaration) -> Iterator[_Fault]:
    for table in (*VARIABLE_TABLES, "ports", "structure", "indicators", "texts"):
        for name in getattr(declaration, table):
            parts = plain(name).split(".")
            if not _NAME.fullmatch(plain(name)) or any(part in C_KEYWORDS for part in parts):
                yield table, name, NAME_RULE


def _variable_faults(declaration: Declaration) -> Iterator[_Fault]:
    for table in VARIABLE_TABLES:
        entries: dict[str, Variable] = getattr(declaration, table)
        for name, entry in entries.items():
            for what in (
                *_shape_problems(entry, _sizes(declaration)),
                *_start_problems(entry, table),
                *_place_problems(entry, table),
                *_rate_problems(entry, table, declaration),
            ):
                yield table, name, what


def _shape_problems(entry: Variable, sizes: Collection[str]) -> Iterator[str]:
    """Of units and sizes."""
    units = entry.unit if isinstance(entry.unit, list) else [entry.unit]
    if isinstance(entry.unit, list) and len(units) != entry.size:
        yield f"unit has {len(units)} entries, size is {entry.size}"
    yield from _unit_problems(units, entry.display)
    for size in (entry.size, entry.each):
        if isinstance(size, str) and size not in sizes:
            yield f"'{size}' is no size in [structure]" + did_you_mean(size, sizes)


def _start_problems(entry: Variable, table: str) -> Iterator[str]:
    if table in ("parameters", "inputs") and entry.type == "real" and isinstance(entry.start, str):
        yield f"start = {entry.start!r} must be a number"
    given = entry.start if isinstance(entry.start, list) else [entry.start]
    if isinstance(entry.start, list) and len(given) != entry.size:
        what = f"start has {len(given)} values, size is {entry.size or 'not given'}"
        yield f"{what}; a number stands for all components"
    if entry.type == "int" and any(isinstance(one, float) and not one.is_integer() for one in given):
        yield f"start = {entry.start!r} must be a whole number, as type is 'int'"
    if entry.type == "bool" and any(isinstance(one, int | float) and one not in (0, 1) for one in given):
        yield f"start = {entry.start!r} must be true or false, as type is 'bool'"
    for value in dict.fromkeys(one for one in given if isinstance(one, int | float)):
        if rule := broken_bound(entry, value):
            yield f"start = {value!r} must be {rule}, as every value"
    if table in ("outputs", "locals") and entry.start is not None:
        yield "start belongs to a parameter, an input, a state or memory; this value is computed"
    if table == "parameters" and entry.start is None:
        yield "start is missing: a parameter needs a default"
    if (entry.type == "enum") != bool(entry.literals):
        yield "literals belong to an enumeration, which needs them"
    elif entry.type == "enum" and table != "parameters":
        yield "an enumeration must be a parameter"
    elif entry.type == "enum" and entry.start not in entry.literals:
        yield f"start = {entry.start!r} must be one of {', '.join(entry.literals)}"


def _place_problems(entry: Variable, table: str) -> Iterator[str]:
    """Of keys that belong to other tables or kinds of variables."""
    if (entry.above is not None or entry.below is not None) and table != "parameters":
        yield "above and below belong to parameters"
    if entry.acts_as is not None and table != "parameters":
        yield "acts_as belongs to a parameter"
    lists = len(entry.depends or ()) if _is_by_component(entry.depends) else entry.size
    if lists != entry.size:
        yield f"depends has lists for {lists} components, size is {entry.size or 'not given'}"
    if entry.shown is not None and (not re.fullmatch(QUOTED, entry.shown, re.ASCII) or entry.size or entry.each):
        yield f"shown = {entry.shown!r} must be a quoted name of FMI, 'a b', and belongs to a scalar"
    if entry.struct is not None and (table != "memory" or not entry.hidden or entry.type != "real"):
        yield "struct belongs to memory that is hidden"
    if entry.primitive is not None and (table != "states" or entry.rate is None):
        yield "primitive belongs to a state with a rate"
    if entry.on_demand and table not in ("outputs", "locals"):
        yield "on_demand belongs to an output or a local"


def _rate_problems(entry: Variable, table: str, declaration: Declaration) -> Iterator[str]:
    """Of the rates of states, and of what belongs to states."""
    for role in (entry.rate, entry.primitive):
        if any(t[role].on_demand for t in (declaration.outputs, declaration.locals) if role in t):
            yield f"'{role}' is on_demand: a variable that gives the rate of a state must not be"
    for key in ("reinit", "constant_where_used"):
        if getattr(entry, key) is not False and table != "states":
            yield f"{key} belongs to a state"
    if isinstance(entry.reinit, dict):
        yield from _condition_problems(choice_values(declaration), entry.reinit, "reinit")
    if entry.initial is not None and (table != "states" or entry.start is not None):
        yield "initial belongs to a state, in place of start"


def _experiment_faults(declaration: Declaration) -> Iterator[_Fault]:
    step, stop = declaration.experiment.step, declaration.experiment.stop
    if step > stop:
        yield "experiment", "step", f"{step:g} s must not be longer than stop = {stop:g} s"


def _text_faults(declaration: Declaration) -> Iterator[_Fault]:
    given = [name for name, text in declaration.texts.items() if text.kind]
    for name, text in declaration.texts.items():
        if name in declaration.variable_names():
            yield "texts", name, "is the name of a variable too"
        if text.kind is not None and text.shows is not None:
            yield "texts", name, "a text that is set shows no other one: leave out kind or shows"
        elif text.kind is None and text.shows not in given:
            yield "texts", name, f"needs kind, or as an output shows: one of {', '.join(given) or 'no text'}"


def _indicator_faults(declaration: Declaration) -> Iterator[_Fault]:
    for name in map(plain, declaration.indicators):
        if name.endswith("_kinks") and name.removesuffix("_kinks") in declaration.slots:
            yield "indicators", name, "this name belongs to the kinks of the law in that slot: choose another name"


def _slot_faults(declaration: Declaration) -> Iterator[_Fault]:
    for name, slot in declaration.slots.items():
        for what in _slot_problems(declaration, name, slot):
            yield "slots", name, what
    for name, parameter in declaration.parameters.items():
        for slot_name in parameter.replaced_by:
            if slot_name not in declaration.slots:
                what = f"replaced_by: there is no slot '{slot_name}'"
                yield "parameters", name, what + did_you_mean(slot_name, declaration.slots)


def _port_faults(declaration: Declaration) -> Iterator[_Fault]:
    for name, port in declaration.ports.items():
        for what in _port_problems(port, _sizes(declaration), declaration.parameters):
            yield "ports", name, what
        for role, state in port.states.items():
            if isinstance(state.reinit, dict):
                for what in _condition_problems(choice_values(declaration), state.reinit, f"states.{role}: reinit"):
                    yield "ports", name, what


def _structure_faults(declaration: Declaration) -> Iterator[_Fault]:
    for name, choice in declaration.structure.items():
        for what in _structure_problems(choice, declaration.structure):
            yield "structure", name, what


def _when_faults(declaration: Declaration) -> Iterator[_Fault]:
    for table in (*VARIABLE_TABLES, "ports", "indicators", "slots", "structure"):
        conditional: dict[str, Conditional | Slot | StructureEntry] = getattr(declaration, table)
        for name, one in conditional.items():
            for what in _condition_problems(choice_values(declaration), one.when):
                yield table, name, what


def _variant_problems(path: Path, declaration: Declaration) -> Iterator[Problem]:
    """Variants of one entry that apply at once, with the first form in which they do."""
    values, default = choice_values(declaration), declaration.default_choices
    values = {name: default_first(v, default[name]) for name, v in values.items()}
    for table in (*VARIABLE_TABLES, "ports", "indicators"):
        entries: dict[str, Conditional] = getattr(declaration, table)
        variants: dict[str, list[Conditional]] = {}
        for name, entry in entries.items():
            variants.setdefault(plain(name), []).append(entry)
        for name, several in variants.items():
            if len(several) < 2:
                continue
            involved = [key for key in values if any(key in entry.when for entry in several)]
            for combination in itertools.product(*(values[key] for key in involved)):
                form = default | dict(zip(involved, combination, strict=True))
                if sum(entry.is_in(form) for entry in several) > 1:
                    chosen = ", ".join(f"{key} = {value_text(value)}" for key, value in form.items())
                    what = f"two variants apply at once{' with ' if chosen else ''}{chosen}"
                    yield Problem(f"{path}: [{table}] {name}", what)
                    break


def _is_by_component(depends: Depends | None) -> bool:
    return any(isinstance(one, list) for one in depends or ())


def _port_problems(port: Port, sizes: Collection[str], parameters: Iterable[str]) -> Iterator[str]:
    if port.each is not None and port.each not in sizes:
        yield f"each = '{port.each}' is no size in [structure]" + did_you_mean(port.each, sizes)
    known = [role.name for role in PORT_KINDS[port.kind].motion if role.optional]
    for name in port.optional:
        if name not in known:
            yield f"'{name}' is no optional role of a {port.kind} port" + did_you_mean(name, known)
    kind = roles_of(port.kind, port.optional)
    given = {role.name: role.size for role in (kind.motion if port.side == "body" else kind.force)}
    for name, depends in sorted(port.depends.items()) if isinstance(port.depends, dict) else ():
        if name not in given:
            yield f"depends.{name}: the port gives no such role" + did_you_mean(name, given)
        elif _is_by_component(depends) and len(depends) != given[name]:
            yield f"depends.{name} has lists for {len(depends)} components, the role has {given[name]}"
    if port.names and port.names not in kind.spellings:
        others = " or ".join(str(dict(spelling)) for spelling in kind.spellings)
        yield f"names = {port.names} is no spelling of a {port.kind} port; known: {others or 'none but its roles'}"
    if port.holds is not None:
        if port.kind != "planar" or port.side != "force":
            yield "holds belongs to a planar port of a force element"
        of = list(map(plain, parameters))
        for value in (port.holds.x, port.holds.y, port.holds.angle):
            if isinstance(value, str) and value not in of:
                yield f"holds: '{value}' is no parameter" + did_you_mean(value, of)


def _structure_problems(entry: StructureEntry, structure: Mapping[str, StructureEntry]) -> Iterator[str]:
    if entry.compares:
        name, number = entry.compares
        sizes = {name: one.default for name, one in structure.items() if one.is_size}
        size = sizes.get(name)
        if size is None:
            yield f"given_by: '{name}' is no size in [structure]" + did_you_mean(name, sizes)
        elif isinstance(size, int) and entry.default is not (size > number):
            right = value_text(size > number)
            yield f"default = {value_text(entry.default)}, but it is {right} with {name} = {size}, the default of that"
    elif re.search("[<>= ]", entry.given_by):
        yield f"given_by: '{entry.given_by}' must be a table, the key of one, or 'size > number'"
    if entry.choices:
        if entry.default not in entry.choices:
            yield f"default = {entry.default!r} is no choice" + did_you_mean(str(entry.default), entry.choices)
        for word in entry.choices:
            if not _CHOICE.fullmatch(word):
                yield f"'{word}': a choice consists of small letters, digits and _, for it becomes a macro of C"
        if len(set(entry.choices)) != len(entry.choices) or len(entry.choices) < 2:
            yield "choices must be at least two different words"
    elif isinstance(entry.default, str):
        yield f"default = {entry.default!r} needs choices, of which it is one"
    if not entry.is_size and entry.model_fields_set & {"min", "max"}:
        yield "min and max belong to sizes"


def _unit_problems(units: Sequence[str], display: str | None) -> Iterator[str]:
    """The C code computes in SI."""
    shown: Unit | None = None
    try:
        shown = parse_unit(display) if display else None
    except InputError as error:
        yield f"display: {error.problems[0].what}"
    for unit in units:
        try:
            parsed = parse_unit(unit)
        except InputError as error:
            yield f"unit: {error.problems[0].what}"
            continue
        if not parsed.is_si:
            yield f"unit = '{unit}' must be an SI unit without prefix, as in element.c; display shows another"
        elif shown is not None and not shown.same_dimension(parsed):
            yield f"display = '{display}' must have the dimension of the unit '{unit}'"


def _slot_problems(declaration: Declaration, name: str, slot: Slot) -> Iterator[str]:
    if not _NAME.fullmatch(name) or "." in name or name in declaration.structure:
        yield "the name of a slot consists of letters, digits and _, and is none of [structure]"
    for unit in (*slot.arguments.values(), slot.unit):
        try:
            parse_unit(unit)
        except InputError as error:
            yield f"unit: {error.problems[0].what}"
    for key in ("zero_at", "rises_from", "same_sign"):
        argument = getattr(slot, key)
        if argument is not None and argument not in slot.arguments:
            yield f"{key} = '{argument}' is no argument" + did_you_mean(argument, slot.arguments)
    for change in slot.changes:
        yield from _condition_problems(choice_values(declaration), change.when, "changes: when")
        for argument, other in change.renamed.items():
            if argument not in slot.arguments:
                yield f"changes: '{argument}' is no argument" + did_you_mean(argument, slot.arguments)
            elif other in slot.arguments:
                yield f"changes: '{other}' is an argument already"
    if slot.range.keys() != slot.arguments.keys():
        yield "range must give [from, to] of each argument, and of nothing else"
    if any(not low < high for low, high in slot.range.values()):
        yield "range must go from a smaller value to a larger one"
    if slot.each is not None and slot.each not in (sizes := _sizes(declaration)):
        yield f"each = '{slot.each}' is no size in [structure]" + did_you_mean(slot.each, sizes)


def _condition_problems(
    choices: Mapping[str, tuple[bool | str, ...]], when: Mapping[str, tuple[bool | str, ...]], key: str = "when"
) -> Iterator[str]:
    for name, values in when.items():
        if name not in choices:
            yield f"{key}: '{name}' is no choice in [structure]" + did_you_mean(name, choices)
            continue
        for value in values:
            if value not in choices[name]:
                known = map(value_text, choices[name])
                yield f"{key}: '{value_text(value)}' is no value of {name}" + did_you_mean(value_text(value), known)
