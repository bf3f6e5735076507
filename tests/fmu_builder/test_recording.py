"""FMUs that record their calls: they are the FMU they were made from, and the recording holds every call."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import re
import struct
import subprocess
import sys
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p
from pathlib import Path
from typing import Any

import fmpy
import pytest
from broken_behaviour import WHOLE, broken_behaviour
from echo import echo_fmu
from foreign import BODY, foreign_fmu, model_description
from typer.testing import CliRunner

from fmu_builder import cli, run
from fmu_builder.check.report import check_fmu
from fmu_builder.cli.commands import app
from fmu_builder.errors import ToolError
from fmu_builder.export.binaries import read_library
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.smoke import CO_SIMULATION, EventInfo, Instance, Unpacked
from fmu_builder.export.toolchain import PLATFORMS, find_compiler, host_platform
from fmu_builder.paths import shipped
from fmu_builder.recording import wrapping
from fmu_builder.recording.checking import check_calls
from fmu_builder.recording.file import Recording
from fmu_builder.recording.functions import FUNCTIONS
from fmu_builder.recording.library import LINUX_IMPORTS, recorder_library
from fmu_builder.recording.messages import formatted
from fmu_builder.recording.replay import replay_calls
from fmu_builder.recording.text import UNFINISHED, lines
from fmu_builder.recording.wrapping import record_fmu

HOST = host_platform()
SUFFIX = PLATFORMS[HOST].suffix


def recorder(folder: Path, fmu: Path) -> Path:
    return record_fmu(fmu, folder / "recorder" / fmu.name, folder / "calls").path


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path) -> None:
    (tmp_path / "recorder").mkdir()


@contextmanager
def unpacked(folder: Path, fmu: Path) -> Iterator[Unpacked]:
    """An FMU for `Instance`, in a folder of its own."""
    place = folder / "unpacked" / fmu.parent.name
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(place)
    library = f"binaries/{HOST}/{fmu.stem}{SUFFIX}"
    yield Unpacked(str(place), library, (place / "resources").as_uri())


def instance(fmu: Unpacked, messages: list[bytes] | None = None) -> Instance:
    log = (lambda *some: None) if messages is None else (lambda *some: messages.append(some[4]))
    return Instance(fmu, CO_SIMULATION, log=log, announce=lambda name: None)


def only_recording(folder: Path) -> Recording:
    (path,) = (folder / "calls").glob("*.calls")
    return Recording(path)


# ---- the FMU stays the same ------------------------------------------------------------------------------------------


def test_only_the_library_of_the_fmu_is_replaced(tmp_path: Path) -> None:
    fmu = echo_fmu(tmp_path)
    with zipfile.ZipFile(fmu) as old, zipfile.ZipFile(recorder(tmp_path, fmu)) as new:
        library = f"binaries/{HOST}/Echo"
        assert {*new.namelist()} == {*old.namelist(), f"{library}.original{SUFFIX}", f"{library}.recorder"}
        for name in old.namelist():
            kept = name.replace(f"Echo{SUFFIX}", f"Echo.original{SUFFIX}")
            assert new.read(kept) == old.read(name)


@pytest.mark.slow
def test_an_fmu_that_records_breaks_no_rule(tmp_path: Path) -> None:
    report = check_fmu(recorder(tmp_path, broken_behaviour(tmp_path, WHOLE)))
    assert (report.findings, report.notes) == ((), ())
    assert sum(len(Recording(path).calls) for path in (tmp_path / "calls").iterdir()) > 300


SCENARIO = """
connections = [["body.p", "floor.point"]]
[experiment]
stop = "20 ms"
step = "20 us"
[slaves]
body = { recipe = "PointMass", start = { r0 = [0, 0, "0.1 mm"], v0 = [0.1, 0, "-1 m/s"] } }
floor = { recipe = "PointSurface" }
"""


@pytest.mark.slow
def test_a_run_has_the_same_bits_with_recorders(tmp_path: Path) -> None:
    plain = tmp_path / "plain.toml"
    plain.write_text(SCENARIO)
    text = SCENARIO
    for name in ("PointMass", "PointSurface"):
        path = recorder(tmp_path, host_fmu(shipped("fmus") / f"{name}.toml"))
        text = text.replace(f'recipe = "{name}"', f'recipe = "{path}"')
    recorded = tmp_path / "recorded.toml"
    recorded.write_text(text)
    one, other = run(plain).trace, run(recorded).trace
    assert one.values.tobytes() == other.values.tobytes() and len(one.time) == 1001
    recordings = [Recording(path) for path in (tmp_path / "calls").iterdir()]
    steps = [call for one in recordings for call in one.calls if call.function.name == "fmi2DoStep"]
    assert len(steps) >= 2000
    assert [finding for one in recordings for finding in check_calls(one)] == []


# ---- the recording ---------------------------------------------------------------------------------------------------


def references(*some: int) -> Any:
    return (c_uint * len(some))(*some)


def test_calls_take_as_many_bytes_as_the_guide_says(tmp_path: Path) -> None:
    page = " ".join((shipped("fmu_builder") / "guide" / "recording.md").read_text(encoding="utf-8").split())
    said = re.search(r"and (\d+) bytes, a call that reads three values as well and (\d+) bytes, .* us and 1.3 kB", page)
    with unpacked(tmp_path, recorder(tmp_path, echo_fmu(tmp_path))) as fmu:
        one = instance(fmu)
        one.call("fmi2DoStep", c_double(0.0), c_double(1e-3), 1)
        for n in (3, 100):
            one.call("fmi2GetReal", references(*[2] * n), c_size_t(n), (c_double * n)())
        one.free()
    recording = only_recording(tmp_path)
    step, few, many = (call.number for call in recording.calls if call.function.name in ("fmi2DoStep", "fmi2GetReal"))
    sizes, data, place = Counter[int](), recording.path.read_bytes(), 4096
    while place < len(data):
        size, kind, call = struct.unpack_from("<IB7xI", data, place)
        sizes[call] += size * (kind in (2, 3))  # begin and end of a call
        place += size
    assert said is not None and (sizes[step], sizes[few]) == tuple(map(int, said.groups()))
    assert sizes[many] == pytest.approx(1300, abs=50)


def test_every_function_is_recorded_with_arguments_and_answers(tmp_path: Path) -> None:
    names = {one.name for one in FUNCTIONS}
    with unpacked(tmp_path, recorder(tmp_path, echo_fmu(tmp_path))) as fmu:
        one = instance(fmu)
        library = one.library
        library.fmi2GetVersion.restype = c_char_p
        assert library.fmi2GetVersion() == b"2.0"
        library.fmi2GetTypesPlatform()
        two, n = references(2, 5), c_size_t(2)
        reals, integers, texts = (c_double * 2)(0.1, -0.0), (c_int * 2)(3, -4), (c_char_p * 2)(b"caf\xc3\xa9", None)
        state, size = c_void_p(), c_size_t()
        info, event, end = EventInfo(), c_int(), c_int()
        given: dict[str, tuple[Any, ...]] = {
            "SetDebugLogging": (1, c_size_t(1), (c_char_p * 1)(b"logAll")),
            "SetupExperiment": (1, c_double(1e-6), c_double(0.5), 0, c_double(2.0)),
            "EnterInitializationMode": (),
            "ExitInitializationMode": (),
            "GetReal": (two, n, (c_double * 2)()),
            "GetInteger": (two, n, (c_int * 2)()),
            "GetBoolean": (two, n, (c_int * 2)()),
            "GetString": (references(0, 1), n, (c_char_p * 2)()),
            "SetReal": (two, n, reals),
            "SetInteger": (two, n, integers),
            "SetBoolean": (two, n, integers),
            "SetString": (two, n, texts),
            "GetFMUstate": (byref(state),),
            "SetFMUstate": (state,),
            "SerializedFMUstateSize": (state, byref(size)),
            "SerializeFMUstate": (state, (ctypes.c_ubyte * 5)(), c_size_t(5)),
            "DeSerializeFMUstate": ((ctypes.c_ubyte * 3)(9, 8, 7), c_size_t(3), byref(state)),
            "FreeFMUstate": (byref(state),),
            "GetDirectionalDerivative": (two, n, references(1), c_size_t(1), (c_double * 1)(0.5), (c_double * 2)()),
            "EnterEventMode": (),
            "NewDiscreteStates": (byref(info),),
            "EnterContinuousTimeMode": (),
            "CompletedIntegratorStep": (1, byref(event), byref(end)),
            "SetTime": (c_double(0.75),),
            "SetContinuousStates": (reals, n),
            "GetDerivatives": ((c_double * 2)(), n),
            "GetEventIndicators": ((c_double * 2)(), n),
            "GetContinuousStates": ((c_double * 2)(), n),
            "GetNominalsOfContinuousStates": ((c_double * 2)(), n),
            "SetRealInputDerivatives": (two, n, (c_int * 2)(1, 2), reals),
            "GetRealOutputDerivatives": (two, n, (c_int * 2)(1, 2), (c_double * 2)()),
            "DoStep": (c_double(0.25), c_double(1e-3), 1),
            "CancelStep": (),
            "GetStatus": (0, byref(c_int())),
            "GetRealStatus": (2, byref(c_double())),
            "GetIntegerStatus": (9, byref(c_int())),
            "GetBooleanStatus": (3, byref(c_int())),
            "GetStringStatus": (1, byref(c_char_p())),
            "Terminate": (),
            "Reset": (),
        }
        for name, arguments in given.items():
            assert one.status(f"fmi2{name}", *arguments) == 0, name
        one.free()
    recording = only_recording(tmp_path)
    calls = {call.function.name: call for call in recording.calls}
    assert calls.keys() == names
    repeated = replay_calls(recording, tmp_path / "Echo.fmu")
    assert (repeated.difference, repeated.calls, repeated.notes) == (None, len(recording.calls), ())
    assert [call.function.name for call in recording.calls[:3]] == [
        f"fmi2{n}" for n in ("Instantiate", "GetVersion", "GetTypesPlatform")
    ]
    assert recording.names == ["", "smoke"] and {call.thread for call in recording.calls} == {1}
    assert all(call.status == 0 and call.duration is not None and call.duration >= 0.0 for call in recording.calls)
    begins = [call.begin for call in recording.calls]
    assert begins == sorted(begins)

    def of(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
        return dict(calls[f"fmi2{name}"].inputs), dict(calls[f"fmi2{name}"].outputs)

    handle = of("GetFMUstate")[1]["FMUstate"]
    assert handle
    created, nothing = of("Instantiate")
    assert created == {
        "instanceName": "smoke",
        "fmuType": 1,
        "fmuGUID": "e",
        "fmuResourceLocation": fmu.resources,
        "callbacks": [1, 1, 1, 0],
        "visible": 0,
        "loggingOn": 1,
    }
    vr: dict[str, Any] = {"vr": [2, 5]}
    assert nothing == {}
    assert of("GetVersion") == ({}, {"text": "2.0"})
    assert of("GetTypesPlatform") == ({}, {"text": "default"})
    assert of("SetDebugLogging") == ({"loggingOn": 1, "categories": ["logAll"]}, {})
    assert of("SetupExperiment")[0] == {
        "toleranceDefined": 1,
        "tolerance": 1e-6,
        "startTime": 0.5,
        "stopTimeDefined": 0,
        "stopTime": 2.0,
    }
    assert of("GetReal") == (vr, {"value": [2.1, 5.1]})
    assert of("GetInteger") == (vr, {"value": [-2, -5]})
    assert of("GetBoolean") == (vr, {"value": [0, 1]})
    assert of("GetString") == ({"vr": [0, 1]}, {"value": [None, "café"]})
    assert str(of("SetReal")) == str((vr | {"value": [0.1, -0.0]}, {}))
    assert of("SetInteger") == of("SetBoolean") == (vr | {"value": [3, -4]}, {})
    assert of("SetString") == (vr | {"value": ["café", None]}, {})
    assert of("SetFMUstate") == ({"FMUstate": handle}, {})
    assert of("SerializedFMUstateSize") == ({"FMUstate": handle}, {"size": 5})
    assert of("SerializeFMUstate") == ({"FMUstate": handle, "size": 5}, {"serializedState": bytes(range(5))})
    assert of("DeSerializeFMUstate") == ({"serializedState": b"\x09\x08\x07", "FMUstate": handle}, {"FMUstate": handle})
    assert of("FreeFMUstate") == ({"FMUstate": handle}, {"FMUstate": 0})
    assert of("GetDirectionalDerivative") == (
        {"vUnknown_ref": [2, 5], "vKnown_ref": [1], "dvKnown": [0.5]},
        {"dvUnknown": [1.0, 2.5]},
    )
    assert of("NewDiscreteStates")[1] == {"flags": [0, 1, 0, 0, 1], "nextEventTime": 0.25}
    assert of("CompletedIntegratorStep") == (
        {"noSetFMUStatePriorToCurrentPoint": 1},
        {"enterEventMode": 1, "terminateSimulation": 0},
    )
    assert of("SetTime") == ({"time": 0.75}, {})
    assert str(of("SetContinuousStates")[0]) == "{'x': [0.1, -0.0]}"
    assert str(of("GetDerivatives")) == "({'nx': 2}, {'derivatives': [-0.0, -0.0]})"
    assert of("GetEventIndicators") == ({"ni": 2}, {"eventIndicators": [1e300, 1e300]})
    assert of("GetContinuousStates") == ({"nx": 2}, {"x": [5e-324, 5e-324]})
    assert of("GetNominalsOfContinuousStates") == ({"nx": 2}, {"x_nominal": [1.0, 1.0]})
    assert of("SetRealInputDerivatives")[0]["order"] == [1, 2]
    assert of("GetRealOutputDerivatives") == (vr | {"order": [1, 2]}, {"value": [1 / 3, 2 / 3]})
    assert of("DoStep")[0] == {
        "currentCommunicationPoint": 0.25,
        "communicationStepSize": 1e-3,
        "noSetFMUStatePriorToCurrentPoint": 1,
    }
    answers = [of(f"Get{kind}Status")[1]["value"] for kind in ("", "Real", "Integer", "Boolean", "String")]
    assert answers == [2, 0.3, 7, 1, "pending"] and of("GetRealStatus")[0] == {"kind": 2}


def test_messages_keep_their_arguments_on_the_way_and_in_the_recording(tmp_path: Path) -> None:
    """The importer's logger prints them by vsnprintf, as importers in C do."""
    libc = ctypes.CDLL(None)
    printed = ctypes.create_string_buffer(500)
    with unpacked(tmp_path, recorder(tmp_path, echo_fmu(tmp_path))) as fmu:
        seen: list[bytes] = []
        one = instance(fmu, seen)
        one.status("fmi2DoStep", c_double(0.125), c_double(0.5), 1)
        one.free()
    libc.snprintf(
        printed, c_size_t(500), seen[0], -1, c_uint(7), ctypes.c_longlong(-(1 << 40)), c_double(0.125), 4, 2, b"smoke",
        *(c_double(x + 0.5) for x in range(1, 8)), c_double(0.5), b"end", ord("x"), c_size_t(9),
    )  # fmt: skip
    (message,) = only_recording(tmp_path).messages
    assert message.text == printed.value.decode()
    assert (message.status, message.category, message.instance, message.call) == (1, "logAll", 1, 2)


