"""Slaves in processes of their own: the same bits, and a message for whatever an FMU does to its process."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from foreign import BODY, GAIN, Var, foreign_fmu

from fmu_builder.cli import app
from fmu_builder.cosim.isolation import child, limits, process
from fmu_builder.cosim.isolation.limits import Limits
from fmu_builder.cosim.master import load_scenario, run
from fmu_builder.cosim.repeated import RepeatedRun
from fmu_builder.cosim.result import RunInterrupted
from fmu_builder.cosim.slave import Slave, read_slave
from fmu_builder.errors import InputError, SlaveError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="isolated is refused there")
DO_STEP = child.FUNCTIONS.index("DoStep")

SYSTEM = """
connections = [["first.y", "second.u"], ["third.p.r[1]", "first.u"]]
[experiment]
algorithm = "{algorithm}"
stop = "20 ms"
step = "1 ms"
[slaves]
first = "Gain.fmu"
second = "Gain.fmu"
third = {{ recipe = "Body.fmu", start = {{ k = 100, label = "a label", mode = 2, count = 3, on = false }} }}
[drive]
"third.p.f[1]" = "3[N]*sin(200[1/s]*#t)"
"""
DROP = """
connections = [["body.p", "floor.point"]]
[experiment]
algorithm = "{algorithm}"
stop = "20 ms"
step = "0.5 ms"
[slaves]
body = {{ recipe = "PointMass", start = {{ r0 = [0, 0, "1 mm"], v0 = [0, 0, "-0.5 m/s"] }} }}
floor = {{ recipe = "PointSurface", start = {{ C_F = "1e5 N/m", C_r = 0.5 }} }}
"""
BREAKS = """
[experiment]
stop = "20 ms"
step = "1 ms"
[slaves]
one = {{ recipe = "One.fmu", isolated = true{more} }}
"""


def written(folder: Path, text: str, **given: str) -> Path:
    path = folder / "system.toml"
    path.write_text(text.format(**given))
    return path


def breaking(folder: Path, how: str, variables: Sequence[Var] = GAIN, more: str = "", kind: str = "g0-") -> Path:
    foreign_fmu(folder, "One", variables, f"{kind}{how}")
    return written(folder, BREAKS, more=more)


def message_of(path: Path) -> str:
    with pytest.raises(SlaveError) as caught:
        run(path)
    return str(caught.value)


@pytest.mark.parametrize("algorithm", ["jacobi", pytest.param("gauss_seidel", marks=pytest.mark.slow)])
def test_values_of_all_types_and_messages_are_those_of_a_run_in_process(tmp_path: Path, algorithm: str) -> None:
    foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    foreign_fmu(tmp_path, "Body", BODY)
    path = written(tmp_path, SYSTEM, algorithm=algorithm)
    plain, isolated = run(path), run(path, isolated=True)
    assert plain.trace.values.tobytes() == isolated.trace.values.tobytes()
    assert plain.log == isolated.log and any("the label is now a label" in entry.text for entry in plain.log)


@pytest.mark.parametrize("algorithm", ["implicit", pytest.param("adaptive", marks=pytest.mark.slow)])
def test_states_and_derivatives_are_passed_on(tmp_path: Path, algorithm: str) -> None:
    path = written(tmp_path, DROP, algorithm=algorithm)
    plain, isolated = run(path), run(path, isolated=True)
    assert plain.bonds == isolated.bonds and plain.contacts == isolated.contacts and len(plain.contacts) > 0
    assert plain.trace.values.tobytes() == isolated.trace.values.tobytes()


def test_only_the_slaves_that_ask_for_it_are_isolated(tmp_path: Path) -> None:
    foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    foreign_fmu(tmp_path, "Body", BODY)
    text = SYSTEM.replace('second = "Gain.fmu"', 'second = {{ recipe = "Gain.fmu", isolated = true }}')
    path = written(tmp_path, text, algorithm="jacobi")
    assert [name for name, entry in load_scenario(path).slaves.items() if entry.isolated] == ["second"]
    assert run(path).trace.values.tobytes() == run(path, isolated=False).trace.values.tobytes()


# ---- what an FMU may do ----------------------------------------------------------------------------------------------


def test_a_crash_is_named_with_the_call_and_its_time(tmp_path: Path) -> None:
    message = message_of(breaking(tmp_path, "c"))
    assert message.startswith("one: fmi2DoStep crashed (SIG")
    assert message.endswith(") (step of 0.001 s from 0.005 s); copy or export the FMU again, or repair it")


def test_an_fmu_that_ends_its_process_is_named(tmp_path: Path) -> None:
    message = message_of(breaking(tmp_path, "x"))
    assert message.startswith("one: fmi2DoStep ended its process with exit code 7")


def test_a_call_that_does_not_return_is_ended_after_its_limit(tmp_path: Path) -> None:
    begin = time.monotonic()
    message = message_of(breaking(tmp_path, "h", more=', call_limit = "1 s"'))
    assert message.startswith("one: fmi2DoStep did not return within call_limit = 1 s and was ended (step of 0.001 s")
    assert message.endswith("; allow it more, or repair the FMU")
    assert time.monotonic() - begin > 1.0


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_a_call_that_does_not_return_and_leaves_the_trace_up_to_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = breaking(tmp_path, "h")
    made: list[process.IsolatedProcess] = []
    watch = process.IsolatedProcess._watch

    def watched(one: process.IsolatedProcess, alive: int) -> None:
        made.append(one)
        watch(one, alive)

    def press() -> None:
        """Once the call is made that does not return."""
        channel = made[0]._channel
        while channel.function != DO_STEP or channel.numbers[0] < 0.005 or channel.asked == channel.answered:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(process.IsolatedProcess, "_watch", watched)
    begun: list[threading.Thread] = []

    def begin(share: float) -> None:
        if not begun:
            begun.append(threading.Thread(target=press, daemon=True))
            begun[0].start()

    with pytest.raises(RunInterrupted) as caught:  # of a slave that had 60 s to return
        run(path, progress=begin)
    done = caught.value.result
    assert done.trace.time.tolist() == [1e-3 * k for k in range(6)]
    assert done.notes[-1] == "one did not return from fmi2DoStep at 0.005 s after Ctrl-C, and its process was ended"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_windows_refuses_isolated_slaves_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = load_scenario(breaking(tmp_path, "-"))
    monkeypatch.setattr(limits.sys, "platform", "win32")
    with pytest.raises(InputError) as caught:
        limits.limits_of(scenario)
    assert "[slaves] one isolated: is done on Linux and macOS only; remove it" in str(caught.value)


def start_slowly(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on a process takes 1.2 s and more to start."""
    slow = folder / "child.py"
    slow.write_text(f"import runpy, time\ntime.sleep(1.2)\nrunpy.run_path({child.__file__!r}, run_name='__main__')\n")
    monkeypatch.setattr(child, "__file__", str(slow))


