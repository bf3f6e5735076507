"""FMI 3.0: the same core behind another layer, so the same numbers as in FMI 2.0, and what FMI 3.0 alone has."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from ctypes import byref, c_bool, c_char_p, c_double, c_int32, c_size_t, c_ubyte, c_uint, c_void_p
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.model_description import ModelDescription, ModelVariable
from fmpy.validation import validate_fmu, validate_model_description
from lxml import etree

from fmu_builder.export.description_fmi3 import model_description_fmi3
from fmu_builder.export.fmu import fmu_contents, host_fmu, pack
from fmu_builder.export.toolchain import fmi3_functions
from fmu_builder.model.documents import Recipe
from fmu_builder.model.documents import as_file as written
from fmu_builder.model.loader import load_model
from fmu_builder.paths import find_recipe, shipped
from tests.contact_core.fmi3 import ERROR, OK, WARNING, Fmu3, Instance
from tests.contact_core.running import QUICK
from tests.fmus.fmi3_twins import FMI_2_ONLY, recipes

TOUCH = 0.4515236409857309  # s: a fall of 1 m at 9.81 m/s2


@pytest.fixture(scope="module")
def twins() -> tuple[Path, Path]:
    """BouncingBall for FMI 2.0 and for FMI 3.0."""
    recipe = shipped("fmus") / "BouncingBall.toml"
    return host_fmu(recipe), host_fmu(recipe, fmi=3)


@pytest.fixture(scope="module")
def ball(twins: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Fmu3:
    return Fmu3(twins[1], tmp_path_factory.mktemp("ball"))


@pytest.fixture(scope="module")
def arrays(tmp_path_factory: pytest.TempPathFactory) -> Fmu3:
    """A point mass whose vectors are arrays."""
    with written(Recipe(name="Arrays", element="point_mass", arrays=True)) as path:
        return Fmu3(host_fmu(path, QUICK, 3), tmp_path_factory.mktemp("arrays"))


@pytest.fixture
def made() -> Iterator[list[Instance]]:
    """Instances to be freed."""
    found: list[Instance] = []
    yield found
    for one in found:
        one.free()


# ---- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_a_simulation_of_fmpy_gives_the_values_of_fmi_2(twins: tuple[Path, Path], kind: str) -> None:
    """Every variable after each of 20 steps.  tests/fmus/fmi3_twins.py compares call by call."""
    variables = fmpy.read_model_description(str(twins[0]), validate=False).modelVariables
    names = [v.name for v in variables if v.type != "String"]  # fmpy records none
    old, new = (
        fmpy.simulate_fmu(str(fmu), False, fmi_type=kind, output=names[1:], stop_time=0.5, output_interval=0.025)
        for fmu in twins
    )
    assert sorted(old.dtype.names or ()) == sorted(new.dtype.names or ())
    for name in old.dtype.names or ():
        np.testing.assert_array_equal(new[name].astype(float), old[name].astype(float), err_msg=name)


@pytest.mark.slow  # fmpy takes seconds for the names of variables; every build has the rest of it checked
def test_fmpy_finds_no_problem(twins: tuple[Path, Path]) -> None:
    assert validate_fmu(str(twins[1])) == []


@pytest.mark.slow
def test_every_fmu_of_the_catalogue_has_a_description_of_fmi_3_in_which_fmpy_finds_no_problem(tmp_path: Path) -> None:
    """Without binaries.  fmpy takes milliseconds for a name: of names that differ in letters and digits alone it reads
    one."""
    read, names = 0, set()
    for recipe in recipes():
        if recipe.stem == FMI_2_ONLY:
            continue
        model = load_model(recipe)
        path = tmp_path / f"{model.name}.fmu"
        path.write_bytes(pack(fmu_contents(model, 3)[1]))
        description = fmpy.read_model_description(str(path), validate_model_structure=True)
        assert description.fmiVersion == "3.0" and description.coSimulation and description.modelExchange
        assert len(description.eventIndicators) == len(model.indicators)
        names |= {form_of_name(variable.name) for variable in description.modelVariables}
        read += 1
    assert read > 90 and len(names) > 20
    assert problems_of_names(names) == []
    assert len(problems_of_names({"a.b", "a b", "a..b", "a[]"})) == 3


def form_of_name(name: str) -> str:
    """The grammar of names knows letters and digits only as such, but for der; a quoted name has signs of all kinds."""
    derivative = "der(" * name.startswith("der(")
    return name if "'" in name else derivative + re.sub(r"(?a:\w+)", _alike, name.removeprefix(derivative))


def _alike(word: re.Match[str]) -> str:
    return "1" if word[0].isdigit() else "a_1"


def problems_of_names(names: set[str]) -> list[str]:
    attributes = {"type": "Float64", "variability": "continuous"}
    variables = [ModelVariable(name="now", valueReference=0, causality="independent", **attributes)]
    for k, name in enumerate(sorted(names), 1):
        variables.append(ModelVariable(name, k, causality="local", initial="calculated", **attributes))
    description = ModelDescription(fmiVersion="3.0", variableNamingConvention="structured", modelVariables=variables)
    found: list[str] = validate_model_description(description, validate_variable_names=True)
    return found


# ---- calls -----------------------------------------------------------------------------------------------------------

ABSENT = {
    **dict.fromkeys(("EnterConfigurationMode", "ExitConfigurationMode"), "has no structural parameters"),
    **dict.fromkeys(
        (
            *("GetClock", "SetClock", "GetIntervalDecimal", "GetIntervalFraction", "GetShiftDecimal"),
            *("GetShiftFraction", "SetIntervalDecimal", "SetIntervalFraction", "SetShiftDecimal", "SetShiftFraction"),
            "ActivateModelPartition",
        ),
        "has no clocks",
    ),
    **dict.fromkeys(
        ("GetNumberOfVariableDependencies", "GetVariableDependencies"),
        "has the dependencies of its variables in modelDescription.xml only",
    ),
    "EvaluateDiscreteStates": "computes discrete states when outputs are read",
    **{
        f"{access}{kind}": f"has no {kind} variables"
        for kind in ["Float32", "Int8", "UInt8", "Int16", "UInt16", "UInt32", "UInt64", "Binary"]
        for access in ("Get", "Set")
    },
}


def test_functions_for_what_the_fmu_has_not_say_so(ball: Fmu3, made: list[Instance]) -> None:
    made.append(one := Instance(ball).begin())
    for name, text in ABSENT.items():
        assert one.call(f"fmi3{name}", None, c_size_t(1), None, None, None, None, None) == ERROR
        assert one.said() == f"fmi3{name}: this FMU {text}"
    values = (c_char_p * 1)(b"a")
    for access in ("Get", "Set"):
        assert one.call(f"fmi3{access}String", (c_uint * 1)(0), c_size_t(1), values, c_size_t(1)) == ERROR
        assert one.said() == f"fmi3{access}String: this FMU has no String variables"


def test_no_function_takes_a_null_instance(ball: Fmu3) -> None:
    others = {name for name in fmi3_functions() if "Instantiate" in name} | {"fmi3GetVersion", "fmi3FreeInstance"}
    assert len(fmi3_functions() - others) > 65
    for name in fmi3_functions() - others:
        arguments = [c_size_t(0)] * 9
        if name in ("fmi3SetTime", "fmi3DoStep", "fmi3EnterInitializationMode"):
            continue  # their numbers are doubles
        assert getattr(ball.library, name)(None, *arguments) == ERROR, name
    assert ball.library.fmi3GetVersion() == b"3.0"


def test_a_call_in_the_wrong_mode_is_named_as_in_fmi_3(ball: Fmu3, made: list[Instance]) -> None:
    made += [one := Instance(ball), me := Instance(ball, co_simulation=False).begin()]
    assert one.step(0.0, 0.1)[0] == ERROR
    assert one.said() == "fmi3DoStep is not allowed in the mode 'instantiated'"
    assert one.call("fmi3EnterContinuousTimeMode") == ERROR
    assert "fmi3EnterContinuousTimeMode belongs to model exchange" in one.said()
    assert me.call("fmi3GetContinuousStateDerivatives", None, c_size_t(1)) == ERROR
    assert one.call("fmi3GetFMUState", None) == ERROR
    assert one.said() == "fmi3GetFMUState: the argument FMUstate is NULL"
    one.begin(stop=1.0)
    assert one.call("fmi3EnterEventMode") == ERROR
    assert one.said() == "fmi3EnterEventMode: the instance was made with eventModeUsed = false"
    assert one.step(0.0, 2.0)[0] == ERROR
    assert "after the stop time 1 s that fmi3EnterInitializationMode announced" in one.said()


def test_an_instance_needs_the_token_of_its_binary(ball: Fmu3) -> None:
    other = Instance(ball, token="{100%#}")
    assert not other.component
    text = "fmi3InstantiateCoSimulation: the instantiationToken is '{100%#}', but this binary belongs to"
    assert other.said().startswith(text)  # neither % nor # is doubled


def test_the_number_of_instances_has_no_limit(ball: Fmu3, made: list[Instance]) -> None:
    made += [Instance(ball).begin() for _ in range(50)]
    for k, one in enumerate(made):
        assert one.step(0.0, 0.008 * (k + 1))[0] == OK
    heights = [one.value("height") for one in made]
    assert heights == sorted(heights, reverse=True) and len(set(heights)) > 45


# ---- variables -------------------------------------------------------------------------------------------------------


def test_arrays_are_read_and_set_whole(arrays: Fmu3, made: list[Instance]) -> None:
    made.append(one := Instance(arrays))
    assert arrays.variables["p.f"].shape == (3,) and arrays.variables["der(p.v)"].derivative.name == "p.v"
    assert one.set("Float64", ["m", "v0"], [2.0, 1.0, 0.0, 3.0]) == OK
    one.begin()
    assert one.set("Float64", ["p.f"], [2.0, 0.0, 0.0]) == OK
    assert one.step(0.0, 1.0)[0] == OK
    assert one.get("Float64", ["p.v", "m", "p.r"], 7) == (OK, [2.0, 0.0, 3.0 - 9.81, 2.0, 1.5, 0.0, 3.0 - 4.905])


@pytest.mark.parametrize(("names", "count", "text"), [
    (["p.f"], 2, "fmi3SetFloat64: there are 2 values, but the variables have 3"),
    (["p.f", "m"], 3, "fmi3SetFloat64: there are 3 values, but the variables have 4"),
])  # fmt: skip
def test_the_number_of_values_is_checked(
    arrays: Fmu3, made: list[Instance], names: list[str], count: int, text: str
) -> None:
    made.append(one := Instance(arrays))
    assert one.set("Float64", names, [1.0] * count) == ERROR
    assert one.said() == text


def test_a_reference_inside_of_an_array_is_none(arrays: Fmu3, made: list[Instance]) -> None:
    made.append(one := Instance(arrays).begin())
    middle = (ctypes.c_uint * 1)(arrays.variables["p.f"].valueReference + 1)
    values = (c_double * 1)(1.0)
    assert one.call("fmi3SetFloat64", middle, c_size_t(1), values, c_size_t(1)) == ERROR
    assert "there is no variable with the value reference" in one.said()


def test_types_are_those_of_fmi_3(ball: Fmu3, made: list[Instance]) -> None:
    made.append(one := Instance(ball))
    assert ball.variables["solver.method"].type == "Enumeration"
    assert one.set("Int64", ["solver.method"], [2]) == OK
    assert one.set("Int32", ["solver.method"], [2]) == ERROR
    assert one.said() == "fmi3SetInt32: solver.method is of type Enumeration, not Int32"
    assert one.set("Boolean", ["floor.work"], [False]) == OK
    assert one.set("Float64", ["floor.work"], [0.0]) == ERROR


def test_event_indicators_are_variables(ball: Fmu3, made: list[Instance]) -> None:
    made.append(one := Instance(ball, co_simulation=False).begin())
    names = [name for name in ball.variables if name.startswith("event_indicators.")]
    count = c_size_t()
    assert one.call("fmi3GetNumberOfEventIndicators", byref(count)) == OK
    assert count.value == len(names) == len(ball.description.eventIndicators) > 5
    values = (c_double * len(names))()
    assert one.call("fmi3GetEventIndicators", values, c_size_t(len(names))) == OK
    assert one.get("Float64", names) == (OK, list(values))


def test_an_event_indicator_has_a_reference_for_reading_alone(ball: Fmu3, made: list[Instance]) -> None:
    """Each variable that an element EventIndicator names is the distance to an event, in co-simulation too."""
    indicators = {one.variable.valueReference: one.variable.name for one in ball.description.eventIndicators}
    assert all(ball.variables[name].valueReference == reference for reference, name in indicators.items())
    made.append(one := Instance(ball).begin())
    name = "event_indicators.floor.distance[1]"
    before = one.value(name), one.value("height")
    assert one.step(0.0, 0.1)[0] == OK
    assert one.value(name) - before[0] == pytest.approx((one.value("height") - before[1]) / 1e-2, rel=1e-9)
    said = f"{name} is an event indicator, which fmi3GetFloat64 reads alone"
    for answer in (
        lambda: one.set("Float64", [name], [1.0]),
        lambda: one.get("Int32", [name])[0],
        lambda: one.derivative("Directional", [name], ["height"], [1.0], 1)[0],
    ):
        assert answer() == ERROR and one.said().endswith(said)


# ---- derivatives, state ----------------------------------------------------------------------------------------------


def test_adjoint_derivatives_are_the_transposed_directional_ones(ball: Fmu3, made: list[Instance]) -> None:
    made.append(one := Instance(ball).begin())
    assert one.step(0.0, 0.455)[0] == OK  # pressed into the floor
    unknowns, knowns = ["der(velocity)", "floor.normal_force"], ["height", "velocity"]
    columns = [one.derivative("Directional", unknowns, knowns, seed, 2)[1] for seed in ((1.0, 0.0), (0.0, 1.0))]
    rows = [one.derivative("Adjoint", unknowns, knowns, seed, 2)[1] for seed in ((1.0, 0.0), (0.0, 1.0))]
    np.testing.assert_array_equal(np.transpose(columns), rows)
    assert rows[1][0] < -1e4 and rows[0] == rows[1]  # m = 1 kg
    status, _ = one.derivative("Directional", unknowns, ["mass"], [1.0], 2)
    assert status == ERROR and "is neither an input nor a state nor time" in one.said()


def test_output_derivatives_are_slopes(ball: Fmu3, made: list[Instance]) -> None:
    made.append(one := Instance(ball).begin())
    assert one.step(0.0, 0.1)[0] == OK
    values = (c_double * 2)()
    references, orders = one.references(["height", "velocity"]), (c_int32 * 2)(1, 1)
    assert one.call("fmi3GetOutputDerivatives", references, c_size_t(2), orders, values, c_size_t(2)) == OK
    np.testing.assert_allclose(list(values), [one.value("velocity"), -9.81], rtol=1e-12)


def test_a_state_returns_serialized_to_another_instance(ball: Fmu3, made: list[Instance]) -> None:
    made += [one := Instance(ball).begin(), other := Instance(ball).begin()]
    assert one.step(0.0, 0.5)[0] == OK
    state, copy, size = c_void_p(), c_void_p(), c_size_t()
    assert one.call("fmi3GetFMUState", byref(state)) == OK
    assert one.call("fmi3SerializedFMUStateSize", state, byref(size)) == OK
    data = (c_ubyte * size.value)()
    assert one.call("fmi3SerializeFMUState", state, data, size) == OK
    assert other.call("fmi3DeserializeFMUState", data, size, byref(copy)) == OK
    assert other.call("fmi3SetFMUState", copy) == OK
    assert one.step(0.5, 0.5)[0] == other.step(0.5, 0.5)[0] == OK
    assert one.value("height") == other.value("height")
    data[40] ^= 1
    assert other.call("fmi3DeserializeFMUState", data, size, byref(copy)) == ERROR
    assert other.said().startswith("fmi3DeserializeFMUState: the state is refused: its checksum is wrong")
    for owner, kept in ((one, state), (other, copy)):
        assert owner.call("fmi3FreeFMUState", byref(kept)) == OK and not kept.value


# ---- steps that end early --------------------------------------------------------------------------------------------


def stops(one: Instance, stop: float) -> list[float]:
    """The times at which steps end early, of an importer that asks for one step to the end."""
    t, found = 0.0, []
    while t < stop:
        status, _, early, reached = one.step(t, stop - t)
        assert status == OK and reached > t, one.said()
        t = reached
        if early:
            found.append(t)
    assert t == stop
    return found


def test_a_step_ends_at_touch_down_and_release(ball: Fmu3, made: list[Instance]) -> None:
    made += [one := Instance(ball, early=True).begin(), plain := Instance(ball).begin()]
    assert plain.step(0.0, 1.0) == (OK, False, False, 1.0)
    found = stops(one, 1.0)
    assert len(found) == 4  # two bounces
    assert found[0] == pytest.approx(TOUCH, abs=1e-11)
    assert one.value("height") == pytest.approx(plain.value("height"), abs=1e-9)


def test_an_event_of_a_step_that_ends_early_is_for_event_mode(ball: Fmu3, made: list[Instance]) -> None:
    made.append(one := Instance(ball, events=True, early=True).begin())
    assert one.step(0.0, 1.0)[0] == ERROR  # the initialization ends in event mode
    assert one.update() == one.call("fmi3EnterStepMode") == OK
    status, event, early, reached = one.step(0.0, 1.0)
    assert (status, event, early) == (OK, True, True)
    assert one.call("fmi3EnterEventMode") == one.update() == one.call("fmi3EnterStepMode") == OK
    assert one.value("floor.in_contact", "Boolean") and one.step(reached, 1.0 - reached)[:3] == (OK, True, True)


def test_an_event_at_the_end_of_a_step_is_for_event_mode(ball: Fmu3, made: list[Instance]) -> None:
    """The time is that at which another instance found the touch-down."""
    made.append(other := Instance(ball, early=True).begin())
    touch = other.step(0.0, 1.0)[3]
    for early in (False, True):
        made.append(one := Instance(ball, events=True, early=early).begin())
        assert one.call("fmi3EnterStepMode") == OK
        assert one.step(0.0, touch) == (OK, True, False, touch)
        assert one.step(touch, 5e-4)[:3] == (OK, False, False)
    made.append(over := Instance(ball, events=True).begin())
    assert over.call("fmi3EnterStepMode") == OK
    assert over.step(0.0, touch + 0.002)[:3] == (OK, False, False)  # an event inside is that of the solver alone


@pytest.mark.parametrize("before", [1e-6, 1e-10, 1e-12, 1e-13])
def test_a_touch_down_right_behind_the_beginning_of_a_step_is_one_of_it(
    ball: Fmu3, made: list[Instance], before: float
) -> None:
    """One that another importer has located, minus some time: the step that begins there ends at it."""
    made.append(other := Instance(ball, early=True).begin())
    touch = other.step(0.0, 1.0)[3]
    made.append(one := Instance(ball, events=True, early=True).begin())
    assert one.call("fmi3EnterStepMode") == OK
    begin = touch - before
    first = one.step(0.0, begin)
    second = one.step(begin, 0.005)
    found = [answer[3] for answer in (first, second) if answer[1]]
    assert len(found) == 1 and found[0] == pytest.approx(touch, abs=2e-12)
    assert one.value("floor.in_contact", "Boolean") or found == [begin]
    assert one.call("fmi3EnterEventMode") == one.call("fmi3EnterStepMode") == OK
    assert second[3] == begin + 0.005 or one.step(second[3], 0.001)[1:3] == (False, False)


def test_a_state_of_before_begins_a_step_as_a_new_one(ball: Fmu3, made: list[Instance]) -> None:
    """Switches of a point that a restored state has left are no event."""
    made.append(one := Instance(ball, early=True).begin())
    state = c_void_p()
    assert one.call("fmi3GetFMUState", byref(state)) == OK
    touch = one.step(0.0, 1.0)[3]
    assert one.call("fmi3SetFMUState", state) == one.call("fmi3FreeFMUState", byref(state)) == OK
    assert one.step(0.0, 0.1) == (OK, False, False, 0.1)
    assert one.step(0.1, 0.9)[3] == pytest.approx(touch, abs=1e-11)


def test_event_mode_says_that_the_fmu_has_asked_for_the_end(made: list[Instance], tmp_path: Path) -> None:
    fmu = Fmu3(host_fmu(find_recipe("ProbeStep"), QUICK, 3), tmp_path)
    made.append(one := Instance(fmu, events=True))
    assert one.set("Float64", ["end_at"], [0.15]) == OK
    one.begin()
    assert one.end_of_update() is False and one.call("fmi3EnterStepMode") == OK
    assert one.step(0.0, 0.2)[0] == one.call("fmi3EnterEventMode") == OK
    assert one.end_of_update() is True


def test_only_an_fmu_without_a_held_force_returns_early_after_an_update(ball: Fmu3) -> None:
    def returns(description: bytes) -> str | None:
        return etree.fromstring(description).find("CoSimulation").get("canReturnEarlyAfterIntermediateUpdate")

    assert returns((ball.folder / "modelDescription.xml").read_bytes()) == "true"
    assert returns(model_description_fmi3(load_model(find_recipe("PointSurface")), "token")) is None


def test_discrete_inputs_change_in_event_mode(ball: Fmu3, made: list[Instance]) -> None:
    """Without the floor the ball falls on."""
    made.append(one := Instance(ball, events=True).begin())
    assert one.call("fmi3EnterStepMode") == OK
    assert one.step(0.0, 0.455) == (OK, False, False, 0.455)
    assert one.value("floor.normal_force") > 100.0
    assert one.set("Boolean", ["floor.work"], [True]) == OK  # as it is
    assert one.set("Boolean", ["floor.work"], [False]) == ERROR
    assert one.said() == "fmi3SetBoolean: floor.work changes in event mode only, which this instance uses"
    assert one.call("fmi3EnterEventMode") == one.set("Boolean", ["floor.work"], [False]) == one.update() == OK
    assert one.value("floor.normal_force") == 0.0 and not one.value("floor.in_contact", "Boolean")
    assert one.call("fmi3EnterStepMode") == OK
    speed = one.value("velocity")
    assert one.step(0.455, 0.1)[0] == OK
    assert one.value("velocity") == pytest.approx(speed - 0.981, rel=1e-12)


def test_an_importer_looks_at_every_substep_and_ends_the_step_where_it_likes(ball: Fmu3, made: list[Instance]) -> None:
    seen: list[tuple[float, float]] = []

    def watch(time: float, may_end: bool) -> float | None:
        seen.append((time, one.value("height")))
        assert one.set("Float64", ["floor.surface.r[3]"], [0.0]) == ERROR
        assert "intermediate update mode" in one.said()
        return 0.2 if may_end and time < 0.2 else None

    made.append(one := Instance(ball, early=True, watch=watch).begin())
    status, event, early, reached = one.step(0.0, 1.0)
    assert (status, event, early) == (OK, False, True) and reached == 0.2
    times, heights = np.transpose(seen)
    assert (np.diff(times) > 0.0).all() and times[-1] == 0.2
    np.testing.assert_allclose(heights, 1.0 - 4.905 * times**2, atol=1e-9)
    assert one.step(0.2, 0.1)[0] == OK and one.value("height") == pytest.approx(1.0 - 4.905 * 0.09, abs=1e-9)


def test_a_step_does_not_end_early_unless_the_importer_takes_it(ball: Fmu3, made: list[Instance]) -> None:
    asked: list[bool] = []

    def watch(time: float, may_end: bool) -> float | None:
        asked.append(may_end)
        return time

    made.append(one := Instance(ball, watch=watch).begin())
    assert one.step(0.0, 0.5) == (OK, False, False, 0.5)
    assert asked and not any(asked)


def test_a_wrong_log_category_is_a_warning(ball: Fmu3, made: list[Instance]) -> None:
    made.append(one := Instance(ball))
    names = (ctypes.c_char_p * 1)(b"logEverything")
    assert one.call("fmi3SetDebugLogging", c_bool(True), c_size_t(1), names) == WARNING
    assert one.said() == "fmi3SetDebugLogging: the log category 'logEverything' is unknown"
