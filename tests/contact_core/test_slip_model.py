"""Friction on blocks that a load shakes along the floor, held from step to step."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from tests.contact_core.held_bodies import PHASES
from tests.contact_core.held_cases import Law
from tests.contact_core.hosted import load_c
from tests.contact_core.test_coupling import AUTO, GAUSS_SEIDEL, JACOBI, Hold, Port

Array = NDArray[np.float64]
_G = 9.81


@dataclass(frozen=True)
class Shaken:
    """1 kg on a floor: z = K_fr g k_T H of the ramp, samples a period, amplitude of the load over sliding friction."""

    z: float
    samples: float
    share: float
    second: float = 0.0  # amplitude of another sine, of 0.37 of the frequency, over that of the first
    held: bool = False  # by others, from step to step
    light: float = 1.0  # what friction accelerates it by over what N does

    @property
    def H(self) -> float:  # noqa: N802
        return self.z / (0.4 * _G * 300.0)

    @property
    def law(self) -> Law:
        return Law(C=(0.3 / self.H) ** 2, C_r=0.5, K_fr=0.4, k_T=300.0)  # omega H = 0.3

    @property
    def steps(self) -> int:
        return round(10 * self.samples)

    def sines(self) -> list[tuple[float, float, Array]]:
        """Amplitude, angular frequency and phases of each; as accelerations of the block."""
        a, omega, phases = self.share * self.law.K_fr * _G, 2 * math.pi / (self.samples * self.H), 2 * math.pi * PHASES
        return [(a, omega, phases), (self.second * a, 0.37 * omega, np.zeros_like(phases))]

    def load(self, t: float) -> Array:
        return sum(a * np.sin(omega * t + phases) for a, omega, phases in self.sines())

    def moved(self, t: float) -> tuple[Array, Array]:
        """What the load adds to the speed, and to the way, in the step from t on."""
        H = self.H
        if self.held:
            return H * self.load(t), H * H / 2 * self.load(t)
        parts = [
            (
                a * (np.cos(omega * t + p) - np.cos(omega * (t + H) + p)) / omega,
                a * (H * np.cos(omega * t + p) - (np.sin(omega * (t + H) + p) - np.sin(omega * t + p)) / omega) / omega,
            )
            for a, omega, p in self.sines()
        ]
        return sum(speed for speed, _ in parts), sum(way for _, way in parts)

    def exact(self) -> Array:
        """Slip at the samples after the first one, m/s, and the work of friction until then, J, of all phases."""
        count, friction = len(PHASES), self.law.K_fr * _G

        def rate(t: float, state: Array, begin: float) -> Array:
            force = friction * np.clip(self.law.k_T * state[:count], -1, 1)
            load = self.load(begin if self.held else begin + t)
            return np.concatenate((load - force, force * state[:count]))

        state, states = np.zeros(2 * count), []
        for i in range(self.steps):
            part = solve_ivp(rate, (0.0, self.H), state, "LSODA", args=(i * self.H,), rtol=1e-8, atol=1e-11)
            state = part.y[:, -1]
            states.append(state)
        return np.reshape(states, (-1, 2, count)).transpose(1, 0, 2)

    def run(self, port: Port | Hold, master: int) -> Array:
        count, H, work = len(PHASES), self.H, np.zeros(len(PHASES))
        r, v, states = np.zeros((count, 3)), np.zeros((count, 3)), []
        r[:, 2] = -_G / self.law.C
        held = port.force(r, v, H) * [0, 0, 1] if isinstance(port, Hold) else np.tile([0.0, 0.0, _G], (count, 1))
        for i in range(self.steps):
            new = port.force(r, v, H)
            f, held = (held if master == JACOBI else new), new
            more, way = self.moved(i * H)
            slide = self.light * f[:, 0]
            way = H * v[:, 0] + way + H * H / 2 * slide
            work = work - f[:, 0] * way
            fall = f[:, 2] - _G
            r = np.column_stack((way, np.zeros(count), r[:, 2] + H * v[:, 2] + H * H / 2 * fall))
            v = v + np.column_stack((more + H * slide, np.zeros(count), H * fall))
            states.append((v[:, 0], work))
        return np.array(states).transpose(1, 0, 2)


def errors(found: Array, exact: Array) -> tuple[float, float]:
    """In the second half: of the slip over its root mean square, and of the work of friction; the worst phase."""
    half = exact.shape[1] // 2
    size = np.sqrt(np.mean(exact[0, half:] ** 2, axis=0))
    slip = np.sqrt(np.mean((found[0, half:] - exact[0, half:]) ** 2, axis=0)) / size
    work = (found[1, -1] - found[1, half]) / (exact[1, -1] - exact[1, half]) - 1
    return float(slip.max()), float(np.abs(work).max())


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return load_c("coupling.c", tmp_path_factory.mktemp("coupling"))


CASES = {
    "creeps": Shaken(0.3, 8.0, 0.9),
    "slides": Shaken(1.8, 8.0, 2.0),
    "slides far": Shaken(0.8, 20.0, 3.0),
    "creeps, held": Shaken(0.3, 8.0, 0.9, held=True),
    "slides, held": Shaken(1.8, 8.0, 2.0, held=True),
    "two sines": Shaken(0.8, 16.0, 1.2, second=0.8),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.slow
def test_a_block_that_is_shaken_slips_as_under_the_law(library: ctypes.CDLL, name: str) -> None:
    """Under both masters, the order given and not, from rest and an unknown mass; the literal force errs by up to twice
    the slip.  What is left in work is that of the last digits of the law's own: a force that is held cannot follow."""
    case = CASES[name]
    exact = case.exact()
    for master in (JACOBI, GAUSS_SEIDEL):
        literal, _ = errors(case.run(Hold(case.law), master), exact)
        for order in (AUTO, master):
            slip, work = errors(case.run(Port(library, case.law, lag=order), master), exact)
            assert slip < 0.04 < 0.5 * literal and work < 0.1


