"""The pictures of two_d_body."""

from __future__ import annotations

import math

from fmu_builder.drawing import FORCE, GREY, INK, MOTION, Drawing, icon_paper, mass_center, slab, turn


def two_d_body_drawing() -> str:
    drawing = Drawing(560, 320, "A body in the plane: position, angle, velocities, forces, gravity and ports")
    ox, oy, cx, cy, angle = 56.0, 276.0, 232.0, 150.0, math.radians(14.0)
    drawing.arrow((ox, oy), (ox, oy - 66), INK, 1.8)
    drawing.arrow((ox, oy), (ox + 66, oy), INK, 1.8)
    drawing.text((ox + 8, oy - 56), "{y}", size=15)
    drawing.text((ox + 56, oy + 20), "{x}", size=15)
    drawing.circle((ox, oy), 3, INK)
    at = slab(drawing, (cx, cy), (122, 62), angle)
    drawing.arrow((ox, oy), (cx - 12, cy + 9), GREY, 2, "6 4")
    drawing.text((99, 266), "({x}, {y})", GREY, 17)
    # the angle
    drawing.line([(cx, cy), (cx + 186, cy)], GREY, 1, "3 3")
    drawing.line([at(0, 0), at(176, 0)], GREY, 1, "10 3 2 3")
    turn(drawing, (cx, cy), 160, 0, 14, INK, 1.4)
    drawing.text((cx + 170, cy - 12), "{θ}", size=18)
    # motion and forces at the centre of mass
    drawing.arrow((cx, cy), (cx + 86, cy), MOTION, 2.8)
    drawing.text((cx + 66, cy + 20), "{v_x}", MOTION, 17)
    drawing.arrow((cx, cy), (cx, cy - 92), MOTION, 2.8)
    drawing.text((cx + 10, cy - 82), "{v_y}", MOTION, 17)
    turn(drawing, (cx, cy), 34, 200, 330, MOTION, 2.6)
    drawing.text((cx + 26, cy + 46), "{ω}", MOTION, 17)
    drawing.arrow((cx, cy), (cx - 78, cy - 58), FORCE, 4)
    drawing.text((cx - 88, cy - 58), "{F}", FORCE, 20, "end", bold=True)
    drawing.arrow((cx - 4, cy + 12), (cx - 4, cy + 104), INK, 2.8)
    drawing.text((cx + 8, cy + 100), "{m} {g}", size=18)
    mass_center(drawing, (cx, cy), 11)
    drawing.text((cx - 104, cy + 4), "{m}, {J}", INK, 17)
    for k, (x, y) in enumerate(((430, 28), (430, 58), (430, 88)), 1):
        drawing.line([(cx + 9, cy - 6), (x - 24, y)], INK, 1)
        drawing.port((x - 20, y), 13)
        drawing.text((x - 6, y + 5), f"P[{k}]", mono=True)
    for row, (text, color) in enumerate(
        [
            ("{v_x}, {v_y}, {ω}  at every port, out", MOTION),
            ("{F}  forces and torque, in", FORCE),
            ("{x}, {y}, {θ}  position, out", INK),
        ]
    ):
        drawing.text((300, 246 + 25 * row), text, color, 15)
    return drawing.svg()


def two_d_body_icon() -> str:
    icon = icon_paper("two_d_body")
    slab(icon, (64, 66), (48, 28), math.radians(12.0), 2.6)
    icon.arrow((64, 66), (110, 66), MOTION, 3.6)
    icon.arrow((64, 66), (64, 18), MOTION, 3.6)
    turn(icon, (64, 66), 34, 200, 330, MOTION, 3.6)
    mass_center(icon, (64, 66), 12)
    return icon.svg()


PICTURES = {"drawing.svg": two_d_body_drawing}
ICON = two_d_body_icon
