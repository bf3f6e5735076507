"""Rules on ModelStructure (section 2.2.8 of FMI 2.0.4)."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from fmu_builder.check.document import Fmu
from fmu_builder.check.findings import Found, Rule
from fmu_builder.check.variable_rules import wrong_derivatives
from fmu_builder.errors import listed

_GROUPS = ("Outputs", "Derivatives", "InitialUnknowns")


def _line(fmu: Fmu, group: str) -> int:
    for path in (f"ModelStructure/{group}", "ModelStructure"):
        one = fmu.root.find(path)
        if one is not None:
            return one.sourceline or 0
    return 0


def _unknowns(fmu: Fmu) -> Iterator[tuple[str, int, etree._Element]]:
    for group in _GROUPS:
        yield from ((group, index, one) for index, one in fmu.unknowns(group))


def _named(fmu: Fmu, index: int) -> str:
    return str(fmu.by_index[index]) if index in fmu.by_index else f"index {index}"


def _indices(fmu: Fmu) -> Iterator[Found]:
    for group, index, one in _unknowns(fmu):
        if index not in fmu.by_index:
            yield Found(
                f"{group} lists the index {index}; variables count from 1 to {len(fmu.variables)}", one.sourceline or 0
            )


def _repeated(fmu: Fmu) -> Iterator[Found]:
    for group in _GROUPS:
        seen: set[int] = set()
        for index, one in fmu.unknowns(group):
            if index in seen:
                yield Found(f"{group} lists {_named(fmu, index)} again", one.sourceline or 0)
            seen.add(index)


def _outputs(fmu: Fmu) -> Iterator[Found]:
    given = {index: one for index, one in fmu.unknowns("Outputs") if index in fmu.by_index}
    declared = {v.index for v in fmu.variables if v.causality == "output"}
    missing = [_named(fmu, index) for index in sorted(declared - given.keys())]
    if missing:
        yield Found(f"Outputs lacks {listed(missing, 5)}", _line(fmu, "Outputs"))
    for index in sorted(given.keys() - declared):
        v = fmu.by_index[index]
        yield Found(f"Outputs lists {v}, whose causality is {v.causality}", given[index].sourceline or 0)


def _derivatives(fmu: Fmu) -> Iterator[Found]:
    given = {index: one for index, one in fmu.unknowns("Derivatives") if index in fmu.by_index}
    for index, one in given.items():
        if "derivative" not in fmu.by_index[index].own:
            yield Found(f"Derivatives lists {_named(fmu, index)}, which has no derivative", one.sourceline or 0)


def _derivatives_complete(fmu: Fmu) -> Iterator[Found]:
    """A derivative of a state that is listed is one of a state, and is a state derivative itself."""
    if fmu.interface("ModelExchange") is None:
        return
    given = {index for index, _ in fmu.unknowns("Derivatives")}
    states = set(fmu.states)
    missing = [
        str(v)
        for v in fmu.variables
        if "derivative" in v.own and v.index not in given and int(v.own["derivative"]) not in states
    ]
    if missing:
        yield Found(f"Derivatives lacks {listed(missing, 5)}", _line(fmu, "Derivatives"))


def _initial_unknowns(fmu: Fmu) -> Iterator[Found]:
    given = {index: one for index, one in fmu.unknowns("InitialUnknowns") if index in fmu.by_index}
    derivatives = {index for index, _ in fmu.unknowns("Derivatives")}
    of_states = derivatives | set(fmu.states)
    wanted = {
        v.index
        for v in fmu.variables
        if v.causality == "calculatedParameter"
        or (v.initial in ("approx", "calculated") and (v.causality == "output" or v.index in of_states))
    }
    missing = [_named(fmu, index) for index in sorted(wanted - given.keys())]
    if missing:
        yield Found(f"InitialUnknowns lacks {listed(missing, 5)}", _line(fmu, "InitialUnknowns"))
    for index in sorted(given.keys() - wanted):
        v = fmu.by_index[index]
        what = f"InitialUnknowns lists {v}, which is of causality {v.causality} and initial {v.initial or 'none'}"
        yield Found(what, given[index].sourceline or 0)


def _order(fmu: Fmu) -> Iterator[Found]:
    before = 0
    for index, one in fmu.unknowns("InitialUnknowns"):
        if index < before:
            what = f"InitialUnknowns lists {_named(fmu, index)} (index {index}) behind {_named(fmu, before)} ({before})"
            yield Found(what, one.sourceline or 0)
        before = max(index, before)


def _dependencies(one: etree._Element) -> list[int]:
    return [int(text) for text in one.get("dependencies", "").split()]


def _dependencies_known(fmu: Fmu) -> Iterator[Found]:
    states = set(fmu.states)
    if any(wrong_derivatives(fmu)):
        return
    for group, index, one in _unknowns(fmu):
        for known in _dependencies(one):
            v = fmu.by_index.get(known)
            if v is None:
                yield Found(
                    f"{_named(fmu, index)} in {group} depends on the index {known} of no variable", one.sourceline or 0
                )
                continue
            at_start = group == "InitialUnknowns" and (v.initial == "exact" or v.causality == "parameter")
            if not (at_start or v.causality in ("input", "independent") or known in states):
                what = f"{_named(fmu, index)} in {group} depends on {v}, no {_knowns(group)}"
                yield Found(what, one.sourceline or 0)


def _knowns(group: str) -> str:
    return "input, state, time or exact value" if group == "InitialUnknowns" else "input, state or time"


def _dependencies_order(fmu: Fmu) -> Iterator[Found]:
    for group, index, one in _unknowns(fmu):
        listed_indices = _dependencies(one)
        if listed_indices != sorted(set(listed_indices)):
            what = f"dependencies of {_named(fmu, index)} in {group} are {one.get('dependencies')}"
            yield Found(what, one.sourceline or 0)


def _kinds_length(fmu: Fmu) -> Iterator[Found]:
    for group, index, one in _unknowns(fmu):
        kinds = one.get("dependenciesKind")
        if kinds is not None and ("dependencies" not in one.attrib or len(kinds.split()) != len(_dependencies(one))):
            count = f"{len(_dependencies(one))} dependencies, {len(kinds.split())} kinds"
            yield Found(f"{_named(fmu, index)} in {group} has {count}", one.sourceline or 0)


def _kinds_of_start(fmu: Fmu) -> Iterator[Found]:
    for index, one in fmu.unknowns("InitialUnknowns"):
        others = sorted({*one.get("dependenciesKind", "").split()} - {"dependent", "constant"})
        if others:
            yield Found(
                f"{_named(fmu, index)} in InitialUnknowns has the kind {', '.join(others)}", one.sourceline or 0
            )


def _kinds_of_reals(fmu: Fmu) -> Iterator[Found]:
    for group, index, one in _unknowns(fmu):
        v = fmu.by_index.get(index)
        others = sorted({*one.get("dependenciesKind", "").split()} - {"dependent"})
        if v is not None and v.type != "Real" and others:
            yield Found(f"{v} in {group}, of type {v.type}, has the kind {', '.join(others)}", one.sourceline or 0)


RULES: tuple[Rule[Fmu], ...] = (
    Rule(
        "S01", "unknown-index", "2.2.8", "An Unknown is the index of a variable, from 1.", "correct the index", _indices
    ),
    Rule("S02", "unknown-once", "2.2.8", "A list has no variable twice.", "remove one of them", _repeated),
    Rule(
        "S03",
        "outputs",
        "2.2.8",
        "Outputs lists all variables of causality output, and no others.",
        "list the outputs, those of all types",
        _outputs,
    ),
    Rule(
        "S04",
        "derivatives",
        "2.2.8",
        "What Derivatives lists has the attribute derivative.",
        "add the attribute derivative, with the index of the state",
        _derivatives,
    ),
    Rule(
        "S05",
        "derivatives-complete",
        "2.2.8",
        "Derivatives lists all derivatives of states, for model exchange.",
        "add the Unknown to Derivatives",
        _derivatives_complete,
    ),
    Rule(
        "S06",
        "initial-unknowns",
        "2.2.8",
        "InitialUnknowns lists outputs, states and their derivatives that are initially calculated or approx, and "
        "calculated parameters, and no others.",
        "complete the list, or take the variable off it",
        _initial_unknowns,
    ),
    Rule(
        "S07",
        "initial-unknowns-order",
        "2.2.8",
        "InitialUnknowns are in the order of their indices.",
        "sort the list",
        _order,
    ),
    Rule(
        "S08",
        "dependencies",
        "2.2.8",
        "Dependencies are inputs, continuous states and the independent variable, at the start also what is exact.",
        "name what the variable depends on through it",
        _dependencies_known,
    ),
    Rule(
        "S09",
        "dependencies-order",
        "2.2.8",
        "Dependencies are in the order of their indices, each once.",
        "sort them",
        _dependencies_order,
    ),
    Rule(
        "S10",
        "dependencies-kind",
        "2.2.8",
        "dependenciesKind has as many entries as dependencies.",
        "give one kind for each dependency",
        _kinds_length,
    ),
    Rule(
        "S11",
        "dependencies-kind-at-start",
        "2.2.8",
        "Kinds in InitialUnknowns are dependent or constant.",
        "use dependent or constant",
        _kinds_of_start,
    ),
    Rule(
        "S12",
        "dependencies-kind-of-reals",
        "2.2.8",
        "Kinds other than dependent are of Reals.",
        "use dependent",
        _kinds_of_reals,
    ),
)
