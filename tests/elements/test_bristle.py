"""point_surface with a bristle: friction with memory.

Held, shaken and turned blocks, slide and stick, stick and slip: fmus/systems."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from contact_reference import Scene
from fmi2 import ERROR, OK, Fmu, Importer, load_literal
from running import Running, build
from scipy.integrate import solve_ivp
from test_point_surface import above, product, quaternion, random_scene, turn
from test_point_surface_laws import faults, model

C_F, MU, K, C = 1e6, 0.3, 1e6, 1e3  # of PointSurfaceBristle
DEPTH = 1e-4
LIMIT = MU * C_F * DEPTH


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_literal("PointSurfaceBristle", tmp_path_factory.mktemp("held"))


def stretched(fmu: Fmu, z: np.ndarray, **values: float) -> Running:
    """Of the point at rest in the depth DEPTH under the world's xy plane, with the deflection z at the start."""
    return Running(fmu, above(-DEPTH).values() | {"deflection0": z} | values, tolerance=1e-11)


def friction(running: Running) -> np.ndarray:
    """Along the surface, of a plane in the world's xy plane."""
    return running.vector("point.f")[:2]


# ---- at one instant --------------------------------------------------------------------------------------------------


def test_the_force_is_that_of_spring_damper_and_slider_in_the_frame_of_the_surface(held: Fmu) -> None:
    """F = F_h min(1, L/|F_h|), F_h = k z + c v_t; z' = (F - k z)/c; power = U' + dissipated."""
    rng, sticking = np.random.default_rng(7), 0
    for speed in (1e-6, 1e-3, 0.1) * 8:
        scene = random_scene(rng, speed)
        x, y, n = (turn(scene.q, axis) for axis in np.eye(3))
        depth = -float((scene.r - scene.o) @ n)
        scene = replace(scene, r=scene.r + (depth - DEPTH) * n)  # DEPTH below the surface
        z = rng.uniform(-1.0, 1.0, 2) * LIMIT / K
        running = stretched(held, z, C_r=1.0)
        running.set(scene.values())
        v = scene.v - scene.v_o - np.cross(scene.w, scene.r - scene.o)
        v_t = np.array([v @ x, v @ y])
        holds = K * z + C * v_t
        F = holds * min(1.0, LIMIT / float(np.linalg.norm(holds)))
        rate = (F - K * z) / C
        found = running.vector("point.f")
        assert found == pytest.approx(C_F * DEPTH * n - F[0] * x - F[1] * y, abs=1e-8)
        assert running["stick"] == (np.linalg.norm(holds) <= LIMIT)
        sticking += bool(running["stick"])
        assert running.values(["der(deflection[1])", "der(deflection[2])"]) == pytest.approx(rate, rel=1e-9, abs=1e-12)
        assert running["friction_force"] == pytest.approx(float(np.linalg.norm(F)), rel=1e-9)
        lost = float(F @ v_t - K * z @ rate)
        assert running["power.friction"] == pytest.approx(lost, rel=1e-6, abs=1e-12)
        assert running["power.friction"] >= 0.0
        assert running["energy.elastic"] == pytest.approx(0.5 * C_F * DEPTH**2 + 0.5 * K * float(z @ z), rel=1e-9)
    assert 5 <= sticking <= 19


def test_the_force_turns_with_the_scene(held: Fmu) -> None:
    rng = np.random.default_rng(8)
    for _ in range(6):
        scene, q = above(-DEPTH, tuple(rng.uniform(-0.01, 0.01, 3))), quaternion(rng)
        turned = Scene(r=turn(q, scene.r), v=turn(q, scene.v), q=product(q, scene.q))
        running, found = stretched(held, np.array([2e-5, -1e-5])), []
        for one in (scene, turned):
            running.set(one.values())
            found.append(running.vector("point.f"))
        one, other = found
        assert other == pytest.approx(turn(q, one), rel=1e-10, abs=1e-9)


# ---- loops -----------------------------------------------------------------------------------------------------------


