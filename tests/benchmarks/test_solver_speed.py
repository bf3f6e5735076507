"""Speed of the solver in an assembly.  `python -m pytest -n 0 -s -m benchmark tests/benchmarks/test_solver_speed.py`.

BouncingBall: 1 kg falls 1 m on a floor of 1e5 N/m with the restitution 0.5, and lies still after 1.4 s.  Figures are
processor time; nothing is asserted but that the work was done: machines differ.  Budgets stand beside the figures."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Iterator
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Model

from fmu_builder.cosim.slave import Slave, read_slave
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.toolchain import compile_hosted, find_compiler, fmi_headers
from fmu_builder.paths import shipped

pytestmark = pytest.mark.benchmark

STOP, TOLERANCE = 2.0, 1e-9
RUNS = 200
CALLS = 100_000
REST = 1.0 * 9.81 / 1e5  # m, depth at rest


@pytest.fixture(scope="module")
def fmu() -> Path:
    return host_fmu(shipped("fmus") / "BouncingBall.toml")


@pytest.fixture
def ball(fmu: Path) -> Iterator[Slave]:
    """At the start."""
    slave = Slave("ball", read_slave(fmu))
    slave.dll.fmi2SetupExperiment(slave.component, 1, TOLERANCE, 0.0, 0, 0.0)
    slave.call("fmi2EnterInitializationMode")
    slave.call("fmi2ExitInitializationMode")
    yield slave
    slave.close()


@pytest.fixture(scope="module")
def loops(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = tmp_path_factory.mktemp("loops") / "loops.so"
    compiler = find_compiler()
    assert compiler is not None, "a benchmark needs a compiler: python -m pip install ziglang"
    include = [shipped("contact_core"), fmi_headers()]
    compile_hosted([Path(__file__).parent / "loops.c"], library, include, compiler, ["-DLOOP_LAW=loop_law"])
    return ctypes.CDLL(str(library))


def value(slave: Slave, name: str) -> float:
    return slave.get(slave.description.variables[name])


def test_ball_that_comes_to_rest(ball: Slave) -> None:
    """One communication step of 2 s from a restored state."""
    state = ball.fmu.getFMUState()
    step, component = ball.dll.fmi2DoStep, ball.fmu.component
    times = []
    for _ in range(RUNS):
        ball.fmu.setFMUState(state)
        begin = time.process_time()
        status = step(component, 0.0, STOP, 1)
        times.append(time.process_time() - begin)
        ball.check(status, "fmi2DoStep")
    assert value(ball, "height") == pytest.approx(-REST, rel=1e-6) and value(ball, "floor.contact_count") >= 3
    microseconds = np.median(times) * 1e6
    counts = {name: int(value(ball, f"solver.{name}")) for name in ("steps", "rejected", "events", "evaluations")}
    print(
        f"\n{STOP:g} s to rest at the tolerance {TOLERANCE:g}: median of {RUNS} {microseconds:.0f} us, fastest "
        f"{min(times) * 1e6:.0f} us (budget 150 us); {counts}, {microseconds * 1e3 / counts['evaluations']:.0f} ns an "
        f"evaluation with all that belongs to it, {value(ball, 'floor.contact_count'):.0f} contacts"
    )
    ball.fmu.freeFMUState(state)


def test_resting_ball(ball: Slave, loops: ctypes.CDLL) -> None:
    """Communication steps of 1 ms of a ball that lies on the floor."""
    ball.check(ball.dll.fmi2DoStep(ball.component, 0.0, STOP, 1), "fmi2DoStep")
    step, component = ctypes.cast(ball.dll.fmi2DoStep, ctypes.c_void_p), ctypes.c_void_p(ball.component)
    steps, times, evaluations = 1000, [], value(ball, "solver.evaluations")
    for i in range(25):
        begin = time.process_time()
        status = loops.loop_do_step(
            step, component, ctypes.c_double(STOP + i), ctypes.c_double(1e-3), ctypes.c_long(steps)
        )
        times.append((time.process_time() - begin) / steps)
        assert status == 0
    evaluations = (value(ball, "solver.evaluations") - evaluations) / (25 * steps)
    assert value(ball, "height") == pytest.approx(-REST, rel=1e-9)
    print(f"\nresting ball, a step of 1 ms: {np.median(times) * 1e6:.2f} us, {evaluations:.1f} evaluations")


def test_right_hand_side(fmu: Path, loops: ctypes.CDLL, tmp_path: Path) -> None:
    """A trial point in model exchange, in contact: time and states in, derivatives and indicators out."""
    description = fmpy.read_model_description(str(fmu))
    model = FMU2Model(
        guid=description.guid,
        unzipDirectory=fmpy.extract(str(fmu), str(tmp_path)),
        modelIdentifier=description.modelExchange.modelIdentifier,
        instanceName="ball",
    )
    references = {v.name: v.valueReference for v in description.modelVariables}
    model.instantiate()
    model.setupExperiment()
    model.setReal([references["initial_height"], references["initial_velocity"]], [-1e-3, -0.5])
    model.enterInitializationMode()
    model.exitInitializationMode()
    model.enterContinuousTimeMode()
    calls = [
        ctypes.cast(getattr(model.dll, f"fmi2{name}"), ctypes.c_void_p)
        for name in ("SetTime", "SetContinuousStates", "GetDerivatives", "GetEventIndicators")
    ]
    nx, nz = description.numberOfContinuousStates, description.numberOfEventIndicators
    x, slopes, z = ((ctypes.c_double * n)() for n in (nx, nx, nz))
    component, size = ctypes.c_void_p(model.component), ctypes.c_size_t
    model.getContinuousStates(x, nx)
    times = []
    for _ in range(15):
        begin = time.process_time()
        status = loops.loop_evaluate(
            *calls, component, x, slopes, size(nx), z, size(nz), ctypes.c_double(1e-6), ctypes.c_long(CALLS)
        )
        times.append((time.process_time() - begin) / CALLS)
        assert status == 0
    assert all(map(math.isfinite, slopes)) and max(slopes) > 80.0  # the floor pushes: 100 N on 1 kg
    print(f"\nright-hand side and {nz} indicators, {nx} states: {np.median(times) * 1e9:.0f} ns")
    model.terminate()
    model.freeInstance()
