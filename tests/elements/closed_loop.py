"""Port FMUs in closed loop with exact bodies, step by step in C (port_systems.c).

A run of 300 steps takes a fraction of a millisecond.  FMUs are optimized as users get them; instances are kept and
reset.  The C core of another checkout: environment variable PORT_TREE, its folder."""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from ctypes import POINTER, c_double, c_int, c_uint, c_void_p, cast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.slave import Slave, SlaveDescription, read_slave
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.toolchain import compile_hosted, find_compiler
from fmu_builder.model.connectable import FAMILY

Array = NDArray[np.float64]
JACOBI, SEQUENTIAL, BODIES_FIRST, MIXED = "jacobi", "sequential", "bodies first", "mixed"
MASTERS = (JACOBI, SEQUENTIAL, BODIES_FIRST, MIXED)  # as in the C
_KINDS = ("linear", "rod", "pendulum")
_MAX_PORTS = 8
_BUILD = """import pathlib, sys
sys.path.insert(0, sys.argv[1])
from fmu_builder.export.fmu import host_fmu
print(host_fmu(pathlib.Path(sys.argv[2])))
"""

RECIPES = {
    "Floor": 'element = "point_surface"\n[surface]\nkind = "plane"\n[structure]\ncoupling = true\n',
    "Spring": 'element = "translational_spring"\n[structure]\ncoupling = true\n',
    "SpringByPositions": 'element = "translational_spring"\n[structure]\ncoupling = true\npositions = true\n',
    "RotationalSpring": 'element = "rotational_spring"\n[structure]\ncoupling = true\n',
}


@dataclass(frozen=True)
class Law:
    """A contact (restitution, friction) or a linear spring; what the reference integrates."""

    stiffness: float
    C_r: float = 1.0
    k_D: float = 100.0
    mu: float = 0.0
    k_T: float = 100.0
    spring: bool = False

    @property
    def limits(self) -> tuple[float, float]:
        """Damping ratio in compression and in restitution, with k_E = 1/2."""
        share = (1 - self.C_r**2) / (1 + self.C_r**2)
        return share, -share

    def normal_force(self, depth: Array, rate: Array) -> Array:
        """N, of a contact."""
        compression, restitution = self.limits
        N: Array = self.stiffness * np.maximum(depth, 0) * (1 + np.clip(self.k_D * rate, restitution, compression))
        return N


@dataclass(frozen=True)
class Port:
    """One FMU: its recipe, parameters, inputs (positions, then their rates) and forces."""

    recipe: str
    parameters: Mapping[str, float]
    inputs: Sequence[str]
    forces: Sequence[str]
    law: Law


@dataclass(frozen=True)
class Plant:
    """Bodies as port_systems.c knows them.

    linear: A, B, c of z' = A z + B u + c and, for the interval H, Ad, Bd, cd; rows and offsets of what the FMUs get and
    of what the laws take.  rod, pendulum: mass, inertia, gravity (x, z), arms (x, z) of the points; the pivot (x, y, z)
    and the arm of the centre of mass of a pendulum stand in law_offsets and law_rows."""

    kind: str
    state_count: int
    force_count: int
    law_rows: Array
    law_offsets: Array
    A: Array | None = None
    B: Array | None = None
    c: Array | None = None
    Ad: Array | None = None
    Bd: Array | None = None
    cd: Array | None = None
    input_rows: Array | None = None
    input_offsets: Array | None = None
    first_count: int = 0
    mass: float = 0.0
    inertia: float = 0.0
    gravity: tuple[float, float] = (0.0, 0.0)
    arms: Sequence[tuple[float, float]] = ()


_REAL = POINTER(c_double)


class _Port(ctypes.Structure):
    _fields_ = [(name, c_void_p) for name in ("set", "get", "step", "component")] + [
        ("inputs", POINTER(c_uint)), ("outputs", POINTER(c_uint)), ("input_count", c_int), ("output_count", c_int)
    ]  # fmt: skip


class _Law(ctypes.Structure):
    _fields_ = [(name, c_double) for name in ("stiffness", "d_comp", "d_rest", "k_D", "mu", "k_T")] + [("kind", c_int)]


