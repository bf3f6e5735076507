"""Draws report.png, a case that runs in a report: `python report_picture.py CHROMIUM`.  Needs playwright."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from fmu_builder.cosim.validation import find_cases
from fmu_builder.report.case_view import validate_with_views
from fmu_builder.report.report import write_report

FOLDER = Path(__file__).parent


def draw(chromium: str) -> None:
    cases = find_cases(["point_surface/bristle_holds", "systems/ball_bounces", "systems/bead_on_helix"])
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        results, views = validate_with_views(cases, lambda result: None, live=True)
        report = Path(folder) / "report.html"
        write_report(results, report, title="fmu-builder validate", views=views)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1120, "height": 860})
        tab.goto(report.as_uri())
        tab.locator("#case-2 .run button").click()
        tab.frame_locator("#case-2 iframe").locator("body[data-shown]").wait_for()
        tab.locator("#case-2").evaluate("section => section.scrollIntoView()")
        tab.screenshot(path=FOLDER / "report.png")
        browser.close()


if __name__ == "__main__":
    draw(sys.argv[1])
