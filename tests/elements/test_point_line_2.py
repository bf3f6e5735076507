"""point_line_2: forces of random states against the law written anew with numpy, ends, rules, the ledger."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fmi2 import ERROR, Fmu, load_literal
from line_reference import foot
from numpy.typing import NDArray
from running import Running, Values, build
from scipy.spatial.transform import Rotation

from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import shipped

Vector = NDArray[np.float64]
EPS = 2.0**-52
LAW = {"k_r1": 3e4, "k_r2": 5e4, "normDamp": 40.0, "K_fr": 0.3, "k_T": 20.0}

# A helix of two turns whose points lie on three bodies, listed in the coordinates of these, which stand as in POSES.
ANGLES = np.linspace(0.0, 4.0 * math.pi, 61)
HELIX = np.stack([0.5 * np.cos(ANGLES), 0.5 * np.sin(ANGLES), 0.08 * ANGLES], axis=1)
BODIES = [1 + (i // 7) % 3 for i in range(61)]
POSES = [
    (np.array([0.1, -0.2, 0.3]), Rotation.from_rotvec([0.3, 0.2, -0.5])),
    (np.array([-0.4, 0.1, 0.2]), Rotation.from_rotvec([-1.0, 0.4, 0.3])),
    (np.array([0.2, 0.5, -0.1]), Rotation.from_rotvec([0.1, -0.7, 1.2])),
]
LISTED = np.array([POSES[b - 1][1].inv().apply(p - POSES[b - 1][0]) for p, b in zip(HELIX, BODIES, strict=True)])
THREE = f"""
element = "point_line_2"
[structure]
coupling = false
[line]
points = {LISTED.tolist()}
body = {BODIES}
[start]
forceZone = "0.2 m"
"point.r" = {HELIX[30].tolist()}
VectorFr1 = [0, 0, 1]
VectorFr2 = [1, 0, 0]
""" + "".join(
    f'"body[{b}].r" = {r.tolist()}\n"body[{b}].q" = {q.as_quat(scalar_first=True).tolist()}\n'
    for b, (r, q) in enumerate(POSES, start=1)
)


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    """A closed spline on one body."""
    return load_literal("PointLine2", tmp_path_factory.mktemp("ring"))


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    """An open polyline on three bodies."""
    return build(tmp_path_factory.mktemp("three"), "OnThreeBodies", THREE)


def pose(name: str, r: Vector, turn: Rotation, v: Vector | None = None, w: Vector | None = None) -> Values:
    zero = np.zeros(3)
    return {
        f"{name}.r": r,
        f"{name}.q": turn.as_quat(scalar_first=True),
        f"{name}.v": zero if v is None else v,
        f"{name}.w": zero if w is None else w,
    }


def on_ring() -> Vector:
    return np.array(read_toml(shipped("fmus") / "PointLine2.toml")["line"]["points"], float)  # type: ignore[index]


# ---- the law ---------------------------------------------------------------------------------------------------------


def force(points: Vector, closed: bool, kind: str, P: Vector, v: Vector, V: Vector, side: Vector) -> dict[str, Vector]:
    """The force on the point by the law LAW; V, side: VectorFr1, VectorFr2 as they are now, v: relative to the line."""
    F, t = foot(points, closed, kind, P)
    V1 = V - np.dot(V, t) * t
    V1 /= np.linalg.norm(V1)
    V2 = np.cross(t, V1)
    V2 *= np.sign(np.dot(V2, side))
    delta = np.array([np.dot(P - F, V1), np.dot(P - F, V2)])
    elastic = np.array([LAW["k_r1"], LAW["k_r2"]]) * delta
    along = float(np.dot(v, t))
    across = v - along * t
    damping = -LAW["normDamp"] * across
    full = elastic - np.array([np.dot(damping, V1), np.dot(damping, V2)])
    brake = LAW["K_fr"] * np.linalg.norm(full) * min(LAW["k_T"] * abs(along), 1.0)
    return {
        "point.f": -elastic[0] * V1 - elastic[1] * V2 + damping - brake * np.sign(along) * t,
        "foot.r": F,
        "scalars": np.array([*delta, *elastic, *full, brake, along]),
    }


SCALARS = ["delta1", "delta2", "F_r1", "F_r2", "P1", "P2", "friction_force", "v_long"]


@pytest.mark.parametrize("seed", range(8))
def test_the_force_is_that_of_the_law_on_a_moving_body(ring: Fmu, seed: int) -> None:
    source = np.random.default_rng(seed)
    points, a = on_ring(), source.uniform(0.0, 6.0)
    local = np.array([math.sin(a), 0.0, 1.0 - math.cos(a)]) + source.normal(size=3) * 0.02
    o, turn = source.normal(size=3), Rotation.random(rng=source)
    v_b, w_b, v_P, w_P = source.normal(size=(4, 3)) * np.array([[1.0], [2.0], [1.0], [2.0]])
    P, first, second = o + turn.apply(local), turn.apply([0.1, 1.0, -0.2]), turn.apply([0.3, 0.2, 1.0])
    start = {"VectorFr1": first, "VectorFr2": second} | LAW
    held = Rotation.random(rng=source)
    running = Running(ring, {**pose("body[1]", o, turn, v_b, w_b), **pose("point", P, held, v_P, w_P), **start})
    swing = Rotation.from_rotvec(source.normal(size=3) * 0.2)  # the body of the point turns, and its vectors with it
    running.set(pose("point", P, swing * held, v_P, w_P))
    v = turn.inv().apply(v_P - v_b - np.cross(w_b, P - o))
    V = [turn.inv().apply(swing.apply(vector)) for vector in (first, second)]
    expected = force(points, True, "spline", local, v, *V)
    f = turn.apply(expected["point.f"])
    np.testing.assert_allclose(running.vector("point.f"), f, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(running.values(SCALARS), expected["scalars"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(running.vector("foot.r"), o + turn.apply(expected["foot.r"]), atol=1e-12)
    np.testing.assert_allclose(running.vector("body[1].f"), -f, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(running.vector("body[1].t"), -np.cross(P - o, f), rtol=1e-9, atol=1e-8)
    assert not running.vector("point.t").any()
    assert running["balance.force"] == 0.0
    assert running["balance.moment"] <= 40 * EPS * np.linalg.norm(f) * (np.linalg.norm(P) + np.linalg.norm(o))


@pytest.mark.parametrize("seed", range(8))
def test_three_moving_bodies_share_the_force_by_the_way_along_the_chords(three: Fmu, seed: int) -> None:
    source = np.random.default_rng(seed)
    poses = [
        (r + 2e-3 * source.normal(size=3), Rotation.from_rotvec(5e-3 * source.normal(size=3)) * q) for r, q in POSES
    ]
    world = np.array([poses[b - 1][1].apply(p) + poses[b - 1][0] for p, b in zip(LISTED, BODIES, strict=True)])
    speeds = source.normal(size=(3, 2, 3))
    i = int(source.integers(5, 55))
    P = world[i] + source.uniform(0.0, 1.0) * (world[i + 1] - world[i]) + 0.01 * source.normal(size=3)
    v_P, first, second = source.normal(size=3), np.array([0.1, -0.2, 1.0]), np.array([0.7, 0.3, 0.2])
    bodies: dict[str, object] = {}
    for b, ((r, q), (v, w)) in enumerate(zip(poses, speeds, strict=True), start=1):
        bodies |= pose(f"body[{b}]", r, q, v, w)
    values = {**bodies, **pose("point", P, Rotation.identity(), v_P), "VectorFr1": first, "VectorFr2": second, **LAW}
    running = Running(three, values)  # type: ignore[arg-type]

    F, _ = foot(world, False, "polyline", P)
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(world, axis=0), axis=1))])
    k = min(
        range(60),
        key=lambda k: abs(np.linalg.norm(F - world[k]) + np.linalg.norm(F - world[k + 1]) - (way[k + 1] - way[k])),
    )
    s = way[k] + float(np.linalg.norm(F - world[k]))
    assert running["s"] == pytest.approx(s, rel=1e-12)
    weights = np.maximum(0.0, 1.0 - np.abs(way - s) / 0.2)
    weights /= weights.sum()
    shift = P - weights @ world
    moved = [
        speeds[b - 1][0] + np.cross(speeds[b - 1][1], p + shift - poses[b - 1][0])
        for p, b in zip(world, BODIES, strict=True)
    ]
    expected = force(world, False, "polyline", P, v_P - weights @ np.array(moved), first, second)
    f = expected["point.f"]
    np.testing.assert_allclose(running.vector("point.f"), f, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(running.values(SCALARS), expected["scalars"], rtol=1e-9, atol=1e-9)
    for b, (r, _) in enumerate(poses, start=1):
        mine = np.array(BODIES) == b
        on_body = -weights[mine].sum() * f
        moment = -np.sum(
            [np.cross(w * (p + shift - r), f) for w, p in zip(weights[mine], world[mine], strict=True)], axis=0
        )
        np.testing.assert_allclose(running.vector(f"body[{b}].f"), on_body, rtol=1e-9, atol=1e-8)
        np.testing.assert_allclose(running.vector(f"body[{b}].t"), moment, rtol=1e-9, atol=1e-8)
    assert running["balance.force"] <= 8 * EPS * np.linalg.norm(f)
    assert running["balance.moment"] <= 100 * EPS * np.linalg.norm(f)


def test_powers_add_up_on_three_moving_bodies(three: Fmu) -> None:
    """work = dU/dt + damping + friction + anisotropy + interpolation, with dU/dt from the output's derivative."""
    for seed in range(6):
        source = np.random.default_rng(seed)
        values: dict[str, object] = {}
        for b, (r, q) in enumerate(POSES, start=1):
            values |= pose(f"body[{b}]", r, q, source.normal(size=3), source.normal(size=3))
        i = int(source.integers(5, 55))
        P = HELIX[i] + 0.3 * (HELIX[i + 1] - HELIX[i]) + 0.01 * source.normal(size=3)
        values |= pose("point", P, Rotation.random(rng=source), source.normal(size=3), 3.0 * source.normal(size=3))
        values |= {"VectorFr1": np.array([0.3, 0.2, 1.0]), "VectorFr2": np.array([1.0, 0.9, 0.1])}
        running = Running(three, values | LAW)  # type: ignore[arg-type]
        running.step(1e-9)  # output derivatives are those of a step
        names = ["power.damping", "power.friction", "power.anisotropy", "power.interpolation"]
        stored = float(running.output_rates(["delta1"])[0]) * running["F_r1"]
        stored += float(running.output_rates(["delta2"])[0]) * running["F_r2"]
        parts = running.values(names)
        assert (parts[:2] >= 0.0).all()
        assert np.abs(parts[2:]).min() > 1e-3  # both have something to say
        assert running["power.work"] == pytest.approx(stored + parts.sum(), rel=1e-10)


