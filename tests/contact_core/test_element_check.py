"""An element that does not keep to its declaration is refused: by what its results follow, and by what it writes."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from fmi2 import QUICK, Fmu
from running import Running

from fmu_builder.errors import InputError, Problem
from fmu_builder.export import declared_check, generate
from fmu_builder.export import fmu as fmu_module
from fmu_builder.export.cache import cache_folder
from fmu_builder.export.declared_check import assembly_problems, element_problems, unshown_dependencies
from fmu_builder.export.description import model_description
from fmu_builder.export.element_check import Findings, check_element
from fmu_builder.export.fmu import build_fmu, fmu_contents, host_fmu
from fmu_builder.export.model_data import model_data
from fmu_builder.export.toolchain import find_compiler
from fmu_builder.model.assembly import AssemblyModel
from fmu_builder.model.element_model import load_element
from fmu_builder.model.loader import load_model


def element(folder: Path, toml: str, c: str, recipe: str = "") -> Path:
    """The recipe of an element of these texts."""
    place = folder / "elements" / "thing"
    place.mkdir(parents=True, exist_ok=True)
    (place / "element.toml").write_text(toml, encoding="utf-8")
    (place / "element.c").write_text(c, encoding="utf-8")
    path = folder / "Thing.toml"
    path.write_text(f'element = "thing"\n{recipe}', encoding="utf-8")
    return path


def found(recipe: Path, every: bool = False) -> Findings:
    compiler = find_compiler()
    assert compiler is not None
    return check_element(load_element(recipe), compiler, every)


def refused(recipe: Path) -> list[str]:
    problems = found(recipe).problems
    assert problems
    return [str(problem) for problem in problems]


# ---- what results follow from ----------------------------------------------------------------------------------------

OSCILLATOR = """
description = "x'' = -w2 x"
[parameters]
w2 = { unit = "1/s2", start = 100.0, description = "Square of the angular frequency" }
[states]
x = { unit = "m", start = 1.0, output = true, rate = "v", description = "Deflection" }
v = { unit = "m/s", output = true, rate = "a", description = "Speed" }
[locals]
a = { unit = "m/s2", DEPENDS description = "Acceleration" }
"""
OSCILLATOR_C = "static void outputs(Element *e) { e->a = -e->w2 * e->x; }"


def test_a_state_that_the_list_leaves_out_is_refused_with_place_point_and_repair(tmp_path: Path) -> None:
    """Without it the solver would take the acceleration for constant and switch the control of its error off."""
    recipe = element(tmp_path, OSCILLATOR.replace("DEPENDS", 'depends = ["w2"],'), OSCILLATOR_C)
    with pytest.raises(InputError) as error:
        build_fmu(recipe, platforms=("host",))
    (problem,) = error.value.problems
    assert problem.where == f"{tmp_path / 'elements' / 'thing' / 'element.toml'}: [locals] a"
    assert re.search(r"depends leaves out x: a follows x \(.*; x = [-\d.e]+", problem.what)
    assert problem.what.endswith('; add "x", or leave depends out, which stands for everything')
    assert not list(tmp_path.glob("*.fmu"))


@pytest.mark.parametrize("depends", ["", 'depends = ["w2", "x"],'], ids=["left out", "complete"])
def test_an_oscillator_without_a_list_or_with_a_complete_one_is_right(tmp_path: Path, depends: str) -> None:
    """x = cos(10 t)."""
    recipe = element(tmp_path, OSCILLATOR.replace("DEPENDS", depends), OSCILLATOR_C)
    running = Running(Fmu(build_fmu(recipe, platforms=("host",)).path, tmp_path))
    for _ in range(20):
        running.step(0.05)
    assert running["x"] == pytest.approx(-0.8390715290764524, abs=1e-8)  # cos 10


def test_without_a_list_modelstructure_names_everything(tmp_path: Path) -> None:
    recipe = element(tmp_path, OSCILLATOR.replace("DEPENDS", ""), OSCILLATOR_C)
    model = load_element(recipe)
    assert {model.variables[i].name for i in model["a"].depends} == {"time", "w2", "x", "v"}
    assert "#define CC_EXACT 0" in model_data(model)
    position = {v.name: i for i, v in enumerate((v for v in model.variables if not v.hidden), 1)}
    known = " ".join(str(position[name]) for name in ("time", "x", "v"))
    derivative = f'<Unknown index="{position["der(v)"]}" dependencies="{known}"/>'
    assert derivative in model_description(model, "{0}").decode()


BRANCHES = """
description = "Forces of several branches"
[parameters]
k = { unit = "N/m", start = 1e4, min = 0.0, description = "Stiffness" }
gap = { unit = "m", start = 0.3, description = "Where it begins" }
mu = { start = 0.0, min = 0.0, description = "Coefficient of friction" }
[inputs]
on = { type = "bool", start = true, description = "Switch" }
x = { unit = "m", description = "Position" }
v = { unit = "m/s", description = "Speed" }
[outputs]
F = { unit = "N", depends = ["x", "k", "gap", "on"], description = "Normal force" }
R = { unit = "N", depends = ["x", "k", "gap", "on", "mu", "v"], description = "Friction force" }
[indicators]
touch = { nominal = 1e-2, description = "Contact begins" }
"""
BRANCHES_C = """
static void outputs(Element *e)
{
    Real depth = e->x - e->gap;
    e->F = re(e->on) != 0.0 && re(depth) > 0.0 ? e->k * depth : 0.0;
    e->R = re(e->v) > 0.0 ? -e->mu * e->F : re(e->v) < 0.0 ? e->mu * e->F : 0.0;
}
static void indicators(const Element *e, Indicators *z) { z->touch = re(e->x) - re(e->gap); }
"""


STAGES = """
description = "A gear box"
[inputs]
gear = { type = "int", min = 1, max = 3, start = 1, description = "Gear" }
u = { description = "Speed" }
[outputs]
y = { depends = ["gear"], description = "Speed behind it" }
"""


@pytest.mark.parametrize(
    ("gear", "is_allowed"), [("== 1", True), ("== 2", True), ("== 3", True), ("< 1", False), ("> 3", False)]
)
def test_every_number_of_a_range_is_tried_and_none_outside(tmp_path: Path, gear: str, is_allowed: bool) -> None:
    c = f"static void outputs(Element *e) {{ e->y = re(e->gear) {gear} ? e->u : e->gear; }}"
    problems = found(element(tmp_path, STAGES, c)).problems
    assert ["depends leaves out u" in str(problem) for problem in problems] == [True] * is_allowed


def test_a_complete_list_of_a_force_with_branches_is_accepted_and_shows(tmp_path: Path) -> None:
    findings = found(element(tmp_path, BRANCHES, BRANCHES_C), every=True)
    assert (findings.problems, findings.unshown) == ((), ())


@pytest.mark.parametrize("variable", ["x", "k", "gap", "on", "mu", "v"])
def test_whatever_is_missing_is_found_in_contact_and_behind_a_switch(tmp_path: Path, variable: str) -> None:
    """The speed turns the force round and is in no derivative; the switch is a Boolean; the rest needs contact."""
    text = re.sub(rf'("on".*), "{variable}"|, "{variable}"|"{variable}", ', r"\1", BRANCHES)
    assert text != BRANCHES
    told = refused(element(tmp_path, text, BRANCHES_C))
    assert any(f"[outputs] {'R' if variable in 'muv' else 'F'}: depends leaves out {variable}:" in one for one in told)


def test_what_is_declared_and_never_shows_is_said_and_not_refused(tmp_path: Path) -> None:
    text = BRANCHES.replace('depends = ["x", "k", "gap", "on"]', 'depends = ["x", "k", "gap", "on", "mu"]')
    findings = found(element(tmp_path, text, BRANCHES_C), every=True)
    assert findings.problems == ()
    assert findings.unshown == ("[outputs] F depends on mu",)
    compiler = find_compiler()
    assert compiler is not None
    (note,) = unshown_dependencies(load_element(tmp_path / "Thing.toml"), compiler)  # what `fmu-builder info` shows
    assert note.startswith(
        f"{tmp_path / 'elements' / 'thing' / 'element.toml'}: [outputs] F depends on mu: not seen at "
    )


def test_the_initial_value_of_memory_keeps_to_its_list(tmp_path: Path) -> None:
    memory = '[memory]\nm = { depends = ["k"], description = "Where it began" }\n'
    c = BRANCHES_C + (
        "static void start(Element *e) { e->m = e->k + e->x; }\n"
        "static int accept(Element *e, CcHost *host, double step) { (void)e, (void)host, (void)step; return 0; }\n"
    )
    (told,) = refused(element(tmp_path, BRANCHES + memory, c))
    assert "[memory] m: depends leaves out x: m follows x (it begins with" in told and 'add "x"' in told


PAIR = """
description = "Two springs whose forces are confused"
[structure]
points = { default = 2, description = "Number of points" }
[inputs]
"point.x" = { unit = "m", each = "points", description = "Position" }
[outputs]
"point.F" = { unit = "N", each = "points", depends = ["point.x"], description = "Force" }
"""


def test_another_index_than_that_of_the_value_is_named_with_a_star(tmp_path: Path) -> None:
    c = "static void outputs(Element *e) { for (int i = 0; i < 2; i++) e->point[i].F = -e->point[0].x; }"
    (told,) = refused(element(tmp_path, PAIR, c))
    assert "point[2].F follows point[1].x" in told and 'add "point.x[*]"' in told


# ---- what is assigned ------------------------------------------------------------------------------------------------

GAIN = """
description = "A gain"
[inputs]
u = { start = 1.0, description = "Input" }
[outputs]
y = { description = "Output" }
w = { description = "Another" }
"""


@pytest.mark.parametrize(
    ("c", "what"),
    [
        ("e->y = 2.0 * e->u;", "w is never assigned at the start values"),
        ("e->y = e->u; if (re(e->u) < 0.5) e->w = 1.0;", "w is never assigned at the start values"),
        ("e->y = e->u; if (re(e->u) > 0.5) e->w = 1.0;", "w is never assigned at "),
        ("e->y = e->u; e->w = re(e->w) < 1.0 ? e->u : 2.0;", "w is computed from the old value of a computed variable"),
        ("e->y = e->u; e->w = 1.0; e->u = 3.0;", "the function `outputs` changes u: it must not change an input"),
    ],
)
def test_what_is_not_assigned_or_not_to_be_is_refused_by_name(tmp_path: Path, c: str, what: str) -> None:
    told = refused(element(tmp_path, GAIN, f"static void outputs(Element *e) {{ {c} }}"))
    assert any(f"element.c: {what}" in one for one in told), told


def test_an_output_that_is_never_assigned_stops_the_build(tmp_path: Path) -> None:
    recipe = element(tmp_path, GAIN, "static void outputs(Element *e) { e->y = e->u; }")
    with pytest.raises(InputError, match=r"element\.c: w is never assigned .*: assign it in every branch"):
        build_fmu(recipe, platforms=("host",))
    assert not list(tmp_path.glob("*.fmu"))


ARRAYS = """
description = "Arrays of every kind"
[structure]
points = { default = 2, description = "Number of points" }
[inputs]
u = { start = 1.0, description = "Input" }
[outputs]
y = { size = 3, description = "A vector" }
"point.f" = { size = 2, each = "points", description = "A vector of each point" }
z = { each = "points", description = "A value of each point" }
last = { description = "The value behind" }
[states]
x = { size = "points", depends = [], description = "Sized by the structure" }
[memory]
m = { size = 2, depends = [], description = "Memory" }
[indicators]
side = { each = "points", description = "Of each point" }
end = { description = "The last one" }
"""
ARRAYS_C = """
enum { Y = 3, F = 2, P = POINTS };
static void fill(Real *array, int n) { for (volatile int i = 0; i < n; i++) array[i] = 0.5; }
static void outputs(Element *e)
{
    fill(e->y, Y);
    for (volatile int i = 0; i < P; i++)
        fill(e->point[i].f, F), e->z[i] = 1.0;
    e->last = e->u;
}
static void derivatives(Element *e) { fill(e->der.x, POINTS); }
static void start(Element *e) { fill(e->m, 2); }
static int accept(Element *e, CcHost *host, double step) { (void)host, (void)step; fill(e->m, 2); return 0; }
static void indicators(const Element *e, Indicators *z)
{
    for (volatile int i = 0; i < POINTS; i++)
        z->side[i] = 1.0;
    z->end = re(e->u);
}
"""


def test_arrays_that_are_filled_to_their_end_are_accepted(tmp_path: Path) -> None:
    assert found(element(tmp_path, ARRAYS, ARRAYS_C)).problems == ()


@pytest.mark.parametrize(
    ("right", "wrong", "function", "array"),
    [
        ("fill(e->y, Y)", "fill(e->y, Y + 1)", "outputs", "y"),
        ("fill(e->point[i].f, F)", "fill(e->point[i].f, F + 1)", "outputs", "point[0].f"),
        ("i < P;", "i < P + 1;", "outputs", "z"),
        ("fill(e->der.x, POINTS)", "fill(e->der.x, POINTS + 1)", "derivatives", "der.x"),
        ("{ fill(e->m, 2); }", "{ fill(e->m, 3); }", "start", "m"),
        ("(void)step; fill(e->m, 2)", "(void)step; fill(e->m, 4)", "accept", "m"),
        ("i < POINTS; i++)\n        z", "i < POINTS + 1; i++)\n        z", "indicators", "z->side"),
    ],
    ids=["a vector", "of each point", "indexed", "derivatives", "start", "accept", "indicators"],
)
def test_a_write_behind_the_end_of_an_array_is_refused_with_its_name(
    tmp_path: Path, right: str, wrong: str, function: str, array: str
) -> None:
    assert ARRAYS_C.count(right) == 1
    told = refused(element(tmp_path, ARRAYS, ARRAYS_C.replace(right, wrong)))
    wanted = f"element.c: the function `{function}` writes beyond the end of the array {array}"
    assert any(wanted in one for one in told), told


def test_an_indicator_that_is_never_assigned_is_refused_by_name(tmp_path: Path) -> None:
    told = refused(element(tmp_path, ARRAYS, ARRAYS_C.replace("z->end = re(e->u);", "(void)e;")))
    assert any("the function `indicators` never assigns z->end" in one for one in told), told


# ---- the check itself ------------------------------------------------------------------------------------------------


def test_an_element_that_crashes_in_the_check_is_an_error_and_no_crash(tmp_path: Path) -> None:
    recipe = element(tmp_path, GAIN, "static void outputs(Element *e) { e->y = *(volatile double *)8; e->w = e->u; }")
    with pytest.raises(InputError, match=r"element\.c: the check of its declaration failed: it crashed"):
        found(recipe)


def test_findings_are_kept_until_the_element_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another start value in the recipe is no other element."""
    zig = cache_folder() / "zig"
    monkeypatch.setenv("FMU_BUILDER_CACHE", str(tmp_path / "cache"))
    cache_folder.cache_clear()
    try:
        (cache_folder() / "zig").symlink_to(zig)  # a compiler with an empty cache begins with libc
        recipe = element(tmp_path, BRANCHES, BRANCHES_C)
        first = found(recipe)
        files = {path.name for path in (tmp_path / "cache" / "checks").iterdir()}
        assert len(files) == 1
        element(tmp_path, BRANCHES, BRANCHES_C, "[start]\nk = 5.0\n")
        assert found(recipe) == first
        assert {path.name for path in (tmp_path / "cache" / "checks").iterdir()} == files
        element(tmp_path, BRANCHES, BRANCHES_C.replace("e->mu * e->F : 0.0", "e->mu * e->F : e->gap"))
        found(recipe)
        assert len(list((tmp_path / "cache" / "checks").iterdir())) == 2
    finally:
        cache_folder.cache_clear()


