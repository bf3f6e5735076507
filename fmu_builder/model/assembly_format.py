"""Recipes of assemblies (TOML), read from a file or made from a scenario.

description = "..."
connections = [ ["ball.p", "floor.point"], ["a.y", "b.u"] ]      # as in scenarios: ports, or single variables
free_moment = false
[parts]       ball = "PointMass", floor = { recipe = "PointSurface", start = { C_r = 0.5 } }
[expose]      outputs = { height = "ball.p.r[3]" }, inputs = { ... }, parameters = { stiffness = "floor.C_F" },
              ports = { tip = "ball.p" }
                    # of a body's port that is connected inside: forces from outside join the sum there
[start]       stiffness = "1e5 N/m"            # start values by the names of the FMU
[experiment]  stop, step, tolerance            # defaults of the FMU

Many parts by one entry with `count`: fmu_builder/model/counted_parts.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, ValidationError

from fmu_builder.errors import InputError, Problem, collected
from fmu_builder.model.counted_parts import CountedParts
from fmu_builder.model.declaration import DefaultExperiment
from fmu_builder.model.declaration_reader import CORE_GROUPS
from fmu_builder.model.file_kinds import correct_kind
from fmu_builder.model.file_kinds import name_problems as name_of_file_problems
from fmu_builder.model.members import expand_members
from fmu_builder.model.page_table import PageTable
from fmu_builder.model.scenario import (
    CheckedScenario,
    Pair,
    SlaveEntry,
    StartValue,
)
from fmu_builder.model.table_model import Number, Quantity, TableModel, Truth
from fmu_builder.model.toml_files import explain, read_toml, refuse_fields_of_ours, without_faulty
from fmu_builder.units import parse_quantity, parse_unit

_RESERVED = ("time", "der", *CORE_GROUPS)
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(\[\d+(,\d+)*\])?", re.ASCII)


class Defaults(TableModel):
    """DefaultExperiment of the FMU; by default the longest stop and step and the smallest tolerance of the parts."""

    stop: Quantity | None = Field(default=None, description="stop time, in s or as text with a unit")
    step: Quantity | None = Field(default=None, description="communication step, in s or as text with a unit")
    tolerance: Number | None = Field(default=None, gt=0, description="relative error")


class Expose(TableModel):
    """New names of variables and ports, by the old ones: `new = "part.name"`."""

    inputs: dict[str, str] = Field(default_factory=dict, description="of inputs without a connection")
    outputs: dict[str, str] = Field(default_factory=dict, description="of outputs, also of local ones")
    parameters: dict[str, str] = Field(default_factory=dict, description="of parameters")
    ports: dict[str, str] = Field(
        default_factory=dict, description='of ports, with all their variables: `tip = "ball.p"`'
    )


class CheckedAssembly(TableModel):
    """A checked recipe of an assembly; names of variables are checked when the parts are known.

    `table`: what its parts are called where it was read from, `parts` or, in a scenario, `slaves`."""

    OURS: ClassVar = ("path", "table")

    path: Path
    table: Literal["parts", "slaves"] = "parts"
    description: str = ""
    connections: list[Pair] = Field(default_factory=list)
    free_moment: Truth = False
    parts: dict[str, SlaveEntry]
    expose: Expose = Expose()
    start: dict[str, StartValue] = Field(default_factory=dict)
    experiment: Defaults = Defaults()
    arrays: Truth = False
    page: PageTable = PageTable()

    @property
    def name(self) -> str:
        return self.path.stem


def read_assembly(path: Path) -> CheckedAssembly:
    """Read and check the recipe's own text.  Raises InputError with every problem found."""
    recipe, problems = parse_assembly(path)
    if problems:
        raise InputError(problems)
    return recipe


def parse_assembly(path: Path) -> tuple[CheckedAssembly, list[Problem]]:
    """The recipe without the connections that name no part and the keys that are wrong, and its problems: its parts can
    be checked all the same.  Raises InputError where its tables cannot be understood."""
    tables = read_toml(path)
    problems = refuse_fields_of_ours(path, tables, CheckedAssembly)
    correct_kind(path, tables, problems)
    if tables.pop("drawing", None) is not None:
        what = "has no effect: each part is drawn as its own recipe says; write it there, or remove it"
        problems.append(Problem(f"{path}: [drawing]", what))
    counted: CountedParts | None = None
    if isinstance(tables.get("parts"), dict):
        counted, unknown = expand_members(path, "part", tables, problems)
        problems += unknown
        if counted is not None and isinstance(expose := tables.get("expose"), dict):
            where = f"{path}: [expose]"
            tables["expose"] = {
                key: counted.expositions(f"{where} {key}", names, problems) for key, names in expose.items()
            }
    try:
        recipe = CheckedAssembly.model_validate({"path": path, **tables})
    except ValidationError as error:
        problems += explain(path, error, CheckedAssembly)
        sound = without_faulty(tables, error, ("connections", "expose", "page"), "parts")
        if sound.get("expose") != tables.get("expose"):
            sound.pop("start", None)  # which may be of parameters that are exposed
        try:
            recipe = CheckedAssembly.model_validate({"path": path, **sound})
        except ValidationError:
            raise InputError(problems) from None
    problems += _own_problems(recipe)
    if counted is None or not recipe.parts:
        raise InputError(problems)
    connections = [
        pair for pair in recipe.connections if all("." in end and end.partition(".")[0] in recipe.parts for end in pair)
    ]
    return recipe.model_copy(update={"connections": connections}), problems


