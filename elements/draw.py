"""The pictures of the elements: drawings, plots and icons, and the restitution table of point_surface.

    python elements/draw.py          writes every SVG, and the table in elements/point_surface/README.md
    python elements/draw.py --png    also every model.png, through a Chromium on the PATH

Plots are drawn from the closed forms in elements/point_surface/cases/references.py, not from the code of the element;
those of laws from their texts, by fmu_builder/law_numpy.py.
A PNG carries the hash of the SVG it was made from, so that a test finds stale ones without a browser.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import math
import re
import shutil
import struct
import subprocess
import tempfile
import tomllib
import zlib
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from types import ModuleType

from fmu_builder.element_docs import replace_section, write_text
from fmu_builder.errors import FmuBuilderError, ToolError
from fmu_builder.law_numpy import evaluate
from fmu_builder.law_tree import Source
from fmu_builder.laws import Laws, read_laws
from fmu_builder.trace import Trace, read_trace

ELEMENTS = Path(__file__).resolve().parent

INK, GREY, FAINT, PAPER = "#1f2933", "#6b7885", "#d9dfe5", "#ffffff"
MATERIAL, HATCH = "#eceff3", "#9aa7b4"
BODY, BODY_EDGE = "#4f83bd", "#274b73"
FORCE, MOTION, NORMAL = "#c8321f", "#1d7a4f", "#1f2933"
CURVES = ("#1f4e8c", "#c8321f", "#1d7a4f", "#8a5a00")

ICON_SIZE = 256  # px; palettes scale it down
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HASH_KEYWORD = b"svg-sha256"
_SYMBOL = re.compile(r"\{([^}_]+)(?:_([^}]+))?\}")

Point = tuple[float, float]


# ---- SVG text ----------------------------------------------------------------------------------------------------


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

    def line(
        self, points: Sequence[Point], color: str = INK, width: float = 1.5, dash: str = "", fill: str = "none"
    ) -> None:
        """A line through the points; with a `fill`, the area they enclose."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
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


# ---- the elements ------------------------------------------------------------------------------------------------


def point_surface_drawing() -> str:
    drawing = Drawing(560, 310, "A point of one body below the surface of another: depth, normal, force, ports")
    top, px, py = 180.0, 270.0, 240.0
    drawing.material(40, 520, top, 292, 14)
    # the body that carries the point
    drawing.line([(px, py), (px - 172, py - 206), (px - 148, py - 224)], BODY_EDGE, 1.5, fill="#c3d6ea")
    drawing.line([(40, top), (520, top)], INK, 2.5)
    # depth
    drawing.line([(px, top), (px, py)], INK, 1.2, dash="4 3")
    drawing.line([(px + 76, py), (px + 160, py)], GREY, 1)
    drawing.arrow((px + 150, py - 22), (px + 150, py), INK, 1.4)
    drawing.arrow((px + 150, top + 22), (px + 150, top + 1), INK, 1.4)
    drawing.text((px + 150, top + 36), "{h}", size=18, anchor="middle", halo=MATERIAL)
    # normal at the closest point, force, velocity
    drawing.arrow((px, top), (px, top - 78), NORMAL, 2.5)
    drawing.text((px + 11, top - 62), "{n}", size=18)
    drawing.circle((px, top), 4, PAPER)
    drawing.text((px + 10, top - 9), "{Q}", size=16)
    drawing.arrow((px, py), (px - 42, py - 142), FORCE, 4)
    drawing.text((px - 54, py - 146), "{F}", FORCE, 21, "end", bold=True)
    drawing.arrow((px, py), (px + 68, py), MOTION, 2.5)
    drawing.text((px + 46, py - 10), "{v_t}", MOTION, 17, halo=MATERIAL)
    drawing.arrow((px, py), (px, py + 42), MOTION, 2.5)
    drawing.text((px + 10, py + 38), "{w}", MOTION, 17, halo=MATERIAL)
    drawing.circle((px, py), 7, BODY, BODY_EDGE, 2)
    drawing.text((px - 22, py + 12), "{P}", size=17, anchor="middle", halo=MATERIAL)
    # ports
    drawing.line([(px - 162, py - 214), (px - 186, py - 214)], INK, 1)
    drawing.port((px - 190, py - 214), 13)
    drawing.text((px - 203, py - 209), "point", anchor="end", mono=True)
    drawing.arrow((124, top), (124, top - 46), INK, 1.8)
    drawing.arrow((124, top), (170, top), INK, 1.8)
    drawing.text((132, top - 36), "{z}", size=15)
    drawing.text((160, top - 9), "{x}", size=15)
    drawing.port((124, top), 13)
    drawing.text((112, top - 11), "surface", anchor="end", mono=True)
    # legend
    for row, (text, color) in enumerate(
        [
            ("{h}  depth, > 0 in contact", INK),
            ("{w} = d{h}/d{t}, > 0 approaching", MOTION),
            ("{v_t}  slip", MOTION),
            ("{F}  force on the point", FORCE),
            ("{n}  outward normal", NORMAL),
        ]
    ):
        drawing.text((336, 30 + 25 * row), text, color, 15)
    return drawing.svg()


