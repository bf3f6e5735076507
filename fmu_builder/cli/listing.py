"""`list`: elements, FMUs and cases, one line each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from fmu_builder.cli.printing import line, out
from fmu_builder.cosim.validation import all_cases, own_cases
from fmu_builder.errors import InputError
from fmu_builder.model.declaration_reader import read_declaration
from fmu_builder.model.loader import load_model
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import catalogue, own_elements, shipped, shipped_elements


def list_all(as_json: bool) -> None:
    """Print what is shipped and what is in ./elements and ./fmus."""
    elements = {folder.name: _of_element(folder) for folder in shipped_elements()}
    elements |= {folder.name: _or_fault(_of_element, folder) for folder in own_elements()}
    recipes = {path.stem: _of_shipped(path) for path in catalogue()}
    own = sorted(Path("fmus").glob("*.toml")) if Path("fmus").resolve() != shipped("fmus").resolve() else []
    recipes |= {path.stem: _or_fault(_of_recipe, path) for path in own}
    cases = {name: _of_case(path) for name, path in all_cases().items()}
    cases |= {name: _or_fault(_of_case, path) for name, path in own_cases().items()}
    if as_json:
        print(json.dumps({"elements": elements, "fmus": recipes, "cases": cases}, indent=2))
        return
    width = max(map(len, (*elements, *recipes, *cases)))
    for title, items in (("elements", elements), ("FMUs", recipes), ("cases", cases)):
        out.print(title, style="bold")
        for name, text in items.items():
            line(f"  {name:{width}}  {text}")


def _of_element(folder: Path) -> str:
    return read_declaration(folder).description


def _of_shipped(path: Path) -> str:
    """Of a recipe without faults: its own description, else that of its element."""
    given = read_toml(path).get("description")
    return given if isinstance(given, str) else _of_recipe(path)


def _of_recipe(path: Path) -> str:
    return load_model(path).description


def _of_case(path: Path) -> str:
    return str(read_toml(path).get("description", ""))


def _or_fault(read: Callable[[Path], str], path: Path) -> str:
    """What is read, or why it cannot be: one faulty file of a user must not hide all others."""
    try:
        return read(path)
    except InputError as error:
        return f"faulty: {error.problems[0]}"
