"""The communication step that a stiff contact needs, from its stiffness and the mass it meets, in each coupling.mode.

An undamped contact of stiffness C and effective mass m lasts pi/omega, omega = sqrt(C/m); N steps of it bring the
rebound within one per cent.  N of the held force: (1 + 2 L) pi^2/(4 N) = ln 1.01, L intervals from sample to force;
of the others as measured (README.md of point_surface)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple, Protocol

STEPS_PER_CONTACT = {
    "hold, Jacobi": 740.0,
    "hold, Gauss-Seidel": 247.0,
    "slope": 60.0,
    "auto, averaged, predicted": 6.0,
    "the same, coupling.m_eff given": 3.0,
}
STIFFNESS, MASS, MODE, HOLD = "C_F", "coupling.m_eff", "coupling.mode", 1


class _Variable(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def start(self) -> object: ...


class Advice(NamedTuple):
    """Steps, s, by mode, for a stiffness, N/m, and an effective mass, kg; `given`: by the recipe, else 1 kg."""

    steps: dict[str, float]
    stiffness: float
    mass: float
    given: bool


def step_advice(variables: Iterable[_Variable]) -> Advice | None:
    """Advice for these start values; None without a stiffness among them."""
    starts = {v.name: v.start for v in variables if v.name in (STIFFNESS, MASS)}
    stiffness = _number(starts.get(STIFFNESS))
    if not stiffness > 0.0:
        return None
    mass = _number(starts.get(MASS))
    omega = math.sqrt(stiffness / (mass or 1.0))
    steps = {mode: math.pi / (omega * N) for mode, N in STEPS_PER_CONTACT.items()}
    return Advice(steps, stiffness, mass or 1.0, mass > 0.0)


def preferred_step(variables: Iterable[_Variable], default: float) -> float:
    """The step for DefaultExperiment: that of the mode the recipe names, down to two digits; the default under hold."""
    every = tuple(variables)
    advice = step_advice(every)
    mode = next((_number(v.start) for v in every if v.name == MODE), HOLD)
    if advice is None or mode == HOLD:
        return default
    step = advice.steps["the same, coupling.m_eff given" if advice.given else "auto, averaged, predicted"]
    digit = 10.0 ** (math.floor(math.log10(step)) - 1)
    return float(f"{math.floor(step / digit) * digit:.1e}")


def _number(start: object) -> float:
    return float(start) if isinstance(start, int | float | str) and start != "" else 0.0
