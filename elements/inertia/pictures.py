"""The pictures of inertia."""

from __future__ import annotations

from fmu_builder.drawing import BODY, BODY_EDGE, FORCE, GREY, MOTION, PAPER, Drawing, icon_paper


def inertia_drawing() -> str:
    drawing = Drawing(460, 250, "A disc on a shaft: angle, angular velocity, torque and port")
    y = 104.0
    drawing.line([(96, y), (330, y)], BODY_EDGE, 8)
    drawing.rectangle(176, y - 68, 36, 136, BODY, BODY_EDGE, 5)
    drawing.line([(40, y), (420, y)], GREY, 1, "10 3 2 3")
    drawing.text((194, y + 26), "{J}", PAPER, 21, "middle")
    drawing.port((330, y), 15)
    drawing.text((330, y + 30), "p", anchor="middle", mono=True)
    # along the axis by the right-hand rule
    drawing.arrow((232, y - 28), (304, y - 28), MOTION, 2.8)
    drawing.text((252, y - 38), "{φ}, {w}", MOTION, 19)
    drawing.arrow((232, y + 36), (304, y + 36), FORCE, 4)
    drawing.text((262, y + 62), "{t}", FORCE, 20, bold=True)
    drawing.text((40, 226), "along the axis: right-hand rule", GREY, 15)
    drawing.text((316, 202), "{φ}, {w}  motion, out", MOTION, 15)
    drawing.text((316, 226), "{t}  torque, in", FORCE, 15)
    return drawing.svg()


def inertia_icon() -> str:
    icon = icon_paper("inertia")
    icon.line([(22, 64), (108, 64)], BODY_EDGE, 8)
    icon.rectangle(38, 18, 34, 92, BODY, BODY_EDGE, 5)
    icon.text((55, 72), "{J}", PAPER, 26, "middle")
    icon.port((106, 64), 17)
    icon.text((106, 46), "p", size=19, anchor="middle", mono=True)
    return icon.svg()


PICTURES = {"drawing.svg": inertia_drawing}
ICON = inertia_icon
