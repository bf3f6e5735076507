"""Bodies that hold a contact force over a communication step, fifteen impact phases at once, and their exact motion.

Components x, y, z with z normal to the surface z = 0.  A body has coordinates q and speeds v of the shape (phases, n),
contact points `points(q, v)` and accelerations `acceleration(q, v, forces)`, one force (phases, 3) for each point.
`mass` are the weights of v^2 in twice the kinetic energy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Points = list[tuple[Array, Array]]
PHASES = (np.arange(15) + 0.37) / 15


@dataclass
class Body:
    """Planar rigid body: x, z of the centre of mass, angle (x towards z).  Without inertia a particle; `upright` keeps
    the offset of the contact point where it is, as the lowest point of a sphere does."""

    velocity: tuple[float, ...] = (0.0, -1.0, 0.0)
    m: float = 1.0
    J: float = math.inf
    offsets: Sequence[tuple[float, float]] = ((0.0, 0.0),)
    start: tuple[float, float] = (0.0, 0.0)
    gravity: tuple[float, float] = (0.0, 0.0)
    upright: bool = False
    rule: str = "exact"  # of its integrator: exact (RK4), euler (semi-implicit)
    substeps: int = 2
    phases: int = len(PHASES)
    q: Array = field(init=False)
    v: Array = field(init=False)

    def __post_init__(self) -> None:
        self.v = np.tile(np.array(self.velocity), (self.phases, 1))
        self.q = np.zeros_like(self.v)
        self.q[:, :2] = self.start

    @property
    def mass(self) -> Array:
        return np.array([self.m, self.m, self.J if math.isfinite(self.J) else 0.0])

    def lift(self, height: Array | float) -> None:
        self.q[:, 1] += height

    def _arm(self, q: Array, offset: tuple[float, float]) -> Array:
        angle = q[:, 2] * (not self.upright)
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([c * offset[0] - s * offset[1], s * offset[0] + c * offset[1]], axis=1)

    def points(self, q: Array, v: Array) -> Points:
        found = []
        for offset in self.offsets:
            arm = self._arm(q, offset)
            r, w = np.zeros((len(q), 3)), np.zeros((len(q), 3))
            r[:, 0::2] = q[:, :2] + arm
            w[:, 0::2] = v[:, :2] + v[:, 2:] * np.stack([-arm[:, 1], arm[:, 0]], axis=1)
            found.append((r, w))
        return found

    def acceleration(self, q: Array, v: Array, forces: Sequence[Array]) -> Array:
        a = np.zeros_like(v)
        a[:, :2] = self.gravity
        for offset, f in zip(self.offsets, forces, strict=True):
            arm = self._arm(q, offset)
            a[:, :2] += f[:, 0::2] / self.m
            a[:, 2] += (arm[:, 0] * f[:, 2] - arm[:, 1] * f[:, 0]) / self.J
        return a

    def advance(self, forces: Sequence[Array], H: float) -> None:
        h = H / self.substeps
        for _ in range(self.substeps):
            if self.rule == "euler":
                self.v = self.v + h * self.acceleration(self.q, self.v, forces)
                self.q = self.q + h * self.v
                continue
            q, v = self.q, self.v
            k1 = self.acceleration(q, v, forces)
            k2 = self.acceleration(q + h / 2 * v, v + h / 2 * k1, forces)
            k3 = self.acceleration(q + h / 2 * (v + h / 2 * k1), v + h / 2 * k2, forces)
            k4 = self.acceleration(q + h * (v + h / 2 * k2), v + h * k3, forces)
            self.q = q + h * v + h * h / 6 * (k1 + k2 + k3)
            self.v = v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@dataclass
class Pendulum(Body):
    """A bob of 1 kg on a rod of 1 m that hangs along -x and swings against the surface, g = 9.81 m/s^2 along x."""

    velocity: tuple[float, ...] = (-1.0,)
    away: Array | float = 0.0

    def __post_init__(self) -> None:
        self.v = np.tile(np.array(self.velocity), (self.phases, 1))
        self.q = np.zeros_like(self.v)

    @property
    def mass(self) -> Array:
        return np.array([1.0])

    def lift(self, height: Array | float) -> None:
        self.away = height

    def points(self, q: Array, v: Array) -> Points:
        c, s, o = np.cos(q[:, 0]), np.sin(q[:, 0]), np.zeros(len(q))
        return [(np.stack([-c, o, s + self.away], axis=1), v * np.stack([s, o, c], axis=1))]

    def acceleration(self, q: Array, v: Array, forces: Sequence[Array]) -> Array:
        c, s = np.cos(q[:, 0]), np.sin(q[:, 0])
        torque = -9.81 * s
        for f in forces:
            torque = torque + f[:, 0] * s + f[:, 2] * c
        return torque[:, None]


@dataclass
class Ball(Body):
    """A solid ball of 1 kg and 0.1 m in space: three velocities, three spins; its lowest point touches."""

    radius: float = 0.1

    def __post_init__(self) -> None:
        self.v = np.tile(np.array(self.velocity), (self.phases, 1))
        self.q = np.zeros_like(self.v)

    @property
    def mass(self) -> Array:
        return np.array([1.0] * 3 + [0.4 * self.radius**2] * 3)

    def lift(self, height: Array | float) -> None:
        self.q[:, 2] += height

    def points(self, q: Array, v: Array) -> Points:
        return [(q[:, :3], v[:, :3] + np.cross(v[:, 3:], [0.0, 0.0, -self.radius]))]

    def acceleration(self, q: Array, v: Array, forces: Sequence[Array]) -> Array:
        moment = np.cross([0.0, 0.0, -self.radius], forces[0])
        return np.concatenate([forces[0], moment / (0.4 * self.radius**2)], axis=1)


@dataclass
class Flexible(Body):
    """0.3 kg at the point and 0.7 kg behind a spring, whose frequency is three times that of the contact."""

    velocity: tuple[float, ...] = (-1.0, -1.0)
    stiffness: float = 9e6 * 0.21
    substeps: int = 40

    def __post_init__(self) -> None:
        self.v = np.tile(np.array(self.velocity), (self.phases, 1))
        self.q = np.zeros_like(self.v)

    @property
    def mass(self) -> Array:
        return np.array([0.3, 0.7])

    def lift(self, height: Array | float) -> None:
        self.q += np.reshape(height, (-1, 1))

    def points(self, q: Array, v: Array) -> Points:
        o = np.zeros(len(q))
        return [(np.stack([o, o, q[:, 0]], axis=1), np.stack([o, o, v[:, 0]], axis=1))]

    def acceleration(self, q: Array, v: Array, forces: Sequence[Array]) -> Array:
        spring = self.stiffness * (q[:, 1] - q[:, 0])
        return np.stack([(spring + forces[0][:, 2]) / 0.3, -spring / 0.7], axis=1)


@dataclass
class Pair:
    """The point of one body against the surface that another carries."""

    first: Body
    second: Body

    @property
    def mass(self) -> Array:
        return np.concatenate([self.first.mass, self.second.mass])

    @property
    def v(self) -> Array:
        return np.concatenate([self.first.v, self.second.v], axis=1)

    @property
    def q(self) -> Array:
        return np.concatenate([self.first.q, self.second.q], axis=1)

    def lift(self, height: Array | float) -> None:
        self.first.lift(height)

    def points(self, q: Array, v: Array) -> Points:
        (r, w), (s, u) = self.first.points(q[:, :3], v[:, :3])[0], self.second.points(q[:, 3:], v[:, 3:])[0]
        return [(r - s, w - u)]

    def acceleration(self, q: Array, v: Array, forces: Sequence[Array]) -> Array:
        a = self.first.acceleration(q[:, :3], v[:, :3], forces)
        b = self.second.acceleration(q[:, 3:], v[:, 3:], [-f for f in forces])
        return np.concatenate([a, b], axis=1)

    def advance(self, forces: Sequence[Array], H: float) -> None:
        self.first.advance(forces, H)
        self.second.advance([-f for f in forces], H)


class Rigid:
    """A box of mass m, kg, and half sides, m, in space under gravity; r, q, v, w as of a rigid body's port."""

    def __init__(
        self, m: float, half: tuple[float, float, float], r: tuple[float, ...], q: tuple[float, ...], g: float = 9.81
    ) -> None:
        a, b, c = half
        self.m, self.g = m, g
        self.J = np.array([b * b + c * c, a * a + c * c, a * a + b * b]) * m / 3
        self.state = np.array([*r, *np.array(q) / np.linalg.norm(q), *6 * [0.0]])

    @property
    def r(self) -> Array:
        return self.state[:3]

    @property
    def v(self) -> Array:
        return self.state[7:10]

    @property
    def w(self) -> Array:
        return self.state[10:]

    def rotation(self, q: Array | None = None) -> Array:
        a, b, c, d = self.state[3:7] if q is None else q
        return np.array(
            [
                [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
                [2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)],
                [2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d],
            ]
        )

    def motion(self, points: Array) -> tuple[Array, Array]:
        """Positions and velocities of body-fixed points."""
        arms = points @ self.rotation().T
        return self.r + arms, self.v + np.cross(self.w, arms)

    def kinetic(self) -> float:
        own = self.rotation().T @ self.w
        return float(0.5 * self.m * self.v @ self.v + 0.5 * own @ (self.J * own))

    def energy(self) -> float:
        return self.kinetic() + self.m * self.g * float(self.r[2])

    def _rate(self, x: Array, loads: Sequence[tuple[Array, Array]]) -> Array:
        R, w, q = self.rotation(x[3:7]), x[10:], x[3:7]
        force, moment = np.array([0.0, 0.0, -self.m * self.g]), np.zeros(3)
        for forces, points in loads:
            force = force + forces.sum(axis=0)
            moment = moment + np.cross(points @ R.T, forces).sum(axis=0)
        own = R.T @ w
        spun = 0.5 * np.array([-w @ q[1:], *(q[0] * w + np.cross(w, q[1:]))])
        turned = R @ ((R.T @ moment - np.cross(own, self.J * own)) / self.J)
        return np.concatenate([x[7:10], spun, force / self.m, turned])

    def advance(self, loads: Sequence[tuple[Array, Array]], H: float) -> None:
        """Hold the forces on body-fixed points over the step."""
        x = self.state
        k1 = self._rate(x, loads)
        k2 = self._rate(x + H / 2 * k1, loads)
        k3 = self._rate(x + H / 2 * k2, loads)
        k4 = self._rate(x + H * k3, loads)
        self.state = x + H / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        self.state[3:7] /= np.linalg.norm(self.state[3:7])
