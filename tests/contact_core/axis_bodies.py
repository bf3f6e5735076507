"""Bodies on one axis that hold the forces of springs and dampers over a communication step: coupled_axis.c by numpy."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
JACOBI, ELEMENTS_FIRST, BODIES_FIRST = 1, 0, 2
AUTO = -1
MOST = 128


class Given(ctypes.Structure):
    _fields_ = [
        ("lag", ctypes.c_int), ("identify", ctypes.c_int), ("straight", ctypes.c_int), ("inertia", ctypes.c_double),
        ("holds", ctypes.c_int),
    ]  # fmt: skip


class Options(ctypes.Structure):
    _fields_ = [("k", ctypes.c_double), ("d", ctypes.c_double), ("given", Given), ("bodies_first", ctypes.c_int)]


class System(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int) for name in ("bodies", "elements", "master", "steps", "by_place", "hold", "euler")),
        ("H", ctypes.c_double), ("m", ctypes.c_double * MOST), ("pull", ctypes.c_double * MOST),
        ("ends", ctypes.c_int * 2 * MOST), ("x_0", ctypes.c_double * MOST), ("options", Options * MOST),
    ]  # fmt: skip


@dataclass
class Row:
    """Bodies m, kg, with constant forces `pull`, N, and elements between `ends`: pairs of bodies, -1 the ground."""

    m: Sequence[float]
    ends: Sequence[tuple[int, int]]
    k: ArrayLike = 0.0
    d: ArrayLike = 0.0
    x_0: ArrayLike = 0.0
    v: ArrayLike = 0.0
    pull: ArrayLike = 0.0
    by_place: bool = False
    euler: int = 0

    def __post_init__(self) -> None:
        wide = lambda values, n: np.broadcast_to(np.asarray(values, dtype=float), (n,)).copy()  # noqa: E731
        self.k, self.d, self.x_0 = (wide(a, len(self.ends)) for a in (self.k, self.d, self.x_0))
        self.v, self.pull = wide(self.v, len(self.m)), wide(self.pull, len(self.m))


@dataclass
class Coupled:
    """A run that can go on; `memory` of the elements.  At the ends of the steps, shape (steps, n): u, v of the bodies,
    F that acted, deformations x as the elements have them."""

    library: ctypes.CDLL
    row: Row
    H: float
    master: int
    lag: int = AUTO
    inertia: ArrayLike = 0.0
    identify: bool = True
    straight: bool = False
    hold: bool = False
    system: System = field(init=False)

    def __post_init__(self) -> None:
        row, s = self.row, System()
        s.bodies, s.elements, s.master, s.H = len(row.m), len(row.ends), self.master, self.H
        s.by_place, s.hold, s.euler = row.by_place, self.hold, row.euler
        inertia = np.broadcast_to(np.asarray(self.inertia, dtype=float), (len(row.ends),))
        for b, m in enumerate(row.m):
            s.m[b], s.pull[b] = m, row.pull[b]
        for i, ends in enumerate(row.ends):
            s.ends[i][0], s.ends[i][1] = ends
            s.x_0[i] = row.x_0[i]
            s.options[i] = Options(row.k[i], row.d[i], Given(self.lag, self.identify, self.straight, inertia[i]))
        assert self.library.system_size() == ctypes.sizeof(System)
        self.system = s
        self.memory = ctypes.create_string_buffer(self.library.size() * len(row.ends))
        self.position, self.speed = np.zeros(len(row.m)), np.array(row.v)
        self.forces = np.zeros(len(row.ends))
        arrays = self.position.ctypes, self.speed.ctypes, self.memory, self.forces.ctypes
        self.library.start(ctypes.byref(s), *arrays)
        self.u, self.v = self.position[None].copy(), self.speed[None].copy()
        self.F, self.x = np.zeros((0, len(row.ends))), np.zeros((0, len(row.ends)))

    def run(self, steps: int) -> Coupled:
        n, e = len(self.row.m), len(self.row.ends)
        self.system.steps = steps
        trace = np.zeros((steps, 2 * (n + e)))
        arrays = self.position.ctypes, self.speed.ctypes, self.memory, self.forces.ctypes
        self.library.run(ctypes.byref(self.system), *arrays, trace.ctypes)
        u, v, F, x = np.split(trace, [n, 2 * n, 2 * n + e], axis=1)
        self.u, self.v = np.concatenate([self.u, u]), np.concatenate([self.v, v])
        self.F, self.x = np.concatenate([self.F, F]), np.concatenate([self.x, x])
        return self

    def across(self, of: Array) -> Array:
        """Of r over c, shape (steps, elements)."""
        ground = np.concatenate([of, np.zeros((len(of), 1))], axis=1)
        return np.stack([ground[:, r] - ground[:, c] for r, c in self.row.ends], axis=1)

    def deformation(self) -> Array:
        """As the bodies have it; with semi-implicit bodies on the parabola that has their kinetic energy."""
        x = self.row.x_0 + self.across(self.u)
        return x - (0.5 / self.row.euler * self.H * self.across(self.v) if self.row.euler else 0.0)

    def energy(self) -> Array:
        """Of bodies, springs and constant forces, J, shape (steps + 1,)."""
        kinetic = 0.5 * (self.v**2) @ np.asarray(self.row.m)
        return kinetic + 0.5 * (self.deformation() ** 2) @ self.row.k - self.u @ self.row.pull

    def learned(self, i: int = 0) -> dict[str, float]:
        out = (ctypes.c_double * 6)()
        at = ctypes.byref(self.memory, i * self.library.size())
        self.library.learned(at, ctypes.byref(self.system.options[i]), out)
        return dict(zip(("lag", "W", "made", "beta", "step_advised", "fallback"), out, strict=True))


def train(masses: int, m: float, k: float, v: ArrayLike, **options: object) -> Row:
    """Masses in a row, joined by springs, between two walls."""
    ends = [(i if i < masses else -1, i - 1) for i in range(masses + 1)]
    return Row([m] * masses, ends, k=k, v=v, **options)  # type: ignore[arg-type]