class _Plant(ctypes.Structure):
    _fields_ = [
        *((name, c_int) for name in ("kind", "state_count", "force_count", "port_count", "first_count")),
        *((name, _REAL) for name in ("A", "B", "c", "Ad", "Bd", "cd")),
        *((name, _REAL) for name in ("input_rows", "input_offsets", "law_rows", "law_offsets")),
        ("mass", c_double), ("inertia", c_double), ("gravity", c_double * 2), ("arms", c_double * 2 * _MAX_PORTS),
        ("laws", _Law * _MAX_PORTS),
    ]  # fmt: skip


class _Run(ctypes.Structure):
    _fields_ = [
        ("H", c_double), *((name, c_int) for name in ("steps", "order", "late", "differences")),
        *((name, _REAL) for name in ("noise", "states", "forces")),
    ]  # fmt: skip


@functools.cache
def _library() -> ctypes.CDLL:
    compiler = find_compiler()
    assert compiler is not None, "these tests need a compiler: python -m pip install ziglang"
    folder = tempfile.TemporaryDirectory(prefix="port-systems-")
    atexit.register(folder.cleanup)
    path = Path(folder.name) / "port_systems.so"
    compile_hosted([Path(__file__).with_name("port_systems.c")], path, [], compiler, ["-fvisibility=default"])
    library = ctypes.CDLL(str(path))
    library.closed_loop.argtypes = [POINTER(_Plant), POINTER(_Port), POINTER(_Run), _REAL]
    library.exact.argtypes = [POINTER(_Plant), c_double, c_int, _REAL, _REAL]
    return library


def _address(array: Array | None) -> Any:
    if array is None:
        return _REAL()
    assert array.flags.c_contiguous and array.dtype == np.float64
    return array.ctypes.data_as(_REAL)


def _plant(plant: Plant, laws: Sequence[Law]) -> _Plant:
    made = _Plant(_KINDS.index(plant.kind), plant.state_count, plant.force_count, len(laws), plant.first_count)
    for name in ("A", "B", "c", "Ad", "Bd", "cd", "input_rows", "input_offsets", "law_rows", "law_offsets"):
        setattr(made, name, _address(getattr(plant, name)))
    made.mass, made.inertia, made.gravity = plant.mass, plant.inertia, (c_double * 2)(*plant.gravity)
    for k, arm in enumerate(plant.arms):
        made.arms[k] = (c_double * 2)(*arm)
    for k, law in enumerate(laws):
        made.laws[k] = _Law(law.stiffness, *law.limits, law.k_D, law.mu, law.k_T, int(law.spring))
    return made


@functools.cache
def _description(recipe: str) -> SlaveDescription:
    tree = os.environ.get("PORT_TREE")
    with tempfile.TemporaryDirectory(prefix="port-systems-") as folder:
        path = Path(folder) / f"{recipe}.toml"
        path.write_text(RECIPES[recipe], encoding="utf-8")
        if tree is None:
            return read_slave(host_fmu(path))
        found = subprocess.run(
            [sys.executable, "-c", _BUILD, tree, str(path)], check=True, capture_output=True, text=True, cwd=tree
        )
        return read_slave(Path(found.stdout.splitlines()[-1]))


class Instance:
    """A loaded port FMU that is started over and over."""

    def __init__(self, port: Port) -> None:
        description = _description(port.recipe)
        self.slave = Slave(port.recipe, description)
        self.variables = description.variables
        self.dll, self.component = self.slave.dll, self.slave.component
        self._used = False
        self.inputs = (c_uint * len(port.inputs))(*(self.variables[name].reference for name in port.inputs))
        self.outputs = (c_uint * len(port.forces))(*(self.variables[name].reference for name in port.forces))
        self.shown = [name for name in self.variables if name.startswith("coupling.")]
        self.raw = _Port(
            *(cast(getattr(self.dll, name), c_void_p) for name in ("fmi2SetReal", "fmi2GetReal", "fmi2DoStep")),
            self.component, cast(self.inputs, POINTER(c_uint)), cast(self.outputs, POINTER(c_uint)),
            len(port.inputs), len(port.forces),
        )  # fmt: skip

    def start(self, parameters: Mapping[str, float | str], inputs: Array) -> None:
        """Initialized at time 0 with these inputs."""
        if self._used:
            self.slave.call("fmi2Reset")
        self._used = True
        self.slave.log.clear()
        reals: dict[int, float] = {}
        for name, value in parameters.items():
            variable = self.variables.get(name) or self.variables[f"{name}[1]"]
            if FAMILY[variable.type] == "Real":
                reals[variable.reference] = float(value)
            else:
                self.slave.set(variable, variable.literals[value] if isinstance(value, str) else value)
        self.dll.fmi2SetReal(
            self.component, (c_uint * len(reals))(*reals), len(reals), (c_double * len(reals))(*reals.values())
        )
        self.slave.setup(0.0, 1e9, None)
        self.slave.call("fmi2EnterInitializationMode")
        self.dll.fmi2SetReal(self.component, self.inputs, len(inputs), (c_double * len(inputs))(*inputs))
        self.slave.call("fmi2ExitInitializationMode")

    def found(self) -> dict[str, float]:
        """Outputs and parameters of the group coupling, by their names."""
        return {name: self.slave.get(self.variables[name]) for name in self.shown}

    def messages(self) -> Counter[str]:
        """Logged texts without their numbers, and how often."""
        return Counter(re.sub(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "#", entry.text) for entry in self.slave.log)


