"""element.toml, the one declaration of an element, read and checked."""

from __future__ import annotations

import functools
import hashlib
import itertools
import operator
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Literal, Protocol, TypeGuard, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError
from pydantic_core import PydanticCustomError

from fmu_builder.errors import InputError, Problem, did_you_mean, shortened
from fmu_builder.files import read_text
from fmu_builder.model.c_structs import count_doubles
from fmu_builder.model.extends import base_of, with_taken_over
from fmu_builder.model.ports import PORT_KINDS, roles_of
from fmu_builder.model.sets import with_sets
from fmu_builder.paths import shared_folder, shipped
from fmu_builder.units import parse_unit

Number = int | float
Start = bool | Number | str | list[Number]
Depends = list[str] | list[list[str]]  # of all components of a vector alike, or a list for each of them


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _values(value: object) -> object:
    """One value, or a list of them, as a tuple."""
    values = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(one, bool | str) for one in values):
        raise PydanticCustomError("rule", "must be a text, true, false, or a list of texts")
    return tuple(values)


def _default(value: object) -> object:
    if not isinstance(value, bool | int | str):
        raise PydanticCustomError("rule", "must be a whole number, a text, true or false")
    return value


When = dict[str, Annotated[tuple[bool | str, ...], BeforeValidator(_values)]]


def applies(when: When, choices: Choices) -> bool:
    """Whether all structure choices of a condition hold."""
    return all(choices[name] in values for name, values in when.items())


_REINIT = (
    "the function `accept` may change this state, at an event of model exchange: true, or the structure choices with "
    "which alone it does"
)


class _Conditional(_Entry):
    """An entry that is there with some structure choices only, all of which have to hold, or once for each of a
    number."""

    each: str | None = Field(default=None, description="structure name: one variable, port or indicator for each")
    when: When = Field(
        default={}, description="structure entry -> the value, or list of values, with which this entry is there"
    )

    def is_in(self, choices: Choices) -> bool:
        return applies(self.when, choices)


class Variable(_Conditional):
    """One entry of a variable table.  Values are SI."""

    replaced_by: Annotated[tuple[str, ...], BeforeValidator(_values)] = Field(
        default=(), description="of a parameter: the slot, or list of slots, whose law takes its place"
    )

    description: str = Field(min_length=3, description="what the value is, with its sign")
    unit: str | list[str] = Field(default="1", description="SI unit; a list gives one for each component of a vector")
    type: Literal["real", "int", "bool", "enum"] = Field(
        default="real", description="type of FMI; in C every variable is a Real"
    )
    literals: list[str] = Field(default=[], description="of an enumeration; the start value is one of them")
    size: int | str | None = Field(default=None, description="length of a vector: a number or a structure name")
    struct: str | None = Field(
        default=None, description="of memory that is hidden, in place of a size: the C struct of doubles that it is"
    )
    start: Start | None = Field(default=None, description="start value; for a state also the name of a parameter")
    min: float | None = Field(default=None, description="smallest value")
    max: float | None = Field(default=None, description="largest value")
    above: float | None = Field(default=None, description="strict lower bound, checked when initialization ends")
    below: float | None = Field(default=None, description="strict upper bound, checked when initialization ends")
    nominal: float | None = Field(default=None, gt=0, description="usual size; of a state the scale of its error")
    display: str | None = Field(default=None, description="display unit")
    depends: Depends | None = Field(
        default=None,
        description="what the value (of a state: its derivative, of memory: its initial value) depends on, [] for "
        "nothing; left out: everything.  Every build checks a list that is given",
    )
    fixed: bool = Field(default=False, description="a parameter that cannot be tuned")
    acts_as: Literal["contact", "spring", "guide", "damper", "effective mass", "inner mass"] | None = Field(
        default=None,
        description="of a parameter, what it is to the force at the ports, for the communication step that is "
        "advised (step_advice.py): stiffness of a contact, spring rate, stiffness across a line, damping; the mass "
        "that the force meets, 0 where it is unknown; a mass inside the element that the force moves as well",
    )
    output: bool = Field(default=False, description="a state or memory variable that is an output")
    hidden: bool = Field(default=False, description="not in modelDescription.xml")
    on_demand: bool = Field(
        default=False, description="of an output or local: computed where it is read, left out by the function `rates`"
    )
    rate: str | None = Field(
        default=None, description="variable that is the time derivative of this state, or of this input"
    )
    primitive: str | None = Field(
        default=None,
        description="variable whose rate of change with time, while inputs are held, is the rate of this state",
    )
    initial: list[str] | None = Field(
        default=None, description="parameters that the function `initial` computes this state at the start from"
    )
    reinit: bool | When = Field(default=False, description=_REINIT)
    constant_where_used: bool = Field(
        default=False,
        description="the state is constant where a right-hand side depends on it: the implicit method leaves it out",
    )

    def is_in(self, choices: Choices) -> bool:
        return super().is_in(choices) and not any(choices[slot] for slot in self.replaced_by)


