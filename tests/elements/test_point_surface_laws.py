"""point_surface with laws of the user's: forces, ledger, kinks, what a recipe may say, ready-made laws."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from fmi2 import ERROR, Fmu
from running import Running, build
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from test_point_surface import PARAMETERS, PATCH, above, scenes

from fmu_builder.cosim.master import run
from fmu_builder.errors import InputError
from fmu_builder.export.documentation import documentation_files
from fmu_builder.laws.definitions import Laws
from fmu_builder.laws.numeric import evaluate
from fmu_builder.laws.text import read_laws, read_value
from fmu_builder.laws.tree import Source
from fmu_builder.model.element_model import load_element
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import ElementModel
from fmu_builder.model.scenario import read_scenario
from fmu_builder.paths import load_module, shipped
from fmu_builder.units import parse_unit

# the laws that are built in, once more in the language of users
BUILT_IN = """
[functions]
text = \"\"\"
scalar C = 1e5[N/m];
scalar mu = 0.3;
scalar kT = 50[s/m];
scalar e = 0.5;
scalar kD = 80[s/m];
scalar kE = 0.4;
scalar loss = 1 - e*e;
scalar delta = 1 - kE + e*e*kE;
function force(h[m]) = C*#h;
function ratio(v[m/s]) =
    kD*#v > loss*kE/delta -> loss*kE/delta, kD*#v < -loss*(1 - kE)/delta -> -loss*(1 - kE)/delta, kD*#v;
