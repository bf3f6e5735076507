"""From a model to C: the struct, the tables, the constants.  Everything else in an FMU's sources is contact_core and
element.c as they stand."""

from __future__ import annotations

import re
from pathlib import Path

from fmu_builder.model import Model, Node, Variable
from fmu_builder.paths import shipped

_KINDS = {
    "time": "CC_TIME",
    "fixed": "CC_FIXED",
    "tunable": "CC_TUNABLE",
    "input": "CC_INPUT",
    "state": "CC_STATE",
    "derivative": "CC_DERIVATIVE",
    "output": "CC_OUTPUT",
    "memory": "CC_MEMORY",
}
_TYPES = {"real": "CC_REAL", "int": "CC_INTEGER", "bool": "CC_BOOLEAN", "enum": "CC_INTEGER"}
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_HUGE = "1.7976931348623157e308"

# Standard categories of FMI 2.0 that contact_core logs in; an element adds its own.
LOG_CATEGORIES = {
    "logStatusWarning": "Calls that were answered with fmi2Warning",
    "logStatusDiscard": "Values that were refused, calls that were answered with fmi2Discard",
    "logStatusError": "Calls that were answered with fmi2Error; logged also while logging is off",
}


def log_categories(model: Model) -> dict[str, str]:
    """Names and descriptions of all categories this FMU logs in."""
    return {**LOG_CATEGORIES, **model.element.log}


def fmu_sources(model: Model, guid: str) -> dict[str, str]:
    """File name -> text of the FMU's sources folder: the generated headers, element.c, and what they include of
    contact_core, so that a part of it that the element does not use changes neither its GUID nor its size."""
    generated = {
        "model_data.h": model_data(model),
        "model_guid.h": model_guid(model, guid),
        "model_tables.h": model_tables(model),
    }
    available = {
        p.name: p for folder in (shipped("contact_core"), model.recipe.element_folder) for p in folder.glob("*.[ch]")
    }
    files: dict[str, str] = {}
    wanted = list(SOURCE_FILES)
    while wanted:
        name = wanted.pop()
        if name in files or (name not in generated and name not in available):
            continue  # the compiler names what is missing, with file and line
        files[name] = generated.get(name) or available[name].read_text(encoding="utf-8")
        wanted += _INCLUDE.findall(files[name])
    return files


# What an importer compiles; everything else is included by them.
SOURCE_FILES = ("fmu.c", "element_real.c", "element_dual.c")


def _number(value: float | None, default: str = "0.0") -> str:
    """A C constant with the same bits: hexadecimal, so that no parser rounds."""
    return default if value is None else value.hex() if value != int(value) or abs(value) > 1e15 else f"{value:.1f}"


