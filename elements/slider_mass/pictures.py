"""The pictures of slider_mass."""

from __future__ import annotations

from fmu_builder.drawing import BODY, BODY_EDGE, FORCE, GREY, INK, MOTION, PAPER, Drawing, icon_paper


def slider_mass_drawing() -> str:
    drawing = Drawing(460, 250, "A body on a line: position, velocity, force and port")
    y = 104.0
    drawing.line([(40, y + 44), (420, y + 44)], GREY, 1.5)
    for x in (172.0, 228.0):
        drawing.circle((x, y + 37), 7, PAPER, INK)
    drawing.rectangle(140, y - 44, 120, 74, BODY, BODY_EDGE, 5)
    drawing.text((200, y), "{m}", PAPER, 21, "middle")
    drawing.line([(260, y - 7), (330, y - 7)], INK, 1)
    drawing.port((330, y - 7), 15)
    drawing.text((330, y + 23), "p", anchor="middle", mono=True)
    drawing.arrow((276, y - 35), (348, y - 35), MOTION, 2.8)
    drawing.text((296, y - 45), "{s}, {v}", MOTION, 19)
    drawing.arrow((350, y - 7), (414, y - 7), FORCE, 4)
    drawing.text((384, y - 19), "{F}", FORCE, 20, bold=True)
    drawing.text((40, 226), "all along the line, to the right", GREY, 15)
    drawing.text((316, 202), "{s}, {v}  motion, out", MOTION, 15)
    drawing.text((316, 226), "{F}  force, in", FORCE, 15)
    return drawing.svg()


def slider_mass_icon() -> str:
    icon = icon_paper("slider_mass")
    icon.line([(10, 100), (118, 100)], GREY, 3)
    icon.line([(78, 58), (106, 58)], INK, 2.4)
    for x in (32.0, 64.0):
        icon.circle((x, 91), 9, PAPER, INK, 2.4)
    icon.rectangle(16, 34, 64, 48, BODY, BODY_EDGE, 5)
    icon.text((48, 66), "{m}", PAPER, 26, "middle")
    icon.port((108, 58), 17)
    icon.text((108, 40), "p", size=19, anchor="middle", mono=True)
    return icon.svg()


PICTURES = {"drawing.svg": slider_mass_drawing}
ICON = slider_mass_icon
