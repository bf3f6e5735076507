"""The catalogue's assemblies against physics: closed forms of the law at 1e-8, limits with their order, energy, rest.

Where nothing is said the tolerance is the default, 1e-9.  Traces of the same FMUs: tests/fmus/test_systems.py."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fmi2 import Fmu, load_shipped
from numpy.typing import NDArray
from running import Running, Values, build

from fmu_builder.paths import load_module, shipped

Vector = NDArray[np.float64]

G, K, M = 9.81, 1e5, 1.0  # of the recipes
W = math.sqrt(K / M)
FREE = {"gravity": (0.0, 0.0, 0.0), "initial_height": 1e-3, "initial_velocity": -1.0}  # at 1 m/s from 1 mm


references = load_module(shipped("fmus") / "systems" / "references.py")


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("BouncingBall", tmp_path_factory.mktemp("ball"))


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("SlidingBlock", tmp_path_factory.mktemp("block"))


@pytest.fixture(scope="module")
def incline(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("BlockOnIncline", tmp_path_factory.mktemp("incline"))


@pytest.fixture(scope="module")
def bodies(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("TwoBodyImpact", tmp_path_factory.mktemp("bodies"))


def ran(fmu: Fmu, values: Values, stop: float, steps: int = 1, tolerance: float | None = None) -> Running:
    """After `steps` equal communication steps."""
    running = Running(fmu, values, tolerance=tolerance)
    for _ in range(steps):
        running.step(stop / steps)
    return running


# ---- the law, exact --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 7, 400, 20000], ids=lambda n: f"{n} steps")
def test_one_contact_without_damping_is_half_an_oscillation_whatever_the_steps(ball: Fmu, steps: int) -> None:
    """t_c = pi/w, F_max = v0 sqrt(k m), touch after 1 ms.  The touch is where the flight back would begin."""
    stop, t_c = 0.02, math.pi / W
    end = ran(ball, FREE | {"restitution": 1.0}, stop, steps)
    release = stop - end["height"] / end["velocity"]
    assert end["velocity"] == pytest.approx(1.0, abs=1e-8)
    assert end["floor.contact_time"] == pytest.approx(t_c, abs=1e-9)
    assert release - end["floor.contact_time"] == pytest.approx(1e-3, abs=1e-9)
    assert end["floor.peak_force"] == pytest.approx(math.sqrt(K * M), rel=1e-8)
    assert end["floor.impulse"] == pytest.approx(2.0, abs=1e-8)


@pytest.mark.parametrize("steps", [1, 180])
def test_one_contact_under_gravity(ball: Fmu, steps: int) -> None:
    """t_c = 2/w (pi - atan(w v0/g)), h_max = g/w^2 + sqrt((g/w^2)^2 + (v0/w)^2) for the drop from 50 mm."""
    fall, v_0 = math.sqrt(2 * 0.05 / G), math.sqrt(2 * G * 0.05)
    end = ran(ball, {"initial_height": 0.05, "restitution": 1.0}, 0.18, steps)
    t_c = 2 / W * (math.pi - math.atan(W * v_0 / G))
    assert end["floor.contact_time"] == pytest.approx(t_c, abs=1e-9)
    assert end["floor.peak_force"] == pytest.approx(K * (G / W**2 + math.hypot(G / W**2, v_0 / W)), rel=1e-8)
    since = 0.18 - fall - t_c
    assert end["velocity"] == pytest.approx(v_0 - G * since, abs=1e-8)
    assert end["height"] == pytest.approx(v_0 * since - G * since**2 / 2, abs=1e-8 * 0.05)


@pytest.mark.parametrize("restitution", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.8])
def test_damping_on_its_limits(ball: Fmu, restitution: float, share: float) -> None:
    """Delta = 1 - k_E + C_r^2 k_E: F_max = v0 sqrt(k m/Delta), t_c = pi/2 sqrt(m Delta/k) (1 + 1/C_r), e = C_r, for
    every k_E.  The limits are reached at the speed 1/k_D = 1 nm/s, 2e-12 s from the turn."""
    values = {"restitution": restitution, "floor.k_E": share, "floor.k_D": 1e9}
    end = ran(ball, FREE | values, 0.04, 8)
    delta = 1 - share + restitution**2 * share
    assert end["velocity"] == pytest.approx(restitution, abs=1e-8)
    assert end["floor.peak_force"] == pytest.approx(math.sqrt(K * M / delta), rel=1e-8)
    t_c = math.pi / 2 * math.sqrt(M * delta / K) * (1 + 1 / restitution)
    assert end["floor.contact_time"] == pytest.approx(t_c, abs=1e-9)


# Effective restitution for k_E = 0.5 over x = k_D v0, from an independent evaluation of the integrals, to 6 digits.
SPEEDS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
RESTITUTION = {
    0.0: (0.937476, 0.748435, 0.593624, 0.425853, 0.199866, 0.100000),
    0.2: (0.937476, 0.748435, 0.594143, 0.428475, 0.253519, 0.214635),
    0.5: (0.937476, 0.748435, 0.609069, 0.529378, 0.504815, 0.501208),
    0.8: (0.937476, 0.814886, 0.803747, 0.800938, 0.800150, 0.800038),
}
TABLE = [(c_r, x, e) for c_r, row in RESTITUTION.items() for x, e in zip(SPEEDS, row, strict=True)]


@pytest.mark.parametrize(("c_r", "x", "printed"), TABLE)
def test_effective_restitution_is_that_of_the_energy_balance(ball: Fmu, c_r: float, x: float, printed: float) -> None:
    """e = y/v0 with int_0^v0 w/(1+d(w)) dw = int_0^y w/(1+d(-w)) dw."""
    exact = references.effective_restitution(c_r, 0.5, x, 1.0)
    assert exact == pytest.approx(printed, abs=0.6e-6)
    end = ran(ball, FREE | {"restitution": c_r, "floor.k_D": x}, 0.4, 4)
    assert end["floor.in_contact"] == 0
    assert end["velocity"] == pytest.approx(exact, abs=1e-8)
    assert end["floor.impulse"] == pytest.approx(1.0 + exact, abs=1e-8)


def test_effective_restitution_of_the_source_s_example(ball: Fmu) -> None:
    """C_r = 0.4, k_D = 1 s/m, k_E = 0.25; and one value to all its digits."""
    assert references.effective_restitution(0.5, 0.5, 10.0, 1.0) == pytest.approx(0.5012081853990823, abs=1e-15)
    for v_0, printed in ((0.1, 0.937476), (1.0, 0.648578), (5.0, 0.415357)):
        exact = references.effective_restitution(0.4, 0.25, 1.0, v_0)
        assert exact == pytest.approx(printed, abs=0.6e-6)
        values = {"restitution": 0.4, "floor.k_D": 1.0, "floor.k_E": 0.25, "initial_velocity": -v_0}
        end = ran(ball, FREE | values, 0.2, tolerance=1e-10)  # errors count from the nominal speed of 1 m/s on
        assert end["velocity"] == pytest.approx(exact * v_0, abs=1e-8 * v_0)


@pytest.mark.parametrize("masses", [(1.0, 2.0), (5.0, 0.3), (1e-3, 1.0)], ids=str)
def test_two_bodies_rebound_as_their_effective_mass_does_and_keep_their_momentum(
    bodies: Fmu, masses: tuple[float, float]
) -> None:
    m_1, m_2 = masses
    values = {"striker_mass": m_1, "target_mass": m_2, "striker_initial_velocity": -2.0, "contact.k_D": 3.0}
    end = ran(bodies, values | {"target_initial_velocity": 0.5}, 0.1, 10)
    e = references.effective_restitution(0.5, 0.5, 3.0, 2.5)
    v_1, v_2 = end["striker_velocity"], end["target_velocity"]
    assert v_1 - v_2 == pytest.approx(e * 2.5, abs=1e-8 * 2.5)
    # linear in the states, so every substep keeps it up to the rounding of its sums
    rounding = 2.0**-52 * (m_1 * 2.0 + m_2 * 2.5) * end["solver.steps"]
    assert m_1 * v_1 + m_2 * v_2 == pytest.approx(m_2 * 0.5 - m_1 * 2.0, abs=rounding)


# ---- limits, with the order in which they are reached ----------------------------------------------------------------


def order(x: list[float], errors: list[float]) -> float:
    return float(np.polyfit(np.log(x), np.log(np.abs(errors)), 1)[0])


def test_bounces_approach_the_rigid_limit_as_contacts_get_shorter(ball: Fmu) -> None:
    """Rigid: after touches at t_n = sqrt(2 h0/g) (1 + 2 sum_(i<n) e^i) the ball leaves at e times its speed.  Contact
    times and depths fall with 1/sqrt(k), so z at a given time errs by that order.  And it is that of scipy at 1e-8."""
    e, h_0, at = 0.5, 1.0, 1.2
    fall = math.sqrt(2 * h_0 / G)
    third = fall * (1 + 2 * e + 2 * e**2)
    assert third < at < third + 2 * fall * e**3
    speed = G * fall * e**3
    rigid = speed * (at - third) - G * (at - third) ** 2 / 2
    stiffnesses, errors = [1e5, 1e6, 1e7, 1e8], []
    for k in stiffnesses:
        end = ran(ball, {"stiffness": k, "floor.k_D": 1e5}, at, 12, tolerance=1e-11)
        exact, touches, _ = references.bounces(np.array([at]), h_0, k=k, k_d=1e5)
        assert end["height"] == pytest.approx(exact[0, 0], abs=1e-8)
        assert end["velocity"] == pytest.approx(exact[1, 0], abs=1e-8 * G * fall)
        assert end["floor.contact_count"] == len(touches) == 3
        errors.append(end["height"] - rigid)
    assert order(stiffnesses, errors) == pytest.approx(-0.5, abs=0.05)


def test_creep_vanishes_as_the_friction_ramp_gets_steeper(incline: Fmu) -> None:
    """v = tan(th)/(mu k_T), exactly, and so in proportion to 1/k_T; the rate mu N k_T/m is 3e6 /s at the last one."""
    slopes, speeds = [1e2, 1e4, 1e6], []
    for k_t in slopes:
        end = ran(incline, {"friction_slope": k_t}, 0.5, 5)
        exact = math.tan(math.radians(10.0)) / (0.3 * k_t)
        assert end["incline.slip_speed"] == pytest.approx(exact, rel=1e-8)
        assert end["solver.evaluations"] < 5000
        speeds.append(end["incline.slip_speed"])
    assert order(slopes, speeds) == pytest.approx(-1.0, abs=1e-6)


def test_a_block_on_a_steep_incline_slides_with_constant_acceleration(incline: Fmu) -> None:
    """tan(th) > mu: a = g (sin th - mu cos th), less where the ramp is not climbed yet:  v (k_T v < 1) follows
    a_0 - mu g k_T cos(th) v with a_0 = g sin(th)."""
    th, mu, k_t = math.radians(30.0), 0.3, 100.0
    q = (math.cos(th / 2), 0.0, math.sin(th / 2), 0.0)
    depth = G * math.cos(th) / 1e6
    values = {"orientation": q, "initial_position": (-depth * math.sin(th), 0.0, -depth * math.cos(th))}
    end = ran(incline, values, 0.5, 5)
    a_0, rate = G * math.sin(th), mu * G * math.cos(th) * k_t
    t_1 = -math.log1p(-rate / (k_t * a_0)) / rate
    speed = 1 / k_t + (a_0 - mu * G * math.cos(th)) * (0.5 - t_1)
    assert end["incline.slip_speed"] == pytest.approx(speed, rel=1e-8)


@pytest.mark.slow
def test_stick_and_slip_on_a_belt_has_the_period_of_coulomb_s_law_in_the_limit(tmp_path: Path) -> None:
    """D = (mu_s - mu_k) m g/k: 2 D/v of sticking, 2/w (pi - atan(w D/v)) of slipping.  Told by when the block, carried
    along, passes 35 mm.  For a law that falls at once, v_s -> 0, the error is that of the bristle's softness."""
    fmu, v, w = load_shipped("BlockOnBelt", tmp_path), 0.1, 10.0
    drop = 0.15 * G / 100.0
    exact = 2 * drop / v + 2 / w * (math.pi - math.atan(w * drop / v))
    assert exact == pytest.approx(0.7278369628, abs=1e-10)
    errors = []
    for stiffness in (1e5, 1e6, 1e7):
        bristle = {"stribeck_speed": 1e-8, "bristle_stiffness": stiffness, "bristle_damping": math.sqrt(stiffness)}
        running, places = Running(fmu, bristle), []
        for _ in range(2000):
            places.append(running["position"])
            running.step(1e-3)
        x = np.array(places)
        up = np.flatnonzero((x[:-1] < 0.035) & (x[1:] >= 0.035))
        first, second = up[:2] + (0.035 - x[up[:2]]) / (x[up[:2] + 1] - x[up[:2]])
        errors.append(abs(float(second - first) * 1e-3 - exact))
    assert errors[2] < 1e-6
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(10.0, rel=0.1)


