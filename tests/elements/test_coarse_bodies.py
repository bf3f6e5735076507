"""A contact whose body takes longer steps: it sees the same motion for some steps of its own, then the next one."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from fmi2 import OK, Fmu
from running import Running, build

from fmu_builder.cosim.master import run

FLOOR = (
    'element = "point_surface"\n[surface]\nkind = "plane"\n[structure]\ncoupling = {}\n[start]\nC_r = 1.0\nC_F = 1e5\n'
)
FALL = """
connections = [["body.p", "floor.point"]]
[experiment]
stop = 0.15
step = {step}
algorithm = "{master}"
[slaves]
body = {{ recipe = "PointMass", step = {coarse}, start = {{ r0 = [0, 0, {drop}] }} }}
floor = {{ recipe = "Floor.toml" }}
"""
DROP, G = 0.02, 9.81
TOUCH = math.sqrt(2.0 * DROP / G)
MISPLACED = "cannot have reached through the surface"


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("floor"), "Floor", FLOOR.format("false"))


@pytest.mark.parametrize("coupling", ["false", "true"])
@pytest.mark.parametrize("master", ["jacobi", "gauss_seidel"])
def test_the_way_of_a_long_step_is_no_jump(tmp_path: Path, master: str, coupling: str) -> None:
    (tmp_path / "Floor.toml").write_text(FLOOR.format(coupling))
    path = tmp_path / "fall.toml"
    path.write_text(FALL.format(step=1e-4, coarse=1.5e-3, master=master, drop=DROP))
    done = run(path)
    assert not [entry.text for entry in done.log if MISPLACED in entry.text]
    assert done["floor.energy.switched"][-1] == 0.0
    if coupling == "false":  # the force of a coupled one acts a step before
        assert done.contacts[0].touch == pytest.approx(TOUCH, abs=1e-9)


@pytest.mark.parametrize(("shown", "jumps"), [(10, False), (1, True)], ids=["every tenth step", "each step"])
def test_a_way_that_is_too_long_for_the_time_is_one(floor: Fmu, shown: int, jumps: bool) -> None:
    """1 m/s down, by 10 mm at once."""
    running = Running(floor, {"point.r[3]": 0.025, "point.v[3]": -1.0})
    for z in (0.025, 0.015, 0.005, -0.005):
        running.set({"point.r[3]": z})
        for _ in range(shown):
            running.step(1e-3)
    assert any(MISPLACED in text for text in running.told) == jumps
    assert (running["energy.switched"] != 0.0) == jumps


def test_a_point_that_rested_has_no_longer_way_behind_it(floor: Fmu) -> None:
    """At rest for a second, then placed in the depth with a speed that would not take it there in a step."""
    running = Running(floor, {"point.r[3]": 0.1})
    for _ in range(1000):
        running.step(1e-3)
    running.set({"point.r[3]": -0.005, "point.v[3]": -1.0})
    running.step(1e-3)
    assert any(MISPLACED in text for text in running.told)
    assert running["energy.switched"] == pytest.approx(-0.5 * 1e5 * 0.005**2)


def test_a_restored_state_knows_how_long_a_place_was_shown(floor: Fmu) -> None:
    running = Running(floor, {"point.r[3]": 0.005, "point.v[3]": -1.0})
    for _ in range(9):
        running.step(1e-3)
    state, time = running.slave.get_state(), running.time
    for _ in range(2):
        assert running.slave.call("fmi2SetFMUstate", state) == OK
        running.time = time
        running.step(1e-3)
        running.set({"point.r[3]": -0.005})
        running.step(1e-3)
        assert running["contact_count"] == 1 and running["energy.switched"] == 0.0
    assert not [text for text in running.told if MISPLACED in text]
