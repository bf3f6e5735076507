"""Structure choices: an element of several forms, of which a recipe takes one.  And ports whose components differ."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tomli_w
from fmpy import simulate_fmu
from lxml import etree

from fmu_builder.errors import InputError
from fmu_builder.export.description import model_description
from fmu_builder.export.element_docs import default_recipe, variable_table
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.generate import fmu_sources
from fmu_builder.export.model_data import model_data
from fmu_builder.export.schema import recipe_schema
from fmu_builder.model.declaration import forms
from fmu_builder.model.declaration_reader import read_declaration
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import EventIndicator, Model
from fmu_builder.model.recipe import parse_recipe
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import shipped, shipped_elements

# An element of no physics: y = gain u, and what a form adds to it.
ELEMENT = """
description = "Forms of a gain"

[structure]
form = { choices = ["point", "line", "plane"], default = "line", description = "What it is" }
ledger = { default = true, description = "Count the energy" }
rows = { default = 2, max = 5, description = "Number of rows" }
many = { default = false, given_by = "rows > 3", description = "There are more than three rows" }

[parameters]
gain = { start = 2.0, description = "The gain" }
slack = { unit = "m", start = 0.1, when = { many = true }, description = "Slack of many rows" }
reach = { unit = "m", start = 0.5, when = { form = ["line", "plane"] }, description = "How far it goes" }
mixed = { unit = ["m", "m", "rad"], size = 3, start = [1, 2, 3], when = { form = "plane" }, description = "Mixed" }

[[ports.end]]
when = { form = "line" }
kind = "translational"
optional = ["s"]
side = "body"
description = "The end"
depends = ["gain", "reach"]

[[ports.end]]
when = { form = "plane" }
kind = "planar"
side = "body"
description = "The end"
depends.v = ["gain", "mixed[k]"]

[states]
"energy.sum" = { unit = "J", rate = "power", when = { ledger = true }, description = "Energy" }

[outputs]
y = { depends = ["gain", "reach", "slack", "energy.sum"], description = "The result" }

[locals]
power = { unit = "W", when = { ledger = true }, depends = ["time", "gain"], description = "Power" }
angle = [
    { unit = "rad", when = { form = "plane" }, depends = [], description = "Angle in the plane" },
    { unit = "rad", size = 2, when = { form = "line", ledger = false }, depends = [], description = "Two angles" },
]

[indicators]
edge = { when = { form = "plane" }, nominal = 0.5, description = "The edge" }
"""

C = """
static void outputs(Element *e)
{
    e->y = 10.0 * ROWS + e->gain;
#if MANY
    e->y += 1000.0 * e->slack;
#endif
#if FORM == FORM_LINE
    e->end.s = e->reach;
    e->end.v = 0.0;
    e->y += 100.0;
#elif FORM == FORM_PLANE
    for (int k = 0; k < 3; k++)
        e->end.v[k] = e->gain * e->mixed[k];
    e->angle = 0.0;
    e->y += 200.0;
#endif
#if LEDGER
    e->power = e->gain * e->time;
#elif FORM == FORM_LINE
    e->angle[0] = e->angle[1] = 0.0;
#endif
}

