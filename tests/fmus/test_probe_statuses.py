"""fmi2Fatal and fmi2Pending of the probe of steps: call by call, and what our tools do with them."""

from __future__ import annotations

from contextlib import suppress
from ctypes import byref, c_char_p, c_double, c_int, c_void_p
from pathlib import Path
from zipfile import ZipFile

import pytest
from lxml import etree

from fmu_builder import Part, Scenario, run
from fmu_builder.errors import SlaveError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.paths import find_recipe
from fmu_builder.recording.checking import check_calls
from fmu_builder.recording.file import Recording
from fmu_builder.recording.wrapping import record_fmu
from tests.contact_core.fmi2 import (
    DISCARD,
    DO_STEP_STATUS,
    ERROR,
    FATAL,
    LAST_SUCCESSFUL_TIME,
    MODEL_EXCHANGE,
    OK,
    PENDING,
    PENDING_STATUS,
    QUICK,
    TERMINATED,
    Fmu,
    Importer,
    Slave,
    integers,
    reals,
    references,
)
from tests.contact_core.fmi3 import Fmu3, Instance


@pytest.fixture
def fmu(tmp_path: Path) -> Fmu:
    """In a library of its own: after fmi2Fatal it is lost."""
    return Fmu(host_fmu(find_recipe("ProbeStatus"), QUICK), tmp_path)


def begun(fmu: Fmu, importer: Importer | None = None, questions: int = 3, **times: float) -> Slave:
    slave = fmu.slave(importer)
    assert slave.set_integer("questions", questions) == OK
    slave.initialize(times)
    return slave


def do_step_status(slave: Slave) -> int:
    value = integers(9)
    assert slave.call("fmi2GetStatus", DO_STEP_STATUS, value) == OK
    return int(value[0])


def pending_text(slave: Slave) -> bytes | None:
    value = (c_char_p * 1)()
    assert slave.call("fmi2GetStringStatus", PENDING_STATUS, value) == OK
    return value[0]


def last_time(slave: Slave) -> float:
    value = reals(9.0)
    assert slave.call("fmi2GetRealStatus", LAST_SUCCESSFUL_TIME, value) == OK
    return float(value[0])


def test_a_pending_step_ends_after_the_number_of_questions(fmu: Fmu) -> None:
    slave = begun(fmu, Importer(waits=True), pending_at=0.15)
    assert slave.step(0.0, 0.1) == OK and slave.step(0.1, 0.1) == PENDING
    assert pending_text(slave) == b"the step is in progress" and last_time(slave) == 0.1
    assert slave.importer.finished == []
    assert do_step_status(slave) == OK and slave.importer.finished == [OK]
    assert slave.get("x") == pytest.approx([0.04], abs=1e-12)
    assert do_step_status(slave) == OK and last_time(slave) == 0.2 and slave.importer.finished == [OK]
    assert [m.category for m in slave.importer.messages if m.status == PENDING] == ["logStatusPending"]


def test_steps_that_end_before_the_answer_call_back_first(fmu: Fmu) -> None:
    slave = begun(fmu, Importer(waits=True), questions=0, pending_at=0.01)
    for k in range(5):
        assert slave.step(0.1 * k, 0.1) == PENDING and slave.importer.finished == [OK] * (k + 1)
        assert do_step_status(slave) == OK
    assert slave.get("x") == pytest.approx([0.25], abs=1e-12)


def test_the_result_of_a_pending_step_is_that_of_any_other(fmu: Fmu) -> None:
    for times, status, reached in (
        ({"discard_at": 0.05}, DISCARD, 0.05),
        ({"end_at": 0.05}, DISCARD, 0.05),
        ({"fail_at": 0.05}, ERROR, 0.0),
    ):
        slave = begun(fmu, None, 2, pending_at=0.01, **times)
        ended = integers(9)
        assert slave.step(0.0, 0.1) == PENDING
        assert slave.call("fmi2GetBooleanStatus", TERMINATED, ended) == OK and ended[0] == 0
        assert do_step_status(slave) == status and last_time(slave) == pytest.approx(reached, abs=1e-12)
        assert slave.call("fmi2GetBooleanStatus", TERMINATED, ended) == OK and ended[0] == ("end_at" in times)


def test_beside_a_pending_step_nothing_else_is_allowed(fmu: Fmu) -> None:
    slave = begun(fmu, pending_at=0.01)
    assert slave.step(0.0, 0.1) == PENDING
    x = references(fmu.references["x"])
    for name, *arguments in (
        ("fmi2GetReal", x, 1, reals(0.0)),
        ("fmi2SetReal", x, 1, reals(0.0)),
        ("fmi2DoStep", 0.1, 0.1, 0),
        ("fmi2Terminate",),
        ("fmi2Reset",),
        ("fmi2GetFMUstate", byref(c_void_p())),
    ):
        assert slave.call(str(name), *arguments) == ERROR
        assert slave.importer.texts[-1] == f"{name} is not allowed in the mode 'step in progress'"
    assert slave.call("fmi2SetDebugLogging", 1, 0, None) == OK
    assert [do_step_status(slave) for _ in range(3)] == [PENDING, PENDING, OK]


def test_a_cancelled_step_is_for_a_reset(fmu: Fmu) -> None:
    slave = begun(fmu, pending_at=0.01)
    assert slave.call("fmi2CancelStep") == ERROR and slave.importer.texts[-1] == "fmi2CancelStep: no step is pending"
    assert slave.step(0.0, 0.1) == PENDING and slave.call("fmi2CancelStep") == OK
    assert slave.step(0.0, 0.1) == slave.call("fmi2Terminate") == ERROR
    assert slave.call("fmi2Reset") == OK
    slave.initialize()
    assert slave.step(0.0, 0.1) == OK


