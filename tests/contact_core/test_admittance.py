"""The admittance of the bodies at a port: against that of rigid bodies and an independent solver."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.contact_core.hosted import load_c

Array = NDArray[np.float64]
_AT = ((0, 1, 2), (1, 3, 4), (2, 4, 5))
SYMMETRIC = np.array([[_AT[i][j] == k for k in range(6)] for i in range(3) for j in range(3)], float)  # 9 entries by 6


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    loaded = load_c("admittance.c", tmp_path_factory.mktemp("admittance"))
    loaded.learn.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_double] * 2, ctypes.c_void_p]
    loaded.guess.argtypes = [ctypes.c_double, ctypes.c_void_p]
    return loaded


def guessed(library: ctypes.CDLL, w: float) -> Array:
    W = np.empty((3, 3))
    library.guess(w, W.ctypes.data)
    return W


def learned(library: ctypes.CDLL, s: Array, q: Array, W_0: Array, noise: float = 0.0, sure: float = 1.0) -> Array:
    W, s, q = W_0.copy(), np.ascontiguousarray(s), np.ascontiguousarray(q)
    library.learn(len(s), s.ctypes.data, q.ctypes.data, noise, sure, W.ctypes.data)
    return W


def rigid(mass: float, inertia: float, arm: Array) -> Array:
    """W of a point of a rigid body, 1/kg: of a ball's inertia."""
    cross = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
    return np.eye(3) / mass - cross @ cross / inertia


def tilted_rod() -> Array:
    return rigid(0.5, 0.5 * 0.8**2 / 12, 0.4 * np.array([np.cos(0.6), 0.0, -np.sin(0.6)]))


def test_two_forces_determine_the_answer_in_their_plane(library: ctypes.CDLL) -> None:
    """The normal force that begins, and friction that joins it: slip by the normal force is known after that."""
    W, s = tilted_rod(), np.array([[0.02, 0.0, 0.05], [0.3, 0.0, 2.9]])
    found = learned(library, s, s @ W, guessed(library, W[2, 2]))
    assert found[np.ix_([0, 2], [0, 2])] == pytest.approx(W[np.ix_([0, 2], [0, 2])], rel=2e-4)
    assert found[1, :] == pytest.approx([0.0, 2 * W[2, 2], 0.0], abs=1e-9)  # as guessed: nothing showed it


def test_a_ball_of_given_mass_shows_its_rotation_by_one_force_that_slides(library: ctypes.CDLL) -> None:
    """W_nn is 1/m, so what the normal force does not explain is the answer to friction: 1/m + R^2/J = 3.5/m."""
    W, s = rigid(2.0, 2.0 * 0.4 * 0.3**2, np.array([0.0, 0.0, -0.3])), np.array([[0.3, 0.0, 1.0]])
    assert W[0, 0] == pytest.approx(3.5 / 2.0)
    exactly, given, unknown = (learned(library, s, s @ W, guessed(library, 0.5), sure=sure) for sure in (1e6, 100, 1))
    assert exactly[np.ix_([0, 2], [0, 2])] == pytest.approx(W[np.ix_([0, 2], [0, 2])], abs=1e-3)
    assert abs(given - W)[0, 2] < 0.6 * abs(unknown - W)[0, 2]


def test_three_forces_determine_it_all(library: ctypes.CDLL) -> None:
    W = rigid(2.0, 0.01, np.array([0.1, -0.05, 0.08]))
    s = np.array([[0.0, 0.1, 1.0], [0.5, 0.0, 2.0], [-0.3, 0.8, 1.0], [0.2, 0.3, -1.0]])
    assert learned(library, s, s @ W, guessed(library, W[2, 2])) == pytest.approx(W, rel=1e-5)


@pytest.mark.parametrize("angle", np.linspace(-1.4, 1.4, 15))
def test_one_force_is_answered_as_seen_and_no_direction_makes_energy(library: ctypes.CDLL, angle: float) -> None:
    """However strong the coupling is: W stays positive, and so does what a force does."""
    W = rigid(1.0, 0.02, np.array([np.sin(angle), 0.0, -np.cos(angle)]))
    s = np.array([[0.0, 0.0, 3.0]])
    found = learned(library, s, s @ W, guessed(library, W[2, 2]))
    assert s @ found == pytest.approx(s @ W, rel=1e-6, abs=1e-6)
    assert found == pytest.approx(found.T)
    assert np.min(np.linalg.eigvalsh(found)) > 0


