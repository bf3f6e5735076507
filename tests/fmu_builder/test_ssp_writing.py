"""Scenarios are written as SSP archives: valid, read back to the bit, and with a word on what a tool does not read."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import fmpy.ssp
import numpy as np
import pytest
from fmpy.ssp.simulation import simulate_ssp
from fmpy.ssp.ssd import Parameter, ParameterSet, read_ssd
from foreign import BODY, GAIN, foreign_fmu
from lxml import etree

from fmu_builder.cli import ssp as command
from fmu_builder.cosim.master import load_scenario, run, system_of
from fmu_builder.cosim.ssp_writing import ssp_archive
from fmu_builder.errors import InputError
from fmu_builder.paths import shipped

SCHEMAS = Path(fmpy.ssp.__file__).parent / "schema"  # SSP 1.0, as the Modelica Association publishes them
DROP = """
connections = [["body.p", "floor.point"]]
[experiment]
stop = "0.02 s"
step = "0.1 ms"
output_step = "1 ms"
algorithm = "{algorithm}"
record = ["body.*", "floor.*_force"]
[slaves]
body = {{ recipe = "PointMass", start = {{ r0 = [0, 0, "-1 mm"], v0 = ["0.1 m/s", 0, 0] }} }}
floor = {{ recipe = "PointSurface", start = {{ C_F = "1e5 N/m", "coupling.mode" = "hold" }} }}
"""
DRIVEN = """
[experiment]
stop = "10 ms"
step = "1 ms"
[slaves]
floor = "PointSurface"
[drive]
"floor.point.r[3]" = "-1[mm]*sin(100[1/s]*#t)"
"floor.point.r[1]" = { time = [0, 0.004, 0.01], value = [0, 0.1, 0.3] }
"floor.point.r[2]" = 0.25
"floor.work" = { time = [0, 0.005], value = [true, false] }
"""
COUNTED = """
connections = [["mass[i].p", "spring[i].r"], ["mass[i+1].p", "spring[i].c"]]
[experiment]
stop = "5 ms"
step = "0.1 ms"
[slaves]
mass = { recipe = "SliderMass", count = 2 }
"mass[1]" = { recipe = "SliderMass", start = { v0 = "1 m/s" } }
spring = { recipe = "TranslationalSpring", count = 1, start = { k = "1 N/mm" } }
"""
LONGER = DROP.format(algorithm="gauss_seidel").replace(
    '{ recipe = "PointSurface",', '{ recipe = "PointSurface", step = "0.2 ms",'
)
LONGER = LONGER.replace("[slaves]", 'order = ["floor", "body"]\n[slaves]')


def written(folder: Path, text: str) -> Path:
    path = folder / "system.toml"
    path.write_text(text)
    return path


def archive(scenario: Path, target: str = "standard") -> tuple[Path, list[str]]:
    data, warnings = ssp_archive(system_of(load_scenario(scenario)), target, ("host",))
    path = scenario.with_suffix(".ssp")
    path.write_bytes(data)
    return path, warnings


def gains(folder: Path, more: str = "") -> Path:
    foreign_fmu(folder, "Gain", GAIN, "g0--")
    text = """
    connections = [["first.y", "second.u"], ["second.y", "third.u"]]
    [experiment]
    algorithm = "jacobi"
    stop = "8 ms"
    step = "1 ms"
    [slaves]
    first = { recipe = "Gain.fmu", start = { b = 2 } }
    second = { recipe = "Gain.fmu", start = { a = 3 } }
    third = "Gain.fmu"
    """
    return written(folder, text + more)


SCENARIOS: dict[str, Callable[[Path], Path]] = {
    "jacobi": lambda folder: written(folder, DROP.format(algorithm="jacobi")),
    "gauss_seidel": lambda folder: written(folder, DROP.format(algorithm="gauss_seidel")),
    "implicit": lambda folder: written(folder, DROP.format(algorithm="implicit")),
    "adaptive": lambda folder: written(folder, DROP.format(algorithm="adaptive")),
    "driven": lambda folder: written(folder, DRIVEN),
    "of others": gains,
    "counted": lambda folder: written(folder, COUNTED),
    "steps of their own": lambda folder: written(folder, LONGER),
    "a case": lambda folder: shipped("elements") / "point_surface" / "cases" / "work_off.toml",
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_an_archive_gives_the_trace_of_its_scenario_to_the_bit(tmp_path: Path, name: str) -> None:
    scenario = SCENARIOS[name](tmp_path)
    data, _ = ssp_archive(system_of(load_scenario(scenario)), "standard", ("host",))
    path = tmp_path / "back.ssp"
    path.write_bytes(data)
    expected, found = run(scenario), run(path)
    assert found.trace.names == expected.trace.names
    assert np.array_equal(found.trace.time, expected.trace.time)
    assert np.array_equal(found.trace.values, expected.trace.values)
    assert found.trace.units == expected.trace.units
    said = [note for note in expected.notes if "coupling.mode = hold, the law at the inputs" not in note]
    assert list(found.notes) == said  # of a mode that the archive gives the run says nothing


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("target", ["standard", "ecos"])
def test_its_documents_are_valid(tmp_path: Path, name: str, target: str) -> None:
    data, _ = ssp_archive(system_of(load_scenario(SCENARIOS[name](tmp_path))), target, ("host",))
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        documents = {name: package.read(name) for name in package.namelist() if name.endswith((".ssd", ".ssv"))}
    kinds = {"ssd": "Description", "ssv": "ParameterValues"}
    assert "SystemStructure.ssd" in documents
    for name, text in documents.items():
        schema = etree.XMLSchema(etree.parse(SCHEMAS / f"SystemStructure{kinds[name[-3:]]}.xsd"))
        schema.assertValid(etree.fromstring(text))


def test_equal_scenarios_give_equal_bytes(tmp_path: Path) -> None:
    first, second = (archive(gains(tmp_path))[0].read_bytes() for _ in range(2))
    assert first == second


def test_fmus_of_one_name_stay_apart_and_slaves_of_one_fmu_share_it(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    foreign_fmu(tmp_path / "other", "Gain", [replace(v, unit="m") for v in GAIN], "g0--")
    scenario = gains(tmp_path)
    scenario.write_text(scenario.read_text().replace('third = "Gain.fmu"', 'third = "other/Gain.fmu"'))
    with zipfile.ZipFile(archive(scenario)[0]) as package:
        root = etree.fromstring(package.read("SystemStructure.ssd"))
        assert {"resources/Gain.fmu", "resources/Gain_2.fmu"} <= set(package.namelist())
    sources = {one.get("name"): one.get("source") for one in root.iterfind(".//{*}Component")}
    assert sources["first"] == sources["second"] == "resources/Gain.fmu"
    assert sources["third"] == "resources/Gain_2.fmu"


def test_fmpy_simulates_the_plain_case(tmp_path: Path) -> None:
    """A ball on its way to a floor: fmpy steps first with inputs of 0, where the floor gives no force."""
    text = DROP.format(algorithm="jacobi").replace('"-1 mm"', '"1 mm"').replace('output_step = "1 ms"', "")
    path, _ = archive(written(tmp_path, text), "fmpy")
    ours = run(path).trace
    theirs = simulate_ssp(str(path), stop_time=0.02, step_size=1e-4, parameter_set=parameters_for_fmpy(path))
    rows = min(len(theirs), len(ours.time) - 1)  # fmpy adds up its time and may step once more; its row k is our k + 1
    assert rows >= 199 and np.max(ours["floor.normal_force"]) > 1.0
    for name in ("body.p.r[3]", "body.p.v[3]", "floor.normal_force"):
        assert np.allclose(theirs[name][:rows], ours[name][1 : rows + 1], rtol=1e-9, atol=1e-12)


def parameters_for_fmpy(path: Path) -> ParameterSet:
    """The parameters of an archive, which fmpy reads as an argument only."""
    found = ParameterSet()
    with zipfile.ZipFile(path) as package:
        for name in package.namelist():
            if name.endswith(".ssv"):
                for one in etree.fromstring(package.read(name)).iterfind(".//{*}Parameter"):
                    (value,) = one
                    given = Parameter(name=f"{Path(name).stem}.{one.get('name')}", value=value.get("value"))
                    found.parameters.append(given)
    return found


def test_fmpy_reads_components_connectors_and_connections(tmp_path: Path) -> None:
    path, _ = archive(written(tmp_path, DROP.format(algorithm="jacobi")))
    system = read_ssd(str(path)).system
    assert [element.name for element in system.elements] == ["body", "floor"]
    ends = {(c.startElement, c.startConnector, c.endElement, c.endConnector) for c in system.connections}
    assert ("floor", "point.f[3]", "body", "p.f[3]") in ends
    assert len(ends) == 9


# ---- words on what is not read -----------------------------------------------------------------------------------


def test_the_standard_takes_what_has_no_drives_without_a_word(tmp_path: Path) -> None:
    assert archive(gains(tmp_path))[1] == []


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("standard", ["driven over time"]),
        ("ecos", ["driven over time", "when all slaves have stepped", "no communication step", "floor.coupling.mode"]),
        ("libcosim", ["driven over time", "when all slaves have stepped", "floor.coupling.mode"]),
        ("omsimulator", ["driven over time", "when all slaves have stepped"]),
        ("fmpy", ["driven over time", "when all slaves have stepped", "no communication step", "parameter bindings"]),
    ],
)
def test_a_tool_is_warned_of_what_it_does_not_read(tmp_path: Path, target: str, expected: list[str]) -> None:
    warnings = archive(written(tmp_path, DRIVEN), target)[1]
    assert len(warnings) == len(expected)
    assert all(words in warning for words, warning in zip(expected, warnings, strict=True))


def test_the_loss_of_the_step_of_a_slave_is_named(tmp_path: Path) -> None:
    (warning,) = archive(written(tmp_path, LONGER))[1]
    assert warning == "other tools cannot read the own step of floor"


AUTO = DROP.format(algorithm="jacobi").replace('"coupling.mode" = "hold"', '"coupling.mode" = "auto"')


@pytest.mark.parametrize("target", ["omsimulator", "ecos", "standard"])
def test_a_tool_is_given_the_order_of_its_calls_or_the_loss_is_named(tmp_path: Path, target: str) -> None:
    path, warnings = archive(written(tmp_path, AUTO), target)
    with zipfile.ZipFile(path) as package:
        given = b'"coupling.order"' in package.read("resources/floor.ssv")
    assert given == (target == "omsimulator")
    named = [warning for warning in warnings if "sets coupling.order of floor" in warning]
    assert bool(named) == (target == "ecos")  # this reader sets it by itself


def test_an_element_that_holds_its_force_needs_no_order(tmp_path: Path) -> None:
    assert not any(
        "order" in warning for warning in archive(written(tmp_path, DROP.format(algorithm="jacobi")), "ecos")[1]
    )


def test_a_reader_without_drives_holds_their_first_values(tmp_path: Path) -> None:
    text = DRIVEN.replace("value = [0, 0.1, 0.3]", "value = [0.5, 0.1, 0.3]")
    with zipfile.ZipFile(archive(written(tmp_path, text))[0]) as package:
        root = etree.fromstring(package.read("resources/floor.ssv"))
    given = {one.get("name"): one[0].get("value") for one in root.iterfind(".//{*}Parameter")}
    assert given["point.r[1]"] == "0.5" and given["point.r[2]"] == "0.25"
    assert float(given["point.v[1]"]) == pytest.approx(-0.4 / 0.004)
    assert float(given["point.v[3]"]) == pytest.approx(-0.1)  # m/s: the slope of the sine
    assert given["work"] == "true"
    assert given["coupling.mode"] == "hold" and given["coupling.identify"] == "false"  # its motion is given


@pytest.mark.parametrize("target", ["omsimulator", "libcosim"])
def test_what_run_sets_of_an_element_that_no_body_answers_is_given_or_named(tmp_path: Path, target: str) -> None:
    path, warnings = archive(written(tmp_path, DRIVEN), target)
    with zipfile.ZipFile(path) as package:
        root = etree.fromstring(package.read("resources/floor.ssv"))
    modes = [one[0].get("value") for one in root.iterfind(".//{*}Parameter[@name='coupling.mode']")]
    named = [text for text in warnings if "the start values of floor.coupling.mode are left out" in text]
    assert (modes, len(named)) == ((["1"], 0) if target == "omsimulator" else ([], 1))
    assert not [text for text in warnings if "coupling.order" in text]


def test_an_enumeration_is_its_name_in_the_standard_its_number_for_others_or_left_out(tmp_path: Path) -> None:
    foreign_fmu(tmp_path, "Body", BODY)
    text = '[experiment]\nstop = "1 ms"\nstep = "1 ms"\n[slaves]\n'
    text += 'body = { recipe = "Body.fmu", start = { mode = "loaded", m = 2 } }'
    given, warnings = {}, {}
    for target in ("standard", "omsimulator", "libcosim"):
        path, warnings[target] = archive(written(tmp_path, text), target)
        with zipfile.ZipFile(path) as package:
            given[target] = package.read("resources/body.ssv").decode()
    assert '<ssv:Enumeration value="loaded"/>' in given["standard"]
    assert '<ssv:Integer value="2"/>' in given["omsimulator"]
    assert "mode" not in given["libcosim"] and 'name="m"' in given["libcosim"]
    assert any("the start values of body.mode are left out" in warning for warning in warnings["libcosim"])


def converting(folder: Path) -> Path:
    """first.y in m, second.u in mm."""
    units = {"first": {"y": "m"}, "second": {"u": "mm"}}
    for name, given in units.items():
        foreign_fmu(folder, name, [replace(v, unit=given.get(v.name)) for v in GAIN], "g0--")
    text = """
    connections = [["first.y", "second.u"]]
    [experiment]
    stop = "2 ms"
    step = "1 ms"
    [slaves]
    first = { recipe = "first.fmu", start = { b = 0.1 } }
    second = "second.fmu"
    """
    return written(folder, text)


def test_a_conversion_is_a_transformation_in_place_of_the_one_of_units(tmp_path: Path) -> None:
    scenario = converting(tmp_path)
    path, _ = archive(scenario, "ecos")
    with zipfile.ZipFile(path) as package:
        (connection,) = etree.fromstring(package.read("SystemStructure.ssd")).iterfind(".//{*}Connection")
    assert connection.get("suppressUnitConversion") == "true"
    assert dict(connection[0].attrib) == {"factor": "1000.0", "offset": "0.0"}
    assert run(path).trace["second.y"].tolist() == run(scenario).trace["second.y"].tolist() == [100.0] * 3


@pytest.mark.parametrize("target", ["omsimulator", "fmpy"])
def test_a_tool_that_would_leave_a_conversion_out_is_refused_the_archive(tmp_path: Path, target: str) -> None:
    with pytest.raises(InputError, match=r"the value of second.u is converted, which .* does not do; give both"):
        archive(converting(tmp_path), target)


def test_sums_of_forces_are_refused_by_name(tmp_path: Path) -> None:
    text = DROP.format(algorithm="jacobi").replace(
        'connections = [["body.p", "floor.point"]]',
        'connections = [["body.p", "floor.point"], ["body.p", "wall.point"]]',
    )
    text += 'wall = "PointSurface"\n'
    with pytest.raises(InputError) as caught:
        archive(written(tmp_path, text))
    assert len(caught.value.problems) == 3
    assert "body.p.f[1] gets the sum of floor.point.f[1] and wall.point.f[1]" in str(caught.value)


# ---- the command ---------------------------------------------------------------------------------------------------


def test_the_command_writes_the_archive_whole_or_not_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario, output = gains(tmp_path), tmp_path / "made" / "gains.ssp"
    command.write_ssp(str(scenario), output, "ecos", ("host",), as_json=False)
    assert str(output) in capsys.readouterr().out
    before = output.read_bytes()
    scenario.write_text(scenario.read_text().replace('"Gain.fmu"', '"Gone.fmu"'))
    with pytest.raises(InputError):
        command.write_ssp(str(scenario), output, "standard", ("host",), as_json=False)
    assert output.read_bytes() == before
    assert [path.name for path in output.parent.iterdir()] == ["gains.ssp"]


def test_an_unknown_tool_is_named_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--for: 'libcosm' is none of standard, ecos, .*did you mean 'libcosim'"):
        command.write_ssp(str(gains(tmp_path)), None, "libcosm", ("host",), as_json=False)
