"""The master runs FMUs for FMI 3.0 as those for FMI 2.0, through a library that speaks both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fmu_builder
from fmu_builder.cosim.slave import Slave, read_slave
from fmu_builder.errors import InputError, SlaveError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.toolchain import host_platform
from fmu_builder.model.documents import Recipe, as_file
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


def test_arrays_are_refused() -> None:
    with as_file(Recipe(name="Arrays", element="point_mass", arrays=True)) as path:
        fmu = host_fmu(path, ("-O0",), 3)
    with pytest.raises(InputError, match="has arrays, such as g, and the master reads scalars only"):
        read_slave(fmu)
