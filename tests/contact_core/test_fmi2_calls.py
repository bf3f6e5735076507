"""Which function may be called when; a wrong call is told, answered with Error, and changes nothing."""

from __future__ import annotations

import ctypes
import math
import random
from collections.abc import Callable
from ctypes import byref, c_char_p, c_double, c_int, c_size_t, c_ubyte, c_void_p

import pytest
from fmi2 import (
    CO_SIMULATION,
    DISCARD,
    DO_STEP_STATUS,
    ERROR,
    LAST_SUCCESSFUL_TIME,
    MODEL_EXCHANGE,
    OK,
    PENDING_STATUS,
    SIGNATURES,
    TERMINATED,
    WARNING,
    Fmu,
    Slave,
    integers,
    load_literal,
    load_shipped,
    only,
    reals,
    references,
    strings,
)

from fmu_builder.export.toolchain import fmi2_functions

# Mode -> its letter in the table of calls, for each type of instance.
BEFORE, AFTER = {"instantiated": "I", "initialization mode": "N"}, {"error": "E", "terminated": "T"}
MODES = {
    CO_SIMULATION: BEFORE | {"step complete": "S"} | AFTER,
    MODEL_EXCHANGE: BEFORE | {"event mode": "V", "continuous-time mode": "C"} | AFTER,
}
UNPHYSICAL = {"PointMass": "m", "PointSurface": "D_max"}  # 0 is refused by the next step
OUTPUT = {"PointMass": "p.r[1]", "PointSurface": "point.f[3]"}
INPUT = {"PointMass": "p.f[1]", "PointSurface": "point.r[3]"}


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Fmu]:
    return {
        name: (load_literal if name == "PointSurface" else load_shipped)(name, tmp_path_factory.mktemp(name))
        for name in UNPHYSICAL
    }


@pytest.fixture
def slave(fmus: dict[str, Fmu]) -> Slave:
    return fmus["PointSurface"].slave()


def in_mode(fmu: Fmu, kind: int, mode: str) -> Slave:
    """An instance in the mode, with an empty log; the experiment is already set up where it is 'instantiated'."""
    slave = fmu.slave(kind=kind)
    assert slave.setup() == OK
    if mode != "instantiated":
        assert slave.call("fmi2EnterInitializationMode") == OK
    if mode not in ("instantiated", "initialization mode"):
        assert slave.call("fmi2ExitInitializationMode") == OK
    if mode == "terminated":
        assert slave.call("fmi2Terminate") == OK
    if mode == "error":
        assert slave.set({UNPHYSICAL[fmu.name]: 0.0}) == OK
        status = slave.step(0.0, 1e-3) if kind == CO_SIMULATION else slave.new_discrete_states()[0]
        assert status == ERROR
    if mode == "continuous-time mode":
        assert slave.call("fmi2EnterContinuousTimeMode") == OK
    slave.importer.messages.clear()
    return slave


def vr(slave: Slave, table: dict[str, str]) -> ctypes.Array[ctypes.c_uint]:
    return references(slave.fmu.references[table[slave.fmu.name]])


def state_function(function: str, *arguments: object) -> Callable[[Slave], int]:
    """A call that gets a state from the instance as its first argument."""

    def call(slave: Slave) -> int:
        place = slave.get_state()
        status = slave.call(function, place, *arguments)
        slave.free_state(place)
        return status

    return call


def free_state(slave: Slave) -> int:
    return slave.call("fmi2FreeFMUstate", byref(slave.get_state()))


def deserialize(slave: Slave) -> int:
    place = c_void_p()
    status = slave.deserialize(slave.state(), place)
    slave.free_state(place)
    return status


def state_vector(slave: Slave) -> tuple[ctypes.Array[c_double], int]:
    n = slave.fmu.description.numberOfContinuousStates
    return reals(*[0.5] * n), n


def indicator_vector(slave: Slave) -> tuple[ctypes.Array[c_double], int]:
    n = slave.fmu.description.numberOfEventIndicators
    return reals(*[0.5] * n), n


