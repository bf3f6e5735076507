"""`demo` and `validate`: cases, their verdicts, and the report."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from fmu_builder.cli.files import check_outputs, check_page, make_folder_of, named_files, show_page
from fmu_builder.cli.printing import line, out, print_notes, progress
from fmu_builder.cosim.comparison import comparison_to_json
from fmu_builder.cosim.validation import CaseResult, all_cases, demo_cases, find_cases, recipes_of, validate
from fmu_builder.errors import InputError, Problem, raise_all
from fmu_builder.export.many import host_fmus
from fmu_builder.model.scenario import read_scenario
from fmu_builder.paths import catalogue
from fmu_builder.report.case_view import CaseView, compile_modules, validate_with_views
from fmu_builder.report.report import summary_rows, write_report


def demo(output: Path, everything: bool, live: bool) -> None:
    """Build, run, compare, write and open the report.

    everything  the catalogue and all cases instead of those of demo.txt
    live        with live pages of the cases in the report

    Exits with 1 if a case fails."""
    begin = time.perf_counter()
    cases = all_cases() if everything else demo_cases()
    recipes = catalogue() if everything else recipes_of(cases)
    report = output / "report.html"
    check_outputs(("-o", report))
    make_folder_of(report)
    with progress("building", len(recipes)) as done:
        fmus = host_fmus(recipes, output, lambda recipe: done(f"built {recipe.stem}"))
    results, views = _validate_for_report(cases, live)
    write_report(results, report, fmus=fmus, title="fmu-builder demo", views=views)
    _print_cases(results)
    line(f"\n{len(fmus)} FMUs for this machine and the report, in {time.perf_counter() - begin:.0f} s:")
    for path in (*fmus, report):
        line(f"  {path}")
    if not everything:
        line(f"\nThe catalogue has {len(catalogue())} recipes and {len(all_cases())} cases: fmu-builder demo --all")
    show_page(report)
    _exit_with(results)


def validate_cases(names: Sequence[str], report: Path | None, as_json: bool, live: bool) -> None:
    """Run the cases of these names, by default all, and print their verdicts.

    report  page to write;   live: with live pages of the cases in it

    Exits with 1 if a case fails."""
    if live and report is None:
        raise InputError(Problem("--live", "is of a report, in which the cases run: give --report FILE, or remove it"))
    chosen = find_cases(names)
    check_outputs(("--report", report), *(("", file) for file in (_read_by(chosen) if report else ())))
    check_page("--report", report)
    results, views = _validate_for_report(chosen, live) if report else (_validate(chosen), {})
    if report:
        make_folder_of(report)
        write_report(results, report, title="fmu-builder validate", views=views)
    if as_json:
        print(json.dumps([_case_json(r) for r in results], indent=2))
        raise_all(r.error for r in results if r.error)  # as text they stand below the table
    else:
        _print_cases(results)
        if report:
            line(f"report: {report}")
    _exit_with(results)


def _read_by(cases: Mapping[str, Path]) -> list[Path]:
    """The cases, and the files that they name."""
    found = [*cases.values()]
    for path in cases.values():
        with suppress(InputError):  # it fails when it is run
            found += named_files(read_scenario(path))
    return found


def _validate(cases: dict[str, Path]) -> tuple[CaseResult, ...]:
    with progress("running", len(cases)) as done:
        return validate(cases, lambda result: done(_verdict(result)))


def _validate_for_report(cases: dict[str, Path], live: bool) -> tuple[tuple[CaseResult, ...], dict[str, CaseView]]:
    if live:
        with progress("preparing", len(recipes_of(cases))) as done:
            compile_modules(cases, lambda recipe: done(f"live page of {recipe}"))
    with progress("running", len(cases)) as done:
        return validate_with_views(cases, lambda result: done(_verdict(result)), live)


def _verdict(result: CaseResult) -> str:
    return f"{'passed' if result.passed else 'FAILED'} {result.name}"


def _exit_with(results: Sequence[CaseResult]) -> None:
    code = max([r.exit_code for r in results] + [0 if r.passed else 1 for r in results])
    if code:
        raise typer.Exit(code)


def _case_json(result: CaseResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "passed": result.passed,
        "seconds": round(result.seconds, 3),
        "failure": result.failure,
        "comparison": comparison_to_json(result.comparison) if result.comparison else None,
        "order": asdict(result.order) if result.order else None,
        "notes": list(result.notes),
    }


def _print_cases(results: Sequence[CaseResult]) -> None:
    table = Table(box=None, pad_edge=False)
    for name, justify in (
        ("case", "left"),
        ("what is compared", "left"),
        ("worst error", "right"),
        ("allowed", "right"),
        ("", "left"),
    ):
        table.add_column(name, justify=justify, no_wrap=name == "case")  # type: ignore[arg-type]
    table.columns[0].min_width = max((len(result.name) for result in results), default=0)
    for row in summary_rows(results):
        verdict = "[green]passed[/]" if row.passed else "[red]FAILED[/]"
        table.add_row(Text(row.name), Text(row.what), row.error_text, row.allowed_text, verdict)
    out.print(table)
    for result in results:
        why = [result.failure] if result.failure else []
        if result.comparison:
            why += [result.comparison.span.note, *(f"{e.name}: {e.note}" for e in result.comparison.events if e.note)]
        for text in filter(None, why):
            out.print(f"{result.name}: {text}", style="red", markup=False, highlight=False)
    print_notes(f"{result.name}: {result.uncompared}" for result in results if result.uncompared)
    good = sum(r.passed for r in results)
    line(f"\n{good} of {len(results)} cases passed")