class _Bounded(Protocol):
    @property
    def min(self) -> float | None: ...
    @property
    def max(self) -> float | None: ...
    @property
    def above(self) -> float | None: ...
    @property
    def below(self) -> float | None: ...


class PortState(_Entry):
    """A motion role of a body that is a state."""

    start: Start = Field(default=0.0, description="start value, or the name of a parameter")
    rate: str | None = Field(default=None, description="variable that is its derivative")
    initial: list[str] | None = Field(
        default=None, description="parameters that the function `initial` computes it at the start from"
    )
    nominal: float | None = Field(default=None, gt=0, description="usual size, the scale of its error")
    depends: list[str] | None = Field(default=None, description="what its derivative depends on")
    reinit: bool | When = Field(default=False, description=_REINIT)


class Hold(_Entry):
    """How a planar force element can hold a body, in axes along x and y whose origin is the centre of mass: along one
    line through (x, y), m, at `angle`, rad, from the x-axis, or, if `turning`, against turning alone.  A text names the
    parameter that holds the value."""

    x: Number | str = Field(default=0.0, description="point of the line, m")
    y: Number | str = Field(default=0.0, description="point of the line, m")
    angle: Number | str = Field(default=0.0, description="of the line from the x-axis, rad")
    turning: bool = Field(default=False, description="the force holds against turning alone")


class Port(_Conditional):
    """A bundle of motion and force.  `states` makes motion roles of a body its states."""

    description: str = Field(min_length=3, description="what is connected here")
    kind: Literal["point", "frame", "rotational", "translational", "planar"] = Field(description="which roles it has")
    side: Literal["body", "force"] = Field(
        description="body: motion out, the force on it in; force: motion in, the force on the body out"
    )
    optional: list[str] = Field(default=[], description="optional roles of its kind that the port has")
    names: dict[str, str] = Field(default={}, description="role -> name of its variable: a spelling of its kind")
    depends: list[str] | dict[str, Depends] | None = Field(
        default=None, description="of all roles given, or by role; left out: everything"
    )
    states: dict[str, PortState] = Field(default={}, description="of a body: motion roles that are states")
    holds: Hold | None = Field(default=None, description="what of a body a planar force element can hold")

    def depends_of(self, role: str) -> Depends | None:
        return self.depends.get(role) if isinstance(self.depends, dict) else self.depends

    def name_of(self, role: str) -> str:
        """The name of the variable that plays the role, behind the port's own."""
        return self.names.get(role, role)


class StructureEntry(_Entry):
    """What a recipe fixes when the FMU is built: a size (a whole number, a constant of the C code), one of `choices`,
    or a switch (its default is true or false).  Choices and switches are macros of the C code.

    A switch given by `size > number` makes `when` of other entries depend on a size."""

    description: str = Field(min_length=3, description="what it chooses")
    default: Annotated[bool | int | str, BeforeValidator(_default)] = Field(
        description="of recipes that do not give it: a whole number makes a size, true or false a switch"
    )
    min: int = Field(default=1, description="smallest value of a size")
    max: int = Field(default=100_000, description="largest value of a size")
    choices: list[str] = Field(default=[], description="words of which a recipe takes one")
    given_by: str = Field(
        default="",
        description="key of a table of the element's own that gives it, by structure.py; of a switch 'size > number'",
    )
    when: When = Field(default={}, description="choices with which alone it may differ from its default")
    samples: bool = Field(
        default=False,
        description="switch with which the element defines `sample`; the parts of an assembly have no communication "
        "points, and it is false there",
    )

    @property
    def is_size(self) -> bool:
        return not self.choices and not isinstance(self.default, bool)

    @property
    def compares(self) -> tuple[str, int] | None:
        """The size and the number it has to exceed, of a switch that these give."""
        found = _COMPARISON.fullmatch(self.given_by)
        return (found[1], int(found[2])) if found else None

    @property
    def giver(self) -> str:
        """What of a recipe gives it, as text; empty if the recipe names it."""
        table, _, key = f"structure.{self.given_by}".partition(".") if self.compares else self.given_by.partition(".")
        return f"[{table}] {key}".rstrip() if table else ""

    @property
    def values(self) -> tuple[bool | str, ...]:
        """The values of a choice or a switch, none for a size."""
        return () if self.is_size else tuple(self.choices) or (True, False)


