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

    def go(self, H: float, steps: int, contact_steps: int = 1) -> None:
        """`contact_steps`: steps that the contact takes in H, at whose beginning the particle is seen."""
        for _ in range(steps):
            self.contact.set({"point.r": self.r, "point.v": self.v, **self.surface(self.contact.time)})
            for _ in range(contact_steps):
                self.contact.step(H / contact_steps)
            new = self.contact.vector("point.f")
            acts = self.force if self.lag == JACOBI else new
            self.force = new
            a = self.gravity + acts
            self.r, self.v = self.r + H * self.v + 0.5 * H * H * a, self.v + H * a


@dataclass
class Body:
    """m, kg, under a master of the given lag; it does not turn.  `points`: where its points are along x, m."""

    contact: Running
    points: dict[str, float]
    r: Vector
    v: Vector
    m: float
    lag: int = JACOBI
    forces: Vector = field(default_factory=lambda: np.zeros(3))

    def go(self, H: float, steps: int) -> None:
        for _ in range(steps):
            places = {f"{point}.r": self.r + np.array([x, 0, 0]) for point, x in self.points.items()}
            self.contact.set({**places, **{f"{point}.v": self.v for point in self.points}})
            self.contact.step(H)
            new = np.sum([self.contact.vector(f"{point}.f") for point in self.points], axis=0)
            a = (self.forces if self.lag == JACOBI else new) / self.m
            self.forces = new
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


@BOTH
def test_a_particle_may_be_shown_more_often_when_it_comes_near(floor: Fmu, lag: int) -> None:
    """In each fifth step of the contact while it is far off, in each one afterwards."""
    H = math.pi / OMEGA / 16
    for phase in (0.1, 0.4, 0.7):
        one = Particle(floor, lag, (0, 0, (12 + phase) * H), (0, 0, -1))  # type: ignore[arg-type]
        one.go(5 * H, 2, contact_steps=5)
        one.go(H, 30)
        assert one.v[2] == pytest.approx(1, abs=1e-9)
        assert one.contact["coupling.admittance[1]"] == pytest.approx(1, rel=1e-6)


# --- edges, limits, and where the scheme cannot serve ----------------------------------------------------------------


@BOTH
def test_an_impact_on_an_edge_ends_there(tmp_path: Path, lag: int) -> None:
    """An elastic impact at 3 m/s along the surface passes its edge in the midst.  A force that ended with the sample
    behind the edge would last (L + 1/2) H too long, in the mean; now the error is of the order of H^2, and the energy
    that is lost with the contact is booked."""
    fmu = contact(tmp_path, 'kind = "plane"\nx = ["-1 m", "0.3 m"]')
    force = lambda t, r, v: np.array([0, 0, STIFFNESS * max(-r[2], 0.0) * (r[0] <= 0.3)])  # noqa: E731
    errors = []
    for N in (32, 64):
        H = math.pi / OMEGA / N
        found = []
        for phase in (0.1, 0.45, 0.8):
            v = np.array([3.0, 0.0, -1.0])
            touch = np.array([0.3 - 1.5 * math.pi / OMEGA * (0.9 + 0.2 * phase), 0.0, 0.0])
            r = touch - v * (2 + phase) * H
            steps = round(1.2 * N) + 4
            one = Particle(fmu, lag, r, v)
            one.go(H, steps)
            found.append(one.v[2] - exact(force, r, v, steps * H)[1][2])
            lost = 5.0 - 0.5 * float(one.v @ one.v)
            booked = one.contact["energy.switched"] + one.contact["energy.residual"]
            assert booked == pytest.approx(lost, abs=1e-9)
            assert one.contact["energy.damping"] == pytest.approx(0, abs=1e-12)
        late = (lag + 0.5) * H * OMEGA  # of 1 m/s: the greatest force of the impact is omega times it
        assert np.abs(found).max() < 0.25 * late
        errors.append(np.abs(found).max())
    assert errors[1] < errors[0] / 2


@BOTH
@pytest.mark.parametrize("limit", ["edge", "depth"])
def test_the_friction_of_a_bristle_is_booked_until_the_contact_ends_at_a_limit(
    tmp_path: Path, lag: int, limit: str
) -> None:
    """The bristle slips throughout: friction takes what the particle loses along the surface, to the last interval."""
    fmu = contact(tmp_path, f'kind = "plane"\nx = ["-1 m", "{0.3 if limit == "edge" else 9} m"]', "bristle = true")
    H, v = math.pi / OMEGA / 16, np.array([5.0, 0.0, -1.0])
    values = {"K_fr": 0.3, "D_max": 0.5e-3 if limit == "depth" else 1.0}
    one = Particle(fmu, lag, np.array([0.29, 0, 0]) - 2.3 * H * v, v, values)
    one.go(H, 30)
    assert one.contact["energy.switched"] > 0.1
    assert one.contact["energy.friction"] == pytest.approx(0.5 * (v[0] ** 2 - one.v[0] ** 2), rel=1e-9)
    assert one.contact["energy.work"] == pytest.approx(0.5 * float(v @ v) - 0.5 * float(one.v @ one.v), abs=1e-9)


