"""The tables of element.toml, the one declaration of an element, and the forms that its structure choices give it."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, StrictBool, StrictInt
from pydantic_core import PydanticCustomError

from fmu_builder.laws.rules import LawRules
from fmu_builder.model.clocks import ClockEntry
from fmu_builder.model.ports import roles_of

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
    "which it does"
)


class Conditional(_Entry):
    """An entry that exists with some structure choices only, all of which have to hold, or once for each of a
    number."""

    each: str | None = Field(default=None, description="structure name: one variable, port or indicator for each")
    when: When = Field(
        default={}, description="structure entry -> the value, or list of values, with which this entry is there"
    )

    def is_in(self, choices: Choices) -> bool:
        return applies(self.when, choices)


class Variable(Conditional):
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
    size: StrictInt | str | None = Field(default=None, description="length of a vector: a number or a structure name")
    struct: str | None = Field(
        default=None, description="of memory that is hidden, in place of a size: the C struct of doubles that it is"
    )
    start: Start | None = Field(
        default=None, description="start value, of what is not computed; for a state also the name of a parameter"
    )
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
    fixed: StrictBool = Field(default=False, description="a parameter that cannot be tuned")
    acts_as: (
        Literal["contact", "contact per area", "spring", "guide", "damper", "effective mass", "inner mass"] | None
    ) = Field(
        default=None,
        description="of a parameter, what it is to the force at the ports, for the communication step that is "
        "advised (step_advice.py): stiffness of a contact, or of each m2 of it, spring rate, stiffness across a line, "
        "damping; the mass that the force meets, 0 where it is unknown; a mass inside the element that the force moves "
        "as well",
    )
    shown: str | None = Field(
        default=None, min_length=3, description="of a scalar: its name in FMI, where that is a quoted one: 'a b'"
    )
    output: StrictBool = Field(default=False, description="a state or memory variable that is an output")
    hidden: StrictBool = Field(default=False, description="not in modelDescription.xml")
    on_demand: StrictBool = Field(
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
    reinit: StrictBool | When = Field(default=False, description=_REINIT)
    constant_where_used: StrictBool = Field(
        default=False,
        description="the state is constant where a right-hand side depends on it: the implicit method leaves it out",
    )
    clock: ClockEntry | None = Field(default=None, description="of a Boolean: in FMI 3.0 it is a clock")
    clocks: list[str] = Field(default=[], description="clocks at whose ticks alone an output or memory changes")
    previous: str | None = Field(default=None, description="of a clocked output: memory that has its value before")

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


# a name of FMI in quotes, 2.2.9 of FMI 2.0: the characters that it may hold, and escapes
QUOTED = r"""'(?:[\w!#$%&()*+,\-./:;<>=?@\[\]^{}|~ ]|\\['"?\\abfnrtv])+'"""
LONGEST_TEXT = 1023  # bytes of a String


