"""Headers of CSV files: names of columns with their units.

    z [mm]    z[mm]    z (mm)    z(mm)    z / mm

An index is no unit, as in r[3], nor is what a function is of, as in der(x) and F(t)."""

from __future__ import annotations

import re
from collections.abc import Sequence

Names = Sequence[Sequence[str]]
"""Of the columns of a table of points: those that each of them may have, the usual one first."""
X, Y, Z = ("x",), ("y",), ("z",)

_INDEX = re.compile(r"[\d,:\s]+")
_FUNCTION = re.compile(r"\b(der|pre|previous)$")
_VARIABLES = ("t", "time")  # of F(t), which is no force in tonnes
_NUMBER = re.compile(r"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?(\s.*)?", re.ASCII | re.DOTALL)
_GAP = re.compile(r"\s*([+-]?(nan|inf|infinity))?\s*", re.ASCII | re.IGNORECASE)


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
    """What is wrong with a first line that holds numbers or quantities, and gaps beside them; "" if it does not.

    columns  which it must name, behind "the columns": ": x, y, z" """
    numbers = [cell for cell in cells if _NUMBER.fullmatch(cell)]
    if numbers and all(_NUMBER.fullmatch(cell) or _GAP.fullmatch(cell) for cell in cells):
        return f"holds numbers; it must name the columns{columns}"
    return ""


def column_order(names: Sequence[str], known: Names) -> tuple[list[int], list[str]]:
    """Which column holds each of the known quantities, and what is wrong with the names.

    Where all names are known ones the columns may stand in any order.  Other names are free, and columns stand in the
    order of `known` then: a known name in the place of another one is an error."""
    place_of = {name.casefold(): place for place, several in enumerate(known) for name in several}
    places = [place_of.get(name.casefold()) for name in names]
    wanted = ", ".join(several[0] for several in known)
    repair = f"name the columns {wanted}, in any order"
    twice = [name for k, name in enumerate(names) if places[k] is not None and places[k] in places[:k]]
    if twice:
        return [], [f"column '{name}' names the same as one before it: {repair}" for name in twice]
    if None not in places:
        return [places.index(place) for place in range(len(known))], []
    faults = [
        f"column '{name}' stands in the place of {known[k][0]}, and others have names that are not known: {repair}"
        for k, (name, place) in enumerate(zip(names, places, strict=True))
        if place not in (None, k)
    ]
    return list(range(len(known))), faults