def test_a_build_with_a_known_element_looks_its_findings_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new_cache: Path
) -> None:
    """Another start value is no other element; other physics, another range and another default are."""
    compiler = find_compiler()
    assert compiler is not None
    calls = []

    def problems(*_: object) -> list[Problem]:
        calls.append(1)
        return []

    monkeypatch.setattr(declared_check, "_problems", problems)

    def checks(toml: str, c: str, recipe: str = "") -> int:
        model = load_element(element(tmp_path, toml, c, recipe))
        before = len(calls)
        assert element_problems(model, compiler, files=fmu_contents(model)[1]) == []
        return len(calls) - before

    assert checks(BRANCHES, BRANCHES_C) == 1
    assert checks(BRANCHES, BRANCHES_C, "[start]\nk = 5.0\n") == 0
    assert checks(BRANCHES, BRANCHES_C.replace("e->k * depth", "2.0 * e->k * depth")) == 1
    assert checks(BRANCHES.replace("start = 1e4, min = 0.0", "start = 1e4, min = 1.0"), BRANCHES_C) == 1
    assert checks(BRANCHES.replace("start = 0.3", "start = 0.4"), BRANCHES_C, "[start]\ngap = 0.3\n") == 1
    assert checks(BRANCHES.replace('"mu", "v"]', '"v"]'), BRANCHES_C) == 1
    verdicts = [*(new_cache / "checks").iterdir()]
    for path in verdicts:
        os.utime(path, (0.0, 0.0))
    assert checks(BRANCHES, BRANCHES_C) == 0
    assert [path.stat().st_mtime > 0.0 for path in verdicts].count(True) == 1  # the one that was used
    for module in (declared_check, generate):  # another check gives verdicts of its own
        file = tmp_path / "mended.py"
        file.write_text(f"mended {module.__name__}")
        with monkeypatch.context() as patch:
            patch.setattr(module, "__file__", str(file))
            assert checks(BRANCHES, BRANCHES_C) == 1


