"""Write the pictures of the elements: drawings, plots and icons, and the generated parts of READMEs beside them.

    python elements/draw.py          writes every SVG, those of the icons included, and every generated part
    python elements/draw.py --png    also every model.png, through a Chromium on the PATH

What is drawn is declared by elements/<name>/pictures.py: PICTURES, SVG texts by file; ICON, the SVG text of model.png;
ICONS, if any, those of model_<entry>_<value>.png, the icons of FMUs with that value of an entry of [structure];
SECTIONS, parts of the README by their names, if any.
What several elements have in common is drawn by elements/shared/pictures.py.
A PNG carries the hash of the SVG it was made from, so that a test finds stale ones without a browser.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

from fmu_builder.errors import FmuBuilderError, ToolError
from fmu_builder.export.element_docs import with_sections, write_text
from fmu_builder.files import write_whole
from fmu_builder.paths import load_module, shipped_elements

ICON_SIZE = 256  # px; palettes scale it down
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
HASH_KEYWORD = b"svg-sha256"

Draw = Callable[[], str]


def pictures(folder: Path) -> dict[str, Draw]:
    """SVG texts of an element by file."""
    found: dict[str, Draw] = load_module(folder / "pictures.py").PICTURES
    return found


def icon(folder: Path) -> Draw:
    """The SVG text of an element's model.png."""
    found: Draw = load_module(folder / "pictures.py").ICON
    return found


def icons(folder: Path) -> dict[str, Draw]:
    """The SVG texts of all icons of an element by file."""
    of_choices: dict[str, Draw] = getattr(load_module(folder / "pictures.py"), "ICONS", {})
    return {"model.png": icon(folder)} | of_choices


def sections(folder: Path) -> dict[str, Draw]:
    """Generated parts of an element's README by name."""
    found: dict[str, Draw] = getattr(load_module(folder / "pictures.py"), "SECTIONS", {})
    return found


def svg_hash(svg: str) -> str:
    return hashlib.sha256(svg.encode("utf-8")).hexdigest()


def with_source_hash(png: bytes, svg: str) -> bytes:
    """The PNG with a text chunk behind its header."""
    header_end = len(PNG_SIGNATURE) + 25
    chunk = b"tEXt" + HASH_KEYWORD + b"\0" + svg_hash(svg).encode("ascii")
    framed = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return png[:header_end] + framed + png[header_end:]


def render_png(svg: str, size: int) -> bytes:
    """The SVG as a size x size px PNG with a transparent background.  Raises ToolError without a Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    browser = next((found for name in names if (found := shutil.which(name))), None)
    if browser is None:
        raise ToolError(f"--png needs one of these programs on the PATH: {', '.join(names)}")
    with tempfile.TemporaryDirectory() as folder:
        page, picture = Path(folder) / "icon.html", Path(folder) / "icon.png"
        style = f"html,body{{margin:0;background:transparent}}svg{{display:block;width:{size}px;height:{size}px}}"
        page.write_text(f"<!DOCTYPE html><meta charset='utf-8'><style>{style}</style>{svg}", encoding="utf-8")
        command = [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--force-device-scale-factor=1", "--default-background-color=00000000", f"--window-size={size},{size}",
            f"--user-data-dir={folder}/profile",
            f"--screenshot={picture}", page.as_uri(),
        ]  # fmt: skip
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if run.returncode != 0 or not picture.is_file():
            raise ToolError(f"{' '.join(command)} failed:\n" + "\n".join(run.stderr.splitlines()[-5:]))
        return picture.read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the pictures of the elements.")
    parser.add_argument("--png", action="store_true", help="also write the model.png icons, through Chromium")
    png = parser.parse_args().png
    for folder in shipped_elements():
        of_icons = {Path(name).with_suffix(".svg").name: draw for name, draw in icons(folder).items()}
        for name, draw in (pictures(folder) | of_icons).items():
            write_text(folder / name, draw())
        readme = folder / "README.md"
        write_text(readme, with_sections(readme, sections(folder)))
        if png:
            for name, draw in icons(folder).items():
                svg = draw()
                write_whole(folder / name, with_source_hash(render_png(svg, ICON_SIZE), svg))


if __name__ == "__main__":
    try:
        main()
    except FmuBuilderError as error:
        raise SystemExit(f"{error}") from error
