"""The probes show what fmus/probes/expected.toml says: to calls of FMI 2.0, to fmpy's simulation, to `run`.

What fmpy does otherwise stands in guide/probes.md."""

from __future__ import annotations

import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from ctypes import byref, c_char_p, c_int, c_size_t
from functools import cache
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy import simulate_fmu
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import (
    FMU2Slave,
    fmi2CallbackFunctions,
    fmi2CallbackLoggerTYPE,
    fmi2Discard,
    fmi2DoStepStatus,
    fmi2Error,
    fmi2Fatal,
    fmi2LastSuccessfulTime,
    fmi2OK,
    fmi2Pending,
    fmi2Terminated,
)
from lxml import etree
from numpy.typing import NDArray

from fmu_builder.cosim.master import run
from fmu_builder.errors import InputError, SlaveError
from fmu_builder.export.description import model_description
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.probe_page import capabilities, checks
from fmu_builder.model.loader import load_model
from fmu_builder.paths import catalogue, find_recipe, shipped
from tests.contact_core.fmi3 import ERROR, OK, Fmu3, Instance

slow = pytest.mark.slow  # builds all of them

Check = dict[str, Any]
CHECKS = checks()
NAMES = [f"{one['probe']}-{number}" for number, one in enumerate(CHECKS)]


@cache
def probe(name: str) -> Path:
    return host_fmu(find_recipe(name))


def test_events_so_dense_that_a_step_does_not_end_are_refused(tmp_path: Path) -> None:
    recipe = tmp_path / "Dense.toml"
    recipe.write_text('element = "probe_event"\ndescription = "Dense"\n[start]\ninterval = "1e-9 s"\n')
    with pytest.raises(InputError, match="interval"):
        load_model(recipe)