#if FORM == FORM_PLANE
static void indicators(const Element *e, Indicators *z) { z->edge = re(e->reach) - 1.0; }
#endif
"""


@pytest.fixture
def element(tmp_path: Path) -> Path:
    """The folder that holds elements/forms and fmus/Forms.toml."""
    folder = tmp_path / "elements" / "forms"
    folder.mkdir(parents=True)
    (tmp_path / "fmus").mkdir()
    (folder / "element.toml").write_text(ELEMENT, encoding="utf-8")
    (folder / "element.c").write_text(C, encoding="utf-8")
    recipe(tmp_path, "")
    return tmp_path


def recipe(folder: Path, structure: str) -> Path:
    path = folder / "fmus" / "Forms.toml"
    path.write_text(f'element = "forms"\n[structure]\n{structure}\n', encoding="utf-8")
    return path


def model(folder: Path, structure: str = "") -> Model:
    return load_model(recipe(folder, structure))


def declaration_problems(folder: Path, old: str, new: str) -> list[str]:
    path = folder / "elements" / "forms" / "element.toml"
    assert ELEMENT.count(old) == 1
    path.write_text(ELEMENT.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_declaration(path.parent)
    return [str(problem).removeprefix(f"{path}: ") for problem in caught.value.problems]


# ---- what is there ---------------------------------------------------------------------------------------------------


def test_a_form_has_its_own_variables_only(element: Path) -> None:
    line, plane, point = (model(element, f'form = "{form}"') for form in ("line", "plane", "point"))
    assert {"reach", "end.s", "end.v", "end.F"} <= {v.name for v in line.variables}
    assert {"reach", "mixed[3]", "end.v[3]", "end.F[3]", "angle"} <= {v.name for v in plane.variables}
    assert not {v.name.partition(".")[0] for v in point.variables} & {"reach", "mixed", "end", "angle"}
    assert "mixed[1]" not in line and "end.v[1]" not in line and "angle" not in line
    assert [(p.kind, list(p.motion)) for p in line.ports] == [("translational", ["s", "v"])]
    assert [(p.kind, list(p.motion)) for p in plane.ports] == [("planar", ["v"])]
    assert point.ports == ()
    assert (line.indicators, plane.indicators) == ((), (EventIndicator("edge", 0.5),))
    for one in (line, plane, point):
        assert [v.index for v in one.variables] == list(range(len(one.variables)))


def test_the_default_form_is_taken_where_the_recipe_says_nothing(element: Path) -> None:
    assert [v.name for v in model(element).variables] == [v.name for v in model(element, 'form = "line"').variables]
    assert "energy.sum" in model(element)


def test_a_switch_leaves_states_out_and_with_the_last_of_them_the_solver(element: Path) -> None:
    without = model(element, "ledger = false")
    assert without.by_kind("state") == [] and "power" not in without and "solver.tolerance" not in without
    assert {"angle[1]", "angle[2]"} <= {v.name for v in without.variables}  # both conditions hold
    assert "solver.tolerance" in model(element, "ledger = true")


def test_what_another_form_declares_is_no_dependency_and_no_fault(element: Path) -> None:
    with_all, without = model(element, 'form = "plane"'), model(element, 'form = "point"\nledger = false')
    assert [with_all.variables[i].name for i in with_all["y"].depends] == ["gain", "reach", "energy.sum"]
    assert [without.variables[i].name for i in without["y"].depends] == ["gain"]


BY_COMPONENT = """
description = "Two sums of forces"
[structure]
ends = { default = 2, description = "Number of ends" }
[[ports.end]]
kind = "planar"
side = "body"
each = "ends"
description = "The end"
depends.v = [["x"], ["sum[2]"], []]
[[ports.shaft]]
kind = "rotational"
side = "body"
names = { w = "omega", t = "T" }
optional = ["phi"]
description = "A shaft"
states.phi = { rate = "shaft.omega" }
states.w = { depends = ["shaft.T"] }
[states]
x = { unit = "m/s", depends = ["end.F[1]"], description = "What the first components move" }
sum = { unit = "m/s", size = 2, depends = ["end.F[k]", "x"], description = "What those of the same number move" }
twist = { size = 2, depends = [["shaft.T"], ["shaft.omega"]], description = "Each follows another variable" }
"""


@pytest.fixture
def by_component(tmp_path: Path) -> Path:
    """The folder of an element whose components depend on different things, with a shaft in the spelling of 20-sim."""
    folder = tmp_path / "elements" / "parts"
    folder.mkdir(parents=True)
    (folder / "element.toml").write_text(BY_COMPONENT, encoding="utf-8")
    (tmp_path / "Parts.toml").write_text('element = "parts"\n', encoding="utf-8")
    return folder


def test_components_depend_on_what_their_own_lists_say_and_on_components_of_every_port(by_component: Path) -> None:
    one = load_model(by_component.parents[1] / "Parts.toml")

    def behind(name: str) -> list[str]:
        return [one.variables[i].name for i in one[name].depends]

    assert [behind(f"end[2].v[{k}]") for k in (1, 2, 3)] == [["x"], ["sum[2]"], []]
    assert behind("der(x)") == ["end[1].F[1]", "end[2].F[1]"]
    assert behind("der(sum[2])") == ["end[1].F[2]", "end[2].F[2]", "x"]
    assert [behind(f"der(twist[{k}])") for k in (1, 2)] == [["shaft.T"], ["shaft.omega"]]


def test_a_port_may_be_spelled_as_another_library_does(by_component: Path) -> None:
    one = load_model(by_component.parents[1] / "Parts.toml")
    assert one.variables[one["shaft.phi"].rate].name == "shaft.omega"
    assert "shaft.w" not in one and "shaft.t" not in one
    port = next(port for port in one.ports if port.name == "shaft")
    assert dict(port.motion) == {"phi": ("shaft.phi",), "w": ("shaft.omega",)}
    assert dict(port.force) == {"t": ("shaft.T",)}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('[["x"], ["sum[2]"], []]', '[["x"], ["sum[2]"]]', "[ports] end variant 1: depends.v has lists for 2 com"),
        ('size = 2, depends = [["s', 'size = 3, depends = [["s', "[states] twist: depends has lists for 2 components,"),
        ('{ w = "omega", t = "T" }', '{ w = "omega" }', "[ports] shaft variant 1: names = {'w': 'omega'} is no spell"),
        ("each =", 'holds = { x = "XP" }\neach =', "[ports] end variant 1: holds belongs to a planar port of a force"),
        ("each =", 'holds = { x = "XP" }\neach =', "[ports] end variant 1: holds: 'XP' is no parameter"),
    ],
)  # fmt: skip
def test_a_faulty_declaration_of_ports_is_told_with_its_repair(
    by_component: Path, old: str, new: str, said: str
) -> None:
    path = by_component / "element.toml"
    assert BY_COMPONENT.count(old) == 1
    path.write_text(BY_COMPONENT.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_declaration(by_component)
    problems = [str(problem).removeprefix(f"{path}: ") for problem in caught.value.problems]
    assert any(problem.startswith(said) for problem in problems), problems


def test_a_component_that_a_vector_does_not_have_is_no_dependency(by_component: Path) -> None:
    path = by_component / "element.toml"
    for wrong, size in (("sum[3]", "2"), ("x[1]", "no")):
        path.write_text(BY_COMPONENT.replace("sum[2]", wrong), encoding="utf-8")
        with pytest.raises(InputError, match=rf"depends on '{re.escape(wrong)}': \w+ has {size} components"):
            load_model(by_component.parents[1] / "Parts.toml")


def test_time_is_a_dependency_where_it_is_named(element: Path) -> None:
    one = model(element)
    assert [one.variables[i].name for i in one["power"].depends] == ["time", "gain"]
    root = etree.fromstring(model_description(one, "{0}"))
    position = [v.get("name") for v in root.find("ModelVariables")].index("der(energy.sum)") + 1
    for group in ("Derivatives", "InitialUnknowns"):
        (unknown,) = [u for u in root.find(f"ModelStructure/{group}") if u.get("index") == str(position)]
        assert unknown.get("dependencies").split()[0] == "1"  # time is the first variable


def test_a_dependency_by_role_and_component(element: Path) -> None:
    one = model(element, 'form = "plane"')
    assert [one.variables[i].name for i in one["end.v[2]"].depends] == ["gain", "mixed[2]"]


@pytest.mark.parametrize(
    ("structure", "y"),
    [("", 122.0), ('form = "plane"', 222.0), ('form = "point"\nrows = 4\nledger = false', 142.0)],
)
def test_the_c_code_sees_choices_as_macros(element: Path, structure: str, y: float) -> None:
    done = simulate_fmu(str(host_fmu(recipe(element, structure))), stop_time=1e-3, output=["y"])
    assert done["y"][-1] == y


def test_a_switch_given_by_a_size_brings_and_takes_variables(element: Path) -> None:
    assert "slack" not in model(element, "rows = 3")
    assert "slack" in model(element, "rows = 4")
    with pytest.raises(InputError, match=r"slack: this variable is there with .structure. rows > 3 only"):
        load_model(recipe(element, "rows = 3\n[start]\nslack = 1"))


def test_macros_name_every_choice(element: Path) -> None:
    text = model_data(model(element, 'form = "plane"\nledger = false'))
    for line in ("FORM_POINT 0", "FORM_LINE 1", "FORM_PLANE 2", "FORM FORM_PLANE", "LEDGER 0"):
        assert f"#define {line}\n" in text
    assert "#define ROWS 2\n" in text and "#define MANY 0\n" in text


def test_rates_that_follow_the_clock_are_integrated_and_not_multiplied(element: Path) -> None:
    """energy' = gain t: held inputs do not hold it."""
    text = ELEMENT.replace('"energy.sum" = { unit', '"energy.sum" = { output = true, unit')
    (element / "elements" / "forms" / "element.toml").write_text(text, encoding="utf-8")
    done = simulate_fmu(str(host_fmu(recipe(element, ""))), stop_time=1.0, step_size=0.25, output=["energy.sum"])
    assert done["energy.sum"][-1] == pytest.approx(1.0, rel=1e-12)
    assert "#define CC_EXACT 0" in model_data(model(element))
    (element / "elements" / "forms" / "element.toml").write_text(text.replace('"time", "gain"', '"gain"'), "utf-8")
    assert "#define CC_EXACT 1" in model_data(model(element))