def run_to_and_fro(running: Running, speed: float, way: float, cycles: int) -> None:
    """A triangular wave of the width `way` along x at constant depth: held velocities make it exact."""
    for _ in range(cycles):
        for sign in (1.0, -1.0):
            running.set({"point.v[1]": sign * speed})
            running.step(way / speed)


@pytest.mark.parametrize("speed", [1e-3, 1e-2])
def test_the_area_of_the_loop_is_that_of_the_closed_form(held: Fmu, speed: float) -> None:
    """Half a cycle at the speed v over the way 2A: from z = R = L/k the tip sticks over s = 2 R - c v/k, where the work
    of F = k z - c v is s c v/2, and slips over the rest: W = 2 (s c v/2 + L (2 A - s)) in all.  For v -> 0 this is
    4 L (A - R)."""
    way, R = 1e-3, LIMIT / K
    running = Running(held, above(-DEPTH).values(), tolerance=1e-11)
    run_to_and_fro(running, speed, way, 1)
    before = running["energy.friction"]
    run_to_and_fro(running, speed, way, 3)
    s = 2 * R - C * speed / K
    exact = 2 * (s * C * speed / 2 + LIMIT * (way - s))
    assert (running["energy.friction"] - before) / 3 == pytest.approx(exact, rel=1e-9)
    assert running["energy.work"] - before == pytest.approx(running["energy.friction"] - before, rel=0.05)
    assert abs(running["energy.residual"]) <= 4e-11 * max(1.0, running["energy.work"])


def test_below_the_limit_there_is_no_drift_and_no_loop_but_of_the_damper(held: Fmu) -> None:
    """A swing about a bias, 2000 times: back at the same force, to rounding; the loss is that of c."""
    running = Running(held, above(-DEPTH, (2e-4, 0.0, 0.0)).values(), tolerance=1e-11)
    running.step(0.07)  # to z = 14 um of R = 30 um: the bias
    bias, before = running["deflection[1]"], running["energy.friction"]
    assert bias == pytest.approx(14e-6, rel=1e-12)
    run_to_and_fro(running, 1e-3, 12e-6, 2000)
    assert running["deflection[1]"] == pytest.approx(bias, abs=4000 * 2**-53 * 26e-6)  # of each sum
    assert running["stick"] == 1
    assert running["energy.friction"] - before == pytest.approx(C * 1e-6 * 2000 * 2 * 12e-3, rel=1e-9)


def test_a_slip_that_turns_is_followed_as_an_independent_integration_says(held: Fmu) -> None:
    """Slip whose direction changes at once by 90 degrees, and N that falls and rises: z' = (F - k z)/c by DOP853."""
    running = Running(held, above(-DEPTH, (0.05, 0.0, 0.0)).values() | {"C_r": 1.0}, tolerance=1e-11)
    z = np.zeros(2)
    for v, depth in (((0.05, 0.0), DEPTH), ((0.0, 0.05), DEPTH), ((0.0, 0.01), 0.2 * DEPTH), ((-0.02, 0.01), DEPTH)):
        v_t, limit = np.array(v), MU * C_F * depth

        def rate(_: float, z: np.ndarray, v_t: np.ndarray = v_t, limit: float = limit) -> np.ndarray:
            holds = K * z + C * v_t
            return (holds * min(1.0, limit / float(np.linalg.norm(holds))) - K * z) / C

        z = solve_ivp(rate, (0.0, 1e-3), z, "DOP853", rtol=1e-12, atol=1e-18, max_step=1e-5).y[:, -1]
        running.set({"point.v": (*v, 0.0), "point.r[3]": -depth})
        running.step(1e-3)
        assert running.vector("deflection", 2) == pytest.approx(z, abs=1e-9 * LIMIT / K)
        holds = K * z + C * v_t
        assert friction(running) == pytest.approx(-holds * min(1.0, limit / float(np.linalg.norm(holds))), abs=1e-8)


