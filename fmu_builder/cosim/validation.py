"""Cases: scenarios with a reference.  Run them, compare, and check the order with which a coupling converges."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fmu_builder.cosim.comparison import Comparison, Tolerance, compare
from fmu_builder.cosim.connection_energy import ConnectionEnergy
from fmu_builder.cosim.events import EVENT_UNITS, event_units
from fmu_builder.cosim.master import Master, checked_scenario, run, system_of
from fmu_builder.cosim.system_graph import SystemGraph, graph_of
from fmu_builder.cosim.trace import Trace, read_trace
from fmu_builder.errors import (
    FmuBuilderError,
    InputError,
    Problem,
    SlaveError,
    ToolError,
    collected,
    did_you_mean,
    none_of,
)
from fmu_builder.export.law_sections import LawSection, law_sections
from fmu_builder.files import named_file
from fmu_builder.model.loader import load_model
from fmu_builder.model.recipe import has_laws
from fmu_builder.model.scenario import CheckedScenario, Convergence, Reference, ToleranceEntry, read_scenario
from fmu_builder.paths import find_recipe, own_elements, shipped
from fmu_builder.processes import in_processes
from fmu_builder.units import parse_quantity, parse_unit


@dataclass(frozen=True)
class Order:
    """Errors of one quantity over steps, and the slope of their logarithms."""

    quantity: str
    unit: str
    steps: tuple[float, ...]
    errors: tuple[float, ...]
    measured: float
    expected: float
    tolerance: float

    @property
    def passed(self) -> bool:
        return abs(self.measured - self.expected) <= self.tolerance


@dataclass(frozen=True)
class CaseResult:
    """The result of one case.  `error` ended it; `laws` are those of its recipes; `system` its slaves, where there are
    several; `energies` those of its connections, with `power = true`; `uncompared` that of the notes on columns of
    the reference."""

    name: str
    description: str
    source: str
    comparison: Comparison | None
    order: Order | None
    trace: Trace | None
    reference: Trace | None
    notes: tuple[str, ...]
    seconds: float
    error: FmuBuilderError | None = None
    laws: tuple[LawSection, ...] = ()
    system: SystemGraph | None = None
    energies: tuple[ConnectionEnergy, ...] = ()
    uncompared: str = ""

    @property
    def failure(self) -> str | None:
        """The message of the error that ended it."""
        return str(self.error) if self.error else None

    @property
    def exit_code(self) -> int:
        """Of that error."""
        return self.error.exit_code if self.error else 0

    @property
    def passed(self) -> bool:
        return (
            self.error is None
            and (self.comparison is None or self.comparison.passed)
            and (self.order is None or self.order.passed)
        )


def all_cases() -> dict[str, Path]:
    """The cases of all shipped elements and systems by name `<element>/<case>`."""
    found = {f"{p.parent.parent.name}/{p.stem}": p for p in sorted(shipped("elements").glob("*/cases/*.toml"))}
    return found | {f"systems/{p.stem}": p for p in sorted((shipped("fmus") / "systems").glob("*.toml"))}


def own_cases() -> dict[str, Path]:
    """The cases of own elements, by name as well."""
    paths = [path for folder in own_elements() for path in sorted((folder / "cases").glob("*.toml"))]
    return {f"{path.parent.parent.name}/{path.stem}": path for path in paths}


def system_path(name: str, folder: Path, where: str) -> Path:
    """The file of a system: a path in the folder, or the name of a recipe or case.   Raises InputError at `where`."""
    if Path(name).suffix in (".fmu", ".ssp"):
        path = folder / name
        if not path.is_file():
            raise InputError(Problem(where, f"'{name}' is not there"))
        return path
    try:
        return find_recipe(name, folder)
    except InputError as error:
        cases = all_cases() | own_cases()
        named = [path for case, path in cases.items() if name in (case, case.partition("/")[2])]
        if len(named) == 1:
            return named[0]
        near = did_you_mean(name, [case.partition("/")[2] for case in cases]) if not Path(name).suffix else ""
        raise InputError([Problem(where, f"{p}{near}") for p in error.problems]) from None


def demo_cases() -> dict[str, Path]:
    """The cases that `fmu-builder demo` runs: those that fmus/demo.txt lists."""
    lines = (shipped("fmus") / "demo.txt").read_text(encoding="utf-8").splitlines()
    return find_cases([line for line in lines if line and not line.startswith("#")])


def recipes_of(cases: Mapping[str, Path]) -> list[Path]:
    """The recipes that the slaves of cases are built from, sorted by name."""
    found = {recipe for path in cases.values() for recipe in _recipes(read_scenario(path))}
    return sorted(found, key=lambda recipe: recipe.stem)


def _recipes(scenario: CheckedScenario) -> set[Path]:
    names = {entry.recipe for entry in scenario.slaves.values() if not entry.recipe.endswith(".fmu")}
    return {find_recipe(name, scenario.path.parent) for name in names}


def find_cases(names: Sequence[str]) -> dict[str, Path]:
    """Cases by path, by name `element/case`, by element, or by case, shipped or of own elements; all that are shipped
    for no names.

    Raises InputError with every unknown name and every missing file."""
    if not names:
        return all_cases()
    known = all_cases() | own_cases()
    chosen: dict[str, Path] = {}
    problems = []
    for name in names:
        if name.endswith(".toml"):
            if not Path(name).is_file():
                problems.append(Problem(name, "there is no such file"))
            elif not chosen.setdefault(_name_of(Path(name)), Path(name)).samefile(name):
                other = chosen[_name_of(Path(name))]
                problems.append(Problem(name, f"has the name of {other}, {_name_of(other)}: rename one of them"))
            continue
        matches = {n: p for n, p in known.items() if name in (n, *n.split("/"))}
        if not matches:
            words = {word for n in known for word in (n, *n.split("/"))}
            problems.append(Problem(name or "''", "there is no such case" + did_you_mean(name, words)))
        chosen |= matches
    if problems:
        raise InputError(problems)
    return chosen


def _name_of(path: Path) -> str:
    """`<element>/<case>` for a file in an element's cases, else the path without suffix."""
    folder = path.absolute().parent
    return f"{folder.parent.name}/{path.stem}" if folder.name == "cases" else path.with_suffix("").as_posix()


