"""The generated parts of guide/python.md and guide/fitting.md, written by `python -m fmu_builder.api_docs`.

They are the public names and modules of the package, from their docstrings, and the keys of a fit."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import FunctionType

import fmu_builder
from fmu_builder.export.element_docs import field_table, with_sections, write_text
from fmu_builder.facade import homes
from fmu_builder.fitting.tables import FitMeasurement, FitMethod, FitParameter
from fmu_builder.model.table_model import TableModel
from fmu_builder.paths import PACKAGE

PACKAGE_NAME = fmu_builder.__name__
WITH_MEMBERS = ("modelica", "recording", "testing")
PUBLIC_MODULES = ("model", *WITH_MEMBERS)  # of `model` element-reference.md says more
_MEMBERS = (FunctionType, property, cached_property, classmethod, staticmethod)
PAGE, FITTING = PACKAGE / "guide" / "python.md", PACKAGE / "guide" / "fitting.md"


def api_text() -> str:
    """guide/python.md with the public names as they are now."""
    entries = [line for name in fmu_builder.__all__ if not name.startswith("__") for line in _entry(name)]
    modules = [line for name in PUBLIC_MODULES for line in _module(name)]
    return with_sections(PAGE, {"api": "\n".join(entries).rstrip, "modules": "\n".join(modules).rstrip})


def fitting_text() -> str:
    """guide/fitting.md with the keys of a fit as they are now."""
    tables: tuple[tuple[str, type[TableModel]], ...] = (
        ("parameter", FitParameter),
        ("measurement", FitMeasurement),
        ("method", FitMethod),
    )
    sections = {name: "\n".join(field_table(table)).rstrip for name, table in tables}
    return with_sections(FITTING, sections)


def public_members(thing: type) -> Iterator[tuple[str, object]]:
    """Methods and properties of a class, and what it inherits of bases that are no public names."""
    seen: set[str] = set()
    for base in thing.__mro__:
        if not base.__module__.startswith(PACKAGE_NAME) or (base is not thing and _is_public(base)):
            continue
        for name, member in vars(base).items():
            if not name.startswith("_") and name not in seen and isinstance(member, _MEMBERS):
                seen.add(name)
                yield name, member


def text_of(package: str, name: str) -> str:
    """The docstring of a public name; of an alias of a type the text below it."""
    thing = getattr(importlib.import_module(package), name)
    if inspect.isfunction(thing) or isinstance(thing, type):
        return inspect.getdoc(thing) or ""
    home = importlib.import_module(homes(package)[name])
    lines = ast.parse(inspect.getsource(home)).body
    for one, below in pairwise(lines):
        is_it = isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == name
        if is_it and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            return inspect.cleandoc(str(below.value.value))
    return ""


def _is_public(thing: type) -> bool:
    return getattr(fmu_builder, thing.__name__, None) is thing if thing.__name__ in fmu_builder.__all__ else False


def _entry(name: str) -> Iterator[str]:
    thing = getattr(fmu_builder, name)
    yield f"### {name}"
    yield ""
    if inspect.isfunction(thing):
        yield from _code(f"{name}{_signature(thing)}")
    yield from (f"    {line}".rstrip() for line in text_of(PACKAGE_NAME, name).splitlines())
    yield ""
    if not isinstance(thing, type):
        return
    if issubclass(thing, TableModel):
        yield from field_table(thing)
        yield ""
    members = list(_member_lines(thing))
    if members:
        yield from (*members, "")


def _member_lines(thing: type) -> Iterator[str]:
    for name, member in public_members(thing):
        is_function = inspect.isfunction(member)
        first = (inspect.getdoc(getattr(member, "func", member)) or "").partition("\n\n")[0]
        yield f"- `{name}{_signature(member) if is_function else ''}`: {' '.join(first.split(chr(10)))}"


def _module(name: str) -> Iterator[str]:
    """A public module: what it is, and its names with the first paragraph of their texts."""
    module = importlib.import_module(f"{PACKAGE_NAME}.{name}")
    yield f"### {module.__name__}"
    yield ""
    yield from (f"    {line}".rstrip() for line in (inspect.getdoc(module) or "").splitlines())
    yield ""
    for one in module.__all__:
        thing = getattr(module, one)
        signature = _signature(thing) if inspect.isfunction(thing) else ""
        text = text_of(module.__name__, one).partition("\n\n")[0]
        yield f"- `{one}{signature}`: {' '.join(text.split(chr(10)))}"
        if isinstance(thing, type) and name in WITH_MEMBERS:
            yield from (f"    {line}" for line in _member_lines(thing))
    yield ""


class _Written:
    """An annotation as it is written."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _signature(function: object) -> str:
    """With types as they are written, without `self`."""
    whole = inspect.signature(function)  # type: ignore[arg-type]

    def written(annotation: object) -> object:
        return _Written(annotation) if isinstance(annotation, str) else annotation

    parameters = [
        one.replace(annotation=written(one.annotation)) for one in whole.parameters.values() if one.name != "self"
    ]
    return str(whole.replace(parameters=parameters, return_annotation=written(whole.return_annotation)))


def _code(text: str) -> list[str]:
    return ["```text", text, "```", ""]


def main() -> None:
    write_text(Path(PAGE), api_text())
    write_text(Path(FITTING), fitting_text())


if __name__ == "__main__":
    main()
