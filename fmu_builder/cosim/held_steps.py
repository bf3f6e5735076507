"""Connected forces that are held over longer communication steps than advised (step_advice.py), with their masses.

The inverse mass W that a force meets at a port is asked of the body itself: after initialization one step of it is
tried with the force and without, and its state is put back,

    W F h = v(h; F) - v(h; 0),    of a force in space the largest eigenvalue of the symmetric part of W

so the mass is that of the direction that yields most.  The inverses at both ends add up; where an element has several
points, those on one body do as well.  A body that cannot put its state back is assumed to have 1 kg or 1 kg.m2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ctypes import byref, c_double, c_uint, c_void_p

import numpy as np

from fmu_builder.cosim.scenario_inputs import Start
from fmu_builder.cosim.slave import OK, Slave
from fmu_builder.model.connectable import Node
from fmu_builder.model.ports import PORT_KINDS
from fmu_builder.model.step_advice import HELD, HOLD, MODE, HeldForce, advice_of, mode_row, number_of, two_digits
from fmu_builder.model.wiring import Wiring
from fmu_builder.units import quantity

ASSUMED = 1.0  # kg or kg.m2
_MASTERS = {"jacobi": "Jacobi", "gauss_seidel": "Gauss-Seidel"}


def long_steps(
    slaves: Mapping[str, Slave],
    wiring: Wiring,
    starts: Mapping[str, Mapping[str, Start]],
    algorithm: str,
    time: float,
    step: float,
) -> Iterator[str]:
    """A note for each stiffness or damping of an initialized slave that this step is too long for."""
    targets: dict[Node, list[Node]] = {}
    for target, sources in wiring.sources.items():
        for source in sources:
            targets.setdefault(source, []).append(target)
    bodies = _Bodies(slaves, wiring, targets, time, step)
    for name, slave in slaves.items():
        values = {n: starts[name].get(n, v.start) for n, v in slave.description.variables.items()}
        for variable in slave.description.variables.values():
            held = variable.held
            if held is None or not (value := number_of(values[variable.name])) > 0.0:
                continue
            given = number_of(values.get(held.mass))
            inverse = bodies.inverse_mass(slave, held)
            if inverse == 0.0:  # nothing that the force could move
                continue
            mass = given if given > 0.0 else 1.0 / inverse
            advice = advice_of(variable.name, held, value, mass, number_of(values.get(held.inner_mass)))
            row = mode_row(number_of(values.get(MODE)) or HOLD, held.mass, given > 0.0, algorithm)
            if step > advice.steps[row] * (1.0 + 1e-9):
                best = quantity(two_digits(advice.steps[row]))
                how = f"the force is held over it under {_MASTERS[algorithm]}" if row in HELD.values() else row
                choice = f", or a recipe with [structure] coupling = true and {MODE} = auto" if held.mass else ""
                yield (
                    f"{name}: the communication step of {quantity(step)} s is longer than the {best} s advised "
                    f"{advice.sentence(quantity)} ({how}); take steps of at most {best} s"
                    + (choice if row in HELD.values() else "")
                )


class _Bodies:
    """Asks bodies for their inverse masses, each once."""

    def __init__(
        self,
        slaves: Mapping[str, Slave],
        wiring: Wiring,
        targets: Mapping[Node, Sequence[Node]],
        time: float,
        step: float,
    ) -> None:
        self._slaves, self._wiring, self._targets, self._time, self._step = slaves, wiring, targets, time, step
        self._asked: dict[tuple[Node, ...], float] = {}

    def inverse_mass(self, slave: Slave, held: HeldForce) -> float:
        """Of all that the force moves, 1/kg or 1/(kg.m2); 0 if that is nothing."""
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
                one[body] = one.get(body, 0.0) + self._ask(body, inputs, outputs)
        return sum(max(of_port.values()) for of_port in bodies.values())

    def _ask(self, body: str, inputs: tuple[Node, ...], outputs: tuple[Node, ...]) -> float:
        if inputs not in self._asked:
            moved = len(inputs) == len(outputs) and all(node[0] == body for node in inputs)
            slave = self._slaves[body]
            answer = (
                _probe(slave, inputs, outputs, self._time, self._step)
                if moved and slave.description.restorable
                else None
            )
            self._asked[inputs] = 1.0 / ASSUMED if answer is None else answer
        return self._asked[inputs]


def _probe(slave: Slave, inputs: Sequence[Node], outputs: Sequence[Node], time: float, step: float) -> float | None:
    """The largest change of the speeds in a step, for a force of 1 N or 1 N.m, over that step; None where the body does
    not answer.  Its state and its log are then as before."""
    dll, component, size = slave.dll, slave.component, len(inputs)
    variables = slave.description.variables
    ins, outs = ((c_uint * size)(*(variables[n].reference for _, n in nodes)) for nodes in (inputs, outputs))
    state, logged = c_void_p(), len(slave.log)
    before = (c_double * size)()
    if dll.fmi2GetFMUstate(component, byref(state)) != OK:
        return None
    good = dll.fmi2GetReal(component, ins, size, before) == OK
    speeds = np.zeros((size + 1, size))
    for trial in range(size + 1):  # the last one without
        force, speed = (c_double * size)(*before), (c_double * size)()
        if trial < size:
            force[trial] += 1.0
        good = (
            good
            and dll.fmi2SetReal(component, ins, size, force) == OK
            and dll.fmi2DoStep(component, time, step, 0) == OK
            and dll.fmi2GetReal(component, outs, size, speed) == OK
        )
        speeds[trial] = speed
        slave.check(dll.fmi2SetFMUstate(component, state), "fmi2SetFMUstate", "after a step that was tried")
    dll.fmi2FreeFMUstate(component, byref(state))
    del slave.log[logged:]
    change = (speeds[:-1] - speeds[-1]) / step
    if not good or not np.isfinite(change).all():
        return None
    return max(float(np.linalg.eigvalsh((change + change.T) / 2.0)[-1]), 0.0)
