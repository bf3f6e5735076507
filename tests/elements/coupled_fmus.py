"""The cases of tests/contact_core/held_cases.py as FMUs over fmpy, under plain masters.

Jacobi: all FMUs step with what the others showed before.  Gauss-Seidel: one after the other, each with what those
before it show now: the contacts first, or the bodies, or one body, the contacts, the other body.  Bodies are FMUs of
ours where there is one; a ball whose lowest point touches, and what has its own integrator, is foreign.c.  Instances
are kept and reset; values go from FMU to FMU through arrays that are made once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_double, c_uint
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmu_builder.cosim.slave import Slave, SlaveDescription, read_slave
from fmu_builder.export.fmu import host_fmu
from tests.contact_core.fmi2 import QUICK
from tests.contact_core.held_bodies import Ball, Body, Flexible, Pair, Pendulum
from tests.contact_core.held_cases import Law, hertz
from tests.fmu_builder.foreign import RIGID, foreign_fmu

Array = NDArray[np.float64]
JACOBI, GAUSS_SEIDEL, BODIES_FIRST, MIXED = "jacobi", "gauss_seidel", "bodies_first", "mixed"
MASTERS = (JACOBI, GAUSS_SEIDEL)

_FLOOR = 'element = "point_surface"\n[surface]\nkind = "plane"\n[structure]\ncoupling = true\n'
_HERTZ = f'[functions]\nC_F = "{hertz().C / 1000**1.5!r}[N]*(h/1[mm])^1.5"\n'
_RAMPS = """[functions]
text = '''
scalar C_r = 1; scalar k_D = 100[s/m]; scalar K_fr = 0.3; scalar k_T = 100[s/m];
function limit(C_r[]) = (1-#C_r*#C_r)/(1+#C_r*#C_r);
function damping(v[m/s]) =
    k_D*#v < -limit(C_r) -> -limit(C_r), k_D*#v > limit(C_r) -> limit(C_r), k_D*#v;
function friction(N[N], v[m/s]) = k_T*#v < 1 -> K_fr*#N*k_T*#v, K_fr*#N;
'''
F_d = "damping"
F_fr = "friction"
"""
_RECIPES = {
    "Floor": _FLOOR,
    "Floor2": _FLOOR + "points = 2\n",
    "Floor3": _FLOOR + "points = 3\n",
    "Floor4": _FLOOR + "points = 4\n",
    "FloorHertz": _FLOOR + _HERTZ,
    "FloorRamps": _FLOOR + _RAMPS,
    "Mass": 'element = "point_mass"\n',
    "Bar": 'element = "rigid_body"\n[structure]\npoints = 1\n',
    "Legs": 'element = "rigid_body"\n[structure]\npoints = 2\n',
    "Box": 'element = "rigid_body"\n[structure]\npoints = 6\n',
    "Swing": 'element = "pendulum"\n',
}


class Member:
    """One instance of an FMU, started over and over."""

    def __init__(self, name: str, description: SlaveDescription) -> None:
        self.slave = Slave(name, description)
        self.variables = description.variables
        self.time, self.used = 0.0, False
        self._step, self._component = self.slave.dll.fmi2DoStep, self.slave.component

    def scalars(self, name: str) -> list[str]:
        """`point.r`: point.r[1], point.r[2], point.r[3]."""
        if name in self.variables:
            return [name]
        return [scalar for i in range(1, 5) if (scalar := f"{name}[{i}]") in self.variables]

    def start(self, values: Mapping[str, ArrayLike]) -> None:
        if self.used:
            self.slave.call("fmi2Reset")
        self.used, self.time = True, 0.0
        self.slave.log.clear()
        inputs = {name for name in values if self.variables[self.scalars(name)[0]].causality == "input"}
        for name in values.keys() - inputs:
            self.put(name, values[name])
        self.slave.setup(0.0, 1e6, None)
        self.slave.call("fmi2EnterInitializationMode")
        for name in inputs:
            self.put(name, values[name])
        self.slave.call("fmi2ExitInitializationMode")

    def put(self, name: str, value: ArrayLike) -> None:
        for scalar, part in zip(self.scalars(name), np.atleast_1d(value), strict=True):
            variable = self.variables[scalar]
            self.slave.set(variable, variable.literals[str(part)] if variable.literals else float(part))

    def get(self, name: str) -> Array:
        return np.array([self.slave.get(self.variables[scalar]) for scalar in self.scalars(name)])

    def call(self, function: str, names: Sequence[str], memory: Array) -> Callable[[], int]:
        """fmi2GetReal or fmi2SetReal of these vectors, from or into `memory`."""
        scalars = [scalar for name in names for scalar in self.scalars(name)]
        assert memory.size == len(scalars)
        references = (c_uint * len(scalars))(*(self.variables[scalar].reference for scalar in scalars))
        values = (c_double * len(scalars)).from_buffer(memory)
        return partial(getattr(self.slave.dll, function), self._component, references, len(scalars), values)

    def step(self, H: float) -> int:
        status: int = self._step(self._component, self.time, H, 1)
        self.time += H
        return status

    @property
    def told(self) -> list[str]:
        return [entry.text for entry in self.slave.log]


class Crew:
    """All FMUs of these tests, and as many instances of each as were asked for at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.descriptions: dict[str, SlaveDescription] = {}
        self.members: dict[tuple[str, int], Member] = {}

    def take(self, name: str, index: int) -> Member:
        if name not in self.descriptions:
            if name == "Foreign":
                fmu = foreign_fmu(self.folder, name, RIGID, guid="r0--")
            else:
                recipe = self.folder / f"{name}.toml"
                recipe.write_text(_RECIPES[name], encoding="utf-8")
                fmu = host_fmu(recipe, QUICK)
            self.descriptions[name] = read_slave(fmu)
        if (name, index) not in self.members:
            self.members[name, index] = Member(name, self.descriptions[name])
        return self.members[name, index]

    def close(self) -> None:
        for member in self.members.values():
            member.slave.close()


