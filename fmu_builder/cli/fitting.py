"""`fit`: parameters of a system from measured files."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.table import Table
from rich.text import Text

from fmu_builder.cli.files import check_outputs, check_page, make_folder_of, named_files
from fmu_builder.cli.printing import err, line, out, print_notes
from fmu_builder.errors import behind_number
from fmu_builder.files import recorded_reads, write_whole
from fmu_builder.fitting.result import FitResult, fit_to_json
from fmu_builder.fitting.search import Progress
from fmu_builder.fitting.solution import fitted
from fmu_builder.fitting.tables import find_fit
from fmu_builder.fitting.task import FitTask
from fmu_builder.fitting.written import check_expressible, fitted_text


def run_fit(name: str, output: Path | None, report: Path | None, as_json: bool) -> None:
    """Fit, write the fitted system and the page, and print values with intervals.

    name     of a file, or of a shipped fit
    output   by default NAME_fitted.toml in the current folder"""
    path = find_fit(name)
    target = output or Path(f"{path.stem}_fitted.toml")
    written = (("-o", target), ("--report", report))
    check_outputs(*written, ("", path))
    with _progress() as progress:
        with recorded_reads() as files:
            task = FitTask(path)
        check_outputs(*written, *(("", file) for file in (*named_files(task.scenario), *files)))
        check_page("--report", report)
        check_expressible(task.scenario)  # before the runs: the fitted system is written last
        with task:
            found = fitted(task, progress)
    text = fitted_text(found, target)
    make_folder_of(target)
    write_whole(target, text)
    if report is not None:
        from fmu_builder.fitting.page import write_page

        make_folder_of(report)
        write_page(found, report)
    if as_json:
        print(json.dumps({**fit_to_json(found), "fitted": str(target), "report": report and str(report)}, indent=2))
    else:
        _print(found)
        line(f"\n{target}")
        if report is not None:
            line(f"{report}")
    print_notes(found.warnings, "warning")
    print_notes(found.notes)


@contextmanager
def _progress() -> Iterator[Progress]:
    if not err.is_terminal:
        yield lambda text: None
        return
    with err.status("reading") as status:
        yield lambda text: status.update(f"fit: {text}")


def _print(found: FitResult) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("parameter", "value", f"{found.confidence:.0%} interval", "unit"):
        table.add_column(name, justify="right" if name == "value" else "left", no_wrap=True)
    for p in found.parameters:
        unit = p.unit if p.unit != "1" else ""
        table.add_row(Text(p.name), f"{p.value:.6g}", f"{_end(p.low)} to {_end(p.high)}", unit)
    out.print(table)
    line()
    table = Table(box=None, pad_edge=False)
    for name in ("column", "signal", "samples", "rms", "deviation"):
        table.add_column(name, justify="left" if name in ("column", "signal") else "right", no_wrap=True)
    for c in found.columns:
        unit = behind_number(c.unit)
        how = "estimated" if c.estimated else "given"
        deviation = f"{c.deviation:.3g}{unit} ({how})"
        label = Text(f"{Path(c.file).name}: {c.name}")
        table.add_row(label, Text(c.signal), f"{len(c.time)}", f"{c.rms:.3g}{unit}", deviation)
    out.print(table)
    if len(found.parameters) > 1:
        line()
        _print_correlations(found)
    line(f"\n{found.runs} runs: {found.method}")


def _print_correlations(found: FitResult) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("correlation", no_wrap=True)
    for k in range(len(found.parameters)):
        table.add_column(f"{k + 1}", justify="right")
    for k, (p, row) in enumerate(zip(found.parameters, found.correlation.tolist(), strict=True)):
        cells = (f"{number:.3f}" if math.isfinite(number) else "" for number in row[: k + 1])
        table.add_row(Text(f"{k + 1} {p.name}"), *cells)
    out.print(table)


def _end(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else "unknown"