def test_the_limit_of_a_call_is_not_that_of_the_start_of_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_slowly(tmp_path, monkeypatch)
    assert len(run(breaking(tmp_path, "-", more=', call_limit = "1 s"')).trace.time) == 21


def test_a_start_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start_slowly(tmp_path, monkeypatch)
    monkeypatch.setattr(process, "_START", 0.02)
    fmu = foreign_fmu(tmp_path, "One", GAIN, "g0--")
    with pytest.raises(SlaveError, match=r"its process did not return within 0.02 s and was ended while the FMU was"):
        Slave("one", read_slave(fmu), limits=Limits(call=0.01))


def test_an_fmu_that_fills_the_memory_is_named_with_what_it_had(tmp_path: Path) -> None:
    message = message_of(breaking(tmp_path, "m", BODY, more=", memory_limit = 200", kind="b0-"))
    assert message.startswith("one: fmi2DoStep crashed (SIGSEGV) with ")
    assert (
        "MiB in memory, of memory_limit = 200 MiB (step of 0.001 s from 0.005 s); allow it more, or repair the FMU"
        in message
    )


def test_a_crash_in_loading_is_named(tmp_path: Path) -> None:
    message = message_of(breaking(tmp_path, "l"))
    assert message.startswith("one (One.fmu): its process crashed (SIG") and "while the FMU was loaded" in message


def test_an_fmu_that_gives_no_instance_or_is_no_library_is_named(tmp_path: Path) -> None:
    message = message_of(breaking(tmp_path, "-", kind="00-"))
    assert "one: fmi2Instantiate returned no instance; it logged: no licence: 3 seats of 3 are taken" in message
    library = read_slave(tmp_path / "One.fmu").library()
    foreign_fmu(tmp_path, "One", GAIN, "g0--", platforms=(), files={library: b"no library"})
    assert message_of(tmp_path / "system.toml").startswith("one (One.fmu): does not load: ")


def test_a_status_is_answered_as_in_process(tmp_path: Path) -> None:
    path = breaking(tmp_path, "-", kind="g3-")
    isolated = message_of(path)
    with pytest.raises(SlaveError) as caught:
        run(path, isolated=False)
    assert isolated == str(caught.value) and "the valve is stuck" in isolated


def test_a_slave_that_ends_the_simulation_ends_it(tmp_path: Path) -> None:
    path = breaking(tmp_path, "-", kind="g2t")
    plain, isolated = run(path, isolated=False), run(path)
    assert plain.notes == isolated.notes and any("ended the simulation" in note for note in isolated.notes)
    assert np.array_equal(plain.trace.values, isolated.trace.values)


def test_the_command_leaves_no_half_written_file(tmp_path: Path) -> None:
    path, output = breaking(tmp_path, "c"), tmp_path / "trace.csv"
    with pytest.raises(SlaveError):
        app(["run", str(path), "-o", str(output)], standalone_mode=False)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["One.fmu", "system.toml"]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ('call_limit = "1 s"', "[slaves] one call_limit: is of a slave in a process of its own"),
        ('isolated = true, call_limit = "0 s"', "[slaves] one call_limit: 0 s must be greater than 0"),
        ('isolated = true, call_limit = "1 m"', "[slaves] one call_limit"),
        ("isolated = true, memory_limit = 1", "memory_limit"),
    ],
)
def test_limits_that_make_no_sense_are_refused(tmp_path: Path, entry: str, expected: str) -> None:
    foreign_fmu(tmp_path, "One", GAIN, "g0--")
    path = written(tmp_path, BREAKS.replace("isolated = true{more}", entry))
    with pytest.raises(InputError) as caught:
        run(path)
    assert expected in str(caught.value)


