"""Base of the pydantic models of tables in files, and the types of their values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat, Strict, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from fmu_builder.errors import InputError
from fmu_builder.model.given_values import is_quantity
from fmu_builder.model.toml_files import explain
from fmu_builder.units import limits_text

KIND = "kind"  # the key that says which of several models a table has

if TYPE_CHECKING:
    _Base = BaseModel
else:

    class _Explained(type(BaseModel)):
        """Faults of a model that is made in Python are an InputError; those of one inside another stay its part."""

        def __call__(cls, *given: object, **fields: object) -> object:
            try:
                return super().__call__(*given, **fields)
            except ValidationError as error:
                where = Path(f"{fields.get('name') or cls.__name__}()")
                raise InputError(explain(where, error, cls)) from None

    class _Base(BaseModel, metaclass=_Explained):
        pass


class TableModel(_Base):
    """A table of a file.  Made in Python it raises InputError with every field that is unknown, missing or wrong."""

    # validators are made when they are first used: a reader of files takes the fields of most models only
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


Models = type[TableModel] | Mapping[str, type[TableModel]]  # of a table, or by its `kind`


def models_of(module: ModuleType | None, tables: str) -> Mapping[str, Models | None]:
    """The models of each of the TABLES or LISTS of structure.py; None where it has a name only."""
    declared: Collection[str] = getattr(module, tables, ())
    return declared if isinstance(declared, Mapping) else dict.fromkeys(declared)


@dataclass(frozen=True)
class In:
    """Unit and limits of a quantity, or of each of several: greater than `above`, at least `least`, less than `below`.

    unit   of two, the other keys of the table select one"""

    unit: str | tuple[str, str]
    above: float | None = None
    least: float | None = None
    below: float | None = None

    @staticmethod
    def of(field: FieldInfo) -> In | None:
        """What a field declares."""
        return next((one for one in field.metadata if isinstance(one, In)), None)

    def broken_by(self, number: float) -> str:
        """What a number in the SI unit is not: `greater than 0 m`; "" if it keeps within the limits."""
        if self.above is not None and not number > self.above:
            limit = f"greater than {self.above:g}"
        elif self.least is not None and not number >= self.least:
            limit = f"at least {self.least:g}"
        elif self.below is not None and not number < self.below:
            limit = f"less than {self.below:g}"
        else:
            return ""
        return limit if self.unit == "1" else f"{limit} {self.unit}"

    def __str__(self) -> str:
        units = " or ".join((self.unit,) if isinstance(self.unit, str) else self.unit)
        return ", ".join(filter(None, (units, limits_text(self.least, self.above, None, self.below))))


def rule(text: str) -> PydanticCustomError:
    """What a validator raises, in our words."""
    return PydanticCustomError("rule", text)


def _quantity(value: object) -> object:
    value = _listed(value)
    if not is_quantity(value):
        raise rule("must be a number (SI) or a text with a unit such as '1 ms'")
    return value


def _listed(value: Any) -> object:
    """An array of numpy as a list, a scalar of numpy as one of Python."""
    return value.tolist() if hasattr(value, "tolist") else value


def python_value(value: Any) -> Any:
    """Arrays of numpy and tuples as lists, scalars of numpy as those of Python."""
    value = _listed(value)
    return [python_value(one) for one in value] if isinstance(value, list | tuple) else value


def _list(value: object) -> Sequence[object]:
    value = _listed(value)
    if not isinstance(value, list | tuple):
        raise rule("must be a list")
    return value


def _pair(value: object) -> object:
    pair = _list(value)
    if len(pair) != 2:
        raise rule("must be a list of two quantities")
    return pair


def _points(value: object) -> object:
    value = _listed(value)
    if not isinstance(value, list | tuple | str):
        raise rule("must be a list of points, or the name of a CSV file")
    return value


def _truth(value: object) -> object:
    value = _listed(value)
    if not isinstance(value, bool):
        raise rule("must be true or false")
    return value


def _whole(value: object) -> object:
    value = _listed(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise rule("must be a whole number")
    return value


# pydantic by itself reads texts, "yes" and "3", and truth values as numbers
Truth = Annotated[bool, BeforeValidator(_truth)]
Number = Annotated[FiniteFloat, Strict()]
Whole = Annotated[int, BeforeValidator(_whole)]
Count = Annotated[int, Field(ge=1), BeforeValidator(_whole)]
Quantity = Annotated[int | float | str, BeforeValidator(_quantity)]
"""A number in the SI unit, or a text with a unit."""
Quantities = Annotated[Sequence[Quantity], BeforeValidator(_list)]
"""A list of quantities."""
Pair = Annotated[Sequence[Quantity], Field(min_length=2, max_length=2), BeforeValidator(_pair)]
"""A list of two quantities."""
Points = Annotated[Sequence[Quantities] | str, BeforeValidator(_points)]
"""A list of points, or the name of a CSV file of them."""
WholeNumbers = Annotated[Sequence[Whole], BeforeValidator(_list)]
