"""Elementary functions against mpmath with 60 digits: values, derivatives, special values, symmetry, monotonicity, and
the same bits from other compilers and processors."""

from __future__ import annotations

import ctypes
import functools
import math
import random
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from fmu_builder.export.host import HostLibrary
from fmu_builder.export.toolchain import PLATFORMS, Compiler, compile_fmu, compile_hosted, find_compiler
from fmu_builder.paths import load_module, shipped

Point = tuple[float, ...]

DIGITS = 60
EVERYDAY = 4_000  # points per function
MANY = 15_000  # in the slow tests
STEP = 1e-180  # CC_DUAL_STEP

# The largest errors that the header states for any function, with little to spare: 1 and 2 are asked for.
VALUE_ULP = 0.65  # of the exact value
SLOPE_ULP = 1.55  # of the exact product of derivative and direction

INFINITY = math.inf
SMALLEST = 5e-324
SMALLEST_NORMAL = 2.0**-1022
LARGEST = 1.7976931348623157e308
NAN = math.nan


# --- the errors -------------------------------------------------------------------------------------------------------


def ulps(got: float, exact: mpf) -> float:
    """|got - exact| in units of the last place of the exact result, subnormal ones included.

    Infinity counts as 2^1024, the double that would come next: right for results that round to it only."""
    if math.isnan(got):
        return INFINITY
    beyond = mpmath.ldexp(1, 1024)
    if abs(exact) > beyond:
        exact = beyond if exact > 0 else -beyond
    value = mpmath.sign(got) * beyond if math.isinf(got) else mpf(got)
    exponent = -1074
    if exact != 0:
        exponent = min(max(int(mpmath.mag(exact)) - 53, -1074), 971)
    return float(mpmath.ldexp(abs(value - exact), -exponent))


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


# --- the points -------------------------------------------------------------------------------------------------------


def neighbour(source: random.Random, x: float) -> float:
    """x or one of the 16 doubles next to it."""
    for _ in range(source.randint(0, 8)):
        x = math.nextafter(x, source.choice((-INFINITY, INFINITY)))
    return x


def any_double(source: random.Random, low: int = -1074, high: int = 1023) -> float:
    """Either sign, exponent uniform between low and high, both included."""
    return source.choice((-1.0, 1.0)) * math.ldexp(1.0 + source.random(), source.randint(low, high))


@functools.cache
def near_multiples_of_half_pi(e: int) -> list[float]:
    """All doubles m 2^e that are nearer to a multiple of pi/2 than any with a smaller m: the denominators of the
    convergents of 2^e 2/pi (Kahan's search)."""
    with mp.workprec(1400):
        ratio = Fraction(int(mpmath.ldexp(2 / mp.pi, 1300 + e)), 2**1300)
    found, before, now = [], 1, 0  # denominators
    while before < 2**53:
        whole = ratio.numerator // ratio.denominator
        before, now = now, whole * now + before
        if now >= 2**53 or ratio == whole:
            break
        if now:
            found.append(math.ldexp(now, e))
        ratio = 1 / (ratio - whole)
    return found


# Below 2^20 the doubles have the first of these, or multiples; at 2^20 the way of reducing them changes.
HARD_EXPONENTS = (*range(-53, -29), *range(-29, 971, 9))


def angles(source: random.Random) -> Iterator[Point]:
    while True:
        yield (neighbour(source, source.randint(1, 2**20) * (math.pi / 2)),)
        yield (neighbour(source, source.choice((-1, 1)) * source.randint(1, 50) * (math.pi / 4)),)
        yield (source.uniform(-10.0, 10.0),)
        yield (any_double(source, -30, 19),)
        yield (any_double(source, 20),)
        yield (any_double(source, -1074, -25),)
        yield (neighbour(source, source.choice((0.785, 2.0**20, 2.0**-27, 2.0**-13, 0.0))),)
        hard = near_multiples_of_half_pi(source.choice(HARD_EXPONENTS))
        for x in source.sample(hard, min(8, len(hard))):
            yield (source.choice((-1, 1)) * x,)


def cosines(source: random.Random) -> Iterator[Point]:
    """Arguments of asin and acos."""
    while True:
        yield (source.uniform(-1.0, 1.0),)
        yield (any_double(source, -40, -1),)
        yield (neighbour(source, source.choice((-0.5, 0.5, 2.0**-27))),)
        yield (source.choice((-1, 1)) * (1.0 - abs(any_double(source, -53, -3))),)
        yield (any_double(source, -1074, -26),)
        yield (source.choice((-1.0, 1.0, 0.0)),)


def slopes(source: random.Random) -> Iterator[Point]:
    """Arguments of atan."""
    while True:
        yield (source.uniform(-2.0, 2.0),)
        yield (any_double(source, -30, 60),)
        breakpoint_ = (source.randint(0, 16) + 0.5) / 16
        yield (neighbour(source, source.choice((breakpoint_, 1.0 / breakpoint_, 1.0, 2.0**60))),)
        yield (any_double(source),)


