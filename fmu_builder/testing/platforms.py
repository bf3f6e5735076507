"""The marker fmu_platform."""

from __future__ import annotations

from collections.abc import Sequence

from fmu_builder.errors import InputError, Problem, none_of
from fmu_builder.export.toolchain import PLATFORMS, host_platform


def reason_to_skip(platforms: Sequence[object]) -> str:
    """Why a test for these platforms does not run here, "" if it does.   Raises InputError for an unknown name."""
    where = "pytest.mark.fmu_platform"
    if not platforms:
        raise InputError(Problem(where, f"names no platform; known: {', '.join(PLATFORMS)}"))
    problems = [Problem(where, none_of(name, PLATFORMS)) for name in platforms if name not in PLATFORMS]
    if problems:
        raise InputError(problems)
    host = host_platform()
    return "" if host in platforms else f"is for {', '.join(map(str, platforms))}; this is {host}"
