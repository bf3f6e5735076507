"""Data of a model that lie in files of its FMU's folder resources, and in no binary.

contact_core/fmi2/resources.h describes the format of the files, and reads them."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

import numpy as np

from fmu_builder.export.c_text import c_literal
from fmu_builder.model.assembly import AssemblyModel
from fmu_builder.model.model import ElementModel, Model
from fmu_builder.model.structure_reader import Constant, data_name

_FORMAT, _HEADER = 1, 64
_CHUNK = 2**14  # words that are added up at once: they stay in the cache


def resource_files(model: Model) -> dict[str, bytes]:
    """File name -> content, of the folder resources."""
    return {one.file_name: _file(data) for _, one, data in _resources(model)}


def resource_tables(model: Model, declared: list[str], defined: list[str]) -> None:
    """Add the lines of model_tables.h and model_tables.c that name the files, and where each is tied to its FMU."""
    found = list(_resources(model))
    if not found:
        declared.append("#define CC_RESOURCES 0")
        return
    rows = []
    for pointer, one, data in found:
        sums = ", ".join(f"{value:#x}ull" for value in check_sums(data))
        rows.append(f"    {{&{pointer}, {c_literal(one.file_name)}, {len(data)}ull, {{{sums}}}}},")
    declared += [
        "#ifdef __wasm__ /* whose module has the data */",
        "#define CC_RESOURCES 0",
        "#else",
        f"#define CC_RESOURCES {len(found)}",
        "typedef struct {",
        "    const unsigned **data; /* where an element finds them: set while there are instances */",
        "    const char *file;      /* its name in the folder resources */",
        "    unsigned long long size, sums[4]; /* of the data */",
        "} CcResource;",
        "#define cc_resources CC_ENTRY(resources)",
        "CC_HIDDEN extern const CcResource cc_resources[];",
        '#define RESOURCES_FILE "fmi2/resources.h"',
        "#endif",
    ]
    defined += [
        "#if CC_RESOURCES",
        *(f"CC_HIDDEN extern const unsigned *{pointer};" for pointer, _, _ in found),
        "const CcResource cc_resources[] = {",
        *rows,
        "};",
        "#endif",
    ]


_NAMED = re.compile(r'^CC_RESOURCE\(CC_ENTRY\(\w+\), "([^"]+)"\);$', re.MULTILINE)


def named_files(source: str) -> list[str]:
    """The files of resources that a C source of an FMU names."""
    return _NAMED.findall(source)


def fault_of(name: str, content: bytes) -> str:
    """Why this is not the file of this name, "" if it is."""
    whole = struct.unpack_from("<8sII6Q", content) if len(content) >= _HEADER else ()
    data = content[_HEADER:]
    if whole[:4] != (b"FMUBDATA", _FORMAT, _HEADER, len(data)):
        return "is no file of data of an FMU, or was cut off"
    # both are made of the data: one stands in the binaries, the other in the sources
    if data_name(name.rpartition("_")[0], data) != name or whole[4:] != (*check_sums(data), 0):
        return "was changed, or belongs to another FMU"
    return ""


def check_sums(data: bytes) -> tuple[int, ...]:
    """Four sums over words of 32 bits, mod 2^64."""
    words = np.frombuffer(data, "<u4")
    last = [np.uint64(0)] * 4
    for begin in range(0, len(words), _CHUNK):
        sums = words[begin : begin + _CHUNK].astype(np.uint64)
        for k in range(4):
            sums = np.cumsum(sums, dtype=np.uint64)
            sums += last[k]
            last[k] = sums[-1]
    return tuple(map(int, last))


def _file(data: bytes) -> bytes:
    return struct.pack("<8sII6Q", b"FMUBDATA", _FORMAT, _HEADER, len(data), *check_sums(data), 0) + data


def _resources(model: Model) -> Iterator[tuple[str, Constant, bytes]]:
    """The pointer in C, constant and bytes of each."""
    if isinstance(model, AssemblyModel):
        parts = [(kind.model, f"{kind.name}_") for kind in model.types]
    else:
        assert isinstance(model, ElementModel)
        parts = [(model, "")]
    for part, of_part in parts:
        for one in part.constants:
            if one.is_resource:
                assert isinstance(one.values, bytes)
                yield f"CC_ENTRY({of_part}{one.name})", one, one.values