def directions_in_the_plane(source: random.Random) -> Iterator[Point]:
    while True:
        size = any_double(source, -1022, 1022)
        yield source.uniform(-1.0, 1.0) * size, source.uniform(-1.0, 1.0) * size
        ratio = any_double(source, -70, 70)
        if abs(size * ratio) < LARGEST:
            yield size * ratio, size
        yield any_double(source), any_double(source)
        ratio = (source.randint(0, 16) + 0.5) / 16
        x = any_double(source, -3, 3)
        yield neighbour(source, x * ratio), x
        yield x, neighbour(source, x * ratio)
        yield neighbour(source, x * 2.0**-28), x
        yield x, neighbour(source, x * 2.0**-28)
        yield source.choice((neighbour(source, 0.0), x)), neighbour(source, 0.0)
        yield neighbour(source, any_double(source, -101, -98)), neighbour(source, 2.0**-100)
        yield any_double(source, 498, 502), neighbour(source, 2.0**500)


def exponents(source: random.Random) -> Iterator[Point]:
    while True:
        yield (source.uniform(-746.0, 710.0),)
        yield (source.uniform(-2.0, 2.0),)
        yield (neighbour(source, source.randint(-68_000, 65_000) * math.log(2) / 128),)
        yield (source.uniform(-745.2, -708.3),)
        yield (neighbour(source, source.choice((709.782712893384, -745.1332191019412, -708.3964185322641, 0.0))),)
        yield (any_double(source, -1074, -1),)


def positive(source: random.Random) -> Iterator[Point]:
    while True:
        yield (abs(any_double(source)),)
        yield (source.uniform(0.5, 2.0),)
        yield (1.0 + any_double(source, -53, -2),)
        yield (abs(any_double(source, -1074, -1020)),)
        cell = source.randint(-76, 54)
        start = 1 + (cell - 0.5) / (256 if cell < 1 else 128)
        yield (neighbour(source, math.ldexp(start, source.randint(-3, 3))),)
        yield (neighbour(source, 1.0 + math.ldexp(source.randint(-(2**13), 2**13) + 0.5, -20)),)


def powers(source: random.Random) -> Iterator[Point]:
    while True:
        for x in (
            abs(any_double(source)),
            source.uniform(0.1, 10.0),
            1.0 + any_double(source, -52, -2),
            abs(any_double(source, -1074, -1020)),
        ):
            if x == 1.0:
                continue
            for exponent in (
                source.uniform(-745.2, 709.8),
                source.uniform(-745.2, -708.3),
                source.choice((709.78, -745.13, -708.396, 0.0)) + source.uniform(-5e-3, 5e-3),
                any_double(source, -60, 9),
            ):
                yield x, exponent / math.log(x)
        yield abs(any_double(source)), float(source.randint(-4, 4))
        yield source.uniform(-30.0, 30.0), float(source.randint(-200, 200))
        yield float(source.randint(-60, 60)) or 1.0, float(source.randint(0, 12))
        yield source.randint(1, 2**26) ** 2 * 1.0, source.choice((0.5, 1.5, -0.5))
        yield -1.0 - abs(any_double(source, -52, -40)), math.floor(any_double(source, 40, 60))
        yield abs(any_double(source)), any_double(source)


def speeds(source: random.Random) -> Iterator[Point]:
    """Arguments of tanh."""
    while True:
        yield (source.uniform(-2.0, 2.0),)
        yield (source.uniform(-25.0, 25.0),)
        yield (any_double(source, -30, 5),)
        yield (neighbour(source, source.choice((0.25, -0.25, 22.0, 19.0615, 2.0**-28))),)
        yield (any_double(source),)


@dataclass(frozen=True)
class Function:
    """`slopes` are the exact derivatives by each argument, 0 where the header sets them to 0."""

    name: str
    exact: Callable[..., mpf]
    slopes: tuple[Callable[..., mpf], ...]
    points: Callable[[random.Random], Iterator[Point]]

    def sample(self, count: int) -> list[Point]:
        source, found = random.Random(self.name), []
        for point in self.points(source):
            found.append(tuple(x + 0.0 for x in point))  # never -0.0, which mpmath does not know
            if len(found) == count:
                break
        return found


def sin(x: mpf) -> mpf:
    return with_enough_digits(mpmath.sin, x)


def cos(x: mpf) -> mpf:
    return with_enough_digits(mpmath.cos, x)


def tan(x: mpf) -> mpf:
    return with_enough_digits(mpmath.tan, x)


def with_enough_digits(function: Callable[[mpf], mpf], x: mpf) -> mpf:
    """The integer digits of x cancel against multiples of pi, up to 62 bits more for the nearest doubles."""
    with mp.workprec(350 if abs(x) < 2**50 else 1400):
        return function(x)


def power(x: mpf, y: mpf) -> mpf:
    """x^y in a range that covers all doubles; beyond it mpmath would need numbers of any size."""
    if x == 0:
        return mpf(0) ** y if y >= 0 else mpf("inf")
    exponent = y * mpmath.log(abs(x))
    size = mpmath.exp(max(min(exponent, mpf(3000)), mpf(-3000)))
    return -size if x < 0 and int(y) & 1 else size


