"""The command line.

Exit codes: 0 good, 1 a comparison failed, 2 bad input, 3 the tool chain or an FMU failed, 130 interrupted.
Results go to stdout, progress, notes and errors to stderr; with --json stdout holds JSON and nothing else, and errors
are {"errors": [{"where", "what"}], "exit_code"} at the end of stderr.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from fmu_builder.cosim.comparison import Comparison, Tolerance, compare_files, comparison_to_json
from fmu_builder.cosim.events import EVENT_UNITS
from fmu_builder.cosim.master import Run, load_scenario
from fmu_builder.cosim.master import run as run_scenario
from fmu_builder.cosim.slave import WARNING, LogEntry, SlaveDescription, SlaveVariable, read_slave
from fmu_builder.cosim.trace import write_trace
from fmu_builder.cosim.validation import CaseResult, all_cases, find_cases, own_cases, validate
from fmu_builder.doctor import FAULT, examine
from fmu_builder.errors import FmuBuilderError, InputError, Problem, ToolError, did_you_mean
from fmu_builder.export.archive import check_archive
from fmu_builder.export.declared_check import unshown_dependencies
from fmu_builder.export.fmu import Built, build_fmu, build_model_fmu, fmu_contents, pack
from fmu_builder.export.origin import FOLDER, Origin, changes_since, read_origin, unpack_origin
from fmu_builder.export.schema import element_schema, recipe_schema
from fmu_builder.export.toolchain import find_compiler
from fmu_builder.files import is_stream, real_place
from fmu_builder.model.assembly import assembly_of_scenario
from fmu_builder.model.declaration import read_declaration, read_toml
from fmu_builder.model.model import load_model
from fmu_builder.model.ports import PORT_KINDS
from fmu_builder.model.recipe import is_recipe
from fmu_builder.model.scenario import ALGORITHMS, Scenario, check_times, read_scenario
from fmu_builder.model.step_advice import MODE, step_advice
from fmu_builder.new import SIDES, case_of, new_element
from fmu_builder.paths import catalogue, find_recipe, own_elements, own_version, shipped, shipped_elements
from fmu_builder.report.report import summary_rows, write_report
from fmu_builder.report.trace_plot import write_trace_plot
from fmu_builder.units import parse_quantity, parse_unit, quantity, units_text

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Mechanical force elements and constrained mechanisms as self-contained FMI 2.0 FMUs.",
)
_out = Console(soft_wrap=True)
_out.width = max(_out.width, 100)  # a table cut to 80 columns loses the names of the cases
_err = Console(stderr=True, soft_wrap=True)

_ACTS = {"frame": "force and moment", "planar": "forces and torque", "rotational": "torque"}  # by kind of port
_SHOWN = 20  # warnings and contacts of a run; a slave that warns in every step would print thousands
_TABLE_WIDTH = 160  # at most; a number cut short would be a wrong one

_Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def main() -> None:
    """Entry point: errors become a message and an exit code; a fault of our own keeps its traceback."""
    try:
        try:
            app()
        except SystemExit as ended:
            if isinstance(ended.__context__, BrokenPipeError):  # for which typer would exit with 1
                raise ended.__context__ from None
            sys.stdout.flush()
            raise
    except FmuBuilderError as error:
        if "--json" in sys.argv[1:]:
            problems = [asdict(problem) for problem in error.problems]
            print(json.dumps({"errors": problems, "exit_code": error.exit_code}, indent=2), file=sys.stderr)
        else:
            for problem in error.problems:
                _err.print(f"error: {problem}", style="red", markup=False, highlight=False)
        sys.exit(error.exit_code)
    except BrokenPipeError:  # who read the output has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what Python still holds goes there when it ends
        sys.exit(0)
    except Exception:  # Python would exit with 1, which says that a comparison failed
        traceback.print_exc()
        _err.print(
            "this is a fault of fmu-builder, not of your input: please report the lines above together with the output "
            "of `fmu-builder doctor`",
            style="red",
            markup=False,
            highlight=False,
        )
        sys.exit(3)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"fmu-builder {own_version()}")
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
        yield _say
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=_err, transient=True) as progress:
        task = progress.add_task(title, total=total)

        def done(text: str) -> None:
            progress.update(task, advance=1, description=f"{title} {text}")

        yield done


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _say_notes(notes: Iterable[str], kind: str = "note") -> None:
    for note in notes:
        _err.print(f"{kind}: {note}", style="yellow", markup=False, highlight=False)


def _line(text: str = "") -> None:
    _out.print(text, markup=False, highlight=False)


def _check_outputs(*targets: tuple[str, Path | None]) -> None:
    """Whether the files (option, path) can be written, told before a long run and not after it.  Without an option:
    a file that is read, or written beside another.

    Raises InputError for a path that is a folder, or given twice; ToolError for a folder that cannot be written to."""
    given = [(option, path) for option, path in targets if path is not None]
    count = Counter(real_place(path) for _, path in given if not is_stream(path))
    wrong = [
        Problem(option, f"'{path}' is a folder; name a file in it")
        for option, path in given
        if option and path.is_dir()
    ]
    wrong += [
        Problem(option, f"'{path}' is written by another option as well, or read; choose another name")
        for option, path in given
        if count[real_place(path)] > 1 and option
    ]
    if wrong:
        raise InputError(wrong)
    refused = []
    for option, path in given:
        if is_stream(path):
            continue
        parent = next(folder for folder in real_place(path).parents if folder.exists())
        if option and not (parent.is_dir() and os.access(parent, os.W_OK)):
            what = "cannot be written to" if parent.is_dir() else "is a file, not a folder"
            refused.append(Problem(option, f"'{path}' cannot be written: {parent} {what}; choose another place"))
    if refused:
        raise ToolError(refused)


def _make_folder_of(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ToolError(Problem(str(path.parent), f"cannot be made: {error.strerror}")) from error


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
    _line(f"\n{len(fmus)} FMUs for this machine and the report, in {time.perf_counter() - begin:.0f} s:")
    for path in (*fmus, report):
        _line(f"  {path}")
    _exit_with(results)


@app.command("validate")
def validate_command(
    cases: Annotated[
        list[str] | None, typer.Argument(help="Cases: element/case, element, case, or a .toml file.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    as_json: _Json = False,
) -> None:
    """Run cases, by default all that are shipped, against their references.  Exit code 1 if one fails.

    Example: fmu-builder validate sliding_block
    """
    chosen = find_cases(cases or ())
    _check_outputs(("--report", report))
    results = _validate(chosen)
    if report:
        _make_folder_of(report)
        write_report(results, report, title="fmu-builder validate")
    if as_json:
        print(json.dumps([_case_json(r) for r in results], indent=2))
    else:
        _print_cases(results)
        if report:
            _line(f"report: {report}")
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
        table.add_column(name, justify=justify, no_wrap=name == "case")  # type: ignore[arg-type]
    table.columns[0].min_width = max((len(result.name) for result in results), default=0)
    for row in summary_rows(results):
        verdict = "[green]passed[/]" if row.passed else "[red]FAILED[/]"
        table.add_row(Text(row.name), Text(row.what), row.error_text, row.allowed_text, verdict)
    _out.print(table)
    for result in results:
        why = [result.failure] if result.failure else []
        why += [result.comparison.span.note] if result.comparison and result.comparison.span.note else []
        for text in why:
            _out.print(f"{result.name}: {text}", style="red", markup=False, highlight=False)
    good = sum(r.passed for r in results)
    _line(f"\n{good} of {len(results)} cases passed")


# ---- build, run, compare -----------------------------------------------------------------------------------------


@app.command("build")
def build_command(
    recipes: Annotated[
        list[str],
        typer.Argument(help="Recipes: .toml files, names of the catalogue, or FMUs of this tool to be built again."),
    ],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Folder for the FMUs.")] = None,
    platform: Annotated[
        list[str] | None,
        typer.Option(help="linux64, win64, darwin64, aarch64-linux, aarch64-darwin, host or all; may be repeated."),
    ] = None,
    source_only: Annotated[bool, typer.Option("--source-only", help="Sources without binaries.")] = False,
    assembly: Annotated[
        bool,
        typer.Option(
            "--assembly",
            help="Make one FMU of a scenario (a file, or the name of a case): its slaves under one solver.",
        ),
    ] = False,
    as_json: _Json = False,
) -> None:
    """Build FMUs from recipes, by default for all platforms.

    Example: fmu-builder build PointSurface -o . --platform linux64

    An FMU of this tool holds the files it was built from: `fmu-builder build Old.fmu -o new` builds it again, for the
    platforms that it has.  That compiles and runs what these files hold, so give only FMUs that you trust.
    """
    if source_only and platform:
        raise InputError(Problem("--source-only", "excludes --platform: sources have none"))
    platforms = () if source_only else platform or ("all",)
    built: list[Built] = []
    problems: list[Problem] = []
    for name in recipes:
        try:
            if Path(name).suffix == ".fmu" and not assembly:
                built.append(_build_again(Path(name), output, platform or ()))
                continue
            path = _find_scenario(name) if assembly else _find(name, "a recipe")
            built.append(_build(path, output, platforms, assembly))
        except InputError as error:
            problems += error.problems
    for fmu in built:
        if not as_json:
            _line(f"{fmu.path}  ({', '.join(fmu.platforms) or 'sources only'})")
        _say_notes(f"{fmu.model.name}: {note}" for note in fmu.notes)
        _say_notes((f"{fmu.model.name}: {warning}" for warning in fmu.warnings), "warning")
    if as_json:
        keys = ("path", "guid", "platforms", "notes", "warnings")
        print(json.dumps([{key: getattr(fmu, key) for key in keys} for fmu in built], indent=2, default=str))
    if problems:
        raise InputError(problems)


def _build(path: Path, output: Path | None, platforms: Sequence[str], assembly: bool) -> Built:
    def build() -> Built:
        if not assembly:
            return build_fmu(path, output, platforms)
        return build_model_fmu(assembly_of_scenario(_scenario(path)), output, platforms)

    if not _err.is_terminal:
        _say(f"building {path.stem}")
        return build()
    with _err.status(f"building {path.stem}"):
        return build()


def _build_again(fmu: Path, output: Path | None, platforms: Sequence[str]) -> Built:
    """Build an FMU from the files it holds, beside no other: a user's own files are not looked for."""
    check_archive(fmu)
    origin = read_origin(fmu)
    if origin is None:
        what = f"was not built by fmu-builder, or by an early one: it holds no {FOLDER}; build it from its recipe"
        raise InputError(Problem(str(fmu), what))
    folder = output if output is not None else Path.cwd()
    if (folder / fmu.name).resolve() == fmu.resolve():
        raise InputError(
            Problem(str(fmu), "would be replaced by the FMU that is built from it; name another folder by -o")
        )
    with tempfile.TemporaryDirectory(prefix="fmu-builder-") as place:
        recipe = unpack_origin(origin, Path(place))
        built = _build(recipe, folder, platforms or read_slave(fmu).platforms, "slaves" in read_toml(recipe))
        changed = changes_since(origin, built.model)
    notes = (f"other bytes than {fmu}: {', '.join(changed)}",) if changed else ()
    return replace(built, notes=(*built.notes, *notes))


