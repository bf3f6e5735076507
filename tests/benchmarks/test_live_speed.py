"""How soon a live page has its first curves, and answers a slider.  Needs Chromium."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import sync_playwright

from fmu_builder.pages.live import live

pytestmark = pytest.mark.benchmark

CHROMIUM = Path("/usr/bin/chromium")
SHOWN = 20_000  # ms
FIRST, CHANGE = 400.0, 10.0  # ms, on an idle machine
ALLOWED = 3.0  # times as much, on machines that are slower or not idle
CHANGES = """async () => {
  const slider = document.querySelector('[data-name="mass"] input[type=range]'), took = [], runs = [];
  for (let k = 0; k < 60; k++) {
    const begin = performance.now();
    slider.value = 0.3 + 0.005 * k;
    slider.dispatchEvent(new Event("input"));
    await new Promise((done) => {
      const seen = new MutationObserver(() => { seen.disconnect(); done(); });
      seen.observe(document.body, { attributes: true });
    });
    took.push(performance.now() - begin);
    runs.push(latest.took);
    await new Promise((done) => setTimeout(done, 20)); // as a hand that moves it
  }
  return [took, runs];
}"""


def test_a_slider_answers_at_once(tmp_path: Path) -> None:
    """BouncingBall, 1,500 steps: from the event to the drawn curves."""
    page = live("BouncingBall", tmp_path / "page.html")
    first = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(5):
            tab = browser.new_page(viewport={"width": 1200, "height": 900})
            tab.goto(page.as_uri() + "#stop=1.5")
            tab.wait_for_selector("body[data-shown]", timeout=SHOWN)
            first.append(tab.evaluate("performance.getEntriesByName('first curves')[0].startTime"))
        took, runs = (np.array(one[20:]) for one in tab.evaluate(CHANGES))  # the first ones are not compiled well
        assert tab.evaluate("latest.runs[0].time.length") == 1501
        browser.close()
    print(
        f"\n  first curves {np.median(first):.0f} ms after opening (best {min(first):.0f}); a change "
        f"{np.median(took):.1f} ms (best {took.min():.1f}), of it the run {np.median(runs):.1f} ms "
        f"(best {runs.min():.1f}); load {os.getloadavg()[0]:.1f}"
    )
    assert min(first) < ALLOWED * FIRST  # the best: other work on the machine only adds
    assert took.min() < ALLOWED * CHANGE