_instances: dict[tuple[str, tuple[str, ...], int], Instance] = {}


def has_variable(port: Port, name: str) -> bool:
    return name in _description(port.recipe).variables


def _instance(port: Port, index: int) -> Instance:
    key = (port.recipe, tuple(port.inputs), index)
    if key not in _instances:
        _instances[key] = Instance(port)
    return _instances[key]


@dataclass
class Outcome:
    """States (steps + 1, n) and forces (steps, u) as they acted, up to where the run broke off."""

    states: Array
    forces: Array
    broke_off: bool
    coupling: list[dict[str, float]]
    messages: Counter[str]


def run_loop(
    plant: Plant, ports: Sequence[Port], start: Array, H: float, steps: int, master: str,
    coupling: Mapping[str, float | str], *, late: bool = False, differences: bool = False, noise: Array | None = None,
) -> Outcome:  # fmt: skip
    """One run from a start state under a master; `coupling`: parameters of all FMUs beside their own.

    late  the ports see the motion of the communication point before; differences  their rates are backward
    differences; noise  shape (steps, inputs), added to what they see"""
    made = _plant(plant, [port.law for port in ports])
    instances = [_instance(port, k) for k, port in enumerate(ports)]
    at = 0
    inputs = observed(plant, ports, start)
    for port, instance in zip(ports, instances, strict=True):
        instance.start({**port.parameters, **coupling}, inputs[at : at + len(port.inputs)])
        at += len(port.inputs)
    z = np.array(start, dtype=float)
    states, forces = np.zeros((steps + 1, plant.state_count)), np.zeros((steps, plant.force_count))
    run = _Run(H, steps, MASTERS.index(master), late, differences, _address(noise), _address(states), _address(forces))
    done = _library().closed_loop(made, (_Port * len(ports))(*(i.raw for i in instances)), run, _address(z))
    messages: Counter[str] = sum((instance.messages() for instance in instances), Counter())
    return Outcome(
        states[: done + 1], forces[:done], done < steps, [instance.found() for instance in instances], messages
    )


def observed(plant: Plant, ports: Sequence[Port], z: Array) -> Array:
    """Inputs of all ports in the state z."""
    if plant.kind == "linear":
        assert plant.input_rows is not None and plant.input_offsets is not None
        seen: Array = plant.input_rows @ z + plant.input_offsets
        return seen
    rod = plant.kind == "rod"
    angle, w = (z[2], z[5]) if rod else z
    C, S = np.cos(angle), np.sin(angle)
    place, speed = (z[[0, 1]], z[[3, 4]]) if rod else (plant.law_offsets[[0, 2]], np.zeros(2))
    rows = []
    for x, y in plant.arms:
        a, b = C * x - S * y, S * x + C * y
        rows += [place[0] + a, 0.0, place[1] + b, speed[0] - w * b, 0.0, speed[1] + w * a]
    return np.array(rows)


def exact_motion(plant: Plant, laws: Sequence[Law], start: Array, H: float, steps: int, scale: Array) -> Array:
    """States under the law itself and, behind them, the work of friction in J, at each step: (steps + 1, n + 1).

    scale  of each state and of that work: errors per step of the integration are 1e-10 of it"""
    states = np.zeros((steps + 1, plant.state_count + 1))
    states[0, :-1] = start
    status = _library().exact(_plant(plant, laws), H, steps, _address(1e-10 * scale), _address(states))
    assert status >= 0, "the reference does not get on"
    return states
