"""The order in which the master calls an element and the bodies at its ports, as a start value: `coupling.order`.

A force that is found from the motion at a communication point acts on the interval that begins there (`sequential`), or
on the next one (`parallel`, `late`).  The element can identify that from the motion, which takes samples and may fail
where other forces move the bodies; the master has the order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fmu_builder.cosim.slave import SlaveDescription
from fmu_builder.model.wiring import Wiring

ORDER = "coupling.order"


def call_orders(slaves: Mapping[str, SlaveDescription], wiring: Wiring, algorithm: str) -> Iterator[tuple[str, float]]:
    """By name, the value of `coupling.order` of each slave that has it, where it follows from the connections.

    It does not where a value passes through another FMU on its way, which adds an interval, or where Gauss-Seidel
    calls one of two bodies before the element and the other one after it.

    slaves     in the order in which Gauss-Seidel calls them
    algorithm  jacobi or gauss_seidel"""
    place = {name: k for k, name in enumerate(slaves)}
    for name, description in slaves.items():
        if ORDER not in description.variables:
            continue
        links = list(_links(name, wiring))
        partners = {place[other] for other, _ in links} - {place[name]}
        direct = all(not _passes_through(slaves[other], source) for other, source in links if source)
        if not partners or not direct:
            continue
        literals = description.variables[ORDER].literals
        if algorithm == "jacobi":
            yield name, float(literals["parallel"])
        elif max(partners) < place[name] or min(partners) > place[name]:
            yield name, float(literals["sequential"])


def _links(name: str, wiring: Wiring) -> Iterator[tuple[str, str | None]]:
    """The slaves connected to `name`, and the output that `name` reads there, None where it writes."""
    for (target, _), sources in wiring.sources.items():
        for source, output in sources:
            if target == name:
                yield source, output
            elif source == name:
                yield target, None


def _passes_through(slave: SlaveDescription, output: str) -> bool:
    """Whether an output follows an input of its slave without a state in between, as far as its FMU says."""
    depends = slave.variables[output].depends
    inputs = {v.name for v in slave.variables.values() if v.causality == "input"}
    return bool(inputs) and (depends is None or bool(inputs & depends))
