"""The pictures of prescribed_motion."""

from __future__ import annotations

import math

from fmu_builder.drawing import BODY, BODY_EDGE, FORCE, GREY, INK, MOTION, PAPER, Drawing, Point, icon_paper, world_axes


def prescribed_motion_drawing() -> str:
    drawing = Drawing(520, 310, "A frame on its path: position, velocity, rotation about an axis, force and port")
    ox, oy = 60.0, 272.0
    # the path: a straight line with a sine across, and the frame on it
    path = [(112 + 3.2 * i, 192 - 0.9 * i - 34 * math.sin(2 * math.pi * i / 60)) for i in range(101)]
    drawing.line(path, GREY, 1.6, "6 4")
    px, py = path[36]
    world_axes(drawing, (ox, oy), 70)
    # the body and its axes, turned by a
    a = math.radians(-24.0)
    x_axis, z_axis = (math.cos(a), math.sin(a)), (math.sin(a), -math.cos(a))

    def at(x: float, z: float) -> Point:
        return px + x * x_axis[0] + z * z_axis[0], py + x * x_axis[1] + z * z_axis[1]

    drawing.line([at(-40, -26), at(40, -26), at(40, 26), at(-40, 26)], BODY_EDGE, 2, fill="#c3d6ea")
    drawing.arrow((px, py), at(72, 0), INK, 1.8)
    drawing.arrow((px, py), at(0, 72), INK, 1.8)
    drawing.line([(px, py), (px + 96, py)], GREY, 1, "3 3")
    arc = [(px + 86 * math.cos(a * i / 12), py + 86 * math.sin(a * i / 12)) for i in range(11)]
    drawing.line(arc, INK, 1.4)
    drawing.arrow(arc[-2], (px + 86 * math.cos(a), py + 86 * math.sin(a)), INK, 1.4)
    drawing.text((px + 95, py - 14), "{a}", size=18)
    drawing.circle((px, py), 8, PAPER, INK, 1.6)
    drawing.circle((px, py), 2.5, INK)
    drawing.text((px - 14, py - 4), "{n}", size=17, anchor="end")
    drawing.arrow((ox, oy), (px - 8, py + 4), GREY, 2)
    drawing.text((124, 222), "{r}", GREY, 19)
    slope = (path[38][0] - path[34][0], path[38][1] - path[34][1])
    length = math.hypot(*slope)
    tip = (px + 104 * slope[0] / length, py + 104 * slope[1] / length)
    drawing.arrow((px, py), tip, MOTION, 2.8)
    drawing.text((tip[0] + 8, tip[1] + 14), "{v}", MOTION, 19)
    drawing.arrow((px, py), (px + 42, py - 112), FORCE, 4)
    drawing.text((px + 54, py - 104), "{f}", FORCE, 20, bold=True)
    # port
    corner = at(-40, 26)
    drawing.line([corner, (corner[0] - 30, corner[1] + 10)], INK, 1)
    drawing.port((corner[0] - 34, corner[1] + 11), 13)
    drawing.text((corner[0] - 46, corner[1] + 16), "port", anchor="end", mono=True, halo=PAPER)
    legend = (("{r}, {v}  given, out", MOTION), ("{a} about {n}  given, out", INK), ("{f}, {t}  in: work only", FORCE))
    for row, (text, color) in enumerate(legend):
        drawing.text((356, 240 + 25 * row), text, color, 15)
    return drawing.svg()


def prescribed_motion_icon() -> str:
    icon = icon_paper("prescribed_motion")
    icon.line([(26, 34), (102, 34), (102, 74), (26, 74)], BODY_EDGE, 2.6, fill=BODY)
    icon.port((64, 34), 17)
    icon.arrow((64, 54), (92, 54), PAPER, 4)
    icon.arrow((64, 54), (36, 54), PAPER, 4)
    icon.line([(14 + i, 98 - 15 * math.sin(2 * math.pi * i / 50)) for i in range(101)], MOTION, 3.6)
    return icon.svg()


PICTURES = {"drawing.svg": prescribed_motion_drawing}
ICON = prescribed_motion_icon
