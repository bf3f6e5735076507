"""From an FMU to what breaks the rules in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fmu_builder.check import archive_rules, behaviour_rules, description_rules, structure_rules, variable_rules
from fmu_builder.check.behaviour import TIMEOUT, behaviour, missing_library
from fmu_builder.check.document import Fmu
from fmu_builder.check.findings import Finding, Rule
from fmu_builder.files import path_given

_OF_ARCHIVE = archive_rules.RULES
_OF_DESCRIPTION = (*description_rules.RULES, *variable_rules.RULES, *structure_rules.RULES)
_OF_CALLS = (behaviour_rules.ENDS, behaviour_rules.LOADS, *behaviour_rules.RULES)
RULES: tuple[Rule[Any], ...] = (*_OF_ARCHIVE, description_rules.SCHEMA, *_OF_DESCRIPTION, *_OF_CALLS)


@dataclass(frozen=True)
class CheckReport:
    """What breaks the rules in an FMU.

    findings  each with its `rule` (id, name, section, level, text, repair) and what was `found` (what, line, file)
    notes     what was not checked, and why"""

    path: Path
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    @property
    def errors(self) -> int:
        """The number of findings beside warnings."""
        return sum(finding.rule.level == "error" for finding in self.findings)


def check_fmu(path: Path | str, timeout: float | None = TIMEOUT) -> CheckReport:
    """The FMU against all rules.  Raises InputError for a file that is no FMI 2.0 FMU.

    timeout   s for its calls, which a process of its own makes; None: it is not called"""
    path = path_given(path, "path")
    fmu = Fmu(path)
    notes: list[str] = []
    findings = list(_broken(fmu, (description_rules.SCHEMA,)))
    if findings:
        notes.append("the other rules on modelDescription.xml and those on calls were not tried, for it is not valid")
    else:
        findings += _broken(fmu, _OF_DESCRIPTION)
        if timeout is not None:
            missing = missing_library(fmu)
            if missing:
                notes.append(f"the rules on calls were not tried: {missing}")
            else:
                findings += behaviour(fmu, notes, timeout)
    return CheckReport(path, (*_broken(fmu, _OF_ARCHIVE), *findings), tuple(notes))


def _broken(fmu: Fmu, rules: tuple[Rule[Fmu], ...]) -> Iterator[Finding]:
    for rule in rules:
        yield from (Finding(rule, found) for found in rule.find(fmu))
