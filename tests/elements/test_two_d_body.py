"""two_d_body: Newton's second law in the plane, its ports and its energy; with points and springs, its modes, and its
motion at large angles."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fmi2 import ERROR, OK, Fmu, load_shipped
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from running import Running, build
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

Vector = NDArray[np.float64]

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


# ---- on springs ------------------------------------------------------------------------------------------------------

LEFT, RIGHT, SIDE = (-0.3, 0.0, math.pi / 2), (0.25, -0.1, math.radians(60.0)), (0.0, 0.1, 0.0)  # of the recipe
RATES = np.array([500.0, 800.0, 300.0])


def row(x: float, y: float, angle: float) -> Vector:
    return np.array([math.cos(angle), math.sin(angle), x * math.sin(angle) - y * math.cos(angle)])


@pytest.fixture(scope="module")
def on_springs(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("BodyOnThreeSprings", tmp_path_factory.mktemp("springs"))


STIFF = (0.5, 2.0, (1e4, 20.0, 500.0))  # takes the implicit method 2 s


@pytest.mark.parametrize(
    ("m", "j", "rates", "method"),
    [
        pytest.param(*case, method, marks=pytest.mark.slow if case is STIFF and method == 3 else ())
        for case in ((2.0, 0.05, (500.0, 800.0, 300.0)), STIFF, (10.0, 0.01, (1e3, 1e3, 1e3)))
        for method in (2, 3)
    ],
)
def test_a_body_on_three_springs_swings_in_the_modes_of_its_stiffness(
    on_springs: Fmu, m: float, j: float, rates: tuple[float, float, float], method: int
) -> None:
    """M^-1 K with K = sum k B^T B has the eigenvalues W^2; q = sum p p^T M q'(0) sin(W t)/W.  Two periods of the
    slowest mode, by the explicit method (2) and the implicit one (3); the energy stays."""
    mass, velocity = np.diag([m, m, j]), np.array([0.2, 0.1, 1.5])
    rows = np.array([row(*LEFT), row(*RIGHT), row(*SIDE)])
    squares, modes = eigh(rows.T @ np.diag(rates) @ rows, mass)
    w = np.sqrt(squares)
    names = ("left", "right", "side")
    values = {f"{name}_stiffness": rate for name, rate in zip(names, rates, strict=True)}
    running = Running(on_springs, values | {"mass": m, "inertia": j, "solver.method": method}, tolerance=1e-11)
    amplitude = np.abs(modes * (modes.T @ mass @ velocity / w)).sum(axis=1)
    for _ in range(5):
        running.step(0.4 * 2.0 * math.pi / w[0])
        q = modes @ (np.sin(w * running.time) * (modes.T @ mass @ velocity) / w)
        assert np.all(np.abs(running.values(["x", "y", "angle"]) - q) <= 1e-8 * amplitude)
        kept = running["body.energy.kinetic"] + sum(running[f"{name}_spring.energy.elastic"] for name in names)
        assert kept == pytest.approx(velocity @ mass @ velocity / 2, rel=1e-8)


# ---- large angles ----------------------------------------------------------------------------------------------------

LARGE_BODY = 'element = "two_d_body"\n[structure]\nlarge_angle = {}\n'
LARGE_POINT = 'element = "two_d_point"\n[structure]\nvariant = "{}"\nlarge_angle = {}\n'
START = {"x0": 0.05, "y0": -0.02, "theta0": 0.4, "v_x0": 0.3, "v_y0": -0.5, "omega0": 60.0}
SWINGING = """
connections = [
    ["left.P_out", "body.P"], ["right.P_out", "body.P"], ["side.P_out", "body.P"],
    ["left.p_in", "left_spring.r"], ["right.p_in", "right_spring.r"], ["side.p_in", "side_spring.r"],
]
[parts]
body = {{ recipe = "Body", start = {{ m = 2, J = 0.05, g = [0, -9.81], {body} }} }}
left = {{ recipe = "LineY", start = {{ XP = -0.3 }} }}
right = {{ recipe = "LineXY", start = {{ XP = 0.25, YP = -0.1, theta = "60 deg" }} }}
side = {{ recipe = "LineX", start = {{ YP = 0.1 }} }}
left_spring = {{ recipe = "TranslationalSpring", start = {{ k = 500 }} }}
right_spring = {{ recipe = "{right}", start = {{ k = 800, x0 = {x0} }} }}
side_spring = {{ recipe = "TranslationalSpring", start = {{ k = 300 }} }}
"""


def swinging(folder: Path, large: bool, right: str = "TranslationalSpring", x0: float = 0.0) -> Fmu:
    """A body on three springs that are relaxed at the start."""
    (folder / "Body.toml").write_text(LARGE_BODY.format(str(large).lower()), encoding="utf-8")
    for variant in ("x", "y", "xy"):
        text = LARGE_POINT.format(variant, str(large).lower())
        (folder / f"Line{variant.upper()}.toml").write_text(text, encoding="utf-8")
    body = ", ".join(f"{name} = {value}" for name, value in START.items())
    return build(folder, "Swinging", SWINGING.format(body=body, right=right, x0=x0))


def way(q: NDArray[np.complex128], line: tuple[float, float, float]) -> np.complex128:
    """Where a point of the body is along its line, whose direction does not turn."""
    (x, y, angle), (at_x, at_y, direction) = q, line
    u, v = at_x * np.cos(angle) - at_y * np.sin(angle), at_x * np.sin(angle) + at_y * np.cos(angle)
    return np.complex128(math.cos(direction) * (x + u) + math.sin(direction) * (y + v))


def potential(q: NDArray[np.complex128]) -> np.complex128:
    """Of the springs, relaxed at the start, and of gravity."""
    begin = np.array([START["x0"], START["y0"], START["theta0"]], dtype=complex)
    ways = np.array([way(q, line) - way(begin, line) for line in (LEFT, RIGHT, SIDE)])
    return np.complex128(RATES @ ways**2 / 2 + 2.0 * 9.81 * q[1])


def by_the_energy(t: Vector) -> Vector:
    """x, y, theta at t, shape (n, 3): M q'' = -dU/dq, the gradient by complex steps, with nothing of the points' B."""

    def motion(_: float, s: Vector) -> Vector:
        slopes = [potential(s[:3] + 1e-30j * unit).imag / 1e-30 for unit in np.eye(3)]
        return np.concatenate([s[3:], -np.array(slopes) / (2.0, 2.0, 0.05)])

    begin = np.array(list(START.values()))
    return solve_ivp(motion, (0.0, t[-1]), begin, "DOP853", rtol=1e-12, atol=1e-13, t_eval=t).y[:3].T


