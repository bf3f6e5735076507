"""Clocks of FMI 3.0: ProbeClock shows what fmus/probes/expected.toml says to an importer that ticks its clocks, and
refuses calls that the standard does not allow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from ctypes import byref, c_bool, c_double, c_int, c_size_t, c_ubyte, c_uint64, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

import fmpy
import pytest
from fmpy import simulate_fmu
from fmpy.fmi2 import FMU2Model
from fmpy.validation import validate_fmu
from lxml import etree

from fmu_builder.errors import InputError
from fmu_builder.export.description_fmi3 import model_description_fmi3
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.probe_page import clock_checks
from fmu_builder.model.declaration_reader import read_declaration
from fmu_builder.model.loader import load_model
from fmu_builder.paths import find_recipe, shipped
from tests.contact_core.fmi3 import ERROR, OK, Fmu3, Instance

slow = pytest.mark.slow  # builds it
CHECKS = clock_checks()
STOP = 1.0
UNKNOWN, UNCHANGED, CHANGED = range(3)  # fmi3IntervalQualifier


@cache
def probe(fmi: int) -> Path:
    return host_fmu(find_recipe("ProbeClock"), fmi=3 if fmi == 3 else 2)


@pytest.fixture(scope="module")
def fmu(tmp_path_factory: pytest.TempPathFactory) -> Fmu3:
    return Fmu3(probe(3), tmp_path_factory.mktemp("clock"))


@pytest.fixture
def made(fmu: Fmu3) -> Iterator[list[Clocked]]:
    found: list[Clocked] = []
    yield found
    for one in found:
        one.free()


class Clocked(Instance):
    """An instance with the functions of clocks."""

    def set_clock(self, name: str, value: bool = True) -> int:
        return self.call("fmi3SetClock", self.references([name]), c_size_t(1), (c_bool * 1)(value))

    def clock(self, name: str) -> bool:
        values = (c_bool * 1)()
        assert self.call("fmi3GetClock", self.references([name]), c_size_t(1), values) == OK, self.said()
        return bool(values[0])

    def interval(self, name: str) -> tuple[int, int, float]:
        """Status, qualifier, and the interval in s."""
        values, qualifiers = (c_double * 1)(), (c_int * 1)(-1)
        status = self.call("fmi3GetIntervalDecimal", self.references([name]), c_size_t(1), values, qualifiers)
        return status, qualifiers[0], values[0]

    def shift(self, name: str) -> tuple[int, float]:
        values = (c_double * 1)()
        return self.call("fmi3GetShiftDecimal", self.references([name]), c_size_t(1), values), values[0]

    def fraction(self, what: str, name: str) -> tuple[int, int, int]:
        """Status, counter and resolution of `what`: Interval or Shift."""
        counters, resolutions, qualifiers = (c_uint64 * 1)(), (c_uint64 * 1)(), (c_int * 1)()
        tail = (counters, resolutions, qualifiers) if what == "Interval" else (counters, resolutions)
        status = self.call(f"fmi3Get{what}Fraction", self.references([name]), c_size_t(1), *tail)
        return status, counters[0], resolutions[0]

    def in_events(self) -> Clocked:
        """Through the initialization, into event mode."""
        self.begin()
        return self


class Importer:
    """Ticks the clocks of one instance, and moves the time from event to event."""

    def __init__(self, one: Clocked, ticks: Sequence[float], co_simulation: bool) -> None:
        self.one, self.co_simulation = one, co_simulation
        status, qualifier, self.period = one.interval("beat")
        assert (status, qualifier) == (OK, UNCHANGED)
        status, self.next_beat = one.shift("beat")
        assert status == OK
        assert one.interval("echo")[:2] == (OK, UNKNOWN)
        self.ticks, self.echo, self.time = list(ticks), None, 0.0
        self.beats = self.calls = self.carries = 0

    def run(self) -> None:
        self.leave_events()
        while (time := self.next_time()) <= STOP + 1e-9:
            self.move(min(time, STOP))
            while abs(self.next_time() - time) < 1e-9:
                self.event()
            self.leave_events()
        if self.time < STOP:
            self.move(STOP)

    def next_time(self) -> float:
        times = [self.next_beat, *self.ticks[:1]]
        return min(times if self.echo is None else [*times, self.echo])

    def next_clock(self) -> str:
        time = self.next_time()
        if self.next_beat - time < 1e-9:
            return "beat"
        return "tick" if self.ticks and self.ticks[0] - time < 1e-9 else "echo"

    def event(self) -> None:
        """One tick, behind which the next countdown is asked for."""
        name, one = self.next_clock(), self.one
        if name == "beat":
            self.beats += 1
            self.next_beat = one.shift("beat")[1] + self.beats * self.period
        elif name == "tick":
            self.ticks.pop(0)
        else:
            self.echo = None
        assert one.set("Float64", ["u"], [self.time]) == OK
        assert one.set_clock(name) == OK and one.clock(name)
        count = one.value("count", "Int32")
        has_carried = one.clock("carry")
        assert has_carried == (name == "tick" and count % one.value("every", "Int32") == 0)
        assert one.value("count_before", "Int32") == count - (name == "tick")
        self.carries += has_carried
        assert one.update() == OK
        assert not any(one.clock(each) for each in ("tick", "beat", "echo", "carry"))
        assert one.value("count_before", "Int32") == count == one.value("count", "Int32")
        status, qualifier, interval = one.interval("echo")
        assert status == OK
        assert (qualifier == UNKNOWN) == (not one.value("echo_waits", "Boolean"))
        if qualifier == CHANGED:
            self.calls, self.echo = self.calls + 1, self.time + interval
            assert interval == pytest.approx(one.value("delay"), abs=1e-15)  # echo_at - time
            assert one.interval("echo") == (OK, UNCHANGED, interval)

    def move(self, time: float) -> None:
        if self.co_simulation:
            assert self.one.step(self.time, time - self.time)[0] == OK, self.one.said()
            assert self.one.call("fmi3EnterEventMode") == OK
        else:
            assert self.one.call("fmi3SetTime", c_double(time)) == OK
            assert self.one.call("fmi3EnterEventMode") == OK
        self.time = time

    def leave_events(self) -> None:
        assert self.one.call(f"fmi3Enter{'Step' if self.co_simulation else 'ContinuousTime'}Mode") == OK


@slow
@pytest.mark.parametrize("co_simulation", [True, False], ids=["co-simulation", "model exchange"])
@pytest.mark.parametrize("check", CHECKS, ids=range(len(CHECKS)))
def test_a_right_importer_of_clocks_shows_what_is_expected(
    check: dict[str, Any], co_simulation: bool, fmu: Fmu3, made: list[Clocked]
) -> None:
    one = Clocked(fmu, co_simulation, events=True)
    made.append(one)
    for name, value in check["start"].items():
        assert one.set("Int32" if name == "every" else "Float64", [name], [value]) == OK
    importer = Importer(one.in_events(), check["tick"], co_simulation)
    importer.run()
    for name, expected in check["outputs"].items():
        family = {bool: "Boolean", int: "Int32", float: "Float64"}[type(expected)]
        assert one.value(name, family) == pytest.approx(expected, abs=1e-15), name
    assert importer.calls == check["calls"] == importer.carries
    assert not one.log


@slow
@pytest.mark.parametrize("check", CHECKS, ids=range(len(CHECKS)))
def test_fmi_2_counts_rises_of_booleans_to_the_same_values(check: dict[str, Any], tmp_path: Path) -> None:
    """Model exchange, in which a Boolean rises and falls at one instant."""
    description = fmpy.read_model_description(str(probe(2)))
    references = {v.name: v.valueReference for v in description.modelVariables}
    one = FMU2Model(
        guid=description.guid,
        unzipDirectory=fmpy.extract(str(probe(2)), str(tmp_path)),
        modelIdentifier=description.modelExchange.modelIdentifier,
        instanceName="probe",
    )
    one.instantiate()
    for name, value in check["start"].items():
        setter = one.setInteger if name == "every" else one.setReal
        setter([references[name]], [value])
    one.setupExperiment(startTime=0.0)
    one.enterInitializationMode()
    one.exitInitializationMode()
    beats, ticks, time = [0.05 + 0.1 * k for k in range(10)], list(check["tick"]), 0.0
    while True:
        waits = one.getBoolean([references["echo_waits"]])[0]
        echo = one.getReal([references["echo_at"]])[0] if waits else 2.0
        due = [(beats[0] if beats else 2.0, 0, "beat"), (ticks[0] if ticks else 2.0, 1, "tick"), (echo, 2, "echo")]
        time, _, name = min((round(at, 9), order, each) for at, order, each in due)
        if time > STOP:
            break
        {"beat": beats, "tick": ticks, "echo": [0]}[name].pop(0)
        one.enterEventMode()
        one.setTime(time)
        one.setReal([references["u"]], [time])
        for value in (True, False):
            one.setBoolean([references[name]], [value])
            one.newDiscreteStates()
        one.enterContinuousTimeMode()
    getters = {bool: one.getBoolean, int: one.getInteger, float: one.getReal}
    for name, expected in check["outputs"].items():
        (value,) = getters[type(expected)]([references[name]])
        assert float(value) == pytest.approx(float(expected), abs=1e-15), name
    one.freeInstance()


# ---- rules -----------------------------------------------------------------------------------------------------------


@slow
def test_intervals_and_shifts_are_those_of_the_description(fmu: Fmu3, made: list[Clocked]) -> None:
    one = Clocked(fmu, events=True).in_events()
    made.append(one)
    beat = etree.parse(fmu.folder / "modelDescription.xml").find("ModelVariables/Clock[@name='beat']").attrib
    assert beat["intervalVariability"] == "constant" and beat["supportsFraction"] == "true"
    assert one.interval("beat") == (OK, UNCHANGED, float(beat["intervalDecimal"]))
    assert one.shift("beat") == (OK, float(beat["shiftDecimal"]))
    resolution = int(beat["resolution"])
    assert one.fraction("Interval", "beat") == (OK, int(beat["intervalCounter"]), resolution) == (OK, 2, 20)
    assert one.fraction("Shift", "beat") == (OK, int(beat["shiftCounter"]), resolution) == (OK, 1, 20)


@slow
@pytest.mark.parametrize(
    ("function", "clock", "said"),
    [
        ("fmi3GetIntervalDecimal", "tick", "the clock tick is triggered: it has no interval and no shift"),
        ("fmi3GetIntervalDecimal", "carry", "the clock carry is triggered: it has no interval and no shift"),
        ("fmi3GetIntervalFraction", "echo", "the clock echo has no supportsFraction"),
        ("fmi3GetShiftDecimal", "echo", "the clock echo is not periodic: it has no shift"),
        ("fmi3GetShiftFraction", "echo", "the clock echo is not periodic: it has no shift"),
        ("fmi3GetShiftDecimal", "count", "count is of type Int32, not Clock"),
        ("fmi3GetClock", "u", "u is of type Float64, not Clock"),
        ("fmi3SetClock", "carry", "carry cannot be set at all: the FMU computes it"),
        ("fmi3SetIntervalDecimal", "beat", "this FMU has no clock whose interval or shift an importer sets"),
        ("fmi3SetShiftFraction", "beat", "this FMU has no clock whose interval or shift an importer sets"),
    ],
)
def test_a_wrong_call_of_a_clock_is_an_error_that_names_it(
    function: str, clock: str, said: str, fmu: Fmu3, made: list[Clocked]
) -> None:
    one = Clocked(fmu, events=True).in_events()
    made.append(one)
    room = [(c_uint64 * 2)(1, 1) for _ in range(3)]
    assert one.call(function, one.references([clock]), c_size_t(1), *room) == ERROR
    assert one.said() == f"{function}: {said}"
    assert one.update() == OK and one.value("count", "Int32") == 0  # nothing has happened


@slow
@pytest.mark.parametrize(
    "function", ["GetClock", "SetClock", "GetIntervalDecimal", "GetShiftDecimal", "GetShiftFraction"]
)
def test_null_pointers_and_unknown_clocks_are_refused(function: str, fmu: Fmu3, made: list[Clocked]) -> None:
    one = Clocked(fmu, events=True).in_events()
    made.append(one)
    room = [(c_uint64 * 2)() for _ in range(3)]
    assert one.call(f"fmi3{function}", None, c_size_t(1), *room) == ERROR and "NULL" in one.said()
    assert one.call(f"fmi3{function}", one.references(["beat"]), c_size_t(1), None, None, None) == ERROR
    assert one.call(f"fmi3{function}", (c_uint64 * 1)(4000000000), c_size_t(1), *room) == ERROR
    assert one.said() == f"fmi3{function}: there is no variable with the value reference 4e9"
    assert one.call(f"fmi3{function}", None, c_size_t(0), None, None, None) == OK


@slow
def test_clocks_tick_in_event_mode_only(fmu: Fmu3, made: list[Clocked]) -> None:
    one, without = Clocked(fmu, events=True), Clocked(fmu, events=False)
    made += [one, without]
    assert one.set_clock("tick") == ERROR and one.said().startswith("fmi3SetClock")
    one.begin()
    assert one.set_clock("tick") == one.set_clock("tick", False) == one.update() == OK  # canBeDeactivated
    assert one.value("count", "Int32") == 0
    assert one.set_clock("tick") == one.call("fmi3EnterStepMode") == OK  # which ends the event as well
    assert one.value("count", "Int32") == 1 and not one.clock("tick")
    assert one.set_clock("tick") == ERROR and "fmi3SetClock" in one.said() and "step complete" in one.said()
    assert one.interval("echo")[0] == ERROR and "fmi3GetIntervalDecimal" in one.said()
    without.begin()
    assert without.call("fmi3EnterEventMode") == ERROR and without.set_clock("tick") == ERROR
    assert without.step(0.0, 0.1)[0] == OK and without.value("count", "Int32") == 0


@slow
def test_clocked_values_are_kept_between_ticks_and_with_the_state(fmu: Fmu3, made: list[Clocked]) -> None:
    one = Clocked(fmu, events=True)
    made.append(one)
    assert one.set("Int32", ["every"], [1]) == OK
    one.begin()
    assert one.set_clock("tick") == OK
    active, size = c_void_p(), c_size_t()
    assert one.call("fmi3GetFMUState", byref(active)) == OK  # with an active clock
    assert one.update() == OK and one.interval("echo") == (OK, CHANGED, 0.03)
    for _ in range(2):
        assert one.call("fmi3SetFMUState", active) == OK and one.clock("tick") and one.clock("carry")
        assert one.update() == OK and one.value("count", "Int32") == 1
        assert one.interval("echo") == (OK, CHANGED, 0.03) and one.interval("echo") == (OK, UNCHANGED, 0.03)
    told, copy = c_void_p(), c_void_p()
    assert one.call("fmi3GetFMUState", byref(told)) == OK
    assert one.call("fmi3SerializedFMUStateSize", told, byref(size)) == OK
    data = (c_ubyte * size.value)()
    assert one.call("fmi3SerializeFMUState", told, data, size) == OK
    assert one.call("fmi3SetFMUState", active) == OK and one.call("fmi3EnterStepMode") == OK
    assert one.step(0.0, 0.1)[0] == OK and one.value("count", "Int32") == 1
    assert one.call("fmi3DeserializeFMUState", data, size, byref(copy)) == one.call("fmi3SetFMUState", copy) == OK
    assert one.interval("echo") == (OK, UNCHANGED, 0.03)
    assert one.set_clock("echo") == one.update() == OK and one.value("echoes", "Int32") == 1
    assert one.interval("echo")[:2] == (OK, UNKNOWN)
    assert one.call("fmi3Reset") == OK and one.begin() and one.value("echoes", "Int32") == 0
    assert one.interval("echo")[:2] == (OK, UNKNOWN)
    for state in (active, told, copy):
        assert one.call("fmi3FreeFMUState", byref(state)) == OK


@slow
def test_fmpy_finds_no_problem_and_runs_it_without_ticks() -> None:
    assert not validate_fmu(str(probe(3)))
    result = simulate_fmu(str(probe(3)), stop_time=1.0, output_interval=0.1, output=["count", "beats", "sampled"])
    assert result["count"][-1] == result["beats"][-1] == result["sampled"][-1] == 0  # fmpy ticks no clocks


def test_the_description_declares_clocks_and_what_they_drive() -> None:
    root = etree.fromstring(model_description_fmi3(load_model(find_recipe("ProbeClock")), "token"))
    clocks = {one.get("name"): one for one in root.iter("Clock")}
    kinds = {name: one.get("intervalVariability") for name, one in clocks.items()}
    assert kinds == {"tick": "triggered", "beat": "constant", "echo": "countdown", "carry": "triggered"}
    references = {one.get("name"): one.get("valueReference") for one in root.find("ModelVariables")}
    count = root.find("ModelVariables/Int32[@name='count']")
    assert count.get("clocks") == references["tick"] and count.get("previous") == references["count_before"]
    states = [one.get("valueReference") for one in root.iter("ClockedState")]
    assert states == [references[name] for name in ("count", "beats", "echoes")]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("resolution = 20", "resolution = 7", "interval = 0.1 s must be a whole number of 1/7 s"),
        ("interval = 0.1, ", "", "shift and resolution belong to an interval"),
        (', waits = "echo_waits"', "", "moment and waits belong together"),
        ('moment = "echo_at"', 'moment = "count"', "'count' must be a computed variable of the type real in s"),
        ('tick = { type = "bool"', 'tick = { type = "int"', "clock belongs to an input or output of the type bool"),
        ('"bool", clock = {}, depends', '"bool", clock = { interval = 1.0 }, depends', "an output clock is triggered"),
        ('clocks = ["beat"], prev', 'clocks = ["drum"], prev', "there is no clock 'drum' among inputs and outputs"),
        ('= "count_before"', '= "tick_before"', "must be visible memory of the type of a clocked output"),
        ("u = { start = 0.0", "u = { size = 2, clock = {}", "clock, clocks and previous belong to scalars"),
    ],
)
def test_a_wrong_clock_of_an_element_is_refused(old: str, new: str, said: str, tmp_path: Path) -> None:
    text = (shipped("elements") / "probe_clock" / "element.toml").read_text(encoding="utf-8")
    assert old in text
    folder = tmp_path / "probe_clock"
    folder.mkdir()
    (folder / "element.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(said)):
        read_declaration(folder)
