"""A guided point in plain co-simulation: what its coupled force does to the energy of a particle that holds it.

Lines: the x axis, and a ring of 1 m; two unlike transverse springs.  Jacobi: the force acts one interval late."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from fmu_builder.paths import shipped
from tests.contact_core.hosted import load_c

Array = NDArray[np.float64]
JACOBI, GAUSS_SEIDEL, AUTO = 1, 0, -1
K_1, K_2 = 1e4, 4e4
OMEGA = math.sqrt(K_2)  # of 1 kg, the faster one


class Guide(ctypes.Structure):
    _fields_ = [("k_1", ctypes.c_double), ("k_2", ctypes.c_double), ("ring", ctypes.c_int), ("growth", ctypes.c_double)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    loaded = load_c("coupled_point.c", tmp_path_factory.mktemp("point"))
    loaded.energy.restype = ctypes.c_double
    return loaded


def interval(
    library: ctypes.CDLL, guide: Guide, P: Array, v: Array, a: Array, W: float, H: float, c: float = 0.0, b: float = 0.0
) -> tuple[Array, Array, Array, int]:
    """Force, its dissipative part, the way D, and how often the middle was looked at."""
    f, damped, rubbed = np.zeros(3), np.zeros(3), np.zeros(3)
    numbers = [ctypes.c_double(x) for x in (c, b, W, H)]
    count = library.interval(
        ctypes.byref(guide), *numbers[:2], P.ctypes, v.ctypes, a.ctypes, *numbers[2:], ctypes.c_double(0.0), f.ctypes,
        damped.ctypes, rubbed.ctypes,
    )  # fmt: skip
    return f, damped + rubbed, H * v + H * H / 2 * (a + W * f), count


three = st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3)


@given(
    ring=st.booleans(), k_1=st.floats(1e2, 1e5), k_2=st.floats(1e2, 1e5), place=three, speed=three, pull=three,
    W=st.floats(0.1, 10.0), h=st.floats(0.01, 1.5),
)  # fmt: skip
def test_the_work_of_the_transverse_forces_is_the_change_of_their_energy_on_the_parabola(
    library: ctypes.CDLL, ring: bool, k_1: float, k_2: float, place: list[float], speed: list[float],
    pull: list[float], W: float, h: float,
) -> None:  # fmt: skip
    """f D = -(U_1 - U), two unlike springs, straight and curved lines, H up to h/sqrt(k W)."""
    guide, H = Guide(k_1, k_2, ring), h / math.sqrt(max(k_1, k_2) * W)
    P = np.array([1.0 if ring else 0.0, 0.0, 0.0]) + 0.01 * np.array(place)
    v, a = np.array(speed) + np.array([0.01, 0.02, 0.0]), 5 * np.array(pull)
    f, _, D, count = interval(library, guide, P, v, a, W, H)
    U, U_1 = (library.energy(ctypes.byref(guide), np.ascontiguousarray(at).ctypes) for at in (P, P + D))
    assert f @ D == pytest.approx(-(U_1 - U), abs=1e-9 * (U + U_1) + 1e-15)
    assert count <= (2 if not ring else 12)


@given(place=three, speed=three, c=st.floats(0.0, 1e3), b=st.floats(0.0, 1e3), H=st.floats(1e-4, 1e-2))
def test_damping_and_friction_take_energy_in_each_interval(
    library: ctypes.CDLL, place: list[float], speed: list[float], c: float, b: float, H: float
) -> None:
    P, v = np.array([1.0, 0.0, 0.0]) + 0.01 * np.array(place), np.array(speed)
    _, lost, D, _ = interval(library, Guide(K_1, K_2, True), P, v, np.zeros(3), 1.0, H, c, b)
    assert lost @ D <= 1e-12


@dataclass
class Bead:
    """1 kg on a guide, under a constant force; P, v after each step."""

    library: ctypes.CDLL
    guide: Guide
    master: int
    H: float
    P: ArrayLike
    v: ArrayLike
    pull: ArrayLike = (0.0, 0.0, 0.0)
    c: float = 0.0
    b: float = 0.0
    hold: bool = False
    lag: int = AUTO
    m_eff: float = 0.0
    trace: Array = field(init=False)

    def __post_init__(self) -> None:
        self.P, self.v, self.pull = (np.array(a, dtype=float) for a in (self.P, self.v, self.pull))
        self.memory = ctypes.create_string_buffer(self.library.size())
        self.held = np.zeros(3)
        self.trace = np.concatenate([self.P, self.v])[None]

    def run(self, steps: int) -> Bead:
        trace, number = np.zeros((steps, 6)), ctypes.c_double
        self.library.run(
            ctypes.byref(self.guide), number(1.0), self.pull.ctypes, number(self.c), number(self.b), self.master,
            self.hold, self.lag, number(self.m_eff), self.P.ctypes, self.v.ctypes, self.memory, self.held.ctypes,
            number(self.H), steps, len(self.trace) == 1, trace.ctypes,
        )  # fmt: skip
        self.trace = np.concatenate([self.trace, trace])
        return self

    def energy(self) -> Array:
        P, v = np.ascontiguousarray(self.trace[:, :3]), self.trace[:, 3:]
        U = [self.library.energy(ctypes.byref(self.guide), at.ctypes) for at in P]
        return 0.5 * (v**2).sum(axis=1) + np.array(U) - P @ self.pull

    def learned(self) -> list[float]:
        """Lag, W, made, taken."""
        out = (ctypes.c_double * 4)()
        self.library.learned(self.memory, out)
        return list(out)


@pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])
def test_jolts_by_others_in_fine_steps_are_no_mass(library: ctypes.CDLL, master: int) -> None:
    """20,000 steps a swing: its answer is below the noise of v, jolts across are not; W is 1/kg or unknown."""
    bead = Bead(
        library, Guide(K_1, K_2, False), master, 2 * math.pi / OMEGA / 20000, (0, 1e-4, 0), (0, 0, 0), lag=master
    )
    jolts = np.random.default_rng(3).uniform(-1.0, 1.0, (40, 2))
    for across in jolts:
        bead.pull = np.array([0.0, *across])
        W = bead.run(100).learned()[1]
        assert W == 0.0 or 0.5 < W < 2.0


RING = Guide(K_1, K_2, True)
ON_RING = ((1.0 + 1.0 / K_1, 0.0, 0.0), (0.0, 1.0, 0.2))  # carried round at 1 m/s, and struck across


@pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])
@pytest.mark.parametrize("h", [pytest.param(0.1, marks=pytest.mark.slow), 0.5, 1.0])
def test_a_bead_runs_round_a_ring_without_gain_or_loss(library: ctypes.CDLL, master: int, h: float) -> None:
    """A lap at 1 m/s, struck across the ring at 0.2 m/s; then with order and mass given, at every step."""
    steps = math.ceil(2 * math.pi * OMEGA / h)
    bead = Bead(library, RING, master, h / OMEGA, *ON_RING).run(steps)
    energy = bead.energy() / bead.energy()[0]
    assert energy[-1] == pytest.approx(1.0, abs=1e-9)
    assert bead.learned()[:2] == [master, pytest.approx(1.0, rel=1e-6)]
    given_ = Bead(library, RING, master, h / OMEGA, *ON_RING, lag=master, m_eff=1.0).run(steps)
    energy = given_.energy() / given_.energy()[0]
    assert np.abs(energy[200:] - 1).max() < 1e-9
    if master == GAUSS_SEIDEL:
        assert np.abs(energy - 1).max() < 1e-10


def test_the_literal_force_throws_the_bead_off(library: ctypes.CDLL) -> None:
    """The negative control, Jacobi: the struck motion alone gains exp(3 (omega H)^2/4) in a step, and more."""
    bead = Bead(library, RING, JACOBI, 0.1 / OMEGA, *ON_RING, hold=True).run(500)
    assert bead.energy()[-1] > 2 * bead.energy()[0]


def test_a_weight_is_carried_and_the_motion_across_is_damped(library: ctypes.CDLL) -> None:
    """On the x axis: at rest at delta = m g/k_2.  What the start made across the line is paid back along it as well."""
    guide = Guide(K_1, K_2, False)
    for master in (JACOBI, GAUSS_SEIDEL):
        bead = Bead(
            library, guide, master, 0.5 / OMEGA, (0, 0, 0), (1.0, 0, 0), pull=(0, 0, -9.81), c=100.0, lag=master
        ).run(600)
        assert bead.trace[-1, 2] == pytest.approx(-9.81 / K_2, rel=1e-9)
        assert bead.trace[-1, 4:] == pytest.approx([0.0, 0.0], abs=1e-9)
        assert bead.trace[-1, 3] == pytest.approx(1.0, abs=2e-3)
        assert abs(bead.trace[-1, 3] - bead.trace[-200, 3]) < 1e-12


def test_a_bead_rests_at_the_bottom_of_a_ring(library: ctypes.CDLL) -> None:
    """Rounding is not blown up by the short way.  Under Jacobi it grows until a millionth of the force changes, which
    begins the question for the order: 1e-6 * 9.81 N over m omega is 5e-8 m/s."""
    for master in (JACOBI, GAUSS_SEIDEL):
        place = (1.0 + 9.81 / K_1, 0.0, 0.0)
        bead = Bead(library, RING, master, 0.5 / OMEGA, place, (0.0, 0, 0), pull=(9.81, 0, 0)).run(500)
        assert np.abs(bead.trace[:, 3:]).max() < 5e-8
        assert bead.held == pytest.approx([-9.81, 0.0, 0.0], abs=1e-6)
        struck = Bead(library, RING, master, 0.5 / OMEGA, place, (0, 1e-9, 0), pull=(9.81, 0, 0), c=20.0, b=20.0)
        assert np.abs(struck.run(2000).trace[-100:, 3:]).max() < 1e-10


def test_friction_brakes_as_the_middle_of_the_interval_says(library: ctypes.CDLL) -> None:
    """v' = -b v by the rule of the middle: v_n+1 = v_n (1 - z/2)/(1 + z/2); all of it is booked as taken."""
    b, H = 20.0, 0.02
    bead = Bead(
        library, Guide(K_1, K_2, False), GAUSS_SEIDEL, H, (0, 0, 0), (1.0, 0, 0), b=b, lag=0, m_eff=1.0
    ).run(20)  # fmt: skip
    ratio = (1 - b * H / 2) / (1 + b * H / 2)
    assert bead.trace[:, 3] == pytest.approx(ratio ** np.arange(21), rel=1e-9)
    assert bead.learned()[3] == pytest.approx(0.5 * (1 - bead.trace[-2, 3] ** 2), rel=1e-9)


