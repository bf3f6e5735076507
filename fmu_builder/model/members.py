"""The members of a system, slaves or parts, in the tables of its file: their names, and what connections name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from fmu_builder.errors import Problem, did_you_mean
from fmu_builder.model.counted_parts import CountedParts, is_member_name, members


def expand_members(
    path: Path, kind: Literal["slave", "part"], tables: dict[str, Any], problems: list[Problem]
) -> tuple[CountedParts | None, list[Problem]]:
    """Write one by one into the tables what stands there with a count: slaves or parts, and their connections.

    Returns the counted parts, and the connections that name no member; adds other faults of names to the problems.
    Returns None for them where it is not known which members there are, and so what others name."""
    before = len(problems)
    entries, counted = members(path, f"{kind}s", tables[f"{kind}s"], problems)
    are_known = len(problems) == before
    connections = tables.get("connections", [])
    if are_known:
        connections = tables["connections"] = counted.connections(path, connections, problems)
    problems += name_problems(path, entries, connections, kind)
    tables[f"{kind}s"] = {name: {"recipe": one} if isinstance(one, str) else one for name, one in entries.items()}
    return (counted, list(unknown_ends(path, entries, connections, kind))) if are_known else (None, [])


def name_problems(
    path: Path, members: dict[str, object], connections: object, kind: Literal["slave", "part"]
) -> Iterator[Problem]:
    """Names of slaves or parts: there are some, they are identifiers, and connections name a port or variable."""
    table = f"{path}: [{kind}s]"
    if not members:
        yield Problem(table, f"there is no {kind}")
    for name in members:
        if not is_member_name(name):
            rule = "must be an identifier: letters without accents, digits and _"
            yield Problem(f"{table} {name}", f"the name of a {kind} {rule}")
    for where, end in _ends(path, connections):
        if "." not in end:
            yield Problem(where, f"'{end}' must be '{kind}.port' or '{kind}.variable'")


def unknown_ends(
    path: Path, members: dict[str, object], connections: object, kind: Literal["slave", "part"]
) -> Iterator[Problem]:
    """Connections that name an unknown slave or part."""
    for where, end in _ends(path, connections):
        member, dot, _ = end.partition(".")
        if dot and member not in members:
            yield Problem(where, f"there is no {kind} '{member}'" + did_you_mean(member, members))


def _ends(path: Path, connections: object) -> Iterator[tuple[str, str]]:
    """Where, and what, the ends of connections are."""
    for pair in connections if isinstance(connections, list) else ():
        for end in pair if isinstance(pair, list | tuple) else ():
            yield f"{path}: connections [{', '.join(map(str, pair))}]", str(end)
