"""`study`: its runs, its table, and the convergence over the communication step."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from fmu_builder.cli.files import check_outputs, check_page, find_scenario, make_folder_of
from fmu_builder.cli.printing import INTERRUPTED, err, line, out, print_notes, print_progress, progress_lines
from fmu_builder.errors import InputError, Problem, SlaveError
from fmu_builder.studies import table as tables
from fmu_builder.studies.page import write_page
from fmu_builder.studies.run import Progress as Done
from fmu_builder.studies.run import StudyInterrupted, study
from fmu_builder.studies.step import step_study

_ROWS = 12  # of a table that is printed


def run_study(
    source: Path,
    output: Path | None,
    workers: int | None,
    scheduler: str | None,
    again: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Run a study, write its table, and print where it is and what to know of it.

    Exits with 3 if a run of the table, also one of before, has another status than ok."""
    check_outputs(("-o", output), ("", source))
    with _shown_progress() as progress:
        try:
            result = study(
                source,
                output,
                workers=workers,
                scheduler=scheduler,
                again=again,
                yes=yes,
                progress=progress,
                started=print_progress,
            )
            exit_code = SlaveError.exit_code if result.failed else 0
        except StudyInterrupted as error:  # what is there is kept
            result, exit_code = error.result, INTERRUPTED
    print_notes(result.notes)
    if as_json:
        print(json.dumps({**asdict(result), "path": str(result.path)}, indent=2))
    else:
        new = result.runs - result.repeated
        rate = f"{new / result.seconds:.3g} runs/s" if new else "nothing was left to run"
        before = f", {result.repeated} of them before" if result.repeated else ""
        failed = f", {result.failed} failed" if result.failed else ""
        line(f"{result.path}  ({result.runs} of {result.total} runs{before}{failed}; {rate})")
        if exit_code == INTERRUPTED:
            line("the same command goes on from there")
    if exit_code:
        sys.exit(exit_code)


@contextmanager
def _shown_progress() -> Iterator[Callable[[Done], None]]:
    """A bar with rate and time left on a terminal, a line every few seconds elsewhere."""
    if not err.is_terminal:
        yield progress_lines(lambda one: f"{one.done} of {one.total} runs, {how_fast(one)}")
        return
    columns = (TextColumn("running"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[how]}"))
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("running", total=None, how="")
        yield lambda one: bar.update(task, completed=one.done, total=one.total, how=how_fast(one))


def how_fast(one: Done) -> str:
    """`1.5e+03 runs/s, 12 s left, 3 failed`."""
    parts = [f"{one.rate:.3g} runs/s"]
    if one.left is not None:
        left = math.ceil(one.left)
        hours, minutes = left // 3600, left % 3600 // 60
        parts.append(
            f"{hours} h {minutes} min left"
            if hours
            else f"{minutes} min {left % 60} s left"
            if minutes
            else f"{left} s left"
        )
    if one.failed:
        parts.append(f"{one.failed} failed")
    return ", ".join(parts)


def show_study(path: Path, plot: Path | None, as_json: bool) -> None:
    """Print what a table holds: range and mean of its responses, how runs ended, its first rows; write its page."""
    if path.suffix == ".toml":
        what = f"is no table of a study; `fmu-builder study {path}` runs a study and writes its table, a .parquet"
        raise InputError(Problem(str(path), what))
    about = tables.about_of(tables.read_schema(path))
    check_outputs(("--plot", plot), ("", path))
    check_page("--plot", plot)
    if plot is not None:
        make_folder_of(plot)
        write_page(path, plot)
    rows = tables.columns(path)
    responses = [*about["responses"]]
    if as_json:
        print(json.dumps(_summary(about, rows, responses), indent=2))
        return
    status = rows.column("status").value_counts().to_pylist()
    line(f"{about['system']}: {len(rows)} of {about['plan']['size']} runs, plan {about['plan']['kind']}")
    line(", ".join(f"{one['counts']} {one['values']}" for one in status) + "\n")
    overview = Table(box=None, pad_edge=False)
    for title in ("response", "unit", "minimum", "mean", "maximum", "missing"):
        overview.add_column(title, justify="left" if title in ("response", "unit") else "right", no_wrap=True)
    for name, one in _summary(about, rows, responses)["responses"].items():
        unit = "" if one["unit"] == "1" else one["unit"]
        numbers = ("" if one[key] is None else f"{one[key]:.6g}" for key in ("minimum", "mean", "maximum"))
        overview.add_row(Text(name), unit, *numbers, str(one["missing"]))
    out.print(overview)
    line()
    columns = ["run", *about["factors"], *responses, "status"]
    table = Table(box=None, pad_edge=False)
    for name in columns:
        table.add_column(Text(name), justify="right", no_wrap=True)
    for row in rows.slice(0, _ROWS).to_pylist():
        table.add_row(*(_cell(row[name]) for name in columns))
    out.print(table, width=max(out.width, 160))
    if len(rows) > _ROWS:
        line(f"and {len(rows) - _ROWS} further rows")
    if plot is not None:
        line(f"{plot}")


def show_steps(scenario: str, quantity: str | None, tolerance: float, halvings: int, as_json: bool) -> None:
    """Print how the answer of a scenario converges with the communication step."""
    found = step_study(
        find_scenario(scenario),
        quantity=quantity,
        tolerance=tolerance,
        halvings=halvings,
        progress=print_progress if err.is_terminal else None,
    )
    if as_json:
        print(json.dumps([asdict(one) for one in found], indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for title in ("algorithm", "mode", "step", "error", "order", "run", ""):
        table.add_column(title, justify="left" if title in ("algorithm", "mode", "") else "right", no_wrap=True)
    for one in found:
        for place, level in enumerate(one.levels):
            order = _order_of(one.levels[place - 1].error, level.error) if place else ""
            step, cost = f"{level.step:.4g} s", f"{level.seconds:.3g} s"
            mark = "settled" if level.step == one.stands else ""
            table.add_row(one.algorithm, one.mode, step, f"{level.error:.2g}", order, cost, mark)
    out.print(table)
    for one in found:
        if one.stands is None:
            why = one.failed or f"no step down to {one.levels[-1].step:.3g} s gives an answer that has settled"
            line(f"{one.algorithm} {one.mode}".rstrip() + f": {why}")


def _order_of(longer: float, shorter: float) -> str:
    return f"{math.log2(longer / shorter):.2f}" if shorter > 0.0 and 0.0 < longer < math.inf else ""


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _summary(about: dict[str, Any], rows: Any, responses: list[str]) -> dict[str, Any]:
    compute = tables.arrow().compute
    found = {}
    for name in responses:
        column = rows.column(name)
        limits = compute.min_max(column).as_py()
        unit = (rows.schema.field(name).metadata or {}).get(b"unit", b"").decode()
        mean = compute.mean(column).as_py()
        found[name] = {
            "unit": unit,
            "minimum": limits["min"],
            "mean": mean,
            "maximum": limits["max"],
            "missing": column.null_count,
        }
    status = {one["values"]: one["counts"] for one in rows.column("status").value_counts().to_pylist()}
    shown = {key: about[key] for key in ("description", "system", "factors", "plan")}
    return {**shown, "runs": len(rows), "status": status, "responses": found}
