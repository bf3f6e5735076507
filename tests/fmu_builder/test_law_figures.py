"""Pictures of laws: what is drawn is the law, beside the element's own, in the page of an FMU and in a report."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray

from fmu_builder.cosim.validation import CaseResult, _laws, all_cases
from fmu_builder.export.documentation import documentation_files
from fmu_builder.export.law_sections import LawSection, law_sections
from fmu_builder.model.loader import load_model
from fmu_builder.model.scenario import read_scenario
from fmu_builder.paths import shipped
from fmu_builder.report.report import write_report

Array = NDArray[np.float64]
SVG = "{http://www.w3.org/2000/svg}"
LAWS = shipped("fmus") / "FloorWithLaws.toml"


@pytest.fixture(scope="module")
def section() -> LawSection:
    (one,) = law_sections(load_model(LAWS))
    return one


def texts(picture: ElementTree.Element) -> list[tuple[float, float, str]]:
    return [(float(t.attrib["x"]), float(t.attrib["y"]), t.text or "") for t in picture.iter(f"{SVG}text")]


def scale(marks: list[tuple[float, float]]) -> Callable[[Array], Array]:
    """From pixels to values, by the places and numbers of an axis."""
    slope, start = np.polyfit(*zip(*marks, strict=True), 1)
    assert max(abs(slope * place + start - value) for place, value in marks) < 0.01 * abs(slope) * 10.0
    return lambda pixels: slope * pixels + start


def curves(picture: str) -> list[tuple[Array, Array]]:
    """Abscissae and values of what is drawn, read off by the numbers at the axes."""
    root = ElementTree.fromstring(picture)
    numbers = [(x, y, float(text)) for x, y, text in texts(root) if text.lstrip("-")[:1].isdigit()]
    below = max(y for _, y, _ in numbers)
    across = scale([(x, value) for x, y, value in numbers if y == below])
    up = scale([(y - 4.0, value) for _, y, value in numbers if y != below])  # the text's middle lies 4 px higher
    found = []
    for line in (one for one in root.iter(f"{SVG}polyline") if "clip-path" in one.attrib):  # else of the grid
        points = np.array([pair.split(",") for pair in line.attrib["points"].split()], dtype=float)
        found.append((across(points[:, 0]), up(points[:, 1])))
    return found


def test_the_friction_law_of_the_source_is_drawn_beside_the_ramp(section: LawSection) -> None:
    """0.1 N sin(pi v/(200 mm/s))^2 up to 100 mm/s, and 0.3 N min(v/(10 mm/s), 1), at N = 10 kN."""
    (law,) = [one for one in section.laws if one.slot == "F_fr"]
    assert law.written == "fr_sin_1"
    (v_ramp, ramp), (v, sine) = curves(law.picture)
    assert sine == pytest.approx(1e3 * np.sin(0.5 * math.pi * np.minimum(v / 0.1, 1.0)) ** 2, abs=10.0)
    assert ramp == pytest.approx(3e3 * np.minimum(v_ramp / 0.01, 1.0), abs=60.0)
    assert np.min(v) == pytest.approx(0.0, abs=1e-3) and np.max(v) > 0.2
    assert "N = 10000 N" in law.picture and "built in: ramp" in law.picture


def test_the_damping_law_of_the_source_is_drawn_beside_the_limits_of_restitution(section: LawSection) -> None:
    """Limits of C_r = 0.4, k_E = 0.25: -0.7975 and 0.2658, slope 1 s/m; of the element's own law, C_r = 0.5: 0.6."""
    (law,) = [one for one in section.laws if one.slot == "F_d"]
    (w_own, own), (w, d) = curves(law.picture)
    assert d == pytest.approx(np.clip(w, -0.797468354430, 0.265822784810), abs=0.02)
    assert own[np.abs(w_own) > 0.05] == pytest.approx(0.6 * np.sign(w_own[np.abs(w_own) > 0.05]), abs=0.02)


def test_the_page_of_the_fmu_shows_every_law_as_it_is_written(section: LawSection) -> None:
    page = documentation_files(load_model(LAWS))["documentation/index.html"].decode()
    for law in section.laws:
        assert f"{law.description}: <code>{law.slot} = {law.written}</code>" in page
        assert law.picture in page


def test_a_case_brings_the_laws_of_the_parts_of_its_recipes() -> None:
    cases = all_cases()
    (one,) = _laws(read_scenario(cases["systems/block_never_stops"]))
    assert (one.recipe, [law.slot for law in one.laws]) == ("FloorWithLaws", ["F_fr", "F_d"])
    assert _laws(read_scenario(cases["systems/ball_drops"])) == ()


def test_a_report_shows_the_laws_of_a_case_and_no_name_breaks_it(section: LawSection, tmp_path: Path) -> None:
    hostile = replace(section, recipe="<Floor>", laws=tuple(replace(law, written="a < b") for law in section.laws))
    result = CaseResult("x/y", "", "", None, None, None, None, (), 0.0, laws=(hostile,))
    write_report([result], tmp_path / "report.html", title="Report")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Laws of &lt;Floor&gt;" in page and "F_d = a &lt; b" in page
    assert all(page.count(law.picture) == 1 for law in section.laws)


def test_a_law_of_sensors_is_drawn_over_the_displacement() -> None:
    (guide,) = law_sections(load_model(shipped("fmus") / "TrolleyInGuide.toml"))
    for law in guide.laws:
        assert "delta (" in law.picture
        ((x, y),) = curves(law.picture)
        assert (x[0], x[-1]) == pytest.approx((-0.01, 0.01), rel=0.01)  # m, the range of the slot
        assert y[0] == pytest.approx(-y[-1], rel=0.01) and abs(y[-1]) > 100.0