function friction(N[N], v[m/s]) = kT*#v < 1 -> mu*#N*kT*#v, mu*#N;
\"\"\"
C_F = "force"
F_d = "ratio"
F_fr = "friction"
"""
SCALARS = {"laws.C": 1e5, "laws.mu": 0.3, "laws.kT": 50.0, "laws.e": 0.5, "laws.kD": 80.0, "laws.kE": 0.4}
ONLY_PARAMETER = {"D_max": 0.1}
FORCES = ("elastic_force", "damping_force", "normal_force", "friction_force")


@pytest.fixture(scope="module")
def patch(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("patch"), "Patch", PATCH)


@pytest.fixture(scope="module")
def lawful(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("lawful"), "Lawful", PATCH + BUILT_IN)


# ---- forces ----------------------------------------------------------------------------------------------------------


def test_the_built_in_laws_written_as_user_laws_give_the_same_forces(patch: Fmu, lawful: Fmu) -> None:
    one, other = Running(patch, PARAMETERS), Running(lawful, ONLY_PARAMETER)
    touching = 0
    for scene in scenes():
        one.set(scene.values())
        other.set(scene.values())
        touching += one["in_contact"] == 1
        for name in (*FORCES, "energy.elastic", "power.damping", "power.friction", "power.work"):
            assert other[name] == pytest.approx(one[name], rel=1e-13, abs=1e-12), name
        for name in ("point.f", "surface.f", "surface.t"):
            assert other.vector(name) == pytest.approx(one.vector(name), rel=1e-13, abs=1e-10)
    assert touching > 10


def test_derivatives_with_user_laws_are_those_of_the_built_in_ones_also_at_rest(patch: Fmu, lawful: Fmu) -> None:
    one, other = Running(patch, PARAMETERS), Running(lawful, ONLY_PARAMETER)
    unknowns = [f"point.f[{k}]" for k in (1, 2, 3)]
    still = [above(-0.01), above(-0.01, (0.004, 0.0, 0.0)), above(-0.01, (0.3, 0.1, 0.001))]
    for scene in [*still, *scenes(12)]:
        one.set(scene.values())
        other.set(scene.values())
        for seed in ("point.r[3]", "point.v[1]", "point.v[2]", "point.v[3]", "surface.w[1]"):
            expected = one.directional(unknowns, {seed: 1.0})
            size = max(float(np.max(np.abs(expected))), 1.0)
            assert other.directional(unknowns, {seed: 1.0}) == pytest.approx(expected, rel=1e-11, abs=1e-12 * size), (
                seed
            )


def test_a_scalar_that_follows_from_others_follows_them(lawful: Fmu) -> None:
    running = Running(lawful, ONLY_PARAMETER | above(-0.01, (0.0, 0.0, -9.0)).values())
    loss, delta = 1 - 0.5**2, 1 - 0.4 + 0.5**2 * 0.4
    assert running.values(["laws.loss", "laws.delta"]) == pytest.approx([loss, delta], rel=1e-15)
    assert running["normal_force"] == pytest.approx(1e3 * (1 + loss * 0.4 / delta), rel=1e-14)
    running.set({"laws.e": 0.8})
    loss, delta = 1 - 0.8**2, 1 - 0.4 + 0.8**2 * 0.4
    assert running["laws.delta"] == pytest.approx(delta, rel=1e-15)
    assert running["normal_force"] == pytest.approx(1e3 * (1 + loss * 0.4 / delta), rel=1e-14)
    assert running.slave.set({"laws.delta": 1.0}) != 0  # it is computed


def test_a_changed_scalar_of_the_stiffness_books_the_energy_that_it_destroys(lawful: Fmu) -> None:
    running = Running(lawful, ONLY_PARAMETER | above(-0.01).values())
    running.step(1e-3)
    assert running["energy.start"] == pytest.approx(0.5 * 1e5 * 1e-4, rel=1e-14)
    running.set({"laws.C": 4e4})
    running.step(1e-3)
    assert running["energy.switched"] == pytest.approx(0.5 * 6e4 * 1e-4, rel=1e-13)
    assert running["energy.residual"] == pytest.approx(0.0, abs=1e-15)
    running.set({"laws.mu": 0.9})
    running.step(1e-3)
    assert running["energy.switched"] == pytest.approx(0.5 * 6e4 * 1e-4, rel=1e-13)
    running.set({"point.r[1]": 0.6, "laws.C": 9e9})  # off the edge: what was stored is lost
    running.step(1e-3)
    assert running["energy.switched"] == pytest.approx(0.5 * 1e5 * 1e-4, rel=1e-13)


# ---- impacts inside one solver ---------------------------------------------------------------------------------------

STIFFNESSES = {
    "linear": "",
    "hertz": 'C_F = "hertz"',
    "stop": 'text = "scalar k = 1e5[N/m]; scalar gap = 1[mm];"\nC_F = "#h < gap -> k*#h, k*gap + 20*k*(#h - gap)"',
    "steep": 'text = "scalar k = 1e5[N/m]; scalar d = 2[mm];"\nC_F = "k*d*(exp(#h/d) - 1)"',
    "points": 'C_F = { table = "force.csv", interpolation = "pchip", outside = "linear" }',
}


@pytest.fixture(scope="module")
def impacts(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    """A ball on each floor, in one FMU, without gravity."""
    folder = tmp_path_factory.mktemp("impacts")
    (folder / "force.csv").write_text("h [mm], F [N]\n0, 0\n1, 60\n2, 200\n4, 1000\n8, 3000\n", encoding="utf-8")
    parts, connections = [], []
    for name, law in STIFFNESSES.items():
        functions = f"[functions]\n{law}\n" if law else ""
        recipe = f'element = "point_surface"\n[surface]\nkind = "plane"\n{functions}[start]\nC_r = 0.5\nk_D = 10\n'
        (folder / f"On_{name}.toml").write_text(recipe, encoding="utf-8")
        parts.append(
            f'{name} = "On_{name}.toml"\nball_{name} = {{ recipe = "PointMass", start = {{ g = [0, 0, 0] }} }}\n'
        )
        connections.append(f'["ball_{name}.p", "{name}.point"]')
    text = f"connections = [{', '.join(connections)}]\n[parts]\n{''.join(parts)}"
    return build(folder, "Impacts", text)


@pytest.mark.slow
def test_restitution_and_energy_hold_for_every_stiffness(impacts: Fmu) -> None:
    """D4: the ratio of the speeds does not depend on the elastic force."""
    starts = {f"ball_{name}.{key}[3]": value for name in STIFFNESSES for key, value in (("r0", 1e-3), ("v0", -1.0))}
    running = Running(impacts, starts, tolerance=1e-10)
    for _ in range(60):
        running.step(1e-3)
    for name in STIFFNESSES:
        assert running[f"{name}.contact_count"] == 1
        assert running[f"ball_{name}.p.v[3]"] == pytest.approx(0.5012081853990823, abs=3e-9), name
        assert running[f"{name}.energy.elastic"] == 0.0
        # of the work of 1/2 J and the losses: four terms, each with the tolerance as a share of what passed
        assert abs(running[f"{name}.energy.residual"]) <= 4.0 * 1e-10, name
    assert running.told == []


effective_restitution = load_module(
    shipped("elements") / "point_surface" / "cases" / "references.py"
).effective_restitution
IMPACTS = [(C_r, 0.5, k_D, 1.0) for C_r in (0.0, 0.2, 0.5, 0.8) for k_D in (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)] + [
    (0.4, 0.25, 1.0, v_0) for v_0 in (0.1, 1.0, 5.0)
]


@pytest.mark.parametrize(("C_r", "k_E", "k_D", "v_0"), IMPACTS)
def test_every_stiffness_rebounds_as_the_closed_form_says(
    impacts: Fmu, C_r: float, k_E: float, k_D: float, v_0: float
) -> None:
    """Of the restitution at the speed v_0, whatever the law of the stiffness is."""
    rebound = effective_restitution(C_r, k_E, k_D, v_0)
    starts: dict[str, float] = {}
    for name in STIFFNESSES:
        starts |= {f"ball_{name}.r0[3]": 1e-3, f"ball_{name}.v0[3]": -v_0}
        starts |= {f"{name}.C_r": C_r, f"{name}.k_E": k_E, f"{name}.k_D": k_D}
    running = Running(impacts, starts, tolerance=1e-10)
    for _ in range(25):
        running.step(20e-3)
    for name in STIFFNESSES:
        assert running[f"{name}.contact_count"] == 1
        assert running[f"{name}.depth"] == 0.0
        assert running[f"ball_{name}.p.v[3]"] / v_0 == pytest.approx(rebound, abs=1e-8), name  # 100 substeps
        assert abs(running[f"{name}.energy.residual"]) <= 1e-9, name


# ---- laws that pull --------------------------------------------------------------------------------------------------

PULLS = PATCH + 'allow_adhesion = {}\n[functions]\nF_d = "v/1[m/s]"\n[start]\nC_F = 1e5\n'


@pytest.mark.parametrize(("adhesion", "said"), [(False, "is held at 0"), (True, "the surface pulls there")])
def test_the_warning_of_a_law_that_pulls_is_that_of_allow_adhesion(tmp_path: Path, adhesion: bool, said: str) -> None:
    path = tmp_path / "Pulls.toml"
    path.write_text(PULLS.format(str(adhesion).lower()), encoding="utf-8")
    warnings = [text for text in map(str, load_model(path).warnings()) if "below -1" in text]
    assert [said in text for text in warnings] == [True]
    assert ("is held at 0" in warnings[0]) != adhesion


@pytest.mark.slow
@pytest.mark.parametrize("adhesion", [False, True])
def test_a_damping_law_below_minus_one_is_held_at_zero_unless_it_may_pull(tmp_path: Path, adhesion: bool) -> None:
    fmu = build(tmp_path, "Pulls", PULLS.format(str(adhesion).lower()))
    running = Running(fmu, above(-0.01, (0.0, 0.0, 0.5)).values())
    assert running["normal_force"] == pytest.approx(500.0, rel=1e-14)
    for _ in range(2):
        running.set({"point.v[3]": 3.0})
        running.step(1e-3)
    assert running["normal_force"] == (-2000.0 if adhesion else 0.0)
    assert running["energy.damping"] >= 0.0
    warnings = [text for text in running.told if "would pull" in text]
    if adhesion:
        assert not warnings and "clipped_count" not in fmu.references
    else:
        assert running["clipped_count"] >= 2
        assert len(warnings) == 1 and "1 + F_d = -2 at the depth rate -3 m/s" in warnings[0]


SLIDES = """
connections = [["ball.p", "floor.point"]]
[parts]
ball = { recipe = "PointMass", start = { g = [0, 0, 0], r0 = [0, 0, "-5 mm"], v0 = [1, 0.5, 2] } }
floor = "Pulls"
"""


@pytest.mark.slow
@pytest.mark.parametrize("friction", ["K_fr = 0.5", "F_fr = '0.5*#N*#v/(0.1[m/s] + #v)'", "bristle"])
def test_friction_makes_no_energy_where_the_surface_pulls(tmp_path: Path, friction: str) -> None:
    """Torn off at 2 m/s, where 1 + F_d = -1: nothing presses, so the slip keeps its speed; ramp and law are
    odd in N and would drive the point with a negative one."""
    law = friction if friction.startswith("F_fr") else ""
    start = "K_fr = 0.5" if not law else ""
    text = PULLS.format("true").replace("[start]", f"{law}\n[start]") + start
    if friction == "bristle":
        text = text.replace("allow_adhesion", "bristle = true\nallow_adhesion")
    (tmp_path / "Pulls.toml").write_text(text, encoding="utf-8")
    running = Running(build(tmp_path, "Torn", SLIDES), tolerance=1e-9)
    pulled = False
    before = running["floor.energy.friction"]
    for _ in range(40):
        pulled |= running["floor.normal_force"] < -100.0
        assert running["floor.power.friction"] >= 0.0
        if pulled:
            assert running["floor.friction_force"] == 0.0
        running.step(1e-4)
        assert running["floor.energy.friction"] >= before
        before = running["floor.energy.friction"]
    assert pulled and running["floor.depth"] == 0.0
    assert running.vector("ball.p.v")[:2] == pytest.approx([1.0, 0.5], rel=1e-12)
    assert abs(running["floor.energy.residual"]) <= 1e-9


ENDING = """
description = "A ball on a floor whose laws end"
connections = [["ball.p", "floor.point"]]
[parts]
ball = { recipe = "PointMass", start = { g = [0, 0, 0], r0 = [0, 0, "1 mm"] } }
floor = "Ends"
"""


@pytest.mark.slow
def test_a_table_without_a_value_outside_stops_the_fmu_and_is_named_with_where_it_was_asked(tmp_path: Path) -> None:
    """Of a point whose depth is set, and of one that falls through the end of its table within a step.  The one of the
    other slot, number 1, is not the culprit."""
    (tmp_path / "force.csv").write_text("h [mm], F [N]\n0, 0\n20, 1000\n", encoding="utf-8")
    (tmp_path / "ratio.csv").write_text("v [m/s], d [1]\n-100, -0.5\n0, 0\n100, 0.5\n", encoding="utf-8")
    laws = 'F_d = { table = "ratio.csv", outside = "error" }\nC_F = { table = "force.csv", outside = "error" }\n'
    (tmp_path / "Ends.toml").write_text(f"{PATCH}[functions]\n{laws}", encoding="utf-8")
    fmu = build(tmp_path, "Ball", ENDING)
    running = Running(fmu, {"ball.v0[3]": -0.1})
    running.step(1.0)
    assert running["floor.peak_force"] > 10.0
    running = Running(fmu, {"ball.v0[3]": -30.0})
    assert running.slave.step(running.time, 1.0) == ERROR
    origin, refusal = running.told[-2:]
    assert re.fullmatch(
        r"the table of the law Ends: C_F has no value at h = 20(\.0\d*)? mm, only from 0 to 20 mm, "
        "and outside = 'error': a longer table has one, or outside = 'hold' or 'linear'",
        origin,
    )
    assert "is not finite" in refusal
    sunk = Running.in_initialization(fmu)
    sunk.set({"ball.r0[3]": -0.0213})
    assert sunk.slave.call("fmi2ExitInitializationMode") == ERROR
    assert "the law Ends: C_F has no value at h = 21.3 mm, only from 0 to 20 mm" in sunk.told[-2]


# ---- what a recipe may say -------------------------------------------------------------------------------------------

BARE = 'element = "point_surface"\n[surface]\nkind = "plane"\n'


def model(folder: Path, text: str) -> ElementModel:
    path = folder / "Pad.toml"
    path.write_text(BARE + text, encoding="utf-8")
    return load_element(path)


def faults(folder: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        model(folder, text)
    return [str(problem).replace(f"{folder}/", "") for problem in caught.value.problems]


def test_a_law_takes_the_place_of_the_parameters_it_replaces(tmp_path: Path) -> None:
    pad = model(tmp_path, '[functions]\nF_fr = "ramp"\n[start]\nC_r = 0.4\n"laws.ramp_mu" = 0.7\n')
    names = {v.name for v in pad.variables if not v.hidden}
    assert {"C_F", "C_r", "k_D", "k_E", "laws.ramp_mu", "laws.ramp_k"} <= names
    assert not {"K_fr", "k_T", "laws.hertz_R"} & names
    assert pad["laws.ramp_mu"].start == 0.7 and pad["laws.ramp_k"].unit.name == "s/m"
    force = {pad.variables[i].name for i in pad["friction_force"].depends}
    assert {"laws.ramp_mu", "laws.ramp_k", "C_F", "point.v[1]"} <= force
    assert "laws.ramp_mu" not in {pad.variables[i].name for i in pad["normal_force"].depends}


def test_scalars_are_parameters_in_si_with_the_unit_they_were_written_in(tmp_path: Path) -> None:
    text = 'text = "scalar d = 2[mm]; scalar k = 3e5; scalar K = k*1[N/m]/sqrt(d); scalar n = -2[rpm];"'
    pad = model(tmp_path, f'[functions]\n{text}\nC_F = "K*#h*sqrt(#h)"\n')
    assert (pad["laws.d"].start, pad["laws.d"].unit.name) == (0.002, "m")
    assert pad["laws.d"].display is not None and pad["laws.d"].display.name == "mm"
    assert pad["laws.K"].kind == "calculated"
    assert [pad.variables[i].name for i in pad["laws.K"].depends] == ["laws.d", "laws.k"]
    assert pad["laws.n"].start == pytest.approx(-2.0 * 2.0 * math.pi / 60.0)


def test_a_recipe_may_give_a_ready_made_name_a_meaning_of_its_own(tmp_path: Path) -> None:
    text = 'text = "scalar ramp_k = 5[s/m]; function ramp(N[N], v[m/s]) = 0.1*#N*min(ramp_k*#v, 1);"'
    pad = model(tmp_path, f'[functions]\n{text}\nF_fr = "ramp"\nC_F = "hertz"\n')
    assert pad["laws.ramp_k"].start == 5.0 and "laws.hertz_R" in pad and "laws.ramp_mu" not in pad


RAMP = """
[functions]
text = "scalar mu = 0.3; scalar shift = 0[m/s]; function f(N[N], v[m/s]) = mu*#N*tanh((#v + shift)/1[m/s]);"
F_fr = "f"
"""
BROKEN = (
    "with {given} the law in the slot F_fr breaks its rule: the law must be 0 at v = 0; it is {value} at N = 10000 N, "
    "v = 0 m/s"
)
SHIFTED = BROKEN.format(given="laws.shift = 1 m/s", value=f"{3e3 * math.tanh(1.0):.6g} N")


def test_rules_hold_for_the_scalars_that_an_assembly_sets(tmp_path: Path) -> None:
    """In a part, in a part of a part by the name it is exposed with, and in [start]; legal values pass."""
    (tmp_path / "Rough.toml").write_text(BARE + RAMP, encoding="utf-8")
    (tmp_path / "Inner.toml").write_text(
        '[parts]\na = "Rough"\n[expose.parameters]\nslip = "a.laws.shift"\n', encoding="utf-8"
    )
    path = tmp_path / "Outer.toml"
    path.write_text(
        """[parts]
