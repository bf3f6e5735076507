"""rotational_damper and translational_damper: signs, dissipation, the range of the coefficient, braked bodies.

Names are those of the rotational kind: one_axis.py.  With springs: test_springs.py."""

from __future__ import annotations

import math
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from fmi2 import ERROR, Fmu, literal
from hypothesis import given, settings
from hypothesis import strategies as st
from one_axis import OF_ONE_SOURCE, Kind, refused
from running import Running

from fmu_builder import run

TORQUES = ["t", "r.t", "c.t"]
moderate = st.floats(-100.0, 100.0)


@pytest.fixture(scope="module", params=OF_ONE_SOURCE, ids=str)
def kind(request: pytest.FixtureRequest) -> Kind:
    return cast(Kind, request.param)


@pytest.fixture(scope="module")
def damper(kind: Kind, tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return kind.load(kind.damper, tmp_path_factory.mktemp("damper"))


# ---- the law ---------------------------------------------------------------------------------------------------------


def test_a_rod_that_is_faster_is_slowed_down_and_the_case_is_taken_along(damper: Fmu) -> None:
    running = Running(damper, {"d": 0.5, "r.w": 5.0, "c.w": 2.0})
    assert running.values(TORQUES) == pytest.approx([1.5, -1.5, 1.5], rel=1e-15)


@settings(max_examples=60, deadline=None)
@given(d=st.floats(0.0, 1e6), r=moderate, c=moderate)
def test_torque_is_coefficient_times_speed_and_power_is_never_negative(
    damper: Fmu, d: float, r: float, c: float
) -> None:
    running = Running(damper, {"d": d, "r.w": r, "c.w": c})
    assert running["w"] == r - c
    assert running.values(TORQUES) == pytest.approx([d * (r - c), -d * (r - c), d * (r - c)], rel=1e-15)
    assert running["power.damping"] >= 0.0
    assert running["power.damping"] == pytest.approx(d * (r - c) ** 2, rel=1e-14)
    given_by_bodies = -(running["r.t"] * r + running["c.t"] * c)
    assert running["power.work"] == pytest.approx(given_by_bodies, abs=1e-14 * d * (abs(r) + abs(c)) ** 2)


def test_directional_and_output_derivatives_are_those_of_the_law(damper: Fmu) -> None:
    running = Running(damper, {"d": 0.5, "r.w": 2.0, "c.w": 0.5})
    assert list(running.directional([*TORQUES, "w"], {"r.w": 1.0})) == [0.5, -0.5, 0.5, 1.0]
    assert list(running.directional([*TORQUES, "w"], {"c.w": 1.0})) == [-0.5, 0.5, -0.5, -1.0]
    assert list(running.directional(["power.damping", "power.work"], {"r.w": 1.0})) == [1.5, 1.5]
    running.step(0.1)
    running.rates({"r.w": 3.0})
    assert running.output_rates([*TORQUES, "w"]) == pytest.approx([1.5, -1.5, 1.5, 3.0], rel=1e-15)
    running.set({"work": 0})
    assert list(running.directional(TORQUES, {"r.w": 1.0})) == [0.0] * 3


# ---- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "shown"), [(-1.0, "-1"), (-1e-300, "-1e-300"), (math.nan, "NaN"), (math.inf, "infinity")]
)
def test_a_coefficient_that_is_negative_or_no_number_is_refused_and_named(
    damper: Fmu, wrong: float, shown: str
) -> None:
    assert refused(damper, "d", wrong, f"d = {shown} ")
    running = Running(damper, {"d": 2.0, "r.w": 1.0})
    running.step(0.1)
    assert running.slave.set({"d": wrong}) == ERROR
    assert f"d = {shown} " in running.told[-1]
    running.step(0.1)
    assert running.values(["d", "t", "energy.damping"]) == pytest.approx([2.0, 2.0, 0.4], rel=1e-12)


def test_without_coefficient_it_does_nothing(damper: Fmu) -> None:
    running = Running(damper, {"d": 0.0, "r.w": 3.0})
    running.step(1.0)
    assert list(running.values([*TORQUES, "energy.damping", "energy.work"])) == [0.0] * 5


# ---- work and energy -------------------------------------------------------------------------------------------------


def test_work_switches_the_torque_off_and_on(damper: Fmu) -> None:
    running = Running(damper, {"d": 0.5, "r.w": 2.0})
    running.step(0.1)
    running.set({"work": 0})
    assert list(running.values([*TORQUES, "power.damping", "power.work"])) == [0.0] * 5
    running.step(0.3)
    assert running["energy.damping"] == pytest.approx(0.2, rel=1e-14)
    running.set({"work": 1})
    assert running["t"] == 1.0


