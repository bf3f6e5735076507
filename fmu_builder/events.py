"""Contact events read off a trace: when each contact began and ended, and what it did.

A slave X is a contact if the trace has X.in_contact (0 or 1).  Its other columns are optional:
    X.depth          m      > 0 in contact, else 0
    X.depth_rate     m/s    closing speed along the normal, > 0 approaching, also out of contact
    X.impulse        N.s    accumulated since the start
    X.normal_force   N
    X.contact_count  1      contacts since the start
For its contacts i = 1, 2, ... in the order of the trace:
    X.touch[i]        s    t - depth/depth_rate at the first sample in contact, within the interval before it
    X.release[i]      s    t + depth/|depth_rate| at the last sample in contact, within the interval after it
    X.duration[i]     s    release - touch
    X.impulse[i]      N.s  gained between the last sample before touch and the first sample after release
    X.peak_force[i]   N    largest normal_force of the samples in contact
    X.restitution[i]  1    -(depth_rate at the first sample after release)/(depth_rate at the last sample before touch)
    X.contact_count   1    last sample of the column X.contact_count, which also counts contacts between two samples;
                           without the column the number of contacts seen
What cannot be told is absent: the touch of a contact that is there at the first sample, the release of one that lasts
beyond the last sample, what follows from them, and whatever lacks its columns.
Limits: a contact shorter than the sample interval may be missed, two close contacts may be seen as one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmu_builder.errors import InputError, Problem
from fmu_builder.trace import Trace

_FLAG = ".in_contact"
_LIVELY = 1.05  # restitution; less may be gravity between the samples before and after a contact
_UNITS = {
    "touch": "s",
    "release": "s",
    "duration": "s",
    "impulse": "N.s",
    "peak_force": "N",
    "restitution": "1",
    "contact_count": "1",
}
_EVENT = re.compile(r"(?:.*\.)?(\w+?)(?:\[\d+\])?", re.DOTALL)


def contact_events(trace: Trace) -> dict[str, float]:
    """All contact events of the trace, by name; none are NaN.

    Raises InputError naming every X.in_contact which is not 0 or 1 throughout.
    """
    prefixes = [name.removesuffix(_FLAG) for name in trace.names if name.endswith(_FLAG)]
    problems = []
    for prefix in prefixes:
        flag = trace[prefix + _FLAG]
        wrong = np.flatnonzero((flag != 0.0) & (flag != 1.0))
        if wrong.size:
            found = f"{float(flag[wrong[0]])!r} at time {float(trace.time[wrong[0]])!r} s"
            problems.append(Problem(f"trace, signal '{prefix}{_FLAG}'", f"{found}; must be 0 or 1"))
    if problems:
        raise InputError(problems)
    events: dict[str, float] = {}
    for prefix in prefixes:
        contacts = _contacts(trace[prefix + _FLAG])
        signals = _signals(trace, prefix)
        for number, (first, last) in enumerate(contacts, 1):
            found_events = _events_of_contact(signals, first, last)
            events |= {f"{prefix}.{quantity}[{number}]": value for quantity, value in found_events.items()}
        count = f"{prefix}.contact_count"
        events[count] = float(trace[count][-1]) if count in trace else float(len(contacts))
    return events


def lively_contacts(events: Mapping[str, float], slaves: Collection[str]) -> Iterator[str]:
    """A note for each of these slaves of which a contact ends faster than it began."""
    for slave in slaves:
        numbered = re.compile(rf"{re.escape(slave)}\.restitution\[(\d+)\]")
        found = {match[1]: value for name, value in events.items() if (match := numbered.fullmatch(name))}
        number = max(found, key=lambda one: found[one], default="")
        if number and found[number] > _LIVELY:
            yield (
                f"{slave}: contact {number} ends {found[number]:.3g} times as fast as it began: unless its surface "
                "moves, that is energy from a force held over the communication step; take smaller steps, or a recipe "
                "with [structure] coupling = true and coupling.mode = auto"
            )


def event_units(name: str) -> str:
    """Unit of the contact event `name`, as "s" for "floor.touch[1]"; "" if it is not one of ours."""
    match = _EVENT.fullmatch(name)
    return _UNITS.get(match[1], "") if match else ""


@dataclass(frozen=True)
class _Signals:
    """Columns of one contact, each shape (n,); None where the trace has none."""

    time: NDArray[np.float64]
    depth: NDArray[np.float64] | None
    depth_rate: NDArray[np.float64] | None
    impulse: NDArray[np.float64] | None
    normal_force: NDArray[np.float64] | None


def _signals(trace: Trace, prefix: str) -> _Signals:
    def column(name: str) -> NDArray[np.float64] | None:
        full = f"{prefix}.{name}"
        if full not in trace:
            return None
        return trace[full]

    return _Signals(trace.time, column("depth"), column("depth_rate"), column("impulse"), column("normal_force"))


def _contacts(flag: NDArray[np.float64]) -> list[tuple[int, int]]:
    """First and last sample in contact of every contact."""
    change = np.diff(flag, prepend=0.0, append=0.0)
    first = np.flatnonzero(change > 0.0)
    last = np.flatnonzero(change < 0.0) - 1
    return list(zip(first.tolist(), last.tolist(), strict=True))


def _events_of_contact(signals: _Signals, first: int, last: int) -> dict[str, float]:
    """What can be told of the contact of the samples first..last."""
    begun = first > 0
    finished = last < signals.time.size - 1
    events: dict[str, float] = {}
    touch = _surface_crossing(signals, first, first - 1) if begun else None
    release = _surface_crossing(signals, last, last + 1) if finished else None
    if touch is not None:
        events["touch"] = touch
    if release is not None:
        events["release"] = release
    if touch is not None and release is not None:
        events["duration"] = release - touch
    if begun and finished and signals.impulse is not None:
        events["impulse"] = float(signals.impulse[last + 1] - signals.impulse[first - 1])
    if signals.normal_force is not None:
        events["peak_force"] = float(signals.normal_force[first : last + 1].max())
    if begun and finished and signals.depth_rate is not None:
        approach = float(signals.depth_rate[first - 1])
        if approach > 0.0:
            events["restitution"] = (0.0 - float(signals.depth_rate[last + 1])) / approach
    return events


def _surface_crossing(signals: _Signals, inside: int, outside: int) -> float | None:
    """When the depth was zero between the sample in contact and its neighbour out of contact, in s, or None.

    Follows the depth from the sample in contact at its own rate.  If that leads the wrong way, because the contact has
    turned around within the interval, the rate of the neighbour serves; if both do, contact did not begin or end
    through the surface (but over an edge, or by a switch), and when it did cannot be told.
    """
    if signals.depth is None or signals.depth_rate is None:
        return None
    time = float(signals.time[inside])
    earliest, latest = sorted((time, float(signals.time[outside])))
    depth = float(signals.depth[inside])
    if depth <= 0.0:
        return time
    direction = 1.0 if outside < inside else -1.0  # closing before touch, opening before release
    for sample in (inside, outside):
        speed = direction * float(signals.depth_rate[sample])
        if speed > 0.0:
            return min(max(time - direction * depth / speed, earliest), latest)
    return None
