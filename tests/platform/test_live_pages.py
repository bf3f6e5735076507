"""Live pages in a browser: the bits of native runs, controls that act, messages of the FMUs, and nothing fetched."""

from __future__ import annotations

import base64
import functools
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from firefox import Firefox
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page

import fmu_builder
from fmu_builder.cli.building import build_named
from fmu_builder.cosim.initialization import model_of
from fmu_builder.cosim.master import Master, load_scenario, system_of
from fmu_builder.cosim.overrides import overridden
from fmu_builder.cosim.trace import Trace
from fmu_builder.laws.numeric import evaluate
from fmu_builder.laws.tables import OUTSIDE, LawTable
from fmu_builder.model.loader import load_model
from fmu_builder.pages.law_curves import table_text
from fmu_builder.pages.live import live
from fmu_builder.pages.scene import scene_of
from fmu_builder.paths import find_recipe, shipped
from fmu_builder.units import parse_unit

pytestmark = pytest.mark.platform

SHOWN = 60_000  # ms until a page has its curves; below 1 s on an idle machine
MOST_BYTES = {False: 150_000, True: 300_000}  # without, and with a picture in space
SYSTEMS = shipped("fmus") / "systems"
ELEMENTS = shipped("elements")
PAGES = (
    "BouncingBall",  # an assembly
    SYSTEMS / "bead_on_helix.toml",  # its own algorithm is none of the page's
    SYSTEMS / "trolley_in_guide.toml",
    ELEMENTS / "planar_mechanism" / "cases" / "concave.toml",
    ELEMENTS / "pendulum" / "cases" / "swing.toml",
    ELEMENTS / "rotational_spring" / "cases" / "held_torque.toml",
    ELEMENTS / "impact_damper" / "cases" / "rattle.toml",
    "SpringPendulum",
    "BodyOnThreeSprings",
    "MarbleInFunnel",
)  # ten kinds
VALUES = """(k) => Object.fromEntries(Object.entries(latest.runs[k].values).map(([name, values]) => {
  let text = "";
  new Uint8Array(values.buffer).forEach((byte) => (text += String.fromCharCode(byte)));
  return [name, btoa(text)];
}))"""  # of all signals that the last run of the page recorded
SHOWN_IN_FIREFOX = f"""new Promise((done) => {{
  const wait = () => (document.body.dataset.shown ? done([({VALUES})(0), complaints]) : setTimeout(wait, 10));
  wait();
}})"""
EVERY_SIGNAL = "() => { state.shown = Object.keys(UNITS); request(); }"
COMPLAINTS = """<body><script>
var complaints = [];
addEventListener("error", (event) => complaints.push(event.message));
for (const kind of ["error", "warn"])
  console[kind] = (...all) => complaints.push(all.join(" "));
</script>"""
BALL_AND_FLOOR = """\
description = "A ball falls on a floor"
connections = [["ball.p", "floor.point"]]

[experiment]
stop = "1 s"
step = "1 ms"
algorithm = "jacobi"

[slaves.ball]
recipe = "PointMass"
start = { m = 1, "r0" = [0, 0, "0.1 m"] }

[slaves.floor]
recipe = "PointSurface"
start = { C_F = "2e4 N/m", C_r = 1, K_fr = 0, "surface.r" = [0, 0, "1 mm"] }
"""


def decoded(values: dict[str, str]) -> dict[str, NDArray[np.float64]]:
    return {name: np.frombuffer(base64.b64decode(data)) for name, data in values.items()}


@dataclass
class Opened:
    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def values(self, run: int = 0) -> dict[str, NDArray[np.float64]]:
        return decoded(self.page.evaluate(VALUES, run))

    def after(self, action: str) -> None:
        """Do it, and wait for the run that it asks for."""
        before = self.page.locator("body").get_attribute("data-shown")
        self.page.evaluate(action)
        self.page.wait_for_function("(before) => document.body.dataset.shown !== before", arg=before, timeout=SHOWN)


def opened(browser: Browser, path: Path, fragment: str = "") -> Opened:
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.set_default_timeout(SHOWN)
    found = Opened(page)
    page.on("console", lambda message: found.complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: found.complaints.append(f"error: {error}"))
    page.on("request", lambda request: found.requests.append(request.url))
    page.goto(path.as_uri() + fragment)
    page.wait_for_selector("body[data-shown]", timeout=SHOWN)
    return found


