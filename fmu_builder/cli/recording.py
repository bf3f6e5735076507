"""`record` and `calls`: FMUs that record their calls, and what they recorded."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from fmu_builder.check.findings import Finding
from fmu_builder.check.output import finding_json, findings_text
from fmu_builder.cli.printing import line, print_notes
from fmu_builder.recording.checking import check_calls
from fmu_builder.recording.file import Recording
from fmu_builder.recording.replay import replay_calls
from fmu_builder.recording.text import Filter, as_json, chosen, lines, summary, summary_lines, text_of
from fmu_builder.recording.wrapping import record_fmu


def record(fmu: Path, output: Path | None, into: Path | None, json_wanted: bool) -> None:
    made = record_fmu(fmu, output, into)
    if json_wanted:
        print(
            json.dumps(
                {
                    "fmu": str(made.path),
                    "into": str(made.folder),
                    "platforms": list(made.platforms),
                    "notes": list(made.notes),
                },
                indent=2,
            )
        )
        return
    print_notes(made.notes)
    line(str(made.path))


def print_calls(file: Path, wanted: Filter, summed: bool, json_wanted: bool) -> None:
    recording = Recording(file)
    calls = chosen(recording, wanted)
    if json_wanted:
        found = summary(recording, calls) if summed else as_json(recording, calls)
        print(json.dumps(found, indent=2))
        return
    print_notes(_notes(recording))
    for text in summary_lines(summary(recording, calls)) if summed else lines(recording, calls):
        line(text)


def check_recording(file: Path, json_wanted: bool) -> None:
    """Print what breaks rules.  Exit code 1 if it is more than warnings."""
    recording = Recording(file)
    findings = list(check_calls(recording))
    errors = sum(finding.rule.level == "error" for finding in findings)
    if json_wanted:
        found = {"file": str(file), "errors": errors, "warnings": len(findings) - errors}
        print(json.dumps({**found, "findings": [_finding_json(one) for one in findings]}, indent=2))
    else:
        print_notes(_notes(recording))
        for text in findings_text(file.name, findings):
            line(text)
    if errors:
        raise typer.Exit(1)


def replay_recording(file: Path, fmu: Path, json_wanted: bool) -> None:
    """Print the first answer that differs.  Exit code 1 if there is one."""
    found = replay_calls(Recording(file), fmu)
    one = found.difference
    if json_wanted:
        difference = None if one is None else {"call": one.call.number, "function": one.call.function.name}
        if one is not None and difference is not None:
            difference |= {"what": one.what, "recorded": one.recorded, "repeated": one.repeated}
        total = len(found.recording.calls)
        print(
            json.dumps({"calls": total, "same": found.calls, "difference": difference, "notes": found.notes}, indent=2)
        )
    else:
        print_notes((*_notes(found.recording), *found.notes))
        if one is None:
            line(f"{fmu.name}: the answers to {found.calls} calls are the recorded ones, to the bit")
        else:
            line(f"{fmu.name}: call {one.call.number} differs, after {found.calls} calls with the recorded answers")
            line(f"    {text_of(found.recording, one.call)}")
            line(f"    {one.what}: recorded {one.recorded}, repeated {one.repeated}")
    if one is not None:
        raise typer.Exit(1)


def _finding_json(finding: Finding) -> dict[str, object]:
    """As of `check`, with the number of the call in the place of a line."""
    found = finding_json(finding)
    return {"call" if key == "line" else key: value for key, value in found.items()}


def _notes(recording: Recording) -> list[str]:
    return [] if recording.is_whole else ["the disk became full: calls are missing at the end"]