def slope_of_power(x: mpf, y: mpf) -> mpf:
    return power(x, y) * y / x


def tanh(x: mpf) -> mpf:
    return mpmath.tanh(x) if abs(x) < 100 else mpmath.sign(x)


def slope_of_tanh(x: mpf) -> mpf:
    return mpmath.sech(x) ** 2 if abs(x) < 1000 else mpf(0)


def slope_of_asin(x: mpf) -> mpf:
    return 1 / mpmath.sqrt((1 - x) * (1 + x)) if abs(x) < 1 else mpf(0)


def in_the_plane(coordinate: Callable[[mpf, mpf], mpf]) -> Callable[[mpf, mpf], mpf]:
    return lambda y, x: coordinate(y, x) / (x * x + y * y) if x or y else mpf(0)


FUNCTIONS = {
    f.name: f
    for f in (
        Function("sin", sin, (cos,), angles),
        Function("cos", cos, (lambda x: -sin(x),), angles),
        Function("tan", tan, (lambda x: 1 / cos(x) ** 2,), angles),
        Function("asin", mpmath.asin, (slope_of_asin,), cosines),
        Function("acos", mpmath.acos, (lambda x: -slope_of_asin(x),), cosines),
        Function("atan", mpmath.atan, (lambda x: 1 / (1 + x * x),), slopes),
        Function(
            "atan2",
            mpmath.atan2,
            (in_the_plane(lambda y, x: x), in_the_plane(lambda y, x: -y)),
            directions_in_the_plane,
        ),
        Function("exp", mpmath.exp, (mpmath.exp,), exponents),
        Function("log", mpmath.log, (lambda x: 1 / x,), positive),
        Function(
            "pow",
            power,
            (slope_of_power, lambda x, y: power(x, y) * mpmath.log(x) if x > 0 else mpf(0)),
            powers,
        ),
        Function("tanh", tanh, (slope_of_tanh,), speeds),
    )
}


# --- the C ------------------------------------------------------------------------------------------------------------

ONE = tuple(name for name, f in FUNCTIONS.items() if len(f.slopes) == 1)
TWO = tuple(name for name, f in FUNCTIONS.items() if len(f.slopes) == 2)

# loop_<name>(count, a, da, b, db, value, direction): arrays of doubles; the Real version leaves directions alone
LOOPS = '#include "base/elementary.h"\n' + "".join(
    f"""
void loop_{name}(long count, const double *a, const double *da, const double *b, const double *db, double *value,
                 double *direction)
{{
    for (long i = 0; i < count; i++) {{
        (void)da, (void)b, (void)db, (void)direction;
#ifdef CC_DUAL
        Real result = cc_{name}(cc_real(a[i], da[i]){", cc_real(b[i], db[i])" if name in TWO else ""});
        direction[i] = __imag__ result;
#else
        Real result = cc_{name}(a[i]{", b[i]" if name in TWO else ""});
#endif
        value[i] = re(result);
    }}
}}
"""
    for name in FUNCTIONS
)
LOOPS += """
void loop_sin_cos(long count, const double *a, const double *da, double *sine, double *cosine)
{
    for (long i = 0; i < count; i++) {
#ifdef CC_DUAL
        Real s, c;
        cc_sin_cos(cc_real(a[i], da[i]), &s, &c);
        sine[2 * i + 1] = __imag__ s, cosine[2 * i + 1] = __imag__ c;
#else
        double s, c;
        cc_sin_cos(a[i], &s, &c);
        (void)da;
#endif
        sine[2 * i] = re(s), cosine[2 * i] = re(c);
    }
}
"""


class Loops:
    """The functions over arrays, from a shared library of LOOPS."""

    def __init__(self, library: Path) -> None:
        self.library = ctypes.CDLL(str(library))

    def __call__(self, name: str, points: Sequence[Point], steps: Sequence[Point]) -> tuple[np.ndarray, np.ndarray]:
        """Values and directions, shape (n,).  points, steps: n tuples of one or two doubles."""
        inputs = [
            np.array(column)
            for pair in zip(zip(*points, strict=True), zip(*steps, strict=True), strict=True)
            for column in pair
        ]
        inputs += [inputs[0]] * (4 - len(inputs))
        value, direction = np.empty(len(points)), np.empty(len(points))
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*inputs, value, direction)]
        self.library[f"loop_{name}"](ctypes.c_long(len(points)), *pointers)
        return value, direction


def compile_loops(folder: Path, compiler: Compiler, *extra: str) -> Loops:
    source, library = folder / "loops.c", folder / "loops.so"
    source.write_text(LOOPS, encoding="utf-8")
    include = [shipped("contact_core")]
    compile_hosted([source], library, include, compiler, ["-fvisibility=default", *extra])
    return Loops(library)


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    found = find_compiler()
    assert found is not None
    return found


