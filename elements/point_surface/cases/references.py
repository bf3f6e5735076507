"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew.

A mass m meets the unbounded floor z = 0 of stiffness k with w = sqrt(k/m).  None of this uses the code under test.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import grid, reference, write_references

G = 9.81
Z, VZ, X, VX = "body.p.r[3]", "body.p.v[3]", "body.p.r[1]", "body.p.v[1]"
_UNITS = {Z: "m", VZ: "m/s", X: "m", VX: "m/s", "floor.deflection[1]": "m"}

Array = NDArray[np.float64]


def trace(name: str, formula: str, time: Array, columns: dict[str, Array], events: dict[str, float]) -> Trace:
    return reference(name, formula, time, {n: (c, _UNITS.get(n, "J")) for n, c in columns.items()}, events)


def damping_limits(c_r: float, k_e: float) -> tuple[float, float]:
    """The limits of the damping d, in restitution and in compression."""
    delta = 1 - k_e + c_r**2 * k_e
    return -(1 - c_r**2) * (1 - k_e) / delta, (1 - c_r**2) * k_e / delta


def effective_restitution(c_r: float, k_e: float, k_d: float, v_0: float) -> float:
    """e of the law F = F_e(h) (1 + d(dh/dt)), exact for every elastic law F_e, no gravity.

    Energy: int_0^v0 w dw / (1 + d(w)) = int_0^y w dw / (1 + d(-w)) gives the rebound speed y; e = y / v0.  Each
    integral is elementary below the speed at which d reaches its limit and above it."""
    low, up = damping_limits(c_r, k_e)
    down = -low

    def integral(v: float, limit: float, sign: float) -> float:
        """int_0^v w dw / (1 + sign min(k_d w, limit))"""
        knee = min(v, limit / k_d)
        ramp = sign * knee / k_d - math.log1p(sign * k_d * knee) / k_d**2
        return ramp + ((v**2 - knee**2) / 2 / (1 + sign * limit) if v > knee else 0.0)

    taken = integral(v_0, up, +1.0)
    # At C_r = 0 the integral of the rebound grows without bound towards y = 1/k_d: no rebound is faster.
    fastest = v_0 if down < 1.0 else min(v_0, (1.0 - 2.0**-53) / k_d)
    if integral(fastest, down, -1.0) < taken:
        return fastest / v_0
    return float(brentq(lambda y: integral(y, down, -1.0) - taken, 0.0, fastest, xtol=1e-16, rtol=1e-15) / v_0)


def drop_elastic() -> Trace:
    """Drop from 50 mm, C_r = 1, with gravity: parabola, harmonic contact about the static depth, parabola."""
    k, height, stop = 1e5, 0.05, 0.18
    w = math.sqrt(k)
    t_0, v_0 = math.sqrt(2 * height / G), math.sqrt(2 * G * height)
    t_c = 2 / w * (math.pi - math.atan(w * v_0 / G))
    h_max = G / w**2 + math.hypot(G / w**2, v_0 / w)
    t = grid(stop, 1e-4)
    inside = t - t_0
    after = t - t_0 - t_c
    falling, touching = t < t_0, t < t_0 + t_c
    z = np.select(
        [falling, touching],
        [height - G * t**2 / 2, -G / w**2 + G / w**2 * np.cos(w * inside) - v_0 / w * np.sin(w * inside)],
        v_0 * after - G * after**2 / 2,
    )
    v = np.select(
        [falling, touching], [-G * t, -G / w * np.sin(w * inside) - v_0 * np.cos(w * inside)], v_0 - G * after
    )
    # the rebound is sampled up to one output step after release, the approach up to one before touch-down
    events = {"floor.touch[1]": t_0, "floor.duration[1]": t_c, "floor.peak_force[1]": k * h_max}
    return trace(
        "drop_elastic",
        "t_c = 2/w (pi - atan(w v0/g)), h_max = g/w^2 + sqrt((g/w^2)^2 + (v0/w)^2)",
        t,
        {Z: z, VZ: v},
        events,
    )


def _events(name: str, formula: str, stop: float, events: dict[str, float]) -> Trace:
    """A reference of events alone: the closed form gives them exactly, and no signal."""
    return reference(name, formula, [0.0, stop], {}, events)


_BALANCE = "e = y/v0 with int_0^v0 w/(1+d(w)) dw = int_0^y w/(1+d(-w)) dw"


def impact_half() -> Trace:
    """C_r = 0.5 and k_D = 10 s/m at 1 m/s without gravity: e = 0.50120818539908."""
    return _events("impact_half", _BALANCE, 0.02, {"floor.restitution[1]": effective_restitution(0.5, 0.5, 10.0, 1.0)})


