"""Cases that run in the report: the bits of native runs, modules that cases share, and pages that can be saved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from firefox import Firefox
from playwright.sync_api import Browser, Page

from fmu_builder.cosim.master import load_scenario, run
from fmu_builder.cosim.validation import find_cases
from fmu_builder.model.scenario import CheckedScenario
from fmu_builder.report.case_view import compile_modules, validate_with_views
from fmu_builder.report.report import write_report
from tests.platform.test_live_pages import SHOWN, VALUES, decoded

pytestmark = pytest.mark.platform

SHARED = ("point_surface/coupled_auto", "point_surface/coupled_hold")  # of the same two FMUs
SOLVED = "pendulum/falls_on_floor"  # under `implicit`


@dataclass
class Report:
    page: Page
    path: Path
    cases: dict[str, Path]
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def report(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Report]:
    cases = find_cases([*SHARED, SOLVED])
    compiled: list[str] = []
    compile_modules(cases, compiled.append)
    assert sorted(compiled) == ["Pendulum", "PointMass", "PointSurface"]
    results, views = validate_with_views(cases, lambda result: None, live=True)
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(results, path, title="Report", views=views)
    page = browser.new_page(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page.set_default_timeout(SHOWN)
    found = Report(page, path, cases)
    page.on("console", lambda message: found.complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: found.complaints.append(f"error: {error}"))
    page.on("request", lambda request: found.requests.append(request.url))
    page.goto(path.as_uri())
    yield found
    page.close()


def section(report: Report, case: str) -> str:
    found: str = report.page.evaluate(
        "(name) => cases.find((one) => one.row.textContent.includes(name)).section.id", case
    )
    return f"#{found}"


def every_step(case: Path) -> CheckedScenario:
    scenario = load_scenario(case)
    return scenario.model_copy(update={"experiment": scenario.experiment.model_copy(update={"output_step": None})})


@pytest.mark.parametrize("case", SHARED)
def test_a_case_in_the_report_has_the_bits_of_a_native_run(report: Report, case: str) -> None:
    button = report.page.locator(f"{section(report, case)} .run button")
    button.click()
    frame = report.page.locator(f"{section(report, case)} iframe").element_handle().content_frame()
    assert frame
    frame.wait_for_selector("body[data-shown]", timeout=SHOWN)
    before = frame.evaluate("document.body.dataset.shown")
    frame.evaluate("Object.assign(state, { compare: false, shown: null }); request()")  # all signals
    frame.wait_for_function("(before) => document.body.dataset.shown !== before", arg=before, timeout=SHOWN)
    trace, values = run(every_step(report.cases[case])).trace, decoded(frame.evaluate(VALUES, 0))
    assert set(values) == set(trace.names)
    for name in trace.names:
        assert np.array_equal(values[name], trace[name]), name
    assert button.get_attribute("aria-expanded") == "true" and button.inner_text() == "close"
    button.click()
    assert report.page.locator(f"{section(report, case)} iframe").count() == 0
    assert report.complaints == []
    assert all(url.startswith(("file:", "blob:", "about:")) for url in report.requests)


def test_the_module_of_an_fmu_is_in_the_report_once(report: Report) -> None:
    page = report.page
    assert page.locator("script[id^=module-]").count() == 2
    assert page.locator("script[id$=-live-data]").count() == len(SHARED)


def test_a_case_of_another_master_says_why_it_does_not_run(report: Report) -> None:
    said = report.page.locator(section(report, SOLVED)).inner_text()
    assert (
        "It does not run here: the case runs under the algorithm implicit, and a page has jacobi and gauss-seidel."
        in said
    )
    assert report.page.locator(f"{section(report, SOLVED)} .run").count() == 0


def test_the_page_of_a_case_can_be_saved_and_runs_alone(report: Report, browser: Browser, tmp_path: Path) -> None:
    where = section(report, SHARED[0])
    report.page.locator(f"{where} .run button[aria-expanded=false]").click()
    with report.page.expect_download() as download:
        report.page.locator(f"{where} .run a").click()
    assert download.value.suggested_filename == "coupled_auto_live.html"
    download.value.save_as(tmp_path / "saved.html")
    page = browser.new_page()
    page.goto((tmp_path / "saved.html").as_uri())
    page.wait_for_selector("body[data-shown]", timeout=SHOWN)
    assert "steps" in page.locator("#state").inner_text()
    page.close()


def test_firefox_draws_the_report_and_runs_its_cases(report: Report, tmp_path: Path) -> None:
    with Firefox(tmp_path) as firefox:
        firefox.open(report.path.as_uri())
        drawn, said, complaints = firefox.evaluate(
            f"""new Promise(async (done) => {{
              const complaints = [];
              for (const kind of ["error", "securitypolicyviolation"])
                addEventListener(kind, (event) => complaints.push(event.message || event.violatedDirective));
              await drawAll(false);
              document.querySelector("{section(report, SHARED[0])} .run button").click();
              const wait = () => {{
                const frame = document.querySelector("iframe")?.contentDocument?.body;
                if (frame?.dataset.shown)
                  done([drawn.size, frame.querySelector("#state").textContent, complaints]);
                else
                  setTimeout(wait, 10);
              }};
              wait();
            }})"""
        )
    assert (drawn, complaints) == (report.page.locator(".plot, .motion").count(), [])
    assert "12 steps" in said
