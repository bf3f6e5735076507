"""The modules of fmu_builder, and the Python of elements, core and catalogue: each says what it holds and is short, and
each package offers what it lists.

The order of the packages is a contract of import-linter in pyproject.toml."""

from __future__ import annotations

import ast
import functools
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import fmu_builder
from fmu_builder.paths import shipped

PACKAGE = Path(fmu_builder.__file__).parent
BESIDE = {
    "templates",
    "elements",
    "contact_core",
    "fmus",
}  # folders that are no packages; the last three when installed
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if BESIDE.isdisjoint(path.relative_to(PACKAGE).parts)]
PACKAGES = [path.parent for path in MODULES if path.name == "__init__.py"]
MOST_LINES = 500
ONE_THING = ("One table", "One family of functions")  # of which a module may hold more lines, and then says so

BESIDE_THE_PACKAGE = [
    path for name in ("elements", "contact_core", "fmus") for path in sorted(shipped(name).rglob("*.py"))
]
TEXTS = {path.as_posix(): path.read_text(encoding="utf-8") for path in (*MODULES, *BESIDE_THE_PACKAGE)}


@functools.cache
def docstrings() -> dict[str, str]:
    return {name: ast.get_docstring(ast.parse(text)) or "" for name, text in TEXTS.items()}


def test_every_module_says_in_its_first_line_what_it_holds() -> None:
    firsts = {name: text.partition("\n")[0] for name, text in docstrings().items()}
    assert not {name: first for name, first in firsts.items() if not first.endswith((".", ":"))}


def test_every_module_is_short_or_says_that_it_is_one_thing() -> None:
    long = {name for name, text in TEXTS.items() if len(text.splitlines()) > MOST_LINES}
    assert not {name for name in long if not any(words in docstrings()[name] for words in ONE_THING)}


@pytest.mark.parametrize("folder", PACKAGES, ids=lambda folder: folder.name)
def test_a_package_offers_what_it_lists(folder: Path) -> None:
    package = importlib.import_module(".".join(folder.relative_to(PACKAGE.parent).parts))
    listed = getattr(package, "__all__", ())  # a package inside one of the wings may list nothing
    assert not [name for name in listed if not hasattr(package, name)]
    assert set(listed) <= set(dir(package))
    modules = {path.stem for path in folder.iterdir()}
    assert modules.isdisjoint(listed), "once the module is imported, its name is that of the module"
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = package.nonsense


def loaded_by(module: str) -> set[str]:
    """All modules that Python has imported with this one."""
    script = f"import sys, {module}; print(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_the_package_loads_no_library_before_it_is_used() -> None:
    packages = {name.partition(".")[0] for name in loaded_by("fmu_builder")}
    assert not {"numpy", "scipy", "fmpy", "lxml", "pydantic", "jinja2", "plotly"} & packages


def test_a_build_loads_nothing_of_the_master() -> None:
    assert not [name for name in loaded_by("fmu_builder.cli.building") if name.startswith("fmu_builder.cosim")]


@pytest.mark.parametrize("name", ["structure", "trace"])
def test_a_former_place_offers_the_same_names_and_says_where_they_are(name: str) -> None:
    sys.modules.pop(f"fmu_builder.{name}", None)
    with pytest.warns(FutureWarning, match=f"fmu_builder.{name}: write `from fmu_builder") as shown:
        former = importlib.import_module(f"fmu_builder.{name}")
    home = importlib.import_module(str(shown[0].message).split("`from ")[1].split()[0])
    assert all(getattr(former, one) is getattr(home, one) for one in former.__all__)
