"""Studies: many runs of one system over its factors, on the cores of this machine or on a cluster, as one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fmu_builder.facade import on_demand

if TYPE_CHECKING:
    from fmu_builder.studies.format import Factor, Plan, Response, Study
    from fmu_builder.studies.run import Progress, StudyInterrupted, StudyResult, study

__all__ = ["Factor", "Plan", "Progress", "Response", "Study", "StudyInterrupted", "StudyResult", "study"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(__name__, __all__)
