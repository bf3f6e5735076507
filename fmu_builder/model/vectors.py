"""Vectors and arrays of scalars with structured names: `r` is r[1], r[2], r[3], and `m` is m[1,1], m[1,2], ..."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Vector:
    """The scalars of a name, row by row."""

    name: str
    shape: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def shape_text(self) -> str:
        """`3`, or `2 x 3`."""
        return " x ".join(map(str, self.shape))


def vector_of(base: str, names: Collection[str]) -> Vector | None:
    """The vector, or the array of several dimensions, of this name; None if there is none without gaps."""
    number = 0
    while f"{base}[{number + 1}]" in names:
        number += 1
    if number:
        return Vector(base, (number,), tuple(f"{base}[{k + 1}]" for k in range(number)))
    pattern = re.compile(rf"{re.escape(base)}\[(\d+(?:,\d+)+)\]")
    places = [tuple(map(int, found[1].split(","))) for name in names if (found := pattern.fullmatch(name))]
    if len({len(place) for place in places}) != 1:
        return None
    shape = tuple(map(max, zip(*places, strict=True)))
    if math.prod(shape) != len(places):
        return None
    every = itertools.product(*(range(1, size + 1) for size in shape))
    return Vector(base, shape, tuple(f"{base}[{','.join(map(str, place))}]" for place in every))


def flat(values: Any, shape: tuple[int, ...]) -> list[Any]:
    """The values of a list of this shape, or of one without rows, row by row; another list as it is."""
    if not isinstance(values, list):
        return [values]
    if len(shape) > 1 and len(values) == shape[0] and all(isinstance(row, list) for row in values):
        rows = [flat(row, shape[1:]) for row in values]
        if all(len(row) == math.prod(shape[1:]) for row in rows):
            return [value for row in rows for value in row]
    return values


def given_twice(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names of elements whose vector is among the names too, each with that."""
    every = set(names)
    for name in sorted(every):
        base, _, index = name.removesuffix("]").rpartition("[")
        if base in every and index.isdecimal():
            yield name, base