def test_a_percent_sign_without_arguments_is_no_crash(tmp_path: Path) -> None:
    with unpacked(tmp_path, recorder(tmp_path, echo_fmu(tmp_path, "u"))) as fmu:
        seen: list[bytes] = []
        one = instance(fmu, seen)
        one.status("fmi2DoStep", c_double(0.125), c_double(0.5), 1)
        one.free()
    assert seen == [b"100 % sure, %s, %d"]
    assert only_recording(tmp_path).messages[0].text.startswith("100 ")


def test_a_logger_gets_the_arguments_of_its_message(tmp_path: Path) -> None:
    """Compiled importers read them; here a function of the C library does, to which the logger is set."""
    with unpacked(tmp_path, recorder(tmp_path, echo_fmu(tmp_path))) as fmu:
        one = instance(fmu)
        one.free()
        libc = ctypes.CDLL(None)
        read, write = os.pipe()
        # int dprintf(int file, const char *format, ...): given the environment, the name and the rest
        one.callbacks.logger = ctypes.cast(libc.dprintf, type(one.callbacks.logger))
        one.callbacks.componentEnvironment = write
        instantiate = one.library.fmi2Instantiate
        component = instantiate(b"%d %s [%.12s]", CO_SIMULATION, b"e", b"", byref(one.callbacks), 0, 1)
        one.component = c_void_p(component)
        one.status("fmi2DoStep", c_double(0.125), c_double(0.5), 1)
        one.free()
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            assert pipe.read() == b"1 logAll [%d %u %lld %]"


