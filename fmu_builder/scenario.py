"""A scenario (TOML): slaves, their connections, an experiment, drives, and the reference to compare with.

description = "..."
connections = [ ["body.p", "floor.point"], ["a.y", "b.u"] ]      # ports, or single variables
free_moment = false                                              # true: a `point` may stand for a `frame`
[experiment]  start, stop, step, output_step, algorithm = jacobi | gauss_seidel, tolerance
[slaves]      body = "PointMass", floor = { recipe = "PointSurface", start = { C_r = 0.5 } }, x = "foreign.fmu"
[drive]       "floor.work" = { time = [0, 0.1], value = [true, false] }       # or { table = "motion.csv" }, a number
[reference]   file, source, signals = { "body.p.r[3]" = { absolute = "1 um" } }, events = { ... }
[convergence] quantity, kind, steps, order, order_tolerance, reference
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fmu_builder.declaration import explain, read_toml
from fmu_builder.errors import InputError, Problem
from fmu_builder.units import parse_quantity, parse_unit

Quantity = int | float | str
StartValue = bool | int | float | str | list[int | float | str]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Experiment(_Table):
    """Times in s, as numbers or texts with a unit.  `output_step` is a multiple of `step`, by default equal to it."""

    start: Quantity = 0.0
    stop: Quantity
    step: Quantity
    output_step: Quantity | None = None
    algorithm: Literal["jacobi", "gauss_seidel"] = "gauss_seidel"
    tolerance: float | None = Field(default=None, gt=0)


class SlaveEntry(_Table):
    recipe: str = Field(min_length=1, description="name or path of a recipe, or path of an .fmu")
    start: dict[str, StartValue] = {}


class Drive(_Table):
    """A signal given over time: a table in place or in a CSV file (first column time, s; one column of values, SI).

    Real inputs are interpolated linearly, others hold; driving a position drives its velocity with the exact slope."""

    table: str | None = None
    time: list[float] | None = None
    value: list[bool | float] | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Drive:
        if (self.table is None) == (self.time is None or self.value is None):
            raise ValueError("give either table = 'file.csv', or both time and value")
        if self.time is not None and self.value is not None:
            if len(self.time) != len(self.value) or not self.time:
                raise ValueError("time and value must have the same number of entries, at least one")
            if any(b < a for a, b in zip(self.time, self.time[1:], strict=False)):
                raise ValueError("time must not decrease")
        return self


class ToleranceEntry(_Table):
    absolute: Quantity = 0.0
    relative: float = Field(default=0.0, ge=0)
    time: Quantity = 0.0


class Reference(_Table):
    file: str
    source: str = Field(min_length=10, description="where the values come from: formula, script, publication")
    signals: dict[str, ToleranceEntry] = {}
    events: dict[str, ToleranceEntry] = {}

    @model_validator(mode="after")
    def _something(self) -> Reference:
        if not self.signals and not self.events:
            raise ValueError("signals and events are both empty: nothing would be compared")
        return self


class Convergence(_Table):
    """The error of `quantity` (an event, or the last value of a signal) over decreasing steps must fall with `order`."""

    quantity: str
    steps: list[Quantity] = Field(min_length=3)
    order: float = Field(gt=0)
    order_tolerance: float = Field(default=0.15, gt=0)


class Scenario(_Table):
    """A checked scenario; `path` is where it was read from."""

    path: Path
    description: str = ""
    connections: list[tuple[str, str]] = []
    free_moment: bool = False
    experiment: Experiment
    slaves: dict[str, SlaveEntry]
    drive: dict[str, Drive] = {}
    reference: Reference | None = None
    convergence: Convergence | None = None

    @property
    def name(self) -> str:
        return self.path.stem

    def seconds(self, key: Literal["start", "stop", "step", "output_step"]) -> float:
        value = getattr(self.experiment, key)
        if value is None:
            value = self.experiment.step
        return parse_quantity(value, parse_unit("s"), f"{self.path}: [experiment] {key}")


_MODELS: tuple[type[BaseModel], ...] = (Scenario, Experiment, SlaveEntry, Drive, Reference, ToleranceEntry, Convergence)


def read_scenario(path: Path) -> Scenario:
    """Read and check a scenario's own text; variables and units are checked when its slaves are known.

    Raises InputError with every problem found."""
    tables = read_toml(path)
    slaves = tables.get("slaves")
    if isinstance(slaves, dict):
        tables["slaves"] = {name: {"recipe": s} if isinstance(s, str) else s for name, s in slaves.items()}
    drive = tables.get("drive")
    problems: list[Problem] = []
    if isinstance(drive, dict):
        tables["drive"] = {name: _drive(path, name, value, problems) for name, value in drive.items()}
    try:
        scenario = Scenario.model_validate({"path": path, **tables})
    except ValidationError as error:
        raise InputError([*problems, *explain(path, error, *_MODELS)]) from error
    problems += list(_check(scenario))
    if problems:
        raise InputError(problems)
    return scenario


def _drive(path: Path, name: str, value: object, problems: list[Problem]) -> object:
    """A plain number or Boolean is a constant."""
    if isinstance(value, bool | int | float):
        return {"time": [0.0], "value": [value]}
    if isinstance(value, str):
        problems.append(
            Problem(
                f"{path}: [drive] {name}", f"{value!r} must be a number, true, false, {{ time, value }} or {{ table }}"
            )
        )
        return {"time": [0.0], "value": [0.0]}
    return value


def _check(scenario: Scenario) -> list[Problem]:
    problems: list[Problem] = []
    where = f"{scenario.path}: [experiment]"
    times: dict[str, float] = {}
    for key in ("start", "stop", "step", "output_step"):
        try:
            times[key] = scenario.seconds(key)  # type: ignore[arg-type]
        except InputError as error:
            problems += error.problems
    if len(times) == 4:
        problems += check_times(where, times["start"], times["stop"], times["step"], times["output_step"])
    if not scenario.slaves:
        problems.append(Problem(f"{scenario.path}: [slaves]", "there is no slave"))
    for name in scenario.slaves:
        if not name.isidentifier():
            problems.append(Problem(f"{scenario.path}: [slaves] {name}", "the name of a slave must be an identifier"))
    return problems


def check_times(where: str, start: float, stop: float, step: float, output_step: float) -> list[Problem]:
    """start < stop, step > 0, and whole numbers of steps."""
    problems = []
    if not step > 0:
        problems.append(Problem(f"{where} step", f"{step:g} s must be greater than 0"))
    if not stop > start:
        problems.append(Problem(f"{where} stop", f"{stop:g} s must be after start = {start:g} s"))
    if problems:
        return problems
    count = (stop - start) / step
    if abs(count - round(count)) > 1e-6 or round(count) < 1:
        problems.append(
            Problem(
                f"{where} stop", f"{stop:g} s is not a whole number of steps of {step:g} s after start = {start:g} s"
            )
        )
    ratio = output_step / step
    if abs(ratio - round(ratio)) > 1e-6 or round(ratio) < 1:
        problems.append(
            Problem(f"{where} output_step", f"{output_step:g} s is not a whole multiple of step = {step:g} s")
        )
    return problems