# ---- the order of evaluation -----------------------------------------------------------------------------------------

BUSHING = """
description = "A bushing between two frames"
[parameters]
k = { unit = "N/m", start = 1e4, description = "Stiffness" }
c = { unit = "N.s/m", start = 50.0, description = "Damping" }
[ports.a]
kind = "frame"
side = "force"
description = "The first frame"
DEPENDS
[ports.b]
kind = "frame"
side = "force"
description = "The second frame"
DEPENDS
"""
BUSHING_C = """
static void outputs(Element *e)
{
    for (int i = 0; i < 3; i++) {
        Real force = e->k * (e->a.r[i] - e->b.r[i]) + e->c * (e->a.v[i] - e->b.v[i]);
        Real moment = 0.1 * (e->a.w[i] - e->b.w[i]);
        e->a.f[i] = -force, e->b.f[i] = force;
        e->a.t[i] = -moment, e->b.t[i] = moment;
    }
}
"""
COMPLETE = 'depends = ["a.r", "a.v", "a.w", "b.r", "b.v", "b.w", "k", "c"]'
TOO_SHORT = 'depends = ["b.r", "b.q", "k", "c"]'
ROTATING = '{ recipe = "RigidBody", start = { "w0" = [0.3, 1.0, 1.6], "v0" = [0.1, 0.0, 0.2] } }'


