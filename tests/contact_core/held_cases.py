"""Contacts that a coupled port is measured with: bodies, laws, and what exactly becomes of them.

N is the number of communication steps in an undamped contact.  CASES and SWEEP are impacts, told by their speeds behind
the contact: those of the motion under the law itself, by scipy's DOP853.  LASTING are contacts that go on,
with closed forms."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from tests.contact_core.held_bodies import Ball, Body, Flexible, Pair, Pendulum, Rigid

Array = NDArray[np.float64]
STIFFNESS = 1e6  # N/m
CONTACT = math.pi / math.sqrt(STIFFNESS)  # s, of 1 kg


@dataclass(frozen=True)
class Law:
    """Elastic force C h^exponent; contactPS's damping and friction."""

    C: float = STIFFNESS
    exponent: float = 1.0
    C_r: float = 1.0
    k_D: float = 1e4
    K_fr: float = 0.0
    k_T: float = 100.0
    k_E: float = 0.5
    by_functions: bool = False  # damping and friction as a user's laws come

    @property
    def limits(self) -> tuple[float, float]:
        """d_comp and d_rest."""
        delta = 1 - self.k_E + self.C_r**2 * self.k_E
        return (1 - self.C_r**2) * self.k_E / delta, -(1 - self.C_r**2) * (1 - self.k_E) / delta

    def numbers(self) -> ctypes.Array[ctypes.c_double]:
        return (ctypes.c_double * 8)(
            self.C, self.exponent, *self.limits, self.k_D, self.K_fr, self.k_T, self.by_functions
        )

    def force(self, r: Array, v: Array) -> Array:
        """The law itself, N, for many r, v of the shape (n, 3)."""
        d_comp, d_rest = self.limits
        normal = self.C * np.maximum(-r[:, 2], 0) ** self.exponent * (1 + np.clip(-self.k_D * v[:, 2], d_rest, d_comp))
        slip = np.linalg.norm(v[:, :2], axis=1)
        f = np.zeros_like(r)
        f[:, :2] = -(self.K_fr * normal * np.minimum(self.k_T, 1 / np.maximum(slip, 1e-300)))[:, None] * v[:, :2]
        f[:, 2] = normal
        return f


def hertz(C_r: float = 1.0) -> Law:
    """With the contact time of 1 kg on the linear law at 1 m/s: 2.943275 (m^2 / (C^2 v))^(1/5) (5/4)^(2/5)."""
    return Law(C=2.5 / (2 * (CONTACT / 2.943275184) ** 2.5), exponent=1.5, C_r=C_r)


@dataclass(frozen=True)
class Case:
    body: Callable[[], Body | Pair]
    laws: tuple[Law, ...] = (Law(),)
    inverse_mass: float = 1.0  # effective, along the normal, 1/kg
    contacts: float = 3.0  # how many contact times are watched

    @property
    def time(self) -> float:
        return CONTACT / math.sqrt(self.inverse_mass)


def rod(vx: float, angle: float = 30.0, **options: int) -> Body:
    """A rod of 1 kg and 1 m at `angle`, degrees, whose lower end touches."""
    end = (-0.5 * math.cos(math.radians(angle)), -0.5 * math.sin(math.radians(angle)))
    return Body((vx, -1.0, 0.0), J=1 / 12, offsets=(end,), start=(-end[0], -end[1]), **options)


def rod_admittance(angle: float) -> tuple[float, float]:
    """W_nn and W_nt at its end, 1/kg: (1 + 3 cos^2)/m and 3 sin cos/m."""
    sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    return 1 + 3 * cosine**2, 3 * sine * cosine


def sphere(vx: float) -> Body:
    return Body((vx, -1.0, 0.0), J=0.004, offsets=((0.0, -0.1),), start=(0.0, 0.1), upright=True)


def two_legs(spin: float) -> Body:
    return Body((0.0, -1.0, spin), J=0.05, offsets=((-0.3, -0.1), (0.2, -0.1)), start=(0.0, 0.1))


