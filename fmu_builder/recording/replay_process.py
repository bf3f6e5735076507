"""`python -P -m fmu_builder.recording.replay_process RECORDING FOLDER LIBRARY RESULT PROGRESS`: repeat recorded calls.

FOLDER is where the FMU is unpacked, LIBRARY the archive name of its library for this machine.  RESULT becomes a file of
JSON: {"calls", "difference", "notes"}, {"load"} for a library that cannot be loaded, {"fault"} for one of this package.
PROGRESS is a file of 8 bytes, which hold the number of the call that was begun last: a crash can be named."""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import struct
import sys
import traceback
from collections.abc import Callable, Mapping
from ctypes import byref, c_char_p, c_double, c_int, c_size_t, c_ubyte, c_uint, c_void_p
from pathlib import Path
from typing import Any

from fmu_builder.check.document import Description
from fmu_builder.export.smoke import EVENT_FLAGS, EventInfo, callback_functions, status_name
from fmu_builder.recording.file import Call, Recording

_ARRAYS: Mapping[str, Any] = {
    "vr": c_uint,
    "vUnknown_ref": c_uint,
    "vKnown_ref": c_uint,
    "order": c_int,
    "dvKnown": c_double,
    "x": c_double,
    "categories": c_char_p,
}
_VALUES: Mapping[str, Any] = {"Real": c_double, "Integer": c_int, "Boolean": c_int, "String": c_char_p}
_VECTORS = {
    "fmi2GetDerivatives": "nx",
    "fmi2GetContinuousStates": "nx",
    "fmi2GetNominalsOfContinuousStates": "nx",
    "fmi2GetEventIndicators": "ni",
}
_STATUS_VALUES: Mapping[str, Any] = {
    "fmi2GetStatus": c_int,
    "fmi2GetRealStatus": c_double,
    "fmi2GetIntegerStatus": c_int,
    "fmi2GetBooleanStatus": c_int,
    "fmi2GetStringStatus": c_char_p,
}
_Finished = ctypes.CFUNCTYPE(None, c_void_p, c_int)


