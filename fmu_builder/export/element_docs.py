"""The generated parts of the documentation, written by `python -m fmu_builder.export.element_docs`.

They are the variables in the README of each element and the keys of its tables, the lists elements/README.md and
fmus/README.md, and tables of keys, kinds of ports and the grammar of laws in the guide.

A generated part stands between two markers, each on a line of its own:

    <!-- variables -->
    ...
    <!-- end -->
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from fmu_builder.errors import InputError, Problem
from fmu_builder.export.documentation import VariableRow, model_rows, variable_rows
from fmu_builder.export.probe_page import (
    CAPABILITY_COLUMNS,
    CLOCK_COLUMNS,
    COLUMNS,
    capability_rows,
    check_rows,
    clock_rows,
)
from fmu_builder.files import write_whole
from fmu_builder.model.assembly_format import Expose, read_assembly
from fmu_builder.model.declaration import (
    VARIANT,
    Choices,
    Declaration,
    StructureEntry,
    choice_values,
    forms,
    unmet,
    value_text,
)
from fmu_builder.model.declaration_reader import is_core_variable, read_declaration
from fmu_builder.model.element_model import build_model
from fmu_builder.model.file_kinds import camel_case
from fmu_builder.model.mapping import ColumnEntry
from fmu_builder.model.model import Model
from fmu_builder.model.ports import PORT_KINDS, Role
from fmu_builder.model.recipe import CheckedRecipe, read_recipe, structure_module
from fmu_builder.model.scenario import Experiment, ToleranceEntry
from fmu_builder.model.table_model import KIND, In, Models, models_of
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import PACKAGE, catalogue, find_element, shipped, shipped_elements
from fmu_builder.units import quantity


def default_model(element_folder: Path) -> Model:
    """The model of default_recipe, with the start values and the sizes that the element declares, and the default
    structure choices."""
    return _default_model(default_recipe(element_folder), read_declaration(element_folder), {})


def default_recipe(element_folder: Path) -> CheckedRecipe:
    """The recipe named after the element: fmus/PointMass.toml for point_mass, or PointMassX.toml.

    Raises InputError if there is no such recipe."""
    name = camel_case(element_folder.name)
    path = element_folder.parent.parent / "fmus" / f"{name}.toml"
    if not path.is_file():
        path = next(iter(sorted(path.parent.glob(f"{name}*.toml"))), path)
    if not path.is_file():
        raise InputError(Problem(str(path), f"the documentation of element '{element_folder.name}' needs this recipe"))
    return read_recipe(path)


def _default_model(recipe: CheckedRecipe, declaration: Declaration, choices: Choices) -> Model:
    recipe = replace(recipe, sizes={**recipe.sizes, **declaration.default_sizes}).with_choices(declaration, choices)
    return build_model(replace(recipe, starts={}, given_sizes=frozenset(), units={}))


def variable_table(element_folder: Path) -> str:
    """Markdown tables of the structure and of all visible variables: name, unit, start, range, description, and with
    which structure choices there is such a variable.  A vector is one row."""
    declaration = read_declaration(element_folder)
    lines = [*_structure_table(declaration.structure), *_slot_table(declaration)]
    found: dict[str, dict[VariableRow, list[Choices]]] = {}
    recipe = default_recipe(element_folder)

    @cache
    def rows_of(*values: bool | str) -> dict[str, list[VariableRow]]:
        """The rows of each group with these choices, in the order of choice_values."""
        form = dict(zip(choice_values(declaration), values, strict=True))
        model = _default_model(recipe, declaration, form)
        return model_rows(model.variables, model.texts)

    def condition(title: str, row: VariableRow, there: list[Choices]) -> str:
        return _condition(declaration, there, lambda form: row in rows_of(*form.values()).get(title, ()))

    for form in forms(declaration, changes=2):
        for title, of_form in rows_of(*form.values()).items():
            for row in of_form:
                found.setdefault(title, {}).setdefault(row, []).append(form)
    for title, rows in found.items():
        cells = [
            (f"`{row.name}`", row.unit, row.start, row.range, row.description, condition(title, row, there))
            for row, there in rows.items()
        ]
        names = ("name", "unit", "start", "range", "description", "if")
        lines += ["", f"**{title}**", "", *markdown_table(names, cells, optional=("if",))]
    return "\n".join(lines).strip()


def markdown_table(names: Sequence[str], rows: Iterable[Sequence[str]], optional: Collection[str] = ()) -> list[str]:
    """The lines of a table, without the `optional` columns that are empty."""
    every = list(rows)
    kept = [k for k, name in enumerate(names) if name not in optional or any(row[k] for row in every)]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells[k].replace("|", "\\|") for k in kept) + " |"

    return [line(names), "|---" * len(kept) + "|", *map(line, every)]


def _structure_table(structure: Mapping[str, StructureEntry]) -> list[str]:
    """The keys of [structure]; other entries follow from tables of the element's own, whose keys key_tables shows."""
    rows = []
    for name, entry in structure.items():
        if not entry.given_by:
            values = ", ".join(map(value_text, entry.values)) or f"{entry.min} ... {entry.max}"
            rows.append((f"`{name}`", values, value_text(entry.default), entry.description))
    if not rows:
        return []
    table = markdown_table(("name", "values", "default", "description"), rows)
    return ["**Structure, fixed when the FMU is built**", "", *table]


