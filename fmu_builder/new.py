"""`fmu-builder new NAME`: an element of one's own that builds, runs and validates before a line of it was changed."""

from __future__ import annotations

import re
import runpy
import shutil
import tempfile
from pathlib import Path

from fmu_builder.errors import InputError, Problem, ToolError

_TEMPLATE = Path(__file__).resolve().parent / "templates" / "new_element"


def camel_case(name: str) -> str:
    """`demo_spring` becomes `DemoSpring`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def new_element(name: str, folder: Path) -> list[Path]:
    """Write elements/<name>/ and fmus/<Name>.toml into the folder; returns what was written.

    Raises InputError if the name is unusable or something of this name exists; then nothing was written."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise InputError(
            Problem(
                "NAME",
                f"'{name}' must be lower case words joined by _, such as 'demo_spring'; it names a folder and C code",
            )
        )
    element, recipe = folder / "elements" / name, folder / "fmus" / f"{camel_case(name)}.toml"
    taken = [
        Problem(str(path), "exists already; choose another name or move it away")
        for path in (element, recipe)
        if path.exists()
    ]
    if taken:
        raise InputError(taken)
    try:
        element.parent.mkdir(parents=True, exist_ok=True)
        recipe.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=element.parent) as temporary:
            draft = Path(temporary) / name
            _fill(draft, name)
            (draft / "recipe.toml").replace(recipe)
            draft.replace(element)
    except OSError as error:
        raise ToolError(Problem(str(folder), f"cannot be written to: {error.strerror}")) from error
    return sorted([recipe, *(path for path in element.rglob("*") if path.is_file())])


def _fill(folder: Path, name: str) -> None:
    shutil.copytree(_TEMPLATE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (p for p in folder.rglob("*") if p.is_file()):
        text = path.read_text(encoding="utf-8").replace("@name@", name).replace("@Name@", camel_case(name))
        path.write_text(text, encoding="utf-8")
    runpy.run_path(str(folder / "cases" / "oscillation_ref.py"), run_name="__main__")
