"""Single systems of coupled ports, in which other things than the port move the body: one row each, by method.

python -m tests.elements.port_table [--readme]

--readme  the rows that README.md shows, as its table"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.elements.closed_loop import JACOBI, SEQUENTIAL, Law, Outcome
from tests.elements.port_bodies import PHASES, System, Wire, contact, linear_plant, rows, spring, start_states
from tests.elements.port_families import Draw, interval, joined, planar_plant, spring_by_rates
from tests.elements.port_systems import METHODS, RIGHT, coupling_of, measure

Array = NDArray[np.float64]
_K = 1e5  # N/m, on 1 kg
_MODES: Mapping[str, Mapping[str, str]] = {
    **METHODS,
    "averaged": {"coupling.mode": "averaged"},
    "predicted": {"coupling.mode": "predicted"},
}


IN_README = {  # rows of the README, as it names them
    "gravity, N = 6.3: energy, most": "gravity, N = 6.3: energy",
    "joined spring: energy after 9 periods": "spring on joined masses: energy",
    "outer sine 30 %, 4 samples, N = 16: rebound": "outer sine, N = 16: rebound",
    "three balls, N = 31: energy": "three balls in touch, N = 31: energy",
    "axis, omega H = 2: force, N": "controlled axis on a wall: force, 142.3 N",
    "rod on two FMUs, N = 31: speed error": "rod on two FMUs, N = 31: error of speed",
    "light tip, 3 samples: energy, most": "light tip, three steps a period: energy",
}
OPEN = ("light tip, 3 samples: energy, most",)  # rows that are wrong with the order given


@dataclass(frozen=True)
class Row:
    """A system under one master: `value` of each phase, and what the table shows of them."""

    name: str
    system: System
    master: str
    value: Callable[[System, Outcome, Array], float]  # of a run and of the motion under the law
    shows: Callable[[Array], float] = np.mean
    exact: float = 1.0
    allowed: float = RIGHT  # difference from the exact value
    differences: bool = False

    def is_right(self, found: float) -> bool:
        return abs(found - self.exact) <= self.allowed


def _energy(system: System, run: Outcome, _: Array) -> float:
    """At the end over that at the start."""
    return system.energy(run.states[-1]) / system.energy(run.states[0])


def _energy_ratio(system: System, run: Outcome, exact: Array) -> float:
    return system.energy(run.states[-1]) / system.energy(exact[-1, :-1])


def _rebound(system: System, run: Outcome, exact: Array) -> float:
    """Speed of the end over the exact one."""
    return math.sqrt(float(system.weights @ run.states[-1] ** 2) / float(system.weights @ exact[-1, :-1] ** 2))


def _speed_error(system: System, run: Outcome, exact: Array) -> float:
    return system.error(run.states, run.forces, exact)


def _mean_force(system: System, run: Outcome, _: Array) -> float:
    """N, in the last fifth."""
    return float(np.mean(run.forces[int(0.8 * len(run.forces)) :, -1]))


def _drift(system: System, run: Outcome, exact: Array) -> float:
    """m, sideways, from the exact place."""
    return abs(float(run.states[-1, 0] - exact[-1, 0]))


def _work(system: System, run: Outcome, exact: Array) -> float:
    """Of friction, over the exact one."""
    return system.friction_work(run.states, run.forces) / float(exact[-1, -1])


def _sunk(system: System, run: Outcome, _: Array) -> float:
    """m, below the floor."""
    return -float(np.min(run.states[:, 1]))


def one_mass(
    N: float,
    C_r: float = 1.0,
    lead: float = 4,
    wave: tuple[float, float] | None = None,
    g: float = 0.0,
    after: float = 8,
) -> System:
    """1 kg that comes with 1 m/s; `wave`: share of the peak force and samples per period of an outer sine."""
    law = Law(_K, C_r)
    H = interval(1.0, law, N)
    force = None if wave is None else (0, wave[0] * math.sqrt(_K), 2 * math.pi / (wave[1] * H))
    wire = Wire(contact(law), rows(1, z=[1]))
    plant = linear_plant([1.0], H, [wire], pull=[-g], wave=force)
    starts = start_states([lead * H], [-1.0], H, None if wave is None else (0.0, 1.0))
    weights = np.array([0.0, 1.0, *([0.0, 0.0] if wave else [])])
    linear = np.array([g, 0.0]) if g else None
    return System("one mass", plant, (wire.port,), H, math.ceil(lead + N + after), starts, weights, N=N, linear=linear)


def joined_masses(N: float, C_r: float, ratio: float, samples: float) -> System:
    """1 kg in all, the tip 1/(1 + ratio) of it."""
    tip, behind, law = 1 / (1 + ratio), ratio / (1 + ratio), Law(_K, C_r)
    H = interval(tip, law, N)
    K, D = joined(tip, behind, samples, 0.0, H)
    wire = Wire(contact(law), rows(2, z=[1, 0]))
    quadratic = np.zeros((4, 4))
    quadratic[:2, :2] = K
    return System(
        "tip", linear_plant([tip, behind], H, [wire], K, D), (wire.port,), H,
        math.ceil(4 + 3 * N * math.sqrt(1 + ratio) + 14), start_states([4 * H, 4 * H], [-1, -1], H),
        np.array([0, 0, tip, behind]), N=N, quadratic=quadratic,
    )  # fmt: skip


def joined_spring() -> System:
    """0.5 kg on a spring of ours, 0.5 kg behind it; nine periods of the slower mode."""
    K = np.array([[4805.0, -4805.0], [-4805.0, 4805.0]])
    held = K + np.array([[1000.0, 0.0], [0.0, 0.0]])
    slow, H = math.sqrt(np.linalg.eigvalsh(held / 0.5)[0]), 2.27e-3
    quadratic = np.zeros((4, 4))
    quadratic[:2, :2] = K
    wire = Wire(spring(1000.0, "Spring", 0.01), np.array([[1.0, 0.0]]))
    return System(
        "spring", linear_plant([0.5, 0.5], H, [wire], K), (wire.port,), H, round(9 * 2 * math.pi / slow / H),
        np.array([[0.01, 0.01, 0, 0]]), np.array([0, 0, 0.5, 0.5]), "energy", quadratic=quadratic,
    )  # fmt: skip


def row_of_balls(N: float, count: int) -> System:
    """Of 1 kg, in touch but for the first one, which meets them."""
    law, unit = Law(_K), np.eye(count)
    H = interval(0.5, law, N)
    wires = [Wire(contact(law, True), rows(count, z=unit[k]), rows(count, z=unit[k + 1])) for k in range(count - 1)]
    still = [0.0] * (count - 1)
    return System(
        "balls", linear_plant([1.0] * count, H, wires), tuple(w.port for w in wires), H,
        math.ceil(4 + 2 * count * N + 8), start_states([4 * H, *still], [-1, *still], H),
        np.array([0.0] * count + [1.0] * count), N=N,
    )  # fmt: skip


def three_balls(N: float) -> System:
    return row_of_balls(N, 3)


def driven_axis(omega_H: float) -> System:
    """1 kg under critically damped position control, as stiff as the wall, which it presses with 142 N."""
    law, wall, zeta = Law(_K, 0.5), math.sqrt(_K), 1.0
    H, aim = omega_H / wall, 3 * 0.3 / wall
    wire = Wire(contact(law), rows(1, z=[1]))
    plant = linear_plant([1.0], H, [wire], K=[[_K]], D=[[2 * zeta * wall]], pull=[-_K * aim])
    return System(
        "axis", plant, (wire.port,), H, min(math.ceil(60 / omega_H) + 40, 1200), start_states([3e-5], [-0.3], H),
        np.array([0, 1.0]), "force", linear=np.array([_K * aim, 0]), expected=_K * aim / 2,
    )  # fmt: skip


def block(
    sideways: float, speed: float, seconds: float, *, mu: float = 0.9, k_T: float = 100.0, N: float = 6.3
) -> System:
    """10 kg at rest on the floor.  Sideways a force of this amplitude, N, with 8 samples a period, or a speed, m/s."""
    m, g, law = 10.0, 9.81, Law(1e6, 0.5, mu=mu, k_T=k_T)
    H = interval(m, law, N)
    wire = Wire(contact(law), rows(2, x=[1, 0], z=[0, 1]))
    wave = (0, sideways, 2 * math.pi / (8 * H)) if sideways else None
    plant = linear_plant([m, m], H, [wire], pull=[0.0, -m * g], wave=wave)
    starts = start_states([0, -m * g / law.stiffness], [speed, 0], H, (0.0, 1.0) if sideways else None)
    weights = np.array([0, 0, m, m, *([0, 0] if sideways else [])])
    return System(
        "block", plant, (wire.port,), H, round(seconds / H), starts[:1], weights, "friction", expected=m * speed**2 / 2
    )


def rod_on_two(N: float) -> System:
    """1 kg, 1 m; both ends strike at once, or nearly."""
    law, inertia = Law(_K), 1 / 12
    H = interval(1 / (1 + 0.25 / inertia), law, N)
    tilt = 0.002
    starts = [[0.0, (4 - phase) * H + 0.5 * tilt, tilt, 0.0, -1.0, 0.0] for phase in PHASES]
    return System(
        "rod", planar_plant("rod", 1.0, inertia, [(-0.5, 0.0), (0.5, 0.0)]), (contact(law), contact(law)), H,
        math.ceil(4 + tilt / H + 6 * N + 8), np.array(starts), np.array([0, 0, 0, 1.0, 1.0, inertia]), N=N,
    )  # fmt: skip


def all_rows() -> list[Row]:
    creeping, sliding = block(60.0, 0.0, 2.0), block(60.0, 0.0, 2.0, mu=0.3, k_T=1000.0, N=16)
    sine, falling, stopping = one_mass(16, wave=(0.3, 4)), one_mass(6.3, g=9.81), block(0, 1.0, 0.5)
    tip, force = joined_masses(6.3, 0.5, 10, 3), 3 * 0.3 / 2 * math.sqrt(_K)
    depth = 10 * 9.81 / 1e6
    return [
        Row("joined spring: energy after 9 periods", joined_spring(), SEQUENTIAL, _energy),
        Row("three balls, N = 31: energy", three_balls(31), SEQUENTIAL, _energy_ratio),
        Row("outer sine 30 %, 4 samples, N = 16: rebound", sine, SEQUENTIAL, _rebound),
        Row("gravity, N = 6.3: energy, least", falling, SEQUENTIAL, _energy_ratio, np.min),
        Row("gravity, N = 6.3: energy, most", falling, SEQUENTIAL, _energy_ratio, np.max),
        Row("light tip, 3 samples: energy, most", tip, JACOBI, _energy_ratio, np.max),
        Row("axis, omega H = 2: force, N", driven_axis(2.0), JACOBI, _mean_force, _extreme, force, RIGHT * force),
        Row("axis, omega H = 0.5: force, N", driven_axis(0.5), JACOBI, _mean_force, _extreme, force, RIGHT * force),
        Row("shaken block that sticks: drift, m", creeping, SEQUENTIAL, _drift, np.max, 0.0, 1e-4),
        Row("shaken block that slides: drift, m", sliding, SEQUENTIAL, _drift, np.max, 0.0, 1e-3),
        Row("shaken block that slides: friction work", sliding, SEQUENTIAL, _work, np.max, 1.0, 0.05),
        Row("block that stops: depth, m", stopping, SEQUENTIAL, _sunk, np.max, depth, depth),
        Row("block that stops: friction work", stopping, SEQUENTIAL, _work, np.max),
        Row("rate by differences, N = 16: rebound", one_mass(16), SEQUENTIAL, _rebound, differences=True),
        Row("rod on two FMUs, N = 31: speed error", rod_on_two(31), SEQUENTIAL, _speed_error, np.mean, 0.0),
    ]


def _extreme(values: Array) -> float:
    """The value farthest from the median."""
    return float(values[np.argmax(np.abs(values - np.median(values)))])


def value(row: Row, mode: Mapping[str, str]) -> float | None:
    """None if the FMUs do not know the method."""
    coupling = coupling_of(row.system, row.master, mode)
    if coupling is None:
        return None
    values = []
    for start, exact in zip(row.system.starts, row.system.reference(), strict=True):
        run = row.system.bench.run(
            start, row.system.H, row.system.steps, row.master, coupling, differences=row.differences
        )
        values.append(row.value(row.system, run, exact))
    return float(row.shows(np.array(values)))


def share_right(systems: Sequence[System], master: str, method: str) -> float | None:
    found = [measure(k, system, master, method, system.reference()) for k, system in enumerate(systems)]
    right = [one.right for one in found if one is not None]
    return float(np.mean(right)) if right else None


def readme_table() -> str:
    """The lines of README.md: the phase that is farthest off, under hold and auto, and auto with the order given."""
    lines = ["| besides this force | `hold` | `auto` | `auto`, order given |", "|---|---|---|---|"]
    for row in all_rows():
        if row.name in IN_README:
            found = [value(row, METHODS[name]) for name in ("hold", "auto", "given")]
            numbers = ("-" if one is None else f"{one:.3g}" for one in found)
            lines.append(f"| {IN_README[row.name]} | {' | '.join(numbers)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Single systems of coupled ports")
    parser.add_argument("--readme", action="store_true", help="the rows that README.md shows, as its table")
    if parser.parse_args(arguments).readme:
        print(readme_table())
        return
    print(f"{'':72}{'exact':>10}" + "".join(f"{name:>12}" for name in _MODES))
    for row in all_rows():
        name = f"{row.name} ({row.master}){' *' if row.name in OPEN else ''}"
        _show(name, row.exact, [value(row, mode) for mode in _MODES.values()])
    springs = [spring_by_rates(Draw(18, k)) for k in range(75)]
    _show("75 joined springs: right (sequential)", 1, [share_right(springs, SEQUENTIAL, name) for name in METHODS])
    print("* open")


def _show(name: str, exact: float, values: Sequence[float | None]) -> None:
    shown = "".join(f"{'-' if one is None else format(one, '.4g'):>12}" for one in values)
    print(f"{name:72}{exact:10.4g}{shown}")


if __name__ == "__main__":
    main()
