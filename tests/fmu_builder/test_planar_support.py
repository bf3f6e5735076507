"""The rank test of points that hold a body in the plane: which motions are free, and what a build says of them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from fmu_builder.cli.commands import app
from fmu_builder.export.fmu import build_fmu
from fmu_builder.model.loader import load_assembly
from fmu_builder.model.planar_support import Line, free_motions
from fmu_builder.paths import shipped

UP = math.pi / 2
moderate = st.floats(-10.0, 10.0)
angles = st.floats(-math.pi, math.pi)


def through(x: float, y: float, *angles: float, along: Sequence[float] = (0.3, -2.0, 5.0)) -> list[Line]:
    """Lines through one point, each given by another of its points."""
    return [
        Line(x + s * math.cos(a), y + s * math.sin(a), a) for a, s in zip(angles, along, strict=False)
    ]  # fmt: skip


# ---- lines -----------------------------------------------------------------------------------------------------------

FREE = {
    "held": ([Line(0.0, 0.1, 0.0), Line(-0.3, 0.0, UP), Line(0.4, 0.0, UP)], []),
    "held by a force and a turning": ([Line(0.0, 0.5, 0.0), Line(0.2, 0.0, UP), Line(turning=True)], []),
    "held far away from the centre": ([*through(1e3, 1e3, 0.1, 1.2), Line(1e3, 1e3 + 1.0, 2.0)], []),
    "three through one point": (
        through(2.0, 3.0, 0.1, 1.2, 2.5),
        ["a rotation about (2, 3) m from the centre of mass"],
    ),
    "three through the centre": (
        through(0.0, 0.0, 0.1, 1.2, 2.5),
        ["a rotation about (0, 0) m from the centre of mass"],
    ),
    "three of one place": (
        [Line(-0.3, 0.2, a) for a in (0.0, UP, 1.0)],
        ["a rotation about (-0.3, 0.2) m from the centre of mass"],
    ),
    "three parallel": (
        [Line(0.0, y, math.radians(30.0)) for y in (0.1, -0.2, 0.7)],
        ["a translation along (-0.5, 0.866)"],
    ),
    "two": ([Line(0.0, 0.2, 0.0), Line(-0.3, 0.0, UP)], ["a rotation about (-0.3, 0.2) m from the centre of mass"]),
    "two and one of them again": (
        [Line(0.0, 0.2, 0.0), Line(5.0, 0.2, math.pi), Line(-0.3, 0.0, UP)],
        ["a rotation about (-0.3, 0.2) m from the centre of mass"],
    ),
    "two parallel": ([Line(0.0, 0.2, 0.0), Line(0.0, -0.2, 0.0)], ["a translation along (0, 1)"]),
    "one": (
        [Line(0.0, 0.5, 0.0)],
        ["a rotation about (0, 0.5) m from the centre of mass", "a translation along (0, 1)"],
    ),
    "turning alone": ([Line(turning=True)], ["every translation"]),
    "turning and one line": ([Line(turning=True), Line(0.0, 0.5, UP)], ["a translation along (1, 0)"]),
    "nothing": ([], ["a rotation about (0, 0) m from the centre of mass", "every translation"]),
}


@pytest.mark.parametrize("name", FREE)
def test_the_free_motions_are_named(name: str) -> None:
    lines, expected = FREE[name]
    assert free_motions(lines) == expected


def test_offsets_of_six_digits_are_as_good_as_exact() -> None:
    """Three lines that meet but for the last digit written; a millimetre aside they hold the body."""
    lines = [Line(0.866025, 0.5, math.radians(30.0)), Line(0.0, 1.0, UP), Line(-1.0, 0.0, 0.0)]
    (free,) = free_motions(lines)
    assert free == "a rotation about (0, 0) m from the centre of mass"
    assert free_motions([Line(0.866025, 0.501, math.radians(30.0)), *lines[1:]]) == []


@settings(max_examples=200, deadline=None)
@given(x=moderate, y=moderate, a=angles, apart=st.tuples(st.floats(0.2, 1.3), st.floats(1.6, 2.9)))
def test_a_rotation_about_the_point_where_the_lines_meet_moves_no_point_along_its_line(
    x: float, y: float, a: float, apart: tuple[float, float]
) -> None:
    """The motion that is named, and no other: B (u, v, w) = 0 with u = w y, v = -w x, where (x, y) is its centre."""
    lines = through(x, y, a, a + apart[0], a + apart[1])
    (free,) = free_motions(lines)
    found = re.fullmatch(r"a rotation about \((.*), (.*)\) m from the centre of mass", free)
    assert found is not None
    length = max(math.hypot(line.x, line.y) for line in lines)
    assert (float(found[1]), float(found[2])) == pytest.approx((x, y), abs=1e-3 * length)
    for line in lines:
        assert np.dot(line.row(1.0), (y, -x, 1.0)) == pytest.approx(0.0, abs=1e-12 * (1.0 + length))


@settings(max_examples=200, deadline=None)
@given(offsets=st.lists(st.tuples(moderate, moderate, angles), min_size=3, max_size=5))
def test_a_body_is_held_if_springs_at_its_points_leave_no_motion_without_energy(
    offsets: list[tuple[float, float, float]],
) -> None:
    """Independent of the singular values: the determinant of sum B^T B, away from where it is hard to tell."""
    lines = [Line(*offset) for offset in offsets]
    length = max(math.hypot(line.x, line.y) for line in lines) or 1.0
    rows = np.array([line.row(length) for line in lines])
    determinant = float(np.linalg.det(rows.T @ rows))
    if determinant > 1e-9:
        assert free_motions(lines) == []
    elif determinant < 1e-30:
        assert free_motions(lines) != []


# ---- assemblies ------------------------------------------------------------------------------------------------------

SPRING = """
description = "A spring to the ground"
[parameters]
k = { unit = "N/m", start = 100.0, above = 0.0, description = "Spring rate" }
[ports.p]
kind = "translational"
side = "force"
description = "The end that moves"
depends = ["k", "x"]
[states]
x = { unit = "m", rate = "p.v", description = "Way" }
"""
SPRING_C = "static void outputs(Element *e) { e->p.F = -e->k * e->x; }\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an element that holds one point, and its recipe Spring."""
    element = tmp_path / "elements" / "spring"
    element.mkdir(parents=True)
    (element / "element.toml").write_text(SPRING, encoding="utf-8")
    (element / "element.c").write_text(SPRING_C, encoding="utf-8")
    (tmp_path / "Spring.toml").write_text('element = "spring"\n', encoding="utf-8")
    return tmp_path


