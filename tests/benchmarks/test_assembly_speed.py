"""How building and running assemblies grows with the number of parts.
`python -m pytest -n 0 -m benchmark tests/benchmarks/test_assembly_speed.py -s`

Half of the parts are point masses, each falls on a floor of its own.  Nothing is asserted but that the work was done.
10,000 parts have 625,000 variables and take 3 GB of memory.  That is one to three minutes of work; .ci/run takes 100
parts.
"""

from __future__ import annotations

import ctypes
import resource
import time
import zipfile
from ctypes import byref, c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p
from pathlib import Path
from typing import Any

import fmpy
import pytest
from fmpy.fmi2 import (
    fmi2CallbackAllocateMemoryTYPE,
    fmi2CallbackFreeMemoryTYPE,
    fmi2CallbackFunctions,
    fmi2CallbackLoggerTYPE,
    fmi2EventInfo,
)

from fmu_builder.export.fmu import build_model_fmu
from fmu_builder.export.toolchain import PLATFORMS, host_platform
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import Model

pytestmark = pytest.mark.benchmark

CO_SIMULATION, MODEL_EXCHANGE = 1, 0
EVALUATIONS = 20_000  # of one part, in each of the rounds
ROUNDS = 20
STEPS = 10


def recipe(folder: Path, parts: int) -> Path:
    pairs = range(parts // 2)
    lines = ["connections = [", *(f'["b{i}.p", "f{i}.point"],' for i in pairs), "]", "[parts]"]
    for i in pairs:
        start = f"r0 = [{i % 100}.0, 0.0, {0.1 + 1e-3 * (i % 50):.3f}]"
        lines.append(f'b{i} = {{ recipe = "PointMass", start = {{ {start} }} }}')
        lines.append(f'f{i} = "PointSurface"')
    path = folder / f"Parts{parts}.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


class Instance:
    """As much of an importer as this file needs, without reading modelDescription.xml."""

    def __init__(self, library: Path, guid: str, kind: int) -> None:
        self.dll = ctypes.CDLL(str(library))
        self.dll.fmi2Instantiate.restype = c_void_p
        self.callbacks = fmi2CallbackFunctions()
        self.callbacks.logger = fmi2CallbackLoggerTYPE()
        self.callbacks.allocateMemory = fmi2CallbackAllocateMemoryTYPE(fmpy.calloc)
        self.callbacks.freeMemory = fmi2CallbackFreeMemoryTYPE(fmpy.free)
        handle = self.dll.fmi2Instantiate(
            c_char_p(b"parts"), kind, c_char_p(guid.encode()), c_char_p(b""), byref(self.callbacks), 0, 0
        )
        assert handle
        self.handle = c_void_p(handle)
        self.call("fmi2SetupExperiment", 0, c_double(0.0), c_double(0.0), 0, c_double(0.0))
        self.call("fmi2EnterInitializationMode")
        self.call("fmi2ExitInitializationMode")

    def call(self, name: str, *arguments: Any) -> None:
        assert getattr(self.dll, name)(self.handle, *arguments) == 0, name

    def integer(self, model: Model, name: str) -> int:
        value = c_int()
        self.call("fmi2GetInteger", byref(c_uint(model[name].index)), c_size_t(1), byref(value))
        return value.value


def evaluation(instance: Instance, states: int, parts: int) -> float:
    """ns for one part: derivatives at a new time, less reading them once more."""
    instance.call("fmi2NewDiscreteStates", byref(fmi2EventInfo()))
    instance.call("fmi2EnterContinuousTimeMode")
    slopes, count = (c_double * states)(), max(EVALUATIONS // parts, 3)
    best = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        for moves in (1, 0):
            begin = time.perf_counter()
            for k in range(count):
                if moves:
                    instance.call("fmi2SetTime", c_double(1e-9 * (k + 1)))
                instance.call("fmi2GetDerivatives", slopes, c_size_t(states))
            best[moves] = min(best[moves], time.perf_counter() - begin)
    return (best[1] - best[0]) / count / parts * 1e9


@pytest.mark.parametrize("parts", [100, 1000, 10_000])
def test_assembly_of_many_parts(parts: int, tmp_path: Path) -> None:
    begin = time.perf_counter()
    model = load_model(recipe(tmp_path, parts))
    read = time.perf_counter()
    built = build_model_fmu(model, tmp_path, ("host",))
    done = time.perf_counter()
    guid, platform = built.guid, host_platform()
    library = tmp_path / f"{model.name}{PLATFORMS[platform].suffix}"
    with zipfile.ZipFile(built.path) as archive:
        library.write_bytes(archive.read(f"binaries/{platform}/{library.name}"))
    states = len(model.by_kind("state"))
    per_evaluation = evaluation(Instance(library, guid, MODEL_EXCHANGE), states, parts)
    slave = Instance(library, guid, CO_SIMULATION)
    steps = []
    for k in range(STEPS):
        at = time.perf_counter()
        slave.call("fmi2DoStep", c_double(k * 1e-3), c_double(1e-3), 1)
        steps.append((time.perf_counter() - at) / parts * 1e9)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    evaluations = slave.integer(model, "solver.evaluations") / STEPS
    print(f"\n{parts} parts, {len(model.variables)} variables")
    print(f"  read {read - begin:.1f} s, built and checked {done - read:.1f} s")
    print(f"  {memory:.0f} MB of memory, library {library.stat().st_size / 1e6:.1f} MB")
    print(f"  {per_evaluation:.0f} ns per part and evaluation (budget 80 ns)")
    print(f"  {min(steps):.0f} ns per part and step of 1 ms, of {evaluations:.0f} evaluations")
    assert slave.integer(model, "solver.steps") > 0