class Indicator(_Conditional):
    """A zero-crossing function.  `nominal` is its usual size, in its own unit: what is smaller than the tolerance times
    this is rounding, and no event."""

    description: str = Field(min_length=3, description="what happens where it passes zero")
    nominal: float = Field(default=1.0, gt=0, description="its usual size")


class SlotChange(_Entry):
    """What some structure choices change of a slot."""

    when: When = Field(min_length=1, description="the choices")
    renamed: dict[str, str] = Field(default={}, description="argument -> its name with these choices")
    least_means: str | None = Field(default=None, description="in place of the slot's")


class Slot(_Entry):
    """A place for a law of the user's, in C the function slot_<name>(e, ...); parameters that are `replaced_by` it are
    absent while it is filled.  In `when` of other entries its name stands for a choice: true while it is filled."""

    description: str = Field(min_length=3, description="what the law gives")
    when: When = Field(default={}, description="choices with which alone it may be filled")
    arguments: dict[str, str] = Field(min_length=1, description="names and units, in the order of the call")
    unit: str = Field(default="1", description="of the value")
    each: str | None = Field(default=None, description="structure name: the law serves each of these")
    range: dict[str, tuple[float, float]] = Field(
        description="where the law is checked if the recipe says nothing, SI, for each argument"
    )
    zero_at: str | None = Field(default=None, description="the law must be 0 where this argument is 0")
    rises_from: str | None = Field(default=None, description="argument from whose 0 on the law should rise at once")
    same_sign: str | None = Field(default=None, description="argument whose sign the law must have to dissipate energy")
    least: float | None = Field(default=None, description="values below this are warned about")
    least_means: str = Field(default="it pulls where it should push", description="what such a value does")
    built_in: str | None = Field(default=None, description="the element's own law, as a function of its laws.txt")
    smooth: bool = Field(default=False, description="the law may have neither jumps, corners nor vertical tangents")
    integral: bool = Field(
        default=False,
        description="the C code also needs slot_<name>_integral, over the first argument from 0, to both sides if the "
        "range of that has negative values",
    )
    place: str = Field(default="", description="table and key of the recipe where it stands, if not in [functions]")
    group: str = Field(default="", description="laws of one group have the same arguments; C calls them by `number`")
    number: int = Field(default=0, description="of the law in its group")
    derivatives: int = Field(default=0, ge=0, le=2, description="so many by the only argument C needs as well")
    changes: tuple[SlotChange, ...] = Field(
        default=(), description="`renamed` arguments and another `least_means`, each `when` structure choices hold"
    )
    sensors: bool = Field(
        default=False,
        description="the sensors of the table [sensors] of a recipe are further arguments, in their order there; in C "
        "SENSORS(e) behind the last argument stands for them",
    )

    def chosen(self, choices: Choices) -> Slot:
        """The slot as these structure choices change it."""
        made = self
        for change in self.changes:
            if applies(change.when, choices):
                names = change.renamed
                update: dict[str, object] = {
                    key: {names.get(argument, argument): value for argument, value in getattr(made, key).items()}
                    for key in ("arguments", "range")
                }
                for key in ("zero_at", "rises_from", "same_sign"):
                    update[key] = names.get(getattr(made, key), getattr(made, key))
                if change.least_means is not None:
                    update["least_means"] = change.least_means
                made = made.model_copy(update=update)
        return made


