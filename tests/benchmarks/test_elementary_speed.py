"""Speed of the elementary functions next to the C library of this machine, timed from C loops in one run.

`python -m pytest -n 0 -s -m benchmark tests/benchmarks/test_elementary_speed.py`.  Figures are ns per call on
arguments as mechanics has them; nothing is asserted but that both computed the same: machines differ.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
import pytest

from fmu_builder.export.toolchain import compile_hosted, find_compiler
from fmu_builder.paths import shipped

pytestmark = pytest.mark.benchmark

POINTS = 1000  # arguments of one pass; they stay in the processor's cache
PASSES = 100
RANGES = {  # of the arguments
    "sin": ((-10.0, 10.0),),
    "cos": ((-10.0, 10.0),),
    "tan": ((-10.0, 10.0),),
    "asin": ((-1.0, 1.0),),
    "acos": ((-1.0, 1.0),),
    "atan": ((-3.0, 3.0),),
    "atan2": ((-3.0, 3.0), (-3.0, 3.0)),
    "exp": ((-20.0, 20.0),),
    "log": ((1e-3, 1e3),),
    "pow": ((0.1, 10.0), (-5.0, 5.0)),
    "tanh": ((-5.0, 5.0),),
}
VERSIONS = ("real", "dual", "platform")  # ours, ours with a derivative, the C library's


def loop(version: str, name: str) -> str:
    """C text of <version>_<name>(passes, points, a, b, value, direction)."""
    arguments = [f"{array}[i]" for array, _ in zip("ab", RANGES[name], strict=False)]
    if version == "dual":
        arguments = [f"cc_real({argument}, CC_DUAL_STEP)" for argument in arguments]
    call = f"{'' if version == 'platform' else 'cc_'}{name}({', '.join(arguments)})"
    store = (
        f"Real r = {call}; value[i] = re(r); direction[i] = __imag__ r;" if version == "dual" else f"value[i] = {call};"
    )
    return f"""
void {version}_{name}(int passes, int points, const double *a, const double *b, double *value, double *direction)
{{
    (void)b, (void)direction;
    for (int pass = 0; pass < passes; pass++) {{
        for (int i = 0; i < points; i++) {{ {store} }}
        __asm__ volatile("" ::: "memory"); /* or one pass would do */
    }}
}}
"""


@pytest.fixture(scope="module")
def loops(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("elementary")
    compiler = find_compiler()
    assert compiler is not None, "a benchmark needs a compiler: python -m pip install ziglang"
    sources = []
    for version in VERSIONS:
        text = "#include <math.h>\n" if version == "platform" else '#include "base/elementary.h"\n'
        text = ("#define CC_DUAL\n" if version == "dual" else "") + text
        sources.append(folder / f"{version}.c")
        sources[-1].write_text(text + "".join(loop(version, name) for name in RANGES), encoding="utf-8")
    library = folder / "elementary.so"
    compile_hosted(sources, library, [shipped("contact_core")], compiler, ["-fvisibility=default", "-lm"])
    return ctypes.CDLL(str(library))


def measure(
    benchmark: Callable[..., object], loops: ctypes.CDLL, version: str, name: str, columns: list[np.ndarray]
) -> None:
    value, direction = np.empty((2, POINTS))
    arrays = [ctypes.c_void_p(a.ctypes.data) for a in (columns[0], columns[-1], value, direction)]
    run = loops[f"{version}_{name}"]
    benchmark.pedantic(  # type: ignore[attr-defined]
        lambda: run(ctypes.c_int(PASSES), ctypes.c_int(POINTS), *arrays), rounds=11, iterations=1, warmup_rounds=2
    )
    nanoseconds = benchmark.stats.stats.min / (PASSES * POINTS) * 1e9  # type: ignore[attr-defined]
    benchmark.extra_info["ns_per_call"] = round(nanoseconds, 1)  # type: ignore[attr-defined]
    print(f"\n{name}, {version}: {nanoseconds:.1f} ns per call")
    expected = getattr(np, {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2"}.get(name, name))
    np.testing.assert_allclose(value, expected(*columns), rtol=1e-14)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", RANGES)
def test_function(benchmark: Callable[..., object], loops: ctypes.CDLL, name: str, version: str) -> None:
    source = np.random.default_rng(1)
    measure(benchmark, loops, version, name, [source.uniform(low, high, POINTS) for low, high in RANGES[name]])


@pytest.mark.parametrize("version", VERSIONS)
def test_sine_of_large_angles(benchmark: Callable[..., object], loops: ctypes.CDLL, version: str) -> None:
    measure(benchmark, loops, version, "sin", [np.random.default_rng(1).uniform(1e7, 1e9, POINTS)])