# Function -> a faultless call, and the modes it is legal in, in co-simulation and in model exchange: Instantiated,
# iNitialization, Step complete, eVent, Continuous time, Error, Terminated.  FMI 2.0.5, sections 4.2.4 and 3.2.3.  The
# status family answers after an error too: the importer may ask how far the instance came.
CALLS: dict[str, tuple[Callable[[Slave], int], str, str]] = {
    "fmi2SetDebugLogging": (lambda s: s.call("fmi2SetDebugLogging", 1, 1, strings(b"logAll")), "INSET", "INVCET"),
    "fmi2SetupExperiment": (lambda s: s.call("fmi2SetupExperiment", 1, 1e-6, 0.5, 1, 2.0), "I", "I"),
    "fmi2EnterInitializationMode": (lambda s: s.call("fmi2EnterInitializationMode"), "I", "I"),
    "fmi2ExitInitializationMode": (lambda s: s.call("fmi2ExitInitializationMode"), "N", "N"),
    "fmi2Terminate": (lambda s: s.call("fmi2Terminate"), "S", "VC"),
    "fmi2Reset": (lambda s: s.call("fmi2Reset"), "INSET", "INVCET"),
    "fmi2GetReal": (lambda s: s.call("fmi2GetReal", vr(s, OUTPUT), 1, reals(0.0)), "NSET", "NVCET"),
    "fmi2GetInteger": (lambda s: s.call("fmi2GetInteger", None, 0, None), "NSET", "NVCET"),
    "fmi2GetBoolean": (lambda s: s.call("fmi2GetBoolean", None, 0, None), "NSET", "NVCET"),
    "fmi2GetString": (lambda s: s.call("fmi2GetString", None, 0, None), "NSET", "NVCET"),
    "fmi2SetReal": (lambda s: s.call("fmi2SetReal", vr(s, INPUT), 1, reals(0.25)), "INS", "INVC"),
    "fmi2SetInteger": (lambda s: s.call("fmi2SetInteger", None, 0, None), "INS", "INV"),
    "fmi2SetBoolean": (lambda s: s.call("fmi2SetBoolean", None, 0, None), "INS", "INV"),
    "fmi2SetString": (lambda s: s.call("fmi2SetString", None, 0, None), "INS", "INV"),
    "fmi2GetFMUstate": (lambda s: s.call("fmi2GetFMUstate", byref(c_void_p())), "INSET", "INVCET"),
    "fmi2SetFMUstate": (state_function("fmi2SetFMUstate"), "INSET", "INVCET"),
    "fmi2FreeFMUstate": (free_state, "INSET", "INVCET"),
    "fmi2SerializedFMUstateSize": (state_function("fmi2SerializedFMUstateSize", byref(c_size_t())), "INSET", "INVCET"),
    "fmi2SerializeFMUstate": (state_function("fmi2SerializeFMUstate", (c_ubyte * 10000)(), 10000), "INSET", "INVCET"),
    "fmi2DeSerializeFMUstate": (deserialize, "INSET", "INVCET"),
    "fmi2GetDirectionalDerivative": (
        lambda s: s.call("fmi2GetDirectionalDerivative", vr(s, OUTPUT), 1, vr(s, INPUT), 1, reals(1.0), reals(0.0)),
        "NSET",
        "NVCET",
    ),
    "fmi2SetRealInputDerivatives": (
        lambda s: s.call("fmi2SetRealInputDerivatives", vr(s, INPUT), 1, integers(1), reals(2.0)),
        "INS",
        "",
    ),
    "fmi2GetRealOutputDerivatives": (
        lambda s: s.call("fmi2GetRealOutputDerivatives", vr(s, OUTPUT), 1, integers(1), reals(0.0)),
        "SET",
        "",
    ),
    "fmi2DoStep": (lambda s: s.step(0.0, 1e-3), "S", ""),
    "fmi2CancelStep": (lambda s: s.call("fmi2CancelStep"), "", ""),
    "fmi2GetStatus": (lambda s: s.call("fmi2GetStatus", DO_STEP_STATUS, integers(9)), "SET", ""),
    "fmi2GetRealStatus": (lambda s: s.call("fmi2GetRealStatus", LAST_SUCCESSFUL_TIME, reals(9.0)), "SET", ""),
    "fmi2GetIntegerStatus": (lambda s: s.call("fmi2GetIntegerStatus", DO_STEP_STATUS, integers(9)), "SET", ""),
    "fmi2GetBooleanStatus": (lambda s: s.call("fmi2GetBooleanStatus", TERMINATED, integers(9)), "SET", ""),
    "fmi2GetStringStatus": (lambda s: s.call("fmi2GetStringStatus", PENDING_STATUS, strings(None)), "SET", ""),
    "fmi2EnterEventMode": (lambda s: s.call("fmi2EnterEventMode"), "", "VC"),
    "fmi2NewDiscreteStates": (lambda s: s.new_discrete_states()[0], "", "V"),
    "fmi2EnterContinuousTimeMode": (lambda s: s.call("fmi2EnterContinuousTimeMode"), "", "V"),
    "fmi2CompletedIntegratorStep": (
        lambda s: s.call("fmi2CompletedIntegratorStep", 1, integers(0), integers(0)),
        "",
        "C",
    ),
    "fmi2SetTime": (lambda s: s.call("fmi2SetTime", 0.5), "", "VC"),
    "fmi2SetContinuousStates": (lambda s: s.call("fmi2SetContinuousStates", *state_vector(s)), "", "C"),
    "fmi2GetDerivatives": (lambda s: s.call("fmi2GetDerivatives", *state_vector(s)), "", "NVCET"),
    "fmi2GetEventIndicators": (lambda s: s.call("fmi2GetEventIndicators", *indicator_vector(s)), "", "NVCET"),
    "fmi2GetContinuousStates": (lambda s: s.call("fmi2GetContinuousStates", *state_vector(s)), "", "NVCET"),
    "fmi2GetNominalsOfContinuousStates": (
        lambda s: s.call("fmi2GetNominalsOfContinuousStates", *state_vector(s)),
        "",
        "IVCET",
    ),
}
ALWAYS_DISCARDED = {"fmi2GetIntegerStatus"}  # FMI 2.0 defines no kind for it


