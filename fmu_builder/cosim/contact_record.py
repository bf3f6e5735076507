"""The contacts of a co-simulation, collected at its communication points.

An FMU of fmu-builder records each contact itself: release_count and contact_count show that one ended or began, and
only then are last_contact.* and present_contact.* read.  Where several ended within one communication step,
contact_record.back selects which of them the FMU shows.  Of any other FMU with a variable in_contact the events are
those of its samples (events.py).

A contact that inputs begin or end is located before the step that takes them: the FMU treats them as inputs of the
beginning of that step.  Under Gauss-Seidel the values of a slave that was stepped before are those of its end, so that
such a time is one step later on the clock of the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.events import SAMPLED, ContactEvent, SampledContact
from fmu_builder.cosim.link import Link, memory_of
from fmu_builder.cosim.loop.operations import Access, Clock, Operation, Watch
from fmu_builder.cosim.loop.program import BLOCK, Block
from fmu_builder.cosim.slave import DISCARD, Slave
from fmu_builder.model.connectable import FAMILY, SlaveVariable
from fmu_builder.model.model import BACK

_PLACE = re.compile(r"((?:.*\.)?)(release_count|in_contact)(\[\d+\])?", re.DOTALL)
_RECORD = re.compile(r"(?:.*\.)?(?:last|present)_contact(?:\[\d+\])?\.\w+", re.DOTALL)
_COUNTS = ("release_count", "contact_count")
_LAST = {
    "release": "last_contact{}.end",
    "rebound_speed": "last_contact{}.rebound_speed",
    "peak_force": "last_contact{}.peak_force",
    "impulse": "last_contact{}.impulse",
}
_LAST_TOUCH = {
    "touch": "last_contact{}.start",
    "impact_speed": "last_contact{}.impact_speed",
    "impact_impulse": "last_contact{}.impact_impulse",
}
_LAST_ALL = _LAST_TOUCH | _LAST
_PRESENT_TOUCH = {quantity: name.replace("last", "present", 1) for quantity, name in _LAST_TOUCH.items()}
_NEEDED = (*_COUNTS, "last_contact{}.start", "last_contact{}.end", "present_contact{}.start")
_PRESENT = {"peak_force": "present_contact{}.peak_force", "impulse": "present_contact{}.impulse"}
_IMPULSES = {"whole": "impulse{}", "before": "present_contact{}.impulse_before"}
_SAME_TIME = 1e-9  # of a step: rounding of a clock


class ContactRecord:
    """All contacts of all slaves.   ticks: in a step of each slave; ahead: how many ticks later than the beginning of
    its step its inputs are"""

    def __init__(
        self, slaves: Mapping[str, Slave], clock: Clock, ticks: Mapping[str, int], ahead: Mapping[str, int]
    ) -> None:
        counted = [
            _Counted(slave, clock, ticks[name], ahead.get(name, 0) * clock.step) for name, slave in slaves.items()
        ]
        sampled = [_Sampled(slave, clock, ticks[name]) for name, slave in slaves.items()]
        self._counted = [one for one in counted if one.places]
        self._sampled = [one for one in sampled if one.places]

    def start(self, time: float) -> None:
        """After initialization; contacts of a run before are forgotten."""
        for counted in self._counted:
            counted.start(time)
        for sampled in self._sampled:
            sampled.start(time)

    def operations(self) -> Iterator[Operation]:
        """At the end of a tick."""
        for counted in self._counted:
            yield counted.watch()
        for sampled in self._sampled:
            yield from sampled.operations()

    def blocks(self) -> Iterator[Block]:
        for sampled in self._sampled:
            yield sampled.block()

    @property
    def places(self) -> tuple[str, ...]:
        """Where contacts are recorded."""
        return tuple(place.name for one in self._counted for place in one.places) + tuple(
            place.place for one in self._sampled for place in one.places
        )

    def finished(self) -> tuple[list[ContactEvent], dict[str, float]]:
        """All contacts, those still closed with what is known so far, and the number begun at each place."""
        groups: list[_Counted | _Sampled] = [*self._counted, *self._sampled]
        contacts = [event for group in groups for event in group.finished()]
        return contacts, {place: count for group in groups for place, count in group.counts()}

    def notes(self) -> Iterator[str]:
        for counted in self._counted:
            yield from counted.notes()


def is_recorded_contact(name: str) -> bool:
    """Whether the variable `name` of a slave belongs to its record of one contact, so is no signal."""
    return _RECORD.fullmatch(name) is not None


_Known = dict[str, Any]  # of a contact: arguments of its ContactEvent, which takes longer to make


@dataclass
class _CountedPlace:
    """Where a slave counts its contacts: each is the one that ended as number `ended`, or the present one."""

    name: str
    index: str  # [i] of a point among several, else empty
    part: str
    begun: int = 0
    ended: int = 0
    missed: int = 0  # of these not shown by the FMU, as too many ended in one communication step
    present: _Known | None = None
    found: list[_Known] = field(default_factory=list)


class _Counted:
    """The contacts that a slave records itself."""

    def __init__(self, slave: Slave, clock: Clock, ticks: int, ahead: float) -> None:
        self._slave, self._clock, self._ticks, self._ahead = slave, clock, ticks, ahead
        self.places = [
            _CountedPlace(name, index, part)
            for part, index, name in _places(slave, "release_count")
            if self._is_recorded(part, index)
        ]
        self._back = slave.description.variables.get(BACK)
        self._links: dict[tuple[str, int], tuple[Link | None, list[str], dict[str, float | None]]] = {}
        if self.places:
            counts = [self._variable(place, f"{count}{{}}") for count in _COUNTS for place in self.places]
            self._memory: NDArray[np.int32] = np.zeros(len(counts), dtype=np.int32)
            self._link = Link(slave, "Get", counts, self._memory)
            self._seen = self._memory.copy()

    def _is_recorded(self, part: str, index: str) -> bool:
        variables = self._slave.description.variables
        found = [variables.get(part + (name.format(index) if "{}" in name else name + index)) for name in _NEEDED]
        counts = [v for v in found[: len(_COUNTS)] if v is not None and FAMILY[v.type] == "Integer"]
        return None not in found and len(counts) == len(_COUNTS)

    def _variable(self, place: _CountedPlace, name: str) -> SlaveVariable:
        return self._slave.description.variables[place.part + name.format(place.index)]

    def _value(self, place: _CountedPlace, name: str) -> float | None:
        variable = self._slave.description.variables.get(place.part + name.format(place.index))
        return None if variable is None else self._slave.get(variable)

    def _values(self, place: _CountedPlace, names: Mapping[str, str]) -> dict[str, float | None]:
        """By quantity.  Reals are read in one call, which takes a tenth of the time of one call for each.

        names   one of the tables above"""
        key = place.name, id(names)
        if key not in self._links:
            variables = self._slave.description.variables
            known = {q: v for q, n in names.items() if (v := variables.get(place.part + n.format(place.index)))}
            memory = memory_of("Real", len(known))
            are_reals = known and all(v.type == "Real" for v in known.values())
            link = Link(self._slave, "Get", [*known.values()], memory) if are_reals else None
            self._links[key] = link, [*known], dict.fromkeys(names)
        link, quantities, nothing = self._links[key]
        if link is None:
            return {quantity: self._value(place, name) for quantity, name in names.items()}
        if status := link.call():
            link.check(status, self._clock.start)
        return nothing | dict(zip(quantities, link.memory.tolist(), strict=True))

    def start(self, time: float) -> None:
        self._link.check(self._link.call(), time)
        self._seen[:] = self._memory
        for k, place in enumerate(self.places):
            place.ended, place.begun = int(self._memory[k]), int(self._memory[len(self.places) + k])
            place.missed, place.present = 0, None
            place.found.clear()
            if place.begun > place.ended:
                place.present = {"number": place.begun, "closed_at_start": True}

    def watch(self) -> Watch:
        return Watch(
            clock=self._clock,
            every=self._ticks,
            phase=self._ticks - 1,
            link=self._link,
            seen=self._seen,
            changed=self._changed,
        )

    def _changed(self, tick: int) -> None:
        """A contact began or ended in this tick."""
        latest = self._clock.at(tick - self._ticks + 1) + _SAME_TIME * self._ticks * self._clock.step
        counts = self._memory.tolist()
        for place, ended, begun in zip(self.places, counts, counts[len(self.places) :], strict=False):
            if ended != place.ended or begun != place.begun:
                self._update(place, ended, begun, latest)

    def _on_clock(self, values: _Known, latest: float) -> _Known:
        """Times of the run: those up to `latest` are one step later than the slave sees them, where it is ahead."""
        for quantity in ("touch", "release") if self._ahead else ():
            time = values.get(quantity)
            if time is not None and time <= latest:
                values[quantity] = time + self._ahead
        return values

    def _update(self, place: _CountedPlace, ended: int, begun: int, latest: float) -> None:
        for number in range(place.ended + 1, ended + 1):
            known = place.present if place.present is not None and place.present["number"] == number else None
            values = self._shown(place, ended - number)
            if number < ended and not values.get("release") and not values.get("touch"):
                place.missed += 1  # the FMU keeps no more
                values = {}
            elif known is not None:  # it began before, on the clock of that step
                values = {quantity: values[quantity] for quantity in _LAST if quantity in values}
            if values or known is not None:
                place.found.append({"number": number} | (known or {}) | self._on_clock(values, latest))
        if ended > place.ended:
            place.present = None
        if begun > ended and place.present is None:
            place.present = {"number": begun} | self._on_clock(self._values(place, _PRESENT_TOUCH), latest)
        place.ended, place.begun = ended, begun

    def _shown(self, place: _CountedPlace, back: int) -> _Known:
        """What last_contact.* shows of the contact that is `back` before the last one; empty where it cannot."""
        if back == 0:
            return self._values(place, _LAST_ALL)
        if self._back is None or back > (self._back.max or 0.0):
            return {}
        self._slave.set(self._back, float(back))
        try:
            return self._values(place, _LAST_ALL)
        finally:
            self._slave.set(self._back, 0.0)

    def _so_far(self, place: _CountedPlace) -> _Known:
        known = self._values(place, _PRESENT)
        if known["impulse"] is None:
            impulses = self._values(place, _IMPULSES)
            whole, before = impulses["whole"], impulses["before"]
            known["impulse"] = None if whole is None or before is None else whole - before
        return known

    def finished(self) -> Iterator[ContactEvent]:
        for place in self.places:
            for found in place.found:
                yield ContactEvent(place.name, **found)
            if place.present is not None:
                known = {} if self._slave.status == DISCARD else self._so_far(place)
                last = ContactEvent(place.name, **(place.present | known), closed_at_end=True)
                if not (last.closed_at_start and not last.values()):  # lasts for the whole run, all unknown
                    yield last

    def counts(self) -> Iterator[tuple[str, float]]:
        for place in self.places:
            yield place.name, float(place.begun)

    def notes(self) -> Iterator[str]:
        for place in self.places:
            if place.missed:
                yield (
                    f"{place.name}: {place.missed} of {place.ended} contacts ended together with too many later ones "
                    "in a communication step, and the FMU keeps no record of them; smaller steps show them all"
                )


class _Sampled:
    """The contacts of a slave that does not record them, as its variables show them at communication points."""

    def __init__(self, slave: Slave, clock: Clock, ticks: int) -> None:
        counted = {place.name for place in _Counted(slave, clock, ticks, 0.0).places}
        self._slave, self._clock, self._ticks = slave, clock, ticks
        self.places: list[SampledContact] = []
        self._targets: list[tuple[int, str]] = []
        wanted: list[SlaveVariable] = []
        for part, index, name in _places(slave, "in_contact"):
            if name in counted:
                continue
            for quantity in SAMPLED:
                variable = slave.description.variables.get(part + quantity + index)
                if variable is not None and variable.type != "String":
                    self._targets.append((len(self.places), quantity))
                    wanted.append(variable)
            self.places.append(SampledContact(name, ticks * clock.step))
        self._links: list[tuple[Link, NDArray[np.float64] | NDArray[np.int32], list[int]]] = []
        for family in ("Real", "Integer", "Boolean"):
            chosen = [k for k, v in enumerate(wanted) if FAMILY[v.type] == family]
            if chosen:
                memory = memory_of(family, BLOCK * len(chosen)).reshape(BLOCK, len(chosen))
                self._links.append((Link(slave, "Get", [wanted[k] for k in chosen], memory), memory, chosen))

    def start(self, time: float) -> None:
        self.places = [SampledContact(known.place, self._ticks * self._clock.step) for known in self.places]
        for link, _, _ in self._links:
            link.check(link.call(), time)
        self._sample(time, 0)

    def operations(self) -> Iterator[Access]:
        for link, memory, _ in self._links:
            yield Access.after_each(self._clock, self._ticks, link, memory, first=0)

    def block(self) -> Block:
        return Block(every=self._ticks, phase=self._ticks - 1, drain=self._drain)

    def _drain(self, first: int, count: int) -> None:
        for step in range(first, first + count):
            self._sample(self._clock.at((step + 1) * self._ticks - 1) + self._clock.step, step % BLOCK)

    def _sample(self, time: float, row: int) -> None:
        values: list[dict[str, float]] = [{} for _ in self.places]
        for _, memory, chosen in self._links:
            for k, value in zip(chosen, memory[row].tolist(), strict=True):
                place, quantity = self._targets[k]
                values[place][quantity] = float(value)
        for contact, sample in zip(self.places, values, strict=True):
            contact.sample(time, sample)

    def finished(self) -> Iterator[ContactEvent]:
        for contact in self.places:
            yield from contact.finished()

    def counts(self) -> Iterator[tuple[str, float]]:
        for contact in self.places:
            yield contact.place, contact.count()


def _places(slave: Slave, variable: str) -> Iterator[tuple[str, str, str]]:
    """Part of the name in front, index of the point, and name of the place, for each variable of this name."""
    for name in slave.description.variables:
        match = _PLACE.fullmatch(name)
        if match and match[2] == variable:
            part, index = match[1], match[3] or ""
            inside = f".{part.removesuffix('.')}" if part else ""
            several = "point" if f"{part}in_contact{index}" in slave.description.variables else "contact"
            yield part, index, slave.name + inside + (f".{several}{index}" if index else "")
