"""The constants of elementary_constants.h, from their definitions.

    python contact_core/base/elementary_coefficients.py

writes the block between the two marks of elementary_constants.h anew; tests/contact_core/test_elementary.py checks that
it is what this file gives.  Polynomials interpolate at Chebyshev nodes in 60 digits and are then rounded, coefficient
by coefficient, to double; each comes with its largest error, measured after that rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import mpmath
from mpmath import mp, mpf

HEADER = Path(__file__).with_name("elementary_constants.h")
BEGIN = "/* --- constants, written by elementary_coefficients.py --- */\n"
END = "/* --- end of the constants --- */\n"

EXP_STEPS = 64  # table entries of exp per factor of two
LOG_CELLS = 128  # table entries of log per factor of two
LOG_CELLS_BELOW_1 = 75  # whole cells below the one around 1: the table runs from 0.705 to 1.41
LOG_INVERSE_BITS = 9  # bits behind the point of the inverses in the table of log
LOG_HIGH_BITS = 42  # bits behind the point of all high parts of log, so that their sums are exact
ATAN_STEPS = 16  # table entries of atan on 0 .. 1
TWO_OVER_PI_BITS = 1184  # the largest double has exponent 971: it uses up to 192 + 31 bits from bit 969 on

Function = Callable[[mpf], mpf]


def hexadecimal(value: mpf | float) -> str:
    return float(value).hex().replace(".0000000000000p", "p").replace("0x0.0p+0", "0.0")


def truncated(value: mpf, bits: int) -> mpf:
    """`value` cut to so many significant bits."""
    exponent = int(mpmath.floor(mpmath.log(value, 2))) + 1
    return mpmath.ldexp(mpmath.floor(mpmath.ldexp(value, bits - exponent)), exponent - bits)


def rounded_at(value: mpf, bits: int) -> mpf:
    """`value` rounded to so many bits behind the point."""
    return mpmath.ldexp(mpmath.nint(mpmath.ldexp(value, bits)), -bits)


def interpolant(function: Function, low: mpf, high: mpf, count: int) -> list[float]:
    """Coefficients, constant first, of the polynomial that meets `function` at `count` Chebyshev nodes."""
    nodes = [
        (low + high) / 2 + (high - low) / 2 * mpmath.cos(mpmath.pi * (2 * i + 1) / (2 * count)) for i in range(count)
    ]
    powers = mpmath.matrix(count, count)
    for i, node in enumerate(nodes):
        for j in range(count):
            powers[i, j] = node**j
    solution = mpmath.lu_solve(powers, mpmath.matrix([function(node) for node in nodes]))
    return [float(c) for c in solution]


def largest_error(coefficients: Sequence[float], function: Function, low: mpf, high: mpf, weight: Function) -> float:
    """Of `weight` times the error of the polynomial, in powers of two."""
    points = [low + (high - low) * (mpf(i) + mpf("0.5")) / 500 for i in range(500)]

    def value(x: mpf) -> mpf:
        total = mpf(0)
        for c in reversed(coefficients):
            total = total * x + c
        return total

    errors = [abs(weight(p) * (value(p) - function(p))) for p in points]
    return float(mpmath.log(max(errors), 2))


def polynomial(
    name: str, what: str, function: Function, low: mpf, high: mpf, count: int, weight: Function, powers: Sequence[str]
) -> str:
    """C text of one polynomial.  `weight` makes the error of `function` one relative to the result."""
    coefficients = interpolant(function, low, high, count)
    error = largest_error(coefficients, function, low, high, weight)
    lines = [f"/* {what}; error 2^{error:.1f} of the result. */", f"static const double {name}[{count}] = {{"]
    lines += [f"    {hexadecimal(c)}, /* of {power} */" for c, power in zip(coefficients, powers, strict=True)]
    return "\n".join([*lines, "};\n"])


def without_first_terms(function: Function, terms: Sequence[mpf], power: int) -> Function:
    """x -> (function(x) - sum of terms[i] x^i) / x^power.  Near 0, where digits cancel, the value at 1e-20."""

    def tail(x: mpf) -> mpf:
        with mp.workdps(200):
            x = x if abs(x) > mpf("1e-20") else mpf("1e-20")
            return (function(x) - sum(c * x**i for i, c in enumerate(terms))) / x**power

    return tail


def in_square(function: Function) -> Function:
    """z -> function(sqrt z)."""
    return lambda z: function(mpmath.sqrt(z))


def polynomials() -> str:
    eighth = (mpmath.pi / 4 + mpf(2) ** -20) ** 2
    odd = [mpf(0), mpf(1)]
    exp_end = mpmath.log(2) / (2 * EXP_STEPS) * (1 + mpf(2) ** -20)
    log_end = mpf("0.0053")
    atan_end = mpf(1) / (2 * ATAN_STEPS) + mpf(2) ** -20
    return "\n".join(
        [
            polynomial(
                "cc_sin_tail",
                "(sin y - y + y^3/6) / y^5 in z = y^2, |y| <= pi/4",
                in_square(without_first_terms(mpmath.sin, [*odd, mpf(0), mpf(-1) / 6], 5)),
                mpf(0), eighth, 6, lambda z: z**2, [f"z^{i}" for i in range(6)],
            ),
            polynomial(
                "cc_cos_tail",
                "(cos y - 1 + y^2/2) / y^4 in z = y^2, |y| <= pi/4",
                in_square(without_first_terms(mpmath.cos, [mpf(1), mpf(0), mpf(-1) / 2], 4)),
                mpf(0), eighth, 6, lambda z: z**2 / mpmath.cos(mpmath.sqrt(z)), [f"z^{i}" for i in range(6)],
            ),
            polynomial(
                "cc_exp_tail",
                "(exp r - 1 - r) / r^2, |r| <= ln 2 / 128",
                without_first_terms(mpmath.exp, [mpf(1), mpf(1)], 2),
                -exp_end, exp_end, 5, lambda r: r**2, [f"r^{i}" for i in range(5)],
            ),
            polynomial(
                "cc_log_tail",
                "(log(1 + r) - r + r^2/2) / r^3, |r| < 0.0053",
                without_first_terms(lambda r: mpmath.log(1 + r), [mpf(0), mpf(1), mpf(-1) / 2], 3),
                -log_end, log_end, 7, lambda r: r**2, [f"r^{i}" for i in range(7)],
            ),
            polynomial(
                "cc_asin_tail",
                "(asin x - x) / x^3 in z = x^2, |x| <= 1/2",
                in_square(without_first_terms(mpmath.asin, odd, 3)),
                mpf(0), mpf("0.25"), 14, lambda z: z, [f"z^{i}" for i in range(14)],
            ),
            polynomial(
                "cc_atan_tail",
                "(atan t - t) / t^3 in z = t^2, |t| <= 1/32",
                in_square(without_first_terms(mpmath.atan, odd, 3)),
                mpf(0), atan_end**2, 5, lambda z: z, [f"z^{i}" for i in range(5)],
            ),
            polynomial(
                "cc_tanh_tail",
                "(tanh x - x) / x^3 in z = x^2, |x| <= 1/4",
                in_square(without_first_terms(mpmath.tanh, odd, 3)),
                mpf(0), mpf(1) / 16, 8, lambda z: z, [f"z^{i}" for i in range(8)],
            ),
        ]
    )  # fmt: skip


def constant(name: str, value: mpf, what: str) -> str:
    return f"#define {name} {hexadecimal(value)} /* {what} */"


def pair(name: str, value: mpf, what: str) -> list[str]:
    high = mpf(float(value))
    return [
        constant(f"{name}_HI", high, f"{what}, rounded"),
        constant(f"{name}_LO", value - high, "what is missing there"),
    ]


def reduction_constants() -> list[str]:
    half_pi = mpmath.pi / 2
    first = truncated(half_pi, 33)
    second = truncated(half_pi - first, 33)
    third = truncated(half_pi - first - second, 33)
    log_2 = mpmath.log(2)
    step = log_2 / EXP_STEPS
    step_high = truncated(step, 35)
    log_2_high = rounded_at(log_2, LOG_HIGH_BITS)
    sixth = -truncated(mpf(1) / 6, 26)
    return [
        constant("CC_TWO_OVER_PI", 2 / mpmath.pi, "2/pi"),
        *pair("CC_HALF_PI", half_pi, "pi/2"),
        constant("CC_HALF_PI_1", first, "pi/2, its first 33 bits: a product with 20 bits is exact"),
        constant("CC_HALF_PI_2", second, "pi/2, the next 33 bits"),
        constant("CC_HALF_PI_3", third, "pi/2, the next 33 bits"),
        constant("CC_HALF_PI_4", half_pi - first - second - third, "pi/2, the rest"),
        constant("CC_HALF_PI_34", half_pi - first - second, "pi/2, the rest after two parts"),
        *pair("CC_PI", mpmath.pi, "pi"),
        constant("CC_THREE_QUARTERS_PI", 3 * mpmath.pi / 4, "3/4 pi"),
        constant("CC_SIN_3", mpf(-1) / 6, "-1/6, rounded"),
        constant("CC_SIN_3_HI", sixth, "-1/6, its first 26 bits: a product with 27 bits is exact"),
        constant("CC_SIN_3_LO", mpf(-1) / 6 - sixth, "-1/6, the rest"),
        constant("CC_EXP_PER_STEP", 1 / step, "64 / ln 2"),
        constant("CC_EXP_STEP_HI", step_high, "ln 2 / 64, its first 35 bits: a product with 18 bits is exact"),
        constant("CC_EXP_STEP_LO", step - step_high, "ln 2 / 64, the rest"),
        constant("CC_LOG_2_HI", log_2_high, f"ln 2, {LOG_HIGH_BITS} bits behind the point"),
        constant("CC_LOG_2_LO", log_2 - log_2_high, "ln 2, the rest"),
        constant("CC_LOG_START", log_cell_start(0), "where the table of log starts"),
    ]


def exp_table() -> str:
    lines = [
        "/* 2^(i/64) as unevaluated sums. */",
        f"static const CcPair cc_exp_table[{EXP_STEPS}] = {{",
    ]
    for i in range(EXP_STEPS):
        value = mpf(2) ** (mpf(i) / EXP_STEPS)
        high = mpf(float(value))
        lines.append(f"    {{{hexadecimal(high)}, {hexadecimal(value - high)}}}, /* i = {i} */")
    return "\n".join([*lines, "};\n"])


def log_cell_start(i: int) -> mpf:
    """Where cell i of the table of log begins.  1 lies in the middle of a cell, counted in doubles."""
    cells_above_1 = mpf(i) - LOG_CELLS_BELOW_1 - mpf("0.5")
    return 1 + cells_above_1 / (2 * LOG_CELLS if cells_above_1 < 0 else LOG_CELLS)


def log_table() -> str:
    lines = [
        "/* 1/c for a short c near the middle of cell i, and log c as an unevaluated sum. */",
        f"static const struct {{ double inverse, hi, lo; }} cc_log_table[{LOG_CELLS}] = {{",
    ]
    largest = mpf(0)
    for i in range(LOG_CELLS):
        low, high = log_cell_start(i), log_cell_start(i + 1)
        inverse = rounded_at(2 / (low + high), LOG_INVERSE_BITS) if i != LOG_CELLS_BELOW_1 else mpf(1)
        largest = max(largest, abs(low * inverse - 1), abs(high * inverse - 1))
        value = -mpmath.log(inverse)
        value_high = rounded_at(value, LOG_HIGH_BITS)
        numbers = ", ".join(map(hexadecimal, (inverse, value_high, value - value_high)))
        lines.append(f"    {{{numbers}}}, /* from {float(low):.6f} */")
    assert largest < mpf("0.0053"), "the polynomial of log reaches less far than the cells"
    return "\n".join([*lines, "};\n"])


def atan_table() -> str:
    lines = ["/* atan(i/16) as unevaluated sums. */", f"static const CcPair cc_atan_table[{ATAN_STEPS + 1}] = {{"]
    for i in range(ATAN_STEPS + 1):
        value = mpmath.atan(mpf(i) / ATAN_STEPS)
        high = mpf(float(value))
        lines.append(f"    {{{hexadecimal(high)}, {hexadecimal(value - high)}}}, /* i = {i} */")
    return "\n".join([*lines, "};\n"])


def two_over_pi_table() -> str:
    """64 zero bits and then the bits of 2/pi behind the point, in words of 32."""
    with mp.workprec(TWO_OVER_PI_BITS + 200):
        bits = int(mpmath.floor(mpmath.ldexp(2 / mpmath.pi, TWO_OVER_PI_BITS)))
    words = [0, 0] + [bits >> (TWO_OVER_PI_BITS - 32 * (i + 1)) & 0xFFFFFFFF for i in range(TWO_OVER_PI_BITS // 32)]
    rows = [", ".join(f"0x{word:08X}" for word in words[i : i + 8]) for i in range(0, len(words), 8)]
    return (
        "/* The bits of 2/pi behind 64 zeros. */\n"
        f"static const unsigned cc_two_over_pi[{len(words)}] = {{\n    " + ",\n    ".join(rows) + "};\n"
    )


def constants() -> str:
    """The text between the marks of elementary_constants.h."""
    with mp.workdps(60):
        parts = ["\n".join(reduction_constants()) + "\n", polynomials()]
        parts += [exp_table(), log_table(), atan_table(), two_over_pi_table()]
    return "\n".join(parts)


def main() -> None:
    before, rest = HEADER.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    new = HEADER.with_name(f"{HEADER.name}.new")
    new.write_text(before + BEGIN + constants() + END + after, encoding="utf-8")
    new.replace(HEADER)


if __name__ == "__main__":
    main()
