"""Options and arguments that several commands have."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Step = Annotated[str | None, typer.Option(help="Communication step, e.g. '0.1 ms'.")]
Stop = Annotated[str | None, typer.Option(help="Stop time, e.g. '2 s'.")]
System = Annotated[str, typer.Argument(help="A scenario (.toml), an .fmu, an .ssp, or the name of a recipe or case.")]
