"""Traces as triples of the FMI cross-check, with which another tool can run one FMU of a system alone.

NAME_in.csv    the inputs of the slave over time, where it has any that are connected or driven
NAME_ref.csv   its outputs
NAME_ref.opt   StartTime, StopTime, StepSize, RelTol, OutputIntervalLength"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.master import System
from fmu_builder.cosim.trace import Trace
from fmu_builder.errors import InputError, Problem, ToolError
from fmu_builder.files import staged
from fmu_builder.model.connectable import Node

_RELATIVE_TOLERANCE = 1e-4  # of a scenario that asks for none: the usual one of the cross-check, for other solvers
_Column = tuple[str, NDArray[np.float64]]


def write_triples(system: System, trace: Trace, folder: Path) -> tuple[list[Path], list[str]]:
    """Write the triple of each slave whose outputs the trace holds, all or none; returns the files, and notes on start
    values, which a triple cannot hold.

    Raises InputError where the trace lacks the outputs that a slave's inputs are, or all outputs; ToolError where the
    folder cannot be written."""
    problems: list[Problem] = []
    texts: dict[Path, str] = {}
    notes = []
    for slave in system.slaves:
        outputs = list(_outputs(system, trace, slave))
        if not outputs:
            continue
        inputs = list(_inputs(system, trace, slave, problems))
        texts[folder / f"{slave}_ref.csv"] = _csv(trace, outputs)
        texts[folder / f"{slave}_ref.opt"] = _options(system, trace)
        if inputs:
            texts[folder / f"{slave}_in.csv"] = _csv(trace, inputs)
        if system.starts[slave]:
            given = ", ".join(system.starts[slave])
            notes.append(f"the triple of {slave} holds no start values: {given} must be set as in the scenario")
    if not texts:
        problems.append(Problem("--cross-check", "the trace holds no output of a slave; record some"))
    if problems:
        raise InputError(problems)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with staged(*texts) as files:
            for file, text in zip(files, texts.values(), strict=True):
                file.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ToolError(Problem(str(folder), f"cannot be written: {error.strerror or error}")) from error
    return list(texts), notes


def _outputs(system: System, trace: Trace, slave: str) -> Iterator[_Column]:
    for variable in system.slaves[slave].variables.values():
        if variable.causality == "output" and (name := f"{slave}.{variable.name}") in trace:
            yield variable.name, trace[name]


def _inputs(system: System, trace: Trace, slave: str, problems: list[Problem]) -> Iterator[_Column]:
    for (target, name), sources in system.wiring.sources.items():
        if target == slave:
            missing = [f"{source}.{output}" for source, output in sources if f"{source}.{output}" not in trace]
            if missing:
                what = f"{slave}.{name} is {' + '.join(missing)}, which the trace does not hold; record it"
                problems.append(Problem("--cross-check", what))
                continue
            yield name, sum((_after(system, trace, s, (slave, name)) for s in sources), np.zeros(len(trace.time)))
    for signal in system.signals:
        if signal.node[0] == slave:
            yield signal.node[1], np.array([float(signal.at(float(t))) for t in trace.time])


def _after(system: System, trace: Trace, source: Node, target: Node) -> NDArray[np.float64]:
    """What an output brings to an input."""
    values, conversion = trace[f"{source[0]}.{source[1]}"], system.wiring.conversions.get((source, target))
    return values if conversion is None else conversion.factor * values + conversion.offset


def _csv(trace: Trace, columns: Sequence[_Column]) -> str:
    header = ",".join(f'"{name}"' for name in ("time", *(name for name, _ in columns)))
    rows = np.column_stack([trace.time, *(values for _, values in columns)]).tolist()
    return "".join(f"{line}\n" for line in (header, *(",".join(map(repr, row)) for row in rows)))


def _options(system: System, trace: Trace) -> str:
    scenario = system.scenario
    options = {
        "StartTime": float(trace.time[0]),
        "StopTime": float(trace.time[-1]),
        "StepSize": scenario.seconds("step"),
        "RelTol": scenario.experiment.tolerance or _RELATIVE_TOLERANCE,
        "OutputIntervalLength": scenario.seconds("output_step"),
    }
    return "".join(f"{key},{value!r}\n" for key, value in options.items())
