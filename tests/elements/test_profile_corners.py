"""Points pushed deep through the corners of a profile: where the closest point jumps, and where the normal turns.

The reference is exact.  While one piece of the profile is nearest, the point swings on it as a spring, w^2 = C_F/m:
across a straight piece in one direction, about a corner that stands back in two.  Where the next piece takes over is
found by halving."""

from __future__ import annotations

import itertools
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
from contact_reference import Vector
from fmi2 import Fmu
from running import Running, build

from fmu_builder.paths import shipped

STIFFNESS, MASS = 1e3, 1.0
OMEGA = math.sqrt(STIFFNESS / MASS)
STOP, STEP = 0.15, 1e-3
SHIFT = 0.3  # of the profile from the axis of a revolution, m
ELL = [[0.0, 0.0], [0.2, 0.0], [0.2, 0.1], [0.1, 0.1], [0.1, 0.2], [0.0, 0.2], [0.0, 0.0]]
OUT, BACK = np.array([0.2, 0.1]), np.array([0.1, 0.1])  # corners that stand out of the material and back into it
ACROSS_X, ACROSS_Y, BOTH, FREE = np.diag([1.0, 0.0]), np.diag([0.0, 1.0]), np.eye(2), np.zeros((2, 2))

# corner, where the point begins and how fast, in the plane of the profile
COURSES = {
    "deep below a corner that stands out": (OUT, (0.21, 0.06), (-0.9, 0.5)),
    "less deep there": (OUT, (0.21, 0.07), (-0.9, 0.3)),
    "under a corner that stands back and up its other side": (BACK, (0.17, 0.105), (-1.0, -0.8)),
    "under it and back": (BACK, (0.12, 0.11), (-0.7, -0.9)),
}


def pulled(corner: Vector, P: Vector) -> Vector:
    """P is pulled back to the surface in these directions: a projection."""
    x, y = P - corner
    if corner is OUT:
        return FREE if max(x, y) >= 0.0 else ACROSS_X if x > y else ACROSS_Y
    return FREE if min(x, y) >= 0.0 else BOTH if max(x, y) < 0.0 else ACROSS_X if x < 0.0 else ACROSS_Y


def exact(corner: Vector, r: Vector, v: Vector, stop: float) -> tuple[Vector, Vector, int]:
    """Place and velocity at `stop`, and how often another piece took over."""
    t, pieces = 0.0, 0
    while True:
        M = pulled(corner, r + 1e-12 * v)

        def place(tau: float, M: Vector = M, r: Vector = r, v: Vector = v) -> Vector:
            d = r - corner
            swung = math.cos(OMEGA * tau) * d + math.sin(OMEGA * tau) / OMEGA * v
            return np.asarray(corner + M @ swung + (BOTH - M) @ (d + tau * v))

        steps = np.append(np.arange(1e-9, stop - t, 2e-5), stop - t)
        other = next((k for k, tau in enumerate(steps) if (pulled(corner, place(tau)) != M).any()), None)
        low, high = (steps[-1],) * 2 if other is None else (steps[max(other - 1, 0)], steps[other])
        for _ in range(60 if other is not None else 0):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if (pulled(corner, place(middle)) == M).all() else (low, middle)
        d = r - corner
        swung = -OMEGA * math.sin(OMEGA * high) * d + math.cos(OMEGA * high) * v
        r, v = place(high), M @ swung + (BOTH - M) @ v
        t += high
        if other is None:
            return r, v, pieces
        pieces += 1


def on_profile(
    folder: Path, kind: str, profile: list[list[float]], more: str = "", element: str = "point_surface"
) -> Fmu:
    """A free mass point and the surface of a profile; `more` goes on in [surface]."""
    (folder / "Bar.toml").write_text(
        f'element = "{element}"\n[surface]\nkind = "{kind}"\nprofile = {profile}\n{more}\n', encoding="utf-8"
    )
    recipe = f"""connections = [["mass.p", "bar.point"]]
        [parts]
        mass = {{ recipe = "PointMass", start = {{ g = [0, 0, 0], m = {MASS} }} }}
        bar = {{ recipe = "{folder / "Bar.toml"}" }}
        """
    return build(folder, "Corner", recipe)


