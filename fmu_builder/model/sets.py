"""Named sets of element.toml: a list of dependencies, or of choices, that several entries share.

[sets]
curved = ["sphere", "cylinder", "cone"]
motion = ["point.*", "surface.*"]
normal_force = ["@motion", "work", "C_F"]         # a set may hold others

depends = "@normal_force"                          # a set alone
depends = ["@normal_force", "K_fr"]                # or with more
when = { surface = "@curved" }

The declaration is read with the lists in place of the names; names that occur twice are kept once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fmu_builder.errors import InputError, Problem, did_you_mean

_MARK = "@"
_KEYS = ("depends", "when", "initial", "replaced_by")  # of entries: what may name sets


def with_sets(path: Path, tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables with every set spelled out, those in [sets] too.  Raises InputError with every problem found: unknown
    sets, and sets that contain themselves."""
    return _Sets(path, tables).spelled_out()


class _Sets:
    def __init__(self, path: Path, tables: Mapping[str, Any]) -> None:
        self.path = path
        self.tables = tables
        self.problems: list[Problem] = []
        sets = tables.get("sets", {})
        self.sets: dict[str, list[str]] = {}
        for name, members in sets.items() if isinstance(sets, dict) else ():
            if isinstance(members, list) and all(isinstance(one, str) for one in members):
                self.sets[name] = members
            else:
                self._problem(f"[sets] {name}", f"{members!r} must be a list of texts")

    def spelled_out(self) -> dict[str, Any]:
        found = {name: self._table(table, f"[{name}]", False) for name, table in self.tables.items() if name != "sets"}
        if self.sets:
            found["sets"] = {
                name: self._list(members, f"[sets] {name}", (name,)) for name, members in self.sets.items()
            }
        if self.problems:
            raise InputError(list(dict.fromkeys(self.problems)))
        return found

    def _problem(self, where: str, what: str) -> None:
        self.problems.append(Problem(f"{self.path}: {where}", what))

    def _table(self, value: Any, where: str, named: bool) -> Any:
        """Whatever stands at a place.   where: the table, and the keys that lead there   named: sets may be named"""
        if isinstance(value, dict):
            return {key: self._table(one, f"{where} {key}", named or key in _KEYS) for key, one in value.items()}
        if isinstance(value, list) and (not named or any(isinstance(one, list) for one in value)):
            return [self._table(one, where, named) for one in value]
        if named and isinstance(value, list):
            return self._list(value, where, ())
        return self._list([value], where, ()) if named and _is_name(value) else value

    def _list(self, members: list[Any], where: str, chain: tuple[str, ...]) -> list[Any]:
        return list(dict.fromkeys(one for member in members for one in self._members(member, where, chain)))

    def _members(self, member: Any, where: str, chain: tuple[str, ...]) -> Iterator[Any]:
        name = member.removeprefix(_MARK) if _is_name(member) else None
        if name is None:
            yield member
        elif name not in self.sets:
            self._problem(where, f"there is no set '{member}' in [sets]" + did_you_mean(name, self.sets))
        elif name in chain:
            self._problem(where, f"the set '{member}' contains itself: {' > '.join((*chain, name))}")
        else:
            for one in self.sets[name]:
                yield from self._members(one, where, (*chain, name))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.startswith(_MARK)
