"""The system that a page runs: its FMUs, start values, connections and drives, as the page's engine reads them."""

from __future__ import annotations

import base64
import gzip
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fmu_builder.cosim.initialization import initial_order, model_of
from fmu_builder.cosim.master import System, system_of
from fmu_builder.cosim.overrides import overridden
from fmu_builder.cosim.page_names import shown_scalars
from fmu_builder.cosim.scenario_inputs import LawSignal, Signal, Start, TableSignal, is_settable, rate_in
from fmu_builder.cosim.slave import SlaveDescription
from fmu_builder.errors import InputError, Problem, collected
from fmu_builder.model.connectable import FAMILY, Node, SlaveVariable
from fmu_builder.model.model import Model
from fmu_builder.model.page_table import CheckedPage, PageTable, checked_page
from fmu_builder.model.scenario import CheckedScenario, Conversion
from fmu_builder.model.step_advice import MODE
from fmu_builder.pages.drive_law import java_script
from fmu_builder.pages.law_curves import law_curves
from fmu_builder.pages.module import wasm_module
from fmu_builder.pages.scene import parts_of, scene_of

ALGORITHMS = ("jacobi", "gauss_seidel")  # of the page's master

Document = dict[str, Any]  # JSON


def page_system(scenario: CheckedScenario, model: Model | None = None) -> Document:
    """What engine.js runs.  An algorithm that only the compiled master has is replaced by Gauss-Seidel.

    model   of the only slave, where that is an FMU which was made of it
    Raises InputError with everything that is wrong, or that a page cannot run."""
    own = scenario.experiment.algorithm
    first: str = own if own in ALGORITHMS else "gauss_seidel"
    given = {name: scenario if name == own else overridden(scenario, "{}", algorithm=name) for name in ALGORITHMS}
    systems = {name: system_of(one) for name, one in given.items()}
    system = systems[first]
    models = {slave: model or model_of(scenario, slave) for slave in system.slaves}
    modules = _modules(system)
    page = page_of(system, models)
    experiment = scenario.experiment
    return {
        "title": scenario.path.stem,
        "description": _description(system, models),
        "replaced": "" if own == first else own,
        "experiment": {
            **{key: scenario.seconds(key) for key in ("start", "stop", "step")},
            "algorithm": first,
            "tolerance": experiment.tolerance,
            "order": experiment.order,
        },
        "modules": {key: base64.b64encode(gzip.compress(data, 9, mtime=0)).decode() for key, data in modules.items()},
        "slaves": [_slave(name, system, models[name], page) for name in system.slaves],
        "plot": list(page.plot),
        "ticks": dict(system.schedule.ticks),
        "algorithms": {
            name: {
                "rounds": one.schedule.rounds(),
                "leads": _leads(one),
                "set_by_master": {
                    slave: _starts(one.slaves[slave], given) for slave, given in one.set_by_master.items() if given
                },
            }
            for name, one in systems.items()
        },
        "links": [*_links(system)],
        "initial": _initial(system),
        "drives": [_drive(signal) for signal in system.signals],
        "scene": scene_of(system, models),
        "laws": [
            curve
            for name, model in models.items()
            for _, element, names in parts_of(name, model)
            for curve in law_curves(name, element, names, {v.name for v in _settable(name, system)})
        ],
        "connections": [list(pair) for pair in scenario.connections],
        "freeMoment": bool(scenario.free_moment),
        "driven": {name: _driven(name, system) for name in scenario.drive},
    }


def _description(system: System, models: Mapping[str, Model | None]) -> str:
    """That of the scenario, or of the recipe that was given in its place."""
    text = system.scenario.description
    if len(system.slaves) == 1:
        (model,) = models.values()
        return model.description if model is not None and text in ("", model.name) else text
    return text


