"""Draws live.png from the example of live.md: `python live_picture.py CHROMIUM`.  Needs playwright."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from fmu_builder import live

FOLDER = Path(__file__).parent


def draw(chromium: str) -> None:
    example = re.search(r"```toml title=\"ball.toml\"\n(.*?)```", (FOLDER / "live.md").read_text("utf-8"), re.DOTALL)
    assert example is not None
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        scenario = Path(folder) / "ball.toml"
        scenario.write_text(example[1], encoding="utf-8")
        page = live(scenario, Path(folder) / "ball.html")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1100, "height": 790})
        tab.goto(page.as_uri())
        tab.wait_for_selector("body[data-shown]")
        for _ in range(30):  # the first runs are slow: the browser compiles
            tab.evaluate("request()")
            tab.wait_for_timeout(50)
        tab.screenshot(path=FOLDER / "live.png")
        browser.close()


if __name__ == "__main__":
    draw(sys.argv[1])