a = { recipe = "Rough", start = { "laws.shift" = 1, "laws.mu" = 0.5 } }
b = { recipe = "Inner", start = { slip = "1 m/s" } }
c = { recipe = "Rough", start = { "laws.mu" = 0.9 } }
""",
        encoding="utf-8",
    )
    with pytest.raises(InputError) as caught:
        load_model(path)
    found = [str(problem).replace(f"{tmp_path}/", "") for problem in caught.value.problems]
    both = BROKEN.format(given="laws.mu = 0.5, laws.shift = 1 m/s", value=f"{5e3 * math.tanh(1.0):.6g} N")
    assert found == [
        f"Outer.toml: [parts] a start laws.mu, laws.shift: {both}",
        f"Outer.toml: [parts] b start slip: {SHIFTED}",
    ]
    path.write_text('[parts]\nb = "Inner"\n[start]\n"b.slip" = 1\n', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert [str(p).replace(f"{tmp_path}/", "") for p in caught.value.problems] == [
        f"Outer.toml: [start] b.slip: {SHIFTED}"
    ]


def test_rules_hold_for_the_scalars_that_a_scenario_sets(tmp_path: Path) -> None:
    (tmp_path / "Rough.toml").write_text(f"{BARE}[structure]\ncoupling = false\n{RAMP}", encoding="utf-8")
    path = tmp_path / "run.toml"
    text = (
        '[experiment]\nstop = 1e-3\nstep = 1e-3\n[slaves]\nfloor = { recipe = "Rough", start = { "laws.shift" = 1 } }\n'
    )
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        run(read_scenario(path))
    found = [str(problem).replace(f"{tmp_path}/", "") for problem in caught.value.problems]
    assert found == [f"run.toml: [slaves] floor start laws.shift: {SHIFTED}"]
    path.write_text(text.replace('laws.shift" = 1', 'laws.mu" = 1'), encoding="utf-8")
    assert run(read_scenario(path)).trace.time[-1] == 1e-3


def test_laws_of_two_parts_stay_apart_in_an_assembly(tmp_path: Path) -> None:
    (tmp_path / "Hard.toml").write_text(BARE + '[functions]\nC_F = "hertz"\n', encoding="utf-8")
    (tmp_path / "Soft.toml").write_text(BARE + '[functions]\nC_F = "1e4[N/m]*h"\n', encoding="utf-8")
    (tmp_path / "Both.toml").write_text(
        '[parts]\na = "Hard"\nb = "Soft"\nc = { recipe = "Hard", start = { "laws.hertz_E" = "2 GPa" } }\n',
        encoding="utf-8",
    )
    both = load_model(tmp_path / "Both.toml")
    assert both["a.laws.hertz_E"].start == 1e9 and both["c.laws.hertz_E"].start == 2e9
    assert len(both.types) == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '[functions]\nF_fr = "ramp"\n[start]\nK_fr = 0.1\nk_T = 5\n',
            ["F_fr excludes [start] K_fr", "excludes [start] k_T"],
        ),
        (
            '[functions]\nF_d = "flores"\n[start]\nC_r = 0.1\n',
            ["[functions] F_d: F_d excludes [start] C_r: remove one"],
        ),
        ('[functions]\nF_frr = "ramp"\n', ["F_frr: the element has no slot of this name; did you mean 'F_fr'?"]),
        ('[functions]\nF_fr = "rampp"\n', ["[functions] F_fr: 'rampp' is unknown"]),
        ("[functions]\nF_fr = 3\n", ["F_fr: 3 must be the name of a function, an expression, or { table"]),
        ('[functions]\ntext = "scalar LEDGER = 1;"\n', ["'LEDGER' is a name of the element's C code; choose another"]),
        ("[functions]\ntext = 3\n", ["text: 3 must be a text with scalars and functions"]),
        (
            '[functions]\ntext = """\nscalar a = 1;\nscalar b = a + 1[m];"""\n',
            ["text, line 7: '+' needs equal dimensions: 1 on"],
        ),
        (
            '[functions]\nF_fr = "#N*#v"\n',
            ["F_fr: the expression has the dimension W (kg.m2.s-3), N (kg.m.s-2) is needed"],
        ),
        (
            '[functions]\nF_fr = "0.1*#N"\n',
            ["F_fr: the law must be 0 at v = 0; it is 1000 N at N = 10000 N, v = 0 m/s"],
        ),
        ('[functions]\nC_F = "1e5[N/m]*h + 1[N]"\n', ["C_F: the law must be 0 at h = 0; it is 1 N at h = 0 m"]),
        (
            '[functions]\ntext = """\nfunction pole(v[m/s]) =\n  #v/1[m/s]/(1 - #v/3.0001[m/s]);"""\nF_d = "pole"\n',
            ["text, line 7: division by zero near v = 3", "guard it with a condition, or state the range", "/(1 - #v"],
        ),
        ('[functions]\nF_d = "v*v/(v*1[m/s])"\n', ["[functions] F_d: division by zero near v = 0 m/s"]),
        ('[functions]\nC_F = "1[N]*log(h/1[mm])"\n', ["C_F: the law has no finite value at h = 0 m; guard it"]),
        (
            '[functions]\nC_F = "hertz"\n[start]\n"laws.hertz_R" = "-5 mm"\n',
            [
                "C_F: the law has no finite value at h = ",
                "with laws.hertz_R = -0.005 m, laws.hertz_E = 1e+09 Pa; guard",
            ],
        ),
        (
            '[functions]\ntext = "scalar u = 0[m/s]; function f(N[N], v[m/s]) = #N*tanh(#v/u);"\nF_fr = "f"\n',
            ["text, line 5: division by zero near N = ", "m/s with laws.u = 0 m/s; guard it"],
        ),
        (
            '[functions]\nrange = { F_d = { w = [0, 1] } }\nF_d = "flores"\n',
            ["range F_d w: the law has no such argument"],
        ),
        ('[functions]\nrange = { F_d = { v = [1, 0] } }\nF_d = "flores"\n', ["range F_d v: from 1 m/s to 0 m/s"]),
        (
            '[functions]\nrange = { F_d = { v = ["0 m", "1 m"] } }\nF_d = "flores"\n',
            ["'0 m' has the dimension m but m/s"],
        ),
        ('[functions]\nC_F = { table = "none.csv" }\n', ["[functions] C_F table: there is no file none.csv"]),
        ('[functions]\nF_fr = { table = "f.csv" }\n', ["F_fr: a table has one argument, F_fr has 2 (#N, #v)"]),
        ('[functions]\nF_d = { table = "f.csv" }\n', ["F_d: the table's header: v has the dimension m, m/s is needed"]),
        ('[functions]\nC_F = { table = "equal.csv" }\n', ["equal.csv, line 3: h is the same as in the line before"]),
    ],
)
def test_faulty_laws_are_refused_with_file_line_and_repair(tmp_path: Path, text: str, told: list[str]) -> None:
    (tmp_path / "f.csv").write_text("h [mm], F [N]\n0, 0\n1, 1\n", encoding="utf-8")
    (tmp_path / "equal.csv").write_text("h [mm], F [N]\n0, 0\n0, 1\n", encoding="utf-8")
    said = faults(tmp_path, text)
    for part in told:
        assert any(part in one for one in said), said
    assert all("Pad.toml: " in one or ".csv" in one for one in said)