class Importer:
    """Calls of FMI 2.0 as the standard has them, on one instance."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.description = fmpy.read_model_description(str(path))
        self.variables = {v.name: v for v in self.description.modelVariables}
        self.log: dict[str, list[str]] = defaultdict(list)
        self.is_lost = False  # after fmi2Fatal
        self.slave = FMU2Slave(
            guid=self.description.guid,
            unzipDirectory=fmpy.extract(str(path), str(folder)),
            modelIdentifier=self.description.coSimulation.modelIdentifier,
            instanceName="probe",
        )
        self._callbacks = fmi2CallbackFunctions()
        self._callbacks.logger = fmi2CallbackLoggerTYPE(self._logged)
        self.slave.instantiate(loggingOn=True, callbacks=self._callbacks)

    def _logged(self, _: Any, __: bytes, status: int, category: bytes, text: bytes) -> None:
        self.log[category.decode()].append(text.decode())

    def set(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            variable = self.variables[name]
            kind = "Integer" if variable.type == "Enumeration" else variable.type
            getattr(self.slave, f"set{kind}")([variable.valueReference], [value])

    def get(self, name: str) -> Any:
        variable = self.variables[name]
        (value,) = getattr(self.slave, f"get{variable.type}")([variable.valueReference])
        return value.decode() if isinstance(value, bytes) else value

    def result(self) -> int:
        """Of a pending step, once it has ended."""
        status = c_int(fmi2Pending)
        while status.value == fmi2Pending:
            assert self.slave.dll.fmi2GetStatus(self.slave.component, fmi2DoStepStatus, byref(status)) == fmi2OK
        return status.value

    def run(self, check: Check) -> tuple[str, float]:
        """Status and last successful time."""
        self.set(check["start"])
        self.slave.setupExperiment(startTime=0.0)
        self.slave.enterInitializationMode()
        self.slave.exitInitializationMode()
        self.set(check["set"])
        for k in range(round(check["stop"] / check["step"])):
            try:
                self.slave.doStep(k * check["step"], check["step"])
            except FMICallException as error:
                status = self.result() if error.status == fmi2Pending else error.status
                if status == fmi2OK:
                    continue
                if status == fmi2Fatal:
                    self.is_lost = True
                    return "fatal", k * check["step"]
                time = self.slave.getRealStatus(fmi2LastSuccessfulTime)
                if status == fmi2Discard:
                    return "ended" if self.slave.getBooleanStatus(fmi2Terminated) else "discarded", time
                assert status == fmi2Error
                return "failed", time
        return "done", check["stop"]


@pytest.fixture
def importers(tmp_path: Path) -> Iterator[Any]:
    made: list[Importer] = []

    def importer(name: str) -> Importer:
        made.append(Importer(probe(name), tmp_path / f"{len(made)}"))
        return made[-1]

    yield importer
    for one in made:
        if not one.is_lost:
            one.slave.freeInstance()


def close(value: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(expected, str):
        return bool(value == expected)
    return abs(float(value) - float(expected)) <= tolerance


def numbers(check: Check) -> dict[str, Any]:
    """What a result over time holds: fmpy and `run` record no Strings."""
    return {name: value for name, value in check["outputs"].items() if not isinstance(value, str)}


@slow
@pytest.mark.parametrize("check", CHECKS, ids=NAMES)
def test_a_right_importer_shows_what_is_expected(check: Check, importers: Any) -> None:
    importer = importers(check["probe"])
    status, time = importer.run(check)
    assert status == check["status"] and time == pytest.approx(check.get("time", check["stop"]), abs=1e-12)
    for name, expected in check["outputs"].items():
        assert close(importer.get(name), expected, check["tolerance"]), (name, importer.get(name), expected)
    for category, texts in check["logged"].items():
        assert set(texts) <= set(importer.log[category])


@slow
@pytest.mark.parametrize("check", CHECKS, ids=NAMES)
def test_our_master_shows_the_same(check: Check) -> None:
    """`run` has inputs as start values; a slave that is not done ends the run, with a note or an error."""
    options = {"start": {**check["start"], **check["set"]}, "stop": check["stop"], "step": check["step"]}
    fmu = probe(check["probe"])
    if check["status"] in ("failed", "fatal"):
        with pytest.raises(SlaveError, match="fmi2Error" if check["status"] == "failed" else "fmi2Fatal") as caught:
            run(fmu, **options)
        (texts,) = check["logged"].values()
        assert texts[0] in str(caught.value)
        return
    result = run(fmu, **options)
    if check["status"] == "ended":
        assert f"fmu ended the simulation at {check['time']:g} s" in result.notes
        return
    if check["status"] == "discarded":
        (note,) = result.notes
        assert note.endswith(f"made again from the state before: in parts from 0.3, {check['time']:g} s on")
        assert result["fmu.x"][-1] == pytest.approx(check["stop"] ** 2, abs=1e-12) and result["fmu.discarded"][-1]
        return
    assert not result.notes
    for name, expected in numbers(check).items():
        assert close(result[f"fmu.{name}"][-1], expected, check["tolerance"]), name
    logged = {str(entry).partition(": ")[2] for entry in result.log}
    assert {text for texts in check["logged"].values() for text in texts} <= logged


@slow
@pytest.mark.parametrize("check", CHECKS, ids=NAMES)
def test_fmpy_shows_the_same_except_for_discarded_and_pending_steps(check: Check) -> None:
    options: dict[str, Any] = {
        "start_values": {**check["start"], **check["set"]},
        "stop_time": check["stop"],
        "output_interval": check["step"],
        "output": list(numbers(check)),
        "validate": False,
    }
    fmu = str(probe(check["probe"]))
    if "pending_at" in check["start"] or check["status"] == "fatal":
        with pytest.raises(FMICallException, match=r"status (4 \(fatal\)|5 \(illegal return code\))"):
            simulate_fmu(fmu, **options)
        return
    if check["status"] in ("failed", "discarded"):
        # After a discarded step it begins the next one at the old time, which the FMU answers with fmi2Error.
        with pytest.raises(FMICallException, match=r"fmi2DoStep failed with status 3 \(error\)"):
            simulate_fmu(fmu, **options)
        return
    result = simulate_fmu(fmu, **options)
    assert result["time"][-1] == pytest.approx(check.get("time", check["stop"]), abs=1e-12)
    for name, expected in numbers(check).items():
        assert close(result[name][-1], expected, check["tolerance"]), name


# ---- what no row of the table says -----------------------------------------------------------------------------------


@slow
def test_an_importer_repeats_a_discarded_step_up_to_the_last_successful_time(importers: Any) -> None:
    importer = importers("ProbeStep")
    importer.run({"start": {"discard_at": 0.35}, "set": {}, "step": 0.1, "stop": 0.3})
    state = importer.slave.getFMUState()
    with pytest.raises(FMICallException):
        importer.slave.doStep(0.3, 0.1)
    time = importer.slave.getRealStatus(fmi2LastSuccessfulTime)
    importer.slave.setFMUState(state)
    importer.slave.freeFMUState(state)
    assert not importer.get("discarded")
    importer.slave.doStep(0.3, time - 0.3)  # all of it: nothing is discarded
    assert importer.slave.getRealStatus(fmi2LastSuccessfulTime) == time and importer.get("discarded")
    importer.slave.doStep(time, 0.4 - time)
    importer.slave.doStep(0.4, 0.1)
    assert importer.get("x") == pytest.approx(0.25, abs=1e-12)


@slow
def test_a_state_before_the_end_takes_the_end_back(importers: Any) -> None:
    importer = importers("ProbeStep")
    importer.set({"end_at": 0.15})
    importer.slave.setupExperiment(startTime=0.0)
    importer.slave.enterInitializationMode()
    importer.slave.exitInitializationMode()
    importer.slave.doStep(0.0, 0.1)
    state = importer.slave.getFMUState()
    for _ in range(2):
        with pytest.raises(FMICallException):
            importer.slave.doStep(0.1, 0.1)
        assert importer.slave.getBooleanStatus(fmi2Terminated)
        importer.slave.setFMUState(state)
        assert not importer.slave.getBooleanStatus(fmi2Terminated)
    importer.slave.doStep(0.1, 0.04)
    importer.slave.freeFMUState(state)


@slow
def test_model_exchange_jumps_and_ends_where_co_simulation_does() -> None:
    doses = simulate_fmu(
        str(probe("ProbeEvent")),
        fmi_type="ModelExchange",
        stop_time=1.0,
        relative_tolerance=1e-9,
        output=["x", "count"],
    )
    assert doses["x"][-1] == pytest.approx(0.6315244298733915, abs=1e-6) and doses["count"][-1] == 3
    ended = simulate_fmu(
        str(probe("ProbeStep")), fmi_type="ModelExchange", stop_time=1.0, start_values={"end_at": 0.35}, output=["x"]
    )
    assert 0.34 < ended["time"][-1] < 0.36  # the last row is one before the end


@slow
def test_fmi_3_ends_a_step_early_and_asks_to_end_the_simulation() -> None:
    fmu = str(host_fmu(find_recipe("ProbeStep"), fmi=3))
    options: dict[str, Any] = {"stop_time": 1.0, "output_interval": 0.1, "output": ["x", "discarded"]}
    ended = simulate_fmu(fmu, start_values={"end_at": 0.35}, **options)
    assert ended["x"][-1] == pytest.approx(0.1225, abs=1e-12) and len(ended) == 5
    assert ended["time"][-1] == pytest.approx(0.4)  # without early return fmpy takes the whole step for done
    early = simulate_fmu(fmu, start_values={"discard_at": 0.35}, early_return_allowed=True, **options)
    assert np.min(np.abs(early["time"] - 0.35)) < 1e-12 and early["time"][-1] == pytest.approx(1.0)
    assert early["x"][-1] == pytest.approx(1.0, abs=1e-12) and early["discarded"][-1]
    with pytest.raises(FMICallException, match=r"fmi3DoStep failed with status 2 \(discard\)"):
        simulate_fmu(fmu, start_values={"discard_at": 0.35}, **options)


@slow
def test_strings_keep_to_their_rules(importers: Any) -> None:
    importer = importers("ProbeFeedthrough")
    depends = {u.variable.name: [d.name for d in u.dependencies] for u in importer.description.outputs}
    assert depends["string_out"] == ["string_in"] and depends["string_shown"] == []  # parameters count at the start
    start = importer.variables["string_tunable"].start
    importer.run({"start": {"string_in": "first"}, "set": {}, "step": 0.1, "stop": 0.1})
    state = importer.slave.getFMUState()
    kept = importer.slave.serializeFMUState(state)
    longest = "é" * 511 + "e"  # 1023 bytes
    importer.set({"string_in": longest, "string_tunable": "other"})
    importer.slave.doStep(0.1, 0.1)
    assert importer.get("string_out") == longest and importer.get("string_shown") == "other"
    for name, value, said in (
        ("string_in", longest + "e", "the value of string_in is longer than 1023 bytes"),
        ("string_out", "x", "string_out cannot be set at all: the FMU computes it"),
    ):
        with pytest.raises(FMICallException):
            importer.set({name: value})
        assert importer.log["logStatusError"][-1] == f"fmi2SetString: {said}"
    assert importer.get("string_out") == longest
    reference = importer.variables["real_in"].valueReference
    with pytest.raises(FMICallException):
        importer.slave.getString([reference])
    assert importer.log["logStatusError"][-1] == "fmi2GetString: real_in is no String"
    importer.slave.setFMUState(importer.slave.deserializeFMUState(kept))
    assert (importer.get("string_out"), importer.get("string_shown")) == ("first", start)
    with pytest.raises(FMICallException):  # a text without its end
        importer.slave.deserializeFMUState(forged(kept, b"first".ljust(1024, b"\0"), b"f" * 1024))
    assert "string_in" in importer.log["logStatusError"][-1]
    importer.slave.freeFMUState(state)
    importer.slave.reset()
    importer.slave.setupExperiment(startTime=0.0)
    importer.slave.enterInitializationMode()
    assert (importer.get("string_out"), importer.get("string_shown")) == ("", start)


def forged(state: bytes, old: bytes, new: bytes) -> bytes:
    """A serialized state with other bytes, and the checksum (FNV-1a) that belongs to them."""
    assert state.count(old) == 1 and len(old) == len(new)
    body = state.replace(old, new)[:-8]
    checksum = 0xCBF29CE484222325
    for byte in body:
        checksum = (checksum ^ byte) * 0x100000001B3 % 2**64
    return body + checksum.to_bytes(8, "little")


@slow
def test_strings_change_in_event_mode_where_fmi_3_uses_it(tmp_path: Path) -> None:
    fmu = Fmu3(host_fmu(find_recipe("ProbeFeedthrough"), fmi=3), tmp_path)
    one = Instance(fmu, events=True)
    reference = one.references(["string_in"])

    def set_to(value: bytes) -> int:
        return one.call("fmi3SetString", reference, c_size_t(1), (c_char_p * 1)(value), c_size_t(1))

    one.begin()
    assert set_to(b"a") == one.call("fmi3EnterStepMode") == OK
    assert set_to(b"a") == OK  # is no change
    assert set_to(b"b") == ERROR and one.said().endswith("changes in event mode only, which this instance uses")
    assert one.call("fmi3EnterEventMode") == set_to(b"b") == OK
    values = (c_char_p * 1)()
    assert one.call("fmi3GetString", one.references(["string_out"]), c_size_t(1), values, c_size_t(1)) == OK
    assert values[0] == b"b"
    assert one.call("fmi3GetString", reference, c_size_t(1), values, c_size_t(2)) == ERROR
    one.free()


@slow
def test_there_is_a_message_in_every_category(importers: Any) -> None:
    names: set[str] = set()
    for start in ({"alarm_at": 0.05, "discard_at": 0.15}, {"fail_at": 0.05}):
        importer = importers("ProbeStep")
        importer.run({"start": start, "set": {}, "step": 0.1, "stop": 0.2})
        importer.slave.fmi2SetDebugLogging(importer.slave.component, 1, 1, (c_char_p * 1)(b"nothing"))
        names |= importer.log.keys()
    description = zipfile.ZipFile(probe("ProbeStep")).read("modelDescription.xml")
    assert names == {one.get("name") for one in etree.fromstring(description).iterfind("LogCategories/Category")}


def test_every_capability_that_can_be_missing_is_there_in_one_probe_and_missing_in_another() -> None:
    """By the descriptions, without binaries; what has one value in both is named in the guide."""
    of_both = [
        etree.fromstring(model_description(load_model(find_recipe(name)), "{0}")).find("CoSimulation").attrib
        for name in ("ProbeStep", "ProbePlain")
    ]
    listed = capabilities()
    for name, one in listed.items():
        assert [attributes[name] for attributes in of_both] == [one["step"], one["plain"]], name
    same = {name for name in of_both[0] if name != "modelIdentifier"} - listed.keys()
    assert same == {"needsExecutionTool", "canRunAsynchronuously"}  # which ProbeStatus has
    assert listed.keys() >= CAPABILITIES.keys()


CAPABILITIES = {
    "canGetAndSetFMUstate": lambda one: one.slave.getFMUState(),
    "canSerializeFMUstate": lambda one: one.slave.deserializeFMUState(b"0" * 64),
    "providesDirectionalDerivative": lambda one: one.slave.getDirectionalDerivative([1], [1], [1.0]),
    "canInterpolateInputs": lambda one: one.slave.setRealInputDerivatives([], [], []),
    "maxOutputDerivativeOrder": lambda one: one.slave.getRealOutputDerivatives([], []),
    "canHandleVariableCommunicationStepSize": lambda one: one.slave.doStep(0.1, 0.05),
}


@slow
@pytest.mark.parametrize("capability", CAPABILITIES)
def test_what_the_plain_probe_does_not_declare_it_refuses_by_name(capability: str, importers: Any) -> None:
    importer = importers("ProbePlain")
    importer.run({"start": {}, "set": {}, "step": 0.1, "stop": 0.1})
    assert not int(getattr(importer.description.coSimulation, capability))
    with pytest.raises(FMICallException):
        CAPABILITIES[capability](importer)
    (text,) = importer.log["logStatusError"]
    assert capability in text
    importer.slave.doStep(0.1, 0.1)  # and nothing has changed


@slow
def test_the_plain_probe_has_one_instance_at_a_time(importers: Any) -> None:
    first = importers("ProbePlain")
    assert first.description.coSimulation.canBeInstantiatedOnlyOncePerProcess
    second = FMU2Slave(
        guid=first.description.guid,
        unzipDirectory=first.slave.unzipDirectory,
        modelIdentifier="ProbePlain",
        instanceName="second",
    )
    with pytest.raises(Exception, match="Failed to instantiate"):
        second.instantiate()
    first.slave.fmi2FreeInstance(first.slave.component)
    second.instantiate()
    second.fmi2FreeInstance(second.component)
    first.slave.instantiate()


@slow
def test_the_references_over_time_are_exact_at_any_step() -> None:
    for step in (0.05, 1.0 / 3.0):
        result = run(probe("ProbeEvent"), step=step, stop=1.0)
        time, decay = result.trace.time, np.exp(-4.0 * 0.26)
        count = np.floor(np.round(time / 0.26, 9))
        left = decay**count + (1.0 - decay**count) / (1.0 - decay)
        assert np.allclose(result["fmu.x"], left * np.exp(-4.0 * (time - count * 0.26)), rtol=0, atol=1e-9)


def lorenz(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rates of the state of ProbeOde and, behind it, of what its errors become, row by row."""
    x = y[0]
    slopes = np.array([[-10.0, 10.0, 0.0], [28.0 - x[2], -1.0, -x[0]], [x[1], x[0], -8.0 / 3.0]])
    rates = [10.0 * (x[1] - x[0]), x[0] * (28.0 - x[2]) - x[1], x[0] * x[1] - 8.0 / 3.0 * x[2]]
    return np.vstack([rates, y[1:] @ slopes.T])


