"""Random plausible systems: port FMUs on bodies of all kinds, N steps per undamped contact."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tests.elements.closed_loop import Law
from tests.elements.port_bodies import System, Wire, contact, linear_plant, rows, spring, start_states

Array = NDArray[np.float64]
T = TypeVar("T")


class Draw:
    """Numbers of one system."""

    def __init__(self, seed: int, index: int) -> None:
        self.rng = np.random.default_rng((seed, index))

    def even(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def log(self, low: float, high: float) -> float:
        return float(math.exp(self.rng.uniform(math.log(low), math.log(high))))

    def pick(self, among: Sequence[T]) -> T:
        return among[int(self.rng.integers(len(among)))]

    def law(self, mu: float = 0.0) -> Law:
        C_r = self.pick((1.0, self.even(0.05, 1.0)))
        return Law(self.log(1e4, 1e7), C_r, k_D=self.pick((100.0, self.log(30, 1000))), mu=mu)


def contact_steps(law: Law, N: float) -> float:
    """Steps from touch-down to release of a free body: slow restitution lasts longer."""
    compression, restitution = law.limits
    return N * (0.5 / math.sqrt(1 + compression) + 0.5 / math.sqrt(max(1 + restitution, 1e-4)))


def interval(mass: float, law: Law, N: float) -> float:
    """Communication step, s: the undamped contact of this effective mass takes N steps."""
    return math.pi * math.sqrt(mass / law.stiffness) / N


def free(draw: Draw) -> System:
    return _one_mass(draw, "free")


def gravity(draw: Draw) -> System:
    return _one_mass(draw, "gravity", g=9.81)


def sine(draw: Draw) -> System:
    return _one_mass(draw, "sine", wave=True)


def _one_mass(draw: Draw, family: str, g: float = 0.0, wave: bool = False) -> System:
    m, law, N, v0 = draw.log(1e-2, 1e2), draw.law(), draw.log(3, 40), draw.log(0.1, 3)
    H, lead = interval(m, law, N), draw.log(2, 30)
    steps = math.ceil(lead + 1.15 * contact_steps(law, N) + 8)
    v0 = max(v0, 5 * g * steps * H)  # else it is pressed
    facts = {"m": m, "K": law.stiffness, "C_r": law.C_r, "N": N, "v0": v0}
    wire = Wire(contact(law), rows(1, z=[1]))
    force, phase = None, None
    if wave:
        share, samples, at = draw.even(0.05, 0.4), draw.log(2.5, 20), draw.even(0, 2 * math.pi)
        facts |= {"share": share, "samples": samples}
        force = (0, share * v0 * math.sqrt(law.stiffness * m), 2 * math.pi / (samples * H))
        phase = (math.sin(at), math.cos(at))
    plant = linear_plant([m], H, [wire], pull=[-m * g], wave=force)
    starts = start_states([lead * H * v0], [-v0], H, phase)
    weights = np.array([0, m, *([0, 0] if wave else [])])
    weight = np.array([m * g, 0]) if g else None
    return System(family, plant, (wire.port,), H, steps, starts, weights, N=N, facts=facts, linear=weight)


def pressed(draw: Draw) -> System:
    """A constant load of the size of the contact's force; it bounces and settles."""
    m, law, N, v0 = draw.log(1e-2, 1e2), draw.law(), draw.log(3, 40), draw.log(0.1, 3)
    H, load = interval(m, law, N), draw.log(0.05, 2) * v0 * math.sqrt(law.stiffness * m)
    steps = math.ceil(4 + draw.even(1, 5) * contact_steps(law, N))
    wire = Wire(contact(law), rows(1, z=[1]))
    facts = {"m": m, "K": law.stiffness, "C_r": law.C_r, "N": N, "load": load / (v0 * math.sqrt(law.stiffness * m))}
    return System(
        "pressed", linear_plant([m], H, [wire], pull=[-load]), (wire.port,), H, steps,
        start_states([draw.even(0, 4) * H * v0], [-v0], H), np.array([0, m]), "amplitude", N, facts,
        linear=np.array([load, 0]), constant=load**2 / (2 * law.stiffness),
    )  # fmt: skip


def axis(draw: Draw) -> System:
    """An axis under position and speed control that is driven against a wall and stays there."""
    m, law, N = draw.log(1e-2, 1e2), draw.law(), draw.log(3, 40)
    H, ratio, zeta, v0 = interval(m, law, N), draw.log(0.1, 10), draw.even(0.5, 1.5), draw.log(0.1, 1)
    Kp, wall = ratio * law.stiffness, math.sqrt(law.stiffness / m)
    aim = 3 * v0 / wall
    slow = min(math.sqrt(Kp / m), wall)
    steps = min(int(max(60 / slow / min(zeta, 1 / zeta), 30 / wall) / H) + 40, 1200)
    wire = Wire(contact(law), rows(1, z=[1]))
    plant = linear_plant([m], H, [wire], K=[[Kp]], D=[[2 * zeta * math.sqrt(Kp * m)]], pull=[-Kp * aim])
    facts = {"m": m, "K": law.stiffness, "C_r": law.C_r, "N": N, "Kp/K": ratio, "zeta": zeta}
    return System(
        "PD axis", plant, (wire.port,), H, steps, start_states([1e-4 * v0], [-v0], H), np.array([0, m]), "force", N,
        facts, quadratic=np.array([[Kp, 0], [0, 0]]), linear=np.array([Kp * aim, 0]), constant=Kp * aim**2 / 2,
        expected=Kp * aim / (Kp + law.stiffness) * law.stiffness,
    )  # fmt: skip


