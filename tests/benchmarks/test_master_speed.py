"""Speed of the master: two coupled FMUs, per communication step.

`python -m pytest -n 0 -m benchmark tests/benchmarks`.  Budget 8 us of processor time a step, recorded or not.  Nothing
is asserted but that the work was done: machines differ.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fmu_builder.cosim.master import _Master, load_scenario
from tests.contact_core.fmi2 import literal

pytestmark = pytest.mark.benchmark(timer=time.process_time)

STEPS = 20_000
SYSTEM = """
connections = [ ["body.p", "floor.point"] ]
[experiment]
stop = 0.2
step = 1e-5
output_step = {output_step}
algorithm = "{algorithm}"
[slaves]
body = {{ recipe = "PointMass", start = {{ r0 = [0, 0, 0.01] }} }}
floor = "PointSurface"
"""


@pytest.mark.parametrize("rows", [2, STEPS + 1], ids=["unrecorded", "recorded"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_communication_step(benchmark: Callable[..., object], tmp_path: Path, algorithm: str, rows: int) -> None:
    literal("PointSurface", tmp_path)
    path = tmp_path / "system.toml"
    output_step = 0.2 if rows == 2 else 1e-5
    path.write_text(SYSTEM.format(output_step=output_step, algorithm=algorithm), encoding="utf-8")
    master = _Master(load_scenario(path))  # reading and checking are not timed; loading the two FMUs is
    trace = master.run(lambda share: None).trace
    assert len(trace.time) == rows and trace["floor.contact_count"][-1] > 0
    benchmark.pedantic(lambda: master.run(lambda share: None), rounds=4, iterations=1)  # type: ignore[attr-defined]
    microseconds = benchmark.stats.stats.min / STEPS * 1e6  # type: ignore[attr-defined]
    benchmark.extra_info["us_per_step"] = round(microseconds, 2)  # type: ignore[attr-defined]
    print(f"\n{benchmark.name}: {microseconds:.2f} us per step (budget 8)")  # type: ignore[attr-defined]
