"""Power and energy of the connections of ports, recorded on request.

A body takes the force f on it from an element, which takes the velocity v of the body's port.  Both hold over a step,
so what the body receives,  f v_mean,  is not what the element gives,  f_mean v_held: the difference is power that the
coupling makes, or takes.  In the limit of small steps it vanishes.

made(connection) = integral of f v_mean - f_mean v_held

f_mean, v_mean   means of both ends of the step
v_held           mean of the velocity held in this step and that held in the step before: the element takes the position
                 too, and between the two positions that it takes this is the mean velocity

An FMU that passes the motion of a body on to an element, and the force back, as a two_d_point does, is the element of
one connection and the body of the other.  What it gives at the end of its step follows from what it holds over it, so
that these values, and not means, are those of its step: f v_held and f_held v, and nothing is made inside.  What is
made before and behind it compensates, where the element knows of its delay, and counts together.

An element of fmu-builder keeps a ledger: energy.work - energy.residual is what it has stored, dissipated and switched.
Its ports are all connected, or at rest, and that is exact, where it gives a mean force (coupling.mode) too:

made(element) = sum over its connections of the integral of f v_mean, plus what the ledger has gained

Both are what the energies of all bodies and elements have gained together.  An element that a drive moves is left out:
what its force does on the drive, which no slave shows, would be missing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.exchange import Exchange
from fmu_builder.cosim.implicit.bonds import Bond, find_bonds
from fmu_builder.cosim.link import Link
from fmu_builder.cosim.loop.operations import Access, Clock, Combine, Copy, Operation, Term, Work
from fmu_builder.cosim.schedule import Schedule
from fmu_builder.cosim.slave import Slave
from fmu_builder.errors import InputError
from fmu_builder.model.connectable import Node, SlaveVariable
from fmu_builder.model.wiring import Wiring
from fmu_builder.units import parse_unit

_LEDGER = ("energy.work", "energy.residual")


@dataclass(frozen=True)
class ConnectionEnergy:
    """Of a connection `body.port~element.port`, of all those of an element together, or of elements `a+b` that share an
    FMU that passes their forces on.

    made     J, that the coupling has made (> 0) or taken (< 0) in the run
    passed   J, largest minus smallest energy that went into the body"""

    name: str
    made: float
    passed: float


class ConnectionPower:
    """The connections of ports of a run.   rows: of the trace, one every so many ticks"""

    def __init__(
        self,
        slaves: Mapping[str, Slave],
        wiring: Wiring,
        exchange: Exchange,
        schedule: Schedule,
        clock: Clock,
        *,
        driven: Collection[Node],
        rows: int,
        every: int,
    ) -> None:
        self._clock, self._every = clock, every
        of: dict[tuple[str, str, str, str], list[Bond]] = {}
        found = [*find_bonds({name: slave.description for name, slave in slaves.items()}, wiring)]
        for bond in found:
            of.setdefault((bond.body, bond.body_port, bond.element, bond.port), []).append(bond)
        self._passing = _passing(found, slaves)
        self._connections = [
            _Connection(bonds, slaves, exchange, schedule, clock, rows, self._passing) for bonds in of.values()
        ]
        elements = dict.fromkeys(one.element for one in self._connections)
        self._moved = {  # by element, the first of its motions that a drive gives
            name: moved[0]
            for name in elements
            if (
                moved := [
                    n for p in slaves[name].description.ports.values() for n in p.motion_names if (name, n) in driven
                ]
            )
        }
        self._ledgers = [
            ledger
            for name in elements
            if (ledger := _Ledger.of(slaves[name], self._of_element(name), rows)) is not None
        ]

    def _of_element(self, name: str) -> list[_Connection]:
        return [one for one in self._connections if one.element == name]

    def start(self, time: float) -> None:
        """After initialization, when all outputs have been read."""
        for connection in self._connections:
            connection.start()
        for ledger in self._ledgers:
            ledger.link.check(ledger.link.at(ledger.rows.ctypes.data), time)

    def after_writes(self, slave: str) -> Iterator[Operation]:
        """When the inputs of the slave are set: what it holds over its step."""
        for connection in self._connections:
            if slave == connection.body:
                yield connection.holds_force
            if slave == connection.element:
                yield connection.holds_velocity

    def operations(self) -> Iterator[Operation]:
        """At the end of a tick."""
        for connection in self._connections:
            yield from connection.operations()
            for source, rows in connection.recorded():
                yield Copy(clock=self._clock, every=self._every, phase=self._every - 1, source=source, rows=rows)
        for ledger in self._ledgers:
            yield Access.after_each(self._clock, self._every, ledger.link, ledger.rows, first=1)

    def signals(self, rows: int) -> dict[str, tuple[str, NDArray[np.float64]]]:
        """Unit and values by name: of each connection the power into the body, and the energy that was made."""
        found = {f"{one.name}.power": ("W", one.to_body[:rows, 0]) for one in self._connections}
        return found | {f"{name}.made": ("J", made) for name, made, _ in self._made(rows)}

    def energies(self, rows: int) -> tuple[ConnectionEnergy, ...]:
        return tuple(
            ConnectionEnergy(name, float(made[-1]), float(np.ptp(passed))) for name, made, passed in self._made(rows)
        )

    def notes(self) -> Iterator[str]:
        if not self._connections:
            yield (
                "power = true has no effect: no port of a body is connected to a port of an element; connect ports, "
                "or remove it"
            )
        for name, motion in self._moved.items():
            yield (
                f"{name}: the energy that the coupling makes here is not counted, since {motion} is driven, and the "
                "work of a drive is not known; to have it counted, connect a slave of prescribed_motion in its place"
            )

    def _made(self, rows: int) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
        """Name, energy made, and energy passed, over the rows."""
        with_ledger = {ledger.element for ledger in self._ledgers}
        parts: list[tuple[str, list[_Connection], NDArray[np.float64]]] = []
        for one in self._connections:
            if one.element not in with_ledger:
                parts.append((one.name, [one], one.to_body[:rows, 1] - one.of_element[:rows, 1]))
        for ledger in self._ledgers:
            passed = np.sum([one.to_body[:rows, 1] for one in ledger.connections], axis=0)
            gained = ledger.rows[:rows, 0] - ledger.rows[:rows, 1]
            parts.append((ledger.name, [*ledger.connections], passed + gained - gained[0]))
        for names, connections, made in self._joined(parts):
            if any(one.element in self._moved for one in connections):
                continue
            elements = dict.fromkeys(one.element for one in connections if one.element not in self._passing)
            name = names[0] if len(names) == 1 else "+".join(elements)
            into = [one for one in connections if one.body not in self._passing] or connections
            yield name, made, np.sum([one.to_body[:rows, 1] for one in into], axis=0)

    def _joined(
        self, parts: Sequence[tuple[str, list[_Connection], NDArray[np.float64]]]
    ) -> list[tuple[list[str], list[_Connection], NDArray[np.float64]]]:
        """Those together that an FMU joins which passes on what it receives."""
        found: list[tuple[list[str], list[_Connection], NDArray[np.float64]]] = []
        for name, connections, made in parts:
            at, names = self._passed_by(connections), [name]
            apart = []
            for other in found:
                if at & self._passed_by(other[1]):
                    names, connections, made = [*other[0], *names], [*other[1], *connections], other[2] + made
                else:
                    apart.append(other)
            found = [*apart, (names, connections, made)]
        return found

    def _passed_by(self, connections: Sequence[_Connection]) -> set[str]:
        return {name for one in connections for name in (one.body, one.element) if name in self._passing}


class _Connection:
    """A port of an element at a port of a body, n components in SI units."""

    def __init__(
        self,
        bonds: Sequence[Bond],
        slaves: Mapping[str, Slave],
        exchange: Exchange,
        schedule: Schedule,
        clock: Clock,
        rows: int,
        passing: Collection[str],
    ) -> None:
        first, n = bonds[0], len(bonds)
        self.body, self.element = first.body, first.element
        self.name = f"{first.body}.{first.body_port}~{first.element}.{first.port}"
        self.to_body, self.of_element = np.zeros((rows, 2)), np.zeros((rows, 2))  # power, work
        body, element = slaves[self.body].description.variables, slaves[self.element].description.variables
        forces = [[exchange.term((b.element, b.force), _si(element[b.force]))] for b in bonds]
        velocities = [[exchange.term((b.body, b.body_velocity), _si(body[b.body_velocity]))] for b in bonds]
        self._body, self._element = np.zeros(4 * n + 2), np.zeros(4 * n + 2)

        def combined(slave: str, sums: NDArray[np.float64], terms: list[list[Term]], phase: int) -> Combine:
            return Combine(clock=clock, every=schedule.ticks[slave], phase=phase, sums=sums, terms=terms)

        begin = {slave: schedule.begin(slave) for slave in (self.body, self.element)}
        end = {slave: schedule.ticks[slave] - 1 for slave in (self.body, self.element)}
        self.holds_force = combined(self.body, self._body[:n], forces, begin[self.body])
        self.holds_velocity = combined(self.element, self._element[n : 2 * n], velocities, begin[self.element])
        self._moves = combined(self.body, self._body[n : 2 * n], velocities, end[self.body])
        self._acts = combined(self.element, self._element[:n], forces, end[self.element])
        self._works = [
            Work(
                clock=clock,
                every=schedule.ticks[slave],
                phase=end[slave],
                memory=memory,
                is_held=slave == self.body or slave in passing,
                is_passed=slave in passing,
            )
            for slave, memory in ((self.body, self._body), (self.element, self._element))
        ]
        self._size = n

    def start(self) -> None:
        n = self._size
        for one in (self.holds_force, self.holds_velocity, self._moves, self._acts):
            one.call()(0)
        for memory in (self._body, self._element):
            memory[2 * n : 4 * n] = memory[: 2 * n]

    def operations(self) -> Iterator[Operation]:
        yield self._moves
        yield self._works[0]
        yield self._acts
        yield self._works[1]

    def recorded(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Power and work, and the rows for them; those of the start are 0."""
        yield self._body[-2:], self.to_body[1:]
        yield self._element[-2:], self.of_element[1:]


