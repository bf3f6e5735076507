"""What the point of a constraint of planar_mechanism is held on: a polynomial, laws, or a spline through points."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmu_builder.headers import X, Y
from fmu_builder.model.chord_spline import chord_spline
from fmu_builder.model.structure_reader import Reader, Table

PROFILE, CURVE = 3, 4  # as in contact_core/mechanism/constraint.h
KEYS = ("profile", "profile_points", "curve_points", "curve_x", "curve_y")
MOST_COEFFICIENTS = 20
MOST_POINTS = 10_000  # of a spline: it becomes constants of the C code


@dataclass(frozen=True)
class Profile:
    """What a constraint's point is held on.   kind, coefficients of a polynomial, ends of its parameter   knots, x and
    y: of a spline, four coefficients for each interval; x alone of y = f(x)"""

    kind: int = PROFILE
    coefficients: tuple[float, ...] = (0.0,)
    closed: int = 0
    ends: tuple[float, float] | None = None
    law: bool = False
    knots: tuple[float, ...] = ()
    x: tuple[float, ...] = ()
    y: tuple[float, ...] = ()

    @property
    def is_polynomial(self) -> bool:
        return not self.law and not self.knots

    @property
    def has_ends(self) -> bool:
        """Whether the point may come to an end: a law of x is used wherever it has a value."""
        return self.ends is not None and not self.closed and not (self.law and self.kind == PROFILE)


def read_profile(hold: Table, read: Reader) -> Profile:
    """Of a [[constraint]] of the kind profile."""
    place = read.place(hold)
    given = [key for key in KEYS if key in hold]
    closed = int(read.flag(hold, "closed"))
    if not given or (len(given) > 1 and given != ["curve_x", "curve_y"]):
        what = "give one of profile, profile_points, curve_points, or curve_x with curve_y"
        read.problem(place, given[1] if given else "profile", f"{what}; given: {', '.join(given) or 'none'}")
        return Profile()
    if given[0][:5] != "curve" and "closed" in hold:
        read.problem(place, "closed", "belongs to a curve: remove it, or give curve_points, or curve_x and curve_y")
    if isinstance(hold.get("profile"), list):
        f = read.vector(hold, "profile", ("1",), ())
        if len(f) > MOST_COEFFICIENTS:
            what = f"has {len(f)} coefficients, at most {MOST_COEFFICIENTS} are allowed: take a lower degree"
            read.problem(place, "profile", what)
        if "range" in hold:
            read.problem(place, "range", "belongs to a law or a curve by laws: remove it")
        return Profile(coefficients=f)
    if given[0] in ("profile", "curve_x", "curve_y"):
        return _by_laws(hold, given, closed, read)
    if "range" in hold:
        read.problem(place, "range", "belongs to a law or a curve by laws: points give their ends")
    points = read.points(hold, given[0], 2, (X, Y))
    if not points:
        return Profile()
    return _graph(points, place, read) if given[0] == "profile_points" else _curve(points, closed, place, read)


def _by_laws(hold: Table, given: list[str], closed: int, read: Reader) -> Profile:
    place, curve = read.place(hold), given[0] != "profile"
    for key in ("curve_x", "curve_y") if curve else ("profile",):
        if not isinstance(hold.get(key), str):
            read.problem(place, key, "must be a law, as text" if key in hold else "this key is missing")
    if "range" not in hold:
        what = "is missing: the interval in which the law is used, as in range = [0, 6.28]"
        read.problem(place, "range", what)
    ends = read.interval(hold, "range", "1" if curve else "m", (0.0, 1.0))
    return Profile(CURVE if curve else PROFILE, closed=closed, ends=ends, law=True)


def _graph(points: list[tuple[float, ...]], place: str, read: Reader) -> Profile:
    """A spline y = f(x) with two continuous derivatives."""
    if not _enough(points, "profile_points", place, read):
        return Profile()
    for (a, _), (b, _) in itertools.pairwise(points):
        if not a < b:
            what = f"x = {b:g} m follows x = {a:g} m: y = f(x) needs points with increasing x"
            read.problem(
                place, "profile_points", f"{what}; for a profile that goes back, or straight up, give curve_points"
            )
            return Profile()
    from scipy.interpolate import CubicSpline  # starts in half a second: only who needs it waits

    x, y = zip(*points, strict=True)
    return Profile(ends=(x[0], x[-1]), knots=x, x=_coefficients(CubicSpline(x, y).c))


def _curve(points: list[tuple[float, ...]], closed: int, place: str, read: Reader) -> Profile:
    """A spline through points over the length of their chords, of a closed curve periodic."""
    if closed and points[0] != points[-1]:
        points = [*points, points[0]]
    if not _enough(points, "curve_points", place, read):
        return Profile()
    chords = [math.dist(a, b) for a, b in itertools.pairwise(points)]
    if 0.0 in chords:
        at = chords.index(0.0) + 1
        read.problem(place, "curve_points", f"points {at} and {at + 1} are the same: remove one")
        return Profile()
    s, c = chord_spline(np.array(points), bool(closed))
    knots = tuple(s.tolist())
    x, y = (_coefficients(c[:, :, i]) for i in (0, 1))
    return Profile(CURVE, closed=closed, ends=(knots[0], knots[-1]), knots=knots, x=x, y=y)


def _enough(points: list[tuple[float, ...]], key: str, place: str, read: Reader) -> bool:
    if 4 <= len(points) <= MOST_POINTS:
        return True
    read.problem(place, key, f"has {len(points)} points; 4 to {MOST_POINTS} are allowed")
    return False


def _coefficients(c: NDArray[np.float64]) -> tuple[float, ...]:
    """Of scipy, highest power first: for each interval c0, c1, c2, c3, and as many zeros at the end."""
    return (*(float(value) for value in c[::-1].T.ravel()), 0.0, 0.0, 0.0, 0.0)
