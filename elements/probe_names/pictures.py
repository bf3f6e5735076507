"""The pictures of probe_names."""

from __future__ import annotations

from functools import partial

from fmu_builder.paths import load_module, shared_folder

SHARED = load_module(shared_folder() / "probe_pictures.py")
TITLE = "Inputs with unusual names and their weighted sum"

PICTURES = {
    "drawing.svg": partial(
        SHARED.block, TITLE, ("u", "U", "class", "item[2]", "a.u"), ("{y} = sum of {2}ᵏ inputs",), ("y",)
    )
}
ICON = partial(SHARED.sign, "probe_names", "names")
