"""Drawings and plots as SVG text for the documentation of elements, and the signs of mechanical parts in them.

Lengths in px, y downwards; equal drawings give equal text on every platform."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Sequence
from html import escape

INK, GREY, FAINT, PAPER = "#1f2933", "#6b7885", "#d9dfe5", "#ffffff"
MATERIAL, HATCH = "#eceff3", "#9aa7b4"
BODY, BODY_EDGE = "#4f83bd", "#274b73"
FORCE, MOTION, NORMAL = "#c8321f", "#1d7a4f", "#1f2933"
CURVES = ("#1f4e8c", "#c8321f", "#1d7a4f", "#8a5a00")

_SYMBOL = re.compile(r"\{([^}_]+)(?:_([^}]+))?\}")

Point = tuple[float, float]


def _number(value: float) -> str:
    """At most one decimal: 0.1 px is below what a screen shows, and no platform rounds differently."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def _markup(text: str) -> str:
    """`{k_D}` becomes an italic k with the index D; all else stays upright."""

    def symbol(match: re.Match[str]) -> str:
        letter, index = match.group(1), match.group(2)
        italic = f'<tspan font-style="italic">{letter}</tspan>'
        return italic + (
            f'<tspan dy="4" font-size="75%">{index}</tspan><tspan dy="-4">&#8203;</tspan>' if index else ""
        )

    return _SYMBOL.sub(symbol, escape(text, quote=False))


