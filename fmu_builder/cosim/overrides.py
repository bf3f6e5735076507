"""A scenario with other times, another algorithm, other signals to record, or other start values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from fmu_builder.cosim.algorithm_keys import without_keys_of_others
from fmu_builder.errors import InputError, Problem, collected, did_you_mean
from fmu_builder.model.scenario import ALGORITHMS, CheckedScenario, check_times
from fmu_builder.model.table_model import python_value
from fmu_builder.model.vectors import given_twice
from fmu_builder.units import parse_quantity, parse_unit


@contextmanager
def named_as_given(
    scenario: CheckedScenario, where: str, *, start: Mapping[str, Any] | None = None, **given: object
) -> Iterator[None]:
    """What is wrong inside with keys of [experiment] and start values that a caller replaces is named as the caller
    gave it.

    where, start, given   as of `overridden`"""
    try:
        yield
    except InputError as error:
        places = {f"{scenario.path}: [experiment] {key}": where.format(key) for key, one in given.items() if one}
        names = [name for name in start if isinstance(name, str)] if isinstance(start, Mapping) else []
        for name in names:
            slave, variable = slave_and_variable(name, scenario.slaves)
            places[place_of_start(scenario, slave, variable)] = f"{where.format('start')} {name}"
        raise InputError([renamed(problem, places) for problem in error.problems]) from None


def place_of_start(scenario: CheckedScenario, slave: str, variable: str) -> str:
    """How problems name a start value."""
    return f"{scenario.path}: [slaves] {slave} start {variable}"


def renamed(problem: Problem, places: Mapping[str, str]) -> Problem:
    """With the new name of its place, which an element of a vector, or the value, may follow."""
    for known, name in places.items():
        where, text = problem.where, str(problem)
        if where.startswith(known) and where[len(known) :][:1] in ("", "[", ","):
            return Problem(name + where[len(known) :], problem.what)
        if text.startswith(f"{known} = "):
            file, _, key = name.rpartition(": ")
            return Problem(file, key + text[len(known) :])
    return problem


def slave_and_variable(name: str, slaves: Collection[str]) -> tuple[str, str]:
    """Of a start value by "slave.variable"; of the only slave by the name of the variable too."""
    slave, _, variable = name.partition(".")
    if slave not in slaves and len(slaves) == 1:
        (slave,), variable = slaves, name
    return slave, variable


def no_variable(name: str, variables: Collection[str], settable: Iterable[str]) -> str:
    """Of a place that takes one number.   settable: the names that would do"""
    first = next((one for one in variables if one.startswith(f"{name}[")), None)
    near = did_you_mean(name, settable) if first is None else f": it is a vector, name an element of it, as {first}"
    return f"has no variable '{name}'{near}"


def no_slave(name: str, slaves: Iterable[str]) -> str:
    return f"there is no slave '{name}'" + did_you_mean(name, slaves)


def overridden(scenario: CheckedScenario, where: str, **changes: Any) -> CheckedScenario:
    """The scenario with changes as of `changed_scenario`.   Raises InputError with all problems."""
    changed, problems = changed_scenario(scenario, where, **changes)
    if problems:
        raise InputError(problems)
    return changed


def changed_scenario(
    scenario: CheckedScenario,
    where: str,
    *,
    step: str | float | None = None,
    stop: str | float | None = None,
    output_step: str | float | None = None,
    algorithm: str | None = None,
    record: str | Sequence[str] | None = None,
    power: bool | None = None,
    isolated: bool | None = None,
    start: Mapping[str, Any] | None = None,
) -> tuple[CheckedScenario, list[Problem]]:
    """The scenario with these changes, checked like one from a file, but for those that are wrong, and what is.

    where   how messages name a change, with {} for its key: "--{}"
    start   by "slave.variable"; of a single FMU by the name of the variable too; tuples and values of numpy as well"""
    problems: list[Problem] = []

    def named(key: str) -> str:
        return where.format(key.replace("_", "-") if where.startswith("--") else key)

    def truth(key: str, value: bool | None) -> bool | None:
        if value is None or isinstance(python_value(value), bool):
            return value
        problems.append(Problem(named(key), f"{value!r} must be True or False"))
        return None

    changes: dict[str, object] = {}
    for key, value in (("step", step), ("stop", stop), ("output_step", output_step)):
        if value is not None:
            with collected(problems):
                changes[key] = parse_quantity(python_value(value), parse_unit("s"), named(key))
    if changes and not problems:
        problems += _time_problems(scenario, changes, named)
    if problems:
        changes.clear()
    power, isolated = truth("power", power), truth("isolated", isolated)
    signals = [record] if isinstance(record, str) else [*record] if isinstance(record, Iterable) else [record]
    if record is not None and not all(isinstance(one, str) for one in signals):
        problems.append(Problem(named("record"), f"{record!r} must be a text or a list of texts"))
        record = None
    if start is not None and not isinstance(start, Mapping):
        problems.append(Problem(named("start"), f"{start!r} must be a dictionary, of values by 'slave.variable'"))
        start = None
    if algorithm is not None and str(algorithm) not in ALGORITHMS:
        what = f"{algorithm!r} is unknown" + did_you_mean(str(algorithm), ALGORITHMS)
        problems.append(Problem(where.format("algorithm"), what))
    elif algorithm is not None:
        changes |= {"algorithm": algorithm, **without_keys_of_others(algorithm)}
    if power is not None:
        changes["power"] = power
    if record is not None:
        if signals:
            changes["record"] = signals
        else:
            problems.append(Problem(named("record"), "names no signal; leave it out to record all of them"))
    slaves = dict(scenario.slaves)
    if isolated is not None:
        slaves = {name: entry.model_copy(update={"isolated": isolated}) for name, entry in slaves.items()}
    given_by: dict[str, str] = {}
    for name, start_value in (start or {}).items():
        if not isinstance(name, str):
            problems.append(Problem(named("start"), f"{name!r} must be a text, 'slave.variable'"))
            continue
        slave, variable = slave_and_variable(name, slaves)
        if slave not in slaves:
            problems.append(Problem(f"{where.format('start')} {name}", no_slave(slave, slaves)))
            continue
        before = given_by.setdefault(f"{slave}.{variable}", name)
        if before != name:
            problems.append(Problem(f"{where.format('start')} {name}", f"has a start value by {before} already"))
        entry = slaves[slave]  # a vector replaces its elements too, an element that of the vector
        kept = {key: value for key, value in entry.start.items() if key.rpartition("[")[0] != variable}
        kept.pop(variable, None)
        slaves[slave] = entry.model_copy(update={"start": {**kept, variable: python_value(start_value)}})
    for element, vector in given_twice(given_by):
        what = f"has a start value by {given_by[vector]} already"
        problems.append(Problem(f"{where.format('start')} {given_by[element]}", what))
    experiment = scenario.experiment.model_copy(update=changes)
    return scenario.model_copy(update={"experiment": experiment, "slaves": slaves}), problems


def _is_whole(scenario: CheckedScenario, step: object) -> bool:
    """Whether the rows that the scenario asks for are a whole number of the new steps apart."""
    if scenario.experiment.output_step is None or not isinstance(step, float) or not step > 0:
        return False
    ratio = scenario.seconds("output_step") / step
    return round(ratio) >= 1 and abs(ratio - round(ratio)) < 1e-6


def _time_problems(
    scenario: CheckedScenario, changes: dict[str, object], named: Callable[[str], str]
) -> Iterator[Problem]:
    """Of new times, s, beside those of the scenario.   changes: takes the output step that follows a new step"""
    given = list(changes)
    if "step" in changes and not _is_whole(scenario, changes["step"]):
        changes.setdefault("output_step", None)
    changed = scenario.model_copy(update={"experiment": scenario.experiment.model_copy(update=changes)})
    times = (changed.seconds(key) for key in ("start", "stop", "step", "output_step"))
    for problem in check_times("", *times):
        key = problem.where.strip()
        if key in given:
            yield Problem(named(key), problem.what)
        else:
            yield Problem(", ".join(map(named, given)), f"{key} = {problem.what}")