def runge_kutta(y: NDArray[np.float64], h: float, steps: int) -> NDArray[np.float64]:
    for _ in range(steps):
        first = lorenz(y)
        second = lorenz(y + h / 2 * first)
        third = lorenz(y + h / 2 * second)
        y = y + h / 6 * (first + 2 * second + 2 * third + lorenz(y + h * third))
    return y


def test_the_page_says_how_errors_of_the_chaotic_probe_grow() -> None:
    page = " ".join((shipped("elements") / "probe_ode" / "README.md").read_text(encoding="utf-8").split())
    exact = np.array([-4.902687541134648, -3.743872921802919, 24.690858102790564])
    state, most, spans = np.ones(3), 0.0, list[NDArray[np.float64]]()
    for _ in range(100):
        y = runge_kutta(np.vstack([state, np.eye(3)]), 1e-3, 100)
        state, growth = y[0], y[1:].T
        spans = [growth @ one for one in spans] + [growth]
        most = max(most, *(float(np.linalg.norm(one, 2)) for one in spans))
    assert f"grows up to {most:.0f} times" in page
    coarse = runge_kutta(np.ones((1, 3)), 1e-2, 1000)[0]
    for words, error in (("2e-8 with steps of 1 ms", state - exact), ("1e-3 with steps of 10 ms", coarse - exact)):
        assert words in page and float(words.split()[0]) == pytest.approx(np.linalg.norm(error), rel=0.3)


def test_every_probe_has_a_row_and_can_be_found_by_its_name() -> None:
    others = sorted((shipped("fmus") / "probes").glob("*.toml"))
    recipes = {path.stem for path in (*catalogue(), *others) if path.stem.startswith("Probe")}
    assert recipes == {one["probe"] for one in CHECKS} and len(recipes) <= 12


@slow
def test_ten_thousand_variables_are_all_there() -> None:
    assert len(fmpy.read_model_description(str(probe("ProbeMany"))).modelVariables) == 10_000
