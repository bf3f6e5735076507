"""Libraries of C files beside the tests that need nothing of the system, as the binaries of FMUs do."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from fmu_builder.export.toolchain import PLATFORMS, compile_hosted, find_compiler, fmi_headers, host_platform
from fmu_builder.paths import shipped


@functools.cache
def library(source: str, name: str, platform: str = "") -> bytes:
    """The C file `source` as the library `name` of a platform, by default this machine's."""
    compiler = find_compiler()
    assert compiler is not None, "these tests need a compiler: python -m pip install ziglang"
    base = shipped("contact_core") / "base"
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"{name}{PLATFORMS[platform or host_platform()].suffix}"
        sources = [Path(__file__).with_name(source), base / "freestanding.c"]
        include = [base / "freestanding_include", fmi_headers()]
        compile_hosted(sources, target, include, compiler, ["-ffreestanding", "-nostdlib"], platform or None)
        return target.read_bytes()