# ---- energy ----------------------------------------------------------------------------------------------------------


def mechanical(running: Running) -> float:
    return running["ball.energy.kinetic"] + running["ball.energy.potential"] + running["floor.energy.elastic"]


@pytest.mark.parametrize("steps", [1, 10000], ids=["one step", "10000 steps"])
@pytest.mark.slow
def test_a_thousand_elastic_bounces_keep_the_energy(ball: Fmu, steps: int) -> None:
    """To 1e-8 at the tolerance 1e-11: 8e-12 a bounce, which has some 150 substeps.  (The default 1e-9 keeps 1e-6.)"""
    v_0 = math.sqrt(2 * G)
    period = 2 * v_0 / G + 2 / W * (math.pi - math.atan(W * v_0 / G))
    end = ran(ball, {"restitution": 1.0}, 1000 * period, steps, tolerance=1e-11)
    assert end["floor.contact_count"] == 1000
    assert mechanical(end) == pytest.approx(G, rel=1e-8)
    assert end["height"] == pytest.approx(1.0, abs=1e-8)
    assert abs(end["floor.energy.residual"]) < 4e-11 * 2000 * G  # tests/fmus/ledger.py: in and out of the floor


def test_what_the_ball_loses_the_floor_has(ball: Fmu) -> None:
    """At every point of a bounce to rest: energy of the ball + losses = energy at the start.  To the tolerance as a
    share of what passed, in each of four forms: less than 4 m g h, as each rebound has a quarter of the last one."""
    running = Running(ball)
    for _ in range(400):
        running.step(5e-3)
        total = mechanical(running) + running["floor.energy.damping"]
        assert total == pytest.approx(G, abs=1e-9 * 4 * 4 * G)
    assert running["floor.energy.damping"] == pytest.approx(G, rel=1e-4)  # all but m g (m g/k)/2


