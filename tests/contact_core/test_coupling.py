"""The force that a contact port returns in plain co-simulation: energy at practical communication steps.

N is the number of communication steps in an undamped contact.  Rebound: sqrt(E / E_exact) behind the contact; exact is
the motion under the law itself, by scipy.  Every figure is over fifteen phases of the impact within a
step, with a master that knows nothing: Jacobi (the force acts one interval late) or Gauss-Seidel."""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

from tests.contact_core.held_bodies import PHASES, Body, Flexible, Pair
from tests.contact_core.held_cases import (
    CASES,
    CONTACT,
    FLEXIBLE,
    LASTING,
    STEEP,
    STIFFNESS,
    SWEEP,
    Array,
    G,
    Lasting,
    Law,
    exact,
    rod_admittance,
)
from tests.contact_core.hosted import load_c

JACOBI, GAUSS_SEIDEL, AUTO = 1, 0, -1


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    loaded = load_c("coupling.c", tmp_path_factory.mktemp("coupling"))
    loaded.harmonic.restype = ctypes.c_double
    return loaded


class Port:
    """The coupled port at one contact point, one state for each phase."""

    def __init__(
        self, library: ctypes.CDLL, law: Law, lag: int = AUTO, m_eff: float = 0.0, identify: bool = True
    ) -> None:
        self.library, self.law, self.count = library, law.numbers(), len(PHASES)
        self.options = (lag, int(identify), 0, ctypes.c_double(m_eff))
        self.memory = ctypes.create_string_buffer(library.size() * self.count)
        library.start(self.count, self.memory, *self.options)
        self.evaluations: list[int] = []

    def rewind(self) -> None:
        self.library.rewind_all(self.count, self.memory)

    def admittances(self) -> Array:
        W = np.empty(self.count)
        self.library.admittances(self.count, self.memory, W.ctypes)
        return W

    def force(self, r: Array, v: Array, H: float) -> Array:
        f, counts = np.zeros((self.count, 3)), (ctypes.c_int * self.count)()
        r, v = np.ascontiguousarray(r), np.ascontiguousarray(v)
        self.library.step(
            self.count, self.memory, self.law, *self.options, r.ctypes, v.ctypes, ctypes.c_double(H), f.ctypes, counts
        )
        self.evaluations += [count for count in counts if count]
        return f


class Hold:
    """The literal law at the inputs."""

    def __init__(self, law: Law) -> None:
        self.law = law

    def rewind(self) -> None:
        pass

    def force(self, r: Array, v: Array, H: float) -> Array:
        return self.law.force(r, v)


def run(body: Body | Pair, ports: Sequence[Port | Hold], master: int, H: float, steps: int) -> None:
    held = [np.zeros((len(PHASES), 3)) for _ in ports]
    for _ in range(steps):
        points = body.points(body.q, body.v)
        new = [port.force(r, v, H) for port, (r, v) in zip(ports, points, strict=True)]
        body.advance(held if master == JACOBI else new, H)
        held = new


def impact(
    library: ctypes.CDLL, name: str, N: float, master: int, impacts: int = 1, hold: bool = False, **options: float
) -> tuple[Array, Array, list[int]]:
    """Rebound and velocity error |v - v_exact| / |v_0| in the mass norm, of the last impact, by phase; evaluations."""
    case = (CASES | SWEEP | STEEP)[name]
    H = case.time / N
    ports = [Hold(law) if hold else Port(library, law, **options) for law in case.laws]  # type: ignore[arg-type]
    for _ in range(impacts):
        body = case.body()
        before = body.v.copy()
        body.lift((PHASES + 2) * H)
        for port in ports:
            port.rewind()
        run(body, ports, master, H, math.ceil(case.contacts * case.time / H) + 4)
    norm = lambda v: np.sqrt((v * v * body.mass).sum(axis=1))  # noqa: E731
    aim = exact(name)
    rebound = norm(body.v) / norm(aim[None])
    counts = [count for port in ports if isinstance(port, Port) for count in port.evaluations]
    return rebound, norm(body.v - aim) / norm(before), counts


# --- the force of one interval -------------------------------------------------------------------------------------

depths = st.floats(-1e-3, 1e-3)
speeds = st.floats(-2.0, 2.0)
laws = st.builds(
    Law, exponent=st.sampled_from([1.0, 1.5, 2.0]), C_r=st.floats(0.05, 1.0), K_fr=st.sampled_from([0.0, 0.3]),
    k_D=st.sampled_from([100.0, 1e4]),
)  # fmt: skip


