"""Errors and calls of a master's algorithms on the systems of implicit_systems.py, as the guide shows them.

    python -m tests.fmu_builder.implicit_table [3.1]

prints, for 3.1 or another number of steps in an undamped contact, the largest error of the velocities after the impact,
over its speed, of fifteen phases; and the calls in each communication step: steps of each body + evaluations of each
element, of which its own step is one."""

from __future__ import annotations

import sys

from fmu_builder.cosim.result import Result
from tests.fmu_builder.implicit_systems import SYSTEMS, measured

ALGORITHMS = {
    "`hold`, Gauss-Seidel": ("gauss_seidel", "hold"),
    "`auto`, Gauss-Seidel": ("gauss_seidel", "auto"),
    "`implicit`": ("implicit", "auto"),
    "`adaptive`": ("adaptive", "auto"),
}


def calls(result: Result) -> str:
    """Steps of each body and evaluations of each element in a communication step."""
    count = len(result.trace.time) - 1
    if not result.groups:
        return "1 + 1"
    bodies = sum(group.steps + group.probes for group in result.groups) / (count * len(result.groups))
    elements = sum(len(group.elements) for group in result.groups)
    evaluations = sum(group.evaluations + group.steps * len(group.elements) for group in result.groups)
    return f"{bodies:.2g} + {evaluations / (count * elements):.0f}"


def shown(error: float) -> str:
    """Two digits, unless it is rounding."""
    return "< 1e-9" if error < 1e-9 else f"{error:.2g}"


def row(name: str, N: float) -> str:
    """Of the system of this name."""
    cells = []
    for algorithm, mode in ALGORITHMS.values():
        result = measured(name, N, algorithm, mode)
        cells += [shown(float(SYSTEMS[name].errors(result, N).max())), calls(result)]
    return f"| {name} | " + " | ".join(cells) + " |"


def main(N: float) -> None:
    print("| " + " | ".join([f"N = {N:g}", *(f"{title} | calls" for title in ALGORITHMS)]) + " |")
    print("|---|" + "---|---|" * len(ALGORITHMS))
    for name in SYSTEMS:
        print(row(name, N), flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 3.1)
