"""The file of a fit (TOML): a system, the parameters to be fitted with their bounds, and the measurements.

scenario = "drop.toml"                    # a scenario, recipe, .fmu or .ssp, or the name of a recipe or case
experiment = { stop = "1 s" }             # in place of those of the scenario
[parameters]
"floor.C_r" = { start = 0.6, min = 0.2, max = 0.95 }
"floor.C_F" = { start = "5e4 N/m", min = "1e4 N/m", max = "1e6 N/m", log = true }
[[measurement]]
file = "bounces.csv"
start = { "ball.r0[3]" = "1 m" }          # start values of the run that this file measures
time_offset = { min = "-20 ms", max = "20 ms" }
columns = { "z [mm]" = "ball.p.r[3]" }    # as in a map of `compare` (model/mapping.py)
[method]
scan = 32
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema

from fmu_builder.errors import InputError, Problem, did_you_mean
from fmu_builder.model.documents import Document
from fmu_builder.model.mapping import MeasurementMap
from fmu_builder.model.scenario import StartValue
from fmu_builder.model.table_model import Count, Number, Quantity, TableModel, Truth, Whole, rule
from fmu_builder.model.toml_files import explain, read_about_system, refuse_fields_of_ours, without_faulty
from fmu_builder.paths import shipped


class FitParameter(TableModel):
    """A start value that is fitted, in SI or as texts with a unit."""

    start: Quantity = Field(description="with which the fit begins")
    min: Quantity = Field(description="the least, not below that of the variable")
    max: Quantity = Field(description="the largest, not above that of the variable")
    log: Truth = Field(default=False, description="true: its logarithm is fitted; for one that spans decades")


class FitMeasurement(MeasurementMap):
    """A measured file, with its map, and the start values of the run that it measures."""

    file: str = Field(min_length=1, description="a CSV file; its folder counts from that of the fit")
    start: dict[str, StartValue] = Field(
        default_factory=dict, description='start values of this run, by "slave.variable", besides those of the scenario'
    )


class FitExperiment(TableModel):
    """Times in place of those of the scenario, s or texts with a unit."""

    stop: Quantity | None = Field(default=None, description="time at which each run ends")
    step: Quantity | None = Field(
        default=None, description="communication step, and that of the rows unless output_step is a multiple of it"
    )


class FitMethod(TableModel):
    """How the parameters are found."""

    scan: Whole = Field(
        default=32, ge=0, le=100_000, description="points of a Sobol sequence between the bounds that are tried first"
    )
    windows: Whole = Field(
        default=3,
        ge=1,
        le=12,
        description="of the samples: at first the fit sees 1/2^(n-1) of them, then twice as many each time",
    )
    loss: Literal["linear", "soft_l1", "huber", "cauchy"] = Field(
        default="linear", description="of the last window; the others are for samples with outliers"
    )
    derivatives: Literal["auto", "differences"] = Field(
        default="auto", description="auto: exact ones along the run where the system is one FMU of fmu-builder"
    )
    difference: Number = Field(
        default=1e-4, gt=0, le=0.1, description="step of the difference quotients, as a share of the range"
    )
    max_evaluations: Count = Field(default=60, description="most iterations in a window")
    confidence: Number = Field(default=0.95, gt=0, lt=1, description="of the intervals")


def _scenario(value: object) -> object:
    if not isinstance(value, str | Document):
        raise rule("must be the name or file of a scenario, recipe, .fmu or .ssp; in Python also a document")
    return value


class Fit(Document):
    """Parameters of a system that are fitted to measured files."""

    OURS: ClassVar = ("name",)

    description: str | None = Field(default=None, description="what is fitted to what")
    scenario: Annotated[Any, BeforeValidator(_scenario), WithJsonSchema({"type": "string"})] = Field(
        description="a scenario, recipe, .fmu or .ssp, or the name of a recipe or case"
    )
    experiment: FitExperiment = Field(default=FitExperiment(), description="other times of the runs")
    parameters: dict[str, FitParameter] = Field(
        min_length=1, description='what is fitted: start values by "slave.variable"; of a single FMU by variable'
    )
    measurement: list[FitMeasurement] = Field(min_length=1, description="the measured files")
    method: FitMethod = Field(default=FitMethod(), description="how")


def find_fit(name: str) -> Path:
    """A fit by path, or by its name in the current folder or among the shipped ones.  Raises InputError."""
    path, folder = Path(name), shipped("fmus") / "fits"
    if path.suffix in (".toml", ".fmu", ".ssp"):  # the last two are reported where they are read
        return path
    for found in (Path(f"{name}.toml"), folder / f"{name}.toml"):
        if found.is_file():
            return found
    known = [one.stem for one in folder.glob("*.toml")]
    what = "there is no fit of this name; give a .toml file" + did_you_mean(name, known)
    raise InputError(Problem(name or "''", what))


def read_fit(path: Path) -> tuple[Fit, list[Problem]]:
    """The fit without the entries that are wrong, and what is wrong with these, so that the others can be checked.

    Raises InputError where nothing is left to check."""
    tables = read_about_system(path, "fit", "scenario")
    problems = refuse_fields_of_ours(path, tables, Fit)
    try:
        return Fit.model_validate(tables), problems
    except ValidationError as error:
        problems += explain(path, error, Fit)
        try:
            return Fit.model_validate(without_faulty(tables, error, tables.keys())), problems
        except ValidationError:
            raise InputError(problems) from None