def held(folder: Path, points: dict[str, str], body: str = '"TwoDBody"', more: str = "") -> Path:
    """A body on springs at points; each is written as in [parts]."""
    pairs = [f'["{name}.P_out", "body.P[1]"], ["{name}.p_in", "{name}_spring.p"]' for name in points]
    parts = [f'{name} = {point}\n{name}_spring = "Spring"' for name, point in points.items()]
    path = folder / "Held.toml"
    text = f"connections = [{', '.join(pairs)}]\n[parts]\nbody = {body}\n" + "\n".join(parts) + f"\n{more}"
    path.write_text(text, encoding="utf-8")
    return path


def x(y: float) -> str:
    return f'{{ recipe = "TwoDPointX", start = {{ YP = {y} }} }}'


def y(x: float) -> str:
    return f'{{ recipe = "TwoDPointY", start = {{ XP = {x} }} }}'


DIAGONAL = '{ recipe = "TwoDPointXY", start = { XP = 1.4, YP = 1.1, theta = "45 deg" } }'
GOOD = {"a": x(0.1), "b": y(-0.3), "c": y(0.4)}


def test_three_points_that_hold_the_body_are_no_matter(folder: Path) -> None:
    assert load_assembly(held(folder, GOOD)).warnings() == ()


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (
            {"a": x(0.1), "b": y(0.4), "c": DIAGONAL},
            "the points a, b, c do not hold body: it is free in a rotation about (0.4, 0.1) m from the centre of mass; "
            "three points hold a body unless their lines meet in one point or are all parallel",
        ),
        ({"a": x(0.1), "b": x(0.2), "c": x(-0.1)}, "body: it is free in a translation along (0, 1); "),
        ({"a": x(0.1), "b": y(0.2)}, "the points a, b do not hold body: it is free in a rotation about (0.2, 0.1) m"),
        (
            {"a": x(0.1)},
            "the point a alone does not hold body: it is free in a rotation about (0, 0.1) m from the centre of mass "
            "and a translation along (0, 1); ",
        ),
        ({"a": x(0.1), "b": x(0.2)}, "the points a, b do not hold body: it is free in a translation along (0, 1); "),
    ],
)  # fmt: skip
def test_points_that_leave_the_body_free_are_warned_of(folder: Path, points: dict[str, str], said: str) -> None:
    (warning,) = load_assembly(held(folder, points)).warnings()
    assert said in warning


def test_the_start_values_of_the_assembly_decide(folder: Path) -> None:
    points = {"a": x(0.1), "b": y(0.2), "c": y(0.2)}
    assert load_assembly(held(folder, points)).warnings()
    assert not load_assembly(held(folder, points, more='[start]\n"c.XP" = "-20 cm"\n')).warnings()


def test_a_point_that_a_given_force_acts_on_holds_nothing(folder: Path) -> None:
    text = held(folder, GOOD).read_text(encoding="utf-8").replace(', ["c.p_in", "c_spring.p"]', "")
    path = folder / "Pushed.toml"
    path.write_text(text.replace('c_spring = "Spring"\n', ""), encoding="utf-8")
    (warning,) = load_assembly(path).warnings()
    assert "the points a, b do not hold body: it is free in a rotation about (-0.3, 0.1) m" in warning
    path.write_text(path.read_text("utf-8") + '\n[expose]\nports = { rope = "c.p_in" }\n', encoding="utf-8")
    assert load_assembly(path).warnings() == ()  # who holds the rope outside may hold the body


