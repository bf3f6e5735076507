"""[page] of a scenario, with the variables of its slaves: checked by all that reads it, as a page is written late."""

from __future__ import annotations

from collections.abc import Mapping

from fmu_builder.cosim.scenario_inputs import is_settable, unit_of
from fmu_builder.cosim.slave import SlaveDescription
from fmu_builder.errors import Problem
from fmu_builder.model.page_table import PageTable, Shown, checked_page
from fmu_builder.model.scenario import CheckedScenario


def shown_scalars(slaves: Mapping[str, SlaveDescription]) -> dict[str, list[Shown]]:
    """Those of all slaves by "slave.variable", and those of a vector by its name too."""
    groups: dict[str, list[Shown]] = {}
    for slave, description in slaves.items():
        for v in description.variables.values():
            one = Shown(f"{slave}.{v.name}", unit_of(v), is_settable(v), v.type in ("Real", "Integer"))
            for name in {one.name, one.name.rpartition("[")[0] or one.name}:
                groups.setdefault(name, []).append(one)
    return groups


def page_problems(scenario: CheckedScenario, slaves: Mapping[str, SlaveDescription]) -> list[Problem]:
    """What is wrong, but for variables of slaves that could not be read."""
    page = scenario.page
    if page == PageTable():
        return []
    missing = scenario.slaves.keys() - slaves.keys()

    def is_known(name: str) -> bool:
        return name.partition(".")[0] not in missing

    known = PageTable(
        plot=[*filter(is_known, page.plot)],
        range={name: ends for name, ends in page.range.items() if is_known(name)},
        names={name: text for name, text in page.names.items() if is_known(name)},
    )
    return checked_page(known, shown_scalars(slaves), str(scenario.path))[1]
