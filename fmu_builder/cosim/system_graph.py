"""The system of a scenario as a graph: slaves, the cables between their ports, and algebraic loops.

An algebraic loop is a circle of values without a delay: outputs that depend on inputs (ModelStructure of the FMU), and
inputs that are connected to outputs.  The loops are the strongly connected components of these dependencies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fmu_builder.cosim.master import System
from fmu_builder.cosim.slave import SlaveDescription
from fmu_builder.model.connectable import Node

End = tuple[str, str]  # (slave, port); of a variable without a port its name, without the index of a vector


@dataclass(frozen=True)
class Flow:
    """What goes one way through a cable: quantities with their units, as `r`, `m`.

    loop  whether an algebraic loop goes through it"""

    quantities: tuple[tuple[str, str], ...]
    forward: bool
    kind: Literal["motion", "force", "signal"]
    loop: bool


@dataclass(frozen=True)
class Cable:
    """All connections between two ports; `forward` is from the first to the second."""

    ends: tuple[End, End]
    flows: tuple[Flow, ...]


@dataclass(frozen=True)
class Box:
    """A slave: `driven` are its inputs that follow a drive, `open` its ports that nothing is connected to or drives."""

    name: str
    model: str
    step: float  # s
    driven: tuple[str, ...]
    open: tuple[str, ...]


@dataclass(frozen=True)
class SystemGraph:
    """`order`: in which slaves are stepped, empty for all at once; `loops`: of each algebraic loop its variables,
    `slave.variable`, in their order around a shortest circle."""

    name: str
    algorithm: str
    order: tuple[str, ...]
    boxes: tuple[Box, ...]
    cables: tuple[Cable, ...]
    loops: tuple[tuple[str, ...], ...]


def graph_of(system: System) -> SystemGraph:
    """The graph of a system, its slaves in the order of the scenario."""
    scenario, slaves, sources = system.scenario, system.slaves, system.wiring.sources
    loops = algebraic_loops(slaves, sources)
    looping = {node for loop in loops for node in loop}
    cables: dict[tuple[End, End], dict[tuple[bool, str], dict[str, tuple[str, bool]]]] = {}
    for target, givers in sources.items():
        for source in givers:
            (a, quantity, kind), (b, _, _) = _place(slaves, source), _place(slaves, target)
            ends, forward = ((a, b), True) if (b, a) not in cables else ((b, a), False)
            flow = cables.setdefault(ends, {}).setdefault((forward, kind), {})
            unit = _units(slaves, source, target)
            looped = source in looping and target in looping
            flow[quantity] = (unit, looped or flow.get(quantity, ("", False))[1])
    used = {end for ends in cables for end in ends}
    driven: dict[str, list[str]] = {name: [] for name in slaves}
    for signal in system.signals:
        end, quantity, _ = _place(slaves, signal.node)
        shown = end[1] if end[1] == quantity else f"{end[1]}.{quantity}"
        driven[signal.node[0]] += [shown] if shown not in driven[signal.node[0]] else []
        used.add(end)
    step = scenario.seconds("step")
    return SystemGraph(
        name=scenario.name,
        algorithm=scenario.experiment.algorithm,
        order=() if system.schedule.jacobi else tuple(system.schedule.order),
        boxes=tuple(
            Box(
                name,
                description.model_name,
                system.schedule.ticks[name] * step,
                tuple(driven[name]),
                tuple(port for port in description.ports if (name, port) not in used),
            )
            for name, description in slaves.items()
        ),
        cables=tuple(
            Cable(
                ends,
                tuple(
                    Flow(
                        tuple((quantity, unit) for quantity, (unit, _) in quantities.items()),
                        forward,
                        "motion" if kind == "motion" else "force" if kind == "force" else "signal",
                        any(looped for _, looped in quantities.values()),
                    )
                    for (forward, kind), quantities in flows.items()
                ),
            )
            for ends, flows in cables.items()
        ),
        loops=tuple(tuple(f"{slave}.{name}" for slave, name in loop) for loop in loops),
    )


def _place(slaves: Mapping[str, SlaveDescription], node: Node) -> tuple[End, str, str]:
    """The end of a cable that a variable belongs to, its quantity there, and the kind: motion, force or signal."""
    slave, name = node
    for port in slaves[slave].ports.values():
        for kind, roles in (("motion", port.motion), ("force", port.force)):
            for role, names in roles.items():
                if name in names:
                    return (slave, port.name), role, kind
    plain = re.sub(r"\[\d+\]$", "", name)
    return (slave, plain), plain, "signal"


def _units(slaves: Mapping[str, SlaveDescription], source: Node, target: Node) -> str:
    """The unit, with an arrow where the target has another one."""
    given, taken = (slaves[slave].variables[name].unit for slave, name in (source, target))
    return f"{given} → {taken}" if given and taken and given != taken else given or taken


def algebraic_loops(
    slaves: Mapping[str, SlaveDescription], sources: Mapping[Node, Sequence[Node]]
) -> list[tuple[Node, ...]]:
    """The algebraic loops, each as the variables of one of its shortest circles."""
    from scipy.sparse import csr_array  # takes 0.2 s to import
    from scipy.sparse.csgraph import connected_components

    follows: dict[Node, list[Node]] = {}  # by variable, those that depend on it at the same time
    outputs: dict[str, set[str]] = {}  # those that are connected, by slave
    for slave, name in (source for givers in sources.values() for source in givers):
        outputs.setdefault(slave, set()).add(name)
    for target, givers in sources.items():
        for source in givers:
            follows.setdefault(source, []).append(target)
        for name in sorted(outputs.get(target[0], ())):
            depends = slaves[target[0]].variables[name].depends
            if depends is None or target[1] in depends:
                follows.setdefault(target, []).append((target[0], name))
    nodes = sorted({*follows, *(node for after in follows.values() for node in after)})
    place = {node: k for k, node in enumerate(nodes)}
    pairs = [(place[a], place[b]) for a, after in follows.items() for b in after]
    if not pairs:
        return []
    rows, columns = np.array(pairs).T
    graph = csr_array((np.ones(len(pairs)), (rows, columns)), shape=(len(nodes), len(nodes)))
    _, labels = connected_components(graph, connection="strong")
    groups: dict[int, list[Node]] = {}
    for node, label in zip(nodes, labels.tolist(), strict=True):
        groups.setdefault(label, []).append(node)
    return [_circle(group, follows) for group in groups.values() if len(group) > 1]


def _circle(group: Sequence[Node], follows: Mapping[Node, Sequence[Node]]) -> tuple[Node, ...]:
    """A shortest circle through the first output of a strongly connected group."""
    inside = set(group)
    first = group[0]
    before: dict[Node, Node] = {}
    front = [first]
    while first not in before:
        reached = [(node, after) for node in front for after in follows.get(node, ()) if after in inside]
        front = []
        for node, after in reached:
            if after not in before:
                before[after] = node
                front.append(after)
    way = [first]
    while before[way[-1]] != first:
        way.append(before[way[-1]])
    return (first, *reversed(way[1:]))
