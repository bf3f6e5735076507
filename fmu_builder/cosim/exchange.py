"""The values that slaves exchange, and those of [drive], as operations of the loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.link import Link, memory_of
from fmu_builder.cosim.loop.operations import Access, Clock, Combine, Finite, Operation, Term
from fmu_builder.cosim.loop.program import BLOCK, Block
from fmu_builder.cosim.scenario_inputs import Signal
from fmu_builder.cosim.schedule import Schedule
from fmu_builder.cosim.slave import Slave
from fmu_builder.model.connectable import FAMILY, Node, SlaveVariable
from fmu_builder.model.scenario import Conversion
from fmu_builder.model.wiring import Wiring


class Exchange:
    """The connected values: per slave the operations that read its outputs and those that write its inputs.

    A slave's outputs are read into one array, ordered so that every link to another slave is a slice of it; inputs with
    one source are set straight from there, sums and conversions are formed in between."""

    def __init__(self, slaves: Mapping[str, Slave], wiring: Wiring, clock: Clock, schedule: Schedule) -> None:
        self.reads: dict[str, list[Operation]] = {name: [] for name in slaves}
        self.writes: dict[str, list[Operation]] = {name: [] for name in slaves}
        self._clock, self._schedule = clock, schedule
        self._places: dict[Node, tuple[NDArray[Any], int]] = {}
        for family in ("Real", "Integer", "Boolean"):
            self._connect(slaves, wiring, family)

    def term(self, node: Node, factor: float) -> Term:
        """The value of a connected output, as it was read last, times the factor."""
        return Term(*self._places[node], factor)

    def converted(self, node: Node, conversion: Conversion | None) -> Term:
        """The same in the units of an input."""
        return Term.of(*self._places[node], conversion)

    def _read(self, slave: str, link: Link) -> Access:
        every = self._schedule.ticks[slave]
        return Access(clock=self._clock, every=every, phase=every - 1, link=link, late=1)

    def _write(self, slave: str, link: Link) -> Access:
        schedule = self._schedule
        return Access(clock=self._clock, every=schedule.ticks[slave], phase=schedule.begin(slave), link=link, late=0)

    def check(self, time: float) -> None:
        """Read all outputs once.   Raises SlaveError."""
        for operations in self.reads.values():
            for one in operations:
                if isinstance(one, Access):
                    one.link.check(one.link.call(), time)

    def _connect(self, slaves: Mapping[str, Slave], wiring: Wiring, family: str) -> None:
        def variables(nodes: Sequence[Node]) -> list[SlaveVariable]:
            return [slaves[slave].description.variables[name] for slave, name in nodes]

        pairs: dict[tuple[str, str], list[tuple[Node, Node]]] = {}  # (source slave, target slave)
        sums: dict[str, list[tuple[Node, tuple[Node, ...]]]] = {}  # target slave
        for target, sources in wiring.sources.items():
            if FAMILY[variables([target])[0].type] != family:
                continue
            if len(sources) == 1 and (sources[0], target) not in wiring.conversions:
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
        together = memory_of(family, sum(map(len, listed.values())))  # side by side, in few lines of the cache
        memory = {}
        for name, nodes in listed.items():
            memory[name], together = together[: len(nodes)], together[len(nodes) :]
        for name, nodes in listed.items():
            self._places |= {node: (memory[name], k) for k, node in enumerate(nodes)}
            if nodes:
                link = Link(slaves[name], "Get", variables(nodes), memory[name])
                read = self._read(name, link)
                self.reads[name].append(read)
                if family == "Real":
                    check = Finite(
                        clock=self._clock, every=read.every, phase=read.phase, memory=memory[name], nodes=nodes
                    )
                    self.reads[name].append(check)
        for (source, target_slave), links in pairs.items():
            first = begin[source, target_slave]
            link = Link(
                slaves[target_slave],
                "Set",
                variables([b for _, b in links]),
                memory[source][first : first + len(links)],
                [a for a, _ in links],
            )
            self.writes[target_slave].append(self._write(target_slave, link))
        for target_slave, terms in sums.items():
            link = Link(slaves[target_slave], "Set", variables([t for t, _ in terms]), memory_of(family, len(terms)))
            parts = [
                [Term.of(memory[n[0]], listed[n[0]].index(n), wiring.conversions.get((n, target))) for n in nodes]
                for target, nodes in terms
            ]
            write = self._write(target_slave, link)
            self.writes[target_slave] += [
                Combine(clock=self._clock, every=write.every, phase=write.phase, sums=link.memory, terms=parts),
                write,
            ]


def drive_operations(
    slaves: Mapping[str, Slave],
    signals: Sequence[Signal],
    clock: Clock,
    ticks: Mapping[str, int],
    leads: Mapping[Node, float],
) -> Iterator[tuple[Access, Block]]:
    """Operations that set the driven inputs where a slave's step begins, one for each type of each slave, with the
    blocks of their values.   ticks: in a step of each slave;   leads: by input, how many later its value is"""
    groups: dict[tuple[str, str, float], list[Signal]] = {}
    for signal in signals:
        groups.setdefault((signal.node[0], FAMILY[signal.variable.type], leads.get(signal.node, 0)), []).append(signal)
    for (slave, family, lead), group in groups.items():
        memory = memory_of(family, BLOCK * len(group)).reshape(BLOCK, len(group))
        link = Link(slaves[slave], "Set", [s.variable for s in group], memory)

        every = ticks[slave]

        def fill(
            first: int,
            count: int,
            memory: Any = memory,
            group: Sequence[Signal] = group,
            every: int = every,
            lead: float = lead,
        ) -> None:
            times = clock.start + (np.arange(first, first + count, dtype=np.float64) * every + lead) * clock.step
            for column, signal in enumerate(group):
                memory[:count, column] = signal.values(times)

        access = Access(
            clock=clock,
            every=every,
            link=link,
            address=memory.ctypes.data,
            stride=memory.strides[0],
            rows=BLOCK,
            late=0,
        )
        yield access, Block(every=every, phase=0, fill=fill)
