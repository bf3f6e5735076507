"""What elements of fmu-builder learn of the master: in which order it calls them and the bodies.

They are `coupling.order` and `coupling.bodies_first`.

A force that is found from the motion at a communication point acts on the interval that begins there (`sequential`), or
on the next one (`parallel`, `late`).  The element can find that from the motion, which takes samples, and where others
move the bodies as well it may take one for the other; the master knows it.  A spring that is given speeds alone cannot
find out whether the first ones are those at the beginning of its step, or at the end, when nothing accelerated the
bodies."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from fmu_builder.cosim.scenario_inputs import Signal
from fmu_builder.cosim.schedule import Schedule, followed
from fmu_builder.cosim.slave import SlaveDescription
from fmu_builder.model.connectable import Node, SlaveVariable
from fmu_builder.model.step_advice import MODE, ORDER
from fmu_builder.model.wiring import Wiring

BODIES_FIRST = "coupling.bodies_first"
IDENTIFY = "coupling.identify"
_ORDERS = ("sequential", "parallel", "late")  # by L; as Gauss-Seidel and Jacobi call, and with one FMU in between
_NAME_AN_ORDER = ("averaged", "predicted")  # modes
_LOOK_FOR_BODIES = ("auto", *_NAME_AN_ORDER)


def call_orders(
    slaves: Mapping[str, SlaveDescription],
    starts: Mapping[str, Mapping[str, float | str]],
    wiring: Wiring,
    schedule: Schedule,
) -> Iterator[tuple[str, str, float]]:
    """Slaves, and the values of these variables that follow from the connections.

    An order does not where motion and force take more than three intervals from one to the other, where they are not as
    many on all ways, as where Gauss-Seidel calls one of two bodies before the element and the other one after it, or
    where steps of a body are longer or shorter; and what the scenario gives, `unknown` too, or an order of the FMU
    itself, by its mode too, is kept.

    starts   what the scenario gives, by slave and variable"""
    ways = _Ways(slaves, wiring, _targets(wiring), schedule)
    for name, description in slaves.items():
        first = description.variables.get(BODIES_FIRST)
        known = first is None or first.causality != "parameter" or BODIES_FIRST in starts[name]
        if not known and ways.begin_with_bodies(name):
            yield name, BODIES_FIRST, 1.0
        order = description.variables.get(ORDER)
        if order is None or order.causality != "parameter" or not {"unknown", *_ORDERS} <= {*order.literals}:
            continue
        if ORDER in starts[name] or literal(order, {}) != "unknown":
            continue
        mode = description.variables.get(MODE)
        if mode is not None and literal(mode, starts[name]) in _NAME_AN_ORDER:
            continue
        lag = ways.lag(name)
        if lag is not None and lag < len(_ORDERS):
            yield name, ORDER, float(order.literals[_ORDERS[lag]])


def unanswered(
    slaves: Mapping[str, SlaveDescription], starts: Mapping[str, Mapping[str, float | str]], wiring: Wiring
) -> Iterator[str]:
    """Elements that look for the mass of bodies, where no body moves by their force: they find that after some steps,
    and give other forces than those of the law until then."""
    targets = _targets(wiring)
    for name, description in slaves.items():
        mode = description.variables.get(MODE)
        if mode is None or mode.causality != "parameter" or literal(mode, starts[name]) not in _LOOK_FOR_BODIES:
            continue
        if not _is_answered(name, slaves, targets):
            yield name


def held_modes(
    unanswered: Iterable[str],
    slaves: Mapping[str, SlaveDescription],
    starts: Mapping[str, Mapping[str, float | str]],
) -> Iterator[tuple[str, str, float]]:
    """The mode `hold` of those slaves whose mode is `auto` and not given by the scenario.  They identify no mass: one
    that a given motion seems to show would make them warn of too long steps."""
    for name in unanswered:
        variables = slaves[name].variables
        mode = variables[MODE]
        if MODE not in starts[name] and literal(mode, {}) == "auto" and "hold" in mode.literals:
            yield name, MODE, float(mode.literals["hold"])
            if IDENTIFY in variables and IDENTIFY not in starts[name]:
                yield name, IDENTIFY, 0.0


def moved(signals: Iterable[Signal], wiring: Wiring) -> set[str]:
    """Slaves with an input that a drive or a connection gives: the others rest, and any mode gives them the law."""
    return {signal.node[0] for signal in signals} | {slave for slave, _ in wiring.sources}


def unanswered_note(name: str, mode: SlaveVariable, starts: Mapping[str, float | str]) -> str:
    """What a run says of a slave that no body answers."""
    now = literal(mode, starts)
    if now == "hold":
        return f"{name}: no body moves by its force: {MODE} = hold, the law at the inputs"
    return (
        f"{name}: no body moves by its force, and {MODE} = {now} looks for one, with other forces than those of the "
        f"law in the first steps; {MODE} = hold gives the law at the inputs"
    )


def _is_answered(element: str, slaves: Mapping[str, SlaveDescription], targets: Mapping[Node, list[Node]]) -> bool:
    """Whether an output of the element may change what it is given, through the states of others too."""
    nodes = [(element, name) for name in slaves[element].variables]
    seen = set(nodes)
    while nodes:
        for target, taken in targets.get(nodes.pop(), ()):
            if target == element:
                return True
            slave = slaves[target]
            for name, variable in slave.variables.items():
                follows = slave.states_behind.get(name, True) or variable.depends is None or taken in variable.depends
                answers = follows or not slave.ours  # others may have states that they do not show
                if answers and (target, name) in targets and (target, name) not in seen:
                    seen.add((target, name))
                    nodes.append((target, name))
    return False


def _targets(wiring: Wiring) -> dict[Node, list[Node]]:
    """The inputs that each output is connected to."""
    targets: dict[Node, list[Node]] = {}
    for target, sources in wiring.sources.items():
        for source in sources:
            targets.setdefault(source, []).append(target)
    return targets


class _Ways:
    """From the motion of the bodies to an element, and from its force to them, through FMUs whose outputs follow their
    inputs without a state in between.

    Each passage from one FMU to another takes an interval under Jacobi; under Gauss-Seidel only one to a slave that is
    called before the giver.  The force for a sample of the motion acts L intervals after it, one less than there are
    such intervals on both ways."""

    def __init__(
        self,
        slaves: Mapping[str, SlaveDescription],
        wiring: Wiring,
        targets: Mapping[Node, list[Node]],
        schedule: Schedule,
    ) -> None:
        self._slaves, self._wiring, self._targets, self._schedule = slaves, wiring, targets, schedule

    def begin_with_bodies(self, element: str) -> bool:
        """Whether its motion takes no interval on all ways: the bodies are called before it."""
        back: dict[str, set[int]] = {}
        return self._motion(element, self._seen(element), 0, back) and set().union(*back.values()) == {0}

    def lag(self, element: str) -> int | None:
        """L, where it is the same on all ways; None where it is not, or not known."""
        back: dict[str, set[int]] = {}
        there: dict[str, set[int]] = {}
        variables = self._slaves[element].variables
        outputs = [(element, name) for name, variable in variables.items() if variable.causality == "output"]
        known = self._motion(element, self._seen(element), 0, back) and self._force(
            element, outputs, 0, back.keys(), there
        )
        if not known or not there or len(set().union(*back.values())) > 1:
            return None
        lags = {ahead + after - 1 for body, passages in there.items() for ahead in passages for after in back[body]}
        return lags.pop() if len(lags) == 1 else None

    def _seen(self, element: str) -> list[Node]:
        """Inputs that take the motion of bodies, rather than switches and the like."""
        return [(element, name) for port in self._slaves[element].ports.values() for name in port.motion_names]

    def _motion(self, taker: str, inputs: Iterable[Node], passages: int, found: dict[str, set[int]]) -> bool:
        """Add where these inputs come from, with the intervals that takes.   False where that is not known."""
        for source, output in {node for each in inputs for node in self._wiring.sources.get(each, ())}:
            if source == taker:
                continue
            now = passages + self._schedule.is_late(source, taker)
            passed = followed(self._slaves[source], output)
            if passed is None or now > len(_ORDERS) or not self._steps_agree(taker, source, direct=not passed):
                return False
            if not passed:
                found.setdefault(source, set()).add(now)
            elif not self._motion(source, [(source, each) for each in passed], now, found):
                return False
        return True

    def _force(
        self, giver: str, outputs: Iterable[Node], passages: int, bodies: Container[str], found: dict[str, set[int]]
    ) -> bool:
        """Add the bodies that these outputs reach, likewise.   False where they reach anything else."""
        for target, taken in {node for each in outputs for node in self._targets.get(each, ())}:
            if target == giver:
                continue
            now = passages + self._schedule.is_late(giver, target)
            if now > len(_ORDERS) or not self._steps_agree(giver, target, direct=target in bodies):
                return False
            if target in bodies:
                found.setdefault(target, set()).add(now)
                continue
            slave = self._slaves[target]
            reached = [name for name in slave.variables if (target, name) in self._targets]
            passed = [(target, name) for name in reached if taken in (followed(slave, name) or ())]
            if not passed or not self._force(target, passed, now, bodies, found):
                return False
        return True

    def _steps_agree(self, element: str, body: str, direct: bool) -> bool:
        """Whether the body makes one step in each of the element, or several that end with it, with the same force.

        direct   nothing lies between both, which would take shorter intervals than the element"""
        schedule = self._schedule
        slow, quick = schedule.ticks[element], schedule.ticks[body]
        ends = schedule.jacobi or schedule.place[body] < schedule.place[element]
        return slow == quick or (direct and slow % quick == 0 and ends)


def literal(variable: SlaveVariable, given: Mapping[str, float | str]) -> str | None:
    """The literal of an enumeration at the start."""
    number = given.get(variable.name, variable.start)
    return next(
        (text for text, value in variable.literals.items() if str(value) == str(number).removesuffix(".0")), None
    )
