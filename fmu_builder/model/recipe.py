"""A recipe (fmus/<Name>.toml): one element, its structure and its start values.  Read and checked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from fmu_builder.c_names import C_KEYWORDS
from fmu_builder.errors import InputError, Problem, collected, did_you_mean, none_of, shown_value
from fmu_builder.laws.check import RESERVED
from fmu_builder.model.declaration import Choices, Declaration, Variable, plain, unmet, value_text
from fmu_builder.model.declaration_reader import read_declaration
from fmu_builder.model.documents import Assembly, Case, Recipe, keys_of
from fmu_builder.model.drawing_table import Drawing, read_drawing
from fmu_builder.model.file_kinds import IDENTIFIER, correct_kind, name_problems
from fmu_builder.model.given_values import truth
from fmu_builder.model.page_table import PageTable, read_page
from fmu_builder.model.slots import ElementLaws, read_functions
from fmu_builder.model.structure_reader import Constant, Limit, Reader, Structure, fields_of
from fmu_builder.model.table_model import Truth, models_of
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import find_element, find_recipe, former_note, load_module
from fmu_builder.units import parse_quantity, parse_unit

KEYS = keys_of(Recipe)
_KEYS_OF_SYSTEMS = {*keys_of(Assembly), *keys_of(Case)}


def has_laws(recipe: Path) -> bool:
    """Whether a recipe without faults, or that of one of its parts, has laws of its own."""
    tables = read_toml(recipe)
    parts: Any = tables.get("parts", {})
    named = {part if isinstance(part, str) else part["recipe"] for part in parts.values()}
    return "functions" in tables or any(has_laws(find_recipe(name, recipe.parent)) for name in named)


@dataclass(frozen=True)
class CheckedRecipe:
    """`name` is the modelIdentifier; `starts` holds start values by FMU name, as written.  `element` is what the
    element declares with the structure `choices`; `absent` are the variables it declares with others only, with the
    keys that would bring them, `replaced` its parameters in whose place a law stands, with the slot.  `left_out` are
    parameters that only the part of an assembly lacks: it has no communication points."""

    path: Path
    name: str
    description: str
    element: Declaration
    element_folder: Path
    language: str  # of the physics: "c", or "python" for a prototype
    starts: Mapping[str, object]
    sizes: Mapping[str, int]
    given_sizes: frozenset[str]
    choices: Choices
    absent: Mapping[str, str]
    constants: tuple[Constant, ...]
    units: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    structure_starts: frozenset[str] = frozenset()  # of `starts` those that the structure gives
    input_starts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # in place of those of the kind of port
    limits: Mapping[str, Limit] = field(default_factory=dict)
    contact_area: float = 0.0
    notes: tuple[str, ...] = ()
    laws: ElementLaws | None = None
    replaced: Mapping[str, str] = field(default_factory=dict)
    effective_mass: str = ""  # parameter that holds it in forms that have one
    drawing: Drawing = field(default_factory=Drawing)
    arrays: bool = False  # of FMI 3.0: vectors are arrays
    page: PageTable = field(default_factory=PageTable)
    left_out: frozenset[str] = frozenset()

    def scalars_for(self, parameter: str) -> list[str]:
        """Names of the scalars that a law depends on, where it replaces this parameter."""
        slot = self.replaced.get(parameter)
        return [] if slot is None or self.laws is None else self.laws.parameters_of(slot)

    @property
    def element_name(self) -> str:
        return self.element_folder.name

    def with_choices(self, declared: Declaration, choices: Choices) -> CheckedRecipe:
        """The recipe of the declared element with the structure choices given, and the default ones for the others."""
        every = {**declared.default_choices, **choices}
        element = declared.chosen(every, {name for name, size in self.sizes.items() if size == 0})
        limited = {
            name: element.parameters[name].model_copy(update={"start": limit.start, "max": limit.max})
            for name, limit in self.limits.items()
        }
        element = element.model_copy(update={"parameters": {**element.parameters, **limited}})
        replaced = {name: slot for name, p in declared.parameters.items() for slot in p.replaced_by if every[slot]}
        masses = [plain(name) for name, p in declared.parameters.items() if p.acts_as == "effective mass"]
        return replace(
            self,
            element=element,
            choices=every,
            absent=declared.absent_of(element, every),
            replaced=replaced,
            effective_mass=masses[0] if masses else "",
        )


def read_recipe(path: Path) -> CheckedRecipe:
    """Read a recipe and all it names.  Raises InputError with every problem found; start values are checked by
    `model.build_model`, which knows the variables."""
    recipe, problems = parse_recipe(path)
    if problems:
        raise InputError(problems)
    return recipe


def parse_recipe(path: Path, part: bool = False) -> tuple[CheckedRecipe, list[Problem]]:
    """The recipe, with defaults where it is wrong, and what is wrong; of a `part` of an assembly without what belongs
    to communication points.  Raises InputError without an element."""
    tables = read_toml(path)
    problems: list[Problem] = []
    problems += name_problems(path)
    kind = correct_kind(path, tables, problems)
    folder = _element_folder(path, tables, kind, problems)
    declared = read_declaration(folder)
    takes_sensors = any(slot.sensors for slot in declared.slots.values())
    if takes_sensors:
        declared = _with_sensors(path, declared, tables, problems)
    module = structure_module(folder)
    structure_tables: tuple[str, ...] = getattr(module, "TABLES", ())
    structure_lists: tuple[str, ...] = getattr(module, "LISTS", ())

    known = (*KEYS, *structure_tables, *structure_lists, *(("sensors",) if takes_sensors else ()))
    problems += _key_problems(path, tables, declared, known, structure_lists, _keys_of_tables(module))
    table = partial(_table, tables)
    drawing = read_drawing(path, table("drawing"), problems)
    description = tables.get("description", declared.description)
    if not isinstance(description, str):
        problems.append(Problem(f"{path}: description", f"{description!r} must be text"))

    given: dict[str, Any] = {name: table(name) for name in structure_tables}
    given |= {name: _rows(tables, name) for name in structure_lists}
    functions = table("functions")
    if module is not None and hasattr(module, "laws"):
        more = module.laws(given)
        slots = {name: slot for name, (slot, _) in more.items()}
        declared = declared.model_copy(update={"slots": {**declared.slots, **slots}})
        functions = {**functions, **{name: entry for name, (_, entry) in more.items()}}

    sizes, choices = _structure(path, declared, table("structure"), problems)
    chosen = {slot_name: slot.chosen(choices) for slot_name, slot in declared.slots.items()}
    declared = declared.model_copy(update={"slots": chosen})
    laws = read_functions(path, folder, declared, functions, table("start"), problems)
    choices |= {slot: slot in functions for slot in declared.slots}
    choices |= {n: bool(table("sensors")) for n, entry in declared.structure.items() if entry.given_by == "sensors"}
    starts, left_out = dict(table("start")), frozenset[str]()
    if part:
        if all(choices[switch] for switch in declared.samplers):
            left_out = frozenset(name for name in declared.parameters if declared.is_sampled(name))
        choices |= dict.fromkeys(declared.samplers, False)
        starts = {name: value for name, value in starts.items() if not declared.is_sampled(name)}
    named = {n: v for n, v in table("structure").items() if n in sizes and not declared.structure[n].given_by}
    structure = _computed_structure(path, module, given, named, starts, problems)
    sizes |= structure.sizes
    starts = {**structure.starts, **starts}
    choices |= structure.choices
    choices |= declared.compared(sizes)
    problems += _unmet(path, declared, choices)
    if laws is None:  # what is wrong with them is reported; their parameters and those they replace are not unknown
        gone = {name for name, p in declared.parameters.items() if functions.keys() & set(p.replaced_by)}
        with_laws = bool(functions)
        starts = {n: v for n, v in starts.items() if n not in gone and not (with_laws and n.startswith("laws."))}
    starts, too_large = _limited_starts(path, declared, starts, structure.limits)
    problems += too_large
    language = _language(path, folder, tables.get("language"), problems)
    if functions and language == "python":
        problems.append(Problem(f"{path}: [functions]", "laws are compiled with C: a prototype in Python has none"))
    recipe = CheckedRecipe(
        path=path,
        name=path.stem,
        description=str(description),
        element=declared,
        element_folder=folder,
        language=language,
        starts=starts,
        sizes=sizes,
        given_sizes=(frozenset(table("structure")) | frozenset(structure.sizes)) & sizes.keys(),
        choices=choices,
        absent={},
        constants=structure.constants,
        units=structure.units,
        structure_starts=frozenset(structure.starts),
        input_starts=structure.input_starts,
        limits=structure.limits,
        contact_area=structure.contact_area,
        notes=_notes(path, structure, declared, table("start")),
        laws=laws,
        drawing=drawing,
        arrays=tables.get("arrays") is True,
        page=read_page(path, table("page"), problems),
        left_out=left_out,
    ).with_choices(declared, choices)
    return recipe, problems


def _computed_structure(
    path: Path,
    module: ModuleType | None,
    tables: Mapping[str, Any],
    sizes: Mapping[str, object],
    starts: Mapping[str, object],
    problems: list[Problem],
) -> Structure:
    """What structure.py of the element computes from its tables.   sizes, starts: that the recipe gives

    Adds what is wrong to `problems`."""
    if module is None:
        return Structure()
    reader = Reader(path, tables)
    structure: Structure = module.structure(tables, reader)
    problems += reader.problems
    for name in structure.sizes.keys() & sizes.keys():
        lists = ", ".join(f"[[{one}]]" for one in getattr(module, "LISTS", ())) or "other tables"
        problems.append(Problem(f"{path}: [structure] {name}", f"this size follows from {lists}: remove it"))
    problems += _given_twice(path, structure.starts, starts)
    return structure


def _element_folder(path: Path, tables: dict[str, object], kind: str, problems: list[Problem]) -> Path:
    name = tables.get("element")
    if isinstance(name, str):
        return find_element(name, path.parent, f"{path}: element")
    what = "this key is missing: it names the element; an assembly of several has [parts]"
    if "element" in tables:
        what = f"{name!r} must be the name of an element"
    elif kind == "slaves":
        what = "this key is missing; with [slaves] it is a scenario: `run` runs it, `build --assembly` makes one FMU"
    raise InputError([*problems, Problem(f"{path}: element", what)])


def _key_problems(
    path: Path,
    tables: dict[str, object],
    declared: Declaration,
    known: Sequence[str],
    lists: Sequence[str],
    inside: Mapping[str, Collection[str]],
) -> list[Problem]:
    """Keys that are unknown, or whose value is of another kind than text, table or list of tables.

    inside   the keys of the tables of the structure, by table"""

    def fault(key: str, value: object) -> str | None:
        if key not in known:
            return "this key is unknown" + _place_of(key, declared, known, inside)
        if key in lists:
            is_list = isinstance(value, list) and all(isinstance(one, dict) for one in value)
            return None if is_list else f"{value!r} must be tables [[{key}]]"
        kind = Recipe.model_fields[key].annotation if key in KEYS else None
        if kind == Truth | None:
            return None if isinstance(value, bool) else f"{value!r} must be true or false"
        is_text = kind in (str, str | None)  # texts are checked where they are read
        return None if is_text or isinstance(value, dict) else f"{value!r} must be a table [{key}]"

    faults = {key: fault(key, value) for key, value in tables.items()}
    return [Problem(f"{path}: {key}", what) for key, what in faults.items() if what]


def _table(tables: Mapping[str, object], name: str) -> dict[str, object]:
    """Empty where it is missing or none."""
    value = tables.get(name, {})
    return value if isinstance(value, dict) else {}


def _rows(tables: Mapping[str, object], name: str) -> list[dict[str, object]]:
    """Of a list of tables those that are tables."""
    rows = tables.get(name, [])
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _notes(path: Path, structure: Structure, declared: Declaration, given: Mapping[str, object]) -> tuple[str, ...]:
    """What a user should know of the recipe: its former name, what the structure says, defaults that it lowers."""
    former = former_note(path)
    lowered = (
        f"the default of {name} is {limit.start:.6g} {declared.parameters[name].unit}, {limit.reason}"
        for name, limit in structure.limits.items()
        if limit.start == limit.max and name not in given
    )
    return (*((former,) if former else ()), *structure.notes, *lowered)


def _keys_of_tables(module: ModuleType | None) -> dict[str, Collection[str]]:
    """The keys of the tables that structure.py reads, by table as a recipe writes it."""
    shown = (("TABLES", "[{}]"), ("LISTS", "[[{}]]"))
    models = ((form.format(name), one) for kind, form in shown for name, one in models_of(module, kind).items())
    return {table: fields_of(one)[0] for table, one in models if one is not None}


def _place_of(key: str, declared: Declaration, known: Iterable[str], inside: Mapping[str, Collection[str]]) -> str:
    """The table in which an unknown top-level key belongs, else a known key of similar spelling."""
    found = [table for table, keys in inside.items() if key in keys]
    rule = declared.structure.get(key)
    if rule is not None and rule.given_by and not found:  # which [structure] refuses as well
        return f"; it follows from {rule.giver}: give that, and remove this"
    if rule is not None and not rule.given_by:
        found.append("[structure]")
    if key in declared.parameters or key in declared.inputs:
        found.append("[start]")
    places = " or ".join(found)
    if key in declared.slots:
        places += " or, as a law, into [functions]" if found else "[functions]"
    if places:
        return f"; it belongs into {places}"
    if key in _KEYS_OF_SYSTEMS:
        return "; it is of systems, and `element` makes this the recipe of one element: remove one of them"
    return did_you_mean(key, known)


def _unmet(path: Path, declared: Declaration, choices: Choices) -> list[Problem]:
    """Choices and filled slots whose required choices are missing."""
    problems = []
    for name, value in choices.items():
        if needs := unmet(declared, choices, name):
            table, what = (
                ("functions", name) if name in declared.slots else ("structure", f"{name} = {value_text(value)}")
            )
            problems.append(
                Problem(f"{path}: [{table}] {name}", f"{what} needs [structure] {needs}; change one of the two")
            )
    return problems


def _given_twice(path: Path, by_tables: Mapping[str, object], starts: Mapping[str, object]) -> list[Problem]:
    """Start values that follow from the structure tables, and stand in [start] as well."""
    what = "follows from the tables of the structure: change it there, and remove it here"
    return [Problem(f"{path}: [start] {name}", what) for name in starts if name in by_tables]


LANGUAGES = {"c": "element.c", "python": "element.py"}


def _language(path: Path, folder: Path, given: object, problems: list[Problem]) -> str:
    """The language of the physics: the one given, else C where the element has both."""
    there = [language for language, file in LANGUAGES.items() if (folder / file).is_file()]
    if given is not None and given not in (*LANGUAGES,):  # which may be no text
        problems.append(Problem(f"{path}: language", none_of(given, LANGUAGES)))
    elif given is not None and given not in there:
        problems.append(Problem(f"{path}: language", f"{folder} has no {LANGUAGES[str(given)]}"))
    elif given is not None:
        return str(given)
    return there[0] if there else "c"


def _limited_starts(
    path: Path, element: Declaration, start: Mapping[str, object], limits: Mapping[str, Limit]
) -> tuple[dict[str, object], list[Problem]]:
    """The start values without those that reach a limit of the structure, and what is wrong with these."""
    kept = dict(start)
    problems = []
    for name, limit in limits.items():
        value, unit = start.get(name), str(element.parameters[name].unit)
        where = f"{path}: [start] {name}"
        try:
            reached = (
                isinstance(value, int | float | str) and parse_quantity(value, parse_unit(unit), where) >= limit.max
            )
        except InputError:
            continue  # reported with the other start values
        if reached:
            del kept[name]
            rule = f"must be less than {limit.max:.6g} {unit}, {limit.reason}"
            problems.append(Problem(where, f"{value!r} {rule}; choose less, or leave it out"))
    return kept, problems


def _with_sensors(
    path: Path, declared: Declaration, tables: Mapping[str, object], problems: list[Problem]
) -> Declaration:
    """The declaration with an input `sensor.<name>` for each entry of `[sensors]`, name = "unit", and with the sensors
    as last arguments of the slots that take them; laws are checked around the start values of the sensors."""
    given = tables.get("sensors", {})
    start = tables.get("start", {})
    inputs, ranges, units = dict(declared.inputs), {}, {}
    taken = {argument for slot in declared.slots.values() if slot.sensors for argument in slot.arguments}
    for name, unit in given.items() if isinstance(given, dict) else ():
        where = f"{path}: [sensors] {name}"
        if not IDENTIFIER.fullmatch(name) or name in C_KEYWORDS or name in RESERVED or name in taken:
            problems.append(
                Problem(where, "the name of a sensor consists of letters, digits and _, and means nothing else")
            )
            continue
        try:
            parsed = parse_unit(str(unit))
        except InputError as error:
            problems += [Problem(where, one.what) for one in error.problems]
            continue
        if not parsed.is_si:
            problems.append(Problem(where, f"'{unit}': a sensor has an SI unit without prefix; the law converts"))
            continue
        try:
            value = start.get(f"sensor.{name}", 0.0) if isinstance(start, dict) else 0.0
            number = parse_quantity(value, parsed, where) if isinstance(value, int | float | str) else 0.0
        except InputError:
            number = 0.0  # reported with the other start values
        units[name] = str(unit)
        width = 0.5 * abs(number) or 1.0
        ranges[name] = (number - width, number + width)
        inputs[f"sensor.{name}"] = Variable(description=f"Sensor {name} of the laws", unit=str(unit), start=0.0)
    slots = {
        name: slot.model_copy(
            update={"arguments": {**slot.arguments, **units}, "range": {**slot.range, **ranges}} if slot.sensors else {}
        )
        for name, slot in declared.slots.items()
    }
    return declared.model_copy(update={"inputs": inputs, "slots": slots})


def _structure(
    path: Path, element: Declaration, given: dict[str, object], problems: list[Problem]
) -> tuple[dict[str, int], dict[str, bool | str]]:
    """Sizes and choices: those of the recipe, else the defaults."""
    sizes = element.default_sizes
    choices = element.default_choices
    for name, value in given.items():
        where = f"{path}: [structure] {name}"
        if name not in element.structure:
            problems.append(Problem(where, "this key is unknown" + did_you_mean(name, element.structure)))
            continue
        rule = element.structure[name]
        if rule.given_by:
            problems.append(Problem(where, f"is given by {rule.giver}: remove it here"))
        elif rule.choices:
            if isinstance(value, str) and value in rule.choices:
                choices[name] = value
            else:
                problems.append(Problem(where, none_of(value, rule.choices)))
        elif not rule.is_size:
            with collected(problems):
                choices[name] = truth(value, where)
        elif isinstance(value, bool) or not isinstance(value, int) or not rule.min <= value <= rule.max:
            problems.append(
                Problem(where, f"{shown_value(value)} must be a whole number from {rule.min} to {rule.max}")
            )
        else:
            sizes[name] = value
    return sizes, choices


def structure_module(folder: Path) -> ModuleType | None:
    """structure.py of an element, if it has one."""
    path = folder / "structure.py"
    return load_module(path) if path.is_file() else None
