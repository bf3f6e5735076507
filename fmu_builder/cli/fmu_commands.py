"""The commands on FMUs of any tool: their options and help texts, as in commands.py."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fmu_builder.cli.options import Json
from fmu_builder.errors import InputError, Problem


def check_command(
    fmu: Annotated[Path | None, typer.Argument(help="An FMI 2.0 FMU of any tool.")] = None,
    sarif: Annotated[bool, typer.Option("--sarif", help="Print SARIF 2.1.0 instead of text.")] = False,
    rules: Annotated[bool, typer.Option("--rules", help="Print the rules.")] = False,
    static: Annotated[bool, typer.Option("--static", help="Read the FMU only; do not call it.")] = False,
    timeout: Annotated[float, typer.Option(help="Time for its calls, s, after which one is said to hang.")] = 60.0,
    as_json: Json = False,
) -> None:
    """Check an FMU of any tool against the rules of FMI 2.0, each with its place in the standard and a repair.

    Exit code 1 if one is broken; warnings alone are good.  The FMU is called in a process of its own: give only FMUs
    that you trust, or --static.

    Example: fmu-builder check Floor.fmu
    """
    from fmu_builder.cli.checking import check, print_rules

    if not timeout > 0.0:
        raise InputError(Problem("--timeout", f"{timeout:g} s must be greater than 0"))
    if sarif and as_json:
        raise InputError(Problem("--sarif", "is another format than --json: give one of them"))
    if rules:
        print_rules(as_json)
    elif fmu is None:
        raise InputError(Problem("FMU", "none is given; name an .fmu, or list the rules by --rules"))
    else:
        check(fmu, "sarif" if sarif else "json" if as_json else "text", None if static else timeout)


def record_command(
    fmu: Annotated[Path, typer.Argument(help="An FMI 2.0 FMU of any tool, with binaries.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="FMU to write; by default NAME-recorder.fmu.")
    ] = None,
    into: Annotated[
        Path | None, typer.Option("--into", help="Folder for the recordings, by default the current one.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make an FMU record each call: arguments, answer, time.  It is else the same FMU, for any importer.

    Each process writes a file NAME.calls, NAME-2.calls ... which `fmu-builder calls` reads.  The variable
    FMU_BUILDER_CALLS names another folder when the FMU runs, or none.

    Example: fmu-builder record Floor.fmu -o recorder/Floor.fmu --into calls
    """
    from fmu_builder.cli.recording import record

    record(fmu, output, into, as_json)


def calls_command(
    file: Annotated[Path, typer.Argument(help="A recording (.calls).")],
    function: Annotated[
        list[str] | None, typer.Option(help="Functions, such as DoStep or 'Get*'; may be repeated.")
    ] = None,
    instance: Annotated[list[str] | None, typer.Option(help="Instances by name or number; may be repeated.")] = None,
    status: Annotated[list[str] | None, typer.Option(help="Answers, such as Error; may be repeated.")] = None,
    variable: Annotated[
        list[str] | None, typer.Option(help="Variables that are read or set, such as 'p.*'; may be repeated.")
    ] = None,
    begin: Annotated[float | None, typer.Option("--from", help="Time since the recording began, s.")] = None,
    end: Annotated[float | None, typer.Option("--to", help="The same, of the last call.")] = None,
    last: Annotated[int | None, typer.Option(min=1, help="So many of these calls, from the end.")] = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="How often and how long each function was called.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Name the calls that break the rules of FMI 2.0, instead of printing them.")
    ] = False,
    replay: Annotated[
        Path | None,
        typer.Option("--replay", help="Repeat the calls on this FMU, and show the first answer that differs."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the calls that an FMU of `record` was given, and its messages.

    Example: fmu-builder calls Floor.calls --function DoStep --last 10

    With --check the exit code is 1 if a rule is broken; warnings alone are good.  With --replay it is 1 if an answer
    differs; the FMU is called in a process of its own: give only FMUs that you trust.
    """
    from fmu_builder.cli.recording import check_recording, print_calls, replay_recording
    from fmu_builder.recording.text import Filter

    if check and replay is not None:
        raise InputError(Problem("--check", "is another task than --replay: give one of them"))
    chosen: dict[str, object] = {
        "--function": function,
        "--instance": instance,
        "--status": status,
        "--variable": variable,
    }
    chosen |= {"--from": begin, "--to": end, "--last": last, "--summary": summary or None}
    unused = [name for name, value in chosen.items() if value not in (None, [])]
    if (check or replay is not None) and unused:
        task = "--check" if check else "--replay"
        raise InputError(Problem(unused[0], f"chooses calls to print, and {task} takes all of them: leave it out"))
    if begin is not None and end is not None and not begin <= end:
        raise InputError(Problem("--from", f"{begin:g} s must be at most --to, {end:g} s"))
    if replay is not None:
        replay_recording(file, replay, as_json)
        return
    if check:
        check_recording(file, as_json)
        return

    limits = {key: value for key, value in (("begin", begin), ("end", end)) if value is not None}
    wanted = Filter(function or (), instance or (), status or (), variable or (), last=last, **limits)
    print_calls(file, wanted, summary, as_json)
