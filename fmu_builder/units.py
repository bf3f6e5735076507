"""Units at the edges: texts such as `N/mm` or `1e6 [N/m]` become SI numbers, and units become FMI 2.0 declarations.

    unit    = "" | "-" | product
    product = power (("." | "*" | blank | "/") power)*        left to right: N/m.s is (N/m).s
    power   = (symbol | "1" | "(" product ")") [["^"] integer]

Factors are exact fractions until the last rounding, so `35 mm` is the same double as 0.035.

Why not pint: version 0.25 takes 0.4 s of processor time to import and to read its registry, where `fmu-builder --help`
takes 0.3 s in all; lbm, kp, Torr, PS and rev are unknown to it or mean something else, rpm is wrong in the last bit,
the radian has no dimension, which FMI 2.0 requires, and Hz and rad/s are equal."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from fmu_builder.errors import InputError, Problem, behind_number, did_you_mean, shortened

BASES = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")

_LONGEST_TEXT = 200  # characters; bounds the depth of parentheses
_LARGEST_POWER = 12
_LARGEST_FACTOR_BITS = 4096  # far above the range of a double; stops nested powers from filling the memory
_PI = Fraction(math.pi)

# International yard and pound (1959) and standard gravity (CGPM 1901): exact by definition, as are all factors below
# (NIST SP 811, appendix B).  Torr: 101325/760 Pa.  hp: 550 ft.lbf/s, mechanical; PS: 75 kgf.m/s, metric.
_FOOT, _INCH, _POUND, _GRAVITY = (Fraction(text) for text in ("0.3048", "0.0254", "0.45359237", "9.80665"))
_POUND_FORCE = _POUND * _GRAVITY
_PSI = _POUND_FORCE / _INCH**2

# (powers of the bases, symbols of that dimension with their factors to SI)
_SYMBOL_GROUPS: tuple[tuple[dict[str, int], dict[str, str | Fraction]], ...] = (
    (
        {"m": 1},
        {
            **{"m": "1", "mm": "1e-3", "cm": "1e-2", "um": "1e-6", "nm": "1e-9", "dm": "0.1", "km": "1e3"},
            **{"in": _INCH, "ft": _FOOT, "yd": 3 * _FOOT, "mi": 5280 * _FOOT},
        },
    ),
    ({"m": 3}, {"L": "1e-3", "l": "1e-3", "mL": "1e-6", "ml": "1e-6"}),
    ({"m": 1, "s": -1}, {"mph": 5280 * _FOOT / 3600}),
    (
        {"kg": 1},
        {
            **{"g": "1e-3", "kg": "1", "t": "1e3", "mg": "1e-6", "ug": "1e-9"},
            **{"lb": _POUND, "lbm": _POUND, "slug": _POUND_FORCE / _FOOT},
        },
    ),
    ({"s": 1}, {"s": "1", "ms": "1e-3", "us": "1e-6", "ns": "1e-9", "min": "60", "h": "3600", "d": "86400"}),
    (
        {"kg": 1, "m": 1, "s": -2},
        {
            **{"N": "1", "kN": "1e3", "MN": "1e6", "mN": "1e-3", "uN": "1e-6", "dyn": "1e-5"},
            **{"lbf": _POUND_FORCE, "kip": 1000 * _POUND_FORCE, "kgf": _GRAVITY, "kp": _GRAVITY},
        },
    ),
    (
        {"kg": 1, "m": -1, "s": -2},
        {
            **{"Pa": "1", "hPa": "100", "kPa": "1e3", "MPa": "1e6", "GPa": "1e9", "bar": "1e5", "mbar": "100"},
            **{"atm": "101325", "Torr": Fraction(101325, 760), "psi": _PSI, "ksi": 1000 * _PSI},
        },
    ),
    (
        {"kg": 1, "m": 2, "s": -2},
        {
            **{"J": "1", "kJ": "1e3", "mJ": "1e-3", "MJ": "1e6", "Wh": "3600", "kWh": "3.6e6"},
            **{"erg": "1e-7", "eV": "1.602176634e-19"},
        },
    ),
    (
        {"kg": 1, "m": 2, "s": -3},
        {
            **{"W": "1", "kW": "1e3", "mW": "1e-3", "MW": "1e6"},
            **{"hp": 550 * _FOOT * _POUND_FORCE, "PS": 75 * _GRAVITY},
        },
    ),
    ({"s": -1}, {"Hz": "1", "kHz": "1e3", "MHz": "1e6"}),
    (
        {"rad": 1},
        {
            **{"rad": "1", "mrad": "1e-3", "urad": "1e-6", "deg": _PI / 180, "°": _PI / 180, "rev": 2 * _PI},
            **{"arcmin": _PI / 10800, "arcsec": _PI / 648000},
        },
    ),
    ({"rad": 1, "s": -1}, {"rpm": 2 * _PI / 60}),
    ({"A": 1}, {"A": "1", "mA": "1e-3"}),
    ({"kg": 1, "m": 2, "s": -3, "A": -1}, {"V": "1", "mV": "1e-3", "kV": "1e3"}),
    ({"kg": 1, "m": 2, "s": -3, "A": -2}, {"ohm": "1", "\u03a9": "1"}),
    ({"kg": 1, "m": 2, "s": -2, "A": -2}, {"H": "1"}),
    ({"kg": 1, "m": 2, "s": -2, "A": -1}, {"Wb": "1"}),
    ({"kg": 1, "s": -2, "A": -1}, {"T": "1"}),
    ({"K": 1}, {"K": "1", "degC": "1", "°C": "1"}),
    ({"mol": 1}, {"mol": "1"}),
    ({"cd": 1}, {"cd": "1"}),
    ({}, {"%": "0.01"}),
)
_SYMBOLS = {
    symbol: (Fraction(factor), dimension) for dimension, symbols in _SYMBOL_GROUPS for symbol, factor in symbols.items()
}
_SAME = str.maketrans({"\u00b5": "u", "\u03bc": "u", "\u2126": "\u03a9"})  # micro sign, Greek mu; ohm sign, Greek omega
_CYCLES = ("Hz", "kHz", "MHz")
_LONG_TIMES = ("min", "h", "d")  # turns are counted in them
_CELSIUS = ("degC", "°C")

# Symbols that mean several things, or a scale with an offset of its own, with what to write instead.
_REFUSED = {
    "C": "means coulomb or degree Celsius; write A.s or degC",
    "F": "means farad or degree Fahrenheit; write A.s/V or convert to degC",
    "degF": "is no unit of this table; convert to degC or K",
    "°F": "is no unit of this table; convert to degC or K",
    "cal": "is 4.184 J or 4.1868 J; write J",
    "kcal": "is 4.184 kJ or 4.1868 kJ; write kJ",
    "BTU": "has several definitions, 1054 J to 1060 J; write J",
    "Btu": "has several definitions, 1054 J to 1060 J; write J",
    "ton": "is 907 kg, 1000 kg or 1016 kg; write t for 1000 kg, or lb",
    "tonf": "is 2000 lbf, 2240 lbf or 1000 kgf; write kip, lbf or kgf",
    "oz": "is 28.3 g, 31.1 g (troy) or a volume; write g or lb",
    "gal": "is 3.785 L or 4.546 L; write L",
    "mil": "is 1/1000 in or an angle; write in, mm or mrad",
    "kn": "means knots or is a misspelt kN; write km/h or kN",
    "kt": "means knots or kilotonnes; write km/h or t",
    "rps": "means rad/s or rev/s; write one of these",
    "kph": "is written km/h",
    "sec": "is written s",
    "hr": "is written h",
}
_CELSIUS_OFFSET = Fraction("273.15")

# Usual display units, by SI unit.  Where two units share a dimension (J, N.m), the first one
# serves other spellings such as kg.m2/s2.
_DISPLAY_UNITS: dict[str, tuple[str, ...]] = {
    "1": ("%",),
    "m": ("mm", "cm"),
    "m2": ("mm2", "cm2"),
    "m3": ("mm3", "cm3"),
    "m/s": ("mm/s", "km/h"),
    "m/s2": ("mm/s2",),
    "s/m": ("s/mm",),
    "rad": ("deg", "rev"),
    "rad/s": ("rpm", "deg/s"),
    "rad/s2": ("deg/s2",),
    "s": ("ms", "min"),
    "kg": ("g", "t"),
    "kg.m2": ("kg.mm2",),
    "N": ("kN", "mN", "lbf"),
    "N/m": ("N/mm", "kN/mm"),
    "N.s/m": ("N.s/mm",),
    "J": ("kJ", "mJ"),
    "N.m": ("N.mm", "kN.m"),
    "N.m/rad": ("N.m/deg",),
    "N.m.s/rad": ("N.m.s/deg",),
    "W": ("kW",),
    "Pa": ("kPa", "MPa", "GPa"),
    "K": ("degC",),
}


@dataclass(frozen=True)
class Unit:
    """A unit: SI value = factor * value + offset.

    name       as written, "1" when dimensionless
    exponents  shape (8,), powers of BASES
    """

    name: str
    exponents: tuple[int, ...]
    factor: float = 1.0
    offset: float = 0.0

    @property
    def is_si(self) -> bool:
        return self.factor == 1.0 and self.offset == 0.0

    def same_dimension(self, other: Unit) -> bool:
        """Equal powers of the bases; the radian counts as dimensionless, so N.m and N.m/rad agree."""
        return _without_rad(self.exponents) == _without_rad(other.exponents)


@dataclass(frozen=True)
class _Scale:
    """What a unit text means, before rounding."""

    exponents: tuple[int, ...] = (0,) * len(BASES)
    factor: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)

    def times(self, other: _Scale, sign: int) -> _Scale:
        exponents = tuple(a + sign * b for a, b in zip(self.exponents, other.exponents, strict=True))
        return _Scale(exponents, self.factor * other.factor**sign)

    def power(self, power: int) -> _Scale:
        return _Scale(tuple(power * exponent for exponent in self.exponents), self.factor**power)


class _FaultyUnitError(ValueError):
    """Private to this module: why a unit text is refused; becomes an InputError that names the place."""


@functools.cache  # a model of many points asks for the same few units again and again
def parse_unit(text: str) -> Unit:
    """The unit a text names; "1", "-" and "" are dimensionless.   Raises InputError naming the text and the symbol."""
    try:
        scale = _parse(text)
    except _FaultyUnitError as fault:
        raise InputError(Problem("unit", str(fault))) from None
    return _unit(text, scale)


def parse_quantity(value: float | int | str, unit: Unit, where: str, *, is_difference: bool = False) -> float:
    """The SI value of a number (SI already) or of a text "number unit", "number [unit]" or "number" (SI).

    unit           whose dimension the text must have; its factor has no effect
    where          file and key for the message, e.g. "fmus/Pad.toml: [start] C_F"
    is_difference  whether it is one of two values, to which the offset of a unit, as of degC, does not belong
    Raises InputError for another dimension, an unknown unit, a value that is not a finite number, a boolean.
    """
    if isinstance(value, bool) or not isinstance(value, float | int | str):
        raise _quantity_error(where, value, f"must be a number or a text such as '1{behind_number(unit.name)}'")
    if not isinstance(value, str):
        return _finite(value, where, value)
    match = _QUANTITY.fullmatch(value.strip())
    if match is None:
        raise _quantity_error(where, value, f"must start with a number, as in '1{behind_number(unit.name)}'")
    number = _finite(match["number"], where, value)
    unit_text = match["bracketed"] if match["bracketed"] is not None else match["bare"]
    if not unit_text and match["bracketed"] is None:
        return number
    try:
        scale = _parse(unit_text)
    except _FaultyUnitError as fault:
        comma = "has a comma; write a decimal point, and nothing between thousands"
        raise _quantity_error(where, value, comma if unit_text[:1] == "," else f"has a faulty unit: {fault}") from None
    given = _unit(unit_text, scale)
    if not given.same_dimension(unit):
        needed = dimension_text(unit)
        needed = unit.name if unit.name == needed else f"{unit.name} ({needed})"
        raise _quantity_error(where, value, f"has the dimension {dimension_text(given)} but {needed} is needed")
    if mixes_cycles_and_angle(given, unit):
        # equal dimensions, but taking 50 Hz for 50 rad/s, or 50 1/min for 50 rad/min, would be wrong by 2 pi
        rates = "rpm or rad/min" if "min" in given.name else "rad/s, rev/s or rpm"
        cycles, repair = (given, rates) if has_angle(unit) else (unit, unit.name)
        what = f"mixes {cycles.name} (cycles) with an angle but {unit.name} is needed; write {repair}"
        raise _quantity_error(where, value, what)
    # the shortest decimal of the double is what was written, without the huge fraction of a text such as 1e-999999999
    offset = 0 if is_difference else scale.offset
    return _finite(Fraction(repr(number)) * scale.factor + offset, where, value)


def dimension_text(unit: Unit) -> str:
    """The bases with their powers, `kg.m-1.s-2`; "1" when dimensionless.   parse_unit reads it back."""
    powers = ((base, exponent) for base, exponent in zip(BASES, unit.exponents, strict=True) if exponent)
    return ".".join(base if exponent == 1 else f"{base}{exponent}" for base, exponent in powers) or "1"


def readable_names() -> tuple[str, ...]:
    """SI units by their usual names, the most common one of a dimension first."""
    return tuple(_DISPLAY_UNITS)


@functools.cache
def display_units(unit: Unit) -> tuple[Unit, ...]:
    """Usual display units of this unit; empty when it is not SI or not in the table."""
    if not unit.is_si:
        return ()
    name = re.sub(r"\s*\*\s*|\s+", ".", unit.name)
    if name not in _DISPLAY_UNITS:
        if _counts_cycles(unit):
            return ()
        alike = (si_name for si_name in _DISPLAY_UNITS if parse_unit(si_name).exponents == unit.exponents)
        name = next(alike, "")
    return tuple(parse_unit(display) for display in _DISPLAY_UNITS.get(name, ()))


@functools.cache
def fmi_display(unit: Unit, display: Unit) -> tuple[float, float]:
    """Factor and offset of the FMI 2.0 <DisplayUnit>: display value = factor * value in `unit` + offset.

    Raises InputError when the dimensions differ.
    """
    if not unit.same_dimension(display):
        dimensions = f"{display.name} ({dimension_text(display)}) and {unit.name} ({dimension_text(unit)})"
        raise InputError(Problem("display unit", f"{dimensions} differ in dimension"))
    # through the shortest decimals, so that mm against m is 1000 and not 999.9999999999999
    factor, offset, display_factor, display_offset = (
        Fraction(repr(number)) for number in (unit.factor, unit.offset, display.factor, display.offset)
    )
    return float(factor / display_factor), float((offset - display_offset) / display_factor)


def fmi_base_unit(unit: Unit) -> dict[str, str]:
    """Attributes of the FMI 2.0 <BaseUnit>: exponents other than 0, factor other than 1, offset other than 0."""
    attributes = {base: str(power) for base, power in zip(BASES, unit.exponents, strict=True) if power}
    if unit.factor != 1.0:
        attributes["factor"] = repr(unit.factor)
    if unit.offset != 0.0:
        attributes["offset"] = repr(unit.offset)
    return attributes


def unit_of_fmi(name: str, attributes: Mapping[str, str]) -> Unit | None:
    """The unit that attributes of an FMI 2.0 <BaseUnit> define; None if they are none."""
    with suppress(ValueError):
        exponents = tuple(int(attributes.get(base, "0")) for base in BASES)
        factor, offset = float(attributes.get("factor", "1")), float(attributes.get("offset", "0"))
        if math.isfinite(factor) and factor != 0.0 and math.isfinite(offset):
            return Unit(name, exponents, factor, offset)
    return None


def mixes_cycles_and_angle(a: Unit, b: Unit) -> bool:
    """Hz or 1/min, and rad/s: equal dimensions, but a number of one is not that of the other."""
    return (_counts_cycles(a) and has_angle(b)) or (_counts_cycles(b) and has_angle(a))


_QUANTITY = re.compile(
    r"(?P<number>[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?:nan|inf(?:inity)?)(?![a-z])))"
    r"\s*(?:\[(?P<bracketed>[^\[\]]*)\]|(?P<bare>.*))",
    re.IGNORECASE | re.DOTALL,
)
_TOKEN = re.compile(
    r"(?P<open>\(\s*)|(?P<close>\s*\))|(?P<power>\s*\^\s*[+-]?[0-9]+|-?[0-9]+)|(?P<operator>\s*[./*]\s*|\s+)"
    r"|(?P<symbol>%|°[CF]?|[^\W\d_]+)"
)


class _Parser:
    """Recursive descent over the tokens of one unit text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str]] = []
        if re.search(r"\^(?!\s*[+-]?[0-9]+(?!\.?[0-9]))", text):
            raise _FaultyUnitError(f"'{text}': the power of a unit is a whole number, as in m2 or m^2")
        position = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise _FaultyUnitError(f"'{text}': '{text[position]}' is not allowed in a unit")
            self.tokens.append((str(match.lastgroup), match.group().strip()))
            position = match.end()
        self.next = 0

    def kind(self) -> str:
        return self.tokens[self.next][0] if self.next < len(self.tokens) else "end"

    def take(self) -> str:
        self.next += 1
        return self.tokens[self.next - 1][1]

    def unit(self) -> _Scale:
        scale = self.product()
        if self.kind() == "close":
            raise _FaultyUnitError(f"'{self.text}': ')' closes nothing")
        if self.kind() != "end":
            raise _FaultyUnitError(f"'{self.text}': '.', '*', '/' or a blank must stand before '{self.take()}'")
        return scale

    def product(self) -> _Scale:
        scale = self.powered()
        while self.kind() == "operator":
            sign = -1 if self.take() == "/" else 1
            scale = scale.times(self.powered(), sign)
        return scale

    def powered(self) -> _Scale:
        scale = self.atom()
        if self.kind() != "power":
            return scale
        written = self.take()
        power = int(written.removeprefix("^"))
        bits = max(scale.factor.numerator.bit_length(), scale.factor.denominator.bit_length())
        if abs(power) > _LARGEST_POWER or abs(power) * bits > _LARGEST_FACTOR_BITS:
            rule = f"the power '{written}' is too large; the largest is {_LARGEST_POWER}"
            raise _FaultyUnitError(f"'{self.text}': {rule}")
        return scale.power(power)

    def atom(self) -> _Scale:
        kind = self.kind()
        if kind == "end":
            raise _FaultyUnitError(f"'{self.text}': a unit symbol is missing at the end")
        word = self.take()
        if kind == "open":
            scale = self.product()
            if self.kind() != "close":
                raise _FaultyUnitError(f"'{self.text}': ')' is missing")
            self.take()
            return scale
        if kind == "symbol":
            return self.symbol(word)
        if word == "1":
            return _Scale()
        if kind == "power":
            raise _FaultyUnitError(f"'{self.text}': the only number that may stand alone in a unit is 1, not '{word}'")
        raise _FaultyUnitError(f"'{self.text}': a unit symbol is missing before '{word}'")

    def symbol(self, symbol: str) -> _Scale:
        symbol = symbol.translate(_SAME)
        if symbol in _REFUSED:
            raise _FaultyUnitError(f"'{self.text}': the symbol '{symbol}' {_REFUSED[symbol]}")
        if symbol not in _SYMBOLS:
            repair = _between(symbol) or did_you_mean(symbol, _SYMBOLS)
            raise _FaultyUnitError(f"'{self.text}': the symbol '{symbol}' is unknown{repair}")
        if symbol in _CELSIUS and len(self.tokens) > 1:
            raise _FaultyUnitError(f"'{self.text}': {symbol} has an offset and can only stand alone; write K")
        factor, dimension = _SYMBOLS[symbol]
        exponents = tuple(dimension.get(base, 0) for base in BASES)
        return _Scale(exponents, factor, _CELSIUS_OFFSET if symbol in _CELSIUS else Fraction(0))


