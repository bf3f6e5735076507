"""A parameter outside its range ends a run, in fmpy and in ours, whoever sets it and whenever."""

from __future__ import annotations

from pathlib import Path

import fmpy
import pytest
from typer.testing import CliRunner

from fmu_builder.cli.commands import app
from fmu_builder.cosim.slave import ERROR, OK, Slave, SlaveError, read_slave
from fmu_builder.errors import InputError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.paths import shipped

SWING = """
connections = [["mass.p", "spring.r"]]
[experiment]
stop = "1 ms"
step = "0.1 ms"
[slaves]
mass = "SliderMass"
spring = {{ recipe = "TranslationalSpring", start = {{ {start} }} }}
"""


@pytest.fixture(scope="module")
def spring() -> Path:
    return host_fmu(shipped("fmus") / "TranslationalSpring.toml")


@pytest.mark.parametrize("value, rule", [(-5.0, "must be greater than 0 N/m"), (0.0, "must be greater than 0 N/m")])
def test_fmpy_and_run_end_with_variable_value_and_rule(spring: Path, tmp_path: Path, value: float, rule: str) -> None:
    with pytest.raises(Exception, match="status 3"):
        fmpy.simulate_fmu(str(spring), start_values={"k": value}, stop_time=0.01)
    path = tmp_path / "swing.toml"
    path.write_text(SWING.format(start=f"k = {value}"))
    done = CliRunner(env={"COLUMNS": "400"}).invoke(app, ["run", str(path), "-o", str(tmp_path / "trace.csv")])
    assert isinstance(done.exception, InputError) and not (tmp_path / "trace.csv").exists()
    text = str(done.exception)
    assert "[slaves] spring start k" in text and f"{value:g} N/m" in text and rule in text


def test_every_wrong_start_value_is_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "drop.toml"
    path.write_text(
        "[experiment]\nstop = 1e-4\nstep = 1e-5\n[slaves]\n"
        'floor = { recipe = "PointSurface", start = { C_F = -1, C_r = 2 } }\n'
    )
    done = CliRunner().invoke(app, ["run", str(path)])
    text = str(done.exception)
    assert (
        "C_F = -1 N/m is refused, it must be at least 0 N/m" in text
        and "C_r = 2 is refused, it must be at most 1" in text
    )


def test_a_change_in_the_midst_of_a_run_is_an_error_and_the_value_before_stays(spring: Path) -> None:
    slave = Slave("spring", read_slave(spring))
    try:
        k = slave.description.variables["k"]
        slave.setup(0.0, 1.0, None)
        slave.call("fmi2EnterInitializationMode")
        slave.call("fmi2ExitInitializationMode")
        with pytest.raises(SlaveError, match=r"fmi2Error.*k = -1 N/m is refused, it must be greater than 0 N/m"):
            slave.set(k, -1.0)
        assert slave.status == ERROR and slave.get(k) == 1000.0
        assert slave.dll.fmi2DoStep(slave.component, 0.0, 1e-3, 1) == OK, "an importer that knows why may go on"
    finally:
        slave.close()
