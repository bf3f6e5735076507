"""The master runs FMUs for FMI 3.0 as those for FMI 2.0, through a library that speaks both."""

from __future__ import annotations

import sys
from ctypes import byref, c_double
from pathlib import Path

import numpy as np
import pytest

import fmu_builder
from fmu_builder import Assembly, Result, Scenario
from fmu_builder.cli.building import versions
from fmu_builder.cosim.loop.program import LOOP
from fmu_builder.cosim.slave import Slave, read_slave
from fmu_builder.errors import InputError, SlaveError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.toolchain import host_platform
from fmu_builder.model.documents import as_file
from fmu_builder.paths import shipped


@pytest.fixture(scope="module")
def ball() -> Path:
    return host_fmu(shipped("fmus") / "BouncingBall.toml", fmi=3)


def test_a_run_has_the_bits_of_fmi_2(ball: Path, tmp_path: Path) -> None:
    traces = []
    for number, fmu in enumerate((host_fmu(shipped("fmus") / "BouncingBall.toml"), ball)):
        path = tmp_path / f"{number}.toml"
        path.write_text(
            '[experiment]\nstop = "0.6 s"\nstep = "5 ms"\n[drive]\n'
            '"ball.floor.surface.r[3]" = "0.02[m]*sin(9[1/s]*#t)"\n'
            f'[slaves.ball]\nrecipe = \'{fmu}\'\nstart = {{ mass = 2, "solver.method" = "explicit" }}\n'
        )
        traces.append(fmu_builder.run(path).trace)
    old, new = traces
    assert sorted(old.names) == sorted(new.names) and "ball.floor.impulse" in old.names
    for name in old.names:
        np.testing.assert_array_equal(new[name], old[name], err_msg=name)


@pytest.mark.skipif(sys.platform == "win32", reason="isolated is refused there")
def test_a_process_of_its_own_is_for_fmi_2(ball: Path, tmp_path: Path) -> None:
    (path := tmp_path / "alone.toml").write_text(
        f"[experiment]\nstop = 1\nstep = 0.1\n[slaves]\nball = {{ recipe = '{ball}', isolated = true }}\n"
    )
    with pytest.raises(InputError, match=r"\[slaves\] ball isolated: is for FMUs for FMI 2\.0, and this one is for"):
        fmu_builder.run(path)


def test_the_description_is_that_of_fmi_2(ball: Path) -> None:
    old, new = read_slave(host_fmu(shipped("fmus") / "BouncingBall.toml")), read_slave(ball)
    for part in ("model_name", "ports", "interfaces", "stop", "step", "restorable", "platforms", "states_behind"):
        assert getattr(new, part) == getattr(old, part), part
    assert new.platforms == (host_platform(),)
    assert list(new.variables) == list(old.variables)
    for name, one in new.variables.items():
        assert (one.type, one.unit, one.literals, one.depends, one.zero, one.held) == (
            (other := old.variables[name]).type, other.unit, other.literals, other.depends, other.zero, other.held
        ), name  # fmt: skip
    assert old.interpolates and not new.interpolates  # FMI 3.0 has no derivatives of inputs


def test_an_error_names_the_function_of_fmi_3(ball: Path) -> None:
    slave = Slave("ball", description := read_slave(ball))
    slave.setup(0.0, 1.0, None)
    with pytest.raises(
        SlaveError, match=r"fmi3SetFloat64 answered fmi3Error \(mass = -1.0 kg\); it logged: fmi3SetFloat64: "
    ):
        slave.set(description.variables["mass"], -1.0)
    slave.close()


@pytest.mark.parametrize(("text", "unknown"), [("", ""), (" ", ""), ("4", "4"), ("2,", ""), ("2.1", "2.1")])
def test_a_version_that_does_not_exist_is_refused(text: str, unknown: str) -> None:
    with pytest.raises(InputError, match=f"--fmi: '{unknown}' is unknown; 2 and 3 are known, 2,3 builds both"):
        versions(text)
    assert versions(None) == () and versions("2, 3.0") == (2, 3)


