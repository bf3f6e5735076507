"""Many recipes at a time: each is built in one of the processes that work on all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from fmu_builder.errors import FmuBuilderError, Problem, ToolError, raise_all
from fmu_builder.export.fmi3_variables import Fmi
from fmu_builder.export.fmu import Built, build_fmu, host_fmu
from fmu_builder.export.toolchain import PLATFORMS
from fmu_builder.files import write_whole
from fmu_builder.processes import in_processes

Made = TypeVar("Made")
Done = Callable[[Path], None]  # is called with each recipe when its FMU is there, or cannot be


def build_fmus(
    recipes: Sequence[Path], output: Path, platforms: Sequence[str], done: Done, fmi: Fmi
) -> list[Built | FmuBuilderError]:
    """As build_fmu, of each recipe, in their order; or the error that it raised."""
    cores = os.cpu_count() or 1
    targets = len(PLATFORMS) if "all" in platforms else max(len(platforms), 1)  # that each process compiles at once
    return _all(_built, recipes, (output, tuple(platforms), fmi), done, min(cores, max(2, 2 * cores // targets)))


def host_fmus(recipes: Sequence[Path], output: Path, done: Done) -> tuple[Path, ...]:
    """Copies of the FMUs that host_fmu gives, in the order of the recipes.

    Raises what is wrong with all recipes as one error; the FMUs of the others are there then."""
    results = _all(_copied, recipes, (output,), done, None)
    raise_all(result for result in results if isinstance(result, FmuBuilderError))
    return tuple(result for result in results if isinstance(result, Path))


def _built(recipe: Path, output: Path, platforms: Sequence[str], fmi: Fmi) -> tuple[Path, Built | FmuBuilderError]:
    try:
        return recipe, build_fmu(recipe, output, platforms, fmi)
    except FmuBuilderError as error:
        return recipe, error


def _copied(recipe: Path, output: Path) -> tuple[Path, Path | FmuBuilderError]:
    try:
        fmu = host_fmu(recipe)
        write_whole(output / fmu.name, fmu.read_bytes())
        return recipe, output / fmu.name
    except FmuBuilderError as error:
        return recipe, error


def _all(
    work: Callable[..., tuple[Path, Made | FmuBuilderError]],
    recipes: Sequence[Path],
    arguments: tuple[Any, ...],
    done: Done,
    most: int | None,
) -> list[Made | FmuBuilderError]:
    def crashed(name: str) -> tuple[Path, Made | FmuBuilderError]:
        return Path(name), ToolError(Problem(name, "the process that built it was ended; is there enough memory?"))

    jobs = {str(recipe): (recipe, *arguments) for recipe in recipes}
    results = in_processes(work, jobs, lambda result: done(result[0]), crashed, most)
    return [results[name][1] for name in jobs]
