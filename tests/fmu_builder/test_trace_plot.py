"""The plot page of a trace: what is drawn, and that it needs nothing but itself."""

from __future__ import annotations

import base64
import gzip
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fmu_builder.cosim.trace import Trace
from fmu_builder.errors import InputError, ToolError
from fmu_builder.pages.movement import Movement
from fmu_builder.report.trace_plot import plot, quantity_of

TIME = np.linspace(0.0, 1.0, 11)


def trace(**signals: tuple[str, float]) -> Trace:
    """Signals name -> (unit, slope); a blank is written `_`."""
    values = np.column_stack([slope * TIME for _, slope in signals.values()])
    return Trace(TIME, tuple(signals), values, {name: unit for name, (unit, _) in signals.items()})


def drawn(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Curves and layout, as handed to plotly."""
    text = path.read_text(encoding="utf-8")
    figure = json.loads(unpacked(text, "plot-data"))
    return figure["data"], figure["layout"]


def unpacked(text: str, name: str) -> str:
    """What a browser unpacks of a script element."""
    data = text.partition(f'id="{name}">')[2].partition("</script>")[0]
    return gzip.decompress(base64.b64decode(data)).decode("utf-8")


def numbers(packed: dict[str, str]) -> NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(packed["bdata"]), dtype="<f4")


def test_page_draws_every_signal_that_moves_in_the_panel_of_its_unit(tmp_path: Path) -> None:
    target = tmp_path / "drop.html"
    plot(trace(force=("N", 1.0), height=("m", 2.0), depth=("m", -1.0), still=("m", 0.0), phase=("1", 1.0)), target)
    assert [path.name for path in tmp_path.iterdir()] == ["drop.html"]
    curves, layout = drawn(target)
    axes = {curve["name"]: curve["yaxis"] for curve in curves}
    assert axes == {"height": "y", "depth": "y2", "force": "y3", "phase": "y4"}
    titles = [layout[axis]["title"]["text"] for axis in ("yaxis", "yaxis2", "yaxis3", "yaxis4", "xaxis4")]
    assert titles == ["height (m)", "depth (m)", "force (N)", "phase", "time (s)"]


def test_panels_do_not_overlap_and_each_has_its_legend_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "many.html"
    values = np.column_stack([(1.0 + k) * TIME for k in range(23)])
    names = [f"mass.x[{k + 1}]" for k in range(21)] + ["v", "f"]
    units = dict.fromkeys(names[:21], "m") | {"v": "m/s", "f": "N"}
    plot(Trace(TIME, tuple(names), values, units), target)
    curves, layout = drawn(target)
    suffixes = ["", "2", "3", "4", "5"]
    spans = [layout[f"yaxis{n}"]["domain"] for n in suffixes]
    assert all(above[0] > below[1] for above, below in pairwise(spans))
    counts = [sum(curve["legend"] == f"legend{n}" for curve in curves) for n in suffixes]
    assert counts == [10, 10, 1, 1, 1]
    assert len({(c["line"]["color"], c["line"]["dash"]) for c in curves[:10]}) == 10  # told apart in each panel
    for n, span in zip(suffixes, spans, strict=True):
        assert layout[f"legend{n}"]["y"] == pytest.approx(span[1], abs=0.01)
    assert (spans[0][1] - spans[0][0]) * (layout["height"] - 80) > 10 * 19  # pixels that the first legend needs


@pytest.mark.parametrize(
    ("name", "quantity"),
    [
        ("body.p.r[3]", "r"),
        ("floor.energy.work", "energy"),
        ("floor.normal_force", "force"),
        ("body.p.f[1]", "force"),
        ("chain.contact[1].N", "N"),
        ("solver.steps", "solver"),
        ("depth", "depth"),
    ],
)
def test_signals_of_one_quantity_share_a_panel(name: str, quantity: str) -> None:
    assert quantity_of(name) == quantity


@pytest.mark.slow
def test_a_page_of_many_long_signals_stays_below_3_megabytes_and_names_what_it_leaves_out(tmp_path: Path) -> None:
    time = np.linspace(0.0, 1.0, 20_001)
    noise = np.random.default_rng(1).normal(size=(time.size, 200))
    names = tuple(f"s{k}.q_{k // 10}" for k in range(200))
    plot(Trace(time, names, noise, {}), tmp_path / "x.html")
    assert (tmp_path / "x.html").stat().st_size < 3e6
    curves, _ = drawn(tmp_path / "x.html")
    assert len(curves) == 160
    assert "40 more signals are in the trace: s160.q_16" in (tmp_path / "x.html").read_text(encoding="utf-8")


def test_a_short_event_keeps_its_peak_however_few_points_are_drawn(tmp_path: Path) -> None:
    time = np.linspace(0.0, 1.0, 200_001)
    peak = np.where(time == time[123_456], 571.0, 0.0)
    plot(Trace(time, ("normal_force",), peak[:, None], {"normal_force": "N"}), tmp_path / "x.html")
    (curve,), layout = drawn(tmp_path / "x.html")
    assert len(numbers(curve["y"])) <= 2000
    assert numbers(curve["y"]).max() == pytest.approx(571.0) and layout["yaxis"]["title"]["text"] == "force (N)"


def test_page_needs_nothing_from_elsewhere_and_is_the_same_each_time(tmp_path: Path) -> None:
    signals = trace(x=("m", 1.0))
    first, second = tmp_path / "a" / "x.html", tmp_path / "b" / "x.html"
    for path in (first, second):
        path.parent.mkdir()
        plot(signals, path)
    assert first.read_bytes() == second.read_bytes()
    text = first.read_text(encoding="utf-8")
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=", text)
    assert "<title>x</title>" in text


def test_names_and_units_are_no_markup(tmp_path: Path) -> None:
    hostile = "</script><img src=x>"
    values = np.column_stack([TIME])
    plot(Trace(TIME, (hostile,), values, {hostile: "<b>"}), tmp_path / "x.html")
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert hostile not in text
    curves, layout = drawn(tmp_path / "x.html")
    assert curves[0]["name"] == "&lt;/script&gt;&lt;img src=x&gt;"
    assert layout["yaxis"]["title"]["text"].endswith("(&lt;b&gt;)")


def test_what_moves_is_drawn_above_the_curves(tmp_path: Path) -> None:
    shown = Movement(({"kind": "body", "points": [[0.0, 0.0, "a.r"]]},), (0.0, 1.0), {"a.r": (0.0, 0.5)})
    plot(trace(x=("m", 1.0)), tmp_path / "x.html", shown)
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert json.loads(unpacked(text, "motion-data"))["places"] == {"a.r": [0.0, 0.5]}
    assert text.index('id="motion"') < text.index('id="plot"')
    plot(trace(x=("m", 1.0)), tmp_path / "still.html")
    assert 'id="motion"' not in (tmp_path / "still.html").read_text(encoding="utf-8")


def test_trace_in_which_nothing_moves_is_drawn_whole(tmp_path: Path) -> None:
    plot(trace(x=("m", 0.0), y=("N", 0.0)), tmp_path / "x.html")
    assert len(drawn(tmp_path / "x.html")[0]) == 2


def test_trace_of_one_row_or_no_signal_is_drawn(tmp_path: Path) -> None:
    plot(Trace(TIME[:1], ("x",), np.ones((1, 1)), {}), tmp_path / "row.html")
    assert drawn(tmp_path / "row.html")[0][0]["mode"] == "markers"
    plot(Trace(TIME, (), np.empty((11, 0)), {}), tmp_path / "none.html")
    assert drawn(tmp_path / "none.html")[0] == []


def test_a_page_has_the_name_of_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"plot\(\): '.*x\.png' would be a page of HTML .*; end it with \.html"):
        plot(trace(x=("m", 1.0)), tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()


def test_page_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="cannot be written: No such file or directory"):
        plot(trace(x=("m", 1.0)), tmp_path / "missing" / "x.html")
    (tmp_path / "x.html").mkdir()
    with pytest.raises(ToolError, match=r"x\.html: cannot be written"):
        plot(trace(x=("m", 1.0)), tmp_path / "x.html")
    assert [path.name for path in tmp_path.iterdir()] == ["x.html"]