def test_the_normal_of_one_of_two_points_may_jump(tmp_path: Path) -> None:
    """From the top of a ball to its side, as at a corner: that point begins anew, and the other goes on."""
    ball = contact(tmp_path, 'kind = "sphere"\nradius = "0.5 m"', "points = 2")
    for side in ((0.4999, 0, 0), (0, 0.4999, 0)):
        pair = Running(ball, {"coupling.mode": AUTO})
        for k in range(12):
            pair.set({"point[1].r": (0, 0, 0.4999) if k < 6 else side, "point[2].r": (0, 0, -0.4999)})
            pair.step(1e-4)
        normal = np.array([pair[f"normal[1,{k}]"] for k in (1, 2, 3)])
        force = pair.vector("point[1].f")
        assert float(normal @ side) == pytest.approx(0.4999) and force == pytest.approx(float(force @ normal) * normal)


def test_two_points_of_which_one_touches_may_be_switched_off(tmp_path: Path) -> None:
    """The force on one is remembered still when there has been none on the other for long."""
    pair = Running(contact(tmp_path, 'kind = "plane"', "points = 2"), {"coupling.mode": AUTO, "k_T": 1.0})
    for k in range(12):
        z = (5e-4, -2e-4 * k)
        pair.set({f"point[{i}].r": (0.3 * i, 0, z[i - 1]) for i in (1, 2)})
        pair.set({f"point[{i}].v": (0, 0, (0.0, -2.0)[i - 1]) for i in (1, 2)} | {"work": k < 4})
        pair.step(1e-4)
    assert [pair.vector(f"point[{i}].f")[2] for i in (1, 2)] == [0.0, 0.0]


@BOTH
@pytest.mark.parametrize("limit", ["switched off", "depth"])
def test_work_is_what_a_body_of_two_points_got_where_the_contact_of_both_ends(
    tmp_path: Path, lag: int, limit: str
) -> None:
    """In the midst of an impact, when the forces of the last intervals still act."""
    H, v = math.pi / OMEGA / 10, np.array([0.7, 0.0, -1.0])
    fmu = contact(tmp_path, 'kind = "plane"', "points = 2")
    values = {"coupling.mode": AUTO, "K_fr": 0.3, "D_max": 0.5e-3 if limit == "depth" else 1.0}
    body = Body(Running(fmu, values), {"point[1]": 0.0, "point[2]": -0.5}, -2.3 * H * v, v, 1.0, lag)
    body.go(H, 6)
    body.contact.set({"work": limit == "depth"})
    body.go(H, 24)
    got = 0.5 * float(v @ v) - 0.5 * float(body.v @ body.v)
    assert abs(got) > 0.1 and body.contact["energy.switched"] > 0.1
    assert body.contact["energy.work"] == pytest.approx(got, abs=1e-9)


def test_what_a_point_made_before_an_edge_is_owed_by_a_body_of_two_points_as_well(tmp_path: Path) -> None:
    """1 kg that does not turn, on two points of which one passes the edge: that one is as a particle of half of it."""
    H, v = math.pi / OMEGA / 10, np.array([5.0, 0.0, -1.0])
    start = np.array([0.29, 0, 0]) - 2.3 * H * v
    debts = []
    for points in ({"point[1]": 0.0}, {"point[1]": 0.0, "point[2]": -0.5}):
        fmu = contact(tmp_path, 'kind = "plane"\nx = ["-1 m", "0.3 m"]', f"points = {len(points)}")
        body = Body(Running(fmu, {"coupling.mode": AUTO, "C_r": 0.5, "k_D": 1e3}), points, start, v, 0.5 * len(points))
        body.go(H, 40)
        debts.append(body.contact["coupling.debt[1]"])
    # a point alone takes steep damping later in the interval (energy_force.h), and pays back in compression by it
    assert debts[0] > 0.01 and debts[1] == pytest.approx(debts[0], rel=0.15)


@BOTH
def test_a_particle_that_passes_the_limit_depth_loses_what_was_stored(floor: Fmu, lag: int) -> None:
    """1 m/s on a limit depth of half of what it would reach: sqrt(3/4) m/s are left, to the order of (omega H)^2."""
    H = math.pi / OMEGA / 32
    for phase in (0.1, 0.45, 0.8):
        one = Particle(floor, lag, (0, 0, (2 + phase) * H), (0, 0, -1), {"D_max": 0.5e-3})  # type: ignore[arg-type]
        one.go(H, 40)
        assert -one.v[2] == pytest.approx(math.sqrt(0.75), abs=2 * (OMEGA * H) ** 2)
        assert one.contact["energy.switched"] == pytest.approx(0.125, abs=0.02)