@pytest.fixture(scope="module")
def ball_and_floor(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A scenario with coupling, and its page."""
    folder = tmp_path_factory.mktemp("live")
    scenario = folder / "ball_and_floor.toml"
    scenario.write_text(BALL_AND_FLOOR, encoding="utf-8")
    return scenario, live(scenario, folder / "page.html")


def type_number(name: str, value: str) -> str:
    """JavaScript that types a value into the first control of this name."""
    return f"""() => {{
        const box = document.querySelector('[data-name="{name}"] input.number');
        box.value = "{value}";
        box.dispatchEvent(new Event("change"));
    }}"""


Made = Callable[[Path | str], tuple[Path, Trace]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The page of a system, and its native run."""

    @functools.cache
    def page_and_trace(source: Path | str) -> tuple[Path, Trace]:
        page = live(source, tmp_path_factory.mktemp("pages") / "page.html")
        scenario = load_scenario(Path(source))
        if scenario.experiment.algorithm not in ("jacobi", "gauss_seidel"):
            scenario = overridden(scenario, "{}", algorithm="gauss_seidel")
        whole = scenario.experiment.model_copy(update={"output_step": None, "record": None})
        return page, Master(scenario.model_copy(update={"experiment": whole})).run(lambda share: None).trace

    return page_and_trace


def assert_same_bits(values: dict[str, NDArray[np.float64]], trace: Trace) -> None:
    assert set(values) == set(trace.names)
    for name in trace.names:
        assert np.array_equal(values[name], trace[name]), name


@pytest.mark.parametrize("source", PAGES, ids=lambda source: Path(source).stem)
def test_a_page_has_the_bits_of_a_native_run(source: Path | str, browser: Browser, made: Made) -> None:
    page, trace = made(source)
    shown = opened(browser, page)
    shown.after(EVERY_SIGNAL)
    assert_same_bits(shown.values(), trace)
    assert shown.complaints == []
    assert all(url.startswith(("file:", "blob:")) for url in shown.requests)
    assert page.stat().st_size < MOST_BYTES[shown.page.evaluate("view !== null")]
    shown.page.close()


def test_pages_of_ten_kinds_have_the_bits_of_native_runs_in_firefox(made: Made, tmp_path: Path) -> None:
    with Firefox(tmp_path) as firefox:
        for k, source in enumerate(PAGES):
            page, trace = made(source)
            noting = tmp_path / f"{k}.html"
            noting.write_text(page.read_text("utf-8").replace("<body>", COMPLAINTS, 1), encoding="utf-8")
            firefox.open(noting.as_uri())
            firefox.evaluate(SHOWN_IN_FIREFOX)
            firefox.evaluate(f"delete document.body.dataset.shown; ({EVERY_SIGNAL})()")
            values, complaints = firefox.evaluate(SHOWN_IN_FIREFOX)
            assert_same_bits(decoded(values), trace)
            assert complaints == []
        before = decoded(firefox.evaluate(f"({VALUES})(0)"))
        firefox.evaluate("state.stop = SYSTEM.experiment.stop / 2; delete document.body.dataset.shown; changed()")
        after = decoded(firefox.evaluate(SHOWN_IN_FIREFOX)[0])
        for name, own in after.items():  # those that are shown, of half the time
            assert np.array_equal(own, before[name][: len(own)]), name
        assert len(after) > 3 and len(own) == (len(before[name]) + 1) // 2


def test_controls_change_the_run_as_start_values_and_step_do(
    browser: Browser, ball_and_floor: tuple[Path, Path]
) -> None:
    scenario, page = ball_and_floor
    shown = opened(browser, page)
    shown.after(type_number("C_r", "0.5"))
    shown.after(type_number("communication step", "0.002"))
    chosen = overridden(load_scenario(scenario), "{}", step="2 ms", start={"floor.C_r": 0.5})
    trace = Master(chosen).run(lambda share: None).trace
    values = shown.values()
    assert len(values) > 3
    for name, own in values.items():
        assert np.array_equal(own, trace[name]), name
    shown.page.wait_for_function("() => location.hash === `#${fragment()}`", timeout=SHOWN)  # when the controls rest
    again = opened(browser, page, shown.page.evaluate("location.hash"))  # the link holds the state
    for name, own in again.values().items():
        assert np.array_equal(own, trace[name]), name
    shown.page.close()
    again.page.close()


def test_the_scenario_that_a_page_copies_is_what_it_runs(
    browser: Browser, ball_and_floor: tuple[Path, Path], tmp_path: Path
) -> None:
    shown = opened(browser, ball_and_floor[1])
    shown.after(type_number("C_r", "0.25"))
    drive = '{ shape: "step", size: 1e-3, time: 0.3, frequency: 3 }'
    shown.after(f"() => {{ state.drives['floor.surface.r[3]'] = {drive}; changed(); }}")
    copied = tmp_path / "copied.toml"
    copied.write_text(shown.page.evaluate("scenarioText()"), encoding="utf-8")
    trace = Master(load_scenario(copied)).run(lambda share: None).trace
    for name, own in shown.values().items():
        assert np.array_equal(own, trace[name]), name
    shown.page.close()


def test_the_scenario_that_a_page_of_counted_slaves_copies_runs(browser: Browser, tmp_path: Path) -> None:
    scenario, page = tmp_path / "masses.toml", tmp_path / "page.html"
    scenario.write_text(
        'connections = [["m[i].p", "s.r"]]\n[experiment]\nstop = "20 ms"\nstep = "1 ms"\n[slaves]\n'
        'm = { recipe = "SliderMass", count = 1 }\ns = "TranslationalSpring"\n'
        'f = { recipe = "TranslationalSpring", count = 3 }\n"f[2]" = { recipe = "SliderMass", start = { v0 = 1 } }\n'
    )
    shown = opened(browser, live(scenario, page))
    copied = tmp_path / "copied.toml"
    copied.write_text(shown.page.evaluate("scenarioText()"), encoding="utf-8")
    assert load_scenario(copied).slaves == load_scenario(scenario).slaves
    shown.page.close()


def test_the_time_beside_the_player_is_that_of_the_run(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "late.toml").write_text(
        '[experiment]\nstart = "2 s"\nstop = "2.5 s"\nstep = "10 ms"\n[slaves]\nball = "BouncingBall"\n'
    )
    shown = opened(browser, live(tmp_path / "late.toml", tmp_path / "page.html"))
    assert shown.page.inner_text("#player span") == "2 s"
    shown.page.close()


def test_a_run_of_slaves_with_unlike_steps_ends_where_all_of_them_do(
    browser: Browser, tmp_path: Path, made: Made
) -> None:
    """Steps of 2 and 3 ms end together every 6 ms."""
    scenario = tmp_path / "unlike.toml"
    scenario.write_text(
        'connections = [["m.p", "s.r"]]\n[experiment]\nstop = "6 ms"\nstep = "0.5 ms"\n[slaves]\n'
        'm = { recipe = "SliderMass", start = { v0 = 1 }, step = "2 ms" }\n'
        's = { recipe = "TranslationalSpring", step = "3 ms" }\n'
    )
    page, trace = made(scenario)
    shown = opened(browser, page)
    shown.after(EVERY_SIGNAL)
    assert_same_bits(shown.values(), trace)
    shown.page.close()


def test_hold_beside_the_coupling_gains_energy(browser: Browser, ball_and_floor: tuple[Path, Path]) -> None:
    """An elastic floor at 22 steps a contact: the ball rises higher with a held force, to 0.1 m with the coupling."""
    shown = opened(browser, ball_and_floor[1])
    auto, hold = (shown.values(run)["ball.p.r[3]"] for run in (0, 1))
    assert auto.max() == 0.1 and auto[len(auto) // 5 :].max() == pytest.approx(0.1, rel=2e-3)
    assert hold.max() > 0.15
    shown.page.close()


@pytest.fixture(scope="module")
def floor_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a force element, which rests unless an input is driven."""
    return live("PointSurface", tmp_path_factory.mktemp("alone") / "page.html")


def click(button: str) -> str:
    return f"() => [...document.querySelectorAll('button')].find((one) => one.textContent === '{button}').click()"


def test_as_at_first_the_input_is_driven_that_a_page_has_driven_by_itself(browser: Browser, floor_alone: Path) -> None:
    shown = opened(browser, floor_alone)
    first = shown.page.evaluate("state.drives")
    assert list(first) == ["fmu.point.r[3]"]
    shown.page.evaluate("() => (state.drives['fmu.point.r[3]'].size *= 2)")
    shown.page.evaluate(click("as at first"))
    shown.page.wait_for_function("(first) => JSON.stringify(state.drives) === JSON.stringify(first)", arg=first)
    assert shown.complaints == []
    shown.page.close()


def test_a_part_of_a_whole_number_is_refused(browser: Browser, floor_alone: Path) -> None:
    shown = opened(browser, floor_alone)
    shown.page.evaluate("() => document.querySelectorAll('#controls details').forEach((one) => (one.open = true))")
    shown.page.wait_for_selector('[data-name="solver.max_substeps"]')
    before = shown.page.evaluate("number")
    shown.page.evaluate(type_number("solver.max_substeps", "10.5"))
    assert "'10.5' is no whole number" in shown.page.locator("#state").inner_text()
    assert shown.page.evaluate("number") == before
    shown.after(type_number("solver.max_substeps", "1000"))
    assert shown.page.evaluate("state.starts.fmu") == {"solver.max_substeps": 1000}
    shown.page.close()


def test_a_button_that_copies_has_its_label_again_after_two_clicks(browser: Browser, floor_alone: Path) -> None:
    shown = opened(browser, floor_alone)
    button = shown.page.get_by_role("button", name="copy scenario").element_handle()
    for _ in range(2):
        button.click()
        shown.page.wait_for_timeout(100)
    assert button.text_content() == "copied"
    shown.page.wait_for_timeout(1500)
    assert button.text_content() == "copy scenario"
    shown.page.close()


def test_signals_can_be_chosen_where_the_first_run_is_refused(browser: Browser, floor_alone: Path) -> None:
    shown = opened(browser, floor_alone, "#fmu.C_F=-1")
    assert shown.page.evaluate("state.shown") is None
    shown.page.evaluate("() => { listSignals(); byId('signals').querySelector('input').click(); }")
    assert len(shown.page.evaluate("state.shown")) == 1
    assert shown.complaints == []
    shown.page.close()


def test_a_refused_value_shows_what_the_fmu_says(browser: Browser, ball_and_floor: tuple[Path, Path]) -> None:
    shown = opened(browser, ball_and_floor[1])
    shown.after(type_number("m", "-1"))
    state = shown.page.locator("#state")
    assert state.get_attribute("class") == "failed"
    assert "ball" in state.inner_text() and "m = -1" in state.inner_text().replace("-1.0", "-1")
    shown.after(type_number("m", "2"))
    assert state.get_attribute("class") == ""
    assert shown.complaints == []
    shown.page.close()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("communication step", "0", "must be greater than 0 s"),
        ("stop", "-1", "must be greater than the start"),
        ("C_r", "much", "is no number"),
    ],
)
def test_what_is_typed_wrong_is_named_and_nothing_runs(
    browser: Browser, ball_and_floor: tuple[Path, Path], name: str, value: str, message: str
) -> None:
    shown = opened(browser, ball_and_floor[1])
    before = shown.page.evaluate("number")
    shown.page.evaluate(type_number(name, value))
    assert message in shown.page.locator("#state").inner_text()
    assert shown.page.evaluate("number") == before
    shown.page.close()


def test_more_steps_than_a_page_makes_are_refused_and_the_next_run_comes(
    browser: Browser, ball_and_floor: tuple[Path, Path]
) -> None:
    shown = opened(browser, ball_and_floor[1])
    shown.after(type_number("communication step", "1e-12"))
    assert "steps are more than the 1000000" in shown.page.locator("#state").inner_text()
    shown.after(type_number("communication step", "2e-3"))
    assert shown.page.locator("#state").get_attribute("class") == ""
    shown.page.close()


@pytest.mark.parametrize("fragment", ["#100%", "#~floor.point.r[1]=sine", "#~x.y=sine,1,1,1", "#floor.C_r=", "#=&&=1"])
def test_an_address_that_no_page_has_written_is_left_alone(
    browser: Browser, ball_and_floor: tuple[Path, Path], fragment: str
) -> None:
    shown = opened(browser, ball_and_floor[1], fragment)
    assert shown.complaints == []
    assert shown.page.evaluate("Object.keys(state.drives).length + Object.keys(state.starts).length") == 0
    shown.page.close()


def test_curves_that_differ_by_rounding_alone_are_drawn_as_constant(
    browser: Browser, ball_and_floor: tuple[Path, Path]
) -> None:
    shown = opened(browser, ball_and_floor[1])
    marks = shown.page.evaluate("[ticks(21.680100000000003, 21.680100000000007, 5).length, ticks(0, 1, 5).length]")
    assert marks[0] <= 10 and marks[1] == 6
    low, high = shown.page.evaluate(
        "(() => { const p = Object.values(plots)[0]; p.show([0, 1], [{values: [21.680100000000003, "
        "21.680100000000007], name: 'f', colour: 'red'}], null); return p.range(); })()"
    )
    assert high - low > 10.0
    shown.page.close()


def test_inputs_follow_laws_of_the_time_to_rounding(browser: Browser, tmp_path: Path) -> None:
    """Browsers bring their own elementary functions.  The velocity is driven with the slope of the law."""
    scenario = tmp_path / "shaken.toml"
    scenario.write_text(
        '[experiment]\nstop = "0.2 s"\nstep = "1 ms"\n\n[slaves.floor]\nrecipe = "PointSurface"\n'
        'start = { "coupling.mode" = "hold" }\n\n[drive]\n'
        '"floor.point.r[3]" = "#t < 0.1[s] -> -1[mm]*exp(-#t/50[ms]), -1[mm]*(1 + tanh(#t/1[s]))*(#t/1[s])^1.5"\n'
        '"floor.point.r[1]" = "min(1[mm], 5[mm]*sin(2*PI*5[Hz]*#t))"\n',
        encoding="utf-8",
    )
    trace = Master(load_scenario(scenario)).run(lambda share: None).trace
    shown = opened(browser, live(scenario, tmp_path / "page.html"))
    values = shown.values()
    for name in ("distance", "depth_rate", "slip_speed", "point.f[1]", "point.f[3]"):
        own, native = values[f"floor.{name}"], trace[f"floor.{name}"]
        np.testing.assert_allclose(own, native, rtol=1e-9, atol=1e-9 * np.abs(native).max(), err_msg=name)
    assert np.abs(trace["floor.point.f[3]"]).max() > 1.0
    shown.page.close()


def test_a_mechanism_is_drawn_where_it_is(browser: Browser, tmp_path: Path) -> None:
    """The tip of the chain by the joints that the page draws, against the FMU's output, over the run."""
    shown = opened(browser, live("CamChainConcave", tmp_path / "page.html"))
    drawn = shown.page.evaluate(
        """() => {
             const item = view.scene.items.find((one) => one.kind === "linkage"), found = [];
             const [body, ...point] = item.links.find((one) => one[1].includes("hold[1].point"));
             for (let k = 0; k < view.scene.count; k++)
               found.push(Scene.on(view.scene.poses(item.joints, k)(body), view.scene.vector(point, k)));
             return found;
           }"""
    )
    trace = fmu_builder.run("CamChainConcave").trace
    tip = np.column_stack([trace[f"fmu.point[1].r[{i}]"] for i in (1, 2)])
    assert np.abs(np.array(drawn)[:, :2] - tip).max() < 1e-14
    assert shown.complaints == []
    shown.page.close()


@pytest.mark.parametrize(
    ("recipe", "kinds"),
    [
        ("BodyOnFloor", {"shape", "body", "force"}),
        ("BeadOnHelix", {"shape", "body", "force"}),
        ("MarbleInFunnel", {"shape", "body", "force"}),
        ("SpringPendulum", {"body", "between", "force"}),
    ],
)
def test_a_scene_has_surfaces_lines_bodies_and_forces(recipe: str, kinds: set[str]) -> None:
    system = system_of(load_scenario(Path(recipe)))
    scene = scene_of(system, {"fmu": model_of(system.scenario, "fmu")})
    assert {item["kind"] for item in scene["items"]} == kinds
    assert all(scene["variables"].values())


def test_a_step_that_fails_keeps_the_curves_and_shows_why(browser: Browser, made: Made) -> None:
    shown = opened(browser, made("BouncingBall")[0])
    whole = len(shown.values()["fmu.height"])
    shown.after("() => setStart(SYSTEM.slaves[0], parameterOf(SYSTEM.slaves[0], 'solver.max_substeps'), 10)")
    state = shown.page.locator("#state")
    assert state.get_attribute("class") == "failed" and "solver.max_substeps = 10" in state.inner_text()
    drawn = shown.values()["fmu.height"]
    assert 2 < len(drawn) < whole and np.ptp(drawn) > 0.1
    assert shown.page.evaluate("Object.values(plots)[0].curves[0].values.length") == len(drawn)
    assert shown.complaints == []
    shown.page.close()


def test_without_webassembly_the_page_says_so(browser: Browser, ball_and_floor: tuple[Path, Path]) -> None:
    page = browser.new_page()
    page.add_init_script("delete window.WebAssembly")
    page.goto(ball_and_floor[1].as_uri())
    assert "no WebAssembly" in page.locator("#state").inner_text()
    page.close()


@pytest.fixture(scope="module")
def documentation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """index.html of an FMU for all platforms, unpacked."""
    folder = tmp_path_factory.mktemp("documentation")
    build_named(["PointMass"], folder, (), False, False, False)
    with zipfile.ZipFile(folder / "PointMass.fmu") as archive:
        archive.extractall(folder)
    return folder / "documentation" / "index.html"


def test_the_documentation_of_an_fmu_runs_it(browser: Browser, documentation: Path) -> None:
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto(documentation.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("body[data-shown]").wait_for(timeout=SHOWN)
    assert not frame.locator("header").is_visible()
    higher = "() => document.querySelector('iframe').clientHeight > 600"  # as high as what it shows
    page.wait_for_function(higher, timeout=SHOWN)
    assert (documentation.parent / "live.html").stat().st_size < 150_000
    page.close()


@pytest.mark.parametrize(("scripts", "line"), [(False, "With scripts allowed"), (True, "no WebAssembly")])
def test_the_documentation_is_whole_where_nothing_can_run(
    browser: Browser, documentation: Path, scripts: bool, line: str
) -> None:
    context = browser.new_context(java_script_enabled=scripts)
    page = context.new_page()
    if scripts:
        page.add_init_script("delete window.WebAssembly")
    page.goto(documentation.as_uri())
    assert page.locator("iframe").count() == 0
    assert line in page.locator("body").inner_text()
    assert "In your tool" in page.locator("body").inner_text()
    assert all(image.evaluate("(one) => one.naturalWidth") > 0 for image in page.locator("img").all()) or not scripts
    context.close()


def test_a_hand_drags_the_point_and_its_drive_is_that_of_a_native_run(browser: Browser, tmp_path: Path) -> None:
    """Position and rate; the drive is in the scenario that the page copies and in its address."""
    shown = opened(browser, live("PointSurface", tmp_path / "page.html"))
    box = shown.page.locator("#view").bounding_box()
    assert box is not None
    x, y = shown.page.evaluate("view.placed(view.scene.vector(view.hand.points[0], view.sample))")
    shown.page.mouse.move(box["x"] + x, box["y"] + y)
    shown.page.evaluate(
        "() => { const now = performance.now(); window.passed = 0; performance.now = () => now + passed; }"
    )
    shown.page.mouse.down()
    for k in range(1, 13):  # sideways, and down into the floor, by a clock of its own however busy the machine is
        shown.page.mouse.move(box["x"] + x + 6 * k, box["y"] + y + 5 * k)
        shown.page.evaluate("passed += 30")
        shown.page.wait_for_function("() => view.hand.held.seen === performance.now()", timeout=SHOWN)
    shown.page.mouse.up()
    shown.page.wait_for_function("() => view.hand.held === null && !busy && !waiting", timeout=SHOWN)
    values = shown.values()
    assert values["fmu.point.f[3]"].max() > 1.0 and np.ptp(values["fmu.depth_rate"]) > 1e-3
    copied = tmp_path / "copied.toml"
    copied.write_text(shown.page.evaluate("scenarioText()"), encoding="utf-8")
    scenario = load_scenario(copied)
    assert {"fmu.point.r[1]", "fmu.point.r[3]"} <= set(scenario.drive)
    trace = Master(scenario).run(lambda share: None).trace
    shown.page.wait_for_function("() => location.hash === `#${fragment()}`", timeout=SHOWN)
    again = opened(browser, tmp_path / "page.html", shown.page.evaluate("location.hash"))
    assert len(values) > 3 and shown.complaints == []
    for found in (values, again.values()):
        for name, own in found.items():
            assert np.array_equal(own, trace[name]), name
    shown.page.close()
    again.page.close()


def test_curves_of_laws_follow_their_parameters(browser: Browser, made: Made) -> None:
    """Against numpy, as the recipe has them and with other values of their scalars."""
    laws = load_model(find_recipe("FloorWithLaws", Path())).recipe.laws  # type: ignore[attr-defined]
    shown = opened(browser, made("FloorWithLaws")[0])
    for factor in (1.0, 1.7):
        if factor != 1.0:
            change = f"for (const one of slave.parameters.filter((p) => p.name.startsWith('laws.'))) set(one, {factor})"
            set_one = "const set = (one, factor) => setStart(slave, one, one.value * factor)"
            shown.after(f"() => {{ const slave = SYSTEM.slaves[0]; {set_one}; {change}; }}")
            shown.page.wait_for_function("() => !busy && !waiting", timeout=SHOWN)
        curves = shown.page.evaluate(
            "lawPanels.map(({ law, plot }) => [law.name, law.argument, [...plot.time], [...plot.curves.at(-1).values]])"
        )
        assert [name for name, *_ in curves] == ["F_fr", "F_d"]
        for checked, (_, argument, x, y) in zip(laws.checked, curves, strict=True):
            numbers = {name: one.number for name, one in checked.laws.scalars.items()}
            scalars = {name: factor * number[0] for name, number in numbers.items() if number is not None}
            arguments = {name: np.array(ends[1]) for name, ends in checked.ranges.items()} | {argument: np.array(x)}
            expected = evaluate(checked.law.law, checked.laws, arguments, scalars=scalars).value
            np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
            assert np.ptp(y) > 0.1
    assert shown.complaints == []
    shown.page.close()


def test_a_table_of_a_law_has_the_values_of_the_fmu(browser: Browser, made: Made) -> None:
    metre, x = parse_unit("m"), np.linspace(-1.0, 5.0, 61)
    shown = opened(browser, made("FloorWithLaws")[0])
    for outside in OUTSIDE:
        table = LawTable((0.0, 1.0, 3.0, 4.0), (0.0, 2.0, 2.5, 7.0), "x", metre, metre, "pchip", outside)
        found = shown.page.evaluate(f"{x.tolist()}.map(tableLaw({table_text(table)})).map((y) => (y === y ? y : null))")
        np.testing.assert_allclose(np.array(found, dtype=float), table.at(x)[0], rtol=1e-14, atol=1e-14)
    shown.page.close()


def test_a_cam_of_laws_is_drawn_where_its_point_touches_it() -> None:
    """The way of the follower's point, in the axes of the cam, lies on the line that is drawn."""
    system = system_of(load_scenario(Path("EccentricCam")))
    scene = scene_of(system, {"fmu": model_of(system.scenario, "fmu")})
    (curve,) = next(item["curves"] for item in scene["items"] if item["kind"] == "linkage")
    trace = fmu_builder.run("EccentricCam").trace
    turn = trace["fmu.integrated[1].q"] - np.pi / 2.0
    x, y = (trace[f"fmu.contact[1].{axis}"] for axis in "xy")
    way = np.column_stack([np.cos(turn) * x + np.sin(turn) * y, np.cos(turn) * y - np.sin(turn) * x])[::50, None]
    begin, end = np.array(curve["line"])[:-1], np.array(curve["line"])[1:]
    share = np.einsum("kij,ij->ki", way - begin, end - begin) / ((end - begin) ** 2).sum(axis=1)
    foot = begin + np.clip(share, 0.0, 1.0)[..., None] * (end - begin)
    apart = np.hypot(*(way - foot).transpose(2, 0, 1)).min(axis=1)
    assert apart.max() < 0.03 * (1.0 - np.cos(np.pi / 120)) + 1e-6  # chords of 120 parts of a circle of 30 mm, 5 digits
