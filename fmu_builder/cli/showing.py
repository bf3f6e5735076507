"""`show`: the picture of a system.  `live`: a page on which it runs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from fmu_builder.cli.files import check_outputs, find_scenario, make_folder_of, show_page
from fmu_builder.cli.printing import line
from fmu_builder.cosim.master import load_scenario, system_of
from fmu_builder.cosim.system_graph import graph_of
from fmu_builder.files import write_whole
from fmu_builder.pages.live import checked_page_text
from fmu_builder.report.system_figure import check_suffix, write_system


def show_system(scenario: str, output: Path | None, as_json: bool) -> None:
    """Write the picture, print its place and the algebraic loops, and open it in the browser."""
    if output is not None:
        check_suffix(output)
    path = find_scenario(scenario)
    output = output if output is not None else Path(f"{path.stem}.html")
    check_outputs(("-o", output), ("", path))
    graph = graph_of(system_of(load_scenario(path)))
    make_folder_of(output)
    write_system(graph, output)
    if as_json:
        print(json.dumps({"picture": str(output), **asdict(graph)}, indent=2))
        return
    line(f"{output}")
    for loop in graph.loops:
        line(f"algebraic loop: {' -> '.join((*loop, loop[0]))}")
    show_page(output)


def show_live(scenario: str, output: Path | None, as_json: bool) -> None:
    """Write the page, print its place, and open it in the browser."""
    path = find_scenario(scenario)
    output = output if output is not None else Path(f"{path.stem}_live.html")
    check_outputs(("-o", output), ("", path))
    text = checked_page_text(path, output, "-o")
    make_folder_of(output)
    write_whole(output, text)
    if as_json:
        print(json.dumps({"page": str(output), "bytes": output.stat().st_size}, indent=2))
        return
    line(f"{output}  ({output.stat().st_size / 1e3:.0f} kB)")
    show_page(output)
