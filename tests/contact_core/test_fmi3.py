"""FMI 3.0: the same core behind another layer, so the same numbers as in FMI 2.0."""

from __future__ import annotations

from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu

from fmu_builder.export.fmu import host_fmu
from fmu_builder.paths import shipped


@pytest.fixture(scope="module", params=["BouncingBall", "PointSurface"])
def twins(request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """An FMU for FMI 2.0 and for FMI 3.0, of one recipe."""
    recipe = shipped("fmus") / f"{request.param}.toml"
    return host_fmu(recipe), host_fmu(recipe, fmi=3)


def variables(fmu: Path) -> list[str]:
    return [v.name for v in fmpy.read_model_description(str(fmu)).modelVariables if v.causality != "independent"]


def simulated(fmu: Path, kind: str, stop: float) -> np.ndarray:
    """Every variable of FMI 2.0, over 20 steps."""
    return fmpy.simulate_fmu(str(fmu), fmi_type=kind, output=NAMES[fmu], stop_time=stop, output_interval=stop / 20)


NAMES: dict[Path, list[str]] = {}


@pytest.mark.slow  # fmpy takes seconds for the names of variables; every build has the rest of it checked
def test_fmpy_finds_no_problem(twins: tuple[Path, Path]) -> None:
    assert validate_fmu(str(twins[1])) == []


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_all_values_are_those_of_fmi_2(twins: tuple[Path, Path], kind: str) -> None:
    NAMES[twins[0]] = NAMES[twins[1]] = variables(twins[0])
    old, new = (simulated(fmu, kind, 0.5) for fmu in twins)
    assert sorted(old.dtype.names or ()) == sorted(new.dtype.names or ())
    for name in old.dtype.names or ():
        np.testing.assert_array_equal(new[name].astype(float), old[name].astype(float), err_msg=name)