def interval(
    library: ctypes.CDLL, law: Law, x: float, w: float, u: tuple[float, float], a: Sequence[float], W: Array, H: float,
    beyond: float = 0.0, kappa: float = 0.0, reach: float = 0.0,
) -> tuple[Array, float, int]:  # fmt: skip
    """Force, energy made and evaluations of one interval."""
    at = (ctypes.c_double * 25)(x, w, *u, *a, *W.flat, H, beyond, 0, 0, 0, reach, kappa)
    f, made = (ctypes.c_double * 3)(), ctypes.c_double()
    count = library.interval(law.numbers(), at, ctypes.c_double(1.0), ctypes.c_double(0.0), f, ctypes.byref(made))
    return np.array(f), made.value, count


def admittance(numbers: Sequence[float]) -> Array:
    """Symmetric positive definite, about 1/kg."""
    A = np.array(numbers).reshape(3, 3)
    return A @ A.T / 3 + 0.2 * np.eye(3)


nine = st.lists(st.floats(-1.0, 1.0), min_size=9, max_size=9)


@given(law=laws, x=depths, w=speeds, ux=speeds, uy=speeds, az=st.floats(-20, 20), numbers=nine, h=st.floats(0.01, 3))
def test_an_elastic_force_held_over_an_interval_makes_no_energy(
    library: ctypes.CDLL, law: Law, x: float, w: float, ux: float, uy: float, az: float, numbers: list[float], h: float
) -> None:
    law = replace(law, C_r=1.0)
    f, made, _ = interval(library, law, x, w, (ux, uy), (0.3, -0.2, az), admittance(numbers), h / 1000)
    kinetic = 0.5 * (w * w + ux * ux + uy * uy) + STIFFNESS * 1e-6
    assert f[2] >= 0
    assert abs(made) <= 1e-11 * kinetic


@given(law=laws, x=depths, w=speeds, az=st.floats(0, 20), numbers=nine, h=st.floats(0.01, 3))
def test_with_kappa_another_potential_is_kept(
    library: ctypes.CDLL, law: Law, x: float, w: float, az: float, numbers: list[float], h: float
) -> None:
    """The work of N is the change of U + H^2/6 (a F + W F^2/2) at any H, touch-down and release included."""
    law, H, W = replace(law, C_r=1.0, K_fr=0.0), h / 1000, admittance(numbers)
    f, _, _ = interval(library, law, x, w, (0, 0), (0, 0, az), W, H, kappa=H * H / 6)
    end = x + H * w - 0.5 * H * H * (az + W[2, 2] * f[2])

    def potential(depth: float) -> float:
        F = law.C * max(depth, 0.0) ** law.exponent
        return F * max(depth, 0.0) / (law.exponent + 1) + H * H / 6 * (az * F + W[2, 2] * F * F / 2)

    size = 0.5 * w * w + potential(x) + STIFFNESS * 1e-6
    assert f[2] * (end - x) == pytest.approx(potential(end) - potential(x), abs=1e-9 * size)


@given(x=depths, w=speeds, az=st.floats(-20, 20), numbers=nine, h=st.floats(0.01, 1), share=st.floats(0, 1))
def test_beyond_the_end_of_the_interval_a_force_from_elsewhere_makes_no_energy(
    library: ctypes.CDLL, x: float, w: float, az: float, numbers: list[float], h: float, share: float
) -> None:
    """Wherever between x and x_e = x_1 + H w_1 the point really ends, U(x_end) - U(x) <= N (x_end - x)."""
    law, H, W = Law(), h / 1000, admittance(numbers)
    f, _, _ = interval(library, law, x, w, (0, 0), (0, 0, az), W, H, beyond=1.0)
    alpha = az + W[2] @ f
    end = x + share * (H * w - 0.5 * H * H * alpha + H * (w - H * alpha))
    U = lambda depth: 0.5 * law.C * max(depth, 0.0) ** 2  # noqa: E731
    assert U(end) - U(x) <= f[2] * (end - x) + 1e-11 * (0.5 * w * w + law.C * 1e-6)


@given(law=laws, x=depths, w=speeds, ux=speeds, az=st.floats(-20, 20), numbers=nine, h=st.floats(0.01, 3))
def test_the_force_is_found_in_few_evaluations(
    library: ctypes.CDLL, law: Law, x: float, w: float, ux: float, az: float, numbers: list[float], h: float
) -> None:
    assert interval(library, law, x, w, (ux, 0.1), (0, 0, az), admittance(numbers), h / 1000)[2] <= 40


