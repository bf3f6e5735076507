"""Plans of studies: which runs they have, in any pieces."""

from __future__ import annotations

import numpy as np
import pytest

from fmu_builder.studies.factors import Axis
from fmu_builder.studies.plan import Grid, LatinHypercube, Listed, OneAtATime, Random, RunPlan, Saltelli, Sobol

AXES = (
    Axis("a", "start", (("x", "a"),), "N/m", None, low=1.0, high=100.0, log=True, count=3, base=10.0),
    Axis("b", "start", (("x", "b"),), "1", (0.5, 2.0, 7.0), (0.5, 2.0, 7.0), base=1.0),
)
PLANS: dict[str, RunPlan] = {
    "grid": Grid(AXES),
    "one at a time": OneAtATime(AXES),
    "list": Listed(np.arange(14.0).reshape(7, 2)),
    "random": Random(AXES, 3000, 5),
    "latin hypercube": LatinHypercube(AXES, 1001, 5),
    "sobol": Sobol(AXES, 100, 5),
    "saltelli": Saltelli(AXES, 16, 5),
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS.keys())
def test_rows_of_a_plan_are_the_same_in_any_pieces(plan: RunPlan) -> None:
    whole = plan.rows(0, plan.size)
    assert whole.shape == (plan.size, 2)
    for first, count in ((0, 1), (plan.size - 1, 1), (plan.size // 3, plan.size // 2)):
        assert np.array_equal(plan.rows(first, count), whole[first : first + count])


def test_a_grid_has_every_combination_once() -> None:
    rows = Grid(AXES).rows(0, 9)
    assert len({tuple(row) for row in rows.tolist()}) == 9
    assert rows[:, 0].tolist() == pytest.approx([1.0] * 3 + [10.0] * 3 + [100.0] * 3)


def test_one_at_a_time_changes_one_factor_of_the_base() -> None:
    rows = OneAtATime(AXES).rows(0, OneAtATime(AXES).size)
    changed = (rows != rows[0]).sum(axis=1)
    assert rows[0].tolist() == [10.0, 1.0] and changed[1:].tolist() == [1] * (len(rows) - 1)


@pytest.mark.parametrize("size", [1, 2, 7, 1001])
def test_a_latin_hypercube_has_one_run_in_each_layer(size: int) -> None:
    axes = [Axis(name, "start", (("x", name),), "1", None, low=0.0, high=1.0) for name in "abc"]
    rows = LatinHypercube(axes, size, 3).rows(0, size)
    for column in range(3):
        assert sorted(np.floor(rows[:, column] * size).astype(int)) == [*range(size)]


def test_saltelli_has_the_order_of_salib() -> None:
    axes = [Axis(name, "start", (("x", name),), "1", None, low=0.0, high=1.0) for name in "ab"]
    a, a_b1, a_b2, b = Saltelli(axes, 4, 1).rows(0, 16)[4:8]
    assert a_b1.tolist() == [b[0], a[1]] and a_b2.tolist() == [a[0], b[1]]
