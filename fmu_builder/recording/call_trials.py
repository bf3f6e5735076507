"""What in a call breaks a rule of FMI 2.0 (rules.py names the rules)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from fmu_builder.check.document import Scalar
from fmu_builder.errors import listed
from fmu_builder.recording.file import Call, Recording
from fmu_builder.recording.functions import CALLBACKS
from fmu_builder.recording.life import ALLOWED, Life, State

_SHOWN = 5
_CLOSE = 1e-9  # of a time to its size: importers add up steps


@dataclass(frozen=True)
class Step:
    """A call, and its instance before it: None for fmi2Instantiate, and where the component is of none."""

    recording: Recording
    call: Call
    life: Life | None
    others: Mapping[int, Life]

    @property
    def name(self) -> str:
        return self.call.function.name

    @cached_property
    def inputs(self) -> Mapping[str, object]:
        return self.call.inputs

    def numbers(self, key: str) -> list[float]:
        found = self.inputs.get(key)
        return list(found) if isinstance(found, list) else []

    def number(self, key: str) -> float:
        found = self.inputs.get(key)
        return found if isinstance(found, (int, float)) else math.nan

    @property
    def state(self) -> State:
        assert self.life is not None
        return self.life.now.state

    def attribute(self, key: str) -> str:
        one = self.recording.description.interface(self.life.kind if self.life else "CoSimulation")
        return "" if one is None else str(one.get(key, ""))

    def can(self, flag: str) -> bool:
        return self.attribute(flag) in ("true", "1")

    def variables(self, key: str = "vr") -> list[tuple[float, list[Scalar]]]:
        """Each reference with the variables that it stands for."""
        known, family = self.recording.by_reference, self.call.function.family or "Real"
        return [(one, list(known.get((family, int(one)), ()))) for one in self.numbers(key)]


# ---- instances -------------------------------------------------------------------------------------------------------

_WITHOUT_INSTANCE = ("fmi2GetTypesPlatform", "fmi2GetVersion", "fmi2Instantiate")


def live(step: Step) -> Iterator[str]:
    call = step.call
    if (
        call.instance == 0
        and step.name not in _WITHOUT_INSTANCE
        and not (step.name == "fmi2FreeInstance" and call.component == 0)
    ):
        what = "NULL" if call.component == 0 else "no instance, or of one that was freed"
        yield f"the component of {step.name} is {what}"


def _created(step: Step) -> Iterator[Mapping[str, object]]:
    if step.name == "fmi2Instantiate":
        yield step.inputs


def guid(step: Step) -> Iterator[str]:
    for inputs in _created(step):
        own = step.recording.description.root.get("guid")
        if inputs["fmuGUID"] != own:
            yield f"fmuGUID is {inputs['fmuGUID']!r}, and guid of modelDescription.xml {own!r}"


def instance_name(step: Step) -> Iterator[str]:
    for inputs in _created(step):
        if not inputs["instanceName"]:
            yield f"instanceName is {'NULL' if inputs['instanceName'] is None else 'empty'}"


def callbacks(step: Step) -> Iterator[str]:
    for inputs in _created(step):
        given = inputs["callbacks"]
        if not isinstance(given, list):
            yield "the callback functions are NULL"
        elif missing := [name for name, one in zip(CALLBACKS[:3], given, strict=False) if not one]:
            yield f"{' and '.join(missing)} is NULL"


def resources(step: Step) -> Iterator[str]:
    for inputs in _created(step):
        place = inputs["fmuResourceLocation"]
        if not (isinstance(place, str) and place.startswith("file:/")):
            yield f"fmuResourceLocation is {'NULL' if place is None else repr(place)}"


def interface_there(step: Step) -> Iterator[str]:
    for inputs in _created(step):
        kind = {0: "ModelExchange", 1: "CoSimulation"}.get(int(str(inputs["fmuType"])), "")
        if not kind or step.recording.description.interface(kind) is None:
            yield f"fmuType is {inputs['fmuType']} ({kind or 'none of the two'}), which the FMU does not have"


def once(step: Step) -> Iterator[str]:
    for inputs in _created(step):
        one = step.recording.description.interface("CoSimulation" if inputs["fmuType"] else "ModelExchange")
        is_single = one is not None and one.get("canBeInstantiatedOnlyOncePerProcess") in ("true", "1")
        if step.others and step.call.instance and is_single:
            yield "a second instance is made while the first one lives"


def overlap(step: Step) -> Iterator[str]:
    if step.life is not None and step.life.last is not None and step.call.begin < step.life.end:
        other = step.life.last
        if other.thread != step.call.thread:
            what = f"before call {other.number} in thread {other.thread} ends"
            yield f"{step.name} begins in thread {step.call.thread} {what}"


# ---- states ----------------------------------------------------------------------------------------------------------


def _of_instance(find: Callable[[Step], Iterator[str]]) -> Callable[[Step], Iterator[str]]:
    """For calls whose component is of an instance."""

    def found(step: Step) -> Iterator[str]:
        if step.life is not None and step.state != State.FATAL:
            yield from find(step)

    return found


@_of_instance
def other_interface(step: Step) -> Iterator[str]:
    assert step.life is not None
    if step.call.function.interface not in ("", step.life.kind):
        yield f"{step.name} is a function of {step.call.function.interface}, and the instance is of {step.life.kind}"


@_of_instance
def legal(step: Step) -> Iterator[str]:
    assert step.life is not None
    if step.call.function.interface in ("", step.life.kind) and not step.state & ALLOWED[step.name]:
        yield f"{step.name} is called in the state '{step.state.text}'"


@_of_instance
def set_up(step: Step) -> Iterator[str]:
    if step.name == "fmi2EnterInitializationMode" and step.life is not None and not step.life.now.is_set_up:
        yield "fmi2EnterInitializationMode comes before fmi2SetupExperiment"


def experiment(step: Step) -> Iterator[str]:
    if step.name != "fmi2SetupExperiment":
        return
    tolerance, start, stop = (step.number(key) for key in ("tolerance", "startTime", "stopTime"))
    if not math.isfinite(start):
        yield f"startTime is {start!r}"
    if step.inputs["toleranceDefined"] and not 0.0 < tolerance < math.inf:
        yield f"tolerance is {tolerance!r}"
    if step.inputs["stopTimeDefined"] and not start <= stop < math.inf:
        yield f"stopTime is {stop!r} s, startTime {start!r} s"


# ---- values ----------------------------------------------------------------------------------------------------------


def references(step: Step) -> Iterator[str]:
    for key in ("vr", "vUnknown_ref", "vKnown_ref"):
        unknown = [f"{one:.0f}" for one, variables in step.variables(key) if not variables]
        if unknown:
            family = step.call.function.family or "Real"
            yield f"{step.name}: {listed(unknown, _SHOWN)} is no valueReference of a {family}"


def _may_set(v: Scalar, state: State) -> bool:
    """The notes of the tables of 3.2.3 and 4.2.4."""
    if state == State.INSTANTIATED:
        return v.is_settable
    if state == State.INITIALIZATION:
        return v.causality == "input" or (v.initial == "exact" and v.variability != "constant")
    if state == State.CONTINUOUS:
        return (v.causality, v.variability) == ("input", "continuous")
    return v.causality == "input" or (v.causality, v.variability) == ("parameter", "tunable")


@_of_instance
def settable(step: Step) -> Iterator[str]:
    if step.call.function.is_setter and step.state & ALLOWED[step.name]:
        wrong = [some[0] for _, some in step.variables() if some and not any(_may_set(v, step.state) for v in some)]
        if wrong:
            what = listed([f"{v.name} ({v.variability} {v.causality})" for v in wrong], _SHOWN)
            yield f"{step.name} sets {what} in the state '{step.state.text}'"


@_of_instance
def early_inputs(step: Step) -> Iterator[str]:
    if step.call.function.is_setter and step.state == State.INSTANTIATED:
        inputs = [some[0].name for _, some in step.variables() if some and all(v.causality == "input" for v in some)]
        if inputs:
            yield f"{step.name} sets {listed(inputs, _SHOWN)} before initialization mode"


def in_range(step: Step) -> Iterator[str]:
    if step.name not in ("fmi2SetReal", "fmi2SetInteger"):
        return
    for (_, some), value in zip(step.variables(), step.numbers("value"), strict=False):
        for v in some[:1]:
            low, high = v.number("min"), v.number("max")
            if not math.isfinite(value):
                yield f"{v.name} = {value!r} is not finite"
            elif (low is not None and value < low) or (high is not None and value > high):
                limits = f"min {'none' if low is None else repr(low)} and max {'none' if high is None else repr(high)}"
                yield f"{v.name} = {value!r} is outside of {limits}"


@_of_instance
def readable(step: Step) -> Iterator[str]:
    if step.call.function.is_getter and step.state == State.INITIALIZATION:
        listed_there = _known_at_start(step.recording)
        others = [
            some[0].name
            for _, some in step.variables()
            if some
            and not any(v.index in listed_there or v.causality == "output" or v.initial == "exact" for v in some)
        ]
        if others:
            yield f"{step.name} reads {listed(others, _SHOWN)} in initialization mode"


def _known_at_start(recording: Recording) -> set[int]:
    description = recording.description
    states = {one.index for pair in description.state_pairs for one in pair}
    inputs = {v.index for v in description.variables if v.causality in ("input", "parameter", "independent")}
    return {index for index, _ in description.unknowns("InitialUnknowns")} | states | inputs


@_of_instance
def get_after_set(step: Step) -> Iterator[str]:
    assert step.life is not None
    unread = step.life.now.unread
    if step.call.function.is_getter and unread and step.state == State.STEP_COMPLETE:
        yield f"{step.name} follows {unread} without fmi2DoStep in between"


# ---- steps -----------------------------------------------------------------------------------------------------------


@_of_instance
def point(step: Step) -> Iterator[str]:
    assert step.life is not None
    point, expected = step.number("currentCommunicationPoint"), step.life.now.time
    if step.name != "fmi2DoStep" or expected is None:
        return
    length = step.number("communicationStepSize")
    if not abs(point - expected) <= _CLOSE * max(abs(expected), abs(point), abs(length)):
        after = "the last step ended" if step.life.now.steps else "the experiment starts"
        yield f"currentCommunicationPoint is {point!r} s, and {after} at {expected!r} s"


def length(step: Step) -> Iterator[str]:
    if step.name == "fmi2DoStep" and not 0.0 < step.number("communicationStepSize") < math.inf:
        yield f"communicationStepSize is {step.number('communicationStepSize')!r} s"


@_of_instance
def same_length(step: Step) -> Iterator[str]:
    assert step.life is not None
    first, length = step.life.now.first_step, step.number("communicationStepSize")
    if step.name != "fmi2DoStep" or first is None or step.can("canHandleVariableCommunicationStepSize"):
        return
    if abs(length - first) > 1e-6 * abs(first):
        yield f"communicationStepSize is {length!r} s after {first!r} s"


@_of_instance
def stop(step: Step) -> Iterator[str]:
    assert step.life is not None
    stop = step.life.now.stop
    if stop is None or step.name not in ("fmi2DoStep", "fmi2SetTime"):
        return
    length = step.number("communicationStepSize") if step.name == "fmi2DoStep" else 0.0
    end = step.number("currentCommunicationPoint") + length if step.name == "fmi2DoStep" else step.number("time")
    if end > stop + max(_CLOSE * abs(stop), 1e-6 * length):
        yield f"{step.name} leads to {end!r} s, and stopTime is {stop!r} s"


@_of_instance
def back(step: Step) -> Iterator[str]:
    assert step.life is not None
    handle = step.inputs.get("FMUstate")
    if step.name == "fmi2SetFMUstate" and isinstance(handle, int):
        moment, kept = step.life.saved.get(handle), step.life.now.kept_from
        if moment is not None and moment.time is not None and kept is not None and moment.time < kept:
            yield f"a state of {moment.time!r} s is restored after noSetFMUStatePriorToCurrentPoint at {kept!r} s"


# ---- states of the FMU, derivatives ----------------------------------------------------------------------------------


def capable(step: Step) -> Iterator[str]:
    serializes = "erialize" in step.name
    flag = "canSerializeFMUstate" if serializes else "canGetAndSetFMUstate"
    if "FMUstate" in step.name and step.life is not None and not step.can(flag):
        yield f"{step.name} is called without {flag}"


@_of_instance
def known_state(step: Step) -> Iterator[str]:
    assert step.life is not None
    handle = step.inputs.get("FMUstate")
    if "FMUstate" not in step.name or not isinstance(handle, int) or handle in step.life.saved:
        return
    if handle or step.name in ("fmi2SetFMUstate", "fmi2SerializedFMUstateSize", "fmi2SerializeFMUstate"):
        yield f"FMUstate of {step.name} is {'a state that was freed, or none of this instance' if handle else 'NULL'}"


def unfreed(step: Step) -> Iterator[str]:
    if step.name == "fmi2FreeInstance" and step.life is not None and step.life.saved:
        yield f"{len(step.life.saved)} states are not freed before the instance is"


@_of_instance
def image_size(step: Step) -> Iterator[str]:
    assert step.life is not None
    if step.name == "fmi2SerializeFMUstate":
        needed = step.life.sizes.get(int(step.number("FMUstate")))
        if needed is None:
            yield "fmi2SerializeFMUstate is called without fmi2SerializedFMUstateSize"
        elif step.number("size") < needed:
            yield f"size is {step.number('size'):.0f}, and fmi2SerializedFMUstateSize answered {needed}"


def directional(step: Step) -> Iterator[str]:
    asks = step.name == "fmi2GetDirectionalDerivative" and step.life is not None
    if asks and not step.can("providesDirectionalDerivative"):
        yield f"{step.name} is called without providesDirectionalDerivative"


def input_derivatives(step: Step) -> Iterator[str]:
    if step.name != "fmi2SetRealInputDerivatives" or step.life is None:
        return
    if not step.can("canInterpolateInputs"):
        yield f"{step.name} is called without canInterpolateInputs"
    if any(order < 1 for order in step.numbers("order")):
        yield f"an order is {min(step.numbers('order')):.0f}"
    wrong = [some[0].name for _, some in step.variables() if some and all(v.causality != "input" for v in some)]
    if wrong:
        yield f"{listed(wrong, _SHOWN)} is no input"


def output_derivatives(step: Step) -> Iterator[str]:
    if step.name == "fmi2GetRealOutputDerivatives" and step.life is not None:
        most = int(step.attribute("maxOutputDerivativeOrder") or 0)
        wrong = [order for order in step.numbers("order") if not 1 <= order <= most]
        if wrong:
            yield f"an order is {wrong[0]:.0f}, and maxOutputDerivativeOrder {most}"


# ---- model exchange --------------------------------------------------------------------------------------------------


def sizes(step: Step) -> Iterator[str]:
    if step.call.function.interface != "ModelExchange":
        return
    description = step.recording.description
    states = len(list(description.unknowns("Derivatives")))
    indicators = int(description.root.get("numberOfEventIndicators", "0"))
    for key, needed in (("nx", states), ("ni", indicators)):
        if key in step.inputs and step.number(key) != needed:
            yield f"{key} of {step.name} is {step.number(key):.0f}, and the FMU has {needed}"
    if step.name == "fmi2SetContinuousStates" and len(step.numbers("x")) != states:
        yield f"nx of {step.name} is {len(step.numbers('x'))}, and the FMU has {states}"


@_of_instance
def iterated(step: Step) -> Iterator[str]:
    assert step.life is not None
    if step.name == "fmi2EnterContinuousTimeMode" and step.state == State.EVENT and not step.life.now.is_iterated:
        yield f"{step.name} comes before fmi2NewDiscreteStates has answered newDiscreteStatesNeeded = fmi2False"


_ON_THE_WAY = ("fmi2SetTime", "fmi2SetContinuousStates", "fmi2CompletedIntegratorStep", "fmi2DoStep")


@_of_instance
def asked(step: Step) -> Iterator[str]:
    assert step.life is not None
    asks = step.life.now.asks
    goes_on = step.name in _ON_THE_WAY or (asks == "its end" and step.name == "fmi2EnterContinuousTimeMode")
    if asks and goes_on:
        by = "enterEventMode" if asks == "an event" else "terminateSimulation"
        yield f"{step.name} follows {by} = fmi2True"


@_of_instance
def time_event(step: Step) -> Iterator[str]:
    assert step.life is not None
    event, time = step.life.now.event, step.number("time")
    if step.name != "fmi2SetTime" or event is None or step.state != State.CONTINUOUS:
        return
    if time > event + _CLOSE * abs(event):
        yield f"time is {time!r} s, beyond nextEventTime {event!r} s"


def categories(step: Step) -> Iterator[str]:
    if step.name == "fmi2SetDebugLogging":
        known = {one.get("name") for one in step.recording.description.root.iterfind("LogCategories/Category")}
        given = step.inputs.get("categories")
        others = [repr(one) for one in given if one not in known] if isinstance(given, list) else []
        if others:
            yield f"{listed(others, _SHOWN)} is no category of LogCategories"
