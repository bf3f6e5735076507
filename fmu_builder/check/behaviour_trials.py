"""What the rules on behaviour try: each on instances of its own, yielding what is wrong as text.

What another rule is about ends a trial by Refused: a step that is refused is named by the trial of steps alone."""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Callable, Iterator
from ctypes import byref, c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p

from fmu_builder.check.document import Scalar
from fmu_builder.check.trial import ERROR, Trial, Values, references, state_functions
from fmu_builder.errors import listed
from fmu_builder.export.smoke import Refused, status_name

_STEPS = 10
_SHOWN = 4  # variables in a finding


# ---- creation --------------------------------------------------------------------------------------------------------


def version(trial: Trial) -> Iterator[str]:
    one = trial.raw()
    for name, wanted in (("fmi2GetVersion", "2.0"), ("fmi2GetTypesPlatform", "default")):
        function = getattr(one.library, name)
        function.restype = c_char_p
        trial.announce(name)
        answer = (function() or b"").decode("utf-8", "replace")
        if answer != wanted:
            yield f"{name} answers '{answer}', not '{wanted}'"
    one.free()


def instantiate(trial: Trial) -> Iterator[str]:
    before = len(trial.logged)
    try:
        trial.raw().free()
    except Refused as refused:
        logged = "".join(f"; it logs: {text}" for _, _, text in trial.logged[before:])
        yield f"{refused}{logged}"


def guid(trial: Trial) -> Iterator[str]:
    trial.raw().free()
    try:
        one = trial.raw(guid="{another guid}")
    except Refused:
        return
    one.free()
    yield "fmi2Instantiate gives an instance for another guid than that of modelDescription.xml"


def initialization(trial: Trial) -> Iterator[str]:
    one = trial.raw()
    try:
        trial.initialize(one)
    except Refused as refused:
        yield str(refused)
    one.free()


def end(trial: Trial) -> Iterator[str]:
    with trial.begun() as one:
        status = one.status("fmi2Terminate")
        if status > 1:
            yield f"fmi2Terminate answers {status_name(status)} after the initialization"
        trial.announce("fmi2FreeInstance of NULL")
        one.library.fmi2FreeInstance.restype = None
        one.library.fmi2FreeInstance(c_void_p(None))


# ---- values ----------------------------------------------------------------------------------------------------------


def starts(trial: Trial) -> Iterator[str]:
    with trial.begun() as one:
        kept = [
            v
            for v in trial.fmu.variables
            if v.start is not None and (v.causality in ("parameter", "input") or v.variability == "constant")
        ]
        for v, value in zip(kept, one.get(kept), strict=True):
            if not _equals(v, value):
                yield f"{v} is {_shown(value)} after the initialization; its start is {v.start}"


def _equals(v: Scalar, value: float | bytes | None) -> bool:
    start = v.start or ""
    if isinstance(value, bytes) or value is None:
        return (value or b"").decode("utf-8", "replace") == start
    if v.type == "Boolean":
        return bool(value) == (start in ("true", "1"))
    return value == float(start) or math.isclose(value, float(start), rel_tol=1e-12)


def _shown(value: float | bytes | None) -> str:
    return repr(value.decode("utf-8", "replace")) if isinstance(value, bytes) else repr(value)


def unknown_reference(trial: Trial) -> Iterator[str]:
    known = {v.reference for v in trial.fmu.variables if v.type == "Real"}
    unknown = next(number for number in itertools.count(2**30) if number not in known)
    with trial.begun() as one:
        value = (c_double * 1)()
        status = one.status("fmi2GetReal", (c_uint * 1)(unknown), c_size_t(1), value, note=" of no variable")
        if status < ERROR:
            yield f"fmi2GetReal of the valueReference {unknown}, of no variable, answers {status_name(status)}"


def set_output(trial: Trial) -> Iterator[str]:
    outputs = [
        v
        for v in trial.fmu.variables
        if (v.type, v.causality, v.initial) == ("Real", "output", "calculated") and not _has_settable_alias(trial, v)
    ]
    if outputs:
        with trial.begun() as one:
            status = one.set_real(outputs[:1], [1.0])
            if status < ERROR:
                yield f"fmi2SetReal of the output {outputs[0]} answers {status_name(status)}"


def _has_settable_alias(trial: Trial, v: Scalar) -> bool:
    return any(w.is_settable and (w.reference, w.family) == (v.reference, v.family) for w in trial.fmu.variables)


