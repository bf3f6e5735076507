"""The plane: depth, and the drawn part with its edges."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fmu_builder.export.host import HostLibrary

ENDLESS = (-math.inf, math.inf)
X, Y = (-0.3, 1.0), (0.25, 0.5)  # m

coordinates = st.floats(allow_nan=False, allow_infinity=False)
limits = st.tuples(coordinates, coordinates).map(lambda pair: (min(pair), max(pair)))


def plane(host: HostLibrary, x: tuple[float, float], y: tuple[float, float], P: tuple[float, float, float]):
    """Depth in m, and whether the closest point belongs to the drawn part."""
    on = host.ffi.new("int *", -1)
    return host.lib.cc_plane(x, y, P, on), on[0]


def between(low: float, high: float) -> list[float]:
    """Both ends, the middle, and the doubles next to each end: outside, inside."""
    return [
        math.nextafter(low, -math.inf), low, math.nextafter(low, math.inf), 0.5 * (low + high),
        math.nextafter(high, -math.inf), high, math.nextafter(high, math.inf),
    ]  # fmt: skip


@pytest.mark.parametrize("z", [0.0, 5e-324, 1e-12, 0.02, 1.0, 1e150, 1.7976931348623157e308])
def test_depth_is_the_distance_below_the_plane_and_negative_above_it(host: HostLibrary, z: float) -> None:
    assert plane(host, ENDLESS, ENDLESS, (0.3, -7.0, -z)) == (z, 1)
    assert plane(host, ENDLESS, ENDLESS, (0.3, -7.0, z)) == (-z, 1)


@given(P=st.tuples(coordinates, coordinates, coordinates), x=limits, y=limits)
def test_depth_does_not_depend_on_place_or_drawn_part(host: HostLibrary, P, x, y) -> None:
    assert plane(host, x, y, P)[0] == -P[2]


def test_edges_and_corners_belong_to_the_drawn_part(host: HostLibrary) -> None:
    for x, y in itertools.product(between(*X), between(*Y)):
        inside = X[0] <= x <= X[1] and Y[0] <= y <= Y[1]
        assert plane(host, X, Y, (x, y, -0.01))[1] == inside, (x, y)


def test_an_endless_plane_has_no_edge(host: HostLibrary) -> None:
    for x, y in itertools.product((-1.7976931348623157e308, -1.0, 0.0, 1.7976931348623157e308), repeat=2):
        assert plane(host, ENDLESS, ENDLESS, (x, y, 0.0))[1] == 1