class Repeater:
    """Calls the FMU; pointers of the recording stand for those of this process."""

    def __init__(self, recording: Recording, library: ctypes.CDLL, guid: str, resources: str) -> None:
        self.recording = recording
        self.library = library
        self.guid = guid
        self.resources = resources
        self.components: dict[int, int | None] = {}  # by number of the instance
        self.states: dict[tuple[int, int], int] = {}  # by instance and recorded handle
        self.kept: list[object] = []  # callbacks live as long as their instances
        for name in ("fmi2GetVersion", "fmi2GetTypesPlatform"):
            getattr(library, name).restype = c_char_p
        library.fmi2Instantiate.restype = c_void_p
        library.fmi2FreeInstance.restype = None

    def repeat(self, call: Call) -> tuple[int, dict[str, object]] | None:
        """Status and outputs, or None for a call of a component that is of no instance."""
        name = call.function.name
        function = getattr(self.library, name)
        if name == "fmi2Instantiate":
            return 0, {"component": self._instantiate(call)}
        if name in ("fmi2GetVersion", "fmi2GetTypesPlatform"):
            return 0, {"text": _text(function())}
        if call.component and call.instance not in self.components:
            return None
        component = c_void_p(self.components.get(call.instance))
        if name == "fmi2FreeInstance":
            function(component)
            return 0, {}
        arguments, outputs = self._arguments(call)
        status = int(function(component, *arguments))
        return status, outputs() if status in (0, 1) else {}

    def _instantiate(self, call: Call) -> str:
        """`an instance` or NULL."""
        inputs = call.inputs
        own = self.recording.description.root.get("guid")
        guid = self.guid if inputs["fmuGUID"] == own else inputs["fmuGUID"]
        place = self.resources if inputs["fmuResourceLocation"] else inputs["fmuResourceLocation"]
        callbacks, given = callback_functions(lambda *_: None), inputs["callbacks"]
        if isinstance(given, list) and given[3]:
            finished = _Finished(lambda *_: None)
            callbacks.stepFinished = ctypes.cast(finished, c_void_p)
            self.kept.append(finished)
        self.kept.append(callbacks)
        texts = [None if one is None else c_char_p(str(one).encode()) for one in (inputs["instanceName"], guid, place)]
        component = self.library.fmi2Instantiate(
            texts[0],
            c_int(_int(inputs["fmuType"])),
            texts[1],
            texts[2],
            byref(callbacks) if given is not None else None,
            c_int(_int(inputs["visible"])),
            c_int(_int(inputs["loggingOn"])),
        )
        if call.instance:
            self.components[call.instance] = component
        return "an instance" if component else "NULL"

    def _arguments(self, call: Call) -> tuple[list[Any], Callable[[], dict[str, object]]]:
        name, inputs = call.function.name, call.inputs
        if "FMUstate" in name:
            return self._state(call)
        if name == "fmi2NewDiscreteStates":
            info = EventInfo()
            return [byref(info)], lambda: {
                "flags": [getattr(info, one) for one in EVENT_FLAGS],
                "nextEventTime": info.nextEventTime,
            }
        if name == "fmi2CompletedIntegratorStep":
            event, end = c_int(), c_int()
            arguments: list[Any] = [c_int(_int(inputs["noSetFMUStatePriorToCurrentPoint"])), byref(event), byref(end)]
            return arguments, lambda: {"enterEventMode": event.value, "terminateSimulation": end.value}
        if name in _VECTORS:
            size = _int(inputs[_VECTORS[name]])
            vector = (c_double * max(size, 1))()
            return [vector, c_size_t(size)], lambda: {call.function.outputs[0]: list(vector[:size])}
        if name in _STATUS_VALUES:
            value = _STATUS_VALUES[name]()
            return [c_int(_int(inputs["kind"])), byref(value)], lambda: {"value": _plain(value.value)}
        return self._plain_arguments(call)

    def _plain_arguments(self, call: Call) -> tuple[list[Any], Callable[[], dict[str, object]]]:
        """Arrays with their sizes, behind the references or before the categories, and numbers."""
        arguments: list[Any] = []
        for key, value in call.inputs.items():
            if key in call.function.arrays:
                kind = _ARRAYS.get(key) or _VALUES[call.function.family]
                many = value if isinstance(value, list) else []
                array = None if value is None else (kind * max(len(many), 1))(*map(_c_value, many))
                sized = key in ("vr", "vUnknown_ref", "vKnown_ref", "categories", "x")
                size = [c_size_t(len(many))] if sized else []
                arguments += [*size, array] if key == "categories" else [array, *size]
            else:
                arguments.append(c_double(value) if isinstance(value, float) else c_int(_int(value)))
        if not call.function.outputs:
            return arguments, dict
        (name,) = call.function.outputs
        key = "vUnknown_ref" if name == "dvUnknown" else "vr"
        references = call.inputs[key]
        count = len(references) if isinstance(references, list) else 0
        results = (_VALUES[call.function.family or "Real"] * max(count, 1))()
        return [*arguments, results], lambda: {name: [_plain(one) for one in results[:count]]}

    def _state(self, call: Call) -> tuple[list[Any], Callable[[], dict[str, object]]]:
        name, inputs = call.function.name, call.inputs
        recorded = inputs["FMUstate"]
        state = c_void_p(None if recorded is None else self.states.get((call.instance, _int(recorded))))
        pointer = None if recorded is None else byref(state)

        def kept() -> dict[str, object]:
            after = call.outputs.get("FMUstate")
            if after:
                self.states[call.instance, _int(after)] = state.value or 0
            elif recorded:
                self.states.pop((call.instance, _int(recorded)), None)
            return {"FMUstate": int(bool(state.value))}

        if name == "fmi2SetFMUstate":
            return [state], dict
        if name == "fmi2SerializedFMUstateSize":
            size = c_size_t()
            return [state, byref(size)], lambda: {"size": size.value}
        if name == "fmi2SerializeFMUstate":
            count = _int(inputs["size"])
            return [state, (c_ubyte * max(count, 1))(), c_size_t(count)], dict
        if name == "fmi2DeSerializeFMUstate":
            image = inputs["serializedState"]
            data = bytes(image) if isinstance(image, bytes) else b""
            return [(c_ubyte * max(len(data), 1))(*data), c_size_t(len(data)), pointer], kept
        return [pointer], kept