@dataclass(frozen=True)
class Wire:
    """A port of a body on a port of a contact; a frame carries the surface."""

    body: Member
    of: str
    contact: Member
    at: str

    @property
    def motion(self) -> tuple[str, ...]:
        return ("r", "q", "v", "w") if self.at == "surface" else ("r", "v")

    @property
    def force(self) -> tuple[str, ...]:
        return ("f", "t") if self.at == "surface" else ("f",)


@dataclass
class System:
    """Bodies and contacts under a plain master.

    `late`: the contacts see the motion of the communication point before.  `noise`, m/s: standard deviation of what is
    added to each component of the velocities that they see.  In each communication step the contacts take
    `contact_steps` and the bodies `body_steps`, with the inputs that they have at its beginning."""

    bodies: Sequence[Member]
    contacts: Sequence[Member]
    wires: Sequence[Wire]
    master: str
    late: bool = False
    noise: float = 0.0
    contact_steps: int = 1
    body_steps: int = 1
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def __post_init__(self) -> None:
        self.statuses = 0
        self._seen: list[tuple[Array, Array]] = []  # of each wire: the motion of the body, and what the contact sees
        self._look, self._show, self._read, self._push = [], [], [], []
        for wire in self.wires:
            motion, force = [f".{role}" for role in wire.motion], [f".{role}" for role in wire.force]
            moving = np.zeros(sum(len(wire.body.scalars(wire.of + role)) for role in motion))
            shown = np.zeros_like(moving) if self.late or self.noise else moving
            acting = np.zeros(sum(len(wire.contact.scalars(wire.at + role)) for role in force))
            self._seen.append((moving, shown))
            self._look.append(wire.body.call("fmi2GetReal", [wire.of + role for role in motion], moving))
            self._show.append(wire.contact.call("fmi2SetReal", [wire.at + role for role in motion], shown))
            self._read.append(wire.contact.call("fmi2GetReal", [wire.at + role for role in force], acting))
            self._push.append(wire.body.call("fmi2SetReal", [wire.of + role for role in force], acting))
        self.begin()

    def begin(self) -> None:
        """Exchange the start values, as a master does in initialization."""
        self._call(self._look)
        for moving, shown in self._seen:
            shown[:] = moving
        self._call(self._show)
        self._call(self._read)

    def _call(self, calls: Sequence[Callable[[], int]]) -> None:
        for call in calls:
            self.statuses |= call()

    def _see(self) -> None:
        if self.late:
            for moving, shown in self._seen:
                shown[:] = moving
        self._call(self._look)
        if not self.late:
            for moving, shown in self._seen:
                shown[:] = moving
        if self.noise:
            for _, shown in self._seen:
                shown[3:6] += self.noise * self.rng.standard_normal(3)

    def step(self, H: float) -> None:
        """One communication step, s."""
        before = {BODIES_FIRST: len(self.bodies), MIXED: 1}.get(self.master, 0)  # bodies before the contacts
        if before:
            self._call(self._push)
            self._advance(self.bodies[:before], self.body_steps, H)
        if self.late or self.noise:
            self._see()
        else:
            self._call(self._look)
        self._call(self._show)
        if self.master == JACOBI:
            self._call(self._push)
        self._advance(self.contacts, self.contact_steps, H)
        self._call(self._read)
        if self.master != JACOBI:
            self._call(self._push)
        self._advance(self.bodies[before:], self.body_steps, H)

    def _advance(self, members: Sequence[Member], steps: int, H: float) -> None:
        for member in members:
            for _ in range(steps):
                self.statuses |= member.step(H / steps)

    def part(self, H: float) -> None:
        """A step in which the contacts are switched off: they forget the motion, and keep what they learned."""
        self._call(self._look)
        for moving, shown in self._seen:
            shown[:] = moving
        self._call(self._show)
        for contact in self.contacts:
            contact.put("work", 0.0)
            self.statuses |= contact.step(H)
            contact.put("work", 1.0)
        self._call(self._read)


