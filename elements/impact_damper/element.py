"""The impact damper of element.c in Python; the formulas and the signs stand there.

x' = v = w - v_p,  m w' = -s N"""

from typing import Any

import numpy as np

import contact_core

core: Any = contact_core  # in the FMU the compiled laws
law, contact = core.CcContactLaw(), core.CcContact()
restitution_limit, compression_limit = np.zeros(1), np.zeros(1)  # of the damping ratio: what cc_damping_sides fills


def stiffness(e: Any) -> float:
    return e.C_F if e.work else 0.0


def law_of(e: Any) -> Any:
    law.C_F, law.C_r, law.k_D, law.k_E = stiffness(e), e.C_r, e.k_D, e.k_E
    return law


def depth(e: Any, gap: float) -> float:
    h: float = max(abs(e.x) - 0.5 * gap, 0.0)
    return h


def outputs(e: Any) -> None:
    s, h = -1.0 if e.x < 0.0 else 1.0, depth(e, e.gap)
    e.v = e.w - e.p.v
    core.cc_contact(law_of(e), h, [-s, 0.0, 0.0], [e.v, 0.0, 0.0], contact)
    e.depth = h if e.work else 0.0
    e.normal_force = contact.normal_force
    e.p.F = -contact.force[0]
    e.impulse.p = e.m * (e.w0 - e.w)
    e.energy.kinetic = 0.5 * e.m * e.w * e.w
    e.energy.elastic = contact.elastic_energy
    e.power.damping = contact.damping_force * s * e.v
    e.power.work = -e.p.F * e.p.v
    if e.structure.ledger:
        stored = e.energy.kinetic + e.energy.elastic - e.energy.start
        e.energy.residual = e.energy.work - stored - e.energy.damping - e.energy.switched


def derivatives(e: Any) -> None:
    e.der.w = -e.p.F / e.m


def limits(e: Any, depth_rate: float) -> tuple[float, float]:
    """Zero where the damping ratio reaches its limits in restitution and in compression."""
    core.cc_damping_sides(law_of(e), depth_rate, restitution_limit, compression_limit)
    return restitution_limit[0], compression_limit[0]


def indicators(e: Any, z: Any) -> None:
    half = 0.5 * e.gap
    z.right_wall, z.left_wall, z.turn = half - e.x, half + e.x, e.v
    z.right_restitution_limit, z.right_compression_limit = limits(e, e.v)
    z.left_restitution_limit, z.left_compression_limit = limits(e, -e.v)


def remember(e: Any) -> None:
    e.previous.depth, e.previous.w, e.previous.mass, e.previous.gap = e.depth, e.w, e.m, e.gap
    e.previous.stiffness = stiffness(e)


def record_contact(e: Any, host: Any) -> None:
    was, is_now, s = e.previous.depth > 0.0, e.depth > 0.0, -1.0 if e.x < 0.0 else 1.0
    last, present = e.last_contact, e.present_contact
    if was:
        present.impulse += s * e.previous.mass * (e.previous.w - e.w)
        present.peak_force = max(present.peak_force, e.normal_force)
    if was and not is_now:
        if e.release_count > 0:
            host.keep(last)
        last.start, last.end = present.start, e.time
        last.impact_speed, last.rebound_speed = present.impact_speed, -s * e.v
        last.peak_force, last.impulse = present.peak_force, present.impulse
        e.release_count += 1
    if is_now and not was:
        present.start, present.impact_speed = e.time, s * e.v
        present.peak_force, present.impulse = e.normal_force, 0.0
        e.contact_count += 1


def start(e: Any) -> None:
    outputs(e)
    last, present = e.last_contact, e.present_contact
    present.start, present.impact_speed, present.peak_force, present.impulse = e.time, 0.0, e.normal_force, 0.0
    last.start = last.end = last.impact_speed = last.rebound_speed = last.peak_force = last.impulse = 0.0
    e.release_count = 0
    e.contact_count = e.depth > 0.0
    e.energy.start = e.energy.kinetic + e.energy.elastic
    e.energy.switched = 0.0
    remember(e)


def accept(e: Any, host: Any, step: float) -> bool:
    h = depth(e, e.previous.gap)
    before = 0.5 * e.previous.mass * e.w * e.w + core.cc_spring_energy(e.previous.stiffness, h)
    now = (e.m, e.gap, stiffness(e))
    is_switched = (e.previous.mass, e.previous.gap, e.previous.stiffness) != now
    record_contact(e, host)
    if is_switched:
        e.energy.switched += before - (e.energy.kinetic + e.energy.elastic)
    remember(e)
    return is_switched and e.structure.ledger
