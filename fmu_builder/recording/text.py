"""Calls as lines of text and as JSON, and what they sum up to."""

from __future__ import annotations

import fnmatch
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fmu_builder.errors import InputError, Problem, did_you_mean, listed
from fmu_builder.export.smoke import EVENT_FLAGS, STATUS, status_name
from fmu_builder.recording.fields import Value
from fmu_builder.recording.file import Call, Message, Recording
from fmu_builder.recording.functions import BY_NAME

_SHOWN = 8  # values of an array
_KINDS = ("fmi2DoStepStatus", "fmi2PendingStatus", "fmi2LastSuccessfulTime", "fmi2Terminated")
_TYPES = ("fmi2ModelExchange", "fmi2CoSimulation")
_WHAT = {
    "--function": "the functions of FMI 2.0",
    "--status": "the answers of FMI 2.0",
    "--variable": "the variables of the FMU",
}
UNFINISHED = "did not return: it crashed or was ended here, or is still running"


@dataclass(frozen=True)
class Filter:
    """Which calls are shown: those that fit all that is given.

    functions  names, with or without fmi2, with * for any text     instances  numbers or names
    statuses   names, with or without fmi2                          variables  names, with * for any text
    begin, end  s since the recording began
    last       so many of those that are left, None for all"""

    functions: Sequence[str] = ()
    instances: Sequence[str] = ()
    statuses: Sequence[str] = ()
    variables: Sequence[str] = ()
    begin: float = -math.inf
    end: float = math.inf
    last: int | None = None


def chosen(recording: Recording, wanted: Filter) -> list[Call]:
    """Raises InputError for a name that fits nothing there could be."""
    problems: list[Problem] = []
    functions = _matching("--function", wanted.functions, [*BY_NAME], "fmi2", problems)
    statuses = {STATUS.index(one) for one in _matching("--status", wanted.statuses, STATUS, "fmi2", problems)}
    instances = _instances(recording, wanted.instances, problems)
    names = sorted({v.name for v in recording.description.variables}) if wanted.variables else []
    variables = _matching("--variable", wanted.variables, names, "", problems)
    if problems:
        raise InputError(problems)
    found = [
        call
        for call in recording.calls
        if wanted.begin <= call.begin <= wanted.end
        and (not wanted.functions or call.function.name in functions)
        and (not wanted.statuses or call.status in statuses)
        and (not wanted.instances or call.instance in instances)
        and (not wanted.variables or not variables.isdisjoint(_variables(recording, call)))
    ]
    return found if wanted.last is None else found[max(0, len(found) - wanted.last) :]


def _matching(
    where: str, patterns: Sequence[str], names: Collection[str], prefix: str, problems: list[Problem]
) -> set[str]:
    found: set[str] = set()
    for pattern in patterns:
        literal = pattern.replace("[", "[[]")  # the brackets of vectors are no choice of characters
        some = {one for one in names if fnmatch.fnmatchcase(one, literal)}
        some |= {one for one in names if prefix and fnmatch.fnmatchcase(one, prefix + literal)}
        if not some:
            problems.append(Problem(where, f"'{pattern}' fits none of {_WHAT[where]}" + did_you_mean(pattern, names)))
        found |= some
    return found


def _instances(recording: Recording, wanted: Sequence[str], problems: list[Problem]) -> set[int]:
    found: set[int] = set()
    for one in wanted:
        some = {k for k, name in enumerate(recording.names) if k and one in (name, str(k))}
        if not some:
            problems.append(Problem("--instance", f"'{one}' is none" + did_you_mean(one, recording.names[1:])))
        found |= some
    return found


def _variables(recording: Recording, call: Call) -> Iterator[str]:
    for key in ("vr", "vUnknown_ref", "vKnown_ref"):
        for reference in _array(call.inputs.get(key)):
            yield recording.name_of(call.function.family or "Real", int(reference))


def _array(value: Value) -> list[Any]:
    return value if isinstance(value, list) else []


# ---- lines -------------------------------------------------------------------------------------------------------


def lines(recording: Recording, calls: Sequence[Call]) -> Iterator[str]:
    """A line for each call, below it one for each message that the FMU sent in it."""
    width = max((len(recording.names[call.instance]) for call in calls), default=0)
    messages: dict[int, list[Message]] = {}
    for message in recording.messages:
        messages.setdefault(message.call, []).append(message)
    threads = len({call.thread for call in recording.calls}) > 1
    for call in calls:
        thread = f"{call.thread:3d} " if threads else ""
        duration = "" if call.duration is None else si(call.duration)
        name = recording.names[call.instance]
        yield f"{call.number:7d} {call.begin:12.6f} s {duration:>9} {thread} {name:{width}} {text_of(recording, call)}"
        for message in messages.get(call.number, ()):
            yield f"{'':33} {message_text(message)}"


def message_text(message: Message) -> str:
    if message.kind != "logger":
        return f"stepFinished({status_name(message.status)})"
    return f"logger({status_name(message.status)}, {message.category}): {message.text}"


