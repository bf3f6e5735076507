"""Guides with the structure `coupling`: a particle and a guide as FMUs of their own, at communication steps at which a
literal force that is held would throw the particle off.  What the coupling does by itself: test_coupled_point.py."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fmi2 import OK, Fmu, load_shipped
from numpy.typing import NDArray
from running import Running, Values, build

from fmu_builder.cosim.slave import read_slave
from tests.elements.closed_loop import JACOBI as PORT_JACOBI
from tests.elements.closed_loop import SEQUENTIAL as PORT_SEQUENTIAL
from tests.elements.coupled_fmus import Member
from tests.elements.port_families import draw_systems
from tests.elements.port_systems import survey, worse_by_mean, worse_by_phase
from tests.fmu_builder.foreign import foreign_fmu

pytestmark = pytest.mark.slow  # every day the coupling by itself is tested: test_coupled_point.py
Vector = NDArray[np.float64]
HOLD, SLOPE, AVERAGED, PREDICTED, AUTO = range(1, 6)
JACOBI, GAUSS_SEIDEL = "jacobi", "gauss_seidel"
K_1, K_2 = 1e4, 4e4
OMEGA = math.sqrt(K_2)  # of 1 kg, the faster one

CIRCLE = [[round(math.cos(a), 12), round(math.sin(a), 12), 0.0] for a in np.arange(36) * math.pi / 18]
RING = f"""
element = "{{element}}"
[line]
points = {CIRCLE}
closed = true
interpolation = "spline"
[structure]
coupling = true
[start]
"point.r" = [1, 0, 0]
"coupling.mode" = "auto"
"""
AXES = "VectorFr1 = [1, 0, 0]\n"


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("ring"), "Ring", RING.format(element="point_line_2") + AXES)


@pytest.fixture(scope="module")
def bar(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("GuideRail", tmp_path_factory.mktemp("bar"))


@pytest.fixture(scope="module")
def bead(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("PointMass", tmp_path_factory.mktemp("bead"))


def coupled(bead: Fmu, guide: Fmu, master: str, H: float, steps: int, r: Vector, v: Vector, **values: float) -> tuple:
    """Particle of 1 kg without weight, and guide, after some steps."""
    named: Values = {name.replace("__", "."): value for name, value in values.items()}
    body = Running(bead, {"g": (0.0, 0.0, 0.0), "r0": r, "v0": v})
    element = Running(guide, {**named, "point.r": r, "point.v": v})
    for _ in range(steps):
        before = element.vector("point.f")
        element.set({"point.r": body.vector("p.r"), "point.v": body.vector("p.v")})
        element.step(H)
        body.set({"p.f": before if master == JACOBI else element.vector("point.f")})
        body.step(H)
    return body, element


ON_RING = np.array([1.0 + 1.0 / K_1, 0.0, 0.0]), np.array([0.0, 1.0, 0.2])  # carried round at 1 m/s, struck across


def kinetic(body: Running) -> float:
    v = body.vector("p.v")
    return 0.5 * float(v @ v)


@pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])
def test_a_bead_runs_round_a_ring_without_gain_or_loss(bead: Fmu, ring: Fmu, master: str) -> None:
    """A third of a lap at omega H = 1/2.  The energy of the spline is that of the guide."""
    body, guide = coupled(bead, ring, master, 0.5 / OMEGA, 840, *ON_RING, k_r1=K_1, k_r2=K_2)
    guide.set({"point.r": body.vector("p.r"), "point.v": body.vector("p.v")})
    energy = kinetic(body) + guide["energy.elastic"]
    assert energy == pytest.approx(0.52 + K_1 * 1e-8 / 2, rel=1e-4)
    assert math.hypot(*body.vector("p.r")[:2]) == pytest.approx(1.0, abs=2e-3)
    assert guide["coupling.lag"] == (1 if master == JACOBI else 0)
    assert guide["coupling.admittance"] == pytest.approx(1.0, rel=1e-6)
    assert guide["coupling.partner_mass"] == pytest.approx(1.0, rel=1e-6) and guide["coupling.trust"] > 0.9
    assert guide["coupling.residual"] == pytest.approx(0.0, abs=1e-9)
    assert guide["coupling.step_advised"] == pytest.approx(0.5 / OMEGA, rel=1e-6) and guide["coupling.fallback"] == 0
    guide.step(1e-9)  # books the last interval
    assert guide["energy.residual"] == pytest.approx(-guide["coupling.residual"], abs=1e-12)
    assert guide["energy.work"] == pytest.approx(0.52 - kinetic(body), abs=1e-9)


def test_the_literal_force_throws_the_bead_off(bead: Fmu, ring: Fmu) -> None:
    """And tells it: exp(3 pi^2/(4 N)) in half a period, N = 2 pi."""
    body, guide = coupled(bead, ring, JACOBI, 0.5 / OMEGA, 100, *ON_RING, k_r1=K_1, k_r2=K_2, coupling__mode=HOLD)
    assert kinetic(body) > 2 * 0.52
    (told,) = guide.told
    growth, advised = (float(told.split(f"{words} ")[1].split()[0]) for words in ("each one", "below"))
    assert growth == pytest.approx(math.exp(3 * math.pi / 8), rel=1e-3)
    assert 3 * math.pi * OMEGA * advised / 4 == pytest.approx(0.01, rel=1e-3)


def test_a_velocity_that_is_not_connected_gives_the_literal_force(ring: Fmu) -> None:
    guide = Running(ring, {"point.r": (1.001, 0.0, 0.0), "k_r1": K_1, "k_r2": K_2, "normDamp": 5.0})
    for k in range(8):
        guide.set({"point.r": (1.001, 0.0, 0.002 * k), "point.v": (0.0, 0.0, 0.0)})
        guide.step(1e-3)
    assert guide["coupling.fallback"] == 1
    assert guide.vector("point.f") == pytest.approx([-K_1 * 0.001, 0.0, -K_2 * 0.014], rel=1e-4, abs=1e-3)
    assert len([text for text in guide.told if "does not belong to the position" in text]) == 1
    for k in range(8):  # connected again
        guide.set({"point.r": (1.001, 0.0, 0.014 + 0.001 * k), "point.v": (0.0, 0.0, 1.0)})
        guide.step(1e-3)
    assert guide["coupling.fallback"] == 0


@pytest.mark.parametrize("ratio", [1.0, 1000.0, -1.0])
@pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])
def test_a_velocity_of_another_unit_or_sign_gives_the_literal_force(
    bead: Fmu, bar: Fmu, master: str, ratio: float
) -> None:
    """From the second sample on; and what swings across with six steps in half a period is not taken for one."""
    places = []
    for mode in (AUTO, HOLD):
        body = Running(bead, {"g": (0.0, 0.0, 0.0), "r0": ACROSS})
        guide = Running(bar, {"point.r": ACROSS, "k_r1": K_1, "k_r2": K_1, "coupling.mode": mode})
        for _ in range(30):
            before = guide.vector("point.f")
            guide.set({"point.r": body.vector("p.r"), "point.v": ratio * body.vector("p.v")})
            guide.step(math.pi / OMEGA_1 / 6)
            body.set({"p.f": before if master == JACOBI else guide.vector("point.f")})
            body.step(math.pi / OMEGA_1 / 6)
        places.append(body.vector("p.r"))
        reports = sum(f"the velocity is {ratio:g} times that of the position" in text for text in guide.told)
        assert reports == (ratio != 1.0) and (mode == HOLD or guide["coupling.fallback"] == reports)
    assert (places[0] == pytest.approx(places[1], rel=1e-9)) == (ratio != 1.0)


def test_energies_go_on_where_the_law_has_acted_on_inputs_that_change_within_the_step(tmp_path: Path) -> None:
    """Twenty steps after the last derivative of an input the coupling begins anew."""
    rail = build(tmp_path, "Rail", 'element = "point_line_1"\n[line]\npoints = [[-9, 0, 0], [0, 0, 0], [9, 0, 0]]\n')
    guide = Running(rail, {"k_r": 1000.0, "normDamp": 20.0, "K_fr": 0.2, "point.r": (0.0, 0.1, 0.0)})
    w, H, energies = 30.0, 5e-3, []
    for k in range(100):
        t = k * H
        v, a = (0.1, 0.03 * w * math.cos(w * t), 0.0), (0.0, -0.03 * w * w * math.sin(w * t), 0.0)
        guide.set({"point.r": (0.1 * t, 0.1 + 0.03 * math.sin(w * t), 0.0), "point.v": v})
        if 30 <= k < 60:
            guide.rates({"point.r": v, "point.v": a})
        guide.step(H)
        energies.append(guide.values(["energy.damping", "energy.friction", "energy.work"]))
    damping, friction, work = np.diff(energies, axis=0).T
    assert damping.min() > -2e-4 and friction.min() > -2e-4  # but by the error of a force that is held
    assert damping.max() < 0.12 and np.abs(work).max() < 0.7  # 20 N s/m (0.9 m/s)^2 5 ms, and 148 N 0.9 m/s 5 ms


def test_friction_and_damping_bring_the_bead_to_rest_and_are_booked(bead: Fmu, ring: Fmu) -> None:
    values = {"k_r1": K_1, "k_r2": K_2, "normDamp": 50.0, "K_fr": 0.3}
    body, guide = coupled(bead, ring, JACOBI, 0.3 / OMEGA, 1500, ON_RING[0], np.array([0.0, 1.0, 0.0]), **values)
    booked = guide["energy.damping"] + guide["energy.friction"]
    assert kinetic(body) + booked == pytest.approx(0.5, abs=2e-3)
    assert guide["energy.friction"] > 0.3
    # the rigid limit: v = v_0/(1 + K_fr v_0 t/R)
    t = 1500 * 0.3 / OMEGA
    assert np.linalg.norm(body.vector("p.v")) == pytest.approx(1.0 / (1.0 + 0.3 * t), rel=0.05)


def test_a_restored_state_continues_bit_for_bit(bead: Fmu, ring: Fmu) -> None:
    _, guide = coupled(bead, ring, JACOBI, 0.5 / OMEGA, 20, *ON_RING, k_r1=K_1, k_r2=K_2)

    def go() -> list[float]:
        found: list[float] = []
        for k in range(10):
            angle = 0.05 + 0.0025 * k
            guide.set({"point.r": (math.cos(angle), math.sin(angle), 1e-3 * math.sin(k)), "point.v": (0, 1, 0.1 * k)})
            guide.step(0.0025)
            found += [*guide.vector("point.f"), guide["coupling.residual"], guide["energy.work"]]
        return found

    state, time = guide.slave.get_state(), guide.time
    before = guide.slave.serialize(state)
    first = go()
    assert guide.slave.call("fmi2SetFMUstate", state) == OK
    guide.time = time
    assert guide.slave.serialize(guide.slave.get_state()) == before
    assert go() == first


def test_a_point_drawn_to_a_ring_is_served_alike(bead: Fmu, tmp_path: Path) -> None:
    guide = build(tmp_path, "Drawn", RING.format(element="point_line_1"))
    r, v = np.array([1.0 + 1.0 / K_2, 0.0, 0.0]), np.array([0.0, 1.0, 0.1])
    for master in (JACOBI, GAUSS_SEIDEL):
        body, element = coupled(bead, guide, master, 0.5 / OMEGA, 840, r, v, k_r=K_2)
        assert kinetic(body) == pytest.approx(0.505, rel=0.02)
        assert element["coupling.residual"] == pytest.approx(0.0, abs=1e-9)


def test_a_point_that_leaves_the_line_and_comes_back_begins_anew(bead: Fmu, bar: Fmu) -> None:
    r, v = np.array([0.9, 1e-3, 0.0]), np.array([1.0, 0.0, 0.0])
    body, element = coupled(bead, bar, GAUSS_SEIDEL, 0.005, 60, r, v, k_r1=1e4, k_r2=1e4, K_fr=0.0)
    assert element["on"] == 0 and list(element.vector("point.f")) == [0.0] * 3
    assert body.vector("p.r")[0] > 1.1
    lost = 0.5 + 1e4 * 1e-6 / 2 - kinetic(body)  # what the spring held where the point left
    assert element["energy.switched"] + element["energy.residual"] == pytest.approx(lost, abs=1e-12)
    assert element["energy.work"] == pytest.approx(0.5 - kinetic(body), abs=1e-12)
    # it comes back, by hand, slowly and straight
    for k in range(20):
        element.set({"point.r": (1.05 - 0.01 * k, 2e-4, 0.0), "point.v": (-2.0, 0.0, 0.0)})
        element.step(0.005)
    assert element["on"] == 1
    assert element.vector("point.f")[1] == pytest.approx(-2.0, rel=0.3)
    assert element["coupling.admittance"] == pytest.approx(1.0, rel=1e-6)


OMEGA_1 = math.sqrt(K_1)  # of 1 kg across the bar
ACROSS = np.array([0.5, 1e-3, 0.0])


class Bead:
    """1 kg of ours, or of another tool: foreign.c, with semi-implicit Euler."""

    def __init__(self, ours: Running | None, other: Member | None) -> None:
        self.ours, self.other = ours, other

    def vector(self, name: str) -> Vector:
        return self.ours.vector(name) if self.ours else self.other.get(name)  # type: ignore[union-attr]

    def step(self, force: Vector, H: float) -> None:
        if self.ours:
            self.ours.set({"p.f": force})
            self.ours.step(H)
        else:
            self.other.put("p.f", force)  # type: ignore[union-attr]
            self.other.step(H)  # type: ignore[union-attr]


def swing_across(body: Bead, guide: Running, master: str, steps: Vector) -> float:
    """Energy across the bar at the end, over that at the start."""
    for H in steps:
        before = guide.vector("point.f")
        guide.set({"point.r": body.vector("p.r"), "point.v": body.vector("p.v")})
        guide.step(H)
        body.step(before if master == JACOBI else guide.vector("point.f"), H)
    v = body.vector("p.v")
    y = body.vector("p.r")[1] - (0.0 if body.ours else 0.5 * steps[-1] * v[1])
    return float(v[1] ** 2 + (OMEGA_1 * y) ** 2) / (OMEGA_1 * 1e-3) ** 2


@pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])
@pytest.mark.parametrize("N", [16, 6.3, 3.1])
def test_the_motion_across_keeps_its_energy(bead: Fmu, bar: Fmu, tmp_path: Path, master: str, N: float) -> None:
    """Ten periods, a bead of ours and one of another tool; the literal force drives both under Jacobi."""
    one = Member("one", read_slave(foreign_fmu(tmp_path, "Foreign")))
    steps = np.full(math.ceil(20 * N), math.pi / OMEGA_1 / N)
    values: Values = {"point.r": ACROSS, "k_r1": K_1, "k_r2": K_1}
    for mode in (AUTO, HOLD):
        one.start({"m": 1.0, "k": 0.0, "r0": ACROSS})
        for body in (Bead(Running(bead, {"g": (0.0, 0.0, 0.0), "r0": ACROSS}), None), Bead(None, one)):
            guide = Running(bar, {**values, "coupling.mode": mode})
            share = swing_across(body, guide, master, steps)
            if mode == AUTO:
                assert share == pytest.approx(1.0, abs=1e-3)
                assert guide["coupling.lag"] == (1 if master == JACOBI else 0)
                assert guide["coupling.beta"] == pytest.approx(0.5 if body.ours else 1.0, abs=1e-6)
            elif master == JACOBI:
                assert share > 1e4
    one.slave.close()


@pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])
@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_a_stiffness_that_changes_is_switched_energy_and_nothing_to_pay_back(
    bead: Fmu, bar: Fmu, master: str, factor: float
) -> None:
    """The interval before the change was under the stiffness before.  After it the swing has the energy that the bead
    has and the springs then store."""
    for count in (41, 42, 43, 44):
        body = Running(bead, {"g": (0.0, 0.0, 0.0), "r0": ACROSS})
        guide = Running(bar, {"point.r": ACROSS, "k_r1": K_1, "k_r2": K_1})
        steps = np.full(count, math.pi / OMEGA_1 / 8)
        swing_across(Bead(body, None), guide, master, steps)
        y, v = body.vector("p.r")[1], body.vector("p.v")[1]
        guide.set({"k_r1": factor * K_1, "k_r2": factor * K_1})
        swing_across(Bead(body, None), guide, master, steps)
        guide.set({"point.r": body.vector("p.r"), "point.v": body.vector("p.v")})
        guide.step(steps[0])
        stored = 0.5 * (1 - factor) * K_1 * y**2
        assert guide["energy.switched"] == pytest.approx(stored, rel=1e-9)
        y_1, v_1 = body.vector("p.r")[1], body.vector("p.v")[1]
        left = 0.5 * v_1**2 + 0.5 * factor * K_1 * y_1**2
        assert left == pytest.approx(0.5 * v**2 + 0.5 * factor * K_1 * y**2, rel=2e-3)
        assert guide["energy.work"] == pytest.approx(-0.5 * v_1**2, abs=1e-12)


@pytest.mark.parametrize(("master", "fine", "count"), [(JACOBI, 3.16e-3, 1300), (GAUSS_SEIDEL, 6.32e-3, 1000)])
def test_hold_learns_anew_after_a_change_of_the_step(bead: Fmu, bar: Fmu, master: str, fine: float, count: int) -> None:
    """Of steps at which there is nothing to tell it looks at the first ones alone; fine: omega H of those."""
    body = Bead(Running(bead, {"g": (0.0, 0.0, 0.0), "r0": ACROSS}), None)
    guide = Running(bar, {"point.r": ACROSS, "k_r1": K_1, "k_r2": K_1, "coupling.mode": HOLD})
    swing_across(body, guide, master, np.array([fine / OMEGA_1] * count))
    assert not guide.told
    swing_across(body, guide, master, np.array([0.1 / OMEGA_1] * 40))
    (told,) = guide.told
    delay = 1.5 if master == JACOBI else 0.5
    growth = float(told.split("each one ")[1].split()[0])
    assert growth == pytest.approx(math.exp(math.pi * 0.1 * delay / 2), rel=1e-3, abs=0.005)  # it has three digits


@pytest.mark.parametrize("master", [JACOBI, GAUSS_SEIDEL])
def test_steps_that_vary_a_reset_and_a_restored_state(bead: Fmu, bar: Fmu, master: str) -> None:
    steps = math.pi / OMEGA_1 / 16 * np.random.default_rng(5).uniform(0.8, 1.25, 320)
    ours = Running(bead, {"g": (0.0, 0.0, 0.0), "r0": ACROSS})
    values: Values = {"point.r": ACROSS, "k_r1": K_1, "k_r2": K_1, "coupling.mode": AUTO}
    guide, body = Running(bar, values), Bead(ours, None)
    whole = swing_across(body, guide, master, steps)
    assert whole == pytest.approx(1.0, abs=0.03 if master == JACOBI else 1e-3)
    for one, again in ((ours, {"g": (0.0, 0.0, 0.0), "r0": ACROSS}), (guide, values)):
        assert one.slave.call("fmi2Reset") == OK
        one.begin_again(again)
    swing_across(body, guide, master, steps[:100])
    kept = [(one, one.slave.get_state(), one.time) for one in (ours, guide)]
    assert swing_across(body, guide, master, steps[100:]) == whole
    for one, state, time in kept:
        assert one.slave.call("fmi2SetFMUstate", state) == OK
        one.time = time
    assert swing_across(body, guide, master, steps[100:]) == whole


@pytest.mark.parametrize("varies", [False, True])
def test_the_work_on_a_bead_that_is_stepped_first_is_booked_from_the_first_step_on(
    bead: Fmu, bar: Fmu, varies: bool
) -> None:
    """The guide sees at the beginning of a step where the bead is at its end.  All the work is what the bead lost."""
    body = Running(bead, {"g": (0.0, 0.0, 0.0), "r0": ACROSS})
    guide = Running(bar, {"point.r": ACROSS, "k_r1": K_1, "k_r2": K_1, "coupling.mode": AUTO, "coupling.order": 2})
    shares = np.random.default_rng(5).uniform(0.8, 1.25, 320)
    for H in math.pi / OMEGA_1 / 16 * (shares if varies else np.ones(320)):
        body.set({"p.f": guide.vector("point.f")})
        body.step(H)
        guide.set({"point.r": body.vector("p.r"), "point.v": body.vector("p.v")})
        guide.step(H)
        assert guide["energy.work"] == pytest.approx(-kinetic(body), abs=1e-12)
    energy = kinetic(body) + K_1 * body.vector("p.r")[1] ** 2 / 2
    assert energy == pytest.approx(K_1 * 1e-6 / 2, rel=0.03 if varies else 1e-9)
    assert guide["coupling.admittance"] == pytest.approx(1.0, rel=1e-6)


@pytest.mark.slow
def test_guides_beside_other_bodies_are_never_worse_than_the_literal_force() -> None:
    """Forty masses on a rail, another one joined to each across it, drawn at random: five periods."""
    systems = list(draw_systems(11, 40, ["guide"]))
    results = survey(systems, (PORT_JACOBI, PORT_SEQUENTIAL), ("hold", "auto", "given"))
    for master, method, least in (
        (PORT_JACOBI, "auto", 0.6), (PORT_JACOBI, "given", 0.9),
        (PORT_SEQUENTIAL, "auto", 0.9), (PORT_SEQUENTIAL, "given", 0.95),
    ):  # fmt: skip
        found, hold = results["guide", master, method], results["guide", master, "hold"]
        assert len(found) == 40
        for one, other in zip(found, hold, strict=True):
            assert not worse_by_mean(one, other) and not worse_by_phase(one, other), (master, method, one.index)
            assert one.wrong_lags == 0.0, (master, method, one.index)
        assert np.mean([one.right for one in found]) >= least, (master, method)
