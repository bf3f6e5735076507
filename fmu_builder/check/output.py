"""What was found as text, JSON and SARIF 2.1.0, and the table of the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fmu_builder.check.findings import Finding, Rule
from fmu_builder.check.report import RULES, CheckReport
from fmu_builder.paths import own_version

_MOST = 10  # findings of one rule that are shown as text


def findings_text(name: str, findings: Sequence[Finding]) -> Iterator[str]:
    """Findings, and how many there are in what has this name."""
    shown: Counter[str] = Counter()
    for finding in findings:
        shown[finding.rule.id] += 1
        if shown[finding.rule.id] <= _MOST:
            yield str(finding)
    for rule, count in shown.items():
        if count > _MOST:
            yield f"{rule}: {count - _MOST} more"
    errors = sum(finding.rule.level == "error" for finding in findings)
    yield f"{name}: {_count(errors, 'error')}, {_count(len(findings) - errors, 'warning')}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def as_json(report: CheckReport) -> dict[str, Any]:
    return {
        "fmu": str(report.path),
        "errors": report.errors,
        "warnings": len(report.findings) - report.errors,
        "notes": list(report.notes),
        "findings": [finding_json(finding) for finding in report.findings],
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    place = {"file": finding.found.file, "line": finding.found.line or None}
    return {**rule_json(finding.rule), **place, "found": finding.found.what}


def rule_json(rule: Rule[Any]) -> dict[str, str]:
    keys = ("id", "name", "section", "level", "text", "repair")
    return {key: getattr(rule, key) for key in keys}


def rules_text() -> Iterator[str]:
    for rule in RULES:
        level = "" if rule.level == "error" else f" ({rule.level})"
        yield f"{rule.id} {rule.name}, {rule.section}{level}: {rule.text}"


def rules_table(rules: Sequence[Rule[Any]] = RULES) -> str:
    """The rules as a table of Markdown."""
    rows = [f"| {rule.id} | {rule.name} | {rule.section} | {rule.text} |" for rule in rules]
    return "\n".join(["| rule | name | section | what it asks for |", "|---|---|---|---|", *rows])


def as_sarif(report: CheckReport) -> dict[str, Any]:
    """SARIF 2.1.0: the FMU is an artifact, its files are artifacts inside it."""
    files = sorted({finding.found.file for finding in report.findings})
    place = {file: number for number, file in enumerate(files, 1)}
    rules: Sequence[Rule[Any]] = RULES
    index = {rule.id: number for number, rule in enumerate(rules)}
    notes = [{"level": "note", "message": {"text": note}} for note in report.notes]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "fmu-builder check",
                        "version": own_version(),
                        "rules": [_sarif_rule(rule) for rule in rules],
                    }
                },
                "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
                "artifacts": [
                    {"location": {"uri": _uri(report.path)}},
                    *({"location": {"uri": quote(file)}, "parentIndex": 0} for file in files),
                ],
                "results": [
                    _sarif_result(finding, index[finding.rule.id], place[finding.found.file])
                    for finding in report.findings
                ],
            }
        ],
    }


def _uri(path: Path) -> str:
    """With a scheme if it is absolute: a path that begins with a slash is no reference that a reader can resolve."""
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _sarif_rule(rule: Rule[Any]) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.text},
        "help": {"text": rule.repair},
        "defaultConfiguration": {"level": rule.level},
        "properties": {"section": rule.section},
    }


def _sarif_result(finding: Finding, rule: int, artifact: int) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": quote(finding.found.file), "index": artifact}}
    if finding.found.line:
        location["region"] = {"startLine": finding.found.line}
    return {
        "ruleId": finding.rule.id,
        "ruleIndex": rule,
        "level": finding.rule.level,
        "message": {"text": f"{finding.found.what}; {finding.rule.repair}"},
        "locations": [{"physicalLocation": location}],
    }
