"""The compiled loop of the master and the one in Python: the same traces to the bit, contacts, notes and errors."""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foreign import BODY, GAIN, foreign_fmu, renamed

from fmu_builder.cosim.link import function_address
from fmu_builder.cosim.loop import compiled
from fmu_builder.cosim.loop.operations import Clock
from fmu_builder.cosim.loop.program import BLOCK, LOOP, Block, loop_of, run_loop
from fmu_builder.cosim.master import run
from fmu_builder.cosim.result import Result, RunInterrupted
from fmu_builder.cosim.slave import Slave
from fmu_builder.cosim.validation import all_cases
from fmu_builder.errors import FmuBuilderError, InputError, SlaveError, ToolError
from fmu_builder.export import host
from fmu_builder.export.toolchain import compile_hosted
from fmu_builder.model.scenario import read_scenario
from tests.contact_core.fmi2 import literal

FLOORED = """
connections = [{connections}]
[experiment]
stop = 0.15
step = 5e-5
{experiment}
[slaves]
{slaves}
"""
BODY_SLAVE = 'body = { recipe = "PointMass", start = { r0 = [0, 0, 0.02], v0 = [0.3, 0, 0] } }\n'


def outcome(path: Path, loop: str, monkeypatch: pytest.MonkeyPatch) -> Result | str:
    monkeypatch.setenv(LOOP, loop)
    try:
        return run(path)
    except FmuBuilderError as error:
        return f"{type(error).__name__}: {error}"


def agreed(path: Path, monkeypatch: pytest.MonkeyPatch) -> Result | str:
    """What both loops give, a result or an error."""
    one, other = (outcome(path, loop, monkeypatch) for loop in ("compiled", "python"))
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return one
    assert one.trace.names == other.trace.names
    assert one.trace.time.tobytes() == other.trace.time.tobytes()
    assert one.trace.values.tobytes() == other.trace.values.tobytes()
    assert one.trace.units == other.trace.units
    assert one.trace.provenance == other.trace.provenance
    assert one.events == other.events
    assert one.contacts == other.contacts
    assert one.notes == other.notes
    assert one.log == other.log
    return one


def written(folder: Path, text: str) -> Path:
    path = folder / "system.toml"
    path.write_text(text, encoding="utf-8")
    return path


def floored(floors: int, order: str, experiment: str) -> str:
    slaves = {"body": BODY_SLAVE, "floors": "".join(f'floor{i} = "PointSurface"\n' for i in range(floors))}
    return FLOORED.format(
        connections=", ".join(f'["body.p", "floor{i}.point"]' for i in range(floors)),
        experiment=experiment,
        slaves="".join(slaves[name] for name in order.split()),
    )


