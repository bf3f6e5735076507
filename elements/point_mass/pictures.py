"""The pictures of point_mass."""

from __future__ import annotations

from fmu_builder.drawing import BODY, BODY_EDGE, FORCE, GREY, INK, MOTION, PAPER, Drawing, icon_paper, world_axes


def point_mass_drawing() -> str:
    drawing = Drawing(440, 290, "A particle with its position, velocity, force and gravity")
    ox, oy, px, py = 60.0, 240.0, 210.0, 135.0
    world_axes(drawing, (ox, oy), 70)
    drawing.arrow((ox, oy), (px - 26, py + 18), GREY, 2, dash="6 4")
    drawing.text((118, 186), "{r}", GREY, 19, "end")
    drawing.arrow((px, py), (px + 104, py - 44), MOTION, 2.8)
    drawing.text((px + 106, py - 54), "{v}", MOTION, 19)
    drawing.arrow((px, py), (px - 62, py - 100), FORCE, 4)
    drawing.text((px - 72, py - 92), "{f}", FORCE, 20, "end", bold=True)
    drawing.circle((px, py), 31, BODY, BODY_EDGE, 2)
    drawing.text((px, py + 7), "{m}", PAPER, 20, "middle")
    drawing.line([(px + 31, py + 12), (px + 96, py + 12)], INK, 1)
    drawing.port((px + 96, py + 12), 13)
    drawing.text((px + 110, py + 17), "p", mono=True)
    drawing.arrow((px, py + 38), (px, py + 110), INK, 2.8)
    drawing.text((px + 12, py + 92), "{m} {g}", size=19)
    for row, (text, color) in enumerate([("{r}, {v}  motion, out", MOTION), ("{f}  force, in", FORCE)]):
        drawing.text((298, 215 + 26 * row), text, color, 15)
    return drawing.svg()


def point_mass_icon() -> str:
    icon = icon_paper("point_mass")
    icon.line([(78, 48), (106, 48)], INK, 2.4)
    icon.circle((52, 48), 32, BODY, BODY_EDGE, 2.6)
    icon.circle((42, 37), 8, "#86abd6", "none", 0)
    icon.text((53, 57), "{m}", PAPER, 26, "middle")
    icon.port((108, 48), 17)
    icon.text((108, 30), "p", size=19, anchor="middle", mono=True)
    icon.arrow((52, 82), (52, 119), INK, 4)
    icon.text((63, 112), "{g}", INK, 22)
    return icon.svg()


PICTURES = {"drawing.svg": point_mass_drawing}
ICON = point_mass_icon