# ---- motion that is hard to step through -----------------------------------------------------------------------------


@pytest.mark.parametrize("h", [1e-3, 1e-2, 1.0])
def test_a_ball_at_rest_costs_next_to_nothing(ball: Fmu, h: float) -> None:
    """It came to rest in 2 s; from then on one implicit substep does: 6 stages, a Jacobian of at most 6 columns."""
    running = ran(ball, {}, 2.0, 2)
    assert running["floor.contact_count"] == 6
    assert running["solver.evaluations"] < 20000
    before, rejected = running["solver.evaluations"], running["solver.rejected"]
    for _ in range(20):
        running.step(h)
    assert running["solver.evaluations"] - before <= 20 * 20
    assert running["solver.rejected"] == rejected
    assert running["height"] == pytest.approx(-M * G / K, abs=1e-12)
    assert abs(running["velocity"]) < 1e-9


@pytest.mark.parametrize("share", [0.5, 2.0], ids=["held", "pulled back"])
def test_a_block_that_reverses(block: Fmu, share: float) -> None:
    """A steady pull p = share mu g against the motion.  v falls from v0 by p + mu g, then on the ramp |v| < 1/k_T as
    v' = -p - mu g k_T v, and on the other side, if it gets there, by p - mu g."""
    mu_g, v_t, v_0 = 0.3 * G, 0.01, 2.0
    p = share * mu_g
    t_1 = (v_0 - v_t) / (p + mu_g)  # onto the ramp
    rest, rate = -p / mu_g * v_t, mu_g / v_t
    t_2 = t_1 + math.log((v_t - rest) / (-v_t - rest)) / rate if rest < -v_t else math.inf  # over it

    def speed(t: float) -> float:
        if t < t_1:
            return v_0 - (p + mu_g) * t
        if t < t_2:
            return rest + (v_t - rest) * math.exp(-rate * (t - t_1))
        return -v_t - (p - mu_g) * (t - t_2)

    running = Running(block, {"gravity": (-p, 0.0, -G)})
    for k in range(1, 81):
        running.step(0.01)
        assert running["velocity"] == pytest.approx(speed(0.01 * k), abs=1e-8 * v_0)
    assert running["solver.evaluations"] < 80 * 20 + 2000
    assert (running["velocity"] < -v_t) == (share > 1.0)


