"""The communication step that an element needs while bodies hold its force, in each coupling.mode and coupling.order.

It follows from the stiffness or damping and the mass that the force meets.  `acts_as` of a parameter declares which of
these it is.

With omega = sqrt(stiffness/mass) half an oscillation, or an undamped contact, lasts pi/omega; N steps of it bring the
rebound of a contact, or the motion on a spring or across a guide after half an oscillation, within one per cent.

hold   from positions: growth exp((1 + 2 L) pi^2/(4 N)), L intervals from sample to force: 1 under Jacobi, 0 under
       Gauss-Seidel, more through FMUs in between; from speeds that the element integrates: exp(L pi^2/(2 N)); with
       L = 0 none, but a deformation that is off by pi/(2 N)
slope  a contact: as measured; a spring under Jacobi: its period is off by 0.542 (pi/N)^2, a phase of pi times as much
auto   as measured on one body that nothing but its weight, of up to 3 % of the force, moves as well, by the order of
       the calls that is given: tests/elements/test_step_counts.py.  The first rebound errs by that on the mean of the
       phases of the step, for C_r of 0.2 and more; a swing grows by less until lag and mass are known, and its phase is
       off by up to 2 %.  An unknown order is
       found if it is that of Jacobi or Gauss-Seidel; later forces (`late`) need it given.  `averaged` and `predicted`
       name the orders `sequential` and `parallel`.  A mass alone, without the order, allows no longer steps

A damper brakes with the time constant mass/d, of which a step is the share z: held, speeds are off by
(1 + 2 L) z/(2 e); in the other modes as measured.

A stiffness per area counts with all of the area that can touch.  Rebounds of a force that grows otherwise than linearly
with the depth are less wrong at that step: see watch_step of body_surface.

A force that moves a mass m inside the element as well moves that without delay: mass is then 1/(1/m + 1/M), M that of
the body, and only the share m/(m + M) of the relative motion is late, so N is smaller by that.  The impulse on the body
is H times the sum of its samples, whatever M is, and off by up to

    pi^2/(12 n^2)                       of an elastic contact of n steps of pi sqrt(mass/C_F) / n
    pi (1 - C_r)/(2 n sqrt(Delta))      of one whose force jumps where it turns (Delta of contact_core/laws/contact.h)

so for 1 % of the body's speed n is 9 and, with C_r = k_E = 0.5, 99.  n = N m/(m + M) + 100 M/(m + M) keeps both to 1 %
for C_r of 0.5 and more; 1.6 % was measured with C_r = 0.2."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple, Protocol

from fmu_builder.model.declaration import Declaration
from fmu_builder.model.ports import PORT_KINDS
from fmu_builder.units import quantity

HOLD, SLOPE, AVERAGED, PREDICTED = 1, 2, 3, 4  # of coupling.mode; 5 is auto
UNKNOWN, SEQUENTIAL, PARALLEL, LATE = 1, 2, 3, 4  # of coupling.order
MODE, ORDER = "coupling.mode", "coupling.order"
STEP_ADVISED = "coupling.step_advised"
HELD = {"jacobi": "hold, Jacobi", "gauss_seidel": "hold, Gauss-Seidel"}  # by algorithm
AUTO = {
    UNKNOWN: "auto, order unknown, not late",
    LATE: "auto, order late",
    PARALLEL: "auto, order parallel",
    SEQUENTIAL: "auto, order sequential",
}
GIVEN = "auto, sequential or parallel, {mass} given"
_GROWTH = math.log(1.01)


def _by_place(intervals: int) -> float:
    return (1 + 2 * intervals) * math.pi**2 / 4 / _GROWTH  # cc_hold_growth of contact_core/laws/hold.h


def _by_speed(intervals: int) -> float:
    return intervals * math.pi**2 / 2 / _GROWTH if intervals else math.pi / 2 / 0.01


def _braking(intervals: int) -> float:
    first_order = (1 + 2 * intervals) / (2 * math.e) / 0.01  # cc_hold_braking
    return first_order + 0.4 * (1 + intervals)  # to second order in z


INTERVALS = {"jacobi": 1, "gauss_seidel": 0}  # from sample to force, by algorithm
_BY_PLACE, _BY_SPEED, _BY_BRAKING = (
    {HELD[algorithm]: count(intervals) for algorithm, intervals in INTERVALS.items()}
    for count in (_by_place, _by_speed, _braking)
)


def _coupled(unknown: float, late: float, parallel: float, sequential: float, given: float) -> dict[str, float]:
    return {**dict(zip(AUTO.values(), (unknown, late, parallel, sequential), strict=True)), GIVEN: given}


_SPRING = {"slope": math.sqrt(0.542 * math.pi**3 / 0.01), **_coupled(85.0, 85.0, 40.0, 24.0, 24.0)}
STEPS_PER_CONTACT = {**_BY_PLACE, "slope": 60.0, **_coupled(11.0, 20.0, 8.0, 5.0, 5.0)}
STEPS_PER_SWING = {**_BY_PLACE, **_SPRING}
STEPS_PER_SWING_BY_SPEED = {**_BY_SPEED, **_SPRING}
STEPS_PER_BRAKING = {**_BY_BRAKING, "slope": _braking(1), **_coupled(40.0, 50.0, 30.0, 8.0, 8.0)}  # of mass/d

STEPS_PER_SAMPLED_CONTACT = 100.0  # of a body so heavy that it does not answer

HELD_FORCE = "HeldForce"
"""Element of modelDescription.xml, among the annotations of a variable."""

Part = Literal["contact", "spring", "guide", "damper"]
_ERRORS: Mapping[Part, str] = {
    "contact": "the rebound",
    "spring": "the swing",
    "guide": "the swing across the line",
    "damper": "the speed",
}


class HeldForce(NamedTuple):
    """The role of a parameter for the force of an element at its `ports`.

    by_speed  the element integrates the speeds of its ports, for they give no positions
    mass, inner_mass  parameters for the effective mass that the force meets, and for a mass inside; "" without one
    area      m2 that the parameter, a stiffness per area, acts on at most; 0 for any other one"""

    part: Part
    ports: tuple[str, ...]
    unit: str
    by_speed: bool
    mass: str
    inner_mass: str
    area: float = 0.0

    def attributes(self) -> dict[str, str]:
        """As text, for modelDescription.xml."""
        return {
            "part": self.part,
            "ports": " ".join(self.ports),
            "unit": self.unit,
            "by": "speed" if self.by_speed else "position",
            "mass": self.mass,
            "innerMass": self.inner_mass,
            **({"area": repr(self.area)} if self.area > 0.0 else {}),
        }

    @classmethod
    def of(cls, attributes: Mapping[str, str]) -> HeldForce | None:
        """The reverse; None for other texts."""
        part = next((one for one in _ERRORS if one == attributes.get("part")), None)
        if part is None:
            return None
        ports, unit, by, mass, inner = (attributes.get(key, "") for key in ("ports", "unit", "by", "mass", "innerMass"))
        area = _positive(attributes.get("area", ""))
        return cls(part, tuple(ports.split()), unit, by == "speed", mass, inner, area)

    @property
    def mass_unit(self) -> str:
        return "kg.m2" if self.unit.endswith("/rad") else "kg"

    @property
    def counts(self) -> Mapping[str, float]:
        """Steps in half an oscillation, or in the time constant of a damper, by mode."""
        if self.part == "damper":
            return STEPS_PER_BRAKING
        if self.part == "contact":
            return {**STEPS_PER_CONTACT, **(_BY_SPEED if self.by_speed else {})}
        return STEPS_PER_SWING_BY_SPEED if self.by_speed else STEPS_PER_SWING

    def held_count(self, intervals: int) -> float:
        """The same of a force that is held so many intervals after the sample that it follows from."""
        count = _braking if self.part == "damper" else _by_speed if self.by_speed else _by_place
        return count(intervals)


class _Variable(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def start(self) -> object: ...
    @property
    def held(self) -> HeldForce | None: ...


class _Port(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def side(self) -> str: ...
    @property
    def motion(self) -> Mapping[str, tuple[str, ...]]: ...


class Advice(NamedTuple):
    """Steps, s, by mode; `error`: of what they keep to one per cent.  `constant`: name, value and unit of the stiffness
    or damping; `mass` in `mass_unit`, of the parameter `mass_name`, and whether it was given: by the recipe, else 1.
    inner: name and value of a mass inside; limit: the steps of a body however heavy beside it, s."""

    steps: dict[str, float]
    error: str
    constant: tuple[str, float, str]
    mass_name: str
    mass: float
    mass_unit: str
    given: bool
    inner: tuple[str, float] | None = None
    limit: float = math.inf

    def shown(self, unit: str = "") -> dict[str, str]:
        """The steps to two digits, with this behind the number; `any` where the force is none."""
        steps = {mode: two_digits(step) for mode, step in self.steps.items()}
        return {mode: f"{quantity(step)}{unit}" if step < math.inf else "any" for mode, step in steps.items()}

    @staticmethod
    def beside_others(names: Iterable[str]) -> str:
        """What else there is to say of the steps of an FMU with these variables."""
        shown = next((name.removesuffix("[1]") for name in names if name.startswith(STEP_ADVISED)), "")
        return f"with springs, contacts or drives on the same bodies: as the output {shown} says" if shown else ""

    def sentence(self, quantity: Callable[[float], str]) -> str:
        """The purpose of the steps; `quantity` writes a number."""
        name, value, unit = self.constant
        what = "moment of inertia" if self.mass_unit == "kg.m2" else "mass"
        goes = f" (proportional to the {'' if self.error == 'the speed' else 'square root of the '}{what})"
        inside = ""
        if self.inner:
            inside = f", {self.inner[0]} = {quantity(self.inner[1])} {self.mass_unit} inside"
            goes = f" (however heavy it is: at most {quantity(two_digits(self.limit))} s)"
        return (
            f"for 1 % of {self.error}, with {name} = {quantity(value)} {unit} and an effective {what} of "
            f"{quantity(self.mass)} {self.mass_unit}{inside}{'' if self.given else goes}"
        )


def step_advice(variables: Iterable[_Variable]) -> Advice | None:
    """Advice for these start values, of the constant that needs the shortest steps; None where none of them is one."""
    every = tuple(variables)
    starts = {v.name: v.start for v in every}
    found = [
        advice_of(v.name, v.held, value, *(number_of(starts.get(name)) for name in (v.held.mass, v.held.inner_mass)))
        for v in every
        if v.held is not None and (value := number_of(v.start)) > 0.0
    ]
    return min(found, key=lambda one: one.steps[HELD["jacobi"]], default=None)


def late_row(intervals: int) -> str:
    """The row of Advice.steps for a force that is held so many intervals after its sample."""
    return f"hold, {intervals} intervals late"


def advice_of(
    name: str, held: HeldForce, value: float, mass: float, inner_mass: float = 0.0, *, intervals: int | None = None
) -> Advice:
    """Advice for one stiffness or damping.  mass, kg or kg.m2: that of the bodies at the ports, 0 if it is unknown;
    inner_mass: 0 if there is none; intervals: from sample to force, for a row of its own."""
    outer = mass or 1.0
    share = inner_mass / (inner_mass + outer) if inner_mass > 0.0 else 1.0
    per_constant = outer * share / (value * (held.area or 1.0))
    time = per_constant if held.part == "damper" else math.pi * math.sqrt(per_constant)
    sampled = STEPS_PER_SAMPLED_CONTACT * (1.0 - share)
    counts = {mode.format(mass=held.mass): N for mode, N in held.counts.items() if _has(held, mode)}
    if intervals is not None:
        counts[late_row(intervals)] = held.held_count(intervals)
    steps = {mode: time / (N * share + sampled) for mode, N in counts.items()}
    constant = (name, value, held.unit + (f" over {held.area:.3g} m2" if held.area else ""))
    advice = Advice(steps, _ERRORS[held.part], constant, held.mass, outer, held.mass_unit, mass > 0.0)
    if not inner_mass > 0.0:
        return advice
    return advice._replace(
        error="the rebound and of the body's speed (C_r >= 0.5)",
        inner=(held.inner_mass, inner_mass),
        limit=math.pi * math.sqrt(inner_mass / value) / STEPS_PER_SAMPLED_CONTACT,
    )


def _has(held: HeldForce, mode: str) -> bool:
    """Whether the element's family has the mode: without the parameter for the mass it can only hold."""
    return mode in HELD.values() or held.mass != ""