def test_model_exchange_has_no_pending_step(fmu: Fmu) -> None:
    slave = fmu.slave(kind=MODEL_EXCHANGE)
    slave.initialize({"pending_at": 0.01})
    assert slave.new_discrete_states()[0] == slave.call("fmi2EnterContinuousTimeMode") == OK
    assert slave.call("fmi2SetTime", 0.1) == OK and slave.completed_step()[0] == OK


@pytest.mark.parametrize("kind", ["co-simulation", "model exchange"])
def test_a_fatal_error_is_one_of_all_instances(fmu: Fmu, kind: str) -> None:
    other = begun(fmu)
    if kind == "co-simulation":
        slave = begun(fmu, fatal_at=0.15)
        assert slave.step(0.0, 0.1) == OK and slave.step(0.1, 0.1) == FATAL
    else:
        slave = fmu.slave(kind=MODEL_EXCHANGE)
        slave.initialize({"fatal_at": 0.15})
        assert slave.new_discrete_states()[0] == slave.call("fmi2EnterContinuousTimeMode") == OK
        assert slave.call("fmi2SetTime", 0.2) == OK and slave.completed_step()[0] == FATAL
    assert [m.text for m in slave.importer.messages if m.category == "logStatusFatal"] == [
        "fatal_at = 0.15 s: all instances are lost"
    ]
    for one in (slave, other):
        for call in (("fmi2Terminate",), ("fmi2Reset",), ("fmi2DoStep", 0.1, 0.1, 0), ("fmi2CancelStep",)):
            assert one.call(*call) in (ERROR, FATAL)
        assert one.call("fmi2SetTime", c_double(0.0)) in (ERROR, FATAL)
        assert one.call("fmi2SetDebugLogging", c_int(1), 0, None) == FATAL
        assert one.importer.texts[-1] == "fmi2SetDebugLogging is not allowed in the mode 'fatal error'"
    importer = Importer()
    assert fmu.instantiate(importer) is None
    assert importer.texts == ["fmi2Instantiate: the FMU has answered fmi2Fatal"]
    slave.free()


@pytest.mark.slow
def test_fmi_3_has_fatal_errors_too(tmp_path: Path) -> None:
    fmu = Fmu3(host_fmu(find_recipe("ProbeStatus"), QUICK, 3), tmp_path)
    one = Instance(fmu)
    assert one.set("Float64", ["fatal_at", "pending_at"], [0.15, 0.01]) == OK
    one.begin()
    assert one.step(0.0, 0.1)[0] == OK and one.step(0.1, 0.1)[0] == FATAL
    assert one.call("fmi3Terminate") == one.call("fmi3Reset") == FATAL
    assert not Instance(fmu).component
    categories = {c.get("name") for c in etree.parse(fmu.folder / "modelDescription.xml").iterfind(".//Category")}
    assert "logStatusFatal" in categories and "logStatusPending" not in categories


def test_the_description_declares_what_the_fmu_does(fmu: Fmu) -> None:
    root = etree.fromstring(ZipFile(fmu.file).read("modelDescription.xml"))
    assert root.find("CoSimulation").get("canRunAsynchronuously") == "true"
    categories = {one.get("name") for one in root.iterfind("LogCategories/Category")}
    assert {"logStatusFatal", "logStatusPending"} <= categories


# ---- our tools -------------------------------------------------------------------------------------------------------


def scenario(fmu: Path, start: dict[str, str | int], isolated: bool = False) -> Scenario:
    slave = Part(recipe=str(fmu), start=start, isolated=isolated or None)
    return Scenario(slaves={"p": slave}, experiment={"step": "0.1 s", "stop": "1 s"})


def test_the_master_waits_for_pending_steps(fmu: Fmu) -> None:
    plain = run(scenario(fmu.file, {}))
    for questions in (0, 40):
        result = run(scenario(fmu.file, {"pending_at": "0.25 s", "questions": questions}))
        assert result.notes == () and (result["p.x"] == plain["p.x"]).all()


def test_the_master_says_why_it_does_not_wait(fmu: Fmu, tmp_path: Path) -> None:
    with pytest.raises(SlaveError, match="the master waits for the step if the slave is not isolated"):
        run(scenario(fmu.file, {"pending_at": "0.25 s"}, isolated=True))
    silent = tmp_path / "Silent.fmu"
    with ZipFile(fmu.file) as old, ZipFile(silent, "w") as new:
        for name in old.namelist():
            text = b'canRunAsynchronuously="%s"'
            new.writestr(name, old.read(name).replace(text % b"true", text % b"false"))
    with pytest.raises(SlaveError, match="which an FMU without canRunAsynchronuously must not"):
        run(scenario(silent, {"pending_at": "0.25 s"}))


@pytest.mark.slow
@pytest.mark.parametrize("start", [{"fatal_at": "0.35 s"}, {"pending_at": "0.25 s", "discard_at": "0.35 s"}])
def test_the_master_breaks_no_rule_of_calls(fmu: Fmu, start: dict[str, str | int], tmp_path: Path) -> None:
    recorder = record_fmu(fmu.file, tmp_path / "Recorder.fmu", tmp_path).path
    with suppress(SlaveError):
        run(scenario(recorder, start))
    recordings = [Recording(path) for path in tmp_path.glob("*.calls")]  # one is that of the trial in another process
    assert {call.status for one in recordings for call in one.calls} & {FATAL, PENDING}
    assert [finding for one in recordings for finding in check_calls(one)] == []
