"""C of these tests together with contact_core, as a library of this machine."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

from fmu_builder.export import toolchain
from fmu_builder.export.toolchain import find_compiler
from fmu_builder.paths import shipped


def load_c(source: str, folder: Path, flags: Sequence[str] = ()) -> ctypes.CDLL:
    """The library of a C file that stands beside this one, compiled into `folder`."""
    compiler = find_compiler()
    assert compiler is not None, "these tests need a compiler: python -m pip install ziglang"
    path = folder / f"{Path(source).stem}.so"
    toolchain.compile_hosted([Path(__file__).with_name(source)], path, [shipped("contact_core")], compiler, flags)
    return ctypes.CDLL(str(path))