# Bodies of a function that a slot uses: its fault is told once, and nothing is put in for it
FAULTY_FUNCTIONS = {
    "#h < 1[mm] -> 0[N], f(#h/2)": "f calls itself: recursion is not allowed",
    "g(#h)": "g takes 2 arguments (h, c), 1 given",
    "stif*#h": "'stif' is unknown",
    "k*#h + 2[N/m]*#h*#h": "'+' needs equal dimensions: N (kg.m.s-2) on the left, J (kg.m2.s-2) on the right",
    "later(#h)": "'later' is unknown",
    "k*#h + ": "';' cannot stand here",
    "k*#h)": "')' cannot stand here",
}


def test_what_follows_from_a_faulty_law_is_not_told_as_well(tmp_path: Path) -> None:
    functions = '[functions]\ntext = "scalar a = 1 + 1[m];"\nF_fr = "ramp"\n'
    text = functions + '[start]\n"laws.a" = 2\n"laws.ramp_mu" = 0.1\nC_r = 2\n'
    said = faults(tmp_path, text)
    assert len(said) == 2 and "equal dimensions" in said[0] and said[1].endswith("C_r must be at most 1")
    for body, fault in FAULTY_FUNCTIONS.items():
        text = f"scalar k = 1e5[N/m];\\nfunction g(h[m], c[N/m]) = #c*#h;\\nfunction f(h[m]) = {body};"
        (told,) = faults(tmp_path, f'[functions]\ntext = "{text}"\nC_F = "f"\n')
        assert fault in told
        (told,) = faults(tmp_path, f'[functions]\ntext = "{text}"\nC_F = "2*f(h) + k*h"\n')
        assert fault in told
        (told,) = faults(tmp_path, f'[functions]\ntext = "{text} scalar m = k*f(1[m])/f(1[m]) + 1[m];"\nC_F = "m*h"\n')
        assert fault in told
    said = faults(tmp_path, '[functions]\nF_fr = "ramp"\n[start]\nlaws.ramp_mu = 0.1\n')
    assert said == ['Pad.toml: [start] laws: a name with dots needs quotes: "laws.ramp_mu" = ...']


