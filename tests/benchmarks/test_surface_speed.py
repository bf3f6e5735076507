"""Speed of one evaluation of point_surface on every kind of surface, with laws of the user's, and of body_surface.

    python -m pytest -n 0 -s -m benchmark tests/benchmarks/test_surface_speed.py

An evaluation is that of a solver: all outputs and derivatives from the motion but those on demand, without the FMI
layer.  Figures are the least of many short rounds, for other work on the machine only adds: they are asserted where
there is a budget."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
import trimesh

from fmu_builder.export.generate import fmu_data, fmu_sources, write_sources
from fmu_builder.export.resources import resource_files
from fmu_builder.export.toolchain import compile_hosted, find_compiler
from fmu_builder.model.loader import load_model
from fmu_builder.paths import shipped

pytestmark = pytest.mark.benchmark

CALLS = 5_000
LAWS = """
[functions]
text = '''
scalar Cr1 = 0.4;
scalar kD1 = 1[s/m];
scalar kE1 = 0.25;
scalar k_fr = 0.1;
scalar kT1 = 10[s/m];
function fd(v[m/s],Cr[],kD[s/m],kE[]) =
    #kD*#v < (#Cr*#Cr-1)*(1-#kE)/(1-#kE+#Cr*#Cr*#kE) -> (#Cr*#Cr-1)*(1-#kE)/(1-#kE+#Cr*#Cr*#kE),
    #kD*#v > (1-#Cr*#Cr)*#kE/(1-#kE+#Cr*#Cr*#kE) -> (1-#Cr*#Cr)*#kE/(1-#kE+#Cr*#Cr*#kE), #kD*#v;
function fr_line(N[N],v[m/s],kT[s/m]) = #v*#kT>1 -> k_fr*#N, #v*#kT*k_fr*#N;
'''
F_d = "fd(#v, Cr1, kD1, kE1)"
F_fr = "fr_line(#N, #v, kT1)"
"""
HELD = LAWS.replace('F_fr = "fr_line(#N, #v, kT1)"', 'F_slip = "fr_line(#N, #v + 1[m/s], kT1)"')
# recipe -> where its surface is met, m, and the budget, ns
SURFACES = {
    "PointSurface": ((0.0, 0.0, 0.0), 60.0),
    "PointDisc": ((0.0, 0.0, 0.0), math.inf),
    "PointSphere": ((0.0, 0.06, 0.08), 60.0),
    "PointCylinder": ((0.03, 0.04, 0.0), math.inf),
    "PointCone": ((0.05, 0.0, 0.05), 150.0),
    "PointTorus": ((0.1, 0.0, 0.03), 150.0),
    "PointRevolution": ((0.09, 0.0, 0.06), math.inf),
    "PointExtrusion": ((0.02, 0.03, 0.0), math.inf),
    "PointRoad": ((0.25, 0.0, 0.009), math.inf),
    "PointSaddle": ((0.0, 0.0, 0.023), math.inf),
}


def evaluations(folder: Path, name: str, structure: str = "[structure]\n", laws: str = LAWS) -> Callable[[int], int]:
    """A function that makes so many evaluations and returns how many of them were in contact."""
    text = (shipped("fmus") / f"{name}.toml").read_text(encoding="utf-8").partition("[start]")[0]
    recipe = folder / "Timed.toml"
    recipe.write_text(text + structure + "coupling = false\n" + laws, encoding="utf-8")
    return compiled(recipe, SURFACES[name][0], [])


def compiled(recipe: Path, place: tuple[float, float, float], options: list[str]) -> Callable[[int], int]:
    """The same for a recipe; what moves does so about `place`, m."""
    folder, model = recipe.parent, load_model(recipe)
    assert not resource_files(model), "nothing reads them here"
    sources = {**fmu_sources(model, "{00000000-0000-0000-0000-000000000000}"), **fmu_data(model)}
    write_sources(sources, folder)
    compiler = find_compiler()
    assert compiler is not None, "a benchmark needs a compiler: python -m pip install ziglang"
    timed = [Path(__file__).with_name("evaluations.c"), *folder.glob("constants.c")]
    with chdir(folder):  # of the tables that constants.c includes
        compile_hosted(timed, folder / "timed.so", [folder], compiler, options)
    library = ctypes.CDLL(str(folder / "timed.so"))
    library.evaluations.restype = ctypes.c_double
    start = np.array([v.start for v in model.variables])
    about = np.array(place)

    def run(calls: int) -> int:
        touching = ctypes.c_long(0)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (start, about)]
        total = library.evaluations(*pointers, ctypes.c_double(0.01), ctypes.c_long(calls), ctypes.byref(touching))
        assert np.isfinite(total)
        return touching.value

    return run


def report(benchmark: Callable[..., object], run: Callable[[int], int], calls: int, budget: float) -> None:
    benchmark.pedantic(lambda: run(calls), rounds=300, iterations=1, warmup_rounds=2)  # type: ignore[attr-defined]
    nanoseconds = benchmark.stats.stats.min / calls * 1e9  # type: ignore[attr-defined]
    benchmark.extra_info["ns_per_evaluation"] = round(nanoseconds, 1)  # type: ignore[attr-defined]
    print(f"\n{benchmark.name}: {nanoseconds:.1f} ns per evaluation (budget {budget:g} ns)")  # type: ignore[attr-defined]
    assert nanoseconds <= budget


@pytest.mark.parametrize("name", SURFACES)
def test_one_point(benchmark: Callable[..., object], tmp_path: Path, name: str) -> None:
    run = evaluations(tmp_path, name)
    report(benchmark, run, CALLS, SURFACES[name][1])
    assert 0.2 * CALLS < run(CALLS) < 0.8 * CALLS


def test_one_point_that_a_bristle_holds(benchmark: Callable[..., object], tmp_path: Path) -> None:
    run = evaluations(tmp_path, "PointSurface", "[structure]\nbristle = true\n", HELD)
    report(benchmark, run, CALLS, math.inf)
    assert 0.2 * CALLS < run(CALLS) < 0.8 * CALLS


@pytest.mark.parametrize("points", [100, 1000])
def test_many_points(benchmark: Callable[..., object], tmp_path: Path, points: int) -> None:
    run = evaluations(tmp_path, "PointSurface", f"[structure]\npoints = {points}\n")
    report(benchmark, run, 5, 60.0 * points)
    assert run(1000) > 200


BUMPY = 223  # squares along each side of a plate, of two triangles each: as many as constants of the C may hold


def plate() -> trimesh.Trimesh:
    """99,458 triangles, 1 m long and wide, with waves of 8 mm, in mm."""
    along = np.linspace(-500.0, 500.0, BUMPY + 1)
    x, y = np.meshgrid(along, along, indexing="ij")
    z = 8.0 * np.sin(x / 60.0) * np.cos(y / 80.0)
    first = np.arange(BUMPY * (BUMPY + 1)).reshape(BUMPY, BUMPY + 1)[:, :-1].ravel()
    beside = first + BUMPY + 1
    triangles = np.vstack(
        [np.column_stack([first, beside, beside + 1]), np.column_stack([first, beside + 1, first + 1])]
    )
    return trimesh.Trimesh(np.column_stack([x.ravel(), y.ravel(), z.ravel()]), triangles, process=False)


@pytest.mark.parametrize("surface", ["plane", "mesh"])
@pytest.mark.parametrize("samples", [100, 1000, 10000])
def test_the_skin_of_a_ball(benchmark: Callable[..., object], tmp_path: Path, samples: int, surface: str) -> None:
    """Of 100 mm, 0 to 20 mm deep in a plane or in waves of 99,458 triangles."""
    ball = trimesh.creation.icosphere(subdivisions=5, radius=100.0)
    for name, mesh in {"ball": ball, "plate": plate()}.items():
        (tmp_path / f"{name}.stl").write_bytes(mesh.export(file_type="stl"))
    recipe = tmp_path / "Skin.toml"
    on = 'kind = "plane"' if surface == "plane" else 'kind = "mesh"\nfile = "plate.stl"\nunit = "mm"\nopen = true'
    skin = f'[skin]\nfile = "ball.stl"\nunit = "mm"\nsamples = {samples}\n'
    recipe.write_text(f'element = "body_surface"\n{skin}[surface]\n{on}\n[start]\nK_fr = 0.3\n', encoding="utf-8")
    run = compiled(recipe, (0.0, 0.0, 0.09), ["-DSKIN"])
    report(benchmark, run, 5, math.inf)
    assert run(50) > 30