@pytest.mark.parametrize("method", [1, 2, 3], ids=["auto", "explicit", "implicit"])
@pytest.mark.parametrize("over", [-1e-6, 0.0, 1e-9, 1e-6], ids=lambda x: f"{x:g} m")
def test_a_ball_thrown_up_to_a_ceiling_just_touches_it(ball: Fmu, over: float, method: int) -> None:
    """Its apex lies `over` above the ceiling.  It would pass that at v = sqrt(2 g over), and comes back with -v after
    t_c = 2/w atan(w v/g) in place of 2 v/g."""
    ceiling, stop = 0.5, 0.6
    v_0 = math.sqrt(2 * G * (ceiling + over))
    values = {"initial_height": 0.0, "initial_velocity": v_0, "restitution": 1.0, "solver.method": method}
    turned = {"floor.surface.r": (0.0, 0.0, ceiling), "floor.surface.q": (0.0, 1.0, 0.0, 0.0)}
    v = math.sqrt(2 * G * max(over, 0.0))
    late = 2 / W * math.atan(W * v / G) - 2 * v / G
    for steps in (1, 7, 60):
        end = ran(ball, values | turned, stop, steps, tolerance=1e-11)
        assert end["height"] == pytest.approx(v_0 * (stop - late) - G * (stop - late) ** 2 / 2, abs=1e-8)
        assert end["velocity"] == pytest.approx(v_0 - G * (stop - late), abs=1e-8 * v_0)
        assert end["solver.evaluations"] < 40 * steps + 2000
        if abs(over) > 1e-8:
            assert end["floor.contact_count"] == (over > 0.0)


