"""JSON schemas for editors: completion, descriptions, and marks on what cannot be.

That of an element's recipes follows from its element.toml and the models of its structure.py, that of element.toml from
the models that read it.  Rules on several keys or on units are left to the build: every valid recipe fits its
schema, not the reverse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fmu_builder.model.declaration import VARIABLE_TABLES, Declaration, StructureEntry, Variable, plain
from fmu_builder.model.declaration_reader import CORE_GROUPS, core_declaration, read_declaration
from fmu_builder.model.documents import DOCUMENTS, Document, Recipe
from fmu_builder.model.drawing_table import Drawing
from fmu_builder.model.extends import Extends
from fmu_builder.model.page_table import PageTable
from fmu_builder.model.recipe import KEYS, LANGUAGES, structure_module
from fmu_builder.model.table_model import KIND, In, Models, models_of
from fmu_builder.paths import find_element
from fmu_builder.units import limits_text

Schema = dict[str, Any]
_QUANTITY: Schema = {"type": ["number", "string"]}  # SI, or text "number unit"
_VALUES: Schema = {"type": "array", "items": _QUANTITY}


def recipe_schema(element: str, beside: Path, others: Iterable[str] = ()) -> Schema:
    """Of the recipes of an element that is named, or given by its path, as in a recipe in the folder `beside`.

    others   further names that would do.   Raises InputError if there is none, or its element.toml is wrong."""
    folder = find_element(element, beside, "ELEMENT", others)
    declared, module = read_declaration(folder), structure_module(folder)
    models: dict[str, Schema] = {}
    tables = {name: _structure_table(keys, models) for name, keys in models_of(module, "TABLES").items()}
    rows = {name: _structure_table(keys, models) for name, keys in models_of(module, "LISTS").items()}
    lists = {
        name: {"type": "array", "items": table, "description": f"list of tables [[{name}]] of this element"}
        for name, table in rows.items()
    }
    sensor = {"type": "object", "description": "inputs that laws use: their SI units by name"}
    sensors = {"sensors": sensor} if any(slot.sensors for slot in declared.slots.values()) else {}
    for name, table in tables.items():
        table["description"] = f"table [{name}] of this element"
    drawing: Schema = Drawing.model_json_schema()["properties"]
    about = {key: {"description": field.description} for key, field in Recipe.model_fields.items()}
    own: Schema = {
        "element": {
            "type": "string",
            "enum": [*dict.fromkeys((element, folder.name))],
            "description": declared.description,
        },
        "language": {"type": "string", "enum": [*LANGUAGES]} | about["language"],
        "description": {"type": "string"} | about["description"],
        "structure": _table({n: _structure(entry) for n, entry in declared.structure.items() if not entry.given_by})
        | about["structure"],
        "start": {"type": "object", "properties": _starts(declared)} | about["start"],
        "functions": {"type": "object", "properties": _functions(declared)} | about["functions"],
        "drawing": _table(
            {key: {n: one[n] for n in ("type", "pattern", "description") if n in one} for key, one in drawing.items()}
        )
        | about["drawing"],
        "arrays": {"type": "boolean", "description": "in FMI 3.0 vectors are arrays, not scalars"},
        "page": PageTable.model_json_schema(),
    }
    assert own.keys() == set(KEYS)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"Recipe of {declared.description[0].lower()}{declared.description[1:]}",
        **_table(own | tables | lists | sensors),
        "required": ["element"],
        **({"$defs": models} if models else {}),
    }


def _structure_table(declared: Models | None, models: dict[str, Schema]) -> Schema:
    """Of a table that structure.py reads; the schemas of its models go to `models`."""
    if declared is None:
        return {"type": "object"}
    if isinstance(declared, Mapping):
        refs = [_structure_table(model, models) for model in declared.values()]
        for model in declared.values():
            models[model.__name__]["required"] = [KIND, *models[model.__name__].get("required", ())]
        return {"anyOf": refs}
    schema = models[declared.__name__] = declared.model_json_schema()
    for key, field in declared.model_fields.items():
        if (rule := In.of(field)) is not None:
            schema["properties"][key]["description"] += f", {rule}"
    return {"$ref": f"#/$defs/{declared.__name__}"}


_WORDS: Schema = {"type": ["string", "boolean"]}
_WORDS_OR_SET: Schema = {"anyOf": [_WORDS, {"type": "array", "items": _WORDS}]}
_NAMES: Schema = {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "array"}]}}
_NAMES_OR_SET: Schema = {"anyOf": [{"type": "string"}, _NAMES]}
_CONDITION: Schema = {"type": "object", "additionalProperties": _WORDS_OR_SET}
_LISTS: Schema = {  # what may be written shorter than the models have it: one word for a list, '@name' for a set
    "when": _CONDITION,
    "reinit": {"anyOf": [{"type": "boolean"}, _CONDITION]},
    "replaced_by": _NAMES_OR_SET,
    "initial": _NAMES_OR_SET,
    "depends": {"anyOf": [*_NAMES_OR_SET["anyOf"], {"type": "object", "additionalProperties": _NAMES_OR_SET}]},
}


def element_schema() -> Schema:
    """Of element.toml.  An entry may be a list of variants; one of an element that extends another may leave out
    keys, so none is required but the description of the element."""
    schema = Declaration.model_json_schema()
    extends = Extends.model_json_schema()
    for model in schema["$defs"].values():
        model.pop("required", None)
        for key, field in model["properties"].items():
            if key in _LISTS:
                about = {name: field[name] for name in ("description",) if name in field}
                model["properties"][key] = _LISTS[key] | about
    for name in (*VARIABLE_TABLES, "ports", "indicators"):
        entry = schema["properties"][name]["additionalProperties"]
        schema["properties"][name]["additionalProperties"] = {"anyOf": [entry, {"type": "array", "items": entry}]}
    schema["properties"]["extends"] = extends | {"additionalProperties": False}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "element.toml, the declaration of an element",
    }


def document_schema(kind: str | type[Document]) -> Schema:
    """Of all recipes of elements, or of assemblies, scenarios or cases: what their files may hold.

    kind   a key of DOCUMENTS, or another document"""
    document = DOCUMENTS[kind] if isinstance(kind, str) else kind
    schema = document.model_json_schema()
    for model in (schema, *schema.get("$defs", {}).values()):
        model.get("properties", {}).pop("name", None)  # that of the file
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": f"{document.__name__} (TOML)"}


def _table(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _structure(entry: StructureEntry) -> Schema:
    about = {"description": entry.description, "default": entry.default}
    if entry.is_size:
        return {"type": "integer", "minimum": entry.min, "maximum": entry.max} | about
    return ({"enum": entry.choices} if entry.choices else {"type": "boolean"}) | about


def _starts(declared: Declaration) -> Schema:
    """Parameters and inputs by the names that element and contact_core declare.  Others are allowed: those of ports and
    of laws, and with indices."""
    found: Schema = {}
    of_core = {name: one for group in CORE_GROUPS for name, one in core_declaration(group).parameters.items()}
    for name, variable in {**of_core, **declared.parameters, **declared.inputs}.items():
        if not variable.hidden:
            found.setdefault(plain(name), _start(variable))
    return found


def _start(variable: Variable) -> Schema:
    unit = variable.unit if isinstance(variable.unit, str) else ", ".join(variable.unit)
    limits = limits_text(variable.min, variable.above, variable.max, variable.below)
    parts = filter(None, (variable.description, unit if unit != "1" else "", limits))
    if variable.type in ("bool", "enum"):
        one: Schema = {"type": "boolean"} if variable.type == "bool" else {"enum": variable.literals}
    else:
        one = {"type": "integer"} if variable.type == "int" else _QUANTITY
    shape = one if variable.size is None and variable.each is None else {"anyOf": [one, _VALUES]}
    return shape | {"description": ", ".join(parts)}


def _functions(declared: Declaration) -> Schema:
    found: Schema = {"text": {"type": "string", "description": "scalars, tables and functions that the laws use"}}
    for name, slot in declared.slots.items():
        arguments = ", ".join(f"{argument}[{unit}]" for argument, unit in slot.arguments.items())
        about = f"{slot.description}: a law of {arguments}, {slot.unit}, or a table of it"
        found[name] = {"type": ["string", "object"], "description": about}
    return found
