"""Assemblies as models: names, connections, the order of evaluation, dependencies, and what is refused."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fmu_builder.errors import InputError
from fmu_builder.export.documentation import documentation_files
from fmu_builder.export.generate import fmu_sources, source_files
from fmu_builder.model.assembly import AssemblyModel
from fmu_builder.model.loader import assembly_of_scenario, load_assembly, load_model
from fmu_builder.model.model import Model
from fmu_builder.model.scenario import read_scenario
from fmu_builder.paths import shipped

GUID = "{00000000-0000-0000-0000-000000000000}"
BALL = """
connections = [["ball.p", "floor.point"]]
[parts]
ball = { recipe = "PointMass", start = { m = 2.0, r0 = [0, 0, "0.1 m"] } }
floor = "PointSurface"
"""
GAIN = """
description = "Two gains, of which one passes through a state"
[parameters]
k = { start = 2.0, description = "Gain" }
[inputs]
u = { description = "Input of y" }
w = { description = "Input of z" }
[outputs]
y = { depends = ["u", "k"], description = "The gain k times u" }
z = { depends = ["w"], description = "What w is" }
[states]
x = { start = 1.0, output = true, depends = ["u", "w"], description = "Integral of u w" }
"""
GAIN_C = """
static void outputs(Element *e) { e->y = e->k * e->u; e->z = e->w; }
static void derivatives(Element *e) { e->der.x = e->u * e->w; }
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def gains(tmp_path: Path) -> Path:
    """A folder with an element of two gains, and its recipe Gain."""
    element = tmp_path / "elements" / "gain"
    element.mkdir(parents=True)
    (element / "element.toml").write_text(GAIN, encoding="utf-8")
    (element / "element.c").write_text(GAIN_C, encoding="utf-8")
    write(tmp_path, "Gain", 'element = "gain"\n')
    return tmp_path


def chain(folder: Path, parts: Iterable[str], *connections: tuple[str, str], more: str = "") -> AssemblyModel:
    lines = ", ".join(f'["{a}", "{b}"]' for a, b in connections)
    named = "\n".join(f'{name} = "Gain"' for name in parts)
    return load_assembly(write(folder, "Chain", f"connections = [{lines}]\n[parts]\n{named}\n{more}"))


