"""A scenario (TOML): slaves, their connections, an experiment, drives, and the reference to compare with.

description = "..."
connections = [ ["body.p", "floor.point"], ["a.y", "b.u"] ]      # ports, or single variables
free_moment = false                                              # true: a `point` may stand for a `frame` with a moment
[experiment]  start, stop, step, output_step, algorithm = jacobi | gauss_seidel | implicit | adaptive,
              order = listed | structure | ["floor", "body"], tolerance, coupling_tolerance, power = true,
              record = ["body.*"]
[slaves]      body = "PointMass", floor = { recipe = "PointSurface", start = { C_r = 0.5 } }, x = "foreign.fmu",
              y = { recipe = "foreign.fmu", mass = "2 kg" }           # what forces meet, where the FMU shows none
              z = { recipe = "foreign.fmu", isolated = true }         # in a process of its own
[drive]       "floor.work" = { time = [0, 0.1], value = [true, false] }       # or { table = "motion.csv" }, a number
              "floor.surface.r[3]" = "5[mm]*sin(2*PI*#t/1[s])"                # a law of the time t (text.py)
[reference]   file, source, signals = { "body.p.r[3]" = { absolute = "1 um" } }, events = { ... }
[convergence] quantity, kind, steps, order, order_tolerance, reference

Many slaves by one entry, `mass = { recipe = "SliderMass", count = 100 }`: fmu_builder/model/counted_parts.py.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from fmu_builder.errors import InputError, Problem, collected
from fmu_builder.model.counted_parts import CountedParts
from fmu_builder.model.file_kinds import correct_kind
from fmu_builder.model.given_values import is_quantity
from fmu_builder.model.members import expand_members, unknown_ends
from fmu_builder.model.page_table import PageTable
from fmu_builder.model.table_model import Number, Quantity, TableModel, Truth, python_value, rule
from fmu_builder.model.toml_files import (
    explain,
    read_toml,
    refuse_fields_of_ours,
    refuse_other_documents,
    without_faulty,
)
from fmu_builder.model.vectors import given_twice
from fmu_builder.units import parse_quantity, parse_unit


def _start_value(value: object) -> object:
    value = python_value(value)
    rows = value if isinstance(value, list) else [value]
    items = [item for row in rows for item in (row if isinstance(row, list) else [row])]
    if not items or not all(isinstance(item, bool | int | float | str) for item in items):
        raise rule("must be a number, a text, true, false, or a list of these")
    return value


def _pair(value: object) -> object:
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(isinstance(end, str) for end in value):
        raise rule("must be a pair of texts ['slave.port', 'slave.port']")
    return tuple(value)


def _truth_or_number(value: object) -> object:
    if not isinstance(value, bool | int | float) or not math.isfinite(value):
        raise rule("must be a finite number (SI), true or false")
    return value


COUPLING_TOLERANCE = 1e-3  # m/s or rad/s
MOST_STEPS = 1e9  # an hour and more
_MOST_ROWS = 1e7  # of some fifty doubles each
ALGORITHMS = {  # and as people write them
    "jacobi": "Jacobi",
    "gauss_seidel": "Gauss-Seidel",
    "implicit": "implicit forces",
    "adaptive": "implicit forces with adaptive steps",
}
IMPLICIT = ("implicit", "adaptive")
Scalar = bool | int | float | str


def _order(value: object) -> object:
    if value in ("listed", "structure") or isinstance(value, list | tuple):
        return value
    raise rule("must be 'listed', 'structure', or a list of the names of slaves")


Pair = Annotated[tuple[str, str], BeforeValidator(_pair)]
StartValue = Annotated[Scalar | list[Scalar | list[Scalar]], BeforeValidator(_start_value)]  # or rows of an array


START = "start values by name, SI or texts with units such as '1e5 N/m'; lists for vectors"
MASS = (
    "of a slave of a scenario without a variable for it: the mass, or moment of inertia, that forces meet at its "
    "ports, for advice on the communication step"
)


STEP = "of a slave of a scenario: its own step, a multiple of that of the experiment; its outputs hold in between"
ISOLATED = "of a slave of a scenario: in a process of its own, so that a crash or a hang of its FMU is a message"
CALL_LIMIT = "of an isolated slave: what one call may take, 60 s if it is not given"
MEMORY_LIMIT = "of an isolated slave: MiB that its process may allocate, 4096 if it is not given"


class Experiment(TableModel):
    """The times of a run, in s or as texts with a unit, its algorithm, and what it records."""

    start: Quantity = Field(default=0.0, description="time at which the run begins")
    stop: Quantity = Field(description="time at which it ends, a whole number of steps later")
    step: Quantity = Field(description="communication step")
    output_step: Quantity | None = Field(
        default=None, description="of the rows of the trace, a multiple of step; without it the step"
    )
    algorithm: Literal["jacobi", "gauss_seidel", "implicit", "adaptive"] = Field(
        default="gauss_seidel",
        description="slaves all at once, `jacobi`, or one after another, `gauss_seidel`; with forces between bodies "
        "and force elements solved for in each step, `implicit`, or in steps whose error is controlled, `adaptive`",
    )
    order: Annotated[Literal["listed", "structure"] | list[str] | None, BeforeValidator(_order)] = Field(
        default=None,
        description="in which `gauss_seidel` steps the slaves: as they are `listed`, each after those that its outputs "
        "follow at once, `structure`, or a list of their names; without it as they are listed, with force elements "
        "between their bodies moved behind them",
    )
    tolerance: Number | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="relative error that the slaves are asked for; those of this project take 1e-13 to 0.01, "
        "beyond it the nearer end, with a warning",
    )
    coupling_tolerance: Number | None = Field(
        default=None,
        gt=0,
        description=f"of `adaptive`: error of velocities in a step, m/s or rad/s; without it {COUPLING_TOLERANCE}",
    )
    power: Truth = Field(
        default=False,
        description="records of each connection of ports the power into the body, `body.p~floor.point.power`, and the "
        "energy that the coupling has made, `.made`",
    )
    record: list[str] | None = Field(
        default=None,
        min_length=1,
        description="signals of the trace, such as `body.p.r[3]` or `floor.energy.*`, where * stands for any text; "
        "without it all outputs and local variables",
    )


class SlaveEntry(TableModel):
    """A slave of a scenario, or a part of an assembly: its FMU, start values, and how it is run."""

    READ_BEFORE: ClassVar = ("count",)  # by counted_parts.py

    recipe: str = Field(min_length=1, description="name or path of a recipe, or path of an .fmu")
    start: dict[str, StartValue] = Field(default_factory=dict, description=START)
    mass: Quantity | None = Field(default=None, description=MASS)
    step: Quantity | None = Field(default=None, description=STEP)
    isolated: Truth = Field(default=False, description=ISOLATED)
    call_limit: Quantity | None = Field(default=None, description=CALL_LIMIT)
    memory_limit: Number | None = Field(default=None, ge=64.0, description=MEMORY_LIMIT)


class Drive(TableModel):
    """A signal given over time: a law of the time, or a table in place or in a CSV file.

    Real inputs are interpolated linearly, others hold; driving a position drives its velocity with the exact slope."""

    law: str | None = Field(default=None, description="a law of the time `#t`, s")
    table: str | None = Field(
        default=None,
        description="a CSV file: first column the time, s, the other one the values, SI or as `F [kN]`",
    )
    time: list[Number] | None = Field(default=None, description="times, s, that do not decrease")
    value: list[Annotated[bool | float, BeforeValidator(_truth_or_number)]] | None = Field(
        default=None, description="the value at each time, SI"
    )

    @model_validator(mode="after")
    def _one_source(self) -> Drive:
        points = [one for one in (self.time, self.value) if one is not None]
        if (self.law is not None) + (self.table is not None) + bool(points) != 1 or len(points) == 1:
            raise rule("give one of a law, table = 'file.csv', or both time and value")
        if self.time is not None and self.value is not None:
            if len(self.time) != len(self.value) or not self.time:
                raise rule("time and value must have the same number of entries, at least one")
            if any(b < a for a, b in zip(self.time, self.time[1:], strict=False)):
                raise rule("time must not decrease")
        return self


class ToleranceEntry(TableModel):
    """What a signal or an event may differ by."""

    absolute: Quantity = Field(default=0.0, description="in the unit of the signal or event")
    relative: Number = Field(default=0.0, ge=0, description="of the largest value of the signal, or of the event")
    time: Quantity = Field(default=0.0, description="s: how far the reference may be shifted in time")


class Reference(TableModel):
    """The trace that a case is compared with."""

    file: str = Field(description="a CSV file beside the case")
    source: str = Field(min_length=10, description="where the values come from: formula, script, publication")
    signals: dict[str, ToleranceEntry] = Field(
        default_factory=dict, description="the signals that are compared, with what they may differ by"
    )
    events: dict[str, ToleranceEntry] = Field(
        default_factory=dict, description="the contact events that are compared, with what they may differ by"
    )

    @model_validator(mode="after")
    def _some_comparison(self) -> Reference:
        if not self.signals and not self.events:
            raise rule("signals and events are both empty: nothing would be compared")
        return self


class Convergence(TableModel):
    """The error of a quantity must fall with the order over communication steps."""

    quantity: str = Field(description="an event, or a signal, of which the last value counts")
    steps: list[Quantity] = Field(min_length=3, description="communication steps, in s or as texts with a unit")
    order: Number = Field(gt=0, description="the power of the step with which the error falls")
    order_tolerance: Number = Field(default=0.15, gt=0, description="what the order may differ by")


@dataclass(frozen=True)
class Conversion:
    """Of a value on its way: factor * value + offset."""

    factor: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class SystemOutput:
    """A signal of the trace that is made of one of a slave, "slave.variable".   unit: of the signal that is made"""

    source: str
    change: Conversion
    unit: str


class CheckedScenario(TableModel):
    """A checked scenario; `path` is where it was read from.

    conversions, outputs and notes are those of an SSP archive, and no keys of a file:
    conversions   by the input "slave.variable" that takes the value of one output, in place of that of the units
    outputs       signals of the system, by name
    notes         what a user should know of the archive"""

    OURS: ClassVar = ("path", "conversions", "outputs", "notes")

    path: Path
    description: str = ""
    connections: list[Pair] = Field(default_factory=list)
    free_moment: Truth = False
    experiment: Experiment
    slaves: dict[str, SlaveEntry]
    drive: dict[str, Drive] = Field(default_factory=dict)
    reference: Reference | None = None
    convergence: Convergence | None = None
    page: PageTable = PageTable()
    conversions: dict[str, Conversion] = Field(default_factory=dict)
    outputs: dict[str, SystemOutput] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.path.stem

    def seconds(self, key: Literal["start", "stop", "step", "output_step"]) -> float:
        return _seconds(self.path, self.experiment, key)


TIMES: tuple[Literal["start", "stop", "step", "output_step"], ...] = ("start", "stop", "step", "output_step")


def _seconds(path: Path, experiment: Experiment, key: Literal["start", "stop", "step", "output_step"]) -> float:
    if key == "output_step" and experiment.output_step is None:
        key = "step"
    return parse_quantity(getattr(experiment, key), parse_unit("s"), f"{path}: [experiment] {key}")


def read_scenario(path: Path) -> CheckedScenario:
    """Read and check a scenario's own text; variables, units and ends of connections are checked when its slaves are
    known: where nothing else is wrong a connection to no slave is named then, together with what is wrong in these.

    Raises InputError with every problem found."""
    scenario, problems = parse_scenario(path)
    if problems:
        raise InputError([*problems, *unknown_ends(path, dict(scenario.slaves), scenario.connections, "slave")])
    return scenario


def parse_scenario(path: Path, given: Collection[str] = ()) -> tuple[CheckedScenario, list[Problem]]:
    """The scenario without the keys, connections, drives and references that are wrong, and what is wrong: its slaves
    can be checked all the same.

    given   times that the caller replaces, and checks with the others
    Raises InputError where slaves or connections cannot be understood."""
    tables = read_toml(path)
    if "slaves" not in tables:
        refuse_other_documents(path, tables, "scenario")
    problems = refuse_fields_of_ours(path, tables, CheckedScenario)
    counted: CountedParts | None = None
    unknown: list[Problem] = []
    correct_kind(path, tables, problems)
    if isinstance(tables.get("slaves"), dict):
        counted, unknown = expand_members(path, "slave", tables, problems)
        reference = tables.get("reference")
        if counted is not None and isinstance(reference, dict) and "signals" in reference:
            signals = counted.keys(f"{path}: [reference] signals", reference["signals"], problems)
            tables["reference"] = {**reference, "signals": signals}
    if isinstance(drive := tables.get("drive"), dict):
        tables["drive"] = {name: _drive(path, name, value, problems) for name, value in drive.items()}
    wrong_times = time_problems(path, tables.get("experiment"), given)
    problems += wrong_times
    is_timed = not time_problems(path, tables.get("experiment"))
    try:
        scenario = CheckedScenario.model_validate({"path": path, **tables})
    except ValidationError as error:
        is_timed = False
        problems += explain(path, error, CheckedScenario)
        try:
            scenario = CheckedScenario.model_validate({"path": path, **_without(tables, error, bool(wrong_times))})
        except ValidationError:
            raise InputError([*problems, *unknown]) from None
    problems += _repeated_starts(scenario)
    problems += _convergence_problems(scenario, is_timed)
    ends = [pair for pair in scenario.connections if all("." in end for end in pair)]
    scenario = scenario.model_copy(update={"connections": ends})
    if counted is None:  # and with it what the rest of the file names
        raise InputError(problems)
    return scenario, problems


def _repeated_starts(scenario: CheckedScenario) -> Iterator[Problem]:
    """Elements of vectors that are given as a whole too."""
    for name, entry in scenario.slaves.items():
        for element, vector in given_twice(entry.start):
            where = f"{scenario.path}: [slaves] {name} start {element}"
            yield Problem(where, f"has a start value by {vector} already; remove one of them")


def _convergence_problems(scenario: CheckedScenario, is_timed: bool) -> list[Problem]:
    """Steps that are no times, not greater than 0, there twice, or do not end at the stop.

    is_timed   the times of the experiment are those of the file"""
    problems: list[Problem] = []
    before: list[float] = []
    for number, text in enumerate(scenario.convergence.steps if scenario.convergence is not None else (), 1):
        where = f"{scenario.path}: [convergence] steps {number}"
        with collected(problems):
            step = parse_quantity(text, parse_unit("s"), where)
            if not step > 0.0:
                problems.append(Problem(where, f"{step:g} s must be greater than 0"))
            elif any(math.isclose(step, other) for other in before):
                what = f"{step:g} s is there twice: the order follows from the errors of different steps; change one"
                problems.append(Problem(where, what))
            elif is_timed:
                problems += _whole_steps(where, scenario, step)
            before.append(step)
    return problems


def _whole_steps(where: str, scenario: CheckedScenario, step: float) -> Iterator[Problem]:
    start, stop = (scenario.seconds(key) for key in ("start", "stop"))
    count = (stop - start) / step
    if abs(count - round(count)) > 1e-6 or round(count) < 1:
        near = (stop - start) / max(round(count), 1)
        what = f"{step:g} s: no whole number of such steps ends at stop = {stop:g} s after start = {start:g} s"
        yield Problem(where, f"{what}; {near:.9g} s is the nearest step that does")


_ANY_TIMES = {"stop": 1.0, "step": 1.0}  # of a scenario that is checked and not run


def _without(tables: dict[str, Any], error: ValidationError, wrong_times: bool) -> dict[str, Any]:
    """The tables without what is faulty in them.  Laws of the time are left out where the times of the experiment are
    wrong."""
    kept = without_faulty(tables, error, ("connections", "drive", "page"), "slaves")
    if "experiment" not in kept or wrong_times:
        kept["experiment"] = _ANY_TIMES
        if isinstance(drive := kept.get("drive"), dict):
            kept["drive"] = {name: entry for name, entry in drive.items() if "law" not in entry}
    return kept


def _drive(path: Path, name: str, value: object, problems: list[Problem]) -> object:
    """A plain number or Boolean is a constant, a text a law."""
    if isinstance(value, str):
        return {"law": value}
    if isinstance(value, bool | int | float):
        return {"time": [0.0], "value": [value]}
    if not isinstance(value, dict):
        problems.append(
            Problem(
                f"{path}: [drive] {name}",
                f"{value!r} must be a number, a law of #t, true, false, {{ time, value }} or {{ table }}",
            )
        )
        return {"time": [0.0], "value": [0.0]}
    return value


def time_problems(path: Path, table: object, given: Collection[str] = ()) -> list[Problem]:
    """What is wrong with the times of a table [experiment] that are numbers or texts; others are reported with the
    rest.   given: those that need not fit the others, as they are replaced"""
    if not isinstance(table, dict):
        return []
    problems: list[Problem] = []
    times: dict[str, float | None] = {"start": 0.0}
    for key in TIMES:
        value = table.get(key)
        if key in table:
            times[key] = None
        if is_quantity(value):
            with collected(problems):
                time = parse_quantity(value, parse_unit("s"), f"{path}: [experiment] {key}")
                times[key] = None if key in given else time
    step = times.get("step")
    found = check_times(
        f"{path}: [experiment]", times["start"], times.get("stop"), step, times.get("output_step", step)
    )
    return [*problems, *found]


def check_times(
    where: str, start: float | None, stop: float | None, step: float | None, output_step: float | None
) -> list[Problem]:
    """start < stop, step > 0, and whole numbers of steps, at most MOST_STEPS.   None: a time that is not known, with
    what follows from it"""
    problems = []
    for key, value in (("step", step), ("output_step", output_step)):
        if value is not None and not value > 0 and (key == "step" or value != step):
            problems.append(Problem(f"{where} {key}", f"{value:g} s must be greater than 0"))
    if start is not None and stop is not None and not stop > start:
        problems.append(Problem(f"{where} stop", f"{stop:g} s must be after start = {start:g} s"))
    sound_step = step if step is not None and step > 0 else None
    sound_output = output_step if output_step is not None and output_step > 0 else None
    if start is not None and stop is not None and stop > start:
        problems += _count_problems(where, start, stop, sound_step, sound_output)
    if sound_step is not None and sound_output is not None:
        ratio = sound_output / sound_step
        if abs(ratio - round(ratio)) > 1e-6 or round(ratio) < 1:
            what = f"{sound_output:g} s is not a whole multiple of step = {sound_step:g} s"
            near = max(round(ratio), 1) * sound_step
            problems.append(Problem(f"{where} output_step", f"{what}; {near:.9g} s is the nearest one"))
    return problems


def _count_problems(
    where: str, start: float, stop: float, step: float | None, output_step: float | None
) -> Iterator[Problem]:
    """Of the steps and rows from start to stop."""
    count = (stop - start) / step if step is not None else None
    too_many = count is not None and count > MOST_STEPS
    if too_many:
        yield Problem(f"{where} step", f"{step:g} s makes {count:.3g} steps; at most {MOST_STEPS:.0e} are run")
    rows = (stop - start) / output_step if output_step is not None else 0.0
    if rows > _MOST_ROWS and not (too_many and output_step == step):
        what = f"makes {rows:.3g} rows; at most {_MOST_ROWS:.0e} are kept, choose a larger output_step"
        yield Problem(f"{where} output_step", f"{output_step:g} s {what}")
    if step is None or count is None or too_many:
        return
    rounding = 4.0 * max(math.ulp(start), math.ulp(stop)) / step
    if abs(count - round(count)) > max(1e-6, rounding) or count < 0.5:
        what = f"{stop:.15g} s is not a whole number of steps of {step:g} s after start = {start:g} s"
        near = start + max(round(count), 1) * step
        yield Problem(f"{where} stop", f"{what}; {near:.15g} s is the nearest one")