def validate(cases: Mapping[str, Path], finished: Callable[[CaseResult], None] | None = None) -> tuple[CaseResult, ...]:
    """Run cases, as many at a time as there are cores; `finished` is called with each result.  Sorted by name.

    A case that fails, or whose FMU crashes, hides no other."""

    jobs = {name: (name, path) for name, path in cases.items()}
    results = in_processes(
        run_case, jobs, finished or (lambda result: None), lambda name: crashed_case(name, cases[name])
    )
    return tuple(results[name] for name in sorted(results))


def crashed_case(name: str, path: Path) -> CaseResult:
    """The result of a case whose process crashed."""
    what = "the process that ran it crashed: one of its FMUs is broken"
    return _failed(name, SlaveError(Problem(str(path), what)), 0.0)


def run_case(name: str, path: Path) -> CaseResult:
    """Run one case.  Errors become part of the result, so that one bad case does not hide the others; a fault of
    fmu-builder with its traceback."""
    begin = time.perf_counter()
    try:
        return _run(name, checked_scenario(path), begin)
    except FmuBuilderError as error:
        return _failed(name, error, time.perf_counter() - begin)
    except Exception:
        what = f"a fault of fmu-builder, please report it:\n{traceback.format_exc()}"
        return _failed(name, FmuBuilderError(what), time.perf_counter() - begin)


def _failed(name: str, error: FmuBuilderError, seconds: float) -> CaseResult:
    return CaseResult(name, "", "", None, None, None, None, error.notes, seconds, error)


