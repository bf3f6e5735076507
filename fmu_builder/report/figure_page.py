"""What the pages with figures share: style, scripts and packed data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fmu_builder.pages.live import compact
from fmu_builder.pages.parts import packed, part
from fmu_builder.report.figure_sheet import DARK, packed_plotly

_FOLDER = Path(__file__).parent / "scripts"


@dataclass(frozen=True)
class FigureParts:
    """style    of the page
    dark     colours of plots: light, dark
    packed   what the page unpacks, by the id of its element
    scripts  in their order"""

    style: str
    dark: list[tuple[str, str]]
    packed: Mapping[str, str]
    scripts: tuple[str, ...]


def figure_parts(
    figures: Mapping[str, str], more: Mapping[str, str] | None = None, script: str | None = None
) -> FigureParts:
    """figures  data of plots and moving pictures as JSON, by the id of their elements
    more     what else is packed, by the id of its element
    script   of the page, a file beside figures.js"""
    data = {
        "plotly": packed_plotly(),
        **(more or {}),
        **{f"{name}-data": packed(text) for name, text in figures.items()},
    }
    own = [_own(name) for name in ("figures.js", script) if name]
    scripts = tuple(compact(text) for text in (part("plot.js"), part("view.js"), *own))
    return FigureParts(part("colours.css") + _own("report.css"), DARK, data, scripts)


def _own(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