def test_every_function_of_the_standard_is_exported_and_in_the_table() -> None:
    outside = {"fmi2GetTypesPlatform", "fmi2GetVersion", "fmi2Instantiate", "fmi2FreeInstance"}
    assert set(CALLS) == set(SIGNATURES)
    assert set(SIGNATURES) | outside == set(fmi2_functions())


@pytest.mark.parametrize("model", UNPHYSICAL)
@pytest.mark.parametrize(("kind", "mode"), [(kind, mode) for kind, modes in MODES.items() for mode in modes])
def test_every_function_works_in_its_modes_and_is_refused_in_all_others(
    fmus: dict[str, Fmu], model: str, kind: int, mode: str
) -> None:
    wrong = []
    for function in CALLS:
        try:
            check_call(in_mode(fmus[model], kind, mode), kind, mode, function)
        except AssertionError as error:
            wrong.append(f"{function}: {error}")
    assert not wrong, "\n".join(wrong)


def check_call(slave: Slave, kind: int, mode: str, function: str) -> None:
    call, *legal = CALLS[function]
    here, elsewhere = legal if kind == CO_SIMULATION else legal[::-1]
    before = slave.state()
    status = call(slave)
    if MODES[kind][mode] in here:
        no_mass = (function, slave.fmu.name, mode) == ("fmi2GetDerivatives", "PointMass", "error")  # not finite without
        expected = DISCARD if function in ALWAYS_DISCARDED else ERROR if no_mass else OK
        assert status == expected, slave.importer.texts
        return
    assert status == ERROR
    assert slave.state() == before
    message = only(slave.importer.messages)
    assert (message.status, message.category) == (ERROR, "logStatusError")
    assert function in message.text
    if here:
        assert f"'{mode}'" in message.text
    elif elsewhere:
        this, other = ["co-simulation", "model exchange"][:: 1 if kind == CO_SIMULATION else -1]
        assert message.text == f"{function} belongs to {other}, but this instance was made for {this}"
    else:
        assert "never pending" in message.text or "belongs to co-simulation" in message.text


@pytest.mark.parametrize("function", SIGNATURES)
def test_a_null_component_is_an_error_and_no_crash(fmus: dict[str, Fmu], function: str) -> None:
    nobody = Slave(fmus["PointSurface"], None, fmus["PointSurface"].slave().importer)
    zeros = [a() if a in (c_int, c_double, c_size_t) else None for a in SIGNATURES[function]]
    assert nobody.call(function, *zeros) == ERROR


