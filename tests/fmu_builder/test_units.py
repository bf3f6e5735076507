"""Units: what texts mean, what they are refused for, and what is written into an FMU."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import constants

from fmu_builder import units
from fmu_builder.errors import InputError
from fmu_builder.units import (
    BASES,
    Unit,
    dimension_text,
    display_units,
    fmi_base_unit,
    fmi_display,
    parse_quantity,
    parse_unit,
)

# written out here a second time on purpose: symbol, factor to SI, dimension
SYMBOLS = [
    ("m", 1.0, "m"), ("mm", 0.001, "m"), ("cm", 0.01, "m"), ("um", 1e-6, "m"), ("km", 1000.0, "m"),
    ("in", 0.0254, "m"), ("g", 0.001, "kg"), ("kg", 1.0, "kg"), ("t", 1000.0, "kg"),
    ("s", 1.0, "s"), ("ms", 0.001, "s"), ("us", 1e-6, "s"), ("min", 60.0, "s"), ("h", 3600.0, "s"),
    ("N", 1.0, "kg.m.s-2"), ("kN", 1000.0, "kg.m.s-2"), ("MN", 1e6, "kg.m.s-2"), ("mN", 0.001, "kg.m.s-2"),
    ("lbf", 4.4482216152605, "kg.m.s-2"),
    ("Pa", 1.0, "kg.m-1.s-2"), ("kPa", 1e3, "kg.m-1.s-2"), ("MPa", 1e6, "kg.m-1.s-2"), ("GPa", 1e9, "kg.m-1.s-2"),
    ("J", 1.0, "kg.m2.s-2"), ("kJ", 1000.0, "kg.m2.s-2"), ("mJ", 0.001, "kg.m2.s-2"),
    ("W", 1.0, "kg.m2.s-3"), ("kW", 1000.0, "kg.m2.s-3"), ("Hz", 1.0, "s-1"),
    ("rad", 1.0, "rad"), ("mrad", 0.001, "rad"), ("deg", math.pi / 180, "rad"), ("rev", 2 * math.pi, "rad"),
    ("rpm", math.pi / 30, "s-1.rad"), ("A", 1.0, "A"), ("K", 1.0, "K"), ("mol", 1.0, "mol"), ("cd", 1.0, "cd"),
    ("%", 0.01, "1"),
    ("nm", 1e-9, "m"), ("dm", 0.1, "m"), ("ft", 0.3048, "m"), ("yd", 0.9144, "m"), ("mi", 1609.344, "m"),
    ("L", 1e-3, "m3"), ("l", 1e-3, "m3"), ("mL", 1e-6, "m3"), ("ml", 1e-6, "m3"), ("mph", 0.44704, "m.s-1"),
    ("mg", 1e-6, "kg"), ("ug", 1e-9, "kg"), ("lb", 0.45359237, "kg"), ("lbm", 0.45359237, "kg"),
    ("slug", 4.4482216152605 / 0.3048, "kg"), ("ns", 1e-9, "s"), ("d", 86400.0, "s"),
    ("uN", 1e-6, "kg.m.s-2"), ("dyn", 1e-5, "kg.m.s-2"), ("kip", 4448.2216152605, "kg.m.s-2"),
    ("kgf", 9.80665, "kg.m.s-2"), ("kp", 9.80665, "kg.m.s-2"),
    ("hPa", 100.0, "kg.m-1.s-2"), ("bar", 1e5, "kg.m-1.s-2"), ("mbar", 100.0, "kg.m-1.s-2"),
    ("atm", 101325.0, "kg.m-1.s-2"), ("Torr", 101325 / 760, "kg.m-1.s-2"),
    ("psi", 4.4482216152605 / 0.0254**2, "kg.m-1.s-2"), ("ksi", 4448.2216152605 / 0.0254**2, "kg.m-1.s-2"),
    ("MJ", 1e6, "kg.m2.s-2"), ("Wh", 3600.0, "kg.m2.s-2"), ("kWh", 3.6e6, "kg.m2.s-2"), ("erg", 1e-7, "kg.m2.s-2"),
    ("eV", 1.602176634e-19, "kg.m2.s-2"), ("mW", 1e-3, "kg.m2.s-3"), ("MW", 1e6, "kg.m2.s-3"),
    ("hp", 550 * 0.3048 * 4.4482216152605, "kg.m2.s-3"), ("PS", 735.49875, "kg.m2.s-3"),
    ("kHz", 1e3, "s-1"), ("MHz", 1e6, "s-1"), ("urad", 1e-6, "rad"), ("°", math.pi / 180, "rad"),
    ("arcmin", math.pi / 10800, "rad"), ("arcsec", math.pi / 648000, "rad"), ("mA", 1e-3, "A"),
    ("V", 1.0, "kg.m2.s-3.A-1"), ("mV", 1e-3, "kg.m2.s-3.A-1"), ("kV", 1e3, "kg.m2.s-3.A-1"),
    ("ohm", 1.0, "kg.m2.s-3.A-2"), ("\u03a9", 1.0, "kg.m2.s-3.A-2"), ("H", 1.0, "kg.m2.s-2.A-2"),
    ("Wb", 1.0, "kg.m2.s-2.A-1"), ("T", 1.0, "kg.s-2.A-1"),
]  # fmt: skip
NAMES = [symbol for symbol, _, _ in SYMBOLS]


def unit_texts() -> st.SearchStrategy[str]:
    """Units of up to three symbols with small powers, in every spelling of the grammar."""
    power = st.sampled_from(["", "2", "-1", "-2", "^2", "^-1", "^3", "^+2"])
    factor = st.builds("{}{}".format, st.sampled_from(NAMES), power)
    operator = st.sampled_from([".", "*", " ", "/", " / ", " * "])
    return st.one_of(
        factor,
        st.builds("{}{}{}".format, factor, operator, factor),
        st.builds("{}{}({}{}{})".format, factor, operator, factor, operator, factor),
    )


@pytest.mark.parametrize(("symbol", "factor", "dimension"), SYMBOLS, ids=NAMES)
def test_every_symbol_has_its_factor_and_dimension(symbol: str, factor: float, dimension: str) -> None:
    unit = parse_unit(symbol)
    assert unit.name == symbol
    assert unit.factor == pytest.approx(factor, rel=2**-52)  # pi/180 and the like: one rounding here, one there
    assert unit.offset == 0.0
    assert dimension_text(unit) == dimension


def test_no_symbol_is_left_out_of_the_table_above() -> None:
    assert set(NAMES) | {"degC", "°C"} == set(units._SYMBOLS)
    assert not set(units._SYMBOLS) & set(units._REFUSED)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("um", constants.micron), ("nm", constants.nano), ("in", constants.inch), ("ft", constants.foot),
        ("yd", constants.yard), ("mi", constants.mile), ("in/1", 1000 * constants.mil),
        ("L", constants.liter), ("mph", constants.mph), ("km/h", constants.kmh),
        ("lb", constants.pound), ("lbm", constants.lb), ("slug", constants.slug), ("t", constants.metric_ton),
        ("d", constants.day), ("h", constants.hour), ("min", constants.minute),
        ("lbf", constants.pound_force), ("kgf", constants.kilogram_force), ("dyn", constants.dyne),
        ("bar", constants.bar), ("atm", constants.atm), ("Torr", constants.torr), ("psi", constants.psi),
        ("erg", constants.erg), ("eV", constants.eV), ("hp", constants.hp),
        ("deg", constants.degree), ("arcmin", constants.arcmin), ("arcsec", constants.arcsec),
    ],
)  # fmt: skip
def test_factors_are_those_of_scipy(text: str, value: float) -> None:
    """scipy rounds every product, a factor here is rounded once."""
    assert parse_unit(text).factor == pytest.approx(value, rel=4 * 2**-52)


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("lbf", Fraction(45359237, 10**8) * Fraction(980665, 10**5)),
        ("psi", Fraction(45359237, 10**8) * Fraction(980665, 10**5) / Fraction(254, 10**4) ** 2),
        ("slug", Fraction(45359237, 10**8) * Fraction(980665, 10**5) / Fraction(3048, 10**4)),
        ("hp", 550 * Fraction(3048, 10**4) * Fraction(45359237, 10**8) * Fraction(980665, 10**5)),
        ("PS", 75 * Fraction(980665, 10**5)),
        ("mph", Fraction(1609344, 1000) / 3600),
        ("Torr", Fraction(101325, 760)),
        ("lbf.s2/ft.slug-1", Fraction(1)),
        ("ft.lbf/s.hp-1", Fraction(1, 550)),
    ],
)
def test_factors_are_exact_definitions_rounded_once(text: str, exact: Fraction) -> None:
    assert parse_unit(text).factor == float(exact)


@pytest.mark.parametrize("micro", ["\u00b5", "\u03bc"], ids=["micro sign", "Greek mu"])
def test_both_signs_of_micro_are_read(micro: str) -> None:
    for symbol in ("m", "s", "g", "N", "rad"):
        assert parse_unit(micro + symbol).factor == parse_unit(f"u{symbol}").factor
    assert parse_quantity(f"5 {micro}m", parse_unit("m"), "x") == 5e-6


def test_both_signs_of_ohm_and_of_degrees_are_read() -> None:
    assert parse_unit("\u2126").exponents == parse_unit("\u03a9").exponents == parse_unit("V/A").exponents
    assert parse_unit("N.m/°").factor == parse_unit("N.m/deg").factor
    assert parse_quantity("20 °C", parse_unit("K"), "x") == 293.15


@pytest.mark.parametrize("symbol", sorted(units._REFUSED))
def test_a_symbol_of_several_meanings_is_refused_with_them(symbol: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_unit(f"{symbol}/s")
    said = str(caught.value)
    assert said.startswith(f"unit: '{symbol}/s': the symbol '{symbol}' ") and re.search("write|written|convert", said)


@pytest.mark.parametrize("text", ["", "-", "1", " ", " - "])
def test_dimensionless_texts_are_the_same_unit(text: str) -> None:
    assert parse_unit(text) == Unit("1", (0,) * 8)


@pytest.mark.parametrize(
    ("text", "factor", "dimension"),
    [
        ("N.m", 1.0, "kg.m2.s-2"),
        ("N*m", 1.0, "kg.m2.s-2"),
        ("N m", 1.0, "kg.m2.s-2"),
        ("N  *  m", 1.0, "kg.m2.s-2"),
        ("N.m/rad", 1.0, "kg.m2.s-2.rad-1"),
        ("m/s/s", 1.0, "m.s-2"),
        ("m/s^2", 1.0, "m.s-2"),
        ("m/s2", 1.0, "m.s-2"),
        ("m.s^-2", 1.0, "m.s-2"),
        ("m s-2", 1.0, "m.s-2"),
        ("m ^ 2", 1.0, "m2"),
        ("N/m.s", 1.0, "kg.s-1"),  # left to right
        ("N/(m.s)", 1.0, "kg.s-3"),
        ("(N / m)^2", 1.0, "kg2.s-4"),
        ("( N/m )-1", 1.0, "kg-1.s2"),
        ("1/s", 1.0, "s-1"),
        ("1/1", 1.0, "1"),
        ("m0", 1.0, "1"),
        ("N/mm", 1e3, "kg.s-2"),
        ("N/mm^2", 1e6, "kg.m-1.s-2"),
        ("mm3", 1e-9, "m3"),
        ("km/h", 1 / 3.6, "m.s-1"),
        ("kg.mm2", 1e-6, "kg.m2"),
        ("lbf/in", float(Fraction("4.4482216152605") / Fraction("0.0254")), "kg.s-2"),
        ("N.s/mm", 1e3, "kg.s-1"),
        ("deg/s", math.pi / 180, "s-1.rad"),
    ],
)
def test_products_quotients_and_powers(text: str, factor: float, dimension: str) -> None:
    unit = parse_unit(text)
    assert unit.factor == factor
    assert dimension_text(unit) == dimension


def test_celsius_has_an_offset_and_is_not_si() -> None:
    assert parse_unit("degC") == Unit("degC", parse_unit("K").exponents, 1.0, 273.15)
    assert not parse_unit("degC").is_si
    assert not parse_unit("mm").is_si
    assert parse_unit("N.m/rad").is_si


def test_radian_counts_as_dimensionless_but_is_kept() -> None:
    assert parse_unit("N.m").same_dimension(parse_unit("N.m/rad"))
    assert parse_unit("N.m").exponents != parse_unit("N.m/rad").exponents
    assert parse_unit("rad").same_dimension(parse_unit("%"))
    assert not parse_unit("N").same_dimension(parse_unit("N/m"))


@given(unit_texts(), unit_texts())
def test_exponents_add_in_products_and_subtract_in_quotients(left: str, right: str) -> None:
    a, b = parse_unit(left), parse_unit(right)
    product, quotient = parse_unit(f"({left}).({right})"), parse_unit(f"({left})/({right})")
    assert product.exponents == tuple(x + y for x, y in zip(a.exponents, b.exponents, strict=True))
    assert quotient.exponents == tuple(x - y for x, y in zip(a.exponents, b.exponents, strict=True))
    assert product.factor == pytest.approx(a.factor * b.factor, rel=4 * 2**-53)
    assert quotient.factor == pytest.approx(a.factor / b.factor, rel=4 * 2**-53)


@given(st.tuples(*[st.integers(-9, 9)] * len(BASES)))
def test_printed_dimension_reads_back(exponents: tuple[int, ...]) -> None:
    unit = parse_unit(dimension_text(Unit("any", exponents)))
    assert unit.exponents == exponents
    assert unit.is_si


@given(unit_texts())
def test_a_unit_divided_by_itself_is_one(text: str) -> None:
    unit = parse_unit(f"({text})/({text})")
    assert (unit.exponents, unit.factor) == ((0,) * 8, 1.0)


@given(st.text(alphabet="Nmskgradin%C 1-2^./*()[]", max_size=30))
def test_any_text_is_a_unit_or_an_input_error(text: str) -> None:
    try:
        unit = parse_unit(text)
    except InputError as error:
        assert [problem.where for problem in error.problems] == ["unit"]
        assert f"'{text.strip()}'" in str(error)
    else:
        assert 0.0 < unit.factor < math.inf


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("N/mmm", "unit: 'N/mmm': the symbol 'mmm' is unknown; did you mean 'mm'?"),
        ("RPM", "unit: 'RPM': the symbol 'RPM' is unknown"),
        ("kpa", "unit: 'kpa': the symbol 'kpa' is unknown; did you mean 'kPa'?"),
        ("Nm/rad", "the symbol 'Nm' is unknown; '.', '*', '/' or a blank must stand between 'N' and 'm'"),
        ("m/§", "unit: 'm/§': '§' is not allowed in a unit"),
        ("N//m", "unit: 'N//m': a unit symbol is missing before '/'"),
        ("/s", "unit: '/s': a unit symbol is missing before '/'"),
        ("N/", "unit: 'N/': a unit symbol is missing at the end"),
        ("()", "unit: '()': a unit symbol is missing before ')'"),
        ("(N/m", "unit: '(N/m': ')' is missing"),
        ("N/m)", "unit: 'N/m)': ')' closes nothing"),
        ("m2s", "unit: 'm2s': '.', '*', '/' or a blank must stand before 's'"),
        ("10/s", "unit: '10/s': the only number that may stand alone in a unit is 1, not '10'"),
        ("m 2", "unit: 'm 2': the only number that may stand alone in a unit is 1, not '2'"),
        ("W/°C", "unit: 'W/°C': °C has an offset and can only stand alone; write K"),
        ("W/degC", "unit: 'W/degC': degC has an offset and can only stand alone; write K"),
        ("degC2", "unit: 'degC2': degC has an offset and can only stand alone; write K"),
        ("^2", "unit: '^2': the only number that may stand alone in a unit is 1, not '^2'"),
        ("N/m^(3/2)", "unit: 'N/m^(3/2)': the power of a unit is a whole number, as in m2 or m^2"),
        ("N/m^1.5", "unit: 'N/m^1.5': the power of a unit is a whole number, as in m2 or m^2"),
        ("m^13", "unit: 'm^13': the power '^13' is too large; the largest is 12"),
        ("m-13", "unit: 'm-13': the power '-13' is too large; the largest is 12"),
        ("((GPa^12)^12)^12", "the power '^12' is too large"),
        ("GPa^12.GPa^12.GPa^12", "its factor to SI is outside the range of a double"),
        ("um^12.(um^12)^12", "its factor to SI is outside the range of a double"),
        ("(" * 300, "has 300 characters; at most 200 are read"),
    ],
)
def test_faulty_unit_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_unit(text)
    assert message in str(caught.value)
    assert caught.value.problems[0].where == "unit"


@pytest.mark.parametrize(
    ("value", "unit", "si_value"),
    [
        (0.4, "1", 0.4),
        (3, "N/m", 3.0),
        (5.0, "mm", 5.0),  # a plain number is SI whatever the unit of the variable
        ("5", "mm", 5.0),
        ("1e6 N/m", "N/m", 1e6),
        ("1e6 [N/m]", "N/m", 1e6),
        ("1e6[N/m]", "N/m", 1e6),
        ("1 in", "m", 0.0254),
        ("1 lbf", "N", 4.4482216152605),
        ("35 mm", "m", 0.035),
        ("9.81 mm", "m", 0.00981),
        ("-.5e-3 kN", "N", -0.5),
        ("+2. N", "N", 2.0),
        ("180 deg", "rad", math.pi),
        ("1 rev", "rad", 2 * math.pi),
        ("30 rpm", "rad/s", math.pi),
        ("36 km/h", "m/s", 10.0),
        ("200 N/mm^2", "Pa", 2e8),
        ("50 %", "1", 0.5),
        ("2 1/s", "Hz", 2.0),
        ("2 1/s", "rad/s", 2.0),
        ("120 1/min", "1/s", 2.0),
        ("120 1/min", "Hz", 2.0),
        ("60 rad/min", "rad/s", 1.0),
        ("2 -", "1", 2.0),
        ("2 []", "1", 2.0),
        ("20 degC", "K", 293.15),
        ("-273.15 degC", "K", 0.0),
        ("3 N.m", "N.m/rad", 3.0),
        ("1 rev/s", "rad/s", 2 * math.pi),
        ("1e-999999999 mm", "m", 0.0),
        ("0e999999999 mm", "m", 0.0),
    ],
)
def test_quantity_becomes_its_si_value_exactly(value: float | str, unit: str, si_value: float) -> None:
    result = parse_quantity(value, parse_unit(unit), "x")
    assert type(result) is float
    assert result == si_value


@given(st.floats(-1e200, 1e200, allow_subnormal=False), st.sampled_from(NAMES))
def test_conversion_is_one_rounding_of_number_times_factor(number: float, symbol: str) -> None:
    unit = parse_unit(symbol)
    expected = float(Fraction(number) * Fraction(unit.factor))
    # two roundings of relative size 2^-53 (factor and shortest decimal), doubled; denormal results lose digits
    assert parse_quantity(f"{number!r} {symbol}", unit, "x") == pytest.approx(expected, rel=2**-51, abs=1e-320)


@pytest.mark.parametrize(
    ("value", "unit", "message"),
    [
        ("1e6 N/mm^2", "N/m", "C_F = '1e6 N/mm^2' has the dimension kg.m-1.s-2 but N/m (kg.s-2) is needed"),
        ("1 s", "m", "C_F = '1 s' has the dimension s but m is needed"),
        ("1 m", "1", "C_F = '1 m' has the dimension m but 1 is needed"),
        ("1 -", "m", "C_F = '1 -' has the dimension 1 but m is needed"),
        (
            "1 N/mmm",
            "N/m",
            "C_F = '1 N/mmm' has a faulty unit: 'N/mmm': the symbol 'mmm' is unknown; did you mean 'mm'?",
        ),
        (
            "50 Hz",
            "rad/s",
            "C_F = '50 Hz' mixes Hz (cycles) with an angle but rad/s is needed; write rad/s, rev/s or rpm",
        ),
        *(
            (
                f"50 {unit}",
                "rad/s",
                f"C_F = '50 {unit}' mixes {unit} (cycles) with an angle but rad/s is needed; {repair}",
            )
            for unit, repair in (
                ("1/min", "write rpm or rad/min"),
                ("min-1", "write rpm or rad/min"),
                ("1/h", "write rad/s, rev/s or rpm"),
            )
        ),
        ("50 rpm", "Hz", "C_F = '50 rpm' mixes Hz (cycles) with an angle but Hz is needed; write Hz"),
        (True, "1", "C_F = True must be a number or a text such as '1'"),
        (False, "N", "C_F = False must be a number or a text such as '1 N'"),
        ([1.0], "N", "C_F = [1.0] must be a number or a text such as '1 N'"),
        (None, "N", "C_F = None must be a number or a text such as '1 N'"),
        ("", "N", "C_F = '' must start with a number, as in '1 N'"),
        ("N", "N", "C_F = 'N' must start with a number, as in '1 N'"),
        ("0,5 N", "N", "C_F = '0,5 N' has a comma; write a decimal point, and nothing between thousands"),
        ("1,000", "N", "C_F = '1,000' has a comma; write a decimal point, and nothing between thousands"),
        ("1_0 N", "N", "C_F = '1_0 N' has a faulty unit: '_0 N': '_' is not allowed in a unit"),
        ("1 [N", "N", "C_F = '1 [N' has a faulty unit: '[N': '[' is not allowed in a unit"),
        (math.nan, "N", "C_F = nan must be finite"),
        (-math.inf, "N", "C_F = -inf must be finite"),
        ("nan N", "N", "C_F = 'nan N' must be finite"),
        ("-Infinity", "N", "C_F = '-Infinity' must be finite"),
        ("1e999 N", "N", "C_F = '1e999 N' must be finite"),
        ("1e308 kN", "N", "C_F = '1e308 kN' must be finite"),
        (10**400, "N", "must be finite"),
    ],
)
def test_faulty_quantity_is_refused_with_key_value_and_rule(value: object, unit: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_quantity(value, parse_unit(unit), "C_F")  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_faulty_quantity_names_its_file_apart() -> None:
    with pytest.raises(InputError) as caught:
        parse_quantity("1 s", parse_unit("m"), "fmus/Pad.toml: [start] depth")
    assert str(caught.value) == "fmus/Pad.toml: [start] depth = '1 s' has the dimension s but m is needed"
    assert caught.value.problems[0].where == "fmus/Pad.toml"


@pytest.mark.parametrize(
    ("unit", "display"),
    [
        ("m", ["mm", "cm"]),
        ("m/s", ["mm/s", "km/h"]),
        ("rad", ["deg", "rev"]),
        ("rad/s", ["rpm", "deg/s"]),
        ("N", ["kN", "mN", "lbf"]),
        ("N/m", ["N/mm", "kN/mm"]),
        ("kg/s2", ["N/mm", "kN/mm"]),  # same dimension, other spelling
        ("s", ["ms", "min"]),
        ("J", ["kJ", "mJ"]),
        ("N.m", ["N.mm", "kN.m"]),
        ("N * m", ["N.mm", "kN.m"]),
        ("N m/rad", ["N.m/deg"]),
        ("K", ["degC"]),
        ("mm", []),
        ("Hz", []),
        ("1/s", []),
        ("mol", []),
    ],
)
def test_display_units_follow_name_then_dimension(unit: str, display: list[str]) -> None:
    units = display_units(parse_unit(unit))
    assert [shown.name for shown in units] == display
    assert all(shown.exponents[:7] == parse_unit(unit).exponents[:7] for shown in units)


@pytest.mark.parametrize(
    ("unit", "display", "relation"),
    [
        ("m", "mm", (1000.0, 0.0)),
        ("m2", "mm2", (1e6, 0.0)),
        ("N/m", "N/mm", (0.001, 0.0)),
        ("m/s", "km/h", (3.6, 0.0)),
        ("rad", "deg", (180 / math.pi, 0.0)),
        ("rad/s", "rpm", (30 / math.pi, 0.0)),
        ("N.m/rad", "N.m/deg", (math.pi / 180, 0.0)),
        ("1", "%", (100.0, 0.0)),
        ("K", "degC", (1.0, -273.15)),
        ("degC", "K", (1.0, 273.15)),
        ("mm", "m", (0.001, 0.0)),
    ],
)
def test_fmi_display_relation(unit: str, display: str, relation: tuple[float, float]) -> None:
    # 4 ulp: pi and 3.6 pass through rounded factors
    assert fmi_display(parse_unit(unit), parse_unit(display)) == pytest.approx(relation, rel=4 * 2**-52)


@pytest.mark.parametrize(("unit", "display", "factor"), [("m", "mm", 1000.0), ("m", "um", 1e6), ("m2", "mm2", 1e6)])
def test_decimal_display_factors_are_exact(unit: str, display: str, factor: float) -> None:
    assert fmi_display(parse_unit(unit), parse_unit(display)) == (factor, 0.0)


@given(st.floats(-1e6, 1e6), st.sampled_from(["m", "rad", "rad/s", "N", "N/m", "J", "N.m", "K", "Pa", "s", "1"]))
def test_display_value_converts_back_to_the_si_value(si_value: float, name: str) -> None:
    unit = parse_unit(name)
    for display in display_units(unit):
        factor, offset = fmi_display(unit, display)
        shown = factor * si_value + offset
        # the offset of degC costs 273.15 * 2^-53 absolutely
        assert display.factor * shown + display.offset == pytest.approx(si_value, rel=1e-14, abs=1e-12)


def test_display_unit_of_another_dimension_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        fmi_display(parse_unit("N/m"), parse_unit("mm"))
    assert str(caught.value) == "display unit: mm (m) and N/m (kg.s-2) differ in dimension"


@pytest.mark.parametrize(
    ("unit", "attributes"),
    [
        ("1", {}),
        ("N/m", {"kg": "1", "s": "-2"}),
        ("N.m/rad", {"kg": "1", "m": "2", "s": "-2", "rad": "-1"}),
        ("mm", {"m": "1", "factor": "0.001"}),
        ("degC", {"K": "1", "offset": "273.15"}),
        ("%", {"factor": "0.01"}),
    ],
)
def test_fmi_base_unit_holds_only_what_differs_from_the_default(unit: str, attributes: dict[str, str]) -> None:
    assert fmi_base_unit(parse_unit(unit)) == attributes
