"""From a model to C: the struct, the tables, the constants.  Everything else in an FMU's sources is contact_core and
element.c as they stand."""

from __future__ import annotations

import posixpath
import re
import struct
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from fmu_builder.errors import InputError, Problem
from fmu_builder.export.toolchain import SOURCE_FILES
from fmu_builder.laws.c_source import ending_tables, laws_header
from fmu_builder.laws.tables import LawTable
from fmu_builder.model.assembly import Assembly, PartType
from fmu_builder.model.model import BACK, ElementModel, Model, Node, Variable
from fmu_builder.model.structure_reader import Constant
from fmu_builder.paths import shared_folder, shipped

_KINDS = {
    "time": "CC_TIME",
    "fixed": "CC_FIXED",
    "tunable": "CC_TUNABLE",
    "calculated": "CC_OUTPUT",
    "input": "CC_INPUT",
    "state": "CC_STATE",
    "derivative": "CC_DERIVATIVE",
    "output": "CC_OUTPUT",
    "memory": "CC_MEMORY",
}
_TYPES = {"real": "CC_REAL", "int": "CC_INTEGER", "bool": "CC_BOOLEAN", "enum": "CC_INTEGER"}
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_HUGE = "1.7976931348623157e308"
_LARGE = 1000  # values of a constant table that is compiled once and not with every file that reads it

# Standard categories of FMI 2.0 that contact_core logs in; an element adds its own.
LOG_CATEGORIES = {
    "logStatusWarning": "Calls that were answered with fmi2Warning",
    "logStatusDiscard": "Values of inputs that were refused, calls that were answered with fmi2Discard",
    "logStatusError": "Calls that were answered with fmi2Error; logged also while logging is off",
}


def log_categories(model: Model) -> dict[str, str]:
    """Names and descriptions of all categories this FMU logs in."""
    return {**LOG_CATEGORIES, **model.log}


def source_files(model: Model) -> tuple[str, ...]:
    """What an importer compiles; everything else is included by these files."""
    if not isinstance(model, Assembly):
        assert isinstance(model, ElementModel)
        return (*SOURCE_FILES, "constants.c") if _large_constants(model) else SOURCE_FILES
    parts = [f"part_{kind.name}_{real}.c" for kind in model.types for real in ("real", "dual")]
    parts += [f"part_{kind.name}_constants.c" for kind in model.types if _large_constants(kind.model)]
    return ("fmu.c", "assembly_real.c", "assembly_dual.c", "assembly_tables.c", *parts)


def fmu_sources(model: Model, guid: str) -> dict[str, str]:
    """File name -> text of the FMU's sources folder: the generated files, the elements' own, and what they include of
    contact_core, so that a part of it that no element uses changes neither its GUID nor its size."""
    generated = {"model_guid.h": model_guid(model, guid), "model_tables.h": model_tables(model)}
    if isinstance(model, Assembly):
        generated |= assembly_sources(model)
    else:
        assert isinstance(model, ElementModel)
        generated["model_data.h"] = model_data(model)
        if _large_constants(model):
            generated["constants.c"] = _constants_file(model, ['#include "model_data.h"'])
        generated |= law_sources(model)
    return _with_included(model, generated, source_files(model))


def check_sources(model: ElementModel) -> tuple[dict[str, str], tuple[str, ...]]:
    """File name -> text of what the build's check of the element compiles (contact_core/check), and which of these
    are compiled.  The names in them do not depend on the recipe's."""
    plain = replace(model, name=model.element_name, path=Path("check"))
    generated = {"model_data.h": model_data(plain, "Check"), "model_guid.h": model_guid(plain, "")}
    compiled = ["check/check.c", "element_dual.c"]
    if _large_constants(plain):
        generated["constants.c"] = _constants_file(plain, ['#include "model_data.h"'])
        compiled.append("constants.c")
    return _with_included(plain, generated | law_sources(plain), compiled), tuple(compiled)