LOADED = ((0.0, 1e-3, 0.0), (2.0, 0.0, 0.0))  # at rest across the x axis, and moved along it


@pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])
def test_friction_at_the_start_is_no_debt_of_the_spring(library: ctypes.CDLL, master: int) -> None:
    """What friction takes in the first interval would, paid back across, throw a point that rests there.  A quarter of
    a period across, in steps of omega H = 1e-3."""
    H, steps = 1e-3 / math.sqrt(K_1), 1571
    bead = Bead(library, Guide(K_1, K_2, False), master, H, *LOADED, b=2.0, lag=master).run(steps)
    across = 1e-3 * math.cos(math.sqrt(K_1) * H * steps)
    assert bead.trace[-1, 1] == pytest.approx(across, abs=2e-9)
    assert bead.trace[-1, 4] == pytest.approx(-1e-3 * math.sqrt(K_1), rel=1e-5)
    assert abs(bead.learned()[2]) < 1e-6 * 0.5 * K_1 * 1e-6


@pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])
def test_springs_that_change_are_followed_as_the_step_falls(library: ctypes.CDLL, master: int) -> None:
    """Stiffness grows as 1 + t/0.1 s: what this does to their energy is none that the coupling made.  Against a step of
    a sixteenth; the law itself is nearer to nothing at any of the steps."""

    def end(h: float, **options: bool | int) -> float:
        guide = Guide(K_1, K_2, False, 10.0)
        bead = Bead(library, guide, master, h / math.sqrt(K_1), *LOADED, **options).run(round(4.0 / h))  # type: ignore[arg-type]
        return float(bead.trace[-1, 1])

    exact = end(0.1 / 256, lag=master)
    errors = [abs(end(h, lag=master) - exact) for h in (0.1, 0.05, 0.025)]
    held = [abs(end(h, hold=True) - exact) for h in (0.1, 0.05, 0.025)]
    assert errors[2] < 0.6 * errors[1] < 0.6**2 * errors[0]
    assert all(one < 0.5 * other for one, other in zip(errors, held, strict=True))


