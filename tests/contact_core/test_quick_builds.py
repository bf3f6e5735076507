"""What these tests compile without optimization gives the bits of what users get."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from fmi2 import QUICK, Fmu
from forms import first_of_each_element
from running import Running

from fmu_builder.export.fmu import host_fmu
from fmu_builder.paths import shipped


def course(fmu: Fmu) -> list[bytes]:
    """All values after each of 60 steps with inputs that change, and at the end all derivatives along one direction."""
    rng = random.Random(3)
    running = Running(fmu)
    inputs = [v for v in fmu.description.modelVariables if v.causality == "input" and v.type == "Real"]
    moved = [v.name for v in inputs if v.variability == "continuous" and ".q[" not in v.name]
    unknowns = [u.variable.name for u in fmu.description.outputs if u.variable.type == "Real"]
    bits = []
    for _ in range(60):
        running.set({name: rng.uniform(-1e-2, 1e-2) for name in moved})
        running.step(rng.choice((1e-3, 1e-2)))
        bits.append(running.slave.all_values())
    along = dict.fromkeys(moved or [d.variable.derivative.name for d in fmu.description.derivatives], 1.0)
    return [*bits, running.directional(unknowns, along).tobytes()]


EVERY_DAY = "PointSurface"
SLOW = sorted({"BouncingBall", "PointLine2", *first_of_each_element()} - {EVERY_DAY})


@pytest.mark.parametrize("name", [EVERY_DAY, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
@pytest.mark.usefixtures("optimized")
def test_without_optimization_an_fmu_has_the_same_bits(name: str, tmp_path: Path) -> None:
    recipe = shipped("fmus") / f"{name}.toml"
    optimized, quick = host_fmu(recipe), host_fmu(recipe, QUICK)
    assert optimized.read_bytes() != quick.read_bytes()
    expected = course(Fmu(optimized, tmp_path))
    assert course(Fmu(quick, tmp_path)) == expected
    assert len(set(expected)) == len(expected)
