"""The communication step that is advised, against what a held force does to a contact, to a swing and to a speed."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from typer.testing import CliRunner

from fmu_builder.cli.commands import app
from fmu_builder.export.documentation import CALL_ORDERS, documentation_files
from fmu_builder.export.host import host_library
from fmu_builder.model.loader import load_model
from fmu_builder.model.step_advice import (
    AUTO,
    GIVEN,
    HELD,
    LATE,
    PARALLEL,
    SEQUENTIAL,
    STEPS_PER_BRAKING,
    STEPS_PER_CONTACT,
    STEPS_PER_SAMPLED_CONTACT,
    STEPS_PER_SWING,
    UNKNOWN,
    HeldForce,
    Part,
    advice_of,
    late_row,
    preferred_step,
    step_advice,
    two_digits,
)
from fmu_builder.paths import PACKAGE, shipped
from tests.contact_core.fmi2 import literal


class Variable(NamedTuple):
    name: str
    start: object
    held: HeldForce | None = None


def held(part: Part, unit: str = "N/m", by_speed: bool = False, inner_mass: str = "") -> HeldForce:
    mass = "coupling.J_eff" if unit.endswith("/rad") else "coupling.m_eff"
    return HeldForce(part, ("r", "c"), unit, by_speed, mass, inner_mass)


CONTACT = held("contact")


def test_a_held_force_is_advised_the_step_of_one_per_cent() -> None:
    """Rebound exp((1 + 2 L) pi omega h/4)."""
    advice = step_advice([Variable("any", 4e5, CONTACT), Variable("coupling.m_eff", "0.1")])
    assert advice is not None and advice.given and advice.mass == 0.1
    omega = math.sqrt(4e5 / 0.1)
    for mode, lag in (("hold, Gauss-Seidel", 0), ("hold, Jacobi", 1)):
        rebound = math.exp((1 + 2 * lag) * math.pi * omega * advice.steps[mode] / 4)
        assert rebound == pytest.approx(1.01, abs=2e-4)


@pytest.mark.parametrize("lag", [0, 1, 2])
def test_counts_of_steps_are_those_of_the_formulas_that_elements_warn_by(lag: int) -> None:
    """held_count is the N at which cc_hold_growth is log 1.01, as cc_hold_steps has it, and for a damper, to first
    order, the 1/z at which cc_hold_braking is 0.01; the term of second order is 0.4 (1 + L)."""
    core = host_library().lib
    count = held("contact").held_count(lag)
    assert core.cc_hold_growth(lag, count) == pytest.approx(math.log(1.01), rel=1e-14)
    assert core.cc_hold_steps(lag, math.log(1.01)) == pytest.approx(count, rel=1e-14)
    first_order = held("damper", "N.s/m").held_count(lag) - 0.4 * (1 + lag)
    assert core.cc_hold_braking(lag, 1.0 / first_order) == pytest.approx(0.01, rel=1e-14)


def test_without_a_mass_the_advice_is_for_one_kilogram() -> None:
    advice = step_advice([Variable("any", 1e6, CONTACT)])
    assert advice is not None and not advice.given and advice.mass == 1.0
    assert step_advice([Variable("C_F", 1e6)]) is None, "a name says nothing"
    assert step_advice([Variable("C_F", 0.0, CONTACT)]) is None


def test_the_preferred_step_is_that_of_the_mode() -> None:
    """In half a contact of pi ms for 1 kg; the mass counts where the order is given, too, by itself or by the mode."""
    start = [Variable("C_F", 1e6, CONTACT), Variable("coupling.m_eff", 0.0)]
    assert preferred_step([], 1e-5) == 1e-5
    assert preferred_step([*start, Variable("coupling.mode", 1)], 1e-5) == 4.2e-6  # held, right under Jacobi too
    for mode, order, mass, step in (
        (5, 1, 0.0, 2.8e-4),
        (5, 2, 0.0, 6.2e-4),
        (5, 3, 0.0, 3.9e-4),
        (5, 4, 0.0, 1.5e-4),
        (3, 1, 0.0, 6.2e-4),
        (4, 1, 0.0, 3.9e-4),
        (5, 1, 4.0, 5.7e-4),
        (5, 3, 4.0, 1.2e-3),
        (5, 4, 4.0, 3.1e-4),
        (4, 1, 4.0, 1.2e-3),
        (3, 4, 0.0, 1.5e-4),
        (4, 2, 0.0, 6.2e-4),
        (4, 4, 4.0, 3.1e-4),
    ):
        given = {"coupling.m_eff": mass, "coupling.mode": mode, "coupling.order": order}
        starts = [start[0], *(Variable(name, value) for name, value in given.items())]
        assert preferred_step(starts, 1e-5) == pytest.approx(step, rel=1e-12), given
    for mass in (0.0, 1.0):  # of slope it is that of its row, 60 steps a contact, whether the mass is given or not
        slope = [start[0], Variable("coupling.m_eff", mass), Variable("coupling.mode", 2)]
        assert preferred_step(slope, 1e-5) == pytest.approx(5.2e-5, rel=1e-12)


def swings(mode: str, late: bool, by_place: bool, h: float) -> np.ndarray:
    """One step of a mass and a spring of 1 rad/s, for x, v, the force of the last step, and x as the spring has it."""

    def step(state: np.ndarray) -> list[float]:
        x, v, before, seen = state
        seen = x if by_place else seen + h * v
        F = x + (1.5 if late else 0.5) * h * v if mode == "slope" else seen
        acting = before if late else F
        return [x + h * v - h * h * acting / 2, v - h * acting, F, seen]

    return np.array([step(one) for one in np.eye(4)]).T


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("by_place", [False, True])
def test_a_spring_is_advised_the_step_of_one_per_cent_in_a_swing(late: bool, by_place: bool) -> None:
    """Growth of the amplitude, or error of the phase, in half a period; by speeds under Gauss-Seidel: of x."""
    spring = Variable("k", 100.0, held("spring", by_speed=not by_place))  # 5 rad/s
    advice = step_advice([spring, Variable("coupling.m_eff", 4.0)])
    assert advice is not None and advice.given and advice.error == "the swing"
    for mode in ("hold", "slope") if late else ("hold",):
        h = 5.0 * advice.steps["slope" if mode == "slope" else f"hold, {'Jacobi' if late else 'Gauss-Seidel'}"]
        roots = np.linalg.eigvals(swings(mode, late, by_place, h))
        root = min(roots, key=lambda z: abs(z - np.exp(1j * h)))
        growth, phase = math.pi / h * math.log(abs(root)), abs(math.pi / h * np.angle(root) - math.pi)
        if mode == "hold" and not late and not by_place:
            state, off = np.array([1.0, 0.0, 1.0, 1.0]), 0.0
            for n in range(round(math.pi / h)):
                state = swings(mode, late, by_place, h) @ state
                off = max(off, abs(state[3] - math.cos((n + 1) * h)))
            assert growth == pytest.approx(0.0, abs=1e-9) and off == pytest.approx(0.01, rel=0.02)
        else:
            assert max(growth, phase) == pytest.approx(0.01, rel=0.03)


def test_a_damper_is_advised_the_step_of_one_per_cent_of_the_speed() -> None:
    advice = step_advice([Variable("d", 5.0, held("damper", "N.m.s/rad")), Variable("coupling.J_eff", 0.5)])
    assert advice is not None and (advice.error, advice.mass_unit) == ("the speed", "kg.m2")
    for master in ("Jacobi", "Gauss-Seidel"):
        z = 5.0 / 0.5 * advice.steps[f"hold, {master}"]
        v, before, off = 1.0, 1.0, 0.0
        for n in range(round(3 / z)):
            v, before = v - z * (before if master == "Jacobi" else v), v
            off = max(off, abs(v - math.exp(-z * (n + 1))))
        assert off == pytest.approx(0.01, rel=0.01)


@pytest.mark.parametrize("intervals", range(6))
@pytest.mark.parametrize("by_speed", [False, True])
def test_a_force_that_comes_later_still_is_advised_the_step_of_one_per_cent(intervals: int, by_speed: bool) -> None:
    """A mass on a spring, 5 rad/s, whose force follows from the motion so many steps before: growth in half a swing."""
    advice = advice_of("k", held("spring", by_speed=by_speed), 100.0, 4.0, intervals=intervals)
    h = 5.0 * advice.steps[late_row(intervals)]
    if by_speed and intervals == 0:
        assert advice.steps[late_row(0)] == advice.steps["hold, Gauss-Seidel"]
        return
    past = range(-intervals, 1)
    x, v, spring = ([f(k * h) for k in past] for f in (math.cos, lambda t: -math.sin(t), math.cos))
    for _ in range(20 * round(math.pi / h)):
        spring.append(spring[-1] + h * v[-1])  # under Jacobi it has the speed of the beginning of the step: 1 interval
        seen = spring[-1 - intervals] if by_speed else x[-1 - intervals]
        x.append(x[-1] + h * v[-1] - h * h * seen / 2)
        v.append(v[-1] - h * seen)
    energy = np.log(np.square(x) + np.square(v)) / 2
    growth = np.polyfit(h * np.arange(len(energy)), energy, 1)[0] * math.pi
    assert growth == pytest.approx(math.log(1.01), rel=0.01)


@pytest.mark.parametrize("intervals", range(6))
def test_a_damper_that_comes_later_still_is_advised_the_step_of_one_per_cent(intervals: int) -> None:
    advice = advice_of("d", held("damper", "N.s/m"), 5.0, 0.5, intervals=intervals)
    z = 10.0 * advice.steps[late_row(intervals)]
    v = [1.0] * (intervals + 1)
    for _ in range(round(3 / z)):
        v.append(v[-1] - z * v[-1 - intervals])
    assert np.abs(v[intervals:] - np.exp(-z * np.arange(len(v) - intervals))).max() == pytest.approx(0.01, rel=0.02)


def test_the_stiffer_direction_of_a_guide_counts() -> None:
    advice = step_advice([Variable("k_r1", 1e4, held("guide")), Variable("k_r2", 4e4, held("guide"))])
    assert (
        advice is not None and advice.constant == ("k_r2", 4e4, "N/m") and advice.error == "the swing across the line"
    )
    assert advice.steps["hold, Gauss-Seidel"] == pytest.approx(math.pi / 200 / 248, rel=1e-3)


def test_a_mass_inside_shares_the_motion_without_delay() -> None:
    """Of the relative acceleration F (1/m + 1/M) the share m/(m + M) is late: growth share pi^2/(2 N) under Jacobi, N
    without the steps for the sampled impulse on M."""
    within = held("contact", by_speed=True, inner_mass="m")
    advice = step_advice([Variable("C_F", 1e6, within), Variable("m", 0.1), Variable("coupling.m_eff", 1.0)])
    assert advice is not None
    omega, share = math.sqrt(1e6 * (1 / 0.1 + 1.0)), 0.1 / 1.1
    steps = math.pi / omega / advice.steps["hold, Jacobi"] - (1.0 - share) * STEPS_PER_SAMPLED_CONTACT
    assert math.exp(share**2 * math.pi**2 / 2 / (share * steps)) == pytest.approx(1.01, abs=2e-4)


@pytest.mark.parametrize("mode", HELD.values())
def test_the_step_for_a_mass_inside_has_a_limit(mode: str) -> None:
    """However heavy the body is: a hundredth of pi sqrt(m/C_F); the sentence names it where the mass is assumed."""
    within = held("contact", by_speed=True, inner_mass="m")
    steps = [advice_of("C_F", within, 1e6, float(M), 0.1).steps[mode] for M in np.logspace(-3, 9, 25)]
    limit = math.pi * math.sqrt(0.1 / 1e6) / 100.0
    assert all(np.diff(steps) > 0.0) and steps[-1] < limit * (1.0 + 1e-12) and steps[-1] == pytest.approx(limit)
    said = advice_of("C_F", within, 1e6, 0.0, 0.1).sentence(str)
    assert said == (
        "for 1 % of the rebound and of the body's speed (C_r >= 0.5), with C_F = 1000000.0 N/m and an effective mass "
        "of 1.0 kg, m = 0.1 kg inside (however heavy it is: at most 9.9e-06 s)"
    )
    assert "however" not in advice_of("C_F", within, 1e6, 2.0, 0.1).sentence(str)


def test_a_port_that_an_assembly_hands_on_is_advised_as_its_element() -> None:
    """The first and the last spring of the row, 10 kN/m by positions: pi/(744 sqrt(1e4/1)) under Jacobi."""
    model = load_model(shipped("fmus") / "SpringMassTrain.toml")
    advised = {v.name: v.held.ports for v in model.variables if v.held is not None}
    assert advised == {"spring[1].k": ("first",), "spring[101].k": ("last",)}
    advice = step_advice(model.variables)
    assert advice is not None
    assert advice.steps["hold, Jacobi"] == pytest.approx(math.pi / 100 / 744, rel=1e-3)
    ball = load_model(shipped("fmus") / "BouncingBall.toml")
    assert step_advice(ball.variables) is None, "its contact is solved inside"


OWN = """
description = "A bumper whose parameter has the name of another element's"
[parameters]
C_F = { unit = "N.s/m", start = 100.0, min = 0.0, description = "Damping"%s }
[ports.p]
kind = "translational"
side = "force"
description = "The body"
depends = ["p.v", "C_F"]
[outputs]
F = { unit = "N", depends = ["p.v", "C_F"], description = "Force" }
"""


@pytest.mark.parametrize("declared, step", [("", 1e-3), (', acts_as = "damper"', 1.7e-4)])
def test_an_own_element_is_advised_what_it_declares(declared: str, step: float, tmp_path: Path) -> None:
    folder = tmp_path / "elements" / "bumper"
    folder.mkdir(parents=True)
    (folder / "element.toml").write_text(OWN % declared)
    (folder / "element.c").write_text("static void outputs(Element *e) { e->F = e->C_F * e->p.v; e->p.F = -e->F; }\n")
    recipe = tmp_path / "Bumper.toml"
    recipe.write_text('element = "bumper"\n')
    assert load_model(recipe).experiment.step == step
    told = CliRunner().invoke(app, ["info", str(recipe)]).output
    assert ("for 1 % of the speed, with C_F = 100 N.s/m" in told) == bool(declared)
    assert "coupling" not in told, "the element has no choice of modes"


@pytest.mark.parametrize(
    "recipe, step, row, said",
    [
        (
            "TranslationalSpring",
            1.1e-3,
            "<td>hold, Jacobi</td><td>0.0002</td>",
            "k = 1000 N/m and an effective mass of 1 kg",
        ),
        (
            "RotationalDamper",
            0.25,
            "<td>hold, Gauss-Seidel</td><td>0.53</td>",
            "of the speed, with d = 0.1 N.m.s/rad and an effective moment of inertia of 1 kg.m2",
        ),
    ],
)
def test_springs_and_dampers_tell_it_too(recipe: str, step: float, row: str, said: str) -> None:
    path = shipped("fmus") / f"{recipe}.toml"
    model = load_model(path)
    assert model.experiment.step == pytest.approx(step, rel=1e-12)
    page = documentation_files(model)["documentation/index.html"].decode()
    assert row in page and said in page
    told = CliRunner().invoke(app, ["info", str(path)]).output
    assert f"recommended communication step: {step:g} s" in told and said in told


def test_it_is_told_by_info_and_on_the_page(tmp_path: Path) -> None:
    recipe = shipped("fmus") / "PointSurface.toml"
    model = load_model(recipe)
    assert model.experiment.step == pytest.approx(9e-4, rel=1e-12)
    page = documentation_files(model)["documentation/index.html"].decode()
    assert "<td>hold, Jacobi</td><td>1.3e-5</td>" in page and "behaves as hold" not in page
    assert "<td>auto, order sequential</td><td>0.0019</td>" in page  # not 0.00199 rounded up
    held = documentation_files(load_model(literal("PointSurface", tmp_path)))["documentation/index.html"].decode()
    assert "FMU behaves as hold; a recipe without <code>[structure] coupling = false</code> has all modes" in held
    said = CliRunner().invoke(app, ["info", str(recipe)]).output
    assert "recommended communication step: 0.0009 s" in said
    assert "with C_F = 1e5 N/m and an effective mass of 1 kg (proportional to the square root of the mass)" in said
    others = "ith springs, contacts or drives on the same bodies: as the output coupling.step_advised says"
    assert f"\n  w{others}\n" in said and f"<p>W{others}.</p>" in page and others not in held


def test_a_force_that_is_none_allows_any_step(tmp_path: Path) -> None:
    path = tmp_path / "Slack.toml"
    path.write_text('element = "translational_damper"\n[start]\nd = 1e-310\n', encoding="utf-8")
    said = CliRunner().invoke(app, ["info", str(path)]).output
    page = documentation_files(load_model(path))["documentation/index.html"].decode()
    assert re.search(r"\n  hold, Jacobi +any\n", said) and "<td>hold, Jacobi</td><td>any</td>" in page


def test_the_page_and_the_guide_say_which_order_a_tool_has(tmp_path: Path) -> None:
    guide = (PACKAGE / "guide" / "coupling.md").read_text(encoding="utf-8")
    pages = [
        documentation_files(load_model(recipe))["documentation/index.html"].decode()
        for recipe in (shipped("fmus") / "PointSurface.toml", literal("PointSurface", tmp_path))
    ]
    for lag, (word, master, tools) in enumerate(CALL_ORDERS):
        assert f"| `{word}` | {lag} | {master} | {tools} |" in guide
        assert [f"<td>{word}</td><td>{lag}</td><td>{master}</td>" in page for page in pages] == [True, False]


def test_the_guide_has_the_counts_of_steps() -> None:
    guide = (PACKAGE / "guide" / "coupling.md").read_text(encoding="utf-8")
    order = {
        AUTO[UNKNOWN]: "`unknown`, and not `late` in truth",
        AUTO[LATE]: "`late`",
        AUTO[PARALLEL]: "`parallel`",
        AUTO[SEQUENTIAL]: "`sequential`",
        GIVEN: "`parallel` or `sequential`, and `coupling.m_eff` given",
        HELD["jacobi"]: "for comparison `hold`, Jacobi",
        HELD["gauss_seidel"]: "`hold`, Gauss-Seidel",
    }
    for row, text in order.items():
        counts = (table[row] for table in (STEPS_PER_CONTACT, STEPS_PER_SWING, STEPS_PER_BRAKING))
        assert f"| {text} | {' | '.join(f'{count:.0f}' for count in counts)} |\n" in guide


@pytest.mark.parametrize(("step", "shown"), [(math.inf, math.inf), (1.2345e-3, 1.2e-3), (1e-3, 1e-3), (5e-324, 5e-324)])
def test_a_step_is_rounded_down_to_two_digits_where_it_has_any(step: float, shown: float) -> None:
    """None is too long for a damper of 1e-310 N.s/m."""
    assert two_digits(step) == shown
