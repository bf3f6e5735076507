"""The trace of one FMU of a system as the three files of the FMI cross-check, by which other tools run it alone.

The inputs are those of the communication points, with which a slave steps under jacobi; under other algorithms it steps
with newer ones, so that its outputs follow from the triple only roughly.

NAME_in.csv    the inputs of the slave over time, where it has any that are connected or driven
NAME_ref.csv   its outputs
NAME_ref.opt   StartTime, StopTime, StepSize, RelTol, OutputIntervalLength"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.call_order import IDENTIFY, moved
from fmu_builder.cosim.master import System
from fmu_builder.cosim.scenario_inputs import Start
from fmu_builder.cosim.trace import Trace
from fmu_builder.errors import InputError, Problem
from fmu_builder.files import staged, written
from fmu_builder.model.connectable import Node
from fmu_builder.model.step_advice import MODE

_RELATIVE_TOLERANCE = 1e-4  # of a scenario that asks for none: the usual one of the cross-check, for other solvers
MOST_BYTES = 1_000_000  # of a CSV file
_Column = tuple[str, NDArray[np.float64]]


def check_triples(system: System) -> None:
    """Raises InputError where a trace of the system lacks the outputs that a slave's inputs are, or all outputs."""
    held = {f"{slave}.{variable.name}" for slave, recorded in system.recorded.items() for variable in recorded}
    if problems := list(_problems(system, held)):
        raise InputError(problems)


def set_by_the_run(system: System, slave: str) -> dict[str, Start]:
    """What the run sets of the slave by itself, and changes its forces by: the mode does not where nothing moves it."""
    rests = slave not in moved(system.signals, system.wiring)
    return {
        name: value for name, value in system.set_by_master[slave].items() if not (rests and name in (MODE, IDENTIFY))
    }