# ---- ends, switches --------------------------------------------------------------------------------------------------

BAR = """
element = "point_line_2"
[structure]
coupling = false
[line]
points = [[0, 0, 0], ["0.5 m", 0, 0], ["1 m", 0, 0]]
"""


@pytest.fixture(scope="module")
def bar(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("bar"), "Bar", BAR)


def test_beyond_the_end_planes_there_is_no_force_and_the_energy_is_booked(bar: Fmu) -> None:
    running = Running(bar, {"point.r": (0.9, 0.002, 0.001), "k_r1": 1e5, "k_r2": 2e5})
    stored = 1e5 * 0.002**2 / 2 + 2e5 * 0.001**2 / 2
    assert running["energy.elastic"] == pytest.approx(stored, rel=1e-12)
    assert (running["on"], running["s"]) == (1, pytest.approx(0.9))
    running.set({"point.r": (1.0 + 1e-6, 0.002, 0.001)})
    running.step(1e-3)
    assert (running["on"], running["delta1"], running["delta2"], running["energy.elastic"]) == (0, 0.0, 0.0, 0.0)
    assert not running.vector("point.f").any()
    assert not running.vector("body[1].t").any()
    assert running["energy.switched"] == pytest.approx(stored, rel=1e-12)
    running.set({"point.r": (0.97, 0.001, 0.0)})
    running.step(1e-3)
    assert running["on"] == 1
    assert running["point.f[2]"] == pytest.approx(-100.0)
    assert running["energy.switched"] == pytest.approx(stored - 0.05, rel=1e-12)
    running.set({"point.r": (-0.2, 0.001, 0.0)})  # out at the other end
    running.step(1e-3)
    assert (running["on"], running["s"]) == (0, 0.0)
    running.set({"point.r": (0.6, 0.001, 0.0)})
    running.step(1e-3)
    assert (running["on"], running["s"]) == (1, pytest.approx(0.6))


