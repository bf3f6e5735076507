"""Prototypes in Python: what they answer when their code fails, the bounds of what they can do, the laws they call, the
order and the accuracy of their integration.  Next to the same element in C: tests/elements/test_impact_damper.py."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import math
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from ctypes import c_char_p, c_double, c_int, c_uint
from pathlib import Path
from types import ModuleType

import fmpy
import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from fmu_builder.cli.commands import app
from fmu_builder.cosim.slave import ERROR, OK, Slave, read_slave
from fmu_builder.cosim.validation import run_case
from fmu_builder.errors import InputError, SlaveError
from fmu_builder.export import prototype
from fmu_builder.export.binaries import read_library
from fmu_builder.export.documentation import PROTOTYPE_NEEDS
from fmu_builder.export.fmu import build_fmu, content_guid, fmu_contents, host_fmu
from fmu_builder.export.host import host_library
from fmu_builder.export.prototype_slave import bind
from fmu_builder.export.toolchain import exported_functions
from fmu_builder.model.loader import load_model
from fmu_builder.new import new_element

Vector = NDArray[np.float64]

ROOT = Path(__file__).parents[2]

TOML = """
description = "Whatever can go wrong in Python"

[experiment]
step = 1e-3

[log]
news = "What the element has to say"

[rules]
sum = "a + k < 100"

[parameters]
fault = { type = "int", start = 0, description = "Number of the fault" }
k = { unit = "1/s", start = 1.0, above = 0.0, description = "Rate of decay" }
a = { unit = "m", start = 1.0, min = 0.0, max = 90.0, fixed = true, description = "State at the start" }
axis = { size = 3, start = [0.0, 0.0, 1.0], description = "Without effect" }

[inputs]
u = { unit = "m/s", start = 0.0, description = "Speed" }
on = { type = "bool", start = true, description = "Nothing moves while it is false" }

[outputs]
y = { unit = "m", depends = ["x"], description = "The state again" }
r = { unit = "m", size = 3, depends = ["x"], description = "The state on every axis" }

[states]
x = { unit = "m", start = "a", depends = ["x", "u", "k", "on"], description = "The state" }

[memory]
steps = { type = "int", output = true, description = "Points accepted since the start" }

[indicators]
half = { description = "The state passes a half" }
"""

PYTHON = '''"""x' = u - k x"""
import contact_core


def outputs(e):
    e.y = e.x
    e.r = e.x
    if e.fault == 1 and e.time > 0:
        raise ValueError("100 % wrong # here")
    if e.fault == 2 and e.time > 0:
        e.y = e.x / 0 if e.fault == 3 else float("nan")
    if e.fault == 3 and e.time > 0:
        raise SystemExit("the end")
    if e.fault == 4 and e.time > 0:
        e.z = 1.0
    if e.fault == 5 and e.time > 0:
        contact_core.cc_dot(e.r, [1.0, 2.0])
    if e.fault == 6 and e.time > 0:
        outputs(e)
    if e.fault == 7 and e.time > 0:
        e.y = None
    if e.fault == 8:
        e.r = [1.0, 2.0]
    if e.fault == 13 and e.time > 0:
        e.k = 2.0
    if e.fault == 14 and e.time > 0:
        e.x = 0.0
    if e.fault == 15 and e.time > 0:
        e.steps += 1
    if e.fault == 16 and e.time > 0:
        e.axis[0] = 1.0
    if e.fault == 17 and e.time > 0:
        contact_core.cc_cross(e.r, e.r, e.axis)


def derivatives(e):
    e.der.x = e.on * (e.u - e.k * e.x)
    if e.fault == 9 and e.time > 0:
        e.der.x = 1e308 * 1e308


def start(e):
    e.steps = 0


def accept(e, host, step):
    e.steps += 1
    if e.fault == 18 and e.time > 0:
        e.on = False
    if e.fault == 10 and step > 0:
        host.report("warning", "news", f"a step of {step:g} s, 50 %")


def indicators(e, z):
    if e.fault == 12:
        z.hlaf = e.x - 0.5
    if e.fault != 11:
        z.half = e.x - 0.5


def check(e, host):
    if not e.a + e.k < 100:
        host.fail(f"a + k = {e.a + e.k:g}: it must be less than 100")
