"""From a recipe to the table of variables: names, kinds, start values, and what is wrong with a recipe's."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest

from fmu_builder.errors import InputError
from fmu_builder.export.description import initial_dependencies
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import Model
from fmu_builder.paths import shipped

SURFACE = 'element = "point_surface"\n[surface]\nkind = "plane"\n'


def recipe(folder: Path, text: str) -> Path:
    path = folder / "Pad.toml"
    path.write_text(text, encoding="utf-8")
    return path


def model_of(folder: Path, text: str) -> Model:
    return load_model(recipe(folder, text))


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_model(recipe(folder, text))
    assert caught.value.exit_code == 2
    return [str(problem) for problem in caught.value.problems]


def starts(folder: Path, text: str, element: str = SURFACE) -> Model:
    return model_of(folder, f"{element}[start]\n{text}\n")


# ---- names -----------------------------------------------------------------------------------------------------------


def test_names_are_plain_where_the_recipe_gives_no_number_of_points(tmp_path: Path) -> None:
    model = model_of(tmp_path, SURFACE)
    assert {"point.r[3]", "point.f[1]", "depth", "normal[2]", "contact.r[3]", "contact_count", "der(impulse)"} <= set(
        v.name for v in model.variables
    )
    assert not [v.name for v in model.variables if v.name.startswith(("point[", "depth["))]
    assert [port.name for port in model.ports] == ["point", "surface"]


@pytest.mark.parametrize("points", [1, 3])
def test_names_are_numbered_where_the_recipe_gives_the_number_of_points(tmp_path: Path, points: int) -> None:
    model = model_of(tmp_path, f"{SURFACE}[structure]\npoints = {points}\n")
    for i in range(1, points + 1):
        for name in (f"point[{i}].r[3]", f"point[{i}].f[1]", f"depth[{i}]", f"normal[{i},3]", f"contact[{i}].r[2]",
                     f"impulse[{i}]", f"der(impulse[{i}])", f"contact_count[{i}]"):  # fmt: skip
            assert name in model
    for name in ("point.r[3]", "depth", f"depth[{points + 1}]", "depth[0]", "surface[1].r[1]", "energy[1].work"):
        assert name not in model
    assert {"surface.r[1]", "energy.work", "C_F"} <= set(v.name for v in model.variables)
    assert [port.name for port in model.ports] == [*(f"point[{i}]" for i in range(1, points + 1)), "surface"]
    last = model.ports[points - 1]
    assert last.motion["r"] == tuple(f"point[{points}].r[{k}]" for k in (1, 2, 3))
    assert last.force["f"] == tuple(f"point[{points}].f[{k}]" for k in (1, 2, 3))


@pytest.mark.parametrize("points", [1, 2, 5])
def test_value_references_count_all_variables_without_a_gap(tmp_path: Path, points: int) -> None:
    model = model_of(tmp_path, f"{SURFACE}[structure]\npoints = {points}\n")
    assert [v.index for v in model.variables] == list(range(len(model.variables)))
    assert len({v.name for v in model.variables}) == len(model.variables)
    assert model.variables[0].name == "time"
    assert len(model.indicators) == 10 * points


def test_states_and_derivatives_name_each_other(tmp_path: Path) -> None:
    model = model_of(tmp_path, f"{SURFACE}[structure]\npoints = 2\n")
    states = model.by_kind("state")
    assert {s.name for s in states} == {
        *(f"{name}[{i}]" for name in ("impulse", "contact_time") for i in (1, 2)),
        "energy.damping", "energy.friction", "energy.work",
    }  # fmt: skip
    for state in states:
        derivative = model.variables[state.derivative]
        assert derivative.name == f"der({state.name})"
        assert derivative.derivative == state.index
    assert model.variables[model["impulse[2]"].rate].name == "normal_force[2]"
    assert model["der(impulse[1])"].unit.name == "N"
    assert model["der(energy.work)"].unit.name == "W"


def test_motion_inputs_know_the_input_that_is_their_rate(tmp_path: Path) -> None:
    model = model_of(tmp_path, f"{SURFACE}[structure]\npoints = 2\n")
    assert model.variables[model["point[2].r[3]"].rate].name == "point[2].v[3]"
    assert model.variables[model["surface.r[1]"].rate].name == "surface.v[1]"
    assert model["surface.q[1]"].rate == -1  # q' is no multiple of w: `quaternions` pairs them
    assert [(model.variables[q].name, model.variables[w].name) for q, w in model.quaternions] == [
        ("surface.q[1]", "surface.w[1]")
    ]


def test_each_point_depends_on_itself_and_the_surface_on_all(tmp_path: Path) -> None:
    model = model_of(tmp_path, f"{SURFACE}[structure]\npoints = 2\n")

    def ports(name: str) -> set[str]:
        return {model.variables[i].name.split(".")[0] for i in model[name].depends if "." in model.variables[i].name}

    assert ports("depth[2]") == ports("point[2].f[1]") == {"point[2]", "surface"}
    assert ports("surface.t[3]") == ports("power.work") == {"point[1]", "point[2]", "surface"}


def test_states_of_a_body_start_from_their_parameters(tmp_path: Path) -> None:
    model = model_of(tmp_path, 'element = "point_mass"\n')
    assert model.variables[model["p.r[2]"].start_from].name == "r0[2]"
    assert model.variables[model["p.v[3]"].start_from].name == "v0[3]"
    assert [model.variables[i].name for i in model["der(p.v[3])"].depends] == ["m", "g[3]", "p.f[3]"]
    assert [model.variables[i].name for i in model["der(p.r[3])"].depends] == ["p.v[3]"]


def test_components_of_every_point_are_told_apart(tmp_path: Path) -> None:
    """The moment of a force about an axis does not depend on its part along that, the acceleration on nothing else."""
    text = 'element = "rigid_body"\n[structure]\npoints = 2\nframes = false\n'
    model = model_of(tmp_path, text)

    def depends(name: str, group: str) -> list[str]:
        return [n for i in model[name].depends if (n := model.variables[i].name).startswith(group)]

    assert depends("der(spin[2])", "point") == [
        *(f"point[1].{v}" for v in ("offset[1]", "offset[2]", "offset[3]", "f[1]", "f[3]")),
        *(f"point[2].{v}" for v in ("offset[1]", "offset[2]", "offset[3]", "f[1]", "f[3]")),
    ]
    assert depends("der(frame.v[2])", "point") == ["point[1].f[2]", "point[2].f[2]"]
    assert depends("point[2].r[3]", "point") == [f"point[2].offset[{k}]" for k in (1, 2, 3)]


def test_a_state_that_the_element_starts_names_the_parameters(tmp_path: Path) -> None:
    model = model_of(tmp_path, 'element = "rigid_body"\n')
    assert [model.variables[i].name for i in model["frame.q[2]"].initial] == [f"q0[{k}]" for k in (1, 2, 3, 4)]
    names = {model.variables[i].name for i in initial_dependencies(model, model["point.v[1]"])}
    assert {"q0[1]", "w0[3]", "v0[1]", "J_xy", "point.offset[2]"} <= names
    assert not names & {"v0[2]", "r0[1]", "m"}


def test_what_stands_for_each_of_none_is_left_out(tmp_path: Path) -> None:
    model = model_of(tmp_path, 'element = "rigid_body"\n[structure]\npoints = 0\n')
    assert not [v.name for v in model.variables if v.name.startswith(("point", "attach"))]
    assert [port.name for port in model.ports] == ["frame"]
    assert [model.variables[i].name for i in model["der(frame.v[1])"].depends] == ["m", "g[1]", "frame.f[1]"]


# ---- start values ----------------------------------------------------------------------------------------------------


def test_start_values_are_numbers_in_si_or_texts_with_units(tmp_path: Path) -> None:
    model = starts(tmp_path, 'C_F = "100 N/mm"\nD_max = "35 [mm]"\nK_fr = 0.3\nk_D = "80"\nC_r = 1\nwork = false')
    values = {name: model[name].start for name in ("C_F", "D_max", "K_fr", "k_D", "C_r", "work")}
    assert values == {"C_F": 1e5, "D_max": 0.035, "K_fr": 0.3, "k_D": 80.0, "C_r": 1.0, "work": 0.0}
    assert model["k_T"].start == 100.0  # of the element


def test_vectors_start_by_their_name_or_by_element(tmp_path: Path) -> None:
    mass = 'element = "point_mass"\n'
    model = starts(tmp_path, 'g = [0.0, "1 mm/s2", 2]\n"r0[3]" = "5 cm"', mass)
    assert [model[f"g[{k}]"].start for k in (1, 2, 3)] == [0.0, 1e-3, 2.0]
    assert [model[f"r0[{k}]"].start for k in (1, 2, 3)] == [0.0, 0.0, 0.05]
    three = f"{SURFACE}[structure]\npoints = 3\n"
    model = starts(tmp_path, '"point[2].r" = [1, 2, 3]\n"surface.q" = [0, 1, 0, 0]\n"point[1].v[2]" = 4', three)
    assert [model[f"point[2].r[{k}]"].start for k in (1, 2, 3)] == [1.0, 2.0, 3.0]
    assert [model[f"point[1].r[{k}]"].start for k in (1, 2, 3)] == [0.0, 0.0, 0.0]
    assert [model[f"surface.q[{k}]"].start for k in (1, 2, 3, 4)] == [0.0, 1.0, 0.0, 0.0]
    assert model["point[1].v[2]"].start == 4.0


# key and value as written, what the message has to hold
FAULTS = {
    "unknown name": ("stiffness = 1e5", "[start] stiffness: there is no such variable"),
    "misspelt name": ("D_mx = 1", "[start] D_mx: there is no such variable; did you mean 'D_max'?"),
    "unknown vector": ('"surfce.r" = [1, 2, 3]', "[start] surfce.r: there is no such variable; did you mean 'surface"),
    "vector of another number": ('"point.r" = [1, 2]', "[start] point.r: [1, 2]: 3 values needed, 2 given"),
    "scalar for a vector": ('"point.r" = 1', "[start] point.r: 1: 3 values needed, 1 given"),
    "vector for a scalar": ("C_F = [1, 2]", "[start] C_F: [1, 2]: 1 value needed, 2 given"),
    "wrong unit": ('C_F = "1e5 N.m"', "[start] C_F = '1e5 N.m' has the dimension kg.m2.s-2 but N/m (kg.s-2) is needed"),
    "unknown unit": ('C_F = "1e5 N/mn"', "[start] C_F = '1e5 N/mn' has a faulty unit"),
    "below min": ("C_F = -1", "[start] C_F: -1 is refused: C_F must be at least 0"),
    "above max": ("C_r = 1.5", "[start] C_r: 1.5 is refused: C_r must be at most 1"),
    "on a strict bound": ("k_E = 1", "[start] k_E: 1 is refused: k_E must be less than 1"),
    "on a strict lower bound": ("D_max = 0", "[start] D_max: 0 is refused: D_max must be greater than 0"),
    "in its own unit": ('D_max = "-3 mm"', "[start] D_max: '-3 mm' is refused: D_max must be greater than 0 m"),
    "not a number": ("C_F = nan", "[start] C_F = nan must be finite"),
    "infinite": ("C_F = inf", "[start] C_F = inf must be finite"),
    "text for a Boolean": ('work = "true"', "[start] work: 'true' must be true or false"),
    "number for a Boolean": ("work = 1", "[start] work: 1 must be true or false"),
    "Boolean for a Real": ("C_F = true", "[start] C_F: true must be a number"),
    "table for a Real": ("C_F = { value = 1 }", "must be a number"),
    "computed": ("depth = 0.1", "[start] depth: only parameters and inputs have start values; this one is computed"),
    "computed vector": ('"point.f" = [0, 0, 0]', "[start] point.f: only parameters and inputs"),
    "state": ("impulse = 1", "[start] impulse: only parameters and inputs"),
    "time": ("time = 1", "[start] time: only parameters and inputs"),
    "hidden": ("previous_stiffness = 1", "[start] previous_stiffness: there is no such variable"),
    "no rotation": ('"surface.q" = [0, 0, 0, 0]', "[start] surface.q: (0, 0, 0, 0): the length of a quaternion"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faulty_start_value_is_named_with_file_table_key_value_and_rule(tmp_path: Path, fault: str) -> None:
    written, said = FAULTS[fault]
    (problem,) = problems(tmp_path, f"{SURFACE}[start]\n{written}\n")
    assert problem.startswith(f"{tmp_path / 'Pad.toml'}: ")
    assert said in problem


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    lines = [written for name, (written, _) in FAULTS.items()]
    keys = [line.split("=")[0].strip(' "') for line in lines]
    distinct = [line for i, line in enumerate(lines) if keys[i] not in keys[:i]]
    found = problems(tmp_path, SURFACE + "[start]\n" + "\n".join(distinct) + "\n")
    assert len(found) == len(distinct) >= 14


def test_vector_and_its_element_cannot_both_be_given(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, 'element = "point_mass"\n[start]\ng = [0, 0, -9.81]\n"g[3]" = -1.62\n')
    assert "[start] g[3]: has a start value by g already" in problem


def test_start_value_of_every_element_of_a_vector_is_checked(tmp_path: Path) -> None:
    found = problems(tmp_path, 'element = "point_mass"\n[start]\ng = ["1 m", nan, "x"]\n')
    assert len(found) == 3
    assert all("[start] g" in problem for problem in found)


def test_starts_at_the_bounds_are_taken(tmp_path: Path) -> None:
    model = starts(tmp_path, f"C_F = 0\nC_r = 0\nk_E = 0\nK_fr = 0\nD_max = 1e-300\nk_D = {math.nextafter(0.0, 1.0)!r}")
    assert model["C_F"].start == model["C_r"].start == model["k_E"].start == 0.0


# ---- structure -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("points", ["0", "-1", "1.5", '"3"', "true", "10001"])
def test_number_of_points_is_a_whole_number_in_its_range(tmp_path: Path, points: str) -> None:
    found = problems(tmp_path, f"{SURFACE}[structure]\npoints = {points}\n")
    assert len(found) == 1
    assert "[structure] points" in found[0]
    assert "must be a whole number from 1 to 10000" in found[0]


def test_faults_of_structure_and_start_are_told_together(tmp_path: Path) -> None:
    found = problems(tmp_path, 'element = "point_surface"\n[surface]\nkind = "plain"\n[start]\nC_F = -1\nC_G = 2\n')
    assert len(found) == 3


# ---- the solver's variables --------------------------------------------------------------------------------------


def test_a_model_with_states_has_the_solver_group_and_its_tolerance_starts_at_the_experiments(tmp_path: Path) -> None:
    model = model_of(tmp_path, SURFACE)
    assert model["solver.tolerance"].start == model.experiment.tolerance
    assert model["solver.method"].literals == ("auto", "explicit", "implicit")
    assert {v.kind for v in model.variables if v.name.startswith("solver.")} == {"fixed", "tunable", "memory"}
    assert not any(model["solver.tolerance"].index in v.depends for v in model.variables)


def test_the_step_that_a_soft_element_is_advised_is_no_longer_than_the_default_run(tmp_path: Path) -> None:
    experiment = starts(tmp_path, "k = 1e-9", 'element = "translational_spring"\n').experiment
    assert experiment.step == experiment.stop == 1.0


@pytest.mark.parametrize(("literal", "value"), [("auto", 1.0), ("explicit", 2.0), ("implicit", 3.0)])
def test_an_enumeration_starts_at_a_literal(tmp_path: Path, literal: str, value: float) -> None:
    assert starts(tmp_path, f'"solver.method" = "{literal}"')["solver.method"].start == value


def test_the_literals_of_an_enumeration_are_listed_once(tmp_path: Path) -> None:
    (told,) = problems(tmp_path, SURFACE + '[start]\n"solver.method" = "magic"\n')
    assert told.endswith("'magic' is none of auto, explicit, implicit")


def test_wrong_solver_settings_are_refused_with_their_rule(tmp_path: Path) -> None:
    text = '[start]\n"solver.tolerance" = 0\n"solver.method" = "implicite"\n"solver.max_substeps" = 0.5\n'
    told = problems(tmp_path, SURFACE + text)
    assert len(told) == 3
    assert "solver.tolerance must be at least 1e-13" in told[0]
    assert "is none of auto, explicit, implicit; did you mean 'implicit'?" in told[1]
    assert "0.5 must be a whole number" in told[2]


def test_indicators_have_their_names_and_nominal_values_in_the_order_of_the_c_struct(tmp_path: Path) -> None:
    model = model_of(tmp_path, f"{SURFACE}[structure]\npoints = 2\n")
    lengths = ("distance", "depth_limit", "edge_x_from", "edge_x_to", "edge_y_from", "edge_y_to")
    others = ("depth_rate", "compression_limit", "restitution_limit", "full_friction")
    told = [(f"{name}[{i}]", 1e-2 if name in lengths else 1.0) for name in (*lengths, *others) for i in (1, 2)]
    assert [(one.name, one.nominal) for one in model.indicators] == told


def test_indicators_of_an_assembly_are_named_by_their_parts() -> None:
    model = load_model(shipped("fmus") / "BouncingBall.toml")
    assert [one.name for one in model.indicators][:2] == ["floor.distance[1]", "floor.depth_limit[1]"]


@pytest.mark.slow
def test_a_model_of_many_points_takes_time_in_proportion(tmp_path: Path) -> None:
    def seconds(points: int) -> float:
        begin = time.process_time()
        model_of(tmp_path, f"{SURFACE}[structure]\npoints = {points}\n")
        return time.process_time() - begin

    few = min(seconds(100) for _ in range(3))
    assert min(seconds(400) for _ in range(2)) < 8.0 * few  # in proportion: 4, by pairs of points: 16
