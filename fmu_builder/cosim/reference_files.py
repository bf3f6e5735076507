"""Puts reference results of cases into an FMU, as FMI-LS-REF asks.

The layered standard, 1.0.0-beta.1 (modelica/fmi-ls-ref), has these files:

    extra/org.fmi-standard.fmi-ls-ref/fmi-ls-manifest.xml   the files with their roles and SHA3-256
                                      experiments.exp       the Experiments Format of the Modelica Association
                                      CASE.ssv              start values of a case, where it has any
                                      CASE_in.csv           inputs that change, at the communication points
                                      CASE_ref.csv          what has to come out
    documentation/fmi-ls-ref.txt                            sources of the references, and tolerances

The FMU is the only slave of such a case."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lxml import etree

from fmu_builder.cosim.cross_check import csv_text
from fmu_builder.cosim.scenario_inputs import Signal, Start, drive_signals, start_values
from fmu_builder.cosim.slave import SlaveDescription, read_slave
from fmu_builder.cosim.ssp_writing import parameter_set, xml_text
from fmu_builder.cosim.trace import Trace, read_trace
from fmu_builder.cosim.validation import all_cases
from fmu_builder.errors import InputError, Problem
from fmu_builder.export.fmu import FMI3_SUFFIX, pack
from fmu_builder.files import named_file, write_whole
from fmu_builder.model.scenario import CheckedScenario, read_scenario
from fmu_builder.paths import find_recipe

FOLDER = "extra/org.fmi-standard.fmi-ls-ref"
ABOUT = "documentation/fmi-ls-ref.txt"
_NAMESPACE = "http://fmi-standard.org/fmi-ls-manifest"
_MANIFEST = {  # the schema has the texts
    "name": "org.fmi-standard.fmi-ls-ref",
    "version": "1.0.0-beta.1",
    "description": "Layered Standard providing information on related files included in an FMU.",
}


@dataclass(frozen=True)
class Experiment:
    """One case of an FMU: start values, inputs that change, and the signals of the reference, by variable."""

    name: str
    scenario: CheckedScenario
    starts: Mapping[str, Start]
    signals: Sequence[Signal]
    reference: Trace


def cases_alone(model_name: str) -> list[Path]:
    """The shipped cases in which the FMU of this name is the only slave, and which compare signals."""
    found = []
    for path in all_cases().values():
        if f'"{model_name}"' not in path.read_text(encoding="utf-8"):
            continue
        scenario = read_scenario(path)
        recipes = [entry.recipe for entry in scenario.slaves.values()]
        if recipes == [model_name] and scenario.reference is not None and scenario.reference.signals:
            found.append(path)
    return found


def own_cases(fmu: Path, model_name: str) -> list[Path]:
    """Those of cases_alone that a run of this FMU can make: none that drives a clock of FMI 3.0, which no run sets."""
    if not (found := cases_alone(model_name)):
        return []
    left_out = read_slave(fmu).left_out
    return [path for path in found if not _driven(path).intersection(left_out)]


def _driven(case: Path) -> set[str]:
    """The variables that a case of one slave drives."""
    return {name.partition(".")[2] for name in read_scenario(case).drive}


def check_recipes(cases: Iterable[Path], recipe: Path) -> None:
    """Raises InputError where the only slave of a case is not of the recipe, or scenario, that an FMU is built from.

    An .fmu is compared by its name: it may be the one that is built."""
    problems: list[Problem] = []
    for case in cases:
        slaves = read_scenario(case).slaves
        for slave, entry in slaves.items() if len(slaves) == 1 else ():
            where = f"{case}: [slaves] {slave}"
            try:
                own = _is_of(entry.recipe, case, recipe)
            except InputError as error:
                problems += [Problem(where, str(problem)) for problem in error.problems]
                continue
            if not own:
                what = f"is of the recipe '{entry.recipe}', but the FMU is built from {recipe}"
                problems.append(Problem(where, f"{what}: name that in the case, or give a case of this FMU"))
    if problems:
        raise InputError(problems)


def _is_of(name: str, case: Path, recipe: Path) -> bool:
    if Path(name).suffix == ".fmu":
        return Path(name).stem.removesuffix(FMI3_SUFFIX) == recipe.stem
    return find_recipe(name, case.parent).samefile(recipe)


def with_references(fmu: Path, cases: Iterable[Path]) -> tuple[str, ...]:
    """Add the references of the cases to the FMU, in place of those that it has; returns their names.

    Raises InputError where a case has other slaves too, no reference, names signals that its reference or the FMU has
    not, or has the file name of another case."""
    description = read_slave(fmu)
    problems: list[Problem] = []
    experiments = []
    files: dict[str, Path] = {}
    for path in cases:
        if (other := files.setdefault(path.stem, path)) != path:
            what = f"has the file name of {other}, and the files in the FMU have the names of their cases: rename one"
            problems.append(Problem(str(path), what))
            continue
        try:
            experiments.append(_experiment(path, description))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    if experiments:
        replace_files(fmu, reference_files(description, experiments))
    return tuple(one.name for one in experiments)


def files_of(fmu: Path) -> dict[str, bytes]:
    """The references that an FMU holds, by their names in the archive."""
    with zipfile.ZipFile(fmu) as archive:
        names = [name for name in archive.namelist() if name.startswith(f"{FOLDER}/") or name == ABOUT]
        return {name: archive.read(name) for name in names}


def replace_files(fmu: Path, files: Mapping[str, bytes]) -> None:
    """The FMU with these references alone."""
    old = files_of(fmu)
    with zipfile.ZipFile(fmu) as archive:
        others = {name: archive.read(name) for name in archive.namelist() if name not in old}
    write_whole(fmu, pack({**others, **files}))


def _experiment(path: Path, description: SlaveDescription) -> Experiment:
    scenario = read_scenario(path)
    where = str(path)
    if scenario.reference is None or not scenario.reference.signals:
        raise InputError(Problem(where, "has no [reference] with signals"))
    if len(scenario.slaves) != 1 or scenario.connections:
        what = f"has {len(scenario.slaves)} slaves; the reference of an FMU comes from a case in which it is alone"
        raise InputError(Problem(where, what))
    (slave,) = scenario.slaves
    descriptions = {slave: description}
    starts = start_values(scenario, descriptions)
    signals = drive_signals(scenario, descriptions, starts)
    return Experiment(path.stem, scenario, starts[slave], signals, _reference(scenario, slave, description))


def _reference(scenario: CheckedScenario, slave: str, description: SlaveDescription) -> Trace:
    """The compared signals under the names of the FMU's variables."""
    assert scenario.reference is not None
    where = f"{scenario.path}: [reference]"
    whole = read_trace(named_file(scenario.path.parent / scenario.reference.file, f"{where} file"))
    names = list(scenario.reference.signals)
    if missing := [name for name in names if name not in whole]:
        raise InputError(Problem(where, f"{scenario.reference.file} has no signal {', '.join(missing)}"))
    plain = [name.removeprefix(f"{slave}.") for name in names]
    unknown = [name for name in plain if name not in description.variables]
    if unknown:
        what = f"{description.model_name} has no variable {unknown[0]}"
        raise InputError(Problem(where, what))
    units = {new: whole.units[old] for old, new in zip(names, plain, strict=True) if old in whole.units}
    return Trace(whole.time, tuple(plain), np.column_stack([whole[name] for name in names]), units)


