"""The picture of a system: boxes for slaves, squares for ports, lines for connections with quantities and units.

Slaves stand in columns by their distance from the first one, so a line joins neighbours; what goes to the right is
written above a line, what goes to the left below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fmu_builder.cosim.system_graph import Box, Cable, End, Flow, SystemGraph
from fmu_builder.drawing import FAINT, FORCE, GREY, INK, MATERIAL, MOTION, Drawing, Point
from fmu_builder.errors import InputError, Problem
from fmu_builder.export.documentation import templates
from fmu_builder.files import write_whole
from fmu_builder.model.scenario import ALGORITHMS
from fmu_builder.report.figure_sheet import scale_of

_MARGIN, _TITLE, _HEAD, _ROW, _LINE = 24.0, 64.0, 52.0, 44.0, 17.0  # px
_BOX, _LETTER = 150.0, 7.4  # least width of a box; width of a letter of 13 px
_COLOURS = {"motion": MOTION, "force": FORCE, "signal": INK}
_LOOP = "#8a3ffc"


@dataclass
class _Placed:
    """A box on the sheet: where it is, and the row of each of its ports on either side."""

    box: Box
    column: int
    left: list[str] = field(default_factory=list)
    right: list[str] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    width: float = _BOX

    @property
    def notes(self) -> list[str]:
        """What stands below the rows."""
        return [f"{name} driven" for name in self.box.driven] + [f"{name} not connected" for name in self.box.open]

    @property
    def height(self) -> float:
        return _HEAD + _ROW * max(len(self.left), len(self.right), 0) + _LINE * len(self.notes) + 8.0

    def port(self, name: str, right: bool) -> Point:
        row = (self.right if right else self.left).index(name)
        return self.x + self.width * right, self.y + _HEAD + _ROW * (row + 0.5) - 8.0


def system_svg(graph: SystemGraph) -> str:
    """The picture as SVG; equal systems give equal text."""
    placed = _columns(graph)
    sides = _sides(graph, placed)
    gaps = _gaps(graph, placed)
    width, height = _place(placed, gaps)
    below = _below(graph)
    needed = _LETTER * max(map(len, (*below, _subtitle(graph)))) + 2 * _MARGIN
    drawing = Drawing(max(width, needed), height + _LINE * len(below) + _MARGIN, graph.name)
    drawing.text((_MARGIN, 32), graph.name, size=18, bold=True)
    drawing.text((_MARGIN, 52), _subtitle(graph), GREY, 13)
    for cable in graph.cables:
        _draw_cable(drawing, cable, placed, sides[cable.ends])
    for one in placed.values():
        _draw_box(drawing, one)
    for k, text in enumerate(below):
        drawing.text((_MARGIN, height + _LINE * (k + 1)), _plain(text), _LOOP, 13)
    return drawing.svg()


def write_system(graph: SystemGraph, path: Path) -> None:
    """The picture as an .svg, or on a page of its own, .html.   Raises InputError for another suffix, ToolError."""
    check_suffix(path)
    svg = system_svg(graph)
    if path.suffix == ".html":
        svg = templates().get_template("system.html").render(title=graph.name, svg=svg)
    write_whole(path, svg)


def check_suffix(path: Path) -> None:
    """Raises InputError for a file that is no .svg or .html."""
    if path.suffix not in (".svg", ".html"):
        raise InputError(Problem(str(path), "is neither .svg nor .html, which a picture of a system can be"))


def _subtitle(graph: SystemGraph) -> str:
    algorithm = ALGORITHMS.get(graph.algorithm, graph.algorithm)
    order = ", ".join(graph.order)
    return f"{algorithm}, in the order {order}" if len(graph.order) > 1 else algorithm


def _below(graph: SystemGraph) -> list[str]:
    if not graph.loops:
        return []
    return ["algebraic loops, in which outputs depend on one another at the same time:"] + [
        "  " + " → ".join((*loop, loop[0])) for loop in graph.loops
    ]


def _plain(text: str) -> str:
    """Without the braces that mark symbols in a drawing."""
    return text.replace("{", "(").replace("}", ")")


# ---- where things stand ------------------------------------------------------------------------------------------


def _columns(graph: SystemGraph) -> dict[str, _Placed]:
    """Each slave in the column of its distance from the first one that it is connected to, in the order found."""
    beside: dict[str, list[str]] = {box.name: [] for box in graph.boxes}
    for cable in graph.cables:
        a, b = (slave for slave, _ in cable.ends)
        beside[a].append(b)
        beside[b].append(a)
    boxes = {box.name: box for box in graph.boxes}
    placed: dict[str, _Placed] = {}
    for first in boxes:
        if first in placed:
            continue
        placed[first] = _Placed(boxes[first], 0)
        front = [first]
        while front:
            column = placed[front[0]].column + 1
            new = [b for a in front for b in dict.fromkeys(beside[a]) if b not in placed]
            front = list(dict.fromkeys(new))
            placed |= {name: _Placed(boxes[name], column) for name in front}
    return placed


def _sides(graph: SystemGraph, placed: Mapping[str, _Placed]) -> dict[tuple[End, End], tuple[bool, bool]]:
    """For each cable whether it begins and ends on the right of its boxes; adds its rows to them."""
    sides = {}
    for cable in graph.cables:
        (a, port_a), (b, port_b) = cable.ends
        step = placed[b].column - placed[a].column  # within one column both are on the right
        right = (step >= 0, step <= 0)
        sides[cable.ends] = right
        for slave, port, on_right in ((a, port_a, right[0]), (b, port_b, right[1])):
            rows = placed[slave].right if on_right else placed[slave].left
            if port not in rows:
                rows.append(port)
    return sides


def _texts(flow: Flow) -> str:
    return ", ".join(f"{name} [{unit}]" if unit and unit != "1" else name for name, unit in flow.quantities)


def _gaps(graph: SystemGraph, placed: Mapping[str, _Placed]) -> dict[int, float]:
    """The space on the right of each column, which holds the longest text on a line there."""
    gaps: dict[int, float] = {}
    for cable in graph.cables:
        column = min(placed[slave].column for slave, _ in cable.ends)
        longest = max((len(_texts(flow)) for flow in cable.flows), default=0)
        gaps[column] = max(gaps.get(column, 90.0), 56.0 + _LETTER * longest)
    return gaps


def _place(placed: Mapping[str, _Placed], gaps: Mapping[int, float]) -> tuple[float, float]:
    """Sets places and sizes of the boxes; returns the size of the sheet."""
    for one in placed.values():
        ports = max((len(a) + len(b) for a, b in zip(*_padded(one.left, one.right), strict=True)), default=0)
        texts = [len(one.box.name) + 2, len(_model(one)), ports + 4, *(len(note) + 2 for note in one.notes)]
        one.width = max(_BOX, _LETTER * max(texts) + 20.0)
    columns = range(max(one.column for one in placed.values()) + 1)
    x, height = _MARGIN, 0.0
    for column in columns:
        members = [one for one in placed.values() if one.column == column]
        y = _TITLE + 12.0
        for one in members:
            one.x, one.y = x, y
            y += one.height + 28.0
        width = max((one.width for one in members), default=0.0)
        for one in members:
            one.width = width
        x += width + gaps.get(column, 0.0)
        height = max(height, y)
    return x + _MARGIN, height


def _padded(left: Sequence[str], right: Sequence[str]) -> tuple[list[str], list[str]]:
    rows = max(len(left), len(right))
    return [*left, *[""] * (rows - len(left))], [*right, *[""] * (rows - len(right))]


def _model(one: _Placed) -> str:
    return f"{one.box.model}, every {scale_of(one.box.step, 's').text(one.box.step, 6)}"


# ---- what is drawn -----------------------------------------------------------------------------------------------


def _draw_box(drawing: Drawing, one: _Placed) -> None:
    drawing.rectangle(one.x, one.y, one.width, one.height, MATERIAL, INK, 5)
    drawing.text((one.x + one.width / 2, one.y + 20), _plain(one.box.name), size=15, anchor="middle", bold=True)
    drawing.text((one.x + one.width / 2, one.y + 37), _plain(_model(one)), GREY, 12, "middle")
    drawing.line([(one.x + 8, one.y + 44), (one.x + one.width - 8, one.y + 44)], FAINT, 1)
    for right, names in ((False, one.left), (True, one.right)):
        for name in names:
            x, y = one.port(name, right)
            drawing.port((x, y))
            at, anchor = (x - 10, "end") if right else (x + 10, "start")
            drawing.text((at, y + 4.5), _plain(name), size=13, anchor=anchor)
    for k, note in enumerate(one.notes):
        y = one.y + one.height - 8 - _LINE * (len(one.notes) - 1 - k)
        drawing.text((one.x + 10, y), _plain(note), GREY, 12)


def _draw_cable(drawing: Drawing, cable: Cable, placed: Mapping[str, _Placed], right: tuple[bool, bool]) -> None:
    (a, port_a), (b, port_b) = cable.ends
    start, end = placed[a].port(port_a, right[0]), placed[b].port(port_b, right[1])
    loop = any(flow.loop for flow in cable.flows)
    color, width = (_LOOP, 2.2) if loop else (GREY, 1.5)
    if right[0] == right[1]:  # of one column: around on the right
        x = max(start[0], end[0]) + 26.0
        drawing.line([start, (x, start[1]), (x, end[1]), end], color, width)
        anchor, places = "start", [(x + 8.0, (start[1] + end[1]) / 2 + _LINE * k) for k in range(len(cable.flows))]
        rightward = [True] * len(cable.flows)
    else:
        (x_1, y_1), (x_2, y_2) = sorted((start, end))
        bend = x_1 + 24.0
        drawing.line([(x_1, y_1), (bend, y_1), (x_2 - 24.0, y_2), (x_2, y_2)], color, width)
        rightward = [flow.forward == (start[0] <= end[0]) for flow in cable.flows]
        above, under = rightward.count(True), 0
        anchor, places = "middle", []
        middle, level = (x_1 + x_2) / 2, (y_1 + y_2) / 2
        for goes_right in rightward:
            if goes_right:
                places.append((middle, level - 6.0 - _LINE * (above - 1)))
                above -= 1
            else:
                under += 1
                places.append((middle, level + _LINE * under))
    for flow, place, goes_right in zip(cable.flows, places, rightward, strict=True):
        text = f"{_texts(flow)} →" if goes_right else f"← {_texts(flow)}"
        if right[0] == right[1]:
            text = f"{_texts(flow)} {'↓' if flow.forward == (start[1] < end[1]) else '↑'}"
        drawing.text(place, _plain(text), _COLOURS[flow.kind], 13, anchor, halo="#ffffff")
