"""The former place of names that files of elements use; it is there for one version more."""

from __future__ import annotations

import warnings

from fmu_builder.model import Constant, Limit, Reader, Structure, Table

__all__ = ["Constant", "Limit", "Reader", "Structure", "Table"]

warnings.warn(
    "fmu_builder.structure: write `from fmu_builder.model import Constant, Limit, Reader, Structure, Table`",
    FutureWarning,
    stacklevel=2,
)
