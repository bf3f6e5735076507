"""What an element declares as the numbers that contact_core/check/probe.h reads, and its answer."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Any

from fmu_builder.export.probe import COUNTS, FINDING
from fmu_builder.model.model import Model, Variable

FUNCTIONS = ("outputs", "rates", "start", "accept", "sample", "indicators")


class _Flag(IntFlag):
    """Of a value; as in probe.h."""

    KNOWN = 1
    PARAMETER = 2
    STATE = 4
    COMPUTED = 8
    MEMORY = 16
    REAL = 32
    BOOLEAN = 64
    ABOVE = 128
    BELOW = 256
    ON_DEMAND = 512


_KINDS = {
    "time": _Flag.KNOWN,
    "fixed": _Flag.KNOWN | _Flag.PARAMETER,
    "tunable": _Flag.KNOWN | _Flag.PARAMETER,
    "input": _Flag.KNOWN,
    "state": _Flag.KNOWN | _Flag.STATE,
    "calculated": _Flag.COMPUTED,
    "output": _Flag.COMPUTED,
    "derivative": _Flag.COMPUTED,
    "memory": _Flag.MEMORY,
}


class _Found(IntEnum):
    """As in probe.h."""

    UNDECLARED = 0
    UNASSIGNED = 1
    STALE = 2
    DISORDERED = 3
    READ_BEHIND = 4
    OVERWRITTEN = 5
    CHANGED = 6
    UNWRITTEN = 7
    UNSHOWN = 8


Sets = Sequence[tuple[Sequence[int], Sequence[int]]]


@dataclass(frozen=True)
class Plan:
    """numbers   for the probe      arrays   names of those that have canaries, from number 1 on"""

    numbers: array[float]
    arrays: Sequence[str]
    names: Sequence[str]
    starts: Sequence[float]


def pack(
    model: Model,
    points: int,
    *,
    sets: Sets = (),
    memories: Sets = (),
    canaries: Mapping[str, Sequence[int]] | None = None,
    z_canaries: Mapping[str, Sequence[int]] | None = None,
    every: bool = False,
) -> Plan:
    """The plan for an element, or for an assembly, which has no sets.   Indices are those of the struct Element.

    points      to try
    sets        of computed values that declare the same: (what they declare, these values)
    memories    the same of memory, whose initial value follows parameters and inputs
    canaries    name of an array -> indices behind it; z_canaries the same among the indicators
    every       look for declared dependencies that never show"""
    canaries, z_canaries = canaries or {}, z_canaries or {}
    arrays = [*canaries, *(f"z->{name}" for name in z_canaries)]
    variables = model.variables
    guarded = {index for indices in canaries.values() for index in indices}
    numbers = array("d")
    for section in (
        (every, points),
        [0 if v.index in guarded else _flags(v) for v in variables],
        [v.start for v in variables],
        [_least(v) for v in variables],
        [_greatest(v) for v in variables],
        [v.nominal or 0.0 for v in variables],
        _numbers_of_arrays(len(variables), canaries, 1),
        [one.nominal for one in model.indicators],
        _numbers_of_arrays(len(model.indicators), z_canaries, 1 + len(canaries)),
        [q for q, _ in model.quaternions],
    ):
        _append(numbers, section)
    for group in (sets, memories):
        numbers.append(len(group))
        for listed, values in group:
            _append(numbers, listed)
            _append(numbers, values)
    return Plan(numbers, arrays, [v.name for v in variables], [v.start for v in variables])


def _append(numbers: array[float], section: Sequence[float]) -> None:
    numbers.append(len(section))
    numbers.extend(section)


def _flags(v: Variable) -> int:
    flags = _KINDS[v.kind]
    if v.type in ("real", "bool"):
        flags |= _Flag.REAL if v.type == "real" else _Flag.BOOLEAN
    if v.above is not None and v.above == _least(v):
        flags |= _Flag.ABOVE
    if v.below is not None and v.below == _greatest(v):
        flags |= _Flag.BELOW
    return flags | _Flag.ON_DEMAND if v.on_demand else flags


def _least(v: Variable) -> float:
    low = v.above if v.min is None else v.min
    return -math.inf if low is None else low


def _greatest(v: Variable) -> float:
    high = v.below if v.max is None else v.max
    return math.inf if high is None else high


def _numbers_of_arrays(count: int, canaries: Mapping[str, Sequence[int]], first: int) -> list[int]:
    """For each value the number of the array that it is a canary of, or 0."""
    found = [0] * count
    for number, indices in enumerate(canaries.values(), first):
        for index in indices:
            found[index] = number
    return found


def unpack(plan: Plan, answer: bytes) -> dict[str, Any]:
    """What the probe found, by kinds; points as values that are not those of the start, by name.

    `undeclared`: value, known, what happens, point.   `unshown`: values and knowns never seen together."""
    head = struct.Struct(f"@{COUNTS}l")
    _, points, findings, tried = head.unpack_from(answer)
    numbers = array("d", answer[head.size :])
    size = len(plan.names)
    found: dict[str, Any] = {one.name.lower(): {} for one in _Found} | {"points": tried}
    found |= {"undeclared": [], "unwritten": [], "unshown": []}

    def shown(number: int) -> dict[str, float]:
        begin = findings * FINDING + number * size
        point = numbers[begin : begin + size] if 0 <= number < points else ()
        flags = plan.numbers[4 : 4 + size]
        return {plan.names[i]: x for i, x in enumerate(point) if x != plan.starts[i] and int(flags[i]) & _Flag.KNOWN}

    for k in range(findings):
        kind, value, known, how, a, b, x, point = numbers[k * FINDING : (k + 1) * FINDING]
        one, i, j = _Found(int(kind)), int(value), int(known)
        kept = found[one.name.lower()]
        match one:
            case _Found.UNDECLARED:
                kept.append((i, j, _how(int(how), a, b, x), shown(int(point))))
            case _Found.UNASSIGNED | _Found.STALE | _Found.DISORDERED:
                kept[str(i)] = shown(int(point))
            case _Found.READ_BEHIND:
                kept[str(i)] = _array(plan, j)
            case _Found.OVERWRITTEN:
                array_name = _array(plan, i)
                kept[array_name] = "derivatives" if array_name.startswith("der.") else FUNCTIONS[j]
            case _Found.CHANGED:
                kept[str(i)] = FUNCTIONS[j]
            case _Found.UNWRITTEN:
                kept.append(i)
            case _Found.UNSHOWN:
                kept.append((i, j))
    return found


def _array(plan: Plan, number: int) -> str:
    """The name of an array with canaries; what lies behind all indicators has none."""
    return plan.arrays[number - 1] if 1 <= number <= len(plan.arrays) else "z"


def _how(how: int, a: float, b: float, x: float) -> str:
    """As in probe.h: DERIVATIVE, CHANGE, BEGIN."""
    return (
        f"its derivative with it is {a:.6g}",
        f"it changes from {a:.9g} to {b:.9g} with it at {x:.9g}",
        f"it begins with {b:.9g} for {a:.9g} with it at {x:.9g}",
    )[how]


def same_lists(depends: Iterable[tuple[int, Sequence[int]]]) -> list[tuple[list[int], list[int]]]:
    """Lists of dependencies, each with the values that have it."""
    same: dict[int, tuple[Sequence[int], list[int]]] = {}
    for index, listed in depends:
        same.setdefault(id(listed), (listed, []))[1].append(index)
    found: dict[tuple[int, ...], list[int]] = {}
    for listed, values in same.values():
        found.setdefault(tuple(sorted(listed)), []).extend(values)
    return [(list(listed), values) for listed, values in found.items()]
