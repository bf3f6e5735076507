"""The pictures of point_to_point_spring."""

from __future__ import annotations

import math

from fmu_builder.drawing import BODY, BODY_EDGE, FORCE, GREY, INK, MOTION, Drawing, Point, coil, icon_paper


def point_to_point_spring_drawing() -> str:
    drawing = Drawing(560, 340, "Two points in space and the spring and damper on the line between them")
    second, first = (150.0, 216.0), (410.0, 86.0)
    length = math.dist(first, second)
    n = ((first[0] - second[0]) / length, (first[1] - second[1]) / length)

    def at(u: float, v: float) -> Point:  # u along the line from second, v across
        return second[0] + u * n[0] - v * n[1], second[1] + u * n[1] + v * n[0]

    for (x, y), name, side in ((first, "first", 1), (second, "second", -1)):
        drawing.circle((x, y), 34, BODY, BODY_EDGE, 2)
        drawing.port((x, y), 14)
        drawing.text((x + 44 * side, y + 6), name, INK, 17, "start" if side > 0 else "end", mono=True)
    drawing.line([at(u, v) for u, v in coil(10.0, length - 10.0, 0.0, 15.0)], INK, 3)
    drawing.arrow(at(0, -62), at(length, -62), MOTION, 2)
    middle = at(0.5 * length, -78)
    drawing.text((middle[0] - 4, middle[1]), "{l}", MOTION, 20, "end")
    drawing.arrow(at(length - 40, 30), at(length - 96, 30), FORCE, 4)
    drawing.arrow(at(40, 30), at(96, 30), FORCE, 4)
    label = at(length - 74, 56)
    drawing.text((label[0], label[1] + 8), "{F}", FORCE, 20, "middle", bold=True)
    label = at(70, 56)
    drawing.text((label[0], label[1] + 8), "{F}", FORCE, 20, "middle", bold=True)
    label = at(0.5 * length, 34)
    drawing.text((label[0] + 14, label[1] + 22), "{k}, {l_0}, {d}", INK, 17, "middle")
    drawing.text((60, 298), "{F} = {k} ({l} − {l_0}) + {d} {l}' > 0: pulls the points together", FORCE, 15)
    drawing.text((60, 320), "{l}  distance of the points", MOTION, 15)
    return drawing.svg()


def point_to_point_spring_icon() -> str:
    icon = icon_paper("point_to_point_spring")
    icon.line([(24, 104), (104, 24)], GREY, 1.8, "6 4")
    c = math.sqrt(0.5)
    icon.line([(24 + c * (u - v), 104 - c * (u + v)) for u, v in coil(8.0, 80.0 / c - 8.0, 0.0, 12.0)], INK, 3.4)
    icon.port((24, 104), 17)
    icon.port((104, 24), 17)
    return icon.svg()


PICTURES = {"drawing.svg": point_to_point_spring_drawing}
ICON = point_to_point_spring_icon
