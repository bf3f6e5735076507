"""Reading element.toml: what it extends, its sets and variants, C structs of memory, then all checks."""

from __future__ import annotations

import functools
import hashlib
import pickle
from pathlib import Path

from pydantic import ValidationError

from fmu_builder.errors import InputError, Problem
from fmu_builder.model.c_structs import Headers, count_doubles, headers_of
from fmu_builder.model.declaration import VARIABLE_TABLES, VARIANT, Declaration
from fmu_builder.model.declaration_rules import NAME_RULE, declaration_problems
from fmu_builder.model.extends import base_of, extended, renamed_key
from fmu_builder.model.sets import with_sets
from fmu_builder.model.toml_files import explain, read_toml
from fmu_builder.paths import shared_folder, shipped

CORE_GROUPS = {"solver": "solver/solver.toml", "contact_record": "contact_record.toml"}
"""Groups of variables that an FMU has once, whatever its elements, and where contact_core declares them."""


def read_declaration(folder: Path) -> Declaration:
    """The checked element.toml of an element's folder.  Raises InputError with every problem found."""
    return _read(folder / "element.toml")


def is_core_variable(name: str) -> bool:
    """Whether contact_core declares it: an FMU has it once, however many parts it has."""
    return "." in name and name.partition(".")[0] in CORE_GROUPS


@functools.cache
def core_declaration(group: str) -> Declaration:
    """The variables of one of CORE_GROUPS."""
    return _read(shipped("contact_core") / CORE_GROUPS[group])


def _with_variants(path: Path, tables: dict[str, object]) -> dict[str, object]:
    """An entry written as a list becomes one entry `<name> variant <n>` for each item."""
    expanded = dict(tables)
    for table in (*VARIABLE_TABLES, "ports", "indicators"):
        entries = tables.get(table)
        if isinstance(entries, dict):
            found: dict[str, object] = {}
            for name, entry in entries.items():
                if VARIANT.search(name):
                    raise InputError(Problem(f"{path}: [{table}] {name}", NAME_RULE))
                several = entry if isinstance(entry, list) else None
                found |= {f"{name} variant {i}": one for i, one in enumerate(several, 1)} if several else {name: entry}
            expanded[table] = found
    return expanded


def _tables(path: Path, notes: list[str]) -> bytes:
    """The tables of the file, with those that it extends, and with sets in place of their names, pickled.  Adds to
    `notes`."""
    tables = read_toml(path)
    if note := renamed_key(path, tables):
        notes.append(note)
    base = base_of(path, tables)
    return _spelled_out(path, pickle.dumps(tables), None if base is None else _tables(base, notes))


@functools.lru_cache(maxsize=64)
def _spelled_out(path: Path, own: bytes, base: bytes | None) -> bytes:
    """The tables `own` with those of `base`, all pickled; found once in a process for many recipes of an element."""
    tables: dict[str, object] = pickle.loads(own)
    if base is not None:
        tables = extended(path, tables, pickle.loads(base))
    return pickle.dumps(with_sets(path, tables))


def header_folders(element: Path) -> tuple[Path, ...]:
    """Where the C structs of an element's memory may be declared; the last one wins."""
    rooms = (folder for folder in sorted(shipped("contact_core").iterdir()) if folder.is_dir())
    return (*rooms, shared_folder(), element)


def _with_structs(path: Path, tables: dict[str, object]) -> dict[str, object]:
    """The size of memory that is a C struct, of the element's headers or the shared ones.  Raises InputError."""
    memory, problems = tables.get("memory"), []
    headers: Headers | None = None
    for name, entry in memory.items() if isinstance(memory, dict) else ():
        if isinstance(entry, dict) and isinstance(entry.get("struct"), str):
            if "size" in entry:
                problems.append(Problem(f"{path}: [memory] {name}", "size: the struct gives it, remove it"))
            headers = headers or headers_of(header_folders(path.parent))
            try:
                entry["size"] = count_doubles(entry["struct"], headers)
            except ValueError as error:
                problems.append(Problem(f"{path}: [memory] {name}", f"struct: {error}"))
    if problems:
        raise InputError(problems)
    return tables


def _read(path: Path) -> Declaration:
    notes: list[str] = []
    tables = _with_structs(path, _with_variants(path, pickle.loads(_tables(path, notes))))
    return _checked(path, pickle.dumps(tables), tuple(notes))


@functools.lru_cache(maxsize=64)
def _checked(path: Path, pickled: bytes, notes: tuple[str, ...]) -> Declaration:
    """The declaration of these tables, which is checked once in a process.  Raises InputError."""
    tables = pickle.loads(pickled)
    try:
        declaration = Declaration.model_validate(tables)
    except ValidationError as error:
        raise InputError(explain(path, error, Declaration)) from None
    declaration._notes = notes
    declaration._content = hashlib.sha256(repr(tables).encode()).hexdigest()
    problems = [] if path.is_relative_to(shipped("contact_core")) else _taken_groups(path, declaration)
    problems += declaration_problems(path, declaration)
    if problems:
        raise InputError(problems)
    return declaration


def _taken_groups(path: Path, declaration: Declaration) -> list[Problem]:
    return [
        Problem(f"{path}: [{table}] {name}", f"the group '{group}' belongs to contact_core: choose another name")
        for table in (*VARIABLE_TABLES, "ports")
        for name in getattr(declaration, table)
        if (group := name.partition(".")[0]) in CORE_GROUPS
    ]
