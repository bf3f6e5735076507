"""The communication step that an element needs while bodies hold its force, from its stiffness or damping and the mass
that it meets, in each coupling.mode.

With omega = sqrt(stiffness/mass) half an oscillation, or an undamped contact, lasts pi/omega; N steps of it bring the
rebound of a contact, or the motion on a spring or across a guide after half an oscillation, within one per cent.

hold   from positions: growth exp((1 + 2 L) pi^2/(4 N)), L intervals from sample to force; a spring that integrates
       speeds: exp(pi^2/(2 N)) under Jacobi; under Gauss-Seidel none, but a deformation that is off by pi/(2 N)
slope  a contact: as measured; a spring under Jacobi: its period is off by 0.542 (pi/N)^2, a phase of pi times as much
auto   as measured: README.md of point_surface; growth of a swing until lag and mass are known: test_coupled_axis.py

A damper brakes with the time constant mass/d, of which a step is the share z: held, speeds are off by
(1 + 2 L) z/(2 e); in the other modes as measured.  `averaged` and `predicted` with the mass given are exact."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

HOLD, SLOPE = 1, 2  # of coupling.mode
MODE = "coupling.mode"
AUTO, GIVEN = "auto, averaged, predicted", "the same, {mass} given"
_GROWTH = math.log(1.01)
_BY_PLACE = {
    "hold, Jacobi": 3 * math.pi**2 / 4 / _GROWTH,
    "hold, Gauss-Seidel": math.pi**2 / 4 / _GROWTH,
}
_SPRING = {"slope": math.sqrt(0.542 * math.pi**3 / 0.01), AUTO: 40.0, GIVEN: 24.0}
STEPS_PER_CONTACT = {**_BY_PLACE, "slope": 60.0, AUTO: 6.0, GIVEN: 3.0}
STEPS_PER_SWING = {**_BY_PLACE, **_SPRING}
STEPS_PER_SWING_BY_SPEED = {
    "hold, Jacobi": math.pi**2 / 2 / _GROWTH,
    "hold, Gauss-Seidel": math.pi / 2 / 0.01,
    **_SPRING,
}
STEPS_PER_BRAKING = {  # of mass/d
    "hold, Jacobi": 3 / (2 * math.e) / 0.01,
    "hold, Gauss-Seidel": 1 / (2 * math.e) / 0.01,
    "slope": 3 / (2 * math.e) / 0.01,
    AUTO: 40.0,
    GIVEN: 20.0,
}


class _Variable(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def start(self) -> object: ...


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
        """What the steps are for; `quantity` writes a number."""
        name, value, unit = self.constant
        what = "moment of inertia" if self.mass_unit == "kg.m2" else "mass"
        goes = f" (it goes with the {'' if self.error == 'the speed' else 'square root of the '}{what})"
        return (
            f"for 1 % of {self.error}, with {name} = {quantity(value)} {unit} and an effective {what} of "
            f"{quantity(self.mass)} {self.mass_unit}{'' if self.given else goes}"
        )


def step_advice(variables: Iterable[_Variable]) -> Advice | None:
    """Advice for these start values; None where no stiffness or damping is known among them."""
    starts = {v.name: v.start for v in variables}
    turns = "r.t" in starts
    inertia, mass_unit = ("coupling.J_eff", "kg.m2") if turns else ("coupling.m_eff", "kg")
    mass = _number(starts.get(inertia))
    of_spring = (
        STEPS_PER_SWING if {"r.s", "r.phi"} & starts.keys() else STEPS_PER_SWING_BY_SPEED,
        "the swing",
    )
    found: tuple[str, str, Mapping[str, float], str] | None = None
    if "C_F" in starts:
        found = "C_F", "N/m", STEPS_PER_CONTACT, "the rebound"
    elif across := [name for name in ("k_r", "k_r1", "k_r2") if name in starts]:
        stiffest = max(across, key=lambda name: _number(starts[name]))
        found = stiffest, "N/m", STEPS_PER_SWING, "the swing across the line"
    elif {"r.t", "r.F"} & starts.keys() and "k" in starts:
        found = "k", "N.m/rad" if turns else "N/m", *of_spring
    elif {"r.t", "r.F"} & starts.keys() and "d" in starts:
        found = "d", "N.m.s/rad" if turns else "N.s/m", STEPS_PER_BRAKING, "the speed"
    if found is None or not (value := _number(starts[found[0]])) > 0.0:
        return None
    name, unit, counts, error = found
    share = (mass or 1.0) / value
    time = share if counts is STEPS_PER_BRAKING else math.pi * math.sqrt(share)
    steps = {mode.format(mass=inertia): time / N for mode, N in counts.items()}
    return Advice(steps, error, (name, value, unit), inertia, mass or 1.0, mass_unit, mass > 0.0)


def preferred_step(variables: Iterable[_Variable], default: float) -> float:
    """The step for DefaultExperiment: that of the mode the recipe names, down to two digits; the default under hold."""
    every = tuple(variables)
    advice = step_advice(every)
    mode = next((_number(v.start) for v in every if v.name == MODE), HOLD)
    if advice is None or mode == HOLD:
        return default
    of_mode = "slope" if mode == SLOPE else GIVEN.format(mass=advice.mass_name) if advice.given else AUTO
    step = advice.steps[of_mode]
    digit = 10.0 ** (math.floor(math.log10(step)) - 1)
    return float(f"{math.floor(step / digit) * digit:.1e}")


def _number(start: object) -> float:
    return float(start) if isinstance(start, int | float | str) and start != "" else 0.0
