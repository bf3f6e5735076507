"""The report: what it says is what was found, it needs nothing but itself, and no name can break it."""

from __future__ import annotations

import base64
import gzip
import html
import json
import math
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs
from sampled import contact_events

from fmu_builder.cosim.comparison import Tolerance, compare
from fmu_builder.cosim.connection_energy import ConnectionEnergy
from fmu_builder.cosim.trace import Trace
from fmu_builder.cosim.validation import CaseResult, Order
from fmu_builder.errors import InputError, ToolError
from fmu_builder.paths import own_version
from fmu_builder.report import figure_sheet, figures
from fmu_builder.report.report import summary_rows, write_report

MEGABYTE = 1_000_000
HOSTILE = '</script><script>alert(1)</script><img src="http://example.com/x.png" onerror=alert(2)>&amp;"\''
STIFFNESS, SPEED = 1e5, 1.0  # N/m, m/s; mass 1 kg
FREQUENCY = math.sqrt(STIFFNESS)  # rad/s


def case(
    trace: Trace,
    reference: Trace,
    signals: Mapping[str, Tolerance],
    events: Mapping[str, Tolerance] | None = None,
    name: str = "element/case",
    order: Order | None = None,
) -> CaseResult:
    compared = compare(trace, reference, signals, Tolerance(), events)
    return CaseResult(
        name, "A description", "closed form: stated here", compared, order, trace, reference, ("a note",), 0.1
    )