TWO_BALLS = """
description = "Two balls on one floor, the second mirrored in its parts' order"
connections = [["a.p", "floor.point[1]"], ["b.p", "floor.point[2]"]]
[parts]
a = "PointMass"
b = "PointMass"
floor = "TwoPoints"
"""
TWO_POINTS = """
element = "point_surface"
[structure]
points = 2
[surface]
kind = "plane"
[start]
C_F = "1e5 N/m"
C_r = 0.5
"""


@pytest.mark.parametrize("heights", [(0.1, 0.1), (0.1, 0.1 + 1e-9), (0.1, 0.037)], ids=str)
@pytest.mark.slow
def test_two_balls_on_one_floor_do_not_disturb_each_other(tmp_path: Path, heights: tuple[float, float]) -> None:
    """Not even where both touch at the same instant, or 1e-9 s apart; to rest.  Reference: scipy, for each alone."""
    (tmp_path / "TwoPoints.toml").write_text(TWO_POINTS, encoding="utf-8")
    fmu = build(tmp_path, "TwoBalls", TWO_BALLS)
    running = Running(fmu, {"a.r0[3]": heights[0], "b.r0[3]": heights[1]}, tolerance=1e-11)
    t = np.arange(101) * 0.01
    exact = [references.bounces(t, h) for h in heights]
    v_0 = math.sqrt(2 * G * 0.1)
    for k in range(1, 101):
        running.step(0.01)
        for name, (z_v, _, _) in zip("ab", exact, strict=True):
            assert running[f"{name}.p.r[3]"] == pytest.approx(z_v[0, k], abs=1e-8 * 0.1)
            assert running[f"{name}.p.v[3]"] == pytest.approx(z_v[1, k], abs=1e-8 * v_0)
    for i, (_, touches, _) in enumerate(exact, start=1):
        assert running[f"floor.contact_count[{i}]"] == len(touches)
    assert running["solver.evaluations"] < 30000


