"""The steps that are advised for each order of the calls (step_advice.py), on one body that nothing but its weight
moves as well: a rebound within 1 %, and an amplitude, or a speed that is braked, that is off by less than 1 %."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from fmi2 import Fmu, load_shipped
from running import Running

from fmu_builder.model.step_advice import (
    AUTO,
    GIVEN,
    LATE,
    PARALLEL,
    SEQUENTIAL,
    STEPS_PER_BRAKING,
    STEPS_PER_CONTACT,
    STEPS_PER_SWING,
    UNKNOWN,
)
from tests.elements.closed_loop import JACOBI
from tests.elements.closed_loop import SEQUENTIAL as IN_TURN
from tests.elements.port_table import one_mass
from tests.elements.test_coupled_brakes import KINDS, Kind

ALLOWED = 0.01
PHASES = np.arange(6) * math.pi / 3


class Case(NamedTuple):
    """A row of the advice: the value of coupling.order, whether the mass is given, intervals from sample to force."""

    row: str
    order: int
    given: bool
    intervals: int


CASES = (
    Case(AUTO[UNKNOWN], UNKNOWN, False, 0),
    Case(AUTO[UNKNOWN], UNKNOWN, False, 1),
    Case(AUTO[SEQUENTIAL], SEQUENTIAL, False, 0),
    Case(AUTO[PARALLEL], PARALLEL, False, 1),
    Case(AUTO[LATE], LATE, False, 2),
    Case(GIVEN, SEQUENTIAL, True, 0),
    Case(GIVEN, PARALLEL, True, 1),
)
EACH = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.row}, {case.intervals} late")
FINER = pytest.mark.parametrize("finer", [1.0, 1.3, 2.0])


def rebound(case: Case, N: float, C_r: float, g: float) -> float:
    """Mean error of fifteen phases of the speed after a contact of N steps, of that before it."""
    system = one_mass(N, C_r, g=g)
    master, late = (JACOBI if case.intervals else IN_TURN), case.intervals == 2
    coupling = {"coupling.mode": 5, "coupling.order": case.order, "coupling.m_eff": 1.0 if case.given else 0.0}
    errors = []
    for start, exact in zip(system.starts, system.reference(), strict=True):
        run = system.bench.run(start, system.H, system.steps, master, coupling, late=late)
        errors.append(system.error(run.states, run.forces, exact))
    return float(np.mean(errors))


@FINER
@EACH
def test_contacts(case: Case, finer: float) -> None:
    """Of a ball whose weight is up to 3 % of the force; one that hardly rebounds errs by up to 3 %."""
    N = finer * STEPS_PER_CONTACT[case.row]
    for g in (0.0, 2.0, 5.0, 9.81):
        for C_r in (1.0, 0.5, 0.2, 0.05):
            assert rebound(case, N, C_r, g) < (ALLOWED if C_r >= 0.2 else 0.03), (g, C_r)


@pytest.mark.parametrize("case", [case for case in CASES if case.row in (AUTO[UNKNOWN], AUTO[LATE])])
def test_contacts_of_half_as_many_steps_are_off_by_more(case: Case) -> None:
    """So an unknown order needs as many."""
    assert max(rebound(case, 0.5 * STEPS_PER_CONTACT[case.row], C_r, 9.81) for C_r in (0.5, 0.05)) > 3 * ALLOWED


@pytest.fixture(scope="module")
def fmu(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Fmu]:
    return cache(lambda name: load_shipped(name, tmp_path_factory.mktemp(name)))


H, M = 1e-3, 1.0


def motion(
    fmu: Callable[[str], Fmu], kind: Kind, case: Case, k: float, d: float, y: float, v: float, steps: int
) -> Iterator[tuple[float, float]]:
    """Place and speed of a particle on an element, after each step."""
    r, speed = kind.rest + np.array((0.0, y, 0.0)), np.array((0.0, v, 0.0))
    body = Running(fmu("PointMass"), {"m": M, "g": (0, 0, 0), "r0": r, "v0": speed})
    given = {"coupling.order": case.order, "coupling.m_eff": M if case.given else 0.0}
    element = Running(fmu(kind.recipe), {**kind.law(k, d), **kind.seen(r, speed), **given})
    forces = [kind.force(element)] * 2  # the newest first
    for _ in range(steps):
        element.set(kind.seen(body.vector("p.r"), body.vector("p.v")))
        element.step(H)
        forces = [kind.force(element), *forces[:2]]
        body.set({"p.f": (0.0, forces[case.intervals], 0.0)})
        body.step(H)
        yield body["p.r[2]"] - kind.rest[1], body["p.v[2]"]


@FINER
@EACH
@pytest.mark.parametrize("name", ["guide", "spring between points"])
def test_swings(fmu: Callable[[str], Fmu], name: str, case: Case, finer: float) -> None:
    """Four half periods from six places of the swing."""
    steps = finer * STEPS_PER_SWING[case.row]
    omega, x_0 = math.pi / steps / H, 1e-4
    for turn in PHASES:
        start = x_0 * math.cos(turn), omega * x_0 * math.sin(turn)
        for y, v in motion(fmu, KINDS[name], case, M * omega**2, 0.0, *start, round(4 * steps)):
            amplitude = math.hypot(v, omega * y) / (omega * x_0)
            assert amplitude == pytest.approx(1.0, abs=ALLOWED), turn


@FINER
@EACH
@pytest.mark.parametrize("name", ["damper", "spring between points"])
def test_brakes(fmu: Callable[[str], Fmu], name: str, case: Case, finer: float) -> None:
    """v_0 exp(-d t/m), for five time constants."""
    steps, v_0 = finer * STEPS_PER_BRAKING[case.row], 0.1
    run = motion(fmu, KINDS[name], case, 0.0, M / H / steps, 0.0, v_0, round(5 * steps))
    for n, (_, v) in enumerate(run, 1):
        assert v / v_0 == pytest.approx(math.exp(-n / steps), abs=ALLOWED), n