def _scenario(path: Path) -> Scenario:
    """A scenario, and nothing else that can be run."""
    recipe = path if path.suffix == ".fmu" else find_recipe(str(path))
    if recipe.suffix == ".fmu" or is_recipe(read_toml(recipe)):
        what = "is built already" if recipe.suffix == ".fmu" else "is a recipe: build it without --assembly"
        raise InputError(Problem(f"{path}", f"--assembly takes a scenario, and this {what}"))
    return read_scenario(recipe)


@app.command("run")
def run_command(
    scenario: Annotated[str, typer.Argument(help="A scenario (.toml), an .fmu, or the name of a recipe or case.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Trace to write.")] = Path("trace.csv"),
    step: Annotated[str | None, typer.Option(help="Communication step, e.g. '0.1 ms'.")] = None,
    stop: Annotated[str | None, typer.Option(help="Stop time, e.g. '2 s'.")] = None,
    algorithm: Annotated[str | None, typer.Option(help="jacobi or gauss_seidel.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a plot (HTML) of what is recorded.")] = None,
    record: Annotated[
        list[str] | None,
        typer.Option(help="Signals to record and plot, such as 'body.p.*', by default all; may be repeated."),
    ] = None,
    as_json: _Json = False,
) -> None:
    """Run a system of FMUs, or one alone, and write its trace.

    Example: fmu-builder run drop_elastic --plot drop.html --record 'body.p.*' --record 'floor.*_force'
    """
    path = _find_scenario(scenario)
    beside = None if is_stream(output) else Path(f"{output}.json")
    _check_outputs(("-o", output), ("", beside), ("--plot", plot), ("", path))
    given = [key for key, text in (("step", step), ("stop", stop)) if text is not None]
    chosen = _override(load_scenario(path, given), step=step, stop=stop, algorithm=algorithm, record=record)
    done = _run_with_progress(chosen)
    _make_folder_of(output)
    write_trace(done.trace, output)
    if plot:
        _make_folder_of(plot)
        write_trace_plot(done.trace, plot)
    _say_notes(done.notes)
    warnings = [entry for entry in done.log if entry.status >= WARNING]
    for entry in warnings[:_SHOWN]:
        _err.print(f"{entry.category}: {entry}", style="yellow", markup=False, highlight=False)
    if len(warnings) > _SHOWN:
        _say_notes([f"{len(warnings) - _SHOWN} further messages of the slaves; --json prints them all"])
    if as_json:
        print(json.dumps(_run_json(done, output, plot, warnings), indent=2))
        return
    _line(f"{output}  ({len(done.trace.time)} rows, {len(done.trace.names)} signals)")
    if plot:
        _line(f"{plot}")
    _print_events(done, output)