'''


def element(folder: Path, text: str = PYTHON, toml: str = TOML, name: str = "Faulty") -> Path:
    """The recipe of a prototype in `folder`."""
    place = folder / "elements" / "faulty"
    place.mkdir(parents=True, exist_ok=True)
    (place / "element.toml").write_text(toml, encoding="utf-8")
    (place / "element.py").write_text(text, encoding="utf-8")
    recipe = folder / f"{name}.toml"
    recipe.write_text('element = "faulty"\n', encoding="utf-8")
    return recipe


def line_of(code: str) -> int:
    return PYTHON.splitlines().index(code) + 1


@pytest.fixture(scope="module")
def fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return host_fmu(element(tmp_path_factory.mktemp("faulty")))


class Running:
    """An instance of a prototype in this process."""

    def __init__(self, fmu: Path, **starts: float) -> None:
        self.description = read_slave(fmu)
        self.slave = Slave("slave", self.description)
        try:
            for name, value in starts.items():
                self.set(name, value)
            self.slave.setup(0.0, 1e6, None)
            self.slave.call("fmi2EnterInitializationMode")
            self.slave.call("fmi2ExitInitializationMode")
        except BaseException:
            self.slave.close()
            raise

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.slave.close()

    def set(self, name: str, value: float) -> None:
        self.slave.set(self.description.variables[name], value)

    def __getitem__(self, name: str) -> float:
        return self.slave.get(self.description.variables[name])

    def step(self, t: float, h: float) -> int:
        return int(self.slave.dll.fmi2DoStep(self.slave.component, t, h, 1))

    @property
    def told(self) -> list[str]:
        return [entry.text for entry in self.slave.log]


# ---- code that fails -------------------------------------------------------------------------------------------------

FAULTS = {
    1: (line_of('        raise ValueError("100 % wrong # here")'), "ValueError: 100 % wrong # here, in outputs"),
    3: (line_of('        raise SystemExit("the end")'), "SystemExit: the end, in outputs"),
    4: (line_of("        e.z = 1.0"), "AttributeError: 'Element' object has no attribute 'z'"),
    5: (line_of("        contact_core.cc_dot(e.r, [1.0, 2.0])"), "cc_dot: b must be a numpy array of 3 float64"),
    6: (r"\d+", "RecursionError: maximum recursion depth exceeded"),
    7: (line_of("        e.y = None"), "TypeError: must be real number, not NoneType"),
    13: (line_of("        e.k = 2.0"), "AttributeError: k is a parameter, which no function of element.py may change"),
    14: (line_of("        e.x = 0.0"), "x is a state, which only initial, accept and sample may change, in outputs"),
    15: (line_of("        e.steps += 1"), "steps is memory, which only start, accept and sample may change"),
    16: (line_of("        e.axis[0] = 1.0"), "ValueError: assignment destination is read-only"),
    17: (
        line_of("        contact_core.cc_cross(e.r, e.r, e.axis)"),
        "cc_cross: out must be a numpy array of 3 float64, not one only to read",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_exception_in_a_step_is_an_error_with_its_message_and_line_and_the_host_lives(fmu: Path, fault: int) -> None:
    line, what = FAULTS[fault]
    with Running(fmu, fault=fault) as running, Running(fmu) as other:
        assert running.step(0.0, 1e-3) == ERROR
        told, refused = running.told
        assert re.match(rf"faulty/element\.py:{line}: ", told) and what in told, told
        assert re.match(r"fmi2DoStep: .* is not finite at .* s, so the step from 0 s to 0.001 s fails", refused)
        assert [entry.category for entry in running.slave.log] == ["logStatusError"] * 2
        assert running.step(0.0, 1e-3) == ERROR
        assert running.told[-1] == "fmi2DoStep is not allowed in the mode 'error'"
        assert running["x"] == 1.0  # as before the step
        assert other.step(0.0, 1e-3) == OK


def test_accept_must_not_change_an_input(fmu: Path) -> None:
    with Running(fmu, fault=18) as running:
        assert running.step(0.0, 1e-3) == ERROR
        told = "AttributeError: on is an input, which no function of element.py may change, in accept"
        assert running.told == [f"faulty/element.py:{line_of('        e.on = False')}: {told}"]


def test_a_value_that_is_not_finite_is_named(fmu: Path) -> None:
    with Running(fmu, fault=2) as running:
        assert running.step(0.0, 1e-3) == ERROR
        assert running.told == ["fmi2DoStep: y is not finite after the step from 0 s to 0.001 s"]
    with Running(fmu, fault=9) as running:
        assert running.step(0.0, 1e-3) == ERROR
        (told,) = running.told
        assert re.match(r"fmi2DoStep: x is not finite at .* s, so the step from 0 s to 0.001 s fails", told)


def test_faults_at_the_start_are_answered_when_initialization_ends(fmu: Path) -> None:
    line = line_of("        e.r = [1.0, 2.0]")
    with pytest.raises(SlaveError, match=rf"fmi2Error.*faulty/element\.py:{line}: ValueError: could not broadcast"):
        Running(fmu, fault=8)
    with pytest.raises(SlaveError, match=r"k = 0 1/s: it must be greater than 0 1/s"):
        Running(fmu, k=0.0)
    with pytest.raises(SlaveError, match=r"a \+ k = 150: it must be less than 100"):
        Running(fmu, a=90.0, k=60.0)
    with Running(fmu, fault=11) as running:
        assert running.step(0.0, 1e-3) == ERROR
        what = "the function indicators gives z.half no value, or NaN; element.toml declares it"
        assert running.told[0] == f"faulty/element.py: {what}"
    with Running(fmu, fault=12) as running:
        assert running.step(0.0, 1e-3) == ERROR
        line = line_of("        z.hlaf = e.x - 0.5")
        told = running.told[0]
        assert told.startswith(f"faulty/element.py:{line}: AttributeError: ")
        assert "hlaf" in told


def test_a_rule_that_a_tuned_parameter_breaks_is_told_before_the_step(fmu: Path) -> None:
    with Running(fmu) as running:
        assert running.step(0.0, 1e-3) == OK
        running.set("k", 0.0)
        assert running.step(1e-3, 1e-3) == ERROR
        assert running.told == ["k = 0 1/s: it must be greater than 0 1/s"]


def test_reset_brings_an_instance_back_from_an_error(fmu: Path) -> None:
    with Running(fmu, fault=1) as running:
        assert running.step(0.0, 1e-3) == ERROR
        running.slave.call("fmi2Reset")
        running.slave.setup(0.0, 1.0, None)
        running.slave.call("fmi2EnterInitializationMode")
        running.slave.call("fmi2ExitInitializationMode")
        assert running["fault"] == 0
        assert running.step(0.0, 1e-3) == OK


def test_values_out_of_range_are_refused_and_kept_out(fmu: Path) -> None:
    with Running(fmu) as running:
        for name, value, why in (
            ("u", math.nan, "u = NaN m/s is refused, it must be finite"),
            ("u", math.inf, "u = infinity m/s is refused, it must be finite"),
            ("k", -1.0, "k = -1 1/s is refused, it must be greater than 0 1/s"),
        ):
            before = running[name]
            with pytest.raises(SlaveError, match=f"fmi2{'Error' if name == 'k' else 'Discard'}.*{re.escape(why)}"):
                running.set(name, value)
            assert running[name] == before
        for name, why in (
            ("a", "after the initialization: it is a fixed parameter"),
            ("y", "at all: the FMU computes"),
        ):
            with pytest.raises(SlaveError, match=f"fmi2Error.*{name} cannot be set {why}"):
                running.set(name, 1.0)
        assert running.step(0.0, 1e-3) == OK


def test_a_tolerance_of_zero_is_none_and_the_log_names_it(fmu: Path) -> None:
    description = read_slave(fmu)
    slave = Slave("slave", description)
    try:
        assert slave.dll.fmi2SetupExperiment(slave.component, 1, 0.0, 0.0, 0, 0.0) == OK
        assert [one.text for one in slave.log] == [
            "fmi2SetupExperiment: tolerance = 0 is ignored, it must be greater than 0"
        ]
        slave.call("fmi2EnterInitializationMode")
        assert slave.get(description.variables["solver.tolerance"]) == 1e-9
    finally:
        slave.close()


@pytest.mark.parametrize(("asked", "taken", "told"), [(0.5, 0.01, "0.5"), (1e-15, 1e-13, "1e-15"), (0.01, 0.01, "")])
def test_a_tolerance_beyond_the_range_is_its_end_and_the_log_says_so(
    fmu: Path, asked: float, taken: float, told: str
) -> None:
    description = read_slave(fmu)
    slave = Slave("slave", description)
    try:
        assert slave.dll.fmi2SetupExperiment(slave.component, 1, asked, 0.0, 0, 0.0) == OK
        what = f"tolerance = {told} is outside of 1e-13 to 0.01, the range of solver.tolerance, which becomes {taken:g}"
        assert [one.text for one in slave.log] == ([f"fmi2SetupExperiment: {what}"] if told else [])
        slave.call("fmi2EnterInitializationMode")
        assert slave.get(description.variables["solver.tolerance"]) == taken
    finally:
        slave.close()


def test_calls_with_wrong_arguments_are_errors(fmu: Path) -> None:
    with Running(fmu) as running:
        dll, c = running.slave.dll, running.slave.component
        value, one = (c_double * 1)(7.0), (c_uint * 1)(10_000)
        assert dll.fmi2GetReal(c, one, 1, value) == ERROR
        assert running.told[-1] == "fmi2GetReal: there is no variable with the value reference 10000"
        fault = (c_uint * 1)(running.description.variables["fault"].reference)
        assert dll.fmi2GetReal(c, fault, 1, value) == ERROR
        assert running.told[-1] == "fmi2GetReal: fault is of type Integer, not Real"
        assert dll.fmi2GetReal(c, (c_uint * 1)(0xFFFFFFFF), 1, value) == ERROR
        assert dll.fmi2GetReal(c, None, 1, value) == ERROR
        assert running.told[-1] == "fmi2GetReal: the argument vr is NULL"
        assert dll.fmi2SetReal(c, one, 1, None) == ERROR
        assert dll.fmi2GetReal(None, one, 1, value) == ERROR
        assert dll.fmi2SetString(c, one, 1, (c_char_p * 1)(b"x")) == ERROR
        assert running.step(0.5, 1e-3) == ERROR
        assert running.told[-1] == (
            "fmi2DoStep: the step begins at 0.5 s, but the last one ended at 0 s: the difference of "
            "0.5 s must be at most 1e-12 s"
        )
        assert running.step(0.0, -1.0) == ERROR
        assert running.step(0.0, math.nan) == ERROR
        kind = c_int(9)
        assert dll.fmi2GetBooleanStatus(c, 3, kind) == OK and kind.value == 0
        assert running.step(0.0, 1e-3) == OK


def test_a_foreign_guid_is_refused(fmu: Path, tmp_path: Path) -> None:
    description = read_slave(fmu)
    with pytest.raises(SlaveError, match=r"the GUID is '\{other\}', but this binary belongs to '\{[0-9a-f-]{36}\}'"):
        Slave("slave", dataclasses.replace(description, guid="{other}"))


def test_a_warning_of_the_element_reaches_the_log_and_the_step_counts(fmu: Path) -> None:
    with Running(fmu, fault=10) as running:
        assert running.step(0.0, 1e-3) == OK
        assert [(e.status, e.category, e.text) for e in running.slave.log] == [(1, "news", "a step of 0.001 s, 50 %")]
        assert running["steps"] == 2  # the start is a point too


SCRIPT = """
import sys, fmpy
from fmpy import simulate_fmu
def logger(environment, name, status, category, text):
    print("log:", status, text.decode())
try:
    faults = {"fault": int(sys.argv[2])}
    simulate_fmu(sys.argv[1], stop_time=0.01, start_values=faults, logger=logger, debug_logging=True)
    print("finished")
except Exception as error:
    print("error:", error)
print("alive")
"""


@pytest.mark.parametrize("fault", [0, 1])
def test_fmpy_in_a_process_of_its_own(fmu: Path, fault: int) -> None:
    command = [sys.executable, "-c", SCRIPT, str(fmu), str(fault)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "alive"
    if fault:
        line, what = FAULTS[1]
        assert lines[0].replace("%%", "%").replace("##", "#") == f"log: 3 faulty/element.py:{line}: {what}"
        assert lines[1].startswith("log: 3 fmi2DoStep: ") and "fmi2DoStep failed with status 3 (error)" in lines[2]
    else:
        assert lines == ["finished", "alive"]


INTERRUPTED = """
import os, signal, sys, threading
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from test_prototype import Running
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job begins with SIGINT ignored
with Running(Path(sys.argv[2]), **{"solver.max_step": 1e-6}) as running:
    # one that strikes while the C core calls Python is lost: people press the keys again
    timers = [threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT)) for after in range(1, 30)]
    for timer in timers:
        timer.start()
    status = running.step(0.0, 1.0)
    for timer in timers:
        timer.cancel()
    print(status, running.told[0])
    running.slave.call("fmi2Reset")
    running.slave.setup(0.0, 1e6, None)
    running.slave.call("fmi2EnterInitializationMode")
    running.slave.call("fmi2ExitInitializationMode")
    print(running.step(0.0, 1e-3))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.slow
def test_an_interrupt_from_the_keyboard_ends_the_step(fmu: Path) -> None:
    """A step of a million substeps, which would take two minutes."""
    command = [sys.executable, "-c", INTERRUPTED, str(Path(__file__).parent), str(fmu)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert re.match(rf"{ERROR} .*KeyboardInterrupt", first) and second == str(OK)


# ---- what the build refuses ------------------------------------------------------------------------------------------


def test_faulty_files_are_refused_at_the_build_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "elements" / "faulty" / "element.py"
    cases = {
        PYTHON.replace("def outputs(e):", "def outputs(e:"): [f"{path}:5: is no valid Python: "],
        PYTHON.replace("def derivatives", "def derivative"): [
            f"{path}: def derivatives(e) is missing: a state declares no rate"
        ],
        PYTHON.replace("def start", "def begin").replace("def accept(e, host, step)", "def accept(e, step)"): [
            f"{path}: def start(e) is missing: element.toml has [memory]",
            f"{path}:{line_of('def accept(e, host, step):')}: def accept takes 2 arguments; it is called as "
            "accept(e, host, step)",
        ],
    }
    for text, expected in cases.items():
        with pytest.raises(InputError) as refused:
            build_fmu(element(tmp_path, text), platforms=("host",))
        told = [str(problem) for problem in refused.value.problems]
        assert len(told) == len(expected)
        assert all(a.startswith(b) for a, b in zip(told, expected, strict=True)), told
        assert not (tmp_path / "Faulty.fmu").exists()


def test_code_that_fails_when_it_is_loaded_stops_the_build_with_its_line(tmp_path: Path) -> None:
    late = "\n\nnumber = 1 / 0\n"
    with pytest.raises(InputError, match=rf"faulty/element\.py:{PYTHON.count(chr(10)) + 3}: ZeroDivisionError"):
        build_fmu(element(tmp_path, PYTHON + late), platforms=("host",))
    assert not (tmp_path / "Faulty.fmu").exists()


@pytest.mark.slow
def test_a_module_that_is_missing_and_code_that_fails_when_it_runs_stop_the_build_too(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"faulty/element\.py:2: ModuleNotFoundError: No module named 'nowhere'"):
        build_fmu(element(tmp_path, PYTHON.replace("import contact_core", "import nowhere")), platforms=("host",))
    wrong = PYTHON.replace("    e.y = e.x\n", "    e.y = 1 / e.u\n", 1)
    with pytest.raises(InputError, match=r"faulty/element\.py:6: ZeroDivisionError"):
        build_fmu(element(tmp_path, wrong), platforms=("host",))
    wrong = PYTHON.replace("    e.y = e.x\n", "    e.k = 2.0 * e.k\n", 1)
    with pytest.raises(InputError, match=r"faulty/element\.py:6: AttributeError: k is a parameter"):
        build_fmu(element(tmp_path, wrong), platforms=("host",))
    assert not (tmp_path / "Faulty.fmu").exists()


@pytest.mark.parametrize("code", [0, 1])
def test_code_that_ends_the_process_stops_the_build_and_the_call_is_named(tmp_path: Path, code: int) -> None:
    ends = PYTHON.replace("    e.y = e.x\n", f"    import os\n    e.time > 0 and os._exit({code})\n    e.y = e.x\n", 1)
    with pytest.raises(
        InputError, match=rf"smoke run failed: it ended the process in fmi2\w+.* \(exit code 0x{code}\)"
    ):
        build_fmu(element(tmp_path, ends), platforms=("host",))
    assert not (tmp_path / "Faulty.fmu").exists()


def test_code_that_prints_a_line_without_its_end_is_built(tmp_path: Path) -> None:
    prints = PYTHON.replace("    e.y = e.x\n", '    print("y", end="")\n    e.y = e.x\n', 1)
    assert build_fmu(element(tmp_path, prints), platforms=("host",)).path.is_file()


@pytest.mark.parametrize("platform", ["darwin64", "aarch64-linux", "aarch64-darwin"])
def test_other_platforms_are_refused_with_the_reason(tmp_path: Path, platform: str) -> None:
    with pytest.raises(InputError, match=rf"'{platform}'.*linux64 and win64 only, where pythonfmu supplies a binary"):
        build_fmu(element(tmp_path), platforms=("linux64", platform))
    with pytest.raises(InputError, match="has no C sources"):
        build_fmu(element(tmp_path), platforms=())


def test_the_language_of_a_recipe_is_checked(tmp_path: Path) -> None:
    recipe = element(tmp_path)
    for given, why in (("python3", "'python3' is none of c, python"), ("c", "has no element.c")):
        recipe.write_text(f'element = "faulty"\nlanguage = "{given}"\n', encoding="utf-8")
        with pytest.raises(InputError, match=why):
            load_model(recipe)


# ---- the file --------------------------------------------------------------------------------------------------------


def test_the_fmu_is_the_same_for_the_same_files_and_its_description_says_what_it_cannot_do(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    first = build_fmu(element(tmp_path / "one"))
    assert first.platforms == ("linux64", "win64")
    guid, contents = fmu_contents(load_model(element(tmp_path / "other")))
    with zipfile.ZipFile(first.path) as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    assert guid == first.guid and contents.items() <= packed.items()
    assert all("." + name.rpartition(".")[2] in (".so", ".dll") for name in packed.keys() - contents.keys())
    assert fmpy.validation.validate_fmu(str(first.path)) == []
    description = fmpy.read_model_description(str(first.path))
    for interface in (description.modelExchange, description.coSimulation):
        assert interface.canGetAndSetFMUstate and interface.canSerializeFMUstate
        assert not interface.providesDirectionalDerivative and interface.needsExecutionTool
    assert description.coSimulation.canInterpolateInputs and description.coSimulation.maxOutputDerivativeOrder == 0
    model = load_model(tmp_path / "one" / "Faulty.toml")
    assert {v.name: v.valueReference for v in description.modelVariables} == {
        v.name: v.index for v in model.variables if not v.hidden
    }
    assert description.guid == first.guid == content_guid(model)
    element(tmp_path / "other", PYTHON + "# another\n")
    assert content_guid(load_model(tmp_path / "other" / "Faulty.toml")) != first.guid
    with zipfile.ZipFile(first.path) as archive:
        names = set(archive.namelist())
        texts = b"".join(archive.read(name) for name in names if name.endswith((".json", ".py", ".xml", ".html")))
        needs = archive.read("documentation/licenses/externalDependencies.txt").decode()
        page = archive.read("documentation/index.html").decode()
    assert PROTOTYPE_NEEDS in needs and PROTOTYPE_NEEDS in page and any(PROTOTYPE_NEEDS in n for n in first.notes)
    assert "nothing else" not in page and "no directional derivatives" in page
    assert str(tmp_path).encode() not in texts
    for platform, suffix in (("linux64", ".so"), ("win64", ".dll")):
        assert f"binaries/{platform}/Faulty{suffix}" in names
        assert {f"resources/contact_core{suffix}", f"resources/pythonfmu{suffix}"} <= names


def test_the_binaries_export_all_of_fmi_2_and_ask_for_no_more_than_they_say(tmp_path: Path) -> None:
    """That of Windows is not run here: Python 3.11 for Windows does not come with a package of any system."""
    with zipfile.ZipFile(build_fmu(element(tmp_path)).path) as archive:
        binaries = [name for name in archive.namelist() if name.endswith((".so", ".dll"))]
        libraries = {name: read_library(archive.read(name), name)[0] for name in binaries}
    for name in ("binaries/linux64/Faulty.so", "binaries/win64/Faulty.dll"):
        assert libraries[name].exports == exported_functions()
        assert libraries[name].run_path is None and not libraries[name].executable_stack
    assert {name.lower() for name in libraries["binaries/win64/Faulty.dll"].imports} == {"kernel32.dll"}
    needed = {name for name in libraries["binaries/linux64/Faulty.so"].imports if ".so" in name}
    assert needed == {"libc.so.6", "libdl.so.2"}
    assert not libraries["resources/contact_core.dll"].imports
    assert {"cc_contact", "cc_plane"} <= libraries["resources/contact_core.dll"].exports
    assert "python3.dll" in {name.lower() for name in libraries["resources/pythonfmu.dll"].imports}


def test_two_prototypes_in_one_process_are_two(tmp_path: Path, fmu: Path) -> None:
    other = host_fmu(element(tmp_path, PYTHON.replace("e.u - e.k * e.x", "e.u + e.k * e.x"), name="Growing"))
    with Running(fmu) as falling, Running(other) as growing:
        assert falling.step(0.0, 0.1) == growing.step(0.0, 0.1) == OK
        assert falling["x"] == pytest.approx(math.exp(-0.1), abs=1e-8)
        assert growing["x"] == pytest.approx(math.exp(0.1), abs=1e-8)
    assert not [folder for folder in sys.path if folder.endswith("resources")]


# ---- the laws --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def core() -> ModuleType:
    library = host_library()
    return bind(library.path, prototype.declarations(library.declarations))


def test_the_laws_are_those_of_contact_core_bit_for_bit(core: ModuleType) -> None:
    library = host_library()
    rng = np.random.default_rng(4)
    for _ in range(50):
        numbers = rng.uniform(0.1, 0.9, 6)
        n, v, h = rng.normal(size=3), rng.normal(size=3), float(rng.uniform())
        n /= np.linalg.norm(n)
        law, ours = core.CcContactLaw(*numbers), core.CcContact()
        core.cc_contact(law, h, n, v, ours)
        c_law, theirs = library.ffi.new("CcContactLaw *", list(numbers)), library.ffi.new("CcContact *")
        library.lib.cc_contact(c_law, h, list(n), list(v), theirs)
        assert list(ours.force) == list(theirs.force)
        for name, *_ in (field for field in core.CcContact._fields_ if not field[0].startswith("_")):
            assert getattr(ours, name) == getattr(theirs, name)
        R = np.empty((3, 3))
        q = rng.normal(size=4)
        core.cc_rotation(q, R)
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
        world = np.empty(3)
        core.cc_to_world(R, v, world)
        np.testing.assert_allclose(world, R @ v, rtol=1e-13, atol=1e-15)
        assert core.cc_sin(h) == library.lib.cc_sin(h)
    law.C_F = 5.0
    ours.force = [1.0, 2.0, 3.0]
    assert law.C_F == 5.0 and list(ours.force) == [1.0, 2.0, 3.0]
    on = np.zeros(1, np.intc)
    assert core.cc_plane([-1.0, 1.0], [-1.0, 1.0], [0.5, 0.5, -0.25], on) == 0.25 and on[0] == 1


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("cc_dot", (np.zeros(2), np.zeros(3))),
        ("cc_dot", (np.zeros((3, 1)), np.zeros(3))),
        ("cc_cross", (np.zeros(3), np.zeros(3), [0.0, 0.0, 0.0])),
        ("cc_cross", (np.zeros(3), np.zeros(3), np.zeros(6)[::2])),
        ("cc_cross", (np.zeros(3), np.zeros(3), np.zeros(3, np.float32))),
        ("cc_rotation", (np.zeros(4), np.zeros(9))),
        ("cc_sin", ("a",)),
        ("cc_contact", (np.zeros(6), 0.0, np.zeros(3), np.zeros(3), np.zeros(9))),
    ],
)
def test_wrong_arguments_of_a_law_are_refused(core: ModuleType, name: str, arguments: tuple[object, ...]) -> None:
    with pytest.raises((ctypes.ArgumentError, TypeError)):
        getattr(core, name)(*arguments)


def test_functions_without_a_fixed_size_or_with_text_are_left_out(core: ModuleType) -> None:
    assert not hasattr(core, "cc_scale") and not hasattr(core, "cc_text_string")
    known = json.loads(json.dumps(prototype.declarations(host_library().declarations)))
    assert known["functions"]["cc_plane"] == [
        "double",
        [["x", "double", "in", [2]], ["y", "double", "in", [2]], ["P", "double", "in", [3]], ["on", "int", "out", []]],
    ]


# ---- integration -----------------------------------------------------------------------------------------------------


def test_the_state_is_the_exponential_to_the_tolerance(fmu: Path) -> None:
    for tolerance in (1e-5, 1e-9, 1e-12):
        with Running(fmu, **{"solver.tolerance": tolerance, "k": 3.0}) as running:
            for i in range(10):
                assert running.step(0.1 * i, 0.1) == OK
            assert running["x"] == pytest.approx(math.exp(-3.0), abs=20 * tolerance)
            assert running["solver.events"] == 1  # x passes a half
            assert running["solver.evaluations"] < 1500


def test_the_method_is_of_order_five(fmu: Path) -> None:
    """Equal substeps of h: a tolerance that lets each one through; the coefficients of a lower order would show."""
    errors = []
    counts = [8, 16, 32]
    for n in counts:
        starts = {"solver.tolerance": 1e-2, "solver.max_step": 2.0 / n, "a": 40.0, "k": 1.0}
        with Running(fmu, **starts) as running:
            assert running.step(0.0, 2.0) == OK
            assert running["solver.steps"] == n
            errors.append(abs(running["x"] - 40.0 * math.exp(-2.0)))
    order = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert order == pytest.approx(5.0, abs=0.3)


def test_a_step_that_gets_nowhere_is_an_error(fmu: Path) -> None:
    with Running(fmu, **{"solver.max_substeps": 3, "solver.max_step": 1e-4}) as running:
        assert running.step(0.0, 1e-3) == ERROR
        assert "takes more than solver.max_substeps = 3 substeps of solver.max_step = 0.0001 s" in running.told[-1]


def test_the_implicit_method_takes_long_steps_where_the_explicit_one_must_not(fmu: Path) -> None:
    """x' = u - k x with k = 98 1/s and u/k = 0.1 m: after 10 s, 980 times as long, x is there."""
    evaluations = {}
    for name, method in (("auto", 1), ("explicit", 2), ("implicit", 3)):
        with Running(fmu, **{"solver.method": method, "solver.tolerance": 1e-6, "k": 98.0, "u": 9.8}) as running:
            assert [running.step(10.0 * i, 10.0) for i in range(3)] == [OK] * 3
            assert running["x"] == pytest.approx(0.1, abs=1e-5)
            evaluations[name] = running["solver.evaluations"]
    assert max(evaluations["implicit"], evaluations["auto"]) < 0.2 * evaluations["explicit"]


# ---- fmu-builder new --python ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("spring")
    new_element("demo_spring", folder, python=True)
    yield folder


def test_the_new_prototype_is_complete_and_names_itself(spring: Path, tmp_path: Path) -> None:
    folder = spring / "elements" / "demo_spring"
    assert {p.name for p in folder.iterdir()} == {"README.md", "cases", "element.py", "element.toml"}
    new_element("demo_spring", tmp_path)
    assert (folder / "element.toml").read_bytes() == (tmp_path / "elements/demo_spring/element.toml").read_bytes()
    for path in (p for p in spring.rglob("*") if p.is_file() and p.suffix != ".fmu"):
        text = path.read_text(encoding="utf-8")
        assert "@name@" not in text and "@Name@" not in text
        assert max(map(len, text.splitlines())) <= 120


@pytest.mark.slow
def test_the_physics_of_the_new_prototype_is_that_of_the_template_in_c(spring: Path, tmp_path: Path) -> None:
    new_element("demo_spring", tmp_path)
    values = {"point.r[1]": 0.1, "point.r[3]": -0.2, "point.v[2]": 3.0, "anchor[1]": 0.05, "c": 7.0}
    found = []
    for place in (spring, tmp_path):
        with Running(host_fmu(place / "fmus" / "DemoSpring.toml"), **values) as running:
            assert running.step(0.0, 1e-3) == OK
            names = ["point.f[1]", "point.f[2]", "point.f[3]", "energy.elastic", "power.damping", "energy.damping"]
            found.append([running[name] for name in names])
    assert found[0] == pytest.approx(found[1], rel=1e-14)


def test_case_of_the_new_prototype_passes(spring: Path) -> None:
    """The first 10 ms of it: 1,000 steps."""
    case = spring / "elements/demo_spring/cases/oscillation.toml"
    short = case.with_name("short.toml")
    short.write_text(case.read_text(encoding="utf-8").replace('stop = "0.4 s"', 'stop = "0.01 s"'), encoding="utf-8")
    reference = case.with_name("oscillation_ref.csv")
    rows = reference.read_text(encoding="utf-8").splitlines()[:12]
    (spring / "elements/demo_spring/cases/short_ref.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    shutil.copy(f"{reference}.json", case.with_name("short_ref.csv.json"))
    short.write_text(short.read_text(encoding="utf-8").replace("oscillation_ref", "short_ref"), encoding="utf-8")
    result = run_case("short", short)
    assert result.failure is None
    assert result.passed


def test_the_readme_of_the_new_prototype_says_what_its_target_needs(spring: Path) -> None:
    text = " ".join((spring / "elements/demo_spring/README.md").read_text(encoding="utf-8").split())
    for what in (
        "Python 3.11 or newer",
        "numpy",
        "libpython3.11",
        "FMU_BUILDER_PYTHON",
        "linux64",
        "win64",
        "FMU state",
    ):
        assert what in text


def test_the_command_line_makes_a_prototype(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["new", "demo_spring", "--python"])
    assert done.exit_code == 0
    assert (tmp_path / "elements" / "demo_spring" / "element.py").is_file()
    assert "--python" in CliRunner().invoke(app, ["new", "--help"]).stdout
