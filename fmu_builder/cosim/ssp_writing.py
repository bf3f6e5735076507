"""A scenario as an SSP 1.0 archive (https://ssp-standard.org), which conforms to SSP 2.0 as well.

Few tools read all of the standard: values are in the units of the FMUs, equal at both ends of a connection, parameters
are bound at components, in files of their own, and there are no connectors of the system.  `target` names a tool; what
it does not read is a warning, and what it would get wrong an error."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lxml import etree

from fmu_builder.cosim.call_order import IDENTIFY, literal
from fmu_builder.cosim.cross_check import set_by_the_run
from fmu_builder.cosim.master import System
from fmu_builder.cosim.scenario_inputs import Start, TableSignal, in_fmu
from fmu_builder.cosim.slave import SlaveDescription
from fmu_builder.cosim.ssp import annotation
from fmu_builder.cosim.ssp.files import MAIN, NAMESPACES
from fmu_builder.cosim.ssp.units import unit_of
from fmu_builder.errors import InputError, Problem
from fmu_builder.export.description import number
from fmu_builder.export.fmu import build_fmu, pack
from fmu_builder.model.connectable import SlaveVariable
from fmu_builder.model.scenario import Conversion
from fmu_builder.model.step_advice import MODE, ORDER
from fmu_builder.paths import find_recipe, own_version
from fmu_builder.units import Unit, fmi_base_unit

SSD, SSC, SSV = (f"{{{NAMESPACES[short]}}}" for short in ("ssd", "ssc", "ssv"))

PARAMETERS = "initialValues"  # the name of all parameter sets: Ecos applies those of one name, which it is given


@dataclass(frozen=True)
class Target:
    """What a tool reads of an archive: transformations of connections, bindings of parameters, the step in an
    annotation, and values of enumerations by their name or number, or none.   Tried with Ecos 0.7.2, libcosimpy 0.0.6
    and fmpy 0.3.32, and an OMSimulator built from source."""

    tool: str = ""
    transformations: bool = True
    bindings: bool = True
    enumerations: Literal["name", "number", "none"] = "name"
    step: bool = False


TARGETS = {
    "standard": Target(),
    "ecos": Target("Ecos", enumerations="none"),
    "libcosim": Target("libcosim", enumerations="none", step=True),
    "omsimulator": Target("OMSimulator", transformations=False, enumerations="number", step=True),
    "fmpy": Target("fmpy", transformations=False, bindings=False, enumerations="number"),
}


def ssp_archive(system: System, target: str, platforms: Sequence[str]) -> tuple[bytes, list[str]]:
    """The archive, and warnings on what the target does not read.

    target     a key of TARGETS
    platforms  of the FMUs that are built from recipes, `host` for this machine alone
    Raises InputError with all that SSP cannot say or the target would get wrong; ToolError where no FMU is built."""
    writer = _Writer(system, target)
    problems = list(writer.problems())
    if problems:
        raise InputError(problems)
    files = writer.documents()
    files |= _fmus(system, writer.sources, platforms)
    return pack(files), writer.warnings()


def _fmus(system: System, sources: Mapping[str, str], platforms: Sequence[str]) -> dict[str, bytes]:
    """The FMUs by their names in the archive."""
    files: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory(prefix="fmu-builder-") as folder:
        for slave, name in sources.items():
            if name in files:
                continue
            recipe = system.scenario.slaves[slave].recipe
            path = system.slaves[slave].path
            if Path(recipe).suffix != ".fmu" and tuple(platforms) != ("host",):
                path = build_fmu(find_recipe(recipe, system.scenario.path.parent), Path(folder), platforms).path
            files[name] = path.read_bytes()
    return files


class _Writer:
    def __init__(self, system: System, target: str) -> None:
        self.system, self.name, self.target = system, target, TARGETS[target]
        self.sources = _sources(system.slaves)
        self.sets = dict(zip(system.slaves, _files(list(system.slaves), ".ssv"), strict=True))
        self.starts = {
            slave: _in_fmu(system.slaves[slave], {**values, **self._law_where_no_body_answers(slave)})
            for slave, values in system.starts.items()
        }
        for signal in system.signals:  # what a reader without drives holds
            slave, name = signal.node
            self.starts[slave].setdefault(name, float(signal.at(system.scenario.seconds("start"))))
        self._units: dict[str, Unit] = {}  # of connectors, by name
        # the order of calls is that of the tool where the scenario has it too
        self.ordered = {
            s: given[ORDER] for s, given in system.set_by_master.items() if ORDER in given and not self._holds(s)
        }
        if self.target.tool and system.scenario.experiment.algorithm == "jacobi":
            for slave, order in self.ordered.items():
                self.starts[slave][ORDER] = order
        self.left_out = self._leave_out() if self.target.enumerations == "none" else []
        self._named: dict[str, Unit] = {}

    def _holds(self, slave: str) -> bool:
        """Whether the force of an element is held over each step, whatever the order of calls."""
        mode = self.system.slaves[slave].variables.get(MODE)
        return mode is not None and literal(mode, self.starts[slave]) == "hold"

    def _law_where_no_body_answers(self, slave: str) -> dict[str, Start]:
        """What `run` sets of an element whose motion is given, right for any order of calls."""
        given = set_by_the_run(self.system, slave)
        return {name: given[name] for name in (MODE, IDENTIFY) if name in given}

    def _leave_out(self) -> list[str]:
        """Removes the start values of enumerations; returns their names."""
        left_out = []
        for slave, values in self.starts.items():
            names = [name for name in values if self.system.slaves[slave].variables[name].type == "Enumeration"]
            left_out += [f"{slave}.{name}" for name in names]
            self.starts[slave] = {name: value for name, value in values.items() if name not in names}
        return left_out

    @property
    def where(self) -> str:
        return str(self.system.scenario.path)

    def problems(self) -> Iterable[Problem]:
        """What SSP cannot say, and what the target would get wrong without a word."""
        for (slave, name), sources in self.system.wiring.sources.items():
            if len(sources) > 1:
                shown = " and ".join(f"{source}.{output}" for source, output in sources)
                what = f"{slave}.{name} gets the sum of {shown}; an input of SSP has one source: make one FMU of them"
                yield Problem(f"{self.where}: connections", f"{what}, by `fmu-builder build --assembly`")
        if not self.target.transformations:
            for _, (slave, name) in self.system.wiring.conversions:
                what = f"the value of {slave}.{name} is converted, which {self.target.tool} does not do"
                yield Problem(f"{self.where}: connections", f"{what}; give both FMUs the same unit")

    def warnings(self) -> list[str]:
        """What the target does not read, so that its results will differ."""
        scenario, found = self.system.scenario, []
        reader = self.target.tool or "other tools"
        if driven := [f"{s.node[0]}.{s.node[1]}" for s in self.system.signals if not s.is_constant]:
            what = f"{', '.join(driven)}: driven over time, which SSP has no place for"
            found.append(f"{what}; {reader} keep{'s' * bool(self.target.tool)} their first values")
        if self.target.tool and scenario.experiment.algorithm != "jacobi":
            found.append(f"{reader} exchanges values when all slaves have stepped: compare with --algorithm jacobi")
        if own := [slave for slave, entry in scenario.slaves.items() if entry.step is not None]:
            found.append(f"{reader} cannot read the own step of {', '.join(own)}")
        if self.target.tool and not self.target.step:
            found.append(f"{reader} reads no communication step: give it {scenario.seconds('step'):g} s")
        if self.left_out:
            what = f"{reader} has no enumerations: the start values of {', '.join(self.left_out)} are left out"
            found.append(f"{what}; build FMUs that have them as defaults")
        if self.target.tool and (unset := [slave for slave in self.ordered if ORDER not in self.starts[slave]]):
            what = f"`fmu-builder run` sets {ORDER} of {', '.join(unset)}, {reader} does not"
            found.append(f"{what}: they find it from the motion, and their forces differ until then")
        if of_arrays := [slave for slave, one in self.system.slaves.items() if one.arrays]:
            what = f"{', '.join(of_arrays)}: elements of arrays are connectors, which {reader} may not find in the FMU"
            found.append(f"{what}: export it without arrays")
        bound = [slave for slave, values in self.starts.items() if values]
        if bound and not self.target.bindings:
            what = f"{reader} reads no parameter bindings: the start values of {', '.join(bound)} have no effect"
            found.append(f"{what} unless you give it the parameters in resources/")
        return found

    def documents(self) -> dict[str, bytes]:
        """The XML files by their names in the archive."""
        files = {
            self.sets[slave]: xml_text(self._parameters(slave, values))
            for slave, values in self.starts.items()
            if values
        }
        return {MAIN: xml_text(self._structure())} | files

    def _structure(self) -> etree._Element:
        scenario = self.system.scenario
        namespaces = {"ssd": NAMESPACES["ssd"], "ssc": NAMESPACES["ssc"]}
        namespaces |= {"oms": annotation.OMS, "osp": annotation.OSP}  # libcosim takes them at the root only
        name = scenario.path.stem
        tool = f"fmu-builder {own_version()}"
        root = etree.Element(f"{SSD}SystemStructureDescription", nsmap=namespaces)
        root.attrib.update({"version": "1.0", "name": name, "generationTool": tool})
        system = etree.SubElement(root, f"{SSD}System", name="system")
        if scenario.description:
            system.set("description", scenario.description)
        elements = etree.SubElement(system, f"{SSD}Elements")
        for slave, description in self.system.slaves.items():
            elements.append(self._component(slave, description))
        if self.system.wiring.sources:
            connections = etree.SubElement(system, f"{SSD}Connections")
            for (slave, variable), ((source, output),) in self.system.wiring.sources.items():
                one = etree.SubElement(connections, f"{SSD}Connection", startElement=source, startConnector=output)
                one.attrib.update({"endElement": slave, "endConnector": variable})
                conversion = self.system.wiring.conversions.get(((source, output), (slave, variable)))
                if conversion is not None:
                    one.set("suppressUnitConversion", "true")
                    one.append(_linear(conversion))
        step = number(scenario.seconds("step"))
        system.append(_master(step))
        if self._units:
            units = etree.SubElement(root, f"{SSD}Units")
            units.extend(_unit(unit) for _, unit in sorted(self._units.items()))
        times = {"startTime": number(scenario.seconds("start")), "stopTime": number(scenario.seconds("stop"))}
        experiment = etree.SubElement(root, f"{SSD}DefaultExperiment", times)
        experiment.append(_algorithm(step))
        own = etree.SubElement(root, f"{SSD}Annotations")
        own.append(annotation.written(self._tables()))
        return root

    def _component(self, slave: str, description: SlaveDescription) -> etree._Element:
        component = etree.Element(f"{SSD}Component", name=slave)
        component.attrib.update({"type": "application/x-fmu-sharedlibrary", "source": self.sources[slave]})
        taken = {name for target, name in self.system.wiring.sources if target == slave}
        shown = [
            v
            for v in description.variables.values()
            if v.name in taken or (v.causality == "output" and v.type in ("Real", "Integer", "Boolean"))
        ]
        if shown:
            connectors = etree.SubElement(component, f"{SSD}Connectors")
            for variable in shown:
                one = etree.SubElement(connectors, f"{SSD}Connector", name=variable.name, kind=variable.causality)
                kind = "Integer" if variable.type == "Enumeration" else variable.type
                value = etree.SubElement(one, f"{SSC}{kind}")
                if (unit := self._unit(slave, variable.name)) is not None:
                    self._units[unit.name] = unit
                    value.set("unit", unit.name)
        if self.starts[slave]:
            bindings = etree.SubElement(component, f"{SSD}ParameterBindings")
            etree.SubElement(bindings, f"{SSD}ParameterBinding", source=self.sets[slave])
        return component

    def _unit(self, slave: str, variable: str) -> Unit | None:
        """The unit of a variable; None where another FMU has another unit of this name, as SSP has one of a name."""
        found = unit_of(self.system.slaves[slave].variables[variable])
        return found if found is not None and self._named.setdefault(found.name, found) == found else None

    def _parameters(self, slave: str, values: Mapping[str, Start]) -> etree._Element:
        variables = self.system.slaves[slave].variables
        units = {name: unit for name in values if (unit := self._unit(slave, name)) is not None}
        return _parameter_set(variables, values, units, self.target.enumerations == "name")

    def _tables(self) -> dict[str, Any]:
        """The annotation of fmu-builder."""
        scenario = self.system.scenario
        experiment = scenario.experiment.model_dump(exclude_none=True)
        experiment |= {key: scenario.seconds(key) for key in ("start", "stop", "step", "output_step")}
        drive = {name: self._drive(name) for name in scenario.drive}
        entries = {
            name: entry.model_dump(exclude={"recipe", "start"}, exclude_defaults=True)
            for name, entry in scenario.slaves.items()
        }
        slaves = {name: entry for name, entry in entries.items() if entry}
        tables = {"experiment": experiment, "drive": drive, "slaves": slaves}
        return {key: table for key, table in tables.items() if table}

    def _drive(self, name: str) -> dict[str, Any]:
        """A drive without files."""
        signal = next((s for s in self.system.signals if f"{s.node[0]}.{s.node[1]}" == name), None)
        if not isinstance(signal, TableSignal):
            return self.system.scenario.drive[name].model_dump(exclude_none=True)
        truth = signal.variable.type == "Boolean"
        return {"time": list(signal.time), "value": [bool(v) if truth else v for v in signal.value]}


def parameter_set(description: SlaveDescription, values: Mapping[str, Start]) -> bytes:
    """Start values of one FMU, SI, as a file .ssv, in the units of its variables."""
    found = {name: unit_of(description.variables[name]) for name in values}
    units = {name: unit for name, unit in found.items() if unit is not None}
    return xml_text(_parameter_set(description.variables, _in_fmu(description, values), units, literals=True))


def _in_fmu(description: SlaveDescription, values: Mapping[str, Start]) -> dict[str, Start]:
    return {name: in_fmu(description.variables[name], value) for name, value in values.items()}


def _parameter_set(
    variables: Mapping[str, SlaveVariable], values: Mapping[str, Start], units: Mapping[str, Unit], literals: bool
) -> etree._Element:
    """units: by variable;   literals: enumerations by their names, else by their numbers"""
    namespaces = {"ssv": NAMESPACES["ssv"], "ssc": NAMESPACES["ssc"]}
    root = etree.Element(f"{SSV}ParameterSet", {"version": "1.0", "name": PARAMETERS}, nsmap=namespaces)
    parameters = etree.SubElement(root, f"{SSV}Parameters")
    for name, value in values.items():
        kind, attributes = _value(variables[name], value, literals)
        if name in units:
            attributes["unit"] = units[name].name
        one = etree.SubElement(parameters, f"{SSV}Parameter", name=name)
        etree.SubElement(one, f"{SSV}{kind}", attributes)
    named = {unit.name: unit for unit in units.values()}
    if named:
        given = etree.SubElement(root, f"{SSV}Units")
        given.extend(_unit(unit) for _, unit in sorted(named.items()))
    return root


def _value(variable: SlaveVariable, value: Start, literals: bool) -> tuple[str, dict[str, str]]:
    """Type and attributes of a parameter."""
    if isinstance(value, str):
        return "String", {"value": value}
    if variable.type == "Real":
        return "Real", {"value": number(value)}
    if variable.type == "Boolean":
        return "Boolean", {"value": "true" if value else "false"}
    literal = next((name for name, one in variable.literals.items() if one == value), None)
    if variable.type == "Enumeration" and literal is not None and literals:
        return "Enumeration", {"value": literal}
    return "Integer", {"value": str(int(value))}


def _sources(slaves: Mapping[str, SlaveDescription]) -> dict[str, str]:
    """The name of each slave's FMU in the archive; slaves of one file share it."""
    paths = list(dict.fromkeys(description.path for description in slaves.values()))
    names = dict(zip(paths, _files([path.stem for path in paths], ".fmu"), strict=True))
    return {slave: names[description.path] for slave, description in slaves.items()}


