"""Which values get into an FMU, and what it says about those that do not: variable, value, unit, bound."""

from __future__ import annotations

import math
from collections.abc import Mapping

import fmpy
import numpy as np
import pytest
from fmi2 import DISCARD, ERROR, OK, Fmu, Importer, Slave, integers, only, reals, references, strings
from fmpy.model_description import ScalarVariable

LARGEST = 1.7976931348623157e308


def refused(slave: Slave, status: int, expected: int, before: bytes, *named: str) -> None:
    """The call answered with `expected`, named all this in one message, and changed nothing."""
    assert status == expected, slave.importer.texts
    message = only(slave.importer.messages)
    assert message.status == expected
    assert message.category == {DISCARD: "logStatusDiscard", ERROR: "logStatusError"}[expected]
    for name in named:
        assert name in message.text
    assert "  " not in message.text  # a missing unit leaves no gap
    assert slave.state() == before
    slave.importer.messages.clear()


def kept_out(v: ScalarVariable) -> int:
    """The answer to a value that a variable may not take: an importer may try another input, but no other parameter."""
    return ERROR if v.causality == "parameter" else DISCARD


# ---- references and types ----------------------------------------------------------------------------------------


def hidden_references(fmu: Fmu) -> list[int]:
    return sorted(set(range(max(fmu.references.values()))) - set(fmu.references.values()))


def test_an_unknown_or_hidden_reference_is_an_error_and_stores_nothing(surface: Fmu) -> None:
    slave = surface.slave()
    slave.initialize()
    before = slave.state()
    assert len(hidden_references(surface)) >= 3
    good = surface.references["point.r[1]"]
    for bad in [*hidden_references(surface), max(surface.references.values()) + 1, 12345, 2**32 - 1]:
        values = reals(5.0, 6.0)
        both = references(good, bad)
        named = "there is no variable with the value reference " + (str(bad) if bad < 10**9 else "4.29496")
        refused(slave, slave.call("fmi2SetReal", both, 2, values), ERROR, before, "fmi2SetReal: ", named)
        refused(slave, slave.call("fmi2GetReal", both, 2, values), ERROR, before, "fmi2GetReal: ", named)
        assert list(values) == [5.0, 6.0]
        refused(slave, slave.call("fmi2SetBoolean", both, 2, integers(1, 1)), ERROR, before)
        refused(slave, slave.call("fmi2GetInteger", references(bad), 1, integers(1)), ERROR, before, named)


def test_a_variable_of_another_type_is_an_error_that_names_both_types(surface: Fmu) -> None:
    slave = surface.slave()
    slave.initialize()
    before = slave.state()
    examples = {"Real": "point.r[1]", "Integer": "contact_count", "Boolean": "work"}
    for asked, array in (("Real", reals(1.0)), ("Integer", integers(1)), ("Boolean", integers(1))):
        for actual, name in examples.items():
            if actual == asked:
                continue
            vr = references(surface.references[name])
            for way in ("Get", "Set"):
                status = slave.call(f"fmi2{way}{asked}", vr, 1, array)
                refused(slave, status, ERROR, before, f"{name} is of type {actual}, not {asked}")
    for way in ("Get", "Set"):
        assert slave.call(f"fmi2{way}String", references(1), 1, strings(b"x")) == ERROR
        assert "no String variables" in only(slave.importer.messages).text
        slave.importer.messages.clear()


# ---- what may be set when ----------------------------------------------------------------------------------------


def computed(fmu: Fmu) -> list[str]:
    return [v.name for v in fmu.description.modelVariables if v.causality in ("output", "local", "independent")]


@pytest.mark.parametrize("mode", ["instantiated", "initialization", "step complete"])
def test_no_computed_variable_can_be_set(surface: Fmu, mass: Fmu, mode: str) -> None:
    for fmu in (surface, mass):
        slave = fmu.slave()
        assert slave.setup() == OK
        if mode != "instantiated":
            assert slave.call("fmi2EnterInitializationMode") == OK
        if mode == "step complete":
            assert slave.call("fmi2ExitInitializationMode") == OK
        before = slave.state()
        for name in computed(fmu):
            kind = fmu.types[name]
            array = reals(1.0) if kind == "Real" else integers(1)
            status = slave.call(f"fmi2Set{kind}", references(fmu.references[name]), 1, array)
            refused(slave, status, ERROR, before, f"{name} cannot be set at all: the FMU computes it")


