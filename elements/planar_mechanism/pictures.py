"""The pictures of planar_mechanism."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

from fmu_builder import Trace, read_trace
from fmu_builder.drawing import (
    BODY,
    BODY_EDGE,
    CURVES,
    FAINT,
    FORCE,
    GREY,
    INK,
    MATERIAL,
    PAPER,
    Drawing,
    Point,
    icon_paper,
    turn,
)

CASES = Path(__file__).parent / "cases"


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


def chain_lines(drawing: Drawing, ends: Sequence[Point], at: Callable[[Point], Point], width: float) -> None:
    """The links, from the last to the first, and their joints: the slider as a box, on a thin guide."""
    drawing.line([at(ends[3]), at(ends[4])], GREY, 1.2)
    for i in (3, 2, 1, 0):
        begin, end = at(ends[2 * i]), at(ends[2 * i + 1])
        drawing.line([begin, end], BODY if i != 1 else BODY_EDGE, width if i != 1 else 1.7 * width)
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
    icon = icon_paper("planar_mechanism")
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
    case = tomllib.loads((CASES / "paper_concave.toml").read_text(encoding="utf-8"))
    x, y = case["slaves"]["chain"]["start"]["joint[1].place"]
    return x, y


def paper_trace(cam: str) -> Trace:
    return read_trace(CASES / f"paper_{cam}_ref.csv")


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
    """Lipinski's Figs. 4 and 6: the chain on both cams at the times of the paper, in the window of its pictures."""
    panels = [(cam, t) for cam, (times, _, _) in FIGURES.items() for t in times]
    drawing = Drawing(640, 646, "Lipinski's chain on the concave and on the convex cam, at the times of the paper")
    for k, (cam, t) in enumerate(panels):
        left, top = 10 + 210 * (k % 3), 26 + 210 * (k // 3)
        x_0, y_0 = paper_base()

        def at(p: Point, left: float = left, top: float = top) -> Point:
            return left + 22 + 168 * (p[0] + 0.2), top + 130 - 168 * p[1]

        drawing.rectangle(left, top - 14, 200, 198, PAPER, FAINT)
        cam_line(drawing, CAMS[cam], at, -0.2, 0.8, -0.2)
        for i in range(-1, 5):
            drawing.line([at((0.2 * i, 0.6)), at((0.2 * i, -0.2))], FAINT, 1)
            x, y = at((0.2 * i, -0.2))
            drawing.text((x, y + 13), f"{0.2 * i:g}".replace("-", "−"), GREY, 11, "middle")
        ends = [(x_0 + x, y_0 + y) for x, y in chain_ends(paper_q(paper_trace(cam), t))]
        chain_lines(drawing, ends, at, 5)
        drawing.text((left + 8, top + 4), f"{cam}, {{t}} = {t:g} s", size=13)
    return drawing.svg()


PICTURES = {
    "drawing.svg": planar_mechanism_drawing,
    "histories.svg": chain_histories,
    "snapshots.svg": chain_snapshots,
}
ICON = planar_mechanism_icon
