"""Mechanical force elements and constrained mechanisms as self-contained FMI 2.0 FMUs."""

from fmu_builder.build import build

__all__ = ["build"]