@pytest.mark.parametrize("order", ["body floors", "floors body"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_a_fall_on_a_floor_is_the_same_in_both_loops(
    tmp_path: Path, algorithm: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    literal("PointSurface", tmp_path)
    experiment = f'algorithm = "{algorithm}"\noutput_step = 1.5e-4'
    done = agreed(written(tmp_path, floored(1, order, experiment)), monkeypatch)
    assert isinstance(done, Result) and len(done.contacts) > 0 and len(done.trace.time) == 1001


@pytest.mark.parametrize("floors", [2, 3])
def test_sums_of_forces_are_the_same_in_both_loops(
    tmp_path: Path, floors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = agreed(written(tmp_path, floored(floors, "body floors", "")), monkeypatch)
    assert isinstance(done, Result) and len(done.contacts) >= floors


def test_links_of_all_types_and_drives_are_the_same_in_both_loops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More steps than a block of driven values; a table with a jump, and one that begins late and ends early."""
    fmu = foreign_fmu(tmp_path, "Switch", renamed(BODY, {"moving": "in_contact"}))
    gain = foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    text = f"""
        connections = [["a.steps", "b.count"], ["a.in_contact", "b.on"], ["g.y", "b.p.f[2]"]]
        [experiment]
        stop = 3
        step = 1e-3
        [slaves]
        a = {{ recipe = '{fmu}', start = {{ k = 100, r0 = [0.1, 0, 0] }} }}
        b = {{ recipe = '{fmu}', start = {{ k = 30 }} }}
        g = {{ recipe = '{gain}' }}
        [drive]
        "a.p.f[1]" = "20[N]*sin(2*PI*t/0.3[s])"
        "a.p.f[2]" = {{ time = [0.5, 1, 1, 2.5], value = [1, 3, -2, 0.7] }}
        "a.on" = {{ time = [0, 1.1, 2.3], value = [true, false, true] }}
        "a.count" = {{ time = [0, 1.5], value = [3, 8] }}
        "g.u" = "(t/1[s])^2"
        """
    assert 2 * BLOCK < 3000
    done = agreed(written(tmp_path, text), monkeypatch)
    assert isinstance(done, Result)
    assert {contact.place for contact in done.contacts} == {"a", "b"}  # sampled
    assert done.trace["b.p.r[2]"][-1] != 0.0 and done.trace["a.p.r[1]"].std() > 0.01
    row = 2000  # the force of the step before it ends there: of the jump's right side on, at 1.999 s
    assert done.trace["g.y"][row] == (1.999) ** 2


def in_millimetres(folder: Path) -> Path:
    """A body whose port is in mm, mm/s and N; its mass in t."""
    unit_of = {"p.r": "mm", "p.v": "mm/s", "r0": "mm", "m": "t"}
    variables = [replace(v, unit=unit_of.get(v.name.partition("[")[0], v.unit)) for v in BODY if v.name != "k"]
    return foreign_fmu(folder, "Millimetres", variables)


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_a_body_in_millimetres_moves_as_one_in_metres(
    tmp_path: Path, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fall(slave: str) -> Result:
        text = f"""
            connections = [["body.p", "floor.point"], ["body.p", "spring.point"]]
            [experiment]
            stop = 0.02
            step = 2e-5
            algorithm = "{algorithm}"
            [slaves]
            body = {slave}
            floor = "PointSurface"
            spring = {{ recipe = "PointSurface", start = {{ C_F = 1e4 }} }}
            """
        done = agreed(written(tmp_path, text), monkeypatch)
        assert isinstance(done, Result)
        return done

    metres = fall(
        f"{{ recipe = '{foreign_fmu(tmp_path, 'Metres')}', start = {{ r0 = [0, 0, -1e-3] }}, mass = '1 kg' }}"
    )
    start = "{ r0 = [0, 0, '-1 mm'], m = '1 kg' }"
    small = fall(f"{{ recipe = '{in_millimetres(tmp_path)}', start = {start}, mass = '1 kg' }}")
    assert small.trace["floor.contact_count"][-1] == 1.0
    height = metres.trace["body.p.r[3]"]
    np.testing.assert_allclose(small.trace["body.p.r[3]"], 1e3 * height, rtol=0, atol=1e-9 * 1e3 * np.abs(height).max())
    np.testing.assert_array_equal(small.trace.units["body.p.r[3]"], "mm")


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
@pytest.mark.parametrize("guid", ["b1--", "b2--", "b2t-", "b3--", "b4--", "b5--", "b7--", "b0-n", "b0-i"])
def test_slaves_that_fail_get_the_same_messages_from_both_loops(
    tmp_path: Path, guid: str, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fmu = foreign_fmu(tmp_path, "Spring", BODY, guid)
    text = f"""
        connections = [["body.p", "floor.point"]]
        [experiment]
        stop = 0.02
        step = 1e-3
        algorithm = "{algorithm}"
        [slaves]
        floor = "PointSurface"
        body = {{ recipe = '{fmu}', start = {{ "r0[3]" = 1.0 }} }}
        """
    done = agreed(written(tmp_path, text), monkeypatch)
    assert isinstance(done, Result) == (guid in ("b1--", "b2t-"))


@pytest.mark.parametrize("loop", ["compiled", "python"])
def test_a_value_that_is_no_number_and_is_not_recorded_ends_the_run_where_it_appears(
    tmp_path: Path, loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, gain = foreign_fmu(tmp_path, "Broken", GAIN, "g0-n"), foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    text = f"""
        connections = [["a.y", "b.u"]]
        [experiment]
        stop = 0.02
        step = 1e-3
        output_step = 0.02
        record = ["a.y"]
        [slaves]
        a = {{ recipe = '{broken}' }}
        b = {{ recipe = '{gain}' }}
        """
    monkeypatch.setenv(LOOP, loop)
    with pytest.raises(SlaveError, match=r"^a: y is nan at 0\.005 s"):
        run(written(tmp_path, text))


def test_values_that_a_call_gives_with_a_warning_are_checked_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, gain = foreign_fmu(tmp_path, "Broken", GAIN, "g0-n"), foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    signature = ctypes.CFUNCTYPE(ctypes.c_int, *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p))
    kept = []

    def warning(slave: Slave, name: str) -> int:
        address = function_address(slave, name)
        if name != "fmi2GetReal":
            return address
        real = signature(address)
        kept.append(signature(lambda *arguments: real(*arguments) or 1))
        return ctypes.cast(kept[-1], ctypes.c_void_p).value or 0

    monkeypatch.setenv(LOOP, "compiled")
    monkeypatch.setattr(compiled, "function_address", warning)
    text = f"""
        connections = [["a.y", "b.u"]]
        [experiment]
        stop = 0.02
        step = 1e-3
        [slaves]
        a = {{ recipe = '{broken}' }}
        b = {{ recipe = '{gain}' }}
        """
    with pytest.raises(SlaveError, match=r"^a: y is nan at 0\.005 s"):
        run(written(tmp_path, text))
    assert run(written(tmp_path, text.replace(str(broken), str(gain)))).trace.time[-1] == 0.02


def test_without_a_compiler_python_runs_the_loop_and_a_note_names_the_repair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_compiler(source: Path) -> Path:
        raise ToolError("there is no C compiler: install one")

    gain = foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    expected = run(gain)
    monkeypatch.setattr(compiled, "loop_library", functools.cache(compiled.loop_library.__wrapped__))
    monkeypatch.setattr(compiled, "shared_library", no_compiler)
    done = run(gain)
    assert done.trace.values.tobytes() == expected.trace.values.tobytes()
    assert [note for note in done.notes if "runs in Python" in note and "install one" in note]
    monkeypatch.setenv(LOOP, "compiled")
    with pytest.raises(ToolError, match="install one"):
        run(gain)


def test_a_library_that_does_not_load_leaves_the_loop_to_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = tmp_path / "loop.so"
    damaged.write_bytes(b"no library")
    gain = foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    monkeypatch.setattr(compiled, "loop_library", functools.cache(compiled.loop_library.__wrapped__))
    monkeypatch.setattr(compiled, "shared_library", lambda source: damaged)
    assert [note for note in run(gain).notes if "runs in Python" in note and f"{damaged} cannot be loaded" in note]
    monkeypatch.setenv(LOOP, "compiled")
    with pytest.raises(ToolError, match=r"loop\.so cannot be loaded"):
        run(gain)


def test_the_structs_of_both_languages_have_one_size() -> None:
    """operations.h asserts the same numbers."""
    sizes = (compiled._TERM.itemsize, ctypes.sizeof(compiled._Operation), ctypes.sizeof(compiled._Loop))
    assert sizes == (32, 64, 56)
    text = Path(compiled.__file__).with_name("operations.h").read_text(encoding="utf-8")
    assert all(
        f"sizeof({name}) == {size}" in text for name, size in zip(("Term", "Operation", "Loop"), sizes, strict=True)
    )


def test_a_source_is_compiled_once_for_each_of_its_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compilations: list[Path] = []

    def counted(sources: list[Path], library: Path, *arguments: Any) -> None:
        compilations.append(library)
        compile_hosted(sources, library, *arguments)

    monkeypatch.setattr(host, "compile_hosted", counted)
    source = tmp_path / "answer.c"
    text = '__attribute__((visibility("default"))) int answer(void);\nint answer(void) {{ return {}; }}\n'
    for number in (time.time_ns() % 1_000_000, 7):
        source.write_text(text.format(number), encoding="utf-8")
        library = host.shared_library(source)
        assert host.shared_library(source) == library
        assert ctypes.CDLL(str(library)).answer() == number
    assert 1 <= len(compilations) <= 2  # 7 may stand in the cache


def test_an_unknown_loop_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LOOP, "pyton")
    with pytest.raises(InputError, match=r"FMU_BUILDER_LOOP: 'pyton' must be .* did you mean 'python'"):
        run(foreign_fmu(tmp_path, "Gain", GAIN, "g0--"))


@pytest.mark.parametrize("kind", ["compiled", "python"])
@pytest.mark.parametrize(("every", "phase"), [(1, 0), (3, 0), (3, 2)])
def test_blocks_are_filled_before_and_drained_after_their_uses(
    kind: str, every: int, phase: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LOOP, kind)
    filled: list[int] = []
    drained: list[int] = []
    block = Block(
        every=every,
        phase=phase,
        fill=lambda first, count: filled.extend(range(first, first + count)),
        drain=lambda first, count: drained.extend(range(first, first + count)),
    )
    other = replace(block, every=2, phase=0, fill=None, drain=None)
    clock = Clock(0.0, 1.0)
    count = 10 * BLOCK + 5
    loop, _ = loop_of([], clock)
    assert run_loop(loop, [block, other], count, lambda ticks: None) == (count, "")
    uses = [*range(len(np.arange(phase, count, every)))]
    assert filled == uses and drained == uses


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("loop", ["compiled", "python"])
@pytest.mark.slow
def test_ctrl_c_ends_a_run_within_a_tenth_of_a_second_and_leaves_the_trace_up_to_there(
    tmp_path: Path, loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of its work, whatever other processes do beside it; the quickest of three."""
    gain = foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    text = f"[experiment]\nstop = 1e6\nstep = 1e-3\noutput_step = 1\n[slaves]\ng = '{gain}'\n[drive]\n'g.u' = 't/1[s]'"
    path = written(tmp_path, text)
    monkeypatch.setenv(LOOP, loop)
    seconds = []
    for _ in range(3):
        sent: list[float] = []

        def interrupt(sent: list[float] = sent) -> None:
            sent.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(0.1, interrupt)

        shares: list[float] = []

        def begin(share: float, timer: threading.Timer = timer, shares: list[float] = shares) -> None:
            """Once some rows are recorded, of one in a millionth of the run."""
            shares.append(share)
            if share > 5e-6 and timer.ident is None:
                timer.start()

        with pytest.raises(RunInterrupted, match="interrupted at") as caught:
            run(path, progress=begin)
        seconds.append(time.process_time() - sent[0])
        done = caught.value.result
        rows = len(done.trace.time)
        assert 1 < rows < 1e6
        assert done.trace.time.tolist() == [float(k) for k in range(rows)]
        assert np.array_equal(done.trace["g.y"][1:], [1e-3 * (1000 * k - 1) for k in range(1, rows)])
        assert done.notes[-1].startswith("interrupted at ")
        assert 0.0 < shares[-1] < 1.0
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert min(seconds) < 0.1


def one_of_each_program() -> list[str]:
    """The shortest case of each folder and kind of program: others run the same operations on other numbers."""
    shortest: dict[tuple[object, ...], tuple[float, str]] = {}
    for name, path in all_cases().items():
        scenario = read_scenario(path)
        experiment, steps = scenario.experiment, scenario.seconds("stop") / scenario.seconds("step")
        kind = (len(scenario.slaves), len(scenario.connections), bool(scenario.drive), experiment.output_step is None)
        program = (name.partition("/")[0], *kind, experiment.algorithm)
        shortest[program] = min(shortest.get(program, (steps, name)), (steps, name))
    return sorted(name for _, name in shortest.values())


@pytest.mark.slow
@pytest.mark.parametrize("case", one_of_each_program())
def test_every_program_of_a_case_is_the_same_in_both_loops(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(agreed(all_cases()[case], monkeypatch), Result)
