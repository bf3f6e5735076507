"""`ssp`: a scenario as an SSP archive, for other tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from fmu_builder.cli.files import check_outputs, find_scenario, make_folder_of, named_files
from fmu_builder.cli.printing import line, print_notes
from fmu_builder.cosim.master import load_scenario, system_of
from fmu_builder.cosim.ssp_writing import TARGETS, ssp_archive
from fmu_builder.errors import InputError, Problem, none_of
from fmu_builder.files import recorded_reads, write_whole


def write_ssp(scenario: str, output: Path | None, target: str, platforms: Sequence[str], as_json: bool) -> None:
    """Write the archive, whole or not at all, and print its path and the warnings."""
    if target not in TARGETS:
        raise InputError(Problem("--for", none_of(target, TARGETS)))
    path = find_scenario(scenario)
    output = output if output is not None else Path(f"{path.stem}.ssp")
    check_outputs(("-o", output), ("", path))
    with recorded_reads() as files:
        system = system_of(load_scenario(path))
    check_outputs(("-o", output), *(("", file) for file in (*named_files(system.scenario), *files)))
    if output.name == ".ssp":
        raise InputError(Problem("-o", f"'{output}' has no name before .ssp; name it, such as {path.stem}.ssp"))
    if output.suffix != ".ssp":
        raise InputError(Problem("-o", f"'{output}' must end with .ssp, by which it is known as a system"))
    archive, warnings = ssp_archive(system, target, platforms)
    make_folder_of(output)
    write_whole(output, archive)
    if as_json:
        print(json.dumps({"archive": str(output), "target": target, "warnings": warnings}, indent=2))
        return
    line(f"{output}  ({len(archive) / 1000:.0f} kB)")
    print_notes(warnings, "warning")
