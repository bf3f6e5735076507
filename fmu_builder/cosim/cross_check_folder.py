"""Writes FMUs with reference results into the folders of the FMI cross-check.

Its rules of version 4.1 ask for these folders and files:

    fmus/2.0/TYPE/PLATFORM/TOOL/VERSION/MODEL/    TYPE cs or me; PLATFORM linux64, win64, darwin64
        MODEL.fmu, MODEL_ref.csv, MODEL_ref.opt, README.md, and MODEL_in.csv where inputs change

A reader has no place for start values: an FMU runs with those of its modelDescription.xml.  It interpolates inputs
linearly between the rows, which model exchange with held inputs is not: FMUs with inputs are there as `cs` alone.
Tool, licence and platforms of a given FMU are its own."""

from __future__ import annotations

import io
import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from fmu_builder.cosim.cross_check import MOST_BYTES, assignments, how_inputs_are_held, set_by_the_run, triple
from fmu_builder.cosim.master import System
from fmu_builder.cosim.trace import Trace
from fmu_builder.errors import InputError, Problem, none_of
from fmu_builder.export.fmu import build_fmu
from fmu_builder.files import staged, written
from fmu_builder.paths import find_recipe

PLATFORMS = ("linux64", "win64", "darwin64")  # of the rules among those that FMUs are built for
MOST_SIGNALS = 10
_TOOL = "fmu-builder"


@dataclass(frozen=True)
class _Origin:
    """Who exported an FMU, as its generationTool says, under which licence, and what it is."""

    tool: str
    version: str
    licence: str
    about: str  # its description
    has_sources: bool

    @property
    def text(self) -> str:
        return f"{self.tool} {self.version}".strip() or "a tool that it does not name"

    @property
    def folder(self) -> Path:
        return Path(*(re.sub(r"[^\w.-]+", "_", one) or "unknown" for one in (self.tool, self.version)))


def check_cross_check(system: System, platforms: Sequence[str]) -> None:
    """Raises InputError with what the rules of the cross-check have no place for."""
    problems = [Problem("--platform", none_of(name, PLATFORMS)) for name in platforms if name not in PLATFORMS]
    problems += _problems(system)
    problems += [one for slave in system.slaves for one in _binary_problems(system, slave, platforms)]
    if problems:
        raise InputError(problems)


def _problems(system: System) -> Iterator[Problem]:
    where, names = str(system.scenario.path), [description.model_name for description in system.slaves.values()]
    for name in sorted({name for name in names if names.count(name) > 1}):
        slaves = " and ".join(slave for slave, description in system.slaves.items() if description.model_name == name)
        yield Problem(where, f"{slaves} are FMUs of one name, {name}, which has one folder: export a system with one")
    for slave in system.slaves:
        repair = "the cross-check knows no start values: write them into [start] of its recipe"
        if given := system.starts[slave]:
            yield Problem(where, f"{slave} starts with {', '.join(given)}; {repair}")
        if by_itself := set_by_the_run(system, slave):
            yield Problem(where, f"the run sets {assignments(system, slave, by_itself)} of {slave} by itself; {repair}")


def _binary_problems(system: System, slave: str, platforms: Sequence[str]) -> Iterator[Problem]:
    description = system.slaves[slave]
    where = str(description.path)
    if description.kinds is not None:
        yield Problem(
            where, "is for FMI 3.0, and the folders of the cross-check are for FMI 2.0: export it for FMI 2.0"
        )
    elif _is_given(system, slave):
        there = [name for name in PLATFORMS if name in description.platforms]
        if not there:
            yield Problem(where, f"has no binary for {', '.join(PLATFORMS)}: export it for one of these")
        elif missing := [name for name in platforms if name in PLATFORMS and name not in there]:
            what = f"has no binary for {', '.join(missing)}"
            yield Problem(where, f"{what}: leave out --platform {missing[0]}, or export it for that platform")


def _is_given(system: System, slave: str) -> bool:
    return Path(system.scenario.slaves[slave].recipe).suffix == ".fmu"


