"""The icon of an assembly: those of its elements beside one another."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

_SIZE, _EDGE, _GAP = 128, 2, 2  # px
_COLOURS = 64


def assembly_icon(icons: Sequence[Path]) -> bytes:
    """A PNG of 128 x 128 px from the icons of the elements, the first four of them in two rows.

    It is stored without compression in a palette: its bytes depend on no version of zlib."""
    if len(icons) == 1:
        return icons[0].read_bytes()
    sheet = Image.new("RGB", (_SIZE, _SIZE), "white")
    side = (_SIZE - 2 * _EDGE - _GAP) // 2
    shown = icons[:4]
    for number, path in enumerate(shown):
        with Image.open(path) as picture:
            small = picture.convert("RGBA").resize((side, side), Image.Resampling.BOX)
        row, column = divmod(number, 2)
        x, y = (_EDGE + place * (side + _GAP) for place in (column, row))
        if len(shown) == 2:
            y = (_SIZE - side) // 2
        elif len(shown) == 3 and number == 2:
            x = (_SIZE - side) // 2
        sheet.paste(small, (x, y), small)
    data = io.BytesIO()
    sheet.quantize(_COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(data, "PNG", compress_level=0)
    return data.getvalue()
