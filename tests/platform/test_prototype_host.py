"""A prototype in a process that is no Python: it loads a shared libpython, answers as under fmpy, and lets its host
live and end.  tests/platform/install brings libpython."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_platforms import find_tool

from fmu_builder.cosim.slave import OK, Slave, read_slave
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.toolchain import PLATFORMS, fmi_headers, host_platform

pytestmark = pytest.mark.platform

TOML = """
description = "Decay"

[parameters]
fault = { type = "int", start = 0, description = "1 raises" }
k = { unit = "1/s", start = 3.0, above = 0.0, description = "Rate of decay" }

[states]
x = { unit = "m", start = 1.0, depends = ["x", "k"], output = true, description = "The state" }
"""
PYTHON = """import numpy as np
import contact_core


def outputs(e):
    if e.fault == 1 and e.time > 0:
        raise ValueError(f"100 % wrong: {contact_core.cc_sin(0.0)} {np.zeros(1)[0]}")


def derivatives(e):
    e.der.x = -e.k * e.x
"""


@dataclass(frozen=True)
class Host:
    """The host, the unpacked FMU, and the file of the shared libpython of this Python's version."""

    program: Path
    fmu: Path
    folder: Path
    python: str

    @property
    def library(self) -> Path:
        name = f"{read_slave(self.fmu).identifier}{PLATFORMS[host_platform()].suffix}"
        return self.folder / "binaries" / host_platform() / name

    def run(self, fault: int = 0, guid: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        description, library = read_slave(self.fmu), self.library
        resources = (self.folder / "resources").as_uri()
        x = str(description.variables["x"].reference)
        command = [str(self.program), str(library), guid or description.guid, resources, str(fault), x]
        return self.started(command, **environment)

    def started(self, command: Sequence[str], **environment: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        settings = {**os.environ, "PATH": path, "FMU_BUILDER_PYTHON": self.python, **environment}
        return subprocess.run(command, env=settings, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    python = f"libpython{sys.version_info.major}.{sys.version_info.minor}.so.1.0"
    try:
        ctypes.CDLL(python)
    except OSError as error:
        pytest.fail(f"{error}: tests/platform/install installs it")
    folder = tmp_path_factory.mktemp("host with a blank and Grüße")
    element = folder / "elements" / "decay"
    element.mkdir(parents=True)
    (element / "element.toml").write_text(TOML, encoding="utf-8")
    (element / "element.py").write_text(PYTHON, encoding="utf-8")
    recipe = folder / "Decay.toml"
    recipe.write_text('element = "decay"\n', encoding="utf-8")
    fmu = host_fmu(recipe)
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(folder / "unpacked")
    return Host(compiled("prototype_host", folder), fmu, folder / "unpacked", python)


def compiled(name: str, folder: Path) -> Path:
    """A program of this folder."""
    program, source = folder / name, Path(__file__).with_name(f"{name}.c")
    options = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-isystem", str(fmi_headers())]
    subprocess.run([find_tool("gcc"), *options, str(source), "-o", str(program), "-ldl", "-pthread"], check=True)
    return program


def test_the_trace_is_that_under_fmpy(host: Host) -> None:
    description = read_slave(host.fmu)
    slave = Slave("slave", description)
    try:
        slave.setup(0.0, 1e6, None)
        slave.call("fmi2EnterInitializationMode")
        slave.call("fmi2ExitInitializationMode")
        assert [slave.dll.fmi2DoStep(slave.component, 0.1 * i, 0.1, 1) for i in range(10)] == [OK] * 10
        expected = slave.get(description.variables["x"])
    finally:
        slave.close()
    done = host.run()
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "0 0 0 0" and lines[1].split() == ["0"] * 10
    status, state = lines[2].split()
    assert status == "0" and float.fromhex(state) == expected
    assert lines[3] == "alive" and done.stderr == ""


def test_an_exception_is_an_error_and_the_host_lives(host: Host) -> None:
    done = host.run(fault=1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "slave 3 logStatusError: decay/element.py:7: ValueError: 100 % wrong: 0.0 0.0, in outputs" in done.stdout
    assert len(re.findall(r"^3 ", done.stdout, re.MULTILINE)) == 10 and done.stdout.endswith("alive\n")


@pytest.mark.parametrize(
    ("environment", "guid", "why"),
    [
        (
            {"FMU_BUILDER_PYTHON": "/nowhere/libpython.so"},
            None,
            "FMU_BUILDER_PYTHON: /nowhere/libpython.so: cannot open",
        ),
        ({}, "{another}", "the GUID is '{another}', but this binary belongs to"),
    ],
    ids=["no libpython", "foreign GUID"],
)
def test_what_keeps_it_from_starting_is_told(
    host: Host, environment: dict[str, str], guid: str | None, why: str
) -> None:
    done = host.run(guid=guid, **environment)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"slave 3 logStatusError: fmi2Instantiate: {why}" in done.stdout


def test_a_python_without_numpy_is_told(host: Host, tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError\n", encoding="utf-8")
    done = host.run(PYTHONPATH=str(tmp_path))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "fmi2Instantiate: this Python cannot import numpy" in done.stdout


def test_binaries_that_start_python_at_once_start_it_once(host: Host, tmp_path: Path) -> None:
    """Each is loaded from a copy of its own, so they share no variable."""
    program = compiled("prototype_threads", tmp_path)
    libraries = [shutil.copy(host.library, tmp_path / f"{i}.so") for i in range(6)]
    resources = (host.folder / "resources").as_uri()
    command = [str(program), str(read_slave(host.fmu).guid), resources, *map(str, libraries)]
    for _ in range(2):
        done = host.started(command)
        assert (done.returncode, done.stdout, done.stderr) == (0, "6\n", "")
