"""SSP archives are read as the standard says: units, transformations, nesting, dictionaries, parameters; or refused."""

from __future__ import annotations

import copy
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from foreign import BODY, GAIN, foreign_fmu, member_of, model_description
from lxml import etree

from fmu_builder.cli import app, main
from fmu_builder.cosim.master import load_scenario, run, system_of
from fmu_builder.cosim.repeated import RepeatedRun
from fmu_builder.errors import InputError, ToolError
from fmu_builder.export import archive as limits
from fmu_builder.model.scenario import Conversion

ROOT = "http://ssp-standard.org/SSP1/SystemStructure"
NAMES = " ".join(
    f'xmlns:{short}="{ROOT}{name}"'
    for short, name in (
        ("ssd", "Description"),
        ("ssc", "Common"),
        ("ssv", "ParameterValues"),
        ("ssm", "ParameterMapping"),
        ("ssb", "SignalDictionary"),
    )
)
UNITS = """<{0}:Units>
<ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit>
<ssc:Unit name="mm"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit>
<ssc:Unit name="K"><ssc:BaseUnit K="1"/></ssc:Unit>
<ssc:Unit name="degC"><ssc:BaseUnit K="1" offset="273.15"/></ssc:Unit>
<ssc:Unit name="N"><ssc:BaseUnit kg="1" m="1" s="-2"/></ssc:Unit>
</{0}:Units>"""
STEP = """<ssd:Annotations><ssc:Annotation type="org.openmodelica"><oms:FixedStepMaster
xmlns:oms="https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd" stepSize="0.001"/>
</ssc:Annotation></ssd:Annotations>"""
EXPERIMENT = f'<ssd:DefaultExperiment startTime="0" stopTime="0.002">{STEP}</ssd:DefaultExperiment>'


def document(system: str, *, version: str = "1.0", experiment: str = EXPERIMENT) -> str:
    """A SystemStructure.ssd; `system` is what <System> holds, or with attributes of its own the whole element."""
    whole = system if system.startswith("<ssd:System") else f'<ssd:System name="top">{system}</ssd:System>'
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<ssd:SystemStructureDescription {NAMES}'
    end = f"{UNITS.format('ssd')}{experiment}</ssd:SystemStructureDescription>"
    return f'{head} version="{version}" name="test">\n{whole}\n{end}\n'


def archive(folder: Path, ssd: str, files: Mapping[str, str | bytes] | None = None, name: str = "test") -> Path:
    path = folder / f"{name}.ssp"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr(member_of("SystemStructure.ssd"), ssd)
        for member, data in (files or {}).items():
            package.writestr(member_of(member), data)
    return path


def gain(folder: Path, name: str = "Gain", units: Mapping[str, str] | None = None) -> bytes:
    """y = a u + b, with these units."""
    variables = [replace(v, unit=(units or {}).get(v.name)) for v in GAIN]
    return foreign_fmu(folder, name, variables, "g0--").read_bytes()


def connector(name: str, kind: str, unit: str = "", of: str = "Real") -> str:
    given = f' unit="{unit}"' if unit else ""
    return f'<ssd:Connector name="{name}" kind="{kind}"><ssc:{of}{given}/></ssd:Connector>'


def component(
    name: str, more: str = "", *, connectors: str = "", source: str = "Gain.fmu", attributes: str = ""
) -> str:
    inner = connectors or connector("u", "input") + connector("y", "output")
    return (
        f'<ssd:Component name="{name}" source="resources/{source}" {attributes}>'
        f"<ssd:Connectors>{inner}</ssd:Connectors>{more}</ssd:Component>"
    )


def connection(start: str, end: str, inner: str = "", attributes: str = "") -> str:
    ends = ""
    for key, place in (("start", start), ("end", end)):
        element, _, name = place.rpartition(".")
        ends += (f'{key}Element="{element}" ' if element else "") + f'{key}Connector="{name}" '
    return f"<ssd:Connection {ends}{attributes}>{inner}</ssd:Connection>"


def system(elements: str, connections: str = "", before: str = "", after: str = "") -> str:
    joined = f"<ssd:Connections>{connections}</ssd:Connections>" if connections else ""
    return f"{before}<ssd:Elements>{elements}</ssd:Elements>{joined}{after}"


def values(parameters: str, prefix: str = "", mapping: str = "") -> str:
    """Bindings with one set inside the document."""
    inner = f"<ssv:Parameters>{parameters}</ssv:Parameters>{UNITS.format('ssv')}"
    given = f'<ssv:ParameterSet version="1.0" name="p">{inner}</ssv:ParameterSet>'
    mapped = (
        f'<ssd:ParameterMapping><ssm:ParameterMapping version="1.0">{mapping}</ssm:ParameterMapping>'
        "</ssd:ParameterMapping>"
        if mapping
        else ""
    )
    head = f'<ssd:ParameterBinding prefix="{prefix}">' if prefix else "<ssd:ParameterBinding>"
    given = f"{head}<ssd:ParameterValues>{given}</ssd:ParameterValues>{mapped}</ssd:ParameterBinding>"
    return f"<ssd:ParameterBindings>{given}</ssd:ParameterBindings>"


def real(name: str, value: float, unit: str = "") -> str:
    given = f' unit="{unit}"' if unit else ""
    return f'<ssv:Parameter name="{name}"><ssv:Real value="{value}"{given}/></ssv:Parameter>'


