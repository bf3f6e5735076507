"""Files of recipes and scenarios: what they may be called, and which key says what one is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from fmu_builder.c_names import WORDS_OF_C
from fmu_builder.errors import Problem
from fmu_builder.model.toml_files import SYSTEM_KEYS, read_toml

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# names that Windows keeps for devices, in any case and with any suffix: a library con.dll cannot be unpacked there
DEVICES = frozenset({"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)})
_LONGEST_NAME = 200  # of 255 bytes that file systems allow


def camel_case(element: str) -> str:
    """The usual name of a recipe of an element: `demo_spring` becomes `DemoSpring`."""
    return "".join(part.capitalize() for part in element.split("_"))


def name_problems(path: Path) -> list[Problem]:
    """What is wrong with the name of a recipe's file, which names the FMU and its libraries."""
    if not IDENTIFIER.fullmatch(path.stem):
        what = f"the file stem '{path.stem}' is the model identifier, so it must be a C identifier"
        return [Problem(str(path), f"{what}: letters without accents, digits and _, a letter first; rename the file")]
    if len(path.stem) > _LONGEST_NAME:
        what = f"the file stem has {len(path.stem)} characters; libraries and temporary files get longer names of it"
        return [Problem(str(path), f"{what}, so at most {_LONGEST_NAME} are allowed; rename the file")]
    if path.stem in WORDS_OF_C:
        what = f"the file stem '{path.stem}' is the model identifier, and a keyword of C, which no identifier may be"
        return [Problem(str(path), f"{what}; rename the file")]
    if path.stem.casefold() in DEVICES:
        what = f"'{path.stem}' is the name of a device on Windows, where no FMU of this name can be unpacked"
        return [Problem(str(path), f"{what}; rename the file")]
    return []


def _kind_of(tables: Mapping[str, object]) -> tuple[str, str]:
    """Which of `element`, `parts` and `slaves` a file has, and how it is spelt there; ("", "") for none."""
    for kind in SYSTEM_KEYS:
        if kind in tables:
            return kind, kind
    for key in tables:
        if near := get_close_matches(key, SYSTEM_KEYS, n=1, cutoff=0.75):
            return near[0], key
    return "", ""


def file_kind(path: Path) -> str:
    """`element`, `parts` or `slaves`, whichever a file has; "" for none.  Raises InputError for what is no TOML."""
    return _kind_of(read_toml(path))[0]


def correct_kind(path: Path, tables: dict[str, object], problems: list[Problem]) -> str:
    """The kind of a file; its misspelt key is named and put right, so that the rest can be checked."""
    kind, spelt = _kind_of(tables)
    if kind != spelt:
        problems.append(Problem(f"{path}: {spelt}", f"this key is unknown; did you mean '{kind}'?"))
        tables[kind] = tables.pop(spelt)
    return kind


def is_recipe(path: Path) -> bool:
    """Whether a file is a recipe, of an element or an assembly, and no scenario.  Raises InputError as file_kind."""
    return file_kind(path) in ("element", "parts")
