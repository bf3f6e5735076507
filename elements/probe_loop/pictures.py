"""The pictures of probe_loop."""

from __future__ import annotations

from functools import partial

from fmu_builder.paths import load_module, shared_folder

SHARED = load_module(shared_folder() / "probe_pictures.py")
TITLE = "An input, a straight line, an output that is led back"

PICTURES = {"drawing.svg": partial(SHARED.block, TITLE, ("u",), ("{y} = gain {u} + offset",), ("y",))}
ICON = partial(SHARED.sign, "probe_loop", "loop")
