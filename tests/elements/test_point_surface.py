"""point_surface: geometry, reaction, frames, switching, bookkeeping.

The law itself: tests/contact_core/test_contact.py; integration over a step: tests/contact_core/test_step.py."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from contact_reference import Contact, Law, Scene, contact
from fmi2 import ERROR, OK, Fmu
from hypothesis import given, settings
from hypothesis import strategies as st
from running import Running, build
from scipy.spatial.transform import Rotation

LAW = Law(C_F=1e5, K_fr=0.3, C_r=0.5, k_D=80.0, k_E=0.4, k_T=50.0, D_max=0.1)
PARAMETERS = {"C_F": 1e5, "K_fr": 0.3, "C_r": 0.5, "k_D": 80.0, "k_E": 0.4, "k_T": 50.0, "D_max": 0.1}
HALF_WIDTH = 0.5
PATCH = f"""
element = "point_surface"
[surface]
kind = "plane"
x = [-{HALF_WIDTH}, {HALF_WIDTH}]
y = [-{HALF_WIDTH}, {HALF_WIDTH}]
[structure]
coupling = false
"""
IMPULSES = (("last_contact", "impulse"), ("present_contact", "impulse_before"))
UP, STILL = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3)


@pytest.fixture(scope="module")
def patch(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("patch"), "Patch", PATCH)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("three"), "Three", PATCH + "points = 3\n")


def quaternion(rng: np.random.Generator) -> np.ndarray:
    x, y, z, s = Rotation.random(random_state=int(rng.integers(2**31))).as_quat()
    return np.array([s, x, y, z])


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Quaternion of the rotation b followed by a, with the length |a| |b|."""
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def turn(q: np.ndarray, vector: np.ndarray) -> np.ndarray:
    return Rotation.from_quat([*q[1:], q[0]]).apply(vector)


def random_scene(rng: np.random.Generator, speed: float) -> Scene:
    """A rotated, moving, spinning surface; the point within a metre of its middle, 5 cm above to 15 cm below it."""
    q, o = quaternion(rng), rng.uniform(-2.0, 2.0, 3)
    local = np.array([*rng.uniform(-0.6, 0.6, 2), rng.uniform(-0.15, 0.05)])
    w, v_o = rng.uniform(-1.0, 1.0, 3) * speed, rng.uniform(-3.0, 3.0, 3)
    arm = turn(q, local)
    v = v_o + np.cross(w, arm) + speed * rng.uniform(-1.0, 1.0, 3)
    return Scene(r=o + arm, v=v, o=o, q=rng.uniform(0.6, 3.0) * q, v_o=v_o, w=w)