MOTION = """
description = "s' = v, v' = F, and the work of a drive"
[inputs]
F = { unit = "N", description = "Force" }
[states]
s = { unit = "m", rate = "v", description = "Way" }
v = { unit = "m/s", depends = ["F"], description = "Speed" }
[outputs]
y = { depends = ["s", "v"], description = "Anything" }
[locals]
power = { unit = "W", depends = ["F", "time"], description = "Power" }
work = { unit = "J", depends = ["F", "time"], description = "Work since t = 0" }
"""
WORK = 'W = { unit = "J", rate = "power", %sdescription = "Work" }\n[outputs]'
PRIMITIVE = WORK % 'primitive = "work", '


@pytest.mark.parametrize(
    ("change", "is_exact"),
    [
        ({}, 1),
        ({'["F"]': '["F", "v"]'}, 0),
        ({'["F"]': '["F", "s"]'}, 0),
        ({'["F"]': '["F", "time"]'}, 0),
        ({"[outputs]": '[indicators]\nend = { description = "The end of the way" }\n[outputs]'}, 0),
        ({"[outputs]": WORK % ""}, 0),
        ({"[outputs]": PRIMITIVE}, 1),
        ({"[outputs]": PRIMITIVE, 'depends = ["s", "v"]': 'depends = ["s", "W"]'}, 0),
        ({"[outputs]": PRIMITIVE, '["F", "time"], description = "Power"': '["v", "time"], description = "Power"'}, 0),
    ],
)
def test_steps_are_exact_where_held_inputs_fix_the_course_of_all_states(
    element: Path, change: dict[str, str], is_exact: int
) -> None:
    text = MOTION
    for old, new in change.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    (element / "elements" / "forms" / "element.toml").write_text(text, encoding="utf-8")
    one = model(element)
    assert f"#define CC_EXACT {is_exact}\n" in model_data(one)
    bends = f"{one['v'].derivative}, -1" if change.get('["F"]') is None else "-1, -1"
    assert re.search(rf"cc_state_bends\[\] \S+ = {{\n +{bends}(, -1)?}};", model_data(one))


