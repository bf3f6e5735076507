"""The answer of the bodies at a port as a difference equation: against exact motion of linear bodies under held forces.

The poles of the equation are exp(H lambda) of the motion without the force, lambda the eigenvalues of the bodies; b_0
is the change of speed that 1 N makes in one interval, over H."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm, lstsq

from tests.contact_core.hosted import load_c

Array = NDArray[np.float64]
H = 1e-2


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    loaded = load_c("partner_model.c", tmp_path_factory.mktemp("model"))
    number = ctypes.c_double
    loaded.learn.argtypes = [ctypes.c_void_p, ctypes.c_int, *[ctypes.c_void_p] * 2, *[number] * 3, ctypes.c_int]
    loaded.learn.argtypes += [ctypes.c_void_p]
    loaded.in_units.argtypes = [ctypes.c_void_p, ctypes.c_int, number, ctypes.c_void_p]
    loaded.least_squares.restype = number
    loaded.least_squares.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * 5]
    return loaded


@dataclass
class Bodies:
    """x' = A x + B f + c; the port has the speed x[speed]."""

    A: Array
    B: Array
    c: Array
    speed: int
    start: Array

    def motion(self, f: Array) -> Array:
        """Mean accelerations of the intervals on which f is held."""
        n = len(self.A)
        whole = np.zeros((n + 2, n + 2))
        whole[:n, :n], whole[:n, n], whole[:n, n + 1] = self.A, self.B, self.c
        step = expm(H * whole)
        x, speeds = self.start, [self.start[self.speed]]
        for force in f:
            x = (step @ np.concatenate([x, [force, 1.0]]))[:n]
            speeds.append(x[self.speed])
        return np.diff(speeds) / H

    def poles(self) -> Array:
        """Of what swings: exp(H lambda), without the 1 of rigid motion."""
        z = np.exp(H * np.linalg.eigvals(self.A))
        return z[np.abs(z - 1) > 1e-6]

    def at_once(self) -> float:
        n = len(self.A)
        whole = np.zeros((n + 1, n + 1))
        whole[:n, :n], whole[:n, n] = self.A, self.B
        return float(expm(H * whole)[self.speed, n] / H)


def two_masses() -> Bodies:
    """2 kg pushed, 0.5 kg behind a spring of 3 kN/m and 2 N s/m: five steps in a period."""
    m, M, k, d = 2.0, 0.5, 3e3, 2.0
    A = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [-k / m, k / m, -d / m, d / m], [k / M, -k / M, d / M, -d / M]])
    return Bodies(A, np.array([0, 0, 1 / m, 0]), np.array([0, 0, -9.81, -9.81]), 2, np.array([0, 0, -1.0, -1.0]))


def controlled_axis() -> Bodies:
    """1 kg, position control 900 N/m, damping ratio 0.7."""
    A = np.array([[0, 1], [-900, -42.0]])
    return Bodies(A, np.array([0.0, 1.0]), np.array([0, 9.0]), 1, np.array([0.0, 0.3]))


def driven_by_a_sine() -> Bodies:
    """2 kg under an outer force of seven steps a period."""
    o = 2 * np.pi / (7 * H)
    A = np.zeros((4, 4))
    A[0, 1], A[1, 2], A[2, 3], A[3, 2] = 1, 5.0, o, -o
    return Bodies(A, np.array([0, 0.5, 0, 0]), np.zeros(4), 1, np.array([0, 1.0, 0.0, 1.0]))


BODIES = pytest.mark.parametrize("bodies", [two_masses, controlled_axis, driven_by_a_sine])


def pulses(seed: int, n: int) -> Array:
    """Forces that a contact could give: half sines between pauses."""
    random = np.random.default_rng(seed)
    f = np.zeros(n)
    for begin in range(8, n - 12, 16):
        length = int(random.integers(4, 10))
        f[begin : begin + length] = random.uniform(10, 100) * np.sin(np.pi * (np.arange(length) + 0.4) / length)
    return f


def learned(
    library: ctypes.CDLL, bodies: Bodies, lag: int, given: int, n: int = 120, noise: float = 0.0
) -> tuple[int, Array, Array, Array]:
    """Lag at the end, parameters and the mark of use, predictions, motion."""
    f = pulses(3, n)
    y = bodies.motion(np.concatenate([np.zeros(lag), f[: n - lag]]))
    y = y + noise * np.random.default_rng(1).standard_normal(n)
    memory = ctypes.create_string_buffer(library.size())
    predicted, p = np.zeros(n), np.zeros(6)
    last = library.learn(memory, n, y.ctypes.data, f.ctypes.data, H, bodies.at_once(), 0.3, given,
                         predicted.ctypes.data)  # fmt: skip
    library.parameters(memory, last, p.ctypes)
    return last, p, predicted, y