def _between(symbol: str) -> str:
    """What is missing in Nm, where two symbols of different dimensions stand side by side; else nothing."""
    for k in range(1, len(symbol)):
        first, second = symbol[:k], symbol[k:]
        if first in _SYMBOLS and second in _SYMBOLS and _SYMBOLS[first][1] != _SYMBOLS[second][1]:
            return f"; '.', '*', '/' or a blank must stand between '{first}' and '{second}'"
    return ""


def _parse(text: str) -> _Scale:
    text = text.strip()
    if text in ("", "-"):
        return _Scale()
    if len(text) > _LONGEST_TEXT:
        raise _FaultyUnitError(f"'{text[:40]}...' has {len(text)} characters; at most {_LONGEST_TEXT} are read")
    scale = _Parser(text).unit()
    try:
        representable = float(scale.factor) > 0.0
    except OverflowError:
        representable = False
    if not representable:
        raise _FaultyUnitError(f"'{text}': its factor to SI is outside the range of a double")
    return scale


def _unit(text: str, scale: _Scale) -> Unit:
    name = text.strip()
    return Unit("1" if name in ("", "-") else name, scale.exponents, float(scale.factor), float(scale.offset))


def _without_rad(exponents: tuple[int, ...]) -> tuple[int, ...]:
    return exponents[: BASES.index("rad")]


