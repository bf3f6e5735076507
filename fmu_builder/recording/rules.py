"""The rules of FMI 2.0 on those who call an FMU; the rules on the FMU itself are in fmu_builder.check."""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Callable, Iterator
from typing import Literal

from fmu_builder.check.findings import Found, Rule
from fmu_builder.recording import call_trials as trials
from fmu_builder.recording.call_trials import Step


def _nothing(_: Step) -> Iterator[str]:
    """What checking.py finds itself."""
    return iter(())


_FUNCTIONS: dict[str, str] = {}  # by rule


def _rule(
    number: int,
    name: str,
    section: str,
    text: str,
    repair: str,
    find: Callable[[Step], Iterator[str]],
    level: Literal["error", "warning"] = "error",
    of: str = "*",
) -> Rule[Step]:
    """of   the functions whose calls may break it, a pattern without fmi2"""
    _FUNCTIONS[f"C{number:02d}"] = f"fmi2{of}"
    return Rule(f"C{number:02d}", name, section, text, repair, lambda step: map(Found, find(step)), level)


RULES = (
    _rule(
        1,
        "live-component",
        "2.1.5",
        "A component is one that fmi2Instantiate gave, and that was not freed.",
        "keep the pointer as long as the instance lives, and no longer",
        trials.live,
    ),
    _rule(
        2,
        "state-machine",
        "3.2.3, 4.2.4",
        "A function is called in a state in which the standard allows it.",
        "bring the calls into the order of the standard",
        trials.legal,
    ),
    _rule(
        3,
        "interface",
        "2.1.5",
        "Functions of model exchange are called for instances of model exchange, those of co-simulation for such.",
        "instantiate the other type, or call the functions of this one",
        trials.other_interface,
    ),
    _rule(
        4,
        "guid",
        "2.1.5",
        "fmi2Instantiate is given the guid of modelDescription.xml.",
        "read the guid from the modelDescription.xml of this FMU",
        trials.guid,
        of="Instantiate",
    ),
    _rule(
        5,
        "instance-name",
        "2.1.5",
        "An instance has a name that is not empty.",
        "give each instance a name of its own",
        trials.instance_name,
        of="Instantiate",
    ),
    _rule(
        6,
        "callbacks",
        "2.1.5",
        "fmi2Instantiate is given a logger and functions for memory.",
        "give all three functions",
        trials.callbacks,
        of="Instantiate",
    ),
    _rule(
        7,
        "resource-location",
        "2.1.5",
        "fmuResourceLocation is a URI of the unpacked folder resources: file:/...",
        "give a URI, even if the FMU has no resources",
        trials.resources,
        of="Instantiate",
    ),
    _rule(
        8,
        "type-of-instance",
        "2.1.5",
        "fmi2Instantiate is asked for an interface that the FMU has.",
        "read which interfaces modelDescription.xml has",
        trials.interface_there,
        of="Instantiate",
    ),
    _rule(
        9,
        "once-per-process",
        "3.3.1, 4.3.1",
        "An FMU with canBeInstantiatedOnlyOncePerProcess has one instance at a time.",
        "use a process for each instance",
        trials.once,
        of="Instantiate",
    ),
    _rule(
        10,
        "one-call-at-a-time",
        "2.1.1",
        "Calls of one instance do not overlap in time.",
        "let one thread at a time call an instance",
        trials.overlap,
    ),
    _rule(
        11,
        "set-up-first",
        "2.1.6",
        "fmi2SetupExperiment is called before fmi2EnterInitializationMode.",
        "call fmi2SetupExperiment first",
        trials.set_up,
        of="EnterInitializationMode",
    ),
    _rule(
        12,
        "experiment",
        "2.1.6",
        "startTime and stopTime are finite and in this order, the tolerance is greater than 0.",
        "leave undefined what is not known",
        trials.experiment,
        of="SetupExperiment",
    ),
    _rule(
        13,
        "value-references",
        "2.1.7",
        "A valueReference is one of a variable of the type that the function is for.",
        "read the references from modelDescription.xml",
        trials.references,
        of="[GS]et*",
    ),
    _rule(
        14,
        "settable",
        "3.2.3, 4.2.4",
        "Before the initialization start values are set, in it exact ones and inputs, later inputs and tunable "
        "parameters, in continuous-time mode continuous inputs.",
        "set the variable in another state, or not at all",
        trials.settable,
        of="Set*",
    ),
    _rule(
        15,
        "inputs-before-initialization",
        "3.2.3, 4.2.4",
        "Inputs are set from initialization mode on.",
        "set inputs after fmi2EnterInitializationMode",
        trials.early_inputs,
        "warning",
        of="Set*",
    ),
    _rule(
        16,
        "values-in-range",
        "2.2.7",
        "Values are finite, and between min and max.",
        "limit the value, or correct min and max",
        trials.in_range,
        "warning",
        of="Set*",
    ),
    _rule(
        17,
        "readable-at-start",
        "3.2.3, 4.2.4",
        "In initialization mode outputs, states, their derivatives and what InitialUnknowns lists are read.",
        "read other variables after fmi2ExitInitializationMode",
        trials.readable,
        "warning",
        of="Get*",
    ),
    _rule(
        18,
        "get-after-set",
        "4.2.4",
        "In co-simulation, what is set takes effect by the next step: no values are read between.",
        "read values before new ones are set, or after the step",
        trials.get_after_set,
        "warning",
        of="Get*",
    ),
    _rule(
        19,
        "communication-point",
        "4.2.2",
        "A step begins at startTime, or where the last one ended.",
        "pass the time that the instance has",
        trials.point,
        of="DoStep",
    ),
    _rule(
        20,
        "step-size",
        "4.2.2",
        "The length of a step is greater than 0 and finite.",
        "make no step at an event; let the next one be longer",
        trials.length,
        of="DoStep",
    ),
    _rule(
        21,
        "variable-step-size",
        "4.3.1",
        "Without canHandleVariableCommunicationStepSize all steps have the same length.",
        "use one length, and divide the stop time by it",
        trials.same_length,
        of="DoStep",
    ),
    _rule(
        22,
        "stop-time",
        "2.1.6",
        "Nothing is computed beyond stopTime, if it is defined.",
        "end at stopTime, or leave it undefined",
        trials.stop,
        of="[DS]*",
    ),
    _rule(
        23,
        "no-way-back",
        "4.2.2",
        "After noSetFMUStatePriorToCurrentPoint = fmi2True no state of before is restored.",
        "pass fmi2False as long as a step may be repeated",
        trials.back,
        of="SetFMUstate",
    ),
    _rule(
        24,
        "state-capability",
        "2.1.8",
        "States are saved if canGetAndSetFMUstate is true, serialized if canSerializeFMUstate is.",
        "read the capabilities first",
        trials.capable,
        of="*FMUstate*",
    ),
    _rule(
        25,
        "known-states",
        "2.1.8",
        "A state is one that the instance has given, and that was not freed.",
        "keep a state until it is freed, and use it for its own instance",
        trials.known_state,
        of="*FMUstate*",
    ),
    _rule(
        26,
        "states-freed",
        "2.1.8",
        "States are freed before their instance is.",
        "call fmi2FreeFMUstate for each state",
        trials.unfreed,
        "warning",
        of="FreeInstance",
    ),
    _rule(
        27,
        "size-of-state",
        "2.1.8",
        "A state is serialized into as many bytes as fmi2SerializedFMUstateSize answers.",
        "ask for the size of each state",
        trials.image_size,
        of="SerializeFMUstate",
    ),
    _rule(
        28,
        "directional-derivatives",
        "2.1.9",
        "Directional derivatives are asked for if providesDirectionalDerivative is true.",
        "use differences",
        trials.directional,
        of="GetDirectionalDerivative",
    ),
    _rule(
        29,
        "input-derivatives",
        "4.2.1",
        "Derivatives are given of continuous inputs, from order 1, if canInterpolateInputs is true.",
        "read the capability first",
        trials.input_derivatives,
        of="SetRealInputDerivatives",
    ),
    _rule(
        30,
        "output-derivatives",
        "4.2.1",
        "Derivatives of outputs are asked for from order 1 to maxOutputDerivativeOrder.",
        "read the capability first",
        trials.output_derivatives,
        of="GetRealOutputDerivatives",
    ),
    _rule(
        31,
        "sizes-of-vectors",
        "3.2.2",
        "Vectors have as many elements as the FMU has states, or event indicators.",
        "count Derivatives; read numberOfEventIndicators",
        trials.sizes,
        of="*et*s*",
    ),
    _rule(
        32,
        "event-iteration",
        "3.2.2",
        "fmi2NewDiscreteStates is called until it needs no further call, before continuous-time mode.",
        "repeat it while newDiscreteStatesNeeded is fmi2True",
        trials.iterated,
        of="EnterContinuousTimeMode",
    ),
    _rule(
        33,
        "requests-of-the-fmu",
        "3.2.2",
        "After enterEventMode = fmi2True the event mode follows, after terminateSimulation = fmi2True the end.",
        "look at both answers",
        trials.asked,
    ),
    _rule(
        34,
        "time-event",
        "3.2.2",
        "Time does not pass nextEventTime without an event.",
        "end the step of the integrator at nextEventTime",
        trials.time_event,
        of="SetTime",
    ),
    _rule(
        35,
        "log-categories",
        "2.1.5",
        "Categories of fmi2SetDebugLogging are those of LogCategories.",
        "read the categories from modelDescription.xml",
        trials.categories,
        of="SetDebugLogging",
    ),
)
AFTER_FATAL = _rule(
    36,
    "nothing-after-fatal",
    "2.1.3",
    "After fmi2Fatal no function is called, of no instance.",
    "end the use of this FMU in the process",
    _nothing,
)
NOT_FREED = _rule(
    37,
    "instances-freed",
    "2.1.5",
    "Each instance is freed.",
    "call fmi2FreeInstance, after errors too",
    _nothing,
    "warning",
)
ALL = (*RULES, AFTER_FATAL, NOT_FREED)


@functools.cache
def rules_of(function: str) -> tuple[Rule[Step], ...]:
    """The rules that a call of the function may break."""
    return tuple(rule for rule in RULES if fnmatch.fnmatchcase(function, _FUNCTIONS[rule.id]))
