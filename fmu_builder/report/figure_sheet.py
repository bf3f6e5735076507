"""The sheet that the figures of the report are drawn on: scales, samples, panels and curves as data for plotly.js."""

from __future__ import annotations

import base64
import functools
import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from plotly.offline import get_plotlyjs

from fmu_builder.pages.parts import packed

Values = NDArray[np.float64]
Figure = dict[str, object]
Window = tuple[float, float]  # begin and end, s
_PREFIXES = ((1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p"), (1e-15, "f"))
_PREFIXABLE = frozenset(["s", "m", "m/s", "m/s2", "N", "N.m", "N.s", "N/m", "J", "W", "Pa", "rad", "rad/s"])
_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 1040, 98, 214, 30, 50  # px; at the right the legends
_HEADING = 20  # px above _TOP for the titles of columns
_GAP, _COLUMN_GAP = 12, 96  # px; panels above each other share the time axis
TEXT, QUIET, GRID, LINE, FAILED = "#222222", "#666666", "#ececec", "#999999", "#b3261e"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8a6d00")  # Okabe and Ito; yellow darkened
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")  # curves differ without colour as well
_LINES = "#b5b5b5"
_BACK = "#ffffff"
_OF_THE_DARK = {
    TEXT: "#e6e9ec",
    QUIET: "#97a1ab",
    GRID: "#262d33",
    LINE: "#6b757e",
    FAILED: "#ff8a80",
    _LINES: "#4a545d",
    _BACK: "#15191d",
    "#cccccc": "#59626b",
} | dict(zip(COLOURS, ("#4aa8e0", "#ff8f4a", "#2fc79a", "#e5a3c9", "#a5dcff", "#d9b53a"), strict=True))


def _parts_of(colour: str) -> str:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"{red}, {green}, {blue}"


def pale(colour: str, opacity: float) -> str:
    return f"rgba({_parts_of(colour)}, {opacity})"


def curve_style(number: int) -> tuple[str, str]:
    """Colour and dash of a curve of a panel, of which 36 differ, and the first six without colour."""
    return COLOURS[number % len(COLOURS)], DASHES[(number + number // len(COLOURS)) % len(DASHES)]


DARK = [
    *((f'"{light}"', f'"{dark}"') for light, dark in _OF_THE_DARK.items()),
    *((f"rgba({_parts_of(light)},", f"rgba({_parts_of(dark)},") for light, dark in _OF_THE_DARK.items()),
    ("rgba(0, 0, 0,", "rgba(255, 255, 255,"),
]
"""What a page replaces in the text of a figure where the reader wants it dark: (light, dark)."""


@dataclass(frozen=True)
class Scale:
    """A display unit: shown value = SI value / factor."""

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


@functools.cache
def packed_plotly() -> str:
    """plotly.js as report.js unpacks it."""
    return packed(str(get_plotlyjs()))


@functools.cache
def plotly_library() -> str:
    """The plotly library as text that cannot end the script element it stands in."""
    return str(get_plotlyjs()).replace("</script", "<\\/script")


def plain_text(text: str) -> str:
    """Text as plotly shows it unchanged: plotly reads tags and entities in names and titles."""
    return html.escape(text)


def _numbers(values: Values) -> Figure:
    """An array as plotly reads it in the least space: 32 bits per number are finer than any screen."""
    return {"dtype": "f4", "bdata": base64.b64encode(values.astype("<f4").tobytes()).decode("ascii")}


def extreme_samples(values: Values, points: int) -> NDArray[np.intp]:
    """At most about `points` samples with the least and the largest value of every stretch among them."""
    if values.size <= points:
        return np.arange(values.size)
    edges = np.linspace(0, values.size, points // 2 + 1).astype(int)
    chosen = {0, values.size - 1}
    for begin, end in pairwise(edges):
        stretch = values[begin:end]
        chosen |= {int(begin + stretch.argmin()), int(begin + stretch.argmax())}
    return np.array(sorted(chosen))


def thinned(time: Values, values: Values, points: int, span: float) -> tuple[Values, Values]:
    """The curve through at most about `points` samples, without those that straight lines through the others meet to
    within span/(20 points), which no screen can show."""
    chosen = extreme_samples(values, points)
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


def within_window(time: Values, values: Values, window: Window) -> tuple[Values, Values]:
    """The curve inside the window: its samples there and its ends, interpolated."""
    ends = np.clip(window, time[0], time[-1])
    inside = (time > ends[0]) & (time < ends[1])
    at_ends = np.interp(ends, time, values)
    return (
        np.concatenate((ends[:1], time[inside], ends[1:])),
        np.concatenate((at_ends[:1], values[inside], at_ends[1:])),
    )


def value_axis(values: Iterable[Values], least_width: float, unit: str) -> tuple[float, Scale, Figure]:
    """What an axis shows of the values: its width in their unit, the scale, and its range in that."""
    low = min(float(v.min()) for v in values)
    high = max(float(v.max()) for v in values)
    largest = max(abs(low), abs(high))
    width = max(high - low, least_width)
    if width <= 1e-6 * largest or width == 0.0:  # constant but for rounding
        width = 0.1 * largest or 1.0
    middle = 0.5 * (low + high)
    low, high = middle - 0.57 * width, middle + 0.57 * width
    scale = scale_of(max(abs(low), abs(high)) / 1.07, unit)
    return high - low, scale, {"range": [low / scale.factor, high / scale.factor]}


@dataclass
class Panel:
    """A pair of axes of a plotly figure: "x", "y", then "x2", "y2" ..."""

    x: str
    y: str
    axes: dict[str, Figure]


@dataclass
class Sheet:
    """A figure of panels in rows (heights in px) and columns (relative widths)."""

    heights: Sequence[int]
    widths: Sequence[float]
    gap: int = _GAP
    data: list[Figure] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)
    shapes: list[Figure] = field(default_factory=list)
    annotations: list[Figure] = field(default_factory=list)
    legends: dict[str, Figure] = field(default_factory=dict)
    headed: bool = False

    def panel(self, column: int, rows: tuple[int, int], x: Figure, y: Figure) -> Panel:
        """A panel over the rows first..last; x and y are properties of plotly axes."""
        suffix = str(len(self.panels) + 1) if self.panels else ""
        common: Figure = {
            "showline": True,
            "mirror": True,
            "linecolor": LINE,
            "gridcolor": GRID,
            "zeroline": False,
            "ticks": "outside",
            "ticklen": 4,
            "tickcolor": LINE,
            "exponentformat": "power",
            "minexponent": 6,
        }
        axes = {
            f"xaxis{suffix}": common | {"domain": self._column(column), "anchor": f"y{suffix}"} | x,
            f"yaxis{suffix}": common | {"domain": self._rows(*rows), "anchor": f"x{suffix}"} | y,
        }
        self.panels.append(Panel(f"x{suffix}", f"y{suffix}", axes))
        return self.panels[-1]

    def curve(
        self, panel: Panel, x: Values, y: Values, name: str, *, legend: int | None = None, **style: object
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

    def legend_entry(self, panel: Panel, name: str, legend: int, **style: object) -> None:
        """A line of the legend that belongs to no single curve."""
        nothing = np.array([math.nan])
        self.curve(panel, nothing, nothing, name, legend=legend, **style)

    def upright(self, panel: Panel, x: float, **line: object) -> None:
        """A thin upright line through the whole column of the panel."""
        shape: Figure = {"type": "line", "xref": panel.x, "yref": "paper", "layer": "below", "x0": x, "x1": x}
        self.shapes.append(shape | {"y0": 0, "y1": 1, "line": {"color": _LINES, "width": 1} | line})

    def band(self, panel: Panel, x0: float, x1: float) -> None:
        """A pale band through the whole column of the panel."""
        shape: Figure = {"type": "rect", "xref": panel.x, "yref": "paper", "layer": "below", "x0": x0, "x1": x1}
        self.shapes.append(shape | {"y0": 0, "y1": 1, "fillcolor": "rgba(0, 0, 0, 0.04)", "line": {"width": 0}})

    def level(self, panel: Panel, y: float, **line: object) -> None:
        """A dashed line across the panel at the height y."""
        shape: Figure = {"type": "line", "xref": f"{panel.x} domain", "yref": panel.y, "x0": 0, "x1": 1}
        self.shapes.append(shape | {"y0": y, "y1": y, "line": {"color": TEXT, "width": 1, "dash": "dash"} | line})

    def label(self, text: str, **place: object) -> None:
        """A small text; `place` are properties of a plotly annotation."""
        quiet: Figure = {"text": text, "showarrow": False, "font": {"size": 11, "color": QUIET}}
        self.annotations.append(quiet | place)

    def heading(self, column: int, text: str) -> None:
        """The title of a column."""
        self.headed = True
        place: Figure = {"x": self._column(column)[0], "xref": "paper", "xanchor": "left"}
        place |= {"y": 1.0, "yref": "paper", "yanchor": "bottom", "yshift": 18}
        self.label(f"<b>{plain_text(text)}</b>", **place | {"font": {"size": 12, "color": TEXT}})

    def figure(self) -> Figure:
        """Data and layout as plotly takes them."""
        top = _TOP + (_HEADING if self.headed else 0)
        layout: Figure = {
            "width": _WIDTH,
            "height": top + self._height + _BOTTOM,
            "margin": {"l": _LEFT, "r": _RIGHT, "t": top, "b": _BOTTOM},
            "font": {"family": "system-ui, sans-serif", "size": 12, "color": TEXT},
            "paper_bgcolor": _BACK,
            "plot_bgcolor": _BACK,
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
        """Left and right end of a column, as shares of the sheet area."""
        gap = _COLUMN_GAP / (_WIDTH - _LEFT - _RIGHT)
        unit = (1.0 - gap * (len(self.widths) - 1)) / sum(self.widths)
        left = unit * sum(self.widths[:column]) + gap * column
        return [round(left, 5), round(left + unit * self.widths[column], 5)]

    def _rows(self, first: int, last: int) -> list[float]:
        """Lower and upper end of the rows first..last, as shares of the sheet area."""
        above = sum(self.heights[:first]) + self.gap * first
        down_to = sum(self.heights[: last + 1]) + self.gap * last
        return [round(1.0 - down_to / self._height, 5), round(1.0 - above / self._height, 5)]

    def _legend(self, row: int) -> str:
        name = f"legend{row + 1}" if row else "legend"
        place: Figure = {"x": 1.012, "xanchor": "left", "y": self._rows(row, row)[1], "yanchor": "top"}
        order = {"traceorder": "normal"}  # with filled curves plotly turns it round
        self.legends[name] = place | order | {"font": {"size": 11}, "tracegroupgap": 0, "bgcolor": "rgba(0, 0, 0, 0)"}
        return name


def axis_title(text: str) -> Figure:
    return {"text": text, "standoff": 8}


def time_axis(window: Window, first: str | None, labelled: bool) -> tuple[Scale, Figure]:
    """Scale and axis of the time; `first` is the axis of the first panel of the column, with which it moves."""
    scale = scale_of(max(map(abs, window)), "s")
    axis: Figure = {"range": [t / scale.factor for t in window], "showticklabels": labelled}
    if first:
        axis["matches"] = first
    if labelled:
        axis["title"] = axis_title(f"time ({scale.unit})")
    return scale, axis