def bushing(folder: Path, depends: str, parts: list[str], name: str = "Held") -> Path:
    """An assembly of a bushing between a body and the ground, its parts in this order."""
    element(folder, BUSHING.replace("DEPENDS", depends), BUSHING_C)
    entries = {"bush": '"Thing"', "body": ROTATING}
    listed = "\n".join(f"{part} = {entries[part]}" for part in parts)
    recipe = folder / f"{name}.toml"
    recipe.write_text(f'connections = [["body.frame", "bush.a"]]\n[parts]\n{listed}\n', encoding="utf-8")
    return recipe


ORDERS = (["bush", "body"], ["body", "bush"])


def test_a_bushing_that_declares_too_little_is_refused_in_an_assembly(tmp_path: Path) -> None:
    """It would be evaluated before the body that it holds, with the motion of the point before."""
    for parts in ORDERS:
        with pytest.raises(InputError, match=r"\[ports.a\] f: depends leaves out a.r, a.v") as error:
            build_fmu(bushing(tmp_path, TOO_SHORT, parts), platforms=("host",))
        assert any("[ports.b] t: depends leaves out a.w" in str(problem) for problem in error.value.problems)


def test_the_order_of_evaluation_alone_shows_it_as_well(tmp_path: Path) -> None:
    compiler = find_compiler()
    assert compiler is not None
    model = load_model(bushing(tmp_path, TOO_SHORT, ["bush", "body"]))
    assert isinstance(model, AssemblyModel)
    problems = [str(problem) for problem in assembly_problems(model, compiler)]
    assert any("body.frame.t[1] follows from values that are older than the point" in one for one in problems), problems
    model = load_model(bushing(tmp_path, COMPLETE, ["bush", "body"]))
    assert isinstance(model, AssemblyModel)
    assert assembly_problems(model, compiler) == []


