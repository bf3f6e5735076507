"""Arrays of FMUs for FMI 3.0: the master has their elements as scalars, and connects arrays of one shape as a whole."""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Iterator
from ctypes import byref, c_double, c_int, c_uint, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fmu_builder
from fmu_builder.cli import app
from fmu_builder.cosim.fmi3.arrays import Array
from fmu_builder.cosim.loop.program import LOOP
from fmu_builder.cosim.master import load_scenario, system_of
from fmu_builder.cosim.slave import Slave, read_slave
from fmu_builder.cosim.ssp_writing import ssp_archive
from fmu_builder.errors import InputError, SlaveError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.toolchain import PLATFORMS, TUPLES, compile_hosted, find_compiler, host_platform
from fmu_builder.model.documents import Recipe, as_file
from fmu_builder.model.vectors import flat, vector_of

QUICK = ("-O0",)
ROWS = '<Dimension start="2"/><Dimension valueReference="9"/>'  # 2 x 3
DESCRIPTION = f"""<?xml version="1.0"?>
<fmiModelDescription fmiVersion="3.0" modelName="Arrays" instantiationToken="a">
<CoSimulation modelIdentifier="Arrays" canGetAndSetFMUState="true" providesDirectionalDerivatives="true"/>
<ModelVariables>
<Float64 name="x" valueReference="1" causality="input" start="1 2 3 4 5 6">{ROWS}</Float64>
<Int32 name="counts" valueReference="2" causality="input" start="7"><Dimension start="4"/></Int32>
<Boolean name="flags" valueReference="3" causality="input" start="true false"><Dimension start="2"/></Boolean>
<Float32 name="small" valueReference="4" causality="parameter" start="0.5 0.25"><Dimension start="2"/></Float32>
<Float64 name="y" valueReference="5" causality="output">{ROWS}</Float64>
<Int32 name="counts_out" valueReference="6" causality="output"><Dimension start="4"/></Int32>
<Boolean name="flags_out" valueReference="7" causality="output"><Dimension start="2"/></Boolean>
<Float64 name="gain" valueReference="8" causality="input" start="2"/>
<UInt64 name="columns" valueReference="9" causality="structuralParameter" variability="fixed" start="3"/>
<String name="texts" valueReference="10" causality="parameter"><Dimension start="2"/><Start value="a"/></String>
<Clock name="tick" valueReference="11" causality="input" intervalVariability="triggered"/>
</ModelVariables>
<ModelStructure>
<Output valueReference="5" dependencies="1 8"/>
<Output valueReference="6" dependencies="2"/>
<Output valueReference="7" dependencies="3"/>
</ModelStructure></fmiModelDescription>"""


TERMINALS = """<?xml version="1.0"?>
<fmiTerminalsAndIcons fmiVersion="3.0"><Terminals>
<Terminal name="out" matchingRule="plug">
<TerminalMemberVariable memberName="x" variableName="y" variableKind="signal"/>
<TerminalMemberVariable memberName="n" variableName="gain" variableKind="signal"/></Terminal>
<Terminal name="both" matchingRule="sequence">
<TerminalMemberVariable memberName="a" variableName="y" variableKind="signal"/>
<TerminalMemberVariable memberName="b" variableName="counts_out" variableKind="signal"/></Terminal>
<Terminal name="taken" matchingRule="sequence">
<TerminalMemberVariable memberName="c" variableName="x" variableKind="signal"/>
<TerminalMemberVariable memberName="d" variableName="counts" variableKind="signal"/></Terminal>
</Terminals></fmiTerminalsAndIcons>"""


def packed(folder: Path, library: Path | None, description: str = DESCRIPTION) -> Path:
    with zipfile.ZipFile(folder / "Arrays.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", description)
        archive.writestr("terminalsAndIcons/terminalsAndIcons.xml", TERMINALS)
        if library is not None:
            archive.write(library, f"binaries/{TUPLES[host_platform()]}/{library.name}")
    return folder / "Arrays.fmu"


@pytest.fixture(scope="module")
def fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arrays")
    library = folder / f"Arrays{PLATFORMS[host_platform()].suffix}"
    compiler = find_compiler()
    assert compiler is not None
    compile_hosted([Path(__file__).with_name("arrays_fmi3.c")], library, [], compiler, [])
    return packed(folder, library)


