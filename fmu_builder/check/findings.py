"""Rules of FMI 2.0, and what breaks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from fmu_builder.export.xml_files import DESCRIPTION

Level = Literal["error", "warning"]
Subject = TypeVar("Subject")


@dataclass(frozen=True)
class Found:
    """What breaks a rule: the value and why, and where.   file: in the archive     line: 0 for none"""

    what: str
    line: int = 0
    file: str = DESCRIPTION


@dataclass(frozen=True)
class Rule(Generic[Subject]):
    """A rule of the standard, declared once.

    id        letter of its group and a number: A archive, M model, U units and types, V variables, S structure,
              B behaviour     name: in words with hyphens
    section   of FMI 2.0.4
    level     `warning`: the standard advises, or importers differ
    find      yields what breaks it"""

    id: str
    name: str
    section: str
    text: str
    repair: str
    find: Callable[[Subject], Iterator[Found]]
    level: Level = "error"


@dataclass(frozen=True)
class Finding:
    """A broken rule, its place and value."""

    rule: Rule[Any]
    found: Found

    def __str__(self) -> str:
        place = f"{self.found.file}:{self.found.line}" if self.found.line else self.found.file
        rule = f"{self.rule.id} {self.rule.name} (FMI 2.0.4, {self.rule.section})"
        return f"{self.rule.level}: {place}: {self.found.what}\n    {rule}: {self.rule.repair}"
