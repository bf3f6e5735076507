"""The sources of an FMU: generated files, those of its elements, and what they include of contact_core."""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from fmu_builder.errors import InputError, Problem
from fmu_builder.export.assembly_sources import assembly_sources
from fmu_builder.export.c_text import c_literal
from fmu_builder.export.fmi3_variables import Fmi
from fmu_builder.export.model_data import constants_file, data_files, heading, large_constants, law_sources, model_data
from fmu_builder.export.model_tables import model_tables
from fmu_builder.export.resources import resource_files
from fmu_builder.export.toolchain import FMI3_SOURCE, SOURCE_FILES
from fmu_builder.model.assembly import AssemblyModel
from fmu_builder.model.model import ElementModel, Model
from fmu_builder.paths import shared_folder, shipped

_INCLUDE = re.compile(r'^\s*#\s*(?:include|define \w+_FILE)\s*"([^"]+)"', re.MULTILINE)


def source_files(model: Model, fmi: Fmi = 2) -> tuple[str, ...]:
    """What an importer compiles; everything else is included by these files."""
    layer = FMI3_SOURCE if fmi == 3 else SOURCE_FILES[0]
    if not isinstance(model, AssemblyModel):
        assert isinstance(model, ElementModel)
        return (layer, *SOURCE_FILES[1:], *(["constants.c"] if large_constants(model) else []))
    parts = [f"part_{kind.name}_{real}.c" for kind in model.types for real in ("real", "dual")]
    parts += [f"part_{kind.name}_constants.c" for kind in model.types if large_constants(kind.model)]
    return (layer, "assembly_real.c", "assembly_dual.c", "assembly_tables.c", *SOURCE_FILES[3:], *parts)


def fmu_sources(model: Model, guid: str, fmi: Fmi = 2) -> dict[str, str]:
    """File name -> text of the FMU's sources folder: the generated files, the elements' own, and what they include of
    contact_core, so that files of it that no element uses affect neither GUID nor size."""
    generated = {"model_guid.h": model_guid(model, guid), "model_name.h": model_name(model), **model_tables(model, fmi)}
    if isinstance(model, AssemblyModel):
        generated |= assembly_sources(model)
    else:
        assert isinstance(model, ElementModel)
        generated["model_data.h"] = model_data(model)
        if large_constants(model):
            generated["constants.c"] = constants_file(model, ['#include "model_data.h"'])
        generated |= law_sources(model)
    return _with_included(model, generated, source_files(model, fmi))


def fmu_data(model: Model) -> dict[str, bytes]:
    """File name -> content of what the sources include as it is."""
    return {name: data for _, part in model.elements() for name, data in data_files(part).items()}


_WITHOUT_FILES = "#define CC_WITHOUT_FILES"  # what is checked has data of resources among its constants


def check_sources(model: ElementModel) -> tuple[dict[str, str | bytes], tuple[str, ...]]:
    """File name -> content of what the build's check of the element compiles (contact_core/check), and which of these
    are compiled.  The names in them do not depend on the recipe's."""
    plain = replace(model, name="Check", path=Path("check"))
    generated = {"model_data.h": f"#define CC_CHECK 1\n{model_data(plain)}", "model_name.h": model_name(plain)}
    compiled = ["check/check.c", "element_dual.c"]
    if large_constants(plain):
        generated["constants.c"] = constants_file(plain, [_WITHOUT_FILES, '#include "model_data.h"'])
        compiled.append("constants.c")
    texts = _with_included(plain, generated | law_sources(plain), compiled)
    return {**texts, **fmu_data(model), **resource_files(model)}, tuple(compiled)