@BOTH
@pytest.mark.parametrize("limit", ["depth", "switched off", "depth lowered"])
def test_what_held_forces_do_at_and_after_the_end_of_a_contact_is_switched_energy(
    floor: Fmu, lag: int, limit: str
) -> None:
    """Nothing is lost but by the end: energy.residual is minus U_1 - U_0 - N (x_1 - x_0) of the intervals before it."""
    H = math.pi / OMEGA / 11
    for phase in (0.1, 0.45, 0.8):
        values = {"D_max": 0.5e-3 if limit == "depth" else 1.0}
        one = Particle(floor, lag, (0, 0, (2 + phase) * H), (0, 0, -1), values)  # type: ignore[arg-type]
        made, on = 0.0, True
        for step in range(30):
            before, speed = one.r[2], one.v[2]
            if step == 6 and limit != "depth":
                one.contact.set({"work": False} if limit == "switched off" else {"D_max": 1e-4})
            one.go(H, 1)
            force = (one.v[2] - speed) / H
            stored = 0.5 * STIFFNESS * (min(one.r[2], 0.0) ** 2 - min(before, 0.0) ** 2)
            on = on and -one.r[2] <= values["D_max"] and (limit == "depth" or step < 5)
            made += (stored + force * (one.r[2] - before)) * on
        assert abs(one.contact["energy.switched"]) > 0.05 and one.contact["energy.elastic"] == 0.0
        assert one.contact["energy.work"] == pytest.approx(0.5 * (1 - one.v[2] ** 2), abs=1e-12)
        assert one.contact["energy.residual"] == pytest.approx(-made, abs=1e-10)


def test_a_law_that_pulls_is_literal_while_it_does(tmp_path: Path) -> None:
    law = '[functions]\nF_d = "5[s/m]*#v"\n'
    pulling = contact(tmp_path, 'kind = "plane"', "allow_adhesion = true", law)
    one = Particle(pulling, GAUSS_SEIDEL, (0, 0, -4e-4), (0, 0, 1))  # type: ignore[arg-type]
    one.go(1e-5, 1)
    assert one.contact["coupling.fallback[1]"] == 2
    assert one.contact.vector("point.f")[2] == pytest.approx(STIFFNESS * 4e-4 * (1 - 5))
    one.go(1e-5, 200)
    assert one.contact["coupling.fallback[1]"] == 0 and one.r[2] > 0
    assert len([text for text in one.contact.told if "the law F_d pulls" in text]) == 1
    force = lambda t, r, v: np.array([0, 0, STIFFNESS * max(-r[2], 0.0) * (1 - 5 * v[2])])  # noqa: E731
    assert one.v[2] == pytest.approx(exact(force, (0, 0, -4e-4), (0, 0, 1), 2e-3)[1][2], abs=0.02)


def test_two_points_beyond_all_bounds_have_the_literal_forces(tmp_path: Path) -> None:
    """Their places come to the sixth power in what their body is like."""
    pair = Running(contact(tmp_path, 'kind = "plane"', "points = 2"), {"coupling.mode": AUTO, "D_max": 1e300})
    for far in (1e39, 1e55):
        for i, sign in ((1, 1.0), (2, -1.0)):
            pair.set({f"point[{i}].r": (sign * far, 0, -1e-4), f"point[{i}].v": (0, far, -0.1 * sign)})
        pair.step(1e-3)
        assert pair["coupling.fallback[1]"] == (3 if far > 1e40 else 0)
    assert pair.vector("point[2].f")[2] == pytest.approx(STIFFNESS * 1e-4)


@BOTH
def test_a_law_that_begins_below_the_surface_keeps_the_energy(tmp_path: Path, lag: int) -> None:
    """No force in the first millimetre, where no energy tells what to guess of the mass."""
    law = '[functions]\nC_F = "#h < 1[mm] -> 0[N], 1e6[N/m]*(#h - 1[mm])"\n'
    fmu = contact(tmp_path, 'kind = "plane"', more=law)
    for N in (16, 6.3):
        H = math.pi / OMEGA / N
        for phase in (0.1, 0.45, 0.8):
            one = Particle(fmu, lag, (0, 0, (2 + phase) * H), (0, 0, -1))  # type: ignore[arg-type]
            one.go(H, round(1.2 * N) + 6 + round(2e-3 / H))
            assert one.r[2] > 0 and one.v[2] == pytest.approx(1, abs=1e-9)


def test_motion_beyond_all_bounds_gives_the_literal_force(floor: Fmu) -> None:
    """What hold answers, coupled answers too; afterwards the coupling begins anew."""
    one = Running(floor, {"coupling.mode": AUTO, "D_max": 1e300})
    for depth in (1e90, 1.1e140, 1.3e150):
        one.set({"point.r": (0, 0, -depth), "point.v": (depth, 0, depth)})
        one.step(1e-3)
        assert one["coupling.fallback[1]"] == 3
        assert one.vector("point.f")[2] == pytest.approx(STIFFNESS * depth)
    assert len([text for text in one.told if "too large for the coupling" in text]) == 1
    one.set({"point.r": (0, 0, -1e-4), "point.v": (0, 0, -0.1)})
    one.step(1e-4)
    assert one["coupling.fallback[1]"] == 0 and 0 < one.vector("point.f")[2] < 1.2 * STIFFNESS * 1.3e-4
    assert one["coupling.debt[1]"] == 0
