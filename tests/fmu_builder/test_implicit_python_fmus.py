"""Forces solved for beside FMUs that pythonfmu makes as users write them: they compute in do_step alone what they show,
and their state holds what they have registered, and nothing else."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pythonfmu.builder import FmuBuilder

from fmu_builder import Experiment, Part, Scenario, run
from fmu_builder.cosim.loop.program import LOOP
from fmu_builder.cosim.repeated import RepeatedRun
from fmu_builder.cosim.result import Result
from fmu_builder.errors import SlaveError
from fmu_builder.model.scenario import parse_scenario

_SLAVE = """
from pythonfmu import Fmi2Causality, Fmi2Slave, Real
IN, OUT = Fmi2Causality.input, Fmi2Causality.output

class {name}(Fmi2Slave):
    def __init__(self, **given):
        super().__init__(**given)
        {start}
        for name, causality in {variables}:
            own = name.replace(".", "_")
            get, put = (lambda own=own: getattr(self, own)), (lambda x, own=own: setattr(self, own, x))
            self.register_variable(Real(name, causality=causality, getter=get, setter=put))

    def do_step(self, t, h):
        {step}
        return True
"""
_AT_SPRING = '(("r.s", IN), ("r.v", IN), ("r.F", OUT))'
_AT_MASS = '(("p.F", IN), ("p.s", OUT), ("p.v", OUT))'
_MOVE = "; self.p_s += self.p_v * h + 0.5 * self.p_F * h * h; self.p_v += self.p_F * h"
SLAVES = {
    "Law": ("self.r_s = self.r_v = self.r_F = 0.0", _AT_SPRING, "self.r_F = -1000.0 * self.r_s - 0.5 * self.r_v"),
    "Drifting": (
        "self.r_s = self.r_v = self.r_F = 0.0; self.x = 0.03",
        _AT_SPRING,
        "self.x += self.r_v * h; self.r_F = -1000.0 * self.x",
    ),
    "Remembering": (
        "self.p_F = self.p_v = 0.0; self.p_s = self.x = 0.03",
        _AT_MASS,
        "self.x += self.p_v * h + 0.5 * self.p_F * h * h; self.p_s = self.x; self.p_v += self.p_F * h",
    ),
    "Late": (
        "self.p_F = self.p_v = 0.0; self.p_s = self.x = 0.03",
        _AT_MASS,
        "self.x += self.p_v * h; self.p_s = self.x; self.p_v += self.p_F * h",
    ),
    "Far": (
        "self.p_F = self.p_v = 0.0; self.p_s = self.x = 1000.03",
        _AT_MASS,
        "self.x += self.p_v * h; self.p_s = self.x; self.p_v += self.p_F * h",
    ),
    "Last": (
        "self.r_s = self.r_v = self.r_F = 0.0; self.x = 0.03",
        _AT_SPRING,
        "self.r_F = -1000.0 * self.r_s - 5.0 * (self.r_s - self.x) / h; self.x = self.r_s",
    ),
    "Differences": (
        "self.r_s = self.r_v = self.r_F = 0.0; self.x = 0.03",
        _AT_SPRING.replace('("r.F", OUT)', '("r.F", OUT), ("x", OUT)'),
        "self.r_F = -1000.0 * self.r_s - 5.0 * (self.r_s - self.x) / h; self.x = self.r_s",
    ),
    "Samples": (
        "self.r_s = self.r_v = self.r_F = 0.0; self.x = 0.0; self.t = 0.0",
        _AT_SPRING.replace('("r.F", OUT)', '("r.F", OUT), ("x", OUT)'),
        "n = int(h / 1e-4 + 1e-9); self.x += sum(1e-4 * (self.r_v - 20.0 * self.x) for _ in range(n))"
        "; self.r_F = -1000.0 * self.r_s - 10.0 * self.x",
    ),
    "Noisy": (
        "import time; self.p_F = self.p_v = self.noise = 0.0; self.p_s = 0.03",
        _AT_MASS.replace('("p.v", OUT)', '("p.v", OUT), ("noise", OUT)'),
        "import time; self.noise = time.perf_counter()" + _MOVE,
    ),
    "Trembling": (
        "import random; self.r_s = self.r_v = self.r_F = 0.0; self.random = random.Random(1)",
        _AT_SPRING,
        "self.r_F = -1000.0 * self.r_s + 1e-9 * self.random.random()",
    ),
    "Asserting": (
        "self.p_F = self.p_v = 0.0; self.p_s = 0.03",
        _AT_MASS,
        "assert abs(self.p_F) < 40.0 and h > 1e-6" + _MOVE,
    ),
    "Ending": (
        "self.p_F = self.p_v = 0.0; self.p_s = 0.03",
        _AT_MASS,
        "\n        if t > 0.0095: return False\n        pass" + _MOVE,
    ),
    "Losing": (
        "self.p_F = self.p_v = 0.0; self.p_s = 0.03",
        _AT_MASS,
        "pass" + _MOVE + "\n        if t > 0.0095: self.p_v = float('nan')",
    ),
}
M, K, D, S_0, STOP = 1.0, 1000.0, 0.5, 0.03, 0.3


@pytest.fixture(autouse=True)
def imported(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """FMUs of pythonfmu import their script from a folder that they add to the path of this process."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for name in SLAVES:
        sys.modules.pop(name.lower(), None)


