"""What compiler and linker say about the C of an element, as a message about the files of the element."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from fmu_builder.errors import FmuBuilderError, InputError, Problem, ToolError, listed
from fmu_builder.export.generate import own_sources
from fmu_builder.model.model import Model
from fmu_builder.paths import is_shipped_element

_FAULT = re.compile(r"^(?P<file>.+?):\d+:\d+: (?:fatal )?error", re.MULTILINE)
# of the linkers of Linux, Windows and macOS, which has _name for a name of C; of GNU
_NO_SYMBOL = re.compile(r"undefined (?:symbol: |reference to [`'])(\w+)")
_NOT_THERE = (
    "is defined nowhere: an FMU has no C library; define it, or call a function of contact_core, such as cc_sqrt "
    "(`fmu-builder guide`, reference of an element)"
)


def explained(error: ToolError, model: Model) -> FmuBuilderError:
    """The error of a compiler: an InputError where it is on the C of an element that is not shipped."""
    text = _with_paths(str(error), model)
    own = [folder for folder in model.folders().values() if not is_shipped_element(folder)]
    files = [Path(found["file"]) for found in _FAULT.finditer(text)]
    if any(folder in file.parents or file.name == "element_run.h" for file in files for folder in own):
        return InputError(Problem(str(model.path), text))
    if own and not files and (missing := list(dict.fromkeys(_NO_SYMBOL.findall(text)))):
        return InputError(_without_definition(name, own) for name in missing)
    return ToolError(text)


def _with_paths(message: str, model: Model) -> str:
    """A compiler's message about the copy of an element's file, turned into one about the file itself."""
    for copy, folder in model.folders().items():
        for path in own_sources(folder):
            place = f"{copy}{path.relative_to(folder).as_posix()}"
            name = re.compile(rf"(?<![\w./\\])(?:\./)?{re.escape(place)}(?=:\d+:)")
            message = name.sub(str(path).replace("\\", r"\\"), message)
    return message


def _without_definition(symbol: str, own: list[Path]) -> Problem:
    """The lines that name what the linker does not find; without any, such as of a call that a macro makes, the files
    where an element begins."""
    for name, behind in itertools.product((symbol, symbol.removeprefix("_")), (r"\s*\(", "")):
        word = re.compile(rf"(?<![\w.])(?:__builtin_)?{re.escape(name)}\b{behind}")
        if places := [place for folder in own for path in own_sources(folder) for place in _lines(path, word)]:
            return Problem(places[0], f"'{name}' {_NOT_THERE}" + _elsewhere(places[1:]))
    return Problem(", ".join(str(folder / "element.c") for folder in own), f"'{symbol}' {_NOT_THERE}")


def _elsewhere(places: list[str]) -> str:
    return f"; also in {listed(places, 5)}" if places else ""


def _lines(path: Path, word: re.Pattern[str]) -> Iterator[str]:
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if word.search(line):
            yield f"{path}:{number}"
