"""Elements prototyped in Python: element.py in the place of element.c, packed with pythonfmu.

The FMU is that of the same element in C, compiled with contact_core/python_element.h in the place of element.c; an
assembly may have such parts.  In it lie

    binaries/<platform>/<Name>         contact_core with the tables of the model
    resources/pythonfmu.so|dll         pythonfmu's binary, which makes Python load the module below
    resources/contact_core.so|dll      contact_core/host.c: the laws, `import contact_core` in element.py
    resources/prototype_<GUID>.py      prototype_slave.py; modules of Python have unique names, so every FMU has its own
    resources/element.py, model.json   the physics (of a part in a folder of its type) and its tables
    resources/pythonfmu/               pythonfmu's base class of slaves
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from fmu_builder.errors import InputError, Problem, ToolError
from fmu_builder.export import toolchain
from fmu_builder.export.cache import cache_folder, made_once, used
from fmu_builder.export.documentation import PROTOTYPE_NEEDS
from fmu_builder.export.generate import fmu_sources, source_files
from fmu_builder.export.host import host_library, with_includes
from fmu_builder.export.model_tables import log_categories
from fmu_builder.export.toolchain import (
    FREESTANDING,
    PLATFORMS,
    Compiler,
    compile_hosted,
    fmi_headers,
    resolve_platforms,
)
from fmu_builder.model.declaration_reader import CORE_GROUPS
from fmu_builder.model.layout import Node
from fmu_builder.model.model import ElementModel, Kind, Model
from fmu_builder.paths import shipped

# what pythonfmu supplies a binary for: our platform name -> its file
_BINARIES = {
    "linux64": "resources/binaries/linux64/libpythonfmu-export.so",
    "win64": "resources/binaries/win64/pythonfmu-export.dll",
}
_REASON = f"a prototype in Python runs on {' and '.join(_BINARIES)} only, where pythonfmu supplies a binary"
_HERE = Path(__file__).resolve().parent


@functools.cache
def _pythonfmu() -> Path:
    """The folder of the installed pythonfmu, which is not imported.  Raises ToolError if there is none."""
    spec = importlib.util.find_spec("pythonfmu")
    if spec is None or spec.origin is None:
        raise ToolError("a prototype in Python needs pythonfmu: python -m pip install 'pythonfmu>=0.7'")
    return Path(spec.origin).resolve().parent


def prototype_platforms(names: Sequence[str]) -> tuple[str, ...]:
    """As toolchain.resolve_platforms; `all` are those of a prototype.  Raises InputError for others, and for none."""
    if not names:
        raise InputError(Problem("--source-only", "a prototype in Python has no C sources: build it for a platform"))
    wanted = resolve_platforms([platform for name in names for platform in (_BINARIES if name == "all" else [name])])
    problems = [Problem("--platform", f"'{name}': {_REASON}") for name in wanted if name not in _BINARIES]
    if problems:
        raise InputError(problems)
    return wanted


# ---- what is known of element.py before it runs --------------------------------------------------------------


def _functions(model: ElementModel) -> Iterator[tuple[str, int, str]]:
    """Name, number of arguments, and why the element has to define it."""
    yield "outputs", 1, "every element has outputs"
    if any(state.rate < 0 for state in model.by_kind("state")):
        yield "derivatives", 1, "a state declares no rate"
    if any(state.initial for state in model.by_kind("state")):
        yield "initial", 1, "a state declares initial"
    if model.element.memory:
        yield "start", 1, "element.toml has [memory]"
        yield "accept", 3, "element.toml has [memory]"
    if model.samples:
        yield "sample", 3, "the recipe samples"
    if model.indicators:
        yield "indicators", 2, "element.toml has [indicators]"
    if model.element.rules:
        yield "check", 2, "element.toml has [rules]"


def check_physics(model: ElementModel) -> None:
    """Raises InputError with file and line for functions that element.py lacks, and for a syntax error."""
    path = model.recipe.element_folder / "element.py"
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except SyntaxError as error:
        raise InputError(Problem(f"{path}:{error.lineno}", f"is no valid Python: {error.msg}")) from error
    except (OSError, ValueError) as error:
        raise InputError(Problem(str(path), f"cannot be read: {error}")) from error
    found = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    problems = []
    for name, count, why in _functions(model):
        arguments = ", ".join(("e", "z") if name == "indicators" else ("e", "host", "step")[:count])
        if name not in found:
            problems.append(Problem(str(path), f"def {name}({arguments}) is missing: {why}"))
        elif len(found[name].args.args) != count:
            what = f"def {name} takes {len(found[name].args.args)} arguments; it is called as {name}({arguments})"
            problems.append(Problem(f"{path}:{found[name].lineno}", what))
    if problems:
        raise InputError(problems)


# ---- the files ---------------------------------------------------------------------------------------------------


def prototype_sources(model: Model, guid: str) -> dict[str, str]:
    """File name -> text of all that decides what the FMU computes; with the real GUID those of its resources are among
    them.  Raises InputError for an element.py that cannot work."""
    for part in model.prototypes.values():
        check_physics(part)
    core = shipped("contact_core")
    laws = {p.relative_to(core).as_posix(): p for p in with_includes(core / "host.c")}
    return {
        **{f"sources/{name}": text for name, text in fmu_sources(model, guid).items()},
        **{
            f"{folder}element.py": (part.recipe.element_folder / "element.py").read_text(encoding="utf-8")
            for folder, part in model.prototypes.items()
        },
        "prototype_slave.py": (_HERE / "prototype_slave.py").read_text(encoding="utf-8"),
        "model.json": json.dumps(_tables(model, guid), indent=1),
        **{f"host/{name}": path.read_text(encoding="utf-8") for name, path in laws.items()},
    }


def prototype_resources(sources: Mapping[str, str], guid: str) -> dict[str, bytes]:
    """Archive name -> bytes of the resources that are no libraries."""
    module = f"prototype_{re.sub(r'[^0-9a-f]', '', guid)}"
    return {
        **{f"resources/{n}": text.encode() for n, text in sources.items() if n.endswith("element.py")},
        f"resources/{module}.py": sources["prototype_slave.py"].encode(),
        "resources/model.json": sources["model.json"].encode(),
        "resources/slavemodule.txt": module.encode(),
        **{f"resources/pythonfmu/{path.name}": path.read_bytes() for path in sorted(_pythonfmu().glob("*.py"))},
        "documentation/licenses/pythonfmu.txt": _pythonfmu_license().encode(),
        "documentation/licenses/externalDependencies.txt": (
            f"{PROTOTYPE_NEEDS}; for pythonfmu's binary libstdc++ of GCC 12 or newer on Linux, the Visual C++ "
            "runtime on Windows.\n"
            f"pythonfmu {metadata.version('pythonfmu')} is part of the FMU; its licence: pythonfmu.txt.\n"
        ).encode(),
    }


def _pythonfmu_license() -> str:
    distribution = metadata.distribution("pythonfmu")
    texts = [distribution.read_text(name) for name in ("licenses/LICENSE", "LICENSE")]
    return next((text for text in texts if text), f"{distribution.metadata['License']}\n")


def _tree(node: Node) -> dict[str, Any]:
    members = {name: _tree(member) for name, member in node.members.items()}
    return {"each": node.each, "size": node.size, "members": members}


def _tables(model: Model, guid: str) -> dict[str, Any]:
    """model.json: the tables of the model for prototype_slave.py."""
    return {
        "guid": guid,
        "elements": [{"folder": folder, **_element_tables(part)} for folder, part in model.prototypes.items()],
        "declarations": declarations(host_library().declarations),
    }


def _element_tables(model: ElementModel) -> dict[str, Any]:
    return {
        "element": f"{model.element_name}/element.py",
        "tree": _tree(model.layout.root),
        "starts": [v.start for v in model.variables],
        "locked": list(_locked(model)),
        "memory": [v.index for v in model.by_kind("memory") if v.name.partition(".")[0] not in CORE_GROUPS],
        "indicators": [one.name for one in model.indicators],
        "indicator_tree": _tree(model.indicator_layout.root),
        "categories": log_categories(model),
        "structure": {
            **model.sizes,
            **model.recipe.choices,
            **{constant.name: list(constant.values) for constant in model.constants},
        },
    }


# What a function of element.py must not change, by kind: what it is, and the functions that may, as in C (waist.h).
_LOCKED: Mapping[Kind, tuple[str, tuple[str, ...]]] = {
    "time": ("the time", ()),
    "fixed": ("a parameter", ()),
    "tunable": ("a parameter", ()),
    "input": ("an input", ()),
    "state": ("a state", ("initial", "accept", "sample")),
    "memory": ("memory", ("start", "accept", "sample")),
}


def _locked(model: ElementModel) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Index of each value that not every function may change, the message on that, and the functions that may."""
    for v in model.variables:
        if v.kind in _LOCKED:
            what, by = _LOCKED[v.kind]
            who = f"only {', '.join(by[:-1])} and {by[-1]}" if by else "no function of element.py"
            yield v.index, f"{v.name} is {what}, which {who} may change", by


