"""Several contacts of one body, and of bodies on bodies, at communication steps as long as 1/omega of a contact.

Rigid bodies hold the forces of all contacts over a step.  A set of contacts knows its own points and nothing else, as
an FMU does; the bodies of a pile are shared by three sets.  Energy: kinetic, of the weight, elastic of all contacts."""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.contact_core.held_bodies import Rigid
from tests.contact_core.held_cases import STIFFNESS, Law, Pile, corners
from tests.contact_core.hosted import load_c
from tests.contact_core.test_coupling import AUTO, GAUSS_SEIDEL, JACOBI

Array = NDArray[np.float64]
BOTH = pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = load_c("coupling.c", tmp_path_factory.mktemp("joint"))
    library.joint_step.restype = ctypes.c_double
    return library


class Contacts:
    """Points of `body`, body-fixed, m, on the ground z = 0, or on the upper side of `under`, z = `top` of its frame."""

    def __init__(
        self, library: ctypes.CDLL, law: Law, body: Rigid, points: Sequence[Sequence[float]],
        under: Rigid | None = None, top: float = 0.0, together: bool = True,
    ) -> None:  # fmt: skip
        self.library, self.law, self.body, self.under, self.top = library, law, body, under, top
        self.points, self.together, n = np.array(points), together, len(points)
        sizes = (ctypes.c_int * 2)()
        library.joint_sizes(ctypes.byref(sizes), ctypes.byref(sizes, 4))
        self.memory = np.zeros(n * library.size() // 8), np.zeros(sizes[1]), np.zeros(n * sizes[0])
        library.joint_start(n, *(part.ctypes for part in self.memory[:2]), AUTO, ctypes.c_double(0.0))
        self.forces = np.zeros((n, 3))
        self.counts: list[float] = []  # evaluations of the law, a point that may touch, of each step with one

    def motion(self) -> tuple[Array, Array, Array]:
        """Positions and velocities relative to the surface, in its frame; the frame's axes as columns."""
        r, v = self.body.motion(self.points)
        if self.under is None:
            return r, v, np.eye(3)
        R = self.under.rotation()
        place = r - self.under.r - R @ np.array([0.0, 0.0, self.top])
        return place @ R, (v - self.under.v - np.cross(self.under.w, r - self.under.r)) @ R, R

    def step(self, H: float) -> Array:
        r, v, R = self.motion()
        r, v, f = np.ascontiguousarray(r), np.ascontiguousarray(v), np.zeros_like(r)
        partner, mobility, port = self.memory
        count = self.library.joint_step(
            int(self.together), len(r), partner.ctypes, mobility.ctypes, port.ctypes, self.law.numbers(), AUTO,
            r.ctypes, v.ctypes, ctypes.c_double(H), f.ctypes,
        )  # fmt: skip
        self.counts += [count] if count > 0 else []
        self.forces = f @ R.T
        return self.forces

    def energy(self) -> float:
        return 0.5 * self.law.C * float((np.maximum(-self.motion()[0][:, 2], 0) ** 2).sum())


def run(bodies: Sequence[Rigid], contacts: Sequence[Contacts], master: int, H: float, time: float) -> Array:
    """The energy at each step."""
    energies = []
    held = [contact.forces for contact in contacts]
    for _ in range(math.ceil(time / H)):
        new = [contact.step(H) for contact in contacts]
        acting = held if master == JACOBI else new
        loads: list[tuple[Rigid, Array, Array]] = []
        for contact, forces in zip(contacts, acting, strict=True):
            loads.append((contact.body, forces, contact.points))
            if contact.under is not None:
                at = (contact.body.motion(contact.points)[0] - contact.under.r) @ contact.under.rotation()
                loads.append((contact.under, -forces, at))
        for body in bodies:
            body.advance([(f, p) for of, f, p in loads if of is body], H)
        held = new
        energies.append(sum(part.energy() for part in (*bodies, *contacts)))
    return np.array(energies)


def few_evaluations(contacts: Sequence[Contacts]) -> bool:
    """At most six of the law at a point in the median, twenty at worst."""
    return all(np.median(contact.counts) <= 6 and max(contact.counts) <= 20 for contact in contacts)


def block(
    library: ctypes.CDLL, law: Law, h: float, tilt: tuple[float, float], together: bool = True
) -> tuple[Rigid, Contacts, float]:
    """A box of 1 kg, tilted, 0.5 mm above the floor, on its lower corners; the step with omega H = h of a corner."""
    half = (0.2, 0.15, 0.1)
    height = half[2] + 2 * abs(tilt[0]) * half[1] + 2 * abs(tilt[1]) * half[0] + 5e-4
    body = Rigid(1.0, half, (0.0, 0.0, height), (1.0, *tilt, 0.0))
    corner = 1 / body.m + half[1] ** 2 / body.J[0] + half[0] ** 2 / body.J[1]
    return body, Contacts(library, law, body, corners(half), together=together), h / math.sqrt(law.C * corner)


TILTS = [(0.005, 0.0), *(pytest.param(tilt, marks=pytest.mark.slow) for tilt in ((0.0, 0.004), (-0.004, 0.003)))]


@BOTH
@pytest.mark.parametrize("tilt", TILTS)
@pytest.mark.slow
def test_a_block_on_four_points_gains_nothing_and_settles(
    library: ctypes.CDLL, master: int, tilt: tuple[float, float]
) -> None:
    body, contact, H = block(library, Law(C_r=0.3, k_D=100.0, K_fr=0.3), 1.0, tilt)
    start = body.energy()
    energies = run([body], [contact], master, H, 0.4)
    assert energies.max() <= start * (1 + 1e-12)
    assert energies[-1] == pytest.approx(9.81 * 0.1 - 9.81**2 / (2 * 4 * STIFFNESS), rel=1e-9)
    assert abs(body.v).max() < 1e-9 and contact.forces[:, 2] == pytest.approx([9.81 / 4] * 4, rel=1e-6)
    assert few_evaluations([contact])


@pytest.mark.slow
def test_points_that_know_nothing_of_each_other_throw_the_block_off(library: ctypes.CDLL) -> None:
    """The negative control: the admittance between the points left out gains more than the fall.  How much is chance,
    so the worst of nine tilts counts."""
    gains = []
    for tilt in itertools.product((0.004, 0.005, 0.006), (0.0, 0.001, 0.002)):
        body, contact, H = block(library, Law(C_r=0.3, k_D=100.0, K_fr=0.3), 1.0, tilt, together=False)
        start = body.energy()
        gains.append((run([body], [contact], JACOBI, H, 0.4).max() - start) / (start - 9.81 * 0.1))
    assert max(gains) > 1, gains


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize(("h", "allowed"), [(0.2, 0.005), (0.5, 0.015)])  # N = 16 and 6.3
@pytest.mark.parametrize("tilt", [(0.02, -0.013), (0.015, 0.0), (0.0068, 0.0059)])
def test_a_block_that_bounces_on_its_corners_keeps_its_energy(
    library: ctypes.CDLL, master: int, h: float, allowed: float, tilt: tuple[float, float]
) -> None:
    """Elastic, corner after corner, of unknown mass: the first rebounds are as fast as those of two contacts may be,
    all that follow keep the energy to 1 %."""
    body, contact, H = block(library, Law(), h, tilt)
    rest = 9.81 * 0.1
    start = body.energy() - rest
    energies = run([body], [contact], master, H, 0.25) - rest
    assert energies.max() <= (1 + allowed) ** 2 * start
    assert energies[-1] >= (1 - allowed) ** 2 * 0.99 * start
    assert few_evaluations([contact])


MORE_TILTS = [(0.1, -0.05), (-0.03, 0.08)]


@BOTH
@pytest.mark.parametrize("tilt", [(0.06, 0.01), *(pytest.param(t, marks=pytest.mark.slow) for t in MORE_TILTS)])
@pytest.mark.slow
def test_a_body_on_three_points_keeps_its_energy_as_it_turns(
    library: ctypes.CDLL, master: int, tilt: tuple[float, float]
) -> None:
    """Elastic: it falls on one point, turns, comes back on the others with another mobility, and has no others on it.
    The last energy counts: within a contact a part of it is in the law."""
    half, feet = (0.2, 0.15, 0.1), np.array([[0.2, 0.15, -0.1], [-0.2, 0.15, -0.1], [0.0, -0.15, -0.1]])
    body = Rigid(1.0, half, (0.0, 0.0, 0.18), (1.0, *tilt, 0.0))
    contact = Contacts(library, Law(), body, feet)
    corner = 1 / body.m + half[1] ** 2 / body.J[0] + half[0] ** 2 / body.J[1]
    start = body.energy()
    energies = run([body], [contact], master, 0.3 / math.sqrt(STIFFNESS * corner), 0.3)
    assert contact.energy() == 0.0 and len(contact.counts) > 30
    assert energies[-1] == pytest.approx(start, rel=0.01)


@pytest.mark.slow
@BOTH
def test_a_pile_of_ten_contacts_gains_nothing_and_comes_to_rest(library: ctypes.CDLL, master: int) -> None:
    """Energy never above the start by more than 1 % of the fall; at the end what moves is rounding: a velocity of 1e-9
    of the fall's has 1e-18 of its energy, and samples below that teach nothing (partner.h)."""
    pile = Pile.of(0)
    box = pile.boxes[0]
    contacts = [
        Contacts(library, pile.law, body, feet, None if body is box else box, pile.top)
        for body, feet in zip(pile.boxes, pile.feet, strict=True)
    ]
    start = sum(body.energy() for body in pile.boxes)
    fall = start - pile.rest
    energies = run(pile.boxes, contacts, master, pile.H, 0.5)
    assert energies.max() - start <= 1e-2 * fall
    assert sum(body.kinetic() for body in pile.boxes) < 1e-9 * fall
    assert abs(energies[-1] - pile.rest) < 1e-3 * pile.elastic  # a box that slid by 1 cm changes it by 5e-4
    assert few_evaluations(contacts)


@pytest.mark.slow
@BOTH
def test_the_forces_of_a_tower_take_few_evaluations(library: ctypes.CDLL, master: int) -> None:
    """Three equal boxes on one another, which under Jacobi shake on: contacts come, go, stick and slide."""
    law, half = Law(C_r=0.5, k_D=100.0, K_fr=0.3), (0.2, 0.15, 0.1)
    boxes = [Rigid(1.0, half, (0.0, 0.0, 0.102 + 0.202 * k), (1.0, *tilt, 0.0))
             for k, tilt in enumerate([(0.002, 0.001), (-0.001, 0.002), (0.0015, -0.002)])]  # fmt: skip
    contacts = [
        Contacts(library, law, box, corners(half), boxes[k - 1] if k > 0 else None, half[2])
        for k, box in enumerate(boxes)
    ]
    corner = 1 / boxes[0].m + half[1] ** 2 / boxes[0].J[0] + half[0] ** 2 / boxes[0].J[1]
    run(boxes, contacts, master, 1 / math.sqrt(2 * law.C * corner), 0.3)
    assert few_evaluations(contacts)
