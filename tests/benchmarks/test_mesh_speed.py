"""Time of a search for the closest point of a mesh, beside FCL's (extra `bench`).

    python -m pytest -n 0 -s -m benchmark tests/benchmarks/test_mesh_speed.py

Points lie within 1 mm of a sphere of 1 m: in random order, and along a path, where each search begins at the triangle
that the one before found.  Processor time, the least of some rounds; that of FCL with its call from Python, on the
sphere of 1 um about each point."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path

import numpy as np
import pytest
import trimesh
from numpy.typing import NDArray

from fmu_builder.model.mesh import read_mesh
from fmu_builder.model.mesh_tree import pack_mesh
from tests.contact_core.hosted import load_c

pytestmark = pytest.mark.benchmark

POINTS, ROUNDS, CALLS = 50_000, 5, 2_000


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
    import fcl

    ball = trimesh.creation.icosphere(subdivisions=subdivisions)
    (tmp_path / "ball.stl").write_bytes(ball.export(file_type="stl"))
    mesh, library = read_mesh(tmp_path / "ball.stl", 1.0), load_c("mesh.c", tmp_path)
    rng = np.random.default_rng(1)
    direction = rng.normal(size=(POINTS, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    points = direction * rng.uniform(1.0, 1.001, (POINTS, 1))
    turn = np.linspace(0.0, 0.15, POINTS)
    path = 1.0005 * np.column_stack([np.cos(turn), 0.8 * np.sin(turn), 0.6 * np.sin(turn)])

    distances = {}
    for normals in ("facet", "smooth"):
        begin = time.process_time()
        data = pack_mesh(mesh, curved=normals == "smooth")
        packed = time.process_time() - begin
        at_random, distances[normals] = searches(library, data, points, path=False)
        along, _ = searches(library, data, path, path=True)
        print(f"\n{normals}: tree and data {packed:.1f} s, {len(data) / 2**20:.0f} MiB; ", end="")
        print(f"random order {at_random:.2f} us, along a path {along:.2f} us")

    model = fcl.BVHModel()
    model.beginModel(len(mesh.vertices), len(mesh.triangles))
    model.addSubModel(mesh.vertices, mesh.triangles)
    model.endModel()
    body, radius = fcl.CollisionObject(model, fcl.Transform()), 1e-6
    probe = fcl.CollisionObject(fcl.Sphere(radius), fcl.Transform())
    theirs = np.empty(CALLS)
    begin = time.process_time()
    for i in range(CALLS):
        probe.setTranslation(points[i])
        theirs[i] = fcl.distance(body, probe, fcl.DistanceRequest(), fcl.DistanceResult()) + radius
    print(f"FCL: random order {(time.process_time() - begin) / CALLS * 1e6:.1f} us, ", end="")
    error = np.abs(theirs - distances["facet"][:CALLS]).max()
    print(f"its distances differ from those of the facets by up to {error:.1e} m")
    assert np.abs(distances["smooth"] - (np.linalg.norm(points, axis=1) - 1.0)).max() < 1e-6