def test_an_end_plane_is_located_within_a_step(bar: Fmu) -> None:
    """The point runs out at 2 m/s: by the input's own derivative the force ends at 0.05 s, with its impulse."""
    speed = {"point.v": (2.0, 0.0, 0.0)}
    running = Running(bar, {"point.r": (0.9, 0.002, 0.0), "k_r1": 1e5, "K_fr": 0.5, **speed})
    running.rates({"point.r": (2.0, 0.0, 0.0)})
    running.step(0.1)
    assert running["on"] == 0
    assert running["energy.friction"] == pytest.approx(0.5 * 200.0 * 0.1, rel=1e-8)  # K_fr P over the last 0.1 m
    assert running["energy.switched"] == pytest.approx(0.2, rel=1e-8)
    assert running["solver.events"] == 1
    assert (running["contact_count"], running["release_count"]) == (1, 1)
    assert (running["last_contact.start"], running["last_contact.end"]) == (0.0, pytest.approx(0.05, abs=1e-12))


def test_when_a_point_comes_onto_the_line_and_leaves_it_is_recorded_between_communication_points(bar: Fmu) -> None:
    """A bar of 1 m, at 2 m/s: it enters 0.1 m on its way and leaves 0.5 s later, in steps of 7 ms with held inputs."""
    running = Running(bar, {"point.r": (-0.1, 0.0, 0.0), "point.v": (2.0, 0.0, 0.0)})
    assert (running["contact_count"], running["present_contact.start"]) == (0, 0.0)
    for k in range(100):
        running.set({"point.r": (2.0 * 7e-3 * k - 0.1, 0.0, 0.0)})
        running.step(7e-3)
    assert (running["contact_count"], running["release_count"], running["on"]) == (1, 1, 0)
    assert (running["last_contact.start"], running["last_contact.end"]) == pytest.approx((0.05, 0.55), abs=1e-12)


