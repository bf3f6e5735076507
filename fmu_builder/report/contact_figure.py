"""Contacts in the report: beside the signals, force over depth, and speed around them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fmu_builder.cosim.comparison import Comparison
from fmu_builder.cosim.events import event_units
from fmu_builder.cosim.trace import Trace
from fmu_builder.report.figure_sheet import (
    COLOURS,
    LINE,
    TEXT,
    Figure,
    Panel,
    Sheet,
    Window,
    axis_title,
    curve_style,
    extreme_samples,
    scale_of,
    thinned,
    time_axis,
    value_axis,
    within_window,
)

_SHORT = 0.25  # of the run: contacts that take less are drawn larger beside it
_NUMBERED_EVENT = re.compile(r"(.*)\.(\w+)\[(\d+)\]", re.DOTALL)


@dataclass(frozen=True)
class Contact:
    """A contact of the trace: the slave, its number, and its times in s, None if they are unknown."""

    slave: str
    number: int
    touch: float | None
    release: float | None


def find_contacts(trace: Trace) -> list[Contact]:
    times: dict[tuple[str, int], dict[str, float]] = {}
    for name, value in trace.events.items():
        match = _NUMBERED_EVENT.fullmatch(name)
        if match and event_units(name):
            times.setdefault((match[1], int(match[3])), {})[match[2]] = value
    return [Contact(*key, found.get("touch"), found.get("release")) for key, found in sorted(times.items())]


def _begin_and_end(contact: Contact, trace: Trace) -> Window:
    """When the contact begins and ends, or the trace does."""
    begin = float(trace.time[0]) if contact.touch is None else contact.touch
    return begin, float(trace.time[-1]) if contact.release is None else contact.release


def contact_window(contacts: Sequence[Contact], run: Window) -> tuple[str, Window] | None:
    """Heading and window of the first contact, if it is a small part of the run."""
    for contact in contacts:
        if contact.touch is not None and contact.release is not None:
            margin = 0.25 * (contact.release - contact.touch)
            if 0.0 < 6.0 * margin < _SHORT * (run[1] - run[0]):
                window = (max(run[0], contact.touch - margin), min(run[1], contact.release + margin))
                return f"around contact {contact.number} of {contact.slave}", window
            return None
    return None


def draw_contacts(sheet: Sheet, panel: Panel, contacts: Sequence[Contact], window: Window) -> None:
    """Thin lines where contacts begin and end, named above where there is room."""
    factor = scale_of(max(map(abs, window)), "s").factor
    room = 0.12 * (window[1] - window[0]) * len(sheet.widths)
    named_to = -math.inf
    for contact in contacts:
        times = [t for t in (contact.touch, contact.release) if t is not None and window[0] <= t <= window[1]]
        for t in times:
            sheet.upright(panel, t / factor)
        if len(times) == 2:
            sheet.band(panel, times[0] / factor, times[1] / factor)
        if times and sum(times) / len(times) - named_to >= room:
            named_to = sum(times) / len(times)
            place: Figure = {"x": named_to / factor, "xref": panel.x, "y": 1.0, "yref": "paper", "yanchor": "bottom"}
            what = "contact" if len(times) == 2 else "touch" if times == [contact.touch] else "release"
            sheet.label(f"{what} {contact.number}", **place)


def contact_figure(comparison: Comparison, trace: Trace, points: int) -> Figure:
    """Per slave with compared events: normal force over depth, and the closing speed over time, with the events of the
    reference."""
    references = {e.name: e.reference for e in comparison.events if e.reference is not None}
    slaves = [
        slave
        for slave in dict.fromkeys(e.name.rpartition(".")[0] for e in comparison.events)
        if all(f"{slave}.{n}" in trace for n in ("depth", "depth_rate", "normal_force"))
        and any(c.slave == slave for c in find_contacts(trace))
    ]
    if not slaves:
        return {}
    sheet = Sheet([320] * len(slaves), [0.44, 0.56], gap=96)
    for row, slave in enumerate(slaves):
        contacts = [c for c in find_contacts(trace) if c.slave == slave]
        drawn = _Contacts(sheet, row, slave, contacts, references, trace, points)
        drawn.draw_loops()
        drawn.draw_closing_speed()
        prefix = f"{slave}."
        if len(slaves) > 1:
            sheet.legend_entry(sheet.panels[-1], slave, row, mode="none")
        for name, value in references.items():
            if name.startswith(f"{prefix}impulse["):
                text = f"reference {name.removeprefix(prefix)} {scale_of(value, 'N.s').text(value, 4)}"
                sheet.legend_entry(sheet.panels[-1], text, row, mode="none")
    return sheet.figure()


@dataclass(frozen=True)
class _Contacts:
    """The contacts of one slave, in a row of the sheet.   references: of events, by name"""

    sheet: Sheet
    row: int
    slave: str
    contacts: Sequence[Contact]
    references: Mapping[str, float]
    trace: Trace
    points: int

    def draw_loops(self) -> None:
        """Normal force over depth of every contact: the area of the loop is the energy it took."""
        depth, force = self.trace[f"{self.slave}.depth"], self.trace[f"{self.slave}.normal_force"]
        deepest = float(depth.max()) or 1.0
        contacts = self.contacts[: len(COLOURS)]
        peaks = [self.references.get(f"{self.slave}.peak_force[{contact.number}]", 0.0) for contact in contacts]
        highest = max(float(force.max()), *peaks) or 1.0
        depth_scale, force_scale = scale_of(deepest, "m"), scale_of(highest, "N")
        ends = np.array([0.0, 1.06 * deepest / depth_scale.factor])
        x_axis: Figure = {"title": axis_title(depth_scale.title("depth")), "range": ends.tolist()}
        y_axis: Figure = {"title": axis_title(force_scale.title("normal force"))}
        y_axis["range"] = [0.0, 1.06 * highest / force_scale.factor]
        panel = self.sheet.panel(0, (self.row, self.row), x_axis, y_axis)
        for k, (contact, peak) in enumerate(zip(contacts, peaks, strict=True)):
            begin, end = _begin_and_end(contact, self.trace)
            first = max(int(np.searchsorted(self.trace.time, begin)) - 1, 0)
            last = int(np.searchsorted(self.trace.time, end)) + 1
            d, f = depth[first:last], force[first:last]
            chosen = np.union1d(extreme_samples(d, self.points // 2), extreme_samples(f, self.points // 2))
            colour, dash = curve_style(k)
            line = {"width": 1.8, "color": colour, "dash": dash}
            name = f"contact {contact.number}"
            x, y = d[chosen] / depth_scale.factor, f[chosen] / force_scale.factor
            self.sheet.curve(panel, x, y, name, legend=self.row, line=line)
            if peak:
                text = f"reference peak_force[{contact.number}] {force_scale.text(peak, 4)}"
                dashed = {"width": 1, "dash": "dash", "color": COLOURS[k]}
                self.sheet.curve(panel, ends, np.full(2, peak / force_scale.factor), text, legend=self.row, line=dashed)

    def draw_closing_speed(self) -> None:
        """Depth rate around the contacts, and marks where the reference touches and rebounds."""
        rate = self.trace[f"{self.slave}.depth_rate"]
        begin = min(_begin_and_end(contact, self.trace)[0] for contact in self.contacts)
        end = max(_begin_and_end(contact, self.trace)[1] for contact in self.contacts)
        margin = 0.15 * (end - begin)
        window = (max(float(self.trace.time[0]), begin - margin), min(float(self.trace.time[-1]), end + margin))
        time, values = within_window(self.trace.time, rate, window)
        width, scale, y = value_axis([values], 0.0, "m/s")
        time_scale, x = time_axis(window, None, labelled=True)
        y |= {"title": axis_title(scale.title("depth rate"))}
        panel = self.sheet.panel(1, (self.row, self.row), x, y)
        t, v = thinned(time, values, self.points, width)
        line = {"width": 1.6, "color": TEXT}
        self.sheet.curve(panel, t / time_scale.factor, v / scale.factor, "depth rate", line=line)
        self.sheet.level(panel, 0.0, color=LINE, dash="solid")
        if len(self.sheet.heights) == 1:  # the lines run through all rows
            draw_contacts(self.sheet, panel, self.contacts, window)
        for k, contact in enumerate(self.contacts):
            for name, at, height, symbol, size in self._reference_marks(contact):
                marker = {"symbol": symbol, "size": size, "color": COLOURS[k % len(COLOURS)], "line": {"width": 2}}
                place = np.array([at / time_scale.factor]), np.array([height / scale.factor])
                self.sheet.curve(panel, *place, name, legend=self.row, mode="markers", marker=marker)

    def _reference_marks(self, contact: Contact) -> Iterator[tuple[str, float, float, str, int]]:
        """Name, time in s, depth rate in m/s, symbol and size of touch and release by the reference, or where it has
        none by the trace."""
        rate = self.trace[f"{contact.slave}.depth_rate"]
        begin, end = _begin_and_end(contact, self.trace)
        approach = float(rate[max(int(np.searchsorted(self.trace.time, begin, side="right")) - 1, 0)])
        rebound = float(np.interp(end, self.trace.time, rate))

        def expected(quantity: str) -> tuple[str, float] | None:
            name = f"{quantity}[{contact.number}]"
            value = self.references.get(f"{contact.slave}.{name}")
            if value is None:
                return None
            return f"reference {name} {scale_of(value, event_units(name)).text(value, 5)}", value

        if touch := expected("touch"):
            begin = touch[1]
            yield touch[0], begin, approach, "circle-open", 11
        release, duration, restitution = expected("release"), expected("duration"), expected("restitution")
        if duration:
            end = begin + duration[1]
        if release:
            end = release[1]
        if restitution:
            rebound = -restitution[1] * approach
            yield restitution[0], end, rebound, "diamond-open", 11
        for text in (release, duration):
            if text:
                yield text[0], end, rebound, "square-open", 16  # the diamond may lie in it
