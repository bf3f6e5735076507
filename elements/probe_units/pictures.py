"""The pictures of probe_units."""

from __future__ import annotations

from functools import partial

from fmu_builder.paths import load_module, shared_folder

SHARED = load_module(shared_folder() / "probe_pictures.py")
TITLE = "Quantities with display units go through a block unchanged"

PICTURES = {
    "drawing.svg": partial(
        SHARED.block,
        TITLE,
        ("K, degC", "rad, deg", "rad/s, rpm", "Pa, bar", "1, %"),
        ("values are SI,", "display units are for people"),
        ("K, degC", "rad, deg", "rad/s, rpm", "Pa, bar", "1, %"),
    )
}
ICON = partial(SHARED.sign, "probe_units", "units")
