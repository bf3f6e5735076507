"""Rules on what an FMU does when it is called (trials in behaviour_trials.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fmu_builder.check import behaviour_trials as trials
from fmu_builder.check import derivative_trials
from fmu_builder.check.findings import Found, Rule
from fmu_builder.check.trial import Trial
from fmu_builder.export.smoke import Refused


def _co_simulation(find: Callable[[Trial], Iterator[str]]) -> Callable[[Trial], Iterator[Found]]:
    return _where(lambda trial: trial.is_co_simulation, find)


def _model_exchange(find: Callable[[Trial], Iterator[str]]) -> Callable[[Trial], Iterator[Found]]:
    return _where(lambda trial: trial.is_model_exchange, find)


def _any(find: Callable[[Trial], Iterator[str]]) -> Callable[[Trial], Iterator[Found]]:
    return _where(lambda trial: True, find)


def _where(
    applies: Callable[[Trial], bool], find: Callable[[Trial], Iterator[str]]
) -> Callable[[Trial], Iterator[Found]]:
    """A rule on the FMUs to which it applies; a call of another rule that is refused ends it."""

    def found(trial: Trial) -> Iterator[Found]:
        if not applies(trial):
            return
        try:
            yield from (Found(what) for what in find(trial))
        except Refused:
            return

    return found


def _nothing(_: Trial) -> Iterator[Found]:
    """What behaviour.py finds itself."""
    return iter(())


ENDS = Rule(
    "B01",
    "calls-return",
    "2.1.3",
    "Every call returns: none crashes, hangs, or answers fmi2Fatal to what the standard allows.",
    "run the call that is named under a debugger",
    _nothing,
)
LOADS = Rule(
    "B02",
    "library-loads",
    "2.3",
    "The library for this machine can be loaded.",
    "link it with what it needs, or put that beside it",
    _nothing,
)
RULES: tuple[Rule[Trial], ...] = (
    Rule(
        "B03",
        "version",
        "2.1.4",
        "fmi2GetVersion answers '2.0', fmi2GetTypesPlatform 'default'.",
        "return these texts",
        _any(trials.version),
    ),
    Rule(
        "B04",
        "instantiate",
        "2.1.5",
        "fmi2Instantiate gives an instance.",
        "read what it logs",
        _any(trials.instantiate),
    ),
    Rule(
        "B05",
        "guid-compared",
        "2.1.5",
        "fmi2Instantiate compares the guid with its own, and answers NULL if they differ.",
        "compare the guid",
        _any(trials.guid),
    ),
    Rule(
        "B06",
        "initialization",
        "2.1.6",
        "The FMU can be initialized with its start values.",
        "correct start values, or read what it logs",
        _any(trials.initialization),
    ),
    Rule(
        "B07",
        "start-values",
        "2.2.7",
        "Parameters, inputs and constants have the start values of modelDescription.xml.",
        "write the values that the FMU has into modelDescription.xml",
        _any(trials.starts),
    ),
    Rule(
        "B08",
        "steps",
        "4.2.2",
        "Steps of the preferred length are made.",
        "correct stepSize of DefaultExperiment, or read what it logs",
        _co_simulation(trials.steps),
    ),
    Rule(
        "B09",
        "finite-values",
        "4.2.2",
        "A step that answers fmi2OK leaves finite values.",
        "answer fmi2Discard or fmi2Error",
        _co_simulation(trials.finite),
    ),
    Rule(
        "B10",
        "repeatable",
        "4.2.2",
        "Runs with the same inputs give the same values.",
        "initialize all variables of an instance",
        _co_simulation(trials.repeatable),
    ),
    Rule(
        "B11",
        "instances",
        "2.1.5",
        "Instances do not share values, unless canBeInstantiatedOnlyOncePerProcess is set.",
        "keep values in the instance, not in static variables",
        _co_simulation(trials.independent),
    ),
    Rule(
        "B12",
        "reset",
        "2.1.6",
        "After fmi2Reset the instance is as after fmi2Instantiate.",
        "set all variables to their start values in fmi2Reset",
        _co_simulation(trials.reset),
    ),
    Rule(
        "B13",
        "state-restored",
        "2.1.8",
        "After fmi2SetFMUstate the instance goes on as it did after fmi2GetFMUstate; fmi2FreeFMUstate accepts NULL.",
        "store all that a step depends on, or set canGetAndSetFMUstate to false",
        _co_simulation(trials.round_trip),
    ),
    Rule(
        "B14",
        "state-serialized",
        "2.1.8",
        "The same holds for a state that was serialized.",
        "serialize all of the state, or set canSerializeFMUstate to false",
        _co_simulation(trials.serialized),
    ),
    Rule(
        "B15",
        "variable-steps",
        "4.3.1",
        "With canHandleVariableCommunicationStepSize, steps may differ in length.",
        "accept them, or set the flag to false",
        _co_simulation(trials.variable_steps),
    ),
    Rule(
        "B16",
        "input-derivatives",
        "4.2.1",
        "With canInterpolateInputs, derivatives of inputs are accepted.",
        "accept them, or set the flag to false",
        _co_simulation(trials.input_derivatives),
    ),
    Rule(
        "B17",
        "output-derivatives",
        "4.2.1",
        "Derivatives of outputs are given up to maxOutputDerivativeOrder.",
        "give them, or set maxOutputDerivativeOrder to 0",
        _co_simulation(trials.output_derivatives),
    ),
    Rule(
        "B18",
        "directional-derivatives",
        "2.1.9",
        "With providesDirectionalDerivative, derivatives of outputs by inputs are those that differences give.",
        "correct the derivative, or set the flag to false",
        _any(derivative_trials.directional),
    ),
    Rule(
        "B19",
        "model-exchange",
        "3.2.3",
        "The calls of model exchange are accepted in the order of the standard, and give finite values.",
        "accept the call in this state",
        _model_exchange(derivative_trials.sequence),
    ),
    Rule(
        "B20",
        "order-of-states",
        "3.2.2",
        "Vectors of states and derivatives have the order of Derivatives in ModelStructure.",
        "sort Derivatives as the FMU has its states",
        _model_exchange(derivative_trials.order),
    ),
    Rule(
        "B21",
        "nominals-of-states",
        "3.2.2",
        "Nominal values of states are greater than 0.",
        "give 1 where the usual size is not known",
        _model_exchange(derivative_trials.nominals),
    ),
    Rule(
        "B22",
        "terminate",
        "2.1.6",
        "fmi2Terminate is accepted after the initialization, fmi2FreeInstance of NULL is ignored.",
        "accept both",
        _any(trials.end),
    ),
    Rule(
        "B23",
        "early-step",
        "4.2.4",
        "fmi2DoStep before the initialization is refused.",
        "answer fmi2Error",
        _co_simulation(trials.early_step),
        "warning",
    ),
    Rule(
        "B24",
        "early-exit",
        "2.1.6",
        "fmi2ExitInitializationMode outside of the initialization is refused.",
        "answer fmi2Error",
        _any(trials.early_exit),
        "warning",
    ),
    Rule(
        "B25",
        "unknown-reference",
        "2.1.7",
        "A valueReference of no variable is refused.",
        "answer fmi2Error",
        _any(trials.unknown_reference),
        "warning",
    ),
    Rule(
        "B26",
        "set-output",
        "2.1.7",
        "Setting a calculated output is refused.",
        "answer fmi2Error",
        _any(trials.set_output),
        "warning",
    ),
    Rule(
        "B27",
        "set-fixed-parameter",
        "2.1.7",
        "Setting a fixed parameter after the initialization is refused.",
        "answer fmi2Error, or declare it tunable",
        _any(trials.set_fixed),
        "warning",
    ),
    Rule(
        "B28",
        "step-of-zero",
        "4.2.2",
        "A step of 0 s is refused or changes nothing.",
        "answer fmi2Error",
        _co_simulation(trials.step_of_nothing),
        "warning",
    ),
    Rule(
        "B29",
        "quiet",
        "2.1.5",
        "With loggingOn = fmi2False only warnings and errors are logged.",
        "log nothing else",
        _any(trials.quiet),
        "warning",
    ),
    Rule(
        "B30",
        "log-categories-used",
        "2.2.4",
        "Messages have a category of LogCategories.",
        "declare the category",
        _any(trials.categories),
        "warning",
    ),
)
