"""The communication step that an element needs while bodies hold its force, in each coupling.mode.

It follows from the stiffness or damping and the mass that the force meets.  `acts_as` of a parameter declares which of
these it is.

With omega = sqrt(stiffness/mass) half an oscillation, or an undamped contact, lasts pi/omega; N steps of it bring the
rebound of a contact, or the motion on a spring or across a guide after half an oscillation, within one per cent.

hold   from positions: growth exp((1 + 2 L) pi^2/(4 N)), L intervals from sample to force: 1 under Jacobi, 0 under
       Gauss-Seidel, more through FMUs in between; from speeds that the element integrates: exp(L pi^2/(2 N)); with
       L = 0 none, but a deformation that is off by pi/(2 N)
slope  a contact: as measured; a spring under Jacobi: its period is off by 0.542 (pi/N)^2, a phase of pi times as much
auto   as measured: README.md of point_surface; growth of a swing until lag and mass are known: test_coupled_axis.py;
       its phase is off by up to 2 %

A damper brakes with the time constant mass/d, of which a step is the share z: held, speeds are off by
(1 + 2 L) z/(2 e); in the other modes as measured.  `averaged` and `predicted` with the mass given are exact.

A stiffness per area counts with all of the area that can touch.  Rebounds of a force that grows otherwise than linearly
with the depth are less wrong at that step: see watch_step of body_surface.

A force that moves a mass m inside the element as well moves that without delay: mass is then 1/(1/m + 1/M), M that of
the body, and only the share m/(m + M) of the relative motion is late, so N is smaller by that."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple, Protocol

from fmu_builder.model.declaration import Declaration
from fmu_builder.model.ports import PORT_KINDS

HOLD, SLOPE = 1, 2  # of coupling.mode
MODE = "coupling.mode"
HELD = {"jacobi": "hold, Jacobi", "gauss_seidel": "hold, Gauss-Seidel"}  # by algorithm
AUTO, GIVEN = "auto, averaged, predicted", "the same, {mass} given"
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
_SPRING = {"slope": math.sqrt(0.542 * math.pi**3 / 0.01), AUTO: 85.0, GIVEN: 24.0}
STEPS_PER_CONTACT = {**_BY_PLACE, "slope": 60.0, AUTO: 6.0, GIVEN: 3.0}
STEPS_PER_SWING = {**_BY_PLACE, **_SPRING}
STEPS_PER_SWING_BY_SPEED = {**_BY_SPEED, **_SPRING}
STEPS_PER_BRAKING = {  # of mass/d
    **_BY_BRAKING,
    "slope": _braking(1),
    AUTO: 40.0,
    GIVEN: 20.0,
}

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
    or damping; `mass` in `mass_unit`, of the parameter `mass_name`, and whether it was given: by the recipe, else 1."""

    steps: dict[str, float]
    error: str
    constant: tuple[str, float, str]
    mass_name: str
    mass: float
    mass_unit: str
    given: bool

    def sentence(self, quantity: Callable[[float], str]) -> str:
        """The purpose of the steps; `quantity` writes a number."""
        name, value, unit = self.constant
        what = "moment of inertia" if self.mass_unit == "kg.m2" else "mass"
        goes = f" (proportional to the {'' if self.error == 'the speed' else 'square root of the '}{what})"
        return (
            f"for 1 % of {self.error}, with {name} = {quantity(value)} {unit} and an effective {what} of "
            f"{quantity(self.mass)} {self.mass_unit}{'' if self.given else goes}"
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
    steps = {mode.format(mass=held.mass): time / (N * share) for mode, N in held.counts.items() if _has(held, mode)}
    if intervals is not None:
        steps[late_row(intervals)] = time / (held.held_count(intervals) * share)
    constant = (name, value, held.unit + (f" over {held.area:.3g} m2" if held.area else ""))
    return Advice(steps, _ERRORS[held.part], constant, held.mass, outer, held.mass_unit, mass > 0.0)


def _has(held: HeldForce, mode: str) -> bool:
    """Whether the element's family has the mode: without the parameter for the mass it can only hold."""
    return mode in HELD.values() or held.mass != ""


def mode_row(mode: float, mass_name: str, given: bool, algorithm: str) -> str:
    """The row of Advice.steps for a value of coupling.mode; `algorithm`: that of the master."""
    if mode == HOLD:
        return HELD[algorithm]
    return "slope" if mode == SLOPE else GIVEN.format(mass=mass_name) if given else AUTO


def preferred_step(variables: Iterable[_Variable], default: float) -> float:
    """The step for DefaultExperiment: that of the mode the recipe names, right under either master, down to two digits;
    the default where nothing is advised."""
    every = tuple(variables)
    advice = step_advice(every)
    if advice is None:
        return default
    mode = next((number_of(v.start) for v in every if v.name == MODE), HOLD)
    return two_digits(advice.steps[mode_row(mode, advice.mass_name, advice.given, "jacobi")])


def two_digits(step: float) -> float:
    """A step rounded down to two digits."""
    digit = 10.0 ** (math.floor(math.log10(step)) - 1)
    return float(f"{math.floor(step / digit) * digit:.1e}")


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