def refusal(path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_scenario(path)
    return [str(problem) for problem in caught.value.problems]


def starts(path: Path) -> dict[str, dict[str, object]]:
    return {name: dict(slave.start) for name, slave in load_scenario(path).slaves.items()}


CHAIN = connection("first.y", "second.u")


# ---- the plain case ----------------------------------------------------------------------------------------------


def test_components_connections_and_parameters_become_a_scenario(tmp_path: Path) -> None:
    both = component("first", values(real("b", 3.0))) + component("second", values(real("a", 2.0) + real("b", 0.5)))
    path = archive(tmp_path, document(system(both, CHAIN)), {"resources/Gain.fmu": gain(tmp_path)})
    trace = run(path).trace
    assert trace.time.tolist() == [0.0, 0.001, 0.002]
    assert trace["first.y"].tolist() == [3.0] * 3
    assert trace["second.y"].tolist() == [6.5] * 3


def test_start_and_end_of_a_connection_are_no_direction(tmp_path: Path) -> None:
    both = component("first", values(real("b", 3.0))) + component("second")
    ssd = document(system(both, connection("second.u", "first.y")))
    assert load_scenario(archive(tmp_path, ssd, {"resources/Gain.fmu": gain(tmp_path)})).connections == [
        ("first.y", "second.u")
    ]


def test_a_version_2_document_is_read_with_its_new_types_and_metadata(tmp_path: Path) -> None:
    meta = '<ssc:MetaData kind="general" type="text/plain" source="notes.txt"/>'
    inner = '<ssd:Connector name="u" kind="input"><ssc:Float64/></ssd:Connector>' + connector("y", "output")
    one = component(
        "first",
        connectors=inner,
        more=values('<ssv:Parameter name="b"><ssv:Float64 value="2"/></ssv:Parameter>') + meta,
    )
    path = archive(tmp_path, document(system(one), version="2.0"), {"resources/Gain.fmu": gain(tmp_path)})
    assert starts(path) == {"first": {"b": 2.0}}


def test_names_that_are_no_identifiers_become_ones(tmp_path: Path) -> None:
    inside = f'<ssd:System name="left side">{system(component("1 a") + component("1-a"))}</ssd:System>'
    path = archive(tmp_path, document(system(inside)), {"resources/Gain.fmu": gain(tmp_path)})
    assert list(load_scenario(path).slaves) == ["left_side_1_a", "left_side_1_a_2"]


# ---- units and transformations -----------------------------------------------------------------------------------


def chain_of_units(folder: Path, source: str, target: str, inner: str = "", attributes: str = "") -> Path:
    fmus = {
        "resources/First.fmu": gain(folder, "First", {"y": source}),
        "resources/Second.fmu": gain(folder, "Second", {"u": target}),
    }
    both = component("first", values(real("b", 7.0)), source="First.fmu") + component("second", source="Second.fmu")
    ssd = document(system(both, connection("first.y", "second.u", inner, attributes)))
    return archive(folder, ssd, fmus)


LINEAR = '<ssc:LinearTransformation factor="0.5" offset="1"/>'


@pytest.mark.parametrize(
    ("source", "target", "inner", "attributes", "expected"),
    [
        ("m", "m", "", "", 7.0),
        ("m", "mm", "", "", 7000.0),
        ("mm", "m", "", "", 0.007),
        ("degC", "K", "", "", 280.15),
        ("K", "degC", "", "", -266.15),
        ("m", "mm", LINEAR, "", 3501.0),  # the value is converted first
        ("m", "mm", LINEAR, 'suppressUnitConversion="true"', 4.5),
        ("m", "mm", "", 'suppressUnitConversion="true"', 7.0),
        ("", "mm", "", "", 7.0),
    ],
)
def test_a_connection_converts_units_and_then_transforms(
    tmp_path: Path, source: str, target: str, inner: str, attributes: str, expected: float
) -> None:
    trace = run(chain_of_units(tmp_path, source, target, inner, attributes)).trace
    assert trace["first.y"].tolist() == [7.0] * 3
    assert trace["second.y"] == pytest.approx([expected] * 3, rel=1e-15)  # from the start on


def test_a_fit_that_cannot_be_written_is_refused_before_its_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = chain_of_units(tmp_path, "m", "mm")
    (tmp_path / "y.csv").write_text("t,y\n0,7\n0.001,7\n0.002,7\n")
    (tmp_path / "fit.toml").write_text(
        f"scenario = '{path.name}'\n[parameters]\n'first.b' = {{ start = 1, min = 0, max = 9 }}\n"
        "[[measurement]]\nfile = 'y.csv'\ncolumns = { y = 'first.y' }\n"
    )
    monkeypatch.setattr(RepeatedRun, "run", None)  # a call would fail
    with pytest.raises(InputError, match="converts signals in a way that a scenario cannot express"):
        app(["fit", str(tmp_path / "fit.toml"), "-o", str(tmp_path / "fitted.toml")], standalone_mode=False)


def test_transformations_and_units_of_several_connections_are_done_one_after_another(tmp_path: Path) -> None:
    """7 m, halved and 1 m more, 4.5 m; in mm, doubled and 10 mm more."""
    ports = f"<ssd:Connectors>{connector('x', 'input', 'm')}</ssd:Connectors>"
    second = '<ssc:LinearTransformation factor="2" offset="10"/>'
    inside = system(component("gain", source="Second.fmu"), connection("x", "gain.u", second))
    sub = f'<ssd:System name="sub">{ports}{inside}</ssd:System>'
    first = component("first", values(real("b", 7.0)), source="First.fmu")
    files = {
        "resources/First.fmu": gain(tmp_path, "First", {"y": "m"}),
        "resources/Second.fmu": gain(tmp_path, "Second", {"u": "mm"}),
    }
    path = archive(tmp_path, document(system(first + sub, connection("first.y", "sub.x", LINEAR))), files)
    assert run(path).trace["sub_gain.y"].tolist() == [9010.0] * 3


def test_the_offset_of_a_unit_is_left_out_of_a_difference(tmp_path: Path) -> None:
    fmus = {}
    for name, unit in (("First", {"y": "degC"}), ("Second", {"u": "K"})):
        variables = [replace(v, unit=unit.get(v.name)) for v in GAIN]
        text = model_description(name, variables, "g0--").replace('unit="K"', 'unit="K" relativeQuantity="true"')
        fmu = foreign_fmu(tmp_path, name, variables, "g0--", description=text)
        fmus[f"resources/{name}.fmu"] = fmu.read_bytes()
    both = component("first", values(real("b", 7.0)), source="First.fmu") + component("second", source="Second.fmu")
    assert run(archive(tmp_path, document(system(both, CHAIN)), fmus)).trace["second.y"].tolist() == [7.0] * 3


def test_cycles_are_not_converted_to_angles(tmp_path: Path) -> None:
    (problem,) = refusal(chain_of_units(tmp_path, "Hz", "rad/s"))
    assert "Hz counts cycles, rad/s angles" in problem


def test_units_of_other_dimensions_are_refused_with_both(tmp_path: Path) -> None:
    (problem,) = refusal(chain_of_units(tmp_path, "m", "N"))
    assert problem.endswith("m (m) and N (kg.m.s-2) differ in dimension")
    assert "SystemStructure.ssd: line" in problem


def test_a_connector_in_another_unit_than_its_fmu_is_refused(tmp_path: Path) -> None:
    one = component("first", connectors=connector("y", "output", "mm"))
    path = archive(tmp_path, document(system(one)), {"resources/Gain.fmu": gain(tmp_path, units={"y": "m"})})
    (problem,) = refusal(path)
    assert problem.endswith("'y' of Gain is in m in the FMU, in mm here; give it the unit of the FMU")


def test_a_parameter_is_converted_to_the_unit_of_its_variable_and_mapped(tmp_path: Path) -> None:
    fmu = {"resources/Gain.fmu": gain(tmp_path, units={"b": "m", "a": "m"})}
    entries = (
        '<ssm:MappingEntry source="length" target="b"/>'
        '<ssm:MappingEntry source="length" target="a"><ssc:LinearTransformation factor="2" offset="1"/>'
        "</ssm:MappingEntry>"
    )
    one = component("first", values(real("length", 100.0, "mm") + real("a", 9.0), mapping=entries))
    assert starts(archive(tmp_path, document(system(one)), fmu)) == {"first": {"b": 0.1, "a": 1.2}}
    entries = entries.replace('target="b"', 'target="b" suppressUnitConversion="true"')
    one = component("first", values(real("length", 100.0, "mm"), mapping=entries))
    assert starts(archive(tmp_path, document(system(one)), fmu))["first"]["b"] == 100.0


def test_sets_inside_a_document_use_its_units_unless_they_define_them(tmp_path: Path) -> None:
    fmu = {"resources/Gain.fmu": gain(tmp_path, units={"b": "m", "a": "m"})}
    own = UNITS.format("ssv")
    given = values(real("b", 100.0, "mm"))
    one = component("first", given.replace(own, ""))
    assert starts(archive(tmp_path, document(system(one)), fmu))["first"] == {"b": 0.1}
    one = component("first", given.replace(own, own.replace('factor="0.001"', 'factor="0.002"')))
    assert starts(archive(tmp_path, document(system(one)), fmu))["first"] == {"b": 0.2}
    inner = given.replace(own, "").partition("<ssd:ParameterValues>")[2].partition("</ssd:ParameterValues>")[0]
    files = {**fmu, "resources/p.ssv": inner.replace("<ssv:ParameterSet ", f"<ssv:ParameterSet {NAMES} ", 1)}
    linked = '<ssd:ParameterBindings><ssd:ParameterBinding source="resources/p.ssv"/></ssd:ParameterBindings>'
    (problem,) = refusal(archive(tmp_path, document(system(component("first", linked))), files))
    assert "the unit 'mm' of 'b' is not defined" in problem  # a file of its own defines what it uses


def test_texts_truth_values_and_enumerations_are_mapped_by_tables(tmp_path: Path) -> None:
    parameters = (
        '<ssv:Parameter name="on"><ssv:Boolean value="true"/></ssv:Parameter>'
        '<ssv:Parameter name="work"><ssv:Enumeration value="busy"/></ssv:Parameter>'
        '<ssv:Parameter name="label"><ssv:String value="left"/></ssv:Parameter>'
        '<ssv:Parameter name="number"><ssv:Integer value="3"/></ssv:Parameter>'
    )
    entries = (
        '<ssm:MappingEntry source="on" target="on"><ssc:BooleanMappingTransformation>'
        '<ssc:MapEntry source="1" target="0"/></ssc:BooleanMappingTransformation></ssm:MappingEntry>'
        '<ssm:MappingEntry source="work" target="mode"><ssc:EnumerationMappingTransformation>'
        '<ssc:MapEntry source="busy" target="loaded"/></ssc:EnumerationMappingTransformation></ssm:MappingEntry>'
        '<ssm:MappingEntry source="label" target="label"/>'
        '<ssm:MappingEntry source="number" target="count"><ssc:IntegerMappingTransformation>'
        '<ssc:MapEntry source="3" target="30"/></ssc:IntegerMappingTransformation></ssm:MappingEntry>'
    )
    one = component(
        "body",
        values(parameters, mapping=entries),
        source="Body.fmu",
        connectors=connector("steps", "output", of="Integer"),
    )
    fmu = {"resources/Body.fmu": foreign_fmu(tmp_path, "Body", BODY).read_bytes()}
    path = archive(tmp_path, document(system(one)), fmu)
    assert starts(path) == {"body": {"on": False, "mode": 2, "label": "left", "count": 30}}


# ---- nested systems and dictionaries ------------------------------------------------------------------------------


def nested(bindings: str = "", inner_bindings: str = "") -> str:
    """A system with an input in mm around an FMU in m, and an FMU that drives it."""
    connectors = connector("in", "input", "mm") + connector("out", "output", "mm") + connector("B", "parameter")
    joined = connection("in", "gain.u") + connection("gain.y", "out") + connection("B", "gain.b")
    ports = connector("u", "input") + connector("y", "output") + connector("b", "parameter")
    inside = system(component("gain", inner_bindings, connectors=ports), joined)
    sub = f'<ssd:System name="sub"><ssd:Connectors>{connectors}</ssd:Connectors>{inside}</ssd:System>'
    outer = f"<ssd:Connectors>{connector('result', 'output', 'mm')}</ssd:Connectors>{bindings}"
    links = connection("source.y", "sub.in") + connection("sub.out", "result")
    return system(component("source", values(real("b", 5.0)), source="Plain.fmu") + sub, links, outer)


def nested_files(folder: Path) -> dict[str, bytes]:
    return {
        "resources/Gain.fmu": gain(folder, units={"u": "m", "y": "m"}),
        "resources/Plain.fmu": gain(folder, "Plain", {"y": "m"}),
    }


def test_connections_pass_through_systems_with_their_units(tmp_path: Path) -> None:
    scenario = load_scenario(archive(tmp_path, document(nested()), nested_files(tmp_path)))
    assert scenario.connections == [("source.y", "sub_gain.u")]
    assert scenario.conversions == {"sub_gain.u": Conversion()}  # m to mm to m: exactly nothing
    output = scenario.outputs["result"]
    assert (output.source, output.change.factor, output.unit) == ("sub_gain.y", 1000.0, "mm")


def test_outputs_of_the_system_are_signals_of_the_trace(tmp_path: Path) -> None:
    trace = run(archive(tmp_path, document(nested()), nested_files(tmp_path))).trace
    assert trace.units["result"] == "mm"
    assert np.array_equal(trace["result"], 1000.0 * trace["sub_gain.y"])


def test_a_parameter_of_a_system_reaches_the_variable_behind_it(tmp_path: Path) -> None:
    path = archive(tmp_path, document(nested(values(real("sub.B", 2.5)))), nested_files(tmp_path))
    assert starts(path)["sub_gain"] == {"b": 2.5}


@pytest.mark.parametrize(("connector_unit", "expected"), [("mm", 2.5), ("", 2.5), ("m", 2.5)])
def test_the_value_of_a_parameter_is_converted_on_its_way(tmp_path: Path, connector_unit: str, expected: float) -> None:
    """2,500 mm for a system, whose FMU is in m, whatever the unit of the connector between."""
    ports = connector("u", "input") + connector("b", "parameter")
    inside = system(component("gain", connectors=ports), connection("B", "gain.b"))
    outside = f"<ssd:Connectors>{connector('B', 'parameter', connector_unit)}</ssd:Connectors>"
    sub = f'<ssd:System name="sub">{outside}{inside}</ssd:System>'
    given = values(real("sub.B", 2500.0, "mm"))
    path = archive(
        tmp_path, document(system(sub, before=given)), {"resources/Gain.fmu": gain(tmp_path, units={"b": "m"})}
    )
    assert starts(path)["sub_gain"]["b"] == expected


def test_a_binding_further_out_counts_more_and_a_later_one_of_the_same_place(tmp_path: Path) -> None:
    inner = values(real("a", 1.5) + real("a", 1.75))
    files = nested_files(tmp_path)
    assert starts(archive(tmp_path, document(nested("", inner)), files))["sub_gain"] == {"a": 1.75}
    outer = values(real("a", 4.0) + real("elsewhere", 0.0), prefix="sub.gain.")
    path = archive(tmp_path, document(nested(outer, inner)), files)
    assert starts(path)["sub_gain"] == {"a": 4.0}
    (note,) = [note for note in load_scenario(path).notes if "elsewhere" in note]
    assert note.endswith("the system has no 'sub.gain.elsewhere': the value has no effect")


def test_a_signal_dictionary_joins_systems_of_any_depth(tmp_path: Path) -> None:
    reference = (
        '<ssd:SignalDictionaryReference name="bus" dictionary="signals">'
        f"<ssd:Connectors>{connector('x', 'inout')}</ssd:Connectors></ssd:SignalDictionaryReference>"
    )
    entry = '<ssb:DictionaryEntry name="x"><ssc:Real unit="mm"/></ssb:DictionaryEntry>' + UNITS.format("ssb")
    entries = f'<ssb:SignalDictionary version="1.0">{entry}</ssb:SignalDictionary>'
    dictionaries = (
        f'<ssd:SignalDictionaries><ssd:SignalDictionary name="signals">{entries}</ssd:SignalDictionary>'
        "</ssd:SignalDictionaries>"
    )
    inside = system(reference + component("reader"), connection("bus.x", "reader.u"))
    sub = f'<ssd:System name="sub">{inside}</ssd:System>'
    top = system(
        sub + reference + component("writer", source="Plain.fmu"), connection("writer.y", "bus.x"), after=dictionaries
    )
    path = archive(tmp_path, document(top), nested_files(tmp_path))
    assert load_scenario(path).connections == [("writer.y", "sub_reader.u")]
    without = top.replace(UNITS.format("ssb"), "")  # the units of the document are its own as well
    path = archive(tmp_path, document(without), nested_files(tmp_path))
    assert load_scenario(path).connections == [("writer.y", "sub_reader.u")]
    elsewhere = dictionaries.replace('name="x"', 'name="z"')  # nearer, and without x
    shadowed = document(top.replace(inside, inside + elsewhere))
    assert any("is none of z" in problem for problem in refusal(archive(tmp_path, shadowed, nested_files(tmp_path))))
    outside = {
        **nested_files(tmp_path),
        "resources/signals.ssb": entries.replace("<ssb:SignalDictionary ", f"<ssb:SignalDictionary {NAMES} ", 1),
    }
    linked = document(top).replace(f'name="signals">{entries}<', 'name="signals" source="resources/signals.ssb"><')
    assert load_scenario(archive(tmp_path, linked, outside)).connections == [("writer.y", "sub_reader.u")]


def test_an_archive_inside_an_archive_is_a_system(tmp_path: Path) -> None:
    inner = archive(tmp_path, document(nested(values(real("sub.B", 1.0)))), nested_files(tmp_path), "inner")
    one = (
        '<ssd:Component name="unit" type="application/x-ssp-package" source="resources/inner.ssp">'
        f"<ssd:Connectors>{connector('result', 'output')}</ssd:Connectors>{values(real('sub.B', 6.0))}</ssd:Component>"
    )
    links = connection("unit.result", "last.u")
    ssd = document(system(one + component("last"), links))
    files = {"resources/inner.ssp": inner.read_bytes(), "resources/Gain.fmu": gain(tmp_path, units={"u": "mm"})}
    scenario = load_scenario(archive(tmp_path, ssd, files))
    assert list(scenario.slaves) == ["unit_source", "unit_sub_gain", "last"]
    assert scenario.slaves["unit_sub_gain"].start == {"b": 6.0}  # of the component after those of its system
    assert scenario.conversions["last.u"].factor == 1000.0


def russian_doll(folder: Path, depth: int, size: int, copies: int = 1) -> Path:
    """Archives of `size` bytes inside one another, each used `copies` times by the one around it."""
    held = {"random.bin": np.random.default_rng(depth).bytes(size)}
    if not depth:
        return archive(folder, document(system("")), held, "inner0")
    held["in.ssp"] = russian_doll(folder, depth - 1, size, copies).read_bytes()
    parts = (f'<ssd:Component name="c{k}" type="application/x-ssp-package" source="in.ssp"/>' for k in range(copies))
    return archive(folder, document(system("".join(parts))), held, f"inner{depth}")


def test_archives_inside_one_another_are_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_BYTES", 2**20)
    path = russian_doll(tmp_path, 3, 200_000)  # 0.8 + 0.6 + 0.4 + 0.2 MB
    expected = f"{path}: in.ssp: unpacks to 1 MiB, those around it to 1 MiB; at most 1 MiB are unpacked"
    assert any(problem.startswith(expected) for problem in refusal(path))
    monkeypatch.setattr(limits, "MOST_BYTES", 2**21)
    assert not any("are unpacked" in problem for problem in refusal(path))
    monkeypatch.setattr(limits, "MOST_FILES", 10)  # 3 + 3 + 3 + 2
    assert any("holds 2 files with the 9 of the archives around it; at most 10" in p for p in refusal(path))


def test_an_archive_that_is_used_several_times_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_BYTES", 2**20)
    assert not any("are unpacked" in problem for problem in refusal(russian_doll(tmp_path, 1, 200_000, copies=8)))


def test_a_full_disk_names_the_folder_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = archive(tmp_path, document(system(component("gain"))), nested_files(tmp_path) | {"new": tmp_path.name})
    monkeypatch.setattr(zipfile.ZipFile, "extractall", full)
    with pytest.raises(ToolError, match=r"No space left on device; FMU_BUILDER_CACHE names the folder of the cache"):
        load_scenario(path)


def test_a_document_beside_the_main_one_names_files_from_its_own_folder(tmp_path: Path) -> None:
    inner = document(system(component("gain"))).replace("resources/Gain.fmu", "./Gain.fmu")
    one = '<ssd:Component name="part" type="application/x-ssp-definition" source="resources/part.ssd"/>'
    files = {"resources/part.ssd": inner, "resources/Gain.fmu": gain(tmp_path)}
    assert list(load_scenario(archive(tmp_path, document(system(one)), files)).slaves) == ["part_gain"]


def test_a_system_of_the_document_is_used_twice_by_its_id(tmp_path: Path) -> None:
    original = f'<ssd:System name="one" id="shared">{system(component("gain"))}</ssd:System>'
    again = '<ssd:Component name="two" type="application/x-ssp-definition" source="#shared"/>'
    path = archive(tmp_path, document(system(original + again)), {"resources/Gain.fmu": gain(tmp_path)})
    assert list(load_scenario(path).slaves) == ["one_gain", "two_gain"]


def test_parameters_are_read_from_files_beside_the_document_and_inside_the_fmu(tmp_path: Path) -> None:
    text = f'<ssv:ParameterSet {NAMES} version="1.0" name="p"><ssv:Parameters>{{}}</ssv:Parameters></ssv:ParameterSet>'
    bindings = (
        '<ssd:ParameterBindings><ssd:ParameterBinding source="resources/one.ssv"/>'
        '<ssd:ParameterBinding source="resources/two.ssv" sourceBase="component"/></ssd:ParameterBindings>'
    )
    inside = {"resources/two.ssv": text.format(real("b", 8.0)).encode()}
    fmu = foreign_fmu(tmp_path, "Gain", GAIN, "g0--", files=inside)
    files = {"resources/Gain.fmu": fmu.read_bytes(), "resources/one.ssv": text.format(real("a", 3.0))}
    path = archive(tmp_path, document(system(component("first", bindings))), files)
    assert starts(path) == {"first": {"a": 3.0, "b": 8.0}}


def test_an_input_keeps_its_start_value_beside_its_connection(tmp_path: Path) -> None:
    both = component("first") + component("second", values(real("u", 4.0)))
    path = archive(tmp_path, document(system(both, CHAIN)), {"resources/Gain.fmu": gain(tmp_path)})
    assert starts(path) == {"first": {}, "second": {"u": 4.0}}


def test_an_enumeration_that_the_set_defines_gives_the_number_of_its_item(tmp_path: Path) -> None:
    bindings = values('<ssv:Parameter name="mode"><ssv:Enumeration value="busy" name="E"/></ssv:Parameter>')
    enumerations = '<ssv:Enumerations><ssc:Enumeration name="E"><ssc:Item name="busy" value="2"/></ssc:Enumeration>'
    bindings = bindings.replace("</ssv:Parameters>", f"</ssv:Parameters>{enumerations}</ssv:Enumerations>")
    body = component("body", bindings, source="Body.fmu", connectors=connector("steps", "output", of="Integer"))
    files = {"resources/Body.fmu": foreign_fmu(tmp_path, "Body", BODY).read_bytes()}
    assert starts(archive(tmp_path, document(system(body)), files)) == {"body": {"mode": 2}}
    of_document = enumerations.replace("ssv:Enumerations", "ssd:Enumerations") + "</ssd:Enumerations>"
    moved = document(system(body)).replace(f"{enumerations}</ssv:Enumerations>", "")
    moved = moved.replace("<ssd:Units>", f"{of_document}<ssd:Units>")
    assert starts(archive(tmp_path, moved, files)) == {"body": {"mode": 2}}
    unknown = document(system(body)).replace('<ssc:Item name="busy"', '<ssc:Item name="else"')
    (problem,) = refusal(archive(tmp_path, unknown, files))
    assert "'mode': 'busy' is none of else, idle, loaded" in problem


def test_a_table_of_another_type_than_its_parameter_is_refused(tmp_path: Path) -> None:
    table = '<ssc:MapEntry source="1" target="0"/>'
    entry = (
        '<ssm:MappingEntry source="n" target="a"><ssc:BooleanMappingTransformation>'
        f"{table}</ssc:BooleanMappingTransformation></ssm:MappingEntry>"
    )
    given = values('<ssv:Parameter name="n"><ssv:Integer value="1"/></ssv:Parameter>', mapping=entry)
    path = archive(tmp_path, document(system(component("first", given))), {"resources/Gain.fmu": gain(tmp_path)})
    (problem,) = refusal(path)
    assert problem.endswith("line 3: a mapping of Boolean values does not apply to 'a' of type Integer")


def test_a_parameter_that_an_fmu_calculates_is_not_passed_on(tmp_path: Path) -> None:
    calculated = [replace(v, causality="calculatedParameter") if v.name == "y" else v for v in GAIN]
    text = model_description("Fixed", calculated, "g0--")
    text = text.replace('"calculatedParameter" variability="continuous"', '"calculatedParameter" variability="fixed"')
    fixed = foreign_fmu(tmp_path, "Fixed", calculated, "g0--", description=text)
    files = {"resources/Gain.fmu": gain(tmp_path), "resources/Fixed.fmu": fixed.read_bytes()}
    first = component("first", source="Fixed.fmu", connectors=connector("y", "calculatedParameter"))
    second = component("second", connectors=connector("a", "parameter"))
    path = archive(tmp_path, document(system(first + second, connection("first.y", "second.a"))), files)
    (problem,) = refusal(path)
    assert "first.y (calculatedParameter) is passed to the parameter second.a; only outputs" in problem


# ---- the experiment ------------------------------------------------------------------------------------------------


def test_the_shortest_step_of_several_fmus_is_taken(tmp_path: Path) -> None:
    text = model_description("Slow", GAIN, "g0--", experiment='startTime="0" stopTime="1" stepSize="0.004"')
    slow = foreign_fmu(tmp_path, "Slow", GAIN, "g0--", description=text)
    both = component("first", source="Slow.fmu") + component("second")
    files = {"resources/Gain.fmu": gain(tmp_path), "resources/Slow.fmu": slow.read_bytes()}
    path = archive(tmp_path, document(system(both), experiment=""), files)
    assert load_scenario(path).experiment.step == 0.001


def test_without_a_step_the_shortest_of_the_fmus_is_taken_and_named(tmp_path: Path) -> None:
    ssd = document(system(component("first")), experiment='<ssd:DefaultExperiment stopTime="0.0104"/>')
    path = archive(tmp_path, ssd, {"resources/Gain.fmu": gain(tmp_path)})
    scenario = load_scenario(path)
    assert (scenario.experiment.step, scenario.experiment.stop) == (0.001, 0.01)  # a whole number of steps
    assert any("no communication step: 0.001 s is taken" in note for note in run(path).notes)


# ---- what is refused -----------------------------------------------------------------------------------------------

FIRST = component("first")
BAD = {
    "no such FMU": (system(component("first", source="Gone.fmu")), "the archive holds no 'resources/Gone.fmu'"),
    "outside": (FIRST.replace("resources/Gain.fmu", "../Gain.fmu"), "leads out of the archive"),
    "outside in escapes": (FIRST.replace("resources/Gain.fmu", "%2e%2e/Gain.fmu"), "leads out of the archive"),
    "absolute": (FIRST.replace("resources/Gain.fmu", "/etc/passwd"), "'/etc/passwd' is not in the archive"),
    "name too long": (FIRST.replace("resources/Gain.fmu", "9" * 400), "the archive holds no '999"),
    "of the network": (FIRST.replace("resources/Gain.fmu", "http://a.b/Gain.fmu"), "is not in the archive"),
    "model exchange": (component("first", attributes='implementation="ModelExchange"'), "only CoSimulation is"),
    "other type": (component("first", attributes='type="text/x-modelica"'), "is of type 'text/x-modelica'"),
    "no such variable": (component("first", connectors=connector("uu", "input")), "Gain has no variable 'uu'"),
    "other kind": (component("first", connectors=connector("u", "output")), "'u' of Gain is of causality input"),
    "other type of value": (
        component("first", connectors=connector("u", "input", of="Integer")),
        "'u' of Gain is of type Real in the FMU, not Integer",
    ),
    "type of FMI 3.0": (component("first", connectors=connector("u", "input", of="Float32")), "is of type Float32"),
    "array": (
        component("first", connectors=connector("u", "input").replace("</ssd", '<ssc:Dimension size="2"/></ssd')),
        "'u' is an array",
    ),
    "unit without definition": (component("first", connectors=connector("u", "input", "ft")), "the unit 'ft' of 'u'"),
    "element that SSP lacks": (component("first", "<ssd:Solver/>"), "<Component> holds <Solver>"),
    "two sources": (
        system(FIRST + component("second") + component("third"), CHAIN + connection("third.y", "second.u")),
        "SSP allows one",
    ),
    "two types": (
        system(
            FIRST,
            connection("n", "first.u"),
            before=f"<ssd:Connectors>{connector('n', 'input', of='Integer')}</ssd:Connectors>",
        ),
        "top.n of type Integer and first.u of type Real are connected",
    ),
    "two outputs": (
        system(FIRST + component("second"), connection("first.y", "second.y")),
        "output first.y and output second.y both give values",
    ),
    "no such element": (system(FIRST, connection("frist.y", "first.u")), "no element 'frist' in 'top'; did you mean"),
    "mapping of values": (
        system(
            FIRST + component("second"),
            connection(
                "first.y",
                "second.u",
                '<ssc:BooleanMappingTransformation><ssc:MapEntry source="true" target="false"/>'
                "</ssc:BooleanMappingTransformation>",
            ),
        ),
        "a mapping of values on a connection is not done",
    ),
    "parameter of another type": (
        component("first", values('<ssv:Parameter name="a"><ssv:Boolean value="true"/></ssv:Parameter>')),
        "'a' is of type Boolean, a of type Real",
    ),
    "infinite parameter": (component("first", values(real("a", float("inf")))), "'a': 'inf' is no value of type Real"),
    "no FMU": ("", "the system holds no FMU"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_run_is_named_with_its_line(tmp_path: Path, name: str) -> None:
    given, expected = BAD[name]
    ssd = document(given if not given.startswith("<ssd:Component") else system(given))
    problems = refusal(archive(tmp_path, ssd, {"resources/Gain.fmu": gain(tmp_path)}))
    (found,) = [problem for problem in problems if expected in problem]
    assert found.startswith(f"{tmp_path / 'test.ssp'}: SystemStructure.ssd: line ")


def test_the_command_ends_with_exit_code_2_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    archive(tmp_path, document(system(component("first", source="Gone.fmu"))))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["fmu-builder", "run", "test.ssp"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "error: test.ssp: SystemStructure.ssd: line 3: the archive holds no" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["test.ssp"]


def test_options_replace_what_the_archive_gives(tmp_path: Path) -> None:
    path = archive(tmp_path, document(system(FIRST)), {"resources/Gain.fmu": gain(tmp_path)})
    assert run(path, step="0.5 ms", stop="1 ms").trace.time.tolist() == [0.0, 0.0005, 0.001]


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    both = component("first", source="Gone.fmu") + component("second", connectors=connector("z", "input"))
    problems = refusal(archive(tmp_path, document(system(both)), {"resources/Gain.fmu": gain(tmp_path)}))
    assert len(problems) == 2 and "Gone.fmu" in problems[0] and "no variable 'z'" in problems[1]


STRANGE = ("", "nan", "-1", "a.b", "#x", "%00", "é", "9" * 400, "1e999", "mm", "in", "gain")


@pytest.mark.parametrize("seed", range(100))
def test_documents_with_random_faults_are_read_or_refused(tmp_path: Path, seed: int) -> None:
    """Elements that are missing, doubled, elsewhere or of other names, and strange attributes: never another error."""
    random = np.random.default_rng(seed)
    entry = '<ssm:MappingEntry source="length" target="sub.gain.a"/>'
    parameters = values(real("length", 2.0, "mm") + real("sub.B", 2.5), mapping=entry)
    root = etree.fromstring(document(nested(parameters)).encode())
    for _ in range(random.integers(1, 4)):
        elements = list(root.iter(etree.Element))[1:]
        one, other = (elements[random.integers(len(elements))] for _ in range(2))
        kind = random.integers(5)
        if kind == 0:
            one.getparent().remove(one)
        elif kind == 1:
            other.append(copy.deepcopy(one))
        elif kind == 2:
            one.tag = other.tag
        elif one.attrib:
            key = sorted(one.attrib)[random.integers(len(one.attrib))]
            if kind == 3:
                del one.attrib[key]
            else:
                one.set(key, STRANGE[random.integers(len(STRANGE))])
    path = archive(tmp_path, etree.tostring(root).decode(), nested_files(tmp_path))
    with suppress(InputError):
        system_of(load_scenario(path))


@pytest.mark.slow
def test_systems_inside_themselves_are_refused(tmp_path: Path) -> None:
    again = '<ssd:Component name="in" type="application/x-ssp-definition" source="#one"/>'
    itself = f'<ssd:System name="one" id="one">{system(again + again.replace("in", "too", 1))}</ssd:System>'
    problems = refusal(archive(tmp_path, document(system(itself))))
    assert any("nested more than 16 deep" in p or "more than 10000 elements" in p for p in problems)


def test_a_circle_of_connections_is_named(tmp_path: Path) -> None:
    connectors = f"<ssd:Connectors>{connector('a', 'input')}{connector('b', 'output')}</ssd:Connectors>"
    inside = system(FIRST, connection("a", "b") + connection("a", "first.u"))
    sub = f'<ssd:System name="sub">{connectors}{inside}</ssd:System>'
    path = archive(
        tmp_path, document(system(sub, connection("sub.b", "sub.a"))), {"resources/Gain.fmu": gain(tmp_path)}
    )
    assert any("sub.a -> sub.b -> sub.a is a circle without a source" in problem for problem in refusal(path))


def test_a_circle_through_a_signal_dictionary_is_named_by_the_dictionary(tmp_path: Path) -> None:
    bus = (
        '<ssd:SignalDictionaryReference name="bus" dictionary="signals">'
        f"<ssd:Connectors>{connector('x', 'inout')}</ssd:Connectors></ssd:SignalDictionaryReference>"
    )
    own = (
        '<ssd:SignalDictionaries><ssd:SignalDictionary name="signals">'
        '<ssb:SignalDictionary version="1.0"><ssb:DictionaryEntry name="x"><ssc:Real/></ssb:DictionaryEntry>'
        "</ssb:SignalDictionary></ssd:SignalDictionary></ssd:SignalDictionaries>"
    )
    ports = f"<ssd:Connectors>{connector('a', 'input')}{connector('b', 'output')}</ssd:Connectors>"
    through = f'<ssd:System name="pass">{ports}{system("", connection("a", "b"))}</ssd:System>'
    links = connection("bus.x", "pass.a") + connection("pass.b", "bus.x") + connection("bus.x", "first.u")
    parts = system(through + bus + FIRST, links, after=own)
    inside = f'<ssd:System name="sub">{parts}</ssd:System>'
    problems = refusal(archive(tmp_path, document(system(inside)), {"resources/Gain.fmu": gain(tmp_path)}))
    assert any("sub.signals.x is a circle without a source" in p for p in problems), problems


ENTITIES = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize("place", ["SystemStructure.ssd", "resources/one.ssv"])
def test_a_document_type_is_refused_before_its_entities_are_read(tmp_path: Path, place: str) -> None:
    binding = '<ssd:ParameterBindings><ssd:ParameterBinding source="resources/one.ssv"/></ssd:ParameterBindings>'
    ssd = document(system(component("first", binding)))
    values = f'<?xml version="1.0"?>{ENTITIES}<ssv:ParameterSet {NAMES} version="1.0" name="&b;"/>'
    if place == "SystemStructure.ssd":
        ssd = ssd.replace("?>\n", f"?>\n{ENTITIES}", 1)
    path = archive(tmp_path, ssd, {"resources/Gain.fmu": gain(tmp_path), "resources/one.ssv": values})
    (problem,) = refusal(path)
    assert problem.startswith(f"{path}: {place}: holds a document type (<!DOCTYPE)")


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"../evil.txt": b"x"}, "would be written outside its folder"),
        ({"C:/evil.txt": b"x"}, "would be written outside its folder"),
        ({"zeros.bin": bytes(64 * 2**20)}, "times its size"),
    ],
)
def test_an_archive_that_would_do_harm_is_not_unpacked(
    tmp_path: Path, members: dict[str, bytes], expected: str
) -> None:
    path = tmp_path / "test.ssp"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("SystemStructure.ssd", document(system(FIRST)))
        for name, data in members.items():
            package.writestr(name, data)
    assert any(expected in problem for problem in refusal(path))