@BODIES
@pytest.mark.parametrize("lag", [0, 1, 2])
def test_poles_and_answer_are_those_of_the_bodies(library: ctypes.CDLL, bodies: type, lag: int) -> None:
    body = bodies()
    last, p, predicted, y = learned(library, body, lag, given=lag)
    assert last == lag and p[5] == 1.0
    found = np.roots([1.0, -p[0], -p[1]])
    for pole in body.poles():
        assert np.abs(found - pole).min() < 1e-6
    assert p[2] == pytest.approx(body.at_once(), rel=1e-6)
    assert np.abs(predicted[60:-1] - y[61:]).max() < 1e-6 * np.abs(y).max()


@BODIES
@pytest.mark.parametrize("lag", [0, 1, 2])
def test_the_lag_is_found(library: ctypes.CDLL, bodies: type, lag: int) -> None:
    assert learned(library, bodies(), lag, given=-1)[0] == lag


@BODIES
def test_a_free_body_predicts_none_of_them(library: ctypes.CDLL, bodies: type) -> None:
    """The negative control: what the equation is for."""
    body = bodies()
    f = pulses(3, 120)
    y = body.motion(f)
    constant = y[:-1] + body.at_once() * np.diff(f)
    assert np.abs(constant[60:] - y[61:]).max() > 0.05 * np.abs(y).max()


def test_a_mass_that_a_spring_holds_is_known(library: ctypes.CDLL) -> None:
    """kg, N/m and N s/m of the axis, whose poles are complex, and of others with a double and two real ones.  Two
    masses that nothing holds to the ground are no such mass."""
    for damping in (42.0, 60.0, 90.0):
        axis = controlled_axis()
        axis.A[1, 1] = -damping
        assert held(library, axis)[:3] == pytest.approx([1.0, 900.0, damping], rel=1e-4)
    assert held(library, two_masses())[:3] == [0.0, 0.0, 0.0]


def test_a_free_mass_is_known_and_the_poles_of_what_pushes_it_are_no_spring(library: ctypes.CDLL) -> None:
    assert held(library, driven_by_a_sine())[:3] == pytest.approx([2.0, 0.0, 0.0], rel=1e-9)


def held(library: ctypes.CDLL, bodies: Bodies) -> list[float]:
    memory, found, f = ctypes.create_string_buffer(library.size()), np.zeros(4), pulses(3, 120)
    predicted = np.zeros(len(f))
    library.learn(
        memory, len(f), bodies.motion(f).ctypes.data, f.ctypes.data, H, bodies.at_once(), 0.1, 0, predicted.ctypes.data
    )
    library.held_mass(memory, 0, found.ctypes)
    assert found[3] > 0.999
    return [float(number) for number in found]


def test_a_free_body_under_gravity_needs_no_equation_and_is_described_by_it(library: ctypes.CDLL) -> None:
    free = Bodies(np.array([[0, 1], [0, 0.0]]), np.array([0, 0.25]), np.array([0, -9.81]), 1, np.array([0, 1.0]))
    lag, p, predicted, y = learned(library, free, 1, given=-1)
    assert lag == 1
    assert np.abs(predicted[40:-1] - y[41:]).max() < 1e-9 * np.abs(y).max()
    assert p[2] == pytest.approx(0.25, rel=1e-6)


def test_noise_of_a_thousandth_leaves_the_answer_within_a_few_per_cent(library: ctypes.CDLL) -> None:
    body = two_masses()
    size = np.abs(body.motion(pulses(3, 120))).max()
    _, p, predicted, y = learned(library, body, 1, given=1, noise=1e-3 * size)
    assert p[2] == pytest.approx(body.at_once(), rel=0.05)
    assert np.sqrt(np.mean((predicted[60:-1] - y[61:]) ** 2)) < 1e-2 * size


