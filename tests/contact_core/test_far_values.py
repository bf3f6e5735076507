"""Values far beyond any mechanism: a step that is answered with fmi2OK leaves values that can all be read."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from fmi2 import (
    CO_SIMULATION,
    ERROR,
    MODEL_EXCHANGE,
    OK,
    Fmu,
    Slave,
    integers,
    load_shipped,
    reals,
    recipes,
    references,
)
from running import build

from fmu_builder.model.loader import load_model
from fmu_builder.model.model import Variable
from fmu_builder.paths import shipped

ROUNDS, MOST_ROUNDS = 15, 200  # more than the first until a call is answered with fmi2OK
MOST_SUBSTEPS = 300  # or a solver that follows far values takes seconds for a step, until it gives up


def set_far(slave: Slave, variables: list[Variable], rng: random.Random) -> None:
    """Some of the variables to 1e40 .. 1e300, of either sign; values that are refused stay as they are."""
    for v in rng.sample(variables, min(len(variables), rng.choice((1, 1, 2, 6)))):
        slave.set({v.name: rng.choice((-1.0, 1.0)) * 10.0 ** rng.uniform(40.0, 300.0)})


def can_read_all(slave: Slave) -> bool:
    fmu = slave.fmu
    for kind, types in {"Real": ("Real",), "Integer": ("Integer", "Enumeration"), "Boolean": ("Boolean",)}.items():
        vr = references(*(fmu.references[name] for name in fmu.names(*types)))
        values = reals(*[0.0] * len(vr)) if kind == "Real" else integers(*[0] * len(vr))
        if slave.call(f"fmi2Get{kind}", vr, len(vr), values) != OK:
            return False
    return True


@pytest.mark.parametrize("kind", [CO_SIMULATION, MODEL_EXCHANGE], ids=["co-simulation", "model exchange"])
@pytest.mark.parametrize("name", recipes())
def test_what_is_answered_with_ok_can_be_read(name: str, kind: int, tmp_path: Path) -> None:
    """Energies and powers on demand are products of values, which overflow sooner than these."""
    fmu, model = load_shipped(name, tmp_path), load_model(shipped("fmus") / f"{name}.toml")
    moved = [v for v in model.variables if v.kind in ("input", "tunable") and v.type == "real" and not v.hidden]
    moved = [v for v in moved if not v.name.startswith("solver.")] or moved
    inputs = [v for v in moved if v.is_continuous_input]
    rng, done = random.Random(name), 0
    for number in range(MOST_ROUNDS):
        if number >= ROUNDS and done:
            break
        slave = fmu.slave(kind=kind)
        if "solver.max_substeps" in fmu.references:
            assert slave.set_integer("solver.max_substeps", MOST_SUBSTEPS) == OK
        slave.initialize()
        if kind == MODEL_EXCHANGE:
            for _ in range(2):
                set_far(slave, moved, rng)
                status, _ = slave.new_discrete_states()
                if status != OK:
                    break
                assert can_read_all(slave), slave.importer.texts
                done += 1
            continue
        for k in range(3):
            if rng.random() < 0.7 or not inputs:
                set_far(slave, moved, rng)
            else:  # inputs that get there within the step
                one = fmu.references[rng.choice(inputs).name]
                rate = reals(10.0 ** rng.uniform(150.0, 300.0))
                assert slave.call("fmi2SetRealInputDerivatives", references(one), 1, integers(1), rate) == OK
            if slave.step(k * 1e-3, 1e-3) != OK:
                break
            assert can_read_all(slave), slave.importer.texts
            done += 1
    assert done or not moved  # else this test shows nothing


def test_a_step_is_refused_whose_energy_overflows_and_names_it(tmp_path: Path) -> None:
    fmu = load_shipped("PointMass", tmp_path)
    slave = fmu.slave()
    slave.initialize()
    assert slave.set({"p.f[1]": 1e160}) == OK
    before = slave.get("time")
    assert slave.step(0.0, 1e-3) == ERROR
    assert "energy.kinetic is not finite after the step from 0 s to 0.001 s" in slave.importer.texts[-1]
    assert slave.get("time") == before


@pytest.mark.parametrize(("longest", "step"), [(1e6, 1e300), (1e-30, 1e-3)])
@pytest.mark.parametrize("name", ["Pendulum", "BouncingBall"])
def test_a_step_too_long_for_its_substeps_is_refused_at_once(
    name: str, longest: float, step: float, tmp_path: Path
) -> None:
    fmu: Fmu = load_shipped(name, tmp_path)
    slave = fmu.slave()
    assert slave.set_integer("solver.max_substeps", 2**31 - 1) == OK
    slave.initialize({"solver.max_step": longest})
    values = slave.all_values()
    assert slave.step(0.0, step) == ERROR
    assert "takes more than solver.max_substeps = 2.14748365e9 substeps of solver.max_step" in slave.importer.texts[-1]
    assert slave.all_values() == values


BLOW_UP = """
description = "x' = x^2, which has no value after t = 1/x0"
[states]
x = { start = 1.0, output = true, depends = ["x"], description = "State" }
[locals]
square = { depends = ["x"], description = "Square of x" }
"""
BLOW_UP_C = """
static void outputs(Element *e) { e->square = e->x * e->x; }
static void derivatives(Element *e) { e->der.x = e->square; }
"""


def test_substeps_that_do_not_move_the_clock_end_the_step_at_once(tmp_path: Path) -> None:
    """x = 1/(1 - t): towards t = 1 substeps of the order of 1 - t, down to the last place of the time."""
    (tmp_path / "elements" / "blow_up").mkdir(parents=True)
    (tmp_path / "elements" / "blow_up" / "element.toml").write_text(BLOW_UP, encoding="utf-8")
    (tmp_path / "elements" / "blow_up" / "element.c").write_text(BLOW_UP_C, encoding="utf-8")
    fmu = build(tmp_path, "BlowUp", 'element = "blow_up"\n')
    slave = fmu.slave()
    assert slave.set_integer("solver.max_substeps", 2**31 - 1) == OK
    slave.initialize()
    assert slave.step(0.0, 2.0) == ERROR
    assert re.search(r"the substeps are \S+ s long at 1 s and do not move the clock any more", slave.importer.texts[-1])
    assert slave.get("x") == [1.0]