@pytest.fixture(scope="module")
def dual(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Loops:
    return compile_loops(tmp_path_factory.mktemp("dual"), compiler, "-DCC_DUAL")


def call(host: HostLibrary, name: str, *arguments: float) -> float:
    value: float = getattr(host.lib, f"cc_{name}")(*arguments)
    return value


# --- values and derivatives -------------------------------------------------------------------------------------------


def check_values(host: HostLibrary, function: Function, count: int) -> tuple[float, Point]:
    """The largest error, ulp, and where it is."""
    worst = (0.0, ())
    compute = getattr(host.lib, f"cc_{function.name}")
    with mp.workdps(DIGITS):
        for point in function.sample(count):
            error = ulps(compute(*point), function.exact(*map(mpf, point)))
            worst = max(worst, (error, point))
    return worst


def check_slopes(host: HostLibrary, dual: Loops, function: Function, count: int) -> tuple[float, int, Point]:
    """The largest error, ulp, the argument by which the derivative is taken, and where it is."""
    compute = getattr(host.lib, f"cc_{function.name}")
    points = [point for point in function.sample(count) if math.isfinite(compute(*point))]  # else infinite, see header
    source, worst = random.Random(7), (0.0, -1, ())
    values = [compute(*point) for point in points]
    for k, slope in enumerate(function.slopes):
        steps = [tuple(source.uniform(0.5, 2.0) * STEP if i == k else 0.0 for i in range(len(p))) for p in points]
        value, direction = dual(function.name, points, steps)
        assert value.tobytes() == np.array(values).tobytes(), "the dual version has other values"
        with mp.workdps(DIGITS):
            for point, step, got in zip(points, steps, direction.tolist(), strict=True):
                exact = slope(*map(mpf, point)) * mpf(step[k])
                if abs(exact) >= SMALLEST_NORMAL:
                    worst = max(worst, (ulps(got, exact), k, point))
                else:
                    assert abs(got) <= 2 * SMALLEST_NORMAL, point
    return worst


def test_sine_and_cosine_at_once_have_the_bits_of_either(dual: Loops) -> None:
    points = [*FUNCTIONS["sin"].sample(EVERYDAY), (0.0,), (-0.0,), (1e-9,), (NAN,), (INFINITY,), (-INFINITY,)]
    steps = [(STEP,)] * len(points)
    a, da = (np.array(column).ravel() for column in (points, steps))
    sine, cosine = np.empty((2, len(points), 2))
    dual.library.loop_sin_cos(
        ctypes.c_long(len(points)), *(ctypes.c_void_p(x.ctypes.data) for x in (a, da, sine, cosine))
    )
    for both, name in ((sine, "sin"), (cosine, "cos")):
        value, direction = dual(name, points, steps)
        assert both[:, 0].tobytes() == value.tobytes()
        assert np.array_equal(both[:, 1], direction)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_rounded_to_two_thirds_of_the_last_place(host: HostLibrary, name: str) -> None:
    error, point = check_values(host, FUNCTIONS[name], EVERYDAY)
    assert error <= VALUE_ULP, [x.hex() for x in point]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_exact_to_rounding(host: HostLibrary, dual: Loops, name: str) -> None:
    error, argument, point = check_slopes(host, dual, FUNCTIONS[name], EVERYDAY // 2)
    assert error <= SLOPE_ULP, (argument, [x.hex() for x in point])


# --- special values ---------------------------------------------------------------------------------------------------

QUARTER = math.pi / 4
SPECIAL: list[tuple[str, Point, float]] = [
    *((name, (zero,), zero) for name in ("sin", "tan", "asin", "atan", "tanh") for zero in (0.0, -0.0)),
    *((name, (tiny,), tiny) for name in ("sin", "tan", "asin", "atan", "tanh") for tiny in (SMALLEST, -SMALLEST)),
    *((name, (x,), NAN) for name in ("sin", "cos", "tan") for x in (INFINITY, -INFINITY)),
    *((name, (x,), NAN) for name in ("asin", "acos") for x in (1.0000000000000002, -INFINITY, INFINITY)),
    *((name, (NAN,), NAN) for name in ONE),
    *((name, (NAN, 2.0), NAN) for name in TWO),
    *((name, (2.0, NAN), NAN) for name in TWO),
    ("cos", (0.0,), 1.0), ("cos", (-0.0,), 1.0),
    ("asin", (1.0,), math.pi / 2), ("asin", (-1.0,), -math.pi / 2),
    ("acos", (1.0,), 0.0), ("acos", (-1.0,), math.pi), ("acos", (0.0,), math.pi / 2),
    ("atan", (INFINITY,), math.pi / 2), ("atan", (-INFINITY,), -math.pi / 2), ("atan", (1.0,), QUARTER),
    ("tanh", (INFINITY,), 1.0), ("tanh", (-INFINITY,), -1.0),
    ("exp", (0.0,), 1.0), ("exp", (-0.0,), 1.0), ("exp", (INFINITY,), INFINITY), ("exp", (-INFINITY,), 0.0),
    ("exp", (LARGEST,), INFINITY), ("exp", (-LARGEST,), 0.0),
    ("log", (0.0,), -INFINITY), ("log", (-0.0,), -INFINITY), ("log", (1.0,), 0.0), ("log", (INFINITY,), INFINITY),
    ("log", (-1.0,), NAN), ("log", (-SMALLEST,), NAN), ("log", (-INFINITY,), NAN),
    ("atan2", (0.0, 0.0), 0.0), ("atan2", (-0.0, 0.0), -0.0),
    ("atan2", (0.0, -0.0), math.pi), ("atan2", (-0.0, -0.0), -math.pi),
    ("atan2", (0.0, -1.0), math.pi), ("atan2", (-0.0, -1.0), -math.pi),
    ("atan2", (0.0, 1.0), 0.0), ("atan2", (-0.0, 1.0), -0.0),
    ("atan2", (1.0, 0.0), math.pi / 2), ("atan2", (1.0, -0.0), math.pi / 2), ("atan2", (-1.0, 0.0), -math.pi / 2),
    ("atan2", (1.0, INFINITY), 0.0), ("atan2", (-1.0, INFINITY), -0.0),
    ("atan2", (1.0, -INFINITY), math.pi), ("atan2", (-1.0, -INFINITY), -math.pi),
    ("atan2", (INFINITY, 1.0), math.pi / 2), ("atan2", (-INFINITY, -1.0), -math.pi / 2),
    ("atan2", (INFINITY, INFINITY), QUARTER), ("atan2", (-INFINITY, INFINITY), -QUARTER),
    ("atan2", (INFINITY, -INFINITY), 3 * QUARTER), ("atan2", (-INFINITY, -INFINITY), -3 * QUARTER),
    ("atan2", (SMALLEST, LARGEST), 0.0), ("atan2", (-SMALLEST, -LARGEST), -math.pi),
    ("pow", (0.0, 3.0), 0.0), ("pow", (-0.0, 3.0), -0.0), ("pow", (-0.0, 2.0), 0.0), ("pow", (-0.0, 0.5), 0.0),
    ("pow", (0.0, -3.0), INFINITY), ("pow", (-0.0, -3.0), -INFINITY), ("pow", (-0.0, -2.0), INFINITY),
    ("pow", (-0.0, -0.5), INFINITY), ("pow", (0.0, INFINITY), 0.0), ("pow", (-0.0, -INFINITY), INFINITY),
    ("pow", (-1.0, INFINITY), 1.0), ("pow", (-1.0, -INFINITY), 1.0),
    *(("pow", (1.0, y), 1.0) for y in (NAN, INFINITY, -INFINITY, 0.5, LARGEST)),
    *(("pow", (x, zero), 1.0) for x in (NAN, INFINITY, -INFINITY, 0.0, -0.0, -2.5) for zero in (0.0, -0.0)),
    ("pow", (-8.0, 1 / 3), NAN), ("pow", (-2.0, SMALLEST), NAN),
    ("pow", (0.5, -INFINITY), INFINITY), ("pow", (-0.5, -INFINITY), INFINITY), ("pow", (1.5, -INFINITY), 0.0),
    ("pow", (0.5, INFINITY), 0.0), ("pow", (-1.5, INFINITY), INFINITY), ("pow", (INFINITY, INFINITY), INFINITY),
    ("pow", (-INFINITY, -3.0), -0.0), ("pow", (-INFINITY, -2.0), 0.0), ("pow", (-INFINITY, -2.5), 0.0),
    ("pow", (-INFINITY, 3.0), -INFINITY), ("pow", (-INFINITY, 2.0), INFINITY), ("pow", (-INFINITY, 2.5), INFINITY),
    ("pow", (INFINITY, -0.5), 0.0), ("pow", (INFINITY, 0.5), INFINITY),
    ("pow", (-2.0, 1023.0), -(2.0**1023)), ("pow", (-2.0, 1025.0), -INFINITY),
    ("pow", (-2.0, -1073.0), -2.0 * SMALLEST),
    ("pow", (-2.0, -1077.0), -0.0), ("pow", (2.0, -1075.0), 0.0), ("pow", (-1.0, 2.0**53 - 1), -1.0),
    ("pow", (-1.0, 2.0**53), 1.0), ("pow", (LARGEST, LARGEST), INFINITY), ("pow", (SMALLEST, 1.0), SMALLEST),
]  # fmt: skip


@pytest.mark.parametrize(("name", "point", "value"), SPECIAL)
def test_special_values_are_those_of_annex_f(host: HostLibrary, name: str, point: Point, value: float) -> None:
    got = call(host, name, *point)
    if math.isnan(value):
        assert math.isnan(got)
        if not any(map(math.isnan, point)):
            assert bits(got) == bits(NAN), "NaN differs between machines"
    else:
        assert bits(got) == bits(value), got


def test_whole_powers_of_whole_numbers_are_exact(host: HostLibrary) -> None:
    for base in range(-40, 41):
        for exponent in range(60):
            if abs(base) ** exponent < 2**53:
                assert call(host, "pow", base, exponent) == base**exponent
    for exponent in range(-1074, 1024):
        assert call(host, "pow", 2.0, exponent) == math.ldexp(1.0, exponent)
        assert call(host, "pow", 4.0, exponent / 2) == math.ldexp(1.0, exponent)


def test_overflow_and_underflow_begin_at_the_right_double(host: HostLibrary) -> None:
    last_finite, last_positive = 709.782712893384, -745.1332191019411
    assert call(host, "exp", last_finite) < INFINITY == call(host, "exp", math.nextafter(last_finite, INFINITY))
    assert call(host, "exp", last_positive) == SMALLEST
    assert call(host, "exp", math.nextafter(last_positive, -INFINITY)) == 0.0
    assert call(host, "pow", 2.0, math.nextafter(1024.0, 0.0)) < INFINITY == call(host, "pow", 2.0, 1024.0)
    assert call(host, "pow", 2.0, math.nextafter(-1075.0, 0.0)) == SMALLEST


def test_angles_next_to_multiples_of_half_pi_keep_all_digits(host: HostLibrary) -> None:
    """6381956970095103 2^797 is of all doubles the one nearest to such a multiple, 4.7e-19 (Muller, 11.4)."""
    angles_ = [math.ldexp(6381956970095103, 797)]
    for e in (*range(-53, -29), *range(-29, 971, 30)):
        angles_ += near_multiples_of_half_pi(e)
    assert abs(call(host, "cos", angles_[0])) < 5e-19
    with mp.workdps(DIGITS):
        for x in angles_:
            for name in ("sin", "cos", "tan"):
                assert ulps(call(host, name, x), FUNCTIONS[name].exact(mpf(x))) <= VALUE_ULP, (name, x.hex())


# --- derivatives where there is none ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "point"),
    [
        ("asin", (1.0,)), ("asin", (-1.0,)), ("acos", (1.0,)), ("acos", (-1.0,)), ("log", (0.0,)),
        ("atan2", (0.0, 0.0)), ("atan2", (0.0, -0.0)), ("atan2", (INFINITY, 1.0)), ("atan2", (1.0, -INFINITY)),
        ("pow", (0.0, 0.5)), ("pow", (0.0, 0.0)), ("pow", (0.0, -1.0)), ("pow", (0.0, 2.0)), ("pow", (INFINITY, 2.0)),
        ("atan", (INFINITY,)),
        ("tanh", (INFINITY,)), ("exp", (-INFINITY,)),
        *((name, point) for name, point, value in SPECIAL if math.isnan(value)),
    ],
)  # fmt: skip
def test_a_derivative_that_does_not_exist_or_vanishes_is_zero(dual: Loops, name: str, point: Point) -> None:
    _, direction = dual(name, [point], [(STEP,) * len(point)])
    assert direction[0] == 0.0


def test_the_first_power_of_zero_has_a_derivative_and_negative_numbers_one_by_the_base_only(dual: Loops) -> None:
    _, direction = dual("pow", [(0.0, 1.0), (-3.0, 3.0), (-3.0, 3.0)], [(STEP, STEP), (STEP, 0.0), (0.0, STEP)])
    assert direction.tolist() == [STEP, 27.0 * STEP, 0.0]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_direction_gives_no_derivative_even_where_it_is_infinite(dual: Loops, name: str) -> None:
    points = [p for n, p, _ in SPECIAL if n == name] + [(LARGEST,) * len(FUNCTIONS[name].slopes)]
    _, direction = dual(name, points, [(0.0,) * len(points[0])] * len(points))
    assert not direction.any()


def test_subnormal_coordinates_have_exact_derivatives(dual: Loops) -> None:
    y, x, step = 0x64716DA * SMALLEST, 0x1848E42D28980A * 2.0**-388, 1.3 * 2.0**-300
    _, direction = dual("atan2", [(y, x), (y, y)], [(0.0, step), (0.0, STEP)])
    with mp.workdps(DIGITS):
        assert ulps(direction[0], -mpf(y) * step / (mpf(x) ** 2 + mpf(y) ** 2)) <= SLOPE_ULP
        assert ulps(direction[1], -mpf(STEP) / (2 * mpf(y))) <= SLOPE_ULP


def test_derivatives_by_both_arguments_add(dual: Loops) -> None:
    for name in TWO:
        points = [(0.7, 1.9), (3.0, 0.2), (1.3, 1.1)]
        first, second, both = (
            dual(name, points, [step] * 3)[1] for step in ((STEP, 0.0), (0.0, 2.0 * STEP), (STEP, 2.0 * STEP))
        )
        assert (first + second).tolist() == both.tolist()


# --- symmetry and monotonicity ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "asin", "atan", "tanh", "atan2"])
def test_odd_functions_are_odd_and_even_ones_even_to_the_last_bit(host: HostLibrary, name: str) -> None:
    for point in FUNCTIONS[name].sample(EVERYDAY):
        value, mirrored = call(host, name, *point), call(host, name, -point[0], *point[1:])
        assert bits(mirrored) == bits(value if name == "cos" else -value), point


BREAKPOINTS = {
    "exp": [(i + 0.5) * math.log(2) / 64 for i in range(-200, 200)] + [-745.133, -744.44, -708.3964, 709.78],
    "log": [1 + (i - 0.5) / (256 if i < 1 else 128) for i in range(-75, 54)]
    + [1 + (i + 0.5) * 2.0**-20 for i in range(-20, 20)]
    + [2.0**-1022, 2.0**-1030, 0.5, 2.0, 1e300],
    "atan": [(i + 0.5) / 16 for i in range(16)] + [16 / (i + 0.5) for i in range(16)] + [1.0, 2.0**-27, 2.0**60],
}


@pytest.mark.parametrize("name", BREAKPOINTS)
def test_rising_functions_rise_across_the_seams_of_their_tables(host: HostLibrary, name: str) -> None:
    for centre in BREAKPOINTS[name]:
        x = centre
        for _ in range(30):
            x = math.nextafter(x, -INFINITY)
        before = call(host, name, x)
        for _ in range(60):
            x = math.nextafter(x, INFINITY)
            value = call(host, name, x)
            assert value >= before, x.hex()
            before = value


@pytest.mark.parametrize("name", BREAKPOINTS)
def test_values_next_to_the_seams_of_the_tables_are_as_good_as_others(host: HostLibrary, name: str) -> None:
    with mp.workdps(DIGITS):
        for centre in BREAKPOINTS[name]:
            for x in (math.nextafter(centre, -INFINITY), centre, math.nextafter(centre, INFINITY)):
                assert ulps(call(host, name, x), FUNCTIONS[name].exact(mpf(x))) <= VALUE_ULP, x.hex()


def test_the_exponential_share_has_fourteen_digits_wherever_it_changes_its_form(host: HostLibrary) -> None:
    """16 times the rounding of 1 - exp(-z), at the least z where the difference is taken."""
    shares = [host.lib.cc_exponential_share(z) for z in (0.0, 1e-300, 1e300, INFINITY)]
    assert shares == [0.5, 0.5, 1.0, 1.0]
    with mp.workdps(DIGITS):
        for z in [*np.geomspace(1e-12, 1e3, 600).tolist(), 0.25, math.nextafter(0.25, 0.0)]:
            exact = -1 / mpmath.expm1(-mpf(z)) - 1 / mpf(z)
            assert abs(host.lib.cc_exponential_share(z) / exact - 1) <= 16 * 2.0**-53, z


def test_the_slope_of_the_exponential_share(host: HostLibrary) -> None:
    """Of a difference of two 1/z^2 at z = 1/4: 16 times as many as its 12 are lost."""
    slopes = [host.lib.cc_exponential_share_slope(z) for z in (0.0, 1e300, INFINITY)]
    assert slopes == [1 / 12, 0.0, 0.0]
    with mp.workdps(DIGITS):
        for z in [*np.geomspace(1e-12, 1e3, 300).tolist(), 0.25, math.nextafter(0.25, 0.0)]:
            exact = 1 / mpf(z) ** 2 - mpmath.exp(-mpf(z)) / mpmath.expm1(-mpf(z)) ** 2
            assert abs(host.lib.cc_exponential_share_slope(z) / exact - 1) <= 16 * 12 * 16 * 2.0**-53, z


# --- the header -------------------------------------------------------------------------------------------------------


def test_the_constants_are_those_that_the_script_gives() -> None:
    script = load_module(shipped("contact_core") / "base" / "elementary_coefficients.py")
    header = script.HEADER.read_text(encoding="utf-8")
    assert header.split(script.BEGIN)[1].split(script.END)[0] == script.constants()


def test_tables_stay_below_four_kilobytes() -> None:
    text = (shipped("contact_core") / "base" / "elementary_constants.h").read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    tables = re.findall(r"(\w+)\[\d+\] = \{(.*?)\};", text, flags=re.DOTALL)
    sizes = {name: 8 * body.count(",") for name, body in tables if name.startswith("cc_")}
    assert sizes["cc_log_table"] == 128 * 24 == max(sizes.values())
    assert sizes["cc_exp_table"] == 64 * 16


# --- all points -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_values_are_rounded_to_two_thirds_of_the_last_place(host: HostLibrary, name: str) -> None:
    error, point = check_values(host, FUNCTIONS[name], MANY)
    print(f"{name}: {error:.4f} ulp at {[x.hex() for x in point]}")
    assert error <= VALUE_ULP, [x.hex() for x in point]


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_at_many_points_are_exact_to_rounding(host: HostLibrary, dual: Loops, name: str) -> None:
    error, argument, point = check_slopes(host, dual, FUNCTIONS[name], MANY)
    print(f"{name}: {error:.4f} ulp by argument {argument} at {[x.hex() for x in point]}")
    assert error <= SLOPE_ULP, (argument, [x.hex() for x in point])


# --- other compilers and processors -----------------------------------------------------------------------------------

INSTALL = "run tests/platform/install (apt-get install wine64 qemu-user libc6-arm64-cross gcc)"

# Reads COUNT first and COUNT second arguments per function from points.bin, writes values and directions.
DRIVER = (
    LOOPS
    + """
#include <stdio.h>
static double a[COUNT], b[COUNT], step[COUNT], value[COUNT], direction[COUNT];
typedef void Loop(long, const double *, const double *, const double *, const double *, double *, double *);
int main(void)
{
    static Loop *const loops[] = {"""
    + ", ".join(f"loop_{name}" for name in FUNCTIONS)
    + """};
    FILE *points = fopen("points.bin", "rb");
    for (int i = 0; i < COUNT; i++)
        step[i] = CC_DUAL_STEP;
    for (unsigned k = 0; points && k < sizeof loops / sizeof *loops; k++) {
        if (fread(a, sizeof a, 1, points) != 1 || fread(b, sizeof b, 1, points) != 1)
            return 1;
        loops[k](COUNT, a, step, b, step, value, direction);
        fwrite(value, sizeof value, 1, stdout);
        fwrite(direction, sizeof direction, 1, stdout);
    }
    return points ? 0 : 1;
}
"""
)


def tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.fail(f"{name} not found: {INSTALL}", pytrace=False)
    return path


def run(command: list[str], folder: Path) -> bytes:
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=300)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr.decode(errors='replace')}"
    return done.stdout