def _run_json(done: Run, output: Path, plot: Path | None, warnings: Sequence[LogEntry]) -> dict[str, Any]:
    return {
        "trace": str(output),
        "plot": str(plot) if plot else None,
        "rows": len(done.trace.time),
        "start": float(done.trace.time[0]),
        "stop": float(done.trace.time[-1]),
        "units": dict(done.trace.units),
        "events": dict(done.trace.events),
        "contacts": [asdict(contact) for contact in done.contacts],
        "provenance": dict(done.trace.provenance),
        "notes": list(done.notes),
        "warnings": [asdict(entry) for entry in warnings],
    }


def _find(name: str, what: str) -> Path:
    """A recipe or scenario by file or name; `what` says which in the error."""
    if not name or Path(name).is_dir():
        raise InputError(Problem(name or "''", f"is {'a folder' if name else 'no name'}; give {what}"))
    return find_recipe(name)


def _find_scenario(name: str) -> Path:
    """An .fmu, a scenario, a recipe, or a case of this name."""
    if Path(name).suffix in (".fmu", ".toml"):
        return Path(name)
    cases = [path for case, path in (all_cases() | own_cases()).items() if name in (case, case.partition("/")[2])]
    if len(cases) == 1 and not any(Path(folder, f"{name}.toml").is_file() for folder in (".", "fmus")):
        return cases[0]
    return _find(name, "a scenario (.toml), an .fmu, or the name of a recipe or case")


