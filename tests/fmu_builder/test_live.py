"""Live pages without a browser: what is written for the engine, and what is refused.  tests/platform opens pages."""

from __future__ import annotations

import json
import math
import os
import re
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foreign import GAIN, foreign_fmu
from scipy.interpolate import CubicSpline

from fmu_builder.cli.building import build_named
from fmu_builder.cosim.initialization import model_of
from fmu_builder.cosim.master import load_scenario, run, system_of
from fmu_builder.cosim.slave import read_slave
from fmu_builder.errors import InputError
from fmu_builder.export.cache import prune
from fmu_builder.export.fmu import build_fmu, fmu_contents
from fmu_builder.export.toolchain import compile_module
from fmu_builder.model.connectable import SlaveVariable
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import ElementModel
from fmu_builder.pages.drive_law import java_script
from fmu_builder.pages.live import SCRIPTS, live
from fmu_builder.pages.module import prepare_module, wasm_module
from fmu_builder.pages.parts import part
from fmu_builder.pages.scene import element_items
from fmu_builder.pages.system import page_of, page_system, slider_range
from fmu_builder.paths import shipped


def test_no_two_scripts_of_a_page_declare_the_same_name() -> None:
    """They are one text, and a browser runs none of it where a name is there twice."""
    names: list[str] = []
    for script in SCRIPTS:
        for first, rest in re.findall(
            r"^(?:const|let|class|(?:async )?function\*?) (\w+)(.*)", part(script), re.MULTILINE
        ):
            names += [first, *re.findall(r", ([A-Za-z_]\w*) = ", rest.partition("(")[0])]
    assert len(names) > 80
    assert sorted(names) == sorted(set(names))


def variable(least: float | None, most: float | None) -> SlaveVariable:
    return SlaveVariable("x", 1, "Real", "parameter", "fixed", "exact", "", "1", frozenset(), min=least, max=most)


@pytest.mark.parametrize(
    ("least", "most", "value", "expected"),
    [
        (0.0, 1.0, 0.5, (0.0, 1.0, False)),  # all that is allowed
        (0.0, None, 2e4, (200.0, 2e6, True)),  # two decades either way
        (1e3, None, 2e4, (1e3, 2e6, True)),
        (0.0, None, 0.0, (0.0, 1.0, False)),
        (None, None, -2.0, (-6.0, 6.0, False)),
        (None, 4.0, 2.0, (-6.0, 4.0, False)),
        (0.0, None, 1e307, (1e300 / 100.0, 1e300, True)),
        (None, None, -1e308, (-1e300, 1e300, False)),
    ],
)
def test_sliders_stay_within_the_limits_of_the_fmu(
    least: float | None, most: float | None, value: float, expected: tuple[float, float, bool]
) -> None:
    assert slider_range(variable(least, most), value) == expected


def test_laws_of_the_time_become_expressions_of_the_same_value(tmp_path: Path) -> None:
    """The expressions are of a form that Python reads too."""
    scenario = tmp_path / "driven.toml"
    scenario.write_text(
        '[experiment]\nstop = "1 s"\nstep = "1 ms"\n\n[slaves.mass]\nrecipe = "PointMass"\n\n[drive]\n'
        '"mass.p.f[1]" = "2[N]*exp(-#t/3[s])*cos(2*PI*5[Hz]*#t)"\n"mass.p.f[2]" = "-3[N]*(#t/1[s])^2 + 1[N]"\n',
        encoding="utf-8",
    )
    laws = {signal.node[1]: java_script(signal) for signal in system_of(load_scenario(scenario)).signals}  # type: ignore[arg-type]
    t = 0.37
    value = eval(laws["p.f[1]"].replace("Math.PI", "math.pi").replace("Math.", "math."), {"math": math, "t": t})
    assert value == pytest.approx(2 * math.exp(-t / 3) * math.cos(10 * math.pi * t), rel=1e-14)
    assert re.fullmatch(r"\(\(\(-\(3\.0\)\) \* \(\(a\) => a\*a\)\(.*\)\) \+ \(1\.0\)\)", laws["p.f[2]"])