@pytest.fixture
def slave(fmu: Path) -> Iterator[Slave]:
    """Tried out with some elements, which the FMU gets as whole arrays."""
    one = Slave("one", read_slave(fmu), {"x[1,2]": 20.0, "small[2]": 0.75, "counts[4]": -1.0, "flags[2]": 1.0})
    yield one
    one.close()


def numbers(slave: Slave, base: str) -> list[float]:
    vector = vector_of(base, slave.description.variables)
    assert vector is not None
    return [slave.get(slave.description.variables[name]) for name in vector.names]


def sets(slave: Slave) -> int:
    """How often the FMU was set anything."""
    return int(slave.fmu.adaptor.fmu.count_sets(c_void_p.from_address(slave.component)))


def set_to(slave: Slave, family: str, names: list[str], values: list[Any]) -> int:
    references = (c_uint * len(names))(*(slave.description.variables[name].reference for name in names))
    given = ((c_double if family == "Real" else c_int) * len(names))(*values)
    return int(getattr(slave.dll, f"fmi2Set{family}")(slave.component, references, len(names), given))


def test_elements_have_names_types_and_start_values_of_their_own(fmu: Path) -> None:
    description = read_slave(fmu)
    starts = {name: v.start for name, v in description.variables.items()}
    assert [starts[f"x[{row},{column}]"] for row in (1, 2) for column in (1, 2, 3)] == ["1", "2", "3", "4", "5", "6"]
    assert [starts[f"counts[{k}]"] for k in (1, 2, 3, 4)] == ["7"] * 4  # one start value is that of all
    assert description.variables["flags[2]"].type == "Boolean" and starts["y[2,3]"] is None
    assert description.variables["y[1,1]"].depends == {*(n for n in starts if n.startswith("x[")), "gain"}
    references = [v.reference for v in description.variables.values()]
    assert len(set(references)) == len(references) == 28 and description.left_out == ("texts", "tick")


def test_an_element_is_set_and_the_others_keep_their_values(slave: Slave) -> None:
    variables = slave.description.variables
    slave.set(variables["x[2,1]"], 40.0)  # before the initialization, in which nothing can be read
    slave.set(variables["flags[2]"], 1)
    slave.setup(0.0, 1.0, None)
    slave.call("fmi2EnterInitializationMode")
    assert numbers(slave, "x") == [1.0, 2.0, 3.0, 40.0, 5.0, 6.0]
    assert numbers(slave, "flags_out") == [1.0, 1.0] and numbers(slave, "counts_out") == [7.0] * 4
    before = sets(slave)
    assert set_to(slave, "Real", ["x[1,1]", "x[1,3]", "gain", "x[1,2]"], [10.0, 30.0, 3.0, 20.0]) == 0
    assert sets(slave) - before == 3  # x, gain, x
    assert numbers(slave, "y") == [30.0, 60.0, 90.0, 120.0, 15.0, 18.0]
    assert set_to(slave, "Integer", [f"counts[{k}]" for k in (4, 3, 2, 1)], [1, 2, 3, 4]) == 0
    assert sets(slave) - before == 4 and numbers(slave, "counts_out") == [4.0, 3.0, 2.0, 1.0]
    assert set_to(slave, "Real", ["small[2]"], [0.1]) == 0
    assert numbers(slave, "small") == [0.5, float(np.float32(0.1))]


def test_a_restored_state_and_a_reset_show_in_the_elements_that_are_set_next(slave: Slave) -> None:
    slave.setup(0.0, 1.0, None)
    slave.call("fmi2EnterInitializationMode")
    state = c_void_p()
    assert slave.dll.fmi2GetFMUstate(slave.component, byref(state)) == 0
    assert set_to(slave, "Real", ["x[1,1]", "x[1,2]"], [-1.0, -2.0]) == 0
    assert slave.dll.fmi2SetFMUstate(slave.component, state) == 0
    assert set_to(slave, "Real", ["x[2,3]"], [60.0]) == 0
    assert numbers(slave, "x") == [1.0, 2.0, 3.0, 4.0, 5.0, 60.0]
    assert slave.dll.fmi2FreeFMUstate(slave.component, byref(state)) == 0
    slave.call("fmi2Reset")
    assert set_to(slave, "Real", ["x[1,3]"], [33.0]) == 0
    slave.call("fmi2EnterInitializationMode")
    assert numbers(slave, "x") == [1.0, 2.0, 33.0, 4.0, 5.0, 6.0]


