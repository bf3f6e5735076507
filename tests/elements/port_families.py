"""Random plausible systems: port FMUs on bodies of all kinds, N steps per undamped contact."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tests.elements.closed_loop import Law, Plant
from tests.elements.port_bodies import (
    PHASES,
    System,
    Wire,
    contact,
    damper,
    linear_plant,
    rail,
    rows,
    spring,
    start_states,
)

Array = NDArray[np.float64]
T = TypeVar("T")


class Draw:
    """Numbers of one system: the same for a seed, whatever else is drawn."""

    def __init__(self, *seed: int) -> None:
        self.rng = np.random.default_rng(seed)

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


def axis(draw: Draw, aim_swings: tuple[float, float] | None = None) -> System:
    """An axis under position and speed control that is driven against a wall and stays there; its aim behind the wall
    may swing by a share of itself, so many samples a period, from its middle on."""
    m, law, N = draw.log(1e-2, 1e2), draw.law(), draw.log(3, 40)
    H, ratio, zeta, v0 = interval(m, law, N), draw.log(0.1, 10), draw.even(0.5, 1.5), draw.log(0.1, 1)
    Kp, wall = ratio * law.stiffness, math.sqrt(law.stiffness / m)
    aim = 3 * v0 / wall
    slowest = math.sqrt(Kp / m) * min(zeta, 1 / (2 * zeta))  # of its decays, 1/s
    steps = min(40 + math.ceil(15 / slowest / H), 2000)
    wire = Wire(contact(law), rows(1, z=[1]))
    wave, phase, more = None, None, 0
    if aim_swings:
        share, samples = aim_swings
        wave, phase, more = (0, share * Kp * aim, 2 * math.pi / (samples * H)), (0.0, 1.0), 2
    plant = linear_plant([m], H, [wire], K=[[Kp]], D=[[2 * zeta * math.sqrt(Kp * m)]], pull=[-Kp * aim], wave=wave)
    facts = {"m": m, "K": law.stiffness, "C_r": law.C_r, "N": N, "Kp/K": ratio, "zeta": zeta}
    facts["fastest wH"] = max(math.sqrt(Kp / m), wall) * H
    return System(
        "PD axis", plant, (wire.port,), H, steps, start_states([1e-4 * v0], [-v0], H, phase),
        np.pad([0, m], (0, more)), "force", N, facts,
        quadratic=np.pad([[Kp, 0], [0, 0]], (0, more)), linear=np.pad([Kp * aim, 0], (0, more)),
        constant=Kp * aim**2 / 2, expected=Kp * aim / (Kp + law.stiffness) * law.stiffness,
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


def spring_chain(draw: Draw) -> System:
    """Two springs of ours on one line: ground, mass, mass; energy after five periods."""
    kind = draw.pick(("Spring", "RotationalSpring", "SpringByPositions"))
    m, k, N = draw.log(1e-2, 1e2), draw.log(1e2, 1e5), draw.log(8, 80)
    masses, ratio, x0 = (m, m * draw.log(0.3, 3)), draw.log(0.3, 3), 0.01
    H = math.pi * math.sqrt(m / (k * (1 + ratio))) / N
    away = 0.0 if kind == "SpringByPositions" else x0
    wires = [
        Wire(spring(k, kind, away), np.array([[1.0, 0.0]])),
        Wire(spring(ratio * k, kind, away), np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]])),
    ]
    facts = {"m": m, "k": k, "N": N, "k ratio": ratio, "m ratio": masses[1] / m}
    return System(
        "spring chain", linear_plant(masses, H, wires), tuple(wire.port for wire in wires), H, math.ceil(10 * N),
        np.array([[x0, 2 * x0, 0, 0]]), np.array([0, 0, *masses]), "energy", N, facts,
    )  # fmt: skip


def guide(draw: Draw) -> System:
    """A mass on a straight rail, another one joined to it across the rail; energy after five periods."""
    ratio, samples, N = draw.log(0.1, 10), draw.log(5, 100), draw.log(8, 80)
    m, k, x0 = draw.log(1e-2, 1e2), draw.log(1e4, 1e7), 1e-3
    H = math.pi * math.sqrt(m / k) / N
    K, D = np.zeros((4, 4)), np.zeros((4, 4))
    pair = np.ix_([1, 3], [1, 3])
    K[pair], D[pair] = joined(m, ratio * m, samples, draw.even(0, 0.03), H)
    unit = np.eye(4)
    wire = Wire(rail(k), rows(4, x=unit[0], y=unit[1], z=unit[2]))
    quadratic = np.zeros((8, 8))
    quadratic[:4, :4] = K
    masses, steps = [m, m, m, ratio * m], math.ceil(10 * N * math.sqrt(1 + ratio))
    along, across = draw.even(0, 5) / (steps * H), draw.even(0, 1) * x0
    facts = {"m": m, "k": k, "N": N, "ratio": ratio, "samples": samples}
    return System(
        "guide", linear_plant(masses, H, [wire], K, D), (wire.port,), H, steps,
        np.array([[0, x0, across, x0, along, 0, 0, 0]]), np.array([*[0] * 4, 0, *masses[1:]]), "energy", N, facts,
        quadratic,
    )  # fmt: skip


def damper_two_mass(draw: Draw) -> System:
    """A damper of ours brakes a mass with another one joined to it."""
    ratio, samples, m, v0 = draw.log(0.1, 10), draw.log(5, 100), draw.log(1e-2, 1e2), draw.log(0.1, 3)
    H, share = draw.log(1e-4, 1e-2), draw.log(0.02, 2)  # of a time constant in a step
    d, N = share * m / H, 2 * math.pi / share
    K, D = joined(m, ratio * m, samples, draw.even(0, 0.03), H)
    wire = Wire(damper(d), np.array([[1.0, 0.0]]))
    steps = math.ceil(draw.even(0.5, 2) * (1 + ratio) / share) + 5
    facts = {"m": m, "dH/m": share, "ratio": ratio, "samples": samples}
    return System(
        "damper", linear_plant([m, ratio * m], H, [wire], K, D), (wire.port,), H, steps,
        np.array([[0, 0, v0, v0]]), np.array([0, 0, m, ratio * m]), N=N, facts=facts,
    )  # fmt: skip


def two_bodies(draw: Draw) -> System:
    """A body falls on one that carries the surface; both are free."""
    m, ratio, N, v0, law = draw.log(1e-2, 1e2), draw.log(0.1, 10), draw.log(3, 40), draw.log(0.1, 3), draw.law()
    H, lead = interval(m * ratio / (1 + ratio), law, N), draw.log(2, 30)
    wire = Wire(contact(law, on_body=True), rows(2, z=[1, 0]), rows(2, z=[0, 1]))
    masses, facts = (m, ratio * m), {"m": m, "K": law.stiffness, "C_r": law.C_r, "N": N, "ratio": ratio}
    v = [-v0, draw.even(-0.5, 1) * v0]
    starts = start_states([lead * H * (v[1] - v[0]), 0], v, H, first=1)
    steps = math.ceil(lead + 1.15 * contact_steps(law, N) + 8)
    weights = np.array([0, masses[0], 0, masses[1]])
    return System(
        "two bodies",
        linear_plant(masses, H, [wire], first=1),
        (wire.port,),
        H,
        steps,
        starts,
        weights,
        N=N,
        facts=facts,
    )


def cradle(draw: Draw) -> System:
    """Three to five balls in a row, in touch or nearly; the first meets them.  A contact FMU between each two."""
    count, m, N, v0, law = draw.pick((3, 4, 5)), draw.log(1e-2, 1e2), draw.log(3, 40), draw.log(0.1, 3), draw.law()
    if law.C_r < 0.5:
        law = replace(law, C_r=1.0)
    H, lead = interval(m / 2, law, N), draw.log(2, 30)
    masses = [m * draw.pick((1.0, draw.log(0.5, 2))) for _ in range(count)]
    depth = v0 * math.sqrt(m / 2 / law.stiffness)
    gaps = [lead * H * v0, *(draw.pick((0.0, draw.even(0, 1) * depth)) for _ in range(count - 2)), 0.0]
    place, unit = np.cumsum(gaps[::-1])[::-1], np.eye(count)
    wires = [Wire(contact(law, True), rows(count, z=unit[k]), rows(count, z=unit[k + 1])) for k in range(count - 1)]
    steps = math.ceil(lead + 2 * count * contact_steps(law, N) + 8)
    facts = {"balls": count, "m": m, "K": law.stiffness, "C_r": law.C_r, "N": N}
    return System(
        "cradle", linear_plant(masses, H, wires), tuple(wire.port for wire in wires), H, steps,
        start_states(place, [-v0, *[0.0] * (count - 1)], H),
        np.array([*[0.0] * count, *masses]), N=N, facts=facts,
    )  # fmt: skip


def pile(draw: Draw) -> System:
    """Two or three bodies at rest on each other and on the floor; the uppermost falls on them."""
    count, m, N, law = draw.pick((2, 3)), draw.log(1e-2, 1e2), draw.log(3, 40), draw.law()
    H, g = interval(m / 2, law, N), 9.81
    masses = np.array([m * draw.log(0.5, 2) for _ in range(count)])  # from the top
    loads = np.cumsum(masses) * g  # on the contact below each
    sunk = -np.cumsum((loads / law.stiffness)[::-1])[::-1]
    v0 = draw.log(0.3, 3) * g * math.sqrt(m / law.stiffness)
    unit = np.eye(count)
    wires = [
        Wire(contact(law, k < count - 1), rows(count, z=unit[k]), rows(count, z=unit[k + 1]) if k < count - 1 else None)
        for k in range(count)
    ]
    steps = math.ceil(4 + draw.even(1, 4) * contact_steps(law, N))
    facts = {"bodies": count, "m": m, "K": law.stiffness, "C_r": law.C_r, "N": N}
    base = -float((masses * g) @ sunk) - float(np.sum(loads**2)) / (2 * law.stiffness)
    return System(
        "pile", linear_plant(masses, H, wires, pull=-masses * g), tuple(wire.port for wire in wires), H, steps,
        start_states(sunk, [-v0, *[0.0] * (count - 1)], H), np.array([*[0.0] * count, *masses]), "amplitude", N, facts,
        linear=np.array([*(masses * g), *[0.0] * count]), constant=base,
    )  # fmt: skip


def rod(draw: Draw) -> System:
    """One end of a rod strikes the floor, with friction."""
    m, length, v0, N = draw.log(1e-2, 1e2), draw.log(0.1, 2), draw.log(0.1, 3), draw.log(3, 40)
    law = draw.law(mu=draw.even(0, 0.5))
    length = max(length, 10 * _depth(m, law, v0))
    angle = draw.even(-1.2, 1.2)
    across, up = -length / 2 * math.cos(angle), -length / 2 * abs(math.sin(angle))
    inertia = m * length**2 / 12
    H, lead = interval(1 / (1 / m + across**2 / inertia), law, N), draw.log(2, 30)
    motion = [draw.even(-1, 1) * v0, -v0, draw.even(-1, 1) * v0 / length]
    falling = v0 - motion[2] * across  # of the end
    start = np.array([0.0, lead * H * falling - up, abs(angle)])
    plant = planar_plant("rod", m, inertia, [(-length / 2, 0.0)])
    if angle < 0:  # the other end is the lower one
        plant = replace(plant, arms=[(length / 2, 0.0)])
        start[2] = angle
        falling = v0 - motion[2] * -across
        start[1] = lead * H * falling - up
    steps = math.ceil(lead + 1.3 * contact_steps(law, N) + 8)
    facts = {"m": m, "K": law.stiffness, "C_r": law.C_r, "N": N, "mu": law.mu, "angle": angle}
    starts = np.array([[*(start + phase * H * np.array(motion)), *motion] for phase in PHASES])
    return System("rod", plant, (contact(law),), H, steps, starts, np.array([0, 0, 0, m, m, inertia]), N=N, facts=facts)


def rod_on_two(draw: Draw) -> System:
    """Both ends of a rod strike the floor, nearly at once; a contact FMU each."""
    m, length, v0, N, law = draw.log(1e-2, 1e2), draw.log(0.1, 2), draw.log(0.1, 3), draw.log(3, 40), draw.law()
    length = max(length, 10 * _depth(m, law, v0))
    inertia = m * length**2 * draw.even(1 / 12, 1 / 4)
    H = interval(1 / (1 / m + length**2 / 4 / inertia), law, N)
    lead, later = draw.log(2, 30), draw.pick((0.0, draw.even(0, 2) * N))  # steps
    tilt = math.asin(min(later * H * v0 / length, 0.5))
    start = np.array([0.0, lead * H * v0 + length / 2 * math.sin(tilt), tilt])
    plant = planar_plant("rod", m, inertia, [(-length / 2, 0.0), (length / 2, 0.0)])
    motion = np.array([0.0, -v0, 0.0])
    starts = np.array([[*(start + phase * H * motion), *motion] for phase in PHASES])
    steps = math.ceil(lead + later + 4 * contact_steps(law, N) + 8)
    facts = {"m": m, "K": law.stiffness, "C_r": law.C_r, "N": N, "tilt": tilt, "J/ml2": inertia / m / length**2}
    return System(
        "rod on two", plant, (contact(law), contact(law)), H, steps, starts,
        np.array([0, 0, 0, m, m, inertia]), N=N, facts=facts,
    )  # fmt: skip


def pendulum(draw: Draw) -> System:
    """It hangs along -x and swings against the surface, with friction and gravity."""
    tip, length, N, law = draw.log(1e-2, 1e2), draw.log(0.1, 2), draw.log(3, 40), draw.law(mu=draw.even(0, 0.5))
    H, lead, v0 = interval(tip, law, N), draw.log(2, 30), draw.log(0.1, 3)
    steps = math.ceil(lead + 1.15 * contact_steps(law, N) + 8)
    length = max(length, 10 * _depth(tip, law, v0), 2 * lead * H * v0, 10 * 9.81 * (steps * H) ** 2)
    inertia, angle = tip * length**2, -math.asin(lead * H * v0 / length)
    share = draw.even(0.5, 1)  # of the length, to the centre of mass
    plant = replace(
        planar_plant("pendulum", draw.even(1, 1 / share**2) * tip, inertia, [(-length, 0.0)]), state_count=2,
        gravity=(-9.81, 0.0), law_offsets=np.zeros(6), law_rows=np.array([-length * share, 0.0]),
    )  # fmt: skip
    facts = {"m": tip, "K": law.stiffness, "C_r": law.C_r, "N": N, "mu": law.mu, "length": length}
    starts = np.array([[angle + phase * H * v0 / length, v0 / length] for phase in PHASES])
    return System("pendulum", plant, (contact(law),), H, steps, starts, np.array([0, inertia]), N=N, facts=facts)


def _depth(mass: float, law: Law, speed: float) -> float:
    """m, of an undamped contact: bodies are ten times as long."""
    return speed * math.sqrt(mass / law.stiffness)


def planar_plant(kind: str, mass: float, inertia: float, arms: Sequence[tuple[float, float]]) -> Plant:
    none = np.zeros(0)
    return Plant(kind, 6, 3 * len(arms), none, none, mass=mass, inertia=inertia, arms=arms)


def shaken(draw: Draw) -> System:
    """A block that rests on the floor and is shaken along it; by the share of sticking friction it slides or creeps."""
    m, N = draw.log(1e-2, 1e2), draw.log(3, 40)
    law = replace(draw.law(mu=draw.even(0.1, 0.9)), k_T=draw.log(30, 1000))
    H, g = interval(m, law, N), 9.81
    share, samples, turns = draw.log(0.3, 3), draw.log(8, 40), draw.even(4, 10)
    wire = Wire(contact(law), rows(2, x=[1, 0], z=[0, 1]))
    force, omega = share * law.mu * m * g, 2 * math.pi / (samples * H)
    plant = linear_plant([m, m], H, [wire], pull=[0, -m * g], wave=(0, force, omega))
    starts = [
        [0.0, -m * g / law.stiffness, 0.0, 0.0, math.sin(omega * phase * H), math.cos(omega * phase * H)]
        for phase in PHASES
    ]
    facts = {"m": m, "K": law.stiffness, "C_r": law.C_r, "N": N, "mu": law.mu, "k_T": law.k_T, "share": share}
    return System(
        "shaken", plant, (contact(law),), H, math.ceil(turns * samples), np.array(starts),
        np.array([0, 0, m, m, 0, 0]), "friction", N, facts, expected=4 * turns * force**2 / (m * omega**2),
    )  # fmt: skip


def in_phases(system: System) -> System:
    """A spring, guide or damper on two masses with fifteen starts: speeds along with the deflection, from those of an
    oscillation a third of a half period before its end to as much after it; under a damper the masses come with up to
    1.5 times the speed, against each other."""
    start, n = system.starts[0], len(system.starts[0]) // 2
    q, v = start[:n], start[n:]
    if system.family == "damper":
        against = 0.5 * np.sin(2 * math.pi * PHASES)[:, None] * np.array([1.0, -1.0])
        speeds = v * (1 + against)
    else:
        along = np.tan(math.pi / 3 * np.linspace(-1, 1, len(PHASES)))
        speeds = v + math.pi / (system.N * system.H) * along[:, None] * q
    return replace(system, starts=np.array([np.concatenate([q, each]) for each in speeds]))


SAMPLE: dict[str, Callable[[Draw], System]] = {  # whose share of right runs is shown
    "free": free,
    "gravity": gravity,
    "pressed": pressed,
    "sine": sine,
    "PD axis": axis,
    "two-mass": two_mass,
    "two bodies": two_bodies,
    "cradle": cradle,
    "rod": rod,
    "rod on two": rod_on_two,
    "pendulum": pendulum,
}
FAMILIES = SAMPLE | {
    "shaken": shaken,
    "light tip": light_tip,
    "pile": pile,
    "spring by rates": spring_by_rates,
    "spring by positions": spring_by_positions,
    "spring chain": spring_chain,
    "guide": guide,
    "damper": damper_two_mass,
}


def draw_systems(seed: int, count: int, families: Sequence[str] = tuple(SAMPLE)) -> Iterator[tuple[int, System]]:
    """`count` systems, the families in turn, each with its number within its family, which gives it with the seed."""
    for k in range(count):
        family, number = families[k % len(families)], k // len(families)
        yield number, one_system(seed, family, number)


def one_system(seed: int, family: str, number: int) -> System:
    return FAMILIES[family](Draw(seed, zlib.crc32(family.encode()), number))
