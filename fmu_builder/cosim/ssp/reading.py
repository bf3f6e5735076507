"""An SSP archive as a scenario: its FMUs are the slaves, its connections those of single variables."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ValidationError

from fmu_builder.cosim.scenario_inputs import in_si
from fmu_builder.cosim.ssp import annotation
from fmu_builder.cosim.ssp.elements import Fmu, read_structure
from fmu_builder.cosim.ssp.files import MAIN, finite_number, open_package
from fmu_builder.cosim.ssp.parameters import Parameter
from fmu_builder.cosim.ssp.signals import Found, Network, Node
from fmu_builder.cosim.ssp.structure import Structure
from fmu_builder.cosim.ssp.units import Affine
from fmu_builder.errors import InputError, Problem, collected, did_you_mean, none_of
from fmu_builder.export.archive import Room
from fmu_builder.model.connectable import SlaveVariable
from fmu_builder.model.scenario import (
    MOST_STEPS,
    CheckedScenario,
    Conversion,
    Drive,
    Experiment,
    SlaveEntry,
    SystemOutput,
    time_problems,
)
from fmu_builder.model.toml_files import explain
from fmu_builder.units import parse_quantity, parse_unit

_Table = TypeVar("_Table", bound=BaseModel)


def read_ssp(path: Path, given: Collection[str] = ()) -> CheckedScenario:
    """The scenario of an archive.

    given   keys of [experiment] that the caller replaces, which are not checked
    Raises InputError with every problem found, ToolError where the cache is full."""
    room = Room()
    package = open_package(path, room)
    problems: list[Problem] = []
    structure = read_structure(package, MAIN, problems)
    if structure is None:
        raise InputError(problems)
    network = Network(structure.system, room, problems)
    if not network.fmus and not problems:
        problems.append(Problem(structure.system.where, "the system holds no FMU"))
    recipes = {fmu.name: str(fmu.file.resolve()) for fmu in network.fmus.values()}
    starts: dict[str, dict[str, Any]] = {name: {} for name in recipes}
    connections: list[tuple[str, str]] = []
    conversions: dict[str, Conversion] = {}
    for node, fmu, variable, found in _targets(network, problems):
        if found.output is not None:
            source, name = found.output
            connections.append((f"{source.name}.{name}", f"{fmu.name}.{variable.name}"))
            conversions[f"{fmu.name}.{variable.name}"] = Conversion(found.change.factor, found.change.offset)
            own = network.own_value(node)
            found = own if own is not None else Found()
        if found.value is not None and found.parameter is not None:
            try:
                starts[fmu.name][variable.name] = _start(variable, found.value, found.parameter)
            except InputError as error:
                problems += error.problems
    tables: dict[str, Any] = {}
    notes = list(network.notes)
    try:
        tables = annotation.read(structure.root, problems)
        experiment = _experiment(path, structure, network, tables.get("experiment", {}), given, notes)
    except InputError as error:
        problems += error.problems
    where = _annotation_in(structure)
    drives: dict[str, Drive] = {}
    for name, value in tables.get("drive", {}).items():
        with collected(problems):
            drives[name] = _drive(value, f"{where} [drive] {name}")
    more = tables.get("slaves", {})
    for name in more.keys() - recipes.keys():
        what = f"the annotation of fmu-builder names the slave '{name}'{did_you_mean(name, recipes)}"
        problems.append(Problem(structure.root.file, what))
    slaves: dict[str, SlaveEntry] = {}
    for name, recipe in recipes.items():
        with collected(problems):
            slaves[name] = _slave(more.get(name, {}), recipe, starts[name], f"{where} [slaves] {name}")
    outputs = _outputs(structure, network)
    notes += _undriven(structure, network)
    if problems:
        raise InputError(list(dict.fromkeys(problems)))
    return CheckedScenario(
        path=path,
        description=structure.root.get("name"),
        connections=connections,
        experiment=experiment,
        slaves=slaves,
        drive=drives,
        conversions=conversions,
        outputs=outputs,
        notes=tuple(notes),
    )


def _annotation_in(structure: Structure) -> str:
    return f"{structure.root.file}: the annotation of fmu-builder:"


def _table(model: type[_Table], value: object, where: str) -> _Table:
    """A table of the annotation.   Raises InputError."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise InputError(explain(Path(where), error, model)) from error


class _ArchivedDrive(Drive):
    OURS: ClassVar = ("table",)  # which is refused, and so not proposed for a misspelt key


def _drive(value: object, where: str) -> Drive:
    """Raises InputError, also for a file: an archive comes from anywhere, and must not name files outside of it."""
    drive = _table(_ArchivedDrive, value, where)
    if drive.table is not None:
        raise InputError(Problem(f"{where} table", "an archive names no files here; give time and value"))
    return drive


def _slave(value: object, recipe: str, start: dict[str, Any], where: str) -> SlaveEntry:
    """Raises InputError."""
    if not isinstance(value, dict):
        raise InputError(Problem(where, f"{value!r} must be a table"))
    return _table(SlaveEntry, {**value, "recipe": recipe, "start": start}, where)