def page_of(system: System, models: Mapping[str, Model | None]) -> CheckedPage:
    """[page] of the scenario, and of the recipes of its slaves; what these plot counts where there is one.

    Raises InputError."""
    own = system.scenario.page
    plot, ranges, names = list(own.plot), dict(own.range), dict(own.names)
    for slave, model in models.items():
        if model is not None:
            ranges = {f"{slave}.{name}": ends for name, ends in model.page.range.items()} | ranges
            names = {f"{slave}.{name}": text for name, text in model.page.names.items()} | names
            if len(models) == 1 and not plot:
                plot = [f"{slave}.{name}" for name in model.page.plot]
    every = PageTable(plot=plot, range=ranges, names=names)
    page, problems = checked_page(every, shown_scalars(system.slaves), str(system.scenario.path))
    if problems:
        raise InputError(problems)
    return page


def _modules(system: System) -> dict[str, bytes]:
    """The module of each FMU, by its GUID.   Raises InputError with all FMUs that have none."""
    problems: list[Problem] = []
    found: dict[str, bytes] = {}
    for description in system.slaves.values():
        if description.guid not in found:
            with collected(problems):
                found[description.guid] = wasm_module(description)
    if problems:
        raise InputError(list(dict.fromkeys(problems)))
    return found


def _settable(name: str, system: System) -> list[SlaveVariable]:
    """The parameters of a slave that a page may set: a drive sets the others before the first step."""
    driven = {signal.node for signal in system.signals}
    return [
        v
        for v in system.slaves[name].variables.values()
        if v.causality == "parameter" and v.type != "String" and is_settable(v) and (name, v.name) not in driven
    ]


def _slave(name: str, system: System, model: Model | None, page: CheckedPage) -> Document:
    description = system.slaves[name]
    inside = {*system.wiring.sources, *(signal.node for signal in system.signals)}
    given = system.starts[name]
    return {
        "name": name,
        "guid": description.guid,
        "model": description.model_name,
        "recipe": _recipe(system.scenario.slaves[name].recipe, model),
        "starts": _starts(description, given),
        "parameters": [_parameter(v, given.get(v.name), name, page) for v in _settable(name, system)],
        "free": [
            _parameter(v, given.get(v.name), name, page) | {"rate": rate_in(description, v.name)}
            for v in description.variables.values()
            if v.causality == "input" and v.type == "Real" and (name, v.name) not in inside
        ],
        "signals": [
            {
                "name": v.name,
                "label": page.names.get(f"{name}.{v.name}", ""),
                "family": FAMILY[v.type],
                "reference": v.reference,
                "unit": v.unit,
                "about": v.description,
            }
            for v in system.recorded[name]
        ],
        "entry": {"start": dict(system.scenario.slaves[name].start)},
        "mode": MODE in description.variables,
    }


def _recipe(given: str, model: Model | None) -> str:
    """As a scenario beside the file would name it: a page does not hold folders of this machine."""
    if not Path(given).is_absolute():
        return given
    return model.name if model is not None else Path(given).name


def _starts(description: SlaveDescription, given: Mapping[str, Start]) -> list[list[Any]]:
    """[family, reference, value, whether it is an input] of each start value."""
    variables = [(description.variables[name], value) for name, value in given.items()]
    return [
        [FAMILY[v.type], v.reference, value if isinstance(value, str) else _number(v, value), v.causality == "input"]
        for v, value in variables
    ]


def _number(variable: SlaveVariable, value: float) -> float | int:
    return value if FAMILY[variable.type] == "Real" else int(value)


def _parameter(v: SlaveVariable, given: Start | None, slave: str, page: CheckedPage) -> Document:
    """A variable that the page may set, with the range of its slider."""
    value = float(given if given is not None else _start_number(v))
    low, high, is_logarithmic = slider_range(v, value, page.range.get(f"{slave}.{v.name}"))
    return {
        "name": v.name,
        "label": page.names.get(f"{slave}.{v.name}", ""),
        "family": FAMILY[v.type],
        "type": v.type,
        "reference": v.reference,
        "unit": v.unit if v.unit != "1" else "",
        "value": value,
        "given": given is not None or page.has(f"{slave}.{v.name}"),
        "low": low,
        "high": high,
        "logarithmic": is_logarithmic,
        "literals": dict(v.literals),
        "about": v.description,
    }


