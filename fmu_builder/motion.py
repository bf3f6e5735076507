"""The former place of names that files of elements use; it is there for one version more."""

from __future__ import annotations

import warnings

from fmu_builder.cosim import GROUND, Line, Motion

__all__ = ["GROUND", "Line", "Motion"]

warnings.warn(
    "fmu_builder.motion: write `from fmu_builder.cosim import GROUND, Line, Motion`", FutureWarning, stacklevel=2
)