def _targets(network: Network, problems: list[Problem]) -> Iterator[tuple[Node, Fmu, SlaveVariable, Found]]:
    """The variables of FMUs that get values, in the order of the connections and then of the bindings."""
    entering = network.entering()
    for node in dict.fromkeys([*entering, *network.valued()]):
        fmu = network.fmus.get(node[0])
        variable = fmu.variable(node[1]) if fmu is not None else None
        if fmu is None or variable is None:
            continue
        found = network.found(node)
        if found.output is not None and node in entering:
            source = found.output[0].description.variables[found.output[1]]
            if (source.causality, variable.causality) != ("output", "input"):
                shown = f"{found.output[0].name}.{source.name} ({source.causality})"
                what = f"{shown} is passed to the {variable.causality} {fmu.name}.{variable.name}"
                problems.append(Problem(entering[node].where, f"{what}; only outputs are passed on, to inputs"))
                continue
            if found.change != Affine() and variable.type != "Real":
                what = f"a linear transformation does not apply to {fmu.name}.{variable.name} of type {variable.type}"
                problems.append(Problem(entering[node].where, what))
                continue
        yield node, fmu, variable, found


_TAKES = {  # types of parameters by those of variables
    "Real": ("Real", "Integer"),
    "Integer": ("Integer",),
    "Boolean": ("Boolean",),
    "String": ("String",),
    "Enumeration": ("Enumeration", "Integer"),
}


def _start(variable: SlaveVariable, value: float | bool | str, parameter: Parameter) -> float | bool | str:
    """The start value for a variable, SI.   Raises InputError where the type does not fit."""
    if parameter.type not in _TAKES[variable.type]:
        what = f"'{parameter.name}' is of type {parameter.type}, {variable.name} of type {variable.type}"
        raise InputError(Problem(parameter.where, what))
    if parameter.type == "Enumeration":
        items = {**(parameter.items or {}), **variable.literals}
        if value not in items:
            raise InputError(Problem(parameter.where, f"'{parameter.name}': {none_of(value, items)}"))
        return items[str(value)]
    if variable.type in ("Integer", "Enumeration") and float(value) % 1.0:
        raise InputError(Problem(parameter.where, f"'{parameter.name}' becomes {value:g}, which is no whole number"))
    if variable.type == "Real":
        return in_si(variable, float(value))
    return int(value) if parameter.type == "Integer" else value


def _experiment(
    path: Path,
    structure: Structure,
    network: Network,
    table: dict[str, Any],
    given: Collection[str],
    notes: list[str],
) -> Experiment:
    """[experiment]: what the annotation of fmu-builder gives, then <DefaultExperiment>, then the FMUs."""
    found = dict(table)
    item = structure.experiment
    if item is not None:
        for key, attribute in (("start", "startTime"), ("stop", "stopTime")):
            if attribute in item.element.attrib:
                number = finite_number(item.get(attribute))
                if number is None:
                    raise InputError(
                        Problem(item.where, f"{attribute} '{item.get(attribute)}' must be a finite number")
                    )
                found.setdefault(key, number)
    if problems := time_problems(path, found) if not given else []:  # without a step or a stop: nothing
        raise InputError(problems)
    start, second = found.setdefault("start", 0.0), parse_unit("s")
    if "step" not in found:
        steps = [fmu.description.step for fmu in network.fmus.values() if fmu.description.step]
        found["step"] = min(steps, default=1e-3)
        if "step" not in given:
            why = "the shortest that its FMUs recommend" if steps else "as no FMU recommends one"
            notes.append(
                f"{path} gives no communication step: {found['step']:g} s is taken, {why}; --step gives another"
            )
    start = parse_quantity(found["start"], second, f"{path}: start")
    step = parse_quantity(found["step"], second, f"{path}: step")
    if not step > 0.0 and "step" not in given:
        raise InputError(Problem(f"{path}: [experiment] step", f"{step:g} s must be greater than 0"))
    if "stop" not in found:
        count = 1.0 / step if step > 0.0 else math.inf
        found["stop"] = start + (max(round(count), 1) * step if count <= MOST_STEPS else 1.0)
        if "stop" not in given:
            notes.append(f"{path} gives no stop time: {found['stop']:g} s is taken; --stop gives another")
    elif "stop" not in table and step > 0.0:
        count = (found["stop"] - start) / step
        if 0.0 < count <= MOST_STEPS:
            found["stop"] = start + max(round(count), 1) * step
    if problems := time_problems(path, found) if not given else []:
        raise InputError(problems)
    return _table(Experiment, found, f"{_annotation_in(structure)} [experiment]")


def _outputs(structure: Structure, network: Network) -> dict[str, SystemOutput]:
    """The outputs of the whole system that are outputs of FMUs."""
    outputs = {}
    for name, connector in structure.system.connectors.items():
        if connector.kind == "output":
            found = network.found(((), name))
            if found.output is not None:
                fmu, variable = found.output
                unit = found.unit.name if found.unit else ""
                change = Conversion(found.change.factor, found.change.offset)
                outputs[name] = SystemOutput(f"{fmu.name}.{variable}", change, unit)
    return outputs


def _undriven(structure: Structure, network: Network) -> Iterator[str]:
    """Notes on inputs of the whole system without a value."""
    for name, connector in structure.system.connectors.items():
        if connector.kind == "input" and network.found(((), name)).value is None:
            yield f"the input '{name}' of the system gets no value: the FMUs behind it keep their start values"
