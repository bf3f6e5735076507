"""The pictures of point_line_2."""

from __future__ import annotations

from functools import partial

from fmu_builder.drawing import point_line_drawing, point_line_icon

PICTURES = {"drawing.svg": partial(point_line_drawing, 2)}
ICON = partial(point_line_icon, 2)
