"""The pictures of pendulum."""

from __future__ import annotations

import math

from fmu_builder.drawing import (
    BODY,
    BODY_EDGE,
    FORCE,
    GREY,
    INK,
    MOTION,
    PAPER,
    Drawing,
    Point,
    icon_paper,
    mass_center,
    slab,
    turn,
)


def pendulum_drawing() -> str:
    drawing = Drawing(560, 360, "A body on a hinge: angle, torque, spring and damper, tip, forces, gravity and ports")
    px, py, angle = 210.0, 70.0, math.radians(-58)

    def at(u: float, v: float) -> Point:  # u along the body from the pivot, v across
        c, s = math.cos(angle), math.sin(angle)
        return px + u * c - v * s, py - u * s - v * c

    drawing.line([(px, py), (px, py + 196)], GREY, 1, "8 4")
    drawing.line([at(-26, -24), at(232, -24), at(232, 24), at(-26, 24)], BODY_EDGE, 2, fill="#c3d6ea")
    drawing.material(px - 74, px - 34, py - 34, py + 34, 9)
    drawing.line([(px - 34, py - 34), (px - 34, py + 34)], INK, 2.2)
    drawing.line([(px - 34, py), (px, py)], INK, 5)
    turn(drawing, (px, py), 152, -90, math.degrees(angle), INK, 1.6)
    drawing.text((px + 12, py + 138), "{φ}", size=19)
    turn(drawing, (px, py), 56, 62, 148, FORCE, 3.2)
    drawing.text((px - 20, py - 54), "{t}", FORCE, 20, "end", bold=True)
    drawing.text((px - 80, py + 6), "{k}, {d}", size=17, anchor="end")
    drawing.circle((px, py), 9, PAPER, INK, 2)
    drawing.line([(px + 8, py - 5), (px + 92, py - 38)], INK, 1)
    drawing.port((px + 92, py - 38), 13)
    drawing.text((px + 106, py - 33), "hinge", mono=True)
    # centre of mass and tip
    cx, cy = at(118, 0)
    drawing.arrow((cx, cy), (cx, cy + 88), INK, 2.8)
    drawing.text((cx - 10, cy + 80), "{m} {g}", size=19, anchor="end", halo=PAPER)
    mass_center(drawing, (cx, cy), 9)
    drawing.text((at(62, 0)[0], at(62, 0)[1] + 6), "{m}, {J}", BODY_EDGE, 18, "middle")
    tx, ty = at(232, 24)
    drawing.arrow((tx, ty), (tx + 40, ty - 62), FORCE, 4)
    drawing.text((tx + 30, ty - 66), "{f}", FORCE, 20, "end", bold=True)
    drawing.arrow((tx, ty), at(232, 92), MOTION, 2.8)
    drawing.text((at(232, 92)[0] + 4, at(232, 92)[1] - 10), "{v}", MOTION, 19)
    drawing.circle((tx, ty), 6, BODY, BODY_EDGE, 2)
    drawing.line([(tx, ty), (tx + 70, ty + 26)], INK, 1)
    drawing.port((tx + 70, ty + 26), 13)
    drawing.text((tx + 84, ty + 31), "tip", mono=True)
    drawing.text((40, 306), "axis towards the eye: right-hand rule", GREY, 15)
    for row, (text, color) in enumerate(
        [("{φ}, {w}, {r}, {v}  motion, out", MOTION), ("{t}, {f}  torque, force, in", FORCE)]
    ):
        drawing.text((40, 328 + 22 * row), text, color, 15)
    return drawing.svg()


def pendulum_icon() -> str:
    icon = icon_paper("pendulum")
    angle, px, py = math.radians(-60), 34.0, 26.0
    icon.line([(px, py), (px, 114)], GREY, 1.8, "6 4")
    slab(icon, (px + 38 * math.cos(angle), py - 38 * math.sin(angle)), (48, 12), angle, 2.6)
    turn(icon, (px, py), 74, -90, -66, MOTION, 3.4)
    icon.circle((px, py), 7, PAPER, INK, 2.6)
    mass_center(icon, (px + 42 * math.cos(angle), py - 42 * math.sin(angle)), 9)
    icon.port((px + 84 * math.cos(angle), py - 84 * math.sin(angle)), 17)
    icon.text((90, 46), "{φ}", INK, 26, "middle")
    return icon.svg()


PICTURES = {"drawing.svg": pendulum_drawing}
ICON = pendulum_icon