@pytest.mark.platform
def test_other_compilers_and_processors_give_the_same_bits(tmp_path: Path) -> None:
    """zig and gcc, unoptimised and optimised, for x86-64; zig for ARM under qemu; values and directions."""
    with (tmp_path / "points.bin").open("wb") as file:
        for name, function in FUNCTIONS.items():
            points = function.sample(EVERYDAY) + [p for n, p, _ in SPECIAL if n == name and not any(map(math.isnan, p))]
            columns = list(zip(*(points + points)[: EVERYDAY + 100], strict=True)) * 2
            for column in columns[:2]:
                file.write(np.array(column).tobytes())
    (tmp_path / "driver.c").write_text(DRIVER, encoding="utf-8")
    zig = [sys.executable, "-m", "ziglang", "cc", "-target"]
    compilers = {
        "gcc": [tool("gcc"), "-O2"],
        "gcc, native": [tool("gcc"), "-O3", "-march=native"],
        "gcc, unoptimised": [tool("gcc"), "-O0"],
        "zig": [*zig, "x86_64-linux-gnu.2.17", "-O2"],
        "zig, ARM": [*zig, "aarch64-linux-gnu.2.17", "-O2"],
        "zig, ARM, O3": [*zig, "aarch64-linux-gnu.2.17", "-O3"],
    }
    arguments = ["-DCC_DUAL", f"-DCOUNT={EVERYDAY + 100}", "-std=c11", "-ffp-contract=off", "-fcx-limited-range"]
    arguments += ["-fno-math-errno", "-I", str(shipped("contact_core")), "driver.c", "-o", "driver"]
    libraries = Path("/usr/aarch64-linux-gnu")
    found = {}
    for name, command in compilers.items():
        run([*command, *arguments, "-lm"], tmp_path)
        emulator = [tool("qemu-aarch64"), "-L", str(libraries)] if "ARM" in name else []
        found[name] = run([*emulator, str(tmp_path / "driver")], tmp_path)
    size = 8 * (EVERYDAY + 100)
    for name, output in found.items():
        assert len(output) == 2 * size * len(FUNCTIONS)
        differing = [
            f"{function} {what}"
            for i, function in enumerate(FUNCTIONS)
            for j, what in enumerate(("value", "direction"))
            if output[(2 * i + j) * size :][:size] != found["gcc"][(2 * i + j) * size :][:size]
        ]
        assert differing == [], name


