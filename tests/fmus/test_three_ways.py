"""Ways to one motion: FMUs coupled by fmpy, the same scenario as one FMU, a reference that is none of ours, and
that FMU in model exchange.

The assembly agrees with the reference at 1e-8, and the coupled run with held forces converges to the assembly with
order 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import fmpy
import numpy as np
import pytest
from ledger import worst_residuals

from fmu_builder.cosim.master import run
from fmu_builder.cosim.trace import Trace, read_trace
from fmu_builder.cosim.validation import all_cases
from fmu_builder.export.fmu import build_model_fmu, host_fmu
from fmu_builder.model.loader import assembly_of_scenario, load_model
from fmu_builder.model.scenario import CheckedScenario, SlaveEntry, read_scenario
from fmu_builder.paths import find_recipe, shipped

pytestmark = pytest.mark.slow

CASES = all_cases()


@dataclass(frozen=True)
class ThreeWays:
    scenario: CheckedScenario
    reference: Trace | None
    fmu: Path

    def coupled(self, **experiment: object) -> Trace:
        """With the laws at the inputs, held over the step."""
        return run(with_experiment(with_held_forces(self.scenario), **experiment)).trace

    def assembled(self, step: float, **start: float) -> Trace:
        """As one FMU; signals have the names they have in the scenario."""
        one = self.scenario.model_copy(
            update={"connections": [], "drive": {}, "slaves": {"fmu": SlaveEntry(recipe=str(self.fmu), start=start)}}
        )
        trace = run(with_experiment(one, step=step, output_step=step)).trace
        names = tuple(name.removeprefix("fmu.") for name in trace.names)
        return Trace(trace.time, names, trace.values, {}, {}, {})


def with_held_forces(scenario: CheckedScenario) -> CheckedScenario:
    """With coupling.mode = hold for all slaves that have it."""

    def held(entry: SlaveEntry) -> SlaveEntry:
        has_modes = "coupling.mode" in load_model(find_recipe(entry.recipe, scenario.path.parent)).visible_names
        return entry.model_copy(update={"start": {**entry.start, "coupling.mode": "hold"}}) if has_modes else entry

    return scenario.model_copy(update={"slaves": {name: held(entry) for name, entry in scenario.slaves.items()}})


def with_experiment(scenario: CheckedScenario, **changed: object) -> CheckedScenario:
    return scenario.model_copy(update={"experiment": scenario.experiment.model_copy(update=changed)})


@pytest.fixture(scope="module")
def three_ways(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ThreeWays]:
    """Those of a case by its name; its FMU is built once."""

    @cache
    def ways(case: str) -> ThreeWays:
        scenario = read_scenario(CASES[case])
        assert scenario.reference is not None
        folder = tmp_path_factory.mktemp("ways")
        fmu = build_model_fmu(assembly_of_scenario(scenario), folder, ("host",)).path
        return ThreeWays(scenario, read_trace(CASES[case].parent / scenario.reference.file), fmu)

    return ways


# ---- one FMU against the references of coupled runs ------------------------------------------------------------------

# Cases whose reference is exact for the law, and the tolerance at which their assembly agrees with it at 1e-8 of the
# largest value: smaller where all there is, is small against the nominal values of 1 m, 1 m/s and 1 J.
EXACT = {
    "point_surface/bristle_holds": 1e-10,
    "point_surface/converge_gauss_seidel": 1e-9,
    "point_surface/depth_limit": 1e-10,
    "point_surface/drop_elastic": 1e-9,
    "point_surface/incline_creep": 1e-11,
    "point_surface/never_stops": 1e-9,
    "point_surface/patch_edge": 1e-10,
    "point_surface/rest_on_floor": 1e-12,
    "point_surface/sliding_block": 1e-9,
    "prescribed_motion/shaken_bounce": 1e-11,
    "prescribed_motion/shaken_rest": 1e-11,
    "rotational_damper/run_down": 1e-10,
    "rotational_spring/held_angle": 1e-11,
    "rotational_spring/held_torque": 1e-11,
    "translational_damper/run_down": 1e-10,
    "translational_spring/held_force": 1e-12,
    "translational_spring/held_position": 1e-12,
    "translational_spring/train": 1e-11,
    "two_d_body/on_three_springs": 1e-11,
}
# A start value that is wrong by one part in a million; by default the mass of the body.
SLIGHTLY_WRONG = {
    "point_surface/bristle_holds": {"floor.K_fr": 0.3000003},
    "point_surface/never_stops": {"floor.laws.k_fr": 0.1000001},
    "point_surface/sliding_block": {"floor.K_fr": 0.3000003},
    "rotational_damper/run_down": {"damper.d": 0.2000002},
    "rotational_spring/held_angle": {"spring.k": 10.00001},
    "rotational_spring/held_torque": {"spring.k": 10.00001},
    "translational_damper/run_down": {"damper.d": 20.00002},
    "translational_spring/held_force": {"spring.k": 1000.001},
    "translational_spring/held_position": {"spring.k": 1000.001},
    "translational_spring/train": {"mass[50].v0": 3.000003},
    "two_d_body/on_three_springs": {"body.J": 0.05000005},
}


def largest_errors(trace: Trace, reference: Trace) -> dict[str, float]:
    """Of each signal of the reference at the times they share, relative to its largest value."""
    shared = np.flatnonzero(np.isclose(reference.time[:, None], trace.time, rtol=0.0, atol=1e-12).any(axis=1))
    places = np.searchsorted(trace.time, reference.time[shared] - 1e-12)
    assert len(shared) >= 10
    return {
        name: float(np.abs(trace[name][places] - reference[name][shared]).max() / np.abs(reference[name]).max())
        for name in reference.names
    }


@pytest.mark.parametrize("case", EXACT)
def test_an_assembly_agrees_with_the_reference(case: str, three_ways: Callable[[str], ThreeWays]) -> None:
    ways = three_ways(case)
    step = float(np.diff(ways.reference.time[:: max(len(ways.reference.time) // 50, 1)]).max())
    stop = ways.scenario.seconds("stop")
    step = stop / math.ceil(stop / step - 1e-9)
    start = {"solver.tolerance": EXACT[case]}
    assembled = ways.assembled(step, **start)
    found = largest_errors(assembled, ways.reference)
    assert max(found.values()) < 1e-8, found
    assert max(worst_residuals(assembled, EXACT[case]).values()) <= 1.0
    slightly = SLIGHTLY_WRONG.get(case, {"body.m": 1.000001})
    wrong = ways.assembled(step, **start, **slightly)  # one part in a million is noticed
    assert max(largest_errors(wrong, ways.reference).values()) > 1e-8


# ---- the error of a held force ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("algorithm", "lag"), [("gauss_seidel", 1), ("jacobi", 3)])
def test_a_coupled_impact_converges_to_the_assembly(
    algorithm: str, lag: int, three_ways: Callable[[str], ThreeWays]
) -> None:
    """The force of a communication step of H acts late by lag H/2, which makes the rebound exp(lag pi w H/4) too fast,
    w = sqrt(k/m): to 2 % at wH <= 0.01, the next term being of the order (wH)^2."""
    ways = three_ways(f"point_surface/converge_{algorithm}")
    assembled = ways.assembled(12.8e-3 / 8)["body.p.v[3]"][-1]
    assert assembled == pytest.approx(ways.reference["body.p.v[3]"][-1], abs=1e-8)
    w = math.sqrt(1e5)
    steps = [32e-6, 16e-6, 8e-6, 4e-6]
    gains = [ways.coupled(step=h, output_step=12.8e-3)["body.p.v[3]"][-1] / assembled for h in steps]
    for h, gain in zip(steps, gains, strict=True):
        assert math.log(gain) == pytest.approx(lag * math.pi * w * h / 4, rel=0.02)
    slope = np.polyfit(np.log(steps), np.log(np.array(gains) - 1.0), 1)[0]
    assert slope == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize(
    ("case", "signal", "fewest"),
    [
        ("point_surface/rest_on_floor", "body.p.r[3]", 9600),
        ("prescribed_motion/shaken_bounce", "body.p.r[3]", 9600),
        ("point_surface/bristle_holds", "body.p.r[1]", 5000),
        ("point_surface/never_stops", "body.p.r[1]", 20000),
    ],
)
def test_a_coupled_run_converges_to_the_assembly_with_order_1(
    case: str, signal: str, fewest: int, three_ways: Callable[[str], ThreeWays]
) -> None:
    ways = three_ways(case)
    stop = ways.scenario.seconds("stop")
    end = ways.assembled(stop / 20, **{"solver.tolerance": EXACT[case]})[signal][-1]
    steps = [stop / n for n in (fewest, 2 * fewest, 4 * fewest)]
    errors = [abs(ways.coupled(step=h, output_step=stop)[signal][-1] - end) for h in steps]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert slope == pytest.approx(1.0, abs=0.15)


# Assemblies of the catalogue taken apart into FMUs: what is replaced in the recipe, signal, stop, fewest steps.  Stiff
# surfaces are made softer, for the error grows as exp(w^2 H t/4) while a smooth point lies on one.
SOFT = ('"1e6 N/m"', '"1e4 N/m"')
TAKEN_APART = {
    "BeadInBowl": (SOFT, "bead.p.r[3]", 0.1, 1000),
    "MarbleInFunnel": (SOFT, "marble.p.r[1]", 0.1, 1000),
    "MarbleInTube": (SOFT, "marble.p.r[1]", 0.1, 1000),
    "BeadInSpinningBowl": (SOFT, "bead.p.r[1]", 0.1, 1000),
    "SlidingOffSphere": (SOFT, "mass.p.r[1]", 0.1, 1000),
    "BlockOnBelt": (("", ""), "block.p.r[1]", 0.4, 8000),
    "TwoBodyImpact": (("", ""), "target.p.v[3]", 0.02, 1000),
}


@pytest.mark.parametrize("name", TAKEN_APART)
def test_a_system_taken_apart_converges_to_the_assembly_with_order_1(name: str, tmp_path: Path) -> None:
    (old, new), signal, stop, fewest = TAKEN_APART[name]
    text = (shipped("fmus") / f"{name}.toml").read_text(encoding="utf-8").partition("[expose.")[0]
    assert old in text
    text = text.replace(old, new).replace("[parts]", "[slaves]")
    path = tmp_path / f"{name}.toml"
    path.write_text(f"{text}\n[experiment]\nstop = {stop}\nstep = {stop / fewest}\n", encoding="utf-8")
    scenario = read_scenario(path)
    fmu = build_model_fmu(assembly_of_scenario(scenario), tmp_path, ("host",)).path
    ways = ThreeWays(scenario, None, fmu)
    end = ways.assembled(stop / 20, **{"solver.tolerance": 1e-11})[signal][-1]
    steps = [stop / n for n in (fewest, 2 * fewest, 4 * fewest)]
    errors = [abs(ways.coupled(step=h, output_step=stop)[signal][-1] - end) for h in steps]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert slope == pytest.approx(1.0, abs=0.15), errors


# ---- the importer's solver -------------------------------------------------------------------------------------------


def test_a_train_rings_by_cvode_as_in_closed_form() -> None:
    fmu = str(host_fmu(shipped("fmus") / "SpringMassTrain.toml"))
    reference = read_trace(shipped("fmus") / "systems" / "train_rings_ref.csv")
    result = fmpy.simulate_fmu(
        fmu,
        fmi_type="ModelExchange",
        solver="CVode",
        relative_tolerance=1e-11,
        start_values={"initial_velocity[50]": 1.0},
        output=["position[50]", "velocity[100]"],
        output_interval=0.01,
        stop_time=2.0,
        record_events=False,
    )
    for name in ("position[50]", "velocity[100]"):
        exact = reference[f"train.{name}"]
        assert np.abs(result[name] - exact).max() < 1e-6 * np.abs(exact).max()


def test_a_ball_bounces_to_rest_by_cvode_as_by_our_solver() -> None:
    """All six contacts, their events located by fmpy.  Both against scipy as well, so that no common error hides."""
    fmu = str(host_fmu(shipped("fmus") / "BouncingBall.toml"))
    names = ["height", "velocity", "floor.impulse", "floor.contact_count"]
    reference = read_trace(shipped("fmus") / "systems" / "ball_bounces_ref.csv")
    largest = [1.0, np.abs(reference["ball.velocity"]).max()]
    found = {}
    for fmi_type in ("ModelExchange", "CoSimulation"):
        result = fmpy.simulate_fmu(
            fmu,
            fmi_type=fmi_type,
            solver="CVode",
            relative_tolerance=1e-11,
            output=names,
            output_interval=0.01,
            stop_time=2.0,
            record_events=False,
        )
        found[fmi_type] = np.column_stack([result[name] for name in names])
        exact = np.column_stack([reference["ball.height"], reference["ball.velocity"]])[::10]
        assert (np.abs(found[fmi_type][:, :2] - exact) < 1e-6 * np.array(largest)).all()
    difference = np.abs(found["ModelExchange"] - found["CoSimulation"])
    assert (difference < 1e-6 * np.maximum(np.abs(found["CoSimulation"]).max(axis=0), 1.0)).all()
    assert found["ModelExchange"][-1, 3] == 6


def test_bristles_relax_in_model_exchange_as_in_co_simulation() -> None:
    """A bar bounces on two bristles, by CVode: states jump at each release.  Both against scipy."""
    fmu = str(host_fmu(shipped("fmus") / "BarOnFloor.toml"))
    reference = read_trace(shipped("fmus") / "systems" / "bar_drops_ref.csv")
    names = ["position[1]", "position[3]", "velocity[1]", "angular_velocity[2]"]
    for fmi_type in ("ModelExchange", "CoSimulation"):
        result = fmpy.simulate_fmu(
            fmu,
            fmi_type=fmi_type,
            solver="CVode",
            relative_tolerance=1e-11,
            output=[*names, "floor.energy.residual"],
            output_interval=0.002,
            stop_time=0.25,
            record_events=False,
        )
        for name in names:
            exact = reference[f"bar.{name}"]
            assert np.abs(result[name] - exact).max() < 1e-6 * np.abs(exact).max(), (fmi_type, name)
        assert np.abs(result["floor.energy.residual"]).max() < 1e-6
