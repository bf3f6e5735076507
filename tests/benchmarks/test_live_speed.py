"""How soon a live page answers a slider.  Needs Chromium."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import sync_playwright

from fmu_builder.pages.live import live

pytestmark = pytest.mark.benchmark

CHROMIUM = Path("/usr/bin/chromium")
SHOWN = 20_000  # ms


def test_a_slider_answers_at_once(tmp_path: Path) -> None:
    """BouncingBall, 2,000 steps: from the event to the drawn curves."""
    page = live("BouncingBall", tmp_path / "page.html")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": 1200, "height": 900})
        tab.goto(page.as_uri())
        tab.wait_for_selector("body[data-shown]", timeout=SHOWN)
        first = tab.evaluate("performance.now()")
        took = tab.evaluate(
            """async () => {
                 const slider = document.querySelector('[data-name="mass"] input[type=range]'), took = [];
                 for (let k = 0; k < 40; k++) {
                   const begin = performance.now(), before = document.body.dataset.shown;
                   slider.value = 0.3 + 0.01 * k;
                   slider.dispatchEvent(new Event("input"));
                   await new Promise((done) => {
                     const seen = new MutationObserver(() => { seen.disconnect(); done(); });
                     seen.observe(document.body, { attributes: true });
                   });
                   took.push(performance.now() - begin);
                 }
                 return [took, latest.took];
               }"""
        )
        browser.close()
    median = float(np.median(took[0][20:]))
    print(f"\n  first curves {first:.0f} ms after opening; a change {median:.1f} ms, of it the run {took[1]:.1f} ms")
    assert first < 2000.0 and median < 50.0