# ---- the end of a contact --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["away", "switched off"])
def test_a_bristle_is_relaxed_when_its_contact_ends_and_its_energy_booked(held: Fmu, way: str) -> None:
    running = Running(held, above(-DEPTH, (1e-2, 0.0, 0.0)).values(), tolerance=1e-11)
    running.step(2e-3)
    z = running["deflection[1]"]
    assert z == pytest.approx(2e-5, rel=1e-12)
    stuck = running["energy.friction"]
    running.set({"point.v[1]": 0.0, **({"point.r[3]": DEPTH} if way == "away" else {"work": 0})})
    running.step(1e-3)
    assert running["deflection[1]"] == 0.0
    assert running["energy.friction"] - stuck == pytest.approx(0.5 * K * z**2, rel=1e-12)
    assert running["energy.switched"] == pytest.approx(0.0 if way == "away" else 0.5 * C_F * DEPTH**2, rel=1e-12)
    running.set({"point.r[3]": -DEPTH, "work": 1})
    running.step(1e-3)
    assert not friction(running).any()  # the memory is gone


def test_a_changed_stiffness_books_the_energy_that_it_destroys(held: Fmu) -> None:
    running = stretched(held, np.array([2e-5, 0.0]))
    running.step(1e-3)
    running.set({"k_B": 0.4 * K})
    running.step(1e-3)
    assert running["energy.switched"] == pytest.approx(0.5 * 0.6 * K * 4e-10, rel=1e-12)
    assert running["energy.residual"] == pytest.approx(0.0, abs=1e-18)


def test_a_bristle_has_stiffness_and_damping(held: Fmu) -> None:
    slave = held.slave(Importer())
    slave.set({"k_B": 0.0, "c_B": 0.0})
    assert slave.call("fmi2SetupExperiment", 0, 0.0, 0.0, 0, 0.0) == 0
    assert slave.call("fmi2EnterInitializationMode") == 0
    assert slave.call("fmi2ExitInitializationMode") == ERROR
    assert "k_B = 0 N/m: it must be greater than 0 N/m" in slave.importer.texts[-2]
    assert "c_B = 0 N.s/m: it must be greater than 0 N.s/m" in slave.importer.texts[-1]


def test_what_a_bristle_remembers_is_part_of_the_state(held: Fmu) -> None:
    """Back to the middle of a slip, by the saved state and by its bytes in another instance: the same bits again."""
    running = Running(held, above(-DEPTH, (0.05, 0.02, 0.0)).values())
    running.step(4e-4)
    place, data = running.slave.get_state(), running.slave.state()
    other = Running(held)
    there = other.slave.get_state()
    assert other.slave.deserialize(data, there) == OK
    assert other.slave.call("fmi2SetFMUstate", there) == OK

    def goes_on(one: Running) -> bytes:
        one.time = 4e-4
        one.set({"point.v": (-0.05, 0.01, 0.0)})
        one.step(1e-3)
        return one.slave.all_values()

    first = goes_on(running)
    assert running.slave.call("fmi2SetFMUstate", place) == OK
    assert goes_on(running) == first
    assert goes_on(other) == first


# ---- curved surfaces, several points, laws ---------------------------------------------------------------------------

DRUM = """
element = "point_surface"
[surface]
kind = "cylinder"
radius = "100 mm"
[structure]
bristle = true
points = 2
coupling = false
[functions]
F_slip = "stribeck_slip"
[start]
C_F = 1e6
"""


@pytest.fixture(scope="module")
def drum(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("drum"), "Drum", DRUM)


def drag(running: Running, w: float, time: float, steps: int) -> float:
    """Turn the point 1 round the fixed drum at the rate w from its angle 0, point 2 at rest.  Returns the angle."""
    r, h, angle = 0.1 - DEPTH, time / steps, 0.0
    for k in range(steps):
        angle = w * h * (k + 1)
        tangent = np.array([-math.sin(angle), math.cos(angle), 0.0])
        running.set({"point[1].r": (r * math.cos(angle), r * math.sin(angle), 0.0), "point[1].v": w * r * tangent})
        running.step(h)
    return angle


