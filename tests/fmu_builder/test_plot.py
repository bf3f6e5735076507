"""The plot page of a trace: what is drawn, and that it needs nothing but itself."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from fmu_builder.errors import ToolError
from fmu_builder.plot import write_trace_plot
from fmu_builder.trace import Trace

TIME = np.linspace(0.0, 1.0, 11)


def trace(**signals: tuple[str, float]) -> Trace:
    """Signals name -> (unit, slope); a blank is written `_`."""
    values = np.column_stack([slope * TIME for _, slope in signals.values()])
    return Trace(TIME, tuple(signals), values, {name: unit for name, (unit, _) in signals.items()})


def drawn(path: Path) -> tuple[list[dict[str, object]], dict[str, object]]:
    """Curves and layout, as handed to plotly."""
    text = path.read_text(encoding="utf-8")
    call = text[text.rindex("Plotly.newPlot(") + len("Plotly.newPlot(") :].lstrip()
    decoder = json.JSONDecoder()
    parts: list[object] = []
    while len(parts) < 3:
        part, end = decoder.raw_decode(call)
        parts.append(part)
        call = call[end:].lstrip(" ,\n")
    return parts[1], parts[2]  # type: ignore[return-value]


def test_page_draws_every_signal_that_moves_in_the_panel_of_its_unit(tmp_path: Path) -> None:
    target = tmp_path / "drop.html"
    write_trace_plot(
        trace(force=("N", 1.0), height=("m", 2.0), depth=("m", -1.0), still=("m", 0.0), phase=("1", 1.0)), target
    )
    assert [path.name for path in tmp_path.iterdir()] == ["drop.html"]
    curves, layout = drawn(target)
    axes = {curve["name"]: curve["yaxis"] for curve in curves}
    assert axes == {"height": "y", "depth": "y", "force": "y2", "phase": "y3"}
    titles = {axis: layout[f"{axis}axis{n}"]["title"]["text"] for axis, n in (("y", ""),)}
    assert titles == {"y": "m"}
    assert layout["yaxis2"]["title"]["text"] == "N"
    assert "time, s" in json.dumps(layout["xaxis3"])


def test_panels_do_not_overlap_and_each_has_its_legend_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "many.html"
    write_trace_plot(trace(**{f"x{k}": ("m", 1.0 + k) for k in range(40)}, v=("m/s", 1.0), f=("N", 1.0)), target)
    curves, layout = drawn(target)
    spans = [layout[axis]["domain"] for axis in ("yaxis", "yaxis2", "yaxis3")]
    assert all(above[0] > below[1] for above, below in pairwise(spans))
    assert {curve["legend"] for curve in curves} == {"legend", "legend2", "legend3"}
    for legend, span in zip(("legend", "legend2", "legend3"), spans, strict=True):
        assert layout[legend]["y"] == pytest.approx(span[1], abs=0.01)
    names = 40 * 19  # pixels that the first legend needs
    assert (spans[0][1] - spans[0][0]) * (layout["height"] - 110) > names


def test_page_needs_nothing_from_elsewhere_and_is_the_same_each_time(tmp_path: Path) -> None:
    signals = trace(x=("m", 1.0))
    first, second = tmp_path / "a" / "x.html", tmp_path / "b" / "x.html"
    for path in (first, second):
        path.parent.mkdir()
        write_trace_plot(signals, path)
    assert first.read_bytes() == second.read_bytes()
    text = first.read_text(encoding="utf-8")
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=", text)
    assert "<title>x</title>" in text


def test_names_and_units_are_no_markup(tmp_path: Path) -> None:
    hostile = "</script><img src=x>"
    values = np.column_stack([TIME])
    write_trace_plot(Trace(TIME, (hostile,), values, {hostile: "<b>"}), tmp_path / "x.html")
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert hostile not in text
    curves, layout = drawn(tmp_path / "x.html")
    assert curves[0]["name"] == "&lt;/script&gt;&lt;img src=x&gt;"
    assert layout["yaxis"]["title"]["text"] == "&lt;b&gt;"


def test_trace_in_which_nothing_moves_is_drawn_whole(tmp_path: Path) -> None:
    write_trace_plot(trace(x=("m", 0.0), y=("N", 0.0)), tmp_path / "x.html")
    assert len(drawn(tmp_path / "x.html")[0]) == 2


def test_trace_of_one_row_or_no_signal_is_drawn(tmp_path: Path) -> None:
    write_trace_plot(Trace(TIME[:1], ("x",), np.ones((1, 1)), {}), tmp_path / "row.html")
    assert drawn(tmp_path / "row.html")[0][0]["mode"] == "markers"
    write_trace_plot(Trace(TIME, (), np.empty((11, 0)), {}), tmp_path / "none.html")
    assert drawn(tmp_path / "none.html")[0] == []


def test_page_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="cannot be written: No such file or directory"):
        write_trace_plot(trace(x=("m", 1.0)), tmp_path / "missing" / "x.html")
    (tmp_path / "x.html").mkdir()
    with pytest.raises(ToolError, match=r"x\.html: cannot be written"):
        write_trace_plot(trace(x=("m", 1.0)), tmp_path / "x.html")
    assert [path.name for path in tmp_path.iterdir()] == ["x.html"]