def _print_events(done: Run, trace: Path) -> None:
    """One row for each contact, and how many there are at each place below."""
    known = {quantity for contact in done.contacts for quantity in contact.values()}
    quantities = [quantity for quantity in EVENT_UNITS if quantity in known and quantity != "duration"]
    if quantities:
        table = Table(box=None, pad_edge=False)
        table.add_column("contact", no_wrap=True)
        for quantity in quantities:
            name, unit = quantity.removesuffix("_speed"), EVENT_UNITS[quantity]
            table.add_column(f"{name}\n{unit if unit != '1' else ''}", justify="right", no_wrap=True)
        for contact in done.contacts[:_SHOWN]:
            values = {q: f"{value:.6g}" for q, value in contact.values().items()}
            if contact.closed_at_start:
                values["touch"] = "before"
            if contact.closed_at_end:
                values["release"] = "open"
            table.add_row(Text(f"{contact.place} {contact.number}"), *(values.get(q, "") for q in quantities))
        _line()
        _out.print(table, width=max(_out.width, _TABLE_WIDTH))
        if len(done.contacts) > _SHOWN:
            _line(f"and {len(done.contacts) - _SHOWN} further contacts in {trace}.json")
    for sampled in dict.fromkeys((c.place, c.sampled) for c in done.contacts if c.sampled is not None):
        _line(f"{sampled[0]}: sampled at communication points, {sampled[1]:g} s apart")
    for name, value in done.trace.events.items():
        if name.endswith(".contact_count"):
            _line(f"{name} = {value:.6g}")