def python_fmu(folder: Path, name: str) -> str:
    start, variables, step = SLAVES[name]
    script = folder / f"{name.lower()}.py"
    script.write_text(_SLAVE.format(name=name, start=start, variables=variables, step=step), encoding="utf-8")
    return str(FmuBuilder.build_FMU(script, dest=folder, canGetAndSetFMUstate=True))


def beside_a_mass(fmu: str, step: float, algorithm: str) -> Result:
    return run(
        Scenario(
            slaves={"m": Part(recipe="SliderMass", start={"m": M, "s0": S_0}), "k": Part(recipe=fmu)},
            connections=[("m.p", "k.r")],
            experiment=Experiment(stop=STOP, step=step, algorithm=algorithm),
        )
    )


def beside_a_spring(fmu: str, step: float, algorithm: str) -> Result:
    return run(
        Scenario(
            slaves={"m": Part(recipe=fmu), "k": Part(recipe="TranslationalSpringByPositions", start={"k": K})},
            connections=[("m.p", "k.r")],
            experiment=Experiment(stop=STOP, step=step, algorithm=algorithm),
        )
    )


def missed(result: Result, damping: float = 0.0) -> float:
    """Largest distance from the swing that is meant, m."""
    delta, t = damping / (2.0 * M), np.asarray(result.trace.time)
    omega = math.sqrt(K / M - delta**2)
    exact = S_0 * np.exp(-delta * t) * (np.cos(omega * t) + delta / omega * np.sin(omega * t))
    return float(np.abs(result["m.p.s"] - exact).max())


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
def test_a_law_that_is_computed_in_steps_alone_is_solved_for_to_the_second_order(
    algorithm: str, tmp_path: Path
) -> None:
    """What it shows after a step is of the mean inputs of that step, and so is the mean force."""
    fmu = python_fmu(tmp_path, "Law")
    result = beside_a_mass(fmu, 1e-3, algorithm)
    assert [bond.rung for bond in result.bonds] == ["derivatives, midpoint"]
    whole = "k: solved for over whole steps, since the force of k is that of the inputs of its steps"
    assert (whole in result.notes) == (algorithm == "implicit")
    errors = [missed(beside_a_mass(fmu, h, algorithm), D) for h in (1e-3, 5e-4, 2.5e-4)]
    orders = np.diff(np.log2(errors)) * -1.0
    assert errors[0] < 2.0 * S_0 * (math.sqrt(K / M) * STOP) * (K / M) * 1e-6 / 12.0  # twice the phase of the trapezoid
    assert orders == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
