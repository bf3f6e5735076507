"""Vectors, lengths, rotations and the scalar helpers below them, against numpy, scipy and mpmath."""

from __future__ import annotations

import itertools
import math
import random
import struct

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from fmu_builder.export.host import HostLibrary

LARGEST = 1.7976931348623157e308
SMALLEST = 5e-324

finite = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(-1e3, 1e3).map(lambda value: value if abs(value) > 1e-100 else 0.0)  # products do not underflow
vectors = st.tuples(finite, finite, finite)
moderate_vectors = st.tuples(moderate, moderate, moderate)
quaternions = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: math.hypot(*q) > 0.5)

# Three squares, two sums and a root: 5 roundings, of which the first three count half: 2.5 ulp at the worst.
NORM_ULP = 2.5


def cross(host: HostLibrary, a, b) -> list[float]:
    out = host.ffi.new("double[3]")
    host.lib.cc_cross(a, b, out)
    return list(out)


def rotation(host: HostLibrary, q) -> np.ndarray:
    """Shape (3, 3): column j is body axis j in world components."""
    R = host.ffi.new("double[3][3]")
    host.lib.cc_rotation(q, R)
    return np.array([list(row) for row in R])


def turned(host: HostLibrary, function, q, vector) -> np.ndarray:
    R, out = host.ffi.new("double[3][3]"), host.ffi.new("double[3]")
    host.lib.cc_rotation(q, R)
    function(R, vector, out)
    return np.array(list(out))


def exact_norm(a) -> mpmath.mpf:
    with mpmath.workprec(2200):  # the squares of the largest and the smallest double in one sum, half of it
        return mpmath.sqrt(sum(mpmath.mpf(component) ** 2 for component in a))


def assert_norm(host: HostLibrary, a) -> None:
    exact = exact_norm(a)
    length = host.lib.cc_norm(a)
    if exact > LARGEST * (1.0 - 1e-15):
        assert length == math.inf or length >= LARGEST * (1.0 - 1e-15)
    else:
        assert math.isfinite(length), a
        with mpmath.workprec(2200):
            assert abs(mpmath.mpf(length) - exact) <= NORM_ULP * mpmath.mpf(math.ulp(length)), a


# --- scalars ----------------------------------------------------------------------------------------------------------


@given(a=finite, b=finite, c=finite)
def test_minimum_maximum_and_clamp_are_those_of_numpy(host: HostLibrary, a: float, b: float, c: float) -> None:
    low, high = min(b, c), max(b, c)
    assert host.lib.cc_min(a, b) == min(a, b)
    assert host.lib.cc_max(a, b) == max(a, b)
    assert host.lib.cc_abs(a) == abs(a)
    assert host.lib.cc_clamp(a, low, high) == np.clip(a, low, high)


@given(st.floats())
def test_finite_means_neither_infinite_nor_nan(host: HostLibrary, value: float) -> None:
    assert host.lib.cc_is_finite(value) == math.isfinite(value)


@given(st.floats(0.0, allow_infinity=False))
def test_square_root_is_correctly_rounded(host: HostLibrary, value: float) -> None:
    assert host.lib.cc_sqrt(value) == math.sqrt(value)


# --- products ---------------------------------------------------------------------------------------------------------


@given(a=moderate_vectors, b=moderate_vectors)
def test_products_are_those_of_numpy(host: HostLibrary, a, b) -> None:
    scale = math.hypot(*a) * math.hypot(*b)
    assert host.lib.cc_dot(a, b) == pytest.approx(np.dot(a, b), rel=0.0, abs=1e-15 * scale)
    np.testing.assert_allclose(cross(host, a, b), np.cross(a, b), rtol=0.0, atol=1e-15 * scale)


@given(a=moderate_vectors, b=moderate_vectors)
def test_cross_product_may_overwrite_its_factors(host: HostLibrary, a, b) -> None:
    expected = cross(host, a, b)
    for place in (0, 1):
        factors = [host.ffi.new("double[3]", a), host.ffi.new("double[3]", b)]
        host.lib.cc_cross(*factors, factors[place])
        assert list(factors[place]) == expected


# --- length -----------------------------------------------------------------------------------------------------------


def test_length_of_simple_vectors_is_exact(host: HostLibrary) -> None:
    for a, length in [
        ((0.0, 0.0, 0.0), 0.0), ((-0.0, 0.0, -0.0), 0.0), ((3.0, -4.0, 0.0), 5.0), ((2.0, 3.0, 6.0), 7.0),
        ((SMALLEST, 0.0, 0.0), SMALLEST), ((0.0, -LARGEST, 0.0), LARGEST), ((0.0, 0.0, 1e-200), 1e-200),
    ]:  # fmt: skip
        assert host.lib.cc_norm(a) == length, a


def test_length_is_exact_to_rounding_at_every_exponent(host: HostLibrary) -> None:
    for exponent in range(-1074, 1024):
        size = math.ldexp(1.0, exponent)
        assert_norm(host, (0.75 * size, -size, 0.6875 * size))


def test_length_is_exact_to_rounding_for_components_of_unrelated_sizes(host: HostLibrary) -> None:
    source = random.Random(3)
    for _ in range(1500):
        components = struct.unpack("<3d", source.randbytes(24))
        if all(map(math.isfinite, components)):
            assert_norm(host, components)


