"""Speed of mechanisms.  `python -m pytest -n 0 -s -m benchmark tests/benchmarks/test_mechanism_speed.py`.

Processor time of fmi2DoStep alone, the best of several runs; nothing is asserted but that the work was done: machines
differ.  Budgets stand beside the figures."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from fmu_builder.cosim.slave import Slave, read_slave
from fmu_builder.export.fmu import host_fmu
from fmu_builder.paths import shipped

pytestmark = pytest.mark.benchmark

RUNS, LONG_ENOUGH = 20, 0.3  # runs of one mechanism, and s of them after which three do


def best(fmu: Path, stop: float) -> tuple[float, float, float]:
    """Seconds, substeps and evaluations of one communication step from 0 to `stop`."""
    times: list[float] = []
    steps = evaluations = 0.0
    while len(times) < 3 or (len(times) < RUNS and sum(times) < LONG_ENOUGH):
        slave = Slave("mechanism", read_slave(fmu))
        slave.dll.fmi2SetupExperiment(slave.component, 0, 0.0, 0.0, 0, 0.0)
        slave.call("fmi2EnterInitializationMode")
        slave.call("fmi2ExitInitializationMode")
        begin = time.process_time()
        status = slave.dll.fmi2DoStep(slave.component, 0.0, stop, 1)
        times.append(time.process_time() - begin)
        assert status == 0
        steps, evaluations = (slave.get(slave.description.variables[f"solver.{n}"]) for n in ("steps", "evaluations"))
        slave.close()
    return min(times), steps, evaluations


@pytest.mark.parametrize("name", ["CamChainConcave", "CamChainConvex"])
def test_the_chain_on_its_cam(name: str) -> None:
    seconds, steps, evaluations = best(host_fmu(shipped("fmus") / f"{name}.toml"), 1.5)
    print(
        f"\n{name}, 1.5 s: {seconds * 1e3:.2f} ms, {steps:.0f} substeps of {seconds / steps * 1e6:.2f} us (budget 7), "
        f"{evaluations:.0f} evaluations of {seconds / evaluations * 1e6:.2f} us (budget 1)"
    )
    assert evaluations > 1000


@pytest.mark.parametrize("count", [10, 30, 100])
def test_a_chain_of_many_links(count: int, tmp_path: Path) -> None:
    """Rods on a hinge, let go in a slack curve: the time of an evaluation per body stays what it is."""
    body = 'joint = "revolute"\nmass = 1\ninertia = 0.01\ncentre = [0.15, 0]\ndamping = 0.1\nstart = -0.01\n'
    text = 'element = "planar_mechanism"\n[[body]]\n' + body + ("[[body]]\nplace = [0.3, 0]\n" + body) * (count - 1)
    recipe = tmp_path / f"Links{count}.toml"
    recipe.write_text(text, encoding="utf-8")
    seconds, steps, evaluations = best(host_fmu(recipe), 0.05)
    each = seconds / evaluations * 1e6
    print(f"\n{count} links: {evaluations:.0f} evaluations of {each:.2f} us, {each / count * 1e3:.0f} ns a link")
    assert steps > 5
