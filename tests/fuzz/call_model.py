"""What an FMU has to answer: the modes of FMI 2.0, and the rules of fmi2.h and its parts, in Python.

A `Life` is what one instance knows; it moves with a saved state.  The functions predict the answer to a call from the
life before it; `Life` itself changes only by what the machine writes into it after the call.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from functools import cached_property

import numpy as np
from fmi_library import CO_SIMULATION, MODEL_EXCHANGE, Library, Status

from fmu_builder.export.model_data import kept_records
from fmu_builder.export.model_tables import log_categories
from fmu_builder.model.assembly import AssemblyModel
from fmu_builder.model.model import Model, Variable


class Mode(Flag):
    INSTANTIATED = auto()
    INITIALIZATION = auto()
    STEP = auto()  # co-simulation
    EVENT = auto()  # model exchange
    CONTINUOUS = auto()  # model exchange
    ERROR = auto()
    TERMINATED = auto()


ANY = ~Mode(0)
BEFORE = Mode.INSTANTIATED | Mode.INITIALIZATION
AFTER = Mode.ERROR | Mode.TERMINATED
READABLE = ANY & ~Mode.INSTANTIATED
WRITABLE = BEFORE | Mode.STEP | Mode.EVENT
ASKABLE = Mode.STEP | AFTER

# The tables of FMI 2.0.5, sections 3.2.3 and 4.2.4: what both types of instances have, and what only one has.
COMMON = {
    "SetDebugLogging": ANY,
    "SetupExperiment": Mode.INSTANTIATED,
    "EnterInitializationMode": Mode.INSTANTIATED,
    "ExitInitializationMode": Mode.INITIALIZATION,
    "Terminate": Mode.STEP | Mode.EVENT | Mode.CONTINUOUS,
    "Reset": ANY,
    "GetReal": READABLE,
    "GetInteger": READABLE,
    "GetBoolean": READABLE,
    "GetString": READABLE,
    "SetReal": WRITABLE | Mode.CONTINUOUS,
    "SetInteger": WRITABLE,
    "SetBoolean": WRITABLE,
    "SetString": WRITABLE,
    "GetFMUstate": ANY,
    "SetFMUstate": ANY,
    "FreeFMUstate": ANY,
    "SerializedFMUstateSize": ANY,
    "SerializeFMUstate": ANY,
    "DeSerializeFMUstate": ANY,
    "GetDirectionalDerivative": READABLE,
}
ALLOWED = {
    CO_SIMULATION: COMMON
    | {
        "SetRealInputDerivatives": BEFORE | Mode.STEP,
        "GetRealOutputDerivatives": ASKABLE,
        "DoStep": Mode.STEP,
        "CancelStep": Mode(0),
        "GetStatus": ASKABLE,
        "GetRealStatus": ASKABLE,
        "GetIntegerStatus": ASKABLE,
        "GetBooleanStatus": ASKABLE,
        "GetStringStatus": ASKABLE,
    },
    MODEL_EXCHANGE: COMMON
    | {
        "EnterEventMode": Mode.EVENT | Mode.CONTINUOUS,
        "NewDiscreteStates": Mode.EVENT,
        "EnterContinuousTimeMode": Mode.EVENT,
        "CompletedIntegratorStep": Mode.CONTINUOUS,
        "SetTime": Mode.EVENT | Mode.CONTINUOUS,
        "SetContinuousStates": Mode.CONTINUOUS,
        "GetDerivatives": READABLE,
        "GetEventIndicators": READABLE,
        "GetContinuousStates": READABLE,
        "GetNominalsOfContinuousStates": ANY & ~Mode.INITIALIZATION,
    },
}


MOST_SUBSTEPS = 10_000  # in one communication step: start value here, so that no step takes seconds


def is_tame(value: float) -> bool:
    """Such numbers overflow nowhere, so nothing may be answered with an error because it is not finite."""
    return value == 0.0 or 1e-6 <= abs(value) <= 1e6


def is_moderate(value: float) -> bool:
    """A state or a time of this size overflows nowhere; divided by them is nothing."""
    return abs(value) <= 1e6


@dataclass(frozen=True)
class Fmu:
    """One FMU under test: its library and what the recipe's model says of its variables."""

    library: Library
    model: Model
    guid: str

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        return self.model.variables

    @cached_property
    def states(self) -> list[int]:
        """Value references of the continuous states, in their order."""
        return [v.index for v in self.model.by_kind("state")]

    @cached_property
    def jumping(self) -> frozenset[int]:
        """Value references of states that may jump where a point is accepted: those of a bristle or a mechanism, and
        their ledgers."""
        return self.references("state") if self.named("deflection", "integrated") else frozenset()

    @cached_property
    def is_mechanism(self) -> bool:
        """States that an importer sets may then be a position that the constraints cannot meet, or a singular one."""
        return any(folder.name == "planar_mechanism" for folder in self.model.folders().values())

    @cached_property
    def shaping(self) -> frozenset[int]:
        """Value references of scalars of laws that may shape a profile of a mechanism: after the start another value
        may leave its constraints out of reach, now or later."""
        scalars = frozenset(v.index for v in self.variables if v.name.startswith("laws."))
        return scalars if self.is_mechanism else frozenset()

    @cached_property
    def categories(self) -> frozenset[str]:
        return frozenset(log_categories(self.model))

    @cached_property
    def state_header(self) -> int:
        """Bytes of a serialized state before its doubles: a zero word, magic, version, GUID, number of doubles."""
        return 8 + 8 + 4 + len(self.guid) + 8

    @cached_property
    def behind_variables(self) -> int:
        """How many doubles of a serialized state stand behind those of the variables: slopes of the inputs, sides of
        the indicators, contacts before the last."""
        inputs = sum(v.is_continuous_input for v in self.variables)
        count, size = kept_records(self.model)
        return 2 * (inputs + 1) + len(self.model.indicators) + 1 + (1 + count * (2 + size) if count else 0)

    def block(self, image: bytes) -> bytes:
        """The variables in a serialized state, in the order of their value references; a checksum ends the state."""
        end = len(image) - 8 - 8 * self.behind_variables
        return image[end - 8 * len(self.variables) : end]

    def references(self, *kinds: str, type_: str | None = None, visible: bool = False) -> frozenset[int]:
        """Value references of these kinds (none given: all) and this type; `visible`: only those users see."""
        return frozenset(
            v.index
            for v in self.variables
            if (not kinds or v.kind in kinds)
            and (type_ is None or (v.type if v.type != "enum" else "int") == type_)
            and not (visible and v.hidden)
        )

    @cached_property
    def unknowns(self) -> frozenset[int]:
        """What fmi2GetDirectionalDerivative can be asked for."""
        outputs = frozenset(v.index for v in self.variables if v.is_output)
        return outputs | self.references("output", "calculated", "state", "derivative", visible=True)

    @cached_property
    def knowns(self) -> frozenset[int]:
        """What it can be asked over."""
        return self.references("input", "state", "time", visible=True)

    def named(self, *names: str) -> list[int]:
        """Value references of these variables, with or without an index behind the name."""
        return [v.index for v in self.variables if v.name.partition("[")[0] in names]


