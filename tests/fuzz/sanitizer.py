"""An FMU's sources compiled by the system compiler with the address and undefined-behaviour sanitizers, with the
C library of this machine, as an importer would compile them."""

from __future__ import annotations

import ctypes
import shutil
from collections.abc import Sequence
from pathlib import Path

from fmu_builder.errors import ToolError
from fmu_builder.export.fmu import content_guid
from fmu_builder.export.generate import fmu_sources, source_files, write_sources
from fmu_builder.export.toolchain import SOURCE_FILES, Compiler, compile_hosted, fmi_headers
from fmu_builder.model.model import Model

SANITIZE = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")


def require_sanitizer() -> None:
    """Raises ToolError unless this process was started with the address sanitizer, which must be loaded first."""
    if not hasattr(ctypes.CDLL(None), "__asan_init"):
        raise ToolError(
            "the address sanitizer is not loaded; run .ci/run, or start Python with "
            "LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0"
        )


def build_sanitized(model: Model, folder: Path) -> Path:
    """Write and compile the sources of the model's FMU in the folder; returns the library.

    Raises ToolError if there is no gcc, or with its messages: warnings are errors."""
    sources = folder / f"{model.name}-sources"
    write_sources(fmu_sources(model, content_guid(model)), sources)
    return compile_sanitized(sources, folder / f"{model.name}.so", source_files(model))


def compile_sanitized(sources: Path, library: Path, files: Sequence[str] = SOURCE_FILES) -> Path:
    gcc = shutil.which("gcc")
    if gcc is None:
        raise ToolError("the sanitizer build needs gcc; tests/platform/install installs it")
    compile_hosted(
        [sources / name for name in files],
        library,
        [sources],
        Compiler((gcc,), cross=False, version=""),
        (*SANITIZE, "-isystem", str(fmi_headers())),
    )
    return library