@pytest.mark.slow
def test_a_load_that_others_hold_does_not_bend_the_slip(library: ctypes.CDLL) -> None:
    """There the force is the mean of the law over the interval, and the slip is exact at the samples."""
    for name in ("creeps, held", "slides, held"):
        case = CASES[name]
        exact = case.exact()
        for master in (JACOBI, GAUSS_SEIDEL):
            slip, _ = errors(case.run(Port(library, case.law, lag=master), master), exact)
            assert slip < 1e-3


def test_a_block_that_sticks_is_not_shaken_loose(library: ctypes.CDLL) -> None:
    """z = 10: the literal force throws it about, with fifty times its slip under Jacobi, twenty under Gauss-Seidel.
    Held over a twelfth of a period the slip differs from the law's by 2 pi/12/2 of it at the ends of the intervals."""
    case = Shaken(10.0, 12.0, 0.8)
    exact = case.exact()
    for master in (JACOBI, GAUSS_SEIDEL):
        for order in (AUTO, master):
            slip, _ = errors(case.run(Port(library, case.law, lag=order), master), exact)
            assert slip < 2 * math.pi / 12 / 2


@pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])
@pytest.mark.slow
def test_a_hit_on_a_block_that_was_shaken_throws_it_off(library: ctypes.CDLL, master: int) -> None:
    """What leads a resting body to the depth of the law ends where others move it; order not given."""
    rng = np.random.default_rng(7)
    for _ in range(40):
        case = Shaken(10 ** rng.uniform(-0.7, 0.7), rng.uniform(8, 30), rng.uniform(0.5, 2.5))
        port, H, before, hit = Port(library, case.law), case.H, int(rng.integers(30, 160)), rng.choice([0.5, 5.0])
        if hit < 10 * _G / math.sqrt(case.law.C):  # by the law itself it stays
            continue
        r, v = np.zeros((port.count, 3)), np.zeros((port.count, 3))
        r[:, 2] = -_G / case.law.C
        held, left = np.tile([0.0, 0.0, _G], (port.count, 1)), np.zeros(port.count, bool)
        for i in range(before + 44):
            if i == before:
                v[:, 2] = -hit
            new = port.force(r, v, H)
            f, held = (held if master == JACOBI else new), new
            more, way = case.moved(i * H)
            fall = f[:, 2] - _G
            way = H * v[:, 0] + way + H * H / 2 * f[:, 0]
            r = np.column_stack((way, np.zeros(port.count), r[:, 2] + H * v[:, 2] + H * H / 2 * fall))
            v = v + np.column_stack((more + H * f[:, 0], np.zeros(port.count), H * fall))
            left |= (r[:, 2] > 0.0) & (i > before)
        assert np.all(left)


@pytest.mark.parametrize("light", [0.3, 3.0, 8.0])
def test_a_given_mass_stays_what_moves_along_the_normal(library: ctypes.CDLL, light: float) -> None:
    """Though the model along the surface shows another one there, and no change of N has shown any."""
    case = Shaken(1.8, 8.0, 0.8, light=light)
    for master in (JACOBI, GAUSS_SEIDEL):
        port = Port(library, case.law, lag=master, m_eff=1.0)
        case.run(port, master)
        assert port.admittances() == pytest.approx(1.0, rel=1e-3)
