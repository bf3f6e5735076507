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
