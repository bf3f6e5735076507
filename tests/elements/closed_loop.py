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
from collections.abc import Callable, Mapping, Sequence
from ctypes import POINTER, c_double, c_int, c_uint, c_void_p, cast
from dataclasses import dataclass
from functools import partial
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
_LAWS = ("contact", "spring", "damper", "guide")
_KINDS = ("linear", "rod", "pendulum")
_MAX_PORTS = 8
_BUILD = """import pathlib, sys
sys.path.insert(0, sys.argv[1])
from fmu_builder.export.fmu import host_fmu
print(host_fmu(pathlib.Path(sys.argv[2])))
"""

_FLOOR = 'element = "point_surface"\n[surface]\nkind = "plane"\n[structure]\ncoupling = true\n'
RECIPES = {
    "Floor": _FLOOR,
    "FloorOfTwo": _FLOOR + "points = 2\n",
    "FloorBristle": _FLOOR + "bristle = true\n",
    "Spring": 'element = "translational_spring"\n[structure]\ncoupling = true\n',
    "SpringByPositions": 'element = "translational_spring"\n[structure]\ncoupling = true\npositions = true\n',
    "Damper": 'element = "translational_damper"\n[structure]\ncoupling = true\n',
    "Rail": 'element = "point_line_1"\n[structure]\ncoupling = true\n'
    "[line]\npoints = [[-10, 0, 0], [0, 0, 0], [10, 0, 0]]\n",
    "RotationalSpring": 'element = "rotational_spring"\n[structure]\ncoupling = true\n',
}


@dataclass(frozen=True)
class Law:
    """What the reference integrates: a contact (restitution, friction), a spring, a damper (`stiffness` in N.s/m), or a
    guide, which pulls towards the x axis."""

    stiffness: float
    C_r: float = 1.0
    k_D: float = 100.0
    mu: float = 0.0
    k_T: float = 100.0
    kind: str = "contact"

    @property
    def in_space(self) -> bool:
        """Three directions, or one."""
        return self.kind in ("contact", "guide")

    def potential(self, motion: Array) -> float:
        """J; motion: what the law takes, positions first."""
        if self.kind == "damper":
            return 0.0
        x = {"contact": [max(-motion[2 % len(motion)], 0.0)], "guide": motion[1:3], "spring": motion[:1]}[self.kind]
        return 0.5 * self.stiffness * float(np.dot(x, x))

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


_REAL = c_void_p  # the address of an array


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
    library.driven.argtypes = [POINTER(_Plant), _REAL, _REAL, _REAL, c_double, c_int]
    library.driven.restype = None
    return library


def _address(array: Array | None) -> int | None:
    if array is None:
        return None
    assert array.flags.c_contiguous and array.dtype == np.float64
    return array.ctypes.data


def _plant(plant: Plant, laws: Sequence[Law]) -> _Plant:
    made = _Plant(_KINDS.index(plant.kind), plant.state_count, plant.force_count, len(laws), plant.first_count)
    for name in ("A", "B", "c", "Ad", "Bd", "cd", "input_rows", "input_offsets", "law_rows", "law_offsets"):
        setattr(made, name, _address(getattr(plant, name)))
    made.mass, made.inertia, made.gravity = plant.mass, plant.inertia, (c_double * 2)(*plant.gravity)
    for k, arm in enumerate(plant.arms):
        made.arms[k] = (c_double * 2)(*arm)
    for k, law in enumerate(laws):
        made.laws[k] = _Law(law.stiffness, *law.limits, law.k_D, law.mu, law.k_T, _LAWS.index(law.kind))
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
        self._get_shown: list[Callable[[], int]] = []
        self._shown: list[tuple[Any, list[str]]] = []
        for kind, number in (("Real", c_double), ("Integer", c_int), ("Boolean", c_int)):
            names = [n for n, v in self.variables.items() if n.startswith("coupling.") and FAMILY[v.type] == kind]
            values = (number * len(names))()
            references = (c_uint * len(names))(*(self.variables[name].reference for name in names))
            get = getattr(self.dll, f"fmi2Get{kind}")
            self._get_shown.append(partial(get, self.component, references, len(names), values))
            self._shown.append((values, names))
        self.raw = _Port(
            *(cast(getattr(self.dll, name), c_void_p) for name in ("fmi2SetReal", "fmi2GetReal", "fmi2DoStep")),
            self.component, cast(self.inputs, POINTER(c_uint)), cast(self.outputs, POINTER(c_uint)),
            len(port.inputs), len(port.forces),
        )  # fmt: skip

    def prepared(self, parameters: Mapping[str, float | str]) -> list[Callable[[], int]]:
        """The calls that give these values."""
        calls: list[Callable[[], int]] = []
        for kind, number in (("Real", c_double), ("Integer", c_int), ("Boolean", c_int)):
            given = {
                variable.reference: variable.literals[value] if isinstance(value, str) else value
                for variable, value in ((self.variables[name], value) for name, value in parameters.items())
                if FAMILY[variable.type] == kind
            }
            if given:
                references, values = (c_uint * len(given))(*given), (number * len(given))(*given.values())
                calls.append(
                    partial(getattr(self.dll, f"fmi2Set{kind}"), self.component, references, len(given), values)
                )
        return calls

    def start(self, values: Sequence[Callable[[], int]], inputs: Array) -> None:
        """Initialized at time 0 with these inputs."""
        if self._used:
            self.slave.call("fmi2Reset")
        self._used = True
        self.slave.log.clear()
        for call in values:
            self.slave.check(call(), "fmi2Set")
        self.slave.setup(0.0, 1e9, None)
        self.slave.call("fmi2EnterInitializationMode")
        self.dll.fmi2SetReal(self.component, self.inputs, len(inputs), (c_double * len(inputs))(*inputs))
        self.slave.call("fmi2ExitInitializationMode")

    def found(self) -> dict[str, float]:
        """Outputs and parameters of the group coupling, by their names."""
        for get in self._get_shown:
            get()
        return {name: values[k] for values, names in self._shown for k, name in enumerate(names)}

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


