"""Speed at equal error next to MuJoCo and Exudyn.

`python -m pytest -n 0 -s -m benchmark tests/benchmarks/test_peers.py`.
Needs the extra `bench`; without it the tests fail.  peers.py says what is run and how it is measured, work_precision.py
draws it.  Asserted is what holds on any machine by a margin; the table says where the FMU is not ten times faster."""

from __future__ import annotations

from pathlib import Path

import mechanism_peers
import pytest
from peers import PROBLEMS, Name, curves, overhead
from work_precision import fastest, ratio, table

pytestmark = pytest.mark.benchmark

AT_LEAST = {  # times as long as the FMU at the error 1e-6, a third or less of what was measured
    "elastic": {"MuJoCo": 100.0},
    "damped": {"MuJoCo": 100.0, "Exudyn": 1.0},
    "sliding": {"MuJoCo": 3.0},
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_work_and_precision(name: Name, tmp_path: Path) -> None:
    problem = PROBLEMS[name]
    measured = list(curves(problem, tmp_path, longest=0.05))
    print(f"\none call from Python: {overhead(tmp_path) * 1e6:.1f} us\n{table(problem, measured)}")
    for curve in measured:  # all of them solve the same problem
        assert min(point.error for point in curve.points) < 1e-3, f"{curve.engine}, {curve.method}"
    for peer, times in AT_LEAST[name].items():
        assert ratio(measured, peer, 1e-6) > times, peer


def test_the_chain_on_its_cam() -> None:
    """At the error 1e-5 in q Exudyn and MuJoCo take some hundred times as long, or do not get there."""
    measured = list(mechanism_peers.curves())
    print(f"\n{mechanism_peers.table(measured)}")
    for curve in measured:  # all of them solve the same problem
        least = min(point.error for point in curve.points)
        assert least < mechanism_peers.SAME_PROBLEM, f"{curve.engine}, {curve.method}"
    ours, _, reached = fastest(measured, "FMU", 1e-5)
    assert reached
    for peer in ("Exudyn", "MuJoCo"):
        assert fastest(measured, peer, 1e-5)[0] > 30.0 * ours, peer