def _slot_table(declaration: Declaration) -> list[str]:
    if not declaration.slots:
        return []
    rows = []
    for name, slot in declaration.slots.items():
        arguments = ", ".join(f"{argument}[{unit}]" for argument, unit in slot.arguments.items())
        replaced = [f"`{p}`" for p, entry in declaration.parameters.items() if name in entry.replaced_by]
        unit = "" if slot.unit == "1" else slot.unit
        rows.append((f"`{name}({arguments})`", unit, slot.description, ", ".join(replaced)))
    return ["", "**Slots for laws**", "", *markdown_table(("law", "unit", "description", "instead of"), rows)]


def key_tables(element_folder: Path) -> str:
    """Markdown tables of the keys that structure.py of the element reads by models, "" without any."""
    module = structure_module(element_folder)
    lines: list[str] = []
    for kind, mark in (("TABLES", "[{}]"), ("LISTS", "[[{}]]")):
        for name, models in models_of(module, kind).items():
            if models is not None:
                lines += ["", f"**{mark.format(name)}**", "", *field_table(models)]
    return "\n".join(lines).strip()


def field_table(models: Models) -> list[str]:
    """A Markdown table of the fields of a model; of several by kind, which of them has each field."""
    kinds = models if isinstance(models, Mapping) else {"": models}
    rows: dict[tuple[str, ...], list[str]] = {}
    for kind, model in kinds.items():
        for name, field in model.model_fields.items():
            if not kind or name != KIND:
                row = (f"`{name}`", _values_of(field), default_text(field), str(field.description))
                rows.setdefault(row, []).append(f"`{kind}`" if kind else "")
    cells = [
        (name, "" if len(of) == len(kinds) else ", ".join(of), values, default, meaning)
        for (name, values, default, meaning), of in rows.items()
    ]
    if isinstance(models, Mapping):
        cells.insert(
            0,
            (
                f"`{KIND}`",
                "",
                ", ".join(f"`{kind}`" for kind in kinds),
                "required",
                "which of these keys the table has",
            ),
        )
    return markdown_table(
        ("key", "of", "unit or values", "default", "meaning"), cells, optional=("of", "unit or values")
    )


def _values_of(field: FieldInfo) -> str:
    """Unit and limits, or the words that are allowed."""
    if (rule := In.of(field)) is not None:
        return str(rule)
    words = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    return "true, false" if field.annotation is bool else ", ".join(f"`{word}`" for word in words)