def _run_with_progress(scenario: Scenario) -> Run:
    if not _err.is_terminal:
        return run_scenario(scenario, _progress_lines())
    with Progress(TextColumn("running"), BarColumn(), TimeElapsedColumn(), console=_err, transient=True) as progress:
        task = progress.add_task("running", total=1.0)
        return run_scenario(scenario, lambda share: progress.update(task, completed=share))


def _progress_lines(seconds: float = 5.0) -> Callable[[float], None]:
    """A line every few seconds, none for a short run."""
    last: float | None = None

    def tell(share: float) -> None:
        nonlocal last
        if last is None:
            last = time.monotonic()
        elif time.monotonic() - last >= seconds:
            last = time.monotonic()
            _say(f"running, {share:.0%} done")

    return tell


def _override(
    scenario: Scenario, step: str | None, stop: str | None, algorithm: str | None, record: list[str] | None = None
) -> Scenario:
    """The scenario with other times, another algorithm or other signals to record, checked like one from a file.

    Raises InputError with all problems."""
    changes: dict[str, object] = {}
    problems: list[Problem] = []
    for key, text in (("step", step), ("stop", stop)):
        if text is not None:
            try:
                changes[key] = parse_quantity(text, parse_unit("s"), f"--{key}")
            except InputError as error:
                problems += error.problems
    given = list(changes) if not problems else []
    if algorithm is not None and algorithm not in ALGORITHMS:
        problems.append(Problem("--algorithm", f"'{algorithm}' is unknown" + did_you_mean(algorithm, ALGORITHMS)))
    if step is not None:
        changes["output_step"] = None
    if algorithm is not None:
        changes["algorithm"] = algorithm
    if record:
        changes["record"] = record
    changed = scenario.model_copy(update={"experiment": scenario.experiment.model_copy(update=changes)})
    times = (changed.seconds(key) for key in ("start", "stop", "step", "output_step"))
    for problem in check_times("", *times) if given else ():
        key = problem.where.strip()
        if key in given:
            problems.append(Problem(f"--{key}", problem.what))
        else:
            problems.append(Problem(", ".join(f"--{name}" for name in given), f"{key} = {problem.what}"))
    if problems:
        raise InputError(problems)
    return changed