def test_it_is_the_same_in_both_loops(algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fmu, traces = python_fmu(tmp_path, "Law"), []
    for kind in ("compiled", "python"):
        monkeypatch.setenv(LOOP, kind)
        traces.append(beside_a_mass(fmu, 1e-3, algorithm).trace.values.tobytes())
    assert traces[0] == traces[1]


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
@pytest.mark.parametrize("name", ["Drifting", "Last", "Remembering", "Late"])
def test_a_state_that_is_not_complete_is_left_to_gauss_seidel(name: str, algorithm: str, tmp_path: Path) -> None:
    of = beside_a_mass if name in ("Drifting", "Last") else beside_a_spring
    fmu = python_fmu(tmp_path, name)
    result = of(fmu, 1e-3, algorithm)
    assert [bond.rung for bond in result.bonds] == ["Gauss-Seidel"]
    assert any("in another way after a trial" in note for note in result.notes)
    assert missed(result) == pytest.approx(missed(of(fmu, 1e-3, "gauss_seidel")), rel=0.05)


def test_a_state_that_is_not_complete_shows_far_from_the_origin(tmp_path: Path) -> None:
    """It is off by a millionth of a metre of a kilometre there."""
    slaves = {
        "m": Part(recipe=python_fmu(tmp_path, "Far")),
        "k": Part(recipe="TranslationalSpringByPositions", start={"k": K, "c.s": 1000.0}),
    }
    result = run(
        Scenario(
            slaves=slaves,
            connections=[("m.p", "k.r")],
            experiment=Experiment(stop=0.01, step=1e-3, algorithm="implicit"),
        )
    )
    assert [bond.rung for bond in result.bonds] == ["Gauss-Seidel"]


def test_noise_of_a_force_is_no_state(tmp_path: Path) -> None:
    result = beside_a_mass(python_fmu(tmp_path, "Trembling"), 1e-3, "implicit")
    assert [bond.rung for bond in result.bonds] == ["derivatives, midpoint"]
    assert missed(result) < 5e-5


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
@pytest.mark.parametrize("name", ["Differences", "Samples"])
def test_what_counts_on_whole_steps_is_no_worse_than_under_gauss_seidel(
    name: str, algorithm: str, tmp_path: Path
) -> None:
    """It takes differences of what it is shown, or makes steps of its own."""
    fmu = python_fmu(tmp_path, name)
    fine = beside_a_mass(fmu, 1e-4, "gauss_seidel")
    errors = {
        one: float(np.abs(beside_a_mass(fmu, 1e-3, one)["m.p.s"] - fine["m.p.s"][::10]).max())
        for one in (algorithm, "gauss_seidel")
    }
    assert errors[algorithm] < 1.1 * errors["gauss_seidel"]


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
@pytest.mark.parametrize("name", ["Noisy", "Asserting"])
def test_bodies_that_measure_time_or_assert_are_solved_for(name: str, algorithm: str, tmp_path: Path) -> None:
    result = beside_a_spring(python_fmu(tmp_path, name), 1e-3, algorithm)
    assert [bond.rung for bond in result.bonds] == ["probe steps, discrete gradient"]
    assert missed(result) < 5e-5


def test_runs_of_a_study_leave_a_state_that_is_not_complete_to_gauss_seidel(tmp_path: Path) -> None:
    path = tmp_path / "swing.toml"
    path.write_text(
        f"""connections = [["m.p", "k.r"]]
[experiment]
stop = "{STOP} s"
step = "1 ms"
algorithm = "implicit"
[slaves]
m = {{ recipe = "SliderMass", start = {{ s0 = {S_0} }} }}
k = {{ recipe = "{python_fmu(tmp_path, "Drifting")}" }}
""",
        encoding="utf-8",
    )
    scenario, problems = parse_scenario(path)
    assert not problems
    runs = RepeatedRun(scenario, with_contacts=False)
    ends = [runs.run({"m": {"v0": v}}).values[-1].tobytes() for v in (0.0, 1.0, 0.0)]
    runs.close()
    assert ends[0] == ends[2] != ends[1]


@pytest.mark.parametrize("kind", ["compiled", "python"])
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Ending", r"m ended the simulation at 0\.01 s, in a step that is tried"),
        (
            "Losing",
            r"p\.v is nan after a step of 0\.001 s from 0\.01 s that is tried, though the slave answered fmi2OK",
        ),
    ],
)
def test_a_body_that_fails_in_a_trial_is_named(
    name: str, says: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LOOP, kind)
    with pytest.raises(SlaveError, match=says):
        beside_a_spring(python_fmu(tmp_path, name), 1e-3, "implicit")