def body_parts(body: Body | Pair) -> tuple[tuple[str, Mapping[str, ArrayLike]], ...]:
    """FMU and start values of each body, of the first phase; `lift` raises it."""
    if isinstance(body, Pair):
        second = body.second
        inertia = {f"J_{axis}": 1.0 for axis in ("xx", "yy", "zz")}
        return (*body_parts(body.first), ("Bar", {"m": second.m, "g": (0.0, 0.0, 0.0), **inertia}))
    g = (body.gravity[0], 0.0, body.gravity[1])
    q, v = body.q[0], body.v[0]
    if isinstance(body, Pendulum):
        low = (-1.0, 0.0, 0.0)
        return (("Swing", {"m": 1.0, "J": 1.0, "g": (-9.81, 0, 0), "center": low, "tip.offset": low, "w0": v[0]}),)
    if isinstance(body, Flexible):
        start = {"m": body.mass[0], "m_2": body.mass[1], "k_2": body.stiffness, "v0": (0.0, 0.0, v[0])}
        return (("Foreign", {**start, "rule": 4, "substeps": body.substeps}),)
    if isinstance(body, Ball):
        start = {"m": 1.0, "J": body.mass[-1], "r0": (0.0, 0.0, body.radius), "v0": v[:3], "w0": v[3:]}
        return (("Foreign", {**start, "arm": (0.0, 0.0, -body.radius), "rule": 4}),)
    motion = {"m": body.m, "g": g, "r0": (q[0], 0.0, q[1]), "v0": (v[0], 0.0, v[1])}
    turning = math.isfinite(body.J)  # the angle of the plane turns x towards z: about -y
    arms = [(x, 0.0, z) for x, z in body.offsets]
    if body.rule == "euler" or (turning and (body.upright or body.substeps == 1)):
        spin = {"J": body.J, "arm": arms[0], "w0": (0.0, -v[2], 0.0), "turns": int(not body.upright)} if turning else {}
        return (("Foreign", {**motion, **spin, "rule": 1 if body.rule == "euler" else 4, "substeps": body.substeps}),)
    if not turning:
        return (("Mass", motion),)
    inertia = {f"J_{axis}": body.J for axis in ("xx", "yy", "zz")}
    offsets = {f"point[{k}].offset": arm for k, arm in enumerate(arms, start=1)}
    return (("Bar" if len(arms) == 1 else "Legs", {**motion, **inertia, **offsets, "w0": (0.0, -v[2], 0.0)}),)