def has_angle(unit: Unit) -> bool:
    return unit.exponents[BASES.index("rad")] != 0


def _counts_cycles(unit: Unit) -> bool:
    """1/min of a shaft are turns; 1/s stays rad/s, as SI has it."""
    counted = (*_CYCLES, *_LONG_TIMES) if dimension_text(unit) == "s-1" else _CYCLES
    return any(symbol in counted for symbol in re.findall(r"[^\W\d_]+", unit.name))


def _finite(number: float | int | str | Fraction, where: str, value: float | int | str) -> float:
    try:
        result = float(number)
    except OverflowError:  # an integer or fraction beyond the largest double
        result = math.inf
    if not math.isfinite(result):
        raise _quantity_error(where, value, "must be finite")
    return result


def _quantity_error(where: str, value: object, fault: str) -> InputError:
    """An error that reads `where = value fault`; what stands before the last ": " of `where` is the file."""
    file, _, key = where.rpartition(": ")
    written = shortened(value)
    return InputError(Problem(file, f"{key} = {written} {fault}"))


def quantity(value: float) -> str:
    """A number as people write it: `1e+06` and `1000000` become `1e6`, `0.5` and `123456` stay."""
    plain = f"{value + 0.0:.10g}"
    if not math.isfinite(value):
        return plain
    mantissa, _, exponent = f"{value:.9e}".partition("e")
    scientific = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    return scientific if "e" in plain or (abs(value) >= 1e5 and len(scientific) < len(plain)) else plain


def limits_text(least: float | None, above: float | None, most: float | None, below: float | None) -> str:
    """`≥ 0, < 1` for the limits that are given."""
    limits = {"≥": least, ">": above, "≤": most, "<": below}
    return ", ".join(f"{sign} {quantity(limit)}" for sign, limit in limits.items() if limit is not None)


def units_text(units: Sequence[str]) -> str:
    """The unit of a vector's components, each of them where they differ; empty for the unit 1."""
    if set(units) == {"1"}:
        return ""
    return units[0] if len(set(units)) == 1 else ", ".join(units)
