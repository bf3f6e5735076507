"""Packages that import a name at its first use, so that a command loads only the modules it needs."""

from __future__ import annotations

import ast
import functools
import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path


@functools.cache
def homes(package: str) -> dict[str, str]:
    """The module that each imported name of a package comes from."""
    source = Path(sys.modules[package].__file__ or "").read_text(encoding="utf-8")
    found = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) and node.module)
    return {alias.name: str(node.module) for node in found for alias in node.names}


def on_demand(package: str, offered: Sequence[str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose imports of the `offered` names stand below `if TYPE_CHECKING`,
    where type checkers read them.  The first use of a name imports the module that it comes from."""

    def get(name: str) -> object:
        if name not in offered or name not in homes(package):
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value = getattr(importlib.import_module(homes(package)[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted({*vars(sys.modules[package]), *offered})
