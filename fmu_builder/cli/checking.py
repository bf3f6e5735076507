"""`check`: what breaks the rules of FMI 2.0 in an FMU, and the rules themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import typer

from fmu_builder.check.output import as_json, as_sarif, findings_text, rule_json, rules_text
from fmu_builder.check.report import RULES, check_fmu
from fmu_builder.cli.printing import line, print_notes


def check(fmu: Path, form: Literal["text", "json", "sarif"], timeout: float | None) -> None:
    """Print what is found.  Exit code 1 if it is more than warnings.   timeout: of check_fmu"""
    report = check_fmu(fmu, timeout)
    if form == "text":
        print_notes(report.notes)
        for text in findings_text(report.path.name, report.findings):
            line(text)
    else:
        print(json.dumps(as_json(report) if form == "json" else as_sarif(report), indent=2))
    if report.errors:
        raise typer.Exit(1)


def print_rules(json_wanted: bool) -> None:
    if json_wanted:
        print(json.dumps([rule_json(rule) for rule in RULES], indent=2))
        return
    for text in rules_text():
        line(text)