def scenes(count: int = 60) -> list[Scene]:
    rng = np.random.default_rng(2)
    return [random_scene(rng, speed) for speed in (1e-3, 0.03, 2.0) for _ in range(count // 3)]


def started(fmu: Fmu, scene: Scene, **parameters: float) -> Running:
    return Running(fmu, PARAMETERS | parameters | scene.values())


def above(z: float, v: tuple[float, float, float] = (0.0, 0.0, 0.0), x: float = 0.1) -> Scene:
    """Over or under the patch, which rests in the world's xy plane."""
    return Scene(r=np.array([x, 0.2, z]), v=np.array(v))


# ---- forces at one instant -------------------------------------------------------------------------------------------


def test_forces_of_a_rotated_moving_spinning_surface_are_those_of_the_description(patch: Fmu) -> None:
    touching = 0
    running = started(patch, above(1.0))
    for scene in scenes():
        expected: Contact = contact(LAW, scene, HALF_WIDTH)
        running.set(scene.values())
        touching += expected.depth > 0.0
        size = LAW.C_F * 0.15 * 2.0
        # 1 m of arm at 1e-16 is a depth of 1e-16 m, times the stiffness
        close = {"rel": 1e-12, "abs": 1e-13 * size}
        assert running.vector("point.f") == pytest.approx(expected.force, **close)
        assert running.vector("surface.f") == pytest.approx(-expected.force, **close)
        assert running.vector("surface.t") == pytest.approx(expected.moment, **close)
        assert running.vector("normal") == pytest.approx(expected.n, abs=1e-15)
        for name, value in {
            "depth": expected.depth,
            "depth_rate": expected.depth_rate,
            "slip_speed": expected.slip_speed,
            "energy.elastic": expected.energy,
        }.items():
            assert running[name] == pytest.approx(value, rel=1e-11, abs=1e-14), name
        for name, force in {
            "elastic_force": expected.elastic,
            "damping_force": expected.damping,
            "normal_force": expected.normal,
            "friction_force": expected.friction,
        }.items():
            assert running[name] == pytest.approx(force, **close), name
        assert running["in_contact"] == (expected.depth > 0.0)
        phase = 0 if expected.depth == 0.0 else 1 if expected.depth_rate >= 0.0 else -1
        assert running["phase"] == phase
        closest = running.vector("contact.r")
        distance = float((scene.r - scene.o) @ expected.n)
        assert closest == pytest.approx(scene.r - distance * expected.n, abs=1e-14)
        assert running["distance"] == pytest.approx(distance, abs=1e-14)
    assert 15 <= touching <= 50


def test_total_force_and_total_moment_about_any_point_vanish(patch: Fmu) -> None:
    rng = np.random.default_rng(3)
    running = started(patch, above(1.0))
    for scene in scenes():
        running.set(scene.values())
        f, back, t = running.vector("point.f"), running.vector("surface.f"), running.vector("surface.t")
        assert list(f + back) == [0.0, 0.0, 0.0]
        about = rng.uniform(-10.0, 10.0, 3)
        total = np.cross(scene.r - about, f) + np.cross(scene.o - about, back) + t
        assert total == pytest.approx(np.zeros(3), abs=1e-14 * np.linalg.norm(f) * 40.0)


def test_power_of_the_pair_is_what_is_stored_and_lost(patch: Fmu) -> None:
    """-sum(f v + t w) = dU/dt + dissipation, with dU/dt = C_F h h'."""
    running = started(patch, above(1.0))
    for scene in scenes():
        running.set(scene.values())
        f = running.vector("point.f")
        given = -float(f @ scene.v + running.vector("surface.f") @ scene.v_o + running.vector("surface.t") @ scene.w)
        lost = running["power.damping"] + running["power.friction"]
        stored = running["elastic_force"] * running["depth_rate"]
        speeds = np.linalg.norm(scene.v) + np.linalg.norm(scene.v_o) + 2.0 * np.linalg.norm(scene.w)
        size = float(np.linalg.norm(f) * speeds)
        assert running["power.work"] == pytest.approx(given, abs=1e-14 * size)
        assert given == pytest.approx(stored + lost, abs=1e-14 * size)
        assert running["power.damping"] >= 0.0
        assert running["power.friction"] >= 0.0


@pytest.mark.parametrize("speed", [1e-300, 1e-182, 1e-155, 1e-100, 1.0, 1e100])
def test_the_slip_speed_has_its_derivative_at_every_size(patch: Fmu, speed: float) -> None:
    """Bodies that come to rest are slower than any number that can be squared; implicit steps need the slope there."""
    running = started(patch, above(-0.01, (0.6 * speed, -0.8 * speed, 0.0)))
    assert running["slip_speed"] == pytest.approx(speed, rel=1e-15)
    slopes = [running.directional(["slip_speed"], {f"point.v[{k}]": 1.0})[0] for k in (1, 2)]
    assert slopes == pytest.approx([0.6, -0.8], rel=1e-14)


def test_forces_are_the_same_in_every_frame_of_constant_velocity(patch: Fmu) -> None:
    running = started(patch, above(1.0))
    for scene, drift in zip(scenes(), np.random.default_rng(4).uniform(-50.0, 50.0, (60, 3)), strict=True):
        forces = []
        for added in (STILL, drift):
            running.set(replace(scene, v=scene.v + added, v_o=scene.v_o + added).values())
            forces.append([*running.vector("point.f"), *running.vector("surface.f"), *running.vector("surface.t")])
        # 50 m/s rounds to 7e-15 m/s, and the steepest slope of the law over speed is N k_D
        assert forces[1] == pytest.approx(forces[0], abs=2e-14 * LAW.C_F * LAW.D_max * LAW.k_D * 3.0)


def test_forces_turn_with_the_scene_and_move_with_it(patch: Fmu) -> None:
    rng = np.random.default_rng(5)
    running = started(patch, above(1.0))
    for scene in scenes():
        q, shift = quaternion(rng), rng.uniform(-3.0, 3.0, 3)
        running.set(scene.values())
        before = [running.vector(name) for name in ("point.f", "surface.f", "surface.t", "normal")]
        turned = Scene(
            r=turn(q, scene.r) + shift,
            v=turn(q, scene.v),
            o=turn(q, scene.o) + shift,
            q=product(q, scene.q),
            v_o=turn(q, scene.v_o),
            w=turn(q, scene.w),
        )
        running.set(turned.values())
        after = [running.vector(name) for name in ("point.f", "surface.f", "surface.t", "normal")]
        for a, b in zip(before, after, strict=True):
            assert b == pytest.approx(turn(q, a), rel=1e-11, abs=1e-10)


def test_spinning_floor_drags_the_point_along(patch: Fmu) -> None:
    """The material under the point moves with w x arm; the force on a point at rest shows in that direction."""
    scene = replace(above(-1e-3), w=np.array([0.0, 0.0, 2.0]))
    running = started(patch, scene)
    carried = np.cross(scene.w, scene.r)
    assert running["slip_speed"] == pytest.approx(np.linalg.norm(carried), rel=1e-15)
    assert running["depth_rate"] == 0.0
    friction = running.vector("point.f")[:2]
    assert friction == pytest.approx(0.3 * 100.0 * carried[:2] / np.linalg.norm(carried), rel=1e-14)


# ---- where there is contact ------------------------------------------------------------------------------------------

BEYOND = math.nextafter(HALF_WIDTH, 1.0)


@pytest.mark.parametrize(
    ("place", "touches"),
    [
        ((0.0, 0.0, -0.01), True),
        ((HALF_WIDTH, 0.0, -0.01), True),
        ((-HALF_WIDTH, HALF_WIDTH, -0.01), True),
        ((0.0, -HALF_WIDTH, -0.01), True),
        ((BEYOND, 0.0, -0.01), False),
        ((-BEYOND, 0.0, -0.01), False),
        ((0.0, BEYOND, -0.01), False),
        ((0.0, -BEYOND, -0.01), False),
        ((0.0, 0.0, 0.0), False),
        ((0.0, 0.0, -5e-324), True),
        ((0.0, 0.0, 0.01), False),
        ((0.0, 0.0, -0.1), True),
        ((0.0, 0.0, math.nextafter(-0.1, -1.0)), False),
    ],
)
def test_contact_is_on_the_drawn_part_edges_included_down_to_the_limit_depth(
    patch: Fmu, place: tuple[float, float, float], touches: bool
) -> None:
    running = started(patch, Scene(r=np.array(place), v=np.array([0.2, 0.0, -0.1])))
    assert running["in_contact"] == touches
    assert (running["point.f[3]"] > 0.0) == touches
    assert running["depth"] == (-place[2] if touches else 0.0)
    if not touches:
        assert not np.any([running.vector(name) for name in ("point.f", "surface.f", "surface.t")])
        assert running["distance"] == place[2]
        assert running["depth_rate"] == 0.1  # told in contact or not
        assert running["slip_speed"] == 0.2


def test_work_switches_all_forces_off_and_on(patch: Fmu) -> None:
    running = started(patch, above(-0.01, (0.3, 0.0, -0.1)))
    on = running.mixed(["point.f[1]", "point.f[3]", "surface.t[1]", "in_contact"])
    assert all(on)
    running.set({"work": 0})
    assert running.mixed(["point.f[1]", "point.f[3]", "surface.t[1]", "in_contact", "phase", "depth"]) == [0.0] * 6
    assert running["depth_rate"] == pytest.approx(0.1)
    running.set({"work": 1})
    assert running.mixed(["point.f[1]", "point.f[3]", "surface.t[1]", "in_contact"]) == on


# ---- energy made and destroyed by switching --------------------------------------------------------------------------


def energy(depth: float, stiffness: float = 1e5) -> float:
    return 0.5 * stiffness * depth**2


# what is set after a first step at the depth 0.01 m, and what is booked: destroyed (+) or made (-)
SWITCHES = {
    "off the edge": ({"point.r[1]": 0.6}, energy(0.01)),
    "past the limit depth": ({"point.r[3]": -0.12}, energy(0.1)),
    "limit depth lowered": ({"D_max": 0.005}, energy(0.01)),
    "switched off": ({"work": 0}, energy(0.01)),
    "softer": ({"C_F": 4e4}, energy(0.01) - energy(0.01, 4e4)),
    "stiffer": ({"C_F": 3e5}, energy(0.01) - energy(0.01, 3e5)),
    "softer and deeper": ({"C_F": 4e4, "point.r[3]": -0.02}, energy(0.02) - energy(0.02, 4e4)),
    "softer and away": ({"C_F": 4e4, "point.r[3]": 0.02}, 0.0),
    "softer and off the edge": ({"C_F": 4e4, "point.r[1]": 0.6}, energy(0.01)),
    "other damping": ({"C_r": 0.9, "k_D": 5.0, "k_E": 0.1}, 0.0),
    "other friction": ({"K_fr": 0.9, "k_T": 5.0}, 0.0),
    "away through the surface": ({"point.r[3]": 0.01}, 0.0),
    "deeper": ({"point.r[3]": -0.02}, 0.0),
}
IN_PLACE = ("limit depth lowered", "switched off", "softer", "stiffer", "other damping", "other friction")


@pytest.mark.parametrize("switch", SWITCHES)
def test_switching_books_the_energy_it_destroys_or_makes(patch: Fmu, switch: str) -> None:
    values, booked = SWITCHES[switch]
    running = started(patch, above(-0.01))
    running.step(1e-3)
    assert running["energy.switched"] == 0.0
    assert running["energy.start"] == pytest.approx(energy(0.01), rel=1e-15)
    running.set(values)
    running.step(1e-3)
    assert running["energy.switched"] == pytest.approx(booked, rel=1e-13)
    if switch in IN_PLACE:  # nothing moved, so the ledger closes
        assert running["energy.residual"] == pytest.approx(0.0, abs=1e-15)
    running.step(1e-3)  # and it is booked once
    assert running["energy.switched"] == pytest.approx(booked, rel=1e-13)


@pytest.mark.parametrize(
    ("outside", "change", "booked"),
    [
        ({"point.r[1]": 0.6}, {"point.r[1]": 0.1}, -energy(0.01)),
        ({"work": 0}, {"work": 1}, -energy(0.01)),
        ({"D_max": 0.005}, {"D_max": 0.1}, -energy(0.01)),
        ({"point.r[3]": -0.2}, {"point.r[3]": -0.01}, -energy(0.01)),
        ({"point.r[3]": 0.001}, {"point.r[3]": -0.01}, -energy(0.01)),  # at rest: not through the surface
    ],
    ids=["in from the edge", "switched on", "limit depth raised", "from the inner side", "placed"],
)
def test_contact_that_begins_in_the_depth_makes_energy(
    patch: Fmu, outside: dict[str, float], change: dict[str, float], booked: float
) -> None:
    running = Running(patch, PARAMETERS | above(-0.01).values() | outside)
    running.step(1e-3)
    assert running["energy.switched"] == 0.0
    assert running["energy.start"] == 0.0
    running.set(change)
    running.step(1e-3)
    assert running["energy.switched"] == pytest.approx(booked, rel=1e-13)
    assert running["contact_count"] == 1
    if "point.r[3]" not in change and "point.r[1]" not in change:
        assert running["energy.residual"] == pytest.approx(0.0, abs=1e-15)


def test_touch_down_between_communication_points_makes_nothing(patch: Fmu) -> None:
    running = started(patch, above(0.0005, (0.0, 0.0, -1.0)))
    running.step(1e-3)
    running.set({"point.r[3]": -0.0005})
    running.step(1e-3)
    assert running["energy.switched"] == 0.0
    assert running["contact_count"] == 1
    assert running.told == []


def test_entry_from_the_inner_side_is_told_with_depth_rate_energy_and_what_to_turn(patch: Fmu) -> None:
    running = started(patch, above(-0.2, (0.0, 0.0, 1.0)))
    running.step(0.1)
    running.set({"point.r[3]": -0.05})
    running.step(0.1)
    (text,) = running.told
    assert "point 1: contact begins from the inner side, at the depth 0.05 m with the depth rate -1 m/s" in text
    assert f"{energy(0.05):g} J" in text
    assert "surface.q" in text


def test_entry_past_the_edge_is_not_taken_for_a_surface_turned_over(patch: Fmu) -> None:
    running = started(patch, above(-0.01, (0.0, 0.0, -0.1), x=0.6))
    running.step(1e-3)
    running.set({"point.r[1]": 0.1})
    running.step(1e-3)
    (text,) = running.told
    assert "at the depth 0.01 m with the depth rate 0.1 m/s" in text and "edge" in text
    assert "surface.q" not in text


@pytest.mark.parametrize("late", [0.02, 0.3, 0.7, 0.99])
@pytest.mark.parametrize("speed", [0.01, 1.0, 100.0])
def test_entry_from_outside_is_no_fault_however_long_the_steps(patch: Fmu, speed: float, late: float) -> None:
    """z = 20 mm - 25 mm sin(a), a' = speed/25 mm, turns 5 mm below the surface; steps of pi/4 in a, with held inputs.
    `late`: after which share of a step the point is first seen below the surface, at last on its way out."""
    low, high = 5e-3, 20e-3
    step = math.pi / 4 * (low + high) / speed
    angles = math.asin(high / (low + high)) + math.pi / 4 * (np.arange(-1, 3) + late)
    z, v = high - (low + high) * np.sin(angles), -speed * np.cos(angles)
    running = started(patch, above(z[0], (0.0, 0.0, v[0])))
    for height, rate in zip(z, v, strict=True):
        running.set({"point.r[3]": height, "point.v[3]": rate})
        running.step(step)
    assert running["contact_count"] == 1
    assert [text for text in running.told if "the held force makes the rebound" not in text] == []
    assert running["energy.switched"] == 0.0


def test_passing_the_limit_depth_is_told_with_both_depths(patch: Fmu) -> None:
    running = started(patch, above(-0.01))
    running.slave.importer.messages.clear()  # that it is in contact at the start
    running.set({"point.r[3]": -0.12})
    running.step(1e-3)
    (text,) = running.told
    assert "depth 0.12 m is greater than D_max = 0.1 m" in text


def test_contact_at_the_start_is_told_and_counted(patch: Fmu) -> None:
    running = started(patch, above(-0.01))
    assert running.told == ["point 1 is in contact at the start, 0.01 m deep"]
    assert running["contact_count"] == 1
    assert running["peak_force"] == running["normal_force"] > 0.0


# ---- what accumulates ------------------------------------------------------------------------------------------------


def test_bounces_are_counted_timed_and_their_peaks_kept(patch: Fmu) -> None:
    """Depth, depth rate and the phase expected: in, deeper, out, in again, less deep."""
    story = [
        (0.01, -1.0, 0),
        (-0.002, -1.0, 1),
        (-0.004, 0.0, 1),  # at the turning point it is still compression
        (-0.002, 1.0, -1),
        (0.01, 1.0, 0),
        (-0.001, -1.0, 1),
        (0.01, 1.0, 0),
    ]
    running = started(patch, above(0.01))
    peak = impulse = 0.0
    count = time = 0
    for z, v, phase in story:
        scene = above(z, (0.0, 0.0, v))
        inside = contact(LAW, scene, HALF_WIDTH)
        count += inside.depth > 0.0 and running["in_contact"] == 0
        running.set(scene.values())
        assert running["phase"] == phase
        running.step(0.01)
        peak, impulse, time = max(peak, inside.normal), impulse + 0.01 * inside.normal, time + (inside.depth > 0.0)
        assert running["peak_force"] == pytest.approx(peak, rel=1e-14)
        assert running["impulse"] == pytest.approx(impulse, rel=1e-14)
        assert running["contact_time"] == pytest.approx(0.01 * time, rel=1e-14)
        assert running["contact_count"] == count
    assert count == 2


def test_dissipated_energies_never_fall(patch: Fmu) -> None:
    rng = np.random.default_rng(8)
    running = started(patch, above(0.01))
    last = np.zeros(2)
    for _ in range(200):
        running.set(random_scene(rng, 1.0).values())
        running.step(1e-3)
        now = running.values(["energy.damping", "energy.friction"])
        assert (now >= last).all()
        last = now
    assert (last > 0.0).all()


# ---- three points ----------------------------------------------------------------------------------------------------


def test_points_of_one_surface_are_single_points_whose_reactions_and_energies_add(patch: Fmu, three: Fmu) -> None:
    rng = np.random.default_rng(9)
    for speed in (0.01, 1.0):
        base = random_scene(rng, speed)
        arms = [np.array([*rng.uniform(-0.4, 0.4, 2), z]) for z in (-0.03, -0.07, 0.01)]
        own = [replace(base, r=base.o + turn(base.q, arm), v=rng.uniform(-speed, speed, 3)) for arm in arms]
        together = Running(three, PARAMETERS | base.values("point[1]"))
        singles = [started(patch, scene) for scene in own]
        for i, scene in enumerate(own, start=1):
            together.set(scene.values(f"point[{i}]"))
        for running in (together, *singles):
            running.step(1e-3)
        for i, single in enumerate(singles, start=1):
            assert list(together.vector(f"point[{i}].f")) == list(single.vector("point.f"))
            for name in ("depth", "depth_rate", "normal_force", "impulse", "contact_time", "phase"):
                assert together[f"{name}[{i}]"] == single[name]
            assert list(together.values([f"normal[{i},{k}]" for k in (1, 2, 3)])) == list(single.vector("normal"))
            assert list(together.vector(f"contact[{i}].r")) == list(single.vector("contact.r"))
        assert [single["in_contact"] for single in singles] == [1, 1, 0]
        for name in ("surface.f", "surface.t"):
            total = np.sum([single.vector(name) for single in singles], axis=0)
            assert together.vector(name) == pytest.approx(total, rel=1e-13, abs=1e-12 * np.abs(total).max())
        for name in ("energy.elastic", "energy.damping", "energy.friction", "energy.work", "power.work"):
            assert together[name] == pytest.approx(sum(single[name] for single in singles), rel=1e-12), name


def test_points_count_and_switch_on_their_own(three: Fmu) -> None:
    running = Running(three, PARAMETERS | {f"point[{i}].r": (0.1 * i, 0.0, -0.01 * i) for i in (1, 2, 3)})
    running.step(1e-3)
    running.set({"point[2].r[1]": 0.6})
    running.step(1e-3)
    assert running["energy.switched"] == pytest.approx(energy(0.02), rel=1e-13)
    assert [running[f"contact_count[{i}]"] for i in (1, 2, 3)] == [1, 1, 1]
    assert [running[f"contact_time[{i}]"] for i in (1, 2, 3)] == pytest.approx([2e-3, 1e-3, 2e-3], rel=1e-14)
    running.set({"C_F": 2e5})  # of two springs
    running.step(1e-3)
    expected = energy(0.02) - energy(0.01) - energy(0.03)
    assert running["energy.switched"] == pytest.approx(expected, rel=1e-13)
    running.set({"point[2].r[1]": 0.2})
    running.step(1e-3)
    assert running["energy.switched"] == pytest.approx(expected - energy(0.02, 2e5), rel=1e-13)
    assert [running[f"contact_count[{i}]"] for i in (1, 2, 3)] == [1, 2, 1]


# ---- numbers of any size ---------------------------------------------------------------------------------------------

MOVING = [*(f"{port}.{name}[{k}]" for port in ("point", "surface") for name in ("r", "v") for k in (1, 2, 3)),
          *(f"surface.w[{k}]" for k in (1, 2, 3)), *(f"surface.q[{k}]" for k in (1, 2, 3, 4))]  # fmt: skip


def any_inputs(largest: float) -> st.SearchStrategy[dict[str, float]]:
    exponents = st.floats(-300.0, math.log10(largest)).map(lambda e: 10.0**e)
    numbers = st.one_of(st.just(0.0), exponents, exponents.map(lambda x: -x), st.floats(-0.5, 0.5))
    return st.fixed_dictionaries(dict.fromkeys(MOVING, numbers))


@settings(max_examples=150, deadline=None)
@given(values=any_inputs(1e100))
def test_inputs_up_to_1e100_never_give_a_nan(patch: Fmu, values: dict[str, float]) -> None:
    q = [values[f"surface.q[{k}]"] for k in (1, 2, 3, 4)]
    if math.hypot(*q) < 0.5:
        values["surface.q[1]"] = 1.0
    running = Running(patch, values)  # every call has to be answered with fmi2OK, and no get with NaN
    assert np.isfinite(running.values(patch.names("Real"))).all()
    running.step(1e-3)
    assert np.isfinite(running.values(patch.names("Real"))).all()


@settings(max_examples=150, deadline=None)
@given(values=any_inputs(1e308))
def test_inputs_that_overflow_something_are_an_error_that_names_it(patch: Fmu, values: dict[str, float]) -> None:
    running = Running(patch)
    running.set(values | {"surface.q[1]": values["surface.q[1]"] + 1.0})
    before = running.slave.state()
    status = running.slave.step(0.0, 1e-3)
    if status == OK:
        assert np.isfinite(running.values(patch.names("Real"))).all()
        return
    assert status == ERROR
    assert "is not finite" in running.told[-1] or "the length of a quaternion" in running.told[-1]
    assert len(running.slave.state()) == len(before)


def test_very_deep_and_very_stiff_is_finite_or_refused(patch: Fmu) -> None:
    running = Running(patch, {"D_max": 1e308, "C_F": 1e300, "point.r": (0.0, 0.0, 1.0)})
    running.set({"point.r[3]": -1e5})
    assert running.slave.step(0.0, 1e-3) == ERROR
    assert "is not finite" in running.told[-1]


# ---- without the ledger ----------------------------------------------------------------------------------------------


def test_without_ledger_the_fmu_has_no_states_and_the_same_forces(tmp_path: Path) -> None:
    full = build(tmp_path, "Full", PATCH + "points = 2\n")
    bare = build(tmp_path, "Bare", PATCH + "points = 2\nledger = false\n")
    missing = full.references.keys() - bare.references.keys()
    states = {f"{name}[{i}]" for name in ("impulse", "contact_time") for i in (1, 2)}
    states |= {f"energy.{name}" for name in ("work", "damping", "friction")}
    impulses = {f"{contact}[{i}].{what}" for i in (1, 2) for contact, what in IMPULSES}
    solver = {name for name in missing if name.startswith("solver.")}
    assert missing == {*states, *(f"der({state})" for state in states), *impulses, "energy.residual", *solver}
    assert bare.references.keys() < full.references.keys() and solver

    rng = np.random.default_rng(11)
    runs = [Running(fmu, PARAMETERS) for fmu in (full, bare)]
    common = [name for name in full.names("Real") if name in bare.references and not name.startswith("solver.")]
    touched = 0
    for _ in range(200):
        motion = {f"point[{i}].{q}": 0.05 * rng.uniform(-1.0, 1.0, 3) for i in (1, 2) for q in "rv"}
        for running in runs:
            running.set(motion)
            running.step(1e-3)
        assert list(runs[0].values(common)) == list(runs[1].values(common))
        for name in ("contact_count[1]", "in_contact[2]"):
            assert runs[0][name] == runs[1][name]
        touched += int(runs[1]["in_contact[1]"])
    assert 20 < touched < 180