def signal_case(error: float = 0.0, name: str = "element/signal", samples: int = 201) -> CaseResult:
    """A height over 1 s; 1 mm of error is allowed, and `error` in m made at 1/3 s."""
    time = np.linspace(0.0, 1.0, samples)
    height = 0.5 - 0.3 * time**2
    wrong = height.copy()
    wrong[samples // 3] += error
    provenance = {"algorithm": "gauss_seidel", "step": 1e-5, "slaves": {"body": {"model": "PointMass"}}, "fmpy": "1.2"}
    trace = Trace(time, ("body.p.r[3]",), wrong[:, None], {"body.p.r[3]": "m"}, {}, provenance)
    reference = Trace(time, ("body.p.r[3]",), height[:, None], {"body.p.r[3]": "m"})
    return case(trace, reference, {"body.p.r[3]": Tolerance(absolute=1e-3)}, name=name)


def contact_trace() -> Trace:
    """An elastic contact from 1 ms on in a run of 16 ms."""
    time = np.arange(1601) * 1e-5
    phase = FREQUENCY * (time - 1e-3)
    inside = (phase > 0.0) & (phase < np.pi)
    depth = np.where(inside, SPEED / FREQUENCY * np.sin(phase), 0.0)
    rate = np.where(inside, SPEED * np.cos(phase), np.where(phase <= 0.0, SPEED, -SPEED))
    names = ("floor.depth", "floor.depth_rate", "floor.normal_force", "floor.in_contact")
    values = np.column_stack((depth, rate, STIFFNESS * depth, inside))
    trace = Trace(time, names, values, {"floor.depth": "m", "floor.depth_rate": "m/s", "floor.normal_force": "N"})
    return replace(trace, events=contact_events(trace))


def event_case(restitution: float = 1.0) -> CaseResult:
    expected = {"floor.touch[1]": 1e-3, "floor.duration[1]": np.pi / FREQUENCY, "floor.restitution[1]": restitution}
    reference = Trace(np.array([0.0, 0.016]), (), np.zeros((2, 0)), {}, expected)
    tolerances = {name: Tolerance(absolute=1e-5) for name in expected}
    return case(contact_trace(), reference, {}, tolerances, name="element/events")


def order_case(measured: float = 1.01) -> CaseResult:
    steps = (32e-6, 16e-6, 8e-6)
    order = Order("body.p.r[3]", "m", steps, tuple(40.0 * h**measured for h in steps), measured, 1.0, 0.15)
    return replace(signal_case(name="element/order"), order=order)


def ended_case(
    name: str = "element/ended", failure: str = "case.toml: [slaves] floor: there is no recipe"
) -> CaseResult:
    return CaseResult(name, "", "", None, None, None, None, (), 0.1, InputError(failure))


def page(tmp_path: Path, *results: CaseResult, title: str = "Report") -> str:
    write_report(results, tmp_path / "report.html", title=title)
    return (tmp_path / "report.html").read_text(encoding="utf-8")


def test_energies_of_connections_are_listed_with_their_sum_the_largest_first(tmp_path: Path) -> None:
    energies = (ConnectionEnergy("a.p~b.p", 0.01, 2.0), ConnectionEnergy(HOSTILE, -0.5, 0.0))
    text = page(tmp_path, replace(signal_case(), energies=energies))
    table = text[text.index('<table class="energies">') :].partition("</table>")[0]
    cells = [html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<td[^>]*>(.*?)</td>", table)]
    assert cells == [HOSTILE, "-0.5", "0", "", "a.p~b.p", "0.01", "2", "0.005", "sum", "-0.49", "", ""]
    assert 'class="energies"' not in page(tmp_path, signal_case())


class Tags(HTMLParser):
    """Tags with their attributes, and all text outside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._inside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self._inside):
            self.text += data


def unpacked(text: str, which: str) -> dict[str, str]:
    """What a browser unpacks of script elements whose id fits."""
    found = re.findall(rf'<script type="text/plain" id="({which})">([^<]*)</script>', text)
    return {name: gzip.decompress(base64.b64decode(data)).decode("utf-8") for name, data in found}


def plots(text: str) -> list[dict[str, object]]:
    return [json.loads(figure) for figure in unpacked(text, "case-[0-9]+-plot-data").values()]


def curve(figure: dict[str, object], name: str) -> tuple[np.ndarray, np.ndarray]:
    for trace in figure["data"]:  # type: ignore[attr-defined]
        if trace["name"] == name and trace["type"] == "scatter":
            x, y = (np.frombuffer(base64.b64decode(trace[axis]["bdata"]), "<f4") for axis in "xy")
            if x.size > 1:
                return x, y
    raise AssertionError(f"no curve {name}")


# --- what it says ----------------------------------------------------------------------------------------------------


def test_every_case_stands_in_the_table_and_links_to_its_section(tmp_path: Path) -> None:
    results = [signal_case(), event_case(), order_case(), ended_case()]
    tags = Tags(page(tmp_path, *results))
    links = [a["href"] for tag, a in tags.tags if tag == "a"]
    sections = {a["id"] for tag, a in tags.tags if tag == "section" and "id" in a}
    assert len(links) == len(results)
    assert {str(link).removeprefix("#") for link in links} == sections
    for result in results:
        assert tags.text.count(result.name) >= 2, result.name
    assert "Gauss-Seidel, step 10 µs; body = PointMass" in tags.text
    assert "closed form: stated here" in tags.text and "a note" in tags.text


def test_a_failed_case_stands_first_and_says_by_how_much(tmp_path: Path) -> None:
    text = page(tmp_path, event_case(), signal_case(error=2.5e-3, name="element/wrong"))
    shown = Tags(text).text
    assert "1 of 2 cases passed, 1 failed" in shown
    assert shown.index("element/wrong") < shown.index("element/events")
    assert "2.5 mm" in shown and "1 mm" in shown and "250 %" in shown
    assert shown.count("✗ failed") == 2  # in the table of cases and in its own
    assert "✗ element/wrong" in shown and "✓ element/events" in shown
    assert "largest error" in {t["name"] for t in plots(text)[0]["data"]}  # type: ignore[attr-defined]


def test_a_report_without_failures_shows_none(tmp_path: Path) -> None:
    shown = Tags(page(tmp_path, signal_case(), event_case(), order_case())).text
    assert "3 of 3 cases passed" in shown
    assert "✗" not in shown


def test_a_case_that_ended_with_an_error_shows_the_whole_message(tmp_path: Path) -> None:
    failure = "case.toml: [slaves] floor: there is no recipe\ncase.toml: [experiment] stop: 1 kg is no time"
    shown = Tags(page(tmp_path, ended_case(failure=failure), signal_case())).text
    assert failure in shown
    assert "1 of 2 cases passed" in shown


def test_a_trace_that_ends_too_soon_fails_although_all_its_errors_are_small(tmp_path: Path) -> None:
    good = signal_case()
    assert good.trace and good.reference
    short = Trace(good.trace.time[:150], good.trace.names, good.trace.values[:150], good.trace.units)
    result = case(short, good.reference, {"body.p.r[3]": Tolerance(absolute=1e-3)})
    (row,) = summary_rows([result])
    assert not row.passed and "the trace ends at" in row.note
    assert "the trace ends at" in Tags(page(tmp_path, result)).text


# --- the summary -----------------------------------------------------------------------------------------------------


def test_the_summary_names_what_uses_most_of_its_allowance() -> None:
    results = [signal_case(error=0.4e-3), event_case(restitution=0.999995), order_case(measured=1.1)]
    signal, event, order = summary_rows(results)
    assert (signal.what, signal.unit, signal.passed) == ("body.p.r[3]", "m", True)
    assert (signal.error, signal.share) == (pytest.approx(0.4e-3), pytest.approx(0.4))
    assert (signal.error_text, signal.allowed_text, signal.share_text) == ("0.4 mm", "1 mm", "40 %")
    assert (event.what, event.error) == ("floor.restitution[1]", pytest.approx(5e-6))
    assert (order.what, order.error_text, order.allowed_text) == ("order of body.p.r[3]", "0.1", "0.15")


def test_an_absent_event_is_worse_than_any_error() -> None:
    reference = Trace(np.array([0.0, 0.016]), (), np.zeros((2, 0)), {}, {"floor.touch[1]": 0.9, "floor.touch[2]": 5e-3})
    tolerances = {name: Tolerance(absolute=1e-6) for name in reference.events}
    (row,) = summary_rows([case(contact_trace(), reference, {}, tolerances)])
    assert (row.what, row.error, row.passed, row.note) == ("floor.touch[2]", None, False, "absent in the trace")
    assert (row.error_text, row.share_text) == ("–", "–")


def test_a_case_without_an_allowance_passes_only_exactly() -> None:
    time = np.linspace(0.0, 1.0, 11)
    reference = Trace(time, ("s",), time[:, None], {})
    (exact,) = summary_rows([case(reference, reference, {"s": Tolerance()})])
    assert (exact.share, exact.passed, exact.error_text) == (0.0, True, "0")
    (wrong,) = summary_rows([case(Trace(time, ("s",), time[:, None] + 1e-9, {}), reference, {"s": Tolerance()})])
    assert (wrong.share, wrong.passed) == (math.inf, False)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (50e-6, "m", "50 µm"),
        (0.679596, "m", "0.68 m"),
        (0.1, "m", "100 mm"),
        (320.0, "N", "320 N"),
        (12345.0, "N", "12.3 kN"),
        (2e-6, "s", "2 µs"),
        (1e-12, "m", "1 pm"),
        (-0.0123, "m/s", "-12.3 mm/s"),
        (0.0000197, "1", "0.0000197"),
        (1234.5, "furlong", "1234 furlong"),
        (0.0, "m", "0 m"),
        (1e-21, "1", "1·10^-21"),
    ],
)
def test_quantities_read_as_engineers_write_them(value: float, unit: str, text: str) -> None:
    assert figure_sheet.scale_of(value, unit).text(value) == text


def test_an_error_far_below_the_allowed_one_is_not_spelled_out() -> None:
    (row,) = summary_rows([signal_case(error=1e-12)])
    assert (row.error_text, row.share_text) == ("< 0.001 mm", "< 0.1 %")


# --- the file --------------------------------------------------------------------------------------------------------


def test_the_page_fetches_nothing(tmp_path: Path) -> None:
    text = page(tmp_path, signal_case(), event_case(), order_case(), ended_case())
    assert "http:" not in text and "https:" not in text
    tags = Tags(text).tags
    assert not [a for _, a in tags if "src" in a or "srcset" in a or "action" in a]
    assert all(str(a["href"]).startswith("#") for _, a in tags if "href" in a)
    assert not [tag for tag, _ in tags if tag in ("link", "iframe", "object", "embed", "base")]
    policy = [a["content"] for tag, a in tags if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"]
    assert len(policy) == 1 and str(policy[0]).startswith("default-src 'none'")
    assert unpacked(text, "plotly") == {"plotly": get_plotlyjs()}


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    time = np.linspace(0.0, 1.0, 11)
    trace = Trace(time, (HOSTILE,), 1.1 * time[:, None], {HOSTILE: HOSTILE}, {}, {"algorithm": HOSTILE, "slaves": 3})
    reference = Trace(time, (HOSTILE,), time[:, None], {HOSTILE: HOSTILE}, {}, {"formula": HOSTILE})
    hostile = replace(
        case(trace, reference, {HOSTILE: Tolerance(absolute=1e-3)}, name=HOSTILE),
        description=HOSTILE,
        source=HOSTILE,
        notes=(HOSTILE,),
    )
    harmless = Tags(page(tmp_path, signal_case(), ended_case(), title="plain"))
    text = page(tmp_path, hostile, ended_case(name=HOSTILE, failure=HOSTILE), title=HOSTILE)
    tags = Tags(text)
    assert not [tag for tag, _ in tags.tags if tag == "img"]
    assert [tag for tag, _ in tags.tags].count("script") == [tag for tag, _ in harmless.tags].count("script")
    assert tags.text.count(HOSTILE) >= 8
    # plotly reads tags in names and titles of axes
    shown = json.dumps(plots(text), ensure_ascii=False)
    assert "<img" not in shown
    assert html.escape(HOSTILE) in {t["name"] for t in plots(text)[0]["data"]}  # type: ignore[attr-defined]


def test_the_report_names_versions_machine_and_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    text = page(tmp_path, signal_case())
    (line,) = re.findall(r"Run with (.*?)\.</p>", text)
    assert line.startswith(f"fmu-builder {own_version()}")
    assert line.endswith(f"on {platform.system()} {platform.machine()}, {os.cpu_count()} cores, 2023-11-14")


def test_equal_results_give_equal_bytes_whatever_time_they_took(tmp_path: Path) -> None:
    fmu = tmp_path / "PointMass.fmu"
    fmu.write_bytes(b"not read as an FMU")
    results = [signal_case(), event_case(), order_case()]
    slower = [replace(result, seconds=7.0) for result in reversed(results)]
    write_report(results, tmp_path / "a.html", fmus=[fmu], title="Report")
    write_report(slower, tmp_path / "b.html", fmus=[fmu], title="Report")
    content = (tmp_path / "a.html").read_bytes()
    assert content == (tmp_path / "b.html").read_bytes()
    assert b"PointMass.fmu" in content and str(tmp_path).encode() not in content


@pytest.mark.slow
def test_a_hundred_long_cases_with_noise_stay_below_six_megabytes(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).normal(0.0, 1e-4, 20_001)
    case_of_noise = signal_case(samples=20_001)
    assert case_of_noise.trace and case_of_noise.reference
    trace = replace(case_of_noise.trace, values=case_of_noise.trace.values + noise[:, None])
    noisy = case(trace, case_of_noise.reference, {"body.p.r[3]": Tolerance(absolute=1e-3)})
    write_report([replace(noisy, name=f"case {k}") for k in range(100)], tmp_path / "report.html", title="Report")
    assert (tmp_path / "report.html").stat().st_size < 6 * MEGABYTE


def test_nothing_half_written_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "report.html"
    target.write_text("the old report")

    def refuse(self: Path, other: Path) -> Path:
        raise PermissionError(13, "held open by another program")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(ToolError, match=r"report\.html: cannot be written: held open by another program"):
        write_report([signal_case()], target, title="Report")
    assert target.read_text() == "the old report"
    assert list(tmp_path.iterdir()) == [target]


def test_a_missing_folder_or_fmu_and_no_results_are_named(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="cannot be written"):
        write_report([signal_case()], tmp_path / "missing" / "report.html", title="Report")
    with pytest.raises(InputError) as caught:
        lost = [tmp_path / "a.fmu", tmp_path / "b.fmu"]
        write_report([signal_case()], tmp_path / "report.html", fmus=lost, title="Report")
    assert len(caught.value.problems) == 2
    with pytest.raises(InputError, match="nothing to report"):
        write_report([], tmp_path / "report.html", title="Report")
    assert list(tmp_path.iterdir()) == []


# --- the plots -------------------------------------------------------------------------------------------------------


def test_every_plot_is_valid_for_plotly_and_none_is_empty(tmp_path: Path) -> None:
    results = [signal_case(), signal_case(error=1.0), event_case(), order_case(), order_case(measured=2.0)]
    figures = plots(page(tmp_path, *results))
    assert len(figures) == len(results)
    for figure in figures:
        drawn = go.Figure({"data": figure["data"], "layout": figure["layout"]})  # raises for an unknown property
        assert len(drawn.data) >= 2


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (["bar.p.r[3]"], "r[3] (m)"),
        (["bar.p.r[1]", "bar.p.r[3]"], "r (m)"),
        (["bar.energy.total"], "energy.total (m)"),
        (["bar.energy.total", "bar.floor.energy.elastic"], "energy (m)"),
        (["bar.q", "bar.energy.total"], "m"),
    ],
)
def test_an_axis_is_named_by_what_its_signals_have_in_common(tmp_path: Path, names: list[str], title: str) -> None:
    time = np.linspace(0.0, 1.0, 201)
    values = np.stack([3.0 - time**2] * len(names), axis=1)
    trace = Trace(time, tuple(names), values, dict.fromkeys(names, "m"), {}, {})
    (figure,) = plots(page(tmp_path, case(trace, trace, dict.fromkeys(names, Tolerance(absolute=1e-3)))))
    assert figure["layout"]["yaxis"]["title"]["text"] == title  # type: ignore[index]


@pytest.mark.parametrize(("samples", "mode"), [(2, "lines+markers"), (201, "lines")])
def test_few_samples_are_marked(tmp_path: Path, samples: int, mode: str) -> None:
    (figure,) = plots(page(tmp_path, signal_case(samples=samples)))
    assert [curve["mode"] for curve in figure["data"] if curve["name"] == "body.p.r[3]"] == [mode, "lines"]


def test_legends_keep_the_order_of_the_curves(tmp_path: Path) -> None:
    """Plotly turns it round where a curve is filled, as the band of allowed errors is."""
    (figure,) = plots(page(tmp_path, signal_case()))
    legends = [value for key, value in figure["layout"].items() if key.startswith("legend")]
    assert legends and all(legend["traceorder"] == "normal" for legend in legends)


def test_a_spike_of_one_sample_survives_thinning(tmp_path: Path) -> None:
    (figure,) = plots(page(tmp_path, signal_case(error=0.2, samples=50_001)))
    time, height = curve(figure, "body.p.r[3]")
    assert height.size <= 2000
    assert height.max() == pytest.approx(0.5 - 0.3 / 9.0 + 0.2, rel=1e-4)
    assert time[height.argmax()] == pytest.approx(1.0 / 3.0, rel=1e-3)


def test_a_thinned_curve_passes_the_samples_it_leaves_out() -> None:
    time = np.linspace(0.0, 1.0, 1999)
    values = np.sin(20.0 * time)
    t, v = figure_sheet.thinned(time, values, 2000, 2.0)
    assert 20 < t.size < 1000
    assert np.abs(np.interp(time, t, v) - values).max() <= 2.0 / (20.0 * 2000)


def test_a_jump_keeps_both_its_sides() -> None:
    time = np.array([0.0, 1.0, 1.0, 2.0])
    t, v = figure_sheet.thinned(time, np.array([0.0, 0.0, 5.0, 5.0]), 2000, 5.0)
    assert t.tolist() == [0.0, 1.0, 1.0, 2.0] and v.tolist() == [0.0, 0.0, 5.0, 5.0]


def test_the_drawn_error_peaks_at_the_error_of_the_verdict(tmp_path: Path) -> None:
    result = signal_case(error=0.5e-3)
    assert result.comparison and result.trace and result.reference
    _, share = figures._share_of_allowed(result.comparison.signals[0], result.trace, result.reference)
    assert share.max() == pytest.approx(0.5)


def test_an_error_forgiven_as_a_shift_in_time_is_drawn_below_the_limit() -> None:
    time = np.linspace(0.0, 1.0, 101)
    late, early = (np.where(time >= jump, 1.0, 0.0) for jump in (0.52, 0.5))
    trace = Trace(time, ("e",), late[:, None], {})
    reference = Trace(time, ("e",), early[:, None], {})
    result = case(trace, reference, {"e": Tolerance(absolute=0.01, time=0.03)})
    assert result.passed and result.comparison
    _, share = figures._share_of_allowed(result.comparison.signals[0], trace, reference)
    assert share.max() <= 1.0


def test_a_short_contact_is_drawn_larger_beside_the_run(tmp_path: Path) -> None:
    contact = contact_trace()
    time = np.concatenate((contact.time, np.arange(0.017, 0.2, 1e-3)))
    values = np.vstack((contact.values, np.tile(contact.values[-1], (time.size - contact.time.size, 1))))
    trace = Trace(time, contact.names, values, contact.units, contact.events)
    reference = Trace(time, ("floor.depth",), trace["floor.depth"][:, None], {"floor.depth": "m"})
    (figure,) = plots(page(tmp_path, case(trace, reference, {"floor.depth": Tolerance(absolute=1e-5)})))
    ranges = {tuple(axis["range"]) for name, axis in figure["layout"].items() if name.startswith("xaxis")}  # type: ignore[attr-defined]
    assert (0.0, pytest.approx(199.0)) in [tuple(r) for r in ranges]
    duration = 1e3 * math.pi / FREQUENCY  # ms
    closer = min(ranges, key=lambda r: r[1] - r[0])
    assert closer[0] == pytest.approx(0.0, abs=0.3) and closer[1] == pytest.approx(1.0 + 1.25 * duration, rel=0.02)


def test_events_alone_are_drawn_as_a_loop_of_force_over_depth(tmp_path: Path) -> None:
    (figure,) = plots(page(tmp_path, event_case()))
    depth, force = curve(figure, "contact 1")
    deepest = 1e3 * SPEED / FREQUENCY  # mm
    assert depth.max() == pytest.approx(deepest, rel=1e-4)
    assert force.max() == pytest.approx(STIFFNESS * SPEED / FREQUENCY, rel=1e-4)
    names = [t["name"] for t in figure["data"]]  # type: ignore[attr-defined]
    assert "reference restitution[1] 1" in names and "reference touch[1] 1 ms" in names


def test_the_line_of_the_expected_order_has_its_slope(tmp_path: Path) -> None:
    (figure,) = plots(page(tmp_path, order_case(measured=1.1)))
    steps, errors = curve(figure, "expected order")
    assert np.diff(np.log(errors)) / np.diff(np.log(steps)) == pytest.approx(1.0, rel=1e-5)
    measured_steps, measured_errors = curve(figure, "body.p.r[3]")
    assert measured_steps.size > 1 and measured_errors.size > 1