def set_fixed(trial: Trial) -> Iterator[str]:
    fixed = [v for v in trial.fmu.variables if (v.type, v.causality, v.variability) == ("Real", "parameter", "fixed")]
    if fixed:
        with trial.begun() as one:
            status = one.set_real(fixed[:1], [float(fixed[0].start or 0.0)])
            if status < ERROR:
                what = f"fmi2SetReal of the fixed parameter {fixed[0]} after the initialization"
                yield f"{what} answers {status_name(status)}"


# ---- steps -----------------------------------------------------------------------------------------------------------


def steps(trial: Trial) -> Iterator[str]:
    with trial.begun() as one:
        for k in range(_STEPS):
            t = trial.start + k * trial.step
            status = one.step(t, trial.step)
            if status >= ERROR:
                yield f"fmi2DoStep from {t:g} s over {trial.step:g} s answers {status_name(status)}"
            if status > 1:
                return


def finite(trial: Trial) -> Iterator[str]:
    with trial.begun(moved=True) as one:
        trial.run(one, 0, _STEPS)
        pairs = zip(trial.readable, trial.result(one), strict=True)
        wrong = [f"{v} = {x}" for v, x in pairs if isinstance(x, float) and not math.isfinite(x)]
        if wrong:
            yield f"after {_STEPS} steps that answer fmi2OK, {listed(wrong, _SHOWN)}"


def variable_steps(trial: Trial) -> Iterator[str]:
    if not trial.can("canHandleVariableCommunicationStepSize"):
        return
    with trial.begun() as one:
        trial.run(one, 0, 4)
    with trial.begun() as one:
        trial.run(one, 0, 1)
        t = trial.start + trial.step
        for share in (0.5, 1.0, 0.25):
            h = share * trial.step
            status = one.step(t, h)
            if status > 1:
                yield f"fmi2DoStep over {h:g} s, {share:g} of the step before, answers {status_name(status)}"
                return
            t += h


def step_of_nothing(trial: Trial) -> Iterator[str]:
    with trial.begun(moved=True) as one:
        trial.run(one, 0, 2)
        before = trial.result(one)
        status = one.step(trial.start + 2 * trial.step, 0.0)
        if status <= 1 and (changed := trial.differing(before, trial.result(one))):
            yield f"fmi2DoStep over 0 s answers {status_name(status)} and changes {listed(changed, _SHOWN)}"


def _solo(trial: Trial) -> Values:
    """Values after a run beside no other instance.  Raises Refused."""
    with trial.begun(moved=True) as one:
        trial.run(one, 0, _STEPS)
        return trial.result(one)


def _repeated(trial: Trial) -> Values:
    """The same, of runs that can be repeated; raises Refused for others, which B10 names."""
    first = _solo(trial)
    if trial.differing(first, _solo(trial)):
        raise Refused("runs differ")
    return first


def repeatable(trial: Trial) -> Iterator[str]:
    if changed := trial.differing(_solo(trial), _solo(trial)):
        yield f"two runs of {_STEPS} steps with the same inputs differ in {listed(changed, _SHOWN)}"


def independent(trial: Trial) -> Iterator[str]:
    if trial.can("canBeInstantiatedOnlyOncePerProcess"):
        return
    alone = _repeated(trial)
    inputs = trial.inputs
    with trial.begun(moved=True) as one, trial.begun() as other:
        if inputs:
            other.set_real(inputs, [float(v.start or 0.0) for v in inputs])
        for k in range(_STEPS):
            trial.run(one, k, k + 1)
            if k < _STEPS // 2:
                trial.run(other, k, k + 1)
        if changed := trial.differing(alone, trial.result(one)):
            yield f"beside another instance, a run of {_STEPS} steps differs in {listed(changed, _SHOWN)}"


def reset(trial: Trial) -> Iterator[str]:
    first = _repeated(trial)
    with trial.begun() as one:
        trial.run(one, 0, 3)
        status = one.status("fmi2Reset")
        if status > 1:
            yield f"fmi2Reset answers {status_name(status)}"
            return
        trial.initialize(one, moved=True)
        trial.run(one, 0, _STEPS)
        if changed := trial.differing(first, trial.result(one)):
            yield f"after fmi2Reset, a run of {_STEPS} steps differs in {listed(changed, _SHOWN)}"


def early_step(trial: Trial) -> Iterator[str]:
    one = trial.raw()
    status = one.step(trial.start, trial.step)
    if status < ERROR:
        yield f"fmi2DoStep before the initialization answers {status_name(status)}"
    one.free()


def early_exit(trial: Trial) -> Iterator[str]:
    one = trial.raw()
    status = one.status("fmi2ExitInitializationMode", note=" outside of it")
    if status < ERROR:
        yield f"fmi2ExitInitializationMode without fmi2EnterInitializationMode answers {status_name(status)}"
    one.free()


