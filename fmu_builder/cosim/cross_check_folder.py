"""FMUs with reference results in the folders of the FMI cross-check, rules of version 4.1:

    fmus/2.0/TYPE/PLATFORM/fmu-builder/VERSION/MODEL/    TYPE cs or me; PLATFORM linux64, win64, darwin64
        MODEL.fmu, MODEL_ref.csv, MODEL_ref.opt, README.md, and MODEL_in.csv where inputs change

A reader has no place for start values: an FMU runs with those of its modelDescription.xml.  It interpolates inputs
linearly between the rows, which model exchange with held inputs is not: FMUs with inputs are there as `cs` alone."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fmu_builder.cosim.cross_check import MOST_BYTES, triple
from fmu_builder.cosim.master import System
from fmu_builder.cosim.trace import Trace
from fmu_builder.errors import InputError, Problem, ToolError, none_of
from fmu_builder.export.fmu import build_fmu
from fmu_builder.files import staged
from fmu_builder.paths import find_recipe, own_version

PLATFORMS = ("linux64", "win64", "darwin64")  # of the rules among those that FMUs are built for
MOST_SIGNALS = 10
_TOOL = "fmu-builder"


def check_cross_check(system: System, platforms: Sequence[str]) -> None:
    """Raises InputError with what the rules of the cross-check have no place for."""
    problems = [Problem("--platform", none_of(name, PLATFORMS)) for name in platforms if name not in PLATFORMS]
    problems += _problems(system)
    if problems:
        raise InputError(problems)


def _problems(system: System) -> Iterator[Problem]:
    where, names = str(system.scenario.path), [description.model_name for description in system.slaves.values()]
    for name in sorted({name for name in names if names.count(name) > 1}):
        slaves = " and ".join(slave for slave, description in system.slaves.items() if description.model_name == name)
        yield Problem(where, f"{slaves} are FMUs of one name, {name}, which has one folder: export a system with one")
    for slave in system.slaves:
        values = {**system.told[slave], **system.starts[slave]}
        if values:
            what = f"{slave} starts with {', '.join(values)}; the cross-check knows no start values"
            yield Problem(where, f"{what}: write them into [start] of its recipe")


def write_cross_check(system: System, trace: Trace, folder: Path, platforms: Sequence[str]) -> list[Path]:
    """Write the folders of all slaves, all or none; returns the folders.

    trace   of the system with the signals of the references, the first MOST_SIGNALS outputs of each slave
    Raises InputError for files beyond the size that the rules allow; ToolError."""
    files: dict[Path, bytes] = {}
    with tempfile.TemporaryDirectory(prefix="fmu-builder-") as place:
        for slave, description in system.slaves.items():
            texts = triple(system, trace, slave, MOST_SIGNALS)
            if "_ref.csv" not in texts:
                continue
            fmu = _fmu(system, slave, Path(place), platforms)
            name = description.model_name
            _check_sizes(name, texts)
            for kind in ("cs", "me"):
                if kind == "me" and ("_in.csv" in texts or "model exchange" not in description.interfaces):
                    continue
                readme = _readme(system, slave, kind, texts)
                for platform in platforms:
                    target = folder / "fmus" / "2.0" / kind / platform / _TOOL / own_version() / name
                    files |= {target / f"{name}{end}": text.encode() for end, text in texts.items()}
                    files |= {target / f"{name}.fmu": fmu, target / "README.md": readme.encode()}
    _write(files, folder)
    return sorted({path.parent for path in files})


def _fmu(system: System, slave: str, place: Path, platforms: Sequence[str]) -> bytes:
    """The FMU of a slave: a given one, or that of its recipe for the platforms."""
    recipe = system.scenario.slaves[slave].recipe
    if Path(recipe).suffix == ".fmu":
        return system.slaves[slave].path.read_bytes()
    return build_fmu(find_recipe(recipe, system.scenario.path.parent), place, platforms).path.read_bytes()


def _check_sizes(name: str, texts: Mapping[str, str]) -> None:
    large = {end: len(text) for end, text in texts.items() if len(text) > MOST_BYTES}
    if large:
        (end, size), *_ = large.items()
        what = f"has {size / 1e6:.1f} MB, a file of the cross-check at most {MOST_BYTES / 1e6:g} MB"
        raise InputError(Problem(f"{name}{end}", f"{what}: choose a longer --output-step, or an earlier --stop"))


def _write(files: Mapping[Path, bytes], folder: Path) -> None:
    try:
        for path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
        with staged(*files) as places:
            for place, content in zip(places, files.values(), strict=True):
                place.write_bytes(content)
    except OSError as error:
        raise ToolError(Problem(str(folder), f"cannot be written: {error.strerror or error}")) from error


def _readme(system: System, slave: str, kind: str, texts: Mapping[str, str]) -> str:
    """What an importer has to know, and where the reference comes from."""
    description = system.slaves[slave]
    name, experiment = description.model_name, system.scenario
    step, stop = (experiment.seconds(key) for key in ("step", "stop"))
    inputs = (
        f"{name}_in.csv holds its inputs at the communication points; they are held over each step."
        if "_in.csv" in texts
        else "Its inputs keep their start values."
    )
    how = (
        f"{name}_ref.csv: fmi2DoStep with the step {step:g} s, under the master of {_TOOL}."
        if kind == "cs"
        else f"{name}_ref.csv: the co-simulation part of the same FMU with the step {step:g} s; its solver has the "
        "tolerance of DefaultExperiment."
    )
    return f"""# {name}

{experiment.description or name}

- FMI 2.0, {"co-simulation" if kind == "cs" else "model exchange"}, exported by {_TOOL} {own_version()}
- Run it from {experiment.seconds("start"):g} s to {stop:g} s with the start values of modelDescription.xml. {inputs}
- {how}
- The binaries need no other file, no licence and no runtime; sources are in the FMU. BSD-2-Clause.
"""