NULL_ARGUMENTS: list[tuple[str, str, tuple[object, ...]]] = [
    ("fmi2SetDebugLogging", "categories", (1, 1, None)),
    *(
        (f"fmi2{way}{kind}", "vr", (None, 1, array))
        for way in ("Get", "Set")
        for kind, array in (
            ("Real", reals(1.0)),
            ("Integer", integers(1)),
            ("Boolean", integers(1)),
            ("String", strings(b"a")),
        )
    ),
    *(
        (f"fmi2{way}{kind}", "value", (references(9), 1, None))
        for way in ("Get", "Set")
        for kind in ("Real", "Integer", "Boolean", "String")
    ),
    ("fmi2GetFMUstate", "FMUstate", (None,)),
    ("fmi2SetFMUstate", "FMUstate", (None,)),
    ("fmi2SerializedFMUstateSize", "FMUstate", (None, byref(c_size_t()))),
    ("fmi2SerializeFMUstate", "FMUstate", (None, (c_ubyte * 9000)(), 9000)),
    ("fmi2DeSerializeFMUstate", "serializedState", (None, 100, byref(c_void_p()))),
    ("fmi2DeSerializeFMUstate", "FMUstate", ((c_ubyte * 100)(), 100, None)),
    ("fmi2GetDirectionalDerivative", "vUnknown_ref", (None, 1, references(9), 1, reals(1.0), reals(0.0))),
    ("fmi2GetDirectionalDerivative", "vKnown_ref", (references(15), 1, None, 1, reals(1.0), reals(0.0))),
    ("fmi2GetDirectionalDerivative", "dvKnown", (references(15), 1, references(9), 1, None, reals(0.0))),
    ("fmi2GetDirectionalDerivative", "dvUnknown", (references(15), 1, references(9), 1, reals(1.0), None)),
    ("fmi2SetRealInputDerivatives", "vr", (None, 1, integers(1), reals(1.0))),
    ("fmi2SetRealInputDerivatives", "order", (references(9), 1, None, reals(1.0))),
    ("fmi2SetRealInputDerivatives", "value", (references(9), 1, integers(1), None)),
    ("fmi2GetRealOutputDerivatives", "vr", (None, 1, integers(1), reals(1.0))),
    ("fmi2GetRealOutputDerivatives", "order", (references(15), 1, None, reals(1.0))),
    ("fmi2GetRealOutputDerivatives", "value", (references(15), 1, integers(1), None)),
    *((f"fmi2Get{kind}Status", "value", (0, None)) for kind in ("", "Real", "Integer", "Boolean", "String")),
]


@pytest.mark.parametrize(("function", "argument", "arguments"), NULL_ARGUMENTS)
def test_a_null_array_is_an_error_that_names_the_argument(
    slave: Slave, function: str, argument: str, arguments: tuple[object, ...]
) -> None:
    slave.initialize()
    before = slave.state()
    assert slave.call(function, *arguments) == ERROR
    text = only(slave.importer.messages).text
    assert text == f"{function}: the argument {argument} is NULL"
    assert slave.state() == before


@pytest.mark.parametrize("argument", ["FMUstate", "size", "serializedState"])
def test_a_null_beside_a_state_is_named_too(slave: Slave, argument: str) -> None:
    place = slave.get_state()
    if argument == "FMUstate":
        assert slave.call("fmi2SerializeFMUstate", None, (c_ubyte * 9000)(), 9000) == ERROR
    elif argument == "size":
        assert slave.call("fmi2SerializedFMUstateSize", place, None) == ERROR
    else:
        assert slave.call("fmi2SerializeFMUstate", place, None, 9000) == ERROR
    assert f"the argument {argument} is NULL" in only(slave.importer.messages).text


def test_null_arrays_of_no_elements_are_fine(slave: Slave) -> None:
    slave.initialize()
    for way in ("Get", "Set"):
        for kind in ("Real", "Integer", "Boolean", "String"):
            assert slave.call(f"fmi2{way}{kind}", None, 0, None) == OK
    assert slave.call("fmi2SetDebugLogging", 1, 0, None) == OK
    assert slave.call("fmi2SetRealInputDerivatives", None, 0, None, None) == OK
    assert slave.call("fmi2GetRealOutputDerivatives", None, 0, None, None) == OK
    assert slave.call("fmi2GetDirectionalDerivative", None, 0, None, 0, None, None) == OK
    assert slave.importer.messages == []


def test_version_and_platform_are_those_of_the_standard(slave: Slave) -> None:
    for function, expected in (("fmi2GetVersion", b"2.0"), ("fmi2GetTypesPlatform", b"default")):
        ask = getattr(slave.fmu.library, function)
        ask.restype = c_char_p
        assert ask() == expected


# ---- experiment --------------------------------------------------------------------------------------------------


