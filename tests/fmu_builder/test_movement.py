"""What moves in a finished run: values of its trace, of connections, drives and start values, for the scene."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from fmu_builder.cosim.master import checked_scenario, run, system_of
from fmu_builder.cosim.trace import Trace
from fmu_builder.cosim.validation import find_cases, run_case
from fmu_builder.errors import InputError
from fmu_builder.model.element_model import ElementModel, load_element
from fmu_builder.pages.movement import FRAMES, Movement, movement_of
from fmu_builder.pages.scene import element_items
from fmu_builder.paths import shipped
from fmu_builder.report.case_view import case_view, refusal

DIGITS = 1e-4  # five digits are kept


def of_case(name: str) -> tuple[Movement | None, Trace]:
    ((_, path),) = find_cases([name]).items()
    scenario = checked_scenario(path)
    trace = run(scenario).trace
    return movement_of(system_of(scenario), trace), trace


def test_values_are_those_of_the_trace_and_constants_are_numbers() -> None:
    shown, trace = of_case("planar_mechanism/paper_concave")
    assert shown and len(shown.time) == min(FRAMES, len(trace.time))
    for k in range(1, 5):
        expected = np.interp(shown.time, trace.time, trace[f"chain.q[{k}]"])
        np.testing.assert_allclose(shown.places[f"chain.q[{k}]"], expected, rtol=DIGITS, atol=1e-9)
    (linkage,) = (item for item in shown.items if item["kind"] == "linkage")
    assert linkage["joints"][0]["place"] == [0.096, 0.298]
    assert linkage["joints"][0]["q"] == "chain.q[1]"
    (curve,) = linkage["curves"]
    assert curve["f"] == [0.0, -0.595, 0.5, 0.5]


def test_what_is_not_recorded_comes_from_connections_drives_and_start_values(tmp_path: Path) -> None:
    """The height of the point is that of the body, the floor follows a law, and its other places are start values."""
    path = tmp_path / "shaken.toml"
    path.write_text(
        'connections = [["ball.p", "floor.point"]]\n[experiment]\nstop = "0.1 s"\nstep = "1 ms"\n'
        'record = ["ball.p.*"]\n'
        '[slaves]\nball = { recipe = "PointMass", start = { r0 = [0, 0, "0.1 m"] } }\n'
        'floor = { recipe = "PointSurface", start = { "surface.r" = ["0.25 m", 0, 0] } }\n'
        '[drive]\n"floor.surface.r[3]" = "5[mm]*sin(2*PI*5[Hz]*#t)"\n',
        encoding="utf-8",
    )
    scenario = checked_scenario(path)
    trace = run(scenario).trace
    shown = movement_of(system_of(scenario), trace)
    assert shown
    body, surface = shown.items  # the force was not recorded
    assert body["points"] == [[0.0, 0.0, "ball.p.r[3]"]]
    assert surface["r"] == [0.25, 0.0, "floor.surface.r[3]"] and surface["q"] == [1.0, 0.0, 0.0, 0.0]
    time = np.array(shown.time)
    np.testing.assert_allclose(shown.places["ball.p.r[3]"], 0.1 - 9.81 / 2 * time**2, rtol=DIGITS, atol=1e-5)
    wave = 5e-3 * np.sin(10.0 * np.pi * time)
    np.testing.assert_allclose(shown.places["floor.surface.r[3]"], wave, rtol=DIGITS, atol=1e-12)


def test_a_body_that_turns_in_place_moves() -> None:
    shown, trace = of_case("rigid_body/tumble")
    assert shown and {item["kind"] for item in shown.items} == {"body", "shape"}
    (box,) = (item for item in shown.items if item["kind"] == "shape")
    expected = np.interp(shown.time, trace.time, trace["body.frame.q[2]"])
    np.testing.assert_allclose(shown.places[box["q"][1]], expected, rtol=DIGITS, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "moving"),  # along x, along y, turning
    [
        ("inertia/run_up", [(False, False, True)]),
        ("slider_mass/push", [(True, False, False)]),
        ("two_d_body/thrown", [(True, True, True)]),
        ("impact_damper/restitution", [(True, False, False)] * 2),
    ],
)
def test_bodies_of_one_direction_or_in_a_plane_move_in_rows(name: str, moving: list[tuple[bool, ...]]) -> None:
    shown, trace = of_case(name)
    assert shown
    parts = [item for item in shown.items if item["kind"] == "part"]
    assert [item["row"] for item in parts] == [*range(len(moving))]
    for part, expected in zip(parts, moving, strict=True):
        own = [*part["place"][:2], part["angle"]]
        assert tuple(isinstance(value, str) for value in own) == expected
        for value in (value for value in own if isinstance(value, str)):
            recorded = np.interp(shown.time, trace.time, trace[value])
            np.testing.assert_allclose(shown.places[value], recorded, rtol=DIGITS, atol=1e-6)


@pytest.mark.parametrize("name", ["probe_names/sum", "probe_ode/cosine"])
def test_what_has_no_place_in_space_does_not_move(name: str) -> None:
    assert of_case(name)[0] is None


def test_of_few_samples_nothing_is_drawn() -> None:
    ((_, path),) = find_cases(["point_mass/projectile"]).items()
    scenario = checked_scenario(path)
    trace = run(scenario).trace
    few = Trace(trace.time[:9], trace.names, trace.values[:9], trace.units, {}, {})
    assert movement_of(system_of(scenario), few) is None
    assert movement_of(system_of(scenario), trace) is not None


def own_surface(folder: Path, drawing: str = "") -> ElementModel:
    text = (shipped("fmus") / "PointSurface.toml").read_text(encoding="utf-8")
    (folder / "Own.toml").write_text(f"{text}\n[drawing]\n{drawing}\n", encoding="utf-8")
    return load_element(folder / "Own.toml")


@pytest.mark.parametrize("drawing", ["", "color = '#123456'", "visible = false"])
def test_a_surface_is_drawn_in_the_colour_of_its_recipe_where_it_is_visible(tmp_path: Path, drawing: str) -> None:
    items = list(element_items(own_surface(tmp_path, drawing)))
    if drawing.startswith("visible"):
        assert items == []
    else:
        (shape,) = (item for item in items if item["kind"] == "shape")
        assert shape["color"] == ("#123456" if drawing else "")


def test_a_shape_that_fails_is_named_and_hides_no_verdict(tmp_path: Path) -> None:
    """An element of the user's own in the place of a shipped one; a motion.py is no longer read."""
    own = tmp_path / "elements" / "point_surface"
    shutil.copytree(shipped("elements") / "point_surface", own, ignore=shutil.ignore_patterns("cases"))
    (own / "shape.py").write_text("def shapes(constants, choices):\n    return 1 / 0\n", encoding="utf-8")
    model = own_surface(tmp_path)
    with pytest.raises(InputError, match=r"shape\.py.*shapes\(\) failed for the recipe Own: ZeroDivisionError"):
        list(element_items(model))
    (own / "shape.py").write_text("def shapes(constants, choices)\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"shape\.py: cannot be loaded: SyntaxError"):
        list(element_items(model))
    (own / "shape.py").rename(own / "motion.py")
    with pytest.warns(FutureWarning, match=r"motion\.py is no longer read: shape\.py"):
        assert not [item for item in element_items(model) if item["kind"] == "shape"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("pendulum/falls_on_floor", "runs under the algorithm implicit, and a page has jacobi and gauss-seidel"),
        ("point_surface/bounce_train", "72 signals over 500000 steps take more memory than a page has"),
        ("probe_ode/lorenz", ""),
    ],
)
def test_a_case_that_no_page_runs_says_why(name: str, why: str) -> None:
    ((_, path),) = find_cases([name]).items()
    assert why in refusal(system_of(checked_scenario(path)))


def test_the_view_of_a_case_holds_its_movement() -> None:
    ((name, path),) = find_cases(["point_mass/projectile"]).items()
    result = run_case(name, path)
    view = case_view(path, result)
    assert view.movement and view.notes == ()
    assert view.movement.items[0]["kind"] == "body"