def _text(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _members(node: Node, indent: str) -> list[str]:
    lines = []
    for name, member in node.members.items():
        each = f"[{member.each}]" if member.each else ""
        if member.members:
            lines += [f"{indent}struct {{", *_members(member, indent + "    "), f"{indent}}} {name}{each};"]
        else:
            size = f"[{member.size}]" if member.size else ""
            lines.append(f"{indent}Real {name}{each}{size};")
    return lines


def _int_table(name: str, values: list[int]) -> str:
    return _table("int", name, [str(v) for v in values] or ["-1"])


def _table(kind: str, name: str, values: list[str]) -> str:
    body = ",\n    ".join(", ".join(values[i : i + 20]) for i in range(0, len(values), 20))
    return f"static const {kind} {name}[] __attribute__((unused)) = {{\n    {body}}};"


def _real_inputs(model: Model) -> list[Variable]:
    return [v for v in model.variables if v.is_continuous_input]


def model_guid(model: Model, guid: str) -> str:
    """model_guid.h: apart from the rest, for it changes with every edit and would have everything compiled again."""
    return f"{_heading(model)}\n#define CC_GUID_TEXT {_text(guid)}\n"


def _heading(model: Model) -> str:
    return f"/* Generated from {model.element_name}/element.toml and {model.recipe.path.name}; do not edit. */"


def model_data(model: Model) -> str:
    """model_data.h: the struct Element and what both compilations of the element need."""
    states = model.by_kind("state")
    inputs = _real_inputs(model)
    has_memory = bool(model.element.memory)
    # All states are accumulators of quantities that neither states nor time enter: with held inputs their rates are
    # constant.
    quadrature = bool(states) and all(
        s.rate >= 0
        and model.variables[s.rate].kind == "output"
        and not any(model.variables[i].kind in ("state", "time") for i in model.variables[s.rate].depends)
        for s in states
    )
    lines = [
        _heading(model),
        "#ifndef MODEL_DATA_H",
        "#define MODEL_DATA_H",
        "",
        '#include "real.h"',
        "",
        f"#define CC_ENTRY(name) {model.name}_##name",
        f"#define CC_HAS_CHECK {int(bool(model.element.rules))}",
        f"#define CC_HAS_DERIVATIVES {int(any(s.rate < 0 for s in states))}",
        f"#define CC_HAS_ACCEPT {int(has_memory)}",
        f"#define CC_QUADRATURE {int(quadrature)}",
        f"#define CC_TOLERANCE {_number(model.experiment.tolerance)} /* relative, where the importer gives none */",
        f"#define CC_INDICATORS {len(model.indicators)}",
        f"#define CC_VARIABLES {len(model.variables)}",
        f"#define CC_STATES {len(states)}",
        f"#define CC_INPUTS {len(inputs)}",
        f"#define CC_QUATERNIONS {len(model.quaternions)}",
        "",
    ]
    if model.sizes:
        lines += [f"enum {{ {', '.join(f'{name.upper()} = {size}' for name, size in model.sizes.items())} }};", ""]
    lines += _choice_macros(model)
    for constant in model.constants:
        values = ", ".join(_number(v) for v in constant.values)
        lines.append(f"static const double {constant.name}[] __attribute__((unused)) = {{{values}}};")
    lines += [
        "",
        "typedef struct {",
        *_members(model.layout.root, "    "),
        "} Element;",
        "",
        _int_table("cc_states", [s.index for s in states]),
        _int_table("cc_state_derivatives", [s.derivative for s in states]),
        _int_table("cc_state_rates", [s.rate for s in states]),
        _int_table("cc_state_starts", [s.start_from for s in states]),
        _int_table("cc_inputs", [v.index for v in inputs]),
        _int_table("cc_input_rates", [v.rate for v in inputs]),
        _table("double", "cc_state_nominals", [_number(s.nominal, "1.0") for s in states] or ["1.0"]),
        _table("double", "cc_indicator_nominals", [_number(n) for n in model.indicators] or ["1.0"]),
        "static const int cc_quaternions[][2] __attribute__((unused)) = {"
        + (", ".join(f"{{{q}, {w}}}" for q, w in model.quaternions) or "{-1, -1}")
        + "};",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def _choice_macros(model: Model) -> list[str]:
    """`MOTION` of the structure choice `motion` is one of `MOTION_FRAME`, `MOTION_PLANAR`, ...; a switch is 0 or 1."""
    lines = []
    for name, value in model.recipe.choices.items():
        macro = name.upper()
        choices = model.element.structure[name].choices
        lines += [f"#define {macro}_{choice.upper()} {i}" for i, choice in enumerate(choices)]
        lines.append(f"#define {macro} {int(value) if isinstance(value, bool) else f'{macro}_{value.upper()}'}")
    return [*lines, ""] if lines else []


def model_tables(model: Model) -> str:
    """model_tables.h: what the FMI layer knows of every variable."""
    inputs = {v.index: i for i, v in enumerate(_real_inputs(model))}
    rows = []
    for v in model.variables:
        strict = v.above is not None or v.below is not None
        flags = f"{int(v.is_output)}, {int(v.hidden)}, {int(strict)}"
        numbers = ", ".join(
            (
                _number(v.start),
                _number(v.min, f"-{_HUGE}"),
                _number(v.max, _HUGE),
                _number(v.above, f"-{_HUGE}"),
                _number(v.below, _HUGE),
            )
        )
        unit = "" if v.unit.name == "1" else v.unit.name
        kinds = f"{_KINDS[v.kind]}, {_TYPES[v.type]}"
        place = inputs.get(v.index, -1)
        rows.append(f"    {{{_text(v.name)}, {_text(unit)}, {kinds}, {flags}, {place}, {numbers}}},")
    categories = log_categories(model)
    lines = [
        _heading(model),
        "#ifndef MODEL_TABLES_H",
        "#define MODEL_TABLES_H",
        "",
        f"enum {{ {', '.join(_KINDS.values())} }};",
        f"enum {{ {', '.join(dict.fromkeys(_TYPES.values()))} }};",
        "",
        "typedef struct {",
        "    const char *name, *unit;",
        "    unsigned char kind, type, is_output, hidden, strict;",
        "    int input; /* its place among the continuous inputs, or -1 */",
        "    double start, min, max, above, below; /* min and max are allowed, above and below are not */",
        "} CcVariable;",
        "",
        "static const CcVariable cc_variables[] = {",
        *rows,
        "};",
        "",
        f"#define CC_LOG_CATEGORIES {len(categories)}",
        f"static const char *const cc_log_categories[] = {{{', '.join(map(_text, categories))}}};",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def write_sources(files: dict[str, str], folder: Path) -> None:
    """Make the folder hold exactly these files; one that is there with the same text keeps its time, so that compilers
    can cache."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name not in files:
            path.unlink()
    for name, text in files.items():
        path = folder / name
        data = text.encode("utf-8")
        if not path.is_file() or path.read_bytes() != data:
            path.write_bytes(data)