def test_step_finished_is_passed_on_and_recorded(tmp_path: Path) -> None:
    finished: list[tuple[int | None, int]] = []
    callback = ctypes.CFUNCTYPE(None, c_void_p, c_int)(
        lambda environment, status: finished.append((environment, status))
    )
    with unpacked(tmp_path, recorder(tmp_path, echo_fmu(tmp_path, "p"))) as fmu:
        one = instance(fmu)
        one.free()
        one.callbacks.stepFinished = ctypes.cast(callback, c_void_p)
        one.callbacks.componentEnvironment = 77
        component = one.library.fmi2Instantiate(b"again", CO_SIMULATION, b"p", b"", byref(one.callbacks), 0, 1)
        one.component = c_void_p(component)
        assert one.status("fmi2DoStep", c_double(0.125), c_double(0.5), 1) == 5
        one.free()
    assert finished == [(77, 2)]
    message = only_recording(tmp_path).messages[-1]
    assert (message.kind, message.status, message.instance) == ("stepFinished", 2, 2)


def test_more_instances_than_slots_are_passed_on_as_well(tmp_path: Path) -> None:
    with unpacked(tmp_path, recorder(tmp_path, foreign_fmu(tmp_path, "Spring"))) as fmu:
        seen: list[bytes] = []
        some = [instance(fmu, seen) for _ in range(300)]
        for one in some:
            one.status("fmi2SetString", references(0), c_size_t(1), (c_char_p * 1)(b"a"))
        for one in some:
            one.free()
        again = instance(fmu, seen)
        again.status("fmi2SetString", references(0), c_size_t(1), (c_char_p * 1)(b"a"))
        again.free()
    recording = only_recording(tmp_path)
    assert len(seen) == 301 and len(recording.messages) == 257
    assert recording.messages[-1].instance == 301