# ---- the files -----------------------------------------------------------------------------------------------------


def reference_files(description: SlaveDescription, experiments: Sequence[Experiment]) -> dict[str, bytes]:
    """Archive name -> bytes."""
    files = {name: text for one in experiments for name, text in _of_experiment(description, one)}
    files["experiments.exp"] = _experiments(description.model_name, experiments, files)
    manifest = _manifest(files, {f"{one.name}": one.scenario.description for one in experiments})
    archive = {f"{FOLDER}/{name}": text for name, text in files.items()}
    about = _about(description.model_name, experiments).encode()
    return {**archive, f"{FOLDER}/fmi-ls-manifest.xml": manifest, ABOUT: about}


def _of_experiment(description: SlaveDescription, one: Experiment) -> Iterator[tuple[str, bytes]]:
    if one.starts:
        yield f"{one.name}.ssv", parameter_set(description, one.starts)
    if one.signals:
        times = _communication_points(one.scenario)
        columns = [(s.node[1], np.array([float(s.at(float(t))) for t in times])) for s in one.signals]
        yield f"{one.name}_in.csv", csv_text(times, columns).encode()
    columns = [(name, one.reference[name]) for name in one.reference.names]
    yield f"{one.name}_ref.csv", csv_text(one.reference.time, columns).encode()


