"""Text without a C library, against Python's own formatting."""

from __future__ import annotations

import math
import random
import re
import struct
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fmu_builder.export.host import HostLibrary

SIZE = 1000  # characters of a CcText with the final NUL

# Scaling by powers of ten costs at most 9 products of 2 roundings each, 2e-15 of the value: 2e-6 of the ninth digit.
TIE = Fraction(4, 1_000_000)


def new_text(host: HostLibrary):
    return host.ffi.new("CcText *")


def text_of(host: HostLibrary, text) -> str:
    assert text.length < SIZE
    assert text.chars[text.length] == b"\0"
    return host.ffi.string(text.chars).decode("ascii")


def number(host: HostLibrary, value: float) -> str:
    text = new_text(host)
    host.lib.cc_text_number(text, value, 9)
    return text_of(host, text)


def formatted(host: HostLibrary, pattern: bytes, *arguments) -> str:
    """`arguments` are C values made by ffi: int, double, char[]."""
    text = new_text(host)
    host.lib.cc_append(text, host.ffi.new("char[]", pattern), *arguments)
    return text_of(host, text)


def nine_digits(value: float) -> str:
    """Python's %.9g, its exponent without plus sign and leading zeros: 1e9, 1e-5."""
    return re.sub(r"e([+-])0*", lambda sign: "e" + sign[1].strip("+"), f"{value:.9g}")


def assert_nine_digits(host: HostLibrary, value: float) -> None:
    """The text is that of %.9g; only where the tenth digit onwards is a tie may the ninth be the neighbour."""
    text = number(host, value)
    if text != nine_digits(value):
        exponent = Decimal(value).adjusted()
        assert abs(Decimal(text).adjusted() - exponent) <= 1, (value.hex(), text)  # a Fraction of any other takes ages
        unit = Fraction(10) ** (exponent - 8)
        distance = abs(Fraction(text) - Fraction(value)) / unit
        assert abs(distance - Fraction(1, 2)) < TIE, (value.hex(), text, nine_digits(value))


def test_numbers_of_all_exponents_have_nine_correct_digits(host: HostLibrary) -> None:
    source = random.Random(20)
    values = (struct.unpack("<d", source.randbytes(8))[0] for _ in range(20_000))
    for value in filter(math.isfinite, values):
        assert_nine_digits(host, value)


def test_numbers_of_few_decimals_are_printed_as_they_were_written(host: HostLibrary) -> None:
    """What recipes and messages hold: up to nine digits come back unchanged, whatever the exponent."""
    source = random.Random(21)
    for _ in range(20_000):
        digits = f"{source.uniform(-10, 10):.{source.randint(0, 8)}f}"
        value = float(f"{digits}e{source.randint(-300, 300)}")
        if value == 0.0:
            continue
        assert number(host, value) == nine_digits(value)


@settings(max_examples=300)
@example(5e-324)
@example(-2.225073858507201e-308)
@example(1.7976931348623157e308)
@example(9.9999999999e-5)
@example(999999999.4)
@example(999999999.5)
@example(9999999995.0)
@example(99999999.95)
@example(12345678.25)
@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda value: value != 0.0))
def test_any_number_has_nine_correct_digits(host: HostLibrary, value: float) -> None:
    assert_nine_digits(host, value)


def test_powers_of_ten_have_one_digit(host: HostLibrary) -> None:
    for exponent in range(-307, 309):
        value = float(f"1e{exponent}")
        assert number(host, value) == nine_digits(value)
        assert set(number(host, value).split("e")[0]) <= set("01.")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.0, "0"), (math.inf, "infinity"), (-math.inf, "-infinity"), (math.nan, "NaN"),
        (1.0, "1"), (-1.0, "-1"), (0.5, "0.5"), (1e-4, "0.0001"), (1e-5, "1e-5"), (123456789.0, "123456789"),
        (1e8, "100000000"), (1e9, "1e9"), (1234567890.0, "1.23456789e9"), (-9.81, "-9.81"), (0.1 + 0.2, "0.3"),
    ],
)  # fmt: skip
def test_special_and_everyday_numbers(host: HostLibrary, value: float, text: str) -> None:
    assert number(host, value) == text


@example(-(2**63))
@example(2**63 - 1)
@example(0)
@given(st.integers(-(2**63), 2**63 - 1))
def test_integers_are_exact(host: HostLibrary, value: int) -> None:
    text = new_text(host)
    host.lib.cc_text_integer(text, value)
    assert text_of(host, text) == str(value)


def test_a_format_mixes_text_integers_and_numbers(host: HostLibrary) -> None:
    ffi = host.ffi
    body = ffi.new("char[]", b"tip")
    values = (body, ffi.cast("int", -3), ffi.cast("double", 2.5e-3))
    assert formatted(host, b"%s: point %d is %g m deep", *values) == "tip: point -3 is 0.0025 m deep"
    assert formatted(host, b"%d%d", ffi.cast("int", 2**31 - 1), ffi.cast("int", -(2**31))) == "2147483647-2147483648"


@pytest.mark.parametrize("value", [2.1066397, 9.996, 999.6, 0.99949, 1e-4 / 3, 6e5 + 1 / 3, 123456.0, -7e-12 / 9])
@pytest.mark.parametrize("digits", [1, 3, 8])
def test_a_format_says_how_many_digits_a_number_has(host: HostLibrary, value: float, digits: int) -> None:
    written = formatted(host, f"%.{digits}g s".encode(), host.ffi.cast("double", value))
    assert written.endswith(" s")
    assert float(written[:-2]) == float(f"{value:.{digits}g}")
    assert len(written[:-2].split("e")[0].lstrip("-0.").replace(".", "").rstrip("0")) <= digits


def test_two_percent_signs_print_one(host: HostLibrary) -> None:
    assert formatted(host, b"100 %% of %d%%", host.ffi.cast("int", 7)) == "100 % of 7%"


def test_a_format_ends_at_its_end_even_behind_a_percent_sign(host: HostLibrary) -> None:
    assert formatted(host, b"50 %\0behind the end") == "50 %"


def test_text_grows_and_no_text_adds_nothing(host: HostLibrary) -> None:
    text = new_text(host)
    for part in (host.ffi.new("char[]", b"depth "), host.ffi.NULL, host.ffi.new("char[]", b"")):
        host.lib.cc_text_string(text, part)
    host.lib.cc_text_number(text, 0.25, 9)
    host.lib.cc_text_char(text, b"!")
    assert text_of(host, text) == "depth 0.25!"


@pytest.mark.parametrize("length", [0, 1, SIZE - 2, SIZE - 1, SIZE, SIZE + 1, 5 * SIZE])
def test_long_text_is_cut_inside_the_buffer(host: HostLibrary, length: int) -> None:
    ffi = host.ffi
    guard = b"\xa5" * 64
    memory = ffi.new("char[]", guard + bytes(ffi.sizeof("CcText")) + guard)
    text = ffi.cast("CcText *", memory + len(guard))
    message = "".join(chr(ord("a") + i % 26) for i in range(length))

    host.lib.cc_text_string(text, ffi.new("char[]", message.encode()))
    host.lib.cc_text_number(text, -1.5, 9)  # whatever comes behind a full line is cut too
    host.lib.cc_append(text, ffi.new("char[]", b"%s"), ffi.new("char[]", b"end"))

    assert text_of(host, text) == (message + "-1.5end")[: SIZE - 1]
    assert ffi.buffer(memory, len(guard))[:] == guard
    assert ffi.buffer(memory + len(guard) + ffi.sizeof("CcText"), len(guard))[:] == guard
