"""two_d_body: Newton's second law in the plane, its ports and its energy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fmi2 import ERROR, OK, Fmu, load_shipped
from hypothesis import given, settings
from hypothesis import strategies as st
from running import Running, build

moderate = st.floats(-100.0, 100.0)
vectors = st.tuples(moderate, moderate, moderate)
masses = st.floats(1e-3, 1e3)
STARTS = ["x0", "y0", "theta0", "v_x0", "v_y0", "omega0"]
STATES = ["x", "y", "theta", "v_x", "v_y", "omega"]


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    """With three ports."""
    return load_shipped("TwoDBody", tmp_path_factory.mktemp("body"))


# ---- the law ---------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(m=masses, j=masses, forces=st.tuples(vectors, vectors, vectors), g=st.tuples(moderate, moderate), v=vectors)
def test_accelerations_are_the_sum_of_the_forces_over_mass_and_inertia(
    body: Fmu,
    m: float,
    j: float,
    forces: tuple[tuple[float, float, float], ...],
    g: tuple[float, float],
    v: tuple[float, float, float],
) -> None:
    at = {f"P[{i}].F": force for i, force in enumerate(forces, 1)}
    speeds = dict(zip(("v_x0", "v_y0", "omega0"), v, strict=True))
    running = Running(body, {"m": m, "J": j, "g": g, **speeds, **at})
    size = np.abs(forces).sum(axis=0) / (m, m, j) + (abs(g[0]), abs(g[1]), 0.0)
    expected = np.sum(forces, axis=0) / (m, m, j) + (*g, 0.0)
    found = running.values(["der(v_x)", "der(v_y)", "der(omega)"])
    assert np.all(np.abs(found - expected) <= 1e-15 * size + 1e-300)
    assert tuple(running.values(["der(x)", "der(y)", "der(theta)"])) == v
    for i in (1, 2, 3):
        assert tuple(running.vector(f"P[{i}].v")) == v  # all ports move alike


@settings(max_examples=60, deadline=None)
@given(m=masses, j=masses, g=st.tuples(moderate, moderate), s=vectors, v=vectors)
def test_energies_are_those_of_mass_inertia_and_height(
    body: Fmu,
    m: float,
    j: float,
    g: tuple[float, float],
    s: tuple[float, float, float],
    v: tuple[float, float, float],
) -> None:
    running = Running(body, {"m": m, "J": j, "g": g, **dict(zip(STARTS, (*s, *v), strict=True))})
    assert tuple(running.values(STATES)) == (*s, *v)
    kinetic = m * (v[0] ** 2 + v[1] ** 2) / 2 + j * v[2] ** 2 / 2
    assert running["energy.kinetic"] == pytest.approx(kinetic, rel=1e-14, abs=1e-300)
    height = m * (abs(g[0] * s[0]) + abs(g[1] * s[1]))
    assert running["energy.potential"] == pytest.approx(-m * (g[0] * s[0] + g[1] * s[1]), abs=1e-15 * height + 1e-300)


@settings(max_examples=30, deadline=None)
@given(m=st.floats(0.1, 10.0), force=vectors, v=vectors, h=st.floats(1e-3, 1.0))
def test_a_step_under_constant_forces_is_exact_and_keeps_the_balance_of_energy(
    body: Fmu, m: float, force: tuple[float, float, float], v: tuple[float, float, float], h: float
) -> None:
    g = np.array([0.3, -9.81, 0.0])
    speeds = dict(zip(("v_x0", "v_y0", "omega0"), v, strict=True))
    running = Running(body, {"m": m, "J": 2.0 * m, "g": g[:2], "P[2].F": force, **speeds})
    before = running["energy.kinetic"] + running["energy.potential"]
    a = np.array(force) / (m, m, 2.0 * m) + g
    running.step(h)
    way = np.array(v) * h + a * h**2 / 2
    size = float((np.abs(v) * h + np.abs(a) * h**2).max() + 1.0)
    assert running.values(["x", "y", "theta"]) == pytest.approx(way, abs=1e-14 * size)
    assert running.vector("P[3].v") == pytest.approx(np.array(v) + a * h, abs=1e-14 * size / h)
    after = running["energy.kinetic"] + running["energy.potential"]
    scale = max(abs(before), abs(after), float(np.abs(force) @ np.abs(way)), m * size**2 / h**2)
    assert after - before == pytest.approx(np.dot(force, way), abs=1e-13 * scale)


def test_directional_derivatives_are_those_of_the_law(body: Fmu) -> None:
    running = Running(body, {"m": 4.0, "J": 0.5, "g": (0.0, -9.81)})
    slopes = ["der(v_x)", "der(v_y)", "der(omega)"]
    for i in (1, 2, 3):
        for k, expected in enumerate(np.diag([0.25, 0.25, 2.0]), 1):
            assert tuple(running.directional(slopes, {f"P[{i}].F[{k}]": 1.0})) == tuple(expected)
    assert tuple(running.directional(["energy.potential"], {"y": 1.0})) == (4.0 * 9.81,)


# ---- ports -----------------------------------------------------------------------------------------------------------


def test_one_port_with_the_sum_of_the_forces_is_as_good_as_three(body: Fmu, tmp_path: Path) -> None:
    """And it is called P alone."""
    one = build(tmp_path, "One", 'element = "two_d_body"\n')
    values = {"m": 3.0, "J": 0.7, "v_x0": 2.0, "omega0": -1.0}
    forces = {f"P[{i}].F": (i, 2.0 * i, -0.5 * i) for i in (1, 2, 3)}
    both = [Running(body, values | forces), Running(one, values | {"P.F": (6.0, 12.0, -3.0)})]
    for running in both:
        running.step(0.3)
    assert list(both[0].values(STATES)) == list(both[1].values(STATES))
    assert "P[1].v[1]" in body.types and "P[1].v[1]" not in one.types


def test_the_extension_adds_the_position_to_each_port_and_changes_nothing_else(body: Fmu, tmp_path: Path) -> None:
    large = build(tmp_path, "Large", 'element = "two_d_body"\n[structure]\nports = 3\nlarge_angle = true\n')
    assert large.types.keys() - body.types.keys() == {f"P[{i}].r[{k}]" for i in (1, 2, 3) for k in (1, 2, 3)}
    assert not body.types.keys() - large.types.keys()
    both = [Running(fmu, {"theta0": 2.0, "omega0": 7.0, "P[1].F": (1.0, 2.0, 3.0)}) for fmu in (large, body)]
    for running in both:
        running.step(0.5)
    assert list(both[0].values(STATES)) == list(both[1].values(STATES))
    assert list(both[0].vector("P[2].r")) == list(both[0].values(["x", "y", "theta"]))


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [0.0, -1.0])
@pytest.mark.parametrize(("name", "unit"), [("m", "kg"), ("J", "kg.m2")])
def test_a_body_without_mass_or_inertia_is_refused_at_the_start_and_while_running(
    body: Fmu, name: str, unit: str, wrong: float
) -> None:
    said = f"{name} = {wrong:g} {unit}"
    slave = body.slave()
    refused = slave.set({name: wrong}) != OK
    assert slave.setup() == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    left = slave.call("fmi2ExitInitializationMode")
    assert refused or left == ERROR
    assert any(said in text and f"greater than 0 {unit}" in text for text in slave.importer.texts)
    running = Running(body)
    running.step(0.1)
    if running.slave.set({name: wrong}) == OK:
        assert running.slave.step(running.time, 0.1) == ERROR
    assert any(said in text and f"greater than 0 {unit}" in text for text in running.told)


def test_the_start_is_fixed(body: Fmu) -> None:
    for name in STARTS:
        running = Running(body)
        assert running.slave.set({name: 1.0}) == ERROR
        assert f"{name} cannot be set after the initialization" in running.told[-1]


# ---- the page --------------------------------------------------------------------------------------------------------


def test_the_numbers_of_the_readme_are_right() -> None:
    text = " ".join((Path(__file__).parents[2] / "elements/two_d_body/README.md").read_text("utf-8").split())
    assert f"at 3 m/s, turning at 10 rad/s, has {2.0 * 3.0**2 / 2 + 0.1 * 10.0**2 / 2:g} J" in text
