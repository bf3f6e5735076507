"""The icon of an assembly: those of its elements beside one another."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from fmu_builder.export.terminals import ICON_SIZE, PART_SIZE, icon_places

_COLOURS = 64


def assembly_icon(icons: Sequence[Path]) -> bytes:
    """A PNG of 128 x 128 px from the icons of the elements.

    It is stored without compression in a palette: its bytes depend on no version of zlib."""
    if len(icons) == 1:
        return icons[0].read_bytes()
    sheet = Image.new("RGB", (ICON_SIZE, ICON_SIZE), "white")
    for path, (x, y) in zip(icons, icon_places(len(icons)), strict=False):
        with Image.open(path) as picture:
            small = picture.convert("RGBA").resize((PART_SIZE, PART_SIZE), Image.Resampling.BOX)
        sheet.paste(small, (int(x), int(y)), small)
    data = io.BytesIO()
    sheet.quantize(_COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(data, "PNG", compress_level=0)
    return data.getvalue()
