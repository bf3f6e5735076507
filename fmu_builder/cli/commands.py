"""The commands: their options and help texts.  One family of functions, which Typer reads.

Each imports what it needs when it runs, so that --help imports Typer alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fmu_builder.cli.fmu_commands import calls_command, check_command, record_command
from fmu_builder.cli.options import Json, Step, Stop, System
from fmu_builder.cli.tool_commands import cross_check_command, schema_command, ssp_command
from fmu_builder.errors import InputError, Problem
from fmu_builder.model.ports import PORT_KINDS, SIDES
from fmu_builder.paths import own_version

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Mechanical force elements and constrained mechanisms as self-contained FMI 2.0 and 3.0 FMUs.",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"fmu-builder {own_version()}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    pass


@app.command("demo")
def demo_command(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for FMUs and report.")] = Path(
        "fmu-builder-demo"
    ),
    everything: Annotated[bool, typer.Option("--all", help="The whole catalogue and all cases.")] = False,
    live: Annotated[
        bool | None,
        typer.Option(help="Whether cases run in the report as well; by default without --all."),
    ] = None,
) -> None:
    """Build FMUs for this machine, run cases of them against their references, and show a report.

    Example: fmu-builder demo
    """
    from fmu_builder.cli.cases import demo

    demo(output, everything, not everything if live is None else live)


@app.command("validate")
def validate_command(
    cases: Annotated[
        list[str] | None, typer.Argument(help="Cases: element/case, element, case, or a .toml file.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    live: Annotated[bool, typer.Option("--live", help="Cases run in the report as well; with --report.")] = False,
    as_json: Json = False,
) -> None:
    """Run cases, by default all that are shipped, against their references.  Exit code 1 if one fails.

    Example: fmu-builder validate sliding_block
    """
    from fmu_builder.cli.cases import validate_cases

    validate_cases(cases or (), report, as_json, live)


@app.command("build")
def build_command(
    recipes: Annotated[
        list[str] | None,
        typer.Argument(
            help="Recipes: .toml files, names of the catalogue, FMUs of this tool to be built again, mesh files."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for the FMUs; by default the recipe's, for the catalogue this."),
    ] = None,
    platform: Annotated[
        list[str] | None,
        typer.Option(
            help="Build for linux64, win64, darwin64, aarch64-linux, aarch64-darwin, host or all; may be repeated."
        ),
    ] = None,
    fmi: Annotated[
        str | None, typer.Option(help="2 for FMI 2.0, 3 for FMI 3.0 (<Name>_fmi3.fmu), 2,3 for both.")
    ] = None,
    source_only: Annotated[bool, typer.Option("--source-only", help="Sources without binaries.")] = False,
    assembly: Annotated[
        bool,
        typer.Option(
            "--assembly",
            help="Make one FMU of a scenario (a file, or the name of a case): its slaves under one solver.",
        ),
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="All recipes of the catalogue; needs -o.")] = False,
    references: Annotated[
        list[str] | None,
        typer.Option(help="A case of the FMU alone whose reference it shall hold (FMI-LS-REF); may be repeated."),
    ] = None,
    modelica: Annotated[
        Path | None,
        typer.Option(help="Folder of a Modelica package with classes of the same recipes, their laws included."),
    ] = None,
    unit: Annotated[
        str | None, typer.Option(help="Unit of the numbers in an STL, OBJ or PLY file; without it mm.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Build FMUs from recipes, by default for all platforms.

    Example: fmu-builder build PointSurface -o . --platform linux64

    An FMU of this tool holds the files it was built from: `fmu-builder build Old.fmu -o new` builds it again, for the
    platforms that it has.  That compiles and runs what these files hold, so give only FMUs that you trust.

    `fmu-builder build part.stl` writes part.toml beside it, the recipe of a point in contact with the part, and
    builds it.
    """
    from fmu_builder.cli.building import build_catalogue, build_named, versions

    if not everything and not recipes:
        raise InputError(Problem("RECIPES", "none is given; name recipes, or all of the catalogue by --all"))
    if not everything:
        names, wanted = references or (), versions(fmi)
        if modelica is not None:
            from fmu_builder.cli.modelica import write_modelica

            write_modelica(recipes or (), modelica, None if as_json else False)
        build_named(recipes or (), output, platform or (), source_only, assembly, as_json, names, wanted, unit)
    elif recipes or assembly or references or modelica or unit:
        what = "is the whole catalogue: it takes neither recipes nor --assembly, --references, --modelica and --unit"
        raise InputError(Problem("--all", what))
    else:
        build_catalogue(output, platform or (), source_only, as_json, versions(fmi))


