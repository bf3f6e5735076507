"""FMUs of any tool against the rules of FMI 2.0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fmu_builder.facade import on_demand

if TYPE_CHECKING:
    from fmu_builder.check.report import CheckReport, check_fmu

__all__ = ["CheckReport", "check_fmu"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(__name__, __all__)