def test_an_order_that_is_wrong_at_some_points_is_shown_with_one_of_them(tmp_path: Path) -> None:
    """Where the stiffness is below its start value, 10 kN/m, the torque follows a rotation that it does not declare."""
    recipe = bushing(tmp_path, TOO_SHORT, ["bush", "body"])
    c = """
static void outputs(Element *e)
{
    for (int i = 0; i < 3; i++) {
        e->b.t[i] = re(e->k) < 1e4 ? e->a.w[i] : e->c;
        e->a.t[i] = -e->b.t[i], e->a.f[i] = e->b.f[i] = 0.0;
    }
}
"""
    (tmp_path / "elements" / "thing" / "element.c").write_text(c, encoding="utf-8")
    compiler, model = find_compiler(), load_model(recipe)
    assert compiler is not None and isinstance(model, AssemblyModel)
    problems = [str(problem) for problem in assembly_problems(model, compiler)]
    assert problems
    for one in problems:
        stiffness = re.search(r"bush\.k = ([-+.e\d]+)", one)
        assert stiffness is not None and 0.0 != float(stiffness[1]) < 1e4, one  # 0 is what no point was written to


@pytest.mark.parametrize("depends", ["", COMPLETE], ids=["left out", "complete"])
def test_the_order_in_which_parts_are_listed_changes_no_bit(tmp_path: Path, depends: str) -> None:
    traces = []
    for k, parts in enumerate(ORDERS):
        running = Running(Fmu(host_fmu(bushing(tmp_path, depends, parts, f"Held{k}"), QUICK), tmp_path))
        names = [f"body.frame.{role}[{i}]" for role in ("r", "v", "w", "f", "t") for i in (1, 2, 3)]
        bits = []
        for _ in range(10):
            running.step(1e-3)
            bits.append(running.values(names).tobytes())
        assert running["body.frame.f[1]"] != 0.0
        traces.append(bits)
    assert traces[0] == traces[1]