def surfaces_drawing() -> str:
    """Sections of all kinds with their dimensions, each with material and normal as from outside."""
    drawing = Drawing(720, 420, "The kinds of surface in section: dimensions, normal, axis, profile")

    def panel(column: int, row: int, name: str, first: str, second: str) -> Callable[[float, float], Point]:
        left, base = 180.0 * column, 210.0 * row
        drawing.text((left + 90, base + 24), name, size=15, anchor="middle", bold=True, mono=True)
        drawing.arrow((left + 16, base + 196), (left + 44, base + 196), GREY, 1.1)
        drawing.arrow((left + 16, base + 196), (left + 16, base + 168), GREY, 1.1)
        drawing.text((left + 48, base + 200), f"{{{first}}}", GREY, 13)
        drawing.text((left + 12, base + 162), f"{{{second}}}", GREY, 13)
        return lambda x, y: (left + 90 + x, base + 115 - y)

    def axis(at: Callable[[float, float], Point], low: float = -68, high: float = 72) -> None:
        drawing.line([at(0, low), at(0, high)], GREY, 1, "7 3 2 3")

    def normal(at: Callable[[float, float], Point], foot: Point, way: Point) -> None:
        end = (foot[0] + 28 * way[0], foot[1] + 28 * way[1])
        drawing.arrow(at(*foot), at(*end), NORMAL, 1.8)
        drawing.text(at(end[0] + 9 * way[0] + 4, end[1] + 7 * way[1] - 5), "{n}", size=14, anchor="middle")

    def body(at: Callable[[float, float], Point], points: Sequence[Point]) -> None:
        drawing.line([at(*p) for p in points], "none", 0, fill=MATERIAL)

    def edge(at: Callable[[float, float], Point], points: Sequence[Point], dash: str = "") -> None:
        drawing.line([at(*p) for p in points], INK, 1.2 if dash else 2.2, dash)

    def size(at: Callable[[float, float], Point], start: Point, end: Point, text: str, place: Point) -> None:
        drawing.arrow(at(*start), at(*end), MOTION, 1.2)
        drawing.text(at(*place), text, MOTION, 12, "middle", halo=PAPER)

    at = panel(0, 0, "plane", "x", "z")
    body(at, [(-70, 0), (70, 0), (70, -40), (-70, -40)])
    edge(at, [(-84, 0), (84, 0)], "3 3")
    edge(at, [(-45, 0), (45, 0)])
    normal(at, (0, 0), (0, 1))
    drawing.text(at(-45, 8), "x[1]", MOTION, 12, "middle")
    drawing.text(at(45, 8), "x[2]", MOTION, 12, "middle")

    at = panel(1, 0, "disc", "x", "z")
    body(at, [(-50, 0), (50, 0), (50, -40), (-50, -40)])
    axis(at, -50, 50)
    edge(at, [(-84, 0), (84, 0)], "3 3")
    edge(at, [(-50, 0), (50, 0)])
    normal(at, (-24, 0), (0, 1))
    size(at, (0, 12), (50, 12), "radius", (28, 17))

    at = panel(2, 0, "sphere", "x", "z")
    drawing.circle(at(0, 0), 50, MATERIAL, INK, 2.2)
    normal(at, (-30, 40), (-0.6, 0.8))
    size(at, (0, 0), (50, 0), "radius", (24, 5))

    at = panel(3, 0, "cylinder", "x", "z")
    body(at, [(-34, 55), (34, 55), (34, -55), (-34, -55)])
    axis(at)
    edge(at, [(-34, 55), (-34, -55)])
    edge(at, [(34, 55), (34, -55)])
    normal(at, (34, 26), (1, 0))
    size(at, (0, -30), (34, -30), "radius", (58, -34))
    drawing.line([at(-50, 55), at(-50, -55)], MOTION, 1.2)
    drawing.text(at(-64, -2), "length", MOTION, 12, "middle", halo=PAPER)

    at = panel(0, 1, "cone", "x", "z")
    body(at, [(-12, -36), (12, -36), (44, 60), (-44, 60)])
    axis(at, -80, 74)
    for s in (-1, 1):
        edge(at, [(0, -72), (s * 12, -36)], "3 3")
        edge(at, [(s * 12, -36), (s * 44, 60)])
    normal(at, (24, 0), (0.95, -0.32))
    drawing.text(at(14, 24), "angle", MOTION, 12, "middle")
    drawing.line([at(0, 14), at(6, 15), at(12, 13), at(19, 9), at(26, 6)], MOTION, 1.2)
    drawing.text(at(-44, -40), "z[1]", MOTION, 12, "middle")
    drawing.text(at(-62, 56), "z[2]", MOTION, 12, "middle")

    at = panel(1, 1, "torus", "x", "z")
    axis(at, -50, 50)
    for s in (-1, 1):
        drawing.circle(at(s * 50, 0), 22, MATERIAL, INK, 2.2)
    normal(at, (-62, 18), (-0.55, 0.84))
    size(at, (0, 0), (50, 0), "major_radius", (20, -40))
    drawing.line([at(20, -28), at(24, -2)], MOTION, 0.8)
    size(at, (50, 0), (50, 22), "minor_radius", (44, 30))

    right = [(26, -55), (38, -40), (44, -20), (38, 4), (27, 24), (24, 40), (31, 56)]
    at = panel(2, 1, "revolution", "p", "z")
    body(at, [*right, *((-x, y) for x, y in reversed(right))])
    axis(at)
    edge(at, [(-x, y) for x, y in right], "3 3")
    edge(at, right)
    drawing.arrow(at(31, -49), at(40, -34), MOTION, 2)
    drawing.text(at(48, -58), "profile", MOTION, 12)
    normal(at, (37, 6), (0.87, 0.5))

    at = panel(3, 1, "extrusion", "x", "y")
    section = [(-50, -40), (50, -40), (30, 20), (-30, 20), (-50, -40)]
    body(at, section)
    edge(at, section)
    drawing.arrow(at(-24, -40), at(16, -40), MOTION, 2)
    drawing.text(at(0, -58), "profile", MOTION, 12, "middle")
    normal(at, (-6, 20), (0, 1))
    drawing.text(at(2, -12), "length: {z}", MOTION, 12, "middle")
    return drawing.svg()


def point_surface_icon() -> str:
    icon = Drawing(128, 128, "point_surface", paper=None)
    icon.rectangle(1, 1, 126, 126, PAPER, HATCH, 10)
    icon.material(10, 118, 78, 116, 11, 1.6)
    icon.line([(10, 78), (118, 78)], INK, 3.2)
    icon.circle((56, 60), 25, BODY, BODY_EDGE, 2.6)
    icon.arrow((56, 85), (56, 15), FORCE, 5)
    icon.text((66, 28), "{F}", FORCE, 21, bold=True)
    icon.arrow((98, 78), (98, 44), INK, 3)
    icon.text((105, 58), "{n}", INK, 19)
    return icon.svg()


def point_mass_drawing() -> str:
    drawing = Drawing(440, 290, "A particle with its position, velocity, force and gravity")
    ox, oy, px, py = 60.0, 240.0, 210.0, 135.0
    drawing.arrow((ox, oy), (ox, oy - 70), INK, 1.8)
    drawing.arrow((ox, oy), (ox + 70, oy), INK, 1.8)
    drawing.text((ox + 8, oy - 60), "{z}", size=15)
    drawing.text((ox + 62, oy - 8), "{x}", size=15)
    drawing.text((ox - 8, oy + 22), "world", GREY, 14, "middle")
    drawing.circle((ox, oy), 3, INK)
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
    icon = Drawing(128, 128, "point_mass", paper=None)
    icon.rectangle(1, 1, 126, 126, PAPER, HATCH, 10)
    icon.line([(78, 48), (106, 48)], INK, 2.4)
    icon.circle((52, 48), 32, BODY, BODY_EDGE, 2.6)
    icon.circle((42, 37), 8, "#86abd6", "none", 0)
    icon.text((53, 57), "{m}", PAPER, 26, "middle")
    icon.port((108, 48), 17)
    icon.text((108, 30), "p", size=19, anchor="middle", mono=True)
    icon.arrow((52, 82), (52, 119), INK, 4)
    icon.text((63, 112), "{g}", INK, 22)
    return icon.svg()


def prescribed_motion_drawing() -> str:
    drawing = Drawing(520, 310, "A frame on its path: position, velocity, rotation about an axis, force and port")
    ox, oy = 60.0, 272.0
    # the path: a straight line with a sine across, and the frame on it
    path = [(112 + 3.2 * i, 192 - 0.9 * i - 34 * math.sin(2 * math.pi * i / 60)) for i in range(101)]
    drawing.line(path, GREY, 1.6, "6 4")
    px, py = path[36]
    drawing.arrow((ox, oy), (ox, oy - 70), INK, 1.8)
    drawing.arrow((ox, oy), (ox + 70, oy), INK, 1.8)
    drawing.text((ox + 8, oy - 60), "{z}", size=15)
    drawing.text((ox + 62, oy - 8), "{x}", size=15)
    drawing.text((ox - 8, oy + 22), "world", GREY, 14, "middle")
    drawing.circle((ox, oy), 3, INK)
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
    icon = Drawing(128, 128, "prescribed_motion", paper=None)
    icon.rectangle(1, 1, 126, 126, PAPER, HATCH, 10)
    icon.line([(26, 34), (102, 34), (102, 74), (26, 74)], BODY_EDGE, 2.6, fill=BODY)
    icon.port((64, 34), 17)
    icon.arrow((64, 54), (92, 54), PAPER, 4)
    icon.arrow((64, 54), (36, 54), PAPER, 4)
    icon.line([(14 + i, 98 - 15 * math.sin(2 * math.pi * i / 50)) for i in range(101)], MOTION, 3.6)
    return icon.svg()


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
    icon = Drawing(128, 128, name, paper=None)
    icon.rectangle(1, 1, 126, 126, PAPER, HATCH, 10)
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


def rotational_spring_drawing() -> str:
    legend = (
        ("{θ}  angle of r ahead of c, {θ}' = {w_r} − {w_c}", MOTION),
        ("{t} = {k} {θ}: turns r back and c along", FORCE),
    )
    return between_shafts(
        "Two shafts on one axis and the spring between them: speeds, torques, ports", "{θ}, {k}", legend
    )


def rotational_damper_drawing() -> str:
    legend = (
        ("{w} = {w_r} − {w_c}: r turns faster than c", MOTION),
        ("{t} = {d} {w}: slows r down and takes c along", FORCE),
    )
    title = "Two shafts on one axis and the damper between them: speeds, torques, ports"
    return between_shafts(title, "{w}, {d}", legend, damper=True)


