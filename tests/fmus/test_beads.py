"""Beads on guides: a point mass and a point_line_2 in one FMU, against the closed forms of the rigid limit.

The guide is stiff and critically damped across: what is left of the rigid limit is the static bend F/k."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from running import Running, build
from scipy.special import ellipe

Vector = NDArray[np.float64]
G = 9.81
STIFF = {"k_r1": 1e8, "k_r2": 1e8, "normDamp": 2e4}  # of 1 kg: 1e4 rad/s, critical


def bead(
    folder: Path,
    name: str,
    points: Vector,
    start: Vector,
    v: Vector | None = None,
    kind: str = "spline",
    closed: bool = False,
    law: dict[str, float] | None = None,
    gravity: float = -G,
    carrier: str = "",
) -> Running:
    """A bead of 1 kg on a line that rests, or that the part `hoop` carries."""
    given = "\n".join(f"{key} = {value!r}" for key, value in (STIFF if law is None else law).items())
    wire = f'element = "point_line_2"\n[line]\npoints = {points.tolist()}\nclosed = {str(closed).lower()}\n'
    wire += f'interpolation = "{kind}"\n[start]\n{given}\nVectorFr1 = [0.1, 1, 0.3]\nVectorFr2 = [0.2, -0.3, 1]\n'
    wire += f'"point.r" = {start.tolist()}\n'
    (folder / f"{name}Wire.toml").write_text(wire, encoding="utf-8")
    connections = '["bead.p", "wire.point"]' + (', ["hoop.port", "wire.body[1]"]' if carrier else "")
    speed = [0.0, 0.0, 0.0] if v is None else v.tolist()
    recipe = f"""
connections = [{connections}]
free_moment = true
[parts]
wire = "{name}Wire"
bead = {{ recipe = "PointMass", start = {{ r0 = {start.tolist()}, v0 = {speed}, g = [0, 0, {gravity}] }} }}
{carrier}
[experiment]
tolerance = 1e-10
"""
    return Running(build(folder, name, recipe))


def at(running: Running, *times: float) -> list[Vector]:
    """Position and velocity of the bead at these times, shape (6,) each."""
    found = []
    for time in times:
        running.step(time - running.time)
        found.append(np.concatenate([running.vector("bead.p.r"), running.vector("bead.p.v")]))
    return found


def on_curve(curve: Callable[[Vector], tuple[Vector, Vector]], parameters: Vector) -> Vector:
    x, z = curve(parameters)
    return np.stack([x, 0.0 * x, z], axis=1)


def parabola(x: Vector) -> tuple[Vector, Vector]:
    return x, x * x


def test_a_bead_on_a_parabola_swings_with_the_period_of_the_rigid_wire(tmp_path: Path) -> None:
    """T = 4/sqrt(2 g) E(-1) for z = x^2, x0 = 0.5 m: through the lowest point at T/4 and 5 T/4."""
    line = on_curve(parabola, np.linspace(-0.6, 0.6, 401))
    running = bead(tmp_path, "Parabola", line, np.array([0.5, 0.0, 0.25]))
    period = 4.0 / math.sqrt(2.0 * G) * float(ellipe(-1.0))
    assert period == pytest.approx(1.724909615, rel=1e-9)
    quarter, late = at(running, 0.25 * period, 1.25 * period)
    speed = math.sqrt(2.0 * G * 0.25)
    for point, sign in ((quarter, -1.0), (late, -1.0)):
        assert abs(point[0]) < 3e-6  # m, of an amplitude of 0.5 m
        assert point[3] == pytest.approx(sign * speed, rel=1e-6)
    assert abs(running["wire.energy.residual"]) < 4e-10 * 2.0


def cycloid(a: Vector) -> tuple[Vector, Vector]:
    return 0.25 * (a + np.sin(a)), 0.25 * (1.0 - np.cos(a))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "order"), [("polyline", 2.0), ("spline", 2.5)])
def test_a_cycloid_converges_with_the_number_of_points(tmp_path: Path, kind: str, order: float) -> None:
    """T = 4 pi sqrt(a/g) for every amplitude; a = 0.25 m.  How late the bead is at the lowest point, by the spacing.

    The spline's order 3 shows less and less: the bend of the guide itself costs 2e-7 s."""
    period, errors = 4.0 * math.pi * math.sqrt(0.25 / G), []
    for count in (17, 33, 65):
        line = on_curve(cycloid, np.linspace(-2.0, 2.0, count))
        start = line[int(0.875 * (count - 1))]  # a point of the line itself, at 1.5 rad
        (quarter,) = at(bead(tmp_path, f"Cycloid{kind}{count}", line, start, kind=kind), 0.25 * period)
        errors.append(abs(quarter[0] / quarter[3]))  # s
    assert errors[0] / errors[2] > 0.8 * 4.0**order
    assert errors[2] < 1e-3 * period