def test_calls_of_several_threads_are_in_the_order_of_each_of_them(tmp_path: Path) -> None:
    count = 2000
    with unpacked(tmp_path, recorder(tmp_path, foreign_fmu(tmp_path, "Spring"))) as fmu:
        some = [instance(fmu) for _ in range(3)]

        def steps(one: Instance) -> None:
            for k in range(count):
                one.status("fmi2DoStep", c_double(k * 1e-3), c_double(1e-3), 1)

        threads = [threading.Thread(target=steps, args=(one,)) for one in some]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for one in some:
            one.free()
    recording = only_recording(tmp_path)
    for number in (1, 2, 3):
        own = [c for c in recording.calls if c.instance == number and c.function.name == "fmi2DoStep"]
        assert [c.inputs["currentCommunicationPoint"] for c in own] == [k * 1e-3 for k in range(count)]
        assert len({c.thread for c in own}) == 1
    assert [call.number for call in recording.calls] == [*range(1, len(recording.calls) + 1)]


RUN = """
import sys
from fmu_builder.export.smoke import Instance, Unpacked
from ctypes import c_double
one = Instance(Unpacked(*sys.argv[1:4]), 1, log=lambda *some: None, announce=lambda name: None)
for k in range(2000):
    one.status("fmi2DoStep", c_double(k * 1e-5), c_double(1e-5), 1)
"""


