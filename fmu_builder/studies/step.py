"""Convergence over the communication step: it is halved until the answer stands, for each mode and master.

It begins with 2^_LONGER times the step of the scenario, or less where the run has few steps.  The answer is the outputs
at the end of the scenario, or one quantity.  Its change from a step to half of it, relative to the range that the
signal has in the run, is taken as the error of the longer step: for a method of order p the true error is
2^p/(2^p - 1) of that, so at most twice for p >= 1."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.master import System, load_scenario, run, system_of
from fmu_builder.cosim.recorder import is_signal
from fmu_builder.cosim.result import Result
from fmu_builder.errors import FmuBuilderError, InputError, Problem, did_you_mean
from fmu_builder.model.scenario import ALGORITHMS, IMPLICIT, CheckedScenario, SlaveEntry, check_times
from fmu_builder.model.step_advice import MODE
from fmu_builder.studies.work import with_experiment

HALVINGS = 12  # at most
_LONGER, _LEAST_STEPS = 6, 20  # of the first step; of a run
MODES = ("auto", "hold")  # coupling.mode of elements that have it
_NO_CHANGE = 1e-13  # relative; rounding


@dataclass(frozen=True)
class Level:
    """A step, s, the relative change of the answer to half of it, and the s that its run took."""

    step: float
    error: float
    seconds: float


@dataclass(frozen=True)
class Convergence:
    """Of one master and one coupling mode.

    mode     "" where no slave has a choice
    levels   from the longest step on
    order    by which the error falls with the step, over the last two halvings; None without two of them
    stands   the longest step whose error is within the tolerance, s; None if no step was
    failed   why runs ended before"""

    algorithm: str
    mode: str
    levels: tuple[Level, ...]
    order: float | None
    stands: float | None
    failed: str = ""


def step_study(
    path: Path,
    *,
    quantity: str | None = None,
    tolerance: float = 1e-3,
    halvings: int = HALVINGS,
    progress: Callable[[str], None] | None = None,
) -> list[Convergence]:
    """The convergence of a scenario under each master that it can have, and with each mode of its elements.

    quantity    a signal, of which the value at the end counts, or an event; without it all outputs that are Reals
    tolerance   change of the answer, relative to its range, below which it stands
    Raises InputError with what is wrong with the scenario, the quantity or the tolerance, or without outputs."""
    if not 0.0 < tolerance < 1.0:
        raise InputError(Problem("--tolerance", f"{tolerance:g} must be greater than 0 and less than 1"))
    if not 1 <= halvings <= 30:
        raise InputError(Problem("--halvings", f"{halvings} must be 1 to 30"))
    scenario = _plain(load_scenario(path))
    system = system_of(scenario)
    outputs = [quantity] if quantity is not None else _outputs(system)
    if not outputs:
        raise InputError(Problem(str(path), "has no output that is a Real: give --quantity"))
    modes = [*_modes(system)] or [""]
    algorithms = [*ALGORITHMS] if len(system.slaves) > 1 else ["jacobi"]
    found = []
    for algorithm in algorithms:
        for mode in modes:
            if mode == "auto" and algorithm in IMPLICIT:
                continue  # these solve for the law of the element itself
            varied = _with_mode(with_experiment(scenario, {"algorithm": algorithm}), system, mode)
            one = _converge(varied, algorithm, mode, outputs, tolerance, halvings, progress or (lambda text: None))
            found.append(one)
    return found


def _plain(scenario: CheckedScenario) -> CheckedScenario:
    """With the first step, which is that of the rows of all runs, for all slaves."""
    start, stop, step = scenario.seconds("start"), scenario.seconds("stop"), scenario.seconds("step")
    count = round((stop - start) / step)
    longer = next(2**k for k in range(_LONGER, -1, -1) if k == 0 or (count % 2**k == 0 and count >> k >= _LEAST_STEPS))
    slaves = {name: entry.model_copy(update={"step": None}) for name, entry in scenario.slaves.items()}
    first = step * longer
    changed = with_experiment(scenario, {"step": first, "output_step": first, "power": False, "record": None})
    return changed.model_copy(update={"slaves": slaves})


def _outputs(system: System) -> list[str]:
    """Outputs that are Reals, but for what solver and coupling report of themselves."""
    return [
        f"{slave}.{variable.name}"
        for slave, description in system.slaves.items()
        for variable in description.variables.values()
        if variable.causality == "output" and variable.type == "Real" and is_signal(variable)
        if not {"solver", "coupling"} & {*variable.name.split(".")}
    ]


def _modes(system: System) -> Iterator[str]:
    """The modes that all slaves with a choice have."""
    choices = [d.variables[MODE].literals for d in system.slaves.values() if MODE in d.variables]
    if choices:
        yield from (mode for mode in MODES if all(mode in literals for literals in choices))


def _with_mode(scenario: CheckedScenario, system: System, mode: str) -> CheckedScenario:
    if not mode:
        return scenario
    slaves: dict[str, SlaveEntry] = dict(scenario.slaves)
    for name, description in system.slaves.items():
        if MODE in description.variables:
            start = {**slaves[name].start, MODE: mode}
            slaves[name] = slaves[name].model_copy(update={"start": start})
    return scenario.model_copy(update={"slaves": slaves})


def _converge(
    scenario: CheckedScenario,
    algorithm: str,
    mode: str,
    quantities: Sequence[str],
    tolerance: float,
    halvings: int,
    progress: Callable[[str], None],
) -> Convergence:
    levels: list[Level] = []
    step = scenario.seconds("step")
    before: tuple[float, _Answer, float] | None = None
    failed = ""
    for _ in range(halvings + 1):
        progress(f"{algorithm} {mode} step {step:g} s")
        tried = with_experiment(scenario, {"step": step})
        times = (tried.seconds(key) for key in ("start", "stop", "step", "output_step"))
        if problems := [*check_times("", *times)]:
            failed = str(problems[0])
            break
        begin = time.perf_counter()
        try:
            result = run(tried)
        except InputError:
            raise
        except FmuBuilderError as error:
            failed = f"with steps of {step:g} s: {error.problems[0]}"
            before, step = None, 0.5 * step
            continue
        seconds = time.perf_counter() - begin
        answer = _Answer.of(result, quantities)
        if before is not None:
            levels.append(Level(before[0], answer.change(before[1]), before[2]))
            if levels[-1].error <= tolerance:
                failed = ""
                break
        before, step = (step, answer, seconds), 0.5 * step
    stands = next((level.step for level in levels if level.error <= tolerance), None)
    return Convergence(algorithm, mode, tuple(levels), _order(levels), stands, failed)


@dataclass(frozen=True)
class _Answer:
    """Values at the end and ranges, by name."""

    ends: Mapping[str, float]
    ranges: Mapping[str, float]

    @classmethod
    def of(cls, result: Result, quantities: Sequence[str]) -> _Answer:
        """Of signals, at least one, or of an event."""
        trace = result.trace
        ends, ranges = {}, {}
        for name in quantities:
            if name in trace.events:
                ends[name], ranges[name] = trace.events[name], abs(trace.events[name])
            elif name in trace:
                ends[name], ranges[name] = float(trace[name][-1]), _range(trace[name])
            else:
                known = [*trace.events, *trace.names]
                raise InputError(Problem("--quantity", f"no run has '{name}'" + did_you_mean(name, known)))
        return cls(ends, ranges)

    def change(self, other: _Answer) -> float:
        """The largest one of all, relative to the larger range, or to the value of a signal that rests in both."""
        changes = []
        for name, end in self.ends.items():
            before = other.ends[name]
            scale = max(self.ranges[name], other.ranges[name]) or max(abs(end), abs(before))
            changes.append(abs(end - before) / scale if scale > 0.0 else 0.0)
        return max(changes)


def _range(values: NDArray[np.float64]) -> float:
    """Of a signal; 0 of one that rests up to rounding."""
    width = float(np.ptp(values))
    return width if width > _NO_CHANGE * float(np.abs(values).max()) else 0.0


def _order(levels: list[Level]) -> float | None:
    if len(levels) < 2 or not levels[-1].error > 0.0 or not math.isfinite(levels[-2].error):
        return None
    return math.log2(levels[-2].error / levels[-1].error) if levels[-2].error > 0.0 else None