def _files(stems: Sequence[str], suffix: str) -> list[str]:
    """Names in the archive, each different, that are URIs as they stand."""
    found: list[str] = []
    for stem in stems:
        plain, count = re.sub(r"[^A-Za-z0-9_.-]", "_", stem), 1
        name = f"resources/{plain}{suffix}"
        while name in found:
            count += 1
            name = f"resources/{plain}_{count}{suffix}"
        found.append(name)
    return found


def _linear(conversion: Conversion) -> etree._Element:
    attributes = {"factor": number(conversion.factor), "offset": number(conversion.offset)}
    return etree.Element(f"{SSC}LinearTransformation", attributes)


def _unit(unit: Unit) -> etree._Element:
    found = etree.Element(f"{SSC}Unit", name=unit.name)
    etree.SubElement(found, f"{SSC}BaseUnit", fmi_base_unit(unit))
    return found


def _master(step: str) -> etree._Element:
    """The annotation of a system without which OMSimulator loads none."""
    found = etree.Element(f"{SSD}Annotations")
    one = annotation.annotation("org.openmodelica")
    found.append(one)
    all_of = etree.SubElement(one, f"{{{annotation.OMS}}}Annotations")
    information = etree.SubElement(all_of, f"{{{annotation.OMS}}}SimulationInformation")
    master = etree.SubElement(information, f"{{{annotation.OMS}}}FixedStepMaster", description="oms-ma", stepSize=step)
    master.attrib.update({"absoluteTolerance": "0.0001", "relativeTolerance": "0.0001"})
    return found


def _algorithm(step: str) -> etree._Element:
    """The annotation of the experiment with which libcosim chooses its step."""
    found = etree.Element(f"{SSD}Annotations")
    one = annotation.annotation("com.opensimulationplatform")
    found.append(one)
    algorithm = etree.SubElement(one, f"{{{annotation.OSP}}}Algorithm")
    etree.SubElement(algorithm, f"{{{annotation.OSP}}}FixedStepAlgorithm", baseStepSize=step)
    return found


def xml_text(root: etree._Element) -> bytes:
    etree.cleanup_namespaces(root, keep_ns_prefixes=list(root.nsmap))
    etree.indent(root)
    text: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8")
    return text + b"\n"
