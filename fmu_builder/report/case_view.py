"""What the report shows of a case beside its verdict: what moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fmu_builder.cosim.master import checked_scenario, system_of
from fmu_builder.cosim.validation import CaseResult, crashed_case, run_case
from fmu_builder.errors import FmuBuilderError
from fmu_builder.pages.movement import Movement, movement_of
from fmu_builder.processes import in_processes


@dataclass(frozen=True)
class CaseView:
    """notes   why something is not shown"""

    movement: Movement | None = None
    notes: tuple[str, ...] = ()


def case_view(path: Path, result: CaseResult) -> CaseView:
    """The view of a case that has run."""
    if result.trace is None:
        return CaseView()
    try:
        return CaseView(movement_of(system_of(checked_scenario(path)), result.trace))
    except FmuBuilderError as error:  # of a shape.py
        return CaseView(notes=(f"no picture: {error}",))


def validate_with_views(
    cases: Mapping[str, Path], finished: Callable[[CaseResult], None]
) -> tuple[tuple[CaseResult, ...], dict[str, CaseView]]:
    """As `validate`, with the views of the cases by name."""

    def crashed(name: str) -> tuple[CaseResult, CaseView]:
        return crashed_case(name, cases[name]), CaseView()

    jobs = {name: (name, path) for name, path in cases.items()}
    found = in_processes(_run_with_view, jobs, lambda pair: finished(pair[0]), crashed)
    return tuple(found[name][0] for name in sorted(found)), {name: view for name, (_, view) in found.items()}


def _run_with_view(name: str, path: Path) -> tuple[CaseResult, CaseView]:
    result = run_case(name, path)
    return result, case_view(path, result)