FRICTION = Law(K_fr=0.3)
CASES = {
    "linear, e = 1": Case(Body),
    "linear, C_r 0.5": Case(Body, (Law(C_r=0.5),)),
    "linear, C_r 0.65": Case(Body, (Law(C_r=0.65),)),
    "linear, C_r 0.1": Case(Body, (Law(C_r=0.1),), contacts=6),  # it opens as slowly as C_r is small
    "Hertz, e = 1": Case(Body, (hertz(),)),
    "Hertz, C_r 0.5": Case(Body, (hertz(0.5),)),
    "oblique particle": Case(lambda: Body((1.0, -1.0, 0.0)), (FRICTION,)),
    "sphere that sticks": Case(lambda: sphere(0.5), (FRICTION,)),
    "sphere that slides, C_r 0.5": Case(lambda: sphere(2.0), (replace(FRICTION, C_r=0.5),)),
    "ball with cross spin": Case(lambda: Ball((0.6, 0.0, -1.0, 4.0, 2.0, 0.0)), (FRICTION,)),
    "rod, frictionless": Case(lambda: rod(0.0), inverse_mass=3.25),
    "rod, slip reverses": Case(lambda: rod(0.5), (FRICTION,), 3.25),
    "rod, C_r 0.5": Case(lambda: rod(-0.5), (replace(FRICTION, C_r=0.5),), 3.25),
    "two contacts": Case(lambda: two_legs(0.0), (Law(), Law()), 2.8, 6),
    "two contacts, tilted": Case(lambda: two_legs(-0.01), (Law(), Law()), 2.8, 6),
    "pendulum": Case(Pendulum),
    "pendulum with friction": Case(Pendulum, (FRICTION,)),
    "semi-implicit Euler": Case(lambda: Body(rule="euler", substeps=1)),
    "semi-implicit Euler, 10 substeps": Case(lambda: Body(rule="euler", substeps=10)),
    "rod, one substep": Case(lambda: rod(0.5, substeps=1), (FRICTION,), 3.25),
    "user laws, C_r 0.5": Case(lambda: sphere(0.5), (Law(C_r=0.5, k_D=100.0, K_fr=0.3, by_functions=True),)),
    "two free bodies, C_r 0.5": Case(
        lambda: Pair(Body(), Body((0.0, 0.0, 0.0), m=2.0)), (Law(C_r=0.5),), inverse_mass=1.5
    ),
}
REVERSING = ("rod, slip reverses", "rod, one substep")

SWEEP = {  # restitution with a damping ramp that is not saturated at once
    f"{kind}, C_r {C_r:g}, k_D 100": Case(Body, (replace(law, C_r=C_r, k_D=100.0),), contacts=6 if C_r < 0.3 else 3)
    for kind, law in (("linear", Law()), ("Hertz", hertz()))
    for C_r in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
}
STEEP = {  # rods pushed along against friction: W_nn < K_fr W_nt, more of N drives the end into the surface (Painleve)
    f"steep rod, K_fr {K_fr:g}": Case(
        lambda: rod(-1.0, 60.0), (Law(C_r=0.5, k_D=100.0, K_fr=K_fr, k_T=k_T),), rod_admittance(60.0)[0], 8
    )
    for K_fr, k_T in ((2.5, 100.0), (1.6, 1000.0))
}
FLEXIBLE = Case(Flexible, inverse_mass=1 / 0.3, contacts=8)  # an internal mode: its energy alone is exact

G = 9.81
SLOPE = math.radians(10)
ROLLING = 0.1  # radius, m
DAMPED = Law(C_r=0.5, k_D=100.0)


@dataclass(frozen=True)
class Lasting:
    """A contact that goes on, 1 kg under gravity.

    `error` takes coordinates and speeds, (steps, phases, n), near the end.
    It takes `time`, s, and `steps` more; the body is lifted by (2 + phase) H times `drop`, m/s."""

    body: Callable[[], Body]
    law: Law
    error: Callable[[Array, Array], float]
    time: float
    steps: int = 400
    drop: float = 0.0

    def duration(self, H: float) -> int:
        return math.ceil(self.time / H) + self.steps


def _rolling_ball() -> Body:
    low = (0.0, -ROLLING)
    start = (0.0, ROLLING - G / STIFFNESS)
    return Body(
        (1.0, 0.0, 0.0), J=0.4 * ROLLING**2, offsets=(low,), upright=True, gravity=(0.0, -G), start=start, substeps=1
    )


def _from(true: float, found: Array) -> float:
    return float(abs(found / true - 1).max())


LASTING = {
    "rest": Lasting(  # its weight is carried at the depth m g / C
        lambda: Body((0.0, -0.05, 0.0), gravity=(0.0, -G), substeps=1), DAMPED,
        lambda q, v: max(_from(-G / STIFFNESS, q[..., 1]), float(abs(v[..., 1]).max()) / 0.05), 0.0, 700, 0.05,
    ),
    "incline": Lasting(  # creeps as the ramp of friction says: v = tan(slope) / (K_fr k_T)
        lambda: Body(
            (0.0, 0.0, 0.0), gravity=(G * math.sin(SLOPE), -G * math.cos(SLOPE)), substeps=1,
            start=(0.0, -G * math.cos(SLOPE) / STIFFNESS),
        ),
        replace(DAMPED, K_fr=0.3), lambda q, v: _from(math.tan(SLOPE) / (0.3 * 100.0), v[..., 0]), 0.0,
    ),
    "stop": Lasting(  # from 0.5 m/s: K_fr g s = (v^2 + 1/k_T^2)/2, the last part on the ramp
        lambda: Body((0.5, 0.0, 0.0), gravity=(0.0, -G), start=(0.0, -G / STIFFNESS), substeps=1),
        replace(DAMPED, K_fr=0.3), lambda q, v: _from((0.25 + 100.0**-2) / (2 * 0.3 * G), q[-1, ..., 0]), 0.25,
    ),
    "rolling": Lasting(  # a ball that slides at 1 m/s rolls at 5/7 of it
        _rolling_ball, replace(DAMPED, K_fr=0.2), lambda q, v: _from(5 / 7, v[-1, ..., 0]), 0.2,
    ),
}  # fmt: skip


