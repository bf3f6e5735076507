"""Where a coupled contact leaves the flat, unbounded, linear surface: curved and turning ones, edges, limits, laws.

The bodies are particles of 1 kg on exact parabolas, unless said otherwise.  H is the communication step, omega = 1000/s
that of 1 kg on the contact, L the lag of the master: 1 Jacobi, 0 Gauss-Seidel."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from fmi2 import Fmu
from numpy.typing import ArrayLike, NDArray
from running import Running, Values, build
from scipy.integrate import solve_ivp

pytestmark = pytest.mark.slow

Vector = NDArray[np.float64]
HOLD, AUTO = 1, 5
JACOBI, GAUSS_SEIDEL = 1, 0
BOTH = pytest.mark.parametrize("lag", [JACOBI, GAUSS_SEIDEL], ids=["jacobi", "gauss_seidel"])
STIFFNESS = 1e6  # N/m
OMEGA = 1e3  # rad/s
G = np.array([0.0, 0.0, -9.81])
RADIUS = 0.5  # m


def contact(folder: Path, surface: str, structure: str = "", more: str = "") -> Fmu:
    recipe = f'element = "point_surface"\n[surface]\n{surface}\n[structure]\ncoupling = true\n{structure}\n{more}'
    return build(folder, "Contact", recipe)


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return contact(tmp_path_factory.mktemp("floor"), 'kind = "plane"')


@dataclass
class Particle:
    """1 kg on one contact, under a master of the given lag; `surface(t)`: motion of the frame that carries it."""

    fmu: Fmu
    lag: int
    r: Vector
    v: Vector
    values: Values = field(default_factory=dict)
    gravity: Vector = field(default_factory=lambda: np.zeros(3))
    surface: Callable[[float], Values] = lambda t: {}

    def __post_init__(self) -> None:
        self.r, self.v = np.array(self.r, dtype=float), np.array(self.v, dtype=float)
        start = {"coupling.mode": AUTO, "point.r": self.r, "point.v": self.v, **self.surface(0.0)}
        self.contact = Running(self.fmu, {**start, **self.values})
        self.force = self.contact.vector("point.f")

    def go(self, H: float, steps: int) -> None:
        for _ in range(steps):
            self.contact.set({"point.r": self.r, "point.v": self.v, **self.surface(self.contact.time)})
            self.contact.step(H)
            new = self.contact.vector("point.f")
            acts = self.force if self.lag == JACOBI else new
            self.force = new
            a = self.gravity + acts
            self.r, self.v = self.r + H * self.v + 0.5 * H * H * a, self.v + H * a


def exact(
    force: Callable[[float, Vector, Vector], Vector], r: ArrayLike, v: ArrayLike, T: float
) -> tuple[Vector, Vector]:
    """Position and velocity of 1 kg after the time T under force(t, r, v)."""
    rates = lambda t, s: np.concatenate([s[3:], force(t, s[:3], s[3:])])  # noqa: E731
    start = np.concatenate([np.asarray(r, dtype=float), np.asarray(v, dtype=float)])
    end = solve_ivp(rates, (0, T), start, method="DOP853", rtol=1e-10, atol=1e-13, max_step=2e-4).y[:, -1]
    return end[:3], end[3:]


# --- curved and turning surfaces -----------------------------------------------------------------------------------


@BOTH
def test_a_particle_that_circles_in_a_cylinder_is_not_driven(tmp_path: Path, lag: int) -> None:
    """A force along the normal of the sample, held over the interval that begins L steps later, has a part along the
    motion: it would gain the share 2 (v/R)^2 (L + 1/2) H of the energy each second.  What is left is smaller by the
    angle v H/R of a step, within a factor of ten."""
    inside = contact(tmp_path, f'kind = "cylinder"\nradius = "{RADIUS} m"\nside = "inside"')
    for h in (0.2, 1.0):
        H = h / OMEGA
        one = Particle(inside, lag, (RADIUS, 0, 0), (0, 1, 0))  # too high by what tells the lag
        one.go(H, round(0.5 / H))
        depth = max(math.hypot(*one.r[:2]) - RADIUS, 0.0)
        gain = 0.5 * 2 / RADIUS**2 * (lag + 0.5) * H
        assert abs(float(one.v @ one.v) + STIFFNESS * depth**2 - 1) < gain * 10 * H / RADIUS


@BOTH
@pytest.mark.parametrize("side", ["inside", "outside"])
def test_an_oblique_impact_on_a_ball_and_in_a_bowl(tmp_path: Path, side: str, lag: int) -> None:
    """Five times as fast along the surface as across: energy and velocity after the impact."""
    fmu = contact(tmp_path, f'kind = "sphere"\nradius = "{RADIUS} m"\nside = "{side}"')
    sign = 1.0 if side == "outside" else -1.0

    def force(t: float, r: Vector, v: Vector) -> Vector:
        d = np.linalg.norm(r)
        return sign * STIFFNESS * max(sign * (RADIUS - d), 0.0) * r / d

    for N, energy, velocity in ((16, 1e-4, 1e-3), (6.3, 5e-4, 5e-3)):
        H = math.pi / OMEGA / N
        v = np.array([-sign, 5.0, 0.0])
        for phase in (0.1, 0.45, 0.8):
            r = np.array([RADIUS, 0.0, 0.0]) - v * (2 + phase) * H
            one = Particle(fmu, lag, r, v)
            steps = round(2.2 * N) + 5
            one.go(H, steps)
            aim = exact(force, r, v, steps * H)[1]
            assert float(one.v @ one.v) == pytest.approx(float(aim @ aim), rel=energy), N
            assert np.linalg.norm(one.v - aim) <= velocity * np.linalg.norm(v), N
            assert abs(one.contact["energy.residual"]) <= energy * float(v @ v), N


@BOTH
def test_a_floor_that_tilts_lifts_what_stands_on_it(floor: Fmu, lag: int) -> None:
    """Frictionless, about an axis 0.3 m beside the particle, at 2 rad/s: its normal turns while the force is held."""
    w = 2.0

    def tilt(t: float) -> Values:
        return {"surface.q": (math.cos(w * t / 2), 0, -math.sin(w * t / 2), 0), "surface.w": (0, -w, 0)}

    def force(t: float, r: Vector, v: Vector) -> Vector:
        n = np.array([-math.sin(w * t), 0.0, math.cos(w * t)])
        return STIFFNESS * max(-float(r @ n), 0.0) * n + G

    r, v, H = (0.3, 0.0, -9.81 / STIFFNESS), (0.0, 0.0, 0.3 * w), 0.5 / OMEGA
    one = Particle(floor, lag, r, v, gravity=G, surface=tilt)  # type: ignore[arg-type]
    one.go(H, 600)
    aim = exact(force, r, v, 600 * H)[0]
    late = 0.5 * (lag + 0.5) * H * w * 9.81 * 0.3**2  # way of g times the angle by which the normal would be late
    assert np.linalg.norm(one.r - aim) < 0.2 * late


# --- friction that holds ----------------------------------------------------------------------------------------------

SLOPE = math.radians(10)
GRIP: Values = {"K_fr": 0.3, "C_r": 0.5, "k_B": 1e6, "c_B": 1e3}


@pytest.fixture(scope="module")
def gripping(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return contact(tmp_path_factory.mktemp("gripping"), 'kind = "plane"', "bristle = true")


@BOTH
@pytest.mark.parametrize("h", [0.5, 1.0, 2.0])  # omega H
def test_a_block_on_a_bristle_holds_its_place_on_an_incline(gripping: Fmu, lag: int, h: float) -> None:
    """It swings and may slip at first, for its mass is unknown; then it stands, to rounding, with the load on the
    bristle.  The literal force lets it creep, or throws it off."""
    gravity = np.array([9.81 * math.sin(SLOPE), 0.0, -9.81 * math.cos(SLOPE)])
    H, r = h / OMEGA, (0.0, 0.0, -9.81 * math.cos(SLOPE) / STIFFNESS)
    block = Particle(gripping, lag, r, (0, 0, 0), GRIP, gravity)  # type: ignore[arg-type]
    block.go(H, 400)
    place = block.r.copy()
    block.go(H, 400)
    assert abs(block.r[0] - place[0]) <= 1e-15 and np.abs(block.v).max() < 1e-13
    assert block.contact["deflection[1]"] == pytest.approx(gravity[0] / 1e6, rel=1e-9)
    assert block.contact["stick"] == 1
    if h == 2.0:
        literal = Particle(gripping, lag, r, (0, 0, 0), {**GRIP, "coupling.mode": HOLD}, gravity)  # type: ignore[arg-type]
        literal.go(H, 800)
        assert abs(literal.r[0]) > 10 * abs(place[0])


@BOTH
def test_a_block_that_slides_stops_where_friction_says(gripping: Fmu, lag: int) -> None:
    """v^2/(2 K_fr g), and the deflection L/k_B of the bristle, at omega H = 1; the energy is booked as friction."""
    v = np.array([0.4, 0.3, 0.0])
    block = Particle(gripping, lag, (0, 0, -9.81 / STIFFNESS), v, GRIP, G)  # type: ignore[arg-type]
    block.go(1e-3, 300)
    assert np.hypot(*block.r[:2]) == pytest.approx(0.25 / (2 * 0.3 * 9.81), abs=2 * 0.3 * 9.81 / 1e6)
    assert block.r[0] * 3 == pytest.approx(block.r[1] * 4, rel=1e-3)
    booked = block.contact["energy.friction"] + block.contact["energy.damping"] + block.contact["energy.residual"]
    assert booked == pytest.approx(0.125, rel=1e-3)


def test_a_held_bristle_is_restored_bit_for_bit(gripping: Fmu) -> None:
    block = Particle(gripping, JACOBI, (0, 0, -2e-5), (0.05, -0.02, 0), GRIP, G)  # type: ignore[arg-type]
    block.go(1e-3, 10)
    one = block.contact
    state, time = one.slave.get_state(), one.time

    def go() -> list[float]:
        found = []
        for k in range(6):
            one.set({"point.r": (1e-6 * k, 0, -2e-5 - 1e-6 * k), "point.v": (1e-3, 0, -1e-3)})
            one.step(1e-3)
            found += [*one.vector("point.f"), one["deflection[1]"], one["energy.friction"]]
        return found

    first = go()
    assert one.slave.call("fmi2SetFMUstate", state) == 0
    one.time = time
    assert go() == first