def test_files_that_are_no_archive_or_hold_no_structure_are_named(tmp_path: Path) -> None:
    path = tmp_path / "test.ssp"
    path.write_bytes(b"no archive")
    assert "is no complete SSP (a zip archive)" in refusal(path)[0]
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("readme.txt", "empty")
    assert refusal(path) == [f"{path}: holds no SystemStructure.ssd, so it is no SSP"]
    assert refusal(tmp_path / "gone.ssp") == [f"{tmp_path / 'gone.ssp'}: there is no such file"]


@pytest.mark.parametrize(
    ("ssd", "expected"),
    [
        ("<a/>", "begins with <a>; must be <SystemStructureDescription>"),
        ("<a", "is no XML"),
        (document(system(FIRST), version="3.0"), "version '3.0' of SSP is unknown"),
        (document(system(FIRST), experiment='<ssd:DefaultExperiment stopTime="nan"/>'), "stopTime 'nan' must be"),
        (document(system(FIRST), experiment='<ssd:DefaultExperiment stopTime="-1"/>'), "must be after start"),
    ],
)
def test_documents_that_are_not_of_the_standard_are_named(tmp_path: Path, ssd: str, expected: str) -> None:
    problems = refusal(archive(tmp_path, ssd, {"resources/Gain.fmu": gain(tmp_path)}))
    assert any(expected in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("kind", "entry", "expected"),
    [
        ("Integer", 'source="3" target="x"', "'x' must be a whole number"),
        ("Integer", 'source="3" target="4.5"', "'4.5' must be a whole number"),
        ("Integer", 'source="3"', "<MapEntry> has no target"),
        ("Boolean", 'source="true" target="yes"', "'yes' must be true or false"),
        ("Boolean", 'target="true"', "<MapEntry> has no source"),
    ],
)
def test_a_table_of_values_that_are_none_of_its_type_is_refused(
    tmp_path: Path, kind: str, entry: str, expected: str
) -> None:
    value, name = {"Integer": ("3", "count"), "Boolean": ("true", "on")}[kind]
    parameter = f'<ssv:Parameter name="x"><ssv:{kind} value="{value}"/></ssv:Parameter>'
    table = f"<ssc:{kind}MappingTransformation><ssc:MapEntry {entry}/></ssc:{kind}MappingTransformation>"
    bindings = values(parameter, mapping=f'<ssm:MappingEntry source="x" target="{name}">{table}</ssm:MappingEntry>')
    one = component("body", bindings, source="Body.fmu", connectors=connector("steps", "output", of="Integer"))
    fmu = {"resources/Body.fmu": foreign_fmu(tmp_path, "Body", BODY).read_bytes()}
    assert any(expected in problem for problem in refusal(archive(tmp_path, document(system(one)), fmu)))