def _communication_points(scenario: CheckedScenario) -> np.ndarray:
    start, stop, step = (scenario.seconds(key) for key in ("start", "stop", "step"))
    return start + step * np.arange(round((stop - start) / step) + 1)


def _experiments(name: str, experiments: Sequence[Experiment], files: Mapping[str, bytes]) -> bytes:
    root = etree.Element("Experiments", name=name, description=f"References of {name}, each with its source")
    for one in experiments:
        scenario = one.scenario
        attributes = {"name": one.name, "description": scenario.description}
        attributes |= {f"{key}Time": repr(scenario.seconds(key)) for key in ("start", "stop")}
        if scenario.experiment.tolerance:
            attributes["tolerance"] = repr(scenario.experiment.tolerance)
        found = etree.SubElement(root, "Experiment", {**attributes, "stepSize": repr(scenario.seconds("step"))})
        for tag, end in (("Parameters", ".ssv"), ("Stimuli", "_in.csv"), ("References", "_ref.csv")):
            if f"{one.name}{end}" in files:
                etree.SubElement(found, tag, source=f"{one.name}{end}")
    return xml_text(root)


_KINDS = {  # ending: MIME type, role, what it is
    ".exp": ("application/x-ma-hs-experiments", "experiment/validation", "Experiments with reference results"),
    ".ssv": ("application/x-ssp-parameter-set", "parameter", "Start values of {}"),
    "_in.csv": ("text/csv", "other", "Inputs of {}"),
    "_ref.csv": ("text/csv", "result", "Reference of {}"),
}


def _manifest(files: Mapping[str, bytes], descriptions: Mapping[str, str]) -> bytes:
    root = etree.Element("fmiReferences", nsmap={"fmi-ls": _NAMESPACE})
    for key, value in _MANIFEST.items():
        root.set(f"{{{_NAMESPACE}}}fmi-ls-{key}", value)
    for name, content in sorted(files.items()):
        ending = next(end for end in _KINDS if name.endswith(end))
        mime, role, what = _KINDS[ending]
        case = name.removesuffix(ending)
        description = what.format(f"{case}: {descriptions.get(case, '')}")
        attributes = {"type": mime, "source": name, "role": role, "description": description}
        etree.SubElement(root, "Related", {**attributes, "checksum": hashlib.sha3_256(content).hexdigest()})
    return xml_text(root)


def _about(name: str, experiments: Sequence[Experiment]) -> str:
    """The text that the layered standard recommends."""
    lines = [f"References of {name} (extra/org.fmi-standard.fmi-ls-ref)", ""]
    for one in experiments:
        assert one.scenario.reference is not None
        lines += [f"{one.name}: {one.scenario.description}", f"  source: {one.scenario.reference.source}"]
        if one.signals:
            lines.append(f"  {one.name}_in.csv: the inputs at the communication points")
        for signal, entry in one.scenario.reference.signals.items():
            given = entry.model_dump(exclude_defaults=True)
            allowed = ", ".join(f"{key} {value}" for key, value in given.items()) or "none"
            lines.append(f"  {signal.partition('.')[2]}: tolerance {allowed}")
        lines.append("")
    return "\n".join(lines)