def translational_spring_drawing() -> str:
    legend = (
        ("{x}  r ahead of c beyond the relaxed length, {x}' = {v_r} − {v_c}", MOTION),
        ("{F} = {k} {x}: pulls r back and c along", FORCE),
    )
    return between_bodies("Two bodies on a line and the spring between them: speeds, forces, ports", "{x}, {k}", legend)


def translational_damper_drawing() -> str:
    legend = (
        ("{v} = {v_r} − {v_c}: r is faster than c", MOTION),
        ("{F} = {d} {v}: slows r down and takes c along", FORCE),
    )
    title = "Two bodies on a line and the damper between them: speeds, forces, ports"
    return between_bodies(title, "{v}, {d}", legend, damper=True)


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
    icon = Drawing(128, 128, "slider_mass", paper=None)
    icon.rectangle(1, 1, 126, 126, PAPER, HATCH, 10)
    icon.line([(10, 100), (118, 100)], GREY, 3)
    icon.line([(78, 58), (106, 58)], INK, 2.4)
    for x in (32.0, 64.0):
        icon.circle((x, 91), 9, PAPER, INK, 2.4)
    icon.rectangle(16, 34, 64, 48, BODY, BODY_EDGE, 5)
    icon.text((48, 66), "{m}", PAPER, 26, "middle")
    icon.port((108, 58), 17)
    icon.text((108, 40), "p", size=19, anchor="middle", mono=True)
    return icon.svg()


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
    icon = Drawing(128, 128, "inertia", paper=None)
    icon.rectangle(1, 1, 126, 126, PAPER, HATCH, 10)
    icon.line([(22, 64), (108, 64)], BODY_EDGE, 8)
    icon.rectangle(38, 18, 34, 92, BODY, BODY_EDGE, 5)
    icon.text((55, 72), "{J}", PAPER, 26, "middle")
    icon.port((106, 64), 17)
    icon.text((106, 46), "p", size=19, anchor="middle", mono=True)
    return icon.svg()


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


def turn(drawing: Drawing, center: Point, radius: float, start: float, end: float, color: str, width: float) -> None:
    """An arrow along a circle, angles in degrees, counted from x towards y upwards."""
    steps = [math.radians(start + (end - start) * i / 12) for i in range(13)]
    points = [(center[0] + radius * math.cos(a), center[1] - radius * math.sin(a)) for a in steps]
    drawing.line(points[:-1], color, width)
    drawing.arrow(points[-3], points[-1], color, width)


CHAIN = (0.3, 0.1, 0.3, 0.3)  # lengths of Lipinski's chain, m
CAMS = {"concave": (0.0, -0.595, 0.5, 0.5), "convex": (0.0, 0.357, -0.3, -0.3)}


def chain_ends(q: Sequence[float]) -> list[Point]:
    """Beginning and end of each link of Lipinski's chain, one after the other, m; the third slides along the second."""
    at, ends = (0.0, 0.0), []
    for i, angle in enumerate((q[0], q[0] + q[1], q[0] + q[1], q[0] + q[1] + q[3])):
        way = q[2] if i == 2 else 0.0
        begin = (at[0] + way * math.cos(angle), at[1] + way * math.sin(angle))
        at = (begin[0] + CHAIN[i] * math.cos(angle), begin[1] + CHAIN[i] * math.sin(angle))
        ends += [begin, at]
    return ends


def chain_lines(
    drawing: Drawing, ends: Sequence[Point], at: Callable[[Point], Point], width: float, color: str = BODY
) -> None:
    """The links, from the last to the first, and their joints: the slider as a box, on a thin guide."""
    drawing.line([at(ends[3]), at(ends[4])], GREY, 1.2)
    for i in (3, 2, 1, 0):
        begin, end = at(ends[2 * i]), at(ends[2 * i + 1])
        drawing.line([begin, end], color if i != 1 else BODY_EDGE, width if i != 1 else 1.7 * width)
    for i in (0, 1, 3):
        drawing.circle(at(ends[2 * i]), 0.8 * width, PAPER, INK, 1.3)
    drawing.circle(at(ends[-1]), 0.5 * width, FORCE, FORCE, 1)


def cam_line(
    drawing: Drawing, cam: Sequence[float], at: Callable[[Point], Point], low: float, high: float, floor: float
) -> None:
    """The profile from x = low to high, m, with its material below, down to y = floor."""
    curve = [(x, sum(c * x**k for k, c in enumerate(cam))) for x in (low + (high - low) * i / 40 for i in range(41))]
    drawing.line([at((high, floor)), at((low, floor)), *map(at, curve)], MATERIAL, 0.5, fill=MATERIAL)
    drawing.line([*map(at, curve)], INK, 2.2)


def planar_mechanism_drawing() -> str:
    drawing = Drawing(600, 372, "A chain of four bodies with its tip on a profile, its joints q1 to q4 and the forces")
    ends = chain_ends((1.15, -1.05, 0.1, -0.55))

    def at(p: Point) -> Point:
        return 70 + 470 * p[0], 260 - 470 * p[1]

    lift = ends[-1][1] - (-0.595 * ends[-1][0] + 0.5 * ends[-1][0] ** 2 + 0.5 * ends[-1][0] ** 3)
    cam_line(drawing, (lift, -0.595, 0.5, 0.5), at, 0.42, 0.98, -0.17)
    drawing.material(44, 96, 268, 284, 8)
    drawing.arrow(at((0, 0)), at((0.19, 0)), GREY, 1.4)
    drawing.arrow(at((0, 0)), at((0, 0.19)), GREY, 1.4)
    drawing.text((at((0.19, 0))[0] - 6, at((0, 0))[1] + 16), "{x}", GREY, 15, "middle")
    drawing.text((at((0, 0))[0] - 8, at((0, 0.19))[1] + 6), "{y}", GREY, 15, "end")
    chain_lines(drawing, ends, at, 9)
    turn(drawing, at((0, 0)), 62, 0, 62, INK, 1.4)
    drawing.text((142, 226), "{q_1}", size=18)
    joint, angle = at(ends[2]), math.degrees(1.15)
    drawing.line([joint, (joint[0] + 92 * math.cos(1.15), joint[1] - 92 * math.sin(1.15))], GREY, 1, "4 3")
    turn(drawing, joint, 78, angle, math.degrees(0.1) + 4, INK, 1.4)
    drawing.text((joint[0] + 70, joint[1] - 52), "{q_2}", size=18)
    end_2, begin_3 = at(ends[3]), at(ends[4])
    drawing.line([(end_2[0], end_2[1] + 8), (end_2[0] + 4, end_2[1] + 42)], GREY, 1)
    drawing.line([(begin_3[0], begin_3[1] + 8), (begin_3[0] + 4, begin_3[1] + 42)], GREY, 1)
    drawing.arrow((end_2[0] + 3, end_2[1] + 36), (begin_3[0] + 3, begin_3[1] + 36), INK, 1.4)
    drawing.text(((end_2[0] + begin_3[0]) / 2 + 4, end_2[1] + 52), "{q_3}", size=18, anchor="middle")
    joint = at(ends[6])
    drawing.line([joint, (joint[0] + 78, joint[1] - 78 * math.tan(0.1))], GREY, 1, "4 3")
    turn(drawing, joint, 62, math.degrees(0.1), math.degrees(-0.45) + 4, INK, 1.4)
    drawing.text((joint[0] + 66, joint[1] + 10), "{q_4}", size=18)
    tip, slope = at(ends[-1]), -0.595 + ends[-1][0] + 1.5 * ends[-1][0] ** 2
    size = math.hypot(1.0, slope)
    drawing.arrow(tip, (tip[0] - 74 * slope / size, tip[1] - 74 / size), FORCE, 4)
    drawing.text((tip[0] - 74 * slope / size + 6, tip[1] - 84), "{N} = −{λ} √(1 + {f}′²)", FORCE, 17)
    drawing.text((at((0.62, 0))[0], 334), "{y} = {f} ({x})", size=16)
    drawing.text((250, 34), "{M} {q̈} + {F} + {Q} + {J}ᵀ {λ} = 0,   {h} ({q}) = 0", size=18)
    drawing.text((250, 58), "here {h} = {y} − {f} ({x}) of the tip", GREY, 15)
    return drawing.svg()


