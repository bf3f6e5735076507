"""A slave that discards a step makes it in parts from the state before; where it cannot, a message ends the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fmu_builder import Scenario, run
from fmu_builder.cosim import discarded_steps
from fmu_builder.cosim.discarded_steps import DiscardedStepError, PartedSteps, refused
from fmu_builder.cosim.loop.program import LOOP
from fmu_builder.cosim.repeated import RepeatedRun
from fmu_builder.cosim.slave import Slave, read_slave
from fmu_builder.errors import SlaveError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.model.scenario import parse_scenario
from fmu_builder.paths import find_recipe, shipped

TIMES = {"stop": 1.0, "step": 0.1}
NOTE = "probe discarded one step, made again from the state before: in parts from 0.3, 0.35 s on"


def system(probe: str = "ProbeStep", **start: float) -> Scenario:
    """Beside a mass: the others make their steps as if nothing had been discarded."""
    slaves = {"mass": {"recipe": "PointMass"}, "probe": {"recipe": probe, "start": start}}
    return Scenario(slaves=slaves, experiment=TIMES)


@pytest.mark.parametrize("loop", ["compiled", "python"])
@pytest.mark.parametrize("fmi", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_a_discarded_step_is_made_in_parts(loop: str, fmi: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LOOP, loop)
    fmu = str(host_fmu(find_recipe("ProbeStep"), fmi=fmi))
    whole, parted = run(system(fmu)), run(system(fmu, discard_at=0.35))
    assert NOTE in parted.notes and NOTE not in whole.notes
    np.testing.assert_allclose(parted["probe.x"], parted.trace.time**2, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(parted["probe.discarded"], parted.trace.time >= 0.35)
    for name in ("mass.p.r[3]", "mass.p.v[3]"):
        np.testing.assert_array_equal(parted[name], whole[name])


@pytest.mark.slow  # starts processes
def test_a_slave_in_a_process_of_its_own_makes_its_step_in_parts_too() -> None:
    parted = run("ProbeStep", start={"discard_at": 0.35}, isolated=True, **TIMES)
    (note,) = parted.notes
    assert note == NOTE.replace("probe", "fmu", 1) and parted["fmu.x"][-1] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("algorithm", ["implicit", pytest.param("adaptive", marks=pytest.mark.slow)])
def test_beside_forces_that_are_solved_for_a_step_is_made_in_parts_too(algorithm: str) -> None:
    slaves = {
        "probe": {"recipe": "ProbeStep", "start": {"discard_at": 0.0135}},
        "ball": {"recipe": "PointMass", "start": {"r0": [0, 0, 1e-3]}},
        "floor": {"recipe": "PointSurface"},
    }
    experiment = {"stop": 0.02, "step": 1e-3, "algorithm": algorithm}
    done = run(Scenario(slaves=slaves, connections=[("ball.p", "floor.point")], experiment=experiment))
    assert any(note.endswith("in parts from 0.013, 0.0135 s on") for note in done.notes)
    np.testing.assert_allclose(done["probe.x"], done.trace.time**2, rtol=0, atol=1e-12)


def test_an_end_within_a_discarded_step_ends_the_run() -> None:
    parted = run(system(discard_at=0.35, end_at=0.37))
    assert "probe ended the simulation at 0.37 s" in parted.notes and len(parted.trace.time) == 4


def test_an_error_within_a_discarded_step_is_that_of_the_step() -> None:
    with pytest.raises(SlaveError, match=r"fmi2Error \(step of 0\.05 s from 0\.35 s\); .*fail_at = 0\.37 s"):
        run(system(discard_at=0.35, fail_at=0.37))


def test_what_cannot_restore_its_state_is_named() -> None:
    plain = str(shipped("fmus") / "probes" / "ProbePlain.toml")
    message = r"probe: .* answered fmi2Discard \(step of 0\.1 s from 0\.3 s, done up to 0\.35 s; its state cannot be re"
    with pytest.raises(SlaveError, match=message):
        run(system(plain, discard_at=0.35))


def test_repeated_runs_keep_the_states_after_the_first_discarded_step(tmp_path: Path) -> None:
    path = tmp_path / "probe.toml"
    path.write_text('[experiment]\nstop = 1.0\nstep = 0.1\n[slaves]\nprobe = "ProbeStep"\n')
    scenario, problems = parse_scenario(path)
    assert not problems
    runs = RepeatedRun(scenario, with_contacts=False)
    try:
        x = list(runs.signals).index("probe.x")
        for discard_at in (0.0, 0.35, 0.55):
            outcome = runs.run({"probe": {"discard_at": discard_at}})
            assert outcome.values[-1, x] == pytest.approx(1.0, abs=1e-12) and not outcome.ended
    finally:
        runs.close()


class Fickle:
    """In place of fmi2DoStep: discards all steps longer than so many seconds, made up to a share of them."""

    def __init__(self, slave: Slave, longest: float, share: float) -> None:
        self._whole, self._longest, self._share = slave.dll.fmi2DoStep, longest, share
        self.calls: list[tuple[float, float]] = []
        self._slave = slave
        slave.dll.fmi2DoStep = self

    def __call__(self, component: Any, time: float, step: float, for_good: int) -> int:
        self.calls.append((time, step))
        if step <= self._longest:
            return int(self._whole(component, time, step, for_good))
        self._whole(component, time, self._share * step, for_good)
        return 2


def stepped(longest: float, share: float) -> tuple[PartedSteps, Fickle]:
    slave = Slave("probe", read_slave(host_fmu(find_recipe("ProbeStep"))))
    slave.setup(0.0, 1.0, None)
    slave.call("fmi2EnterInitializationMode")
    slave.call("fmi2ExitInitializationMode")
    parted = PartedSteps(slave)
    fickle = Fickle(slave, longest, share)
    parted.kept.keep()
    assert slave.dll.fmi2DoStep(slave.component, 0.0, 0.1, 0) == 2
    return parted, fickle


@pytest.mark.parametrize("share", [1.0, 0.5, 0.3])
def test_parts_get_shorter_until_they_succeed(share: float) -> None:
    """Where the last successful time is that of the whole step, or none, a part is half of it."""
    parted, fickle = stepped(0.02, share)
    assert parted.make(0.0, 0.1) is None and parted.count == 1
    x = parted.slave.get(parted.slave.description.variables["x"])
    assert x == pytest.approx(0.01, abs=1e-12)
    assert fickle.calls[-1][0] + fickle.calls[-1][1] == 0.1
    parted.kept.free()
    parted.slave.close()


def test_steps_that_are_always_discarded_end_with_a_message() -> None:
    parted, fickle = stepped(0.0, 0.5)
    with pytest.raises(SlaveError, match=r"fmi2Discard .*; shorter steps were discarded too"):
        parted.make(0.0, 0.1)
    assert fickle.calls[-1][1] < 4 * discarded_steps.SHORTEST * 0.1
    error = refused(parted.slave, 0.0, 0.1)
    assert isinstance(error, DiscardedStepError) and error.slave == "probe"
    parted.kept.free()
    parted.slave.close()
