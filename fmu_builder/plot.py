"""A plot of one trace: an HTML page with all signals over time, one panel for each unit."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import plotly.graph_objects as go
from plotly.colors import qualitative
from plotly.subplots import make_subplots

from fmu_builder.files import write_whole
from fmu_builder.trace import Trace

_ORDER = ("m", "rad", "m/s", "rad/s", "N", "N.m", "J", "W")  # motion, force, energy; then the other units
_HEIGHT = 240  # pixels of a panel
_LEGEND_ROW = 19  # pixels of a name in the legend
_GAP = 34  # pixels between panels
_MARGIN = {"l": 80, "r": 20, "t": 60, "b": 50}  # pixels


def write_trace_plot(trace: Trace, path: Path) -> None:
    """Write the page; it needs no network.  Signals that never change are left out; equal traces give equal bytes.

    Raises ToolError if the file cannot be written."""
    figure = _figure(trace, path.stem)
    page = figure.to_html(
        include_plotlyjs=True,
        full_html=True,
        div_id="plot",  # by default a random one
        config={"responsive": True, "displaylogo": False},
    )
    page = page.replace("<head>", f"<head><title>{_plain(path.stem)}</title>", 1)
    write_whole(path, page)


def _figure(trace: Trace, title: str) -> go.Figure:
    panels = _panels(trace)
    heights = [max(_HEIGHT, _LEGEND_ROW * (len(names) + 1)) for names in panels.values()]
    drawn = sum(heights) + _GAP * (len(panels) - 1)
    figure = make_subplots(
        rows=len(panels),
        cols=1,
        shared_xaxes=True,
        row_heights=heights,
        vertical_spacing=_GAP / drawn if len(panels) > 1 else 0.0,
    )
    top = 1.0
    for row, ((unit, names), height) in enumerate(zip(panels.items(), heights, strict=True), start=1):
        legend = "legend" if row == 1 else f"legend{row}"  # each panel its own, beside it
        for name, colour in zip(names, cycle(qualitative.D3), strict=False):
            figure.add_trace(
                go.Scatter(
                    x=trace.time,
                    y=trace[name],
                    name=_plain(name),
                    mode="lines" if len(trace.time) > 1 else "markers",
                    line={"color": colour, "width": 1.5},
                    legend=legend,
                    hovertemplate=f"%{{y:.6g}}{_plain(' ' + unit if unit else '')}",
                ),
                row=row,
                col=1,
            )
        figure.update_layout({legend: {"y": top, "yanchor": "top", "x": 1.01, "tracegroupgap": 0}})
        figure.update_yaxes(title_text=_plain(unit), row=row, col=1)
        top -= (height + _GAP) / drawn
    figure.update_xaxes(title_text="time, s", row=len(panels), col=1)
    figure.update_layout(
        template="simple_white",
        title=_plain(title),
        height=drawn + _MARGIN["t"] + _MARGIN["b"],
        margin=_MARGIN,
        hovermode="x",
        showlegend=True,
    )
    figure.update_xaxes(showgrid=True, gridcolor="#eee")
    figure.update_yaxes(showgrid=True, gridcolor="#eee", exponentformat="power", zeroline=True, zerolinecolor="#bbb")
    return figure


def _panels(trace: Trace) -> dict[str, list[str]]:
    """Names of the signals that move, by unit, "" for numbers; all signals if none does."""
    moving = [n for n in trace.names if trace[n].min() != trace[n].max()] or list(trace.names)
    panels: dict[str, list[str]] = {}
    for name in moving:
        unit = trace.units.get(name, "")
        panels.setdefault("" if unit == "1" else unit, []).append(name)

    def place(unit: str) -> tuple[int, bool, str]:
        return _ORDER.index(unit) if unit in _ORDER else len(_ORDER), not unit, unit

    return {unit: panels[unit] for unit in sorted(panels, key=place)} or {"": []}


def _plain(text: str) -> str:
    """Text that HTML and plotly show as it is."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