@pytest.mark.parametrize(
    ("guarded", "bare"),
    [
        ('F_d = "abs(v) < 1[mm/s] -> 0, v*v/(v*1[m/s])"', 'F_d = "v*v/(v*1[m/s])"'),
        ('range = { F_d = { v = ["-1 m/s", "1 m/s"] } }\nF_d = "v/(2[m/s] - v)"', 'F_d = "v/(2[m/s] - v)"'),
    ],
)
def test_a_division_is_allowed_where_a_guard_or_the_range_keeps_it_from_zero(
    tmp_path: Path, guarded: str, bare: str
) -> None:
    assert model(tmp_path, f"[functions]\n{guarded}\n").recipe.choices["F_d"] is True
    (fault,) = faults(tmp_path, f"[functions]\n{bare}\n")
    assert "division by zero near v = " in fault


@pytest.mark.parametrize(
    ("law", "note"),
    [
        ('F_d = "v/1[m/s]"', "F_d = -10 at v = -10 m/s, below -1: the surface would pull"),
        ('F_d = "-0.01*v/1[m/s]"', "adds energy: it must have the sign of v"),
        ('F_fr = "-0.1*N*min(v/1[m/s], 1)"', "F_fr = -1000 N at N = 10000 N, v = 1 m/s, below 0 N"),
        ('F_fr = "fr_sin"', "F_fr does not rise at v = 0 m/s: a sliding body never stops"),
        ('F_fr = "stribeck"', None),
        ('C_F = "hertz"', None),
    ],
)
def test_what_is_hardly_meant_is_warned_about_and_zero_slope_is_noted(
    tmp_path: Path, law: str, note: str | None
) -> None:
    wave = "0.1*#N*(1/2 + sin(PI*(#v/1[cm/s] - 1/2))/2)"
    sine = f"function fr_sin(N[N], v[m/s]) = #v >= 1[cm/s] -> 0.1*#N, {wave};"
    pad = model(tmp_path, f'[functions]\ntext = "{sine}"\n{law}\n')
    notes = (*pad.notes(), *pad.warnings())
    assert not pad.warnings() or law.startswith(('F_d = "', 'F_fr = "-'))
    assert (note is None and not notes) or (note is not None and any(note in one for one in notes)), notes


