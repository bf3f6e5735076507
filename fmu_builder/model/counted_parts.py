"""Many parts, or slaves, by one entry.

[parts]       mass = { recipe = "SliderMass", count = 100 }       # stands for mass[1], mass[2], ... mass[100]
              "mass[1]" = { recipe = "SliderMass", start = { v0 = 1 } }       # this one differs
connections = [ ["mass[i].p", "spring[i].r"], ["mass[i].p", "spring[i+1].c"] ]
[expose]      outputs = { "position[i]" = "mass[i].p.s" }

mass[1], mass[2], ... may also stand there one by one, all of them, without the counted entry: so programs write them.

An entry with `[i]`, `[i+1]`, `[i-1]` ... stands for one entry for each i for which all that it names exists: with 100
masses and 101 springs both connections above are made for i = 1 to 100.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fmu_builder.errors import Problem, did_you_mean, shown_value

_MOST = 100_000
_INDEX = re.compile(r"\[\s*i\s*(?:([+-])\s*(\d+)\s*)?\]")
_NUMBERED = re.compile(r"(?P<family>\w+)\[(?P<index>\d+)\]", re.ASCII)


def is_member_name(name: str) -> bool:
    """An identifier, or one of many: mass[3]."""
    numbered = _NUMBERED.fullmatch(name)
    base = numbered["family"] if numbered else name
    return base.isidentifier() and base.isascii()


@dataclass(frozen=True)
class CountedParts:
    """`counts`: number of members of each entry of a file with `count`, or of all that stand one by one, by name."""

    counts: Mapping[str, int]

    def runs(
        self, where: str, names: Sequence[str], labels: Sequence[str], problems: list[Problem]
    ) -> Iterator[tuple[str, ...]]:
        """(names, labels) once for each i.   names  "member.port" or "member.variable"   labels  follow i alone."""
        every = (*names, *labels)
        if not any(_INDEX.search(text) for text in every):
            yield every
            return
        first, last = -_MOST, 2 * _MOST
        counted = False
        for name in names:
            member = name.partition(".")[0]
            index = _INDEX.search(member)
            if index is None:
                continue
            family = member[: index.start()]
            if index.end() != len(member) or family not in self.counts:
                what = f"'{family}' has no count: [i] stands behind the name of many" + did_you_mean(
                    family, self.counts
                )
                problems.append(Problem(where, what))
                return
            counted = True
            first, last = max(first, 1 - _shift(index)), min(last, self.counts[family] - _shift(index))
        if not counted:
            problems.append(
                Problem(where, "i has no range: it counts the members of an entry with `count`, as mass[i].p")
            )
        elif first > last:
            problems.append(Problem(where, "there is no i with which all of these exist"))
        else:
            for i in range(first, last + 1):
                yield tuple(_with_index(text, i) for text in every)

    def connections(self, path: Path, given: object, problems: list[Problem]) -> object:
        """The pairs, each repeated for its indices; anything but a pair of texts is kept, and reported elsewhere."""
        if not isinstance(given, list):
            return given
        found: list[object] = []
        for pair in given:
            if isinstance(pair, list) and len(pair) == 2 and all(isinstance(end, str) for end in pair):
                where = f"{path}: connections [{pair[0]}, {pair[1]}]"
                found += [list(ends) for ends in self.runs(where, pair, (), problems)]
            else:
                found.append(pair)
        return found

    def expositions(self, where: str, given: object, problems: list[Problem]) -> object:
        """`new = "member.old"`, each repeated for its indices."""
        if not isinstance(given, dict):
            return given
        found: dict[str, object] = {}
        for new, old in given.items():
            if isinstance(old, str):
                found |= {label: name for name, label in self.runs(f"{where} {new}", (old,), (new,), problems)}
            else:
                found[new] = old
        return found

    def keys(self, where: str, given: object, problems: list[Problem]) -> object:
        """`"member.variable" = value`, each repeated for its indices."""
        if not isinstance(given, dict):
            return given
        return {
            name: value for key, value in given.items() for (name,) in self.runs(f"{where} {key}", (key,), (), problems)
        }


def members(
    path: Path, table: str, entries: Mapping[str, object], problems: list[Problem]
) -> tuple[dict[str, object], CountedParts]:
    """The parts or slaves of a file one by one, in the order in which they stand there."""
    counts: dict[str, int] = {}
    for name, entry in entries.items():
        if isinstance(entry, dict) and "count" in entry:
            count = entry["count"]
            if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _MOST:
                what = f"count = {shown_value(count)} must be a whole number from 1 to {_MOST}"
                problems.append(Problem(f"{path}: [{table}] {name}", what))
                count = 1
            counts[name] = count
    counts |= _written_one_by_one(entries)
    found: dict[str, object] = {}
    for name, entry in entries.items():
        numbered = _NUMBERED.fullmatch(name)
        if numbered and not _is_member(numbered["index"], counts.get(numbered["family"], 0)):
            family = numbered["family"]
            there = f"no '{family}' with a count"
            if family in counts:
                there = f"{family}[1] to {family}[{counts[family]}]"
            elif family not in entries:
                there += f", nor are there all from {family}[1] on"
            problems.append(Problem(f"{path}: [{table}] {name}", f"names one of several entries, but there is {there}"))
        elif name in counts and isinstance(entry, dict):
            one = {key: value for key, value in entry.items() if key != "count"}
            found |= {each: entries.get(each, one) for each in (f"{name}[{i + 1}]" for i in range(counts[name]))}
        elif not numbered or numbered["family"] not in entries:
            found[name] = entry
    return found, CountedParts(counts)


def _is_member(index: str, count: int) -> bool:
    """Of so many, by the index as it is written: `01` is none."""
    return 1 <= int(index) <= count and index == str(int(index))


def _written_one_by_one(entries: Mapping[str, object]) -> dict[str, int]:
    """The numbers of those that stand there from the first to the last without an entry for all."""
    places: dict[str, set[str]] = {}
    for name in entries:
        if (numbered := _NUMBERED.fullmatch(name)) and numbered["family"] not in entries:
            places.setdefault(numbered["family"], set()).add(numbered["index"])
    return {
        family: len(found)
        for family, found in places.items()
        if found == {str(place + 1) for place in range(len(found))}
    }


def _shift(index: re.Match[str]) -> int:
    return int(f"{index[1]}{index[2]}") if index[1] else 0


def _with_index(text: str, i: int) -> str:
    return _INDEX.sub(lambda index: f"[{i + _shift(index)}]", text)
