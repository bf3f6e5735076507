"""Names, texts and declarations of Modelica."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fmu_builder.laws.modelica_source import plain_number
from fmu_builder.units import Unit

MSL = "Modelica.Mechanics"
INFINITE = 1e60  # as Modelica.Constants.inf of the usual tools: the square is a number still

KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """algorithm and annotation assert block break class connect connector constant constrainedby der discrete each
        else elseif elsewhen encapsulated end enumeration equation expandable extends external false final flow for
        function if import impure in initial inner input loop model not operator or outer output package parameter
        partial protected public pure record redeclare replaceable return stream then time true type when while
        within""",
    )
)
_DISPLAY = {"rpm": "rev/min"}  # Modelica's name of a display unit, where it is another one
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', re.DOTALL)


def identifier(name: str) -> str:
    """An FMI name as one Modelica identifier: `energy.elastic` is `energy_elastic`, `mass[2]` is `mass_2`."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
    return f"{plain}_" if plain in KEYWORDS else plain


def words_in(text: str) -> frozenset[str]:
    """The identifiers of a Modelica text, apart from comments, strings, and members as `phi` in `p.phi`."""
    return frozenset(re.findall(r"(?<![\w.])[A-Za-z_]\w*", _COMMENT.sub(" ", text)))


def string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def number(value: float) -> str:
    """Of what is endless the largest that a compiler computes with."""
    return plain_number(min(max(value, -INFINITE), INFINITE))


def truth(value: float) -> str:
    return "true" if value else "false"


def values(given: Sequence[float]) -> str:
    """One number, or a vector of several."""
    return "{" + ", ".join(map(number, given)) + "}" if len(given) > 1 else number(given[0])


def unit_attributes(unit: Unit, display: Unit | None = None) -> list[str]:
    """`unit = "..."`, `displayUnit = "..."`."""
    found = [f'unit="{unit.name}"']
    if display is not None and display.name != unit.name:
        found.append(f'displayUnit="{_DISPLAY.get(display.name, display.name)}"')
    return found


def modified(attributes: Sequence[str]) -> str:
    return f"({', '.join(attributes)})" if attributes else ""


def html(paragraphs: Iterable[str]) -> str:
    """The annotation `Documentation` of paragraphs that are HTML."""
    text = "".join(f"{paragraph}\n" for paragraph in paragraphs)
    return f"Documentation(info={string(f'<html>{chr(10)}{text}</html>')})"
