"""A group as group.h reads it: its steps in C, with the same bits as GroupRun and Controller.

What fails in C stands in a Fault, from which the error follows that Python's calls raise."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import Structure, c_double, c_int64, c_uint64, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.discarded_steps import ended_in_trial
from fmu_builder.cosim.implicit import control, counts, forces, group, iqn, substeps
from fmu_builder.cosim.implicit.bodies import TRYING, Body, Values
from fmu_builder.cosim.implicit.bonds import DERIVATIVES, GRADIENT, MIDPOINT
from fmu_builder.cosim.implicit.control import Controller
from fmu_builder.cosim.implicit.driven import Driven
from fmu_builder.cosim.implicit.elements import Element, step_ended
from fmu_builder.cosim.implicit.group import GroupRun
from fmu_builder.cosim.kept_state import Kept
from fmu_builder.cosim.link import function_address
from fmu_builder.cosim.loop.operations import Access, Clock, Combine, Finite, Operation, Term
from fmu_builder.cosim.loop.program import BLOCK
from fmu_builder.cosim.slave import Slave

_ANSWERED = 2  # outcome of an operation: operations.h
_CALLS = (  # that fail in a trial, by the number of their Failure in slaves.h: name, and what it is for
    ("fmi2GetReal", TRYING),
    ("fmi2SetReal", TRYING),
    ("fmi2GetDirectionalDerivative", "of the velocities at the ports"),
    ("fmi2GetFMUstate", "before a trial"),
    ("fmi2SetFMUstate", "after a trial"),
    ("fmi2SetRealInputDerivatives", ""),
    ("fmi2GetInteger", counts.COUNTING),
)
_TRIAL, _STEP, _OPERATION, _NOT_FINITE, _NO_STEP, _TRIAL_NOT_FINITE = range(len(_CALLS), len(_CALLS) + 6)

_CONSTANTS = {
    "points": forces.POINTS, "weights": forces.WEIGHTS, "largest": forces.LARGEST,
    "smallest_ratio": forces.SMALLEST_RATIO, "made_up": forces.MADE_UP, "same": forces.SAME,
    "nothing": forces.NOTHING, "rounding": forces.ROUNDING, "accuracy": group.ACCURACY, "enough": group.ENOUGH,
    "most": iqn.MOST, "most_newton": iqn.MOST_NEWTON, "smallest_share": iqn.SMALLEST_SHARE, "added": control.ADDED,
    "safety": control.SAFETY, "shrink": control.SHRINK, "grow": control.GROW, "unsolved": control.UNSOLVED,
    "angle": substeps.ANGLE, "margin": substeps.MARGIN, "most_substeps": substeps.MOST,
    "accuracy_within": substeps.ACCURACY, "slowest": counts.SLOWEST,
}  # fmt: skip


def _struct(name: str, *fields: tuple[str, Any]) -> type[Structure]:
    """fields: names that follow each other, separated by spaces, and their type"""
    return type(name, (Structure,), {"_fields_": [(one, kind) for names, kind in fields for one in names.split()]})


_VALUES = _struct("Values", ("references values", c_void_p), ("size", c_uint64))
_DRIVEN = _struct("Driven", ("cubics", c_void_p), ("size", c_uint64))
_MEMBER = _struct(
    "Member",
    ("component get set step derivative set_slopes keep restore state writes reads", c_void_p),
    ("write_count read_count number", c_uint64),
    ("fault", c_void_p),
)
_FAULT = _struct(
    "Fault",
    ("kind member operation is_read", c_uint64),
    ("status outcome", c_int64),
    ("time step error unsolved", c_double),
)
_COUNTS = _struct(
    "Counts",
    ("get references values before", c_void_p),
    ("speeds", _VALUES),
    ("size", c_uint64),
    ("fresh passed", c_int64),
)
_BODY = _struct(
    "Body",
    ("member", _MEMBER),
    ("velocity force rate", _VALUES),
    ("step_to_event", c_void_p),
    ("states acts seed slope given free before", c_void_p),
    ("step_before drift", c_double),
    ("first probes is_moved is_timed gives_derivatives has_stepped has_slope", c_uint64),
    ("orders", c_void_p),
)
_END = _struct("End", ("motion force elastic", c_void_p), ("energy", c_double))
_ANSWER = _struct("Answer", ("force", c_void_p), ("debt", c_double), ("end", _END))
_ELEMENT = _struct(
    "Element",
    ("member", _MEMBER),
    ("inputs answer impulse", _VALUES),
    ("rows place_rows sizes work metric orders", c_void_p),
    ("driven", _DRIVEN),
    ("driven_at path", c_void_p),
    ("counts", _COUNTS),
    ("row size place_count is_gradient is_kept is_midpoint interpolates evaluations", c_uint64),
    ("proportional", c_int64),
    ("debt", c_double),
    ("start end across", _END),
    ("answers", _ANSWER * 2),
    ("mean looked place other zero begun given aside pushed now", c_void_p),
)
_CONSTANTS_STRUCT = _struct(
    "Constants",
    *(
        (name, c_double * len(value) if isinstance(value, np.ndarray) else c_double)
        for name, value in _CONSTANTS.items()
    ),
)
_CONTROLLER = _struct(
    "Controller",
    ("tolerance step length elapsed step_before error", c_double),
    ("units done", c_int64),
    ("is_adaptive is_within has_before", c_uint64),
    ("before first last bend", c_void_p),
)
_HISTORY = _struct(
    "History",
    ("values residuals value_changes residual_changes", c_void_p),
    ("x value residual c best_x best_value at direction", c_void_p),
    ("best", c_double),
    ("size", c_uint64),
)
_LEAST_SQUARES = _struct("LeastSquares", ("direction along length part rest left number", c_void_p))
_GROUP = _struct(
    "Group",
    ("constants", _CONSTANTS_STRUCT),
    ("fault", _FAULT),
    ("bodies elements others", c_void_p),
    ("driven", _DRIVEN),
    ("works last", c_void_p),
    ("body_count element_count other_count rows row block", c_uint64),
    ("steps unsolved_steps refused events looks_ahead tried has_inertia", c_uint64),
    ("is_divided substeps substep_count", c_uint64),
    ("largest_miss largest_within largest_speed drift unsolved", c_double),
    ("model_time model_step elapsed step", c_double),
    ("controller", _CONTROLLER),
    ("other velocity a W moved next way force scale summed total moment slope guess", c_void_p),
    ("recent", c_void_p * 3),
    ("history", _HISTORY),
    ("least_squares", _LEAST_SQUARES),
)


class CompiledGroup:
    """The steps of a group in C.   step: s, of communication     controller: of `adaptive`"""

    def __init__(self, run: GroupRun, clock: Clock, controller: Controller | None) -> None:
        self._run, self._clock, self._controller = run, clock, controller
        self._members: list[Body | Element] = [*run.bodies, *run.elements]
        self._memory: list[Any] = []  # that the struct points to
        self._keys = list(dict.fromkeys(run.bonds()))
        self._struct = _GROUP()

    def address(self, written: Callable[[Operation], Structure], prepare: Callable[..., int]) -> int:
        """Of the Group.   written: an operation as the loop reads it     prepare: the function of loop.c"""
        run, one = self._run, self._struct
        one.constants = _CONSTANTS_STRUCT(
            **{name: tuple(value) if isinstance(value, np.ndarray) else value for name, value in _CONSTANTS.items()}
        )
        self._works = np.zeros(len(self._keys))
        bodies = [self._body(body, k, written) for k, body in enumerate(run.bodies)]
        elements = [self._element(element, len(bodies) + k, written) for k, element in enumerate(run.elements)]
        self._bodies, self._elements = (_BODY * len(bodies))(*bodies), (_ELEMENT * len(elements))(*elements)
        one.bodies, one.elements = ctypes.addressof(self._bodies), ctypes.addressof(self._elements)
        one.body_count, one.element_count, one.rows = len(bodies), len(elements), run.size
        one.driven, one.block = self._driven(run.driven), BLOCK
        one.looks_ahead = run.looks_ahead
        one.works, one.last = self._kept(self._works), self._kept(run.last.copy())
        terms: list[list[Term]] = [[] for _ in range(run.size)]
        for row, term in run.others:
            terms[row].append(term)
        others = written(Combine(clock=self._clock, sums=np.zeros(run.size), terms=terms))
        one.others, one.other_count = others.table, others.terms
        one.is_divided = self._controller is None and substeps.obstacle(run) is None
        self._write_controller(one.controller)
        size = prepare(ctypes.byref(one), None)
        prepare(ctypes.byref(one), self._kept(np.zeros(size)))
        return ctypes.addressof(one)

    def _write_controller(self, one: Any) -> None:
        one.step = self._clock.step
        if self._controller is not None:
            given = self._controller
            one.is_adaptive, one.tolerance, one.units, one.length = 1, given.tolerance, given.units, given.length

    def _kept(self, array: NDArray[Any]) -> int:
        self._memory.append(array)
        return int(array.ctypes.data)

    def _driven(self, driven: Driven) -> Any:
        return _DRIVEN(cubics=self._kept(driven.cubics), size=len(driven.signals))

    def _numbers(self, values: Sequence[int], kind: Any = np.uint64) -> int:
        return self._kept(np.array(values, dtype=kind))

    def _member(self, slave: Slave, number: int, kept: Kept | None, written: Callable[[Operation], Structure]) -> Any:
        def optional(name: str, is_used: bool = True) -> int | None:
            return function_address(slave, name) if is_used else None

        member = _MEMBER(
            component=slave.component,
            get=function_address(slave, "fmi2GetReal"),
            set=function_address(slave, "fmi2SetReal"),
            step=function_address(slave, "fmi2DoStep"),
            derivative=optional("fmi2GetDirectionalDerivative", bool(slave.description.derivatives)),
            set_slopes=optional("fmi2SetRealInputDerivatives", slave.description.interpolates),
            keep=optional("fmi2GetFMUstate", kept is not None),
            restore=optional("fmi2SetFMUstate", kept is not None),
            state=ctypes.addressof(kept.state) if kept is not None else None,
            number=number,
            fault=ctypes.addressof(self._struct) + _GROUP.fault.offset,
        )
        for which, operations in (("write", self._run.writes[slave.name]), ("read", self._run.reads[slave.name])):
            ones = [written(operation) for operation in operations]
            if ones:
                array = (type(ones[0]) * len(ones))(*ones)
                self._memory.append(array)
                setattr(member, f"{which}s", ctypes.addressof(array))
            setattr(member, f"{which}_count", len(ones))
        return member

    def _values(self, values: Values) -> Any:
        return _VALUES(
            references=ctypes.addressof(values.references), values=values.array.ctypes.data, size=values.size
        )

    def _body(self, body: Body, number: int, written: Callable[[Operation], Structure]) -> Any:
        return _BODY(
            member=self._member(body.slave, number, body.kept, written),
            velocity=self._values(body.velocity),
            force=self._values(body.force),
            rate=self._values(body.rate),
            step_to_event=function_address(body.slave, "step_to_event") if body.step_to_event else None,
            states=self._numbers(body.states, np.uint32),
            acts=self._numbers(body.acts),
            first=self._run.parts[number].start,
            is_moved=body.is_moved,
            is_timed=body.is_timed,
            gives_derivatives=body.rung == DERIVATIVES,
            orders=self._numbers([1] * body.force.size, np.int32),
        )

    def _element(self, element: Element, number: int, written: Callable[[Operation], Structure]) -> Any:
        proportional = element.gradient.proportional
        keys = [(b.element, b.port, b.body, b.body_port) for b in element.bonds]
        return _ELEMENT(
            member=self._member(element.slave, number, element.kept, written),
            inputs=self._values(element.inputs),
            answer=self._values(element.answer),
            impulse=self._values(element.impulse),
            rows=self._numbers(element.rows.tolist()),
            place_rows=self._numbers([row for rows in element.places for row in rows]),
            sizes=self._numbers([len(rows) for rows in element.places]),
            work=self._numbers([self._keys.index(key) for key in keys]),
            metric=element.gradient.metric.ctypes.data,
            orders=self._numbers([1] * element.inputs.size, np.int32),
            driven=self._driven(element.driven),
            driven_at=self._numbers(element.driven.places.tolist()),
            path=self._kept(np.zeros((int(substeps.MOST), element.inputs.size))) if element.follows else None,
            counts=_COUNTS(
                get=function_address(element.slave, "fmi2GetInteger"),
                references=ctypes.addressof(element.counts.references),
                values=ctypes.addressof(element.counts.values),
                before=ctypes.addressof(element.counts.before),
                speeds=self._values(element.counts.speeds),
                size=len(element.counts.values),
            ),
            size=element.size,
            place_count=len(element.places),
            is_gradient=element.rung == GRADIENT,
            is_kept=element.kept is not None,
            is_midpoint=element.rung == MIDPOINT,
            interpolates=element.slave.description.interpolates,
            evaluations=element.evaluations,
            proportional=-1 if proportional is None else int(proportional),
            debt=element.debt,
        )

    def ended(self, tick: int) -> str | None:
        """What a step in C came to: a note if a slave ended the simulation, else SlaveError."""
        fault = self._struct.fault
        time, step, status = fault.time, fault.step, int(fault.status)
        if fault.kind == _NOT_FINITE:
            raise self._run.not_finite(time, step)
        if fault.kind == _NO_STEP:
            assert self._controller is not None
            raise self._controller.no_step(time, step, fault.unsolved, fault.error)
        member = self._members[fault.member]
        slave = member.slave
        if fault.kind == _OPERATION:
            operation = (self._run.reads if fault.is_read else self._run.writes)[slave.name][fault.operation]
            match operation:
                case Access() if fault.outcome == _ANSWERED:
                    operation.answered(status, tick)
                case Finite():
                    operation.not_finite(tick)
        elif fault.kind == _STEP:
            return step_ended(slave, status, time, step)
        elif fault.kind == _TRIAL and isinstance(member, Body):
            member.check_trial(status, time, step)
        elif fault.kind == _TRIAL_NOT_FINITE and isinstance(member, Body):
            member.tried_velocity(time, step)
        elif fault.kind == _TRIAL:
            if note := step_ended(slave, status, time, step):
                raise ended_in_trial(slave, note)
        else:
            slave.check(status, *_CALLS[fault.kind])
        raise AssertionError(f"{slave.name} failed in no known way: {fault.kind}, {status}")

    def read_back(self) -> None:
        """Give the group in Python what its report holds."""
        run, one = self._run, self._struct
        run.steps, run.substeps, run.events = int(one.steps), int(one.substeps), int(one.events)
        run.unsolved, run.refused = int(one.unsolved_steps), int(one.refused)
        run.largest_miss, run.largest_within = one.largest_miss, one.largest_within
        run.largest_speed = one.largest_speed
        for element, written in zip(run.elements, self._elements, strict=True):
            element.evaluations = int(written.evaluations)
            element.counts.passed = int(written.counts.passed)
        for body, written in zip(run.bodies, self._bodies, strict=True):
            body.probes, body.drift = int(written.probes), written.drift
        run.works = dict(zip(self._keys, self._works.tolist(), strict=True)) if run.steps else {}
