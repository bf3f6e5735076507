"""`compare`: two traces."""

from __future__ import annotations

import json
import math
from pathlib import Path

import typer
from rich.table import Table
from rich.text import Text

from fmu_builder.cli.printing import line, out, print_fault, print_notes
from fmu_builder.cosim.comparison import Comparison, Tolerance, compare_files, comparison_to_json
from fmu_builder.errors import InputError, Problem


def compare_traces(
    trace: Path,
    reference: Path,
    absolute: float,
    relative: float,
    time_tolerance: float,
    overlap: bool,
    as_json: bool,
) -> None:
    """Compare two files and print the verdict on each signal.   time_tolerance: s.   Exits with 1 if one fails."""
    wrong = [
        Problem(option, f"{value} must be finite and not negative")
        for option, value in (("--absolute", absolute), ("--relative", relative), ("--time", time_tolerance))
        if not 0.0 <= value < math.inf
    ]
    if wrong:
        raise InputError(wrong)
    result = compare_files(trace, reference, Tolerance(absolute, relative, time_tolerance), overlap=overlap)
    if as_json:
        print(json.dumps(comparison_to_json(result), indent=2))
    else:
        _print_comparison(result)
    if not result.passed:
        raise typer.Exit(1)


def _print_comparison(result: Comparison) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("signal", "worst error", "allowed", "at", ""):
        table.add_column(name, justify="left" if name in ("signal", "") else "right")
    for s in result.signals:
        verdict = "[green]passed[/]" if s.passed else "[red]FAILED[/]"
        unit = f" {s.unit}" if s.unit not in ("", "1") else ""
        table.add_row(Text(s.name), f"{s.error:.3g}{unit}", f"{s.allowed:.3g}{unit}", f"{s.time:.6g} s", verdict)
    out.print(table)
    good = sum(s.passed for s in result.signals)
    line(f"\n{good} of {len(result.signals)} signals passed")
    if result.span.note and not result.overlap:
        print_fault(f"FAILED: {result.span.note}; --overlap allows that")
    else:
        print_notes([result.span.note] if result.span.note else [])