def test_a_fixed_parameter_can_be_set_until_the_initialization_ends(mass: Fmu) -> None:
    slave = mass.slave()
    assert slave.set({"r0[1]": 1.0}) == OK
    assert slave.setup() == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    assert slave.get("p.r[1]") == [1.0]
    assert slave.set({"r0[1]": 2.0, "v0[2]": 3.0}) == OK
    assert slave.get("p.r[1]", "p.v[2]") == [2.0, 3.0]
    assert slave.call("fmi2ExitInitializationMode") == OK
    before = slave.state()
    status = slave.set({"p.f[1]": 1.0, "r0[1]": 4.0})
    refused(slave, status, ERROR, before, "r0[1] cannot be set after the initialization: it is a fixed parameter")
    assert slave.get("p.r[1]", "r0[1]", "p.f[1]") == [2.0, 2.0, 0.0]


def test_tunable_parameters_and_inputs_can_be_set_between_steps_and_act_at_once(surface: Fmu) -> None:
    slave = surface.slave()
    slave.initialize({"point.r[3]": -1e-3})
    assert slave.get("normal_force") == [1e5 * 1e-3]
    assert slave.set({"C_F": 2e5, "point.r[3]": -2e-3}) == OK
    assert slave.get("normal_force") == [2e5 * 2e-3]
    assert slave.set_boolean("work", 0) == OK
    assert slave.get("normal_force") == [0.0]


# ---- single values -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_settable_real_takes_a_value_that_is_not_finite(surface: Fmu, mass: Fmu, value: float) -> None:
    text = {math.inf: "infinity", -math.inf: "-infinity"}.get(value, "NaN")
    for fmu in (surface, mass):
        slave = fmu.slave()
        before = slave.state()
        for v in fmu.description.modelVariables:
            if v.causality in ("parameter", "input") and v.type == "Real":
                unit = "" if v.unit == "1" else f" {v.unit}"
                rule = f"{v.name} = {text}{unit} is refused, it must be finite"
                refused(slave, slave.set({v.name: value}), kept_out(v), before, rule)


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("C_F", -1.0, "C_F = -1 N/m is refused, it must be at least 0 N/m"),
        ("C_F", -5e-324, "C_F = -4.94"),
        ("C_F", -LARGEST, "is refused, it must be at least 0 N/m"),
        ("K_fr", -0.25, "K_fr = -0.25 is refused, it must be at least 0"),
        ("C_r", -0.1, "C_r = -0.1 is refused, it must be at least 0"),
        ("C_r", 1.0000000000000002, "it must be at most 1"),
        ("C_r", 1.5, "C_r = 1.5 is refused, it must be at most 1"),
        ("k_E", -0.5, "k_E = -0.5 is refused, it must be at least 0"),
        ("k_E", 1.25, "k_E = 1.25 is refused, it must be less than 1"),
        ("D_max", -0.5, "D_max = -0.5 m is refused, it must be greater than 0 m"),
        ("k_D", -1.0, "k_D = -1 s/m is refused, it must be at least 0 s/m"),
        ("k_T", -1.0, "k_T = -1 s/m is refused, it must be at least 0 s/m"),
    ],
)
@pytest.mark.parametrize("mode", ["instantiated", "step complete"])
def test_a_parameter_outside_its_bounds_is_an_error_with_value_unit_and_bound(
    surface: Fmu, name: str, value: float, rule: str, mode: str
) -> None:
    slave = surface.slave()
    if mode == "step complete":
        slave.initialize()
    before = slave.state()
    refused(slave, slave.set({name: value}), ERROR, before, "fmi2SetReal: ", rule)


def test_every_bound_of_the_model_description_holds(surface: Fmu, mass: Fmu) -> None:
    for fmu in (surface, mass):
        slave = fmu.slave()
        before = slave.state()
        for v in fmu.description.modelVariables:
            if v.causality in ("parameter", "input") and v.type == "Real":
                if v.min is not None:
                    refused(slave, slave.set({v.name: float(v.min) - 0.5}), kept_out(v), before, v.name)
                if v.max is not None:
                    refused(slave, slave.set({v.name: float(v.max) + 0.5}), kept_out(v), before, v.name)


def test_bounds_themselves_and_huge_finite_values_are_accepted(surface: Fmu) -> None:
    slave = surface.slave()
    assert slave.set({"C_F": 0.0, "C_r": 0.0, "k_D": LARGEST, "point.r[1]": -LARGEST}) == OK
    assert slave.set({"C_r": 1.0, "k_E": 0.0, "point.r[1]": 5e-324}) == OK


