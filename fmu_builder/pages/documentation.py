"""The live page in the documentation of an FMU: documentation/live.html, which index.html shows."""

from __future__ import annotations

import zipfile
from pathlib import Path

from fmu_builder.cosim.master import load_scenario
from fmu_builder.export.documentation import templates
from fmu_builder.export.fmu import pack
from fmu_builder.files import write_whole
from fmu_builder.model.model import Model
from fmu_builder.pages.live import page_text

INDEX, PAGE = "documentation/index.html", "documentation/live.html"
_MARK = "<!-- live -->\n"  # in templates/fmu.html


def add_live_page(fmu: Path, model: Model) -> None:
    """Put the page into an FMU with a binary for this machine that was built of the model.  Raises ToolError."""
    page = page_text(load_scenario(fmu), model)
    with zipfile.ZipFile(fmu) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    index = files[INDEX].decode("utf-8").replace(_MARK, templates().get_template("live_frame.html").render())
    write_whole(fmu, pack({**files, INDEX: index.encode("utf-8"), PAGE: page.encode("utf-8")}))
