"""Connected forces that are held over longer communication steps than advised (step_advice.py), with their masses.

The inverse mass W that a force meets at a port is, in this order,

    stated     1/m, as the scenario gives `mass` of the slave
    measured   of a body of fmu-builder: after initialization one step is tried with and without the force, and its
               state is restored,  W F h = v(h; F) - v(h; 0)
    derived    of another FMU that gives directional derivatives, where its speeds are states:  W = d v'/d F
    seen       m = J/(v_0 + v_1) of the lightest contact of the run, J its impulse, v_0 and v_1 the speeds of impact and
               rebound; or as a coupled element found it, coupling.admittance
    assumed    1/kg or 1/(kg.m2), and the note names it

A stiffness per area acts in the run on the largest area that was in contact, which the element shows as `peak_area`.

For a force in space W is the largest eigenvalue of the symmetric part, so the mass is the smallest over all directions.
The inverses at both ends add up; where an element has several points, those on one body do as well."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ctypes import byref, c_double, c_uint, c_void_p
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.events import ContactEvent
from fmu_builder.cosim.scenario_inputs import Start
from fmu_builder.cosim.slave import DISCARD, FATAL, OK, Slave
from fmu_builder.errors import InputError, Problem, collected
from fmu_builder.model.connectable import Node
from fmu_builder.model.ports import PORT_KINDS
from fmu_builder.model.scenario import ALGORITHMS, CheckedScenario
from fmu_builder.model.step_advice import HELD, HOLD, MODE, HeldForce, advice_of, mode_row, number_of, two_digits
from fmu_builder.model.wiring import Wiring
from fmu_builder.units import parse_quantity, parse_unit, quantity

ASSUMED = 1.0  # kg or kg.m2
PEAK_AREA = "peak_area"
_ADMITTANCE = re.compile(r"coupling\.admittance(\[\d+\])?")


@dataclass(frozen=True)
class HeldConstant:
    """A stiffness or damping of an initialized slave, and the mass that its force meets.

    given     the mass is a parameter of the element
    unknown   slaves whose mass is assumed to be ASSUMED"""

    slave: str
    name: str
    held: HeldForce
    value: float
    mass: float
    inner_mass: float
    mode: float
    given: bool
    unknown: tuple[str, ...]
    seen: bool = False

    def note(self, algorithm: str, step: float) -> str:
        """The note on this step; empty if the step is short enough."""
        advice = advice_of(self.name, self.held, self.value, self.mass, self.inner_mass)
        row = mode_row(self.mode, self.held.mass, self.given, algorithm)
        best = quantity(two_digits(advice.steps[row]))
        how = f"the force is held over it under {ALGORITHMS[algorithm]}" if row in HELD.values() else row
        assumed = ""
        if self.unknown:
            unit, of = self.held.mass_unit, " and ".join(self.unknown)
            assumed = (
                f"; the mass of {of} is unknown, and {ASSUMED:g} {unit} is assumed: state it with "
                f'mass = "... {unit}" at [slaves] {self.unknown[0]}'
            )
        if step > advice.steps[row] * (1.0 + 1e-9):
            choice = (
                f", or {MODE} = auto, which a recipe without [structure] coupling = false has" if self.held.mass else ""
            )
            return (
                f"{self.slave}: the communication step of {quantity(step)} s is longer than the {best} s advised "
                f"{advice.sentence(quantity)}{', as its contacts show' if self.seen else ''} ({how}); take steps of at "
                f"most {best} s" + (choice if row in HELD.values() else "") + assumed
            )
        if not assumed:
            return ""
        return f"{self.slave}: steps of up to {best} s are advised {advice.sentence(quantity)} ({how}){assumed}"


def stated_masses(scenario: CheckedScenario) -> dict[str, tuple[float, str]]:
    """By slave: the mass that the scenario states, SI, and its unit, "" of a number.  Raises InputError."""
    found: dict[str, tuple[float, str]] = {}
    problems: list[Problem] = []
    for name, entry in scenario.slaves.items():
        if entry.mass is None:
            continue
        where = f"{scenario.path}: [slaves] {name} mass"
        turning = isinstance(entry.mass, str) and entry.mass.rstrip().endswith("m2")
        unit = "kg.m2" if turning else "kg"
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
    time: float,
    step: float,
) -> Iterator[HeldConstant]:
    """Those of all initialized slaves whose force can move a body."""
    targets: dict[Node, list[Node]] = {}
    for target, sources in wiring.sources.items():
        for source in sources:
            targets.setdefault(source, []).append(target)
    bodies = _Bodies(slaves, wiring, targets, stated, time, step)
    for name, slave in slaves.items():
        values = {n: starts[name].get(n, v.start) for n, v in slave.description.variables.items()}
        for variable in slave.description.variables.values():
            held = variable.held
            if held is None or not (value := number_of(values[variable.name])) > 0.0:
                continue
            given = number_of(values.get(held.mass))
            inverse, unknown = bodies.inverse_mass(slave, held)
            if inverse > 0.0:
                yield HeldConstant(
                    slave=name,
                    name=variable.name,
                    held=held,
                    value=value,
                    mass=given if given > 0.0 else 1.0 / inverse,
                    inner_mass=number_of(values.get(held.inner_mass)),
                    mode=number_of(values.get(MODE)) or HOLD,
                    given=given > 0.0,
                    unknown=() if given > 0.0 else unknown,
                )


def long_steps(
    constants: Iterable[HeldConstant],
    slaves: Mapping[str, Slave],
    contacts: Sequence[ContactEvent],
    algorithm: str,
    steps: Mapping[str, float],
) -> Iterator[str]:
    """After the run: a note for each that its step is too long for, or of which a mass had to be assumed.

    steps   s, by slave: over which its force is held"""
    for one in constants:
        area = _seen_area(one, slaves[one.slave])
        if area is not None and not area > 0.0:
            continue  # there was no contact, and no force
        one = one if area is None else replace(one, held=one.held._replace(area=area))
        seen = _seen_mass(one, slaves[one.slave], contacts) if one.unknown else 0.0
        known = replace(one, mass=seen, unknown=(), seen=True) if seen > 0.0 else one
        if note := known.note(algorithm, steps[one.slave]):
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


class _Bodies:
    """Inverse masses of bodies, each found once."""

    def __init__(
        self,
        slaves: Mapping[str, Slave],
        wiring: Wiring,
        targets: Mapping[Node, Sequence[Node]],
        stated: Mapping[str, tuple[float, str]],
        time: float,
        step: float,
    ) -> None:
        self._slaves, self._wiring, self._targets, self._time, self._step = slaves, wiring, targets, time, step
        self._stated = stated
        self._asked: dict[tuple[Node, ...], float | None] = {}

    def inverse_mass(self, slave: Slave, held: HeldForce) -> tuple[float, tuple[str, ...]]:
        """Of all bodies that the force moves, 1/kg or 1/(kg.m2), 0 without any; and the slaves where it is assumed."""
        unknown: dict[str, None] = {}
        bodies: dict[str, dict[str, float]] = {}  # by port, those of one number together, and body
        for port in (slave.description.ports[name] for name in held.ports):
            kind = PORT_KINDS[port.kind]
            speed = next(role.name for role in kind.motion if role.rate is None)
            forces = [self._targets.get((slave.name, n), ()) for n in port.force[kind.force[0].name]]
            speeds = [self._wiring.sources.get((slave.name, n), ()) for n in port.motion[speed]]
            for number, (body, _) in enumerate(forces[0]):
                one = bodies.setdefault(port.name.partition("[")[0], {})
                inputs = tuple(nodes[number] for nodes in forces if number < len(nodes))
                outputs = tuple(node for nodes in speeds for node in nodes if node[0] == body)
                mass, unit = self._stated.get(body, (0.0, ""))
                inverse = 1.0 / mass if mass and unit in ("", held.mass_unit) else self._ask(body, inputs, outputs)
                if inverse is not None and not mass and inputs and outputs:  # in the units of the element
                    inverse *= self._factor((slave.name, port.force[kind.force[0].name][0]), inputs[0])
                    inverse *= self._factor(outputs[0], (slave.name, port.motion[speed][0]))
                if inverse is None:
                    unknown[body] = None
                one[body] = one.get(body, 0.0) + (1.0 / ASSUMED if inverse is None else inverse)
        return sum(max(of_port.values()) for of_port in bodies.values()), tuple(unknown)

    def _factor(self, source: Node, target: Node) -> float:
        conversion = self._wiring.conversions.get((source, target))
        return 1.0 if conversion is None else conversion.factor

    def _ask(self, body: str, inputs: tuple[Node, ...], outputs: tuple[Node, ...]) -> float | None:
        if inputs not in self._asked:
            slave, answer = self._slaves[body], None
            if len(inputs) == len(outputs) and all(node[0] == body for node in inputs):
                if slave.description.restorable:
                    answer = _probe(slave, inputs, outputs, self._time, self._step)
                elif slave.description.derivatives:
                    answer = _derived(slave, inputs, outputs)
            self._asked[inputs] = answer
        return self._asked[inputs]


def _yielding(W: NDArray[np.float64]) -> float | None:
    """The largest inverse mass over all directions."""
    return max(float(np.linalg.eigvalsh((W + W.T) / 2.0)[-1]), 0.0) if np.isfinite(W).all() else None


def _is_good(slave: Slave, status: int, call: str) -> bool:
    """Whether the call of a body succeeded; SlaveError after fmi2Fatal, which no call may follow."""
    if status == FATAL:
        slave.check(status, call, "measuring the mass that a held force meets")
    return bool(status == OK)


def _derived(slave: Slave, inputs: Sequence[Node], outputs: Sequence[Node]) -> float | None:
    """The same from the directional derivatives of the speeds' own derivatives; None where the speeds are no states, or
    a call fails.  Its log is then as before."""
    variables, size, logged = slave.description.variables, len(inputs), len(slave.log)
    derivatives = slave.description.derivatives
    rates = [derivatives[v] for _, n in outputs if (v := variables[n].reference) in derivatives]
    if len(rates) < size:
        return None
    ins, outs = (c_uint * size)(*(variables[n].reference for _, n in inputs)), (c_uint * size)(*rates)
    W, good = np.zeros((size, size)), True
    for k in range(size):
        seed, answer = (c_double * size)(), (c_double * size)()
        seed[k] = 1.0
        status = slave.dll.fmi2GetDirectionalDerivative(slave.component, outs, size, ins, size, seed, answer)
        good = _is_good(slave, status, "fmi2GetDirectionalDerivative")
        if not good:
            break
        W[:, k] = answer
    del slave.log[logged:]
    return _yielding(W) if good else None


def _probe(slave: Slave, inputs: Sequence[Node], outputs: Sequence[Node], time: float, step: float) -> float | None:
    """The largest change of the speeds in a step, for a force of 1 N or 1 N.m, over that step; None where a call of the
    body fails.  Its state and its log are then as before."""
    dll, component, size = slave.dll, slave.component, len(inputs)
    variables = slave.description.variables
    ins, outs = ((c_uint * size)(*(variables[n].reference for _, n in nodes)) for nodes in (inputs, outputs))
    state, logged = c_void_p(), len(slave.log)
    before = (c_double * size)()
    if not _is_good(slave, dll.fmi2GetFMUstate(component, byref(state)), "fmi2GetFMUstate"):
        del slave.log[logged:]
        return None
    good = _is_good(slave, dll.fmi2GetReal(component, ins, size, before), "fmi2GetReal")
    speeds = np.zeros((size + 1, size))
    for trial in range(size + 1):  # the last one without
        force, speed = (c_double * size)(*before), (c_double * size)()
        if trial < size:
            force[trial] += 1.0
        good = (
            good
            and _is_good(slave, dll.fmi2SetReal(component, ins, size, force), "fmi2SetReal")
            and _is_good(slave, dll.fmi2DoStep(component, time, step, 0), "fmi2DoStep")
            and _is_good(slave, dll.fmi2GetReal(component, outs, size, speed), "fmi2GetReal")
        )
        speeds[trial] = speed
        slave.check(dll.fmi2SetFMUstate(component, state), "fmi2SetFMUstate", "after a step that was tried")
    dll.fmi2FreeFMUstate(component, byref(state))
    del slave.log[logged:]
    change = (speeds[:-1] - speeds[-1]) / step
    return _yielding(change) if good else None