@given(
    C_r=st.floats(0.02, 0.3), k_D=st.floats(30, 1000), creep=st.floats(-1.5, 1.5), load=st.floats(0.5, 1.8),
    wH=st.floats(0.05, 1.5), depth=st.floats(1e-4, 1e-2),
)  # fmt: skip
@example(C_r=0.2249, k_D=215.92, creep=-0.1795, load=1.6398, wH=0.1074, depth=2.52e-4)
@example(C_r=0.1301, k_D=36.46, creep=0.1744, load=0.8417, wH=0.7636, depth=1.1e-4)
def test_the_force_of_a_body_that_a_load_presses_on_is_that_of_bisection(
    library: ctypes.CDLL, C_r: float, k_D: float, creep: float, load: float, wH: float, depth: float
) -> None:
    """The right side is steep between two saturated ends, from one of which Newton's steps leap to the other."""
    law = Law(C_r=C_r, k_D=k_D)
    H, d = wH / math.sqrt(law.C), law.limits
    w, a, reach = creep * d[0] / k_D, -load * law.C * depth, H * law.C * depth

    def right_side(N: float) -> float:
        x_1, w_1 = depth + H * w - 0.5 * H * H * (a + N), w - H * (a + N)
        lasting = [max(x, 0.0) ** 2 for x in (depth, x_1)]
        mean = 0.5 * law.C * (lasting[1] - lasting[0]) / (x_1 - depth) if x_1 != depth else law.C * depth
        ratios = [min(max(k_D * rate, d[1]), d[0]) for rate in (w, w_1)]
        z = reach * (ratios[1] - ratios[0]) / (w_1 - w) if w_1 != w else 0.0
        begin = w + z / (6 + 2 * z) * (w_1 - w)
        return mean * float(library.harmonic(law.numbers(), ctypes.c_double(begin), ctypes.c_double(w_1)))

    f, _, count = interval(library, law, depth, w, (0, 0), (0, 0, a), np.diag([0.0, 0.0, 1.0]), H, reach=reach)
    root = brentq(lambda N: right_side(N) - N, 0.0, right_side(0.0) * (1 + 1e-9), xtol=1e-13, rtol=1e-13)
    assert f[2] == pytest.approx(root, rel=1e-7)
    assert count <= 40


@given(C_r=st.floats(0.02, 1.0), k_D=st.sampled_from([10.0, 100.0, 1e4]), w=speeds, w_1=speeds)
def test_the_harmonic_mean_is_that_of_quadrature(
    library: ctypes.CDLL, C_r: float, k_D: float, w: float, w_1: float
) -> None:
    law = Law(C_r=C_r, k_D=k_D)
    d_comp, d_rest = law.limits
    kinks = sorted(k for k in (d_comp / k_D, d_rest / k_D) if min(w, w_1) < k < max(w, w_1))
    ends = [min(w, w_1), *kinks, max(w, w_1)]
    inverse = lambda rate: 1 / (1 + min(max(k_D * rate, d_rest), d_comp))  # noqa: E731
    total = sum(quad(inverse, a, b, epsrel=1e-12)[0] for a, b in itertools.pairwise(ends))
    mean = (ends[-1] - ends[0]) / total if ends[-1] - ends[0] > 1e-12 else 1 / inverse(w)
    found = library.harmonic(law.numbers(), ctypes.c_double(w), ctypes.c_double(w_1))
    assert found == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize("z", [0.05, 1.0, 20.0])
def test_friction_is_the_mean_of_the_ramp_over_the_interval(library: ctypes.CDLL, z: float) -> None:
    """On the ramp u' = a - w_e c u is linear: its mean over H is known.  Normal force 10 N, held by a = 0, W_zz ~ 0."""
    law, H = Law(K_fr=0.3, k_T=100.0), 1e-3
    x = 10.0 / law.C
    c = law.K_fr * 10.0 * law.k_T
    w_e = z / (H * c)
    W = np.diag([w_e, w_e, 1e-9])
    u, a = 2e-3, 0.7
    f, _, _ = interval(library, law, x, 0.0, (u, 0.0), (a, 0.0, 0.0), W, H)
    rest = a / (w_e * c)
    mean = rest + (u - rest) * (1 - math.exp(-z)) / z
    assert f[2] == pytest.approx(10.0, rel=1e-6)
    assert f[0] == pytest.approx(-c * mean, rel=1e-5)


@given(u=st.integers(-50, 50), a=st.integers(-200, 200), w_e=st.floats(1e-6, 30.0), h=st.floats(0.01, 3))
def test_friction_is_that_mean_where_the_slip_begins_to_slide_comes_to_rest_or_reverses(
    library: ctypes.CDLL, u: float, a: float, w_e: float, h: float
) -> None:
    """u' = a - w_e F(u), F = 3 N clip(100 u): its mean over H by an integrator of stiff equations.  mm/s, dm/s^2."""
    law, H, W = Law(K_fr=0.3, k_T=100.0), h / 1000, np.diag([w_e, w_e, 1e-12])
    u, a = u / 1000, a / 10
    f, _, _ = interval(library, law, 10.0 / law.C, 0.0, (u, 0.0), (a, 0.0, 0.0), W, H)

    def slope(_: float, state: Array) -> list[float]:
        F = 3.0 * min(max(100.0 * state[0], -1.0), 1.0)
        return [a - w_e * F, F]

    end = solve_ivp(slope, (0.0, H), [u, 0.0], "LSODA", rtol=1e-9, atol=1e-13, max_step=H / 20).y[1, -1]
    assert f[0] == pytest.approx(-end / H, abs=1e-5)


