"""`guide`: the pages of fmu_builder/guide as one HTML page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from fmu_builder.cli.files import make_folder_of, show_page
from fmu_builder.cli.printing import line
from fmu_builder.export.cache import cache_folder, used
from fmu_builder.export.documentation import data_url, templates
from fmu_builder.files import write_whole
from fmu_builder.paths import PACKAGE, own_version

FOLDER = PACKAGE / "guide"
_MARKDOWN = MarkdownIt("commonmark").enable("table")
_LINK = re.compile(r"(?P<page>[\w-]+)\.md(?:#(?P<heading>.+))?")
_TITLE = re.compile(r"title=\"([^\"]+)\"")


@dataclass(frozen=True)
class Page:
    """A file of the guide.   `id`: of its section;   `html`: the section."""

    id: str
    title: str
    html: str


def open_guide(path: bool) -> None:
    """Write the page into the cache, print where, and open it.   path: print the folder of the Markdown only."""
    if path:
        line(f"{FOLDER}")
        return
    target = used(cache_folder() / "guide" / "guide.html")
    make_folder_of(target)
    write_whole(target, templates().get_template("guide.html").render(pages=pages(), version=own_version()))
    line(f"{target}")
    show_page(target)


def pages() -> list[Page]:
    """The pages, in the order in which index.md links to them."""
    index = FOLDER / "index.md"
    linked = [match["page"] for match in re.finditer(rf"\]\({_LINK.pattern}\)", index.read_text(encoding="utf-8"))]
    return [_page(path) for path in (index, *(FOLDER / f"{name}.md" for name in dict.fromkeys(linked)))]


def _page(path: Path) -> Page:
    tokens = _MARKDOWN.parse(path.read_text(encoding="utf-8"))
    title = ""
    headings: Counter[str] = Counter()
    for token, content in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and content is not None:
            title = title or content.content
            slug = _slug(content.content)
            again = f"-{headings[slug]}" if headings[slug] else ""  # as repositories on the web number them
            headings[slug] += 1
            token.attrSet("id", f"{path.stem}-{slug}{again}")
        _link_within(token.children or ())
        _embed_pictures(token.children or (), path.parent)
    return Page(path.stem, title, _MARKDOWN.renderer.render(_with_titles(tokens), _MARKDOWN.options, {}))


def _slug(heading: str) -> str:
    return re.sub(r"[^\w]+", "-", heading.lower()).strip("-")


def _link_within(tokens: Sequence[Token]) -> None:
    """Links to other pages become links to their sections."""
    for token in tokens:
        match = _LINK.fullmatch(str(token.attrGet("href") or ""))
        if match:
            token.attrSet("href", f"#{match['page']}-{match['heading']}" if match["heading"] else f"#{match['page']}")


def _embed_pictures(tokens: Sequence[Token], folder: Path) -> None:
    for token in tokens:
        if token.type == "image":
            token.attrSet("src", data_url(folder / str(token.attrGet("src"))))


def _with_titles(tokens: Sequence[Token]) -> list[Token]:
    """The name of the file that a block of code is stands above it."""
    found = []
    for token in tokens:
        name = _TITLE.search(token.info) if token.type == "fence" else None
        if name:
            paragraph = Token("paragraph_open", "p", 1, attrs={"class": "file"})
            text = Token("inline", "", 0, children=[Token("text", "", 0, content=name[1])])
            found += [paragraph, text, Token("paragraph_close", "p", -1)]
        found.append(token)
    return found
