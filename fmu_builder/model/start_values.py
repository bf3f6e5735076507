"""Start values by name, checked: types, units, bounds, quaternions, and the rules of laws."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from fmu_builder.errors import InputError, Problem, behind_number, collected, did_you_mean
from fmu_builder.laws.rules import rule_problems
from fmu_builder.laws.tree import Place
from fmu_builder.model.declaration import broken_bound
from fmu_builder.model.given_values import start_of
from fmu_builder.model.model import FMI_TYPES, Model, Variable
from fmu_builder.model.slots import scalars_text


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


def overwritten(
    where: str,
    model: Model,
    given: Iterable[str],
    shift: int,
    starts: Sequence[object],
    sources: Mapping[int, Sequence[int]],
    names: Sequence[str],
) -> Iterator[str]:
    """Notes on start values of a part that connections overwrite, but on those that it has by itself.

    shift   of the variables of the part in those of the assembly, to which starts, sources and names belong"""
    for key in given:
        inputs = [(shift + v.index, v) for v in model.visible_names.get(key, ())]
        if any(starts[place] != v.start for place, v in inputs) and all(sources.get(place) for place, _ in inputs):
            givers = dict.fromkeys(names[source] for place, _ in inputs for source in sources[place])
            yield f"{where} {key} has no effect: {', '.join(givers)} gives the value; remove it"


def law_problems(model: Model, starts: Mapping[int, float], where: str) -> list[Problem]:
    """Rules on laws that start values of scalars, SI by index, break though those of the recipe of the laws do not.

    `where` names the file and its table."""
    problems: list[Problem] = []
    for first, element in model.elements():
        laws = element.recipe.laws
        if laws is None:
            continue
        at = {name: first + element[f"laws.{name}"].index for name in laws.laws.tunable}
        scalars = {name: starts.get(i, model.variables[i].start or 0.0) for name, i in at.items()}
        for checked in laws.checked:
            slot = checked.law.slot
            changed = [name for name in laws.parameters_of(slot) if at[name] in starts]
            if not changed:
                continue
            given = scalars_text(laws.laws, changed, scalars)
            here = f"{where} {', '.join(model.variables[at[name]].name for name in changed)}"
            again = replace(checked, scalars=scalars, parameters="")
            problems += [
                Problem(here, f"with {given} the law in the slot {slot} breaks its rule: {problem.what}")
                for problem in rule_problems(again, here, partial(_problem_at, here))
            ]
    return problems


def _check_start(variable: Variable, value: object, where: str, problems: list[Problem]) -> float | None:
    literals = {name: number for number, name in enumerate(variable.literals, 1)}
    with collected(problems):
        number = start_of(FMI_TYPES[variable.type], value, variable.unit, literals, where)
        unit = behind_number(variable.unit.name)
        if not literals and (rule := broken_bound(variable, number)):
            raise InputError(Problem(where, f"{value!r} is refused: {variable.name} must be {rule}{unit}"))
        return number
    return None


def _problem_at(start: str, function: str, place: Place, what: str) -> Problem:
    """At the start value, not at the place in the text of the law."""
    return Problem(start, what)
