"""Pictures and pages of results: figures, moving pictures, plots of traces, the report of cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fmu_builder.facade import on_demand

if TYPE_CHECKING:
    from fmu_builder.report.report import SummaryRow, summary_rows, write_report
    from fmu_builder.report.trace_plot import plot

__all__ = [
    "SummaryRow",
    "plot",
    "summary_rows",
    "write_report",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(__name__, __all__)
