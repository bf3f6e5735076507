"""Rules on the archive of an FMU (section 2.3 of FMI 2.0.4): files, their names and cases, binaries, sources."""

from __future__ import annotations

import functools
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import fmpy
from lxml import etree

from fmu_builder.check.document import Fmu
from fmu_builder.check.findings import Found, Rule
from fmu_builder.errors import FmuBuilderError, InputError, listed
from fmu_builder.export.archive import platform_folders
from fmu_builder.export.binaries import read_library
from fmu_builder.export.terminals import FILE as TERMINALS
from fmu_builder.export.terminals import terminals_schema
from fmu_builder.export.toolchain import fmi2_functions
from fmu_builder.export.xml_files import parsed

_BUILD = "sources/buildDescription.xml"
_ROOT = ("modelDescription.xml", "model.png", "documentation", "sources", "binaries", "resources", "extra")
_OLD = {
    "win32": ".dll",
    "win64": ".dll",
    "linux32": ".so",
    "linux64": ".so",
    "darwin32": ".dylib",
    "darwin64": ".dylib",
}
_SYSTEMS = {"windows": ".dll", "linux": ".so", "darwin": ".dylib"}
_TUPLE = re.compile(r"(?P<machine>[a-z0-9_]+)-(?P<system>[a-z0-9]+)(-[a-z0-9]+)?")
_MACHINES = {  # of the folders whose libraries are read: format and machines
    "linux64": ("elf", "x86_64"),
    "win64": ("pe", "x86_64"),
    "darwin64": ("macho", "x86_64"),
    "x86_64-linux": ("elf", "x86_64"),
    "x86_64-windows": ("pe", "x86_64"),
    "x86_64-darwin": ("macho", "x86_64"),
    "aarch64-linux": ("elf", "aarch64"),
    "aarch64-windows": ("pe", "aarch64"),
    "aarch64-darwin": ("macho", "aarch64"),
}
_MODEL_EXCHANGE = {  # functions that co-simulation does not have, and the reverse
    "fmi2EnterEventMode",
    "fmi2NewDiscreteStates",
    "fmi2EnterContinuousTimeMode",
    "fmi2CompletedIntegratorStep",
    "fmi2SetTime",
    "fmi2SetContinuousStates",
    "fmi2GetDerivatives",
    "fmi2GetEventIndicators",
    "fmi2GetContinuousStates",
    "fmi2GetNominalsOfContinuousStates",
}
_CO_SIMULATION = {
    "fmi2SetRealInputDerivatives",
    "fmi2GetRealOutputDerivatives",
    "fmi2DoStep",
    "fmi2CancelStep",
    "fmi2GetStatus",
    "fmi2GetRealStatus",
    "fmi2GetIntegerStatus",
    "fmi2GetBooleanStatus",
    "fmi2GetStringStatus",
}


def _suffix(folder: str) -> str | None:
    """Of the libraries in binaries/<folder>; None for a folder that the standard does not name."""
    match = _TUPLE.fullmatch(folder)
    return _OLD.get(folder) or (_SYSTEMS.get(match["system"]) if match else None)


def _libraries(fmu: Fmu) -> Iterator[tuple[str, str]]:
    """Folder and name of each library that the standard asks for and the archive has."""
    for folder in platform_folders(fmu.names):
        suffix = _suffix(folder)
        names = (f"binaries/{folder}/{identifier}{suffix}" for identifier in fmu.identifiers)
        yield from ((folder, name) for name in names if suffix and name in fmu.names)


def _ending(fmu: Fmu) -> Iterator[Found]:
    if fmu.path.suffix != ".fmu":
        yield Found(f"the file is called {fmu.path.name}", file=fmu.path.name)


def _twice(fmu: Fmu) -> Iterator[Found]:
    count = Counter(entry.filename.casefold() for entry in fmu.entries)
    alike = {
        name: [e.filename for e in fmu.entries if e.filename.casefold() == name] for name, n in count.items() if n > 1
    }
    for names in alike.values():
        yield Found(f"the archive holds {' and '.join(names)}", file=names[0])


def _compression(fmu: Fmu) -> Iterator[Found]:
    for entry in fmu.entries:
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            yield Found(f"{entry.filename} is compressed by method {entry.compress_type}", file=entry.filename)


def _root_names(fmu: Fmu) -> Iterator[Found]:
    for name in sorted({one.split("/")[0] for one in fmu.names}):
        right = next((one for one in _ROOT if one.casefold() == name.casefold()), name)
        if right != name:
            yield Found(f"'{name}' is not '{right}': the case of names counts", file=name)
        elif name in (".", "") or (name not in _ROOT and f"{name}/modelDescription.xml" in fmu.names):
            yield Found(f"files lie in a folder '{name}/' of the archive", file=name)