class Experiment(_Entry):
    """DefaultExperiment of the FMU, s.  `step`: the preferred communication step of an element whose parameters advise
    none (`acts_as`)."""

    stop: float = Field(default=1.0, gt=0, description="stop time, s")
    step: float = Field(default=1e-3, gt=0, description="preferred communication step, s")
    tolerance: float = Field(default=1e-9, gt=0, description="relative error, also the start value of solver.tolerance")


class Declaration(_Entry):
    """All tables of element.toml."""

    description: str = Field(min_length=3, description="what the element is, in a line")
    origin: str = Field(default="", description="where its law is from")
    experiment: Experiment = Field(default=Experiment(), description="default experiment")
    structure: dict[str, StructureEntry] = Field(default={}, description="sizes, choices and switches of a recipe")
    log: dict[str, str] = Field(default={}, description="log category -> what is reported in it, with cc_report")
    sets: dict[str, list[str]] = Field(
        default={}, description="name -> list of dependencies or choices, which `depends` and `when` name as '@name'"
    )
    rules: dict[str, str] = Field(default={}, description="name -> rule across variables that `check` enforces")
    parameters: dict[str, Variable] = Field(default={}, description="p: what a user sets")
    slots: dict[str, Slot] = Field(default={}, description="places for laws of a recipe")
    inputs: dict[str, Variable] = Field(default={}, description="u: inputs that belong to no port")
    ports: dict[str, Port] = Field(default={}, description="bundles of motion and force, connected as one")
    states: dict[str, Variable] = Field(default={}, description="x: what is integrated")
    outputs: dict[str, Variable] = Field(default={}, description="y: what is computed from t, p, u, x, m")
    memory: dict[str, Variable] = Field(default={}, description="m: what only start, accept and sample change")
    locals: dict[str, Variable] = Field(default={}, description="as outputs, for plots and for rates; no output of FMI")
    indicators: dict[str, Indicator] = Field(default={}, description="zero-crossing functions, z->name in C")
    _content: str = PrivateAttr(default="")

    @property
    def default_sizes(self) -> dict[str, int]:
        return {name: int(entry.default) for name, entry in self.structure.items() if entry.is_size}

    def compared(self, sizes: Mapping[str, int]) -> dict[str, bool]:
        """The switches that sizes give."""
        pairs = ((name, entry.compares) for name, entry in self.structure.items())
        return {name: sizes[pair[0]] > pair[1] for name, pair in pairs if pair is not None}

    @property
    def samplers(self) -> tuple[str, ...]:
        """Switches with which the element defines `sample`."""
        return tuple(name for name, entry in self.structure.items() if entry.samples)

    def is_sampled(self, name: str) -> bool:
        """Whether the parameter belongs to communication points."""
        entry = self.parameters.get(name)
        return entry is not None and any(switch in entry.when for switch in self.samplers)

    @property
    def default_choices(self) -> dict[str, bool | str]:
        return next(forms(self))

    @property
    def content(self) -> str:
        """A name that changes with everything that the file declares, with what it takes over."""
        return self._content

    def chosen(self, choices: Choices, empty: Collection[str] = ()) -> Declaration:
        """The declaration with the entries that are there with these choices, each under its plain name.  Entries for
        `each` of a size that is `empty` are left out.

        Raises ValueError naming an entry of which two variants are there at once."""
        tables = {}
        for table in (*VARIABLE_TABLES, "ports", "indicators"):
            entries: dict[str, _Conditional] = {}
            for name, entry in getattr(self, table).items():
                if entry.is_in(choices) and entry.each not in empty:
                    if plain(name) in entries:
                        raise ValueError(f"[{table}] {plain(name)}")
                    entries[plain(name)] = entry
            tables[table] = entries
        return self.model_copy(update=tables)

    def needs_of(self, name: str, choices: Choices) -> str:
        """The keys of a recipe that would bring a variable that is not there with these choices, as text."""
        entries = [e for table in VARIABLE_TABLES for n, e in getattr(self, table).items() if plain(n) == name]
        if not entries:
            return ""
        wanted = {key: values for key, values in entries[0].when.items() if choices[key] not in values}
        return " and ".join(self._condition(key, values) for key, values in wanted.items())

    def _condition(self, choice: str, values: tuple[bool | str, ...]) -> str:
        entry = self.structure.get(choice)
        if entry is None:
            return f"{'a' if True in values else 'no'} law in [functions] {choice}"
        if entry.compares:
            return entry.giver if True in values else entry.giver.replace(">", "<=")
        table, dot, key = (entry.given_by or f"structure.{choice}").partition(".")
        texts = (f'"{value}"' if isinstance(value, str) else value_text(value) for value in values)
        return f"[{table}] {key} = {' or '.join(texts)}" if dot else f"a table [{table}]"

    def variable_names(self) -> frozenset[str]:
        """Names of all declared variables, those of ports included."""
        names = {plain(name) for table in VARIABLE_TABLES for name in getattr(self, table)}
        for name, port in self.ports.items():
            roles = roles_of(port.kind, port.optional)
            names |= {f"{plain(name)}.{port.name_of(role.name)}" for role in (*roles.motion, *roles.force)}
        return frozenset(names)