def test_a_crash_leaves_a_recording_up_to_the_call_that_crashed(tmp_path: Path) -> None:
    with unpacked(tmp_path, recorder(tmp_path, echo_fmu(tmp_path, "c"))) as fmu:
        arguments = [fmu.folder.partition("/binaries")[0], f"binaries/{HOST}/Echo{SUFFIX}", fmu.resources]
        ended = subprocess.run([sys.executable, "-c", RUN, *arguments], check=False, capture_output=True)
    assert ended.returncode < 0
    recording = only_recording(tmp_path)
    *before, last = recording.calls
    assert all(call.status is not None for call in before) and len(before) == 452
    assert (last.status, last.duration) == (None, None)
    assert last.inputs["currentCommunicationPoint"] == 451 * 1e-5
    assert UNFINISHED in next(iter(lines(recording, [last])))


@pytest.mark.slow
def test_each_process_and_each_load_has_a_file_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other é"
    other.mkdir()
    with unpacked(tmp_path, recorder(tmp_path, foreign_fmu(tmp_path, "Spring"))) as fmu:
        arguments = [fmu.folder.partition("/binaries")[0], f"binaries/{HOST}/Spring{SUFFIX}", fmu.resources]
        for _ in range(2):
            subprocess.run([sys.executable, "-c", RUN, *arguments], check=True)
        monkeypatch.setenv("FMU_BUILDER_CALLS", str(other))
        subprocess.run([sys.executable, "-c", RUN, *arguments], check=True)
        monkeypatch.setenv("FMU_BUILDER_CALLS", "none")
        subprocess.run([sys.executable, "-c", RUN, *arguments], check=True)
    assert {path.name for path in (tmp_path / "calls").iterdir()} == {"Spring.calls", "Spring-2.calls"}
    assert [path.name for path in other.iterdir()] == ["Spring.calls"]


