"""The command line.  Exit codes: 0 good, 1 a comparison failed, 2 bad input, 3 the tool chain or an FMU failed."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from fmu_builder.build import build_fmu, content_guid, fmu_files, pack
from fmu_builder.compare import Comparison, Tolerance, compare_files, comparison_to_json
from fmu_builder.declaration import read_declaration, read_toml
from fmu_builder.doctor import examine
from fmu_builder.documentation import quantity
from fmu_builder.errors import FmuBuilderError, InputError, Problem, did_you_mean
from fmu_builder.master import load_scenario
from fmu_builder.master import run as run_scenario
from fmu_builder.model import load_model
from fmu_builder.new import camel_case, new_element
from fmu_builder.paths import catalogue, find_recipe, shipped_elements
from fmu_builder.recipe import read_recipe
from fmu_builder.plot import write_trace_plot
from fmu_builder.report import summary_rows, write_report
from fmu_builder.scenario import ALGORITHMS, Scenario, check_times
from fmu_builder.slave import WARNING, SlaveDescription, read_slave
from fmu_builder.trace import write_trace
from fmu_builder.units import parse_quantity, parse_unit
from fmu_builder.validate import CaseResult, all_cases, find_cases, validate

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Mechanical force elements and constrained mechanisms as self-contained FMI 2.0 FMUs.",
)
_out = Console(soft_wrap=True)
_out.width = max(_out.width, 100)  # a table cut to 80 columns loses the names of the cases
_err = Console(stderr=True, soft_wrap=True)

_Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def main() -> None:
    """Entry point: errors become a message and an exit code."""
    try:
        app()
    except FmuBuilderError as error:
        for problem in error.problems:
            _err.print(f"error: {problem}", style="red", markup=False, highlight=False)
        sys.exit(error.exit_code)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"fmu-builder {version('fmu-builder')}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    pass


@contextmanager
def _progress(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """A function to call when one of `total` things is done: a bar on a terminal, a line each elsewhere."""
    if not _err.is_terminal:
        yield lambda text: print(text, file=sys.stderr, flush=True)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=_err, transient=True) as progress:
        task = progress.add_task(title, total=total)

        def done(text: str) -> None:
            progress.update(task, advance=1, description=f"{title} {text}")

        yield done


# ---- demo, validate ----------------------------------------------------------------------------------------------


@app.command()
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for FMUs and report.")] = Path(
        "fmu-builder-demo"
    ),
) -> None:
    """Build the catalogue for this machine, run every case, and write a report.

    Example: fmu-builder demo
    """
    begin = time.perf_counter()
    recipes = catalogue()
    fmus = []
    with _progress("building", len(recipes)) as done:
        for recipe in recipes:
            fmus.append(build_fmu(recipe, output, ("host",)).path)
            done(f"built {recipe.stem}")
    results = _validate(find_cases(()))
    report = output / "report.html"
    write_report(results, report, fmus=fmus, title="fmu-builder demo")
    _print_cases(results)
    _out.print(f"\n{len(fmus)} FMUs and the report, in {time.perf_counter() - begin:.0f} s:", highlight=False)
    for path in (*fmus, report):
        _out.print(f"  {path}", highlight=False, markup=False)
    _exit_with(results)


@app.command("validate")
def validate_command(
    cases: Annotated[
        list[str] | None, typer.Argument(help="Cases: element/case, element, case, or a .toml file.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    as_json: _Json = False,
) -> None:
    """Run cases against their references.  Exit code 1 if one fails.

    Example: fmu-builder validate sliding_block
    """
    results = _validate(find_cases(cases or ()))
    if report:
        write_report(results, report, title="fmu-builder validate")
    if as_json:
        print(json.dumps([_case_json(r) for r in results], indent=2))
    else:
        _print_cases(results)
    _exit_with(results)


def _validate(cases: dict[str, Path]) -> tuple[CaseResult, ...]:
    with _progress("running", len(cases)) as done:
        return validate(cases, lambda r: done(f"{'passed' if r.passed else 'FAILED'} {r.name}"))


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
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for row in summary_rows(results):
        verdict = "[green]passed[/]" if row.passed else "[red]FAILED[/]"
        table.add_row(row.name, row.what, row.error_text, row.allowed_text, verdict)
    _out.print(table)
    for result in results:
        if result.failure:
            _out.print(f"{result.name}: {result.failure}", style="red", markup=False, highlight=False)
    good = sum(r.passed for r in results)
    _out.print(f"\n{good} of {len(results)} cases passed", highlight=False)


# ---- build, run, compare -----------------------------------------------------------------------------------------


@app.command("build")
def build_command(
    recipes: Annotated[list[str], typer.Argument(help="Recipes: .toml files or names of the catalogue.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Folder for the FMUs.")] = None,
    platform: Annotated[
        list[str] | None,
        typer.Option(help="linux64, win64, darwin64, aarch64-linux, aarch64-darwin, host or all; may be repeated."),
    ] = None,
    source_only: Annotated[bool, typer.Option("--source-only", help="Sources without binaries.")] = False,
) -> None:
    """Build FMUs from recipes, for all platforms unless told otherwise.

    Example: fmu-builder build PointSurface -o . --platform linux64
    """
    if source_only and platform:
        raise InputError(Problem("--source-only", "excludes --platform"))
    paths = [find_recipe(recipe) for recipe in recipes]
    for path in paths:
        built = build_fmu(path, output, () if source_only else platform or ("all",))
        _out.print(f"{built.path}  ({', '.join(built.platforms) or 'sources only'})", highlight=False, markup=False)
        for note in built.notes:
            _err.print(f"note: {note}", style="yellow", markup=False, highlight=False)


@app.command("run")
def run_command(
    scenario: Annotated[Path, typer.Argument(help="A scenario (.toml), an .fmu, or the name of a recipe.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Trace to write.")] = Path("trace.csv"),
    step: Annotated[str | None, typer.Option(help="Communication step, e.g. '0.1 ms'.")] = None,
    stop: Annotated[str | None, typer.Option(help="Stop time, e.g. '2 s'.")] = None,
    algorithm: Annotated[str | None, typer.Option(help="jacobi or gauss_seidel.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a plot (HTML) of all outputs.")] = None,
) -> None:
    """Run a system of FMUs, or one alone, and write its trace.

    Example: fmu-builder run elements/point_surface/cases/drop_elastic.toml --plot drop.html
    """
    chosen = _override(load_scenario(scenario), step=step, stop=stop, algorithm=algorithm)
    done = _run_with_bar(chosen)
    write_trace(done.trace, output)
    for note in done.notes:
        _err.print(f"note: {note}", markup=False, highlight=False)
    for entry in done.log:
        if entry.status >= WARNING:
            _err.print(f"{entry.category}: {entry}", style="yellow", markup=False, highlight=False)
    _out.print(
        f"{output}  ({len(done.trace.time)} rows, {len(done.trace.names)} signals)", highlight=False, markup=False
    )
    for name, value in done.trace.events.items():
        _out.print(f"  {name} = {value:.9g}", highlight=False, markup=False)
    if plot:
        write_trace_plot(done.trace, plot)
        _out.print(f"{plot}", highlight=False, markup=False)


def _run_with_bar(scenario: Scenario) -> Any:
    if not _err.is_terminal:
        return run_scenario(scenario)
    with Progress(TextColumn("running"), BarColumn(), TimeElapsedColumn(), console=_err, transient=True) as progress:
        task = progress.add_task("running", total=1.0)
        return run_scenario(scenario, lambda share: progress.update(task, completed=share))


def _override(scenario: Scenario, step: str | None, stop: str | None, algorithm: str | None) -> Scenario:
    """The scenario with other times or another algorithm, checked like one from a file."""
    changes: dict[str, object] = {}
    if step is not None:
        changes |= {"step": parse_quantity(step, parse_unit("s"), "--step"), "output_step": None}
    if stop is not None:
        changes["stop"] = parse_quantity(stop, parse_unit("s"), "--stop")
    if algorithm is not None:
        if algorithm not in ALGORITHMS:
            raise InputError(Problem("--algorithm", f"'{algorithm}' is unknown" + did_you_mean(algorithm, ALGORITHMS)))
        changes["algorithm"] = algorithm
    changed = scenario.model_copy(update={"experiment": scenario.experiment.model_copy(update=changes)})
    problems = check_times(
        "--step, --stop:",
        *(changed.seconds(key) for key in ("start", "stop", "step", "output_step")),
    )
    if problems:
        raise InputError(problems)
    return changed


@app.command("compare")
def compare_command(
    trace: Annotated[Path, typer.Argument(help="Trace: a CSV file whose first column is time.")],
    reference: Annotated[Path, typer.Argument(help="Reference: a CSV file as well.")],
    absolute: Annotated[float, typer.Option(help="Allowed error in the unit of each signal.")] = 0.0,
    relative: Annotated[float, typer.Option(help="Allowed error as a share of the signal's largest value.")] = 1e-3,
    time_tolerance: Annotated[float, typer.Option("--time", help="Allowed shift in time, s.")] = 0.0,
    as_json: _Json = False,
) -> None:
    """Compare two traces.  Exit code 1 if a signal leaves the tube around its reference.

    Example: fmu-builder compare trace.csv reference.csv --relative 1e-4
    """
    result = compare_files(trace, reference, None, Tolerance(absolute, relative, time_tolerance))
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
        table.add_row(s.name, f"{s.error:.3g} {s.unit}", f"{s.allowed:.3g} {s.unit}", f"{s.time:.6g} s", verdict)
    _out.print(table)
    if result.span.note:
        _out.print(f"note: {result.span.note}", markup=False, highlight=False)


# ---- list, info, new, doctor -------------------------------------------------------------------------------------


@app.command("list")
def list_command(as_json: _Json = False) -> None:
    """List elements, catalogue FMUs and cases, one line each.

    Example: fmu-builder list
    """
    elements = {folder.name: read_declaration(folder).description for folder in shipped_elements()}
    recipes = {path.stem: read_recipe(path).description for path in catalogue()}
    cases = {name: str(read_toml(path).get("description", "")) for name, path in all_cases().items()}
    if as_json:
        print(json.dumps({"elements": elements, "fmus": recipes, "cases": cases}, indent=2))
        return
    for title, items in (("elements", elements), ("FMUs", recipes), ("cases", cases)):
        _out.print(title, style="bold")
        for name, text in items.items():
            _out.print(f"  {name:38} {text}", highlight=False, markup=False)


@app.command("info")
def info_command(
    fmu: Annotated[str, typer.Argument(help="An .fmu file, or the name or file of a recipe.")], as_json: _Json = False
) -> None:
    """Show ports, parameters, recommended step, and how to wire an FMU in a simulator.

    Example: fmu-builder info PointSurface
    """
    description = read_slave(Path(fmu)) if fmu.endswith(".fmu") else _describe(find_recipe(fmu))
    if as_json:
        print(json.dumps(_info_json(description), indent=2))
    else:
        _print_info(description)


def _describe(recipe: Path) -> SlaveDescription:
    """The description of a recipe's FMU, without compiling it."""
    model = load_model(recipe)
    with tempfile.TemporaryDirectory(prefix="fmu-builder-") as folder:
        path = Path(folder) / f"{model.name}.fmu"
        path.write_bytes(pack(fmu_files(model, content_guid(model))))
        return read_slave(path)


