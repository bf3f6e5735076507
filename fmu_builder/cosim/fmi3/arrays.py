"""Arrays of an FMU for FMI 3.0, which the master has as scalars: `r[1]`, `m[2,3]`."""

from __future__ import annotations

import array
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fmpy.model_description import ModelDescription, ScalarVariable

from fmu_builder.errors import InputError, Problem
from fmu_builder.model.connectable import Member, Terminal

_MOST = 1_000_000  # scalars of all arrays of an FMU
_CODES = {  # types that Python's arrays have for those of FMI 3.0
    **{"Float64": "d", "Float32": "f", "Boolean": "B", "Enumeration": "q"},
    **{"Int8": "b", "Int16": "h", "Int32": "i", "Int64": "q"},
    **{"UInt8": "B", "UInt16": "H", "UInt32": "I", "UInt64": "Q"},
}


@dataclass(frozen=True)
class Array:
    """An array of fixed dimensions.

    reference  its value reference     first   that which the master has for its first scalar; those of the others
    kind       type of FMI 3.0                 follow, row by row
    starts     of all scalars, as modelDescription.xml has them; () without any"""

    name: str
    reference: int
    kind: str
    shape: tuple[int, ...]
    first: int
    starts: tuple[str, ...]

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the scalars: `r[1]`, `m[2,3]`; of a derivative der(r) they are der(r[1])."""
        head, tail = (self.name[:-1], ")") if self.name.startswith("der(") else (self.name, "")
        places = itertools.product(*(range(1, size + 1) for size in self.shape))
        return tuple(f"{head}[{','.join(map(str, place))}]{tail}" for place in places)

    def numbers(self, given: Mapping[str, float]) -> list[float]:
        """Start values of all scalars, some of them given by their names; 0 where there are none."""
        starts = self.starts or ("0",) * self.size
        read = _READERS.get(self.kind, int)
        return [given.get(name, read(text)) for name, text in zip(self.names, starts, strict=True)]

    def start_bytes(self) -> bytes:
        """Start values of all scalars as FMI 3.0 has them in memory."""
        return array.array(_CODES[self.kind], self.numbers({})).tobytes()


class Scalars:
    """The scalars of each variable of an FMU; of one that is no array itself."""

    def __init__(self, description: ModelDescription, where: str) -> None:
        """Raises InputError naming an array whose start values do not fit its shape, or arrays of too many scalars."""
        shaped = [v for v in description.modelVariables if v.dimensions]
        total = sum(math.prod(v.shape) for v in shaped)
        if total > _MOST:
            raise InputError(Problem(where, f"has arrays of {total} numbers together; at most {_MOST} are possible"))
        free = 1 + max((v.valueReference for v in description.modelVariables), default=0)
        if shaped and free + total > 2**32:
            raise InputError(Problem(where, "has value references so large that none are left for scalars of arrays"))
        self._arrays: dict[str, Array] = {}
        for v in shaped:
            if v.type in _CODES and math.prod(v.shape) > 0:
                self._arrays[v.name] = Array(v.name, v.valueReference, v.type, v.shape, free, _starts(v, where))
                free += math.prod(v.shape)
        self._left_out = {v.name for v in shaped} - self._arrays.keys()

    @property
    def arrays(self) -> tuple[Array, ...]:
        return tuple(self._arrays.values())

    def of(self, v: ScalarVariable) -> Iterator[tuple[str, int, str | None]]:
        """Names, references and start values; of arrays of texts, and of those without elements, none."""
        one = self._arrays.get(v.name)
        if one is not None:
            starts: Sequence[str | None] = one.starts or [None] * one.size
            yield from zip(one.names, itertools.count(one.first), starts)
        elif v.name not in self._left_out:
            yield v.name, v.valueReference, v.start

    def names(self, name: str) -> tuple[str, ...]:
        """The scalars of the variable with this name."""
        return self._arrays[name].names if name in self._arrays else (name,)

    def terminal(self, given: Terminal) -> Terminal:
        """A terminal with scalars as members: `r[1]` with the variable `p.r[1]`, where `r` is the array `p.r`."""
        members = [
            Member(member.name + name.removeprefix(member.variable), name, member.kind)
            for member in given.members
            for name in self.names(member.variable)
        ]
        return replace(given, members=tuple(members))


# What reads a start value; the others are whole numbers, which have more digits than a float.
_READERS: Mapping[str, Callable[[str], float]] = {
    "Float64": float,
    "Float32": float,
    "Boolean": {"false": 0, "0": 0, "true": 1, "1": 1}.__getitem__,
}


def _starts(v: ScalarVariable, where: str) -> tuple[str, ...]:
    size, given = math.prod(v.shape), (v.start or "").split()
    try:
        array.array(_CODES[v.type], map(_READERS.get(v.type, int), given))
    except (ValueError, KeyError, OverflowError):
        raise InputError(Problem(where, f"{v.name}: start = '{v.start}' must be values of {v.type}")) from None
    if len(given) in (0, size):
        return tuple(given)
    if len(given) == 1:
        return tuple(given * size)
    shape = " x ".join(map(str, v.shape))
    raise InputError(Problem(where, f"{v.name}: start has {len(given)} values, the array of {shape} needs {size}"))
