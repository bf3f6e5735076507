"""Bodies, exact under held forces, that port FMUs meet in closed loop: systems and how their errors are measured."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import expm

from tests.elements.closed_loop import Bench, Law, Plant, Port

Array = NDArray[np.float64]
PHASES = (np.arange(15) + 0.37) / 15  # of a step, by which the starts differ
_POINT = tuple(f"point.{role}[{i}]" for role in "rv" for i in (1, 2, 3))
_SURFACE = tuple(f"surface.{role}[{i}]" for role in "rv" for i in (1, 2, 3))
_FORCE = tuple(f"point.f[{i}]" for i in (1, 2, 3))


def contact(law: Law, on_body: bool = False) -> Port:
    """A point against a plane that is fixed or, `on_body`, carried by another body."""
    values = {"C_F": law.stiffness, "C_r": law.C_r, "k_D": law.k_D, "K_fr": law.mu, "k_T": law.k_T, "D_max": 1e6}
    inputs = (*_POINT[:3], *_SURFACE[:3], *_POINT[3:], *_SURFACE[3:]) if on_body else _POINT
    return Port("Floor", values, inputs, _FORCE, law)


def spring(stiffness: float, kind: str, x0: float) -> Port:
    """A spring between the bodies r and c.  It sees rates (`Spring`, `RotationalSpring`) or positions."""
    law = Law(stiffness, kind="spring")
    if kind == "RotationalSpring":
        return Port(kind, {"k": stiffness, "theta0": x0}, ("r.w", "c.w"), ("r.t",), law)
    inputs = ("r.s", "c.s", "r.v", "c.v") if kind == "SpringByPositions" else ("r.v", "c.v")
    return Port(kind, {"k": stiffness, "x0": x0}, inputs, ("r.F",), law)


def damper(damping: float) -> Port:
    return Port("Damper", {"d": damping}, ("r.v", "c.v"), ("r.F",), Law(damping, kind="damper"))


def rail(stiffness: float) -> Port:
    """A straight guide along x."""
    return Port("Rail", {"k_r": stiffness}, _POINT, _FORCE, Law(stiffness, kind="guide"))


@dataclass(frozen=True)
class System:
    """A closed loop and its error: by `measure`

    speed      rms error of the speeds at the end over the speed of the start, both weighted by the masses
    amplitude  error of the root of the energy at the end over that of the start: energies counted from equilibrium
    energy     |E/E_exact - 1| at the end
    friction   error of the work of friction over the exact one and a hundredth of what the outer force could give
    force      rms error of the mean force of each step in the last fifth, over the one at rest

    weights and linear  of the energy z' diag(weights) z / 2 + z' quadratic z / 2 + linear z + constant + potentials"""

    family: str
    plant: Plant
    ports: tuple[Port, ...]
    H: float
    steps: int
    starts: Array
    weights: Array
    measure: str = "speed"
    N: float = 0.0
    facts: Mapping[str, float] = field(default_factory=dict)
    quadratic: Array | None = None
    linear: Array | None = None
    constant: float = 0.0
    expected: float = 0.0

    @functools.cached_property
    def bench(self) -> Bench:
        return Bench(self.plant, self.ports)

    @functools.cached_property
    def laws(self) -> list[Law]:
        return [port.law for port in self.ports]

    def scale(self) -> Array:
        """Of each state, and of the work of friction: for errors of the reference."""
        energy = self.energy(self.starts[0])
        if self.measure == "friction":  # it begins at rest
            energy += 1e-3 * self.expected
        speeds = np.sqrt(2 * energy / np.maximum(self.weights, 1e-300))
        size = np.where(self.weights > 0, speeds, np.max(np.abs(self.starts), axis=0))
        moving = np.max(speeds[self.weights > 0]) * self.H
        return np.append(np.maximum(size, moving), energy)

    def energy(self, z: Array) -> float:
        """J, with what the elastic forces hold."""
        E = self.constant + 0.5 * float(self.weights @ (z * z))
        if self.quadratic is not None:
            E += 0.5 * float(z @ self.quadratic @ z)
        if self.linear is not None:
            E += float(self.linear @ z)
        return E + sum(law.potential(motion) for law, motion in zip(self.laws, self.motions(z), strict=True))

    def motions(self, z: Array) -> list[Array]:
        """What each law takes."""
        if self.plant.kind == "linear":
            seen = self.plant.law_rows @ z + self.plant.law_offsets
            return np.split(seen, np.cumsum([6 if law.in_space else 2 for law in self.laws])[:-1])
        return self.bench.parts(self.bench.inputs(z))

    def friction_work(self, states: Array, forces: Array) -> float:
        """J, that a contact of a body along x and z took along the floor."""
        return -float(forces[:, 0] @ np.diff(states[:, 0]))

    def reference(self) -> list[Array]:
        """The motion of each phase under the law, and the work of friction: (steps + 1, n + 1)."""
        scale = self.scale()
        return [self.bench.exact(start, self.H, self.steps, scale) for start in self.starts]

    def error_at_end(self, start: Array, end: Array, right: Array) -> float:
        """Of a run from one state to another, at most 1e6: speed, amplitude, energy."""
        with np.errstate(all="ignore"):
            if self.measure == "speed":
                wrong = math.sqrt(float(self.weights @ (end - right) ** 2 / (self.weights @ start**2)))
            elif self.measure == "amplitude":
                roots = [math.sqrt(max(self.energy(z), 0.0)) for z in (end, right, start)]
                wrong = abs(roots[0] - roots[1]) / roots[2]
            else:
                wrong = abs(self.energy(end) / self.energy(right) - 1)
        return min(wrong, 1e6) if math.isfinite(wrong) else 1e6

    def error(self, states: Array, forces: Array, exact: Array) -> float:
        """Of one run, at most 1e6."""
        if len(states) <= self.steps:
            return 1e6
        if self.measure in ("speed", "amplitude", "energy"):
            return self.error_at_end(states[0], states[-1], exact[-1, :-1])
        with np.errstate(all="ignore"):
            if self.measure == "friction":
                work = float(exact[-1, -1])
                wrong = abs(self.friction_work(states, forces) - work) / (work + 0.01 * self.expected)
            else:
                law, last = self.laws[0], int(0.8 * self.steps)
                depth, rate = -exact[last:, 0], -exact[last:, 1]
                force = law.normal_force(depth, rate)
                differences = forces[last:, -1] - (force[1:] + force[:-1]) / 2
                wrong = math.sqrt(float(np.mean(differences**2))) / self.expected
        return min(wrong, 1e6) if math.isfinite(wrong) else 1e6


@dataclass(frozen=True)
class Wire:
    """Coordinates that a port sees: rows (3, dofs) of the point, of the surface's body if there is one, in x, y, z;
    offsets of the point from the surface.  A spring has one row each."""

    port: Port
    point: Array
    surface: Array | None = None
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)


def rows(dofs: int, **axes: ArrayLike) -> Array:
    """rows(2, z=[1, 0]): the point moves along z with the first coordinate."""
    made = np.zeros((3, dofs))
    for axis, row in axes.items():
        made["xyz".index(axis)] = row
    return made


def linear_plant(
    masses: ArrayLike, H: float, wires: Sequence[Wire], K: ArrayLike | None = None, D: ArrayLike | None = None,
    pull: ArrayLike | None = None, wave: tuple[int, float, float] | None = None, first: int = 0,
) -> Plant:  # fmt: skip
    """M q'' + D q' + K q = pull + forces; states: q, q' of each body in turn if `first` bodies are stepped first.

    wave  coordinate, amplitude N and angular frequency of an outer force a sin(w t + phase): two further states,
    (sin, cos) at the start"""
    M = np.asarray(masses, dtype=float)
    n = len(M)
    extra = 2 if wave else 0
    A = np.zeros((2 * n + extra, 2 * n + extra))
    A[:n, n : 2 * n] = np.eye(n)
    if K is not None:
        A[n : 2 * n, :n] = -np.asarray(K) / M[:, None]
    if D is not None:
        A[n : 2 * n, n : 2 * n] = -np.asarray(D) / M[:, None]
    c = np.zeros(2 * n + extra)
    if pull is not None:
        c[n : 2 * n] = np.asarray(pull) / M
    if wave:
        dof, amplitude, omega = wave
        A[n + dof, 2 * n] = amplitude / M[dof]
        A[2 * n, 2 * n + 1], A[2 * n + 1, 2 * n] = omega, -omega
    columns, seen, taken, seen_at, taken_at = [], [], [], [], []
    for wire in wires:
        size = 3 if wire.port.law.in_space else 1
        offset = np.array(wire.offset[:size])
        surface = np.zeros_like(wire.point) if wire.surface is None else wire.surface
        columns.append((wire.point - surface).T / M[:, None])
        parts = [(wire.point, offset)]
        if len(wire.port.inputs) > (2 if size == 1 else 6) or size == 1:
            parts.append((surface, np.zeros(size)))
        zeros = np.zeros_like(wire.point)
        for moving in (False, True):
            if size == 1 and not moving and len(wire.port.inputs) == 2:
                continue  # sees rates only
            for row, at in parts:
                seen.append(np.hstack([zeros, row] if moving else [row, zeros]))
                seen_at.append(np.zeros(size) if moving else at)
        difference = wire.point - surface
        taken += [np.hstack([difference, zeros]), np.hstack([zeros, difference])]
        taken_at += [offset, np.zeros(size)]
    B = np.zeros((2 * n + extra, sum(column.shape[1] for column in columns)))
    B[n : 2 * n] = np.hstack(columns)

    def padded(parts: Sequence[Array]) -> Array:
        stacked = np.vstack(parts)
        return np.ascontiguousarray(np.hstack([stacked, np.zeros((len(stacked), extra))]))

    order = _body_order(n, first, extra)
    size = len(c) + B.shape[1] + 1
    joint = np.zeros((size, size))
    joint[: len(c), : len(c)], joint[: len(c), len(c) : -1], joint[: len(c), -1] = A, B, c
    step = expm(joint * H)[: len(c)]
    pick = np.ix_(order, order)
    return Plant(
        "linear", len(c), B.shape[1],
        law_rows=np.ascontiguousarray(padded(taken)[:, order]), law_offsets=np.concatenate(taken_at),
        A=np.ascontiguousarray(A[pick]), B=np.ascontiguousarray(B[order]), c=np.ascontiguousarray(c[order]),
        Ad=np.ascontiguousarray(step[:, : len(c)][pick]), Bd=np.ascontiguousarray(step[order, len(c) : -1]),
        cd=np.ascontiguousarray(step[order, -1]),
        input_rows=np.ascontiguousarray(padded(seen)[:, order]), input_offsets=np.concatenate(seen_at),
        first_count=2 * first,
    )  # fmt: skip


def _body_order(dofs: int, first: int, extra: int) -> NDArray[np.intp]:
    """q and q' of the first bodies, then of the others, then what else there is."""
    n = dofs
    return np.concatenate([np.r_[:first, n : n + first], np.r_[first:n, n + first : 2 * n], 2 * n + np.arange(extra)])


def start_states(
    q: ArrayLike, v: ArrayLike, H: float, sine: tuple[float, float] | None = None, first: int = 0
) -> Array:
    """Starts of all phases: q moved back by a share of a step of v; `sine`: start of the wave, (sin, cos)."""
    q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    tail = [] if sine is None else [np.array(sine)]
    n = len(q)
    order = np.concatenate(
        [np.r_[:first, n : n + first], np.r_[first:n, n + first : 2 * n], np.arange(2 * n, 2 * n + 2 * len(tail))]
    )
    return np.array([np.concatenate([q + phase * H * v, v, *tail])[order] for phase in PHASES])