def test_initialization_needs_an_experiment(slave: Slave) -> None:
    before = slave.state()
    assert slave.call("fmi2EnterInitializationMode") == ERROR
    assert "fmi2SetupExperiment has to be called first" in only(slave.importer.messages).text
    assert slave.state() == before


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((0, 0.0, math.nan, 0, 0.0), "startTime = NaN"),
        ((0, 0.0, math.inf, 0, 0.0), "startTime = infinity"),
        ((0, 0.0, 1.0, 1, 0.5), "stopTime = 0.5 s"),
        ((0, 0.0, 1.0, 1, math.nan), "stopTime = NaN"),
        ((1, -1e-6, 0.0, 0, 0.0), "tolerance = -1e-6"),
        ((1, math.nan, 0.0, 0, 0.0), "tolerance = NaN"),
    ],
)
def test_an_impossible_experiment_is_refused(slave: Slave, arguments: tuple[float, ...], named: str) -> None:
    before = slave.state()
    assert slave.call("fmi2SetupExperiment", *arguments) == ERROR
    assert named in only(slave.importer.messages).text
    assert slave.state() == before


def test_a_tolerance_of_zero_is_none_and_the_log_names_it(fmus: dict[str, Fmu]) -> None:
    """Importers that have no tolerance send toleranceDefined with 0."""
    slave = fmus["PointMass"].slave()
    expected = fmus["PointMass"].slave()
    assert expected.setup(2.0) == OK
    assert slave.call("fmi2SetupExperiment", 1, 0.0, 2.0, 0, 0.0) == OK
    message = only(slave.importer.messages)
    assert "tolerance = 0 is ignored" in message.text
    assert (message.status, message.category) == (WARNING, "logStatusWarning")
    assert slave.state() == expected.state()


def test_what_is_not_defined_in_an_experiment_is_not_looked_at(slave: Slave) -> None:
    assert slave.call("fmi2SetupExperiment", 0, math.nan, -3.0, 0, math.nan) == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    assert slave.get("time") == [-3.0]


def test_the_last_of_several_experiments_counts(slave: Slave) -> None:
    assert slave.setup(5.0, 6.0) == OK
    slave.initialize(start=1.0)
    assert slave.get("time") == [1.0]
    assert slave.step(1.0, 10.0) == OK  # the stop time 6 s is forgotten


# ---- steps -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("begin", "length", "named"),
    [
        (1.0, 0.0, "a step of 0 s"),
        (1.0, -0.1, "a step of -0.1 s"),
        (1.0, math.nan, "a step of NaN s"),
        (1.0, math.inf, "a step of infinity s"),
        (math.nan, 0.1, "from NaN s"),
        (math.inf, 0.1, "from infinity s"),
        (1.1, 0.1, "begins at 1.1 s, but the last one ended at 1 s"),
        (0.9, 0.1, "begins at 0.9 s, but the last one ended at 1 s"),
        (1.0 + 2e-10, 0.1, "but the last one ended at 1 s: the difference of 2e-10 s must be at most 1e-10 s"),
        (1.0, 1e-17, "does not move the clock"),
        (1.0, 1.5, "ends at 2.5 s, after the stop time 2 s"),
        (1.0, 1.0 + 1e-8, "after the stop time 2 s"),
    ],
)
def test_an_impossible_step_is_refused_and_the_instance_goes_on(
    slave: Slave, begin: float, length: float, named: str
) -> None:
    slave.initialize(start=1.0, stop=2.0)
    before = slave.state()
    assert slave.step(begin, length) == ERROR
    assert named in only(slave.importer.messages).text
    assert slave.state() == before
    assert slave.step(1.0, 0.5) == OK


@pytest.mark.parametrize("model", UNPHYSICAL)
def test_every_step_lands_exactly_where_the_importer_says(fmus: dict[str, Fmu], model: str) -> None:
    rng = random.Random(0)
    for _ in range(300):
        start = rng.choice([0.0, 0.1, rng.uniform(-20.0, 20.0), 10.0 ** rng.uniform(-6.0, 6.0)])
        length = 10.0 ** rng.uniform(-6.0, 1.0)
        slave = fmus[model].slave()
        slave.initialize(start=start)
        t = start
        for k in range(4):
            assert slave.step(t, length) == OK, slave.importer.texts
            assert slave.get("time") == [t + length]
            t = start + (k + 1) * length  # not t + h: the clock of an importer that multiplies


