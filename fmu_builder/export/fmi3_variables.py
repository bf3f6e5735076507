"""The variables of an FMU in FMI 3.0: scalars, and where the recipe says `arrays = true` vectors as arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fmu_builder.model.model import Model, Variable

Fmi = Literal[2, 3]
"""The version of FMI an FMU is built for: 2.0 or 3.0."""

INDICATORS = "event_indicators."  # begins the names of the variables that the event indicators are in FMI 3.0
_COMPONENT = re.compile(r"^(?P<vector>.*)\[(?P<number>\d+)\](?P<end>\)?)$")


@dataclass(frozen=True)
class Fmi3Variable:
    """A scalar, or an array of scalars with value references in a row; the first one is that of the array."""

    name: str
    scalars: tuple[Variable, ...]

    @property
    def first(self) -> Variable:
        return self.scalars[0]

    @property
    def reference(self) -> int:
        return self.first.index

    @property
    def description(self) -> str:
        text = self.first.description
        return text.replace(_inside(self.first.name), _inside(self.name)) if self.first.kind == "derivative" else text


def fmi3_variables(model: Model) -> list[Fmi3Variable]:
    """Those an importer sees, in their order, without the event indicators."""
    visible = [v for v in model.variables if not v.hidden]
    if not model.arrays:
        return [Fmi3Variable(v.name, (v,)) for v in visible]
    vectors = list(_vectors(visible))
    of = {v.index: [one.index for one in vector] for vector in vectors for v in vector}
    states = [v.index for v in model.by_kind("state")]

    def is_whole(vector: Sequence[Variable]) -> bool:
        """Whether states and derivatives are vectors both, in the order of the vector of states."""
        if vector[0].derivative < 0:
            return True
        own, partners = [v.index for v in vector], [v.derivative for v in vector]
        of_states = own if vector[0].kind == "state" else partners
        place = states.index(of_states[0])
        return partners == of[partners[0]] and of_states == states[place : place + len(own)]

    found = []
    for vector in vectors:
        if len(vector) > 1 and is_whole(vector):
            found.append(Fmi3Variable(_base(vector[0]), tuple(vector)))
        else:
            found += [Fmi3Variable(v.name, (v,)) for v in vector]
    return found


def _base(v: Variable) -> str:
    """The name of the vector that a component belongs to; of a derivative, der(v[1]), it is der(v)."""
    match = _COMPONENT.match(v.name)
    assert match is not None
    return f"{match['vector']}{match['end']}"


def _vectors(variables: Sequence[Variable]) -> Iterator[list[Variable]]:
    """Runs of components 1, 2, ... of one vector that differ in nothing but their number and values."""
    run: list[Variable] = []
    for v in variables:
        if run and not _continues(run, v):
            yield run
            run = []
        run.append(v)
    if run:
        yield run


def _continues(run: Sequence[Variable], v: Variable) -> bool:
    last, own = _COMPONENT.match(run[-1].name), _COMPONENT.match(v.name)
    return (
        last is not None
        and own is not None
        and last["vector"] == own["vector"]
        and int(last["number"]) == len(run)
        and int(own["number"]) == len(run) + 1
        and v.index == run[-1].index + 1
        and _shared(v) == _shared(run[0])
    )


def _inside(name: str) -> str:
    """The variable of a derivative: v of der(v)."""
    return name.removeprefix("der(").removesuffix(")")


def _shared(v: Variable) -> Variable:
    """What components of an array have in common."""
    of_one = {"rate": -1, "primitive": -1, "start_from": -1, "initial": (), "derivative": -1, "depends": ()}
    text = "" if v.kind == "derivative" else v.description
    return replace(v, name="", index=0, start=0.0, description=text, **of_one)  # type: ignore[arg-type]
