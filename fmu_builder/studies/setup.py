"""From the file of a study to its job: system, factors, plan and responses checked, and all FMUs built."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomli_w

from fmu_builder.cosim.initialization import Initialization
from fmu_builder.cosim.master import System, changed_master, system_of
from fmu_builder.cosim.overrides import named_as_given, overridden
from fmu_builder.cosim.recorder import chosen_signals, is_signal
from fmu_builder.cosim.repeated import RepeatedRun
from fmu_builder.cosim.scenario_inputs import TableSignal
from fmu_builder.cosim.validation import system_path
from fmu_builder.errors import InputError, Problem, collected
from fmu_builder.export.fmu import host_fmu
from fmu_builder.files import texts_as_files
from fmu_builder.model.documents import as_file
from fmu_builder.model.element_model import is_scalar_of_laws
from fmu_builder.model.scenario import CheckedScenario, Drive, check_times
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import find_recipe
from fmu_builder.studies.factors import Axis, axes_of
from fmu_builder.studies.format import CheckedStudy, Study, parse_study
from fmu_builder.studies.plan import RunPlan, plan_of
from fmu_builder.studies.responses import responses_of
from fmu_builder.studies.work import Job, Structure, sha256, versions, with_experiment
from fmu_builder.units import parse_quantity, parse_unit

MOST_STRUCTURES = 1000  # FMUs that a study builds


@dataclass(frozen=True)
class Prepared:
    """A study that can run.   files: of the FMUs, by hash; about: what its table says of it; notes: on its system"""

    study: CheckedStudy
    job: Job
    plan: RunPlan
    files: Mapping[str, Path]
    about: Mapping[str, Any]
    notes: Sequence[str]


def prepare(source: Study | Path | str, yes: bool = False) -> Prepared:
    """Raises InputError with every problem found, and what builds raise."""
    with as_file(source, "source") as path:
        study, problems = parse_study(path)
        system = _system(study, problems)
        scenario = system.scenario
        axes, wrong = axes_of(study, system.slaves)
        problems += wrong
        if not problems:  # else it is not known which runs there are
            with collected(problems):
                plan = plan_of(study, axes, yes)
        problems += [*_experiment_problems(study, scenario, axes), *_law_problems(study, scenario, system, axes)]
        limit: float | None = None
        with collected(problems):
            if study.limits.time is not None:
                limit = parse_quantity(study.limits.time, parse_unit("s"), f"{study.path}: [limits] time")
                if limit <= 0.0:
                    problems.append(Problem(f"{study.path}: [limits] time", f"{limit:g} s must be greater than 0"))
        signals = _signals(system)
        traced: list[str] = []
        if study.traces is not None:
            chosen = chosen_signals(
                {n: [v for v in d.variables.values() if is_signal(v)] for n, d in system.slaves.items()},
                study.traces.record,
                f"{study.path}: [traces] record",
                problems,
            )
            traced = [f"{slave}.{v.name}" for slave, variables in chosen.items() for v in variables]
        with collected(problems):
            faulty = {*study.unread, *study.factors.keys() - {axis.name for axis in axes}}
            responses = responses_of(study, axes, signals, _places(scenario), traced, faulty)
        if problems:
            raise InputError(list(dict.fromkeys(problems)))
        files: dict[str, Path] = {}
        fmus = _fmus(study, scenario, system, axes, files)
    job = Job(
        "",
        _portable(scenario, system),
        tuple(axes),
        responses,
        fmus,
        study.traces.every if study.traces else 1,
        limit,
        versions(),
    )
    about = _about(study, job, plan)
    notes = [*system.notes, *_overwritten(scenario, system, axes)]
    return Prepared(study, replace(job, key=about["key"]), plan, files, about, notes)


def _overwritten(scenario: CheckedScenario, system: System, axes: Sequence[Axis]) -> Iterator[str]:
    """Notes on factors that a connection or a drive overwrites."""
    initialization = Initialization(scenario, system.slaves, system.starts, system.signals, system.wiring)
    for axis in axes:
        if axis.kind == "start":
            yield from initialization.overwritten(f"[factors] {axis.name}", axis.targets)


def _system(study: CheckedStudy, problems: list[Problem]) -> System:
    """The system, with the keys of [experiment].   Raises InputError with these problems and those of the system."""
    with collected(problems):
        path = system_path(study.system, study.path.parent, f"{study.path}: system")
        changes = study.experiment.model_dump(exclude_none=True)
        return system_of(changed_master(path, f"{study.path}: [experiment] {{}}", **changes, power=False).scenario)
    raise InputError(problems)


def _signals(system: System) -> dict[str, str]:
    """The units of all that can be recorded."""
    return {
        f"{slave}.{v.name}": v.unit
        for slave, description in system.slaves.items()
        for v in description.variables.values()
        if is_signal(v)
    }


def _places(scenario: CheckedScenario) -> tuple[str, ...]:
    nothing = scenario.experiment.model_copy(update={"record": []})
    run = RepeatedRun(scenario.model_copy(update={"experiment": nothing}), with_contacts=True)
    try:
        return run.places
    finally:
        run.close()


def _experiment_problems(study: CheckedStudy, scenario: CheckedScenario, axes: Sequence[Axis]) -> list[Problem]:
    """Steps and stops of factors that do not fit each other, and a factor that no algorithm of the runs has."""
    listed = [axis for axis in axes if axis.kind == "experiment" and axis.cells is not None]
    found: dict[str, Problem] = {}
    for values in itertools.islice(itertools.product(*(axis.values for axis in listed)), 1000):
        changed = dict(zip((axis.targets[0][1] for axis in listed), values, strict=True))
        tried = with_experiment(scenario, changed)
        times = [tried.seconds(key) for key in ("start", "stop", "step", "output_step")]
        for problem in check_times("", *times) if {"step", "stop"} & changed.keys() else ():
            key = problem.where.strip()
            shown = ", ".join(f"{name} = {value:g} s" for name, value in changed.items() if isinstance(value, float))
            found.setdefault(key, Problem(f"{study.path}: [factors]", f"with {shown}: {key} = {problem.what}"))
    keys = {axis.targets[0][1]: axis for axis in axes if axis.kind == "experiment"}
    algorithms = keys["algorithm"].values if "algorithm" in keys else (scenario.experiment.algorithm,)
    if "coupling_tolerance" in keys and "adaptive" not in algorithms:
        what = f"is of adaptive, and the runs have {' and '.join(map(str, algorithms))}: remove it, or add adaptive"
        found["coupling_tolerance"] = Problem(f"{study.path}: [factors] coupling_tolerance", what)
    return list(found.values())


def _law_problems(
    study: CheckedStudy, scenario: CheckedScenario, system: System, axes: Sequence[Axis]
) -> list[Problem]:
    """Rules on laws that scalars break, each alone, at the ends of its range or at its values: workers have no recipes,
    and FMUs do not know these rules."""
    problems: list[Problem] = []
    for axis in axes:
        for slave, variable in axis.targets if axis.kind == "start" else ():
            if is_scalar_of_laws(system.slaves[slave].variables[variable].description):
                for value in axis.values or (axis.low, axis.high):
                    given, where = {f"{slave}.{variable}": value}, f"{study.path}: [factors] {axis.name} {{}}"
                    with collected(problems), named_as_given(scenario, where, start=given):
                        system_of(overridden(scenario, where, start=given))
    return list(dict.fromkeys(problems))


def _fmus(
    study: CheckedStudy, scenario: CheckedScenario, system: System, axes: Sequence[Axis], files: dict[str, Path]
) -> dict[Structure, dict[str, str]]:
    """The hashes of the FMUs of each structure, built once for each distinct recipe; their paths go to `files`."""
    known: dict[Path, str] = {}

    def stored(path: Path) -> str:
        if path not in known:
            known[path] = sha256(path)
            files[known[path]] = path
        return known[path]

    plain = {name: stored(description.path) for name, description in system.slaves.items()}
    structural = [axis for axis in axes if axis.kind == "recipe"]
    if not structural:
        return {(): plain}
    count = 1
    for axis in structural:
        count *= len(axis.values)
    if count > MOST_STRUCTURES:
        what = f"the factors of recipes have {count} combinations; at most {MOST_STRUCTURES} FMUs are built"
        raise InputError(Problem(f"{study.path}: [factors]", what))
    problems: list[Problem] = []
    found = {}
    for places in itertools.product(*(range(len(axis.values)) for axis in structural)):
        changes: dict[str, dict[str, object]] = {}
        for axis, place in zip(structural, places, strict=True):
            (slave, key), *_ = axis.targets
            changes.setdefault(slave, {})[key] = axis.values[place]
        hashes = dict(plain)
        for slave, keys in changes.items():
            with collected(problems):
                hashes[slave] = stored(_varied(study, scenario, slave, keys))
        found[places] = hashes
    if problems:
        raise InputError(list(dict.fromkeys(problems)))
    return found


def _varied(study: CheckedStudy, scenario: CheckedScenario, slave: str, keys: Mapping[str, object]) -> Path:
    """The FMU of a slave whose recipe has these values at these keys."""
    recipe = scenario.slaves[slave].recipe
    where = f"{study.path}: [factors] recipe {slave}"
    if Path(recipe).suffix == ".fmu":
        raise InputError(Problem(where, f"{recipe} is an FMU; only recipes have a structure that can differ"))
    path = find_recipe(recipe, scenario.path.parent)
    tables = copy.deepcopy(read_toml(path))
    for key, value in keys.items():
        *inner, last = key.split(".")
        table: Any = tables
        for name in inner:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise InputError(Problem(where, f"'{key}': {name} of {path.name} is no table"))
        table[last] = value
    digest = hashlib.sha256(json.dumps(dict(keys), sort_keys=True).encode()).hexdigest()[:6]
    varied = path.with_name(f"{path.stem}_{digest}.toml")
    try:
        with texts_as_files({varied: tomli_w.dumps(tables)}):
            return host_fmu(varied)
    except InputError as error:
        shown = ", ".join(f"{key} = {value!r}" for key, value in keys.items())
        texts = (str(problem).replace(str(varied), str(path)) for problem in error.problems)  # that file never was
        raise InputError([Problem(where, f"with {shown}: {text}") for text in texts]) from None


def _portable(scenario: CheckedScenario, system: System) -> CheckedScenario:
    """The scenario without files that a worker on another machine does not have: tables of drives stand in it."""
    signals = {".".join(signal.node): signal for signal in system.signals if isinstance(signal, TableSignal)}
    drives = dict(scenario.drive)
    for name, drive in scenario.drive.items():
        if drive.table is not None:
            signal = signals[name]
            is_truth = signal.variable.type == "Boolean"
            values = [bool(value) if is_truth else value for value in signal.value]
            drives[name] = Drive(time=list(signal.time), value=values)
    return scenario.model_copy(update={"drive": drives})


def _about(study: CheckedStudy, job: Job, plan: RunPlan) -> dict[str, Any]:
    """What the study was, as JSON can hold it; `key` changes with all that decides on its results."""

    def axis(one: Axis) -> dict[str, Any]:
        shared: dict[str, Any] = {
            "kind": one.kind,
            "targets": [".".join(t).strip(".") for t in one.targets],
            "unit": one.unit,
        }
        if study.plan.kind == "one_at_a_time":
            shared["base"] = one.cell(one.base)
        if one.cells is not None:
            return {**shared, "values": list(one.cells)}
        return {**shared, "low": one.low, "high": one.high, "scale": "log" if one.log else "linear"}

    system = job.scenario.model_dump(mode="json", exclude={"path", "slaves", "reference", "convergence"})
    slaves = {name: one.model_dump(mode="json", exclude={"recipe"}) for name, one in job.scenario.slaves.items()}
    is_list = study.plan.kind == "list"
    rows = {"rows": hashlib.sha256(plan.rows(0, plan.size).tobytes()).hexdigest()} if is_list else {}
    about: dict[str, Any] = {
        "description": study.description,
        "system": study.system,
        "factors": {one.name: axis(one) for one in job.axes},
        "settings": _digest([system, slaves, job.limit]),
        "plan": {**study.plan.model_dump(exclude_none=True), "size": plan.size, **rows},
        "responses": {
            name: one if isinstance(one, str) else one.model_dump(exclude_none=True)
            for name, one in study.responses.items()
        },
        "traces": study.traces.model_dump() if study.traces else None,
        "fmus": {" ".join(map(str, key)): dict(hashes) for key, hashes in job.fmus.items()},
        "fmu_builder": job.versions[0],
    }
    levels = [] if is_list else [list(map(float, one.levels())) for one in job.axes]
    return {"key": _digest([about, levels]), **about}


def _digest(whole: object) -> str:
    return hashlib.sha256(json.dumps(whole, sort_keys=True, default=str).encode()).hexdigest()