def planar_mechanism_icon() -> str:
    icon = Drawing(128, 128, "planar_mechanism", paper=None)
    icon.rectangle(1, 1, 126, 126, PAPER, HATCH, 10)
    icon.line(
        [(52, 122), (52, 104), (70, 110), (88, 111), (106, 106), (122, 96), (122, 122)], MATERIAL, 0.5, fill=MATERIAL
    )
    icon.line([(52, 104), (70, 110), (88, 111), (106, 106), (122, 96)], INK, 3.5)
    for begin, end in (((20, 92), (38, 34)), ((38, 34), (88, 42)), ((88, 42), (98, 108))):
        icon.line([begin, end], BODY, 10)
    for joint in ((20, 92), (38, 34), (88, 42)):
        icon.circle(joint, 7, PAPER, INK, 3)
    icon.circle((98, 108), 5, FORCE, FORCE)
    icon.line([(8, 104), (32, 104)], INK, 4)
    return icon.svg()


# Lipinski's Figs. 3 to 6: times of the snapshots; last time of the histories; low, high and tick of each axis
FIGURES: dict[str, tuple[tuple[float, ...], float, tuple[tuple[float, float, float], ...]]] = {
    "concave": ((0.0, 0.5335, 1.5335), 1.5335, ((-0.03, 0.06, 0.03), (-0.2, 0.4, 0.2), (-0.1, 0.8, 0.3))),
    "convex": (
        (0.0, 0.5127, 0.9827, 1.2127, 1.3427, 1.47),
        1.47,
        ((-0.4, 0.2, 0.2), (-0.2, 0.4, 0.2), (0.0, 0.6, 0.2)),
    ),
}


def paper_base() -> Point:
    """Base of the chain in the cases paper_*."""
    case = tomllib.loads((ELEMENTS / "planar_mechanism" / "cases" / "paper_concave.toml").read_text(encoding="utf-8"))
    x, y = case["slaves"]["chain"]["start"]["joint[1].place"]
    return x, y


def paper_trace(cam: str) -> Trace:
    return read_trace(ELEMENTS / "planar_mechanism" / "cases" / f"paper_{cam}_ref.csv")


def paper_q(trace: Trace, t: float) -> list[float]:
    """q at any time: cubic between two samples, from their values and speeds."""
    k = min(int(t / 0.01), len(trace.time) - 2)
    s, h = (t - trace.time[k]) / 0.01, 0.01
    found = []
    for i in (1, 2, 3, 4):
        (a, b), (da, db) = trace[f"chain.q[{i}]"][k : k + 2], h * trace[f"chain.qd[{i}]"][k : k + 2]
        found.append(float(a + s * (da + s * (3 * (b - a) - 2 * da - db + s * (2 * (a - b) + da + db)))))
    return found


def chain_histories() -> str:
    """Lipinski's Figs. 3 and 5: what joints and tip do, on the axes of the paper."""
    drawing = Drawing(900, 466, "Time histories of the chain on both cams: joint 4, slider and tip")
    for row, (cam, (_, stop, axes)) in enumerate(FIGURES.items()):
        trace = paper_trace(cam)
        q4, slider = (trace[f"chain.q[{i}]"] - trace[f"chain.q[{i}]"][0] for i in (4, 3))
        for column, (values, label, (low, high, tick)) in enumerate(
            zip(
                (q4, slider, trace["chain.contact[1].x"]),
                ("joint 4 from its start, rad", "slider from its start, m", "{x} of the tip, m"),
                axes,
                strict=True,
            )
        ):
            left, top = 48 + 300 * column, 46 + 226 * row

            def at(
                time: float, value: float, left: int = left, top: int = top, low: float = low, high: float = high
            ) -> Point:
                return left + 235 * time / 1.6, top + 140 * (high - value) / (high - low)

            for i in range(round((high - low) / tick) + 1):
                value = low + i * tick
                drawing.line([at(0, value), at(1.6, value)], FAINT, 1)
                drawing.text(
                    (left - 6, at(0, value)[1] + 4), f"{round(value, 9) + 0.0:g}".replace("-", "−"), GREY, 12, "end"
                )
            for time in (0.0, 0.5, 1.0, 1.5):
                drawing.line([at(time, low), at(time, high)], FAINT, 1)
                drawing.text((at(time, low)[0], top + 156), f"{time:g}", GREY, 12, "middle")
            shown = [(t, v) for t, v in zip(trace.time, values, strict=True) if t <= stop]
            drawing.line([at(t, v) for t, v in shown], CURVES[row], 2)
            drawing.text((left, top - 12), f"{cam}: {label}", INK, 13)
            drawing.text((left + 117, top + 172), "{t}, s", GREY, 12, "middle")
    return drawing.svg()