class _Ledger:
    """What an element has stored, dissipated and switched: energy.work and energy.residual, in rows."""

    def __init__(self, slave: Slave, connections: Sequence[_Connection], rows: int) -> None:
        self.element, self.connections = slave.name, connections
        self.name = connections[0].name if len(connections) == 1 else slave.name
        self.rows = np.zeros((rows, len(_LEDGER)))
        self.link = Link(slave, "Get", [slave.description.variables[name] for name in _LEDGER], self.rows)

    @classmethod
    def of(cls, slave: Slave, connections: Sequence[_Connection], rows: int) -> _Ledger | None:
        """None for an element that keeps none."""
        variables = slave.description.variables
        known = all(name in variables and variables[name].type == "Real" for name in _LEDGER)
        return cls(slave, connections, rows) if slave.description.ours and known else None


def _passing(bonds: Sequence[Bond], slaves: Mapping[str, Slave]) -> set[str]:
    """Slaves whose force on a body follows directly from a force on themselves, and their motion from that body's."""
    found: set[str] = set()
    for outer in bonds:
        variables = slaves[outer.element].description.variables
        forces = variables[outer.force].depends or ()
        for inner in bonds:
            if inner.body == outer.element and inner.body_force in forces:
                motions = variables[inner.body_velocity].depends or ()
                found.update({inner.body} if outer.velocity in motions else ())
    return found


def _si(variable: SlaveVariable) -> float:
    """The factor of its unit."""
    if variable.defined is not None:
        return variable.defined.factor
    try:
        return parse_unit(variable.unit).factor
    except InputError:
        return 1.0


def energy_notes(energies: Sequence[ConnectionEnergy]) -> Iterator[str]:
    """What the coupling has made in sum, and where most."""
    if energies:
        worst = max(energies, key=lambda one: abs(one.made))
        share = f", {abs(worst.made) / worst.passed:.2g} of what passed" if worst.passed > 0.0 else ""
        total = sum(one.made for one in energies)
        yield f"the coupling has made {total:.3g} J in sum, most at {worst.name}: {worst.made:.3g} J{share}"
