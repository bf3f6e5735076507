"""The parts of `implicit` for themselves: the fixed point, the force of a step, rotations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from fmu_builder.cosim.implicit.arithmetic import least_squares, power_of_two_fifths, sine_cosine, turned
from fmu_builder.cosim.implicit.forces import Gradient, Vector, seen
from fmu_builder.cosim.implicit.iqn import solve


@pytest.mark.parametrize("size", [1, 2, 5, 12])
def test_a_linear_fixed_point_is_found_in_as_many_iterations_as_unknowns(size: int) -> None:
    """Whatever the eigenvalues: plain iteration would diverge by factors up to 30."""
    random = np.random.default_rng(size)
    matrix, offset = random.normal(size=(size, size)) * 10.0, random.normal(size=size)
    calls = []

    def mapped(x: Vector) -> Vector:
        calls.append(x)
        return matrix @ x + offset

    found = solve(mapped, np.zeros(size), np.ones(size), 1e-7)
    assert found.solved
    assert found.x == pytest.approx(np.linalg.solve(np.eye(size) - matrix, offset), rel=1e-6, abs=1e-6)
    assert len(calls) <= 2 * size + 3


def test_the_kink_of_a_contact_that_begins_is_crossed() -> None:
    for gap in np.linspace(-1.0, 1.0, 21):
        found = solve(lambda x, gap=gap: 40.0 * np.maximum(gap - x, 0.0), np.zeros(1), np.ones(1), 1e-10)
        assert found.solved
        assert found.x[0] == pytest.approx(max(40.0 * gap / 41.0, 0.0), abs=1e-9)


def test_what_has_no_fixed_point_is_not_called_solved() -> None:
    found = solve(lambda x: x + 1.0 + x**2, np.zeros(1), np.ones(1), 1e-9)
    assert not found.solved
    assert found.residual >= 1.0


def test_a_value_that_is_not_finite_is_not_called_solved() -> None:
    found = solve(lambda x: x * np.nan, np.ones(2), np.ones(2), 1e-9)
    assert not found.solved
    assert found.residual == np.inf


def step_force(look, x: tuple[float, float], v: tuple[float, float], H: float, debt: float = 0.0):
    start, end = (seen(look, np.array([a]), np.array([b])) for a, b in zip(x, v, strict=True))
    return Gradient(np.ones(1)).force(look, start, end, H, debt)


def test_the_work_of_the_force_is_the_change_of_the_stored_energy() -> None:
    """A progressive spring, f = -k x^3, over any step."""

    def look(place: Vector, velocity: Vector) -> tuple[Vector, float]:
        return -5.0 * place**3, 1.25 * float(place[0]) ** 4

    for v0, v1, H in ((1.0, 0.4, 0.3), (1.0, -0.6, 0.3), (-2.0, -1.0, 0.1)):
        x1 = 0.2 + H * (v0 + v1) / 2.0
        found = step_force(look, (0.2, x1), (v0, v1), H)
        assert found.force[0] * (x1 - 0.2) == pytest.approx(1.25 * (0.2**4 - x1**4), rel=1e-12)


@pytest.mark.parametrize("power", [1.0, 1.5, 2.5])
@pytest.mark.parametrize("share", [0.001, 0.02, 0.3, 0.5, 0.7, 0.97])
@pytest.mark.parametrize("leaves", [False, True])
def test_a_contact_that_begins_or_ends_within_the_step_stores_its_work(
    power: float, share: float, leaves: bool
) -> None:
    """f = k d^n, d the depth, reached for a share of the step."""

    def look(place: Vector, velocity: Vector) -> tuple[Vector, float]:
        depth = max(float(place[0]), 0.0)
        return np.array([-80.0 * depth**power]), 80.0 * depth ** (power + 1.0) / (power + 1.0)

    ends, speed = (share - 1.0, share), 1.0
    x = ends[::-1] if leaves else ends
    found = step_force(look, x, (-speed, -speed) if leaves else (speed, speed), 1.0)
    stored = look(np.array([x[1]]), np.zeros(1))[1] - look(np.array([x[0]]), np.zeros(1))[1]
    assert found.force[0] * (x[1] - x[0]) == pytest.approx(-stored, rel=1e-12)


def plane_force(look, x: tuple[list[float], list[float]], v: tuple[list[float], list[float]], H: float) -> Vector:
    start, end = (seen(look, np.array(a), np.array(b)) for a, b in zip(x, v, strict=True))
    return Gradient(np.ones(2)).force(look, start, end, H, 0.0).force


def test_what_is_no_gradient_of_its_energy_is_not_led_by_it() -> None:
    """f = -k n(x) x_1, whose direction n turns with x_0, and U = k x_1^2/2: what the turned force works is not stored.
    The force goes to the one of the middle as H^2, as that of a trapezoid."""

    def look(place: Vector, velocity: Vector) -> tuple[Vector, float]:
        angle = 0.8 * float(place[0])
        n = np.array([-np.sin(angle), np.cos(angle)])
        return -300.0 * n * float(place[1]), 150.0 * float(place[1]) ** 2

    errors = []
    for H in (0.04, 0.02, 0.01):
        v = [2.0, 0.3]
        x = [[0.7 - H * 1.0, 0.05 - H * 0.15], [0.7 + H * 1.0, 0.05 + H * 0.15]]
        middle, _ = look(np.array([0.7, 0.05]), np.zeros(2))
        errors.append(float(np.linalg.norm(plane_force(look, (x[0], x[1]), (v, v), H) - middle)))
    assert errors[0] < 0.02 * 15.0
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)


def test_a_body_that_slides_round_a_circle_is_held_by_all_of_its_normal_force() -> None:
    """At one depth neither end stores more than the other.  The way by the velocities is off the chord by the third
    order of the angle, so the force works a little on it: no factor of the force makes up for that."""

    def look(place: Vector, velocity: Vector) -> tuple[Vector, float]:
        r = float(np.linalg.norm(place))
        depth = max(r - 1.0, 0.0)
        return -5e3 * depth * place / r, 2.5e3 * depth**2

    for angle in (0.1, 0.03, 0.01):
        n = [np.array([np.cos(a), np.sin(a)]) for a in (-angle / 2.0, angle / 2.0)]
        t = [np.array([-one[1], one[0]]) for one in n]
        v = [(one + 0.02 * angle**2 * n[0]).tolist() for one in t]
        force = plane_force(look, ((1.02 * n[0]).tolist(), (1.02 * n[1]).tolist()), (v[0], v[1]), 1.02 * angle)
        assert force == pytest.approx([-100.0, 0.0], abs=100.0 * angle**2)


def test_at_one_place_the_force_is_the_elastic_one_there() -> None:
    found = step_force(lambda place, velocity: (-7.0 * place, 3.5 * float(place @ place)), (0.2, 0.2), (1.0, -1.0), 0.1)
    assert found.force[0] == pytest.approx(-1.4)


def test_a_constant_damping_ratio_scales_the_force() -> None:
    """F = -(1 + d) k x while approaching: the discrete gradient, 1 + d times."""

    def look(place: Vector, velocity: Vector) -> tuple[Vector, float]:
        d = 0.6 * np.sign(velocity)
        return -100.0 * place * (1.0 + d), 50.0 * float(place @ place)

    found = step_force(look, (0.1, 0.3), (3.0, 1.0), 0.1)
    assert found.force[0] == pytest.approx(-1.6 * 20.0, rel=1e-12)
    assert found.debt == pytest.approx(0.0, abs=1e-12)


def test_a_debt_is_made_up_for() -> None:
    """The elastic share then takes as much more energy as there was too much: half the change at most, and less where
    the stored energy changes by a small share only."""

    def look(place: Vector, velocity: Vector) -> tuple[Vector, float]:
        return -100.0 * place, 50.0 * float(place @ place)

    stored = 50.0 * (0.3**2 - 0.1**2)
    most = stored / 2.0 * stored / (50.0 * 0.3**2)
    for debt, left in ((0.5, 0.0), (-0.5, 0.0), (5.0, 5.0 - most)):
        found = step_force(look, (0.1, 0.3), (3.0, 1.0), 0.1, debt)
        assert found.force[0] * 0.2 == pytest.approx(-stored - debt + left)
        assert found.debt == pytest.approx(left, abs=1e-12)


def test_the_power_two_fifths_is_that_of_the_library_to_rounding() -> None:
    for x in (*np.geomspace(1e-60, 1e60, 181), 1.0, 32.0, 1.0 / 32.0):
        assert power_of_two_fifths(x) == pytest.approx(x**0.4, rel=5e-15)
    assert power_of_two_fifths(np.inf) == 2.0**80
    assert power_of_two_fifths(0.0) == 2.0**-80


def test_sine_and_cosine_are_those_of_the_library_to_rounding() -> None:
    for x in (0.0, 1e-300, 1e-9, *np.linspace(0.0, 4.0, 101)):
        assert sine_cosine(x) == pytest.approx((np.sin(x), np.cos(x)), abs=1e-14)
    assert np.isnan(sine_cosine(np.inf)).all() and np.isnan(sine_cosine(np.nan)).all()


def test_least_squares_leave_out_columns_that_depend_on_those_before() -> None:
    random = np.random.default_rng(5)
    a, b, goal = random.normal(size=(3, 4))
    c = least_squares([a, 3.0 * a, b, np.zeros(4), a - b], goal)
    expected = np.linalg.lstsq(np.array([a, b]).T, goal, rcond=None)[0]
    assert [c[0], c[2]] == pytest.approx(expected.tolist(), rel=1e-13)
    assert c[1] == c[3] == c[4] == 0.0


def test_a_quaternion_turns_as_a_rotation_vector_says() -> None:
    random = np.random.default_rng(3)
    for size in (0.0, 1e-12, 1e-3, 1.0, 3.0):
        q, angle = Rotation.random(random_state=1), random.normal(size=3)
        angle *= size / np.linalg.norm(angle)
        expected = (Rotation.from_rotvec(angle) * q).as_matrix()
        found = turned(q.as_quat(scalar_first=True), angle)
        assert Rotation.from_quat(found, scalar_first=True).as_matrix() == pytest.approx(expected, abs=1e-14)


def test_where_the_stored_energy_hardly_changes_the_force_is_the_elastic_one() -> None:
    """As of a mass at rest: the quotient would be one of rounding, and no debt is made up for there."""

    def look(place: Vector, velocity: Vector) -> tuple[Vector, float]:
        return -100.0 * place, 50.0 * float(place @ place)

    found = step_force(look, (0.1, 0.1 + 1e-9), (1e-8, 1e-8), 0.1, debt=0.01)
    assert found.force[0] == pytest.approx(-10.0, rel=1e-7)
    assert found.debt == pytest.approx(0.01)
