"""`[extends]` of element.toml: the entries of another element, or of a group of elements/shared, and what differs.

[extends]
element = "point_line_2"          # found as a recipe finds its element; or group = "coupling", for coupling.toml
renamed = { k_r1 = "k_r" }        # entries with another name here, wherever they are named
without = ["k_r2", "point.q"]     # entries that are left out, also from every `depends`; a structure choice keeps its
                                  # default, a slot stays empty
words = { force = "torque" }      # of a group: words that are replaced in its descriptions

All other tables declare further entries.  One with the name of an entry, or a set, of the other element replaces it;
one with the name of an entry of the group changes the keys that it gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from fmu_builder.errors import InputError, Problem, did_you_mean
from fmu_builder.paths import find_element, shared_folder


class Extends(BaseModel):
    """Another element, or a group of variables, whose entries this element has as well, except for those that it
    declares differently."""

    element: str | None = Field(default=None, description="the other element, found as a recipe finds its element")
    group: str | None = Field(default=None, description="instead of an element: a group that elements/shared declares")
    renamed: dict[str, str] = Field(default={}, description="entries with another name here, wherever they are named")
    without: list[str] = Field(default=[], description="entries that are left out, also from every `depends`")
    words: dict[str, str] = Field(default={}, description="of a group: words that are replaced in its descriptions")


_KEYS = tuple(Extends.model_fields)
_FORMER_KEY = "takes_over"  # accepted for one version


def renamed_key(path: Path, tables: dict[str, Any]) -> str:
    """Move a table under its former key to `extends`; returns a note, empty if there is none.  Raises InputError."""
    if _FORMER_KEY not in tables:
        return ""
    where = f"{path}: [{_FORMER_KEY}]"
    if "extends" in tables:
        raise InputError(Problem(where, "is the former name of [extends], which is given as well: remove it"))
    tables["extends"] = tables.pop(_FORMER_KEY)
    return f"{where} is now [extends]; rename it, the next version refuses the former name"


def extended(path: Path, tables: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of the declaration `path` with those of `base`, which it extends.  Raises InputError."""
    rules = tables["extends"]
    where = f"{path}: [extends]"
    known = {name for table in base.values() if isinstance(table, dict) for name in table}
    known |= {one for one in _texts(base) if "." in one and " " not in one}
    renamed, without = dict(rules.get("renamed", {})), list(rules.get("without", []))
    problems = [
        Problem(f"{where} {key}", "this key is unknown" + did_you_mean(key, _KEYS)) for key in rules if key not in _KEYS
    ]
    problems += [
        Problem(f"{where} {name}", "there is no such entry to extend" + did_you_mean(name, known))
        for name in (*renamed, *without)
        if name not in known
    ]
    words, texts = rules.get("words", {}), " ".join(_texts(base))
    if not isinstance(words, dict) or not all(isinstance(other, str) for other in words.values()):
        problems.append(Problem(f"{where} words", f"{words!r} must be a table of texts"))
    elif words and "group" not in rules:
        problems.append(Problem(f"{where} words", "belongs to a group: entries of an element are declared anew"))
    else:
        problems += [
            Problem(f"{where} words", f"no description has the word '{word}'")
            for word in words
            if not _word(word).search(texts)
        ]
    if problems:
        raise InputError(problems)
    fallen = {
        name: base.get("structure", {}).get(name, {}).get("default", False)
        for name in without
        if name in base.get("structure", {}) or name in base.get("slots", {})
    }
    found: dict[str, Any] = {}
    for title, table in base.items():
        if not isinstance(table, dict) or title == "extends":
            found[title] = table
            continue
        found[title] = {}
        for name, entry in table.items():
            kept = _kept(entry, set(without), fallen, renamed)
            if name not in without and kept != []:
                found[title][renamed.get(name, name)] = _reworded(kept, words)
    for title, table in tables.items():
        if isinstance(table, dict) and isinstance(found.get(title), dict):
            found[title] = _with_group(table, found[title]) if "group" in rules else found[title] | table
        elif title != "extends":
            found[title] = table
    return found


def _with_group(own: Mapping[str, Any], group: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of the file, then those of the group, changed by the entries of the file with the same name."""
    changed = {name: _changed(entry, own.get(name, {})) for name, entry in group.items()}
    return {name: entry for name, entry in own.items() if name not in group} | changed


def _reworded(entry: Any, words: Mapping[str, str]) -> Any:
    """An entry with words of its description replaced; a capital letter stays one."""
    text = entry.get("description", "") if isinstance(entry, dict) else ""
    for word, other in words.items():
        text = _word(word).sub(lambda found, o=other: o if found[0][0].islower() else o[:1].upper() + o[1:], text)
    return {**entry, "description": text} if text else entry


def _word(word: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)


def _changed(entry: Any, own: Any) -> Any:
    """An entry with the keys of `own` in place of those it had; of variants each of them."""
    if isinstance(own, list):
        return [_changed(entry, one) for one in own]
    return {**entry, **own} if isinstance(own, dict) else own


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(one)


def base_of(path: Path, tables: Mapping[str, Any]) -> Path | None:
    """The declaration that the one at `path` extends, if any.  Raises InputError if it does not exist."""
    rules = tables.get("extends")
    if rules is None:
        return None
    if not isinstance(rules, dict) or [type(rules.get(key)) for key in ("element", "group")].count(str) != 1:
        raise InputError(Problem(f"{path}: [extends]", "must name either the element or the group that is extended"))
    if "group" in rules:
        groups = sorted(place.stem for place in shared_folder().glob("*.toml"))
        if rules["group"] not in groups:
            what = f"'{rules['group']}' is no group" + did_you_mean(rules["group"], groups)
            raise InputError(Problem(f"{path}: [extends] group", what))
        return shared_folder() / f"{rules['group']}.toml"
    return find_element(rules["element"], path.parent, f"{path}: element") / "element.toml"


def _kept(entry: Any, without: set[str], fallen: Mapping[str, Any], renamed: Mapping[str, str]) -> Any:
    """An entry, or its variants, under the new names; [] for one that exists with other choices only."""
    if isinstance(entry, list) and all(isinstance(one, dict) for one in entry):
        variants = list(_variants(entry, without, fallen, renamed))
        return variants[0] if len(variants) == 1 else variants
    if isinstance(entry, dict):
        return next(_variants([entry], without, fallen, renamed), [])
    return _renamed(entry, without, renamed) if isinstance(entry, list) else entry  # a list: a set


def _variants(
    entries: list[dict[str, Any]], without: set[str], fallen: Mapping[str, Any], renamed: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    for entry in entries:
        when = entry.get("when", {})
        if all(
            value in (when[name] if isinstance(when[name], list) else [when[name]])
            for name, value in fallen.items()
            if name in when
        ):
            one = {key: _renamed(value, without, renamed) for key, value in entry.items()}
            if when:
                one["when"] = {renamed.get(n, n): value for n, value in when.items() if n not in fallen}
            yield one


def _renamed(value: Any, without: set[str], renamed: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return renamed.get(value, value)
    if isinstance(value, list):
        return [_renamed(one, without, renamed) for one in value if not isinstance(one, str) or one not in without]
    if isinstance(value, dict):
        return {key: _renamed(one, without, renamed) for key, one in value.items()}
    return value
