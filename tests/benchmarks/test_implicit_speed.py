"""Speed of `implicit` and `adaptive`, per communication step.

`python -m pytest -n 0 -s -m benchmark tests/benchmarks/test_implicit_speed.py`.  A mass bounces on a floor without
losses, one in twenty of its steps in contact: the compiled loop, the one in Python, and the compiled loop with
functions that answer at once (answers_at_once.c), whose time is the master's own; the rest is that of the slaves'
calls.  CPU time of the loop's thread.  Nothing is asserted but that the work was done: machines differ.
"""

from __future__ import annotations

import ctypes
import time
from pathlib import Path
from typing import Any

import pytest

from fmu_builder import Scenario, run
from fmu_builder.cosim.implicit import compiled as group
from fmu_builder.cosim.loop import compiled
from fmu_builder.cosim.loop.program import LOOP, PythonLoop
from fmu_builder.cosim.result import Result
from fmu_builder.export.toolchain import PLATFORMS, compile_hosted, find_compiler, fmi_headers, host_platform

pytestmark = pytest.mark.benchmark

STEP, ROUNDS = 2e-4, 5
TICKS = {"compiled": 100_000, "python": 2_000}
FUNCTIONS = {
    "fmi2GetReal": "access_values",
    "fmi2SetReal": "access_values",
    "fmi2DoStep": "do_step",
    "fmi2SetRealInputDerivatives": "set_slopes",
    "fmi2GetDirectionalDerivative": "give_derivatives",
}


def bounces(algorithm: str, ticks: int) -> Scenario:
    return Scenario(
        slaves={
            "ball": {"recipe": "PointMass", "start": {"r0": [0, 0, 0.005]}},
            "floor": {"recipe": "PointSurface", "start": {"C_F": 1e6, "C_r": 1, "K_fr": 0, "coupling.mode": "hold"}},
        },
        connections=[("ball.p", "floor.point")],
        experiment={
            "stop": ticks * STEP,
            "step": STEP,
            "algorithm": algorithm,
            "output_step": ticks * STEP / 10,
            "record": ["ball.p.v[3]"],
        },
    )


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = tmp_path_factory.mktemp("at_once") / f"at_once{PLATFORMS[host_platform()].suffix}"
    compiler = find_compiler()
    assert compiler is not None
    compile_hosted([Path(__file__).with_name("answers_at_once.c")], library, [fmi_headers()], compiler, [])
    return ctypes.CDLL(str(library))


def timed(algorithm: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> tuple[float, Result]:
    """us per communication step"""
    seconds = [0.0]
    monkeypatch.setenv(LOOP, kind)
    loop: Any = compiled.CompiledLoop if kind == "compiled" else PythonLoop
    advance = loop.advance

    def counted(self: Any, *arguments: Any) -> Any:
        begin = time.thread_time()
        done = advance(self, *arguments)
        seconds[0] += time.thread_time() - begin
        return done

    monkeypatch.setattr(loop, "advance", counted)
    result = run(bounces(algorithm, TICKS[kind]))
    monkeypatch.setattr(loop, "advance", advance)
    return seconds[0] / TICKS[kind] * 1e6, result


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
def test_steps_of_a_bouncing_mass(algorithm: str, at_once: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    address = group.function_address

    def at_once_address(slave: Any, name: str) -> int:
        known = FUNCTIONS.get(name)
        return ctypes.cast(at_once[known], ctypes.c_void_p).value or 0 if known else address(slave, name)

    found: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        found.setdefault("held forces, Gauss-Seidel", []).append(timed("gauss_seidel", "compiled", monkeypatch)[0])
        microseconds, result = timed(algorithm, "compiled", monkeypatch)
        found.setdefault(algorithm, []).append(microseconds)
        found.setdefault(f"{algorithm}, Python", []).append(timed(algorithm, "python", monkeypatch)[0])
        for module in (group, compiled):
            monkeypatch.setattr(module, "function_address", at_once_address)
        found.setdefault(f"{algorithm}, the master alone, in flight", []).append(
            timed(algorithm, "compiled", monkeypatch)[0]
        )
        for module in (group, compiled):
            monkeypatch.setattr(module, "function_address", address)
    for name, times in found.items():
        print(f"{name}: {min(times):.3f} us")
    (one,) = result.groups
    print(
        f"{one.steps / TICKS['compiled']:.3g} steps, {one.evaluations / TICKS['compiled']:.3g} evaluations of elements"
    )
    total, alone, python = (
        min(found[name]) for name in (algorithm, f"{algorithm}, the master alone, in flight", f"{algorithm}, Python")
    )
    print(f"over the slaves' calls: {total / (total - alone):.2f}; Python over C: {python / total:.0f}")
    assert one.unsolved == 0 and one.evaluations > 4 * one.steps