STACK = """
connections = [["low.p", "floor.point"], ["low.p", "between.surface"], ["high.p", "between.point"]]
free_moment = true
[parts]
low = { recipe = "PointMass", start = { r0 = [0, 0, 0.2] } }
high = { recipe = "PointMass", start = { m = 0.1, r0 = [0, 0, 0.3] } }
floor = "PointSurface"
between = { recipe = "PointSurface", start = { C_F = 2e4 } }
"""


def test_a_pile_of_balls_collapses_and_comes_to_rest(tmp_path: Path) -> None:
    """Contacts that interrupt each other.  The ledgers of both close, the pile ends at its static depths, and rest is
    cheap."""
    fmu = build(tmp_path, "Stack", STACK)
    running = Running(fmu)
    start = G * (0.2 + 0.1 * 0.3)
    for _ in range(60):
        running.step(0.05)
        energies = [f"{p}.energy.{e}" for p in ("low", "high") for e in ("kinetic", "potential")]
        energies += [f"{c}.energy.{e}" for c in ("floor", "between") for e in ("elastic", "damping")]
        # each contact takes and gives back no more than there was at the start
        passed = 2.0 * start * (1.0 + running["floor.contact_count"] + running["between.contact_count"])
        assert sum(running[name] for name in energies) == pytest.approx(start, abs=8e-9 * passed)
        assert abs(running["floor.energy.residual"]) <= 4e-9 * passed
        assert abs(running["between.energy.residual"]) <= 4e-9 * passed
    assert running["floor.contact_count"] >= 4
    assert running["between.contact_count"] >= 4
    assert running["low.p.r[3]"] == pytest.approx(-1.1 * G / 1e5, abs=1e-10)
    assert running["high.p.r[3]"] - running["low.p.r[3]"] == pytest.approx(-0.1 * G / 2e4, abs=1e-10)
    assert running["solver.evaluations"] < 60000
    before = running["solver.evaluations"]
    running.step(0.05)
    assert running["solver.evaluations"] - before <= 40


