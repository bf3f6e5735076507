"""A page that runs a system: everything in one HTML file that needs no network."""

from __future__ import annotations

import json
import re
from pathlib import Path

from fmu_builder.cosim.master import load_scenario
from fmu_builder.errors import InputError, Problem
from fmu_builder.export.documentation import templates
from fmu_builder.files import path_given, real_place, recorded_reads, write_whole
from fmu_builder.model.documents import Document, as_file
from fmu_builder.model.model import Model
from fmu_builder.model.scenario import CheckedScenario
from fmu_builder.pages.parts import part
from fmu_builder.pages.system import Document as PageSystem
from fmu_builder.pages.system import page_system

SCRIPTS = ("state.js", "runs.js", "plot.js", "view.js", "hand.js", "controls.js", "laws.js", "page.js")  # in this order
SYSTEM = "@@system@@"  # its place in a frame
_COMMENT = re.compile(r"^ *(/\*.*?\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)
_INDENTATION = re.compile(r"^ +", re.MULTILINE)


def compact(script: str) -> str:
    """A script without comments that have lines of their own, and without indentation: a quarter less to send."""
    return _INDENTATION.sub("", _COMMENT.sub("", script))


def live(scenario: Document | Path | str, page: Path | str = "live.html") -> Path:
    """Write a page on which a scenario, recipe, FMU or SSP archive runs; returns its path.

    scenario   a document, the path of a scenario, recipe, .fmu or .ssp, or the name of a recipe
    Raises InputError for what is wrong or cannot run in a page, and for a page that is no .html file or would replace
    one that is read; ToolError without the compiler."""
    target = path_given(page, "page")
    with as_file(scenario) as source:
        text = checked_page_text(source, target, "live() page")
    write_whole(target, text)
    return target


def checked_page_text(source: Path, page: Path, where: str) -> str:
    """The page of the file, as HTML, to be written as `page`.

    where   of the page, in messages.   Raises InputError for what `live` says is wrong with its name too."""
    if page.suffix != ".html":
        raise InputError(Problem(where, f"'{page}' is no .html file, which a page is; end it with .html"))
    with recorded_reads() as files:
        scenario = load_scenario(source)
    if real_place(page) in map(real_place, (source, *files)):
        raise InputError(Problem(where, f"'{page}' is read by this page; choose another name"))
    return page_text(scenario)


def page_text(scenario: CheckedScenario, model: Model | None = None) -> str:
    """The page of a scenario, as HTML.   model: of its only slave, where that is an FMU which was made of it"""
    system = page_system(scenario, model)
    return _page(system["title"], system["description"], system["replaced"], system_text(system))


def frame_text() -> str:
    """The page of any system, for frames, without a heading: a script puts the text of a system in place of SYSTEM."""
    return _page("live", None, "", SYSTEM)


def system_text(system: PageSystem) -> str:
    """A system as it stands in its page: JSON that cannot end a script element."""
    return json.dumps(system, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _page(title: str, description: str | None, replaced: str, system: str) -> str:
    return (
        templates()
        .get_template("live.html")
        .render(
            title=title,
            description=description,
            replaced=replaced,
            system=system,
            style=part("colours.css") + part("page.css"),
            engine=compact(part("engine.js")),
            worker=compact(part("worker.js")),
            scripts=[compact(part(name)) for name in SCRIPTS],
        )
    )