def test_a_driven_parameter_has_no_slider(tmp_path: Path) -> None:
    scenario = tmp_path / "driven.toml"
    scenario.write_text(
        '[experiment]\nstop = "1 s"\nstep = "1 ms"\n\n[slaves]\nfloor = { recipe = "PointSurface", '
        'start = { C_F = 1e4 } }\n\n[drive]\n"floor.C_F" = { time = [0, 1], value = [1e5, 9e4] }\n',
        encoding="utf-8",
    )
    (slave,) = page_system(load_scenario(scenario))["slaves"]
    names = [one["name"] for one in slave["parameters"]]
    assert "C_F" not in names and "C_r" in names


def test_an_fmu_of_another_tool_is_refused_and_no_page_is_left(tmp_path: Path) -> None:
    fmu = foreign_fmu(tmp_path, "Gain", GAIN, guid="g0--")
    scenario = tmp_path / "both.toml"
    scenario.write_text(
        '[experiment]\nstop = "1 s"\nstep = "1 ms"\n\n[slaves]\n'
        f"one = {{ recipe = {json.dumps(str(fmu))} }}\ntwo = {{ recipe = {json.dumps(str(fmu))} }}\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError) as refused:
        live(scenario, tmp_path / "page.html")
    assert "was not made by fmu-builder" in str(refused.value)
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("page", "rule"), [("drop.toml", "is no .html file"), ("link.html", "is read by this page; choose another name")]
)
def test_a_page_replaces_no_file_that_is_read(tmp_path: Path, page: str, rule: str) -> None:
    """By its own name, or through a link."""
    scenario, target = tmp_path / "drop.toml", tmp_path / page
    scenario.write_text('[experiment]\nstop = "1 s"\nstep = "1 ms"\n\n[slaves]\nball = "PointMass"\n', encoding="utf-8")
    if not target.exists():
        target.symlink_to(scenario)
    before = scenario.read_bytes()
    with pytest.raises(InputError, match="live\\(\\) page: .*" + rule):
        live(scenario, target)
    assert scenario.read_bytes() == before