class Bench:
    """Bodies with the FMUs on them."""

    def __init__(self, plant: Plant, ports: Sequence[Port]) -> None:
        self.plant, self.ports = plant, ports
        self._raw = _plant(plant, [port.law for port in ports])
        ends = np.cumsum([len(port.inputs) for port in ports]).tolist()
        self._slices = [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
        self._prepared: dict[tuple[tuple[str, float | str], ...], list[list[Callable[[], int]]]] = {}

    @functools.cached_property
    def instances(self) -> list[Instance]:
        return [_instance(port, k) for k, port in enumerate(self.ports)]

    @functools.cached_property
    def _raw_ports(self) -> ctypes.Array[_Port]:
        return (_Port * len(self.ports))(*(instance.raw for instance in self.instances))

    def start(self, z: Array, coupling: Mapping[str, float | str]) -> None:
        """All FMUs initialized at the state z; `coupling`: parameters of all of them beside their own."""
        key = tuple(coupling.items())
        if key not in self._prepared:
            self._prepared[key] = [
                one.prepared({**port.parameters, **coupling})
                for port, one in zip(self.ports, self.instances, strict=True)
            ]
        for one, values, inputs in zip(self.instances, self._prepared[key], self.parts(self.inputs(z)), strict=True):
            one.start(values, inputs)

    def parts(self, inputs: Array) -> list[Array]:
        """Those of each FMU."""
        return [inputs[one] for one in self._slices]

    def run(
        self, start: Array, H: float, steps: int, master: str, coupling: Mapping[str, float | str], *,
        late: bool = False, differences: bool = False, noise: Array | None = None,
    ) -> Outcome:  # fmt: skip
        """One run from a start state under a plain master.

        late  the ports see the motion of the communication point before; differences  their rates are backward
        differences; noise  shape (steps, inputs), added to what they see"""
        self.start(start, coupling)
        z = np.array(start, dtype=float)
        states, forces = np.zeros((steps + 1, len(z))), np.zeros((steps, self.plant.force_count))
        arrays = (_address(noise), _address(states), _address(forces))
        run = _Run(H, steps, MASTERS.index(master), late, differences, *arrays)
        done = _library().closed_loop(self._raw, self._raw_ports, run, _address(z))
        messages: Counter[str] = sum((one.messages() for one in self.instances), Counter())
        found = [one.found() for one in self.instances]
        return Outcome(states[: done + 1], forces[:done], done < steps, found, messages)

    def inputs(self, z: Array) -> Array:
        """Of all FMUs in the state z."""
        plant = self.plant
        if plant.kind == "linear":
            assert plant.input_rows is not None and plant.input_offsets is not None
            seen: Array = plant.input_rows @ z + plant.input_offsets
            return seen
        rod = plant.kind == "rod"
        angle, w = (z[2], z[5]) if rod else z
        C, S = np.cos(angle), np.sin(angle)
        place, speed = (z[[0, 1]], z[[3, 4]]) if rod else (plant.law_offsets[[0, 2]], np.zeros(2))
        rows: list[float] = []
        for x, y in plant.arms:
            a, b = C * x - S * y, S * x + C * y
            rows += [place[0] + a, 0.0, place[1] + b, speed[0] - w * b, 0.0, speed[1] + w * a]
        return np.array(rows)

    def driven(self, z: Array, u: Array, slope: Array, time: float) -> Array:
        """The state a time later, s, under forces u + slope t."""
        end = np.array(z)
        _library().driven(self._raw, _address(end), _address(u), _address(slope), time, 20)
        return end

    def exact(self, start: Array, H: float, steps: int, scale: Array) -> Array:
        """States under the law itself and, behind them, the work of friction in J, at each step: (steps + 1, n + 1).

        scale  of each state and of that work: errors per step of the integration are 1e-10 of it"""
        states = np.zeros((steps + 1, len(start) + 1))
        states[0, :-1] = start
        allowed = 1e-10 * scale
        status = _library().exact(self._raw, H, steps, _address(allowed), _address(states))
        assert status >= 0, "the reference does not get on"
        return states
