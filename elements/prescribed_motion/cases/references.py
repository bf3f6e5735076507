"""Closed forms and independent integrations behind the cases: `python references.py` writes every *_ref.csv anew.

None of this uses the code under test."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import grid, reference, write_references
from fmu_builder.paths import load_module, shipped

G = 9.81
Array = NDArray[np.float64]


class Course(NamedTuple):
    """s = offset + speed t + amplitude sin(2 pi frequency t + phase)."""

    offset: float = 0.0
    speed: float = 0.0
    amplitude: float = 0.0
    frequency: float = 0.0
    phase: float = 0.0

    def at(self, t: Array) -> Array:
        return self.offset + self.speed * t + self.amplitude * np.sin(math.tau * self.frequency * t + self.phase)

    def rate(self, t: Array) -> Array:
        omega = math.tau * self.frequency
        return self.speed + self.amplitude * omega * np.cos(omega * t + self.phase)


def frame_motion() -> Trace:
    """All parameters of a frame at once; it turns about (1, 2, -2)/3."""
    t = grid(2.0, 0.01)
    along = (
        Course(0.1, 0.3, 3e-3, 2.0, 0.5),
        Course(-0.2, 0.0, 3e-3, 3.5, 0.0),
        Course(0.0, -0.05, 0.0, 0.0, 0.0),
    )
    angle = Course(math.radians(20.0), 1.5, math.radians(3.0), 4.0, 0.25)
    axis = np.array([1.0, 2.0, -2.0]) / 3.0
    columns = {f"drive.port.r[{k + 1}]": (c.at(t), "m") for k, c in enumerate(along)}
    half = angle.at(t) / 2
    q = [np.cos(half), *(n * np.sin(half) for n in axis)]
    columns |= {f"drive.port.q[{k + 1}]": (part, "1") for k, part in enumerate(q)}
    columns |= {f"drive.port.v[{k + 1}]": (c.rate(t), "m/s") for k, c in enumerate(along)}
    columns |= {f"drive.port.w[{k + 1}]": (n * angle.rate(t), "rad/s") for k, n in enumerate(axis)}
    return reference(
        "frame_motion", "s = s0 + v0 t + A sin(2 pi f t + phi), q = (cos a/2, n sin a/2), w = n a'", t, columns
    )


def shaft() -> Trace:
    t, angle = grid(2.0, 0.01), Course(0.5, 10.0, math.radians(3.0), 4.0, 0.25)
    columns = {"drive.port.phi": (angle.at(t), "rad"), "drive.port.w": (angle.rate(t), "rad/s")}
    return reference("shaft", "phi = phi0 + w0 t + B sin(2 pi f t + phase), w = phi'", t, columns)


def slide() -> Trace:
    t, line = grid(2.0, 0.01), Course(0.1, 0.02, 3e-3, 2.0, 1.0)
    columns = {"drive.port.s": (line.at(t), "m"), "drive.port.v": (line.rate(t), "m/s")}
    return reference("slide", "s = s0 + v0 t + A sin(2 pi f t + phase), v = s'", t, columns)


def plane_motion() -> Trace:
    t = grid(2.0, 0.01)
    parts = (
        Course(0.1, 0.3, 3e-3, 2.0, 0.5),
        Course(-0.2, 0.0, 3e-3, 3.5, 0.0),
        Course(0.05, -0.02, math.radians(3.0), 1.5, 0.25),
    )
    units = (("m", "m/s"), ("m", "m/s"), ("rad", "rad/s"))
    columns = {f"drive.position[{k + 1}]": (c.at(t), u[0]) for k, (c, u) in enumerate(zip(parts, units, strict=True))}
    columns |= {f"drive.port.v[{k + 1}]": (c.rate(t), u[1]) for k, (c, u) in enumerate(zip(parts, units, strict=True))}
    return reference("plane_motion", "s = s0 + v0 t + A sin(2 pi f t + phi), v = s', by component", t, columns)


def shaken_rest() -> Trace:
    """A mass rests on an elastic floor that starts to move as z_F = A (1 - cos(Omega t)); it never leaves it.

    Relative to its place of rest u = z - z_F + m g/k obeys u'' + w^2 u = -z_F'', w^2 = k/m, u(0) = u'(0) = 0, so

        u = A Omega^2 / (w^2 - Omega^2) (cos(w t) - cos(Omega t)).

    All forces are elastic: the work of the drive is the change of m z'^2/2 + m g z + k (m g/k - u)^2/2."""
    m, k, amplitude, omega = 1.0, 1e4, 1e-3, math.tau * 5.0
    t, w, rest = grid(0.5, 1e-3), math.sqrt(k / m), m * G / k
    factor = amplitude * omega**2 / (w**2 - omega**2)
    u = factor * (np.cos(w * t) - np.cos(omega * t))
    assert np.all(u < rest)  # the contact holds
    floor, floor_v = amplitude * (1 - np.cos(omega * t)), amplitude * omega * np.sin(omega * t)
    z, v = floor - rest + u, floor_v + factor * (omega * np.sin(omega * t) - w * np.sin(w * t))
    energy = m * v**2 / 2 + m * G * z + k * (rest - u) ** 2 / 2
    columns = {
        "body.p.r[3]": (z, "m"),
        "body.p.v[3]": (v, "m/s"),
        "drive.port.r[3]": (floor, "m"),
        "drive.energy.work": (energy - energy[0], "J"),
    }
    return reference(
        "shaken_rest", "u = A W^2/(w^2 - W^2) (cos w t - cos W t), work = change of the energy", t, columns
    )


