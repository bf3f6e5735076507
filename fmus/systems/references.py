"""Closed forms and independent integrations behind the systems: `python references.py` writes every *_ref.csv anew.

None of this uses the code under test.

The closed forms of a mass on a floor are those of elements/point_surface/cases/references.py.

One family of functions: a reference for each system."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.interpolate import RectBivariateSpline
from scipy.linalg import eigh
from scipy.spatial.transform import Rotation
from scipy.special import airy, ellipe

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import grid, reference, write_references
from fmu_builder.paths import load_module, shipped

Array = NDArray[np.float64]


body_surface, point_surface = (
    load_module(shipped("elements") / element / "cases" / "references.py")
    for element in ("body_surface", "point_surface")
)
G, damping_limits, effective_restitution = (
    point_surface.G, point_surface.damping_limits, point_surface.effective_restitution,
)  # fmt: skip


def renamed(source: Trace, case: str, names: dict[str, str], events: dict[str, float]) -> Trace:
    """A reference of point_surface as that of an assembly: signals by their new names, and these events alone."""
    assert set(source.names) == set(names)
    return replace(
        source,
        names=tuple(names[n] for n in source.names),
        units={names[n]: u for n, u in source.units.items()},
        events=events,
        provenance={**source.provenance, "case": case},
    )


# ---- one contact -----------------------------------------------------------------------------------------------------


def ball_touches() -> Trace:
    """Elastic contact without gravity at 1 m/s: half an oscillation of w = sqrt(k/m), t_c = pi/w."""
    m, k, v_0, t_0 = 1.0, 1e5, 1.0, 1e-3
    w = math.sqrt(k / m)
    t_c = math.pi / w
    t = grid(0.02, 1e-5)
    inside = w * (t - t_0)
    before, during = t < t_0, t < t_0 + t_c
    z = np.select([before, during], [v_0 * (t_0 - t), -v_0 / w * np.sin(inside)], v_0 * (t - t_0 - t_c))
    v = np.select([before, during], [-v_0 + 0 * t, -v_0 * np.cos(inside)], v_0)
    columns = {
        "ball.height": (z, "m"),
        "ball.velocity": (v, "m/s"),
        "ball.floor.normal_force": (k * np.maximum(-z, 0.0), "N"),
        "ball.floor.impulse": (m * (v + v_0), "N.s"),
        "ball.floor.contact_time": (np.clip(t - t_0, 0.0, t_c), "s"),
    }
    events = {"ball.floor.touch[1]": t_0, "ball.floor.duration[1]": t_c, "ball.floor.restitution[1]": 1.0}
    return reference("ball_touches", "z = -v0/w sin(w t), t_c = pi/w", t, columns, events)


def ball_drops() -> Trace:
    """The drop of point_surface on an elastic floor, under gravity."""
    source = point_surface.drop_elastic()
    events = {f"ball.{n}": v for n, v in source.events.items() if "peak" not in n}
    return renamed(source, "ball_drops", {"body.p.r[3]": "ball.height", "body.p.v[3]": "ball.velocity"}, events)


def _rebound(case: str, stop: float, e: float, v_0: float, **more: float) -> Trace:
    """A ball that comes at v0 from 1 mm and leaves at e v0: m = 1 kg, no gravity."""
    events = {"restitution[1]": e, "impulse[1]": (1 + e) * v_0, "touch[1]": 1e-3 / v_0, "contact_count": 1.0, **more}
    time = np.array([0.0, stop])
    return reference(case, point_surface._BALANCE, time, {}, {f"ball.floor.{n}": v for n, v in events.items()})


def ball_rebounds() -> Trace:
    """C_r = 0.5 and k_D = 10 s/m at 1 m/s: e = 0.50120818539908."""
    return _rebound("ball_rebounds", 0.02, effective_restitution(0.5, 0.5, 10.0, 1.0), 1.0)


def ball_rebounds_slowly() -> Trace:
    """C_r = 0.5 and k_D = 10 s/m at 0.1 m/s: damping hardly reaches its limits, e = 0.609069."""
    return _rebound("ball_rebounds_slowly", 0.03, effective_restitution(0.5, 0.5, 10.0, 0.1), 0.1)


def ball_hardly_rebounds() -> Trace:
    """C_r = 0: no rebound is faster than 1/k_D, here 0.1 of 1 m/s."""
    return _rebound("ball_hardly_rebounds", 0.2, effective_restitution(0.0, 0.5, 10.0, 1.0), 1.0)


def ball_rebounds_saturated() -> Trace:
    """Damping on its limits but for 1/k_D = 1 nm/s: two half oscillations of different frequency,

    w_1 = sqrt(k/(m Delta)) in compression, C_r w_1 in restitution, t_c = pi/2 (1 + 1/C_r)/w_1."""
    k, c_r, k_e, t_0 = 1e5, 0.5, 0.5, 1e-3
    delta = 1 - k_e + c_r**2 * k_e
    w_1 = math.sqrt(k / delta)
    w_2 = c_r * w_1
    t_1 = t_0 + math.pi / 2 / w_1
    t_2 = t_1 + math.pi / 2 / w_2
    t = grid(0.016, 1e-5)
    phases = [t < t_0, t < t_1, t < t_2]
    z = np.select(phases, [t_0 - t, -np.sin(w_1 * (t - t_0)) / w_1, -np.cos(w_2 * (t - t_1)) / w_1], c_r * (t - t_2))
    v = np.select(phases, [-1 + 0 * t, -np.cos(w_1 * (t - t_0)), c_r * np.sin(w_2 * (t - t_1))], c_r)
    columns = {"ball.height": (z, "m"), "ball.velocity": (v, "m/s")}
    events = {"restitution[1]": c_r, "touch[1]": t_0, "duration[1]": t_2 - t_0, "impulse[1]": 1 + c_r}
    formula = "h_max = v0 sqrt(m Delta/k), t_c = pi/2 sqrt(m Delta/k) (1 + 1/C_r)"
    named = {f"ball.floor.{n}": x for n, x in events.items()}
    return reference("ball_rebounds_saturated", formula, t, columns, named)


def bodies_collide() -> Trace:
    """1 kg at 1 m/s meets 2 kg at rest: the relative speed rebounds as that of one mass m_1 m_2/(m_1 + m_2) would, and
    the momentum stays:  v_1 = (m_1 - m_2 e) v/(m_1 + m_2),  v_2 = m_1 (1 + e) v/(m_1 + m_2)."""
    m_1, m_2, v = 1.0, 2.0, 1.0
    e = effective_restitution(0.5, 0.5, 100.0, v)
    events = {"touch[1]": 1e-3, "restitution[1]": e, "impulse[1]": m_1 * m_2 / (m_1 + m_2) * (1 + e) * v}
    named = {f"bodies.contact.{n}": x for n, x in events.items()}
    return reference("bodies_collide", "J = m_1 m_2/(m_1 + m_2) (1 + e) v", np.array([0.0, 0.03]), {}, named)


# ---- rest and friction -----------------------------------------------------------------------------------------------


def ball_settles() -> Trace:
    """The settling of point_surface to the static depth, at every tenth of its times."""
    names = {"body.p.r[3]": "ball.height", "body.p.v[3]": "ball.velocity"}
    source = point_surface.rest_on_floor()
    return renamed(replace(source, time=source.time[::10], values=source.values[::10]), "ball_settles", names, {})


def block_never_stops() -> Trace:
    """The block of point_surface with the sine law."""
    names = {"body.p.r[1]": "block.position", "body.p.v[1]": "block.velocity"}
    return renamed(point_surface.never_stops(), "block_never_stops", names, {})


def block_slides() -> Trace:
    """The sliding block of point_surface: stop distance (v0^2 + vT^2)/(2 mu g)."""
    names = {"body.p.r[1]": "block.position", "body.p.v[1]": "block.velocity"}
    return renamed(point_surface.sliding_block(), "block_slides", names, {})


def block_creeps() -> Trace:
    """A block starts at rest on a 10 degree incline, at the static depth, and comes to creep:

        m x'' = m g + N n - mu N k_T v_t,   N = k h (1 + k_D h'),   h = -x n,   n = (sin th, cos th) in the plane x, z

    while |v_t| < 1/k_T and damping is below its limits.  Integrated by DOP853 at rtol 1e-13."""
    th, mu, k_t, k, k_d = math.radians(10.0), 0.3, 100.0, 1e6, 100.0
    n, along = np.array([math.sin(th), math.cos(th)]), np.array([math.cos(th), -math.sin(th)])
    t = grid(0.2, 1e-3)

    def motion(_: float, y: Array) -> Array:
        x, v = y[:2], y[2:]
        h, w, slip = -(x @ n), -(v @ n), v @ along
        normal = k * h * (1 + k_d * w)
        return np.array([*v, *(normal * n - mu * normal * k_t * slip * along - np.array([0.0, G]))])

    depth = G * math.cos(th) / k
    begin = [*(-depth * n), 0.0, 0.0]
    solution = solve_ivp(motion, (0.0, t[-1]), begin, method="DOP853", rtol=1e-13, atol=1e-17, t_eval=t)
    x, z, v_x, v_z = solution.y
    assert abs(v_x[-1] - math.tan(th) / (mu * k_t) * math.cos(th)) < 1e-12
    columns = {
        "block.position[1]": (x, "m"),
        "block.position[3]": (z, "m"),
        "block.velocity[1]": (v_x, "m/s"),
        "block.velocity[3]": (v_z, "m/s"),
    }
    return reference("block_creeps", "m x'' = m g + N n - mu N k_T v_t, DOP853 at rtol 1e-13", t, columns)


# ---- many contacts ---------------------------------------------------------------------------------------------------


def bounces(
    time: Array, height: float, *, k: float = 1e5, c_r: float = 0.5, k_d: float = 100.0, k_e: float = 0.5
) -> tuple[Array, list[float], list[float]]:
    """A ball of 1 kg dropped on a floor: z and v at `time`, shape (2, n), and the times of touch and of release.

    m z'' = k h (1 + d(h')) - m g with h = -z while h > 0: in flight its parabola, in contact DOP853 at rtol 1e-13;
    its error control meets the kinks of d."""
    low, high = damping_limits(c_r, k_e)

    def motion(_: float, y: Array) -> list[float]:
        return [y[1], -k * y[0] * (1 + min(max(low, -k_d * y[1]), high)) - G]

    def leaves(_: float, y: Array) -> float:
        return float(y[0])

    leaves.terminal, leaves.direction = True, 1.0  # type: ignore[attr-defined]
    found = np.empty((2, len(time)))
    touches: list[float] = []
    releases: list[float] = []
    t, z, v = 0.0, height, 0.0
    while True:
        flying = t + (v + math.sqrt(v * v + 2 * G * z)) / G
        inside = (time >= t) & (time <= flying)
        since = time[inside] - t
        found[:, inside] = z + v * since - G * since**2 / 2, v - G * since
        if flying >= time[-1]:
            return found, touches, releases
        touches.append(flying)
        part = solve_ivp(
            motion, (flying, time[-1]), [0.0, v - G * (flying - t)], "DOP853", dense_output=True, events=leaves,
            rtol=1e-13, atol=1e-17,
        )  # fmt: skip
        t, (z, v) = part.t[-1], (0.0, part.y[1, -1])
        inside = (time >= flying) & (time <= t)
        if inside.any():
            found[:, inside] = part.sol(time[inside])
        if not part.t_events[0].size:
            return found, touches, releases
        releases.append(t)


def ball_bounces() -> Trace:
    """A ball dropped from 1 m with C_r = 0.5: five bounces, then it settles."""
    t = grid(2.0, 1e-3)
    (z, v), touches, _ = bounces(t, 1.0)
    columns = {"ball.height": (z, "m"), "ball.velocity": (v, "m/s")}
    events = {"ball.floor.contact_count": float(len(touches))}
    return reference("ball_bounces", "m z'' = k h (1 + d(h')) - m g, DOP853 at rtol 1e-13", t, columns, events)


# ---- friction with memory --------------------------------------------------------------------------------------------

K_B, C_B, relaxing = point_surface.K_B, point_surface.C_B, point_surface.relaxing  # the block has 1 kg


def on_the_slope(case: str, formula: str, t: Array, along: Array, deflection: Array) -> Trace:
    """A block `along` the plate of BlockHeld from the start, at the static depth."""
    th, depth = math.radians(10.0), G * math.cos(math.radians(10.0)) / 1e6
    columns = {
        "block.position[1]": (along * math.cos(th) - depth * math.sin(th), "m"),
        "block.position[3]": (-along * math.sin(th) - depth * math.cos(th), "m"),
        "block.plate.deflection[1]": (deflection, "m"),
    }
    return reference(case, formula, t, columns)


def block_stays() -> Trace:
    """The bristle is relaxed at the start; the block swings to T/k, T = m g sin(th), and stays there."""
    t, rest = grid(1000.0, 10.0), G * math.sin(math.radians(10.0)) / K_B
    z = rest - relaxing(t, rest)[0]
    return on_the_slope("block_stays", "m z'' + c z' + k z = m g sin(th)", t, z, z)


def block_is_shaken() -> Trace:
    """The plate moves by A (cos(W t) - 1) along its slope: relative to it

    m z'' + c z' + k z = m g sin(th) + m A W^2 cos(W t),  z(0) = z'(0) = 0."""
    t, amplitude, w = grid(21.0, 35e-3), 1e-4, 20.0 * math.pi
    response = amplitude * w**2 / complex(K_B - w**2, C_B * w)
    rest = G * math.sin(math.radians(10.0)) / K_B
    swing = (response * np.exp(1j * w * t)).real
    rate, own = C_B / 2, math.sqrt(K_B - C_B**2 / 4)
    z_0, v_0 = -rest - response.real, w * response.imag  # of the part that dies away
    decaying = np.exp(-rate * t) * (z_0 * np.cos(own * t) + (v_0 + rate * z_0) / own * np.sin(own * t))
    z = rest + swing + decaying
    formula = "m z'' + c z' + k z = m g sin(th) + m A W^2 cos(W t)"
    return on_the_slope("block_is_shaken", formula, t, z + amplitude * (np.cos(w * t) - 1.0), z)


def block_slides_and_sticks() -> Trace:
    """From 1 m/s on a level plate; where it stops exp(-k t/c) is 1e-148."""
    t = grid(0.36, 1e-3)
    x, v, z = point_surface.slide_and_stick(t, 1.0)
    columns = {"block.position[1]": (x, "m"), "block.velocity[1]": (v, "m/s"), "block.plate.deflection[1]": (z, "m")}
    return reference("block_slides_and_sticks", "v = v0 - mu g t, then m z'' + c z' + k z = 0", t, columns)


def block_is_turned() -> Trace:
    """In the frame that turns at w, as the complex number s = x + i y:

    m (s'' + 2 i w s' - w^2 s) = -k (s - s_0) - c s',  s(0) = s_0, s'(0) = 0;  in the world s exp(i w t)."""
    t, w, s_0 = grid(10.0, 0.02), 4.0, 0.1
    roots = np.roots([1.0, C_B + 2j * w, K_B - w**2])
    rest = K_B * s_0 / (K_B - w**2)
    shares = np.linalg.solve(np.array([[1.0, 1.0], roots]), np.array([s_0 - rest, 0.0]))
    modes = np.exp(np.outer(t, roots))
    s, rate = rest + modes @ shares, modes @ (roots * shares)
    position, velocity = s * np.exp(1j * w * t), (rate + 1j * w * s) * np.exp(1j * w * t)
    columns = {
        "block.position[1]": (position.real, "m"),
        "block.position[2]": (position.imag, "m"),
        "block.velocity[1]": (velocity.real, "m/s"),
        "block.velocity[2]": (velocity.imag, "m/s"),
        "block.plate.deflection[1]": ((s - s_0).real, "m"),
    }
    return reference("block_is_turned", "m (s'' + 2 i w s' - w^2 s) = -k (s - s_0) - c s'", t, columns)


def block_creeps_by_sine() -> Trace:
    """v' = g tan(th) - mu g sin^2(u), u = pi k_T v/2: of tan(u) this is w' = (pi k_T/2) (a - b w^2), a = g tan(th),
    b = mu g - a, so

    v = 2/(pi k_T) atan(sqrt(a/b) tanh(pi k_T/2 sqrt(a b) t))"""
    mu, k_t, a = 0.3, 100.0, G * math.tan(math.radians(10.0))
    t, b, share = grid(0.2, 1e-3), mu * G - a, 2.0 / (math.pi * k_t)

    def speed(time: float | Array) -> Array:
        return np.asarray(share * np.arctan(math.sqrt(a / b) * np.tanh(math.sqrt(a * b) / share * time)))

    x = solve_ivp(lambda time, _: [float(speed(time))], (0.0, t[-1]), [0.0], "DOP853", rtol=1e-13, atol=1e-18, t_eval=t)
    columns = {"block.position": (x.y[0], "m"), "block.velocity": (speed(t), "m/s")}
    return reference("block_creeps_by_sine", "v = 2/(pi k_T) atan(sqrt(a/b) tanh(pi k_T/2 sqrt(a b) t))", t, columns)


def block_sticks_and_slips() -> Trace:
    """A block of 1 kg on a belt at 0.1 m/s and a spring k: m v' = -k x - F, u = v - 0.1 m/s,

    F_h = k_B z + c_B u,  F = F_h min(1, L/|F_h|),  z' = (F - k_B z)/c_B
    L = m g (mu_k + (mu_s - mu_k) exp(-(u/v_s)^2)), mu_s m g while it sticks

    from one change of stick and slip to the next."""
    k, k_b, c_b, t = 100.0, 1e4, 100.0, grid(2.0, 5e-3)

    def over(y: Array) -> tuple[float, float]:
        u = y[1] - 0.1
        return k_b * y[2] + c_b * u, G * (0.25 + 0.15 * (math.exp(-((u / 0.01) ** 2)) if slips else 1.0))

    def motion(_: float, y: Array) -> list[float]:
        holds, limit = over(y)
        force = math.copysign(limit, holds) if slips else holds
        return [y[1], -k * y[0] - force, (force - k_b * y[2]) / c_b if slips else y[1] - 0.1]

    def changes(_: float, y: Array) -> float:
        holds, limit = over(y)
        return abs(holds) - limit

    changes.terminal = True  # type: ignore[attr-defined]
    found, now, state, slips = np.zeros((len(t), 3)), 0.0, np.array([1e-3, 0.1, 0.0]), False
    while True:
        changes.direction = -1.0 if slips else 1.0  # type: ignore[attr-defined]
        rest = t[t >= now]
        solution = solve_ivp(
            motion, (now, t[-1]), state, "DOP853", rtol=1e-13, atol=1e-16, t_eval=rest, events=changes, max_step=0.01
        )
        first = len(t) - len(rest)
        found[first : first + solution.y.shape[1]] = solution.y.T
        if solution.status == 0:
            break
        now, state, slips = solution.t_events[0][0], solution.y_events[0][0], not slips
    columns = {
        "belt.position": (found[:, 0], "m"),
        "belt.velocity": (found[:, 1], "m/s"),
        "belt.belt.deflection[1]": (found[:, 2], "m"),
    }
    return reference(
        "block_sticks_and_slips", "m v' = -k x - F, z' = (F - k_B z)/c_B, DOP853 at rtol 1e-13", t, columns
    )


# ---- torsion springs -------------------------------------------------------------------------------------------------


def inertia_swings() -> Trace:
    """An inertia J on a torsion spring k, let go at theta0: theta = theta0 cos(w t), w = sqrt(k/J), t = k theta."""
    inertia, k, theta_0 = 0.1, 10.0, 0.3
    t, w = grid(2.0, 0.01), math.sqrt(k / inertia)
    theta = theta_0 * np.cos(w * t)
    columns = {
        "pendulum.angle": (theta, "rad"),
        "pendulum.velocity": (-theta_0 * w * np.sin(w * t), "rad/s"),
        "pendulum.torque": (k * theta, "N.m"),
    }
    return reference("inertia_swings", "theta = theta0 cos(w t), w = sqrt(k/J), t = k theta", t, columns)


def inertias_swing() -> Trace:
    """Two free inertias: theta = theta0 cos(w t), w = sqrt(k (1/J_1 + 1/J_2)).  Their momenta are opposite, as both
    were at rest:  w_1 = J_2/(J_1 + J_2) theta',  w_2 = -J_1/(J_1 + J_2) theta'."""
    j_1, j_2, k, theta_0 = 0.1, 0.3, 10.0, 0.3
    t, w = grid(2.0, 0.01), math.sqrt(k * (1 / j_1 + 1 / j_2))
    theta, rate = theta_0 * np.cos(w * t), -theta_0 * w * np.sin(w * t)
    columns = {
        "inertias.twist": (theta, "rad"),
        "inertias.first_velocity": (j_2 / (j_1 + j_2) * rate, "rad/s"),
        "inertias.second_velocity": (-j_1 / (j_1 + j_2) * rate, "rad/s"),
        "inertias.torque": (k * theta, "N.m"),
    }
    return reference("inertias_swing", "theta = theta0 cos(w t), w = sqrt(k (1/J_1 + 1/J_2)), t = k theta", t, columns)


# ---- a spring between two points -------------------------------------------------------------------------------------


def mass_orbits_on_spring() -> Trace:
    """A spring without length is harmonic in all directions: r = r0 cos(w t) + v0/w sin(w t), an ellipse."""
    k, m, t = 100.0, 1.0, grid(2.0, 1e-2)
    w, r_0, v_0 = math.sqrt(k / m), np.array([0.3, 0.0, 0.0]), np.array([0.0, 1.0, 0.5])
    c, s = np.cos(w * t)[:, None], np.sin(w * t)[:, None]
    r, v = r_0 * c + v_0 / w * s, v_0 * c - r_0 * w * s
    columns = {f"mass.position[{i + 1}]": (r[:, i], "m") for i in range(3)}
    columns |= {f"mass.velocity[{i + 1}]": (v[:, i], "m/s") for i in range(2)}
    columns["mass.spring.F"] = (k * np.linalg.norm(r, axis=1), "N")
    return reference("mass_orbits_on_spring", "r = r0 cos(w t) + v0/w sin(w t), w = sqrt(k/m)", t, columns)


def spring_pendulum_rings() -> Trace:
    """Let go at l0: l = l0 + s - s exp(-b t) (cos(w t) + b/w sin(w t)), s = m g/k, b = d/(2 m), w^2 = k/m - b^2."""
    k, m, d, l_0, t = 100.0, 1.0, 2.0, 0.5, grid(2.0, 1e-2)
    sag, b = m * G / k, d / (2.0 * m)
    w = math.sqrt(k / m - b * b)
    fall = np.exp(-b * t)
    length = l_0 + sag - sag * fall * (np.cos(w * t) + b / w * np.sin(w * t))
    rate = sag * fall * (k / m) / w * np.sin(w * t)
    x = length - l_0
    lost = m * G * x - 0.5 * k * x**2 - 0.5 * m * rate**2
    columns = {
        "mass.position[3]": (-length, "m"),
        "mass.velocity[3]": (-rate, "m/s"),
        "mass.spring.length": (length, "m"),
        "mass.spring.F": (k * x + d * rate, "N"),
        "mass.spring.energy.damping": (lost, "J"),
    }
    return reference("spring_pendulum_rings", "l = l0 + s - s exp(-b t) (cos(w t) + b/w sin(w t))", t, columns)


def spring_pendulum_swings() -> Trace:
    """By length l, angle a from below and angle p about the upright, with L = m l^2 sin^2 a p' kept:

    l'' = l a'^2 + L^2/(m^2 l^3 sin^2 a) + g cos a - k/m (l - l0)
    l a'' = -2 l' a' + L^2 cos a/(m^2 l^3 sin^3 a) - g sin a"""
    k, m, l_0, t = 100.0, 1.0, 0.5, grid(2.0, 1e-2)
    turning = m * 0.2 * 1.0  # L: 1 m/s across at 0.2 m

    def slope(_: float, y: Array) -> list[float]:
        length, a, _, l_t, a_t = y
        s, c = math.sin(a), math.cos(a)
        p_t = turning / (m * (length * s) ** 2)
        l_tt = length * (a_t**2 + (p_t * s) ** 2) + G * c - k / m * (length - l_0)
        return [l_t, a_t, p_t, l_tt, (-2.0 * l_t * a_t - G * s) / length + p_t**2 * s * c]

    start = [math.hypot(0.2, 0.5), math.atan2(0.2, 0.5), 0.0, 0.0, 0.0]
    length, a, p, _, _ = solve_ivp(slope, (0.0, 2.0), start, "DOP853", t, rtol=1e-13, atol=1e-14).y
    across = length * np.sin(a)
    columns = {
        "mass.position[1]": (across * np.cos(p), "m"),
        "mass.position[2]": (across * np.sin(p), "m"),
        "mass.position[3]": (-length * np.cos(a), "m"),
        "mass.spring.length": (length, "m"),
        "mass.spring.F": (k * (length - l_0), "N"),
    }
    return reference("spring_pendulum_swings", "spherical coordinates, DOP853 at rtol 1e-13", t, columns)


# ---- a row of masses and springs -------------------------------------------------------------------------------------


def train_rings() -> Trace:
    """N equal masses m in a row between two walls, joined by springs k; mass p is struck and starts with v0:

    v_i = v0 sum_j 2/(N + 1) sin(i j pi/(N + 1)) sin(p j pi/(N + 1)) cos(w_j t)
    w_j = 2 sqrt(k/m) sin(j pi/2/(N + 1))
    """
    n, struck, m, k, v_0 = 100, 50, 1.0, 1e4, 1.0
    t, mode = grid(2.0, 0.01), np.arange(1, n + 1)
    w = 2 * math.sqrt(k / m) * np.sin(mode * math.pi / (2 * (n + 1)))
    columns = {}
    for i in (1, struck, n):
        share = 2 / (n + 1) * np.sin(i * mode * math.pi / (n + 1)) * np.sin(struck * mode * math.pi / (n + 1))
        columns[f"train.position[{i}]"] = (v_0 * np.sin(np.outer(t, w)) @ (share / w), "m")
        columns[f"train.velocity[{i}]"] = (v_0 * np.cos(np.outer(t, w)) @ share, "m/s")
    return reference(
        "train_rings", "v_i = v0 sum_j phi_j(i) phi_j(p) cos(w_j t), w_j = 2 sqrt(k/m) sin(...)", t, columns
    )


# ---- a body in the plane ---------------------------------------------------------------------------------------------


def row(x: float, y: float, angle: float) -> Array:
    """B of a point at (x, y) that moves along a line at the angle by B (x, y, theta)'."""
    return np.array([math.cos(angle), math.sin(angle), x * math.sin(angle) - y * math.cos(angle)])


POINTS = np.array([row(-0.3, 0.0, math.pi / 2), row(0.25, -0.1, math.radians(60.0)), row(0.0, 0.1, 0.0)])
STIFFNESSES, MASSES = np.array([500.0, 800.0, 300.0]), np.array([2.0, 2.0, 0.05])


def three_springs(t: Array, gravity: Array, velocity: Array) -> tuple[Array, Array]:
    """The body of BodyOnThreeSprings, let go with its springs relaxed: q = (x, y, theta), shape (n, 3), and the forces
    of the springs.

        M q'' + K q = M g,   K = sum k B^T B,   K p = W^2 M p with p^T M p = 1
        q = q_s + sum p (-p^T M q_s cos(W t) + p^T M q'(0) sin(W t)/W),   K q_s = M g"""
    mass, stiffness = np.diag(MASSES), POINTS.T @ np.diag(STIFFNESSES) @ POINTS
    squares, modes = eigh(stiffness, mass)
    w, rest = np.sqrt(squares), np.linalg.solve(stiffness, mass @ gravity)
    cosines, sines = -modes.T @ mass @ rest, modes.T @ mass @ velocity / w
    q = rest + (np.cos(np.outer(t, w)) * cosines + np.sin(np.outer(t, w)) * sines) @ modes.T
    return q, q @ POINTS.T * STIFFNESSES


def body_swings() -> Trace:
    """Under gravity, with a start velocity in each direction: all three modes, 2 s are 4 to 15 periods."""
    t = grid(2.0, 0.01)
    q, forces = three_springs(t, np.array([0.0, -G, 0.0]), np.array([0.2, 0.1, 1.5]))
    names = [("x", "m"), ("y", "m"), ("angle", "rad")]
    columns = {f"body.{name}": (q[:, k], unit) for k, (name, unit) in enumerate(names)}
    columns |= {f"body.{name}_force": (forces[:, k], "N") for k, name in enumerate(("left", "right", "side"))}
    return reference("body_swings", "q = q_s + modes of K p = W^2 M p, K = sum k B^T B", t, columns)


# ---- a pendulum on a floor -------------------------------------------------------------------------------------------


def pendulum_falls_on_floor() -> Trace:
    """A rod of 1 m and 1 kg falls from the horizontal; its tip meets a floor at z = -0.8 m, where h = cos(phi) - 0.8:
    J phi'' = sin(phi) (k h - m g l/2), k h > 0 in contact only.  DOP853 at rtol 1e-13, from one touch or release to the
    next."""
    m, inertia, k, depth = 1.0, 1.0 / 3.0, 1e5, 0.8
    t = grid(1.2, 0.005)

    def height(_: float, y: Array) -> float:
        return depth - math.cos(float(y[0]))

    height.terminal = True  # type: ignore[attr-defined]
    y, found, time, touching = np.array([math.pi / 2, 0.0]), np.zeros((2, len(t))), 0.0, False
    while time < t[-1]:

        def motion(_: float, y: Array) -> Array:
            force = k * (math.cos(y[0]) - depth) if touching else 0.0  # noqa: B023
            return np.array([y[1], math.sin(y[0]) * (force - 0.5 * m * G) / inertia])

        height.direction = 1.0 if touching else -1.0  # type: ignore[attr-defined]
        run = solve_ivp(
            motion, (time, t[-1]), y, "DOP853", events=height, rtol=1e-13, atol=1e-15, dense_output=True, max_step=1e-2
        )
        inside = (t >= time) & (t <= run.t[-1])
        found[:, inside] = run.sol(t[inside])
        time, y, touching = float(run.t[-1]), run.y[:, -1], not touching
    columns = {"pendulum.angle": (found[0], "rad"), "pendulum.velocity": (found[1], "rad/s")}
    return reference("pendulum_falls_on_floor", "J phi'' = sin(phi) (k h - m g l/2), DOP853 at rtol 1e-13", t, columns)


# ---- points on surfaces ----------------------------------------------------------------------------------------------


Place = Callable[[float, Array], tuple[float, Array]]  # time, position -> depth, m, and normal of a surface
NUMERICAL = "r'' = C_F h n/m - g, DOP853 at rtol 1e-13"


def on_surface(t: Array, r_0: Array, v_0: Array, place: Place, gravity: float = G) -> tuple[Array, Array]:
    """Position and velocity, (n, 3) each, of 1 kg on a smooth elastic surface of 1e6 N/m: r'' = 1e6 h n - g.
    DOP853 at rtol 1e-13, from one touch or release to the next."""

    def motion(time: float, y: Array) -> Array:
        h, n = place(time, y[:3])
        return np.concatenate([y[3:], (1e6 * h * n if touching else 0.0 * n) - [0.0, 0.0, gravity]])

    def passes(time: float, y: Array) -> float:
        return place(time, y[:3])[0]

    passes.terminal = True  # type: ignore[attr-defined]
    found, now, state = np.zeros((len(t), 6)), t[0], np.concatenate([r_0, v_0])
    touching = place(now, r_0)[0] > 0.0
    while True:
        passes.direction = -1.0 if touching else 1.0  # type: ignore[attr-defined]
        rest = t[t >= now]
        solution = solve_ivp(motion, (now, t[-1]), state, "DOP853", rtol=1e-13, atol=1e-16, t_eval=rest, events=passes)
        first = len(t) - len(rest)
        found[first : first + solution.y.shape[1]] = solution.y.T
        if solution.status == 0:
            return found[:, :3], found[:, 3:]
        now, state, touching = solution.t_events[0][0], solution.y_events[0][0], not touching


def of_a_point(case: str, slave: str, formula: str, t: Array, r: Array, v: Array) -> Trace:
    columns = {f"{slave}.position[{k + 1}]": (r[:, k], "m") for k in range(3)}
    columns |= {f"{slave}.velocity[{k + 1}]": (v[:, k], "m/s") for k in range(3)}
    return reference(case, formula, t, columns)


def mass_slides_off() -> Trace:
    """Down a ball of 100 mm, off it, and on in a parabola.  Rigid limit: it leaves at cos = 2/3 + v0^2/(3 g R)."""

    def ball(_: float, r: Array) -> tuple[float, Array]:
        away = math.sqrt(r @ r)
        return 0.1 - away, r / away

    t = grid(0.4, 2e-3)
    r, v = on_surface(t, np.array([0.0, 0.0, 99.99029e-3]), np.array([0.1, 0.0, 0.0]), ball)
    return of_a_point("mass_slides_off", "slope", NUMERICAL, t, r, v)


def bead_swings_in_bowl() -> Trace:
    """A spherical pendulum: inside a hollow sphere of 100 mm."""
    t, r, v = swinging_bead()
    return of_a_point("bead_swings_in_bowl", "bowl", NUMERICAL, t, r, v)


def bead_swings_in_mesh_bowl() -> Trace:
    """The same: the sphere whose points are the corners of the mesh."""
    t, r, v = swinging_bead()
    return of_a_point("bead_swings_in_mesh_bowl", "bowl", NUMERICAL, t, r, v)


def swinging_bead() -> tuple[Array, Array, Array]:
    """Times, positions and velocities."""

    def bowl(_: float, r: Array) -> tuple[float, Array]:
        away = math.sqrt(r @ r)
        return away - 0.1, -r / away

    t = grid(0.4, 5e-3)
    return t, *on_surface(t, np.array([80.0098288e-3, 0.0, -60.0073716e-3]), np.array([0.0, 0.8, 0.0]), bowl)


def puck_glides_over_road() -> Trace:
    """Over more than a period.  The road by FITPACK, through its heights over nine periods: the ends are not felt in
    the middle.  Its closest point by Newton's method from below the puck."""
    road = tomllib.loads((shipped("fmus") / "PointRoad.toml").read_text(encoding="utf-8"))["surface"]
    heights = np.array(road["heights"]).T
    x = np.arange(-4 * len(heights), 5 * len(heights) + 1)
    z = RectBivariateSpline(x * 2.0 / len(heights), np.linspace(-0.5, 0.5, 5), heights[x % len(heights)], s=0)

    def place(_: float, r: Array) -> tuple[float, Array]:
        at = r[:2].copy()
        for _step in range(4):
            slope = np.array([z.ev(*at, dx=1), z.ev(*at, dy=1)])
            bend = np.array([[z.ev(*at, dx=2), z.ev(*at, dx=1, dy=1)], [0.0, z.ev(*at, dy=2)]])
            bend[1, 0] = bend[0, 1]
            off = z.ev(*at) - r[2]
            at -= np.linalg.solve(np.eye(2) + np.outer(slope, slope) + off * bend, at - r[:2] + off * slope)
        n = np.array([-z.ev(*at, dx=1), -z.ev(*at, dy=1), 1.0])
        n /= math.sqrt(n @ n)
        return float((np.array([*at, z.ev(*at)]) - r) @ n), n

    t = grid(0.8, 10e-3)
    r, v = on_surface(t, np.array([0.0, 0.1, 3.582e-3]), np.array([3.0, 0.0, 61.22e-3]), place)
    return of_a_point("puck_glides_over_road", "puck", NUMERICAL, t, r, v)


def marble_runs_in_funnel() -> Trace:
    """Round in a funnel of 45 deg, slower than on the circle v^2 = g d, so that it comes down and rises again."""

    def funnel(_: float, r: Array) -> tuple[float, Array]:
        d = math.hypot(r[0], r[1])
        n = np.array([-r[0] / d, -r[1] / d, 1.0]) / math.sqrt(2.0)
        return float(-n @ r), n

    t = grid(0.4, 5e-3)
    r, v = on_surface(t, np.array([100.006705e-3, 0.0, 99.993295e-3]), np.array([0.0, 0.6, 0.0]), funnel)
    return of_a_point("marble_runs_in_funnel", "funnel", NUMERICAL, t, r, v)


def marble_runs_in_tube() -> Trace:
    """Along a ring-shaped tube, from its widest line, where only the speed holds it, down and up again."""

    def tube(_: float, r: Array) -> tuple[float, Array]:
        d = math.hypot(r[0], r[1])
        out = r - np.array([0.1 * r[0] / d, 0.1 * r[1] / d, 0.0])
        away = math.sqrt(out @ out)
        return away - 0.03, -out / away

    t = grid(0.4, 5e-3)
    r, v = on_surface(t, np.array([130.001923e-3, 0.0, 0.0]), np.array([0.0, 0.5, 0.0]), tube)
    return of_a_point("marble_runs_in_tube", "tube", NUMERICAL, t, r, v)


def bead_is_thrown_out() -> Trace:
    """A pipe of 50 mm along z turns about x with 4 rad/s, no gravity.  Were the bead held across, z = z_0 cosh(w t)."""

    def pipe(time: float, r: Array) -> tuple[float, Array]:
        s, c = math.sin(4.0 * time), math.cos(4.0 * time)
        across = np.array([r[0], c * r[1] + s * r[2]])
        away = math.hypot(*across)
        x, y = across / away
        return away - 0.05, -np.array([x, c * y, s * y])

    t = grid(0.5, 5e-3)
    lean = 0.05 + 16 * 0.05 / (1e6 - 16)  # where C_F h = m w^2 (R + h)
    r, v = on_surface(t, np.array([0.0, lean, 0.1]), np.array([0.0, -0.4, 4.0 * lean]), pipe, gravity=0.0)
    return of_a_point("bead_is_thrown_out", "pipe", NUMERICAL, t, r, v)


def bead_rests_in_spinning_bowl() -> Trace:
    """With the bowl, which turns at w = 12 rad/s and moves along, friction and all: C_F h = m w^2 (R + h),
    cos = g/(w^2 (R + h)), a circle about a point that moves evenly."""
    w, t = 12.0, grid(1.0, 5e-3)
    away = 0.1 + w**2 * 0.1 / (1e6 - w**2)
    c = G / (w**2 * away)
    s = math.sqrt(1.0 - c**2)
    x, y = np.cos(w * t), np.sin(w * t)
    drift = np.array([0.5, 0.0, 0.2])
    r = away * np.column_stack([s * x, s * y, -c + 0.0 * t]) + t[:, None] * drift
    v = away * w * s * np.column_stack([-y, x, 0.0 * t]) + drift
    formula = "cos = g/(w^2 (R + h)), C_F h = m w^2 (R + h)"
    return of_a_point("bead_rests_in_spinning_bowl", "bowl", formula, t, r, v)


# ---- a block on four points ------------------------------------------------------------------------------------------


def block_motion(_: float, state: Array) -> list[float]:
    """Newton and Euler for a block of 1 kg and 0.4 m by 0.3 m by 0.2 m with contacts at the corners of its base, in
    plain numbers, for speed.  State: r, v, q (body to world), body rates w.

    m r'' = sum F + m g   q' = q (0, w)/2   J w' + w x J w = sum p x R^T F
    F = N (e_z - mu min(k_T, 1/|v_t|) v_t),  N = k h (1 + d(h')),  h = -z of the corner, while h > 0"""
    k, c_r, mu, k_d, k_e, k_t = 1e5, 0.5, 0.3, 100.0, 0.5, 100.0
    low, high = damping_limits(c_r, k_e)
    jx, jy, jz = 0.13 / 12, 0.2 / 12, 0.25 / 12
    _x, _y, z, vx, vy, vz, q0, q1, q2, q3, wx, wy, wz = state.tolist()
    s = 2 / (q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3)
    xx, xy, xz = 1 - s * (q2 * q2 + q3 * q3), s * (q1 * q2 - q0 * q3), s * (q1 * q3 + q0 * q2)
    yx, yy, yz = s * (q1 * q2 + q0 * q3), 1 - s * (q1 * q1 + q3 * q3), s * (q2 * q3 - q0 * q1)
    zx, zy, zz = s * (q1 * q3 - q0 * q2), s * (q2 * q3 + q0 * q1), 1 - s * (q1 * q1 + q2 * q2)
    fx = fy = fz = tx = ty = tz = 0.0
    for px, py, pz in ((0.2, 0.15, -0.1), (-0.2, 0.15, -0.1), (-0.2, -0.15, -0.1), (0.2, -0.15, -0.1)):
        depth = -(z + zx * px + zy * py + zz * pz)
        if depth <= 0:
            continue
        ux, uy, uz = wy * pz - wz * py, wz * px - wx * pz, wx * py - wy * px
        along_x, along_y = vx + xx * ux + xy * uy + xz * uz, vy + yx * ux + yy * uy + yz * uz
        rate = -(vz + zx * ux + zy * uy + zz * uz)
        normal = k * depth * (1 + min(max(low, k_d * rate), high))
        slip = math.hypot(along_x, along_y)
        drag = -mu * normal * (min(k_t, 1 / slip) if slip > 0 else k_t)
        gx, gy = drag * along_x, drag * along_y
        bx, by, bz = xx * gx + yx * gy + zx * normal, xy * gx + yy * gy + zy * normal, xz * gx + yz * gy + zz * normal
        fx, fy, fz = fx + gx, fy + gy, fz + normal
        tx, ty, tz = tx + py * bz - pz * by, ty + pz * bx - px * bz, tz + px * by - py * bx
    return [
        *(vx, vy, vz, fx, fy, fz - G),
        (-q1 * wx - q2 * wy - q3 * wz) / 2,
        (q0 * wx + q2 * wz - q3 * wy) / 2,
        (q0 * wy + q3 * wx - q1 * wz) / 2,
        (q0 * wz + q1 * wy - q2 * wx) / 2,
        (tx - (jz - jy) * wy * wz) / jx,
        (ty - (jx - jz) * wz * wx) / jy,
        (tz - (jy - jx) * wx * wy) / jz,
    ]


def body_drops() -> Trace:
    """The tilted block meets the floor with all four corners within 0.3 s, some of them twice, and is at rest then."""
    t = grid(0.3, 2e-3)
    q = np.array([1.0, 0.03, 0.04, -0.015]) / math.sqrt(1.002725)
    turned = Rotation.from_quat(q, scalar_first=True).as_matrix()
    begin = [0.0, 0.0, 0.14, 0.3, 0.0, 0.0, *q, *(turned.T @ np.array([0.5, -0.3, 0.2]))]
    r, v, q, w = np.split(
        solve_ivp(block_motion, (0.0, t[-1]), begin, "DOP853", t_eval=t, rtol=1e-13, atol=1e-15, max_step=2e-3).y,
        [3, 6, 10],
    )
    w = np.einsum("nij,jn->in", Rotation.from_quat(q.T, scalar_first=True).as_matrix(), w)
    vectors = {"position": (r, "m"), "velocity": (v, "m/s"), "orientation": (q, "1"), "angular_velocity": (w, "rad/s")}
    columns = {
        f"body.{name}[{i}]": (row, unit) for name, (rows, unit) in vectors.items() for i, row in enumerate(rows, 1)
    }
    return reference("body_drops", "Newton-Euler equations with F = k h (1 + d(h')), DOP853 at rtol 1e-13", t, columns)


def ball_is_thrown() -> Trace:
    """The ball lands with spin against its way, and takes off with another: sums over the corners of its mesh, each
    with a third of the triangles around it."""
    corners, areas = body_surface.ball()

    def motion(_: float, y: Array) -> Array:
        turned = Rotation.from_quat(y[6:10], scalar_first=True).as_matrix()
        touching = np.flatnonzero(y[2] + corners @ turned[2] < 0.0)
        arm = corners[touching] @ turned.T
        v = y[3:6] + np.cross(y[10:], arm)
        N = areas[touching] * 2e7 * (-y[2] - arm[:, 2])
        rub = 0.3 * N * np.minimum(100.0, 1.0 / np.maximum(np.hypot(v[:, 0], v[:, 1]), 1e-300))
        force = np.column_stack([-rub * v[:, 0], -rub * v[:, 1], N])
        q, w = y[6:10], y[10:]
        turning = 0.5 * np.array([-w @ q[1:], *(q[0] * w + np.cross(w, q[1:]))])
        moment = np.cross(arm, force).sum(axis=0)
        return np.concatenate([y[3:6], force.sum(axis=0) / 2.0 - [0.0, 0.0, G], turning, moment / 0.008])

    t = grid(0.25, 2e-3)
    begin = [0.0, 0.0, 0.11, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, -5.0, 2.0]
    y = solve_ivp(motion, (0.0, t[-1]), begin, "DOP853", t, rtol=1e-13, atol=1e-15, max_step=1e-4).y
    vectors = {"position": (y[:3], "m"), "velocity": (y[3:6], "m/s"), "angular_velocity": (y[10:], "rad/s")}
    columns = {
        f"ball.{name}[{i}]": (row, unit) for name, (rows, unit) in vectors.items() for i, row in enumerate(rows, 1)
    }
    formula = "Newton-Euler equations with p = C_p h on the corners, DOP853 at rtol 1e-13"
    return reference("ball_is_thrown", formula, t, columns)


# ---- beads on lines --------------------------------------------------------------------------------------------------


def _moving(case: str, formula: str, time: Array, position: Array, velocity: Array, slave: str, **more: Array) -> Trace:
    """position, velocity: shape (n, 3), m and m/s; `more` in m."""
    columns = {f"{slave}.position[{k + 1}]": (position[:, k], "m") for k in range(3)}
    columns |= {f"{slave}.velocity[{k + 1}]": (velocity[:, k], "m/s") for k in range(3)}
    return reference(case, formula, time, columns | {f"{slave}.{name}": (value, "m") for name, value in more.items()})


def bead_on_parabola() -> Trace:
    """z = x^2 from x = 0.5 m: (1 + 4 x^2) x'' + 4 x x'^2 + 2 g x = 0 by scipy, T = 4/sqrt(2 g) E(-1)."""

    def slope(_: float, y: Array) -> list[float]:
        x, v = y
        return [v, -(4.0 * x * v * v + 2.0 * G * x) / (1.0 + 4.0 * x * x)]

    t = grid(2.0, 1e-2)
    x, v = solve_ivp(slope, (0.0, 2.0), [0.5, 0.0], "DOP853", t, rtol=1e-12, atol=1e-13).y
    period = 4.0 / math.sqrt(2.0 * G) * float(ellipe(-1.0))
    back = solve_ivp(slope, (0.0, period), [0.5, 0.0], "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    assert abs(back[0] - 0.5) < 1e-10 and abs(back[1]) < 1e-9
    place, speed = np.stack([x, 0.0 * x, x * x], axis=1), np.stack([v, 0.0 * x, 2.0 * x * v], axis=1)
    return _moving("bead_on_parabola", "(1 + 4 x^2) x'' + 4 x x'^2 + 2 g x = 0, z = x^2", t, place, speed, "wire")


def bead_on_cycloid() -> Trace:
    """x = a (p + sin p), z = a (1 - cos p): sin(p/2) swings as cos(w t), w = sqrt(g/a)/2, at any amplitude."""
    a, t = 0.25, grid(2.0, 1e-2)
    w = math.sqrt(G / a) / 2.0
    half = math.sin(0.75) * np.cos(w * t)
    p = 2.0 * np.arcsin(half)
    p_t = -2.0 * math.sin(0.75) * w * np.sin(w * t) / np.sqrt(1.0 - half**2)
    place = a * np.stack([p + np.sin(p), 0.0 * p, 1.0 - np.cos(p)], axis=1)
    speed = a * np.stack([(1.0 + np.cos(p)) * p_t, 0.0 * p, np.sin(p) * p_t], axis=1)
    return _moving("bead_on_cycloid", "sin(p/2) = sin(p0/2) cos(sqrt(g/a) t/2)", t, place, speed, "wire")


def bead_on_helix() -> Trace:
    """phi = g c t^2/(2 (R^2 + c^2)), R = 0.5 m, c = 0.1 m."""
    radius, c, t = 0.5, 0.1, grid(1.0, 1e-2)
    rate = G * c / (radius**2 + c**2)
    phi, w = rate * t**2 / 2.0, rate * t
    place = np.stack([radius * np.cos(phi), radius * np.sin(phi), -c * phi], axis=1)
    speed = np.stack([-radius * w * np.sin(phi), radius * w * np.cos(phi), -c * w], axis=1)
    return _moving("bead_on_helix", "phi = g c t^2/(2 (R^2 + c^2))", t, place, speed, "wire")


def bead_on_ring() -> Trace:
    """On a rigid ring v = u v0, phi = ln(1/u)/mu with u = 1/(1 + mu v0 t/R): in a lap the speed falls to exp(-2 pi mu)
    of it.  A ring of stiffness k yields by e R, e = m v^2/(k R) = e0 u^2, whose rates follow from v' = -mu v^2/R:

        e' = -2 mu e v/R,   e'' = 6 mu^2 e v^2/R^2,   N = m v^2/R (1 - e) - m R e'' = m v^2/R (1 - e - 6 mu^2 e)
        v' = -mu N/m - e' v = -mu v^2/R (1 - a e),   a = 3 + 6 mu^2,   phi' = v/R (1 - e)

    and to the first order in e0 = 1e-6:  v = u v0 (1 + a e0 u (1 - u)),  phi greater by e0/mu (a (1 - u) - (a + 1)
    (1 - u^2)/2).  The damper c takes its share of N: k R e = N - c R e'."""
    mu, v_0, t = 0.1, 10.0, grid(2.0, 1e-2)
    k, c, a = 1e8, 2e4, 3.0 + 6.0 * mu**2
    u, e_0 = 1.0 / (1.0 + mu * v_0 * t), v_0**2 / k
    e = e_0 * u**2
    v = u * v_0 * (1.0 + a * e_0 * u * (1.0 - u))
    phi = -np.log(u) / mu + e_0 / mu * (a * (1.0 - u) - 0.5 * (a + 1.0) * (1.0 - u**2))
    r, r_t = 1.0 + e * (1.0 - (1.0 + 6.0 * mu**2) * e + 2.0 * c * mu * v / k), -2.0 * mu * e * v
    cosine, sine = np.cos(phi), np.sin(phi)
    place = np.stack([r * cosine, r * sine, 0.0 * phi], axis=1)
    speed = np.stack([r_t * cosine - v * sine, r_t * sine + v * cosine, 0.0 * phi], axis=1)
    return _moving("bead_on_ring", "v = v0/(1 + mu v0 t/R), and what the ring yields", t, place, speed, "wire")


def bead_on_hoop() -> Trace:
    """At rest on a hoop of R = 0.5 m that turns at 8 rad/s: cos theta = g/(w^2 R) from the lowest point."""
    w, radius, t = 8.0, 0.5, grid(1.0, 1e-2)
    theta = math.acos(G / (w * w * radius))
    x, y = radius * math.sin(theta) * np.cos(w * t), radius * math.sin(theta) * np.sin(w * t)
    place = np.stack([x, y, np.full_like(t, -radius * math.cos(theta))], axis=1)
    return _moving(
        "bead_on_hoop", "cos theta = g/(w^2 R)", t, place, np.stack([-w * y, w * x, 0.0 * t], axis=1), "wire"
    )


def trolley_in_guide() -> Trace:
    """y'' = -(a + b t) y, a = k (1 + x0/L)/m, b = k v0/(m L): Airy's functions of -(a + b t)/b^(2/3).

    The growing stiffness works on the spring: W = int k v0/L y^2/2 dt, over both directions."""
    x_0, v_0, length, t = 0.1, 0.5, 0.5, grid(1.5, 1e-2)
    place, speed = np.zeros((len(t), 3)), np.zeros((len(t), 3))
    place[:, 0], speed[:, 0] = x_0 + v_0 * t, v_0
    rates = []
    for k, (stiffness, start) in enumerate(((1e4, 3e-3), (2.5e4, -2e-3)), start=1):
        a, b = stiffness * (1.0 + x_0 / length), stiffness * v_0 / length
        scale = b ** (1.0 / 3.0)

        def shapes(time: Array, a: float = a, b: float = b, scale: float = scale) -> tuple[Array, ...]:
            ai, ai_t, bi, bi_t = airy(-(a + b * time) / scale**2)
            return ai, bi, -scale * ai_t, -scale * bi_t

        first, second, first_t, second_t = (float(one) for one in shapes(np.array(0.0)))
        c = np.linalg.solve(np.array([[first, second], [first_t, second_t]]), np.array([start, 0.0]))
        ai, bi, ai_t, bi_t = shapes(t)
        place[:, k], speed[:, k] = c[0] * ai + c[1] * bi, c[0] * ai_t + c[1] * bi_t
        rates.append((stiffness * v_0 / length / 2.0, c, shapes))

    def rate(time: float) -> float:
        total = 0.0
        for factor, c, shapes in rates:
            ai, bi, _, _ = shapes(np.array(time))
            total += factor * float(c[0] * ai + c[1] * bi) ** 2
        return total

    done = solve_ivp(lambda time, _: [rate(time)], (0.0, 1.5), [0.0], "DOP853", t, rtol=1e-12, atol=1e-15).y[0]
    found = _moving("trolley_in_guide", "y'' = -(a + b t) y: Airy", t, place, speed, "guide")
    columns = {name: (found[name], found.units[name]) for name in found.names}
    return reference(
        "trolley_in_guide", "y'' = -(a + b t) y: Airy", t, columns | {"guide.guide.energy.sensors": (done, "J")}
    )


def bead_leaves_rail() -> Trace:
    """v = v0 - mu g t up to the end of the rail, 0.5 m farther on; from there it falls.  It rests m g/k deep on the
    springs, whose energy (m g)^2/(2 k) is then gone."""
    mu, v_0, k, t = 0.1, 2.0, 1e6, grid(0.5, 5e-3)
    t_1 = (v_0 - math.sqrt(v_0**2 - 2.0 * mu * G * 0.5)) / (mu * G)
    on, late = t <= t_1, np.maximum(t - t_1, 0.0)
    slow = np.minimum(t, t_1)
    v = v_0 - mu * G * slow
    x = 0.5 + v_0 * slow - mu * G * slow**2 / 2.0 + v * late
    place = np.stack([x, 0.0 * x, -G / k - G * late**2 / 2.0], axis=1)
    columns = {f"bead.position[{i + 1}]": (place[:, i], "m") for i in range(3)}
    columns |= {"bead.velocity[1]": (v, "m/s"), "bead.velocity[3]": (-G * late, "m/s")}
    columns |= {"bead.rail.friction_force": (np.where(on, mu * G, 0.0), "N")}
    columns |= {"bead.rail.energy.switched": (np.where(on, 0.0, G * G / (2.0 * k)), "J")}
    return reference("bead_leaves_rail", "v = v0 - mu g t, then a fall", t, columns)


def spinning_guide() -> Trace:
    """d = (3 mm, 1 mm) stays while the axes turn at 2 rad/s: the springs' energy comes out of nothing, for no moment
    acts on the body that turns."""
    k_1, k_2, t = 1e5, 3e5, grid(2.0, 1e-2)
    c, s = np.cos(2.0 * t), np.sin(2.0 * t)
    d_1, d_2 = 3e-3 * c + 1e-3 * s, 1e-3 * c - 3e-3 * s
    stored = (k_1 * d_1**2 + k_2 * d_2**2) / 2.0
    columns = {
        "guide.rail.F_r1": (k_1 * d_1, "N"),
        "guide.rail.F_r2": (k_2 * d_2, "N"),
        "guide.rail.energy.elastic": (stored, "J"),
        "guide.rail.energy.anisotropy": (stored[0] - stored, "J"),
    }
    return reference("spinning_guide", "delta_i of axes that turn, U = (k_1 delta_1^2 + k_2 delta_2^2)/2", t, columns)


# ---- a bar on two points ---------------------------------------------------------------------------------------------


def bar_drops() -> Trace:
    """A bar in the plane of x and z, turned by th about y, with contacts at its ends p = +-a (cos th, -sin th):

    m v' = sum F + m g,  J w' = sum (p_z F_x - p_x F_z),  F = (-F_t, N),  N = k h (1 + d(h')),  h = -z of the end
    F_t = F_h min(1, mu N/|F_h|),  F_h = k_B s + c_B u,  s' = (F_t - k_B s)/c_B,  u the end's speed along the floor

    from one touch or release to the next, where the bristle of the end that leaves is relaxed.  State: x, z, th, v_x,
    v_z, w, and s of both ends."""
    k, mu, k_b, c_b, k_d, limit, a, inertia = 1e5, 0.3, 1e5, 300.0, 100.0, 0.6, 0.2, 0.16 / 12

    def ends(y: Array) -> list[tuple[float, float, float, float, float]]:
        """Of each end p_x, p_z, depth, its rate, speed along the floor."""
        found = []
        for side in (a, -a):
            p_x, p_z = side * math.cos(y[2]), -side * math.sin(y[2])
            found.append((p_x, p_z, -(y[1] + p_z), -(y[4] - y[5] * p_x), y[3] + y[5] * p_z))
        return found

    def motion(_: float, y: Array) -> list[float]:
        f_x, f_z, moment, rates = 0.0, -G, 0.0, [0.0, 0.0]
        for i, (p_x, p_z, depth, rate, speed) in enumerate(ends(y)):
            if not touching[i]:
                continue
            normal = k * depth * (1.0 + max(-limit, min(limit, k_d * rate)))
            holds = k_b * y[6 + i] + c_b * speed
            force = holds if abs(holds) <= mu * normal else math.copysign(mu * normal, holds)
            rates[i] = (force - k_b * y[6 + i]) / c_b
            f_x, f_z, moment = f_x - force, f_z + normal, moment - p_z * force - p_x * normal
        return [y[3], y[4], y[5], f_x, f_z, moment / inertia, *rates]

    def passes(i: int) -> Callable[[float, Array], float]:
        def depth(_: float, y: Array) -> float:
            return ends(y)[i][2]

        depth.terminal, depth.direction = True, -1.0 if touching[i] else 1.0  # type: ignore[attr-defined]
        return depth

    t, now, touching = grid(0.25, 2e-3), 0.0, [False, False]
    state, found = np.array([0.0, 0.04, 0.1, 0.5, 0.0, 0.0, 0.0, 0.0]), np.zeros((len(t), 8))
    while True:
        rest = t[t >= now]
        events = [passes(0), passes(1)]
        solution = solve_ivp(
            motion, (now, t[-1]), state, "DOP853", rtol=1e-13, atol=1e-16, t_eval=rest, events=events, max_step=2e-3
        )
        first = len(t) - len(rest)
        if len(solution.t):
            found[first : first + len(solution.t)] = solution.y.T
        if solution.status == 0:
            break
        (i,) = (i for i in (0, 1) if solution.t_events[i].size)
        now, state, touching[i] = solution.t_events[i][0], solution.y_events[i][0], not touching[i]
        state[6 + i] = 0.0
    names = {0: "position[1]", 1: "position[3]", 3: "velocity[1]", 4: "velocity[3]", 5: "angular_velocity[2]"}
    units = {0: "m", 1: "m", 3: "m/s", 4: "m/s", 5: "rad/s"}
    columns = {f"bar.{name}": (found[:, i], units[i]) for i, name in names.items()}
    columns["bar.orientation[3]"] = (np.sin(0.5 * found[:, 2]), "1")
    return reference("bar_drops", "Newton-Euler equations with two bristles, DOP853 at rtol 1e-13", t, columns)


CASES: tuple[Callable[[], Trace], ...] = (
    ball_bounces, ball_drops, ball_hardly_rebounds, ball_is_thrown, ball_rebounds, ball_rebounds_saturated,
    ball_rebounds_slowly, ball_settles, ball_touches, bar_drops, bead_is_thrown_out, bead_leaves_rail, bead_on_cycloid,
    bead_on_helix, bead_on_hoop, bead_on_parabola, bead_on_ring, bead_rests_in_spinning_bowl, bead_swings_in_bowl,
    bead_swings_in_mesh_bowl, block_creeps, block_creeps_by_sine, block_is_shaken, block_is_turned, block_never_stops,
    block_slides, block_slides_and_sticks, block_stays, block_sticks_and_slips, bodies_collide, body_drops,
    body_swings, inertia_swings, inertias_swing, marble_runs_in_funnel, marble_runs_in_tube, mass_orbits_on_spring,
    mass_slides_off, pendulum_falls_on_floor, puck_glides_over_road, spinning_guide, spring_pendulum_rings,
    spring_pendulum_swings, train_rings, trolley_in_guide,
)  # fmt: skip

if __name__ == "__main__":
    write_references(CASES, __file__)
