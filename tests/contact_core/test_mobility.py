"""The mobility of a body with several contact points: against that of rigid bodies, and least squares by numpy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.contact_core.hosted import load_c

Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    loaded = load_c("mobility.c", tmp_path_factory.mktemp("mobility"))
    loaded.learn.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p]
    loaded.find_load.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * 6]
    loaded.guess.argtypes = [ctypes.c_double, ctypes.c_void_p]
    return loaded


def guessed(library: ctypes.CDLL, w: float) -> Array:
    B = np.empty((6, 6))
    library.guess(w, B.ctypes.data)
    return B


def learned(library: ctypes.CDLL, s: Array, q: Array, B_0: Array, noise: float = 0.0) -> Array:
    B, s, q = B_0.copy(), np.ascontiguousarray(s), np.ascontiguousarray(q)
    library.learn(len(s), s.ctypes.data, q.ctypes.data, noise, B.ctypes.data)
    return B


def rigid(mass: float, inertia: Array, centre: Array) -> Array:
    """B of a rigid body about a place off its centre of mass, with arms in metres: twist = B wrench."""
    cross = np.array([[0, -centre[2], centre[1]], [centre[2], 0, -centre[0]], [-centre[1], centre[0], 0]])
    turn = np.linalg.inv(inertia)  # the wrench about the place has the moment r_c x f less about the centre of mass
    return np.block([[np.eye(3) / mass - cross @ turn @ cross, cross @ turn], [-turn @ cross, turn]])


def box() -> Array:
    return rigid(2.0, np.diag([0.3, 0.5, 0.7]), np.array([0.1, -0.05, 0.2]))


def test_the_reference_is_that_of_a_rigid_body() -> None:
    """A force at the centre of mass does not turn it, and moves all of it alike."""
    centre, f = np.array([0.1, -0.05, 0.2]), np.array([1.0, 2.0, -3.0])
    B = box()
    assert pytest.approx(B.T) == B
    assert B @ np.concatenate([f, np.cross(centre, f)]) == pytest.approx([*(f / 2.0), 0, 0, 0])


def test_wrenches_in_all_directions_determine_the_body(library: ctypes.CDLL) -> None:
    """From a guess that is far off; what the first of them left weighs what was known, and fades."""
    B, s = box(), np.random.default_rng(3).standard_normal((60, 6))
    apart = [np.linalg.norm(learned(library, s[:n], s[:n] @ B, guessed(library, 0.5)) - B) for n in (1, 8, 20, 60)]
    assert apart[1] < 0.03 * apart[0] and apart[2] < 1e-3 * apart[0] and apart[3] < 1e-4 * apart[0], apart


def test_directions_that_no_wrench_shows_stay_as_they_were(library: ctypes.CDLL) -> None:
    """Two wrenches: their answers are right, between two others B is as before."""
    B, B_0 = box(), guessed(library, 0.5)
    s = np.array([[0.1, 0, 1, 0.3, -0.2, 0], [0, 0.2, 1, -0.1, 0.4, 0.1]])
    found = learned(library, s, s @ B, B_0)
    assert s @ found == pytest.approx(s @ B, rel=1e-5, abs=1e-5)
    assert found == pytest.approx(found.T)
    assert np.min(np.linalg.eigvalsh(found)) > 0
    others = np.linalg.svd(s)[2][2:]
    assert others @ found @ others.T == pytest.approx(others @ B_0 @ others.T, rel=1e-5, abs=1e-5)


def test_noise_averages_out(library: ctypes.CDLL) -> None:
    """Within what lstsq leaves of the same secants, weighted alike, times three."""
    rng = np.random.default_rng(4)
    B, s, noise = box(), rng.standard_normal((60, 6)), 1e-2
    q = s @ B + noise * rng.standard_normal((60, 6))
    weights = np.sqrt(0.98 ** np.arange(59, -1, -1))[:, None]
    plain = np.linalg.lstsq(weights * s, weights * q, rcond=None)[0]
    found = learned(library, s, q, guessed(library, 0.5), noise)
    assert np.linalg.norm(found - B) < 3 * np.linalg.norm(plain - B)
    assert np.linalg.norm(plain - B) < 0.1


def test_answers_against_the_wrench_are_those_of_others(library: ctypes.CDLL) -> None:
    s = np.random.default_rng(5).standard_normal((4, 6))
    found = learned(library, s, -s, guessed(library, 0.5))
    assert np.min(np.linalg.eigvalsh(found)) > 0
    assert np.all(np.isfinite(found))


# ---- a load of one frequency, found with the body --------------------------------------------------------------------

X = 2 * np.cos(2 * np.pi / np.array([2.5, 8.0, 30.0]))


def with_load(library: ctypes.CDLL, S: Array, q: Array) -> tuple[Array, Array, Array]:
    """2 cos(omega H), B and the share of the squares that they leave, of each lag."""
    x, B, rest = np.empty(3), np.empty((3, 6, 6)), np.empty(3)
    given = [np.ascontiguousarray(a) for a in (S, q, guessed(library, 0.5))]
    library.find_load(len(S), *[a.ctypes.data for a in (*given, x, B, rest)])
    return x, B, rest


def changes(S: Array, lag: int, B: Array, *loads: tuple[Array, float]) -> Array:
    """Of the rate: B times those of the wrenches that act, and those of loads with an amplitude and 2 cos(omega H)."""
    q = np.zeros(S.shape)
    for i in range(lag + 1, len(S)):
        q[i] = B @ (S[i - lag] - S[i - lag - 1])
        for amplitude, x in loads:
            q[i] += amplitude * np.sin(np.arccos(x / 2) * i + 0.3)
    return q


@pytest.mark.parametrize("x", X)
@pytest.mark.parametrize("lag", [0, 1, 2])
def test_a_load_of_one_frequency_is_found_with_the_body_and_the_lag(library: ctypes.CDLL, lag: int, x: float) -> None:
    """A load five times as large as what the wrenches do, within thirty intervals, to rounding; with another lag there
    is no such body."""
    random = np.random.default_rng(11)
    S, amplitude = random.standard_normal((33, 6)), 5 * random.standard_normal(6)
    found, B, rest = with_load(library, S, changes(S, lag, box(), (amplitude, x)))
    assert found[lag] == pytest.approx(x, abs=1e-6)
    assert B[lag] == pytest.approx(box(), abs=1e-5 * np.abs(box()).max())
    assert rest[lag] < 1e-10 and min(np.delete(rest, lag)) > 1e-2, rest


def test_a_load_is_found_from_wrenches_in_two_directions(library: ctypes.CDLL) -> None:
    """As of a rod on two points.  B answers them as it should; the other directions stay as they were guessed."""
    random = np.random.default_rng(12)
    seen = np.zeros((2, 6))
    seen[0, 2], seen[1, 4] = 1.0, 1.0
    S = random.standard_normal((15, 2)) @ seen
    load = seen[0] + 0.2 * seen[1]
    found, B, rest = with_load(library, S, changes(S, 1, np.diag([1, 1, 0.5, 2, 1.5, 2]), (load, X[1])))
    assert found[1] == pytest.approx(X[1], abs=1e-6) and rest[1] < 1e-10
    assert seen @ B[1] @ seen.T == pytest.approx(np.diag([0.5, 1.5]), abs=1e-5)


def test_two_loads_pass_for_none(library: ctypes.CDLL) -> None:
    random = np.random.default_rng(13)
    S, amplitudes = random.standard_normal((40, 6)), random.standard_normal((2, 6))
    loads = zip(amplitudes, (X[0], X[1]), strict=True)
    assert min(with_load(library, S, changes(S, 0, box(), *loads))[2]) > 1e-2


def test_a_body_without_a_load_is_found_too(library: ctypes.CDLL) -> None:
    S = np.random.default_rng(14).standard_normal((40, 6))
    _, B, rest = with_load(library, S, changes(S, 1, box()))
    assert rest[1] < 1e-10 and B[1] == pytest.approx(box(), abs=1e-5 * np.abs(box()).max())