def si(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def text_of(recording: Recording, call: Call) -> str:
    """`fmi2SetReal(k = 2) fmi2OK`, `fmi2GetReal(x) fmi2OK: 0.5`"""
    inputs = ", ".join(_arguments(recording, call))
    if call.status is None:
        return f"{call.function.name}({inputs}) {UNFINISHED}"
    if call.function.name == "fmi2Instantiate":
        return f"{call.function.name}({inputs}) {f'instance {call.instance}' if call.instance else 'NULL'}"
    no_status = call.function.name == "fmi2FreeInstance" or "text" in call.function.outputs
    answer = "" if no_status else status_name(call.status)
    outputs = ", ".join(_results(call))
    return f"{call.function.name}({inputs}) {answer}" + (f": {outputs}" if outputs else "")


def _arguments(recording: Recording, call: Call) -> Iterator[str]:
    inputs = call.inputs
    if "vr" in inputs:
        references = _array(inputs["vr"])
        names = [recording.name_of(call.function.family, one) for one in references[:_SHOWN]]
        values = [_array(inputs[key]) for key in ("order", "value") if key in inputs]
        shown = [f"{name} = {', '.join(_value(v) for v in rest)}" for name, *rest in zip(names, *values, strict=False)]
        yield listed(shown if values else names, _SHOWN) + _more(references)
        return
    for key, value in inputs.items():
        if key in ("vUnknown_ref", "vKnown_ref"):
            names = [recording.name_of("Real", one) for one in _array(value)[:_SHOWN]]
            yield f"{key} = {', '.join(names)}{_more(_array(value))}"
        elif key == "kind" and isinstance(value, int) and 0 <= value < len(_KINDS):
            yield _KINDS[value]
        elif key == "fmuType" and value in (0, 1):
            yield _TYPES[int(value)]
        elif key != "callbacks":
            yield f"{key} = {_value(value)}"


def _results(call: Call) -> Iterator[str]:
    for key, value in call.outputs.items():
        if key == "flags":
            flags = [name for name, is_set in zip(EVENT_FLAGS, _array(value), strict=True) if is_set]
            yield ", ".join(flags) or "no flag"
        elif key == "nextEventTime":
            if _array(call.outputs["flags"])[4]:
                yield f"at {value!r} s"
        else:
            yield _value(value)


def _more(values: Sequence[object]) -> str:
    return f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""


def _value(value: Value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, list):
        return ", ".join(_value(one) for one in value[:_SHOWN]) + _more(value)
    return repr(value)


# ---- sums --------------------------------------------------------------------------------------------------------


def summary(recording: Recording, calls: Sequence[Call]) -> dict[str, Any]:
    """Instances, and for each function how often it was called, with which answers and for how long."""
    functions: dict[str, dict[str, Any]] = {}
    for call in calls:
        one = functions.setdefault(
            call.function.name, {"calls": 0, "seconds": 0.0, "longest": 0.0, "status": Counter()}
        )
        one["calls"] += 1
        one["seconds"] += call.duration or 0.0
        one["longest"] = max(one["longest"], call.duration or 0.0)
        one["status"]["did not return" if call.status is None else status_name(call.status)] += 1
    shown = {call.instance for call in calls} - {0}
    ends = [call.end if call.end is not None else call.begin for call in calls]
    return {
        "file": str(recording.path),
        "calls": len(calls),
        "threads": len({call.thread for call in calls}),
        "seconds": max(ends, default=0.0) - min((call.begin for call in calls), default=0.0),
        "is_whole": recording.is_whole,
        "instances": [{"number": k, "name": recording.names[k]} for k in sorted(shown)],
        "functions": {name: {**one, "status": dict(one["status"])} for name, one in functions.items()},
    }


def summary_lines(found: Mapping[str, Any]) -> Iterator[str]:
    counts = {"call": found["calls"], "instance": len(found["instances"]), "thread": found["threads"]}
    counted = ", ".join(f"{n} {what}" + ("" if n == 1 else "s") for what, n in counts.items())
    yield f"{counted}, {found['seconds']:.6g} s"
    names = found["functions"]
    width = max((len(name) for name in names), default=0)
    yield f"{'':{width}}   calls       time       mean    longest  answers"
    for name, one in sorted(names.items(), key=lambda item: -item[1]["seconds"]):
        mean = si(one["seconds"] / one["calls"])
        answers = ", ".join(f"{count} {status}" for status, count in one["status"].items())
        times = f"{si(one['seconds']):>10} {mean:>10} {si(one['longest']):>10}"
        yield f"{name:{width}} {one['calls']:7d} {times}  {answers}"


def as_json(recording: Recording, calls: Sequence[Call]) -> dict[str, Any]:
    """All values; of bytes their hexadecimal digits.  What is not finite is text."""
    chosen = {call.number for call in calls}
    return {
        "summary": summary(recording, calls),
        "calls": [
            {
                "number": call.number,
                "function": call.function.name,
                "instance": call.instance,
                "thread": call.thread,
                "begin": call.begin,
                "duration": call.duration,
                "status": None if call.status is None else status_name(call.status),
                "inputs": {key: _plain(value) for key, value in call.inputs.items()},
                "outputs": {key: _plain(value) for key, value in call.outputs.items()},
            }
            for call in calls
        ],
        "messages": [
            {
                "call": message.call,
                "time": message.time,
                "kind": message.kind,
                "status": status_name(message.status),
                "category": message.category,
                "text": message.text,
            }
            for message in recording.messages
            if message.call in chosen
        ],
    }


def _plain(value: Value) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
