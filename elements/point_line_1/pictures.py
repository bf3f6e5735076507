"""The pictures of point_line_1."""

from __future__ import annotations

from functools import partial

from fmu_builder.paths import load_module, shared_folder

SHARED = load_module(shared_folder() / "pictures.py")

PICTURES = {"drawing.svg": partial(SHARED.point_line_drawing, 1)}
ICON = partial(SHARED.point_line_icon, 1)
