"""An element with canaries: hidden values behind every array of its structs, which no function may write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fmu_builder.model.layout import Layout, Node
from fmu_builder.model.model import ElementModel, EventIndicator, Variable
from fmu_builder.units import parse_unit

CANARIES = 4  # values behind each array
_PREFIX = "canary_"


@dataclass(frozen=True)
class Guarded:
    """A model with canaries, and the indices of these by the name of the array in C that they follow: of the struct
    Element (`values`) and of the struct Indicators (`indicators`)."""

    model: ElementModel
    values: Mapping[str, Sequence[int]]
    indicators: Mapping[str, Sequence[int]]


def with_canaries(model: ElementModel) -> Guarded:
    """The model with a canary behind every array and every group of its structs.  The variables keep their
    declarations, with the new indices."""
    root, places, values = _guarded(model.layout.root)
    moved: dict[int, Variable] = {places[v.index]: _moved(v, places) for v in model.variables}
    moved |= {index: _canary(array, index) for array, indices in values.items() for index in indices}
    z_root, z_places, z_canaries = _guarded(model.indicator_layout.root)
    indicators = {place: one for place, one in zip(z_places, model.indicators, strict=True)}
    indicators |= {i: EventIndicator(array, 1.0) for array, indices in z_canaries.items() for i in indices}
    padded = replace(
        model,
        variables=tuple(moved[index] for index in range(len(moved))),
        layout=Layout(root),
        quaternions=tuple((places[q], places[w]) for q, w in model.quaternions),
        indicators=tuple(indicators[index] for index in range(len(indicators))),
        indicator_layout=Layout(z_root),
    )
    return Guarded(padded, values, z_canaries)


def _guarded(root: Node) -> tuple[Node, list[int], dict[str, list[int]]]:
    """The struct with canaries, where in it each scalar of the struct without has its place, and the canaries."""
    padded = _padded(root)
    places: list[int] = []
    canaries: dict[str, list[int]] = {}
    for index, name in enumerate(_scalars(padded, "")):
        group, _, leaf = name.rpartition(".")
        if leaf.startswith(_PREFIX):
            array = f"{group}.{leaf.removeprefix(_PREFIX)}".removeprefix(".")
            canaries.setdefault(array, []).append(index)
        else:
            places.append(index)
    return padded, places, canaries


def _padded(node: Node) -> Node:
    found = Node(node.each, node.size)
    for name, member in node.members.items():
        found.members[name] = _padded(member)
        if member.each or member.size:
            found.members[f"{_PREFIX}{name}"] = Node(size=CANARIES)
    return found


def _scalars(node: Node, path: str) -> Iterator[str]:
    """For each scalar of the struct, in its order, the member of C that it belongs to."""
    for name, member in node.members.items():
        for copy in range(max(member.each, 1)):
            here = f"{path}{name}[{copy}]" if member.each else f"{path}{name}"
            if member.members:
                yield from _scalars(member, f"{here}.")
            else:
                yield from [here] * max(member.size, 1)


def _moved(v: Variable, places: list[int]) -> Variable:
    def place(index: int) -> int:
        return places[index] if index >= 0 else -1

    return replace(
        v,
        index=place(v.index),
        depends=tuple(map(place, v.depends)),
        rate=place(v.rate),
        primitive=place(v.primitive),
        start_from=place(v.start_from),
        initial=tuple(map(place, v.initial)),
        derivative=place(v.derivative),
    )


def _canary(array: str, index: int) -> Variable:
    return Variable(
        name=f"canary behind {array}",
        index=index,
        kind="fixed",
        type="real",
        description="",
        unit=parse_unit("1"),
        hidden=True,
    )
