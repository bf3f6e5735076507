"""What a scenario allows a slave in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass

from fmu_builder.errors import InputError, Problem
from fmu_builder.model.scenario import CheckedScenario
from fmu_builder.units import parse_quantity, parse_unit

CALL_LIMIT = 60.0  # s; a step that takes longer is rarely meant
MEMORY_LIMIT = 4096.0  # MiB, also enough for an FMU that brings a runtime with it


@dataclass(frozen=True)
class Limits:
    """call: s that one call may take; memory: MiB that the process may allocate"""

    call: float = CALL_LIMIT
    memory: float = MEMORY_LIMIT


def limits_of(scenario: CheckedScenario, of_fmi3: Collection[str] = ()) -> dict[str, Limits]:
    """By slave, of those in processes of their own.   Raises InputError with every problem found.

    of_fmi3   slaves that are FMUs for FMI 3.0"""
    found: dict[str, Limits] = {}
    problems: list[Problem] = []
    for name, entry in scenario.slaves.items():
        where = f"{scenario.path}: [slaves] {name}"
        given = {"call_limit": entry.call_limit, "memory_limit": entry.memory_limit}
        if not entry.isolated:
            what = "is of a slave in a process of its own: add isolated = true, or remove it"
            problems += [Problem(f"{where} {key}", what) for key, value in given.items() if value is not None]
            continue
        if sys.platform == "win32":
            what = "is done on Linux and macOS only; remove it: each FMU of others is tried out before, as everywhere"
            problems.append(Problem(f"{where} isolated", what))
            continue
        if name in of_fmi3:
            what = "is for FMUs for FMI 2.0, and this one is for FMI 3.0: remove it, or export the FMU for FMI 2.0"
            problems.append(Problem(f"{where} isolated", what))
            continue
        limits = Limits()
        try:
            call = CALL_LIMIT
            if entry.call_limit is not None:
                call = parse_quantity(entry.call_limit, parse_unit("s"), f"{where} call_limit")
            limits = Limits(call, MEMORY_LIMIT if entry.memory_limit is None else entry.memory_limit)
        except InputError as error:
            problems += error.problems
        if not limits.call > 0.0:
            problems.append(Problem(f"{where} call_limit", f"{limits.call:g} s must be greater than 0"))
        found[name] = limits
    if problems:
        raise InputError(problems)
    return found