def mode_row(mode: float, order: float, mass_name: str, given: bool, algorithm: str) -> str:
    """The row of Advice.steps for values of coupling.mode and coupling.order; `algorithm`: that of the master."""
    if mode == HOLD:
        return HELD[algorithm]
    if mode == SLOPE:
        return "slope"
    by_mode = {AVERAGED: SEQUENTIAL, PREDICTED: PARALLEL}.get(round(mode), UNKNOWN)
    named = by_mode if round(order) == UNKNOWN else round(order)  # as cc_lag_of of elements/shared/held_force.h
    return GIVEN.format(mass=mass_name) if given and named in (SEQUENTIAL, PARALLEL) else AUTO.get(named, AUTO[UNKNOWN])


def preferred_step(variables: Iterable[_Variable], default: float) -> float:
    """The step for DefaultExperiment: that of the mode and order the recipe names, right under either master, down to
    two digits; the default where nothing is advised."""
    every = tuple(variables)
    advice = step_advice(every)
    if advice is None:
        return default
    starts = {v.name: number_of(v.start) for v in every if v.name in (MODE, ORDER)}
    mode, order = starts.get(MODE, HOLD), starts.get(ORDER, UNKNOWN)
    return two_digits(advice.steps[mode_row(mode, order, advice.mass_name, advice.given, "jacobi")])