def test_work_false_switches_all_forces_off(bar: Fmu) -> None:
    running = Running(bar, {"point.r": (0.4, 0.002, 0.0), "k_r1": 1e5})
    running.set({"work": 0})
    assert not running.vector("point.f").any()
    assert running["on"] == 0
    running.step(1e-3)
    assert running["energy.switched"] == pytest.approx(0.2, rel=1e-12)
    running.set({"work": 1, "k_r1": 2e5})
    running.step(1e-3)
    assert running["energy.switched"] == pytest.approx(0.2 - 0.4, rel=1e-12)
    running.set({"k_r1": 1e5})
    running.step(1e-3)
    assert running["energy.switched"] == pytest.approx(0.2 - 0.4 + 0.2, rel=1e-12)


# ---- rules -----------------------------------------------------------------------------------------------------------


def refused(fmu: Fmu, values: Values) -> list[str]:
    """What an initialization that must fail says."""
    running = Running.in_initialization(fmu)
    running.set(values)
    assert running.slave.call("fmi2ExitInitializationMode") == ERROR
    return running.told


def test_axes_that_do_not_stand_across_the_line_are_refused(bar: Fmu) -> None:
    (text,) = refused(bar, {"VectorFr1": (1.0, 0.04, 0.0)})
    assert "VectorFr1 = (1, 0.04, 0) points along the line" in text
    assert "0.0399" in text
    (text,) = refused(bar, {"VectorFr2": (1.0, 0.5, 0.0)})
    assert "VectorFr2 = (1, 0.5, 0) does not determine the sign of delta2" in text
    assert Running(bar, {"VectorFr1": (1.0, 0.1, 0.0)})["share"] == pytest.approx(0.1 / math.hypot(1.0, 0.1))


def test_a_line_that_its_bodies_tear_apart_is_refused_with_the_points(three: Fmu) -> None:
    values: dict[str, object] = {}
    for b, (r, q) in enumerate(POSES, start=1):
        values |= pose(f"body[{b}]", r + (np.array([0.0, 0.0, 1.5]) if b == 2 else 0.0), q)
    values |= pose("point", HELIX[30], Rotation.identity())
    told = refused(three, values)  # type: ignore[arg-type]
    assert any("the ratio must be at most 4" in text and "points 7 and 8" in text for text in told)
    assert sum("at the start the line turns at point" in text for text in told) >= 2


def test_the_evolute_is_announced_and_then_an_error(ring: Fmu) -> None:
    """The centre of the circle is as far from all of it."""
    running = Running(ring, {"point.r": (0.0, 0.0, 0.5)})
    assert running["margin"] == pytest.approx(0.5, abs=5e-3)
    assert not running.told
    running.set({"point.r": (0.0, 0.0, 0.95)})
    running.step(1e-3)
    (warning,) = running.told
    assert "comes close to the evolute" in warning
    running.set({"point.r": (0.0, 0.0, 1.0)})
    assert running.slave.step(running.time, 1e-3) == ERROR
    assert "has no foot on the line" in running.told[-1]


def test_a_foot_that_jumps_is_announced(ring: Fmu) -> None:
    running = Running(ring, {"point.r": (0.0, 0.0, 0.97)})
    running.set({"point.r": (0.0, 0.0, 1.03)})
    running.step(1e-3)
    assert any("the foot moved by" in text and "has passed the evolute" in text for text in running.told)