def _run(name: str, scenario: CheckedScenario, begin: float) -> CaseResult:
    if scenario.reference is None:
        raise InputError(Problem(str(scenario.path), "has no [reference], so there is nothing to compare with"))
    master, reference = _checked(scenario, scenario.reference)
    done = master.run(lambda share: None)
    at = f"{scenario.path}: [reference]"
    signals = _tolerances(f"{at} signals", scenario.reference.signals, done.trace.units)
    events = _event_tolerances(at, scenario.reference)
    known = {**done.trace.events, **reference.events}
    if unknown := [name for name in events if name not in known]:
        what = f"neither the run nor {scenario.reference.file} has such an event"
        raise InputError(Problem(f"{at} events {name}", what + did_you_mean(name, known)) for name in unknown)
    chosen = _only(reference, signals)
    comparison = compare(done.trace, chosen, signals, Tolerance(), events)
    order = _order(scenario, scenario.convergence, reference) if scenario.convergence else None
    uncompared = _uncompared(scenario, scenario.reference, reference)
    return CaseResult(
        name=name,
        description=scenario.description,
        source=scenario.reference.source,
        comparison=comparison,
        order=order,
        trace=done.trace,
        reference=reference,
        notes=(*done.notes, *filter(None, [uncompared])),
        seconds=time.perf_counter() - begin,
        laws=_laws(scenario),
        system=graph_of(system_of(scenario)) if len(scenario.slaves) > 1 else None,
        energies=done.energies,
        uncompared=uncompared,
    )


def _checked(scenario: CheckedScenario, declared: Reference) -> tuple[Master, Trace]:
    """The run and its reference, with all that shows before the run, which may take long.   Raises InputError."""
    problems: list[Problem] = []
    with collected(problems):
        reference = _reference(scenario.path, declared)
        start, stop = scenario.seconds("start"), scenario.seconds("stop")
        first, last = reference.time[0], reference.time[-1]
        if declared.signals and not (first <= stop and last >= start):
            spans = f"covers {first:g} s to {last:g} s, and the run {start:g} s to {stop:g} s"
            what = f"{declared.file} {spans}: no common span; correct one of them"
            problems.append(Problem(f"{scenario.path}: [reference] file", what))
        if scenario.convergence is not None:
            _last(reference, scenario.convergence.quantity, scenario, declared.file)
    is_sound = not problems
    with collected(problems), nullcontext() if is_sound else suppress(ToolError):  # without a compiler no slave is read
        master = Master(scenario)
        units = {f"{slave}.{v.name}": v.unit for slave, found in master.recorded.items() for v in found}
        units |= {name: one.unit for name, one in scenario.outputs.items() if one.source in units}
        where = f"{scenario.path}: [reference] signals"
        for name in declared.signals if is_sound else ():
            if name not in units and "~" not in name:  # the power of a connection is known from the run on
                problems.append(Problem(f"{where} {name}", "the run has no such signal" + did_you_mean(name, units)))
        _tolerances(where, {name: one for name, one in declared.signals.items() if name in units}, units)
    if problems:
        raise InputError(list(dict.fromkeys(problems)))
    return master, reference


def _reference(case: Path, declared: Reference) -> Trace:
    """Its trace.  Raises InputError if that cannot be read, lacks signals, or where a tolerance has a wrong unit."""
    reference = read_trace(named_file(case.parent / declared.file, f"{case}: [reference] file"))
    missing = [name for name in declared.signals if name not in reference]
    if missing:
        what = f"{declared.file} has no such signal"
        raise InputError(
            Problem(f"{case}: [reference] signals {name}", what + did_you_mean(name, reference.names))
            for name in missing
        )
    known = {name: entry for name, entry in declared.signals.items() if name in reference.units}
    problems: list[Problem] = []
    for name in declared.events:
        if not event_units(name) and name not in reference.events:
            what = none_of(name.rpartition(".")[2].partition("[")[0], (*EVENT_UNITS, "contact_count"))
            problems.append(Problem(f"{case}: [reference] events {name}", what))
    with collected(problems):  # before the run, which may take long
        _tolerances(f"{case}: [reference] signals", known, reference.units)
    with collected(problems):
        _event_tolerances(f"{case}: [reference]", declared)
    if problems:
        raise InputError(problems)
    return reference


def _laws(scenario: CheckedScenario) -> tuple[LawSection, ...]:
    """The laws of all recipes, each with the name of its recipe."""
    models = [load_model(path) for path in sorted(_recipes(scenario)) if has_laws(path)]
    found = [replace(one, recipe=one.recipe or model.name) for model in models for one in law_sections(model)]
    return tuple({one.recipe: one for one in found}.values())