def test_a_rounded_last_step_to_the_stop_time_is_accepted(slave: Slave) -> None:
    slave.initialize(stop=0.3)
    for k in range(3):
        assert slave.step(k * 0.1, 0.1) == OK  # 0.2 + 0.1 is more than 0.3
    assert slave.get("time")[0] > 0.3


def test_tiny_steps_are_not_taken_for_rounding(slave: Slave) -> None:
    slave.initialize(start=1e3, stop=2e3)
    h = 1e-9
    assert slave.step(1e3, h) == OK
    assert slave.step(1e3 + 3 * h, h) == ERROR  # two steps are missing, although they are 2e-12 of the time


# ---- status family, end ------------------------------------------------------------------------------------------


def test_the_status_family_answers_for_a_synchronous_slave(slave: Slave) -> None:
    slave.initialize()
    assert slave.step(0.0, 0.25) == OK
    status, time, terminated, pending = integers(9), reals(9.0), integers(9), strings(None)
    assert slave.call("fmi2GetStatus", DO_STEP_STATUS, status) == OK
    assert slave.call("fmi2GetRealStatus", LAST_SUCCESSFUL_TIME, time) == OK
    assert slave.call("fmi2GetBooleanStatus", TERMINATED, terminated) == OK
    assert slave.call("fmi2GetStringStatus", PENDING_STATUS, pending) == OK
    assert (status[0], time[0], terminated[0], pending[0]) == (OK, 0.25, 0, b"")


def test_after_a_failed_step_the_status_family_tells_how_far_it_came(slave: Slave) -> None:
    slave.initialize()
    assert slave.step(0.0, 0.25) == OK
    assert slave.set({"D_max": 0.0}) == OK
    assert slave.step(0.25, 0.25) == ERROR
    status, time = integers(9), reals(9.0)
    assert slave.call("fmi2GetStatus", DO_STEP_STATUS, status) == OK
    assert slave.call("fmi2GetRealStatus", LAST_SUCCESSFUL_TIME, time) == OK
    assert (status[0], time[0]) == (ERROR, 0.25)


@pytest.mark.parametrize(
    ("function", "offered", "place"),
    [
        ("fmi2GetStatus", DO_STEP_STATUS, integers(9)),
        ("fmi2GetRealStatus", LAST_SUCCESSFUL_TIME, reals(9.0)),
        ("fmi2GetIntegerStatus", None, integers(9)),
        ("fmi2GetBooleanStatus", TERMINATED, integers(9)),
        ("fmi2GetStringStatus", PENDING_STATUS, strings(b"9")),
    ],
)
def test_a_kind_of_status_that_is_not_offered_is_discarded(
    slave: Slave, function: str, offered: int | None, place: ctypes.Array[c_int]
) -> None:
    slave.initialize()
    untouched = bytes(place)
    for kind in {0, 1, 2, 3, 4, -1, 77} - {offered}:
        slave.importer.messages.clear()
        assert slave.call(function, kind, place) == DISCARD
        message = only(slave.importer.messages)
        assert message.text == f"{function}: the kind {kind} is not supported"
        assert message.category == "logStatusDiscard"
        assert bytes(place) == untouched


def test_the_last_values_can_be_read_after_the_end(fmus: dict[str, Fmu]) -> None:
    slave = fmus["PointSurface"].slave()
    slave.initialize()
    assert slave.step(0.0, 0.1) == OK
    assert slave.set({"point.r[3]": -1e-3}) == OK
    assert slave.call("fmi2Terminate") == OK
    assert slave.get("time", "point.f[3]") == [0.1, 1e5 * 1e-3]


# ---- derivatives: what is refused --------------------------------------------------------------------------------


def test_input_derivatives_of_order_0_and_of_anything_but_inputs_are_refused(slave: Slave) -> None:
    slave.initialize()
    before = slave.state()
    r, f, C_F, work, count = (
        slave.fmu.references[n] for n in ("point.r[3]", "point.f[3]", "C_F", "work", "contact_count")
    )
    for reference, order, value, status, named in (
        (r, 0, 1.0, ERROR, "order 0 of point.r[3]"),
        (r, -1, 1.0, ERROR, "order -1 of point.r[3]"),
        (f, 1, 1.0, ERROR, "point.f[3] is no continuous input"),
        (C_F, 1, 1.0, ERROR, "C_F is no continuous input"),
        (work, 1, 1.0, ERROR, "work is of type Boolean, not Real"),
        (count, 1, 1.0, ERROR, "contact_count is of type Integer, not Real"),
        (5000, 1, 1.0, ERROR, "no variable with the value reference 5000"),
        (r, 1, math.nan, DISCARD, "the derivative NaN of point.r[3]"),
        (r, 1, math.inf, DISCARD, "the derivative infinity of point.r[3]"),
    ):
        slave.importer.messages.clear()
        good = slave.fmu.references["point.v[1]"]
        arguments = references(good, reference), 2, integers(1, order), reals(5.0, value)
        assert slave.call("fmi2SetRealInputDerivatives", *arguments) == status
        assert named in only(slave.importer.messages).text
        assert slave.state() == before  # nor was the good one stored