@app.command("compare")
def compare_command(
    trace: Annotated[Path, typer.Argument(help="Trace: a CSV file whose first column is time in s.")],
    reference: Annotated[Path, typer.Argument(help="Reference: a CSV file as well; all its signals are compared.")],
    absolute: Annotated[float, typer.Option(help="Allowed error in the unit of each signal.")] = 0.0,
    relative: Annotated[float, typer.Option(help="Allowed error as a share of the reference's largest value.")] = 1e-3,
    time_tolerance: Annotated[float, typer.Option("--time", help="Allowed shift in time, s.")] = 0.0,
    overlap: Annotated[
        bool, typer.Option("--overlap", help="Compare the times that both have, if one begins later or ends earlier.")
    ] = False,
    as_json: _Json = False,
) -> None:
    """Compare two traces.  Exit code 1 if a signal leaves the tube around its reference, or one of them ends early.

    What is allowed is absolute + relative * largest value, wherever the reference is within the shift in time.

    Example: fmu-builder compare trace.csv reference.csv --relative 1e-4
    """
    wrong = [
        Problem(option, f"{value} must be finite and not negative")
        for option, value in (("--absolute", absolute), ("--relative", relative), ("--time", time_tolerance))
        if not 0.0 <= value < math.inf
    ]
    if wrong:
        raise InputError(wrong)
    result = compare_files(trace, reference, None, Tolerance(absolute, relative, time_tolerance), overlap=overlap)
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
    _out.print(table)
    good = sum(s.passed for s in result.signals)
    _line(f"\n{good} of {len(result.signals)} signals passed")
    if result.span.note and not result.overlap:
        _err.print(f"FAILED: {result.span.note}; --overlap allows that", style="red", markup=False, highlight=False)
    else:
        _say_notes([result.span.note] if result.span.note else [])


# ---- list, info, new, doctor -------------------------------------------------------------------------------------


@app.command("list")
def list_command(as_json: _Json = False) -> None:
    """List elements, catalogue FMUs and cases, one line each; your own ones in ./elements and ./fmus as well.

    Example: fmu-builder list
    """
    elements = {folder.name: _of_element(folder) for folder in shipped_elements()}
    elements |= {folder.name: _or_fault(_of_element, folder) for folder in own_elements()}
    recipes = {path.stem: _of_recipe(path) for path in catalogue()}
    own = sorted(Path("fmus").glob("*.toml")) if Path("fmus").resolve() != shipped("fmus").resolve() else []
    recipes |= {path.stem: _or_fault(_of_recipe, path) for path in own}
    cases = {name: _of_case(path) for name, path in all_cases().items()}
    cases |= {name: _or_fault(_of_case, path) for name, path in own_cases().items()}
    if as_json:
        print(json.dumps({"elements": elements, "fmus": recipes, "cases": cases}, indent=2))
        return
    width = max(map(len, (*elements, *recipes, *cases)))
    for title, items in (("elements", elements), ("FMUs", recipes), ("cases", cases)):
        _out.print(title, style="bold")
        for name, text in items.items():
            _line(f"  {name:{width}}  {text}")


def _of_element(folder: Path) -> str:
    return read_declaration(folder).description


def _of_recipe(path: Path) -> str:
    return load_model(path).description


def _of_case(path: Path) -> str:
    return str(read_toml(path).get("description", ""))


def _or_fault(read: Callable[[Path], str], path: Path) -> str:
    """What is read, or why it cannot be: one faulty file of a user must not hide all others."""
    try:
        return read(path)
    except InputError as error:
        return f"faulty: {error.problems[0]}"


@app.command("info")
def info_command(
    fmu: Annotated[str, typer.Argument(help="An .fmu file, or the name or file of a recipe.")], as_json: _Json = False
) -> None:
    """Show ports, parameters, recommended step, and how to wire an FMU in a simulator.

    Example: fmu-builder info PointSurface
    """
    description, origin = _about(Path(fmu)) if fmu.endswith(".fmu") else _describe(_find(fmu, "an .fmu or a recipe"))
    if as_json:
        print(json.dumps(_info_json(description, origin), indent=2))
    else:
        _print_info(description, origin)


