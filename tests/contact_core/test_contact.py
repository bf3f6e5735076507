"""The contact law against energy balances, closed forms, and impacts integrated by an independent solver.

Signs: depth h > 0 in contact, depth rate w > 0 while the point goes deeper, n outward, v velocity of the point.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from fmu_builder.export.host import HostLibrary

LAW_TOLERANCE = 1e-12  # relative: the law is a dozen roundings
RESTITUTIONS = [0.0, 1e-160, 1e-9, 0.05, 0.2, 0.4, 0.5, 0.75, 0.8, 0.95, 1.0]
SHARES = [0.0, 1e-9, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999]
RATES = [0.0, 5e-324, 1e-160, 1e-9, 1e-4, 2e-3, 0.01, 0.05, 1.0, 30.0, 1e6, 1e150]  # |w| or |v_t|, m/s
UP = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Law:
    """Parameters of the law; the starts are those of the element."""

    C_F: float = 1e6  # N/m
    K_fr: float = 0.0
    C_r: float = 1.0
    k_D: float = 100.0  # s/m
    k_E: float = 0.5
    k_T: float = 100.0  # s/m


@dataclass(frozen=True)
class Contact:
    """What the C returned, SI."""

    elastic_force: float
    damping_force: float
    normal_force: float
    friction_force: float
    slip_speed: float
    elastic_energy: float
    force: tuple[float, float, float]

    def numbers(self) -> tuple[float, ...]:
        return (
            self.elastic_force, self.damping_force, self.normal_force, self.friction_force, self.slip_speed,
            self.elastic_energy, *self.force,
        )  # fmt: skip


def contact(host: HostLibrary, law: Law, h: float, v, n=UP) -> Contact:
    out = host.ffi.new("CcContact *")
    host.lib.cc_contact(host.ffi.new("CcContactLaw *", vars(law)), h, list(n), list(v), out)
    values = {name: getattr(out, name) for name in Contact.__annotations__ if name != "force"}
    return Contact(**values, force=tuple(out.force))


def damping_ratio(host: HostLibrary, law: Law, w: float) -> float:
    return host.lib.cc_damping_ratio(host.ffi.new("CcContactLaw *", vars(law)), w)


def exact_limits(law: Law) -> tuple[Fraction, Fraction]:
    """d_comp and d_rest, without any rounding."""
    C_r, k_E = Fraction(law.C_r), Fraction(law.k_E)
    delta = 1 - k_E + C_r**2 * k_E
    return (1 - C_r**2) * k_E / delta, -(1 - C_r**2) * (1 - k_E) / delta


def limits(law: Law) -> tuple[float, float]:
    d_comp, d_rest = exact_limits(law)
    return float(d_comp), float(d_rest)


def laws() -> list[Law]:
    return [Law(C_r=C_r, k_E=k_E) for C_r, k_E in itertools.product(RESTITUTIONS, SHARES)]


# --- damping ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k_D", [0.0, 1e-150, 1.0, 100.0, 1e150])
def test_damping_ratio_rises_with_the_depth_rate_between_its_two_limits(host: HostLibrary, k_D: float) -> None:
    for law in laws():
        law = replace(law, k_D=k_D)
        d_comp, d_rest = exact_limits(law)
        for w in (sign * rate for rate in RATES for sign in (1, -1)):
            expected = max(d_rest, min(d_comp, Fraction(k_D) * Fraction(w)))
            # 1 - C_r^2 loses digits near C_r = 1, so d is exact against 1, to which it is added
            assert damping_ratio(host, law, w) == pytest.approx(float(expected), rel=LAW_TOLERANCE, abs=1e-15), (law, w)


def test_damping_limits_for_known_restitution(host: HostLibrary) -> None:
    """k_E = 1/2: +-(1 - C_r^2)/(1 + C_r^2), which is 0.6 for C_r = 0.5; k_E = 0 takes all on the way out."""
    for C_r, k_E, d_comp, d_rest in [
        (0.5, 0.5, 0.6, -0.6), (0.5, 0.0, 0.0, -0.75), (0.0, 0.5, 1.0, -1.0), (0.0, 0.75, 3.0, -1.0),
        (1.0, 0.5, 0.0, 0.0),
    ]:  # fmt: skip
        law = Law(C_r=C_r, k_E=k_E)
        assert damping_ratio(host, law, 1e3) == pytest.approx(d_comp, rel=LAW_TOLERANCE, abs=0.0)
        assert damping_ratio(host, law, -1e3) == pytest.approx(d_rest, rel=LAW_TOLERANCE, abs=0.0)


def loop_work(host: HostLibrary, law: Law, w: float, depth: float) -> float:
    """Work of the normal force, J, while the depth goes from 0 to `depth` at the constant rate w, or back for w < 0."""
    nodes, weights = np.polynomial.legendre.leggauss(4)  # exact: the force is linear in the depth
    forces = [contact(host, law, 0.5 * depth * (1.0 + x), (0.0, 0.0, -w)).normal_force for x in nodes]
    return 0.5 * depth * float(np.dot(weights, forces))


def test_a_saturated_loop_returns_the_square_of_the_restitution_whatever_the_share(host: HostLibrary) -> None:
    for law in laws():
        taken, returned = loop_work(host, law, 1e9, 1e-3), loop_work(host, law, -1e9, 1e-3)
        assert returned / taken == pytest.approx(law.C_r**2, rel=LAW_TOLERANCE, abs=1e-15), law


def test_the_share_of_the_loss_in_compression_is_k_e(host: HostLibrary) -> None:
    for law in laws():
        if law.C_r < 1.0:
            stored = 0.5 * law.C_F * 1e-3**2
            taken, returned = loop_work(host, law, 1e9, 1e-3), loop_work(host, law, -1e9, 1e-3)
            share = (taken - stored) / (taken - returned)
            assert share == pytest.approx(law.k_E, rel=LAW_TOLERANCE, abs=1e-14), law  # the loss is 10 % at least


def test_damping_with_an_even_share_is_odd_and_bounded_by_one(host: HostLibrary) -> None:
    for C_r in RESTITUTIONS:
        for w in RATES:
            d = damping_ratio(host, Law(C_r=C_r), w)
            assert damping_ratio(host, Law(C_r=C_r), -w) == -d
            assert abs(d) <= 1.0


def test_restitution_one_is_a_spring_without_damping(host: HostLibrary) -> None:
    for k_E, w, sign in itertools.product(SHARES, RATES, (1.0, -1.0)):
        found = contact(host, Law(C_r=1.0, k_E=k_E), 0.002, (0.0, 0.0, -sign * w))
        assert found.damping_force == 0.0
        assert found.normal_force == found.elastic_force == pytest.approx(2000.0, rel=LAW_TOLERANCE)


@settings(max_examples=300)
@example(C_r=0.0, k_E=math.nextafter(1.0, 0.0), k_D=1e150, w=-1e150, h=1.0)
@example(C_r=1e-160, k_E=math.nextafter(1.0, 0.0), k_D=1e150, w=-1e150, h=1.0)
@example(C_r=math.nextafter(1.0, 0.0), k_E=0.0, k_D=1e150, w=-1e150, h=1.0)
@given(
    C_r=st.floats(0.0, 1.0),
    k_E=st.floats(0.0, 1.0, exclude_max=True),
    k_D=st.floats(0.0, 1e150),
    w=st.floats(-1e150, 1e150),
    h=st.floats(0.0, 1e3),
)
def test_normal_force_is_never_adhesive_and_damping_never_gives_energy(
    host: HostLibrary, C_r: float, k_E: float, k_D: float, w: float, h: float
) -> None:
    law = Law(C_r=C_r, k_E=k_E, k_D=k_D)
    found = contact(host, law, h, (0.0, 0.0, -w))
    assert 1.0 + damping_ratio(host, law, w) >= 0.0
    assert found.normal_force >= 0.0
    assert found.damping_force * w >= 0.0
    rounding = LAW_TOLERANCE * (found.elastic_force + found.normal_force)
    assert found.elastic_force + found.damping_force == pytest.approx(found.normal_force, rel=0.0, abs=rounding)


@settings(max_examples=300)
@given(
    C_r=st.floats(0.0, 1.0),
    k_E=st.floats(0.0, 0.999),
    k_D=st.floats(0.0, 1e6),
    w=st.floats(-1e3, 1e3),
    h=st.floats(0.0, 1.0),
)
def test_normal_force_is_the_elastic_force_times_one_plus_the_ratio(
    host: HostLibrary, C_r: float, k_E: float, k_D: float, w: float, h: float
) -> None:
    law = Law(C_r=C_r, k_E=k_E, k_D=k_D)
    found = contact(host, law, h, (0.0, 0.0, -w))
    d_comp, d_rest = exact_limits(law)
    d = max(d_rest, min(d_comp, Fraction(k_D) * Fraction(w)))
    F_e = Fraction(law.C_F) * Fraction(h)
    # relative to the forces that are added: where they cancel, at C_r near 0 in restitution, N itself is near 0
    scale = LAW_TOLERANCE * F_e * (1 + abs(d)) + Fraction(5e-324)
    assert abs(Fraction(found.elastic_force) - F_e) <= scale
    assert abs(Fraction(found.normal_force) - F_e * (1 + d)) <= scale
    assert abs(Fraction(found.damping_force) - F_e * d) <= scale
    assert abs(Fraction(found.elastic_energy) - F_e * Fraction(h) / 2) <= scale * Fraction(h) + Fraction(5e-324)


def test_normal_force_is_continuous_at_touch_down_at_every_speed(host: HostLibrary) -> None:
    """Relative damping: the force starts at zero however fast the point comes in, and is at most k h/Delta."""
    for law in laws():
        delta = float(1 - Fraction(law.k_E) + Fraction(law.C_r) ** 2 * Fraction(law.k_E))
        for w, sign in itertools.product(RATES, (1.0, -1.0)):
            assert contact(host, law, 0.0, (0.0, 0.0, -sign * w)).normal_force == 0.0
            for h in (5e-324, 1e-160, 1e-15, 1e-9):
                force = contact(host, law, h, (0.0, 0.0, -sign * w)).normal_force
                assert 0.0 <= force <= law.C_F * h / delta * (1.0 + LAW_TOLERANCE), (law, w, h)


# --- impacts ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Impact:
    """A free mass thrown at the surface: rebound over impact speed, depth m, force N, time s."""

    restitution: float
    deepest: float
    largest_force: float
    contact_time: float


def impact(host: HostLibrary, law: Law, mass: float, speed: float) -> Impact:
    """Integrates m h'' = -N, N from the C, from touch-down to lift-off.

    The solver starts anew wherever the damping ratio has a kink, so that its order is not lost there."""
    c_law, out, v = host.ffi.new("CcContactLaw *", vars(law)), host.ffi.new("CcContact *"), host.ffi.new("double[3]")
    n = host.ffi.new("double[3]", UP)

    def normal_force(h: float, w: float) -> float:
        v[2] = -w
        host.lib.cc_contact(c_law, h, n, v, out)
        return out.normal_force

    def event(function: Callable[[np.ndarray], float]) -> Callable[[float, np.ndarray], float]:
        def falls_through_zero(_: float, y: np.ndarray) -> float:
            return function(y)

        falls_through_zero.terminal, falls_through_zero.direction = True, -1.0
        return falls_through_zero

    scale = speed * math.sqrt(mass / law.C_F)
    t, y = 0.0, np.array([0.0, speed])
    deepest = largest = 0.0
    kinks = sorted({d / law.k_D for d in (*limits(law), 0.0)}, reverse=True)
    for kink in (*kinks, -math.inf):
        if y[1] <= kink:
            continue
        solution = solve_ivp(
            lambda _, y: (y[1], -normal_force(y[0], y[1]) / mass),
            (t, t + 1e6 * math.sqrt(mass / law.C_F)),
            y,
            method="DOP853",
            rtol=1e-12,
            atol=[1e-14 * scale, 1e-14 * speed],
            dense_output=True,
            events=[event(lambda y: y[0]), event(lambda y, kink=kink: max(y[1] - kink, -1.0))],
        )
        assert solution.status == 1, solution.message
        t, y = solution.t[-1], solution.y[:, -1]
        deepest = max(deepest, *solution.y[0])
        largest = max(largest, *(normal_force(*state) for state in solution.y.T))
        if solution.t_events[0].size:
            break
    return Impact(-y[1] / speed, deepest, largest, t)


def effective_restitution(law: Law, speed: float) -> float:
    """Closed form, for every elastic force: w dw/(1 + d(w)) integrated over compression and restitution is equal.

    With a = k_D w the integral of a da/(1 + min(a, d)) is a - ln(1 + a) up to d, then grows by (a^2 - d^2)/(2 (1 + d));
    that of restitution is the same with -a for a and d_rest for d."""
    d_comp, d_rest = limits(law)

    def integral(a: float, limit: float, sign: float) -> float:
        ramp = min(a, sign * limit)
        value = sign * ramp - math.log1p(sign * ramp)
        return value + (0.5 * (a * a - ramp * ramp) / (1.0 + limit) if a > ramp else 0.0)

    x = law.k_D * speed
    taken = integral(x, d_comp, 1.0)
    # at C_r = 0 no rebound is faster than 1/k_D
    largest = math.nextafter(1.0, 0.0) if d_rest == -1.0 and x >= 1.0 else x * (1.0 + 1e-15)
    return brentq(lambda a: integral(a, d_rest, -1.0) - taken, 0.0, largest, xtol=1e-300, rtol=1e-15) / x


# k_E = 0.5: restitution and k_D v_0 -> effective restitution, computed once with 20 digits
SCALED_SPEEDS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
EFFECTIVE = {
    0.0: (0.937476, 0.748435, 0.593624, 0.425853, 0.199866, 0.100000),
    0.2: (0.937476, 0.748435, 0.594143, 0.428475, 0.253519, 0.214635),
    0.5: (0.937476, 0.748435, 0.609069, 0.529378, 0.504815, 0.501208),
    0.8: (0.937476, 0.814886, 0.803747, 0.800938, 0.800150, 0.800038),
}
TABLE = [
    *(
        (Law(C_F=1.0, C_r=C_r, k_D=1.0), x, e)
        for C_r, row in EFFECTIVE.items()
        for x, e in zip(SCALED_SPEEDS, row, strict=True)
    ),
    # the example of the EULER manual
    *((Law(C_F=1.0, C_r=0.4, k_D=1.0, k_E=0.25), x, e) for x, e in ((0.1, 0.937476), (1.0, 0.648578), (5.0, 0.415357))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("law", "speed", "printed"), TABLE, ids=lambda value: f"{value.C_r}" if isinstance(value, Law) else f"{value}"
)
def test_effective_restitution_of_an_impact(host: HostLibrary, law: Law, speed: float, printed: float) -> None:
    found = impact(host, law, 1.0, speed).restitution
    assert found == pytest.approx(effective_restitution(law, speed), rel=1e-9)
    assert abs(found - printed) <= 0.5e-6 * (1.0 + 1e-6)  # all printed digits


def test_effective_restitution_to_many_digits(host: HostLibrary) -> None:
    law = Law(C_F=1e5, C_r=0.5, k_D=10.0)
    assert effective_restitution(law, 1.0) == pytest.approx(0.5012081853990823, rel=1e-14)
    assert impact(host, law, 1.0, 1.0).restitution == pytest.approx(0.5012081853990823, rel=1e-10)


def test_effective_restitution_depends_on_the_speed_alone(host: HostLibrary) -> None:
    expected = effective_restitution(Law(C_r=0.5), 0.02)
    for C_F, mass in ((1e2, 1e-3), (1e5, 1.0), (1e9, 50.0)):
        found = impact(host, Law(C_F=C_F, C_r=0.5), mass, 0.02).restitution
        assert found == pytest.approx(expected, rel=1e-9)


def test_default_constants_reach_the_restitution_above_a_centimetre_per_second(host: HostLibrary) -> None:
    for speed, e in ((1.0, 0.50001), (0.1, 0.5012), (0.01, 0.609)):
        assert impact(host, Law(C_r=0.5), 1.0, speed).restitution == pytest.approx(
            e, abs=0.6 * 10.0 ** -len(str(e)[2:])
        )


def test_rebound_without_restitution_is_slower_than_one_over_k_d(host: HostLibrary) -> None:
    for speed in (1e-3, 0.01, 0.1, 1.0):
        rebound = impact(host, Law(C_r=0.0), 1.0, speed).restitution * speed
        assert 0.0 < rebound <= min(speed, 0.01) * (1.0 + 1e-9)  # reached from below: 1 m/s misses it by exp(-5000)


def test_undamped_impact_is_half_a_period_of_the_oscillator(host: HostLibrary) -> None:
    """m = 1 kg, k = 1e5 N/m, 1 m/s: 9.93458827 ms, 3.16227766 mm."""
    found = impact(host, Law(C_F=1e5), 1.0, 1.0)
    assert found.contact_time == pytest.approx(9.93458827e-3, rel=1e-9)
    assert found.deepest == pytest.approx(3.16227766e-3, rel=1e-9)
    assert found.largest_force == pytest.approx(316.227766, rel=1e-9)
    assert found.restitution == pytest.approx(1.0, rel=1e-10)


@pytest.mark.parametrize("k_E", [0.0, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("C_r", [0.1, 0.5, 0.9])
def test_saturated_impact_has_the_closed_depth_force_and_time(host: HostLibrary, C_r: float, k_E: float) -> None:
    """h_max = v_0 sqrt(m Delta/k), F_max = v_0 sqrt(k m/Delta), t = pi/2 sqrt(m Delta/k) (1 + 1/C_r)."""
    m, k, v_0 = 2.5, 4e5, 0.7
    delta = 1.0 - k_E + C_r**2 * k_E
    found = impact(host, Law(C_F=k, C_r=C_r, k_E=k_E, k_D=1e9), m, v_0)
    assert found.restitution == pytest.approx(C_r, rel=1e-8)  # of order 1/(k_D v_0)
    assert found.deepest == pytest.approx(v_0 * math.sqrt(m * delta / k), rel=1e-8)
    assert found.largest_force == pytest.approx(v_0 * math.sqrt(k * m / delta), rel=1e-8)
    assert found.contact_time == pytest.approx(
        0.5 * math.pi * math.sqrt(m * delta / k) * (1.0 + 1.0 / C_r), rel=1e-7
    )  # the turning point is passed slowly


# --- friction ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slip", [1e-300, 1e-9, 1e-3, 0.01, 2.0, 1e100])
@pytest.mark.parametrize("n", [UP, (0.6, 0.0, 0.8), (-2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0)])
def test_friction_opposes_the_slip_at_every_angle(host: HostLibrary, n, slip: float) -> None:
    first = np.cross(n, (0.36, 0.48, -0.8))
    first /= np.linalg.norm(first)
    second = np.cross(n, first)
    law = Law(K_fr=0.3)  # undamped: the rounding of a huge slip is a depth rate
    for angle in np.linspace(0.0, 2.0 * math.pi, 73):
        direction = math.cos(angle) * first + math.sin(angle) * second
        found = contact(host, law, 1e-3, slip * direction, n)
        friction = np.array(found.force) - found.normal_force * np.array(n)
        expected = -0.3 * 1000.0 * min(100.0 * slip, 1.0) * direction
        # the friction is the small difference of two forces of N, each rounded
        np.testing.assert_allclose(friction, expected, rtol=0.0, atol=LAW_TOLERANCE * 1000.0)
        assert found.slip_speed == pytest.approx(slip, rel=LAW_TOLERANCE)
        assert found.friction_force == pytest.approx(300.0 * min(100.0 * slip, 1.0), rel=LAW_TOLERANCE)


@pytest.mark.parametrize("k_T", [0.0, 1e-9, 1.0, 100.0, 1e9, 1e150])
def test_friction_is_a_ramp_up_to_k_fr_times_the_normal_force(host: HostLibrary, k_T: float) -> None:
    for K_fr, u in itertools.product((0.0, 0.1, 1.5), RATES):
        found = contact(host, Law(K_fr=K_fr, k_T=k_T), 1e-3, (u, 0.0, 0.0))
        expected = K_fr * 1000.0 * min(k_T * u, 1.0)
        assert found.friction_force == pytest.approx(expected, rel=LAW_TOLERANCE, abs=5e-324 * 1e4), (K_fr, u)


@pytest.mark.parametrize("k_T", [1e-3, 1.0, 100.0, 3e7])
def test_friction_grows_with_the_slip_to_the_end_of_the_ramp_and_stays_there(host: HostLibrary, k_T: float) -> None:
    law = Law(K_fr=0.3, k_T=k_T)
    for scaled in (0.1, 0.5, 0.9, 0.99, 1.0 - 1e-13, 1.0, 1.0 + 1e-13, 1.01, 1.1, 1.5, 1.9, 2.0, 3.0, 1e6):
        found = contact(host, law, 1e-3, (0.0, scaled / k_T, 0.0))
        assert found.friction_force == pytest.approx(300.0 * min(scaled, 1.0), rel=LAW_TOLERANCE), scaled
        assert found.force[1] == pytest.approx(-300.0 * min(scaled, 1.0), rel=LAW_TOLERANCE), scaled


def test_friction_follows_the_full_normal_force_with_its_damping(host: HostLibrary) -> None:
    """C_r = 0.5, k_E = 0.5: N is 1.6 F_e while going deeper fast, 0.4 F_e while coming out."""
    for w, factor in ((1.0, 1.6), (-1.0, 0.4), (0.001, 1.1), (-0.001, 0.9)):
        found = contact(host, Law(K_fr=0.3, C_r=0.5), 1e-3, (3.0, 4.0, -w))
        assert found.normal_force == pytest.approx(1000.0 * factor, rel=LAW_TOLERANCE)
        assert found.friction_force == pytest.approx(300.0 * factor, rel=LAW_TOLERANCE)
        np.testing.assert_allclose(found.force, 1000.0 * factor * np.array((-0.18, -0.24, 1.0)), rtol=LAW_TOLERANCE)


@pytest.mark.parametrize("v", [(0.0, 0.0, 0.0), (-0.0, -0.0, -0.0), (0.0, 0.0, -1.0), (0.0, -0.0, 1.0)])
def test_without_slip_there_is_no_friction(host: HostLibrary, v) -> None:
    for k_T in (0.0, 100.0, 1e150):
        found = contact(host, Law(K_fr=0.7, k_T=k_T), 1e-3, v)
        assert found.friction_force == 0.0
        assert found.force[:2] == (0.0, 0.0)
        assert found.force[2] == found.normal_force


# --- the force as a whole ---------------------------------------------------------------------------------------------

speeds = st.floats(-1e3, 1e3)
physical_laws = st.builds(
    Law,
    C_F=st.floats(0.0, 1e12),
    K_fr=st.floats(0.0, 10.0),
    C_r=st.floats(0.0, 1.0),
    k_D=st.floats(0.0, 1e6),
    k_E=st.floats(0.0, 0.999),
    k_T=st.floats(0.0, 1e6),
)
normals = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: math.hypot(*q) > 0.5).map(
    lambda q: tuple(Rotation.from_quat(q).apply(UP))
)  # fmt: skip


@settings(max_examples=300)
@given(law=physical_laws, h=st.floats(0.0, 1.0), v=st.tuples(speeds, speeds, speeds), n=normals)
def test_force_is_normal_reaction_and_friction_against_the_slip(host: HostLibrary, law: Law, h: float, v, n) -> None:
    found = contact(host, law, h, v, n)
    n, v = np.array(n), np.array(v)
    w = -float(v @ n)
    v_t = v + w * n
    slip = math.hypot(*v_t)
    direction = v_t / slip if slip > 0.0 else np.zeros(3)
    reaction = found.normal_force * n
    friction = np.array(found.force) - reaction

    # where v is nearly normal, its rounding is all that v_t consists of: uncertain by 1e-15 |v|
    uncertain = LAW_TOLERANCE + 4e-15 * math.hypot(*v) * min(law.k_T, 1.0 / slip if slip > 0.0 else law.k_T)
    scale = found.normal_force * max(1.0, law.K_fr)
    np.testing.assert_allclose(friction, -found.friction_force * direction, rtol=0.0, atol=uncertain * scale + 1e-300)
    assert found.friction_force <= law.K_fr * found.normal_force * (1.0 + LAW_TOLERANCE) + 1e-300
    assert found.friction_force >= 0.0
    assert friction @ v_t <= LAW_TOLERANCE * scale * slip


@settings(max_examples=300)
@given(law=physical_laws, h=st.floats(0.0, 1.0), v=st.tuples(speeds, speeds, speeds), n=normals)
def test_power_of_the_force_is_what_is_stored_and_what_is_lost(host: HostLibrary, law: Law, h: float, v, n) -> None:
    """F v = -dU/dt - F_e d w - F_fr |v_t|, and both losses are never negative."""
    found = contact(host, law, h, v, n)
    w = -float(np.dot(v, n))
    stored, damped = found.elastic_force * w, found.damping_force * w
    rubbed = found.friction_force * found.slip_speed
    speed = math.hypot(*v)
    size = speed * found.normal_force * (1.0 + law.K_fr) + abs(stored) + abs(damped)
    # v_t is known to 1e-15 |v| only: the ramp turns that into friction, part of it along v
    viscosity = min(law.k_T, 1.0 / found.slip_speed if found.slip_speed > 0.0 else law.k_T)
    rounding = LAW_TOLERANCE * size + 4e-15 * law.K_fr * found.normal_force * viscosity * speed**2
    assert np.dot(found.force, v) == pytest.approx(-stored - damped - rubbed, rel=0.0, abs=rounding + 1e-300)
    assert damped >= 0.0
    assert rubbed >= 0.0


@settings(max_examples=200)
@given(C_F=st.floats(1e-3, 1e12), h=st.floats(1e-9, 1.0))
def test_elastic_force_is_the_slope_of_the_elastic_energy(host: HostLibrary, C_F: float, h: float) -> None:
    step = h / 16.0  # U is quadratic: the central difference is exact but for rounding
    law = Law(C_F=C_F)
    deeper, flatter = (contact(host, law, h + s, (0.0, 0.0, 0.0)).elastic_energy for s in (step, -step))
    force = contact(host, law, h, (0.0, 0.0, 0.0)).elastic_force
    assert (deeper - flatter) / (2.0 * step) == pytest.approx(force, rel=LAW_TOLERANCE)


@settings(max_examples=200)
@given(law=physical_laws, h=st.floats(1e-6, 1.0), v=st.tuples(speeds, speeds, speeds), q=normals)
def test_a_turned_contact_has_the_turned_force(host: HostLibrary, law: Law, h: float, v, q) -> None:
    turn = Rotation.from_rotvec(2.0 * np.array(q))
    flat = contact(host, law, h, v)
    turned = contact(host, law, h, turn.apply(v), turn.apply(UP))
    size = max(flat.elastic_force, flat.normal_force) * (1.0 + law.K_fr)  # full damping leaves a rounded elastic force
    # turning costs w and v_t 1e-15 of |v|, which the slopes k_D and k_T turn into forces
    rounding = LAW_TOLERANCE + 1e-15 * math.hypot(*v) * (law.k_D + law.k_T)
    np.testing.assert_allclose(turned.force, turn.apply(flat.force), rtol=0.0, atol=size * rounding + 1e-300)


# --- extreme numbers --------------------------------------------------------------------------------------------------

EXTREME = [0.0, 5e-324, 1e-310, 1e-160, 1.0, 1e150]
extreme = st.one_of(st.sampled_from(EXTREME), st.floats(0.0, 1e150))
signed = st.one_of(
    st.sampled_from([sign * value for value in EXTREME for sign in (1.0, -1.0)]), st.floats(-1e150, 1e150)
)
extreme_laws = st.builds(
    Law,
    C_F=extreme.map(lambda value: min(value, 1e130)),  # with h and 1/Delta <= 1e16 the normal force stays finite
    K_fr=extreme,
    C_r=st.one_of(st.sampled_from(RESTITUTIONS), st.floats(0.0, 1.0)),
    k_D=extreme,
    k_E=st.one_of(st.sampled_from([*SHARES, math.nextafter(1.0, 0.0)]), st.floats(0.0, 1.0, exclude_max=True)),
    k_T=extreme,
)


@settings(max_examples=500)
@example(law=Law(C_F=1e130, K_fr=1e150), h=1e150, v=(0.0, 0.0, -1.0), n=UP)
@example(law=Law(C_F=1e130, K_fr=1e150), h=1e150, v=(1.0, 0.0, 0.0), n=UP)
@given(law=extreme_laws, h=extreme, v=st.tuples(signed, signed, signed), n=st.one_of(st.just(UP), normals))
def test_no_finite_contact_gives_nan(host: HostLibrary, law: Law, h: float, v, n) -> None:
    """A normal force that a double can hold; a friction force that it cannot is infinite, not undefined."""
    found = contact(host, law, h, v, n)
    assert not any(map(math.isnan, found.numbers())), found
    assert math.isfinite(found.normal_force)


@settings(max_examples=300)
@given(law=extreme_laws, w=signed)
def test_damping_ratio_of_finite_numbers_is_finite(host: HostLibrary, law: Law, w: float) -> None:
    assert math.isfinite(damping_ratio(host, law, w))
