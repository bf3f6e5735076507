"""`implicit` and `adaptive` in C and in Python: the same traces to the bit, the same reports, notes and errors."""

from __future__ import annotations

import ctypes
import functools
import math
import os
import re
import signal
import threading
import time
from collections.abc import Mapping
from ctypes import c_double, c_int, c_size_t, c_void_p
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foreign import GAIN, foreign_fmu

from fmu_builder import Scenario, run
from fmu_builder.cosim.implicit import compiled, iqn
from fmu_builder.cosim.implicit.bodies import Body
from fmu_builder.cosim.link import function_address
from fmu_builder.cosim.loop import compiled as loop
from fmu_builder.cosim.loop.program import LOOP
from fmu_builder.cosim.result import Result, RunInterrupted
from fmu_builder.errors import FmuBuilderError, SlaveError, ToolError
from tests.fmu_builder.implicit_systems import SYSTEMS

ALGORITHMS = ("implicit", "adaptive")
GUIDE = {
    "slaves": {
        "mass": {"recipe": "PointMass", "start": {"r0": [0.2, 1e-3, 0], "v0": [0.5, 0, 0]}},
        "guide": {"recipe": "GuideRail"},
    },
    "connections": [("mass.p", "guide.point")],
}
BRISTLE = {
    "slaves": {
        "mass": {"recipe": "PointMass", "start": {"r0": [0, 0, -1e-5], "v0": [0.01, 0, 0]}},
        "floor": {"recipe": "PointSurfaceBristle", "start": {"C_F": 1e6}},
    },
    "connections": [("mass.p", "floor.point")],
}
DAMPED_SPRING = {
    "slaves": {
        "mass": {"recipe": "PointMass", "start": {"r0": [0.12, 0.01, 0], "g": [0, 0, -9.81]}},
        "spring": {"recipe": "PointToPointSpring", "start": {"k": 1000, "d": 5, "l0": 0.1}},
        "floor": {"recipe": "PointSurface", "start": {"C_F": 1e6, "C_r": 0.5, "surface.r": [0, 0, -0.05]}},
    },
    "connections": [("mass.p", "spring.first"), ("mass.p", "floor.point")],
}
SPEEDS = {
    "slaves": {
        "a": {"recipe": "SliderMass", "start": {"m": 2, "v0": 1}},
        "b": {"recipe": "SliderMass", "start": {"m": 3}},
        "spring": {"recipe": "TranslationalSpring", "start": {"k": 1e4}},
        "damper": {"recipe": "TranslationalDamper", "start": {"d": 10}},
    },
    "connections": [("a.p", "spring.r"), ("b.p", "spring.c"), ("a.p", "damper.r"), ("b.p", "damper.c")],
}
PARTS: dict[str, Mapping[str, Any]] = {
    "guide": GUIDE, "bristle": BRISTLE, "damped spring": DAMPED_SPRING, "speeds": SPEEDS,
}  # fmt: skip


def outcome(scenario: Scenario, kind: str, monkeypatch: pytest.MonkeyPatch) -> Result | str:
    monkeypatch.setenv(LOOP, kind)
    try:
        return run(scenario)
    except FmuBuilderError as error:
        return f"{type(error).__name__}: {error}"


