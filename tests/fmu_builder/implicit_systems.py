"""Bodies and force elements that exchange forces over long communication steps, with independent references.

Each system is run in phases of the impact within a step, side by side in one scenario: the parts of phase i have the
names `..._i`.  References are closed forms, or scipy's DOP853 at 1e-12 on equations that stand here."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from fmu_builder import Scenario, run
from fmu_builder.cosim.result import Result

Vector = NDArray[np.float64]
PHASES = tuple((i + 0.5) / 15.0 for i in range(15))
K = 1e6  # N/m
FRICTION, RAMP = 0.2, 100.0  # K_fr, k_T, s/m
TOUCHING = (0.5, 0.0, -1.0)  # m/s, of the oblique impact


def integrated(rates: Callable[[float, Vector], Vector], state: Vector, end: float, longest: float) -> Vector:
    """The state at `end`, s.   longest: step, s, that no contact escapes"""
    solution = solve_ivp(rates, (0.0, end), state, method="DOP853", rtol=1e-12, atol=1e-13, max_step=longest)
    return np.asarray(solution.y[:, -1])


@dataclass(frozen=True)
class System(ABC):
    """contact: duration of an undamped contact, s, of which N = contact/H steps are taken
    duration: of the run, in such contacts     masses: weights of the velocities that are compared
    phases: of the impact within a step"""

    contact: float
    duration: float
    masses: tuple[float, ...]
    phases: tuple[float, ...] = PHASES

    @abstractmethod
    def parts(self, i: int, shift: float) -> tuple[dict[str, object], list[tuple[str, str]]]:
        """Slaves and connections of phase i, in which the impact is `shift` s later."""

    @abstractmethod
    def velocities(self, result: Result, i: int) -> Vector: ...

    @abstractmethod
    def exact(self, shift: float, end: float) -> Vector: ...

    def starts(self, mode: str) -> dict[str, str]:
        return {"coupling.mode": mode}

    def scenario(self, N: float, algorithm: str, mode: str = "auto", tolerance: float | None = None) -> Scenario:
        H = self.contact / N
        steps = math.ceil(self.duration * N) + 2
        slaves: dict[str, object] = {}
        connections: list[tuple[str, str]] = []
        for i, phase in enumerate(self.phases):
            own, joined = self.parts(i, phase * H)
            slaves |= own
            connections += joined
        for entry in slaves.values():
            if isinstance(entry, dict) and "coupled" in entry:
                del entry["coupled"]
                entry["start"] = {**entry["start"], **self.starts(mode)}
        experiment: dict[str, object] = {"stop": steps * H, "step": H, "algorithm": algorithm}
        if tolerance is not None:
            experiment["coupling_tolerance"] = tolerance
        return Scenario(slaves=slaves, connections=connections, experiment=experiment, free_moment=True)

    def errors(self, result: Result, N: float) -> Vector:
        """Of each phase: |v - exact| in the mass norm, over the impact speed of 1 m/s."""
        H, masses = self.contact / N, np.array(self.masses)
        end = float(result.trace.time[-1])
        missed = [self.velocities(result, i) - self.exact(phase * H, end) for i, phase in enumerate(self.phases)]
        return np.array([math.sqrt(masses @ one**2 / masses.max()) for one in missed])

    def drifts(self, result: Result) -> Vector:
        """Of each phase: the change of the energy of all its parts, over the largest kinetic energy."""
        found = []
        for i in range(len(self.phases)):
            names = [n for n in result.trace.names if n.partition(".")[0].endswith(f"_{i}")]
            kinetic = sum(result[n] for n in names if n.endswith("energy.kinetic"))
            others = sum(result[n] for n in names if n.endswith(("energy.potential", "energy.elastic")))
            total = np.asarray(kinetic + others)
            found.append(abs(total[-1] - total[0]) / np.max(kinetic))
        return np.array(found)


@dataclass(frozen=True)
class Impact(System):
    """A mass of 1 kg falls on a floor at 1 m/s, straight or obliquely with friction."""

    C_r: float = 1.0
    oblique: bool = False

    def parts(self, i: int, shift: float) -> tuple[dict[str, object], list[tuple[str, str]]]:
        v = TOUCHING if self.oblique else (0.0, 0.0, -1.0)
        friction = FRICTION if self.oblique else 0.0
        ball = {"recipe": "PointMass", "start": {"r0": [-v[0] * shift, 0, shift], "v0": [*v], "g": [0, 0, 0]}}
        law = {"C_F": K, "C_r": self.C_r, "K_fr": friction, "k_T": RAMP}
        floor = {"recipe": "PointSurface", "start": law, "coupled": True}
        return {f"ball_{i}": ball, f"floor_{i}": floor}, [(f"ball_{i}.p", f"floor_{i}.point")]

    def velocities(self, result: Result, i: int) -> Vector:
        return np.array([result[f"ball_{i}.p.v[{k}]"][-1] for k in (1, 3)])

    @functools.cache  # noqa: B019
    def _after(self) -> tuple[float, float]:
        loss, k_E, k_D = 1.0 - self.C_r**2, 0.5, 100.0
        delta = 1.0 - k_E + self.C_r**2 * k_E
        friction = FRICTION if self.oblique else 0.0

        def rates(t: float, y: Vector) -> Vector:
            depth, rate, slip = y
            d = min(max(k_D * rate, -loss * (1.0 - k_E) / delta), loss * k_E / delta)
            N = K * max(depth, 0.0) * (1.0 + d)
            return np.array([rate, -N, -friction * N * min(max(RAMP * slip, -1.0), 1.0)])

        slip = TOUCHING[0] if self.oblique else 0.0
        end = integrated(rates, np.array([0.0, 1.0, slip]), 4.0 * self.contact, self.contact / 300.0)
        return float(end[2]), -float(end[1])

    def exact(self, shift: float, end: float) -> Vector:
        return np.array(self._after())


@dataclass(frozen=True)
class Cradle(System):
    """The first of three balls in a row, 1 kg each, meets the two others, which touch."""

    def parts(self, i: int, shift: float) -> tuple[dict[str, object], list[tuple[str, str]]]:
        slaves: dict[str, object] = {
            f"{name}_{i}": {"recipe": "PointMass", "start": {"r0": [x, 0, 0], "v0": [v, 0, 0], "g": [0, 0, 0]}}
            for name, x, v in (("a", -0.1 - shift, 1.0), ("b", 0.0, 0.0), ("c", 0.1, 0.0))
        }
        for name in ("left", "right"):
            law = {"C_F": K, "C_r": 1, "K_fr": 0}
            slaves[f"{name}_{i}"] = {"recipe": "PointSphere", "start": law, "coupled": True}
        pairs = (("a", "left.point"), ("b", "left.surface"), ("c", "right.point"), ("b", "right.surface"))
        return slaves, [(f"{body}_{i}.p", end.replace(".", f"_{i}.")) for body, end in pairs]

    def velocities(self, result: Result, i: int) -> Vector:
        return np.array([result[f"{name}_{i}.p.v[1]"][-1] for name in "abc"])

    @functools.cache  # noqa: B019
    def _after(self) -> Vector:
        def rates(t: float, y: Vector) -> Vector:
            x, v = y[:3], y[3:]
            f, g = K * max(x[0] - x[1], 0.0), K * max(x[1] - x[2], 0.0)
            return np.array([*v, -f, f - g, g])

        return integrated(rates, np.array([0, 0, 0, 1.0, 0, 0]), 8.0 * self.contact, self.contact / 300.0)[3:]

    def exact(self, shift: float, end: float) -> Vector:
        return self._after()


@dataclass(frozen=True)
class Chain(System):
    """Six sliders of 1 kg on a line with springs between them; the first one is hit at the start.  Closed form."""

    def parts(self, i: int, shift: float) -> tuple[dict[str, object], list[tuple[str, str]]]:
        slaves: dict[str, object] = {}
        connections = []
        for k in range(6):
            slaves[f"m{k}_{i}"] = {"recipe": "SliderMass", "start": {"v0": float(k == 0)}}
        for k in range(5):
            spring = {"recipe": "TranslationalSpringByPositions", "start": {"k": K}, "coupled": True}
            slaves[f"s{k}_{i}"] = spring
            connections += [(f"m{k}_{i}.p", f"s{k}_{i}.r"), (f"m{k + 1}_{i}.p", f"s{k}_{i}.c")]
        return slaves, connections

    def velocities(self, result: Result, i: int) -> Vector:
        return np.array([result[f"m{k}_{i}.p.v"][-1] for k in range(6)])

    def exact(self, shift: float, end: float) -> Vector:
        L = 2.0 * np.eye(6) - np.eye(6, k=1) - np.eye(6, k=-1)
        L[0, 0] = L[5, 5] = 1.0
        squares, modes = np.linalg.eigh(K * L)
        w = np.sqrt(np.maximum(squares, 0.0))
        return np.asarray(modes @ (np.cos(w * end) * (modes.T @ np.eye(6)[0])))


@dataclass(frozen=True)
class Rod(System):
    """A free bar, 1 kg and 0.4 m, falls tilted; both ends meet a floor, each an FMU of its own."""

    tilt: float = 0.002  # rad
    length: float = 0.2
    inertia: float = 0.013333333333333334

    def parts(self, i: int, shift: float) -> tuple[dict[str, object], list[tuple[str, str]]]:
        lowest = -self.length * math.sin(self.tilt)
        q = [math.cos(self.tilt / 2), 0, math.sin(self.tilt / 2), 0]
        start = {"r0": [0, 0, shift - lowest], "q0": q, "v0": [0, 0, -1], "g": [0, 0, 0]}
        slaves: dict[str, object] = {f"rod_{i}": {"recipe": "RigidBar", "start": start}}
        connections = []
        for k in (1, 2):
            law = {"C_F": K, "C_r": 1, "K_fr": 0}
            slaves[f"floor{k}_{i}"] = {"recipe": "PointSurface", "start": law, "coupled": True}
            connections.append((f"rod_{i}.point[{k}]", f"floor{k}_{i}.point"))
        return slaves, connections

    def velocities(self, result: Result, i: int) -> Vector:
        return np.array([result[f"rod_{i}.frame.v[3]"][-1], result[f"rod_{i}.frame.w[2]"][-1]])

    @functools.cache  # noqa: B019
    def _after(self) -> Vector:
        half, J = self.length, self.inertia

        def rates(t: float, y: Vector) -> Vector:
            z, angle, v, w = y
            f1 = K * max(-(z - half * math.sin(angle)), 0.0)
            f2 = K * max(-(z + half * math.sin(angle)), 0.0)
            return np.array([v, w, f1 + f2, half * math.cos(angle) * (f2 - f1) / J])

        start = np.array([self.length * math.sin(self.tilt), self.tilt, -1.0, 0.0])
        return integrated(rates, start, 6.0 * self.contact, self.contact / 300.0)[2:]

    def exact(self, shift: float, end: float) -> Vector:
        return self._after()


@dataclass(frozen=True)
class PendulumOnFloor(System):
    """A pendulum falls on a floor, each an FMU: a rod of 1 m and 1 kg, the floor 0.8 m below its hinge."""

    def parts(self, i: int, shift: float) -> tuple[dict[str, object], list[tuple[str, str]]]:
        angle = self._angle - self._rate * shift
        pendulum = {"recipe": "Pendulum", "start": {"phi0": angle, "w0": -1.0}}
        law = {"C_F": K, "C_r": 1, "K_fr": 0, "surface.r": [0, 0, -0.8]}
        floor = {"recipe": "PointSurface", "start": law, "coupled": True}
        return {f"rod_{i}": pendulum, f"floor_{i}": floor}, [(f"rod_{i}.tip", f"floor_{i}.point")]

    _angle, _rate = 0.645, 1.0

    def velocities(self, result: Result, i: int) -> Vector:
        return np.array([result[f"rod_{i}.hinge.w"][-1]])

    def exact(self, shift: float, end: float) -> Vector:
        return _pendulum(self._angle - self._rate * shift, end, self.contact / 300.0)


@functools.cache
def _pendulum(angle: float, end: float, longest: float) -> Vector:
    def rates(t: float, y: Vector) -> Vector:
        h = math.cos(y[0]) - 0.8
        return np.array([y[1], 3.0 * math.sin(y[0]) * (K * max(h, 0.0) - 9.81 / 2.0)])

    return integrated(rates, np.array([angle, -1.0]), end, longest)[1:]


HALF_PERIOD = math.pi / math.sqrt(K)
SYSTEMS: dict[str, System] = {
    "elastic": Impact(HALF_PERIOD, 3, (1.0, 1.0)),
    "damped": Impact(HALF_PERIOD, 4, (1.0, 1.0), C_r=0.5),
    "oblique": Impact(HALF_PERIOD, 3, (1.0, 1.0), oblique=True),
    "oblique, damped": Impact(HALF_PERIOD, 4, (1.0, 1.0), C_r=0.5, oblique=True),
    "cradle": Cradle(math.pi / math.sqrt(2.0 * K), 5, (1.0, 1.0, 1.0)),
    "rod": Rod(math.pi / math.sqrt(4.0 * K), 5, (1.0, 0.013333333333333334)),
    "chain": Chain(HALF_PERIOD, 4, (1.0,) * 6, PHASES[:1]),
    "pendulum": PendulumOnFloor(math.pi / math.sqrt(3.0 * 0.36 * K), 5, (1.0,)),
}


def measured(name: str, N: float, algorithm: str, mode: str = "auto", tolerance: float | None = None) -> Result:
    return run(SYSTEMS[name].scenario(N, algorithm, mode, tolerance))
