"""Connected forces that are held over longer communication steps than advised (step_advice.py), with their masses.

The inverse mass W that a force meets at a port is, in this order,

    stated     1/m, as the scenario gives `mass` of the slave
    measured   of a body of fmu-builder: after initialization one step is tried with and without the force, and its
               state is restored,  W F h = v(h; F) - v(h; 0)
    derived    of another FMU that gives directional derivatives, where its speeds are states:  W = d v'/d F
    seen       m = J/(v_0 + v_1) of the lightest contact of the run, J its impulse, v_0 and v_1 the speeds of impact and
               rebound; or as a coupled element found it, coupling.admittance
    assumed    1/kg or 1/(kg.m2), and the note names it

A stated mass that is not the one measured or derived is a note.

A stiffness per area acts in the run on the largest area that was in contact, which the element shows as `peak_area`.

For a force in space W is the largest eigenvalue of the symmetric part, so the mass is the smallest over all directions.
The inverses at both ends add up; where an element has several points, those on one body do as well.

A force may pass through FMUs without a mass on its way to the body, and the motion on its way back: outputs that follow
inputs directly, as their ModelStructure says.  With the change c of the force on the body, and g of the motion that the
element takes, for a change of their inputs, W = g W_body c.  Each passage from one FMU to another takes an interval
under Jacobi; under Gauss-Seidel only one to a slave that is stepped before the giver.  A force that is found from a
sample of the motion acts L intervals after it, one less than there are such intervals around the circle: with n FMUs in
between 2 n + 1 under Jacobi, n under Gauss-Seidel where both ways lead through them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ctypes import byref, c_double, c_uint, c_void_p
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.events import ContactEvent
from fmu_builder.cosim.scenario_inputs import Start
from fmu_builder.cosim.schedule import Schedule
from fmu_builder.cosim.slave import DISCARD, FATAL, OK, Slave, SlaveDescription
from fmu_builder.errors import InputError, Problem, collected
from fmu_builder.model.connectable import Node
from fmu_builder.model.ports import PORT_KINDS
from fmu_builder.model.scenario import ALGORITHMS, CheckedScenario
from fmu_builder.model.step_advice import (
    HELD,
    HOLD,
    INTERVALS,
    MODE,
    ORDER,
    SLOPE,
    UNKNOWN,
    HeldForce,
    advice_of,
    late_row,
    mode_row,
    number_of,
    two_digits,
)
from fmu_builder.model.wiring import Wiring
from fmu_builder.units import parse_quantity, parse_unit, quantity

ASSUMED = 1.0  # kg or kg.m2
_DENIED = 0.1  # relative: from here on a stated mass is not that of the FMU; a trial over a long step is not exact
PEAK_AREA = "peak_area"
COUPLED_INTERVALS = 2  # between sample and force, which coupling.mode = auto can find: CC_LAGS - 1 of lag.h
Array = NDArray[np.float64]
_TORQUE = parse_unit("N.m")
_ADMITTANCE = re.compile(r"coupling\.admittance(\[\d+\])?")


@dataclass(frozen=True)
class HeldConstant:
    """A stiffness or damping of an initialized slave, and the mass that its force meets.

    given     the mass is a parameter of the element
    unknown   slaves whose mass is assumed to be ASSUMED
    through   slaves that the force or the motion passes through, `intervals` from sample to force with them
    denied    notes on stated masses that the FMUs deny"""

    slave: str
    name: str
    held: HeldForce
    value: float
    mass: float
    inner_mass: float
    mode: float
    order: float
    given: bool
    unknown: tuple[str, ...]
    through: tuple[str, ...] = ()
    intervals: int = 0
    seen: bool = False
    denied: tuple[str, ...] = ()

    def note(self, algorithm: str, step: float) -> str:
        """The note on this step; empty if the step is short enough."""
        intervals = self.intervals if self.through else INTERVALS[algorithm]
        advice = advice_of(self.name, self.held, self.value, self.mass, self.inner_mass, intervals=intervals)
        row = mode_row(self.mode, self.order, self.held.mass, self.given, algorithm)
        most = 1 if self.mode == SLOPE else COUPLED_INTERVALS  # that the mode finds; beyond it is as the law
        too_late = intervals > most
        is_held = row in HELD.values() or too_late
        if is_held:
            row = late_row(intervals)
        best = quantity(two_digits(advice.steps[row]))
        how = f"the force is held over it under {ALGORITHMS[algorithm]}" if is_held else row
        if self.through:
            count = f"{intervals} interval" + "s" * (intervals != 1)
            how += f", and acts {count} after the motion that it follows from, through {' and '.join(self.through)}"
        assumed = ""
        if self.unknown:
            unit, of = self.held.mass_unit, " and ".join(self.unknown)
            assumed = (
                f"; the mass of {of} is unknown, and {ASSUMED:g} {unit} is assumed: state it with "
                f'mass = "... {unit}" at [slaves] {self.unknown[0]}'
            )
        if step > advice.steps[row] * (1.0 + 1e-9):
            choice = ""
            if too_late:
                sooner = ', or algorithm = "gauss_seidel", under which it is not as late' * (algorithm == "jacobi")
                choice = f"{sooner}, or an assembly, inside which nothing is late"
            elif is_held and self.held.mass:
                choice = f", or {MODE} = auto, which a recipe without [structure] coupling = false has"
            return (
                f"{self.slave}: the communication step of {quantity(step)} s is longer than the {best} s advised "
                f"{advice.sentence(quantity)}{', as its contacts show' if self.seen else ''} ({how}); take steps of at "
                f"most {best} s{choice}{assumed}"
            )
        if not assumed:
            return ""
        return f"{self.slave}: steps of up to {best} s are advised {advice.sentence(quantity)} ({how}){assumed}"


def stated_masses(scenario: CheckedScenario, slaves: Mapping[str, SlaveDescription]) -> dict[str, tuple[float, str]]:
    """By slave: the mass that the scenario states, SI, and its unit, "" of a number.  Raises InputError."""
    found: dict[str, tuple[float, str]] = {}
    problems: list[Problem] = []
    for name, entry in scenario.slaves.items():
        if entry.mass is None:
            continue
        where = f"{scenario.path}: [slaves] {name} mass"
        ports = slaves[name].ports.values() if name in slaves else ()
        if ports and all(port.side == "force" for port in ports):
            problems.append(Problem(where, f"is that of a body, and {name} is a force element: state it of the body"))
            continue
        turning = isinstance(entry.mass, str) and entry.mass.rstrip().endswith("m2")
        unit = "kg.m2" if turning else "kg"
        acting = {u.same_dimension(_TORQUE) for p in ports for role in PORT_KINDS[p.kind].force for u in role.units}
        if isinstance(entry.mass, str) and acting == {not turning}:
            what = "is a moment of inertia, and forces" if turning else "is a mass, and moments"
            other = "the mass, kg" if turning else "the moment of inertia, kg.m2"
            problems.append(Problem(where, f"{entry.mass!r} {what} act at the ports of {name}: state {other}"))
            continue
        with collected(problems):
            found[name] = parse_quantity(entry.mass, parse_unit(unit), where), unit * isinstance(entry.mass, str)
            if not 0.0 < found[name][0] < np.inf:
                problems.append(Problem(where, f"{entry.mass!r} must be greater than 0 and finite"))
    if problems:
        raise InputError(problems)
    return found


def held_constants(
    slaves: Mapping[str, Slave],
    wiring: Wiring,
    starts: Mapping[str, Mapping[str, Start]],
    stated: Mapping[str, tuple[float, str]],
    schedule: Schedule,
    time: float,
    step: float,
) -> Iterator[HeldConstant]:
    """Those of all initialized slaves whose force can move a body."""
    targets: dict[Node, list[Node]] = {}
    for target, sources in wiring.sources.items():
        for source in sources:
            targets.setdefault(source, []).append(target)
    bodies = _Bodies(slaves, wiring, targets, stated, schedule, time, step)
    for name, slave in slaves.items():
        values = {n: starts[name].get(n, v.start) for n, v in slave.description.variables.items()}
        for variable in slave.description.variables.values():
            held = variable.held
            if held is None or not (value := number_of(values[variable.name])) > 0.0:
                continue
            given = number_of(values.get(held.mass))
            met = bodies.met_by(slave, held)
            if met.inverse > 0.0:
                yield HeldConstant(
                    slave=name,
                    name=variable.name,
                    held=held,
                    value=value,
                    mass=given if given > 0.0 else 1.0 / met.inverse,
                    inner_mass=number_of(values.get(held.inner_mass)),
                    mode=number_of(values.get(MODE)) or HOLD,
                    order=number_of(values.get(ORDER)) or UNKNOWN,
                    given=given > 0.0,
                    unknown=() if given > 0.0 else tuple(met.unknown),
                    through=tuple(met.through),
                    intervals=met.intervals,
                    denied=tuple(met.denied),
                )


def long_steps(
    constants: Sequence[HeldConstant],
    slaves: Mapping[str, Slave],
    contacts: Sequence[ContactEvent],
    algorithm: str,
    steps: Mapping[str, float],
) -> Iterator[str]:
    """After the run: a note for each that its step is too long for, or of which a mass had to be assumed, and for each
    stated mass that its FMU denies.

    steps   s, by slave: over which its force is held"""
    yield from dict.fromkeys(note for one in constants for note in one.denied)
    for one in constants:
        area = _seen_area(one, slaves[one.slave])
        if area is not None and not area > 0.0:
            continue  # there was no contact, and no force
        one = one if area is None else replace(one, held=one.held._replace(area=area))
        seen = _seen_mass(one, slaves[one.slave], contacts) if one.unknown else 0.0
        known = replace(one, mass=seen, unknown=(), seen=True) if seen > 0.0 else one
        if note := known.note(algorithm, max(steps[name] for name in (one.slave, *one.through))):
            yield note


def _seen_area(one: HeldConstant, slave: Slave) -> float | None:
    """The largest area that was in contact, m2; None of a stiffness that is not per area, or where none is shown."""
    part = one.name.rpartition(".")[0]
    variable = slave.description.variables.get(f"{part}.{PEAK_AREA}" if part else PEAK_AREA)
    return slave.get(variable) if one.held.area > 0.0 and variable is not None and slave.status != DISCARD else None


def _seen_mass(one: HeldConstant, slave: Slave, contacts: Sequence[ContactEvent]) -> float:
    """The mass that follows from the run, kg or kg.m2; 0 if none does."""
    if slave.status != DISCARD:
        every = slave.description.variables.values()
        found = max((slave.get(v) for v in every if _ADMITTANCE.fullmatch(v.name)), default=0.0)
        if found > 0.0:
            return 1.0 / found
    if one.held.part != "contact" or one.inner_mass > 0.0:
        return 0.0
    place = re.compile(re.escape(one.slave) + r"(\.point\[\d+\])?")
    masses = [
        c.impulse / (c.impact_speed + c.rebound_speed)
        for c in contacts
        if place.fullmatch(c.place)
        and c.impulse is not None
        and c.impact_speed is not None
        and c.rebound_speed is not None
        and c.impulse > 0.0 < c.impact_speed + c.rebound_speed
    ]
    return min(masses, default=0.0)


@dataclass
class _Reach:
    """Variables of a slave that a force reaches, or that a motion comes from.

    nodes     by variable: its change for that of each component at the element, or the reverse
    passages  intervals on the way, at most;   through  slaves on it"""

    nodes: dict[Node, Array] = field(default_factory=dict)
    passages: int = 0
    through: tuple[str, ...] = ()


@dataclass
class _Met:
    """What a force meets.   inverse: of all masses that it moves, 1/kg or 1/(kg.m2), 0 without any"""

    inverse: float = 0.0
    unknown: dict[str, None] = field(default_factory=dict)
    through: dict[str, None] = field(default_factory=dict)
    intervals: int = 0
    denied: dict[str, None] = field(default_factory=dict)


class _Bodies:
    """Inverse masses of bodies, each found once."""

    def __init__(
        self,
        slaves: Mapping[str, Slave],
        wiring: Wiring,
        targets: Mapping[Node, Sequence[Node]],
        stated: Mapping[str, tuple[float, str]],
        schedule: Schedule,
        time: float,
        step: float,
    ) -> None:
        self._slaves, self._wiring, self._targets, self._time, self._step = slaves, wiring, targets, time, step
        self._stated, self._schedule = stated, schedule
        self._asked: dict[tuple[tuple[Node, ...], tuple[Node, ...]], Array | None] = {}

    def met_by(self, slave: Slave, held: HeldForce) -> _Met:
        """All bodies that the force moves."""
        met = _Met()
        bodies: dict[str, dict[str, float]] = {}  # by port, those of one number together, and body
        for port in (slave.description.ports[name] for name in held.ports):
            kind = PORT_KINDS[port.kind]
            speed = next(role.name for role in kind.motion if role.rate is None)
            forces = self._reached(slave.name, port.force[kind.force[0].name], ahead=True)
            speeds = self._reached(slave.name, port.motion[speed], ahead=False)
            one = bodies.setdefault(port.name.partition("[")[0], {})
            for body, inverse in self._inverses(forces, speeds, held.mass_unit, met.denied).items():
                if inverse is None:
                    met.unknown[body] = None
                elif not inverse > 0.0:
                    continue
                one[body] = one.get(body, 0.0) + (1.0 / ASSUMED if inverse is None else inverse)
                there, back = forces[body], speeds.get(body, _Reach())
                met.through.update(dict.fromkeys((*there.through, *back.through)))
                met.intervals = max(met.intervals, there.passages + back.passages - 1)
        met.inverse = sum(max(of_port.values(), default=0.0) for of_port in bodies.values())
        return met

    def _inverses(
        self, forces: Mapping[str, _Reach], speeds: Mapping[str, _Reach], unit: str, denied: dict[str, None]
    ) -> dict[str, float | None]:
        """By body: the largest inverse mass over all directions of the force of a port; None where it is unknown.

        denied   takes a note on each stated mass that the FMU denies"""
        found: dict[str, float | None] = {}
        between = {name for body in forces.keys() & speeds.keys() for name in forces[body].through}
        for body, there in forces.items():
            back = speeds.get(body, _Reach())
            mass, given = self._stated.get(body, (0.0, ""))
            inputs, outputs = tuple(there.nodes), tuple(back.nodes)
            W: Array | None = None
            is_stated = bool(mass) and given in ("", unit) and not there.through
            if mass and not is_stated and len(inputs) == len(outputs):
                W = np.diag([self._is_moved(node, given) * self._step / mass for node in inputs])
            elif outputs and (there.through or len(inputs) == len(outputs)):
                W = self._ask(inputs, outputs)
            inverse = None
            if W is not None:
                inverse = _yielding(
                    np.array([*there.nodes.values()]).T @ W @ np.array([*back.nodes.values()]) / self._step
                )
            if is_stated:
                found[body] = 1.0 / mass
                if inverse and abs(inverse * mass - 1.0) > _DENIED:
                    denied[_denial(body, mass, 1.0 / inverse, unit)] = None
            elif W is not None:
                found[body] = inverse
            elif body not in between and (back.nodes or not there.through):
                found[body] = None
        return found

    def _is_moved(self, force: Node, mass_unit: str) -> bool:
        """Whether a mass is what the force at this input moves, rather than a moment of inertia, or the reverse."""
        try:
            turning = parse_unit(self._slaves[force[0]].description.variables[force[1]].unit).same_dimension(_TORQUE)
        except InputError:
            return True
        return turning == (mass_unit == "kg.m2")

    def _reached(self, name: str, names: Sequence[str], ahead: bool) -> dict[str, _Reach]:
        """By slave, what the outputs of an element reach, or where its inputs come from (not ahead)."""
        found: dict[str, _Reach] = {}
        unit = np.eye(len(names))
        self._go(name, {(name, n): unit[k] for k, n in enumerate(names)}, _Reach(), ahead, found)
        return found

    def _go(self, name: str, front: Mapping[Node, Array], way: _Reach, ahead: bool, found: dict[str, _Reach]) -> None:
        met: dict[str, dict[Node, Array]] = {}
        for node, share in front.items():
            for end in self._targets.get(node, ()) if ahead else self._wiring.sources.get(node, ()):
                factor = self._factor(node, end) if ahead else self._factor(end, node)
                at = met.setdefault(end[0], {})
                at[end] = at.get(end, 0.0) + factor * share
        for other, nodes in met.items():
            if other == name or other in way.through:
                continue
            giver, taker = (name, other) if ahead else (other, name)
            late = self._schedule.is_late(giver, taker)
            reach = found.setdefault(other, _Reach(through=way.through))
            reach.passages = max(reach.passages, way.passages + late)
            for node, share in nodes.items():
                reach.nodes[node] = reach.nodes.get(node, 0.0) + share
            if beyond := self._passed(other, nodes, ahead):
                inward, outward = (tuple(nodes), beyond) if ahead else (beyond, tuple(nodes))
                passes = self._ask(inward, outward)
                if passes is not None:
                    shares = np.array([*nodes.values()])
                    onward = passes.T @ shares if ahead else passes @ shares
                    further = _Reach(passages=way.passages + late, through=(*way.through, other))
                    self._go(other, dict(zip(beyond, onward, strict=True)), further, ahead, found)

    def _passed(self, name: str, nodes: Iterable[Node], ahead: bool) -> tuple[Node, ...]:
        """Connected outputs of a slave that follow these inputs of it directly, or the reverse."""
        variables = self._slaves[name].description.variables
        these = [n for _, n in nodes]
        if ahead:
            ends = {n for n, v in variables.items() if v.depends and not v.depends.isdisjoint(these)}
        else:
            ends = {n for one in these for n in variables[one].depends or ()}
        joined = self._targets if ahead else self._wiring.sources
        return tuple((name, n) for n, v in variables.items() if n in ends and v.type == "Real" and (name, n) in joined)

    def _factor(self, source: Node, target: Node) -> float:
        conversion = self._wiring.conversions.get((source, target))
        return 1.0 if conversion is None else conversion.factor

    def _ask(self, inputs: tuple[Node, ...], outputs: tuple[Node, ...]) -> Array | None:
        """The change of the outputs of a slave over a step, (inputs, outputs), for a change of each input; None where
        it is unknown."""
        if (inputs, outputs) not in self._asked:
            slave, answer = self._slaves[inputs[0][0]], None
            if slave.description.restorable:
                answer = _probe(slave, inputs, outputs, self._time, self._step)
            elif slave.description.derivatives:
                answer = _derived(slave, inputs, outputs, self._step)
            self._asked[inputs, outputs] = answer
        return self._asked[inputs, outputs]


def _denial(body: str, stated: float, shown: float, unit: str) -> str:
    of_fmu = quantity(float(f"{shown:.3g}"))
    return (
        f"{body}: [slaves] {body} mass states {quantity(stated)} {unit}, and the FMU shows {of_fmu} {unit} to the "
        "forces at its ports; the step is advised for the stated one: correct it, or remove it to take that of the FMU"
    )


def _yielding(W: Array) -> float | None:
    """The largest inverse mass over all directions."""
    if W.shape[0] != W.shape[1] or not np.isfinite(W).all():
        return None
    return max(float(np.linalg.eigvalsh((W + W.T) / 2.0)[-1]), 0.0)


def _is_good(slave: Slave, status: int, call: str) -> bool:
    """Whether the call of a body succeeded; SlaveError after fmi2Fatal, which no call may follow."""
    if status == FATAL:
        slave.check(status, call, "measuring the mass that a held force meets")
    return bool(status == OK)


def _derived(slave: Slave, inputs: Sequence[Node], outputs: Sequence[Node], step: float) -> Array | None:
    """From the directional derivatives of the speeds' own derivatives, times the step; None where the speeds are no
    states, or a call fails.  The log is then as before."""
    variables, logged = slave.description.variables, len(slave.log)
    derivatives = slave.description.derivatives
    rates = [derivatives[v] for _, n in outputs if (v := variables[n].reference) in derivatives]
    if len(rates) < len(outputs):
        return None
    ins, outs = (c_uint * len(inputs))(*(variables[n].reference for _, n in inputs)), (c_uint * len(rates))(*rates)
    change, good = np.zeros((len(inputs), len(rates))), True
    for k in range(len(inputs)):
        seed, answer = (c_double * len(inputs))(), (c_double * len(rates))()
        seed[k] = 1.0
        status = slave.dll.fmi2GetDirectionalDerivative(
            slave.component, outs, len(rates), ins, len(inputs), seed, answer
        )
        good = _is_good(slave, status, "fmi2GetDirectionalDerivative")
        if not good:
            break
        change[k] = answer
    del slave.log[logged:]
    return change * step if good else None


def _probe(slave: Slave, inputs: Sequence[Node], outputs: Sequence[Node], time: float, step: float) -> Array | None:
    """From steps that are tried, with 1 more at each input and without; None where a call of the slave fails.  Its
    state and its log are then as before."""
    dll, component, size = slave.dll, slave.component, len(inputs)
    variables = slave.description.variables
    ins, outs = ((c_uint * len(nodes))(*(variables[n].reference for _, n in nodes)) for nodes in (inputs, outputs))
    state, logged = c_void_p(), len(slave.log)
    before = (c_double * size)()
    if not _is_good(slave, dll.fmi2GetFMUstate(component, byref(state)), "fmi2GetFMUstate"):
        del slave.log[logged:]
        return None
    good = _is_good(slave, dll.fmi2GetReal(component, ins, size, before), "fmi2GetReal")
    given = np.zeros((size + 1, len(outputs)))
    for trial in range(size + 1):  # the last one without
        changed, answer = (c_double * size)(*before), (c_double * len(outputs))()
        if trial < size:
            changed[trial] += 1.0
        good = (
            good
            and _is_good(slave, dll.fmi2SetReal(component, ins, size, changed), "fmi2SetReal")
            and _is_good(slave, dll.fmi2DoStep(component, time, step, 0), "fmi2DoStep")
            and _is_good(slave, dll.fmi2GetReal(component, outs, len(outputs), answer), "fmi2GetReal")
        )
        given[trial] = answer
        slave.check(dll.fmi2SetFMUstate(component, state), "fmi2SetFMUstate", "after a step that was tried")
    dll.fmi2FreeFMUstate(component, byref(state))
    del slave.log[logged:]
    return given[:-1] - given[-1] if good else None