def test_both_processes_read_the_memory_as_it_is_written() -> None:
    """channel.c asserts the same numbers."""
    text = Path(child.__file__).with_name("channel.c").read_text(encoding="utf-8")
    sizes = {"Waiting": child.Waiting, "Proxy": process._Proxy, "Server": child._Server}
    for name, found in re.findall(r"sizeof\((\w+)\) == ([0-9]+(?: \+ 8 \* FUNCTIONS)?)", text):
        expected = sum(int(part) for part in found.replace("8 * FUNCTIONS", str(8 * len(child.FUNCTIONS))).split("+"))
        assert ctypes.sizeof(sizes.pop(name)) == expected
    assert not sizes and child.Channel.text.offset == int(re.findall(r"offsetof\(Channel, text\) == (\d+)", text)[0])
    assert re.findall(r"enum \{ TEXT = (\d+) \}", text) == [str(child.TEXT)]
    (numbered,) = re.findall(r"enum \{\s+(SETUP,[^}]*)FUNCTIONS\s+\}", text)
    assert numbered.count(",") == len(child.FUNCTIONS)


@pytest.mark.slow
def test_an_fmu_that_crashed_is_loaded_again_for_the_next_run(tmp_path: Path) -> None:
    path = breaking(tmp_path, "s", BODY, kind="b0-")  # if k > 1e6 N/m
    runs = RepeatedRun(load_scenario(path), with_contacts=False)
    try:
        expected = runs.run({}).values.copy()
        with pytest.raises(SlaveError, match=r"fmi2DoStep crashed \(SIG"):
            runs.run({"one": {"k": 2e6}})
        assert np.array_equal(runs.run({}).values, expected)
    finally:
        runs.close()


# ---- the end of processes --------------------------------------------------------------------------------------------


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_closed_slave_leaves_no_process(tmp_path: Path) -> None:
    slave = Slave("one", read_slave(foreign_fmu(tmp_path, "One", GAIN, "g0--")), limits=Limits())
    assert slave._process is not None
    pid = slave._process.pid
    assert is_alive(pid)
    slave.close()
    slave.close()
    assert not is_alive(pid)


def members(group: int) -> int:
    """Living processes of the group that a process leads."""
    states = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, leader = path.read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it has just ended
            continue
        states += [state] if int(leader) == group else []
    return len(states) - states.count("Z")


def becomes(number: int, group: int) -> bool:
    deadline = time.monotonic() + 60.0
    while members(group) != number and time.monotonic() < deadline:
        time.sleep(0.01)
    return members(group) == number


@pytest.mark.skipif(sys.platform != "linux", reason="finds the processes in /proc")
def test_what_an_fmu_has_started_ends_with_its_process(tmp_path: Path) -> None:
    description = read_slave(foreign_fmu(tmp_path, "One", GAIN, "g0-f"))
    closed, ended = (Slave(name, description, limits=Limits()) for name in ("closed", "ended"))
    groups = []
    for slave in (closed, ended):
        assert slave._process is not None
        groups.append(slave._process.pid)
        assert becomes(2, slave._process.pid)
    closed.close()
    os.kill(groups[1], signal.SIGKILL)
    assert becomes(0, groups[0]) and becomes(0, groups[1])
    with pytest.raises(SlaveError, match=r"fmi2Reset crashed \(SIGKILL\)"):
        ended.call("fmi2Reset")
    ended.close()


@pytest.mark.skipif(sys.platform != "linux", reason="finds the process in /proc")
@pytest.mark.parametrize(
    "how", [pytest.param("-", marks=pytest.mark.slow), "h", pytest.param("f", marks=pytest.mark.slow)]
)
def test_processes_end_with_a_master_that_is_killed(tmp_path: Path, how: str) -> None:
    """Also those in a call that does not return, and those that the FMU has started."""
    fmu = foreign_fmu(tmp_path, "One", GAIN, f"g0-{how}")
    text = f"""
        from pathlib import Path
        from fmu_builder.cosim.isolation.limits import Limits
        from fmu_builder.cosim.slave import Slave, read_slave
        slave = Slave("one", read_slave(Path({str(fmu)!r})), limits=Limits())
        print(slave._process.pid, flush=True)
        slave.dll.fmi2DoStep(slave.component, 0.006, 0.001, 1)
        input()
    """
    command = [sys.executable, "-c", textwrap.dedent(text)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as master:
        assert master.stdout is not None
        pid = int(master.stdout.readline())
        time.sleep(0.1)  # into the call
        assert is_alive(pid)
        master.send_signal(signal.SIGKILL)
        master.wait()
        assert becomes(0, pid)