@pytest.mark.parametrize("lag", [0, 1])
def test_what_swings_undamped_is_known_after_a_few_samples(library: ctypes.CDLL, lag: int) -> None:
    """With a W that is five times too large.  A sine: three samples before they were needed by all five parameters,
    its poles in flight, and all with the first answer.  A mass on a spring: after three answers."""
    sine, joined = driven_by_a_sine(), two_masses()
    joined.A[2:, 2:] = 0.0
    for body, first in ((sine, 0), (joined, 2)):
        f = pulses(3, 14)
        y, predicted = body.motion(np.concatenate([np.zeros(lag), f[: 14 - lag]])), np.zeros(14)
        memory = ctypes.create_string_buffer(library.size())
        library.learn(memory, 14, y.ctypes.data, f.ctypes.data, H, 5 * body.at_once(), 0.3, lag, predicted.ctypes.data)
        begins = 8 + lag
        assert np.abs(predicted[begins + first : -1] - y[begins + first + 1 :]).max() < 0.02 * np.abs(y).max()
        if body is sine:
            assert np.abs(predicted[5 : begins - 1] - y[6:begins]).max() < 1e-3 * np.abs(y[:8]).max()


def test_another_step_begins_anew(library: ctypes.CDLL) -> None:
    body = two_masses()
    memory = ctypes.create_string_buffer(library.size())
    f, p = pulses(3, 60), np.zeros(6)
    y, predicted = body.motion(f), np.zeros(60)
    library.learn(memory, 60, y.ctypes.data, f.ctypes.data, H, 0.5, 0.3, 0, predicted.ctypes.data)
    library.parameters(memory, 0, p.ctypes)
    assert p[5] == 1.0
    library.learn(memory, 1, y.ctypes.data, f.ctypes.data, 0.5 * H, 0.5, 0.3, 0, predicted.ctypes.data)
    library.parameters(memory, 0, p.ctypes)
    assert p[5] == 0.0 and not p[:5].any()


@pytest.mark.parametrize("rank", [5, 3])
@pytest.mark.parametrize("size", [1e-90, 1.0, 1e90])
def test_rotated_rows_are_the_least_squares_of_scipy(library: ctypes.CDLL, rank: int, size: float) -> None:
    """40 weighted rows whose columns differ by eight powers of ten.  With the rank 3 the last two columns are
    combinations of the others, as those of a free body are, and nothing is left of the right side."""
    random = np.random.default_rng(rank)
    rows = random.normal(size=(40, 6))
    rows[:, rank:] = rows[:, :3] @ random.normal(size=(3, 6 - rank)) if rank == 3 else rows[:, rank:]
    columns = np.array([1.0, 1e-4, 1e4, 1.0, 1.0])
    rows *= size * np.append(columns, 1.0)
    weights = random.uniform(0.01, 1.0, 40)
    scaled = rows * np.sqrt(weights)[:, None] / size
    R, r, p, used = np.zeros(15), np.zeros(5), np.zeros(5), rows.copy()
    left = library.least_squares(40, used.ctypes.data, weights.ctypes.data, R.ctypes.data, r.ctypes.data, p.ctypes.data)
    if rank == 5:
        expected, squares, *_ = lstsq(scaled[:, :5] / columns, scaled[:, 5])
        assert p == pytest.approx(expected / columns, rel=1e-11)
        assert left / size**2 == pytest.approx(float(squares), rel=1e-12)
    else:
        assert left / size**2 < 1e-26 * np.sum(scaled[:, 5] ** 2)
    triangle, D = np.eye(5), R[[0, 5, 9, 12, 14]]
    triangle[np.triu_indices(5, 1)] = np.delete(R, [0, 5, 9, 12, 14])
    normal, exact = triangle.T @ np.diag(D / size**2) @ triangle, scaled[:, :5].T @ scaled[:, :5]
    assert np.abs(normal - exact).max() < 1e-12 * np.abs(exact).max()


def test_a_smaller_unit_of_forces_changes_no_parameter(library: ctypes.CDLL) -> None:
    body, f, p, alone = two_masses(), pulses(3, 60), np.zeros(6), np.zeros(5)
    y, predicted, memory = body.motion(f), np.zeros(60), ctypes.create_string_buffer(library.size())
    library.learn(memory, 60, y.ctypes.data, f.ctypes.data, H, body.at_once(), 0.3, 0, predicted.ctypes.data)
    library.parameters(memory, 0, p.ctypes)
    before = p[:5].copy()
    library.in_units(memory, 0, 0.02, alone.ctypes.data)
    library.parameters(memory, 0, p.ctypes)
    assert p[:5] == pytest.approx(before, rel=1e-14)
    assert alone == pytest.approx(before, rel=1e-8)