@pytest.mark.slow
def test_a_library_that_was_loaded_by_a_relative_path_finds_its_neighbours(tmp_path: Path) -> None:
    with unpacked(tmp_path, recorder(tmp_path, foreign_fmu(tmp_path, "Spring"))) as fmu:
        script = f"""
import ctypes, os
os.chdir({fmu.folder!r})
library = ctypes.CDLL("./Spring{SUFFIX}")
os.chdir("/")
library.fmi2GetVersion.restype = ctypes.c_char_p
assert library.fmi2GetVersion() == b"2.0"
"""
        subprocess.run([sys.executable, "-c", script], check=True)
    assert [call.function.name for call in only_recording(tmp_path).calls] == ["fmi2GetVersion"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
def test_a_full_disk_ends_the_recording_and_not_the_fmu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (3 * 2**20, 3 * 2**20))\n"
    many = RUN.replace("range(2000)", "range(40000)") + "one.free()\n"
    with unpacked(tmp_path, recorder(tmp_path, foreign_fmu(tmp_path, "Spring"))) as fmu:
        arguments = [fmu.folder.partition("/binaries")[0], f"binaries/{HOST}/Spring{SUFFIX}", fmu.resources]
        subprocess.run([sys.executable, "-c", limit + many, *arguments], check=True)
    recording = only_recording(tmp_path)
    assert not recording.is_whole and 20_000 < len(recording.calls) < 31_000
    monkeypatch.chdir(tmp_path / "calls")
    result = CliRunner().invoke(app, ["calls", "Spring.calls", "--summary"])
    assert result.exit_code == 0 and "the disk became full: calls are missing at the end" in result.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
def test_a_process_that_is_forked_off_has_a_recording_of_its_own(tmp_path: Path) -> None:
    with unpacked(tmp_path, recorder(tmp_path, foreign_fmu(tmp_path, "Spring"))) as fmu:
        script = """
import os, sys
from fmu_builder.export.smoke import Instance, Unpacked
fmu = Unpacked(*sys.argv[1:4])
made = lambda: Instance(fmu, 1, log=lambda *some: None, announce=lambda name: None)
kept = made()
child = os.fork()
if child == 0:
    made().free()
    os._exit(0)
os.waitpid(child, 0)
kept.begin()
kept.free()
"""
        arguments = [fmu.folder.partition("/binaries")[0], f"binaries/{HOST}/Spring{SUFFIX}", fmu.resources]
        subprocess.run([sys.executable, "-c", script, *arguments], check=True)
    own, other = (Recording(tmp_path / "calls" / name) for name in ("Spring.calls", "Spring-2.calls"))
    assert [call.function.name[4:] for call in own.calls] == [
        "Instantiate", "SetupExperiment", "EnterInitializationMode", "ExitInitializationMode", "FreeInstance",
    ]  # fmt: skip
    assert [call.function.name[4:] for call in other.calls] == ["Instantiate", "FreeInstance"]
    assert own.process != other.process


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
def test_a_child_frees_an_instance_and_the_parent_goes_on_in_its_own_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is relative to that of the first call, although the importer changes its own."""
    monkeypatch.setenv("FMU_BUILDER_CALLS", "calls")
    monkeypatch.chdir(tmp_path)
    with unpacked(tmp_path, recorder(tmp_path, foreign_fmu(tmp_path, "Spring"))) as fmu:
        script = """
import os, sys
from ctypes import c_double
from fmu_builder.export.smoke import Instance, Unpacked
fmu = Unpacked(*sys.argv[1:4])
made = lambda: Instance(fmu, 1, log=lambda *some: None, announce=lambda name: None)
made().free()
kept = made()
kept.begin()
child = os.fork()
if child == 0:
    kept.free()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
for k in range(4):
    kept.status("fmi2DoStep", c_double(k * 0.5), c_double(0.5), 1)