def problems(path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_model(path)
    return [str(problem) for problem in caught.value.problems]


def names(model: AssemblyModel, indices: Iterable[int]) -> set[str]:
    return {model.variables[i].name for i in indices}


def check_schedule(model: AssemblyModel) -> None:
    """By its own book-keeping: nothing is copied before it is right, everything is copied and evaluated at the end."""
    right = {v.index for v in model.variables if v.kind == "state"}  # values that are those of this point in time
    received: set[int] = set()
    copied = 0
    finished: list[int] = []
    for one in model.schedule:
        for copy in model.copies[copied : one.copies]:
            for k in range(copy.count):
                assert copy.source + k in right
                assert (copy.target + k in received) == copy.adds
                received.add(copy.target + k)
        copied = one.copies
        part = model.parts[one.part]
        variables = part.model.variables
        connected = {v.index + part.offset for v in variables} & model.sources.keys()
        complete = {t for t in connected & received if count_copies(model, t, copied) == len(model.sources[t])}
        if one.last:
            assert complete == connected
            finished.append(one.part)
        for v in variables:
            if v.kind in ("output", "derivative") and not {i + part.offset for i in v.depends} & connected - complete:
                right.add(v.index + part.offset)
            if v.kind == "memory" and one.last:
                right.add(v.index + part.offset)
    assert copied == len(model.copies)
    assert sorted(finished) == list(range(len(model.parts)))


def count_copies(model: AssemblyModel, target: int, copies: int) -> int:
    return sum(c.target <= target < c.target + c.count for c in model.copies[:copies])


# ---- names, kinds, start values --------------------------------------------------------------------------------------


def test_variables_of_parts_carry_their_names(tmp_path: Path) -> None:
    model = load_assembly(write(tmp_path, "Ball", BALL))
    assert [v.index for v in model.variables] == list(range(len(model.variables)))
    assert model["ball.m"].kind == "tunable"
    assert model["ball.m"].start == 2.0
    assert model["ball.r0[3]"].start == 0.1
    assert model["floor.C_F"].start == 1e5
    assert model["floor.depth"].kind == "output"
    assert not model["floor.depth"].is_output
    assert model["floor.surface.r[3]"].kind == "input"
    assert model["der(ball.p.v[3])"].derivative == model["ball.p.v[3]"].index
    assert sum(v.kind == "time" and not v.hidden for v in model.variables) == 1
    alone = load_model(shipped("fmus") / "PointMass.toml")
    assert group(model, "solver.") == group(alone, "solver.")


def group(model: Model, prefix: str) -> list[str]:
    return [v.name for v in model.variables if v.name.startswith(prefix)]


def test_a_connected_input_is_a_local_variable(tmp_path: Path) -> None:
    model = load_assembly(write(tmp_path, "Ball", BALL))
    assert model["ball.p.f[3]"].kind == "output"
    assert not model["ball.p.f[3]"].is_output
    assert names(model, model.sources[model["ball.p.f[3]"].index]) == {"floor.point.f[3]"}


def test_exposed_variables_have_their_own_names(tmp_path: Path) -> None:
    model = load_assembly(
        write(
            tmp_path,
            "Ball",
            BALL
            + """
[expose]
outputs = { height = "ball.p.r[3]", "contact.normal" = "floor.normal", push = "ball.p.f" }
inputs = { tilt = "floor.surface.q[2]" }
parameters = { stiffness = "floor.C_F" }
[start]
stiffness = "3e5 N/m"
tilt = 0.01
"ball.g" = [0, 0, -1.62]
""",
        )
    )
    assert model["height"].is_output
    assert model["height"].kind == "state"
    assert model["der(height)"].derivative == model["height"].index
    assert model["der(height)"].description == "Derivative of height"
    assert [model[f"contact.normal[{k}]"].is_output for k in (1, 2, 3)] == [True] * 3
    assert model["push[3]"].is_output
    assert model["tilt"].start == 0.01
    assert model["stiffness"].start == 3e5
    assert model["ball.g[3]"].start == -1.62
    assert "ball.p.r[3]" not in model
    assert "floor.C_F" not in model


def test_an_exposed_variable_may_keep_its_name(tmp_path: Path) -> None:
    exposed = '[expose.outputs]\n"floor.depth" = "floor.depth"\n"floor.normal" = "floor.normal"\n'
    model = load_assembly(write(tmp_path, "Ball", BALL + exposed))
    assert model["floor.depth"].is_output
    assert [model[f"floor.normal[{k}]"].is_output for k in (1, 2, 3)] == [True] * 3
    assert not model["floor.normal_force"].is_output
    assert {"floor.depth", "floor.normal[1]"} <= {v.name for v in model.own_variables()}


FIXED = "unless its inputs are set it stays where it starts, as if fixed to the ground"


@pytest.mark.parametrize(
    ("exposed", "notes"),
    [
        ("", [f"floor.surface is not connected: {FIXED}"]),
        ('ports = { base = "floor.surface" }', []),
        (
            'inputs = { x = "floor.surface.r", y = "floor.surface.v", z = "floor.surface.q" }',
            [
                "floor.surface: surface.w[1], surface.w[2], surface.w[3] not connected, kept at the start values",
            ],
        ),
    ],
)
def test_who_exposes_a_port_need_not_be_told_that_it_is_open(tmp_path: Path, exposed: str, notes: list[str]) -> None:
    model = load_assembly(write(tmp_path, "Ball", f"{BALL}[expose]\n{exposed}\n"))
    assert list(model.notes()) == notes


def test_an_exposed_port_can_be_connected_again(tmp_path: Path) -> None:
    write(tmp_path, "Tip", '[parts]\nball = "PointMass"\n[expose]\nports = { tip = "ball.p" }\n')
    model = load_model(tmp_path / "Tip.toml")
    assert [port.name for port in model.ports] == ["tip"]
    assert model["tip.f[2]"].kind == "input"
    assert model["tip.v[1]"].is_output
    outer = write(tmp_path, "Outer", 'connections = [["a.tip", "f.point"]]\n[parts]\na = "Tip"\nf = "PointSurface"\n')
    assembly = load_assembly(outer)
    assert names(assembly, assembly.sources[assembly["a.tip.f[1]"].index]) == {"f.point.f[1]"}


def test_nested_assemblies_carry_both_names(tmp_path: Path) -> None:
    write(tmp_path, "Ball", BALL + '[expose]\noutputs = { height = "ball.p.r[3]" }\n')
    outer = load_assembly(
        write(
            tmp_path,
            "Outer",
            """
connections = [["left.ball.p", "wall.point"]]
[parts]
left = { recipe = "Ball", start = { "ball.m" = 5.0 } }
right = "Ball"
wall = "PointSurface"
[expose]
outputs = { first = "left.height" }
""",
        )
    )
    assert [part.name for part in outer.parts] == ["left.ball", "left.floor", "right.ball", "right.floor", "wall"]
    assert outer["left.ball.m"].start == 5.0
    assert outer["right.ball.m"].start == 2.0
    assert outer["first"].is_output
    assert not outer["right.height"].is_output
    assert outer["der(right.height)"].derivative == outer["right.height"].index
    pushed = outer.sources[outer["left.ball.p.f[3]"].index]
    assert [outer.variables[i].name for i in pushed] == ["left.floor.point.f[3]", "wall.point.f[3]"]  # inside first
    assert len(outer.types) == 2
    check_schedule(outer)


def test_parts_with_the_same_structure_share_a_type(tmp_path: Path) -> None:
    write(tmp_path, "Two", 'element = "point_surface"\n[surface]\nkind = "plane"\n[structure]\npoints = 2\n')
    write(tmp_path, "Soft", 'element = "point_surface"\n[surface]\nkind = "plane"\n[start]\nC_F = 1.0\n')
    model = load_assembly(
        write(tmp_path, "Many", '[parts]\na = "Two"\nb = "Soft"\nc = "PointSurface"\nd = "Two"\ne = "FloorPatch"\n')
    )
    assert [kind.name for kind in model.types] == ["Two", "Soft", "FloorPatch"]
    assert [part.type for part in model.parts] == [0, 1, 1, 0, 2]
    files = fmu_sources(model, GUID)
    assert set(source_files(model)) <= files.keys()
    assert {f"parts/{name}" for name in ("Two/model_data.h", "Two/element.c", "Soft/element.c")} <= files.keys()
    assert [name for name in files if name.endswith("contact.h")] == ["laws/contact.h"]


def test_log_categories_of_all_parts_are_those_of_the_assembly(tmp_path: Path) -> None:
    assert load_assembly(write(tmp_path, "Ball", BALL)).log.keys() == {"contact"}


# ---- order and dependencies ------------------------------------------------------------------------------------------


def test_a_ball_is_evaluated_after_its_floor(tmp_path: Path) -> None:
    model = load_assembly(write(tmp_path, "Ball", BALL))
    assert [(model.parts[one.part].name, one.last) for one in model.schedule] == [("floor", True), ("ball", True)]
    check_schedule(model)


def test_dependencies_reach_through_the_connections(tmp_path: Path) -> None:
    model = load_assembly(write(tmp_path, "Ball", BALL))
    expected = {"ball.m", "ball.g[3]", *(f"ball.p.{x}[{k}]" for x in "rv" for k in (1, 2, 3)), "floor.work"}
    expected |= {f"floor.surface.{x}[{k}]" for x in "rvw" for k in (1, 2, 3)}
    expected |= {f"floor.surface.q[{k}]" for k in (1, 2, 3, 4)}
    expected |= {f"floor.{p}" for p in ("C_F", "K_fr", "C_r", "D_max", "k_D", "k_E", "k_T")}
    assert names(model, model["der(ball.p.v[3])"].depends) == expected
    assert names(model, model["ball.energy.kinetic"].depends) == {"ball.m", *(f"ball.p.v[{k}]" for k in (1, 2, 3))}


def test_a_chain_is_evaluated_along_its_signals(gains: Path) -> None:
    model = chain(gains, "abcd", ("d.y", "c.u"), ("c.y", "b.u"), ("b.y", "a.u"))
    assert [model.parts[one.part].name for one in model.schedule] == ["d", "c", "b", "a"]
    assert names(model, model["a.y"].depends) == {"a.k", "b.k", "c.k", "d.k", "d.u"}
    assert names(model, model["der(a.x)"].depends) == {"a.w", "b.k", "c.k", "d.k", "d.u"}
    check_schedule(model)


def test_a_part_that_gives_before_it_takes_is_evaluated_twice(gains: Path) -> None:
    model = chain(gains, "ab", ("a.y", "b.u"), ("b.y", "a.w"))
    assert [(model.parts[one.part].name, one.last) for one in model.schedule] == [
        ("a", False),
        ("b", True),
        ("a", True),
    ]
    assert names(model, model["a.z"].depends) == {"a.u", "a.k", "b.k"}
    check_schedule(model)


def test_a_state_breaks_a_loop(gains: Path) -> None:
    model = chain(gains, "ab", ("a.x", "b.u"), ("b.y", "a.u"))
    assert names(model, model["der(a.x)"].depends) == {"a.x", "b.k", "a.w"}
    check_schedule(model)


def test_a_ring_of_gains_is_an_algebraic_loop(gains: Path) -> None:
    (found,) = problems_of_chain(gains, "abc", ("a.y", "b.u"), ("b.y", "c.u"), ("c.y", "a.u"))
    assert "algebraic loop: a.y -> b.u -> b.y -> c.u -> c.y -> a.u -> a.y;" in found
    assert "Chain.toml: connections" in found


def test_two_loops_are_both_told(gains: Path) -> None:
    first, second = problems_of_chain(gains, "ab", ("a.y", "a.u"), ("b.z", "b.w"))
    assert "a.y -> a.u -> a.y;" in first
    assert "b.z -> b.w -> b.z;" in second


def problems_of_chain(folder: Path, parts: Iterable[str], *connections: tuple[str, str], more: str = "") -> list[str]:
    with pytest.raises(InputError) as caught:
        chain(folder, parts, *connections, more=more)
    return [str(problem) for problem in caught.value.problems]


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_all_that_is_wrong_with_the_connections_is_told(gains: Path) -> None:
    found = problems_of_chain(gains, "ab", ("a.y", "b.u"), ("a.z", "b.u"), ("b.y", "nobody.u"), ("a.y", "b.q"))
    text = "\n".join(found)
    assert "there is no part 'nobody'" in text
    found = problems_of_chain(gains, "ab", ("a.y", "b.u"), ("a.z", "b.u"), ("a.y", "b.q"))
    text = "\n".join(found)
    assert "b.u already gets a.y" in text
    assert "b (Gain) has no port or variable 'q'" in text


def test_units_must_fit(gains: Path) -> None:
    path = write(gains, "Odd", 'connections = [["g.y", "ball.p.f[1]"]]\n[parts]\ng = "Gain"\nball = "PointMass"\n')
    (found,) = problems(path)
    assert "g.y is in 1" in found
    assert "ball.p.f[1] in N" in found


def test_a_force_that_acts_on_nobody_is_refused(tmp_path: Path) -> None:
    wires = ", ".join(f'["ball.p.{x}[{k}]", "floor.point.{x}[{k}]"]' for x in "rv" for k in (1, 2, 3))
    path = write(tmp_path, "Lost", f'connections = [{wires}]\n[parts]\nball = "PointMass"\nfloor = "PointSurface"\n')
    (found,) = problems(path)
    assert "floor.point receives a motion, but its force acts on nothing" in found
    write(tmp_path, "Shown", path.read_text(encoding="utf-8") + '[expose]\noutputs = { F = "floor.point.f" }\n')
    load_model(tmp_path / "Shown.toml")


@pytest.mark.parametrize(
    ("more", "where", "what"),
    [
        ('[expose]\noutputs = { h = "bal.p.r" }', "[expose] outputs h", "there is no part 'bal'; did you mean 'ball'?"),
        ("[experiment]\nstart = 1", "[experiment] start", "this key is unknown; known: step, stop, tolerance"),
        ('[expose]\noutputs = { h = "ball.p.x" }', "[expose] outputs h", "there is no variable 'ball.p.x'"),
        ('[expose]\noutputs = { h = "ball.p.r[4]" }', "[expose] outputs h", "did you mean 'ball.p.r[3]'"),
        ('[expose]\nparameters = { h = "floor.depth" }', "[expose] parameters h", "is no parameter: it is computed"),
        ('[expose]\nparameters = { h = "floor.work" }', "[expose] parameters h", "expose it as an input"),
        ('[expose]\ninputs = { h = "ball.m" }', "[expose] inputs h", "is no input: expose it as a parameter"),
        ('[expose]\ninputs = { h = "ball.p.f" }', "[expose] inputs h", "is connected inside the assembly"),
        ('[expose]\noutputs = { h = "ball.m" }', "[expose] outputs h", "is a parameter"),
        ('[expose]\noutputs = { h = "floor.work" }', "[expose] outputs h", "is an input"),
        (
            '[expose]\noutputs = { h = "floor.depth", i = "floor.depth" }',
            "[expose] outputs i",
            "is exposed as h already",
        ),
        (
            '[expose]\noutputs = { "ball.m" = "floor.depth" }',
            "[expose] outputs ball.m",
            "there is a variable 'ball.m' already",
        ),
        (
            '[expose]\noutputs = { h = "floor.depth" }\nparameters = { h = "ball.m" }',
            "[expose] parameters h",
            "given twice",
        ),
        ('[expose]\noutputs = { "2x" = "floor.depth" }', "[expose] outputs 2x", "a name consists of"),
        ('[expose]\nports = { tip = "ball.q" }', "[expose] ports tip", "there is no port 'ball.q'"),
        ('[expose]\nports = { tip = "floor.point" }', "[expose] ports tip", "follows a body inside the assembly"),
        ('[expose]\nports = { "tip[1]" = "ball.p" }', "[expose] ports tip[1]", "need a name without an index"),
        ('[start]\n"ball.p.f" = [0, 0, 0]', "[start] ball.p.f", "this one is computed"),
        ("[start]\nC_F = 1.0", "[start] C_F", "there is no such variable"),
        (
            '[expose.parameters]\nstiffness = "floor.C_F"\n[start]\n"floor.C_F" = 1.0',
            "[start] floor.C_F",
            "is exposed as 'stiffness': write so",
        ),
        ('[start]\n"ball.m" = -1.0', "[start] ball.m", "greater than 0"),
        ('[experiment]\nstop = "1 kg"', "[experiment] stop", "kg"),
        ("[experiment]\nstep = 0", "[experiment] step", "greater than 0"),
        ('[experiment]\nstop = "1 s"\nstep = "2 s"', "[experiment] step", "2 s must not be longer than stop = 1 s"),
        ("[exposed]\nh = 1", "exposed", "this key is unknown; did you mean 'expose'?"),
    ],
)
def test_what_a_recipe_must_not_say(tmp_path: Path, more: str, where: str, what: str) -> None:
    found = problems(write(tmp_path, "Ball", BALL + more))
    assert any(f"Ball.toml: {where}" in text and what in text for text in found), found


@pytest.mark.parametrize(("given", "stop", "step"), [('step = "2 s"', 2.0, 2.0), ('stop = "1 us"', 1e-6, 1e-6)])
def test_the_default_step_is_never_longer_than_the_default_run(
    tmp_path: Path, given: str, stop: float, step: float
) -> None:
    found = load_model(write(tmp_path, "Ball", f"{BALL}[experiment]\n{given}\n")).experiment
    assert (found.stop, found.step) == (stop, step)


def test_start_values_of_parts_are_checked(tmp_path: Path) -> None:
    text = BALL.replace("m = 2.0", "m = -2.0, mass = 1.0")
    found = problems(write(tmp_path, "Ball", text))
    assert any("[parts] ball start m: -2.0 is refused" in one for one in found)
    assert any("[parts] ball start mass: there is no such variable" in one for one in found)


@pytest.mark.parametrize(
    ("parts", "what"),
    [
        ("", "there is no part"),
        ('a = "Nothing"', "there is no recipe of this name"),
        ('time = "PointMass"', "'time' is taken"),
        ('"a b" = "PointMass"', "must be an identifier"),
        ('a = "other.fmu"', "a part must be a recipe"),
        ('a = "Bad"', "this assembly contains itself: Bad -> Bad"),
        ('a = "Around"', "this assembly contains itself: Bad -> Around -> Bad"),
        ('a = { recipe = "PointMass", begin = 1 }', "this key is unknown"),
    ],
)
def test_parts_that_cannot_be(tmp_path: Path, parts: str, what: str) -> None:
    write(tmp_path, "Around", '[parts]\nb = "Bad"\n')
    found = problems(write(tmp_path, "Bad", f"[parts]\n{parts}\n"))
    assert any(what in text for text in found), found
    assert all("Bad.toml" in text for text in found)


# ---- scenarios -------------------------------------------------------------------------------------------------------

SCENARIO = """
connections = [["body.p", "floor.point"]]
[experiment]
start = 1
stop = 1.5
step = "10 us"
output_step = "1 ms"
tolerance = 1e-7
[slaves]
body = { recipe = "PointMass", start = { m = 3.0 } }
floor = { recipe = "PointSurface", start = { C_r = 0.7 } }
"""


def test_a_scenario_becomes_an_assembly(tmp_path: Path) -> None:
    scenario = read_scenario(write(tmp_path, "drop", SCENARIO + '[drive]\n"floor.surface.r[3]" = 0.25\n'))
    model = assembly_of_scenario(scenario)
    assert model.name == "drop"
    assert [part.name for part in model.parts] == ["body", "floor"]
    assert model["body.m"].start == 3.0
    assert model["floor.C_r"].start == 0.7
    assert model["floor.surface.r[3]"].start == 0.25
    assert model.experiment.stop == 0.5
    assert model.experiment.step == 1e-3
    assert model.experiment.tolerance == 1e-7
    assert model["solver.tolerance"].start == 1e-7


def test_an_assembly_of_a_scenario_leaves_out_what_is_for_communication_steps(tmp_path: Path) -> None:
    text = SCENARIO.replace("C_r = 0.7", 'C_r = 0.7, "coupling.mode" = "hold", "coupling.m_eff" = 3')
    model = assembly_of_scenario(read_scenario(write(tmp_path, "drop", text)))
    assert model["floor.C_r"].start == 0.7
    assert not [v.name for v in model.variables if "coupling" in v.name]
    why = "is not used: forces inside an assembly act without communication steps"
    assert {f"coupling.m_eff {why}", f"coupling.mode {why}"} < set(model.notes())
    write(tmp_path, "Floor", 'element = "point_surface"\n[structure]\ncoupling = false\n[surface]\nkind = "plane"\n')
    scenario = read_scenario(write(tmp_path, "drop", text.replace("PointSurface", "Floor")))
    with pytest.raises(
        InputError, match=r"coupling.mode: this variable is there with \[structure\] coupling = true only"
    ):
        assembly_of_scenario(scenario)  # refused as by `run`
    with pytest.raises(InputError, match=r"\[parts\] floor start coupling.mode: this variable is there with"):
        load_assembly(
            write(tmp_path, "Drop", text.partition("[experiment]")[0] + "[parts]" + text.partition("[slaves]")[2])
        )


@pytest.mark.parametrize("at", ["block.frame", "block.attach"])
def test_a_line_on_the_body_of_the_point_is_refused(tmp_path: Path, at: str) -> None:
    """All of them, with the ports; the same block may carry two parts of a line, or two points on a floor."""
    write(
        tmp_path,
        "Rail",
        'element = "point_line_2"\n[line]\npoints = [[0,0,0], [1,0,0], [2,0,0], [3,0,0]]\nbody = [1, 1, 2, 3]\n',
    )
    write(tmp_path, "Block", 'element = "rigid_body"\n')
    text = f"""
connections = [["block.point", "rail.point"], ["other.frame", "rail.body[1]"], ["{at}", "rail.body[2]"],
    ["{at}", "rail.body[3]"]]
[parts]
block = "Block"
other = "Block"
rail = "Rail"
"""
    with pytest.raises(InputError) as caught:
        load_assembly(write(tmp_path, "Wrong", text))
    found = [problem.what for problem in caught.value.problems]
    assert len(found) == 2
    assert f"rail.point at block.point, rail.body[2] at {at} are on one body" in found[0]
    assert "rail.body[3]" in found[1]
    load_assembly(
        write(
            tmp_path,
            "Right",
            text.replace('["block.point"', '["other.point"').replace('"other.frame"', '"block.frame"'),
        )
    )


def test_start_values_of_parts_that_a_connection_overwrites_are_named(tmp_path: Path) -> None:
    """Those that the part has by itself, and those of inputs that nothing gives, are not."""
    text = 'connections = [["body.p", "spring.first"]]\n[parts]\n'
    text += 'body = { recipe = "PointMass", start = { "p.f" = [1, 2, 3], r0 = [1, 0, 0] } }\n'
    text += 'spring = { recipe = "PointToPointSpring", start = { "first.v[1]" = "1 m/s", '
    text += '"first.r[2]" = 0, "second.v[1]" = 1 } }\n'
    told = [note for note in load_assembly(write(tmp_path, "Pulled", text)).notes() if "has no effect" in note]
    assert told == [
        "[parts] body start p.f has no effect: spring.first.f[1], spring.first.f[2], spring.first.f[3] gives the value"
        "; remove it",
        "[parts] spring start first.v[1] has no effect: body.p.v[1] gives the value; remove it",
    ]


def test_a_spring_with_both_ends_on_one_shaft_is_refused(tmp_path: Path) -> None:
    text = (
        'connections = [["shaft.p", "spring.r"], ["{}.p", "spring.c"]]\n[parts]\nshaft = "Inertia"\nother = "Inertia"\n'
    )
    text += 'spring = "RotationalSpring"\n'
    (found,) = problems(write(tmp_path, "Shaft", text.format("shaft")))
    assert "spring.r at shaft.p, spring.c at shaft.p are on one body, where the force has no effect" in found
    load_assembly(write(tmp_path, "Shafts", text.format("other")))


@pytest.mark.parametrize("consistent", [False, True])
def test_a_point_in_a_guide_is_refused_where_that_has_a_moment_for_it(tmp_path: Path, consistent: bool) -> None:
    structure = f"[structure]\nconsistent_moment = {str(consistent).lower()}\n"
    write(tmp_path, "Rail", f'element = "point_line_2"\n{structure}[line]\npoints = [[0,0,0], [1,0,0]]\n')
    text = 'connections = [["ball.p", "rail.point"]]\n[parts]\nball = "PointMass"\nrail = "Rail"\n'
    path = write(tmp_path, "Ball", text)
    if consistent:
        assert any("ball.p is a point and cannot take the moment of rail.point" in what for what in problems(path))
    else:
        load_assembly(path)


def test_a_scenario_that_cannot_be_an_assembly_is_refused(tmp_path: Path) -> None:
    text = SCENARIO + '[drive]\n"floor.work" = { time = [0, 1], value = [true, false] }\n'
    with pytest.raises(InputError, match=r"drop.toml: \[drive\] floor.work: a signal over time"):
        assembly_of_scenario(read_scenario(write(tmp_path, "drop", text)))
    text = SCENARIO.replace('"PointMass"', '"body.fmu"')
    with pytest.raises(InputError, match=r"drop.toml: \[slaves\] body: body.fmu: a part must be a recipe"):
        assembly_of_scenario(read_scenario(write(tmp_path, "drop", text)))
    with pytest.raises(InputError, match="must be a C identifier"):
        assembly_of_scenario(read_scenario(write(tmp_path, "drop-3", SCENARIO)))
    with pytest.raises(InputError, match="belongs to the assembly"):
        text = SCENARIO.replace("C_r = 0.7", '"solver.method" = "explicit"')
        assembly_of_scenario(read_scenario(write(tmp_path, "drop", text)))


def test_a_scenario_is_no_part(tmp_path: Path) -> None:
    write(tmp_path, "drop", SCENARIO)
    (found,) = problems(write(tmp_path, "Around", '[parts]\ninner = "drop"\n'))
    assert "this is a scenario" in found


def test_a_solver_of_a_part_is_not_used_and_that_is_said(tmp_path: Path) -> None:
    write(tmp_path, "Mass", 'element = "point_mass"\n[start]\n"solver.method" = "explicit"\n')
    model = load_assembly(write(tmp_path, "Two", '[parts]\na = "Mass"\nb = "Mass"\n'))
    assert model["solver.method"].start == 1.0
    assert model.notes() == ("solver.method of Mass.toml is not used: an assembly has one for all parts",)


def test_the_page_of_an_assembly_names_its_parts_once(tmp_path: Path) -> None:
    model = load_assembly(write(tmp_path, "Ball", BALL + '[expose]\noutputs = { height = "ball.p.r[3]" }\n'))
    files = documentation_files(model)
    page = files["documentation/index.html"].decode("utf-8")
    assert page.count("<code>height</code>") == 1
    assert "Connected inside: <code>ball.p</code> with <code>floor.point</code>." in page
    assert "Parts: PointMass" in page and "<code>ball</code>" in page
    assert "Parts: PointSurface" in page and page.count("above the slip speed 1/k_T<") == 1
    assert page.index("<code>height</code>") < page.index("In your tool") < page.index("Parts: PointMass")


@pytest.mark.parametrize("recipe", ["BouncingBall", "SpringMassTrain", "BodyOnFloor", "TipOnFloor", "TorsionPendulum"])
def test_an_assembly_has_an_icon_of_its_parts(recipe: str) -> None:
    model = load_assembly(shipped("fmus") / f"{recipe}.toml")
    icon = Image.open(io.BytesIO(documentation_files(model)["model.png"]))
    assert icon.size == (128, 128)
    shown = np.asarray(icon.convert("RGB"))
    elements = [folder / "model.png" for folder in dict.fromkeys(model.folders().values())]
    for path in elements[:4]:
        part = np.asarray(Image.open(path).convert("RGB").resize((61, 61), Image.Resampling.BOX), dtype=float)
        tiles = [shown[y : y + 61, x : x + 61] for y in (2, 33, 65) for x in (2, 33, 65)]
        # of 255: palette and round corners; what another tile shows differs by 40
        assert min(np.abs(tile - part).mean() for tile in tiles) < 10.0, path


def test_an_unknown_part_does_not_hide_the_faults_of_the_others(tmp_path: Path) -> None:
    text = 'connections = [["ball.p", "flor.point"]]\n[parts]\nball = "PointMas"\nfloor = "PointSurfac"\n'
    told = problems(write(tmp_path, "Bad", text))
    assert len(told) == 3
    assert "there is no part 'flor'; did you mean 'floor'?" in told[0]
    assert "[parts] ball" in told[1] and "[parts] floor" in told[2]


def test_a_wrong_key_hides_no_fault_of_a_part(tmp_path: Path) -> None:
    found = problems(
        write(
            tmp_path,
            "Wrong",
            """stp = 1
drawing.color = "#c04020"
connections = [["body.p", "floor.point"], ["body.q", "floor.point"]]
[parts]
body = { recipe = "PointMass", strt = 1, start = { n = 1 } }
floor = { recipe = "PointSurface" }
[expose]
outpts = { height = "body.p.r[3]" }
""",
        )
    )
    for said in (
        "stp: this key is unknown",
        "[drawing]: has no effect: each part is drawn as its own recipe says",
        "[parts.body] strt: this key is unknown; did you mean 'start'?",
        "[expose] outpts: this key is unknown; did you mean 'outputs'?",
        "[parts] body start n: there is no such variable",
        "connections [body.q, floor.point]: ",
    ):
        assert any(said in one for one in found), said


def test_a_missing_recipe_hides_no_start_value_of_the_other_parts(tmp_path: Path) -> None:
    text = '[parts]\nbody = "NoMass"\nfloor = { recipe = "PointSurface", start = { C_G = 1 } }\n'
    found = problems(write(tmp_path, "Wrong", text))
    assert len(found) == 2 and "NoMass" in found[0] and "[parts] floor start C_G: there is no such variable" in found[1]