@given(
    k_T=st.floats(1.0, 1e4),
    u=st.floats(-3.0, 3.0),
    z=st.floats(1e-3, 1e3),
    off=st.integers(-3, 3),
    h=st.floats(0.01, 3),
)
@example(k_T=13.187669454678922, u=-0.58, z=39.5, off=0, h=6.5)
def test_friction_stays_within_its_cone_under_a_load_of_just_as_much(
    library: ctypes.CDLL, k_T: float, u: float, z: float, off: int, h: float
) -> None:
    """The slip reaches the end of the ramp in no finite time; off: units in the last place beside it; u over 1/k_T."""
    H = h / 1000
    q = z / (k_T * H)
    rate = float(np.nextafter(q, math.copysign(math.inf, off)) if off else q)
    library.mean_ramp.restype = ctypes.c_double
    for side in (-1.0, 1.0):
        mean = library.mean_ramp(*(ctypes.c_double(x) for x in (k_T, u / k_T, side * rate, q, H)))
        assert -1.0 - 1e-12 <= mean <= 1.0 + 1e-12


@given(x=st.floats(1e-6, 1e-3), ux=st.floats(-9e-3, 9e-3), ax=st.floats(-20, 20), numbers=nine, h=st.floats(0.01, 3))
def test_a_ramp_that_comes_as_a_function_gives_the_force_of_the_ramp_while_it_creeps(
    library: ctypes.CDLL, x: float, ux: float, ax: float, numbers: list[float], h: float
) -> None:
    law, W, u, H = Law(K_fr=0.3, k_T=100.0), admittance(numbers), np.array([ux, 0.2 * ux]), h / 1000
    same = replace(law, by_functions=True)
    one, other = (interval(library, each, x, 0.0, tuple(u), (ax, 0, 0), W, H)[0] for each in (law, same))
    end = u + H * (np.array([ax, 0.0]) + (W @ one)[:2])
    if max(np.linalg.norm(u), np.linalg.norm(end)) < 1.0 / law.k_T:
        assert other == pytest.approx(one, rel=1e-9, abs=1e-9)
    assert np.linalg.norm(other[:2]) <= 0.3 * other[2] * (1 + 1e-12)


# --- impacts ---------------------------------------------------------------------------------------------------------

EVERYDAY = (
    "linear, e = 1",
    "linear, C_r 0.5",
    "Hertz, C_r 0.5",
    "sphere that slides, C_r 0.5",
    "two free bodies, C_r 0.5",
)  # all cases, with FMUs under both masters: tests/elements/test_coupled_acceptance.py


@pytest.mark.parametrize("name", EVERYDAY)
def test_first_impact_on_an_unknown_partner_under_jacobi(library: ctypes.CDLL, name: str) -> None:
    for N, allowed in ((16, 0.005), (6.3, 0.015)):
        rebound, error, _ = impact(library, name, N, JACOBI)
        assert abs(rebound.mean() - 1) <= allowed, N
        assert error.max() <= {16: 0.01, 6.3: 0.05}[N], N


@pytest.mark.parametrize("name", EVERYDAY)
def test_second_impact_under_jacobi(library: ctypes.CDLL, name: str) -> None:
    for N, allowed in ((6.3, 0.01), (3.1, 0.07)):
        rebound, _, _ = impact(library, name, N, JACOBI, impacts=2)
        assert abs(rebound.mean() - 1) <= allowed, N


@pytest.mark.parametrize("name", EVERYDAY)
def test_known_gauss_seidel(library: ctypes.CDLL, name: str) -> None:
    rebound, _, _ = impact(library, name, 6.3, GAUSS_SEIDEL, lag=0)
    assert abs(rebound.mean() - 1) <= 0.01


@pytest.mark.parametrize("name", EVERYDAY)
def test_no_phase_has_more_energy_than_with_the_literal_force(library: ctypes.CDLL, name: str) -> None:
    for N in (16, 6.3, 3.1):
        for master in (JACOBI, GAUSS_SEIDEL):
            ours, literal = impact(library, name, N, master)[0], impact(library, name, N, master, hold=True)[0]
            assert (ours <= literal).all(), (N, master)


