"""The commands that write what other tools read: their options and help texts, as in commands.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from fmu_builder.cli.options import Json, Step, Stop
from fmu_builder.errors import InputError, Problem


def ssp_command(
    scenario: Annotated[str, typer.Argument(help="A scenario (.toml), or the name of a case.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Archive; by default NAME.ssp.")] = None,
    target: Annotated[
        str, typer.Option("--for", help="Tool that reads it: standard, ecos, libcosim, omsimulator or fmpy.")
    ] = "standard",
    platform: Annotated[
        list[str] | None,
        typer.Option(
            help="Build the FMUs of recipes for this platform, as `build` does, such as host; may be repeated."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a scenario as an SSP 1.0 archive with its FMUs, for other tools; `run` reads archives.

    Example: fmu-builder ssp drop_elastic -o drop.ssp --for libcosim --platform host

    Communication step, algorithm and drives are in annotations, which other tools may not read.  A warning names what
    the tool does not read; what it would get wrong is an error.
    """
    from fmu_builder.cli.ssp import write_ssp

    write_ssp(scenario, output, target, platform or ("all",), as_json)


def cross_check_command(
    systems: Annotated[
        list[str], typer.Argument(help="Recipes, .fmu files, scenarios or cases: each slave gets a folder.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder in which fmus/2.0/... begins.")] = Path(),
    platform: Annotated[
        list[str] | None,
        typer.Option(help="Write FMUs for linux64, win64 or darwin64, by default all; may be repeated."),
    ] = None,
    step: Step = None,
    stop: Stop = None,
    output_step: Annotated[str | None, typer.Option(help="Time between rows, a multiple of the step.")] = None,
    record: Annotated[
        list[str] | None, typer.Option(help="Outputs of the reference, such as 'fmu.p.*'; the first ten of them.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write FMUs with reference results, inputs, options and README in the folders of the FMI cross-check.

    Example: fmu-builder cross-check BouncingBall -o crosscheck --output-step '10 ms'
    """
    from fmu_builder.cli.cross_check import export_systems

    export_systems(
        systems, output, platform or (), as_json, step=step, stop=stop, output_step=output_step, record=record
    )


def schema_command(
    element: Annotated[
        str,
        typer.Argument(help="Name or folder of an element; or recipe, assembly, scenario, case, study, fit, element."),
    ],
    name: Annotated[
        str | None, typer.Argument(help="Behind the word element: name or folder of an element.", show_default=False)
    ] = None,
) -> None:
    """Print the JSON schema of an element's recipes, or of other files, for editors that complete and check TOML.

    Example: fmu-builder schema point_surface > point_surface.json

    In the first line of a recipe `#:schema point_surface.json` names it to editors with Taplo.  `schema recipe`,
    `assembly`, `scenario`, `case`, `study` and `fit` print the schemas of all files of that kind, `schema element` the
    schema of element.toml, for elements of your own; `schema element NAME` is `schema NAME`.
    """
    from fmu_builder.export.schema import document_schema, element_schema, recipe_schema
    from fmu_builder.model.documents import DOCUMENTS

    if name is not None:
        if element != "element":
            raise InputError(Problem("NAME", f"{name!r}: only the word element has one behind it, not {element!r}"))
        found = recipe_schema(name, Path.cwd())
    elif element == "study":
        from fmu_builder.studies.format import Study

        found = document_schema(Study)
    elif element == "fit":
        from fmu_builder.fitting.tables import Fit

        found = document_schema(Fit)
    elif element in DOCUMENTS:
        found = document_schema(element)
    elif element == "element":
        found = element_schema()
    else:
        found = recipe_schema(element, Path.cwd(), ("study", "fit", *DOCUMENTS, "element"))
    print(json.dumps(found, indent=2, ensure_ascii=False))