@app.command("run")
def run_command(
    scenario: System,
    output: Annotated[Path, typer.Option("-o", "--output", help="Trace to write, CSV.")] = Path("trace.csv"),
    step: Step = None,
    stop: Stop = None,
    algorithm: Annotated[str | None, typer.Option(help="jacobi, gauss_seidel, implicit or adaptive.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a plot (HTML) of what is recorded.")] = None,
    record: Annotated[
        list[str] | None,
        typer.Option(help="Signals to record and plot, such as 'body.p.*', by default all; may be repeated."),
    ] = None,
    power: Annotated[
        bool | None,
        typer.Option("--power", help="Record the power of connections and the energy that the coupling makes there."),
    ] = None,
    isolated: Annotated[
        bool | None,
        typer.Option("--isolated", help="Each FMU in a process of its own, so that a crash or a hang is a message."),
    ] = None,
    cross_check: Annotated[
        Path | None, typer.Option("--cross-check", help="Folder for the traces of each FMU as FMI cross-check triples.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a system of FMUs, or one alone, and write its trace.

    Example: fmu-builder run drop_elastic --plot drop.html --record 'body.p.*' --record 'floor.*_force'
    """
    from fmu_builder.cli.running import run_system

    run_system(
        scenario,
        output,
        plot,
        as_json,
        step=step,
        stop=stop,
        algorithm=algorithm,
        record=record,
        power=power,
        isolated=isolated,
        cross_check=cross_check,
    )


@app.command("live")
def live_command(
    scenario: Annotated[str, typer.Argument(help="A recipe, scenario, case, .fmu or .ssp.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The page; by default NAME_live.html.")] = None,
    as_json: Json = False,
) -> None:
    """Write a page on which a system runs in the browser, with sliders for its parameters, and open it.

    Its FMUs are in it as WebAssembly, so it needs neither a network nor fmu-builder.

    Example: fmu-builder live BouncingBall
    """
    from fmu_builder.cli.showing import show_live

    show_live(scenario, output, as_json)


@app.command("show")
def show_command(
    scenario: System,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="An .svg or .html file; by default NAME.html.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw a system: slaves, ports, connections with their units, rates, algebraic loops; and open the page.

    Example: fmu-builder show drop_elastic -o drop.svg
    """
    from fmu_builder.cli.showing import show_system

    show_system(scenario, output, as_json)


app.command("ssp")(ssp_command)
app.command("cross-check")(cross_check_command)


@app.command("modelica")
def modelica_command(
    recipes: Annotated[
        list[str] | None,
        typer.Argument(help="Recipes and scenarios: .toml files, or names; by default all of the catalogue."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder of the package, which names it; of the catalogue FmuBuilder."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write elements and systems as Modelica classes, on connectors of the Modelica Standard Library 4.

    Example: fmu-builder modelica TorsionPendulum -o Pendulums
    """
    from fmu_builder.cli.modelica import write_modelica

    write_modelica(recipes or (), output, as_json)


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
    table: Annotated[
        Path | None,
        typer.Option("--map", help="TOML: which columns of the reference, a measured CSV file, are which signals."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare two traces.  Exit code 1 if a signal leaves the tube around its reference, or one of them ends early.

    What is allowed is absolute + relative * largest value, wherever the reference is within the shift in time.

    Example: fmu-builder compare trace.csv reference.csv --relative 1e-4

    With --map the reference is a measured file with names, units and times of its own; RMS and largest error of each
    column are printed.
    """
    from fmu_builder.cli.comparing import compare_traces

    compare_traces(trace, reference, absolute, relative, time_tolerance, overlap, as_json, table)


app.command("check")(check_command)
app.command("record")(record_command)
app.command("calls")(calls_command)


class _StudyGroup(TyperGroup):
    """`study FILE` is `study run FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args != ["--help"] and args[0] not in self.commands:
            args = ["run", *args]
        return super().parse_args(ctx, args)


studies = typer.Typer(
    no_args_is_help=True,
    cls=_StudyGroup,
    help="Run a system over its factors: `study STUDY.toml` is `study run STUDY.toml`.\n\n"
    "Example: fmu-builder study bounce.toml",
)
app.add_typer(studies, name="study")


@studies.command("run")
def study_command(
    study: Annotated[Path, typer.Argument(help="A study (.toml).")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Table to write; by default NAME.parquet.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; by default one for each core.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a scheduler of dask.distributed, whose workers do the runs.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Replace the table; without it a study goes on.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Allow a plan of more than 10^9 runs.")] = False,
    as_json: Json = False,
) -> None:
    """Run a study, or what is left of it, and write its table (Parquet).

    Example: fmu-builder study run bounce.toml
    """
    from fmu_builder.cli.studying import run_study

    run_study(study, output, workers, scheduler, again, yes, as_json)


@studies.command("show")
def study_show_command(
    table: Annotated[Path, typer.Argument(help="The table of a study (.parquet).")],
    plot: Annotated[Path | None, typer.Option(help="Write a page (HTML) of its plots and Sobol indices.")] = None,
    as_json: Json = False,
) -> None:
    """Print the responses of a study.

    Example: fmu-builder study show bounce.parquet --plot bounce.html
    """
    from fmu_builder.cli.studying import show_study

    show_study(table, plot, as_json)


@studies.command("step")
def study_step_command(
    scenario: System,
    quantity: Annotated[
        str | None, typer.Option(help="A signal at the end, or an event; without it all outputs that are Reals.")
    ] = None,
    tolerance: Annotated[float, typer.Option(help="Change of the answer, relative to its range.")] = 1e-3,
    halvings: Annotated[int, typer.Option(help="Of the step, at most.")] = 12,
    as_json: Json = False,
) -> None:
    """Halve the communication step until the answer has settled: order, error, cost of each master and coupling mode.

    Example: fmu-builder study step drop_elastic --quantity 'floor.rebound_speed[1]'
    """
    from fmu_builder.cli.studying import show_steps

    show_steps(scenario, quantity, tolerance, halvings, as_json)


@app.command("fit")
def fit_command(
    fit: Annotated[
        str, typer.Argument(help="A fit (.toml): system, parameters and measured files; or the name of a shipped one.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The system with the fitted values; by default NAME_fitted.toml."),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page (HTML) of fit and residuals to this file.")] = None,
    as_json: Json = False,
) -> None:
    """Fit start values of a system to measured files: values with confidence intervals, correlations, residuals.

    Example: fmu-builder fit bounces.toml --report bounces.html

    A warning names what the measurements do not determine, and residuals that are not noise.
    """
    from fmu_builder.cli.fitting import run_fit

    run_fit(fit, output, report, as_json)


@app.command("list")
def list_command(as_json: Json = False) -> None:
    """List elements, catalogue FMUs and cases, one line each, with those in ./elements and ./fmus.

    Example: fmu-builder list
    """
    from fmu_builder.cli.listing import list_all

    list_all(as_json)


@app.command("info")
def info_command(
    fmu: Annotated[str, typer.Argument(help="An .fmu file, the name or file of a recipe, or an STL, OBJ or PLY file.")],
    unit: Annotated[str, typer.Option(help="Unit of the numbers in an STL, OBJ or PLY file.")] = "mm",
    as_json: Json = False,
) -> None:
    """Show ports, parameters, recommended step, and how to wire an FMU in a simulator.

    Of a part in an STL, OBJ or PLY file: size, volume, area, faults, thinnest wall and advised D_max.

    Example: fmu-builder info PointSurface
    """
    from fmu_builder.cli.mesh_info import is_mesh, show_mesh

    if is_mesh(fmu):
        show_mesh(Path(fmu), unit, as_json)
        return
    from fmu_builder.cli.info import show_info

    show_info(fmu, as_json)


app.command("schema")(schema_command)


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Name of the element, such as demo_spring.")],
    port: Annotated[str, typer.Option(help=f"Kind of its port: {', '.join(PORT_KINDS)}.")] = "point",
    side: Annotated[str, typer.Option(help=f"What it is at that port: {' or '.join(SIDES)}.")] = "force",
    python: Annotated[bool, typer.Option("--python", help="A prototype: the physics is in Python.")] = False,
) -> None:
    """Create an element, ready to build, in ./elements and ./fmus: a spring with damper, or a body.

    Example: fmu-builder new demo_spring

    --port rotational --side body makes a rotating inertia.  To an element in C that this command wrote, --python adds
    element.py and a second recipe.

    A prototype in Python is quick to change and slow to run.  Its FMU needs Python 3.11 or newer with numpy on its
    target and runs on linux64 and win64.
    """
    from fmu_builder.cli.printing import line
    from fmu_builder.new import case_of, new_element

    written = new_element(name, Path(), python, port, side)
    for path in written:
        line(f"{path}")
    recipe = next(path for path in written if path.parent.name == "fmus")
    line(f"\nfmu-builder build {recipe.as_posix()}")
    line(f"fmu-builder validate elements/{name}/cases/{case_of(side)}.toml")


@app.command()
def guide(
    path: Annotated[bool, typer.Option("--path", help="Print the folder of its pages, which are Markdown.")] = False,
) -> None:
    """Open the guide in the browser, or print where its page is.

    Example: fmu-builder guide
    """
    from fmu_builder.cli.guide import open_guide

    open_guide(path)


@app.command()
def doctor(
    clean: Annotated[bool, typer.Option("--clean", help="Empty the cache instead.")] = False, as_json: Json = False
) -> None:
    """Show compiler, cache, platforms and versions: one paste for a bug report.  Exit code 3 if something is broken.

    Example: fmu-builder doctor

    The cache keeps what was used last, up to FMU_BUILDER_CACHE_MB, by default 500.  Files used by running processes
    stay, with --clean too.
    """
    from fmu_builder.cli.printing import line
    from fmu_builder.doctor import FAULT, clean_cache, examine

    if clean:
        removed, left = clean_cache()
        if as_json:
            print(json.dumps({"removed": removed, "left": left}, indent=2))
        else:
            rest = f"; {left / 1e6:.0f} MB stay, which other processes use" if left else ""
            line(f"{removed / 1e6:.0f} MB were removed{rest}")
        return
    findings = examine()
    if as_json:
        print(json.dumps(findings, indent=2))
    else:
        width = max(map(len, findings))
        for name, value in findings.items():
            line(f"{name:{width}}  {value}")
    if any(value.startswith(FAULT) for value in findings.values()):
        raise typer.Exit(3)