def impact_tenth() -> Trace:
    """C_r = 0.1 and the default k_D = 100 s/m at 1 m/s."""
    return _events(
        "impact_tenth", _BALANCE, 0.08, {"floor.restitution[1]": effective_restitution(0.1, 0.5, 100.0, 1.0)}
    )


def impact_slow() -> Trace:
    """C_r = 0.5, k_D = 10 s/m at 0.1 m/s: damping hardly reaches its limits, so e = 0.609069 and not 0.5."""
    return _events("impact_slow", _BALANCE, 0.025, {"floor.restitution[1]": effective_restitution(0.5, 0.5, 10.0, 0.1)})


def impact_saturated() -> Trace:
    """C_r = 0.5, k_E = 0.5, damping always on its limits: Delta = 1 - k_E + C_r^2 k_E,

    h_max = v0 sqrt(m Delta/k),  F_max = v0 sqrt(k m/Delta),  t_c = pi/2 sqrt(m Delta/k) (1 + 1/C_r)."""
    k, c_r, k_e = 1e5, 0.5, 0.5
    delta = 1 - k_e + c_r**2 * k_e
    events = {
        "floor.restitution[1]": c_r,
        "floor.touch[1]": 1e-3,
        "floor.duration[1]": math.pi / 2 * math.sqrt(delta / k) * (1 + 1 / c_r),
        "floor.peak_force[1]": math.sqrt(k / delta),
        "floor.impulse[1]": 1 + c_r,
    }
    return _events("impact_saturated", "t_c = pi/2 sqrt(m Delta/k) (1 + 1/C_r)", 0.016, events)


def bounce_train() -> Trace:
    """Three bounces from 20 mm with C_r = 0.7 on a stiff floor, rigid limit: each rebound is e times the impact, so

    touch_n = sqrt(2 h0/g) (1 + 2 sum_(i=1)^(n-1) e^i).  Contact times (0.5 ms each) and the work of gravity during
    contact, O(g/(w v)) of e, are left out of it and belong into the tolerance."""
    e, h_0 = 0.7, 0.02
    fall = math.sqrt(2 * h_0 / G)
    events = {f"floor.touch[{n + 1}]": fall * (1 + 2 * sum(e**i for i in range(1, n + 1))) for n in range(3)}
    events |= {f"floor.restitution[{n + 1}]": e for n in range(3)}
    return _events("bounce_train", "touch_n = sqrt(2 h0/g) (1 + 2 sum e^i), rigid limit", 0.25, events)


def rest_on_floor() -> Trace:
    """Settling to the static depth m g/k: m z'' = k h (1 + k_D h') - m g, integrated by DOP853 (independent of the code
    under test) from 5 % above equilibrium; the damping ratio is g k_D sqrt(m/k)/2 = 0.4905 and h -> m g/k."""
    k, k_d = 1e6, 100.0
    depth = G / k
    t = grid(0.02, 1e-5)

    def motion(_: float, y: Array) -> list[float]:
        z, v = y
        return [v, k * max(-z, 0.0) * (1 - k_d * v) - G]

    solution = solve_ivp(motion, (0.0, t[-1]), [-0.95 * depth, 0.0], method="DOP853", rtol=1e-12, atol=1e-18, t_eval=t)
    assert abs(solution.y[0, -1] + depth) < 2e-3 * depth
    return trace("rest_on_floor", "m z'' = k h (1 + k_D h') - m g", t, {Z: solution.y[0], VZ: solution.y[1]}, {})


def sliding_block() -> Trace:
    """A block slides to a stop: v = v0 - mu g t down to vT = 1/k_T at t1, then v = vT exp(-mu g k_T (t - t1));
    stopping distance (v0^2 + vT^2)/(2 mu g) = 0.679595651 m."""
    mu, v_0, v_t = 0.3, 2.0, 0.01
    a = mu * G
    t_1, x_1 = (v_0 - v_t) / a, (v_0**2 - v_t**2) / (2 * a)
    t = grid(0.75, 1e-3)
    late = np.maximum(t - t_1, 0.0)
    ramp = np.exp(-a / v_t * late)
    sliding = t < t_1
    v = np.where(sliding, v_0 - a * t, v_t * ramp)
    x = np.where(sliding, v_0 * t - a * t**2 / 2, x_1 + v_t**2 / a * (1 - ramp))
    return trace("sliding_block", "stop distance (v0^2 + vT^2)/(2 mu g)", t, {X: x, VX: v}, {})


