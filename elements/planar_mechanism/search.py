"""Base and start of Lipinski's chain with which the ranges of the paper's figures hold.

    python elements/planar_mechanism/search.py          some minutes; prints what was found, and its ranges

The paper prints neither base nor start.  Looked for: one base and one q2, q4, the slider at 0, springs free there, q1
as the cam asks for, at rest under gravity 9.81 m/s2; so that on each cam, up to the last time of its figures, every
curve stays on the axis that the paper draws it on and reaches into the first and the last interval between two of its
ticks (else the axis would have been drawn shorter), and the window of the snapshots holds the chain in all nine.

    misfit = sum over curves of (excess over the axis + lack towards its outer intervals)/(length of the axis)
             + chain outside of the window in the snapshots, or in the cam at the start
             + max(0, 3 - range of q4, convex/concave)

minimized by differential evolution from four seeds over four numbers: x of the tip on the concave cam, q1, q2, q4
there; the base follows.  CHOSEN, in round numbers, is one with all curves on their axes and all snapshots in the
window; the cases `paper_concave` and `paper_convex` run it against independent references."""

from __future__ import annotations

import math
from ctypes import c_double, c_uint
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, differential_evolution

from fmu_builder.cosim import Slave, read_slave
from fmu_builder.export import host_fmu
from fmu_builder.paths import shipped

Vector = NDArray[np.float64]
LENGTHS = np.array([0.3, 0.1, 0.3, 0.3])
WINDOW = ((-0.2, 0.8), (-0.2, 0.6))  # of the snapshots, x and y
CLEAR = 0.03  # m, of the joints above the convex cam at the start


@dataclass(frozen=True)
class Cam:
    """A cam, its recipe, the times of its snapshots, of which the last ends the curves, and the axes of these: low,
    high, distance of two ticks."""

    recipe: str
    f: tuple[float, ...]
    times: tuple[float, ...]
    axes: dict[str, tuple[float, float, float]]

    @property
    def stop(self) -> float:
        return self.times[-1]

    def y(self, x: float) -> float:
        return sum(c * x**k for k, c in enumerate(self.f))


CONCAVE = Cam(
    "CamChainConcave",
    (0.0, -0.595, 0.5, 0.5),
    (0.0, 0.5335, 1.5335),
    {"q4": (-0.03, 0.06, 0.03), "slider": (-0.2, 0.4, 0.2), "x": (-0.1, 0.8, 0.3)},
)
CONVEX = Cam(
    "CamChainConvex",
    (0.0, 0.357, -0.3, -0.3),
    (0.0, 0.5127, 0.9827, 1.2127, 1.3427, 1.47),
    {"q4": (-0.4, 0.2, 0.2), "slider": (-0.2, 0.4, 0.2), "x": (0.0, 0.6, 0.2)},
)
SEEDS = (1, 2, 3, 4)
CHOSEN = ((0.096, 0.298), -2.731, -0.518)  # base, q2, q4


def joints(base: Vector, q: Vector) -> Vector:
    """Base, joints and tip: x and y, shape (..., 5, 2), of coordinates of the shape (..., 4)."""
    angles = np.stack([q[..., 0], q[..., 0] + q[..., 1], q[..., 0] + q[..., 1], q[..., 0] + q[..., 1] + q[..., 3]], -1)
    lengths = LENGTHS + np.stack([0.0 * q[..., 2], 0.0 * q[..., 2], q[..., 2], 0.0 * q[..., 2]], -1)
    links = np.stack([lengths * np.cos(angles), lengths * np.sin(angles)], -1)
    start = np.broadcast_to(base, (*links.shape[:-2], 1, 2))
    return np.concatenate([start, base + np.cumsum(links, axis=-2)], axis=-2)


def closed(cam: Cam, base: Vector, q: Vector) -> Vector | None:
    """q with the q1 nearest to its own that puts the tip on the cam."""

    def above(q_1: float) -> float:
        x, y = joints(base, np.array([q_1, *q[1:]]))[-1]
        return float(y - cam.y(x))

    step = 0.02
    for k in range(1, int(math.pi / step)):
        for sign in (1.0, -1.0):
            low, high = sorted((q[0] + sign * step * (k - 1), q[0] + sign * step * k))
            if above(low) * above(high) <= 0.0:
                return np.array([brentq(above, low, high, xtol=1e-14), *q[1:]])
    return None


class Chain:
    """The FMU of the chain on one cam, run again and again."""

    def __init__(self, cam: Cam) -> None:
        self.cam, self.slave = cam, Slave("chain", read_slave(host_fmu(shipped("fmus") / f"{cam.recipe}.toml")))
        variables = self.slave.description.variables
        names = [f"joint[1].place[{k}]" for k in (1, 2)] + [f"joint[{i}].q0" for i in (1, 2, 3, 4)]
        names += [f"joint[{i}].free" for i in (2, 3, 4)] + ["solver.tolerance"]
        self.given = (c_uint * len(names))(*(variables[n].reference for n in names))
        self.read = (c_uint * 4)(*(variables[f"q[{i}]"].reference for i in (1, 2, 3, 4)))
        self.fresh = True

    def run(self, base: Vector, q: Vector, tolerance: float, steps: int) -> Vector:
        """q at equal times up to the end, shape (steps + 1, 4).  Raises where the FMU refuses."""
        dll, component = self.slave.dll, self.slave.component
        if not self.fresh:
            dll.fmi2Reset(component)
        self.fresh = False
        values = (*base, *q, *q[1:], tolerance)
        dll.fmi2SetupExperiment(component, 0, 0.0, 0.0, 0, 0.0)
        dll.fmi2SetReal(component, self.given, len(self.given), (c_double * len(values))(*values))
        dll.fmi2EnterInitializationMode(component)
        dll.fmi2ExitInitializationMode(component)
        at, rows, h = (c_double * 4)(), [], self.cam.stop / steps
        for k in range(steps + 1):
            if k:
                dll.fmi2DoStep(component, (k - 1) * h, h, 1)
            dll.fmi2GetReal(component, self.read, 4, at)
            rows.append(list(at))
        return np.array(rows)