def write_triples(system: System, trace: Trace, folder: Path) -> tuple[list[Path], list[str]]:
    """Write the triple of each slave whose outputs the trace holds, all or none; returns the files, and notes on what
    a triple does not hold: start values, and inputs between its rows or newer than the communication point.

    Raises InputError where the trace lacks the outputs that a slave's inputs are, or all outputs; ToolError where the
    folder cannot be written."""
    if problems := list(_problems(system, frozenset(trace.names))):
        raise InputError(problems)
    texts: dict[Path, str] = {}
    notes = input_notes(system)
    for slave in system.slaves:
        made = triple(system, trace, slave)
        texts |= {folder / f"{slave}{end}": text for end, text in made.items()}
        if not made:
            continue
        if system.starts[slave]:
            given = ", ".join(system.starts[slave])
            notes.append(f"the triple of {slave} holds no start values: {given} must be set as in the scenario")
        if master_starts := set_by_the_run(system, slave):
            values = assignments(system, slave, master_starts)
            notes.append(f"the triple of {slave} does not hold what the run sets by itself: {values}")
        if _learns(system, slave):
            notes.append(
                f"{slave} learns in the mode auto how bodies answer, and in a triple none does: the same inputs give "
                "these outputs to the bit, those that differ by rounding other forces in contact"
            )
    with written(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with staged(*texts) as files:
            for file, text in zip(files, texts.values(), strict=True):
                file.write_text(text, encoding="utf-8", newline="\n")
    return list(texts), notes


def _learns(system: System, slave: str) -> bool:
    """Whether its forces follow from how bodies answered them."""
    variable = system.slaves[slave].variables.get(MODE)
    if variable is None or slave not in moved(system.signals, system.wiring):
        return False
    mode = {**system.set_by_master[slave], **system.starts[slave]}.get(MODE, variable.start)
    return mode is not None and float(mode) == variable.literals["auto"]


def triple(system: System, trace: Trace, slave: str, most: int | None = None) -> dict[str, str]:
    """The texts of `_ref.csv`, `_ref.opt` and, where it has any, `_in.csv` of a slave; {} where the trace has no output
    of it.   most: outputs"""
    outputs = list(_outputs(system, trace, slave))[:most]
    inputs = list(_inputs(system, trace, slave))
    if not outputs:
        return {}
    texts = {"_ref.csv": csv_text(trace.time, outputs), "_ref.opt": _options(system, trace, slave)}
    return texts | ({"_in.csv": csv_text(trace.time, inputs)} if inputs else {})


def input_notes(system: System) -> list[str]:
    """Why the outputs of a slave follow only roughly from the inputs of its triple."""
    algorithm, step, between = system.scenario.experiment.algorithm, *_intervals(system)
    notes = []
    if algorithm != "jacobi" and system.wiring.sources:
        what = f"the triples hold the inputs at the communication points; under {algorithm} slaves step with newer ones"
        notes.append(f"{what}: with the algorithm jacobi their outputs follow from the triples")
    if between > step and (system.wiring.sources or any(not signal.is_constant for signal in system.signals)):
        what = f"the triples hold the inputs every {between:g} s, and the run has new ones every {step:g} s"
        notes.append(f"{what}: with an output_step of {step:g} s they hold all")
    return notes


def how_inputs_are_held(system: System, slave: str) -> str:
    """What the rows of `_in.csv` of a slave are to its steps."""
    step, between = _intervals(system)
    rows = "at the communication points" if between <= step else f"every {between:g} s"
    how = "they" if between <= step else f"in the run they had new values every {step:g} s, which"
    texts = [f"holds its inputs {rows}; {how} are held over each step"]
    algorithm = system.scenario.experiment.algorithm
    if algorithm != "jacobi" and any(target == slave for target, _ in system.wiring.sources):
        texts.append(f"The run was one of {algorithm}, whose steps may have newer inputs than those of their beginning")
    return ". ".join(texts) + "."


def _intervals(system: System) -> tuple[float, float]:
    """The communication step, and the time between two rows, s; with a row for each step both are the same."""
    step, between = (system.scenario.seconds(key) for key in ("step", "output_step"))
    return step, between if between > 1.5 * step else step


def assignments(system: System, slave: str, starts: Mapping[str, Start]) -> str:
    """Start values as a user writes them."""
    return ", ".join(_assignment(system, slave, name, value) for name, value in starts.items())


def _assignment(system: System, slave: str, name: str, value: Start) -> str:
    literals = system.slaves[slave].variables[name].literals
    return f"{name} = {next((text for text, number in literals.items() if number == value), value)}"


def _problems(system: System, held: Collection[str]) -> Iterator[Problem]:
    """Why a trace that holds these signals gives no triples."""
    with_outputs = [slave for slave in system.slaves if any(name in held for name in _output_names(system, slave))]
    for (slave, name), sources in system.wiring.sources.items():
        missing = [f"{source}.{output}" for source, output in sources if f"{source}.{output}" not in held]
        if missing and slave in with_outputs:
            what = f"{slave}.{name} is {' + '.join(missing)}, which the trace does not hold; record it"
            yield Problem("--cross-check", what)
    if not with_outputs:
        yield Problem("--cross-check", "the trace holds no output of a slave; record some")


def _output_names(system: System, slave: str) -> Iterator[str]:
    variables = system.slaves[slave].variables.values()
    return (f"{slave}.{variable.name}" for variable in variables if variable.causality == "output")


def _outputs(system: System, trace: Trace, slave: str) -> Iterator[_Column]:
    for name in _output_names(system, slave):
        if name in trace:
            yield name.removeprefix(f"{slave}."), trace[name]


def _inputs(system: System, trace: Trace, slave: str) -> Iterator[_Column]:
    for (target, name), sources in system.wiring.sources.items():
        if target == slave:
            yield name, sum((_after(system, trace, s, (slave, name)) for s in sources), np.zeros(len(trace.time)))
    for signal in system.signals:
        if signal.node[0] == slave:
            yield signal.node[1], np.array([float(signal.at(float(t))) for t in trace.time])


def _after(system: System, trace: Trace, source: Node, target: Node) -> NDArray[np.float64]:
    """What an output brings to an input."""
    values, conversion = trace[f"{source[0]}.{source[1]}"], system.wiring.conversions.get((source, target))
    return values if conversion is None else conversion.factor * values + conversion.offset


def csv_text(time: NDArray[np.float64], columns: Sequence[_Column]) -> str:
    """A CSV file of the cross-check: quoted names, numbers that round-trip.   time and columns have shape (n,)"""
    header = ",".join(f'"{name}"' for name in ("time", *(name for name, _ in columns)))
    rows = np.column_stack([time, *(values for _, values in columns)]).tolist()
    return "".join(f"{line}\n" for line in (header, *(",".join(map(repr, row)) for row in rows)))


def _options(system: System, trace: Trace, slave: str) -> str:
    scenario = system.scenario
    options = {
        "StartTime": float(trace.time[0]),
        "StopTime": float(trace.time[-1]),
        "StepSize": system.schedule.ticks[slave] * scenario.seconds("step"),
        "RelTol": scenario.experiment.tolerance or _RELATIVE_TOLERANCE,
        "OutputIntervalLength": scenario.seconds("output_step"),
    }
    return "".join(f"{key},{value!r}\n" for key, value in options.items())
