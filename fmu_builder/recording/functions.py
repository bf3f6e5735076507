"""The functions of FMI 2.0: their arguments, in the order in which recorder.c stores them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Function:
    """Inputs and outputs by name, without the sizes of arrays that are recorded.

    number     in records
    arrays     which of them are arrays
    interface  "ModelExchange" or "CoSimulation" if it belongs to one of them"""

    number: int
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    arrays: frozenset[str]
    interface: str = ""

    @property
    def family(self) -> str:
        """The type whose variables its `vr` are references of, "" without one."""
        word = self.name[len("fmi2Get") :]
        return word if word in ("Real", "Integer", "Boolean", "String") else "Real" if "vr" in self.inputs else ""

    @property
    def is_setter(self) -> bool:
        return self.name in ("fmi2SetReal", "fmi2SetInteger", "fmi2SetBoolean", "fmi2SetString")

    @property
    def is_getter(self) -> bool:
        return self.name in ("fmi2GetReal", "fmi2GetInteger", "fmi2GetBoolean", "fmi2GetString")


_ALL = """
GetTypesPlatform          -> text
GetVersion                -> text
SetDebugLogging           loggingOn categories[]
Instantiate               instanceName fmuType fmuGUID fmuResourceLocation callbacks[] visible loggingOn
FreeInstance
SetupExperiment           toleranceDefined tolerance startTime stopTimeDefined stopTime
EnterInitializationMode
ExitInitializationMode
Terminate
Reset
GetReal                   vr[] -> value[]
GetInteger                vr[] -> value[]
GetBoolean                vr[] -> value[]
GetString                 vr[] -> value[]
SetReal                   vr[] value[]
SetInteger                vr[] value[]
SetBoolean                vr[] value[]
SetString                 vr[] value[]
GetFMUstate               FMUstate -> FMUstate
SetFMUstate               FMUstate
FreeFMUstate              FMUstate -> FMUstate
SerializedFMUstateSize    FMUstate -> size
SerializeFMUstate         FMUstate size -> serializedState
DeSerializeFMUstate       serializedState FMUstate -> FMUstate
GetDirectionalDerivative  vUnknown_ref[] vKnown_ref[] dvKnown[] -> dvUnknown[]
ModelExchange
EnterEventMode
NewDiscreteStates         -> flags[] nextEventTime
EnterContinuousTimeMode
CompletedIntegratorStep   noSetFMUStatePriorToCurrentPoint -> enterEventMode terminateSimulation
SetTime                   time
SetContinuousStates       x[]
GetDerivatives            nx -> derivatives[]
GetEventIndicators        ni -> eventIndicators[]
GetContinuousStates       nx -> x[]
GetNominalsOfContinuousStates nx -> x_nominal[]
CoSimulation
SetRealInputDerivatives   vr[] order[] value[]
GetRealOutputDerivatives  vr[] order[] -> value[]
DoStep                    currentCommunicationPoint communicationStepSize noSetFMUStatePriorToCurrentPoint
CancelStep
GetStatus                 kind -> value
GetRealStatus             kind -> value
GetIntegerStatus          kind -> value
GetBooleanStatus          kind -> value
GetStringStatus           kind -> value
"""
CALLBACKS = ("logger", "allocateMemory", "freeMemory", "stepFinished")


def _functions() -> tuple[Function, ...]:
    found: list[Function] = []
    interface = ""
    for line in _ALL.strip().splitlines():
        if line in ("ModelExchange", "CoSimulation"):
            interface = line
            continue
        arrays = frozenset(word[:-2] for word in line.split() if word.endswith("[]"))
        before, _, outputs = line.replace("[]", "").partition("->")
        name, *inputs = before.split()
        found.append(Function(len(found), f"fmi2{name}", tuple(inputs), tuple(outputs.split()), arrays, interface))
    return tuple(found)


FUNCTIONS = _functions()
BY_NAME: Mapping[str, Function] = {one.name: one for one in FUNCTIONS}