@pytest.mark.slow
def test_a_bead_slides_down_a_helix_with_constant_acceleration(tmp_path: Path) -> None:
    """phi = g c t^2/(2 (R^2 + c^2)), R = 0.5 m, pitch 2 pi c, c = 0.1 m."""
    a = np.linspace(-0.5, 4.0, 301)
    line = np.stack([0.5 * np.cos(a), 0.5 * np.sin(a), -0.1 * a], axis=1)
    (end,) = at(bead(tmp_path, "Helix", line, np.array([0.5, 0.0, 0.0])), 1.0)
    phi = G * 0.1 / (2.0 * (0.5**2 + 0.1**2))
    assert phi == pytest.approx(1.886538462, rel=1e-9)
    np.testing.assert_allclose(end[:3], [0.5 * math.cos(phi), 0.5 * math.sin(phi), -0.1 * phi], atol=3e-6)


def ring(count: int, radius: float = 1.0) -> Vector:
    a = 2.0 * math.pi * np.arange(count) / count
    return np.stack([radius * np.cos(a), radius * np.sin(a), 0.0 * a], axis=1)


@pytest.mark.slow
def test_friction_slows_a_bead_on_a_ring_by_the_same_share_in_every_lap(tmp_path: Path) -> None:
    """v = v0/(1 + mu v0 t/R), after a lap v/v0 = exp(-2 pi mu): 0.5334881 for mu = 0.1."""
    law = STIFF | {"K_fr": 0.1, "k_T": 1e4}
    running = bead(
        tmp_path, "Ring", ring(720), np.array([1.0, 0.0, 0.0]), np.array([0.0, 10.0, 0.0]),
        closed=True, law=law, gravity=0.0,
    )  # fmt: skip
    for lap in (1, 2):
        slower = math.exp(-2.0 * math.pi * 0.1 * lap)
        (end,) = at(running, (1.0 / slower - 1.0) / (0.1 * 10.0))
        assert math.hypot(end[3], end[4]) == pytest.approx(10.0 * slower, rel=2e-5)
        assert math.atan2(end[1], end[0]) == pytest.approx(0.0, abs=1e-4)


@pytest.mark.slow
def test_a_thousand_laps_cost_no_speed(tmp_path: Path) -> None:
    """A soft guide: k delta = m v^2/(R + delta), so that the bead runs on a larger circle, for ever."""
    k, v, radius = 1e4, 5.0, 1.0
    delta = 0.5 * (math.sqrt(radius**2 + 4.0 * v**2 / k) - radius)
    law = {"k_r1": k, "k_r2": k, "normDamp": 0.0}
    running = bead(
        tmp_path, "Laps", ring(180), np.array([radius + delta, 0.0, 0.0]), np.array([0.0, v, 0.0]),
        closed=True, law=law, gravity=0.0,
    )  # fmt: skip
    lap = 2.0 * math.pi * (radius + delta) / v
    end = at(running, *(100.0 * lap * k for k in range(1, 11)))[-1]
    energy = 0.5 * np.dot(end[3:], end[3:]) + running["wire.energy.elastic"]
    assert energy == pytest.approx(0.5 * v * v + 0.5 * k * delta**2, rel=1e-7)
    assert np.linalg.norm(end[3:]) == pytest.approx(v, rel=1e-5)
    assert abs(running["wire.energy.residual"]) < 1e-6


@pytest.mark.slow
def test_a_bead_rests_on_a_hoop_that_turns_where_cosine_is_g_over_w2r(tmp_path: Path) -> None:
    """cos theta = g/(w^2 R) from the lowest point: 72.1478076 degrees at w = 8 rad/s, R = 0.5 m; small swings there of
    w sin theta."""
    w, radius, swing = 8.0, 0.5, 1e-3
    theta = math.acos(G / (w * w * radius))
    assert math.degrees(theta) == pytest.approx(72.147807630, rel=1e-9)
    a = 2.0 * math.pi * np.arange(360) / 360
    hoop = np.stack([radius * np.sin(a), 0.0 * a, -radius * np.cos(a)], axis=1)
    carrier = 'hoop = { recipe = "PrescribedMotion", start = { "angle.speed" = 8 } }'

    def place(angle: float) -> Vector:
        return np.array([radius * math.sin(angle), 0.0, -radius * math.cos(angle)])

    start = place(theta + swing)
    running = bead(tmp_path, "Hoop", hoop, start, np.array([0.0, w * start[0], 0.0]), closed=True, carrier=carrier)
    rate = w * math.sin(theta)
    for time in (0.25, 0.5, 0.75, 1.0):
        (point,) = at(running, time * 2.0 * math.pi / rate)
        angle = math.atan2(math.hypot(point[0], point[1]), -point[2])
        assert angle - theta == pytest.approx(swing * math.cos(2.0 * math.pi * time), abs=5e-6)


