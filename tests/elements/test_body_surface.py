"""body_surface: samples of a skin, closed forms of a ball on a plane, its sums by numpy, meshes as surfaces."""

from __future__ import annotations

import math
import re
import shutil
from ctypes import c_void_p
from pathlib import Path

import numpy as np
import pytest
import trimesh
from fmi2 import OK, QUICK, Fmu, load_shipped
from numpy.typing import NDArray
from running import Running, build
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from test_surface_kinds import SURFACES

from fmu_builder.errors import InputError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.model import samples
from fmu_builder.model.loader import load_model
from fmu_builder.model.mesh import read_mesh
from fmu_builder.paths import load_module, shipped

MESHES = shipped("fmus") / "meshes"
R, E, K = 0.1, 1e9, 1e8  # m, Pa, Pa/m
EVERYWHERE = ((-9.0, 9.0),) * 3
LOWER = (*EVERYWHERE[:2], (-R, -0.65 * R))
HERTZ = f'[functions]\nC_p = "hertz"\n[start]\n"laws.hertz_R" = {R}\n"laws.hertz_E" = {E}\n'


def written(folder: Path, mesh: trimesh.Trimesh) -> Path:
    path = folder / "part.stl"
    path.write_bytes(mesh.export(file_type="stl"))
    return path


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20,480 triangles with edges of 3.5 mm, in mm."""
    return written(tmp_path_factory.mktemp("ball"), trimesh.creation.icosphere(subdivisions=5, radius=1000.0 * R))


def recipe(folder: Path, name: str, skin: Path, keys: str, surface: str, rest: str) -> Path:
    """With copies of the files beside it."""
    path = folder / f"{name}.toml"
    body = f'[skin]\nfile = "{skin.as_posix()}"\nunit = "mm"\n{keys}\n'
    text = f'element = "body_surface"\n{body}[surface]\n{surface}\n{rest}'
    for k, place in enumerate(re.findall('file = "(.*)"', text)):
        if not Path(place).is_absolute():
            continue
        beside = f"{name}_{k}_{Path(place).name}"
        shutil.copy(place, folder / beside)
        text = text.replace(f'"{place}"', f'"{beside}"', 1)
    path.write_text(text, encoding="utf-8")
    return path


# ---- samples ---------------------------------------------------------------------------------------------------------


def test_areas_of_samples_add_up_and_a_linear_pressure_on_a_thin_plate_has_its_force_and_moment(tmp_path: Path) -> None:
    mesh = read_mesh(written(tmp_path, trimesh.creation.box((0.4, 0.2, 0.002))), 1.0)
    for found in (samples.spread(mesh, 80, EVERYWHERE), samples.at_vertices(mesh, EVERYWHERE)):
        assert found.areas.sum() == pytest.approx(mesh.area, rel=1e-12)
    found = samples.spread(mesh, 400, EVERYWHERE)
    flat = np.abs(np.abs(found.places[:, 2]) - 0.001) < 1e-9
    at_rim = (np.abs(found.places[:, :2]) > [0.19, 0.09]).any(axis=1)
    assert (flat | at_rim).all(), "no sample lies between the sides, which are closer than samples are"
    upper = flat & (found.places[:, 2] > 0.0)
    x, areas = found.places[upper, 0], found.areas[upper]
    pressure = 1.0 + 3.0 * x
    assert (areas * pressure).sum() == pytest.approx(0.08, rel=5e-3)
    assert (areas * pressure * x).sum() == pytest.approx(3.0 * 0.2 * 0.4**3 / 12.0, rel=1e-2)


def test_a_box_limits_the_samples_and_their_area(ball: Path) -> None:
    mesh = read_mesh(ball, 1e-3)
    found = samples.spread(mesh, 300, LOWER)
    assert len(found.areas) == 300 and found.places[:, 2].max() < -0.65 * R
    assert found.areas.sum() == pytest.approx(2.0 * math.pi * R * 0.35 * R, rel=1e-3)
    assert found.areas.max() < 2.0 * found.areas.min(), "they are spread evenly"


def test_the_balls_of_the_tree_hold_their_samples_and_each_sample_is_in_it_once(ball: Path) -> None:
    found = samples.spread(read_mesh(ball, 1e-3), 333, EVERYWHERE)
    rows, nodes = samples.tables(found)
    assert sorted(rows[:, 3]) == sorted(found.areas)
    first = 0
    begins = []
    for node, (*_, samples_end, nodes_end) in enumerate(nodes.tolist()):
        begins.append(first)
        if nodes_end == node + 1:  # a leaf
            assert samples_end - first <= samples.LEAF
            first = int(samples_end)
    assert first == 333
    for begin, (*centre, radius, samples_end, _) in zip(begins, nodes.tolist(), strict=True):
        away = np.linalg.norm(rows[begin : int(samples_end), :3] - centre, axis=1)
        assert away.max() <= radius


def test_the_ball_of_the_catalogue_is_what_its_script_writes() -> None:
    assert (MESHES / "ball.stl").read_bytes() == load_module(MESHES / "ball.py").ball()


# ---- recipes ---------------------------------------------------------------------------------------------------------


def test_a_recipe_with_faults_names_all_of_them(tmp_path: Path) -> None:
    (tmp_path / "empty.stl").write_bytes(b"")
    written(tmp_path, trimesh.creation.box((1.0, 2.0, 3.0)))

    def problems(body: str, surface: str = 'kind = "plane"') -> str:
        path = tmp_path / "Body.toml"
        path.write_text(f'element = "body_surface"\n[skin]\n{body}\n[surface]\n{surface}\n', encoding="utf-8")
        with pytest.raises(InputError) as error:
            load_model(path)
        return str(error.value)

    text = problems("flie = 'part.stl'\nscale = 0\nsamples = 10001\nz = [1, 0]", "kind = 'disc'\nradius = -1")
    for what in ("flie: this key is unknown", "file: this key is missing", "unit: this key is missing",
                 "scale: 0 is refused", "samples: 10001 must be a whole number from 1 to 10000, or 'vertices'",
                 "[skin] z", "radius: -1 is refused"):  # fmt: skip
        assert what in text, text
    for count in ("0", "-3", "1.5", "true", "'corners'"):
        assert "samples:" in problems(f"file = 'part.stl'\nunit = 'm'\nsamples = {count}")
    assert "empty.stl: is empty" in problems("file = 'empty.stl'\nunit = 'm'")
    assert "is the unit of its numbers right?" in problems("file = 'part.stl'\nunit = 'km'\nscale = 10")
    assert "[skin] unit" in problems("file = 'part.stl'\nunit = 'kg'")
    for place in ("../part.stl", "parts/../../part.stl", (tmp_path / "part.stl").as_posix()):
        assert f"[skin] file: '{place}' lies outside the folder of" in problems(f"file = '{place}'\nunit = 'm'")
    text = problems("file = 'part.stl'\nunit = 'm'\nz = [5, 6]")
    assert "[skin] samples: the mesh has no area" in text and "y = -1 to 1 m, z = -1.5 to 1.5 m" in text
    assert "no vertex" in problems("file = 'part.stl'\nunit = 'm'\nsamples = 'vertices'\nz = [5, 6]")
    fine = trimesh.creation.icosphere(subdivisions=5)
    (tmp_path / "part.stl").write_bytes(fine.export(file_type="stl"))
    text = problems("file = 'part.stl'\nunit = 'm'\nsamples = 'vertices'")
    assert "10242 vertices there, and at most 10000 samples" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Body.toml", "empty.stl", "part.stl"]


def test_an_open_mesh_is_taken_and_the_model_says_how_its_area_is_divided(tmp_path: Path) -> None:
    (tmp_path / "plate.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8")
    path = recipe(tmp_path, "Plate", tmp_path / "plate.obj", "samples = 20\nscale = 1000", 'kind = "plane"', "")
    model = load_model(path)
    assert any("20 samples of 0.5 m2 of" in note for note in model.notes())
    assert model["body.r[3]"].start > 0.8, "it starts clear of the surface"
    assert len(model.variables) < 120, "no variable belongs to one sample"


# ---- closed forms ----------------------------------------------------------------------------------------------------


def test_a_ball_of_500_samples_on_a_plane_has_the_force_of_hertz_within_two_percent(ball: Path, tmp_path: Path) -> None:
    """F = 4/3 E sqrt(R) d^(3/2) from p = E/pi sqrt(h/R), and the energy 2/5 F d; no friction, no moment but that of the
    sampling."""
    path = recipe(tmp_path, "Hertz", ball, 'samples = 500\nz = ["-100 mm", "-65 mm"]', 'kind = "plane"', HERTZ)
    fmu = Fmu(host_fmu(path, QUICK), tmp_path)
    for depth in np.linspace(0.05, 0.3, 6) * R:
        running = Running(fmu, {"body.r": (0.0, 0.0, R - depth)})
        force = 4.0 / 3.0 * E * math.sqrt(R) * depth**1.5
        assert running["normal_force"] == pytest.approx(force, rel=0.02)
        assert running.vector("body.f") == pytest.approx([0.0, 0.0, running["normal_force"]], rel=1e-14)
        assert running["energy.elastic"] == pytest.approx(0.4 * force * depth, rel=0.02)
        assert running["depth"] == pytest.approx(depth, abs=0.005 * R)
        assert running["contact_area"] == pytest.approx(2.0 * math.pi * R * depth, rel=0.05)
        assert np.abs(running.vector("contact.r")).max() < 0.01 * R
        assert np.abs(running.vector("body.t")).max() < 0.01 * R * force


@pytest.mark.slow
def test_the_forces_of_a_ball_converge_with_its_samples(tmp_path: Path) -> None:
    """Root mean square of the errors over depths of 5 to 30 mm; 327,680 triangles, so that facets do not show."""
    fine = written(tmp_path, trimesh.creation.icosphere(subdivisions=7, radius=1000.0 * R))
    mesh, depths = read_mesh(fine, 1e-3), np.linspace(0.05, 0.3, 26) * R
    errors = []
    for count in (125, 500, 2000):
        found = samples.spread(mesh, count, LOWER)
        h = np.maximum(-found.places[:, 2] - (R - depths[:, None]), 0.0)
        foundation = (h @ found.areas) / (math.pi * R * depths**2) - 1.0
        hertz = (np.sqrt(h) @ found.areas) / (4.0 / 3.0 * math.pi * R * depths**1.5) - 1.0
        errors.append([np.sqrt(np.mean(one**2)) for one in (foundation, hertz)])
    assert (np.array(errors[1]) < [0.002, 0.004]).all()
    assert (np.array(errors[2]) < np.array(errors[0]) / 8.0).all(), "with 16 times as many samples"


# ---- against sums of its own, and against other FMUs ---------------------------------------------------------------

MOTION = {
    "body.r": (0.012, -0.02, 0.03), "body.q": (0.9, 0.1, -0.3, 0.2), "body.v": (0.3, -0.2, -0.4),
    "body.w": (2.0, -1.0, 3.0), "surface.r": (0.01, 0.02, -0.05), "surface.q": (0.95, -0.05, 0.1, 0.2),
    "surface.v": (0.1, 0.05, -0.1), "surface.w": (0.5, 1.0, -0.4),
}  # fmt: skip
LAW = "[start]\nC_p = 1e8\nK_fr = 0.3\nC_r = 0.5\nD_max = 0.015\n"


def turned(q: tuple[float, ...]) -> NDArray[np.float64]:
    return np.asarray(Rotation.from_quat(q, scalar_first=True).as_matrix())


@pytest.mark.slow
def test_forces_and_moments_on_moving_bodies_are_sums_over_all_samples(ball: Path, tmp_path: Path) -> None:
    """Written anew with numpy, without a tree: restitution, friction on the ramp and above, depths beyond D_max."""
    path = recipe(tmp_path, "Plane", ball, "samples = 700", 'kind = "plane"', LAW)
    running = Running(Fmu(host_fmu(path, QUICK), tmp_path), MOTION)
    rows, _ = samples.tables(samples.spread(read_mesh(ball, 1e-3), 700, EVERYWHERE))
    value = {name: np.array(given) for name, given in MOTION.items()}
    n = turned(MOTION["surface.q"])[:, 2]
    arm = rows[:, :3] @ turned(MOTION["body.q"]).T
    at = value["body.r"] + arm - value["surface.r"]
    h = -at @ n
    v = value["body.v"] + np.cross(value["body.w"], arm) - value["surface.v"] - np.cross(value["surface.w"], at)
    w = -v @ n
    slip = v + w[:, None] * n
    speed = np.linalg.norm(slip, axis=1)
    loss, delta = 0.75, 0.5 + 0.25 * 0.5
    d = np.clip(100.0 * w, -0.5 * loss / delta, 0.5 * loss / delta)
    acts = (h > 0.0) & (h <= 0.015)
    assert 20 < acts.sum() < (h > 0.0).sum(), "some are deeper than D_max"
    N = np.where(acts, rows[:, 3] * 1e8 * h * (1.0 + d), 0.0)
    force = N[:, None] * n - (0.3 * N * np.minimum(100.0, 1.0 / speed))[:, None] * slip
    assert running.vector("body.f") == pytest.approx(force.sum(axis=0), rel=1e-11)
    assert running.vector("body.t") == pytest.approx(np.cross(arm, force).sum(axis=0), rel=1e-10)
    assert running.vector("surface.f") == pytest.approx(-force.sum(axis=0), rel=1e-11)
    assert running.vector("surface.t") == pytest.approx(-np.cross(at, force).sum(axis=0), rel=1e-10)
    assert running["depth"] == pytest.approx(h.max(), rel=1e-12)
    assert running["contact_samples"] == acts.sum()
    assert running["power.work"] == pytest.approx(-(force * v).sum(), rel=1e-11)
    running.set({"body.r": (0.0, 0.0, 1.0)})
    at = np.array([0.0, 0.0, 1.0]) + arm - value["surface.r"]
    assert running["distance"] == pytest.approx((at @ n).min(), rel=1e-12), "of the nearest sample, apart as well"
    assert running["normal_force"] == 0.0 and running.vector("body.t") == pytest.approx([0.0, 0.0, 0.0], abs=0.0)


@pytest.mark.slow
def test_samples_meet_each_kind_of_surface_as_points_do(tmp_path: Path) -> None:
    """Those of an icosahedron of 2 mm, pressed by their areas along the normals of surfaces that are written anew."""
    grain = written(tmp_path, trimesh.creation.icosahedron())
    found = samples.at_vertices(read_mesh(grain, 1e-3), EVERYWHERE)
    for name in ("PointCylinder", "PointCone", "PointTorus", "PointRevolution", "PointExtrusion"):
        text = (shipped("fmus") / f"{name}.toml").read_text(encoding="utf-8")
        table = text.partition("[surface]")[2].partition("[start]")[0]
        law = "[start]\nC_p = 1e8\nC_r = 1\nK_fr = 0\nD_max = 0.01\n"
        path = recipe(tmp_path, f"On{name}", grain, 'samples = "vertices"', table, law)
        body = Running(Fmu(host_fmu(path, QUICK), tmp_path))
        surface, place = SURFACES[name]
        random, touched = np.random.default_rng(4), 0
        for _ in range(40):
            r = place(random) + random.uniform(-9e-3, 9e-3, 3)
            body.set({"body.r": r})
            force = np.zeros(3)
            for arm, area in zip(found.places, found.areas, strict=True):
                h, n, on = surface(r + arm)
                force += area * 1e8 * h * n * (on and 0.0 < h <= 0.01)
            assert body.vector("body.f") == pytest.approx(force, rel=1e-10, abs=1e-10)
            touched += force.any()
        assert 5 < touched < 40, name


BOWL = f'kind = "mesh"\nfile = "{(MESHES / "bowl.stl").as_posix()}"\nunit = "mm"\nopen = true\nside = "inside"'
SMALL = "samples = 400\nscale = 0.4"
IN_BOWL = {"body.r": (0.01, 0.02, -0.0585), "body.v": (0.2, 0.1, -0.3), "body.w": (1.0, 2.0, 3.0)}


@pytest.fixture(scope="module")
def in_bowl(ball: Path, tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    folder = tmp_path_factory.mktemp("bowl")
    return Fmu(host_fmu(recipe(folder, "InBowl", ball, SMALL, BOWL, LAW), QUICK), folder)


@pytest.mark.slow
def test_balls_of_the_tree_leave_out_no_sample_that_touches_a_mesh(
    in_bowl: Fmu, ball: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "LEAF", samples.MOST_SAMPLES)  # one ball around all
    whole = Fmu(host_fmu(recipe(tmp_path, "Whole", ball, SMALL, BOWL, LAW), QUICK), tmp_path)
    one, all_of_them = Running(in_bowl, IN_BOWL), Running(whole, IN_BOWL)
    random, touched = np.random.default_rng(3), 0
    for _ in range(60):
        away = random.normal(size=3) * [1.0, 1.0, 0.5] - [0.0, 0.0, 1.0]
        place = {"body.r": away / np.linalg.norm(away) * random.uniform(0.045, 0.072), "body.q": random.normal(size=4)}
        for running in (one, all_of_them):
            running.set(place)
        touched += one["contact_samples"] > 0.0
        for name in ("contact_samples", "distance"):
            assert one[name] == all_of_them[name]
        for name in ("body.f", "body.t", "surface.t"):
            expected = all_of_them.vector(name)
            assert one.vector(name) == pytest.approx(expected, rel=1e-11, abs=1e-9)
    assert 20 < touched < 60


@pytest.mark.slow
def test_a_ball_in_a_bowl_of_triangles_has_the_forces_of_that_in_a_sphere(
    in_bowl: Fmu, ball: Path, tmp_path: Path
) -> None:
    """The smooth triangles of the bowl, with edges of 14 mm, lie within 3 um of the sphere."""
    surface = f'kind = "sphere"\nradius = {R}\nside = "inside"'
    sphere = Fmu(host_fmu(recipe(tmp_path, "Sphere", ball, SMALL, surface, LAW), QUICK), tmp_path)
    one, other = Running(in_bowl, IN_BOWL), Running(sphere, IN_BOWL)
    assert other["contact_samples"] > 10
    for name in ("body.f", "surface.t"):
        assert one.vector(name) == pytest.approx(other.vector(name), rel=0.02, abs=0.02 * other["normal_force"] * R)
    assert one["normal_force"] == pytest.approx(other["normal_force"], rel=0.01)
    assert one["depth"] == pytest.approx(other["depth"], abs=3e-6)


@pytest.mark.slow
def test_a_ball_of_ten_thousand_samples_rolls_over_a_shared_edge_as_on_a_plane(ball: Path, tmp_path: Path) -> None:
    """Forces, moments and energies to 1e-12 of their size, over two triangles and their edge, with friction."""
    (tmp_path / "floor.obj").write_text("v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3\nf 1 3 4\n", encoding="utf-8")
    surfaces = {"Flat": 'kind = "plane"', "Edge": 'kind = "mesh"\nfile = "floor.obj"\nunit = "m"\nopen = true'}
    skin = 'samples = "vertices"\nz = ["-100 mm", "95 mm"]'
    paths = [recipe(tmp_path, name, ball, skin, surface, LAW) for name, surface in surfaces.items()]
    plane, mesh = (Running(Fmu(host_fmu(path, QUICK), tmp_path)) for path in paths)
    names = [f"{port}[{i}]" for port in ("body.f", "body.t", "surface.f", "surface.t") for i in (1, 2, 3)]
    names += ["contact_samples", "depth", "energy.elastic", "friction_force", "power.friction", "contact_area"]
    for way in np.linspace(-0.015, 0.015, 11):
        turn, speed = way / R, 0.5
        values = {"body.r": (way, 0.0, R - 0.004), "body.q": (math.cos(turn / 2.0), 0.0, math.sin(turn / 2.0), 0.0),
                  "body.v": (speed, 0.0, -0.02), "body.w": (0.0, 0.9 * speed / R, 0.0)}  # fmt: skip
        for running in (plane, mesh):
            running.set(values)
        expected = plane.values(names)
        assert expected[12] > 100 and expected[15] > 0.0
        assert mesh.values(names) == pytest.approx(expected, rel=1e-12, abs=1e-12 * plane["normal_force"])
    assert 9_900 < len(samples.at_vertices(read_mesh(ball, 1e-3), (*EVERYWHERE[:2], (-R, 0.095))).areas) <= 10_000


@pytest.mark.slow
def test_directional_derivatives_on_a_mesh_are_differences_of_forces(in_bowl: Fmu) -> None:
    """Central ones over a way on which no sample begins or ends its contact."""
    unknowns = [f"{port}[{i}]" for port in ("body.f", "body.t", "surface.t") for i in (1, 2, 3)]
    running = Running(in_bowl, IN_BOWL)
    for seed, at in (("body.r[3]", -0.0585), ("body.q[2]", 0.0), ("body.v[1]", 0.2), ("surface.w[2]", 0.0)):
        exact = np.array(running.directional(unknowns, {seed: 1.0}))
        sides = []
        for step in (1e-8, -1e-8):
            running.set({seed: at + step})
            sides.append(running.values(unknowns))
        running.set({seed: at})
        assert exact == pytest.approx((sides[0] - sides[1]) / 2e-8, rel=1e-5, abs=1e-5 * np.abs(exact).max())


@pytest.mark.slow
def test_a_saved_state_repeats_the_contact_of_hundreds_of_samples_with_a_mesh_to_the_bit(in_bowl: Fmu) -> None:
    running = Running(in_bowl, IN_BOWL)

    def way(first: int) -> list[bytes]:
        found = []
        for k in range(first, first + 15):
            running.set({"body.r": (0.01 + 4e-4 * k, 0.02, -0.0585), "body.q": (1.0, 0.02 * k, 0.0, 0.0)})
            running.step(1e-3)
            found.append(b"".join(running.vector(name).tobytes() for name in ("body.f", "body.t", "contact.r")))
        return found

    way(0)
    state, time = running.slave.state(), running.time
    first, place = way(15), c_void_p()
    assert running["contact_samples"] > 10 and len(set(first)) == 15
    assert running.slave.deserialize(state, place) == OK
    assert running.slave.call("fmi2SetFMUstate", place) == OK
    running.slave.free_state(place)
    running.time = time
    assert way(15) == first


# ---- line contact ----------------------------------------------------------------------------------------------------

LONG, SHORT, OFF, NOSE, SPEED = 0.03, 0.024, 0.006, 0.006, 60.0  # m: axes of the cam, its pivot, radius; rad/s
ROOT = f"sqrt(({SHORT}*cos(#s))^2 + ({LONG}*sin(#s))^2)"
FOLLOWER = f"""
element = "planar_mechanism"
[start]
g = [0, 0]
[[body]]
name = "cam"
joint = "revolute"
mass = "1 kg"
inertia = "1e-3 kg.m2"
motion = "{SPEED}[rad/s]*#t"
[[body]]
name = "follower"
on = "ground"
joint = "prismatic"
angle = "90 deg"
mass = "0.5 kg"
inertia = 1
stiffness = "5000 N/m"
free = "10 mm"
start = "30 mm"
closes = true
[[constraint]]
kind = "profile"
body = "follower"
on = "cam"
curve_x = "{OFF}[m] + {LONG}[m]*cos(#s) + {NOSE * SHORT}[m]*cos(#s)/{ROOT}"
curve_y = "{SHORT}[m]*sin(#s) + {NOSE * LONG}[m]*sin(#s)/{ROOT}"
range = [0, {2.0 * math.pi}]
closed = true
side = "above"
unilateral = true
"""


def flank(folder: Path, curve: NDArray[np.float64], width: float, rows: int) -> Path:
    """Triangles over a curve in the plane (x, y), shape (n, 2), that is moved along z; the material is on its left."""
    n, z = len(curve), np.linspace(-width / 2.0, width / 2.0, rows + 1)
    at = np.column_stack([np.tile(curve, (rows + 1, 1)), np.repeat(z, n)]) * 1000.0
    a = (np.arange(rows)[:, None] * n + np.arange(n - 1)).ravel()
    faces = np.vstack([np.column_stack([a, a + 1, a + 1 + n]), np.column_stack([a, a + 1 + n, a + n])])
    folder.mkdir()
    return written(folder, trimesh.Trimesh(at, faces, process=False))


@pytest.mark.slow
def test_a_rounded_tooth_rides_on_a_cam_of_triangles_as_the_follower_of_the_mechanism(tmp_path: Path) -> None:
    """Lines of samples along a rounded tip, on an eccentric elliptic cam of triangles, against planar_mechanism, whose
    pointed follower rides on the curve of the tip's centre.  At the mechanism's lift the tooth is off the cam by no
    more than its polygon of lines is off the tip, which falls with the square of their number.  Pressed as hard as the
    contact of the mechanism, it turns the cam as hard, but for the shift of the force to a line of samples."""
    turn = np.linspace(0.0, 2.0 * math.pi, 721)
    turn[-1] = 0.0  # to the bit
    ellipse = np.column_stack([OFF + LONG * np.cos(turn), SHORT * np.sin(turn)])
    cam = flank(tmp_path / "cam", ellipse, 0.02, 4)
    surface = f'kind = "mesh"\nfile = "{cam.as_posix()}"\nunit = "mm"\nopen = true'
    rigid = Running(build(tmp_path, "Follower", FOLLOWER))
    names = ["q[2]", "contact[1].N", "joint[1].drive"]
    poses = []
    for _ in range(20):
        rigid.step(5.4e-3)
        poses.append((SPEED * rigid.time, *rigid.values(names)))
    assert rigid["contact[1].departures"] == 0 and np.ptp([pose[1] for pose in poses]) > 0.01

    round_ = SHORT**2 / LONG  # m, its least radius of curvature: a disc of it fits into the cam at every place
    gaps, shifts = [], []
    for lines in (16, 64):
        way = math.pi * (1.0 + np.arange(lines + 1) / lines)
        tip = flank(tmp_path / f"tip{lines}", NOSE * np.column_stack([np.cos(way), np.sin(way)]), 0.01, 3)
        law = "[start]\nC_p = 1e13\nK_fr = 0\nC_r = 1\n"
        path = recipe(tmp_path, f"Tooth{lines}", tip, 'samples = "vertices"', surface, law)
        tooth = Running(Fmu(host_fmu(path, QUICK), tmp_path))
        half = math.pi / lines / 2.0
        sag = math.sqrt(round_**2 + 2.0 * NOSE * (NOSE + round_) * (1.0 - math.cos(half))) - round_
        gap, shift = [], []
        for angle, lift, N, drive in poses:
            tooth.set({"surface.q": (math.cos(angle / 2.0), 0.0, 0.0, math.sin(angle / 2.0))})

            def lower(way: float, lift: float = lift, tooth: Running = tooth) -> None:
                tooth.set({"body.r": (0.0, lift - way, 0.0)})

            def missing(way: float, N: float = N, tooth: Running = tooth) -> float:
                lower(way)
                return tooth["normal_force"] - N

            lower(0.0)
            gap.append(tooth["distance"])
            lower(brentq(missing, -1e-5, 1e-4, xtol=1e-10))
            assert abs(tooth["contact.r[3]"]) < 1e-4, "the middle of the line, but for 5 nm in depths of micrometres"
            shift.append(abs(tooth["surface.t[3]"] + drive) / tooth["normal_force"])
        assert min(gap) > -5e-9 and max(gap) < sag + 5e-9, "triangles and their single precision: 5 nm"
        assert max(shift) < NOSE * half * (1.0 + (LONG + OFF) * LONG / SHORT**2)
        gaps.append(max(gap))
        shifts.append(max(shift))
    assert gaps[0] / gaps[1] == pytest.approx(16.0, rel=0.2), gaps
    assert shifts[0] / shifts[1] > 3.0, shifts


# ---- the ball of the catalogue -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_ball_that_slides_ends_up_rolling_at_five_sevenths_of_its_speed(tmp_path: Path) -> None:
    """v = w R for small depths, 5/7 of v0 whatever the friction is; the ledger closes to 1e-6 J."""
    fmu = load_shipped("BallOnFloor", tmp_path)
    rest = R - math.sqrt(2.0 * 9.81 / (math.pi * 2e7 * R))
    start = {"initial_position": (0.0, 0.0, rest), "initial_velocity": (1.0, 0.0, 0.0)}
    running = Running(fmu, start | {"initial_angular_velocity": (0.0, 0.0, 0.0)}, tolerance=1e-9)
    for _ in range(100):
        running.step(0.01)
    speed, spin = running.vector("velocity")[0], running.vector("angular_velocity")[1]
    assert speed == pytest.approx(5.0 / 7.0, rel=0.02)
    assert speed == pytest.approx(spin * R, rel=0.03)
    assert abs(running["floor.energy.residual"]) < 1e-6


@pytest.mark.parametrize("law", ["", HERTZ])
def test_what_a_changed_law_takes_of_the_energy_is_switched(ball: Path, tmp_path: Path, law: str) -> None:
    """The body stands still: nothing does work."""
    path = recipe(tmp_path, "Plane", ball, "samples = 500", 'kind = "plane"', law)
    running = Running(Fmu(host_fmu(path, QUICK), tmp_path), {"body.r": (0.0, 0.0, 0.9 * R)})
    start, stiffer = running["energy.elastic"], {"laws.hertz_E": 2 * E} if law else {"C_p": 2e9}
    changes: tuple[tuple[dict[str, float], float], ...] = (
        (stiffer, -start), ({"work": 0.0}, start), ({"work": 1.0}, -start), ({"D_max": 1e-6}, start),
    )  # fmt: skip
    for change, switched in changes:
        running.set(change)
        running.step(1e-4)
        assert running["energy.switched"] == pytest.approx(switched, rel=1e-9)
        assert abs(running["energy.residual"]) < 1e-12 * start
