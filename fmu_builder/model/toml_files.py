"""Reading TOML files, with problems by file, table, key and value."""

from __future__ import annotations

import functools
import pickle
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, TypeGuard, get_args, get_origin

from pydantic import BaseModel, ValidationError

from fmu_builder.errors import InputError, Problem, did_you_mean, none_of, shortened, shown_value
from fmu_builder.files import read_text

_SYSTEMS = {  # recipes of elements, of assemblies, and scenarios, by a key of each, with the command that takes them
    "element": ("recipe", "build"),
    "parts": ("recipe", "build"),
    "slaves": ("scenario", "run"),
}
_KINDS = {**_SYSTEMS, "factors": ("study", "study"), "measurement": ("fit", "fit")}
SYSTEM_KEYS = tuple(_SYSTEMS)
_LARGEST_TOML = 64 * 2**20  # bytes
_LONGEST_KEPT = 2**18  # characters; of longer files what is read is not kept


def read_toml(path: Path) -> dict[str, object]:
    """A TOML file as a dictionary, all of whose texts an FMU can hold.

    Raises InputError with the line of a syntax error, or with every text that XML cannot hold."""
    text = read_text(path, _LARGEST_TOML)
    try:
        parse = _parsed if len(text) <= _LONGEST_KEPT else _parsed.__wrapped__
        kept, is_clean = parse(text)
        tables: dict[str, object] = pickle.loads(kept)
        problems = [] if is_clean else list(_control_characters(path, tables, ()))
    except ValueError as error:  # of tomllib, or an integer of more digits than Python reads
        raise InputError(Problem(str(path), f"is not valid TOML: {error}")) from error
    except RecursionError:
        raise InputError(Problem(str(path), "has too many nested brackets")) from None
    if problems:
        raise InputError(problems)
    return tables


def read_about_system(path: Path, what: str, key: str) -> dict[str, object]:
    """As read_toml, of a document on a system.  Raises InputError too where a system itself is in its place.

    what   it is, such as a study
    key    under which it names its system"""
    tables = {} if (is_archive := path.suffix in (".fmu", ".ssp")) else read_toml(path)
    if is_archive or (key not in tables and not tables.keys().isdisjoint(SYSTEM_KEYS)):
        raise InputError(Problem(str(path), f"is a system, and no {what}: write one with {key} = '{path.name}'"))
    if key not in tables:
        refuse_other_documents(path, tables, what)
    return tables


def refuse_other_documents(path: Path, tables: Collection[str], what: str) -> None:
    """Raises InputError if the keys of a file show that it is of another kind than `what`."""
    for key, (kind, command) in _KINDS.items():
        if key in tables and kind != what:
            raise InputError(Problem(str(path), f"is a {kind}, and no {what}: give it to `fmu-builder {command}`"))


@functools.lru_cache(maxsize=256)
def _parsed(text: str) -> tuple[bytes, bool]:
    """The tables of TOML text, and whether an FMU can hold all its texts.  They are kept as pickle, from which each
    reader gets its own copy in a tenth of the time that parsing takes: many recipes have the same element."""
    tables = tomllib.loads(text)
    return pickle.dumps(tables), not any(_control_characters(Path(), tables, ()))