SUM = """
description = "Integral of what an input makes"
[inputs]
F = { unit = "N", description = "Force" }
[states]
impulse = { unit = "N.s", output = true, rate = "push", description = "Integral" }
[locals]
push = { unit = "N", depends = ["F"], description = "Rate" }
share = { depends = ["impulse", "time"], on_demand = true, description = "Anything that is read alone" }
"""


@pytest.mark.parametrize(
    ("old", "new", "is_still"),
    [
        ("", "", 1),
        ('push = { unit = "N", depends = ["F"]', 'push = { unit = "N", depends = ["F", "time"]', 0),
        ('push = { unit = "N", depends = ["F"]', 'push = { unit = "N", depends = ["F", "impulse"]', 0),
        ("on_demand = true, ", "", 0),
    ],
)
def test_held_inputs_hold_what_neither_states_nor_time_enter(element: Path, old: str, new: str, is_still: int) -> None:
    (element / "elements" / "forms" / "element.toml").write_text(SUM.replace(old, new), encoding="utf-8")
    assert f"#define CC_STILL {is_still}\n" in model_data(model(element))


@pytest.mark.parametrize(("parts", "is_exact"), [('lever = "TwoDPointXY"', 1), ('drive = "PrescribedMotion"', 0)])
def test_steps_of_an_assembly_are_exact_where_its_parts_leave_the_states_alone(
    tmp_path: Path, parts: str, is_exact: int
) -> None:
    """A force at a lever is held; the force on a drive may follow the clock through other parts."""
    connection = '[["body.P[1]", "lever.P_out"]]' if is_exact else "[]"
    recipe = tmp_path / "Whole.toml"
    recipe.write_text(
        f'description = "Parts"\nconnections = {connection}\n[parts]\nbody = "TwoDBody"\n{parts}\n', encoding="utf-8"
    )
    assert f"#define CC_EXACT {is_exact}\n" in fmu_sources(load_model(recipe), "{0}")["model_data.h"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('["F"], ', '["F"], primitive = "y", ', "[states] v: primitive belongs to a state with a rate"),
        ('["F"], ', '["F"], on_demand = true, ', "[states] v: on_demand belongs to an output or a local"),
        (
            'rate = "v", ',
            'rate = "work", ',
            "[states] s: 'work' is on_demand: a variable that gives the rate of a state must",
        ),
        ('["F"], ', '["F"], reinit = { stiff = true }, ', "[states] v: reinit: 'stiff' is no choice in [structure]"),
        ('work = { unit = "J",', 'work = { reinit = true, unit = "J",', "work: reinit belongs to a state"),
        ('rate = "v", ', 'rate = "v", primitive = "wrok", ', "s: 'wrok' is unknown; did you mean 'work'"),
    ],
)
def test_a_state_whose_rate_cannot_be_known_is_told(element: Path, old: str, new: str, said: str) -> None:
    assert MOTION.count(old) == 1
    text = MOTION.replace(old, new).replace('work = { unit = "J",', 'work = { unit = "J", on_demand = true,')
    (element / "elements" / "forms" / "element.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        model(element)
    assert any(said in str(problem) for problem in caught.value.problems), caught.value.problems


# ---- units by component ----------------------------------------------------------------------------------------------


def test_components_of_one_vector_have_units_of_their_own(element: Path) -> None:
    one = model(element, 'form = "plane"')
    assert [one[f"end.v[{k}]"].unit.name for k in (1, 2, 3)] == ["m/s", "m/s", "rad/s"]
    assert [one[f"end.F[{k}]"].unit.name for k in (1, 2, 3)] == ["N", "N", "N.m"]
    assert [one[f"mixed[{k}]"].unit.name for k in (1, 2, 3)] == ["m", "m", "rad"]
    root = etree.fromstring(model_description(one, "{0}"))
    units = {v.get("name"): v[0].get("unit") for v in root.find("ModelVariables")}
    assert [units[f"end.F[{k}]"] for k in (1, 2, 3)] == ["N", "N", "N.m"]


def test_start_values_are_checked_in_the_unit_of_their_component(element: Path) -> None:
    path = recipe(element, 'form = "plane"\n[start]\nmixed = ["1 mm", "2 mm", "180 deg"]')
    one = load_model(path)
    assert one["mixed[1]"].start == 1e-3 and one["mixed[3]"].start == pytest.approx(3.141592653589793, rel=1e-15)
    path = recipe(element, 'form = "plane"\n[start]\nmixed = ["1 mm", "2 deg", "3 mm"]')
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert ["m is needed" in str(p) or "rad is needed" in str(p) for p in caught.value.problems], caught.value


# ---- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("structure", "said"),
    [
        ('form = "lime"', "[structure] form: 'lime' is none of point, line, plane; did you mean 'line'?"),
        ("form = 1", "[structure] form: 1 is none of point, line, plane"),
        ("ledger = 0", "[structure] ledger: 0 must be true or false"),
        ('ledger = "no"', "[structure] ledger: 'no' must be true or false"),
        ("rows = true", "[structure] rows: true must be a whole number from 1 to 5"),
        ('fom = "line"', "[structure] fom: this key is unknown; did you mean 'form'?"),
        ("many = true", "[structure] many: is given by [structure] rows > 3: remove it here"),
    ],
)
def test_a_wrong_choice_is_told_with_its_rule(element: Path, structure: str, said: str) -> None:
    path = recipe(element, structure)
    with pytest.raises(InputError) as caught:
        load_model(path)
    (problem,) = map(str, caught.value.problems)
    assert problem.startswith(f"{path}: ") and said in problem


