"""The price of Python: one communication step of impact_damper in C and as a prototype, in flight and with contacts.

Loops over fmi2DoStep from Python through ctypes; its own cost, 0.3 to 0.5 us a call, is part of both numbers."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from fmu_builder.cosim.slave import OK, Slave, read_slave
from fmu_builder.export.fmu import host_fmu
from fmu_builder.paths import shipped

STEP = 5e-4  # s
RUNS = {"free flight": ({"w0": 0.0}, 200), "rattle": ({"w0": 1.0, "C_F": 1e5, "C_r": 1.0}, 200)}


def microseconds(recipe: Path, starts: dict[str, float], steps: int) -> float:
    """Mean of the steps of a run, best of five runs, us of processor time."""
    description = read_slave(host_fmu(recipe))
    means = []
    for _ in range(5):
        slave = Slave("slave", description)
        try:
            for name, value in starts.items():
                slave.set(description.variables[name], value)
            slave.setup(0.0, 1.0, None)
            slave.call("fmi2EnterInitializationMode")
            slave.call("fmi2ExitInitializationMode")
            step, component = slave.dll.fmi2DoStep, slave.component
            begin = time.process_time()
            statuses = [step(component, STEP * i, STEP, 1) for i in range(steps)]
            means.append((time.process_time() - begin) / steps * 1e6)
            assert statuses == [OK] * steps
        finally:
            slave.close()
    return min(means)


@pytest.mark.benchmark
@pytest.mark.parametrize("run", RUNS)
def test_a_step_in_c_and_in_python(tmp_path: Path, run: str) -> None:
    element = (shipped("elements") / "impact_damper").as_posix()
    found = {}
    for language in ("c", "python"):
        recipe = tmp_path / language / "ImpactDamper.toml"
        recipe.parent.mkdir()
        recipe.write_text(f"element = '{element}'\nlanguage = \"{language}\"\n", encoding="utf-8")
        found[language] = microseconds(recipe, *RUNS[run])
    c, python = found["c"], found["python"]
    print(f"\n{run}: {c:.2f} us in C, {python:.0f} us in Python, {python / c:.0f} times as much")