# ---- ready-made laws -------------------------------------------------------------------------------------------------


def ready_made() -> Laws:
    path = shipped("elements") / "point_surface" / "laws.txt"
    return read_laws(Source(path.read_text(encoding="utf-8"), str(path), 1))


def told_by_the_readme() -> dict[str, dict[float, float]]:
    """Law -> restitution asked for -> restitution delivered."""
    text = (shipped("elements") / "point_surface" / "README.md").read_text(encoding="utf-8")
    lines = text.partition("<!-- delivered -->")[2].partition("<!-- end -->")[0].strip().splitlines()
    header, _, *rows = ([cell.strip() for cell in line.strip("| ").split("|")] for line in lines)
    return {row[0].split("`")[1]: dict(zip(map(float, header[1:]), map(float, row[1:]), strict=True)) for row in rows}


DELIVERED = told_by_the_readme()


def rebound(laws: Laws, damping: str, e: float, elastic: str) -> float:
    """Speed after an impact of 1 kg at 1 m/s, by scipy."""
    metre, speed, number, newton = (parse_unit(text) for text in ("m", "m/s", "1", "N"))
    force = read_value(elastic, "", {"h": metre}, newton, laws)
    ratio = read_value(damping, "", {"v": speed}, number, laws)
    scalars = {f"{damping}_e": e}

    def rates(t: float, state: np.ndarray) -> list[float]:
        h, w = state
        F = float(evaluate(force, laws, {"h": h}, scalars=scalars).value) if h > 0.0 else 0.0
        return [w, -F * (1.0 + float(evaluate(ratio, laws, {"v": w}, scalars=scalars).value))]

    def leaves(t: float, state: np.ndarray) -> float:
        return float(state[0])

    leaves.terminal, leaves.direction = True, -1.0  # type: ignore[attr-defined]
    run = solve_ivp(rates, (0.0, 1.0), [0.0, 1.0], method="DOP853", events=leaves, rtol=1e-8, atol=1e-11, max_step=1e-2)
    return -float(run.y_events[0][0][1])


