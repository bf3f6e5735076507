"""The pictures of body_surface."""

from __future__ import annotations

import math

from fmu_builder.drawing import BODY, BODY_EDGE, FORCE, GREY, INK, MOTION, Drawing, icon_paper


def body_surface_drawing() -> str:
    drawing = Drawing(560, 330, "Samples of the skin of a body below a surface, each with its pressure")
    x, y, radius, top = 250.0, 136.0, 122.0, 214.0
    drawing.material(24, 536, top, 296, 14)
    drawing.circle((x, y), radius, BODY, BODY_EDGE, 2.5)
    drawing.line([(24, top), (536, top)], INK, 2.5)
    drawing.port((x, y), 14)
    drawing.text((x + 14, y - 8), "body", INK, 16, mono=True)
    drawing.port((60, top), 14)
    drawing.text((44, top - 14), "surface", INK, 16, mono=True)
    count = 44
    for k in range(count):
        angle = 2.0 * math.pi * (k + 0.5) / count
        at = (x + radius * math.sin(angle), y + radius * math.cos(angle))
        depth = at[1] - top
        if depth > 0.0:
            drawing.line([(at[0], top), at], MOTION, 1.6)
            drawing.arrow((at[0], top), (at[0], top - 1.5 * depth), FORCE, 2.4)
        drawing.circle(at, 3.4, FORCE if depth > 0.0 else GREY, INK, 0.8)
    drawing.text((x + 8, top + 34), "{h}", MOTION, 18, "start", halo="#ffffff")
    drawing.text((404, 120), "sample {i}: area {A_i}", INK, 15)
    drawing.arrow((400, 116), (x + radius * math.sin(1.42) + 5, y + radius * math.cos(1.42) - 1), GREY, 1.4)
    drawing.text((404, 186), "{A_i} {p}({h})", FORCE, 17, bold=True)
    drawing.text(
        (24, 318), "{F} = Σ {A_i} ({p}({h_i}) (1 + {d}) {n} − friction):  stiffness and friction per area", INK
    )
    return drawing.svg()


def body_surface_icon() -> str:
    icon = icon_paper("body_surface")
    icon.material(10, 118, 84, 116, 11, 1.6)
    icon.line([(10, 84), (118, 84)], INK, 3.2)
    icon.circle((64, 54), 42, BODY, BODY_EDGE, 2.6)
    for k in range(22):
        angle = 2.0 * math.pi * (k + 0.5) / 22
        at = (64 + 42 * math.sin(angle), 54 + 42 * math.cos(angle))
        deep = at[1] > 84
        if deep:
            icon.arrow((at[0], 84), (at[0], 84 - 3.2 * (at[1] - 84)), FORCE, 3)
        icon.circle(at, 3.2, FORCE if deep else GREY, INK, 1)
    return icon.svg()


PICTURES = {"drawing.svg": body_surface_drawing}
ICON = body_surface_icon
