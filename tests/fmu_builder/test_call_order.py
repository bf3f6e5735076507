"""The order of calls that the master gives to coupled elements, coupling.order."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from foreign import GAIN, Var, foreign_fmu

from fmu_builder.cosim.master import Master, load_scenario, run

SPRING = 'spring = { recipe = "TranslationalSpring"%s }\n'
MASS = 'recipe = "SliderMass"'
TEXT = """connections = [["left.p", "spring.r"], ["right.p", "spring.c"]]
[experiment]
stop = "0.01 s"
step = "1 ms"
algorithm = "%s"
[slaves]
"""


def orders(tmp_path: Path, text: str) -> dict[str, str]:
    """By slave, the literal that the master gives."""
    path = tmp_path / "order.toml"
    path.write_text(text, encoding="utf-8")
    master = Master(load_scenario(path))
    found = {}
    for name, given in master.starts.items():
        if "coupling.order" in given:
            literals = master.descriptions[name].variables["coupling.order"].literals
            found[name] = next(literal for literal, number in literals.items() if number == given["coupling.order"])
    return found


@pytest.mark.parametrize(
    ("algorithm", "slaves", "expected"),
    [
        ("jacobi", ("left", "spring", "right"), "parallel"),
        ("gauss_seidel", ("spring", "left", "right"), "sequential"),
        ("gauss_seidel", ("left", "right", "spring"), "sequential"),
        ("gauss_seidel", ("left", "spring", "right"), "sequential"),  # moved behind them
        ('gauss_seidel"\norder = "listed', ("left", "spring", "right"), None),
    ],
)
def test_the_order_follows_from_the_algorithm_and_the_place_of_the_element(
    tmp_path: Path, algorithm: str, slaves: tuple[str, ...], expected: str | None
) -> None:
    lines = {name: f"{name} = {{ {MASS} }}\n" for name in ("left", "right")} | {"spring": SPRING % ""}
    found = orders(tmp_path, TEXT % algorithm + "".join(lines[name] for name in slaves))
    assert found == ({"spring": expected} if expected else {})


FLIGHT = """connections = [{connections}]
[experiment]
stop = {stop!r}
step = {step!r}
{experiment}
[slaves]
"""
BODY = 'body = { recipe = "SliderMass", start = { m = 10, v0 = "1 m/s" } }'
ELEMENT = 'spring = { recipe = "TranslationalSpring", start = { k = 1000%s } }'
DIRECT = '["body.p", "spring.r"]'
THROUGH = '["body.p.v", "gain.u"], ["gain.y", "spring.r.v"], ["spring.r.F", "body.p.F"]'


@pytest.mark.parametrize(
    ("connections", "slaves", "experiment", "expected"),
    [
        (DIRECT, ("body", "spring"), "", 1.0),
        (DIRECT, ("spring", "body"), "", None),
        (DIRECT, ("body", "spring"), 'algorithm = "jacobi"', None),
        (THROUGH, ("body", "gain", "spring"), "", 1.0),
        (THROUGH, ("gain", "body", "spring"), "", None),
    ],
)
def test_a_spring_knows_that_a_body_in_free_flight_has_moved_before_its_first_step(
    tmp_path: Path, connections: str, slaves: tuple[str, ...], experiment: str, expected: float | None
) -> None:
    """A mass flies at 1 m/s, its spring is relaxed: the first force is 0, and the speed at the end of the first step is
    that at the start.  s = v/Omega sin(Omega t) with 87 steps in half a swing; without the way of the first step, v H,
    it would be 2 v H = 7 % of the amplitude off."""
    omega, H = 10.0, math.pi / 10.0 / 87
    gain = foreign_fmu(tmp_path, "Gain", GAIN)
    lines = {"body": BODY, "spring": ELEMENT % "", "gain": f'gain = "{gain}"'}
    path = tmp_path / "flight.toml"
    text = FLIGHT.format(connections=connections, stop=160 * H, step=H, experiment=experiment)
    path.write_text(text + "\n".join(lines[slave] for slave in slaves))
    assert Master(load_scenario(path)).starts["spring"].get("coupling.bodies_first") == expected
    trace = run(path).trace
    error = np.abs(trace["body.p.s"] - np.sin(omega * trace.time) / omega) * omega
    assert error.max() < 0.01


def test_a_value_that_is_no_motion_says_nothing_of_the_order(tmp_path: Path) -> None:
    """The switch `work` of a spring comes from an FMU that is called after it."""
    switch = [Var("on", 14, "output", "Boolean")]
    path = tmp_path / "flight.toml"
    text = FLIGHT.format(connections=DIRECT + ', ["switch.on", "spring.work"]', stop=0.1, step=1e-3, experiment="")
    path.write_text(text + f'{BODY}\n{ELEMENT % ""}\nswitch = "{foreign_fmu(tmp_path, "Switch", switch)}"')
    starts = Master(load_scenario(path)).starts["spring"]
    assert starts == {"k": 1000.0, "coupling.bodies_first": 1.0, "coupling.order": 2.0}


def test_what_the_scenario_says_of_the_bodies_stays(tmp_path: Path) -> None:
    path = tmp_path / "flight.toml"
    text = FLIGHT.format(connections=DIRECT, stop=0.1, step=1e-3, experiment="")
    path.write_text(text + BODY + "\n" + ELEMENT % ', "coupling.bodies_first" = false')
    assert Master(load_scenario(path)).starts["spring"]["coupling.bodies_first"] == 0.0


@pytest.mark.parametrize("given", ["late", "unknown"])
def test_what_the_scenario_gives_stays(tmp_path: Path, given: str) -> None:
    slaves = f"left = {{ {MASS} }}\nright = {{ {MASS} }}\n" + SPRING % f', start = {{ "coupling.order" = "{given}" }}'
    assert orders(tmp_path, TEXT % "jacobi" + slaves) == {"spring": given}


@pytest.mark.slow
def test_an_order_of_the_recipe_and_one_that_the_mode_names_are_kept(tmp_path: Path) -> None:
    recipe = 'element = "translational_spring"\n[structure]\ncoupling = true\n[start]\n"coupling.order" = "late"\n'
    (tmp_path / "Late.toml").write_text(recipe, encoding="utf-8")
    slaves = f"left = {{ {MASS} }}\nright = {{ {MASS} }}\n"
    assert orders(tmp_path, TEXT % "jacobi" + slaves + 'spring = { recipe = "Late" }\n') == {}
    averaged = SPRING % ', start = { "coupling.mode" = "averaged" }'
    assert orders(tmp_path, TEXT % "jacobi" + slaves + averaged) == {}


def test_a_force_that_reaches_the_body_by_another_fmu_hides_the_order(tmp_path: Path) -> None:
    """The motion comes from the body itself, the force through a second spring's FMU that stands in for a sum."""
    wires = '["left.p.v", "spring.r.v"], ["spring.r.F", "hand.p_in.F"], ["body.P[1]", "hand.P_out"]'
    text = TEXT.replace('["left.p", "spring.r"], ["right.p", "spring.c"]', wires) % "jacobi"
    slaves = 'body = { recipe = "TwoDBody" }\nhand = { recipe = "TwoDPointX" }\n'
    assert orders(tmp_path, text + slaves + f"left = {{ {MASS} }}\n" + SPRING % "") == {}