class Drawing:
    """A picture of width x height px, y downwards, built up from the back to the front."""

    def __init__(self, width: float, height: float, title: str, paper: str | None = PAPER) -> None:
        self._head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_number(width)} {_number(height)}" '
            f'width="{_number(width)}" height="{_number(height)}" role="img" '
            "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">"
        )
        self._parts = [f"<title>{escape(title)}</title>"]
        if paper:
            self.rectangle(0, 0, width, height, paper)

    def svg(self) -> str:
        return "\n".join([self._head, *self._parts, "</svg>", ""])

    def rectangle(
        self, x: float, y: float, width: float, height: float, fill: str, edge: str = "none", radius: float = 0
    ) -> None:
        self._parts.append(
            f'<rect x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}" '
            f'rx="{_number(radius)}" fill="{fill}" stroke="{edge}"/>'
        )

    def clip(self, x: float, y: float, width: float, height: float) -> str:
        """The name of a rectangle outside of which a line is not drawn; a page may show several drawings."""
        name = f"clip-{hashlib.sha256(repr(self._parts).encode()).hexdigest()[:8]}"
        rectangle = f'<rect x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"/>'
        self._parts.append(f'<clipPath id="{name}">{rectangle}</clipPath>')
        return name

    def line(
        self,
        points: Sequence[Point],
        color: str = INK,
        width: float = 1.5,
        dash: str = "",
        fill: str = "none",
        clip: str = "",
    ) -> None:
        """A line through the points; with a `fill`, the area they enclose."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        dashes += f' clip-path="url(#{clip})"' if clip else ""
        text = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        name = "polyline" if fill == "none" else "polygon"
        self._parts.append(
            f'<{name} points="{text}" fill="{fill}" stroke="{color}" stroke-width="{_number(width)}"{dashes} '
            'stroke-linejoin="round" stroke-linecap="butt"/>'
        )

    def circle(self, center: Point, radius: float, fill: str, edge: str = INK, width: float = 1.5) -> None:
        x, y = center
        self._parts.append(
            f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{_number(radius)}" fill="{fill}" stroke="{edge}" '
            f'stroke-width="{_number(width)}"/>'
        )

    def arrow(self, start: Point, end: Point, color: str = INK, width: float = 2.5, dash: str = "") -> None:
        """A straight arrow whose tip is exactly at `end`."""
        length = math.hypot(end[0] - start[0], end[1] - start[1])
        ux, uy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
        head, half = 4.2 * width, 1.7 * width
        neck = (end[0] - head * ux, end[1] - head * uy)
        self.line([start, neck], color, width, dash)
        self.line(
            [end, (neck[0] - half * uy, neck[1] + half * ux), (neck[0] + half * uy, neck[1] - half * ux)],
            color,
            0.5,
            fill=color,
        )

    def text(
        self,
        at: Point,
        text: str,
        color: str = INK,
        size: float = 15,
        anchor: str = "start",
        bold: bool = False,
        mono: bool = False,
        halo: str = "",
    ) -> None:
        """Text on its base line; a `halo` in the color of the ground keeps lines away from it."""
        family = " font-family=\"Menlo, Consolas, 'DejaVu Sans Mono', monospace\"" if mono else ""
        weight = ' font-weight="bold"' if bold else ""
        around = f' stroke="{halo}" stroke-width="5" stroke-linejoin="round" paint-order="stroke"' if halo else ""
        self._parts.append(
            f'<text x="{_number(at[0])}" y="{_number(at[1])}" font-size="{_number(size)}" fill="{color}" '
            f'text-anchor="{anchor}"{weight}{family}{around}>{_markup(text)}</text>'
        )

    def port(self, at: Point, size: float = 11) -> None:
        """A port: a square, as simulators draw them."""
        self.rectangle(at[0] - size / 2, at[1] - size / 2, size, size, PAPER, INK)
        self.rectangle(at[0] - size / 4, at[1] - size / 4, size / 2, size / 2, INK)

    def material(self, left: float, right: float, top: float, bottom: float, pitch: float, width: float = 1.2) -> None:
        """A hatched body whose upper side is its surface."""
        self.rectangle(left, top, right - left, bottom - top, MATERIAL)
        depth = bottom - top
        start = left - depth
        while start < right:
            # from the lower left to the upper right, cut at the sides
            begin, end = max(start, left), min(start + depth, right)
            if end > begin:
                self.line([(begin, bottom - (begin - start)), (end, bottom - (end - start))], HATCH, width)
            start += pitch


def icon_paper(name: str) -> Drawing:
    """The framed sheet that an icon is drawn on: 128 x 128 px."""
    icon = Drawing(128, 128, name, paper=None)
    icon.rectangle(1, 1, 126, 126, PAPER, HATCH, 10)
    return icon


# ---- plots -----------------------------------------------------------------------------------------------------------


class Plot:
    """Axes with a grid; `x_scale` is "linear" or "log"."""

    def __init__(
        self,
        title: str,
        x_range: Point,
        y_range: Point,
        x_label: str,
        y_label: str,
        x_ticks: Iterable[float],
        y_ticks: Iterable[float],
        x_scale: str = "linear",
    ) -> None:
        self._left, self._right, self._top, self._bottom = 66.0, 446.0, 36.0, 270.0
        self._x_range, self._y_range, self._log = x_range, y_range, x_scale == "log"
        self.drawing = Drawing(560, 330, title)
        for tick in x_ticks:
            x, _ = self.at(tick, y_range[0])
            self.drawing.line([(x, self._top), (x, self._bottom)], FAINT, 1)
            self.drawing.text((x, self._bottom + 19), f"{tick:g}".replace("-", "−"), GREY, 13, "middle")
        for tick in y_ticks:
            _, y = self.at(x_range[0], tick)
            self.drawing.line([(self._left, y), (self._right, y)], FAINT, 1)
            self.drawing.text((self._left - 9, y + 4.5), f"{tick:g}".replace("-", "−"), GREY, 13, "end")
        self.drawing.line([(self._left, self._top), (self._left, self._bottom), (self._right, self._bottom)], GREY, 1.2)
        self.drawing.text(((self._left + self._right) / 2, self._bottom + 45), x_label, anchor="middle")
        self.drawing.text((12, 18), y_label)

    def at(self, x: float, y: float) -> Point:
        low, high = self._x_range
        share = math.log(x / low) / math.log(high / low) if self._log else (x - low) / (high - low)
        height = (y - self._y_range[0]) / (self._y_range[1] - self._y_range[0])
        return self._left + share * (self._right - self._left), self._bottom - height * (self._bottom - self._top)

    def curve(
        self, f: Callable[[float], float], color: str, label: str = "", dash: str = "", samples: int = 121
    ) -> None:
        """f over the whole axis, with its label at the right end."""
        low, high = self._x_range
        shares = [i / (samples - 1) for i in range(samples)]
        xs = [low * (high / low) ** s if self._log else low + s * (high - low) for s in shares]
        self.polyline([(x, f(x)) for x in xs], color, label, dash)

    def polyline(self, points: Sequence[Point], color: str, label: str = "", dash: str = "") -> None:
        placed = [self.at(x, y) for x, y in points]
        self.drawing.line(placed, color, 2.2, dash)
        if label:
            self.drawing.text((placed[-1][0] + 8, placed[-1][1] + 5), label, color, 14)


# ---- signs of mechanical parts ---------------------------------------------------------------------------------------


def coil(left: float, right: float, y: float, height: float, turns: int = 5) -> list[Point]:
    """A spring seen from the side, with a straight end on either side."""
    end = (right - left) / (2 * turns + 4)
    inner = [(left + end * (2.5 + i), y + (height if i % 2 else -height)) for i in range(2 * turns)]
    return [(left, y), (left + 2 * end, y), *inner, (right - 1.5 * end, y), (right, y)]


def dashpot(drawing: Drawing, left: float, right: float, y: float, height: float, width: float = 3) -> None:
    """A damper seen from the side: a piston on its rod from the left, in a cylinder that is open to the left."""
    size = right - left
    piston, mouth, bottom = left + 0.52 * size, left + 0.34 * size, left + 0.72 * size
    drawing.line([(mouth, y - height), (bottom, y - height), (bottom, y + height), (mouth, y + height)], INK, width)
    drawing.line([(left, y), (piston, y)], INK, width)
    drawing.line([(piston, y - 0.78 * height), (piston, y + 0.78 * height)], INK, 2 * width)
    drawing.line([(bottom, y), (right, y)], INK, width)


def slab(
    drawing: Drawing, center: Point, half: Point, angle: float, edge: float = 2
) -> Callable[[float, float], Point]:
    """A body in the plane, turned by the angle; returns where what is at (x, y) in its axes, y upwards, is drawn."""
    c, s = math.cos(angle), math.sin(angle)

    def at(x: float, y: float) -> Point:
        return center[0] + x * c - y * s, center[1] - x * s - y * c

    (a, b) = half
    corners = [at(-a, -b), at(a, -b), at(a, b), at(-a, b)]
    drawing.line(corners, BODY_EDGE, edge, fill="#c3d6ea")
    return at


def mass_center(drawing: Drawing, at: Point, radius: float) -> None:
    """The sign of a centre of mass: a circle with two quarters filled."""
    x, y = at
    drawing.circle(at, radius, PAPER, INK, 1.4)
    for sign in (1, -1):
        arc = [(math.cos(math.pi / 2 * i / 8), math.sin(math.pi / 2 * i / 8)) for i in range(9)]
        points = [(x + sign * radius * u, y - sign * radius * v) for u, v in arc]
        drawing.line([at, *points], INK, 0.5, fill=INK)


def world_axes(drawing: Drawing, origin: Point, length: float) -> None:
    """The axes x and z of the world, each of the length."""
    x, y = origin
    drawing.arrow(origin, (x, y - length), INK, 1.8)
    drawing.arrow(origin, (x + length, y), INK, 1.8)
    drawing.text((x + 8, y - length + 10), "{z}", size=15)
    drawing.text((x + length - 8, y - 8), "{x}", size=15)
    drawing.text((x - 8, y + 22), "world", GREY, 14, "middle")
    drawing.circle(origin, 3, INK)


def turn(drawing: Drawing, center: Point, radius: float, start: float, end: float, color: str, width: float) -> None:
    """An arrow along a circle, angles in degrees, counted from x towards y upwards."""
    steps = [math.radians(start + (end - start) * i / 12) for i in range(13)]
    points = [(center[0] + radius * math.cos(a), center[1] - radius * math.sin(a)) for a in steps]
    drawing.line(points[:-1], color, width)
    drawing.arrow(points[-3], points[-1], color, width)


# ---- drawings that several elements share ----------------------------------------------------------------------------


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