def test_the_start_of_a_variable_of_another_form_is_refused(element: Path) -> None:
    with pytest.raises(InputError, match=r"reach: this variable is there with .structure. form = .line. or .plane."):
        load_model(recipe(element, 'form = "point"\n[start]\nreach = 1'))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'when = { form = ["line", "plane"] }',
            'when = { from = "line" }',
            "[parameters] reach: when: 'from' is no choice in [structure]; did you mean 'form'?",
        ),
        (
            'when = { form = ["line", "plane"] }',
            'when = { form = ["line", "plan"] }',
            "[parameters] reach: when: 'plan' is no value of form; did you mean 'plane'?",
        ),
        (
            'when = { form = ["line", "plane"] }',
            "when = { rows = true }",
            "[parameters] reach: when: 'rows' is no choice in [structure]; known: form, ledger",
        ),
        (
            "when = { ledger = true }, depends",
            'when = { ledger = "yes" }, depends',
            "[locals] power: when: 'yes' is no value of ledger; known: false, true",
        ),
        ('default = "line"', 'default = "lime"', "[structure] form: default = 'lime' is no choice; did you mean 'lin"),
        ('["point", "line", "plane"]', '["point", "Line", "plane"]', "[structure] form: 'Line': a choice consists of"),
        ("default = true", "default = true, min = 0", "[structure] ledger: min and max belong to sizes"),
        ("default = 2", "default = 4", "[structure] many: default = false, but it is true with rows = 4, the default"),
        ("rows > 3", "row > 3", "[structure] many: given_by: 'row' is no size in [structure]; did you mean 'rows'?"),
        ("rows > 3", "rows >= 3", "[structure] many: given_by: 'rows >= 3' must be a table, the key of one, or 'siz"),
        ("default = 2", "default = 1.5", "[structure.rows] default: 1.5: must be a whole number, a text, true or"),
        ("default = 2", 'default = "two"', "[structure] rows: default = 'two' needs choices, of which it is one"),
        (
            'when = { form = "line", ledger = false }',
            "when = { ledger = false }",
            "[locals] angle: two variants apply at once with form = plane, ledger = false",
        ),
        ('unit = ["m", "m", "rad"]', 'unit = ["m", "rad"]', "[parameters] mixed: unit has 2 entries, size is 3"),
        ('unit = ["m", "m", "rad"]', 'unit = ["m", "m", "rod"]', "[parameters] mixed: unit: "),
        ('optional = ["s"]', 'optional = ["phi"]', "[ports] end variant 1: 'phi' is no optional role of a transla"),
        ("depends.v =", "depends.w =", "[ports] end variant 2: depends.w: the port gives no such role"),
        ('size = 2, when', 'size = "form", when', "[locals] angle variant 2: 'form' is no size in [structure]"),
        ("[indicators]\nedge", '[indicators]\n"edge variant 1"', "[indicators] edge variant 1: a name consists of"),
    ],
)  # fmt: skip
def test_a_faulty_declaration_of_forms_is_told_with_its_repair(element: Path, old: str, new: str, said: str) -> None:
    problems = declaration_problems(element, old, new)
    assert any(problem.startswith(said) for problem in problems), problems