def two_mass(draw: Draw) -> System:
    return _two_mass(draw, "two-mass", draw.log(0.1, 10), draw.log(3, 80), draw.even(0, 0.05))


def light_tip(draw: Draw) -> System:
    return _two_mass(draw, "light tip", 10.0, draw.even(3, 5), draw.even(0, 0.05))


def joined(tip: float, behind: float, samples: float, zeta: float, H: float) -> tuple[Array, Array]:
    """Stiffness and damping matrix of two masses: samples per period of their mode."""
    mu, omega = tip * behind / (tip + behind), 2 * math.pi / (samples * H)
    between = np.array([[1, -1], [-1, 1]])
    return mu * omega**2 * between, 2 * zeta * mu * omega * between


def _two_mass(draw: Draw, family: str, ratio: float, samples: float, zeta: float) -> System:
    """A tip and `ratio` times its mass behind it."""
    tip, law, N, v0 = draw.log(1e-2, 1e2), draw.law(), draw.log(3, 40), draw.log(0.1, 3)
    H, lead = interval(tip, law, N), draw.log(2, 30)
    K, D = joined(tip, ratio * tip, samples, zeta, H)
    wire = Wire(contact(law), rows(2, z=[1, 0]))
    steps = math.ceil(lead + 3 * contact_steps(law, N) * math.sqrt(1 + ratio) + 14)
    gap = lead * H * v0
    facts = {"m": tip, "K": law.stiffness, "C_r": law.C_r, "N": N, "ratio": ratio, "samples": samples, "zeta": zeta}
    quadratic = np.zeros((4, 4))
    quadratic[:2, :2] = K
    return System(
        family, linear_plant([tip, ratio * tip], H, [wire], K, D), (wire.port,), H, min(steps, 1500),
        start_states([gap, gap], [-v0, -v0], H), np.array([0, 0, tip, ratio * tip]), N=N, facts=facts,
        quadratic=quadratic,
    )  # fmt: skip


def spring_by_rates(draw: Draw) -> System:
    return spring_two_mass(draw, draw.pick(("Spring", "RotationalSpring")))


def spring_by_positions(draw: Draw) -> System:
    return spring_two_mass(draw, "SpringByPositions")


def spring_two_mass(draw: Draw, kind: str) -> System:
    """A spring of ours from the ground to the first of two joined masses; energy after five periods."""
    ratio, samples, zeta, N = draw.log(0.1, 10), draw.log(5, 100), draw.even(0, 0.03), draw.log(8, 80)
    m, k = draw.log(1e-2, 1e2), draw.log(1e2, 1e5)
    H, x0 = math.pi * math.sqrt(m / k) / N, 0.01
    K, D = joined(m, ratio * m, samples, zeta, H)
    wire = Wire(spring(k, kind, x0), np.array([[1.0, 0.0]]), None, (0.0, 0.0, 0.0))
    if kind == "SpringByPositions":
        wire = Wire(spring(k, kind, 0.0), np.array([[1.0, 0.0]]))
    quadratic = np.zeros((4, 4))
    quadratic[:2, :2] = K
    facts = {"m": m, "k": k, "N": N, "ratio": ratio, "samples": samples, "zeta": zeta}
    return System(
        "spring by positions" if kind == "SpringByPositions" else "spring by rates",
        linear_plant([m, ratio * m], H, [wire], K, D), (wire.port,), H, math.ceil(10 * N * math.sqrt(1 + ratio)),
        np.array([[x0, x0, 0, 0]]), np.array([0, 0, m, ratio * m]), "energy", N, facts, quadratic,
    )  # fmt: skip


FAMILIES: dict[str, Callable[[Draw], System]] = {
    "free": free,
    "gravity": gravity,
    "pressed": pressed,
    "sine": sine,
    "PD axis": axis,
    "two-mass": two_mass,
    "light tip": light_tip,
    "spring by rates": spring_by_rates,
    "spring by positions": spring_by_positions,
}


def draw_systems(seed: int, count: int, families: Sequence[str] = tuple(FAMILIES)) -> Iterator[tuple[int, System]]:
    """`count` systems, the families in turn, with the index of each: family and index give the system again."""
    for index in range(count):
        yield index, FAMILIES[families[index % len(families)]](Draw(seed, index))