def test_good_values_beside_a_bad_one_are_not_stored_and_every_bad_one_is_named(surface: Fmu) -> None:
    slave = surface.slave()
    slave.initialize()
    before = slave.state()
    values = {"point.r[1]": 7.0, "C_F": -1.0, "point.v[2]": math.nan, "C_r": 2.0, "surface.r[1]": 8.0}
    assert slave.set(values) == ERROR
    assert [text.split(" is refused")[0] for text in slave.importer.texts] == [
        "fmi2SetReal: C_F = -1 N/m",
        "fmi2SetReal: point.v[2] = NaN m/s",
        "fmi2SetReal: C_r = 2",
    ]
    assert slave.state() == before
    slave.importer.messages.clear()
    assert slave.set({"C_F": -1.0, "normal_force": 1.0}) == ERROR  # the worse of the two
    assert slave.state() == before


@pytest.mark.parametrize("true", [1, 2, -1, 256, 2**31 - 1, -(2**31)])
def test_any_number_but_zero_is_true(surface: Fmu, true: int) -> None:
    slave = surface.slave()
    slave.initialize({"point.r[3]": -1e-3})
    assert slave.set_boolean("work", 0) == OK
    assert (slave.get_integer("work", "Boolean"), slave.get("normal_force")) == (0, [0.0])
    assert slave.set_boolean("work", true) == OK
    assert (slave.get_integer("work", "Boolean"), slave.get("normal_force")) == (1, [100.0])


# ---- start values ------------------------------------------------------------------------------------------------


def test_input_start_values_set_before_initialization_count(surface: Fmu) -> None:
    slave = surface.slave()
    assert slave.set({"point.r[3]": -2e-3}) == OK
    assert slave.set_boolean("work", 1) == OK
    slave.initialize()
    assert slave.get("normal_force") == [1e5 * 2e-3]


def test_fmpy_applies_start_values_of_inputs_and_parameters(surface: Fmu, mass: Fmu) -> None:
    """As users do it, before the first step and without an input signal."""
    result = fmpy.simulate_fmu(
        str(surface.file),
        start_values={"point.r[3]": -2e-3, "C_F": 3e5, "work": True},
        output=["normal_force", "impulse"],
        stop_time=0.1,
        output_interval=0.01,
    )
    assert np.array_equal(result["normal_force"], np.full(11, 3e5 * 2e-3))
    assert result["impulse"][-1] == pytest.approx(600.0 * 0.1, rel=1e-12)
    fall = fmpy.simulate_fmu(
        str(mass.file), start_values={"r0[3]": 2.0, "p.f[1]": 3.0, "m": 2.0}, output=["p.r[1]", "p.r[3]"], stop_time=1.0
    )
    assert fall["p.r[3]"][0] == 2.0
    assert fall["p.r[1]"][-1] == pytest.approx(0.5 * 3.0 / 2.0, rel=1e-12)


def test_start_values_are_those_of_the_model_description(surface: Fmu, mass: Fmu, three_points: Fmu) -> None:
    for fmu in (surface, mass, three_points):
        slave = fmu.slave()
        slave.initialize()
        for v in fmu.description.modelVariables:
            if v.start is not None and v.type == "Real":
                assert slave.get(v.name) == [float(v.start)], v.name


# ---- rules at the end of initialization and before a step ----------------------------------------------------------


SHORT = {"surface.q[1]": 0.1, "surface.q[2]": 0.2, "surface.q[3]": 0.3, "surface.q[4]": -0.3}


def test_initialization_names_every_broken_rule_with_its_value(surface: Fmu) -> None:
    slave = surface.slave()
    assert slave.set({"D_max": 0.0, "k_E": 1.0, **SHORT}) == OK
    assert slave.setup() == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    assert slave.call("fmi2ExitInitializationMode") == ERROR
    assert {m.category for m in slave.importer.messages} == {"logStatusError"}
    assert sorted(slave.importer.texts) == [
        "D_max = 0 m: it must be greater than 0 m",
        "k_E = 1: it must be less than 1",
        "surface.q[1] .. [4] = (0.1, 0.2, 0.3, -0.3): the length of a quaternion must be 1 and is below 0.5",
    ]
    assert slave.step(0.0, 0.1) == ERROR
    assert "'error'" in slave.importer.texts[-1]