def _something_to_run(fmu: Fmu) -> Iterator[Found]:
    if not any(name.startswith(("binaries/", "sources/")) and not name.endswith("/") for name in fmu.names):
        yield Found("the archive has neither binaries nor sources", file="binaries/")


def _folder_names(fmu: Fmu) -> Iterator[Found]:
    for folder in platform_folders(fmu.names):
        if _suffix(folder) is None:
            yield Found(f"'{folder}' is no name of a platform", file=f"binaries/{folder}/")


def _library_names(fmu: Fmu) -> Iterator[Found]:
    for folder in platform_folders(fmu.names):
        suffix = _suffix(folder)
        held = [name for name in fmu.names if name.startswith(f"binaries/{folder}/")]
        if suffix is None or any(name.endswith((".a", ".lib")) for name in held):  # static libraries have any name
            continue
        for identifier in fmu.identifiers:
            name = f"binaries/{folder}/{identifier}{suffix}"
            if name not in fmu.names:
                near = next((one for one in held if one.casefold() == name.casefold()), None)
                yield Found(f"there is no {name}" + (f", but {near}" if near else ""), file=f"binaries/{folder}/")


def _formats(fmu: Fmu) -> Iterator[Found]:
    for folder, name in _libraries(fmu):
        if folder not in _MACHINES:
            continue
        try:
            kinds = {(one.format, one.machine) for one in read_library(fmu.read(name), name)}
        except FmuBuilderError as error:
            yield Found(str(error).removeprefix(f"{name}: "), file=name)
            continue
        if _MACHINES[folder] not in kinds:
            has = " and ".join(f"{form} {machine}" for form, machine in sorted(kinds))
            yield Found(f"is a library for {has}, not for {' '.join(_MACHINES[folder])}", file=name)


def _exports(fmu: Fmu) -> Iterator[Found]:
    needed = set(fmi2_functions())
    needed -= _MODEL_EXCHANGE if fmu.interface("ModelExchange") is None else set()
    needed -= _CO_SIMULATION if fmu.interface("CoSimulation") is None else set()
    for folder, name in _libraries(fmu):
        if folder not in _MACHINES:
            continue
        try:
            libraries = read_library(fmu.read(name), name)
        except FmuBuilderError:
            continue  # named by A08
        for library in libraries:
            before = "_" if library.format == "macho" else ""
            missing = sorted(one for one in needed if before + one not in library.exports)
            if missing:
                yield Found(f"does not export {listed(missing, 5)}", file=name)


def _source_files(fmu: Fmu) -> Iterator[Found]:
    for interface in fmu.interfaces:
        for one in interface.iterfind("SourceFiles/File"):
            if f"sources/{one.get('name')}" not in fmu.names:
                yield Found(f"{interface.tag} lists sources/{one.get('name')}, which is not there", one.sourceline or 0)


def _sources_listed(fmu: Fmu) -> Iterator[Found]:
    compiled = [name for name in fmu.names if name.startswith("sources/") and name.endswith((".c", ".cpp"))]
    given = any(one.find("SourceFiles") is not None for one in fmu.interfaces)
    if compiled and not given and _BUILD not in fmu.names:
        yield Found(
            f"neither SourceFiles nor {_BUILD} names what of {len(compiled)} sources is compiled", file="sources/"
        )


@functools.cache
def _build_schema() -> etree.XMLSchema:
    return etree.XMLSchema(etree.parse(Path(fmpy.__file__).parent / "schema" / "fmi3" / "fmi3BuildDescription.xsd"))


def _valid(
    fmu: Fmu, name: str, schema_of: Callable[[], etree.XMLSchema]
) -> Generator[Found, None, etree._Element | None]:
    """Yields the faults of an XML file; returns its root, None where it has any or there is no such file."""
    if name not in fmu.names:
        return None
    try:
        root = parsed(fmu.read(name), name)
    except InputError as error:
        yield from (Found(problem.what, file=name) for problem in error.problems)
        return None
    schema = schema_of()
    if schema.validate(root):
        return root
    yield from (Found(str(one.message), one.line, name) for one in schema.error_log)
    return None


def _build_description(fmu: Fmu) -> Iterator[Found]:
    root = yield from _valid(fmu, _BUILD, _build_schema)
    if root is None:
        return
    for one in root.iterfind("BuildConfiguration"):
        if fmu.identifiers and one.get("modelIdentifier") not in fmu.identifiers:
            yield Found(
                f"modelIdentifier '{one.get('modelIdentifier')}' is none of the FMU", one.sourceline or 0, _BUILD
            )
    for one in root.iter("SourceFile"):
        if f"sources/{one.get('name')}" not in fmu.names:
            yield Found(f"sources/{one.get('name')} is not there", one.sourceline or 0, _BUILD)


