"""Velocities that are differences of positions, which come late by half a step."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.contact_core.held_bodies import PHASES
from tests.contact_core.held_cases import Law
from tests.contact_core.hosted import load_c
from tests.contact_core.test_coupling import AUTO, GAUSS_SEIDEL, JACOBI, Port

Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return load_c("coupling.c", tmp_path_factory.mktemp("coupling"))


def found(library: ctypes.CDLL, port: Port) -> list[int]:
    each = (ctypes.c_int * port.count)()
    library.late(port.count, port.memory, each)
    return list(each)


def bounce(port: Port, master: int, H: float, steps: int, law: Law, rule: str, pull: float = 0.0) -> Array:
    """Energy of 1 kg over that of the impact with 1 m/s, after the steps, of all phases.  rule: "exact", of bodies
    whose velocity is given by differences of their positions, or "semi-implicit", of bodies that step so."""
    r, v, f = np.zeros((port.count, 3)), np.zeros((port.count, 3)), np.zeros((port.count, 3))
    r[:, 2], v[:, 2] = (3 + PHASES) * H, -1.0
    given, start = v.copy(), 0.5 + pull * r[:, 2]
    for _ in range(steps):
        new = port.force(r, given, H)
        a = (f if master == JACOBI else new) * [0, 0, 1] - [0, 0, pull]
        f, before = new, r.copy()
        r = r + H * v + (H * H * a if rule == "semi-implicit" else 0.5 * H * H * a)
        v = v + H * a
        given = (r - before) / H if rule == "exact" else v
    return (0.5 * v[:, 2] ** 2 + pull * r[:, 2]) / start


@pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])
@pytest.mark.parametrize("N", [6.3, 16])
@pytest.mark.parametrize("order", ["given", "unknown"])
def test_an_elastic_body_keeps_its_energy_by_differences_too(
    library: ctypes.CDLL, N: float, master: int, order: str
) -> None:
    """The contact that begins shows that the answer comes by halves; literal forces at these rates give 1.4 to 8."""
    law, H = Law(C=1e5, C_r=1.0), math.pi / math.sqrt(1e5) / N
    port = Port(library, law, lag=master if order == "given" else AUTO)
    assert bounce(port, master, H, math.ceil(3 * N) + 8, law, "exact") == pytest.approx(1.0, abs=2e-3)
    assert all(found(library, port))


@pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])
def test_gravity_costs_little(library: ctypes.CDLL, master: int) -> None:
    law, H = Law(C=1e5, C_r=1.0), math.pi / math.sqrt(1e5) / 10
    port = Port(library, law, lag=master)
    assert bounce(port, master, H, 38, law, "exact", 9.81) == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])
def test_a_body_that_is_stepped_semi_implicitly_is_taken_for_what_it_is(library: ctypes.CDLL, master: int) -> None:
    """Its velocities are such differences as well, but answer at once."""
    law, H = Law(C=1e5, C_r=1.0), math.pi / math.sqrt(1e5) / 16
    port = Port(library, law, lag=master)
    assert bounce(port, master, H, 56, law, "semi-implicit") == pytest.approx(1.0, abs=0.02)
    assert not any(found(library, port))


def test_bodies_whose_velocities_are_right_are_not_taken_for_late(library: ctypes.CDLL) -> None:
    law, H = Law(C=1e5, C_r=0.5), math.pi / math.sqrt(1e5) / 16
    port = Port(library, law)
    for _ in range(2):
        r, v, f = np.zeros((port.count, 3)), np.zeros((port.count, 3)), np.zeros((port.count, 3))
        r[:, 2], v[:, 2] = (3 + PHASES) * H, -1.0
        for _ in range(60):
            before, f = f, port.force(r, v, H)
            a = before * [0, 0, 1]
            r, v = r + H * v + 0.5 * H * H * a, v + H * a
        port.rewind()
    assert not any(found(library, port))