def incline_creep() -> Trace:
    """A block held by the friction ramp on a 10 degree incline creeps at tan(th)/(mu k_T) = 5.87756602e-3 m/s."""
    th, mu, k_t, k = math.radians(10.0), 0.3, 100.0, 1e6
    speed, depth = math.tan(th) / (mu * k_t), G * math.cos(th) / k
    t = grid(0.5, 1e-3)
    x = speed * math.cos(th) * t - depth * math.sin(th)
    z = -speed * math.sin(th) * t - depth * math.cos(th)
    v_x, v_z = speed * math.cos(th) + 0 * t, -speed * math.sin(th) + 0 * t
    return trace("incline_creep", "v = tan(th)/(mu k_T)", t, {X: x, Z: z, VX: v_x, VZ: v_z}, {})


def depth_limit() -> Trace:
    """Too fast for D_max = 2 mm: harmonic down to D_max, then no force; v = sqrt(v0^2 - k D_max^2/m), and the energy
    k D_max^2/2 = 0.2 J is destroyed by switching."""
    k, v_0, d_max, t_0 = 1e5, 1.0, 2e-3, 1e-3
    w = math.sqrt(k)
    t_1 = t_0 + math.asin(w * d_max / v_0) / w
    v_1 = math.sqrt(v_0**2 - k * d_max**2)
    t = grid(0.01, 1e-5)
    z = np.select([t < t_0, t < t_1], [1e-3 - v_0 * t, -v_0 / w * np.sin(w * (t - t_0))], -d_max - v_1 * (t - t_1))
    v = np.select([t < t_0, t < t_1], [-v_0 + 0 * t, -v_0 * np.cos(w * (t - t_0))], -v_1)
    switched = np.where(t < t_1, 0.0, k * d_max**2 / 2)
    return trace(
        "depth_limit",
        "v = sqrt(v0^2 - k D_max^2/m), W_switched = k D_max^2/2",
        t,
        {Z: z, VZ: v, "floor.energy.switched": switched},
        {},
    )


def _leave(name: str, t_1: float) -> Trace:
    """Contact that ends at t_1 while compressed: harmonic up to there, then free; switched energy k h(t_1)^2/2."""
    k, v_0, t_0 = 1e5, 1.0, 1e-3
    w = math.sqrt(k)
    t = grid(0.012, 1e-5)
    z_1, v_1 = -v_0 / w * math.sin(w * (t_1 - t_0)), -v_0 * math.cos(w * (t_1 - t_0))
    z = np.select([t < t_0, t < t_1], [1e-3 - v_0 * t, -v_0 / w * np.sin(w * (t - t_0))], z_1 + v_1 * (t - t_1))
    v = np.select([t < t_0, t < t_1], [-v_0 + 0 * t, -v_0 * np.cos(w * (t - t_0))], v_1)
    switched = np.where(t < t_1, 0.0, k * z_1**2 / 2)
    return trace(
        name,
        "W_switched = k h^2/2 at the instant of switching",
        t,
        {Z: z, VZ: v, "floor.energy.switched": switched},
        {},
    )


def patch_edge() -> Trace:
    """The point slides over the edge x = 10 mm of the floor at 2 m/s, 5 ms after the start, deep in the material."""
    return _leave("patch_edge", 5e-3)


def work_off() -> Trace:
    """`work` is switched off 4 ms after the start, in the middle of the compression: the floor stops pushing."""
    return _leave("work_off", 4e-3)


def _elastic_impact(name: str, stop: float = 0.0128, output_step: float = 1.6e-4) -> Trace:
    """Elastic impact without gravity at 1 m/s: the mass leaves with the speed it came with."""
    t = grid(stop, output_step)
    w = math.sqrt(1e5)
    t_0, t_c = 1e-3, math.pi / math.sqrt(1e5)
    v = np.select([t < t_0, t < t_0 + t_c], [-1.0 + 0 * t, -np.cos(w * (t - t_0))], 1.0)
    return trace(name, "v after = -v before", t, {VZ: v}, {"floor.impulse[1]": 2.0})


def converge_gauss_seidel() -> Trace:
    return _elastic_impact("converge_gauss_seidel")


def converge_jacobi() -> Trace:
    return _elastic_impact("converge_jacobi")


