"""Mechanisms drawn while a case runs: bodies where the outputs say, and a page that shows them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from fmu_builder.cosim.line_motion import motion
from fmu_builder.cosim.motion import FRAMES, GROUND, Animation, animation
from fmu_builder.cosim.trace import Trace
from fmu_builder.cosim.validation import CaseResult, find_cases, run_case
from fmu_builder.model.scenario import read_scenario
from fmu_builder.paths import shipped
from fmu_builder.report.moving_picture import picture
from fmu_builder.report.report import write_report


def result_of(name: str) -> CaseResult:
    ((case, path),) = find_cases([name]).items()
    return run_case(case, path)


@pytest.fixture(scope="module")
def chain() -> CaseResult:
    return result_of("planar_mechanism/paper_concave")


def test_links_end_where_joints_are_and_the_tip_is_on_its_cam(chain: CaseResult) -> None:
    assert chain.animation and chain.trace
    poses, lines = chain.animation.motion.poses, chain.animation.motion.lines
    tip = next(line for line in lines if line.kind == "tip")
    x, y, angle = poses[:, tip.body].T
    at = np.array([x + tip.points[0, 0] * np.cos(angle), y + tip.points[0, 0] * np.sin(angle)])
    for i, name in enumerate(("x", "y")):
        # frames lie between samples, over which 10 ms bend by less than 0.2 mm
        shown = np.interp(chain.animation.time, chain.trace.time, chain.trace[f"chain.contact[1].{name}"])
        assert at[i] == pytest.approx(shown, abs=2e-4)
    np.testing.assert_allclose(poses[:, 0, :2], np.broadcast_to((0.096, 0.298), (FRAMES, 2)))  # hinged to the ground
    (profile,) = (line for line in lines if line.kind == "profile")
    x, y = profile.points.T
    assert y == pytest.approx(-0.595 * x + 0.5 * x**2 + 0.5 * x**3, abs=1e-12)
    assert x.min() < at[0].min() and x.max() > at[0].max()


def test_the_page_has_every_body_within_its_picture(chain: CaseResult, tmp_path: Path) -> None:
    assert chain.animation
    shown = picture(chain.animation)
    frames = np.array(shown.frames).reshape(FRAMES, 5, 3)  # ground and four links
    inside = (frames[:, 1:, :2] >= 0.0) & (frames[:, 1:, :2] <= (shown.width, shown.height))
    assert inside.all() and max(shown.width, shown.height) == pytest.approx(420.0, abs=0.1)
    write_report([chain], tmp_path / "report.html", title="Motion")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count('class="motion"') == 1 and page.count('class="hinge"') == 3 and page.count('class="slider"') == 1
    found = re.search(r'id="motions">(.*?)</script>', page)
    assert found
    (motion,) = json.loads(found[1])
    assert len(motion["frames"]) == FRAMES and motion["time"][-1] == pytest.approx(1.54)


def test_a_point_runs_along_its_line_in_the_colour_of_the_recipe(tmp_path: Path) -> None:
    """The parts of an assembly too: the wire is the parabola z = x^2/m, and the bead goes to and fro on it."""
    result = result_of("systems/bead_on_parabola")
    assert result.animation
    motion = result.animation.motion
    wire, way, bead = motion.lines
    assert (wire.kind, wire.color, bead.kind, bead.body) == ("profile", "#c04020", "tip", 0)
    x, z = wire.points.T
    assert z == pytest.approx(x**2, abs=1e-12)
    assert (x.min(), x.max()) == pytest.approx((-0.6, 0.6))
    x, z = motion.poses[:, 0, :2].T
    # frames lie between samples, 10 ms apart, over which 20 m/s^2 bend by less than 0.5 mm
    assert z == pytest.approx(x**2, abs=5e-4)
    assert (x[0], x.min()) == pytest.approx((0.5, -0.5), abs=1e-3)
    assert np.array_equal(way.points, motion.poses[:, 0, :2])
    write_report([result], tmp_path / "report.html", title="Motion")
    assert 'style="stroke: #c04020"' in (tmp_path / "report.html").read_text(encoding="utf-8")


def on_a_rail(folder: Path, connection: str, drawing: str = "") -> Animation | None:
    """GuideRail with one port on a body that moves along x by 1 m and turns about z by a quarter within 1 s."""
    text = (shipped("fmus") / "GuideRail.toml").read_text(encoding="utf-8")
    (folder / "Rail.toml").write_text(f"{text}\n[drawing]\n{drawing}\n", encoding="utf-8")
    (folder / "run.toml").write_text(
        f"connections = [{connection}]\n[experiment]\nstop = 1\nstep = 0.1\n"
        '[slaves]\nhand = "PrescribedMotion"\nrail = "Rail"\n',
        encoding="utf-8",
    )
    time = np.linspace(0.0, 1.0, 11)
    motion = {f"r[{k}]": time * (k == 1) for k in (1, 2, 3)}
    motion |= {f"q[{k}]": f(0.25 * np.pi * time) * (k in (1, 4)) for k, f in enumerate((np.cos,) * 3 + (np.sin,), 1)}
    names = tuple(f"hand.port.{name}" for name in motion)
    return animation(
        read_scenario(folder / "run.toml"), Trace(time, names, np.stack(list(motion.values()), 1), {}, {}, {})
    )


@pytest.mark.parametrize("drawing", ["", "color = '#123456'", "visible = false"])
def test_a_line_is_drawn_where_it_is_visible(tmp_path: Path, drawing: str) -> None:
    shown = on_a_rail(tmp_path, '["hand.port", "rail.point"]', drawing)
    if drawing.startswith("visible"):
        assert shown is None
    else:
        assert shown and shown.motion.lines[0].color == ("#123456" if drawing else "")
        assert shown.motion.poses[:, 0, 0] == pytest.approx(shown.time)


def test_a_line_on_a_moving_body_is_seen_from_it(tmp_path: Path) -> None:
    """The point that rests at 0.5 m is, from a body at t that is turned by pi t/2, at (0.5 - t) exp(-i pi t/2)."""
    still, shown = (on_a_rail(tmp_path, c) for c in ('["hand.port", "rail.point"]', '["hand.port", "rail.body[1]"]'))
    assert shown and still
    assert shown.motion.lines[0].points == pytest.approx(still.motion.lines[0].points)
    way = (0.5 - shown.time) * np.exp(-0.5j * np.pi * shown.time)
    assert shown.motion.poses[:, 0, :2] == pytest.approx(np.stack([way.real, way.imag], 1), abs=1e-9)


def test_parts_of_a_line_on_several_bodies_move_as_these() -> None:
    """The line of two bodies, 1 m of each, from the first: a point p of the second is at
    exp(-i a) (r2 - r1 + exp(i b) p) for their angles a and b."""
    t = np.linspace(0.0, 1.0, 11)
    a, b, first, second = 0.3 * t, 0.2 + 0.5 * t, 0.1j * t, 1.0 + 0.4 * t
    constants = {"line_points": (0, 0, 0, 1, 0, 0) * 2, "line_bodies": (0, 0, 1, 1), "closed": (0,)}
    signals = {}
    for name, place, angle in (("body[1]", first, a), ("body[2]", second, b)):
        roles = {"r": (place.real, place.imag, 0.0 * t), "q": (np.cos(angle / 2), 0 * t, 0 * t, np.sin(angle / 2))}
        signals |= {f"{name}.{role}[{k}]": v for role, vs in roles.items() for k, v in enumerate(vs, 1)}
    values = dict.fromkeys([*signals, "point.r[1]", "point.r[2]", "point.r[3]"], 0.0)
    shown = motion(constants, values, signals)
    part = next(line for line in shown.lines if line.body == 1)
    x, y, turn = shown.poses[:, 1].T
    for end, p in zip(part.points, (0.0, 1.0), strict=True):
        at = x + 1j * y + np.exp(1j * turn) * complex(*end)
        assert at == pytest.approx(np.exp(-1j * a) * (second - first + np.exp(1j * b) * p), abs=1e-12)
    assert shown.lines[0].body == GROUND and shown.lines[0].points == pytest.approx(np.array([[0, 0], [1, 0]]))


def test_a_pin_is_a_hinge_in_front_of_both_of_its_bodies(tmp_path: Path) -> None:
    """Coupler and rocker of the four-bar meet in it, the rocker is drawn last."""
    text = '[experiment]\nstop = 1\nstep = 0.1\n[slaves]\nbars = "FourBar"\n'
    (tmp_path / "run.toml").write_text(text, encoding="utf-8")
    names, time = ("bars.q[1]", "bars.q[2]", "bars.q[3]"), np.linspace(0.0, 1.0, 11)
    trace = Trace(time, names, np.zeros((11, 3)), {}, {}, {})
    shown = animation(read_scenario(tmp_path / "run.toml"), trace)
    assert shown
    hinges = [(line.body, *line.points[0]) for line in shown.motion.lines if line.kind == "hinge"]
    assert hinges == [(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 0.3, 0)]
    assert not [line for line in shown.motion.lines if line.kind == "tip"]


def test_of_parts_that_are_counted_the_first_is_drawn(tmp_path: Path) -> None:
    recipe = '[parts]\narm = { recipe = "DoublePendulum", count = 2 }\n[expose]\noutputs = { angle = "arm[1].q[1]" }\n'
    (tmp_path / "Arms.toml").write_text(recipe, encoding="utf-8")
    text = '[experiment]\nstop = 1\nstep = 0.1\n[slaves]\narms = "Arms"\n'
    (tmp_path / "run.toml").write_text(text, encoding="utf-8")
    time = np.linspace(0.0, 1.0, 11)
    trace = Trace(time, ("arms.angle", "arms.arm[1].q[2]"), np.stack([time, 0 * time], 1), {}, {}, {})
    shown = animation(read_scenario(tmp_path / "run.toml"), trace)
    assert shown and shown.motion.poses[:, :2, 2] == pytest.approx(np.stack([time, time], 1))


def test_the_motion_is_that_of_the_element_that_the_recipe_finds(tmp_path: Path) -> None:
    """One of the user's own in the place of a shipped one has no picture but its own."""
    own = tmp_path / "elements" / "planar_mechanism"
    shutil.copytree(shipped("elements") / "planar_mechanism", own)
    shutil.copy(shipped("fmus") / "DoublePendulum.toml", tmp_path / "Own.toml")
    text = '[experiment]\nstop = 1\nstep = 0.1\n[slaves]\nown = "Own"\n'
    (tmp_path / "run.toml").write_text(text, encoding="utf-8")
    time = np.linspace(0.0, 1.0, 11)
    trace = Trace(time, ("own.q[1]", "own.q[2]"), np.zeros((11, 2)), {}, {}, {})
    assert animation(read_scenario(tmp_path / "run.toml"), trace) is not None
    (own / "motion.py").unlink()
    assert animation(read_scenario(tmp_path / "run.toml"), trace) is None


def test_what_has_no_picture_is_not_animated() -> None:
    result = result_of("point_mass/projectile")
    assert result.passed and result.animation is None