def _start_number(v: SlaveVariable) -> float:
    return float(v.start == "true") if v.type == "Boolean" else float(v.start or 0.0)


_MOST = 1e300
_DECADE = 10.0  # a chosen range of more is logarithmic
_DECADES = 100.0  # a logarithmic slider goes from a hundredth of the value to a hundred times it


def slider_range(
    v: SlaveVariable, value: float, chosen: tuple[float, float] | None = None
) -> tuple[float, float, bool]:
    """From, to, and whether equal ways are equal ratios: as the recipe has chosen, else where both limits are finite
    all that is allowed, of what cannot be negative two decades either way, else three times the value either way."""
    if chosen is not None:
        low, high = chosen
        return low, high, low > 0.0 and high >= _DECADE * low and v.type == "Real"
    least = v.min if v.min is not None else -math.inf
    most = v.max if v.max is not None else math.inf
    if math.isfinite(least) and math.isfinite(most):
        return least, most, False
    if least >= 0.0 and value > 0.0 and v.type == "Real":
        return max(least, min(value, _MOST) / _DECADES), min(most, value * _DECADES, _MOST), True
    width = min(3.0 * abs(value) or 1.0, _MOST)
    return max(least, -width), min(most, width), False


def _links(system: System) -> Iterator[Document]:
    for target, sources in system.wiring.sources.items():
        variable = _variable(system, target)
        yield {
            "slave": target[0],
            "family": FAMILY[variable.type],
            "reference": variable.reference,
            "from": [_source(system, source, target) for source in sources],
        }


def _source(system: System, source: Node, target: Node) -> Document:
    conversion = system.wiring.conversions.get((source, target))
    change = Conversion(1.0, 0.0) if conversion is None else conversion
    return {
        "slave": source[0],
        "reference": _variable(system, source).reference,
        "same": conversion is None,
        "factor": change.factor,
        "offset": change.offset,
    }


def _variable(system: System, node: Node) -> SlaveVariable:
    return system.slaves[node[0]].variables[node[1]]


def _initial(system: System) -> Document:
    """Connected outputs in the order in which they are passed on, with the numbers of the links that each ends in."""
    order, loop = initial_order(system.wiring, system.slaves)
    targets = list(system.wiring.sources.values())
    return {
        "order": [
            {
                "slave": node[0],
                "family": FAMILY[_variable(system, node).type],
                "reference": _variable(system, node).reference,
                "to": [number for number, sources in enumerate(targets) if node in sources],
            }
            for node in order
        ],
        "loop": bool(loop),
    }


def _driven(name: str, system: System) -> object:
    """A drive as a scenario has it, the table of a file as its points."""
    law = system.scenario.drive[name].law
    if law is not None:
        return law
    (signal,) = (one for one in system.signals if ".".join(one.node) == name)
    assert isinstance(signal, TableSignal)
    is_truth = signal.variable.type == "Boolean"
    return {"time": list(signal.time), "value": [value != 0.0 if is_truth else value for value in signal.value]}


def _leads(system: System) -> dict[str, dict[str, float]]:
    """By slave and driven input: ticks after the beginning of its step at which its value is taken."""
    found: dict[str, dict[str, float]] = {}
    for (slave, name), late in system.schedule.leads(system.wiring, system.slaves, ()).items():
        found.setdefault(slave, {})[name] = late
    return found


def _drive(signal: Signal) -> Document:
    family = FAMILY[signal.variable.type]
    found: Document = {
        "slave": signal.node[0],
        "name": signal.node[1],
        "family": family,
        "reference": signal.variable.reference,
    }
    if isinstance(signal, LawSignal):
        return found | {"law": java_script(signal)}
    values = signal.value if family == "Real" else [int(one) for one in signal.value]
    return found | {"time": list(signal.time), "value": list(values)}