@dataclass
class Life:
    """What an instance knows.

    values     parameters and inputs by value reference; of model exchange also the states that were set
    rates      du/dt of the next step by value reference; None before fmi2SetRealInputDerivatives
    ledger     contact counts and dissipated energies after the last step, which may not fall; None before the first
    last_step  status of the last fmi2DoStep
    tame       only tame numbers were ever given to it
    placed     states were set that the constraints of a mechanism may not meet, and no point was accepted since
    reshaped   a profile of a mechanism was moved after the start"""

    fmu: Fmu
    kind: int
    logging: bool
    categories: frozenset[str]
    mode: Mode = Mode.INSTANTIATED
    experiment: bool = False
    stop: float | None = None
    time: float = 0.0
    values: dict[int, float] = field(default_factory=dict)
    rates: dict[int, float] | None = None
    ledger: list[float] | None = None
    last_step: Status = Status.OK
    tame: bool = True
    placed: bool = False
    reshaped: bool = False

    def __post_init__(self) -> None:
        if not self.values:
            self.values = {v.index: v.start for v in self.fmu.model.by_kind("fixed", "tunable", "input")}

    def copy(self) -> Life:
        twin = copy.copy(self)
        twin.values = dict(self.values)
        twin.rates = None if self.rates is None else dict(self.rates)
        return twin

    def hears(self, status: int, category: str) -> bool:
        """Whether the importer is told: errors always, the rest while logging is on and the category wanted."""
        return status >= Status.ERROR or (self.logging and category in self.categories)

    def rules_hold(self) -> bool:
        """Strict bounds of parameters, lengths of quaternions: what has to hold before a step."""
        for v in self.fmu.variables:
            value = self.values.get(v.index, v.start)
            if (v.above is not None and not value > v.above) or (v.below is not None and not value < v.below):
                return False
        for first, _ in self.fmu.model.quaternions:
            q = [self.values[first + i] for i in range(4)]
            if not q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] >= 0.25:
                return False
        return True

    def is_finite(self) -> bool:
        """True if nothing can overflow or divide by zero, so that no answer may be an error for not being finite."""
        return self.is_tame() and not self.placed and not self.reshaped

    def is_tame(self) -> bool:
        """The same but for a position that is singular or out of reach."""
        return self.tame and self.rules_hold() and self.is_of_bodies()

    def is_of_bodies(self) -> bool:
        """Whether inertias are those of bodies, as rigid_body and pendulum ask: moments along the principal axes below
        the sum of the other two, J of a hinge at least that of the mass in its centre."""
        model = self.fmu.model
        if "J_xy" in model:
            names = (f"J_{ij}" for ij in ("xx", "yy", "zz", "xy", "xz", "yz"))
            xx, yy, zz, xy, xz, yz = (self.values[model[name].index] for name in names)
            least, middle, most = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            return bool(least > 0.0 and most <= least + middle)
        if "J" in model and "center[1]" in model:
            J, m = (self.values[model[name].index] for name in ("J", "m"))
            axis, center = (
                np.array([self.values[model[f"{name}[{k}]"].index] for k in (1, 2, 3)]) for name in ("axis", "center")
            )
            return bool(J * (axis @ axis) >= m * np.square(np.cross(axis, center)).sum())
        return True

    def allows(self, name: str) -> bool:
        """Whether this function may be called now."""
        return bool(self.mode & ALLOWED[self.kind].get(name, Mode(0)))

    def may_run_out_of_substeps(self, h: float) -> bool:
        """Whether solver.max_substeps or .max_step can make a step of length h fail that is right otherwise.  A body
        that swings in a hard contact, or whirls, may need any number."""
        model = self.fmu.model
        if "solver.max_step" not in model:
            return False
        simple = {"point_mass", "point_surface", "prescribed_motion"}
        if isinstance(model, AssemblyModel) or not {folder.name for folder in model.folders().values()} <= simple:
            return True
        longest, most = (self.values[model[f"solver.{name}"].index] for name in ("max_step", "max_substeps"))
        return longest < 1e-3 * h or most < MOST_SUBSTEPS

    def set_up(self, tolerance: float | None, start: float, stop: float | None) -> None:
        """After fmi2SetupExperiment: solver.tolerance follows the tolerance as long as it has its start value."""
        self.experiment, self.time, self.stop = True, start, stop
        if tolerance and "solver.tolerance" in self.fmu.model:
            v = self.fmu.model["solver.tolerance"]
            assert v.min is not None and v.max is not None
            if self.values[v.index] == v.start:
                self.values[v.index] = min(max(tolerance, v.min), v.max)

    def extrapolate(self, t_c: float, end: float) -> None:
        """Inputs after a step from t_c to end."""
        if self.rates is None:
            return
        for v in self.fmu.variables:
            if v.is_continuous_input:
                self.values[v.index] += self.rates.get(v.index, 0.0) * (end - t_c)
        self.rates = None


