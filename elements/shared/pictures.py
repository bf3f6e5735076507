"""Drawings that several elements share: springs and dampers on one axis, points on lines."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fmu_builder.drawing import (
    BODY,
    BODY_EDGE,
    FORCE,
    GREY,
    HATCH,
    INK,
    MOTION,
    PAPER,
    Drawing,
    Point,
    coil,
    dashpot,
    icon_paper,
)


def between_shafts(title: str, law: str, legend: Sequence[tuple[str, str]], damper: bool = False) -> str:
    """Two shafts on one axis and what acts between them."""
    drawing = Drawing(560, 290, title)
    y = 120.0
    for x in (64.0, 496.0):
        drawing.line([(x, y), (280 + (x - 280) * 0.46, y)], BODY_EDGE, 7)
    if damper:
        dashpot(drawing, 182, 378, y, 26)
    else:
        drawing.line(coil(182, 378, y, 26), INK, 3)
    for x in (172.0, 378.0):
        drawing.rectangle(x, y - 46, 10, 92, BODY, BODY_EDGE)
    drawing.line([(20, y), (540, y)], GREY, 1, "10 3 2 3")
    for x, name in ((64.0, "r"), (496.0, "c")):
        drawing.port((x, y), 15)
        drawing.text((x, y + 30), name, anchor="middle", mono=True)
    # all along the axis by the right-hand rule
    for x, name in ((84.0, "{w_r}"), (404.0, "{w_c}")):
        drawing.arrow((x, y - 36), (x + 66, y - 36), MOTION, 2.8)
        drawing.text((x + 20, y - 46), name, MOTION, 19)
    drawing.arrow((150, y + 40), (84, y + 40), FORCE, 4)
    drawing.text((118, y + 66), "{t} on r", FORCE, 17, "middle", bold=True)
    drawing.arrow((404, y + 40), (470, y + 40), FORCE, 4)
    drawing.text((436, y + 66), "{t} on c", FORCE, 17, "middle", bold=True)
    drawing.text((280, y - 46), law, INK, 19, "middle")
    for row, (text, color) in enumerate((("arrows along the axis: right-hand rule", GREY), *legend)):
        drawing.text((140, 224 + 25 * row), text, color, 15)
    return drawing.svg()


def between_bodies(title: str, law: str, legend: Sequence[tuple[str, str]], damper: bool = False) -> str:
    """Two bodies on a line and what acts between them; r stands on the right, so that r ahead of c is a pull."""
    drawing = Drawing(560, 290, title)
    y = 120.0
    for x, name in ((64.0, "c"), (406.0, "r")):
        drawing.rectangle(x, y - 36, 90, 72, BODY, BODY_EDGE)
        drawing.text((x + 45, y + 6), name, PAPER, 19, "middle", mono=True)
    if damper:
        dashpot(drawing, 406, 154, y, 26)
    else:
        drawing.line(coil(154, 406, y, 24), INK, 3)
    for x in (154.0, 406.0):
        drawing.port((x, y), 15)
    for x, name in ((76.0, "{v_c}"), (418.0, "{v_r}")):
        drawing.arrow((x, y - 52), (x + 66, y - 52), MOTION, 2.8)
        drawing.text((x + 20, y - 62), name, MOTION, 19)
    drawing.arrow((166, y + 48), (232, y + 48), FORCE, 4)
    drawing.text((199, y + 74), "{F} on c", FORCE, 17, "middle", bold=True)
    drawing.arrow((394, y + 48), (328, y + 48), FORCE, 4)
    drawing.text((361, y + 74), "{F} on r", FORCE, 17, "middle", bold=True)
    drawing.text((280, y - 46), law, INK, 19, "middle")
    drawing.arrow((20, y + 74), (84, y + 74), INK, 1.8)
    drawing.text((40, y + 94), "{s}", size=17)
    for row, (text, color) in enumerate(legend):
        drawing.text((140, 236 + 25 * row), text, color, 15)
    return drawing.svg()


def two_port_icon(name: str, letter: str, ports: tuple[str, str], damper: bool = False) -> str:
    """`ports`: from left to right."""
    icon = icon_paper(name)
    if damper:
        dashpot(icon, *((24, 104) if ports[0] == "r" else (104, 24)), 58, 22, 4.5)
    else:
        icon.line(coil(24, 104, 58, 22, 4), BODY_EDGE, 4.5)
    icon.port((18, 58), 17)
    icon.port((110, 58), 17)
    icon.text((18, 92), ports[0], size=19, anchor="middle", mono=True)
    icon.text((110, 92), ports[1], size=19, anchor="middle", mono=True)
    icon.text((64, 112), letter, INK, 24, "middle")
    return icon.svg()


def guide_curve(left: float, right: float, y: float, height: float) -> list[Point]:
    """Points of a bent line, evenly spaced in x."""
    return [
        (left + (right - left) * i / 40, y - height * math.sin(math.pi * i / 40) ** 2 + 0.25 * height * i / 40)
        for i in range(41)
    ]


def point_line_drawing(forces: int) -> str:
    """A point held to a line by one transverse force, or by two."""
    shown = "foot, axes of the base plane, forces, ports" if forces == 2 else "foot, base plane, forces, ports"
    drawing = Drawing(560, 330, f"A point beside a line of points: {shown}")
    curve = guide_curve(30, 470, 246, 90)
    drawing.line(curve, BODY_EDGE, 4)
    for x, y in curve[::5]:
        drawing.circle((x, y), 5, BODY, BODY_EDGE, 1.6)
    # base plane at the foot
    fx, fy = curve[20]
    slope = math.atan2(curve[21][1] - curve[19][1], curve[21][0] - curve[19][0])
    tx, ty = math.cos(slope), math.sin(slope)
    nx, ny = ty, -tx  # up in the picture
    drawing.line([(fx - 40 * nx, fy - 40 * ny), (fx + 138 * nx, fy + 138 * ny)], HATCH, 1.6, dash="7 5")
    drawing.text((fx + 136 * nx - 10, fy + 134 * ny), "base plane", GREY, 14, "end")
    px, py = fx + 104 * nx, fy + 104 * ny
    if forces == 2:
        drawing.arrow((fx, fy), (fx + 46 * nx, fy + 46 * ny), INK, 2.2)
        drawing.text((fx + 38 * nx - 10, fy + 38 * ny + 4), "{V_1}", size=18, anchor="end")
        drawing.circle((fx, fy), 11, PAPER, INK, 1.8)
        drawing.text((fx - 14, fy + 26), "{V_2}", size=18, anchor="end")
    drawing.circle((fx, fy), 3, INK)
    drawing.text((fx + 14, fy + 30), "FLP", size=14)
    drawing.arrow((fx, fy), (fx + 92 * tx, fy + 92 * ty), INK, 2.2)
    drawing.text((fx + 98 * tx, fy + 98 * ty - 8), "{t}", size=18)
    # the point, its forces
    drawing.arrow((px, py), (px - 52 * nx, py - 52 * ny), FORCE, 4)
    drawing.text((px - 34 * nx + 12, py - 34 * ny + 2), "{F_r1}" if forces == 2 else "{F_r}", FORCE, 18, bold=True)
    drawing.arrow((px, py), (px + 84 * tx, py + 84 * ty), MOTION, 2.8)
    drawing.text((px + 90 * tx, py + 90 * ty - 4), "{v_long}", MOTION, 18)
    drawing.arrow((px, py), (px - 74 * tx, py - 74 * ty), FORCE, 3.4)
    drawing.text((px - 80 * tx, py - 80 * ty - 8), "{F_fr}", FORCE, 18, "end", bold=True)
    drawing.circle((px, py), 7, PAPER, INK, 2.4)
    drawing.line([(px, py), (px + 96, py - 42)], INK, 1)
    drawing.port((px + 96, py - 42), 13)
    drawing.text((px + 112, py - 37), "point", mono=True)
    # the line's body
    bx, by = curve[35]
    drawing.line([(bx, by), (bx + 52, by + 44)], INK, 1)
    drawing.port((bx + 52, by + 44), 13)
    drawing.text((bx + 68, by + 49), "body[j]", mono=True)
    texts = [
        ("{delta_1}, {delta_2}  of the point from FLP, along {V_1} and {V_2}", MOTION),
        ("{F_r1} = {k_r1} {delta_1} against {V_1}, {F_r2} = {k_r2} {delta_2} against {V_2}", FORCE),
    ]
    if forces == 1:
        texts = [
            ("{delta}  distance of the point from FLP", MOTION),
            ("{F_r} = {k_r} {delta} towards FLP, in any direction across the line", FORCE),
        ]
    for row, (text, color) in enumerate(texts):
        drawing.text((30, 288 + 26 * row), text, color, 15)
    return drawing.svg()


def point_line_icon(forces: int) -> str:
    icon = icon_paper(f"point_line_{forces}")
    curve = guide_curve(8, 120, 108, 36)
    icon.line(curve, BODY_EDGE, 5)
    for x, y in curve[::8]:
        icon.circle((x, y), 6, BODY, BODY_EDGE, 2)
    x, y = curve[20]
    if forces == 1:  # the same from every side
        icon.circle((x, y), 22, "none", FORCE, 2.5)
    icon.arrow((x, 22), (x, y - 8), FORCE, 5)
    icon.arrow((x + 10, 26), (x + 52, 26), MOTION, 4)
    icon.circle((x, 24), 10, PAPER, INK, 3)
    icon.port((x - 34, 24), 16)
    icon.port((112, 112), 16)
    return icon.svg()