def _int(value: object) -> int:
    return int(value) if isinstance(value, (int, float)) else 0


def _c_value(value: object) -> Any:
    return value.encode() if isinstance(value, str) else value


def _plain(value: object) -> object:
    return _text(value) if isinstance(value, bytes) else value


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "backslashreplace")


def first_difference(call: Call, recording: Recording, status: int, outputs: Mapping[str, object]) -> dict[str, Any]:
    """What differs first, or nothing.  Of saved states only whether there is one."""
    if call.function.name == "fmi2Instantiate":
        recorded = "an instance" if call.instance else "NULL"
        if outputs["component"] != recorded:
            return {"what": "the answer", "recorded": recorded, "repeated": outputs["component"]}
        return {}
    if call.status is not None and status != call.status:
        return {"what": "the status", "recorded": status_name(call.status), "repeated": status_name(status)}
    for key, before in call.outputs.items():
        after = outputs.get(key)
        if key == "serializedState":
            continue
        if key == "FMUstate":
            before = int(bool(before))
        pairs = zip(before, after, strict=True) if isinstance(before, list) and isinstance(after, list) else None
        for number, (one, other) in enumerate(pairs or [(before, after)]):
            if _bits(one) != _bits(other):
                name = _name(call, recording, key, number) if pairs is not None else key
                return {"what": name, "recorded": _shown(one), "repeated": _shown(other)}
    return {}


def _name(call: Call, recording: Recording, key: str, number: int) -> str:
    references = call.inputs.get("vUnknown_ref" if key == "dvUnknown" else "vr")
    if isinstance(references, list):
        return recording.name_of(call.function.family or "Real", _int(references[number]))
    return f"{key}[{number + 1}]"


def _bits(value: object) -> object:
    return struct.pack("<d", value) if isinstance(value, float) else value


def _shown(value: object) -> str:
    return f"{value!r} ({struct.pack('>d', value).hex()})" if isinstance(value, float) else repr(value)


def main(path: str, folder: str, library: str, result: str, progress: str) -> None:
    recording = Recording(Path(path))
    found: dict[str, Any] = {"calls": 0, "difference": None, "notes": []}
    skipped = 0
    with Path(progress).open("r+b") as file, mmap.mmap(file.fileno(), 8) as at:
        try:
            place = Path(folder, library)
            os.chdir(place.parent)
            repeater = Repeater(recording, ctypes.CDLL(str(place)), _guid(folder), Path(folder, "resources").as_uri())
        except (OSError, AttributeError) as error:
            found = {"load": str(error)}
        else:
            for call in recording.calls:
                at[:] = struct.pack("<Q", call.number)
                answer = repeater.repeat(call)
                if answer is None:
                    skipped += 1
                    continue
                difference = first_difference(call, recording, *answer)
                if difference:
                    found["difference"] = {"call": call.number, **difference}
                    break
                found["calls"] += 1
                if call.status is None:
                    found["notes"].append(f"call {call.number} did not return in the recording; here it did")
            if skipped:
                found["notes"].append(f"{skipped} calls of components that are of no instance were left out")
    Path(result).write_text(json.dumps(found), encoding="utf-8")
    os._exit(0)  # other libraries of the FMU at the end of a process do not belong to its run


def _guid(folder: str) -> str:
    text = Path(folder, "modelDescription.xml").read_bytes()
    return Description(text, folder).root.get("guid") or ""


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception:  # of this package, which is no crash of the FMU
        Path(sys.argv[4]).write_text(json.dumps({"fault": traceback.format_exc()}), encoding="utf-8")
