"""Where elements, contact_core and fmus are: below the installed package, else beside it in a checkout."""

from __future__ import annotations

import functools
import importlib.util
import re
import tomllib
from collections.abc import Iterable
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from fmu_builder.errors import InputError, Problem, did_you_mean
from fmu_builder.files import is_file

PACKAGE = Path(__file__).resolve().parent  # templates, guide and, once installed, what is shipped lie below it


def shipped(folder: str) -> Path:
    """The folder `elements`, `contact_core` or `fmus` of this installation."""
    below = PACKAGE / folder
    return below if below.is_dir() else PACKAGE.parent / folder


def shared_folder() -> Path:
    """Shared parts of elements: C headers, and declarations of groups of variables."""
    return shipped("elements") / "shared"


def is_shipped(path: Path) -> bool:
    """Whether it is a recipe of the catalogue, or another file of the installed package."""
    parents = path.resolve().parents
    return PACKAGE in parents or shipped("fmus").resolve() in parents


def find_element(element: str, beside: Path, where: str, others: Iterable[str] = ()) -> Path:
    """The folder of an element: a path from the folder `beside`, or `elements/<name>` in that, then upwards, then in
    the installation.  `others` are other names that would do.  Raises InputError at `where` naming the places looked
    at."""
    if "/" in element or "\\" in element:
        folder = (beside / element).resolve()
        if not (folder / "element.toml").is_file():
            raise InputError(Problem(where, f"'{element}' is no folder with an element.toml"))
        return folder
    start = beside.resolve()
    places = [parent / "elements" for parent in (start, *start.parents)] + [shipped("elements")]
    for place in places:
        if (place / element / "element.toml").is_file():
            return place / element
    known = {folder.parent.name for place in places for folder in place.glob("*/element.toml")}
    what = f"there is no element '{element}' in elements/ of {start}, of the folders above it, or of the installation"
    raise InputError(Problem(where, what + did_you_mean(element, known.union(others))))


def find_recipe(name: str, beside: Path | None = None, cases: Iterable[str] = ()) -> Path:
    """A recipe or system by path, or by its name in the catalogue (`PointMass`, `systems/...`).

    `beside` is the folder a scenario lies in: its recipes come before those of the catalogue.  `cases` are other names
    that would do.  Raises InputError."""
    as_path = Path(name)
    if as_path.suffix == ".toml":
        candidate = as_path if as_path.is_absolute() or beside is None else beside / as_path
        if is_file(candidate):
            return candidate
        near = did_you_mean(candidate.stem, {p.stem for p in candidate.parent.glob("*.toml") if p.is_file()})
        raise InputError(Problem(str(candidate), "there is no such file" + near))
    folders = ([beside] if beside else [Path.cwd(), Path.cwd() / "fmus"]) + [shipped("fmus")]
    for folder in (*folders, _probes(), _former()):
        if is_file(folder / f"{name}.toml"):
            return folder / f"{name}.toml"
    others = {*cases}
    near = did_you_mean(name, others.union(path.stem for folder in folders for path in folder.glob("*.toml")))
    what = f"there is no recipe {'or case ' if others else ''}of this name"
    raise InputError(Problem(name, what + (near or "; `fmu-builder list` shows them")))


def _probes() -> Path:
    """The folder of recipes of probes that do not fit into the catalogue: of 10,000 variables, without capabilities."""
    return shipped("fmus") / "probes"


def _former() -> Path:
    """The folder of recipes that the catalogue no longer has; a version later they go."""
    return shipped("fmus") / "former"


def former_note(recipe: Path) -> str:
    """The note for users of a recipe that has left the catalogue; empty for other recipes."""
    if recipe.resolve().parent != _former().resolve():
        return ""
    plain = recipe.stem.removesuffix("Coupled")
    return (
        f"{recipe.stem} is no longer in the catalogue, and the next version refuses it: {plain} has the group coupling "
        "as well, with mode auto"
    )


def catalogue() -> list[Path]:
    """The shipped recipes, sorted by name."""
    return sorted(shipped("fmus").glob("*.toml"))


def own_elements() -> list[Path]:
    """The folders of elements below `elements` of the current folder and of those above it, nearest first, without the
    shipped ones: those that a recipe here may name."""
    here, ours = Path.cwd(), shipped("elements").resolve()
    places = [folder / "elements" for folder in (here, *here.parents) if (folder / "elements").resolve() != ours]
    found: dict[str, Path] = {}
    for place in places:
        for path in sorted(place.glob("*/element.toml")):
            found.setdefault(path.parent.name, path.parent)
    return list(found.values())


def shipped_elements() -> list[Path]:
    """The folders of the shipped elements, sorted by name."""
    return sorted(path.parent for path in shipped("elements").glob("*/element.toml"))


def is_shipped_element(folder: Path) -> bool:
    return folder.resolve() in {one.resolve() for one in shipped_elements()}


def load_module(path: Path) -> ModuleType:
    """A Python file that stands outside of any package, as a module of its own each time."""
    spec = _spec(path)
    module = importlib.util.module_from_spec(spec)
    state = path.stat()
    exec(_code(path, state.st_mtime_ns, state.st_size), module.__dict__)
    return module


@functools.lru_cache(maxsize=64)
def _code(path: Path, changed: int, size: int) -> CodeType:
    """The compiled file, which is read again after a change: structure.py of an element runs for each recipe of it."""
    loader = _spec(path).loader
    assert isinstance(loader, SourceFileLoader)
    code = loader.get_code(loader.name)
    assert code is not None
    return code


def _spec(path: Path) -> ModuleSpec:
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None  # a file path always has one
    return spec


@functools.cache
def own_version() -> str:
    """The installed version; in a checkout that is run without being installed, the one it would be installed with."""
    try:
        return version("fmu-builder")
    except PackageNotFoundError:
        return f"{_project()['version']} (not installed)"


def dependencies() -> list[str]:
    """The names of the packages that this one needs."""
    try:
        listed = requires("fmu-builder") or []
    except PackageNotFoundError:
        listed = _project()["dependencies"]
    return sorted(re.split(r"[^\w.-]", one)[0] for one in listed if "extra ==" not in one)


def _project() -> dict[str, Any]:
    """The table [project] of pyproject.toml in a checkout."""
    text = (shipped("fmus").parent / "pyproject.toml").read_text(encoding="utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    return project


def installed_version(package: str) -> str:
    """The version of a package, or `not installed`: a checkout runs without being installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