def are_variables(fmu: Fmu, type_: str, references: Iterable[int]) -> bool:
    """Whether all references are variables of the type."""
    return set(references) <= fmu.references(type_=type_, visible=True)


def set_answer(life: Life, type_: str, references: Sequence[int], values: Sequence[float]) -> Status:
    """fmi2Set<type> with arrays that are there, in a mode that allows it."""
    if not are_variables(life.fmu, type_, references):
        return Status.ERROR
    answer = Status.OK
    for reference, value in zip(references, values, strict=True):
        v = life.fmu.variables[reference]
        legal = {"input": WRITABLE | (Mode.CONTINUOUS if v.is_continuous_input else Mode(0)), "tunable": WRITABLE}
        if life.mode not in (legal | {"fixed": BEFORE}).get(v.kind, Mode(0)):
            answer = Status.ERROR
            continue
        low = [bound for bound in (v.min, v.above) if bound is not None]  # a strict bound itself is refused later
        high = [bound for bound in (v.max, v.below) if bound is not None]
        if not math.isfinite(value) or any(value < bound for bound in low) or any(value > bound for bound in high):
            answer = max(answer, Status.DISCARD if v.kind == "input" else Status.ERROR)
    return answer


def set_states_answer(life: Life, x: Sequence[float]) -> Status:
    """fmi2SetContinuousStates with an array that is there, in a mode that allows it."""
    if len(x) != len(life.fmu.states):
        return Status.ERROR
    return Status.OK if all(map(math.isfinite, x)) else Status.DISCARD