class Text(_Entry):
    """A String of the FMU, which no number depends on: set by an importer, or an output that shows another one."""

    description: str = Field(min_length=3, description="what the text is")
    kind: Literal["parameter", "input"] | None = Field(default=None, description="of a text that is set")
    shows: str | None = Field(default=None, description="of an output: the text that it shows")
    start: str = Field(default="", max_length=LONGEST_TEXT // 4, description="start value")


class PortState(_Entry):
    """A motion role of a body that is a state."""

    start: Start = Field(default=0.0, description="start value, or the name of a parameter")
    rate: str | None = Field(default=None, description="variable that is its derivative")
    initial: list[str] | None = Field(
        default=None, description="parameters that the function `initial` computes it at the start from"
    )
    nominal: float | None = Field(default=None, gt=0, description="usual size, the scale of its error")
    depends: list[str] | None = Field(default=None, description="what its derivative depends on")
    reinit: StrictBool | When = Field(default=False, description=_REINIT)


class Hold(_Entry):
    """How a planar force element can hold a body, in axes along x and y whose origin is the centre of mass: along one
    line through (x, y), m, at `angle`, rad, from the x-axis, or, if `turning`, against turning alone.  A text names the
    parameter that holds the value."""

    x: Number | str = Field(default=0.0, description="point of the line, m")
    y: Number | str = Field(default=0.0, description="point of the line, m")
    angle: Number | str = Field(default=0.0, description="of the line from the x-axis, rad")
    turning: StrictBool = Field(default=False, description="the force holds against turning alone")


class Port(Conditional):
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

    description: str = Field(min_length=3, description="meaning of the entry")
    default: Annotated[bool | int | str, BeforeValidator(_default)] = Field(
        description="of recipes that do not give it: a whole number makes a size, true or false a switch"
    )
    min: StrictInt = Field(default=1, description="smallest value of a size")
    max: StrictInt = Field(default=100_000, description="largest value of a size")
    choices: list[str] = Field(default=[], description="allowed words")
    given_by: str = Field(
        default="",
        description="table of the element's own, or key of it, that gives it by structure.py; or 'size > number'",
    )
    when: When = Field(default={}, description="choices with which it may differ from its default")
    samples: StrictBool = Field(
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
        """The table and key of a recipe that give it, as text; empty if [structure] does."""
        table, _, key = f"structure.{self.given_by}".partition(".") if self.compares else self.given_by.partition(".")
        return f"[{table}] {key}".rstrip() if table else ""

    @property
    def values(self) -> tuple[bool | str, ...]:
        """The values of a choice or a switch, none for a size."""
        return () if self.is_size else tuple(self.choices) or (True, False)


class Indicator(Conditional):
    """A zero-crossing function.  `nominal` is its usual size, in its own unit: values below the tolerance times this
    are rounding, and no event."""

    description: str = Field(min_length=3, description="event at its zero")
    nominal: float = Field(default=1.0, gt=0, description="its usual size")


class SlotChange(_Entry):
    """Changes of a slot by some structure choices."""

    when: When = Field(min_length=1, description="the choices")
    renamed: dict[str, str] = Field(default={}, description="argument -> its name with these choices")
    least_means: str | None = Field(default=None, description="in place of the slot's")


class Slot(LawRules):
    """A place for a user law, in C the function slot_<name>(e, ...); parameters that are `replaced_by` it are absent
    while it is filled.  In `when` of other entries its name stands for a choice: true while it is filled."""

    when: When = Field(default={}, description="choices with which it may be filled")
    each: str | None = Field(default=None, description="structure name: the law serves each of these")
    integral: StrictBool = Field(
        default=False,
        description="the C code also needs slot_<name>_integral, over the first argument from 0, to both sides if the "
        "range of that has negative values",
    )
    group: str = Field(default="", description="laws of one group have the same arguments; C calls them by `number`")
    number: StrictInt = Field(default=0, description="of the law in its group")
    derivatives: StrictInt = Field(
        default=0, ge=0, le=2, description="number of derivatives, by the only argument, that C needs"
    )
    changes: tuple[SlotChange, ...] = Field(
        default=(), description="`renamed` arguments and another `least_means`, each `when` structure choices hold"
    )
    sensors: StrictBool = Field(
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


class DefaultExperiment(_Entry):
    """DefaultExperiment of the FMU, s.  `step`: the preferred communication step of an element whose parameters advise
    none (`acts_as`)."""

    stop: float = Field(default=1.0, gt=0, description="stop time, s")
    step: float = Field(default=1e-3, gt=0, description="preferred communication step, s, no longer than stop")
    tolerance: float = Field(default=1e-9, gt=0, description="relative error, also the start value of solver.tolerance")


class Declaration(_Entry):
    """All tables of element.toml."""

    description: str = Field(min_length=3, description="what the element is, in a line")
    origin: str = Field(default="", description="source of the law")
    experiment: DefaultExperiment = Field(default=DefaultExperiment(), description="default experiment")
    structure: dict[str, StructureEntry] = Field(default={}, description="sizes, choices and switches of a recipe")
    log: dict[str, str] = Field(default={}, description="log category -> messages in it, by cc_report")
    sets: dict[str, list[str]] = Field(
        default={}, description="name -> list of dependencies or choices, which `depends` and `when` name as '@name'"
    )
    rules: dict[str, str] = Field(default={}, description="name -> rule across variables that `check` enforces")
    parameters: dict[str, Variable] = Field(default={}, description="p: values that a user sets")
    slots: dict[str, Slot] = Field(default={}, description="places for laws of a recipe")
    inputs: dict[str, Variable] = Field(default={}, description="u: inputs that belong to no port")
    ports: dict[str, Port] = Field(default={}, description="bundles of motion and force, connected as one")
    states: dict[str, Variable] = Field(default={}, description="x: integrated variables")
    outputs: dict[str, Variable] = Field(default={}, description="y: computed from t, p, u, x, m")
    memory: dict[str, Variable] = Field(default={}, description="m: changed by start, accept and sample alone")
    locals: dict[str, Variable] = Field(default={}, description="as outputs, for plots and for rates; no output of FMI")
    indicators: dict[str, Indicator] = Field(default={}, description="zero-crossing functions, z->name in C")
    texts: dict[str, Text] = Field(default={}, description="Strings, kept by the FMI layer; C does not see them")
    _content: str = PrivateAttr(default="")
    _notes: tuple[str, ...] = PrivateAttr(default=())

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
        """A hash of all that the file declares, including what it extends."""
        return self._content

    @property
    def notes(self) -> tuple[str, ...]:
        """Changes of the file that the next version requires."""
        return self._notes

    def chosen(self, choices: Choices, empty: Collection[str] = ()) -> Declaration:
        """The declaration with the entries that exist with these choices, each under its plain name.  Entries for
        `each` of a size that is `empty` are left out.

        Raises ValueError naming an entry of which two variants apply."""
        tables = {}
        for table in (*VARIABLE_TABLES, "ports", "indicators"):
            entries: dict[str, Conditional] = {}
            for name, entry in getattr(self, table).items():
                if entry.is_in(choices) and entry.each not in empty:
                    if plain(name) in entries:
                        raise ValueError(f"[{table}] {plain(name)}")
                    entries[plain(name)] = entry
            tables[table] = entries
        return self.model_copy(update=tables)

    def absent_of(self, chosen: Declaration, choices: Choices) -> dict[str, str]:
        """The variables that do not exist in the declaration chosen with these choices, sorted, each with the keys of a
        recipe that would add it, as text."""
        entries: dict[str, Variable] = {}
        for table in VARIABLE_TABLES:
            for name, entry in getattr(self, table).items():
                entries.setdefault(plain(name), entry)
        names = sorted(self.variable_names() - chosen.variable_names())
        return {name: self._needs_of(entries[name], choices) if name in entries else "" for name in names}

    def _needs_of(self, entry: Variable, choices: Choices) -> str:
        wanted = {key: values for key, values in entry.when.items() if choices[key] not in values}
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
_COMPARISON = re.compile(r"(\w+) > (\d+)")


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


VARIANT = re.compile(r" variant \d+$")


def plain(name: str) -> str:
    """The name of an entry without the number of its variant."""
    return VARIANT.sub("", name)


def value_text(value: float | str) -> str:
    """A structure value as TOML writes it, without quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def choice_values(declaration: Declaration) -> dict[str, tuple[bool | str, ...]]:
    """The values of every structure choice, and of every slot: filled or not."""
    values = {name: entry.values for name, entry in declaration.structure.items() if not entry.is_size}
    return values | dict.fromkeys(declaration.slots, (False, True))


def default_first(values: tuple[bool | str, ...], default: object) -> tuple[bool | str, ...]:
    return tuple(sorted(values, key=lambda one: one != default))


def forms(declaration: Declaration, changes: int | None = None) -> Iterator[dict[str, bool | str]]:
    """Every combination of structure choices and filled slots that is allowed; the first one holds the defaults.

    changes  at most so many differ from the defaults; None for any number"""
    defaults = {name: declaration.structure[name].default for name in declaration.structure}
    values = choice_values(declaration)
    ordered = [default_first(v, defaults.get(name, False)) for name, v in values.items()]
    for combination in itertools.product(*ordered):
        changed = sum(one != first[0] for one, first in zip(combination, ordered, strict=True))
        form = dict(zip(values, combination, strict=True))
        if (changes is None or changed <= changes) and not any(unmet(declaration, form, name) for name in form):
            yield form


def unmet(declaration: Declaration, choices: Choices, name: str) -> str:
    """The choices that the choice, or the slot, of this name requires and lacks, as text; empty without any."""
    entry = declaration.structure.get(name, declaration.slots.get(name))
    assert entry is not None
    default = entry.default if isinstance(entry, StructureEntry) else False
    if choices[name] == default:
        return ""
    wanted = {key: values for key, values in entry.when.items() if choices[key] not in values}
    return " and ".join(f"{key} = {' or '.join(map(value_text, values))}" for key, values in wanted.items())
