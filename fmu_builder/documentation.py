"""The documentation folder of an FMU: index.html, model.png, licences."""

from __future__ import annotations

import functools
from importlib import metadata
from pathlib import Path

import jinja2
from markdown_it import MarkdownIt

from fmu_builder.generate import log_categories
from fmu_builder.model import Model, Variable

_HERE = Path(__file__).resolve().parent


@functools.cache
def templates() -> jinja2.Environment:
    """Our HTML templates; values are escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["quantity"] = quantity
    return environment


def quantity(value: float) -> str:
    """A number as people write it: `1e+06` becomes `1e6`, `0.5` stays."""
    return f"{value:.10g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def documentation_files(model: Model) -> dict[str, bytes]:
    """Archive name -> bytes of documentation/ and model.png."""
    page = (
        templates()
        .get_template("fmu.html")
        .render(
            model=model,
            theory=markdown(theory(model.recipe.element_folder)),
            groups=variable_groups(model),
            ranges={v.name: variable_range(v) for v in model.variables},
            categories=log_categories(model),
        )
    )
    files = {
        "documentation/index.html": page.encode("utf-8"),
        "documentation/licenses/license.txt": license_text().encode("utf-8"),
        "documentation/licenses/externalDependencies.txt": (
            b"None: the binaries need no other library, and the sources only a C11 compiler and the FMI 2.0 headers.\n"
        ),
    }
    picture = model.recipe.element_folder / "model.png"
    if picture.is_file():
        files["model.png"] = picture.read_bytes()
    return files


def theory(element_folder: Path) -> str:
    """The element's README.md, or nothing for an element that has none yet."""
    path = element_folder / "README.md"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def markdown(text: str) -> str:
    """HTML of Markdown text; pictures are left out, because the page must stand alone."""
    renderer = MarkdownIt("commonmark").enable("table").disable("image")
    return str(renderer.render(text))


def variable_groups(model: Model) -> dict[str, list[Variable]]:
    """Visible variables by what a user does with them."""
    visible = [v for v in model.variables if not v.hidden and v.kind not in ("time", "derivative")]
    return {
        "Inputs": [v for v in visible if v.kind == "input"],
        "Outputs": [v for v in visible if v.is_output],
        "Parameters, tunable during the run": [v for v in visible if v.kind == "tunable"],
        "Parameters, fixed at the start": [v for v in visible if v.kind == "fixed"],
        "Local variables": [v for v in visible if v.kind in ("output", "state", "memory") and not v.is_output],
    }


def variable_range(v: Variable) -> str:
    """The allowed range in words, empty if there is none."""
    if v.type == "bool":
        return ""
    low = f">= {quantity(v.min)}" if v.min is not None else f"> {quantity(v.above)}" if v.above is not None else ""
    high = f"<= {quantity(v.max)}" if v.max is not None else f"< {quantity(v.below)}" if v.below is not None else ""
    return ", ".join(part for part in (low, high) if part)


@functools.cache
def license_text() -> str:
    """Our licence, which covers the C code in every FMU."""
    beside = _HERE.parent / "LICENSE"
    if beside.is_file():
        return beside.read_text(encoding="utf-8")
    return metadata.distribution("fmu-builder").read_text("licenses/LICENSE") or "BSD-2-Clause\n"