@pytest.fixture(scope="module")
def ell(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return on_profile(tmp_path_factory.mktemp("ell"), "extrusion", ELL)


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return on_profile(tmp_path_factory.mktemp("ring"), "revolution", [[x + SHIFT, y] for x, y in ELL])


def run(
    fmu: Fmu, kind: str, r: tuple[float, float], v: tuple[float, float], tolerance: float, **law: float | None
) -> Running:
    """At STOP, from a course in the plane of the profile."""
    turned = kind == "ring"
    r3, v3 = (((p[0] + SHIFT * (k == 0) * turned, 0.0, p[1]) if turned else (*p, 0.0)) for k, p in enumerate((r, v)))
    law = {"C_F": STIFFNESS, "C_r": 1.0, "D_max": 0.04} | law
    given = {name: value for name, value in law.items() if value is not None}
    values = {f"bar.{name}": value for name, value in given.items()} | {"mass.r0": r3, "mass.v0": v3}
    running = Running(fmu, values, tolerance=tolerance)
    for _ in range(round(STOP / STEP)):
        running.step(STEP)
    return running


def in_plane(kind: str, vector: Vector) -> Vector:
    return vector[[0, 2]] if kind == "ring" else vector[:2]


@pytest.mark.parametrize("course", COURSES)
@pytest.mark.parametrize("kind", ["ell", "ring"])
def test_a_point_goes_through_a_corner_as_its_closed_form_does(
    kind: str, course: str, request: pytest.FixtureRequest
) -> None:
    corner, r, v = COURSES[course]
    tolerance = 1e-9
    running = run(request.getfixturevalue(kind), kind, r, v, tolerance)
    place, speed, pieces = exact(corner, np.array(r), np.array(v), STOP)
    shift = np.array([SHIFT if kind == "ring" else 0.0, 0.0])
    assert in_plane(kind, running.vector("mass.p.r")) - shift == pytest.approx(place, abs=1e-9)
    assert in_plane(kind, running.vector("mass.p.v")) == pytest.approx(speed, abs=1e-8)
    assert pieces >= 3  # in, from piece to piece, out
    assert running["solver.events"] >= pieces
    energy = 0.5 * MASS * float(np.dot(v, v))
    assert abs(running["bar.energy.residual"]) <= tolerance * energy
    assert abs(running["bar.energy.switched"]) <= tolerance * energy


@pytest.mark.parametrize("course", COURSES)
@pytest.mark.parametrize("kind", ["ell", "ring"])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_damping_and_friction_leave_no_more_than_the_tolerance_open_at_corners(
    kind: str, course: str, tolerance: float, request: pytest.FixtureRequest
) -> None:
    _, r, v = COURSES[course]
    running = run(request.getfixturevalue(kind), kind, r, v, tolerance, C_r=0.6, K_fr=0.2)
    energy = 0.5 * MASS * float(np.dot(v, v))
    assert running["bar.energy.damping"] > 0.05 * energy
    assert running["bar.energy.friction"] > 0.01 * energy
    assert abs(running["bar.energy.residual"]) <= 1e-9 * energy


@pytest.mark.slow
def test_a_corner_that_is_no_event_leaves_more_open(tmp_path: Path) -> None:
    """The control of the tests above: the element without its two indicators of corners."""
    shutil.copytree(shipped("elements") / "point_surface", tmp_path / "blind")
    text = (tmp_path / "blind" / "surface" / "profile.h").read_text(encoding="utf-8")
    told = {
        "z->jump[i] = jump;": "z->jump[i] = 1.0;",
        "z->corner[i] = re(jump < 0.0 ? e->previous[i].way : e->way[i]);": "z->corner[i] = 1.0;",
    }
    for line, instead in told.items():
        assert text.count(line) == 1
        text = text.replace(line, instead)
    (tmp_path / "blind" / "surface" / "profile.h").write_text(text, encoding="utf-8")
    fmu = on_profile(tmp_path, "extrusion", ELL, element="./blind")
    _, r, v = COURSES["under it and back"]
    assert abs(run(fmu, "ell", r, v, 1e-6)["bar.energy.residual"]) > 1e-7


@pytest.mark.slow
def test_a_bristle_that_goes_through_a_corner_leaves_no_more_open(tmp_path: Path) -> None:
    fmu = on_profile(tmp_path, "extrusion", ELL, "[structure]\nbristle = true")
    for (_, r, v), tolerance in itertools.product(COURSES.values(), (1e-6, 1e-9)):
        running = run(fmu, "ell", r, v, tolerance, C_r=0.6, K_fr=0.2)
        energy = 0.5 * MASS * float(np.dot(v, v))
        assert running["bar.energy.friction"] > 0.01 * energy
        assert abs(running["bar.energy.residual"]) <= 1e-9 * energy


@pytest.mark.slow
@pytest.mark.parametrize(("aside", "allowed"), [(0.0, 1e-9), (1e-6, 1e-6), (1e-3, 1e-6)])
def test_the_tip_on_the_axis_of_a_revolution_is_a_corner_as_well(aside: float, allowed: float, tmp_path: Path) -> None:
    """Below the tip of a cone the normal jumps on the axis, and turns quickly beside it."""
    fmu = on_profile(tmp_path, "revolution", [[0.2, 0.0], [0.0, 0.1]])
    values = {"mass.r0": (0.03, aside, 0.1), "mass.v0": (-1.2, 0.0, -0.6), "bar.C_F": STIFFNESS, "bar.C_r": 1.0}
    running = Running(fmu, values, tolerance=1e-7)
    across = []
    for _ in range(150):
        running.step(STEP)
        if running["bar.in_contact"]:
            across.append(running["bar.normal[1]"])
    assert across[0] > 0.4 and across[-1] < -0.4
    assert running["bar.contact_count"] == 1 and not running["bar.in_contact"]
    energy = 0.5 * (1.2**2 + 0.6**2)
    assert 0.5 * float(running.vector("mass.p.v") @ running.vector("mass.p.v")) == pytest.approx(energy, rel=allowed)
    assert abs(running["bar.energy.residual"]) <= allowed * energy


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["extrusion", "revolution"])
def test_a_rounded_corner_and_a_law_of_the_users_close_the_ledger_as_well(kind: str, tmp_path: Path) -> None:
    """Below a spline nothing jumps within its reach, so no event is missed: each of some twenty substeps in contact may
    leave the tolerance of 1 J open."""
    angles = np.radians(np.arange(0, 91, 15))
    out = [[0.15 + 0.05 * math.cos(a), 0.05 + 0.05 * math.sin(a)] for a in angles]
    back = [[0.15 - 0.05 * math.sin(a), 0.15 - 0.05 * math.cos(a)] for a in angles]
    shift = SHIFT if kind == "revolution" else 0.0
    points = [[x + shift, y] for x, y in [[0.2, -0.1], [0.2, 0.0], *out, *back[1:], [0.1, 0.2], [0.1, 0.3]]]
    more = 'curve = "spline"\n[functions]\nC_F = "hertz"\n[start]\n"laws.hertz_E" = "2 MPa"'
    fmu = on_profile(tmp_path, kind, points, more)
    courses = (((0.203, 0.05), (-0.5, 0.9)), ((0.14, 0.12), (-0.7, -0.5)))
    for (r, v), tolerance in itertools.product(courses, (1e-7, 1e-9, 1e-11)):
        running = run(
            fmu, "ring" if kind == "revolution" else "ell", r, v, tolerance, C_F=None, D_max=None, C_r=0.6, K_fr=0.2
        )
        energy = 0.5 * MASS * float(np.dot(v, v))
        assert running["bar.contact_count"] >= 1
        assert running["bar.energy.damping"] > 0.01 * energy
        assert abs(running["bar.energy.residual"]) <= 20.0 * tolerance


def test_a_contact_that_ends_because_another_end_is_nearer_loses_all_its_energy(tmp_path: Path) -> None:
    """From the side y = 0 up to y = 0.05 m, where the end (0.15, 0.05) m of a hook is as near: off the drawn part."""
    fmu = on_profile(tmp_path, "extrusion", [[0.0, 0.0], [0.2, 0.0], [0.15, 0.05]])
    running = run(fmu, "ell", (0.1, -0.01), (0.0, 3.0), 1e-9, D_max=0.06)
    lost = 0.5 * STIFFNESS * 0.05**2
    assert running["bar.energy.switched"] == pytest.approx(lost, rel=1e-9)
    assert abs(running["bar.energy.residual"]) <= 1e-9 * lost
    assert running.vector("mass.p.v")[1] == pytest.approx(math.sqrt(9.0 - 2.0 * lost / MASS), rel=1e-9)
