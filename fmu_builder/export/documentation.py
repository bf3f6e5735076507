"""What an FMU shows of itself: documentation/index.html, model.png, licences, terminalsAndIcons/."""

from __future__ import annotations

import base64
import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import jinja2
from markdown_it import MarkdownIt

from fmu_builder.errors import InputError, Problem, listed
from fmu_builder.export.assembly_icon import assembly_icon
from fmu_builder.export.fmi3_variables import Fmi
from fmu_builder.export.law_sections import law_sections
from fmu_builder.export.model_tables import log_categories
from fmu_builder.export.origin import build_date, structure_tables
from fmu_builder.export.terminals import FILE as TERMINALS
from fmu_builder.export.terminals import svg_icon, terminals_and_icons
from fmu_builder.files import read_text
from fmu_builder.model.assembly import AssemblyModel, PartType
from fmu_builder.model.model import ElementModel, Model, StringVariable, Variable
from fmu_builder.model.step_advice import MODE, ORDER, step_advice
from fmu_builder.paths import PACKAGE, own_version
from fmu_builder.units import limits_text, quantity, units_text

PROTOTYPE_NEEDS = "Python 3.11 or newer (64 bits) with numpy, in the process or as a shared library"
"""What a prototype in Python needs on its target."""


# Words of coupling.order by the lag 0, 1, 2: how the master calls, and which one does by default.  Ecos and libcosim
# run in tests/platform; Simulink: MathWorks support, answer 1901185; VeriStand: its manual, Execution Order for Models.
CALL_ORDERS = (
    ("sequential", "one FMU after the other, each with the newest values (Gauss-Seidel)", "fmu-builder run"),
    ("parallel", "all with the values before the step (Jacobi)", "Ecos, libcosim, Simulink, VeriStand"),
    ("late", "as parallel, with inputs that are one more step old", "Jacobi through one more FMU or delay"),
)


