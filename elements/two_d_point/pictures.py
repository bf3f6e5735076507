"""The pictures of two_d_point."""

from __future__ import annotations

import math
from functools import partial

from fmu_builder.drawing import FORCE, GREY, INK, MOTION, Drawing, icon_paper, mass_center, slab, turn


def two_d_point_drawing() -> str:
    drawing = Drawing(
        560, 330, "A body in the plane, a point at the offset XP, YP, and a force along a line through it"
    )
    cx, cy, px, py, angle = 196.0, 196.0, 318.0, 132.0, math.radians(38.0)
    slab(drawing, (216, 176), (168, 84), 0.0)
    drawing.arrow((cx, cy), (cx, cy - 60), INK, 1.6)
    drawing.arrow((cx, cy), (cx + 60, cy), INK, 1.6)
    drawing.text((cx - 6, cy - 52), "{y}", size=15, anchor="end")
    drawing.text((cx + 48, cy + 18), "{x}", size=15)
    # offsets
    drawing.line([(cx, cy + 10), (cx, cy + 106)], GREY, 1)
    drawing.line([(px, py + 10), (px, cy + 106)], GREY, 1)
    drawing.arrow((cx + 30, cy + 98), (px, cy + 98), INK, 1.4)
    drawing.line([(cx, cy + 98), (cx + 40, cy + 98)], INK, 1.4)
    drawing.text(((cx + px) / 2, cy + 90), "XP", anchor="middle", size=15)
    drawing.line([(cx - 10, cy), (34, cy)], GREY, 1)
    drawing.line([(px - 10, py), (34, py)], GREY, 1)
    drawing.arrow((42, cy - 20), (42, py), INK, 1.4)
    drawing.line([(42, cy), (42, cy - 30)], INK, 1.4)
    drawing.text((36, (cy + py) / 2 + 5), "YP", anchor="end", size=15)
    # the line of force
    ux, uy = math.cos(angle), -math.sin(angle)
    drawing.line([(px - 70 * ux, py - 70 * uy), (px + 150 * ux, py + 150 * uy)], GREY, 1.2, "10 3 2 3")
    drawing.line([(px, py), (px + 104, py)], GREY, 1, "3 3")
    turn(drawing, (px, py), 86, 0, math.degrees(angle), INK, 1.4)
    drawing.text((px + 92, py - 24), "{θ}", size=18)
    drawing.arrow((px, py), (px + 74 * ux, py + 74 * uy), FORCE, 4)
    drawing.text((px + 52, py - 64), "{F}", FORCE, 20, "end", bold=True)
    drawing.arrow((px + 92 * ux, py + 92 * uy), (px + 146 * ux, py + 146 * uy), MOTION, 2.8)
    drawing.text((px + 128, py - 78), "{v}", MOTION, 19)
    drawing.port((px, py), 15)
    drawing.text((px + 4, py + 26), "p_in", anchor="middle", mono=True, halo="#c3d6ea")
    mass_center(drawing, (cx, cy), 10)
    drawing.line([(cx, cy + 10), (cx - 52, cy + 40)], INK, 1)
    drawing.port((cx - 56, cy + 42), 13)
    drawing.text((cx - 68, cy + 47), "P_out", anchor="end", mono=True)
    for row, (text, color) in enumerate(
        [("{F}  on the body, in", FORCE), ("{v}  of the point, out", MOTION), ("P_out  at the centre", INK)]
    ):
        drawing.text((404, 236 + 25 * row), text, color, 14)
    return drawing.svg()


def two_d_point_icon(variant: str = "xy") -> str:
    """A force along x, along y, at an angle, or a torque on the body."""
    icon = icon_paper("two_d_point")
    slab(icon, (54, 74), (44, 38), 0.0, 2.6)
    mass_center(icon, (38, 86), 11)
    if variant == "theta":
        turn(icon, (38, 86), 62, -8, 84, FORCE, 5)
        icon.text((96, 30), "{T}", FORCE, 22, "middle", bold=True)
        icon.port((38, 86), 17)
        return icon.svg()
    icon.line([(38, 86), (80, 54)], INK, 2, "5 4")
    tip, name = {"x": ((124, 54), (120, 42)), "y": ((80, 8), (72, 26)), "xy": ((116, 18), (84, 26))}[variant]
    icon.arrow((80, 54), tip, FORCE, 5)
    icon.text(name, "{F}", FORCE, 22, "end", bold=True)
    icon.port((80, 54), 17)
    return icon.svg()


PICTURES = {"drawing.svg": two_d_point_drawing}
ICON = two_d_point_icon
ICONS = {f"model_variant_{variant}.png": partial(two_d_point_icon, variant) for variant in ("x", "y", "theta")}
