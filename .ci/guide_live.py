"""A hook of mkdocs: puts live pages into the guide, in place of `<!-- live: NAME -->`.

NAME is a recipe of the catalogue, or the title of a TOML block on the same page."""

import re
import tempfile
from pathlib import Path

from fmu_builder import live

_MARK = re.compile(r"^<!-- live: ([\w.]+) -->$", re.MULTILINE)
_FRAME = (
    '<iframe src="live/{name}.html" title="{name}, running" loading="lazy" '
    'style="width: 100%; height: 60rem; border: 1px solid #8884; border-radius: 8px;"></iframe>\n'
)
_HEIGHT = """
<script>
addEventListener("message", ({ source, data }) => {
    for (const frame of document.querySelectorAll("iframe"))
        if (frame.contentWindow === source && data && data.height > 0)
            frame.style.height = `${Math.ceil(data.height) + 2}px`;
});
</script>
"""


def on_page_markdown(markdown: str, page, config, files) -> str:
    folder = Path(config["site_dir"]) / "live"

    def frame(mark: re.Match[str]) -> str:
        name = mark[1].removesuffix(".toml")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as temporary:
            live(_source(mark[1], markdown, Path(temporary)), folder / f"{name}.html")
        return _FRAME.format(name=name)

    found = _MARK.sub(frame, markdown)
    return found if found == markdown else found + _HEIGHT


def _source(name: str, markdown: str, folder: Path) -> Path | str:
    if not name.endswith(".toml"):
        return name
    block = re.search(rf'^```toml title="{re.escape(name)}"\n(.*?)^```', markdown, re.MULTILINE | re.DOTALL)
    if block is None:
        raise ValueError(f"the page has no TOML block with the title {name}")
    (folder / name).write_text(block[1], encoding="utf-8")
    return folder / name
