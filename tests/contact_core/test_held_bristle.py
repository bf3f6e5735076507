"""A bristle over an interval on which its force is held: its law, its energy, its limits."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from tests.contact_core.hosted import load_c

Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    loaded = load_c("held_bristle.c", tmp_path_factory.mktemp("bristle"))
    loaded.interval.restype = ctypes.c_double
    return loaded


def interval(
    library: ctypes.CDLL, k: float, c: float, L: float, H: float, W: Array, s_0: Array, z: Array
) -> tuple[float, Array, Array, Array]:
    """K, the force F, the way s, the deflection at the end."""
    whole = np.zeros((3, 3))
    whole[:2, :2] = W
    numbers = (ctypes.c_double * 17)(k, c, L, H, *whole.flat, *s_0, *z)
    found = [(ctypes.c_double * 2)() for _ in range(3)]
    K = library.interval(numbers, *found)
    return K, *(np.array(each) for each in found)  # type: ignore[return-value]


deflections = st.floats(-1e-4, 1e-4)
pairs = st.tuples(deflections, deflections).map(np.array)


@given(
    c=st.floats(1.0, 1e4), L=st.one_of(st.just(0.0), st.floats(1e-6, 50.0)), h=st.floats(0.05, 5.0), s_0=pairs, z=pairs,
    roots=st.tuples(st.floats(0.0, 2.0), st.floats(-1.0, 1.0), st.floats(0.1, 2.0)),
)  # fmt: skip
def test_the_force_is_that_of_spring_and_damper_below_the_limit_and_takes_energy(
    library: ctypes.CDLL, c: float, L: float, h: float, s_0: Array, z: Array, roots: tuple[float, float, float]
) -> None:
    """F s = change of the energy + what is lost, and nothing of what is lost is negative."""
    k, H = 1e6, h / 1e3
    root = np.array([[roots[0], 0.0], [roots[1], roots[2]]])
    K, F, s, z_1 = interval(library, k, c, L, H, root @ root.T, s_0, z)
    size, change = float(np.linalg.norm(F)), z_1 - z
    unit = k * 1e-4 + K * float(np.linalg.norm(s_0) + np.linalg.norm(s))  # N: forces are differences of such
    assert size <= L * (1 + 1e-12) + 1e-12 * unit
    assert k * z + K * change == pytest.approx(F, abs=1e-11 * unit)
    tip = s - change
    assert size >= L * (1 - 1e-9) or np.abs(tip).max() <= 1e-15 + 1e-12 * np.abs(s).max()
    assert abs(tip[0] * F[1] - tip[1] * F[0]) <= 1e-12 * unit * (np.linalg.norm(s) + np.linalg.norm(change))
    assert float(tip @ F) >= -1e-12 * unit * np.linalg.norm(s)
    lost = float(F @ s) - 0.5 * k * float(z_1 @ z_1 - z @ z)
    assert lost == pytest.approx((K - 0.5 * k) * float(change @ change) + float(F @ tip), abs=1e-11 * unit * 1e-4)
    assert lost >= -1e-11 * unit * 1e-4


def test_a_held_body_does_not_move(library: ctypes.CDLL) -> None:
    """A load below the limit that the deflection carries: s = 0, to rounding."""
    k, H, load = 1e6, 2e-3, np.array([1.2, -0.7])
    W = np.array([[1.0, 0.2], [0.2, 3.0]])
    _, F, s, z_1 = interval(library, k, 1e3, 2.0, H, W, 0.5 * H * H * W @ load, load / k)
    assert load == pytest.approx(F, rel=1e-14)
    assert np.abs(s).max() < 1e-20 and z_1 == pytest.approx(load / k, rel=1e-13)


@pytest.mark.parametrize("L", [0.0, 5e-324, 1e-149, 1e-100, 1e-61, 1e-59, 1e-20])
def test_a_limit_next_to_nothing_gives_no_more_force(library: ctypes.CDLL, L: float) -> None:
    for far in (1e-160, 1e-9, 1e7):
        for W in (np.eye(2), 1e60 * np.eye(2), np.zeros((2, 2))):
            _, F, _, z_1 = interval(library, 1e6, 1e-3, L, 1e-3, W, np.array([far, -far]), np.zeros(2))
            assert np.linalg.norm(F) <= L * (1 + 1e-12) and np.isfinite(z_1).all()


@pytest.mark.parametrize("c", [30.0, 1e3])
def test_a_body_on_the_bristle_oscillates_as_it_should(library: ctypes.CDLL, c: float) -> None:
    """1 kg on 1e6 N/m, far below the limit: the error of place and speed falls with the second order."""
    k, v, T = 1e6, np.array([0.01, 0.0]), 5e-3
    exact = solve_ivp(lambda t, y: [y[1], -k * y[0] - c * y[1]], (0, T), [0.0, v[0]], rtol=1e-12, atol=1e-16).y[:, -1]
    errors = []
    for steps in (80, 160, 320):
        H, place, speed, z = T / steps, np.zeros(2), v.copy(), np.zeros(2)
        for _ in range(steps):
            _, F, s, z = interval(library, k, c, 1e9, H, np.eye(2), H * speed, z)
            place, speed = place + s, speed - H * F
        errors.append(np.hypot(place[0] - exact[0], (speed[0] - exact[1]) / 1e3))
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert orders[-1] > 1.9
