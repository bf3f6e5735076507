"""The axes of point_line_2 as the body of the point turns and as the line goes round: V1 follows VectorFr1*, V2 lies on
the side of VectorFr2*, and what an axis that turns over does to the energy is booked."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fmi2 import Fmu, load_shipped
from numpy.typing import NDArray
from running import Running, build
from scipy.spatial.transform import Rotation

Vector = NDArray[np.float64]
X, Y, Z = np.eye(3)
K, G, RADIUS = 1e5, 9.81, 0.5
CIRCLE = [[RADIUS * math.cos(a), RADIUS * math.sin(a), 0.0] for a in np.arange(48) * math.pi / 24]
LEVEL_RING = f"""
element = "point_line_2"
[structure]
coupling = false
[functions]
f_r2 = "#delta < 0[m] -> 1e5[N/m]*#delta, 0"
[line]
points = {CIRCLE}
closed = true
interpolation = "spline"
[start]
k_r1 = 1e5
VectorFr1 = [1, 0, 0]
VectorFr2 = [0, 0, 1]
"point.r" = [{RADIUS}, 0, 0]
"""


def carried(m: float, v: float) -> tuple[Vector, Vector]:
    """Where a mass runs round a level ring that carries it from below, and its velocity: k outward = m v^2/R."""
    outward = 0.5 * (math.sqrt(RADIUS**2 + 4.0 * m * v * v / K) - RADIUS)
    return np.array([RADIUS + outward, 0.0, -m * G / K]), np.array([0.0, v, 0.0])


def test_a_level_ring_carries_a_mass_from_below_for_whole_turns(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The line passes the direction of VectorFr1 twice a turn; V2 stays upright, as VectorFr2 does."""
    folder = tmp_path_factory.mktemp("level")
    (folder / "Ring.toml").write_text(LEVEL_RING, encoding="utf-8")
    r, v = carried(1.0, 2.0)
    fmu = build(
        folder,
        "Carried",
        f"""
connections = [["mass.p", "ring.point"]]
[parts]
ring = "Ring"
mass = {{ recipe = "PointMass", start = {{ m = 1, r0 = {r.tolist()}, v0 = {v.tolist()} }} }}
""",
    )
    running, turn = Running(fmu), 2.0 * math.pi * r[0] / 2.0
    for _ in range(32):
        running.step(turn / 16)
        place = running.vector("mass.p.r")
        assert place[2] == pytest.approx(r[2], abs=1e-8)
        assert math.hypot(place[0], place[1]) == pytest.approx(r[0], abs=1e-5)  # the spline misses the circle by less
        assert running["ring.delta2"] == pytest.approx(r[2], abs=1e-8)
        assert running["ring.F_r2"] == pytest.approx(-G, abs=1e-3)
    assert running["mass.p.v[3]"] == pytest.approx(0.0, abs=1e-6)
    assert running["ring.energy.switched"] == pytest.approx(0.0, abs=1e-12)  # V1 turns over, and its force is odd
    assert abs(running["ring.energy.residual"]) < 1e-8  # of 2 J


def level_ring_coupled(body: Fmu, guide: Fmu, h: float, steps: int) -> tuple[Running, Running]:
    r, v = carried(1.0, 2.0)
    mass = Running(body, {"m": 1.0, "r0": r, "v0": v})
    ring = Running(guide, {"point.r": r, "point.v": v})
    for _ in range(steps):
        ring.set({"point.r": mass.vector("p.r"), "point.v": mass.vector("p.v")})
        ring.step(h)
        mass.set({"p.f": ring.vector("point.f")})
        mass.step(h)
    return mass, ring


@pytest.mark.slow
def test_a_coupled_ring_carries_it_too(tmp_path_factory: pytest.TempPathFactory) -> None:
    """At 10 communication steps a period across the line, Gauss-Seidel, for a turn and a half.  With the mass given the
    guide does not ask for it: nothing makes the point swing across the line."""
    folder = tmp_path_factory.mktemp("coupled")
    given = '"coupling.mode" = "averaged"\n"coupling.m_eff" = 1.0\n'
    text = LEVEL_RING.replace("coupling = false", "coupling = true") + given
    guide, body = build(folder, "Ring", text), load_shipped("PointMass", folder)
    h = 0.2 * math.pi / math.sqrt(K)
    mass, ring = level_ring_coupled(body, guide, h, round(1.5 * 2.0 * math.pi * RADIUS / 2.0 / h))
    assert mass["p.r[3]"] == pytest.approx(carried(1.0, 2.0)[0][2], rel=0.05)
    assert float(np.linalg.norm(mass.vector("p.v"))) == pytest.approx(2.0, rel=1e-5)
    assert abs(ring["coupling.residual"]) < 1e-6


# ---- a body that turns about one of its vectors ----------------------------------------------------------------------

BAR = """
element = "point_line_2"
[structure]
coupling = false
[functions]
f_r1 = "#delta > 0[m] -> 2e4[N/m]*#delta, 1e4[N/m]*#delta"
f_r2 = "#delta > 0[m] -> 4e4[N/m]*#delta, 1e4[N/m]*#delta"
[line]
points = [[0, 0, 0], ["0.5 m", 0, 0], ["1 m", 0, 0]]
[start]
"point.r" = ["0.5 m", "1 mm", "1 mm"]
VectorFr1 = [0, 1, 0]
VectorFr2 = [0, 0, 1]
"""