@pytest.mark.parametrize("damping", DELIVERED)
# D5 of the closed form: x - ln(1 + x) = -y - ln(1 - y), e = y/x
def test_ready_made_damping_delivers_the_restitution_that_the_readme_tells(damping: str) -> None:
    laws = ready_made()
    for target, told in DELIVERED[damping].items():
        x = float(
            evaluate(
                read_value(damping, "", {"v": parse_unit("m/s")}, parse_unit("1"), laws),
                laws,
                {"v": 1.0},
                scalars={f"{damping}_e": target},
            ).value
        )
        y = brentq(lambda y, x=x: -y - math.log1p(-y) - (x - math.log1p(x)), 0.0, 1.0 - 1e-12)
        assert y / x == pytest.approx(told, abs=5e-5)
    for elastic in ("hertz", "1e5[N/m]*h"):
        assert rebound(laws, damping, 0.5, elastic) == pytest.approx(DELIVERED[damping][0.5], abs=5e-5)


def test_the_built_in_damping_among_the_ready_made_laws_has_its_limits() -> None:
    laws = ready_made()
    law = read_value("restitution", "", {"v": parse_unit("m/s")}, parse_unit("1"), laws)
    w = np.array([-1.0, -0.005, 0.0, 0.003, 1.0])
    for e, k_E in ((0.5, 0.5), (0.3, 0.2), (1.0, 0.5), (0.0, 0.5)):
        scalars = {"restitution_C_r": e, "restitution_k_E": k_E, "restitution_k_D": 80.0}
        delta = 1 - k_E + e * e * k_E
        expected = np.clip(80.0 * w, -(1 - e * e) * (1 - k_E) / delta, (1 - e * e) * k_E / delta)
        assert evaluate(law, laws, {"v": w}, scalars=scalars).value == pytest.approx(expected, rel=1e-14, abs=1e-15)