def input_derivatives(trial: Trial) -> Iterator[str]:
    inputs = trial.inputs[:1]
    if trial.can("canInterpolateInputs") and inputs:
        with trial.begun() as one:
            orders, values = (c_int * 1)(1), (c_double * 1)(0.0)
            status = one.status("fmi2SetRealInputDerivatives", references(inputs), c_size_t(1), orders, values)
            if status > 1:
                yield f"fmi2SetRealInputDerivatives of {inputs[0]} answers {status_name(status)}"


def output_derivatives(trial: Trial) -> Iterator[str]:
    outputs = [
        v for v in trial.fmu.variables if (v.type, v.causality, v.variability) == ("Real", "output", "continuous")
    ][:1]
    if outputs and int(trial.attribute("maxOutputDerivativeOrder") or 0) > 0:
        with trial.begun() as one:
            trial.run(one, 0, 2)
            orders, values = (c_int * 1)(1), (c_double * 1)()
            status = one.status("fmi2GetRealOutputDerivatives", references(outputs), c_size_t(1), orders, values)
            if status > 1:
                yield f"fmi2GetRealOutputDerivatives of {outputs[0]} answers {status_name(status)}"


# ---- states ----------------------------------------------------------------------------------------------------------


def round_trip(trial: Trial) -> Iterator[str]:
    if trial.can("canGetAndSetFMUstate"):
        yield from _again(trial, serialized=False)


def serialized(trial: Trial) -> Iterator[str]:
    if trial.can("canSerializeFMUstate") and not any(_again(trial, serialized=False)):
        yield from _again(trial, serialized=True)


def _again(trial: Trial, serialized: bool) -> Iterator[str]:
    """Steps after a restored state are those after the state itself."""
    with trial.begun(moved=True) as one:
        state_functions(one)
        trial.run(one, 0, 3)
        state, size = c_void_p(), c_size_t()
        calls: list[tuple[str, Callable[[], tuple[object, ...]]]] = [("fmi2GetFMUstate", lambda: (byref(state),))]
        if serialized:
            data = ctypes.create_string_buffer(0)

            def room() -> tuple[object, ...]:
                nonlocal data
                data = ctypes.create_string_buffer(size.value)
                return state, data, size

            calls += [
                ("fmi2SerializedFMUstateSize", lambda: (state, byref(size))),
                ("fmi2SerializeFMUstate", room),
                ("fmi2FreeFMUstate", lambda: (byref(state),)),
                ("fmi2DeSerializeFMUstate", lambda: (data, size, byref(state))),
            ]
        for name, arguments in calls:
            status = one.status(name, *arguments())
            if status > 1:
                yield f"{name} answers {status_name(status)}"
                return
        trial.run(one, 3, _STEPS)
        first = trial.result(one)
        status = one.status("fmi2SetFMUstate", state)
        if status > 1:
            yield f"fmi2SetFMUstate answers {status_name(status)}"
            return
        trial.run(one, 3, _STEPS)
        if changed := trial.differing(first, trial.result(one)):
            how = "serialized and restored" if serialized else "restored"
            yield f"after a state that was {how}, {_STEPS - 3} steps differ in {listed(changed, _SHOWN)}"
        if not serialized:
            one.status("fmi2FreeFMUstate", byref(state))
            if state.value is not None:
                yield "fmi2FreeFMUstate does not set its argument to NULL"
            status = one.status("fmi2FreeFMUstate", byref(c_void_p()), note=" of NULL")
            if status > 1:
                yield f"fmi2FreeFMUstate of NULL answers {status_name(status)}"


# ---- log -------------------------------------------------------------------------------------------------------------


def quiet(trial: Trial) -> Iterator[str]:
    before = len(trial.logged)
    one = trial.raw(logging=False)
    trial.initialize(one)
    if trial.is_co_simulation:
        trial.run(one, 0, 3)
    logged = [text for status, _, text in trial.logged[before:] if status == 0]
    if logged:
        yield f"with loggingOn = fmi2False it logs '{logged[0][:80]}'"
    one.free()


def categories(trial: Trial) -> Iterator[str]:
    known = {one.get("name") for one in trial.fmu.root.iterfind("LogCategories/Category")}
    if not known:
        return
    one = trial.raw()
    trial.initialize(one)
    if trial.is_co_simulation:
        trial.run(one, 0, 3)
    one.free()
    others = sorted({category for _, category, _ in trial.logged} - {str(name) for name in known})
    if others:
        yield f"messages have the category {listed([repr(name) for name in others], _SHOWN)}, none of LogCategories"
