"""From a recording to what breaks the rules on calls."""

from __future__ import annotations

from collections.abc import Iterator

from fmu_builder.check.findings import Finding, Found
from fmu_builder.recording.call_trials import Step
from fmu_builder.recording.file import Call, Recording
from fmu_builder.recording.life import FATAL, Life
from fmu_builder.recording.rules import AFTER_FATAL, NOT_FREED, rules_of


def check_calls(recording: Recording) -> Iterator[Finding]:
    """What breaks a rule, in the order of the calls; the line of a finding is the number of its call."""
    lives: dict[int, Life] = {}
    fatal: Call | None = None
    for call in recording.calls:
        step = Step(recording, call, lives.get(call.instance), lives)
        if fatal is not None:
            what = f"{step.name} follows {fatal.function.name} (call {fatal.number}), which answered fmi2Fatal"
            yield Finding(AFTER_FATAL, _found(recording, call, what))
        for rule in rules_of(step.name):
            yield from (Finding(rule, _found(recording, call, one.what)) for one in rule.find(step))
        if call.function.name == "fmi2Instantiate" and call.instance:
            kind = "CoSimulation" if call.inputs["fmuType"] == 1 else "ModelExchange"
            lives[call.instance] = Life(call.instance, kind, end=call.end or call.begin)
        elif call.function.name == "fmi2FreeInstance":
            lives.pop(call.instance, None)
        elif step.life is not None:
            step.life.goes_on(call)
        fatal = call if call.status == FATAL else fatal
    for life in lives.values():
        if life.last is not None and life.last.status not in (None, FATAL):
            what = f"instance {life.number} ({recording.names[life.number]}) is not freed"
            yield Finding(NOT_FREED, _found(recording, life.last, what))


def _found(recording: Recording, call: Call, what: str) -> Found:
    return Found(what, call.number, recording.path.name)