def test_a_mass_of_zero_is_refused_when_initialization_ends(mass: Fmu) -> None:
    slave = mass.slave()
    assert slave.set({"m": 0.0}) == OK
    assert slave.setup() == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    assert slave.call("fmi2ExitInitializationMode") == ERROR
    assert only(slave.importer.messages).text == "m = 0 kg: it must be greater than 0 kg"


@pytest.mark.parametrize("recovery", ["fmi2SetFMUstate", "fmi2Reset"])
def test_a_failed_initialization_leaves_the_values_and_can_be_repaired(surface: Fmu, recovery: str) -> None:
    slave = surface.slave()
    assert slave.set({"k_E": 1.0, "C_F": 2e5, "point.r[3]": -1e-3}) == OK
    assert slave.setup() == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    kept = slave.get_state()
    assert slave.call("fmi2ExitInitializationMode") == ERROR
    assert slave.get("k_E", "C_F", "normal_force", "time") == [1.0, 2e5, 200.0, 0.0]  # for debugging
    if recovery == "fmi2Reset":
        assert slave.call("fmi2Reset") == OK
        slave.initialize({"point.r[3]": -1e-3})
        assert slave.get("normal_force") == [100.0]
    else:
        assert slave.call("fmi2SetFMUstate", kept) == OK
        assert slave.set({"k_E": 0.5}) == OK
        assert slave.call("fmi2ExitInitializationMode") == OK
        assert slave.get("normal_force") == [200.0]
    assert slave.step(0.0, 0.1) == OK


def test_an_initialization_whose_result_is_not_finite_fails_and_leaves_the_state(surface: Fmu) -> None:
    slave = surface.slave()
    assert slave.set({"C_F": LARGEST, "point.r[3]": -4.0, "D_max": 10.0}) == OK
    assert slave.setup() == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    before = slave.state()
    assert slave.call("fmi2ExitInitializationMode") == ERROR
    assert "initialization: " in slave.importer.texts[-1]
    assert "is not finite" in slave.importer.texts[-1]
    assert changed_doubles(before, slave.state()) == 1  # the mode


def changed_doubles(before: bytes, after: bytes) -> int:
    """How many of the numbers in two serialized states differ, the checksum left out."""
    header = len(before) % 8
    a, b = (np.frombuffer(state[header:-8], np.uint64) for state in (before, after))
    return int(np.count_nonzero(a != b))


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"D_max": 0.0}, ["D_max = 0 m: it must be greater than 0 m"]),
        ({"k_E": 1.0, "D_max": 0.0}, ["D_max = 0 m: it must be greater than 0 m", "k_E = 1: it must be less than 1"]),
        (SHORT, ["surface.q[1] .. [4] = (0.1, 0.2, 0.3, -0.3): the length of a quaternion must be 1 and is below 0.5"]),
        (dict.fromkeys(SHORT, 0.0), ["surface.q[1] .. [4] = (0, 0, 0, 0): the length"]),
    ],
)
@pytest.mark.parametrize("recovery", ["fmi2SetFMUstate", "fmi2Reset"])
def test_a_step_with_broken_rules_fails_names_them_all_and_can_be_repaired(
    surface: Fmu, values: Mapping[str, float], named: list[str], recovery: str
) -> None:
    slave = surface.slave()
    slave.initialize({"point.r[3]": -1e-3, "point.v[3]": -0.1})
    assert slave.step(0.0, 0.1) == OK
    kept, impulse = slave.get_state(), slave.get("impulse")
    assert slave.set(values) == OK
    slave.importer.messages.clear()
    before = slave.state()
    assert slave.step(0.1, 0.1) == ERROR
    found = sorted(slave.importer.texts)
    assert len(found) == len(named)
    assert all(text.startswith(name) for text, name in zip(found, named, strict=True))
    assert changed_doubles(before, slave.state()) == 2  # the mode, and the status of the last step
    assert slave.get("time", "impulse") == [0.1, *impulse]
    assert slave.set({"D_max": 1.0}) == ERROR  # too late for that
    if recovery == "fmi2SetFMUstate":
        assert slave.call("fmi2SetFMUstate", kept) == OK
        assert slave.step(0.1, 0.1) == OK
    else:
        assert slave.call("fmi2Reset") == OK
        slave.initialize()
        assert slave.step(0.0, 0.1) == OK