Choices = Mapping[str, bool | str]  # structure entry -> the value it has, sizes left out; slot -> whether it is filled

VARIABLE_TABLES = ("parameters", "inputs", "states", "outputs", "memory", "locals")
_CHOICE = re.compile(r"[a-z][a-z0-9_]*")
_COMPARISON = re.compile(r"(\w+) > (\d+)")
_NAME_RULE = "a name consists of letters, digits and _, at most one dot, and is no keyword of C"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)?")
C_KEYWORDS = frozenset(
    [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "der",
        "time",
    ]
)
CORE_GROUPS = {"solver": "solver/solver.toml", "contact_record": "contact_record.toml"}
"""Groups of variables that an FMU has once, whatever its elements, and where contact_core declares them."""


_LARGEST_TOML = 64 * 2**20  # bytes


def read_toml(path: Path) -> dict[str, object]:
    """A TOML file as a dictionary, all of whose texts an FMU can hold.

    Raises InputError with the line of a syntax error, or with every text that XML cannot hold."""
    text = read_text(path, _LARGEST_TOML)
    try:
        tables = tomllib.loads(text)
        problems = list(_control_characters(path, tables, ()))
    except ValueError as error:  # of tomllib, or an integer of more digits than Python reads
        raise InputError(Problem(str(path), f"is not valid TOML: {error}")) from error
    except RecursionError:
        raise InputError(Problem(str(path), "has too many brackets inside one another to be read")) from None
    if problems:
        raise InputError(problems)
    return tables


# what XML 1.0 cannot hold; TOML can, as escapes
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def _control_characters(path: Path, value: object, place: tuple[str, ...]) -> Iterator[Problem]:
    """Texts and keys with characters that no FMU can hold."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _control_characters(path, key, (*place, "a key"))
            yield from _control_characters(path, inner, (*place, key))
    elif isinstance(value, list):
        for entry, inner in enumerate(value, 1):
            yield from _control_characters(path, inner, (*place, str(entry)))
    elif isinstance(value, str) and (found := _NO_XML.search(value)):
        *tables, key = place
        where = f"{path}: " + (f"[{'.'.join(tables)}] " if tables else "") + key
        what = f"the character U+{ord(found[0]):04X} cannot be written into an FMU; remove it"
        yield Problem(where, f"{shortened(value)}: {what}")


FIELDS_OF_OURS = ("path", "table")  # of models of files: no keys of the file


def explain(path: Path, error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """pydantic's faults with a file of this model in our words: file, table, key, value, rule."""
    problems = []
    for fault in error.errors():
        location = [str(part) for part in fault["loc"] if isinstance(part, str)]
        entry = "".join(f" {part + 1}" for part in fault["loc"] if isinstance(part, int))  # of a list, counted from 1
        where = f"{path}: " + (f"[{'.'.join(location[:-1])}] " if location[1:] else "") + "".join(location[-1:]) + entry
        if fault["type"] == "extra_forbidden":
            place = _place_of(model, location)
            near = f"; it belongs {place}" if place else did_you_mean(location[-1], _keys_at(model, location[:-1]))
            problems.append(Problem(where, "this key is unknown" + near))
        elif fault["type"] == "missing":
            problems.append(Problem(where, "this key is missing"))
        else:
            problems.append(Problem(where, f"{shortened(fault['input'])}: {fault['msg'][0].lower()}{fault['msg'][1:]}"))
    return problems