# ---- documentation ---------------------------------------------------------------------------------------------------


def test_the_variable_table_says_with_which_choices_a_variable_is_there(element: Path) -> None:
    rows = [line.strip("| ").split(" | ") for line in variable_table(element / "elements" / "forms").splitlines()]
    conditions = {row[0]: row[-1] for row in rows if len(row) >= 5}
    assert "`form` = line, plane" in conditions["`reach`"]
    assert conditions["`end.s`"] == "`form` = line"
    assert conditions["`end.v[1..3]`"] == "`form` = plane"
    assert conditions["`angle[1..2]`"] == "`form` = line; `ledger` = false"
    assert not any("=" in conditions[name] for name in ("`gain`", "`y`"))
    assert "`ledger` = true" in conditions["`power`"]
    (units,) = [row[1] for row in rows if row[0] == "`mixed[1..3]`"]
    assert units == "m, m, rad"
    structure = {row[0]: row[1:3] for row in rows if len(row) == 4}
    assert structure["`form`"] == ["point, line, plane", "line"]
    assert structure["`ledger`"] == ["true, false", "true"]
    assert structure["`rows`"] == ["1 ... 5", "2"]
    assert "`rows > 3`" not in structure, "it follows from rows, and is no key"
    assert conditions["`slack`"] == "`rows > 3` = true"


@pytest.mark.parametrize("folder", shipped_elements(), ids=lambda folder: folder.name)
def test_the_structure_table_of_an_element_has_keys_that_a_recipe_may_give(folder: Path, tmp_path: Path) -> None:
    text = variable_table(folder).partition("**Structure, fixed when the FMU is built**")[2].strip()
    shown = re.findall(r"^\| `(.*?)` \|", text.partition("\n\n**")[0], re.MULTILINE)
    assert shown == [*recipe_schema(folder.name, tmp_path)["properties"]["structure"]["properties"]]
    recipe, declared = read_toml(default_recipe(folder).path), read_declaration(folder).structure
    given = {name: entry.default for name, entry in declared.items() if name in shown}
    path = tmp_path / "Given.toml"
    path.write_text(tomli_w.dumps({**recipe, "structure": given}), encoding="utf-8")
    problems = parse_recipe(path)[1]
    assert not [problem for problem in problems if "[structure]" in problem.where]


def test_forms_are_all_combinations_the_default_one_first(element: Path) -> None:
    found = list(forms(read_declaration(element / "elements" / "forms")))
    assert found[0] == {"form": "line", "ledger": True, "many": False}
    assert len(found) == len({tuple(form.items()) for form in found}) == 12