def test_a_quaternion_need_not_be_normalised(surface: Fmu) -> None:
    slave = surface.slave()
    slave.initialize({"point.r[3]": -1e-3})
    for length in (0.5, 0.7, 1.0, 30.0):
        assert slave.set({"surface.q[1]": length}) == OK
        assert slave.step(slave.get("time")[0], 0.1) == OK
        assert slave.get("normal_force", "normal[3]") == pytest.approx([100.0, 1.0], rel=1e-12)
    assert slave.set({"surface.q[1]": 0.4999999}) == OK
    assert slave.step(slave.get("time")[0], 0.1) == ERROR


def test_a_mass_of_zero_set_between_steps_is_refused_by_the_next_one(mass: Fmu) -> None:
    slave = mass.slave()
    slave.initialize({"v0[1]": 1.0})
    assert slave.step(0.0, 0.5) == OK
    before = slave.get("p.r[1]", "p.r[3]")
    assert slave.set({"m": 0.0}) == OK
    assert slave.step(0.5, 0.5) == ERROR
    assert only(slave.importer.messages).text == "m = 0 kg: it must be greater than 0 kg"
    assert slave.get("p.r[1]", "p.r[3]") == before


# ---- not finite --------------------------------------------------------------------------------------------------


def test_a_value_that_is_not_finite_is_never_handed_out(surface: Fmu) -> None:
    slave = surface.slave()
    slave.initialize({"D_max": 1e300})
    assert slave.set({"C_F": 1e200, "point.r[3]": -1e200}) == OK
    force = surface.references["normal_force"]
    values = reals(5.0, 6.0)
    assert slave.call("fmi2GetReal", references(surface.references["time"], force), 2, values) == ERROR
    assert only(slave.importer.messages).text == "fmi2GetReal: normal_force is not finite"
    assert list(values) == [5.0, 6.0]
    assert slave.get("time", "point.r[3]") == [0.0, -1e200]  # finite ones are
    assert slave.set({"point.r[3]": 1.0}) == OK
    assert slave.get("normal_force") == [0.0]


def test_a_step_whose_result_is_not_finite_fails_and_leaves_the_state(surface: Fmu, mass: Fmu) -> None:
    told = "is not finite after the step from 0.1 s to 0.2 s"
    for fmu, values in (
        (surface, {"C_F": 1e200, "point.r[3]": -1e200}),
        (mass, {"p.f[1]": LARGEST, "m": 1e-300}),
    ):
        slave = fmu.slave()
        slave.initialize({"D_max": 1e300} if fmu is surface else None)
        assert slave.step(0.0, 0.1) == OK
        assert slave.set(values) == OK
        before = slave.state()
        assert slave.step(0.1, 0.1) == ERROR
        assert told in slave.importer.texts[-1]
        assert changed_doubles(before, slave.state()) == 2
        assert slave.get("time") == [0.1]


# ---- get after set -----------------------------------------------------------------------------------------------


def test_a_get_after_a_set_answers_for_the_new_inputs_and_moves_no_ledger(three_points: Fmu) -> None:
    slave = three_points.slave()
    slave.initialize({"point[2].r[3]": -1e-3})
    assert slave.step(0.0, 0.1) == OK
    ledger = [
        *(f"{name}[{i}]" for name in ("impulse", "contact_time", "peak_force") for i in (1, 2, 3)),
        *(f"energy.{name}" for name in ("damping", "friction", "work", "switched")),
    ]
    kept, count = slave.get(*ledger), slave.get_integer("contact_count[1]")
    for depth in (1e-3, 5e-3, -1.0, 2e-3):
        assert slave.set({"point[1].r[3]": -depth}) == OK
        assert slave.get("normal_force[1]", "normal_force[2]") == pytest.approx([max(1e5 * depth, 0.0), 100.0])
        assert slave.get_integer("in_contact[1]", "Boolean") == (depth > 0)
        assert slave.get(*ledger) == kept
        assert slave.get_integer("contact_count[1]") == count == 0
    assert slave.step(0.1, 0.1) == OK
    assert slave.get_integer("contact_count[1]") == 1


def test_the_order_of_gets_does_not_matter(surface: Fmu) -> None:
    """Reading in between does not change where the instance goes."""
    silent, asked = surface.slave(Importer()), surface.slave(Importer())
    for slave in (silent, asked):
        slave.initialize({"point.r[3]": 1e-3, "point.v[3]": -1.0})
    for k in range(20):
        for slave in (silent, asked):
            assert slave.set({"point.r[3]": 1e-3 - 1e-4 * k, "point.v[1]": 0.1 * k}) == OK
            if slave is asked:
                slave.all_values()
            assert slave.step(k * 1e-4, 1e-4) == OK
    assert silent.state() == asked.state()