def shaken_bounce() -> Trace:
    """A mass falls on a floor that shakes as A sin(Omega t) and bounces:  m z'' = k h (1 + d(h')) - m g  while h > 0,
    h = A sin(Omega t) - z.  DOP853, restarted wherever the mass touches or leaves the floor; its error control meets
    the kinks of d."""
    k, c_r, k_d, k_e = 1e5, 0.5, 100.0, 0.5
    floor = Course(amplitude=2e-3, frequency=10.0)
    low, high = load_module(shipped("elements") / "point_surface" / "cases" / "references.py").damping_limits(c_r, k_e)

    def depth(t: float, y: Array) -> float:
        return float(floor.at(np.asarray(t)) - y[0])

    def depth_rate(t: float, y: Array) -> float:
        return float(floor.rate(np.asarray(t)) - y[1])

    def motion(t: float, y: Array, touching: bool) -> list[float]:
        h, w = depth(t, y), depth_rate(t, y)
        return [y[1], (k * h * (1 + min(max(low, k_d * w), high)) if touching else 0.0) - G]

    def surface(t: float, y: Array, touching: bool) -> float:
        """Set back by rounding on the side that the mass is on, so that no restart meets its own event."""
        return depth(t, y) + (1e-15 if touching else -1e-15)

    surface.terminal = True  # type: ignore[attr-defined]
    t = grid(0.3, 1e-4)
    columns, begin, y, touching = np.empty((2, t.size)), 0.0, np.array([0.02, 0.0]), False
    while begin < t[-1]:
        part = solve_ivp(
            motion, (begin, t[-1]), y, "DOP853", dense_output=True, events=surface, args=(touching,),
            rtol=1e-12, atol=1e-15, max_step=1e-3,
        )  # fmt: skip
        end = part.t[-1]
        inside = (t >= begin) & (t <= end)
        if inside.any():
            columns[:, inside] = part.sol(t[inside])
        begin, y = end, part.y[:, -1]
        touching = touching != bool(part.t_events[0].size)
    names = {"body.p.r[3]": (columns[0], "m"), "body.p.v[3]": (columns[1], "m/s")}
    return reference(
        "shaken_bounce", "m z'' = k h (1 + d(h')) - m g, h = A sin(W t) - z, DOP853 at rtol 1e-12", t, names
    )


CASES: tuple[Callable[[], Trace], ...] = (frame_motion, plane_motion, shaft, shaken_bounce, shaken_rest, slide)

if __name__ == "__main__":
    write_references(CASES, __file__)
