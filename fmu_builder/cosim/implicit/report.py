"""The report of a run under `implicit` or `adaptive` on its forces."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BondReport:
    """How the force at a port of an element was found, and the energy, J, that it gave to the body in the run.

    rung   "derivatives" or "probe steps", of the body, and "discrete gradient", "impulse" or "trapezoid", of the
           element; "Gauss-Seidel" where it was not solved for, with energy None"""

    element: str
    port: str
    body: str
    body_port: str
    rung: str
    energy: float | None


@dataclass(frozen=True)
class GroupReport:
    """The calls that a group took, and what is left of errors.

    steps         of each slave; elements of fmu-builder make one in as many parts as it has substeps
    substeps      of the solution, on the affine models of the bodies
    evaluations   of elements: values set and got, or steps that were tried
    probes        steps of bodies that were tried for want of derivatives
    refused       steps whose error was too large
    events        steps that end at an event of a body, which its FMU for FMI 3.0 has shown
    unsolved      steps whose forces miss their law, by a velocity of up to largest_miss, m/s or rad/s
    within        largest velocity, m/s or rad/s, that forces make which come and go within a step
    drift         largest difference, m/s or rad/s, between a body after a step with forces and its affine model
    speed         largest velocity of a body after a step, m/s or rad/s"""

    elements: tuple[str, ...]
    bodies: tuple[str, ...]
    steps: int
    substeps: int
    evaluations: int
    probes: int
    refused: int
    events: int
    unsolved: int
    largest_miss: float
    within: float
    drift: float
    speed: float