def test_derivatives_are_those_of_elements(slave: Slave) -> None:
    slave.setup(0.0, 1.0, None)
    slave.call("fmi2EnterInitializationMode")
    variables = slave.description.variables
    unknowns = (c_uint * 3)(*(variables[name].reference for name in ("y[2,3]", "y[1,1]", "y[2,2]")))
    knowns = (c_uint * 3)(*(variables[name].reference for name in ("x[2,3]", "gain", "x[1,1]")))
    seed, answer = (c_double * 3)(10.0, 1.0, 100.0), (c_double * 3)()
    assert slave.dll.fmi2GetDirectionalDerivative(slave.component, unknowns, 3, knowns, 3, seed, answer) == 0
    assert list(answer) == [2.0 * 10.0 + 6.0, 2.0 * 100.0 + 1.0, 5.0]
    orders = (c_int * 3)(1, 1, 1)
    assert slave.dll.fmi2GetRealOutputDerivatives(slave.component, unknowns, 3, orders, answer) == 0
    assert list(answer) == [50.0 + 5.0 + 1.0, 50.0 + 1.0, 50.0 + 4.0 + 1.0]


def test_a_number_that_an_element_does_not_hold_is_refused_by_its_name(slave: Slave) -> None:
    assert set_to(slave, "Integer", ["counts[2]"], [2**31 - 1]) == 0
    with pytest.raises(SlaveError, match=re.escape("counts[2] = 2147483648 is no whole number of 32 bits")):
        slave.set(slave.description.variables["counts[2]"], 2**31)


# ---- scenarios -------------------------------------------------------------------------------------------------------


def system(folder: Path, fmu: Path, connections: str, start: str = "") -> Path:
    path = folder / "system.toml"
    path.write_text(
        f"connections = [{connections}]\n[experiment]\nstop = 0.5\nstep = 0.125\n"
        f"[slaves]\na = {{ recipe = '{fmu}', start = {{ {start} }} }}\nb = {{ recipe = '{fmu}' }}\n"
        '[drive]\n"a.x[2,3]" = "8*#t/1[s]"\n'
    )
    return path


@pytest.mark.parametrize("loop", ["python", "compiled"])
def test_arrays_of_one_shape_are_connected_as_a_whole(
    fmu: Path, tmp_path: Path, loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LOOP, loop)
    whole = '["a.y", "b.x"], ["a.counts_out", "b.counts"], ["a.flags_out", "b.flags"]'
    start = 'x = [[1, 2, 3], [4, 5, 60]], counts = [1, 2, 3, 4], "flags[2]" = true, small = [1, 2]'
    trace = fmu_builder.run(system(tmp_path, fmu, whole, start)).trace
    assert [trace[f"b.y[1,{k}]"][-1] for k in (1, 2, 3)] == [4.0, 8.0, 12.0]
    assert list(trace["a.y[2,3]"]) == [0.0, 0.0, 2.0, 4.0, 6.0]
    assert list(trace["b.y[2,3]"]) == [0.0, 0.0, 4.0, 8.0, 12.0]
    assert [trace[f"b.counts_out[{k}]"][-1] for k in (1, 2, 3, 4)] == [1.0, 2.0, 3.0, 4.0]
    assert [trace[f"b.flags_out[{k}]"][-1] for k in (1, 2)] == [1.0, 1.0]
    single = ", ".join(f'["a.y[{k},{j}]", "b.x[{k},{j}]"]' for k in (1, 2) for j in (1, 2, 3))
    rest = '["a.counts_out", "b.counts"], ["a.flags_out", "b.flags"]'
    other = fmu_builder.run(system(tmp_path, fmu, f"{single}, {rest}", start)).trace
    for name in trace.names:
        np.testing.assert_array_equal(other[name], trace[name], err_msg=name)