def test_the_literal_force_makes_energy_and_would_fail_these_tests(library: ctypes.CDLL) -> None:
    """Rebounds of the elastic impact: coupling by a held force multiplies the speed."""
    rebounds = [impact(library, "linear, e = 1", N, JACOBI, hold=True)[0].mean() for N in (31, 16, 6.3, 3.1)]
    assert rebounds == pytest.approx([1.27, 1.57, 2.82, 5.68], abs=0.006)


def test_an_elastic_impact_is_exact_at_any_step_once_the_mass_is_given(library: ctypes.CDLL) -> None:
    for h in (0.2, 1.0, 2.0, 3.5, 5.0):  # omega H
        rebound, _, _ = impact(library, "linear, e = 1", math.pi / h, JACOBI, lag=1, m_eff=1.0)
        assert rebound == pytest.approx(1, abs=1e-9), h


STEEPEST, *OTHERS = STEEP


@pytest.mark.parametrize("name", [STEEPEST, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
@pytest.mark.slow
def test_a_rod_that_friction_drives_into_the_surface(library: ctypes.CDLL, name: str) -> None:
    """The first impact on an unknown rod, though its normal answer has the wrong sign: all of the answer tells the lag.
    Allowed at N = 16: what a reversal of friction may cost; below, what the literal force errs by."""
    (law,) = STEEP[name].laws
    W_nn, W_nt = rod_admittance(60.0)
    assert W_nn < law.K_fr * W_nt
    for N in (16, 6.3):
        for master in (JACOBI, GAUSS_SEIDEL):
            rebound, error, _ = impact(library, name, N, master)
            literal = impact(library, name, N, master, hold=True)
            assert error.max() < literal[1].max() and rebound.max() < literal[0].max(), (N, master)
            assert N < 16 or error.max() <= 0.06, master


def test_restitution_of_the_second_impact(library: ctypes.CDLL) -> None:
    for N, allowed in ((16, 0.005), (6.3, 0.01)):
        assert impact(library, "linear, C_r 0.1, k_D 100", N, JACOBI, impacts=2)[1].max() <= allowed, N


@pytest.mark.slow
def test_few_evaluations_of_the_law(library: ctypes.CDLL) -> None:
    counts: list[int] = []
    for name in ("linear, e = 1", "linear, C_r 0.1", "Hertz, C_r 0.5", "rod, C_r 0.5"):
        for N in (16, 6.3, 3.1):
            counts += impact(library, name, N, JACOBI, impacts=2)[2]
    assert np.median(counts) <= 6 and max(counts) <= 20


# --- contacts that last ----------------------------------------------------------------------------------------------


def lasting(library: ctypes.CDLL, case: Lasting, master: int, h: float) -> float:
    """Error near the end, at omega H = h."""
    H = h / math.sqrt(STIFFNESS)
    body, port, steps = case.body(), Port(library, case.law), case.duration(H)
    body.lift((PHASES + 2) * H * case.drop)
    kept = []
    held = np.zeros((len(PHASES), 3))
    for k in range(steps):
        new = port.force(*body.points(body.q, body.v)[0], H)
        body.advance([held if master == JACOBI else new], H)
        held = new
        if k >= 0.8 * steps:
            kept.append((body.q.copy(), body.v.copy()))
    q, v = zip(*kept, strict=True)
    return case.error(np.array(q), np.array(v))


@pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])
@pytest.mark.parametrize(
    ("name", "h"), [*(("rest", h) for h in (0.5, 1.0, 2.0)), *(("incline", h) for h in (0.5, 1.0, 1.5))]
)
def test_a_contact_that_lasts(library: ctypes.CDLL, name: str, h: float, master: int) -> None:
    """A body comes to rest, or creeps down an incline, as it should."""
    assert lasting(library, LASTING[name], master, h) <= 1e-9


@pytest.mark.slow
def test_a_bouncing_ball_keeps_its_energy(library: ctypes.CDLL) -> None:
    """About fifteen elastic impacts under gravity at six steps a contact, Jacobi."""
    H = CONTACT / 6.3
    body = Body((0.0, -1.0, 0.0), gravity=(0.0, -G))
    body.lift((PHASES + 2) * H)
    energy = lambda: 0.5 * (body.v[:, 1] ** 2) + G * body.q[:, 1] + STIFFNESS / 2 * np.minimum(body.q[:, 1], 0) ** 2  # noqa: E731
    before = energy()
    run(body, [Port(library, Law())], JACOBI, H, math.ceil(15 * (2 / G + CONTACT) / H))
    assert energy() == pytest.approx(before, rel=0.01)


# --- the state -------------------------------------------------------------------------------------------------------


