"""model_data.h: the struct of an element or an assembly, its constants, macros and tables; laws.h."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from fmu_builder.export.c_text import c_literal, c_number, c_table, int_table, struct_members
from fmu_builder.export.conclusions import is_core, is_exact, is_still, state_bends
from fmu_builder.laws.c_source import ending_tables, laws_header
from fmu_builder.laws.tables import LawTable
from fmu_builder.model.model import BACK, ElementModel, Model, Variable
from fmu_builder.model.structure_reader import Constant

_LARGE = 1000  # values of a constant table that is compiled once and not with every file that reads it


def _real_inputs(model: Model) -> list[Variable]:
    return [v for v in model.variables if v.is_continuous_input]


# Of files that say nothing of the recipe's name and start values, and compile to objects that others share.
HEADING = "/* Generated; do not edit. */"


def heading(model: Model) -> str:
    return f"/* Generated from {model.path.name}; do not edit. */"


def model_data(model: ElementModel, kind: str = "", folder: str = "", python_place: int = 0) -> str:
    """model_data.h: the struct Element and what both compilations of the element need.

    kind          the name of the type of part that it is in an assembly
    folder        of its files, with a slash at the end
    python_place  among the elements of the FMU that are Python"""
    lines = [
        *header_begin(kind),
        *_functions(model),
        *([f'#define CC_LAWS "{folder}laws.h"'] if model.recipe.laws else []),
        *counts(model),
        "",
    ]
    if model.sizes:
        lines += [*(f"#define {name.upper()} {size}" for name, size in model.sizes.items()), ""]
    lines += _choice_macros(model)
    if any(slot.sensors for slot in model.element.slots.values()):
        sensors = [name for name in model.element.inputs if name.startswith("sensor.")]
        lines += [f"#define SENSORS(e) {' '.join(f', (e)->{name}' for name in sensors)}".rstrip(), ""]
    lines += map(_constant, model.constants)
    if large_constants(model):
        lines += ["#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__", '#error "tables are bytes, least first"', "#endif"]
    lines += ["", *element_struct(model), *_struct_checks(model), *_indicators_struct(model), "", *index_tables(model)]
    if model.is_prototype:
        lines += ["", *_python_macros(model, python_place)]
    lines += ["", "#endif", ""]
    return "\n".join(lines)


def _functions(model: ElementModel) -> list[str]:
    """CC_HAS_<FUNCTION>: whether the element defines it; CC_ABSENT: what stands in the place of those it does not."""
    defined = {
        "CHECK": bool(model.element.rules) or model.is_prototype,
        "DERIVATIVES": any(s.rate < 0 for s in model.by_kind("state")) and not model.is_prototype,
        "ACCEPT": bool(model.element.memory),
        "SAMPLE": model.samples,
        "INITIAL": any(s.initial for s in model.by_kind("state")),
        "LAWS": model.recipe.laws is not None,
    }
    others = {"RATES": any(v.on_demand for v in model.variables), "INDICATORS": bool(model.indicators)}
    absent = [name for name, is_there in {**defined, **others}.items() if not is_there]
    if model.is_prototype:  # python_element.h has the others
        absent = [name for name in absent if name in ("DERIVATIVES", "LAWS")]
    return [
        *(f"#define CC_HAS_{name} {int(is_there)}" for name, is_there in defined.items()),
        f"#define CC_ABSENT {' '.join(f'CC_NO_{name}' for name in absent)}".rstrip(),
    ]


def _python_macros(model: ElementModel, place: int) -> list[str]:
    """What python_element.h needs; it stands in the place of element.c and computes derivatives with the outputs."""
    derivatives = {s.derivative for s in model.by_kind("state") if s.rate < 0}
    computed = [v.index for v in model.variables if v.kind in ("calculated", "output") or v.index in derivatives]
    return [
        '#define CC_ELEMENT "python_element.h"',
        f"#define CC_PYTHON_PLACE {place}",
        f"#define CC_COMPUTED {len(computed)}",
        int_table("cc_computed", computed),
    ]


def large_constants(model: ElementModel) -> list[Constant]:
    return [one for one in model.constants if _is_large(one)]


def _is_large(constant: Constant) -> bool:
    values = constant.values
    return isinstance(values, bytes) or (len(values) > _LARGE and isinstance(values[0], float))


def data_files(model: ElementModel) -> dict[str, bytes]:
    """File name -> content of the tables that are bytes in the binaries."""
    constants = (one for one in model.constants if not one.is_resource)
    return {one.file_name: one.values for one in constants if isinstance(one.values, bytes)}


def constants_file(model: ElementModel, header: Sequence[str]) -> str:
    """The large tables, each as the bytes of its numbers: compilers read a text many times as fast as numbers."""
    lines = [HEADING, *header, '#pragma GCC diagnostic ignored "-Woverlength-strings"']
    if any(isinstance(one.values, bytes) for one in large_constants(model)):
        lines.append('#include "base/data.h"')
    for constant in large_constants(model):
        if isinstance(constant.values, bytes):
            macro = "CC_RESOURCE" if constant.is_resource else "CC_DATA"
            lines += ["", f'{macro}(CC_ENTRY({constant.name}), "{constant.file_name}");']
            continue
        data = struct.pack(f"<{len(constant.values)}d", *constant.values)
        lines += ["", f"const CcConstant_{constant.name} CC_ENTRY({constant.name}) = {{"]
        lines += [f'    "{"".join(map(_BYTES.__getitem__, data[i : i + 64]))}"' for i in range(0, len(data), 64)]
        lines[-1] += "};"
    return "\n".join(lines) + "\n"


# How a literal of C shows each byte: printable ones as they are, others by three octal digits.
_BYTES = [chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in range(256)]


def _constant(constant: Constant) -> str:
    values = constant.values
    name, count = constant.name, len(values)
    if isinstance(values, bytes):
        declared = f"*CC_ENTRY({name})" if constant.is_resource else f"CC_ENTRY({name})[]"
        return (
            f'__attribute__((visibility("hidden"))) extern const unsigned {declared};\n#define {name} CC_ENTRY({name})'
        )
    if _is_large(constant):
        return (
            f"typedef union {{ char bytes[8 * {count} + 1]; double values[{count}]; }} CcConstant_{name};\n"
            f'__attribute__((visibility("hidden"))) extern const CcConstant_{name} CC_ENTRY({name});\n'
            f"#define {name} CC_ENTRY({name}).values"
        )
    if any(isinstance(v, str) for v in values):
        length = max(len(str(v).encode("utf-8")) for v in values) + 1
        texts = ", ".join(c_literal(str(v)) for v in values)
        return f"static const char {constant.name}[][{length}] __attribute__((unused)) = {{{texts}}};"
    if values and all(isinstance(v, int) for v in values):
        return c_table("int", constant.name, [str(v) for v in values])
    return c_table("double", constant.name, [c_number(float(v)) for v in values])


def law_sources(model: ElementModel, first: int = 1) -> dict[str, str]:
    """laws.h, if the recipe has laws.   first: number of its first table without values outside"""
    laws = model.recipe.laws
    if laws is None:
        return {}
    return {"laws.h": laws_header(laws.laws, laws.slots, HEADING, laws.remembered, first)}


def tables_without_ends(model: ElementModel) -> dict[str, LawTable]:
    return ending_tables(model.recipe.laws.laws) if model.recipe.laws else {}


def _choice_macros(model: ElementModel) -> list[str]:
    """`MOTION` of the structure choice `motion` is one of `MOTION_FRAME`, `MOTION_PLANAR`, ...; a switch is 0 or 1,
    and so is `SLOT_F` of the slot F: whether it is filled.  If the element has headers in a folder of the name,
    `MOTION_FILE` is its file for what the recipe chose: motion/<choice>.h, of a switch on.h or off.h, of a slot law.h
    or built_in.h."""
    lines = []
    for name, value in model.recipe.choices.items():
        macro = name.upper()
        if name in model.element.slots:
            lines.append(f"#define SLOT_{macro} {int(value)}")
            file = "law" if value else "built_in"
        elif isinstance(value, bool):
            lines.append(f"#define {macro} {int(value)}")
            file = "on" if value else "off"
        else:
            choices = model.element.structure[name].choices
            lines += [f"#define {macro}_{choice.upper()} {i}" for i, choice in enumerate(choices)]
            lines.append(f"#define {macro} {macro}_{value.upper()}")
            file = value
        if _has_headers(model.recipe.element_folder / name):
            lines.append(f'#define {macro}_FILE "{name}/{file}.h"')
    for name, size in model.sizes.items():
        if _has_headers(model.recipe.element_folder / name):
            lines.append(f'#define {name.upper()}_FILE "{name}/{"some" if size else "none"}.h"')
    return [*lines, ""] if lines else []


def _has_headers(folder: Path) -> bool:
    """A folder may hold other forms of a choice than its C."""
    return any(folder.glob("*.h"))


def header_begin(kind: str = "") -> list[str]:
    """Of model_data.h.   kind: the name of the type of part that it is in an assembly"""
    return [
        HEADING,
        "#ifndef MODEL_DATA_H",
        "#define MODEL_DATA_H",
        "",
        '#include "base/real.h"',
        '#include "naming.h"',
        "",
        f"#define CC_ENTRY(name) CC_NAMED(CC_MODEL, _{f'{kind}_' if kind else ''}##name)",
        *(["#define CC_HOST_ENTRY(name) CC_NAMED(CC_MODEL, _##name)"] if kind else []),
    ]


def element_struct(model: Model) -> list[str]:
    return ["typedef struct {", *struct_members(model.layout.root, "    ", "Real"), "} Element;"]


def _indicators_struct(model: ElementModel) -> list[str]:
    """What the function `indicators` of the element fills."""
    lines = ["", "typedef struct Indicators Indicators;"]
    if model.indicators:
        lines += ["struct Indicators {", *struct_members(model.indicator_layout.root, "    ", "double"), "};"]
        lines.append('_Static_assert(sizeof(Indicators) == CC_INDICATORS * sizeof(double), "one number each");')
    return lines


def _struct_checks(model: ElementModel) -> list[str]:
    """CC_STRUCTS: that memory has the size of the C structs that it is."""
    memory = [(n, m) for n, m in model.element.memory.items() if m.struct is not None and not model.is_prototype]
    checks = []
    for name, one in memory:
        first, _, rest = name.partition(".")
        of_one = "[0]" if one.each else ""
        member = f"{first}{of_one}.{rest}" if rest else f"{first}{of_one}"
        checks.append(f'_Static_assert(sizeof({one.struct}) == sizeof((Element *)0)->{member}, "{name}");')
    return ["", f"#define CC_STRUCTS {' '.join(checks)}".rstrip()]


def counts(model: Model) -> list[str]:
    return [
        f"#define CC_PYTHON {len(model.prototypes)} /* elements in Python */",
        f"#define CC_EXACT {int(is_exact(model))}",
        f"#define CC_STILL {int(is_still(model))}",
        f"#define CC_HAS_RATES {int(any(v.on_demand for v in model.variables))}",
        f"#define CC_INDICATORS {len(model.indicators)}",
        f"#define CC_VARIABLES {len(model.variables)}",
        f"#define CC_STATES {len(model.by_kind('state'))}",
        f"#define CC_CORE {sum(is_core(model))}",
        f"#define CC_INPUTS {len(_real_inputs(model))}",
        f"#define CC_QUATERNIONS {len(model.quaternions)}",
        *_private_range(model),
        *_record_counts(model),
    ]


def _private_range(model: Model) -> list[str]:
    """The longest row of memory that only the element reads: the index of its first variable, and their number."""
    rows = [list(row) for is_struct, row in groupby(model.variables, lambda v: v.is_struct) if is_struct]
    longest = max(rows, key=len, default=[])
    return [
        f"#define CC_PRIVATE_FROM {longest[0].index if longest else 0}",
        f"#define CC_PRIVATE_COUNT {len(longest)}",
    ]


def _record_counts(model: Model) -> list[str]:
    """What contact_record.h needs: besides the counts the index of the variable that chooses a record, -1 if none."""
    count, size = kept_records(model)
    return [
        f"#define CC_RECORDS {count}",
        f"#define CC_RECORD_SIZE {size}",
        f"#define CC_RECORD_BACK {model[BACK].index if count else -1}",
    ]


def kept_records(model: Model) -> tuple[int, int]:
    """How many contacts before the last one an FMU keeps, and the number of variables of the longest."""
    if BACK not in model:
        return 0, 0
    groups = (Counter(v.name.rpartition(".")[0] for v in e.variables if v.recorded) for _, e in model.elements())
    return int(model[BACK].max or 0), max(size for group in groups for size in group.values())


def index_tables(model: Model) -> list[str]:
    states = model.by_kind("state")
    inputs = _real_inputs(model)
    core = is_core(model)
    return [
        int_table("cc_states", [s.index for s in states]),
        int_table("cc_state_derivatives", [s.derivative for s in states]),
        int_table("cc_state_rates", [s.rate for s in states]),
        int_table("cc_state_bends", state_bends(model)),
        int_table("cc_state_primitives", [s.primitive for s in states]),
        int_table("cc_state_starts", [s.start_from for s in states]),
        int_table("cc_state_reinits", [int(s.reinit) for s in states]),
        int_table("cc_core", [place for place, is_core in enumerate(core) if is_core]),
        int_table("cc_is_core", core),
        int_table("cc_inputs", [v.index for v in inputs]),
        int_table("cc_input_rates", [v.rate for v in inputs]),
        c_table("double", "cc_state_nominals", [c_number(s.nominal, "1.0") for s in states] or ["1.0"]),
        c_table("double", "cc_indicator_nominals", [c_number(one.nominal) for one in model.indicators] or ["1.0"]),
        "static const int cc_quaternions[][2] __attribute__((unused)) = {"
        + (", ".join(f"{{{q}, {w}}}" for q, w in model.quaternions) or "{-1, -1}")
        + "};",
    ]