@pytest.mark.platform
def test_no_platform_needs_a_library_and_no_frame_reaches_a_page(compiler: Compiler, tmp_path: Path) -> None:
    """Both versions, linked with the flags of our binaries: an undefined symbol is an error there."""
    export = '#define CC_API __attribute__((visibility("default")))\n'
    (tmp_path / "fmu.c").write_text(export + '#include "base/elementary.h"\n', encoding="utf-8")
    for name in ("element_real.c", "model_tables.c"):
        (tmp_path / name).write_text("typedef int Nothing;\n", encoding="utf-8")
    base = shipped("contact_core") / "base"
    headers = [(base / name).read_text(encoding="utf-8") for name in ("elementary.h", "real.h")]
    names = {
        name for text in headers for name in re.findall(r"^\s*CC_(?:API|SMALL)\s+\w+\s+(\w+)\(", text, re.MULTILINE)
    }
    assert {"re", "cc_sqrt", *(f"cc_{name}" for name in FUNCTIONS)} <= names
    renamed = "".join(f"#define {name} cc_dual_{name.removeprefix('cc_')}\n" for name in sorted(names))
    dual = export + renamed + '#define CC_DUAL\n#include "base/elementary.h"\n'
    (tmp_path / "element_dual.c").write_text(dual, encoding="utf-8")
    extra = ["-I", str(shipped("contact_core")), "-Wframe-larger-than=4000"]
    libraries = compile_fmu(tmp_path, "elementary", tuple(PLATFORMS), compiler, extra)
    for platform, library in libraries.items():
        assert b"cc_dual_atan2" in library, platform
