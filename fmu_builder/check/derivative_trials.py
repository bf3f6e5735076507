"""What the rules on derivatives and on model exchange try, as in behaviour_trials.py."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from ctypes import byref, c_double, c_int, c_size_t

from fmu_builder.check.document import Scalar
from fmu_builder.check.trial import Probe, Trial, references
from fmu_builder.errors import listed
from fmu_builder.export.smoke import MODEL_EXCHANGE, EventInfo, Refused, status_name

_STEPS = 10
_SHOWN = 4  # variables in a finding
_MOST_PAIRS = 1000  # derivatives that are compared
_MOST_EVENTS = 100  # iterations of fmi2NewDiscreteStates


# ---- derivatives -----------------------------------------------------------------------------------------------------


def directional(trial: Trial) -> Iterator[str]:
    """Against differences, where outputs follow inputs at once: in continuous-time mode of model exchange, and of what
    is for co-simulation only in the initialization."""
    if trial.is_model_exchange:
        if trial.can("providesDirectionalDerivative", "ModelExchange"):
            with trial.begun(MODEL_EXCHANGE, moved=True) as one:
                continuous(one)
                yield from _compared(trial, one, _pairs(trial, "Outputs", "Derivatives"))
    elif trial.can("providesDirectionalDerivative"):
        one = trial.raw()
        try:
            trial.enter(one, moved=True)
            yield from _compared(trial, one, _pairs(trial, "InitialUnknowns"))
        finally:
            one.free()


def _pairs(trial: Trial, *groups: str) -> list[tuple[Scalar, Scalar]]:
    """Continuous Real unknowns with the inputs that they depend on."""
    inputs = {v.index: v for v in trial.inputs}
    pairs = []
    for group in groups:
        for index, element in trial.fmu.unknowns(group):
            known = element.get("dependencies")
            unknown = trial.fmu.by_index.get(index)
            if unknown is not None and (unknown.type, unknown.variability) == ("Real", "continuous"):
                indices = inputs if known is None else [int(i) for i in known.split()]
                pairs += [(unknown, inputs[i]) for i in indices if i in inputs]
    return pairs[:_MOST_PAIRS]


def _compared(trial: Trial, one: Probe, pairs: Sequence[tuple[Scalar, Scalar]]) -> Iterator[str]:
    """Terms that cancel leave rounding, in values and in their derivatives: both are judged beside the largest ones of
    the same unit."""
    sizes = _sizes(trial, one)
    slopes: dict[str, float] = {}
    derivatives = []
    for output, known in pairs:
        value, seed = (c_double * 1)(), (c_double * 1)(1.0)
        count, z, v = c_size_t(1), references([output]), references([known])
        status = one.status("fmi2GetDirectionalDerivative", z, count, v, count, seed, value)
        if status > 1:
            yield f"fmi2GetDirectionalDerivative of {output} by {known} answers {status_name(status)}"
            return
        derivatives.append(value[0])
        unit = output.shared.get("unit", "")
        slopes[unit] = max(slopes.get(unit, 0.0), abs(value[0]) if math.isfinite(value[0]) else 0.0)
    for (output, known), derivative in zip(pairs, derivatives, strict=True):
        if not math.isfinite(derivative):
            yield f"the derivative of {output} by {known} is {derivative}, which is not finite"
            continue
        unit = output.shared.get("unit", "")
        found = _quotients(one, output, known)
        if found is None:
            continue
        d, quotients = found
        noise = 1e-12 * sizes.get(unit, 0.0) / d + 1e-9 * slopes[unit]
        if all(abs(q - derivative) > 1e-3 * max(abs(q), abs(derivative)) + noise for q in quotients):
            yield f"the derivative of {output} by {known} is {derivative:.6g}; differences give {quotients[2]:.6g}"


def _sizes(trial: Trial, one: Probe) -> dict[str, float]:
    """By unit, the largest value."""
    sizes: dict[str, float] = {}
    reals = [v for v in trial.readable if v.type == "Real"]
    for v, size in zip(reals, one.get(reals), strict=True):
        if isinstance(size, float) and math.isfinite(size):
            unit = v.shared.get("unit", "")
            sizes[unit] = max(sizes.get(unit, 0.0), abs(size))
    return sizes


def _real(one: Probe, v: Scalar) -> float:
    (value,) = one.get([v])
    assert isinstance(value, float)
    return value


def _quotients(one: Probe, output: Scalar, known: Scalar) -> tuple[float, tuple[float, float, float]] | None:
    """The difference of the input, and the quotients to the left, to the right and over both; None if it is refused."""
    u = _real(one, known)
    d = 1e-4 * max(abs(u), 1e-2)
    y = []
    for at in (u - d, u, u + d):
        if one.set_real([known], [at]) > 1:
            one.set_real([known], [u])
            return None
        y.append(_real(one, output))
    one.set_real([known], [u])
    return d, ((y[1] - y[0]) / d, (y[2] - y[1]) / d, (y[2] - y[0]) / (2 * d))


# ---- model exchange --------------------------------------------------------------------------------------------------


def continuous(one: Probe) -> None:
    """From the end of the initialization to continuous-time mode.  Raises Refused."""
    info = EventInfo()
    for _ in range(_MOST_EVENTS):
        one.call("fmi2NewDiscreteStates", byref(info))
        if not info.newDiscreteStatesNeeded:
            one.call("fmi2EnterContinuousTimeMode")
            return
    raise Refused(f"fmi2NewDiscreteStates asks for another iteration {_MOST_EVENTS} times")


def sequence(trial: Trial) -> Iterator[str]:
    """A few steps of Euler's method."""
    if not trial.fmu.knows_states:
        return
    n = len(trial.fmu.state_pairs)
    m = int(trial.fmu.root.get("numberOfEventIndicators", "0"))
    x, slopes, indicators = (c_double * n)(), (c_double * n)(), (c_double * m)()
    event, end = c_int(), c_int()
    h = 1e-6 * trial.step
    with trial.begun(MODEL_EXCHANGE) as one:
        try:
            continuous(one)
            one.call("fmi2GetContinuousStates", x, c_size_t(n))
            for k in range(1, _STEPS + 1):
                one.call("fmi2GetDerivatives", slopes, c_size_t(n))
                x[:] = [a + h * b for a, b in zip(x, slopes, strict=True)]
                one.call("fmi2SetTime", c_double(trial.start + k * h))
                one.call("fmi2SetContinuousStates", x, c_size_t(n))
                one.call("fmi2GetEventIndicators", indicators, c_size_t(m))
                one.call("fmi2CompletedIntegratorStep", c_int(1), byref(event), byref(end))
            one.call("fmi2EnterEventMode")
            continuous(one)
        except Refused as refused:
            yield str(refused)
            return
        for name, values in (("derivative", slopes), ("event indicator", indicators)):
            wrong = [str(k) for k, value in enumerate(values, 1) if not math.isfinite(value)]
            if wrong:
                yield f"{name} {listed(wrong, _SHOWN)} is not finite"