def test_an_output_that_follows_an_input_hides_the_order(tmp_path: Path) -> None:
    """The transformer between the body and the spring adds an interval to the way of the force."""
    text = TEXT.replace('"left.p", "spring.r"', '"body.P[1]", "hand.P_out"], ["hand.p_in", "spring.r"') % "jacobi"
    slaves = 'body = { recipe = "TwoDBody" }\nhand = { recipe = "TwoDPointX" }\n'
    assert orders(tmp_path, text + slaves + f"right = {{ {MASS} }}\n" + SPRING % "") == {}


@pytest.mark.parametrize("first", ["bodies", "element"])
@pytest.mark.parametrize(("algorithm", "lag"), [("jacobi", 1.0), ("gauss_seidel", 0.0)])
def test_the_element_takes_it_from_the_first_sample_on(tmp_path: Path, algorithm: str, lag: float, first: str) -> None:
    path = tmp_path / "order.toml"
    bodies = f'left = {{ {MASS}, start = {{ v0 = "1 m/s" }} }}\nright = {{ {MASS} }}\n'
    slaves = bodies + SPRING % "" if first == "bodies" else SPRING % "" + bodies
    path.write_text(TEXT % algorithm + slaves, encoding="utf-8")
    trace = run(path).trace
    assert set(trace["spring.coupling.lag"][1:]) == {lag}


