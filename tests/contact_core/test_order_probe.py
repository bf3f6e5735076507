"""The signal by which springs, dampers and guides ask for the order: against accelerations that are made of it."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.contact_core.hosted import load_c

Array = NDArray[np.float64]
SAMPLES = 8
SIZE = 0.1


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    loaded = load_c("order_probe.c", tmp_path_factory.mktemp("probe"))
    loaded.factors.argtypes = [ctypes.c_int, ctypes.c_double, ctypes.c_void_p]
    loaded.asked.argtypes = [ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p]
    return loaded


def signal(library: ctypes.CDLL) -> Array:
    factors = np.zeros(SAMPLES)
    library.factors(SAMPLES, SIZE, factors.ctypes.data)
    return factors - 1.0


def asked(library: ctypes.CDLL, f: Array, y: Array) -> int:
    f, y = np.ascontiguousarray(f), np.ascontiguousarray(y)
    found: int = library.asked(SIZE, f.ctypes.data, y.ctypes.data)
    return found


def late(values: Array, lag: int) -> Array:
    """Of the samples before the first one: none."""
    return np.concatenate([np.zeros((lag, 3)), values[: len(values) - lag]])


def test_the_signal_has_one_size_and_both_signs(library: ctypes.CDLL) -> None:
    s = signal(library)
    assert np.abs(s) == pytest.approx(SIZE, abs=1e-15)
    assert 0 < (s > 0).sum() < SAMPLES


@pytest.mark.parametrize("lag", [0, 1, 2])
def test_a_body_between_neighbours_answers_by_the_factor(library: ctypes.CDLL, lag: int) -> None:
    """y = (1 + s) times a swing, whatever the force of this element."""
    swing = np.outer(np.cos(0.4 * np.arange(SAMPLES)), [3.0, -2.0, 0.5])
    answer = swing * (1.0 + late(np.outer(signal(library), np.ones(3)), lag))
    assert asked(library, np.ones((SAMPLES, 3)) * [0.0, 0.0, 7.0], answer) == lag


@pytest.mark.parametrize("lag", [0, 1, 2])
def test_a_body_that_carries_a_load_answers_by_the_force_of_the_signal(library: ctypes.CDLL, lag: int) -> None:
    """y = w f + g: near 0, for the forces carry the load; all but the signal is a parabola of time, of any size."""
    i = np.arange(SAMPLES)
    f = np.array([0.0, 0.5, 5.0]) + np.outer(0.01 * i, [1.0, 0.0, -1.0])
    other = np.outer(4.0 + 0.9 * i - 0.2 * i * i, [0.3, 0.2, 1.0]) * 10.0
    answer = 2.0 * late(np.outer(signal(library), np.ones(3)) * f, lag) + other
    assert asked(library, f, answer) == lag


def test_what_no_signal_is_in_shows_no_lag(library: ctypes.CDLL) -> None:
    i, f = np.arange(SAMPLES), np.ones((SAMPLES, 3)) * [0.0, 0.0, 5.0]
    draw = np.random.default_rng(3)
    for _ in range(50):
        assert asked(library, f, draw.normal(size=(SAMPLES, 3))) == -1
    assert asked(library, f, np.outer(np.sin(0.9 * i), [1.0, 2.0, 3.0])) == -1


def test_a_force_that_pushes_the_body_away_from_its_answer_is_none(library: ctypes.CDLL) -> None:
    """The slope of an admittance is above 0."""
    f = np.ones((SAMPLES, 3)) * [0.0, 0.0, 5.0]
    answer = -2.0 * late(np.outer(signal(library), np.ones(3)) * f, 1) + 3.0
    assert asked(library, f, answer) == -1