def default_text(field: FieldInfo) -> str:
    """`required`, or the default as TOML writes it; "" for none, and for an empty one."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined or value is None or value in ("", [], {}, ()) or isinstance(value, BaseModel):
        return ""
    if isinstance(value, bool):
        return f"`{value_text(value)}`"
    parts = value if isinstance(value, tuple) else (value,)
    return f"`{', '.join(quantity(one) if isinstance(one, float) else json.dumps(one) for one in parts)}`"


def _condition(declaration: Declaration, there: Sequence[Choices], is_there: Callable[[Choices], bool]) -> str:
    """The structure choices of these forms as text, without those that do not matter or follow from others: what is
    left out of a form is allowed, and there is no such variable with it."""
    parts = []
    for name, possible in choice_values(declaration).items():
        here = {form[name] for form in there}

        def fits(value: bool | str, name: str = name, here: Collection[bool | str] = here) -> bool:
            others = ({**form, name: value} for form in there)
            allowed = next((one for one in others if not any(unmet(declaration, one, key) for key in one)), None)
            return value in here or allowed is None or is_there(allowed)

        values = [value for value in possible if fits(value)]
        if len(values) < len(possible) and name in declaration.slots:
            parts.append(f"{'a law' if values[0] else 'no law'} `{name}`")
        elif len(values) < len(possible):
            parts.append(f"`{declaration.structure[name].given_by or name}` = {', '.join(map(value_text, values))}")
    return "; ".join(parts)


def with_sections(path: Path, sections: Mapping[str, Callable[[], str]]) -> str:
    """The text of the file with what the functions give between `<!-- NAME -->` and the next `<!-- end -->`.

    Raises InputError unless each section is there exactly once."""
    text = path.read_text(encoding="utf-8")
    for name, content in sections.items():
        found = re.findall(rf"^<!-- {name} -->\n.*?^<!-- end -->$", text, re.MULTILINE | re.DOTALL)
        if len(found) != 1:
            what = f"needs the lines '<!-- {name} -->' and '<!-- end -->' behind it exactly once"
            raise InputError(Problem(str(path), what))
        text = text.replace(found[0], f"<!-- {name} -->\n\n{content()}\n\n<!-- end -->")
    return text


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text, whole or not at all; a file with this text keeps its time."""
    if path.is_file() and path.read_bytes() == text.encode("utf-8"):
        return
    write_whole(path, text)


def _readme_sections(element_folder: Path) -> dict[str, Callable[[], str]]:
    sections: dict[str, Callable[[], str]] = {"variables": partial(variable_table, element_folder)}
    if key_tables(element_folder):
        sections["keys"] = partial(key_tables, element_folder)
    return sections


def _grammar() -> str:
    grammar = (PACKAGE / "laws" / "laws.lark").read_text(encoding="utf-8")
    return f"```text\n{grammar.rstrip()}\n```"


def _elements() -> str:
    rows = []
    for folder in shipped_elements():
        declaration = read_declaration(folder)
        name = declaration.description.partition(":")[0]
        picture = f'<img src="{folder.name}/model.png" width="80" alt="{name}">'
        kinds: dict[str, dict[str, None]] = {}  # of each port, over its variants
        for port, entry in declaration.ports.items():
            kinds.setdefault(VARIANT.sub("", port), {})[entry.kind] = None
        ports = ", ".join(f"`{port}` ({', '.join(those)})" for port, those in kinds.items())
        link = f"[{folder.name}]({folder.name}/README.md)"
        rows.append((picture, link, declaration.description, ports, declaration.origin))
    return "\n".join(markdown_table(("", "element", "what it is", "ports", "source"), rows))


def kind_table() -> list[str]:
    """A table of the kinds of ports."""
    rows = []
    for name, kind in PORT_KINDS.items():
        others = (", ".join(f"`{role}` as `{other}`" for role, other in one.items()) for one in kind.spellings)
        rows.append((name, _roles(kind.motion), _roles(kind.force), "; ".join(others)))
    return markdown_table(("kind", "motion", "force", "other names"), rows)


