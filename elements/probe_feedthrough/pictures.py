"""The pictures of probe_feedthrough."""

from __future__ import annotations

from functools import partial

from fmu_builder.paths import load_module, shared_folder

SHARED = load_module(shared_folder() / "probe_pictures.py")
TITLE = "Inputs of every type go through a block to outputs"

PICTURES = {
    "drawing.svg": partial(
        SHARED.block,
        TITLE,
        ("real_in", "int_in", "bool_in", "x[i]"),
        ("out = in",),
        ("real_out", "int_out", "bool_out", "y[i]"),
    )
}
ICON = partial(SHARED.sign, "probe_feedthrough", "y = u")
