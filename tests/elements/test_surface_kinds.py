"""point_surface on every kind of surface: forces on a moving body, edges, reach, singular points, recipes.

The closest points themselves: tests/contact_core/test_surfaces.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from contact_reference import Law, Scene, Surface, Vector, contact
from fmi2 import ERROR, load_literal, some_slow
from running import Running, build
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation

from fmu_builder.errors import InputError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.model.loader import load_model
from fmu_builder.paths import shipped

PARAMETERS = {"C_F": 1e5, "K_fr": 0.3, "C_r": 0.5, "k_D": 80.0, "k_E": 0.4, "k_T": 50.0, "D_max": 0.014}
LAW = Law(**PARAMETERS)

# ---- every surface of the catalogue once more, by other means --------------------------------------------------------


def unit(a: Vector) -> Vector:
    return a / np.linalg.norm(a)


def disc(P: Vector) -> tuple[float, Vector, bool]:
    return -P[2], np.array([0.0, 0.0, 1.0]), math.hypot(P[0], P[1]) <= 0.1


def ball(P: Vector) -> tuple[float, Vector, bool]:
    return 0.1 - float(np.linalg.norm(P)), unit(P), True


def bowl(P: Vector) -> tuple[float, Vector, bool]:
    return float(np.linalg.norm(P)) - 0.1, -unit(P), True


def bar(P: Vector) -> tuple[float, Vector, bool]:
    return 0.05 - math.hypot(P[0], P[1]), unit(P * [1, 1, 0]), abs(P[2]) <= 0.2


def funnel(P: Vector) -> tuple[float, Vector, bool]:
    """Half angle 45 deg: n = (-e, 1)/sqrt 2 from inside, and the apex behind it."""
    d = math.hypot(P[0], P[1])
    height = (d + P[2]) / 2
    if height <= 0.0:
        return float(np.linalg.norm(P)), -unit(P), True
    n = np.array([*(-P[:2] / d), 1.0]) / math.sqrt(2)
    return -float(n @ P), n, height <= 0.2


def ring(P: Vector) -> tuple[float, Vector, bool]:
    centre = 0.1 * unit(P * [1, 1, 0])
    return 0.03 - float(np.linalg.norm(P - centre)), unit(P - centre), True


def vase(P: Vector) -> tuple[float, Vector, bool]:
    points = np.array([[60, 0], [90, 60], [70, 140], [50, 200], [65, 250]]) * 1e-3
    s = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    curve = CubicSpline(s, points)
    at = np.array([math.hypot(P[0], P[1]), P[2]])

    def distance(u: float) -> float:
        return float(np.hypot(*(curve(u) - at)))

    grid = np.linspace(0.0, s[-1], 400)
    best = grid[np.argmin(np.hypot(*(curve(grid) - at).T))]
    u = minimize_scalar(distance, bounds=(best - 1e-3, best + 1e-3), options={"xatol": 1e-9}).x
    u -= float((curve(u) - at) @ curve(u, 1)) / float(curve(u, 1) @ curve(u, 1) + (curve(u) - at) @ curve(u, 2))
    t = unit(curve(u, 1))
    n = np.array([t[1], -t[0]])
    across = P[:2] / at[0]
    return float((curve(u) - at) @ n), np.array([*(n[0] * across), n[1]]), 0.0 <= u <= s[-1]


def rail(P: Vector) -> tuple[float, Vector, bool]:
    """The sides of the trapezium; each point of the test is nearest to the inside of one of them."""
    corners = np.array([[-40, 0], [40, 0], [25, 30], [-25, 30], [-40, 0]]) * 1e-3
    depths, normals = [], []
    for a, b in pairwise(corners):
        t = unit(b - a)
        normals.append(np.array([t[1], -t[0], 0.0]))
        depths.append(float((a - P[:2]) @ normals[-1][:2]))
    k = int(np.argmin(depths))
    return depths[k], normals[k], abs(P[2]) <= 0.5


SURFACES: dict[str, tuple[Surface, Callable[[np.random.Generator], Vector]]] = {
    "PointDisc": (disc, lambda rng: np.array([*rng.uniform(-0.09, 0.09, 2), 0.0])),
    "PointSphere": (ball, lambda rng: 0.1 * unit(rng.normal(size=3))),
    "PointBowl": (bowl, lambda rng: 0.1 * unit(rng.normal(size=3))),
    "PointCylinder": (bar, lambda rng: np.array([*(0.05 * unit(rng.normal(size=2))), rng.uniform(-0.22, 0.22)])),
    "PointCone": (funnel, lambda rng: rng.uniform(0.02, 0.21) * np.array([*unit(rng.normal(size=2)), 1.0])),
    "PointTorus": (ring, lambda rng: _on_ring(rng)),
    "PointRevolution": (vase, lambda rng: np.array([*(0.07 * unit(rng.normal(size=2))), rng.uniform(0.04, 0.2)])),
    "PointExtrusion": (rail, lambda rng: np.array([rng.uniform(-0.005, 0.005), 0.03, rng.uniform(-0.52, 0.52)])),
}


def _on_ring(rng: np.random.Generator) -> Vector:
    e, angle = unit(rng.normal(size=2)), rng.uniform(-math.pi, math.pi)
    return np.array([*((0.1 + 0.03 * math.cos(angle)) * e), 0.03 * math.sin(angle)])


def scenes(place: Callable[[np.random.Generator], Vector], count: int) -> list[Scene]:
    """A turned, moving, spinning surface, and a point within 15 mm of it."""
    rng, found = np.random.default_rng(12), []
    for speed in np.resize([1e-3, 0.03, 2.0], count):
        x, y, z, s = Rotation.random(random_state=int(rng.integers(2**31))).as_quat()
        q, o, local = np.array([s, x, y, z]), rng.uniform(-0.5, 0.5, 3), place(rng) + rng.uniform(-9e-3, 9e-3, 3)
        w, v_o, arm = rng.uniform(-1.0, 1.0, 3) * speed, rng.uniform(-3.0, 3.0, 3), Rotation.from_quat([x, y, z, s])
        r = o + arm.apply(local)
        v = v_o + np.cross(w, r - o) + speed * rng.uniform(-1.0, 1.0, 3)
        found.append(Scene(r=r, v=v, o=o, q=q, v_o=v_o, w=w))
    return found


@pytest.mark.parametrize("name", some_slow(SURFACES))
def test_forces_of_a_moving_surface_are_those_of_the_description(name: str, tmp_path: Path) -> None:
    surface, place = SURFACES[name]
    running, touching = Running(load_literal(name, tmp_path), PARAMETERS), 0
    for scene in scenes(place, 90):
        expected = contact(LAW, scene, surface)
        running.set(scene.values())
        touching += expected.depth > 0.0
        # depth and normal of a point a metre from the origin are exact to 1e-15 of it: the force to that times C_F,
        # the direction to that over the least radius of curvature met, 5 mm
        close = {"rel": 1e-11, "abs": 1e-15 * LAW.C_F * 10.0}
        assert running["in_contact"] == (expected.depth > 0.0)
        assert running["depth"] == pytest.approx(expected.depth, abs=1e-14)
        assert running["depth_rate"] == pytest.approx(expected.depth_rate, abs=1e-12)
        assert running["slip_speed"] == pytest.approx(expected.slip_speed, abs=1e-12)
        assert running.vector("normal") == pytest.approx(expected.n, abs=1e-12)
        assert running.vector("point.f") == pytest.approx(expected.force, **close)
        assert running.vector("surface.f") == pytest.approx(-expected.force, **close)
        assert running.vector("surface.t") == pytest.approx(expected.moment, **close)
        assert running["energy.elastic"] == pytest.approx(expected.energy, rel=1e-11, abs=1e-12)
        Q = running.vector("contact.r")
        assert running["distance"] == pytest.approx(float((scene.r - Q) @ expected.n), abs=1e-14)
    assert 20 <= touching <= 75


@pytest.mark.parametrize("name", ["PointSphere", pytest.param("PointRevolution", marks=pytest.mark.slow)])
def test_several_points_on_one_surface_are_as_one_each(name: str, tmp_path: Path) -> None:
    """Force for force, and the reactions add up."""
    text = (shipped("fmus") / f"{name}.toml").read_text(encoding="utf-8")
    many = Running(build(tmp_path, "Many", text + "\n[structure]\npoints = 3\ncoupling = false\n"), PARAMETERS)
    one = Running(load_literal(name, tmp_path), PARAMETERS)
    three = scenes(SURFACES[name][1], 3)
    frame = three[0]
    total_f, total_t = np.zeros(3), np.zeros(3)
    for i, scene in enumerate(three, 1):
        r = frame.o + Rotation.from_quat(frame.q[[1, 2, 3, 0]]).apply(
            Rotation.from_quat(scene.q[[1, 2, 3, 0]]).inv().apply(scene.r - scene.o)
        )
        motion = {"r": r, "v": frame.v_o + scene.v - scene.v_o}
        many.set({f"point[{i}].{role}": value for role, value in motion.items()})
        one.set(frame.values() | {f"point.{role}": value for role, value in motion.items()})
        many.set(
            {
                f"surface.{role}": value
                for role, value in zip("rqvw", (frame.o, frame.q, frame.v_o, frame.w), strict=True)
            }
        )
        for wanted in ("depth", "normal_force", "friction_force"):
            assert many[f"{wanted}[{i}]"] == one[wanted]
        assert (many.vector(f"point[{i}].f") == one.vector("point.f")).all()
        total_f += one.vector("surface.f")
        total_t += one.vector("surface.t")
    assert many.vector("surface.f") == pytest.approx(total_f, abs=1e-12)
    assert many.vector("surface.t") == pytest.approx(total_t, abs=1e-12)


# ---- reach and singular points ---------------------------------------------------------------------------------------


def test_a_point_through_the_axis_keeps_the_last_normal_and_says_so(tmp_path: Path) -> None:
    ring = Running(load_literal("PointTorus", tmp_path), {"point.r": (0.0, 0.04, 0.0)})
    ring.step(1e-3)
    assert not ring["singular"]
    before = ring.vector("normal")
    ring.set({"point.r": (0.0, 0.0, 0.0)})
    assert ring["singular"]
    assert ring.vector("normal") == pytest.approx(before, abs=1e-15)
    assert ring["distance"] == pytest.approx(0.07, abs=1e-15)
    ring.step(1e-3)  # what it keeps survives the step on the axis
    assert ring.vector("normal") == pytest.approx(before, abs=1e-15)
    ring.set({"point.r": (-0.04, 0.0, 0.0)})
    assert not ring["singular"]
    assert ring.vector("normal") == pytest.approx([1.0, 0.0, 0.0], abs=1e-15)


def test_what_is_kept_belongs_to_the_state_of_the_fmu(tmp_path: Path) -> None:
    ring = Running(load_literal("PointTorus", tmp_path), {"point.r": (0.0, 0.04, 0.0)})
    ring.step(1e-3)
    state = ring.slave.get_state()
    ring.set({"point.r": (0.04, 0.0, 0.0)})
    ring.step(1e-3)
    for expected in ([-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]):
        ring.set({"point.r": (0.0, 0.0, 0.0)})
        assert ring.vector("normal") == pytest.approx(expected, abs=1e-15)
        ring.slave.call("fmi2SetFMUstate", state)
    ring.slave.free_state(state)


def test_the_limit_depth_may_grow_up_to_the_reach_and_no_further(tmp_path: Path) -> None:
    ring = Running(load_literal("PointTorus", tmp_path))
    assert ring["D_max"] == 0.03
    assert ring.slave.set({"D_max": 0.031}) == ERROR
    assert "D_max = 0.031 m is refused, it must be at most 0.03 m" in ring.told[-1]


REACH = {
    "sphere": ("radius = 0.2", 0.2),
    "hollow sphere": ("radius = 0.2\nside = 'inside'", None),
    "cylinder": ("radius = 0.2", 0.2),
    "cone": ("angle = '30 deg'\nz = [0.1, 0.5]", 0.1 * 0.5 / 0.75),  # z sin a / cos^2 a
    "hollow cone": ("angle = '30 deg'\nz = [0, 0.5]\nside = 'inside'", None),
    "torus": ("major_radius = 0.3\nminor_radius = 0.1", 0.1),
    "hollow torus": ("major_radius = 0.3\nminor_radius = 0.1\nside = 'inside'", 0.2),
    # the parabola y = x^2 bends most at its vertex, with the radius 1/2; its material above lies on the left
    "extrusion": (f"profile = {[[x / 10, x * x / 100] for x in range(-10, 11)]}\ncurve = 'spline'", 0.5),
    "hollow extrusion": (
        f"profile = {[[x / 10, x * x / 100] for x in range(-10, 11)]}\ncurve = 'spline'\nside = 'inside'", None
    ),
    # a tapered pin: its radius over the cosine of the taper
    "revolution": ("profile = [[0.1, 0.0], [0.2, 0.3]]", 0.1 * math.hypot(0.1, 0.3) / 0.3),
}  # fmt: skip


@pytest.mark.parametrize("name", REACH)
def test_the_limit_depth_starts_at_the_reach_of_the_surface(tmp_path: Path, name: str) -> None:
    keys, reach = REACH[name]
    model = load_model(recipe(tmp_path, f"kind = '{name.removeprefix('hollow ')}'\n{keys}\n"))
    limit = model["D_max"]
    if reach is None:
        assert (limit.start, limit.max) == (1.0, None)
        assert model.notes() == ()
    else:
        tolerance = 0.02 if "profile" in keys else 1e-15  # that of profiles is sampled
        assert limit.start == limit.max == pytest.approx(reach, rel=tolerance)
        (note,) = model.notes()
        assert note.startswith("the default of D_max is 0.") and "the reach of the surface" in note


def test_an_assembly_tells_the_default_of_its_part_once() -> None:
    notes = [note for note in load_model(shipped("fmus") / "SlidingOffSphere.toml").notes() if "D_max" in note]
    assert len(notes) == 1
    assert notes[0].startswith("PointSphere: the default of D_max is 0.1 m, the reach of the surface")


# ---- recipes ---------------------------------------------------------------------------------------------------------


def recipe(folder: Path, surface: str, rest: str = "", name: str = "Tip") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(f'element = "point_surface"\n{rest}\n[surface]\n{surface}', encoding="utf-8")
    return path


def test_points_that_are_one_beside_a_coordinate_that_is_too_large_are_named(tmp_path: Path) -> None:
    surface = "[surface]\nkind = 'revolution'\ncurve = 'spline'\nprofile = [[0.3, 0], [0.1, 0.2], [0.4, 1e30]]\n"
    (tmp_path / "Far.toml").write_text(f'element = "point_surface"\n{surface}', encoding="utf-8")
    with pytest.raises(InputError, match=r"points 1 and 2 are 0\.283 m apart, and the largest coordinate is 1e\+30 m"):
        load_model(tmp_path / "Far.toml")


def test_a_profile_from_a_file_is_the_same_as_one_in_the_recipe(tmp_path: Path) -> None:
    (tmp_path / "vase.csv").write_text(
        "distance [mm], height [mm]\n60, 0\n90, 60\n70, 140\n50, 200\n65, 250\n", encoding="utf-8"
    )
    surface = "kind = 'revolution'\nprofile = 'vase.csv'\ncurve = 'spline'\n"
    assert (
        load_model(recipe(tmp_path, surface)).constants
        == load_model(shipped("fmus") / "PointRevolution.toml").constants
    )


def test_a_closed_profile_is_full_whichever_way_it_is_written(tmp_path: Path) -> None:
    points = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]
    found = [
        load_model(recipe(tmp_path, f"kind = 'extrusion'\nprofile = {order}\n")).constants
        for order in (points, [points[k] for k in (0, 3, 2, 1, 4)])
    ]
    assert found[0] == found[1]


TORUS = "kind = 'torus'\nmajor_radius = 0.1\n"
TURNED = "kind = 'revolution'\nprofile = "
MOVED = "kind = 'extrusion'\nprofile = "
EIGHT = "[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]"
FAULTS = [
    ("kind = 'sphere'", "[surface] radius", "this key is missing"),
    ("kind = 'sphere'\nradius = -0.1", "[surface] radius", "-0.1 is refused: it must be greater than 0 m"),
    ("kind = 'sphere'\nradius = 0", "[surface] radius", "0 is refused: it must be greater than 0 m"),
    ("kind = 'sphere'\nradius = '5 kg'", "[surface] radius", "has the dimension kg but m is needed"),
    ("kind = 'sphere'\nradius = true", "[surface] radius", "true must be a number"),
    ("kind = 'sphere'\nradius = 1\nside = 'outsid'", "[surface] side", "did you mean 'outside'?"),
    ("kind = 'sphere'\nradius = 1\nx = [0, 1]", "[surface] x", "this key is unknown"),
    ("kind = 'plane'\nradius = 1", "[surface] radius", "this key is unknown"),
    ("kind = 'disc'\nradius = 1\nside = 'inside'", "[surface] side", "this key is unknown"),
    ("kind = 'cylinder'\nradius = 1\nlength = '-2 m'", "[surface] length", "'-2 m' is refused: it must be greater"),
    ("kind = 'cone'\nangle = '90 deg'\nz = [0.1, 1]", "[surface] angle", "'90 deg' is refused: it must be less than"),
    ("kind = 'cone'\nangle = '20 deg'\nz = [-1, 1]", "[surface] z", "from -1 m: the cone opens to +z"),
    ("kind = 'cone'\nangle = '20 deg'\nz = [0, 1]", "[surface] z", "begin above it, as z = [0.01, 1], or take side"),
    (TORUS + "minor_radius = 0.1", "[surface] minor_radius", "0.1 m must be less than major_radius = 0.1 m"),
    (MOVED + "[[0, 0]]", "[surface] profile", "1 points, and an open profile has at least 2"),
    (MOVED + "[[0, 0], [1, 0], [1, 0], [2, 3]]", "[surface] profile", "points 2 and 3 are both (1, 0) m: remove one"),
    ("kind = ['sphere']", "[surface] kind", "['sphere'] is none of plane, disc, sphere"),
    ("kind = { a = 1 }", "[surface] kind", "{'a': 1} is none of plane, disc, sphere"),
    (MOVED + "[[0, 0], [1]]", "[surface] profile", "2 quantities, or the name of a CSV file; point 2 is [1]"),
    (MOVED + "3", "[surface] profile", "must be a list of points of 2 quantities, or the name of a CSV file; it is 3"),
    (MOVED + "[[0, 0], [1, '1 s']]", "[surface] profile", "'1 s' has the dimension s but m is needed"),
    (MOVED + EIGHT, "[surface] profile", "crosses or touches itself near (0.5, 0.5) m, between the pieces"),
    (MOVED + EIGHT + "\ncurve = 'spline'", "[surface] profile", "crosses or touches itself"),
    (MOVED + "[[0, 0], [1, 0], [1, 1], [0.5, -1]]", "[surface] profile", "the pieces behind point 1 and point 3"),
    (TURNED + "[[0.1, 0], [-0.1, 1]]", "[surface] profile", "point 2: -0.1 m is not the distance of a point from"),
    (TURNED + "[[1, 0], [0, 1], [1, 2]]", "[surface] profile", "touches or crosses the axis at (0, 1) m between its"),
    (
        TURNED + "[[1, 0], [0.02, 0.3], [0.02, 0.7], [1, 1]]\ncurve = 'spline'",
        "[surface] profile",
        "touches or crosses the axis",
    ),
    (MOVED + "'none.csv'", "[surface] profile", "none.csv: cannot be read: No such file or directory"),
]  # fmt: skip


@pytest.mark.parametrize(("surface", "where", "words"), FAULTS)
def test_a_faulty_surface_is_told_once_with_file_key_value_and_rule(
    tmp_path: Path, surface: str, where: str, words: str
) -> None:
    path = recipe(tmp_path, surface + "\n")
    with pytest.raises(InputError) as caught:
        load_model(path)
    (problem,) = caught.value.problems
    assert str(problem).startswith(f"{path}: {where}")
    assert words in problem.what


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", "", "must be a CSV file with a header"),
        ("x [m], y [m], z [m]\n", "line 1", "3 columns, 2 are needed"),
        ("x [m], y [m]\n0, 0\n1, a\n", "line 3", "'a [m]' must start with a number"),
        ("x [m], y [m]\n0, 0\n1\n", "line 3", "1 values, 2 are needed"),
        ("x [m], y [s]\n0, 0\n", "line 1", "'1 [s]' has the dimension s but m is needed"),
        ("x [m], y [m]\n0, nan\n", "line 2", "nan"),
    ],
)
def test_a_faulty_profile_file_is_told_with_its_line(tmp_path: Path, text: str, line: str, words: str) -> None:
    file = tmp_path / "profile.csv"
    file.write_text(text, encoding="utf-8")
    path = recipe(tmp_path, "kind = 'extrusion'\nprofile = 'profile.csv'\n")
    with pytest.raises(InputError) as caught:
        load_model(path)
    told = str(caught.value.problems[0])
    assert str(file) in told
    assert line in told
    assert words in told


@pytest.mark.parametrize("depth", ["100 mm", "0.2 m", "1"])
def test_a_limit_depth_that_reaches_the_reach_is_refused(tmp_path: Path, depth: str) -> None:
    path = recipe(tmp_path, "kind = 'sphere'\nradius = '100 mm'\n", f'[start]\nD_max = "{depth}"\n')
    with pytest.raises(InputError) as caught:
        load_model(path)
    (problem,) = caught.value.problems
    assert problem.where == f"{path}: [start] D_max"
    assert problem.what.startswith(f"'{depth}' must be less than 0.1 m, the reach of the surface")
    assert "choose less" in problem.what


def test_the_kind_of_the_surface_is_given_in_one_place(tmp_path: Path) -> None:
    path = recipe(tmp_path, "kind = 'plane'\n", '[structure]\nsurface = "sphere"\n')
    with pytest.raises(InputError) as caught:
        load_model(path)
    (problem,) = caught.value.problems
    assert problem.where == f"{path}: [structure] surface"
    assert problem.what == "is given by [surface] kind: remove it here"


# ---- edges -----------------------------------------------------------------------------------------------------------

OVER_THE_EDGE = """
connections = [["mass.p", "edge.point"]]
[parts]
mass = {{ recipe = "PointMass", start = {{ g = [0, 0, 0], r0 = {r}, v0 = {v} }} }}
edge = {{ recipe = "{surface}", start = {{ C_F = 1e4 }} }}
[expose.outputs]
position = "mass.p.r"
velocity = "mass.p.v"
"""
# Along the surface over its edge at 2 m/s, 1 mm deep, with the time to the edge.  Across that the mass swings through
# the surface: h = h_0 cos(w t), w = 100 rad/s.
EDGES = {
    "disc": ("kind = 'disc'\nradius = 0.1\n", [0.09, 0, -1e-3], [2, 0, 0], 0.005),
    "cylinder": ("kind = 'cylinder'\nradius = 0.1\nlength = 0.4\n", [0.099, 0, 0.19], [0, 0, 2], 0.005),
    "cone": (
        "kind = 'cone'\nangle = '45 deg'\nz = [0.1, 0.2]\nside = 'inside'\n",
        [0.19 + 1e-3 * math.sqrt(0.5), 0, 0.19 - 1e-3 * math.sqrt(0.5)],
        [math.sqrt(2), 0, math.sqrt(2)],
        0.01 * math.sqrt(2) / 2,
    ),
    "revolution": (TURNED + "[[0.1, -0.2], [0.1, 0.2]]\n", [0.099, 0, 0.19], [0, 0, 2], 0.005),
    "extrusion": (MOVED + "[[0, 0], [1, 0]]\nside = 'inside'\n", [0.99, -1e-3, 0], [2, 0, 0], 0.005),
    "height_field": (
        "kind = 'height_field'\nx = [0, 1]\ny = [-1, 1]\nheights = [[0, 0], [0, 0]]\n",
        [0.99, 0, -1e-3],
        [2, 0, 0],
        0.005,
    ),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n not in ("disc", "revolution") else []) for n in EDGES]
)
def test_an_edge_ends_the_contact_where_it_is_crossed(tmp_path: Path, name: str) -> None:
    """The energy that is stored there is booked as destroyed, whatever the communication steps."""
    surface, r, v, time = EDGES[name]
    recipe(tmp_path, surface, name="Edge")
    fmu = build(tmp_path, "Over", OVER_THE_EDGE.format(r=r, v=v, surface=str(tmp_path / "Edge.toml")))
    stored = 0.5 * 1e4 * (1e-3 * math.cos(100.0 * time)) ** 2
    for steps in (1, 7):
        running = Running(fmu, {})
        for _ in range(steps):
            running.step(0.008 / steps)
        if name in ("cylinder", "revolution", "cone"):  # the way back through a bent surface is not that of a plane
            stored = running["edge.energy.switched"]
            assert stored == pytest.approx(0.5 * 1e4 * (1e-3 * math.cos(100.0 * time)) ** 2, rel=1e-7)
        assert running["edge.energy.switched"] == pytest.approx(stored, rel=1e-7)
        assert running["edge.contact_time"] == pytest.approx(time, rel=1e-8)
        assert abs(running["edge.energy.residual"]) < 1e-8


@pytest.mark.slow
def test_every_kind_compiles_without_a_ledger(tmp_path: Path) -> None:
    """And without states: the indicators and the memory of a surface are there all the same."""
    path = recipe(tmp_path, "kind = 'cylinder'\nradius = 0.1\n", "[structure]\nledger = false\npoints = 2\n")
    assert host_fmu(path).is_file()
