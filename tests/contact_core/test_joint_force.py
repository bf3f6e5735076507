"""Forces of several points of one body at once: that they solve their equations, told here independently by quadrature,
whatever touches, sticks and slides, and with how many evaluations of the law."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import root

from tests.contact_core.held_cases import Law
from tests.contact_core.hosted import load_c

Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = load_c("coupling.c", tmp_path_factory.mktemp("joint"))
    library.joint_solve.restype = ctypes.c_double
    return library


@dataclass
class Interval:
    """n points of one body at the beginning of an interval: states, mobility, and the forces before."""

    law: Law
    bristle: tuple[float, float]  # k, N/m, and c, N s/m; 0: none
    B: Array  # (6, 6)
    arms: Array  # (n, 3)
    x: Array  # (n,), m
    w: Array  # (n,), m/s
    u: Array  # (n, 2), m/s
    a: Array  # (n, 3), m/s^2
    z: Array  # (n, 2), m
    H: float
    beyond: float
    scale: Array  # (n,)
    most: Array  # (n,), N
    guess: Array  # (n, 3), N

    @property
    def motion(self) -> Array:
        """Motion of each point of the twist: (n, 3, 6)."""
        turn = [[[0, e[2], -e[1]], [-e[2], 0, e[0]], [e[1], -e[0], 0]] for e in self.arms]
        return np.concatenate([np.broadcast_to(np.eye(3), (len(self.x), 3, 3)), turn], axis=2)

    def solve(self, library: ctypes.CDLL) -> tuple[Array, float]:
        """Forces and evaluations, by the code."""
        n, f = len(self.x), np.zeros((len(self.x), 3))
        W = np.einsum("nik,kl,njl->nij", self.motion, self.B, self.motion)
        at = np.zeros((n, library.interval_size()))
        for i, row in enumerate(at):
            told = [self.x[i], self.w[i], *self.u[i], *self.a[i], *W[i].flat, self.H, self.beyond, *self.z[i], 1.0]
            row[: len(told)] = told  # no reach, no kappa
        count = library.joint_solve(
            n, self.law.numbers(), (ctypes.c_double * 2)(*self.bristle), *(np.ascontiguousarray(part).ctypes for part in
            (self.B, self.arms, at, self.scale, self.most, self.guess)), f.ctypes,
        )  # fmt: skip
        return f, count

    def answer(self, S: Array) -> Array:
        """The forces that the laws give under the wrench S."""
        alpha = self.a + self.motion @ (self.B @ S)
        W = np.einsum("nik,kl,njl->nij", self.motion, self.B, self.motion)
        return np.array([self.force(i, alpha[i], 0.5 * (W[i, 0, 0] + W[i, 1, 1])) for i in range(len(self.x))])

    def force(self, i: int, alpha: Array, w_t: float) -> Array:
        law, H = self.law, self.H
        d_comp, d_rest = law.limits
        w, w_1 = self.w[i], self.w[i] - H * alpha[2]
        way = H * w - 0.5 * H * H * alpha[2] + self.beyond * H * w_1
        elastic = lambda h: law.C * max(h, 0.0) ** law.exponent  # noqa: E731
        inverse = lambda rate: 1 / (1 + min(max(law.k_D * rate, d_rest), d_comp))  # noqa: E731
        factor = 1 / mean(inverse, w, w_1, (d_comp / law.k_D, d_rest / law.k_D))
        N = max(min(self.scale[i] * mean(elastic, self.x[i], self.x[i] + way, (0.0,)) * factor, self.most[i]), 0.0)
        k, c = self.bristle
        if k > 0:
            pull = k * self.z[i] + (c / H + k * share(k * H / c)) * H * (self.u[i] + 0.5 * H * alpha[:2])
        else:
            stiff = law.K_fr * N * law.k_T
            pull = stiff * (self.u[i] + share(H * w_t * stiff) * H * alpha[:2])
        size, limit = np.linalg.norm(pull), law.K_fr * N
        return np.array([*(-pull * (limit / size if size > limit else 1.0)), N])

    def wrench(self, f: Array) -> Array:
        return np.einsum("nik,ni->k", self.motion, f)


def mean(function, a: float, b: float, kinks: tuple[float, ...]) -> float:
    if a == b:
        return function(a)
    inside = [(k - a) / (b - a) for k in kinks if min(a, b) < k < max(a, b)]
    return quad(lambda s: function(a + s * (b - a)), 0, 1, points=inside or None, epsrel=1e-13, epsabs=0)[0]


def share(z: float) -> float:
    return 0.5 + z / 12 - z**3 / 720 if z < 1e-2 else -1 / math.expm1(-z) - 1 / z


def some(seed: int, friction: float, *, bristle: bool = False) -> Interval:
    """A body at random on two to six points, in a plane where there are more than needed.  Twist and free acceleration
    are those of a body, depths are not, and the forces before tell nothing of what touches now."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    arms = rng.normal(size=(n, 3)) * [1, 1, n < 4]
    arms -= arms.mean(axis=0)
    arms /= math.sqrt((arms**2).sum() / n)
    A = rng.normal(size=(6, 6))
    law = Law(
        exponent=rng.choice([1.0, 1.5]), C_r=rng.uniform(0.1, 1), k_D=rng.choice([100.0, 1e4]), K_fr=friction,
        k_T=rng.choice([10.0, 1000.0]),
    )  # fmt: skip
    interval = Interval(
        law=law,
        bristle=(1e5, 20.0) if bristle else (0.0, 1.0),
        B=np.diag([1, 1, 1, 3, 3, 3]) + 0.1 * A @ A.T,
        arms=arms,
        x=rng.uniform(-3e-4, 1e-3, n),
        w=np.zeros(n),
        u=np.zeros((n, 2)),
        a=np.zeros((n, 3)),
        z=rng.normal(size=(n, 2)) * 1e-4,
        H=rng.uniform(0.1, 1.5) / math.sqrt(5 * law.C),
        beyond=rng.choice([0.0, 0.4]),
        scale=rng.uniform(0.5, 1.5, n),
        most=np.where(rng.random(n) < 0.1, rng.uniform(0, 300, n), 1e9),
        guess=np.abs(rng.normal(size=(n, 3))) * 300 * (rng.random((n, 1)) < 0.6),
    )
    v = interval.motion @ (rng.normal(size=6) * rng.choice([1e-3, 0.3]))
    interval.w, interval.u = -v[:, 2], v[:, :2]
    interval.a = interval.motion @ (rng.normal(size=6) * 20)
    return interval


