"""A plot of one trace: an HTML page with all signals over time, one panel per unit."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from fmu_builder.errors import Problem, ToolError
from fmu_builder.trace import Trace


def write_trace_plot(trace: Trace, path: Path) -> None:
    """Write the page; it needs no network.  Signals that never change are left out.

    Raises ToolError if the file cannot be written."""
    moving = [n for n in trace.names if trace[n].min() != trace[n].max()] or list(trace.names)
    units = sorted({trace.units.get(n, "") for n in moving})
    figure = make_subplots(rows=len(units), cols=1, shared_xaxes=True, vertical_spacing=0.2 / max(len(units), 1))
    for name in moving:
        row = units.index(trace.units.get(name, "")) + 1
        figure.add_trace(go.Scatter(x=trace.time, y=trace[name], name=name, mode="lines"), row=row, col=1)
    for row, unit in enumerate(units, start=1):
        figure.update_yaxes(title_text=unit if unit != "1" else "", row=row, col=1)
    figure.update_xaxes(title_text="time, s", row=len(units), col=1)
    figure.update_layout(template="simple_white", height=max(260 * len(units), 400), title=path.stem)
    page = figure.to_html(include_plotlyjs=True, full_html=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        temporary.write_text(page, encoding="utf-8")
        os.replace(temporary, path)
    except OSError as error:
        raise ToolError(Problem(str(path), f"cannot be written: {error.strerror or error}")) from error
    finally:
        temporary.unlink(missing_ok=True)
