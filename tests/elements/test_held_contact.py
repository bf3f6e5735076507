"""What an uncoupled contact says of communication steps that are too long for what it has seen."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from fmi2 import literal

from fmu_builder.cosim.master import run
from fmu_builder.cosim.result import Result
from fmu_builder.export.fmu import host_fmu
from fmu_builder.paths import shipped

STRIKE = """
connections = [["body.p", "floor.point"]]
[experiment]
stop = {stop}
step = {step}
algorithm = "{master}"
[slaves]
body = {{ recipe = "PointMass", start = {{ g = [0, 0, 0], r0 = [0, 0, 1e-4], v0 = [0, 0, -1] }} }}
floor = {{ recipe = "PointSurface", start = {{ C_F = 1e5, C_r = {C_r}, K_fr = 0 }} }}
"""
HALF = math.pi / math.sqrt(1e5)  # s: an elastic contact of 1 kg


def strike(folder: Path, N: float, master: str, C_r: float = 1.0) -> Result:
    step = HALF / N
    count = math.ceil(3 * HALF / step)
    literal("PointSurface", folder)
    path = folder / "strike.toml"
    path.write_text(STRIKE.format(step=repr(step), stop=repr(count * step), master=master, C_r=C_r))
    return run(path)


def said(done: Result) -> list[str]:
    return [entry.text for entry in done.log if "the held force" in entry.text]


@pytest.mark.parametrize("C_r", [1.0, 0.5])
@pytest.mark.parametrize("master", ["jacobi", "gauss_seidel"])
def test_a_rebound_that_is_too_fast_is_logged_once_with_the_step_to_take(
    tmp_path: Path, master: str, C_r: float
) -> None:
    """Within a tenth of the rebound that the run shows, and a fifth of the number of steps."""
    done = strike(tmp_path, 16.0, master, C_r)
    (text,) = said(done)
    numbers = [
        float(one) for one in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?= communication| times| s\b)", text)
    ]
    steps, gauss_seidel, jacobi, *_ = numbers
    assert steps == pytest.approx(16.0, rel=0.2)
    factor = done.trace["body.p.v[3]"][-1] / C_r
    assert (jacobi if master == "jacobi" else gauss_seidel) == pytest.approx(factor, rel=0.15)
    (entry,) = [one for one in done.log if one.text == text]
    assert entry.category == "contact" and entry.status == 1


def test_steps_that_resolve_the_contact_are_not_mentioned(tmp_path: Path) -> None:
    assert said(strike(tmp_path, 320.0, "gauss_seidel")) == []


def test_a_contact_that_an_assembly_solves_inside_is_not_mentioned() -> None:
    done = run(host_fmu(shipped("fmus") / "BouncingBall.toml"))
    assert done.trace["fmu.floor.contact_count"][-1] > 1 and said(done) == []