def _about(fmu: Path) -> tuple[SlaveDescription, Origin | None]:
    return read_slave(fmu), read_origin(fmu)


def _describe(recipe: Path) -> tuple[SlaveDescription, Origin | None]:
    """What the FMU of a recipe shows, without compiling it; of elements that are not ours also what they declare for
    nothing."""
    model = load_model(recipe)
    _say_notes((f"{model.name}: {warning}" for warning in model.warnings()), "warning")
    compiler = find_compiler()
    if compiler is not None:
        _say_notes(unshown_dependencies(model, compiler))
    with tempfile.TemporaryDirectory(prefix="fmu-builder-") as folder:
        path = Path(folder) / f"{model.name}.fmu"
        path.write_bytes(pack(fmu_contents(model)[1]))
        return _about(path)


def _info_json(description: SlaveDescription, origin: Origin | None) -> dict[str, Any]:
    return {
        "built_by": f"fmu-builder {origin.version}" if origin else None,
        "recipe": origin.text if origin else None,
        "structure": origin.structure if origin else None,
        "model": description.model_name,
        "guid": description.guid,
        "platforms": list(description.platforms),
        "interfaces": list(description.interfaces),
        "start": description.start,
        "stop": description.stop,
        "step": description.step,
        "ports": [asdict(p) for p in description.ports.values()],
        "variables": [
            {
                "name": v.name,
                "type": v.type,
                "reference": v.reference,
                "causality": v.causality,
                "variability": v.variability,
                "unit": v.unit,
                "start": v.start,
                "description": v.description,
            }
            for v in description.variables.values()
        ],
    }


def _print_info(description: SlaveDescription, origin: Origin | None) -> None:
    _line(f"{description.model_name}  {description.guid}")
    if origin:
        _line(f"built by fmu-builder {origin.version} from {origin.recipe.name}, see the end")
    _line(f"interfaces: {', '.join(description.interfaces)}")
    if description.platforms:
        _line(f"binaries: {', '.join(description.platforms)}")
    _say_notes((f"DefaultExperiment {key}: {what}" for key, what in description.faults.items()), "warning")
    if description.step:
        _line(f"recommended communication step: {quantity(description.step)} s")
    if advice := step_advice(description.variables.values()):
        by = f" by {MODE}" if advice.mass_name else ""
        _line(f"communication step{by}, {advice.sentence(quantity)}:")
        for mode, step in advice.steps.items():
            _line(f"  {mode:32} {quantity(float(f'{step:.2g}'))} s")
        if advice.mass_name and MODE not in description.variables:
            _line("  this FMU does as hold; a recipe with [structure] coupling = true has the choice")
    in_ports = set()
    for port in description.ports.values():
        in_ports |= {n for group in (*port.motion.values(), *port.force.values()) for n in group}
        motion, force = (", ".join(map(_vector, roles.values())) for roles in (port.motion, port.force))
        if port.side == "body":
            partner, inputs, outputs = f"a {port.kind} port of a force element", force, motion
        else:
            acts = _ACTS.get(port.kind, "force")
            partner, inputs, outputs = f"a {port.kind} port of a body: motion in, {acts} on the body out", motion, force
        _line(f"\nport {port.name} ({port.kind}), connect it to {partner}")
        _line(f"  in   {inputs}")
        _line(f"  out  {outputs}")
    for title, causality in (("inputs", "input"), ("outputs", "output"), ("parameters", "parameter")):
        chosen = [v for v in description.variables.values() if v.causality == causality and v.name not in in_ports]
        if chosen:
            _line(f"\n{title}")
        for names, start, unit, text in _rows(chosen):
            _line(f"  {names:24} {f'= {start} {unit}'.rstrip() if start else unit:20} {text}".rstrip())
    if origin:
        _line(f"\n{origin.recipe.name}")
        for text in origin.text.rstrip().splitlines():
            _line(f"  {text}".rstrip())
        for name, table in origin.structure.items():
            _line(f"\ncompiled in{f', {name}' if len(origin.structure) > 1 else ''}")
            for key, value in table.items():
                _line(f"  {key:24} {value}")


