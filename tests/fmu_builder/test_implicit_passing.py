"""Bodies that go through a surface within a step under `implicit` and `adaptive`, between the motions at which forces
are solved for."""

from __future__ import annotations

import numpy as np
import pytest

from fmu_builder import Scenario, run
from fmu_builder.cosim.loop.program import LOOP
from fmu_builder.cosim.result import Result

MASS, SPEED = 0.05, 6.0  # kg, m/s


def falls(algorithm: str, step: float, phase: float = 0.0) -> Result:
    """A ball falls on the tube of a torus, whose contact ends D_max = 30 mm below its top."""
    start = {"m": MASS, "r0": [0.1, 0, 0.4125 + phase], "v0": [0, 0, -SPEED], "g": [0, 0, 0]}
    return run(
        Scenario(
            slaves={
                "b": {"recipe": "PointMass", "start": start},
                "f": {"recipe": "PointTorus", "start": {"C_F": 1e5, "C_r": 1.0}},
            },
            connections=[("b.p", "f.point")],
            experiment={"stop": 0.2, "step": step, "algorithm": algorithm},
        )
    )


def passed(result: Result) -> list[str]:
    return [note for note in result.notes if "began and ended within a step" in note]


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
def test_a_contact_that_no_solution_met_is_named_in_either_loop(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In steps of 20 ms the ball goes 120 mm: it rebounds, or goes through with a note."""
    for phase in np.arange(8) * 0.12 / 8.0:
        found = []
        for loop in ("compiled", "python"):
            monkeypatch.setenv(LOOP, loop)
            result = falls(algorithm, 20e-3, float(phase))
            found.append((result["b.p.v[3]"][-1], passed(result)))
        (speed, notes), other = found
        assert (speed, notes) == other
        assert abs(speed) == pytest.approx(SPEED, rel=1e-3)
        assert len(notes) == (speed < 0.0)
        what = "where no force was solved for, and moved no body: take smaller steps"
        assert not notes or notes == [f"f: 1 contact began and ended within a step, {what}"]


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
def test_steps_that_meet_it_need_no_note(algorithm: str) -> None:
    result = falls(algorithm, 1e-3)
    assert result["b.p.v[3]"][-1] == pytest.approx(SPEED, rel=1e-6)
    (contact,) = result.contacts
    assert contact.impulse == pytest.approx(2.0 * MASS * SPEED, rel=1e-3)
    assert not passed(result)
