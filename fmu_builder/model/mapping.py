"""The map of a measured CSV file (TOML): which column is which signal, in which unit, and how sure it is.

time = "t"                    # the column of the time; without it the first one
time_offset = "12 ms"         # time of the run = time of the file + offset; { start, min, max }: it is fitted
[columns]
"z [mm]" = "ball.height"                                        # the unit is that of the header
dist = { signal = "ball.height", unit = "mm", scale = -1, offset = "1.2 m", deviation = "2 mm" }
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, WithJsonSchema

from fmu_builder.errors import InputError, Problem, behind_number, collected
from fmu_builder.model.given_values import is_quantity
from fmu_builder.model.table_model import Number, Quantity, TableModel, rule
from fmu_builder.model.toml_files import explain, read_toml
from fmu_builder.units import parse_quantity, parse_unit


def _factor(value: float) -> float:
    if value == 0.0:
        raise rule("must not be 0, which would make every value of the column the same; leave it out for 1")
    return value


class ColumnEntry(TableModel):
    """A column of a measured file: signal = scale * column + offset."""

    signal: str = Field(min_length=1, description="the signal of the run that it measures, `slave.variable`")
    unit: str | None = Field(
        default=None, description="of the column; without it that of its header, else that of the signal"
    )
    scale: Annotated[Number, AfterValidator(_factor)] = Field(
        default=1.0, description="what the column is multiplied by, not 0; -1 turns its sign"
    )
    offset: Quantity = Field(default=0.0, description="what is added then, in the unit of the signal")
    deviation: Quantity | None = Field(
        default=None,
        description="standard deviation of its noise, in the unit of the signal; without it a fit estimates it",
    )
    weight: Number = Field(default=1.0, gt=0, description="factor of its residuals in a fit")


def _column(value: object) -> object:
    if isinstance(value, str):
        return {"signal": value}
    if not isinstance(value, dict | ColumnEntry):
        raise rule("must be the name of a signal, or a table { signal, unit, scale, offset, deviation, weight }")
    return value


_COLUMN_SCHEMA = {"anyOf": [{"type": "string"}, ColumnEntry.model_json_schema()]}
Column = Annotated[ColumnEntry, BeforeValidator(_column), WithJsonSchema(_COLUMN_SCHEMA)]


class OffsetEntry(TableModel):
    """A time offset that is fitted, s or texts with a unit."""

    start: Quantity = Field(default=0.0, description="with which the fit begins")
    min: Quantity = Field(description="the least")
    max: Quantity = Field(description="the largest")


def _time_offset(value: object) -> object:
    if isinstance(value, dict | OffsetEntry):
        return value
    if not is_quantity(value):
        raise rule("must be a time, s or a text such as '12 ms', or a table { start, min, max }")
    return {"start": value, "min": value, "max": value}


_OFFSET_SCHEMA = {"anyOf": [{"type": ["number", "string"]}, OffsetEntry.model_json_schema()]}
TimeOffset = Annotated[OffsetEntry, BeforeValidator(_time_offset), WithJsonSchema(_OFFSET_SCHEMA)]
FIXED = OffsetEntry(min=0.0, max=0.0)


class MeasurementMap(TableModel):
    """Which column of a measured file is which signal."""

    time: str | None = Field(default=None, description="column of the time; without it the first one")
    time_offset: TimeOffset = Field(
        default=FIXED, description="time of the run = time of the file + offset; a table { start, min, max } is fitted"
    )
    columns: dict[str, Column] = Field(
        min_length=1, description="by its header, with or without the unit there: the signal that a column measures"
    )


def read_map(path: Path) -> MeasurementMap:
    """A map in a file of its own.  Raises InputError with every key that is wrong."""
    try:
        return MeasurementMap.model_validate(read_toml(path))
    except ValidationError as error:
        raise InputError(explain(path, error, MeasurementMap)) from None


def offset_range(given: OffsetEntry, where: str, problems: list[Problem]) -> tuple[float, float, float]:
    """Start, least and largest time offset, s; all three are equal where it is fixed.  Adds what is wrong."""
    second = parse_unit("s")
    is_fixed = given.start == given.min == given.max
    values = []
    for key in ("start",) if is_fixed else ("start", "min", "max"):
        with collected(problems):
            name = "time_offset" if is_fixed else f"time_offset {key}"
            values.append(parse_quantity(getattr(given, key), second, f"{where}{name}"))
    if is_fixed and values:
        return values[0], values[0], values[0]
    if len(values) < 3:
        return 0.0, 0.0, 0.0
    start, least, largest = values
    problems += range_problems(f"{where}time_offset", start, least, largest, "s")
    return start, least, largest


def range_problems(where: str, start: float, least: float, largest: float, unit: str) -> list[Problem]:
    """What is wrong with bounds and the start value between them, all in `unit`."""
    shown = behind_number(unit)
    if not least < largest:
        what = f"min = {least:g}{shown} must be less than max = {largest:g}{shown}"
        return [Problem(where, what + ("; exchange them" if least > largest else "; without a range give its value"))]
    if not least <= start <= largest:
        what = f"start = {start:g}{shown} must be between min = {least:g}{shown} and max = {largest:g}{shown}"
        return [Problem(where, f"{what}: move it, or widen the range")]
    return []
