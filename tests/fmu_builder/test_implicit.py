"""The algorithms `implicit` and `adaptive` against closed forms and independent integrations (implicit_systems.py)."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fmu_builder
from fmu_builder import Experiment, InputError, Part, Scenario, run
from fmu_builder.cosim.implicit import compiled
from fmu_builder.cosim.result import Result
from tests.fmu_builder.implicit_systems import PHASES, SYSTEMS, measured
from tests.fmu_builder.implicit_table import row

N = 3.1  # steps in a contact, for which a held force returns twice the speed


def phase(angle: float) -> float:
    """rad, by which an oscillation errs over this angle: (w h)^2/12 in substeps of w h = 1/36, twice that as the number
    of substeps follows the fastest body of the group, of whose velocity the oscillation is a part."""
    return 2.0 * angle / 12.0 / 36.0**2


CONSERVATIVE = ("elastic", "cradle", "rod", "chain", "pendulum")


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.slow
def test_velocities_after_an_impact_and_energies_are_right_after_one_step_of_each_slave(name: str) -> None:
    system = replace(SYSTEMS[name], phases=SYSTEMS[name].phases[::7])
    result = run(system.scenario(N, "implicit"))
    assert system.errors(result, N).max() < 1e-3
    assert name not in CONSERVATIVE or system.drifts(result).max() < 1e-3
    assert all(group.steps == len(result.trace.time) - 1 for group in result.groups)


@pytest.mark.parametrize("name", ["elastic", "oblique, damped", "cradle", "rod"])
def test_contacts_that_last_less_than_half_a_step_are_right_too(name: str) -> None:
    system = replace(SYSTEMS[name], phases=SYSTEMS[name].phases[::7])
    assert system.errors(run(system.scenario(0.4, "implicit")), 0.4).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("count", [N, 6.3, 16.0])
def test_velocities_are_right_in_every_phase_of_steps_of_any_length(name: str, count: float) -> None:
    phases = SYSTEMS[name].phases[:: 1 if count == N else 7]
    system = replace(SYSTEMS[name], phases=phases)
    assert system.errors(run(system.scenario(count, "implicit")), count).max() < 1e-3


EVERYDAY = ("elastic", "damped", "chain")  # others take up to 2 s each
ADAPTIVE = [name if name in EVERYDAY else pytest.param(name, marks=pytest.mark.slow) for name in SYSTEMS]


@pytest.mark.parametrize("name", ADAPTIVE)
def test_adaptive_steps_are_right_within_one_percent_at_a_thousandth(name: str) -> None:
    result = measured(name, N, "adaptive", tolerance=1e-3)
    assert SYSTEMS[name].errors(result, N).max() < 1e-2


@pytest.mark.parametrize(
    ("algorithm", "mode", "order"),
    [
        pytest.param("implicit", "auto", 2, marks=pytest.mark.slow),
        ("gauss_seidel", "hold", 1),
        ("jacobi", "hold", 1),
    ],
)
@pytest.mark.slow
def test_the_order_of_convergence(algorithm: str, mode: str, order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the timing of three balls that touch, without substeps; held forces err in the first order."""
    monkeypatch.setitem(compiled._CONSTANTS, "most_substeps", 1.0)
    counts = np.array([30.0, 60.0, 120.0])
    system = replace(SYSTEMS["cradle"], phases=PHASES[::5])
    errors = [system.errors(run(system.scenario(n, algorithm, mode)), n).mean() for n in counts]
    slope = np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert -slope == pytest.approx(order, abs=0.15)