def _place_of(model: type[BaseModel], location: Sequence[str]) -> str:
    """Where in a file of this model the key of a wrong place belongs; "" if nowhere."""
    *tables, key = location
    if tables:
        return "to the top of the file, above its tables" if key in _keys_at(model, ()) else ""
    homes = []
    for name, entry in model.model_fields.items():
        optional = get_args(entry.annotation) if isinstance(entry.annotation, UnionType) else (entry.annotation,)
        homes += [name for table in optional if _is_model(table) and key in table.model_fields]
    return f"into [{homes[0]}]" if len(homes) == 1 else ""


def _is_model(annotation: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _keys_at(model: type[BaseModel], location: Iterable[str]) -> set[str]:
    """The keys of the tables at a place in a file of this model."""
    here = [model]
    for part in location:
        fields = [one.model_fields[part] for one in here if part in one.model_fields]
        here = [inner for field in fields for inner in _models_in(field.annotation)] or here  # an index, a name: stay
    ours = FIELDS_OF_OURS if here == [model] else ()
    return {key for one in here for key in one.model_fields if key not in ours}


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if _is_model(annotation):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)


def broken_bound(variable: _Bounded, value: float) -> str:
    """The bound of the variable that the value breaks, `at least 0` or the like; "" if it keeps all."""
    for limit, keeps, rule in (
        (variable.min, operator.ge, "at least"),
        (variable.max, operator.le, "at most"),
        (variable.above, operator.gt, "greater than"),
        (variable.below, operator.lt, "less than"),
    ):
        if limit is not None and not keeps(value, limit):
            return f"{rule} {limit:.10g}"
    return ""


def read_declaration(folder: Path) -> Declaration:
    """The checked element.toml of an element's folder.  Raises InputError with every problem found."""
    path = folder / "element.toml"
    declaration = _read(path)
    problems = [
        Problem(f"{path}: [{table}] {name}", f"the group '{group}' belongs to contact_core: choose another name")
        for table in (*VARIABLE_TABLES, "ports")
        for name in getattr(declaration, table)
        if (group := name.partition(".")[0]) in CORE_GROUPS
    ]
    problems += _problems(path, declaration)
    if problems:
        raise InputError(problems)
    return declaration


def is_core_variable(name: str) -> bool:
    """Whether contact_core declares it: an FMU has it once, however many parts it has."""
    return "." in name and name.partition(".")[0] in CORE_GROUPS


@functools.cache
def core_declaration(group: str) -> Declaration:
    """The variables of one of CORE_GROUPS."""
    path = shipped("contact_core") / CORE_GROUPS[group]
    declaration = _read(path)
    problems = _problems(path, declaration)
    if problems:
        raise InputError(problems)
    return declaration


_VARIANT = re.compile(r" variant \d+$")


def plain(name: str) -> str:
    """The name of an entry without the number of its variant."""
    return _VARIANT.sub("", name)


