"""Force elements between a body and an end that [drive] moves, under every algorithm: motions of one time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from fmu_builder import Experiment, Part, Scenario, run
from fmu_builder.cosim.master import Master, load_scenario
from fmu_builder.cosim.result import Result

Array = NDArray[np.float64]
TURN = 2 * math.pi
ALGORITHMS = ["gauss_seidel", "jacobi"]


SWING = "10[mm]*sin(7[1/s]*#t)"
TIGHT = {"implicit": None, "adaptive": 1e-6}


def swing(t: float) -> float:
    return 0.01 * math.sin(7.0 * t)


def spring(drive: object, step: float, stop: float, v0: float = 0.0, **experiment: object) -> Result:
    """1 kg on 400 N/m, the other end of which is driven."""
    return run(
        Scenario(
            slaves={
                "m": Part(recipe="SliderMass", start={"m": 1.0, "v0": v0}),
                "s": Part(recipe="TranslationalSpringByPositions", start={"k": 400.0}),
            },
            connections=[("m.p", "s.r")],
            drive={"s.c.s": drive},
            experiment=Experiment(stop=stop, step=step, **experiment),
        )
    )


def spring_error(drive: object, right: Callable[[float], float], step: float, **experiment: object) -> float:
    """Of the position, over the largest one."""
    result = spring(drive, step, 1.0, **experiment)
    times = np.array(result.trace.time)
    exact = integrated(lambda t, y: [y[1], -400.0 * (y[0] - right(t))], [0.0, 0.0], times)
    return float(np.abs(result["m.p.s"] - exact).max() / np.abs(exact).max())


def integrated(right: Callable[[float, Array], list[float]], start: list[float], times: Array) -> Array:
    solution = solve_ivp(right, (0.0, times[-1]), start, t_eval=times, rtol=1e-10, atol=1e-13)
    found: Array = solution.y[0]
    return found


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_relaxed_spring_between_a_body_and_a_drive_of_one_speed_stays_relaxed(algorithm: str) -> None:
    result = spring("30[m/s]*#t", 1e-3, 0.2, v0=30.0, algorithm=algorithm)
    assert np.abs(result["s.r.F"]).max() < 1e-9


@pytest.mark.parametrize(
    ("algorithm", "most"), [("gauss_seidel", 0.002), ("jacobi", 0.003), ("implicit", 0.0015), ("adaptive", 0.006)]
)
def test_a_mass_follows_the_driven_end_of_its_spring(algorithm: str, most: float) -> None:
    """A drive that is late by a communication step, N = 31 to half a period, errs by 0.044.  The tolerance of adaptive,
    1e-3 m/s, is 0.005 of the largest speed."""
    assert spring_error(SWING, swing, 5e-3, algorithm=algorithm) < most


@pytest.mark.parametrize(("tolerance", "most"), [(1e-5, 8e-4), (1e-6, 2e-4), (1e-7, 4e-5)])
def test_the_tolerance_of_adaptive_counts_for_what_is_driven(tolerance: float, most: float) -> None:
    """In communication steps of 20 ms, an eighth of a period."""
    assert spring_error(SWING, swing, 20e-3, algorithm="adaptive", coupling_tolerance=tolerance) < most


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
@pytest.mark.parametrize("law", [True, False])
@pytest.mark.parametrize("at", [0.1, 0.1 + 1e-15, 0.1025])
def test_a_driven_end_that_jumps_does_so_in_the_step_in_which_it_does(at: float, law: bool, algorithm: str) -> None:
    """Between two communication steps, and in the midst of one; a step too early it would err by 0.1."""
    jump = f"t < {at}[s] -> 0[mm], 10[mm]" if law else {"time": [0, at, at, 1], "value": [0, 0, 0.01, 0.01]}
    tolerance = TIGHT[algorithm]
    error = spring_error(jump, lambda t: 0.01 * (t >= at), 5e-3, algorithm=algorithm, coupling_tolerance=tolerance)
    assert error < (0.02 if at == 0.1025 else 0.002)


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
def test_a_velocity_that_contradicts_its_position_leaves_the_motion_right(algorithm: str) -> None:
    scenario = Scenario(
        slaves={"m": "SliderMass", "s": Part(recipe="TranslationalSpringByPositions", start={"k": 400.0})},
        connections=[("m.p", "s.r")],
        drive={"s.c.s": SWING, "s.c.v": 0.0},
        experiment=Experiment(stop=1.0, step=5e-3, algorithm=algorithm),
    )
    result = run(scenario)
    times = np.array(result.trace.time)
    exact = integrated(lambda t, y: [y[1], -400.0 * (y[0] - swing(t))], [0.0, 0.0], times)
    assert np.abs(result["m.p.s"] - exact).max() < 0.006 * np.abs(exact).max()


@pytest.mark.parametrize("order", [["s", "m"], ["m", "s"]])
def test_the_order_of_the_calls_makes_no_difference_to_a_driven_end(order: list[str]) -> None:
    result = spring("10[mm]*sin(7[1/s]*#t)", 5e-3, 1.0, order=order)
    times = np.array(result.trace.time)
    right = integrated(lambda t, y: [y[1], -400.0 * (y[0] - 0.01 * math.sin(7 * t))], [0.0, 0.0], times)
    assert np.abs(result["m.p.s"] - right).max() < 0.006 * np.abs(right).max()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("h", [5e-4, 1e-3])
def test_a_mass_on_a_shaken_floor_moves_as_on_its_spring(h: float, algorithm: str) -> None:
    """1 kg stays on a floor of 10 N/mm that 1 mm at 8 Hz shake; a drive that is late errs by 0.13 mm at 1 ms."""
    C, w, z = 1e4, 2 * math.pi * 8, 1e-3
    result = run(
        Scenario(
            slaves={
                "b": Part(recipe="PointMass", start={"r0": [0, 0, -9.81 / C], "v0": [0, 0, z * w]}),
                "f": Part(recipe="PointSurface", start={"C_F": C, "C_r": 1.0, "K_fr": 0}),
            },
            connections=[("b.p", "f.point")],
            drive={"f.surface.r[3]": "1[mm]*sin(2*PI*8[Hz]*#t)"},
            experiment=Experiment(stop=0.5, step=h, algorithm=algorithm),
        )
    )
    times = np.array(result.trace.time)
    right = integrated(lambda t, y: [y[1], C * max(z * math.sin(w * t) - y[0], 0.0) - 9.81], [-9.81 / C, z * w], times)
    assert np.abs(result["b.p.r[3]"] - right).max() < 2.5e-6 * (h / 1e-3) ** 2 + 1e-7


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_mass_that_rests_on_a_floor_stays_at_rest_as_both_move(algorithm: str) -> None:
    result = run(
        Scenario(
            slaves={
                "b": Part(recipe="PointMass", start={"r0": [0, 0, -9.81e-5], "v0": [0, 0, 1.0]}),
                "f": Part(recipe="PointSurface", start={"C_F": 1e5, "C_r": 0.5}),
            },
            connections=[("b.p", "f.point")],
            drive={"f.surface.r[3]": "1[m/s]*#t"},
            experiment=Experiment(stop=0.1, step=1e-3, algorithm=algorithm),
        )
    )
    assert np.abs(np.array(result["f.normal_force"]) - 9.81).max() < 1e-6


def test_what_a_drive_gives_an_element_has_the_time_of_the_motions_of_its_bodies(tmp_path: Path) -> None:
    """Motions, parameters and switches of a spring that is stepped behind its body; not what drives the body."""
    path = tmp_path / "driven.toml"
    path.write_text("""
        connections = [["m.p", "s.r"]]
        [experiment]
        stop = 0.1
        step = 1e-3
        [slaves]
        m = "SliderMass"
        s = "TranslationalSpringByPositions"
        [drive]
        "s.c.s" = "1[m/s]*#t"
        "s.work" = { time = [0, 1], value = [true, false] }
        """)
    master = Master(load_scenario(path))
    leads = master.schedule.leads(master.wiring, master.descriptions, ())
    assert {"s"} == {slave for slave, _ in leads} and set(leads.values()) == {1}
    assert {"r.s", "r.v", "c.s", "c.v", "k", "work"} <= {name for _, name in leads}
    assert set(master.schedule.leads(master.wiring, master.descriptions, {"m", "s"}).values()) == {0.5}
    path.write_text(path.read_text().replace("step = 1e-3", 'step = 1e-3\n        algorithm = "jacobi"'))
    master = Master(load_scenario(path))
    leads = master.schedule.leads(master.wiring, master.descriptions, ())
    assert ("s", "work") in leads and set(leads.values()) == {1}
    assert not {"r.s", "r.v", "c.s", "c.v", "k"} & {name for _, name in leads}


@pytest.mark.parametrize(
    ("algorithm", "most"), [("gauss_seidel", 0.01), ("jacobi", 0.01), ("implicit", 0.004), ("adaptive", 0.004)]
)
def test_a_stiffness_that_is_driven_is_not_a_step_late(algorithm: str, most: float) -> None:
    """1 kg at 1 m/s on k = 1000 + 500 sin(40 t) N/m in steps of 0.5 ms: a step late it errs by 0.017 m/s of 1.4."""
    result = run(
        Scenario(
            slaves={"m": Part(recipe="SliderMass", start={"m": 1.0, "v0": 1.0}), "s": "TranslationalSpringByPositions"},
            connections=[("m.p", "s.r")],
            drive={"s.k": "1000[N/m] + 500[N/m]*sin(40[1/s]*#t)"},
            experiment=Experiment(stop=1.0, step=0.5e-3, algorithm=algorithm),
        )
    )
    times = np.array(result.trace.time)
    right = solve_ivp(
        lambda t, y: [y[1], -(1000.0 + 500.0 * math.sin(40.0 * t)) * y[0]],
        (0.0, times[-1]), [0.0, 1.0], t_eval=times, rtol=1e-10, atol=1e-13,
    ).y[1]  # fmt: skip
    assert np.abs(result["m.p.v"] - right).max() < most


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_stiffness_that_jumps_makes_no_energy_but_what_the_jump_does(algorithm: str) -> None:
    """From 1000 to 3000 N/m at 30 ms, at the place that the mass has reached."""
    result = run(
        Scenario(
            slaves={"m": Part(recipe="SliderMass", start={"m": 1.0, "v0": 1.0}), "s": "TranslationalSpringByPositions"},
            connections=[("m.p", "s.r")],
            drive={"s.k": {"time": [0.0, 0.03, 0.03, 1.0], "value": [1e3, 1e3, 3e3, 3e3]}},
            experiment=Experiment(stop=0.3, step=1e-3, algorithm=algorithm),
        )
    )
    x, v = result["m.p.s"], result["m.p.v"]
    place = math.sin(math.sqrt(1000.0) * 0.03) / math.sqrt(1000.0)
    energy = 0.5 * v[-1] ** 2 + 1500.0 * x[-1] ** 2
    assert energy == pytest.approx(0.5 + 1000.0 * place**2, rel=2e-3)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_switch_that_is_driven_is_not_a_step_late(algorithm: str) -> None:
    """The spring is off for a while in which the mass flies on: a step late it leaves with another speed."""
    result = run(
        Scenario(
            slaves={"m": Part(recipe="SliderMass", start={"m": 1.0, "v0": 1.0}), "s": "TranslationalSpringByPositions"},
            connections=[("m.p", "s.r")],
            drive={"s.work": {"time": [0.0, 0.032, 0.032, 0.2], "value": [True, True, False, False]}},
            experiment=Experiment(stop=0.2, step=2e-3, algorithm=algorithm),
        )
    )
    omega = math.sqrt(1000.0)
    assert result["m.p.v"][-1] == pytest.approx(math.cos(omega * 0.032), abs=0.003)


@pytest.mark.parametrize("algorithm", [*ALGORITHMS, "implicit"])
def test_a_floor_that_is_switched_off_lets_a_mass_at_rest_fall_from_then_on(algorithm: str) -> None:
    """A step late, the floor would hold it for one step more: 4.9 mm/s."""
    result = run(
        Scenario(
            slaves={
                "m": Part(recipe="PointMass", start={"m": 1.0, "r0": [0.0, 0.0, -9.81e-4], "g": [0.0, 0.0, -9.81]}),
                "f": Part(recipe="PointSurface", start={"C_F": 1e4, "C_r": 1.0, "K_fr": 0.0}),
            },
            connections=[("m.p", "f.point")],
            drive={"f.work": {"time": [0.0, 0.1, 0.1, 1.0], "value": [True, True, False, False]}},
            experiment=Experiment(stop=0.2, step=0.5e-3, algorithm=algorithm),
        )
    )
    t = np.array(result.trace.time)
    np.testing.assert_allclose(result["m.p.v[3]"], np.where(t > 0.1, -9.81 * (t - 0.1), 0.0), rtol=0, atol=1e-9)


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
@pytest.mark.parametrize(
    "drive", [{"f.surface.v[1]": 1.0}, {"f.surface.r[1]": 0.0, "f.surface.v[1]": "1[m/s] + 0[m/s^2]*#t"}]
)
def test_a_belt_whose_speed_is_driven_without_or_against_its_position_takes_a_mass_along(
    drive: dict[str, object], algorithm: str
) -> None:
    """1 kg at rest on a belt of 1 m/s: mu g t until it moves along with it."""
    result = run(
        Scenario(
            slaves={
                "b": Part(recipe="PointMass", start={"r0": [0, 0, -9.81e-5]}),
                "f": Part(recipe="PointSurface", start={"C_F": 1e5, "C_r": 1.0, "K_fr": 0.2}),
            },
            connections=[("b.p", "f.point")],
            drive=drive,
            experiment=Experiment(stop=0.6, step=4e-3, algorithm=algorithm),
        )
    )
    times = np.array(result.trace.time)
    np.testing.assert_allclose(result["b.p.v[1]"], np.minimum(0.2 * 9.81 * times, 1.0), rtol=0, atol=0.004)


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
@pytest.mark.parametrize("share", [0.5e-4, 1.5e-4, 3e-4])
def test_a_jump_just_before_the_end_of_a_step_does_not_overshoot(share: float, algorithm: str) -> None:
    at = 0.1 - share * 5e-3
    jump = {"time": [0, at, at, 1], "value": [0, 0, 0.01, 0.01]}
    result = spring(jump, 5e-3, 0.2, algorithm=algorithm)
    assert np.abs(result["s.r.F"]).max() < 4.0 + 1e-3  # k times the jump
    assert spring_error(jump, lambda t: 0.01 * (t >= at), 5e-3, algorithm=algorithm) < 0.02


def test_a_drive_that_a_step_is_too_long_for_is_named_under_adaptive() -> None:
    """10 Hz in communication steps of a period."""
    result = spring("10[mm]*sin(2*PI*10[Hz]*#t)", 0.1, 1.0, algorithm="adaptive")
    (note,) = [note for note in result.notes if "cubic" in note]
    assert note.startswith("s.c.v, s.c.s: driven, and taken for a cubic within each communication step")
    result = spring(SWING, 5e-3, 1.0, algorithm="adaptive")
    assert not [note for note in result.notes if "cubic" in note]


def test_a_motion_in_another_unit_is_named_as_held_within_the_step(tmp_path: Path) -> None:
    (tmp_path / "driven.toml").write_text(
        'connections = [["m.p", "s.r"]]\n[experiment]\nstop = 0.1\nstep = 1e-3\nalgorithm = "implicit"\n'
        '[slaves]\nm = "SliderMass"\ns = "TranslationalSpringByPositions"\n[drive]\n"s.c.s" = "1[m/s]*#t"\n'
    )
    master = Master(load_scenario(tmp_path / "driven.toml"))
    (note,) = master.schedule.notes(master.wiring, master.descriptions, 1e-3, {"m", "s"}, {("s", "c.s")})
    assert note.startswith("s.c.s: driven, and held in the middle of each communication step")


def damper_error(step: float, tolerance: float | None, algorithm: str, drive: bool) -> float:
    """Of the speed, over the largest one, of 1 kg on 30 N s/m whose other end swings: by a drive or by an FMU."""
    mover = (
        {} if drive else {"p": Part(recipe="PrescribedTranslation", start={"amplitude": 0.01, "frequency": 40 / TURN})}
    )
    result = run(
        Scenario(
            slaves={"m": "SliderMass", "s": Part(recipe="TranslationalDamper", start={"d": 30.0}), **mover},
            connections=[("m.p", "s.r")] + ([] if drive else [("p.port", "s.c")]),
            drive={"s.c.v": "0.4[m/s]*cos(40[1/s]*#t)"} if drive else {},
            experiment=Experiment(stop=0.48, step=step, algorithm=algorithm, coupling_tolerance=tolerance),
        )
    )
    times, (a, w) = np.array(result.trace.time), (30.0, 40.0)
    exact = 0.4 * a / (a * a + w * w) * (a * np.cos(w * times) + w * np.sin(w * times) - a * np.exp(-a * times))
    return float(np.abs(result["m.p.v"] - exact).max() / np.abs(exact).max())


@pytest.mark.parametrize("drive", [True, False])
def test_a_damped_end_that_moves_is_of_the_second_order(drive: bool) -> None:
    errors = [damper_error(step, None, "implicit", drive) for step in (8e-3, 4e-3, 2e-3)]
    assert errors[0] < 0.01
    assert all(3.5 < coarse / fine < 4.5 for coarse, fine in itertools.pairwise(errors))


@pytest.mark.parametrize("drive", [True, False])
def test_the_tolerance_of_adaptive_counts_from_the_first_step_on(drive: bool) -> None:
    """The mass is at rest and the other end is not: the force falls fastest in the first step, of 4 ms."""
    errors = [damper_error(4e-3, tolerance, "adaptive", drive) for tolerance in (1e-4, 1e-6, 1e-8)]
    assert errors[0] < 6e-4
    assert errors[1] < 1.5e-5
    assert errors[2] < (2e-6 if drive else 4e-7)  # a drive is a cubic within the communication step


TURNING = 5.0  # rad/s
LINE = """element = "point_line_2"
[line]
points = [[0, 0, 0], [1, 0, 0]]
[start]
k_r1 = "1e4 N/m"
k_r2 = "1e4 N/m"
K_fr = 0
"""


def bead_on_a_turning_line(folder: Path, step: float, stop: float = 0.4, **experiment: object) -> Result:
    """A bead of 1 kg, 0.1 m from the axis; the orientation of the line is driven."""
    (folder / "Line.toml").write_text(LINE)
    half = TURNING / 2.0
    return run(
        Scenario(
            slaves={
                "b": Part(recipe="PointMass", start={"r0": [0.1, 0, 0], "v0": [0, 0.1 * TURNING, 0], "g": [0, 0, 0]}),
                "g": Part(recipe=str(folder / "Line.toml")),
            },
            connections=[("b.p", "g.point")],
            free_moment=True,
            drive={"g.body[1].q[1]": f"cos({half}[1/s]*#t)", "g.body[1].q[4]": f"sin({half}[1/s]*#t)"},
            experiment=Experiment(stop=stop, step=step, algorithm=experiment.pop("algorithm"), **experiment),
        )
    )


def error_on_the_turning_line(result: Result) -> float:
    """Of the position, over the largest one, against the equations in the frame of the line."""
    times = np.array(result.trace.time)
    W, k = TURNING, 1e4
    x, y, *_ = solve_ivp(
        lambda t, y: [y[2], y[3], W * W * y[0] + 2 * W * y[3], W * W * y[1] - 2 * W * y[2] - k * y[1]],
        (0.0, times[-1]), [0.1, 0.0, 0.0, 0.0], t_eval=times, rtol=1e-10, atol=1e-13,
    ).y  # fmt: skip
    c, s = np.cos(W * times), np.sin(W * times)
    off = np.hypot(result["b.p.r[1]"] - (c * x - s * y), result["b.p.r[2]"] - (s * x + c * y))
    return float(off.max() / np.hypot(x, y).max())


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
def test_a_bead_slides_on_a_line_whose_orientation_is_driven(algorithm: str, tmp_path: Path) -> None:
    """A line that is held in the middle of each step pushes the bead aside: 0.047 and 0.012."""
    coarse, fine = (
        error_on_the_turning_line(bead_on_a_turning_line(tmp_path, h, algorithm=algorithm)) for h in (4e-3, 1e-3)
    )
    assert coarse < 4e-4
    assert fine < 6e-5


@pytest.mark.parametrize("algorithm", ["implicit", pytest.param("adaptive", marks=pytest.mark.slow)])
def test_driven_motions_have_the_same_bits_in_both_loops(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In more steps than a block of values has."""
    found = []
    for loop in ("compiled", "python"):
        monkeypatch.setenv("FMU_BUILDER_LOOP", loop)
        jump = spring({"time": [0.0, 0.25, 0.25, 1.0], "value": [0.0, 0.01, 0.0, 0.02]}, 2e-4, 0.3, algorithm=algorithm)
        bead = bead_on_a_turning_line(tmp_path, 4e-3, algorithm=algorithm)
        found.append([jump["m.p.s"], jump["s.r.F"], jump["s.energy.elastic"], bead["b.p.r[1]"], bead["g.F_r1"]])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
@pytest.mark.parametrize(
    ("element", "start", "connection", "drive"),
    [
        ("TranslationalDamper", {"d": 30.0}, "r", {"s.c.v": "1[m/s]*sin(40[1/s]*#t)"}),
        ("TranslationalSpringByPositions", {"k": 1e3}, "r", {"s.c.s": "10[mm]*sin(40[1/s]*#t)"}),
    ],
)
def test_an_element_whose_force_is_solved_for_does_not_judge_it_as_a_held_one(
    element: str, start: dict[str, float], connection: str, drive: dict[str, str], algorithm: str
) -> None:
    result = run(
        Scenario(
            slaves={"m": Part(recipe="SliderMass", start={"m": 1.0}), "s": Part(recipe=element, start=start)},
            connections=[("m.p", f"s.{connection}")],
            drive=drive,
            experiment=Experiment(stop=0.3, step=0.5e-3, algorithm=algorithm),
        )
    )
    assert list(result.log) == []
