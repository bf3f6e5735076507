"""Impacts of the coupled contact as a user has it: FMUs of contacts and bodies under plain masters over fmpy, Jacobi
and Gauss-Seidel, at N communication steps in a contact.  Fifteen phases of the impact within a step each."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from tests.contact_core.held_cases import CASES, CONTACT, REVERSING, STEEP, SWEEP
from tests.elements.coupled_fmus import GAUSS_SEIDEL, JACOBI, MASTERS, Crew, couple
from tests.elements.coupled_tables import KNOWN, Impact, impact

pytestmark = pytest.mark.slow
BOTH = pytest.mark.parametrize("master", MASTERS)
# A body on two points: of one FMU, which knows that they move together, and of two that know nothing of each other.
APART = ("two contacts", "two contacts, tilted")
WAYS = [*((name, False) for name in CASES), *((name, True) for name in APART)]
EACH = pytest.mark.parametrize(
    ("name", "apart"), WAYS, ids=[name + (", two FMUs" if apart else "") for name, apart in WAYS]
)
UNTOLD = {  # by the mass
    "semi-implicit Euler": "N = 3.1: 0.704; its position rule shows with the first answer only",
}


@functools.cache
def measured(
    crew: Crew, name: str, apart: bool, N: float, master: str, mode: str, m_eff: float, impacts: int
) -> Impact:
    return impact(crew, name, N, master, mode, m_eff=m_eff, impacts=impacts, apart=apart)


def found(
    crew: Crew, name: str, N: float, master: str, mode: str = "auto", m_eff: float = 0.0, impacts: int = 1,
    apart: bool = False,
) -> Impact:  # fmt: skip
    return measured(crew, name, apart, N, master, mode, m_eff, impacts)


@EACH
@BOTH
def test_the_first_impact_on_an_unknown_body(crew: Crew, name: str, apart: bool, master: str) -> None:
    for N, rebounds, errors in ((16, 0.005, 0.01), (6.3, 0.015, 0.05)):
        now = found(crew, name, N, master, apart=apart)
        assert now.rebound.mean() == pytest.approx(1, abs=rebounds), N
        assert now.error.max() <= ({16: 0.06, 6.3: 0.12}[N] if name in REVERSING else errors), N


@pytest.mark.parametrize(("name", "apart"), [(name, apart) for name in APART for apart in (False, True)])
@BOTH
def test_the_first_impact_of_two_points_at_small_steps(crew: Crew, name: str, apart: bool, master: str) -> None:
    """What the second point shows late is not taken for a force of others."""
    for N in (24, 31):
        assert found(crew, name, N, master, apart=apart).rebound.mean() == pytest.approx(1, abs=0.005), N


@pytest.mark.parametrize("name", APART)
@BOTH
def test_two_points_show_the_mass_behind_each_of_them(crew: Crew, name: str, master: str) -> None:
    """Of a body of 1 kg and 0.05 kg m2 on legs at 0.3 and 0.2 m: W = 1/m + x^2/J.  All of its motion is explained."""
    case = CASES[name]
    system, _ = couple(crew, case.body(), case.laws, master, 0, 0.0, {"mode": "auto"})
    (contact,) = system.contacts
    for _ in range(30):
        system.step(CONTACT / 16)
    assert contact.get("coupling.trust") == pytest.approx([1.0, 1.0], abs=1e-3)
    assert contact.get("coupling.in_force") == pytest.approx([2, 2])
    assert 1 / contact.get("coupling.partner_mass") == pytest.approx([2.8, 1.8], rel=1e-3)
    assert contact.get("coupling.partner_stiffness") == pytest.approx([0, 0])


@EACH
@BOTH
def test_the_second_impact(crew: Crew, name: str, apart: bool, master: str) -> None:
    for N, rebounds in ((6.3, 0.01), (3.1, 0.07)):
        now = found(crew, name, N, master, impacts=2, apart=apart)
        assert now.rebound.mean() == pytest.approx(1, abs=rebounds), N
    if name in REVERSING:
        for N, errors in ((16, 0.01), (6.3, 0.04)):
            assert found(crew, name, N, master, impacts=2).error.max() <= errors, N


@EACH
@BOTH
def test_the_first_impact_with_the_mass_given(
    crew: Crew, name: str, apart: bool, master: str, request: pytest.FixtureRequest
) -> None:
    if master == JACOBI and name in UNTOLD:
        request.applymarker(pytest.mark.xfail(strict=True, reason=UNTOLD[name]))
    for N, rebounds in ((6.3, 0.01), (3.1, 0.07)):
        now = found(crew, name, N, master, KNOWN[master], 1 / CASES[name].inverse_mass, apart=apart)
        assert now.rebound.mean() == pytest.approx(1, abs=rebounds), N


@pytest.mark.parametrize(
    "name", ["oblique particle", "sphere that sticks", "ball with cross spin", "rod, slip reverses"]
)
@BOTH
def test_the_first_impact_with_the_mass_given_and_nothing_learned(crew: Crew, name: str, master: str) -> None:
    """Then the mass counts along the surface too."""
    mass = 1 / CASES[name].inverse_mass
    now = impact(crew, name, 3.1, master, KNOWN[master], m_eff=mass, identify=False)
    assert now.rebound.mean() == pytest.approx(1, abs=0.07)


@EACH
def test_the_first_impact_with_gauss_seidel_told(crew: Crew, name: str, apart: bool) -> None:
    now = found(crew, name, 6.3, GAUSS_SEIDEL, "averaged", apart=apart)
    assert now.rebound.mean() == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("name", "apart", "master"),
    [
        (name, apart, master)
        for name, apart in WAYS
        for master in MASTERS
        if not (name.startswith("semi-implicit Euler") and master == GAUSS_SEIDEL)  # symplectic: it keeps its energy
    ],
)
def test_no_phase_has_more_energy_than_with_the_literal_force(crew: Crew, name: str, apart: bool, master: str) -> None:
    for N in (31, 16, 6.3, 3.1):
        literal = found(crew, name, N, master, "hold", apart=apart)
        for impacts in (1, 2) if N < 31 else (1,):
            assert (found(crew, name, N, master, impacts=impacts, apart=apart).rebound <= literal.rebound).all(), N


@pytest.mark.parametrize("name", STEEP)
@BOTH
def test_a_rod_that_friction_drives_into_the_surface(crew: Crew, name: str, master: str) -> None:
    """Painleve: nearer to what is right than the literal force; at N = 16 as where friction reverses.  Energy that the
    rod was given is told."""
    for N, errors in ((31, 0.06), (16, 0.06), (6.3, 1.0), (3.1, 1.0)):
        now, literal = (found(crew, name, N, master, mode) for mode in ("auto", "hold"))
        assert now.error.max() <= min(errors, literal.error.max()), N
        assert now.rebound.max() < 1.03 or any("not compensated" in text for one in now.told for text in one), N


@pytest.mark.parametrize("name", SWEEP)
@BOTH
def test_restitution_of_the_second_impact(crew: Crew, name: str, master: str) -> None:
    for N, errors in ((16, 0.005), (6.3, 0.01)):
        assert found(crew, name, N, master, impacts=2).error.max() <= errors, N


@pytest.mark.parametrize("name", ["linear, e = 1", "Hertz, e = 1"])
@BOTH
def test_an_elastic_impact_is_exact_at_any_step_once_mass_and_order_are_given(
    crew: Crew, name: str, master: str
) -> None:
    for h in (0.02, 0.2, 1.0, 2.0, 3.5, 5.0):  # omega H
        now = found(crew, name, np.pi / h, master, KNOWN[master], 1.0)
        assert now.rebound == pytest.approx(1, abs=1e-8), h  # as good as the reference


@pytest.mark.parametrize("name", ["linear, C_r 0.65", "Hertz, C_r 0.5", "sphere that slides, C_r 0.5"])
@pytest.mark.parametrize("impacts", [1, 2])
@BOTH
def test_velocity_converges_with_the_second_order(crew: Crew, name: str, impacts: int, master: str) -> None:
    steps = (12, 24, 48, 96)
    errors = [found(crew, name, N, master, impacts=impacts).error.max() for N in steps]
    order = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert order >= 1.7, errors
    if impacts == 1:
        literal = [found(crew, name, N, master, "hold").error.max() for N in steps]
        assert -np.polyfit(np.log(steps), np.log(literal), 1)[0] <= 1.5, literal  # and is first, without