@settings(max_examples=30, deadline=None)
@given(w=st.lists(st.floats(-10.0, 10.0), min_size=1, max_size=8), h=st.floats(1e-3, 0.5))
def test_all_work_is_dissipated_and_dissipation_never_falls(damper: Fmu, w: list[float], h: float) -> None:
    running, before, exact = Running(damper, {"d": 0.5}), 0.0, 0.0
    for speed in w:
        running.set({"r.w": speed, "c.w": -0.5 * speed})
        running.step(h)
        exact += 0.5 * (1.5 * speed) ** 2 * h
        assert running["energy.damping"] >= before
        before = running["energy.damping"]
    assert before == pytest.approx(exact, rel=1e-12, abs=1e-300)
    assert running["energy.work"] == pytest.approx(exact, rel=1e-12, abs=1e-300)
    assert abs(running["energy.residual"]) <= 1e-13 * exact


def test_a_speed_with_a_slope_dissipates_its_square(damper: Fmu) -> None:
    """int d (w + a t)^2 dt, a parabola, which the integration meets exactly."""
    running = Running(damper, {"d": 0.5, "r.w": 2.0})
    running.rates({"r.w": -6.0})
    running.step(0.5)
    assert running["energy.damping"] == pytest.approx(0.5 * (2.0**3 - (2.0 - 3.0) ** 3) / 18.0, rel=1e-12)


def test_without_ledger_the_damper_is_the_same_and_has_no_state(damper: Fmu, kind: Kind, tmp_path: Path) -> None:
    recipe = f'element = "{kind.element(kind.damper)}"\n[structure]\nledger = false\ncoupling = false\n'
    bare = kind.build(recipe, tmp_path, "Bare")
    assert bare.description.numberOfContinuousStates == 0
    both = [Running(fmu, {"d": 0.5, "r.w": 3.0, "c.w": 1.0}) for fmu in (damper, bare)]
    for running in both:
        running.step(0.2)
    assert list(both[0].values(TORQUES)) == list(both[1].values(TORQUES)) == [1.0, -1.0, 1.0]


# ---- with bodies -----------------------------------------------------------------------------------------------------

COUPLED = """
connections = [["disc.p", "damper.r"]]
[experiment]
stop = 2.0
step = {step}
algorithm = "{algorithm}"
[slaves]
disc = {{ recipe = "Inertia", start = {{ J = 0.1, w0 = 3 }} }}
damper = {{ recipe = "RotationalDamper", start = {{ d = 0.2 }} }}
"""


@pytest.mark.parametrize("z", [0.02, 0.2, 0.8])  # h d/J
@pytest.mark.parametrize("algorithm", ["gauss_seidel", "jacobi"])
def test_a_held_torque_brakes_as_the_readme_says(kind: Kind, tmp_path: Path, algorithm: str, z: float) -> None:
    """Gauss-Seidel w_(n+1) = (1 - z) w_n, Jacobi w_(n+1) = w_n - z w_(n-1)."""
    literal(kind.damper, tmp_path)
    path = tmp_path / "coupled.toml"
    path.write_text(kind.own(COUPLED.format(algorithm=algorithm, step=z / 2.0)), encoding="utf-8")
    trace = run(path).trace
    exact = [3.0]
    for n in range(len(trace.time) - 1):
        exact.append(exact[n] - z * exact[n if algorithm == "gauss_seidel" else max(n - 1, 0)])
    assert trace[kind.own("disc.p.w")] == pytest.approx(np.array(exact), abs=1e-12)
    overshoots = min(exact) < 0.0
    assert overshoots == (algorithm == "jacobi" and z > 0.25)


BETWEEN = """
description = "Two free bodies and a damper between them"
connections = [["first.p", "damper.r"], ["second.p", "damper.c"]]
[parts]
first = { recipe = "Inertia", start = { J = 0.1, w0 = 3 } }
second = { recipe = "Inertia", start = { J = 0.3, w0 = -1 } }
damper = { recipe = "RotationalDamper", start = { d = 0.2 } }
"""


def test_in_one_fmu_two_bodies_come_to_their_common_speed(kind: Kind, tmp_path: Path) -> None:
    """w = w0 exp(-d (1/J_1 + 1/J_2) t); the momentum stays."""
    running = Running(kind.build(BETWEEN, tmp_path, "Between"), tolerance=1e-10)
    for _ in range(5):
        running.step(0.1)
        w = 4.0 * math.exp(-0.2 * (1 / 0.1 + 1 / 0.3) * running.time)
        assert running.values(["first.p.w", "second.p.w"]) == pytest.approx([0.75 * w, -0.25 * w], abs=1e-8)
        assert running["damper.energy.damping"] == pytest.approx(0.5 * 0.075 * (16.0 - w**2), rel=1e-8)
        assert abs(running["damper.energy.residual"]) < 1e-9


# ---- the page --------------------------------------------------------------------------------------------------------


def test_the_numbers_of_the_readmes_are_right() -> None:
    w, lost = 3.0 * math.exp(-2.0), 1.0 - math.exp(-4.0)
    for element, unit, stored in (("rotational_damper", "rad/s", 0.45), ("translational_damper", "m/s", 45.0)):
        text = " ".join((Path(__file__).parents[2] / f"elements/{element}/README.md").read_text("utf-8").split())
        assert f"at {w:.3f} {unit}" in text and f"{stored * lost:.4g} of its {stored:g} J are dissipated" in text
        assert f"errs by {100 * 0.002 / 2 / math.e:.2f} % of its start" in text