@pytest.mark.parametrize(
    ("connections", "slaves", "expected"),
    [
        ("", SPRING % "", False),  # it rests
        ('["drive.port", "spring.r"]', SPRING % "" + 'drive = "PrescribedTranslation"\n', True),
        ('["mass.p", "spring.r"]', SPRING % "" + 'mass = "SliderMass"\n', False),
        ("", SPRING % ', start = { "coupling.mode" = "hold" }', False),
        (
            '["drive.port", "spring.r"], ["mass.p", "spring.c"]',
            SPRING % "" + 'drive = "PrescribedTranslation"\nmass = "SliderMass"\n',
            False,
        ),
    ],
)
def test_where_no_body_moves_by_a_force_it_is_the_law_and_the_run_says_so(
    tmp_path: Path, connections: str, slaves: str, expected: bool
) -> None:
    path = tmp_path / "driven.toml"
    times = '[experiment]\nstop = "1 ms"\nstep = "1 ms"\n'
    path.write_text(f"connections = [{connections}]\n{times}[slaves]\n{slaves}", encoding="utf-8")
    said = [note for note in run(path).notes if note.startswith("spring: no body moves by its force")]
    assert said == ["spring: no body moves by its force: coupling.mode = hold, the law at the inputs"] * expected


def test_a_mode_that_is_given_is_kept_where_no_body_moves_by_a_force(tmp_path: Path) -> None:
    path = tmp_path / "driven.toml"
    for mode in ("auto", "predicted"):
        given = SPRING % f', start = {{ "coupling.mode" = "{mode}" }}'
        times, drive = '[experiment]\nstop = "1 ms"\nstep = "1 ms"\n', '[drive]\n"spring.r.v" = "1[m/s]"\n'
        path.write_text(f"{times}[slaves]\n{given}{drive}", encoding="utf-8")
        result = run(path)
        assert f"coupling.mode = {mode} looks for one" in " ".join(result.notes)


def test_an_fmu_of_another_tool_that_takes_the_force_may_move_by_it(tmp_path: Path) -> None:
    """It names neither states nor what its outputs depend on, as FMUs for co-simulation need not."""
    foreign_fmu(tmp_path, "Body", [Var("F", 1, "input", start="0", unit="N"), Var("v", 2, "output", unit="m/s")])
    path = tmp_path / "foreign.toml"
    times = '[experiment]\nstop = "1 ms"\nstep = "1 ms"\n'
    wires = 'connections = [["body.v", "spring.r.v"], ["spring.r.F", "body.F"]]\n'
    path.write_text(f'{wires}{times}[slaves]\nbody = "Body.fmu"\n{SPRING % ""}', encoding="utf-8")
    assert Master(load_scenario(path)).unanswered == []


def test_a_contact_that_a_drive_moves_has_the_force_of_the_law(tmp_path: Path) -> None:
    """To rounding at each communication point, though five samples a period and Jacobi leave much to be found out."""
    path = tmp_path / "driven.toml"
    for mode in ("", ', "coupling.mode" = "hold"'):
        path.write_text(
            '[experiment]\nstop = "20 ms"\nstep = "1 ms"\nalgorithm = "jacobi"\n[slaves]\n'
            f'floor = {{ recipe = "PointSurface", start = {{ C_r = 0.5{mode} }} }}\n[drive]\n'
            '"floor.point.r[3]" = "-1[mm] * sin(1256.6[rad/s] * #t)"\n'
            '"floor.point.v[3]" = "-1.2566[m/s] * cos(1256.6[rad/s] * #t)"\n',
            encoding="utf-8",
        )
        result = run(path)
        force = result.trace["floor.normal_force"]
        if not mode:
            found = force
            assert not [line for line in result.log if "rebound" in str(line)]  # of a mass that is none
    assert np.array_equal(found, force) and force.max() > 100.0
