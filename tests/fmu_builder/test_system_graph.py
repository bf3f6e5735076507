"""The picture of a system: its cables with units, its algebraic loops, and where things stand on the sheet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from foreign import GAIN, foreign_fmu
from lxml import etree

from fmu_builder.cli import showing
from fmu_builder.cosim.master import load_scenario, system_of
from fmu_builder.cosim.system_graph import SystemGraph, algebraic_loops, graph_of
from fmu_builder.cosim.validation import find_cases, run_case
from fmu_builder.errors import InputError
from fmu_builder.report import write_report
from fmu_builder.report.system_figure import system_svg

TEXT = """
connections = [
    ["body.p", "floor.point"], ["body.p", "wall.point"], ["a.y", "b.u"], ["b.y", "c.u"], ["c.y", "a.u"], ["c.y", "d.u"],
]
[experiment]
stop = "1 ms"
step = "0.1 ms"
[slaves]
body = "PointMass"
floor = "PointSurface"
wall = "PointSurface"
a = { recipe = "Gain.fmu", start = { a = 0.5 } }
b = "Gain.fmu"
c = "Gain.fmu"
d = "Gain.fmu"
[drive]
"wall.surface.r[3]" = "1[mm]*sin(#t/1[s])"
"""


@pytest.fixture
def graph(tmp_path: Path) -> SystemGraph:
    return graph_of(system_of(load_scenario(written(tmp_path))))


def written(folder: Path) -> Path:
    foreign_fmu(folder, "Gain", GAIN, "g0--")
    path = folder / "system.toml"
    path.write_text(TEXT)
    return path


# ---- the graph ---------------------------------------------------------------------------------------------------


def test_a_cable_holds_all_connections_of_two_ports_with_their_units(graph: SystemGraph) -> None:
    cable = next(c for c in graph.cables if ("floor", "point") in c.ends)
    body_first = cable.ends[0] == ("body", "p")
    flows = {flow.kind: flow for flow in cable.flows}
    assert flows["motion"].quantities == (("r", "m"), ("v", "m/s"))
    assert flows["force"].quantities == (("f", "N"),)
    assert (flows["motion"].forward, flows["force"].forward) == (body_first, not body_first)


def test_a_cable_between_units_shows_both(tmp_path: Path) -> None:
    for name, units in (("First", {"y": "m"}), ("Second", {"u": "mm"})):
        foreign_fmu(tmp_path, name, [replace(v, unit=units.get(v.name)) for v in GAIN], "g0--")
    path = tmp_path / "units.toml"
    slaves = '[slaves]\na = "First.fmu"\nb = "Second.fmu"\n'
    path.write_text(f'connections = [["a.y", "b.u"]]\n[experiment]\nstop = "1 ms"\nstep = "1 ms"\n{slaves}')
    (cable,) = graph_of(system_of(load_scenario(path))).cables
    assert cable.flows[0].quantities == (("y", "m → mm"),)


def test_boxes_name_what_is_driven_and_what_is_not_connected(graph: SystemGraph) -> None:
    boxes = {box.name: box for box in graph.boxes}
    assert list(boxes) == ["body", "floor", "wall", "a", "b", "c", "d"]
    assert (boxes["floor"].driven, boxes["floor"].open) == ((), ("surface",))
    assert (boxes["wall"].driven, boxes["wall"].open) == (("surface.r", "surface.v"), ())
    assert boxes["wall"].step == 1e-4


def test_a_loop_through_outputs_that_depend_on_inputs_is_found_and_marked(graph: SystemGraph) -> None:
    assert graph.loops == (("a.u", "a.y", "b.u", "b.y", "c.u", "c.y"),)
    looped = {cable.ends for cable in graph.cables if any(flow.loop for flow in cable.flows)}
    assert looped == {(("a", "y"), ("b", "u")), (("b", "y"), ("c", "u")), (("c", "y"), ("a", "u"))}


def test_a_force_on_a_body_closes_no_loop_as_the_motion_does_not_depend_on_it(graph: SystemGraph) -> None:
    assert not any("body" in variable for loop in graph.loops for variable in loop)


@dataclass(frozen=True)
class Random:
    """Slaves of two inputs and two outputs each, randomly dependent and connected."""

    slaves: dict[str, Any]
    sources: dict[tuple[str, str], tuple[tuple[str, str], ...]]

    @classmethod
    def of(cls, seed: int) -> Random:
        random = np.random.default_rng(seed)
        names = [f"s{k}" for k in range(6)]
        chosen = [None, frozenset(), frozenset({"u1"}), frozenset({"u1", "u2"})]
        slaves = {
            name: SimpleNamespace(
                variables={y: SimpleNamespace(depends=chosen[random.integers(4)]) for y in ("y1", "y2")}
            )
            for name in names
        }
        sources = {}
        for name in names:
            for u in ("u1", "u2"):
                if random.random() < 0.6:
                    sources[name, u] = ((names[random.integers(6)], f"y{random.integers(1, 3)}"),)
        return cls(slaves, sources)

    def follows(self, a: tuple[str, str], b: tuple[str, str]) -> bool:
        """Whether b depends on a at the same time, without anything in between."""
        if a in self.sources.get(b, ()):
            return True
        if a[0] != b[0] or a not in self.sources or b[1] not in ("y1", "y2"):
            return False
        depends = self.slaves[b[0]].variables[b[1]].depends
        return depends is None or a[1] in depends


@pytest.mark.parametrize("seed", range(60))
def test_loops_are_what_a_search_of_all_ways_finds(seed: int) -> None:
    system = Random.of(seed)
    used = {source for givers in system.sources.values() for source in givers}
    nodes = sorted({*system.sources, *used})
    steps = np.array([[system.follows(a, b) for b in nodes] for a in nodes])
    reach = steps.copy()
    for k in range(len(nodes)):  # Warshall
        reach |= np.outer(reach[:, k], reach[k])
    together = {frozenset(b for j, b in enumerate(nodes) if reach[i, j] and reach[j, i]) for i in range(len(nodes))}
    loops = algebraic_loops(system.slaves, system.sources)
    assert len(loops) == len(together - {frozenset()})
    for loop in loops:
        assert any(set(loop) <= group for group in together)
        assert all(system.follows(a, b) for a, b in pairwise((*loop, loop[0])))


def test_some_of_these_systems_have_loops_and_some_have_none() -> None:
    counts = [len(algebraic_loops(system.slaves, system.sources)) for system in map(Random.of, range(60))]
    assert min(counts) == 0 and max(counts) >= 2


# ---- the picture -------------------------------------------------------------------------------------------------


def elements(svg: str, tag: str) -> Sequence[etree._Element]:
    return list(etree.fromstring(svg.encode()).iter(f"{{http://www.w3.org/2000/svg}}{tag}"))


def test_the_picture_shows_slaves_ports_quantities_units_rates_and_loops(graph: SystemGraph) -> None:
    texts = ["".join(one.itertext()) for one in elements(system_svg(graph), "text")]
    for expected in ("body", "floor", "point", "r [m], v [m/s] →", "← f [N]", "PointSurface, every 100 µs"):
        assert expected in texts
    assert "surface.r driven" in texts and "surface not connected" in texts
    assert any("a.u → a.y → b.u → b.y → c.u → c.y → a.u" in text for text in texts)
    assert system_svg(graph) == system_svg(graph)


def test_boxes_stand_apart_inside_the_sheet_and_lines_end_at_ports(graph: SystemGraph) -> None:
    svg = system_svg(graph)
    width, height = (float(etree.fromstring(svg.encode()).get(key)) for key in ("width", "height"))
    rectangles = [[float(r.get(key)) for key in ("x", "y", "width", "height")] for r in elements(svg, "rect")]
    boxes = [r for r in rectangles if r[2] >= 150.0 and r[2] < width]
    assert len(boxes) == len(graph.boxes)
    for k, (x, y, w, h) in enumerate(boxes):
        assert x > 0.0 and x + w < width and y > 0.0 and y + h < height
        for x_2, y_2, w_2, h_2 in boxes[:k]:
            assert x + w < x_2 or x_2 + w_2 < x or y + h < y_2 or y_2 + h_2 < y
    ports = {(round(x + w / 2), round(y + h / 2)) for x, y, w, h in rectangles if w == h == 11.0}
    for line in elements(svg, "polyline"):
        points = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
        if len(points) == 4:
            assert all((round(x), round(y)) in ports for x, y in (points[0], points[-1]))


def test_names_of_others_cannot_break_the_picture(tmp_path: Path) -> None:
    path = written(tmp_path)
    graph = graph_of(system_of(load_scenario(path)))
    box = graph.boxes[0]
    strange = type(box)(box.name, '<script>{x_"&', box.step, box.driven, box.open)
    svg = system_svg(
        type(graph)("<b>", graph.algorithm, graph.order, (strange, *graph.boxes[1:]), graph.cables, graph.loops)
    )
    texts = ["".join(one.itertext()) for one in elements(svg, "text")]
    assert '<script>(x_"&, every 100 µs' in texts
    assert not elements(svg, "script")


# ---- the command and the report -----------------------------------------------------------------------------------


def test_the_command_writes_a_picture_or_a_page_and_prints_the_loops(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path)
    showing.show_system(str(path), tmp_path / "made" / "system.svg", as_json=False)
    assert "algebraic loop: a.u -> a.y -> b.u" in capsys.readouterr().out
    picture = (tmp_path / "made" / "system.svg").read_text()
    showing.show_system(str(path), tmp_path / "system.html", as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert [box["name"] for box in shown["boxes"]][:2] == ["body", "floor"]
    assert picture.strip() in (tmp_path / "system.html").read_text()


def test_another_kind_of_file_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"system.png: is neither .svg nor .html"):
        showing.show_system("no such scenario", tmp_path / "system.png", as_json=False)


def test_the_report_of_a_case_of_several_slaves_holds_its_system(tmp_path: Path) -> None:
    path = next(iter(find_cases(["drop_elastic"]).values()))
    write_report([run_case("drop_elastic", path)], tmp_path / "report.html", title="test")
    page = (tmp_path / "report.html").read_text()
    assert page.count('<details class="system"><summary>system</summary><svg') == 1
