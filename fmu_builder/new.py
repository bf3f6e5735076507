"""`fmu-builder new NAME`: a new element that builds, runs and validates before any edit."""

from __future__ import annotations

import re
import runpy
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from fmu_builder.errors import InputError, Problem, ToolError, none_of
from fmu_builder.files import staged
from fmu_builder.model.file_kinds import DEVICES, camel_case
from fmu_builder.model.ports import PORT_KINDS, SIDES
from fmu_builder.model.recipe import LANGUAGES
from fmu_builder.paths import shipped

_TEMPLATES = Path(__file__).resolve().parent / "templates" / "new_element"  # one folder for each kind and side
_PROTOTYPE = _TEMPLATES.with_name("new_prototype")  # what differs where the physics is Python
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_LONGEST = 50  # characters; the name is part of paths, which Windows cuts at 260


def case_of(side: str) -> str:
    """The case that an element of this side comes with: a body swings on it, or it is a body that is pushed."""
    return "oscillation" if side == "force" else "push"


def new_element(name: str, folder: Path, python: bool = False, port: str = "point", side: str = "force") -> list[Path]:
    """Write elements/<name>/ and fmus/<Name>.toml into the folder; returns what was written.

    python      the physics is element.py, a prototype, in place of element.c.  Where the element is there in the other
                language, as it was written, it gets this one too, with a recipe <Name>Python.toml or <Name>C.toml
    port, side  kind of its port, and whether it is a force element or a body

    Raises InputError if the name is unusable or something of this name exists, ToolError if the folder cannot be
    written to; then nothing was written."""
    _check_name(name)
    _check_port(port, side)
    element, recipe = folder / "elements" / name, folder / "fmus" / f"{camel_case(name)}.toml"
    template = _TEMPLATES / f"{port}_{side}"
    if _lacks_language(element, template, python):
        return _add_language(name, element, recipe, template, python)
    what = "exists already; choose another name or move it away"
    taken = [Problem(str(path), what) for path in (element, recipe) if path.exists() or path.is_symlink()]
    if (element / _physics(not python)).is_file() and not (element / _physics(python)).exists():
        own = f"has not the element.toml of the template, so {_physics(python)} of the template does not fit: write it"
        taken.insert(0, Problem(str(element), own))
    if taken:
        raise InputError(taken)
    made = [path for path in (element.parent, recipe.parent) if not path.exists()]
    try:
        for path in (element.parent, recipe.parent):
            path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=element.parent) as temporary:
            draft = Path(temporary) / name
            _fill(draft, name, template, python)
            (draft / "recipe.toml").replace(recipe)
            try:
                draft.replace(element)
            except OSError:
                recipe.unlink()
                raise
    except BaseException as error:
        for path in made:
            with suppress(OSError):  # it was not made, or is not empty any more
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
    elif name in DEVICES:
        what = f"'{name}' is the name of a device on Windows; choose another name"
    elif (shipped("elements") / name).exists() or (shipped("fmus") / f"{camel_case(name)}.toml").exists():
        what = f"'{name}' is an element or FMU of fmu-builder, which yours would hide; choose another name"
    else:
        return
    raise InputError(Problem("NAME", what))


def _check_port(port: str, side: str) -> None:
    given = (("--port", port, tuple(PORT_KINDS)), ("--side", side, SIDES))
    problems = [Problem(option, none_of(value, known)) for option, value, known in given if value not in known]
    if problems:
        raise InputError(problems)


def _physics(python: bool) -> str:
    return LANGUAGES["python" if python else "c"]


def _lacks_language(element: Path, template: Path, python: bool) -> bool:
    """Whether the element is there with the declaration of this template, and in the other language only."""
    declared, other = element / "element.toml", element / _physics(not python)
    if not declared.is_file() or not other.is_file() or (element / _physics(python)).exists():
        return False
    return declared.read_bytes() == (template / "element.toml").read_bytes()


def _add_language(name: str, element: Path, recipe: Path, template: Path, python: bool) -> list[Path]:
    """The physics of the template in the other language, and a recipe that takes it."""
    language = "python" if python else "c"
    second = recipe.with_name(f"{camel_case(name)}{language.capitalize()}.toml")
    if second.exists() or second.is_symlink():
        raise InputError(Problem(str(second), "exists already; choose another name or move it away"))
    physics = element / _physics(python)
    texts = {physics: (template / physics.name).read_text(encoding="utf-8"), second: _recipe(name, template, language)}
    try:
        with staged(*texts) as drafts:
            for draft, text in zip(drafts, texts.values(), strict=True):
                draft.write_text(text, encoding="utf-8")
    except OSError as error:
        what = f"cannot be written to: {error.strerror or error}"
        raise ToolError(Problem(str(element.parent.parent), what)) from error
    return sorted(texts)


def _recipe(name: str, template: Path, language: str) -> str:
    """A recipe of the template; one for C names it only beside another language."""
    own = template / "recipe.toml"
    text = (own if own.is_file() else _TEMPLATES / "recipe.toml").read_text(encoding="utf-8")
    text = text.replace('"@name@"\n', f'"@name@"\nlanguage = "{language}"\n', 1) if language else text
    return _named(text, name, template)


def _named(text: str, name: str, template: Path) -> str:
    """A text of the templates with what its marks stand for."""
    about, law = _headline(template)
    case = case_of(template.name.rpartition("_")[2])
    marks = {"name": name, "Name": camel_case(name), "about": about, "law": law, "case": case}
    for mark, value in marks.items():
        text = text.replace(f"@{mark}@", value)
    return text


def _headline(template: Path) -> tuple[str, str]:
    """What the element is, and its law, from the first line of its physics."""
    first = (template / "element.c").read_text(encoding="utf-8").splitlines()[0]
    about, _, law = first.removeprefix("/* ").partition(".   ")
    return about, " ".join(law.split())


def _fill(folder: Path, name: str, template: Path, python: bool) -> None:
    """The folder of the element, with its recipe in it."""
    shutil.copytree(template, folder, ignore=shutil.ignore_patterns("__pycache__", _physics(not python)))
    shutil.copy((_PROTOTYPE if python else _TEMPLATES) / "README.md", folder)
    (folder / "recipe.toml").write_text(_recipe(name, template, "python" if python else ""), encoding="utf-8")
    for path in (p for p in folder.rglob("*") if p.is_file()):
        path.write_text(_named(path.read_text(encoding="utf-8"), name, template), encoding="utf-8")
    for script in folder.glob("cases/*_ref.py"):
        runpy.run_path(str(script), run_name="__main__")
