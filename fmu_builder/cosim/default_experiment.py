"""DefaultExperiment of an FMU that is run alone."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from fmu_builder.cosim.slave import SlaveDescription
from fmu_builder.errors import InputError, Problem
from fmu_builder.model.scenario import MOST_STEPS, check_times

_ATTRIBUTES = {"start": "startTime", "stop": "stopTime", "step": "stepSize"}  # of DefaultExperiment


def default_times(description: SlaveDescription, path: Path, given: Collection[str]) -> tuple[float, float, float]:
    """Start, stop and step of the FMU's DefaultExperiment, s, the stop moved to a whole number of steps."""
    start, step = description.start, description.step or 1e-3
    stop = description.stop if description.stop is not None else start + 1.0
    count = (stop - start) / step
    if count <= MOST_STEPS:
        stop = start + max(round(count), 1) * step
    faults = {key: description.faults[name] for key, name in _ATTRIBUTES.items() if name in description.faults}
    if not faults and not given:
        faults = {p.where.strip(): p.what for p in check_times("", start, stop, step, step)}
    problems = []
    for key in faults.keys() - given:
        repair = "" if key == "start" else f"give --{key}, or "
        what = f"{faults[key]}; {repair}name the FMU in a scenario with [experiment] {key}"
        problems.append(Problem(f"{path}: DefaultExperiment {_ATTRIBUTES[key]}", what))
    if problems:
        raise InputError(sorted(problems, key=str))
    return start, stop, step
