"""`fmu-builder new NAME`: an element of one's own that builds, runs and validates before a line of it was changed."""

from __future__ import annotations

import re
import runpy
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from fmu_builder.errors import InputError, Problem, ToolError
from fmu_builder.paths import shipped

_TEMPLATE = Path(__file__).resolve().parent / "templates" / "new_element"
_PROTOTYPE = _TEMPLATE.with_name("new_prototype")  # what differs where the physics is Python
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_LONGEST = 50  # characters; the name is part of paths, which Windows cuts at 260
_DEVICES = {"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)}


def camel_case(name: str) -> str:
    """`demo_spring` becomes `DemoSpring`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def new_element(name: str, folder: Path, python: bool = False) -> list[Path]:
    """Write elements/<name>/ and fmus/<Name>.toml into the folder; returns what was written.

    python  the physics is element.py, a prototype, in place of element.c

    Raises InputError if the name is unusable or something of this name exists, ToolError if the folder cannot be
    written to; then nothing was written."""
    _check_name(name)
    element, recipe = folder / "elements" / name, folder / "fmus" / f"{camel_case(name)}.toml"
    taken = [
        Problem(str(path), "exists already; choose another name or move it away")
        for path in (element, recipe)
        if path.exists() or path.is_symlink()
    ]
    if taken:
        raise InputError(taken)
    made = [path for path in (element.parent, recipe.parent) if not path.exists()]
    try:
        for path in (element.parent, recipe.parent):
            path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=element.parent) as temporary:
            draft = Path(temporary) / name
            _fill(draft, name, python)
            (draft / "recipe.toml").replace(recipe)
            try:
                draft.replace(element)
            except OSError:
                recipe.unlink()
                raise
    except BaseException as error:
        for path in made:
            with suppress(OSError):  # it was not made, or somebody else put something there
                path.rmdir()
        if isinstance(error, OSError):
            raise ToolError(Problem(str(folder), f"cannot be written to: {error.strerror or error}")) from error
        raise
    return sorted([recipe, *(path for path in element.rglob("*") if path.is_file())])


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        parts = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)
        proposal = "_".join(part.lower() for part in parts).lstrip("0123456789_")
        repair = f"; how about '{proposal}'?" if _NAME.fullmatch(proposal) else ", such as 'demo_spring'"
        what = f"'{name}' must be lower case words joined by _: it names a folder and C code{repair}"
    elif len(name) > _LONGEST:
        what = f"'{name}' has {len(name)} characters, at most {_LONGEST} are possible"
    elif name in _DEVICES:
        what = f"'{name}' is the name of a device on Windows; choose another name"
    elif (shipped("elements") / name).exists() or (shipped("fmus") / f"{camel_case(name)}.toml").exists():
        what = f"'{name}' is an element or FMU of fmu-builder, which yours would hide; choose another name"
    else:
        return
    raise InputError(Problem("NAME", what))


def _fill(folder: Path, name: str, python: bool) -> None:
    shutil.copytree(_TEMPLATE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    if python:
        (folder / "element.c").unlink()
        shutil.copytree(_PROTOTYPE, folder, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    for path in (p for p in folder.rglob("*") if p.is_file()):
        text = path.read_text(encoding="utf-8").replace("@name@", name).replace("@Name@", camel_case(name))
        path.write_text(text, encoding="utf-8")
    runpy.run_path(str(folder / "cases" / "oscillation_ref.py"), run_name="__main__")