def coupled_hold() -> Trace:
    """The same with a force that is held over communication steps h = 1.5 ms, Gauss-Seidel: body, then floor,

    r' = r + h v + h^2 F/(2 m),   v' = v + h F/m,   F' = max(-k r', 0);
    pi/(w h) = 6.62 steps in a contact, exp(pi^2/(4 * 6.62)) = 1.45."""
    h, k = 1.5e-3, 1e5
    t = grid(0.018, h)
    r, v, force = 1e-3, -1.0, 0.0
    path = []
    for _ in t:
        path.append((r, v))
        r, v = r + h * v + 0.5 * h * h * force, v + h * force
        force = max(-k * r, 0.0)
    z, speed = np.transpose(path)
    return trace("coupled_hold", "r' = r + h v + h^2 F/(2 m), v' = v + h F/m, F' = -k r'", t, {Z: z, VZ: speed}, {})


def coupled_auto() -> Trace:
    """What coupled_hold should be: an impact without communication steps."""
    return _elastic_impact("coupled_auto", 0.018, 1.5e-3)


def never_stops() -> Trace:
    """Friction mu N sin^2(pi k_T v/2) below v_T = 1/k_T, mu N above:

    v = v_0 - mu g t                                            up to t_1 = (v_0 - v_T)/(mu g)
    v = v_T 2/pi arccot(a s),   a = pi k_T mu g/2,   s = t - t_1
    x = x_1 + v_T 2/pi (s arccot(a s) + ln(1 + a^2 s^2)/(2 a))"""
    mu, k_t, v_0 = 0.1, 10.0, 2.0
    t = grid(4.0, 0.01)
    v_t = 1.0 / k_t
    t_1 = (v_0 - v_t) / (mu * G)
    a, s = 0.5 * math.pi * k_t * mu * G, np.maximum(t - t_1, 0.0)
    angle = 0.5 * math.pi - np.arctan(a * s)
    share = 2.0 / math.pi * v_t
    early = np.minimum(t, t_1)
    x = v_0 * early - 0.5 * mu * G * early**2 + share * (s * angle + np.log1p((a * s) ** 2) / (2.0 * a))
    v = np.where(t < t_1, v_0 - mu * G * t, share * angle)
    return trace("never_stops", "v = 2/(pi k_T) arccot(pi k_T mu g (t - t_1)/2) after t_1", t, {X: x, VX: v}, {})


K_B, C_B = 1e6, 1e3  # of a bristle


def relaxing(t: Array, z_0: float) -> tuple[Array, Array]:
    """z'' + c z' + k z = 0 from z_0 at rest, for 1 kg on a bristle: z and z'."""
    rate, w = C_B / 2, math.sqrt(K_B - C_B**2 / 4)
    decay = z_0 * np.exp(-rate * t)
    return decay * (np.cos(w * t) + rate / w * np.sin(w * t)), -decay * K_B / w * np.sin(w * t)


def slide_and_stick(t: Array, v_0: float) -> tuple[Array, Array, Array]:
    """x, v and z of 1 kg with mu = 0.3 that slides to a stop on a level floor and is held there by a bristle.

    v = v0 - mu g t and z = R (1 - exp(-k t/c)), R = mu m g/k, while c v + k z > mu m g; then m z'' + c z' + k z = 0.
    At the change, t = v0/(mu g) up to some c/k exp(-k t/c), nothing is left of the speed, and z = R."""
    a = 0.3 * G
    stop, reach = v_0 / a, a / K_B
    slides = t < stop
    early, late = np.minimum(t, stop), np.maximum(t - stop, 0.0)
    z, rate = relaxing(late, reach)
    x = v_0 * early - 0.5 * a * early**2 + np.where(slides, 0.0, z - reach)
    return x, np.where(slides, v_0 - a * t, rate), np.where(slides, -reach * np.expm1(-K_B / C_B * t), z)


def bristle_holds() -> Trace:
    """From 0.1 m/s; where it stops exp(-k t/c) is 2e-15."""
    t = grid(0.05, 1e-4)
    x, v, z = slide_and_stick(t, 0.1)
    columns = {X: x, VX: v, "floor.deflection[1]": z}
    return trace("bristle_holds", "v = v0 - mu g t, then m z'' + c z' + k z = 0", t, columns, {})


CASES: tuple[Callable[[], Trace], ...] = (
    bounce_train,
    bristle_holds,
    converge_gauss_seidel,
    converge_jacobi,
    coupled_auto,
    coupled_hold,
    depth_limit,
    drop_elastic,
    impact_half,
    impact_saturated,
    impact_slow,
    impact_tenth,
    incline_creep,
    never_stops,
    patch_edge,
    rest_on_floor,
    sliding_block,
    work_off,
)

if __name__ == "__main__":
    write_references(CASES, __file__)
