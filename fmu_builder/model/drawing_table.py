"""[drawing] of a recipe: how pictures show its element."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from fmu_builder.errors import Problem, collected, did_you_mean
from fmu_builder.model.given_values import truth
from fmu_builder.model.table_model import TableModel, Truth

COLOR = "^#[0-9a-fA-F]{6}$"


class Drawing(TableModel):
    """For pictures only."""

    color: str = Field(default="", pattern=COLOR, description="of its shape, as '#c04020'")
    visible: Truth = Field(default=True, description="false: the element is not drawn")


def read_drawing(path: Path, given: Mapping[str, object], problems: list[Problem]) -> Drawing:
    """The table without what is wrong, which is added to the problems."""
    before = len(problems)
    for key, value in given.items():
        where = f"{path}: [drawing] {key}"
        if key not in Drawing.model_fields:
            problems.append(Problem(where, "this key is unknown" + did_you_mean(key, Drawing.model_fields)))
        elif Drawing.model_fields[key].annotation is bool:
            with collected(problems):
                truth(value, where)
        elif not (isinstance(value, str) and re.fullmatch(COLOR, value)):
            what = f"{value!r} must be a colour as '#c04020': red, green and blue from 00 to ff"
            problems.append(Problem(where, what))
    return Drawing() if len(problems) > before else Drawing.model_validate(given)