def test_substeps_make_the_phase_right_in_their_second_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a chain of springs; without them it is off by as much as it swings."""
    system, errors = SYSTEMS["chain"], []
    for angle in (1 / 9, 1 / 18, 1 / 36):
        monkeypatch.setitem(compiled._CONSTANTS, "angle", angle)
        result = run(system.scenario(N, "implicit"))
        assert 9 / 8 < result.groups[0].substeps / result.groups[0].steps * angle < 9 / 4
        errors.append(float(system.errors(result, N).max()))
    assert np.log2(errors[:-1]) - np.log2(errors[1:]) == pytest.approx([2.0, 2.0], abs=0.15)
    monkeypatch.setitem(compiled._CONSTANTS, "most_substeps", 1.0)
    assert system.errors(run(system.scenario(N, "implicit")), N).max() > 0.5


def test_positions_and_velocities_of_a_mass_are_those_of_the_last_substep() -> None:
    """The slope of the force gives the first moment of the forces: after each step both are those of the swing."""
    result = run(sliders("TranslationalSpringByPositions", {"k": 1000.0}, 0.02))
    w, t = math.sqrt(1000.0 / 1.2), result.trace.time
    (found,) = result.groups
    assert found.substeps > 10 * found.steps
    assert np.abs(result["a.p.v"] - result["b.p.v"] - np.cos(w * t)).max() < phase(w * t[-1])
    assert np.abs(result["a.p.s"] - result["b.p.s"] - np.sin(w * t) / w).max() < phase(w * t[-1]) / w
    assert np.abs(2.0 * result["a.p.v"] + 3.0 * result["b.p.v"] - 2.0).max() < 1e-12
    assert np.abs(2.0 * result["a.p.s"] + 3.0 * result["b.p.s"] - 2.0 * t).max() < 1e-12


def test_a_force_that_does_not_change_needs_no_substeps() -> None:
    """A mass at rest on a floor, whose contact would last three steps."""
    result = run(
        Scenario(
            slaves={
                "ball": {"recipe": "PointMass", "start": {"r0": [0, 0, -9.81e-6]}},
                "floor": {"recipe": "PointSurface", "start": {"C_F": 1e6, "C_r": 1}},
            },
            connections=[("ball.p", "floor.point")],
            experiment={"stop": 0.1, "step": 1e-3, "algorithm": "implicit"},
        )
    )
    (found,) = result.groups
    assert found.substeps == found.steps == 100


@pytest.mark.parametrize("algorithm", ["gauss_seidel", "jacobi"])
def test_held_forces_are_wrong_where_implicit_ones_are_right(algorithm: str) -> None:
    assert SYSTEMS["elastic"].errors(measured("elastic", N, algorithm, "hold"), N).min() > 0.5


def test_the_mode_of_the_elements_changes_no_bit() -> None:
    """They give their law, and warn of nothing."""
    results = [measured("damped", N, "implicit", mode) for mode in ("hold", "auto", "averaged", "predicted")]
    for one in results[1:]:
        assert all((one[n] == results[0][n]).all() for n in ("ball_0.p.v[3]", "ball_7.p.r[3]", "floor_3.normal_force"))
        assert not one.log


def test_contacts_begin_and_end_where_they_do() -> None:
    """Positions go linearly from one end of a step to the other; in free flight that is exact."""
    system = SYSTEMS["elastic"]
    result = measured("elastic", 16, "implicit")
    touch = {contact.place: contact.touch for contact in result.contacts}
    H = system.contact / 16
    for i, phase in enumerate(system.phases):
        assert touch[f"floor_{i}"] == pytest.approx(phase * H, abs=0.05 * H)


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
@pytest.mark.parametrize("name", ["oblique", "damped", "oblique, damped"])
def test_the_energies_of_an_element_are_those_that_its_forces_took(name: str, algorithm: str) -> None:
    """Its ledger against the work on the bodies, after an impact of 3.1 steps."""
    result = measured(name, N, algorithm)
    took = {bond.element: -bond.energy for bond in result.bonds if bond.energy is not None}
    assert len(took) == len(PHASES)
    for element, energy in took.items():
        shown = sum(result[f"{element}.energy.{kind}"][-1] for kind in ("damping", "friction"))
        assert shown == pytest.approx(energy, rel=3e-3), element


def test_friction_takes_no_more_than_there_is_but_for_what_is_faster_than_a_substep(tmp_path: Path) -> None:
    """A block of 0.045 J that begins in its floor, with C_r = 0: the push of 500 N ends within 20 us."""
    path = tmp_path / "block.toml"
    path.write_text(
        """