@pytest.mark.slow
def test_a_line_on_three_free_bodies_keeps_momentum_and_angular_momentum(tmp_path: Path) -> None:
    """No force from outside: the sums over the bead and the three bodies stay to 1e-10."""
    points, bodies = np.array([[0.1 * i, 0.02 * math.sin(i), 0.0] for i in range(12)]), [1] * 4 + [2] * 4 + [3] * 4
    centres = np.array([[0.15, 0.0, -0.1], [0.55, 0.0, -0.1], [0.95, 0.0, -0.1]])
    listed = [(p - centres[b - 1]).tolist() for p, b in zip(points, bodies, strict=True)]
    frames = "".join(f'"body[{b}].r" = {c.tolist()}\n' for b, c in enumerate(centres, start=1))
    (tmp_path / "Track.toml").write_text(
        f'element = "point_line_2"\n[line]\npoints = {listed}\nbody = {bodies}\n[start]\nk_r1 = 3e4\nk_r2 = 5e4\n'
        f'K_fr = 0.05\nnormDamp = 20.0\nforceZone = 0.25\n"point.r" = [0.2, 0, 0]\n{frames}',
        encoding="utf-8",
    )
    (tmp_path / "Free.toml").write_text('element = "rigid_body"\n[structure]\npoints = 0\n', encoding="utf-8")
    speeds = [[0.1, 0.2, 0.0], [0.0, -0.1, 0.2], [-0.2, 0.0, 0.1]]
    turns = [[0.1, 0.0, 0.2], [0.0, 0.1, -0.1], [0.2, 0.1, 0.0]]
    parts = "\n".join(
        f'b{b} = {{ recipe = "Free", start = {{ m = {b + 1}, J_xx = 0.02, J_yy = 0.03, J_zz = 0.04, '
        f"r0 = {centres[b].tolist()}, v0 = {speeds[b]}, w0 = {turns[b]}, g = [0, 0, 0] }} }}"
        for b in range(3)
    )
    wires = ", ".join(f'["b{b}.frame", "track.body[{b + 1}]"]' for b in range(3))
    recipe = f"""
connections = [["bead.p", "track.point"], {wires}]
free_moment = true
[parts]
track = "Track"
bead = {{ recipe = "PointMass", start = {{ r0 = [0.2, 0.0185, 0.0005], v0 = [2, 0, 0], g = [0, 0, 0] }} }}
{parts}
[experiment]
tolerance = 1e-12
"""
    running = Running(build(tmp_path, "FourBodies", recipe))

    def sums() -> Vector:
        r, v = running.vector("bead.p.r"), running.vector("bead.p.v")
        momentum, angular = 1.0 * v, np.cross(r, v)
        for b in range(3):
            r, v, w = (running.vector(f"b{b}.frame.{name}") for name in ("r", "v", "w"))
            q = running.vector(f"b{b}.frame.q", 4)
            R = rotation(q)
            momentum += (b + 1) * v
            angular += np.cross(r, (b + 1) * v) + R @ np.diag([0.02, 0.03, 0.04]) @ R.T @ w
        return np.concatenate([momentum, angular])

    before = sums()
    for time in (0.1, 0.2, 0.3, 0.4):
        running.step(time - running.time)
        np.testing.assert_allclose(sums(), before, rtol=0.0, atol=1e-10)
    assert running["track.s"] > 0.6  # from the first over the second to the chord to the third
    assert running["track.energy.interpolation"] != 0.0
    # of energies of some joules, in each substep an error of the tolerance
    assert abs(running["track.energy.residual"]) < 1e-12 * running["solver.steps"]


def rotation(q: Vector) -> Vector:
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@pytest.mark.parametrize("consistent", [False, True])
def test_a_spinning_point_between_unlike_springs_takes_or_works_for_their_energy(
    tmp_path: Path, consistent: bool
) -> None:
    """The point rests beside a rail while its body spins about it: by the source's law no work is done, and the
    energy of the springs comes out of nothing; with the moment it is the work of the spin."""
    (tmp_path / "Rail.toml").write_text(
        'element = "point_line_2"\n[line]\npoints = [[0, 0, 0], [0.5, 0, 0], [1, 0, 0]]\n'
        f"[structure]\nconsistent_moment = {str(consistent).lower()}\n"
        '[start]\nk_r1 = 1e5\nk_r2 = 3e5\n"point.r" = [0.5, 0, 0]\n',
        encoding="utf-8",
    )
    recipe = """
connections = [["hand.port", "rail.point"]]
[parts]
rail = "Rail"
hand = { recipe = "PrescribedMotion", start = { offset = [0.5, 0.003, 0.001], axis = [1, 0, 0], "angle.speed" = 2 } }
"""
    running = Running(build(tmp_path, f"Spin{consistent}", recipe))
    for time in (0.3, 0.8, 1.7):
        running.step(time - running.time)
        c, s = math.cos(2.0 * time), math.sin(2.0 * time)
        delta1, delta2 = 0.003 * c + 0.001 * s, 0.001 * c - 0.003 * s
        stored = 0.5e5 * delta1**2 + 1.5e5 * delta2**2
        made = stored - (0.5e5 * 0.003**2 + 1.5e5 * 0.001**2)
        assert running["rail.energy.elastic"] == pytest.approx(stored, rel=1e-9)
        assert running["rail.energy.anisotropy"] == pytest.approx(0.0 if consistent else -made, abs=1e-9)
        assert running["rail.energy.work"] == pytest.approx(made if consistent else 0.0, abs=1e-9)
        assert abs(running["rail.energy.residual"]) < 1e-9
