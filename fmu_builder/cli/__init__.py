"""The command line.

Exit codes: 0 good, 1 a comparison or check failed, 2 bad input, 3 the tool chain or an FMU failed, 130 interrupted.
Results go to stdout, progress, notes and errors to stderr; with --json stdout holds JSON and nothing else, and errors
are {"errors": [{"where", "what"}], "notes", "exit_code"} at the end of stderr.
"""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
from dataclasses import asdict

import typer

from fmu_builder.cli.commands import app
from fmu_builder.cli.printing import print_fault, print_notes
from fmu_builder.errors import FmuBuilderError, InputError, Problem

__all__ = ["app", "main"]

# the base of all errors of arguments, which typer has from its own copy of click or from another one
_ArgumentError: type[Exception] = next(
    one for one in typer.BadParameter.__mro__ if one.__name__ == "ClickException" and issubclass(one, Exception)
)


def _run(as_json: bool) -> None:
    """Run the command of the arguments; with --json errors of them are errors like all others."""
    if not as_json:
        app()
        return
    try:
        code = app(standalone_mode=False, prog_name="fmu-builder")
    except _ArgumentError as error:
        context, said = getattr(error, "ctx", None), getattr(error, "format_message", error.__str__)
        raise InputError(Problem(context.command_path if context else "fmu-builder", said())) from None
    sys.exit(code or 0)


def main() -> None:
    """Entry point: errors become a message and an exit code; a fault of fmu-builder keeps its traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # their encoding may lack a character
    try:
        try:
            _run("--json" in sys.argv[1:])
        except SystemExit as ended:
            if isinstance(ended.__context__, BrokenPipeError):  # for which typer would exit with 1
                raise ended.__context__ from None
            sys.stdout.flush()
            raise
    except FmuBuilderError as error:
        if "--json" in sys.argv[1:]:
            problems = [asdict(problem) for problem in error.problems]
            answer = {"errors": problems, "notes": error.notes, "exit_code": error.exit_code}
            print(json.dumps(answer, indent=2), file=sys.stderr)
        else:
            print_notes(error.notes)
            for problem in error.problems:
                print_fault(f"error: {problem}")
        sys.exit(error.exit_code)
    except BrokenPipeError:  # the reader of the output has ended, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # takes what Python still writes when it ends
        sys.exit(0)
    except Exception:  # Python would exit with 1, which means that a comparison failed
        traceback.print_exc()
        print_fault(
            "this is a fault of fmu-builder, not of your input: please report the lines above together with the output "
            "of `fmu-builder doctor`"
        )
        sys.exit(3)