def two_digits(step: float) -> float:
    """A step rounded down to two digits: a longer one would be more than is advised; inf of a force that is none."""
    if not 1e-300 < step < math.inf:
        return step
    digit = 10.0 ** (math.floor(math.log10(step)) - 1)
    return float(f"{math.floor(step / digit * (1.0 + 1e-12)) * digit:.1e}")


_PER_AREA = " per area"


def held_forces(
    element: Declaration, ports: Iterable[_Port], effective_mass: str, area: float = 0.0
) -> dict[str, HeldForce]:
    """What each parameter with `acts_as` is to the force at the ports of an element.

    effective_mass  name of the parameter that holds it in forms of the element that have one, "" if none has
    area            m2 that can touch at most"""
    force_ports = [port for port in ports if port.side == "force"]
    if not force_ports:
        return {}
    names = tuple(port.name for port in force_ports)
    by_speed = not any(
        role.rate for port in force_ports for role in PORT_KINDS[port.kind].motion if role.name in port.motion
    )
    inner = next((name for name, p in element.parameters.items() if p.acts_as == "inner mass"), "")
    return {
        name: HeldForce(part, names, str(p.unit), by_speed, effective_mass, inner, area if per_area else 0.0)
        for name, p in element.parameters.items()
        if p.acts_as is not None
        for per_area in (p.acts_as.endswith(_PER_AREA),)
        for part in _ERRORS
        if part == p.acts_as.removesuffix(_PER_AREA) and (area > 0.0 or not per_area)
    }


def _positive(text: str) -> float:
    """A number of an attribute; 0 for any other text."""
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if 0.0 < value < math.inf else 0.0


def number_of(start: object) -> float:
    """A start value as a number; 0 without one."""
    return float(start) if isinstance(start, int | float | str) and start != "" else 0.0