@pytest.mark.slow
def test_an_fmu_for_all_platforms_holds_its_live_page_and_is_built_again_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the command line; the page names no folder of this machine.  Its module is compiled once, beside binaries."""
    built, again, native = (tmp_path / name for name in ("built", "again", "native"))
    fmu_was_there = []

    def noted(*arguments: Any) -> None:
        fmu_was_there.append((built / "PointMass.fmu").exists())
        compile_module(*arguments)

    monkeypatch.setattr("fmu_builder.pages.module.compile_module", noted)
    monkeypatch.setattr("fmu_builder.pages.module.cache_folder", lambda: tmp_path / "cache")
    build_named(["PointMass"], built, (), False, False, False)
    assert fmu_was_there == [False]
    build_named([str(built / "PointMass.fmu")], again, (), False, False, False)
    build_named(["PointMass"], native, ("host",), False, False, False)
    assert (again / "PointMass.fmu").read_bytes() == (built / "PointMass.fmu").read_bytes()
    with zipfile.ZipFile(built / "PointMass.fmu") as archive:
        page = archive.read("documentation/live.html")
        assert b'src: "live.html"' in archive.read("documentation/index.html")
    assert str(Path.home()).encode() not in page and str(tmp_path).encode() not in page
    with zipfile.ZipFile(native / "PointMass.fmu") as archive:
        assert "documentation/live.html" not in archive.namelist()


PAGE = 'element = "point_surface"\n[surface]\nkind = "plane"\n[page]\n'


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ('plot = ["dept"]', "[page] plot dept: there is no such variable; did you mean 'depth'?"),
        ('plot = ["C_F"]', "[page] plot C_F: is set from outside, and has no curve: name what the FMU computes"),
        ('range = { C_F = ["1 m", "2 m"] }', "[page] range C_F = '1 m' has the dimension m but N/m"),
        ("range = { C_F = [3, 2] }", "[page] range C_F: '3' must be less than '2'"),
        ("range = { depth = [0, 2] }", "[page] range depth: has no slider"),
        ("range = { C_F = 3 }", "[page] [range] C_F: 3"),
        ('names = { C_G = "x" }', "[page] names C_G: there is no such variable; did you mean 'C_r'?"),
        ('names = { C_F = " " }', "[page] names C_F: is empty"),
        ("plots = []", "[page] plots: this key is unknown; did you mean 'plot'?"),
    ],
)
def test_a_wrong_page_table_is_named_with_its_place(tmp_path: Path, page: str, message: str) -> None:
    recipe = tmp_path / "Floor.toml"
    recipe.write_text(PAGE + page, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        load_model(recipe)
    assert f"{recipe}: {message}" in str(refused.value)


def test_a_run_names_a_wrong_page_table_of_its_scenario(tmp_path: Path) -> None:
    scenario = tmp_path / "one.toml"
    scenario.write_text(
        '[experiment]\nstop = "1 s"\nstep = "1 ms"\n[slaves]\na = "PointMass"\nb = "there_is_none.fmu"\n'
        '[page]\nplots = []\nplot = ["a.q", "b.depth"]\nnames = { "a.n" = "mass" }\n',
        encoding="utf-8",
    )
    with pytest.raises(InputError) as refused:
        run(scenario)
    text = str(refused.value)
    assert "[page] plots: this key is unknown; did you mean 'plot'?" in text
    assert "[page] plot a.q: there is no such variable" in text and "[page] names a.n: there is no such" in text
    assert "b.depth" not in text


@pytest.mark.slow
def test_a_page_has_the_curves_ranges_and_names_of_the_recipe(tmp_path: Path) -> None:
    (tmp_path / "Floor.toml").write_text(
        PAGE + 'plot = ["depth", "point.f"]\nrange = { C_F = ["1 kN/m", "1 MN/m"], C_r = [0.2, 0.8] }\n'
        'names = { C_F = "stiffness", depth = "how deep" }\n',
        encoding="utf-8",
    )
    scenario = tmp_path / "two.toml"
    scenario.write_text(
        '[experiment]\nstop = "1 s"\nstep = "1 ms"\n[slaves]\na = { recipe = "Floor.toml" }\n'
        'b = { recipe = "Floor.toml" }\n[page]\nplot = ["b.depth"]\nnames = { "b.C_F" = "of b" }\n',
        encoding="utf-8",
    )
    alone = system_of(load_scenario(tmp_path / "Floor.toml"))
    page = page_of(alone, {"fmu": model_of(alone.scenario, "fmu")})
    assert page.plot == ("fmu.depth", "fmu.point.f[1]", "fmu.point.f[2]", "fmu.point.f[3]")
    assert page.range["fmu.C_F"] == (1e3, 1e6) and page.names["fmu.depth"] == "how deep"
    both = system_of(load_scenario(scenario))
    page = page_of(both, {slave: model_of(both.scenario, slave) for slave in "ab"})
    assert page.plot == ("b.depth",) and page.range["b.C_r"] == (0.2, 0.8)
    assert page.names["a.C_F"] == "stiffness" and page.names["b.C_F"] == "of b"


def test_a_chosen_range_is_logarithmic_over_a_decade() -> None:
    assert slider_range(variable(0.0, None), 2e4, (1e3, 1e6)) == (1e3, 1e6, True)
    assert slider_range(variable(0.0, None), 2e4, (0.0, 5.0)) == (0.0, 5.0, False)
    assert slider_range(variable(0.0, None), 2e4, (1.0, 5.0)) == (1.0, 5.0, False)


REPORT = "../../report/scripts"
DECLARED = re.compile(r"^(?:async )?(const|let|class|function)\*? ([^\n]*?)(?: //[^\n]*)?$", re.MULTILINE)


@pytest.mark.parametrize(
    "scripts",
    [
        ["engine.js", *SCRIPTS],
        ["plot.js", "view.js", f"{REPORT}/figures.js", f"{REPORT}/report.js"],
    ],
)
def test_scripts_of_a_page_declare_each_name_once(scripts: list[str]) -> None:
    """A second declaration is a syntax error of its whole script."""
    found = [line for script in scripts for line in DECLARED.findall(part(script))]
    assigned = [
        name for what, line in found for name in re.findall(r"(?:^|, )(\w+) = ", line) if what in ("const", "let")
    ]
    names = assigned + [re.findall(r"\w+", line)[0] for what, line in found if what in ("class", "function")]
    assert len(names) > 30
    assert sorted(names) == sorted(set(names))


@pytest.mark.slow
def test_a_spline_is_drawn_through_its_points(tmp_path: Path) -> None:
    points = [(-0.6, 0.2), (-0.3, 0.05), (0.1, 0.0), (0.4, 0.12), (0.7, 0.3)]
    text = (shipped("fmus") / "PendulumOnProfile.toml").read_text(encoding="utf-8")
    recipe = tmp_path / "Spline.toml"
    changed, count = re.subn(
        r"^profile = .*$", f"profile_points = {[list(p) for p in points]}", text, flags=re.MULTILINE
    )
    recipe.write_text(changed, encoding="utf-8")
    assert count == 1
    model = load_model(recipe)
    assert isinstance(model, ElementModel)
    (curve,) = next(item["curves"] for item in element_items(model) if item["kind"] == "linkage")
    x, y = np.array(curve["line"]).T
    np.testing.assert_allclose(y, CubicSpline(*zip(*points, strict=True))(x), atol=1e-5)  # drawn with five digits
    assert len(x) == 4 * 12 + 1 and (x[0], x[-1]) == (-0.6, 0.7)


def test_an_edit_of_the_element_compiles_its_two_files_for_the_module_and_no_other(new_cache: Path) -> None:
    def objects() -> set[Path]:
        return {*(new_cache / "objects").glob("*/o/*/*.o*")}

    _, files = fmu_contents(load_model(shipped("fmus") / "TwoDPointX.toml"))
    prepare_module("TwoDPointX", files)
    before = objects()
    files["sources/element.c"] += b"/* edited */\n"
    prepare_module("TwoDPointX", files)
    assert len(before) >= 4
    assert sorted(path.stem for path in objects() - before) == ["element_dual", "element_real"]
    assert len([*(new_cache / "modules").iterdir()]) == 2


def test_a_module_that_no_process_uses_is_removed_from_the_cache(new_cache: Path) -> None:
    prepare_module("TwoDPointX", fmu_contents(load_model(shipped("fmus") / "TwoDPointX.toml"))[1])
    (module,) = (new_cache / "modules").iterdir()
    os.utime(module, (time.time() - 1e6,) * 2)
    prune(0.0)
    assert not module.exists()


def test_an_fmu_that_is_packed_again_with_entries_for_its_folders_has_a_module(new_cache: Path, tmp_path: Path) -> None:
    built = build_fmu(shipped("fmus") / "TwoDPointX.toml", tmp_path, ("host",)).path
    packed = tmp_path / "packed.fmu"
    with zipfile.ZipFile(built) as archive, zipfile.ZipFile(packed, "w") as again:
        for folder in ("sources/", "sources/base/", "resources/"):
            again.writestr(folder, b"")
        for name in archive.namelist():
            again.writestr(name, archive.read(name))
    assert wasm_module(read_slave(packed)) == wasm_module(read_slave(built))
