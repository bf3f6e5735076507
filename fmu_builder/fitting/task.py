"""A fit that is checked and can be evaluated: what the system gives at the measured times, for values of parameters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.mapped_comparison import check_overlap, interpolated, within
from fmu_builder.cosim.master import System, changed_master, system_of
from fmu_builder.cosim.measurement import MeasuredColumn, Measurement, read_measurement
from fmu_builder.cosim.overrides import named_as_given, no_slave, no_variable, overridden, slave_and_variable
from fmu_builder.cosim.recorder import is_signal
from fmu_builder.cosim.repeated import RepeatedRun
from fmu_builder.cosim.scenario_inputs import Start, in_si, si_unit, start_values, unit_of
from fmu_builder.cosim.validation import system_path
from fmu_builder.errors import FmuBuilderError, InputError, Problem, behind_number, collected, listed
from fmu_builder.fitting.tables import Fit, FitMeasurement, read_fit
from fmu_builder.model.connectable import SlaveVariable
from fmu_builder.model.declaration import broken_bound
from fmu_builder.model.given_values import number
from fmu_builder.model.mapping import range_problems
from fmu_builder.model.scenario import CheckedScenario

Values = NDArray[np.float64]
_SHOWN = 3
_ROUNDING = 1e-12  # relative, of a bound in another unit


@dataclass(frozen=True)
class Parameter:
    """What is fitted: a start value, or the time offset of a measurement.

    start, low, high   in `unit`
    measurement        of a time offset, its place in the list"""

    name: str
    unit: str
    start: float
    low: float
    high: float
    log: bool = False
    slave: str = ""
    variable: str = ""
    measurement: int | None = None

    def of_share(self, share: float) -> float:
        """The value at a share, 0 .. 1, of the way between the bounds; of a logarithmic one, of the way of its log."""
        if self.log:
            return math.exp(math.log(self.low) + share * (math.log(self.high) - math.log(self.low)))
        return self.low + share * (self.high - self.low)

    def rate(self, share: float) -> float:
        """The derivative of the value by the share."""
        return self.of_share(share) * math.log(self.high / self.low) if self.log else self.high - self.low

    def share_of(self, value: float) -> float:
        if self.log:
            return (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Series:
    """The samples of one column that lie in the run with every time offset that is allowed.

    measurement   its place in the list;   time   s, of the file"""

    measurement: int
    column: MeasuredColumn
    signal: str
    time: Values
    values: Values


class RunFailedError(Exception):
    """The run with these parameters failed: its text says why."""


@dataclass
class _Kept:
    """The last run of a measurement."""

    starts: dict[str, dict[str, Start]] = field(default_factory=dict)
    time: Values = field(default_factory=lambda: np.zeros(0))
    signals: dict[str, Values] = field(default_factory=dict)


class FitTask:
    """A fit read from a file.   Raises InputError with everything that is wrong with it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.table, problems = read_fit(path)
        self.runs = self.failed = 0
        self.first_failure = ""
        self.scenario = _scenario_of(self.table, path, problems)
        self.system = system_of(self.scenario)
        self.notes = [*self.system.notes]
        self.units = self._signals()
        self.parameters = [one for one in self._parameters(problems) if one is not None]
        self.measurements: list[Measurement] = []
        self.starts: list[dict[str, dict[str, Start]]] = []
        for k, entry in enumerate(self.table.measurement):
            if entry in self.table.measurement[:k]:
                what = "stands twice, and its samples would count twice: remove one"
                problems.append(Problem(f"{path}: [measurement {entry.file}]", what))
            self._add_measurement(entry, problems)
        repeated = Counter((p.slave, p.variable) for p in self.parameters)
        problems += [
            Problem(f"{path}: [parameters]", f"{slave}.{variable} is given {count} times; keep one")
            for (slave, variable), count in repeated.items()
            if count > 1
        ]
        self.parameters += [
            Parameter(f"time_offset of {self._label(k)}", "s", one.offset, *one.offset_bounds, measurement=k)
            for k, one in enumerate(self.measurements)
            if one.offset_bounds is not None
        ]
        self.series = self._all_series(problems)
        if problems:
            raise InputError(problems)
        self._check_size()
        self._kept = [_Kept() for _ in self.measurements]
        self._run: RepeatedRun | None = None
        self._following: RepeatedRun | None = None  # its runs give derivatives
        self.without_derivatives = self._why_differences()

    def __enter__(self) -> FitTask:
        recorded = list(dict.fromkeys(one.signal for one in self.series))
        experiment = self.scenario.experiment.model_copy(update={"record": recorded, "power": False})
        scenario = self.scenario.model_copy(update={"experiment": experiment})
        self._run = RepeatedRun(scenario, with_contacts=False)
        if not self.without_derivatives:
            followed = [one.variable for one in self.parameters if one.measurement is None]
            self._following = RepeatedRun(scenario, with_contacts=False, followed=followed)
        return self

    def __exit__(self, *_: object) -> None:
        for one in (self._run, self._following):
            if one is not None:
                one.close()
        self._run = self._following = None

    def _why_differences(self) -> str:
        """Why the runs give no derivatives, as far as it shows before one; empty if nothing does."""
        if self.table.method.derivatives == "differences":
            return "[method] derivatives = differences"
        if len(self.system.slaves) > 1:
            return "the system has several FMUs; an assembly is one FMU"
        (description,) = self.system.slaves.values()
        if not description.ours:
            return f"{description.model_name} is not made by fmu-builder"
        if whole := [one.column.signal for one in self.series if self._type_of(one.signal) != "Real"]:
            return f"{whole[0]} is no Real"
        return ""

    def _type_of(self, signal: str) -> str:
        slave, _, variable = signal.partition(".")
        return self.system.slaves[slave].variables[variable].type

    # --- evaluation ---------------------------------------------------------------------------------------------------

    def values(self, parameters: Values) -> list[Values]:
        """What the system gives at the samples of each series.   parameters: shape (p,), in their units

        Raises RunFailedError."""
        found = []
        for k, series in enumerate(self.series):
            kept = self._run_of(series.measurement, parameters)
            at = series.time + self.offset(series.measurement, parameters)
            found.append(interpolated(kept.time, kept.signals[self.series[k].signal], at))
        return found

    def derivatives(self, parameters: Values) -> list[Values] | None:
        """Of `values` by the parameters that are no time offsets, in their order, shape (samples, q) for each series.

        None where the runs give none: `without_derivatives` has the reason."""
        found: list[Values] = []
        try:
            outcomes = [self._outcome_of(k, parameters) for k in range(len(self.measurements))]
        except (FmuBuilderError, RunFailedError) as error:
            self.without_derivatives = self.without_derivatives or str(error)
            return None
        for series in self.series:
            time, slopes = outcomes[series.measurement]
            at = series.time + self.offset(series.measurement, parameters)
            of_signal = slopes[series.signal]
            columns = [interpolated(time, of_signal[:, j], at) for j in range(of_signal.shape[1])]
            found.append(np.stack(columns, axis=1) if columns else np.zeros((len(at), 0)))
        return found

    def _outcome_of(self, measurement: int, parameters: Values) -> tuple[Values, dict[str, Values]]:
        """The times of a run that gives derivatives, and those of each signal, shape (rows, q)."""
        run = self._following
        if run is None or self.without_derivatives:
            raise RunFailedError(self.without_derivatives)
        self.runs += 1
        outcome = run.run(self._starts_of(measurement, parameters))
        if outcome.ended or outcome.slopes is None:
            raise RunFailedError(outcome.ended)
        slopes = {name: outcome.slopes[:, k].copy() for k, name in enumerate(run.signals)}
        return outcome.time.copy(), slopes

    def slopes(self, parameters: Values, measurement: int) -> list[Values]:
        """Derivatives by the time offset of a measurement, of each series: a difference over two rows of its run."""
        found = []
        for series in self.series:
            if series.measurement != measurement:
                found.append(np.zeros(len(series.time)))
                continue
            kept = self._run_of(measurement, parameters)
            at = series.time + self.offset(measurement, parameters)
            row = float(np.median(np.diff(kept.time)))
            before, after = np.maximum(at - row, kept.time[0]), np.minimum(at + row, kept.time[-1])
            signal = kept.signals[series.signal]
            rise = interpolated(kept.time, signal, after) - interpolated(kept.time, signal, before)
            found.append(rise / (after - before))
        return found

    def offset(self, measurement: int, parameters: Values) -> float:
        """s: time of the run = time of the file + offset."""
        for place, one in enumerate(self.parameters):
            if one.measurement == measurement:
                return float(parameters[place])
        return self.measurements[measurement].offset

    def _starts_of(self, measurement: int, parameters: Values) -> dict[str, dict[str, Start]]:
        starts = {slave: dict(values) for slave, values in self.starts[measurement].items()}
        for one, value in zip(self.parameters, parameters.tolist(), strict=True):
            if one.measurement is None:
                starts.setdefault(one.slave, {})[one.variable] = value
        return starts

    def _run_of(self, measurement: int, parameters: Values) -> _Kept:
        assert self._run is not None
        starts = self._starts_of(measurement, parameters)
        kept = self._kept[measurement]
        if len(kept.time) and kept.starts == starts:
            return kept
        self.runs += 1
        try:
            outcome = self._run.run(starts)
            if outcome.ended:
                raise RunFailedError(outcome.ended)
        except (FmuBuilderError, RunFailedError) as error:
            self.failed += 1
            given = [f"{p.name} = {v:.6g}" for p, v in zip(self.parameters, parameters, strict=True)]
            self.first_failure = self.first_failure or f"{listed(given, _SHOWN)}: {error}"
            raise RunFailedError(str(error)) from error
        names = list(self._run.signals)
        signals = {name: outcome.values[:, k].copy() for k, name in enumerate(names)}
        self._kept[measurement] = _Kept(starts, outcome.time.copy(), signals)
        return self._kept[measurement]

    # --- what the file says -------------------------------------------------------------------------------------------

    def _label(self, measurement: int) -> str:
        """The name of the file, with its number where several have it."""
        names = [Path(one.file).name for one in self.table.measurement]
        same = names.count(names[measurement]) > 1
        return names[measurement] + (f" ({measurement + 1})" if same else "")

    def _signals(self) -> dict[str, str]:
        """The units of the signals; those of a single slave have their short names too."""
        units = {
            f"{slave}.{variable.name}": variable.unit
            for slave, description in self.system.slaves.items()
            for variable in description.variables.values()
            if is_signal(variable)
        }
        if len(self.system.slaves) == 1:
            (slave,) = self.system.slaves
            units |= {name.removeprefix(f"{slave}."): unit for name, unit in units.items()}
        return units

    def _variable(self, name: str, where: str) -> tuple[str, str]:
        slaves = self.system.slaves
        slave, variable = slave_and_variable(name, slaves)
        if slave not in slaves:
            raise InputError(Problem(where, no_slave(slave, slaves)))
        known = slaves[slave].variables
        if variable not in known:
            parameters = [v.name for v in known.values() if v.causality == "parameter"]
            what = f"{slaves[slave].model_name} {no_variable(variable, known, parameters)}"
            raise InputError(Problem(where, what))
        return slave, variable

    def _parameters(self, problems: list[Problem]) -> list[Parameter | None]:
        return [self._parameter(name, problems) for name in self.table.parameters]

    def _parameter(self, name: str, problems: list[Problem]) -> Parameter | None:
        where, entry = f"{self.path}: [parameters] {name}", self.table.parameters[name]
        try:
            slave, variable = self._variable(name, where)
        except InputError as error:
            problems += error.problems
            return None
        known = self.system.slaves[slave].variables[variable]
        if known.type != "Real" or not (known.causality == "input" or known.initial in ("exact", "approx")):
            kind = known.type if known.type != "Real" else f"{known.variability}, {known.causality}"
            what = "only Reals that a run may start with can be fitted: parameters, and inputs that are not connected"
            problems.append(Problem(where, f"is {kind}; {what}"))
            return None
        if giver := self._giver(slave, variable):
            problems.append(Problem(where, f"has no effect: {giver} gives the value; remove it"))
            return None
        found: list[float] = []
        for key in ("start", "min", "max"):
            with collected(problems):
                found.append(number(getattr(entry, key), unit_of(known), f"{where} {key}"))
        if len(found) < 3:
            return None
        start, low, high = found
        wrong = range_problems(where, start, low, high, si_unit(known))
        if entry.log and min(low, high) <= 0.0:
            what = f"min = {min(low, high):g} must be greater than 0 where log = true; raise it, or remove log"
            wrong.append(Problem(f"{where} log", what))
        wrong += _beyond_limits(where, known, low, high)
        if rule := broken_bound(replace(known, min=None, max=None), start):  # a bound may be one at which a run fails
            unit = behind_number(si_unit(known))
            wrong.append(Problem(f"{where} start", f"{start:g}{unit} is refused: {variable} must be {rule}{unit}"))
        problems += wrong
        return None if wrong else Parameter(name, si_unit(known), start, low, high, entry.log, slave, variable)

    def _giver(self, slave: str, variable: str) -> str:
        """What sets an input in the runs; empty if nothing does."""
        sources = self.system.wiring.sources.get((slave, variable), ())
        is_driven = any(signal.node == (slave, variable) for signal in self.system.signals)
        return " + ".join(map(".".join, sources)) or "its drive" * is_driven

    def _add_measurement(self, entry: FitMeasurement, problems: list[Problem]) -> None:
        where = f"{self.path}: [measurement {entry.file}] "
        found = None
        with collected(problems):
            found = read_measurement(
                self.path.parent / entry.file, entry, self.units, where, named=f"{where}file", source="the system"
            )
        checked = None
        with collected(problems), named_as_given(self.scenario, where + "{}", start=entry.start):
            changed = overridden(self.scenario, where + "{}", start=entry.start)
            checked = start_values(changed, self.system.slaves)
        fitted = {(p.slave, p.variable) for p in self.parameters}
        for name in entry.start:
            with suppress(InputError):
                if self._variable(name, where) in fitted:
                    what = "is fitted as well; remove it here or from [parameters]"
                    problems.append(Problem(f"{where}start {name}", what))
        if found is not None and checked is not None:
            self.measurements.append(found)
            self.starts.append(_changes(checked, self.system))
            self.notes += found.notes

    def _all_series(self, problems: list[Problem]) -> list[Series]:
        span = np.array([self.scenario.seconds("start"), self.scenario.seconds("stop")])
        known = {f"{slave}.{name}" for slave, of_one in self.system.slaves.items() for name in of_one.variables}
        series = []
        left_out = 0
        for k, measurement in enumerate(self.measurements):
            bounds = measurement.offset_bounds or (measurement.offset, measurement.offset)
            for column in measurement.columns:
                use = within(span, column.time, *bounds)
                with collected(problems):
                    check_overlap(span, measurement, column, use)
                left_out += int(np.count_nonzero(~use))
                signal = (
                    column.signal if column.signal in known else f"{next(iter(self.system.slaves))}.{column.signal}"
                )
                series.append(Series(k, column, signal, column.time[use], column.values[use]))
        if left_out:
            what = "samples that are not used, as they lie outside of the runs or would with another time offset"
            self.notes.append(f"{what}: {left_out}")
        return series

    def _check_size(self) -> None:
        samples, size = sum(len(one.time) for one in self.series), len(self.parameters)
        if samples <= size:
            what = f"{samples} samples lie in the runs, for {size} parameters; more samples than parameters are needed"
            raise InputError(Problem(f"{self.path}: [[measurement]]", f"{what}: fix some, or extend [experiment] stop"))