def test_a_body_is_left_alone_that_is_free_on_purpose_or_held_from_outside(folder: Path) -> None:
    path = folder / "Free.toml"
    path.write_text('[parts]\nbody = "TwoDBody"\n', encoding="utf-8")
    assert load_assembly(path).warnings() == ()
    outside = held(folder, {"a": x(0.1)}, more='[expose]\nports = { other = "body.P[2]" }\n')
    assert load_assembly(outside).warnings() == ()
    prescribed = held(folder, {"a": x(0.1)}, body='"PrescribedPlanarMotion"').read_text("utf-8")
    outside.write_text(prescribed.replace("body.P[1]", "body.port"), encoding="utf-8")
    assert load_assembly(outside).warnings() == ()


def test_an_assembly_inside_an_assembly_is_looked_at_as_a_whole(folder: Path) -> None:
    """Two points inside, the third outside."""
    inner = held(folder, {"a": x(0.1), "b": y(0.2)}, more='[expose]\nports = { free = "body.P[2]" }\n')
    inner.rename(folder / "Inner.toml")
    outer = folder / "Outer.toml"
    parts = f'[parts]\ninner = "Inner"\nc = {y(-0.3)}\nc_spring = "Spring"\n'
    outer.write_text('connections = [["c.P_out", "inner.free"], ["c.p_in", "c_spring.p"]]\n' + parts, "utf-8")
    assert load_assembly(outer).warnings() == ()
    outer.write_text(outer.read_text("utf-8").replace("XP = -0.3", "XP = 0.2"), encoding="utf-8")
    (warning,) = load_assembly(outer).warnings()
    assert "the points inner.a, inner.b, c do not hold inner.body: it is free in a rotation about (0.2, 0.1)" in warning


LARGE = 'element = "{}"\n[structure]\nlarge_angle = true\n{}\n'


def test_offsets_that_turn_with_the_body_are_taken_at_its_angle_at_the_start(folder: Path) -> None:
    """A quarter turn on, the points at (0.2, 0) and (0, 0.1) are at (0, 0.2) and (-0.1, 0), and the lines along y and
    along x go through the centre."""
    (folder / "Body.toml").write_text(LARGE.format("two_d_body", ""), encoding="utf-8")
    for name, variant in (("LargeX", "x"), ("LargeY", "y")):
        (folder / f"{name}.toml").write_text(LARGE.format("two_d_point", f'variant = "{variant}"'), encoding="utf-8")
    points = {"a": x(0.1), "b": y(0.2)}
    points = {name: text.replace("TwoDPoint", "Large") for name, text in points.items()}
    for angle, centre in ((0.0, "(0.2, 0.1)"), (90.0, "(0, 0)")):
        body = f'{{ recipe = "Body", start = {{ theta0 = "{angle} deg" }} }}'
        path = held(folder, points, body=body)
        path.write_text(path.read_text("utf-8").replace("body.P[1]", "body.P"), encoding="utf-8")
        (warning,) = load_assembly(path).warnings()
        assert f"a rotation about {centre} m" in warning


def test_points_that_do_not_know_the_angle_of_their_body_are_warned_of(folder: Path) -> None:
    (folder / "Body.toml").write_text(LARGE.format("two_d_body", "ports = 1"), encoding="utf-8")
    points = GOOD | {"d": '"TwoDPointTheta"'}
    path = held(folder, points, body='"Body"')
    text = path.read_text("utf-8").replace(', ["d.p_in", "d_spring.p"]', "").replace('\nd_spring = "Spring"', "")
    path.write_text(text, encoding="utf-8")
    warnings = load_assembly(path).warnings()
    assert len(warnings) == 3  # a torque is the same at every angle
    for name, warning in zip("abc", warnings, strict=True):
        assert f"{name} has no input for the angle of body, so its offsets do not turn with it" in warning
        assert "large_angle = true" in warning


def test_the_warning_of_the_readme_is_what_is_said(folder: Path) -> None:
    """Lines at 45 and 135 degrees and one along y, all through (0, -0.5)."""
    oblique = '{{ recipe = "TwoDPointXY", start = {{ XP = {}, YP = -1, theta = "{} deg" }} }}'
    points = {"left": oblique.format(-0.5, 45), "right": oblique.format(0.5, 135), "top": y(0.0)}
    (warning,) = load_assembly(held(folder, points)).warnings()
    readme = (shipped("elements") / "two_d_point" / "README.md").read_text(encoding="utf-8")
    assert f"warning: Table: {warning}" in " ".join(readme.split())


def test_the_build_tells_and_builds_all_the_same(folder: Path) -> None:
    path = held(folder, {"a": x(0.1), "b": x(0.2), "c": x(-0.1)})
    said = "the points a, b, c do not hold body: it is free in a translation along (0, 1)"
    (warning,) = build_fmu(path, folder, platforms=()).warnings
    assert warning.startswith(said)
    done = CliRunner().invoke(app, ["build", str(path), "--source-only", "--json"])
    (built,) = json.loads(done.stdout)
    assert done.exit_code == 0 and built["warnings"] == [warning] and Path(built["path"]).is_file()
    assert f"warning: Held: {said}" in done.stderr
    assert f"warning: Held: {said}" in CliRunner().invoke(app, ["info", str(path)]).stderr
