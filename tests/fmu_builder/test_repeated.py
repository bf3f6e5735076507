"""Runs of a system that is loaded once: what a reset answers, and FMUs that have to be loaded again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from foreign import BODY, foreign_fmu

from fmu_builder.cosim.master import load_scenario
from fmu_builder.cosim.repeated import RepeatedRun
from fmu_builder.errors import SlaveError

SYSTEM = """
[experiment]
stop = "20 ms"
step = "1 ms"
[slaves]
one = { recipe = "One.fmu", start = { r0 = ["1 mm", 0, 0] } }
two = "Two.fmu"
"""
STIFF = {"one": {"k": 2e3}}


def repeated(folder: Path, first: str) -> RepeatedRun:
    """first: guid of the slave `one`"""
    foreign_fmu(folder, "One", BODY, first)
    foreign_fmu(folder, "Two", BODY)
    path = folder / "system.toml"
    path.write_text(SYSTEM)
    return RepeatedRun(load_scenario(path), with_contacts=False)


@pytest.mark.parametrize("status", ["0", "1", "3", "4"])
def test_a_run_is_that_of_a_new_system_whatever_a_reset_answers(tmp_path: Path, status: str) -> None:
    runs = repeated(tmp_path, f"b0{status}-")
    try:
        soft, stiff = (runs.run(starts).values.copy() for starts in ({}, STIFF))
        assert not np.array_equal(soft, stiff)
        for starts, expected in (({}, soft), (STIFF, stiff)):
            assert np.array_equal(runs.run(starts).values, expected)
    finally:
        runs.close()


def test_a_reset_with_a_warning_loads_nothing_again(tmp_path: Path) -> None:
    runs = repeated(tmp_path, "b01-")
    try:
        runs.run({})
        loaded = dict(runs._slaves)
        runs.run({})
        assert runs._slaves == loaded
    finally:
        runs.close()


def test_every_run_tries_again_to_load_an_fmu_that_did_not_load(tmp_path: Path) -> None:
    runs = repeated(tmp_path, "b4--")
    try:
        with pytest.raises(SlaveError, match="one: fmi2DoStep answered fmi2Fatal"):
            runs.run({})
        library = runs._master.descriptions["two"].library()
        foreign_fmu(tmp_path, "Two", BODY, files={library: b"no library"}, platforms=())
        for _ in range(2):
            with pytest.raises(SlaveError, match=r"two \(Two.fmu\)"):
                runs.run({})
        foreign_fmu(tmp_path, "Two", BODY)
        with pytest.raises(SlaveError, match="one: fmi2DoStep answered fmi2Fatal"):
            runs.run({})
    finally:
        runs.close()
