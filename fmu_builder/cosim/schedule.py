"""When each slave of a run is set, stepped and read: the order of Gauss-Seidel, and slaves with longer steps.

A slave whose step is k communication steps long is stepped in the last one of them, so that its outputs never lie ahead
of the time of the run; between its steps they hold.  Jacobi sets its inputs where its step begins, Gauss-Seidel where
it is stepped, with the newest values.

A force element has the step of the slowest of its bodies unless it is given one: both ends of a force then feel the
same over the same time.  Of several forces in a step a slow body would feel one alone."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fmu_builder.cosim.slave import SlaveDescription
from fmu_builder.errors import InputError, Problem, collected, did_you_mean, listed
from fmu_builder.model.connectable import Node
from fmu_builder.model.scenario import IMPLICIT, CheckedScenario
from fmu_builder.model.wiring import Wiring
from fmu_builder.units import parse_quantity, parse_unit, quantity


@dataclass(frozen=True)
class Schedule:
    """order: of the slaves; ticks: communication steps in a step of each; jacobi: values are exchanged when all slaves
    have stepped, else when each has"""

    order: Sequence[str]
    ticks: Mapping[str, int]
    jacobi: bool

    @cached_property
    def place(self) -> dict[str, int]:
        """By slave: its place in the order."""
        return {name: k for k, name in enumerate(self.order)}

    def begin(self, slave: str) -> int:
        """The tick of its step, from 0, in which a slave is set."""
        return 0 if self.jacobi else self.ticks[slave] - 1

    def is_late(self, giver: str, taker: str) -> bool:
        """Whether a value takes an interval from one slave to the other."""
        return self.jacobi or self.place[giver] > self.place[taker]

    def rounds(self) -> list[list[str]]:
        """Slaves that are set, then stepped, then read, together."""
        return [list(self.order)] if self.jacobi else [[name] for name in self.order]

    def ahead(self, wiring: Wiring, slaves: Mapping[str, SlaveDescription]) -> dict[str, int]:
        """By slave: how many ticks later than the beginning of its step the real inputs are that others give it."""
        found: dict[str, int] = {}
        if self.jacobi:
            return found
        place = self.place
        for (slave, name), sources in wiring.sources.items():
            if slaves[slave].variables[name].type != "Real":
                continue
            for source, _ in sources:
                newest = self.ticks[slave] - (0 if place[source] < place[slave] else self.ticks[source])
                found[slave] = max(found.get(slave, 0), newest)
        return found

    def leads(
        self, wiring: Wiring, slaves: Mapping[str, SlaveDescription], solved: Collection[str]
    ) -> dict[Node, float]:
        """By driven variable: how many ticks later than the beginning of its step the value is that it gets.

        Motions that a drive gives a force element belong to the time of those that its bodies give it: of one at the
        end of the step and one at its beginning it would take the way of a step for relative motion.  Its parameters
        belong there too, and its switches to the time at which its force begins to act: under Jacobi, too, that is the
        end of its step.  Where forces are solved for, the motion of the bodies over the whole step counts, and what
        is no part of the solution is held in the middle of it."""
        ahead: dict[str, float] = {**self.ahead(wiring, slaves), **dict.fromkeys(solved, 0.5)}
        found: dict[Node, float] = {}
        for name, slave in slaves.items():
            ports = [port for port in slave.ports.values() if port.side == "force"]
            late = ahead.get(name, 0)
            acts = self.ticks[name] if self.jacobi else late
            for variable in slave.variables.values() if ports else ():
                if variable.causality in ("input", "parameter"):
                    found[name, variable.name] = late if variable.type == "Real" else acts
        return {node: late for node, late in found.items() if late > 0}

    def longest(self, wiring: Wiring) -> dict[str, int]:
        """By slave: the ticks of its own step, or of that of a slave connected to it, if that is longer."""
        found = dict(self.ticks)
        for (target, _), sources in wiring.sources.items():
            for source, _ in sources:
                found[target] = max(found[target], self.ticks[source])
                found[source] = max(found[source], self.ticks[target])
        return found

    def between_bodies(self, wiring: Wiring, slaves: Mapping[str, SlaveDescription]) -> Iterator[tuple[str, str, str]]:
        """Force elements to which Gauss-Seidel brings the motion of one body later than that of another one, with the
        body that is in time and the late one."""
        for name in () if self.jacobi else self.order:
            ways = sorted(self._delays(name, wiring, slaves), key=lambda way: (way[1], self.place[way[0]]))
            late = [body for body, delay in ways if delay > ways[0][1]]
            if late:
                yield name, ways[0][0], late[0]

    def _delays(self, name: str, wiring: Wiring, slaves: Mapping[str, SlaveDescription]) -> set[tuple[str, int]]:
        """The slaves that move a force element, each with how many steps later its motion is there, through those that
        pass it on without a state in between: they are called before or behind what they follow."""
        place, found = self.place, set[tuple[str, int]]()
        ways = [(node, int(place[node[0]] > place[name])) for node in _motions_of(name, wiring, slaves)]
        seen = set[tuple[Node, int]]()
        while ways:
            node, delay = ways.pop()
            if (node, delay) in seen or node[0] == name or delay > len(place):
                continue
            seen.add((node, delay))
            passed = followed(slaves[node[0]], node[1])
            if not passed:
                found.add((node[0], delay))
            for used in passed or ():
                for source in wiring.sources.get((node[0], used), ()):
                    ways.append((source, delay + int(place[source[0]] > place[node[0]])))
        return found

    def before_quick_bodies(self, wiring: Wiring, slaves: Mapping[str, SlaveDescription]) -> Iterator[tuple[str, str]]:
        """Force elements that Gauss-Seidel steps before a body with shorter steps, which is then in the midst of
        theirs, with that body."""
        for name in () if self.jacobi else self.order:
            for body in sorted(_bodies_of(name, wiring, slaves)):
                if self.ticks[body] < self.ticks[name] and self.place[body] > self.place[name]:
                    yield name, body

    def notes(
        self,
        wiring: Wiring,
        slaves: Mapping[str, SlaveDescription],
        step: float,
        solved: Collection[str],
        driven: Collection[Node],
    ) -> Iterator[str]:
        """Force elements between their bodies, pairs of slaves with different steps that act on each other, and motions
        that are held.

        solved   slaves whose forces do not follow from the order of the calls
        driven   by values that change, and no part of what is solved"""
        if between := [one for one in self.between_bodies(wiring, slaves) if one[0] not in solved]:
            (name, before, behind), *others = between
            also = f", and {' and '.join(one for one, _, _ in others[:3])} likewise" if others else ""
            also += f", and {len(others) - 3} more" if len(others) > 3 else ""
            through = "" if {before, behind} <= _bodies_of(name, wiring, slaves) else " and what passes their motion on"
            where = (
                f"between two ways from its body {before}"
                if before == behind
                else (f"between its bodies {before} and {behind}")
            )
            yield (
                f"{name} is stepped {where}{also}: it sees one at the end of a step "
                "and the other one at its beginning, and takes the way of a body in a step for relative motion; list "
                f"such slaves behind their bodies{through}, or leave out [experiment] order"
            )
        for name, body in self.before_quick_bodies(wiring, slaves):
            yield (
                f"{name} is stepped before its body {body}, whose steps are shorter, and sees it in the midst of its "
                f"own step: list {name} behind {body}, or leave out [experiment] order"
            )
        for name in self.order:
            bodies = sorted(_bodies_of(name, wiring, slaves), key=self.ticks.__getitem__)
            if odd := [body for body in bodies if self.ticks[bodies[-1]] % self.ticks[body]]:
                both = " and ".join(quantity(self.ticks[body] * step) for body in (odd[0], bodies[-1]))
                yield (
                    f"{odd[0]} and {bodies[-1]}, bodies of {name}, have steps of {both} s, which seldom end together: "
                    f"{name} sees motions of unlike times; give them steps of which one is a multiple of the other"
                )
        motions = {
            (name, motion) for name in solved for port in slaves[name].ports.values() for motion in port.motion_names
        }
        if held := sorted(f"{slave}.{name}" for slave, name in motions.intersection(driven)):
            yield (
                f"{listed(held, 3)}: driven, and held in the middle of each communication step, so that the error "
                "falls with the step alone, whatever coupling_tolerance is; drive the position in SI units, whose "
                "velocity follows, or connect a prescribed_motion"
            )
        links = {(source, target[0]) for target, sources in wiring.sources.items() for source, _ in sources}
        for a, b in sorted(links):
            if not a < b or (b, a) not in links or self.ticks[a] == self.ticks[b]:
                continue
            quick, slow = sorted((a, b), key=self.ticks.__getitem__)
            both = " and ".join(quantity(self.ticks[name] * step) for name in (quick, slow))
            longer = quantity(self.ticks[slow] * step)
            if slow in _movers_of(quick, wiring, slaves):
                yield (
                    f"{quick} gives several forces in each step of its body {slow}, over steps of {both} s, and {slow} "
                    f"feels one of them alone: that makes energy; leave out the step of {quick}, or give it one of "
                    f"{longer} s"
                )
            else:
                yield (
                    f"{quick} and {slow} act on each other over steps of {both} s: the longer one counts for the "
                    f"accuracy, so that steps of {longer} s for both are as good"
                )


def schedule_of(scenario: CheckedScenario, slaves: Mapping[str, SlaveDescription], wiring: Wiring) -> Schedule:
    """Raises InputError with every problem found."""
    problems: list[Problem] = []
    ticks = {name: 1 for name in slaves}
    for name in slaves:
        with collected(problems):
            ticks[name] = _ticks(scenario, name)
    problems += _wrong_stops(scenario, ticks)
    order = list(slaves)
    with collected(problems):
        order = _order(scenario, slaves, wiring)
    if problems:
        raise InputError(problems)
    _take_steps_of_bodies(ticks, scenario, slaves, wiring)
    schedule = Schedule(order, ticks, scenario.experiment.algorithm == "jacobi")
    if scenario.experiment.order is None:
        schedule = _behind_bodies(schedule, wiring, slaves)
    return schedule


def _behind_bodies(schedule: Schedule, wiring: Wiring, slaves: Mapping[str, SlaveDescription]) -> Schedule:
    """The schedule with force elements behind bodies of which they would see one earlier than another one; where others
    pass the motion on, in the order of what follows what."""
    moved = _last(schedule, wiring, slaves)
    if any(moved.between_bodies(wiring, slaves)):
        other = _last(replace(schedule, order=_structural_order(slaves, wiring)), wiring, slaves)
        moved = moved if any(other.between_bodies(wiring, slaves)) else other
    return moved


def _last(schedule: Schedule, wiring: Wiring, slaves: Mapping[str, SlaveDescription]) -> Schedule:
    behind = {name for name, *_ in schedule.between_bodies(wiring, slaves)}
    behind |= {name for name, _ in schedule.before_quick_bodies(wiring, slaves)}
    return replace(schedule, order=sorted(schedule.order, key=behind.__contains__))


def _ticks(scenario: CheckedScenario, slave: str) -> int:
    """Communication steps in a step of the slave."""
    given = scenario.slaves[slave].step
    if given is None:
        return 1
    where = f"{scenario.path}: [slaves] {slave} step"
    algorithm = scenario.experiment.algorithm
    if algorithm in IMPLICIT:
        raise InputError(Problem(where, f"all slaves have the step of the experiment under {algorithm}: remove it"))
    own, step = parse_quantity(given, parse_unit("s"), where), scenario.seconds("step")
    if not 0.0 < own < math.inf:
        raise InputError(Problem(where, f"{given!r} must be greater than 0"))
    if not 0.0 < step < math.inf:  # a fault of the experiment, reported with its times
        return 1
    ticks = max(round(own / step), 1)
    if abs(own / step - ticks) > 1e-6:
        what = f"{own:g} s is not a whole multiple of step = {step:g} s; {ticks * step:g} s is the nearest one"
        raise InputError(Problem(where, what))
    return ticks


def _wrong_stops(scenario: CheckedScenario, ticks: Mapping[str, int]) -> Iterator[Problem]:
    """Slaves whose last step does not end with the run, with the next stop that suits all of them."""
    if (common := math.lcm(*ticks.values())) == 1:
        return
    count, step = _count(scenario), scenario.seconds("step")
    stop = scenario.seconds("start") + (count // common + 1) * common * step
    for name, own in ticks.items():
        if count % own:
            what = f"the run of {count * step:g} s is not a whole number of steps of {own * step:g} s"
            yield Problem(f"{scenario.path}: [slaves] {name} step", f"{what}; {stop:g} s is the next stop")


def _take_steps_of_bodies(
    ticks: dict[str, int], scenario: CheckedScenario, slaves: Mapping[str, SlaveDescription], wiring: Wiring
) -> None:
    """Give force elements without a step of their own that of the slowest of their bodies; what is a body to one of
    them may be a force element itself."""
    if set(ticks.values()) == {1}:
        return
    taken = True
    while taken:
        taken = False
        for name in slaves:
            longest = max((ticks[body] for body in _movers_of(name, wiring, slaves)), default=1)
            if scenario.slaves[name].step is None and longest > ticks[name]:
                ticks[name] = longest
                taken = True


def _count(scenario: CheckedScenario) -> int:
    """Communication steps of the run."""
    return round((scenario.seconds("stop") - scenario.seconds("start")) / scenario.seconds("step"))


def _bodies_of(name: str, wiring: Wiring, slaves: Mapping[str, SlaveDescription]) -> set[str]:
    """The slaves that give a force element the motions of its ports."""
    return {source for source, _ in _motions_of(name, wiring, slaves) if source != name}


def _motions_of(name: str, wiring: Wiring, slaves: Mapping[str, SlaveDescription]) -> list[Node]:
    """The outputs that give a force element the motions of its ports."""
    ports = [port for port in slaves[name].ports.values() if port.side == "force"]
    nodes = [(name, motion) for port in ports for motion in port.motion_names]
    return [source for node in nodes for source in wiring.sources.get(node, ())]


def _movers_of(name: str, wiring: Wiring, slaves: Mapping[str, SlaveDescription]) -> set[str]:
    """As `_bodies_of`, with those behind outputs that follow inputs without a state in between, as of a gain."""
    found, open_ones, seen = set[str](), _motions_of(name, wiring, slaves), set[Node]()
    while open_ones:
        node = open_ones.pop()
        if node in seen or node[0] == name:
            continue
        seen.add(node)
        found.add(node[0])
        for used in followed(slaves[node[0]], node[1]) or ():
            open_ones += wiring.sources.get((node[0], used), ())
    return found


def followed(slave: SlaveDescription, output: str) -> frozenset[str] | None:
    """Inputs that an output follows without a state in between; None where its FMU does not say."""
    depends = slave.variables[output].depends
    inputs = frozenset(v.name for v in slave.variables.values() if v.causality == "input")
    return inputs & depends if depends is not None else None if inputs else inputs


def _order(scenario: CheckedScenario, slaves: Mapping[str, SlaveDescription], wiring: Wiring) -> list[str]:
    """In which Gauss-Seidel calls the slaves."""
    given = scenario.experiment.order
    if given in (None, "listed"):
        return list(slaves)
    where = f"{scenario.path}: [experiment] order"
    if (algorithm := scenario.experiment.algorithm) != "gauss_seidel":
        raise InputError(Problem(where, f"is of gauss_seidel, and the algorithm is {algorithm}: remove it"))
    if given == "structure":
        return _structural_order(slaves, wiring)
    known = scenario.slaves
    problems = [Problem(where, f"there is no slave '{n}'" + did_you_mean(n, known)) for n in given if n not in known]
    problems += [Problem(where, f"{name} is named twice") for name in dict.fromkeys(given) if given.count(name) > 1]
    if missing := [name for name in known if name not in given]:
        problems.append(Problem(where, f"{', '.join(missing)} must be in it, as all slaves"))
    if problems:
        raise InputError(problems)
    return [name for name in given if name in slaves]


def _structural_order(slaves: Mapping[str, SlaveDescription], wiring: Wiring) -> list[str]:
    """Each slave after those that its outputs follow without a state in between, as ModelStructure says; where these
    are a loop, and where it is free, as listed."""
    before: dict[str, set[str]] = {name: set() for name in slaves}
    read = {node for sources in wiring.sources.values() for node in sources}
    for (slave, used), sources in wiring.sources.items():
        outputs = [variable for variable in slaves[slave].variables.values() if (slave, variable.name) in read]
        if any(output.depends is None or used in output.depends for output in outputs):
            before[slave] |= {source for source, _ in sources} - {slave}
    order: list[str] = []
    left = dict.fromkeys(slaves)
    while left:
        order.append(next((name for name in left if not before[name] & left.keys()), next(iter(left))))
        del left[order[-1]]
    return order