def value_text(value: bool | int | str) -> str:
    """A structure value as TOML writes it, without quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def choice_values(declaration: Declaration) -> dict[str, tuple[bool | str, ...]]:
    """The values of every structure choice, and of every slot: filled or not."""
    values = {name: entry.values for name, entry in declaration.structure.items() if not entry.is_size}
    return values | dict.fromkeys(declaration.slots, (False, True))


def forms(declaration: Declaration, changes: int | None = None) -> Iterator[dict[str, bool | str]]:
    """Every combination of structure choices and filled slots that is allowed; the first one holds the defaults.

    changes  at most so many differ from the defaults; None for any number"""
    defaults = {name: declaration.structure[name].default for name in declaration.structure}
    values = choice_values(declaration)
    ordered = [sorted(v, key=lambda one, n=name: one != defaults.get(n, False)) for name, v in values.items()]  # type: ignore[misc]
    for combination in itertools.product(*ordered):
        changed = sum(one != first[0] for one, first in zip(combination, ordered, strict=True))
        form = dict(zip(values, combination, strict=True))
        if (changes is None or changed <= changes) and not any(unmet(declaration, form, name) for name in form):
            yield form


def unmet(declaration: Declaration, choices: Choices, name: str) -> str:
    """What the choice, or the slot, of this name would need, as text; empty if it has its default or all it needs."""
    entry = declaration.structure.get(name, declaration.slots.get(name))
    assert entry is not None
    default = entry.default if isinstance(entry, StructureEntry) else False
    if choices[name] == default:
        return ""
    wanted = {key: values for key, values in entry.when.items() if choices[key] not in values}
    return " and ".join(f"{key} = {' or '.join(map(value_text, values))}" for key, values in wanted.items())


def _with_variants(path: Path, tables: dict[str, object]) -> dict[str, object]:
    """An entry written as a list becomes one entry `<name> variant <n>` for each item."""
    expanded = dict(tables)
    for table in (*VARIABLE_TABLES, "ports", "indicators"):
        entries = tables.get(table)
        if isinstance(entries, dict):
            found: dict[str, object] = {}
            for name, entry in entries.items():
                if _VARIANT.search(name):
                    raise InputError(Problem(f"{path}: [{table}] {name}", _NAME_RULE))
                several = entry if isinstance(entry, list) else None
                found |= {f"{name} variant {i}": one for i, one in enumerate(several, 1)} if several else {name: entry}
            expanded[table] = found
    return expanded


def _tables(path: Path) -> dict[str, object]:
    """The tables of the file, with those that it takes over, and without names of sets."""
    tables = read_toml(path)
    base = base_of(path, tables)
    return with_sets(path, tables if base is None else with_taken_over(path, tables, _tables(base)))


def _with_structs(path: Path, tables: dict[str, object]) -> dict[str, object]:
    """The size of memory that is a C struct, of the element's headers or the shared ones.  Raises InputError."""
    memory, problems = tables.get("memory"), []
    shared = (*(folder for folder in sorted(shipped("contact_core").iterdir()) if folder.is_dir()), shared_folder())
    for name, entry in memory.items() if isinstance(memory, dict) else ():
        if isinstance(entry, dict) and isinstance(entry.get("struct"), str):
            if "size" in entry:
                problems.append(Problem(f"{path}: [memory] {name}", "size: the struct gives it, remove it"))
            try:
                entry["size"] = count_doubles(entry["struct"], *shared, path.parent)
            except ValueError as error:
                problems.append(Problem(f"{path}: [memory] {name}", f"struct: {error}"))
    if problems:
        raise InputError(problems)
    return tables


def _read(path: Path) -> Declaration:
    tables = _with_structs(path, _with_variants(path, _tables(path)))
    try:
        declaration = Declaration.model_validate(tables)
        declaration._content = hashlib.sha256(repr(tables).encode()).hexdigest()
        return declaration
    except ValidationError as error:
        raise InputError(explain(path, error, Declaration)) from None