connections = [["block.p", "floor.point"]]
[experiment]
stop = 0.3
step = 1e-3
algorithm = "implicit"
[slaves]
block = { recipe = "PointMass", start = { r0 = [0, 0, -0.005], v0 = [0.3, 0, 0] } }
floor = { recipe = "PointSurface", start = { C_F = 1e5, C_r = 0, K_fr = 0.3 } }
"""
    )
    for algorithm, error in (("implicit", 0.03), ("adaptive", 0.005)):
        result = run(path, algorithm=algorithm)
        assert abs(result["block.p.v[1]"][-1]) < 1e-6
        assert result["floor.energy.friction"][-1] == pytest.approx(0.045, rel=error)


def test_a_result_names_how_each_force_was_found_and_what_it_gave() -> None:
    result = measured("damped", N, "implicit")
    bond = next(one for one in result.bonds if one.element == "floor_4")
    assert (bond.port, bond.body, bond.body_port, bond.rung) == (
        "point", "ball_4", "p", "derivatives, discrete gradient",
    )  # fmt: skip
    speed = result["ball_4.p.v[3]"]
    assert bond.energy == pytest.approx((speed[-1] ** 2 - speed[0] ** 2) / 2, rel=1e-9)
    group = result.groups[4]
    assert (group.elements, group.bodies) == (("floor_4",), ("ball_4",))
    assert (group.steps, group.probes, group.unsolved) == (len(result.trace.time) - 1, 0, 0)
    assert group.evaluations > 2 * group.steps
    assert group.drift < 1e-12
    (calls,) = [note for note in result.notes if "evaluations of elements" in note]
    assert f"in {len(result.trace.time) - 1} steps of each slave" in calls
    assert any(note.startswith("derivatives, discrete gradient: floor_0.point, ") for note in result.notes)


def test_a_resting_mass_stays() -> None:
    """Under gravity, at the depth of balance, for 200 steps of a third of a contact."""
    depth = 9.81 / 1e6
    result = run(
        Scenario(
            slaves={
                "ball": {"recipe": "PointMass", "start": {"r0": [0, 0, -depth]}},
                "floor": {"recipe": "PointSurface", "start": {"C_F": 1e6, "C_r": 0.5}},
            },
            connections=[("ball.p", "floor.point")],
            experiment={"stop": 0.2, "step": 1e-3, "algorithm": "implicit"},
        )
    )
    assert np.abs(result["ball.p.r[3]"] + depth).max() < 1e-9 * depth + 1e-15


def sliders(
    element: str, start: dict[str, float], step: float, algorithm: str = "implicit", **more: object
) -> Scenario:
    """Two sliders, 2 kg and 3 kg, with an element between; the first has 1 m/s."""
    return Scenario(
        slaves={
            "a": {"recipe": "SliderMass", "start": {"m": 2, "v0": 1}},
            "b": {"recipe": "SliderMass", "start": {"m": 3}},
            "e": {"recipe": element, "start": start},
        },
        connections=[("a.p", "e.r"), ("b.p", "e.c")],
        experiment={"stop": 0.4, "step": step, "algorithm": algorithm, **more},
    )


def test_a_damper_brakes_as_the_exponential_in_the_second_order() -> None:
    """v = v_end + exp(-d t/m), m = 1.2 kg; it stores nothing, so its force is the mean of both ends."""
    errors = []
    for step in (0.04, 0.02, 0.01):
        result = run(sliders("TranslationalDamper", {"d": 6.0}, step))
        exact = math.exp(-6.0 / 1.2 * 0.4)
        errors.append(abs(float(result["a.p.v"][-1] - result["b.p.v"][-1]) - exact))
        assert {bond.rung for bond in result.bonds} == {"derivatives, trapezoid"}
    assert errors[0] < 0.01 * math.exp(-2.0)
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert math.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.1)


def test_a_spring_between_speeds_swings_as_the_trapezoid_says() -> None:
    """tan(w_n H/2) = w H/2: its deformation is a state, which is stepped inside the solution, without substeps."""
    k, H = 1000.0, 0.02
    result = run(sliders("TranslationalSpring", {"k": k}, H))
    assert "e: solved for over whole steps, since the force of e follows from its states" in result.notes
    w = 2.0 / H * math.atan(math.sqrt(k / 1.2) * H / 2.0)
    exact = np.cos(w * result.trace.time)
    assert np.abs(result["a.p.v"] - result["b.p.v"] - exact).max() < 1e-8


def test_rotation_is_solved_for_as_translation_is() -> None:
    """Two inertias with a spring of which the angles are known."""
    k, H = 500.0, 0.02
    scenario = Scenario(
        slaves={
            "a": {"recipe": "Inertia", "start": {"J": 2, "w0": 1}},
            "b": {"recipe": "Inertia", "start": {"J": 3}},
            "e": {"recipe": "RotationalSpringByAngles", "start": {"k": k}},
        },
        connections=[("a.p", "e.r"), ("b.p", "e.c")],
        experiment={"stop": 0.4, "step": H, "algorithm": "implicit"},
    )
    result = run(scenario)
    w, t = math.sqrt(k / 1.2), result.trace.time
    assert np.abs(result["a.p.w"] - result["b.p.w"] - np.cos(w * t)).max() < phase(w * t[-1])
    energy = result["a.energy.kinetic"] + result["b.energy.kinetic"] + result["e.energy.elastic"]
    assert np.ptp(energy) < 1e-9


def test_a_drive_moves_a_body_within_a_group() -> None:
    """A force that is driven belongs to the acceleration of the body without the forces that are solved for."""
    scenario = Scenario(
        slaves={
            "a": {"recipe": "SliderMass", "start": {"m": 2}},
            "e": {"recipe": "TranslationalSpringByPositions", "start": {"k": 800.0}},
            "b": {"recipe": "SliderMass", "start": {"m": 2}},
            "pull": {"recipe": "TranslationalDamper", "start": {"d": 1e-9}},
        },
        connections=[("a.p", "e.r"), ("b.p", "e.c"), ("b.p", "pull.r")],
        drive={"pull.c.v": 1e9},
        experiment={"stop": 0.5, "step": 0.01, "algorithm": "implicit"},
    )
    result = run(scenario)
    momentum = 2.0 * (result["a.p.v"] + result["b.p.v"])
    assert momentum[-1] == pytest.approx(0.5 * 1.0, rel=1e-6)


def test_without_a_bond_there_is_nothing_to_solve_for() -> None:
    with pytest.raises(InputError) as caught:
        run(Scenario(slaves={"ball": "PointMass"}, experiment={"stop": 1, "step": 0.1, "algorithm": "implicit"}))
    assert "[experiment] algorithm: 'implicit' solves for the forces between bodies and force elements" in str(
        caught.value
    )
    assert "gauss_seidel" in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_guide_shows_the_table_as_it_is_printed(name: str) -> None:
    page = Path(fmu_builder.__file__).with_name("guide") / "implicit.md"
    assert row(name, N) in page.read_text(encoding="utf-8").splitlines()


def damped_by_impacts(algorithm: str, step: str, C_F: float, stop: str = "0.1 s") -> Result:
    """A body of 1 kg at 1 m/s, and in it a loose mass of 0.1 kg at rest that meets walls."""
    return run(
        Scenario(
            slaves={
                "b": Part(recipe="SliderMass", start={"m": 1.0, "v0": 1.0}),
                "d": Part(recipe="ImpactDamper", start={"C_F": C_F}),
            },
            connections=[("b.p", "d.p")],
            experiment=Experiment(stop=stop, step=step, algorithm=algorithm),
        )
    )


@pytest.mark.parametrize("C_F", [1e6, 1e8])
@pytest.mark.parametrize(("algorithm", "step"), [("implicit", "1 ms"), ("implicit", "5 ms"), ("adaptive", "5 ms")])
def test_an_impact_inside_an_element_keeps_the_momentum(algorithm: str, step: str, C_F: float) -> None:
    """It lasts 0.95 and 0.095 ms: at both ends of a step of 5 ms no force shows it.  Each one with C_r = 0.5 halves the
    relative speed, under implicit of what the mass meets as a wall that moves as the step says."""
    result = damped_by_impacts(algorithm, step, C_F)
    v, w = result["b.p.v"], result["d.w"]
    is_adaptive = algorithm == "adaptive"
    np.testing.assert_allclose(v + 0.1 * w, 1.0, rtol=0, atol=1e-5 if is_adaptive else 1e-9)
    if is_adaptive:
        assert abs(v[-1] - w[-1]) == pytest.approx(0.5 ** result["d.contact_count"][-1], rel=2e-3)
    named = [note for note in result.notes if "come and go within a step" in note]
    assert step != "5 ms" or len(named) == (not is_adaptive)


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
def test_impulses_have_the_same_bits_in_both_loops(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for loop in ("compiled", "python"):
        monkeypatch.setenv("FMU_BUILDER_LOOP", loop)
        result = damped_by_impacts(algorithm, "2 ms", 1e7, "40 ms")
        found.append([result["b.p.v"], result["d.w"], result["d.energy.work"]])
        found[-1].append(np.array([result.groups[0].within, result.groups[0].evaluations]))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
