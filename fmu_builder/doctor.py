"""`fmu-builder doctor`: what a bug report needs, in one paste."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from fmu_builder.cosim.slave import Slave, read_slave
from fmu_builder.errors import FmuBuilderError
from fmu_builder.export.cache import cache_folder, limit, prune, size_of
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.toolchain import INSTALL_HINT, PLATFORMS, find_compiler, host_platform
from fmu_builder.paths import catalogue, dependencies, own_version, shipped, shipped_elements

FAULT = "FAULT: "  # begins a finding that needs a repair
# Environment variables that change what the tool does.
_VARIABLES = ("FMU_BUILDER_CACHE", "FMU_BUILDER_CACHE_MB", "FMU_BUILDER_LOOP", "TMPDIR", "PYTHONPATH")


def examine() -> dict[str, str]:
    """Findings by name; those that begin with FAULT need a repair.  Nothing is changed but the caches."""
    compiler = find_compiler()
    if compiler is None:
        reach = "sources only"
    elif compiler.cross:
        reach = ", ".join(PLATFORMS)
    else:
        reach = "this machine only"
    findings = {
        "fmu-builder": f"{own_version()} in {Path(__file__).parent}",
        "python": f"{platform.python_version()} ({platform.python_implementation()}), {sys.executable}",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "this machine is": _or_fault(host_platform),
        "compiler": f"{compiler.version}: {' '.join(compiler.command)}" if compiler else f"{FAULT}none; {INSTALL_HINT}",
        "builds for": reach,
        "trial": _or_fault(_trial),
        "cache folder": _or_fault(lambda: str(cache_folder())),
        "in it": _or_fault(lambda: f"{size_of(cache_folder()) / 1e6:.0f} MB; {limit():g} MB are kept"),
        "free there": _or_fault(lambda: f"{shutil.disk_usage(cache_folder()).free / 1e9:.1f} GB"),
        "elements": f"{len(shipped_elements())} in {shipped('elements')}",
        "catalogue": f"{len(catalogue())} recipes in {shipped('fmus')}",
        "environment": ", ".join(f"{name}={os.environ[name]}" for name in _VARIABLES if name in os.environ) or "-",
    }
    for package in dependencies():
        try:
            findings[package] = version(package)
        except PackageNotFoundError:
            findings[package] = f"{FAULT}not installed; python -m pip install {package}"
    return findings


def clean_cache() -> tuple[int, int]:
    """Empty the cache.  Returns the bytes that were removed, and those that stay because a process uses them."""
    return prune(0.0)


def _trial() -> str:
    """Build, load and free the first FMU of the catalogue."""
    begin = time.perf_counter()
    recipe = catalogue()[0]
    Slave("trial", read_slave(host_fmu(recipe))).close()
    return f"{recipe.stem} is built and loads, {time.perf_counter() - begin:.1f} s"


def _or_fault(find: Callable[[], str]) -> str:
    try:
        return find()
    except (FmuBuilderError, OSError) as error:
        return f"{FAULT}{error}"