def chain_snapshots() -> str:
    """Lipinski's Figs. 4 and 6: the chain on both cams at the times of the paper."""
    panels = [(cam, t) for cam, (times, _, _) in FIGURES.items() for t in times]
    drawing = Drawing(640, 646, "Lipinski's chain on the concave and on the convex cam, at the times of the paper")
    for k, (cam, t) in enumerate(panels):
        left, top = 10 + 210 * (k % 3), 26 + 210 * (k // 3)
        x_0, y_0 = paper_base()

        def at(p: Point, left: float = left, top: float = top) -> Point:
            return left + 66 + 168 * p[0], top + 130 - 168 * p[1]

        drawing.rectangle(left, top - 14, 200, 198, PAPER, FAINT)
        cam_line(drawing, CAMS[cam], at, -0.1, 0.78, -0.2)
        for i in range(4):
            drawing.text((at((0.2 * i, 0))[0], at((0, -0.2))[1] + 13), f"{0.2 * i:g}", GREY, 11, "middle")
        ends = [(x_0 + x, y_0 + y) for x, y in chain_ends(paper_q(paper_trace(cam), t))]
        chain_lines(drawing, ends, at, 5)
        drawing.text((left + 8, top + 4), f"{cam}, {{t}} = {t:g} s", size=13)
    return drawing.svg()


def two_d_point_drawing() -> str:
    drawing = Drawing(
        560, 330, "A body in the plane, a point at the offset XP, YP, and a force along a line through it"
    )
    cx, cy, px, py, angle = 196.0, 196.0, 318.0, 132.0, math.radians(38.0)
    slab(drawing, (216, 176), (168, 84), 0.0)
    drawing.arrow((cx, cy), (cx, cy - 60), INK, 1.6)
    drawing.arrow((cx, cy), (cx + 60, cy), INK, 1.6)
    drawing.text((cx - 6, cy - 52), "{y}", size=15, anchor="end")
    drawing.text((cx + 48, cy + 18), "{x}", size=15)
    # offsets
    drawing.line([(cx, cy + 10), (cx, cy + 106)], GREY, 1)
    drawing.line([(px, py + 10), (px, cy + 106)], GREY, 1)
    drawing.arrow((cx + 30, cy + 98), (px, cy + 98), INK, 1.4)
    drawing.line([(cx, cy + 98), (cx + 40, cy + 98)], INK, 1.4)
    drawing.text(((cx + px) / 2, cy + 90), "XP", anchor="middle", size=15)
    drawing.line([(cx - 10, cy), (34, cy)], GREY, 1)
    drawing.line([(px - 10, py), (34, py)], GREY, 1)
    drawing.arrow((42, cy - 20), (42, py), INK, 1.4)
    drawing.line([(42, cy), (42, cy - 30)], INK, 1.4)
    drawing.text((36, (cy + py) / 2 + 5), "YP", anchor="end", size=15)
    # the line of force
    ux, uy = math.cos(angle), -math.sin(angle)
    drawing.line([(px - 70 * ux, py - 70 * uy), (px + 150 * ux, py + 150 * uy)], GREY, 1.2, "10 3 2 3")
    drawing.line([(px, py), (px + 104, py)], GREY, 1, "3 3")
    turn(drawing, (px, py), 86, 0, math.degrees(angle), INK, 1.4)
    drawing.text((px + 92, py - 24), "{θ}", size=18)
    drawing.arrow((px, py), (px + 74 * ux, py + 74 * uy), FORCE, 4)
    drawing.text((px + 52, py - 64), "{F}", FORCE, 20, "end", bold=True)
    drawing.arrow((px + 92 * ux, py + 92 * uy), (px + 146 * ux, py + 146 * uy), MOTION, 2.8)
    drawing.text((px + 128, py - 78), "{v}", MOTION, 19)
    drawing.port((px, py), 15)
    drawing.text((px + 4, py + 26), "p_in", anchor="middle", mono=True, halo="#c3d6ea")
    mass_center(drawing, (cx, cy), 10)
    drawing.line([(cx, cy + 10), (cx - 52, cy + 40)], INK, 1)
    drawing.port((cx - 56, cy + 42), 13)
    drawing.text((cx - 68, cy + 47), "P_out", anchor="end", mono=True)
    for row, (text, color) in enumerate(
        [("{F}  on the body, in", FORCE), ("{v}  of the point, out", MOTION), ("P_out  at the centre", INK)]
    ):
        drawing.text((404, 236 + 25 * row), text, color, 14)
    return drawing.svg()


def two_d_point_icon() -> str:
    icon = Drawing(128, 128, "two_d_point", paper=None)
    icon.rectangle(1, 1, 126, 126, PAPER, HATCH, 10)
    slab(icon, (54, 74), (44, 38), 0.0, 2.6)
    mass_center(icon, (38, 86), 11)
    icon.line([(38, 86), (80, 54)], INK, 2, "5 4")
    icon.arrow((80, 54), (116, 18), FORCE, 5)
    icon.text((84, 26), "{F}", FORCE, 22, "end", bold=True)
    icon.port((80, 54), 17)
    return icon.svg()


def two_d_body_drawing() -> str:
    drawing = Drawing(560, 320, "A body in the plane: position, angle, velocities, forces, gravity and ports")
    ox, oy, cx, cy, angle = 56.0, 276.0, 232.0, 150.0, math.radians(14.0)
    drawing.arrow((ox, oy), (ox, oy - 66), INK, 1.8)
    drawing.arrow((ox, oy), (ox + 66, oy), INK, 1.8)
    drawing.text((ox + 8, oy - 56), "{y}", size=15)
    drawing.text((ox + 58, oy - 8), "{x}", size=15)
    drawing.circle((ox, oy), 3, INK)
    at = slab(drawing, (cx, cy), (122, 62), angle)
    drawing.arrow((ox, oy), (cx - 12, cy + 9), GREY, 2, "6 4")
    drawing.text((136, 244), "({x}, {y})", GREY, 17)
    # the angle
    drawing.line([(cx, cy), (cx + 186, cy)], GREY, 1, "3 3")
    drawing.line([at(0, 0), at(176, 0)], GREY, 1, "10 3 2 3")
    turn(drawing, (cx, cy), 160, 0, 14, INK, 1.4)
    drawing.text((cx + 170, cy - 12), "{θ}", size=18)
    # motion and forces at the centre of mass
    drawing.arrow((cx, cy), (cx + 86, cy), MOTION, 2.8)
    drawing.text((cx + 66, cy + 20), "{v_x}", MOTION, 17)
    drawing.arrow((cx, cy), (cx, cy - 92), MOTION, 2.8)
    drawing.text((cx + 10, cy - 82), "{v_y}", MOTION, 17)
    turn(drawing, (cx, cy), 34, 200, 330, MOTION, 2.6)
    drawing.text((cx + 26, cy + 46), "{ω}", MOTION, 17)
    drawing.arrow((cx, cy), (cx - 78, cy - 58), FORCE, 4)
    drawing.text((cx - 88, cy - 58), "{F}", FORCE, 20, "end", bold=True)
    drawing.arrow((cx - 4, cy + 12), (cx - 4, cy + 104), INK, 2.8)
    drawing.text((cx + 8, cy + 100), "{m} {g}", size=18)
    mass_center(drawing, (cx, cy), 11)
    drawing.text((cx - 74, cy + 34), "{m}, {J}", INK, 17)
    for k, (x, y) in enumerate(((430, 28), (430, 58), (430, 88)), 1):
        drawing.line([(cx + 9, cy - 6), (x - 24, y)], INK, 1)
        drawing.port((x - 20, y), 13)
        drawing.text((x - 6, y + 5), f"P[{k}]", mono=True)
    for row, (text, color) in enumerate(
        [
            ("{v_x}, {v_y}, {ω}  at every port, out", MOTION),
            ("{F}  forces and torque, in", FORCE),
            ("{x}, {y}, {θ}  position, out", INK),
        ]
    ):
        drawing.text((300, 246 + 25 * row), text, color, 15)
    return drawing.svg()


def two_d_body_icon() -> str:
    icon = Drawing(128, 128, "two_d_body", paper=None)
    icon.rectangle(1, 1, 126, 126, PAPER, HATCH, 10)
    slab(icon, (64, 66), (48, 28), math.radians(12.0), 2.6)
    icon.arrow((64, 66), (110, 66), MOTION, 3.6)
    icon.arrow((64, 66), (64, 18), MOTION, 3.6)
    turn(icon, (64, 66), 34, 200, 330, MOTION, 3.6)
    mass_center(icon, (64, 66), 12)
    return icon.svg()


def rigid_body_drawing() -> str:
    drawing = Drawing(560, 330, "A body with its axes, a point at an offset, forces, moments and ports")
    ox, oy, cx, cy = 56.0, 286.0, 236.0, 150.0
    drawing.arrow((ox, oy), (ox, oy - 66), INK, 1.8)
    drawing.arrow((ox, oy), (ox + 66, oy), INK, 1.8)
    drawing.text((ox + 8, oy - 56), "{z}", size=15)
    drawing.text((ox + 58, oy - 8), "{x}", size=15)
    drawing.text((ox, oy + 24), "world", GREY, 14, "middle")
    drawing.circle((ox, oy), 3, INK)
    at = slab(drawing, (cx, cy), (118, 62), math.radians(20))
    drawing.arrow((ox, oy), (cx - 9, cy + 7), GREY, 2, dash="6 4")
    drawing.text((112, 232), "{r}", GREY, 19, "end")
    drawing.arrow((cx, cy), at(60, 0), INK, 2)
    drawing.arrow((cx, cy), at(0, 52), INK, 2)
    drawing.text((at(54, 0)[0] - 2, at(54, 0)[1] + 22), "{x_B}", size=16)
    drawing.text((at(0, 50)[0] - 8, at(0, 50)[1] + 10), "{z_B}", size=16, anchor="end")
    drawing.line([(cx, cy), at(118, 62)], GREY, 1.6, dash="5 4")
    drawing.text((at(64, 34)[0] + 10, at(64, 34)[1] + 12), "offset", GREY, 15)
    drawing.line([(cx, cy), (cx + 186, cy + 62)], INK, 1)
    drawing.port((cx + 186, cy + 62), 13)
    drawing.text((cx + 202, cy + 67), "frame", mono=True)
    # a point
    px, py = at(118, 62)
    drawing.arrow((px, py), (px - 26, py - 62 + 22), FORCE, 4)
    drawing.text((px - 36, py - 30), "{f}", FORCE, 20, "end", bold=True)
    drawing.arrow((px, py), (px + 66, py + 20), MOTION, 2.8)
    drawing.text((px + 62, py + 46), "{v}", MOTION, 19)
    drawing.circle((px, py), 6, BODY, BODY_EDGE, 2)
    drawing.line([(px, py), (px + 96, py - 14)], INK, 1)
    drawing.port((px + 96, py - 14), 13)
    drawing.text((px + 112, py - 20), "point[i]", mono=True)
    drawing.text((px + 112, py), "attach[i]", mono=True)
    # gravity
    drawing.arrow((cx, cy + 8), (cx, cy + 122), INK, 2.8)
    drawing.text((cx + 12, cy + 112), "{m} {g}", size=19)
    mass_center(drawing, (cx, cy), 8)
    drawing.text(at(-74, 18), "{m}, {J}", BODY_EDGE, 20, "middle")
    for row, (text, color) in enumerate(
        [("{r}, {q}, {v}, {w}  motion, out", MOTION), ("{f}, {t}  force, moment, in", FORCE)]
    ):
        drawing.text((366, 270 + 26 * row), text, color, 15)
    return drawing.svg()


def rigid_body_icon() -> str:
    icon = Drawing(128, 128, "rigid_body", paper=None)
    icon.rectangle(1, 1, 126, 126, PAPER, HATCH, 10)
    at = slab(icon, (62, 58), (42, 26), math.radians(30), 2.6)
    icon.arrow((62, 58), at(32, 0), INK, 3)
    icon.arrow((62, 58), at(0, 44), INK, 3)
    icon.arrow((62, 58), (62, 120), INK, 3.4)
    mass_center(icon, (62, 58), 10)
    icon.port(at(-42, -26), 16)
    icon.port(at(42, -26), 16)
    return icon.svg()


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
    icon = Drawing(128, 128, "pendulum", paper=None)
    icon.rectangle(1, 1, 126, 126, PAPER, HATCH, 10)
    angle, px, py = math.radians(-60), 34.0, 26.0
    icon.line([(px, py), (px, 114)], GREY, 1.8, "6 4")
    slab(icon, (px + 38 * math.cos(angle), py - 38 * math.sin(angle)), (48, 12), angle, 2.6)
    turn(icon, (px, py), 74, -90, -66, MOTION, 3.4)
    icon.circle((px, py), 7, PAPER, INK, 2.6)
    mass_center(icon, (px + 42 * math.cos(angle), py - 42 * math.sin(angle)), 9)
    icon.port((px + 84 * math.cos(angle), py - 84 * math.sin(angle)), 17)
    icon.text((90, 46), "{φ}", INK, 26, "middle")
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
    icon = Drawing(128, 128, f"point_line_{forces}", paper=None)
    icon.rectangle(1, 1, 126, 126, PAPER, HATCH, 10)
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


def impact_damper_drawing() -> str:
    drawing = Drawing(560, 270, "A housing with two walls and the mass between them: position, velocities, force, port")
    left, right, floor = 70.0, 410.0, 160.0
    for side, outer in ((left, left - 26), (right, right + 26)):
        low, high = sorted((side, outer))
        drawing.rectangle(low, 70, high - low, floor - 52, MATERIAL, INK)
    drawing.rectangle(left - 26, floor, right - left + 52, 18, MATERIAL, INK)
    drawing.circle((290, 118), 40, BODY, BODY_EDGE, 2)
    drawing.text((290, 125), "{m}", PAPER, 23, "middle")
    middle = (left + right) / 2
    drawing.line([(middle, 40), (middle, floor)], GREY, 1, "10 3 2 3")
    drawing.arrow((middle, 50), (290, 50), MOTION, 2.8)
    drawing.text((297, 55), "{x}", MOTION, 19)
    drawing.arrow((290, 92), (350, 92), MOTION, 2.8)
    drawing.text((354, 97), "{w}", MOTION, 19)
    drawing.arrow((left + 40, 118), (left, 118), GREY, 1.6)
    drawing.arrow((left + 110, 118), (left + 130, 118), GREY, 1.6)
    drawing.text((left + 75, 123), "gap/2", GREY, 15, "middle")
    drawing.line([(right + 26, 120), (470, 120)], INK, 2)
    drawing.port((470, 120), 15)
    drawing.text((470, 106), "p", anchor="middle", mono=True)
    drawing.arrow((444, 148), (500, 148), MOTION, 2.8)
    drawing.text((456, 168), "{v_p}", MOTION, 17)
    drawing.arrow((444, 184), (500, 184), FORCE, 4)
    drawing.text((456, 208), "{F_p}", FORCE, 17, bold=True)
    for row, (text, color) in enumerate(
        [
            ("{h} = |{x}| − gap/2: depth in a wall, contact while {h} > 0", INK),
            ("{m} {w}' = −{F_p}: the mass pushes the right wall to the right, {F_p} > 0", FORCE),
        ]
    ):
        drawing.text((left - 26, 224 + 25 * row), text, color, 15)
    return drawing.svg()


def impact_damper_icon() -> str:
    icon = Drawing(128, 128, "impact_damper", paper=None)
    icon.rectangle(1, 1, 126, 126, PAPER, HATCH, 10)
    icon.rectangle(12, 30, 14, 72, MATERIAL, INK)
    icon.rectangle(90, 30, 14, 72, MATERIAL, INK)
    icon.rectangle(12, 88, 92, 14, MATERIAL, INK)
    icon.circle((66, 62), 24, BODY, BODY_EDGE, 2.6)
    icon.text((66, 70), "{m}", PAPER, 24, "middle")
    icon.port((111, 62), 17)
    icon.text((111, 44), "p", size=19, anchor="middle", mono=True)
    icon.arrow((46, 18), (86, 18), MOTION, 4)
    return icon.svg()


# ---- plots -------------------------------------------------------------------------------------------------------


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


def references() -> ModuleType:
    """elements/point_surface/cases/references.py: the closed forms."""
    path = ELEMENTS / "point_surface" / "cases" / "references.py"
    spec = importlib.util.spec_from_file_location("point_surface_references", path)
    assert spec is not None and spec.loader is not None  # a file path always has a loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def restitution() -> Callable[[float, float], float]:
    """The effective restitution e over C_r and k_D v0, for k_E = 0.5."""
    exact = references().effective_restitution
    return lambda c_r, x: float(exact(c_r, 0.5, 1.0, x))


def restitution_plot() -> str:
    e = restitution()
    plot = Plot(
        "Effective restitution over impact speed times k_D, k_E = 0.5",
        (0.01, 100), (0, 1), "{k_D} {v_0}", "effective restitution {e}",
        (0.01, 0.1, 1, 10, 100), (0, 0.2, 0.4, 0.6, 0.8, 1), "log",
    )  # fmt: skip
    for c_r, color in zip((0.8, 0.5, 0.2, 0.0), CURVES, strict=True):
        plot.curve(lambda x, c_r=c_r: e(c_r, x), color, f"{{C_r}} = {c_r:g}")  # type: ignore[misc]
    return plot.drawing.svg()


# Rebound of an elastic ball of unknown mass under Jacobi, mean of fifteen phases, measured and held against it by
# tests/contact_core/test_coupling.py: steps per contact, hold, first and second contact in auto.
REBOUND = (
    (31, 1.268, 1.000, 1.000), (16, 1.570, 1.000, 1.000), (10, 2.009, 1.000, 1.000), (6.3, 2.820, 1.000, 1.000),
    (4.5, 3.829, 1.000, 1.000), (3.1, 5.684, 1.000, 1.000), (2.5, 7.270, 1.014, 0.984), (2, 9.556, 1.510, 0.917),
    (1.57, 13.296, 2.911, 1.000), (1.2, 18.355, 5.543, 1.000),
)  # fmt: skip


def rebound_plot() -> str:
    plot = Plot(
        "Rebound of an elastic ball over steps per contact, Jacobi", (1, 100), (0, 6), "steps per contact",
        "speed after over before", (1, 10, 100), (0, 1, 2, 3, 4, 5, 6), "log",
    )  # fmt: skip
    for column, color, name, dash, place in (
        (1, CURVES[1], "hold", "", (9, 2.6)), (2, CURVES[0], "auto, first contact", "", (2.3, 1.45)),
        (3, CURVES[2], "auto, later contacts", "7 4", (1.2, 0.45)),
    ):  # fmt: skip
        plot.polyline([(row[0], row[column]) for row in REBOUND if row[column] <= 6], color, "", dash)
        plot.drawing.text(plot.at(*place), name, color, 14, "start", halo=PAPER)
    return plot.drawing.svg()


def damping_plot() -> str:
    plot = Plot(
        "Damping ratio d over depth rate w with its limits, C_r = 0.5",
        (-2, 2), (-1, 1), "{k_D} {w}", "damping ratio {d}", (-2, -1, 0, 1, 2), (-1, -0.5, 0, 0.5, 1),
    )  # fmt: skip
    plot.drawing.line([plot.at(-2, 0), plot.at(2, 0)], GREY, 1.2)
    plot.drawing.line([plot.at(0, -1), plot.at(0, 1)], GREY, 1.2)
    for k_e, color, dash in ((0.5, CURVES[0], ""), (0.25, CURVES[1], "7 4")):
        low, high = damping_limits(0.5, k_e)
        plot.polyline([(-2, low), (low, low), (high, high), (2, high)], color, f"{{k_E}} = {k_e:g}", dash)
    low, high = damping_limits(0.5, 0.5)
    plot.drawing.text(plot.at(1.3, high + 0.08), "{d_comp} = 0.6", CURVES[0], 14, "middle", halo=PAPER)
    plot.drawing.text(plot.at(-1.3, low + 0.08), "{d_rest} = −0.6", CURVES[0], 14, "middle", halo=PAPER)
    plot.drawing.text(plot.at(-1.0, 0.8), "restitution", GREY, 14, "middle")
    plot.drawing.text(plot.at(1.0, -0.88), "compression", GREY, 14, "middle")
    return plot.drawing.svg()


def damping_limits(c_r: float, k_e: float) -> tuple[float, float]:
    """d_rest and d_comp."""
    delta = 1 - k_e + c_r**2 * k_e
    return -(1 - c_r**2) * (1 - k_e) / delta, (1 - c_r**2) * k_e / delta


def friction_plot() -> str:
    plot = Plot(
        "Friction force over slip speed for two slopes of the ramp",
        (0, 20), (0, 1.2), "slip speed |{v_t}|, mm/s", "{F_fr} / ({K_fr} {N})",
        (0, 5, 10, 15, 20), (0, 0.2, 0.4, 0.6, 0.8, 1),
    )  # fmt: skip
    for k_t, color, dash, place in ((100.0, CURVES[0], "", (10.3, 0.62)), (1000.0, CURVES[1], "7 4", (1.3, 0.76))):
        plot.polyline([(0, 0), (1e3 / k_t, 1), (20, 1)], color, dash=dash)
        plot.drawing.text(plot.at(*place), f"{{k_T}} = {k_t:g} s/m", color, 14, halo=PAPER)
    plot.drawing.line([plot.at(10, 0), plot.at(10, 1)], CURVES[0], 1, "2 3")
    plot.drawing.text(plot.at(15, 1.04), "full friction", GREY, 14, "middle")
    plot.drawing.text(plot.at(10.3, 0.06), "1/{k_T} = 10 mm/s", CURVES[0], 14, halo=PAPER)
    return plot.drawing.svg()


def ready_made() -> Laws:
    path = ELEMENTS / "point_surface" / "laws.txt"
    return read_laws(Source(path.read_text(encoding="utf-8"), str(path), 1))


def laws_of_the_source() -> Laws:
    """The examples of the EULER manual, from the recipe that has them."""
    path = ELEMENTS.parent / "fmus" / "FloorWithLaws.toml"
    return read_laws(Source(tomllib.loads(path.read_text(encoding="utf-8"))["functions"]["text"], str(path)))


def law_curve(
    laws: Laws, name: str, per: float = 1.0, N: float | None = None, **scalars: float
) -> Callable[[float], float]:
    """The law over its last argument, counted in `per` SI units; with N the force over N."""
    law = laws.functions[name]
    *_, (argument, _) = law.parameters

    def value(x: float) -> float:
        given = {argument: x * per} if N is None else {argument: x * per, "N": N}
        return float(evaluate(law, laws, given, scalars=scalars).value) / (N or 1.0)

    return value


def elastic_laws_plot() -> str:
    laws = ready_made()
    plot = Plot(
        "Elastic force over depth: the element's own law and Hertz's",
        (0, 0.2), (0, 400), "depth {h}, mm", "elastic force {F_e}, N",
        (0, 0.05, 0.1, 0.15, 0.2), (0, 100, 200, 300, 400),
    )  # fmt: skip
    plot.curve(law_curve(laws, "linear", 1e-3), GREY, "linear", "7 4", 2)
    plot.curve(law_curve(laws, "hertz", 1e-3), CURVES[0], "hertz")
    plot.drawing.text(plot.at(0.118, 88), "{C_F} = 1e6 N/m", GREY, 14, halo=PAPER)
    plot.drawing.text(plot.at(0.09, 172), "{E} = 1 GPa, {R} = 10 mm", CURVES[0], 14, "end", halo=PAPER)
    return plot.drawing.svg()


def damping_laws_plot() -> str:
    laws = ready_made()
    plot = Plot(
        "Damping ratio over depth rate: the element's own law, laws of the literature, the manual's example",
        (-1, 1), (-1, 1.6), "depth rate {w}, m/s", "damping ratio {d}",
        (-1, -0.5, 0, 0.5, 1), (-1, -0.5, 0, 0.5, 1, 1.5),
    )  # fmt: skip
    plot.drawing.line([plot.at(-1, 0), plot.at(1, 0)], GREY, 1.2)
    curves = (
        ("flores", 1.6, "flores", CURVES[0], {"flores_e": 0.5}),
        ("hunt_crossley", 0.83, "hunt_crossley", CURVES[1], {"hunt_crossley_e": 0.5}),
        ("lankarani_nikravesh", 0.48, "lankarani_", CURVES[2], {"lankarani_nikravesh_e": 0.5}),
    )
    for name, height, label, color, scalars in curves:
        law = law_curve(laws, name, **scalars)
        plot.curve(lambda w, law=law: max(law(w), -1.0), color)  # type: ignore[misc]
        x, y = plot.at(1, height)
        plot.drawing.text((x + 8, y + 5), label, color, 14)
    plot.drawing.text((plot.at(1, 0.48)[0] + 8, plot.at(1, 0.48)[1] + 19), "nikravesh", CURVES[2], 14)
    plot.curve(law_curve(laws, "restitution"), GREY, dash="7 4", samples=401)
    plot.drawing.text((plot.at(1, 0.65)[0] + 8, plot.at(1, 0.65)[1] + 5), "restitution", GREY, 14)
    plot.curve(law_curve(laws_of_the_source(), "fd_1"), CURVES[3], "", samples=401)
    x, y = plot.at(1, 0.13)
    plot.drawing.text((x + 8, y + 5), "fd_1", CURVES[3], 14)
    plot.drawing.text(plot.at(-0.96, 1.3), "{e} = {C_r} = 0.5, {v_0} = 1 m/s", GREY, 14, halo=PAPER)
    return plot.drawing.svg()


def friction_laws_plot() -> str:
    laws = ready_made()
    plot = Plot(
        "Friction over slip speed: the element's own law and ready-made ones",
        (0, 40), (0, 0.5), "slip speed |{v_t}|, mm/s", "{F_fr} / {N}",
        (0, 10, 20, 30, 40), (0, 0.1, 0.2, 0.3, 0.4, 0.5),
    )  # fmt: skip
    for name, place, color, dash in (
        ("smooth_ramp", (8.8, 0.2), CURVES[2], ""),
        ("stribeck", (1.6, 0.42), CURVES[0], ""),
        ("brown_mcphee", (14.0, 0.41), CURVES[1], ""),
        ("ramp", (33, 0.315), GREY, "7 4"),
    ):
        plot.curve(law_curve(laws, name, 1e-3, 1e3), color, dash=dash, samples=401)
        plot.drawing.text(plot.at(*place), name, color, 14, halo=PAPER)
    return plot.drawing.svg()


def friction_example_plot() -> str:
    source, own = laws_of_the_source(), ready_made()
    plot = Plot(
        "Friction over slip speed: the examples of the EULER manual and the element's own law",
        (0, 150), (0, 0.12), "slip speed |{v_t}|, mm/s", "{F_fr} / {N}", (0, 50, 100, 150), (0, 0.04, 0.08, 0.12),
    )  # fmt: skip
    plot.curve(law_curve(own, "ramp", 1e-3, 1e3, ramp_mu=0.1), GREY, dash="7 4", samples=301)
    plot.curve(law_curve(own, "ramp", 1e-3, 1e3, ramp_mu=0.1, ramp_k=10.0), CURVES[0], samples=301)
    plot.curve(law_curve(source, "fr_sin_1", 1e-3, 1e3), CURVES[1], samples=301)
    plot.drawing.text(plot.at(14, 0.104), "{K_fr} = 0.1, {k_T} = 100 s/m", GREY, 14, halo=PAPER)
    plot.drawing.text(plot.at(35, 0.046), "fr_line_1", CURVES[0], 14, "end", halo=PAPER)
    plot.drawing.text(plot.at(60, 0.052), "fr_sin_1", CURVES[1], 14, halo=PAPER)
    return plot.drawing.svg()


SPEEDS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)  # k_D v0
RESTITUTIONS = (0.0, 0.2, 0.5, 0.8)  # C_r


