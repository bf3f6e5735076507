"""Contact events: begin, end and quantities of each contact.

For the contacts i = 1, 2, ... of a place X, a slave such as `floor`, a part of one (`ball.floor`), or one of its points
or profiles (`floor.point[2]`, `chain.contact[1]`):
    X.touch[i]          s    touch-down
    X.release[i]        s
    X.duration[i]       s    release - touch
    X.impact_speed[i]   m/s  closing speed along the normal at touch-down
    X.rebound_speed[i]  m/s  opening speed at release
    X.restitution[i]    1    rebound_speed/impact_speed
    X.peak_force[i]     N    largest normal force
    X.impulse[i]        N.s  of the normal force
    X.impact_impulse[i] N.s  of the impact of rigid bodies with which it began
    X.contact_count     1    contacts begun since the start
What is not known is absent: the touch of a contact that is closed at the start, the release of one that is closed at
the end, what follows from them, and what the FMU does not show.  Force and impulse of a contact that is still closed
are those so far.

An FMU that locates its contacts itself shows them (contact_record.py).  Of any other, the events follow from its
variables at the communication points (SampledContact).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from fmu_builder.errors import InputError, Problem

_ENERGY_GAIN = 1.05  # restitution; less may be gravity between the samples before and after a contact
EVENT_UNITS = {
    "touch": "s",
    "release": "s",
    "duration": "s",
    "impact_speed": "m/s",
    "rebound_speed": "m/s",
    "restitution": "1",
    "peak_force": "N",
    "impulse": "N.s",
    "impact_impulse": "N.s",
}
_UNITS = {**EVENT_UNITS, "contact_count": "1"}
_EVENT = re.compile(r"(?:.*\.)?(\w+?)(?:\[\d+\])?", re.DOTALL)


@dataclass(frozen=True)
class ContactEvent:
    """One contact.  All numbers SI, None where they are not known.

    place     what touches: "floor", "floor.point[2]"
    number    of the contact at this place, from 1
    sampled   s, interval of the samples that the event was read off; None if the FMU located it
    """

    place: str
    number: int
    touch: float | None = None
    release: float | None = None
    impact_speed: float | None = None
    rebound_speed: float | None = None
    peak_force: float | None = None
    impulse: float | None = None
    impact_impulse: float | None = None
    closed_at_start: bool = False
    closed_at_end: bool = False
    sampled: float | None = None

    @property
    def duration(self) -> float | None:
        return None if self.touch is None or self.release is None else self.release - self.touch

    @property
    def restitution(self) -> float | None:
        """Of a contact that ends as the bodies part; one that is switched off on the way in has none."""
        impact, rebound = self.impact_speed, self.rebound_speed
        return rebound / impact if impact and rebound is not None and impact > 0.0 and rebound >= 0.0 else None

    def values(self) -> dict[str, float]:
        """What is known, by quantity, in the order of EVENT_UNITS."""
        found = {quantity: getattr(self, quantity) for quantity in EVENT_UNITS}
        return {quantity: value for quantity, value in found.items() if value is not None}


def event_values(contacts: Iterable[ContactEvent], counts: Mapping[str, float]) -> dict[str, float]:
    """All that is known, by name as above; `counts`: the contacts begun at each place."""
    values = {
        f"{contact.place}.{quantity}[{contact.number}]": value
        for contact in contacts
        for quantity, value in contact.values().items()
    }
    return values | {f"{place}.contact_count": count for place, count in counts.items()}


def energy_gaining_contacts(contacts: Iterable[ContactEvent], slaves: Collection[str]) -> Iterator[str]:
    """A note for each place on these slaves where a contact ends faster than it began, so gains energy."""
    worst: dict[str, ContactEvent] = {}
    for contact in contacts:
        known = worst.get(contact.place)
        if contact.restitution is not None and (known is None or contact.restitution > (known.restitution or 0.0)):
            worst[contact.place] = contact
    for place, contact in worst.items():
        if (contact.restitution or 0.0) > _ENERGY_GAIN and place.partition(".")[0] in slaves:
            yield (
                f"{place}: contact {contact.number} ends {contact.restitution:.3g} times as fast as it began: unless "
                "its surface moves, the force held over the communication step added energy; take smaller steps, or "
                "coupling.mode = auto, which a recipe without [structure] coupling = false has"
            )


def event_units(name: str) -> str:
    """Unit of the contact event `name`, as "s" for "floor.touch[1]"; "" for any other name."""
    match = _EVENT.fullmatch(name)
    return _UNITS.get(match[1], "") if match else ""


# ---- events from samples -----------------------------------------------------------------------------------------

SAMPLED = ("in_contact", "depth", "depth_rate", "normal_force", "impulse", "contact_count")


@dataclass(frozen=True)
class _Sample:
    time: float
    values: Mapping[str, float]

    def __getitem__(self, quantity: str) -> float | None:
        return self.values.get(quantity)


class SampledContact:
    """The contacts of one place, from samples of the variables SAMPLED, of which only in_contact is indispensable:

    in_contact     0 or 1
    depth          m      > 0 in contact, else 0
    depth_rate     m/s    closing speed along the normal, > 0 approaching, also out of contact
    normal_force   N
    impulse        N.s    accumulated since the start
    contact_count  1      contacts begun since the start

    Touch-down is at t - depth/depth_rate at the first sample in contact, within the interval before it, release at
    t + depth/|depth_rate| at the last one, within the interval after it.  Speeds are those of the samples next to the
    contact, the impulse is what was gained between them, the peak force the largest sample.
    Limits: a contact shorter than the interval may be missed, two close contacts may be taken for one."""

    def __init__(self, place: str, interval: float) -> None:
        self.place = place
        self.found: list[ContactEvent] = []
        self._interval = interval
        self._before: _Sample | None = None  # the sample before the first of the contact; None at the start
        self._contact: tuple[_Sample, _Sample] | None = None  # its first and last sample
        self._latest: _Sample | None = None
        self._peak: float | None = None

    def sample(self, time: float, values: Mapping[str, float]) -> None:
        """The next sample.  Raises InputError if in_contact is neither 0 nor 1."""
        flag, now = values["in_contact"], _Sample(time, values)
        if flag not in (0.0, 1.0):
            raise InputError(Problem(f"{self.place}.in_contact", f"{flag!r} at time {time!r} s; must be 0 or 1"))
        if flag:
            if self._contact is None:
                self._before, self._peak = self._latest, values.get("normal_force")
            self._contact = (self._contact[0] if self._contact else now, now)
            if self._peak is not None:
                self._peak = max(self._peak, values["normal_force"])
        elif self._contact is not None:
            self.found.append(self._event(*self._contact, now))
            self._contact = None
        self._latest = now

    def finished(self) -> list[ContactEvent]:
        """All contacts up to the last sample."""
        return [*self.found, *([self._event(*self._contact, None)] if self._contact else [])]

    def count(self) -> float:
        counted = self._latest["contact_count"] if self._latest else None
        return float(len(self.finished())) if counted is None else counted

    def _event(self, first: _Sample, last: _Sample, after: _Sample | None) -> ContactEvent:
        before, end = self._before, after or last
        begun, ended = (before["impulse"] if before else None), end["impulse"]
        approach, away = (before["depth_rate"] if before else None), (after["depth_rate"] if after else None)
        return ContactEvent(
            place=self.place,
            number=len(self.found) + 1,
            touch=_surface_crossing(first, before) if before else None,
            release=_surface_crossing(last, after) if after else None,
            impact_speed=approach if approach is not None and approach > 0.0 else None,
            rebound_speed=None if away is None else 0.0 - away,
            peak_force=self._peak,
            impulse=None if begun is None or ended is None else ended - begun,
            closed_at_start=before is None,
            closed_at_end=after is None,
            sampled=self._interval,
        )


def _surface_crossing(inside: _Sample, outside: _Sample) -> float | None:
    """When the depth was zero between the sample in contact and its neighbour out of contact, in s, or None.

    Extrapolates the depth from the sample in contact at its rate.  If that gives no zero in the interval, because the
    motion has reversed in it, the rate of the neighbour is used; if that gives none either, contact did not begin or
    end through the surface (but over an edge, or by a switch), and its time is unknown."""
    depth = inside["depth"]
    if depth is None or inside["depth_rate"] is None:
        return None
    earliest, latest = sorted((inside.time, outside.time))
    if depth <= 0.0:
        return inside.time
    direction = 1.0 if outside.time < inside.time else -1.0  # closing before touch, opening before release
    for sample in (inside, outside):
        speed = direction * (sample["depth_rate"] or 0.0)
        if speed > 0.0:
            return min(max(inside.time - direction * depth / speed, earliest), latest)
    return None