@functools.cache
def exact(name: str) -> Array:
    """Speeds behind the contact, by scipy, to 1e-7."""
    case = (CASES | SWEEP | STEEP)[name]
    body = case.body()
    body.lift(1e-6)
    n = body.q.shape[1]

    def rates(t: float, state: Array) -> Array:
        q, v = state[None, :n], state[None, n:]
        forces = [law.force(r, w) for law, (r, w) in zip(case.laws, body.points(q, v), strict=True)]
        return np.concatenate([v[0], body.acceleration(q, v, forces)[0]])

    if isinstance(body, Pendulum):
        body.away = 1e-6
    start = np.concatenate([body.q[0], body.v[0]])
    T = case.contacts * case.time
    found = solve_ivp(rates, (0, T), start, method="DOP853", rtol=1e-11, atol=1e-14, max_step=case.time / 10)
    return found.y[n:, -1]


def corners(half: Sequence[float]) -> list[tuple[float, float, float]]:
    """The lower ones of a box."""
    return [(sx * half[0], sy * half[1], -half[2]) for sx in (-1, 1) for sy in (-1, 1)]


@dataclass(frozen=True)
class Pile:
    """A box falls on the floor, two others on it, on three points each: ten contacts, four bodies with the floor, three
    sets of contacts.

    `feet`, m, of each box, fixed to it; `top`, m: the upper side of the first box above its centre.  H, s, of
    omega H = 1 of the contact that answers most.  `rest`, J: energy of the boxes that stand still; `elastic`: what the
    contacts then store, as the springs of a stiff box do, under its load W with the moment M:
    W^2/(2 n C) + M^2/(2 C sum of x^2).  The weights have lost twice of it on the way down."""

    law: Law
    boxes: tuple[Rigid, ...]
    feet: tuple[Sequence[tuple[float, float, float]], ...]
    top: float
    H: float
    rest: float
    elastic: float

    @classmethod
    def of(cls, seed: int, masses: Sequence[float] = (4.0, 1.0, 0.5)) -> Pile:
        """Tilts and restitution by chance; `masses`, kg, of the box below, a cube and a low box on it."""
        rng = np.random.default_rng(seed)
        a, b, c = rng.uniform(-0.004, 0.004, 3)
        law = Law(C_r=rng.uniform(0.2, 0.9), k_D=100.0, K_fr=0.3)
        low = 0.4 * abs(a) + 0.6 * abs(b) + 5e-4
        box = Rigid(masses[0], (0.3, 0.2, 0.1), (0.0, 0.0, 0.1 + low), (1.0, a, b, 0.0))
        large = Rigid(masses[1], (0.1, 0.1, 0.1), (-0.15, 0.0, 0.3 + 3 * low), (1.0, b, c, 0.0))
        small = Rigid(masses[2], (0.08, 0.08, 0.05), (0.15, 0.0, 0.25 + 3 * low), (1.0, c, a, 0.0))
        admittance = max(
            1 / small.m + 0.08**2 / small.J[1] + 1 / box.m + 0.2**2 / box.J[1],
            1 / box.m + 0.2**2 / box.J[0] + 0.3**2 / box.J[1],
        )
        feet = (corners((0.3, 0.2, 0.1)), _tripod(0.1, 0.1), _tripod(0.08, 0.05))
        weights = G * np.array([box.m + large.m + small.m, large.m, small.m])
        moment = 0.15 * (weights[1] - weights[2])
        elastic = float((weights**2 / [4, 3, 3]).sum() + moment**2 / (4 * 0.3**2)) / (2 * STIFFNESS)
        rest = G * (box.m * 0.1 + large.m * 0.3 + small.m * 0.25) - elastic
        return cls(law, (box, large, small), feet, 0.1, 1 / math.sqrt(STIFFNESS * admittance), rest, elastic)


def _tripod(radius: float, below: float) -> list[tuple[float, float, float]]:
    return [
        (radius * math.cos(angle), radius * math.sin(angle), -below) for angle in (0, 2 * math.pi / 3, 4 * math.pi / 3)
    ]