def _headers(fmu: Fmu) -> Iterator[Found]:
    for name in sorted(fmu.names):
        if re.fullmatch(r"sources/(.*/)?fmi2(TypesPlatform|FunctionTypes|Functions)\.h", name):
            yield Found(f"{name} lies in the sources", file=name)


def _documentation(fmu: Fmu) -> Iterator[Found]:
    held = [name for name in fmu.names if name.startswith("documentation/") and not name.endswith("/")]
    if held and "documentation/index.html" not in fmu.names:
        yield Found("there is no documentation/index.html", file="documentation/")


def _icon(fmu: Fmu) -> Iterator[Found]:
    if "model.png" in fmu.names and not fmu.read("model.png").startswith(b"\x89PNG\r\n\x1a\n"):
        yield Found("is no PNG", file="model.png")


def _terminals(fmu: Fmu) -> Iterator[Found]:
    root = yield from _valid(fmu, TERMINALS, terminals_schema)
    if root is None:
        return
    names = {one.get("name") for one in fmu.root.iterfind("ModelVariables/ScalarVariable")}
    for one in root.iter("TerminalMemberVariable"):
        if one.get("variableName") not in names:
            yield Found(f"'{one.get('variableName')}' is no variable of the FMU", one.sourceline or 0, TERMINALS)


RULES: tuple[Rule[Fmu], ...] = (
    Rule("A01", "file-ending", "2.3", "An FMU has the file ending .fmu.", "rename the file", _ending),
    Rule(
        "A02",
        "names-differ",
        "2.3",
        "The names in the archive differ by more than their case: Windows and macOS unpack them into one folder.",
        "rename or remove one of the files",
        _twice,
    ),
    Rule(
        "A03",
        "compression",
        "2.3",
        "Files are stored or compressed by deflate.",
        "pack the archive again, by deflate",
        _compression,
    ),
    Rule(
        "A04",
        "names-of-the-standard",
        "2.3",
        "Files and folders that the standard names have these names, at the top of the archive.",
        "pack the archive again, with the names of the standard",
        _root_names,
    ),
    Rule(
        "A05",
        "binary-or-source",
        "2.3",
        "An FMU holds binaries, sources, or both.",
        "add a binary or the sources",
        _something_to_run,
    ),
    Rule(
        "A06",
        "platform-name",
        "2.3",
        "Folders of binaries are win32, win64, linux32, linux64, darwin32, darwin64, or machine-system.",
        "rename the folder",
        _folder_names,
    ),
    Rule(
        "A07",
        "library-name",
        "2.3",
        "A folder of binaries holds the library <modelIdentifier> with the ending of its system.",
        "rename the library, or correct modelIdentifier",
        _library_names,
    ),
    Rule(
        "A08",
        "library-format",
        "2.3",
        "A library is one of the system and machine that its folder names.",
        "put the library into the folder of its platform",
        _formats,
    ),
    Rule(
        "A09",
        "exported-functions",
        "2.3",
        "A library exports every function of the interfaces that the FMU declares, those of absent capabilities too.",
        "export the functions; those of capabilities that the FMU lacks answer fmi2Error",
        _exports,
    ),
    Rule(
        "A10",
        "source-files",
        "2.2.1",
        "Each File of SourceFiles is in the folder sources.",
        "add the file, or take its name off the list",
        _source_files,
    ),
    Rule(
        "A11",
        "sources-listed",
        "2.3",
        "The sources that are compiled are listed, in SourceFiles or sources/buildDescription.xml.",
        "add SourceFiles to ModelExchange and CoSimulation",
        _sources_listed,
    ),
    Rule(
        "A12",
        "build-description",
        "2.3",
        "sources/buildDescription.xml is valid, of a modelIdentifier of the FMU, and names files that are there.",
        "correct sources/buildDescription.xml",
        _build_description,
    ),
    Rule(
        "A13",
        "no-headers-of-the-standard",
        "2.3",
        "The headers of the standard are not among the sources.",
        "remove the header: importers have their own",
        _headers,
        "warning",
    ),
    Rule(
        "A14",
        "documentation-page",
        "2.3",
        "The documentation begins with documentation/index.html.",
        "add documentation/index.html",
        _documentation,
    ),
    Rule("A15", "icon", "2.3", "model.png is a PNG picture.", "convert the picture to PNG", _icon),
    Rule(
        "A16",
        "terminals",
        "FMI 3.0, 2.4.9",
        "terminalsAndIcons.xml is valid, and its members are variables of the FMU.",
        "correct terminalsAndIcons/terminalsAndIcons.xml",
        _terminals,
    ),
)