def _beyond_limits(where: str, variable: SlaveVariable, low: float, high: float) -> Iterator[Problem]:
    """Bounds beyond which the FMU refuses each value: a search there is lost."""
    unit = behind_number(si_unit(variable))
    least, largest = (None if one is None else in_si(variable, one) for one in (variable.min, variable.max))
    if least is not None and low < least - _ROUNDING * abs(least):
        what = f"{low:g}{unit} is below {least:g}{unit}, the least value of {variable.name}: raise it"
        yield Problem(f"{where} min", what)
    if largest is not None and high > largest + _ROUNDING * abs(largest):
        what = f"{high:g}{unit} is above {largest:g}{unit}, the largest value of {variable.name}: lower it"
        yield Problem(f"{where} max", what)


def _scenario_of(table: Fit, path: Path, problems: list[Problem]) -> CheckedScenario:
    """Raises InputError with these problems and those of the scenario."""
    with collected(problems):
        scenario = system_path(str(table.scenario), path.parent, f"{path}: scenario")
        times = {"step": table.experiment.step, "stop": table.experiment.stop}
        return changed_master(scenario, f"{path}: [experiment] {{}}", **times).scenario
    raise InputError(problems)


def _changes(checked: Mapping[str, Mapping[str, Start]], system: System) -> dict[str, dict[str, Start]]:
    """Start values that are not those of the scenario."""
    return {
        slave: {name: value for name, value in values.items() if system.starts[slave].get(name) != value}
        for slave, values in checked.items()
    }