def test_a_copy_of_the_state_continues_bit_for_bit(library: ctypes.CDLL) -> None:
    bead = Bead(library, RING, JACOBI, 0.5 / OMEGA, *ON_RING).run(30)
    memory, kept = bytes(bead.memory.raw), (np.array(bead.P), np.array(bead.v), bead.held.copy())
    bead.run(40)
    first = bytes(bead.memory.raw), bead.trace[-40:].copy()
    bead.memory.raw = memory
    bead.P[:], bead.v[:], bead.held[:] = kept  # type: ignore[index]
    bead.run(40)
    assert bytes(bead.memory.raw) == first[0] and (bead.trace[-40:] == first[1]).all()


def test_the_numbers_of_the_readme_are_right(library: ctypes.CDLL) -> None:
    text = (shipped("elements") / "point_line_2" / "README.md").read_text(encoding="utf-8")
    for N in (31, 16, 6.3, 3.1):
        shares = []
        for options in ({"hold": True}, {}, {"lag": 1, "m_eff": 1.0}):
            bead = Bead(library, Guide(K_1, K_1, False), JACOBI, math.pi / 100 / N, (0, 1e-3, 0), (1, 0, 0), **options)  # type: ignore[arg-type]
            shares.append((bead.run(int(20 * N)).energy() - 0.5) / 0.005)
        hold, auto, known = shares
        assert f"| {N} | {hold[-1]:.0e} | {auto.max():.3f} | {auto[-1]:.3f} | {known.max():.3f} |" in text
