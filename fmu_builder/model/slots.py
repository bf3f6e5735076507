"""[functions] of a recipe: laws, put into the slots of the element.

    [functions]
    text = \"\"\" scalar mu = 0.3; function f(N[N], v[m/s]) = mu*#N*tanh(#v/1[mm/s]); \"\"\"
    F_fr = "f"                                          # a function, here or ready-made, or an expression
    C_F = { table = "force.csv", interpolation = "pchip", outside = "linear" }
    soft = { table = "soft.csv" }                       # a function of this name for the text and expressions
    range = { F_fr = { v = ["0 m/s", "2 m/s"] } }       # where laws are checked

Ready-made laws stand in laws.txt of the element, in the same language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from fmu_builder.errors import InputError, Problem, behind_number, collected, did_you_mean, listed
from fmu_builder.files import is_text, read_text
from fmu_builder.laws.c_source import LawInSlot
from fmu_builder.laws.check import RESERVED
from fmu_builder.laws.definitions import LawFunction, Laws, Scalar
from fmu_builder.laws.derivatives import derivative
from fmu_builder.laws.dimensions import dimension_of, si_name, text_of
from fmu_builder.laws.forms import inlined, integral, integral_below, kinks
from fmu_builder.laws.numeric import scalar_values
from fmu_builder.laws.rules import Checked, Ranges, kink_sizes, rule_notes, rule_problems, rule_warnings
from fmu_builder.laws.tables import LawTable, read_table
from fmu_builder.laws.text import parse_laws, read_value
from fmu_builder.laws.tree import Argument, Call, Expression, Place, ScalarText, Source, parse_declarations
from fmu_builder.model.declaration import Declaration, Slot
from fmu_builder.model.given_values import interval, is_quantity
from fmu_builder.units import Unit, parse_quantity, parse_unit


@dataclass(frozen=True)
class ElementLaws:
    """The laws of one recipe.

    laws        the laws in C: all definitions of the recipe, and the ready-made ones that it uses
    slots       the filled ones, in the element's order
    kink_sizes  of each slot, the usual size of each of its kink functions
    remembered  scalars whose values at the last accepted point the element keeps
    notes, warnings  remarks, and probable mistakes
    text        scalars and functions, as the recipe writes them
    checked     the laws over their ranges, and built_in, of each slot, the law of the element in its place
    written     what the recipe writes into each slot"""

    laws: Laws
    slots: tuple[LawInSlot, ...]
    kink_sizes: Mapping[str, tuple[float, ...]]
    remembered: tuple[str, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    text: str = ""
    checked: tuple[Checked, ...] = ()
    built_in: Mapping[str, Checked] = field(default_factory=dict)
    written: Mapping[str, str] = field(default_factory=dict)

    def parameters_of(self, slot: str) -> list[str]:
        """The tunable scalars that the law in the slot depends on."""
        law = next(one.law for one in self.slots if one.slot == slot)
        return self.laws.numbers_behind(law)


def scalar_unit(laws: Laws, name: str) -> tuple[str, str | None]:
    """The SI unit of a scalar, and the unit it was written in where that is another one; powers of units that are
    fractions have none."""
    scalar = laws.scalars[name]
    if scalar.number is not None and scalar.number[1].is_si:
        return scalar.number[1].name, None
    unit = si_name(scalar.dimension) if scalar.dimension is not None else None
    return unit or "1", scalar.number[1].name if scalar.number is not None else None


def scalars_text(laws: Laws, names: Sequence[str], given: Mapping[str, float]) -> str:
    """`laws.mu = 0.3, laws.v_s = 0.002 m/s`: some scalars with the values given, or else with their own."""
    values = scalar_values(laws, given)
    texts = [f"laws.{name} = {values[name]:.6g}{behind_number(scalar_unit(laws, name)[0])}" for name in names]
    return listed(texts, _SHOWN)


_SHOWN = 6  # scalars of a law


def read_functions(
    path: Path,
    folder: Path,
    element: Declaration,
    functions: Mapping[str, object],
    start: Mapping[str, object],
    problems: list[Problem],
) -> ElementLaws | None:
    """The laws of the recipe `path` for the element in `folder`; None without any.  Adds what is wrong."""
    if not functions:
        return None
    before = len(problems)
    reader = _Reader(path, folder, element, functions, problems)
    laws = reader.laws()
    filled = {slot: reader.law(slot, laws) for slot in element.slots if slot in functions}
    for slot in filled:
        for name, parameter in element.parameters.items():
            if slot in parameter.replaced_by and name in start:
                what = f"{slot} excludes [start] {name}: remove one of the two"
                problems.append(Problem(f"{path}: [functions] {slot}", what))
    found = [law for law in filled.values() if law is not None]
    if len(problems) > before:
        return None
    used = laws.used_by(*(one.law for one in found))
    mine = {**reader.own.scalars, **reader.own.functions}
    kept = Laws(
        {name: one for name, one in laws.scalars.items() if name in mine or name in used.scalars},
        {name: one for name, one in laws.functions.items() if name in mine or name in used.functions},
    )
    remembered = [n for one in found if one.wants_integral for n in kept.numbers_behind(one.law)]
    made = ElementLaws(kept, tuple(found), {}, tuple(dict.fromkeys(remembered)))
    return reader.checked(made, start)


class _Reader:
    """Reads one [functions] table.   `own`, `ready_made`: definitions of the recipe and of the element, once `laws` was
    called."""

    def __init__(
        self,
        path: Path,
        folder: Path,
        element: Declaration,
        functions: Mapping[str, object],
        problems: list[Problem],
    ) -> None:
        self.path, self.element, self.functions, self.problems = path, element, functions, problems
        self.library_file = folder / "laws.txt"
        self.own = Laws()
        self.source = Source("", "")
        self.ready_made = Laws()

    def where(self, key: str) -> str:
        place = self.element.slots[key].place if key in self.element.slots else ""
        return f"{self.path}: {place or f'[functions] {key}'}"

    def fault(self, key: str, what: str) -> None:
        self.problems.append(Problem(self.where(key), what))

    def laws(self) -> Laws:
        """Ready-made laws, tables with names, then the text, in the order in which they may be used."""
        text = self.functions.get("text", "")
        if not isinstance(text, str):
            self.fault("text", f"{text!r} must be a text with scalars and functions")
            text = ""
        self.source = Source(text, self.where("text"), self._line_of(text))
        library = self._library()
        tables: dict[str, LawFunction] = {}
        for key, entry in self.functions.items():
            if key in ("text", "range") or (key in self.element.slots and not isinstance(entry, dict)):
                continue
            if not isinstance(entry, dict):
                near = did_you_mean(key, [*self.element.slots, "text", "range"])
                self.fault(key, f"the element has no slot of this name{near}")
            elif key in RESERVED or not (key.isidentifier() and key.isascii()):
                self.fault(key, "the name of a table consists of letters, digits and _, and means nothing else")
            else:
                table = self._table(key, entry)
                if table is not None:
                    tables[key] = _table_function(key, table)
        for one in parse_declarations(self.source, []):
            if isinstance(one, ScalarText) and (one.name in self._macros() or one.name.startswith("CC_")):
                what = f"'{one.name}' is a name of the element's C code; choose another name for this scalar"
                self.problems.append(self.source.problem(one.place, what))
        known = Laws(library.scalars, {**library.functions, **tables})
        laws = parse_laws(self.source, known, self.problems)
        self.own = Laws(
            {name: one for name, one in laws.scalars.items() if name not in library.scalars},
            {name: one for name, one in laws.functions.items() if name not in library.functions},
        )
        return laws

    def _macros(self) -> set[str]:
        """Names of the C code that the structure and the slots become."""
        structure = {name.upper() for name in self.element.structure}
        choices = {f"{n}_{c}".upper() for n, entry in self.element.structure.items() for c in entry.choices}
        return structure | choices | {f"SLOT_{name.upper()}" for name in self.element.slots}

    def _library(self) -> Laws:
        """The ready-made laws of the element, without those that the recipe redefines."""
        if not self.library_file.is_file():
            return Laws()
        text = self.library_file.read_text(encoding="utf-8")
        library = self.ready_made = parse_laws(Source(text, str(self.library_file), 1), Laws(), self.problems)
        mine = {one.name for one in parse_declarations(self.source, [])} | self.functions.keys()

        def is_hidden(one: Scalar | LawFunction) -> bool:
            used = library.used_by(one)
            return bool(mine & {one.name, *used.scalars, *used.functions})

        return Laws(
            {name: one for name, one in library.scalars.items() if not is_hidden(one)},
            {name: one for name, one in library.functions.items() if not is_hidden(one)},
        )

    def _line_of(self, text: str) -> int:
        """The line of the recipe in which the text begins, 0 if escapes hide it or the recipe is no file."""
        raw = "" if is_text(self.path) else read_text(self.path)
        begin = raw.find(text) if text.strip() else -1
        return raw[:begin].count("\n") + 1 if begin >= 0 else 0

    def _table(self, key: str, entry: Mapping[str, object]) -> LawTable | None:
        with collected(self.problems):
            return read_table(self.path, entry, self.where(key))
        return None

    def law(self, name: str, laws: Laws) -> LawInSlot | None:
        """The law in the slot, without its kinks and integral checked over the range yet."""
        slot, entry = self.element.slots[name], self.functions[name]
        arguments = {argument: parse_unit(unit) for argument, unit in slot.arguments.items()}
        with collected(self.problems):
            if isinstance(entry, dict):
                table_law = self._table_law(name, slot, arguments, laws)
                return None if table_law is None else self._in_slot(name, slot, table_law, laws)
            if not isinstance(entry, str):
                self.fault(
                    name, f"{entry!r} must be the name of a function, an expression, or {{ table = 'file.csv' }}"
                )
                return None
            if laws.is_faulty(entry):
                return None
            law_text = read_value(entry, self.where(name), arguments, parse_unit(slot.unit), laws)
            return self._in_slot(name, slot, law_text, laws)
        return None

    def _in_slot(self, name: str, slot: Slot, law: LawFunction, laws: Laws) -> LawInSlot:
        body = inlined(law, laws, self.where(name))
        area: object = None
        below: Expression | None = None
        argument = next(iter(slot.arguments))
        two_sided = slot.integral and slot.range[argument][0] < 0.0
        if slot.integral:
            called = laws.functions[body.name].body if isinstance(body, Call) and body.name in laws.functions else None
            bare = isinstance(body, Call) and isinstance(body.arguments[0], Argument)
            area = called if isinstance(called, LawTable) and bare else integral(body, argument)
            below = integral_below(body, argument) if two_sided else None
            if isinstance(called, LawTable) and bare:
                law = replace(law, body=body)
        derivatives: list[Expression] = []
        for _ in range(slot.derivatives):
            derivatives.append(derivative((derivatives or [body])[-1], argument, self.where(name)))
        return LawInSlot(
            name,
            law,
            kinks(body, laws, self.where(name)),
            area,  # type: ignore[arg-type]
            slot.integral,
            two_sided,
            below,
            tuple(derivatives),
            slot.each is not None,
            slot.group,
            slot.number,
        )

    def _table_law(self, name: str, slot: Slot, arguments: Mapping[str, Unit], laws: Laws) -> LawFunction | None:
        """A call of the table that stands in the slot."""
        if len(arguments) != 1:
            names = ", ".join(f"#{argument}" for argument in arguments)
            what = (
                f"a table has one argument, {name} has {len(arguments)} ({names}): give the table a name of its own, "
                f"[functions] ratio = {{ table = ... }}, and write an expression with ratio(...)"
            )
            self.fault(name, what)
            return None
        table = laws.functions[name].body if name in laws.functions else None
        if not isinstance(table, LawTable):
            return None  # its faults are reported already
        ((argument, unit),) = arguments.items()
        for what, found, needed in (
            (argument, table.unit, unit),
            ("the value", table.value_unit, parse_unit(slot.unit)),
        ):
            if dimension_of(found) != dimension_of(needed):
                dimensions = f"{text_of(dimension_of(found))}, {text_of(dimension_of(needed))} is needed"
                self.fault(name, f"the table's header: {what} has the dimension {dimensions}")
                return None
        place = Place(1, 1)
        return LawFunction("", ((argument, unit),), Call(place, name, (Argument(place, argument),)), None)

    # -- rules

    def _ranges(self, name: str, slot: Slot) -> Ranges:
        """Of the slot's arguments: those the recipe states, else the declared ones."""
        stated = self.functions.get("range", {})
        entry = stated.get(name, {}) if isinstance(stated, dict) else {}
        found = dict(slot.range)
        for argument, value in entry.items() if isinstance(entry, dict) else ():
            key = f"range {name} {argument}"
            if argument not in slot.arguments:
                self.fault(key, "the law has no such argument" + did_you_mean(argument, slot.arguments))
                continue
            with collected(self.problems):
                found[argument] = interval(value, parse_unit(slot.arguments[argument]), self.where(key))
        return found

    def _range_problems(self) -> None:
        stated = self.functions.get("range", {})
        if not isinstance(stated, dict) or not all(isinstance(entry, dict) for entry in stated.values()):
            what = "must be a table of slots, as in: range = { F = { v = ['0 m/s', '1 m/s'] } }"
            self.fault("range", f"{stated!r} {what}")
            return
        for name in stated:
            if name not in self.element.slots:
                self.fault(
                    f"range {name}", "the element has no slot of this name" + did_you_mean(name, self.element.slots)
                )

    def checked(self, made: ElementLaws, start: Mapping[str, object]) -> ElementLaws | None:
        """With the rules of the slots applied over their ranges."""
        self._range_problems()
        scalars = dict(self._scalar_starts(made.laws, start))
        notes: list[str] = []
        warnings: list[str] = []
        sizes = {}
        checked: list[Checked] = []
        built_in: dict[str, Checked] = {}
        faulty = False
        for law in made.slots:
            slot = self.element.slots[law.slot]
            given = scalars_text(made.laws, made.parameters_of(law.slot), scalars)
            one = Checked(slot, law, made.laws, self._ranges(law.slot, slot), scalars, given)
            found = list(rule_problems(one, self.where(law.slot), partial(self._at, law.slot)))
            self.problems += found
            faulty = faulty or bool(found)
            if not found:
                notes += [f"[functions] {note}" for note in rule_notes(one)]
                warnings += [f"[functions] {warning}" for warning in rule_warnings(one)]
            sizes[law.slot] = kink_sizes(one)
            checked.append(one)
            if slot.built_in is not None:
                built_in[law.slot] = self._built_in(one, slot.built_in)
        return (
            None
            if faulty
            else replace(
                made,
                kink_sizes=sizes,
                notes=tuple(notes),
                warnings=tuple(warnings),
                text=self.source.text.strip(),
                checked=tuple(checked),
                built_in=built_in,
                written={law.slot: _written(self.functions[law.slot]) for law in made.slots},
            )
        )

    def _built_in(self, law: Checked, name: str) -> Checked:
        """The element's own law in the place of a law."""
        arguments = {argument: parse_unit(unit) for argument, unit in law.slot.arguments.items()}
        own = read_value(name, str(self.library_file), arguments, parse_unit(law.slot.unit), self.ready_made)
        return Checked(law.slot, LawInSlot(law.law.slot, own, ()), self.ready_made, law.ranges, {})

    def _at(self, slot: str, function: str, place: Place, what: str) -> Problem:
        """A fault in the text of a function; '' is the slot's own expression."""
        entry = self.functions[slot]
        if not function:
            return Source(str(entry).strip(), self.where(slot)).problem(place, what)
        if function in self.own.functions:
            return self.source.problem(place, f"{what} (in the slot {slot})")
        return Problem(self.where(slot), f"{function}: {what}")

    def _scalar_starts(self, laws: Laws, start: Mapping[str, object]) -> Iterator[tuple[str, float]]:
        """Start values of scalars that the recipe gives; the model reports faulty ones."""
        for name in laws.tunable:
            value = start.get(f"laws.{name}")
            if is_quantity(value):
                try:
                    yield name, parse_quantity(value, parse_unit(scalar_unit(laws, name)[0]), "")
                except InputError:
                    continue


def _written(entry: object) -> str:
    return f"table {entry.get('table')}" if isinstance(entry, dict) else str(entry)


def _table_function(name: str, table: LawTable) -> LawFunction:
    return LawFunction(name, ((table.name, table.unit),), table, dimension_of(table.value_unit))
