"""`cross-check`: FMUs and their reference results, for tools that import FMUs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from fmu_builder.cli.files import find_scenario
from fmu_builder.cli.printing import line, print_notes
from fmu_builder.cosim.cross_check import check_triples, input_notes
from fmu_builder.cosim.cross_check_folder import check_cross_check, write_cross_check
from fmu_builder.cosim.master import changed_master, run, system_of
from fmu_builder.errors import FmuBuilderError, raise_all


def export_systems(
    names: Sequence[str],
    folder: Path,
    platforms: Sequence[str],
    as_json: bool,
    *,
    step: str | None,
    stop: str | None,
    output_step: str | None,
    record: Sequence[str] | None,
) -> None:
    """Write the folders of all slaves of the systems, and print them.

    step, stop, output_step   with their units; these and `record` replace those of each system
    Raises the errors of all systems as one, after the others are written."""
    written: list[Path] = []
    failed = []
    for name in names:
        try:
            written += _export(name, folder, platforms, step, stop, output_step, record)
        except FmuBuilderError as error:
            failed.append(error)
    if as_json:
        print(json.dumps({"folders": [str(path) for path in written]}, indent=2))
    else:
        for path in written:
            line(f"{path}")
    raise_all(failed)


def _export(
    name: str,
    folder: Path,
    platforms: Sequence[str],
    step: str | None,
    stop: str | None,
    output_step: str | None,
    record: Sequence[str] | None,
) -> list[Path]:
    path = find_scenario(name)
    chosen = changed_master(path, "--{}", step=step, stop=stop, output_step=output_step, record=record).scenario
    system = system_of(chosen)
    check_cross_check(system, platforms)
    check_triples(system)
    done = run(chosen)
    print_notes([*done.notes, *input_notes(system)])
    return write_cross_check(system, done.trace, folder, platforms)