def write_cross_check(system: System, trace: Trace, folder: Path, platforms: Sequence[str]) -> list[Path]:
    """Write the folders of all slaves, all or none; returns the folders.

    platforms   none for all that there are
    trace       of the system with the signals of the references, the first MOST_SIGNALS outputs of each slave
    Raises InputError for files beyond the size that the rules allow; ToolError."""
    files: dict[Path, bytes] = {}
    with tempfile.TemporaryDirectory(prefix="fmu-builder-") as place:
        for slave, description in system.slaves.items():
            texts = triple(system, trace, slave, MOST_SIGNALS)
            if "_ref.csv" not in texts:
                continue
            wanted = platforms or [
                name for name in PLATFORMS if not _is_given(system, slave) or name in description.platforms
            ]
            fmu = _fmu(system, slave, Path(place), wanted)
            origin = _origin(fmu)
            name = description.model_name
            _check_sizes(name, texts)
            for kind in ("cs", "me"):
                if kind == "me" and ("_in.csv" in texts or "model exchange" not in description.interfaces):
                    continue
                readme = _readme(system, slave, kind, texts, origin)
                for platform in wanted:
                    target = folder / "fmus" / "2.0" / kind / platform / origin.folder / name
                    files |= {target / f"{name}{end}": text.encode() for end, text in texts.items()}
                    files |= {target / f"{name}.fmu": fmu, target / "README.md": readme.encode()}
    _write(files, folder)
    return sorted({path.parent for path in files})


def _fmu(system: System, slave: str, place: Path, platforms: Sequence[str]) -> bytes:
    """The FMU of a slave: a given one, or that of its recipe for the platforms."""
    if _is_given(system, slave):
        return system.slaves[slave].path.read_bytes()
    return build_fmu(
        find_recipe(system.scenario.slaves[slave].recipe, system.scenario.path.parent), place, platforms
    ).path.read_bytes()


def _origin(fmu: bytes) -> _Origin:
    with zipfile.ZipFile(io.BytesIO(fmu)) as archive:
        root = etree.fromstring(archive.read("modelDescription.xml"))
        has_sources = any(name.startswith("sources/") for name in archive.namelist())
    words = root.get("generationTool", "").split()
    has_version = len(words) > 1 and re.match(r"v?\d", words[-1]) is not None
    tool, version = (" ".join(words[:-1]), words[-1]) if has_version else (" ".join(words), "")
    return _Origin(tool, version, root.get("license", ""), root.get("description", ""), has_sources)


def _check_sizes(name: str, texts: Mapping[str, str]) -> None:
    large = {end: len(text) for end, text in texts.items() if len(text) > MOST_BYTES}
    if large:
        (end, size), *_ = large.items()
        what = f"has {size / 1e6:.1f} MB, a file of the cross-check at most {MOST_BYTES / 1e6:g} MB"
        raise InputError(Problem(f"{name}{end}", f"{what}: choose a longer --output-step, or an earlier --stop"))


def _write(files: Mapping[Path, bytes], folder: Path) -> None:
    with written(folder):
        for path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
        with staged(*files) as places:
            for place, content in zip(places, files.values(), strict=True):
                place.write_bytes(content)


def _readme(system: System, slave: str, kind: str, texts: Mapping[str, str], origin: _Origin) -> str:
    """What an importer has to know, and where the reference comes from."""
    description = system.slaves[slave]
    name, experiment = description.model_name, system.scenario
    step, stop = system.schedule.ticks[slave] * experiment.seconds("step"), experiment.seconds("stop")
    inputs = (
        f"{name}_in.csv {how_inputs_are_held(system, slave)}"
        if "_in.csv" in texts
        else "Its inputs keep their start values."
    )
    how = (
        f"{name}_ref.csv: fmi2DoStep with the step {step:g} s, under the master of {_TOOL}."
        if kind == "cs"
        else f"{name}_ref.csv: the co-simulation part of the same FMU with the step {step:g} s; its solver has the "
        "tolerance of DefaultExperiment."
    )
    facts = ["The binaries need no other file, no licence and no runtime."] if origin.tool == _TOOL else []
    facts += ["Sources are in the FMU."] if origin.has_sources else []
    facts += [f"License of the FMU: {origin.licence or 'not stated in modelDescription.xml'}"]
    given = experiment.description if experiment.description != name else ""  # of an FMU that runs alone it is the name
    title = "\n\n".join(filter(None, (f"# {name}", given or origin.about)))
    return f"""{title}

- FMI 2.0, {"co-simulation" if kind == "cs" else "model exchange"}, exported by {origin.text}
- Run it from {experiment.seconds("start"):g} s to {stop:g} s with the start values of modelDescription.xml. {inputs}
- {how}
- {" ".join(facts)}
"""
