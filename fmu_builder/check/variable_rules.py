"""Rules on the variables of modelDescription.xml (sections 2.2.7 and 2.2.9 of FMI 2.0.4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from fmu_builder.check.document import VARIABILITIES, Fmu, Scalar, by_reference, initials
from fmu_builder.check.findings import Found, Rule
from fmu_builder.errors import listed

_UNSIGNED = r"(?:0|[1-9]\d*)"
_NAME = r"(?:[A-Za-z_]\w*|'(?:[^'\\]|\\.)*')"
_PART = rf"{_NAME}(?:\[{_UNSIGNED}(?:,{_UNSIGNED})*\])?"
_PATH = rf"{_PART}(?:\.{_PART})*"
_STRUCTURED = re.compile(rf"{_PATH}|der\({_PATH}(?:,{_UNSIGNED})?\)", re.ASCII)


def _each(what: Callable[[Scalar], str | None]) -> Callable[[Fmu], Iterator[Found]]:
    """A rule on each variable alone: what is wrong, or None."""

    def find(fmu: Fmu) -> Iterator[Found]:
        for v in fmu.variables:
            wrong = what(v)
            if wrong:
                yield Found(wrong, v.line)

    return find


def _names(fmu: Fmu) -> Iterator[Found]:
    seen: set[str] = set()
    for v in fmu.variables:
        if v.name in seen or not v.name:
            yield Found(f"the name {v} is that of another variable as well" if v.name else "a name is empty", v.line)
        seen.add(v.name)


def _structured(fmu: Fmu) -> Iterator[Found]:
    if fmu.root.get("variableNamingConvention") == "structured":
        for v in fmu.variables:
            if not _STRUCTURED.fullmatch(v.name):
                yield Found(f"the name {v} is not structured", v.line)


def _fits(v: Scalar) -> bool:
    """Whether causality, variability and type fit, so that the rule on `initial` applies."""
    return v.variability in VARIABILITIES[v.causality] and (v.type == "Real" or v.variability != "continuous")


def _variability(v: Scalar) -> str | None:
    if v.variability in VARIABILITIES[v.causality]:
        return None
    allowed = " or ".join(VARIABILITIES[v.causality])
    stated = "" if "variability" in v.attributes else ", the default"
    return f"{v} has the causality {v.causality} and the variability {v.variability}{stated}; allowed: {allowed}"


def _continuous(v: Scalar) -> str | None:
    fits = v.variability in VARIABILITIES[v.causality]
    if v.type == "Real" or v.variability != "continuous" or not fits:
        return None
    stated = "" if "variability" in v.attributes else ", the default"
    return f"{v} is of the type {v.type} and has the variability continuous{stated}"


def _initial(v: Scalar) -> str | None:
    stated = v.attributes.get("initial")
    if stated is None or not _fits(v):
        return None
    allowed = initials(v.causality, v.variability)
    if stated in allowed:
        return None
    rule = f"allowed: {' or '.join(allowed)}" if allowed else "which has none"
    return f"initial of {v} is {stated}; it is of causality {v.causality} and variability {v.variability}, {rule}"


def _starts(v: Scalar) -> bool:
    """Whether the rules on `start` apply."""
    return _fits(v) and _initial(v) is None


def _takes_start(v: Scalar) -> bool:
    return v.causality == "input" or v.initial in ("exact", "approx")


def _start_there(v: Scalar) -> str | None:
    if _starts(v) and v.start is None and _takes_start(v):
        return f"{v} has no start: {_reason(v)}"
    return None


def _no_start(v: Scalar) -> str | None:
    if _starts(v) and v.start is not None and not _takes_start(v):
        return f"{v} has start {v.start}: {_reason(v)}"
    return None


def _reason(v: Scalar) -> str:
    return f"initial is {v.initial}" if v.initial else f"causality is {v.causality}"


def _independent(fmu: Fmu) -> Iterator[Found]:
    times = [v for v in fmu.variables if v.causality == "independent"]
    for v in times[1:]:
        yield Found(f"{v} is independent, as is {times[0]}", v.line)
    for v in times:
        if v.type != "Real":
            yield Found(f"{v} is independent and of the type {v.type}", v.line)


def _bounds(v: Scalar) -> str | None:
    low, high = v.number("min"), v.number("max")
    return (
        f"min {low:g} of {v} is greater than max {high:g}"
        if low is not None and high is not None and low > high
        else None
    )


def _start_in_bounds(v: Scalar) -> str | None:
    low, high = v.number("min"), v.number("max")
    if v.type not in ("Real", "Integer", "Enumeration") or v.start is None or _bounds(v):
        return None
    start = v.number("start")
    assert start is not None
    if (low is not None and start < low) or (high is not None and start > high):
        bounds = [f"{name} {bound:g}" for name, bound in (("min", low), ("max", high)) if bound is not None]
        return f"start {v.start} of {v} is outside of {' and '.join(bounds)}"
    return None


def _nominal(v: Scalar) -> str | None:
    nominal = v.number("nominal")
    return f"nominal of {v} is {nominal:g}" if nominal is not None and not nominal > 0.0 else None


def _literal(fmu: Fmu) -> Iterator[Found]:
    for v in fmu.variables:
        declared = fmu.types.get(v.own.get("declaredType", ""))
        if v.type != "Enumeration" or v.start is None or declared is None or declared[0] != "Enumeration":
            continue
        values = [item.get("value") for item in declared[1].iterfind("Item")]
        with suppress(ValueError):
            if int(v.start) not in {int(value or "") for value in values}:
                yield Found(f"start {v.start} of {v} is none of its values {', '.join(map(str, values))}", v.line)


def wrong_derivatives(fmu: Fmu) -> Iterator[Found]:
    """Where there are any, it is not known which variables are states."""
    for v in fmu.variables:
        if "derivative" not in v.own:
            continue
        state = fmu.by_index.get(int(v.own["derivative"]))
        if state is None:
            yield Found(f"derivative of {v} is {v.own['derivative']}, which is the index of no variable", v.line)
        elif state.type != "Real" or state is v:
            yield Found(
                f"derivative of {v} names {state}, {'itself' if state is v else f'of type {state.type}'}", v.line
            )
        elif "continuous" not in (v.variability, state.variability) or v.variability != state.variability:
            what = f"{v} is the derivative of {state}: they are {v.variability} and {state.variability}, not continuous"
            yield Found(what, v.line)


def _reinit(fmu: Fmu) -> Iterator[Found]:
    states = {int(v.own["derivative"]) for v in fmu.variables if "derivative" in v.own}
    known = not any(wrong_derivatives(fmu))
    for v in fmu.variables:
        if v.own.get("reinit") in ("true", "1"):
            if fmu.is_for_co_simulation_only:
                yield Found(f"{v} has reinit in an FMU that is for co-simulation only", v.line)
            elif known and v.index not in states:
                yield Found(f"{v} has reinit and is no continuous state", v.line)


def _multiple_set(fmu: Fmu) -> Iterator[Found]:
    for v in fmu.variables:
        if "canHandleMultipleSetPerTimeInstant" in v.attributes:
            if fmu.is_for_co_simulation_only:
                what = "in an FMU that is for co-simulation only"
            elif v.causality != "input":
                what = f"and the causality {v.causality}"
            else:
                continue
            yield Found(f"{v} has canHandleMultipleSetPerTimeInstant {what}", v.line)


def _alias_sets(fmu: Fmu) -> Iterable[list[Scalar]]:
    """Variables of one value reference; Integers and Enumerations are got and set by the same functions."""
    return [group for group in by_reference(fmu).values() if len(group) > 1]


def _of(group: Iterable[Scalar]) -> str:
    return listed([str(v) for v in group], 4)


def _alias_constants(fmu: Fmu) -> Iterator[Found]:
    for group in _alias_sets(fmu):
        constant = [v for v in group if v.variability == "constant"]
        if constant and len(constant) < len(group):
            other = next(v for v in group if v.variability != "constant")
            yield Found(f"{other} has the valueReference of {constant[0]}, which is constant", other.line)
        elif constant and len({v.start for v in constant}) > 1:
            yield Found(f"the constants {_of(constant)} of one valueReference differ in start", constant[1].line)


def _alias_settable(fmu: Fmu) -> Iterator[Found]:
    for group in _alias_sets(fmu):
        settable = [v for v in group if v.is_settable]
        if len(settable) > 1:
            yield Found(f"{_of(settable)} have one valueReference and can all be set", settable[1].line)


def _alias_units(fmu: Fmu) -> Iterator[Found]:
    for group in _alias_sets(fmu):
        units = {v.shared.get("unit") for v in group}
        if len(units) > 1:
            texts = " and ".join(sorted(f"'{unit}'" if unit is not None else "no unit" for unit in units))
            yield Found(f"{_of(group)} have one valueReference, and {texts}", group[1].line)


def _alias_types(fmu: Fmu) -> Iterator[Found]:
    for group in _alias_sets(fmu):
        if len({v.type for v in group}) > 1:
            yield Found(f"{_of(group)} have one valueReference and are Integer and Enumeration", group[1].line)


RULES: tuple[Rule[Fmu], ...] = (
    Rule("V01", "variable-names", "2.2.7", "Variables have names of their own.", "rename one of them", _names),
    Rule(
        "V02",
        "structured-names",
        "2.2.9",
        "With variableNamingConvention structured, names have the grammar of section 2.2.9.",
        "rename the variable, or use the convention flat",
        _structured,
    ),
    Rule(
        "V03",
        "causality-and-variability",
        "2.2.7",
        "Causality and variability fit: parameters are fixed or tunable, inputs discrete or continuous, outputs also "
        "constant, the independent variable continuous.",
        "correct one of the two; without variability a variable is continuous",
        _each(_variability),
    ),
    Rule(
        "V04",
        "continuous-is-real",
        "2.2.7",
        "Only Reals are continuous.",
        "state a variability: discrete, tunable, fixed or constant",
        _each(_continuous),
    ),
    Rule(
        "V05",
        "initial",
        "2.2.7",
        "initial is one that causality and variability allow; inputs and the independent variable have none.",
        "leave initial out, or take one that is allowed",
        _each(_initial),
    ),
    Rule(
        "V06",
        "start-required",
        "2.2.7",
        "Inputs, parameters, constants, and what is initially exact or approx have a start value.",
        "add start",
        _each(_start_there),
    ),
    Rule(
        "V07",
        "start-forbidden",
        "2.2.7",
        "What is calculated, and the independent variable, have no start value.",
        "remove start, or set initial to exact or approx",
        _each(_no_start),
    ),
    Rule(
        "V08",
        "independent",
        "2.2.7",
        "At most one variable is independent, and it is a Real.",
        "make the others local",
        _independent,
    ),
    Rule("V09", "min-max", "2.2.7", "min is not greater than max.", "exchange or correct them", _each(_bounds)),
    Rule(
        "V10",
        "start-in-range",
        "2.2.7",
        "A start value lies between min and max.",
        "correct start, min or max",
        _each(_start_in_bounds),
    ),
    Rule(
        "V11", "nominal", "2.2.7", "nominal is greater than 0.", "give the usual size of the variable", _each(_nominal)
    ),
    Rule(
        "V12",
        "start-of-enumeration",
        "2.2.7",
        "The start value of an Enumeration is the value of one of its items.",
        "take the value of an item",
        _literal,
    ),
    Rule(
        "V13",
        "derivative",
        "2.2.7",
        "derivative is the index of another continuous Real, and its owner is continuous.",
        "correct the index, which counts from 1, or the variability",
        wrong_derivatives,
    ),
    Rule("V14", "reinit", "2.2.7", "reinit belongs to continuous states for model exchange.", "remove reinit", _reinit),
    Rule(
        "V15",
        "multiple-set",
        "2.2.7",
        "canHandleMultipleSetPerTimeInstant belongs to inputs for model exchange.",
        "remove the attribute",
        _multiple_set,
    ),
    Rule(
        "V16",
        "alias-of-constant",
        "2.2.7",
        "An alias of a constant is a constant with the same start value.",
        "give it another valueReference, or the same start",
        _alias_constants,
    ),
    Rule(
        "V17",
        "alias-settable",
        "2.2.7",
        "Of the variables of one valueReference at most one can be set.",
        "give them valueReferences of their own, or make the others calculated",
        _alias_settable,
    ),
    Rule(
        "V18",
        "alias-unit",
        "2.2.7",
        "The variables of one valueReference have the same unit, or none.",
        "give them one unit",
        _alias_units,
    ),
    Rule(
        "V19",
        "alias-type",
        "2.2.7",
        "The variables of one valueReference that fmi2GetInteger reads have one type.",
        "give them valueReferences of their own",
        _alias_types,
        "warning",
    ),
)