def assembly_check_sources(model: AssemblyModel) -> tuple[dict[str, str | bytes], tuple[str, ...]]:
    """The same for the assembly as a whole (contact_core/check)."""
    plain = replace(model, name="Check", path=Path("check"))
    generated = {"model_name.h": model_name(plain), **assembly_sources(plain)}
    left_out = ("fmu.c", "assembly_real.c", "model_tables.c")  # check_assembly.c includes the second one
    compiled = [one for one in source_files(plain) if one not in left_out and not one.endswith("_dual.c")]
    for name in compiled:
        if name.endswith("_real.c"):
            generated[name] = f"#define CC_WITHOUT_DUAL\n{generated[name]}"
        if name.endswith("_constants.c"):
            generated[name] = f"{_WITHOUT_FILES}\n{generated[name]}"
    compiled.append("check/check_assembly.c")
    return {**_with_included(plain, generated, compiled), **fmu_data(model), **resource_files(model)}, tuple(compiled)


def _with_included(model: Model, generated: Mapping[str, str], compiled: Sequence[str]) -> dict[str, str]:
    """The files that are compiled, with all they include: generated ones, the elements' own, shared ones.

    An include is looked for beside the file it stands in, then from the top of the sources, where a shared header is
    found without its folder too."""
    known = shared_sources()
    by_name = {posixpath.basename(place): place for place in known if place.count("/") == 1}
    in_c = {place: folder for place, folder in model.folders().items() if place not in model.prototypes}
    for place, folder in in_c.items():
        if not (folder / "element.c").is_file():
            raise InputError(Problem(str(folder / "element.c"), "is missing: the element has no physics"))
        known |= {f"{place}{path.relative_to(folder).as_posix()}": path for path in own_sources(folder)}
    files: dict[str, str] = {}
    wanted = [*compiled, *(name for name in generated if name.endswith("laws.h"))]
    wanted += [f"{place}model_data.h" for place in model.folders()]
    wanted += [f"{place}element.c" for place in in_c]
    wanted += ["python_element.h", "fmi2/python_host.h"] if model.prototypes else []
    while wanted:
        name = wanted.pop()
        if name in by_name and name not in known and name not in generated:
            generated = {**generated, name: f'#include "{by_name[name]}"\n'}  # an element names no room of the core
        if name in files or (name not in generated and name not in known):
            continue  # the compiler names what is missing, with file and line
        files[name] = generated[name] if name in generated else known[name].read_text(encoding="utf-8")
        for included in _includes(files[name]):
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(name), included))
            wanted.append(beside if beside in generated or beside in known else included)
    return files


@functools.lru_cache(maxsize=256)
def _includes(text: str) -> tuple[str, ...]:
    """What C text includes; of the shared files it is found once in a process."""
    return tuple(_INCLUDE.findall(text))


def own_sources(element: Path) -> tuple[Path, ...]:
    """The C files of an element's folder, and of its folders of variants, with one file for each value of a choice."""
    return (*element.glob("*.[ch]"), *element.glob("*/*.[ch]"))


def shared_sources() -> dict[str, Path]:
    """The C files that elements have in common, by their place among the sources of an FMU: those of contact_core in
    its rooms, those of elements/shared in `shared`."""
    core = shipped("contact_core")
    found = {path.relative_to(core).as_posix(): path for path in core.rglob("*.[ch]")}
    return found | {f"shared/{path.name}": path for path in shared_folder().glob("*.[ch]")}


def model_name(model: Model) -> str:
    """model_name.h: apart from the rest, for objects without it serve every model of the structure."""
    return f"{heading(model)}\n#define CC_MODEL {model.name}\n"


def model_guid(model: Model, guid: str) -> str:
    """model_guid.h: apart from the rest, for it changes with every edit and would have everything compiled again."""
    return f"{heading(model)}\n#define CC_GUID_TEXT {c_literal(guid)}\n"


def write_sources(files: Mapping[str, str | bytes], folder: Path) -> None:
    """Make the folder hold exactly these files; one that is there with the same text keeps its time, so that compilers
    can cache."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.rglob("*"), reverse=True):  # what lies in a folder before the folder
        if path.is_dir():
            with suppress(OSError):  # not empty
                path.rmdir()
        elif path.relative_to(folder).as_posix() not in files:
            path.unlink()
    for name, content in files.items():
        path = folder / name
        data = content.encode("utf-8") if isinstance(content, str) else content
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
