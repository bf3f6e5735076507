"""Seconds that a build takes.  `python -m pytest -n 0 -m benchmark tests/benchmarks/test_build_speed.py`.

Of builds nothing is asserted but that the work was done: machines differ.  The budgets stand beside the figures.
Of the check of declarations the processor time is asserted, as a multiple of that of what it consists of at least: a
compilation of an empty file and a start of Python.
Those of the compiler alone are asserted every day: tests/fmu_builder/test_toolchain.py.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any

import pytest

from fmu_builder.export.cache import cache_folder
from fmu_builder.export.declared_check import element_problems
from fmu_builder.export.fmu import build_fmu, fmu_contents
from fmu_builder.export.toolchain import PLATFORMS, compile_unoptimized, find_compiler
from fmu_builder.model.loader import load_model
from fmu_builder.paths import shipped
from tests.contact_core.fmi2 import literal

pytestmark = pytest.mark.benchmark

RECIPE = shipped("fmus") / "PointSurface.toml"


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Empty for the first test of this file; the others have what that has left there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FMU_BUILDER_CACHE", str(tmp_path_factory.mktemp("cache")))
        cache_folder.cache_clear()
        yield
    cache_folder.cache_clear()


def report(benchmark: Any, budget: str) -> None:
    print(f"\n{benchmark.name}: {benchmark.stats.stats.median:.2f} s (budget {budget})")


def test_build_an_fmu_for_five_platforms(benchmark: Any, tmp_path: Path) -> None:
    assert not [*cache_folder().rglob("*.o*")]
    built = benchmark.pedantic(build_fmu, args=(RECIPE, tmp_path / "out"), rounds=1)
    assert built.platforms == tuple(PLATFORMS) and built.path.is_file()
    report(benchmark, "10 s, from an empty cache")


TEN_LAWS = """
element = "point_surface"
[surface]
kind = "plane"
[functions]
text = '''
scalar mu = 0.3;
scalar kT = 50[s/m];
scalar e = 0.4;
function limit(e[], share[]) = (1 - #e*#e)*#share/(1 - #share + #e*#e*#share);
function ratio(v[m/s]) = #v > 0.1[m/s] -> limit(e, 0.5), #v < -0.1[m/s] -> -limit(e, 0.5), #v*limit(e, 0.5)/0.1[m/s];
function soft(v[m/s]) = tanh(#v/1[m/s]);
function both(v[m/s]) = 0.5*ratio(#v) + 0.1*soft(#v);
function cubic(h[m]) = 1e6[N/m]*#h + 1e9[N/m^2]*#h^2;
function stiff(h[m]) = #h < 1[mm] -> cubic(#h), cubic(1[mm]) + 3e6[N/m]*(#h - 1[mm]);
function stop(h[m]) = #h > 2[mm] -> stiff(2[mm]) + 1e5[N/m]*(#h - 2[mm]), stiff(#h);
function ramp_of(N[N], v[m/s]) = mu*#N*min(kT*#v, 1);
function falling(N[N], v[m/s]) = ramp_of(#N, #v)*(1 + 0.3*exp(-(#v/10[mm/s])^2));
function pressed(N[N], v[m/s]) = #N > 0[N] -> falling(#N, #v), 0;
'''
C_F = "stop"
F_d = "both"
F_fr = "pressed"
"""


@pytest.mark.parametrize("platforms", [("host",), ("all",)], ids=["host", "five platforms"])
def test_build_a_recipe_with_ten_laws(benchmark: Any, platforms: tuple[str, ...], tmp_path: Path) -> None:
    """As the command line does, but for the start of Python; the compiler's cache knows freestanding.c."""
    recipe = tmp_path / "TenLaws.toml"
    build_fmu(RECIPE, tmp_path / "out", platforms)
    friction = {"host": "mu = 0.31", "all": "mu = 0.32"}[platforms[0]]  # new to the cache in either test
    recipe.write_text(TEN_LAWS.replace("mu = 0.3", friction), encoding="utf-8")
    built = benchmark.pedantic(build_fmu, args=(recipe, tmp_path / "out", platforms), rounds=1)
    assert built.path.is_file() and built.model.recipe.laws is not None
    report(benchmark, "3 s")


# ---- the check of what elements declare ------------------------------------------------------------------------------


def processor_time() -> float:
    """Of this process and those it has waited for, s."""
    return sum(used.ru_utime + used.ru_stime for used in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))


def least_time(work: Callable[[], object], before: Callable[[], None], rounds: int = 5) -> float:
    """The least processor time of some rounds: what other processes take is in none of them."""
    times = []
    for _ in range(rounds):
        before()
        begin = processor_time()
        work()
        times.append(processor_time() - begin)
    return min(times)


CHECKED = ("TranslationalSpring", "PointSurface", "RigidBody")
CHANGED, UNCHANGED = 6.0, 0.05  # times an empty compilation and a start of Python; 3.6 to 4.1 are measured


@pytest.mark.parametrize("name", CHECKED)
def test_the_check_of_an_element_keeps_to_its_budget(name: str, tmp_path: Path) -> None:
    """Of the law alone: the check of a contact with the group coupling takes twice as long."""
    recipe = shipped("fmus") / f"{name}.toml"
    if name != "RigidBody":
        recipe = literal(name, tmp_path)
    model = load_model(recipe)
    compiler = find_compiler()
    assert compiler is not None
    contents = fmu_contents(model)[1]
    element_problems(model, compiler, files=contents)
    (form,) = (form for _, form in model.elements())
    numbers = itertools.count()
    source = form.recipe.element_folder / "element.c"
    texts = {"element.c": source.read_text(encoding="utf-8")}
    read = Path.read_text

    def edited(path: Path, *arguments: Any, **named: Any) -> str:
        return texts["element.c"] if path == source else read(path, *arguments, **named)

    def edit() -> None:
        """As a user who adds a line: comments are part of the content, constants of the code."""
        texts["element.c"] = f"{read(source, encoding='utf-8')}\nextern int edit_{next(numbers)}_{os.getpid()};\n"

    empty = tmp_path / "empty.c"

    def least_work() -> None:
        compile_unoptimized(tmp_path, tmp_path / "empty.so", compiler, ["empty.c"])
        subprocess.run([sys.executable, "-I", "-S", "-c", "import ctypes"], check=True)

    def change() -> None:
        empty.write_text(f"extern int edit_{next(numbers)}_{os.getpid()};\n", encoding="utf-8")

    peer = least_time(least_work, change)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "read_text", edited)
        changed = least_time(lambda: element_problems(model, compiler), edit)
    unchanged = least_time(lambda: element_problems(model, compiler, files=contents), lambda: None)
    print(
        f"\n{name}: {changed:.3f} s changed (budget 0.1 s), {1e3 * unchanged:.1f} ms unchanged (5 ms); "
        f"{changed / peer:.2f} and {unchanged / peer:.3f} times an empty compilation and a start of Python"
    )
    assert unchanged < UNCHANGED * peer
    assert changed < CHANGED * peer
