"""`modelica`: recipes, scenarios, or the catalogue, as a package of Modelica classes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from fmu_builder.cli.files import find_scenario
from fmu_builder.cli.printing import line, print_notes
from fmu_builder.errors import InputError, Problem
from fmu_builder.modelica.library import Written, write_library, write_package


def write_modelica(names: Sequence[str], output: Path | None, as_json: bool | None) -> None:
    """Write the package and print what it holds; as_json None: print nothing."""
    if names and output is None:
        raise InputError(Problem("-o", "is missing: the folder of the package, whose name is that of the package"))
    if names and output is not None:
        written = write_package([_source(name) for name in names], output)
    else:
        written = write_library(output or Path("FmuBuilder"))
    if as_json is not None:
        _print(written, as_json)


def _source(name: str) -> Path:
    path = find_scenario(name)
    if path.suffix in (".fmu", ".ssp"):
        raise InputError(Problem(name, "has no equations; name its recipe, or its scenario"))
    return path


def _print(written: Written, as_json: bool) -> None:
    if as_json:
        keys = ("elements", "systems")
        found = {key: list(getattr(written, key)) for key in keys}
        print(json.dumps({"package": str(written.folder), **found, "left_out": written.left_out}, indent=2))
        return
    elements, systems = len(written.elements), len(written.systems)
    line(f"{written.folder}  ({elements} element{'s' * (elements != 1)}, {systems} system{'s' * (systems != 1)})")
    if written.left_out:
        count = len(written.left_out)
        print_notes([f"{count} recipes of the catalogue have no Modelica form; --json gives the reasons"])