# ---- structure by lists of tables ------------------------------------------------------------------------------------

CHAIN = """
description = "Gains in a row"

[structure]
links = { default = 1, min = 0, description = "Number of links, that of the tables [[link]]" }
tips = { default = 1, min = 0, description = "Number of tips" }

[parameters]
"link.gain" = { each = "links", start = 1.0, description = "Gain" }

[outputs]
y = { each = "links", unit = "rad", depends = ["link.gain[*]", "tip.*"], description = "Sum up to here" }

[ports.tip]
kind = "translational"
side = "force"
each = "tips"
description = "A tip"
depends = ["tip.*"]
"""
CHAIN_C = """
static void outputs(Element *e)
{
    Real sum = 0.0;
    for (int i = 0; i < LINKS; i++)
        e->y[i] = sum += factors[i] * e->link[i].gain + (double)sizeof names[0] + (slides[i] ? 1000.0 : 0.0);
#if TIPS
    for (int i = 0; i < TIPS; i++)
        e->tip[i].F = e->tip[i].v;
#endif
}
"""
CHAIN_STRUCTURE = """
from fmu_builder.model.structure_reader import Constant, Structure

LISTS = ("link",)

def structure(tables, read):
    links = read.rows("link", keys=("name", "factor", "length", "at"), required=("factor",))
    length = [read.quantity(one, "length", "m", 0.0, least=0.0) for one in links]
    names = tuple(read.text(one, "name", f"link {i}") for i, one in enumerate(links, start=1))
    for one in links:
        read.vector(one, "at", ("m", "rad"), (0.0, 0.0))
    return Structure(
        constants=(
            Constant("factors", tuple(read.quantity(one, "factor", "1", 1.0, above=0.0) for one in links)),
            Constant("names", names),
            Constant("slides", tuple(int(one > 0.0) for one in length)),
        ),
        sizes={"links": len(links), "tips": 0},
        starts={f"link[{i}].gain": 2.0 for i in range(1, len(links) + 1)},
        units={"y": tuple("m" if one else "rad" for one in length)},
    )
"""


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    folder = tmp_path / "elements" / "chain"
    folder.mkdir(parents=True)
    for name, text in (("element.toml", CHAIN), ("element.c", CHAIN_C), ("structure.py", CHAIN_STRUCTURE)):
        (folder / name).write_text(text, encoding="utf-8")
    return tmp_path / "Chain.toml"


def chained(path: Path, links: str) -> Model:
    path.write_text(f'element = "chain"\n{links}', encoding="utf-8")
    return load_model(path)


def test_lists_of_tables_give_sizes_starts_units_and_constants(chain: Path) -> None:
    one = chained(chain, '[[link]]\nfactor = 3\n[[link]]\nfactor = 5\nlength = "1 mm"\nname = "long"\n')
    assert {v.name: v.unit.name for v in one.by_kind("output")} == {"y[1]": "rad", "y[2]": "m"}
    assert one["link[2].gain"].start == 2.0
    assert not [v.name for v in one.variables if v.name.startswith("tip")] and one.ports == ()
    assert [one.variables[i].name for i in one["y[2]"].depends] == ["link[1].gain", "link[2].gain"]
    done = simulate_fmu(str(host_fmu(chain)), stop_time=1e-3, output=["y[2]"])
    assert done["y[2]"][-1] == (6.0 + 7.0) + (10.0 + 7.0 + 1000.0)  # sizeof "link 1" with its end is 7


