"""What the report shows of a case beside its verdict: what moves, and the page on which it runs in the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fmu_builder.cosim.master import System, checked_scenario, system_of
from fmu_builder.cosim.slave import read_slave
from fmu_builder.cosim.validation import CaseResult, crashed_case, recipes_of, run_case
from fmu_builder.errors import FmuBuilderError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.pages.live import system_text
from fmu_builder.pages.module import wasm_module
from fmu_builder.pages.movement import Movement, movement_of
from fmu_builder.pages.system import ALGORITHMS, page_system
from fmu_builder.processes import in_processes

MOST_VALUES = 20_000_000  # of all signals over the steps of a run: a page keeps two runs in memory


@dataclass(frozen=True)
class LiveCase:
    """The system of a case as its live page has it, without the modules of its FMUs, which are packed, by GUID."""

    system: str
    modules: Mapping[str, str]


@dataclass(frozen=True)
class CaseView:
    """live     None where it was not asked for, or cannot be
    refusal  why it cannot be
    notes    why something is not shown"""

    movement: Movement | None = None
    live: LiveCase | None = None
    refusal: str = ""
    notes: tuple[str, ...] = ()


def case_view(path: Path, result: CaseResult, live: bool = False) -> CaseView:
    """The view of a case that has run, with its live page where that is asked for."""
    if result.trace is None:
        return CaseView()
    scenario = checked_scenario(path)
    system, movement, page, why = system_of(scenario), None, None, ""
    notes: tuple[str, ...] = ()
    try:
        movement = movement_of(system, result.trace)
    except FmuBuilderError as error:  # of a shape.py
        notes = (f"no picture: {error}",)
    if live and not (why := refusal(system)):
        try:
            document = page_system(scenario)
        except FmuBuilderError as error:
            why = str(error)
        else:
            modules = document.pop("modules")
            page = LiveCase(system_text(document | {"modules": sorted(modules)}), modules)
    return CaseView(movement, page, why, notes)


def refusal(system: System) -> str:
    """Why the master of a page does not run a system as this case does, or ""."""
    scenario = system.scenario
    if scenario.experiment.algorithm not in ALGORITHMS:
        return f"the case runs under the algorithm {scenario.experiment.algorithm}, and a page has {_OWN}"
    steps = round((scenario.seconds("stop") - scenario.seconds("start")) / scenario.seconds("step"))
    signals = sum(map(len, system.recorded.values()))
    if steps * signals > MOST_VALUES:
        return f"{signals} signals over {steps} steps take more memory than a page has"
    return ""


_OWN = " and ".join(name.replace("_", "-") for name in ALGORITHMS)


def validate_with_views(
    cases: Mapping[str, Path], finished: Callable[[CaseResult], None], live: bool = False
) -> tuple[tuple[CaseResult, ...], dict[str, CaseView]]:
    """As `validate`, with the views of the cases by name.   live: with their live pages"""

    def crashed(name: str) -> tuple[CaseResult, CaseView]:
        return crashed_case(name, cases[name]), CaseView()

    jobs = {name: (name, path, live) for name, path in cases.items()}
    found = in_processes(_run_with_view, jobs, lambda pair: finished(pair[0]), crashed)
    return tuple(found[name][0] for name in sorted(found)), {name: view for name, (_, view) in found.items()}


def _run_with_view(name: str, path: Path, live: bool) -> tuple[CaseResult, CaseView]:
    result = run_case(name, path)
    return result, case_view(path, result, live)


def compile_modules(cases: Mapping[str, Path], finished: Callable[[str], None]) -> None:
    """Compile the WebAssembly modules of all recipes of cases into the cache, as many at a time as there are cores;
    `finished` is called with the name of each recipe.  What cannot be compiled is named when its case is shown."""
    jobs = {str(recipe): (recipe,) for recipe in recipes_of(cases)}
    in_processes(_compile, jobs, finished, lambda name: Path(name).stem)


def _compile(recipe: Path) -> str:
    with suppress(FmuBuilderError):
        wasm_module(read_slave(host_fmu(recipe)))
    return recipe.stem
