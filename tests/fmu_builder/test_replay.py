"""Recorded calls that are repeated on an FMU: the first answer that differs is shown, to the bit."""

from __future__ import annotations

import json
import math
import struct
import sys
from pathlib import Path

import pytest
from broken_behaviour import WHOLE, broken_behaviour
from echo import XML, echo_fmu
from foreign import BODY, foreign_fmu, model_description
from tape import Tape, U, Y
from typer.testing import CliRunner

from fmu_builder import cli
from fmu_builder.check.report import check_fmu
from fmu_builder.cli.commands import app
from fmu_builder.errors import InputError, SlaveError
from fmu_builder.export.toolchain import PLATFORMS, host_platform
from fmu_builder.recording.file import Recording
from fmu_builder.recording.replay import Difference, Replay, replay_calls
from fmu_builder.recording.wrapping import record_fmu


def repeated(tape: Tape, folder: Path, fmu: Path | None = None) -> Replay:
    return replay_calls(Recording(tape.write(folder / "Echo.calls")), fmu or echo_fmu(folder))


def difference(found: Replay) -> Difference:
    assert found.difference is not None
    return found.difference


@pytest.mark.slow
def test_the_calls_of_a_check_have_the_same_answers_again(tmp_path: Path) -> None:
    """States, derivatives, both interfaces, several instances, and calls that are refused."""
    fmu = broken_behaviour(tmp_path, WHOLE)
    (tmp_path / "recorder").mkdir()
    check_fmu(record_fmu(fmu, tmp_path / "recorder" / "Broken.fmu", tmp_path / "calls").path)
    (path,) = (tmp_path / "calls").iterdir()
    recording = Recording(path)
    found = replay_calls(recording, fmu)
    assert (found.difference, found.calls, found.notes) == (None, len(recording.calls), ())
    assert {call.status for call in recording.calls} >= {0, 3}


def test_a_value_that_differs_in_one_bit_is_shown_with_its_bits(tmp_path: Path) -> None:
    tape = Tape().instantiate().start()
    tape("GetReal", [U, Y], out=([2.1, 5.1],))
    tape("GetReal", [U, Y], out=([2.1, math.nextafter(5.1, 6.0)],))
    found = repeated(tape, tmp_path)
    one = difference(found)
    assert (found.calls, one.call.number, one.what) == (5, 6, "y")
    assert one.repeated == f"5.1 ({struct.pack('>d', 5.1).hex()})"
    assert int(one.recorded.split("(")[1][:-1], 16) - int(one.repeated.split("(")[1][:-1], 16) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "inputs", "out", "what", "recorded", "answer"),
    [
        ("GetReal", ([U],), ([2.1],), "the status", "fmi2Discard", "fmi2OK"),
        ("GetString", ([1],), (["cafe"],), "text", "'cafe'", "'café'"),
        ("GetStatus", (0,), (1,), "value", "1", "2"),
        ("GetDerivatives", (2,), ([-0.0, 0.0],), "derivatives[2]", "0.0 (0000000000000000)", "-0.0 (8000000000000000)"),
        ("NewDiscreteStates", (), ([0, 1, 0, 0, 0], 0.25), "flags[5]", "0", "1"),
    ],
)
def test_what_differs_is_named(
    name: str,
    inputs: tuple[object, ...],
    out: tuple[object, ...],
    what: str,
    recorded: str,
    answer: str,
    tmp_path: Path,
) -> None:
    tape = Tape().instantiate()
    tape(name, *inputs, out=out, status=2 if what == "the status" else 0)
    one = difference(repeated(tape, tmp_path))
    assert (one.what, one.recorded, one.repeated) == (what, recorded, answer)


@pytest.mark.slow
def test_another_model_is_noted(tmp_path: Path) -> None:
    tape = Tape(XML.replace("GUID", "e").replace('modelName="Echo"', 'modelName="Other"').replace('"u[1]"', '"f"'))
    found = repeated(tape.instantiate(), tmp_path)
    assert found.notes[0].startswith("the recording is of Other, Echo.fmu is Echo; value references are of other")
    assert "f, and u[1] in Echo.fmu" in found.notes[0]


def test_an_instance_that_is_refused_is_a_difference(tmp_path: Path) -> None:
    one = difference(repeated(Tape().instantiate(guid="0"), tmp_path))
    assert (one.what, one.recorded, one.repeated) == ("the answer", "an instance", "NULL")


