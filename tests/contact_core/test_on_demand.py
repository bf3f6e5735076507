"""Outputs and locals on demand: computed where they are read, and only there; nothing else can tell."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from fmi2 import MODEL_EXCHANGE, OK, Fmu, load_shipped
from running import Running, build

from fmu_builder.export import fmu as fmu_module
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import shipped

# A decay x' = -x + u whose potential x^2/2 counts how often it was computed.
DECAY = """
description = "Decay with a potential that counts"
[parameters]
x0 = { start = 1.0, fixed = true, description = "Value at the start" }
[inputs]
u = { description = "What is added" }
[states]
x = { start = "x0", depends = ["x", "u"], output = true, description = "What decays" }
[locals]
potential = { depends = ["x"], on_demand = true, description = "Half of the square of x" }
count = { depends = [], on_demand = true, description = "How often the potential was computed" }
"""
DECAY_C = """
#ifndef CC_DUAL
static double count;
#endif
static void outputs(Element *e)
{
    e->potential = 0.5 * e->x * e->x;
#ifndef CC_DUAL
    e->count = ++count;
#endif
}
static void rates(Element *e) { (void)e; }
static void derivatives(Element *e) { e->der.x = -e->x + e->u; }
"""
SINK = """
description = "Sum of an input over time"
[inputs]
u = { description = "Input" }
[states]
x = { output = true, depends = ["u"], description = "Integral of u" }
"""
SINK_C = """
static void outputs(Element *e) { (void)e; }
static void derivatives(Element *e) { e->der.x = e->u; }
"""
LAW = 'element = "point_surface"\n[surface]\nkind = "plane"\n[functions]\nC_F = "1e5[N/m]*h*exp(#h/1[mm])"\n'


@pytest.fixture(autouse=True)
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter, and what is forgotten, are against the rules of an element, and builds refuse them."""
    monkeypatch.setattr(fmu_module, "element_problems", lambda *_: [])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the recipes Decay and Sink."""
    folder = tmp_path_factory.mktemp("on_demand")
    for name, declaration, code in (("Decay", DECAY, DECAY_C), ("Sink", SINK, SINK_C)):
        place = folder / "elements" / name.lower()
        place.mkdir(parents=True)
        (place / "element.toml").write_text(declaration, encoding="utf-8")
        (place / "element.c").write_text(code, encoding="utf-8")
        (folder / f"{name}.toml").write_text(f'element = "{name.lower()}"\n', encoding="utf-8")
    return folder


def test_steps_leave_it_out_and_reading_computes_it_once(folder: Path) -> None:
    running = Running(build(folder, "Decay", 'element = "decay"\n'))
    before = running["count"]
    assert running["count"] == before
    for k in range(20):
        running.set({"u": 0.1 * k})
        running.step(0.01)
        assert running["x"] > 0.0
    assert running["potential"] == 0.5 * running["x"] ** 2 != 0.5
    assert running["count"] == running["count"] == before + 1
    running.set({"u": 0.25})
    assert running["potential"] == 0.5 * running["x"] ** 2
    assert running["count"] == before + 2
    running.step(1.0)
    assert running.directional(["potential"], {"x": 1.0}) == pytest.approx(running["x"], rel=1e-15)


def test_a_step_after_which_one_could_not_be_read_is_refused(folder: Path) -> None:
    fmu = build(folder, "Decay", 'element = "decay"\n')
    running = Running(fmu, {"u": 1e150})
    running.step(1.0)
    assert running["potential"] == 0.5 * running["x"] ** 2
    assert running["x"] == pytest.approx(1e150 * (1.0 - math.exp(-1.0)), rel=1e-8)
    running.set({"u": 1e200})
    with pytest.raises(AssertionError):
        running.step(1.0)
    assert running.told[-1] == "fmi2DoStep: potential is not finite after the step from 1 s to 2 s"


def test_another_part_has_it_at_every_point(folder: Path) -> None:
    """The integral of x^2/2 of x = e^-t is (1 - e^-2t)/4."""
    (folder / "Inner.toml").write_text('[parts]\ndecay = "Decay"\n[expose.outputs]\nU = "decay.potential"\n', "utf-8")
    text = 'connections = [["inner.U", "sink.u"]]\n[parts]\ninner = "Inner"\nsink = "Sink"\n'
    running = Running(build(folder, "Outer", text))
    for k in range(1, 5):
        running.step(0.25)
        assert running["sink.x"] == pytest.approx((1.0 - math.exp(-0.5 * k)) / 4.0, rel=1e-8)
        assert running["sink.u"] == 0.5 * running["inner.decay.x"] ** 2


def points(fmu: Fmu, reads: bool) -> list[bytes]:
    """Model exchange at points that jump about: bits of derivatives, indicators and, at every fifth point, which is
    accepted, of all variables.  `reads`: all variables are read first at every point, so that all is computed."""
    rng = random.Random(3)
    slave = fmu.slave(kind=MODEL_EXCHANGE)
    slave.initialize()
    assert slave.call("fmi2EnterContinuousTimeMode") == OK
    variables = fmu.description.modelVariables
    inputs = [v.name for v in variables if v.causality == "input" and v.type == "Real" and ".q[" not in v.name]
    start, bits = slave.continuous_states(), []
    for k in range(1, 41):
        scale = 10.0 ** rng.uniform(-4.0, -1.0)
        x = [value + scale * rng.uniform(-1.0, 1.0) for value in start]
        assert slave.call("fmi2SetTime", 1e-3 * k) == OK
        assert slave.set_states(x) == OK
        assert slave.set({name: scale * rng.uniform(-1.0, 1.0) for name in inputs}) == OK
        if reads:
            slave.all_values()
        bits.append(repr((slave.derivatives(), slave.indicators())).encode())
        if k % 5 == 0:
            status, _, _ = slave.completed_step()
            assert status == OK
            bits.append(slave.all_values())
    slave.free()
    return bits


# Recipes of all elements that leave something out, and an assembly.
NAMES = ("Pendulum", "PointSurface", "BouncingBall", "PointLine1", "PointLine2", "RigidBlock", "BodySurface")


def test_every_element_that_leaves_something_out_is_compared() -> None:
    declared = {
        p.parent.name for p in shipped("elements").glob("*/element.toml") if "on_demand" in p.read_text("utf-8")
    }
    compared = {read_toml(shipped("fmus") / f"{name}.toml").get("element") for name in NAMES}
    assert declared <= compared


@pytest.mark.parametrize("name", NAMES)
def test_leaving_out_changes_no_bit(tmp_path: Path, name: str) -> None:
    fmu = load_shipped(name, tmp_path)
    assert points(fmu, reads=True) == points(fmu, reads=False)


def test_leaving_out_the_integral_of_a_law_changes_no_bit(tmp_path: Path) -> None:
    fmu = build(tmp_path, "Floor", LAW)
    assert points(fmu, reads=True) == points(fmu, reads=False)


def test_a_function_rates_that_forgets_something_is_found(folder: Path) -> None:
    """Negative control of the comparison."""
    place = folder / "elements" / "forgetful"
    place.mkdir()
    extra = 'y = { depends = ["x"], description = "Twice x" }\n'
    (place / "element.toml").write_text(DECAY.replace("[locals]\n", f"[locals]\n{extra}"), encoding="utf-8")
    code = DECAY_C.replace("e->potential =", "e->y = 2.0 * e->x;\n    e->potential =").replace(
        "-e->x +", "-0.5 * e->y +"
    )
    (place / "element.c").write_text(code.replace("e->count = ++count", "e->count = 0.0"), encoding="utf-8")
    fmu = build(folder, "Forgetful", 'element = "forgetful"\n')
    assert points(fmu, reads=True) != points(fmu, reads=False)
