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
from fmu_builder.errors import InputError
from fmu_builder.fitting.page import write_page
from fmu_builder.paths import shipped
from fmu_builder.report.case_view import case_view
from fmu_builder.report.report import write_report

pytestmark = pytest.mark.platform

HOSTILE = '</script><script>alert(1)</script><img src="http://example.com/x.png" onerror=alert(2)><b>bold</b>'
DRAWN = 60_000  # ms; some 3 s on an idle machine
SHOWN_FRAME = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@dataclass
class Opened:
    """The report of some shipped cases and two failures, and what the browser said while it opened."""

    page: Page
    path: Path
    results: list[CaseResult]
    at_first: int  # figures that were drawn when it opened
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
    views = {name: case_view(path, result) for (name, path), result in zip(some, results, strict=True)}
    with_signals = next(r for r in results if r.comparison and r.comparison.signals)
    results.append(failing(with_signals))
    results.append(
        CaseResult(
            "doctored/ended", "", "", None, None, None, None, (), 0.0, InputError(f"case.toml: [slaves] {HOSTILE}")
        )
    )
    target = tmp_path_factory.mktemp("report") / "report.html"
    write_report(results, target, title="Report of a test", views=views)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(DRAWN)
    found = Opened(page, target, results, 0)
    page.on("console", lambda message: found.complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: found.complaints.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (found.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: found.requests.append(request.url))
    page.goto(target.as_uri())
    page.evaluate("queue")
    found.at_first = page.evaluate("drawn.size")
    page.evaluate("drawAll(false)")
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
    link = opened.page.locator("#summary a").last
    target = link.get_attribute("href")
    link.click()
    opened.page.wait_for_function(
        """(target) => {
             const top = document.querySelector(`section${target}`).getBoundingClientRect().top;
             return location.hash === target && -5 <= top && top < 900;
           }""",
        arg=target,
    )


def test_figures_are_drawn_when_they_come_into_view(opened: Opened, browser: Browser) -> None:
    assert opened.at_first == 0  # the table comes first
    page = browser.new_page()
    page.set_default_timeout(DRAWN)
    page.goto(opened.path.as_uri())
    last = page.locator(".plot").last
    last.scroll_into_view_if_needed()
    last.locator("svg.main-svg").first.wait_for(timeout=DRAWN)
    page.evaluate("queue")
    assert 1 <= page.evaluate("drawn.size") < page.evaluate("waiting.size")
    page.close()


def test_what_moves_is_drawn_at_the_chosen_time(opened: Opened) -> None:
    figures = opened.page.locator("figure.motion")
    assert figures.count() >= 10
    for figure in figures.all():
        canvas = figure.locator("canvas")
        pictures = []
        for share in (0.2, 0.6, 1.0):
            figure.locator("input").evaluate(
                "(e, share) => { e.value = share; e.dispatchEvent(new Event('input')); }", share
            )
            pictures.append(canvas.evaluate("canvas => canvas.toDataURL()"))
        label = canvas.get_attribute("aria-label")
        assert len(set(pictures)) > 1 or label == "Motion of systems/block_stays", label
    figure = figures.first
    figure.locator("button").click()
    assert figure.locator("button").inner_text() == "pause"
    figure.locator("button").click()


def shown_rows(page: Page) -> list[str]:
    rows: list[str] = page.evaluate(
        "[...document.querySelectorAll('#summary tbody tr')].filter((one) => one.offsetHeight).map((one) => "
        "one.querySelector('a').textContent)"
    )
    assert page.locator("section[id]:visible").count() == len(rows)
    return rows


def test_cases_are_filtered_by_element_verdict_and_words(opened: Opened) -> None:
    page, names = opened.page, [result.name for result in opened.results]
    page.select_option("#element", "systems")
    assert set(shown_rows(page)) == {name for name in names if name.startswith("systems/")}
    page.check("input[value=failed]")
    assert shown_rows(page) == [] and page.locator("#none").is_visible()
    page.select_option("#element", "")
    assert shown_rows(page) == ["doctored/ended", "doctored/failing"]
    assert page.locator("#count").inner_text() == f"2 of {len(names)} shown"
    page.evaluate("document.getElementById('find').reset(); filter()")
    word = names[0].partition("/")[2]
    page.fill("#search", f"{word.upper()}  gauss-seidel")
    assert names[0] in shown_rows(page) and len(shown_rows(page)) < len(names)
    hidden = page.evaluate("cases.find((one) => one.row.hidden).section.id")
    page.evaluate(f"location.hash = '{hidden}'")  # a link to what is filtered out shows it
    page.wait_for_function(f"!document.getElementById('{hidden}').hidden")
    assert len(shown_rows(page)) == len(names)


def test_keys_lead_from_case_to_case_and_to_the_search(opened: Opened) -> None:
    page = opened.page
    page.evaluate("scrollTo(0, 0); document.activeElement.blur()")
    reached = "document.activeElement.closest('section')?.id"
    for key, case in (("j", "case-1"), ("j", "case-2"), ("j", "case-3"), ("k", "case-2")):
        page.keyboard.press(key)
        assert page.evaluate(reached) == case
        top = page.locator(f"#{case}").evaluate("section => section.getBoundingClientRect().top")
        assert 0 <= top < 100
    page.keyboard.press("/")
    page.keyboard.type("systems jk")
    assert page.input_value("#search") == "systems jk"
    assert shown_rows(page) == []
    page.keyboard.press("Escape")
    assert page.input_value("#search") == "" and len(shown_rows(page)) == len(opened.results)
    page.locator("#summary a").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == page.locator("#summary a").nth(1).inner_text()
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash === '#case-2'")


def test_the_page_fits_a_narrow_screen(opened: Opened) -> None:
    page, size = opened.page, opened.page.viewport_size
    assert size
    page.set_viewport_size({"width": 390, "height": 800})
    wide = page.evaluate(
        """() => [...document.querySelectorAll("body *")].filter((one) => !one.closest(".wide, .plot")
             && one.getBoundingClientRect().right > 391).map((one) => one.outerHTML.slice(0, 100))"""
    )
    assert wide == []
    cell = page.locator("#summary td").first.bounding_box()
    assert cell and cell["width"] > 300  # a case is a block, not a column of letters
    page.set_viewport_size(size)


def contrast(foreground: list[float], background: list[float]) -> float:
    """Of colours as WCAG 2 has it, from 1 to 21."""

    def luminance(colour: list[float]) -> float:
        shares = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
        return 0.2126 * shares[0] + 0.7152 * shares[1] + 0.0722 * shares[2]

    low, high = sorted(luminance(colour) for colour in (foreground, background))
    return (high + 0.05) / (low + 0.05)


def test_text_and_curves_stand_out_from_a_light_and_a_dark_page(opened: Opened, browser: Browser) -> None:
    """4.5 for text, as WCAG 2.1 AA asks; for curves, which differ by dashes too and follow a wide pale one, 2."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(DRAWN)
    page.goto(opened.path.as_uri())
    page.locator(".plot").last.scroll_into_view_if_needed()
    page.wait_for_selector(".plot path.js-line", state="attached", timeout=DRAWN)
    page.evaluate("() => { drawAll(); }")  # the scheme changes while plots are drawn
    numbers = "(colour) => (colour.match(/[0-9.]+/g) || []).map(Number)"
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.evaluate(SHOWN_FRAME)  # the page hears of the scheme before the next frame
        page.evaluate("queue")  # plots that it has asked for are drawn again
        back = page.evaluate(f"({numbers})(getComputedStyle(document.body).backgroundColor)")
        assert (back[0] > 200) == (scheme == "light")
        for selector, paint in (("p, td, th, h2, a, dd, dt, label", "color"), (".plot text", "fill")):
            colours = page.evaluate(
                """([selector, paint]) => [...new Set([...document.querySelectorAll(selector)].filter((one) =>
                     one.textContent.trim()).map((one) => getComputedStyle(one)[paint]))]""",
                [selector, paint],
            )
            assert colours
            for colour in colours:
                assert contrast(page.evaluate(numbers, colour)[:3], back) >= 4.5, (scheme, selector, colour)
        strokes = page.evaluate(
            "[...document.querySelectorAll('.plot path.js-line')].map((one) => getComputedStyle(one)).filter((one) =>"
            " parseFloat(one.strokeWidth) < 3 && parseFloat(one.strokeWidth) > 0 && +one.strokeOpacity === 1)"
            ".map((one) => one.stroke)"
        )
        assert strokes
        for colour in set(strokes):
            assert contrast(page.evaluate(numbers, colour)[:3], back) >= 2.0, (scheme, colour)
    page.close()


def test_curves_of_a_plot_differ_without_colour(opened: Opened) -> None:
    """Each of the first six by its dashes."""
    alike = opened.page.evaluate(
        """() => [...document.querySelectorAll(".plot")].flatMap((plot) => {
             const names = new Map();
             for (const one of plot.data.filter((one) => one.showlegend && one.line?.dash && one.mode === "lines"))
               names.set(one.name, one.line.dash);
             const dashes = [...names.values()].slice(0, 6);
             return new Set(dashes).size < dashes.length ? [plot.getAttribute("aria-label")] : [];
           })"""
    )
    assert alike == []


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
