"""The values that slaves exchange, and those of [drive], in calls that are prepared before a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fmu_builder.cosim.link import Link, memory_of
from fmu_builder.cosim.scenario_inputs import Signal
from fmu_builder.cosim.slave import Slave
from fmu_builder.model.connectable import FAMILY, Node, SlaveVariable
from fmu_builder.model.wiring import Wiring

_Calls = list[tuple[Callable[[], int], Link]]


class Exchange:
    """The connected values: per slave the calls that read its outputs and those that write its inputs.

    A slave's outputs are read into one array, ordered so that every link to another slave is a slice of it; inputs with
    one source are set straight from there, sums are formed in between."""

    def __init__(self, slaves: Mapping[str, Slave], wiring: Wiring) -> None:
        self.reads: dict[str, _Calls] = {name: [] for name in slaves}
        self.writes: dict[str, _Calls] = {name: [] for name in slaves}
        for family in ("Real", "Integer", "Boolean"):
            self._connect(slaves, wiring, family)

    def _connect(self, slaves: Mapping[str, Slave], wiring: Wiring, family: str) -> None:
        def variables(nodes: Sequence[Node]) -> list[SlaveVariable]:
            return [slaves[slave].description.variables[name] for slave, name in nodes]

        pairs: dict[tuple[str, str], list[tuple[Node, Node]]] = {}  # (source slave, target slave)
        sums: dict[str, list[tuple[Node, tuple[Node, ...]]]] = {}  # target slave
        for target, sources in wiring.sources.items():
            if FAMILY[variables([target])[0].type] != family:
                continue
            if len(sources) == 1:
                pairs.setdefault((sources[0][0], target[0]), []).append((sources[0], target))
            else:
                sums.setdefault(target[0], []).append((target, sources))
        listed: dict[str, list[Node]] = {name: [] for name in slaves}
        begin: dict[tuple[str, str], int] = {}
        for (source, target_slave), links in pairs.items():
            begin[source, target_slave] = len(listed[source])
            listed[source] += [a for a, _ in links]
        for terms in sums.values():
            for node in (n for _, nodes in terms for n in nodes):
                if node not in listed[node[0]]:
                    listed[node[0]].append(node)
        memory = {name: memory_of(family, len(nodes)) for name, nodes in listed.items()}
        for name, nodes in listed.items():
            if nodes:
                link = Link(slaves[name], "Get", variables(nodes), memory[name])
                self.reads[name].append((link.call, link))
        for (source, target_slave), links in pairs.items():
            first = begin[source, target_slave]
            link = Link(
                slaves[target_slave],
                "Set",
                variables([b for _, b in links]),
                memory[source][first : first + len(links)],
                [a for a, _ in links],
            )
            self.writes[target_slave].append((link.call, link))
        for target_slave, terms in sums.items():
            link = Link(slaves[target_slave], "Set", variables([t for t, _ in terms]), memory_of(family, len(terms)))
            parts = [[(memory[n[0]].data, listed[n[0]].index(n)) for n in nodes] for _, nodes in terms]
            self.writes[target_slave].append((_sum_call(link, parts), link))


def _sum_call(link: Link, parts: Sequence[Sequence[tuple[memoryview, int]]]) -> Callable[[], int]:
    totals: Any = link.memory.data  # a memoryview gives and takes plain floats, several times faster than an array

    def write() -> int:
        for i, terms in enumerate(parts):
            totals[i] = sum([values[k] for values, k in terms])
        return link.call()

    return write


def drive_calls(slaves: Mapping[str, Slave], signals: Sequence[Signal]) -> list[tuple[Callable[[float], int], Link]]:
    """Calls that set the driven inputs of a time, one for each type of each slave."""
    groups: dict[tuple[str, str], list[Signal]] = {}
    for signal in signals:
        groups.setdefault((signal.node[0], FAMILY[signal.variable.type]), []).append(signal)
    calls = []
    for (slave, family), group in groups.items():
        link = Link(slaves[slave], "Set", [s.variable for s in group], memory_of(family, len(group)))
        calls.append((_drive_call(link, group, float if family == "Real" else int), link))
    return calls


def _drive_call(link: Link, signals: Sequence[Signal], kind: type[float] | type[int]) -> Callable[[float], int]:
    values: Any = link.memory.data

    def write(time: float) -> int:
        for i, signal in enumerate(signals):
            values[i] = kind(signal.at(time))
        return link.call()

    return write
