"""The public names of the package in guide/python.md, from their docstrings, and the keys of a fit in guide/fitting.md:
`python -m fmu_builder.api_docs`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import fmu_builder
from fmu_builder.export.element_docs import field_table, with_sections, write_text
from fmu_builder.fitting.tables import FitMeasurement, FitMethod, FitParameter
from fmu_builder.model.table_model import TableModel
from fmu_builder.paths import PACKAGE

PAGE, FITTING = PACKAGE / "guide" / "python.md", PACKAGE / "guide" / "fitting.md"


def api_text() -> str:
    """guide/python.md with the public names as they are now."""
    entries = [line for name in fmu_builder.__all__ if not name.startswith("__") for line in _entry(name)]
    return with_sections(PAGE, {"api": "\n".join(entries).rstrip})


def fitting_text() -> str:
    """guide/fitting.md with the keys of a fit as they are now."""
    tables: tuple[tuple[str, type[TableModel]], ...] = (
        ("parameter", FitParameter),
        ("measurement", FitMeasurement),
        ("method", FitMethod),
    )
    sections = {name: "\n".join(field_table(table)).rstrip for name, table in tables}
    return with_sections(FITTING, sections)


def _entry(name: str) -> Iterator[str]:
    thing = getattr(fmu_builder, name)
    yield f"### {name}"
    yield ""
    if inspect.isfunction(thing):
        yield from _code(f"{name}{_signature(thing)}")
    yield from (f"    {line}".rstrip() for line in (inspect.getdoc(thing) or "").splitlines())
    yield ""
    if isinstance(thing, type) and issubclass(thing, TableModel):
        yield from field_table(thing)
        yield ""
    elif isinstance(thing, type) and not issubclass(thing, Exception):
        for method, function in vars(thing).items():
            if not method.startswith("_") and inspect.isfunction(function):
                first = (inspect.getdoc(function) or "").partition("\n")[0]
                yield f"- `{method}{_signature(function)}`: {first}"
        yield ""


def _signature(function: object) -> str:
    """With types as they are written, without `self`."""
    text = str(inspect.signature(function)).replace("'", "")  # type: ignore[arg-type]
    return re.sub(r"\(self(, )?", "(", text)


def _code(text: str) -> list[str]:
    return ["```text", text, "```", ""]


def main() -> None:
    write_text(Path(PAGE), api_text())
    write_text(Path(FITTING), fitting_text())


if __name__ == "__main__":
    main()