def assembly_check_sources(model: Assembly) -> tuple[dict[str, str], tuple[str, ...]]:
    """The same for the assembly as a whole (contact_core/check)."""
    plain = replace(model, name="Check", path=Path("check"))
    generated = {"model_guid.h": model_guid(plain, ""), **assembly_sources(plain)}
    left_out = ("fmu.c", "assembly_real.c")  # check_assembly.c includes the second one
    compiled = [one for one in source_files(plain) if one not in left_out and not one.endswith("_dual.c")]
    for name in compiled:
        if name.endswith("_real.c"):
            generated[name] = f"#define CC_WITHOUT_DUAL\n{generated[name]}"
    compiled.append("check/check_assembly.c")
    return _with_included(plain, generated, compiled), tuple(compiled)


def _with_included(model: Model, generated: Mapping[str, str], compiled: Sequence[str]) -> dict[str, str]:
    """The files that are compiled, with all they include: generated ones, the elements' own, shared ones.

    An include is looked for beside the file it stands in, then from the top of the sources, where a shared header is
    found without its folder too."""
    known = shared_sources()
    by_name = {posixpath.basename(place): place for place in known if place.count("/") == 1}
    for place, folder in model.folders().items():
        if not (folder / "element.c").is_file():
            raise InputError(Problem(str(folder / "element.c"), "is missing: the element has no physics"))
        known |= {f"{place}{path.name}": path for path in folder.glob("*.[ch]")}
    files: dict[str, str] = {}
    wanted = [*compiled, *(name for name in generated if name.endswith("laws.h"))]
    wanted += [f"{place}{name}" for place in model.folders() for name in ("model_data.h", "element.c")]
    while wanted:
        name = wanted.pop()
        if name in by_name and name not in known and name not in generated:
            generated = {**generated, name: f'#include "{by_name[name]}"\n'}  # an element names no room of the core
        if name in files or (name not in generated and name not in known):
            continue  # the compiler names what is missing, with file and line
        files[name] = generated[name] if name in generated else known[name].read_text(encoding="utf-8")
        for included in _INCLUDE.findall(files[name]):
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(name), included))
            wanted.append(beside if beside in generated or beside in known else included)
    return files


def shared_sources() -> dict[str, Path]:
    """The C files that elements have in common, by their place among the sources of an FMU: those of contact_core in
    its rooms, those of elements/shared in `shared`."""
    core = shipped("contact_core")
    found = {path.relative_to(core).as_posix(): path for path in core.rglob("*.[ch]")}
    return found | {f"shared/{path.name}": path for path in shared_folder().glob("*.[ch]")}


def _number(value: float | None, default: str = "0.0") -> str:
    """A C constant with the same bits: hexadecimal, so that no parser rounds."""
    return default if value is None else value.hex() if value != int(value) or abs(value) > 1e15 else f"{value:.1f}"