@pytest.mark.parametrize("sure", [1.0, 100.0])
def test_least_squares_of_noisy_secants(library: ctypes.CDLL, sure: float) -> None:
    """One secant after the other, as numpy's lstsq has it."""
    rng = np.random.default_rng(5)
    W, s, noise = rigid(3.0, 0.2, np.array([0.2, 0.1, -0.3])), rng.standard_normal((12, 3)), 1e-3
    q = s @ W + noise * rng.standard_normal((12, 3))
    q[:, 0] += 0.1 * rng.standard_normal(12)  # what others do across
    expected, left = guessed(library, W[2, 2]), np.zeros(3)
    for n in range(1, 13):
        trace = sum(0.8 ** (n - 1 - k) * s[k] @ s[k] for k in range(n))
        rho = np.sqrt(2 * noise**2 + 0.1 * left + 1e-9 * trace * expected[2, 2] ** 2)
        e, by_row = (rho[2] / expected[2, 2]) ** 2, np.minimum(1.0, rho[2] / rho)
        rows, sides = [], []
        for k in range(n):
            weight = 0.8 ** ((n - 1 - k) / 2)
            rows.append(weight * np.einsum("ij,k->ijk", np.diag(by_row), s[k]).reshape(3, 9) @ SYMMETRIC)
            sides.append(weight * by_row * q[k])
        for i in range(3):
            for j in range(3):
                weight = np.sqrt(e * (sure if i == j == 2 else 1))
                rows.append(weight * SYMMETRIC[3 * i + j : 3 * i + j + 1])
                sides.append(np.array([weight * expected[i, j]]))
        entries = np.linalg.lstsq(np.vstack(rows), np.concatenate(sides), rcond=None)[0]
        expected = (SYMMETRIC @ entries).reshape(3, 3)
        left = 0.8 * left + (q[n - 1] - expected @ s[n - 1]) ** 2
    found = learned(library, s, q, guessed(library, W[2, 2]), noise, sure)
    assert found == pytest.approx(expected, rel=1e-7)
    assert found[1:, 1:] == pytest.approx(W[1:, 1:], abs=3e-3)  # and they are not seen there


@pytest.mark.parametrize("off", [0.001, 0.1, 1.0, 10.0, 1000.0])
def test_a_guess_of_any_size_gives_the_same_answer_to_friction(library: ctypes.CDLL, off: float) -> None:
    """Forces along one line at the tip of a pendulum that stands across: W_xx = 0, which no such force shows.  A guess
    of it that is `off` W_nn would leave K^2 times that in W_nn."""
    W, K = np.diag([0.0, 0.0, 0.02]), 0.42
    steps = np.array([1.0, 300.0, 500.0, -100.0])
    s = np.stack([K * steps, 0 * steps, steps], axis=1)
    found = learned(library, s, s @ W, guessed(library, off * W[2, 2]))
    assert found[2, 2] == pytest.approx(W[2, 2], rel=0.65 if 0.25 < off < 4 else 0.36)
    assert found @ s[0] @ s[0] == pytest.approx(s[0] @ W @ s[0], rel=0.1)


def test_a_force_that_pulls_what_it_pushes_teaches_nothing(library: ctypes.CDLL) -> None:
    """Answers against the force are those of others: W stays positive."""
    s, W_0 = np.array([[0.0, 0.0, 1.0], [0.1, 0.0, 2.0]]), guessed(library, 0.5)
    found = learned(library, s, -s, W_0)
    assert np.min(np.linalg.eigvalsh(found)) > 0
    assert np.all(np.abs(found) < 2.0)


@pytest.mark.parametrize("size", [1e-200, 1e170, np.inf, np.nan])
def test_what_cannot_be_calculated_with_is_forgotten(library: ctypes.CDLL, size: float) -> None:
    W_0 = guessed(library, 0.5)
    found = learned(library, np.array([[0.0, 0.1 * size, size]]), np.array([[0.0, 0.0, 1.0]]), W_0)
    assert np.all(np.isfinite(found))
    assert np.min(np.linalg.eigvalsh(found)) > 0