@functools.cache
def templates() -> jinja2.Environment:
    """The HTML templates; values are escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PACKAGE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["quantity"] = quantity
    environment.filters["whole"] = lambda first: first.removesuffix("[1]")  # the vector of a first component
    return environment


def documentation_files(model: Model, fmi: Fmi = 2) -> dict[str, bytes]:
    """Archive name -> bytes of documentation/, model.png and terminalsAndIcons/."""
    folders = list(dict.fromkeys(model.folders().values()))  # each element once
    assembly = model if isinstance(model, AssemblyModel) else None
    page = (
        templates()
        .get_template("fmu.html")
        .render(
            model=model,
            fmi=fmi,
            advice=step_advice(model.variables),
            write_quantity=quantity,
            has_modes=any(v.name == MODE for v in model.variables),
            call_orders=CALL_ORDERS if any(v.name == ORDER for v in model.variables) else (),
            prototype_needs=PROTOTYPE_NEEDS,
            theory="".join(markdown(theory(folder), folder) for folder in folders),
            groups=_rows(assembly.own_variables() if assembly else model.variables, model.texts),
            types=[_PartTable(*_parts_of(assembly, kind), _rows(kind.model.variables)) for kind in assembly.types]
            if assembly
            else [],
            connections=assembly.connections[:_SHOWN_CONNECTIONS] if assembly else (),
            more_connections=max(len(assembly.connections) - _SHOWN_CONNECTIONS, 0) if assembly else 0,
            categories=log_categories(model, fmi),
            laws=law_sections(model),
            version=own_version(),
            date=build_date(),
            structures=structure_tables(model),
            recipe=read_text(model.path),
        )
    )
    files = {
        "documentation/index.html": page.encode("utf-8"),
        "documentation/licenses/license.txt": license_text().encode("utf-8"),
        "documentation/licenses/externalDependencies.txt": (
            "None: the binaries need no other library, and the sources only a C11 compiler and the FMI "
            f"{fmi}.0 headers.\n"
        ).encode(),
    }
    models: list[Model] = [kind.model for kind in assembly.types] if assembly else [model]
    icons = list(dict.fromkeys(icon for one in models if (icon := icon_file(one)) is not None))
    if icons:
        files["model.png"] = files["terminalsAndIcons/icon.png"] = assembly_icon(icons)
        drawings = [icon.with_suffix(".svg") for icon in icons]
        if all(drawing.is_file() for drawing in drawings):
            files["terminalsAndIcons/icon.svg"] = svg_icon([read_text(d) for d in drawings]).encode("utf-8")
    terminals = terminals_and_icons(model, bool(icons), fmi)
    if terminals is not None:
        files[TERMINALS] = terminals
    return files


def icon_file(model: Model) -> Path | None:
    """model_<entry>_<value>.png of a structure choice of the element, if it has such a file; else its model.png."""
    if not isinstance(model, ElementModel):
        return None
    folder = model.recipe.element_folder
    of_choices = (folder / f"model_{name}_{value}.png" for name, value in model.recipe.choices.items())
    return next((path for path in (*of_choices, folder / "model.png") if path.is_file()), None)


_VARIABLES = re.compile(r"^#+ Variables\n.*?^<!-- end -->\n", re.MULTILINE | re.DOTALL)
_MEDIA_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}


def theory(element_folder: Path) -> str:
    """The element's README.md without its variable table (the page has that of the FMU), or nothing for an element
    that has none yet."""
    path = element_folder / "README.md"
    return _VARIABLES.sub("", path.read_text(encoding="utf-8")) if path.is_file() else ""


def markdown(text: str, folder: Path) -> str:
    """HTML of Markdown text that stands alone: pictures of `folder` become part of it, headings move one level down.

    Raises InputError for every picture that is not an SVG or PNG file there."""
    page, pictures = _rendered(text)
    problems: list[Problem] = []
    embedded = {mark: _embedded(source, folder, problems) for mark, source in pictures.items()}
    if problems:
        raise InputError(problems)
    return _MARK.sub(lambda mark: embedded[mark[0]], page)


_MARK = re.compile("\0\\d+\0")  # no Markdown becomes HTML with this character in it


@functools.lru_cache(maxsize=64)
def _rendered(text: str) -> tuple[str, dict[str, str]]:
    """HTML of Markdown text with a mark in place of each picture, and the sources of the pictures by their marks."""
    renderer = MarkdownIt("commonmark").enable("table")
    tokens = renderer.parse(text)
    pictures: dict[str, str] = {}
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{int(token.tag[1:]) + 1}"
        for child in token.children or ():
            if child.type == "image":
                mark = f"\0{len(pictures)}\0"
                pictures[mark], child.attrs["src"] = str(child.attrs["src"]), mark
    return str(renderer.renderer.render(tokens, renderer.options, {})), pictures


def _embedded(source: str, folder: Path, problems: list[Problem]) -> str:
    """The picture as a data URL, "" with a problem added for what is none."""
    path = folder / source
    if path.suffix not in _MEDIA_TYPES or not path.is_file():
        problems.append(
            Problem(f"{folder / 'README.md'}: {source}", "a picture must be an SVG or PNG file in this folder")
        )
        return ""
    return data_url(path)


def data_url(picture: Path) -> str:
    """An SVG or PNG file as an address that holds it."""
    return f"data:{_MEDIA_TYPES[picture.suffix]};base64,{base64.b64encode(picture.read_bytes()).decode('ascii')}"


_SHOWN_PARTS = 20
_SHOWN_CONNECTIONS = 100


@dataclass(frozen=True)
class _PartTable:
    """The table that the page has once for all parts of one type."""

    recipe: str
    names: str
    groups: dict[str, list[VariableRow]]


def _parts_of(assembly: AssemblyModel, kind: PartType) -> tuple[str, str]:
    """The recipe of a type, and the names of its parts."""
    names = [part.name for part in assembly.parts if assembly.types[part.type] is kind]
    return kind.model.name, listed(names, _SHOWN_PARTS)


def _rows(variables: Iterable[Variable], texts: Iterable[StringVariable] = ()) -> dict[str, list[VariableRow]]:
    return {title: group for title, group in model_rows(variables, texts).items() if group}


def model_rows(variables: Iterable[Variable], texts: Iterable[StringVariable]) -> dict[str, list[VariableRow]]:
    """The rows of all visible variables by their use, Strings behind the others."""
    rows = {title: variable_rows(group) for title, group in variable_groups(variables).items()}
    for one in texts:
        start = "" if one.kind == "output" else f'"{one.start}"'
        rows[_TEXT_TITLES[one.kind]].append(VariableRow(one.name, "", start, "text", one.description))
    return rows


def variable_groups(variables: Iterable[Variable]) -> dict[str, list[Variable]]:
    """Visible variables by their use."""
    visible = [v for v in variables if not v.hidden and v.kind not in ("time", "derivative")]
    return {
        "Inputs": [v for v in visible if v.kind == "input"],
        "Outputs": [v for v in visible if v.is_output],
        "Parameters, tunable during the run": [v for v in visible if v.kind == "tunable"],
        "Parameters, fixed at the start": [v for v in visible if v.kind == "fixed"],
        "Parameters that follow from others": [v for v in visible if v.kind == "calculated"],
        "Local variables": [v for v in visible if v.kind in ("output", "state", "memory") and not v.is_output],
    }


_TEXT_TITLES = {"parameter": "Parameters, tunable during the run", "input": "Inputs", "output": "Outputs"}


@dataclass(frozen=True)
class VariableRow:
    """One row of a variable table, as text: a scalar, or a vector such as `r[1..3]`."""

    name: str
    unit: str
    start: str
    range: str
    description: str


_INDEX = re.compile(r"^(?P<base>.*)\[(?P<outer>\d+,)?(?P<index>\d+)\]$")


def variable_rows(variables: Iterable[Variable]) -> list[VariableRow]:
    """Rows for the variables, in their order; the components of a vector become one row."""
    groups: dict[str, list[Variable]] = {}
    for v in variables:
        match = _INDEX.match(v.name)
        groups.setdefault(f"{match['base']}[{match['outer'] or ''}" if match else v.name, []).append(v)
    return [_row(base, group) for base, group in groups.items()]


def _row(base: str, group: Sequence[Variable]) -> VariableRow:
    v = group[0]
    name = f"{base}1..{len(group)}]" if len(group) > 1 else v.name
    starts = [start_text(g) for g in group]
    start = starts[0] if len(set(starts)) == 1 else f"({', '.join(starts)})"
    given = v.kind in ("fixed", "tunable", "input")
    unit = units_text([g.unit.name for g in group])
    return VariableRow(name, unit, start if given else "", variable_range(v), v.description)


def start_text(v: Variable) -> str:
    """The start value as a recipe would write it."""
    if v.type == "enum":
        return v.literals[int(v.start) - 1]
    return ("true" if v.start else "false") if v.type == "bool" else quantity(v.start)


def variable_range(v: Variable) -> str:
    """The allowed range in words, empty if there is none."""
    if v.clock is not None:
        return f"{v.clock.variability} clock in FMI 3.0"
    if v.type == "bool":
        return ""
    if v.type == "enum":
        return ", ".join(v.literals)
    above, below = v.above if v.min is None else None, v.below if v.max is None else None
    return limits_text(v.min, above, v.max, below)


@functools.cache
def license_text() -> str:
    """The licence of fmu-builder, which covers the C code in every FMU."""
    beside = PACKAGE.parent / "LICENSE"
    if beside.is_file():
        return beside.read_text(encoding="utf-8")
    return metadata.distribution("fmu-builder").read_text("licenses/LICENSE") or "BSD-2-Clause\n"