def test_terminals_of_arrays_are_connected(fmu: Path, tmp_path: Path) -> None:
    members = {one.name: one.variable for one in read_slave(fmu).terminals["out"].members}
    assert members["x[2,3]"] == "y[2,3]" and members["n"] == "gain" and len(members) == 7
    traces = [
        fmu_builder.run(system(tmp_path, fmu, connections)).trace
        for connections in ('["a.y", "b.x"], ["a.counts_out", "b.counts"]', '["a.both", "b.taken"]')
    ]
    assert traces[1]["b.y[2,3]"][-1] == 12.0
    for name in traces[0].names:
        np.testing.assert_array_equal(traces[1][name], traces[0][name], err_msg=name)


def test_an_archive_has_elements_as_connectors_and_a_warning(fmu: Path, tmp_path: Path) -> None:
    scenario = system(tmp_path, fmu, '["a.y", "b.x"]', "x = [[1, 2, 3], [4, 5, 60]]")
    text = scenario.read_text()
    scenario.write_text(text[: text.index("[drive]")])
    data, warnings = ssp_archive(system_of(load_scenario(scenario)), "standard", ("host",))
    (said,) = warnings
    assert said.startswith("a, b: elements of arrays are connectors, which other tools may not find in the FMU: ")
    scenario.with_suffix(".ssp").write_bytes(data)
    first, second = (fmu_builder.run(scenario.with_suffix(suffix)).trace for suffix in (".toml", ".ssp"))
    assert first["b.y[2,3]"][-1] == 240.0 and second.names == first.names
    for name in first.names:
        np.testing.assert_array_equal(second[name], first[name], err_msg=name)


