"""What the solver concludes from dependencies about the implicit method: which states its linear system holds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fmu_builder import run
from fmu_builder.export import conclusions, model_data
from fmu_builder.model import Model
from fmu_builder.paths import shipped


@pytest.mark.slow
@pytest.mark.parametrize("left_out", [slice(0, 2), slice(0, None, 2)], ids=["the first two", "every second"])
def test_a_linear_system_without_a_state_that_belongs_there_costs_steps_and_not_accuracy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, left_out: slice
) -> None:
    """The error of a substep is estimated with the same matrix: what is missing there shortens the substeps."""
    monkeypatch.chdir(tmp_path)
    start = {"solver.method": "implicit"}
    right = run("SpringPendulum", start=start, stop="0.1 s", step="0.1 s")

    def with_less(model: Model) -> list[int]:
        core = conclusions.is_core(model)
        for i in [i for i, belongs in enumerate(core) if belongs][left_out]:
            core[i] = 0
        return core

    monkeypatch.setattr(model_data, "is_core", with_less)
    other = tmp_path / "SpringPendulum.toml"  # tests look up FMUs of the catalogue once
    shutil.copyfile(shipped("fmus") / other.name, other)
    wrong = run(other, start=start, stop="0.1 s", step="0.1 s")
    for name in ("fmu.position[1]", "fmu.position[3]"):
        assert wrong[name][-1] == pytest.approx(right[name][-1], abs=1e-6)  # of 1 m; solver.tolerance = 1e-9 a substep
    assert wrong["fmu.solver.evaluations"][-1] > 20.0 * right["fmu.solver.evaluations"][-1]