def test_one_table_of_a_list_is_numbered_too(chain: Path) -> None:
    assert "link[1].gain" in chained(chain, "[[link]]\nfactor = 3\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[link]]\n[[link]]\nfactor = 1\n", "[[link]] 1 factor: this key is missing"),
        ("[[link]]\nfactor = 1\nlenght = 2\n", "[[link]] 1 lenght: this key is unknown; did you mean 'length'?"),
        ("[[link]]\nfactor = -1\n", "[[link]] 1 factor: -1 is refused: it must be greater than 0"),
        ('[[link]]\nfactor = 1\nlength = "-1 mm"\n', "[[link]] 1 length: '-1 mm' is refused: it must be at least 0 m"),
        ('[[link]]\nfactor = 1\nlength = "1 s"\n', "[[link]] 1 length = '1 s' has the dimension s"),
        ("[[link]]\nfactor = 1\nlength = true\n", "[[link]] 1 length: true must be a number, or text"),
        ("[[link]]\nfactor = 1\nname = 1\n", "[[link]] 1 name: 1 must be text"),
        ("[[link]]\nfactor = 1\nat = [1]\n", "[[link]] 1 at: [1] is no list of 2 quantities"),
        ("link = 3\n", "link: 3 must be tables [[link]]"),
        ("[[link]]\nfactor = 1\n[structure]\nlinks = 2\n", "[structure] links: this size follows from [[link]]"),
        ('[[link]]\nfactor = 1\n[start]\n"link[1].gain" = 2\n', "[start] link[1].gain: follows from the tables"),
    ],
)
def test_faults_of_lists_are_told_with_their_number(chain: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        chained(chain, text)
    assert any(str(problem).startswith(f"{chain}: {said}") for problem in caught.value.problems), caught.value


# ---- a group of contact_core -----------------------------------------------------------------------------------------

DRIVE = """
description = "A torque that nothing drives"

[extends]
group = "coupling"
renamed = { "coupling.m_eff" = "coupling.J_eff" }
without = ["coupling.beta"]
words = { force = "torque", mass = "moment of inertia" }

[structure]
rows = { default = 2, description = "Number of rows" }

[parameters]
"coupling.J_eff" = { unit = "kg.m2" }
gain = { start = 1.0, description = "Gain" }

[memory]
"coupling.lag" = { size = "rows" }
"coupling.fallback" = { type = "int", description = "Anything else" }
"""


def drive(folder: Path, old: str = "", new: str = "") -> Path:
    place = folder / "elements" / "drive"
    place.mkdir(parents=True)
    assert not old or DRIVE.count(old) == 1
    (place / "element.toml").write_text(DRIVE.replace(old, new), encoding="utf-8")
    return place


def test_a_group_is_extended_in_other_words_and_with_changed_keys(tmp_path: Path) -> None:
    own, group = read_declaration(drive(tmp_path)), read_declaration(shipped("elements") / "translational_spring")
    assert list(own.parameters) == ["gain", "coupling.mode", "coupling.J_eff", "coupling.order", "coupling.identify"]
    moment, mass = own.parameters["coupling.J_eff"], group.parameters["coupling.m_eff"]
    assert moment.description.replace("moment of inertia", "mass").replace("torque", "force") == mass.description
    assert "torque" in moment.description and own.parameters["coupling.mode"].description.startswith("Torque at")
    assert mass == moment.model_copy(update={"unit": "kg", "description": mass.description})
    assert own.memory["coupling.lag"].size == "rows" and own.memory["coupling.lag"].type == "int"
    assert own.memory["coupling.fallback"].description == "Anything else"
    assert own.memory["coupling.fallback"].when == {"coupling": (True,)}
    assert "coupling.beta" not in own.memory and own.samplers == ("coupling",)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'group = "coupling"',
            'group = "couplin"',
            "[extends] group: 'couplin' is no group; did you mean 'coupling'",
        ),
        ('group = "coupling"', "", "[extends]: must name either the element or the group that is extended"),
        ('group = "coupling"', 'group = "coupling"\nelement = "inertia"', "[extends]: must name either the element"),
        ('["coupling.beta"]', '["coupling.bta"]', "[extends] coupling.bta: there is no such entry to extend"),
        ('force = "torque"', 'fork = "torque"', "[extends] words: no description has the word 'fork'"),
        (
            'force = "torque"',
            "force = 1",
            "[extends] words: {'force': 1, 'mass': 'moment of inertia'} must be a table",
        ),
        ('"coupling.lag" = {', '"coupling.leg" = {', "[memory.coupling.leg] description: this key is missing"),
    ],
)
def test_a_group_that_cannot_be_extended_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    place = drive(tmp_path, old, new)
    with pytest.raises(InputError) as caught:
        read_declaration(place)
    assert str(caught.value.problems[0]).startswith(f"{place / 'element.toml'}: {said}"), caught.value


def test_the_former_name_of_extends_is_read_with_a_note(tmp_path: Path) -> None:
    place = drive(tmp_path, "[extends]", "[takes_over]")
    former, now = read_declaration(place), read_declaration(drive(tmp_path / "now"))
    assert former.content == now.content and now.notes == ()
    (note,) = former.notes
    assert note.startswith(f"{place / 'element.toml'}: [takes_over] is now [extends]; rename it")
    (place / "element.toml").write_text(DRIVE + "\n[takes_over]\ngroup = 'coupling'\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"\[takes_over\]: is the former name of \[extends\]"):
        read_declaration(place)
