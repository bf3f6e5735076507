"""Table and figure of work and precision.  `python tests/benchmarks/work_precision.py contact_core/work_precision.svg`
measures (peers.py; three minutes), prints the tables and draws the figure.  Needs the extra `bench`."""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from peers import ENGINES, LEVELS, PROBLEMS, Curve, Problem, curves, overhead

FMU = "auto"  # the curve that peers are compared with: as shipped
CLAIM = 10.0  # times faster than each peer


def fastest(measured: Sequence[Curve], engine: str, error: float) -> tuple[float, str, bool]:
    """s in which the engine reaches the error, by its fastest method, and True; or else the time of its longest run,
    which is less than it would need, and False."""
    own = [c for c in measured if c.engine == engine and (engine != "FMU" or c.method == FMU)]
    reached = [(time, c.method) for c in own if (time := c.time_at(error)) is not None]
    if reached:
        return *min(reached), True
    points = [(min(c.points, key=lambda p: p.error), c.method) for c in own]
    best, method = min(points, key=lambda pair: pair[0].error)
    return best.time, method, False


def ratio(measured: Sequence[Curve], peer: str, error: float) -> float:
    """How many times faster the FMU reaches the error; a lower bound where the peer does not reach it."""
    ours, _, reached = fastest(measured, "FMU", error)
    assert reached, f"the FMU does not reach the error {error:g}"
    return fastest(measured, peer, error)[0] / ours


def table(problem: Problem, measured: Sequence[Curve]) -> str:
    """Every point, then times and ratios at equal error."""
    lines = [f"{problem.title}: error and processor time in us"]
    for curve in measured:
        points = "  ".join(f"{p.error:.0e} {p.time * 1e6:.0f}" for p in curve.points)
        lines.append(f"  {curve.engine + ', ' + curve.method:30} {points}")
    for error in LEVELS:
        ours, _, _ = fastest(measured, "FMU", error)
        parts = [f"  error {error:.0e}: FMU {ours * 1e6:.0f} us"]
        for peer in ENGINES[1:]:
            seconds, method, reached = fastest(measured, peer, error)
            times = seconds / ours
            verdict = "" if times >= CLAIM else f", less than {CLAIM:g}" if reached else ", not decided"
            parts.append(
                f"{peer} ({method}) {'' if reached else 'more than '}{seconds * 1e6:.0f} us, "
                f"{'' if reached else 'more than '}{times:.2g} times as long{verdict}"
            )
        lines.append("; ".join(parts))
    return "\n".join(lines)


# ---- the figure ------------------------------------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, TOP, GAP = 290, 280, 62, 34, 48  # of a panel and around it, px
TIME, ERROR = (-5, -1), (-14, 0)  # decades of the axes
COLOURS = {"FMU": "#c0392b", "MuJoCo": "#2471a3", "Exudyn": "#6f7d1c"}


def draw(
    measured: Mapping[str, Sequence[Curve]], label: str = "relative error", decades: tuple[int, int] = TIME
) -> str:
    """SVG of one panel for each title: error over processor time, both logarithmic; `decades` of the time in s."""
    width = LEFT + len(measured) * (WIDTH + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + 74}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text transform="translate(14 {TOP + HEIGHT / 2}) rotate(-90)" text-anchor="middle">{label}</text>',
    ]
    for i, (title, panel) in enumerate(measured.items()):
        parts += _panel(LEFT + i * (WIDTH + GAP), title, panel, i == 0, decades)
    for i, engine in enumerate(ENGINES):
        x, y = LEFT + 130 * i, TOP + HEIGHT + 58
        parts.append(f'<line x1="{x}" x2="{x + 26}" y1="{y}" y2="{y}" stroke="{COLOURS[engine]}" stroke-width="2.5"/>')
        parts.append(f'<text x="{x + 32}" y="{y + 4}">{engine}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _panel(left: float, title: str, measured: Sequence[Curve], labelled: bool, decades: tuple[int, int]) -> list[str]:
    def x(time: float) -> float:
        return left + WIDTH * (math.log10(time) - decades[0]) / (decades[1] - decades[0])

    def y(error: float) -> float:
        return TOP + HEIGHT * (ERROR[1] - math.log10(error)) / (ERROR[1] - ERROR[0])

    parts = [f'<text x="{left + WIDTH / 2}" y="{TOP - 12}" text-anchor="middle" font-weight="bold">{title}</text>']
    for decade in range(ERROR[0], ERROR[1] + 1, 2):
        at = y(10.0**decade)
        parts.append(f'<line x1="{left}" x2="{left + WIDTH}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>')
        if labelled:
            parts.append(f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">1e{decade}</text>')
    units = {-5: "10 us", -4: "100 us", -3: "1 ms", -2: "10 ms", -1: "100 ms", 0: "1 s"}
    for decade in range(decades[0], decades[1] + 1):
        at = x(10.0**decade)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{TOP + HEIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{at:.1f}" y="{TOP + HEIGHT + 17}" text-anchor="middle">{units[decade]}</text>')
    parts.append(f'<text x="{left + WIDTH / 2}" y="{TOP + HEIGHT + 35}" text-anchor="middle">processor time</text>')
    for curve in sorted(measured, key=lambda c: c.engine == "FMU"):  # ours on top
        shown = [
            (x(p.time), y(min(max(p.error, 10.0 ** ERROR[0]), 1.0)))
            for p in curve.points
            if decades[0] <= math.log10(p.time) <= decades[1]
        ]
        colour, strong = COLOURS[curve.engine], curve.engine == "FMU" and curve.method == FMU
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in shown)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{2.5 if strong else 1}">'
            f"<title>{curve.engine}, {curve.method}</title></polyline>"
        )
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{2.5 if strong else 1.5}" fill="{colour}"/>' for a, b in shown]
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figure", type=Path, help="SVG file to write")
    target = parser.parse_args().figure
    with tempfile.TemporaryDirectory() as folder:
        print(f"one call from Python: {overhead(Path(folder)) * 1e6:.1f} us")
        measured = {}
        for name, problem in PROBLEMS.items():
            measured[name] = list(curves(problem, Path(folder)))
            print(table(problem, measured[name]), flush=True)
    target.write_text(draw({PROBLEMS[n].title: c for n, c in measured.items()}), encoding="utf-8")


if __name__ == "__main__":
    main()