def _roles(roles: tuple[Role, ...]) -> str:
    texts = []
    for role in roles:
        units = ", ".join(dict.fromkeys(unit.name for unit in role.units))
        size = f"[{role.size}]" if role.size > 1 else ""
        texts.append(f"`{role.name}{size}` {role.description}, {units}{' (optional)' if role.optional else ''}")
    return "; ".join(texts)


def _solver_settings() -> str:
    """Of any element with states."""
    rows = variable_rows(default_model(shipped("elements") / "point_mass").by_kind("fixed", "tunable"))
    cells = [(f"`{r.name}`", r.unit, r.start, r.range, r.description) for r in rows if is_core_variable(r.name)]
    return "\n".join(markdown_table(("parameter", "unit", "default", "range", "meaning"), cells))


def _names(names: Iterable[str]) -> str:
    """Names in code spans, those that differ in a last index alone as one: `position[1..100]`."""
    ends: dict[str, list[str]] = {}
    for name in names:
        base, _, index = name.removesuffix("]").partition("[")
        ends.setdefault(base, []).append(index)
    return " ".join(
        f"`{base}[{k[0]}..{k[-1]}]`" if len(k) > 1 else f"`{base}[{k[0]}]`" if k[0] else f"`{base}`"
        for base, k in ends.items()
    )


def _catalogue() -> str:
    assemblies, single = [], []
    for path in catalogue():
        tables = read_toml(path)
        link = f"[{path.stem}]({path.name})"
        if "element" in tables:
            element = str(tables["element"])
            description = str(
                tables.get("description") or read_declaration(find_element(element, path.parent, str(path))).description
            )
            single.append((link, element, description))
        else:
            recipe = read_assembly(path)
            outputs, parameters = _names(recipe.expose.outputs), _names(recipe.expose.parameters)
            assemblies.append((link, recipe.description, outputs, parameters))
    text = [
        "## Elements",
        "",
        *markdown_table(("recipe", "element", "what it is"), single),
        "",
        "## Assemblies",
        "",
        *markdown_table(("recipe", "what it shows", "outputs", "parameters"), assemblies),
    ]
    return "\n".join(text)


def generated() -> dict[Path, Callable[[], str]]:
    """Every file with a generated part, with what gives the text that it should have."""
    guide = PACKAGE / "guide"
    sections: dict[Path, dict[str, Callable[[], str]]] = {
        **{folder / "README.md": _readme_sections(folder) for folder in shipped_elements()},
        shipped("elements") / "README.md": {"elements": _elements},
        shipped("fmus") / "README.md": {"catalogue": _catalogue},
        guide / "laws.md": {"grammar": _grammar},
        guide / "scenarios.md": {
            "kinds": lambda: "\n".join(kind_table()),
            "experiment": lambda: "\n".join(field_table(Experiment)),
        },
        guide / "cases.md": {
            "tolerances": lambda: "\n".join(field_table(ToleranceEntry)),
            "columns": lambda: "\n".join(field_table(ColumnEntry)),
        },
        guide / "probes.md": {
            "probes": lambda: "\n".join(markdown_table(COLUMNS, check_rows())),
            "clocks": lambda: "\n".join(markdown_table(CLOCK_COLUMNS, clock_rows())),
            "capabilities": lambda: "\n".join(markdown_table(CAPABILITY_COLUMNS, capability_rows())),
        },
        guide / "assemblies.md": {
            "expose": lambda: "\n".join(field_table(Expose)),
            "solver": _solver_settings,
        },
    }
    return {path: partial(with_sections, path, of_file) for path, of_file in sections.items()}


def main() -> None:
    for path, text in generated().items():
        write_text(path, text())


if __name__ == "__main__":
    main()
