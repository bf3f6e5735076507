"""`fmu-builder doctor`: what a bug report needs, in one paste."""

from __future__ import annotations

import platform
import shutil
from importlib.metadata import PackageNotFoundError, version

from fmu_builder.errors import FmuBuilderError
from fmu_builder.paths import catalogue, shipped, shipped_elements
from fmu_builder.toolchain import INSTALL_HINT, PLATFORMS, cache_folder, find_compiler, host_platform

_PACKAGES = ("fmu-builder", "fmpy", "ziglang", "numpy", "scipy", "lxml", "pydantic", "cffi", "plotly", "pythonfmu")


def examine() -> dict[str, str]:
    """Findings by name.  Nothing is changed but that the cache folder is made."""
    compiler = find_compiler()
    findings = {
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "this machine is": _or_fault(host_platform),
        "compiler": compiler.version if compiler else f"none; {INSTALL_HINT}",
        "platforms": ", ".join(PLATFORMS)
        if compiler and compiler.cross
        else "this machine only"
        if compiler
        else "sources only",
        "cache folder": _or_fault(lambda: str(cache_folder())),
        "free there": _or_fault(lambda: f"{shutil.disk_usage(cache_folder()).free / 1e9:.1f} GB"),
        "elements": f"{len(shipped_elements())} in {shipped('elements')}",
        "catalogue": f"{len(catalogue())} recipes in {shipped('fmus')}",
    }
    for package in _PACKAGES:
        try:
            findings[package] = version(package)
        except PackageNotFoundError:
            findings[package] = "not installed"
    return findings


def _or_fault(find: object) -> str:
    try:
        return str(find())  # type: ignore[operator]
    except FmuBuilderError as error:
        return f"FAULT: {error}"
