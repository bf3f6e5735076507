"""The rules on those who call an FMU: calls that break a rule are named with that rule, and with no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from echo import XML
from tape import CO_SIMULATION, DER_X, MODEL_EXCHANGE, K, M, Tape, U, X, Y
from typer.testing import CliRunner

from fmu_builder.cli.commands import app
from fmu_builder.errors import InputError
from fmu_builder.recording import guide_table
from fmu_builder.recording.checking import check_calls
from fmu_builder.recording.file import Recording
from fmu_builder.recording.functions import FUNCTIONS
from fmu_builder.recording.life import ALLOWED, State
from fmu_builder.recording.rules import ALL
from fmu_builder.recording.text import lines

WITHOUT = XML.replace('="true"', '="false"').replace('maxOutputDerivativeOrder="1"', "").replace("GUID", "e")
ONCE = XML.replace("<CoSimulation ", '<CoSimulation canBeInstantiatedOnlyOncePerProcess="true" ').replace("GUID", "e")


def rules_of(tape: Tape, folder: Path) -> set[str]:
    return {finding.rule.id for finding in check_calls(Recording(tape.write(folder / "Echo.calls")))}


def test_calls_in_the_order_of_the_standard_break_no_rule(tmp_path: Path) -> None:
    tape = Tape()
    tape("GetVersion", out=("2.0",), component=0)
    t = tape.instantiate()
    t("SetDebugLogging", 1, ["logAll"])
    t("SetReal", [X], [2.0])
    t.set_up(stop=3.0, tolerance=1e-6)
    t("EnterInitializationMode")
    t("SetReal", [X, U], [1.0, 2.0])
    t("GetReal", [Y, DER_X], out=([0.0, 0.0],))
    t("ExitInitializationMode")
    t("GetReal", [Y], out=([0.0],))
    t("SetReal", [U, K], [10.0, 1.0])
    t("SetInteger", [2], [3])
    t("SetRealInputDerivatives", [U], [1], [0.5])
    t("DoStep", 0.0, 0.25, 0)
    t("GetFMUstate", 0, out=(77,))
    t("DoStep", 0.25, 0.5, 0, status=2)
    t("GetRealStatus", 2, out=(0.5,))
    t("SetFMUstate", 77)
    t("SerializedFMUstateSize", 77, out=(3,))
    t("SerializeFMUstate", 77, 3, out=(b"abc",))
    t("FreeFMUstate", 77, out=(0,))
    t("FreeFMUstate", 0, out=(0,))
    t("DoStep", 0.25 + 1e-14, 0.5, 1)
    t("DeSerializeFMUstate", b"xyz", 0, out=(78,))
    t("FreeFMUstate", 78, out=(0,))
    t("GetRealOutputDerivatives", [Y], [1], out=([0.0],))
    t("GetDirectionalDerivative", [Y], [X], [1.0], out=([0.0],))
    t("DoStep", 0.75, 1.0, 1, status=5)
    t("GetStatus", 0, out=(5,))
    t("GetStatus", 0, out=(0,))
    t("DoStep", 1.75, 1.25, 1)
    t("Terminate")
    t("GetReal", [K], out=([0.0],))
    t("Reset")
    t.start(start=5.0)
    t("DoStep", 5.0, 0.1, 1)
    t("FreeInstance")
    t("FreeInstance", component=0)
    t.component = 0x2000
    t.instantiate(kind=MODEL_EXCHANGE).start()
    t.events(1)
    t.events(0, 0, 0, 0, 1, at=0.5)
    t("GetNominalsOfContinuousStates", 1, out=([1.0],))
    t("EnterContinuousTimeMode")
    t("SetTime", 0.5)
    t("SetContinuousStates", [1.0])
    t("SetReal", [U], [1.0])
    t("GetDerivatives", 1, out=([0.0],))
    t("GetEventIndicators", 2, out=([0.0, 1.0],))
    t("CompletedIntegratorStep", 1, out=(1, 0))
    t("EnterEventMode")
    t("SetReal", [K], [1.0])
    t.events(0, 1)
    t("Terminate")
    t("FreeInstance")
    assert rules_of(tape, tmp_path) == set()


Calls = Callable[[Tape], object]


def co_simulation(*calls: Calls, description: str = "") -> Tape:
    """An instance in the state step complete, these calls, its end."""
    return _around(calls, CO_SIMULATION, description)


def model_exchange(*calls: Calls) -> Tape:
    return _around(calls, MODEL_EXCHANGE, "")


def _around(calls: tuple[Calls, ...], kind: int, description: str) -> Tape:
    tape = (Tape(description) if description else Tape()).instantiate(kind=kind).start()
    for call in calls:
        call(tape)
    tape("FreeInstance")
    return tape


def created(**options: object) -> Tape:
    tape = Tape().instantiate(**options)  # type: ignore[arg-type]
    tape("FreeInstance")
    return tape


def fresh(*calls: Calls) -> Tape:
    """An instance that is not initialized."""
    tape = Tape().instantiate()
    for call in calls:
        call(tape)
    tape("FreeInstance")
    return tape


def of(name: str, *inputs: object, **options: object) -> Calls:
    return lambda t: t(name, *inputs, **options)  # type: ignore[arg-type]


def step(t: float, h: float = 0.5, final: int = 0) -> Calls:
    return of("DoStep", t, h, final)


SAVED, FREED = of("GetFMUstate", 0, out=(77,)), of("FreeFMUstate", 77, out=(0,))
CONTINUOUS = of("EnterContinuousTimeMode")


def iterated(*flags: int, at: float = 0.0) -> Calls:
    return lambda t: t.events(*flags, at=at)


def unended() -> Tape:
    tape = Tape().instantiate().start()
    tape("DoStep", 0.0, 0.5, 0)
    return tape


BROKEN: list[tuple[str, Tape]] = [
    ("C01", fresh(of("Reset", component=0x77))),
    ("C01", fresh(of("GetReal", [X], component=0))),
    ("C02", fresh(step(0.0))),
    ("C02", fresh(of("GetReal", [Y], out=([0.0],)))),
    ("C02", co_simulation(of("EnterInitializationMode"))),
    ("C02", co_simulation(of("DoStep", 0.0, 0.5, 0, status=3), of("SetReal", [U], [1.0]))),
    ("C02", co_simulation(of("DoStep", 0.0, 0.5, 0, status=5), of("GetReal", [Y], out=([0.0],)))),
    ("C02", co_simulation(of("Terminate"), step(0.0))),
    ("C02", model_exchange(of("SetContinuousStates", [1.0]))),
    ("C03", co_simulation(of("SetTime", 0.0))),
    ("C03", model_exchange(step(0.0))),
    ("C04", created(guid="other")),
    ("C05", created(name="")),
    ("C05", created(name=None)),
    ("C06", created(callbacks=[1, 0, 1, 1])),
    ("C07", created(place="/folder/resources")),
    ("C07", created(place=None)),
    ("C08", created(kind=2)),
    ("C10", co_simulation(lambda t: t("DoStep", 0.0, 0.5, 0, inside=[("GetReal", [Y])]))),
    ("C11", fresh(of("EnterInitializationMode"))),
    ("C12", fresh(lambda t: t.set_up(start=1.0, stop=0.5))),
    ("C12", fresh(lambda t: t.set_up(tolerance=-1.0))),
    ("C12", fresh(lambda t: t.set_up(start=float("nan")))),
    ("C13", co_simulation(of("GetReal", [99], out=([0.0],)))),
    ("C13", co_simulation(of("GetInteger", [Y], out=([0],)))),
    ("C14", co_simulation(of("SetReal", [M], [1.0]))),
    ("C14", co_simulation(of("SetReal", [Y], [1.0]))),
    ("C14", fresh(of("SetReal", [Y], [1.0]))),
    ("C15", fresh(of("SetReal", [U], [1.0]))),
    ("C16", co_simulation(of("SetReal", [U], [10.5]))),
    ("C16", co_simulation(of("SetReal", [U], [float("inf")]))),
    ("C17", fresh(lambda t: t.set_up(), of("EnterInitializationMode"), of("GetReal", [6], out=([0.0],)))),
    ("C18", co_simulation(of("SetReal", [U], [1.0]), of("GetReal", [Y], out=([0.0],)))),
    ("C19", co_simulation(step(0.5))),
    ("C19", co_simulation(step(0.0), step(0.6))),
    ("C20", co_simulation(step(0.0), step(0.5, 0.0))),
    ("C20", co_simulation(step(0.0), step(0.5, -0.1))),
    ("C21", co_simulation(step(0.0), step(0.5, 0.4), description=WITHOUT)),
    ("C22", fresh(lambda t: t.start(stop=0.6), step(0.0), step(0.5))),
    ("C23", co_simulation(SAVED, step(0.0), step(0.5, final=1), of("SetFMUstate", 77), FREED)),
    ("C24", co_simulation(SAVED, FREED, description=WITHOUT)),
    ("C25", co_simulation(SAVED, FREED, of("SetFMUstate", 77))),
    ("C25", co_simulation(of("SetFMUstate", 0))),
    ("C26", co_simulation(SAVED)),
    ("C27", co_simulation(SAVED, of("SerializeFMUstate", 77, 3, out=(b"abc",)), FREED)),
    ("C28", co_simulation(of("GetDirectionalDerivative", [Y], [X], [1.0], out=([0.0],)), description=WITHOUT)),
    ("C29", co_simulation(of("SetRealInputDerivatives", [U], [0], [1.0]))),
    ("C29", co_simulation(of("SetRealInputDerivatives", [K], [1], [1.0]))),
    ("C29", co_simulation(of("SetRealInputDerivatives", [U], [1], [1.0]), description=WITHOUT)),
    ("C30", co_simulation(step(0.0), of("GetRealOutputDerivatives", [Y], [2], out=([0.0],)))),
    ("C31", model_exchange(of("GetDerivatives", 3, out=([0.0] * 3,)))),
    ("C31", model_exchange(of("GetEventIndicators", 1, out=([0.0],)))),
    ("C32", model_exchange(CONTINUOUS)),
    ("C32", model_exchange(iterated(1), CONTINUOUS)),
    ("C33", model_exchange(iterated(), CONTINUOUS, of("CompletedIntegratorStep", 1, out=(1, 0)), of("SetTime", 1.0))),
    ("C33", model_exchange(iterated(0, 1), CONTINUOUS)),
    ("C34", model_exchange(iterated(0, 0, 0, 0, 1, at=0.5), CONTINUOUS, of("SetTime", 0.75))),
    ("C35", fresh(of("SetDebugLogging", 1, ["other"]))),
    ("C36", co_simulation(of("DoStep", 0.0, 0.5, 0, status=4))),
    ("C37", unended()),
]


@pytest.mark.parametrize(("rule", "tape"), BROKEN, ids=[rule for rule, _ in BROKEN])
def test_calls_that_break_a_rule_are_named_with_it_alone(rule: str, tape: Tape, tmp_path: Path) -> None:
    assert rules_of(tape, tmp_path) == {rule}


def test_a_second_instance_where_one_is_allowed_breaks_a_rule(tmp_path: Path) -> None:
    tape = Tape(ONCE).instantiate()
    tape.component = 0x2000
    tape.instantiate()
    tape("FreeInstance")
    tape.component = 0x1000
    tape("FreeInstance")
    assert rules_of(tape, tmp_path) == {"C09"}


def test_of_model_exchange_its_own_attribute_counts(tmp_path: Path) -> None:
    once = XML.replace("<ModelExchange ", '<ModelExchange canBeInstantiatedOnlyOncePerProcess="true" ')
    for kind, broken in ((MODEL_EXCHANGE, {"C09"}), (CO_SIMULATION, set[str]())):
        tape = Tape(once.replace("GUID", "e"))
        for component in (0x2000, 0x1000):
            tape.component = component
            tape.instantiate(kind=kind)
        for component in (0x2000, 0x1000):
            tape("FreeInstance", component=component)
        assert rules_of(tape, tmp_path) == broken


def test_a_damaged_byte_is_refused_or_read(tmp_path: Path) -> None:
    """Neither the clock nor sizes, kinds and values in records lead to anything but an InputError."""
    t = Tape().instantiate()
    t.start()
    t("DoStep", 0.0, 0.25, 1)
    t("SetReal", [U], [1.0])
    t("GetStatus", 0, out=(0,))
    t("FreeInstance")
    path = t.write(tmp_path / "Echo.calls")
    data = path.read_bytes()
    refused = set()
    for at in range(data.index(b"file:///r") - 120, len(data), 4):  # the lowest byte of each number
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x85]) + data[at + 1 :])
        try:
            recording = Recording(path)
            found = list(check_calls(recording)), list(lines(recording, recording.calls))
        except InputError as error:
            refused.add(str(error).partition(": ")[2].partition("at byte")[0])
        else:
            assert found
    assert "is damaged: " in refused
    path.write_bytes(data[:16] + bytes(8) + data[24:])
    with pytest.raises(InputError, match="at byte 16 there is a clock that stands still"):
        Recording(path)


def test_each_rule_is_broken_by_one_of_the_tapes_and_the_guide_lists_it() -> None:
    assert {rule for rule, _ in BROKEN} | {"C09"} == {rule.id for rule in ALL}
    assert guide_table.PAGE.read_text(encoding="utf-8") == guide_table.page(), (
        "python -m fmu_builder.recording.guide_table"
    )
    assert len({rule.name for rule in ALL}) == len({rule.id for rule in ALL}) == len(ALL)


def test_the_state_machine_has_all_functions_and_states() -> None:
    assert {one.name for one in FUNCTIONS} == ALLOWED.keys()
    assert all(State.FATAL not in states for states in ALLOWED.values())
    assert {state for states in ALLOWED.values() for state in states} == {*State} - {State.FATAL}


def test_findings_name_call_rule_section_and_repair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    co_simulation(step(0.0), step(0.6)).write(tmp_path / "Echo.calls")
    result = CliRunner().invoke(app, ["calls", "Echo.calls", "--check"])
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "error: Echo.calls:6: currentCommunicationPoint is 0.6 s, and the last step ended at 0.5 s",
        "    C19 communication-point (FMI 2.0.4, 4.2.2): pass the time that the instance has",
        "Echo.calls: 1 error, 0 warnings",
    ]
    result = CliRunner().invoke(app, ["calls", "Echo.calls", "--check", "--json"])
    found = json.loads(result.stdout)
    assert (result.exit_code, found["errors"], found["findings"][0]["call"]) == (1, 1, 6)
    co_simulation(of("SetReal", [U], [10.5])).write(tmp_path / "Echo.calls")
    assert CliRunner().invoke(app, ["calls", "Echo.calls", "--check"]).exit_code == 0
