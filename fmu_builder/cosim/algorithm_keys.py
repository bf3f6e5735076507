"""Keys of [experiment] that only some algorithms have."""

from __future__ import annotations

from collections.abc import Iterator

from fmu_builder.errors import Problem
from fmu_builder.model.scenario import IMPLICIT, CheckedScenario


def without_keys_of_others(algorithm: str) -> dict[str, None]:
    """The keys of [experiment] that `algorithm` does not have, each with None: a caller that chooses another algorithm
    than the scenario clears them."""
    owners = {"order": "gauss_seidel", "coupling_tolerance": "adaptive"}
    return {key: None for key, owner in owners.items() if owner != algorithm}


def key_problems(scenario: CheckedScenario) -> Iterator[Problem]:
    """Keys that the algorithm has not.   Of `order`: schedule.py"""
    experiment, at = scenario.experiment, f"{scenario.path}: [experiment]"
    if experiment.power and experiment.algorithm in IMPLICIT:
        what = "is of jacobi and gauss_seidel; the notes and `bonds` of a run give the energy of its forces: remove it"
        yield Problem(f"{at} power", what)
    if experiment.coupling_tolerance is not None and experiment.algorithm != "adaptive":
        what = f"{experiment.coupling_tolerance:g}: is of adaptive, and the algorithm is {experiment.algorithm}"
        yield Problem(f"{at} coupling_tolerance", f"{what}: remove it, or choose algorithm = 'adaptive'")