@pytest.mark.slow
def test_another_build_of_the_fmu_is_called_with_its_own_guid(tmp_path: Path) -> None:
    tape = Tape().instantiate().start()
    tape("DoStep", 0.0, 0.5, 1, status=1)
    assert repeated(tape, tmp_path, echo_fmu(tmp_path, "u")).difference is None


@pytest.mark.slow
def test_a_crash_is_a_difference_unless_it_was_recorded(tmp_path: Path) -> None:
    tape = Tape().instantiate().start()
    tape("DoStep", 1.0, 0.5, 1, status=0)
    fmu = echo_fmu(tmp_path, "c")
    found = repeated(tape, tmp_path, fmu)
    assert (found.calls, difference(found).what, difference(found).recorded) == (4, "the call", "returned")
    assert difference(found).repeated.startswith("crashes (")
    tape = Tape().instantiate().start()
    tape("DoStep", 1.0, 0.5, 1, status=None)
    found = repeated(tape, tmp_path, fmu)
    assert found.difference is None and "as it did not return in the recording" in found.notes[0]
    found = repeated(tape, tmp_path)
    assert found.difference is None and found.notes == ("call 5 did not return in the recording; here it did",)


@pytest.mark.slow
def test_calls_of_no_instance_are_left_out(tmp_path: Path) -> None:
    tape = Tape().instantiate()
    tape("Reset", component=0x77)
    tape("FreeInstance", component=0)
    tape("FreeInstance")
    found = repeated(tape, tmp_path)
    assert (found.calls, found.notes) == (3, ("1 calls of components that are of no instance were left out",))


@pytest.mark.slow
def test_a_hang_is_ended(tmp_path: Path) -> None:
    fmu = foreign_fmu(tmp_path, "Hangs", guid="b0-h")
    text = model_description("Hangs", BODY, "b0-h")
    tape = Tape(text).instantiate(guid="b0-h").start()
    tape("DoStep", 1.0, 0.5, 1)
    found = replay_calls(Recording(tape.write(tmp_path / "one.calls")), fmu, timeout=4.0)
    assert difference(found).repeated == "does not return within 4 s"


@pytest.mark.slow
def test_what_cannot_be_repeated_is_refused_with_a_repair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tape = Tape().instantiate().start()
    tape.write(Path("one.calls"))
    foreign_fmu(tmp_path, "Old", platforms=("win32",))
    recording = Recording(Path("one.calls"))
    with pytest.raises(InputError, match=r"no binary for this machine .* repeat the calls on another machine"):
        replay_calls(recording, Path("Old.fmu"))
    record_fmu(echo_fmu(tmp_path), "Recorder.fmu")
    with pytest.raises(InputError, match="give the FMU that it was made from"):
        replay_calls(recording, Path("Recorder.fmu"))
    library = f"binaries/{host_platform()}/Echo{PLATFORMS[host_platform()].suffix}"
    damaged = echo_fmu(tmp_path, files={library: b"no library"})
    with pytest.raises(SlaveError, match="does not load on this machine"):
        replay_calls(recording, damaged)
    tape("DoStep", 0.0, 0.5, 1, status=5)
    with pytest.raises(InputError, match="answered fmi2Pending"):
        repeated(tape, tmp_path)
    monkeypatch.setattr(sys, "argv", ["fmu-builder", "calls", "one.calls", "--check", "--replay", "Echo.fmu"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert (ended.value.code, "--check" in capsys.readouterr().err) == (2, True)


@pytest.mark.slow
def test_the_command_prints_the_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    echo_fmu(tmp_path)
    tape = Tape().instantiate()
    tape.write(Path("same.calls"))
    tape("GetReal", [U], out=([2.0],))
    tape.write(Path("other.calls"))
    same = CliRunner().invoke(app, ["calls", "same.calls", "--replay", "Echo.fmu"])
    assert (same.exit_code, same.stdout) == (0, "Echo.fmu: the answers to 1 calls are the recorded ones, to the bit\n")
    other = CliRunner().invoke(app, ["calls", "other.calls", "--replay", "Echo.fmu"])
    assert other.exit_code == 1
    assert other.stdout.splitlines() == [
        "Echo.fmu: call 2 differs, after 1 calls with the recorded answers",
        "    fmi2GetReal(u[1]) fmi2OK: 2.0",
        "    u[1]: recorded 2.0 (4000000000000000), repeated 2.1 (4000cccccccccccd)",
    ]
    found = json.loads(CliRunner().invoke(app, ["calls", "other.calls", "--replay", "Echo.fmu", "--json"]).stdout)
    assert (found["same"], found["difference"]["what"]) == (1, "u[1]")