def restitution_table() -> str:
    """Markdown table of the effective restitution for k_E = 0.5."""
    e = restitution()
    lines = [
        "| `C_r` \\ `k_D v0` | " + " | ".join(f"{x:g}" for x in SPEEDS) + " |",
        "|---|" + "---|" * len(SPEEDS),
    ]
    for c_r in RESTITUTIONS:
        lines.append(f"| **{c_r:g}** | " + " | ".join(f"{e(c_r, x):.4f}" for x in SPEEDS) + " |")
    return "\n".join(lines)


# ---- files -------------------------------------------------------------------------------------------------------


PICTURES: dict[str, Callable[[], str]] = {
    "impact_damper/drawing.svg": impact_damper_drawing,
    "inertia/drawing.svg": inertia_drawing,
    "pendulum/drawing.svg": pendulum_drawing,
    "planar_mechanism/drawing.svg": planar_mechanism_drawing,
    "planar_mechanism/histories.svg": chain_histories,
    "planar_mechanism/snapshots.svg": chain_snapshots,
    "point_mass/drawing.svg": point_mass_drawing,
    "point_line_1/drawing.svg": lambda: point_line_drawing(1),
    "point_line_2/drawing.svg": lambda: point_line_drawing(2),
    "point_surface/drawing.svg": point_surface_drawing,
    "prescribed_motion/drawing.svg": prescribed_motion_drawing,
    "rigid_body/drawing.svg": rigid_body_drawing,
    "rotational_damper/drawing.svg": rotational_damper_drawing,
    "rotational_spring/drawing.svg": rotational_spring_drawing,
    "slider_mass/drawing.svg": slider_mass_drawing,
    "translational_damper/drawing.svg": translational_damper_drawing,
    "translational_spring/drawing.svg": translational_spring_drawing,
    "two_d_body/drawing.svg": two_d_body_drawing,
    "two_d_point/drawing.svg": two_d_point_drawing,
    "point_surface/rebound.svg": rebound_plot,
    "point_surface/restitution.svg": restitution_plot,
    "point_surface/damping.svg": damping_plot,
    "point_surface/friction.svg": friction_plot,
    "point_surface/elastic_laws.svg": elastic_laws_plot,
    "point_surface/damping_laws.svg": damping_laws_plot,
    "point_surface/friction_laws.svg": friction_laws_plot,
    "point_surface/friction_example.svg": friction_example_plot,
    "point_surface/surfaces.svg": surfaces_drawing,
}
ICONS: dict[str, Callable[[], str]] = {
    "impact_damper/model.png": impact_damper_icon,
    "inertia/model.png": inertia_icon,
    "pendulum/model.png": pendulum_icon,
    "planar_mechanism/model.png": planar_mechanism_icon,
    "point_mass/model.png": point_mass_icon,
    "point_line_1/model.png": lambda: point_line_icon(1),
    "point_line_2/model.png": lambda: point_line_icon(2),
    "point_surface/model.png": point_surface_icon,
    "prescribed_motion/model.png": prescribed_motion_icon,
    "rigid_body/model.png": rigid_body_icon,
    "rotational_damper/model.png": lambda: two_port_icon("rotational_damper", "{d}", ("r", "c"), damper=True),
    "rotational_spring/model.png": lambda: two_port_icon("rotational_spring", "{k}", ("r", "c")),
    "slider_mass/model.png": slider_mass_icon,
    "translational_damper/model.png": lambda: two_port_icon("translational_damper", "{d}", ("c", "r"), damper=True),
    "translational_spring/model.png": lambda: two_port_icon("translational_spring", "{k}", ("c", "r")),
    "two_d_body/model.png": two_d_body_icon,
    "two_d_point/model.png": two_d_point_icon,
}


