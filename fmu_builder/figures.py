"""The figures of the report: what a case compared, drawn so that an engineer sees it, as data for plotly.js."""

from __future__ import annotations

import base64
import html
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fmu_builder.compare import Comparison, SignalResult
from fmu_builder.events import event_units
from fmu_builder.trace import Trace
from fmu_builder.validate import CaseResult, Order

Values = NDArray[np.float64]
Figure = dict[str, object]
Window = tuple[float, float]  # begin and end, s

_PREFIXES = ((1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p"), (1e-15, "f"))
_PREFIXABLE = frozenset(["s", "m", "m/s", "m/s2", "N", "N.m", "N.s", "N/m", "J", "W", "Pa", "rad", "rad/s"])


@dataclass(frozen=True)
class Scale:
    """A unit to show values in: shown value = SI value / factor."""

    factor: float
    unit: str

    def text(self, value: float, digits: int = 3) -> str:
        return f"{number_text(value / self.factor, digits)} {self.unit}".rstrip()

    def title(self, quantity: str) -> str:
        return (
            f"{plain_text(quantity)} ({plain_text(self.unit)})"
            if quantity and self.unit
            else plain_text(quantity or self.unit)
        )


def scale_of(largest: float, unit: str) -> Scale:
    """The prefix with which values up to `largest` read well: 50 µm, 0.5 m, 320 N, 12 kN."""
    if unit not in _PREFIXABLE or largest == 0.0:
        return Scale(1.0, "" if unit == "1" else unit)
    for factor, prefix in _PREFIXES:
        if abs(largest) * (1.0 + 1e-12) >= (10.0 if factor > 1.0 else 0.5) * factor:
            return Scale(factor, prefix + unit)
    factor, prefix = _PREFIXES[-1]
    return Scale(factor, prefix + unit)


def number_text(value: float, digits: int) -> str:
    """At least all digits before the point; powers of ten only far from 1."""
    if value == 0.0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    if not -7 <= magnitude < 9:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}·10^{int(exponent)}"
    return np.format_float_positional(
        value, precision=max(digits, magnitude + 1), unique=False, fractional=False, trim="-"
    )


def plain_text(text: str) -> str:
    """Text as plotly shows it unchanged: plotly reads tags and entities in names and titles."""
    return html.escape(text)


# --- the page --------------------------------------------------------------------------------------------------------

_ALGORITHMS = {"gauss_seidel": "Gauss-Seidel", "jacobi": "Jacobi"}


# --- curves ----------------------------------------------------------------------------------------------------------


def _numbers(values: Values) -> Figure:
    """An array as plotly reads it in the least space: 32 bits per number are finer than any screen."""
    return {"dtype": "f4", "bdata": base64.b64encode(values.astype("<f4").tobytes()).decode("ascii")}


def _extreme_samples(values: Values, points: int) -> NDArray[np.intp]:
    """At most about `points` samples with the least and the largest value of every stretch among them."""
    if values.size <= points:
        return np.arange(values.size)
    edges = np.linspace(0, values.size, points // 2 + 1).astype(int)
    chosen = {0, values.size - 1}
    for begin, end in pairwise(edges):
        stretch = values[begin:end]
        chosen |= {int(begin + stretch.argmin()), int(begin + stretch.argmax())}
    return np.array(sorted(chosen))


def _thinned(time: Values, values: Values, points: int, span: float) -> tuple[Values, Values]:
    """The curve through at most about `points` samples, without those that straight lines through the others meet to
    within span/(20 points), which no screen can show."""
    chosen = _extreme_samples(values, points)
    tolerance = max(span, 1e-300) / (20.0 * points)
    t, v = time[chosen].tolist(), values[chosen].tolist()
    kept = [0]
    least, largest = -math.inf, math.inf  # slopes from the last kept sample that meet all samples since
    for k in range(1, len(t)):
        width = t[k] - t[kept[-1]]
        if width <= 0.0 or not least <= (v[k] - v[kept[-1]]) / width <= largest:
            if kept[-1] != k - 1:
                kept.append(k - 1)
            least, largest = -math.inf, math.inf
            width = t[k] - t[kept[-1]]
        if width <= 0.0:  # a jump
            kept.append(k)
            continue
        least = max(least, (v[k] - tolerance - v[kept[-1]]) / width)
        largest = min(largest, (v[k] + tolerance - v[kept[-1]]) / width)
    if kept[-1] != len(t) - 1:
        kept.append(len(t) - 1)
    return time[chosen[kept]], values[chosen[kept]]


def _within(time: Values, values: Values, window: Window) -> tuple[Values, Values]:
    """The curve inside the window: its samples there and its ends, interpolated."""
    ends = np.clip(window, time[0], time[-1])
    inside = (time > ends[0]) & (time < ends[1])
    at_ends = np.interp(ends, time, values)
    return (
        np.concatenate((ends[:1], time[inside], ends[1:])),
        np.concatenate((at_ends[:1], values[inside], at_ends[1:])),
    )


def _share_of_allowed(result: SignalResult, trace: Trace, reference: Trace) -> tuple[Values, Values]:
    """Times of both grids within the common span, and error/allowed there, see the head of this module."""
    time = np.union1d(trace.time, reference.time)
    time = time[(time >= reference.time[0]) & (time <= reference.time[-1])]
    time = time[(time >= trace.time[0]) & (time <= trace.time[-1])]
    difference = np.interp(time, trace.time, trace[result.name])
    difference -= np.interp(time, reference.time, reference[result.name])
    error = np.minimum(np.abs(difference), result.error)
    return time, error / result.allowed if result.allowed > 0.0 else np.where(error > 0.0, math.inf, 0.0)


# --- figures ---------------------------------------------------------------------------------------------------------

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 1040, 98, 214, 30, 50  # px; at the right the legends
_HEADING = 20  # px above _TOP for the titles of columns
_GAP, _COLUMN_GAP = 12, 96  # px; panels above each other share the time axis
_TEXT, _QUIET, _GRID, _LINE, _FAILED = "#222222", "#666666", "#ececec", "#999999", "#b3261e"
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8a6d00")  # Okabe and Ito; yellow darkened
_DASHES = ("solid", "dot", "dash", "dashdot")  # when the colours are used up
_REFERENCE = {"mode": "lines", "line": {"width": 6, "color": "#cccccc"}}
_LEAST_SHARE, _LARGEST_SHARE = 1e-4, 1e4  # of the allowed error, in the plots of errors


@dataclass
class _Panel:
    """A pair of axes of a plotly figure: "x", "y", then "x2", "y2" ..."""

    x: str
    y: str
    axes: dict[str, Figure]


@dataclass
class _Drawing:
    """A figure of panels in rows (heights in px) and columns (relative widths)."""

    heights: Sequence[int]
    widths: Sequence[float]
    gap: int = _GAP
    data: list[Figure] = field(default_factory=list)
    panels: list[_Panel] = field(default_factory=list)
    shapes: list[Figure] = field(default_factory=list)
    annotations: list[Figure] = field(default_factory=list)
    legends: dict[str, Figure] = field(default_factory=dict)
    headed: bool = False

    def panel(self, column: int, rows: tuple[int, int], x: Figure, y: Figure) -> _Panel:
        """A panel over the rows first..last; x and y are properties of plotly axes."""
        suffix = str(len(self.panels) + 1) if self.panels else ""
        common: Figure = {
            "showline": True,
            "mirror": True,
            "linecolor": _LINE,
            "gridcolor": _GRID,
            "zeroline": False,
            "ticks": "outside",
            "ticklen": 4,
            "tickcolor": _LINE,
            "exponentformat": "none",
        }
        axes = {
            f"xaxis{suffix}": common | {"domain": self._column(column), "anchor": f"y{suffix}"} | x,
            f"yaxis{suffix}": common | {"domain": self._rows(*rows), "anchor": f"x{suffix}"} | y,
        }
        self.panels.append(_Panel(f"x{suffix}", f"y{suffix}", axes))
        return self.panels[-1]

    def curve(
        self, panel: _Panel, x: Values, y: Values, name: str, *, legend: int | None = None, **style: object
    ) -> None:
        """A curve; it stands in the legend beside the row `legend`, if one is given."""
        place: Figure = {"xaxis": panel.x, "yaxis": panel.y, "showlegend": legend is not None}
        if legend is not None:
            place["legend"] = self._legend(legend)
        shown: Figure = {"type": "scatter", "mode": "lines", "hoverinfo": "x+y+name", "name": plain_text(name)}
        curve = shown | {"x": _numbers(x), "y": _numbers(y)} | place | style
        if isinstance(line := curve.get("line"), dict):
            curve["line"] = {"simplify": False} | line  # plotly's own thinning leaves visible corners
        self.data.append(curve)

    def legend_entry(self, panel: _Panel, name: str, legend: int, **style: object) -> None:
        """A line of the legend that belongs to no single curve."""
        nothing = np.array([math.nan])
        self.curve(panel, nothing, nothing, name, legend=legend, **style)

    def upright(self, panel: _Panel, x: float, **line: object) -> None:
        """A thin upright line through the whole column of the panel."""
        shape: Figure = {"type": "line", "xref": panel.x, "yref": "paper", "layer": "below", "x0": x, "x1": x}
        self.shapes.append(shape | {"y0": 0, "y1": 1, "line": {"color": "#b5b5b5", "width": 1} | line})

    def band(self, panel: _Panel, x0: float, x1: float) -> None:
        """A pale band through the whole column of the panel."""
        shape: Figure = {"type": "rect", "xref": panel.x, "yref": "paper", "layer": "below", "x0": x0, "x1": x1}
        self.shapes.append(shape | {"y0": 0, "y1": 1, "fillcolor": "rgba(0, 0, 0, 0.04)", "line": {"width": 0}})

    def level(self, panel: _Panel, y: float, **line: object) -> None:
        """A dashed line across the panel at the height y."""
        shape: Figure = {"type": "line", "xref": f"{panel.x} domain", "yref": panel.y, "x0": 0, "x1": 1}
        self.shapes.append(shape | {"y0": y, "y1": y, "line": {"color": _TEXT, "width": 1, "dash": "dash"} | line})

    def label(self, text: str, **place: object) -> None:
        """A small text; `place` are properties of a plotly annotation."""
        quiet: Figure = {"text": text, "showarrow": False, "font": {"size": 11, "color": _QUIET}}
        self.annotations.append(quiet | place)

    def heading(self, column: int, text: str) -> None:
        """The title of a column."""
        self.headed = True
        place: Figure = {"x": self._column(column)[0], "xref": "paper", "xanchor": "left"}
        place |= {"y": 1.0, "yref": "paper", "yanchor": "bottom", "yshift": 18}
        self.label(f"<b>{plain_text(text)}</b>", **place | {"font": {"size": 12, "color": _TEXT}})

    def figure(self) -> Figure:
        """Data and layout as plotly takes them."""
        top = _TOP + (_HEADING if self.headed else 0)
        layout: Figure = {
            "width": _WIDTH,
            "height": top + self._height + _BOTTOM,
            "margin": {"l": _LEFT, "r": _RIGHT, "t": top, "b": _BOTTOM},
            "font": {"family": "system-ui, sans-serif", "size": 12, "color": _TEXT},
            "paper_bgcolor": "#ffffff",
            "plot_bgcolor": "#ffffff",
            "hovermode": "closest",
            "hoverlabel": {"namelength": -1},
            "shapes": self.shapes,
            "annotations": self.annotations,
        }
        for panel in self.panels:
            layout |= panel.axes
        return {"data": self.data, "layout": layout | self.legends}

    @property
    def _height(self) -> int:
        return sum(self.heights) + self.gap * (len(self.heights) - 1)

    def _column(self, column: int) -> list[float]:
        """Left and right end of a column, as shares of the drawing area."""
        gap = _COLUMN_GAP / (_WIDTH - _LEFT - _RIGHT)
        unit = (1.0 - gap * (len(self.widths) - 1)) / sum(self.widths)
        left = unit * sum(self.widths[:column]) + gap * column
        return [round(left, 5), round(left + unit * self.widths[column], 5)]

    def _rows(self, first: int, last: int) -> list[float]:
        """Lower and upper end of the rows first..last, as shares of the drawing area."""
        above = sum(self.heights[:first]) + self.gap * first
        down_to = sum(self.heights[: last + 1]) + self.gap * last
        return [round(1.0 - down_to / self._height, 5), round(1.0 - above / self._height, 5)]

    def _legend(self, row: int) -> str:
        name = f"legend{row + 1}" if row else "legend"
        place: Figure = {"x": 1.012, "xanchor": "left", "y": self._rows(row, row)[1], "yanchor": "top"}
        self.legends[name] = place | {"font": {"size": 11}, "tracegroupgap": 0, "bgcolor": "rgba(0, 0, 0, 0)"}
        return name


def _title(text: str) -> Figure:
    return {"text": text, "standoff": 8}


def case_figure(result: CaseResult, points: int) -> Figure:
    """The plot of a case; empty if there is nothing to draw."""
    if result.trace is None or result.reference is None or result.comparison is None:
        return {}
    if result.comparison.signals or result.order:
        return _signal_figure(result, result.comparison.signals, result.trace, result.reference, points)
    return _contact_figure(result.comparison, result.trace, points)


# --- signals over time -----------------------------------------------------------------------------------------------

_SHORT = 0.25  # of the run: contacts that take less are drawn larger beside it
_SEEN = 0.02  # of the height of a panel: what is thinner cannot be seen
_ALIKE = 30.0  # signals of one unit share a panel if their changes differ by less than this factor


def _signal_figure(
    result: CaseResult, signals: Sequence[SignalResult], trace: Trace, reference: Trace, points: int
) -> Figure:
    """Trace over reference, a panel for each unit, the errors below.  Before it the errors over steps, after it the
    contacts, where they are too short to be seen in the run."""
    contacts = _contacts(trace)
    run = (float(trace.time[0]), float(trace.time[-1]))
    groups = _groups(signals, trace, reference)
    windows: list[tuple[str, Window]] = []
    if groups:
        closer = _contact_window(contacts, run)
        step = trace.provenance.get("step")
        at_step = f" with the step {scale_of(step, 's').text(step)}" if isinstance(step, int | float) else ""
        windows.append((f"run{at_step}" if result.order else "whole run" if closer else "", run))
        windows += [closer] if closer else []
    heights = [{1: 240, 2: 180}.get(len(groups), 150)] * len(groups) + [130] if groups else [300]
    first = 1 if result.order else 0
    drawing = _Drawing(heights, [1.0] * (first + len(windows)))
    if result.order:
        _draw_order(drawing, result.order, len(heights) - 1)
    for column, (heading, window) in enumerate(windows, first):
        if heading:
            drawing.heading(column, heading)
        in_legend = column == len(drawing.widths) - 1
        for row, group in enumerate(groups):
            _draw_signals(drawing, column, row, window, group, signals, trace, reference, points, in_legend)
        _draw_errors(drawing, column, len(groups), window, signals, trace, reference, points)
        _draw_contacts(drawing, drawing.panels[-1], contacts, window)
    return drawing.figure()


def _groups(signals: Sequence[SignalResult], trace: Trace, reference: Trace) -> list[list[SignalResult]]:
    """The signals by panel: of one unit, and of changes of like size; constant ones join any of their unit."""
    groups: list[tuple[str, float, list[SignalResult]]] = []
    for s in signals:
        values = np.concatenate((trace[s.name], reference[s.name]))
        change = float(np.ptp(values))
        if change <= 4.0 * s.allowed:
            change = 0.0
        for unit, largest, group in groups:
            if unit == s.unit and (not change or not largest or 1.0 / _ALIKE < change / largest < _ALIKE):
                group.append(s)
                break
        else:
            groups.append((s.unit, change, [s]))
    return [group for _, _, group in groups]


def _style(name: str, signals: Sequence[SignalResult]) -> tuple[str, str]:
    """Colour and dash of a signal, the same in all panels."""
    number = [s.name for s in signals].index(name)
    return _COLOURS[number % len(_COLOURS)], _DASHES[number // len(_COLOURS) % len(_DASHES)]


def _time_axis(window: Window, first: str | None, labelled: bool) -> tuple[Scale, Figure]:
    """Scale and axis of the time; `first` is the axis of the first panel of the column, with which it moves."""
    scale = scale_of(max(map(abs, window)), "s")
    axis: Figure = {"range": [t / scale.factor for t in window], "showticklabels": labelled}
    if first:
        axis["matches"] = first
    if labelled:
        axis["title"] = _title(f"time ({scale.unit})")
    return scale, axis


def _range(values: Iterable[Values], least_width: float) -> Window:
    """What an axis must show of the values, in their unit."""
    low = min(float(v.min()) for v in values)
    high = max(float(v.max()) for v in values)
    largest = max(abs(low), abs(high))
    width = max(high - low, least_width)
    if width <= 1e-6 * largest or width == 0.0:  # constant but for rounding
        width = 0.1 * largest or 1.0
    middle = 0.5 * (low + high)
    return middle - 0.57 * width, middle + 0.57 * width


def _draw_signals(
    drawing: _Drawing,
    column: int,
    row: int,
    window: Window,
    group: Sequence[SignalResult],
    signals: Sequence[SignalResult],
    trace: Trace,
    reference: Trace,
    points: int,
    in_legend: bool,
) -> None:
    curves = {s.name: _within(trace.time, trace[s.name], window) for s in group}
    references = {s.name: _within(reference.time, reference[s.name], window) for s in group}
    values = [v for _, v in (*curves.values(), *references.values())]
    low, high = _range(values, 4.0 * max(s.allowed for s in group))
    scale = scale_of(max(abs(low), abs(high)) / 1.07, group[0].unit)
    time_scale, x = _time_axis(window, drawing.panels[-row].x if row else None, labelled=False)
    title = scale.title(_common_quantity([s.name for s in group]))
    y: Figure = {"range": [low / scale.factor, high / scale.factor], "title": _title(title), "nticks": 6}
    panel = drawing.panel(column, (row, row), x, y)
    legend = row if in_legend else None
    tubes = [s for s in group if 2.0 * s.allowed >= _SEEN * (high - low)]
    if in_legend and row == 0:
        drawing.legend_entry(panel, "reference", row, **_REFERENCE)
    if in_legend and tubes:
        drawing.legend_entry(panel, "allowed", row, mode="lines", line={"width": 12, "color": "rgba(0, 0, 0, 0.12)"})

    def shown(time: Values, values: Values) -> tuple[Values, Values]:
        t, v = _thinned(time, values, points, high - low)
        return t / time_scale.factor, v / scale.factor

    for s in group:
        colour, _ = _style(s.name, signals)
        t, v = shown(*references[s.name])
        if s in tubes:
            half, edge, fill = s.allowed / scale.factor, {"width": 0}, _pale(colour, 0.14)
            drawing.curve(panel, t, v - half, s.name, line=edge, hoverinfo="skip")
            drawing.curve(panel, t, v + half, s.name, line=edge, hoverinfo="skip", fill="tonexty", fillcolor=fill)
        drawing.curve(panel, t, v, f"reference of {s.name}", line={"width": 6, "color": _pale(colour, 0.32)})
    for s in group:
        colour, dash = _style(s.name, signals)
        line = {"width": 1.6, "color": colour, "dash": dash}
        drawing.curve(panel, *shown(*curves[s.name]), s.name, legend=legend, line=line)
    failed = [s for s in group if not s.passed and window[0] <= s.time <= window[1]]
    if failed:
        x_values = np.array([s.time / time_scale.factor for s in failed])
        y_values = np.array([s.value / scale.factor for s in failed])
        cross = {"symbol": "x-thin-open", "size": 13, "color": _FAILED, "line": {"width": 2.5}}
        drawing.curve(
            panel, x_values, y_values, "largest error", legend=legend, mode="markers", marker=cross, cliponaxis=False
        )


def _common_quantity(names: Sequence[str]) -> str:
    """As "r" of body.p.r[1], body.p.r[2]; "r[3]" of one signal; "" if they differ."""
    last = {name.rpartition(".")[2] for name in names}
    if len(last) > 1:
        last = {re.sub(r"\[.*", "", name) for name in last}
    return last.pop() if len(last) == 1 else ""


def _pale(colour: str, opacity: float) -> str:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"


def _draw_errors(
    drawing: _Drawing,
    column: int,
    row: int,
    window: Window,
    signals: Sequence[SignalResult],
    trace: Trace,
    reference: Trace,
    points: int,
) -> None:
    """Errors in shares of what is allowed, so that all units share a panel and 100 % is the limit of each."""
    curves = {s.name: _within(*_share_of_allowed(s, trace, reference), window) for s in signals}
    worst = [float(share.max()) for _, share in curves.values()]
    bottom = math.floor(math.log10(min(max(min(worst), 10.0 * _LEAST_SHARE), 1.0))) - 1
    top = math.log10(min(max(2.5, 2.0 * max(worst)), _LARGEST_SHARE))
    decades = range(bottom, math.floor(top) + 1)
    ticks = [("≤ " if d == bottom else "") + _decade_text(d) for d in decades]
    time_scale, x = _time_axis(window, drawing.panels[-row].x, labelled=True)
    y: Figure = {"type": "log", "range": [bottom, top], "tickvals": [10.0**d for d in decades], "ticktext": ticks}
    panel = drawing.panel(column, (row, row), x, y | {"title": _title("error / allowed")})
    for s in signals:
        colour, dash = _style(s.name, signals)
        time, share = curves[s.name]
        t, exponent = _thinned(time, np.log10(np.clip(share, 10.0**bottom, _LARGEST_SHARE)), points, top - bottom)
        line = {"width": 1.4, "color": colour, "dash": dash}
        drawing.curve(panel, t / time_scale.factor, 10.0**exponent, s.name, line=line)
    drawing.level(panel, 1.0)
    if column == len(drawing.widths) - 1:
        place: Figure = {"x": 1.012, "xref": "paper", "xanchor": "left", "y": 0.0, "yref": panel.y}
        drawing.label("allowed", **place)


def _decade_text(decade: int) -> str:
    return f"{10**decade}×" if decade > 0 else f"{number_text(100.0 * 10.0**decade, 1)} %"


# --- contacts --------------------------------------------------------------------------------------------------------

_NUMBERED_EVENT = re.compile(r"(.*)\.(\w+)\[(\d+)\]", re.DOTALL)


@dataclass(frozen=True)
class _Contact:
    """A contact of the trace: the slave, its number, and its times in s, None if they cannot be told."""

    slave: str
    number: int
    touch: float | None
    release: float | None


def _contacts(trace: Trace) -> list[_Contact]:
    times: dict[tuple[str, int], dict[str, float]] = {}
    for name, value in trace.events.items():
        match = _NUMBERED_EVENT.fullmatch(name)
        if match and event_units(name):
            times.setdefault((match[1], int(match[3])), {})[match[2]] = value
    return [_Contact(*key, found.get("touch"), found.get("release")) for key, found in sorted(times.items())]


def _begin_and_end(contact: _Contact, trace: Trace) -> Window:
    """When the contact begins and ends, or the trace does."""
    begin = float(trace.time[0]) if contact.touch is None else contact.touch
    return begin, float(trace.time[-1]) if contact.release is None else contact.release


def _contact_window(contacts: Sequence[_Contact], run: Window) -> tuple[str, Window] | None:
    """Heading and window of the first contact, if it is a small part of the run."""
    for contact in contacts:
        if contact.touch is not None and contact.release is not None:
            margin = 0.25 * (contact.release - contact.touch)
            if 0.0 < 6.0 * margin < _SHORT * (run[1] - run[0]):
                window = (max(run[0], contact.touch - margin), min(run[1], contact.release + margin))
                return f"around contact {contact.number} of {contact.slave}", window
            return None
    return None


def _draw_contacts(drawing: _Drawing, panel: _Panel, contacts: Sequence[_Contact], window: Window) -> None:
    """Thin lines where contacts begin and end, named above where there is room."""
    factor = scale_of(max(map(abs, window)), "s").factor
    room = 0.12 * (window[1] - window[0]) * len(drawing.widths)
    named_to = -math.inf
    for contact in contacts:
        times = [t for t in (contact.touch, contact.release) if t is not None and window[0] <= t <= window[1]]
        for t in times:
            drawing.upright(panel, t / factor)
        if len(times) == 2:
            drawing.band(panel, times[0] / factor, times[1] / factor)
        if times and sum(times) / len(times) - named_to >= room:
            named_to = sum(times) / len(times)
            place: Figure = {"x": named_to / factor, "xref": panel.x, "y": 1.0, "yref": "paper", "yanchor": "bottom"}
            what = "contact" if len(times) == 2 else "touch" if times == [contact.touch] else "release"
            drawing.label(f"{what} {contact.number}", **place)


def _contact_figure(comparison: Comparison, trace: Trace, points: int) -> Figure:
    """Per slave with compared events: normal force over depth, and the closing speed over time, with what the
    reference says of the events."""
    references = {e.name: e.reference for e in comparison.events if e.reference is not None}
    slaves = [
        slave
        for slave in dict.fromkeys(e.name.rpartition(".")[0] for e in comparison.events)
        if all(f"{slave}.{n}" in trace for n in ("depth", "depth_rate", "normal_force"))
        and any(c.slave == slave for c in _contacts(trace))
    ]
    if not slaves:
        return {}
    drawing = _Drawing([320] * len(slaves), [0.44, 0.56], gap=96)
    for row, slave in enumerate(slaves):
        contacts = [c for c in _contacts(trace) if c.slave == slave]
        _draw_loops(drawing, row, slave, contacts[: len(_COLOURS)], references, trace, points)
        _draw_closing_speed(drawing, row, slave, contacts, references, trace, points)
        prefix = f"{slave}."
        if len(slaves) > 1:
            drawing.legend_entry(drawing.panels[-1], slave, row, mode="none")
        for name, value in references.items():
            if name.startswith(f"{prefix}impulse["):
                text = f"reference {name.removeprefix(prefix)} {scale_of(value, 'N.s').text(value, 4)}"
                drawing.legend_entry(drawing.panels[-1], text, row, mode="none")
    return drawing.figure()


def _draw_loops(
    drawing: _Drawing,
    row: int,
    slave: str,
    contacts: Sequence[_Contact],
    references: Mapping[str, float],
    trace: Trace,
    points: int,
) -> None:
    """Normal force over depth of every contact: the area of the loop is the energy it took."""
    depth, force = trace[f"{slave}.depth"], trace[f"{slave}.normal_force"]
    deepest = float(depth.max()) or 1.0
    peaks = [references.get(f"{slave}.peak_force[{contact.number}]", 0.0) for contact in contacts]
    highest = max(float(force.max()), *peaks) or 1.0
    depth_scale, force_scale = scale_of(deepest, "m"), scale_of(highest, "N")
    panel = drawing.panel(
        0,
        (row, row),
        {"title": _title(depth_scale.title("depth")), "range": [0.0, 1.06 * deepest / depth_scale.factor]},
        {"title": _title(force_scale.title("normal force")), "range": [0.0, 1.06 * highest / force_scale.factor]},
    )
    for k, (contact, peak) in enumerate(zip(contacts, peaks, strict=True)):
        begin, end = _begin_and_end(contact, trace)
        first = max(int(np.searchsorted(trace.time, begin)) - 1, 0)
        last = int(np.searchsorted(trace.time, end)) + 1
        d, f = depth[first:last], force[first:last]
        chosen = np.union1d(_extreme_samples(d, points // 2), _extreme_samples(f, points // 2))
        line = {"width": 1.8, "color": _COLOURS[k]}
        name = f"contact {contact.number}"
        x, y = d[chosen] / depth_scale.factor, f[chosen] / force_scale.factor
        drawing.curve(panel, x, y, name, legend=row, line=line)
        if peak:
            text = f"reference peak_force[{contact.number}] {force_scale.text(peak, 4)}"
            ends = np.array([0.0, 1.06 * deepest / depth_scale.factor])
            dashed = {"width": 1, "dash": "dash", "color": _COLOURS[k]}
            drawing.curve(panel, ends, np.full(2, peak / force_scale.factor), text, legend=row, line=dashed)


def _draw_closing_speed(
    drawing: _Drawing,
    row: int,
    slave: str,
    contacts: Sequence[_Contact],
    references: Mapping[str, float],
    trace: Trace,
    points: int,
) -> None:
    """Depth rate around the contacts, and marks where the reference touches and rebounds."""
    rate = trace[f"{slave}.depth_rate"]
    begin = min(_begin_and_end(contact, trace)[0] for contact in contacts)
    end = max(_begin_and_end(contact, trace)[1] for contact in contacts)
    margin = 0.15 * (end - begin)
    window = (max(float(trace.time[0]), begin - margin), min(float(trace.time[-1]), end + margin))
    time, values = _within(trace.time, rate, window)
    low, high = _range([values], 0.0)
    scale = scale_of(max(abs(low), abs(high)) / 1.07, "m/s")
    time_scale, x = _time_axis(window, None, labelled=True)
    y: Figure = {"range": [low / scale.factor, high / scale.factor], "title": _title(scale.title("depth rate"))}
    panel = drawing.panel(1, (row, row), x, y)
    t, v = _thinned(time, values, points, high - low)
    line = {"width": 1.6, "color": _TEXT}
    drawing.curve(panel, t / time_scale.factor, v / scale.factor, "depth rate", line=line)
    drawing.level(panel, 0.0, color=_LINE, dash="solid")
    if len(drawing.heights) == 1:  # the lines run through all rows
        _draw_contacts(drawing, panel, contacts, window)
    for k, contact in enumerate(contacts):
        for name, at, height, symbol, size in _reference_marks(contact, references, trace):
            marker = {"symbol": symbol, "size": size, "color": _COLOURS[k % len(_COLOURS)], "line": {"width": 2}}
            place = np.array([at / time_scale.factor]), np.array([height / scale.factor])
            drawing.curve(panel, *place, name, legend=row, mode="markers", marker=marker)


def _reference_marks(
    contact: _Contact, references: Mapping[str, float], trace: Trace
) -> Iterator[tuple[str, float, float, str, int]]:
    """Name, time in s, depth rate in m/s, symbol and size of what the reference says of touch and release.  What it
    does not say is taken from the trace."""
    rate = trace[f"{contact.slave}.depth_rate"]
    begin, end = _begin_and_end(contact, trace)
    approach = float(rate[max(int(np.searchsorted(trace.time, begin, side="right")) - 1, 0)])
    rebound = float(np.interp(end, trace.time, rate))

    def expected(quantity: str) -> tuple[str, float] | None:
        name = f"{quantity}[{contact.number}]"
        value = references.get(f"{contact.slave}.{name}")
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


# --- errors over steps -----------------------------------------------------------------------------------------------


def _draw_order(drawing: _Drawing, order: Order, last_row: int) -> None:
    """Errors over communication steps and the line of the expected order, both axes logarithmic."""
    steps, errors = np.array(order.steps), np.array(order.errors)
    step_scale, error_scale = scale_of(float(steps.max()), "s"), scale_of(float(errors.max()), order.unit)
    middle_step, middle_error = (float(np.exp(np.log(v).mean())) for v in (steps, errors))
    ends = np.array([steps.min() / 1.25, steps.max() * 1.25])
    line = middle_error * (ends / middle_step) ** order.expected
    shown = np.concatenate((errors, line)) / error_scale.factor
    x: Figure = {
        "type": "log",
        "range": np.log10(ends / step_scale.factor).tolist(),
        "tickvals": [step / step_scale.factor for step in order.steps],
        "ticktext": [number_text(step / step_scale.factor, 3) for step in order.steps],
        "title": _title(step_scale.title("communication step")),
    }
    ticks = _ticks_125(float(shown.min()), float(shown.max()))
    y: Figure = {
        "type": "log",
        "range": [math.log10(shown.min()) - 0.1, math.log10(shown.max()) + 0.1],
        "tickvals": ticks,
        "ticktext": [number_text(tick, 3) for tick in ticks],
        "title": _title(error_scale.title(f"error of {order.quantity}")),
    }
    panel = drawing.panel(0, (0, last_row), x, y)
    drawing.heading(0, "error over step")
    dashed = {"width": 1.2, "dash": "dash", "color": _TEXT}
    drawing.curve(panel, ends / step_scale.factor, line / error_scale.factor, "expected order", line=dashed)
    colour = _COLOURS[0] if order.passed else _FAILED
    drawing.curve(
        panel,
        steps / step_scale.factor,
        errors / error_scale.factor,
        order.quantity,
        mode="lines+markers",
        line={"width": 1.4, "color": colour},
        marker={"size": 8},
    )
    text = f"{'✓' if order.passed else '✗'} measured order {number_text(order.measured, 4)}<br>"
    text += f"expected {number_text(order.expected, 3)} ± {number_text(order.tolerance, 3)} (dashed)"
    place: Figure = {"x": 0.04, "xref": f"{panel.x} domain", "xanchor": "left", "align": "left"}
    place |= {"y": 0.97, "yref": f"{panel.y} domain", "yanchor": "top"}
    drawing.label(text, **place | {"font": {"size": 12, "color": _TEXT if order.passed else _FAILED}})


def _ticks_125(low: float, high: float) -> list[float]:
    """The numbers 1, 2, 5 times powers of ten within the range."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{digit}e{decade}") for decade in decades for digit in (1, 2, 5)]
    return [tick for tick in ticks if low / 1.25 <= tick <= high * 1.25]
