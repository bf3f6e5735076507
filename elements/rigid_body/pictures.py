"""The pictures of rigid_body."""

from __future__ import annotations

import math

from fmu_builder.drawing import (
    BODY,
    BODY_EDGE,
    FORCE,
    GREY,
    INK,
    MOTION,
    Drawing,
    icon_paper,
    mass_center,
    slab,
    world_axes,
)


def rigid_body_drawing() -> str:
    drawing = Drawing(560, 330, "A body with its axes, a point at an offset, forces, moments and ports")
    ox, oy, cx, cy = 56.0, 286.0, 236.0, 150.0
    world_axes(drawing, (ox, oy), 66)
    at = slab(drawing, (cx, cy), (118, 62), math.radians(20))
    drawing.arrow((ox, oy), (cx - 9, cy + 7), GREY, 2, dash="6 4")
    drawing.text((112, 232), "{r}", GREY, 19, "end")
    drawing.arrow((cx, cy), at(60, 0), INK, 2)
    drawing.arrow((cx, cy), at(0, 52), INK, 2)
    drawing.text((at(54, 0)[0] - 2, at(54, 0)[1] + 22), "{x_B}", size=16)
    drawing.text((at(0, 50)[0] - 8, at(0, 50)[1] + 10), "{z_B}", size=16, anchor="end")
    drawing.line([(cx, cy), at(118, 62)], GREY, 1.6, dash="5 4")
    drawing.text((at(64, 34)[0] + 10, at(64, 34)[1] + 12), "offset", GREY, 15)
    drawing.line([(cx, cy), (cx + 186, cy + 62)], INK, 1)
    drawing.port((cx + 186, cy + 62), 13)
    drawing.text((cx + 202, cy + 67), "frame", mono=True)
    # a point
    px, py = at(118, 62)
    drawing.arrow((px, py), (px - 26, py - 62 + 22), FORCE, 4)
    drawing.text((px - 36, py - 30), "{f}", FORCE, 20, "end", bold=True)
    drawing.arrow((px, py), (px + 66, py + 20), MOTION, 2.8)
    drawing.text((px + 62, py + 46), "{v}", MOTION, 19)
    drawing.circle((px, py), 6, BODY, BODY_EDGE, 2)
    drawing.line([(px, py), (px + 96, py - 14)], INK, 1)
    drawing.port((px + 96, py - 14), 13)
    drawing.text((px + 112, py - 20), "point[i]", mono=True)
    drawing.text((px + 112, py), "attach[i]", mono=True)
    # gravity
    drawing.arrow((cx, cy + 8), (cx, cy + 122), INK, 2.8)
    drawing.text((cx + 12, cy + 112), "{m} {g}", size=19)
    mass_center(drawing, (cx, cy), 8)
    drawing.text(at(-74, 18), "{m}, {J}", BODY_EDGE, 20, "middle")
    for row, (text, color) in enumerate(
        [("{r}, {q}, {v}, {w}  motion, out", MOTION), ("{f}, {t}  force, moment, in", FORCE)]
    ):
        drawing.text((366, 270 + 26 * row), text, color, 15)
    return drawing.svg()


def rigid_body_icon() -> str:
    icon = icon_paper("rigid_body")
    at = slab(icon, (62, 58), (42, 26), math.radians(30), 2.6)
    icon.arrow((62, 58), at(32, 0), INK, 3)
    icon.arrow((62, 58), at(0, 44), INK, 3)
    icon.arrow((62, 58), (62, 120), INK, 3.4)
    mass_center(icon, (62, 58), 10)
    icon.port(at(-42, -26), 16)
    icon.port(at(42, -26), 16)
    return icon.svg()


PICTURES = {"drawing.svg": rigid_body_drawing}
ICON = rigid_body_icon