def test_ready_made_friction_has_its_coefficients() -> None:
    laws = ready_made()
    v = np.array([0.0, 1e-3, 5e-3, 0.01, 0.1, 1.0])
    expected = {
        "ramp": 0.3 * np.minimum(100 * v, 1),
        "smooth_ramp": 0.3 * (3 * np.minimum(100 * v, 1) - np.minimum(100 * v, 1) ** 3) / 2,
        "stribeck": (0.25 + 0.15 * np.exp(-((v / 0.01) ** 2))) * np.minimum(1000 * v, 1),
        "brown_mcphee": 0.25 * np.tanh(4 * v / 0.01) + 0.15 * (v / 0.01) / ((v / 0.01) ** 2 / 4 + 0.75) ** 2,
    }
    for name, values in expected.items():
        law = read_value(name, "", {"N": parse_unit("N"), "v": parse_unit("m/s")}, parse_unit("N"), laws)
        assert evaluate(law, laws, {"N": 50.0, "v": v}).value == pytest.approx(50.0 * values, rel=1e-13), name


def test_hertz_of_a_steel_ball_is_that_of_the_textbook() -> None:
    """R = 10 mm, E = 115 GPa, 1 um deep: 4/3 E sqrt(R) h^1.5 = 15.33 N (Johnson, equation 4.23)."""
    laws = ready_made()
    hertz = read_value("hertz", "", {"h": parse_unit("m")}, parse_unit("N"), laws)
    force = evaluate(hertz, laws, {"h": 1e-6}, scalars={"hertz_R": 0.01, "hertz_E": 115e9}).value
    assert float(force) == pytest.approx(4 / 3 * 115e9 * 0.1 * 1e-9, rel=1e-14)


# ---- pictures --------------------------------------------------------------------------------------------------------


def test_the_page_of_an_fmu_draws_each_law_beside_the_built_in_one(tmp_path: Path) -> None:
    text = 'text = "scalar mu = 0.2; function f(N[N], v[m/s]) = mu*#N*min(#v/2[cm/s], 1);"'
    pad = model(tmp_path, f'[functions]\n{text}\nF_fr = "f"\nC_F = "2e6[N/m]*h"\n')
    page = documentation_files(pad)["documentation/index.html"].decode("utf-8")
    assert "scalar mu = 0.2;" in page and "F_fr = f" in page and "built in: ramp" in page
    _, friction = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    ramp, law = (  # the law lies on top
        np.array([pair.split(",") for pair in points.split()], dtype=float)
        for points in re.findall(r'polyline points="([^"]*)"[^>]*clip-path', friction)
    )
    # heights over the axis: 0.2 min(v/2 cm/s, 1) beside 0.3 min(v/1 cm/s, 1)
    law, ramp = law[0, 1] - law[:, 1], ramp[0, 1] - ramp[:, 1]
    full, full_ramp = (int(np.argmax(heights > 0.999 * heights[-1])) for heights in (law, ramp))
    assert 2.5 < len(law) / full < 3.5  # as far as the law is bent, and that twice again
    assert full_ramp / full == pytest.approx(0.5, abs=0.02)
    assert ramp[-1] / law[-1] == pytest.approx(1.5, abs=0.02)
    assert law[full // 2] / law[-1] == pytest.approx(0.5, abs=0.02)
