"""What pages are made of: scripts, style sheets, and data that their browser unpacks."""

import base64
import gzip
from pathlib import Path

_FOLDER = Path(__file__).parent / "scripts"


def part(name: str) -> str:
    """The text of a file of scripts/."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def packed(content: str | bytes) -> str:
    """gzip, in base64; equal contents give equal text."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode("ascii")
