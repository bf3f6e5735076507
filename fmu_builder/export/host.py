"""The host library: contact_core built for this machine, loaded into this process.

Tests, prototypes and the master call the same C that goes into an FMU.  What can be called is read from the headers
themselves, so no C function is declared twice.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cffi

from fmu_builder.errors import ToolError
from fmu_builder.export import toolchain
from fmu_builder.export.cache import cache_folder, made_once, move_whole, used
from fmu_builder.export.toolchain import (
    FREESTANDING,
    INSTALL_HINT,
    PLATFORMS,
    Compiler,
    compile_hosted,
    find_compiler,
    host_platform,
    run_compiler,
)
from fmu_builder.paths import shipped

_MARKER = "CC_HOST_FUNCTION"  # stands for CC_API while declarations are read
_SYSTEM_HEADERS = ("stdarg.h", "stddef.h", "stdint.h")  # replaced by empty ones there: cffi has their types
_SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)")
_LITERAL = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")


@dataclass(frozen=True)
class HostLibrary:
    """contact_core in this process: `lib` holds its functions, `ffi` (a cffi.FFI) makes the C values they take.

    `path` is the shared library, `declarations` the C text that cffi reads."""

    ffi: Any
    lib: Any
    path: Path
    declarations: str = field(repr=False)


@functools.cache
def host_library() -> HostLibrary:
    """contact_core for this machine, built at first use and kept in the cache folder until its sources change.

    With FMU_BUILDER_SANITIZE=1 it is built by gcc with address and undefined-behaviour sanitizers; the process must
    then have been started with LD_PRELOAD of libasan.  Raises ToolError if there is no compiler, or it fails."""
    compiler, extra = _compiler()
    folder = used(cache_folder() / "host" / _content(shipped("contact_core") / "host.c", compiler, extra))
    library = folder / f"contact_core{PLATFORMS[host_platform()].suffix}"
    declarations = library.with_suffix(".h")
    if not library.is_file() or not declarations.is_file():
        _build(library, declarations, compiler, extra)
    ffi = cffi.FFI()
    text = declarations.read_text(encoding="utf-8")
    ffi.cdef(text)
    try:
        lib = ffi.dlopen(str(library))
    except OSError as error:
        raise ToolError(f"{library} cannot be loaded: {error}; delete its folder to build it again") from error
    return HostLibrary(ffi, lib, library, text)


def _compiler() -> tuple[Compiler, tuple[str, ...]]:
    """The compiler of the host library and its extra flags."""
    if os.environ.get("FMU_BUILDER_SANITIZE") == "1":
        gcc = shutil.which("gcc")
        if gcc is None:
            raise ToolError("FMU_BUILDER_SANITIZE=1 needs gcc with its sanitizer libraries, and there is no gcc")
        version = run_compiler(Compiler((gcc,), cross=False, version=""), ["--version"])
        return Compiler((gcc,), cross=False, version=version), _SANITIZE
    compiler = find_compiler()
    if compiler is None:
        raise ToolError(f"there is no C compiler for the host library: {INSTALL_HINT}")
    return compiler, ()


def shared_library(source: Path, include: Sequence[Path] = ()) -> Path:
    """A source that needs no C library, compiled for this machine, and kept in the cache folder until it changes.

    include   folders of headers that do not change
    Raises ToolError if there is no compiler, or it fails."""
    compiler = find_compiler()
    if compiler is None:
        raise ToolError(f"there is no C compiler: {INSTALL_HINT}")
    folder = used(cache_folder() / "host" / _content(source, compiler, FREESTANDING))
    base = shipped("contact_core") / "base"
    sources, headers = [source, base / "freestanding.c"], [base / "freestanding_include", *include]
    return made_once(
        folder / f"{source.stem}{PLATFORMS[host_platform()].suffix}",
        lambda library: compile_hosted(sources, library, headers, compiler, FREESTANDING),
    )


def _content(source: Path, compiler: Compiler, extra: Sequence[str]) -> str:
    """A name that changes with the sources, the flags (they stand in toolchain.py) and the compiler."""
    files = [*with_includes(source), Path(toolchain.__file__), Path(__file__)]
    digest = hashlib.sha256(repr((host_platform(), compiler.command, compiler.version, tuple(extra))).encode())
    for file in files:
        data = file.read_bytes()
        digest.update(f"{file.name} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:32]


def with_includes(source: Path) -> list[Path]:
    """A source file and the headers that it includes, directly or through others, sorted."""
    found = {source}
    new = [source]
    while new:
        file = new.pop()
        names = re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read_text(encoding="utf-8"), re.MULTILINE)
        more = {Path(os.path.normpath(file.parent / name)) for name in names} - found
        found |= more
        new += more
    return sorted(found)


def _build(library: Path, declarations: Path, compiler: Compiler, extra: Sequence[str]) -> None:
    """Write both files.  Processes that do it at once write the same content, and each moves whole files only."""
    core = shipped("contact_core")
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=library.parent, prefix="build-") as folder:
        new_library, new_declarations = Path(folder) / library.name, Path(folder) / declarations.name
        compile_hosted([core / "host.c"], new_library, [core], compiler, extra)
        new_declarations.write_text(_read_declarations(core, Path(folder), compiler), encoding="utf-8")
        for new, target in ((new_declarations, declarations), (new_library, library)):
            move_whole(new, target)


def _read_declarations(core: Path, folder: Path, compiler: Compiler) -> str:
    """host.c with all its headers, preprocessed and cut down to declarations.  `folder` takes stub headers."""
    stubs = folder / "stubs"
    stubs.mkdir()
    for name in _SYSTEM_HEADERS:
        (stubs / name).touch()
    arguments = ["-E", "-P", "-std=c11", "-nostdinc", f"-DCC_API={_MARKER}", "-I", str(stubs), "-I", str(core)]
    return _declarations(run_compiler(compiler, [*arguments, str(core / "host.c")]))


def _declarations(text: str) -> str:
    """What cffi needs of preprocessed C: the types, and the marked functions without their bodies.

    Functions that take a va_list are left out: no caller outside C can make one."""
    text = _ATTRIBUTE.sub("", _LITERAL.sub("0", text))  # a brace in a literal is not a brace
    found = []
    start = depth = 0
    head = ""  # of the function definition whose body is open
    for match in re.finditer(r"[{};]", text):
        at = match.start()
        if match[0] == "{":
            if depth == 0:
                before = text[start:at].rstrip()
                head = before if before.endswith(")") else ""
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if depth == 0 and head:
                found.append(head + ";")
                start, head = at + 1, ""
        elif depth == 0:
            found.append(text[start : at + 1])
            start = at + 1
    kept = [" ".join(part.split()) for part in found]
    return "".join(
        part.replace(_MARKER, "").strip() + "\n"
        for part in kept
        if part.startswith((_MARKER, "typedef ", "struct ", "enum ")) and not re.search(r"\bva_list\b|__builtin", part)
    )
