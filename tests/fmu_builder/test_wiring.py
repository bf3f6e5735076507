"""Connections of ports and variables: what is wired, what is refused and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from foreign import BODY, GAIN, Var, foreign_fmu, model_description, renamed

from fmu_builder.cosim.initialization import initial_order
from fmu_builder.cosim.slave import SlaveDescription, read_slave
from fmu_builder.errors import InputError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.model.scenario import Conversion
from fmu_builder.model.wiring import Wiring, wire
from fmu_builder.paths import shipped

FILE = Path("system.toml")
FRAME = tuple(
    Var(f"base.{role}[{i + 1}]", 20 + i, causality, start=None if causality == "output" else "0")
    for role, size, causality in (
        ("r", 3, "output"),
        ("q", 4, "output"),
        ("v", 3, "output"),
        ("w", 3, "output"),
        ("f", 3, "input"),
        ("t", 3, "input"),
    )
    for i in range(size)
)


@pytest.fixture
def slaves(tmp_path: Path) -> dict[str, SlaveDescription]:
    """a, b: bodies with a point; frame: a body with a frame; floor: contact; g, h: y = a u + b."""
    body = read_slave(foreign_fmu(tmp_path, "Spring", platforms=()))
    gain = read_slave(foreign_fmu(tmp_path, "Gain", GAIN, platforms=()))
    frame = read_slave(foreign_fmu(tmp_path, "Carrier", FRAME, platforms=()))
    floor = read_slave(host_fmu(shipped("fmus") / "PointSurface.toml"))
    return {"a": body, "b": body, "frame": frame, "floor": floor, "wall": floor, "g": gain, "h": gain}


def wired(slaves: dict[str, SlaveDescription], *pairs: tuple[str, str], free_moment: bool = False) -> Wiring:
    return wire(FILE, pairs, slaves, free_moment=free_moment)


def refusal(slaves: dict[str, SlaveDescription], *pairs: tuple[str, str]) -> list[str]:
    with pytest.raises(InputError) as caught:
        wired(slaves, *pairs)
    lines = str(caught.value).splitlines()
    assert all(line.startswith("system.toml: connections [") for line in lines)
    return lines


@pytest.mark.parametrize("pair", [("a.p", "floor.point"), ("floor.point", "a.p")])
def test_a_connection_of_ports_wires_motion_one_way_and_force_the_other(
    slaves: dict[str, SlaveDescription], pair: tuple[str, str]
) -> None:
    sources = wired(slaves, pair).sources
    expected = {("floor", f"point.{q}[{i}]"): (("a", f"p.{q}[{i}]"),) for q in "rv" for i in (1, 2, 3)}
    expected |= {("a", f"p.f[{i}]"): (("floor", f"point.f[{i}]"),) for i in (1, 2, 3)}
    assert dict(sources) == expected


def test_single_variables_connect_from_output_to_input_whichever_comes_first(
    slaves: dict[str, SlaveDescription],
) -> None:
    assert dict(wired(slaves, ("g.u", "h.y")).sources) == {("g", "u"): (("h", "y"),)}
    assert dict(wired(slaves, ("h.y", "g.u")).sources) == {("g", "u"): (("h", "y"),)}


def test_forces_on_a_body_add_in_the_order_of_the_connections(slaves: dict[str, SlaveDescription]) -> None:
    sources = wired(slaves, ("a.p", "wall.point"), ("a.p", "floor.point")).sources
    assert sources["a", "p.f[3]"] == (("wall", "point.f[3]"), ("floor", "point.f[3]"))
    assert sources["wall", "point.r[1]"] == (("a", "p.r[1]"),)


def test_a_motion_has_one_source(slaves: dict[str, SlaveDescription]) -> None:
    (line,) = refusal(slaves, ("a.p", "floor.point"), ("b.p", "floor.point"))  # r and v of the point
    assert line.endswith(
        "connections [b.p, floor.point]: floor.point.r[1] already gets a.p.r[1], and 5 further variables have a source;"
        " only forces on a body may have several sources"
    )


def test_the_same_connection_again_is_named_once(slaves: dict[str, SlaveDescription]) -> None:
    pair = ("a.p", "floor.point")
    (line,) = refusal(slaves, pair, pair[::-1])
    assert line.endswith("connections [a.p, floor.point]: is given twice; remove all but one")
    (line,) = refusal(slaves, pair, pair, pair)
    assert line.endswith("is given 3 times; remove all but one")


def test_a_force_of_a_connection_is_not_connected_by_itself_again(slaves: dict[str, SlaveDescription]) -> None:
    (line,) = refusal(slaves, ("a.p", "floor.point"), ("floor.point.f[1]", "a.p.f[1]"))
    assert "floor.point.f[1] is connected to a.p.f[1] twice" in line


def test_a_point_on_a_frame_needs_free_moment_and_is_noted(slaves: dict[str, SlaveDescription]) -> None:
    (line,) = refusal(slaves, ("a.p", "floor.surface"))
    assert "a.p is a point and cannot take the moment of floor.surface" in line and "free_moment = true" in line
    wiring = wired(slaves, ("a.p", "floor.surface"), free_moment=True)
    assert any("the moment of floor.surface acts on nothing" in note for note in wiring.notes)
    assert any("floor.surface: surface.q[1], " in note and "kept at the start values" in note for note in wiring.notes)
    assert ("a", "p.f[1]") in wiring.sources and ("floor", "surface.q[1]") not in wiring.sources


def test_a_moment_that_is_always_zero_asks_for_nothing(slaves: dict[str, SlaveDescription]) -> None:
    """That of a guide on its point; its moment on what carries the line is another matter."""
    slaves["rail"] = read_slave(host_fmu(shipped("fmus") / "GuideRail.toml"))
    wiring = wired(slaves, ("a.p", "rail.point"))
    assert ("a", "p.f[1]") in wiring.sources and not any("moment" in note for note in wiring.notes)
    (line,) = refusal(slaves, ("a.p", "rail.body[1]"))
    assert "a.p is a point and cannot take the moment of rail.body[1]" in line


def test_a_frame_carries_a_point_without_ado(slaves: dict[str, SlaveDescription]) -> None:
    sources = wired(slaves, ("frame.base", "floor.point")).sources
    assert sources["floor", "point.v[2]"] == (("frame", "base.v[2]"),)
    assert ("frame", "base.t[1]") not in sources


def test_a_whole_frame_is_wired_with_moment_and_orientation(slaves: dict[str, SlaveDescription]) -> None:
    sources = wired(slaves, ("frame.base", "floor.surface")).sources
    assert sources["floor", "surface.q[4]"] == (("frame", "base.q[4]"),)
    assert sources["frame", "base.t[3]"] == (("floor", "surface.t[3]"),)
    assert len(sources) == 13 + 6


def one_dimensional(side: str, *motion: tuple[str, str], force: tuple[str, str]) -> tuple[Var, ...]:
    """The variables of a port `p` by (name, unit) of its motion and its force."""
    given, taken = ("output", "input") if side == "body" else ("input", "output")
    named = [(name, unit, given) for name, unit in motion] + [(*force, taken)]
    return tuple(
        Var(f"p.{name}", i, causality, start="0" if causality == "input" else None, unit=unit)
        for i, (name, unit, causality) in enumerate(named)
    )


ANGLE, SPEED, TORQUE = ("phi", "rad"), ("w", "rad/s"), ("t", "N.m")


@pytest.mark.parametrize("shaft_has_it", [False, True])
@pytest.mark.parametrize("spring_has_it", [False, True])
def test_an_optional_role_is_wired_where_both_ports_have_it(
    tmp_path: Path, shaft_has_it: bool, spring_has_it: bool
) -> None:
    shaft = one_dimensional("body", *[ANGLE] * shaft_has_it, SPEED, force=TORQUE)
    spring = one_dimensional("force", *[ANGLE] * spring_has_it, SPEED, force=TORQUE)
    slaves = {
        "shaft": read_slave(foreign_fmu(tmp_path, "Shaft", shaft, platforms=())),
        "spring": read_slave(foreign_fmu(tmp_path, "Torsion", spring, platforms=())),
    }
    assert {d.ports["p"].kind for d in slaves.values()} == {"rotational"}
    wiring = wired(slaves, ("shaft.p", "spring.p"))
    expected = {("spring", "p.w"): (("shaft", "p.w"),), ("shaft", "p.t"): (("spring", "p.t"),)}
    if shaft_has_it and spring_has_it:
        expected["spring", "p.phi"] = (("shaft", "p.phi"),)
    assert dict(wiring.sources) == expected
    unknown = [note for note in wiring.notes if "p.phi not connected" in note]
    assert bool(unknown) == (spring_has_it and not shaft_has_it)


def test_a_variable_of_the_name_but_not_the_direction_of_an_optional_role_is_none(tmp_path: Path) -> None:
    shaft = (*one_dimensional("body", SPEED, force=TORQUE), Var("p.phi", 7, "input", start="0", unit="rad"))
    port = read_slave(foreign_fmu(tmp_path, "Shaft", shaft, platforms=())).ports["p"]
    assert port.kind == "rotational" and list(port.motion) == ["w"]


def test_a_shaft_with_the_names_of_20_sim_is_a_rotational_port(tmp_path: Path) -> None:
    spelled = one_dimensional("body", ("omega", "rad/s"), force=("T", "N.m"))
    spring = one_dimensional("force", SPEED, force=TORQUE)
    slaves = {
        "shaft": read_slave(foreign_fmu(tmp_path, "Shaft", spelled, platforms=())),
        "spring": read_slave(foreign_fmu(tmp_path, "Torsion", spring, platforms=())),
    }
    assert slaves["shaft"].ports["p"].kind == "rotational"
    expected = {("spring", "p.w"): (("shaft", "p.omega"),), ("shaft", "p.T"): (("spring", "p.t"),)}
    assert dict(wired(slaves, ("shaft.p", "spring.p")).sources) == expected


@pytest.mark.parametrize(("unit", "is_port"), [(None, True), ("N.m", True), ("kN.m", True), ("K", False), ("?", False)])
def test_a_temperature_beside_a_speed_is_no_port(tmp_path: Path, unit: str | None, is_port: bool) -> None:
    motor = one_dimensional("body", ("omega", "rad/s"), force=("T", "N.m"))
    other = tuple(replace(v, unit=unit) if v.name == "p.T" else v for v in motor)
    assert bool(read_slave(foreign_fmu(tmp_path, "Motor", other, platforms=())).ports) == is_port


def planar(side: str, units: str) -> tuple[Var, ...]:
    named = units.split()
    motion = [(f"v[{k}]", named[k - 1]) for k in (1, 2, 3)]
    force = [(f"F[{k}]", named[k + 2]) for k in (1, 2, 3)]
    parts = [one_dimensional(side, motion[k], force=force[k]) for k in range(3)]
    return tuple(replace(v, reference=i) for i, v in enumerate(v for part in parts for v in part))


def test_a_planar_port_is_wired_by_components_of_different_units(tmp_path: Path) -> None:
    slaves = {
        side: read_slave(foreign_fmu(tmp_path, side, planar(side, "m/s m/s rad/s N N N.m"), platforms=()))
        for side in ("body", "force")
    }
    assert {d.ports["p"].kind for d in slaves.values()} == {"planar"}
    expected = {("force", f"p.v[{k}]"): (("body", f"p.v[{k}]"),) for k in (1, 2, 3)}
    expected |= {("body", f"p.F[{k}]"): (("force", f"p.F[{k}]"),) for k in (1, 2, 3)}
    assert dict(wired(slaves, ("body.p", "force.p")).sources) == expected


def test_a_planar_port_of_other_units_is_refused_by_component(tmp_path: Path) -> None:
    slaves = {
        "body": read_slave(foreign_fmu(tmp_path, "Body", planar("body", "m/s m/s rad/s N N N.m"), platforms=())),
        "force": read_slave(foreign_fmu(tmp_path, "Force", planar("force", "m/s m/s m/s N N N"), platforms=())),
    }
    lines = refusal(slaves, ("body.p", "force.p"))
    assert len(lines) == 2
    assert "body.p.v[3] is in rad/s" in lines[0] and "force.p.v[3] in m/s" in lines[0]
    assert "force.p.F[3] is in N" in lines[1] and "body.p.F[3] in N.m" in lines[1]


def test_unconnected_motion_is_noted_and_driven_motion_is_not(slaves: dict[str, SlaveDescription]) -> None:
    only = {"floor": slaves["floor"]}
    notes = wire(FILE, [], only).notes
    assert [note.split(" is ")[0] for note in notes] == ["floor.point", "floor.surface"]
    driven = [f"floor.point.{q}[{i}]" for q in "rv" for i in (1, 2, 3)]
    assert [note.split(" is ")[0] for note in wire(FILE, [], only, driven).notes] == ["floor.surface"]
    (partly, _) = wire(FILE, [], only, driven[1:]).notes
    assert partly == "floor.point: point.r[1] not connected, kept at the start values"


def test_every_wrong_connection_is_refused_with_its_reason(slaves: dict[str, SlaveDescription]) -> None:
    cases = {
        ("a.p", "b.p"): "both ports belong to bodies: put a force element between them",
        ("floor.point", "wall.point"): "both ports belong to force elements: each needs a body",
        ("a.pp", "floor.point"): "a (Spring) has no port or variable 'pp'; did you mean 'p'?",
        ("a.p", "flor.point"): "there is no slave 'flor'; did you mean 'floor'?",
        ("g.y", "h.y"): "g.y is an output, h.y is an output; an output drives an input",
        ("g.a", "h.u"): "g.a is a parameter, h.u is an input",
        ("a.p", "g.u"): "a port can be connected to a port, a variable to a variable",
        ("a.steps", "g.u"): "a.steps is of type Integer, g.u of type Real",
        ("a.echo", "b.on"): "a.echo is of type String, b.on of type Boolean",
        ("floor.point.f[1]", "wall.point.v[1]"): "floor.point.f[1] is in N (kg.m.s-2), wall.point.v[1] in m/s (m.s-1)",
    }
    lines = refusal(slaves, *cases)
    assert len(lines) == len(cases)
    for (pair, words), line in zip(cases.items(), lines, strict=True):
        assert line.startswith(f"system.toml: connections [{pair[0]}, {pair[1]}]: ") and words in line


def units(variables: Sequence[Var], unit_of: dict[str, str]) -> tuple[Var, ...]:
    return tuple(replace(v, unit=unit_of.get(v.name.partition("[")[0], v.unit)) for v in variables)


def test_values_in_other_units_of_one_dimension_are_converted(
    tmp_path: Path, slaves: dict[str, SlaveDescription]
) -> None:
    millimetres = read_slave(foreign_fmu(tmp_path, "Mm", units(BODY, {"p.r": "mm"}), platforms=()))
    wiring = wired(slaves | {"a": millimetres}, ("a.p", "floor.point"))
    converted = {(f"p.r[{i}]", f"point.r[{i}]") for i in (1, 2, 3)}
    assert {(source[1], target[1]) for source, target in wiring.conversions} == converted
    assert set(wiring.conversions.values()) == {Conversion(0.001, 0.0)}
    furlongs = units(BODY, {"p.r": "furlong"})
    strange = read_slave(foreign_fmu(tmp_path, "Ell", furlongs, platforms=()))
    message = refusal(slaves | {"a": strange}, ("a.p", "floor.point"))[0]
    assert "the unit 'furlong' is unknown here, and its FMU does not define it" in message
    text = model_description("Ell", furlongs, bases={"furlong": 'm="1" factor="201.168"'})
    defined = read_slave(foreign_fmu(tmp_path, "Ell", description=text, platforms=()))
    pairs = [(f"a.p.r[{i}]", f"floor.point.r[{i}]") for i in (1, 2, 3)]
    assert set(wired(slaves | {"a": defined}, *pairs).conversions.values()) == {Conversion(201.168, 0.0)}


@pytest.mark.parametrize(
    ("source", "target", "relative", "expected"),
    [
        ("degC", "K", False, Conversion(1.0, 273.15)),
        ("K", "degC", False, Conversion(1.0, -273.15)),
        ("degC", "K", True, Conversion()),
        ("rpm", "rad/s", False, Conversion(2.0 * math.pi / 60.0, 0.0)),
        ("1/s", "rad/s", False, Conversion()),
        ("1/min", "rad/s", False, "cycles are not converted to angles; use rad/s or rpm at both ends"),
        ("Hz", "rad/s", False, "cycles are not converted to angles; use rad/s or rpm at both ends"),
        ("N", "m/s", False, "g.y is in N (kg.m.s-2), h.u in m/s (m.s-1); connect quantities of one dimension"),
    ],
)
def test_single_values_are_converted_by_factor_and_offset(
    slaves: dict[str, SlaveDescription], source: str, target: str, relative: bool, expected: Conversion | str
) -> None:
    def with_unit(slave: str, name: str, unit: str) -> SlaveDescription:
        variables = dict(slaves[slave].variables)
        variables[name] = replace(variables[name], unit=unit, relative=relative)
        return replace(slaves[slave], variables=variables)

    two = {"g": with_unit("g", "y", source), "h": with_unit("h", "u", target)}
    if isinstance(expected, str):
        assert expected in refusal(two, ("g.y", "h.u"))[0]
    else:
        found = wired(two, ("g.y", "h.u")).conversions.get((("g", "y"), ("h", "u")), Conversion())
        assert (found.factor, found.offset) == (pytest.approx(expected.factor, rel=1e-15), expected.offset)


def test_other_spellings_of_a_unit_and_no_unit_are_accepted(
    tmp_path: Path, slaves: dict[str, SlaveDescription]
) -> None:
    spelled = read_slave(foreign_fmu(tmp_path, "Other", units(BODY, {"p.f": "kg.m/s2"}), platforms=()))
    assert len(wired(slaves | {"a": spelled}, ("a.p", "floor.point")).sources) == 9
    plain = renamed(BODY, {"p.r": "position", "p.v": "velocity", "p.f": "force"})
    without = read_slave(foreign_fmu(tmp_path, "Plain", [replace(v, unit=None) for v in plain], platforms=()))
    pairs = [(f"a.position[{i}]", f"floor.point.r[{i}]") for i in (1, 2, 3)]
    assert len(wired(slaves | {"a": without}, *pairs).sources) == 3


# ---- order -------------------------------------------------------------------------------------------------------


def test_outputs_are_ordered_by_what_they_depend_on(slaves: dict[str, SlaveDescription]) -> None:
    wiring = wired(slaves, ("a.p", "floor.point"), ("g.y", "h.u"))
    order, loop = initial_order(wiring, slaves)
    place = {node: k for k, node in enumerate(order)}
    assert not loop
    assert set(order) == {source for sources in wiring.sources.values() for source in sources}
    assert all(place["a", f"p.{q}[{i}]"] < place["floor", "point.f[3]"] for q in "rv" for i in (1, 2, 3))


def test_unlisted_dependencies_count_as_all_and_make_a_loop(
    tmp_path: Path, slaves: dict[str, SlaveDescription]
) -> None:
    unknown = tuple(replace(v, depends=None) for v in BODY)
    body = read_slave(foreign_fmu(tmp_path, "Unknown", unknown, platforms=()))
    order, loop = initial_order(wired(slaves | {"a": body}, ("a.p", "floor.point")), slaves | {"a": body})
    assert loop[0] == loop[-1] and {slave for slave, _ in loop} == {"a", "floor"}
    assert len(order) == len(set(order)) == 9