def test_a_copy_of_the_state_continues_bit_for_bit(library: ctypes.CDLL) -> None:
    H = CONTACT / 6.3
    law = Law(C_r=0.5, K_fr=0.3)
    body, port = Body((0.3, -1.0, 0.0)), Port(library, law)
    body.lift((PHASES + 2) * H)
    run(body, [port], GAUSS_SEIDEL, H, 5)
    memory, q, v = bytes(port.memory.raw), body.q.copy(), body.v.copy()
    run(body, [port], GAUSS_SEIDEL, H, 10)
    first = body.q.copy(), body.v.copy(), bytes(port.memory.raw)
    port.memory.raw, body.q, body.v = memory, q, v
    run(body, [port], GAUSS_SEIDEL, H, 10)
    assert (body.q == first[0]).all() and (body.v == first[1]).all() and port.memory.raw == first[2]


@pytest.mark.parametrize("lag", [AUTO, 0, 1, 2])
def test_a_contact_that_is_left_early_has_neither_force_nor_memory_to_come(library: ctypes.CDLL, lag: int) -> None:
    """A point that pushes of random strength and direction throw about above the surface and into it."""
    rng, law = np.random.default_rng(5), Law(C_r=0.5, K_fr=0.3).numbers()
    options, H = (lag, 1, 0, ctypes.c_double(0.0)), 1e-3
    memory = ctypes.create_string_buffer(library.size())
    library.start(1, memory, *options)
    f, count, found = np.zeros((1, 3)), (ctypes.c_int * 1)(), [0, 0, 0]
    r, v, pushes = np.array([0.0, 0.0, 1e-3]), np.zeros(3), np.zeros(3)
    for k in range(4000):
        if k % 5 == 0:
            pushes = 10.0 ** rng.uniform(-1.0, 4.0) * rng.uniform(-1.0, 1.0, 3)
        if abs(r[2]) > 5e-3 or abs(v[2]) > 2.0:
            r, v = np.array([0.0, 0.0, 1e-3]), np.zeros(3)
        found[library.reach(memory, law, *options, r.ctypes, v.ctypes, ctypes.c_double(H))] += 1
        library.step(1, memory, law, *options, r.ctypes, v.ctypes, ctypes.c_double(H), f.ctypes, count)
        a = pushes + f[0]
        r, v = r + H * v + 0.5 * H * H * a, v + H * a
    assert found[0] > 300 and found[1] > 300 and found[2] == 0, found


def test_a_velocity_that_is_not_connected_gives_the_law_at_the_inputs(library: ctypes.CDLL) -> None:
    law, H = Law(C_r=0.5), 1e-4
    port = Port(library, law)
    r, v = np.zeros((len(PHASES), 3)), np.zeros((len(PHASES), 3))
    for k in range(8):
        r[:, 2] = 3e-4 - 1e-4 * k
        f = port.force(r, v, H)
    assert f == pytest.approx(law.force(r, v))


def loaded(
    library: ctypes.CDLL, law: Law, load: float, depth: float, speed: float, H: float, steps: int, lag: int
) -> tuple[Array, Array, Array]:
    """Depth m, rate m/s and force N of 1 kg that `load`, N, presses on a contact."""
    port = Port(library, law, lag=lag)
    shape = (len(PHASES), 3)
    r, v, held, kept = np.zeros(shape), np.zeros(shape), np.zeros(shape), []
    r[:, 2], v[:, 2] = -depth, -speed
    for _ in range(steps):
        new = port.force(r, v, H)
        kept.append((-r[:, 2], -v[:, 2], new[:, 2]))
        a = (held if lag else new) * [0, 0, 1] - [0, 0, load]
        held = new
        r, v = r + H * v + 0.5 * H * H * a, v + H * a
    depths, rates, forces = np.array(kept).transpose(1, 0, 2)
    return depths, rates, forces


@pytest.mark.parametrize("lag", [0, 1])
def test_a_body_that_creeps_back_under_a_load_does_not_ring(library: ctypes.CDLL, lag: int) -> None:
    """Damping of C_r = 0.12 is so steep that the rate decays in much less than a step.  Forces between those of two
    samples would alternate about the load; here what is left of that falls to a third and less in each interval."""
    law = Law(C=1e6, C_r=0.12, k_D=500.0)
    _, rates, forces = loaded(library, law, 300.0, -2e-4, 0.5, math.pi / math.sqrt(law.C) / 6, 60, lag)
    ring = np.abs(np.diff(forces, n=2, axis=0)) / 300.0
    assert ring[20:].max() < 1e-3 and np.abs(forces[20:] / 300.0 - 1).max() < 1e-3
    d_comp, d_rest = law.limits
    assert np.all((rates[20:] < 0) & (rates[20:] > d_rest / law.k_D)) and d_comp > 0.9


