"""The pictures of point_surface, and the restitution table of its README.

Plots are drawn from the closed forms in cases/references.py, not from the code of the element; those of laws from
their texts, by fmu_builder/laws/numeric.py."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from fmu_builder.drawing import (
    BODY,
    BODY_EDGE,
    CURVES,
    FORCE,
    GREY,
    INK,
    MATERIAL,
    MOTION,
    NORMAL,
    PAPER,
    Drawing,
    Plot,
    Point,
    icon_paper,
)
from fmu_builder.laws import Laws, Source, evaluate, read_laws
from fmu_builder.paths import load_module, shipped

HERE = Path(__file__).parent


def references() -> ModuleType:
    return load_module(HERE / "cases" / "references.py")


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
    drawing = Drawing(720, 630, "The kinds of surface in section: dimensions, normal, axis, profile")

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

    at = panel(0, 2, "height_field", "x", "z")
    bumps = [(x, 16 * math.sin(0.055 * x) + 5 * math.sin(0.14 * x)) for x in range(-54, 73, 3)]
    body(at, [*bumps, (72, -50), (-54, -50)])
    edge(at, bumps)
    for x, z in bumps[::4]:
        drawing.line([at(x, -50), at(x, z)], MOTION, 0.8, "2 3")
        drawing.circle(at(x, z), 2.4, MOTION)
    drawing.text(at(9, -64), "heights", MOTION, 12, "middle")
    slope = 16 * 0.055 * math.cos(0.055 * 27) + 5 * 0.14 * math.cos(0.14 * 27)
    normal(at, bumps[27], (-slope / math.hypot(slope, 1), 1 / math.hypot(slope, 1)))

    at = panel(1, 2, "patch", "x", "z")
    control = [(-70, -32), (-44, 52), (30, 44), (70, -20)]
    arc = [cubic_bezier(control, k / 24) for k in range(25)]
    body(at, arc)
    edge(at, control, "3 3")
    edge(at, arc)
    for point in control:
        drawing.circle(at(*point), 3, MOTION)
    drawing.text(at(0, -50), "control", MOTION, 12, "middle")
    normal(at, arc[15], (0.28, 0.96))
    return drawing.svg()


def cubic_bezier(control: Sequence[Point], t: float) -> Point:
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    x, y = (sum(w * point[k] for w, point in zip(weights, control, strict=True)) for k in (0, 1))
    return x, y


def point_surface_icon() -> str:
    icon = icon_paper("point_surface")
    icon.material(10, 118, 78, 116, 11, 1.6)
    icon.line([(10, 78), (118, 78)], INK, 3.2)
    icon.circle((56, 60), 25, BODY, BODY_EDGE, 2.6)
    icon.arrow((56, 85), (56, 15), FORCE, 5)
    icon.text((66, 28), "{F}", FORCE, 21, bold=True)
    icon.arrow((98, 78), (98, 44), INK, 3)
    icon.text((105, 58), "{n}", INK, 19)
    return icon.svg()


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
        low, high = references().damping_limits(0.5, k_e)
        plot.polyline([(-2, low), (low, low), (high, high), (2, high)], color, f"{{k_E}} = {k_e:g}", dash)
    low, high = references().damping_limits(0.5, 0.5)
    plot.drawing.text(plot.at(1.3, high + 0.08), "{d_comp} = 0.6", CURVES[0], 14, "middle", halo=PAPER)
    plot.drawing.text(plot.at(-1.3, low + 0.08), "{d_rest} = −0.6", CURVES[0], 14, "middle", halo=PAPER)
    plot.drawing.text(plot.at(-1.0, 0.8), "restitution", GREY, 14, "middle")
    plot.drawing.text(plot.at(1.0, -0.88), "compression", GREY, 14, "middle")
    return plot.drawing.svg()


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
    path = HERE / "laws.txt"
    return read_laws(Source(path.read_text(encoding="utf-8"), str(path), 1))


def laws_of_the_source() -> Laws:
    """The examples of the EULER manual, from the recipe that has them."""
    path = shipped("fmus") / "FloorWithLaws.toml"
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


PICTURES = {
    "drawing.svg": point_surface_drawing,
    "rebound.svg": rebound_plot,
    "restitution.svg": restitution_plot,
    "damping.svg": damping_plot,
    "friction.svg": friction_plot,
    "elastic_laws.svg": elastic_laws_plot,
    "damping_laws.svg": damping_laws_plot,
    "friction_laws.svg": friction_laws_plot,
    "friction_example.svg": friction_example_plot,
    "surfaces.svg": surfaces_drawing,
}
ICON = point_surface_icon
SECTIONS = {"restitution": restitution_table}  # generated parts of the README