def test_input_derivatives_of_higher_order_are_left_out_with_a_warning(slave: Slave) -> None:
    slave.initialize()
    r, v = slave.fmu.references["point.r[3]"], slave.fmu.references["point.v[3]"]
    assert (
        slave.call("fmi2SetRealInputDerivatives", references(r, v, r), 3, integers(1, 1, 2), reals(2.0, 3.0, 9.0))
        == WARNING
    )
    assert "order 2 of point.r[3] is ignored" in only(slave.importer.messages).text
    assert slave.step(0.0, 0.5) == OK
    assert slave.get("point.r[3]", "point.v[3]") == [1.0, 1.5]
    assert slave.step(0.5, 0.5) == OK  # derivatives hold for one step
    assert slave.get("point.r[3]", "point.v[3]") == [1.0, 1.5]


def test_output_derivatives_above_order_1_are_zero_and_order_0_is_refused(slave: Slave) -> None:
    slave.initialize({"point.r[3]": -1e-3, "point.v[3]": -1.0, "C_r": 1.0})
    f, C_F, count = (slave.fmu.references[n] for n in ("point.f[3]", "C_F", "contact_count"))
    values = reals(9.0, 9.0, 9.0)
    assert slave.call("fmi2GetRealOutputDerivatives", references(f, f, f), 3, integers(1, 2, 7), values) == OK
    assert list(values) == [pytest.approx(1e5, rel=1e-12), 0.0, 0.0]  # C_F times the depth rate
    for reference, order, named in (
        (f, 0, "order 0 of point.f[3]"),
        (C_F, 1, "C_F is no output"),
        (count, 1, "contact_count is of type Integer, not Real"),
        (5000, 1, "no variable with the value reference 5000"),
    ):
        slave.importer.messages.clear()
        values = reals(9.0, 9.0)
        assert (
            slave.call("fmi2GetRealOutputDerivatives", references(f, reference), 2, integers(1, order), values) == ERROR
        )
        assert named in only(slave.importer.messages).text
        assert list(values) == [9.0, 9.0]


def test_directional_derivatives_refuse_what_is_no_function_or_no_argument(slave: Slave) -> None:
    slave.initialize()
    named_references = slave.fmu.references
    before = slave.state()
    for unknown, known, named in (
        ("C_F", "point.r[3]", "the unknown C_F is neither"),
        ("energy.switched", "point.r[3]", "the unknown energy.switched is neither"),
        ("point.v[3]", "point.r[3]", "the unknown point.v[3] is neither"),
        ("point.f[3]", "C_F", "the known C_F is neither"),
        ("point.f[3]", "normal_force", "the known normal_force is neither"),
    ):
        slave.importer.messages.clear()
        value = reals(9.0)
        arguments = references(named_references[unknown]), 1, references(named_references[known]), 1, reals(1.0), value
        assert slave.call("fmi2GetDirectionalDerivative", *arguments) == ERROR
        assert named in only(slave.importer.messages).text
        assert value[0] == 9.0
        assert slave.state() == before


def test_a_directional_derivative_that_is_not_finite_is_an_error(slave: Slave) -> None:
    slave.initialize({"point.r[3]": -1e-3})
    f, r = slave.fmu.references["point.f[3]"], slave.fmu.references["point.r[3]"]
    value = reals(9.0)
    for seed in (math.nan, math.inf, 1e306):  # 1e306 m times 1e5 N/m overflows
        slave.importer.messages.clear()
        assert (
            slave.call("fmi2GetDirectionalDerivative", references(f), 1, references(r), 1, reals(seed), value) == ERROR
        )
        assert "the derivative of point.f[3] is not finite" in only(slave.importer.messages).text
        assert value[0] == 9.0