def are_variables_of_derivatives(fmu: Fmu, unknowns: Iterable[int], knowns: Iterable[int]) -> bool:
    """Whether fmi2GetDirectionalDerivative can be asked for these variables."""
    return set(unknowns) <= fmu.unknowns and set(knowns) <= fmu.knowns


def input_derivatives_answer(
    fmu: Fmu, references: Sequence[int], orders: Sequence[int], values: Sequence[float]
) -> Status:
    """fmi2SetRealInputDerivatives with arrays that are there, in a mode that allows it."""
    if not set(references) <= fmu.references("input", type_="real") or any(order < 1 for order in orders):
        return Status.ERROR
    if not all(map(math.isfinite, values)):
        return Status.DISCARD
    return Status.WARNING if any(order > 1 for order in orders) else Status.OK


def may_step(life: Life, t_c: float, h: float) -> bool:
    """Whether the arguments of fmi2DoStep are right: h > 0, t_c where the last step ended, the end not after the stop
    time; the first up to 1e-9 of the step and rounding of the time, the other up to 1e-9 of its size; both at most half
    a step."""
    if not (math.isfinite(t_c) and math.isfinite(h) and h > 0.0):
        return False
    end = t_c + h
    begins = abs(t_c - life.time) <= min(1e-9 * h + 2.0**-50 * max(abs(life.time), abs(t_c)), 0.5 * h)
    ends = life.stop is None or end <= life.stop + min(1e-9 * max(abs(life.stop), h), 0.5 * h)
    return begins and end > life.time and ends


def setup_is_right(tolerance: float | None, start: float, stop: float | None) -> bool:
    """Whether the arguments of fmi2SetupExperiment are right; None: not defined."""
    return (
        math.isfinite(start)
        and (stop is None or (math.isfinite(stop) and stop >= start))
        and (tolerance is None or (math.isfinite(tolerance) and tolerance >= 0.0))
    )