def curves(base: Vector, q: Vector) -> dict[str, Vector]:
    """What the figures show: q4 and slider from their start, x of the tip."""
    return {"q4": q[:, 3] - q[0, 3], "slider": q[:, 2] - q[0, 2], "x": joints(base, q)[:, -1, 0]}


def outside(value: float, low: float, high: float) -> float:
    return max(0.0, low - value, value - high)


def beside(at: Vector) -> float:
    """How far joints and tip, shape (5, 2), lie outside of the window, m."""
    return sum(outside(v, *bounds) for axis, bounds in enumerate(WINDOW) for v in at[:, axis])


def snapshots(cam: Cam, base: Vector, q: Vector) -> list[Vector]:
    """Base, joints and tip at the times of the snapshots, of q at equal times up to the end."""
    return [joints(base, q[round(t / cam.stop * (len(q) - 1))]) for t in cam.times]


class Search:
    def __init__(self) -> None:
        self.chains = [Chain(CONCAVE), Chain(CONVEX)]

    def start(self, point: Vector) -> tuple[Vector, Vector]:
        """Base and q on the concave cam."""
        x, q_1, q_2, q_4 = point
        q = np.array([q_1, q_2, 0.0, q_4])
        return np.array([x, CONCAVE.y(x)]) - joints(np.zeros(2), q)[-1], q

    def found(self, base: Vector, q: Vector, tolerance: float = 1e-6, steps: int = 150) -> list[Vector]:
        """q on both cams; none where a chain cannot start or run."""
        both = []
        for chain in self.chains:
            on_cam = closed(chain.cam, base, q)
            try:
                motion = chain.run(base, on_cam, tolerance, steps) if on_cam is not None else np.array([np.nan])
            except Exception:  # fmpy raises that; a start that cannot be run is no candidate
                return []
            if not np.isfinite(motion).all():
                return []
            both.append(motion)
        return both

    def misfit(self, point: Vector) -> float:
        base, q = self.start(point)
        at = joints(base, q)
        wrong = beside(at) + sum(max(0.0, CONVEX.y(x) + CLEAR - y) for x, y in at[:-1])
        if wrong > 0.5:
            return float(10.0 + wrong)  # not worth a run
        both = self.found(base, q)
        return 9.0 if not both else wrong + misfit(base, both)


def misfit(base: Vector, both: list[Vector]) -> float:
    total = max(0.0, 3.0 - ratio(both))
    for cam, motion in zip((CONCAVE, CONVEX), both, strict=True):
        total += sum(beside(at) for at in snapshots(cam, base, motion))
        found = curves(base, motion)
        for name, (low, high, tick) in cam.axes.items():
            least, most = found[name].min(), found[name].max()
            total += (outside(least, low, low + tick) + outside(most, high - tick, high)) / (high - low)
    return float(total)


def ratio(both: list[Vector]) -> float:
    """How much more q4 moves on the convex cam."""
    return float(np.ptp(both[1][:, 3]) / np.ptp(both[0][:, 3]))


def summary(base: Vector, both: list[Vector]) -> str:
    lines = [f"misfit {misfit(base, both):.3f}, q4 moves {ratio(both):.2f} times as much on the convex cam"]
    for cam, motion in zip((CONCAVE, CONVEX), both, strict=True):
        found, shown = curves(base, motion), np.concatenate(snapshots(cam, base, motion))
        (left, low), (right, high) = shown.min(axis=0), shown.max(axis=0)
        lines.append(f"  {cam.recipe} snapshots {left:.4f} .. {right:.4f} by {low:.4f} .. {high:.4f}")
        for name, (low, high, _) in cam.axes.items():
            least, most = found[name].min(), found[name].max()
            lines.append(f"  {cam.recipe} {name:6} {least:7.4f} .. {most:7.4f}   axis {low:g} .. {high:g}")
    return "\n".join(lines)


def main() -> None:
    search = Search()
    bounds = [(0.0, 0.8), (-math.pi, math.pi), (-2.8, 2.8), (-2.8, 2.8)]
    for seed in SEEDS:
        best = differential_evolution(search.misfit, bounds, popsize=30, maxiter=45, polish=False, seed=seed)
        base, q = search.start(best.x)
        print(f"seed {seed}: base {base.round(4)}, q on the concave cam {q.round(4)}; {best.nfev} starts")
        print(summary(base, search.found(base, q, 1e-9, 3000)), flush=True)
    base, q = np.array(CHOSEN[0]), np.array([1.5, CHOSEN[1], 0.0, CHOSEN[2]])
    print(f"chosen: base {base}, q2 {q[1]}, q4 {q[3]}")
    print(summary(base, search.found(base, q, 1e-9, 3000)))


if __name__ == "__main__":
    main()