def test_the_memory_goes_round_a_drum_with_the_tangent_plane(drum: Fmu) -> None:
    """Half a turn at 0.1 m/s, ten times the speed v_s of the law: the force stays opposed to the slip, at its limit.
    The deflection keeps to the tangent plane up to c/k times the rate at which the normal turns; point 2 holds."""
    r = 0.1 - DEPTH
    start = {"point[1].r": (r, 0.0, 0.0), "point[2].r": (-r, 0.0, 0.02), "deflection0[2,3]": 1e-5}
    running = Running(drum, start)
    w = 1.0
    angle = drag(running, w, math.pi, 2000)
    n = np.array([math.cos(angle), math.sin(angle), 0.0])
    tangent = np.array([-n[1], n[0], 0.0])
    N = 1e6 * DEPTH
    limit = N * (0.25 + 0.15 * math.exp(-((w * r / 0.01) ** 2)))
    F = running.vector("point[1].f")
    assert F - (F @ n) * n == pytest.approx(-limit * tangent, rel=1e-9, abs=2e-3 * limit)
    assert running["friction_force[1]"] == pytest.approx(limit, rel=1e-9)
    z = np.array([running[f"deflection[1,{k}]"] for k in (1, 2, 3)])
    assert abs(float(z @ n)) <= 1.1 * w * C / K * limit / K
    assert float(z @ tangent) == pytest.approx(limit / K, rel=1e-2)
    assert running["stick[1]"] == 0 and running["stick[2]"] == 1
    assert running.vector("point[2].f") == pytest.approx((-N, 0.0, -K * 1e-5), rel=1e-9, abs=1e-9)
    assert running["deflection[2,3]"] == 1e-5


def test_it_breaks_away_at_the_limit_of_rest_and_slides_at_that_of_its_speed(drum: Fmu) -> None:
    """Along the axis of the drum, point 1, pulled at v_s/2 up to 0.4 N, whatever the law says of that speed; then it
    slips at 0.25 + 0.15 exp(-1/4), and at 10 v_s at 0.25."""
    r, N = 0.1 - DEPTH, 1e6 * DEPTH
    start = {"point[1].r": (r, 0.0, 0.0), "point[2].r": (1.0, 0.0, 0.0), "point[1].v": (0.0, 0.0, 5e-3)}
    running = Running(drum, start)
    largest = 0.0
    for _ in range(1000):  # the force grows by 0.05 N in a step
        running.step(1e-5)
        largest = max(largest, running["friction_force[1]"])
    assert largest == pytest.approx(0.4 * N, abs=0.05)
    assert running["friction_force[1]"] == pytest.approx((0.25 + 0.15 * math.exp(-0.25)) * N, rel=1e-12)
    running.set({"point[1].v": (0.0, 0.0, 0.1)})
    running.step(0.1)
    assert running["friction_force[1]"] == pytest.approx(0.25 * N, rel=1e-12)


BRISTLE = "[structure]\nbristle = true\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BRISTLE + '[functions]\nF_fr = "ramp"\n', "[functions] F_fr: F_fr needs [structure] bristle = false"),
        ('[functions]\nF_slip = "coulomb"\n', "[functions] F_slip: F_slip needs [structure] bristle = true"),
        (
            BRISTLE + '[functions]\nF_slip = "coulomb"\n[start]\nK_fr = 0.3\n',
            "[functions] F_slip: F_slip excludes [start] K_fr: remove one of the two",
        ),
        (
            BRISTLE + '[functions]\nF_slip = "0.3*#N + 2[N]"\n',
            "[functions] F_slip: the law must be 0 at N = 0; it is 2 N at N = 0 N",
        ),
    ],
)
def test_what_excludes_each_other_is_refused_with_the_repair(tmp_path: Path, text: str, said: str) -> None:
    found = faults(tmp_path, text)
    assert any(said in one for one in found), found


def test_without_a_bristle_none_of_its_variables_is_there(tmp_path: Path) -> None:
    names = {v.name for v in model(tmp_path, "").variables}
    assert not {"k_B", "c_B", "stick", "tip_slip", "deflection[1]"} & names
    names = {v.name for v in model(tmp_path, BRISTLE).variables}
    assert {"k_B", "c_B", "stick", "tip_slip", "deflection[1]"} <= names and "k_T" not in names