def body_ports(body: Body | Pair) -> list[tuple[int, str, str]]:
    """Which port of which body touches which port of the contact."""
    if isinstance(body, Pair):
        return [*body_ports(body.first), (1, "frame", "surface")]
    name = body_parts(body)[0][0]
    if name == "Legs":
        return [(0, f"point[{k}]", f"point[{k}]") for k in (1, 2)]
    return [(0, {"Bar": "point[1]", "Swing": "tip"}.get(name, "p"), "point")]


def speeds(body: Body | Pair, members: Sequence[Member]) -> Array:
    """The coordinates of the body in the reference."""
    if isinstance(body, Pair):
        v = members[1].get("frame.v")
        return np.array([*speeds(body.first, members[:1]), v[0], v[2], 0.0])
    one = members[0]
    if isinstance(body, Pendulum):
        return one.get("hinge.w")
    if isinstance(body, Flexible):
        return np.array([one.get("v")[2], one.get("v_2")[0]])
    if isinstance(body, Ball):
        return np.concatenate([one.get("v"), one.get("w")])
    v = one.get({"Mass": "p.v", "Foreign": "v"}.get(one.slave.name, "frame.v"))
    if not math.isfinite(body.J):
        return np.array([v[0], v[2], 0.0])
    return np.array([v[0], v[2], -one.get({"Foreign": "w"}.get(one.slave.name, "frame.w"))[1]])


def places(body: Body, members: Sequence[Member]) -> Array:
    """x and z of the centre, of a body that is not a pair."""
    one = members[0]
    return one.get({"Mass": "p.r", "Foreign": "r"}.get(one.slave.name, "frame.r"))[0::2]


def law_values(law: Law) -> tuple[str, dict[str, float]]:
    """FMU and parameters of a contact with the law."""
    if law.by_functions:
        values = {"laws.C_r": law.C_r, "laws.k_D": law.k_D, "laws.K_fr": law.K_fr, "laws.k_T": law.k_T, "C_F": law.C}
        return "FloorRamps", values
    values = {"C_r": law.C_r, "k_D": law.k_D, "k_E": law.k_E, "K_fr": law.K_fr, "k_T": law.k_T}
    return ("FloorHertz", values) if law.exponent != 1.0 else ("Floor", {**values, "C_F": law.C})


def couple(
    crew: Crew, body: Body | Pair, laws: Sequence[Law], master: str, phase: int, lift: float,
    coupling: Mapping[str, Any], apart: bool = False, **options: Any,
) -> tuple[System, Callable[[], None]]:  # fmt: skip
    """The system of one phase, its body raised by `lift`, m, and a function that puts the body back for another impact.

    `coupling`: values of the group.  `apart`: each point of a body has a contact FMU of its own."""
    parts, ports = body_parts(body), body_ports(body)
    members = [crew.take(name, phase * 2 + i) for i, (name, _) in enumerate(parts)]

    def begin() -> None:
        for i, (member, (name, values)) in enumerate(zip(members, parts, strict=True)):
            place = {"pivot": (0.0, 0.0, lift)} if name == "Swing" else {}
            if not place and i == 0:
                place = {"r0": np.add(values.get("r0", (0.0, 0.0, 0.0)), (0.0, 0.0, lift))}
            member.start({**values, **place})

    begin()
    name, values = law_values(laws[0])
    points = sum(at.startswith("point") for _, _, at in ports)
    together = points > 1 and not apart
    count = points if apart else 1
    contacts = [crew.take("Floor2" if together else name, phase * 2 + k) for k in range(count)]
    of = {at: contacts[k if apart else 0] for k, (_, _, at) in enumerate(ports)}
    wires = [Wire(members[i], port, of[at], "point" if apart else at) for i, port, at in ports]
    for contact in contacts:
        motion = {
            f"{wire.at}.{role}": wire.body.get(f"{wire.of}.{role}")
            for wire in wires if wire.contact is contact for role in wire.motion
        }  # fmt: skip
        contact.start({**values, **{f"coupling.{key}": value for key, value in coupling.items()}, **motion})
    return System(members, contacts, wires, master, **options), begin
