"""Speed of guides: an evaluation on lines of few and of many points, a search of the whole line, a build.

    python -m pytest -n 0 -s -m benchmark tests/benchmarks/test_line_speed.py

An evaluation is that of a solver: all outputs and derivatives from the motion but those on demand, without the FMI
layer.  Times are the least of many short rounds, for other work on the machine only adds; nothing is asserted of them
but that the work was done.  Of a build the processor time counts, divided by the number of processors, and has to keep
its budget."""

from __future__ import annotations

import ctypes
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fmu_builder.export.cache import cache_folder
from fmu_builder.export.fmu import build_fmu
from fmu_builder.export.generate import fmu_sources, source_files, write_sources
from fmu_builder.export.toolchain import PLATFORMS, compile_hosted, find_compiler
from fmu_builder.model.loader import load_model

pytestmark = pytest.mark.benchmark

EVALUATION, SEARCH, BUILD = 300e-9, 100e-6, 10.0  # budgets, s
ROUND = 200  # points on one turn of the helix, whose radius is 1 m


def recipe(folder: Path, kind: str, points: int, interpolation: str = "polyline", bodies: int = 1) -> Path:
    """A helix of the element point_line_<kind>; its points lie in turn on the bodies, ten at a time."""
    a = np.arange(points) * 2.0 * np.pi / ROUND
    line = np.stack([np.cos(a), np.sin(a), 1e-3 * a], axis=1)
    rows = "\n".join(f"{x!r}, {y!r}, {z!r}" for x, y, z in line.tolist())
    (folder / "helix.csv").write_text(f"x [m], y [m], z [m]\n{rows}\n", encoding="utf-8")
    path = folder / "Timed.toml"
    on = [1 + (i // 10) % bodies for i in range(points)]
    path.write_text(
        f'element = "point_line_{kind}"\n[structure]\ncoupling = false\n'
        f'[line]\npoints = "helix.csv"\ninterpolation = "{interpolation}"\n'
        + (f"body = {on}\n" if bodies > 1 else "")
        + '[start]\nnormDamp = 10\nK_fr = 0.1\n"point.r" = [1.002, 0, 0]\n'
        + ("VectorFr1 = [0, 0.1, 1]\nVectorFr2 = [1, 0, 0]\n" if kind == "2" else ""),
        encoding="utf-8",
    )
    return path


def compiled(folder: Path, path: Path) -> ctypes.CDLL:
    model = load_model(path)
    write_sources(fmu_sources(model, "{00000000-0000-0000-0000-000000000000}"), folder / "c")
    compiler = find_compiler()
    assert compiler is not None, "a benchmark needs a compiler: python -m pip install ziglang"
    large = [folder / "c" / name for name in source_files(model) if name == "constants.c"]
    sources = [Path(__file__).with_name("guides.c"), *large]
    compile_hosted(sources, folder / "timed.so", [folder / "c"], compiler, [])
    library = ctypes.CDLL(str(folder / "timed.so"))
    library.evaluations.restype = library.searches.restype = ctypes.c_double
    start = np.array([v.start for v in model.variables])
    library.ready(ctypes.c_void_p(start.ctypes.data))
    return library


def least(benchmark: Any, run: Callable[[], object], count: int, budget: float) -> None:
    benchmark.pedantic(run, rounds=200, iterations=1, warmup_rounds=2)
    seconds = benchmark.stats.stats.min / count
    benchmark.extra_info["ns"] = round(seconds * 1e9, 1)
    print(f"\n{benchmark.name}: {seconds * 1e9:.1f} ns (budget {budget * 1e9:.0f} ns)")


@pytest.mark.parametrize(
    ("kind", "interpolation", "points", "bodies", "share"),
    [
        ("2", "polyline", 100, 1, 1.0),
        ("2", "polyline", 100_000, 1, 1.0),
        ("2", "spline", 100, 1, 1.5),
        ("2", "polyline", 100, 3, 6.0),
        ("1", "polyline", 100, 1, 1.0),
    ],
)
def test_an_evaluation(
    benchmark: Any, tmp_path: Path, kind: str, interpolation: str, points: int, bodies: int, share: float
) -> None:
    """`share` of the budget: it is that of a polyline on one body."""
    count, rounds = 1000, 202
    way = 0.9 * 2.0 * np.pi * min(points, 50_000) / ROUND / (count * rounds)
    library = compiled(tmp_path, recipe(tmp_path, kind, points, interpolation, bodies))
    on = ctypes.c_long(0)

    def run() -> None:
        library.evaluations(ctypes.c_double(way), ctypes.c_double(1e-3), ctypes.c_long(count), ctypes.byref(on))

    least(benchmark, run, count, share * EVALUATION)
    assert on.value > 0.99 * count * rounds


@pytest.mark.parametrize("points", [100, 100_000])
def test_a_search_of_the_whole_line(benchmark: Any, tmp_path: Path, points: int) -> None:
    library = compiled(tmp_path, recipe(tmp_path, "2", points))
    least(benchmark, lambda: library.searches(ctypes.c_long(20)), 20, SEARCH)


def test_a_build_with_100_000_points_for_all_platforms(
    benchmark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From an empty cache."""
    monkeypatch.setenv("FMU_BUILDER_CACHE", str(tmp_path / "cache"))
    cache_folder.cache_clear()
    path = recipe(tmp_path, "2", 100_000)

    def processor_time() -> float:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(one.ru_utime + one.ru_stime for one in used)

    before = processor_time()
    built = benchmark.pedantic(build_fmu, args=(path, tmp_path / "out"), rounds=1)
    seconds = (processor_time() - before) / (os.cpu_count() or 1)
    cache_folder.cache_clear()
    size = built.path.stat().st_size / 1e6
    print(f"\n{benchmark.name}: {seconds:.1f} s, an FMU of {size:.0f} MB (budget {BUILD:g} s)")
    assert built.platforms == tuple(PLATFORMS)
    assert seconds <= BUILD
