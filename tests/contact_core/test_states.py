"""The state vector of model exchange over the catalogue: its order, its Jacobian, and that no evaluation leaves a trace
in the next one."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from fmi2 import MODEL_EXCHANGE, OK, Fmu, Slave, load_shipped, reals, references
from numpy.typing import NDArray

from fmu_builder.paths import catalogue

Vector = NDArray[np.float64]

# One of each form; the others are slow.
FORMS = (
    "BarOnFloor",
    "CamChainLiftOff",
    "EccentricCam",
    "ImpactDamper",
    "PointLine2",
    "PointSphere",
    "PointSurfaceBristle",
    "PrescribedMotion",
    "RigidBody",
    "SlidingRod",
    "TwoDBody",
)
EVERY = [path.stem if path.stem in FORMS else pytest.param(path.stem, marks=pytest.mark.slow) for path in catalogue()]
MOST_COLUMNS = 60  # of the Jacobian, at random, of an FMU with more states
# How far random points lie from the start, by the unit of a state.
SPREADS = {"m": 1e-3, "rad": 1e-2, "m/s": 0.1, "rad/s": 0.5}


@dataclass
class Point:
    """What an importer of model exchange sets."""

    time: float
    states: Vector
    inputs: Vector


@dataclass
class Exchange:
    """An instance in continuous-time mode; states, derivatives and inputs by the names of modelDescription.xml."""

    fmu: Fmu
    slave: Slave = field(init=False)
    start: Point = field(init=False)

    def __post_init__(self) -> None:
        self.slave = self.fmu.slave(kind=MODEL_EXCHANGE)
        self.slave.initialize()
        assert self.slave.new_discrete_states()[0] == OK
        assert self.slave.call("fmi2EnterContinuousTimeMode") == OK
        self.start = Point(0.0, np.array(self.slave.continuous_states()), np.array(self.slave.get(*self.inputs)))

    @cached_property
    def states(self) -> list[str]:
        return [unknown.variable.derivative.name for unknown in self.fmu.description.derivatives]

    @cached_property
    def derivatives(self) -> list[str]:
        return [unknown.variable.name for unknown in self.fmu.description.derivatives]

    @cached_property
    def reinit(self) -> set[str]:
        """States that modelDescription.xml lets the FMU change at events; fmpy leaves the attribute out."""
        with zipfile.ZipFile(self.fmu.file) as archive:
            description = ElementTree.fromstring(archive.read("modelDescription.xml"))
        return {
            v.attrib["name"] for v in description.iter("ScalarVariable") if v.find("Real[@reinit='true']") is not None
        }

    @cached_property
    def inputs(self) -> list[str]:
        return [v.name for v in self.fmu.description.modelVariables if v.causality == "input" and v.type == "Real"]

    @cached_property
    def spreads(self) -> Vector:
        units = [unknown.variable.derivative.unit for unknown in self.fmu.description.derivatives]
        return np.array([SPREADS.get(unit, 1e-2) for unit in units])

    def place(self, point: Point) -> None:
        assert self.slave.call("fmi2SetTime", point.time) == OK
        assert self.slave.set_states(point.states) == OK
        assert self.slave.set(dict(zip(self.inputs, point.inputs, strict=True))) == OK

    def random_point(self, rng: np.random.Generator) -> Point:
        """Near the start, where all derivatives are finite; orientations keep a length near one."""
        for _ in range(20):
            states = self.start.states + self.spreads * rng.uniform(-1.0, 1.0, len(self.states))
            inputs = self.start.inputs + 1e-2 * rng.uniform(-1.0, 1.0, len(self.inputs))
            point = Point(rng.uniform(0.0, 1e-3), states, inputs)
            self.place(point)
            if self.slave.call("fmi2GetDerivatives", reals(*states), len(states)) == OK:
                return point
        raise AssertionError(f"no finite point near the start: {self.slave.importer.texts[-1]}")

    def slopes(self) -> Vector:
        return np.array(self.slave.derivatives())

    def column(self, state: str) -> Vector:
        """d derivatives / d state by fmi2GetDirectionalDerivative."""
        numbers, n = self.fmu.references, len(self.derivatives)
        found = reals(*[np.nan] * n)
        unknowns = references(*(numbers[name] for name in self.derivatives))
        known = references(numbers[state])
        status = self.slave.call("fmi2GetDirectionalDerivative", unknowns, n, known, 1, reals(1.0), found)
        assert status == OK, self.slave.importer.texts
        return np.array(found)


@pytest.fixture(scope="module", params=EVERY)
def fmu(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped(request.param, tmp_path_factory.mktemp("states"))


def with_states(fmu: Fmu) -> Exchange:
    if not fmu.description.numberOfContinuousStates:
        pytest.skip("without states")
    return Exchange(fmu)


@pytest.mark.slow
def test_states_derivatives_and_nominals_stand_in_the_order_of_the_model_structure(fmu: Fmu) -> None:
    exchange = Exchange(fmu)
    n = len(exchange.states)
    assert n == fmu.description.numberOfContinuousStates
    distinct = exchange.start.states + 1e-6 * (1.0 + np.arange(n))
    exchange.place(Point(0.0, distinct, exchange.start.inputs))
    assert exchange.slave.get(*exchange.states) == list(distinct) == exchange.slave.continuous_states()
    for seed in range(3):
        exchange.random_point(np.random.default_rng(seed))
        assert exchange.slave.derivatives() == exchange.slave.get(*exchange.derivatives)
    nominals = [float(unknown.variable.derivative.nominal or 1.0) for unknown in fmu.description.derivatives]
    assert exchange.slave.nominals() == nominals
    references_of = [fmu.references[name] for name in exchange.states]
    assert references_of == sorted(references_of)
    assert sorted(fmu.references[name] for name in exchange.derivatives) == [
        fmu.references[name] for name in exchange.derivatives
    ]


@pytest.mark.parametrize("seed", range(2))
def test_columns_of_the_jacobian_are_the_limits_of_differences(fmu: Fmu, seed: int) -> None:
    """Through fmi2SetContinuousStates and fmi2GetDerivatives, by position, against directional derivatives by name."""
    exchange = Exchange(fmu)
    point = exchange.random_point(np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    columns = sorted(rng.permutation(len(exchange.states))[:MOST_COLUMNS])
    exact = {k: exchange.column(exchange.states[k]) for k in columns}
    value = np.abs(exchange.slopes()).max(initial=1.0)
    smooth = 0
    for k in columns:
        h = 1e-4 * exchange.spreads[k]
        y = {}
        for place in (-2, -1, 1, 2, 0):
            states = point.states.copy()
            states[k] += place * h
            exchange.place(Point(point.time, states, point.inputs))
            y[place] = exchange.slopes()
        central = (8.0 * (y[1] - y[-1]) - (y[2] - y[-2])) / (12.0 * h)
        left, right = (y[0] - y[-2]) / (2.0 * h), (y[2] - y[0]) / (2.0 * h)
        rounding = 1e-13 * (value + np.abs(exact[k]) * max(abs(point.states[k]), 1.0)) / h
        kinked = np.abs(left - right) > 1e-3 * np.maximum(np.abs(left), np.abs(right)) + rounding
        agree = np.abs(exact[k] - central) <= 1e-6 * np.abs(exact[k]).max(initial=1.0) + rounding
        wrong = np.flatnonzero(~agree & ~kinked)
        assert not wrong.size, (exchange.states[k], [(exchange.derivatives[i], exact[k][i], central[i]) for i in wrong])
        smooth += int(agree.sum())
    assert smooth >= 0.95 * len(columns) * len(exchange.states)


# All states that these may change; some do near their start.
JUMPING = {
    "CamChainLiftOff": {f"integrated[{i}].{name}" for i in (1, 2, 3, 4) for name in ("q", "qd")},
    "BarOnFloor": {f"floor.deflection[{i},{k}]" for i in (1, 2) for k in (1, 2)}
    | {"floor.energy.friction", "body.spin_energy"},
}


def test_states_that_the_fmu_changes_say_so(fmu: Fmu) -> None:
    """Accepted points anywhere near the start, where contacts end and constraints are not met."""
    changed, reinit = set[str](), set[str]()
    for seed in range(10):
        exchange = Exchange(fmu)
        reinit = exchange.reinit
        point = exchange.random_point(np.random.default_rng(seed))
        status, enter, _ = exchange.slave.completed_step()
        if status != OK:  # no point of this model: said so, and not for a state
            assert not any("reinit" in text for text in exchange.slave.importer.texts)
            continue
        after = exchange.slave.continuous_states()
        moved = {n for n, a, b in zip(exchange.states, point.states, after, strict=True) if a != b}
        assert moved <= reinit
        if moved:
            assert enter
            assert exchange.slave.call("fmi2EnterEventMode") == OK
            assert exchange.slave.new_discrete_states()[1].valuesOfContinuousStatesChanged
        changed |= moved
    expected = JUMPING.get(fmu.name)
    assert expected is None or (changed and reinit == expected)


# ---- no evaluation leaves a trace in the next one --------------------------------------------------------------------


def wild_point(exchange: Exchange, rng: np.random.Generator) -> Point:
    """Anywhere, near the start or far off."""
    far = 10.0 ** rng.uniform(-3.0, 3.0)
    states = exchange.start.states + far * exchange.spreads * rng.uniform(-1.0, 1.0, len(exchange.states))
    inputs = exchange.start.inputs + far * 1e-2 * rng.uniform(-1.0, 1.0, len(exchange.inputs))
    return Point(rng.uniform(0.0, 2.0), states, inputs)


def evaluate(exchange: Exchange) -> None:
    """Ask for all that can be asked for, whatever the answer: a trial point may be none of the model."""
    slave, description = exchange.slave, exchange.fmu.description
    n, ni = len(exchange.states), description.numberOfEventIndicators
    slave.call("fmi2GetDerivatives", reals(*[0.0] * n), n)
    slave.call("fmi2GetEventIndicators", reals(*[0.0] * ni), ni)
    names = exchange.fmu.names("Real")
    vr = references(*(exchange.fmu.references[name] for name in names))
    slave.call("fmi2GetReal", vr, len(names), reals(*[0.0] * len(names)))
    slave.importer.messages.clear()


def all_bits(exchange: Exchange) -> bytes:
    slave = exchange.slave
    vectors = (*slave.derivatives(), *slave.indicators(), *slave.continuous_states())
    return np.array(vectors).tobytes() + slave.all_values()


@pytest.mark.parametrize("seed", range(2))
def test_trial_points_change_no_bit_of_the_next_evaluation(fmu: Fmu, seed: int) -> None:
    exchange, rng = Exchange(fmu), np.random.default_rng(seed)
    point = exchange.random_point(rng)
    before = all_bits(exchange)
    for _ in range(3):
        for _ in range(int(rng.integers(1, 12))):
            exchange.place(wild_point(exchange, rng))
            evaluate(exchange)
        exchange.place(point)
        assert all_bits(exchange) == before


def test_values_read_between_steps_change_no_bit_of_the_run(fmu: Fmu) -> None:
    """Of two instances with the same inputs at all steps, one is asked for values at other inputs in between."""
    names = [v.name for v in fmu.description.modelVariables if v.causality == "input" and v.type == "Real"]
    outputs = references(*(fmu.references[name] for name in fmu.names("Real")))
    rng, h = np.random.default_rng(7), 1e-4
    quiet, asked = fmu.slave(), fmu.slave()
    quiet.initialize(), asked.initialize()
    start = np.array(quiet.get(*names))
    for k in range(10):
        inputs = start + 1e-3 * rng.uniform(-1.0, 1.0, len(names))
        for _ in range(int(rng.integers(1, 5))):
            far = 10.0 ** rng.uniform(-5.0, 1.0)
            assert asked.set(dict(zip(names, start + far * rng.uniform(-1.0, 1.0, len(names)), strict=True))) == OK
            asked.call("fmi2GetReal", outputs, len(outputs), reals(*[0.0] * len(outputs)))
        for slave in (quiet, asked):
            assert slave.set(dict(zip(names, inputs, strict=True))) == OK
            assert slave.step(k * h, h) == OK, slave.importer.texts
        if names:
            assert asked.state() == quiet.state()
    assert asked.all_values() == quiet.all_values()


# The memory of bodies only counts: whatever was accepted before, the same point has the same values.
BODIES = ("RigidBody", "RigidBlock", "TwoDBody", "PointMass")


def accepted(exchange: Exchange, point: Point) -> None:
    exchange.place(point)
    status, enter, _ = exchange.slave.completed_step()
    assert status == OK, exchange.slave.importer.texts
    if enter:
        assert exchange.slave.call("fmi2EnterEventMode") == OK
        assert exchange.slave.new_discrete_states()[0] == OK
        assert exchange.slave.call("fmi2EnterContinuousTimeMode") == OK


@pytest.mark.parametrize("name", BODIES)
def test_values_are_those_of_the_point_whatever_was_accepted_before(name: str, tmp_path: Path) -> None:
    """Also of another attitude with the momentum that no moment has changed for two steps."""
    fmu, rng = load_shipped(name, tmp_path), np.random.default_rng(2)
    spin = [k for k, state in enumerate(Exchange(fmu).states) if state.startswith("spin")]
    old = Exchange(fmu)
    for k in range(20):
        point, trial = old.random_point(rng), old.random_point(rng)
        point.inputs = point.inputs * (k % 2) + 0.0
        trial.inputs = trial.inputs * (k % 3) + 0.0
        accepted(old, point)
        accepted(old, Point(point.time + 1e-3, point.states, point.inputs))
        trial.states[spin] = point.states[spin]
        new = Exchange(fmu)
        for exchange in (new, old):
            exchange.place(trial)
        assert new.slave.derivatives() == old.slave.derivatives()
        assert new.slave.all_values() == old.slave.all_values()
