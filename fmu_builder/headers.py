"""Headers of CSV files: names of columns with their units.

    z [mm]    z[mm]    z (mm)    z(mm)    z / mm

An index is no unit, as in r[3], nor is what a function is of, as in der(x) and F(t)."""

from __future__ import annotations

import re
from collections.abc import Sequence

_INDEX = re.compile(r"[\d,:\s]+")
_FUNCTION = re.compile(r"\b(der|pre|previous)$")
_VARIABLES = ("t", "time")  # of F(t), which is no force in tonnes
_NUMBER = re.compile(r"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?(\s.*)?", re.ASCII | re.DOTALL)


def split_header(text: str, *, indexed: bool = True) -> tuple[str, str | None]:
    """Name and unit of a column; None without a unit.

    indexed  whether names may end with an index, so that m[1] is one, and no m of the unit 1"""
    text = text.strip()
    if text.endswith("]"):
        at = text.rfind("[")
        return _split(text, at, indexed) if at >= 0 and "]" not in text[at:-1] else (text, None)
    if (at := _slash(text)) >= 0:
        return text[:at].strip(), text[at + 2 :].strip()
    if text.endswith(")") and (at := _opening(text)) >= 0:
        attached = at > 0 and not text[at - 1].isspace()
        inside = text[at + 1 : -1].strip()
        if attached and (not inside or inside in _VARIABLES or _FUNCTION.search(text, 0, at)):
            return text, None
        return _split(text, at, indexed)
    return text, None


def _split(text: str, at: int, indexed: bool) -> tuple[str, str | None]:
    """At the bracket that opens the unit, unless it is that of an index; behind a blank 1 is the unit."""
    name, unit = text[:at].rstrip(), text[at + 1 : -1].strip()
    if indexed and _INDEX.fullmatch(unit) and (unit != "1" or len(name) == at):
        return text, None
    return name, unit or None


def _slash(text: str) -> int:
    """Where the first slash between blanks stands outside brackets, the blank before it; -1 if there is none."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "[(") - (sign in "])")
        if depth == 0 and sign == "/" and text[at - 1 : at].isspace() and text[at + 1 : at + 2].isspace():
            return at - 1
    return -1


def _opening(text: str) -> int:
    """The bracket that the last one closes; -1 if there is none."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return at
    return -1


def no_names(cells: Sequence[str], columns: str) -> str:
    """What is wrong with a first line that holds numbers, or quantities, alone; "" if it does not.

    columns  which it must name, behind "the columns": ": x, y, z" """
    if cells and all(_NUMBER.fullmatch(cell) for cell in cells):
        return f"holds numbers; it must name the columns{columns}"
    return ""