def test_an_oscillation_under_a_load_keeps_time(library: ctypes.CDLL) -> None:
    """With 12.6 steps a period; the trapezoidal rule is late by 2 pi (omega H)^2/12 = 0.13 after each."""
    law, load, speed, H = Law(C=1e6, C_r=1.0), 500.0, 0.2, 5e-4
    depths, _, _ = loaded(library, law, load, load / law.C, speed, H, 26, 0)
    exact = load / law.C + speed * 1e-3 * np.sin(1e3 * H * np.arange(26))
    assert np.abs(depths[:14] - exact[:14, None]).max() < 0.03 * speed * 1e-3
    assert np.abs(depths - exact[:, None]).max() < 0.05 * speed * 1e-3


@pytest.mark.parametrize("lag", [0, 1])
def test_a_body_at_rest_from_the_start_gets_the_force_of_the_law(library: ctypes.CDLL, lag: int) -> None:
    law, load = Law(C=1e6, C_r=0.5), 20.0
    depth = load / law.C
    port = Port(library, law, lag=lag)
    r = np.tile([0.0, 0.0, -depth], (len(PHASES), 1))
    for _ in range(10):
        assert port.force(r, np.zeros_like(r), 1e-4) == pytest.approx(np.tile([0, 0, load], (len(PHASES), 1)))


@pytest.mark.parametrize("lag", [0, 1])
def test_the_force_at_rest_is_the_load_whatever_is_owed(library: ctypes.CDLL, lag: int) -> None:
    """A first impact of an unknown mass owes energy, and a body that no longer moves cannot pay it."""
    law = Law(C=1e5, C_r=0.5, k_D=100.0)
    _, _, forces = loaded(library, law, 142.0, 0.0, 0.3, 2 / math.sqrt(law.C), 100, lag)
    assert forces[80:] == pytest.approx(np.full_like(forces[80:], 142.0), rel=2e-3)


@pytest.mark.parametrize("lag", [AUTO, 0, 1])
def test_a_step_that_tends_to_0_gives_the_law(library: ctypes.CDLL, lag: int) -> None:
    """As a master that controls its error takes it after a touch, behind longer ones in flight, the mass unknown."""
    law, v, errors = Law(C=1e6, C_r=0.6, K_fr=0.3), np.tile([0.2, 0.0, -0.3], (len(PHASES), 1)), []
    for H in 1e-4 * 0.25 ** np.arange(6):
        port, r = Port(library, law, lag=lag), np.tile([0.0, 0.0, 1e-4], (len(PHASES), 1))
        for _ in range(4):
            port.force(r, v, 1e-4)
            r = r + 1e-4 * v
        exact, found = (f[:, [0, 2]] for f in (law.force(r, v), port.force(r, v, H)))
        errors.append(np.abs(found / exact - 1).max())
    assert errors[-1] < 1e-2 and errors[-2] / errors[-1] == pytest.approx(4.0, rel=0.05), errors


@pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])
@pytest.mark.parametrize(
    ("law", "k", "start", "H", "steps"),
    [
        (Law(C=1.07e4, C_r=0.38, k_D=100.0, K_fr=0.093), 8280.0, (8.3e-4, 1.67e-4, 0.19), 5.07e-4, 383),
        (Law(C=2.08e4, C_r=0.86, k_D=100.0, K_fr=0.132), 10400.0, (-7.6e-4, 1.47e-4, 0.086), 1.814e-3, 78),
    ],
)
@pytest.mark.slow
def test_friction_beside_a_spring_is_nearer_to_the_law_than_a_held_one(
    library: ctypes.CDLL, master: int, law: Law, k: float, start: tuple[float, float, float], H: float, steps: int
) -> None:
    """1 kg swings sideways on a spring and drops on a rough floor: 60 and 12 steps a contact, order given and not."""
    fine = 64
    exact = sideways_energy(law.force, k, start, H / fine, fine * steps, GAUSS_SEIDEL)
    held = np.abs(sideways_energy(law.force, k, start, H, steps, master) - exact).mean()
    for lag in (master, AUTO):
        found = sideways_energy(partial(Port(library, law, lag).force, H=H), k, start, H, steps, master)
        assert np.abs(found - exact).mean() < 0.5 * held