@pytest.mark.parametrize(
    ("connection", "said"),
    [
        (
            '["a.y", "b.counts"]',
            "a.y is an array of 2 x 3, b.counts is an array of 4; arrays of one shape are connected, or single "
            "elements: a.y[1,1]",
        ),
        ('["a.y", "b.gain"]', "a.y is an array of 2 x 3, b.gain is a scalar; arrays of one shape are connected, or "),
        ('["a.gain", "b.counts"]', "or single elements: b.counts[1]"),
        ('["a.x", "b.x"]', "a.x[1,1] is an input, b.x[1,1] is an input; an output drives an input"),
        ('["a.counts_out", "b.x[1,1]"]', "a.counts_out is an array of 4, b.x[1,1] is a scalar"),
        ('["a.flags_out[1]", "b.counts[1]"]', "a.flags_out[1] is of type Boolean, b.counts[1] of type Integer"),
        ('["a.yy", "b.x"]', "a (Arrays) has no port or variable 'yy'"),
    ],
)
def test_a_connection_of_other_shapes_is_refused(fmu: Path, tmp_path: Path, connection: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        fmu_builder.run(system(tmp_path, fmu, connection))


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("x = [1, 2, 3]", "6 values needed, 2 x 3 row by row, 3 given"),
        ("counts = [1, 2]", "4 values needed, 2 given"),
        ("counts = [1, 2, 3, 0.5]", "counts"),
        ("y = [1, 2, 3, 4, 5, 6]", "y[1,1] is continuous, output: the FMU computes it; remove it"),
    ],
)
def test_start_values_of_another_shape_are_refused(fmu: Path, tmp_path: Path, start: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        fmu_builder.run(system(tmp_path, fmu, "", start))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('start="1 2 3 4 5 6"', 'start="1 2 3"', "x: start has 3 values, the array of 2 x 3 needs 6"),
        ('start="1 2 3 4 5 6"', 'start="1 2 3 4 5 x"', "x: start = '1 2 3 4 5 x' must be values of Float64"),
        ('start="7"', 'start="2147483648"', "counts: start = '2147483648' must be values of Int32"),
        ('start="true false"', 'start="yes no"', "flags: start = 'yes no' must be values of Boolean"),
        (
            '<Dimension start="4"/>',
            '<Dimension start="4000000000"/>',
            "has arrays of 8000000020 numbers together; at most",
        ),
        ('valueReference="10"', 'valueReference="4294967295"', "has value references so large that none are left"),
    ],
)
def test_a_wrong_array_is_refused(old: str, new: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        read_slave(packed(tmp_path, None, DESCRIPTION.replace(old, new)))


def test_info_shows_arrays_and_what_run_leaves_out(fmu: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app(["info", str(fmu)], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "arrays: x[2,3], counts[4], flags[2], small[2], y[2,3], counts_out[4], flags_out[2]\n" in shown
    assert "neither read nor set by `run`: texts, tick\n" in shown


def test_names_of_elements_are_those_of_vectors() -> None:
    assert Array("der(v)", 0, "Float64", (2,), 9, ()).names == ("der(v[1])", "der(v[2])")
    assert Array("m", 0, "Float64", (1, 2), 9, ()).names == ("m[1,1]", "m[1,2]")
    large = Array("n", 0, "UInt64", (2,), 9, (str(2**64 - 1), "1"))
    assert large.start_bytes() == b"\xff" * 8 + (1).to_bytes(8, sys.byteorder)  # of which a float has 53 bits
    names = ["m[1,1]", "m[1,2]", "m[2,1]", "n[1]", "n[2]", "n[4]", "o[2,1]"]
    assert vector_of("m", names) is None  # m[2,2] is missing
    found = vector_of("m", [*names, "m[2,2]"])
    assert found is not None and found.shape == (2, 2) and found.names[2:] == ("m[2,1]", "m[2,2]")
    found = vector_of("n", names)
    assert found is not None and found.names == ("n[1]", "n[2]")
    assert vector_of("o", names) is vector_of("p", names) is None
    assert flat([[1, 2], [3, 4]], (2, 2)) == [1, 2, 3, 4] and flat([[1, 2], [3]], (2, 2)) == [[1, 2], [3]]


# ---- our own ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["gauss_seidel", "implicit", "adaptive"])
def test_runs_with_arrays_have_the_bits_of_those_with_scalars(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ball on a floor that moves, the ports connected as ports, and as arrays."""
    traces = []
    for arrays in (False, True):
        ball = Recipe(name="Ball", element="point_mass", arrays=arrays)
        sides: dict[str, Any] = {"kind": "plane", "x": ["-1 m", "1 m"], "y": ["-1 m", "1 m"]}
        floor = Recipe(
            name="Floor", element="point_surface", arrays=arrays, surface=sides, start={"C_F": 1e5, "K_fr": 0.3}
        )
        with as_file(ball) as one, as_file(floor) as other:
            fmus = host_fmu(one, QUICK, 3), host_fmu(other, QUICK, 3)
        ports = '["ball.p", "floor.point"]'
        if arrays and algorithm == "gauss_seidel":
            ports = '["ball.p.r", "floor.point.r"], ["floor.point.v", "ball.p.v"], ["floor.point.f", "ball.p.f"]'
        path = tmp_path / f"{arrays}.toml"
        path.write_text(
            f'connections = [{ports}]\n[experiment]\nstop = "30 ms"\nstep = "1 ms"\nalgorithm = "{algorithm}"\n'
            f"[slaves]\nball = {{ recipe = '{fmus[0]}', start = {{ r0 = [0, 0.1, 0.011], v0 = [0, 0.5, -0.3] }} }}\n"
            f"floor = {{ recipe = '{fmus[1]}', start = {{ \"surface.r[3]\" = 0.01 }} }}\n"
            '[drive]\n"floor.surface.r[1]" = "0.02[m]*sin(9[1/s]*#t)"\n'
        )
        for loop in ("python", "compiled") if algorithm != "adaptive" else ("compiled",):
            monkeypatch.setenv(LOOP, loop)
            traces.append(fmu_builder.run(path).trace)
    first, *others = traces
    assert first["floor.point.f[3]"].max() > 100.0
    for other in others:
        assert other.names == first.names
        for name in first.names:
            np.testing.assert_array_equal(other[name], first[name], err_msg=name)


def test_a_description_with_arrays_is_that_with_scalars() -> None:
    found = []
    for arrays in (False, True):
        with as_file(Recipe(name="Arrays", element="point_mass", arrays=arrays)) as path:
            found.append(read_slave(host_fmu(path, QUICK, 3)))
    old, new = found
    assert [one.name for one in new.arrays][:3] == ["g", "r0", "v0"] and not old.arrays
    assert list(new.variables) == list(old.variables) and new.ports == old.ports
    for name, one in new.variables.items():
        other = old.variables[name]
        assert (one.type, one.unit, one.causality, one.variability) == (
            (other.type, other.unit, other.causality, other.variability)
        )
        assert float(one.start or 0.0) == float(other.start or 0.0), name
    assert len(new.derivatives) == len(old.derivatives) == 6
