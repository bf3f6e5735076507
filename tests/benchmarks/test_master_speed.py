"""Speed of the master, per communication step.

`python -m pytest -n 0 -s -m benchmark tests/benchmarks/test_master_speed.py`.  A mass on a floor, nine links: the calls
written out in C (raw_master.c), the compiled loop, and the one in Python take turns on the same instances.  Budget of
the compiled loop over the raw calls: 0.05 us a step, 0.1 us with 20 signals recorded in each.  Times are printed, as
machines differ; asserted is the ratio to the raw calls where many instances do not fit into the caches.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from fmu_builder.cosim import master
from fmu_builder.cosim.link import function_address
from fmu_builder.cosim.loop.compiled import CompiledLoop
from fmu_builder.cosim.loop.operations import Access, Operation, Step
from fmu_builder.cosim.loop.program import Loop, PythonLoop
from fmu_builder.cosim.master import Master, load_scenario
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.toolchain import PLATFORMS, compile_hosted, find_compiler, fmi_headers, host_platform
from tests.contact_core.fmi2 import literal

pytestmark = pytest.mark.benchmark

TICKS, ROUNDS = 20_000, 40
STEP = 1e-5
SIGNALS = [
    "body.p.*",
    "floor.point.f*",
    "floor.*force",
    "floor.depth*",
    "floor.*impulse",
    "floor.distance",
    "floor.slip*",
]
REUSED = 64  # rows that are written again and again: without the first touch of memory, as far as the run waits for it
SYSTEM = """
connections = [ ["body{i}.p", "floor{i}.point"] ]
[experiment]
stop = {stop}
step = {step}
output_step = {output_step}
algorithm = "jacobi"
record = {record}
[slaves]
body = {{ recipe = "PointMass"{count}, start = {{ r0 = [0, 0, 0.01] }} }}
floor = {{ recipe = "PointSurface"{count} }}
"""


class _RawSlave(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("set", "step", "get", "component", "inputs", "outputs")]


class _RawPair(ctypes.Structure):
    _fields_ = [("body", _RawSlave), ("floor", _RawSlave), ("motion", ctypes.c_void_p), ("force", ctypes.c_void_p)]


@pytest.fixture(scope="module")
def raw_library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = tmp_path_factory.mktemp("raw") / f"raw{PLATFORMS[host_platform()].suffix}"
    compiler = find_compiler()
    assert compiler is not None
    compile_hosted([Path(__file__).with_name("raw_master.c")], library, [fmi_headers()], compiler, [])
    return ctypes.CDLL(str(library))


def _raw_calls(library: ctypes.CDLL, operations: Sequence[Operation]) -> Callable[[int, int], None]:
    """The ticks from one to another."""
    exchanged = [one for one in operations if isinstance(one, Access) and not _is_recorded(one)]
    links = {(one.link.slave.name, one.link.name): one.link for one in exchanged}
    slaves = {one.slave.name: one.slave for one in operations if isinstance(one, Step)}

    def raw(name: str) -> _RawSlave:
        slave = slaves[name]
        functions = (function_address(slave, call) for call in ("fmi2SetReal", "fmi2DoStep", "fmi2GetReal"))
        inputs, outputs = (links[name, f"fmi2{verb}Real"].references.ctypes.data for verb in ("Set", "Get"))
        return _RawSlave(*functions, slave.component, inputs, outputs)

    def memory(name: str, verb: str) -> int:
        return int(links[name, f"fmi2{verb}Real"].memory.ctypes.data)

    names = [(name, name.replace("body", "floor")) for name in slaves if name.startswith("body")]
    pairs = (_RawPair * len(names))(
        *(_RawPair(raw(body), raw(floor), memory(body, "Get"), memory(floor, "Get")) for body, floor in names)
    )

    def run(first: int, last: int) -> None:
        of_range = (ctypes.c_double(STEP), ctypes.c_long(first), ctypes.c_long(last))
        assert library.run_raw(pairs, ctypes.c_long(len(pairs)), *of_range) == 0

    return run


def _is_recorded(operation: Operation) -> bool:
    return isinstance(operation, Access) and operation.stride > 0


@dataclass
class _Turns:
    """In the place of `run_loop`: the loops take turns until the ticks of the run are done."""

    ticks: int  # of a turn
    library: ctypes.CDLL  # of the raw calls
    python: bool
    found: dict[str, list[float]] = field(default_factory=dict)  # us per tick, by what was run
    seconds: float = 0.0

    def __call__(self, loop: Loop, blocks: object, count: int, between: object) -> tuple[int, str]:
        begin, tick = time.perf_counter(), 0
        assert isinstance(loop, CompiledLoop)
        with ExitStack() as running:
            takers = [*self._takers(loop, running)]
            while tick < count:
                for name, ticks, run in takers:
                    end, started = min(tick + ticks, count), time.thread_time()
                    run(tick, end)
                    if end > tick:
                        self.found.setdefault(name, []).append((time.thread_time() - started) / (end - tick) * 1e6)
                    tick = end
        self.seconds = time.perf_counter() - begin
        return count, ""

    def _takers(self, loop: CompiledLoop, running: ExitStack) -> Iterator[tuple[str, int, Callable[[int, int], None]]]:
        operations, clock = loop._operations, loop._operations[0].clock
        unrecorded = [one for one in operations if not _is_recorded(one)]
        few_rows = [replace(one, rows=REUSED) if isinstance(one, Access) else one for one in operations]
        loops: dict[str, Loop] = {"compiled, recorded": loop}
        loops |= {
            f"the same, {REUSED} rows": CompiledLoop(few_rows, clock),
            "compiled": CompiledLoop(unrecorded, clock),
        }
        if self.python:
            loops["python"] = PythonLoop(unrecorded, clock)
        for name, one in loops.items():
            running.enter_context(one)

            def run(tick: int, end: int, one: Loop = one) -> None:
                assert one.advance(tick, end, lambda ticks: None) == (end, None)

            yield name, self.ticks // 10 if name == "python" else self.ticks, run
        yield "raw", self.ticks, _raw_calls(self.library, operations)


def _timed(folder: Path, library: ctypes.CDLL, pairs: int, record: Sequence[str], every: int) -> _Turns:
    literal("PointSurface", folder)
    path = folder / "system.toml"
    turns = _Turns(TICKS // pairs, library, pairs == 1)
    ticks = 4 * turns.ticks * ROUNDS // every * every
    path.write_text(
        SYSTEM.format(
            i="[i]" if pairs > 1 else "",
            count=f", count = {pairs}" if pairs > 1 else "",
            stop=ticks * STEP,
            step=STEP,
            output_step=every * STEP,
            record=list(record),
        ),
        encoding="utf-8",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(master, "run_loop", turns)
        patch.setattr(master, "host_fmu", host_fmu)  # as users get it
        trace = Master(load_scenario(path)).run(lambda share: None).trace
    assert np.ptp(trace.values, axis=0).max() > 0.0
    print(f"\n{len(trace.names)} signals, recorded every {every} steps")
    return turns


@pytest.mark.parametrize("every", [1, 100])
def test_overhead_over_the_calls_written_out_in_c(raw_library: ctypes.CDLL, tmp_path: Path, every: int) -> None:
    found = _timed(tmp_path, raw_library, 1, SIGNALS, every).found
    raw = median(found["raw"])
    print("9 links; us per step, median (least):")
    for name, times in found.items():
        print(f"{name:20} {median(times):6.3f} ({min(times):.3f})  over raw {median(times) - raw:+.3f}")


@pytest.mark.parametrize("pairs", [1, 10, 100, 1000])
def test_time_of_many_fmus_is_linear(raw_library: ctypes.CDLL, tmp_path: Path, pairs: int) -> None:
    begin = time.perf_counter()
    turns = _timed(tmp_path, raw_library, pairs, ["body*.p.r*"], 100)
    rest = (time.perf_counter() - begin - turns.seconds) / (2 * pairs) * 1e3
    assert median(turns.found["compiled"]) < 1.5 * median(turns.found["raw"])
    each = ", ".join(f"{name} {median(times) / pairs:.3f}" for name, times in turns.found.items())
    print(f"{2 * pairs} FMUs: us per pair and step: {each}; beside the loop {rest:.2f} ms per FMU")