def _problems(path: Path, declaration: Declaration) -> list[Problem]:
    problems: list[Problem] = []
    sizes = {name for name, entry in declaration.structure.items() if entry.is_size}

    def add(table: str, name: str, what: str) -> None:
        problems.append(Problem(f"{path}: [{table}] {name}", what))

    for table in (*VARIABLE_TABLES, "ports", "structure", "indicators"):
        for name in getattr(declaration, table):
            parts = plain(name).split(".")
            if not _NAME.fullmatch(plain(name)) or any(part in C_KEYWORDS for part in parts):
                add(table, name, _NAME_RULE)
    for table in VARIABLE_TABLES:
        entries: dict[str, Variable] = getattr(declaration, table)
        for name, entry in entries.items():
            units = entry.unit if isinstance(entry.unit, list) else [entry.unit]
            if isinstance(entry.unit, list) and len(units) != entry.size:
                add(table, name, f"unit has {len(units)} entries, size is {entry.size}")
            for unit in (*units, entry.display):
                try:
                    parse_unit(unit or "1")
                except InputError as error:
                    add(table, name, f"unit: {error.problems[0].what}")
            for size in (entry.size, entry.each):
                if isinstance(size, str) and size not in sizes:
                    add(table, name, f"'{size}' is no size in [structure]" + did_you_mean(size, sizes))
            if table in ("parameters", "inputs") and entry.type == "real" and isinstance(entry.start, str):
                add(table, name, f"start = {entry.start!r} must be a number")
            given = entry.start if isinstance(entry.start, list) else [entry.start]
            for value in dict.fromkeys(one for one in given if isinstance(one, int | float)):
                if rule := broken_bound(entry, value):
                    add(table, name, f"start = {value!r} must be {rule}, as every value")
            if table == "parameters" and entry.start is None:
                add(table, name, "start is missing: a parameter needs a default")
            if (entry.type == "enum") != bool(entry.literals):
                add(table, name, "an enumeration needs literals, and nothing else has any")
            elif entry.type == "enum" and table != "parameters":
                add(table, name, "an enumeration must be a parameter")
            elif entry.type == "enum" and entry.start not in entry.literals:
                add(table, name, f"start = {entry.start!r} must be one of {', '.join(entry.literals)}")
            if (entry.above is not None or entry.below is not None) and table != "parameters":
                add(table, name, "above and below belong to parameters")
            if entry.acts_as is not None and table != "parameters":
                add(table, name, "acts_as belongs to a parameter")
            lists = len(entry.depends or ()) if _is_by_component(entry.depends) else entry.size
            if lists != entry.size:
                add(table, name, f"depends has lists for {lists} components, size is {entry.size or 'not given'}")
            if entry.struct is not None and (table != "memory" or not entry.hidden or entry.type != "real"):
                add(table, name, "struct belongs to memory that is hidden")
            if entry.primitive is not None and (table != "states" or entry.rate is None):
                add(table, name, "primitive belongs to a state with a rate")
            if entry.on_demand and table not in ("outputs", "locals"):
                add(table, name, "on_demand belongs to an output or a local")
            for role in (entry.rate, entry.primitive):
                if any(t[role].on_demand for t in (declaration.outputs, declaration.locals) if role in t):
                    add(table, name, f"'{role}' is on_demand: what the rate of a state is made of must not be")
            for key in ("reinit", "constant_where_used"):
                if getattr(entry, key) is not False and table != "states":
                    add(table, name, f"{key} belongs to a state")
            if isinstance(entry.reinit, dict):
                for what in _condition_problems(choice_values(declaration), entry.reinit, "reinit"):
                    add(table, name, what)
            if entry.initial is not None and (table != "states" or entry.start is not None):
                add(table, name, "initial belongs to a state, in place of start")
    for name in map(plain, declaration.indicators):
        if name.endswith("_kinks") and name.removesuffix("_kinks") in declaration.slots:
            add("indicators", name, "this name belongs to the kinks of the law in that slot: choose another name")
    for name, slot in declaration.slots.items():
        for what in _slot_problems(declaration, name, slot, sizes):
            add("slots", name, what)
    for name, parameter in declaration.parameters.items():
        for slot_name in parameter.replaced_by:
            if slot_name not in declaration.slots:
                what = f"replaced_by: there is no slot '{slot_name}'"
                add("parameters", name, what + did_you_mean(slot_name, declaration.slots))
    for name, port in declaration.ports.items():
        for what in _port_problems(port, sizes, declaration.parameters):
            add("ports", name, what)
        for role, state in port.states.items():
            if isinstance(state.reinit, dict):
                for what in _condition_problems(choice_values(declaration), state.reinit, f"states.{role}: reinit"):
                    add("ports", name, what)
    for name, choice in declaration.structure.items():
        for what in _structure_problems(choice, declaration.structure):
            add("structure", name, what)
    for table in (*VARIABLE_TABLES, "ports", "indicators", "slots", "structure"):
        conditional: dict[str, _Conditional | Slot | StructureEntry] = getattr(declaration, table)
        for name, one in conditional.items():
            for what in _condition_problems(choice_values(declaration), one.when):
                add(table, name, what)
    return problems or list(_variant_problems(path, declaration))


def _variant_problems(path: Path, declaration: Declaration) -> Iterator[Problem]:
    """Variants of one entry that are there at once; the first form in which it happens."""
    values, default = choice_values(declaration), declaration.default_choices
    values = {name: tuple(sorted(v, key=lambda one, n=name: one != default[n])) for name, v in values.items()}  # type: ignore[misc]
    for table in (*VARIABLE_TABLES, "ports", "indicators"):
        entries: dict[str, _Conditional] = getattr(declaration, table)
        variants: dict[str, list[_Conditional]] = {}
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
                    what = f"two variants are there at once{' with ' if chosen else ''}{chosen}"
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
        yield f"given_by: '{entry.given_by}' must be the key of a table, or 'size > number'"
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


def _slot_problems(declaration: Declaration, name: str, slot: Slot, sizes: set[str]) -> Iterator[str]:
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
    if slot.each is not None and slot.each not in sizes:
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
