"""Terminals of FMUs: those of ours say what their ports are, and a scenario connects those of any tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from foreign import BODY, GAIN, Var, foreign_fmu, renamed
from lxml import etree

from fmu_builder import run
from fmu_builder.cosim.port_names import find_ports
from fmu_builder.cosim.slave import SlaveDescription, read_slave
from fmu_builder.errors import InputError
from fmu_builder.export.documentation import documentation_files
from fmu_builder.export.fmi3_variables import Fmi
from fmu_builder.export.fmu import fmu_contents, host_fmu, pack
from fmu_builder.export.terminals import FILE, terminals_schema
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import Model
from fmu_builder.model.scenario import Conversion
from fmu_builder.model.terminals import port_of
from fmu_builder.model.wiring import Wiring, wire
from fmu_builder.paths import catalogue, shipped

VERSIONS: tuple[Fmi, ...] = (2, 3)

OTHER = renamed(BODY, {"p.r": "place", "p.v": "speed", "p.f": "load"})


def terminal(name: str, members: Sequence[tuple[str, str, str]], rule: str = "plug", kind: str = "") -> str:
    """members: name, variable, kind"""
    inside = "".join(
        f'<TerminalMemberVariable memberName="{member}" variableName="{variable}" variableKind="{of}"/>'
        for member, variable, of in members
    )
    stated = f' terminalKind="{kind}"' if kind else ""
    return f'<Terminal name="{name}" matchingRule="{rule}"{stated}>{inside}</Terminal>'


def document(*terminals: str) -> dict[str, bytes]:
    text = f'<fmiTerminalsAndIcons fmiVersion="3.0"><Terminals>{"".join(terminals)}</Terminals></fmiTerminalsAndIcons>'
    return {FILE: text.encode()}


def point(flow: str = "inflow") -> list[tuple[str, str, str]]:
    named = (("r", "place", "signal"), ("v", "speed", "signal"), ("f", "load", flow))
    return [(f"{role}[{i}]", f"{name}[{i}]", kind) for role, name, kind in named for i in (1, 2, 3)]


def body(folder: Path, *terminals: str) -> SlaveDescription:
    return read_slave(foreign_fmu(folder, "Spring", OTHER, platforms=(), files=document(*terminals)))


def wired(slaves: dict[str, SlaveDescription], *pair: str) -> Wiring:
    return wire(Path("system.toml"), [(pair[0], pair[1])], slaves)


def refusal(slaves: dict[str, SlaveDescription], *pair: str) -> str:
    with pytest.raises(InputError) as caught:
        wired(slaves, *pair)
    return str(caught.value)


def described(recipe: str, folder: Path) -> SlaveDescription:
    """What the FMU of a recipe shows, without its binaries."""
    path = folder / f"{recipe}.fmu"
    path.write_bytes(pack(fmu_contents(load_model(shipped("fmus") / f"{recipe}.toml"))[1]))
    return read_slave(path)


def check_terminals(recipe: str) -> None:
    model = load_model(shipped("fmus") / f"{recipe}.toml")
    for fmi in VERSIONS:
        check_file(documentation_files(model, fmi), model)


def check_file(files: Mapping[str, bytes], model: Model) -> None:
    """The file is valid, has one terminal for each port in its order, and flows that are positive into the FMU."""
    root = etree.fromstring(files[FILE])
    terminals_schema().assertValid(root)
    assert [one.get("name") for one in root.iter("Terminal")] == [port.name for port in model.ports]
    for one, port in zip(root.iter("Terminal"), model.ports, strict=True):
        flow = {"body": "inflow", "force": "outflow"}[port.side]
        members = [(m.get("variableName"), m.get("variableKind")) for m in one]
        assert members == [(n, "signal") for n in port.motion_names] + [(n, flow) for n in port.force_names]
        assert one.get("terminalKind") == f"org.fmu-builder.{port.kind}"
    assert files["terminalsAndIcons/icon.png"] == files["model.png"]
    etree.fromstring(files["terminalsAndIcons/icon.svg"])


@pytest.mark.parametrize("recipe", ["PointSurface", "TwoDBody", "PendulumOnFloor", "SliderCrank"])
def test_an_fmu_describes_its_ports_as_terminals(recipe: str) -> None:
    check_terminals(recipe)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", [path.stem for path in catalogue()])
def test_every_fmu_describes_its_ports_as_terminals(recipe: str) -> None:
    check_terminals(recipe)


@pytest.mark.parametrize("recipe", ["PointSurface", "RotationalSpringByAngles", "TwoDBody", "RigidBody"])
def test_the_terminals_of_our_fmus_are_the_ports_that_their_names_show(recipe: str, tmp_path: Path) -> None:
    description = described(recipe, tmp_path)
    named = {port.name: port for port in find_ports(description.variables)}
    assert named
    assert description.ports == named
    variables = description.variables
    of_terminals = {name: port_of(terminal, variables) for name, terminal in description.terminals.items()}
    assert {name: replace(port, description="") for name, port in of_terminals.items() if port} == named


def test_an_element_without_ports_and_icon_has_no_such_file(tmp_path: Path) -> None:
    (tmp_path / "elements" / "source").mkdir(parents=True)
    (tmp_path / "elements" / "source" / "element.toml").write_text(
        'description = "A constant"\n[parameters.a]\ndescription = "value"\nstart = 1\n'
        '[outputs.y]\ndescription = "the value"\ndepends = ["a"]\n'
    )
    (tmp_path / "elements" / "source" / "element.c").write_text("")
    (tmp_path / "Source.toml").write_text('element = "elements/source"\n')
    assert not [n for n in documentation_files(load_model(tmp_path / "Source.toml")) if n.startswith("terminals")]


# ---- FMUs of other tools ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["", "org.fmu-builder.point", "com.example.foot"])
def test_a_terminal_with_the_members_of_a_port_is_one_whatever_its_variables_are_called(
    kind: str, tmp_path: Path
) -> None:
    slaves = {
        "ball": body(tmp_path, terminal("foot", point(), kind=kind)),
        "floor": described("PointSurface", tmp_path),
    }
    assert slaves["ball"].ports["foot"].side == "body"
    sources = wired(slaves, "ball.foot", "floor.point").sources
    assert sources["ball", "load[2]"] == (("floor", "point.f[2]"),)
    assert sources["floor", "point.v[3]"] == (("ball", "speed[3]"),)
    assert len(sources) == 9


def test_a_force_with_the_other_sign_is_no_port_and_turned_on_its_way(tmp_path: Path) -> None:
    ball = body(tmp_path, terminal("foot", point("outflow")))
    assert ball.ports == {}
    wiring = wired({"ball": ball, "floor": described("PointSurface", tmp_path)}, "ball.foot", "floor.point")
    changed = {target: change for (_, target), change in wiring.conversions.items()}
    assert changed == {("ball", f"load[{i}]"): Conversion(-1.0, 0.0) for i in (1, 2, 3)}


def test_flows_of_several_terminals_add_up_and_other_inputs_have_one_source(tmp_path: Path) -> None:
    gain = foreign_fmu(
        tmp_path,
        "Gain",
        GAIN,
        platforms=(),
        files=document(terminal("out", [("i", "y", "inflow")]), terminal("in", [("i", "u", "inflow")])),
    )
    slaves = dict.fromkeys(("a", "b", "c"), read_slave(gain))
    file = Path("system.toml")
    wiring = wire(file, [("a.out", "c.in"), ("b.out", "c.in")], slaves)
    assert wiring.sources["c", "u"] == (("a", "y"), ("b", "y"))
    assert set(wiring.conversions.values()) == {Conversion(-1.0, 0.0)}
    with pytest.raises(InputError, match=r"c\.u already gets a\.y"):
        wire(file, [("a.out", "c.in"), ("b.out", "c.in")], dict.fromkeys(slaves, signals(gain)))


def signals(gain: Path) -> SlaveDescription:
    """The same with signals in the place of flows."""
    found = read_slave(gain)
    terminals = {
        name: replace(one, members=tuple(replace(m, kind="signal") for m in one.members))
        for name, one in found.terminals.items()
    }
    return replace(found, terminals=terminals)


@pytest.mark.parametrize(
    ("rule", "first", "second", "joined"),
    [
        ("bus", [("a", "y", "signal"), ("x", "b", "signal")], [("a", "u", "signal"), ("z", "a", "signal")], True),
        ("sequence", [("first", "y", "signal")], [("other", "u", "signal")], True),
        ("plug", [("a", "y", "signal")], [("b", "u", "signal")], False),
        ("sequence", [("a", "y", "signal"), ("b", "b", "signal")], [("a", "u", "signal")], False),
        ("none", [("a", "y", "signal")], [("a", "u", "signal")], False),
        ("plug", [("a", "y", "signal")], [("a", "u", "inflow")], False),
        ("plug", [("a", "missing", "signal")], [("a", "u", "signal")], False),
    ],
)
def test_members_meet_by_the_rule_of_their_terminals(
    tmp_path: Path,
    rule: str,
    first: list[tuple[str, str, str]],
    second: list[tuple[str, str, str]],
    joined: bool,
) -> None:
    files = document(terminal("one", first, rule), terminal("two", second, rule))
    gain = read_slave(foreign_fmu(tmp_path, "Gain", GAIN, platforms=(), files=files))
    slaves = {"g": gain, "h": gain}
    if joined:
        assert dict(wired(slaves, "g.one", "h.two").sources) == {("h", "u"): (("g", "y"),)}
    else:
        assert refusal(slaves, "g.one", "h.two").startswith("system.toml: connections [g.one, h.two]: ")


def test_nested_terminals_have_the_names_of_those_around_them(tmp_path: Path) -> None:
    inner = terminal("pin", [("y", "y", "signal")])
    outer = f'<Terminal name="plug" matchingRule="bus">{inner}</Terminal>'
    gain = read_slave(foreign_fmu(tmp_path, "Gain", GAIN, platforms=(), files=document(outer)))
    assert list(gain.terminals) == ["plug", "plug.pin"]


@pytest.mark.parametrize(
    "text", [b"", b"<fmiTerminalsAndIcons", b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>']
)
def test_an_fmu_with_a_damaged_file_of_terminals_runs_without_them(text: bytes, tmp_path: Path) -> None:
    gain = read_slave(foreign_fmu(tmp_path, "Gain", GAIN, platforms=(), files={FILE: text}))
    assert gain.terminals == {}


def test_terminals_are_found_by_their_names_and_near_names_are_offered(tmp_path: Path) -> None:
    slaves = {
        "ball": body(tmp_path, terminal("foot", point())),
        "g": read_slave(foreign_fmu(tmp_path, "G", (Var("u", 16, "input", start="0"),), platforms=())),
    }
    assert "did you mean 'foot'?" in refusal(slaves, "ball.fot", "g.u")


@pytest.mark.slow
def test_a_system_runs_over_a_terminal_as_over_a_port(tmp_path: Path) -> None:
    floor = host_fmu(shipped("fmus") / "PointSurface.toml")
    named = foreign_fmu(tmp_path, "Named", BODY)
    other = foreign_fmu(tmp_path, "Other", OTHER, files=document(terminal("foot", point())))
    heights = []
    for fmu, port, height in ((named, "p", "p.r[3]"), (other, "foot", "place[3]")):
        path = tmp_path / f"{fmu.stem}.toml"
        path.write_text(
            f'connections = [["ball.{port}", "floor.point"]]\n[experiment]\nstop = "5 ms"\nstep = "1 ms"\n[slaves]\n'
            f'ball = {{ recipe = "{fmu}", start = {{ r0 = [0, 0, "-1 mm"] }} }}\nfloor = {{ recipe = "{floor}" }}\n'
        )
        heights.append(list(run(path).trace[f"ball.{height}"]))
    assert heights[0] == heights[1]
    assert heights[0][-1] > heights[0][0] == -0.001
