"""[page] of a recipe or scenario: what its live page shows first, ranges of sliders, and names for people."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field, ValidationError

from fmu_builder.errors import Problem, collected, did_you_mean
from fmu_builder.model.table_model import Quantity, TableModel
from fmu_builder.model.toml_files import explain
from fmu_builder.units import Unit, parse_quantity


class PageTable(TableModel):
    """What a live page begins with."""

    plot: list[str] = Field(default_factory=list, description="variables whose curves it begins with")
    range: dict[str, tuple[Quantity, Quantity]] = Field(
        default_factory=dict, description="from and to of sliders, by parameter: numbers (SI) or texts with units"
    )
    names: dict[str, str] = Field(default_factory=dict, description="for people, by variable")


def read_page(path: Path, given: dict[str, object], problems: list[Problem]) -> PageTable:
    """The table; adds what is wrong, but for names, which are checked where the variables are known."""
    try:
        return PageTable.model_validate(given)
    except ValidationError as error:
        problems += [
            Problem(problem.where.replace(f"{path}: ", f"{path}: [page] ", 1), problem.what)
            for problem in explain(path, error, PageTable)
        ]
        return PageTable()


@dataclass(frozen=True)
class Shown:
    """A scalar of an FMU as a page sees it."""

    name: str
    unit: Unit
    is_set: bool  # a parameter or an input
    is_number: bool


@dataclass(frozen=True)
class CheckedPage:
    """`range`: SI.   Names are those of scalars."""

    plot: tuple[str, ...] = ()
    range: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        return name in self.range or name in self.names


def checked_page(
    page: PageTable, groups: Mapping[str, Sequence[Shown]], where: str
) -> tuple[CheckedPage, list[Problem]]:
    """With the names of vectors written out, and what is wrong.

    groups   the scalars by name, those of a vector by its name too
    where    the file of messages"""
    problems: list[Problem] = []
    plot: dict[str, None] = {}
    ranges: dict[str, tuple[float, float]] = {}
    computed = [name for name, group in groups.items() if not group[0].is_set]
    movable = [name for name, group in groups.items() if group[0].is_set and group[0].is_number]
    for name in page.plot:
        here = f"{where}: [page] plot {name}"
        if name not in groups:
            problems.append(_unknown(here, name, computed))
        elif groups[name][0].is_set:
            problems.append(Problem(here, "is set from outside, and has no curve: name what the FMU computes"))
        else:
            plot |= dict.fromkeys(one.name for one in groups[name])
    for name, ends in page.range.items():
        here = f"{where}: [page] range {name}"
        if name not in groups:
            problems.append(_unknown(here, name, movable))
        elif not groups[name][0].is_set or not groups[name][0].is_number:
            problems.append(Problem(here, "has no slider: name a parameter or an input that is a number"))
        else:
            for one in groups[name]:
                with collected(problems):
                    low, high = (parse_quantity(end, one.unit, here) for end in ends)
                    ranges[one.name] = (low, high)
                    if not low < high:
                        problems.append(Problem(here, f"'{ends[0]}' must be less than '{ends[1]}'"))
    for name, text in page.names.items():
        here = f"{where}: [page] names {name}"
        scalars = [one for one, group in groups.items() if group[0].name == one]
        if name not in scalars:
            problems.append(_unknown(here, name, scalars))
        elif not text.strip():
            problems.append(Problem(here, "is empty: write what a reader should see, or remove it"))
    return CheckedPage(tuple(plot), ranges, dict(page.names)), list(dict.fromkeys(problems))


def _unknown(here: str, name: str, known: Collection[str]) -> Problem:
    return Problem(here, "there is no such variable" + did_you_mean(name, known))