def agreed(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> Result | str:
    """What both loops give, a result or an error."""
    one, other = (outcome(scenario, kind, monkeypatch) for kind in ("compiled", "python"))
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return one
    assert one.trace.names == other.trace.names
    assert one.trace.values.tobytes() == other.trace.values.tobytes()
    assert (one.events, one.contacts) == (other.events, other.contacts)
    assert (one.groups, one.bonds) == (other.groups, other.bonds)
    assert (one.notes, one.log) == (other.notes, other.log)
    return one


def of_parts(name: str, algorithm: str, **experiment: object) -> Scenario:
    return Scenario(**PARTS[name], experiment={"stop": 0.05, "step": 1e-3, "algorithm": algorithm, **experiment})


def of_system(name: str, algorithm: str, phases: int) -> Scenario:
    return replace(SYSTEMS[name], phases=SYSTEMS[name].phases[:phases]).scenario(3.1, algorithm)


@pytest.mark.parametrize(("name", "algorithm"), [("oblique, damped", "implicit"), ("rod", "implicit")])
def test_a_system_is_the_same_in_both_loops(name: str, algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done = agreed(of_system(name, algorithm, 1), monkeypatch)
    assert isinstance(done, Result) and done.groups[0].evaluations > 6 * done.groups[0].steps


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_all_systems_are_the_same_in_both_loops(name: str, algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(agreed(of_system(name, algorithm, 4), monkeypatch), Result)


@pytest.mark.parametrize("algorithm", ["implicit", pytest.param("adaptive", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", PARTS)
def test_each_kind_of_element_is_the_same_in_both_loops(
    name: str, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Losses that are proportional and that are added, states that are stepped inside the solution."""
    assert isinstance(agreed(of_parts(name, algorithm, stop=0.01), monkeypatch), Result)


@pytest.mark.parametrize("algorithm", ["adaptive", pytest.param("implicit", marks=pytest.mark.slow)])
def test_bodies_whose_steps_are_tried_are_the_same_in_both_loops(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Body, "_gives_derivatives", lambda self: False)
    done = agreed(of_parts("damped spring", algorithm, stop=0.01), monkeypatch)
    assert isinstance(done, Result) and done.groups[0].probes > done.groups[0].steps


def test_newton_steps_are_the_same_in_both_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where quasi-Newton iterations do not find the forces: here since there are two of them only."""
    expected = agreed(of_system("oblique, damped", "implicit", 1), monkeypatch)
    monkeypatch.setattr(iqn, "MOST", 2)
    monkeypatch.setitem(compiled._CONSTANTS, "most", 2)
    done = agreed(of_system("oblique, damped", "implicit", 1), monkeypatch)
    assert isinstance(done, Result) and isinstance(expected, Result)
    assert done.groups[0].evaluations > expected.groups[0].evaluations
    assert done.groups[0].unsolved == 0
    assert np.abs(done.trace["ball_0.p.v[3]"] - expected.trace["ball_0.p.v[3]"]).max() < 1e-6


def test_a_tolerance_that_no_step_meets_is_the_same_error_in_both_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    message = agreed(of_parts("damped spring", "adaptive", coupling_tolerance=1e-300), monkeypatch)
    assert isinstance(message, str)
    assert re.search(r"spring: the forces of spring, floor need steps below \S+ s at 0 s: their error is ", message)


def pulled(folder: Path, law: str, algorithm: str, factor: float = 2.0) -> Scenario:
    """A force from outside of the group acts on one of its bodies."""
    gain = str(foreign_fmu(folder, "Gain", GAIN, "g0--"))
    return Scenario(
        slaves={**SPEEDS["slaves"], "gain": {"recipe": gain, "start": {"a": factor}}},
        connections=[*SPEEDS["connections"], ("gain.y", "a.p.F")],
        drive={"gain.u": law},
        experiment={"stop": 0.05, "step": 1e-3, "algorithm": algorithm},
    )


@pytest.mark.parametrize("algorithm", ["implicit", pytest.param("adaptive", marks=pytest.mark.slow)])
def test_forces_from_outside_are_the_same_in_both_loops(
    tmp_path: Path, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = agreed(pulled(tmp_path, "100*sin(40[rad/s]*t)", algorithm), monkeypatch)
    assert isinstance(done, Result)
    v = done.trace["b.p.v"]
    assert np.ptp(2.0 * done.trace["a.p.v"] + 3.0 * v) > 1.0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_force_beyond_all_numbers_is_the_same_error_in_both_loops(
    tmp_path: Path, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = agreed(pulled(tmp_path, "1e299*sin(100[rad/s]*t)", algorithm, 1e10), monkeypatch)
    assert isinstance(message, str) and message.startswith("SlaveError: ")


SIGNATURES: dict[str, tuple[Any, ...]] = {
    "fmi2GetReal": (c_void_p, c_void_p, c_size_t, c_void_p),
    "fmi2SetReal": (c_void_p, c_void_p, c_size_t, c_void_p),
    "fmi2DoStep": (c_void_p, c_double, c_double, c_int),
    "fmi2GetDirectionalDerivative": (c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p, c_void_p),
    "fmi2GetFMUstate": (c_void_p, c_void_p),
    "fmi2SetFMUstate": (c_void_p, c_void_p),
    "fmi2SetRealInputDerivatives": (c_void_p, c_void_p, c_size_t, c_void_p, c_void_p),
}
NOTES = {
    "fmi2GetReal": r"solving for the forces of a group",
    "fmi2SetReal": r"solving for the forces of a group",
    "fmi2DoStep": r"step of 0\.001 s from 0\.00\d s",
    "fmi2GetDirectionalDerivative": "of the velocities at the ports",
    "fmi2GetFMUstate": "before a trial",
    "fmi2SetFMUstate": "after a trial",
    "fmi2SetRealInputDerivatives": "fmi2SetRealInputDerivatives answered fmi2Error",
}


@pytest.mark.parametrize("name", SIGNATURES)
@pytest.mark.parametrize("status", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_a_call_that_fails_in_c_ends_the_run_and_names_the_slave_and_the_call(
    name: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From its 20th call on it answers fmi2Error, or fmi2Warning, which changes nothing."""
    kept, calls = [], []

    def failing(slave: Any, wanted: str) -> int:
        address = function_address(slave, wanted)
        if wanted != name:
            return address
        kind = ctypes.CFUNCTYPE(c_int, *SIGNATURES[name])
        real = kind(address)

        def called(*arguments: Any) -> int:
            calls.append(slave.name)
            answer = int(real(*arguments))
            return status if len(calls) >= 20 else answer

        kept.append(kind(called))
        return ctypes.cast(kept[-1], c_void_p).value or 0

    monkeypatch.setenv(LOOP, "compiled")
    expected = run(of_parts("bristle", "implicit")) if status == 1 else None
    monkeypatch.setattr(compiled, "function_address", failing)
    if expected is not None:
        assert run(of_parts("bristle", "implicit")).trace.values.tobytes() == expected.trace.values.tobytes()
        assert len(calls) > 20
        return
    with pytest.raises(SlaveError) as caught:
        run(of_parts("bristle", "implicit"))
    assert str(caught.value).startswith(f"{calls[-1]}: {name} answered fmi2Error")
    assert re.search(NOTES[name], str(caught.value))
    assert len(calls) == 20


@pytest.mark.slow
def test_without_a_compiler_python_solves_and_a_note_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_compiler(source: Path) -> Path:
        raise ToolError("there is no C compiler: install one")

    expected = run(of_parts("guide", "implicit"))
    monkeypatch.setattr(loop, "loop_library", functools.cache(loop.loop_library.__wrapped__))
    monkeypatch.setattr(loop, "shared_library", no_compiler)
    done = run(of_parts("guide", "implicit"))
    assert done.trace.values.tobytes() == expected.trace.values.tobytes()
    assert [note for note in done.notes if "runs in Python" in note and "install one" in note]
    monkeypatch.setenv(LOOP, "compiled")
    with pytest.raises(ToolError, match="install one"):
        run(of_parts("guide", "implicit"))


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C cannot be sent to a thread of this process there")
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_adaptive_steps_within_a_communication_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """One communication step would take minutes, as nothing damps the oscillation: the result is what was before it."""
    monkeypatch.setenv(LOOP, "compiled")
    pressed: list[float] = []

    def press() -> None:
        pressed.append(time.process_time())
        signal.raise_signal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else os.kill(
            os.getpid(), signal.SIGINT
        )

    undamped = {
        "slaves": {name: slave for name, slave in SPEEDS["slaves"].items() if name != "damper"},
        "connections": SPEEDS["connections"][:2],
    }
    experiment = {"algorithm": "adaptive", "coupling_tolerance": 1e-9}
    run(Scenario(**undamped, experiment={"stop": 1e-3, "step": 1e-3, **experiment}))  # loads all that a run needs
    scenario = Scenario(**undamped, experiment={"stop": 1e4, "step": 5e3, **experiment})
    timer = threading.Timer(0.2, press)

    def begin(share: float) -> None:
        if timer.ident is None:
            timer.start()

    with pytest.raises(RunInterrupted) as caught:
        run(scenario, progress=begin)
    assert time.process_time() - pressed[0] < 1.0  # of work; 0.04 s between two looks
    result = caught.value.result
    assert list(result.trace.time) == [0.0]
    assert math.isfinite(float(result.trace.values.sum()))


def test_the_structs_of_a_group_have_one_size_in_both_languages() -> None:
    text = Path(compiled.__file__).with_name("model.h").read_text(encoding="utf-8")
    structs = [one for one in vars(compiled).values() if isinstance(one, type) and issubclass(one, ctypes.Structure)]
    sizes = {name: int(size) for name, size in re.findall(r"sizeof\((\w+)\) == (\d+)", text)}
    assert {"Member", "Body", "Element", "Group"} <= {*sizes}
    assert {one.__name__: ctypes.sizeof(one) for one in structs if one.__name__ in sizes} == sizes