def svg_hash(svg: str) -> str:
    return hashlib.sha256(svg.encode("utf-8")).hexdigest()


def source_hash(png: bytes) -> str:
    """The hash of the SVG that a PNG of ours was made from, empty if it carries none."""
    position = len(_PNG_SIGNATURE)
    while position + 8 <= len(png):
        (length,) = struct.unpack(">I", png[position : position + 4])
        data = png[position + 8 : position + 8 + length]
        if png[position + 4 : position + 8] == b"tEXt" and data.startswith(_HASH_KEYWORD + b"\0"):
            return data[len(_HASH_KEYWORD) + 1 :].decode("ascii")
        position += 12 + length
    return ""


def with_source_hash(png: bytes, svg: str) -> bytes:
    """The PNG with a text chunk behind its header."""
    header_end = len(_PNG_SIGNATURE) + 25
    chunk = b"tEXt" + _HASH_KEYWORD + b"\0" + svg_hash(svg).encode("ascii")
    framed = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return png[:header_end] + framed + png[header_end:]


def render_png(svg: str, size: int) -> bytes:
    """The SVG as a size x size px PNG with a transparent background.  Raises ToolError without a Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    browser = next((found for name in names if (found := shutil.which(name))), None)
    if browser is None:
        raise ToolError(f"--png needs one of these programs on the PATH: {', '.join(names)}")
    with tempfile.TemporaryDirectory() as folder:
        page, picture = Path(folder) / "icon.html", Path(folder) / "icon.png"
        style = f"html,body{{margin:0;background:transparent}}svg{{display:block;width:{size}px;height:{size}px}}"
        page.write_text(f"<!DOCTYPE html><meta charset='utf-8'><style>{style}</style>{svg}", encoding="utf-8")
        command = [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--force-device-scale-factor=1", "--default-background-color=00000000", f"--window-size={size},{size}",
            f"--user-data-dir={folder}/profile",
            f"--screenshot={picture}", page.as_uri(),
        ]  # fmt: skip
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if run.returncode != 0 or not picture.is_file():
            raise ToolError(f"{' '.join(command)} failed:\n" + "\n".join(run.stderr.splitlines()[-5:]))
        return picture.read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the pictures of the elements.")
    parser.add_argument("--png", action="store_true", help="also write the model.png icons, through Chromium")
    png = parser.parse_args().png
    for name, draw in PICTURES.items():
        write_text(ELEMENTS / name, draw())
    readme = ELEMENTS / "point_surface" / "README.md"
    write_text(readme, replace_section(readme, "restitution", restitution_table()))
    for name, draw in ICONS.items() if png else ():
        svg, target = draw(), ELEMENTS / name
        part = target.with_name(target.name + ".part")
        part.write_bytes(with_source_hash(render_png(svg, ICON_SIZE), svg))
        part.replace(target)


if __name__ == "__main__":
    try:
        main()
    except FmuBuilderError as error:
        raise SystemExit(f"{error}") from error