# ---- negative controls -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "check",
    [
        lambda ball: test_one_contact_without_damping_is_half_an_oscillation_whatever_the_steps(ball, 7),
        lambda ball: test_one_contact_under_gravity(ball, 180),
        lambda ball: test_damping_on_its_limits(ball, 0.5, 0.5),
        lambda ball: test_effective_restitution_is_that_of_the_energy_balance(ball, 0.5, 1.0, 0.609069),
    ],
    ids=["elastic", "gravity", "limits", "table"],
)
def test_the_tests_above_notice_one_part_in_a_million(
    ball: Fmu, check: Callable[[Fmu], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the speed, or of the height that gives it."""

    def slightly_wrong(fmu: Fmu, values: Values, stop: float, steps: int = 1) -> Running:
        name, value = (
            ("initial_velocity", -1.000001) if "initial_velocity" in values else ("initial_height", 0.05000005)
        )
        return right(fmu, {**values, name: value}, stop, steps)

    right = ran
    check(ball)
    with monkeypatch.context() as patch, pytest.raises(AssertionError):
        patch.setattr(sys.modules[__name__], "ran", slightly_wrong)
        check(ball)


# ---- a block on four points ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dropped(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("BodyOnFloor", tmp_path_factory.mktemp("dropped"))


def test_a_dropped_block_comes_to_rest_with_a_quarter_of_its_weight_on_each_corner(dropped: Fmu) -> None:
    end = ran(dropped, {}, 3.0, 3)
    assert end.values([f"floor.normal_force[{i}]" for i in range(1, 5)]) == pytest.approx(np.full(4, G / 4), rel=1e-7)
    assert end["position[3]"] == pytest.approx(0.1 - G / 4 / K, abs=1e-10)
    assert end.values(["orientation[2]", "orientation[3]"]) == pytest.approx(np.zeros(2), abs=1e-9)
    motion = [*end.vector("velocity"), *end.vector("angular_velocity")]
    assert motion == pytest.approx(np.zeros(6), abs=1e-9)


@pytest.mark.parametrize("tolerance", [1e-9, 1e-11])
def test_a_dropped_block_and_its_floor_keep_their_energy(dropped: Fmu, tolerance: float) -> None:
    """What the floor dissipates and stores is what the block loses, through all impacts, at the tolerance times the sum
    of what passes; at rest the ledger stands still."""
    parts = ["body.energy.kinetic", "body.energy.potential"]
    parts += [f"floor.energy.{name}" for name in ("elastic", "damping", "friction", "switched")]
    running = Running(dropped, tolerance=tolerance)
    before = running.values(parts).sum()
    for _ in range(300):
        running.step(1e-3)
        assert running.values(parts).sum() == pytest.approx(before, abs=10.0 * tolerance)
        assert abs(running["floor.energy.residual"]) < 10.0 * tolerance
    assert running["floor.energy.damping"] > 0.2 and running["floor.energy.friction"] > 0.01


def test_a_block_slides_down_an_incline_as_a_point_would(dropped: Fmu) -> None:
    """Above the angle of friction all four corners slide, front and rear ones under different forces: a = g (sin - mu
    cos).  The floor is tilted by 30 degrees about y, the block stands on it at its static depths."""
    tilt, mu = math.radians(30.0), 0.3
    q = np.array([math.cos(tilt / 2.0), 0.0, math.sin(tilt / 2.0), 0.0])
    # depths: mean and slope along the incline from N = m g cos, and its moment against that of friction, 0.1 m below
    mean = G * math.cos(tilt) / (4.0 * K)
    slope = mu * G * math.cos(tilt) * (0.1 - mean) / (4.0 * K * 0.2**2)
    turned = np.array([math.cos((tilt + slope) / 2.0), 0.0, math.sin((tilt + slope) / 2.0), 0.0])
    down, up = np.array([math.cos(tilt), 0.0, -math.sin(tilt)]), np.array([math.sin(tilt), 0.0, math.cos(tilt)])
    start = {
        "floor.surface.q": q,
        "initial_orientation": turned,
        "initial_position": (0.1 - mean) * up,
        "initial_velocity": 0.5 * down,
        "initial_angular_velocity": np.zeros(3),
    }
    running = Running(dropped, start, tolerance=1e-10)
    acceleration = G * (math.sin(tilt) - mu * math.cos(tilt))
    running.step(0.2)  # what is left of swinging dies out
    v = running.vector("velocity") @ down
    running.step(0.5)
    assert running.vector("velocity") @ down - v == pytest.approx(0.5 * acceleration, rel=1e-5)
    forces = running.values([f"floor.normal_force[{i}]" for i in range(1, 5)])
    assert forces.sum() == pytest.approx(G * math.cos(tilt), rel=1e-5)
    lever = 0.2 * (forces[0] + forces[3] - forces[1] - forces[2])  # front corners carry more
    assert lever == pytest.approx(mu * G * math.cos(tilt) * 0.1, rel=1e-3)
