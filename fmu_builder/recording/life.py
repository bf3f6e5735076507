"""What the calls make of an instance: the state machines of FMI 2.0 (3.2.3 model exchange, 4.2.4 co-simulation)."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Flag, auto

from fmu_builder.recording.file import Call
from fmu_builder.recording.functions import FUNCTIONS

OK, WARNING, DISCARD, ERROR, FATAL, PENDING = range(6)


class State(Flag):
    INSTANTIATED = auto()
    INITIALIZATION = auto()
    STEP_COMPLETE = auto()  # co-simulation, as the next three
    STEP_IN_PROGRESS = auto()
    STEP_FAILED = auto()
    STEP_CANCELED = auto()
    EVENT = auto()  # model exchange, as the next one
    CONTINUOUS = auto()
    TERMINATED = auto()
    ERROR = auto()
    FATAL = auto()

    @property
    def text(self) -> str:
        return _NAMES.get(self, str(self.name).lower().replace("_", " "))


_NAMES = {
    State.INITIALIZATION: "initialization mode",
    State.EVENT: "event mode",
    State.CONTINUOUS: "continuous-time mode",
}
_NOTHING = State(0)
_ALL = ~State.FATAL
_RESTING = _ALL & ~State.STEP_IN_PROGRESS
_BEFORE = State.INSTANTIATED | State.INITIALIZATION
_AFTER_STEP = State.STEP_COMPLETE | State.STEP_FAILED | State.STEP_CANCELED | State.TERMINATED | State.ERROR
_MODEL_EXCHANGE = State.EVENT | State.CONTINUOUS
_READABLE = _RESTING & ~State.INSTANTIATED
_EVALUABLE = _MODEL_EXCHANGE | State.TERMINATED | State.ERROR
_ASKABLE = State.STEP_COMPLETE | State.STEP_IN_PROGRESS | State.STEP_FAILED | State.TERMINATED

# The tables of 3.2.3 and 4.2.4; all that is not named here is allowed while no step is in progress.
ALLOWED: Mapping[str, State] = {one.name: _RESTING for one in FUNCTIONS} | {
    "fmi2SetDebugLogging": _ALL,
    "fmi2SetupExperiment": State.INSTANTIATED,
    "fmi2EnterInitializationMode": State.INSTANTIATED,
    "fmi2ExitInitializationMode": State.INITIALIZATION,
    "fmi2Terminate": State.STEP_COMPLETE | State.STEP_FAILED | _MODEL_EXCHANGE,
    **{f"fmi2Get{kind}": _READABLE for kind in ("Real", "Integer", "Boolean", "String", "DirectionalDerivative")},
    "fmi2SetReal": _BEFORE | State.STEP_COMPLETE | _MODEL_EXCHANGE,
    **{f"fmi2Set{kind}": _BEFORE | State.STEP_COMPLETE | State.EVENT for kind in ("Integer", "Boolean", "String")},
    "fmi2SetRealInputDerivatives": _BEFORE | State.STEP_COMPLETE,
    "fmi2GetRealOutputDerivatives": _AFTER_STEP,
    "fmi2DoStep": State.STEP_COMPLETE,
    "fmi2CancelStep": State.STEP_IN_PROGRESS,
    **{f"fmi2Get{kind}Status": _ASKABLE for kind in ("", "Real", "Integer", "Boolean", "String")},
    "fmi2EnterEventMode": _MODEL_EXCHANGE,
    "fmi2NewDiscreteStates": State.EVENT,
    "fmi2EnterContinuousTimeMode": State.EVENT,
    "fmi2CompletedIntegratorStep": State.CONTINUOUS,
    "fmi2SetTime": _MODEL_EXCHANGE,
    "fmi2SetContinuousStates": State.CONTINUOUS,
    "fmi2GetDerivatives": _EVALUABLE,
    "fmi2GetEventIndicators": _EVALUABLE | State.INITIALIZATION,
    "fmi2GetContinuousStates": _EVALUABLE | State.INITIALIZATION,
    "fmi2GetNominalsOfContinuousStates": _EVALUABLE | State.INSTANTIATED,
}
_BECOMES = {
    "fmi2EnterInitializationMode": State.INITIALIZATION,
    "fmi2EnterEventMode": State.EVENT,
    "fmi2EnterContinuousTimeMode": State.CONTINUOUS,
    "fmi2Terminate": State.TERMINATED,
    "fmi2Reset": State.INSTANTIATED,
    "fmi2CancelStep": State.STEP_CANCELED,
}
_AFTER_STATUS = {PENDING: State.STEP_IN_PROGRESS, DISCARD: State.STEP_FAILED}
_AFTER_STATUS |= {OK: State.STEP_COMPLETE, WARNING: State.STEP_COMPLETE}


@dataclass
class Moment:
    """What a saved state brings back.

    time         the communication point, or the time that was set, s; None before fmi2SetupExperiment
    kept_from    no state of before this time may be restored, s
    is_iterated  fmi2NewDiscreteStates needs no further call     event  the time of the next event, s, if there is one
    asks         what the FMU has asked for by its last answer: an event, its end
    unread       a variable was set, and no step made since"""

    state: State = State.INSTANTIATED
    is_set_up: bool = False
    start: float = 0.0
    stop: float | None = None
    time: float | None = None
    first_step: float | None = None
    steps: int = 0
    kept_from: float | None = None
    is_iterated: bool = False
    event: float | None = None
    asks: str = ""
    unread: str = ""


@dataclass
class Life:
    """An instance from its instantiation to the present.

    kind      CoSimulation or ModelExchange
    saved     by handle of a state, the moment it was saved at; of a deserialized one that is not known: None
    sizes     by handle, the answer of fmi2SerializedFMUstateSize     images  by the bytes of a state, its moment
    end       of its last call that has ended, s"""

    number: int
    kind: str
    now: Moment = field(default_factory=Moment)
    saved: dict[int, Moment | None] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    images: dict[bytes, Moment | None] = field(default_factory=dict)
    end: float = 0.0
    last: Call | None = None

    def goes_on(self, call: Call) -> None:
        """What a call has changed that has ended."""
        name, status = call.function.name, call.status
        self.end = max(self.end, call.end or call.begin)
        self.last = call
        if status is None or status == FATAL:
            self.now.state = State.FATAL
        elif status == ERROR:
            self.now.state = State.ERROR
        elif name == "fmi2DoStep":
            self._steps(call, status)
        elif status in (OK, WARNING):
            self._succeeds(call, name)

    def _steps(self, call: Call, status: int) -> None:
        now = self.now
        now.state = _AFTER_STATUS.get(status, State.ERROR)
        now.unread = ""
        begin, length, no_return = call.inputs.values()
        assert isinstance(begin, float) and isinstance(length, float)
        if no_return:
            now.kept_from = begin
        if now.state in (State.STEP_COMPLETE, State.STEP_IN_PROGRESS):
            now.time = begin + length
            now.steps += 1
            now.first_step = length if now.first_step is None else now.first_step

    def _succeeds(self, call: Call, name: str) -> None:
        now, inputs, outputs = self.now, call.inputs, call.outputs
        if name in _BECOMES:
            self._becomes(name)
        elif name == "fmi2ExitInitializationMode":
            now.state = State.STEP_COMPLETE if self.kind == "CoSimulation" else State.EVENT
            now.is_iterated = False
        elif name == "fmi2SetupExperiment":
            now.is_set_up = True
            now.start = now.time = float(str(inputs["startTime"]))
            now.stop = float(str(inputs["stopTime"])) if inputs["stopTimeDefined"] else None
        elif name == "fmi2SetTime":
            now.time = float(str(inputs["time"]))
        elif name == "fmi2NewDiscreteStates":
            flags = outputs.get("flags")
            if isinstance(flags, list):
                now.is_iterated = not flags[0]
                now.asks = "its end" if flags[1] else ""
                now.event = float(str(outputs["nextEventTime"])) if flags[4] else None
        elif name == "fmi2CompletedIntegratorStep":
            now.asks = "its end" if outputs["terminateSimulation"] else "an event" if outputs["enterEventMode"] else ""
        elif name == "fmi2GetStatus" and inputs["kind"] == 0 and now.state == State.STEP_IN_PROGRESS:
            now.state = _AFTER_STATUS.get(int(str(outputs["value"])), State.ERROR)
        elif call.function.is_setter and now.state == State.STEP_COMPLETE:
            now.unread = name
        elif "FMUstate" in name:
            self._saves(call, name)

    def _becomes(self, name: str) -> None:
        now = self.now
        if name == "fmi2Reset":
            self.now = Moment()
            return
        now.state = _BECOMES[name]
        if name == "fmi2EnterEventMode":
            now.is_iterated = False
            now.asks = "" if now.asks == "an event" else now.asks

    def _saves(self, call: Call, name: str) -> None:
        before, after = call.inputs.get("FMUstate"), call.outputs.get("FMUstate")
        if name == "fmi2GetFMUstate" and isinstance(after, int):
            self.saved[after] = copy.copy(self.now)
        elif name == "fmi2SetFMUstate" and isinstance(before, int):
            moment = self.saved.get(before)
            if moment is not None:
                self.now = copy.copy(moment)
            elif self.now.state == State.ERROR:  # of another run: the mode is not known
                self.now.state = State.STEP_COMPLETE if self.kind == "CoSimulation" else State.EVENT
        elif name == "fmi2FreeFMUstate" and isinstance(before, int):
            self.saved.pop(before, None)
        elif name == "fmi2SerializedFMUstateSize" and isinstance(before, int):
            self.sizes[before] = int(str(call.outputs["size"]))
        elif name == "fmi2SerializeFMUstate" and isinstance(before, int):
            image = call.outputs["serializedState"]
            assert isinstance(image, bytes)
            self.images[image] = self.saved.get(before)
        elif name == "fmi2DeSerializeFMUstate" and isinstance(after, int):
            image = call.inputs["serializedState"]
            self.saved[after] = self.images.get(image) if isinstance(image, bytes) else None
