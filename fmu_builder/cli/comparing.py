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
from fmu_builder.cosim.mapped_comparison import MappedComparison, compare_with_map, mapped_to_json
from fmu_builder.errors import InputError, Problem, behind_number


def compare_traces(
    trace: Path,
    reference: Path,
    absolute: float,
    relative: float,
    time_tolerance: float,
    overlap: bool,
    as_json: bool,
    table: Path | None,
) -> None:
    """Compare two files and print the verdict on each signal.   time_tolerance: s.   Exits with 1 if one fails.

    table   the map of a measured file, which the reference is then"""
    wrong = [
        Problem(option, f"{value} must be finite and not negative")
        for option, value in (("--absolute", absolute), ("--relative", relative), ("--time", time_tolerance))
        if not 0.0 <= value < math.inf
    ]
    if table is not None and time_tolerance:
        what = "is of traces; a map shifts the time: time_offset = { min, max } there finds the best offset"
        wrong.append(Problem("--time", what))
    if wrong:
        raise InputError(wrong)
    if table is not None:
        mapped = compare_with_map(trace, reference, table, Tolerance(absolute, relative), overlap=overlap)
        if as_json:
            print(json.dumps(mapped_to_json(mapped), indent=2))
        else:
            _print_mapped(mapped)
        if not mapped.passed:
            raise typer.Exit(1)
        return
    try:
        result = compare_files(trace, reference, Tolerance(absolute, relative, time_tolerance), overlap=overlap)
    except InputError as error:
        if not any(problem.where.startswith(f"{reference}: line ") for problem in error.problems):
            raise
        what = (
            "if it is measured, with comments, units and decimal commas of its own, give --map MAP.toml, which reads it"
        )
        raise InputError([*error.problems, Problem(str(reference), what)]) from None
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
        unit = behind_number(s.unit)
        table.add_row(Text(s.name), f"{s.error:.3g}{unit}", f"{s.allowed:.3g}{unit}", f"{s.time:.6g} s", verdict)
    out.print(table)
    good = sum(s.passed for s in result.signals)
    line(f"\n{good} of {len(result.signals)} signals passed")
    if result.span.note and not result.overlap:
        print_fault(f"FAILED: {result.span.note}; --overlap allows that")
    else:
        print_notes([result.span.note] if result.span.note else [])


def _print_mapped(result: MappedComparison) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("column", "signal", "samples", "rms", "largest", "allowed", "at", ""):
        table.add_column(name, justify="left" if name in ("column", "signal", "") else "right")
    for c in result.columns:
        verdict = "[green]passed[/]" if c.passed else "[red]FAILED[/]"
        unit = behind_number(c.unit)
        numbers = (f"{number:.3g}{unit}" for number in (c.rms, c.error, c.allowed))
        table.add_row(Text(c.name), Text(c.signal), f"{c.samples}", *numbers, f"{c.time:.6g} s", verdict)
    out.print(table)
    how = "found" if result.offset_is_fitted else "given"
    line(f"\ntime offset {result.offset:.4g} s ({how})")
    line(f"{sum(c.passed for c in result.columns)} of {len(result.columns)} columns passed")
    print_notes(result.notes)
    if result.left_out and not result.overlap:
        print_fault(f"FAILED: {result.left_out} measured samples lie outside of the trace; --overlap allows that")
    elif result.left_out:
        print_notes([f"{result.left_out} measured samples lie outside of the trace and were not compared"])