# ---- what the solver concludes ---------------------------------------------------------------------------------------


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds that do not call the elements before."""
    monkeypatch.setattr(fmu_module, "element_problems", lambda *_: [])


@pytest.mark.usefixtures("unchecked")
def test_a_step_that_is_not_exact_is_refused_by_the_smoke_run(tmp_path: Path) -> None:
    """x'' = -100 x, x(0) = 1 m: with the acceleration held over 10 ms, x = 1 - 100 h^2/2."""
    recipe = element(tmp_path, OSCILLATOR.replace("DEPENDS", 'depends = ["w2"],'), OSCILLATOR_C)
    with pytest.raises(
        InputError, match=r"x is 0\.995 after one step of 0.01 s and 0\.995\d+ after ten of a tenth: its rate"
    ):
        build_fmu(recipe, platforms=("host",))
    assert not list(tmp_path.glob("*.fmu"))


@pytest.mark.usefixtures("unchecked")
def test_outputs_that_do_not_stand_still_are_refused_by_the_smoke_run(tmp_path: Path) -> None:
    toml = GAIN.replace("y = { desc", 'y = { depends = ["u"], desc').replace("w = { desc", "w = { depends = [], desc")
    recipe = element(tmp_path, toml, "static void outputs(Element *e) { e->y = e->u; e->w = e->time; }")
    with pytest.raises(InputError, match=r"w is 0\S* after a step and 0\.01 when it is computed there: it depends"):
        build_fmu(recipe, platforms=("host",))
