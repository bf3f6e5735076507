"""The result of the public function `run`: a trace, its contacts, notes and log."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.master import Run, load_scenario
from fmu_builder.cosim.master import run as run_scenario
from fmu_builder.cosim.overrides import overridden
from fmu_builder.cosim.trace import Trace
from fmu_builder.model.documents import Document, as_file
from fmu_builder.model.scenario import CheckedScenario, StartValue

_OF_TRACE = frozenset(field.name for field in fields(Trace)) - {"events"}


@dataclass(frozen=True)
class Result(Run):
    """A finished run.

    trace      the recorded signals
    contacts   every contact with its times, speeds, peak force and impulse
    notes      remarks on the run, such as a step that is too long
    log        what the FMUs logged"""

    @property
    def events(self) -> Mapping[str, float]:
        """Contact events by name, such as `floor.touch[1]`."""
        return self.trace.events

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """The signal `name` of the trace, shape (n,).   Raises InputError if there is none."""
        return self.trace[name]

    def __contains__(self, name: object) -> bool:
        return name in self.trace

    def __str__(self) -> str:
        return str(self.trace)

    def __getattr__(self, name: str) -> object:
        if name in _OF_TRACE:  # the former result of `run` was the trace alone
            warnings.warn(f"the result of run(): write .trace.{name}", FutureWarning, stacklevel=2)
            return getattr(self.trace, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


def run(
    scenario: Document | CheckedScenario | Path | str,
    *,
    start: Mapping[str, StartValue] | None = None,
    stop: str | float | None = None,
    step: str | float | None = None,
    algorithm: str | None = None,
    record: str | Sequence[str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Run a scenario, or a single recipe or FMU with its defaults.

    scenario   a document, the path of a scenario, recipe or .fmu, or the name of a recipe
    start      start values by "slave.variable", with units where you like; of a single FMU by variable
    stop, step, algorithm, record   in place of those of [experiment]
    progress   is called with the share done, 0 .. 1
    Raises InputError with every problem found, SlaveError if an FMU fails; no instance is left behind."""
    if isinstance(scenario, CheckedScenario):
        return _run(scenario, start, stop, step, algorithm, record, progress)
    given = [key for key, value in (("step", step), ("stop", stop)) if value is not None]
    with as_file(scenario) as path:
        return _run(load_scenario(path, given), start, stop, step, algorithm, record, progress)


def _run(
    scenario: CheckedScenario,
    start: Mapping[str, StartValue] | None,
    stop: str | float | None,
    step: str | float | None,
    algorithm: str | None,
    record: str | Sequence[str] | None,
    progress: Callable[[float], None] | None,
) -> Result:
    chosen = overridden(scenario, "run() {}", step=step, stop=stop, algorithm=algorithm, record=record, start=start)
    done = run_scenario(chosen, progress)
    return Result(done.trace, done.contacts, done.notes, done.log)