kept.free()
os.chdir("/")
made().free()
"""
        arguments = [fmu.folder.partition("/binaries")[0], f"binaries/{HOST}/Spring{SUFFIX}", fmu.resources]
        subprocess.run([sys.executable, "-c", script, *arguments], check=True)
    own, other = (Recording(tmp_path / "calls" / name) for name in ("Spring.calls", "Spring-2.calls"))
    names = [call.function.name[4:] for call in own.calls]
    assert names[2:] == [
        "Instantiate", "SetupExperiment", "EnterInitializationMode", "ExitInitializationMode", *["DoStep"] * 4,
        "FreeInstance", "Instantiate", "FreeInstance",
    ]  # fmt: skip
    assert [call.function.name for call in other.calls] == ["fmi2FreeInstance"]
    assert other.process != own.process


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_fmpy_has_the_same_results_with_a_recorder(kind: str, tmp_path: Path) -> None:
    fmu = host_fmu(shipped("fmus") / "PointMass.toml")
    recorded = recorder(tmp_path, fmu)
    one, other = (
        fmpy.simulate_fmu(str(path), stop_time=0.05, fmi_type=kind, start_values={"v0[1]": 1.0})
        for path in (fmu, recorded)
    )
    assert one.tobytes() == other.tobytes()
    assert len(only_recording(tmp_path).calls) > 50


# ---- bad input -------------------------------------------------------------------------------------------------------


def fails(arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["fmu-builder", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0), " ".join(capsys.readouterr().err.split())


def test_what_cannot_be_recorded_is_refused_with_a_repair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = foreign_fmu(tmp_path, "Spring")
    (tmp_path / "Cut.fmu").write_bytes(whole.read_bytes()[:-100])
    (tmp_path / "file").touch()
    foreign_fmu(tmp_path, "Sources", platforms=())
    foreign_fmu(tmp_path, "Old", platforms=("win32",))
    foreign_fmu(tmp_path, "Three", description=model_description("Three", BODY, fmi_version="3.0"))
    foreign_fmu(tmp_path, "Taken", files={f"binaries/{HOST}/Taken.original{SUFFIX}": b""})
    recorder(tmp_path, whole)
    before = sorted(tmp_path.rglob("*"))
    for arguments, what in (
        (["Cut.fmu"], "copy it again"),
        (["Away.fmu"], "there is no such file"),
        (["Sources.fmu"], "holds no binaries; compile its sources first"),
        (["Old.fmu"], "folders win32: export it for one of these"),
        (["Three.fmu"], "is for FMI 3.0"),
        (["Taken.fmu"], "rename that file"),
        (["recorder/Spring.fmu"], "records its calls already; give the FMU that it was made from"),
        (["Spring.fmu", "-o", "Spring.fmu"], "is the FMU itself"),
        (["Spring.fmu", "-o", "Spring.zip"], "ends with .fmu"),
        (["Spring.fmu", "--into", "file"], "name another folder by --into"),
        (["Spring.fmu", "--into", "new/file/../../file/deep"], "name another folder by --into"),
    ):
        code, said = fails(["record", *arguments], capsys, monkeypatch)
        assert (code, what in said) == (2, True), said
        assert sorted(tmp_path.rglob("*")) == before
    code, said = fails(["record", "Spring.fmu", "-o", "file/X.fmu", "--into", "made/calls"], capsys, monkeypatch)
    assert code == 3 and "file/X.fmu: cannot be written" in said
    assert sorted(tmp_path.rglob("*")) == before


def test_the_folder_of_a_recorder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the help of the command shows it; it is removed again where the recorder cannot be written."""
    fmu = foreign_fmu(tmp_path, "Spring")
    made = record_fmu(fmu, tmp_path / "new" / "one" / "Spring.fmu", tmp_path / "calls")
    assert made.path.is_file()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(wrapping, "_write", full)
    with pytest.raises(ToolError, match=r"Spring\.fmu: cannot be written: No space left"):
        record_fmu(fmu, tmp_path / "other" / "one" / "Spring.fmu", tmp_path / "calls")
    assert not (tmp_path / "other").exists()


def test_an_instance_that_cannot_be_recorded_is_refused_with_a_message(tmp_path: Path) -> None:
    fmu = recorder(tmp_path, foreign_fmu(tmp_path, "Spring"))
    (tmp_path / "calls").rmdir()
    with unpacked(tmp_path, fmu) as one:
        seen: list[bytes] = []
        with pytest.raises(SystemExit, match="NULL"):
            instance(one, seen)
        assert b"FMU_BUILDER_CALLS" in seen[0]
        (tmp_path / "calls").mkdir()
        instance(one).free()
        assert len(only_recording(tmp_path).calls) > 0


def test_what_is_no_recording_is_refused_with_a_repair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with unpacked(tmp_path, recorder(tmp_path, foreign_fmu(tmp_path, "Spring"))) as fmu:
        one = instance(fmu)
        one.begin()
        one.free()
    data = (tmp_path / "calls" / "Spring.calls").read_bytes()
    monkeypatch.chdir(tmp_path)
    head = struct.unpack_from("<I", data, 4096)[0]
    for content, what in (
        (b"", "`fmu-builder record X.fmu` makes an FMU that writes some"),
        (b"time,x\n0,1\n" * 500, "is no recording of calls"),
        (data[:2000], "only the beginning of one"),
        (data[:-8], "ends within the record at byte"),
        (data[: 4096 + head] + b"\x03" + data[4097 + head :], "is damaged: at byte"),
        (data[:8] + b"\x09" + data[9:], "has version 9 of the format"),
    ):
        Path("one.calls").write_bytes(content)
        code, said = fails(["calls", "one.calls"], capsys, monkeypatch)
        assert (code, what in said) == (2, True), said
    assert fails(["calls", "away.calls"], capsys, monkeypatch) == (
        2,
        "error: away.calls: cannot be read: No such file or directory",
    )
    Path("one.calls").write_bytes(data)
    for arguments, what in (
        (["--function", "GetRaal"], "did you mean 'fmi2GetReal'?"),
        (["--variable", "p.q*"], "fits none"),
        (["--instance", "9"], "'9' is none"),
        (["--status", "Bad"], "fits none of the answers of FMI 2.0"),
        (["--from", "5", "--to", "1"], "--from: 5 s must be at most --to, 1 s"),
        (["--check", "--function", "Foo"], "--function: chooses calls to print, and --check takes all of them"),
        (["--replay", "Spring.fmu", "--summary"], "--summary: chooses calls to print, and --replay takes all"),
    ):
        code, said = fails(["calls", "one.calls", *arguments], capsys, monkeypatch)
        assert (code, what in said) == (2, True), said


