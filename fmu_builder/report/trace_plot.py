"""A plot of one trace: an HTML page of its signals over time, one panel for each quantity, drawn as in the report."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fmu_builder.cosim.trace import Trace, check_trace
from fmu_builder.errors import InputError, Problem
from fmu_builder.export.documentation import templates
from fmu_builder.files import no_page, path_given, write_whole
from fmu_builder.pages.movement import Movement
from fmu_builder.report.figure_page import figure_parts
from fmu_builder.report.figure_sheet import (
    Figure,
    Sheet,
    axis_title,
    curve_style,
    thinned,
    time_axis,
    value_axis,
)

MOST_CURVES = 10  # of a panel: more cannot be distinguished
MOST_PANELS = 16
_ORDER = ("m", "rad", "m/s", "rad/s", "N", "N.m", "J", "W")  # motion, force, energy; then the other units
_GROUPS = re.compile(r"(?:^|\.)(energy|power|solver|coupling)\.[^.]+$")  # quantities that belong on one panel
_HEIGHT, _LEGEND_ROW = 150, 19  # pixels of a panel, and of a name in its legend
_POINTS = (2000, 1000, 500, 250, 125, 60)  # most of a curve, tried in turn until all fit
_DATA_BYTES = 600_000  # of all curves: with plotly.js the page stays below 3 MB


def plot(trace: Trace, path: Path | str = "plot.html", movement: Movement | None = None) -> Path:
    """Write a page that shows the signals of a trace over time, one panel for each quantity; returns its path.

    movement  of the run, to be drawn above them
    It needs no network.  Signals that never change are left out; equal traces give equal bytes.
    Raises InputError for a name that ends as other files do, ToolError if the file cannot be written."""
    check_trace(trace, "trace")
    if what := no_page(path_given(path, "path")):
        raise InputError(Problem("plot()", what))
    panels = quantity_panels(trace)
    drawn = panels[:MOST_PANELS]
    for points in _POINTS:
        figure = _figure(trace, drawn, points)
        if len(json.dumps(figure)) <= _DATA_BYTES:
            break
    left_out = [name for _, names in panels[MOST_PANELS:] for name in names]
    data = {"plot": json.dumps(figure)} | ({"motion": json.dumps(movement.document)} if movement else {})
    height = figure["layout"]["height"]  # type: ignore[index]
    page = templates().get_template("plot.html")
    page_text = page.render(
        title=Path(path).stem, moves=bool(movement), height=height, left_out=left_out, parts=figure_parts(data)
    )
    write_whole(Path(path), page_text)
    return Path(path)


def quantity_panels(trace: Trace) -> list[tuple[str, list[str]]]:
    """(quantity, names) of each panel: the signals that move, or all if none does, by unit and quantity, at most
    MOST_CURVES each."""
    moving = [n for n in trace.names if trace[n].min() != trace[n].max()] or list(trace.names)
    groups: dict[tuple[str, str], list[str]] = {}
    for name in moving:
        unit = trace.units.get(name, "")
        groups.setdefault(("" if unit == "1" else unit, quantity_of(name)), []).append(name)

    def place(group: tuple[str, str]) -> tuple[int, bool]:
        unit, _ = group
        return _ORDER.index(unit) if unit in _ORDER else len(_ORDER), not unit

    return [
        (quantity, names[first : first + MOST_CURVES])
        for (_, quantity), names in sorted(groups.items(), key=lambda item: place(item[0]))
        for first in range(0, len(names), MOST_CURVES)
    ]


def quantity_of(name: str) -> str:
    """As `r` of body.p.r[1], `energy` of floor.energy.work, `force` of floor.normal_force and body.p.f[1]."""
    plain = re.sub(r"\[[\d,]*\]", "", name)
    group = _GROUPS.search(plain)
    word = group[1] if group else re.split(r"[._]", plain)[-1]
    return {"f": "force", "F": "force", "t": "torque"}.get(word, word)


def _figure(trace: Trace, panels: Sequence[tuple[str, Sequence[str]]], points: int) -> Figure:
    sheet = Sheet([max(_HEIGHT, _LEGEND_ROW * len(names) + 8) for _, names in panels] or [_HEIGHT], [1.0])
    window = (float(trace.time[0]), float(trace.time[-1]))
    for row, (quantity, names) in enumerate(panels):
        width, scale, y = value_axis([trace[name] for name in names], 0.0, trace.units.get(names[0], ""))
        last = row == len(panels) - 1
        time_scale, x = time_axis(window, sheet.panels[0].x if row else None, labelled=last)
        panel = sheet.panel(0, (row, row), x, y | {"nticks": 6, "title": axis_title(scale.title(quantity))})
        for number, name in enumerate(names):
            time, values = thinned(trace.time, trace[name], points, width)
            colour, dash = curve_style(number)
            line = {"width": 1.5, "color": colour, "dash": dash}
            mode = "lines" if len(trace.time) > 1 else "markers"
            shown = np.asarray(values) / scale.factor
            sheet.curve(panel, time / time_scale.factor, shown, name, legend=row, line=line, mode=mode)
    return sheet.figure()