BALL = {"recipe": "PointMass", "start": {"m": 1, "r0": [0, 0, 0.02]}}
FLOOR = {"recipe": "PointSurface", "start": {"C_F": 1e5, "C_r": 0.5, "K_fr": 0}}
OTHER = {"recipe": "PointMass", "start": {"m": 2, "r0": [0, 0, 0.12]}}
SPRING = {"recipe": "PointToPointSpring", "start": {"k": 2000, "l0": 0.1}}
TIMES = {"stop": 0.4, "step": 0.02}


def bounced(fmi: int) -> Result:
    """A ball with its floor in one FMU, on a spring to another mass."""
    bouncer = Assembly(
        name="Bouncer",
        description="A ball on a floor",
        parts={"ball": BALL, "floor": FLOOR},
        connections=[("ball.p", "floor.point")],
        expose={"ports": {"ball": "ball.p"}},
    )
    with as_file(bouncer) as path:
        fmu = str(host_fmu(path, fmi=fmi))
    return fmu_builder.run(
        Scenario(
            slaves={"body": {"recipe": fmu}, "other": OTHER, "spring": SPRING},
            connections=[("body.ball", "spring.first"), ("other.p", "spring.second")],
            experiment={**TIMES, "algorithm": "adaptive"},
        )
    )


@pytest.mark.slow  # builds three assemblies
def test_adaptive_ends_its_steps_at_events_that_a_body_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference is one FMU of all four under one solver.  The guide has the figures of both."""
    whole = Assembly(
        name="Bounced",
        description="All in one",
        parts={"ball": BALL, "floor": FLOOR, "other": OTHER, "spring": SPRING},
        connections=[("ball.p", "floor.point"), ("ball.p", "spring.first"), ("other.p", "spring.second")],
    )
    with as_file(whole) as path:
        reference = fmu_builder.run(str(host_fmu(path)), **TIMES)
    exact = reference["fmu.ball.p.v[3]"]

    def error(result: Result) -> float:
        return float(np.abs(result["body.ball.v[3]"] - exact).max())

    old, new = bounced(2), bounced(3)
    contacts = reference["fmu.floor.contact_count"][-1]
    assert error(old) > 0.5 and error(new) < 2e-3
    assert old.groups[0].events == 0 and new.groups[0].events >= 2 * contacts - 1  # the last release may lie behind
    assert new.groups[0].drift <= 1e-3 < old.groups[0].drift
    assert f"{new.groups[0].events} of them end at events of bodies" in new.notes[0]
    monkeypatch.setenv(LOOP, "python")
    other = bounced(3)
    assert other.trace.values.tobytes() == new.trace.values.tobytes()
    assert (other.groups, other.notes) == (new.groups, new.notes)


def test_a_step_that_ended_early_is_completed(ball: Path) -> None:
    """The adaptor shows the event, and makes the whole step where the master asks for it."""
    fallen = []
    for ends_early in (False, True):
        slave = Slave("ball", read_slave(ball), ends_early=ends_early)
        slave.setup(0.0, 1.0, None)
        slave.call("fmi2EnterInitializationMode")
        slave.call("fmi2ExitInitializationMode")
        assert slave.dll.fmi2DoStep(slave.component, 0.0, 1.0, 0) == 0
        last = c_double(0.0)
        assert slave.dll.fmi2GetRealStatus(slave.component, 2, byref(last)) == 0 and last.value == 1.0
        fallen.append(slave.get(slave.description.variables["height"]))
        slave.close()
    assert fallen[0] != fallen[1] and fallen[1] == pytest.approx(fallen[0], abs=1e-8)


def test_an_fmu_of_fmi_3_gives_derivatives_as_that_of_fmi_2(ball: Path) -> None:
    old = read_slave(host_fmu(shipped("fmus") / "BouncingBall.toml"))
    assert len(read_slave(ball).derivatives) == len(old.derivatives) > 6
