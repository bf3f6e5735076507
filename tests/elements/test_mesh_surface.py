"""point_surface on meshes: recipes and their messages, and that all that works on a plane works on triangles of one."""

from __future__ import annotations

import math
import shutil
from ctypes import c_void_p
from pathlib import Path

import numpy as np
import pytest
from fmi2 import OK, QUICK, Fmu, load_shipped
from fmpy import simulate_fmu
from running import Running
from scipy.spatial import Delaunay
from scipy.special import ellipk

from fmu_builder.errors import InputError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.model.element_model import load_element
from fmu_builder.model.loader import load_model
from fmu_builder.model.mesh import read_mesh
from fmu_builder.pages.scene import element_items
from fmu_builder.paths import load_module, shipped

FMUS = shipped("fmus")
G, R = 9.81, 0.1
MESH = '[surface]\nkind = "mesh"\nunit = "mm"\nfile = "floor.obj"\nopen = true\n'
FLOORS = {"plane": '[surface]\nkind = "plane"\nx = ["-2 m", "2 m"]\ny = ["-2 m", "2 m"]\n', "mesh": MESH}
START = "[start]\nC_F = 1e5\nK_fr = 0.3\nC_r = 0.5\nD_max = 0.5\n"


def write_floor(folder: Path) -> None:
    """Random triangles over a square of 4 m."""
    random = np.random.default_rng(8).uniform(-2000.0, 2000.0, (200, 2))
    at = np.vstack([random, [[-2000.0, -2000.0], [2000.0, -2000.0], [-2000.0, 2000.0], [2000.0, 2000.0]]])
    lines = [f"v {x!r} {y!r} 0" for x, y in at.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in Delaunay(at).simplices.tolist()]
    (folder / "floor.obj").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def floors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same floor as a plane and as a mesh."""
    folder = tmp_path_factory.mktemp("floors")
    write_floor(folder)
    for kind, surface in FLOORS.items():
        (folder / f"Floor_{kind}.toml").write_text(f'element = "point_surface"\n{surface}{START}', encoding="utf-8")
    return {kind: folder / f"Floor_{kind}.toml" for kind in FLOORS}


@pytest.fixture(scope="module")
def both(floors: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Fmu]:
    return {kind: Fmu(host_fmu(path, QUICK), tmp_path_factory.mktemp(kind)) for kind, path in floors.items()}


def slide(t: float) -> dict[str, np.ndarray]:
    """A point that dips into the floor as it moves across it."""
    return {
        "point.r": np.array([-1.0 + 0.9 * t, 0.5 - 0.7 * t, -1e-3 * np.sin(5.0 * t)]),
        "point.v": np.array([0.9, -0.7, -5e-3 * np.cos(5.0 * t)]),
        "surface.r": np.array([0.01, 0.0, 0.0]),
        "surface.q": np.array([0.9, 0.0, 0.0, 0.3]),
    }


VECTORS = ("point.f", "surface.f", "surface.t", "normal", "contact.r")
NUMBERS = ("depth", "depth_rate", "normal_force", "friction_force", "slip_speed", "in_contact", "impulse",
           "energy.friction", "energy.damping", "energy.work", "energy.switched", "energy.elastic",
           "last_contact.impact_speed", "peak_force", "contact_count", "release_count")  # fmt: skip


@pytest.mark.slow
def test_coupled_forces_ledger_and_record_on_random_triangles_are_those_of_the_plane(both: dict[str, Fmu]) -> None:
    """In co-simulation with the group coupling, at 60 communication points of three contacts, to 1e-12 of the size."""
    mesh, plane = (Running(both[kind], slide(0.0)) for kind in ("mesh", "plane"))
    touched = 0
    for k in range(1, 61):
        for one in (mesh, plane):
            one.step(0.03)
            one.set(slide(0.03 * k))
        for name in VECTORS:
            assert mesh.vector(name) == pytest.approx(plane.vector(name), abs=1e-12 * 300.0), name
        for name in NUMBERS:
            assert mesh[name] == pytest.approx(plane[name], rel=1e-12, abs=1e-12 * 300.0), name
        touched += plane["in_contact"] == 1.0
    assert 15 < touched < 55 and plane["release_count"] >= 1


@pytest.mark.slow
def test_directional_derivatives_on_triangles_are_those_of_the_plane(both: dict[str, Fmu]) -> None:
    unknowns = [f"point.f[{i}]" for i in (1, 2, 3)] + [f"surface.t[{i}]" for i in (1, 2, 3)] + ["depth", "depth_rate"]
    seeds = ["point.r[1]", "point.r[3]", "point.v[2]", "surface.q[2]", "surface.w[1]"]
    for t in (0.3, 0.9):
        mesh, plane = (Running(both[kind], slide(t)) for kind in ("mesh", "plane"))
        for seed in seeds:
            expected = plane.directional(unknowns, {seed: 1.0})
            assert mesh.directional(unknowns, {seed: 1.0}) == pytest.approx(expected, rel=1e-10, abs=1e-7), seed


LAWS = """[functions]
C_F = "1e5[N/m]*h + 1e11[N/m^3]*h^3"
F_d = "max(min(40[s/m]*v, 0.2), -0.4)"
F_fr = "0.3*N*tanh(v/0.01[m/s])"
[start]
D_max = 0.5
"""


@pytest.mark.slow
def test_laws_on_random_triangles_are_those_of_the_plane(tmp_path: Path) -> None:
    """Elastic force, damping and friction by laws of the recipe, with their energies, and their derivatives."""
    write_floor(tmp_path)
    found = {}
    for kind, surface in FLOORS.items():
        path = tmp_path / f"Laws_{kind}.toml"
        path.write_text(f'element = "point_surface"\n{surface}{LAWS}', encoding="utf-8")
        (tmp_path / kind).mkdir()
        found[kind] = Running(Fmu(host_fmu(path, QUICK), tmp_path / kind), slide(0.0))
    mesh, plane = found["mesh"], found["plane"]
    forces = []
    for k in range(1, 41):
        for one in (mesh, plane):
            one.step(0.03)
            one.set(slide(0.03 * k))
        for name in VECTORS:
            assert mesh.vector(name) == pytest.approx(plane.vector(name), abs=1e-12 * 1e3), name
        for name in NUMBERS:
            assert mesh[name] == pytest.approx(plane[name], rel=1e-12, abs=1e-12 * 1e3), name
        seeds = ["point.r[3]", "point.v[1]", "point.v[3]"]
        for seed in seeds if plane["in_contact"] else ():
            expected = plane.directional(["point.f[1]", "point.f[3]"], {seed: 1.0})
            assert mesh.directional(["point.f[1]", "point.f[3]"], {seed: 1.0}) == pytest.approx(expected, rel=1e-9)
        forces.append(plane["normal_force"])
    assert max(forces) > 150.0, "more than the linear part and its damping give"
    assert min(forces) == 0.0 and plane["energy.friction"] > 0.01


def test_pictures_of_a_mesh_show_its_triangles_and_the_force_as_on_a_plane(floors: dict[str, Path]) -> None:
    """Those of a few hundred triangles are all drawn; of more as many as `MOST_TRIANGLES`."""
    items = {kind: list(element_items(load_element(path))) for kind, path in floors.items()}
    (mesh,), (plane,) = ([item for item in items[kind] if item["kind"] == "shape"] for kind in ("mesh", "plane"))
    assert {key: mesh[key] for key in mesh if key not in ("lines", "unbounded")} == {
        key: plane[key] for key in plane if key not in ("lines", "unbounded")
    }
    others = [[item for item in items[kind] if item["kind"] != "shape"] for kind in ("mesh", "plane")]
    assert others[0] == others[1] and "force" in {item["kind"] for item in others[0]}
    corners = np.array(mesh["lines"])
    floor = read_mesh(floors["mesh"].with_name("floor.obj"), 1e-3, border=True)
    most = load_module(shipped("elements") / "point_surface" / "shape.py").MOST_TRIANGLES
    assert len(corners) == min(most, len(floor.triangles)) > 200 and (corners[:, 0] == corners[:, 3]).all()
    away = np.linalg.norm(corners.reshape(-1, 1, 3) - floor.vertices, axis=2).min(axis=1)
    assert away.max() < 1e-3, "numbers of a page are short"


@pytest.mark.slow
def test_a_saved_state_repeats_the_search_on_a_mesh_to_the_bit(both: dict[str, Fmu]) -> None:
    """With the triangle from which it begins: from a state that was serialized as from one that was not."""
    running = Running(both["mesh"], slide(0.0))
    for k in range(1, 20):
        running.step(0.03)
        running.set(slide(0.03 * k))
    state, time = running.slave.state(), running.time

    def way() -> list[bytes]:
        found = []
        for k in range(20, 40):
            running.step(0.03)
            running.set(slide(0.03 * k))
            found.append(b"".join(running.vector(name).tobytes() for name in VECTORS))
        return found

    first = way()
    place = c_void_p()
    assert running.slave.deserialize(state, place) == OK
    assert running.slave.call("fmi2SetFMUstate", place) == OK
    running.slave.free_state(place)
    running.time = time
    assert way() == first


def test_a_recipe_with_faults_names_all_of_them_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8")

    def problems(surface: str) -> str:
        path = tmp_path / "Part.toml"
        path.write_text(f'element = "point_surface"\n[surface]\nkind = "mesh"\n{surface}', encoding="utf-8")
        with pytest.raises(InputError) as error:
            load_model(path)
        return str(error.value)

    text = problems("normals = 'rough'\nscale = 0\nflie = 'part.obj'\n")
    for what in ("flie: this key is unknown", "file: this key is missing", "unit: this key is missing",
                 "scale: 0 is refused: it must be greater than 0", "normals: 'rough'"):  # fmt: skip
        assert what in text
    for unit in ("kg", "rod", 3):
        assert "[surface] unit" in problems(f"file = 'part.obj'\nunit = {unit!r}\n")
    text = problems("file = 'part.obj'\nunit = 'm'\n")
    assert "[surface] file" in text and "part.obj: the mesh is open: 3 edges belong to one triangle" in text
    (tmp_path.parent / "part.obj").write_bytes((tmp_path / "part.obj").read_bytes())
    for place in ("../part.obj", f"parts/../../{tmp_path.name}/part.obj", (tmp_path / "part.obj").as_posix()):
        text = problems(f"file = '{place}'\nunit = 'm'\nopen = true\n")
        assert f"[surface] file: '{place}' lies outside the folder of the recipe: copy the file beside the" in text
    assert "absent.stl: cannot be read" in problems("file = 'absent.stl'\nunit = 'm'\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Part.toml", "part.obj"], "nothing is left behind"


def test_the_limit_depth_of_a_mesh_is_half_its_thinnest_wall(tmp_path: Path) -> None:
    import trimesh

    (tmp_path / "plate.ply").write_bytes(trimesh.creation.box((100.0, 50.0, 2.0)).export(file_type="ply"))
    path, surface = tmp_path / "Plate.toml", '[surface]\nkind = "mesh"\nunit = "mm"\nfile = "plate.ply"\n'
    path.write_text(f'element = "point_surface"\n{surface}', encoding="utf-8")
    model = load_model(path)
    assert model["D_max"].start == 0.001 and model["D_max"].max == 0.001
    assert any("the mesh has 12 triangles" in note for note in model.notes())
    assert tmp_path / "plate.ply" in model.files, "an FMU holds what it was built from"
    path.write_text(f'element = "point_surface"\n{surface}[start]\nD_max = "2 mm"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"D_max: '2 mm' must be less than 0.001 m, the reach of the surface"):
        load_model(path)


def wedge(path: Path, angle: float, length: float) -> float:
    """Write a prism of that angle, rad, whose two long sides have that length; returns the radius of the largest ball
    in it, that of the circle in the triangle: twice its area over its circumference."""
    import trimesh

    x, y = length * math.cos(angle / 2), length * math.sin(angle / 2)
    corners = np.array([[0, 0], [x, -y], [x, y]])
    places = np.vstack([np.insert(corners, 2, end, axis=1) for end in (0.0, 4 * length)])
    sides = [[k, (k + 1) % 3, (k + 1) % 3 + 3] for k in range(3)] + [[k, (k + 1) % 3 + 3, k + 3] for k in range(3)]
    path.write_bytes(trimesh.Trimesh(places, [[0, 2, 1], [3, 4, 5], *sides]).export(file_type="stl"))
    return x * y / (length + y)


@pytest.mark.parametrize("degrees", [75, 60, 40, 20, 5])
def test_a_sharp_edge_is_no_thin_wall(tmp_path: Path, degrees: float) -> None:
    """Beside an edge below 60 degrees the sides look away from each other, as close as one likes."""
    largest = wedge(tmp_path / "wedge.stl", math.radians(degrees), 0.1)
    surface = '[surface]\nkind = "mesh"\nunit = "m"\nfile = "wedge.stl"\n'
    (tmp_path / "Wedge.toml").write_text(f'element = "point_surface"\n{surface}', encoding="utf-8")
    reach = load_model(tmp_path / "Wedge.toml")["D_max"].max
    assert reach is not None and 0.9 * largest < reach < 1.06 * largest


def test_scale_and_place_act_on_the_mesh(tmp_path: Path) -> None:
    write_floor(tmp_path)
    path = tmp_path / "Floor.toml"
    text = f'element = "point_surface"\n{MESH}scale = 2\nplace = [0, 0, "10 mm"]\n[structure]\ncoupling = false\n'
    path.write_text(text, encoding="utf-8")
    running = Running(Fmu(host_fmu(path, QUICK), tmp_path), {"point.r": (3.9, 3.9, 0.009)})
    assert running["depth"] == pytest.approx(0.001, abs=1e-15) and running["in_contact"]


def test_the_mesh_of_the_catalogue_is_what_its_script_writes() -> None:
    assert (FMUS / "meshes" / "bowl.stl").read_bytes() == load_module(FMUS / "meshes" / "bowl.py").bowl()


@pytest.fixture(scope="module")
def fine_bowl(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    """BeadInMeshBowl in a whole sphere of triangles with edges of 3.5 mm."""
    import trimesh

    folder = tmp_path_factory.mktemp("bowl") / "fmus"
    shutil.copytree(FMUS, folder, ignore=shutil.ignore_patterns("systems"))
    fine = trimesh.creation.icosphere(subdivisions=5, radius=100.0)
    fine.vertices = fine.vertices @ load_module(FMUS / "meshes" / "ball.py").TURN.T
    (folder / "meshes" / "bowl.stl").write_bytes(fine.export(file_type="stl"))
    return Fmu(host_fmu(folder / "BeadInMeshBowl.toml"), folder)


@pytest.mark.slow
def test_a_bead_in_a_bowl_of_triangles_keeps_its_energy_over_a_thousand_edges(fine_bowl: Fmu, tmp_path: Path) -> None:
    """To 1e-6 of its kinetic energy; and it swings as in the sphere that the triangles stand for."""
    mesh = Running(fine_bowl, tolerance=1e-10)
    sphere = Running(load_shipped("BeadInBowl", tmp_path), tolerance=1e-10)
    energies, places, way = [], [], 0.0
    for _ in range(500):
        energies.append(
            0.5 * mesh.vector("velocity") @ mesh.vector("velocity")
            + G * mesh.vector("position")[2]
            + 0.5e6 * mesh["bowl.depth"] ** 2
        )
        places.append(np.linalg.norm(mesh.vector("position") - sphere.vector("position")))
        way += np.linalg.norm(mesh.vector("velocity")) * 0.01
        mesh.step(0.01)
        sphere.step(0.01)
    assert way / (R * 0.035) > 1000.0, "edges of 3.5 mm"
    assert np.ptp(energies) < 1e-6 * 0.5 * 0.8**2
    assert max(places) < 1e-6 * way


@pytest.mark.slow
def test_a_hundred_swings_in_a_bowl_of_triangles_have_the_period_of_a_pendulum(fine_bowl: Fmu, tmp_path: Path) -> None:
    """From rest at 0.7 rad.  The energy stays within 1e-6 of that of the swing per thousand edges.  In time the bead is
    with the one in the sphere to 1e-6, and with a pendulum as long as radius and depth, m g/C_F, to the share of the
    depth, which varies with the force."""
    length, angle = R + G / 1e6, 0.7
    period = 4.0 * np.sqrt(length / G) * float(ellipk(np.sin(angle / 2.0) ** 2))
    start = {"initial_position": (length * np.sin(angle), 0.0, -length * np.cos(angle)), "initial_velocity": (0, 0, 0)}
    late = {}
    for name, fmu in (("mesh", fine_bowl), ("sphere", load_shipped("BeadInBowl", tmp_path))):
        bead, energies = Running(fmu, start, tolerance=1e-10), []
        for _ in range(100):
            for share in (0.15, 0.2, 0.15, 0.3, 0.2):  # of a period
                bead.step(share * period)
                v = bead.vector("velocity")
                energies.append(0.5 * v @ v + G * bead.vector("position")[2] + 0.5e6 * bead["bowl.depth"] ** 2)
        # at the turning point the speed grows with g sin(angle)
        late[name] = bead.vector("velocity")[0] / (G * np.sin(angle) * np.cos(angle)) / bead.time
        edges = 400.0 * angle * length / (R * 0.035)
        assert np.ptp(energies) < 1e-6 * G * length * (1.0 - np.cos(angle)) * edges / 1000.0
    assert abs(late["mesh"] - late["sphere"]) < 1e-6
    assert max(map(abs, late.values())) < G / 1e6 / R


@pytest.mark.slow
def test_model_exchange_and_fmi_3_on_a_mesh_give_what_co_simulation_gives() -> None:
    recipe = FMUS / "BeadInMeshBowl.toml"
    given = {"stop_time": 0.4, "output_interval": 0.01, "output": ["position[1]", "position[2]", "position[3]"]}
    cs = simulate_fmu(str(host_fmu(recipe)), fmi_type="CoSimulation", **given)
    me = simulate_fmu(str(host_fmu(recipe)), fmi_type="ModelExchange", relative_tolerance=1e-9, **given)
    three = simulate_fmu(str(host_fmu(recipe, fmi=3)), fmi_type="CoSimulation", **given)
    for name in given["output"]:
        assert three[name].tobytes() == cs[name].tobytes()
        assert np.interp(cs["time"], me["time"], me[name]) == pytest.approx(cs[name], abs=2e-5)
