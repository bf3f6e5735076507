"""What springs and loads do to a body of several points, found in flight: against the matrix exponential of its motion
and the integral of the load."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import cosm, expm, sinm, sqrtm

from tests.contact_core.hosted import load_c

Array = NDArray[np.float64]
H = 1e-3
FREE, ON_SPRINGS, VIBRATED = 0.0, 1.0, 2.0


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    loaded = load_c("flight.c", tmp_path_factory.mktemp("flight"))
    loaded.fly.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * 5]
    loaded.fly.restype = ctypes.c_double
    loaded.oppose.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * 4]
    return loaded


class Body:
    """M x'' + C x = S: mass and stiffness at random, the angular frequencies of the springs up to `fastest`, 1/s."""

    def __init__(self, fastest: float, seed: int) -> None:
        rng = np.random.default_rng(seed)
        root, spring = rng.standard_normal((2, 6, 6))
        self.M = root @ root.T + 6 * np.eye(6)
        square = np.linalg.solve(self.M, spring @ spring.T)
        self.square = square * fastest**2 / np.max(np.linalg.eigvals(square).real)
        self.x, self.v = np.zeros(6), rng.standard_normal(6)

    def step(self, S: Array, H: float = H) -> None:
        """Exact under the wrench S, held: the exponential of the linear system with S as a constant."""
        system = np.zeros((13, 13))
        system[:6, 6:12] = np.eye(6)
        system[6:12, :6], system[6:12, 12] = -self.square, np.linalg.solve(self.M, S)
        self.x, self.v, _ = np.split(expm(system * H) @ [*self.x, *self.v, 1.0], [6, 12])


def flown(library: ctypes.CDLL, V: Array, steps: Array, quiet: Array) -> tuple[float, Array, Array]:
    K, rates, V = np.zeros((6, 6)), np.zeros((len(quiet), 6)), np.ascontiguousarray(V)
    quiet, steps = quiet.astype(np.int32), np.ascontiguousarray(steps)
    given = (steps, V, quiet, K, rates)
    used = library.fly(len(quiet), *(a.ctypes.data for a in given))
    return used, K, rates


@pytest.mark.parametrize(("fastest", "flight"), [(600.0, 60), (100.0, 300)])
def test_a_flight_shows_the_springs(library: ctypes.CDLL, fastest: float, flight: int) -> None:
    """K = (2 - 2 cos(Omega H))/H^2 after six of the fastest periods; in contact the rate without springs changes by the
    wrenches alone, B (S_i - S_i-1), B = Omega^-1 sin(Omega H)/H M^-1."""
    body, rng, V, wrenches = Body(fastest, 1), np.random.default_rng(2), [], []
    for i in range(flight + 20):
        V.append(body.v)
        wrenches.append(rng.standard_normal(6) if i >= flight else np.zeros(6))
        body.step(wrenches[-1])
    used, K, rates = flown(library, np.array([*V, body.v]), np.full(flight + 20, H), np.arange(flight + 20) < flight)
    root = sqrtm(body.square)
    expected = (2 * np.eye(6) - 2 * cosm(root * H)) / H**2
    assert used == ON_SPRINGS
    assert np.linalg.norm(K - expected) < 1e-3 * np.linalg.norm(expected)
    B = np.linalg.solve(root, sinm(root * H)) @ np.linalg.inv(body.M) / H
    answers, springs = np.diff(wrenches, axis=0)[flight:] @ B.T, np.array(V[flight + 1 :]) @ expected.T * H
    assert np.linalg.norm(np.diff(rates[flight:], axis=0) - answers) < 1e-3 * np.linalg.norm(springs)


def test_steps_may_differ(library: ctypes.CDLL) -> None:
    """To first order in what differs: K is still used, and leaves a tenth of the change of the rate at most."""
    body, rng, V = Body(100.0, 3), np.random.default_rng(4), []
    steps = H * rng.uniform(0.8, 1.25, 60)
    for step in steps:
        V.append(body.v)
        body.step(np.zeros(6), step)
    V.append(body.v)
    used, K, _ = flown(library, np.array(V), steps, np.ones(60))
    rates = np.diff(V, axis=0) / steps[:, None]
    changes, ways = np.diff(rates, axis=0), np.array(V)[1:-1] * (0.5 * (steps[1:] + steps[:-1]))[:, None]
    assert used == ON_SPRINGS
    assert np.linalg.norm(changes + ways @ K.T) < 0.1 * np.linalg.norm(changes)


def test_a_free_body_has_no_springs(library: ctypes.CDLL) -> None:
    """Its rate is constant, up to rounding."""
    fall = np.arange(21)[:, None] * H * np.array([0.0, 0.0, -9.81, 0.0, 0.0, 0.0]) + np.arange(6)
    assert flown(library, fall, np.full(20, H), np.ones(20))[0] == FREE


def vibrated(samples: int, period: float, decay: float = 0.0) -> Array:
    """Speeds of a body that falls and turns, at the beginnings of intervals, under a load of one frequency in a random
    direction: the integral of exp(-decay t) sin(omega t), the period in intervals."""
    t, omega = H * np.arange(samples + 1), 2 * np.pi / (period * H)
    whole = (omega - np.exp(-decay * t) * (decay * np.sin(omega * t) + omega * np.cos(omega * t))) / (
        decay**2 + omega**2
    )
    direction = np.random.default_rng(7).standard_normal(6)
    return np.arange(6) + t[:, None] * np.array([0, 0, -9.81, 0, 0, 0]) + 50.0 * whole[:, None] * direction


@pytest.mark.parametrize("period", [5.0, 8.0, 20.0])
def test_a_flight_shows_a_load_of_one_frequency(library: ctypes.CDLL, period: float) -> None:
    """After a flight of six intervals the rate without the load changes in contact by the wrenches alone."""
    rng, flight, contact = np.random.default_rng(8), 6, 25
    V, quiet = vibrated(flight + contact, period), np.arange(flight + contact) < flight
    answers = rng.standard_normal((contact, 6))  # to the wrenches of each interval of contact
    V[flight + 1 :] += H * np.cumsum(answers, axis=0)
    used, _, rates = flown(library, V, np.full(flight + contact, H), quiet)
    assert used == VIBRATED
    load = np.diff(np.diff(vibrated(flight + contact, period), axis=0), axis=0) / H
    assert np.linalg.norm(np.diff(rates[flight:], axis=0) - np.diff(answers, axis=0)) < 1e-6 * np.linalg.norm(load)


@pytest.mark.parametrize("decay", [0.02, 0.06])
def test_what_fades_is_no_load_of_one_frequency(library: ctypes.CDLL, decay: float) -> None:
    """As what a damped spring does: it would not go on in a contact."""
    assert flown(library, vibrated(20, 8.0, decay / H), np.full(20, H), np.ones(20))[0] != VIBRATED


def test_a_load_of_one_frequency_is_lost_where_steps_differ(library: ctypes.CDLL) -> None:
    steps = np.full(20, H)
    steps[15] = 0.9 * H
    assert flown(library, vibrated(20, 8.0), steps, np.ones(20))[0] == FREE


def test_what_does_not_follow_the_motion_is_no_spring(library: ctypes.CDLL) -> None:
    """A load at random: neither K nor a frequency predicts it."""
    V = np.cumsum(np.random.default_rng(5).standard_normal((61, 6)), axis=0)
    assert flown(library, V, np.full(60, H), np.ones(60))[0] == FREE


@pytest.mark.parametrize(("held", "dropped"), [(False, True), (True, False)])
def test_a_contact_can_refute_springs(library: ctypes.CDLL, held: bool, dropped: bool) -> None:
    """Where B alone explains the changes of a body that no springs hold K is dropped; where they hold it K stays."""
    rng = np.random.default_rng(6)
    K, d, pushed = 100.0 * np.eye(6), rng.standard_normal((10, 6)), 300.0 * rng.standard_normal((10, 6))
    left = np.zeros((10, 6)) if held else d @ K.T  # of the change of the rate without the springs of K
    q = pushed + left
    interval = library.oppose(10, *(a.ctypes.data for a in (K, d, left, q)))
    assert (interval < 10) == dropped
