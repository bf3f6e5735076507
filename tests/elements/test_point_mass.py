"""point_mass: Newton's second law and its energies.  How steps are integrated: tests/contact_core/test_step.py."""

from __future__ import annotations

import numpy as np
import pytest
from fmi2 import ERROR, OK, Fmu, load_shipped, only
from hypothesis import given, settings
from hypothesis import strategies as st
from running import Running

moderate = st.floats(-100.0, 100.0)
vectors = st.tuples(moderate, moderate, moderate).map(np.array)


@pytest.fixture(scope="module")
def mass(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("PointMass", tmp_path_factory.mktemp("mass"))


def test_motion_begins_at_the_start_values(mass: Fmu) -> None:
    running = Running.in_initialization(mass)
    running.set({"r0": (1.0, -2.0, 3.0), "v0": (0.1, 0.2, -0.3)})
    assert list(running.vector("p.r")) == [1.0, -2.0, 3.0]
    assert list(running.vector("p.v")) == [0.1, 0.2, -0.3]


def test_projectile_flies_its_parabola(mass: Fmu) -> None:
    """Thrown at 45 degrees it comes down after v^2/g, having risen to a quarter of that."""
    v, g = 20.0, 9.81
    running = Running(mass, {"v0": (v / np.sqrt(2.0), 0.0, v / np.sqrt(2.0))})
    flight = np.sqrt(2.0) * v / g
    for _ in range(2):
        running.step(flight / 4.0)
    assert running["p.r[3]"] == pytest.approx(v**2 / g / 4.0, rel=1e-14)
    assert running["p.v[3]"] == pytest.approx(0.0, abs=1e-13)
    for _ in range(2):
        running.step(flight / 4.0)
    assert running["p.r[1]"] == pytest.approx(v**2 / g, rel=1e-14)
    assert running["p.r[3]"] == pytest.approx(0.0, abs=1e-13)


@settings(max_examples=100, deadline=None)
@given(m=st.floats(1e-3, 1e3), f=vectors, g=vectors, r=vectors, v=vectors)
def test_acceleration_is_force_over_mass_and_gravity(mass: Fmu, m: float, f, g, r, v) -> None:
    running = Running(mass, {"m": m, "g": g, "r0": r, "v0": v, "p.f": f})
    slope = running.values([f"der(p.v[{k}])" for k in (1, 2, 3)])
    assert slope == pytest.approx(f / m + g, rel=1e-15, abs=2e-16 * (np.abs(f) / m + np.abs(g)).max())
    assert list(running.values([f"der(p.r[{k}])" for k in (1, 2, 3)])) == list(v)
    assert running["energy.kinetic"] == pytest.approx(0.5 * m * v @ v, rel=1e-14)
    assert running["energy.potential"] == pytest.approx(-m * g @ r, rel=1e-14, abs=1e-14 * m * np.abs(g * r).sum())


@settings(max_examples=50, deadline=None)
@given(m=st.floats(0.1, 10.0), f=vectors, g=vectors, r=vectors, v=vectors, h=st.floats(1e-3, 1.0))
def test_force_and_gravity_change_momentum_and_energy_by_impulse_and_work(mass: Fmu, m: float, f, g, r, v, h) -> None:
    running = Running(mass, {"m": m, "g": g, "r0": r, "v0": v, "p.f": f})
    before = running["energy.kinetic"] + running["energy.potential"]
    for _ in range(5):
        running.step(h)
    impulse = m * (running.vector("p.v") - v)
    size = m * (np.abs(v).sum() + 500.0 * h * (1.0 + 1.0 / m))
    assert impulse == pytest.approx(5.0 * h * (f + m * g), abs=1e-12 * size)
    work = f @ (running.vector("p.r") - r)
    after = running["energy.kinetic"] + running["energy.potential"]
    size = max(running["energy.kinetic"], abs(running["energy.potential"]), abs(before), abs(work), 1.0)
    assert after - before == pytest.approx(work, abs=1e-11 * size)


def test_mass_and_gravity_act_at_once_when_they_are_tuned_and_leave_the_motion_alone(mass: Fmu) -> None:
    running = Running(mass, {"v0": (1.0, 0.0, 0.0), "p.f": (4.0, 0.0, 0.0)})
    running.step(0.5)
    motion = [*running.vector("p.r"), *running.vector("p.v")]
    running.set({"m": 2.0, "g": (0.0, 0.0, 0.0)})
    assert [*running.vector("p.r"), *running.vector("p.v")] == motion
    assert running["der(p.v[1])"] == 2.0
    assert running["der(p.v[3])"] == 0.0
    assert running["energy.kinetic"] == pytest.approx(running.vector("p.v") @ running.vector("p.v"), rel=1e-15)
    running.step(0.5)
    assert running["p.v[1]"] == pytest.approx(1.0 + 2.0 + 1.0, rel=1e-15)
    assert running["p.v[3]"] == pytest.approx(-0.5 * 9.81, rel=1e-15)


def test_start_values_cannot_be_set_once_the_motion_has_begun(mass: Fmu) -> None:
    running = Running(mass)
    assert running.slave.set({"r0[1]": 1.0}) == ERROR
    assert "r0[1] cannot be set after the initialization" in only(running.slave.importer.messages).text


def test_mass_has_to_be_positive(mass: Fmu) -> None:
    slave = mass.slave()
    assert slave.set({"m": 0.0}) == OK  # a strict bound belongs to the end of the initialization
    assert slave.setup() == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    assert slave.call("fmi2ExitInitializationMode") == ERROR
    assert "m = 0 kg: it must be greater than 0 kg" in slave.importer.texts


def test_force_that_overflows_the_motion_is_an_error_that_names_it(mass: Fmu) -> None:
    running = Running(mass, {"m": 1e-3, "p.f": (0.0, 1e304, 0.0)})
    assert running.slave.step(0.0, 100.0) == ERROR
    assert "is not finite" in running.told[-1]