# ---- contact_core for Python -------------------------------------------------------------------------------------

_STRUCT = re.compile(r"typedef struct \{(.*?)\} (\w+);")
_FUNCTION = re.compile(r"^(\w+) (\w+)\((.*)\);$", re.MULTILINE)
_MEMBER = re.compile(r"(\w+)((?:\[\d+\])*)")
_DECLARED = re.compile(r"(const )?(\w+) (\*?)(\w+)((?:\[\d*\])*)")


def declarations(text: str) -> dict[str, Any]:
    """What prototype_slave.bind needs of the C declarations: structs of numbers, and the functions of numbers, arrays
    of a fixed size and such structs.  Functions that take an array of any length or text are left out.

    structs: name -> [member, kind, shape];  functions: name -> result, [argument, kind, way, shape], way one of value,
    in (only read) and out."""
    kinds = {"Real": "double", "double": "double", "int": "int"}
    structs: dict[str, list[tuple[str, str, list[int]]]] = {}
    for body, name in _STRUCT.findall(text):
        members = []
        for part in body.split(";")[:-1]:
            kind, _, names = part.strip().partition(" ")
            for one in names.split(","):
                found = _MEMBER.fullmatch(one.strip())  # no pointer
                sizes = re.findall(r"\[(\d+)\]", one)
                members.append((found[1] if found else "", kinds.get(kind, "") if found else "", list(map(int, sizes))))
        if all(kind for _, kind, _ in members):
            structs[name] = members
    functions: dict[str, tuple[str, list[tuple[str, str, str, list[int]]]]] = {}
    for result, name, listed in _FUNCTION.findall(text):
        arguments = []
        for one in listed.split(", "):
            declared = _DECLARED.fullmatch(one)
            if declared is None:
                break
            const, kind, star, argument, brackets = declared.groups()
            sizes = re.findall(r"\[(\d*)\]", brackets)
            shape = [int(size) for size in sizes if size]
            known = kind in structs if kind not in kinds else True
            if not known or len(shape) != len(sizes) or (kind in structs and not star):
                break
            if star and const and kind in kinds:
                break  # an array of any length
            way = "value" if not (star or sizes) else "in" if const else "out"
            arguments.append((argument, kinds.get(kind, kind), way, shape))
        else:
            if result in (*kinds, "void"):
                functions[name] = (kinds.get(result, "void"), arguments)
    used = {kind for _, arguments in functions.values() for _, kind, _, _ in arguments}
    return {"structs": {n: m for n, m in structs.items() if n in used}, "functions": functions}