def _info_json(description: SlaveDescription) -> dict[str, Any]:
    return {
        "model": description.model_name,
        "guid": description.guid,
        "step": description.step,
        "ports": [asdict(p) for p in description.ports.values()],
        "variables": [
            {
                "name": v.name,
                "type": v.type,
                "causality": v.causality,
                "variability": v.variability,
                "unit": v.unit,
                "start": v.start,
            }
            for v in description.variables.values()
        ],
    }


def _print_info(description: SlaveDescription) -> None:
    def line(text: str = "") -> None:
        _out.print(text, highlight=False, markup=False)

    line(f"{description.model_name}  {description.guid}")
    if description.step:
        line(f"recommended communication step: {quantity(description.step)} s")
    in_ports = set()
    for port in description.ports.values():
        motion = [n for group in port.motion.values() for n in group]
        force = [n for group in port.force.values() for n in group]
        in_ports |= {*motion, *force}
        out, into = (motion, force) if port.side == "body" else (force, motion)
        line(
            f"\nport {port.name} ({port.kind}), connect it to a {port.kind} port of a {'force element' if port.side == 'body' else 'body'}"
        )
        line(f"  in   {', '.join(into)}")
        line(f"  out  {', '.join(out)}")
    for title, causalities in (("inputs", ("input",)), ("outputs", ("output",)), ("parameters", ("parameter",))):
        chosen = [v for v in description.variables.values() if v.causality in causalities and v.name not in in_ports]
        if chosen:
            line(f"\n{title}")
        for v in chosen:
            start = (
                f"= {quantity(float(v.start))}"
                if v.start is not None and v.type == "Real"
                else f"= {v.start}"
                if v.start
                else ""
            )
            line(f"  {v.name:24} {start} {v.unit if v.unit != '1' else ''}".rstrip())


@app.command()
def new(name: Annotated[str, typer.Argument(help="Name of the element, such as demo_spring.")]) -> None:
    """Make an element of your own, ready to build, in ./elements and ./fmus.

    Example: fmu-builder new demo_spring
    """
    for path in new_element(name, Path()):
        _out.print(f"{path}", highlight=False, markup=False)
    _out.print(f"\nbuild it with: fmu-builder build fmus/{camel_case(name)}.toml", highlight=False)


@app.command()
def doctor(as_json: _Json = False) -> None:
    """Show compiler, caches, platforms and versions: one paste for a bug report.

    Example: fmu-builder doctor
    """
    findings = examine()
    if as_json:
        print(json.dumps(findings, indent=2))
        return
    for name, value in findings.items():
        _out.print(f"{name:16} {value}", highlight=False, markup=False)


if __name__ == "__main__":
    main()
