"""An FMU's sources compiled by the system compiler with the address and undefined-behaviour sanitizers, with the
C library of this machine, as an importer would compile them."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from fmu_builder.errors import ToolError
from fmu_builder.export.cache import cache_folder, used
from fmu_builder.export.fmi3_variables import Fmi
from fmu_builder.export.fmu import content_guid
from fmu_builder.export.generate import fmu_data, fmu_sources, source_files, write_sources
from fmu_builder.export.objects import included, kept_object
from fmu_builder.export.toolchain import Compiler, compile_hosted, fmi_headers, run_compiler
from fmu_builder.model.model import Model

# -g1: functions and lines for the report, in three quarters of the time of -g
SANITIZE = ("-g1", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")

_FLAGS = (*SANITIZE, "-isystem", str(fmi_headers()))


def require_sanitizer() -> None:
    """Raises ToolError unless this process was started with the address sanitizer, which must be loaded first."""
    if not hasattr(ctypes.CDLL(None), "__asan_init"):
        raise ToolError(
            "the address sanitizer is not loaded; run .ci/run, or start Python with "
            "LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0"
        )


def build_sanitized(model: Model, fmi: Fmi = 2) -> Path:
    """The library of the model's FMU, which stays in the cache: several tests and processes call the same one.

    Raises ToolError if there is no gcc, or with its messages: warnings are errors."""
    gcc, files = system_gcc(), fmu_sources(model, content_guid(model), fmi)
    content = repr((run_compiler(gcc, ["--version"]), SANITIZE, sorted(files.items())))
    folder = used(cache_folder() / "host" / hashlib.sha256(content.encode()).hexdigest()[:32])
    library = folder / f"{model.name}.so"
    if not library.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix="build-") as temporary:
            sources, new = Path(temporary) / "sources", Path(temporary) / library.name
            data = fmu_data(model)
            write_sources({**files, **data}, sources)
            layer, *others = source_files(model, fmi)
            objects = [_object(name, sources, data, Path(temporary), gcc) for name in others]
            compile_hosted([sources / layer, *objects], new, [sources], gcc, _FLAGS)
            new.replace(library)
    return library


def _object(name: str, sources: Path, data: Mapping[str, bytes], folder: Path, gcc: Compiler) -> Path:
    """That of a file which both versions of FMI compile alike: for the second one it lies in the cache."""

    def make(made: Path) -> None:
        compile_hosted([sources / name], made, [sources], gcc, (*_FLAGS, "-c"))

    settings = ("sanitizers", run_compiler(gcc, ["--version"]), _FLAGS)
    return kept_object(Path(name).stem, settings, {**included(sources, name), **data}, folder, make)


def system_gcc() -> Compiler:
    gcc = shutil.which("gcc")
    if gcc is None:
        raise ToolError("the sanitizer build needs gcc; tests/platform/install installs it")
    return Compiler((gcc,), cross=False, version="")