# ---- text ------------------------------------------------------------------------------------------------------------


def test_calls_are_printed_chosen_and_summed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with unpacked(tmp_path, recorder(tmp_path, foreign_fmu(tmp_path, "Spring"))) as fmu:
        one = instance(fmu)
        one.begin()
        for k in range(3):
            one.status("fmi2SetReal", references(6), c_size_t(1), (c_double * 1)(k))
            one.status("fmi2DoStep", c_double(k * 0.5), c_double(0.5), 1)
            one.status("fmi2GetReal", references(0, 16), c_size_t(2), (c_double * 2)())
        one.free()
    monkeypatch.chdir(tmp_path / "calls")

    def printed(*arguments: str) -> list[str]:
        result = CliRunner().invoke(app, ["calls", "Spring.calls", *arguments])
        assert result.exit_code == 0, result.output
        return result.stdout.splitlines()

    everything = printed()
    assert len(everything) == 14
    (line,) = printed("--function", "Set*", "--variable", "p.f[1]", "--last", "1")
    assert line.endswith(" smoke fmi2SetReal(p.f[1] = 2.0) fmi2OK")
    assert printed("--function", "GetReal", "--instance", "smoke")[1].endswith(
        " fmi2GetReal(p.r[1], #16) fmi2OK: 0.25, 0.0"
    )
    assert printed("--status", "Error") == []
    summed = printed("--summary")
    assert summed[0].startswith("14 calls, 1 instance, 1 thread, ")
    assert any(text.split()[:2] == ["fmi2DoStep", "3"] and text.endswith("3 fmi2OK") for text in summed)
    data = json.loads("\n".join(printed("--json", "--function", "SetReal")))
    assert [call["inputs"]["value"] for call in data["calls"]] == [[0.0], [1.0], [2.0]]
    assert json.loads("\n".join(printed("--json", "--summary")))["functions"]["fmi2DoStep"]["calls"] == 3


@pytest.mark.parametrize(
    ("message", "arguments", "text"),
    [
        ("100 %%", [], "100 %"),
        ("%d of %s", [3], "3 of %s"),
        ("%s", [None], "(unreadable)"),
        ("%u %x", [2**64 - 1, 255], "4294967295 ff"),
        ("%*.*f|", [8, 2, 3.14159], "    3.14|"),
        ("%p", [255], "0xff"),
        ("%n %d", [], "%n %d"),
    ],
)
def test_messages_are_formatted_as_printf_does(message: str, arguments: list[Any], text: str) -> None:
    assert formatted(message, arguments) == text


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_recorder_exports_fmi_and_takes_of_the_platform_what_is_listed(platform: str) -> None:
    compiler = find_compiler()
    assert compiler is not None
    data = recorder_library(platform, compiler)
    assert len(data) < 150_000
    functions = {one for some in LINUX_IMPORTS.values() for one in some}
    libraries = read_library(data, platform)
    assert len(libraries) == (2 if platform == "darwin64" else 1)
    for library in libraries:
        assert (library.run_path, library.executable_stack, library.signed) in (
            (None, False, None),
            (None, False, True),
        )
        if library.format == "macho":
            assert {one.removeprefix("_") for one in library.exports} - {"_mh_dylib_header", "__dso_handle"} == {
                one.name for one in FUNCTIONS
            }
            assert library.imports == {"/usr/lib/libSystem.B.dylib"}
            assert library.undefined - {"dyld_stub_binder"} == {f"_{one}" for one in functions - {"dlclose"}}
        else:
            assert library.exports == {one.name for one in FUNCTIONS}
            used = {*LINUX_IMPORTS, *functions} if library.format == "elf" else {"KERNEL32.dll"}
            assert library.imports == used


def test_the_recorder_of_each_platform_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = find_compiler()
    assert compiler is not None
    library = recorder_library(HOST, compiler)
    monkeypatch.setattr("fmu_builder.recording.library.compile_hosted", None)
    assert recorder_library(HOST, compiler) == library
