"""The C that is generated for an assembly: its struct and tables, and a folder for each type of part."""

from __future__ import annotations

from bisect import bisect_right

from fmu_builder.export.c_text import c_literal
from fmu_builder.export.model_data import (
    HEADING,
    constants_file,
    counts,
    element_struct,
    header_begin,
    large_constants,
    law_sources,
    model_data,
    tables_without_ends,
)
from fmu_builder.model.assembly import AssemblyModel, PartType


def assembly_sources(model: AssemblyModel) -> dict[str, str]:
    """File name -> text of what is generated for an assembly: its own struct and tables, and for each type of part a
    struct in a folder of its own and two files to compile."""
    files = {"model_data.h": _assembly_data(model), "assembly_tables.c": _assembly_tables(model)}
    table = 1
    for kind in model.types:
        if large_constants(kind.model):
            files[f"part_{kind.name}_constants.c"] = constants_file(
                kind.model, [f'#define CC_MODEL_DATA "{kind.folder}model_data.h"', "#include CC_MODEL_DATA"]
            )
        python_place = [*model.prototypes, kind.folder].index(kind.folder)
        files[f"{kind.folder}model_data.h"] = model_data(kind.model, kind.name, kind.folder, python_place)
        files |= {f"{kind.folder}{name}": text for name, text in law_sources(kind.model, table).items()}
        table += len(tables_without_ends(kind.model))
        for real, meaning in (("real", "double"), ("dual", "dual numbers")):
            files[f"part_{kind.name}_{real}.c"] = "\n".join(
                [
                    f"/* Generated: the parts of the type {kind.name} over {meaning}. */",
                    f'#define CC_MODEL_DATA "{kind.folder}model_data.h"',
                    *([] if kind.model.is_prototype else [f'#define CC_ELEMENT "{kind.folder}element.c"']),
                    f'#include "{"part_real.c" if real == "real" else "element_dual.c"}"',
                    "",
                ]
            )
    return files


def _entry(kind: PartType) -> str:
    return f"CC_ENTRY({kind.name}_part)"


def _assembly_data(model: AssemblyModel) -> str:
    lines = [
        *header_begin(),
        f"#define CC_PARTS {len(model.parts)}",
        "#define CC_HAS_SAMPLE 0",
        f"#define CC_EVALUATIONS {len(model.schedule)}",
        *counts(model),
        "",
        *element_struct(model),
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def _assembly_tables(model: AssemblyModel) -> str:
    """assembly_tables.c: what assembly.h declares."""
    read = {i for found in model.sources.values() for i in found if model.variables[i].on_demand}
    offsets = [part.offset for part in model.parts]
    full = {bisect_right(offsets, i) - 1 for i in read}
    lines = [
        HEADING,
        '#include "assembly.h"',
        "",
        *(f"CC_HIDDEN extern const CcPartType {_entry(kind)};" for kind in model.types),
        "",
        "const CcPart CC_ENTRY(parts)[CC_PARTS] = {",
        *(
            f"    {{{c_literal(p.name)}, &{_entry(model.types[p.type])}, {p.offset}, {p.indicators},"
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
