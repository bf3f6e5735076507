"""The page of a fit: values, intervals, correlations, and for each column what was measured, fitted and left over."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

from fmu_builder.export.documentation import templates
from fmu_builder.files import write_whole
from fmu_builder.fitting.result import FitResult, FittedColumn
from fmu_builder.report.figure_sheet import (
    COLOURS,
    Figure,
    Sheet,
    axis_title,
    number_text,
    plotly_library,
    scale_of,
    thinned,
    time_axis,
    value_axis,
)

MOST_COLUMNS = 12  # that are drawn
_FIT_HEIGHT, _RESIDUAL_HEIGHT = 220, 110  # pixels
_POINTS = (2000, 1000, 500, 250, 125)  # most of a curve, tried in turn until all fit
_DATA_BYTES = 600_000  # of all curves: with plotly.js the page stays below 6 MB


def write_page(result: FitResult, path: Path) -> None:
    """Write the page, which needs no network; equal results give equal bytes.   Raises ToolError."""
    figures: list[Figure] = []
    for points in _POINTS:
        figures = [_figure(column, points) for column in result.columns[:MOST_COLUMNS]]
        if len(json.dumps(figures)) <= _DATA_BYTES:
            break
    page = templates().get_template("fit.html")
    text = page.render(
        title=f"Fit {result.path.stem}",
        result=result,
        rows=[
            {
                "name": p.name,
                "unit": "" if p.unit == "1" else p.unit,
                "log": "logarithmic" if p.log else "",
                "numbers": [_number(one) for one in (p.value, p.low, p.high, p.min, p.max)],
            }
            for p in result.parameters
        ],
        correlations=[
            (p.name, [(f"{number:.3f}" if math.isfinite(number) else "", _shade(number)) for number in row])
            for p, row in zip(result.parameters, result.correlation.tolist(), strict=True)
        ],
        columns=[
            {
                "file": Path(c.file).name,
                "name": c.name,
                "signal": c.signal,
                "numbers": [f"{len(c.time)}", _quantity(c.rms, c.unit), _quantity(c.deviation, c.unit)],
                "how": "estimated" if c.estimated else "given",
            }
            for c in result.columns
        ],
        figures=figures,
        not_drawn=[c.name for c in result.columns[MOST_COLUMNS:]],
        plotly=plotly_library(),
    )
    write_whole(path, text)


def _number(value: float) -> str:
    return number_text(value, 6) if math.isfinite(value) else "unknown"


def _quantity(value: float, unit: str) -> str:
    return scale_of(value, unit).text(value)


def _shade(correlation: float) -> float:
    """How dark the cell of a correlation is, 0 .. 1."""
    return round(correlation**4, 3) if math.isfinite(correlation) else 0.0


def _figure(column: FittedColumn, points: int) -> Figure:
    """Samples and fit above, the residual below."""
    sheet = Sheet([_FIT_HEIGHT, _RESIDUAL_HEIGHT], [1.0])
    window = (float(column.time[0]), float(column.time[-1]) or 1.0)
    width, scale, y = value_axis([column.measured, column.fitted], 0.0, column.unit)
    time_scale, x = time_axis(window, None, labelled=False)
    panel = sheet.panel(0, (0, 0), x, y | {"nticks": 6, "title": axis_title(scale.title(column.signal))})
    every = np.unique(np.linspace(0, len(column.time) - 1, min(points, len(column.time))).astype(int))
    shown = column.time[every] / time_scale.factor
    marks = {"size": 4, "color": COLOURS[0]}
    measured = column.measured[every] / scale.factor
    sheet.curve(panel, shown, measured, "measured", legend=0, mode="markers", marker=marks)
    time, values = thinned(column.time, column.fitted, points, width)
    line = {"width": 1.5, "color": COLOURS[1]}
    sheet.curve(panel, time / time_scale.factor, values / scale.factor, "fitted", legend=0, line=line)
    residual = column.fitted - column.measured
    _, scale, y = value_axis([residual], 2.0 * column.deviation, column.unit)
    _, x = time_axis(window, "x", labelled=True)
    panel = sheet.panel(0, (1, 1), x, y | {"nticks": 5, "title": axis_title(scale.title("residual"))})
    marks = {"size": 3, "color": COLOURS[2]}
    left = residual[every] / scale.factor
    sheet.curve(panel, shown, left, "fitted - measured", legend=1, mode="markers", marker=marks)
    for sign in (-1.0, 1.0):
        sheet.level(panel, sign * column.deviation / scale.factor, color="#999999", dash="dot")
    return sheet.figure()
