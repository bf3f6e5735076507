"""What a run says of communication steps that are longer than advised, against the masses that forces really meet."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from fmu_builder.cosim import held_steps, master
from fmu_builder.model.step_advice import STEPS_PER_BRAKING, STEPS_PER_CONTACT, STEPS_PER_SWING

DROP = """
connections = [["body.{port}", "floor.point"]]
[experiment]
stop = "2 ms"
step = "{step}"
output_step = "2 ms"
algorithm = "{algorithm}"
[slaves]
body = {{ recipe = "{body}", start = {{ {start} }} }}
floor = {{ recipe = "{floor}", start = {{ {floor_start} }} }}
"""


def notes_of(text: str, folder: Path) -> list[str]:
    path = folder / "one.toml"
    path.write_text(text)
    return [note for note in master.run(path).notes if "advised" in note]


def drop(folder: Path, step: str, algorithm: str = "jacobi", **given: str) -> list[str]:
    entries = {"port": "p", "body": "PointMass", "start": "", "floor": "PointSurface", "floor_start": ""} | given
    return notes_of(DROP.format(step=step, algorithm=algorithm, **entries), folder)


def advised(note: str) -> float:
    found = re.search(r"longer than the (\S+) s advised", note)
    assert found is not None
    return float(found[1])


def below(note: str, exact: float) -> bool:
    """Whether the note advises this step, rounded down to two digits."""
    return 0.9 * exact < advised(note) <= exact


def test_a_step_that_is_longer_than_advised_is_named_with_the_number_to_use(tmp_path: Path) -> None:
    (note,) = drop(tmp_path, "50 us")
    assert note.startswith(
        "floor: the communication step of 5e-5 s is longer than the 1.3e-5 s advised for 1 % of the rebound"
    )
    assert "with C_F = 1e5 N/m and an effective mass of 1 kg (the force is held over it under Jacobi)" in note
    assert note.endswith(
        "take steps of at most 1.3e-5 s, or a recipe with [structure] coupling = true and coupling.mode = auto"
    )
    assert drop(tmp_path, "12.5 us") == []
    assert drop(tmp_path, "40 us", "gauss_seidel") == []
    (note,) = drop(tmp_path, "50 us", "gauss_seidel")
    assert advised(note) == 4.0e-5 and "under Gauss-Seidel" in note


def test_the_mass_is_that_of_the_body(tmp_path: Path) -> None:
    (note,) = drop(tmp_path, "50 us", start="m = 4")
    assert advised(note) == 2.6e-5 and "an effective mass of 4 kg" in note
    assert drop(tmp_path, "50 us", start="m = 16") == []
    (note,) = drop(tmp_path, "50 us", start="m = 4", floor_start="C_F = 4e5")
    assert advised(note) == 1.3e-5 and "C_F = 4e5 N/m" in note


def test_a_point_of_a_rigid_body_yields_by_turning_too(tmp_path: Path) -> None:
    """W = 1/m - [rho] J^-1 [rho]; its largest eigenvalue is that across the arm."""
    (note,) = drop(tmp_path, "50 us", body="RigidBar", port="point[1]")
    W = 1.0 + 0.2**2 / 0.013333333333333334
    assert below(note, math.pi * math.sqrt(1.0 / (W * 1e5)) / STEPS_PER_CONTACT["hold, Jacobi"])


def test_what_no_force_can_move_needs_no_step(tmp_path: Path) -> None:
    assert drop(tmp_path, "50 us", body="PrescribedMotion", port="port") == []
    text = DROP.format(
        step="50 us", algorithm="jacobi", port="p", body="PointMass", start="", floor="PointSurface", floor_start=""
    )
    assert notes_of(re.sub("connections = .*", "connections = []", text), tmp_path) == []


def test_the_inverse_masses_at_both_ends_add_up(tmp_path: Path) -> None:
    text = """
connections = [["first.p", "spring.r"], ["second.p", "spring.c"], ["first.p", "damper.r"], ["second.p", "damper.c"]]
[experiment]
stop = "20 ms"
step = "10 ms"
algorithm = "jacobi"
[slaves]
first = { recipe = "SliderMass", start = { m = 2 } }
second = { recipe = "SliderMass", start = { m = 3 } }
spring = { recipe = "TranslationalSpringByPositions", start = { k = 1000 } }
damper = { recipe = "TranslationalDamper", start = { d = 10 } }
"""
    spring, damper = notes_of(text, tmp_path)
    assert spring.startswith("spring: ") and "effective mass of 1.2 kg" in spring
    assert below(spring, math.pi * math.sqrt(1.2 / 1000) / STEPS_PER_SWING["hold, Jacobi"])
    assert damper.startswith("damper: ") and below(damper, 1.2 / 10 / STEPS_PER_BRAKING["hold, Jacobi"])


def test_a_coupled_force_is_compared_with_the_step_of_its_mode(tmp_path: Path) -> None:
    coupled = {"floor": "PointSurfaceCoupled", "floor_start": '"coupling.mode" = "auto"'}
    assert drop(tmp_path, "1 ms", **coupled) == []
    (note,) = drop(tmp_path, "2 ms", **coupled)
    assert advised(note) == 1.6e-3 and "coupling = true" not in note
    held = {"floor": "PointSurfaceCoupled", "floor_start": '"coupling.mode" = "hold"'}
    (note,) = drop(tmp_path, "50 us", **held)
    assert advised(note) == 1.3e-5


def test_a_body_that_cannot_put_its_state_back_is_taken_as_a_kilogram(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_steps, "_probe", lambda *_: None)
    (note,) = drop(tmp_path, "50 us", start="m = 4")
    assert advised(note) == 1.3e-5


def test_asking_the_bodies_changes_no_bit_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does the step that is tried leave a message: the bar falls on its floor in it."""
    text = (
        DROP.format(
            step="20 ms",
            algorithm="jacobi",
            port="point[1]",
            body="RigidBar",
            start="v0 = [0, 0, -1]",
            floor="PointSurface",
            floor_start="",
        )
        .replace('output_step = "2 ms"', "")
        .replace('stop = "2 ms"', 'stop = "200 ms"')
    )
    path = tmp_path / "one.toml"
    path.write_text(text)
    asked = master.run(path)
    monkeypatch.setattr(master, "long_steps", lambda *_: iter(()))
    alone = master.run(path)
    assert asked.log == alone.log
    assert asked.trace.names == alone.trace.names and np.array_equal(asked.trace.values, alone.trace.values)
