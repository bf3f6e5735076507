"""What elements of fmu-builder learn of the master: the order in which it calls them and the bodies, `coupling.order`.

A force that is found from the motion at a communication point acts on the interval that begins there (`sequential`), or
on the next one (`parallel`, `late`).  The element can find that from the motion, which takes samples, and where others
move the bodies as well it may take one for the other; the master knows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fmu_builder.cosim.schedule import Schedule
from fmu_builder.cosim.slave import SlaveDescription
from fmu_builder.model.connectable import Node, SlaveVariable
from fmu_builder.model.step_advice import MODE
from fmu_builder.model.wiring import Wiring

ORDER = "coupling.order"
_PARALLEL, _SEQUENTIAL = "parallel", "sequential"  # as Jacobi and Gauss-Seidel call
_NAME_AN_ORDER = ("averaged", "predicted")  # modes


def call_orders(
    slaves: Mapping[str, SlaveDescription],
    starts: Mapping[str, Mapping[str, float | str]],
    wiring: Wiring,
    schedule: Schedule,
) -> Iterator[tuple[str, float]]:
    """By name, the value of `coupling.order` of each slave that has it, where it follows from the connections.

    It does not where a value passes through another FMU on its way, which adds an interval, or where Gauss-Seidel
    calls one of two bodies before the element and the other one after it, or where steps of a body are longer or
    shorter; and what the scenario gives, `unknown` too, or an order of the FMU itself, by its mode too, is kept.

    starts   what the scenario gives, by slave and variable"""
    place = {name: k for k, name in enumerate(schedule.order)}
    sources: dict[str, set[Node]] = {name: set() for name in slaves}  # by reader
    readers: dict[str, set[str]] = {name: set() for name in slaves}  # by source
    for (target, _), nodes in wiring.sources.items():
        for node in nodes:
            sources[target].add(node)
            readers[node[0]].add(target)
    for name, description in slaves.items():
        order = description.variables.get(ORDER)
        if (
            order is None
            or order.causality != "parameter"
            or not {"unknown", _PARALLEL, _SEQUENTIAL} <= {*order.literals}
        ):
            continue
        if ORDER in starts[name] or literal(order, {}) != "unknown":
            continue
        mode = description.variables.get(MODE)
        if mode is not None and literal(mode, starts[name]) in _NAME_AN_ORDER:
            continue
        read = {(source, output) for source, output in sources[name] if source != name}
        partners = {source for source, _ in read}
        direct = not any(_passes_through(slaves[source], output) for source, output in read)
        if not partners or not direct or not readers[name] <= partners | {name}:
            continue
        if any(schedule.ticks[partner] != schedule.ticks[name] for partner in partners):
            continue
        one_side = all(place[p] < place[name] for p in partners) or all(place[p] > place[name] for p in partners)
        if schedule.jacobi or one_side:
            yield name, float(order.literals[_PARALLEL if schedule.jacobi else _SEQUENTIAL])


def literal(variable: SlaveVariable, given: Mapping[str, float | str]) -> str | None:
    """The literal of an enumeration at the start."""
    number = given.get(variable.name, variable.start)
    return next(
        (text for text, value in variable.literals.items() if str(value) == str(number).removesuffix(".0")), None
    )


def _passes_through(slave: SlaveDescription, output: str) -> bool:
    """Whether an output follows an input of its slave without a state in between, as far as its FMU says."""
    depends = slave.variables[output].depends
    inputs = {v.name for v in slave.variables.values() if v.causality == "input"}
    return bool(inputs) and (depends is None or bool(inputs & depends))
