"""A page of a study: its responses over the factors, parallel coordinates, contours, main effects, Sobol indices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmu_builder.errors import InputError, Problem, ToolError
from fmu_builder.export.documentation import templates
from fmu_builder.files import write_whole
from fmu_builder.report.figure_sheet import (
    COLOURS,
    GRID,
    LINE,
    QUIET,
    TEXT,
    Figure,
    number_text,
    plain_text,
    plotly_library,
)
from fmu_builder.studies import table as tables
from fmu_builder.studies.sensitivity import Index, sobol_indices
from fmu_builder.studies.work import OK

Array = NDArray[np.float64]
_MOST_RESPONSES, _MOST_FACTORS = 8, 6
_MOST_CONTOURS = 3
_POINTS, _LINES = 1500, 600  # runs of a panel, and of parallel coordinates
_MARGIN = {"l": 80, "r": 20, "t": 10, "b": 56}  # px
_SHADES = ("#440154", "#472f7d", "#39568c", "#2a788e", "#1f988b", "#35b779", "#84d44b", "#e0c51c")  # Viridis
_BINS = 15  # in which runs between levels are averaged
_WIDTH, _HEIGHT = 1040, 230  # px; of a row of panels
_MOST_LOG_TICKS = 4  # whose numbers stand side by side
_BELOW_TICKS = 32  # px: a short title would stand between the numbers


@dataclass(frozen=True)
class Column:
    """A factor or response.   values: NaN where there is none; places in `texts` where these are the values"""

    name: str
    unit: str
    values: Array
    texts: tuple[str, ...] = ()
    is_log: bool = False

    @property
    def title(self) -> str:
        unit = f" ({self.unit})" if self.unit not in ("", "1") else ""
        return plain_text(f"{self.name}{unit}")

    def axis(self, standoff: int = 10) -> Figure:
        """standoff: px from the axis to its title"""
        words = [plain_text(text) for text in self.texts]
        ticks: Figure = (
            {"tickvals": [*range(len(words))], "ticktext": words, "zeroline": False}  # the first is no zero
            if words
            else {"nticks": 5, **self.limits()}
        )
        if self.is_log:
            places = _log_ticks(float(self.values.min()), float(self.values.max()))
            texts = [number_text(one, 1) for one in places]
            ticks = {"type": "log", "tickvals": places, "ticktext": texts}
        return {"title": {"text": self.title, "standoff": standoff}, "gridcolor": GRID, "linecolor": LINE, **ticks}

    def limits(self) -> Figure:
        """Of an axis over one value, which would be drawn amid +-1, where a small one looks like 0."""
        shown = {one for one in _numbers(self.values) if one is not None}
        if len(shown) != 1 or shown == {0.0}:
            return {}
        (value,) = shown
        return {"range": sorted((0.5 * value, 1.5 * value))}


def _log_ticks(low: float, high: float) -> list[float]:
    """At 1, 2 and 5 of each power of ten; at 1 and 3, or at 1 alone, where a narrow panel has no room for these; over
    many powers at every few of them."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for digits in ((1, 2, 5), (1, 3)):
        places = [float(f"{digit}e{power}") for power in range(first, last + 1) for digit in digits]
        if sum(0.999 * low <= place <= 1.001 * high for place in places) <= _MOST_LOG_TICKS:
            return places
    return [float(f"1e{power}") for power in range(first, last + 1, max(-(-(last - first) // 5), 1))]


def write_page(table: Path, page: Path) -> None:
    """Write the page of a table; it needs no network, and equal tables give equal bytes.

    Raises InputError where no run has a response, ToolError where the file cannot be written."""
    about = tables.about_of(tables.read_schema(table))
    rows = tables.columns(table)
    pa = tables.arrow()
    good = rows.filter(pa.compute.equal(rows["status"], OK))
    factors = [_column(good, name, one.get("scale") == "log") for name, one in about["factors"].items()]
    responses = [_column(good, name) for name in about["responses"]]
    shown = [one for one in responses if not np.isnan(one.values).all()][:_MOST_RESPONSES]
    if not shown:
        raise InputError(Problem(str(table), "no run has a response: there is nothing to plot"))
    moving = [one for one in factors if np.ptp(one.values) > 0.0] or factors
    kind, whole = about["plan"]["kind"], len(good) == about["plan"]["size"]
    indices, remark = _indices(kind if whole or kind not in ("grid", "saltelli") else "", factors, shown)
    alone = _alone(about, moving) if kind == "one_at_a_time" else [np.ones(len(good), dtype=bool)] * len(moving)
    text = "each factor alone, the others at their base" if kind == "one_at_a_time" else _means_text(moving)
    sections = [
        _Section("Responses over factors", _scatter(shown, moving)),
        _Section("Main effects", _effects(shown, moving, alone), text),
        _parallel_section([*moving, *shown]),
    ]
    if len(moving) > 1 and kind != "one_at_a_time":
        drawn = shown[:_MOST_CONTOURS]
        pairs = [_strongest(moving, indices.get(one.name, [])) for one in drawn]
        text = f"means over all other factors, over the {'two that explain most' if indices else 'first two'}"
        sections.append(_Section("Contours", _contours(drawn, pairs), text))
    if indices or remark:
        sections.append(_Section("Sobol indices", None, remark, tuple(_index_rows(indices))))
    summary = f"{about['system']}, plan {kind}: {len(rows)} of {about['plan']['size']} runs, {len(good)} of them ok"
    template = templates().get_template("study.html")
    title = about["description"] or table.stem
    write_whole(page, template.render(title=title, summary=summary, sections=sections, plotly=plotly_library()))


@dataclass(frozen=True)
class _Section:
    """rows: of a table of Sobol indices"""

    title: str
    figure: Figure | None
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    head: tuple[str, ...] = ("response", "factor", "first", "± 95 %", "total", "± 95 %")


def _column(rows: Any, name: str, is_log: bool = False) -> Column:
    field, column = rows.schema.field(name), rows.column(name)
    unit = (field.metadata or {}).get(b"unit", b"").decode()
    if tables.arrow().types.is_string(field.type):
        texts = column.to_pylist()
        known = tuple(dict.fromkeys(texts))
        return Column(name, "", np.array([known.index(one) for one in texts], dtype=np.float64), known)
    return Column(name, unit, np.array(column.to_numpy(), dtype=np.float64), is_log=is_log)


def _alone(about: Mapping[str, Any], factors: Sequence[Column]) -> list[NDArray[np.bool_]]:
    """For each factor, the runs in which all others have their base."""
    bases = [about["factors"][one.name]["base"] for one in factors]
    numbers = [one.texts.index(base) if base in one.texts else base for one, base in zip(factors, bases, strict=True)]
    at_base = np.array([one.values == number for one, number in zip(factors, numbers, strict=True)])
    return [np.logical_and.reduce(np.delete(at_base, place, axis=0)) for place in range(len(factors))]


def _indices(kind: str, factors: Sequence[Column], responses: Sequence[Column]) -> tuple[dict[str, list[Index]], str]:
    """By response, and a remark where something is missing."""
    values = np.column_stack([one.values for one in factors])
    names = [one.name for one in factors]
    try:
        found = {one.name: sobol_indices(kind, names, values, one.values) for one in responses}
    except ToolError as error:
        return {}, str(error)
    remark = "the part of the variance that a factor explains alone (first), and with all others (total)"
    return {name: one for name, one in found.items() if one}, remark if any(found.values()) else ""


def _index_rows(indices: Mapping[str, Sequence[Index]]) -> list[tuple[str, ...]]:
    def text(value: float | None) -> str:
        return "" if value is None else f"{value:.3f}".replace("-0.000", "0.000")

    return [
        (name, one.factor, text(one.first), text(one.interval), text(one.total), text(one.total_interval))
        for name, of_response in indices.items()
        for one in of_response
    ]


def _strongest(factors: Sequence[Column], indices: Sequence[Index]) -> tuple[Column, Column]:
    """The two factors that explain most, else the first two."""
    weight = {one.factor: one.total if one.total is not None else one.first for one in indices}
    first, second, *_ = sorted(factors, key=lambda one: -weight.get(one.name, 0.0))
    return first, second


def _thinned(count: int, most: int) -> NDArray[np.int64]:
    """Runs that are drawn, all over the table: an even choice would follow the levels of a grid."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).permutation(count)[:most])


def _numbers(values: Array) -> list[float | None]:
    return [None if np.isnan(value) else float(f"{value:.6g}") for value in values.tolist()]


class _Panels:
    """Panels in rows (responses) and columns (factors), as data for plotly.js.   same_range: of the panels of a row;
    gap: between columns, of the width"""

    def __init__(
        self, rows: Sequence[Column], columns: Sequence[Column], same_range: bool = False, gap: float = 0.06
    ) -> None:
        self.data: list[Figure] = []
        self._layout: Figure = {
            "width": _WIDTH,
            "height": _HEIGHT * len(rows) + 60,
            "margin": _MARGIN,
            "font": {"color": TEXT, "size": 12},
            "plot_bgcolor": "#ffffff",
            "showlegend": False,
        }
        self._size = len(rows), len(columns)
        for row, response in enumerate(rows):
            for column, factor in enumerate(columns):
                number = self._number(row, column)
                x0, x1 = _share(column, len(columns), gap)
                y0, y1 = _share(len(rows) - 1 - row, len(rows), 0.07)
                plain = {"gridcolor": GRID, "linecolor": LINE, "nticks": 5, **response.limits()}
                y = response.axis() if column == 0 else plain
                if column and same_range and "range" not in y:  # with both, plotly draws all other rows over -1 to 4
                    y["matches"] = f"y{self._number(row, 0)}"
                x = factor.axis(_BELOW_TICKS)
                if row < len(rows) - 1:
                    x["title"] = {"text": ""}
                self._layout[f"xaxis{number}"] = {**x, "domain": [x0, x1], "anchor": f"y{number}"}
                self._layout[f"yaxis{number}"] = {**y, "domain": [y0, y1], "anchor": f"x{number}"}

    def _number(self, row: int, column: int) -> str:
        number = row * self._size[1] + column + 1
        return "" if number == 1 else str(number)

    def set_axis(self, row: int, column: int, which: str, of: Column) -> None:
        axis: Any = self._layout[f"{which}axis{self._number(row, column)}"]
        axis.update(of.axis())

    def add(self, row: int, column: int, trace: Figure) -> None:
        number = self._number(row, column)
        self.data.append({**trace, "xaxis": f"x{number}", "yaxis": f"y{number}"})

    def figure(self) -> Figure:
        return {"data": self.data, "layout": self._layout}


def _share(place: int, count: int, gap: float) -> tuple[float, float]:
    """Begin and end of one of so many parts of 0 .. 1, with gaps."""
    width = (1.0 - gap * (count - 1)) / count
    return place * (width + gap), place * (width + gap) + width


def _scatter(responses: Sequence[Column], factors: Sequence[Column]) -> Figure:
    columns = factors[:_MOST_FACTORS]
    panels, chosen = _Panels(responses, columns), _thinned(len(responses[0].values), _POINTS)
    for row, response in enumerate(responses):
        y = _numbers(response.values[chosen])
        for column, factor in enumerate(columns):
            marker = {"size": 4, "color": COLOURS[row % len(COLOURS)], "opacity": 0.5}
            x = _numbers(factor.values[chosen])
            panels.add(row, column, {"type": "scatter", "mode": "markers", "x": x, "y": y, "marker": marker})
    return panels.figure()


def _places(factor: Column) -> tuple[Array, NDArray[np.intp]]:
    """Levels, or the middles of bins where there are many values, and to which each value belongs."""
    levels, place = np.unique(factor.values, return_inverse=True)
    if len(levels) <= 2 * _BINS:
        return levels, place
    values = np.log(factor.values) if factor.is_log else factor.values
    edges = np.linspace(values.min(), values.max(), _BINS + 1)
    middles = 0.5 * (edges[1:] + edges[:-1])
    places = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, _BINS - 1)
    return np.exp(middles) if factor.is_log else middles, places


def _means_text(factors: Sequence[Column]) -> str:
    if all(len(np.unique(one.values)) <= 2 * _BINS for one in factors):
        return "means of all runs at a value of the factor"
    return f"means of all runs at a value of the factor, of one with many values in {_BINS} parts of its range"


def _means(place: NDArray[np.intp], values: Array, count: int) -> Array:
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.bincount(place[known], values[known], count) / np.bincount(place[known], minlength=count)


def _effects(responses: Sequence[Column], factors: Sequence[Column], runs: Sequence[NDArray[np.bool_]]) -> Figure:
    """runs: that count for each factor"""
    columns = factors[:_MOST_FACTORS]
    panels = _Panels(responses, columns, same_range=True)
    for row, response in enumerate(responses):
        for column, factor in enumerate(columns):
            levels, place = _places(factor)
            line = {"color": COLOURS[row % len(COLOURS)], "width": 2}
            counted = runs[column]
            y = _numbers(_means(place[counted], response.values[counted], len(levels)))
            trace: Figure = {"type": "scatter", "mode": "lines+markers", "x": _numbers(levels), "y": y, "line": line}
            panels.add(row, column, trace)
    return panels.figure()


def _contours(responses: Sequence[Column], pairs: Sequence[tuple[Column, Column]]) -> Figure:
    """Means of each response over its two strongest factors."""
    gap = 0.1
    panels = _Panels([pairs[0][1]], [across for across, _ in pairs], gap=gap)
    for column, (response, (across, up)) in enumerate(zip(responses, pairs, strict=True)):
        (x, i), (y, j) = _places(across), _places(up)
        means = _means(j * len(x) + i, response.values, len(x) * len(y)).reshape(len(y), len(x))
        begin, end = _share(column, len(pairs), gap)
        bar: Figure = {
            "title": {"text": response.title, "side": "top"},
            "orientation": "h",
            "x": 0.5 * (begin + end),
            "y": 1.02,
            "yanchor": "bottom",
            "len": 0.9 * (end - begin),
            "thickness": 10,
        }
        trace: Figure = {"type": "contour", "x": _numbers(x), "y": _numbers(y), "z": [_numbers(row) for row in means]}
        panels.add(0, column, {**trace, "connectgaps": True, "colorscale": "Viridis", "colorbar": bar})
        panels.set_axis(0, column, "y", up)
    figure = panels.figure()
    layout: Any = figure["layout"]
    return {**figure, "layout": {**layout, "height": 430, "margin": {**_MARGIN, "t": 90}}}


def _parallel_section(columns: Sequence[Column]) -> _Section:
    known = ~np.any([np.isnan(one.values) for one in columns], axis=0)
    figure = _parallel(columns, np.flatnonzero(known)) if known.any() else None
    return _Section("Parallel coordinates", figure, "" if figure else "no run has all responses: there are no lines")


def _parallel(columns: Sequence[Column], rows: NDArray[np.int64]) -> Figure:
    """rows: of runs that have all columns

    Lines of SVG; those of plotly need WebGL, which a remote desktop may lack.  The colour is the last response."""
    chosen = rows[_thinned(len(rows), _LINES)]
    ends = [(float(one.values[chosen].min()), float(one.values[chosen].max())) for one in columns]
    heights = np.column_stack(
        [(one.values[chosen] - low) / ((high - low) or 1.0) for one, (low, high) in zip(columns, ends, strict=True)]
    )
    shade = np.minimum((heights[:, -1] * len(_SHADES)).astype(int), len(_SHADES) - 1)
    data = []
    for number, colour in enumerate(_SHADES):
        lines = heights[shade == number]
        x = [*range(len(columns)), None] * len(lines)
        y = [one for heights_of_run in lines for one in (*map(float, heights_of_run), None)]
        line = {"color": colour, "width": 1}
        data.append({"type": "scatter", "mode": "lines", "x": x, "y": y, "line": line, "hoverinfo": "skip"})
    notes = []
    for place, (one, (low, high)) in enumerate(zip(columns, ends, strict=True)):
        texts = (one.texts[0], one.texts[-1]) if one.texts else (number_text(low, 4), number_text(high, 4))
        for text, at, shift in (
            (one.title, 1.0, 26),
            (plain_text(texts[1]), 1.0, 10),
            (plain_text(texts[0]), 0.0, -12),
        ):
            font = {"size": 12 if shift == 26 else 11, "color": TEXT if shift == 26 else QUIET}
            notes.append({"x": place, "y": at, "yshift": shift, "text": text, "showarrow": False, "font": font})
    axis: Figure = {"showgrid": True, "gridcolor": LINE, "tickvals": [*range(len(columns))], "showticklabels": False}
    layout: Figure = {
        "width": _WIDTH,
        "height": 380,
        "margin": {**_MARGIN, "t": 50, "b": 30},
        "xaxis": {**axis, "zeroline": False, "range": [-0.3, len(columns) - 0.7]},
        "yaxis": {"visible": False, "range": [-0.004, 1.004]},
        "plot_bgcolor": "#ffffff",
        "showlegend": False,
        "annotations": notes,
    }
    return {"data": data, "layout": layout}