# what XML 1.0 cannot hold; TOML can, as escapes
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def _control_characters(path: Path, value: object, place: tuple[str, ...]) -> Iterator[Problem]:
    """Texts and keys with characters that no FMU can hold."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _control_characters(path, key, (*place, "a key"))
            yield from _control_characters(path, inner, (*place, key))
    elif isinstance(value, list):
        for entry, inner in enumerate(value, 1):
            yield from _control_characters(path, inner, (*place, str(entry)))
    elif isinstance(value, str) and (found := _NO_XML.search(value)):
        *tables, key = place
        where = f"{path}: " + (f"[{'.'.join(tables)}] " if tables else "") + key
        what = f"the character U+{ord(found[0]):04X} cannot be written into an FMU; remove it"
        yield Problem(where, f"{shortened(value)}: {what}")


_RULES = {  # by the type of pydantic's error, what a value must
    "string_type": "be a text",
    "string_too_short": "have at least {min_length} characters",
    "list_type": "be a list",
    "too_short": "have at least {min_length} entries",
    "too_long": "have at most {max_length} entries",
    "bool_type": "be true or false",
    "bool_parsing": "be true or false",
    "int_type": "be a whole number",
    "int_parsing": "be a whole number",
    "int_from_float": "be a whole number",
    "float_type": "be a number",
    "float_parsing": "be a number",
    "finite_number": "be a finite number",
    "greater_than": "be greater than {gt:.10g}",
    "greater_than_equal": "be at least {ge:.10g}",
    "less_than": "be less than {lt:.10g}",
    "less_than_equal": "be at most {le:.10g}",
    "dict_type": "be a table",
    "model_type": "be a table",
    "model_attributes_type": "be a table",
}


def refuse_fields_of_ours(path: Path, tables: dict[str, object], model: type[BaseModel]) -> list[Problem]:
    """Takes the fields of the model that are no keys of a file, those in `OURS`, out of its tables."""
    return [
        Problem(f"{path}: {key}", "this key is unknown") for key in _ours(model) if tables.pop(key, None) is not None
    ]


def _ours(model: type[BaseModel]) -> tuple[str, ...]:
    ours: tuple[str, ...] = getattr(model, "OURS", ())
    return ours


def explain(path: Path, error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """pydantic's errors in a file of this model as problems: file, table, key, value, rule."""
    problems = []
    for fault in error.errors():
        location = [str(part) for part in fault["loc"] if isinstance(part, str)]
        *tables, key = _shown_places(fault["loc"]) or [""]
        place = (f"[{'.'.join(tables)}] " if tables else "") + key
        where = f"{path}: {place}" if place else str(path)
        if fault["type"] == "extra_forbidden":
            home = _home_of(model, location)
            near = f"; it belongs {home}" if home else did_you_mean(location[-1], _keys_at(model, location[:-1]))
            problems.append(Problem(where, "this key is unknown" + near))
        elif fault["type"] == "missing":
            problems.append(Problem(where, "this key is missing"))
        elif fault["type"] == "literal_error":
            problems.append(Problem(where, none_of(fault["input"], re.findall("'([^']*)'", fault["ctx"]["expected"]))))
        else:
            limits = fault.get("ctx", {})
            words = "not be empty" if limits.get("min_length") == 1 else _RULES.get(fault["type"])
            what = fault["msg"] if words is None else f"must {words.format(**limits)}"
            value = fault["input"]  # of a file as TOML writes it, of a model such as Plane() as Python does
            shown = shown_value(value) if path.suffix and isinstance(value, bool) else shortened(value)
            problems.append(Problem(where, f"{shown}: {what[0].lower()}{what[1:]}"))
    return problems


def without_faulty(
    tables: dict[str, Any], error: ValidationError, by_entry: Collection[str], members: str = ""
) -> dict[str, Any]:
    """The tables without what pydantic has found to be faulty: entries of the tables and lists `by_entry`, keys of
    members beside their recipe; else keys of the file.   members: their table, which is not left out"""
    kept = dict(tables)
    wrong: dict[str, set[str | int]] = {}
    for fault in error.errors():
        key, inner = str(fault["loc"][0]), fault["loc"][1:]
        if key == members and len(inner) > 1 and inner[1] != "recipe":
            member = {name: value for name, value in kept[key][inner[0]].items() if name != inner[1]}
            kept[key] = {**kept[key], inner[0]: member}
        elif inner and key in by_entry:
            wrong.setdefault(key, set()).add(inner[0])
        elif key != members:
            kept.pop(key, None)
    for key, entries in wrong.items():
        if isinstance(table := kept.get(key), dict):
            kept[key] = {name: value for name, value in table.items() if name not in entries}
        elif isinstance(table, list):
            kept[key] = [value for place, value in enumerate(table) if place not in entries]
    return kept


def _shown_places(location: Sequence[str | int]) -> list[str]:
    """Tables and key, those of a list with the number of the entry, counted from 1."""
    shown: list[str] = []
    for part in location:
        if isinstance(part, str):
            shown.append(part)
        elif shown:
            shown[-1] += f" {part + 1}"
        else:
            shown.append(f"entry {part + 1}")
    return shown


def _home_of(model: type[BaseModel], location: Sequence[str]) -> str:
    """Where in a file of this model the key of a wrong place belongs; "" if nowhere."""
    *tables, key = location
    if tables:
        top = model.model_fields.get(key) if key in _keys_at(model, ()) else None
        is_value = top is not None and get_origin(top.annotation) is not dict and not [*_models_in(top.annotation)]
        return "to the top of the file, above its tables" if is_value else ""
    homes = []
    for name, entry in model.model_fields.items():
        optional = get_args(entry.annotation) if isinstance(entry.annotation, UnionType) else (entry.annotation,)
        homes += [name for table in optional if _is_model(table) and key in table.model_fields]
    return f"into [{homes[0]}]" if len(homes) == 1 else ""


def _is_model(annotation: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _keys_at(model: type[BaseModel], location: Iterable[str]) -> set[str]:
    """The keys of the tables at a place in a file of this model.   READ_BEFORE: those that no model is given"""
    here = [model]
    for part in location:
        fields = [one.model_fields[part] for one in here if part in one.model_fields]
        here = [inner for field in fields for inner in _models_in(field.annotation)] or here  # an index, a name: stay
    ours = _ours(model) if here == [model] else ()
    return {key for one in here for key in (*one.model_fields, *getattr(one, "READ_BEFORE", ())) if key not in ours}


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if _is_model(annotation):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)
