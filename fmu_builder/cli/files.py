"""The files that commands are given: recipes and scenarios by name, and places for what is written."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fmu_builder.errors import InputError, Problem, ToolError
from fmu_builder.files import is_stream, no_page, no_place, real_place
from fmu_builder.paths import find_recipe

if TYPE_CHECKING:
    from fmu_builder.model.scenario import CheckedScenario


def find(name: str, what: str, cases: Iterable[str] = ()) -> Path:
    """A recipe or scenario by file or name; `what` names the kind in the error, `cases` are other names that would
    do.  Raises InputError, where the name is that of a case with the commands that take it."""
    if not name or Path(name).is_dir():
        raise InputError(Problem(name or "''", f"is {'a folder' if name else 'no name'}; give {what}"))
    try:
        return find_recipe(name, cases=cases)
    except InputError:
        if Path(name).is_file() and Path(name).suffix != ".toml":
            raise InputError(Problem(name, f"is a file of another kind; give {what}")) from None
        found = [*_cases_named(name, _known_cases())]
        if len(found) == 1:
            what = "is a case, a system of FMUs: `run` runs it, `show` draws it, `build --assembly` makes one FMU"
            raise InputError(Problem(name, what)) from None
        if found:
            raise InputError(Problem(name, f"is the name of the cases {', '.join(found)}; name one of them")) from None
        raise


def find_scenario(name: str) -> Path:
    """An .fmu, a scenario, an SSP archive, a recipe, or a case of this name."""
    if Path(name).suffix in (".fmu", ".ssp", ".toml"):
        return Path(name)
    known = _known_cases()
    cases = [*_cases_named(name, known).values()]
    if len(cases) == 1 and not any(Path(folder, f"{name}.toml").is_file() for folder in (".", "fmus")):
        return cases[0]
    what = "a scenario (.toml), an .fmu, an .ssp, or the name of a recipe or case"
    return find(name, what, [case.partition("/")[2] for case in known])


def _known_cases() -> dict[str, Path]:
    from fmu_builder.cosim.validation import all_cases, own_cases  # a build needs none of the master

    return all_cases() | own_cases()


def _cases_named(name: str, known: Mapping[str, Path]) -> dict[str, Path]:
    """The cases of the name `element/case`, or `case`."""
    return {case: path for case, path in known.items() if name in (case, case.partition("/")[2])}


def check_outputs(*targets: tuple[str, Path | None]) -> None:
    """Whether the files (option, path) can be written, checked before a long run and not after it.  Without an option:
    a file that is read, or written beside another.

    Raises InputError for a path that is a folder, `-`, or given twice; ToolError for a folder that cannot be written
    to."""
    given = [(option, path) for option, path in targets if path is not None]
    count = Counter(real_place(path) for _, path in given if not is_stream(path))
    wrong = [
        Problem(option, f"'{path}' is a folder; name a file in it")
        for option, path in given
        if option and path.is_dir()
    ]
    wrong += [
        Problem(option, "'-' is no name of a file, and nothing is written to the standard output; name a file")
        for option, path in given
        if option and str(path) == "-"
    ]
    wrong += [
        Problem(option, f"'{path}' is written by another option as well, or read; choose another name")
        for option, path in given
        if count[real_place(path)] > 1 and option
    ]
    if wrong:
        raise InputError(wrong)
    refused = []
    for option, path in given:
        if is_stream(path):
            continue
        if option and (what := no_place(path)):
            refused.append(Problem(option, what))
    if refused:
        raise ToolError(refused)


def check_page(option: str, path: Path | None) -> None:
    """Whether a page of HTML is written under a name that says so, checked when nothing else is wrong with it."""
    check_endings((option, path, no_page))


def check_endings(*targets: tuple[str, Path | None, Callable[[Path], str]]) -> None:
    """As check_page, of files (option, path) of any kind.   Third: what is wrong with the name of one"""
    wrong = [Problem(option, what) for option, path, fault in targets if path is not None and (what := fault(path))]
    if wrong:
        raise InputError(wrong)


def named_files(scenario: CheckedScenario) -> list[Path]:
    """The files that a scenario names and no output may replace: recipes, FMUs, tables of drives, and the reference,
    which a run may still have to make."""
    folder = scenario.path.parent
    found = [folder / drive.table for drive in scenario.drive.values() if drive.table is not None]
    if scenario.reference is not None:
        found += [folder / scenario.reference.file, folder / f"{scenario.reference.file}.json"]
    for entry in scenario.slaves.values():
        with suppress(InputError):  # reported where it is read
            found.append(folder / entry.recipe if entry.recipe.endswith(".fmu") else find_recipe(entry.recipe, folder))
    return [scenario.path, *(path for path in found if path.is_file())]


def make_folder_of(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ToolError(Problem(str(path.parent), f"cannot be made: {error.strerror}")) from error


def show_page(page: Path) -> bool:
    """Open a page in the browser if started from a terminal on a machine with a display."""
    if sys.platform in ("win32", "darwin"):
        display = "SSH_CONNECTION" not in os.environ
    else:
        display = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return sys.stdout.isatty() and display and webbrowser.open(page.resolve().as_uri())
