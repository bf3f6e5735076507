"""`run`: a system of FMUs, its trace and its contacts."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from fmu_builder.cli.files import check_endings, check_outputs, find_scenario, make_folder_of, named_files
from fmu_builder.cli.printing import INTERRUPTED, SHOWN, err, line, out, print_notes, progress_lines
from fmu_builder.cosim.cross_check import check_triples, write_triples
from fmu_builder.cosim.events import EVENT_UNITS
from fmu_builder.cosim.master import Master, changed_master, system_of
from fmu_builder.cosim.result import Result, RunInterrupted
from fmu_builder.cosim.slave import WARNING, LogEntry
from fmu_builder.cosim.trace import Trace, write_trace
from fmu_builder.errors import InputError
from fmu_builder.files import is_stream, no_page, no_trace, recorded_reads
from fmu_builder.model.scenario import CheckedScenario
from fmu_builder.pages.movement import Movement, movement_of
from fmu_builder.report import trace_plot

_TABLE_WIDTH = 160  # at most; a truncated number would be wrong


def run_system(
    scenario: str,
    output: Path,
    plot: Path | None,
    as_json: bool,
    *,
    step: str | None,
    stop: str | None,
    algorithm: str | None,
    record: list[str] | None,
    power: bool | None,
    isolated: bool | None = None,
    cross_check: Path | None = None,
) -> None:
    """Run a scenario, recipe or FMU, write its trace and plot, and print its contacts.

    step, stop   with their units;   these, `algorithm`, `record`, `power`, `isolated` replace those of the scenario
    cross_check  a folder for triples of the FMI cross-check"""
    path = find_scenario(scenario)
    beside = None if is_stream(output) else Path(f"{output}.json")
    written = (("-o", output), ("", beside), ("--plot", plot))
    check_outputs(*written, ("", path))
    changes = {"step": step, "stop": stop, "algorithm": algorithm, "record": record, "power": power}
    with recorded_reads() as files:
        master = changed_master(path, "--{}", **changes, isolated=isolated)
    chosen = master.scenario
    check_outputs(*written, *(("", file) for file in (*named_files(chosen), *files)))
    check_endings(("-o", output, no_trace), ("--plot", plot, no_page))
    system = system_of(chosen) if cross_check else None
    if system is not None:
        check_triples(system)
    try:
        done, exit_code = _run_with_progress(master), 0
    except RunInterrupted as error:  # what is there is worth its time
        done, exit_code = error.result, INTERRUPTED
    make_folder_of(output)
    write_trace(done.trace, output)
    if plot:
        make_folder_of(plot)
        trace_plot.plot(done.trace, plot, _movement(chosen, done.trace))
    triples: list[Path] = []
    if cross_check and system is not None:
        triples, remarks = write_triples(system, done.trace, cross_check)
        print_notes(remarks)
    print_notes(done.notes)
    warnings = [entry for entry in done.log if entry.status >= WARNING]
    for entry in warnings[:SHOWN]:
        err.print(f"{entry.category}: {entry}", style="yellow", markup=False, highlight=False)
    if len(warnings) > SHOWN:
        print_notes([f"{len(warnings) - SHOWN} further messages of the slaves; --json prints them all"])
    if as_json:
        print(json.dumps(_run_json(done, output, plot, triples, warnings), indent=2))
    else:
        line(f"{output}  ({len(done.trace.time)} rows, {len(done.trace.names)} signals)")
        if plot:
            line(f"{plot}")
        for path in triples:
            line(f"{path}")
        _print_events(done, output)
    if exit_code:
        sys.exit(exit_code)


def _movement(scenario: CheckedScenario, trace: Trace) -> Movement | None:
    """What moves, for the plot; a fault of a shape.py is a note."""
    try:
        return movement_of(system_of(scenario), trace)
    except InputError as error:
        print_notes([f"no picture: {error}"])
        return None


def _run_with_progress(master: Master) -> Result:
    if not err.is_terminal:
        return master.run(progress_lines(lambda share: f"running, {share:.0%} done"))
    with Progress(TextColumn("running"), BarColumn(), TimeElapsedColumn(), console=err, transient=True) as progress:
        task = progress.add_task("running", total=1.0)
        return master.run(lambda share: progress.update(task, completed=share))


def _run_json(
    done: Result, output: Path, plot: Path | None, triples: Sequence[Path], warnings: Sequence[LogEntry]
) -> dict[str, Any]:
    return {
        "trace": str(output),
        "plot": str(plot) if plot else None,
        "triples": [str(path) for path in triples],
        "rows": len(done.trace.time),
        "start": float(done.trace.time[0]),
        "stop": float(done.trace.time[-1]),
        "units": dict(done.trace.units),
        "events": dict(done.trace.events),
        "contacts": [asdict(contact) for contact in done.contacts],
        "provenance": dict(done.trace.provenance),
        "energies": [asdict(energy) for energy in done.energies],
        "notes": list(done.notes),
        "bonds": [asdict(bond) for bond in done.bonds],
        "groups": [asdict(group) for group in done.groups],
        "warnings": [asdict(entry) for entry in warnings],
    }


def _print_events(done: Result, trace: Path) -> None:
    """One row for each contact, and how many there are at each place below."""
    known = {quantity for contact in done.contacts for quantity in contact.values()}
    quantities = [quantity for quantity in EVENT_UNITS if quantity in known and quantity != "duration"]
    if quantities:
        table = Table(box=None, pad_edge=False)
        table.add_column("contact", no_wrap=True)
        for quantity in quantities:
            name, unit = quantity.removesuffix("_speed"), EVENT_UNITS[quantity]
            table.add_column(f"{name}\n{unit if unit != '1' else ''}", justify="right", no_wrap=True)
        for contact in done.contacts[:SHOWN]:
            values = {q: f"{value:.6g}" for q, value in contact.values().items()}
            if contact.closed_at_start:
                values["touch"] = "before"
            if contact.closed_at_end:
                values["release"] = "open"
            table.add_row(Text(f"{contact.place} {contact.number}"), *(values.get(q, "") for q in quantities))
        line()
        out.print(table, width=max(out.width, _TABLE_WIDTH))
        if len(done.contacts) > SHOWN:
            line(f"and {len(done.contacts) - SHOWN} further contacts in {trace}.json")
    for sampled in dict.fromkeys((c.place, c.sampled) for c in done.contacts if c.sampled is not None):
        line(f"{sampled[0]}: sampled at communication points, {sampled[1]:g} s apart")
    for name, value in done.trace.events.items():
        if name.endswith(".contact_count"):
            line(f"{name} = {value:.6g}")
