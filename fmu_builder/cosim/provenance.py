"""What a trace of a run says of its origin."""

from __future__ import annotations

import platform
from collections.abc import Mapping

from fmu_builder.cosim.schedule import Schedule
from fmu_builder.cosim.slave import SlaveDescription
from fmu_builder.model.scenario import CheckedScenario
from fmu_builder.paths import installed_version


def provenance(
    scenario: CheckedScenario, slaves: Mapping[str, SlaveDescription], schedule: Schedule
) -> dict[str, object]:
    """The scenario and its slaves, how they are stepped, and versions of what runs them."""
    step = scenario.seconds("step")
    longer = {name: ticks * step for name, ticks in schedule.ticks.items() if ticks > 1}
    return {
        "scenario": scenario.path.name,
        "slaves": {n: {"model": d.model_name, "guid": d.guid} for n, d in slaves.items()},
        "algorithm": scenario.experiment.algorithm,
        **({"order": order} if (order := list(schedule.order)) != list(slaves) else {}),
        "step": step,
        **({"steps": longer} if longer else {}),
        "fmu-builder": installed_version("fmu-builder"),
        "fmpy": installed_version("fmpy"),
        "numpy": installed_version("numpy"),
        "python": platform.python_version(),
    }