def _vector(names: Sequence[str]) -> str:
    """`p.r[1..3]` for p.r[1], p.r[2], p.r[3]."""
    return names[0] if len(names) == 1 else f"{names[0].removesuffix('[1]')}[1..{len(names)}]"


def _rows(variables: Sequence[SlaveVariable]) -> Iterator[tuple[str, str, str, str]]:
    """Name, start, unit and description, with the elements of a vector in one row."""
    vectors: dict[str, list[SlaveVariable]] = {}
    for v in variables:
        vectors.setdefault(re.sub(r"\[\d+\]$", "", v.name), []).append(v)
    for base, group in vectors.items():
        whole = [v.name for v in group] == [f"{base}[{k}]" for k in range(1, len(group) + 1)]
        for part in [group] if whole else [[v] for v in group]:
            unit = units_text([v.unit for v in part])
            starts = [_start_text(v) for v in part if v.start]
            start = f"({', '.join(starts)})" if len(starts) > 1 else "".join(starts)
            yield _vector([v.name for v in part]), start, unit, part[0].description


def _start_text(variable: SlaveVariable) -> str:
    literal = next((text for text, number in variable.literals.items() if str(number) == variable.start), None)
    if literal is not None:
        return literal
    try:
        return quantity(float(variable.start or "")) if variable.type == "Real" else str(variable.start)
    except ValueError:  # an FMU that is not ours
        return str(variable.start)


@app.command()
def schema(
    element: Annotated[str, typer.Argument(help="Name or folder of an element; `element`: of element.toml itself.")],
) -> None:
    """Print the JSON schema of an element's recipes, or of element.toml, for editors that complete and check TOML.

    Example: fmu-builder schema point_surface > point_surface.json

    In the first line of a recipe `#:schema point_surface.json` names it to editors with Taplo.  `schema element` prints
    the schema of element.toml, for an element of your own.
    """
    found = element_schema() if element == "element" else recipe_schema(element, Path.cwd())
    print(json.dumps(found, indent=2, ensure_ascii=False))


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Name of the element, such as demo_spring.")],
    port: Annotated[str, typer.Option(help=f"Kind of its port: {', '.join(PORT_KINDS)}.")] = "point",
    side: Annotated[str, typer.Option(help=f"What it is at that port: {' or '.join(SIDES)}.")] = "force",
    python: Annotated[bool, typer.Option("--python", help="A prototype: the physics is in Python.")] = False,
) -> None:
    """Make an element of your own, ready to build, in ./elements and ./fmus: a spring with damper, or a body.

    Example: fmu-builder new demo_spring

    --port rotational --side body makes an inertia that turns.  Of an element that is there in C as this command wrote
    it, --python adds element.py and a second recipe.

    A prototype in Python is quick to change and slow to run.  Its FMU needs Python 3.11 or newer with numpy on its
    target and runs on linux64 and win64, for co-simulation only.
    """
    written = new_element(name, Path(), python, port, side)
    for path in written:
        _line(f"{path}")
    recipe = next(path for path in written if path.parent.name == "fmus")
    _line(f"\nfmu-builder build {recipe.as_posix()}")
    _line(f"fmu-builder validate elements/{name}/cases/{case_of(side)}.toml")


@app.command()
def doctor(as_json: _Json = False) -> None:
    """Show compiler, caches, platforms and versions: one paste for a bug report.  Exit code 3 if something is broken.

    Example: fmu-builder doctor
    """
    findings = examine()
    if as_json:
        print(json.dumps(findings, indent=2))
    else:
        width = max(map(len, findings))
        for name, value in findings.items():
            _line(f"{name:{width}}  {value}")
    if any(value.startswith(FAULT) for value in findings.values()):
        raise typer.Exit(3)


if __name__ == "__main__":
    main()