def _own_problems(recipe: CheckedAssembly) -> Iterator[Problem]:
    for name, part in recipe.parts.items():
        if part.mass is not None:
            yield Problem(
                f"{recipe.path}: [parts] {name} mass", "is for slaves of a scenario; that of a part is known: remove it"
            )
        if part.step is not None:
            what = "is for slaves of a scenario; the parts of an assembly have one solver: remove it"
            yield Problem(f"{recipe.path}: [parts] {name} step", what)
        for key in ("call_limit", "memory_limit", "isolated"):
            if getattr(part, key):
                what = "is for slaves of a scenario; the parts of an assembly are one FMU: remove it"
                yield Problem(f"{recipe.path}: [parts] {name} {key}", what)
    path = recipe.path
    yield from name_of_file_problems(path)
    for name in recipe.parts:
        if name in _RESERVED:
            yield Problem(f"{path}: [{recipe.table}] {name}", f"'{name}' is taken: choose another name for this part")
    for table in ("inputs", "outputs", "parameters", "ports"):
        for name in getattr(recipe.expose, table):
            if not _NAME.fullmatch(name):
                what = "a name consists of letters, digits, _ and dots, such as height or tip.r[3]"
                yield Problem(f"{path}: [expose] {table} {name}", what)


def default_experiment(
    recipe: CheckedAssembly, parts: Sequence[DefaultExperiment], problems: list[Problem]
) -> DefaultExperiment:
    """DefaultExperiment of the FMU, from the recipe and those of its parts; adds problems of the recipe's."""
    found = {}
    for key in ("stop", "step"):
        value = getattr(recipe.experiment, key)
        found[key] = max(getattr(part, key) for part in parts)
        if value is not None:
            where = f"{recipe.path}: [experiment] {key}"
            with collected(problems):
                found[key] = parse_quantity(value, parse_unit("s"), where)
                if not found[key] > 0:
                    problems.append(Problem(where, f"{value!r} must be greater than 0"))
                    found[key] = 1.0
    if found["step"] > found["stop"]:  # a key that is not given follows the other one
        if recipe.experiment.step is None:
            found["step"] = found["stop"]
        elif recipe.experiment.stop is None:
            found["stop"] = found["step"]
        else:
            what = f"{found['step']:g} s must not be longer than stop = {found['stop']:g} s"
            problems.append(Problem(f"{recipe.path}: [experiment] step", what))
    tolerance = recipe.experiment.tolerance or min(part.tolerance for part in parts)
    return DefaultExperiment(stop=found["stop"], step=found["step"], tolerance=tolerance)


def recipe_of_scenario(scenario: CheckedScenario) -> CheckedAssembly:
    """The scenario as the recipe of an assembly: slaves become parts, constant drives become start values.

    Raises InputError for what one FMU cannot hold: other FMUs, and signals over time."""
    problems = []
    parts = {name: entry.start for name, entry in scenario.slaves.items()}
    for name, drive in scenario.drive.items():
        part, _, variable = name.partition(".")
        if drive.table is not None or drive.time is None or drive.value is None or len(set(drive.value)) > 1:
            what = "a signal over time cannot become part of a model: leave the input open and drive it from outside"
            problems.append(Problem(f"{scenario.path}: [drive] {name}", what))
        elif part in parts:
            parts[part] = {**parts[part], variable: drive.value[0]}
    experiment = scenario.experiment
    recipe = CheckedAssembly(
        path=scenario.path,
        table="slaves",
        description=scenario.description,
        connections=scenario.connections,
        free_moment=scenario.free_moment,
        parts={name: SlaveEntry(recipe=e.recipe, start=parts[name]) for name, e in scenario.slaves.items()},
        experiment=Defaults(
            stop=scenario.seconds("stop") - scenario.seconds("start"),
            step=scenario.seconds("output_step"),
            tolerance=experiment.tolerance,
        ),
    )
    problems += _own_problems(recipe)
    if problems:
        raise InputError(problems)
    return recipe
