"""Directional derivatives and output derivatives of every element, against finite differences."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from checksum import sealed
from fmi2 import (
    ALIKE,
    ERROR,
    OK,
    QUICK,
    Fmu,
    integers,
    literal,
    load_literal,
    load_shipped,
    only,
    place_in_state,
    reals,
    recipes,
    references,
)
from numpy.typing import NDArray
from running import Running, build

from fmu_builder.export.fmu import host_fmu
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import Model, Variable
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import catalogue, shipped, shipped_elements

Vector = NDArray[np.float64]
Values = Mapping[str, float]

# Random inputs by unit: positions a centimetre off, so that a contact is met about every second time; speeds on the
# ramp of friction as well as far above it.
SCALES = {
    "m": (1e-2,),
    "m/s": (4e-3, 1.0),
    "rad/s": (0.1, 5.0),
    "rad": (1.0,),
    "N": (10.0,),
    "N.m": (10.0,),
    "1": (1.0,),
    "K": (1.0,),
    "Pa": (1e5,),
}
POINTS, FEW = 10, 3  # random points for each FMU, and for one that is an FMU of the others by another name
# Where a surface that does not pass the origin of its frame is met, in that frame, m.
MET = {
    "PointDisc": (0.1, 0.0, 0.0),
    "PointSphere": (0.0, 0.06, 0.08),
    "PointBowl": (0.0, 0.06, -0.08),
    "PointCylinder": (0.03, 0.04, 0.19),
    "PointPipe": (0.03, 0.04, 0.0),
    "PointCone": (0.05, 0.0, 0.05),
    "PointTorus": (0.1, 0.0, 0.03),
    "PointTube": (0.1, 0.0, -0.03),
    "PointRevolution": (0.09, 0.0, 0.06),
    "PointExtrusion": (0.02, 0.03, 0.0),
    "PointRoad": (0.25, 0.0, 0.009),
    "PointSaddle": (0.0, 0.0, 0.03),
    "PointMeshBowl": (0.0, 0.06, -0.08),
    "BodySurface": (0.0, 0.0, 0.1),
}


# Of both sides of a kink how much the slopes differ at least: each of hundreds of samples has a small one.
KINKS = {"BodySurface": 1e-6}


@dataclass(frozen=True)
class Case:
    fmu: Fmu
    model: Model

    def seeds(self, most: int) -> range:
        return range(min(most, FEW) if self.model.name in ALIKE else most)

    @cached_property
    def continuous(self) -> list[Variable]:
        return [v for v in self.model.variables if v.is_continuous_input]

    @cached_property
    def inputs(self) -> list[str]:
        return [v.name for v in self.continuous]

    @cached_property
    def states(self) -> list[str]:
        return [v.name for v in self.model.by_kind("state")]

    @cached_property
    def unknowns(self) -> list[str]:
        """All that has a directional derivative: continuous outputs and locals, and derivatives of states."""
        return [v.name for v in self.model.by_kind("output", "derivative") if v.type == "real" and not v.hidden]

    @cached_property
    def parameters(self) -> list[str]:
        """And inputs that are not continuous, of the element."""
        return [name for name in inputs_and_parameters(self.model) if not self.model[name].is_continuous_input]

    @cached_property
    def outputs(self) -> list[str]:
        return [v.name for v in self.model.variables if v.is_output and v.type == "real" and not v.hidden]


def case(recipe: Path, folder: Path) -> Case:
    flags = () if recipe.parent == shipped("fmus") else QUICK
    return Case(Fmu(host_fmu(recipe, flags), folder), load_model(recipe))


THREE_POINTS = """
element = "point_surface"
[structure]
points = 3
[surface]
kind = "plane"
x = ["-9 mm", "9 mm"]
y = ["-9 mm", "9 mm"]
"""
# An assembly whose ball starts a few millimetres from its floor.
BALL = """
connections = [["ball.p", "floor.point"]]
[parts]
ball = { recipe = "PointMass", start = { r0 = [2e-3, 2e-3, 2e-3], v0 = [0.01, 0.01, 0.01] } }
floor = "PointSurface"
[expose]
outputs = { height = "ball.p.r[3]", push = "ball.p.f", depth = "floor.depth", slip = "floor.slip_speed" }
inputs = { base = "floor.surface.r" }
"""
# As SpringMassTrain, which is too long to be differentiated in each of its thousand variables.
ROW = """
connections = [["mass[i].p", "spring[i].r"], ["mass[i].p", "spring[i+1].c"], ["mass[i].p", "damper[i].r"]]
[parts]
mass = { recipe = "SliderMass", count = 3 }
spring = { recipe = "TranslationalSpringByPositions", count = 4 }
damper = { recipe = "TranslationalDamper", count = 3 }
"""
OTHERS = {"ThreePoints": THREE_POINTS, "Ball": BALL, "Row": ROW}
LARGE = 'element = "{}"\n[structure]\nlarge_angle = true\n{}\n'
TURNING = {f"Turning{v.upper()}": LARGE.format("two_d_point", f'variant = "{v}"') for v in ("x", "y", "xy")}
TURNING["TurningBody"] = LARGE.format("two_d_body", "ports = 2")


def recipe_of(name: str, folder: Path) -> Path:
    """A recipe of the catalogue, or one of the others, written into the folder."""
    others = OTHERS | TURNING
    if name not in others:
        return shipped("fmus") / f"{name}.toml"
    recipe = folder / f"{name}.toml"
    recipe.write_text(others[name], encoding="utf-8")
    return recipe


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in TURNING]
# torques of N.m on bodies of 1e-6 kg.m2: the rounding of accelerations of 1e6 rad/s2 is too large for differences
LIGHT = "Squeezer"
# Beads start at a point of their line, where the curvature of a spline jumps, and on wires of 1e9 N/m: differences err
# by both.  PointLine1, PointLine2 and GuideRail are those guides alone.
BEADS = [path.stem for path in catalogue() if path.stem.startswith(("BeadOn", "BeadLeaves"))]
EVERY = [*recipes(without=["SpringMassTrain", LIGHT, *BEADS]), "Ball", "Row", *SLOW]


@pytest.fixture(scope="module", params=EVERY)
def every(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = tmp_path_factory.mktemp("every")
    return case(recipe_of(request.param, folder), folder)


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    recipe = 'element = "point_surface"\n[surface]\nkind = "plane"\nx = [-1, 1]\ny = [-1, 1]\n'
    recipe += "[structure]\ncoupling = false\n"
    return build(tmp_path_factory.mktemp("floor"), "Floor", recipe)


# What is drawn and moved here takes sums, products and quotients of single numbers, which round alike on every
# processor.  Elementary functions, products of matrices and scipy's rotations do not.


def random_inputs(case: Case, rng: np.random.Generator) -> dict[str, float]:
    model = case.model
    scales = {unit: float(rng.choice(choice)) for unit, choice in SCALES.items()}
    values = {v.name: scales[v.unit.name] * rng.uniform(-1.0, 1.0) for v in case.continuous}
    for q, _ in model.quaternions:
        drawn = random_quaternion(rng)
        values |= {model.variables[q + k].name: drawn[k] for k in range(4)}
    if model.name in MET:
        way = turned([values[f"surface.q[{k}]"] for k in (1, 2, 3, 4)], MET[model.name])
        port = "body" if model.name == "BodySurface" else "point"
        for k in (1, 2, 3):
            values[f"{port}.r[{k}]"] += values[f"surface.r[{k}]"] + way[k - 1]
    return values


def random_quaternion(rng: np.random.Generator) -> list[float]:
    """Of any attitude and of a length from 0.7 to 1.5."""
    while True:
        q: list[float] = rng.uniform(-1.5, 1.5, 4).tolist()
        if 0.7**2 <= sum(part * part for part in q) <= 1.5**2:
            return q


def product(p: Sequence[float], q: Sequence[float]) -> list[float]:
    """Of two quaternions, the scalars first."""
    (a, b, c, d), (s, x, y, z) = p, q
    return [
        a * s - b * x - c * y - d * z,
        a * x + b * s + c * z - d * y,
        a * y - b * z + c * s + d * x,
        a * z + b * y - c * x + d * s,
    ]


def turned(q: Sequence[float], vector: Sequence[float]) -> list[float]:
    """The vector q v q* / |q|^2, for a quaternion of any length."""
    s, x, y, z = q
    length = s * s + x * x + y * y + z * z
    return [part / length for part in product(product(q, [0.0, *vector]), [s, -x, -y, -z])[1:]]


def started(case: Case, draw: Callable[[], Values]) -> tuple[Values, Running]:
    """Values and an instance that was initialized with them; what a rule of the element refuses is drawn again."""
    for _ in range(4):
        values = draw()
        try:
            return values, Running(case.fmu, values)
        except AssertionError:
            continue
    values = draw()
    return values, Running(case.fmu, values)


def somewhere(case: Case, seed: int) -> Running:
    """An instance whose states have moved, at random inputs."""
    rng = np.random.default_rng(seed)
    _, running = started(case, lambda: random_inputs(case, rng))
    for _ in range(3):
        running.set(random_inputs(case, rng))
        running.step(1e-3)
    running.set(random_inputs(case, rng))
    return running


# ---- states are set through the serialized state ---------------------------------------------------------------------


def with_state(running: Running, case: Case, name: str, value: float) -> None:
    """Give a state of the element a value in the serialized state."""
    data = bytearray(running.slave.state())
    place = place_in_state(case.model, data, name)
    assert struct.unpack_from("<d", data, place)[0] == running[name]
    struct.pack_into("<d", data, place, value)
    handle = running.slave.get_state()
    assert running.slave.deserialize(sealed(bytes(data)), handle) == OK, running.told
    assert running.slave.call("fmi2SetFMUstate", handle) == OK
    running.slave.free_state(handle)
    # outputs are computed anew only after something was set
    first = case.inputs[0] if case.inputs else "solver.max_step"
    before = running[first]
    running.set({first: before + 1.0})
    running.set({first: before})


# ---- directional derivatives -----------------------------------------------------------------------------------------


def differences(running: Running, case: Case, name: str, step: float) -> tuple[Vector, Vector, Vector]:
    """Derivatives of all unknowns with respect to one known: from the left, central to fourth order, from the right."""
    x = running[name]

    def at(value: float) -> Vector:
        if name in case.states:
            with_state(running, case, name, value)
        else:
            running.set({name: value})
        return running.values(case.unknowns)

    y = {k: at(x + k * step) for k in (-2, -1, 1, 2, 0)}
    central = (8.0 * (y[1] - y[-1]) - (y[2] - y[-2])) / (12.0 * step)
    return (y[0] - y[-2]) / (2.0 * step), central, (y[2] - y[0]) / (2.0 * step)


def on_mechanism(case: Case) -> bool:
    return any(folder.name == "planar_mechanism" for folder in case.model.folders().values())


def sizes(case: Case, values: Vector) -> Vector:
    """What rounding of the unknowns is measured by: the own size, and that of others in the unit, whose sum or
    difference one may be.  In a mechanism forces and energies are differences of large ones, and the search for the
    dependent coordinates ends at 1e-13."""
    units = np.array([case.model[name].unit.name for name in case.unknowns])
    largest = np.array([values[units == unit].max() for unit in units])
    return np.maximum(10.0, largest) if on_mechanism(case) else np.maximum(values, 0.2 * largest)


@pytest.mark.slow
def test_directional_derivatives_are_the_limits_of_differences(every: Case) -> None:
    for seed in every.seeds(POINTS):
        directional_derivatives_at(every, seed)


def directional_derivatives_at(every: Case, seed: int) -> None:
    running = somewhere(every, seed)
    values = np.abs(running.values(every.unknowns))
    names = every.inputs + every.states + every.unknowns
    size = sizes(every, values)
    largest: dict[str, float] = {}  # value in each unit
    for name, value in zip(names, running.values(names), strict=True):
        unit = every.model[name].unit.name
        largest[unit] = max(largest.get(unit, 0.0), abs(value))
    smooth = 0
    for name in every.inputs + every.states:
        unit = every.model[name].unit.name
        step = 1e-5 * SCALES[unit][0] if unit in SCALES else 1e-5
        exact = running.directional(every.unknowns, {name: 1.0})
        left, central, right = differences(running, every, name, step)
        # four values, each rounded: in the unknown itself, and in the known that moved it or what that is added to
        rounding = 1e-14 * (size + np.abs(exact) * largest[unit]) / step
        tolerance = 1e-7 * np.abs(exact) + rounding + 1e-9 * np.abs(exact).max()
        least = KINKS.get(every.model.name, 1e-3) * np.maximum(np.abs(left), np.abs(right))
        kinked = np.abs(left - right) > least + rounding
        agree = np.abs(exact - central) <= tolerance  # near the least value of a square as well, where sides differ
        assert agree[~kinked].all(), (
            seed,
            name,
            [(u, e, c) for u, e, c, t in zip(every.unknowns, exact, central, tolerance, strict=True) if abs(e - c) > t],
        )
        smooth += int(agree.sum())
    # a step of 1e-5 of the range crosses a kink almost never
    assert smooth >= 0.98 * len(every.unknowns) * len(every.inputs + every.states)


@pytest.mark.slow
def test_derivatives_in_initialization_mode_count_the_memory_that_follows_the_inputs(tmp_path: Path) -> None:
    """The guide keeps directions in the frame of its point, which its outputs turn back: of an input of the attitude
    the two derivatives cancel but for the turn between them."""
    trolley = case(recipe_of("TrolleyInGuide", tmp_path), tmp_path)
    running = Running.in_initialization(trolley.fmu)
    running.set({"guide.point.q": [0.9, 0.3, -0.2, 0.1]})
    outputs, step, moved = trolley.outputs, 1e-5, 0
    for name in trolley.inputs:
        x, exact = running[name], running.directional(trolley.outputs, {name: 2.0}) / 2.0
        y = {}
        for k in (-2, -1, 1, 2, 0):
            running.set({name: x + k * step})
            y[k] = running.values(outputs)
        central = (8.0 * (y[1] - y[-1]) - (y[2] - y[-2])) / (12.0 * step)
        assert exact == pytest.approx(central, rel=1e-6, abs=1e-6), name
        moved += int(np.count_nonzero(np.abs(central) > 1e-6))
    assert moved > 5


def test_random_points_meet_every_regime_of_the_contact(tmp_path: Path) -> None:
    """Else the test above would show less than it says."""
    floor = case(literal("PointSurface", tmp_path), tmp_path)
    met = set()
    for seed in range(POINTS):
        running = somewhere(floor, seed)
        if not running["in_contact"]:
            met.add("out")
            continue
        met.add("sliding" if running["slip_speed"] > 0.01 else "ramp")
        met.add("compression" if running["phase"] == 1 else "restitution")
        limited = abs(running["damping_force"] / running["elastic_force"]) >= 0.6 * (1.0 - 1e-12)
        met.add("limited damping" if limited else "linear damping")
    assert met == {"out", "sliding", "ramp", "compression", "restitution", "limited damping", "linear damping"}


def test_every_element_is_among_them() -> None:
    used = {read_toml(path).get("element") for path in catalogue()}
    assert used >= {path.name for path in shipped_elements()}


def test_directional_derivative_is_linear_in_its_seed(every: Case) -> None:
    for seed in every.seeds(4):
        linear_at(every, seed)


def linear_at(every: Case, seed: int) -> None:
    running = somewhere(every, 100 + seed)
    knowns = every.inputs + every.states
    rng = np.random.default_rng(seed)
    seeds = rng.uniform(-1.0, 1.0, len(knowns))
    columns = np.array([running.directional(every.unknowns, {name: 1.0}) for name in knowns]).T
    together = running.directional(every.unknowns, dict(zip(knowns, seeds, strict=True)))
    # parts may cancel before the columns are formed as well, so the bound is that of the largest
    bound = 1e-13 * (np.abs(columns) @ np.abs(seeds)) + 1e-13 * np.abs(columns).max()
    if on_mechanism(every):  # the large columns of its tree meet in a small solution
        bound += 1e-12 * np.abs(columns).max()
    assert (np.abs(together - columns @ seeds) <= bound).all(), seed
    for factor in (2.0**-60, -4.0, 2.0**60):
        scaled = running.directional(every.unknowns, dict(zip(knowns, factor * seeds, strict=True)))
        assert np.array_equal(scaled, factor * together)
    assert not running.directional(every.unknowns, dict.fromkeys(knowns, 0.0)).any()


def test_seed_of_a_known_named_twice_counts_twice(floor: Fmu) -> None:
    running = Running(floor, {"point.r": (0.0, 0.0, -1e-3)} | {"point.v": (0.3, 0.0, 0.0)})
    f, r = (references(floor.references[name]) for name in ("point.f[3]", "point.r[3]"))
    twice = references(r[0], r[0])
    found = reals(0.0)
    assert running.slave.call("fmi2GetDirectionalDerivative", f, 1, twice, 2, reals(1.0, 2.0), found) == OK
    assert found[0] == running.directional(["point.f[3]"], {"point.r[3]": 3.0})[0]


def test_directional_derivative_answers_for_the_inputs_just_set_and_changes_nothing(floor: Fmu) -> None:
    running = Running(floor, {"point.v": (0.3, 0.0, 0.0), "C_F": 1e5})
    running.step(1e-3)
    running.set({"point.r": (0.0, 0.0, -1e-3)})
    running.slave.all_values()
    before = running.slave.state()
    assert running.directional(["point.f[3]"], {"point.r[3]": 1.0})[0] == pytest.approx(-1e5, rel=1e-14)
    assert running.slave.state() == before


# Points on a kink, exactly: a change of one known to either side, and the side that the element is on.
KINKS = {
    "surface": ({"point.r": (0.1, 0.2, 0.0)}, "point.r[3]", "right"),  # not yet in contact
    "limit depth": ({"point.r": (0.1, 0.2, -0.5), "D_max": 0.5}, "point.r[3]", "right"),  # still in contact
    "patch edge": ({"point.r": (1.0, 0.2, -1e-3)}, "point.r[1]", "left"),  # the edge belongs to the patch
    "ramp": ({"point.r": (0.0, 0.0, -1e-3), "point.v": (2.0**-6, 0.0, 0.0)}, "point.v[1]", "right"),  # it slides
    "compression": ({"point.r": (0.0, 0.0, -1e-3), "point.v": (0.3, 0.0, -(2.0**-6))}, "point.v[3]", "right"),  # slope
    "restitution": ({"point.r": (0.0, 0.0, -1e-3), "point.v": (0.3, 0.0, 2.0**-6)}, "point.v[3]", "right"),  # limit
}


@pytest.mark.parametrize("kink", KINKS)
def test_derivative_at_a_kink_is_that_of_the_side_the_element_is_on(floor: Fmu, kink: str) -> None:
    values, known, side = KINKS[kink]
    law = {"C_F": 1e5, "C_r": 0.0, "K_fr": 0.25, "k_T": 64.0, "k_D": 64.0}  # k_E = 1/2: limits of the ratio are +-1
    running = Running(floor, {"point.v": (0.3, 0.0, -0.1)} | law | values)
    unknowns = ["point.f[1]", "point.f[3]", "normal_force", "friction_force", "surface.t[2]", "energy.elastic"]
    exact = running.directional(unknowns, {known: 1.0})
    x, y, step = running[known], running.values(unknowns), 1e-7
    ends = {}
    for name, to in (("left", x - step), ("right", x + step)):
        running.set({known: to})
        ends[name] = (running.values(unknowns) - y) / (to - x)
    # the slopes of the two sides differ by thousands, or the value jumps
    fits = [name for name, slope in ends.items() if (np.abs(exact - slope) <= 1.0).all()]
    assert fits == [side]


@pytest.mark.parametrize(
    ("unknown", "known", "said"),
    [
        ("point.f[1]", "C_F", "the known C_F is neither"),
        ("point.f[1]", "peak_force", "the known peak_force is neither"),
        ("point.f[1]", "normal_force", "the known normal_force is neither"),
        ("energy.switched", "point.r[1]", "the unknown energy.switched is neither"),
        ("point.v[1]", "point.r[1]", "the unknown point.v[1] is neither"),
        ("K_fr", "point.r[1]", "the unknown K_fr is neither"),
    ],
)
def test_refused_references_are_named(floor: Fmu, unknown: str, known: str, said: str) -> None:
    running = Running(floor, {"point.r": (0.0, 0.0, 0.1)})
    vr = [references(floor.references[name]) for name in (unknown, known)]
    before = reals(17.0)
    assert running.slave.call("fmi2GetDirectionalDerivative", vr[0], 1, vr[1], 1, reals(1.0), before) == ERROR
    assert said in only(running.slave.importer.messages).text
    assert before[0] == 17.0


def test_hidden_variables_are_refused(tmp_path: Path) -> None:
    floor = case(literal("PointSurface", tmp_path), tmp_path)
    running = Running(floor.fmu, {"point.r": (0.0, 0.0, 0.1)})
    hidden = [v.index for v in floor.model.variables if v.hidden]
    assert hidden
    for index in hidden:
        given, computed = (references(floor.model[name].index) for name in ("point.r[1]", "point.f[1]"))
        for unknown, known in ((references(index), given), (computed, references(index))):
            call = ("fmi2GetDirectionalDerivative", unknown, 1, known, 1, reals(1.0), reals(0.0))
            assert running.slave.call(*call) == ERROR, floor.model.variables[index].name
            assert f"no variable with the value reference {index}" in running.told[-1]


# ---- derivatives of outputs ------------------------------------------------------------------------------------------


def moved(case: Case, values: Values, rates: Values, t: float) -> dict[str, float]:
    """Inputs a time t later: r' = v with v' given, q turned by w (and w' to first order)."""
    model, later = case.model, dict(values)
    for name, rate in rates.items():
        later[name] += rate * t
    for v in model.variables:
        if v.is_continuous_input and v.rate >= 0:
            speed = model.variables[v.rate].name
            later[v.name] += values[speed] * t + 0.5 * rates.get(speed, 0.0) * t**2
    for q, w in model.quaternions:
        names = [model.variables[q + k].name for k in range(4)]
        half = [0.5 * t * values[model.variables[w + k].name] for k in range(3)]  # (cos, sin n) of half the angle:
        square = sum(part * part for part in half)
        assert square < 1e-8  # the next terms of the series, square**2 / 24, are below a rounding
        way = [1.0 - square / 2.0, *((1.0 - square / 6.0) * part for part in half)]
        later |= dict(zip(names, product(way, [values[name] for name in names]), strict=True))
    return later


@pytest.mark.parametrize("accelerated", [False, True], ids=["v' = 0", "v' given"])
def test_output_derivatives_are_total_derivatives_along_the_motion(every: Case, accelerated: bool) -> None:
    for seed in every.seeds(6):
        output_derivatives_at(every, seed, accelerated)


def output_derivatives_at(every: Case, seed: int, accelerated: bool) -> None:
    rng = np.random.default_rng(1000 + seed)
    running = Running(every.fmu, random_inputs(every, rng))
    values = random_inputs(every, rng)
    running.set(values)
    running.step(1e-3)
    moving = {v.name for v in every.model.variables if v.is_continuous_input and v.rate >= 0}
    turning = {every.model.variables[q + k].name for q, _ in every.model.quaternions for k in range(4)}
    free = [name for name in every.inputs if name not in moving | turning]
    rates = {name: rng.uniform(-3.0, 3.0) for name in free} if accelerated else {}
    running.rates(rates)
    outputs = every.outputs
    exact = running.output_rates(outputs)
    drift = {name: running[f"der({name})"] for name in every.states}
    computed = [name for name in outputs if every.model[name].kind == "output"]
    along = dict(zip(computed, running.directional(computed, drift), strict=True)) if drift else {}
    noise = 1e-14 * np.abs(running.values(outputs)) + 8.0 * last_places(running, values, outputs, rng)
    slopes = [
        (slope, noise / h) for h in (1e-7, 1e-6, 1e-5) for slope in slopes_along(running, every, values, rates, h)
    ]
    held = np.array([along.get(name, 0.0) for name in outputs])  # getting does not integrate: what the states do
    for i, name in enumerate(outputs):
        variable = every.model[name]
        if variable.kind == "state":  # getting does not integrate: the derivative of a state is a variable of its own
            running.set(values)
            assert exact[i] == pytest.approx(running[f"der({name})"], rel=1e-15)  # complex division rounds otherwise
        elif variable.kind == "memory":
            assert exact[i] == 0.0
        elif 0 not in variable.depends:  # the clock does not stand still: tests/elements/test_prescribed_motion.py
            found = [(float(slope[i] + held[i]), float(rounding[i])) for slope, rounding in slopes]
            near = [exact[i] == pytest.approx(slope, rel=1e-6, abs=rounding + 1e-9) for slope, rounding in found]
            assert any(near), (name, exact[i], found)


def slopes_along(running: Running, case: Case, values: Values, rates: Values, h: float) -> list[Vector]:
    """Difference quotients of the outputs over 2 h along the motion: to both sides, to the left, to the right.  Where a
    kink or the end of a contact lies on one side of the point, the other has the slope at the point."""
    y = {}
    for k in (-2, -1, 1, 2, 0):
        running.set(moved(case, values, rates, k * h))
        y[k] = running.values(case.outputs)
    return [
        (8.0 * (y[1] - y[-1]) - (y[2] - y[-2])) / (12.0 * h),
        (3.0 * y[0] - 4.0 * y[-1] + y[-2]) / (2.0 * h),
        (4.0 * y[1] - 3.0 * y[0] - y[2]) / (2.0 * h),
    ]


def last_places(running: Running, values: Values, unknowns: list[str], rng: np.random.Generator) -> Vector:
    """The most that the unknowns change where every input is a neighbour, among the doubles, of what it is.  The size
    of a sum says nothing of its rounding: the sum of all forces of an element is zero but for rounding."""
    running.set(values)
    here = running.values(unknowns)
    most = np.zeros_like(here)
    for _ in range(8):
        ways = rng.choice((-math.inf, math.inf), len(values))
        running.set({name: math.nextafter(x, way) for (name, x), way in zip(values.items(), ways, strict=True)})
        most = np.maximum(most, np.abs(running.values(unknowns) - here))
    running.set(values)
    return most


# Of elements and assemblies whose outputs follow inputs; drives by inputs are those of no recipe of the catalogue.
HELD = ("PointSurface", "PointLine2")  # with the literal law
SLOPED = (*HELD, "PointToPointSpring", "RigidBody", "TwoDPointTheta", "ImpactDamper", "FourBar")
DRIVEN = """
element = "planar_mechanism"
[[body]]
name = "crank"
joint = "revolute"
mass = "1 kg"
inertia = "0.1 kg.m2"
motion = "inputs"
[[body]]
name = "arm"
joint = "revolute"
mass = "2 kg"
inertia = "0.2 kg.m2"
place = ["0.3 m", 0]
centre = ["0.2 m", 0]
"""


def smooth_inputs(fmu: Fmu) -> dict[str, float]:
    """Inputs in contact, or off the axis of a line, where nothing has a kink."""
    rng = np.random.default_rng(4)
    values = {
        v.name: 0.1 * rng.uniform(0.5, 1.0)
        for v in fmu.description.modelVariables
        if v.causality == "input" and v.type == "Real"
    }
    for name in values:
        if name.endswith(("surface.r[3]", "point.r[3]")):
            values[name] = -1e-3 if name.startswith("point") else 0.0
        if ".q[" in name:
            values[name] = 1.0 if name.endswith("[1]") else 0.01
    return values


@pytest.fixture(scope="module", params=[*SLOPED, "Driven"])
def sloped(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    folder = tmp_path_factory.mktemp("sloped")
    if request.param == "Driven":
        return build(folder, "Driven", DRIVEN)
    return (load_literal if request.param in HELD else load_shipped)(request.param, folder)


def test_output_derivatives_count_the_slopes_of_the_inputs_of_the_step(sloped: Fmu) -> None:
    """Against differences of the outputs over the last part of a step whose inputs are extrapolated."""
    values, h, last = smooth_inputs(sloped), 1e-4, 1e-6
    rng = np.random.default_rng(5)
    slopes = {name: float(rng.uniform(-1.0, 1.0)) for name in values}
    outputs = [
        v.name
        for v in sloped.description.modelVariables
        if v.causality == "output" and v.type == "Real" and v.variability == "continuous"
    ]

    def at(time: float) -> Running:
        running = Running(sloped, values, tolerance=1e-12)
        running.rates(slopes)
        running.step(time)
        return running

    exact = at(h).output_rates(outputs)
    y = [at(h + k * last).values(outputs) for k in (-2, -1, 1, 2)]
    central = (8.0 * (y[2] - y[1]) - (y[3] - y[0])) / (12.0 * last)
    rounding = 1e-14 * np.abs(y[0]) / last
    assert np.abs(exact).max() > 0.0
    assert exact == pytest.approx(central, rel=1e-5, abs=rounding.max() + 1e-6)


def test_slopes_of_a_step_end_with_the_next_one_or_with_new_ones(floor: Fmu) -> None:
    """The force on a plane of 1e5 N/m: the slope of the depth counts, which is the speed where none is given."""
    still = {"point.r": (0.0, 0.0, -1e-3), "point.v": (0.0, 0.0, -0.25), "C_F": 1e5, "C_r": 1.0}
    running = Running(floor, still)
    for slopes, expected in (({}, 0.25e5), ({"point.r[3]": -2.0}, 2e5), ({}, 0.25e5), ({"point.v[3]": 1.0}, 0.25e5)):
        running.set({"point.r[3]": -1e-3, "point.v[3]": -0.25})
        if slopes:
            running.rates(slopes)
        running.step(1e-6)
        speed = 0.25 - slopes.get("point.v[3]", 0.0) * 1e-6
        assert running.output_rates(["point.f[3]"])[0] == pytest.approx(expected * speed / 0.25, rel=1e-12)
    running.rates({"point.r[3]": -3.0})  # of the step to come
    assert running.output_rates(["point.f[3]"])[0] == pytest.approx(3e5, rel=1e-12)


def test_turning_body_turns_its_normal(floor: Fmu) -> None:
    """n' = w x n, whatever the length of the quaternion."""
    q, w = 1.3 * np.array([0.5, -0.5, 0.5, 0.5]), np.array([0.3, -2.0, 1.1])
    running = Running(floor, {"surface.q": q, "surface.w": w, "point.r": (0.1, 0.2, 0.3)})
    running.step(0.01)
    names = [f"normal[{i}]" for i in (1, 2, 3)]
    assert running.output_rates(names) == pytest.approx(np.cross(w, running.vector("normal")), rel=1e-14)


@pytest.mark.parametrize("order", [2, 3, 7])
def test_higher_derivatives_are_answered_with_zero(every: Case, order: int) -> None:
    running = somewhere(every, 3)
    running.step(1e-3)
    assert not running.output_rates(every.outputs, order).any()


def test_orders_of_one_call_may_differ(floor: Fmu) -> None:
    running = Running(floor, {"point.v": (0.0, 0.0, -1.0), "point.r": (0.0, 0.0, -1e-3)})
    running.step(1e-3)
    vr, found = references(*[floor.references["depth"]] * 2), reals(9.0, 9.0)
    assert running.slave.call("fmi2GetRealOutputDerivatives", vr, 2, integers(2, 1), found) == OK
    assert list(found) == [0.0, 1.0]


@pytest.mark.parametrize(
    ("name", "order", "said"),
    [
        ("depth", 0, "order 0 of depth"),
        ("depth", -1, "order -1 of depth"),
        ("point.r[1]", 1, "point.r[1] is no output"),
        ("energy.elastic", 1, "energy.elastic is no output"),
        ("contact_count", 1, "contact_count is of type Integer"),
    ],
)
def test_refused_output_derivatives_are_named(floor: Fmu, name: str, order: int, said: str) -> None:
    running = Running(floor, {"point.r": (0.0, 0.0, 1.0)})
    running.step(1e-3)
    vr, found = references(floor.references[name]), reals(9.0)
    assert running.slave.call("fmi2GetRealOutputDerivatives", vr, 1, integers(order), found) == ERROR
    assert said in only(running.slave.importer.messages).text
    assert found[0] == 9.0


def test_output_derivatives_need_a_slave_that_can_step(floor: Fmu) -> None:
    slave = floor.slave()
    vr, found = references(floor.references["depth"]), reals(9.0)
    assert slave.setup() == OK
    for call in ("fmi2EnterInitializationMode", "fmi2ExitInitializationMode"):
        assert slave.call("fmi2GetRealOutputDerivatives", vr, 1, integers(1), found) == ERROR
        assert slave.call(call) == OK
    assert slave.call("fmi2GetRealOutputDerivatives", vr, 1, integers(1), found) == OK


# ---- what depends on what --------------------------------------------------------------------------------------------

# q = (cos(a/2), n sin(a/2)): the components of a quaternion are declared together, though the first knows no axis n.
UNSEEN = {("port.q[1]", f"axis[{k}]") for k in (1, 2, 3)}
# What is 0 or 1 has no slope, and nothing but slopes tells of states.
UNSEEN |= {("der(floor.contact_time)", state) for state in ("ball.p.r[1]", "ball.p.r[2]", "height")}
# A step from a random point leaves the wall too fast for the damping to be within its limits; der(w) shows both.
UNSEEN |= {("p.F", "w"), ("normal_force", "w")}
BALLS = ("PointSphere", "PointBowl")  # without an orientation; and no turning moves them along the normal
# On a straight line the foot moves along the line only, and its direction not at all.
STRAIGHT = ("GuideRail",)
# The shares of the force on a line matter only where several bodies carry it; that forces balance, to no one.
SHARES = ("forceZone", "balance.force")
# The side of VectorFr2 matters to a law that is not odd; of linear forces only to what is counted along V2.
ALONG_V2 = ("delta2", "F_r2", "P2")
FEWEST, MOST = 10, 300  # random points: from 10 on it may end where every declared dependency has shown


# Random states do not meet the contact of every assembly; theirs follow from those of the parts, as those of Ball show.
# Nor do random coordinates close a mechanism: tests/elements/test_planar_mechanism.py.
MECHANISMS = [path.stem for path in catalogue() if read_toml(path).get("element") == "planar_mechanism"]


@pytest.fixture(scope="module", params=[*recipes(of_elements=True, without=MECHANISMS), *OTHERS, *SLOW])
def dependent(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = tmp_path_factory.mktemp("dependent")
    return case(recipe_of(request.param, folder), folder)


def random_known(model: Model, name: str, rng: np.random.Generator) -> float:
    """A legal value of a parameter, or of a switch, that may well change what follows."""
    v = model[name]
    if v.type == "bool":
        return float(rng.random() < 0.9)
    low, high = v.min if v.min is not None else v.above, v.max if v.max is not None else v.below
    if v.unit.name == "m" and low is not None:
        return min(float(rng.choice((4e-3, 1.0))), math.inf if high is None else high)
    if low is not None and high is not None:
        return float(rng.uniform(low, high))
    if v.type == "int" and low is not None:
        return low + float(rng.integers(3))
    if v.name.startswith("deflection0["):  # of a bristle that sticks, or slips
        return float(rng.choice((1e-3, 1.0)) * rng.uniform(-1.0, 1.0))
    if v.name.startswith("center["):  # no farther from the axis of a pendulum than its moment of inertia allows
        return float(rng.uniform(-0.2, 0.2))
    if v.unit.name == "kg.m2":  # together the tensor of a body
        product = float(rng.uniform(0.98, 1.02) * v.start or rng.uniform(-2e-4, 2e-4))
        return product if low is None else abs(product)
    within = rng.choice((0.01, 1.0)) if v.unit.name == "s/m" else 1.0  # damping and friction within their limits
    return float(within * rng.uniform(0.3, 1.7) * (v.start or 1.0))


def inputs_and_parameters(model: Model) -> list[str]:
    """Those of the element: nothing depends on how the solver is set."""
    return [v.name for v in model.by_kind("fixed", "tunable", "input") if not v.name.startswith("solver.")]


def random_point(case: Case, rng: np.random.Generator) -> dict[str, float]:
    return {name: random_known(case.model, name, rng) for name in case.parameters} | random_inputs(case, rng)


def shown(
    running: Running, case: Case, unknowns: list[str], knowns: list[str], point: Values, rng: np.random.Generator
) -> set[tuple[str, str]]:
    """(unknown, known) of all unknowns that change when that known alone gets another value."""
    model, found, inputs = case.model, set(), random_inputs(case, rng)
    before = running.mixed(unknowns)
    for name in knowns:
        if model[name].type == "bool":
            other = 1.0 - point[name]
        else:
            other = inputs[name] if name in inputs else random_known(model, name, rng)
        if model[name].unit.name in ("m/s", "rad/s"):
            other *= 100.0  # turns compression to restitution
        running.set({name: other})
        after = running.mixed(unknowns)
        found |= {(u, name) for u, a, b in zip(unknowns, before, after, strict=True) if a != b}
        running.set({name: point[name]})
    assert running.mixed(unknowns) == before
    return found


def is_rare(pair: tuple[str, str]) -> bool:
    """`stick` is 0 or 1, and random points hardly lie at the limit; what it depends on, friction_force shows."""
    return pair[0].startswith("stick")


# where `beat` rises, and behind a tick of `carry`, alone: test_probe_clock.py
OF_TICKS = {"outputs": ("sampled", "u"), "initialUnknowns": ("echo_waits", "echo")}


def declared(case: Case, group: str) -> tuple[list[str], set[tuple[str, str]]]:
    """Unknowns, and pairs (unknown, known) without those that no value shows and those with time, which have a test of
    their own, as Strings have (test_probes.py)."""
    listed = [u for u in getattr(case.fmu.description, group) if u.variable.type != "String"]
    pairs = {(u.variable.name, d.name) for u in listed for d in u.dependencies}
    unseen = {(u, d) for u, d in pairs if "surface.q" in d or (u, d[:-3]) == ("phase", "surface.w")}
    unseen = unseen if case.model.name in BALLS else set()
    unseen |= {(u, d) for u, d in pairs if d in SHARES or u in SHARES}
    unseen |= {(u, d) for u, d in pairs if d.startswith("VectorFr2") and u not in ALONG_V2}
    unseen |= set(filter(is_rare, pairs))
    unseen |= {OF_TICKS.get(group, ("", ""))}
    if "spin_energy" in case.model:  # turns a body without moments whose attitude errs: test_rigid_body.py
        pushes = ("frame.t", "point.f", "attach.f", "attach.t", "point.offset", "attach.offset", "spin_energy")
        turned = {(u, d) for u, d in pairs if u.startswith("der(frame.q")}
        unseen |= {(u, d) for u, d in turned if re.sub(r"\[\d+\]", "", d) in pushes}
    if case.model.name in STRAIGHT:
        unseen |= {(u, d) for u, d in pairs if "interpolation" in u or ("anisotropy" in u and ".v[" in d)}
    return [u.variable.name for u in listed], {(u, d) for u, d in pairs if d != "time"} - UNSEEN - unseen


def look(
    case: Case, group: str, seed: int, at: Callable[[Callable[[], Values], np.random.Generator], set[tuple[str, str]]]
) -> None:
    """Look at random points until every declared dependency has shown; none may show that is not declared."""
    _, expected = declared(case, group)
    rng, found = np.random.default_rng(seed), set[tuple[str, str]]()
    for k in range(MOST):
        if k >= FEWEST and found >= expected:
            break
        found |= {pair for pair in at(lambda: random_point(case, rng), rng) if not is_rare(pair)}
    assert found - expected == set()  # nothing is missing
    assert expected - found == set()  # nothing is too much


def test_initial_unknowns_depend_on_what_is_declared_and_on_nothing_else(dependent: Case) -> None:
    model, (unknowns, _) = dependent.model, declared(dependent, "initialUnknowns")
    knowns = inputs_and_parameters(model)

    def at(draw: Callable[[], Values], rng: np.random.Generator) -> set[tuple[str, str]]:
        running, point = Running.in_initialization(dependent.fmu, time=0.3), draw()
        running.set(point)
        return shown(running, dependent, unknowns, knowns, point, rng)

    look(dependent, "initialUnknowns", 5, at)


def test_what_depends_on_time_says_so_and_nothing_else_does(dependent: Case) -> None:
    rng, changing = np.random.default_rng(8), set[str]()
    unknowns, _ = declared(dependent, "initialUnknowns")
    for _ in range(FEWEST):
        point, values = random_point(dependent, rng), []
        for time in (0.3, 0.7):
            running = Running.in_initialization(dependent.fmu, time=time)
            running.set(point)
            values.append(running.mixed(unknowns))
        changing |= {name for name, a, b in zip(unknowns, *values, strict=True) if a != b}
    groups = (dependent.fmu.description.initialUnknowns, dependent.fmu.description.outputs)
    memory = {v.name for v in dependent.model.by_kind("memory")}  # later it changes at accepted points only
    for group, constant in zip(groups, (set(), memory), strict=True):
        listed = {u.variable.name for u in group if "time" in [d.name for d in u.dependencies]}
        assert listed == (changing - constant) & {u.variable.name for u in group}


def shown_of_states(running: Running, model: Model, unknowns: list[str]) -> set[tuple[str, str]]:
    """(unknown, state) of all Reals but memory whose partial derivative is not zero."""
    smooth = [name for name in unknowns if model[name].type == "real" and model[name].kind != "memory"]
    found = set()
    for state in model.by_kind("state"):
        slopes = running.directional(smooth, {state.name: 1.0})
        found |= {(unknown, state.name) for unknown, slope in zip(smooth, slopes, strict=True) if slope}
    return found


def test_outputs_depend_on_what_is_declared_and_on_nothing_else(dependent: Case) -> None:
    model, (unknowns, _) = dependent.model, declared(dependent, "outputs")
    inputs = [v.name for v in model.by_kind("input")]

    def at(draw: Callable[[], Values], rng: np.random.Generator) -> set[tuple[str, str]]:
        point, running = started(dependent, draw)
        running.step(1e-3)
        found = shown(running, dependent, unknowns, inputs, point, rng)
        return found | shown_of_states(running, model, unknowns)

    look(dependent, "outputs", 6, at)


def test_derivatives_depend_on_what_is_declared_and_on_nothing_else(dependent: Case) -> None:
    model, (unknowns, _) = dependent.model, declared(dependent, "derivatives")
    inputs = [v.name for v in model.by_kind("input")]

    def at(draw: Callable[[], Values], rng: np.random.Generator) -> set[tuple[str, str]]:
        point, running = started(dependent, draw)
        found = shown(running, dependent, unknowns, inputs, point, rng)
        return found | shown_of_states(running, model, unknowns)

    look(dependent, "derivatives", 7, at)


def test_derivative_at_rest_is_that_of_the_friction_ramp(floor: Fmu) -> None:
    """Without slip the force is zero and its slope -K_fr N k_T in every tangential direction."""
    running = Running(floor, {"point.r": (0.0, 0.0, -1e-3), "C_F": 1e5, "K_fr": 0.25, "k_T": 64.0})
    for known, expected in (("point.v[1]", (-1600.0, 0.0)), ("point.v[2]", (0.0, -1600.0))):
        found = running.directional(["point.f[1]", "point.f[2]", "slip_speed", "friction_force"], {known: 1.0})
        assert list(found) == [*expected, 0.0, 0.0]