@pytest.fixture(scope="module")
def bar(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("bar"), "Bar", BAR)


@pytest.mark.parametrize(
    ("axis", "force", "lost"),
    [
        (Z, [-10.0, -40.0], [5e-3, 0.0]),  # V1 turns over: from 2e4 N/m to 1e4 N/m
        (Y, [-20.0, -10.0], [0.0, 15e-3]),  # V2 turns over: from 4e4 N/m to 1e4 N/m
        (X, [-10.0, -10.0], [5e-3, 15e-3]),  # both do
    ],
    ids=["about VectorFr2", "about VectorFr1", "about the line"],
)
def test_each_axis_follows_the_vector_that_the_body_carries(
    bar: Fmu, axis: Vector, force: list[float], lost: list[float]
) -> None:
    """The body turns by 180 degrees, 1 mm off the line to both sides.  About the line nothing turns over: the axes turn
    on the way, which is no matter of energy.switched."""
    running = Running(bar)
    np.testing.assert_allclose(running.vector("point.f"), [0.0, -20.0, -40.0], atol=1e-12)
    before = running["energy.elastic"]
    running.set({"point.q": Rotation.from_rotvec(math.pi * axis).as_quat(scalar_first=True)})
    np.testing.assert_allclose(running.vector("point.f"), [0.0, *force], atol=1e-9)
    assert (running["delta1"] < 0.0, running["delta2"] < 0.0) == tuple(part > 0.0 for part in lost)
    running.step(1e-3)
    energy = before - sum(lost)
    assert running["energy.elastic"] == pytest.approx(energy, rel=1e-12)
    over = 0.0 if axis is X else before - energy
    assert running["energy.switched"] == pytest.approx(over, rel=1e-12, abs=1e-15)
    texts = [text for text in running.told if "turns over" in text]
    assert [text.split()[0] for text in texts] == ([] if axis is X else [f"V{1 if axis is Z else 2}"])


def test_an_axis_that_turns_over_within_a_step_is_an_event(bar: Fmu) -> None:
    """The body turns about VectorFr1, q = (1, 0, t, 0): after 1 s by 90 degrees, where V2 turns over.  The point is
    then 2 mm off the line, and what is lost there is (4e4 - 1e4) N/m (2 mm)^2/2."""
    running = Running(bar, {"point.v": (0.0, 0.0, 1e-3)})
    running.rates({"point.r": (0.0, 0.0, 1e-3), "point.q": (0.0, 0.0, 1.0, 0.0)})
    running.step(1.0 - 1e-6)
    assert running["F_r2"] == pytest.approx(80.0, rel=1e-5)
    assert running["energy.switched"] == 0.0
    running.rates({"point.r": (0.0, 0.0, 1e-3), "point.q": (0.0, 0.0, 1.0, 0.0)})
    running.step(1.0)
    assert running["F_r2"] == pytest.approx(-30.0, rel=1e-5)
    assert running["solver.events"] == 1
    assert running["energy.switched"] == pytest.approx(0.06, rel=1e-8)
    assert abs(running["energy.residual"]) < 1e-10


# ---- a helix ---------------------------------------------------------------------------------------------------------

PITCH = 0.1  # m per radian
TURNS = np.linspace(-0.5 * math.pi, 4.5 * math.pi, 1441)
HELIX = np.stack([RADIUS * np.cos(TURNS), RADIUS * np.sin(TURNS), PITCH * TURNS], axis=1)


@pytest.fixture(scope="module")
def helix(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    text = LEVEL_RING.replace(str(CIRCLE), str(HELIX.tolist())).replace("closed = true", "")
    return build(tmp_path_factory.mktemp("helix"), "Helix", text)


def test_on_a_helix_the_second_force_lifts_and_never_pushes_down(helix: Fmu) -> None:
    """V1 from the part of x across t = (-R sin, R cos, c)/L; V2 = +-t x V1 with V2 z > 0, twice round.  Near the places
    where the line runs along x on its way V1 stands up and V2 lies down, and there V2 turns over."""
    running, L = Running(helix, {"point.r": (RADIUS, 0.0, 0.0)}), math.hypot(RADIUS, PITCH)
    for a in np.arange(0.0, 4.0 * math.pi, 0.05):
        t = np.array([-RADIUS * math.sin(a), RADIUS * math.cos(a), PITCH]) / L
        radial = np.array([math.cos(a), math.sin(a), 0.0])
        down = np.cross(radial, t) * (-1.0 if np.cross(radial, t)[2] > 0.0 else 1.0)
        foot = np.array([RADIUS * math.cos(a), RADIUS * math.sin(a), PITCH * a])
        V1 = X - np.dot(X, t) * t
        V1 /= np.linalg.norm(V1)
        V2 = np.cross(t, V1) * (1.0 if np.cross(t, V1)[2] > 0.0 else -1.0)
        off = 1e-3 * (down + 0.5 * radial)
        running.set({"point.r": foot + off})
        running.step(1e-3)
        delta = np.array([np.dot(off, V1), np.dot(off, V2)])
        np.testing.assert_allclose([running["delta1"], running["delta2"]], delta, rtol=0.0, atol=1e-8)
        second = K * min(delta[1], 0.0)
        np.testing.assert_allclose(running.vector("point.f"), -K * delta[0] * V1 - second * V2, rtol=0.0, atol=2e-3)
        assert -running["F_r2"] * V2[2] >= 0.0
    assert sum("V2 turns over" in text for text in running.told) == 4
