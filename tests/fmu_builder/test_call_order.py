"""The order of calls that the master gives to coupled elements, coupling.order."""

from __future__ import annotations

from pathlib import Path

import pytest

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
        ("gauss_seidel", ("left", "spring", "right"), None),
    ],
)
def test_the_order_follows_from_the_algorithm_and_the_place_of_the_element(
    tmp_path: Path, algorithm: str, slaves: tuple[str, ...], expected: str | None
) -> None:
    lines = {name: f"{name} = {{ {MASS} }}\n" for name in ("left", "right")} | {"spring": SPRING % ""}
    found = orders(tmp_path, TEXT % algorithm + "".join(lines[name] for name in slaves))
    assert found == ({"spring": expected} if expected else {})


@pytest.mark.parametrize("given", ["late", "unknown"])
def test_what_the_scenario_gives_stays(tmp_path: Path, given: str) -> None:
    slaves = f"left = {{ {MASS} }}\nright = {{ {MASS} }}\n" + SPRING % f', start = {{ "coupling.order" = "{given}" }}'
    assert orders(tmp_path, TEXT % "jacobi" + slaves) == {"spring": given}


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
