"""Which recipes of the catalogue differ in more than numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import catalogue, shipped


def forms() -> list[str]:
    """The first recipe of each form: of an element with the same tables, the same choices in [structure] and the same
    kind of surface, or of assemblies of the same elements.  Others have the same files, with other numbers in them."""
    found: dict[tuple[str, ...], str] = {}
    for path in catalogue():
        found.setdefault(form_of(read_toml(path), path), path.stem)
    return sorted(found.values())


def first_of_each_element() -> list[str]:
    """The first recipe of each element of the catalogue."""
    found: dict[str, str] = {}
    for path in catalogue():
        found.setdefault(read_toml(path).get("element", ""), path.stem)
    return sorted(name for element, name in found.items() if element)


def form_of(recipe: dict[str, Any], path: Path) -> tuple[str, ...]:
    """What two recipes of one form have in common.   path: of the recipe, parts of an assembly lie beside it"""
    surface = recipe.get("surface", {}).get("kind", "")
    tables = sorted(name for name in recipe if isinstance(recipe[name], dict) and name not in ("start", "parts"))
    chosen = sorted(choice(key, value) for key, value in recipe.get("structure", {}).items())
    parts = sorted({element_of(part, path) for part in recipe.get("parts", {}).values()})
    return (recipe.get("element", ""), surface, *tables, *chosen, *parts)


def choice(key: str, value: Any) -> str:
    """A choice of [structure] selects other C; of a size it matters that there is one, since it makes arrays."""
    return key if type(value) is int else f"{key} = {value}"


def element_of(part: Any, assembly: Path) -> str:
    """The element of a part, "" for an assembly as a part."""
    name = part if isinstance(part, str) else part["recipe"]
    beside = (folder / f"{Path(name).with_suffix('')}.toml" for folder in (assembly.parent, shipped("fmus")))
    return str(read_toml(next(path for path in beside if path.is_file())).get("element", ""))