FRICTION = [(0.0, False), (0.3, False), (0.5, False), (0.3, True)]


@pytest.mark.parametrize(("friction", "bristle"), FRICTION)
def test_the_forces_solve_their_equations(library: ctypes.CDLL, friction: float, *, bristle: bool) -> None:
    """To the error of the mean elastic force, 1e-12 by its header, though other points touched before; and some that
    touch stick and some slide."""
    counts, changed, sticks, slides = [], 0, 0, 0
    for seed in range(60):
        interval = some(seed, friction, bristle=bristle)
        f, count = interval.solve(library)
        S = interval.wrench(f)
        assert abs(interval.answer(S) - f).max() <= 1e-11 * max(abs(f).max(), 1e-3), seed
        if f.any():
            assert abs(interval.answer(1.001 * S) - f).max() > 1e-8 * abs(f).max(), seed  # others do not
        counts.append(count)
        changed += bool(((f[:, 2] > 0) != (interval.guess[:, 2] > 0)).any())
        held = np.linalg.norm(f[:, :2], axis=1) < friction * f[:, 2] * (1 - 1e-9)
        sticks, slides = sticks + held.sum(), slides + (~held & (f[:, 2] > 0)).sum()
    assert np.median(counts) <= 6 and max(counts) <= 20
    assert changed > 40 and (friction == 0 or min(sticks, slides) > 10)


@pytest.mark.parametrize(("friction", "bristle"), FRICTION)
def test_another_method_from_elsewhere_finds_the_same_forces(
    library: ctypes.CDLL, friction: float, *, bristle: bool
) -> None:
    found = 0
    for seed in range(200, 206):
        interval = some(seed, friction, bristle=bristle)
        f, _ = interval.solve(library)
        other = root(lambda S: interval.wrench(interval.answer(S)) - S, np.zeros(6), method="hybr", tol=1e-12)  # noqa: B023
        if other.success:
            assert interval.answer(other.x) == pytest.approx(f, rel=1e-6, abs=1e-6 * abs(f).max())
            found += 1
    assert found >= 3


def test_a_ramp_that_comes_as_a_function_gives_the_forces_of_the_ramp(library: ctypes.CDLL) -> None:
    for seed in range(30):
        interval = some(seed, 0.3)
        interval.law = replace(interval.law, C_r=1.0)
        f, _ = interval.solve(library)
        interval.law = replace(interval.law, by_functions=True)
        other, count = interval.solve(library)
        assert other == pytest.approx(f, rel=1e-9, abs=1e-9 * abs(f).max()), seed
        assert count <= 20, seed
