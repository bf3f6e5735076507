"""Time of a search for the closest point of a mesh, beside those of FCL, coal and trimesh (extra `bench`).

    python -m pytest -n 0 -s -m benchmark tests/benchmarks/test_mesh_speed.py

Points lie within 1 mm of a sphere of 1 m: in random order; in that of body_surface, whose samples lie in a tree; and
along a path.  In the last two each search begins at the triangle that the one before found.  Our search is compiled as
in an FMU.  Processor time, the least of some rounds, on a machine that does nothing else.  Peers and our search have
the same points and rounds where they are compared; trees, and what a peer keeps with its mesh, are made before.  FCL
and coal are called from Python for the sphere of 1 um about each point; trimesh for each point, as a simulation asks
whose next point follows from the answer, and for all points in one call, as those of a body are known."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from pathlib import Path

import fmpy
import numpy as np
import pytest
import trimesh
from fmpy.fmi2 import FMU2Slave
from numpy.typing import NDArray

from fmu_builder import build
from fmu_builder.export.toolchain import SMALL_AND_FAST_TO_COMPILE
from fmu_builder.model import mesh_tree
from fmu_builder.model.mesh import Mesh, read_mesh
from fmu_builder.model.mesh_tree import pack_mesh
from fmu_builder.model.samples import Samples, tables
from tests.contact_core.hosted import load_c
from tests.contact_core.test_mesh_search import distance_from_triangles

pytestmark = pytest.mark.benchmark

POINTS, ROUNDS, CALLS, EXACT = 50_000, 5, 2_000, 50
SINGLY = 5  # calls of trimesh for one point
RADIUS = 1e-6  # m, of the sphere that stands for a point

# us, at most, where coal takes as long as it did on the machine of contact_core/README.md; by subdivisions
AT_RANDOM = {6: 1.5, 8: 4.0}
ALONG_A_PATH = 0.3  # on facets
TIMES_CURVED = 2.5  # that of a path on curved patches in this one
COAL = {6: 10.0, 8: 19.0}
TIMES_COAL, TIMES_TRIMESH = 8, 40  # as fast as these, at least
# of a million triangles: s, s, s there too, and MiB
TREE, BUILD, START, MEMORY = 1.0, 15.0, 0.2, 120.0

Array = NDArray[np.float64]


def searches(library: ctypes.CDLL, data: bytes, points: NDArray[np.float64], path: bool) -> tuple[float, NDArray]:
    """us of one search, and the distances."""
    found = np.empty(len(points))
    pointers = [one.ctypes.data_as(ctypes.c_void_p) for one in (points, found)]
    times = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        library.mesh_distances(data, int(path), len(points), *pointers)
        times.append(time.process_time() - begin)
    return min(times) / len(points) * 1e6, found


@pytest.mark.parametrize("subdivisions", [6, 8], ids=["81920 triangles", "1310720 triangles"])
def test_search_for_the_closest_point(subdivisions: int, tmp_path: Path) -> None:
    mesh = ball_of_triangles(tmp_path, subdivisions)
    library = load_c("mesh.c", tmp_path, SMALL_AND_FAST_TO_COMPILE)
    points = points_near_a_ball()
    turn = np.linspace(0.0, 0.15, POINTS)
    path = 1.0005 * np.column_stack([np.cos(turn), 0.8 * np.sin(turn), 0.6 * np.sin(turn)])

    of_body = np.ascontiguousarray(tables(Samples(points, np.ones(POINTS)))[0][:, :3])

    distances, at_random, along, of_a_body = {}, {}, {}, {}
    for normals in ("facet", "smooth"):
        begin = time.process_time()
        data = pack_mesh(mesh, curved=normals == "smooth")
        packed = time.process_time() - begin
        at_random[normals], distances[normals] = searches(library, data, points, path=False)
        of_a_body[normals], _ = searches(library, data, of_body, path=True)
        along[normals], _ = searches(library, data, path, path=True)
        print(f"\n{normals}: tree and data {packed:.1f} s, {len(data) / 2**20:.0f} MiB; random order ", end="")
        print(f"{at_random[normals]:.2f} us, of a body {of_a_body[normals]:.2f} us, ", end="")
        print(f"along a path {along[normals]:.2f} us")

    few = points[:CALLS]
    of_few, ours = searches(library, pack_mesh(mesh, curved=False), few, path=False)
    print(f"of {CALLS} points, on facets: random order {of_few:.2f} us")
    exact = distance_from_triangles(few[:EXACT], mesh)
    print(f"facets differ from every triangle in turn by up to {np.abs(ours[:EXACT] - exact).max():.1e} m")
    peers = {
        "FCL": fcl_distances(mesh, few),
        "coal": coal_distances(mesh, few),
        "trimesh, all points in one call": trimesh_distances(mesh, few, CALLS),
        "trimesh, a call for each point": trimesh_distances(mesh, few[:SINGLY], 1),
    }
    for name, (peer_time, theirs) in peers.items():
        print(f"{name}: {peer_time:.1f} us, {peer_time / of_few:.0f} times ours; ", end="")
        print(f"its distances differ by up to {np.abs(theirs - ours[: len(theirs)]).max():.1e} m")
    all_points, _ = trimesh_distances(mesh, points, POINTS)
    print(f"trimesh, all of {POINTS} points in one call: {all_points:.1f} us, ", end="")
    print(f"{all_points / of_a_body['facet']:.0f} times ours of a body")
    slower = slowness(peers["coal"][0], subdivisions)
    assert max(at_random.values()) <= slower * AT_RANDOM[subdivisions]
    assert along["facet"] <= slower * ALONG_A_PATH and along["smooth"] <= TIMES_CURVED * along["facet"]
    assert all_points >= TIMES_TRIMESH * of_a_body["facet"]
    assert peers["coal"][0] >= TIMES_COAL * of_few
    assert peers["trimesh, a call for each point"][0] >= TIMES_TRIMESH * of_few
    assert ours[:EXACT] == pytest.approx(exact, abs=4e-16)
    assert np.abs(distances["smooth"] - (np.linalg.norm(points, axis=1) - 1.0)).max() < 1e-6


def ball_of_triangles(folder: Path, subdivisions: int) -> Mesh:
    ball = trimesh.creation.icosphere(subdivisions=subdivisions)
    (folder / "ball.stl").write_bytes(ball.export(file_type="stl"))
    return read_mesh(folder / "ball.stl", 1.0)


def points_near_a_ball() -> Array:
    """In random order."""
    rng = np.random.default_rng(1)
    direction = rng.normal(size=(POINTS, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    return np.asarray(direction * rng.uniform(1.0, 1.001, (POINTS, 1)))


def slowness(of_coal: float, subdivisions: int) -> float:
    """By how much this machine is slower than that of the README, at least 1.   of_coal: us of its search"""
    return max(1.0, of_coal / COAL[subdivisions])


def fcl_distances(mesh: Mesh, points: Array) -> tuple[float, Array]:
    """us of one call, and the distances."""
    import fcl

    model = fcl.BVHModel()
    model.beginModel(len(mesh.vertices), len(mesh.triangles))
    model.addSubModel(mesh.vertices, mesh.triangles)
    model.endModel()
    body, probe = fcl.CollisionObject(model, fcl.Transform()), fcl.CollisionObject(fcl.Sphere(RADIUS), fcl.Transform())
    found = np.empty(len(points))

    def search() -> None:
        for i, point in enumerate(points):
            probe.setTranslation(point)
            found[i] = fcl.distance(body, probe, fcl.DistanceRequest(), fcl.DistanceResult()) + RADIUS

    return least(search) / len(points), found


def coal_distances(mesh: Mesh, points: Array) -> tuple[float, Array]:
    """The same."""
    import coal

    vertices, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for vertex in mesh.vertices:
        vertices.append(vertex)
    for triangle in mesh.triangles.tolist():
        triangles.append(coal.Triangle(*triangle))
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(triangles), len(vertices))
    model.addSubModel(vertices, triangles)
    model.endModel()
    probe, here, there = coal.Sphere(RADIUS), coal.Transform3s(), coal.Transform3s()
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    found = np.empty(len(points))

    def search() -> None:
        for i, point in enumerate(points):
            there.setTranslation(point)
            result.clear()
            found[i] = coal.distance(model, here, probe, there, request, result) + RADIUS

    return least(search) / len(points), found


def trimesh_distances(mesh: Mesh, points: Array, count: int) -> tuple[float, Array]:
    """The same, of `count` points in one call."""
    body = trimesh.Trimesh(mesh.vertices, mesh.triangles, process=False)
    trimesh.proximity.closest_point(body, points[:1])  # makes its trees
    found = np.empty(len(points))

    def search() -> None:
        for i in range(0, len(points), count):
            found[i : i + count] = trimesh.proximity.closest_point(body, points[i : i + count])[1]

    return least(search) / len(points), found


def least(search: Callable[[], None]) -> float:
    """us, of some rounds."""
    times = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        search()
        times.append(time.process_time() - begin)
    return min(times) * 1e6


# ---- a million triangles ---------------------------------------------------------------------------------------------


def torus(count: int) -> bytes:
    """A binary STL file of 2 count^2 triangles."""
    turn = np.linspace(0.0, 2.0 * np.pi, count + 1)
    u, v = np.meshgrid(turn, turn, indexing="ij")
    r = 1.0 + 0.3 * np.cos(v)
    at = np.stack([r * np.cos(u), r * np.sin(u), 0.3 * np.sin(v)], axis=2)
    at[-1], at[:, -1] = at[0], at[:, 0]  # to the bit
    a, b, c, d = at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]
    triangles = np.concatenate([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)]).reshape(-1, 3, 3)
    records = np.zeros(len(triangles), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("spare", "<u2")])
    records["corners"] = triangles
    return bytes(80) + len(records).to_bytes(4, "little") + records.tobytes()


def resident() -> float:
    """Memory of this process that is in use, MiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def test_an_fmu_of_a_million_triangles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "part.stl").write_bytes(torus(708))
    begin = time.process_time()
    mesh = read_mesh(tmp_path / "part.stl", 1.0)
    read = time.process_time()
    data = pack_mesh(mesh)
    packed = time.process_time()
    low, high = (np.asarray(f(mesh.vertices[mesh.triangles], axis=1)) for f in (np.min, np.max))
    middle = time.process_time()
    order = mesh_tree._tree_order((low + high) / 2.0)
    mesh_tree._nodes(low[order], high[order])
    tree = time.process_time() - middle
    print(f"\n{len(mesh.triangles)} triangles: read in {read - begin:.1f} s, packed in {packed - read:.1f} s, ", end="")
    print(f"of which the tree {tree:.1f} s; {len(data) / 2**20:.0f} MiB")

    recipe = tmp_path / "Million.toml"
    surface = '[surface]\nkind = "mesh"\nfile = "part.stl"\nunit = "m"\n'
    recipe.write_text(f'element = "point_surface"\n{surface}[start]\nC_F = "1e5 N/m"\n', encoding="utf-8")
    monkeypatch.setenv("FMU_BUILDER_CACHE", str(tmp_path / "cache"))
    begin_wall = time.perf_counter()
    fmu = build(recipe, tmp_path)
    built = time.perf_counter() - begin_wall
    print(f"FMU of all platforms, with nothing in the cache: built in {built:.1f} s, ", end="")
    print(f"{fmu.stat().st_size / 2**20:.0f} MiB")

    description = fmpy.read_model_description(fmu)
    number = {v.name: v.valueReference for v in description.modelVariables}
    folder, place = fmpy.extract(fmu, tmp_path / "unpacked"), [number[f"point.r[{i}]"] for i in (1, 2, 3)]

    def started() -> FMU2Slave:
        slave = FMU2Slave(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="million",
        )
        slave.instantiate()
        slave.setupExperiment(startTime=0.0)
        slave.setReal(place, [1.4, 0.0, 0.0])
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        assert slave.getReal([number["distance"]]) == pytest.approx([0.1], abs=1e-5)
        return slave

    before, times = resident(), [time.perf_counter()]
    slaves = []
    for _ in range(2):
        slaves.append(started())
        times.append(time.perf_counter())
    print(f"instances started in {' and '.join(f'{1e3 * t:.1f}' for t in np.diff(times))} ms; ", end="")
    for turn in np.linspace(0.0, 2.0 * np.pi, 2000):
        slaves[0].setReal(place, [1.3 * np.cos(turn), 1.3 * np.sin(turn), 0.0])
        slaves[0].getReal([number["distance"]])
    more = resident() - before
    print(f"{more:.0f} MiB more in memory after a path around")
    for slave in slaves:
        slave.terminate()
        slave.freeInstance()
    searched, _ = coal_distances(ball_of_triangles(tmp_path, 6), points_near_a_ball()[:CALLS])
    slower = slowness(searched, 6)
    print(f"this machine takes {slower:.2f} times as long as that of the README")
    assert tree <= slower * TREE and built <= slower * BUILD
    assert max(np.diff(times)) <= slower * START and more <= MEMORY