def sideways_energy(
    force: Callable[[Array, Array], Array], k: float, start: tuple[float, float, float], H: float, steps: int,
    master: int,
) -> Array:  # fmt: skip
    """Of 1 kg on a spring along y, J, after steps under the force of a floor; the spring is not held."""
    r, v, f = np.zeros((15, 3)), np.zeros((15, 3)), np.zeros((15, 3))
    r[:, 1], r[:, 2], v[:, 1] = start[0], start[1] * (1 + 0.2 * PHASES), start[2]
    omega = math.sqrt(k)
    C, S = math.cos(omega * H), math.sin(omega * H)
    for _ in range(steps):
        before, f = f, force(r, v)
        acting = before if master == JACOBI else f
        y = r[:, 1] - acting[:, 1] / k
        r[:, 1], v[:, 1] = acting[:, 1] / k + C * y + S / omega * v[:, 1], C * v[:, 1] - omega * S * y
        a = acting[:, 2] - G
        r[:, 2] += H * v[:, 2] + 0.5 * H**2 * a
        v[:, 2] += H * a
    return 0.5 * v[:, 1] ** 2 + 0.5 * k * r[:, 1] ** 2


@pytest.mark.parametrize("N", [12, 60])
@pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])
def test_friction_beside_a_spring_shows_the_mass(library: ctypes.CDLL, master: int, N: int) -> None:
    """What the spring does to 1 kg along the friction is no answer to the force: W_nn = 1/m, order given."""
    rng = np.random.default_rng(4)
    for _ in range(8):
        C, e, mu, drop, speed, across, side = rng.random(7)
        law = Law(C=10.0 ** (4 + 2 * C), C_r=0.3 + 0.7 * e, k_D=100.0, K_fr=0.05 * 12**mu)
        k, period = law.C * 10.0 ** (2 * across - 2), math.pi / math.sqrt(law.C)
        h = 1e-4 * 10**drop if drop > 0.25 else -G / law.C * (1 + 2 * drop)
        time, port = 2 * math.sqrt(2 * abs(h) / G) + 6 * period, Port(library, law, master)
        start = ((side - 0.5) * 0.2 / math.sqrt(k), h, 0.4 * (speed - 0.5))
        H = period / N
        sideways_energy(partial(port.force, H=H), k, start, H, round(time / H), master)
        assert port.admittances() == pytest.approx(1.0, rel=0.1), (law, k, start)


def test_the_mass_is_known_one_answer_after_the_first_force(library: ctypes.CDLL) -> None:
    """The run begins less than a step before the contact: the first interval shows what else moves the body, and the
    second, under the first force, its mass; so the third force is that of a known mass, which owes what the first two
    have made."""
    law, H, load = Law(C=1e6), 2e-4, 50.0
    _, _, forces = loaded(library, law, load, -0.5 * H * 0.3, 0.3, H, 4, 1)
    x, v, made, kappa = -0.5 * H * 0.3, 0.3, 0.0, H * H / 6
    for force in [0.0, *forces[:2, 0]]:  # the state at the beginning of the interval on which forces[2] acts
        a, stored, x_0 = load - force, 0.5 * law.C * max(x, 0.0) ** 2, x
        x, v = x + H * v + 0.5 * H * H * a, v + H * a
        F_0, F = law.C * max(x_0, 0.0), law.C * max(x, 0.0)
        made += F * F / (2 * law.C) - stored - force * (x - x_0) + kappa * (F - F_0) * ((F_0 + F) / 2 - load)
    scale = 1.0 + made / (0.5 * v**2 + 0.25 * 0.5 * law.C * x**2)
    assert 1.05 < scale < 1.25
    stiffness = scale * law.C * (1.0 + kappa * law.C)  # the potential is law.C (1 + kappa law.C) x^2/2 - kappa load F
    exact = stiffness * (x + H * v / 2 + H * H * load / 4) - scale * kappa * law.C * load
    exact /= 1 + stiffness * H * H / 4
    assert forces[2, 0] == pytest.approx(exact, rel=1e-9)


def test_the_lag_is_found(library: ctypes.CDLL) -> None:
    """The first impact of a master that is Gauss-Seidel begins with the default; what that made is paid back."""
    first = impact(library, "linear, e = 1", 3.1, GAUSS_SEIDEL)[0].mean()
    second = impact(library, "linear, e = 1", 3.1, GAUSS_SEIDEL, impacts=2)[0].mean()
    assert first == pytest.approx(1, abs=1e-3) and second == pytest.approx(1, abs=1e-3)


def test_a_flexible_partner_is_served_down_to_six_steps_a_contact(library: ctypes.CDLL) -> None:
    """Its internal mode has three times the contact's frequency: compared by its whole energy."""
    H = FLEXIBLE.time / 16
    body = Flexible()
    body.lift((PHASES + 2) * H)
    run(body, [Port(library, Law())], JACOBI, H, 16 * 8 + 4)
    energy = (body.v**2 * body.mass).sum(axis=1) + body.stiffness * (body.q[:, 0] - body.q[:, 1]) ** 2
    assert np.sqrt(energy) == pytest.approx(1, abs=0.01)