@pytest.mark.parametrize("border", [1e-150, 1e150])
def test_length_has_no_step_where_the_scaling_sets_in(host: HostLibrary, border: float) -> None:
    for largest in (math.nextafter(border, 0.0), border, math.nextafter(border, math.inf)):
        for ratio in (1.0, 0.7, 1e-8, 0.0):
            assert_norm(host, (ratio * largest, -largest, largest * ratio))


@settings(max_examples=300)
@example((LARGEST, LARGEST, LARGEST))
@example((SMALLEST, SMALLEST, -SMALLEST))
@example((1e-150, 1e-162, 0.0))
@given(vectors)
def test_length_of_any_vector_is_exact_to_rounding(host: HostLibrary, a) -> None:
    assert_norm(host, a)


@given(vectors)
def test_length_is_zero_only_for_the_zero_vector(host: HostLibrary, a) -> None:
    assert (host.lib.cc_norm(a) == 0.0) == (not any(a))


# --- rotation ---------------------------------------------------------------------------------------------------------


def test_quarter_turns_move_the_axes_counterclockwise(host: HostLibrary) -> None:
    x, y, z = np.eye(3)
    to_world = host.lib.cc_to_world
    for axis, before, after in ((x, y, z), (y, z, x), (z, x, y)):
        q = [1.0, *axis]  # 90 degrees about the axis, not normalised
        np.testing.assert_allclose(turned(host, to_world, q, list(before)), after, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("angle", np.linspace(-2.0 * math.pi, 2.0 * math.pi, 41))
def test_columns_are_the_body_axes_in_the_world(host: HostLibrary, angle: float) -> None:
    """About z: the first body axis is (cos, sin, 0)."""
    R = rotation(host, [math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)])
    c, s = math.cos(angle), math.sin(angle)
    np.testing.assert_allclose(R, [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]], rtol=0.0, atol=1e-15)


@settings(max_examples=300)
@given(q=quaternions, length=st.floats(1e-3, 1e3))
def test_rotation_is_that_of_scipy(host: HostLibrary, q, length: float) -> None:
    expected = Rotation.from_quat([*q[1:], q[0]]).as_matrix()
    np.testing.assert_allclose(rotation(host, [length * part for part in q]), expected, rtol=0.0, atol=2e-15)


@settings(max_examples=300)
@given(q=quaternions, length=st.floats(1e-140, 1e150))
def test_rotation_is_orthonormal_and_right_handed(host: HostLibrary, q, length: float) -> None:
    R = rotation(host, [length * part for part in q])
    np.testing.assert_allclose(R.T @ R, np.eye(3), rtol=0.0, atol=5e-15)
    assert np.linalg.det(R) == pytest.approx(1.0, rel=5e-15)


def test_rotation_does_not_depend_on_the_length_of_the_quaternion(host: HostLibrary) -> None:
    """(1, 1, 1, 1)/2 turns x to y, y to z, z to x."""
    expected = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    for exponent in (0, -10, 10, -100, 100, -145, 150, -155, 155, -200, 200, -300, 300):
        R = rotation(host, [0.5 * 10.0**exponent] * 4)
        np.testing.assert_allclose(R, expected, rtol=0.0, atol=1e-15, err_msg=f"length 1e{exponent}")


@given(q=quaternions)
def test_opposite_quaternions_are_the_same_rotation(host: HostLibrary, q) -> None:
    assert np.array_equal(rotation(host, q), rotation(host, [-part for part in q]))


@given(q=quaternions, vector=moderate_vectors)
def test_to_body_inverts_to_world(host: HostLibrary, q, vector) -> None:
    scale = math.hypot(*vector)
    world = turned(host, host.lib.cc_to_world, q, vector)
    back = turned(host, host.lib.cc_to_body, q, list(world))
    np.testing.assert_allclose(back, vector, rtol=0.0, atol=1e-14 * scale)
    assert math.hypot(*world) == pytest.approx(scale, rel=1e-14)


@given(q=quaternions, vector=moderate_vectors)
def test_to_world_is_the_product_with_the_rotation(host: HostLibrary, q, vector) -> None:
    expected = rotation(host, q) @ np.array(vector)
    found = turned(host, host.lib.cc_to_world, q, vector)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-15 * max(1.0, math.hypot(*vector)))


@given(q=quaternions, a=moderate_vectors, b=moderate_vectors)
def test_angles_between_vectors_are_kept(host: HostLibrary, q, a, b) -> None:
    scale = math.hypot(*a) * math.hypot(*b)
    assume(scale > 1e-300)
    world = [turned(host, host.lib.cc_to_world, q, vector) for vector in (a, b)]
    assert world[0] @ world[1] == pytest.approx(np.dot(a, b), rel=0.0, abs=1e-14 * scale)


def test_every_rotation_of_the_cube_maps_axes_to_axes_exactly(host: HostLibrary) -> None:
    """The 24 quaternions with components 0 and +-1 of these lengths: every entry of R is -1, 0 or 1."""
    found = set()
    for q in itertools.product((-1.0, 0.0, 1.0), repeat=4):
        if sum(map(abs, q)) in (1.0, 2.0, 4.0):
            R = rotation(host, q)
            assert set(R.ravel()) <= {-1.0, 0.0, 1.0}
            found.add(tuple(R.ravel() + 0.0))
    assert len(found) == 24
