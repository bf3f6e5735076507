"""The responses of a run: what has to be recorded for them, and their values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.events import EVENT_UNITS
from fmu_builder.cosim.recorder import unit_of_signal
from fmu_builder.cosim.repeated import Outcome
from fmu_builder.errors import InputError, Problem, did_you_mean, none_of
from fmu_builder.laws.check import Checker
from fmu_builder.laws.definitions import LawFunction, Laws, names_in
from fmu_builder.laws.dimensions import Dimension, dimension_of, si_name
from fmu_builder.laws.numeric import evaluate
from fmu_builder.laws.tree import Argument, Number, Source, parse_value, walk, with_arguments, with_pi
from fmu_builder.laws.tree import Expression as Tree
from fmu_builder.studies.factors import Axis
from fmu_builder.studies.format import EVENT_TAKES, CheckedStudy, Response
from fmu_builder.units import has_angle, parse_unit

Array = NDArray[np.float64]
_EVENT = re.compile(r"(?P<place>.+)\.(?P<quantity>\w+?)(?:\[(?P<number>\d+)\])?", re.DOTALL)
_COUNT = "contact_count"


@dataclass(frozen=True)
class SignalResponse:
    name: str
    unit: str
    signal: str
    take: str


@dataclass(frozen=True)
class EventResponse:
    """number: of a contact; 0 for all, of which `take` makes a value."""

    name: str
    unit: str
    place: str
    quantity: str
    number: int
    take: str


@dataclass(frozen=True)
class Expression:
    """names: the factors and responses that it is made of."""

    name: str
    unit: str
    law: LawFunction
    names: tuple[str, ...]


@dataclass(frozen=True)
class Responses:
    """What is computed of each run.   names, units: of all, in the order of the file"""

    signals: tuple[SignalResponse, ...]
    events: tuple[EventResponse, ...]
    expressions: tuple[Expression, ...]
    names: tuple[str, ...]
    units: Mapping[str, str]
    traced: tuple[str, ...] = ()

    @property
    def with_contacts(self) -> bool:
        return bool(self.events)

    @property
    def ends_only(self) -> bool:
        """Whether the values at the start and the end of a run are enough."""
        return not self.traced and all(one.take == "end" for one in self.signals)

    def recorded(self) -> list[str]:
        """The signals that a run has to record."""
        return [*dict.fromkeys([one.signal for one in self.signals] + list(self.traced))]

    def of_run(self, outcome: Outcome, columns: Mapping[str, int]) -> list[float]:
        """The values of signals and events, NaN where there is none.   columns: of `values`, by signal"""
        values = outcome.values
        found = [_taken(values[:, columns[one.signal]], outcome.time, one.take) for one in self.signals]
        return found + [_of_event(one, outcome) for one in self.events]

    def finished(self, measured: Array, factors: Mapping[str, Array]) -> Array:
        """All responses of n runs, shape (n, names), from what `of_run` gave for each, shape (n, signals + events).

        An expression has no value where one of its names has none."""
        known = dict(factors)
        measured_names = [one.name for one in self.signals] + [one.name for one in self.events]
        for column, name in enumerate(measured_names):
            known[name] = measured[:, column]
        for expression in self.expressions:
            given = {name: known[name] for name in expression.names}
            value = evaluate(expression.law, Laws(), given).value if given else np.full(len(measured), math.nan)
            missing = np.any([np.isnan(one) for one in given.values()], axis=0)
            known[expression.name] = np.where(missing | ~np.isfinite(value), math.nan, value)
        return np.column_stack([known[name] for name in self.names])


def _taken(values: Array, time: Array, take: str) -> float:
    if take == "end":
        return float(values[-1])
    if take == "minimum":
        return float(values.min())
    if take == "maximum":
        return float(values.max())
    integral = float(np.sum(0.5 * (values[1:] + values[:-1]) * np.diff(time)))
    length = float(time[-1] - time[0])
    return integral if take == "integral" else integral / length if length > 0.0 else float(values[-1])


def _of_event(one: EventResponse, outcome: Outcome) -> float:
    if one.quantity == _COUNT:
        return outcome.counts.get(one.place, math.nan)
    at_place = [contact for contact in outcome.contacts if contact.place == one.place]
    if one.number:
        at_place = [contact for contact in at_place if contact.number == one.number]
    values = [value for contact in at_place if (value := getattr(contact, one.quantity)) is not None]
    if not values:
        return math.nan
    match one.take:
        case "last":
            return float(values[-1])
        case "minimum":
            return float(min(values))
        case "maximum":
            return float(max(values))
        case "sum":
            return math.fsum(values)
        case "mean":
            return math.fsum(values) / len(values)
    return float(values[0])


# ---- from the file -----------------------------------------------------------------------------------------------


def responses_of(
    study: CheckedStudy,
    axes: Sequence[Axis],
    signals: Mapping[str, str],
    places: Sequence[str],
    traced: Sequence[str],
    faulty: set[str],
) -> Responses:
    """The responses of a study.

    signals   units of all signals that can be recorded, by name;   places   where contacts are recorded
    faulty    names of factors and responses of the file that are wrong: what follows from these is not reported
    Raises InputError with every problem found."""
    problems: list[Problem] = []
    of_signals: list[SignalResponse] = []
    of_events: list[EventResponse] = []
    expressions: list[Expression] = []
    units: dict[str, str] = {}
    known = {axis.name: axis.unit for axis in axes if axis.is_number}
    for name in _in_order_of_use(study, faulty, problems):
        response, where = study.responses[name], _where(study, name)
        try:
            found: Any
            if isinstance(response, str):
                of_signals_and_events = {n: u for n, u in units.items() if n not in faulty}
                found = _expression(name, response, where, known | of_signals_and_events, study, faulty)
                expressions.append(found)
            elif response.signal is not None:
                found = _of_signal(name, response, where, signals)
                of_signals.append(found)
            else:
                found = _event(name, response, where, places)
                of_events.append(found)
            units[name] = found.unit
        except InputError as error:
            problems += error.problems
            faulty.add(name)
    if problems:
        raise InputError([problem for problem in problems if problem.what])
    in_order = {name: units[name] for name in study.responses}
    return Responses(tuple(of_signals), tuple(of_events), tuple(expressions), tuple(in_order), in_order, tuple(traced))


def _where(study: CheckedStudy, name: str) -> str:
    return f"{study.path}: [responses] {name}"


def _used_in(body: Tree) -> set[str]:
    return {node.name for node in walk(body) if isinstance(node, Argument)} | {*names_in(body)}


def _in_order_of_use(study: CheckedStudy, faulty: set[str], problems: list[Problem]) -> list[str]:
    """The responses, each behind those that it is made of, else in the order of the file: tables of a file stand behind
    the expressions where a program has written it.  Names in a circle are a problem, and faulty."""
    uses: dict[str, list[str]] = {}
    for name, response in study.responses.items():
        body = parse_value(Source(response.strip(), _where(study, name)), []) if isinstance(response, str) else None
        used = _used_in(body) if body is not None else set()
        uses[name] = [one for one in study.responses if one in used]
    ordered: dict[str, None] = {}
    for first in study.responses:
        way = [first]
        while way:
            missing = [one for one in uses[way[-1]] if one not in ordered and one not in faulty]
            if not missing:
                ordered[way.pop()] = None
            elif missing[0] not in way:
                way.append(missing[0])
            else:
                circle = way[way.index(missing[0]) :]
                what = f"follows from itself: {' -> '.join([*circle, circle[0]])}"
                problems.append(Problem(_where(study, circle[0]), what))
                faulty.update(circle)
    return [one for one in ordered if one not in faulty]


def full_name(name: str, known: Mapping[str, Any] | Sequence[str]) -> str:
    """The name with its slave, which may be left out where there is one slave only."""
    if name in known:
        return name
    slaves = {one.partition(".")[0] for one in known}
    whole = f"{next(iter(slaves))}.{name}" if len(slaves) == 1 else name
    return whole if whole in known else name


def _of_signal(name: str, response: Response, where: str, signals: Mapping[str, str]) -> SignalResponse:
    signal = full_name(response.signal or "", signals)
    if signal not in signals:
        raise InputError(Problem(where, f"no run has the signal '{response.signal}'" + did_you_mean(signal, signals)))
    take, unit = response.take or "end", signals[signal]
    if take == "integral":
        unit = _product(unit, "s")
    return SignalResponse(name, unit, signal, take)


def _product(unit: str, other: str) -> str:
    if unit in ("", "1"):
        return other
    try:
        found = parse_unit(f"{unit}.{other}")
        return str(si_name(dimension_of(found), has_angle(found)) or f"{unit}.{other}")
    except InputError:
        return f"{unit}.{other}"


def _event(name: str, response: Response, where: str, places: Sequence[str]) -> EventResponse:
    text = response.event or ""
    match = _EVENT.fullmatch(text)
    known = [*EVENT_UNITS, _COUNT]
    if match is None:
        raise InputError(Problem(where, f"'{text}' must be a place and a quantity, as floor.rebound_speed[1]"))
    place, quantity, number = match["place"], match["quantity"], int(match["number"] or 0)
    if quantity not in known:
        raise InputError(Problem(where, f"{none_of(quantity, known)}"))
    if place not in places:
        whole = [one for one in places if one.partition(".")[2] == place]
        if len(whole) != 1:
            where_from = did_you_mean(place, places) if places else ": no slave of it records contacts"
            raise InputError(Problem(where, f"no run has contacts at '{place}'{where_from}"))
        place = whole[0]
    if quantity == _COUNT:
        if number or response.take:
            raise InputError(Problem(where, f"'{text}' counts all contacts: write {place}.{_COUNT} without take"))
        return EventResponse(name, "1", place, quantity, 0, "first")
    if bool(number) == bool(response.take):
        takes = ", ".join(EVENT_TAKES)
        what = f"'{text}': give the number of a contact, {quantity}[1], or for all of them take = one of {takes}"
        raise InputError(Problem(where, what))
    return EventResponse(name, EVENT_UNITS[quantity], place, quantity, number, response.take or "first")


def _expression(
    name: str, text: str, where: str, known: Mapping[str, str], study: CheckedStudy, faulty: set[str]
) -> Expression:
    problems: list[Problem] = []
    source = Source(text.strip(), where)
    body = parse_value(source, problems)
    if body is None:
        raise InputError(problems)
    body = with_pi(body, {*known, *study.responses, *faulty})
    units = {one: unit_of_signal(unit) for one, unit in known.items() if re.fullmatch(r"[A-Za-z_]\w*", one)}
    if _used_in(body) & faulty:
        raise InputError(Problem(where, ""))  # what is wrong with these is enough
    checker = Checker(source, {}, {}, problems, bare=True)
    dimension: Dimension | None = None
    if not problems:
        dimension = checker.check(body, {one: dimension_of(unit) for one, unit in units.items()})
    if problems:
        raise InputError(problems)
    body = with_arguments(body, units.keys())
    names = tuple(sorted({node.name for node in walk(body) if isinstance(node, Argument)}))
    if not names:
        raise InputError(Problem(where, f"'{text}' is the same in every run: name responses or factors in it"))
    written = [node.unit for node in walk(body) if isinstance(node, Number) and node.unit is not None]
    angle = any(map(has_angle, [*written, *(units[one] for one in names)]))
    unit_name = si_name(dimension, angle) if dimension is not None else "1"
    law = LawFunction(name, tuple((one, units[one]) for one in names), body, dimension)
    return Expression(name, unit_name or "", law, names)