def annotated(folder: Path, tables: str) -> Path:
    """One FMU, with these tables in the annotation of fmu-builder."""
    scenario = f'<fb:Scenario xmlns:fb="urn:org.fmu-builder:scenario">{tables}</fb:Scenario>'
    given = f'<ssd:Annotations><ssc:Annotation type="org.fmu-builder">{scenario}</ssc:Annotation></ssd:Annotations>'
    files = {"resources/Gain.fmu": gain(folder)}
    return archive(folder, document(system(component("first")), experiment=given), files)


@pytest.mark.parametrize("kind", ["absolute", "upwards", "beside"])
def test_an_annotation_names_no_file(tmp_path: Path, kind: str) -> None:
    (tmp_path / "secret.csv").write_text("time,u\n0,1\n1,1\n")
    (tmp_path / "in").mkdir()
    name = {"absolute": f"{tmp_path / 'secret.csv'}", "upwards": "../secret.csv", "beside": "secret.csv"}[kind]
    path = annotated(tmp_path / "in", f"[drive]\n'first.u' = {{ table = '{name}' }}")
    where = f"{path}: SystemStructure.ssd: the annotation of fmu-builder: [drive] first.u table"
    assert refusal(path) == [f"{where}: an archive names no files here; give time and value"]


def test_faults_in_an_annotation_are_named_by_their_tables_all_at_once(tmp_path: Path) -> None:
    drives = "'first.u' = { law = '1', tabel = 'x' }\n'first.a' = { time = [0] }"
    path = annotated(tmp_path, f"[experiment]\nstep = 0.1\nrecord = 3\n[drive]\n{drives}\n[slaves]\nfirst = 3")
    where = f"{path}: SystemStructure.ssd: the annotation of fmu-builder:"
    problems = refusal(path)
    assert len(problems) == 4
    assert problems[0].startswith(f"{where} [experiment]: record: 3: ")
    assert problems[1:] == [
        f"{where} [drive] first.u: tabel: this key is unknown; known: law, time, value",
        f"{where} [drive] first.a: {{'time': [0]}}: give one of a law, table = 'file.csv', or both time and value",
        f"{where} [slaves] first: 3 must be a table",
    ]


@pytest.mark.parametrize("step", ["0", "-1", "'0 s'"])
def test_a_step_that_is_none_is_refused_beside_options(tmp_path: Path, step: str) -> None:
    path = annotated(tmp_path, f"[experiment]\nstep = {step}")
    with pytest.raises(InputError, match=r"\[experiment\] step: -?[01] s must be greater than 0"):
        load_scenario(path, ["stop"])
    assert run(path, step="0.5 s", stop="1 s").trace.time.tolist() == [0.0, 0.5, 1.0]


def test_no_encoding_hides_a_document_type(tmp_path: Path) -> None:
    hidden = "+ADwAIQ-DOCTYPE a [+ADwAIQ-ENTITY b 'top'>]>"
    ssd = document(system(component("first"))).replace('"UTF-8"?>', f'"UTF-7"?>{hidden}', 1)
    path = archive(tmp_path, ssd.replace('name="test"', 'name="&b;"'), {"resources/Gain.fmu": gain(tmp_path)})
    (problem,) = refusal(path)
    assert problem.startswith(f"{path}: SystemStructure.ssd: is no XML")