def _text(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _members(node: Node, indent: str, kind: str) -> list[str]:
    """The members of a struct of numbers of this type."""
    lines = []
    for name, member in node.members.items():
        each = f"[{member.each}]" if member.each else ""
        if member.members:
            lines += [f"{indent}struct {{", *_members(member, indent + "    ", kind), f"{indent}}} {name}{each};"]
        else:
            size = f"[{member.size}]" if member.size else ""
            lines.append(f"{indent}{kind} {name}{each}{size};")
    return lines


def _int_table(name: str, values: list[int]) -> str:
    return _table("int", name, [str(v) for v in values] or ["-1"])


def _counting_table(name: str, values: list[int]) -> str:
    """A table of the smallest type that holds the values, none of which is negative."""
    largest = max(values)
    kind = "unsigned char" if largest < 2**8 else "unsigned short" if largest < 2**16 else "unsigned"
    return _table(kind, name, [str(v) for v in values])


def _table(kind: str, name: str, values: list[str]) -> str:
    body = ",\n    ".join(", ".join(values[i : i + 20]) for i in range(0, len(values), 20))
    return f"static const {kind} {name}[] __attribute__((unused)) = {{\n    {body}}};"


def _real_inputs(model: Model) -> list[Variable]:
    return [v for v in model.variables if v.is_continuous_input]


def model_guid(model: Model, guid: str) -> str:
    """model_guid.h: apart from the rest, for it changes with every edit and would have everything compiled again."""
    return f"{_heading(model)}\n#define CC_GUID_TEXT {_text(guid)}\n"


def _heading(model: Model) -> str:
    return f"/* Generated from {model.path.name}; do not edit. */"


def model_data(model: ElementModel, entry: str = "", host_entry: str = "", folder: str = "") -> str:
    """model_data.h: the struct Element and what both compilations of the element need.

    entry       what the names of its functions begin with, by default the model's name
    host_entry  the same for the functions of the FMU that it is a part of
    folder      of its files, with a slash at the end"""
    entry = entry or model.name
    lines = [
        *_guarded(model, "MODEL_DATA_H"),
        f"#define CC_ENTRY(name) {entry}_##name",
        *([f"#define CC_HOST_ENTRY(name) {host_entry}_##name"] if host_entry else []),
        f"#define CC_HAS_CHECK {int(bool(model.element.rules))}",
        f"#define CC_HAS_DERIVATIVES {int(any(s.rate < 0 for s in model.by_kind('state')))}",
        f"#define CC_HAS_ACCEPT {int(bool(model.element.memory))}",
        f"#define CC_HAS_SAMPLE {int(any(model.recipe.choices[name] is True for name in model.element.samplers))}",
        f"#define CC_HAS_INITIAL {int(any(s.initial for s in model.by_kind('state')))}",
        f"#define CC_HAS_LAWS {int(model.recipe.laws is not None)}",
        *([f'#define CC_LAWS "{folder}laws.h"'] if model.recipe.laws else []),
        *_counts(model),
        "",
    ]
    if model.sizes:
        lines += [*(f"#define {name.upper()} {size}" for name, size in model.sizes.items()), ""]
    lines += _choice_macros(model)
    if any(slot.sensors for slot in model.element.slots.values()):
        sensors = [name for name in model.element.inputs if name.startswith("sensor.")]
        lines += [f"#define SENSORS(e) {' '.join(f', (e)->{name}' for name in sensors)}".rstrip(), ""]
    lines += map(_constant, model.constants)
    if _large_constants(model):
        lines += ["#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__", '#error "tables are bytes, least first"', "#endif"]
    lines += ["", *_struct(model), *_struct_checks(model), *_indicators_struct(model), "", *_index_tables(model)]
    lines += ["", "#endif", ""]
    return "\n".join(lines)


def _large_constants(model: ElementModel) -> list[Constant]:
    return [one for one in model.constants if _is_large(one)]


def _is_large(constant: Constant) -> bool:
    return len(constant.values) > _LARGE and isinstance(constant.values[0], float)


def _constants_file(model: ElementModel, header: Sequence[str]) -> str:
    """The large tables, each as the bytes of its numbers: compilers read a text many times as fast as numbers."""
    lines = [_heading(model), *header, '#pragma GCC diagnostic ignored "-Woverlength-strings"']
    for constant in _large_constants(model):
        data = struct.pack(f"<{len(constant.values)}d", *constant.values)
        lines += ["", f"const CcConstant_{constant.name} CC_ENTRY({constant.name}) = {{"]
        lines += [f'    "{"".join(map(_BYTES.__getitem__, data[i : i + 64]))}"' for i in range(0, len(data), 64)]
        lines[-1] += "};"
    return "\n".join(lines) + "\n"


# How a literal of C shows each byte: printable ones as they are, others by three octal digits.
_BYTES = [chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in range(256)]


def _constant(constant: Constant) -> str:
    values = constant.values
    if _is_large(constant):
        name, count = constant.name, len(values)
        return (
            f"typedef union {{ char bytes[8 * {count} + 1]; double values[{count}]; }} CcConstant_{name};\n"
            f'__attribute__((visibility("hidden"))) extern const CcConstant_{name} CC_ENTRY({name});\n'
            f"#define {name} CC_ENTRY({name}).values"
        )
    if any(isinstance(v, str) for v in values):
        length = max(len(str(v).encode("utf-8")) for v in values) + 1
        texts = ", ".join(_text(str(v)) for v in values)
        return f"static const char {constant.name}[][{length}] __attribute__((unused)) = {{{texts}}};"
    if values and all(isinstance(v, int) for v in values):
        return _table("int", constant.name, [str(v) for v in values])
    return _table("double", constant.name, [_number(float(v)) for v in values])


def law_sources(model: ElementModel, first: int = 1) -> dict[str, str]:
    """laws.h, if the recipe has laws.   first: number of its first table without values outside"""
    laws = model.recipe.laws
    if laws is None:
        return {}
    return {"laws.h": laws_header(laws.laws, laws.slots, _heading(model), laws.remembered, first)}


def _ending_tables(model: ElementModel) -> dict[str, LawTable]:
    return ending_tables(model.recipe.laws.laws) if model.recipe.laws else {}


def _law_tables(model: Model) -> list[str]:
    """What the FMI layer tells of a table without values outside, in the unit of the table."""
    of_types = [(kind.model, f"{kind.name}: ") for kind in model.types] if isinstance(model, Assembly) else []
    models = of_types or ([(model, "")] if isinstance(model, ElementModel) else [])
    tables = [(f"{part}{name}", one) for owner, part in models for name, one in _ending_tables(owner).items()]
    if not tables:
        return ["#define CC_LAW_TABLES 0"]
    rows = []
    for name, table in tables:
        unit, ends = table.unit, ((x - table.unit.offset) / table.unit.factor for x in (table.x[0], table.x[-1]))
        texts = ", ".join(map(_text, (name, table.name, "" if unit.name == "1" else unit.name)))
        rows.append(f"    {{{texts}, {', '.join(map(_number, (unit.factor, unit.offset, *ends)))}}},")
    return [
        f"#define CC_LAW_TABLES {len(tables)} /* without values outside; x = factor value + offset */",
        "typedef struct {",
        "    const char *law, *argument, *unit;",
        "    double factor, offset, from, to;",
        "} CcLawTable;",
        "static const CcLawTable cc_law_tables[] = {",
        *rows,
        "};",
    ]


def _choice_macros(model: ElementModel) -> list[str]:
    """`MOTION` of the structure choice `motion` is one of `MOTION_FRAME`, `MOTION_PLANAR`, ...; a switch is 0 or 1,
    and so is `SLOT_F` of the slot F: whether it is filled."""
    lines = []
    for name, value in model.recipe.choices.items():
        if name in model.element.slots:
            lines.append(f"#define SLOT_{name.upper()} {int(value)}")
            continue
        macro = name.upper()
        choices = model.element.structure[name].choices
        lines += [f"#define {macro}_{choice.upper()} {i}" for i, choice in enumerate(choices)]
        lines.append(f"#define {macro} {int(value) if isinstance(value, bool) else f'{macro}_{value.upper()}'}")
    return [*lines, ""] if lines else []


def _guarded(model: Model, guard: str) -> list[str]:
    return [_heading(model), f"#ifndef {guard}", f"#define {guard}", "", '#include "base/real.h"', ""]


def _struct(model: Model) -> list[str]:
    return ["typedef struct {", *_members(model.layout.root, "    ", "Real"), "} Element;"]


def _indicators_struct(model: ElementModel) -> list[str]:
    """What the function `indicators` of the element fills."""
    lines = ["", "typedef struct Indicators Indicators;"]
    if model.indicators:
        lines += ["struct Indicators {", *_members(model.indicator_layout.root, "    ", "double"), "};"]
        lines.append('_Static_assert(sizeof(Indicators) == CC_INDICATORS * sizeof(double), "one number each");')
    return lines


def _struct_checks(model: ElementModel) -> list[str]:
    """CC_STRUCTS: that memory has the size of the C structs that it is."""
    memory = [(name, one) for name, one in model.element.memory.items() if one.struct is not None]
    checks = []
    for name, one in memory:
        first, _, rest = name.partition(".")
        of_one = "[0]" if one.each else ""
        member = f"{first}{of_one}.{rest}" if rest else f"{first}{of_one}"
        checks.append(f'_Static_assert(sizeof({one.struct}) == sizeof((Element *)0)->{member}, "{name}");')
    return ["", f"#define CC_STRUCTS {' '.join(checks)}".rstrip()]


def _counts(model: Model) -> list[str]:
    return [
        f"#define CC_EXACT {int(_is_exact(model))}",
        f"#define CC_STILL {int(_is_still(model))}",
        f"#define CC_HAS_RATES {int(any(v.on_demand for v in model.variables))}",
        f"#define CC_TOLERANCE {_number(model.experiment.tolerance)} /* where there is no solver.tolerance */",
        f"#define CC_INDICATORS {len(model.indicators)}",
        f"#define CC_VARIABLES {len(model.variables)}",
        f"#define CC_STATES {len(model.by_kind('state'))}",
        f"#define CC_CORE {sum(_is_core(model))}",
        f"#define CC_INPUTS {len(_real_inputs(model))}",
        f"#define CC_QUATERNIONS {len(model.quaternions)}",
        *_record_counts(model),
    ]


def _record_counts(model: Model) -> list[str]:
    """What contact_record.h is told: besides the counts the index of the variable that chooses a record, -1 if none."""
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


def conclusions(model: Model) -> tuple[str, ...]:
    """What the solver concludes from declared dependencies and a run can show: `exact`, `still`.  An element that
    samples at communication points is another one where there are more of them."""
    samples = any(m.recipe.choices[name] is True for _, m in model.elements() for name in m.element.samplers)
    exact = not model.is_prototype and not samples and _is_exact(model)
    return (*(["exact"] if exact else []), *(["still"] if not model.is_prototype and _is_still(model) else []))


def _is_exact(model: Model) -> bool:
    """Whether the course of every state under held inputs is known: its rate is constant, or is a state with a constant
    rate, or follows the clock alone and has a `primitive`.  Constant is what neither states nor time enter."""
    states = model.by_kind("state")
    followed = {i for v in model.variables for i in v.depends}
    bends = _bends(model)

    def enters(state: Variable, *kinds: str) -> bool:
        return any(model.variables[i].kind in kinds for i in model.variables[state.derivative].depends)

    constant = [not enters(s, "state", "time") for s in states]
    primitive = [s.primitive >= 0 and not enters(s, "state") and s.index not in followed for s in states]
    known = all(any(ways) for ways in zip(constant, (bend >= 0 for bend in bends), primitive, strict=True))
    # What moves inside a step may cross an indicator there.
    return bool(states) and known and (all(constant) or not model.indicators)


def _is_still(model: Model) -> bool:
    """Whether held inputs hold all that is computed, but what is on demand: neither states nor time enter."""
    moving = {v.index for v in model.by_kind("state", "time")}
    computed = (v for v in model.by_kind("output", "derivative") if not v.on_demand)
    return all(moving.isdisjoint(v.depends) for v in computed)


def _bends(model: Model) -> list[int]:
    """For each state the constant second derivative it has under held inputs, else -1."""
    found = []
    for state in model.by_kind("state"):
        rate = model.variables[state.rate] if state.rate >= 0 else None
        bend = rate.derivative if rate is not None and rate.kind == "state" else -1
        moving = bend >= 0 and any(model.variables[i].kind in ("state", "time") for i in model.variables[bend].depends)
        found.append(-1 if moving else bend)
    return found


def _is_core(model: Model) -> list[int]:
    """For each state, 1 if a right-hand side depends on it while it changes and 0 for a ledger."""
    used = {i for v in model.by_kind("derivative") for i in v.depends}
    return [int(s.index in used and not s.constant_where_used) for s in model.by_kind("state")]


def _index_tables(model: Model) -> list[str]:
    states = model.by_kind("state")
    inputs = _real_inputs(model)
    core = _is_core(model)
    return [
        _int_table("cc_states", [s.index for s in states]),
        _int_table("cc_state_derivatives", [s.derivative for s in states]),
        _int_table("cc_state_rates", [s.rate for s in states]),
        _int_table("cc_state_bends", _bends(model)),
        _int_table("cc_state_primitives", [s.primitive for s in states]),
        _int_table("cc_state_starts", [s.start_from for s in states]),
        _int_table("cc_state_reinits", [int(s.reinit) for s in states]),
        _int_table("cc_core", [place for place, is_core in enumerate(core) if is_core]),
        _int_table("cc_is_core", core),
        _int_table("cc_inputs", [v.index for v in inputs]),
        _int_table("cc_input_rates", [v.rate for v in inputs]),
        _table("double", "cc_state_nominals", [_number(s.nominal, "1.0") for s in states] or ["1.0"]),
        _table("double", "cc_indicator_nominals", [_number(one.nominal) for one in model.indicators] or ["1.0"]),
        "static const int cc_quaternions[][2] __attribute__((unused)) = {"
        + (", ".join(f"{{{q}, {w}}}" for q, w in model.quaternions) or "{-1, -1}")
        + "};",
    ]


# ---- assemblies --------------------------------------------------------------------------------------------------


def assembly_sources(model: Assembly) -> dict[str, str]:
    """File name -> text of what is generated for an assembly: its own struct and tables, and for each type of part a
    struct in a folder of its own and two files to compile."""
    files = {"model_data.h": _assembly_data(model), "assembly_tables.c": _assembly_tables(model)}
    table = 1
    for kind in model.types:
        if _large_constants(kind.model):
            files[f"part_{kind.name}_constants.c"] = _constants_file(
                kind.model, [f'#define CC_MODEL_DATA "{kind.folder}model_data.h"', "#include CC_MODEL_DATA"]
            )
        files[f"{kind.folder}model_data.h"] = model_data(kind.model, _entry(model, kind), model.name, kind.folder)
        files |= {f"{kind.folder}{name}": text for name, text in law_sources(kind.model, table).items()}
        table += len(_ending_tables(kind.model))
        for real, meaning in (("real", "double"), ("dual", "dual numbers")):
            files[f"part_{kind.name}_{real}.c"] = "\n".join(
                [
                    f"/* Generated: the parts of the type {kind.name} over {meaning}. */",
                    f'#define CC_MODEL_DATA "{kind.folder}model_data.h"',
                    f'#define CC_ELEMENT "{kind.folder}element.c"',
                    f'#include "{"part_real.c" if real == "real" else "element_dual.c"}"',
                    "",
                ]
            )
    return files


def _entry(model: Assembly, kind: PartType) -> str:
    return f"{model.name}_{kind.name}"


def _assembly_data(model: Assembly) -> str:
    lines = [
        *_guarded(model, "MODEL_DATA_H"),
        f"#define CC_ENTRY(name) {model.name}_##name",
        f"#define CC_PARTS {len(model.parts)}",
        f"#define CC_EVALUATIONS {len(model.schedule)}",
        *_counts(model),
        "",
        *_struct(model),
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def _assembly_tables(model: Assembly) -> str:
    """assembly_tables.c: what assembly.h declares."""
    read = {i for found in model.sources.values() for i in found if model.variables[i].on_demand}
    offsets = [part.offset for part in model.parts]
    full = {bisect_right(offsets, i) - 1 for i in read}
    lines = [
        _heading(model),
        '#include "assembly.h"',
        "",
        *(f"CC_HIDDEN extern const CcPartType {_entry(model, kind)}_part;" for kind in model.types),
        "",
        "const CcPart CC_ENTRY(parts)[CC_PARTS] = {",
        *(
            f"    {{{_text(p.name)}, &{_entry(model, model.types[p.type])}_part, {p.offset}, {p.indicators},"
            f" {int(i in full)}}},"
            for i, p in enumerate(model.parts)
        ),
        "};",
        "",
        "const CcEvaluation CC_ENTRY(schedule)[CC_EVALUATIONS] = {",
        *(f"    {{{one.part}, {one.copies}, {int(one.last)}}}," for one in model.schedule),
        "};",
        "",
        "const CcCopy CC_ENTRY(copies)[] = {",
        *(f"    {{{c.target}, {c.source}, {c.count}, {int(c.adds)}}}," for c in model.copies),
        "    {0, 0, 0, 0}};",
        "",
    ]
    return "\n".join(lines)


# ---- tables of the FMI layer -------------------------------------------------------------------------------------


def model_tables(model: Model) -> str:
    """model_tables.h: what the FMI layer knows of every variable.

    Many variables are alike but for their names and start values, so rows are shared, and names are one text: tables of
    numbers, which need no work when the library is loaded."""
    rows: dict[str, int] = {}
    row_of = [rows.setdefault(_row(v), len(rows)) for v in model.variables]
    starts: dict[str, int] = {}
    start_of = [starts.setdefault(_number(v.start), len(starts)) for v in model.variables]
    names, width, places = _names([v.name for v in model.variables] + [z.name for z in model.indicators])
    categories = log_categories(model)
    lines = [
        _heading(model),
        "#ifndef MODEL_TABLES_H",
        "#define MODEL_TABLES_H",
        "",
        f"enum {{ {', '.join(dict.fromkeys(_KINDS.values()))} }};",
        f"enum {{ {', '.join(dict.fromkeys(_TYPES.values()))} }};",
        "",
        "typedef struct {",
        "    const char *unit;",
        "    unsigned char kind, type, is_output, hidden, on_demand, strict, recorded;",
        "    double min, max, above, below; /* min and max are allowed, above and below are not */",
        "} CcVariable;",
        "",
        "static const CcVariable cc_variables[] = {",
        *rows,
        "};",
        _counting_table("cc_variable_rows", row_of),
        _table("double", "cc_start_values", list(starts)),
        _counting_table("cc_start_rows", start_of),
        _counting_table("cc_name_places", places),
        f"#define CC_NAMES_ROW {width}",
        "static const char cc_names[][CC_NAMES_ROW] = {",
        *(f"    {row}," for row in names),
        "};",
        "",
        f"#define CC_LOG_CATEGORIES {len(categories)}",
        f"static const char *const cc_log_categories[] = {{{', '.join(map(_text, categories))}}};",
        *_law_tables(model),
        *(_index_tables(model) if isinstance(model, Assembly) else []),  # the parts have their own
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


_LONGEST_TEXT = 4095  # characters of a literal that every C compiler must take


def _names(names: Sequence[str]) -> tuple[list[str], int, list[int]]:
    """Literals of C, each with as many names as fit, ended by zeros; the length of an array that holds any of them; and
    where each name begins, counted over such arrays."""
    rows: list[list[str]] = [[]]
    starts: list[tuple[int, int]] = []
    used = longest = 0
    for name in names:
        length = len(name.encode("utf-8")) + 1
        if used + length > _LONGEST_TEXT and rows[-1]:
            rows.append([])
            used = 0
        rows[-1].append(name)
        starts.append((len(rows) - 1, used))
        used += length
        longest = max(longest, used)
    literals = ['"' + "".join(_text(name)[1:-1] + "\\0" for name in row) + '"' for row in rows]
    return literals, longest + 1, [row * (longest + 1) + place for row, place in starts]


def _row(v: Variable) -> str:
    """What a variable has in common with others, as a row of C."""
    strict = v.above is not None or v.below is not None
    unit = "" if v.unit.name == "1" else v.unit.name
    flags = ", ".join(str(int(flag)) for flag in (v.is_output, v.hidden, v.on_demand, strict, v.recorded))
    kinds = f"{_KINDS[v.kind]}, {_TYPES[v.type]}, {flags}"
    bounds = ((v.min, f"-{_HUGE}"), (v.max, _HUGE), (v.above, f"-{_HUGE}"), (v.below, _HUGE))
    return f"    {{{_text(unit)}, {kinds}, {', '.join(_number(bound, far) for bound, far in bounds)}}},"


def write_sources(files: dict[str, str], folder: Path) -> None:
    """Make the folder hold exactly these files; one that is there with the same text keeps its time, so that compilers
    can cache."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.rglob("*"), reverse=True):  # what lies in a folder before the folder
        if path.is_dir():
            with suppress(OSError):  # not empty
                path.rmdir()
        elif path.relative_to(folder).as_posix() not in files:
            path.unlink()
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode("utf-8")
        if not path.is_file() or path.read_bytes() != data:
            path.write_bytes(data)