def order(trial: Trial) -> Iterator[str]:
    """States and derivatives as vectors are the variables in the order of Derivatives."""
    states = [x for x, _ in trial.fmu.state_pairs]
    derivatives = [rate for _, rate in trial.fmu.state_pairs]
    n = len(states)
    vector = (c_double * n)()
    if not states:
        return
    with trial.begun(MODEL_EXCHANGE) as one:
        continuous(one)
        for name, variables in (("fmi2GetContinuousStates", states), ("fmi2GetDerivatives", derivatives)):
            one.call(name, vector, c_size_t(n))
            apart = [
                f"{v} ({value!r}, not {x!r})"
                for v, value, x in zip(variables, one.get(variables), vector, strict=True)
                if value != x
            ]
            if apart:
                yield f"{name} and fmi2GetReal differ in {listed(apart, _SHOWN)}"


def nominals(trial: Trial) -> Iterator[str]:
    states = [x for x, _ in trial.fmu.state_pairs]
    n = len(states)
    values = (c_double * n)()
    if not states:
        return
    with trial.begun(MODEL_EXCHANGE) as one:
        status = one.status("fmi2GetNominalsOfContinuousStates", values, c_size_t(n))
        if status > 1:
            yield f"fmi2GetNominalsOfContinuousStates answers {status_name(status)}"
        wrong = [f"{v} = {x:g}" for v, x in zip(states, values, strict=True) if not x > 0.0]
        if status <= 1 and wrong:
            yield f"the nominal values of states are not greater than 0: {listed(wrong, _SHOWN)}"
