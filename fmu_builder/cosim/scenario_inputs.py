"""What goes into the slaves of a scenario: start values and driven inputs, checked against their variables."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.driven_orientation import turning
from fmu_builder.cosim.slave import SlaveDescription
from fmu_builder.cosim.trace import read_trace
from fmu_builder.errors import InputError, Problem, behind_number, collected, did_you_mean, shown_value
from fmu_builder.headers import split_header
from fmu_builder.laws.definitions import LawFunction, Laws
from fmu_builder.laws.numeric import evaluate
from fmu_builder.laws.text import read_value
from fmu_builder.model.connectable import Node, PortUse, SlaveVariable
from fmu_builder.model.declaration import broken_bound
from fmu_builder.model.given_values import check_bits, start_of
from fmu_builder.model.ports import PORT_KINDS
from fmu_builder.model.scenario import CheckedScenario, Drive
from fmu_builder.model.vectors import flat, vector_of
from fmu_builder.units import Unit, dimension_text, mixes_cycles_and_angle, parse_unit, quantity

Start = float | str
T = TypeVar("T", float, Start, NDArray[np.float64])


def start_values(scenario: CheckedScenario, slaves: Mapping[str, SlaveDescription]) -> dict[str, dict[str, Start]]:
    """SI start values by slave and variable, of the given slaves.  Raises InputError with every problem found."""
    problems: list[Problem] = []
    values: dict[str, dict[str, Start]] = {}
    for slave, description in slaves.items():
        variables = description.variables
        values[slave] = {}
        for key, value in scenario.slaves[slave].start.items():
            where = f"{scenario.path}: [slaves] {slave} start {key}"
            vector = None if key in variables else vector_of(key, variables)
            names = vector.names if vector else (key,) if key in variables else ()
            items = flat(value, vector.shape if vector else ())
            if not names:
                known = {
                    n for v in variables.values() if is_settable(v) for n in (v.name, v.name.rpartition("[")[0]) if n
                }
                problems.append(
                    Problem(where, f"{description.model_name} has no such variable" + did_you_mean(key, known))
                )
            elif len(names) != len(items):
                many = "s" * (len(names) > 1)
                rows = f", {vector.shape_text} row by row" if vector and len(vector.shape) > 1 else ""
                problems.append(Problem(where, f"{value!r}: {len(names)} value{many} needed{rows}, {len(items)} given"))
            else:
                for name, item in zip(names, items, strict=True):
                    with collected(problems):
                        values[slave][name] = start_value(variables[name], item, where)
    if problems:
        raise InputError(problems)
    return values


def is_settable(variable: SlaveVariable) -> bool:
    if variable.variability == "constant":
        return False
    return variable.causality == "input" or variable.initial in ("exact", "approx")


def start_value(variable: SlaveVariable, value: bool | int | float | str, where: str) -> Start:
    """The SI value of a start value as a file gives it.   Raises InputError."""
    if not is_settable(variable):
        what = f"{variable.name} is {variable.variability}, {variable.causality}: the FMU computes it; remove it"
        raise InputError(Problem(where, what))
    if variable.type == "String":
        if not isinstance(value, str):
            raise InputError(Problem(where, f"{value!r} must be a text"))
        return value
    numbered = isinstance(value, int | float) and not isinstance(value, bool)  # as an FMU logs an enumeration
    return start_of(variable.type, value, unit_of(variable), {} if numbered else variable.literals, where)


def unit_of(variable: SlaveVariable) -> Unit:
    """The unit of a Real, as its FMU defines it, else as its name is known here; one that is unknown takes plain
    numbers only, as others than Reals do."""
    if variable.defined is not None:
        return variable.defined
    try:
        return parse_unit(variable.unit)
    except InputError:
        return parse_unit("1")


def in_fmu(variable: SlaveVariable, value: T) -> T:
    """A value in SI as its FMU has it, in the unit that it declares."""
    unit = unit_of(variable) if variable.type == "Real" and not isinstance(value, str) else None
    if unit is None or (unit.factor, unit.offset) == (1.0, 0.0):
        return value
    return (value - _offset(variable, unit)) / unit.factor  # type: ignore[operator]


def in_si(variable: SlaveVariable, value: float) -> float:
    """A value of an FMU, in the unit that it declares, in SI."""
    unit = unit_of(variable)
    return value * unit.factor + _offset(variable, unit)


def _offset(variable: SlaveVariable, unit: Unit) -> float:
    return 0.0 if variable.relative else unit.offset


def is_in_si(variable: SlaveVariable) -> bool:
    """Whether an FMU has the values of a Real in SI."""
    unit = unit_of(variable)
    return (unit.factor, unit.offset) == (1.0, 0.0)


def si_unit(variable: SlaveVariable) -> str:
    """The name of the unit of values in SI."""
    return variable.unit if is_in_si(variable) else dimension_text(unit_of(variable))


_BLOCK = 1024  # steps that a law is evaluated for at once


@dataclass(frozen=True)
class LawSignal:
    """A driven Real that follows a law of the time t, s, or its derivative; values are in the unit of its FMU.   start,
    step: of the run, s; times on this grid cost a look-up."""

    node: Node
    variable: SlaveVariable
    law: LawFunction
    start: float
    step: float
    is_slope: bool = False
    _block: dict[int, NDArray[np.float64]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_constant(self) -> bool:
        return False

    def at(self, t: float) -> float:
        k = round((t - self.start) / self.step)
        if self.start + k * self.step != t:
            return float(self._values(np.array(t)))
        block, place = divmod(k, _BLOCK)
        return float(self._of_block(block)[place])

    def _of_block(self, block: int) -> NDArray[np.float64]:
        if block not in self._block:
            self._block.clear()
            steps = np.arange(block * _BLOCK, (block + 1) * _BLOCK, dtype=np.float64)
            self._block[block] = self._values(self.start + steps * self.step)
        return self._block[block]

    def _values(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        found = evaluate(self.law, Laws(), {"t": t}, by="t")
        return in_fmu(self.variable, found.slope if self.is_slope else found.value)

    def values(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """As `at`, to the bit, of times on the grid of steps that do not decrease."""
        blocks, places = np.divmod(np.rint((times - self.start) / self.step).astype(np.int64), _BLOCK)
        return np.concatenate([self._of_block(int(b))[places[blocks == b]] for b in np.unique(blocks)])

    def values_between(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """At any times."""
        return self._values(times)

    def slope(self, node: Node, variable: SlaveVariable) -> LawSignal:
        """Its derivative as the signal of another variable."""
        return LawSignal(node, variable, self.law, self.start, self.step, is_slope=True)


@dataclass(frozen=True)
class TableSignal:
    """A driven input over time, in the unit of its FMU: Reals linear between the points, others hold; the ends hold.  A
    repeated time is a jump.   value: SI"""

    node: Node
    variable: SlaveVariable
    time: tuple[float, ...]
    value: tuple[float, ...]

    @property
    def is_constant(self) -> bool:
        return len(self.time) == 1

    def at(self, t: float) -> float:
        k = bisect_right(self.time, t + 1e-12 * abs(t)) - 1  # t_k = start + k h may miss a point by rounding
        if k < 0:
            return in_fmu(self.variable, self.value[0])
        if k == len(self.time) - 1 or self.variable.type != "Real":
            return in_fmu(self.variable, self.value[k])
        share = max(t - self.time[k], 0.0) / (self.time[k + 1] - self.time[k])
        return in_fmu(self.variable, self.value[k] + (self.value[k + 1] - self.value[k]) * share)

    def values(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """As `at`, to the bit."""
        time, value = np.array(self.time), np.array(self.value)
        k = np.maximum(np.searchsorted(time, times + 1e-12 * np.abs(times), side="right") - 1, 0)
        if len(time) == 1 or self.variable.type != "Real":
            return in_fmu(self.variable, value[k])
        inside = np.minimum(k, len(time) - 2)
        length = time[inside + 1] - time[inside]
        share = np.maximum(times - time[inside], 0.0) / np.where(length > 0.0, length, 1.0)  # 0: outside, at a jump
        between = value[inside] + (value[inside + 1] - value[inside]) * share
        return in_fmu(self.variable, np.where((k > inside) | (times < time[0]), value[k], between))

    def values_between(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """At any times."""
        return self.values(times)

    def slope(self, node: Node, variable: SlaveVariable) -> TableSignal:
        """Its derivative as the signal of another variable: steps, written with repeated times; 0 outside."""
        time, value = [self.time[0]], [0.0]
        for a, b, from_, to in zip(self.time, self.time[1:], self.value, self.value[1:], strict=False):
            if b > a:
                time += [a, b]
                value += [(to - from_) / (b - a)] * 2
        return TableSignal(node, variable, (*time, self.time[-1]), (*value, 0.0))


Signal = LawSignal | TableSignal


def drive_signals(
    scenario: CheckedScenario,
    slaves: Mapping[str, SlaveDescription],
    starts: Mapping[str, Mapping[str, Start]],
) -> list[Signal]:
    """All driven inputs of the given slaves; a driven position or orientation drives its velocity with the exact slope,
    unless that is driven itself.

    starts   SI start values by slave and variable.   Raises InputError with every problem found."""
    problems: list[Problem] = []
    signals: dict[Node, Signal] = {}
    for name, drive in scenario.drive.items():
        where = f"{scenario.path}: [drive] {name}"
        slave, _, rest = name.partition(".")
        if slave in scenario.slaves and slave not in slaves:
            continue
        if slave not in slaves or rest not in slaves[slave].variables:
            known = [f"{s}.{v.name}" for s, d in slaves.items() for v in d.variables.values() if v.causality == "input"]
            problems.append(Problem(where, "there is no such input" + did_you_mean(name, known)))
            continue
        variable = slaves[slave].variables[rest]
        driven = variable.causality == "input" or (variable.causality, variable.variability) == ("parameter", "tunable")
        if not driven or variable.type == "String":
            what = f"is a {variable.variability} {variable.causality} of type {variable.type}"
            problems.append(Problem(where, f"{what}; only inputs and tunable parameters that are numbers are driven"))
            continue
        with collected(problems):
            signals[slave, rest] = signal = _signal(scenario, drive, (slave, rest), variable, where)
            if slaves[slave].ours:
                _check_range(signal, scenario, where)
    if problems:
        raise InputError(problems)
    for (slave, rest), signal in list(signals.items()):
        rate = rate_in(slaves[slave], rest)
        if rate and (slave, rate) not in signals:
            signals[slave, rate] = signal.slope((slave, rate), slaves[slave].variables[rate])
    for slave, description in slaves.items():
        for port in description.ports.values():
            with collected(problems):
                for signal in _turning_signals(scenario, description, slave, port, signals, starts.get(slave, {})):
                    signals[signal.node] = signal
    if problems:
        raise InputError(problems)
    return list(signals.values())


def _turning_signals(
    scenario: CheckedScenario,
    description: SlaveDescription,
    slave: str,
    port: PortUse,
    signals: Mapping[Node, Signal],
    starts: Mapping[str, Start],
) -> list[LawSignal]:
    """The angular velocity of a port whose orientation is driven, as far as nothing else sets it.   Raises InputError
    for an orientation that is given by points, from which none follows."""
    names, rates = port.motion.get("q", ()), port.motion.get("w", ())
    moving = [name for name in names if (slave, name) in signals and not signals[slave, name].is_constant]
    joined = {end for pair in scenario.connections for end in pair}
    free = [name for name in rates if (slave, name) not in signals and f"{slave}.{name}" not in joined]
    if not moving or not free:
        return []
    components: list[LawFunction | float] = []
    for name in names:
        signal, variable = signals.get((slave, name)), description.variables[name]
        if isinstance(signal, TableSignal) and not signal.is_constant:
            what = "points of an orientation give no angular velocity; give laws of #t, or drive it too: "
            what += ", ".join(f"{slave}.{one}" for one in free)
            raise InputError(Problem(f"{scenario.path}: [drive] {slave}.{name}", what))
        start = starts.get(name, variable.start or 0.0)
        components.append(signal.law if isinstance(signal, LawSignal) else signal.value[0] if signal else float(start))
    where = f"{scenario.path}: [drive] {slave}.{moving[0]}"
    laws = dict(zip(rates, turning(components, where), strict=True))
    for name in free:
        _check_finite(laws[name], f"the angular velocity {slave}.{name} that follows", scenario, where, by=None)
    begin, step = scenario.seconds("start"), scenario.seconds("step")
    return [LawSignal((slave, name), description.variables[name], laws[name], begin, step) for name in free]


def drives_outside(scenario: CheckedScenario, signals: Iterable[Signal]) -> Iterator[str]:
    """Notes on tables all of whose times lie before or behind the run."""
    start, stop = scenario.seconds("start"), scenario.seconds("stop")
    for signal in signals:
        name = ".".join(signal.node)
        if isinstance(signal, TableSignal) and not signal.is_constant and name in scenario.drive:
            first, last = signal.time[0], signal.time[-1]
            if first > stop or last < start:
                spans = f"its table covers {first:g} s to {last:g} s, and the run {start:g} s to {stop:g} s"
                yield f"[drive] {name}: {spans}: it is constant in the run; correct its times, or start and stop"


def rate_in(slave: SlaveDescription, name: str) -> str | None:
    """The velocity that belongs to the position or angle `name` of one of its ports."""
    return next((rate for port in slave.ports.values() if (rate := _rate_of(port, name))), None)


def _rate_of(port: PortUse, name: str) -> str | None:
    """The velocity of a port that belongs to the position or angle `name`; a component of a quaternion has none."""
    for role in PORT_KINDS[port.kind].motion:
        names, rates = port.motion.get(role.name, ()), port.motion.get(role.rate or "", ())
        if name in names and len(names) == len(rates):
            return rates[names.index(name)]
    return None


def _signal(scenario: CheckedScenario, drive: Drive, node: Node, variable: SlaveVariable, where: str) -> Signal:
    if drive.law is None:
        return TableSignal(node, variable, *_drive_table(scenario.path, drive, variable, where))
    if variable.type != "Real":
        what = f"{drive.law!r}: only Reals follow a law, {variable.name} is of type {variable.type}: give a table"
        raise InputError(Problem(where, what))
    law = read_value(drive.law, where, {"t": parse_unit("s")}, unit_of(variable))
    _check_finite(law, f"{drive.law!r} or its slope", scenario, where)
    return LawSignal(node, variable, law, scenario.seconds("start"), scenario.seconds("step"))


def _check_finite(law: LawFunction, what: str, scenario: CheckedScenario, where: str, by: str | None = "t") -> None:
    """Raises InputError where the law has no value in the run, or, by the time, no slope.   what: names them"""
    times = np.linspace(scenario.seconds("start"), scenario.seconds("stop"), _LOOKED_AT)
    found = evaluate(law, Laws(), {"t": times}, by=by)
    bad = ~np.isfinite(found.value) | ~np.isfinite(found.slope)
    if np.any(bad):
        raise InputError(Problem(where, f"{what} has no finite value at t = {times[bad][0]:g} s"))


def _check_range(signal: Signal, scenario: CheckedScenario, where: str) -> None:
    """Raises InputError where a drive leaves the range of its variable, which FMUs of fmu-builder refuse."""
    start, stop = scenario.seconds("start"), scenario.seconds("stop")
    times = np.linspace(start, stop, _LOOKED_AT)
    if isinstance(signal, TableSignal):
        own = np.array(signal.time)
        times = np.union1d(times, own[(start <= own) & (own <= stop)])
    variable, unit = signal.variable, behind_number(signal.variable.unit)
    values = signal.values_between(times)
    if not any(broken_bound(variable, value) for value in (values.min(), values.max())):
        return
    for time, value in zip(times, values, strict=True):
        if rule := broken_bound(variable, value):
            what = f"has the value {quantity(value)}{unit} at t = {time:g} s; {variable.name} must be {rule}{unit}"
            raise InputError(Problem(where, what))


_LOOKED_AT = 1001  # times of a run at which a law must have a value


def _drive_table(
    path: Path, drive: Drive, variable: SlaveVariable, where: str
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Times and values, checked against the variable's type."""
    if drive.table is not None:
        try:
            table = read_trace(path.parent / drive.table)
        except InputError as error:
            raise InputError([Problem(where, str(p)) for p in error.problems]) from error
        columns = table.values.shape[1]
        if columns != 1:
            raise InputError(Problem(where, f"{drive.table} has {columns} columns besides time, 1 is needed"))
        value = _of_header(table.names[0], table.values[:, 0], variable, f"{where}: {drive.table}").tolist()
        time = table.time.tolist()
    else:
        time, value = drive.time or [], drive.value or []
    kind = {"Real": "a number", "Boolean": "true or false"}.get(variable.type, "a whole number")
    kind += "".join(f", {number} for '{name}'" for name, number in variable.literals.items())
    for item in value:
        truth = isinstance(item, bool) or (drive.table is not None and item in (0.0, 1.0))
        if not (truth if variable.type == "Boolean" else not isinstance(item, bool) or drive.table is not None) or (
            variable.type in ("Integer", "Enumeration") and item != int(item)
        ):
            raise InputError(
                Problem(where, f"{shown_value(item)} must be {kind}: {variable.name} is of type {variable.type}")
            )
        if variable.type != "Real":
            check_bits(item, where)
    return tuple(map(float, time)), tuple(map(float, value))


def _of_header(name: str, value: NDArray[np.float64], variable: SlaveVariable, where: str) -> NDArray[np.float64]:
    """A column in SI: of a Real in the unit that its name may end with, as `F [kN]`."""
    unit = split_header(name)[1]
    if unit is None or variable.type != "Real":
        return value
    try:
        given = parse_unit(unit)
    except InputError as error:
        repair = "correct the unit, or rename the column"
        raise InputError([Problem(where, f"column '{name}': {p.what}; {repair}") for p in error.problems]) from error
    needed = unit_of(variable)
    if not given.same_dimension(needed) or mixes_cycles_and_angle(given, needed):
        raise InputError(Problem(where, f"column '{name}' is for {variable.name}, which is in {needed.name}"))
    return value * given.factor + (0.0 if variable.relative else given.offset)
