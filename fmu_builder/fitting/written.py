"""The fitted system as a file: the recipe, or the scenario, with the values found as its start values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from fmu_builder.errors import InputError, Problem
from fmu_builder.files import texts_as_files
from fmu_builder.fitting.result import FitResult
from fmu_builder.model.file_kinds import is_recipe
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import Model
from fmu_builder.model.scenario import CheckedScenario
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import find_recipe

_OF_SSP = ("conversions", "outputs")


def fitted_text(result: FitResult, path: Path) -> str:
    """The TOML text of the fitted system for the file `path`.

    Where a recipe cannot be copied there, as it names files beside it, it is a scenario that names the recipe.
    Raises InputError for an SSP archive that no scenario can express."""
    source = result.scenario.path
    if source.suffix not in (".fmu", ".ssp") and is_recipe(source):
        (values,) = result.starts.values()
        text = tomli_w.dumps(_with_starts(read_toml(source), values))
        if _is_faithful(text, path, values):
            return text
    return tomli_w.dumps(_scenario_tables(result, path))


def check_expressible(scenario: CheckedScenario) -> None:
    """Raises InputError for an SSP archive that no scenario can express."""
    if any(getattr(scenario, key) for key in _OF_SSP):
        what = "converts signals in a way that a scenario cannot express"
        repair = "fit it by fmu_builder.fit in Python, and set the values in the archive"
        raise InputError(Problem(str(scenario.path), f"{what}; {repair}"))


def _with_starts(tables: Mapping[str, object], values: Mapping[str, float]) -> dict[str, object]:
    given = tables.get("start")
    start: dict[str, Any] = dict(given) if isinstance(given, dict) else {}
    for name, value in values.items():
        base, _, index = name.removesuffix("]").rpartition("[")
        if base and isinstance(start.get(base), list) and index.isdecimal():
            start[base] = [*start[base]]
            start[base][int(index) - 1] = value
        else:
            start[name] = value
    plain = {key: value for key, value in tables.items() if key != "start" and not isinstance(value, dict | list)}
    return {**plain, "start": start, **{key: value for key, value in tables.items() if key not in (*plain, "start")}}


def _is_faithful(text: str, path: Path, values: Mapping[str, float]) -> bool:
    """Whether the recipe can be read there, and starts with these values."""
    try:
        with texts_as_files({path: text}):
            model: Model = load_model(path)
        return all(_start_of(model, name) == value for name, value in values.items())
    except InputError:
        return False


def _start_of(model: Model, name: str) -> float | None:
    start = model[name].start
    return float(start) if isinstance(start, int | float) else None


def _scenario_tables(result: FitResult, path: Path) -> dict[str, object]:
    scenario: CheckedScenario = result.scenario
    check_expressible(scenario)
    left_out = {"path", "notes", "reference", "convergence", *_OF_SSP}
    tables: dict[str, Any] = scenario.model_dump(exclude=left_out, exclude_none=True, exclude_defaults=True)
    folder = scenario.path.parent
    for name, slave in tables["slaves"].items():
        slave["recipe"] = _recipe_from(slave["recipe"], folder, path.parent)
        if name in result.starts:
            slave["start"] = _with_starts({"start": slave.get("start", {})}, result.starts[name])["start"]
    for drive in tables.get("drive", {}).values():
        if "table" in drive:
            drive["table"] = _from(folder / drive["table"], path.parent)
    tables["connections"] = [list(pair) for pair in scenario.connections]
    return tables


def _recipe_from(recipe: str, before: Path, folder: Path) -> str:
    """The name of a recipe or FMU, for a file in another folder."""
    if Path(recipe).suffix == ".fmu":
        return _from(before / recipe, folder)
    found = find_recipe(recipe, before)
    try:
        if Path(recipe).suffix != ".toml" and find_recipe(recipe, folder).resolve() == found.resolve():
            return recipe
    except InputError:
        pass
    return _from(found, folder)


def _from(path: Path, folder: Path) -> str:
    """The path as it is written in a file of that folder."""
    try:
        return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return path.resolve().as_posix()