# ---- libraries ---------------------------------------------------------------------------------------------------


def prototype_libraries(model: Model, sources: Path, platforms: Sequence[str], compiler: Compiler) -> dict[str, bytes]:
    """Archive name -> bytes of the libraries.   sources: the folder that fmu_sources was written to

    That of contact_core is compiled once for each platform and kept in the cache."""
    files = {}
    for platform in platforms:
        suffix = PLATFORMS[platform].suffix
        with tempfile.TemporaryDirectory(prefix="fmu-builder-") as temporary:
            library = Path(temporary) / f"{model.name}{suffix}"
            compiled = [sources / name for name in source_files(model)]
            _compile(compiled, library, [sources, fmi_headers()], platform, compiler)
            files[f"binaries/{platform}/{library.name}"] = library.read_bytes()
        files[f"resources/contact_core{suffix}"] = _core_library(platform, compiler)
        files[f"resources/pythonfmu{suffix}"] = (_pythonfmu() / _BINARIES[platform]).read_bytes()
    return files


def _compile(
    sources: Sequence[Path], library: Path, include: Sequence[Path], platform: str, compiler: Compiler
) -> None:
    compile_hosted([*sources, *_beside(platform)], library, include, compiler, _options(platform), platform)


def _beside(platform: str) -> list[Path]:
    """A C library of Windows would take minutes to compile."""
    return [shipped("contact_core") / "base" / "freestanding.c"] if platform == "win64" else []


def _options(platform: str) -> tuple[str, ...]:
    if platform == "win64":
        headers = shipped("contact_core") / "base" / "freestanding_include"
        return ("-s", *FREESTANDING, "-isystem", str(headers), "-lkernel32")
    return ("-s", "-Wl,-z,defs", "-ldl")


def _core_library(platform: str, compiler: Compiler) -> bytes:
    core = shipped("contact_core")
    settings = (platform, compiler.command, compiler.version, _options(platform))
    content = _content([core / "host.c", *_beside(platform)], settings)
    folder = used(cache_folder() / "prototypes" / content)
    library = made_once(
        folder / f"contact_core{PLATFORMS[platform].suffix}",
        lambda made: _compile([core / "host.c"], made, [core], platform, compiler),
    )
    return library.read_bytes()


def _content(sources: Sequence[Path], settings: tuple[object, ...]) -> str:
    """A name that changes with all that goes into the library of contact_core."""
    digest = hashlib.sha256(repr(settings).encode())
    headers = sorted(shipped("contact_core").rglob("*.h"))
    for path in (*sources, *headers, Path(toolchain.__file__), Path(__file__)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:32]


@functools.cache
def prototype_content() -> bytes:
    """A digest of what goes into the libraries of every prototype but its own sources."""
    paths = [*sorted(_pythonfmu().glob("*.py")), *(_pythonfmu() / name for name in _BINARIES.values())]
    own = _content([shipped("contact_core") / "host.c"], ())
    return hashlib.sha256(own.encode() + b"".join(path.read_bytes() for path in paths)).digest()
