"""Recorded calls repeated on an FMU, in a process of its own: the first answer that differs, in its bits."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fmu_builder.check.behaviour import host_library_name, missing_library, run_alone
from fmu_builder.check.document import Fmu, by_reference
from fmu_builder.check.trial import PENDING
from fmu_builder.errors import InputError, Problem, SlaveError
from fmu_builder.export.archive import unpack_to_call
from fmu_builder.export.toolchain import host_platform
from fmu_builder.recording.file import Call, Recording
from fmu_builder.recording.wrapping import refuse_recorder

TIMEOUT = 600.0  # s


@dataclass(frozen=True)
class Difference:
    """Where an answer differs: the call, and what of it; `recorded` and `repeated` with their bits."""

    call: Call
    what: str
    recorded: str
    repeated: str


@dataclass(frozen=True)
class Replay:
    """The answers of an FMU beside the recorded ones.

    calls  that were repeated, up to the first difference      notes  on what was not"""

    recording: Recording
    fmu: Path
    calls: int
    difference: Difference | None
    notes: tuple[str, ...]


def replay_calls(recording: Recording, fmu: Path, timeout: float = TIMEOUT) -> Replay:
    """Give an FMU the recorded calls, in the order in which they began, by one thread.

    timeout  s.   Raises InputError for an FMU that cannot be called here, and for recordings of asynchronous steps,
    whose calls cannot be brought into the same order; SlaveError for an FMU that does not load."""
    source = Fmu(fmu)
    refuse_recorder(source)
    if missing := missing_library(source):
        raise InputError(
            Problem(str(fmu), f"{missing}: repeat the calls on another machine, or export it for this one")
        )
    pending = next((call for call in recording.calls if call.status == PENDING), None)
    if pending is not None:
        what = f"call {pending.number} answered fmi2Pending; calls beside a step in progress cannot be repeated"
        raise InputError(Problem(str(recording.path), what))
    other = _other_model(recording, source)
    library = host_library_name(source)
    with tempfile.TemporaryDirectory(prefix="fmu-builder-", ignore_cleanup_errors=True) as name:
        folder, result, progress = Path(name, "fmu"), Path(name, "result"), Path(name, "progress")
        unpack_to_call(fmu, folder, library)
        progress.write_bytes(bytes(8))
        arguments = [str(recording.path.absolute()), str(folder), library, str(result), str(progress)]
        ending = run_alone("fmu_builder.recording.replay_process", arguments, timeout)
        begun = int.from_bytes(progress.read_bytes(), "little")
        found = json.loads(result.read_text(encoding="utf-8")) if result.is_file() else {}
    if "fault" in found:
        raise RuntimeError(found["fault"])
    if "load" in found:
        raise SlaveError(Problem(str(fmu), f"does not load on this machine ({host_platform()}): {found['load']}"))
    calls = {call.number: call for call in recording.calls}
    if found:
        notes = (*other, *found["notes"])
        difference = found.get("difference")
        if difference is None:
            return Replay(recording, fmu, found["calls"], None, notes)
        call = calls[difference.pop("call")]
        return Replay(recording, fmu, found["calls"], Difference(call, **difference), notes)
    if begun == 0:
        how = ending.how if ending.code is not None else f"no answer within {timeout:g} s"
        raise SlaveError(Problem(str(fmu), f"crashed as it was loaded ({how})"))
    call = calls[begun]
    how = f"crashes ({ending.how})" if ending.code is not None else f"does not return within {timeout:g} s"
    before = "did not return" if call.status is None else "returned"
    same = None if call.status is None else Difference(call, "the call", before, how)
    notes = (f"call {begun} {how}, as it did not return in the recording",) if call.status is None else ()
    notes = (*other, *notes)
    done = sum(number < begun for number in calls)
    return Replay(recording, fmu, done, same, notes)


def _other_model(recording: Recording, fmu: Fmu) -> tuple[str, ...]:
    """A note where value references of the recording are other variables of the FMU, or none."""
    own = by_reference(fmu)
    others = [
        (family, reference, variables[0].name, own.get((family, reference)))
        for (family, reference), variables in recording.by_reference.items()
        if {v.name for v in variables} != {v.name for v in own.get((family, reference), ())}
    ]
    if not others:
        return ()
    family, reference, name, found = others[0]
    models = [str(one.root.get("modelName")) for one in (recording.description, fmu)]
    what = f"the recording is of {models[0]}, {fmu.path.name} is {models[1]}" if models[0] != models[1] else ""
    there = f"{found[0].name} in {fmu.path.name}" if found else f"no variable of {fmu.path.name}"
    text = f"value references are of other variables ({len(others)}): {family} {reference} is {name}, and {there}"
    return (f"{what}; {text}" if what else text,)