def _only(reference: Trace, signals: dict[str, Tolerance]) -> Trace:
    """The reference with the signals that have a tolerance."""
    keep = [i for i, n in enumerate(reference.names) if n in signals]
    names = tuple(reference.names[i] for i in keep)
    units = {n: u for n, u in reference.units.items() if n in names}
    return Trace(reference.time, names, reference.values[:, keep], units, reference.events, reference.provenance)


def _uncompared(scenario: CheckedScenario, declared: Reference, reference: Trace) -> str:
    """A note on columns of the reference that nothing of the case looks at, or nothing."""
    used = {*declared.signals, scenario.convergence.quantity if scenario.convergence is not None else ""}
    left = [name for name in reference.names if name not in used]
    what = "give them tolerances in [reference] signals, or remove them from the file"
    return f"{declared.file}: not compared: {', '.join(left)}; {what}" if left else ""


def _tolerances(where: str, entries: Mapping[str, ToleranceEntry], units: Mapping[str, str]) -> dict[str, Tolerance]:
    """Raises InputError with all wrong units."""
    problems: list[Problem] = []
    found: dict[str, Tolerance] = {}
    for name, entry in entries.items():
        with collected(problems):
            found[name] = _tolerance(f"{where} {name}", entry, units.get(name, "1"))
    if problems:
        raise InputError(problems)
    return found


def _event_tolerances(at: str, declared: Reference) -> dict[str, Tolerance]:
    units = {name: event_units(name) or "1" for name in declared.events}
    return _tolerances(f"{at} events", declared.events, units)


def _tolerance(where: str, entry: ToleranceEntry, unit: str) -> Tolerance:
    known = parse_unit(unit or "1")
    absolute = parse_quantity(entry.absolute, known, f"{where} absolute", is_difference=True) / known.factor
    time_shift = parse_quantity(entry.time, parse_unit("s"), f"{where} time")
    given = (("absolute", entry.absolute, absolute), ("time", entry.time, time_shift))
    if negative := [(key, text) for key, text, value in given if value < 0.0]:
        raise InputError([Problem(f"{where} {key}", f"{text!r} must be at least 0") for key, text in negative])
    return Tolerance(absolute=absolute, relative=entry.relative, time=time_shift)


def _order(scenario: CheckedScenario, convergence: Convergence, reference: Trace) -> Order:
    """Least-squares slope of log(error) over log(step) of the last value of a signal, or of an event."""
    steps = [parse_quantity(s, parse_unit("s"), f"{scenario.path}: [convergence] steps") for s in convergence.steps]
    errors = [abs(error) for error in coupling_errors(scenario, convergence.quantity, steps, reference)]
    if min(errors) == 0.0:
        raise InputError(
            Problem(
                f"{scenario.path}: [convergence] quantity",
                f"{convergence.quantity} is exact at a step: there is no order",
            )
        )
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    unit = reference.units.get(convergence.quantity) or event_units(convergence.quantity)
    return Order(
        convergence.quantity,
        unit,
        tuple(steps),
        tuple(errors),
        float(slope),
        convergence.order,
        convergence.order_tolerance,
    )


def coupling_errors(
    scenario: CheckedScenario, quantity: str, steps: Sequence[float], reference: Trace
) -> Iterator[float]:
    """Signed error of a quantity for each communication step: the last value of a signal, or an event."""
    file = scenario.reference.file if scenario.reference is not None else "the reference"
    right = _last(reference, quantity, scenario, file)
    for step in steps:
        experiment = scenario.experiment.model_copy(update={"step": step, "output_step": step})
        trace = run(scenario.model_copy(update={"experiment": experiment})).trace
        yield _last(trace, quantity, scenario, "the run") - right


def _last(trace: Trace, quantity: str, scenario: CheckedScenario, of: str) -> float:
    if quantity in trace:
        return float(trace[quantity][-1])
    if quantity in trace.events:
        return trace.events[quantity]
    known = [*trace.names, *trace.events]
    raise InputError(
        Problem(
            f"{scenario.path}: [convergence] quantity",
            f"{of} has no signal or event '{quantity}'" + did_you_mean(quantity, known),
        )
    )