def test_with_large_angle_a_body_swings_by_its_energy_at_any_angle(tmp_path: Path) -> None:
    """It turns by more than a radian; deformations follow from speeds for two springs, and from the position p_in.s for
    the third.  Without the extension the same system does something else, which no tolerance would swallow."""
    t = np.linspace(0.0, 0.8, 9)
    exact = by_the_energy(t)
    assert np.ptp(exact[:, 2]) > 1.0
    begin = np.array([START["x0"], START["y0"], START["theta0"]], dtype=complex)
    relaxed = -way(begin, RIGHT).real
    running = Running(swinging(tmp_path, True, "TranslationalSpringByPositions", relaxed), tolerance=1e-11)
    small = tmp_path / "small"
    small.mkdir()
    simple = Running(swinging(small, False), tolerance=1e-11)
    energy = 2.0 * (0.3**2 + 0.5**2) / 2 + 0.05 * 60.0**2 / 2 - 2.0 * 9.81 * 0.02
    for one in exact[1:]:
        running.step(0.1)
        simple.step(0.1)
        assert running.values(["body.x", "body.y", "body.theta"]) == pytest.approx(one, abs=1e-8)
        springs = sum(running[f"{name}_spring.energy.elastic"] for name in ("left", "right", "side"))
        whole = running["body.energy.kinetic"] + running["body.energy.potential"] + springs
        assert whole == pytest.approx(energy, rel=1e-8)
    assert abs(simple["body.theta"] - exact[-1, 2]) > 0.1


# ---- the page --------------------------------------------------------------------------------------------------------


def test_the_numbers_of_the_readme_are_right() -> None:
    text = " ".join((Path(__file__).parents[2] / "elements/two_d_body/README.md").read_text("utf-8").split())
    assert f"at 3 m/s, turning at 10 rad/s, has {2.0 * 3.0**2 / 2 + 0.1 * 10.0**2 / 2:g} J" in text
