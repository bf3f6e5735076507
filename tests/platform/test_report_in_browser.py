"""The report, and the page of a fit, in a browser: every plot is drawn, nothing is fetched, nothing complains, failures
cannot be missed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

import fmu_builder
from fmu_builder.cosim.comparison import Tolerance, compare
from fmu_builder.cosim.validation import CaseResult, find_cases, run_case
from fmu_builder.fitting.page import write_page
from fmu_builder.paths import shipped
from fmu_builder.report.report import write_report

pytestmark = pytest.mark.platform

HOSTILE = '</script><script>alert(1)</script><img src="http://example.com/x.png" onerror=alert(2)><b>bold</b>'
DRAWN = 60_000  # ms; some 3 s on an idle machine


@dataclass
class Opened:
    """The report of some shipped cases and two failures, and what the browser said while it opened."""

    page: Page
    results: list[CaseResult]
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def failing(result: CaseResult) -> CaseResult:
    """The result with every value of the trace 5 % too large, and names that try to become markup."""
    assert result.trace and result.reference and result.comparison
    trace = replace(result.trace, values=1.05 * result.trace.values)
    names = [s.name for s in result.comparison.signals]
    keep = [result.reference.names.index(name) for name in names]
    units = {name: result.reference.units[name] for name in names}
    reference = replace(
        result.reference, names=tuple(names), values=result.reference.values[:, keep], units=units, events={}
    )
    tolerances = {s.name: Tolerance(absolute=s.allowed) for s in result.comparison.signals}
    compared = compare(trace, reference, tolerances, Tolerance())
    return replace(result, name="doctored/failing", description=HOSTILE, trace=trace, comparison=compared)


@pytest.fixture(scope="module")
def opened(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Opened:
    some = sorted(find_cases(()).items())[::6]  # those of one element are plotted alike
    results = [run_case(name, path) for name, path in some]
    with_signals = next(r for r in results if r.comparison and r.comparison.signals)
    results.append(failing(with_signals))
    results.append(
        CaseResult("doctored/ended", "", "", None, None, None, None, (), 0.0, f"case.toml: [slaves] {HOSTILE}", 2)
    )
    target = tmp_path_factory.mktemp("report") / "report.html"
    write_report(results, target, title="Report of a test")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    found = Opened(page, results)
    page.on("console", lambda message: found.complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: found.complaints.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (found.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: found.requests.append(request.url))
    page.goto(target.as_uri())
    page.wait_for_selector("body[data-plots=drawn]", timeout=DRAWN)
    return found


def test_the_browser_has_nothing_to_complain_of(opened: Opened) -> None:
    assert opened.complaints == []


def test_the_browser_fetches_the_page_and_nothing_else(opened: Opened) -> None:
    assert len(opened.requests) == 1 and opened.requests[0].startswith("file:")


def test_every_plot_has_drawn_its_curves_inside_the_page(opened: Opened) -> None:
    sections = opened.page.locator("section[id]")
    plots = opened.page.locator("div.plot")
    assert sections.count() == len(opened.results)
    assert plots.count() == len(opened.results) - 1  # all but the one that ended with an error
    for plot in plots.all():
        name = plot.get_attribute("aria-label")
        assert plot.locator("svg.main-svg").count() >= 1, name
        assert plot.locator("g.trace.scatter").count() >= 2, name
        # a curve that was drawn has a path with at least one segment, a mark has a place
        drawn = plot.locator("path.js-line[d*='L'], path.js-line[d*='H'], path.js-line[d*='V'], path.point")
        assert drawn.count() >= 2, name
    assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_every_legend_and_title_lies_inside_its_plot(opened: Opened) -> None:
    outside = opened.page.evaluate(
        """() => [...document.querySelectorAll("div.plot")].flatMap((plot) => {
             const frame = plot.getBoundingClientRect();
             return [...plot.querySelectorAll("svg text")].filter((text) => {
               const box = text.getBoundingClientRect();
               return box.width > 0 && (box.left < frame.left - 1 || box.right > frame.right + 1
                                        || box.top < frame.top - 1 || box.bottom > frame.bottom + 1);
             }).map((text) => `${plot.getAttribute("aria-label")}: ${text.textContent}`);
           })"""
    )
    assert outside == []


def test_failed_cases_stand_first_marked_red_and_with_a_cross(opened: Opened) -> None:
    rows = opened.page.locator("#summary tbody tr")
    texts = rows.all_inner_texts()
    assert "doctored/ended" in texts[0] and "doctored/failing" in texts[1]
    for row in (rows.nth(0), rows.nth(1)):
        assert row.is_visible() and "✗ failed" in row.inner_text()
        red, green, blue = row.locator("td").last.evaluate(
            "cell => getComputedStyle(cell).color.match(/\\d+/g).map(Number)"
        )
        assert red > 150 and green < 60 and blue < 60
    assert len(texts) > 15
    assert "✗" not in "".join(texts[2:])
    assert opened.page.locator(".verdict").inner_text().endswith("2 failed")
    assert HOSTILE in opened.page.locator("pre").inner_text()


def test_a_link_of_the_table_leads_to_the_case(opened: Opened) -> None:
    opened.page.locator("#summary a").last.click()
    target = opened.page.url.partition("#")[2]
    top = opened.page.locator(f"section#{target}").evaluate("section => section.getBoundingClientRect().top")
    assert -5 <= top < 900


def test_a_mechanism_moves_when_time_is_chosen(opened: Opened) -> None:
    figure = opened.page.locator("figure.motion").first
    body = figure.locator("g").last
    before = body.get_attribute("transform")
    figure.locator("input").evaluate("e => { e.value = e.max; e.dispatchEvent(new Event('input')); }")
    assert body.get_attribute("transform") != before
    figure.locator("button").click()
    assert figure.locator("button").inner_text() == "pause"


def test_the_page_of_a_fit_draws_samples_fit_and_residuals(browser: Browser, tmp_path: Path) -> None:
    found = fmu_builder.fit(shipped("fmus") / "fits" / "cam.toml")
    found = replace(found, warnings=(HOSTILE,), columns=(replace(found.columns[0], name=HOSTILE, signal=HOSTILE),))
    write_page(found, tmp_path / "fit.html")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("request", lambda request: complaints.append(request.url) if "file:" not in request.url else None)
    page.goto((tmp_path / "fit.html").as_uri())
    page.wait_for_selector("body[data-plots=drawn]", timeout=DRAWN)
    points = page.locator("#plot0 path.point").count()
    assert points == 2 * len(found.columns[0].time)  # a sample and its residual
    assert page.locator("#plot0 path.js-line[d*='L']").count() == 1
    assert HOSTILE in page.locator(".warning").inner_text()
    assert complaints == []
