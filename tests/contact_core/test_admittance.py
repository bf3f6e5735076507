"""The admittance of the bodies at a port: against that of rigid bodies and an independent solver."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import solve_sylvester

from tests.contact_core.hosted import load_c

Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    loaded = load_c("admittance.c", tmp_path_factory.mktemp("admittance"))
    loaded.learn.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p]
    loaded.guess.argtypes = [ctypes.c_double, ctypes.c_void_p]
    return loaded


def guessed(library: ctypes.CDLL, w: float) -> Array:
    W = np.empty((3, 3))
    library.guess(w, W.ctypes.data)
    return W


def learned(library: ctypes.CDLL, s: Array, q: Array, W_0: Array, noise: float = 0.0) -> Array:
    W, s, q = W_0.copy(), np.ascontiguousarray(s), np.ascontiguousarray(q)
    library.learn(len(s), s.ctypes.data, q.ctypes.data, noise, W.ctypes.data)
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


def test_least_squares_of_noisy_secants(library: ctypes.CDLL) -> None:
    """One secant after the other, as the equation W A + A W = C + C' has it by Bartels and Stewart's method."""
    rng = np.random.default_rng(5)
    W, s, noise = rigid(3.0, 0.2, np.array([0.2, 0.1, -0.3])), rng.standard_normal((12, 3)), 1e-3
    q = s @ W + noise * rng.standard_normal((12, 3))
    expected, ss, qs, left = guessed(library, W[2, 2]), np.zeros((3, 3)), np.zeros((3, 3)), 0.0
    for n in range(12):
        ss, qs = 0.8 * ss + np.outer(s[n], s[n]), 0.8 * qs + np.outer(q[n], s[n])
        e = (2 * noise**2 + 0.1 * left) / expected[2, 2] ** 2 + 1e-9 * np.trace(ss)
        A, C = ss + e * np.eye(3), qs + e * expected
        expected = solve_sylvester(A, A, C + C.T)
        left = 0.8 * left + float(np.sum((q[n] - expected @ s[n]) ** 2))
    found = learned(library, s, q, guessed(library, W[2, 2]), noise)
    assert found == pytest.approx(expected, rel=1e-9)
    assert found == pytest.approx(W, abs=3e-3)


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
